package policy

import (
	"strconv"
	"strings"
)

// Faults collects faults in the order in which they are found. A request of 1 MiB can have a
// hundred thousand; of each of two kinds, words that a kubelet ignores
// ([FieldError.UnknownWord]) and all others, it keeps the first
// [MaxKeptFaults] and counts the rest. The zero Faults is empty.
type Faults struct {
	kept          []FieldError
	words, others tally
	lost          bool       // the last one was not kept
	blank         FieldError // stands for it
}

// tally counts faults that are kept and those that are not.
type tally struct{ kept, more int }

// Add notes one more fault.
func (l *Faults) Add(e FieldError) {
	if !l.Skip(e.Path, e.Code) {
		l.of(e.Path, e.Code).kept++
		l.kept = append(l.kept, e)
	}
}

// Skip reports whether a fault with this path and code will not be kept, and counts it then: the
// rest of it need not be put together, which would be most of the garbage of a bad request.
func (l *Faults) Skip(path string, code FaultCode) bool {
	t := l.of(path, code)
	if l.lost = t.kept >= MaxKeptFaults && code != CodePanics; l.lost {
		t.more++
	}
	return l.lost
}

// Full reports whether faults whose path ends so will not be kept, whatever their code.
func (l *Faults) Full(end string) bool {
	return l.others.kept >= MaxKeptFaults && (l.words.kept >= MaxKeptFaults || !unknownWord(end, CodeUnsupported))
}

// Kept returns the faults that are kept, in their order, to be completed.
func (l *Faults) Kept() []FieldError { return l.kept }

func (l *Faults) of(path string, code FaultCode) *tally {
	if unknownWord(path, code) {
		return &l.words
	}
	return &l.others
}

// Last returns the fault that was added last, to be completed; of one that was not kept, something
// that does not matter. It is not for an empty list.
func (l *Faults) Last() *FieldError {
	if l.lost {
		return &l.blank
	}
	return &l.kept[len(l.kept)-1]
}

// All returns the faults in their order, and then what [TooManyFaults] makes of those that were
// only counted: an entry for each kind. CodePanics, after which nothing is checked, stays the last.
func (l *Faults) All() []FieldError {
	for _, more := range []FieldError{TooManyFaults(l.others.more), {Type: TypeUnsupported, Code: CodeTooManyFaults, more: l.words.more}} {
		if n := len(l.kept); more.more > 0 {
			l.kept = append(l.kept, more)
			if l.kept[n-1].Code == CodePanics {
				l.kept[n-1], l.kept[n] = more, l.kept[n-1]
			}
		}
	}
	return l.kept
}

// TooManyFaults returns the entry that stands for n faults which are not listed.
func TooManyFaults(n int) FieldError {
	return FieldError{Code: CodeTooManyFaults, Detail: strconv.Itoa(n) + " more faults are not listed", more: n}
}

// More returns how many faults e stands for; 0 if it is one itself.
func (e *FieldError) More() int { return e.more }

// UnknownWord reports whether e is about an action or an operator that the API server does not
// know, or stands for such faults: the kubelet has an answer to them.
func (e *FieldError) UnknownWord() bool {
	if e.more > 0 {
		return e.Type == TypeUnsupported
	}
	return unknownWord(e.Path, e.Code)
}

func unknownWord(path string, code FaultCode) bool {
	return code == CodeUnsupported && (strings.HasSuffix(path, "].action") ||
		strings.HasSuffix(path, ".exitCodes.operator") || strings.HasSuffix(path, ".onExitCodes.operator"))
}
