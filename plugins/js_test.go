package plugins

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/podfate/podfate/policy/policytest"
)

// A browser answers all vectors and two million decisions in a minute or two on a slow machine.
const browserPatience = 5 * time.Minute

// The runtimes that run the same files of tests: arguments before a script, and those that run
// tests.
var scriptEngines = []struct {
	name, install string
	script, test  []string
}{
	{"node", "Node.js 20", nil, []string{"--test"}},
	{"deno", "Deno (npm package deno)", []string{"run", "--allow-read", "--allow-env", "--no-prompt", "--cached-only"}, []string{"test", "--allow-all", "--no-check", "--no-prompt", "--cached-only"}},
	{"bun", "Bun (npm package bun)", []string{"run"}, []string{"test", "--timeout=600000"}},
}

func node(t *testing.T) string {
	return policytest.Executable(t, "Node.js 20", "the JavaScript package", "node")
}

// installed is an empty folder in which the packed package was installed, with its tests next to
// it.
type installed struct {
	folder string
	packed []string // paths in the package
	size   int64    // bytes of the package
}

var install = sync.OnceValues(func() (installed, error) {
	in := installed{folder: filepath.Join(temporary, "js")}
	if err := os.Mkdir(in.folder, 0o755); err != nil {
		return in, err
	}
	npm := func(folder string, arguments ...string) ([]byte, error) {
		command := policytest.Command("npm", arguments...)
		command.Dir = folder
		command.Env = append(os.Environ(), "npm_config_offline=true", "npm_config_audit=false", "npm_config_fund=false", "npm_config_update_notifier=false")
		var stderr bytes.Buffer
		command.Stderr = &stderr
		out, err := command.Output()
		if err != nil {
			return nil, fmt.Errorf("npm %s: %w\n%s%s", strings.Join(arguments, " "), err, out, stderr.Bytes())
		}
		return out, nil
	}
	out, err := npm("js", "pack", "--json", "--pack-destination", in.folder)
	if err != nil {
		return in, err
	}
	_, list, _ := strings.Cut("\n"+string(out), "\n[") // npm may print what prepack prints before
	var packs []struct {
		Filename string
		Size     int64
		Files    []struct{ Path string }
	}
	if err := json.Unmarshal([]byte("["+list), &packs); err != nil || len(packs) != 1 {
		return in, fmt.Errorf("npm pack: %v in %s", err, out)
	}
	in.size = packs[0].Size
	for _, f := range packs[0].Files {
		in.packed = append(in.packed, f.Path)
	}
	if err := os.WriteFile(filepath.Join(in.folder, "package.json"), []byte(`{"private":true,"type":"module"}`), 0o644); err != nil {
		return in, err
	}
	if _, err := npm(in.folder, "install", "./"+packs[0].Filename); err != nil {
		return in, err
	}
	return in, os.CopyFS(filepath.Join(in.folder, "test"), os.DirFS("js/test"))
})

