package manifest

import (
	"strconv"
	"strings"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/admission"
)

// Texts of the API server.
const (
	notNegative = "must be greater than or equal to 0"
	noMatch     = "`selector` does not match template `labels`"
)

// head checks what comes before the template. It returns false if the API server then does not look
// at the template.
//
// Source: pkg/apis/apps/validation, pkg/apis/core/validation and pkg/apis/batch/validation,
// validation.go; Kubernetes v1.33 to v1.37.
func (c *objectChecker) head() bool {
	switch c.kind {
	case "Deployment":
		c.notNegative("replicas")
		return c.selector("empty selector is invalid for deployment", "invalid label selector")
	case "ReplicaSet":
		c.notNegative("replicas", "minReadySeconds")
		return c.selector("empty selector is invalid for deployment", "invalid label selector")
	case "StatefulSet":
		c.statefulSet()
		return c.selector("empty selector is invalid for statefulset", "")
	case "DaemonSet":
		c.daemonSetSelector()
	case "ReplicationController":
		c.controller()
	case "Job":
		c.generatedSelector()
	case "CronJob":
		c.cron()
	}
	return true
}

// tail checks what comes after the template.
func (c *objectChecker) tail() {
	switch c.kind {
	case "Deployment":
		c.deploymentStrategy()
		c.notNegative("minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")
		ready := number(c.spec, "minReadySeconds", 0)
		if deadline := number(c.spec, "progressDeadlineSeconds", 600); deadline <= ready {
			c.badNumber("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")
		}
	case "DaemonSet":
		c.notNegative("minReadySeconds")
		c.daemonSetStrategy()
		c.notNegative("revisionHistoryLimit")
	case "ReplicationController":
		if c.generatedLast() {
			c.nameFaults(admission.DNSSubdomain)
			c.notNegative("replicas", "minReadySeconds")
		}
	case "Job":
		c.jobSelector()
	case "CronJob":
		c.cronTail()
	}
}

func (c *objectChecker) badNumber(path string, n int64, detail string) {
	c.r.Invalid(path, strconv.FormatInt(n, 10), detail)
}

// notNegative checks numbers in the spec.
func (c *objectChecker) notNegative(names ...string) {
	for _, name := range names {
		if n := number(c.spec, name, 0); n < 0 {
			c.badNumber("spec."+name, n, notNegative)
		}
	}
}

// selector checks the selector of the spec and the labels of the template next to it. It returns
// false if the selector cannot be read; detail is what is said then.
func (c *objectChecker) selector(empty, detail string) bool {
	v := c.spec.Get("selector")
	switch {
	case v.Kind() != Object:
		c.r.Required("spec.selector", "")
	default:
		c.labelSelector("spec.selector", v)
		if emptySelector(v) {
			c.r.Invalid("spec.selector", c.printed(v), empty)
		}
	}
	if v.Kind() == Object && !c.readable(v) {
		c.r.Invalid("spec.selector", c.printed(v), detail)
		return false
	}
	if v.Kind() != Object || !selects(v, c.templateLabels()) {
		c.mismatch()
	}
	return true
}

// mismatch adds the fault that the template's labels do not fit the selector.
func (c *objectChecker) mismatch() {
	c.r.Invalid(c.at+".metadata.labels", c.labelsText(), noMatch)
	if c.kind == "Job" && !c.manual() { // the UID is among them
		c.r.Drawn()
	}
}

func emptySelector(v Value) bool {
	return v.Get("matchLabels").Len() == 0 && v.Get("matchExpressions").Len() == 0
}

