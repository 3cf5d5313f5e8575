package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/podfate/podfate/docs"
	"github.com/podfate/podfate/web"
	"github.com/podfate/podfate/web/views"
)

const asForm = "Content-Type: application/x-www-form-urlencoded"

func form(values ...string) string {
	v := url.Values{}
	for i := 0; i < len(values); i += 2 {
		v.Set(values[i], values[i+1])
	}
	return v.Encode()
}

const podYAML = `apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  restartPolicy: Never
  containers:
  - name: main
    image: i
    restartPolicy: Never
    restartPolicyRules:
    - action: Restart
      exitCodes: {operator: In, values: [42]}
`

// TestPageHasTheAnswer looks for facts, not for tags.
func TestPageHasTheAnswer(t *testing.T) {
	s := newServer(t, native, withModule)
	for _, c := range []struct {
		name, method, target, body string
		want                       []string
	}{
		{"first visit", "GET", "/", "", []string{fakeModule.SHA256, "/static/policy." + fakeModule.SHA256[:16] + ".wasm", "Restart"}},
		{"exit that a rule matches", "POST", "/", form("manifest", podYAML, "exits", "main=42"), []string{"Restart", "spec.containers[0].restartPolicyRules[0]", "line 11"}},
		{"exit without a name", "POST", "/", form("manifest", podYAML, "exits", "42"), []string{"Restart"}},
		{"exit that no rule matches", "POST", "/", form("manifest", podYAML, "exits", "main=1"), []string{"Stop", "spec.containers[0].restartPolicy"}},
		{"older version", "POST", "/", form("manifest", podYAML, "exits", "main=42", "version", "1.33"), []string{"1.33"}},
		{"gate off", "POST", "/", form("manifest", podYAML, "exits", "main=42", "gate.ContainerRestartRules", "false", "gate.RestartAllContainersOnContainerExits", "false"), []string{"Stop", "ContainerRestartRules"}},
		{"exits of a Scenario", "POST", "/", form("manifest", podYAML+"---\napiVersion: podfate.dev/v1\nkind: Scenario\nexits: [{container: main, exitCode: 42}]\n"), []string{"Restart", "line 11"}},
		{"no exits: validate", "POST", "/", form("manifest", podYAML), []string{"1.37 accepts"}},
		{"fault", "POST", "/", form("manifest", strings.Replace(podYAML, "In,", "Inn,", 1)), []string{`Unsupported value: "Inn"`, "line 12"}},
		{"bad exits", "POST", "/", form("manifest", podYAML, "exits", "main=x"), []string{"is no exit code"}},
		{"256 exits", "POST", "/", form("manifest", podYAML, "exits", strings.Repeat("main=1 ", 256)), []string{"256 exits: 256 Stop"}},
		{"100 runs", "POST", "/", form("manifest", podYAML, "exits", "main: "+strings.Repeat("42@1s, ", 100)+"until 24h"), []string{"Still Running after 24h, 100 restarts"}},
		{"an expectation", "POST", "/", form("manifest", podYAML, "exits", "main: 1@5s expect Succeeded"), []string{"Expected at the end: Succeeded. It is Failed."}},
		{"an update", "POST", "/", form("manifest", podYAML, "old", strings.Replace(podYAML, "main", "other", 1)), []string{"1.37 refuses"}},
		{"no update", "POST", "/", form("manifest", podYAML, "old", "a: 1\nb: ["), []string{"line 2"}},
		{"a static Pod", "POST", "/", form("manifest", podYAML, "static", "on", "exits", "main=1"), []string{"only checked"}},
		{"no template", "POST", "/", form("manifest", podYAML, "template", "spec"), []string{"a Pod has no template", "#template"}},
		{"a proposal with an option", "POST", "/", form("manifest", strings.Replace(podYAML, "spec:", "spec:\n  maxRestartTimes: 2", 1), "exits", "main: 42@1s forever", "proposal", "kep-3322", "option.kep-3322.stop", "exceeded"), []string{"Failed after"}},
		{"unknown container", "POST", "/", form("manifest", podYAML, "exits", "other=1"), []string{`no container "other"`}},
		{"no YAML", "POST", "/", form("manifest", "a: ["), []string{"line 1"}},
		{"nothing at all", "POST", "/", form("manifest", ""), nil},
		{"line ends of a browser", "POST", "/", form("manifest", strings.ReplaceAll(podYAML, "\n", "\r\n"), "exits", "main=42"), []string{"line 11"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := send(s, c.method, c.target, c.body, asForm)
			if w.Code != 200 || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
				t.Fatalf("status %d, %s: %s", w.Code, w.Header().Get("Content-Type"), w.Body)
			}
			page := html.UnescapeString(w.Body.String())
			for _, want := range c.want {
				if !strings.Contains(page, want) {
					t.Errorf("the page does not contain %q\n%s", want, page[strings.Index(page, `id="answer"`):])
				}
			}
		})
	}
}