func installPackage(t *testing.T) installed {
	t.Helper()
	policytest.Quick(t, "it packs and installs the JavaScript package")
	node(t)
	policytest.Executable(t, "npm", "the JavaScript package", "npm")
	in, err := install()
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// run starts an engine in the folder with the package.
func (in installed) run(executable string, before []string, arguments ...string) *exec.Cmd {
	command := policytest.Command(executable, append(slices.Clone(before), arguments...)...)
	command.Dir = in.folder
	return command
}

func TestJavaScriptPackageHoldsWhatItNeeds(t *testing.T) {
	in := installPackage(t)
	want := []string{
		"LICENSE", "README.md", "api.js", "batch.js", "digest.js", "edge.js", "embed-run.js", "embed.d.ts", "embed.js", "engine.js", "errors.js", "inline.js", "instance.d.ts", "instance.js",
		"licences.txt", "link.d.ts", "link.js", "node.js", "package.json", "podfate.d.ts", "podfate.js", "policy.wasm", "policy.wasm.d.ts", "schema.d.ts", "source.js",
		"worker.js", "yaml.d.ts", "yaml.js",
	}
	slices.Sort(in.packed)
	if !slices.Equal(in.packed, want) {
		t.Errorf("packed\ngot  %v\nwant %v", in.packed, want)
	}
	inline, err := os.Stat(filepath.Join(in.folder, "node_modules", "podfate", "inline.js"))
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("js/README.md")
	if says := fmt.Sprintf("one script of %.1f MB with the module in it", float64(inline.Size())/1e6); err != nil || !strings.Contains(string(readme), says) {
		t.Errorf("js/README.md does not say: %s (%v)", says, err)
	}
	lock, err := os.ReadFile(filepath.Join(in.folder, "node_modules", ".package-lock.json"))
	if err != nil || strings.Count(string(lock), `"node_modules/`) != 1 {
		t.Errorf("installing it installs more than it (%v): %s", err, lock)
	}
	t.Logf("%d bytes packed", in.size)
}

func TestJavaScriptConformance(t *testing.T) {
	t.Parallel()
	for _, engine := range scriptEngines {
		t.Run(engine.name, func(t *testing.T) {
			parallel(t)
			executable := policytest.Executable(t, engine.install, "conformance of the JavaScript package", engine.name)
			in := installPackage(t)
			conform(t, engine.name, func(vectors, _, evaluations string) *exec.Cmd {
				return in.run(executable, engine.script, "test/conformance.mjs", vectors, evaluations)
			})
		})
	}
}

// TestJavaScriptTests runs the package's own tests on what is installed: each that is written has
// to run, and to pass.
func TestJavaScriptTests(t *testing.T) {
	t.Parallel()
	files, written := []string{"./test/module.test.mjs", "./test/podfate.test.mjs", "./test/robust.test.mjs"}, 0
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join("js", file))
		if err != nil {
			t.Fatal(err)
		}
		written += len(regexp.MustCompile(`(?m)^test\(`).FindAll(text, -1))
	}
	for _, engine := range scriptEngines {
		t.Run(engine.name, func(t *testing.T) {
			parallel(t)
			executable := policytest.Executable(t, engine.install, "the tests of the JavaScript package", engine.name)
			in := installPackage(t)
			trap, err := trapModule()
			if err != nil {
				t.Fatal(err)
			}
			command := in.run(executable, engine.test, files...)
			command.Env = append(os.Environ(), "PODFATE_TRAP_MODULE="+trap, "NO_COLOR=1")
			out := string(output(t, command))
			passed, others := testCounts(out)
			t.Logf("%d tests passed", passed)
			if passed != written || others != 0 {
				t.Errorf("%d of %d tests passed, %d failed or were skipped\n%s", passed, written, others, out)
			}
		})
	}
}

// testCounts reads what the test runners of Node.js, Deno and Bun print at the end: how many tests
// passed, and how many did not.
func testCounts(out string) (passed, others int) {
	for _, line := range regexp.MustCompile(`(?m)^(?:(?:#|ℹ) (pass|fail|cancelled|skipped|todo) (\d+)| *(\d+) (pass|fail|skip|todo))$`).FindAllStringSubmatch(out, -1) {
		word, number := line[1]+line[4], line[2]+line[3]
		count, _ := strconv.Atoi(number)
		if word == "pass" {
			passed += count
		} else {
			others += count
		}
	}
	if deno := regexp.MustCompile(`(?m)^(?:ok|FAILED) \| (\d+) passed(.*)$`).FindStringSubmatch(out); deno != nil {
		passed, _ = strconv.Atoi(deno[1])
		for _, line := range regexp.MustCompile(`(\d+) (?:failed|ignored|filtered out)`).FindAllStringSubmatch(deno[2], -1) {
			count, _ := strconv.Atoi(line[1])
			others += count
		}
	}
	return passed, others
}

