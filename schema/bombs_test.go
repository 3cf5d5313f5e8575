package schema

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
)

func repeat(unit string, bytes int) string { return strings.Repeat(unit, bytes/len(unit)) }

func keys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d: 1\n", i)
	}
	return b.String()
}

// levels returns n lists in one another.
func levels(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// laughs returns the document of CVE-2019-11253: depth mappings of width aliases each.
func laughs(depth, width int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 lol\n")
	for i := 1; i <= depth; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), width), ","))
	}
	return b.String()
}

// bombs are texts that cost a reader without limits seconds or gigabytes.
var bombs = []struct {
	name, text string
	code       policy.FaultCode
	path       string
	line       int
	column     int
	mebibytes  uint64 // what refusing it may allocate, garbage included
}{
	{"one large scalar and few aliases", "a: &a \"" + repeat("x", 60<<10) + "\"\nb: [" + repeat("*a,", 99*3) + "]\n", CodeLimitExpandedBytes, "b[16]", 2, 53, 8},
	{"a text of a mebibyte", "a: &a \"" + repeat("x", 1<<20) + "\"\nb: [" + repeat("*a,", 900*3) + "]\n", CodeLimitBodyBytes, "", 1, 1, 1},
	{"nested aliases", laughs(9, 9), CodeLimitExpandedBytes, "a5[6]", 6, 34, 8},
	{"nested aliases without content", "a0: &a0 {}\n" + strings.Replace(laughs(40, 2), "a0: &a0 lol\n", "", 1), CodeLimitExpandedBytes, "a14[1]", 15, 17, 8},
	{"nested merges", func() string {
		var b strings.Builder
		b.WriteString("a0: &a0 {}\n")
		for i := 1; i <= 45; i++ {
			fmt.Fprintf(&b, "a%d: &a%d {<<: [*a%d, *a%d]}\n", i, i, i-1, i-1)
		}
		return b.String()
	}(), CodeLimitExpandedBytes, "a13[1]", 14, 23, 8},
	{"many aliases", "a: &a 1\nb: [" + repeat("*a,", 101*3) + "]\n", CodeLimitAliases, "b[100]", 2, 305, 8},
	{"a hundred thousand keys", keys(100_000), CodeLimitBodyBytes, "", 1, 1, 1},
	{"as many keys as fit a document", keys(13_000), CodeLimitNodes, "k4999", 5000, 8, 64},
	{"more keys than a mapping has", keys(1001), CodeLimitKeys, "", 1001, 1, 8},
	{"keys through merges", func() string {
		var b strings.Builder
		for m := range 4 {
			fmt.Fprintf(&b, "m%d: &m%d\n", m, m)
			for i := range 300 {
				fmt.Fprintf(&b, "  k%d_%d: 1\n", m, i)
			}
		}
		return b.String() + "all:\n  <<: [*m0, *m1, *m2, *m3]\n"
	}(), CodeLimitKeys, "all", 1206, 3, 16},
	{"65 levels", levels(65), CodeLimitDepth, repeat("[0]", 64*3), 1, 65, 8},
	{"10,000 levels", levels(10_000), CodeLimitDepth, repeat("[0]", 64*3), 1, 65, 64},
	{"as many levels as fit a document", levels(60_000), CodeLimitDepth, "", 1, 65, 64},
	{"10,001 levels of a block", repeat("- ", 2*10_002) + "a\n", CodeLimitDepth, "", 1, 0, 64},
	{"a million levels", levels(1_000_000), CodeLimitBodyBytes, "", 1, 1, 1},
	{"levels through aliases", func() string {
		var b strings.Builder
		b.WriteString("a0: &a0 " + levels(20) + "\n")
		for i := 1; i <= 3; i++ {
			fmt.Fprintf(&b, "a%d: &a%d %s*a%d%s\n", i, i, strings.Repeat("[", 20), i-1, strings.Repeat("]", 20))
		}
		return b.String()
	}(), CodeLimitDepth, "a3" + repeat("[0]", 20*3), 4, 29, 8},
	{"an anchor that contains itself", "a: &a [*a]\n", CodeSelfReference, "a[0]", 1, 8, 1},
	{"a mapping that merges itself", "a: &a\n  <<: *a\n", CodeSelfReference, "a", 2, 7, 1},
	{"an anchor that contains itself further down", "a: &a {b: {c: [1, *a]}}\n", CodeSelfReference, "a.b.c[1]", 1, 19, 1},
	{"huge exponents", repeat("- 1e1000000\n", 1200), CodeLimitExponent, "[0]", 1, 3, 4},
	{"an exponent of a number above a million", "a: 1e1000001\n", CodeLimitExponent, "a", 1, 4, 1},
	{"an exponent of a milliard", "a: -.5e-999999999\n", CodeLimitExponent, "a", 1, 4, 1},
	{"a long scalar", "a: " + repeat("x", 64<<10+1) + "\n", CodeLimitScalarBytes, "a", 1, 4, 8},
	{"a long document", "a: [" + repeat("xxx,", 128<<10) + "]\n", CodeLimitDocumentBytes, "", 1, 1, 1},
	{"many nodes", "[" + repeat("1,", 100<<10) + "]\n", CodeLimitNodes, "[9999]", 1, 20000, 64},
	{"many documents", repeat("---\na: 1\n", 65*9), CodeLimitDocuments, "", 130, 1, 8},
	{"comments only", repeat("- #\n", 128<<10), CodeLimitNodes, "[9999]", 0, 0, 64},
	{"question marks", repeat("? #\n", 128<<10), CodeUnsupportedKey, "", 0, 0, 64},
	{"tags that are never closed", "a: !<" + repeat("%41", 100<<10), CodeSyntax, "", 0, 0, 64},
	{"a quote that is never closed", "a: \"" + repeat("b\n", 120<<10), CodeSyntax, "", 0, 0, 64},
	{"a bracket that is never closed", "a: [" + repeat("b,\n", 120<<10), CodeSyntax, "", 0, 0, 64},
	{"a quote in a short document", keys(200) + "a: \"" + repeat("b\n", 500), CodeSyntax, "", 201, 4, 8},
	{"a bracket in a short document", keys(200) + "a: [" + repeat("b,\n", 500), CodeSyntax, "", 201, 4, 8},
	{"more aliases than yaml/v2 believes", laughs(4, 9), CodeLimitExpandedBytes, "", 1, 1, 16},
	{"characters that JSON escapes, and aliases", "a: &a \"" + repeat("<", 10_000) + "\"\nb: [" + repeat("*a,", 99*3) + "]\n", CodeLimitRequestBytes, "", 1, 1, 64},
	{"many lines before a fault", keys(9000) + "a: b: c\n", CodeSyntax, "", 9001, 5, 64},
}

