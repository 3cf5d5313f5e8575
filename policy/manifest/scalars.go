package manifest

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/podfate/podfate/policy"
)

// The errors of resource.ParseQuantity.
const (
	quantityFormat  = `quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`
	quantityNumeric = "unable to parse numeric part of quantity"
	quantitySuffix  = "unable to parse quantity's suffix"
)

// quantityFault returns what Kubernetes says against a quantity, "" when it reads it. raw is the
// JSON text, quotes included: escapes are not decoded, so that "\u0031" is no quantity.
//
// Source: Quantity.UnmarshalJSON and ParseQuantity in k8s.io/apimachinery v0.36,
// pkg/api/resource/quantity.go.
func quantityFault(raw string) string {
	if len(raw) >= 2 && raw[0] == '"' {
		raw = raw[1 : len(raw)-1]
	}
	s := raw
	if s == "" || !digit(s[0]) || s[len(s)-1] >= utf8.RuneSelf || s[len(s)-1] <= ' ' { // else there is nothing to trim
		s = trimSpace(raw)
	}
	if s == "" {
		return quantityFormat
	}
	if s[0] == '-' || s[0] == '+' {
		s = s[1:]
	}
	whole := s
	for strings.HasPrefix(whole, "0") {
		whole = whole[1:]
	}
	if whole == "" { // a sign alone is zero, too
		return ""
	}
	zeros := len(whole) < len(s)
	digits := countDigits(whole)
	rest := whole[digits:]
	decimals := 0
	if strings.HasPrefix(rest, ".") {
		decimals = countDigits(rest[1:])
		rest = rest[1+decimals:]
	}
	suffix := rest
	for rest != "" && strings.IndexByte("eEinumkKMGTP", rest[0]) >= 0 {
		rest = rest[1:]
	}
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		rest = rest[1:]
	}
	if countDigits(rest) != len(rest) {
		return quantityFormat
	}
	binary, exponent, ok := quantityExponent(suffix)
	if !ok {
		return quantitySuffix
	}
	// Kubernetes computes small values with integers, which never asks for a digit; others as text,
	// which does.
	small := exponent >= -9
	if binary {
		small = exponent < 50
	}
	if !zeros && digits == 0 && decimals == 0 && !small {
		return quantityNumeric
	}
	return ""
}

// trimSpace is strings.TrimSpace without the tables of package unicode, which are 40 KB of the
// module.
func trimSpace(s string) string {
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		if !space(r) {
			break
		}
		s = s[size:]
	}
	for s != "" {
		r, size := utf8.DecodeLastRuneInString(s)
		if !space(r) {
			break
		}
		s = s[:len(s)-size]
	}
	return s
}

// space reports whether r is white space in the sense of Unicode.
func space(r rune) bool {
	switch r {
	case ' ', 0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000:
		return true
	}
	return '\t' <= r && r <= '\r' || 0x2000 <= r && r <= 0x200A
}

// quantityExponent reads a suffix: a power of ten, or with binary a power of two.
func quantityExponent(suffix string) (binary bool, exponent int32, ok bool) {
	switch suffix {
	case "", "n", "u", "m", "k", "M", "G", "T", "P", "E":
		return false, 0, true
	case "Ki", "Mi", "Gi", "Ti", "Pi", "Ei":
		return true, 10 * int32(1+strings.IndexByte("KMGTPE", suffix[0])), true
	}
	if suffix[0] != 'e' && suffix[0] != 'E' {
		return false, 0, false
	}
	n, err := strconv.ParseInt(suffix[1:], 10, 64)
	return false, int32(n), err == nil // cut to 32 bits there as well
}

// countDigits returns how many digits s begins with.
func countDigits(s string) int {
	n := 0
	for n < len(s) && digit(s[n]) {
		n++
	}
	return n
}

// timeFault returns what Kubernetes says against a point in time, "" when it reads it.
//
// Source: Parse in package time of Go 1.26 with the layout RFC3339, as metav1.Time uses it. It is
// laxer than RFC 3339: hours of one digit, a comma before the fraction, offsets up to 24:60.
func timeFault(text string) string {
	_, fault := ParseTime(text)
	return fault
}

// ParseTime returns the instant of a time field in milliseconds since 1970, which may be negative,
// and what Kubernetes says against the text, "" when it reads it. What is below a millisecond is
// cut off.
func ParseTime(text string) (millis int64, fault string) {
	p := timeParser{rest: text}
	year := p.year()
	p.literal("-")
	month := p.number("01", 1, 12, "month")
	p.literal("-")
	day := p.number("02", 0, 99, "")
	p.literal("T")
	seconds := 3600 * p.number("15", 0, 23, "hour")
	p.literal(":")
	seconds += 60 * p.number("04", 0, 59, "minute")
	p.literal(":")
	seconds += p.number("05", 0, 59, "second")
	millis = int64(p.fraction())
	seconds -= 60 * p.zone()
	if p.fault == "" && p.element == "" && p.rest != "" {
		p.fault = ": extra text: " + timeQuote(p.rest)
	}
	if p.fault == "" && p.element == "" && (day < 1 || day > daysIn(month, year)) {
		p.fault = ": day out of range"
	}
	switch {
	case p.fault != "":
		return 0, "parsing time " + timeQuote(text) + p.fault
	case p.element != "":
		return 0, "parsing time " + timeQuote(text) + ` as "2006-01-02T15:04:05Z07:00": cannot parse ` +
			timeQuote(p.rest) + " as " + timeQuote(p.element)
	}
	return 1000*(86400*int64(dayNumber(year, month, day))+int64(seconds)) + millis, ""
}

