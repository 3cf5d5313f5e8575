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
)

// TestHTTP sends the corpus to the real server over TCP. An error payload comes back inside a problem document, as it
// is.
func TestHTTP(t *testing.T) {
	origin := serve(t)
	policytest.Run(t, policytest.Door{Name: "HTTP", Call: func(op ops.Operation, request []byte) ([]byte, bool, error) {
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

// TestCommandLine gives the corpus to the verbs on standard input, with the core in the program.
func TestCommandLine(t *testing.T) {
	policytest.Run(t, policytest.Door{Name: "command line", Call: func(op ops.Operation, request []byte) ([]byte, bool, error) {
		var out, errs strings.Builder
		args := []string{op.Name, "-o", "json", "--engine", "native"}
		reason := ""
		switch {
		case op.Name == "describe":
			reason = "describe takes no file: it says which module the program holds"
		case !json.Valid(request):
			reason = "text that is not JSON is read as YAML, as kubectl does"
		}
		if reason != "" {
			t.Logf("left out, %s: %s", reason, request)
			answer, failed := ops.Call(op.Number, request)
			return answer, failed, nil
		}
		status := cli.Main(context.Background(), append(args, "-f", "-"), cli.Streams{In: bytes.NewReader(request), Out: &out, Err: &errs})
		if status > 1 || errs.Len() > 0 {
			return nil, false, fmt.Errorf("status %d: %s", status, errs.String())
		}
		answer := strings.TrimSuffix(out.String(), "\n")
		return []byte(answer), strings.HasPrefix(answer, `{"error":`), nil
	}})
}
