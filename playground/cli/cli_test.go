package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/policy/policytest"
	"github.com/podfate/podfate/schema"
	"go.yaml.in/yaml/v3"
)

// result is what a command did.
type result struct {
	status   int
	out, err string
}

func podfate(t testing.TB, stdin string, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	status := Main(t.Context(), args, Streams{In: strings.NewReader(stdin), Out: &out, Err: &errs})
	return result{status, out.String(), errs.String()}
}

func read(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"main","image":"i"}]}}`

// TestJSONIsWhatTheCoreWrites: a request that is given as it is comes back as the core answers it,
// through each engine.
func TestJSONIsWhatTheCoreWrites(t *testing.T) {
	requests := map[string][]string{
		"validate": {`{"manifest":` + pod + `}`, `{"manifest":{"kind":"Pod"}}`, `{"manifest":7}`, `{}`},
		"decide": {
			`{"manifest":` + pod + `,"exits":[{"exitCode":1}]}`,
			`{"manifest":` + pod + `,"exits":[{"container":"other","exitCode":1}]}`,
			`{"cluster":{"version":"1.20"},"manifest":` + pod + `,"exits":[{"exitCode":1}]}`,
			`{"manifest":` + pod + `,"exits":[{"exitCode":1}],"more":1}`,
		},
	}
	for _, engine := range engines {
		for name, list := range requests {
			op, _ := ops.Lookup(name)
			if engine != "native" {
				list = policytest.Sample(t, len(list), list) // each compiles the module
			}
			for _, request := range list {
				want, failed := ops.Call(op.Number, []byte(request))
				got := podfate(t, request, name, "-f", "-", "-o", "json", "--engine", engine)
				if got.out != string(want)+"\n" || got.err != "" {
					t.Errorf("%s %s %s:\n got %s%s\nwant %s", engine, name, request, got.out, got.err, want)
				}
				if bad := failed || strings.HasPrefix(string(want), `{"valid":false`); (got.status == StatusFaults) != bad || got.status > StatusFaults {
					t.Errorf("%s %s: status %d", name, request, got.status)
				}
			}
		}
		want, _ := ops.Call(1, []byte(`{"module":`+string(moduleMember())+`}`))
		if got := podfate(t, "", "describe", "-o", "json", "--engine", engine); got.out != string(want)+"\n" || got.status != 0 {
			t.Errorf("%s describe: status %d, %s%s", engine, got.status, got.out, got.err)
		}
	}
}

// placeOfWarning is where a warning about a code that no process has is, in a request: what
// flags set is nowhere.
var placeOfWarning = regexp.MustCompile(`("source":"wait\(2\)"),"line":\d+,"column":\d+`)

func withoutPlaceOfWarnings(answer []byte) string {
	return string(placeOfWarning.ReplaceAll(answer, []byte("$1")))
}

// TestFlagsAreTheRequest: flags say the same as a request that is written out.
func TestFlagsAreTheRequest(t *testing.T) {
	request := `{"cluster":{"version":"1.34","featureGates":{"ContainerRestartRules":true}},"fieldValidation":"Warn","manifest":` + pod +
		`,"exits":[{"container":"main","exitCode":137,"reason":"OOMKilled"},{"exitCode":255}]}`
	want, _ := ops.Call(3, []byte(request))
	got := podfate(t, pod, "decide", "-f", "-", "--exit", "main=137:OOMKilled", "--exit", "255",
		"--kubernetes-version", "1.34", "--feature-gates", "ContainerRestartRules=true", "--validate=warn", "-o", "json")
	if got.out != withoutPlaceOfWarnings(want)+"\n" {
		t.Errorf("got %s%s\nwant %s", got.out, got.err, want)
	}
	request = `{"cluster":{"kubelet":{"version":"1.35","featureGates":{"NodeDeclaredFeatures":true}}},"manifest":` + pod + `,"exits":[{"exitCode":1}]}`
	want, _ = ops.Call(3, []byte(request))
	got = podfate(t, pod, "decide", "-f", "-", "--exit", "1", "--kubelet-version", "1.35", "--kubelet-feature-gates", "NodeDeclaredFeatures=true", "-o", "json")
	if got.out != string(want)+"\n" {
		t.Errorf("a node of its own: got %s%s\nwant %s", got.out, got.err, want)
	}
	if got := podfate(t, pod, "validate", "-f", "-", "--validate", "-o", "json"); got.status != 0 {
		t.Errorf("--validate alone: status %d, %s", got.status, got.err)
	}
}

// A text begins with what it is about, and describe is about no manifest.
func TestDescribeNamesNoManifest(t *testing.T) {
	if got := podfate(t, "", "describe"); !strings.HasPrefix(got.out, "• Kubernetes 1.33") {
		t.Errorf("%s%s", got.out, got.err)
	}
}

func TestYAMLOutputSaysTheSame(t *testing.T) {
	for _, args := range [][]string{
		{"decide", "-f", "testdata/pod.yaml", "--exit", "main=42"},
		{"decide", "-f", "testdata/bad.yaml", "--exit", "main=42"},
		{"validate", "-f", "testdata/bad.yaml"},
		{"describe"},
	} {
		asJSON, asYAML := podfate(t, "", append(args, "-o", "json")...), podfate(t, "", append(args, "-o", "yaml")...)
		var want, got any
		if err := json.Unmarshal([]byte(asJSON.out), &want); err != nil {
			t.Fatalf("%v: %v: %s", args, err, asJSON.err)
		}
		if err := yaml.Unmarshal([]byte(asYAML.out), &got); err != nil {
			t.Fatalf("%v: %v:\n%s", args, err, asYAML.out)
		}
		if !reflect.DeepEqual(normal(got), want) || asYAML.status != asJSON.status {
			t.Errorf("%v:\n%s\n%s", args, asYAML.out, asJSON.out)
		}
		if strings.Contains(asYAML.out, "{\"") {
			t.Errorf("%v: flow style is left:\n%s", args, asYAML.out)
		}
	}
}

// normal turns the integers of YAML into what encoding/json makes of them.
func normal(v any) any {
	switch v := v.(type) {
	case int:
		return float64(v)
	case map[string]any:
		for name, child := range v {
			v[name] = normal(child)
		}
	case []any:
		for i, child := range v {
			v[i] = normal(child)
		}
	}
	return v
}

func TestYAMLQuotesWhatOldReadersMistake(t *testing.T) {
	p := &printer{Streams: Streams{Out: new(bytes.Buffer)}}
	for _, text := range []string{"yes", "No", "on", "OFF", "y", "null", "~", "1.37", "012", "1_000", "12:30", "", " a", "a: b", "a #b", "- a", "0x1", ".inf", "a\nb", "é", "=", "<<", "\u2028"} {
		out := new(bytes.Buffer)
		p.Out = out
		answer, err := json.Marshal(map[string]string{"a": text})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.yaml(outcome{answer: answer}); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(out.String(), `a: "`) && text != "=" {
			t.Errorf("%q is written as %s", text, out)
		}
		docs, err := schema.Decode(out.Bytes()) // reads YAML as Kubernetes does, that is 1.1
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		var back map[string]any
		if err := json.Unmarshal(docs[0].JSON(), &back); err != nil || back["a"] != text {
			t.Errorf("%q comes back as %v", text, back["a"])
		}
	}
}

