package ops

import (
	"bytes"
	"strconv"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
)

// variant is one of the worlds that are compared.
type variant struct {
	name     string
	patch    manifest.Value // absent for none
	manifest manifest.Value // in place of the request's; absent for none

	request  []byte         // with the patch in it
	answer   manifest.Value // to it
	table    manifest.Value // of all exit codes; absent where there is none
	waits    manifest.Value // of the back-off; absent where there is none
	own      []ownWaits     // of containers, by a policy that a proposal brings
	jobs     []jobRules     // of Jobs
	restarts []restarts     // of simulate
	rest     string         // members of the request that may change what happens, and that nothing of these is about
	refused  bool           // the answer is that Kubernetes refuses this

	equivalent, timeline bool // to the first, and the same timeline as the first
}

// ownWaits says that a container waits by what the manifest itself says.
type ownWaits struct{ template, container, policy string }

// restarts is how often a container is restarted until then.
type restarts struct {
	container string
	until, n  int64
}

// compare asks one operation in two to eight worlds and says where the answers differ from the
// first:
// {"of":"table","request":{…},"variants":[{"name":"1.34","patch":{"cluster":{"version":"1.34"}}},…]}.
// A patch is a JSON Merge Patch (RFC 7396) on the request; a manifest replaces that of the request.
// A variant that Kubernetes refuses is an answer.
//
// What the operation was asked is compared, and besides it all exit codes of every container and
// the back-off, wherever there is a manifest: these are what equivalent is about.
func (c *call) compare() {
	c.requestMembers(compareMembers...)
	number := c.readOf(compareNumber)
	of := nameOf(number)
	c.compares = number
	request := c.root.Get("request")
	if given(request) && request.Kind() != manifest.Object {
		c.wrongType(request, "request", "an object")
	}
	variants := c.readVariants(of)
	all := c.choice(c.root.Get("answers"), "answers", "all", "none") == "all"
	if c.failOnFaults() {
		return
	}
	d := &differ{of: of, first: &variants[0]}
	d.w.Array()
	held := 0
	for i := range variants {
		v := &variants[i]
		if !c.askVariant(v, i, number) {
			return
		}
		if i > 0 && c.faults.n == 0 {
			if !c.withinSteps(signSteps(d.first.jobs, v.jobs)) {
				return
			}
			d.compare(v)
			v.request, v.table, v.waits = nil, manifest.Value{}, manifest.Value{}
		}
		if !all && !v.refused && i > 0 {
			v.answer = manifest.Value{}
		}
		if held += len(v.answer.Raw()); held > policy.MaxRequestBytes {
			c.limit("answerBytes", held, policy.MaxRequestBytes)
			c.failure.message += "; ask for a shorter time, or with answers: none"
			return
		}
		if c.memory.Collect != nil {
			c.memory.Collect()
		}
	}
	d.w.End()
	if !c.failOnFaults() {
		c.writeComparison(d, variants, all)
	}
}

// writeComparison writes the answer.
func (c *call) writeComparison(d *differ, variants []variant, all bool) {
	w := &c.w
	equivalent, timeline := true, true
	w.Object()
	w.KeyWord("of", d.of)
	w.KeyArray("variants")
	for i := range variants {
		v := &variants[i]
		w.Object()
		w.KeyString("name", v.name)
		if v.refused {
			w.KeyBool("refused", true)
		}
		if i > 0 {
			d.verdict(w, v.equivalent, v.timeline)
			equivalent, timeline = equivalent && v.equivalent, timeline && v.timeline
		}
		if all || v.refused {
			w.Key("answer")
			c.writeVariant(v.answer, v, i)
		}
		w.End()
	}
	w.End()
	w.KeyRaw("differences", d.w.Bytes())
	if more := d.n - policy.MaxDifferences; more > 0 {
		w.KeyInt("differencesLeftOut", int64(more))
	}
	w.KeyBool("same", !d.different)
	d.verdict(w, equivalent, timeline)
	w.End()
}

// verdict writes what is proven of one variant, or of all.
func (d *differ) verdict(w *manifest.Writer, equivalent, timeline bool) {
	w.KeyBool("equivalent", equivalent)
	if d.of == "simulate" {
		w.KeyBool("sameTimeline", timeline)
	}
}

