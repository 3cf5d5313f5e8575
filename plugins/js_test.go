package plugins

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/policytest"
)

func node(t *testing.T) string {
	return policytest.Executable(t, "Node.js 20", "the JavaScript package", "node")
}

func TestJavaScriptInNode(t *testing.T) {
	node := node(t)
	conform(t, "node", func(vectors, module string) *exec.Cmd {
		return exec.Command(node, "js/conformance.mjs", vectors, module)
	})
}

// TestJavaScriptPackage runs the package's own tests.
func TestJavaScriptPackage(t *testing.T) {
	for line := range strings.Lines(string(output(t, exec.Command(node(t), "--test", "js/test/")))) {
		if word, _, _ := strings.Cut(strings.TrimLeft(line, "#ℹ "), " "); strings.Contains(" tests pass fail skipped ", " "+word+" ") {
			t.Log(strings.TrimSpace(line))
		}
	}
}