func TestDecideText(t *testing.T) {
	got := podfate(t, "", "decide", "-f", "testdata/pod.yaml", "--exit", "main=42", "--exit", "1:OOMKilled")
	want := `Pod trainer (testdata/pod.yaml), Kubernetes 1.37

• 2 exits: 1 Restart, 1 Stop
  Each exit is judged on its own.

kubectl get pods, just after each exit
  NAME      READY   STATUS      RESTARTS
  trainer   0/1     Error       0
  trainer   0/1     OOMKilled   0

main exits with 42: Restart, by rule 0
  matched      rule 0                         line 12  In [42] → Restart  42 is in [42]
  not reached  the container's restartPolicy  line 10  Never              already decided
  not reached  the Pod's restartPolicy        line 6   Never              already decided

main exits with 1 (OOMKilled): Stop, because restartPolicy is Never
  not matched  rule 0                         line 12  In [42] → Restart  1 is not in [42]
  matched      the container's restartPolicy  line 10  Never              restartPolicy is Never
  not reached  the Pod's restartPolicy        line 6   Never              already decided
`
	if got.out != want || got.err != "" || got.status != 0 {
		t.Errorf("status %d\n%s%s", got.status, got.out, got.err)
	}
}

func TestLivePod(t *testing.T) {
	got := podfate(t, read(t, "testdata/live.yaml"), "decide", "-f", "-", "--exit", "main=137")
	if got.status != 0 || got.err != "" || !strings.Contains(got.out, "main exits 137 → Restart\n") {
		t.Errorf("status %d\n%s%s", got.status, got.out, got.err)
	}
}