func TestEveryExampleIsAnswered(t *testing.T) {
	s := newServer(t, native, withModule)
	for _, e := range web.Examples() {
		w := send(s, "GET", "/?example="+url.QueryEscape(e.ID), "")
		if page := html.UnescapeString(w.Body.String()); w.Code != 200 || !strings.Contains(page, e.Question) {
			t.Errorf("%s: status %d", e.ID, w.Code)
		}
	}
}

// TestEmbedMayBeFramed: that page alone, and its files may be loaded from anywhere.
func TestEmbedMayBeFramed(t *testing.T) {
	s := newServer(t, native, withModule)
	w := send(s, "GET", "/embed?example=gate-off&exits=main%3D7&k8s=1.36", "", "Host: 127.0.0.1:8080")
	policy := w.Header().Get("Content-Security-Policy")
	for _, want := range []string{"frame-ancestors *", "default-src 'none'", "script-src 'self' 127.0.0.1:8080 'wasm-unsafe-eval'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("no %s in %s", want, policy)
		}
	}
	if w.Code != 200 || w.Header().Get("X-Frame-Options") != "" || w.Header().Get("Cross-Origin-Resource-Policy") != "cross-origin" {
		t.Errorf("status %d, %v", w.Code, w.Header())
	}
	page := html.UnescapeString(w.Body.String())
	for _, want := range []string{"main exits 7 → Stop", `exits="main=7"`, `k8s="1.36"`, "restartPolicyRules", "JavaScript is off"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
	if w := send(s, "GET", "/embed", "", "Host: 127.0.0.1:8080"); !strings.Contains(w.Header().Get("Content-Security-Policy"), "frame-ancestors *") {
		t.Error("without an example")
	}
	for _, target := range []string{"/static/embed.js", "/static/embed-run.js", "/static/worker.js", "/static/policy.wasm"} {
		w := send(s, "GET", target, "")
		if w.Code != 200 || w.Header().Get("Access-Control-Allow-Origin") != "*" || w.Header().Get("Cross-Origin-Resource-Policy") != "cross-origin" || w.Header().Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: status %d, %v", target, w.Code, w.Header())
		}
	}
	if w := send(s, "GET", "/", ""); !strings.Contains(w.Header().Get("Content-Security-Policy"), "frame-ancestors 'none'") || w.Header().Get("X-Frame-Options") != "DENY" {
		t.Errorf("the playground may be framed: %v", w.Header())
	}
}

// TestPageEscapesEverything puts markup wherever a form has room for text.
func TestPageEscapesEverything(t *testing.T) {
	s := newServer(t, native)
	const evil = `"'><script>alert(1)</script><img src=x onerror=alert(1)>`
	for _, body := range []string{
		form("manifest", evil),
		form("manifest", "</textarea>"+evil, "exits", "main=42"),
		form("manifest", strings.ReplaceAll(podYAML, "main", `'`+strings.ReplaceAll(evil, "'", "''")+`'`), "exits", "1"),
		form("manifest", podYAML, "exits", evil),
		form("manifest", podYAML, "exits", "main=1:"+strings.ReplaceAll(evil, " ", "")),
		form("manifest", podYAML, "version", evil, "validation", evil, "gate."+evil, "true"),
		form("manifest", strings.ReplaceAll(podYAML, "In,", `"`+strings.ReplaceAll(evil, `"`, `\"`)+`",`), "exits", "main=42"),
	} {
		w := send(s, "POST", "/", body, asForm, "Host: <script>alert(2)</script>")
		if page := w.Body.String(); w.Code != 200 || strings.Contains(page, "<script>alert") || strings.Contains(page, "<img src=x") {
			t.Errorf("status %d, form %s", w.Code, body)
		}
	}
}

