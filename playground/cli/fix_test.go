package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFix makes known edits in a file, and only them.
func TestFix(t *testing.T) {
	const before = `# first
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  restartpolicy: Never # as it was
  terminationGracePeriodSeconds: -1
  containers:
  - name: main # keep me
    image: "i"
    restartPolicy: never
---
apiVersion: v1
kind: Pod
metadata: {name: b}
spec:
  containers:
  - name: main
    image: i
    restartPolicy: Never
    restartPolicyRules:
    - action: Restart
      exitCodes: {operator: In, values: [300]}
    # the one that counts
    - action: Restart
      exitCodes: {operator: In, values: [3, 3]}
    - action: Restart
      exitCodes: {operator: In, values: [3]}
`
	after := strings.NewReplacer("restartpolicy:", "restartPolicy:", "Seconds: -1", "Seconds: 1", "never", "Never", "[3, 3]", "[3]",
		"    - action: Restart\n      exitCodes: {operator: In, values: [300]}\n", "",
		"    - action: Restart\n      exitCodes: {operator: In, values: [3]}\n", "").Replace(before)
	file := filepath.Join(t.TempDir(), "pod.yaml")
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := podfate(t, "", "validate", "-f", file, "--diff"); !strings.Contains(got.out, "\n-  restartpolicy: Never # as it was\n") ||
		!strings.Contains(got.out, "\n+  restartPolicy: Never # as it was\n") || read(t, file) != before {
		t.Errorf("%s%s", got.out, got.err)
	}
	if got := podfate(t, "", "validate", "-f", file, "--fix"); read(t, file) != after || !strings.Contains(got.err, "fixed") {
		t.Errorf("%s%s\n%s\nwant\n%s", got.out, got.err, read(t, file), after)
	}
	if got := podfate(t, "", "validate", "-f", file, "--fix"); got.status != 0 || read(t, file) != after {
		t.Errorf("the second time: status %d\n%s%s", got.status, got.out, got.err)
	}
	if got := podfate(t, before, "validate", "-f", "-", "--diff"); !strings.Contains(got.err, "is not a file") {
		t.Errorf("%s%s", got.out, got.err)
	}
}
