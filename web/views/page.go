package views

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/a-h/templ"

	"github.com/podfate/podfate/policy/words"
	"github.com/podfate/podfate/schema/document"
)

// anchor is the address of a line's number in the editor; without JavaScript the browser jumps
// there and marks it.
func anchor(p document.Place) templ.SafeURL { return templ.SafeURL("#L" + number(p.Line)) }

// Control returns the id of the form's control that path of the request speaks of, "" for a path of
// the manifest.
func Control(path string) string {
	switch {
	case path == "exits" || strings.HasPrefix(path, "exits["), path == "runs", strings.HasPrefix(path, "runs."), strings.HasPrefix(path, "runs["), path == "until", strings.HasPrefix(path, "events["), strings.HasPrefix(path, "timing"), path == "question":
		return "exits"
	case path == "pods" || strings.HasPrefix(path, "pods["):
		return "pods"
	case path == "cluster.version":
		return "version"
	case path == "cluster.featureGates" || strings.HasPrefix(path, "cluster.featureGates"):
		return "gates"
	case path == "fieldValidation":
		return "validation"
	case path == "old" || strings.HasPrefix(path, "old."):
		return "old"
	case path == "other":
		return "other"
	case path == "templatePath":
		return "template"
	case strings.HasPrefix(path, "cluster.proposals"):
		return "gates"
	}
	return ""
}

// maxLines bounds the numbered lines of the editor; a longer text is edited without numbers from
// there on.
const maxLines = 5000

// perGroup is how many numbers of lines are in one element: groups out of view are not laid out.
// The page's script has the same.
const perGroup = 100

// lines is the number of lines of the editor.
func lines(manifest string) int { return min(strings.Count(manifest, "\n")+1, maxLines) }

// marksOf marks the lines that the page's answer speaks of.
func marksOf(p Page) map[int]string {
	if p.Answer == nil {
		return nil
	}
	return marks(p.Answer.Document)
}

// version is the version that the page shows as chosen.
func version(p Page) string {
	if p.Form.Version == "" {
		return p.Module.DefaultVersion
	}
	return p.Form.Version
}

// versions are those of the menu. A form that asks for another one keeps it, so that the page does
// not show one version next to the answer of another.
func versions(p Page) []string {
	if v := version(p); v != "" && !slices.Contains(p.Module.Versions, v) {
		return append(slices.Clone(p.Module.Versions), v)
	}
	return p.Module.Versions
}

// chosenGates says how many gates of a form are not left to their release, and how many proposals
// it has.
func chosenGates(f Form) string {
	set := len(f.Gates) + len(f.Proposals)
	if set == 0 {
		return ""
	}
	return " (" + number(set) + ")"
}

// came says where the answer in the HTML was worked out.
func came(copy bool) string {
	if copy {
		return say("copy.where")
	}
	return say("server.where")
}

// tab is one of the views under the verdict.
type tab struct{ id, name string }

func tabs() []tab {
	return []tab{
		{"answer", "Answer"}, {"trace", "Trace"}, {"codes", "Exit codes"}, {"backoff", "Back-off"}, {"kubectl", "kubectl"},
		{"compare", "Compare"}, {"versions", "Versions"}, {"table", "Table"},
	}
}

func pressed(yes bool) string {
	if yes {
		return "true"
	}
	return "false"
}

// chosenTab is the id of the view that a form shows.
func chosenTab(f Form) string {
	for _, t := range tabs() {
		if t.id == f.View {
			return t.id
		}
	}
	return "answer"
}

// pageAddress is where another page of the playground is: a file in a copy.
func pageAddress(p Page, name string) string {
	if p.Copy {
		return name + ".html"
	}
	return "/" + name
}

// other is what the second editor of the view compare has: the manifest itself until it is changed.
func other(f Form) string {
	if f.Other == "" && f.View == "compare" {
		return f.Manifest
	}
	return f.Other
}

// ofView are the kinds of blocks that a view of the answer shows; all for a view that is not here.
var ofView = map[string]string{"trace": "steps", "kubectl": "terminal", "table": "table"}

