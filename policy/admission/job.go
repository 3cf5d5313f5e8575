package admission

import (
	"strconv"
	"strings"

	"github.com/podfate/podfate/policy"
)

// Limits that the API server enforces on Jobs.
const (
	MaxIndexed        = 100_000 // parallelism and maxFailedIndexes of an Indexed Job
	MaxOfManyIndexes  = 10_000  // the same when completions are above MaxIndexed and there is a limit per index
	MaxJobRules       = 20      // also success rules, and conditions of a rule
	maxIndexesBytes   = 64 << 10
	maxManagedByBytes = 63
)

// Texts of the API server.
const (
	negativeText    = "must be greater than or equal to 0"
	atMostText      = "must be less than or equal to "
	manyText        = " when completions are above 100000 and used with backoff limit per index"
	managedPathText = "Invalid path (" + regexText + `[A-Za-z0-9/\-._~%!$&'()*+,;=:]+')`
)

// Texts of this package.
const (
	panicsText    = "completions are absent, and the API server panics when it compares them with this rule"
	drawnText     = "; the end of a generated name is random, so the text is never the same"
	addressesText = "; Kubernetes 1.33 prints memory addresses, so the text is never the same"
)

// jobFields are the fields of a Job that are numbers, in the order in which they are checked.
var jobFields = [...]string{
	"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes",
}

// Indexes in jobFields.
const (
	numberParallelism = 0
	numberDeadline    = 2
	numberPerIndex    = 5
	numberMaxFailed   = 6
)

// jobNumber returns number i of jobFields, or absent.
func jobNumber(j *policy.Job, i int) int64 {
	p := [...]*int32{j.Parallelism, j.Completions, nil, j.BackoffLimit, j.TTLSecondsAfterFinished, j.BackoffLimitPerIndex, j.MaxFailedIndexes}[i]
	switch {
	case i == numberDeadline && j.ActiveDeadlineSeconds != nil:
		return *j.ActiveDeadlineSeconds
	case p != nil:
		return int64(*p)
	}
	return absent
}

// absent stands for a number that is not there. Nobody writes it.
const absent = -1 << 63

// jobValidator checks one Job. Its methods take the last part of a path; what is before it is
// at.
type jobValidator struct {
	*validator
	at string
	j  *policy.Job
}

// bad notes a fault of a value, which is given as Kubernetes prints it.
func (v *jobValidator) bad(field, value, detail string) { v.invalid(v.at+field, value, detail) }

func (v *jobValidator) badNumber(field string, n int64, detail string) {
	v.bad(field, strconv.FormatInt(n, 10), detail)
}

func (v *jobValidator) missing(field, detail string) { v.required(v.at+field, detail) }

// most reports number i of the Job if it is larger than most.
func (v *jobValidator) most(i int, most int64, detail string) {
	if n := jobNumber(v.j, i); n > most {
		v.badNumber(jobFields[i], n, atMostText+detail)
	}
}

// tooMany reports a list that is too long in the words that all releases have for Jobs.
func (v *jobValidator) tooMany(field string, n, most int) {
	if n > most {
		v.Add(v.at+field, policy.TypeTooMany, policy.CodeTooMany, strconv.Itoa(n), "must have at most "+strconv.Itoa(most)+" items")
	}
}

// tooLong reports a text that is too long.
func (v *jobValidator) tooLong(field, s string, most int) {
	if len(s) > most {
		v.Add(v.at+field, policy.TypeTooLong, policy.CodeTooLong, "", "may not be more than "+strconv.Itoa(most)+" bytes")
	}
}

// oneOf reports a value that is not one of a list, which has spaces between them. "" is reported as
// missing.
func (v *jobValidator) oneOf(field, value, list string) {
	if value == "" {
		v.missing(field, `valid values: ["`+strings.Join(policy.SplitWords(list), `" "`)+`"]`)
	} else {
		v.supported(field, value, list)
	}
}

// supported reports a value that is not one of a list, which has spaces between them.
func (v *jobValidator) supported(field, value, list string) {
	if !policy.HasWord(list, value) {
		v.unsupported(v.at+field, value, policy.SplitWords(list)...)
	}
}