func TestFaultsHaveFileLineAndColumn(t *testing.T) {
	got := podfate(t, "", "validate", "-f", "testdata/bad.yaml")
	want := "testdata/bad.yaml:7:5: spec.containers[0].restartPolicy: Required value:"
	if got.status != StatusFaults || !strings.Contains(got.err, want) || !strings.Contains(got.err, "testdata/bad.yaml:11:19: spec.containers[0].restartPolicyRules[0].exitCodes.operator: Unsupported value: \"Between\"") {
		t.Errorf("status %d\n%s%s\nwant %s", got.status, got.out, got.err, want)
	}
	if got.out != "Pod trainer (testdata/bad.yaml): Kubernetes 1.37 refuses this manifest. 2 faults.\n" {
		t.Errorf("%s", got.out)
	}
	got = podfate(t, "a: [\n", "validate", "-f", "-")
	if got.status != StatusFaults || !strings.HasPrefix(got.err, "stdin:1:") || got.out != "" {
		t.Errorf("status %d\n%s%s", got.status, got.out, got.err)
	}
}

// TestTooDeepForWords: what is just too deep for the answer in words is where it does in the
// text, not where it is in the request around it (R-W5).
func TestTooDeepForWords(t *testing.T) {
	brackets := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for text, where := range map[string]string{
		`{"kind":"Pod","spec":` + brackets(62) + "}":                    "stdin:1:83: nested",
		"{\"kind\":\"Pod\",\"spec\":\n " + brackets(62) + "}":           "stdin:2:63: nested",
		"apiVersion: v1\nkind: Pod\nspec:\n  a: " + brackets(61) + "\n": "stdin:4:66: nested",
	} {
		if got := podfate(t, text, "validate", "-f", "-"); !strings.HasPrefix(got.err, where) || got.status != StatusFaults {
			t.Errorf("status %d, %q, want %s", got.status, got.err, where)
		}
	}
}

// TestMembersBesideTheManifestAreKnown holds the list of members whose faults are not in the
// manifest to the schemas of the requests.
func TestMembersBesideTheManifestAreKnown(t *testing.T) {
	members := 0
	for _, op := range ops.Table() {
		text, err := fs.ReadFile(schema.FS(), op.Name+"-request"+schema.Suffix)
		if err != nil {
			t.Fatal(err)
		}
		var request struct{ Properties map[string]any }
		if err := json.Unmarshal(text, &request); err != nil {
			t.Fatal(err)
		}
		for name := range request.Properties {
			inManifest := name == "apiVersion" || name == "kind" || name == "manifest"
			if fromFlags(name) == inManifest {
				t.Errorf("%s: fromFlags(%q) is %v", op.Name, name, !inManifest)
			}
			members++
		}
	}
	if members == 0 {
		t.Error("no schema has a member")
	}
	if got := podfate(t, pod, "simulate", "-f", "-", "--now", "noon"); !strings.HasPrefix(got.err, "podfate: now: ") || got.status != StatusFaults {
		t.Errorf("a fault of --now: status %d, %s", got.status, got.err)
	}
}