// Choose leaves in the document what a view of the answer shows. The answer itself has one row of
// kubectl, and its view has them over time. The browser's choose does the same.
func (o *Outcome) Choose(view string) {
	kind, chosen := ofView[view]
	terminals := 0
	o.Blocks = slices.DeleteFunc(o.Blocks, func(b document.Block) bool {
		if b.Kind == "terminal" {
			terminals++
		}
		return chosen && b.Kind != kind || view == "" && b.Kind == "terminal" && terminals > 1
	})
	if chosen && len(o.Blocks) == 0 {
		o.Blocks = []document.Block{{Kind: "list", Items: []document.Edit{{Item: document.Item{Mark: "note", Text: say("view.none")}}}}}
	}
}

// Strip is what becomes of a question in each version, versions with the same outcomes together.
// answers has the outcomes of each version, one for each name.
func Strip(versions, names []string, answers [][]document.Verdict) document.Block {
	b := document.Block{Kind: "table", Title: say("strip"), Columns: []document.Column{{Text: "Kubernetes"}}}
	for _, name := range names {
		b.Columns = append(b.Columns, document.Column{Text: name})
	}
	last := ""
	for i, v := range versions {
		cells, row := []string{v}, document.Row{Tone: answers[i][0].Tone}
		for _, a := range answers[i] {
			cells = append(cells, document.Glyph(a.Mark)+" "+a.Title)
		}
		same := strings.ReplaceAll(strings.Join(cells[1:], "\n"), v, "")
		if n := len(b.Rows); n > 0 && same == last {
			first, _, _ := strings.Cut(b.Rows[n-1].Cells[0], "–")
			b.Rows[n-1].Cells[0] = first + "–" + v
			continue
		}
		last, row.Cells = same, cells
		b.Rows = append(b.Rows, row)
	}
	return b
}

// AddLints adds the warnings of validate and its fixes to the answer of another operation. Fixes of
// faults belong to an answer that has these faults. The browser's addLints does the same.
func (o *Outcome) AddLints(validated *document.Document) {
	known := map[string]bool{}
	fixes := o.Verdict.Mark != "refused" && validated.Verdict.Mark == "refused"
	for _, b := range o.Blocks {
		fixes = fixes || b.Kind == "fixes"
		for _, i := range b.Items {
			known[i.Text] = true
		}
	}
	for _, b := range validated.Blocks {
		if b.Kind == "fixes" && fixes || b.Kind != "fixes" && b.Kind != "list" {
			continue
		}
		b.Items = slices.DeleteFunc(b.Items, func(i document.Edit) bool {
			return known[i.Text] || b.Kind == "list" && i.Mark != "warning"
		})
		if len(b.Items) > 0 {
			o.Blocks = append(o.Blocks, b)
		}
	}
}

// fixed says what became of a fix.
func fixed(p Page) string {
	if p.Fixed == "" {
		return ""
	}
	return say(p.Fixed)
}

// chosen reports whether a proposal is.
func chosen(f Form, proposal string) bool {
	_, chosen := f.ChosenOptions(proposal)
	return chosen
}

func chosenOption(f Form, proposal, option string) string {
	options, _ := f.ChosenOptions(proposal)
	return options[option]
}

// optionValue is what a control says of an option: nothing of its default.
func optionValue(value, byDefault string) string {
	if value == byDefault {
		return ""
	}
	return value
}

func ofDefault(value, byDefault string) string {
	if value == byDefault {
		return " (default)"
	}
	return ""
}

func exampleQuestion(p Page) string { return exampleOf(p).Question }

// exampleDisagree says on what the sources of the page's example disagree, if they do.
func exampleDisagree(p Page) string {
	if what := exampleOf(p).Disagree; what != "" {
		return say("disagree", "what", what)
	}
	return ""
}

func exampleOf(p Page) Example {
	for _, e := range p.Examples {
		if e.ID == p.Form.Example {
			return e
		}
	}
	return Example{}
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

// manifestEditor writes the text area. HTML drops one line end at its beginning, so one is written
// first.
func manifestEditor(text string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, `<textarea id="manifest" name="manifest" rows="`+number(max(lines(text)+1, 12))+
			`" wrap="off" spellcheck="false" autocapitalize="off" autocomplete="off" autocorrect="off">`+"\n"+
			templ.EscapeString(text)+`</textarea>`)
		return err
	})
}

