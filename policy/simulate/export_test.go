package simulate

// PodWrittenOut is [Pod] without summaries of repetition.
func PodWrittenOut(sc *Scenario) *Result {
	plain := *sc
	plain.writeOut = true
	return Pod(&plain)
}
