package playground_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/podfate/podfate/policy/policytest"
)

// fox is a Firefox that is driven over Marionette: each message is its length, a colon and JSON.
type fox struct {
	conn   net.Conn
	in     *bufio.Reader
	number int
}

// openFox starts Firefox with an empty profile and opens a page.
func openFox(t *testing.T, address string) *fox {
	t.Helper()
	policytest.Quick(t, "the page in Firefox")
	firefox := policytest.Executable(t, "Firefox (Debian's firefox-esr)", "the page is not used in this browser", "firefox-esr", "firefox")
	profile := t.TempDir()
	// Firefox says in a file of its profile at which port it listens.
	prefs := `user_pref("marionette.port", 0);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
`
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(prefs), 0o600); err != nil {
		t.Fatal(err)
	}
	command := policytest.CommandContext(t.Context(), firefox, "--headless", "--no-remote", "--marionette", "-remote-allow-system-access", "--profile", profile, "about:blank")
	home := t.TempDir()
	command.Env = append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+home, "XDG_CONFIG_HOME="+home)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	f := &fox{}
	t.Cleanup(func() {
		if f.conn != nil {
			f.conn.Close()
		}
		command.Cancel()
		command.Wait()
	})
	for began := time.Now(); f.conn == nil; time.Sleep(50 * time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatal("Firefox does not listen")
		}
		port, err := os.ReadFile(filepath.Join(profile, "MarionetteActivePort"))
		if err == nil && len(port) > 0 {
			f.conn, _ = net.Dial("tcp", "127.0.0.1:"+strings.TrimSpace(string(port)))
		}
	}
	f.conn.SetDeadline(time.Now().Add(patience))
	f.in = bufio.NewReader(f.conn)
	f.read(t) // its greeting
	f.call(t, "WebDriver:NewSession", map[string]any{"strictFileInteractability": false})
	f.open(t, address)
	return f
}

func (f *fox) read(t *testing.T) []byte {
	t.Helper()
	length, err := f.in.ReadString(':')
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSuffix(length, ":"))
	if err != nil {
		t.Fatal(err)
	}
	message := make([]byte, n)
	if _, err := io.ReadFull(f.in, message); err != nil {
		t.Fatal(err)
	}
	return message
}

// call sends a command and returns what came of it.
func (f *fox) call(t *testing.T, name string, params map[string]any) json.RawMessage {
	t.Helper()
	f.number++
	f.conn.SetDeadline(time.Now().Add(2 * patience)) // who waits for something gives up before
	message, err := json.Marshal([]any{0, f.number, name, params})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(f.conn, "%d:%s", len(message), message)
	var answer [4]json.RawMessage // type, number, error, result
	if err := json.Unmarshal(f.read(t), &answer); err != nil {
		t.Fatal(err)
	}
	if string(answer[2]) != "null" {
		t.Fatalf("%s: %s", name, answer[2])
	}
	return answer[3]
}

// eval returns what a script of the page says; a promise is waited for.
func (f *fox) eval(t *testing.T, script string) string {
	t.Helper()
	result := f.call(t, "WebDriver:ExecuteScript", map[string]any{"script": "return " + script, "args": []any{}, "scriptTimeout": patience.Milliseconds(), "newSandbox": false})
	var text struct{ Value any }
	if err := json.Unmarshal(result, &text); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(text.Value)
}

func (f *fox) until(t *testing.T, what, condition string) {
	t.Helper()
	waitFor(t, f, what, condition)
}

func (f *fox) open(t *testing.T, address string) {
	t.Helper()
	f.call(t, "WebDriver:Navigate", map[string]any{"url": address})
}

// focused returns the role and the name of what has the focus, as assistive technology gets them.
func (f *fox) focused(t *testing.T) (role, name string) {
	t.Helper()
	var element struct{ Value map[string]string }
	if err := json.Unmarshal(f.call(t, "WebDriver:GetActiveElement", map[string]any{}), &element); err != nil {
		t.Fatal(err)
	}
	for _, id := range element.Value {
		for command, text := range map[string]*string{"WebDriver:GetComputedRole": &role, "WebDriver:GetComputedLabel": &name} {
			var answer struct{ Value string }
			if err := json.Unmarshal(f.call(t, command, map[string]any{"id": id}), &answer); err != nil {
				t.Fatal(err)
			}
			*text = answer.Value
		}
	}
	return role, strings.TrimSpace(name)
}

// window sets the size of the page.
func (f *fox) window(t *testing.T, width, height int) {
	t.Helper()
	for range 2 { // the window has a frame: how wide it is shows after the first try
		inner := f.eval(t, `innerWidth + ' ' + innerHeight + ' ' + outerWidth + ' ' + outerHeight`)
		var iw, ih, ow, oh int
		fmt.Sscan(inner, &iw, &ih, &ow, &oh)
		f.call(t, "WebDriver:SetWindowRect", map[string]any{"width": width + ow - iw, "height": height + oh - ih})
	}
}

// pref sets a preference of the browser.
func (f *fox) pref(t *testing.T, name string, value int) {
	t.Helper()
	f.call(t, "Marionette:SetContext", map[string]any{"value": "chrome"})
	f.call(t, "WebDriver:ExecuteScript", map[string]any{"script": "Services.prefs.setIntPref(arguments[0], arguments[1])", "args": []any{name, value}})
	f.call(t, "Marionette:SetContext", map[string]any{"value": "content"})
}

func (f *fox) keys(t *testing.T, keys ...string) {
	t.Helper()
	f.call(t, "WebDriver:PerformActions", map[string]any{"actions": typed(keys)})
}
