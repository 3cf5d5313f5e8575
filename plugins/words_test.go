package plugins

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/policy/packed"
	"github.com/podfate/podfate/policy/policytest"
	"github.com/podfate/podfate/wasm/guest/machine"
)

// sameWords compares the lists of words that a language printed as JSON with the core's.
func sameWords(t *testing.T, printed []byte) {
	t.Helper()
	var got struct{ Actions, Levels, Reasons, Ignored []string }
	if err := json.Unmarshal(printed, &got); err != nil {
		t.Fatalf("%v in %s", err, printed)
	}
	for _, list := range []struct {
		name      string
		got, want []string
	}{
		{"actions", got.Actions, policy.VerdictActions}, {"levels", got.Levels, policy.VerdictLevels},
		{"reasons", got.Reasons, policy.VerdictReasons}, {"ignored", got.Ignored, policy.VerdictIgnored},
	} {
		if !slices.Equal(list.got, list.want) {
			t.Errorf("%s\ngot  %q\nwant %q", list.name, list.got, list.want)
		}
	}
}

func TestJavaScriptWords(t *testing.T) {
	sameWords(t, output(t, policytest.Command(node(t), "--input-type=module", "--eval",
		`import {words} from './js/batch.js'; console.log(JSON.stringify(words))`)))
}

// TestPythonWords needs nothing but Python: the file with the words imports no engine.
func TestPythonWords(t *testing.T) {
	python := policytest.Executable(t, "Python 3", "the Python package", "python3")
	sameWords(t, output(t, policytest.Command(python, "-B", "-c", `import json, runpy
b = runpy.run_path("python/src/podfate/_batch.py")
print(json.dumps({name: b[name.upper()] for name in ("actions", "levels", "reasons", "ignored")}))`)))
}

func TestRustWords(t *testing.T) {
	parallel(t)
	sameWords(t, output(t, cargo(t, "", "run", "--release", "--example", "words", "--target-dir", rustTarget(t, "wasmi"))))
}

func TestJavaWords(t *testing.T) {
	sameWords(t, output(t, java(t).run("dev.podfate.Words")))
}

// numbers are what the module, its header in C and its documentation have to agree on, by their
// names in the header.
func numbers() map[string]int64 {
	all := map[string]int64{
		"ABI_MAJOR": machine.ABIVersion >> 16, "ABI_MINOR": machine.ABIVersion & 0xFFFF,
		"MAX_REQUEST_BYTES": policy.MaxRequestBytes, "MAX_ANSWER_BYTES": policy.MaxOutputBytes, "MAX_BATCH_RECORDS": policy.MaxBatchRecords,
		"BATCH_VERSION": 1, "BATCH_MAGIC": 0x31424650, "ANSWER_MAGIC": 0x31524650, "NONE": int64(policy.NoContainer),
		"ASK_EXITS": int64(policy.AskExits), "ASK_PODS": int64(policy.AskPods),
		"EVENT_OOM_KILLED": int64(policy.EventOOMKilled), "EVENT_HISTORY": int64(policy.EventHistory), "EVENT_MORE": int64(policy.EventMore), "EVENT_RESTARTS": int64(policy.EventRestarts),
		"VERDICT_POD_FAILS": int64(policy.VerdictPodFails), "VERDICT_UNDECIDED": int64(policy.VerdictUndecided),
		"VERDICT_COUNTED": int64(policy.VerdictCounted), "VERDICT_MORE": int64(policy.VerdictMore),
	}
	for _, op := range ops.Table() {
		all[strings.ToUpper(op.Name)] = int64(op.Number)
	}
	all["OK"] = 0
	for _, code := range errorCodes {
		all[string(code)] = int64(code.Number())
	}
	for name, words := range map[string][]string{
		"ACTION": policy.VerdictActions, "LEVEL": policy.VerdictLevels, "REASON": policy.VerdictReasons, "IGNORED": policy.VerdictIgnored,
	} {
		for n, word := range words {
			if word == "" {
				word = "none"
			}
			all[name+"_"+upper(word)] = int64(n)
		}
	}
	return all
}

var errorCodes = []policy.ErrorCode{
	policy.BadJSON, policy.BadUTF8, policy.ManifestInvalid, policy.EventInvalid, policy.UnknownHandle, policy.LimitExceeded,
	policy.UnsupportedOp, policy.UnsupportedVersion, policy.Internal, policy.BadBuffer, policy.OutputTooSmall, policy.BudgetExceeded,
}

// upper writes FailJob and rule_matched as FAIL_JOB and RULE_MATCHED.
func upper(word string) string {
	return strings.ToUpper(regexp.MustCompile(`([a-z])([A-Z])`).ReplaceAllString(word, "${1}_$2"))
}

