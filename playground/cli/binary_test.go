package cli

import (
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/podfate/podfate/policy/policytest"
)

// program builds the command as a user gets it, once for all tests.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "podfate")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "podfate")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	build := policytest.Command("go", "build", "-o", path, "github.com/podfate/podfate")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as README.md builds it; see package quiet
	out, err := build.CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	built = path
	return path, nil
})

// built is the program, "" until it is asked for.
var built string

func TestMain(m *testing.M) {
	status := m.Run()
	if built != "" {
		os.RemoveAll(filepath.Dir(built))
	}
	os.Exit(status)
}

func binary(t *testing.T) string {
	t.Helper()
	policytest.Quick(t, "it links the program")
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestExitStatusOfTheProgram(t *testing.T) {
	path := binary(t)
	for args, want := range map[string]int{
		"describe": 0,
		"decide -f testdata/pod.yaml --exit main=42": 0,
		"validate -f testdata/pod.yaml":              0,
		"validate -f testdata/bad.yaml":              1,
		"decide -f testdata/bad.yaml --exit main=1":  1,
		"decide -f testdata/pod.yaml --exit other=1": 1,
		"decide -f testdata/nothing.yaml --exit m=1": 2,
		"decide --no-such-flag":                      2,
		"no-such-verb":                               2,
		"--help":                                     0,
		"--version":                                  0,
		"serve --addr 256.0.0.1:1":                   1,
	} {
		err := exec.Command(path, strings.Fields(args)...).Run()
		got := 0
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			got = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("podfate %s: status %d, want %d", args, got, want)
		}
	}
}

// TestServe starts the program, asks it, finds its port taken and ends it with a signal.
func TestServe(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("left out on Windows: it has no SIGTERM")
	}
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			p := launch(t, "--engine", engine)
			url := p.url
			for _, target := range []string{"/readyz", "/", "/policy.wasm", "/api/v1/describe"} {
				r, err := http.Get(url + target)
				if err != nil {
					t.Fatal(err)
				}
				io.Copy(io.Discard, r.Body)
				r.Body.Close()
				if r.StatusCode != 200 {
					t.Errorf("%s: status %d", target, r.StatusCode)
				}
			}
			address := strings.TrimPrefix(url, "http://")
			if got := podfate(t, "", "serve", "--addr", address); got.status != 1 || !strings.Contains(got.err, address+" is already in use") || !strings.Contains(got.err, "--addr") {
				t.Errorf("taken port: status %d, %s", got.status, got.err)
			}
			if err := p.end(); err != nil {
				t.Errorf("after SIGTERM: %v\n%s", err, p.log.String())
			}
			http.DefaultClient.CloseIdleConnections()
		})
	}
}
