package policy

import (
	"strconv"
	"strings"
)

// DraftRule is what a rule of the draft of KEP-3329 says besides what [PodFailurePolicyRule] holds.
type DraftRule struct {
	Conditions int          // how many conditions there are
	Faults     []DraftFault // what is wrong with their texts
	Action     string       // the draft's word
	NamedAt    string       // path of a containerName that is next to a reason, "" for none
	NumberAt   string       // path of exit codes that are a number in place of a text, "" for none
	CodesAt    string       // path of the exit codes, "" for none
	NameAt     string       // path of the container's name beside them

	// Of expressions on conditions of the Pod, of which each type and status makes one: how many a
	// type has, 0 where there are none, and the paths of the values.
	PerType             int
	TypesAt, StatusesAt string
}

// CodesPath is the path of the exit codes in r, as its author spelt them.
func (r *PodFailurePolicyRule) CodesPath() string {
	if d := r.Written; d != nil && d.CodesAt != "" {
		return d.CodesAt
	}
	return ".onExitCodes"
}

// NamePath is the path of the container's name beside the exit codes of r.
func (r *PodFailurePolicyRule) NamePath() string {
	if d := r.Written; d != nil && d.CodesAt != "" {
		return d.NameAt
	}
	return ".onExitCodes.containerName"
}

// PatternPaths returns the paths of type and status of condition k of r, "" for one that an earlier
// condition has from the same place: expressions make one of each type and status.
func (r *PodFailurePolicyRule) PatternPaths(k int) (typeAt, statusAt string) {
	d := r.Written
	if d == nil || d.PerType == 0 {
		at := ".onPodConditions" + Index(k)
		return at + ".type", at + ".status"
	}
	if k%d.PerType == 0 {
		typeAt = d.TypesAt + Index(k/d.PerType)
	}
	if k < d.PerType {
		statusAt = d.StatusesAt + Index(k)
	}
	return typeAt, statusAt
}

// PatternPath is the path of condition k of r, or of the expression that it has its type from.
func (r *PodFailurePolicyRule) PatternPath(k int) string {
	if d := r.Written; d != nil && d.PerType > 0 {
		return d.TypesAt + Index(k/d.PerType)
	}
	return ".onPodConditions" + Index(k)
}

// DraftFault is what is wrong with a condition.
type DraftFault struct {
	At, Detail string // path in the rule
	Operator   string // in place of a detail: one that is neither In nor NotIn
}

// codeRanges says what exit codes may look like.
const codeRanges = "; allowed are such as 3,8-10"

// CodeRanges reads exit codes such as "1-12,100-127" into set, with spaces where people put them,
// and returns what is wrong with them, "" for nothing.
func CodeRanges(text string, set *[256]bool) (fault string) {
	for rest, more := text, true; more; {
		var part string
		if part, rest, more = strings.Cut(rest, ","); strings.TrimSpace(part) == "" {
			return "a code or a range is missing in " + Quoted(text) + codeRanges
		}
		from, to, isRange := strings.Cut(part, "-")
		low, err := strconv.Atoi(strings.TrimSpace(from))
		high := low
		if err == nil && isRange {
			high, err = strconv.Atoi(strings.TrimSpace(to))
		}
		switch {
		case err != nil || low < 0 || high > 255:
			return Quoted(strings.TrimSpace(part)) + " is no exit code from 0 to 255 and no range of them" + codeRanges
		case low > high:
			return "the range " + Quoted(strings.TrimSpace(part)) + " goes down" + codeRanges
		}
		for code := low; code <= high; code++ {
			set[code] = true
		}
	}
	return ""
}

// RulesField returns the path of the rules on failed Pods in the spec of the Job.
func (j *Job) RulesField() string {
	if j.PodFailurePolicy != nil && j.PodFailurePolicy.Draft {
		return "backoffPolicy.rules"
	}
	return "podFailurePolicy.rules"
}

// holds reports whether a condition on the reason of a Pod holds for reason.
func (c *PodReasons) holds(reason string) bool {
	found := false
	for _, v := range c.Values {
		found = found || v == reason
	}
	return found == (c.Operator == OperatorIn)
}
