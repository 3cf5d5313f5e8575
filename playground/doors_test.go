package playground_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/podfate/podfate/playground/cli"
	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/policy/policytest"
	"github.com/podfate/podfate/wasm"
)

// TestHTTP sends the corpus to the real server over TCP. An error payload comes back inside a
// problem document, as it is.
func TestHTTP(t *testing.T) {
	origin := running(t)
	policytest.Run(t, policytest.Door{Name: "HTTP", Module: true, Call: func(op ops.Operation, request []byte) ([]byte, bool, error) {
		response, err := http.Post(origin+"/api/v1/"+op.Name, "application/json", bytes.NewReader(request))
		if err != nil {
			return nil, false, err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode == http.StatusOK {
			return body, false, err
		}
		var problem struct{ Error json.RawMessage }
		if err := json.Unmarshal(body, &problem); err != nil || problem.Error == nil || response.StatusCode >= 500 {
			return nil, false, fmt.Errorf("status %d: %s", response.StatusCode, body)
		}
		return fmt.Appendf(nil, `{"error":%s}`, problem.Error), true, nil
	}})
}

// commandLine runs a verb in this process, and checks that its exit status says what its answer is.
func commandLine(in []byte, args ...string) (answer []byte, failed bool, err error) {
	var out, errs strings.Builder
	status := cli.Main(context.Background(), args, cli.Streams{In: bytes.NewReader(in), Out: &out, Err: &errs})
	noAnswer := args[0] == "compare" && strings.HasPrefix(out.String(), `{"error":`) // for which compare has diff's status
	if status > 1 && !noAnswer || errs.Len() > 0 {
		return nil, false, fmt.Errorf("status %d: %s", status, errs.String())
	}
	text := strings.TrimSuffix(out.String(), "\n")
	return []byte(text), strings.HasPrefix(text, `{"error":`), nil
}

// engines are those of the command line.
var engines = []struct {
	name   string
	module bool
}{{"native", false}, {"wasm", true}}

// TestCommandLine gives the corpus to the verbs on standard input, with the core in the program,
// and with the module. What it leaves out is in TestCommandLineOfItsOwn.
func TestCommandLine(t *testing.T) {
	for _, engine := range engines {
		t.Run(engine.name, func(t *testing.T) {
			door := policytest.Door{Name: "command line, " + engine.name, Module: engine.module}
			door.LeftOut = map[string]string{
				"describe/describe":     "describe takes no file: it also says which module the program holds",
				"malformed-json/decide": "text that is not JSON is read as YAML, as kubectl does",
			}
			if engine.module && !policytest.Long() { // it is started for each request; TestModule of policytest asks it all of them
				if testing.Short() {
					t.Skip("left out with -short: each request compiles the module")
				}
				door.Every = 10
			}
			door.Call = func(op ops.Operation, request []byte) ([]byte, bool, error) {
				return commandLine(request, op.Name, "-o", "json", "--engine", engine.name, "-f", "-")
			}
			policytest.Run(t, door)
		})
	}
}

// TestCommandLineOfItsOwn holds what the command line answers where it is not asked what the others
// are: it adds its module to describe, and reads what is not JSON as YAML.
func TestCommandLineOfItsOwn(t *testing.T) {
	number := func(name string) uint32 {
		op, known := ops.Lookup(name)
		if !known {
			t.Fatalf("no operation is called %s", name)
		}
		return op.Number
	}
	describe := fmt.Appendf(nil, `{"module":{"sha256":%q,"bytes":%d}}`, wasm.SHA256(), len(wasm.Module()))
	const pod = `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "i"}]}%s}`
	for _, engine := range engines {
		t.Run(engine.name, func(t *testing.T) {
			if engine.module {
				policytest.Quick(t, "the module is decoded for each request; the tests of cli ask it some")
			}
			want, _ := ops.Call(number("describe"), describe)
			got, failed, err := commandLine(nil, "describe", "-o", "json", "--engine", engine.name)
			if err != nil || failed || !bytes.Equal(got, want) {
				t.Errorf("describe: %v %v\ngot  %s\nwant %s", failed, err, got, want)
			}
			want, _ = ops.Call(number("decide"), []byte(`{"manifest":`+fmt.Sprintf(pod, "")+`,"exits":[{"exitCode":42}]}`))
			got, failed, err = commandLine([]byte(fmt.Sprintf(pod, ",")), "decide", "-o", "json", "--engine", engine.name, "-f", "-", "--exit", "42")
			if err != nil || failed || !bytes.Equal(got, want) {
				t.Errorf("a comma that JSON does not allow, and YAML does: %v %v\ngot  %s\nwant %s", failed, err, got, want)
			}
			got, failed, err = commandLine([]byte(`{"manifest": {"kind": "Pod"`), "decide", "-o", "json", "--engine", engine.name, "-f", "-")
			if err != nil || !failed || !strings.HasPrefix(string(got), `{"error":{"code":"BAD_`) {
				t.Errorf("neither JSON nor YAML: %v %v\n%s", failed, err, got)
			}
		})
	}
}
