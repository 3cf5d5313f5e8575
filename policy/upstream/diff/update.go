package diff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy"
)

// updates compares what is refused about n manifests that replace another one of the same kind.
func (c *comparison) updates(t *testing.T, n int) {
	sets := len(gateSets(c.release.Minor()))
	shown := 0
	c.eachGateSet(t, func(set gateSet, _ policy.Features) {
		for i, end := 0, c.updated+n/sets+1; c.updated < end; i++ {
			g := generate(c.seed+2, i)
			old := g.manifest()
			c.compareUpdate(t, &shown, fmt.Sprintf("update case %d, %v", i, set), set, old, g.edited(old))
		}
	})
	// Of what is around a template, its metadata and profiles are checked on each update. The old
	// object is one that was accepted; of the new one the selector can be read.
	c.unread = "spec: Forbidden: updates to statefulset spec" // which fields those are is not checked
	defer func() { c.unread = "" }()
	for i := range n {
		g := generate(c.seed+13, i)
		text := g.workload()
		kind := kindOf(text)
		old, known := replaced[kind]
		known = known && bytes.Contains(text, []byte(`"namespace":"default"`))
		if !known || slices.ContainsFunc(c.release.Admit(text, false).Faults, func(f Fault) bool { return strings.HasPrefix(f.Path, "spec.selector") }) {
			continue
		}
		c.compareUpdate(t, &shown, fmt.Sprintf("update of a workload %d", i), gateSets(c.release.Minor())[0], []byte(`{"metadata":{"name":"a","namespace":"default"},"kind":"`+kind+`",`+old+`}`), text)
	}
}

// replaced are specs that the API server takes, by kind.
var replaced = map[string]string{
	"Deployment": workloadSpec, "ReplicaSet": workloadSpec, "DaemonSet": workloadSpec, "StatefulSet": workloadSpec,
	"ReplicationController": `"apiVersion":"v1","spec":{"selector":{"app":"a"},` + podTemplate + `}`,
	"PodTemplate":           `"apiVersion":"v1",` + podTemplate,
	"CronJob":               `"apiVersion":"batch/v1","spec":{"schedule":"* * * * *","jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}`,
}

const (
	podTemplate  = `"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`
	workloadSpec = `"apiVersion":"apps/v1","spec":{"selector":{"matchLabels":{"app":"a"}},` + podTemplate + `}`
)

func (c *comparison) compareUpdate(t *testing.T, shown *int, what string, set gateSet, old, text []byte) {
	t.Helper()
	c.updated++
	job := bytes.Contains(text, []byte(`"kind":"Job"`))
	if job { // no image of which may change, but images are not read
		text = bytes.ReplaceAll(text, []byte(`"image":"j"`), []byte(`"image":"i"`))
	}
	theirs := c.release.Update(old, text)
	for j := range theirs.Faults { // see Intended
		theirs.Faults[j].Text = firstLine(theirs.Faults[j].Text)
	}
	if c.unread != "" { // see Intended
		theirs.Faults = slices.DeleteFunc(theirs.Faults, func(f Fault) bool {
			return strings.HasPrefix(f.Text, c.unread) && (c.unread != unreadTemplate || strings.HasSuffix(f.Text, ": field is immutable"))
		})
	}
	if job || bytes.Contains(text, []byte(`"kind":"ReplicationController"`)) {
		theirs.Faults, theirs.Merged = merged(theirs.Faults), true
	} else if c.release.Minor() <= 34 && (bytes.Contains(text, []byte(`"kind":"ReplicaSet"`)) || bytes.Contains(text, []byte(`"kind":"DaemonSet"`))) {
		// The specification is checked twice there, the metadata once.
		if half := len(theirs.Faults) / 2; slices.Equal(theirs.Faults[:half], theirs.Faults[half:]) {
			theirs.Faults = theirs.Faults[:half]
		} else {
			theirs.Faults, theirs.Merged = merged(theirs.Faults), true
		}
	}
	c.compareAnswer(t, shown, fmt.Sprintf("%s: %s\nreplaces %s", what, text, old), theirs, set, text, map[string]any{"old": json.RawMessage(old)})
}

// statics compares what a kubelet refuses about n Pods that it reads from files.
func (c *comparison) statics(t *testing.T, n int) {
	sets := len(gateSets(c.release.Minor()))
	shown := 0
	c.eachGateSet(t, func(set gateSet, _ policy.Features) {
		for i, end := 0, c.static+n/sets+1; c.static < end; i++ {
			text := generate(c.seed+3, i).pod()
			c.static++
			what := fmt.Sprintf("static case %d, %v: %s", i, set, text)
			c.compareAnswer(t, &shown, what, c.release.Static(text), set, text, map[string]any{"static": true})
		}
	})
}

// merged leaves out faults that say what an earlier one said, as kubectl and the text of the API
// server's answer do. Until 1.36 an updated Job is checked twice, until 1.34 an updated
// ReplicationController.
func merged(faults []Fault) (kept []Fault) {
	said := map[string]bool{}
	for _, f := range faults {
		if !said[f.Text] {
			kept = append(kept, f)
		}
		said[f.Text] = true
	}
	return kept
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// token matches strings, so that what is in them is left alone, and numbers.
var token = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?\d+`)

// wordGroups are words that can stand for each other.
var wordGroups = [][]string{
	policies, {`"Restart"`, `"RestartAllContainers"`}, {`"In"`, `"NotIn"`}, {`"NotRequired"`, `"RestartContainer"`}, {`"i"`, `"j"`},
	{`"c0"`, `"c1"`, `"c9"`}, {`"Indexed"`, `"NonIndexed"`}, {`"FailJob"`, `"Ignore"`, `"Count"`}, {`"acme.io/foo"`, `"kubernetes.io/job-controller"`},
	{`"DisruptionTarget"`, `"ConfigIssue"`}, {`"0"`, `"0,2-3"`, `"1-2"`}, {`"cpu"`, `"memory"`}, {`"livenessProbe"`, `"readinessProbe"`},
}

// edited returns text with some words or numbers changed, most of the time few or none.
func (g *generator) edited(text []byte) []byte {
	changes := pick(g, 0, 1, 1, 1, 1, 2, 3, 6)
	places := token.FindAllIndex(text, -1)
	replaced := map[int]string{}
	for tries := 0; len(replaced) < changes && tries < 200; tries++ {
		i := g.r.IntN(len(places))
		old := string(text[places[i][0]:places[i][1]])
		if old == "80" || old == `"i"` && strings.Contains(string(text), `"ephemeralContainers":[{`) {
			continue // ports and images are not read; only those of ephemeral containers may not change
		}
		if old[0] != '"' {
			replaced[i] = fmt.Sprint(pick(g, int32(1), int32(5), int32(30), g.code()))
			continue
		}
		for _, group := range wordGroups {
			for _, w := range group {
				if w == old {
					replaced[i] = pick(g, group...)
				}
			}
		}
	}
	var b strings.Builder
	end := 0
	for i, place := range places {
		if w, ok := replaced[i]; ok {
			b.Write(text[end:place[0]])
			b.WriteString(w)
			end = place[1]
		}
	}
	b.Write(text[end:])
	return []byte(b.String())
}
