package policytest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/ops"
)

// recorded is what a status says, without times and texts.
type recorded struct {
	AtMillis   int64
	Phase      string
	Reason     string
	Conditions map[string]string // by type: the status, and the reason if there is one
	Containers map[string]recordedContainer
}

type recordedContainer struct {
	State, LastState *recordedState
	RestartCount     int
	Ready            bool
	Started          *bool
}

type recordedState struct {
	Is, Reason string
	ExitCode   int
}

// timings are what a kubelet may do: it notices an exit at any instant up to a second after it, and
// waits between once and one and a half times as long as it should. A recording has one of them.
var timings = []string{
	`{"sync":"kubelet","detection":"1s"}`, `{"sync":"kubelet","detection":"500ms","jitter":"mean"}`, `{"sync":"kubelet","detection":"1s","jitter":"full"}`,
	`{"sync":"kubelet","detection":"200ms","jitter":"mean"}`, `{"sync":"kubelet","detection":"800ms"}`, `{"sync":"kubelet","detection":"350ms","jitter":"full"}`, `{}`,
}

// shifts are by how many milliseconds a recording is asked about earlier or later: its clock began
// when the Pod was created, and what it shows came through a watch.
var shifts = []int64{0, -1200, 1200, -2200, 2000, -3300, -500, 500}

// offTime are the Pods of which so many recorded statuses are of another instant than any that is
// looked at, and why. That of another answer would be a fault here.
var offTime = map[string]struct {
	statuses int
	why      string
}{
	"1.33 p-fin2":      {1, late},
	"1.33 p-live1":     {1, late},
	"1.33 p-sbofall":   {1, late},
	"1.33 p-a1":        {2, "two waits in a row had most of the jitter"},
	"1.33 p-b6":        {1, "the end comes in two updates, of which the first was recorded"},
	"1.35 p-live1":     {1, late},
	"1.35 p-sbofall":   {1, late},
	"1.36 p-fin2":      {1, late},
	"1.36 p-finside":   {1, late},
	"1.36 p-a8":        {1, late},
	"1.36 p-c2":        {1, late},
	"1.36 p-c7":        {1, late},
	"1.36 p-d2":        {1, late},
	"1.36 p-sidecrash": {2, "whether the wait of the sidecar is shown before the Pod ends depends on which of two syncs is first"},
	"1.36 p-b3":        {7, "the API server refuses the statuses after the new sandbox, which the kubelet said to be ready before or after that: a race"},
}

// late: the kubelet holds back a terminal phase until all is cleaned up, which took it longer than
// the simulation is shifted by.
const late = "the terminal phase reached the API more than three seconds later"

// TestRecordings compares simulations with what a real kubelet did: that of three releases, run with
// a runtime that follows a script and with an API server that uses the real strategies for Pods and
// their status (Kubernetes 1.33.5, 1.35.4 and 1.36.3, default gates). In recordings/VERSION.jsonl each
// line has a request of simulate and the statuses that the API showed at some instants. Left out are
// containers in the state unknown, which such a runtime does not end as a real one would.
func TestRecordings(t *testing.T) {
	files, err := filepath.Glob("recordings/*.jsonl")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d files of recordings, %v", len(files), err)
	}
	for _, file := range files {
		version := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			pods, statuses := 0, 0
			lines := bufio.NewScanner(f)
			lines.Buffer(nil, 1<<20)
			for ; lines.Scan(); pods++ {
				var r struct {
					Request  map[string]json.RawMessage
					Statuses []recorded
				}
				if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
					t.Fatal(err)
				}
				var m struct{ Metadata struct{ Name string } }
				if err := json.Unmarshal(r.Request["manifest"], &m); err != nil {
					t.Fatal(err)
				}
				off, wrong := offTime[version+" "+m.Metadata.Name], 0
				for i := range r.Statuses {
					statuses++
					if nearest := nearestStatus(t, version, r.Request, &r.Statuses[i]); nearest != "" {
						if wrong++; wrong > off.statuses {
							t.Errorf("%s at %d ms: %s", m.Metadata.Name, r.Statuses[i].AtMillis, nearest)
						}
					}
				}
				if wrong < off.statuses {
					t.Errorf("%s: %d statuses are off, %d were (%s)", m.Metadata.Name, wrong, off.statuses, off.why)
				}
			}
			if err := lines.Err(); err != nil || pods < 50 || statuses < 4*pods {
				t.Errorf("%d Pods with %d statuses, %v", pods, statuses, err)
			}
			t.Logf("%d Pods, %d statuses", pods, statuses)
		})
	}
}

