package forecast

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/podfate/podfate/policy/manifest"
)

// JobLeft is a Job that goes on, and what is left of its limits.
type JobLeft struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Failed are Pods that count, and with OnFailure restarts of Pods that go on.
	Failed       int64 `json:"failed"`
	BackoffLimit int64 `json:"backoffLimit"`
	Left         int64 `json:"failuresLeft"`
	// Of an Indexed Job with a limit for each index.
	PerIndex         *int64 `json:"backoffLimitPerIndex,omitempty"`
	FailedIndexes    int64  `json:"failedIndexes,omitempty"`
	MaxFailedIndexes *int64 `json:"maxFailedIndexes,omitempty"`
	Succeeded        int64  `json:"succeeded"`
	Completions      *int64 `json:"completions,omitempty"`
	Active           int64  `json:"active"`
	// DeadlineMillis is how long activeDeadlineSeconds still leaves; absent without one.
	DeadlineMillis *int64 `json:"deadlineMillis,omitempty"`
	Ends           string `json:"ends,omitempty"` // FailureTarget or SuccessCriteriaMet: it is being ended
	Suspended      bool   `json:"suspended,omitempty"`

	onFailure bool
}

// readJob reads a Job. The result says what is broken.
func (f *finding) readJob(root manifest.Value, now time.Time) (broken string) {
	spec, status := root.Get("spec"), root.Get("status")
	switch {
	case spec.Kind() != manifest.Object:
		return "has no spec"
	case given(status) && status.Kind() != manifest.Object:
		return "status is not an object"
	}
	for _, name := range [...]string{"failed", "succeeded", "active"} {
		if v := status.Get(name); given(v) && integer(v) == nil {
			return "status." + name + " is not a whole number"
		}
	}
	j := &JobLeft{Namespace: f.namespace, Name: f.name, PerIndex: integer(spec.Get("backoffLimitPerIndex")),
		MaxFailedIndexes: integer(spec.Get("maxFailedIndexes")), Completions: integer(spec.Get("completions"))}
	for c := status.Get("conditions").First(); c.Exists(); c = c.Next() {
		if c.Get("status").Text() != "True" {
			continue
		}
		switch kind := c.Get("type").Text(); kind {
		case "Complete", "Failed":
			f.state = finished
			return ""
		case "FailureTarget", "SuccessCriteriaMet":
			j.Ends = kind
		case "Suspended":
			f.state, j.Suspended = pending, true
		}
	}
	count := func(name string) int64 { n, _ := status.Get(name).Int64(); return n }
	j.Failed, j.Succeeded, j.Active = count("failed"), count("succeeded"), count("active")
	j.onFailure = spec.Get("template").Get("spec").Get("restartPolicy").Text() == "OnFailure"
	j.BackoffLimit = 6
	if j.PerIndex != nil {
		j.BackoffLimit = math.MaxInt32
	}
	if n := integer(spec.Get("backoffLimit")); n != nil {
		j.BackoffLimit = *n
	}
	j.FailedIndexes = indexes(status.Get("failedIndexes").Text())
	if limit := integer(spec.Get("activeDeadlineSeconds")); limit != nil && f.state != pending {
		if begun, err := time.Parse(time.RFC3339, status.Get("startTime").Text()); err == nil {
			left := max(begun.Add(time.Duration(min(*limit, math.MaxInt32))*time.Second).Sub(now).Milliseconds(), 0)
			j.DeadlineMillis = &left
		}
	}
	f.job = j
	return ""
}

// given reports whether v is there, and more than null.
func given(v manifest.Value) bool { return v.Exists() && v.Kind() != manifest.Null }

func integer(v manifest.Value) *int64 {
	if n, ok := v.Int64(); ok {
		return &n
	}
	return nil
}

// indexes counts the indexes of a list such as 1,3-5,7.
func indexes(list string) (n int64) {
	if list == "" {
		return 0
	}
	for part := range strings.SplitSeq(list, ",") {
		from, to, ranged := strings.Cut(part, "-")
		a, err := strconv.ParseInt(from, 10, 32)
		b := a
		if ranged && err == nil {
			b, err = strconv.ParseInt(to, 10, 32)
		}
		if err == nil && b >= a {
			n += b - a + 1
		}
	}
	return n
}