func TestCountsOfTestRunners(t *testing.T) {
	for out, want := range map[string][2]int{
		"# tests 3\n# suites 0\n# pass 2\n# fail 1\n# cancelled 0\n# skipped 0\n# todo 0\n": {2, 1},
		"ℹ tests 3\nℹ pass 1\nℹ fail 0\nℹ cancelled 0\nℹ skipped 2\n":                       {1, 2},
		"ok | 42 passed | 0 failed | 1 ignored (1s)\n":                                      {42, 1},
		"ok | 42 passed | 0 failed (1s)\n":                                                  {42, 0},
		"FAILED | 41 passed | 1 failed (980ms)\n":                                           {41, 1},
		" 42 pass\n 0 fail\n 177 expect() calls\n":                                          {42, 0},
		" 41 pass\n 1 skip\n 0 fail\n":                                                      {41, 1},
		"a test that is called pass\n":                                                      {0, 0},
	} {
		if passed, others := testCounts(out); passed != want[0] || others != want[1] {
			t.Errorf("%q: %d passed, %d others", out, passed, others)
		}
	}
}

// TestJavaScriptExample runs the first example of the README as a newcomer would. What it prints
// is below it as a comment.
func TestJavaScriptExample(t *testing.T) {
	readme, err := os.ReadFile("js/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "```js\n")
	example, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the README has no example")
	}
	var want strings.Builder
	for line := range strings.Lines(example) {
		if printed, ok := strings.CutPrefix(line, "// "); ok {
			want.WriteString(printed)
		}
	}
	for _, engine := range scriptEngines {
		t.Run(engine.name, func(t *testing.T) {
			executable := policytest.Executable(t, engine.install, "the example of the JavaScript package", engine.name)
			in := installPackage(t)
			if err := os.WriteFile(filepath.Join(in.folder, "example.mjs"), []byte(example), 0o644); err != nil {
				t.Fatal(err)
			}
			command := in.run(executable, engine.script, "example.mjs")
			command.Env = append(os.Environ(), "NO_COLOR=1")
			// Engines differ in quotes and line breaks of objects that they print.
			plain := func(text string) string {
				return strings.ReplaceAll(strings.NewReplacer("\n", "", " ", "", `"`, "'").Replace(text), ",}", "}")
			}
			if got := string(output(t, command)); want.Len() == 0 || plain(got) != plain(want.String()) {
				t.Errorf("got\n%s\nwant\n%s", got, want.String())
			}
		})
	}
}

func TestJavaScriptOnEdge(t *testing.T) {
	in := installPackage(t)
	for _, condition := range []string{"workerd", "edge-light"} {
		output(t, in.run(node(t), []string{"--conditions", condition}, "test/edge.mjs"))
	}
}

func TestJavaScriptTypes(t *testing.T) {
	tsc := policytest.Executable(t, "TypeScript (npm package typescript)", "the types of the JavaScript package", "tsc")
	in := installPackage(t)
	for _, lib := range []string{"es2022", "es2022,dom", "esnext,webworker"} {
		t.Run(lib, func(t *testing.T) {
			output(t, in.run(tsc, nil, "--noEmit", "--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--skipLibCheck", "false",
				"--module", "nodenext", "--target", "es2022", "--lib", lib, "--types", "", "--ignoreConfig", "test/types.ts"))
		})
	}
}

