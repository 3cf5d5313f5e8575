package policy

// What a number of 16 bits says when there is nothing to name.
const (
	NoContainer uint16 = 0xFFFF // not given, or not a container of the manifest
	NoRule      uint16 = 0xFFFF
	NoCondition uint16 = 0xFFFF
)

// EventFlags say more about an [Event].
type EventFlags uint16

// The flags of events. All others must be 0.
const (
	EventOOMKilled EventFlags = 1 << iota // the runtime's reason for the end
	EventHistory                          // History and RanFor are given, so that the wait can be told
	EventMore                             // the next event is about the same Pod; only for [AskPods]
	EventRestarts                         // Conditions holds restart counts; only for [AskExits]
)

// Question is what the events of a batch ask.
type Question uint32

// The questions.
const (
	// AskExits: a container exits now, while the other containers of its Pod run.
	AskExits Question = iota
	// AskPods: a Pod of the Job has failed. One event for each terminated container, those of
	// containerStatuses before those of initContainerStatuses, in the order of the lists; all but
	// the last with [EventMore]. A Pod without terminated containers is one event with code 0,
	// which no rule matches.
	AskPods
)

// Event is an event of a batch: numbers only, in the layout of the module's packed record, so that
// a million of them are one block of memory.
type Event struct {
	ExitCode  int32
	Container uint16 // its number, see [Batch]; [NoContainer] if the Pod has a single main container, or for one not in the manifest
	Flags     EventFlags
	// History is how often the container was restarted since its back-off was last reset; for Pods,
	// the failures in a row before this one, of its index if the Job counts per index.
	History uint32
	Tag     uint32 // the caller's; repeated in the verdict
	RanFor  Millis // how long the container ran, from 0 on; 0 for Pods
	// Conditions are those of the Pod, as bits with the numbers of [Batch.Conditions]; the events
	// of one Pod add theirs. For an exit with [EventRestarts] they are the restartCount of the
	// container, and in the upper half the sum of those of all containers: proposals ask for them.
	// Without the flag both are 0.
	Conditions uint64
}

// VerdictFlags say more about a [Verdict].
type VerdictFlags uint8

// The flags of verdicts.
const (
	VerdictPodFails  VerdictFlags = 1 << iota // an init container failed for good
	VerdictUndecided                          // no action: Rule has an action or operator that no modelled release knows
	VerdictCounted                            // the failure of the Pod counts towards the limits of its Job
	VerdictMore                               // no action: the verdict is that of a later event of the Pod
)

// Verdict is the answer to an [Event].
type Verdict struct {
	Action  uint8  // its place in [VerdictActions], 0 for none
	Status  uint8  // 0, or the number of the error that this event is: [EventInvalid]
	Rule    uint16 // index of the rule that decided, or matched and was ignored; else [NoRule]
	Reason  uint8  // its place in [VerdictReasons], 0 for none
	Level   uint8  // its place in [VerdictLevels]
	Ignored uint8  // its place in [VerdictIgnored]
	Flags   VerdictFlags
	// Wait is how long the kubelet's back-off keeps the container waiting, 0 for a start at once;
	// -1 if it is not started or its history is not given. If the entry is forgotten during the
	// wait, the next sweep ends it, and Wait is up to
	// [SweepPeriod] more than the container waits: when kubelets sweep is not in the record.
	// For Pods it is the Job controller's back-off before the next Pod; -1 after FailJob and
	// FailIndex too.
	Wait      Millis
	Container uint16 // the container that was judged; for Pods the first that the rule matched, else [NoContainer]
	Condition uint16 // for Pods the least condition that the rule matched, else [NoCondition]
	Tag       uint32 // of the event
}

// The words of the numbers in a [Verdict], append-only. Nobody writes to them.
var (
	VerdictActions = []string{
		"", string(Restart), string(RestartAllContainers), string(Stop),
		string(ActionFailJob), string(ActionFailIndex), string(ActionIgnore), string(ActionCount),
		string(Complete), string(Terminate), string(TerminatePod), string(RestartPod),
	}
	VerdictLevels  = []string{"", string(LevelRule), string(LevelContainer), string(LevelPod), string(LevelDefault), string(LevelLimit)}
	VerdictReasons = []string{
		"", string(BecauseRule), string(BecauseAlways), string(BecauseOnFailureFailed), string(BecauseOnFailureSucceeded),
		string(BecauseNever), string(BecauseUnknownPodPolicy), string(BecauseSidecar), string(BecauseInitCompleted),
		string(BecauseInitRetried), string(BecauseEphemeral), UndecidedAction, UndecidedOperator,
		"no_rule_matched", UndecidedManagedBy, string(BecauseAlwaysPod), string(BecauseRestartLimit),
	}
	VerdictIgnored = []string{
		string(NotIgnored), string(IgnoredUnknownAction), string(IgnoredGateOff), string(IgnoredSidecar),
		string(IgnoredInitCompleted), string(IgnoredNoPolicy), string(IgnoredRestartLimit),
	}
)