// jobSpec checks the spec of a Job up to its template. It returns false if the API server panics;
// the last fault then says so.
//
// Source: validateJobSpec in pkg/apis/batch/validation/validation.go, Kubernetes v1.33 to v1.37.
func (v *validator) jobSpec(o *policy.Object) bool {
	path := o.JobPath()
	j := o.Job
	c := &jobValidator{v, path, j}
	for i, field := range jobFields {
		if n := jobNumber(j, i); n < 0 && n != absent {
			c.badNumber(field, n, negativeText)
		}
	}
	if j.MaxFailedIndexes != nil && j.BackoffLimitPerIndex == nil {
		c.missing("backoffLimitPerIndex", "when maxFailedIndexes is specified")
	}
	if j.ManagedBy != nil {
		c.managedBy("managedBy", *j.ManagedBy)
	}
	mode := policy.NonIndexedCompletion
	if j.CompletionMode != nil {
		mode = *j.CompletionMode
		c.supported("completionMode", string(mode), "NonIndexed Indexed")
	}
	switch mode {
	case policy.IndexedCompletion:
		c.indexed()
	case policy.NonIndexedCompletion:
		for i := numberPerIndex; i <= numberMaxFailed; i++ {
			if n := jobNumber(j, i); n != absent {
				c.badNumber(jobFields[i], n, indexedText)
			}
		}
	}
	if j.PodFailurePolicy != nil && j.PodFailurePolicy.Draft {
		c.draftRules(&o.Spec)
	} else if j.PodFailurePolicy != nil {
		c.failureRules(&o.Spec)
	}
	if j.SuccessPolicy != nil && mode == policy.IndexedCompletion {
		if c.at = path + "successPolicy.rules"; !c.successRules() {
			return false
		}
	} else if j.SuccessPolicy != nil {
		v.printed(path+"successPolicy", j, immutableSuccess, indexedText)
	}
	if c.at = path; j.PodReplacementPolicy != nil {
		list := "Failed TerminatingOrFailed"
		if j.PodFailurePolicy != nil {
			list = "Failed"
		}
		c.supported("podReplacementPolicy", string(*j.PodReplacementPolicy), list)
	}
	return true
}

const indexedText = "requires indexed completion mode"

func (v *jobValidator) indexed() {
	j := v.j
	if j.Completions == nil {
		v.missing("completions", "when completion mode is Indexed")
	}
	v.most(numberParallelism, MaxIndexed, "100000 when completion mode is Indexed")
	if j.Completions != nil {
		v.most(numberMaxFailed, int64(*j.Completions), "completions")
	}
	v.most(numberMaxFailed, MaxIndexed, "100000")
	if j.Completions == nil || *j.Completions <= MaxIndexed || j.BackoffLimitPerIndex == nil {
		return
	}
	if j.MaxFailedIndexes == nil {
		v.missing("maxFailedIndexes", "must be specified when completions is above 100000")
	}
	v.most(numberParallelism, MaxOfManyIndexes, "10000"+manyText)
	v.most(numberMaxFailed, MaxOfManyIndexes, "10000"+manyText)
}

// managedBy checks a path with a domain in front.
//
// Source: IsDomainPrefixedPath in k8s.io/apimachinery v0.33 to v0.37,
// pkg/util/validation/validation.go.
func (v *jobValidator) managedBy(field, s string) {
	host, rest, _ := strings.Cut(s, "/")
	switch {
	case s == "":
		v.missing(field, "")
	case host == "" || rest == "":
		v.bad(field, policy.Quoted(s), `must be a domain-prefixed path (such as "acme.io/foo")`)
	default:
		for _, fault := range DNSSubdomain.Faults(host, v.f.Minor) {
			v.bad(field, policy.Quoted(host), fault)
		}
		if !spelled(rest, "/-._~%!$&'()*+,;=:") {
			v.bad(field, policy.Quoted(rest), managedPathText)
		}
	}
	v.tooLong(field, s, maxManagedByBytes)
}

