package simulate

import "math/bits"

// units are those of Go's durations, in nanoseconds.
func unit(name string) (nanos uint64, ok bool) {
	switch name {
	case "ns":
		return 1, true
	case "us", "µs", "μs":
		return 1e3, true
	case "ms":
		return 1e6, true
	case "s":
		return 1e9, true
	case "m":
		return 60e9, true
	case "h":
		return 3600e9, true
	}
	return 0, false
}

// DurationFault says what is wrong with a duration.
type DurationFault string

// The faults. The zero value is none.
const (
	DurationOK       DurationFault = ""
	DurationFormat   DurationFault = "bad_format"   // not a number with a unit, such as 90s or 1h30m
	DurationNegative DurationFault = "negative"     // below 0
	DurationTooLong  DurationFault = "too_long"     // more than [MaxUntil]
	DurationTooFine  DurationFault = "not_a_millis" // not a whole number of milliseconds
)

// ParseDuration reads a duration as Go and Kubernetes spell it: a sequence of decimal numbers, each with a unit of h,
// m, s, ms, us and ns, such as 90s or 1h30m. It differs in its range: 0 to [MaxUntil], in whole milliseconds.
//
// Source: ParseDuration in Go's package time, which metav1.Duration uses.
func ParseDuration(s string) (Millis, DurationFault) {
	if s == "" {
		return 0, DurationFormat
	}
	negative := s[0] == '-'
	if s[0] == '-' || s[0] == '+' {
		s = s[1:]
	}
	if s == "0" {
		return 0, DurationOK
	}
	if s == "" {
		return 0, DurationFormat
	}
	var millis, nanos uint64
	long := false
	for s != "" {
		var part durationPart
		if part, s = nextPart(s); !part.ok {
			return 0, DurationFormat
		}
		long = long || part.long
		millis += part.millis
		nanos += part.nanos
		if long || millis > uint64(MaxUntil)+1 {
			long, millis, nanos = true, 0, 0
		}
	}
	millis += nanos / 1e6
	switch {
	case negative && (long || millis > 0 || nanos > 0):
		return 0, DurationNegative
	case long || millis > uint64(MaxUntil):
		return 0, DurationTooLong
	case nanos%1e6 != 0:
		return 0, DurationTooFine
	}
	return Millis(millis), DurationOK
}

// durationPart is one number with its unit. long: more than any duration may be; the rest is then meaningless.
type durationPart struct {
	millis, nanos uint64 // nanos: less than two milliseconds
	long, ok      bool
}

func nextPart(s string) (p durationPart, rest string) {
	whole, i := uint64(0), 0
	for ; i < len(s) && isDigit(s[i]); i++ {
		if whole < 1<<59 {
			whole = whole*10 + uint64(s[i]-'0')
		} else {
			p.long = true
		}
	}
	digits := i
	fraction, scale := uint64(0), uint64(1)
	if i < len(s) && s[i] == '.' {
		for i++; i < len(s) && isDigit(s[i]); i++ {
			digits++
			if scale < 1e15 { // what follows is less than a millisecond of an hour's fraction
				fraction, scale = fraction*10+uint64(s[i]-'0'), scale*10
			}
		}
	}
	if digits == 0 {
		return p, s
	}
	end := i
	for end < len(s) && s[end] != '.' && !isDigit(s[end]) {
		end++
	}
	nanos, known := unit(s[i:end])
	p.ok = known
	hi, lo := bits.Mul64(whole, nanos)
	if hi >= 1e6 {
		p.long = true
		return p, s[end:]
	}
	p.millis, p.nanos = bits.Div64(hi, lo, 1e6)
	hi, lo = bits.Mul64(fraction, nanos)
	part, _ := bits.Div64(hi, lo, scale) // less than one unit
	p.millis += part / 1e6
	p.nanos += part % 1e6
	p.long = p.long || p.millis > uint64(MaxUntil)+1
	return p, s[end:]
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
