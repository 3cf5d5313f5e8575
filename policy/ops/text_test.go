package ops_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/ops"
)

// TestTextOfADocument asks for the document as plain text: it says what the document says, and
// leaves answer and document as they are without it.
func TestTextOfADocument(t *testing.T) {
	const inner = `"of":"simulate","request":{"show":["rows"],"question":"c: 1@1s x2, 0@5s, expect Failed","manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"restartPolicy":"OnFailure","containers":[{"name":"c","image":"i"}]}}}`
	plain, failed := ops.Call(6, []byte(`{`+inner+`}`))
	if failed {
		t.Fatalf("%s", plain)
	}
	reply, failed := ops.Call(6, []byte(`{"text":true,`+inner+`}`))
	var a struct{ Text string }
	if err := json.Unmarshal(reply, &a); err != nil || failed {
		t.Fatalf("%s: %v", reply, err)
	}
	if i := strings.LastIndex(string(reply), `,"text":`); string(reply[:i])+"}" != string(plain) {
		t.Error("answer or document are others with text")
	}
	for _, want := range []string{"Pod Succeeded after ", "Expected in the end: Failed. It is Succeeded.", "\nkubectl get pods, after 30m\n  NAME   READY   STATUS", "\nOne by one\n  Time"} {
		if !strings.Contains(a.Text, want) {
			t.Errorf("%q is not in\n%s", want, a.Text)
		}
	}
	refused, failed := ops.Call(6, []byte(`{"of":"curve","text":true,"error":{"code":"BUSY","message":"try again"}}`))
	if failed || !strings.Contains(string(refused), `"text":"The server is busy\n`) {
		t.Errorf("%s", refused)
	}
}

// A Workflow may make another Pod in place of the one that was played: only for a Pod of nobody it is
// said that nothing replaces it.
func TestOwnerOfATemplateIsNotLeftOut(t *testing.T) {
	op, _ := ops.Lookup("explain")
	for manifest, want := range map[string]string{
		`{"apiVersion":"argoproj.io/v1alpha1","kind":"Workflow","metadata":{"name":"w"},"spec":{"templates":[{"name":"a","container":{"image":"i"},"retryStrategy":{"limit":3}}]}}`: "whether the Workflow makes another Pod is not played",
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"i"}]}}`:                                      "nothing replaces this Pod",
	} {
		answer, _ := ops.Call(op.Number, []byte(`{"of":"simulate","text":true,"request":{"until":"1m","runs":{"main":[{"for":"1s","exitCode":1}]},"manifest":`+manifest+`}}`))
		if !strings.Contains(string(answer), want) {
			t.Errorf("%s\nis not in\n%s", want, answer)
		}
	}
}