// failureRules checks the rules of a podFailurePolicy.
//
// Source: validatePodFailurePolicy and what it calls in pkg/apis/batch/validation/validation.go,
// Kubernetes v1.33 to v1.37.
func (v *jobValidator) failureRules(spec *policy.PodSpec) {
	path := v.at + "podFailurePolicy.rules"
	rules := v.j.PodFailurePolicy.Rules
	v.tooMany("podFailurePolicy.rules", len(rules), MaxJobRules)
	for i := range rules {
		rule := &rules[i]
		v.at = path + policy.Index(i)
		v.oneOf(".action", string(rule.Action), policy.PodFailureActions)
		if rule.Action == policy.ActionFailIndex && v.j.BackoffLimitPerIndex == nil {
			v.bad(".action", v.Word("FailIndex"), "requires the backoffLimitPerIndex to be set")
		}
		if d := rule.Written; d != nil {
			before := len(v.Faults.Kept())
			for _, fault := range d.Faults {
				v.bad(fault.At, policy.Omitted, fault.Detail)
			}
			v.unworded(before, policy.KEP3329Draft)
			if len(d.Faults) > 0 {
				continue
			}
		}
		codes, conditions := rule.OnExitCodes != nil, len(rule.OnPodConditions) > 0
		if codes {
			v.onExitCodes(rule.OnExitCodes, spec)
		}
		v.podConditions(rule)
		if codes == conditions {
			detail := "specifying one of OnExitCodes and OnPodConditions is required"
			if codes {
				detail = "specifying both OnExitCodes and OnPodConditions is not supported"
			}
			v.bad("", policy.Omitted, detail)
		}
	}
}

// podConditions checks the conditions of a rule about the Pod. What is wrong with a draft's
// expressions is told once, where it is written.
func (v *jobValidator) podConditions(rule *policy.PodFailurePolicyRule) {
	before := len(v.Faults.Kept())
	v.tooMany(".onPodConditions", len(rule.OnPodConditions), MaxJobRules)
	for k, c := range rule.OnPodConditions {
		typeAt, statusAt := rule.PatternPaths(k)
		if typeAt != "" {
			for _, fault := range LabelKey.Faults(c.Type, v.f.Minor) {
				v.bad(typeAt, policy.Quoted(c.Type), fault)
			}
		}
		if statusAt != "" {
			v.oneOf(statusAt, c.Status, "False True Unknown")
		}
	}
	if d := rule.Written; d != nil && d.PerType > 0 {
		v.unworded(before, policy.KEP3329Draft)
	}
}

func (v *jobValidator) onExitCodes(on *policy.PodFailurePolicyOnExitCodes, spec *policy.PodSpec) {
	v.oneOf(".onExitCodes.operator", string(on.Operator), "In NotIn")
	if on.ContainerName != nil && !hasOther(spec, *on.ContainerName) {
		v.bad(".onExitCodes.containerName", policy.Quoted(*on.ContainerName), "must be one of the container or initContainer names in the pod template")
	}
	const field = ".onExitCodes.values"
	if len(on.Values) == 0 {
		v.bad(field, v.int32s(on.Values), "at least one value is required")
	}
	v.tooMany(field, len(on.Values), maxRuleValues)
	ordered, previous := true, int32(-1<<31)
	seen := make(map[int32]bool, len(on.Values))
	for i, value := range on.Values {
		if value == 0 && on.Operator == policy.OperatorIn {
			v.badNumber(field+policy.Index(i), 0, "must not be 0 for the In operator")
		}
		if seen[value] {
			v.Add(v.at+field+policy.Index(i), policy.TypeDuplicate, policy.CodeDuplicate, strconv.Itoa(int(value)), "")
		}
		seen[value] = true
		ordered = ordered && previous <= value
		previous = value
	}
	if !ordered {
		v.bad(field, v.int32s(on.Values), "must be ordered")
	}
}

// successRules checks the rules of a successPolicy; false means that the API server panics on it.
//
// Source: validateSuccessPolicy and validateSuccessPolicyRule in
// pkg/apis/batch/validation/validation.go, Kubernetes v1.33 to v1.37.
func (v *jobValidator) successRules() bool {
	path, rules := v.at, v.j.SuccessPolicy.Rules
	if len(rules) == 0 {
		v.missing("", "at least one rules must be specified when the successPolicy is specified")
	}
	v.tooMany("", len(rules), MaxJobRules)
	for i, rule := range rules {
		v.at = path + policy.Index(i)
		indexes, count := rule.SucceededIndexes, rule.SucceededCount
		if indexes == nil && count == nil {
			v.missing("", "at least one of succeededCount or succeededIndexes must be specified")
			continue
		}
		if indexes != nil {
			v.tooLong(".succeededIndexes", *indexes, maxIndexesBytes)
		}
		if v.j.Completions == nil {
			if indexes == nil && *count < 0 {
				v.badNumber(".succeededCount", int64(*count), negativeText)
			}
			v.Faults.Add(policy.FieldError{Path: v.at, Code: policy.CodePanics, Detail: panicsText})
			return false
		}
		total, completions := int32(0), *v.j.Completions
		if indexes != nil {
			var fault string
			if total, fault = countIndexes(*indexes, completions); fault != "" {
				v.bad(".succeededIndexes", policy.Quoted(*indexes), "error parsing succeededIndexes: "+fault)
			}
		}
		if count == nil {
			continue
		}
		if *count < 0 {
			v.badNumber(".succeededCount", int64(*count), negativeText)
		}
		v.countAtMost(*count, completions, " (the number of specified completions)")
		if indexes != nil {
			v.countAtMost(*count, total, " (the number of indexes in the specified succeededIndexes field)")
		}
	}
	return true
}