// readVariants reads the member variants.
func (c *call) readVariants(of string) (list []variant) {
	const path = "variants"
	v := c.root.Get(path)
	switch {
	case !given(v):
		c.fault(c.root, path, policy.CodeRequired, `what is compared? such as [{"name":"today"},{"name":"1.34","patch":{"cluster":{"version":"1.34"}}}]`)
		return nil
	case v.Kind() != manifest.Array:
		c.wrongType(v, path, "an array")
		return nil
	case v.Len() < policy.MinVariants || v.Len() > policy.MaxVariants:
		c.fault(v, path, policy.CodeOutOfRange, "must be "+strconv.Itoa(policy.MinVariants)+" to "+strconv.Itoa(policy.MaxVariants)+" variants, found "+strconv.Itoa(v.Len()))
	}
	for e := v.First(); e.Exists() && len(list) < policy.MaxVariants; e = e.Next() {
		at := element(path, len(list))
		c.members(e, at, "name", "patch", "manifest")
		one := variant{patch: c.objectIn(e, at, "patch"), manifest: c.objectIn(e, at, "manifest")}
		if given(one.manifest) {
			if given(one.patch) {
				c.forbidden(one.manifest, at+".manifest", "either patch or manifest")
			} else if of != "" && !contains(Members(of), "manifest") {
				c.forbidden(one.manifest, at+".manifest", of+" takes no manifest")
			}
		}
		name := e.Get("name")
		one.name, _ = c.text(name, at+".name")
		switch n := len(one.name); {
		case e.Kind() != manifest.Object:
		case !given(name):
			c.fault(e, at+".name", policy.CodeRequired, "a name is required, by which the answer speaks of it")
		case name.Kind() == manifest.String && (n == 0 || n > policy.MaxQuotedBytes):
			c.fault(name, at+".name", policy.CodeOutOfRange, "must have 1 to "+strconv.Itoa(policy.MaxQuotedBytes)+" bytes, found "+strconv.Itoa(n))
		}
		for i := range list {
			if list[i].name == one.name && one.name != "" {
				c.fault(name, at+".name", policy.CodeDuplicate, "is the name of "+element(path, i))
				break
			}
		}
		list = append(list, one)
	}
	return list
}

// objectIn reads a member of v that is an object, absent for none.
func (c *call) objectIn(v manifest.Value, path, name string) manifest.Value {
	m := v.Get(name)
	if !given(m) {
		return manifest.Value{}
	}
	if m.Kind() != manifest.Object {
		c.wrongType(m, child(path, name), "an object")
	}
	return m
}

// merge writes target with patch in it, as RFC 7396 has it. Names that are in target twice stay:
// they are for the operation to report.
func merge(w *manifest.Writer, target, patch manifest.Value) {
	if patch.Kind() != manifest.Object {
		w.Raw(patch.Raw())
		return
	}
	w.Object()
	if target.Kind() == manifest.Object {
		for m := target.First(); m.Exists(); m = m.Next() {
			if p := patch.Get(m.Key()); !p.Exists() {
				w.NameOf(m)
				w.Raw(m.Raw())
			} else if p.Kind() != manifest.Null {
				w.NameOf(m)
				merge(w, m, p)
			}
		}
	}
	for p := patch.First(); p.Exists(); p = p.Next() {
		if p.Kind() != manifest.Null && !target.Get(p.Key()).Exists() {
			w.NameOf(p)
			merge(w, manifest.Value{}, p)
		}
	}
	w.End()
}

// write writes the request of v.
func (v *variant) write(w *manifest.Writer, request manifest.Value) {
	switch {
	case v.patch.Exists():
		merge(w, request, v.patch)
	case v.manifest.Exists():
		w.Object()
		some(w, request, func(name string) bool { return name != "manifest" })
		w.KeyRaw("manifest", v.manifest.Raw())
		w.End()
	case given(request):
		w.Raw(request.Raw())
	default:
		w.Object()
		w.End()
	}
}

// some writes the members of v that are wanted, as they are.
func some(w *manifest.Writer, v manifest.Value, wanted func(name string) bool) {
	for m := v.First(); m.Exists() && v.Kind() == manifest.Object; m = m.Next() {
		if wanted(m.Key()) {
			w.NameOf(m)
			w.Raw(m.Raw())
		}
	}
}

