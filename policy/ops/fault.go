package ops

import (
	"strconv"

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
}

func (c *call) failWith(code policy.ErrorCode, message string) {
	c.failure = &failure{code: code, message: message, offset: -1}
}

// limit ends the operation because n is more than most.
func (c *call) limit(name string, n, most int) {
	c.failWith(policy.LimitExceeded, name+": "+strconv.Itoa(n)+", at most "+strconv.Itoa(most)+" allowed")
	c.failure.limit = name
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
	c.faults = append(c.faults, located{f, offset, policy.EventInvalid})
}

// clusterFault notes a fault that puts the cluster outside the model.
func (c *call) clusterFault(v manifest.Value, f policy.FieldError) {
	c.requestFault(v, f)
	c.faults[len(c.faults)-1].group = policy.UnsupportedVersion
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

// place returns where the element at path of the manifest stands: its name if it has one, else its value.
func (c *call) place(path string) int {
	v := c.man.Locate(path)
	if !v.Exists() {
		return -1
	}
	if v.Offset() > c.man.Offset() && v.KeyOffset() >= 0 {
		return v.KeyOffset()
	}
	return v.Offset()
}

// failOnFaults ends the operation if faults were noted, with all of them in document order. The error's code is that
// of the group that makes the others moot: the version, then the manifest, then the events.
func (c *call) failOnFaults() bool {
	if c.failure != nil {
		return true
	}
	if len(c.faults) == 0 {
		return false
	}
	unsorted := c.faults
	c.faults = make([]located, 0, len(unsorted))
	for _, i := range policy.Order(len(unsorted), func(i, j int) bool { return unsorted[i].offset < unsorted[j].offset }) {
		c.faults = append(c.faults, unsorted[i])
	}
	code := policy.EventInvalid
	for _, f := range c.faults {
		if f.group == policy.UnsupportedVersion || f.group == policy.ManifestInvalid && code == policy.EventInvalid {
			code = f.group
		}
	}
	first := c.faults[0]
	for _, f := range c.faults {
		if f.group == code {
			first = f
			break
		}
	}
	message := first.Error()
	if n := len(c.faults) - 1; n == 1 {
		message += " (and one more fault)"
	} else if n > 1 {
		message += " (and " + strconv.Itoa(n) + " more faults)"
	}
	c.failure = &failure{code: code, message: message, path: first.Path, offset: first.offset, faults: c.faults}
	return true
}

// payload writes the error as the ABI prescribes, members in fixed order and absent ones left out.
func (f *failure) payload(c *call) []byte {
	var w manifest.Writer
	w.Object()
	w.Key("error")
	w.Object()
	w.Key("code")
	w.String(string(f.code))
	w.Key("num")
	w.Int(int64(f.code.Number()))
	w.Key("message")
	w.String(f.message)
	optional(&w, "path", f.path)
	if f.offset >= 0 && c.src != nil {
		w.Key("offset")
		w.Int(int64(f.offset))
		c.position(&w, f.offset)
	}
	if f.limit != "" {
		w.Key("limit")
		w.String(f.limit)
	}
	if len(f.faults) > 0 {
		w.Key("faults")
		c.writeFaults(&w, f.faults)
	}
	w.End()
	w.End()
	return w.Bytes()
}

// position writes line and column of an offset of the request.
func (c *call) position(w *manifest.Writer, offset int) {
	line, column := manifest.Position(c.src, offset)
	w.Key("line")
	w.Int(int64(line))
	w.Key("column")
	w.Int(int64(column))
}

// writeFaults writes at most [policy.MaxFaults] faults and, if there were more, how many.
func (c *call) writeFaults(w *manifest.Writer, faults []located) {
	w.Array()
	for i, f := range faults {
		if i == policy.MaxFaults {
			c.writeFault(w, located{policy.FieldError{
				Code: policy.CodeTooManyFaults, Detail: strconv.Itoa(len(faults)-i) + " more faults are not listed",
			}, -1, ""})
			break
		}
		c.writeFault(w, f)
	}
	w.End()
}

func (c *call) writeFault(w *manifest.Writer, f located) {
	w.Object()
	w.Key("path")
	w.String(f.Path)
	optional(w, "type", string(f.Type))
	w.Key("code")
	w.String(string(f.Code))
	optional(w, "detail", f.Detail)
	optional(w, "message", f.Message)
	optional(w, "source", f.Source)
	if len(f.Allowed) > 0 {
		w.Key("allowed")
		w.Array()
		for _, s := range f.Allowed {
			w.String(s)
		}
		w.End()
	}
	if f.offset >= 0 {
		c.position(w, f.offset)
	}
	w.End()
}

// optional writes a member unless it is empty.
func optional(w *manifest.Writer, name, value string) {
	if value != "" {
		w.Key(name)
		w.String(value)
	}
}
