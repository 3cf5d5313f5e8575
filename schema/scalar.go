package schema

import (
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/podfate/podfate/policy"
	"go.yaml.in/yaml/v3"
)

// scalarKind is what a scalar of YAML 1.1 turns into.
type scalarKind uint8

const (
	textScalar scalarKind = iota
	nullScalar
	boolScalar
	intScalar
	floatScalar
)

// scalar is what sigs.k8s.io/yaml makes of a scalar node.
type scalar struct {
	kind  scalarKind
	bool  bool
	int   int64   // of an intScalar, unless big
	big   uint64  // an intScalar above the largest int64
	float float64 // of a floatScalar
	text  string  // of a textScalar
}

// Words of YAML 1.1 that a plain scalar means a boolean or a special number by. The node tree of
// yaml/v3 follows YAML 1.2 here, Kubernetes does not.
var (
	trueWords  = words("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON")
	falseWords = words("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF")
	nullWords  = words("", "~", "null", "Null", "NULL")
	nanWords   = words(".nan", ".NaN", ".NAN")
	infWords   = words(".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF")
	minusWords = words("-.inf", "-.Inf", "-.INF")
)

func words(list ...string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, w := range list {
		set[w] = true
	}
	return set
}

// resolve returns what sigs.k8s.io/yaml makes of scalar n. It is only used for names of keys, for
// notes and for what JSON cannot say: the values of a document come from sigs.k8s.io/yaml itself. A
// fuzz test holds the two together.
//
// Source: resolve in go.yaml.in/yaml/v2 v2.4, which sigs.k8s.io/yaml v1.6 reads with.
func resolve(n *yaml.Node) scalar {
	if n.Style&yaml.TaggedStyle != 0 {
		switch n.Tag {
		case "!!int", "!!bool", "!!null":
			return resolvePlain(n.Value)
		case "!!float":
			s := resolvePlain(n.Value)
			if s.kind == intScalar && s.big == 0 {
				s = scalar{kind: floatScalar, float: float64(s.int)}
			}
			return s
		}
		return scalar{text: n.Value}
	}
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return scalar{text: n.Value}
	}
	return resolvePlain(n.Value)
}

// resolvePlain is resolve for the text of a plain scalar.
func resolvePlain(in string) scalar {
	if in == "" {
		return scalar{kind: nullScalar}
	}
	switch c := in[0]; {
	case '0' <= c && c <= '9', c == '+', c == '-', c == '.':
	case strings.IndexByte("yYnNtTfFoO~", c) >= 0 && len(in) <= len("false"):
	default:
		return scalar{text: in}
	}
	switch {
	case trueWords[in], falseWords[in]:
		return scalar{kind: boolScalar, bool: trueWords[in]}
	case nullWords[in]:
		return scalar{kind: nullScalar}
	case nanWords[in]:
		return scalar{kind: floatScalar, float: math.NaN()}
	case infWords[in]:
		return scalar{kind: floatScalar, float: math.Inf(1)}
	case minusWords[in]:
		return scalar{kind: floatScalar, float: math.Inf(-1)}
	case in[0] == '.':
		if f, err := strconv.ParseFloat(in, 64); err == nil {
			return scalar{kind: floatScalar, float: f}
		}
		return scalar{text: in}
	case in[0]|0x20 >= 'a' || in[0] == '~':
		return scalar{text: in}
	}
	return resolveNumber(in)
}

var decimalNumber = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)

// resolveNumber reads a plain scalar that begins with a digit or a sign.
func resolveNumber(in string) scalar {
	if isTimestamp(in) {
		return scalar{text: in} // Kubernetes' reader keeps dates as texts
	}
	digits := strings.ReplaceAll(in, "_", "")
	if i, err := strconv.ParseInt(digits, 0, 64); err == nil {
		return scalar{kind: intScalar, int: i}
	}
	if u, err := strconv.ParseUint(digits, 0, 64); err == nil {
		return scalar{kind: intScalar, big: u}
	}
	if decimalNumber.MatchString(digits) {
		if f, err := strconv.ParseFloat(digits, 64); err == nil {
			return scalar{kind: floatScalar, float: f}
		}
	}
	return scalar{text: in} // binary numbers are read by ParseInt already
}