// Why there is no decision: a rule that would have been looked at has an action or an operator that
// no modelled release knows, and nobody said which release is asked.
const (
	UndecidedAction   = "unknown_action"
	UndecidedOperator = "unknown_operator"
)

// UndecidedManagedBy is why there is no decision about Pods of a Job that another controller looks
// after.
const UndecidedManagedBy = "managed_by"

// numberOf returns the place of word in words, which has it.
func numberOf(words []string, word string) uint8 {
	for i, w := range words {
		if w == word {
			return uint8(i)
		}
	}
	panic("policy: a word without a number: " + word)
}

// Decision returns what v says in words. It is the zero Decision for a fault.
func (v Verdict) Decision() Decision {
	d := Decision{
		Action:   Action(VerdictActions[v.Action]),
		Level:    Level(VerdictLevels[v.Level]),
		Because:  Because(VerdictReasons[v.Reason]),
		Ignored:  Ignored(VerdictIgnored[v.Ignored]),
		Matched:  -1,
		PodFails: v.Flags&VerdictPodFails != 0,
	}
	if v.Rule != NoRule {
		d.Matched = int32(v.Rule)
	}
	return d
}

// Batch answers many events about one manifest without allocating. Containers are numbered: main
// ones first, then init, then ephemeral ones, each in the order of the manifest. It is immutable;
// any number of goroutines may use it.
type Batch struct {
	tables     []batchTable // by number
	only       uint16       // what NoContainer stands for in exits
	delays     [16]Millis   // by history; what follows is as the last: nine doublings lead from 1 s to 300 s
	reset      Millis
	failure    *FailurePolicy // nil: not a Job
	conditions []NumberedCondition
	varies     bool      // some table has variants
	judged     []Verdict // by rule of the failure policy, plus 1
}

// batchTable is a codeTable with the outcomes of [exitTable] in numbers.
type batchTable struct {
	*codeTable
	verdicts []Verdict  // in the numbering of outcomes
	killed   Verdict    // what follows from code 0 with the reason OOMKilled
	failure  *codeTable // of the failure policy; nil where it does not look
	more     *batchVariants
	limited  bool // a limit of restarts may change the verdict
}

// batchVariants is [variants] in numbers: nil where the exit code decides.
type batchVariants struct {
	variants
	tables   []batchTable
	verdicts []Verdict     // those of all tables
	limits   []Verdict     // in their place where a restart is one too many; nil without a limit
	slots    [][512]uint16 // by restarts, reason and code, their places: one look-up more than without variants
	shift    uint8         // to the restarts that the limit counts, in the conditions of an event
	most     uint64        // from so many on the limit is reached; more than there can be without one
}

// BatchOptions say what a batch needs to know besides the Pod.
type BatchOptions struct {
	Features Features
	// Backoff is that of a kubelet, which reaches Max within 15 restarts: the waits after them are
	// not told apart.
	Backoff Backoff
	// Fallback asks for what a kubelet of Features does about actions and operators that it does
	// not know. Without it such decisions are undecided.
	Fallback bool
	// JobFallback asks for the same about the podFailurePolicy, of the Job controller.
	JobFallback bool
	// Job is that of a manifest of this kind, nil for others: without it there is no answer about
	// Pods.
	Job *Job
}

// NewBatch prepares the answers about spec. Like [Compile] it accepts any spec, and keeps nothing
// of it but strings.
func NewBatch(spec *PodSpec, o BatchOptions) *Batch {
	b := &Batch{only: NoContainer, reset: o.Backoff.Reset, tables: make([]batchTable, 0, spec.Len())}
	if len(spec.Containers) == 1 {
		b.only = 0
	}
	for n := range b.delays {
		b.delays[n] = o.Backoff.Delay(n)
	}
	if o.Job != nil {
		b.compileFailures(o.Job, o.JobFallback)
		for i, name := range b.failure.types.list {
			for _, c := range b.failure.conditions[i] {
				b.conditions = append(b.conditions, NumberedCondition{name, c.status, c.rule})
			}
		}
	}
	p := Compile(spec, o.Features)
	for kind := range ContainerKinds {
		for i, c := range spec.List(kind) {
			b.add(&(*p.tables(kind))[i], c, kind, o)
		}
	}
	return b
}

