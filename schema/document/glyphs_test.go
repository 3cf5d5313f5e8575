package document

import (
	"os"
	"regexp"
	"testing"

	"github.com/podfate/podfate/policy/words"
)

// TestGlyphsAreThoseOfThePage holds the table of glyphs here, that of the page's script and the
// marks of the core together.
func TestGlyphsAreThoseOfThePage(t *testing.T) {
	script, err := os.ReadFile("../../web/bundle/src/glyphs.js")
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile(`(?s)const glyphs = \{(.*?)\};`).FindSubmatch(script)
	if table == nil {
		t.Fatal("glyphs.js has no table of glyphs")
	}
	page := map[string]string{}
	for _, m := range regexp.MustCompile(`(\w+): '([^']*)'`).FindAllSubmatch(table[1], -1) {
		page[string(m[1])] = string(m[2])
	}
	for _, mark := range words.Marks {
		if Glyph(mark) == "" || page[mark] != Glyph(mark) {
			t.Errorf("%s: %q here, %q on the page", mark, Glyph(mark), page[mark])
		}
	}
	if len(page) != len(words.Marks) || len(Glyphs()) != len(words.Marks) {
		t.Errorf("%d marks, %d glyphs here, %d on the page", len(words.Marks), len(Glyphs()), len(page))
	}
}