func TestFormsThatCannotBeRead(t *testing.T) {
	s := newServer(t, native)
	for _, c := range []struct {
		body, contentType string
		status            int
	}{
		{"manifest=%zz", "application/x-www-form-urlencoded", 400},
		{"{}", "application/json", 415},
		{"manifest=x", "multipart/form-data; boundary=x", 415},
		{"manifest=" + strings.Repeat("a", DefaultBodyBytes), "application/x-www-form-urlencoded", 413},
	} {
		w := send(s, "POST", "/", c.body, "Content-Type: "+c.contentType)
		if w.Code != c.status {
			t.Errorf("%s %.20s: status %d, want %d", c.contentType, c.body, w.Code, c.status)
		}
		problemOf(t, w.Code, w.Header(), w.Body.Bytes())
	}
	if w := send(s, "POST", "/", form("manifest", podYAML), asForm, "Sec-Fetch-Site: cross-site"); w.Code != 403 {
		t.Errorf("a form of another site: status %d", w.Code)
	}
}

func TestPageWithoutAnEngine(t *testing.T) {
	busy := func(_ context.Context, op uint32, _ []byte) ([]byte, bool, error) {
		if op == opDescribe {
			return []byte(`{}`), false, nil
		}
		return nil, false, ErrEngineBusy
	}
	w := send(newServer(t, busy), "GET", "/", "")
	if w.Code != 503 {
		t.Errorf("status %d", w.Code)
	}
	problemOf(t, w.Code, w.Header(), w.Body.Bytes())
}

// TestYAML: places in an answer, or in an error, are those of the text that was sent.
func TestYAML(t *testing.T) {
	s := newServer(t, native)
	scenario := "exits:\n- container: main\n  exitCode: 42\ncluster: {version: \"1.36\"}\n"
	for _, contentType := range []string{"application/yaml", "application/x-yaml", "text/yaml; charset=utf-8"} {
		w := send(s, "POST", "/api/v1/decide", podYAML+"---\n"+scenario, "Content-Type: "+contentType)
		if w.Code != 200 || !strings.Contains(w.Body.String(), `"action":"Restart"`) || !strings.Contains(w.Body.String(), `"version":"1.36"`) {
			t.Errorf("%s: status %d, %s", contentType, w.Code, w.Body)
		}
	}
	bad := strings.Replace(podYAML, "In,", "Inn,", 1)
	w := send(s, "POST", "/api/v1/validate", bad, "Content-Type: application/yaml")
	if w.Code != 200 || !strings.Contains(w.Body.String(), `"line":12,"column":19`) {
		t.Errorf("status %d, %s", w.Code, w.Body)
	}
	for text, want := range map[string]struct {
		status int
		part   string
	}{
		podYAML + "---\nexits: [{container: main, exitCode: 1000000000000}]\n": {422, `"line":14`},
		"a: [":                {400, `"code":"BAD_YAML"`},
		"a: \xff":             {400, `"code":"BAD_UTF8"`},
		"":                    {422, `"code":"EVENT_INVALID"`},
		"a: &a [*a]":          {400, `"code":"self_reference"`},
		"a: 1\na: 2":          {400, `"line":2`},
		"kind: Ingress\na: 1": {422, `"code":"unknown_kind"`},
		strings.Repeat("[", 100) + strings.Repeat("]", 100): {422, `"code":"LIMIT_EXCEEDED"`},
	} {
		w := send(s, "POST", "/api/v1/decide", text, "Content-Type: application/yaml")
		if text == "" {
			w = send(s, "POST", "/api/v1/decide", "\n", "Content-Type: application/yaml")
		}
		problemOf(t, w.Code, w.Header(), w.Body.Bytes())
		if w.Code != want.status || !strings.Contains(w.Body.String(), want.part) {
			t.Errorf("%.40q: status %d, want %d with %s: %s", text, w.Code, want.status, want.part, w.Body)
		}
	}
}

