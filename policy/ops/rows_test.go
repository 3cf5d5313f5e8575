package ops_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/ops"
)

// rowsOf returns the rows of a simulation: instant, READY, STATUS, RESTARTS and when, AGE in
// milliseconds.
func rowsOf(t *testing.T, request string) (list []string) {
	t.Helper()
	reply, failed := ops.Call(4, []byte(request))
	if failed {
		t.Fatalf("%s: %s", request, reply)
	}
	var a struct {
		Rows []struct {
			AtMillis               int64
			Pod, Status            string
			Ready, Total, Restarts int64
			AgoMillis, AgeMillis   *int64
			Gone                   bool
			RepeatsUntilMillis     int64
		}
	}
	if err := json.Unmarshal(reply, &a); err != nil {
		t.Fatal(err)
	}
	for _, r := range a.Rows {
		s := fmt.Sprintf("%g: ", float64(r.AtMillis)/1000)
		if r.Pod != "" {
			s += r.Pod + " "
		}
		if r.Gone {
			s += "gone"
		} else {
			s += fmt.Sprintf("%d/%d %s %d", r.Ready, r.Total, r.Status, r.Restarts)
		}
		if r.AgoMillis != nil {
			s += fmt.Sprintf(" (%g ago)", float64(*r.AgoMillis)/1000)
		}
		if r.AgeMillis != nil {
			s += fmt.Sprintf(" %g", float64(*r.AgeMillis)/1000)
		}
		if r.RepeatsUntilMillis > 0 {
			s += fmt.Sprintf(" … %g", float64(r.RepeatsUntilMillis)/1000)
		}
		list = append(list, s)
	}
	return list
}

func pod(spec, rest string) string {
	return `{"show":["rows"],"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{` + spec + `}}` + rest + `}`
}

