package manifest

import (
	"strconv"
	"strings"

	"github.com/podfate/podfate/policy"
)

// MaxShortBytes bounds a question in short. It is far more than a link carries, and what it leads
// to is bounded by the limits of its members.
const MaxShortBytes = 16 << 10

// ShortAllowed are the clauses that a question in short may have.
func ShortAllowed() []string {
	return []string{
		"main=CODE[:REASON]", "main: CODE[:REASON][@TIME] [xN|forever]", "at TIME EVENT[:container] [pod N]", "until TIME",
		"expect PHASE [at TIME]", "timing none|mean|full|kubelet|documented",
	}
}

// Short is a question in short, written out as members of a request.
type Short struct {
	Members Value // exits, runs, events, until, timing, expect: those that it has
	marks   []shortMark
}

type shortMark struct{ written, text int }

// ShortFault is what is wrong with a question in short, at an offset of the text.
type ShortFault struct {
	Offset  int
	Detail  string
	Allowed []string
}

// At returns where in the text that comes from which is at an offset of [Short.Members].
func (s *Short) At(offset int) (text int) {
	for _, m := range s.marks {
		if m.written > offset {
			break
		}
		text = m.text
	}
	return text
}

// ReadShort reads a question in short. Clauses are separated by commas or lines, and by blanks
// where that is clear:
//
//	main=137:OOMKilled              main exits with this code, now
//	main: 42@10s x4, 1@5s forever   what main does at its successive starts: so often this long with this code
//	at 5m Evicted                   something happens; at 90s OOMKilled:main to a container, with pod 2 after it in
//	                                the third Pod of a Job
//	until 2h                        how far to look
//	expect Failed at 5m             what should have become of it then, or in the end
//	timing full                     a kubelet in real time, with that much jitter; or when the first restart comes
//
// Without @TIME a run ends at once. "main=" and "main:" may be left out for a Pod with one
// container. What it means is checked by whoever reads the members: times, events, containers.
// Older spellings are read as well: main=10s:42x4 and Evicted@2.
func ReadShort(text string) (*Short, []ShortFault) {
	if len(text) > MaxShortBytes {
		return nil, []ShortFault{{Detail: strconv.Itoa(len(text)) + " bytes, at most " + strconv.Itoa(MaxShortBytes) + " allowed"}}
	}
	p := shortParser{text: text}
	p.split()
	for p.i < len(p.words) {
		p.clause()
	}
	if len(p.faults) > 0 {
		return nil, p.faults
	}
	return p.write()
}

type shortWord struct {
	string
	at    int
	begun bool // a comma or a new line comes before it
}

type shortExit struct {
	at                 int
	name, code, reason string
	length, times      string // of a run
}

type shortEvent struct {
	at                            int
	time, event, container, phase string
	pod                           string
}

type shortParser struct {
	text   string
	words  []shortWord
	i      int
	name   string // whose runs come, "" before any is named
	runs   bool   // a name with a colon came: what follows are runs
	exits  []shortExit
	tapes  []shortExit // in their order
	events []shortEvent
	expect []shortEvent
	until  shortEvent
	timing [2]shortEvent // the jitter, and when the first restart comes
	faults []ShortFault
}

func (p *shortParser) split() {
	begun := true
	for i := 0; i < len(p.text); {
		switch c := p.text[i]; c {
		case ',', '\n', '\r':
			begun = true
			i++
		case ' ', '\t':
			i++
		default:
			end := i
			for end < len(p.text) && !strings.ContainsRune(", \t\r\n", rune(p.text[end])) {
				end++
			}
			p.words = append(p.words, shortWord{p.text[i:end], i, begun})
			i, begun = end, false
		}
	}
}

// refuse notes a fault at a word.
func (p *shortParser) refuse(at int, detail string, allowed ...string) {
	if len(p.faults) < policy.MaxFaults {
		p.faults = append(p.faults, ShortFault{at, detail, allowed})
	}
}

// next takes the next word of the same clause, "" if there is none.
func (p *shortParser) next() string {
	if p.i < len(p.words) && !p.words[p.i].begun {
		p.i++
		return p.words[p.i-1].string
	}
	return ""
}