// add adds the table of container c in a list of this kind.
func (b *Batch) add(from *exitTable, c Container, kind ContainerKind, o BatchOptions) {
	unknown := -1
	if !o.Fallback && o.Features.ContainerRestartRules && kind != EphemeralContainer {
		unknown = unknownOperator(c.RestartPolicyRules)
	}
	t := b.table(from, unknown, o)
	if from.more != nil {
		b.varies = true
		t.more = &batchVariants{variants: *from.more}
		t.more.slots = make([][512]uint16, len(t.more.from)+1)
		if o.Features.Proposals.Reading(OptionCounts) == 0 {
			t.more.shift = 32
		}
		if t.more.most = 1 << 32; t.more.limited {
			t.more.most = uint64(t.more.limit)
		}
		for i := range from.more.tables {
			v := b.table(&from.more.tables[i], unknown, o)
			v.more, v.limited = t.more, from.more.limited
			t.more.add(v, i, len(b.tables))
		}
	}
	if b.failure != nil && kind != EphemeralContainer {
		t.failure = &b.failure.tables[b.failure.names.find(c.Name)+1]
	}
	b.tables = append(b.tables, t)
}

// add adds table t, the i-th of container number n.
func (m *batchVariants) add(t batchTable, i, n int) {
	first := len(m.verdicts)
	m.tables, m.verdicts = append(m.tables, t), append(append(m.verdicts, t.verdicts...), t.killed)
	slots := &m.slots[i%len(m.slots)]
	half := i / len(m.slots) << 8 // the later tables are those of ends for lack of memory
	for code := half; code < len(slots); code++ {
		slots[code] = uint16(first + int(t.first[code&0xFF])*2 + min(code&0xFF, 1))
	}
	slots[256] = uint16(len(m.verdicts) - 1)
	for _, v := range m.verdicts[first:] {
		if d := v.Decision(); m.limited && d.Action.Again() {
			v = verdict(d.limited(), n, -1, BatchOptions{Fallback: true})
		}
		m.limits = append(m.limits, v)
	}
}

// table puts the answers of a table into numbers; they take the place of its outcomes.
func (b *Batch) table(from *exitTable, unknown int, o BatchOptions) batchTable {
	t := batchTable{codeTable: &from.codeTable, verdicts: make([]Verdict, len(from.outcomes))}
	for slot, d := range from.outcomes {
		t.verdicts[slot] = verdict(d, len(b.tables), unknown, o)
	}
	t.killed = verdict(from.oom, len(b.tables), unknown, o)
	from.outcomes = nil
	return t
}

// NumberedCondition is a pattern of Pod conditions.
type NumberedCondition struct {
	Type, Status string
	rule         uint16 // the first that it matches, plus 1
}

// Conditions returns the patterns of Pod conditions in the Job's failure policy, by number. More
// than [MaxConditions] have no place in an event. Callers must not change the list.
func (b *Batch) Conditions() []NumberedCondition { return b.conditions }

// unknownOperator returns the index of the first rule whose operator no release knows, or -1.
func unknownOperator(rules []ContainerRestartRule) int {
	for i := range rules[:min(len(rules), MaxRules)] {
		if on := rules[i].ExitCodes; on != nil && on.Operator != OperatorIn && on.Operator != OperatorNotIn {
			return i
		}
	}
	return -1
}

// verdict puts a decision about container number n into numbers, unless it is undecided.
func verdict(d Decision, n, unknownOperator int, o BatchOptions) Verdict {
	v := Verdict{Rule: NoRule, Wait: -1, Container: uint16(n), Condition: NoCondition}
	why := ""
	switch {
	case unknownOperator >= 0 && (d.Matched < 0 || unknownOperator < int(d.Matched)):
		why, d.Matched = UndecidedOperator, int32(unknownOperator)
	case d.Ignored == IgnoredUnknownAction && !o.Fallback:
		why = UndecidedAction
	}
	if d.Matched >= 0 {
		v.Rule = uint16(d.Matched)
	}
	if why != "" {
		v.Flags, v.Reason = VerdictUndecided, numberOf(VerdictReasons, why)
		return v
	}
	v.Action = numberOf(VerdictActions, string(d.Action))
	v.Level = numberOf(VerdictLevels, string(d.Level))
	v.Reason = numberOf(VerdictReasons, string(d.Because))
	v.Ignored = numberOf(VerdictIgnored, string(d.Ignored))
	if d.PodFails {
		v.Flags = VerdictPodFails
	}
	if d.Action.Whole() && !d.Waits(o.Features) {
		v.Wait = 0 // no instance is left whose end would be looked at
	}
	return v
}

