package forecast_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/podfate/podfate/playground/forecast"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

var now = time.Date(2026, 5, 4, 9, 21, 0, 0, time.UTC)

var options = forecast.Options{Now: now, Ahead: time.Hour, RequestsPerRestart: 5}

// pod is what kubectl prints of a Pod of a ReplicaSet; state is its containerStatuses.
func pod(name, owner, spec, status string) string {
	return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + name + `","namespace":"prod","uid":"u-` + name + `","creationTimestamp":"2026-05-04T09:12:11Z",` + owner +
		`"managedFields":[{"manager":"` + strings.Repeat("x", filling) + `"}]},"spec":{"nodeName":"n1",` + spec + `},"status":{"startTime":"2026-05-04T09:12:12Z",` + status + `}}`
}

// filling makes a Pod as long as kubectl prints one: 6 KB.
const filling = 5000

const (
	replicas = `"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-5d4","controller":true,"uid":"x"}],`
	always   = `"restartPolicy":"Always","containers":[{"name":"main","image":"i"}]`
	never    = `"restartPolicy":"Never","containers":[{"name":"main","image":"i"},{"name":"side","image":"i"}]`
	loops    = `"phase":"Running","containerStatuses":[{"name":"main","restartCount":5,"state":{"waiting":{"reason":"CrashLoopBackOff","message":"back-off 2m40s restarting failed container=main pod=web-1_prod(u1)"}},"lastState":{"terminated":{"exitCode":1,"reason":"Error","startedAt":"2026-05-04T09:20:40Z","finishedAt":"2026-05-04T09:20:50Z"}}}]`
	runs     = `"phase":"Running","containerStatuses":[{"name":"main","restartCount":0,"ready":true,"started":true,"state":{"running":{"startedAt":"2026-05-04T09:12:13Z"}},"lastState":{}}]`
	image    = `"phase":"Pending","containerStatuses":[{"name":"main","restartCount":0,"state":{"waiting":{"reason":"ImagePullBackOff","message":"Back-off pulling image \"i\""}}}]`
	half     = `"phase":"Running","containerStatuses":[{"name":"main","restartCount":0,"state":{"terminated":{"exitCode":3,"reason":"Error","startedAt":"2026-05-04T09:12:14Z","finishedAt":"2026-05-04T09:13:14Z"}}},{"name":"side","restartCount":0,"ready":true,"started":true,"state":{"running":{"startedAt":"2026-05-04T09:12:13Z"}}}]`
	failed   = `"phase":"Failed","containerStatuses":[{"name":"main","restartCount":0,"state":{"terminated":{"exitCode":3}}}]`
	job      = `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"nightly","namespace":"batch"},"spec":{"backoffLimit":4,"activeDeadlineSeconds":3600,"completions":3,"template":{"spec":{"restartPolicy":"OnFailure"}}},"status":{"startTime":"2026-05-04T09:00:00Z","failed":1,"active":1,"succeeded":2}}`
)

func list(items ...string) string {
	return `{"apiVersion":"v1","items":[` + strings.Join(items, ",") + `],"kind":"List","metadata":{"resourceVersion":""}}`
}