func (v *jobValidator) countAtMost(n, most int32, what string) {
	if n > most {
		v.badNumber(".succeededCount", int64(n), atMostText+strconv.Itoa(int(most))+what)
	}
}

// countIndexes returns how many indexes a list such as "0,2-5" names, or what is wrong with it.
//
// Source: validateIndexesFormat and parseIndexInterval in pkg/apis/batch/validation/validation.go,
// Kubernetes v1.33 to v1.37.
func countIndexes(s string, completions int32) (total int32, fault string) {
	last := -1
	for s != "" {
		part, end := s, strings.IndexByte(s, ',')
		if end >= 0 {
			part = s[:end]
		}
		from, to, _ := strings.Cut(part, "-")
		if strings.IndexByte(to, '-') >= 0 {
			return 0, "the fragment " + policy.Quoted(part) + " violates the requirement that an index interval can have at most two parts separated by '-'"
		}
		x, fault := indexOf(from, completions)
		y := x
		if fault == "" && len(from) < len(part) {
			if y, fault = indexOf(to, completions); fault == "" && x >= y {
				fault = notIncreasing(x, y)
			}
		}
		if fault == "" && last >= x {
			fault = notIncreasing(last, x)
		}
		if fault != "" {
			return 0, fault
		}
		total += int32(y - x + 1)
		last = y
		if s = s[len(part):]; end >= 0 {
			if s = s[1:]; s == "" { // a comma at the end precedes an empty index
				_, fault = indexOf("", completions)
				return 0, fault
			}
		}
	}
	return total, ""
}

func indexOf(s string, completions int32) (n int, fault string) {
	n, err := strconv.Atoi(s)
	switch {
	case err != nil:
		return 0, "cannot convert string to integer for index: " + policy.Quoted(s)
	case n >= int(completions):
		return 0, "too large index: " + policy.Quoted(s)
	}
	return n, ""
}

func notIncreasing(previous, current int) string {
	return "non-increasing order, previous: " + strconv.Itoa(previous) + ", current: " + strconv.Itoa(current)
}

// podHostname checks that the names of an Indexed Job's Pods can be host names.
//
// Source: ValidateJob in pkg/apis/batch/validation/validation.go, Kubernetes v1.33 to v1.36;
// validateNameAllowsCompletions there, v1.37.
func (v *validator) podHostname(o *policy.Object) {
	if !o.Job.Indexed() || o.Job.Completions == nil || *o.Job.Completions <= 0 {
		return
	}
	name := o.StoredName()
	host := name + "-" + strconv.Itoa(int(*o.Job.Completions)-1)
	if ok, dots := dnsName(host); ok && !dots && len(host) <= maxLabelBytes {
		return
	}
	host, more := policy.Bounded(host)
	v.invalid("metadata.name", policy.Quoted(name), "will not able to create pod with invalid DNS label: "+host+more)
	if f := v.Faults.Last(); name != o.Name {
		f.Message, f.Detail = "", f.Detail+drawnText
	}
}

// immutableFields are the fields of a Job that an update may not change, in the order in which they
// are checked, and "template".
var immutableFields = [...]string{"completions", "template", "completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"}

// Indexes in immutableFields.
const (
	immutableCompletions = 0
	immutableTemplate    = 1
	immutableSuccess     = 6
)

