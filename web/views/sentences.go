package views

import (
	"regexp"
	"slices"
	"strings"
)

// The functions of this file turn codes into sentences; render.js has one of the same name for each.

// headline is the verdict in one line.
func headline(a *Answer) string {
	switch {
	case slices.ContainsFunc(faults(a), func(f Fault) bool { return f.Path == "kind" }):
		return say("error.kind") // Kubernetes may well accept it
	case a.Error != nil && known("error."+a.Error.Code):
		return say("error."+a.Error.Code, "version", a.Cluster.Version)
	case a.Error != nil:
		return say("error.other")
	case a.Pod != nil || a.Job != nil:
		return simulated(a)
	case len(a.Decisions) == 1:
		return sentence(a.Decisions[0])
	case len(a.Decisions) > 1:
		return say("verdict.several", "n", number(len(a.Decisions)), "outcomes", outcomes(a.Decisions))
	case a.PodDecisions != nil:
		return judged(a.JobDecision)
	case a.Valid:
		return say("verdict.valid", "version", a.Cluster.Version)
	}
	return say("verdict.invalid", "version", a.Cluster.Version)
}

func sentence(d Decision) string {
	if d.Undecided != nil {
		return say("verdict.undecided", "container", Visible(d.Container), "code", code(d))
	}
	return say("verdict.decision", "container", Visible(d.Container), "code", code(d), "action", say("action."+d.Action))
}

// code is the exit code with the reason that was given.
func code(d Decision) string {
	if d.Reason == "" {
		return number(d.ExitCode)
	}
	return say("code.reason", "code", number(d.ExitCode), "reason", Visible(short(d.Reason)))
}

// outcomes counts the decisions by action.
func outcomes(decisions []Decision) string {
	var parts []string
	for _, action := range []string{"Restart", "RestartAllContainers", "Stop", ""} {
		n := 0
		for _, d := range decisions {
			if d.Action == action {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, say("verdict.outcome", "n", number(n), "action", say("action."+action)))
		}
	}
	return strings.Join(parts, ", ")
}

// by says who decided: by rule 0.
func by(d Decision) string {
	return say("by."+d.DecidedBy.Level+"."+d.Because, "rule", number(d.DecidedBy.Rule))
}

// means says what an action brings about.
func means(d Decision) string {
	switch {
	case d.Undecided != nil:
		return say("means." + d.Undecided.Reason)
	case d.PodFails:
		return say("means.podFails")
	case d.Because == "init_completed":
		return say("means.init_completed")
	}
	return say("means." + d.Action)
}

// tone is the class of the verdict; the words say the same.
func tone(a *Answer) string {
	switch {
	case a.Error != nil:
		return "fault"
	case a.Pod != nil || a.Job != nil:
		return phaseTone(a)
	case len(a.Decisions) == 1:
		return outcomeTone(a.Decisions[0].Action)
	case len(a.Decisions) > 1:
		return "several"
	case a.PodDecisions != nil:
		return jobTone(a.JobDecision)
	case a.Valid:
		return "valid"
	}
	return "fault"
}

// judged says what becomes of a Job.
func judged(j *JobDecision) string {
	switch {
	case j == nil:
		return say("verdict.job.open")
	case j.Fails != nil:
		return say("verdict.job.fails", "message", Visible(j.Fails.Message))
	case j.Succeeds != nil:
		return say("verdict.job.succeeds", "message", Visible(j.Succeeds.Message))
	}
	return say("verdict.job", "counted", count("failures.counted", int64(j.Counted)), "others", number(j.NotJudged), "ignored", number(j.Ignored), "limit", number(int(j.BackoffLimit)))
}

// jobTone is the outcome of a Job as a class.
func jobTone(j *JobDecision) string {
	switch {
	case j == nil:
		return "undecided"
	case j.Fails != nil:
		return "stop"
	case j.Succeeds != nil:
		return "valid"
	}
	return "restart"
}

// podOutcome says what a Job makes of a Pod.
func podOutcome(d PodDecision) string {
	switch {
	case d.NotJudged != "":
		return say("pod.not_judged")
	case d.Undecided != nil:
		return say("action.")
	}
	return Visible(d.Action)
}

// podWhy says why.
func podWhy(d PodDecision) string {
	switch by := d.DecidedBy; {
	case d.NotJudged != "":
		return Phrase(d.NotJudged)
	case d.Undecided != nil:
		return Phrase(d.Undecided.Reason)
	case d.Rule == nil:
		return say("pod.default")
	case by.Condition != "":
		return say("pod.condition", "rule", number(*d.Rule), "condition", Visible(short(by.Condition)))
	default:
		return say("pod.exit", "rule", number(*d.Rule), "container", Visible(short(by.Container)), "code", number(by.ExitCode))
	}
}

// podEnds lists how the containers of a Pod ended.
func podEnds(d PodDecision) string {
	var parts []string
	for _, c := range d.Containers {
		parts = append(parts, Visible(short(c.Container))+" "+number(c.ExitCode))
	}
	return strings.Join(parts, ", ")
}

// explained are the judged Pods whose rules are listed one by one.
func explained(a *Answer) (list []PodDecision) {
	for _, d := range a.PodDecisions {
		if len(d.Trace) > 0 && d.NotJudged == "" && len(list) < maxKinds {
			list = append(list, d)
		}
	}
	return list
}

// opened reports whether the rules about a Pod are shown at once: it fails the Job, or nothing does and it is the first.
func opened(a *Answer, d PodDecision, i int) bool {
	if a.JobDecision != nil && a.JobDecision.Fails != nil {
		return d.Pod == a.JobDecision.Fails.Pod
	}
	return i == 0
}