func read(t *testing.T, texts ...string) *forecast.Report {
	t.Helper()
	var names []string
	var in []io.Reader
	for i, text := range texts {
		names, in = append(names, fmt.Sprint("text", i)), append(in, strings.NewReader(text))
	}
	r, err := forecast.Read(options, names, in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestForecast(t *testing.T) {
	ofJob := strings.Replace(pod("nightly-1", `"ownerReferences":[{"kind":"Job","name":"nightly","controller":true}],`,
		strings.Replace(always, "Always", "OnFailure", 1), loops), `"namespace":"prod"`, `"namespace":"batch"`, 1)
	r := read(t, list(
		pod("web-1", replicas, always, loops), pod("web-2", replicas, always, loops), pod("web-3", replicas, always, runs),
		pod("pulls", "", always, image), pod("half", "", never, half), pod("gone", "", never, failed), ofJob, job,
		`{"apiVersion":"v1","kind":"Service","metadata":{"name":"s"}}`,
	))
	if got := fmt.Sprintf("%+v", r.Pods); got != "{All:7 Fine:1 Looping:3 Stuck:3 Pending:0 Finished:0 Terminating:0 Unknown:0}" {
		t.Errorf("counts %s", got)
	}
	if len(r.Broken) > 0 || r.Others != 1 || r.Jobs != 1 {
		t.Errorf("broken %v, %d others, %d Jobs", r.Broken, r.Others, r.Jobs)
	}
	// 150 s until the next start, then every 310 s.
	l := r.Loops[0]
	if l.NextStart != "2026-05-04T09:23:30Z" || l.DelayMillis != 160_000 || l.Restarts != 5 || l.RestartsPerHour != 12 || l.RequestsPerHour != 60 ||
		l.KeptBy != "spec.restartPolicy" || l.Since != "2026-05-04T09:20:40Z" || l.Status != "CrashLoopBackOff" || l.RanMillis != 120_000 {
		t.Errorf("loop %+v", l)
	}
	if o := r.Owners[0]; o.Kind != "ReplicaSet" || o.Name != "web-5d4" || o.Pods != 2 || o.RestartsPerHour != 24 || o.Restarts != 10 {
		t.Errorf("the worst owner %+v", o)
	}
	// The third loop is that of a Job with nothing left.
	if r.Cost.RestartsPerHour != 24 || r.Cost.WaitingMillis != 2*(3_600_000-120_000) {
		t.Errorf("cost %+v", r.Cost)
	}
	var stuck []string
	for _, s := range r.Stuck {
		stuck = append(stuck, s.Pod+" "+s.Reason+" "+s.KeptBy)
	}
	if got := strings.Join(stuck, ", "); got != "gone Failed metadata.ownerReferences, pulls ImagePullBackOff , half NotRestarted spec.restartPolicy" {
		t.Errorf("stuck: %s", got)
	}
	// One Pod has failed, another one was restarted five times: six of four.
	if j := r.Left[0]; j.Failed != 6 || j.Left != 0 || *j.DeadlineMillis != 39*60_000 {
		t.Errorf("job %+v", j)
	}
}

// A broken item is named, in whatever way it is broken, and the others are read.
func TestBrokenItemsAreNamed(t *testing.T) {
	good, number := pod("web-1", replicas, always, loops), 0
	for _, broken := range []string{
		`"text"`, `7`, `null`, `[]`, `{}`, `{"kind":"Pod"}`, `{"kind":"Pod","metadata":{"name":"bad"},"spec":{"containers":7},"status":{"phase":"Running","containerStatuses":[{"name":"main","restartCount":1}]}}`,
		`{"kind":"Pod","metadata":{"name":"bad"},"status":{"phase":"Running","containerStatuses":[{"name":"main","restartCount":"many","state":{"terminated":{}}}]}}`,
		`{"kind":"Pod","metadata":{"name":"bad"},"spec":{` + always + `},"status":{"phase":"Running","containerStatuses":"many"}}`,
		`{"kind":"Pod","metadata":{"name":"bad"},"spec":{` + always + `},"status":{"phase":"Running","initContainerStatuses":[7]}}`,
		`{"kind":"Pod","metadata":{"name":"bad"},"spec":{` + always + `},"status":{"phase":"Running","containerStatuses":[{"name":"main","state":"running"}]}}`,
		`{"kind":"Pod","metadata":{"name":"bad"},"spec":{` + always + `},"status":{"phase":7}}`,
		`{"kind":"Pod","metadata":{"name":"bad"},"spec":{` + always + `},"status":7}`,
		`{"kind":"Pod","metadata":{"name":"bad"},"status":{"phase":"Running"}}`,
		`{"kind":"Job","metadata":{"name":"bad"}}`, `{"kind":"Pod","kind":tru}`,
		`{"kind":"Pod","metadata":{"name":"huge","annotations":{"a":"` + strings.Repeat("x", 300<<10) + `"}}}`,
	} {
		for _, long := range []bool{false, true} {
			items := []string{good, broken, good}
			if long { // longer than what is read as a whole
				for range 60 {
					items = append(items, good)
				}
			}
			for form, text := range map[string]string{"List": list(items...), "JSON Lines": strings.Join(items, "\n")} {
				r := read(t, text)
				if r.Pods.Looping != len(items)-1 || len(r.Broken) > 1 || len(r.Broken) == 0 {
					t.Errorf("%s of %d with %.60s: %+v, broken %v", form, len(items), broken, r.Pods, r.Broken)
				}
				for _, b := range r.Broken {
					if b.Why == "" || b.Number != 2 {
						t.Errorf("%s with %.60s: %s", form, broken, b.String())
					}
					number++
				}
			}
		}
	}
	if number < 40 {
		t.Errorf("%d items were named", number)
	}
}

// Text that ends in the middle, and text that is nothing of all this.
func TestTruncatedTexts(t *testing.T) {
	whole := list(pod("web-1", replicas, always, loops), pod("web-2", replicas, always, loops))
	for n := 0; n < len(whole); n += 97 {
		r := read(t, whole[:n])
		if r.Pods.Looping+len(r.Broken) > 3 {
			t.Fatalf("after %d bytes: %+v, %v", n, r.Pods, r.Broken)
		}
	}
	for _, text := range []string{"", "---\n", "hello", "{", "[", "apiVersion: v1\nkind: List\nitems:\n- kind: Pod\n"} {
		read(t, text)
	}
}

// YAML, as a List and as documents.
func TestYAML(t *testing.T) {
	text := "apiVersion: v1\nkind: List\nitems:\n- " + pod("web-1", replicas, always, loops) + "\n- " + pod("web-2", replicas, always, runs) + "\n"
	if r := read(t, text, "---\n"+pod("a", "", always, loops)+"\n---\n"+pod("b", "", always, runs)+"\n"); r.Pods.Looping != 2 || r.Pods.Fine != 2 || len(r.Broken) > 0 {
		t.Errorf("%+v %v", r.Pods, r.Broken)
	}
}

// The metrics are what Prometheus reads, whatever the names in the cluster are.
func TestMetricsParse(t *testing.T) {
	evil := pod(`e\"v\\i\nl`, replicas, always, loops)
	r := read(t, list(pod("web-1", replicas, always, loops), evil, pod("pulls", "", always, image), job))
	var out bytes.Buffer
	if err := r.Metrics(&out); err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(out.Bytes()))
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	value := func(name string, labels ...string) (sum float64, n int) {
		for _, m := range families[name].GetMetric() {
			has := map[string]string{}
			for _, l := range m.GetLabel() {
				has[l.GetName()] = l.GetValue()
			}
			matches := true
			for i := 0; i < len(labels); i += 2 {
				matches = matches && has[labels[i]] == labels[i+1]
			}
			if matches {
				sum, n = sum+m.GetGauge().GetValue()+m.GetCounter().GetValue(), n+1
			}
		}
		return sum, n
	}
	for _, c := range []struct {
		want   float64
		metric []string
	}{
		{2, []string{"podfate_forecast_pods", "state", "looping"}},
		{24, []string{"podfate_forecast_restarts_per_hour", "owner_name", "web-5d4"}},
		{5, []string{"kube_pod_container_status_restarts_total", "pod", "e\"v\\i\nl", "container", "main"}},
		{1, []string{"kube_pod_container_status_waiting_reason", "reason", "ImagePullBackOff"}},
		{1, []string{"kube_pod_restart_policy", "pod", "web-1", "type", "Always"}},
		{1777885932, []string{"kube_pod_start_time", "pod", "web-1", "uid", "u-web-1"}},
		{1777885931, []string{"kube_pod_created", "pod", "web-1", "uid", "u-web-1"}},
		{3, []string{"podfate_forecast_job_failures_left", "job_name", "nightly"}},
		{float64(now.Unix() + 150), []string{"podfate_forecast_next_start_timestamp_seconds", "pod", "web-1"}},
	} {
		if got, n := value(c.metric[0], c.metric[1:]...); got != c.want || n != 1 {
			t.Errorf("%v: %v in %d samples, want %v", c.metric, got, n, c.want)
		}
	}
}

// The page is one file: no script, nothing from elsewhere, and what a cluster says is text.
func TestHTML(t *testing.T) {
	r := read(t, list(pod(`<script>alert(1)</script>`, replicas, always, loops), pod("half", "", never, half)))
	var out bytes.Buffer
	if err := r.HTML(&out); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	for _, bad := range []string{"<script", "http:", "https:", "src=", "href="} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %s in it", bad)
		}
	}
	for _, good := range []string{"<svg", "&lt;script&gt;", "spec.restartPolicy", "CrashLoopBackOff"} {
		if !strings.Contains(page, good) {
			t.Errorf("the page lacks %s", good)
		}
	}
}