func (p *shortParser) clause() {
	w := p.words[p.i]
	p.i++
	e := shortEvent{at: w.at}
	switch w.string {
	case "at":
		p.event(e)
		return
	case "until":
		if e.time = p.next(); e.time == "" {
			p.refuse(w.at, "until when?", "until TIME")
		} else {
			p.notLength(w.at, e.time)
		}
		p.until = e
		return
	case "expect":
		if e.phase = p.next(); e.phase == "" {
			p.refuse(w.at, "what is expected?", "expect PHASE [at TIME]")
		}
		if p.i+1 < len(p.words) && p.words[p.i].string == "at" && !p.words[p.i].begun && !p.words[p.i+1].begun {
			p.i++
			e.time = p.next()
			p.notLength(w.at, e.time)
		}
		p.expect = append(p.expect, e)
		return
	case "timing":
		switch e.event = p.next(); e.event {
		case "kubelet", "documented":
			p.timing[1] = e
		case "none", "mean", "full":
			p.timing[0] = e
		default:
			p.refuse(w.at, "which timing?", "timing none", "timing mean", "timing full", "timing kubelet", "timing documented")
		}
		return
	}
	if times, ok := shortTimes(w.string); ok {
		if n := len(p.tapes); n > 0 && p.tapes[n-1].times == "" {
			p.tapes[n-1].times = times
		} else {
			p.refuse(w.at, strconv.Quote(clip(w.string))+" says how often, and there is no run before it", "main: 42@10s x4")
		}
		return
	}
	if times, ok := strings.CutPrefix(w.string, "x"); ok && times != "" && strings.Trim(times, "-0123456789") == "" {
		p.notTimes(w.at, times)
		return
	}
	p.ending(w)
}

// event reads what comes after at: a time, an event, and the number of a Pod.
func (p *shortParser) event(e shortEvent) {
	e.time, e.event = p.next(), p.next()
	if e.time == "" || e.event == "" {
		p.refuse(e.at, "what happens, and when?", "at TIME EVENT[:container] [pod N]")
		return
	}
	if p.notLength(e.at, e.time) {
		return
	}
	if name, pod, ok := strings.Cut(e.event, "@"); ok {
		e.event, e.pod = name, pod
	}
	e.event, e.container, _ = strings.Cut(e.event, ":")
	if p.i < len(p.words) && p.words[p.i].string == "pod" && !p.words[p.i].begun {
		p.i++
		if e.pod = p.next(); e.pod == "" {
			e.pod = "?"
		}
	}
	if _, err := strconv.ParseUint(e.pod, 10, 31); e.pod != "" && err != nil {
		p.refuse(e.at, strconv.Quote(clip(e.pod))+" is no number of a Pod; they count from 0 in order of creation", "at TIME EVENT[:container] [pod N]")
	}
	p.events = append(p.events, e)
}

// ending reads a word that says how a container ends: an exit or a run, with its name or without.
func (p *shortParser) ending(w shortWord) {
	x := shortExit{at: w.at, name: p.name}
	rest, run := w.string, p.runs
	if i := strings.IndexAny(rest, "=:@"); i >= 0 && rest[i] != '@' && !isCode(rest[:i]) || i > 0 && rest[i] == '=' {
		x.name = rest[:i]
		run = rest[i] == ':'
		if x.name == "" {
			p.refuse(w.at, "which container?", ShortAllowed()...)
			return
		}
		if rest = rest[i+1:]; rest == "" {
			if p.name, p.runs = x.name, true; p.i == len(p.words) || p.words[p.i].begun {
				p.refuse(w.at, "what does "+strconv.Quote(clip(x.name))+" do?", "main: CODE[:REASON][@TIME] [xN|forever]", "main=CODE[:REASON]")
			}
			return
		}
	}
	if length, code, ok := strings.Cut(rest, ":"); ok && !isCode(length) && rest != w.string {
		p.older(x, length, code)
		return
	}
	rest, length, timed := strings.Cut(rest, "@")
	code, reason, reasoned := strings.Cut(rest, ":")
	x.code, x.reason, x.length = code, reason, length
	switch {
	case !isCode(code):
		p.notCode(w.at, code)
	case reasoned && p.notReason(w.at, reason):
	case timed:
		if !p.notLength(w.at, length) {
			p.name, p.runs = x.name, true
			p.tapes = append(p.tapes, x)
		}
	case run && w.string != rest: // main:42
		p.refuse(w.at, "does it exit with "+code+" now, or after some time?", x.name+"="+code, x.name+": "+code+"@10s")
	case run:
		x.length = "0s"
		p.tapes = append(p.tapes, x)
	default:
		p.exits = append(p.exits, x)
	}
}