// CommandLine is the shell command that asks the same of the manifest in pod.yaml. Of what flags do
// not say, the request is given to the command as it is, nothing if there is none.
func CommandLine(f Form, operation, request string) string {
	line := f.beginning(operation, request)
	if line == nil {
		if request == "" {
			return ""
		}
		return "printf %s " + shellQuote(escapeHidden(request)) + " | podfate " + operation + " -f -"
	}
	if f.Version != "" && f.View != "versions" {
		line = append(line, "--kubernetes-version", f.Version)
	}
	if gates := gateList(f.Gates); gates != "" {
		line = append(line, "--feature-gates", gates)
	}
	if f.Validation != "" && f.Validation != "Strict" && operation != "curve" {
		line = append(line, "--validate="+strings.ToLower(f.Validation))
	}
	for _, proposal := range f.Proposals {
		line = append(line, "--proposal", proposal)
	}
	if f.Template != "" && operation != "curve" {
		line = append(line, "--template", f.Template)
	}
	switch {
	case operation == "table", operation == "curve": // they ask about all exits, and about none
	case operation != "validate":
		if f.Question() != nil {
			line = append(line, "--question", strings.TrimSpace(f.Exits))
		}
	default:
		if strings.TrimSpace(f.Old) != "" {
			line = append(line, "--old", "old.yaml")
		}
		if f.Static {
			line = append(line, "--static")
		}
	}
	for i, w := range line {
		line[i] = shellQuote(words.Visible(w)) // a pasted command shows what it is
	}
	return strings.Join(line, " ")
}

// beginning is the command with what it reads, and of the views what they ask; nil if flags do not
// say that. compare asks in each version, or about the manifest and the one of the second editor.
func (f Form) beginning(operation, request string) []string {
	line := []string{"podfate", operation}
	switch operation {
	case "suggest":
		return nil
	case "curve":
		if f.Offer != "" || f.View != "backoff" {
			return nil
		}
		line = append(line, "--run", cmp.Or(strings.TrimSpace(f.Run), "10s"))
		if outage := strings.TrimSpace(f.Outage); outage != "" {
			line = append(line, "--outage", outage)
		}
		if longest := strings.TrimSpace(f.Cap); longest != "" {
			line = append(line, "--max", longest)
		}
		return line
	case "compare":
		var asked struct {
			Of       string
			Variants []struct{ Name string }
		}
		if f.Offer != "" || f.Static || strings.TrimSpace(f.Pods+f.Old) != "" || json.Unmarshal([]byte(request), &asked) != nil || len(asked.Variants) < 2 {
			return nil
		}
		var names []string
		for _, v := range asked.Variants {
			names = append(names, v.Name)
		}
		switch f.View {
		case "versions":
			line = append(line, "-f", "pod.yaml", "--from", names[0], "--to", strings.Join(names[1:], ","))
		case "compare":
			line = append(line, "pod.yaml", "other.yaml")
		default:
			return nil
		}
		return append(line, "--of", asked.Of)
	}
	if strings.TrimSpace(f.Pods) != "" {
		return append(line, "-f", "job.yaml", "--pods", "pods.yaml")
	}
	return append(line, "-f", "pod.yaml")
}

// Curl is the shell command that sends the page's request to this server.
func Curl(p Page) string {
	if p.Origin == "" || p.Answer == nil || p.Answer.Request == "" {
		return ""
	}
	return "curl -sS " + shellQuote(p.Origin+"/api/v1/"+p.Answer.Operation) +
		" -H 'Content-Type: application/json' --data-binary " + shellQuote(escapeHidden(p.Answer.Request))
}

// escapeHidden writes everything in a JSON text that hides as JSON's own escapes, so that it stays
// the same request.
func escapeHidden(json string) string {
	var b strings.Builder
	for _, r := range json {
		if !words.Hides(r) {
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
