package forecast

import (
	"html/template"
	"io"
	"strings"

	"github.com/podfate/podfate/policy/words"
	"github.com/podfate/podfate/schema/document"
)

// visible makes control characters of what a cluster says seen.
func visible(s string) string { return words.Visible(s) }

// page is one file without scripts, fonts or anything from elsewhere.
var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"glyph": document.Glyph, "bars": bars,
}).Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{{.Verdict.Title}}</title>
<style>
:root{color-scheme:light dark;--run:#1a7f37;--wait:#9a6700;--fail:#cf222e;--ok:#1a7f37;--stop:#6e7781;--line:#8884}
@media(prefers-color-scheme:dark){:root{--run:#3fb950;--wait:#d29922;--fail:#ff7b72;--ok:#3fb950;--stop:#9198a1}}
body{font:15px/1.5 system-ui,sans-serif;margin:0 auto;padding:1rem;max-width:90rem}
h1{font-size:1.5rem;margin:.2em 0}h2{font-size:1.1rem;margin:1.6em 0 .4em}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem}
th,td{padding:.2em .7em;text-align:left;border-bottom:1px solid var(--line);vertical-align:top}
.end{text-align:right;font-variant-numeric:tabular-nums}ul{list-style:none;padding:0}
.run{color:var(--run)}.wait{color:var(--wait)}.fail{color:var(--fail)}.ok{color:var(--ok)}.stop{color:var(--stop)}
svg{width:100%;height:auto;max-width:60rem}svg text{font:11px system-ui,sans-serif;fill:currentColor}rect{fill:currentColor}
</style></head><body>
<h1 class="{{.Verdict.Tone}}">{{glyph .Verdict.Mark}} {{.Verdict.Title}}</h1><p>{{.Verdict.Text}}</p>
{{range .Blocks}}<h2>{{.Title}}</h2>
{{if eq .Kind "list"}}<ul>{{range .Items}}<li><span class="{{.Tone}}">{{glyph .Mark}}</span> {{.Text}}</li>{{end}}</ul>
{{else if eq .Kind "table"}}{{$b := .}}<div class="scroll"><table><thead><tr>{{range .Columns}}<th{{if .Align}} class="end"{{end}}>{{.Text}}</th>{{end}}</tr></thead>
<tbody>{{range .Rows}}<tr>{{$t := .Tone}}{{range $i, $c := .Cells}}<td class="{{if eq $i 0}}{{$t}}{{end}}{{if (index $b.Columns $i).Align}} end{{end}}">{{$c}}</td>{{end}}</tr>
{{end}}</tbody></table></div>
{{else if eq .Kind "plot"}}{{bars .}}{{end}}{{if .More}}<p>and {{.More}} more</p>{{end}}
{{end}}</body></html>
`))

// bar is a bar of a plot, in its places.
type bar struct {
	X, Y, Height int64
	Label, Value string
}

// plot is the drawing of a block of that kind.
var plot = template.Must(template.New("plot").Parse(`<svg viewBox="0 0 720 200" role="img" aria-label="{{.Title}}" class="{{.Tone}}">
<line x1="20" y1="170" x2="710" y2="170" stroke="currentColor" stroke-opacity=".4"/>
{{range .Bars}}<rect x="{{.X}}" y="{{.Y}}" width="9" height="{{.Height}}"><title>{{.Label}}: {{.Value}}</title></rect>
{{end}}<text x="20" y="188">now</text><text x="710" y="188" text-anchor="end">{{.Most}} {{.X}}</text><text x="20" y="14">{{.Top}} {{.Y}}</text></svg>
`))

// bars draws a block with one series.
func bars(b document.Block) (template.HTML, error) {
	if len(b.Series) == 0 || len(b.Series[0].Points) == 0 {
		return "", nil
	}
	s := b.Series[0]
	top, most := int64(1), int64(1)
	for _, p := range s.Points {
		most, top = max(most, p[0]), max(top, p[1])
	}
	data := struct {
		Title, X, Y, Tone string
		Top, Most         int64
		Bars              []bar
	}{Title: b.Title, X: b.X, Y: b.Y, Tone: s.Tone, Top: top, Most: most}
	for _, p := range s.Points {
		height := max(p[1]*150/top, 1)
		data.Bars = append(data.Bars, bar{
			X: 20 + (p[0]*680)/most, Y: 170 - height, Height: height, Label: decimal(p[0]) + " " + b.X, Value: decimal(p[1]) + " " + b.Y,
		})
	}
	var out strings.Builder
	err := plot.Execute(&out, data)
	return template.HTML(out.String()), err
}

// HTML writes the report as one page.
func (r *Report) HTML(w io.Writer) error { return page.Execute(w, r.Document()) }
