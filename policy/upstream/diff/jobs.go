package diff

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy"
)

// jobs compares what is refused about n Jobs and CronJobs, most of whose fields are set at random,
// and about updates of half as many Jobs.
func (c *comparison) jobs(t *testing.T, n int) {
	shown, i, updated := 0, 0, 0
	each := n/len(jobGateSets(c.release.Minor())) + 1
	c.eachJobGateSet(t, func(set gateSet) {
		for end := i + each; i < end; i++ {
			g := generate(c.seed+1, i)
			text := g.job(g.oneIn(4), true)
			c.jobsValidated++
			c.compareAdmission(t, &shown, fmt.Sprintf("job %d, %v: %s", i, set, text), text, set)
		}
		for end := updated + each/2; updated < end; updated++ {
			g := generate(c.seed+4, updated)
			old := g.withStatus(g.job(false, false))
			c.compareUpdate(t, &shown, fmt.Sprintf("job update %d, %v", updated, set), set, old, g.edited(old))
		}
	})
}

// withStatus gives a Job a status that decides what of it may change.
func (g *generator) withStatus(job []byte) []byte {
	var parts []string
	if g.oneIn(2) {
		parts = append(parts, `"startTime":"2026-01-01T00:00:00Z"`)
	}
	if g.oneIn(3) {
		parts = append(parts, `"active":`+pick(g, "0", "1"))
	}
	if g.oneIn(2) {
		parts = append(parts, `"conditions":[{"type":"`+pick(g, "Suspended", "Complete")+`","status":"`+pick(g, "True", "False")+`"}]`)
	}
	return []byte(strings.TrimSuffix(string(job), "}") + `,"status":{` + strings.Join(parts, ",") + `}}`)
}

// sameMessage reports whether a fault of ours, cut as long values are, is that text of Kubernetes.
// One without a text stands for a text with addresses, with a whole template or with a name that
// was drawn.
func sameMessage(path, ours, theirs string) bool {
	return ours == "" && path == "metadata.name" && strings.Contains(theirs, "will not able to create pod") ||
		ours == "" && strings.HasPrefix(theirs, path+": Invalid value: batch.") && strings.Contains(theirs, "(0x") ||
		ours == "" && (path == "spec.template" || path == "spec.template.spec") && strings.HasSuffix(theirs, ": field is immutable") ||
		strings.Contains(ours, "…") && ours == longText.ReplaceAllString(theirs, "$1\"…")
}

// longText matches a value in a message that Podfate cuts on purpose (see Intended), and nothing
// else: text of more than policy.MaxQuotedBytes between quotation marks.
var longText = regexp.MustCompile(fmt.Sprintf(`("[^"\\]{%d})[^"\\]+"`, policy.MaxQuotedBytes))

// job returns a Job or, if cron is true, a CronJob; if generated is true, its name may be left to
// the API server.
func (g *generator) job(cron, generated bool) []byte {
	name := pick(g, `a`, `a`, `a`, `a.b`, strings.Repeat("a", 60), strings.Repeat("a", 57))
	field := "name"
	if generated && g.oneIn(4) {
		field, name = "generateName", pick(g, `a-`, `a.`, `A-`, strings.Repeat("a", 70), strings.Repeat("a", 57)+`-`, strings.Repeat("a", 56)+`-`)
	}
	g.b.WriteString(`{"metadata":{"` + field + `":"` + name + `","namespace":"default"},"apiVersion":"batch/v1",`)
	end := `}}`
	if cron {
		g.b.WriteString(`"kind":"CronJob","spec":{"schedule":"0 * * * *","jobTemplate":{"spec":{`)
		end = `}}}}`
	} else {
		g.b.WriteString(`"kind":"Job","spec":{`)
	}
	indexed := g.oneIn(2)
	fields := []func(){
		func() { g.number("parallelism", 2, "1", "3", "10000", "10001", "100000", "100001") },
		func() { g.number("completions", 2, "1", "5", "100000", "100001", "1000000") },
		func() { g.number("activeDeadlineSeconds", 8, "1", "9223372036854775807") },
		func() {
			if !cron && g.oneIn(3) {
				g.field("suspend", pick(g, "true", "true", "false", "null"))
			}
		},
		func() { g.number("backoffLimit", 4, "1", "6", "2147483647") },
		func() { g.number("ttlSecondsAfterFinished", 12, "1") },
		func() {
			if !g.careful || indexed {
				g.number("backoffLimitPerIndex", 2, "1", "3")
				g.number("maxFailedIndexes", 3, "1", "5", "6", "10000", "10001", "100000", "100001")
			}
		},
		func() {
			if g.oneIn(6) {
				g.field("managedBy", g.managedBy())
			}
		},
		func() {
			known := []string{`"NonIndexed"`, `null`}
			if indexed {
				known = []string{`"Indexed"`}
			}
			g.field("completionMode", g.word(known...))
		},
		func() {
			if g.oneIn(4) {
				g.field("podReplacementPolicy", g.word(`"Failed"`, `"Failed"`, `"TerminatingOrFailed"`))
			}
		},
		g.failureRules,
		func() {
			if indexed && g.oneIn(2) || !g.careful && g.oneIn(6) {
				g.successRules()
			}
		},
		func() {
			g.b.WriteString(`"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"main","image":"i"},{"name":"helper","image":"i"}],` +
				`"initContainers":[{"name":"init","image":"i"}],"ephemeralContainers":null,`)
			g.field("restartPolicy", g.word(`"Never"`, `"Never"`, `"OnFailure"`))
			g.close(`}},`)
		},
	}
	g.r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	for _, f := range fields {
		f()
	}
	g.close(end)
	return g.b.Bytes()
}

