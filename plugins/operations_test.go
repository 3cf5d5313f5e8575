package plugins

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/ops"
)

// TestEveryPackageHasEveryOperation holds the packages' names and numbers of operations, and the
// methods of those that have one for each, against the core's table: a new operation is missed here
// by name.
func TestEveryPackageHasEveryOperation(t *testing.T) {
	for _, place := range []struct {
		file string
		form string // a regular expression, in which name, Name, NAME and NUMBER are those of the operation
	}{
		{"js/instance.js", `\bname: NUMBER\b`},
		{"js/engine.js", `(?m)^  name\(`},
		{"js/podfate.d.ts", `(?m)^  name\(`},
		{"js/podfate.d.ts", `'name'`},
		{"python/src/podfate/_engine.py", `"name": NUMBER,`},
		{"python/src/podfate/_engine.py", `(?m)^    def name\(self`},
		{"rust/src/engine.rs", `(?m)^    Name = NUMBER,`},
		{"java/src/main/java/dev/podfate/Operation.java", `(?m)^    NAME\(NUMBER\)[,;]`},
		{"java/src/main/java/dev/podfate/Engine.java", `(?m)^    public \S+(?: \S+)? name\(`},
		{"c/podfate.h", `(?m)^    PODFATE_NAME = NUMBER\b`},
		{"js/README.md", "`(?:engine\\.)?name\\b"},
		{"python/README.md", "`(?:engine\\.)?name\\b"},
		{"java/README.md", "`(?:engine\\.)?name\\b"},
	} {
		text, err := os.ReadFile(place.file)
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range ops.Table() {
			form := strings.NewReplacer(
				"NAME", strings.ToUpper(op.Name), "Name", strings.ToUpper(op.Name[:1])+op.Name[1:], "name", op.Name, "NUMBER", strconv.Itoa(int(op.Number)),
			).Replace(place.form)
			if !regexp.MustCompile(form).Match(text) {
				t.Errorf("%s has no %s", place.file, form)
			}
		}
	}
}
