package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/podfate/podfate/playground/server"
)

// The tests of this file put the program, as a user starts it, under load over TCP. They take
// minutes and run only with PODFATE_LONG set. What is certain is asserted: statuses, losses,
// bounds. How quick it was is printed: on a machine with other work that says little about the
// program.

// long skips a test that takes minutes unless it is asked for.
func long(t *testing.T) {
	t.Helper()
	if os.Getenv("PODFATE_LONG") == "" {
		t.Skip("takes minutes; set PODFATE_LONG")
	}
	if runtime.GOOS == "windows" {
		t.Skip("left out on Windows: it has no SIGTERM")
	}
}

// process is a running server.
type process struct {
	command *exec.Cmd
	url     string
	log     bytes.Buffer // to be read when it has ended
	ended   bool
}

// launch starts the program and waits until it is ready.
func launch(t *testing.T, args ...string) *process {
	t.Helper()
	return start(t, exec.Command(binary(t), append([]string{"--addr", "127.0.0.1:0"}, args...)...))
}

// start runs a command that becomes a server, which ends with the test at the latest.
func start(t *testing.T, command *exec.Cmd) *process {
	t.Helper()
	p := &process{command: command}
	tie(command)
	out, err := p.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.command.Stderr = &p.log
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !p.ended {
			p.command.Process.Kill()
			p.command.Wait()
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	url, found := strings.CutPrefix(strings.TrimSpace(line), "Podfate playground: ")
	if err != nil || !found {
		t.Fatalf("%q, %v", line, err)
	}
	p.url = url
	return p
}

// end sends SIGTERM and waits.
func (p *process) end() error {
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	p.ended = true
	return p.command.Wait()
}

// figure returns the value of a metric without labels.
func (p *process) figure(t *testing.T, name string) float64 {
	t.Helper()
	r, err := http.Get(p.url + "/metrics")
	for tries := 0; (err != nil || r.StatusCode != 200) && tries < 20; tries++ { // there may be too many connections for a moment
		if err == nil {
			r.Body.Close()
		}
		time.Sleep(100 * time.Millisecond)
		r, err = http.Get(p.url + "/metrics")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if r.StatusCode != 200 {
		t.Fatalf("/metrics answers %s", r.Status)
	}
	lines := bufio.NewScanner(r.Body)
	for lines.Scan() {
		if text, found := strings.CutPrefix(lines.Text(), name+" "); found {
			value, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			return value
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}

const loadManifest = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"i",` +
	`"restartPolicy":"Never","restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In","values":[42]}}]}]}}`

// question is one kind of request.
type question struct{ contentType, body string }

var (
	inJSON = question{"application/json", `{"manifest":` + loadManifest + `,"exits":[{"container":"main","exitCode":42}]}`}
	inYAML = question{"application/yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  restartPolicy: Never\n  containers:\n  - name: main\n    image: i\n" +
		"    restartPolicy: Never\n    restartPolicyRules:\n    - action: Restart\n      exitCodes: {operator: In, values: [42]}\n---\n" +
		"apiVersion: podfate.dev/v1\nkind: Scenario\nexits: [{container: main, exitCode: 42}]\n"}
	hostile = []question{
		{"application/json", `{"manifest":{`},
		{"application/json", strings.Repeat(`[`, 10_000)},
		{"application/json", `{"manifest":` + strings.Repeat(" ", 300<<10) + `{}}`},
		{"application/yaml", "a: &a \"" + strings.Repeat("x", 60<<10) + "\"\nb: [" + strings.Repeat("*a,", 99) + "]\n"},
		{"application/yaml", "a: &a [*a]\n"},
		{"text/plain", "hello"},
	}
)

// loaded is what became of requests.
type loaded struct {
	mu        sync.Mutex
	statuses  map[int]int // 0: no answer
	latencies map[int][]time.Duration
	wrong     int   // answers with status 200 that say something else
	noRetry   int   // answers with status 503 that do not say when to come again
	err       error // the last one of those without an answer
	unsent    int   // for which the generator had no connection
}

// mostConnections of a client are less than the server lets in.
const mostConnections = 400

// newClient gives up idle connections before the server does, which else can end one just when it
// is used again.
func newClient() *http.Client {
	return &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
		MaxIdleConnsPerHost: mostConnections, MaxConnsPerHost: mostConnections, IdleConnTimeout: server.DefaultIdle / 2,
	}}
}

// ask sends one request and notes what became of it, counted from when it should have been sent.
func (l *loaded) ask(client *http.Client, url string, q question, due time.Time) (status int, id string, err error) {
	r, err := client.Post(url+"/api/v1/decide", q.contentType, strings.NewReader(q.body))
	var answer []byte
	if err == nil {
		answer, err = io.ReadAll(r.Body)
		r.Body.Close()
	}
	switch {
	case err == nil:
		status, id = r.StatusCode, r.Header.Get("X-Request-Id")
	case len(q.body) > server.DefaultBodyBytes:
		status = http.StatusRequestEntityTooLarge // the answer may come, and the connection end, while the body is being sent
	}
	took := time.Since(due)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.statuses == nil {
		l.statuses, l.latencies = map[int]int{}, map[int][]time.Duration{}
	}
	l.statuses[status]++
	if status == 0 {
		l.err = err
	}
	l.latencies[status] = append(l.latencies[status], took)
	switch {
	case status == 200 && !bytes.Contains(answer, []byte(`"action":"Restart"`)):
		l.wrong++
	case status == 503 && r.Header.Get("Retry-After") == "":
		l.noRetry++
	}
	return status, id, err
}

// quantile returns a latency of answers with status.
func (l *loaded) quantile(status int, q float64) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := slices.Sorted(slices.Values(l.latencies[status]))
	if len(list) == 0 {
		return 0
	}
	return list[min(int(q*float64(len(list))), len(list)-1)].Round(10 * time.Microsecond)
}

func (l *loaded) String() string {
	s := fmt.Sprintf("%v, %d not sent", l.statuses, l.unsent)
	for _, status := range slices.Sorted(maps.Keys(l.statuses)) {
		s += fmt.Sprintf("; %d: p50 %v p99 %v p99.9 %v most %v", status, l.quantile(status, .5), l.quantile(status, .99), l.quantile(status, .999), l.quantile(status, 1))
	}
	return s
}

// openLoop sends perSecond requests for some time, each at its instant whatever became of those
// before it, as long as there is a connection for it.
func openLoop(client *http.Client, url string, perSecond int, length time.Duration, next func(i int) question) *loaded {
	l := &loaded{}
	var all sync.WaitGroup
	free := make(chan struct{}, mostConnections)
	began := time.Now()
	for i := range int(length.Seconds() * float64(perSecond)) {
		due := began.Add(time.Duration(i) * time.Second / time.Duration(perSecond))
		time.Sleep(time.Until(due))
		select {
		case free <- struct{}{}:
		default:
			l.unsent++
			continue
		}
		all.Go(func() {
			l.ask(client, url, next(i), due)
			<-free
		})
	}
	all.Wait()
	return l
}

func always(q question) func(int) question { return func(int) question { return q } }

// capacity returns how many requests are answered in a second when 32 clients ask without a pause.
func capacity(client *http.Client, url string, q question) int {
	l := &loaded{}
	var all sync.WaitGroup
	const length = 4 * time.Second
	end := time.Now().Add(length)
	for range 32 {
		all.Go(func() {
			for time.Now().Before(end) {
				l.ask(client, url, q, time.Now())
			}
		})
	}
	all.Wait()
	return l.statuses[200] / int(length.Seconds())
}

// check demands that only the given statuses came, and no wrong answer.
func (l *loaded) check(t *testing.T, allowed ...int) {
	t.Helper()
	for status, n := range l.statuses {
		if !slices.Contains(allowed, status) {
			t.Errorf("status %d: %d times; the last error: %v", status, n, l.err)
		}
	}
	if l.wrong > 0 || l.noRetry > 0 {
		t.Errorf("%d wrong answers, %d refusals without Retry-After", l.wrong, l.noRetry)
	}
}

// TestLoad is F4: a rate that is answered without an error, then three times what the server can
// take.
func TestLoad(t *testing.T) {
	long(t)
	p := launch(t, "--log-level", "warn")
	client := newClient()
	defer client.CloseIdleConnections()
	most := capacity(client, p.url, inJSON)
	t.Logf("closed loop, 32 clients: %d/s", most)
	for _, c := range []struct {
		name      string
		q         question
		perSecond int
	}{{"JSON", inJSON, 1000}, {"YAML", inYAML, 300}} {
		l := openLoop(client, p.url, c.perSecond, 60*time.Second, always(c.q))
		t.Logf("%s, %d/s for 60s: %v", c.name, c.perSecond, l)
		l.check(t, 200, 503)
		if refused := l.statuses[503]; refused > c.perSecond*60/100 { // none, unless others take the machine for a moment
			t.Errorf("%s: %d requests refused", c.name, refused)
		}
	}
	over := openLoop(client, p.url, 3*most, 20*time.Second, always(inJSON))
	t.Logf("overload, %d/s for 20s: %v", 3*most, over)
	over.check(t, 200, 503)
	time.Sleep(2 * time.Second)
	after := openLoop(client, p.url, 200, 3*time.Second, always(inJSON))
	t.Logf("two seconds later, 200/s: %v", after)
	after.check(t, 200)
	t.Logf("%.0f MiB resident", p.figure(t, "process_resident_memory_bytes")/(1<<20))
	if err := p.end(); err != nil {
		t.Error(err)
	}
}

// TestShutdownUnderLoad is F7: SIGTERM while 200 clients ask, twenty times. A request of which the
// server says that it was answered was received; a client that asks another server after a
// connection error never fails.
func TestShutdownUnderLoad(t *testing.T) {
	long(t)
	const rounds, clients = 20, 200
	other := launch(t, "--log-level", "warn")
	errorsOfAll, answers := 0, 0
	var slowest time.Duration
	for round := range rounds {
		p := launch(t)
		var mu sync.Mutex
		received := map[string]bool{}
		var broken, failed atomic.Int64
		var ending atomic.Bool
		var all sync.WaitGroup
		for range clients {
			all.Go(func() {
				l := &loaded{}
				client := newClient()
				defer client.CloseIdleConnections()
				for {
					status, id, err := l.ask(client, p.url, inJSON, time.Now())
					if err == nil {
						mu.Lock()
						received[id] = true
						mu.Unlock()
						if status != 200 && status != 503 {
							failed.Add(1)
						}
						continue
					}
					broken.Add(1)
					for { // elsewhere, as behind a balancer
						status, _, err := l.ask(client, other.url, inJSON, time.Now())
						if err == nil && status == 503 {
							continue // busy: 200 clients at once
						}
						if err != nil || status != 200 {
							failed.Add(1)
						}
						break
					}
					if errors.Is(err, syscall.ECONNREFUSED) || ending.Load() {
						return
					}
				}
			})
		}
		time.Sleep(300 * time.Millisecond)
		began := time.Now()
		err := p.end()
		took := time.Since(began)
		ending.Store(true)
		all.Wait()
		slowest = max(slowest, took)
		if err != nil {
			t.Errorf("round %d: %v", round, err)
		}
		finished, lost := 0, 0
		lines := bufio.NewScanner(&p.log)
		for lines.Scan() {
			var line struct {
				Msg, Route, RequestID string
				Status                int
			}
			if json.Unmarshal(lines.Bytes(), &line) != nil || line.Msg != "request" || line.Status != 200 {
				continue
			}
			if finished++; !received[line.RequestID] {
				lost++
			}
		}
		answers += finished
		errorsOfAll += int(broken.Load())
		if finished < clients || lost > 0 || failed.Load() > 0 || broken.Load() > 2*clients {
			t.Errorf("round %d: %d finished, %d of them not received, %d connection errors, %d failures", round, finished, lost, broken.Load(), failed.Load())
		}
	}
	t.Logf("%d rounds of %d clients: %d answers, %d connection errors, none lost; the slowest end took %v", rounds, clients, answers, errorsOfAll, slowest.Round(time.Millisecond))
}

// TestSlowClients is F17: a thousand connections that send or read slowly, and other clients among
// them.
func TestSlowClients(t *testing.T) {
	long(t)
	p := launch(t, "--log-level", "error")
	host := strings.TrimPrefix(p.url, "http://")
	client := newClient()
	defer client.CloseIdleConnections()
	quiet := openLoop(client, p.url, 100, 5*time.Second, always(inJSON))
	t.Logf("alone, 100/s: %v", quiet)
	quiet.check(t, 200)
	for _, c := range []struct {
		name, head string
		drip       string
	}{
		{"headers", "GET / HTTP/1.1\r\nHost: " + host + "\r\n", "X-A: b\r\n"},
		{"bodies", "POST /api/v1/decide HTTP/1.1\r\nHost: " + host + "\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n{", " "},
		{"readers", strings.Repeat("GET /policy.wasm HTTP/1.1\r\nHost: "+host+"\r\n\r\n", 20), ""},
	} {
		stop := make(chan struct{})
		var slow sync.WaitGroup
		var refused atomic.Int64
		for range 1000 {
			slow.Go(func() {
				conn, err := net.Dial("tcp", host)
				if err != nil {
					refused.Add(1)
					return
				}
				defer conn.Close()
				conn.(*net.TCPConn).SetReadBuffer(4096)
				io.WriteString(conn, c.head)
				for {
					select {
					case <-stop:
						return
					case <-time.After(500 * time.Millisecond):
					}
					if _, err := io.WriteString(conn, c.drip); err != nil {
						return
					}
				}
			})
		}
		began := time.Now()
		var l *loaded
		others := make(chan struct{})
		go func() {
			defer close(others)
			l = openLoop(client, p.url, 100, 5*time.Second, always(inJSON))
			client.CloseIdleConnections()
		}()
		most, gone := 0.0, time.Duration(0)
		for gone == 0 && time.Since(began) < 40*time.Second {
			time.Sleep(100 * time.Millisecond)
			open := p.figure(t, "podfate_http_connections")
			most = max(most, open)
			select {
			case <-others:
				if open <= 2 { // the one that asks for figures
					gone = time.Since(began)
				}
			default:
			}
		}
		close(stop)
		slow.Wait()
		t.Logf("1000 slow %s: the others %v; all gone after %v; at most %.0f connections", c.name, l, gone.Round(100*time.Millisecond), most)
		l.check(t, 200, 0, 503)
		if lost := l.statuses[0] + l.statuses[503]; lost > 25 {
			t.Errorf("%s: %d of 500 requests of others were not answered", c.name, lost)
		}
		if gone == 0 {
			t.Errorf("%s: connections stay for ever", c.name)
		}
		if most > 512 {
			t.Errorf("%s: %.0f connections", c.name, most)
		}
	}
	if err := p.end(); err != nil {
		t.Error(err)
	}
}

// soakRate bounds the rate of the soak, so that a machine that is given to others for a while can
// still follow.
const soakRate = 200

// TestSoak is F11: half of what the server can take, but at most soakRate, two requests in a
// hundred hostile, for as long as PODFATE_LONG says if it is a length of time, otherwise ten
// minutes.
func TestSoak(t *testing.T) {
	long(t)
	length, err := time.ParseDuration(os.Getenv("PODFATE_LONG"))
	if err != nil {
		length = 10 * time.Minute
	}
	p := launch(t, "--log-level", "error")
	client := newClient()
	defer client.CloseIdleConnections()
	most := capacity(client, p.url, inJSON)
	perSecond := min(most/2, soakRate)
	mix := func(i int) question {
		if i%50 == 0 {
			return hostile[rand.IntN(len(hostile))]
		}
		return inJSON
	}
	type sample struct{ minutes, resident, descriptors, goroutines float64 }
	var samples []sample
	var first, last *loaded
	const slice = 30 * time.Second
	began := time.Now()
	for time.Since(began) < length {
		l := openLoop(client, p.url, perSecond, slice, mix)
		l.check(t, 200, 400, 413, 415, 422)
		if last = l; first == nil {
			first = l
		}
		client.CloseIdleConnections()
		s := sample{time.Since(began).Minutes(), p.figure(t, "process_resident_memory_bytes") / (1 << 20), p.figure(t, "process_open_fds"), p.figure(t, "go_goroutines")}
		samples = append(samples, s)
		t.Logf("%5.1f min: %6.1f MiB resident, %3.0f descriptors, %3.0f goroutines; p99 of answers %v", s.minutes, s.resident, s.descriptors, s.goroutines, l.quantile(200, .99))
	}
	settled := samples[len(samples)/5:]
	var n, x, y, xx, xy float64
	for _, s := range settled {
		n, x, y, xx, xy = n+1, x+s.minutes, y+s.resident, xx+s.minutes*s.minutes, xy+s.minutes*s.resident
	}
	slope := 0.0
	if d := n*xx - x*x; d > 0 {
		slope = (n*xy - x*y) / d * 10
	}
	t.Logf("%v at %d/s of %d/s, 2%% hostile: %+.2f MiB in 10 minutes after the first fifth; p99 at first %v, at last %v; panics %.0f",
		length, perSecond, most, slope, first.quantile(200, .99), last.quantile(200, .99), p.figure(t, "podfate_http_panics_total"))
	if length >= 10*time.Minute && slope > 1 {
		t.Errorf("%.2f MiB more in 10 minutes, at most 1 wanted", slope)
	}
	if a, b := settled[0], settled[len(settled)-1]; b.descriptors > a.descriptors+20 || b.goroutines > a.goroutines+20 {
		t.Errorf("descriptors %v to %v, goroutines %v to %v", a.descriptors, b.descriptors, a.goroutines, b.goroutines)
	}
	if n := p.figure(t, "podfate_http_panics_total"); n > 0 {
		t.Errorf("%.0f panics", n)
	}
	if err := p.end(); err != nil {
		t.Error(err)
	}
}

// TestMemoryUnderBadInput is F5: texts near the limit that are dear to read, twice, 64 at a time;
// the most memory that the program had, and what it keeps.
func TestMemoryUnderBadInput(t *testing.T) {
	long(t)
	if runtime.GOOS != "linux" {
		t.Skip("left out: there is no /proc")
	}
	fill := func(head, unit, tail string, bytes int) string {
		return head + strings.Repeat(unit, (bytes-len(head)-len(tail))/len(unit)) + tail
	}
	const most, document = server.DefaultBodyBytes, 120 << 10
	var keys strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&keys, "k%d: 1\n", i)
	}
	bad := []question{
		{"application/json", fill(`{"manifest":[`, `0,`, `0]}`, most)},
		{"application/json", fill(`{"manifest":[`, `{},`, `{}]}`, most)},
		{"application/json", fill(`{"manifest":{`, `"":0,`, `"":0}}`, most)},
		{"application/json", fill(`{`, `"<":"<",`, `"a":0}`, most)},
		{"application/json", fill(`{"manifest":"`, `\u0000`, `"}`, most)},
		{"application/json", fill(``, `[`, ``, most)},
		{"application/yaml", keys.String()},
		{"application/yaml", fill("", "- #\n", "", document)},
		{"application/yaml", fill("", "? #\n", "", document)},
		{"application/yaml", fill("[", "1,", "]", document)},
		{"application/yaml", fill("a: [", "b,\n", "", document)},
		{"application/yaml", fill("a: \"", "b\n", "", document)},
		{"application/yaml", fill("", "---\na: 1\n", "", most)},
		{"application/yaml", fill("a: &a \"x\"\nb: [", "*a,", "]", document)},
	}
	bad = append(bad, hostile...)
	p := launch(t, "--log-level", "error")
	client := newClient()
	defer client.CloseIdleConnections()
	l := &loaded{}
	for range 100 {
		l.ask(client, p.url, inJSON, time.Now())
	}
	before := p.figure(t, "process_resident_memory_bytes") / (1 << 20)
	for range 2 {
		var all sync.WaitGroup
		free := make(chan struct{}, 64)
		for i := range 40 * len(bad) {
			free <- struct{}{}
			all.Go(func() {
				l.ask(client, p.url, bad[i%len(bad)], time.Now())
				<-free
			})
		}
		all.Wait()
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, peak, _ := strings.Cut(string(text), "VmHWM:")
	kib := 0
	if _, err := fmt.Sscan(peak, &kib); err != nil {
		t.Fatal(err)
	}
	client.CloseIdleConnections()
	time.Sleep(time.Minute)
	after := p.figure(t, "process_resident_memory_bytes") / (1 << 20)
	t.Logf("%v; %.0f MiB at first, %d MiB at most, %.0f MiB a minute later", l.statuses, before, kib>>10, after)
	l.check(t, 200, 400, 413, 415, 422, 503)
	if kib > 256<<10 {
		t.Errorf("%d MiB at most, 256 wanted", kib>>10)
	}
	if l.ask(client, p.url, inJSON, time.Now()); l.wrong > 0 {
		t.Error("wrong answers")
	}
	if err := p.end(); err != nil {
		t.Error(err)
	}
}
