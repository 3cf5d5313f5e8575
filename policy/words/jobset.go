package words

import "github.com/podfate/podfate/policy/manifest"

// simulateJobSet puts a JobSet over time into words.
func (d *document) simulateJobSet() {
	set := d.Answer.Get("jobSet")
	restarts := itoa(number(set, "restarts")) + "; " + itoa(number(set, "restartsCountTowardsMax")) + " counted, maxRestarts is " + itoa(number(set, "maxRestarts"))
	d.ownerVerdict("JobSet", "Jobs of the JobSet still run at the end", "complete", set, "reason", " Restarts: "+restarts+".")
	d.blocks(func() {
		var rows []row
		var steps []item
		for a := d.Answer.Get("attempts").First(); a.Exists(); a = a.Next() {
			n := number(a, "restart")
			for j := a.Get("jobs").First(); j.Exists(); j = j.Next() {
				r := row{at: -1, path: text(j, "path"), tone: Run, cells: []string{itoa(n), short(text(j, "job")), "runs", "", ""}}
				if has(j, "endedMillis") {
					r.at, r.tone = number(j, "endedMillis"), OK
					r.cells[2] = "completes"
					if text(j, "outcome") == "Failed" {
						r.tone, r.cells[2] = Fail, "fails: "+text(j, "reason")
					}
					r.cells[3], r.cells[4] = span(r.at), itoa(number(j, "pods"))
				}
				rows = append(rows, r)
			}
			if action := text(a, "action"); action != "" {
				steps = append(steps, d.setStep(a, action))
			}
		}
		d.items("steps", "What the failurePolicy does", steps)
		d.table("Jobs", []column{{name: "After restarts", right: true}, {name: "Job"}, {name: "Outcome"}, {name: "At", right: true}, {name: "Pods", right: true}}, rows, 0)
		d.assumptions()
		d.checks()
	})
}

// ownerVerdict says what became of an object of another kind, called name: that it goes on, has
// ended well, for which done is the word, or has failed, for the reason in the member why. beside
// is added to that.
func (d *document) ownerVerdict(name, goesOn, done string, a manifest.Value, why, beside string) {
	at := span(number(a, "atMillis"))
	v, title := item{tone: OK, mark: "succeeded", text: "The " + name + " has " + done + "d after " + at}, "The "+name+" "+done+"s"
	switch text(a, "outcome") {
	case "Running":
		v, title = item{tone: Run, mark: "running", text: goesOn}, "The "+name+" goes on"
	case "Failed":
		v, title = item{tone: Fail, mark: "failed", text: join(": ", "The "+name+" has failed after "+at, short(text(a, why)))}, "The "+name+" fails"
	}
	v.text += "." + beside
	if u := d.Answer.Get("undecided").First(); u.Exists() {
		v, title = item{tone: Stop, mark: "undecided", text: "What follows is not known: " + phrase(text(u, "reason")) + ".", path: text(u, "path")}, "Undecided"
	}
	d.verdict(v, title)
}

// setStep is what a rule of a JobSet does when a Job has failed.
func (d *document) setStep(a manifest.Value, action string) item {
	i := item{tone: All, mark: "restartall", path: text(a, "path"), reason: short(text(a, "failedJob")) + " has failed at " + span(number(a, "untilMillis"))}
	switch action {
	case "FailJobSet":
		i.tone, i.mark, i.text = Fail, "failed", "The JobSet fails."
	case "RestartJobSet":
		i.text = "All Jobs are recreated."
		if set := d.Answer.Get("jobSet"); text(set, "outcome") == "Failed" && !a.Next().Exists() {
			i.tone, i.mark, i.text = Fail, "failed", "maxRestarts is reached, so the JobSet fails."
		}
	case "RestartJobSetAndIgnoreMaxRestarts":
		i.text = "All Jobs are recreated, and maxRestarts does not count it."
	default:
		i.tone, i.mark, i.text = Stop, "undecided", "What "+short(action)+" does is not known."
	}
	return i
}