func TestBombs(t *testing.T) {
	for _, bomb := range bombs {
		t.Run(bomb.name, func(t *testing.T) {
			text := []byte(bomb.text)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			docs, err := Decode(text)
			runtime.ReadMemStats(&after)
			faults, _ := err.(Faults)
			if len(docs) > 0 || len(faults) == 0 {
				t.Fatalf("accepted: %d documents", len(docs))
			}
			f := faults[0]
			if f.Code != bomb.code || bomb.path != "" && f.Path != bomb.path || bomb.line != 0 && f.Line != bomb.line || bomb.column != 0 && f.Column != bomb.column {
				t.Errorf("got %s at %q, %d:%d: %s", f.Code, f.Path, f.Line, f.Column, f.Detail)
			}
			checkFaults(t, faults)
			allocated := after.TotalAlloc - before.TotalAlloc
			if allocated > bomb.mebibytes<<20 {
				t.Errorf("allocated %d KiB to refuse it, at most %d MiB allowed", allocated>>10, bomb.mebibytes)
			}
			t.Logf("%d bytes: %s, %d KiB allocated", len(text), f.Code, allocated>>10)
		})
	}
}

// What stays just under each limit is accepted.
func TestJustUnderTheBudget(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"64 levels", levels(64)},
		{"1,000 keys", keys(1000)},
		{"100 aliases", "a: &a 1\nb: [" + repeat("*a,", 100*3) + "]\n"},
		{"64 KiB in a scalar", "a: " + repeat("x", 64<<10) + "\n"},
		{"10,000 nodes", "[" + repeat("1,", 9999*2) + "]\n"},
		{"64 documents and many empty ones", repeat("---\na: 1\n", 64*9) + repeat("---\n# nothing\n", 10_000)},
		{"128 KiB in a document", "a: [" + repeat("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx,", 128<<10-32) + "]\n"},
		{"an expansion to nearly a mebibyte", "a: &a \"" + repeat("x", 10_000) + "\"\nb: [" + repeat("*a,", 99*3) + "]\n"},
		{"nested aliases just below the ratio", laughs(3, 9)},
		{"an exponent of 400, read as a text", "a: 1e400\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			docs, err := Decode([]byte(c.text))
			runtime.ReadMemStats(&after)
			if err != nil {
				t.Fatal(err)
			}
			for _, doc := range docs {
				if v, err := manifest.Parse(doc.JSON()); err != nil || !v.Exists() {
					t.Error(err)
				}
			}
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 64<<20 {
				t.Errorf("allocated %d KiB", allocated>>10)
			} else {
				t.Logf("%d bytes, %d KiB allocated", len(c.text), allocated>>10)
			}
		})
	}
}