func TestRows(t *testing.T) {
	const crash = `"containers":[{"name":"c","image":"i"}]`
	for name, test := range map[string]struct{ request, want string }{
		"a crash loop": {pod(crash, `,"runs":{"c":[{"for":"1s","exitCode":1,"times":"forever"}]},"until":"700s"`), `
0: 1/1 Running 0 0
1: 1/1 Running 1 (0 ago) 1
2: 0/1 CrashLoopBackOff 1 (0 ago) 2
12: 1/1 Running 2 (10 ago) 12
13: 0/1 CrashLoopBackOff 2 (0 ago) 13
33: 1/1 Running 3 (20 ago) 33
34: 0/1 CrashLoopBackOff 3 (0 ago) 34
74: 1/1 Running 4 (40 ago) 74
75: 0/1 CrashLoopBackOff 4 (0 ago) 75
155: 1/1 Running 5 (80 ago) 155
156: 0/1 CrashLoopBackOff 5 (0 ago) 156
316: 1/1 Running 6 (160 ago) 316
317: 0/1 CrashLoopBackOff 6 (0 ago) 317
617: 1/1 Running 7 (300 ago) 617
618: 0/1 CrashLoopBackOff 7 (0 ago) 618
700: 0/1 CrashLoopBackOff 7 (82 ago) 700`},
		"init containers, whose restarts leave the row": {pod(`"initContainers":[{"name":"i","image":"i"},{"name":"j","image":"i"}],`+crash,
			`,"runs":{"i":[{"for":"5s","exitCode":0}],"j":[{"for":"3s","exitCode":1,"times":2},{"for":"3s","exitCode":0}]},"until":"30s"`), `
0: 0/1 Init:0/2 0 0
5: 0/1 Init:1/2 0 5
8: 0/1 Init:1/2 1 (0 ago) 8
11: 0/1 Init:CrashLoopBackOff 1 (0 ago) 11
21: 0/1 Init:1/2 2 (10 ago) 21
24: 1/1 Running 0 24
30: 1/1 Running 0 30`},
		"up to 1.34 a Pod that failed reads Completed": {pod(`"restartPolicy":"Never","containers":[{"name":"a","image":"i"},{"name":"b","image":"i"}]`,
			`,"cluster":{"version":"1.34"},"runs":{"a":[{"for":"1s","exitCode":0}],"b":[{"for":"2s","exitCode":1}]},"until":"3s"`), `
0: 2/2 Running 0 0
1: 1/2 NotReady 0 1
2: 0/2 Completed 0 2
3: 0/2 Completed 0 3`},
		"from 1.35 on Error": {pod(`"restartPolicy":"Never","containers":[{"name":"a","image":"i"},{"name":"b","image":"i"}]`,
			`,"runs":{"a":[{"for":"1s","exitCode":0}],"b":[{"for":"2s","exitCode":1}]},"until":"3s"`), `
0: 2/2 Running 0 0
1: 1/2 NotReady 0 1
2: 0/2 Error 0 2
3: 0/2 Error 0 3`},
		"a deleted Pod": {pod(crash, `,"runs":{"c":[{"stop":{"for":"4s","exitCode":0}}]},"events":[{"at":"8s","type":"Deleted"}],"until":"60s"`), `
0: 1/1 Running 0 0
8: 1/1 Terminating 0 8
12: gone`},
		// Question D35 of the playground: two containers that restart show 2, and so the reason
		// until both run.
		"a restart of all containers": {pod(`"restartPolicy":"Never","containers":[{"name":"a","image":"i","restartPolicy":"Never","restartPolicyRules":[{"action":"RestartAllContainers","exitCodes":{"operator":"In","values":[88]}}]},{"name":"b","image":"i"}]`,
			`,"cluster":{"version":"1.36"},"runs":{"a":[{"for":"10s","exitCode":88}]},"timing":{"detection":"1s","sync":"kubelet"},"until":"30s"`), `
0: 0/2 ContainerCreating 0 0
0.1: 2/2 Running 0 0.1
11: 1/2 Error 0 11
11.1: 0/2 RestartingAllContainers 2 11.1
11.2: 2/2 Running 2 11.2
30: 2/2 Running 2 30`},
		// Question C24: a kubelet shows the exit while a container waits that a rule restarts, and
		// at the end how it ended.
		"a rule that restarts, with the kubelet's own times": {pod(`"restartPolicy":"Never","containers":[{"name":"a","image":"i","restartPolicy":"Never","restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In","values":[3]}}]}]`,
			`,"cluster":{"version":"1.36"},"runs":{"a":[{"for":"2s","exitCode":3,"times":4},{"for":"2s","exitCode":1}]},"timing":{"sync":"kubelet"},"until":"2m"`), `
0: 1/1 Running 0 0
2: 1/1 Running 1 (0 ago) 2
4: 0/1 Error 1 (2 ago) 4
15: 1/1 Running 2 (11 ago) 15
17: 0/1 Error 2 (13 ago) 17
38: 1/1 Running 3 (21 ago) 38
40: 0/1 Error 3 (23 ago) 40
81: 1/1 Running 4 (41 ago) 81
83: 0/1 Error 4 (43 ago) 83
120: 0/1 Error 4 (80 ago) 120`},
		"rounds that are counted": {pod(crash, `,"runs":{"c":[{"for":"11m","exitCode":1,"times":"forever"}]},"until":"8760h"`), `
0: 1/1 Running 0 0
660: 1/1 Running 1 (0 ago) 660
1320: 1/1 Running 2 (0 ago) 1320 … 3.153546e+07
3.1536e+07: 1/1 Running 47781 (540 ago) 3.1536e+07`},
		"a Job": {`{"show":["rows"],"manifest":{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":{"backoffLimit":1,"template":{"spec":{"restartPolicy":"Never",` + crash + `}}}},"runs":{"c":[{"for":"5s","exitCode":1,"times":"forever"}]},"until":"1m"}`, `
0: j-bbbbb 1/1 Running 0 0
5: j-bbbbb 0/1 Error 0 5
15: j-bbbbc 1/1 Running 0 0
20: j-bbbbc 0/1 Error 0 5
60: j-bbbbb 0/1 Error 0 60
60: j-bbbbc 0/1 Error 0 45`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(rowsOf(t, test.request), "\n"); got != strings.TrimSpace(test.want) {
				t.Errorf("got\n%s\nwant%s", got, test.want)
			}
		})
	}
}
