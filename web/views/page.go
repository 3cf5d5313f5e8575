package views

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/a-h/templ"
)

// anchor is the address of a line's number in the editor; without JavaScript the browser jumps there and marks it.
func anchor(p Place) templ.SafeURL { return templ.SafeURL("#L" + number(p.Line)) }

// version is the version that the page shows as chosen.
func version(p Page) string {
	if p.Form.Version == "" {
		return p.Module.DefaultVersion
	}
	return p.Form.Version
}

func exampleQuestion(p Page) string {
	for _, e := range p.Examples {
		if e.ID == p.Form.Example {
			return e.Question
		}
	}
	return ""
}

func validations() []string { return []string{"Strict", "Warn", "Ignore"} }

// gateDefault is what version says about g when nobody sets it.
func gateDefault(g Gate, version string) string {
	for _, r := range g.Releases {
		if r.Version == version {
			state := "off"
			if r.Default {
				state = "on"
			}
			if r.Locked {
				return "default: " + state + " (" + r.Stage + ", locked)"
			}
			return "default: " + state + " (" + r.Stage + ")"
		}
	}
	return "not in " + version
}

// manifestEditor writes the text area. HTML drops one line end at its beginning, so one is written first.
func manifestEditor(text string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, `<textarea id="manifest" name="manifest" rows="`+number(max(lines(text)+1, 12))+
			`" wrap="off" spellcheck="false" autocapitalize="off" autocomplete="off" autocorrect="off">`+"\n"+
			templ.EscapeString(text)+`</textarea>`)
		return err
	})
}

// CommandLine is the shell command that asks the same of the manifest in pod.yaml. Flags do not say all that runs and
// events can: the command of simulate is given the request as it is, nothing if there is none.
func CommandLine(f Form, operation, request string) string {
	if operation == "simulate" {
		if request == "" {
			return ""
		}
		return "printf %s " + shellQuote(escapeHidden(request)) + " | podfate simulate -f -"
	}
	words := []string{"podfate", operation, "-f", "pod.yaml"}
	if strings.TrimSpace(f.Pods) != "" {
		words = []string{"podfate", operation, "-f", "job.yaml", "--pods", "pods.yaml"}
	}
	if f.Version != "" {
		words = append(words, "--kubernetes-version", f.Version)
	}
	if gates := gateList(f.Gates); gates != "" {
		words = append(words, "--feature-gates", gates)
	}
	if f.Validation != "" && f.Validation != "Strict" {
		words = append(words, "--validate="+strings.ToLower(f.Validation))
	}
	for _, exit := range exitWords(f.Exits) {
		words = append(words, "--exit", exit)
	}
	for i, w := range words {
		words[i] = shellQuote(Visible(w)) // a pasted command shows what it is
	}
	return strings.Join(words, " ")
}

// Curl is the shell command that sends the page's request to this server.
func Curl(p Page) string {
	if p.Origin == "" || p.Answer == nil || p.Answer.Request == "" {
		return ""
	}
	return "curl -sS " + shellQuote(p.Origin+"/api/v1/"+p.Answer.Operation) +
		" -H 'Content-Type: application/json' --data-binary " + shellQuote(escapeHidden(p.Answer.Request))
}

// escapeHidden writes everything in a JSON text that hides as JSON's own escapes, so that it stays the same request.
func escapeHidden(json string) string {
	var b strings.Builder
	for _, r := range json {
		if !hides(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// gateList is the gates of a form as --feature-gates takes them, by name.
func gateList(gates map[string]string) string {
	var list []string
	for name, value := range gates {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return strings.Join(list, ",")
}

// shellQuote returns s as one word of a POSIX shell.
func shellQuote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-=:.,/@%+") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// operation is that of the page's answer, or the one that answers its form.
func operation(p Page) string {
	if p.Answer == nil {
		return p.Form.Operation()
	}
	return p.Answer.Operation
}

// request is the JSON that the page's answer is about, "" if there is none.
func request(p Page) string {
	if p.Answer == nil {
		return ""
	}
	return p.Answer.Request
}