// The work grows with the text and no faster: counted, since clocks lie on a busy machine.
func TestWorkIsLinear(t *testing.T) {
	shapes := map[string]func(n int) string{
		"keys":          keys,
		"equal keys":    func(n int) string { return repeat("a: 1\n", n*5) },
		"elements":      func(n int) string { return repeat("- 1\n", n*4) },
		"small objects": func(n int) string { return repeat("- {a: 1, b: 2}\n", n*15) },
		"merges": func(n int) string {
			return "m: &m {a: 1, b: 2, c: 3}\nl:\n" + repeat("- {<<: *m, d: 4}\n", n*17)
		},
	}
	most := 4000
	if testing.Short() {
		most = 1000
		t.Log("left out with -short: 2000 and 4000 of each")
	}
	for name, shape := range shapes {
		work := func(n int) int {
			d := &decoder{budget: budget{1 << 30, 1 << 30, 1 << 30, 1 << 30, 64, 1 << 30, 1 << 30, 1 << 30, 1 << 30}}
			d.decode([]byte(shape(n)))
			return d.work
		}
		for n := 1000; n <= most; n *= 2 {
			small, large := work(n), work(2*n)
			if small == 0 || float64(large) > 2.1*float64(small) {
				t.Errorf("%s: %d take %d steps, %d take %d", name, n, small, 2*n, large)
			}
		}
	}
}

func BenchmarkBombs(b *testing.B) {
	for _, bomb := range bombs {
		b.Run(strings.ReplaceAll(bomb.name, " ", "_"), func(b *testing.B) {
			text := []byte(bomb.text)
			b.ReportAllocs()
			for b.Loop() {
				Decode(text)
			}
		})
	}
}

// BenchmarkKeys is for the eye: the time must not grow faster than the number of keys.
func BenchmarkKeys(b *testing.B) {
	for n := 1000; n <= 16000; n *= 2 {
		text := []byte(keys(n))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				d := &decoder{budget: budget{1 << 30, 1 << 30, 1 << 30, 1 << 30, 64, 1 << 30, 1 << 30, 1 << 30, 1 << 30}}
				d.decode(text)
			}
		})
	}
}
