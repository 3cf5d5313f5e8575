package words

import "github.com/podfate/podfate/policy/manifest"

// waste says for how long Pods ran in vain, and of a Job what it would be without what its spec
// says about failures.
func (d *document) waste() {
	v := d.Answer.Get("waste")
	if !has(v, "podMillis") {
		return
	}
	without := v.Get("without")
	if !has(without, "podMillis") {
		d.items("list", "What it costs", []item{spentItem(v.Get("podMillis"))})
		return
	}
	left := ""
	for f := without.Get("leftOut").First(); f.Exists(); f = f.Next() {
		left = join(", ", left, f.Text())
	}
	line := func(name string, v manifest.Value) row {
		m := v.Get("podMillis")
		return row{at: -1, cells: []string{
			name, text(v, "outcome"), itoa(number(v, "pods")), hours(number(m, "ran")), hours(number(m, "waiting")), hours(number(m, "lost")),
		}}
	}
	d.table("What it costs", []column{{"", false}, {"Job", false}, {"Pods", true}, {"Pod-hours run", true}, {"Waited", true}, {"Lost", true}},
		[]row{line("as it is", v), line("without "+left, without)}, 0)
	i := item{mark: "note", text: "Without " + left + ", Pods run for just as long: here the policy saves nothing."}
	switch saved := number(without, "savedPodMillis"); {
	case has(without, "limit"):
		i.text = "Without " + left + ", the simulation exceeds what one answer can hold."
	case saved > 0:
		i = item{mark: "succeeded", tone: OK, text: "It saves " + podTime(saved) + " of running: " + podTime(number(without.Get("podMillis"), "ran")) + " less " +
			podTime(number(v.Get("podMillis"), "ran")) + "."}
	case saved < 0:
		i.text = "Without " + left + ", Pods run " + podTime(-saved) + " less."
	}
	d.items("list", "What it saves", []item{i})
}