func outcomeTone(action string) string {
	switch action {
	case "Restart":
		return "restart"
	case "RestartAllContainers":
		return "all"
	case "Stop":
		return "stop"
	}
	return "undecided"
}

func glyph(a *Answer) string {
	switch {
	case a.Pod != nil || a.Job != nil:
		return say("glyph." + phaseTone(a))
	case len(a.Decisions) == 1:
		return say("glyph." + a.Decisions[0].Action)
	case len(a.Decisions) > 1:
		return say("glyph.several")
	case a.PodDecisions != nil:
		return say("glyph." + jobTone(a.JobDecision))
	case a.Error == nil && a.Valid:
		return say("glyph.valid")
	}
	return say("glyph.fault")
}

// rulePath is the path of a rule of a container or of a podFailurePolicy.
var rulePath = regexp.MustCompile(`\.(?:restartPolicyRules|rules)\[([^[]*)\]$`)

// title names the part of the manifest that a step looked at: rule 0, container's restartPolicy.
func title(path string) string {
	if m := rulePath.FindStringSubmatch(path); m != nil {
		return say("title.rule", "rule", m[1])
	}
	switch {
	case strings.HasSuffix(path, "].restartPolicy"):
		return say("title.container")
	case strings.HasSuffix(path, "restartPolicy"):
		return say("title.pod")
	}
	return say("title.default")
}

// why says why a step of the decision about d has its result.
func why(d Decision, s Step) string {
	key := "why." + d.DecidedBy.Level + "." + s.Code
	if !known(key) {
		key = "why." + s.Code
	}
	text := say(key, "code", number(d.ExitCode), "values", s.values)
	if s.Ignored != "" {
		text += ", " + say("ignored."+s.Ignored)
	}
	return text
}

// Plain says in one line what is wrong: path, words, what is possible instead, and the text of Kubernetes where it is
// not the words. Page, command line and HTTP say it so (R-W6). Characters that hide are for the caller to replace.
func (f Fault) Plain() string {
	text := f.words()
	if list := f.possible(); len(list) > 0 && len(list) <= maxPossible {
		text += " (possible: " + strings.Join(list, ", ") + ")"
	}
	if f.decoded() {
		text += " (Kubernetes: " + f.Message + ")"
	}
	return text
}

// maxPossible is how many possible values fit in a line.
const maxPossible = 30

// decoded reports whether f is of decoding: Kubernetes' text is then in words of Go.
func (f Fault) decoded() bool { return f.Type == "" && f.Message != "" && f.Detail != "" }

// words is the text of Kubernetes, or the detail where it has none that is plain, with the path before it.
func (f Fault) words() string {
	text := f.Message
	if text == "" || f.decoded() {
		text = f.Detail
	}
	if f.Path == "" || strings.HasPrefix(text, f.Path) {
		return text
	}
	return f.Path + ": " + text
}

// possible is what could stand there, unless the text of Kubernetes lists it.
func (f Fault) possible() []string {
	if f.Message != "" && !f.decoded() {
		return nil
	}
	return f.Allowed
}

// message is what the page says of a fault; allowed and kubernetes stand below it.
func message(f Fault) string { return Visible(f.words()) }

func allowed(f Fault) string {
	if len(f.possible()) == 0 {
		return ""
	}
	return say("fault.allowed", "allowed", Visible(strings.Join(f.possible(), ", ")))
}

func kubernetes(f Fault) string {
	if !f.decoded() {
		return ""
	}
	return say("fault.kubernetes", "message", Visible(f.Message))
}

// faults are what is wrong, of whichever operation.
func faults(a *Answer) []Fault {
	if a.Error == nil {
		return a.Faults
	}
	if len(a.Error.Faults) > 0 {
		return a.Error.Faults
	}
	return []Fault{{Path: a.Error.Path, Detail: a.Error.Message, Place: a.Error.Place}}
}

// Live is what a screen reader is told about an answer, once.
func Live(a *Answer) string {
	if list := faults(a); len(list) > 0 {
		return say("live.fault", "verdict", headline(a), "message", message(list[0]))
	}
	return headline(a)
}

// maxLines bounds the numbered lines of the editor; a longer text is edited without numbers from there on.
const maxLines = 5000

// lines is the number of lines of the editor.
func lines(manifest string) int { return min(strings.Count(manifest, "\n")+1, maxLines) }

// marks gives the lines of the editor that the answer speaks of: fault, warning or decided, in this precedence.
func marks(a *Answer) map[int]string {
	m := map[int]string{}
	if a == nil {
		return m
	}
	for _, d := range a.Decisions {
		m[d.DecidedBy.Line] = "decided"
	}
	for _, d := range a.PodDecisions {
		m[d.DecidedBy.Line] = "decided"
	}
	for _, p := range a.Layers.Pods {
		m[p.Line] = "decided"
	}
	for _, r := range a.Timeline {
		m[r.DecidedBy.Line] = "decided"
	}
	for _, f := range a.Warnings {
		m[f.Line] = "warning"
	}
	for _, d := range a.Dropped {
		m[d.Line] = "warning"
	}
	for _, f := range faults(a) {
		m[f.Line] = "fault"
	}
	delete(m, 0)
	return m
}

// namedPaths is how many fields that are not checked the page names.
const namedPaths = 6

// looked says which fields were judged by name and type only.
func looked(a *Answer) string {
	named := a.NotChecked[:min(len(a.NotChecked), namedPaths)]
	paths := Visible(strings.Join(named, ", "))
	if more := len(a.NotChecked) + a.NotCheckedMore - len(named); more > 0 {
		return say("looked.more", "paths", paths, "n", number(more))
	}
	return say("looked", "paths", paths)
}