// labelSelector checks the words of a selector, whose path is at.
//
// Source: ValidateLabelSelector in k8s.io/apimachinery v0.33 to v0.37,
// pkg/apis/meta/v1/validation/validation.go.
func (c *objectChecker) labelSelector(at string, v Value) {
	c.labels(at+".matchLabels", members(v.Get("matchLabels")))
	i := 0
	for e := v.Get("matchExpressions").First(); e.Exists(); e = e.Next() {
		path := element(at+".matchExpressions", i)
		i++
		operator, values := text(e, "operator"), e.Get("values")
		switch operator {
		case "In", "NotIn":
			if values.Len() == 0 {
				c.r.Required(path+".values", "must be specified when `operator` is 'In' or 'NotIn'")
			}
		case "Exists", "DoesNotExist":
			if values.Len() > 0 {
				c.r.Forbidden(path+".values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
			}
		default:
			c.r.Invalid(path+".operator", c.r.Word(operator), "not a valid selector operator")
		}
		key := text(e, "key")
		c.form(path+".key", key, admission.LabelKey.Faults(key, c.r.Minor()))
		k := 0
		for s := values.First(); s.Exists(); s = s.Next() {
			c.form(path+".values["+strconv.Itoa(k)+"]", s.Text(), admission.LabelValue.Faults(s.Text(), c.r.Minor()))
			k++
		}
	}
}

// readable reports whether the API server can read a selector.
//
// Source: LabelSelectorAsSelector in k8s.io/apimachinery v0.33 to v0.37,
// pkg/apis/meta/v1/helpers.go.
func (c *objectChecker) readable(v Value) bool {
	minor := c.r.Minor()
	for _, p := range members(v.Get("matchLabels")) {
		if len(admission.LabelKey.Faults(p.key, minor))+len(admission.LabelValue.Faults(p.value, minor)) > 0 {
			return false
		}
	}
	for e := v.Get("matchExpressions").First(); e.Exists(); e = e.Next() {
		values := e.Get("values")
		switch text(e, "operator") {
		case "In", "NotIn":
			if values.Len() == 0 {
				return false
			}
		case "Exists", "DoesNotExist":
			if values.Len() > 0 {
				return false
			}
		default:
			return false
		}
		if len(admission.LabelKey.Faults(text(e, "key"), minor)) > 0 {
			return false
		}
		for s := values.First(); s.Exists(); s = s.Next() {
			if len(admission.LabelValue.Faults(s.Text(), minor)) > 0 {
				return false
			}
		}
	}
	return true
}

// selects reports whether a selector that is readable matches labels.
func selects(v Value, labels []pair) bool {
	for _, p := range members(v.Get("matchLabels")) {
		if value, found := find(labels, p.key); !found || value != p.value {
			return false
		}
	}
	for e := v.Get("matchExpressions").First(); e.Exists(); e = e.Next() {
		value, found := find(labels, text(e, "key"))
		in := false
		for s := e.Get("values").First(); s.Exists(); s = s.Next() {
			in = in || s.Text() == value
		}
		ok := false
		switch text(e, "operator") {
		case "In":
			ok = found && in
		case "NotIn":
			ok = !found || !in
		case "Exists":
			ok = found
		case "DoesNotExist":
			ok = !found
		}
		if !ok {
			return false
		}
	}
	return true
}

func (c *objectChecker) daemonSetSelector() {
	v := c.spec.Get("selector")
	if v.Kind() != Object { // which is not said: only that nothing matches
		c.mismatch()
		return
	}
	c.labelSelector("spec.selector", v)
	if c.readable(v) && !selects(v, c.templateLabels()) {
		c.mismatch()
	}
	if emptySelector(v) {
		c.r.Invalid("spec.selector", c.printed(v), "empty selector is invalid for daemonset")
	}
}

func (c *objectChecker) statefulSet() {
	c.word("spec.podManagementPolicy", text(c.spec, "podManagementPolicy"), "OrderedReady Parallel", "must be 'OrderedReady' or 'Parallel'")
	c.statefulSetStrategy()
	retention := c.spec.Get("persistentVolumeClaimRetentionPolicy")
	for _, name := range []string{"whenDeleted", "whenScaled"} {
		if s := text(retention, name); s != "" && !among(s, "Retain Delete") {
			c.r.Unsupported("spec.persistentVolumeClaimRetentionPolicy."+name, c.r.Word(s), "Retain Delete")
		}
	}
	c.notNegative("replicas", "minReadySeconds")
	if n := number(c.spec.Get("ordinals"), "start", 0); n < 0 {
		c.badNumber("spec.ordinals.start", n, notNegative)
	}
	if s := text(c.spec, "serviceName"); s != "" {
		c.form("spec.serviceName", s, admission.DNSLabel.Faults(s, c.r.Minor()))
	}
}

// word checks a word that has a default and must otherwise be one of list.
func (c *objectChecker) word(path, s, list, detail string) {
	if s != "" && !among(s, list) {
		c.r.Invalid(path, c.r.Word(s), detail)
	}
}

// controller checks the spec of a ReplicationController.
func (c *objectChecker) controller() {
	if !c.generatedLast() {
		c.notNegative("minReadySeconds")
	}
	labels := members(c.template.Get("metadata").Get("labels"))
	selector := members(c.spec.Get("selector"))
	if len(selector) == 0 {
		selector = labels // the default
	}
	if len(selector) == 0 {
		c.r.Required("spec.selector", "")
	}
	if !c.generatedLast() {
		c.notNegative("replicas")
	}
	if !c.template.Exists() {
		return
	}
	for _, p := range selector {
		if value, found := find(labels, p.key); !found || value != p.value {
			c.mismatch()
			return
		}
	}
}

// uidLabels are the labels that hold the UID of a Job, which nobody knows before it is created.
func uidLabel(key string) bool { return strings.HasSuffix(key, "controller-uid") }

// generatedSelector checks that a Job whose selector is to be generated brings nothing that
// contradicts it.
//
// Source: validateGeneratedSelector in pkg/apis/batch/validation/validation.go, generateSelector in
// pkg/registry/batch/job/strategy.go, Kubernetes v1.33 to v1.37.
func (c *objectChecker) generatedSelector() {
	if c.manual() {
		return
	}
	own := members(c.template.Get("metadata").Get("labels"))
	for words := generated; words != ""; {
		var key string
		key, words = nextWord(words)
		value, found := find(own, key)
		want := c.name
		if uidLabel(key) {
			want = "the UID of the Job" // nobody can know it
		}
		if found && (uidLabel(key) || value != want) {
			c.r.Invalid(c.at+".metadata.labels["+key+"]", "", "must be '"+want+"'")
			c.r.Drawn()
		}
	}
	v := c.spec.Get("selector")
	if !c.readable(v) {
		return
	}
	var expected []pair
	for words := generated; words != ""; {
		var key string
		if key, words = nextWord(words); uidLabel(key) {
			expected = append(expected, pair{key: key, value: unknownUID})
		} else {
			expected = append(expected, pair{key: key, value: c.name})
		}
	}
	if !selects(v, expected) {
		c.r.Invalid("spec.selector", "", "`selector` not auto-generated")
		c.r.Drawn()
	}
}

// unknownUID stands for the UID of a Job. Nobody writes it.
const unknownUID = "\x00"

// jobSelector checks the selector of a Job and that it matches the template. If it is generated, it
// has the UID of the Job, so that a label of this name which the template brings never matches.
func (c *objectChecker) jobSelector() {
	const uid = "batch.kubernetes.io/controller-uid"
	v := c.spec.Get("selector")
	foreign := false
	switch {
	case v.Kind() == Object:
		c.labelSelector("spec.selector", v)
	case c.manual():
		c.r.Required("spec.selector", "")
		foreign = true
	}
	if !c.manual() && !hasKey(members(v.Get("matchLabels")), uid) {
		foreign = hasKey(members(c.template.Get("metadata").Get("labels")), uid)
	}
	if c.readable(v) && (foreign || !selects(v, c.templateLabels())) {
		c.mismatch()
	}
}

// cron checks the spec of a CronJob up to the template of its Jobs.
//
// Source: validateCronJobSpec in pkg/apis/batch/validation/validation.go, Kubernetes v1.33 to
// v1.37.
func (c *objectChecker) cron() {
	if schedule := text(c.spec, "schedule"); schedule != "" {
		c.schedule(schedule)
	} else if c.r.Minor() < 37 { // whose generated code says it after all else
		c.r.Required("spec.schedule", "")
	}
	c.notNegative("startingDeadlineSeconds")
	if zone := c.spec.Get("timeZone"); zone.Kind() == String {
		c.timeZone(zone.Str())
	}
	if s := text(c.spec, "concurrencyPolicy"); s != "" && !among(s, "Allow Forbid Replace") {
		c.r.Unsupported("spec.concurrencyPolicy", c.r.Word(s), "Allow Forbid Replace")
	}
}

func (c *objectChecker) schedule(s string) {
	const path = "spec.schedule"
	if fault := scheduleFault(s); fault != "" {
		c.r.Invalid(path, policy.Quoted(s), fault)
	}
	if strings.Contains(s, "TZ") {
		c.r.Invalid(path, policy.Quoted(s), "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")
	}
}

// timeZone checks the form of the name of a time zone. Whether there is a zone of this name only
// the machine of the API server knows.
func (c *objectChecker) timeZone(zone string) {
	const path = "spec.timeZone"
	const legal = ".-_+"
	if zone == "" {
		c.r.Invalid(path, c.r.Word(""), "timeZone must be nil or non-empty string")
		return
	}
	for part := range strings.SplitSeq(zone, "/") {
		ok := part != "" && part != "." && part != ".." && part[0] != '-' && len(part) <= 14
		for i := range len(part) {
			letter := policy.Lower(part[i])
			ok = ok && (letter >= 'a' && letter <= 'z' || digit(letter) || strings.IndexByte(legal, letter) >= 0)
		}
		if !ok {
			c.r.Invalid(path, c.r.Word(zone), "unknown time zone "+cut(zone))
			return
		}
	}
	if policy.EqualFold(zone, "Local") {
		c.r.Invalid(path, c.r.Word(zone), "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones")
	}
}

// cronTail checks what comes after the template of a CronJob's Jobs.
//
// Source: ValidateJobTemplateSpec and ValidateCronJobCreate in
// pkg/apis/batch/validation/validation.go, Kubernetes v1.33 to v1.37.
func (c *objectChecker) cronTail() {
	const path = "spec.jobTemplate.spec."
	job := c.spec.Get("jobTemplate").Get("spec")
	if v := job.Get("selector"); v.Kind() == Object {
		c.r.Invalid(path+"selector", c.printed(v), "`selector` will be auto-generated")
	}
	if job.Get("manualSelector").Bool() {
		c.r.Unsupported(path+"manualSelector", "true", "nil false")
	}
	c.notNegative("successfulJobsHistoryLimit", "failedJobsHistoryLimit")
	const longest = 52 // the name of a Job has 11 bytes more
	if len(c.name) > longest {
		c.badName("must be no more than 52 characters")
	}
	if c.r.Minor() >= 37 && text(c.spec, "schedule") == "" {
		c.r.Required("spec.schedule", "")
	}
}
