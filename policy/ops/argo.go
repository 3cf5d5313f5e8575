package ops

import (
	"strconv"
	"strings"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
)

// retries is the retryStrategy of an Argo template: what the controller makes of a Pod that has
// failed.
//
// Source: processNodeRetries, buildRetryStrategyLocalScope and inferFailedReason in
// workflow/controller/operator.go, RetryPolicyActual in pkg/apis/workflow/v1alpha1
// /workflow_types.go, argo-workflows v3.6.2; backoff.cap, which v3.7.0 has.
type retries struct {
	path, expression string
	limit            int64  // of retries; 0 for none
	limited          bool   // it has a limit, which may be 0
	transient        bool   // only certain messages lead to one
	daemon           bool   // no failure of its main containers counts
	policy           string // the retryPolicy, "" for none
	once             string // the place that asks for none after a failure, "" for none
	never            string // the place that forbids each, "" for none
	why, whyPath     string // why nothing is known, and the place that is the cause

	waits      bool  // before each
	wait, most int64 // the first wait, and the longest, in nanoseconds: what grows may begin below a millisecond
	capped     bool  // there is a longest
	factor     int64
	total      policy.Millis // from the start of the first Pod on
	unplayed   string        // a field that decides about Pods over time and is not played, "" for none
}

// What an owner does about a Pod besides ownerRetries and ownerFails, and why it is not known.
const (
	ownerSucceeds    = "Succeed"
	unknownText      = "unreadable"        // a field of the retryStrategy is none that the controller reads, or a parameter
	unknownDefaults  = "template_defaults" // templateDefaults are merged into the retryStrategy
	unknownCondition = "expression"
	unknownDuration  = "duration"
	unknownMessage   = "transient_message"
)

// maxExpression bounds the expressions that are read, in bytes: it is reread for each exit code.
const maxExpression = 1024

// retriesOf reads the retryStrategy of template t; without one no Pod is made again.
func (c *call) retriesOf(t *manifest.Template) *retries {
	at := c.man.At(t.Path)
	above := t.Path[:strings.LastIndexByte(t.Path, '.')]
	r := retries{path: t.Path + ".retryStrategy", daemon: at.Get("daemon").Bool()}
	v, spec := at.Get("retryStrategy"), c.man.At(above)
	if d := spec.Get("templateDefaults"); d.Get("retryStrategy").Exists() || d.Get("daemon").Exists() {
		r.unknown(unknownDefaults, above+".templateDefaults")
	} else if v.Kind() != manifest.Object {
		v, r.path = spec.Get("retryStrategy"), above+".retryStrategy"
	}
	if v.Kind() != manifest.Object && r.why == "" {
		r.path = t.Path + ".retryStrategy"
		r.once = r.path // it is not there
	}
	r.expression, r.total = v.Get("expression").Text(), forever
	if b := v.Get("backoff"); b.Kind() == manifest.Object {
		r.waits, r.wait = true, r.span(b, "duration")
		if b.Get("maxDuration").Text() != "" {
			r.total = policy.Millis(r.span(b, "maxDuration") / 1e6)
		}
		if x := b.Get("factor"); given(x) {
			r.factor = r.number(x, "backoff.factor")
		}
		if b.Get("cap").Text() != "" {
			r.capped, r.most = true, r.span(b, "cap")
		}
		if r.waitAfter(0) > r.total {
			r.never = r.path + pathMaxDuration
		}
	}
	switch r.policy = v.Get("retryPolicy").Text(); r.policy {
	case "", "Always", "OnFailure": // without a policy an expression alone decides
	case "OnError":
		r.once = r.path + ".retryPolicy" // the node has failed, not erred
	case "OnTransientError":
		r.transient = true
	default:
		r.unknown(unknownText, r.path+".retryPolicy")
	}
	if x := v.Get("limit"); given(x) {
		r.limited = true
		if r.limit = r.number(x, "limit"); r.limit < 1 {
			r.never = r.path + ".limit"
		}
	}
	r.unplayed = unplayedOf(at, t.Path, spec, above)
	return &r
}

// unplayedOf returns the first field of a template, or of the Workflow around it, that decides
// about its Pods over time and is not played.
func unplayedOf(at manifest.Value, path string, spec manifest.Value, above string) string {
	for _, name := range [...]string{"daemon", "sidecars", "timeout", "memoize", "synchronization"} {
		if given(at.Get(name)) {
			return path + "." + name
		}
	}
	if at.Get("activeDeadlineSeconds").Kind() == manifest.String {
		return path + ".activeDeadlineSeconds"
	}
	for _, name := range [...]string{"activeDeadlineSeconds", "suspend", "shutdown"} {
		if given(spec.Get(name)) {
			return above + "." + name
		}
	}
	return ""
}

