package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/policytest"
)

const embedPod = `apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  restartPolicy: Never
  containers:
  - name: main
    image: "a<b"
    restartPolicy: Never
    restartPolicyRules:
    - action: Restart
      exitCodes: {operator: In, values: [42]}
`

// TestEmbedWritesTables: into HTML and Markdown, once, and nothing else of the page changes.
func TestEmbedWritesTables(t *testing.T) {
	policytest.Quick(t, "each page asks a module of its own")
	folder := t.TempDir()
	page := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	command := func(args ...string) (int, string) {
		var out strings.Builder
		status := Main(t.Context(), append([]string{"embed"}, args...), Streams{In: strings.NewReader(""), Out: &out, Err: &out})
		return status, out.String()
	}
	page("pod.yaml", embedPod)
	before := "# Title\n\n```html\n<pod-fate exits=\"main=1\"></pod-fate>\n```\n\n"
	for name, c := range map[string]struct{ text, want string }{
		"fence.md":  {before + "<pod-fate k8s=\"1.36\">\n\n```yaml\n" + embedPod + "```\n\n</pod-fate>\n\nMore.\n", "<td>1–41, 43–255</td>"},
		"pre.html":  {"<p>x</p><pod-fate exits=\"main=42\"><pre class='hl'>\n" + strings.ReplaceAll(embedPod, "a<b", "a<span>&lt;b</span>") + "</pre></pod-fate>\n", "<caption>main exits 42 → Restart."},
		"src.html":  {"<pod-fate exits=\"main: 42@10s x2, 1@5s\" src=\"pod.yaml\" expect=\"Pod Failed after 35s\"></pod-fate>\n", "<td>waits 10s, until 30s</td>"},
		"stale.md":  {"<pod-fate exits=\"main=1\" src=\"pod.yaml\">\n<table data-podfate>\n<tbody>old</tbody>\n</table>\n</pod-fate>\n", "main exits 1 → Stop"},
		"fault.md":  {"<pod-fate exits=\"main={1}\" src=\"pod.yaml\"></pod-fate>\n", "&#123;"},
		"many.html": {strings.Repeat("<pod-fate exits=\"main=1\" src=\"pod.yaml\"></pod-fate>\n", 3), "main exits 1 → Stop"},
	} {
		t.Run(name, func(t *testing.T) {
			path := page(name, c.text)
			if status, out := command("--check", path); status != StatusFaults || !strings.Contains(out, "missing or stale") {
				t.Errorf("before: status %d, %s", status, out)
			}
			if status, out := command(path); status != 0 {
				t.Fatalf("status %d, %s", status, out)
			}
			written, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := string(written)
			if !strings.Contains(got, c.want) || strings.Contains(got, "old") {
				t.Errorf("no %s in\n%s", c.want, got)
			}
			if left := answerTable.ReplaceAllString(got, ""); strings.ReplaceAll(left, "\n", "") != strings.ReplaceAll(answerTable.ReplaceAllString(c.text, ""), "\n", "") {
				t.Errorf("more than the table changed:\n%s", left)
			}
			if strings.Contains(answerTable.FindString(got), "\n\n") {
				t.Error("an empty line ends HTML in Markdown")
			}
			if status, out := command("--check", path); status != 0 {
				t.Errorf("after: status %d, %s", status, out)
			}
		})
	}
	for name, c := range map[string]struct{ text, says string }{
		"expect.md": {"\n<pod-fate exits=\"main=1\" src=\"pod.yaml\" expect=\"Restart\"></pod-fate>", `expect.md:2: the verdict is "main exits 1 → Stop" and not "Restart"`},
		"empty.md":  {"<pod-fate></pod-fate>", "there is no manifest"},
		"none.md":   {"text", "there is no <pod-fate>"},
		"above.md":  {`<pod-fate src="../pod.yaml"></pod-fate>`, "below the folder of the page"},
	} {
		path := page(name, c.text)
		if status, out := command(path); status != StatusFaults || !strings.Contains(out, c.says) {
			t.Errorf("%s: status %d, %s", name, status, out)
		}
		if left, _ := os.ReadFile(path); string(left) != c.text {
			t.Errorf("%s was written", name)
		}
	}
}