func TestTerminalIsNotWrittenTo(t *testing.T) {
	text := strings.ReplaceAll(read(t, "testdata/pod.yaml"), "name: main", `name: "\e[2J\u202Eevil"`)
	for _, args := range [][]string{{"decide", "-f", "-", "--exit", "1"}, {"validate", "-f", "-"}, {"decide", "-f", "-", "--exit", "\x1b]0;x\a=1"}} {
		got := podfate(t, text, args...)
		for _, r := range []string{"\x1b", "\u202e", "\a"} {
			if strings.Contains(got.out+got.err, r) {
				t.Errorf("%v: %q comes out raw: %q %q", args, r, got.out, got.err)
			}
		}
	}
}

func TestFoldersAndStreams(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("m/a.yaml", pod+"\n")
	write("m/b/c.yml", "apiVersion: v1\nkind: List\nitems:\n- "+pod+"\n- "+pod+"\n")
	write("m/b/d.json", pod)
	write("m/notes.txt", "not a manifest: [")
	broken := write("m/e.yaml", "a: [\n")
	scenario := write("scenario.yaml", "apiVersion: podfate.dev/v1\nkind: Scenario\ncluster: {version: \"1.35\"}\n")

	got := podfate(t, "", "validate", "-f", filepath.Join(dir, "m"), "-f", scenario)
	if got.status != StatusFaults || strings.Count(got.out, "Kubernetes 1.35 accepts this manifest") != 4 {
		t.Errorf("status %d\n%s%s", got.status, got.out, got.err)
	}
	if !strings.Contains(got.err, broken+":") || strings.Contains(got.err, "notes.txt") {
		t.Errorf("%s", got.err)
	}
	got = podfate(t, pod+"\n---\n"+pod, "validate", "-f", "-", "-o", "json")
	if lines := strings.Split(strings.TrimSuffix(got.out, "\n"), "\n"); len(lines) != 2 || got.status != 0 {
		t.Errorf("status %d, %d lines\n%s", got.status, len(lines), got.out)
	}
	if got := podfate(t, "", "validate", "-f", t.TempDir()); got.status != StatusUsage {
		t.Errorf("empty folder: status %d\n%s", got.status, got.err)
	}
	got = podfate(t, "", "decide", "-f", scenario)
	if got.status != StatusFaults || !strings.Contains(got.err, "manifest") || !strings.Contains(got.err, "--exit") {
		t.Errorf("scenario alone: status %d\n%s%s", got.status, got.out, got.err)
	}
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args   string
		status int
		says   string
	}{
		{"decid", 2, "decide"},
		{"decide --exti 1 -f x", 2, "Did you mean --exit?"},
		{"decide --kube 1.36", 2, "Did you mean --kubelet-feature-gates, --kubelet-version or --kubernetes-version?"},
		{"decide testdata/pod.yaml", 2, "Did you mean -f testdata/pod.yaml?"},
		{"validate -f testdata/pod.yaml --validate warn", 2, "Did you mean --validate=warn?"},
		{"validate warn", 2, "Did you mean -f warn?"},
		{"describe testdata/pod.yaml", 2, "unexpected argument"},
		{"decide", 2, "-f"},
		{"validate -f testdata/nothing.yaml", 2, "testdata/nothing.yaml: no such file"},
		{"validate -f testdata/none.yaml -f testdata/nothing.yaml", 2, "testdata/nothing.yaml: no such file"},
		{"decide -f testdata/pod.yaml --exit main", 2, "main=CODE"},
		{"decide -f testdata/pod.yaml --exit =1", 2, "main=CODE"},
		{"decide -f testdata/pod.yaml --exit main=99999999999", 2, "main=CODE"},
		{"decide -f testdata/pod.yaml --exit main=1 -o xml", 2, "text, json, jsonl or yaml"},
		{"decide -f testdata/pod.yaml --exit main=1 --engine jit", 2, "native or wasm"},
		{"validate -f testdata/pod.yaml --feature-gates ContainerRestartRules", 2, "NAME=true"},
		{"validate -f testdata/pod.yaml --kubelet-feature-gates ContainerRestartRules", 2, "--kubelet-feature-gates \"ContainerRestartRules\": must be NAME=true"},
		{"validate -f testdata/pod.yaml --kubelet-version 1.2", 1, "cluster.kubelet.version"},
		{"validate -f testdata/pod.yaml --validate=perhaps", 2, "strict, warn or ignore"},
		{"validate -f testdata/pod.yaml --kubernetes-version 1.2", 1, "1.2"},
		{"validate -f testdata/pod.yaml --feature-gates NoSuchGate=true", 1, "NoSuchGate"},
		{"decide -f testdata/pod.yaml", 1, "add --exit NAME=CODE"},
		{"suggest -f testdata/pod.yaml", 1, "podfate: wishes: what should an exit lead to? add --flip NAME=CODE:RESULT"},
		{"suggest -f testdata/pod.yaml --flip 1:restart --restart 42", 1, "podfate: wishes: either wishes or a flip is required, not both"},
		{"verify testdata/nothing.html", 2, "podfate: testdata/nothing.html: no such file"},
		{"embed testdata/nothing.html", 2, "podfate: testdata/nothing.html: no such file"},
		{"decide -f testdata/pod.yaml --exit other=1", 1, `podfate: exits[0].container: the Pod has no container "other" (possible: main)`},
		{"serve --addr 8080", 2, "HOST:PORT"},
		{"serve --engine jit", 2, "wasm or native"},
		{"serve --log-level loud", 2, "debug, info, warn or error"},
		{"serve extra", 2, "unexpected argument"},
		{"--addr 8080", 2, "HOST:PORT"},
	} {
		got := podfate(t, "", strings.Fields(c.args)...)
		if got.status != c.status || !strings.Contains(got.err, c.says) || got.out != "" {
			t.Errorf("podfate %s: status %d, want %d with %q\n%s%s", c.args, got.status, c.status, c.says, got.out, got.err)
		}
		if !strings.HasSuffix(got.err, "\n") || c.status == 2 && !strings.HasPrefix(got.err, "podfate: ") {
			t.Errorf("podfate %s: %q", c.args, got.err)
		}
	}
}