// askVariant asks the operation in the world of variant i. It reports false if the comparison has
// failed.
func (c *call) askVariant(v *variant, i int, number uint32) bool {
	var w manifest.Writer
	v.write(&w, c.root.Get("request"))
	v.request = w.Bytes()
	answer, failed := c.ask(number, v.request)
	if c.failure != nil {
		return false
	}
	v.answer = answer
	v.refused = answer.Get("valid").Exists() && !answer.Get("valid").Bool()
	if failed {
		switch answer.Get("error").Get("code").Text() {
		case string(policy.ManifestInvalid), string(policy.UnsupportedVersion):
			v.refused = true
		default:
			return c.variantFaults(v, i)
		}
	}
	if v.refused {
		return true
	}
	asked, err := manifest.Parse(v.request)
	if err != nil { // deeper or longer than either part
		return c.failVariant(i, err.Code, v.name+": "+err.Message, err.Limit)
	}
	v.table = c.beside(v, number, tableNumber, asked)
	v.waits = c.beside(v, number, curveNumber, asked)
	all, cl := c.loadedAgain(asked)
	v.own, v.jobs = ownWaitsOf(all, cl), jobRulesOf(all, cl)
	var rest manifest.Writer
	rest.Object()
	some(&rest, asked, func(name string) bool {
		if name == "cluster" || name == "backoff" {
			return !v.waits.Exists() // waits that are no curve, by how a run ended: what they are made of is compared
		}
		return !contains(questionMembers, name) && !contains(Members(nameOf(tableNumber)), name) && !contains(curveMembers, name)
	})
	v.rest = string(rest.Bytes())
	if number == simulateNumber {
		c.countRestarts(v, asked)
	}
	return true
}

// restartWindows are the milliseconds until which the restarts of a simulation are counted, next to
// its end: the minutes of the slow start, and those after which the kubelet's back-off has settled.
var restartWindows = [...]int64{300_000, 1_800_000}

// countRestarts counts the restarts of each container in each window: a shorter simulation has
// them, however the timeline of the longer one sums up.
func (c *call) countRestarts(v *variant, request manifest.Value) {
	count := func(answer manifest.Value) {
		for x := answer.Get("containers").First(); x.Exists(); x = x.Next() {
			v.restarts = append(v.restarts, restarts{x.Get("container").Text(), number(answer, "untilMillis"), number(x, "restarts")})
		}
	}
	for _, until := range restartWindows {
		if until >= number(v.answer, "untilMillis") {
			break
		}
		var w manifest.Writer
		w.Object()
		some(&w, request, func(name string) bool { return name != "until" })
		w.KeyString("until", millisText(policy.Millis(until)))
		w.End()
		if answer, failed := c.ask(simulateNumber, w.Bytes()); !failed {
			count(answer)
		}
		c.failure = nil
	}
	count(v.answer)
}

// questionMembers are members of requests that say what is asked, and not in which world. Nobody
// writes to it.
var questionMembers = []string{"apiVersion", "kind", "exits", "pods", "runs", "podRuns", "runsFrom", "events", "until", "from", "now", "old", "static", "show"}

// ask answers another operation's request. The answer stays when the next one is asked.
func (c *call) ask(number uint32, request []byte) (answer manifest.Value, failed bool) {
	raw, failed := c.memory.within().Call(number, request)
	if len(raw) > policy.MaxRequestBytes {
		c.limit("answerBytes", len(raw), policy.MaxRequestBytes)
		return manifest.Value{}, true
	}
	answer, err := manifest.Parse(append([]byte(nil), raw...))
	if err != nil {
		c.failWith(err.Code, "the answer of a variant: "+err.Message)
		c.failure.limit = err.Limit
	}
	return answer, failed
}

// narrowingMembers are those of table and curve that ask for less than everything. Nobody writes to
// it.
var narrowingMembers = []string{"container", "restartCount", "restartCounts", "run", "until", "windows", "outage"}

// beside asks another operation about all that request has in common with it, absent if it has no
// answer. Where it is the operation that was asked, and for everything, v has the answer.
func (c *call) beside(v *variant, asked, number uint32, request manifest.Value) manifest.Value {
	narrowed := false
	for m := request.First(); m.Exists(); m = m.Next() {
		narrowed = narrowed || contains(narrowingMembers, m.Key())
	}
	if asked == number && (number == curveNumber || !narrowed) {
		return v.answer
	}
	if number == tableNumber && !given(request.Get("manifest")) {
		return manifest.Value{}
	}
	wants := Members(nameOf(number))
	var w manifest.Writer
	w.Object()
	some(&w, request, func(name string) bool { return contains(wants, name) && !contains(narrowingMembers, name) })
	w.End()
	answer, failed := c.ask(number, w.Bytes())
	if failed {
		c.failure = nil
		return manifest.Value{}
	}
	return answer
}