// TestCWords compares every number in podfate.h with the core's. Numbers from 100 on are those of
// hosts.
func TestCWords(t *testing.T) {
	header, err := os.ReadFile("c/podfate.h")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for _, match := range regexp.MustCompile(`(?m)^(?:#define|   ) PODFATE_([A-Z0-9_]+)(?: =)? (0x[0-9A-Fa-f]+|[0-9]+)u?\b`).FindAllStringSubmatch(string(header), -1) {
		n, err := strconv.ParseInt(match[2], 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		if n < 100 || !strings.Contains("TRAP MALFORMED ABI NO_MEMORY CLOSED", match[1]) {
			got[match[1]] = n
		}
	}
	want := numbers()
	for name, n := range want {
		if had, is := got[name]; !is || had != n {
			t.Errorf("PODFATE_%s: %d in the header (there: %t), %d in the core", name, had, is, n)
		}
	}
	for name := range got {
		if _, is := want[name]; !is {
			t.Errorf("PODFATE_%s is in the header, not in the core", name)
		}
	}
	for _, size := range []struct {
		record string
		bytes  int
	}{{"batch_header", packed.HeaderBytes}, {"event", packed.EventBytes}, {"answer_header", packed.AnswerHeaderBytes}, {"verdict", packed.VerdictBytes}} {
		if text := fmt.Sprintf("sizeof(podfate_%s) == %d", size.record, size.bytes); !strings.Contains(string(header), text) {
			t.Errorf("the header does not say %s", text)
		}
	}
}

// TestDocumentsAgree holds the numbers in the documentation of the ABI and on the page of the
// plugins against the core.
func TestDocumentsAgree(t *testing.T) {
	read := func(path string) string {
		text, err := os.ReadFile(filepath.FromSlash(path))
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(text), "\n//", "\n")
	}
	doc, page := read("../wasm/doc.go"), read("README.md")
	for _, code := range errorCodes {
		if !regexp.MustCompile(fmt.Sprintf(`\b%d %s\b`, code.Number(), code)).MatchString(doc) {
			t.Errorf("wasm/doc.go does not say %d %s", code.Number(), code)
		}
	}
	section := func(name string) string { // from the name in a table to the next one
		_, text, _ := strings.Cut(doc, "\n\t"+name+" ")
		if at := regexp.MustCompile(`\n\t[a-z]|\n\n`).FindStringIndex(text); at != nil {
			text = text[:at[0]]
		}
		return text
	}
	for name, words := range map[string][]string{
		"action": policy.VerdictActions, "level": policy.VerdictLevels, "reason": policy.VerdictReasons, "ignored": policy.VerdictIgnored,
	} {
		text := section(name)
		for n, word := range words {
			if word == "" {
				word = "none"
			}
			if !regexp.MustCompile(fmt.Sprintf(`\b%d %s\b`, n, word)).MatchString(text) {
				t.Errorf("wasm/doc.go: %s does not say %d %s: %s", name, n, word, text)
			}
		}
		if count := len(regexp.MustCompile(`\b[0-9]+ [a-zA-Z_]+`).FindAllString(text, -1)); count != len(words) {
			t.Errorf("wasm/doc.go: %s has %d words, the core %d: %s", name, count, len(words), text)
		}
	}
	for _, fact := range []struct {
		where, text string
		facts       []any
	}{
		{"wasm/doc.go", doc, []any{
			"ABI, version ", machine.ABIVersion >> 16, ".", machine.ABIVersion & 0xFFFF, "|beyond ", policy.MaxBuffers, " buffers or ", policy.MaxBufferBytes >> 20, " MiB",
			"|At most ", policy.MaxHandles, " policies", "|and ", policy.MaxHandleBytes >> 20, " MiB of them", "|header ", packed.HeaderBytes, " B", "|event  ", packed.EventBytes, " B",
			"|answer ", packed.AnswerHeaderBytes, " B", "|verdict ", packed.VerdictBytes, " B", "|at most ", policy.MaxBatchRecords,
		}},
		{"plugins/README.md", strings.Join(strings.Fields(page), " "), []any{
			"version ", machine.ABIVersion >> 16, ".", machine.ABIVersion & 0xFFFF, "|at most ", policy.MaxBuffers, " buffers and ", policy.MaxBufferBytes >> 20, " MiB",
			"|", packed.HeaderBytes, " + ", packed.EventBytes, "·count", "|", packed.AnswerHeaderBytes, " + ", packed.VerdictBytes, "·count",
			"|−", policy.UnknownHandle.Number(), " handle", "|−", policy.LimitExceeded.Number(), " more than 65 536 events", "|−", policy.UnsupportedVersion.Number(), " another version",
			"|−", policy.BadBuffer.Number(), " a buffer", "|−", policy.OutputTooSmall.Number(), " `out` too short", "|−", policy.EventInvalid.Number(), " a malformed header",
			"|trap of the engine, ", policy.Internal.Number(), " INTERNAL",
		}},
	} {
		for _, sentence := range strings.Split(fmt.Sprint(fact.facts...), "|") {
			if !strings.Contains(fact.text, strings.TrimSpace(sentence)) {
				t.Errorf("%s does not say %q", fact.where, sentence)
			}
		}
	}
}
