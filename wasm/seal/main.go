package main

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

func main() {
	out := flag.String("o", "wasm/policy.wasm", "`file` to write; its digest goes next to it with .sha256 appended")
	in := flag.String("in", "", "seal this linked `module` instead of building ./wasm/guest")
	tags := flag.String("tags", "", "build `tags` for the guest; trap makes the build for the tests of hosts")
	list := flag.String("list", "", "print the imports and exports of this sealed `module` and do nothing else")
	flag.Parse()
	if err := run(*in, *out, *tags, *list); err != nil {
		fmt.Fprintln(os.Stderr, "seal:", err)
		os.Exit(1)
	}
}

func run(in, out, tags, list string) error {
	if list != "" {
		return printList(list)
	}
	if in == "" {
		folder, err := os.MkdirTemp("", "podfate-seal-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		in = filepath.Join(folder, "linked.wasm")
		if err := link(".", guest, in, tags); err != nil {
			return err
		}
	}
	linked, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	sealed, err := seal(linked)
	if err != nil {
		return fmt.Errorf("%s: %w", in, err)
	}
	if err := os.WriteFile(out, sealed, 0o644); err != nil {
		return err
	}
	sum := sha256.Sum256(sealed)
	digest := hex.EncodeToString(sum[:])
	// The format of sha256sum, so that "sha256sum -c" can be run where the two files lie.
	if err := os.WriteFile(out+".sha256", []byte(digest+"  "+filepath.Base(out)+"\n"), 0o644); err != nil {
		return err
	}
	fmt.Printf("%s: %d bytes, sha256 %s, %s\n", out, len(sealed), digest, runtime.Version())
	return nil
}

// outOfLine are the packages whose functions are not inlined: 101 KB less for 6 % of the time of a
// decision. In policy/manifest, whose small functions are most of that time, inlining stays.
var outOfLine = []string{
	"github.com/podfate/podfate/policy", "github.com/podfate/podfate/policy/admission", "github.com/podfate/podfate/policy/fleet", "github.com/podfate/podfate/policy/lint", "github.com/podfate/podfate/policy/ops", "github.com/podfate/podfate/policy/simulate", "github.com/podfate/podfate/policy/words",
	"github.com/podfate/podfate/wasm/guest/machine", "internal/stringslite", "strings",
}

// guest is the program that is sealed.
const guest = "./wasm/guest"

// link builds the program in folder pkg of the module whose root is folder into the file out.
//
// Every flag and variable that can change a byte is set here: paths and version control are left
// out, and what the machine has in GOFLAGS, GOEXPERIMENT or GOWASM does not count. The collector is
// the one before Go 1.26: the new one has code for each size of object, 34 KB of it, and is made
// for large heaps.
func link(folder, pkg, out, tags string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	args := []string{"build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags", "-w -buildid=", "-tags", tags}
	for _, pkg := range outOfLine {
		args = append(args, "-gcflags="+pkg+"=-l")
	}
	cmd := exec.Command("go", append(args, "-o", out, pkg)...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=nogreenteagc", "GOWASM=", "GOWORK=off")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("linking %s: %w", pkg, err)
	}
	return nil
}

// printList prints what a sealed module takes from its host and gives to it, a line each.
func printList(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	m, err := parse(data, true)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, line := range m.interfaceLines() {
		fmt.Println(line)
	}
	return nil
}

// interfaceLines lists imports, exports and the limits of the memory in the order of the file.
func (m *module) interfaceLines() []string {
	lines := []string{fmt.Sprintf("imports %d", len(m.imports)), fmt.Sprintf("custom %s %s", customName, m.custom[customName])}
	for _, e := range m.exports {
		switch e.kind {
		case kindFunction:
			t := m.types[m.functions[e.index]]
			lines = append(lines, fmt.Sprintf("export func %s (%s) -> (%s)", e.name, typeNames(t.params), typeNames(t.results)))
		case kindMemory:
			lines = append(lines, fmt.Sprintf("export memory %s, at most %d pages", e.name, memoryPages))
		case kindGlobal:
			lines = append(lines, "export global "+e.name)
		}
	}
	return lines
}

func typeNames(types string) string {
	names := map[byte]string{typeI32: "i32", typeI64: "i64", typeF32: "f32", typeF64: "f64"}
	all := ""
	for i := range len(types) {
		if i > 0 {
			all += " "
		}
		all += names[types[i]]
	}
	return all
}