// ownWaitsOf returns what manifests say of waits themselves. Without proposals they have no word for
// that.
func ownWaitsOf(all []loaded, cl cluster) (list []ownWaits) {
	for i := range all {
		l := &all[i]
		own := ownWaits{}
		if l.template != nil {
			own.template = l.template.Path
		}
		for kind := range policy.ContainerKinds {
			for k := range l.object.Spec.List(kind) {
				x := &l.object.Spec.List(kind)[k]
				own.container, own.policy = x.Name, l.object.Spec.OwnWaits(kind, x, cl.node().features.Proposals)
				if own.policy != "" {
					list = append(list, own)
				}
			}
		}
	}
	return list
}

// failVariant ends the comparison because of variant i.
func (c *call) failVariant(i int, code policy.ErrorCode, message, limit string) bool {
	c.failWith(code, message)
	c.failure.path = element("variants", i)
	c.failure.offset, c.failure.limit = c.root.Locate(c.failure.path).Offset(), limit
	return false
}

// variantFaults notes what is wrong with the request of variant i, with the path of the part that
// it came from. It reports whether others are worth asking.
func (c *call) variantFaults(v *variant, i int) bool {
	e := v.answer.Get("error")
	faults := e.Get("faults")
	if faults.Len() == 0 {
		return c.failVariant(i, policy.ErrorCode(e.Get("code").Text()), v.name+": "+e.Get("message").Text(), e.Get("limit").Text())
	}
	for f := faults.First(); f.Exists(); f = f.Next() {
		path, offset := c.origin(v, i, f.Get("path").Text(), true)
		fault := policy.FieldError{
			Path: path, Code: policy.FaultCode(f.Get("code").Text()), Detail: f.Get("detail").Text(), Source: f.Get("source").Text(),
		}
		for a := f.Get("allowed").First(); a.Exists(); a = a.Next() {
			fault.Allowed = append(fault.Allowed, a.Text())
		}
		known := false
		for _, k := range c.faults.kept {
			known = known || k.Path == path && k.Code == fault.Code
		}
		if !known {
			c.requestFaultAt(offset, fault)
		}
	}
	return true
}

// origin returns the path and the offset in the comparison of what an answer to variant i has at
// path: in its manifest, in its patch, or in the request that all variants share. A path that is
// not of the request may be one of its manifest.
func (c *call) origin(v *variant, i int, path string, ofRequest bool) (string, int) {
	end := 0
	for end < len(path) && path[end] != '.' && path[end] != '[' {
		end++
	}
	own := element("variants", i)
	if !ofRequest && !contains(Members(nameOf(c.compares)), path[:end]) { // what is said of a manifest counts in it
		path = child("manifest", path)
	}
	for _, base := range [...]string{own + ".patch", own, "request"} {
		full := child(base, path)
		if at := c.root.Locate(full); base == "request" || base == own && v.manifest.Exists() || at.Path(c.root) == full {
			return full, placeOf(at, c.root)
		}
	}
	return path, -1
}

// writeVariant writes the answer to variant i with the places that what it speaks of has in the
// comparison, not in the request that was put together.
func (c *call) writeVariant(answer manifest.Value, v *variant, i int) {
	w := &c.w
	switch answer.Kind() {
	case manifest.Object:
		w.Object()
		for m := answer.First(); m.Exists(); m = m.Next() {
			switch name := m.Key(); {
			case name == "line":
				if path := answer.Get("path"); path.Exists() {
					if _, offset := c.origin(v, i, path.Text(), false); offset >= 0 {
						c.position(w, offset)
					}
				}
			case !isPlace(name):
				w.NameOf(m)
				c.writeVariant(m, v, i)
			}
		}
		w.End()
	case manifest.Array:
		w.Array()
		for e := answer.First(); e.Exists(); e = e.Next() {
			c.writeVariant(e, v, i)
		}
		w.End()
	default:
		w.Raw(answer.Raw())
	}
}

// compare notes where v differs from the first variant.
func (d *differ) compare(v *variant) {
	first := d.first
	d.here, d.differs = v, false
	same := bytes.Equal(first.request, v.request)
	v.timeline = true
	switch {
	case same:
	case first.refused != v.refused:
		d.begin("refused")
		d.w.KeyBool("first", first.refused)
		d.w.KeyBool("here", v.refused)
		d.end()
		v.timeline = false
	case v.refused:
		d.faults()
		v.timeline = !d.differs
	default:
		d.codes(first.table.Get("containers"), v.table.Get("containers"))
		d.conditions(first.jobs, v.jobs)
		d.waits()
		proven := d.of == "curve" || first.table.Exists() && v.table.Exists()
		v.equivalent = proven && first.waits.Exists() == v.waits.Exists() && !d.differs && first.rest == v.rest
		d.answers()
	}
	v.equivalent = v.equivalent || same
	d.different = d.different || d.differs
}