// Exits answers [AskExits] about events in their order and returns how many verdicts have a status.
// An invalid event (a container that is not there, a flag that is not known, a run of
// less than nothing) gets a verdict with a status and nothing else. It panics if verdicts is
// shorter than events.
//
// What is done for nearly all events is written out in the loop: a call costs as much as the rest.
func (b *Batch) Exits(events []Event, verdicts []Verdict) (faults int) {
	tables, only := b.tables, b.only
	if verdicts = verdicts[:len(events)]; b.varies {
		return b.varied(events, verdicts)
	}
	for i := range events {
		e, v := &events[i], &verdicts[i]
		n := e.Container
		if n == NoContainer {
			n = only
		}
		if int(n) >= len(tables) || e.Flags&^(EventOOMKilled|EventHistory|EventRestarts) != 0 || e.Conditions != 0 && e.Flags&EventRestarts == 0 || e.RanFor < 0 {
			v.fail(e)
			faults++
			continue
		}
		t := &tables[n]
		slot := uint(0)
		if code := uint32(e.ExitCode); code-1 < uint32(len(t.first))-1 {
			slot = uint(t.first[code&0xFF])*2 + 1
		} else if code == 0 {
			slot = uint(t.first[0]) * 2
		} else {
			slot = uint(t.rule(e.ExitCode))*2 + 1
		}
		w := &t.verdicts[slot]
		*v = *w
		if e.Flags != 0 {
			if e.Flags&EventOOMKilled != 0 && e.ExitCode == 0 {
				w = &t.killed
				*v = *w
			}
			if w.waits(e.Flags) {
				b.wait(e, v)
			}
		}
		v.Tag = e.Tag
	}
	return faults
}

// varied is Exits where a proposal asks for more than the code; a loop of its own, so that the
// other one does not.
func (b *Batch) varied(events []Event, verdicts []Verdict) (faults int) {
	tables, only := b.tables, b.only
	for i := range events {
		e, v := &events[i], &verdicts[i]
		n := e.Container
		if n == NoContainer {
			n = only
		}
		flags := e.Flags
		if int(n) >= len(tables) || flags&^(EventOOMKilled|EventHistory|EventRestarts) != 0 || flags&EventRestarts == 0 && e.Conditions != 0 || e.RanFor < 0 {
			v.fail(e)
			faults++
			continue
		}
		m := tables[n].more
		if m == nil || uint32(e.ExitCode) > 255 {
			b.rarer(e, v, &tables[n])
			continue
		}
		k := 0
		if restarts := uint32(e.Conditions); restarts < countNames {
			k = int(m.table[restarts])
		} else {
			k = m.search(restarts)
		}
		list := m.verdicts
		if uint64(uint32(e.Conditions>>(m.shift&63))) >= m.most {
			list = m.limits
		}
		slot := uint(uint8(e.ExitCode))
		if flags&^EventRestarts == 0 {
			*v = list[m.slots[k][slot]]
			v.Tag = e.Tag
			continue
		}
		if flags&EventOOMKilled != 0 {
			slot += 256
		}
		w := &list[m.slots[k][slot]]
		*v = *w
		v.Tag = e.Tag
		if w.waits(flags) {
			b.wait(e, v)
		}
	}
	return faults
}

// rarer is varied for one event of table t, whatever it asks.
func (b *Batch) rarer(e *Event, v *Verdict, t *batchTable) {
	if m := t.more; m != nil {
		t = &m.tables[m.number(uint32(e.Conditions), e.Flags&EventOOMKilled != 0)]
	}
	slot := uint(t.rule(e.ExitCode)) * 2
	if e.ExitCode != 0 {
		slot++
	}
	*v = t.verdicts[slot]
	b.modify(e, v, t)
	v.Tag = e.Tag
}

