package document

// Glyph returns what a mark looks like as text. The page's script and the packages of other
// languages have the same list.
func Glyph(mark string) string { return glyphs[mark] }

// Glyphs lists the marks with what they look like.
func Glyphs() map[string]string {
	list := make(map[string]string, len(glyphs))
	for mark, glyph := range glyphs {
		list[mark] = glyph
	}
	return list
}

var glyphs = map[string]string{
	"crashloop": "⟲", "restart": "↻", "restartall": "⟳", "stop": "■", "failed": "✗", "succeeded": "✓", "refused": "⊘", "ignored": "◌",
	"counted": "+", "undecided": "?", "running": "▸", "matched": "✓", "notmatched": "✗", "notreached": "–", "skipped": "–",
	"warning": "!", "note": "•", "fault": "✗", "dropped": "!",
}

// Result returns what the mark of a step is called, "" for a mark of another kind: for a step a
// glyph alone would say too little.
func Result(mark string) string {
	switch mark {
	case "matched", "skipped":
		return mark
	case "notmatched":
		return "not matched"
	case "notreached":
		return "not reached"
	}
	return ""
}
