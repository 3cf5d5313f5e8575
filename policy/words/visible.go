package words

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Visible returns s with every character that hides, reorders or moves text written out as \u202e.
// Names and messages of the user go through it, so that what is read is what is there.
func Visible(s string) string {
	first := 0 // character that is hidden or not in ASCII
	for first < len(s) && s[first] >= 0x20 && s[first] < 0x7F {
		first++
	}
	if strings.IndexFunc(s[first:], Hides) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch hex := strconv.FormatUint(uint64(r), 16); {
		case !Hides(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			b.WriteString(`\u{` + hex + `}`)
		default:
			b.WriteString(`\u` + "0000"[len(hex):] + hex)
		}
	}
	return b.String()
}

// Hides reports whether r is a control, a bidirectional mark, a zero-width character, a line or
// paragraph separator, a soft hyphen, a variation selector, a tag or a private or missing
// character.
func Hides(r rune) bool {
	switch {
	case r >= 0x20 && r < 0x7F:
		return false
	case r < 0x20, r >= 0x7F && r <= 0x9F, r == 0xAD, r == 0x34F, r == 0x61C, r == 0x115F, r == 0x1160,
		r >= 0x180B && r <= 0x180F, r >= 0x200B && r <= 0x200F, r >= 0x2028 && r <= 0x202E, r >= 0x2060 && r <= 0x206F,
		r == 0x3164, r >= 0xE000 && r <= 0xF8FF, r >= 0xFE00 && r <= 0xFE0F, r == 0xFEFF, r == 0xFFA0,
		r >= 0xFFF0 && r <= 0xFFFB, r >= 0xE0000:
		return true
	}
	return false
}

// maxQuoted bounds how many code points of the reader's own text a sentence repeats.
const maxQuoted = 80

// short returns s, visible and cut after [maxQuoted] characters.
func short(s string) string {
	if len(s) > maxQuoted && utf8.RuneCountInString(s) > maxQuoted {
		n := 0
		for i := range s {
			if n == maxQuoted {
				s = s[:i] + "…"
				break
			}
			n++
		}
	}
	return Visible(s)
}

// Span writes milliseconds as documents do, for the painters: see span.
func Span(ms int64) string { return span(ms) }

// span writes milliseconds as Kubernetes writes lengths of time, without the parts that are zero:
// 1m30s, 0.5s.
func span(ms int64) string {
	var room [32]byte
	b := room[:0]
	if ms < 0 {
		b, ms = append(b, '-'), -ms
	}
	if h := ms / 3_600_000; h > 0 {
		b = append(strconv.AppendInt(b, h, 10), 'h')
	}
	if m := ms / 60_000 % 60; m > 0 {
		b = append(strconv.AppendInt(b, m, 10), 'm')
	}
	rest := ms % 60_000
	if rest == 0 && len(b) > 0 {
		return string(b)
	}
	b = strconv.AppendInt(b, rest/1000, 10)
	if f := rest % 1000; f > 0 {
		b = append(b, '.')
		for ; f > 0; f = f % 100 * 10 {
			b = append(b, '0'+byte(f/100))
		}
	}
	return string(append(b, 's'))
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// count writes a number with its noun: 1 restart, 2 restarts.
func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return itoa(n) + " " + noun + "s"
}

// join joins what is not empty.
func join(separator string, parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		if p == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(separator)
		}
		b.WriteString(p)
	}
	return b.String()
}

// Quote returns s in double quotes, visible, cut after 80 characters.
func Quote(s string) string { return `"` + short(s) + `"` }
