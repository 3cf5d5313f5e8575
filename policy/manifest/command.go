package manifest

import (
	"strings"

	"github.com/podfate/podfate/policy"
)

// Limits of what is read of a command.
const (
	// maxCommandWords bounds the words of a script: a loop around a few programs with their flags
	// has some dozens.
	maxCommandWords = 1000
	// maxCommandDepth bounds loops in loops.
	maxCommandDepth = 16
)

// Endless as [CommandRun.For] is a command that never ends.
const Endless policy.Millis = 1 << 62

// CommandRun is what a container does whose command is understood: it runs For and ends with Code.
type CommandRun struct {
	For  policy.Millis
	Code int32
}

// ReadCommand reads the command of a container with its arguments. Understood are sleep, exit,
// echo, true, false and : by themselves or in sh -c, there with && and ; and in the loops while …
// do … done and until … do … done. Nothing of that can come out differently in another round.
// retries reports whether a loop repeats a program that is none of these; then the
// rest is not understood.
func ReadCommand(command, args Value) (run CommandRun, ok, retries bool) {
	var argv []string
	for _, list := range []Value{command, args} {
		for v := list.First(); v.Exists() && len(argv) < maxCommandWords; v = v.Next() {
			argv = append(argv, v.Text())
		}
	}
	if command.Len() == 0 {
		return run, false, false // the image says what runs
	}
	s := &script{ok: len(argv) < maxCommandWords}
	var r result
	switch argv[0][strings.LastIndexByte(argv[0], '/')+1:] {
	case "sh", "bash", "ash", "dash":
		if len(argv) != 3 || argv[1] != "-c" {
			return run, false, false
		}
		s.split(argv[2])
		r = s.list("")
	default:
		for _, text := range argv {
			s.words = append(s.words, word{text: text})
		}
		s.words[0].text = argv[0][strings.LastIndexByte(argv[0], '/')+1:]
		s.words[0].opaque = s.words[0].text == "exit" || s.words[0].text == ":" // which only shells have
		r = s.simple()
	}
	return CommandRun{r.took, r.status}, s.ok, s.retries
}

// word is one of a script.
type word struct {
	text     string
	operator bool // ; or && or a line break
	opaque   bool // the shell would work on it
	quoted   bool // no word of the grammar, whatever it says
}

// result is what a part of a script does.
type result struct {
	took   policy.Millis // Endless forever
	status int32
	exits  bool // nothing of the script comes after it
	bare   bool // an exit with the status of what came before
	ran    bool // something ran that has a status
}

// then is r and one after it.
func (r *result) then(one result) {
	if r.exits || r.took == Endless {
		return
	}
	if r.took += one.took; r.took >= Endless-policy.MaxHorizon {
		r.took = Endless
	}
	if r.exits = one.exits; !one.bare {
		r.status = one.status
	}
	r.bare = one.bare && !r.ran
	r.ran = r.ran || one.ran
}

// script is what is left of one, and what was found in it.
type script struct {
	words   []word
	ok      bool // all of it is understood so far
	unknown int  // programs that are not
	retries bool
	depth   int
}

func (s *script) split(text string) {
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case len(s.words) == maxCommandWords:
			s.ok, i = false, len(text)
		case c == ' ' || c == '\t':
			i++
		case c == ';' || c == '\n':
			s.words, i = append(s.words, word{text: text[i : i+1], operator: true}), i+1
		case strings.HasPrefix(text[i:], "&&"):
			s.words, i = append(s.words, word{text: "&&", operator: true}), i+2
		case c == '#':
			for i < len(text) && text[i] != '\n' {
				i++
			}
		default:
			w, n := readWord(text[i:])
			s.words, i = append(s.words, w), i+n
		}
	}
}