func (p *shortParser) notCode(at int, code string) {
	detail := strconv.Quote(clip(code)) + " is no exit code"
	if len(code) > 9 && strings.Trim(code, "0123456789") == "" {
		detail += ": it is beyond 32 bits"
	}
	p.refuse(at, detail, ShortAllowed()...)
}

// notReason refuses what looks like another part of a clause in the place of a reason.
func (p *shortParser) notReason(at int, reason string) bool {
	i := strings.LastIndexByte(reason, 'x')
	switch {
	case reason == "":
		p.refuse(at, "no reason comes after the colon", "main=137:OOMKilled")
	case strings.Contains(reason, ":"):
		p.refuse(at, strconv.Quote(clip(reason))+" is not one word", "main=137:OOMKilled")
	case i >= 0 && (reason[i:] == "xforever" || i+1 < len(reason) && isCode(reason[i+1:])):
		p.refuse(at, "how often comes last, after a blank", "main: 137:OOMKilled@10s x4")
	default:
		return false
	}
	return true
}

// notLength refuses what is no length of time.
func (p *shortParser) notLength(at int, length string) bool {
	_, _, fault := policy.ParseMillis(length)
	if fault != "" {
		p.refuse(at, strconv.Quote(clip(length))+" "+fault, "10s", "1h30m", "500ms")
	}
	return fault != ""
}

// older reads LENGTH:CODE[xTIMES][:REASON], which flags had before.
func (p *shortParser) older(x shortExit, length, rest string) {
	code, reason, reasoned := strings.Cut(rest, ":")
	code, times, repeated := strings.Cut(code, "x")
	x.length, x.code, x.reason = length, code, reason
	if repeated && code != "" { // else it is a word that begins with x
		x.times, repeated = shortTimes("x" + times)
		if times == "forever" {
			x.times, repeated = times, true
		}
		if !repeated {
			p.notTimes(x.at, times)
			return
		}
	}
	switch {
	case p.notLength(x.at, length):
	case code == "":
		p.notCode(x.at, rest)
	case !isCode(code):
		p.notCode(x.at, code)
	case reasoned && p.notReason(x.at, reason):
	default:
		p.tapes = append(p.tapes, x)
	}
}

func (p *shortParser) notTimes(at int, times string) {
	p.refuse(at, strconv.Quote(clip(times))+" is neither a number of times, from 1, nor the word forever", "main: 42@10s x4", "main: 42@10s forever")
}

// shortTimes reads x4, ×4 or forever.
func shortTimes(word string) (times string, ok bool) {
	if word == "forever" {
		return word, true
	}
	n, ok := strings.CutPrefix(word, "x")
	if !ok {
		if n, ok = strings.CutPrefix(word, "×"); !ok {
			return "", false
		}
	}
	v, err := strconv.ParseInt(n, 10, 64)
	return strconv.FormatInt(v, 10), err == nil && v > 0
}

// isCode reports whether s is an integer of 32 bits, as an exit code is written.
func isCode(s string) bool {
	_, err := strconv.ParseInt(s, 10, 32)
	return err == nil && s[0] != '+'
}

func clip(s string) string {
	if len(s) > policy.MaxQuotedBytes {
		return s[:policy.MaxQuotedBytes] + "…"
	}
	return s
}