// TestObjectsWithoutPods: what helm template prints can be read as it is; what is skipped is
// named.
func TestObjectsWithoutPods(t *testing.T) {
	const service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"
	dir := t.TempDir()
	for name, content := range map[string]string{"a.yaml": pod + "\n---\n" + service, "service.yaml": service} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, output := range []string{"text", "json", "yaml"} {
		got := podfate(t, "", "validate", "-f", dir, "-o", output)
		want := filepath.Join(dir, "a.yaml") + ":4:7: note: \"Service web\" has no Pods and is not read\n" +
			filepath.Join(dir, "service.yaml") + ":2:7: note: \"Service web\" has no Pods and is not read\n" +
			"podfate: note: skipped: 2 objects without a Pod template\n"
		if got.status != 0 || got.err != want || strings.Contains(got.out, "Service") || got.out == "" {
			t.Errorf("%s: status %d\n%s%s", output, got.status, got.out, got.err)
		}
	}
	got := podfate(t, service, "validate", "-f", "-")
	if got.status != StatusFaults || !strings.HasPrefix(got.err, "stdin:2:7: kind: no kind that is read here") || got.out != "" {
		t.Errorf("alone: status %d\n%s%s", got.status, got.out, got.err)
	}
}

// TestHelp: each command explains itself.
func TestHelp(t *testing.T) {
	for _, op := range append(ops.Table(), ops.Operation{Name: "serve"}) {
		if v := verbs[op.Name]; op.Name != "serve" && (v.long == "" || v.example == "" || v.text == nil) {
			t.Errorf("the operation %s has no help, no example or no text: verbs in verbs.go", op.Name)
		}
		got := podfate(t, "", op.Name, "--help")
		if got.status != 0 || !strings.Contains(got.out, "Examples:") || !strings.Contains(got.out, "podfate "+op.Name) {
			t.Errorf("%s: status %d\n%s%s", op.Name, got.status, got.out, got.err)
		}
	}
	for _, command := range append(newRoot(Streams{}).Commands(), &cobra.Command{}) {
		help := podfate(t, "", append(strings.Fields(command.Name()), "--help")...).out
		for line := range strings.Lines(help) {
			if width := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); width > 80 {
				t.Errorf("%s: %d columns in a terminal of 80: %s", command.Name(), width, line)
			}
		}
	}
	got := podfate(t, "", "--version")
	if got.status != 0 || !strings.Contains(got.out, "sha256:") || !strings.HasPrefix(got.out, "podfate ") {
		t.Errorf("--version: status %d, %s", got.status, got.out)
	}
	if got := podfate(t, "", "completion", "bash"); got.status != 0 || got.out == "" {
		t.Errorf("completion: status %d, %s", got.status, got.err)
	}
	if got := podfate(t, "", "__complete", "decide", "--feature-gates", ""); !strings.Contains(got.out, "ContainerRestartRules=true") {
		t.Errorf("completion of gates: %s", got.out)
	}
}