// readWord reads a word, which takes n bytes.
func readWord(text string) (w word, n int) {
	quote, begin := byte(0), 0
	for ; n < len(text); n++ {
		c := text[n]
		switch {
		case c == quote:
			w.text, quote, begin = w.text+text[begin:n], 0, n+1
		case quote == '\'':
		case quote == '"':
			w.opaque = w.opaque || strings.IndexByte("$`\\", c) >= 0
		case c == '\'' || c == '"':
			w.text, w.quoted, quote, begin = w.text+text[begin:n], true, c, n+1
		case strings.IndexByte(" \t;\n", c) >= 0, strings.HasPrefix(text[n:], "&&"):
			w.text += text[begin:n]
			return w, n
		default:
			w.opaque = w.opaque || strings.IndexByte("$`\\|&<>(){}*?[~!", c) >= 0
		}
	}
	w.text, w.opaque = w.text+text[begin:], w.opaque || quote != 0
	return w, n
}

// take takes the next word if it is this one.
func (s *script) take(text string) bool {
	if len(s.words) == 0 || s.words[0].text != text || s.words[0].quoted || text == "" {
		return false
	}
	s.words = s.words[1:]
	return true
}

// list runs commands up to the word end, or up to the end of the script if that is "". A shell
// refuses a ; after nothing, and a list of nothing in a loop.
func (s *script) list(end string) (r result) {
	for empty := true; ; empty = false {
		for s.take("\n") {
		}
		if s.take(end) {
			s.ok = s.ok && !empty
			return r
		}
		if len(s.words) == 0 {
			s.ok = s.ok && end == ""
			return r
		}
		r.then(s.chain())
		if len(s.words) > 0 && !s.take(";") && !s.take("\n") {
			s.ok, s.words = false, s.words[1:]
		}
	}
}

// chain runs commands that && joins.
func (s *script) chain() result {
	r := s.command()
	for s.take("&&") {
		if one := s.command(); r.status == 0 {
			r.then(one)
		}
	}
	return r
}

func (s *script) command() (r result) {
	until := s.take("until")
	if !until && !s.take("while") {
		return s.simple()
	}
	if s.depth++; s.depth > maxCommandDepth {
		s.ok, s.words = false, nil
	}
	before := s.unknown
	r = s.list("do")
	again := until != (r.status == 0)
	body := s.list("done")
	s.depth--
	s.retries = s.retries || s.unknown > before
	if r.exits || r.took == Endless {
		return r
	}
	if !again {
		return result{took: r.took, ran: true}
	}
	if r.then(body); !r.exits {
		r.took = Endless
	}
	return r
}

// simple runs one program, with the words up to the next operator.
func (s *script) simple() (r result) {
	n := 0
	opaque := false
	for n < len(s.words) && !s.words[n].operator {
		opaque = opaque || s.words[n].opaque
		n++
	}
	argv := s.words[:n]
	s.words = s.words[n:]
	known := n > 0 && !opaque
	if known {
		switch argv[0].text {
		case "echo", "true", ":":
		case "false":
			r.status = 1
		case "sleep":
			known = n == 2
			if known {
				r.took, known = sleeps(argv[1].text)
			}
		case "exit":
			if r.exits, r.bare, known = true, n == 1, n <= 2; n == 2 {
				r.status, known = exitStatus(argv[1].text)
			}
		default:
			known = false
		}
	}
	r.ran = !r.bare
	if s.ok = s.ok && known; !known && n > 0 {
		s.unknown++
	}
	return r
}

// sleeps reads the argument of sleep: a number with s, m, h, d or nothing after it.
func sleeps(text string) (m policy.Millis, ok bool) {
	if text == "infinity" || text == "inf" {
		return Endless, true
	}
	times := policy.Millis(1)
	switch last := text[max(len(text)-1, 0):]; last {
	case "s", "m", "h":
	case "d":
		text, times = text[:len(text)-1]+"h", 24
	default:
		text += "s"
	}
	m, code, _ := policy.ParseMillis(text)
	return m * times, code == "" && m <= policy.MaxHorizon/times && !strings.ContainsAny(text[:len(text)-1], "hmsun")
}

// exitStatus reads the argument of exit.
func exitStatus(text string) (n int32, ok bool) {
	for i := range len(text) {
		if c := text[i]; c < '0' || c > '9' || n > 255 {
			return 0, false
		}
		n = 10*n + int32(text[i]-'0')
	}
	return n, text != "" && n <= 255
}
