package verify_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/podfate/podfate/playground/verify"
	"github.com/podfate/podfate/policy/ops"
)

func native(operation string, request []byte) (answer []byte, failed bool, err error) {
	op, ok := ops.Lookup(operation)
	if !ok {
		return nil, false, fmt.Errorf("no operation is called %q", operation)
	}
	answer, failed = ops.Call(op.Number, request)
	return answer, failed, nil
}

// The figures that the founding documents publish are recomputed in docs/claims.md: every one of
// the 36 has a row with at least one computed figure, each figure is what Podfate answers, and a
// row in which a published figure differs says that it is wrong. go test -v prints the table.
func TestClaims(t *testing.T) {
	text, err := os.ReadFile("../../docs/claims.md")
	if err != nil {
		t.Fatal(err)
	}
	r, err := verify.Document(string(text), native)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range r.Problems() {
		t.Errorf("docs/claims.md:%d: %s", m.Line, m.Problem)
	}
	comment := regexp.MustCompile(` *<!--.*?-->`)
	found := 0
	for n, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(line, " | ")
		id := fmt.Sprintf("| C-%02d", found+1)
		if len(cells) != 5 || cells[0] != id {
			continue
		}
		found++
		computed, differs := 0, false
		for _, m := range r.Marks {
			if m.Line == n+1 {
				computed++
				differs = differs || m.Differs
			}
		}
		verdict := strings.TrimSuffix(cells[4], " |")
		if computed == 0 {
			t.Errorf("%s has no computed figure", id)
		}
		if differs != strings.HasPrefix(verdict, "wrong") {
			t.Errorf("%s: a published figure differs: %t, and the verdict is %q", id, differs, verdict)
		}
		t.Logf("%s  claimed: %s  computed: %s  %s", id[2:], comment.ReplaceAllString(cells[2], ""), comment.ReplaceAllString(cells[3], ""), verdict)
	}
	if found != 36 {
		t.Errorf("%d claims, want 36", found)
	}
}

// What is wrong in a document is found, with its line; what is right is not.
func TestDocument(t *testing.T) {
	const text = `# Restarts

~~~yaml podfate curve stock
backoff: {initial: 10s, max: 300s}
model: documented
~~~
The fourth comes at 150 s <!-- = stock.starts[4].atMillis / 1000 -->, not 140 <!-- = stock.starts[4].atMillis / 1000 -->.
| **10, 30, 70** <!-- = stock.starts[1:4].atMillis / 1000 --> | ` + "`documented`" + ` <!-- = stock.model --> |
It is 2 <!-- != stock.restarts --> or 9 <!-- != stock.restarts -->; <!-- a remark --> 1 <!-- = stock.nothing -->.
` + "```" + `yaml podfate curve broken
run: {for: -1s}
` + "```" + `
` + "```" + `yaml podfate curve fine refused
run: {for: -1s}
` + "```" + `
` + "```" + `yaml podfate curve accepted refused
run: {for: 1s}
` + "```" + `
` + "```" + `yaml podfate conjure trick
` + "```" + `
` + "```" + `yaml
just: text <!-- = stock.restarts -->
` + "```" + `
Sums: 9 <!-- = len(stock.starts) - 1 -->, 1810 <!-- = max(stock.starts.delayMillis) -->, **3** <!-- = stock.starts[40:].atMillis -->, 0.33 <!-- = 1 / 3 -->, 0.34 <!-- = 1 / 3 -->, 0.3 <!-- = 1 / 3 -->, 0.36 <!-- = 1 / 3 -->.
`
	r, err := verify.Document(text, func(operation string, request []byte) ([]byte, bool, error) {
		if operation == "conjure" {
			return []byte(`"no such operation"`), true, nil
		}
		return native(operation, request)
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range r.Problems() {
		got = append(got, fmt.Sprintf("%d %.40s", m.Line, m.Problem))
	}
	want := []string{
		"10 the request is refused: {\"error\":{\"code\"", "16 the request is not refused", "19 the request is refused: \"no such operati",
		"7 claimed 140, computed 150", "9 claimed 9 is said to differ, computed 9", "9 stock.nothing: stock.nothing: no such me",
		"24 max(stock.starts.delayMillis): stock.sta", "24 stock.starts[40:].atMillis: stock.starts", "24 claimed 0.36, computed 0.333333",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if r.Figures != 14 || r.Blocks != 5 {
		t.Errorf("%d figures, %d blocks", r.Figures, r.Blocks)
	}
}
