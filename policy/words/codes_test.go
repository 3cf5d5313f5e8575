package words_test

import (
	"encoding/json"
	"testing"

	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/policy/words"
)

// TestEveryCodeHasASentence asks about many Pods and looks for the words of each code that comes
// back.
func TestEveryCodeHasASentence(t *testing.T) {
	seen := map[string]bool{}
	rules := []string{
		`[]`,
		`[{"action":"Restart","exitCodes":{"operator":"In","values":[1]}},{"action":"Restart","exitCodes":{"operator":"NotIn","values":[0]}}]`,
		`[{"action":"Restart","exitCodes":{"operator":"Between","values":[1]}}]`,
		`[{"action":"Pause","exitCodes":{"operator":"In","values":[1]}}]`,
		`[{"action":"Restart"}]`,
	}
	for _, version := range []string{"", `"version":"1.33"`, `"version":"1.36"`} {
		for _, pod := range []string{"", "Always", "OnFailure", "Never"} {
			for _, container := range []string{"", "Always", "OnFailure", "Never"} {
				for _, list := range rules {
					for _, kind := range []string{"containers", "initContainers", "ephemeralContainers"} {
						for _, exit := range []string{`{"container":"x","exitCode":0}`, `{"container":"x","exitCode":1}`, `{"container":"x","exitCode":1,"reason":"OOMKilled"}`} {
							c := `{"name":"x","image":"i"`
							if container != "" {
								c += `,"restartPolicy":"` + container + `","restartPolicyRules":` + list
							}
							spec := `"` + kind + `":[` + c + `}]`
							if kind != "containers" {
								spec += `,"containers":[{"name":"y","image":"i"}]`
							}
							if pod != "" {
								spec += `,"restartPolicy":"` + pod + `"`
							}
							answer, failed := ops.Call(3, []byte(`{"cluster":{`+version+`},"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{`+spec+`}},"exits":[`+exit+`]}`))
							if !failed {
								collectCodes(t, answer, seen)
							}
						}
					}
				}
			}
		}
	}
	delete(seen, "rule_matched") // is said by naming the rule
	for code := range seen {
		if !words.Phrased(code) {
			t.Errorf("no sentence for %s", code)
		}
	}
	if len(seen) < 12 {
		t.Errorf("only %d codes were seen", len(seen))
	}
}

func collectCodes(t *testing.T, answer []byte, seen map[string]bool) {
	t.Helper()
	var a struct {
		Decisions []struct {
			Because   string
			Undecided struct{ Reason string }
			Trace     []struct{ Code, Ignored string }
		}
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		t.Fatal(err)
	}
	for _, d := range a.Decisions {
		for _, code := range []string{d.Because, d.Undecided.Reason} {
			if code != "" {
				seen[code] = true
			}
		}
		for _, s := range d.Trace {
			seen[s.Code] = true
		}
	}
}