// TestJavaScriptInBrowsers opens a page that runs the package's tests and the conformance vectors,
// and posts what came of it.
func TestJavaScriptInBrowsers(t *testing.T) {
	t.Parallel()
	for _, browser := range []struct {
		name, install string
		executables   []string
		arguments     func(profile, address string) []string
	}{
		{"chromium", "Chromium", []string{"chromium", "chromium-browser", "google-chrome"}, func(profile, address string) []string {
			arguments := []string{"--headless", "--user-data-dir=" + profile, "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage",
				"--disable-background-networking", "--disable-component-update", "--disable-sync"}
			if os.Geteuid() == 0 {
				arguments = append(arguments, "--no-sandbox")
			}
			return append(arguments, address)
		}},
		{"firefox", "Firefox (Debian's firefox-esr)", []string{"firefox-esr", "firefox"}, func(profile, address string) []string {
			return []string{"--headless", "--no-remote", "--profile", profile, address}
		}},
	} {
		t.Run(browser.name, func(t *testing.T) {
			parallel(t)
			executable := policytest.Executable(t, browser.install, "the JavaScript package in this browser", browser.executables...)
			in := installPackage(t)
			origin, results := servePackage(t, in)
			ctx, cancel := context.WithTimeout(t.Context(), browserPatience)
			defer cancel()
			command := policytest.CommandContext(ctx, executable, browser.arguments(t.TempDir(), origin+"/test/browser/page.html?evaluations="+strconv.Itoa(evaluations()))...)
			home := t.TempDir()
			command.Env = append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+home, "XDG_CONFIG_HOME="+home)
			var said bytes.Buffer
			command.Stdout, command.Stderr = &said, &said
			command.WaitDelay = 10 * time.Second
			ended := make(chan error, 1)
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			go func() { ended <- command.Wait() }()
			var result browserResult
			select {
			case result = <-results:
				cancel()
				<-ended
			case err := <-ended:
				t.Fatalf("the browser ended without a result: %v\n%s", err, said.Bytes())
			}
			for _, message := range result.Messages {
				t.Error(message)
			}
			passed := 0
			for _, one := range result.Tests {
				switch {
				case one.Failure != "":
					t.Errorf("%s: %s", one.Name, one.Failure)
				case one.Skipped:
					t.Errorf("%s was skipped", one.Name)
				default:
					passed++
				}
			}
			if passed < 40 {
				t.Errorf("only %d tests passed", passed)
			}
			t.Logf("%d tests passed", passed)
			got, err := readLine([]byte(result.Line))
			if err != nil {
				t.Fatalf("%v: %q", err, result.Line)
			}
			want, err := vectors()
			if err != nil {
				t.Fatal(err)
			}
			agree(t, browser.name, got, want.line)
			inMemory(t, evaluations(), result.Evaluations, result.Memory)
		})
	}
}

// browserResult is what the page posts.
type browserResult struct {
	Line                string
	Evaluations, Memory int
	Tests               []struct {
		Name, Failure string
		Skipped       bool
	}
	Messages []string
}

// servePackage serves the installed package, its tests and the vectors on this machine, and
// receives the page's result.
func servePackage(t *testing.T, in installed) (origin string, results <-chan browserResult) {
	t.Helper()
	all, err := vectors()
	if err != nil {
		t.Fatal(err)
	}
	trap, err := trapModule()
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(filepath.Join(in.folder, "node_modules", "podfate", "policy.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(file)
	flipped[len(flipped)/2] ^= 1
	received := make(chan browserResult, 1)
	mux := http.NewServeMux()
	mux.Handle("GET /package/", http.StripPrefix("/package/", http.FileServer(http.Dir(filepath.Join(in.folder, "node_modules", "podfate")))))
	mux.Handle("GET /test/", http.StripPrefix("/test/", http.FileServer(http.Dir(filepath.Join(in.folder, "test")))))
	serve := func(path, mime string, content []byte) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", mime)
			w.Write(content)
		})
	}
	serve("/plain/policy.wasm", "text/plain", file)
	serve("/flipped/policy.wasm", "application/wasm", flipped)
	mux.HandleFunc("GET /trap.wasm", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, trap) })
	mux.HandleFunc("GET /vectors.jsonl", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, all.file) })
	mux.HandleFunc("POST /result", func(w http.ResponseWriter, r *http.Request) {
		var result browserResult
		if err := json.NewDecoder(r.Body).Decode(&result); err != nil {
			result.Messages = append(result.Messages, err.Error())
		}
		select {
		case received <- result:
		default:
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL, received
}
