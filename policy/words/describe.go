package words

import "strings"

// describe says what the module is and knows.
func (d *document) describe() {
	a := d.Answer
	var versions []string
	for v := a.Get("versions").First(); v.Exists(); v = v.Next() {
		versions = append(versions, v.Text())
	}
	module := a.Get("module")
	facts := text(a, "product") + ", ABI " + text(a, "abi") + ", schema " + text(a, "schema") + "."
	if sha := text(module, "sha256"); sha != "" {
		facts += " Module sha256:" + sha + ", " + itoa(number(module, "bytes")) + " bytes."
	}
	d.verdict(item{tone: Run, mark: "note", text: facts}, "Kubernetes "+join(" to ", versions[0], versions[len(versions)-1])+"; the default is "+text(a, "defaultVersion"))
	d.blocks(func() {
		columns := []column{{name: "Feature gate"}}
		for _, v := range versions {
			columns = append(columns, column{name: v})
		}
		var rows []row
		for g := a.Get("gates").First(); g.Exists(); g = g.Next() {
			r := row{at: -1, cells: []string{text(g, "name")}}
			for _, version := range versions {
				state := "-"
				for v := g.Get("versions").First(); v.Exists(); v = v.Next() {
					if text(v, "version") == version {
						state = "off "
						if v.Get("default").Bool() {
							state = "on "
						}
						state += strings.ToLower(text(v, "stage"))
					}
				}
				r.cells = append(r.cells, state)
			}
			rows = append(rows, r)
		}
		d.table("Feature gates", columns, rows, 0)
		rows = nil
		for p := a.Get("proposals").First(); p.Exists(); p = p.Next() {
			readings := ""
			for o := p.Get("options").First(); o.Exists(); o = o.Next() {
				if readings != "" {
					readings += "; "
				}
				readings += text(o, "name") + ": "
				for v := o.Get("values").First(); v.Exists(); v = v.Next() {
					if v != o.Get("values").First() {
						readings += ", "
					}
					readings += v.Text()
				}
			}
			rows = append(rows, row{at: -1, cells: []string{text(p, "name"), text(p, "source"), readings}})
		}
		d.table("Proposals that no release has", []column{{name: "Name"}, {name: "Source"}, {name: "Readings"}}, rows, 0)
		rows = nil
		for o := a.Get("operations").First(); o.Exists(); o = o.Next() {
			rows = append(rows, row{at: -1, cells: []string{text(o, "name"), text(o, "summary")}})
		}
		d.table("Operations", []column{{name: "Name"}, {name: "What it answers"}}, rows, 0)
		rows = nil
		for l := a.Get("limits").First(); l.Exists(); l = l.Next() {
			rows = append(rows, row{at: -1, cells: []string{l.Key(), string(l.Raw())}})
		}
		d.table("Limits", []column{{name: "Limit"}, {"At most", true}}, rows, 0)
	})
}