// TestTenThousandPods reads what a large cluster prints: 60 MB in 2 s, with less than 300 MB.
func TestTenThousandPods(t *testing.T) {
	pods := 10_000
	if testing.Short() {
		pods = 500
	}
	in, out := io.Pipe()
	go func() {
		fmt.Fprint(out, `{"apiVersion":"v1","kind":"List","items":[`)
		for i := range pods {
			status := runs
			if i%3 == 0 {
				status = loops
			}
			if i > 0 {
				fmt.Fprint(out, ",")
			}
			fmt.Fprint(out, pod(fmt.Sprint("p", i), strings.Replace(replicas, "web-5d4", fmt.Sprint("web-", i%100), 1), always, status))
		}
		fmt.Fprint(out, "]}")
		out.Close()
	}()
	counted := &counter{in: in}
	var peak uint64
	done := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.Sys-m.HeapReleased)
			select {
			case <-done:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	begun := time.Now()
	r, err := forecast.Read(options, []string{"pipe"}, []io.Reader{counted})
	took := time.Since(begun)
	close(done)
	<-watched
	if err != nil || r.Pods.All != pods || r.Pods.Looping != (pods+2)/3 || len(r.Owners) != 100 {
		t.Fatalf("%v, %+v, %d owners, broken %v", err, r.Pods, len(r.Owners), r.Broken)
	}
	t.Logf("%d Pods, %d MB in %s, at most %d MB", pods, counted.n>>20, took.Round(time.Millisecond), peak>>20)
	if peak > 300<<20 {
		t.Errorf("%d MB of memory", peak>>20)
	}
}

