package diff

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/ops"
)

// PodJudge is a Job as its controller judges Pods.
type PodJudge interface {
	// Judge decides about a Pod.
	Judge(pod []byte) (PodJudgement, error)
}

// PodJudgement is what isPodFailed, matchPodFailurePolicy, getCompletionIndex and isIndexFailed
// say.
type PodJudgement struct {
	Failed      bool // else nothing below is set
	Message     string
	Counted     bool
	Action      string // "" for none
	Index       int    // of an Indexed Job
	OutOfRange  bool
	IndexFailed bool
}

// podsPerJob are judged by each Job.
const podsPerJob = 50

// podFailures compares what is made of n Pods.
func (c *comparison) podFailures(t *testing.T, n int) {
	shown := 0
	for i := 0; c.podsJudged < n; i++ {
		g := generate(c.seed+2, i)
		g.careful = true
		job := g.judgingJob()
		theirs, err := c.release.PodJudge(job)
		if err != nil {
			t.Fatalf("%s: %v", job, err)
		}
		var pods []json.RawMessage
		for k := range podsPerJob {
			pods = append(pods, g.failedPod(k))
		}
		ours, err := c.judge(job, pods)
		if err != nil {
			t.Fatalf("%s: %v", job, err)
		}
		for k, pod := range pods {
			want, err := theirs.Judge(pod)
			if err != nil {
				t.Fatalf("%s: %v", pod, err)
			}
			c.podsJudged++
			if want.Action != "" {
				c.podsMatched++
			}
			if got := ours[k].judgement(); got != want {
				c.differ(t, &shown, fmt.Sprintf("Pod %d of Job %d: %s\n%s", k, i, job, pod), got, want)
			}
		}
	}
}

// podDecision is what is compared of our decision.
type podDecision struct {
	NotJudged, Action, Message string
	Rule, Index                *int
	Counted                    bool
	OutOfRange, IndexFails     bool
}

func (d podDecision) judgement() PodJudgement {
	if d.NotJudged != "" {
		return PodJudgement{}
	}
	j := PodJudgement{Failed: true, Message: d.Message, Counted: d.Action != "Ignore", Action: d.Action, OutOfRange: d.OutOfRange, IndexFailed: d.IndexFails}
	if d.Rule == nil {
		j.Action = ""
	}
	switch {
	case d.Index != nil:
		j.Index = *d.Index
	case d.OutOfRange:
		j.Index = -1
	}
	if d.Counted != (j.Counted && !j.OutOfRange) {
		j.Message += " (not counted as its action says)"
	}
	return j
}

// judge asks our core about each Pod.
func (c *comparison) judge(job []byte, pods []json.RawMessage) ([]podDecision, error) {
	var a struct{ PodDecisions []podDecision }
	if err := c.decide(job, pods, &a); err != nil {
		return nil, err
	}
	if len(a.PodDecisions) != len(pods) {
		return nil, fmt.Errorf("%d decisions about %d Pods", len(a.PodDecisions), len(pods))
	}
	return a.PodDecisions, nil
}

// decide asks our core about the Pods of a Job.
func (c *comparison) decide(job []byte, pods []json.RawMessage, answer any) error {
	if pods == nil {
		pods = []json.RawMessage{}
	}
	request, err := json.Marshal(map[string]any{
		"cluster":  map[string]any{"version": policy.VersionName(c.release.Minor())},
		"manifest": json.RawMessage(job), "pods": pods,
	})
	if err != nil {
		return err
	}
	op, _ := ops.Lookup("decide")
	reply, failed := ops.Call(op.Number, request)
	if failed {
		return fmt.Errorf("podfate: %s", reply)
	}
	return json.Unmarshal(reply, answer)
}

// containersOfJobs are the names in the template; the last is an init container.
var containersOfJobs = []string{"main", "helper", "nail", "init"}

