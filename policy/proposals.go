package policy

import "cmp"

// Proposals says which proposals a cluster has and how they are read, in bits, so that [Features]
// stay comparable: a bit for each proposal, and from readingsFrom on three for each option, of
// which the highest says that a request chose. The zero value is a cluster of today.
type Proposals uint64

// ProposalID is the place of a proposal in [ProposalList].
type ProposalID uint8

// The proposals.
const (
	KEP5307Future ProposalID = iota
	KEP3322
	Callback
	KEP3329Draft
	FailurePolicyAnywhere
	JobAlways
	AlwaysPod
	KEP4603Draft
)

// ProposalOption numbers an option in the order of [ProposalList].
type ProposalOption uint8

// The options.
const (
	OptionRestartTimes ProposalOption = iota
	OptionMissingPolicy
	OptionFallback
	OptionRestartPod
	OptionCounts
	OptionStop
	OptionPolicies
	OptionExitZero
	OptionEvictionReason
	OptionSandbox
	OptionWait
	OptionOnSuccess
	OptionOldKubelet
)

const readingsFrom, readingBits, chosenBit = 16, 3, 4

// Has reports whether proposal x is on.
func (p Proposals) Has(x ProposalID) bool { return p>>x&1 != 0 }

// Reading returns which value of option o counts: its place in [Reading.Values], 0 for the default.
func (p Proposals) Reading(o ProposalOption) int {
	return int(p>>(readingsFrom+readingBits*o)) & (chosenBit - 1)
}

// Chosen reports whether someone chose the value of option o, be it the default.
func (p Proposals) Chosen(o ProposalOption) bool {
	return p>>(readingsFrom+readingBits*o)&chosenBit != 0
}

// With returns p with proposal x on.
func (p Proposals) With(x ProposalID) Proposals { return p | 1<<x }

// WithReading returns p with value n of option o, of which none was chosen before.
func (p Proposals) WithReading(o ProposalOption, n int) Proposals {
	return p | Proposals(n|chosenBit)<<(readingsFrom+readingBits*o)
}

// Proposal is a change of Kubernetes that someone wrote down and no release has: words that
// manifests may use where it is on.
type Proposal struct {
	Name    string
	Source  string // the document that has it
	State   string // future: named as a later step; draft: it became something else, or nothing yet; refused: an alternative that was turned down
	Gate    string // its own feature gate, which is on with it; "" for none
	Options []Reading
}

// Reading is what a document leaves open, or what documents disagree about.
type Reading struct {
	Name         string
	Values       []string // the first is the default
	Disagreement string   // its number in the list of those that were found
}

// gateBit is the bit that says that the gate of x is off; two proposals have one.
func gateBit(x ProposalID) Proposals {
	if x == KEP4603Draft {
		return gatedOff
	}
	return gatedOff >> 1
}

// WithGateOff returns p with the gate of its own that x has switched off.
func (p Proposals) WithGateOff(x ProposalID) Proposals { return p | gateBit(x) }

// GateIsOff reports whether the gate of x was switched off.
func (p Proposals) GateIsOff(x ProposalID) bool { return p&gateBit(x) != 0 }

// ProposalGate returns the proposal that has a feature gate of this name; ok is false if none has.
func ProposalGate(name string) (x ProposalID, ok bool) {
	for i := range proposals {
		if proposals[i].Gate == name && name != "" {
			return ProposalID(i), true
		}
	}
	return 0, false
}

// ProposalList returns the proposals in the order in which describe lists them. The list is shared:
// callers must not change it.
func ProposalList() []Proposal { return proposals }

const kep5307 = "KEP-5307"

// proposals is in the order of the constants above, its options too. It is never written to.
var proposals = []Proposal{
	{"kep-5307-future", kep5307 + ", Design Details: the shape of the API for future improvements", "future", "", []Reading{
		{"restartTimes", []string{"atLeast", "equals"}, "X-32"},
		{"missingPolicy", []string{"pod", "refuse"}, "X-03"},
		{"fallback", []string{"container", "pod"}, "X-02"},
		{"restartPod", []string{"recreate", "reuse"}, "X-06"},
	}},
	{"kep-3322", "KEP-3322, named in " + kep5307, "draft", "", []Reading{
		{"counts", []string{"podSum", "container"}, "X-41"},
		{"stop", []string{"reached", "exceeded"}, "X-41"},
		{"policies", []string{"all", "OnFailure"}, "X-41"},
	}},
	{"callback", kep5307 + ", Alternatives: non-declarative (callbacks based) restart policy", "refused", "", nil},
	{"kep-3329-draft", "KEP-3329, first draft: Job backoff policy", "draft", "RetriableAndNonRetriableFailures", []Reading{
		{"exitZero", []string{"skipped", "matched"}, "X-09"},
		{"evictionReason", []string{"Evicted", "NodePressureEviction"}, "X-38"},
	}},
	{"pod-failure-policy-anywhere", "KEP-4603, draft, Job retries; kubernetes/kubernetes#125677", "future", "", nil},
	{"job-always", "KEP-4603, draft, Job retries", "future", "", nil},
	{"always-pod", "KEP 0, 2018: new Pod restartPolicy to restart the whole Pod", "draft", "", []Reading{
		{"sandbox", []string{"reuse", "recreate"}, "X-29"},
		{"wait", []string{"asAlways", "none"}, "X-39"},
	}},
	{"kep-4603-draft", "KEP-4603, draft of September 2024, Alternatives", "draft", RapidGate, []Reading{
		{"onSuccess", []string{"5s", "0s", "10s"}, "002-51"},
		{"oldKubelet", []string{"Always", "OnFailure", "Never"}, "X-15"},
	}},
}