type counter struct {
	in io.Reader
	n  int
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.in.Read(b)
	c.n += n
	return n, err
}

// The report is JSON whose lists are never null.
func TestJSON(t *testing.T) {
	for _, text := range []string{"", list(pod("web-1", replicas, always, loops))} {
		b, err := json.Marshal(read(t, text))
		if err != nil || bytes.Contains(b, []byte(":null")) {
			t.Errorf("%v %s", err, b)
		}
	}

}

// A Job ends the loops of its Pods where a limit is reached, and nothing after that counts.
func TestJobsEndLoops(t *testing.T) {
	const owner = `"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"nightly","controller":true,"uid":"x"}],`
	onFailure := strings.Replace(always, "Always", "OnFailure", 1)
	of := func(spec, status string) string {
		return `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"nightly","namespace":"prod"},"spec":{` + spec + `"template":{"spec":{"restartPolicy":"OnFailure"}}},"status":{"startTime":"2026-05-04T09:00:00Z"` + status + `}}`
	}
	// One Pod is started again after 150 s and then every 310 s: at 150, 460, 770 s; two are at the
	// same instants.
	for _, c := range []struct {
		name, job   string
		pods        int
		restarts    int64
		by          string
		ends, waits int64
	}{
		{"no Job", "", 1, 12, "", 0, 3_600_000 - 120_000},
		{"a limit that is far", of(`"backoffLimit":100,`, ""), 1, 12, "", 0, 3_600_000 - 120_000},
		{"three are left", of(`"backoffLimit":8,`, ""), 1, 3, "backoffLimit", 770_000, 770_000 - 30_000},
		{"one is left", of(`"backoffLimit":6,`, ""), 1, 1, "backoffLimit", 150_000, 140_000},
		{"nothing is left", of(`"backoffLimit":5,`, ""), 1, 0, "backoffLimit", 0, 0},
		{"the default limit of six", of("", ""), 1, 1, "backoffLimit", 150_000, 140_000},
		{"two Pods share what is left", of(`"backoffLimit":13,`, ""), 2, 4, "backoffLimit", 460_000, 2 * 440_000},
		{"a limit for each index is another", of(`"backoffLimitPerIndex":1,`, ""), 1, 12, "", 0, 3_600_000 - 120_000},
		{"a deadline in 10 minutes", of(`"backoffLimit":100,"activeDeadlineSeconds":1860,`, ""), 1, 2, "activeDeadlineSeconds", 600_000, 580_000},
		{"it is failing", of(`"backoffLimit":100,`, `,"conditions":[{"type":"FailureTarget","status":"True"}]`), 1, 0, "FailureTarget", 0, 0},
	} {
		var items []string
		for n := range c.pods {
			items = append(items, pod(fmt.Sprint("p", n), owner, onFailure, loops))
		}
		if c.job != "" {
			items = append(items, c.job)
		}
		r := read(t, list(items...))
		if len(r.Loops) != c.pods || len(r.Broken) > 0 {
			t.Fatalf("%s: %+v %v", c.name, r.Loops, r.Broken)
		}
		l, starts := r.Loops[0], int64(0)
		for _, n := range r.Starts {
			starts += n
		}
		if r.Cost.RestartsPerHour != c.restarts || r.Owners[0].RestartsPerHour != c.restarts || starts != c.restarts || r.Cost.RequestsPerHour != 5*c.restarts || r.Cost.WaitingMillis != c.waits ||
			l.EndsBy != c.by || (l.EndsMillis == nil) != (c.by == "") || l.EndsMillis != nil && *l.EndsMillis != c.ends || (l.NextStart == "") != (c.restarts == 0) {
			t.Errorf("%s: %+v, %d starts, %+v", c.name, r.Cost, starts, l)
		}
	}
}