// judgingJob returns a valid Job.
func (g *generator) judgingJob() []byte {
	g.b.WriteString(`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j","namespace":"default"},"spec":{`)
	if g.oneIn(2) {
		g.b.WriteString(`"completionMode":"Indexed","completions":3,`)
		if g.oneIn(2) {
			g.b.WriteString(`"backoffLimitPerIndex":` + pick(g, "0", "1", "2") + `,`)
		}
	}
	perIndex := strings.Contains(g.b.String(), "PerIndex")
	switch g.r.IntN(8) {
	case 0:
		g.field("podReplacementPolicy", pick(g, `"Failed"`, `"TerminatingOrFailed"`))
	case 1:
		g.field("podFailurePolicy", pick(g, `{}`, `{"rules":[]}`))
	default:
		g.b.WriteString(`"podFailurePolicy":{"rules":[`)
		for range pick(g, 1, 2, 3, 4, 20) {
			actions := []string{"FailJob", "Ignore", "Count"}
			if perIndex {
				actions = append(actions, "FailIndex")
			}
			g.b.WriteString(`{"action":"` + pick(g, actions...) + `",`)
			if g.oneIn(3) {
				g.b.WriteString(`"onPodConditions":[`)
				for range 1 + g.r.IntN(2) {
					g.b.WriteString(`{"type":"` + pick(g, conditionTypes...) + `"` + pick(g, ``, `,"status":"False"`, `,"status":"Unknown"`) + `},`)
				}
				g.close(`]},`)
				continue
			}
			g.b.WriteString(`"onExitCodes":{"operator":"` + pick(g, "In", "NotIn") + `",`)
			if g.oneIn(2) {
				g.field("containerName", strconv.Quote(pick(g, containersOfJobs...)))
			}
			g.field("values", pick(g, "[1]", "[1,2,3]", "[42]", "[137,143]", "[-1073741819]", "[1,300]", "[2,42,255,256]"))
			g.close(`}},`)
		}
		g.close(`]},`)
	}
	g.b.WriteString(`"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"i"},{"name":"helper","image":"i"},{"name":"nail","image":"i"}],` +
		`"initContainers":[{"name":"init","image":"i"}]}}}}`)
	return g.b.Bytes()
}

var conditionTypes = []string{"DisruptionTarget", "ConfigIssue", "Ready"}

// failedPod returns Pod number n, most often a failed one.
func (g *generator) failedPod(n int) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"j-%d","namespace":"default"`, n)
	if g.oneIn(4) {
		b.WriteString(`,"deletionTimestamp":"2026-01-01T00:00:00Z"`)
	}
	if !g.oneIn(8) {
		fmt.Fprintf(&b, `,"annotations":{"batch.kubernetes.io/job-completion-index":"%s","batch.kubernetes.io/job-index-failure-count":"%s"}`,
			pick(g, "0", "1", "2", "3", "-1", "", "x", "+1", "00", "99999999999999999999"), pick(g, "0", "0", "1", "2", "-1", "", "2147483647", "2147483648", "1e3"))
	}
	b.WriteString(`},"status":{"phase":"` + pick(g, "Failed", "Failed", "Failed", "Running", "Succeeded", "Pending", "Unknown", "") + `"`)
	for _, list := range []string{"containerStatuses", "initContainerStatuses"} {
		if g.oneIn(5) {
			continue
		}
		b.WriteString(`,"` + list + `":[`)
		for i := range g.r.IntN(4) {
			if i > 0 {
				b.WriteString(`,`)
			}
			state := pick(g, `"running":{}`, `"waiting":{"reason":"x"}`, ``)
			if !g.oneIn(4) {
				state = fmt.Sprintf(`"terminated":{"exitCode":%d}`, pick(g, 0, 0, 1, 2, 3, 42, 137, 143, 255, 256, 300, -1073741819, g.r.IntN(256)))
			}
			fmt.Fprintf(&b, `{"name":%q,"image":"i","imageID":"","ready":false,"restartCount":0,"state":{%s},"lastState":{"terminated":{"exitCode":42}}}`,
				pick(g, containersOfJobs...), state)
		}
		b.WriteString(`]`)
	}
	b.WriteString(`,"conditions":[`)
	for i := range g.r.IntN(4) {
		if i > 0 {
			b.WriteString(`,`)
		}
		fmt.Fprintf(&b, `{"type":%q,"status":%q}`, pick(g, conditionTypes...), pick(g, "True", "True", "False", "Unknown", "true"))
	}
	b.WriteString(`]}}`)
	return []byte(b.String())
}