// modify is for what the flags of an exit say.
func (b *Batch) modify(e *Event, v *Verdict, t *batchTable) {
	if e.Flags&EventOOMKilled != 0 && e.ExitCode == 0 {
		*v = t.killed
	}
	if t.limited {
		t.more.limitTo(e, v)
	}
	if v.waits(e.Flags) {
		b.wait(e, v)
	}
}

// waits reports whether v starts the container again and the flags of its event say when.
func (v *Verdict) waits(f EventFlags) bool {
	return f&EventHistory != 0 && actionsAgain>>(v.Action&31)&1 != 0
}

// wait sets the wait of a restart, from the history of e. One that waits for nothing keeps that.
func (b *Batch) wait(e *Event, v *Verdict) {
	if v.Action != actionRestart && v.Wait >= 0 {
		return
	}
	if v.Wait = 0; e.RanFor <= b.reset {
		v.Wait = min(b.delays[min(e.History, uint32(len(b.delays)-1))], b.reset+SweepPeriod-e.RanFor)
	}
}

// exit is e in words.
func (e *Event) exit() Exit {
	return Exit{e.ExitCode, e.Flags&EventOOMKilled != 0, uint32(e.Conditions), uint32(e.Conditions >> 32)}
}

// limitTo makes v the end of the Pod if it is a restart too many.
func (m *batchVariants) limitTo(e *Event, v *Verdict) {
	x := e.exit()
	if d := v.Decision(); d.Action.Again() && m.tooMany(&x) {
		*v = verdict(d.limited(), int(v.Container), -1, BatchOptions{Fallback: true})
	}
}

// fail makes v the verdict of an event that is not meaningful.
func (v *Verdict) fail(e *Event) {
	*v = Verdict{Status: eventInvalid, Rule: NoRule, Wait: -1, Container: NoContainer, Condition: NoCondition, Tag: e.Tag}
}

// PodSoFar is what is known of a Pod before its last event. The zero value is the beginning of a
// batch.
type PodSoFar struct {
	rule, container uint16 // the first rule that matched, plus 1, and the container
	failed          bool   // one of its events made no sense
	conditions      uint64
}

// Pods answers [AskPods] about events in their order and returns how many verdicts have a status. A
// Pod of which an event is invalid is not judged. A batch may be split: so carries state over from
// one part to the next, and last says that no more come. It panics if verdicts is shorter than
// events.
func (b *Batch) Pods(events []Event, verdicts []Verdict, so *PodSoFar, last bool) (faults int) {
	verdicts = verdicts[:len(events)]
	tables, known, pod := b.tables, len(b.conditions), *so
	for i := range events {
		e, v := &events[i], &verdicts[i]
		n := int(e.Container)
		if b.failure == nil || n >= len(tables) && e.Container != NoContainer || last && i == len(events)-1 && e.Flags&EventMore != 0 ||
			e.Flags&^(EventOOMKilled|EventHistory|EventMore) != 0 || e.Conditions>>known != 0 || e.RanFor != 0 {
			v.fail(e)
			faults++
			pod = PodSoFar{failed: e.Flags&EventMore != 0}
			continue
		}
		rule := uint16(0)
		if e.ExitCode != 0 {
			table := &b.failure.tables[0]
			if e.Container != NoContainer {
				table = tables[n].failure
			}
			if code := uint32(e.ExitCode); table != nil {
				if code < uint32(len(table.first)) {
					rule = table.first[code]
				} else {
					rule = table.rule(e.ExitCode)
				}
			}
		}
		if rule-1 < pod.rule-1 { // 0 is none, and the greatest
			pod.rule, pod.container = rule, e.Container
		}
		pod.conditions |= e.Conditions
		if e.Flags&EventMore != 0 {
			v.fail(e)
			v.Status, v.Flags = 0, VerdictMore
			continue
		}
		if pod.failed {
			v.fail(e)
			faults++
			pod = PodSoFar{}
			continue
		}
		condition := NoCondition
		if pod.conditions != 0 {
			condition = b.firstCondition(&pod)
		}
		*v = b.judged[pod.rule]
		if pod.rule != 0 {
			v.Container, v.Condition = pod.container, condition
		}
		v.Tag = e.Tag
		if e.Flags&EventHistory != 0 && v.Action >= actionIgnore {
			v.Wait = min(10*Second<<min(e.History, 6), 600*Second)
		}
		pod = PodSoFar{}
	}
	*so = pod
	return faults
}

