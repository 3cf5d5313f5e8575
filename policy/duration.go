package policy

import (
	"math"
	"math/bits"
	"strings"
)

// Duration is a length of time in nanoseconds, as fields of Kubernetes hold it.
type Duration int64

// unitNanos returns the nanoseconds of a unit of Go's duration texts, 0 for a text that is not a
// unit.
func unitNanos(unit string) uint64 {
	switch unit {
	case "ns":
		return 1
	case "us", "µs", "μs": // U+00B5 and U+03BC
		return 1e3
	case "ms":
		return 1e6
	case "s":
		return 1e9
	case "m":
		return 60e9
	case "h":
		return 3600e9
	}
	return 0
}

// ParseDuration reads the text of a duration field as Kubernetes does: a sign, then numbers with
// units (ns, us, ms, s, m, h), such as "1m30.5s"; or "0". There is no unit for days, and no blanks.
// message is "" or the text of the error, which the decoder prints. The range is that of 64-bit
// nanoseconds, about 292 years to both sides.
//
// The part after a decimal point is computed in floating point, as there: the last nanosecond may
// be off.
//
// Source: time.ParseDuration of Go 1.26, which Duration.UnmarshalJSON calls in k8s.io/apimachinery
// v0.33 to v0.37, pkg/apis/meta/v1/duration.go.
func ParseDuration(s string) (d Duration, message string) {
	invalid := "time: invalid duration " + quoteDuration(s)
	rest, negative := cutSign(s)
	if rest == "0" {
		return 0, ""
	}
	if rest == "" {
		return 0, invalid
	}
	var sum uint64
	for rest != "" {
		t, tail, fault := cutTerm(rest)
		switch {
		case fault == termNoUnit:
			return 0, "time: missing unit in duration " + quoteDuration(s)
		case fault == termBadUnit:
			return 0, "time: unknown unit " + quoteDuration(t.unit) + " in duration " + quoteDuration(s)
		case fault != termOK:
			return 0, invalid
		}
		n, ok := t.nanos()
		if sum += n; !ok || sum > 1<<63 {
			return 0, invalid
		}
		rest = tail
	}
	if negative {
		return Duration(-sum), ""
	}
	if sum > math.MaxInt64 {
		return 0, invalid
	}
	return Duration(sum), ""
}

func cutSign(s string) (rest string, negative bool) {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return s[1:], s[0] == '-'
	}
	return s, false
}

// term is one number with its unit.
type term struct {
	whole, fraction string // digits before and after the point
	unit            string
}

type termFault uint8

const (
	termOK termFault = iota
	termNoNumber
	termNoUnit
	termBadUnit
)

// cutTerm takes the first term off s, which is not empty.
func cutTerm(s string) (t term, rest string, fault termFault) {
	t.whole, rest = cutDigits(s)
	if strings.HasPrefix(rest, ".") {
		t.fraction, rest = cutDigits(rest[1:])
	}
	if t.whole == "" && t.fraction == "" {
		return t, "", termNoNumber
	}
	if n, fits := leadingInt(t.whole); !fits || n > 1<<63 {
		return t, "", termNoNumber // complained about before the unit is looked at
	}
	end := 0
	for end < len(rest) && rest[end] != '.' && (rest[end] < '0' || rest[end] > '9') {
		end++
	}
	t.unit, rest = rest[:end], rest[end:]
	switch {
	case end == 0:
		return t, "", termNoUnit
	case unitNanos(t.unit) == 0:
		return t, "", termBadUnit
	}
	return t, rest, termOK
}

func cutDigits(s string) (digits, rest string) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return s[:i], s[i:]
}

// leadingInt returns the number that digits write; fits is false beyond 2^63.
func leadingInt(digits string) (n uint64, fits bool) {
	for i := range len(digits) {
		if n > (1<<63)/10 {
			return 0, false
		}
		if n = n*10 + uint64(digits[i]-'0'); n > 1<<63 {
			return 0, false
		}
	}
	return n, true
}