// Began returns when the run of a container began whose state this is, running or terminated: its
// startedAt. Where the runtime could not start it (StartError) that says 1970; what never ran ended
// as soon as it began.
//
// Source: toKubeContainerStatus, pkg/kubelet/kuberuntime/kuberuntime_container.go, v1.36:
// time.Unix(0, 0) where the runtime has no time.
func Began(state Value) Value {
	started, finished := state.Get("startedAt"), state.Get("finishedAt")
	if started.Kind() == String && finished.Kind() == String {
		if at, fault := ParseTime(started.Str()); fault == "" && at <= 0 {
			return finished
		}
	}
	return started
}

// dayNumber counts days from the first of January 1970.
func dayNumber(year, month, day int) int {
	// With March as its first month, a year has its leap day at the end: Howard Hinnant,
	// days_from_civil.
	if year += 400; month < 3 { // in 400 years there are as many days wherever they begin
		year, month = year-1, month+12
	}
	return 365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 719469 - 146097
}

// timeParser reads a time from left to right. Once fault or element is set nothing more is read.
type timeParser struct {
	rest    string
	fault   string // out of range
	element string // the part of the layout that rest does not begin with
}

func (p *timeParser) done() bool { return p.fault != "" || p.element != "" }

func (p *timeParser) literal(s string) {
	if p.done() {
		return
	}
	rest, found := strings.CutPrefix(p.rest, s)
	if !found {
		p.element = s
		return
	}
	p.rest = rest
}

func (p *timeParser) year() int {
	if countDigits(p.rest[:min(4, len(p.rest))]) < 4 {
		p.element = "2006"
		return 0
	}
	year, _ := strconv.Atoi(p.rest[:4])
	p.rest = p.rest[4:]
	return year
}

// number reads two digits; of an hour one is enough.
func (p *timeParser) number(element string, low, high int, name string) int {
	if p.done() {
		return 0
	}
	n := countDigits(p.rest[:min(2, len(p.rest))])
	if n == 0 || n == 1 && name != "hour" {
		p.element = element
		return 0
	}
	value, _ := strconv.Atoi(p.rest[:n])
	if value < low || high < value {
		p.fault = ": " + name + " out of range"
	}
	p.rest = p.rest[n:]
	return value
}

// fraction reads what may be after the seconds and returns it in milliseconds.
func (p *timeParser) fraction() (millis int) {
	if !p.done() && len(p.rest) >= 2 && (p.rest[0] == '.' || p.rest[0] == ',') && digit(p.rest[1]) {
		n := countDigits(p.rest[1:])
		for i := range 3 {
			if millis *= 10; i < n {
				millis += int(p.rest[1+i] - '0')
			}
		}
		p.rest = p.rest[1+n:]
	}
	return millis
}

// zone reads the offset of the local time and returns it in minutes.
func (p *timeParser) zone() int {
	if p.done() {
		return 0
	}
	if strings.HasPrefix(p.rest, "Z") {
		p.rest = p.rest[1:]
		return 0
	}
	const element = "Z07:00"
	s := p.rest
	if len(s) < 6 || s[3] != ':' {
		p.element = element
		return 0
	}
	hour, hourOK := twoDigits(s[1:3])
	minute, minuteOK := 0, false
	if hourOK {
		minute, minuteOK = twoDigits(s[4:6])
	}
	switch {
	case minute > 60:
		p.fault = ": time zone offset minute out of range"
	case hour > 24:
		p.fault = ": time zone offset hour out of range"
	case !minuteOK || s[0] != '+' && s[0] != '-':
		p.element = element
	default:
		p.rest = s[6:]
		if s[0] == '-' {
			return -60*hour - minute
		}
		return 60*hour + minute
	}
	return 0
}

func twoDigits(s string) (n int, ok bool) {
	if countDigits(s) < 2 {
		return 0, false
	}
	return int(s[0]-'0')*10 + int(s[1]-'0'), true
}

func daysIn(month, year int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// timeQuote quotes as package time of Go does in its errors: not like strconv. Of a text longer
// than policy.MaxQuotedBytes the rest is left out, which an ellipsis after the quote shows.
func timeQuote(s string) string {
	if len(s) > policy.MaxQuotedBytes {
		return timeQuote(s[:policy.MaxQuotedBytes]) + "…"
	}
	b := make([]byte, 0, len(s)+2)
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c >= utf8.RuneSelf || c < ' ':
			b = append(b, '\\', 'x', hexDigits[c>>4], hexDigits[c&0xF])
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		default:
			b = append(b, c)
		}
	}
	return string(append(b, '"'))
}

// overflowsFloat64 reports whether a number, as it is written in JSON, is larger than a float64 can
// be.
func overflowsFloat64(lexeme string) bool {
	const before, fraction, exponent = 0, 1, 2
	part, power, digits := before, 0, make([]byte, 0, MaxNumberBytes)
	for i := range len(lexeme) {
		switch c := lexeme[i]; {
		case c == 'e' || c == 'E':
			n, _ := strconv.Atoi(lexeme[i+1:])
			power += n
			part = exponent
		case c == '.':
			part = fraction
		case !digit(c) || part == exponent:
		case c == '0' && len(digits) == 0: // a zero in front
			if part == fraction {
				power--
			}
		default:
			digits = append(digits, c)
			if part == before {
				power++
			}
		}
	}
	// Now the number is 0.digits times ten to the power. From limit on numbers round to infinity:
	// it is halfway between the largest float64 and what would be the next. It has more digits than
	// a lexeme, so that texts compare as numbers.
	const limit = "17976931348623158079372897140530341507993413271003782693617377898044496829276475"
	return len(digits) > 0 && (power > 309 || power == 309 && string(digits) >= limit)
}