// afterError returns r for a node that has erred, not failed: an init container was killed and its
// main containers never began.
func (r *retries) afterError() *retries {
	e := *r
	switch {
	case r.policy == "OnError":
		e.once = ""
	case r.once == "" && (r.policy == "OnFailure" || r.policy == "" && r.expression == ""):
		e.once = r.path + ".retryPolicy"
	}
	return &e
}

// killed reports whether code is one that the controller takes for the end of a container that it
// has killed itself, unless it is the main one.
func killed(code int32) bool { return code == 137 || code == 143 }

func (r *retries) unknown(why, path string) {
	if r.why == "" {
		r.why, r.whyPath = why, path
	}
}

// number reads a number that may be a string.
func (r *retries) number(v manifest.Value, name string) int64 {
	n, err := strconv.ParseInt(v.Text(), 10, 32)
	if i, ok := v.Int64(); ok && int64(int32(i)) == i {
		n, err = i, nil
	}
	if err != nil {
		r.unknown(unknownText, r.path+"."+name)
	}
	return n
}

// span reads a length of time, seconds or with units, and returns nanoseconds.
func (r *retries) span(b manifest.Value, name string) int64 {
	text := b.Get(name).Text()
	if _, err := strconv.Atoi(text); err == nil {
		text += "s"
	}
	d, message := policy.ParseDuration(text)
	if message != "" {
		r.unknown(unknownText, r.path+".backoff."+name)
	}
	return int64(d)
}

// says returns what becomes of the Pod after exit e has failed it. seconds is how long the node
// took, -1 if nobody knows.
func (r *retries) says(e exit, seconds int64) ownerVerdict {
	main := e.ref.Kind == policy.MainContainer
	sidecar := main && e.ref.Index > 0
	erred := !main && killed(e.code)
	if erred {
		r = r.afterError()
	}
	says := ownerVerdict{action: ownerRetries, path: r.path}
	switch {
	case main && r.daemon, sidecar && killed(e.code):
		return ownerVerdict{action: ownerSucceeds} // the failure is ignored
	case r.why != "":
		return ownerVerdict{why: r.why, path: r.whyPath}
	case r.once != "":
		return ownerVerdict{action: ownerFails, path: r.once}
	case r.never != "":
		return ownerVerdict{action: ownerFails, path: r.never}
	case r.transient:
		return ownerVerdict{why: unknownMessage, path: r.path + ".retryPolicy"}
	case r.expression != "":
		x := condition{text: r.expression, code: -1, seconds: seconds, erred: erred}
		if sidecar {
			x.code = 0
		} else if main {
			x.code = int64(e.code)
		}
		says.path += ".expression"
		switch x.judge() {
		case isFalse:
			says.action = ownerFails
		case isUnknown:
			return ownerVerdict{why: x.why, path: says.path}
		}
	}
	if says.action == ownerRetries {
		says.limit = r.limit
	}
	return says
}

// truth is what a condition evaluates to.
type truth uint8

const (
	isUnknown truth = iota
	isFalse
	isTrue
)

func truthOf(b bool) truth {
	if b {
		return isTrue
	}
	return isFalse
}

// condition reads an expression: comparisons of lastRetry.exitCode, status and duration with
// literals, and their combinations, with the precedence of github.com/expr-lang/expr v1.16. All
// else, and what would be an error there, is not judged.
type condition struct {
	text    string
	code    int64 // -1 if the container has none
	seconds int64 // -1 for not known
	erred   bool
	at      int
	depth   int
	why     string
}

// maxParentheses bounds how deep an expression is nested.
const maxParentheses = 32

func (x *condition) judge() truth {
	x.why = unknownDuration
	if len(x.text) > maxExpression {
		x.fail()
		return isUnknown
	}
	t := x.or()
	if x.token(); x.at < len(x.text) {
		x.fail()
	}
	if x.why == unknownCondition {
		return isUnknown
	}
	return t
}

// fail says that the text is not understood.
func (x *condition) fail() { x.why, x.at = unknownCondition, len(x.text) }