// write writes what was read as members of a request and reads them again.
func (p *shortParser) write() (*Short, []ShortFault) {
	w := &shortWriter{p: p, s: &Short{}}
	w.Object()
	w.writeExits()
	w.writeTapes()
	w.writeEvents()
	if p.until.time != "" {
		w.mark(w.Len(), p.until.at)
		w.text("until", p.until.time)
	}
	w.writeTiming()
	w.writeExpected()
	w.End()
	v, err := Parse(w.Bytes())
	if err != nil {
		return nil, []ShortFault{{Detail: err.Message}}
	}
	w.s.Members = v
	return w.s, nil
}

// shortWriter writes the members that a question in short stands for, and notes from where in the
// text each comes.
type shortWriter struct {
	Writer
	p *shortParser
	s *Short
}

// mark notes that what is written at an offset comes from a place in the text.
func (w *shortWriter) mark(offset, at int) { w.s.marks = append(w.s.marks, shortMark{offset, at}) }

// begin begins an object that comes from a place in the text.
func (w *shortWriter) begin(at int) {
	w.Object()
	w.mark(w.Len()-1, at)
}

// text writes a member that is a string, unless it is empty.
func (w *shortWriter) text(name, value string) {
	if value != "" {
		w.KeyString(name, value)
	}
}

// number writes a member that is an integer, unless it was not given.
func (w *shortWriter) number(name, value string) {
	if value != "" {
		n, _ := strconv.ParseInt(value, 10, 64)
		w.KeyInt(name, n)
	}
}

// list writes a member that is a list of n objects, unless it is empty. element begins one and
// writes its members.
func (w *shortWriter) list(name string, n int, element func(i int)) {
	if n == 0 {
		return
	}
	w.KeyArray(name)
	for i := range n {
		element(i)
		w.End()
	}
	w.End()
}

func (w *shortWriter) writeExits() {
	w.list("exits", len(w.p.exits), func(i int) {
		x := &w.p.exits[i]
		w.begin(x.at)
		w.text("container", x.name)
		w.number("exitCode", x.code)
		w.text("reason", x.reason)
	})
}

// writeTapes writes the runs of each container in one list, however they were mixed.
func (w *shortWriter) writeTapes() {
	if len(w.p.tapes) == 0 {
		return
	}
	w.KeyObject("runs")
	for i, first := range w.p.tapes {
		if w.p.named(first.name) < i {
			continue
		}
		w.mark(w.Len(), first.at)
		w.String(first.name)
		w.buf = append(w.buf, ':')
		w.Array()
		for _, x := range w.p.tapes[i:] {
			if x.name == first.name {
				w.writeRun(x)
			}
		}
		w.End()
	}
	w.End()
}

func (w *shortWriter) writeRun(x shortExit) {
	w.begin(x.at)
	w.text("for", x.length)
	w.number("exitCode", x.code)
	w.text("reason", x.reason)
	if x.times == "forever" {
		w.text("times", x.times)
	} else {
		w.number("times", x.times)
	}
	w.End()
}

func (w *shortWriter) writeEvents() {
	w.list("events", len(w.p.events), func(i int) {
		e := &w.p.events[i]
		w.begin(e.at)
		w.text("at", e.time)
		w.text("type", e.event)
		w.text("container", e.container)
		w.number("pod", e.pod)
	})
}

func (w *shortWriter) writeTiming() {
	t := w.p.timing
	if t[0].event+t[1].event == "" {
		return
	}
	w.Key("timing")
	w.begin(max(t[0].at, t[1].at))
	if t[0].event != "" {
		w.text("detection", "1s")
		w.text("sync", "kubelet")
		w.text("jitter", t[0].event)
	}
	w.text("firstRestart", t[1].event)
	w.End()
}

func (w *shortWriter) writeExpected() {
	w.list("expect", len(w.p.expect), func(i int) {
		e := &w.p.expect[i]
		w.begin(e.at)
		w.text("phase", e.phase)
		w.text("at", e.time)
	})
}

// named returns the first run of the container called name.
func (p *shortParser) named(name string) int {
	for i := range p.tapes {
		if p.tapes[i].name == name {
			return i
		}
	}
	return -1
}
