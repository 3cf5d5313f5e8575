package manifest

import (
	"strconv"
	"strings"

	"github.com/podfate/podfate/policy"
)

// scheduleFault returns what is wrong with the schedule of a CronJob, "" if nothing is. A time zone
// in front of it is skipped.
//
// Source: ParseStandard in github.com/robfig/cron v3.0.1, parser.go.
func scheduleFault(s string) string {
	if strings.HasPrefix(s, "TZ=") || strings.HasPrefix(s, "CRON_TZ=") {
		i := strings.IndexByte(s, ' ')
		if i < 0 {
			return "invalid schedule format: runtime error: slice bounds out of range [:-1]"
		}
		s = trimSpaces(s[i:])
	}
	if strings.HasPrefix(s, "@") {
		return descriptorFault(s)
	}
	fields := scheduleFields(s)
	if len(fields) != len(scheduleParts) {
		return "expected exactly 5 fields, found " + strconv.Itoa(len(fields)) + ": [" + cut(strings.Join(fields, " ")) + "]"
	}
	for i, field := range fields {
		for part := range strings.SplitSeq(field, ",") {
			if part == "" {
				continue
			}
			if fault := rangeFault(part, scheduleParts[i]); fault != "" {
				return fault
			}
		}
	}
	return ""
}

// schedulePart is a field of a schedule: what it may be, and names of its numbers from low on.
type schedulePart struct {
	low, high int
	names     string
}

var scheduleParts = [...]schedulePart{
	{0, 59, ""}, {0, 23, ""}, {1, 31, ""}, {1, 12, "jan feb mar apr may jun jul aug sep oct nov dec"}, {0, 6, "sun mon tue wed thu fri sat"},
}

// scheduleFields splits a schedule at its spaces.
func scheduleFields(s string) (fields []string) {
	for s = trimSpaces(s); s != ""; s = trimSpaces(s) {
		end := 0
		for end < len(s) && !blank(s[end]) {
			end++
		}
		fields = append(fields, s[:end])
		s = s[end:]
	}
	return fields
}

func blank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func trimSpaces(s string) string {
	for s != "" && blank(s[0]) {
		s = s[1:]
	}
	for s != "" && blank(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

func descriptorFault(s string) string {
	if among(s, "@yearly @annually @monthly @weekly @daily @midnight @hourly") {
		return ""
	}
	if every, ok := strings.CutPrefix(s, "@every "); ok {
		if _, message := policy.ParseDuration(every); message != "" {
			return "failed to parse duration " + cut(s) + ": " + message
		}
		return ""
	}
	return "unrecognized descriptor: " + cut(s)
}

// rangeFault returns what is wrong with a number, or with two and a step.
func rangeFault(s string, p schedulePart) string {
	steps := strings.Split(s, "/")
	ends := strings.Split(steps[0], "-")
	from, to, step := p.low, p.high, 1
	var fault string
	if ends[0] != "*" && ends[0] != "?" {
		if from, fault = p.number(ends[0]); fault != "" {
			return fault
		}
		switch len(ends) {
		case 1:
			to = from
		case 2:
			if to, fault = p.number(ends[1]); fault != "" {
				return fault
			}
		default:
			return "too many hyphens: " + cut(s)
		}
	}
	switch len(steps) {
	case 1:
	case 2:
		if step, fault = scheduleNumber(steps[1]); fault != "" {
			return fault
		}
		if len(ends) == 1 {
			to = p.high
		}
	default:
		return "too many slashes: " + cut(s)
	}
	switch {
	case from < p.low:
		return "beginning of range (" + strconv.Itoa(from) + ") below minimum (" + strconv.Itoa(p.low) + "): " + cut(s)
	case to > p.high:
		return "end of range (" + strconv.Itoa(to) + ") above maximum (" + strconv.Itoa(p.high) + "): " + cut(s)
	case from > to:
		return "beginning of range (" + strconv.Itoa(from) + ") beyond end of range (" + strconv.Itoa(to) + "): " + cut(s)
	case step == 0:
		return "step of range should be a positive number: " + cut(s)
	}
	return ""
}

// number reads a number or the name of one.
func (p schedulePart) number(s string) (n int, fault string) {
	n = p.low
	for names := p.names; names != ""; n++ {
		var name string
		if name, names = nextWord(names); policy.EqualFold(name, s) {
			return n, ""
		}
	}
	return scheduleNumber(s)
}

func scheduleNumber(s string) (n int, fault string) {
	n, err := strconv.Atoi(s)
	switch {
	case err != nil:
		return 0, "failed to parse int from " + cut(s) + ": " + cut(err.Error())
	case n < 0:
		return 0, "negative number (" + strconv.Itoa(n) + ") not allowed: " + cut(s)
	}
	return n, ""
}