// number writes a number in one of n cases.
func (g *generator) number(name string, n int, known ...string) {
	if !g.oneIn(n) {
		return
	}
	if !g.careful && g.oneIn(6) {
		known = []string{"-1", "-2147483648", "null"}
	}
	if g.oneIn(8) {
		known = []string{"0"}
	}
	g.field(name, pick(g, known...))
}

func (g *generator) managedBy() string {
	if g.careful {
		return pick(g, `"kubernetes.io/job-controller"`, `"acme.io/foo"`, `"a/b/c?"`)
	}
	return pick(g, `""`, `"foo"`, `"/"`, `"a/"`, `"/b"`, `"A/b"`, `"a..b/c d"`, `"acme.io/foo bar"`, `"acme.io/\u00e9"`, `"a/b#"`,
		`"acme.io/`+strings.Repeat("x", 60)+`"`, `"`+strings.Repeat("a.", 127)+`a/b"`, `"a/b!$&'()*+,;=:@"`)
}

func (g *generator) count(most int) int {
	if g.oneIn(40) {
		n := pick(g, most-1, most, most+1, most+3)
		if g.careful {
			n = min(n, most)
		}
		return n
	}
	return pick(g, 0, 1, 1, 2, 2, 3)
}

// failureRules writes podFailurePolicy.
func (g *generator) failureRules() {
	if g.oneIn(3) {
		g.field("podFailurePolicy", pick(g, "", "null", "{}", `{"rules":null}`, `{"rules":[]}`))
		return
	}
	g.b.WriteString(`"podFailurePolicy":{"rules":[`)
	for range g.count(20) {
		if !g.careful && g.oneIn(60) {
			g.b.WriteString(`null,`)
			continue
		}
		g.b.WriteString(`{`)
		g.field("action", g.word(`"FailJob"`, `"Ignore"`, `"Count"`, `"FailIndex"`))
		conditions := g.oneIn(3)
		if !conditions || !g.careful && g.oneIn(8) {
			g.onExitCodes()
		}
		if conditions || !g.careful && g.oneIn(8) {
			g.onPodConditions()
		}
		g.close(`},`)
	}
	g.close(`]},`)
}

func (g *generator) onExitCodes() {
	g.b.WriteString(`"onExitCodes":{`)
	g.field("operator", g.word(`"In"`, `"NotIn"`))
	if g.oneIn(3) {
		names := []string{`"main"`, `"init"`, `"helper"`}
		if !g.careful {
			names = append(names, `""`, `null`, `"Main"`, `"nope"`)
		}
		g.field("containerName", pick(g, names...))
	}
	if g.careful && g.oneIn(2) {
		g.field("values", pick(g, "[1]", "[1,2,3]", "[-7,42,300]", "[137]"))
	} else {
		g.values()
	}
	g.close(`},`)
}

// types are names of conditions with and without faults.
var types = []string{
	`"DisruptionTarget"`, `"ConfigIssue"`, `"example.com/x"`, `"a-b_c.d"`, `""`, `"-a"`, `"a b"`, `"a/b/c"`, `"/a"`, `"a/"`, `"A.b/c"`, `"a..b/c"`,
	`"` + strings.Repeat("a", 63) + `"`, `"` + strings.Repeat("a", 64) + `"`, `"` + strings.Repeat("a.", 127) + `/a"`, `"\u00e9"`, `null`,
}

func (g *generator) onPodConditions() {
	n := g.count(20)
	if n == 0 {
		g.field("onPodConditions", pick(g, "", "null", "[]"))
		return
	}
	g.b.WriteString(`"onPodConditions":[`)
	for range n {
		g.b.WriteString(`{`)
		if g.careful {
			g.field("type", types[g.r.IntN(4)])
			g.field("status", pick(g, `"True"`, `"False"`, `"Unknown"`, ``))
		} else {
			g.field("type", types[g.r.IntN(len(types))])
			g.field("status", g.word(`"True"`, `"False"`, `"Unknown"`))
		}
		g.close(`},`)
	}
	g.close(`],`)
}

// indexes are values of succeededIndexes.
var indexes = []string{
	`"0"`, `"0,2-3"`, `"1-2"`, `"0-4"`, `""`, `null`, `"1,1"`, `"2-2"`, `"3,1"`, `"1-2-3"`, `"x"`, `"-1"`, `"1-"`, `"1,"`, `","`, `" 1"`, `"+1"`, `"5"`, `"0-5"`,
	`"1--2"`, `"99999999999999999999"`, `"1,x-y-z"`, `"0\u0000"`, `"00"`, `"1_0"`, `"0x1"`,
}

// successRules writes successPolicy.
func (g *generator) successRules() {
	if g.oneIn(8) {
		g.field("successPolicy", pick(g, "null", "{}", `{"rules":null}`, `{"rules":[]}`))
		return
	}
	g.b.WriteString(`"successPolicy":{"rules":[`)
	for range g.count(20) {
		g.b.WriteString(`{`)
		if g.oneIn(2) {
			n := len(indexes)
			if g.careful {
				n = 6
			}
			g.field("succeededIndexes", indexes[g.r.IntN(n)])
		} else if g.oneIn(100) {
			g.field("succeededIndexes", `"`+longIndexes(pick(g, 11_000, 14_000))+`"`)
		}
		g.number("succeededCount", 2, "1", "2", "5", "6")
		g.close(`},`)
	}
	g.close(`]},`)
}

// longIndexes names about n indexes, which takes six bytes each.
func longIndexes(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strconv.Itoa(10_000+2*i) + ",")
	}
	return strings.TrimSuffix(b.String(), ",")
}

// panicked is the path at which our answer says that the API server panics, "" if it does not.
func (a answer) panicked() string {
	for _, u := range a.Undecided {
		if u.Reason == string(policy.CodePanics) {
			return u.Path
		}
	}
	return ""
}
