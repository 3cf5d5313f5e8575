package mirror

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Tables are the packages whose own tests are run to learn what they call the compared functions
// with, and the tests. Their arguments become cases of the comparison, so no table is copied.
var Tables = []struct {
	Package string
	calls   []string
}{
	{"pkg/api/v1/pod", []string{"ContainerShouldRestart", "FindMatchingContainerRestartRule", "findMatchingContainerRestartRule"}},
	{"pkg/kubelet/container", []string{"ShouldContainerBeRestarted", "ShouldAllContainersRestart"}},
	{"pkg/apis/core/validation", []string{
		"ValidatePodCreate", "ValidatePodUpdate", "ValidatePodSpec", "ValidatePodTemplateSpec",
		"validateContainers", "validateInitContainers", "validateEphemeralContainers",
	}},
	{"pkg/apis/batch/validation", []string{"ValidateJob", "ValidateJobUpdate", "ValidateCronJobCreate", "ValidateCronJobUpdate"}},
	{"pkg/kubelet", []string{"getPhase"}},
	{"pkg/kubelet/kuberuntime", []string{"computePodActions"}},
}

// TableTests matches the names of the tests that call them.
const TableTests = `Phase|ShouldRestart|Restartable|FindMatching|ShouldContainerBeRestarted|ShouldAllContainersRestart|ComputePodActions|` +
	`ValidateJob|ValidateCronJob|ValidatePod|ValidateContainers|ValidateContainerRestart|ValidateInitContainers|ValidateEphemeralContainers|RestartPolic|ShareContainersAmong`

//go:embed record.go.txt
var recorder string

//go:embed record_plain.go.txt
var plainRecorder string

//go:embed record_kuberuntime.go.txt
var runtimeRecorder string

// tables returns the changed and added test files, by path below the module.
func tables(module string) (map[string]string, error) {
	files := map[string]string{}
	for _, table := range Tables {
		names, err := filepath.Glob(filepath.Join(module, table.Package, "*_test.go"))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			text, changed, err := recordCalls(name, table.calls)
			if err != nil {
				return nil, err
			}
			if changed {
				files[table.Package+"/"+filepath.Base(name)] = text
			}
		}
		text := strings.Replace(recorder, "PACKAGE", filepath.Base(table.Package), 1)
		if table.Package == "pkg/kubelet/kuberuntime" {
			text = strings.Replace(text, "\t\"k8s.io/component-base", "\tkubecontainer \"k8s.io/kubernetes/pkg/kubelet/container\"\n\t\"k8s.io/component-base", 1)
			text += runtimeRecorder
		} else {
			text += plainRecorder
		}
		files[table.Package+"/podfate_test.go"] = text
	}
	return files, nil
}

// recordCalls lets the calls of some functions in a test file go through the recorder.
func recordCalls(name string, calls []string) (text string, changed bool, err error) {
	source, err := os.ReadFile(name)
	if err != nil {
		return "", false, err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, source, parser.SkipObjectResolution)
	if err != nil {
		return "", false, err
	}
	if strings.HasSuffix(file.Name.Name, "_test") {
		return "", false, nil
	}
	type edit struct {
		from, to int
		with     string
	}
	var edits []edit
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		callee, of := "", "nil"
		switch f := call.Fun.(type) {
		case *ast.Ident:
			callee = f.Name
		case *ast.SelectorExpr:
			if x, ok := f.X.(*ast.Ident); ok {
				callee, of = f.Sel.Name, x.Name
			}
		}
		if slices.Contains(calls, callee) {
			from, to := set.Position(call.Fun.Pos()).Offset, set.Position(call.Fun.End()).Offset
			edits = append(edits, edit{from, to, fmt.Sprintf("podfateRecorded(%q, %s, %s)", callee, source[from:to], of)})
		}
		return true
	})
	slices.SortFunc(edits, func(a, b edit) int { return b.from - a.from })
	for _, e := range edits {
		source = slices.Concat(source[:e.from], []byte(e.with), source[e.to:])
	}
	return string(source), len(edits) > 0, nil
}
