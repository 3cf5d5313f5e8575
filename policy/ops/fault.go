package ops

import (
	"strconv"
	"strings"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
)

// located is a fault with its place in the request text and the error it leads to.
type located struct {
	policy.FieldError
	offset int // -1: no place
	group  policy.ErrorCode
}

// failure is an error that ends an operation.
type failure struct {
	code    policy.ErrorCode
	message string
	path    string
	offset  int // in the request, -1 for none
	limit   string
	faults  []located
	more    int // that are not in faults
}

func (c *call) failWith(code policy.ErrorCode, message string) {
	c.failure = &failure{code: code, message: message, offset: -1}
}

// limit ends the operation because n is more than most.
func (c *call) limit(name string, n, most int) {
	c.failWith(policy.LimitExceeded, name+": "+strconv.Itoa(n)+", at most "+strconv.Itoa(most)+" allowed")
	c.failure.limit = name
}

// limitAt is limit for what is at v, whose path is path.
func (c *call) limitAt(v manifest.Value, path, name string, n, most int) {
	c.limit(name, n, most)
	c.failure.path, c.failure.offset = path, placeOf(v, c.root)
}

// requestFault notes a fault at v, which is outside the manifest.
func (c *call) requestFault(v manifest.Value, f policy.FieldError) {
	offset := -1
	if v.Exists() {
		offset = v.Offset()
	}
	c.requestFaultAt(offset, f)
}

func (c *call) requestFaultAt(offset int, f policy.FieldError) {
	c.faults.add(c.asked(located{f, offset, policy.EventInvalid}))
}

// clusterFault notes a fault that puts the cluster outside the model.
func (c *call) clusterFault(v manifest.Value, f policy.FieldError) {
	offset := -1
	if v.Exists() {
		offset = v.Offset()
	}
	c.faults.add(located{f, offset, policy.UnsupportedVersion})
}

// faultList holds the faults of a call that can be listed, those that come first in the request,
// and counts all: a request of 1 MiB may have more than the module has memory for.
type faultList struct {
	kept   []located
	cut    bool    // some were dropped
	beyond int     // then what does not come before is only counted
	n      int     // of all
	lead   located // the first of the group that gives the error its code; of none as long as n is 0
}

// enoughFaults is how many are kept until those that are too far back are dropped.
const enoughFaults = 4 * policy.MaxFaults

func (l *faultList) add(f located) {
	if more := f.More(); more > 0 {
		l.n += more
		return
	}
	if len(l.kept) == 0 || groupRank(f.group) > groupRank(l.lead.group) || f.group == l.lead.group && f.offset < l.lead.offset {
		l.lead = f
	}
	l.n++
	if l.cut && f.offset >= l.beyond {
		return
	}
	if len(l.kept) == enoughFaults {
		l.kept = inOrder(l.kept)[:policy.MaxFaults]
		l.cut, l.beyond = true, l.kept[policy.MaxFaults-1].offset
	}
	l.kept = append(l.kept, f)
}

func (l *faultList) addAll(faults []located) {
	for _, f := range faults {
		l.add(f)
	}
}

// groupRank orders the groups of faults: what is greater makes the others moot.
func groupRank(g policy.ErrorCode) int {
	switch g {
	case policy.UnsupportedVersion:
		return 2
	case policy.ManifestInvalid:
		return 1
	}
	return 0
}

// inOrder returns faults in the order of the request; those of one place keep theirs.
func inOrder(faults []located) []located {
	out := make([]located, 0, enoughFaults)
	for _, i := range policy.Order(len(faults), func(i, j int) bool { return faults[i].offset < faults[j].offset }) {
		out = append(out, faults[i])
	}
	return out
}

// manifestFaults gives faults of the manifest their places. Their order stays: it is Kubernetes'.
func (c *call) manifestFaults(faults []policy.FieldError) []located {
	if len(faults) == 0 {
		return nil
	}
	out := make([]located, 0, len(faults))
	for _, f := range faults {
		out = append(out, located{f, c.place(f.Path), policy.ManifestInvalid})
	}
	return out
}

