package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
)

// tree writes files below a new folder; a content that begins with -> is a link.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if to, link := strings.CutPrefix(content, "->"); link {
			err = os.Symlink(to, path)
		} else {
			err = os.WriteFile(path, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	bigMap   = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: big\ndata:\n  a: |\n"
	aService = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n"
	aJobSet  = `{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: js, namespace: ml}, spec: {replicatedJobs: [
{name: a, template: {spec: {template: {spec: {containers: [{name: main, image: i}]}}}}}, {name: b, template: {spec: {template: {spec: {containers: [{name: main, image: i}]}}}}}]}}
`
)

// TestEachDocumentIsJudgedForItself: what is wrong with one, or too large in one, does not hide the
// others (R-W9).
func TestEachDocumentIsJudgedForItself(t *testing.T) {
	big := bigMap + strings.Repeat("    "+strings.Repeat("x", 70)+"\n", 6000)
	dir := tree(t, map[string]string{
		"a.yaml": big + "---\n" + pod + "\n---\na: [\n---\n" + pod + "\n",
		"b.json": "[1]", "c.yaml": aJobSet,
	})
	got := podfate(t, "", "validate", "-f", dir, "-o", "jsonl")
	var lines []string
	for line := range strings.Lines(got.out) {
		var l struct {
			File, Kind, Namespace, Name string
			Document, Line              int
			Answer                      struct {
				Valid *bool
				Error *struct{ Code string }
			}
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		says := "?"
		if l.Answer.Valid != nil {
			says = fmt.Sprint(*l.Answer.Valid)
		} else if l.Answer.Error != nil {
			says = l.Answer.Error.Code
		}
		lines = append(lines, fmt.Sprintf("%s %d:%d %s %s/%s %s", filepath.Base(l.File), l.Document, l.Line, l.Kind, l.Namespace, l.Name, says))
	}
	want := "a.yaml 2:6008 Pod /p true|a.yaml 3:6010  / BAD_YAML|a.yaml 4:6012 Pod /p true|b.json 1:1  / EVENT_INVALID|c.yaml 1:1 JobSet ml/js true"
	if strings.Join(lines, "|") != want || got.status != StatusFaults {
		t.Errorf("status %d\ngot  %s\nwant %s\n%s", got.status, strings.Join(lines, "|"), want, got.err)
	}
	if says := filepath.Join(dir, "a.yaml") + ":1:1: note: \"ConfigMap big\" has no Pods and is not read\npodfate: note: skipped: 1 object without a Pod template\n"; got.err != says {
		t.Errorf("got  %s\nwant %s", got.err, says)
	}
}

// TestFilesOfOtherPrograms: a document that is neither a manifest nor a part of a Scenario is one
// fault, and belongs to no manifest next to it (R-W9); a part of a Scenario does.
func TestFilesOfOtherPrograms(t *testing.T) {
	const other = "services: {web: {image: x}}\nversion: '3'\n"
	got := podfate(t, pod+"\n---\n"+other+"---\n"+pod+"\n", "validate", "-f", "-")
	if n := strings.Count(got.out, "accepts this manifest"); n != 2 || got.status != StatusFaults || strings.Count(got.err, "\n") != 1 ||
		!strings.HasPrefix(got.err, "stdin:3:1: neither a manifest") || !strings.Contains(got.err, `no member "services"`) {
		t.Errorf("status %d\n%s%s", got.status, got.out, got.err)
	}
	got = podfate(t, pod+"\n---\nexits: [{exitCode: 1}]\n---\n"+other, "decide", "-f", "-")
	if !strings.Contains(got.out, "exits 1") || got.status != StatusFaults || strings.Count(got.err, "\n") != 1 {
		t.Errorf("status %d\n%s%s", got.status, got.out, got.err)
	}
	got = podfate(t, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`+"\n[1]\n", "validate", "-f", "-")
	if !strings.Contains(got.out, "accepts this manifest") || got.status != StatusFaults || strings.Count(got.err, "\n") != 1 {
		t.Errorf("status %d\n%s%s", got.status, got.out, got.err)
	}
	dir := tree(t, map[string]string{"list.yaml": "- a\n", "sub/kindless.yaml": "spec: {}\n", "compose.yaml": other, "p.json": `{"name":"x","version":"1"}`, "pod.yaml": pod})
	got = podfate(t, "", "validate", "-f", dir)
	if !strings.Contains(got.out, "accepts this manifest") || got.status != StatusFaults || strings.Count(got.err, "\n") != 4 {
		t.Errorf("status %d\n%s%s", got.status, got.out, got.err)
	}
	got = podfate(t, "metadata: {name: x}\nspec: {containers: []}\n", "validate", "-f", "-")
	if got.err != "stdin:1:1: manifest: a manifest has apiVersion and kind: without both of them this is not read as one\n" || got.status != StatusFaults {
		t.Errorf("status %d\n%s%s", got.status, got.out, got.err)
	}
	in := func(name string) string { return filepath.Join(dir, name) } // pre-commit names all files of a repository
	got = podfate(t, "", "validate", "--hook", in("compose.yaml"), in("list.yaml"), in("p.json"))
	if slip := podfate(t, "", "validate", "--hook", in("sub/kindless.yaml")); slip.status != StatusFaults {
		t.Errorf("status %d\n%s%s", slip.status, slip.out, slip.err)
	}
	if got.status != 0 || strings.Count(got.err, "note: ") != 4 || !strings.Contains(got.err, "skipped: 3 objects") {
		t.Errorf("status %d\n%s%s", got.status, got.out, got.err)
	}
}

// TestFoldersAndLinks: a linked folder is walked once, and everything skipped is named and
// counted (R-W10).
func TestFoldersAndLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("left out on Windows: making a link takes a privilege there")
	}
	dir := tree(t, map[string]string{
		"real/pod.yaml": pod, "real/deep/pod.yml": pod, "real/deep/up": "->../..", "real/readme.txt": "x",
		"real/kustomization.yaml": "resources: [pod.yaml]\n", "real/chart/values.yaml": "a: 1\n", "real/chart/Chart.yaml": "apiVersion: v2\nname: x\n",
		"real/gone.yaml": "->nowhere", "real/gone": "->nowhere", "other/job.yaml": strings.Replace(pod, "name: p", "name: q", 1),
		"real/other": "->../other", "real/again": "->../other", "link": "->real",
	})
	for _, from := range []string{"link", "link/", "real"} {
		got := podfate(t, "", "validate", "-f", filepath.Join(dir, from)+from[len(strings.TrimSuffix(from, "/")):])
		if n := strings.Count(got.out, "accepts this manifest"); got.status != 0 || n != 3 {
			t.Errorf("%s: status %d, %d answers\n%s%s", from, got.status, n, got.out, got.err)
		}
		for _, says := range []string{
			"kustomization.yaml: note: skipped: it is for kustomize", "values.yaml: note: skipped: it holds values", "Chart.yaml: note: skipped: it describes",
			"gone.yaml: note: skipped: this link leads nowhere", "gone: note: skipped: this link leads nowhere", "other: note: skipped: the folder that this link leads to is read already",
			"podfate: note: skipped: ",
		} {
			if !strings.Contains(got.err, says) {
				t.Errorf("%s: %q is missing\n%s", from, says, got.err)
			}
		}
	}
}

// TestScenarioInAFolder: what it asks of other operations is left out, and said (R-W10).
func TestScenarioInAFolder(t *testing.T) {
	dir := tree(t, map[string]string{
		"pod.yaml":      pod,
		"scenario.yaml": "apiVersion: podfate.dev/v1\nkind: Scenario\nexits: [{exitCode: 1}]\ncluster: {version: \"1.35\"}\n",
	})
	for _, op := range []string{"validate", "simulate"} {
		got := podfate(t, "", op, "-f", dir)
		if got.status != 0 || !strings.Contains(got.out, "Kubernetes 1.35") || !strings.Contains(got.err, "scenario.yaml: exits is for decide and is left out here\n") {
			t.Errorf("%s: status %d\n%s%s", op, got.status, got.out, got.err)
		}
	}
	if got := podfate(t, "", "decide", "-f", dir); got.status != 0 || !strings.Contains(got.out, "main") || got.err != "" {
		t.Errorf("status %d\n%s%s", got.status, got.out, got.err)
	}
}

// TestPartsOfARequestInAFile: a document without a kind goes with the manifests of its file,
// wherever it is.
func TestPartsOfARequestInAFile(t *testing.T) {
	dir := tree(t, map[string]string{"a.yaml": pod + "\n---\nexits: [{exitCode: 1}]\n", "b.yaml": "exits: [{exitCode: 2}]\n---\n" + pod})
	got := podfate(t, "", "decide", "-f", dir, "-o", "json")
	if got.status != 0 || strings.Count(got.out, `"exitCode":1`) != 1 || strings.Count(got.out, `"exitCode":2`) != 1 {
		t.Errorf("status %d\n%s%s", got.status, got.out, got.err)
	}
}

// TestWhoUsesRules: of a folder, table says which manifests have rules that decide about some exit,
// and which containers (000-50).
func TestWhoUsesRules(t *testing.T) {
	const rules = `{apiVersion: v1, kind: Pod, metadata: {name: r}, spec: {restartPolicy: Never, containers: [{name: m, image: i}, {name: o, image: i,
 restartPolicy: Never, restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [42]}}]}]}}`
	dir := tree(t, map[string]string{"a.yaml": pod, "b.yaml": rules})
	got := podfate(t, "", "table", "-f", dir, "-o", "jsonl")
	var list []string
	for _, line := range strings.Split(strings.TrimSpace(got.out), "\n") {
		var a struct {
			Name   string
			Answer struct{ UsesRules []string }
		}
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("%v: %s%s", err, line, got.err)
		}
		list = append(list, a.Name+" "+strings.Join(a.Answer.UsesRules, ","))
	}
	if want := "p |r spec.containers[1].restartPolicyRules[0]"; strings.Join(list, "|") != want {
		t.Errorf("%q, want %q", list, want)
	}
}

// TestTemplatesOnTheCommandLine: over time each template is played by itself.
func TestTemplatesOnTheCommandLine(t *testing.T) {
	got := podfate(t, aJobSet, "simulate", "-f", "-", "--run", "main=10s:1x2", "-o", "jsonl")
	if got.status != 0 || strings.Count(got.out, `"template":"spec.replicatedJobs[0].template"`) != 1 || strings.Count(got.out, `"template":"spec.replicatedJobs[1].template"`) != 1 {
		t.Errorf("status %d\n%.2000s%s", got.status, got.out, got.err)
	}
	if got := podfate(t, aJobSet, "simulate", "-f", "-"); got.status != 0 || !strings.Contains(got.out, "spec.replicatedJobs[1].template") {
		t.Errorf("status %d\n%.2000s%s", got.status, got.out, got.err)
	}
}

// TestManyFiles: memory does not grow with the number of documents, nor with their length.
// PODFATE_LONG=1 makes it 10,000 files and 100 MB.
func TestManyFiles(t *testing.T) {
	files, megabytes := 300, 32
	if os.Getenv("PODFATE_LONG") != "" {
		files, megabytes = 10_000, 100
	}
	dir := t.TempDir()
	for i := range files {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%05d.yaml", i)), []byte(pod+"\n---\n"+aService), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stream := filepath.Join(t.TempDir(), "stream.yaml")
	f, err := os.Create(stream)
	if err != nil {
		t.Fatal(err)
	}
	block := bigMap + strings.Repeat("    "+strings.Repeat("x", 70)+"\n", 3000) + "---\n" + pod + "\n---\n"
	blocks := megabytes << 20 / len(block)
	for range blocks {
		if _, err := f.WriteString(block); err != nil {
			t.Fatal(err)
		}
	}
	f.Close()
	for _, c := range []struct {
		from        string
		valid, over int
	}{{dir, files, files}, {stream, blocks, blocks}} {
		var peak uint64
		measured, before := 0, held()
		out, errs := counter{what: `"valid":true`}, counter{what: fmt.Sprintf("skipped: %d objects without a Pod template\n", c.over)}
		out.each = func() {
			if out.n%50 == 0 {
				now := held() // less than before where what earlier tests held is freed meanwhile
				peak = max(peak, now-min(now, before))
				measured++
			}
		}
		status := Main(t.Context(), []string{"validate", "-f", c.from, "-o", "jsonl"}, Streams{Out: &out, Err: &errs})
		if status != 0 || out.n != c.valid || errs.n != 1 {
			t.Errorf("%s: status %d, %d of %d valid", c.from, status, out.n, c.valid)
		}
		if measured < c.valid/50 {
			t.Errorf("%s: measured %d times", c.from, measured)
		}
		t.Logf("%s: %d answers, at most %d MiB held", filepath.Base(c.from), c.valid, peak>>20)
		if most := uint64(24 << 20); peak > most { // less than the stream has
			t.Errorf("%s: %d bytes were held, at most %d wanted", c.from, peak, most)
		}
	}
}

// counter counts what is written in one piece.
type counter struct {
	what string
	n    int
	each func() // after each piece; nil for nothing
}

func (c *counter) Write(b []byte) (int, error) {
	c.n += bytes.Count(b, []byte(c.what))
	if c.each != nil {
		c.each()
	}
	return len(b), nil
}

// held is what a collection leaves. It is asked where answers are written, so that the reader waits
// for it: what is made while a collection goes on counts as held, which on a busy machine can be a
// hundred megabytes.
func held() uint64 {
	runtime.GC()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return live[0].Value.Uint64()
}

// TestWhatIsValidatedBesideAManifest: an update, a static Pod, one template of several, a kubelet's
// configuration (R-W11).
func TestWhatIsValidatedBesideAManifest(t *testing.T) {
	dir := tree(t, map[string]string{
		"pod.yaml": pod, "old.yaml": strings.Replace(pod, `"main"`, `"other"`, 1), "job.yaml": "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\n",
		"js.yaml": aJobSet, "two.yaml": pod + "\n---\n" + pod, "broken.yaml": "a: [\n",
		"kubelet.yaml": "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 5\n",
		"bad.yaml":     "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: many\n",
	})
	for _, c := range []struct {
		args   string
		status int
		says   string
	}{
		{"-f pod.yaml --old old.yaml", 1, "pod updates may not change fields"},
		{"-f pod.yaml --old pod.yaml", 0, "accepts this manifest"},
		{"-f pod.yaml --old job.yaml", 1, "old.kind: must be the kind of the manifest"},
		{"-f pod.yaml --old two.yaml", 1, "two.yaml: 2 documents"},
		{"-f pod.yaml --old broken.yaml", 1, "broken.yaml:1:"},
		{"-f pod.yaml --old nowhere.yaml", 2, "nowhere.yaml: no such file"},
		{"-f pod.yaml --old .", 2, "is a folder"},
		{"-f pod.yaml --old pod.yaml --static", 2, "a static Pod is not updated"},
		{"-f - --old -", 2, "cannot both read standard input"},
		{"-f - --old - --link", 2, "cannot both read standard input"},
		{"-f pod.yaml --static", 0, "accepts this manifest"},
		{"-f job.yaml --static", 1, "only a Pod can be static"},
		{"-f js.yaml --template spec.replicatedJobs[1].template", 0, "accepts its 1 template"},
		{"-f js.yaml", 0, "accepts its 2 templates"},
		{"-f js.yaml --template spec", 1, "templatePath: \"spec\" is not the path of a template"},
		{"-f pod.yaml --template spec", 1, "templatePath: a Pod has no template"},
		{"-f kubelet.yaml", 0, "KubeletConfiguration (kubelet.yaml): Kubernetes 1.37 accepts this manifest"},
		{"-f bad.yaml", 1, "bad.yaml:3:10: cluster.kubeletConfiguration.maxPods: must be an integer"},
	} {
		t.Chdir(dir)
		got := podfate(t, "", append([]string{"validate"}, strings.Fields(c.args)...)...)
		if got.status != c.status || !strings.Contains(got.out+got.err, c.says) {
			t.Errorf("%s: status %d, want %d with %q\n%s%s", c.args, got.status, c.status, c.says, got.out, got.err)
		}
	}
}

// TestFilesWithoutDocuments: of a folder such a file is passed over, as kubectl does it with one whose
// manifests are all commented out; a file that was named itself is not, nor is null an answer.
func TestFilesWithoutDocuments(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"alone", "beside"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), "off.yaml", "# apiVersion: v1\n# kind: Pod\n")
	}
	write(t, filepath.Join(dir, "beside"), "null.yaml", "---\nnull\n---\n~\n")
	write(t, filepath.Join(dir, "beside"), "pod.yaml", pod)
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"-f", filepath.Join(dir, "beside")}, StatusOK, "skipped: 2 files"},
		{[]string{"-f", filepath.Join(dir, "alone")}, StatusFaults, "no file holds a manifest"},
		{[]string{"-f", filepath.Join(dir, "alone", "off.yaml")}, StatusFaults, "no document"},
		{[]string{"-f", filepath.Join(dir, "beside", "null.yaml")}, StatusFaults, "no document"},
		{[]string{"-f", filepath.Join(dir, "beside"), "-f", filepath.Join(dir, "alone", "off.yaml")}, StatusFaults, "no document"},
		{[]string{"--hook", filepath.Join(dir, "alone", "off.yaml")}, StatusOK, "there is no document in it"},
	} {
		if got := podfate(t, "", append([]string{"validate"}, c.args...)...); got.status != c.status || !strings.Contains(got.err, c.says) {
			t.Errorf("%v: status %d\n%s", c.args, got.status, got.err)
		}
	}
}