// token returns the next token without taking it, "" at the end.
func (x *condition) token() string {
	for x.at < len(x.text) && strings.IndexByte(" \t\r\n", x.text[x.at]) >= 0 {
		x.at++
	}
	rest := x.text[x.at:]
	for _, s := range [...]string{"&&", "||", "==", "!=", "<=", ">="} {
		if strings.HasPrefix(rest, s) {
			return s
		}
	}
	n := 0
	for n < len(rest) && (rest[n]|0x20 >= 'a' && rest[n]|0x20 <= 'z' || rest[n] >= '0' && rest[n] <= '9' || rest[n] == '.' || rest[n] == '_') {
		n++
	}
	switch {
	case n > 0 || rest == "":
		return rest[:n]
	case rest[0] == '"' || rest[0] == '\'':
		if end := strings.IndexByte(rest[1:], rest[0]); end >= 0 && strings.IndexByte(rest[:end+1], '\\') < 0 {
			return rest[:end+2]
		}
	}
	return rest[:1]
}

// take takes the next token if it is one of words, which have blanks around them.
func (x *condition) take(words string) bool {
	t := x.token()
	if t == "" || !strings.Contains(words, " "+t+" ") {
		return false
	}
	x.at += len(t)
	return true
}

func (x *condition) or() truth {
	t := x.and()
	for x.take(" || or ") {
		if u := x.and(); t != isTrue && (u == isTrue || t == isFalse) {
			t = u
		}
	}
	return t
}

func (x *condition) and() truth {
	t := x.not()
	for x.take(" && and ") {
		if u := x.not(); t != isFalse && (u == isFalse || t == isTrue) {
			t = u
		}
	}
	return t
}

func (x *condition) not() (t truth) {
	x.depth++
	switch {
	case x.depth > maxParentheses:
		x.fail()
	case x.take(" ! not "):
		if !strings.Contains(" ( ! not true false ", " "+x.token()+" ") {
			x.fail() // it binds tighter than a comparison
		} else if t = x.not(); t != isUnknown {
			t ^= isFalse ^ isTrue
		}
	case x.take(" ( "):
		if t = x.or(); !x.take(" ) ") {
			x.fail()
		}
	case x.take(" true "):
		t = isTrue
	case x.take(" false "):
		t = isFalse
	default:
		t = x.comparison()
	}
	x.depth--
	return t
}

// operand is a value of a comparison: a text, or a number.
type operand struct {
	text           string
	n              int64
	number, unsure bool
}

// comparison reads two values and how they are compared.
func (x *condition) comparison() truth {
	a := x.operand()
	op := x.token()
	if !x.take(" == != < <= > >= in ") {
		if !x.take(" not ") || !x.take(" in ") {
			x.fail()
			return isUnknown
		}
		op = "not"
	}
	if op == "in" || op == "not" {
		found := false
		if !x.take(" [ ") {
			x.fail()
		}
		for !x.take(" ] ") {
			b := x.operand()
			found = found || a == b
			a.unsure = a.unsure || b.unsure
			if b.number != a.number || !x.take(" , ") && x.token() != "]" {
				x.fail()
				return isUnknown
			}
		}
		if a.unsure {
			return isUnknown
		}
		return truthOf(found == (op == "in"))
	}
	b := x.operand()
	order := a.n - b.n
	if !a.number && a.text != b.text {
		order = 1
	}
	switch {
	case a.number != b.number, !a.number && op != "==" && op != "!=":
		x.fail() // an error there, or never equal
		return isUnknown
	case a.unsure || b.unsure:
		return isUnknown
	}
	return truthOf(order == 0 && op[0] != '!' && len(op) > 1 || order < 0 && op[0] == '<' || order > 0 && op[0] == '>' || order != 0 && op[0] == '!')
}

func (x *condition) operand() operand {
	if x.take(" asInt int asFloat float ") {
		if !x.take(" ( ") {
			x.fail()
		}
		o := x.operand()
		n, err := strconv.ParseInt(o.text, 10, 32)
		if o.number || err != nil && !o.unsure || !x.take(" ) ") {
			x.fail()
		}
		return operand{n: n, number: true, unsure: o.unsure}
	}
	sign := int64(1)
	if x.take(" - ") {
		sign = -1
	}
	t := x.token()
	x.at += len(t)
	n, err := strconv.ParseInt(t, 10, 32)
	switch {
	case err == nil && (t == "0" || t[0] != '0'):
		return operand{n: sign * n, number: true}
	case sign < 0:
	case t == "lastRetry.exitCode":
		return operand{text: strconv.FormatInt(x.code, 10)}
	case t == "lastRetry.status" && x.erred:
		return operand{text: "Error"}
	case t == "lastRetry.status":
		return operand{text: "Failed"}
	case t == "lastRetry.duration":
		return operand{text: strconv.FormatInt(x.seconds, 10), unsure: x.seconds < 0}
	case len(t) > 1 && (t[0] == '"' || t[0] == '\''):
		return operand{text: t[1 : len(t)-1]}
	}
	x.fail()
	return operand{}
}