// A container that the runtime could not start has a start in 1970: its run takes no time, not half
// a century.
func TestStartErrorsLoop(t *testing.T) {
	broken := strings.NewReplacer(`"startedAt":"2026-05-04T09:20:40Z"`, `"startedAt" : "1970-01-01T00:00:00Z"`, `"exitCode":1,"reason":"Error"`, `"exitCode":128,"reason":"StartError"`).Replace(loops)
	r := read(t, list(pod("web-1", replicas, always, broken)))
	if len(r.Loops) != 1 || len(r.Broken) > 0 {
		t.Fatalf("%+v, broken %v", r.Loops, r.Broken)
	}
	l := r.Loops[0]
	if l.Since != "2026-05-04T09:20:50Z" || l.NextStart != "2026-05-04T09:23:30Z" || l.RestartsPerHour != 12 || l.RanMillis != 0 || l.KeptBy != "spec.restartPolicy" {
		t.Errorf("%+v", l)
	}
}

// A Pod of two containers that loop waits for an hour in an hour, not for two; restarts are of
// both.
func TestPodHoursAreOfPods(t *testing.T) {
	one := loops[strings.Index(loops, "{") : len(loops)-1]
	both := loops[:len(loops)-1] + "," + strings.Replace(one, `"name":"main"`, `"name":"side"`, 1) + "]"
	r := read(t, list(pod("web-1", replicas, `"restartPolicy":"Always","containers":[{"name":"main","image":"i"},{"name":"side","image":"i"}]`, both)))
	if len(r.Loops) != 2 || r.Cost.RestartsPerHour != 24 || r.Cost.WaitingMillis != 3_600_000-120_000 || r.Owners[0].WaitingMillis != r.Cost.WaitingMillis || r.Cost.RanMillis != 120_000 {
		t.Errorf("%+v of %+v", r.Cost, r.Loops)
	}
}

// Where the clock of the cluster is ahead by a little, instants are still counted from now; by more
// than is looked at, the statuses are not those of that time.
func TestClockOfTheCluster(t *testing.T) {
	ahead := strings.NewReplacer("09:20:40Z", "09:21:10Z", "09:20:50Z", "09:21:20Z").Replace(loops)
	r := read(t, list(pod("web-1", replicas, always, ahead)))
	if l := r.Loops[0]; l.NextStart != "2026-05-04T09:24:00Z" || l.Earliest != 180_000 || r.Starts[2] != 0 || r.Starts[3] != 1 {
		t.Errorf("%+v, starts %v", l, r.Starts)
	}
	r = read(t, list(pod("web-1", replicas, always, strings.ReplaceAll(loops, "2026", "2027"))))
	if len(r.Loops) > 0 || len(r.Broken) != 1 || !strings.Contains(r.Broken[0].Why, "is of 2027-05-04T09:20:50Z") {
		t.Errorf("%+v, broken %v", r.Loops, r.Broken)
	}
}