// jobUpdate checks what may change in a Job.
//
// Source: ValidateJobSpecUpdate in pkg/apis/batch/validation/validation.go, Kubernetes v1.33 to
// v1.37.
func (v *validator) jobUpdate(o, old *policy.Object) {
	j, was := o.Job, old.Job
	for i, field := range immutableFields {
		path := "spec." + field
		if i == immutableTemplate {
			if !sameSpec(&o.Spec, &old.Spec, v.f.Minor) || gracePeriod(&o.Spec) != gracePeriod(&old.Spec) || !sameInt64(o.Spec.ActiveDeadlineSeconds, old.Spec.ActiveDeadlineSeconds) {
				if resourcesMutable(was, v.f) {
					path += ".spec" // its metadata may change, and resources
				}
				v.Faults.Add(policy.FieldError{Path: path, Type: policy.TypeInvalid, Code: policy.CodeInvalid, Detail: "field is immutable"})
			}
			continue
		}
		if printPolicy(j, i, true) == printPolicy(was, i, true) {
			continue
		}
		if i != immutableCompletions || !j.Indexed() {
			v.printed(path, j, i, "field is immutable")
		} else if j.Completions != nil && *j.Completions != *j.Parallelism {
			v.invalid(path, printPolicy(j, i, false), "can only be modified in tandem with spec.parallelism")
		}
	}
}

// resourcesMutable reports whether the resources in the template of j may change: it is suspended
// and has no Pods.
//
// Source: validationOptionsForJob in pkg/registry/batch/job/strategy.go, validatePodTemplateUpdate
// in pkg/apis/batch/validation/validation.go, Kubernetes v1.35 to v1.37.
func resourcesMutable(j *policy.Job, f policy.Features) bool {
	return f.MutablePodResourcesForSuspendedJobs && j.Suspend != nil && *j.Suspend && !j.Status.Active &&
		(j.Status.Suspended || !j.Status.Started && f.Minor > 35)
}

// printed notes a fault about field i of immutableFields, which may be absent. Releases before 1.34
// print policies in Go's syntax, and so the address of whatever a pointer points to.
func (v *validator) printed(path string, j *policy.Job, i int, detail string) {
	value := printPolicy(j, i, false)
	if v.f.Minor >= 34 || value[0] != '{' {
		if v.f.Minor < 34 && value == "null" {
			value = `"null"`
		}
		v.invalid(path, value, detail)
		return
	}
	value, fixed := goPolicy(j, i)
	v.invalid(path, value, detail)
	if f := v.Faults.Last(); !fixed {
		f.Message, f.Detail = "", f.Detail+addressesText
	}
}

// goPolicy returns the policy that is field i of immutableFields in Go's syntax; fixed is false if
// there is a pointer in it.
//
// Source: Error.ErrorBody in k8s.io/apimachinery v0.33, pkg/util/validation/field/errors.go.
func goPolicy(j *policy.Job, i int) (text string, fixed bool) {
	t := printer{comma: ", "}
	if fixed = true; i == immutableSuccess {
		t.goList("batch.SuccessPolicy{Rules:", "batch.SuccessPolicyRule", len(j.SuccessPolicy.Rules), j.SuccessPolicy.Rules == nil, func(i int) {
			rule := &j.SuccessPolicy.Rules[i]
			fixed = fixed && rule.SucceededIndexes == nil && rule.SucceededCount == nil
			t.raw("SucceededIndexes:(*string)(nil), SucceededCount:(*int32)(nil)")
		})
		return string(t.b) + "}", fixed
	}
	t.goList("batch.PodFailurePolicy{Rules:", "batch.PodFailurePolicyRule", len(j.PodFailurePolicy.Rules), j.PodFailurePolicy.Rules == nil, func(i int) {
		rule := &j.PodFailurePolicy.Rules[i]
		fixed = fixed && rule.OnExitCodes == nil
		t.raw("Action:" + policy.Quoted(string(rule.Action)) + ", OnExitCodes:(*batch.PodFailurePolicyOnExitCodesRequirement)(nil)")
		t.goList(", OnPodConditions:", "batch.PodFailurePolicyOnPodConditionsPattern", len(rule.OnPodConditions), rule.OnPodConditions == nil, func(i int) {
			t.raw("Type:" + policy.Quoted(rule.OnPodConditions[i].Type) + ", Status:" + policy.Quoted(rule.OnPodConditions[i].Status))
		})
	})
	return string(t.b) + "}", fixed
}

// goList writes the text in front of a list and the list in Go's syntax, with element to write the
// members of each.
func (t *printer) goList(before, element string, n int, absent bool, members func(i int)) {
	t.raw(before + "[]" + element)
	if absent {
		t.raw("(nil)")
		return
	}
	t.raw("{")
	for i := range n {
		if i > 0 {
			t.raw(t.comma)
		}
		t.raw(element + "{")
		members(i)
		t.raw("}")
	}
	t.raw("}")
}

