package ops_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/ops"
)

func play(t testing.TB, request string) []byte {
	for _, o := range ops.Table() {
		if o.Name == "simulate" {
			answer, _ := ops.Call(o.Number, []byte(request))
			return answer
		}
	}
	t.Fatal("no simulate")
	return nil
}

func endless(parallelism int, more, run, until string) string {
	return fmt.Sprintf(`{"manifest":{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"a"},"spec":{"completions":1000000,"parallelism":%d,
		"backoffLimit":2147483647,%s"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"i"}]}}}},
		"until":%q,"runs":{"main":[%s]}}`, parallelism, more, until, run)
}

var undecided = regexp.MustCompile(`"undecided":\[[^]]*\]`)

// TestJobWithoutEnd: where a limit ends the simulation of a Job, the answer is that to a request
// for the time before.
func TestJobWithoutEnd(t *testing.T) {
	const second, fails = `{"for":"1s","exitCode":0,"times":"forever"}`, `{"for":"1s","exitCode":1,"times":"forever"}`
	for _, test := range []struct {
		name, limit       string
		parallelism       int
		more, run, before string
	}{
		{"one Pod after the other", "timeline", 1, "", second, ""},
		{"Pods that fail", "timeline", 1, "", fails, ""},
		{"many at once", "jobPods", 1000, `"completionMode":"Indexed",`, second, ""},
		{"long names", "outputBytes", 500, "", `{"for":"1s","exitCode":1,"reason":"` + strings.Repeat("r", 60) + `","times":"forever"}`, "4h"},
	} {
		t.Run(test.name, func(t *testing.T) {
			until := "8760000h"
			if test.before != "" {
				until = test.before
			}
			request := func(until string) string {
				r := endless(test.parallelism, test.more, test.run, until)
				if test.limit == "outputBytes" {
					r = strings.NewReplacer(`"a"`, `"`+strings.Repeat("a", 50)+`"`, "main", strings.Repeat("m", 60)).Replace(r)
					r = strings.Replace(r, `"backoffLimit"`, `"completionMode":"Indexed","backoffLimitPerIndex":1000,"backoffLimit"`, 1)
					r = strings.Replace(r, "1000000", "500", 1)
				}
				return r
			}
			long := play(t, request(until))
			var answer struct {
				UntilMillis int64
				Undecided   []struct {
					AtMillis      int64
					Reason, Limit string
				}
				Error json.RawMessage
			}
			if len(long) > policy.MaxOutputBytes {
				t.Errorf("%d bytes", len(long))
			}
			if err := json.Unmarshal(long, &answer); err != nil || len(answer.Undecided) != 1 || answer.Undecided[0].Limit != test.limit || answer.Undecided[0].Reason != "limit_exceeded" {
				t.Fatalf("%v: %+v %s, %d bytes until %d", err, answer.Undecided, answer.Error, len(long), answer.UntilMillis)
			}
			if answer.UntilMillis != answer.Undecided[0].AtMillis-1 {
				t.Errorf("until %d, but undecided from %d", answer.UntilMillis, answer.Undecided[0].AtMillis)
			}
			short := play(t, request(fmt.Sprintf("%dms", answer.UntilMillis)))
			if got := undecided.ReplaceAll(long, []byte(`"undecided":[]`)); string(got) != string(short) {
				t.Errorf("%d bytes, and %d when asked for this time", len(got), len(short))
			}
			if len(long) < policy.MaxOutputBytes/2 {
				t.Errorf("only %d bytes", len(long))
			}
		})
	}
}

// TestJobTooLarge: what does not fit into the first instant is refused, with the place that says
// so.
func TestJobTooLarge(t *testing.T) {
	answer := string(play(t, endless(1000000, "", `{"for":"1s","exitCode":0}`, "1h")))
	for _, want := range []string{`"code":"LIMIT_EXCEEDED"`, `"path":"spec.parallelism"`, `"line":1`, `"limit":"activePods"`} {
		if !strings.Contains(answer, want) {
			t.Errorf("no %s in %s", want, answer)
		}
	}
	answer = string(play(t, endless(100, "", `{"for":"0s","exitCode":0,"times":"forever"}`, "1h")))
	if !strings.Contains(answer, `"limit":"jobPods"`) {
		t.Errorf("runs without length: %s", answer)
	}
}

// BenchmarkJobAnswer is the whole operation for a thousand Pods with five thousand failures one by
// one.
func BenchmarkJobAnswer(b *testing.B) {
	var runs strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&runs, `,{"index":%d,"runs":{"main":[{"for":"%dms","exitCode":1,"times":5},{"for":"1s","exitCode":0}]}}`, i, 1000+i*7919%1000)
	}
	request := strings.Replace(endless(1000, `"completionMode":"Indexed","backoffLimitPerIndex":6,`, "", "1h"), "1000000", "1000", 1)
	request = strings.Replace(request, `"runs":{"main":[]}`, `"podRuns":[`+runs.String()[1:]+`]`, 1)
	b.ReportAllocs()
	for b.Loop() {
		if answer := play(b, request); !strings.Contains(string(answer), `"failed":5000`) {
			b.Fatalf("%.300s", answer)
		}
	}
}