// TestCommandsThatAreShown reads the flags of every command that help, README.md, docs/reference.md
// and the page show, as a shell would give them.
func TestCommandsThatAreShown(t *testing.T) {
	var shown []string
	collect := func(text string) {
		for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
			line, _, _ = strings.Cut(line, " #")
			if _, command, found := strings.Cut(line, "podfate "); found {
				command, _, _ = strings.Cut(command, " | ")
				shown = append(shown, strings.TrimSpace(command))
			}
		}
	}
	for _, command := range newRoot(Streams{}).Commands() {
		collect(command.Example)
	}
	inHelp := len(shown)
	for _, page := range []string{"../../README.md", "../../docs/reference.md"} {
		for i, block := range strings.Split(read(t, page), "```") {
			if i%2 == 1 {
				collect(block)
			}
		}
	}
	inReadme := len(shown) - inHelp
	var page []struct{ Command string }
	if err := json.Unmarshal([]byte(read(t, "../../web/testdata/commands.json")), &page); err != nil {
		t.Fatal(err)
	}
	for _, p := range page {
		collect(p.Command)
	}
	if inHelp < 20 || inReadme < 10 || len(shown) == inHelp+inReadme {
		t.Errorf("%d commands in help, %d in README.md and its reference, %d on the page: this test proves nothing", inHelp, inReadme, len(shown)-inHelp-inReadme)
	}
	for _, line := range shown {
		args := shellWords(line)
		command, rest, err := newRoot(Streams{}).Find(args)
		if err == nil {
			err = command.ParseFlags(rest)
		}
		if err == nil {
			err = command.ValidateArgs(command.Flags().Args())
		}
		if err != nil {
			t.Errorf("podfate %s: %v", line, err)
		}
	}
}

// shellWords splits a command as a shell does: at spaces, except between two single quotes.
func shellWords(line string) (words []string) {
	inside, begun := false, false
	for _, c := range line {
		switch {
		case c == '\'':
			inside = !inside
		case c == ' ' && !inside:
			begun = false
			continue
		}
		if !begun {
			words, begun = append(words, ""), true
		}
		if c != '\'' {
			words[len(words)-1] += string(c)
		}
	}
	return words
}

