package cli

import (
	"context"
	"errors"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/podfate/podfate/playground/server"
	"github.com/podfate/podfate/policy/words"
	"github.com/podfate/podfate/schema/document"
	"github.com/podfate/podfate/web/views"
	"github.com/spf13/cobra"
)

// Parts of a page, HTML or Markdown. A page is not parsed: what lies around an embed is the
// business of its generator.
var (
	embedElement  = regexp.MustCompile(`(?s)<pod-fate\b((?:[^>"]|"[^"]*")*)>(.*?)</pod-fate>`)
	attribute     = regexp.MustCompile(`([a-z0-9-]+)(?:\s*=\s*"([^"]*)")?`)
	preElement    = regexp.MustCompile(`(?s)<pre\b[^>]*>\n?(.*?)</pre>`)
	fence         = regexp.MustCompile("(?s)(?:^|\n)```[^\n]*\n(.*?)\n```[ \t]*(?:\n|$)")
	tag           = regexp.MustCompile(`<[^>]*>`)
	answerTable   = regexp.MustCompile(`(?s)<table data-podfate>.*?</table>\n?`)
	notAnEmbed    = regexp.MustCompile("(?s)(?:^|\n)```[^\n]*\n[^`]*<pod-fate.*?\n```") // shown as text, in a fence of its own
	maxTableRows  = 40
	embedVerbHelp = `Writes the table with the answer into each <pod-fate> of a page, HTML or Markdown. Readers without JavaScript, feeds
and printers see this table. An existing table is replaced; nothing else is touched.

The manifest is in the <pre> or the fenced block inside the element, or in the file that the attribute src names,
relative to the page. The attributes exits, k8s, proposal and view are the question; without exits the table says what
each exit code leads to. With the attribute expect, the verdict must contain its text.

--check writes nothing and exits with status 1 if a table is missing or stale, or an expectation is not met; use it in
the CI of a site.`
)

// newEmbed is the command that writes the tables of embeds.
func newEmbed(streams Streams) *cobra.Command {
	var check bool
	command := &cobra.Command{
		Use:   "embed FILE...",
		Short: "Write the answers of <pod-fate> examples into pages of documentation",
		Long:  embedVerbHelp,
		Example: `  podfate embed docs/restarts.md
  podfate embed --check docs/*.md public/*.html`,
		Args: someFiles,
		RunE: func(command *cobra.Command, files []string) error {
			offline, err := newOffline(command.Context())
			if err != nil {
				return failf("%w", err)
			}
			var faults []error
			for _, file := range files {
				text, err := os.ReadFile(file)
				if err != nil {
					return fileError(err)
				}
				page := embedder{ctx: command.Context(), offline: offline, file: file}
				written := page.rewrite(string(text))
				switch {
				case len(page.faults) > 0:
					faults = append(faults, page.faults...)
				case page.found == 0:
					faults = append(faults, fmt.Errorf("%s: there is no <pod-fate> in it", file))
				case written == string(text):
				case check:
					faults = append(faults, fmt.Errorf("%s: a table is missing or stale: run podfate embed %s", file, file))
				default:
					if err := os.WriteFile(file, []byte(written), 0o644); err != nil {
						return failf("%w", err)
					}
				}
				fmt.Fprintf(streams.Out, "%s: %d\n", file, page.found)
			}
			if len(faults) > 0 {
				return statusError{StatusFaults, errors.Join(faults...)}
			}
			return nil
		},
	}
	command.Flags().BoolVar(&check, "check", false, "write nothing; fail if a table is missing or stale")
	return command
}

// embedder works on one page.
type embedder struct {
	ctx     context.Context
	offline *server.Offline
	file    string
	found   int
	faults  []error
}

func (e *embedder) rewrite(text string) string {
	shown := notAnEmbed.FindAllStringIndex(text, -1)
	var out strings.Builder
	at := 0
	for _, m := range embedElement.FindAllStringSubmatchIndex(text, -1) {
		inside := false
		for _, s := range shown {
			inside = inside || m[0] >= s[0] && m[0] < s[1]
		}
		if inside {
			continue
		}
		e.found++
		attributes, content := text[m[2]:m[3]], text[m[4]:m[5]]
		content = answerTable.ReplaceAllString(content, "")
		table, err := e.answer(attributes, content)
		if err != nil {
			line := strings.Count(text[:m[0]], "\n") + 1
			e.faults = append(e.faults, fmt.Errorf("%s:%d: %w", e.file, line, err))
			continue
		}
		out.WriteString(text[at:m[4]])
		out.WriteString(content)
		if !strings.HasSuffix(content, "\n") {
			out.WriteByte('\n')
		}
		out.WriteString(table)
		at = m[5]
	}
	out.WriteString(text[at:])
	return out.String()
}