// nearestStatus returns "" if a simulation shows the recorded status, with one of the timings and at
// an instant near by; otherwise what differs where least does.
func nearestStatus(t *testing.T, version string, request map[string]json.RawMessage, want *recorded) string {
	t.Helper()
	simulate, _ := ops.Lookup("simulate")
	best, least := "no answer", 1<<30
	for _, timing := range timings {
		for _, shift := range shifts {
			until := max(want.AtMillis+shift, 100)
			var events []json.RawMessage
			for _, e := range elements(t, request["events"]) {
				var at struct{ At string }
				if err := json.Unmarshal(e, &at); err != nil {
					t.Fatal(err)
				}
				var seconds float64
				if _, err := fmt.Sscanf(at.At, "%gs", &seconds); err != nil {
					t.Fatal(err)
				}
				if seconds*1000 <= float64(until) {
					events = append(events, e)
				}
			}
			asked := map[string]any{"cluster": map[string]string{"version": version}, "until": fmt.Sprintf("%dms", until), "timing": json.RawMessage(timing)}
			for name, value := range request {
				asked[name] = value
			}
			asked["events"] = events
			if events == nil {
				delete(asked, "events")
			}
			body, err := json.Marshal(asked)
			if err != nil {
				t.Fatal(err)
			}
			raw, failed := ops.Call(simulate.Number, body)
			if failed {
				return string(raw)
			}
			if n, says := differences(t, raw, want); n < least {
				best, least = says, n
			}
			if least == 0 {
				return ""
			}
		}
	}
	return best
}

func elements(t *testing.T, list json.RawMessage) (all []json.RawMessage) {
	t.Helper()
	if list != nil {
		if err := json.Unmarshal(list, &all); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// differences counts what of the status in an answer is not as recorded.
func differences(t *testing.T, answer []byte, want *recorded) (n int, says string) {
	t.Helper()
	type state map[string]*struct {
		Reason   string
		ExitCode int
	}
	var a struct {
		Pod struct {
			Status struct {
				Phase, Reason                            string
				Conditions                               []struct{ Type, Status, Reason string }
				ContainerStatuses, InitContainerStatuses []struct {
					Name             string
					State, LastState state
					RestartCount     int
					Ready            bool
					Started          *bool
				}
			}
		}
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		t.Fatal(err)
	}
	short := func(s state) *recordedState {
		for is, of := range s {
			if of != nil {
				r := recordedState{Is: is, Reason: of.Reason}
				if is == "terminated" {
					r.ExitCode = of.ExitCode
				}
				return &r
			}
		}
		return nil
	}
	s := a.Pod.Status
	got := recorded{Phase: s.Phase, Reason: s.Reason, Conditions: map[string]string{}, Containers: map[string]recordedContainer{}}
	for _, c := range s.Conditions {
		if c.Type != "PodScheduled" {
			got.Conditions[c.Type] = strings.TrimSuffix(c.Status+" "+c.Reason, " ")
		}
	}
	for _, c := range append(s.InitContainerStatuses, s.ContainerStatuses...) {
		got.Containers[c.Name] = recordedContainer{short(c.State), short(c.LastState), c.RestartCount, c.Ready, c.Started}
	}
	differ := func(what string, x, y any) {
		if !reflect.DeepEqual(x, y) {
			n++
			real, _ := json.Marshal(x)
			ours, _ := json.Marshal(y)
			says += fmt.Sprintf("%s: the kubelet %s, here %s; ", what, real, ours)
		}
	}
	differ("phase", want.Phase+" "+want.Reason, got.Phase+" "+got.Reason)
	for name := range want.Conditions {
		differ(name, want.Conditions[name], got.Conditions[name])
	}
	differ("conditions", len(want.Conditions), len(got.Conditions))
	for name := range want.Containers {
		differ(name, want.Containers[name], got.Containers[name])
	}
	differ("containers", len(want.Containers), len(got.Containers))
	return n, says
}
