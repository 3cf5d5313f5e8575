package policytest

import "fmt"

// waste is for how long Pods ran, and without what their Job's spec says about failures.
type waste struct {
	Outcome        string
	Pods           int64
	PodMillis      spent
	LeftOut        []string
	SavedPodMillis int64
	Limit          string
	Without        *waste
}

func (w *waste) String() string {
	s := ""
	if w.Outcome != "" {
		s = fmt.Sprintf(", %s, %d Pods", w.Outcome, w.Pods)
	}
	if w.Limit != "" {
		s += ", up to the limit " + w.Limit
	}
	return s + ": " + w.PodMillis.String()
}
