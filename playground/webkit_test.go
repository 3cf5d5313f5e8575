package playground_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/podfate/podfate/policy/policytest"
)

// kit is WebKitGTK that is driven over WebDriver: requests with JSON.
type kit struct {
	session string // address
	client  http.Client
}

// openKit starts WebKit's driver and its small browser on a screen that nobody sees.
func openKit(t *testing.T, address string) *kit {
	t.Helper()
	const why = "the page is not used in this browser"
	program := policytest.Executable(t, "WebKit's driver (Debian's webkit2gtk-driver)", why, "WebKitWebDriver")
	screen := policytest.Executable(t, "Xvfb (Debian's xvfb)", why, "xvfb-run")
	browsers, _ := filepath.Glob("/usr/lib/*/webkit2gtk-4*/MiniBrowser")
	if len(browsers) == 0 {
		policytest.Missing(t, "WebKit's MiniBrowser", why)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := fmt.Sprint(free.Addr().(*net.TCPAddr).Port)
	free.Close()
	command := policytest.CommandContext(t.Context(), screen, "-a", "-s", "-screen 0 1280x1000x24", program, "--port="+port, "--host=127.0.0.1")
	home := t.TempDir()
	command.Env = append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_DATA_HOME="+home, "GDK_BACKEND=x11", "WEBKIT_DISABLE_COMPOSITING_MODE=1")
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	k := &kit{client: http.Client{Timeout: patience}}
	t.Cleanup(func() {
		if k.session != "" {
			k.ask("DELETE", "", nil)
		}
		command.Cancel()
		command.Wait()
	})
	base := "http://127.0.0.1:" + port + "/session"
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatal("WebKit's driver does not listen")
		}
		if c, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			c.Close()
			break
		}
	}
	k.session = base
	options := map[string]any{"binary": browsers[0], "args": []string{"--automation"}}
	var made struct{ SessionID string }
	k.must(t, "POST", "", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{"webkitgtk:browserOptions": options}}}, &made)
	k.session = base + "/" + made.SessionID
	k.open(t, address)
	return k
}

// ask sends a command and returns the value of its answer.
func (k *kit) ask(method, command string, params any) (json.RawMessage, error) {
	body, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest(method, k.session+command, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	answer, err := k.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var told struct{ Value json.RawMessage }
	if err := json.NewDecoder(answer.Body).Decode(&told); err != nil {
		return nil, err
	}
	if answer.StatusCode != 200 {
		return nil, fmt.Errorf("%s %s: %s", method, command, told.Value)
	}
	return told.Value, nil
}

func (k *kit) must(t *testing.T, method, command string, params, result any) {
	t.Helper()
	value, err := k.ask(method, command, params)
	if err == nil && result != nil {
		err = json.Unmarshal(value, result)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (k *kit) open(t *testing.T, address string) {
	t.Helper()
	k.must(t, "POST", "/url", map[string]any{"url": address}, nil)
}

func (k *kit) eval(t *testing.T, script string) string {
	t.Helper()
	var text any
	k.must(t, "POST", "/execute/sync", map[string]any{"script": "return " + script, "args": []any{}}, &text)
	return fmt.Sprint(text)
}

func (k *kit) until(t *testing.T, what, condition string) {
	t.Helper()
	waitFor(t, k, what, condition)
}

func (k *kit) keys(t *testing.T, keys ...string) {
	t.Helper()
	k.must(t, "POST", "/actions", map[string]any{"actions": typed(keys)}, nil)
}

// focused returns the role and the name of what has the focus, as assistive technology gets them.
func (k *kit) focused(t *testing.T) (role, name string) {
	t.Helper()
	var element map[string]string
	k.must(t, "GET", "/element/active", nil, &element)
	for _, id := range element {
		k.must(t, "GET", "/element/"+id+"/computedrole", nil, &role)
		k.must(t, "GET", "/element/"+id+"/computedlabel", nil, &name)
	}
	return role, strings.TrimSpace(name)
}

// TestWebKit uses the page and an embed in WebKit. The driver is not everywhere: it is part of the
// long script, which says so where it is missing.
func TestWebKit(t *testing.T) {
	if !policytest.Long() {
		t.Skip("left out without PODFATE_LONG: WebKit")
	}
	origin := serve(t)
	k := openKit(t, origin+"/")
	t.Run("page", func(t *testing.T) { use(t, k, origin) })
	t.Run("walk", func(t *testing.T) { walkPanels(t, k, origin, views) })
	t.Run("embed", func(t *testing.T) {
		d := serveDocs(t, strict, embedPage(2))
		k.open(t, d.origin+"/")
		k.until(t, "two embeds", `document.querySelectorAll('pod-fate:defined').length === 2`)
		if d.asked["/podfate/policy.wasm"] != 0 {
			t.Error("untouched embeds load the module")
		}
		k.eval(t, `[...document.querySelectorAll('pod-fate')].map((e) => e.shadowRoot.querySelector('button').click()).length`)
		k.until(t, "two answers", `[...document.querySelectorAll('pod-fate')].every((e, i) => e.shadowRoot.querySelector('.answer .sentence')?.textContent.includes('main exits '+i+' → Stop'))`)
		if n := d.asked["/podfate/policy.wasm"]; n != 1 {
			t.Errorf("the module was asked for %d times", n)
		}
	})
	t.Logf("Firefox and WebKit %s: page, %d tabs by key, embed", k.eval(t, `navigator.userAgent.match(/AppleWebKit.([\d.]+)/)[1]`), len(views))
}