// printPolicy returns field i of immutableFields as the API server prints it: policies as JSON of
// the internal type, with the names that fields have in Go. With same set, texts are equal if and
// only if the API server calls the values equal: an absent list is an empty one.
func printPolicy(j *policy.Job, i int, same bool) string {
	t := printer{same: same, comma: ","}
	switch i {
	case immutableCompletions:
		t.number(j.Completions)
	case 2:
		t.text((*string)(j.CompletionMode))
	case 3:
		t.failurePolicy(j.PodFailurePolicy)
	case 4:
		t.number(j.BackoffLimitPerIndex)
	case 5:
		if j.ManagedBy != nil && !same {
			return policy.Quoted(*j.ManagedBy)
		}
		t.text(j.ManagedBy)
	case immutableSuccess:
		t.successPolicy(j.SuccessPolicy)
	}
	return string(t.b)
}

// printer writes values as the API server prints them.
type printer struct {
	same  bool   // see [printPolicy]
	comma string // between the elements of a list
	b     []byte
}

func (t *printer) raw(s string) { t.b = append(t.b, s...) }

// member writes the text in front of a member and the member.
func (t *printer) member(before, s string) {
	t.raw(before)
	more := ""
	if !t.same {
		s, more = policy.Bounded(s)
	}
	t.raw(policy.WholeJSONText(s))
	t.raw(more)
}

func (t *printer) text(s *string) {
	if s == nil {
		t.raw("null")
	} else {
		t.member("", *s)
	}
}

func (t *printer) number(n *int32) {
	if n == nil {
		t.raw("null")
	} else {
		t.b = strconv.AppendInt(t.b, int64(*n), 10)
	}
}

// list writes the text in front of a list and what is before its element i: the bracket or the
// comma. Element n of n is its end.
func (t *printer) list(before string, i, n int, absent bool) {
	t.raw(before)
	switch {
	case i == 0 && absent && !t.same:
		t.raw("null")
		return
	case i == 0:
		t.raw("[")
	case i < n:
		t.raw(t.comma)
	}
	if i == n {
		t.raw("]")
	}
}

func (t *printer) int32s(list []int32) {
	t.list("", 0, len(list), list == nil)
	for i := range list {
		t.number(&list[i])
		t.list("", i+1, len(list), false)
	}
}

func (t *printer) failurePolicy(p *policy.PodFailurePolicy) {
	if p == nil {
		t.raw("null")
		return
	}
	t.list(`{"Rules":`, 0, len(p.Rules), p.Rules == nil)
	for i := range p.Rules {
		rule := &p.Rules[i]
		t.member(`{"Action":`, string(rule.Action))
		if on := rule.OnExitCodes; on != nil {
			t.raw(`,"OnExitCodes":{"ContainerName":`)
			t.text(on.ContainerName)
			t.member(`,"Operator":`, string(on.Operator))
			t.raw(`,"Values":`)
			t.int32s(on.Values)
			t.raw("}")
		} else {
			t.raw(`,"OnExitCodes":null`)
		}
		n := len(rule.OnPodConditions)
		t.list(`,"OnPodConditions":`, 0, n, rule.OnPodConditions == nil)
		for k, c := range rule.OnPodConditions {
			t.member(`{"Type":`, c.Type)
			t.member(`,"Status":`, c.Status)
			t.list("}", k+1, n, false)
		}
		t.list("}", i+1, len(p.Rules), false)
	}
	t.raw("}")
}

func (t *printer) successPolicy(p *policy.SuccessPolicy) {
	if p == nil {
		t.raw("null")
		return
	}
	t.list(`{"Rules":`, 0, len(p.Rules), p.Rules == nil)
	for i, rule := range p.Rules {
		t.raw(`{"SucceededIndexes":`)
		t.text(rule.SucceededIndexes)
		t.raw(`,"SucceededCount":`)
		t.number(rule.SucceededCount)
		t.list("}", i+1, len(p.Rules), false)
	}
	t.raw("}")
}

// int32s returns a list as Kubernetes prints it: as JSON from 1.34 on, in Go's syntax before.
func (v *validator) int32s(list []int32) string {
	if v.f.Minor < 34 {
		if list == nil {
			return "[]int32(nil)"
		}
		t := printer{comma: ", "}
		t.int32s(list)
		return "[]int32{" + string(t.b[1:len(t.b)-1]) + "}"
	}
	t := printer{comma: ","}
	t.int32s(list)
	return string(t.b)
}