// place returns where the element at path of the manifest is: its name if it has one, else its
// value.
func (c *call) place(path string) int {
	// Kubernetes names labels and annotations of a template as if they stood in it, and not in its
	// metadata.
	for _, name := range [...]string{"labels", "annotations"} {
		if before, after, found := strings.Cut(path, "template."+name); found {
			path = before + "template.metadata." + name + after
		}
	}
	return placeOf(c.man.Locate(path), c.man)
}

// placeOf returns where v is, which is in top: its name if it has one there, else its value.
func placeOf(v, top manifest.Value) int {
	if !v.Exists() {
		return -1
	}
	if v.Offset() > top.Offset() && v.KeyOffset() >= 0 {
		return v.KeyOffset()
	}
	return v.Offset()
}

// failOnFaults ends the operation if faults were noted, with all of them in document order. The
// error's code is that of the group that makes the others moot: the version, then the manifest,
// then the events.
func (c *call) failOnFaults() bool {
	if c.failure != nil {
		return true
	}
	if c.faults.n == 0 {
		return false
	}
	lead := c.faults.lead
	message := lead.Error()
	if n := c.faults.n - 1; n == 1 {
		message += " (and one more fault)"
	} else if n > 1 {
		message += " (and " + strconv.Itoa(n) + " more faults)"
	}
	c.failure = &failure{
		code: lead.group, message: message, path: lead.Path, offset: lead.offset,
		faults: inOrder(c.faults.kept), more: c.faults.n - len(c.faults.kept),
	}
	return true
}

// payload writes the error as the ABI prescribes, members in fixed order and absent ones left out.
func (f *failure) payload(c *call) []byte {
	var w manifest.Writer
	w.Object()
	w.KeyObject("error")
	w.KeyString("code", string(f.code))
	w.KeyInt("num", int64(f.code.Number()))
	w.KeyString("message", f.message)
	optional(&w, "path", f.path)
	if f.offset >= 0 && c.src != nil {
		w.KeyInt("offset", int64(f.offset))
		c.position(&w, f.offset)
	}
	if f.limit != "" {
		w.KeyString("limit", f.limit)
	}
	if len(f.faults) > 0 {
		w.Key("faults")
		c.writeFaults(&w, f.faults, f.more)
	}
	w.End()
	w.End()
	return w.Bytes()
}

// position writes line and column of an offset of the request.
func (c *call) position(w *manifest.Writer, offset int) {
	line, column := manifest.Position(c.src, offset)
	w.KeyInt("line", int64(line))
	w.KeyInt("column", int64(column))
}

// writeFaults writes at most [policy.MaxFaults] faults and, if there were more, how many; more is
// the number of those that are not in faults.
func (c *call) writeFaults(w *manifest.Writer, faults []located, more int) {
	w.Array()
	listed := 0
	for _, f := range faults {
		switch n := f.More(); {
		case n > 0:
			more += n
		case listed == policy.MaxFaults:
			more++
		default:
			listed++
			c.writeFault(w, f)
		}
	}
	if more > 0 {
		c.writeFault(w, located{policy.TooManyFaults(more), -1, ""})
	}
	w.End()
}

func (c *call) writeFault(w *manifest.Writer, f located) {
	w.Object()
	w.KeyString("path", f.Path)
	optional(w, "type", string(f.Type))
	w.KeyString("code", string(f.Code))
	optional(w, "detail", f.Detail)
	optional(w, "message", f.Message)
	optional(w, "source", f.Source)
	optional(w, "proposal", f.Proposal)
	if len(f.Allowed) > 0 {
		w.KeyArray("allowed")
		for _, s := range f.Allowed {
			w.String(s)
		}
		w.End()
	}
	if f.offset >= 0 {
		c.position(w, f.offset)
	}
	c.writeFixes(w, &f)
	if f.Within > 0 {
		w.KeyObject("within")
		line, column := manifest.Position([]byte(c.root.Get(questionMember).Text()), f.Within-1)
		w.KeyInt("line", int64(line))
		w.KeyInt("column", int64(column))
		w.End()
	}
	w.End()
}

// optional writes a member unless it is empty.
func optional(w *manifest.Writer, name, value string) {
	if value != "" {
		w.KeyString(name, value)
	}
}
