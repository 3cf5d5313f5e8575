package words

// simulateRetries puts the Pods of an Argo template, one after the other, into words.
func (d *document) simulateRetries() {
	node := d.Answer.Get("node")
	retries := " Retries: " + itoa(number(node, "retries"))
	if has(node, "limit") {
		retries += " of at most " + itoa(number(node, "limit"))
	}
	d.ownerVerdict("node", "The node goes on at the end", "complete", node, "message", retries+".")
	d.blocks(func() {
		var rows []row
		for t := d.Answer.Get("tries").First(); t.Exists(); t = t.Next() {
			r := row{at: number(t, "untilMillis"), path: text(t, "path"), tone: Run}
			outcome, then := text(t, "outcome"), text(t, "action")
			switch outcome {
			case "Succeeded":
				r.tone = OK
			case "Failed":
				r.tone = Fail
			}
			if has(t, "exitCode") {
				outcome += ", code " + itoa(number(t, "exitCode"))
			}
			if then != "" {
				then += " at " + span(number(t, "atMillis"))
			} else if has(t, "waitsUntilMillis") {
				then = "waits until " + span(number(t, "waitsUntilMillis"))
			}
			r.cells = []string{itoa(number(t, "retry")), span(number(t, "fromMillis")), span(r.at), join(", ", outcome, short(text(t, "reason"))), then}
			rows = append(rows, r)
		}
		d.table("Pods", []column{{name: "Retry", right: true}, {name: "From", right: true}, {name: "Until", right: true}, {name: "Pod"}, {name: "Then"}}, rows, 0)
		d.assumptions()
		d.checks()
	})
}
