package manifest

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf8"
)

// quantity is an amount of a resource: value times ten to the power of scale, which is -9 to 18.
// The zero quantity is 0.
type quantity struct {
	value  int64
	scale  int
	format quantityFormatKind
	// written is the text, if Kubernetes repeats it as it is.
	written string
	// vague: more digits than are computed with here, where nothing is said about the amount.
	vague bool
	// decimal: Kubernetes computes with a big number, which it prints with its address in memory.
	decimal bool
}

type quantityFormatKind uint8

const (
	decimalSI quantityFormatKind = iota
	binarySI
	decimalExponent
)

func (f quantityFormatKind) String() string {
	switch f {
	case binarySI:
		return "BinarySI"
	case decimalExponent:
		return "DecimalExponent"
	}
	return "DecimalSI"
}

const (
	smallestScale = -9 // what is smaller is rounded up
	largestScale  = 18
	listedScale   = -3 // of requests and limits
)

// readQuantityOf returns the quantity that v is, 0 if it is absent or null.
//
//go:noinline
func readQuantityOf(v Value) quantity {
	if v.Kind() != String && v.Kind() != Number {
		return quantity{}
	}
	return readQuantity(v.lexeme())
}

// readQuantity reads a quantity in which [quantityFault] finds no fault; raw is as there.
//
// Source: ParseQuantity in k8s.io/apimachinery v0.33 to v0.37, pkg/api/resource/quantity.go.
func readQuantity(raw string) quantity {
	if len(raw) >= 2 && raw[0] == '"' {
		raw = raw[1 : len(raw)-1]
	}
	whole := raw
	if raw == "" || raw[0] <= ' ' || raw[0] >= utf8.RuneSelf || raw[len(raw)-1] <= ' ' || raw[len(raw)-1] >= utf8.RuneSelf {
		whole = trimSpace(raw)
	}
	s := whole
	negative := strings.HasPrefix(s, "-")
	if negative || strings.HasPrefix(s, "+") {
		s = s[1:]
	}
	for strings.HasPrefix(s, "0") {
		s = s[1:]
	}
	digits := s[:countDigits(s)]
	s = s[len(digits):]
	decimals := ""
	if strings.HasPrefix(s, ".") {
		decimals = s[1:][:countDigits(s[1:])]
		s = s[1+len(decimals):]
	}
	binary, exponent, _ := quantityExponent(s)
	if digits == "" {
		digits = "0"
	}
	q := quantity{format: decimalSI}
	if whole == "0" {
		q.written = whole
		return q
	}
	if binary {
		q.format = binarySI
	} else if s != "" && (s[0] == 'e' || s[0] == 'E') && len(s) > 1 {
		q.format = decimalExponent
	} else {
		exponent = decimalPower(s)
	}
	const small = 18 // digits with which Kubernetes computes without a big number
	many := len(digits)+len(decimals) > small
	all := digits
	if decimals != "" {
		all += decimals
	}
	number, err := strconv.ParseInt(all, 10, 64)
	if err != nil {
		q.vague = true
		return q
	}
	if !binary {
		q.scale = int(exponent) - len(decimals)
		q.value = number
		q.decimal = q.scale < smallestScale || many
		if q.scale%3 == 0 && !strings.HasSuffix(all, "000") && all[0] != '0' {
			q.written = whole
		}
	} else {
		high, low := bits.Mul64(uint64(number), 1<<exponent)
		over := high != 0 || low > math.MaxInt64
		if over { // at most this
			low = math.MaxInt64
		}
		q.vague = over && decimals != ""
		q.value, q.scale = int64(low), -len(decimals)
		q.decimal = over || decimals != "" || small-3-len(digits)-int(exponent)*3/10-1 < 0
		if number&7 != 0 {
			q.written = whole
		}
	}
	if q.decimal {
		q.written = ""
		for q.scale < smallestScale && q.value != 0 {
			q.value, q.scale = roundedUp(q.value), q.scale+1
		}
		if binary && q.value != 0 && q.cmp(quantity{value: 1}) < 0 {
			q.format = decimalSI
		}
	}
	if negative {
		q.value = -q.value
	}
	if q.value == 0 {
		q.scale = 0
	}
	q.vague = q.vague || q.scale > largestScale
	return q
}

// decimalPower returns the power of ten of a suffix.
func decimalPower(suffix string) int32 {
	if suffix == "" {
		return 0
	}
	return 3 * int32(strings.IndexByte("num kMGTPE", suffix[0])-3)
}

// roundedUp returns a tenth of n, rounded away from zero.
//
//go:noinline
func roundedUp(n int64) int64 {
	switch rest := n % 10; {
	case rest > 0:
		return n/10 + 1
	case rest < 0:
		return n/10 - 1
	}
	return n / 10
}