// What is not modelled is not said to be stuck, by no form and by no count.
func TestNotModelledIsNotStuck(t *testing.T) {
	r := read(t, list(pod("lost", "", always, strings.Replace(runs, `"phase":"Running"`, `"phase":"Unknown"`, 1)+`,"reason":"NodeLost"`), pod("lost-2", "", always, strings.Replace(loops, `"phase":"Running"`, `"phase":"Unknown"`, 1))))
	if r.Pods.Unknown != 2 || r.Pods.Stuck > 0 || len(r.Stuck) > 0 || len(r.NotModelled) != 2 || len(r.Owners) > 0 {
		t.Fatalf("%+v, stuck %+v, owners %+v", r.Pods, r.Stuck, r.Owners)
	}
	for _, lost := range r.NotModelled {
		if lost.KeptBy != "status.phase" || !strings.HasPrefix(lost.Text, "its node no longer says how it is") {
			t.Errorf("%+v", lost)
		}
	}
	r = read(t, list(pod("odd", "", always, strings.Replace(loops, `"CrashLoopBackOff"`, `"SomethingElse"`, 1))))
	if len(r.NotModelled) != 1 || !strings.Contains(r.NotModelled[0].Text, "its status") || !strings.HasSuffix(r.NotModelled[0].KeptBy, ".state.waiting.reason") {
		t.Errorf("%+v", r.NotModelled)
	}
}

// A Job that may not fail even once, one that is suspended, and two that are broken.
func TestJobsThatAreSpecial(t *testing.T) {
	of := func(name, spec, status string) string {
		return `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"` + name + `"},"spec":{"template":{"spec":{"restartPolicy":"Never"}},` + spec + `},"status":` + status + `}`
	}
	r := read(t, list(of("once", `"backoffLimit":0`, `{"active":1}`), of("rests", `"backoffLimit":0,"suspend":true`, `{"conditions":[{"type":"Suspended","status":"True"}]}`),
		of("x", `"backoffLimit":1`, `7`), of("y", `"backoffLimit":1`, `{"failed":"two"}`)))
	if len(r.Broken) != 2 || len(r.Left) != 2 {
		t.Fatalf("%v, %+v", r.Broken, r.Left)
	}
	for _, b := range r.Document().Blocks {
		if b.Kind == "table" && strings.HasPrefix(b.Title, "Jobs") {
			if got := b.Rows[0].Cells[7] + ", " + b.Rows[1].Cells[7]; got != "the next failure fails it, is suspended" {
				t.Errorf("%s", got)
			}
		}
	}
}

// A Job of Volcano is none of Kubernetes, and one with the same name gets none of its Pods.
func TestJobsOfOthers(t *testing.T) {
	other := strings.Replace(job, "batch/v1", "batch.volcano.sh/v1alpha1", 1)
	owned := strings.Replace(pod("w-0", `"ownerReferences":[{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":"nightly","controller":true}],`, always, loops),
		`"namespace":"prod"`, `"namespace":"batch"`, 1)
	r := read(t, list(other, job, owned))
	if r.Jobs != 1 || len(r.Left) != 1 || r.Left[0].Failed != 1 || r.Others != 1 {
		t.Errorf("%d Jobs, %d others, %+v", r.Jobs, r.Others, r.Left)
	}
	if len(r.Owners) != 1 || r.Owners[0].Kind != "Job.batch.volcano.sh" {
		t.Errorf("%+v", r.Owners)
	}
}

// A PodList of the API server has no kind in its items.
func TestPodListOfTheServer(t *testing.T) {
	item := strings.Replace(pod("new", "", always, `"phase":"Pending"`), `"apiVersion":"v1","kind":"Pod",`, "", 1)
	if r := read(t, `{"apiVersion":"v1","kind":"PodList","items":[`+item+`]}`); r.Pods.Pending != 1 || len(r.Broken) > 0 {
		t.Errorf("%+v, broken %v", r.Pods, r.Broken)
	}
	for items, broken := range map[string]int{"null": 0, "[]": 0, `{"a":1}`: 1, `"x"`: 1, "7": 1} {
		if r := read(t, `{"kind":"List","items":`+items+`}`); len(r.Broken) != broken || broken > 0 && r.Broken[0].Why != "items is not a list" {
			t.Errorf("items %s: broken %v", items, r.Broken)
		}
	}
}

// What is kept of a Pod that loops is what the report says of it, not the Pod that was read, nor
// the answer that was asked for.
func TestReportKeepsNoPods(t *testing.T) {
	const pods = 300
	var text strings.Builder
	for i := range pods {
		text.WriteString(pod(fmt.Sprint("p", i), replicas, always, loops) + "\n")
	}
	live := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := live()
	r := read(t, text.String())
	after := live()
	if r.Pods.Looping != pods {
		t.Fatalf("%+v", r.Pods)
	}
	if each := int64(after-before) / pods; each > 3000 {
		t.Errorf("%d bytes are kept of each Pod, want less than 3000", each)
	}
	runtime.KeepAlive(r)
	runtime.KeepAlive(text)
}
