package views

import (
	"fmt"
	"strings"
)

// Visible returns s with every character that hides, reorders or moves text written out: \u202e. Names and messages go
// through it, so that what is read is what is there. Text in the editor is left as it is.
//
// The browser has the same function; testdata/visible.json holds both together.
func Visible(s string) string {
	if !strings.ContainsFunc(s, hides) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !hides(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// hides reports whether r is a control, a bidirectional mark, a zero-width character, a line or paragraph separator, a
// soft hyphen, a variation selector, a tag or a private or missing character.
func hides(r rune) bool {
	switch {
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

// short cuts s after [maxQuoted] characters.
func short(s string) string {
	if runes := []rune(s); len(runes) > maxQuoted {
		return string(runes[:maxQuoted]) + "…"
	}
	return s
}

// Quote returns s in double quotes, visible, cut after 80 characters.
func Quote(s string) string { return `"` + Visible(short(s)) + `"` }