// TestUnknownExampleIsNamed (R-S6): neither a browser nor a program takes another example for the
// one it asked for.
func TestUnknownExampleIsNamed(t *testing.T) {
	s := newServer(t, native)
	w := send(s, "GET", "/?example=%3Cb%3Enothing", "", "Accept: text/html,*/*;q=0.8")
	body := w.Body.String()
	if w.Code != 404 || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("status %d, %s", w.Code, w.Header().Get("Content-Type"))
	}
	for _, want := range []string{"&lt;b&gt;nothing", `href="/?example=` + web.Examples()[0].ID + `"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not say %s:\n%s", want, body)
		}
	}
	if strings.Contains(body, "<b>") {
		t.Error("what was asked for is markup")
	}
	w = send(s, "GET", "/?example=nothing", "")
	p := problemOf(t, w.Code, w.Header(), w.Body.Bytes())
	if w.Code != 404 || !strings.Contains(p.Detail, `"nothing"`) || !strings.Contains(p.Detail, web.Examples()[0].ID) {
		t.Errorf("status %d, %s", w.Code, p.Detail)
	}
	for _, target := range []string{"/", "/?example=", "/?example=" + web.Examples()[1].ID} {
		if w := send(s, "GET", target, "", "Accept: text/html"); w.Code != 200 {
			t.Errorf("%s: status %d", target, w.Code)
		}
	}
}

// TestRefusedFormsGetAPage (R-S6): a browser without scripts that sends too much reads why, even if
// it sends all of it before it reads.
func TestRefusedFormsGetAPage(t *testing.T) {
	s := run(t, config(native))
	for _, size := range []int{DefaultBodyBytes + 1, 2 << 20} {
		for _, chunked := range []bool{false, true} {
			conn, err := net.Dial("tcp", s.address)
			if err != nil {
				t.Fatal(err)
			}
			body := "manifest=" + strings.Repeat("x", size-len("manifest="))
			framing := fmt.Sprintf("Content-Length: %d\r\n\r\n%s", size, body)
			if chunked {
				framing = fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", size, body)
			}
			if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: "+s.address+"\r\nAccept: text/html\r\n"+
				"Content-Type: application/x-www-form-urlencoded\r\n"+framing); err != nil {
				t.Errorf("%d bytes, chunked %v: %v", size, chunked, err)
			}
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatalf("%d bytes, chunked %v: %v", size, chunked, err)
			}
			page, err := io.ReadAll(answer.Body)
			if err != nil || answer.StatusCode != 413 || answer.Header.Get("Content-Type") != "text/html; charset=utf-8" ||
				!strings.Contains(string(page), "larger than 262144 bytes") || !strings.Contains(string(page), "Back button") {
				t.Errorf("%d bytes, chunked %v: status %d, %v\n%s", size, chunked, answer.StatusCode, err, page)
			}
			for _, header := range fixedHeaders {
				if got := answer.Header.Get(header[0]); got != header[1] {
					t.Errorf("%s is %q, want %q", header[0], got, header[1])
				}
			}
			conn.Close()
		}
	}
	w := send(s.Server, "POST", "/", strings.Repeat("x", DefaultBodyBytes+1), asForm, "Host: 127.0.0.1")
	if p := problemOf(t, w.Code, w.Header(), w.Body.Bytes()); code(p.Type) != "BODY_TOO_LARGE" {
		t.Errorf("a program gets %s", p.Type)
	}
}

// TestBusyPage: a browser gets pages for whatever keeps the server from answering.
func TestBusyPage(t *testing.T) {
	w := send(newServer(t, broken(ErrEngineBusy)), "GET", "/", "", "Accept: text/html")
	if w.Code != 503 || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "The server is busy") {
		t.Errorf("status %d, %s", w.Code, w.Body)
	}
	if w.Header().Get("Refresh") != "" {
		t.Error("a busy server is asked again by itself")
	}
	w = httptest.NewRecorder()
	writeProblemPage(w, httptest.NewRequest("GET", "/", nil), "1", errStarting)
	if w.Code != 503 || w.Header().Get("Refresh") == "" || !strings.Contains(w.Body.String(), "The server is starting") {
		t.Errorf("status %d, Refresh %q, %s", w.Code, w.Header().Get("Refresh"), w.Body)
	}
}

// TestReadings: where sources disagree the page says what each of them says and who they are, and
// what it leads to shows that reading.
func TestReadings(t *testing.T) {
	s := newServer(t, native, withModule)
	text := func(address string) string {
		return html.UnescapeString(send(s, "GET", address, "").Body.String())
	}
	shows := map[string]string{ // what can be seen of a reading, by its question
		"a3&exits=main:+1@5s+x2+timing+documented": "waits 10s", "a3": "immediately",
		"a4&exits=main:+1@301s+forever+until+2h": "restarted 18 times in 2h", "a12": "proxy exits 1 → Restart",
		"b19": `"crashloopbackoff" is not a field of KubeletConfiguration`, "b17": "CrashLoopBackOff", "b21": "restarted 7 times in 20m",
		"b22&exits=main:+1@10s+forever+until+5m+timing+documented": "restarted 4 times in 5m", "b22&exits=main:+1@10s+forever+until+5m": "restarted 5 times in 5m",
		"c31&k8s=1.34&gate.ContainerRestartRules=true": "Kubernetes 1.34 refuses this manifest", "c31": "proxy exits 88 → RestartAllContainers",
		"c32&proposal=kep-5307-future": "main exits 42 → Restart", "c32": "exitCodes: Required value", "d39": "120 restarts",
		"d40": "watcher exits 88 → RestartAllContainers", "e41": "0 Pods succeeded, 2 failed", "e42": "0 Pods succeeded, 1 failed",
	}
	n := 0
	for _, e := range web.Examples() {
		if (e.Disagree == "") != (len(e.Readings) == 0) || len(e.Readings) == 1 {
			t.Errorf("%s: %d readings of %q", e.ID, len(e.Readings), e.Disagree)
		}
		if e.Disagree == "" {
			continue
		}
		page := text("/?example=" + e.ID)
		_, list, _ := strings.Cut(page, `<ul id="readings" class="note">`)
		list, _, _ = strings.Cut(list, "</ul>")
		for _, r := range e.Readings {
			n++
			if !strings.HasPrefix(r.Source.URL, "https://") || !strings.Contains(list, r.Says+` <a class="source" href="`+r.Source.URL+`"`) {
				t.Errorf("%s does not say %q of %s: %s", e.ID, r.Says, r.Source.URL, list)
			}
			if r.Ask == "" {
				continue
			}
			answer := text("/?example=" + r.Ask)
			if _, answer, _ = strings.Cut(answer, `<div id="reply">`); shows[r.Ask] == "" || !strings.Contains(answer, shows[r.Ask]) {
				t.Errorf("%s: ?example=%s does not show %q: %s", e.ID, r.Ask, shows[r.Ask], answer)
			}
		}
	}
	if n < 20 {
		t.Errorf("there are %d readings", n)
	}
}

var updateGallery = flag.Bool("update", false, "write the answers of the gallery to web/examples/index.json")

// recorded is an answer as a member of the index.
func recorded(answer string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(answer)
	return append([]byte(`"answer": `), bytes.TrimSpace(b.Bytes())...)
}

// TestGallery: every example has its answer, its source and its address; the server searches; and
// every code of answers is listed.
func TestGallery(t *testing.T) {
	s := newServer(t, native, withModule)
	page := html.UnescapeString(send(s, "GET", "/examples", "").Body.String())
	const file = "../../web/examples/index.json"
	index, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var stale []string
	for _, e := range web.Examples() {
		_, entry, found := strings.Cut(page, `<li id="`+e.ID+`">`)
		entry, _, _ = strings.Cut(entry, "</li>")
		answer := html.UnescapeString(send(s, "GET", "/?example="+e.ID, "").Body.String())
		_, sentence, _ := strings.Cut(answer, `<p class="sentence">`)
		_, verdict, _ := strings.Cut(sentence, "</span> ")
		verdict, _, _ = strings.Cut(verdict, "</p>")
		if !found || verdict == "" || !strings.Contains(entry, verdict) || !strings.Contains(entry, "?example="+e.ID) {
			t.Errorf("%s: want %q in %s", e.ID, verdict, entry)
		}
		_, shown, _ := strings.Cut(entry, `<b>`)
		shown, _, _ = strings.Cut(shown, "</p>")
		if _, words, _ := strings.Cut(strings.Replace(shown, "</b> ", ": ", 1), " "); e.Answer != "" && strings.TrimSuffix(words, ": ") != e.Answer {
			stale = append(stale, fmt.Sprintf("%s: the answer is %q, recorded is %q", e.ID, words, e.Answer))
			index = bytes.Replace(index, recorded(e.Answer), recorded(strings.TrimSuffix(words, ": ")), 1)
		}
		if e.Group != "" && (!strings.Contains(entry, `<a class="source" href="https://`) || !strings.Contains(entry, e.Disagree) || !strings.Contains(page, "<h2>"+e.Group+"</h2>")) {
			t.Errorf("%s: no source, no disagreement or no group in %s", e.ID, entry)
		}
	}
	if len(stale) > 0 && *updateGallery {
		if err := os.WriteFile(file, index, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if len(stale) > 0 {
		t.Errorf("%d answers are not those recorded. If the words have changed since: go test ./playground/server -run TestGallery -update. The first is %s", len(stale), stale[0])
	}
	// The 51 questions of the founding documents, and four claims that are wrong.
	for group, n := range map[string]int{"A": 15, "B": 7, "C": 12, "D": 6, "E": 11, "F": 4} {
		for _, e := range web.Examples() {
			if strings.HasPrefix(e.Group, group+".") {
				n--
			}
		}
		if n != 0 {
			t.Errorf("of group %s %d questions are missing", group, n)
		}
	}
	if page = send(s, "GET", "/examples?q=sidecar+88+fresh", "").Body.String(); strings.Count(page, "<li id=") != 1 || !strings.Contains(page, `id="restart-all-containers"`) {
		t.Errorf("the search finds %s", page)
	}
	// Published figures that are wrong are there with what they lead to, and no others.
	page = html.UnescapeString(send(s, "GET", "/examples", "").Body.String())
	claims, wrong := views.ReadClaims(docs.Claims), 0
	for _, c := range claims {
		row := `<tr id="` + c.ID + `"><th scope="row">` + c.ID + ": " + c.Text + "</th><td>" + c.Published + "</td><td>" + c.Computed + "</td><td>" + c.Verdict + "</td></tr>"
		if c.Wrong() != strings.Contains(page, row) || strings.Contains(row, "<!--") || strings.Contains(row, "**") {
			t.Errorf("%s: wrong %t, and the gallery does not say so", row, c.Wrong())
		}
		if c.Wrong() {
			wrong++
		}
	}
	if len(claims) != 36 || wrong < 15 {
		t.Errorf("%d claims, %d wrong", len(claims), wrong)
	}
	if page = send(s, "GET", "/examples?q=C-22+steady", "").Body.String(); strings.Contains(page, "<table") {
		t.Errorf("the search finds %s", page)
	}
	if page = send(s, "GET", "/examples?q=C-22", "").Body.String(); strings.Count(page, `<tr id="C-`) != 2 { // C-23 is wrong, too, as C-22
		t.Errorf("the search finds %s", page)
	}
	for _, address := range []string{"/", "/examples", "/codes"} {
		seen := map[string]bool{}
		for _, id := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(send(s, "GET", address, "").Body.String(), -1) {
			if seen[id[1]] {
				t.Errorf("%s has two elements with the id %s", address, id[1])
			}
			seen[id[1]] = true
		}
	}
	for _, line := range strings.Split(docs.Codes, "\n") {
		if code, ok := strings.CutPrefix(line, "| `"); ok {
			code, _, _ = strings.Cut(code, "`")
			if page := send(s, "GET", "/codes", "").Body.String(); !strings.Contains(page, `<tr id="`+code+`">`) {
				t.Fatalf("no %s in %s", code, page)
			}
		}
	}
}