// RapidGate is the gate of [KEP4603Draft].
const RapidGate = "EnableRapidCrashLoopBackoffDecay"

// DraftGate returns the name that a gate has in releases if KEP4603Draft calls it name.
// Drafts, tables and issues differ in the case of letters as well.
func DraftGate(name string) string {
	switch {
	case EqualFold(name, "ReduceDefaultCrashLoopBackOffDecay"):
		return "ReduceDefaultCrashLoopBackOffDecay"
	case EqualFold(name, "EnableKubeletCrashLoopBackOffMax") || EqualFold(name, "KubeletCrashLoopBackOffMax"):
		return "KubeletCrashLoopBackOffMax"
	case EqualFold(name, RapidGate):
		return RapidGate
	}
	return name
}

// Word is a word of a manifest that a proposal brings: a field, or a value of one.
type Word struct {
	Of    ProposalID
	Type  string // the Go type in Kubernetes' API that has the field
	Field string
	Value string // "" if the field itself is new
}

// words is in the order of the proposals. It is never written to.
var proposedWords = []Word{
	{KEP5307Future, "ContainerRestartRule", "when", ""},
	{KEP5307Future, "ContainerRestartRule", "onExit", ""},
	{KEP5307Future, "ContainerRestartRule", "onExitCodes", ""},
	{KEP5307Future, "ContainerRestartRule", "restartTimes", ""},
	{KEP5307Future, "ContainerRestartRule", "oomKilled", ""},
	{KEP5307Future, "ContainerRestartRule", "action", string(ActionComplete)},
	{KEP5307Future, "ContainerRestartRule", "action", string(ActionTerminate)},
	{KEP5307Future, "ContainerRestartRule", "action", string(ActionTerminatePod)},
	{KEP5307Future, "ContainerRestartRule", "action", string(ActionRestartPod)},
	{KEP3322, "PodSpec", "maxRestartTimes", ""},
	{KEP3329Draft, "JobSpec", "backoffPolicy", ""},
	{KEP3329Draft, "PodFailurePolicyOnPodConditionsPattern", "key", ""},
	{KEP3329Draft, "PodFailurePolicyOnPodConditionsPattern", "operator", ""},
	{KEP3329Draft, "PodFailurePolicyOnPodConditionsPattern", "values", ""},
	{FailurePolicyAnywhere, "PodSpec", "podFailurePolicy", ""},
	{AlwaysPod, "PodSpec", "restartPolicy", string(RestartPolicyAlwaysPod)},
	{KEP4603Draft, "PodSpec", "restartPolicy", string(RestartPolicyRapid)},
	{KEP4603Draft, "PodSpec", "restartPolicy", string(RestartPolicyFastOnSuccess)},
}

// ProposedField returns the proposal that brings a field to a type, as Kubernetes' API calls it; ok
// is false if none does.
func ProposedField(of, field string) (x ProposalID, ok bool) {
	for i := range proposedWords {
		if w := &proposedWords[i]; w.Field == field && w.Type == of && w.Value == "" {
			return w.Of, true
		}
	}
	return 0, false
}

// SetProposed notes whether s has words of p at all: where it has none, what decides without them
// decides. What an API server drops must be gone before.
func (s *PodSpec) SetProposed(p Proposals) {
	s.Proposed = s.MaxRestartTimes != nil || p.Has(AlwaysPod) && s.RestartPolicy == RestartPolicyAlwaysPod
	if !p.Has(KEP5307Future) {
		return
	}
	for kind := range ContainerKinds {
		for _, c := range s.List(kind) {
			for i := range c.RestartPolicyRules {
				r := &c.RestartPolicyRules[i]
				s.Proposed = s.Proposed || r.Restarts != nil || r.OOMKilled || r.Spelling != "" || c.RestartPolicy == nil ||
					p.ProposedValue("action", string(r.Action)) || p.Reading(OptionFallback) == 1
			}
		}
	}
}