// nanos returns the length of t as package time computes it; ok is false beyond 2^63.
func (t term) nanos() (n uint64, ok bool) {
	unit := unitNanos(t.unit)
	n, _ = leadingInt(t.whole)
	if n > (1<<63)/unit {
		return 0, false
	}
	n *= unit
	if f, scale := leadingFraction(t.fraction); f > 0 {
		n += uint64(float64(f) * (float64(unit) / scale))
	}
	return n, n <= 1<<63
}

// leadingFraction returns the digits as a number and the power of ten below it. Digits that do not
// fit are skipped.
func leadingFraction(digits string) (n uint64, scale float64) {
	scale = 1
	for i := range len(digits) {
		if n > math.MaxInt64/10 {
			break
		}
		next := n*10 + uint64(digits[i]-'0')
		if next > 1<<63 {
			break
		}
		n = next
		scale *= 10
	}
	return n, scale
}

// quoteDuration returns s as package time quotes it: bytes outside printable ASCII as \x and two
// digits.
func quoteDuration(s string) string {
	const hex = "0123456789abcdef"
	s, more := Bounded(s)
	b := append(make([]byte, 0, len(s)+2), '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ' || c >= 0x80:
			b = append(b, '\\', 'x', hex[c>>4], hex[c&0xF])
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		default:
			b = append(b, c)
		}
	}
	return string(append(b, '"')) + more
}

// Why a text is no length of time in a request.
const (
	durationForm   = `must be a length of time with units h, m, s, ms, such as "1h30m" or "250ms"`
	durationSign   = "must not be negative"
	durationExact  = "must be a whole number of milliseconds"
	durationLength = "must be at most 1000 years (8766000h)"
)

// MaxHorizon bounds every length of time in a request: 1000 years of 365.25 days. Two of them
// added, or one multiplied by 1000, still fit into Millis.
const MaxHorizon = 8_766_000 * 3600 * Second

// ParseMillis reads a length of time in a request of Podfate: the text of a duration field, but
// exact, not negative, a whole number of milliseconds and at most [MaxHorizon]. code and detail are
// "" or say what is wrong.
func ParseMillis(s string) (m Millis, code FaultCode, detail string) {
	rest, negative := cutSign(s)
	if rest == "0" {
		return 0, "", ""
	}
	if rest == "" {
		return 0, CodeBadFormat, durationForm
	}
	var sum nanos128
	for rest != "" {
		t, tail, fault := cutTerm(rest)
		if fault == termNoNumber && t.whole != "" {
			return 0, CodeOutOfRange, durationLength
		}
		if fault != termOK {
			return 0, CodeBadFormat, durationForm
		}
		exact, ok := t.exactNanos()
		if !ok {
			return 0, CodeOutOfRange, durationExact
		}
		if sum = sum.add(exact); sum.hi >= 1e6 {
			return 0, CodeOutOfRange, durationLength
		}
		rest = tail
	}
	ms, below := bits.Div64(sum.hi, sum.lo, 1e6)
	switch {
	case negative && (ms > 0 || below > 0):
		return 0, CodeOutOfRange, durationSign
	case ms > uint64(MaxHorizon):
		return 0, CodeOutOfRange, durationLength
	case below != 0:
		return 0, CodeOutOfRange, durationExact
	}
	return Millis(ms), "", ""
}

// nanos128 is a number of nanoseconds of 128 bits.
type nanos128 struct{ hi, lo uint64 }

func (a nanos128) add(b nanos128) nanos128 {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	return nanos128{a.hi + b.hi + carry, lo}
}

// exactNanos returns the length of t; ok is false if it is no whole number of nanoseconds. The
// whole part is at most 2^63, so that the result is far from overflow.
func (t term) exactNanos() (n nanos128, ok bool) {
	unit := unitNanos(t.unit)
	whole, _ := leadingInt(t.whole)
	n.hi, n.lo = bits.Mul64(whole, unit)
	fraction := strings.TrimRight(t.fraction, "0")
	if len(fraction) > 13 { // an hour has 3.6e12 ns: more digits leave a part of one
		return n, fraction == ""
	}
	f, _ := leadingInt(fraction)
	power := uint64(1)
	for range len(fraction) {
		power *= 10
	}
	hi, lo := bits.Mul64(f, unit)
	part, remainder := bits.Div64(hi, lo, power)
	return n.add(nanos128{0, part}), remainder == 0
}