// firstCondition lets the conditions of a Pod decide if one of their rules comes before that of its
// containers. It returns the number of the least condition of that rule, or NoCondition.
func (b *Batch) firstCondition(pod *PodSoFar) uint16 {
	condition := NoCondition
	for i, left := 0, pod.conditions; left != 0; i, left = i+1, left>>1 {
		if r := b.conditions[i].rule; left&1 != 0 && r-1 < pod.rule-1 {
			pod.rule, pod.container, condition = r, NoContainer, uint16(i)
		}
	}
	return condition
}

// compileFailures prepares the answers about Pods. Without fallback a rule that no release knows
// matches what it might be about, and decides that nothing is decided.
func (b *Batch) compileFailures(job *Job, fallback bool) {
	var rules []PodFailurePolicyRule
	if job.PodFailurePolicy != nil {
		rules = append(rules, job.PodFailurePolicy.Rules...)
	}
	none := Verdict{Action: actionCount, Rule: NoRule, Reason: reasonNoRule, Flags: VerdictCounted, Wait: -1, Container: NoContainer, Condition: NoCondition}
	if job.ManagedElsewhere() {
		rules = nil
		none.Action, none.Flags, none.Reason = 0, VerdictUndecided, numberOf(VerdictReasons, UndecidedManagedBy)
	}
	b.judged = append(b.judged, none)
	for i := range rules {
		r, v, why := &rules[i], none, ""
		v.Rule, v.Level, v.Reason = uint16(i), levelRule, reasonRule
		if r.Action.Known() {
			v.Action = numberOf(VerdictActions, string(r.Action))
		} else {
			why = UndecidedAction
		}
		if on := r.OnExitCodes; on != nil && on.Operator != OperatorIn && on.Operator != OperatorNotIn {
			why = UndecidedOperator
		}
		switch {
		case why != "" && !fallback:
			v.Action, v.Level, v.Flags, v.Reason = 0, 0, VerdictUndecided, numberOf(VerdictReasons, why)
			r.Action = ActionCount // so that it matches
			if why == UndecidedOperator {
				r.OnExitCodes = &PodFailurePolicyOnExitCodes{ContainerName: r.OnExitCodes.ContainerName, Operator: OperatorNotIn}
			}
		case v.Action == actionIgnore:
			v.Flags = 0
		}
		b.judged = append(b.judged, v)
	}
	b.failure = CompileFailurePolicy(&PodFailurePolicy{Rules: rules})
}

// Places in the tables above and numbers of errors that the way of one event compares with.
const (
	actionRestart    = 1
	actionRestartAll = 2
	actionIgnore     = 6
	actionCount      = 7
	actionRestartPod = 11
	actionsAgain     = 1<<actionRestart | 1<<actionRestartAll | 1<<actionRestartPod
	levelRule        = 1
	reasonRule       = 1
	reasonNoRule     = 13
	eventInvalid     = 4
)

// Eval answers events in their order and returns how many verdicts have a status. It panics if
// verdicts is shorter than events.
func (b *Batch) Eval(q Question, events []Event, verdicts []Verdict) (faults int) {
	if q == AskExits {
		return b.Exits(events, verdicts)
	}
	return b.Pods(events, verdicts, new(PodSoFar), true)
}

// BatchBytes returns about how much memory a Batch of o takes, without making one.
func BatchBytes(o *Object) int {
	n := 0
	for kind := range ContainerKinds {
		for _, c := range o.Spec.List(kind) {
			own, tables := 1100+48*len(c.RestartPolicyRules), 1
			for _, rule := range c.RestartPolicyRules {
				if rule.ExitCodes != nil {
					own += farBytes(rule.ExitCodes.Values)
				}
				if rule.Restarts != nil {
					tables += 2
				}
			}
			if o.Spec.Proposed {
				own, tables = own+1200, 2*tables
			}
			n += 2*len(c.Name) + own*tables
		}
	}
	if o.Job == nil || o.Job.PodFailurePolicy == nil {
		return n
	}
	for _, rule := range o.Job.PodFailurePolicy.Rules {
		n += 72 + 80*len(rule.OnPodConditions)
		if on := rule.OnExitCodes; on != nil {
			n += 640 + farBytes(on.Values)*(1+len(o.Job.PodFailurePolicy.Rules)) // a rule without a name is in every table
		}
	}
	return n
}

// farBytes is what the values outside of the byte range take: an entry of a map each.
func farBytes(values []int32) int {
	n := 0
	for _, v := range values {
		if uint32(v) > 255 {
			n += 48
		}
	}
	return n
}