// Name returns the name of x in requests.
func (x ProposalID) Name() string { return proposals[x].Name }

// Words returns the words that p brings, each as a path and, for a value, what is there.
func (x ProposalID) Words() (list []string) {
	for i := range proposedWords {
		w := &proposedWords[i]
		if w.Of != x {
			continue
		}
		path := "spec."
		switch w.Type {
		case "ContainerRestartRule":
			path += "containers[].restartPolicyRules[]."
		case "PodFailurePolicyOnPodConditionsPattern":
			path += "podFailurePolicy.rules[].onPodConditions[]."
		}
		if path += w.Field; w.Value != "" {
			path += ": " + w.Value
		}
		list = append(list, path)
	}
	switch x { // words that releases have elsewhere
	case KEP3329Draft:
		list = append(list, "apiVersion: v1")
	case JobAlways:
		list = append(list, "spec.template.spec.restartPolicy: "+string(RestartPolicyAlways))
	}
	return list
}

// Assumed returns a code for each default reading that matters to a Pod, and to the Job whose Pod
// it is (nil for none): reading_, the option, and its value.
func (p Proposals) Assumed(spec *PodSpec, job *Job) (codes []string) {
	if p == 0 {
		return nil
	}
	var used [optionsAssumed]bool
	for kind := range ContainerKinds {
		for _, c := range spec.List(kind) {
			rules, own := len(c.RestartPolicyRules) > 0, c.RestartPolicy
			used[OptionMissingPolicy] = used[OptionMissingPolicy] || rules && own == nil
			used[OptionFallback] = used[OptionFallback] || rules && own != nil && *own != cmp.Or(spec.RestartPolicy, RestartPolicyAlways) && !c.IsSidecar(kind)
			for i := range c.RestartPolicyRules {
				r := &c.RestartPolicyRules[i]
				used[OptionRestartTimes] = used[OptionRestartTimes] || r.Restarts != nil
				used[OptionRestartPod] = used[OptionRestartPod] || r.Action == ActionRestartPod
			}
		}
	}
	if spec.MaxRestartTimes != nil {
		counts := p.Reading(OptionPolicies) == 0 || spec.RestartPolicy == RestartPolicyOnFailure
		used[OptionCounts], used[OptionStop] = counts && spec.Len() > 1, counts
		used[OptionPolicies] = spec.RestartPolicy != RestartPolicyOnFailure
	}
	fast := spec.Pace == RestartPolicyFastOnSuccess
	paced := spec.Pace != ""
	for kind := range ContainerKinds {
		for _, c := range spec.List(kind) {
			fast, paced = fast || c.Pace == RestartPolicyFastOnSuccess, paced || c.Pace != ""
		}
	}
	used[OptionOnSuccess] = fast
	if paced && p&gatedOff != 0 {
		codes = append(codes, "rapid_gate_is_off")
	}
	used[OptionSandbox] = spec.RestartPolicy == RestartPolicyAlwaysPod
	used[OptionWait] = used[OptionSandbox]
	if job != nil && job.PodFailurePolicy != nil && job.PodFailurePolicy.Draft {
		used[OptionExitZero] = true
		for i := range job.PodFailurePolicy.Rules {
			used[OptionEvictionReason] = used[OptionEvictionReason] || job.PodFailurePolicy.Rules[i].Reasons != nil
		}
	}
	o := ProposalOption(0)
	for x := range proposals {
		for i := range proposals[x].Options {
			if r := &proposals[x].Options[i]; int(o) < len(used) && used[o] && p.Has(ProposalID(x)) && !p.Chosen(o) {
				codes = append(codes, "reading_"+r.Name+"_"+r.Values[0])
			}
			o++
		}
	}
	return codes
}

// optionsAssumed is how many options [Proposals.Assumed] looks at.
const optionsAssumed = int(OptionOldKubelet) + 1

// Complete completes the fault about a value that p does not know: what else is allowed where a
// proposal is on, and which proposal knows the value. What an API server prints is left out where a
// proposal changes it.
func (p Proposals) Complete(e *FieldError, field, value string) {
	for i := range proposedWords {
		switch w := &proposedWords[i]; {
		case w.Field != field || w.Value == "":
		case p.Has(w.Of):
			e.Allowed, e.Message, e.Detail = append(e.Allowed, w.Value), "", ""
		case w.Value == value:
			e.Proposal = proposals[w.Of].Name
		}
	}
	if e.Message == "" && e.Detail == "" {
		e.Detail = Quoted(value) + " is not one of the words"
	}
}

// ProposedValue reports whether a proposal that is on brings this value of a field.
func (p Proposals) ProposedValue(field, value string) bool {
	for i := range proposedWords {
		if w := &proposedWords[i]; w.Field == field && w.Value == value && value != "" {
			return p.Has(w.Of)
		}
	}
	return false
}