var timestampFormats = []string{"2006-1-2T15:4:5.999999999Z07:00", "2006-1-2t15:4:5.999999999Z07:00", "2006-1-2 15:4:5.999999999", "2006-1-2"}

func isTimestamp(s string) bool {
	if len(s) < 5 || s[4] != '-' || strings.Trim(s[:4], "0123456789") != "" {
		return false
	}
	for _, format := range timestampFormats {
		if _, err := time.Parse(format, s); err == nil {
			return true
		}
	}
	return false
}

// fits reports whether the scalar is of the kind that its tag names. Other tags fit any.
func (s scalar) fits(tag string) bool {
	switch tag {
	case "!!int":
		return s.kind == intScalar
	case "!!float":
		return s.kind == floatScalar
	case "!!bool":
		return s.kind == boolScalar
	case "!!null":
		return s.kind == nullScalar
	}
	return true
}

// key returns the name that the scalar becomes as a key of a JSON object; ok is false for what
// cannot be one.
//
// Source: convertToJSONableObject in sigs.k8s.io/yaml v1.6.
func (s scalar) key() (name string, ok bool) {
	switch s.kind {
	case textScalar:
		return s.text, true
	case boolScalar:
		return strconv.FormatBool(s.bool), true
	case intScalar:
		return strconv.FormatInt(s.int, 10), s.big == 0
	case floatScalar:
		switch name = strconv.FormatFloat(s.float, 'g', -1, 32); name { // as a float32, in which 1e39 is infinite
		case "NaN":
			name = ".nan"
		case "+Inf":
			name = ".inf"
		case "-Inf":
			name = "-.inf"
		}
		return name, true
	}
	return "", false
}

// json returns the JSON text of the scalar; ok is false for numbers that JSON does not have.
func (s scalar) json() (text string, ok bool) {
	var v any
	switch s.kind {
	case textScalar:
		v = s.text
	case boolScalar:
		v = s.bool
	case intScalar:
		v = s.int
		if s.big != 0 {
			v = s.big
		}
	case floatScalar:
		v = s.float
	}
	b, err := json.Marshal(v)
	return string(b), err == nil
}

// note returns what a person who wrote the plain scalar in may not expect; code is "" for no
// surprise.
func (s scalar) note(in string) (code policy.FaultCode, detail string) {
	text, _ := s.json()
	switch s.kind {
	case boolScalar:
		if in != "true" && in != "false" {
			return NoteBoolean, quoted(in) + " is read as the boolean " + text + "; write it in quotes to keep the text"
		}
	case intScalar, floatScalar:
		if in != text {
			return NoteNumber, quoted(in) + " is read as the number " + text + "; write it in quotes to keep the text"
		}
	case textScalar:
		if decimalNumber.MatchString(strings.ReplaceAll(in, "_", "")) && !isTimestamp(in) {
			return NoteText, quoted(in) + " looks like a number but is read as a text, since it does not fit one"
		}
	}
	return "", ""
}

var exponentOf = regexp.MustCompile(`^[-+]?[0-9_]*\.?[0-9_]*[eE][-+]?([0-9_]+)$`)

// hugeExponent reports whether a plain scalar looks like a number with an exponent beyond
// MaxNumberExponent.
func hugeExponent(in string) bool {
	if in == "" || strings.IndexByte("0123456789+-.", in[0]) < 0 {
		return false
	}
	m := exponentOf.FindStringSubmatch(in)
	if m == nil {
		return false
	}
	digits := strings.TrimLeft(strings.ReplaceAll(m[1], "_", ""), "0")
	if len(digits) > 6 {
		return true
	}
	n, _ := strconv.Atoi(digits) // "" is 0
	return n > MaxNumberExponent
}