// listed returns q as it is in a list of requests or limits: in thousandths at least.
//
// Source: SetDefaults_ResourceList in pkg/apis/core/v1/defaults.go, Kubernetes v1.33 to v1.37.
//
//go:noinline
func (q quantity) listed() quantity {
	if q.decimal {
		q.written = ""
	}
	for q.scale < listedScale && q.value != 0 {
		q.value, q.scale, q.written = roundedUp(q.value), q.scale+1, ""
	}
	return q
}

func (q quantity) isZero() bool { return q.value == 0 && !q.vague }

func (q quantity) negative() bool { return q.value < 0 && !q.vague }

// cmp compares q with other as numbers do. Neither is vague.
func (q quantity) cmp(other quantity) int {
	a, b := q.magnitude(other.scale), other.magnitude(q.scale)
	sign := 1
	switch {
	case q.value < 0 && other.value >= 0:
		return -1
	case q.value >= 0 && other.value < 0:
		return 1
	case q.value < 0:
		sign = -1
	}
	for i := range a {
		switch {
		case a[i] < b[i]:
			return -sign
		case a[i] > b[i]:
			return sign
		}
	}
	return 0
}

// magnitude returns |q| at the smaller scale of q and other, the high 64 bits first.
func (q quantity) magnitude(other int) [3]uint64 {
	n := q.value
	if n < 0 {
		n = -n
	}
	words := [3]uint64{0, 0, uint64(n)}
	for s := q.scale; s > other; s-- {
		carry := uint64(0)
		for i := 2; i >= 0; i-- {
			high, low := bits.Mul64(words[i], 10)
			var over uint64
			low, over = bits.Add64(low, carry, 0)
			words[i], carry = low, high+over
		}
	}
	return words
}

// counts reports whether Kubernetes takes q for an integer: it looks at its thousandths, which
// overflow when q is large.
//
// Source: positiveScaleInt64 in k8s.io/apimachinery v0.33 to v0.37, pkg/api/resource/math.go, which
// multiplies by some powers at once, and gives 0 for the others when they are too much.
func (q quantity) counts() bool {
	if q.scale < listedScale {
		return q.whole()
	}
	if powers := q.scale - listedScale; !q.decimal && powers > 3 && powers != 6 && powers != 9 {
		return true
	}
	thousandths := max(q.value, -q.value)
	for s := q.scale; s > listedScale; s-- {
		thousandths *= 10
	}
	return thousandths%1000 == 0
}

// whole reports whether q is an integer.
//
//go:noinline
func (q quantity) whole() bool {
	n := q.value
	for s := q.scale; s < 0 && n != 0; s++ {
		if n%10 != 0 {
			return false
		}
		n /= 10
	}
	return true
}

// units returns q rounded up to an integer; ok is false if that is too large.
//
//go:noinline
func (q quantity) units() (n int64, ok bool) {
	n = q.value
	for s := q.scale; s < 0; s++ {
		n = roundedUp(n)
	}
	for s := q.scale; s > 0; s-- {
		if n > math.MaxInt64/10 || n < math.MinInt64/10 {
			return 0, false
		}
		n *= 10
	}
	return n, !q.vague
}

// String returns q as Kubernetes prints it.
//
// Source: CanonicalizeBytes in k8s.io/apimachinery v0.33 to v0.37, pkg/api/resource/quantity.go.
func (q quantity) String() string {
	switch {
	case q.written != "":
		return q.written
	case q.value == 0:
		return "0"
	}
	if n, ok := q.units(); q.format == binarySI && ok && q.whole() && (n <= -1024 || n >= 1024) {
		power := 0
		for n%1024 == 0 {
			n, power = n/1024, power+1
		}
		return strconv.FormatInt(n, 10) + [...]string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}[power]
	}
	n, power := q.value, q.scale
	for n%10 == 0 {
		n, power = n/10, power+1
	}
	for power%3 != 0 {
		n, power = n*10, power-1
	}
	text := strconv.FormatInt(n, 10)
	switch {
	case power == 0 || power < smallestScale || power > largestScale:
		return text
	case q.format == decimalExponent:
		return text + "e" + strconv.Itoa(power)
	}
	return text + [...]string{"n", "u", "m", "", "k", "M", "G", "T", "P", "E"}[power/3+3]
}

// goSyntax returns q as Kubernetes 1.33 prints it in some places, "" if there are addresses in
// that.
func (q quantity) goSyntax() string {
	if q.decimal {
		return ""
	}
	return "resource.Quantity{i:resource.int64Amount{value:" + strconv.FormatInt(q.value, 10) + ", scale:" + strconv.Itoa(q.scale) +
		"}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:" + strconv.Quote(q.written) + `, Format:"` + q.format.String() + `"}`
}
