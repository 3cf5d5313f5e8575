package verify

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// number is one as people write it.
var number = regexp.MustCompile(`-?[0-9][0-9,]*(\.[0-9]+)?`)

// separator is between several figures.
var separator = regexp.MustCompile(`,\s+|\s*/\s*|\s+and\s+|\s*->\s*|([0-9])-`)

// value is what an expression leads to: numbers, or words.
type value struct {
	numbers []float64
	words   []string
}

func (v value) String() string {
	list := v.words
	for _, n := range v.numbers {
		list = append(list, strconv.FormatFloat(math.Round(n*1e6)/1e6, 'f', -1, 64))
	}
	return strings.Join(list, ", ")
}

// agrees reports whether v is what text says, in as many digits as text has.
func (v value) agrees(text string) bool {
	if len(v.words) > 0 {
		return strings.Join(v.words, ", ") == text
	}
	items := separator.Split(separator.ReplaceAllStringFunc(text, func(s string) string {
		if c := s[0]; '0' <= c && c <= '9' { // 3-1-2
			return s[:1] + ", "
		}
		return s
	}), -1)
	if len(items) != len(v.numbers) {
		return false
	}
	for i, item := range items {
		said := strings.ReplaceAll(number.FindString(strings.ReplaceAll(item, "−", "-")), ",", "")
		n, err := strconv.ParseFloat(said, 64)
		if err != nil {
			return false
		}
		_, fraction, _ := strings.Cut(said, ".")
		last := math.Pow10(-len(fraction))
		if fraction == "" {
			last = 0.5
		}
		if math.Abs(v.numbers[i]-n) >= last-1e-9 {
			return false
		}
	}
	return true
}

// evaluate works out an expression: terms with + - * / between spaces, from left to right. A term
// is a number, the path of a member such as stock.starts[1:].atMillis, or sum(…), len(…) or max(…)
// of one. Members of a list are those of its elements; a list and a number are combined one by one.
func evaluate(text string, answers map[string]any) (v value, err error) {
	words := strings.Fields(text)
	if len(words)%2 == 0 {
		return v, fmt.Errorf("write terms with + - * / between them")
	}
	for i := 0; i < len(words); i += 2 {
		term, err := evaluateTerm(words[i], answers)
		if err != nil {
			return v, err
		}
		if i == 0 {
			v = term
			continue
		}
		if v, err = combine(v, words[i-1], term); err != nil {
			return v, err
		}
	}
	return v, nil
}

func combine(a value, operator string, b value) (v value, err error) {
	if len(a.words)+len(b.words) > 0 || len(a.numbers) != len(b.numbers) && len(a.numbers) != 1 && len(b.numbers) != 1 {
		return v, fmt.Errorf("%s %s %s cannot be worked out", a, operator, b)
	}
	for i := range max(len(a.numbers), len(b.numbers)) {
		x, y := a.numbers[min(i, len(a.numbers)-1)], b.numbers[min(i, len(b.numbers)-1)]
		switch operator {
		case "+":
			x += y
		case "-":
			x -= y
		case "*":
			x *= y
		case "/":
			x /= y
		default:
			return v, fmt.Errorf("%q is none of + - * /", operator)
		}
		v.numbers = append(v.numbers, x)
	}
	return v, nil
}

func evaluateTerm(text string, answers map[string]any) (v value, err error) {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return value{numbers: []float64{n}}, nil
	}
	for _, name := range []string{"sum", "len", "max"} {
		inner, begins := strings.CutPrefix(text, name+"(")
		inner, ends := strings.CutSuffix(inner, ")")
		if !begins || !ends {
			continue
		}
		list, err := follow(inner, answers)
		if err != nil {
			return v, err
		}
		n := float64(len(list))
		if name != "len" {
			if v, err = values(list); err != nil {
				return v, err
			}
			n = 0
			for _, x := range v.numbers {
				if n += x; name == "max" {
					n = max(n-x, x)
				}
			}
		}
		return value{numbers: []float64{n}}, nil
	}
	list, err := follow(text, answers)
	if err != nil {
		return v, err
	}
	return values(list)
}

func values(list []any) (v value, err error) {
	for _, x := range list {
		switch x := x.(type) {
		case float64:
			v.numbers = append(v.numbers, x)
		case string:
			v.words = append(v.words, x)
		case bool:
			v.words = append(v.words, strconv.FormatBool(x))
		default:
			return v, fmt.Errorf("there is no number or word, but %.40v", x)
		}
	}
	if len(v.numbers) > 0 && len(v.words) > 0 {
		return v, fmt.Errorf("there are numbers and words")
	}
	return v, nil
}

// step is a member or an index of a path.
var step = regexp.MustCompile(`^(\.[A-Za-z][A-Za-z0-9]*|\[[0-9]*:?[0-9]*\])`)

// follow returns what is at a path, as a list.
func follow(path string, answers map[string]any) (list []any, err error) {
	name := path
	if i := strings.IndexAny(path, ".["); i >= 0 {
		name = path[:i]
	}
	answer, ok := answers[name]
	if !ok {
		return nil, fmt.Errorf("no block is called %q", name)
	}
	list = []any{answer}
	for rest := path[len(name):]; rest != ""; {
		s := step.FindString(rest)
		if s == "" {
			return nil, fmt.Errorf("%q is neither .member nor [index]", rest)
		}
		rest = rest[len(s):]
		if list, err = take(list, s); err != nil {
			return nil, fmt.Errorf("%s: %w", path[:len(path)-len(rest)], err)
		}
	}
	if len(list) == 1 {
		if inner, ok := list[0].([]any); ok {
			return inner, nil
		}
	}
	return list, nil
}

func take(list []any, step string) (found []any, err error) {
	for _, x := range list {
		if inner, ok := x.([]any); ok && step[0] == '.' {
			more, err := take(inner, step)
			if err != nil {
				return nil, err
			}
			found = append(found, more...)
			continue
		}
		if step[0] == '.' {
			object, _ := x.(map[string]any)
			member, ok := object[step[1:]]
			if !ok {
				return nil, fmt.Errorf("no such member")
			}
			found = append(found, member)
			continue
		}
		inner, ok := x.([]any)
		if !ok {
			return nil, fmt.Errorf("is no list")
		}
		from, to, ranged := strings.Cut(step[1:len(step)-1], ":")
		begin, _ := strconv.Atoi(from)
		end := len(inner)
		if to != "" {
			end, _ = strconv.Atoi(to)
		} else if !ranged {
			end = begin + 1
		}
		if begin >= end || end > len(inner) {
			return nil, fmt.Errorf("there are only %d", len(inner))
		}
		found = append(found, inner[begin:end]...)
	}
	return found, nil
}