// answer is the table of one embed.
func (e *embedder) answer(attributes, content string) (string, error) {
	given := map[string]string{}
	for _, m := range attribute.FindAllStringSubmatch(attributes, -1) {
		given[m[1]] = html.UnescapeString(m[2])
	}
	manifest, err := e.manifest(given["src"], content)
	if err != nil {
		return "", err
	}
	form := views.Form{Manifest: manifest, Exits: given["exits"], Version: given["k8s"], View: given["view"]}
	form.Proposals = strings.FieldsFunc(given["proposal"], func(r rune) bool { return strings.ContainsRune(", \n\t", r) })
	if strings.TrimSpace(form.Exits) == "" {
		form.View = "codes"
	} else if form.View == "codes" {
		form.View = ""
	}
	answer, err := e.offline.Answer(e.ctx, form)
	if err != nil {
		return "", err
	}
	if want, is := given["expect"], answer.Verdict.Title; !strings.Contains(is, want) {
		return "", fmt.Errorf("the verdict is %q and not %q", is, want)
	}
	return fallback(answer.Document), nil
}

func (e *embedder) manifest(src, content string) (string, error) {
	if m := preElement.FindStringSubmatch(content); m != nil {
		return html.UnescapeString(tag.ReplaceAllString(m[1], "")), nil
	}
	if m := fence.FindStringSubmatch(content); m != nil {
		return m[1] + "\n", nil
	}
	if src == "" {
		return "", errors.New("there is no manifest: neither a <pre> or a fenced block in the element nor an attribute src")
	}
	if !filepath.IsLocal(filepath.FromSlash(src)) {
		return "", fmt.Errorf("src %q: must be a path below the folder of the page", src)
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(e.file), filepath.FromSlash(src)))
	return string(text), err
}

// fallback is a document as a table of one line for each row, without empty lines: those end HTML in
// Markdown.
func fallback(d *document.Document) string {
	head, rows := rowsOf(d)
	verdict := strings.TrimSpace(d.Verdict.Title + ". " + d.Verdict.Text)
	var b strings.Builder
	escaped := func(text string) string { // braces mean something else in MDX
		return strings.NewReplacer("{", "&#123;", "}", "&#125;", "\n", " ").Replace(html.EscapeString(words.Visible(text)))
	}
	cells := func(name string, cells []string) {
		b.WriteString("<tr>")
		for _, c := range cells {
			fmt.Fprintf(&b, "<%s>%s</%s>", name, escaped(c), name)
		}
		b.WriteString("</tr>\n")
	}
	fmt.Fprintf(&b, "<table data-podfate>\n<caption>%s</caption>\n", escaped(verdict))
	if len(head) > 0 {
		b.WriteString("<thead>\n")
		cells("th", head)
		b.WriteString("</thead>\n")
	}
	b.WriteString("<tbody>\n")
	for i, row := range rows {
		if i == maxTableRows {
			cells("td", []string{fmt.Sprintf("… and %d more", len(rows)-i)})
			break
		}
		cells("td", row)
	}
	b.WriteString("</tbody>\n</table>\n")
	return b.String()
}

// rowsOf is what a document says as cells: its first table, else its layers, else its list.
func rowsOf(d *document.Document) (head []string, rows [][]string) {
	for _, b := range d.Blocks {
		if b.Kind == "table" {
			for _, c := range b.Columns {
				head = append(head, c.Text)
			}
			for _, r := range b.Rows {
				rows = append(rows, r.Cells)
			}
			return head, rows
		}
	}
	for _, b := range d.Blocks {
		for _, c := range b.Cards {
			rows = append(rows, []string{c.Title, c.Text, c.Because})
		}
		for _, i := range b.Items {
			if len(b.Cards) == 0 && i.Ask == nil && (b.Kind == "list" || b.Kind == "fixes") {
				rows = append(rows, []string{i.Text, i.Because})
			}
		}
	}
	return nil, rows
}