// TestReadmeShowsWhatIsPrinted runs the commands of README.md that have their output below them;
// "…" is what is left out at the end.
func TestReadmeShowsWhatIsPrinted(t *testing.T) {
	blocks := strings.Split(read(t, "../../README.md"), "```")
	t.Chdir("../..") // they are for a clone
	shown := 0
	for _, block := range blocks {
		command, want, _ := strings.Cut(strings.TrimPrefix(block, "\n"), "\n")
		args, isShown := strings.CutPrefix(command, "$ podfate ")
		if !isShown {
			continue
		}
		shown++
		got := podfate(t, "", shellWords(args)...)
		start, cut := strings.CutSuffix(want, "…\n")
		if got.status != 0 || got.err != "" || got.out != want && !(cut && strings.HasPrefix(got.out, start)) {
			t.Errorf("%s: status %d\n%s%s\nREADME.md has\n%s", command, got.status, got.out, got.err, want)
		}
	}
	if shown < 2 {
		t.Errorf("README.md shows the output of %d commands", shown)
	}
}

// TestReferenceHasTheLimits holds the limits that docs/reference.md names to the constants.
func TestReferenceHasTheLimits(t *testing.T) {
	page := strings.Join(strings.Fields(read(t, "../../docs/reference.md")), " ")
	for _, says := range []string{
		fmt.Sprintf("A request has at most %d KiB over HTTP and %d MiB in the packages of other languages.", schema.MaxBodyBytes>>10, policy.MaxRequestBytes>>20),
		fmt.Sprintf("JSON may have %d KiB, YAML %d KiB, a single string in YAML %d KiB.",
			schema.MaxBodyBytes>>10, schema.MaxDocumentBytes>>10, schema.MaxScalarBytes>>10),
		fmt.Sprintf("Input may be nested %d levels deep, and an answer has at most %d faults", policy.MaxDepth, policy.MaxFaults),
	} {
		if !strings.Contains(page, says) {
			t.Errorf("docs/reference.md does not say: %s", says)
		}
	}
}

// TestCompletion asks for the words of each flag that has some as a shell does.
func TestCompletion(t *testing.T) {
	for flag, want := range map[string]string{
		"decide --engine":               "native wasm",
		"decide --output":               "text json jsonl yaml",
		"decide --validate=":            "strict warn ignore", // a word after --validate is not its value
		"decide --kubernetes-version":   strings.Join(policy.Versions(), " "),
		"decide --feature-gates":        strings.Join(gateNames(), " "),
		"decide --kubelet-version":      strings.Join(policy.Versions(), " "),
		"curve --kubelet-feature-gates": strings.Join(gateNames(), " "),
		"simulate --first-restart":      "kubelet documented",
		"simulate --sync":               "ideal kubelet",
		"simulate --jitter":             "none mean full",
		"curve --model":                 "kubelet documented",
		"serve --engine":                "native wasm",
		"serve --log-level":             "debug info warn error",
	} {
		args := append([]string{"__complete"}, strings.Fields(flag)...)
		if !strings.HasSuffix(flag, "=") {
			args = append(args, "")
		}
		got := podfate(t, "", args...)
		words, _, _ := strings.Cut(got.out, "\n:") // the directive follows
		if strings.ReplaceAll(words, "\n", " ") != want || got.status != 0 {
			t.Errorf("%s: status %d, %q, want %q", flag, got.status, words, want)
		}
	}
}

// TestEveryOperationIsAVerb also runs those that verbs.go knows nothing about.
func TestEveryOperationIsAVerb(t *testing.T) {
	root := newRoot(Streams{Out: io.Discard, Err: io.Discard})
	for _, op := range append(ops.Table(), ops.Operation{Name: "later", Summary: "Of a later release."}) {
		command, _, err := root.Find([]string{op.Name})
		if op.Name == "later" {
			command, err = newVerb(op, Streams{}), nil
		}
		if err != nil || command.Name() != op.Name || command.Short != op.Summary {
			t.Errorf("%s: %v", op.Name, err)
		}
	}
}
