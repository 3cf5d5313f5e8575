package wasm

// validObject reports whether b is one JSON object as encoding/json accepts it, without white space
// before it. UTF-8 is not checked.
//
// Each answer is checked, since a module that once answers nonsense must not answer again;
// encoding/json took as long for that as the module for a tenth of a decision, because it asks a
// function about each byte. This one runs over the texts, which are most of an answer. A test holds
// that the two agree.
func validObject(b []byte) bool {
	if len(b) == 0 || b[0] != '{' {
		return false
	}
	var open [maxAnswerDepth]byte // the brackets that close what is open
	depth, i := 0, 0
	for {
		// A value begins at i, and in an object its name.
		if depth > 0 && open[depth-1] == '}' {
			if i = textEnd(b, i); i < 0 {
				return false
			}
			if i = blank(b, i); i == len(b) || b[i] != ':' {
				return false
			}
			i = blank(b, i+1)
		}
		if i == len(b) {
			return false
		}
		switch c := b[i]; c {
		case '{', '[':
			if depth == len(open) {
				return false
			}
			open[depth] = c + 2 // in ASCII "]" is "[" + 2, and "}" is "{" + 2
			i = blank(b, i+1)
			if i == len(b) || b[i] != c+2 {
				depth++
				continue
			}
			i++
		case '"':
			i = textEnd(b, i)
		case 't':
			i = wordEnd(b, i, "true")
		case 'f':
			i = wordEnd(b, i, "false")
		case 'n':
			i = wordEnd(b, i, "null")
		default:
			i = numberEnd(b, i)
		}
		if i < 0 {
			return false
		}
		for { // what follows a value
			i = blank(b, i)
			if depth == 0 {
				return i == len(b)
			}
			if i == len(b) {
				return false
			}
			if b[i] == ',' {
				i = blank(b, i+1)
				break
			}
			if b[i] != open[depth-1] {
				return false
			}
			depth--
			i++
		}
	}
}

// maxAnswerDepth bounds the nesting of an answer; those of the module have less than ten levels.
const maxAnswerDepth = 64

// blank returns the first place from i on where there is no white space.
func blank(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// textEnd returns the place after the text in quotes that begins at i, -1 if there is none.
func textEnd(b []byte, i int) int {
	if i == len(b) || b[i] != '"' {
		return -1
	}
	for i++; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c < ' ':
			return -1
		case c == '\\':
			if i++; i == len(b) {
				return -1
			}
			switch b[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				for range 4 {
					if i++; i == len(b) || !hexDigit(b[i]) {
						return -1
					}
				}
			default:
				return -1
			}
		}
	}
	return -1
}

func hexDigit(c byte) bool { return digit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

func digit(c byte) bool { return '0' <= c && c <= '9' }

// wordEnd returns the place after word, -1 if it is not at i.
func wordEnd(b []byte, i int, word string) int {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return -1
	}
	return i + len(word)
}

// numberEnd returns the place after the number at i, -1 if there is none.
func numberEnd(b []byte, i int) int {
	if i < len(b) && b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if i = digitsEnd(b, i); i < 0 {
		return -1
	}
	if i < len(b) && b[i] == '.' {
		if i = digitsEnd(b, i+1); i < 0 {
			return -1
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		return digitsEnd(b, i)
	}
	return i
}

// digitsEnd returns the place after the digits at i, -1 if there is none.
func digitsEnd(b []byte, i int) int {
	start := i
	for i < len(b) && digit(b[i]) {
		i++
	}
	if i == start {
		return -1
	}
	return i
}
