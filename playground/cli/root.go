package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/wasm"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Exit statuses of the command.
const (
	StatusOK     = 0 // asked and answered
	StatusFaults = 1 // something is wrong with what was asked about, or there is no answer
	StatusUsage  = 2 // the command line is wrong, or a file cannot be read
)

// Streams are standard input, output and error of the command.
type Streams struct {
	// Name is the program as it was called, with or without a folder; "" for podfate. As a plugin
	// of kubectl it is called kubectl-podfate, and kubectl asks kubectl_complete-podfate what could
	// come next on the command line.
	Name     string
	In       io.Reader
	Out, Err io.Writer
}

// Bytes of addresses that are asked for before the work begins; see room. Go takes its heap in
// pieces of 64 MiB, and a thread has a stack of 8 MiB.
const (
	roomToStart = 128 << 20 // one piece of heap beyond the first, and a few threads
	// What compiling the module takes: two or three pieces of heap, a dozen threads, the memory of
	// an instance.
	roomForModule = 256<<20 + wasm.MaxMemoryPages<<16
)

// Main runs the command with args, the program's name left out, and returns its exit status. When
// ctx ends, or at a signal, serve ends in order and with status 0.
func Main(ctx context.Context, args []string, streams Streams) (status int) {
	if err := room(roomToStart); err != nil {
		fmt.Fprintf(streams.Err, "podfate: %v\n", err)
		return StatusFaults
	}
	root := newRoot(streams)
	switch strings.TrimSuffix(filepath.Base(streams.Name), ".exe") {
	case "kubectl-podfate":
		asPlugin(root)
	case "kubectl_complete-podfate":
		args = append([]string{cobra.ShellCompRequestCmd}, args...)
	}
	root.SetArgs(args)
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	refuseUnknownShells(root)
	command, err := root.ExecuteContextC(ctx)
	var done statusError
	var output *fs.PathError
	switch {
	case err == nil:
		return StatusOK
	case errors.As(err, &done):
		if done.err != nil {
			printFaults(streams, done.err)
		}
		return done.status
	case errors.As(err, &output) && output.Op == "write": // of what cobra prints
		fmt.Fprintf(streams.Err, "podfate: cannot print the answer: %v\n", output)
		return StatusFaults
	}
	printFaults(streams, err)
	fmt.Fprintf(streams.Err, "Run '%s --help' for usage.\n", command.CommandPath())
	return StatusUsage
}

// printFaults prints the faults that were joined into err, or err alone.
func printFaults(streams Streams, err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			printFaults(streams, err)
		}
		return
	}
	fmt.Fprintf(streams.Err, "podfate: %v\n", strings.TrimSpace(err.Error()))
}

// refuseUnknownShells makes the word after completion that names no shell an error, which cobra
// checks only for commands that run. It comes after SetOut, since cobra's command keeps the stream.
func refuseUnknownShells(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, command := range root.Commands() {
		if command.Name() == "completion" {
			command.RunE = func(command *cobra.Command, _ []string) error { return command.Help() }
		}
	}
}

// asPlugin lets all usage texts say how a plugin of kubectl is called.
func asPlugin(root *cobra.Command) {
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl podfate"}
	for _, command := range append(root.Commands(), root) {
		command.Example = ownName.ReplaceAllString(command.Example, "${1}kubectl podfate$2")
	}
}

// ownName matches the program where an example calls it.
var ownName = regexp.MustCompile(`(?m)(^ *|\| )podfate( |$)`)

// statusError ends the command with a status. err is printed; nil means that all has been said.
// Errors of any other type come from the command line and mean StatusUsage.
type statusError struct {
	status int
	err    error
}

func (e statusError) Error() string { return fmt.Sprint(e.err) }
func (e statusError) Unwrap() error { return e.err }

// failf ends the command with StatusFaults and a message.
func failf(format string, args ...any) error {
	return statusError{StatusFaults, fmt.Errorf(format, args...)}
}

func newRoot(streams Streams) *cobra.Command {
	serve := newServe(streams)
	root := &cobra.Command{
		Use:   "podfate",
		Short: "What will Kubernetes do when this container exits?",
		Long: `What will Kubernetes do when this container exits? Podfate works it out for a manifest, a Kubernetes
version and an exit code: whether the container is started again, which rule or policy decides that, and what
the API server says of the manifest.

Without a command it serves the playground, as "podfate serve" does.`,
		Example: `  # the playground, on http://127.0.0.1:8080
  podfate

  # a container is killed for lack of memory: what happens next?
  podfate decide -f pod.yaml --exit main=137:OOMKilled

  # and what follows, if it exits with 42 after 10 seconds, four times?
  podfate simulate -f pod.yaml --run 'main: 42@10s x4'

  # when do the restarts of a crash loop come?
  podfate curve --run 10s

  # would Kubernetes accept these?
  podfate validate -f manifests/

  # a Pod of the cluster
  kubectl get pod my-pod -o yaml | podfate decide -f - --exit 1`,
		Version: version(),
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) > 0 { // after --, where cobra looks for no verb
				return fmt.Errorf("unexpected argument %q", args[0])
			}
			return serve.RunE(command, args)
		},
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.Flags().AddFlagSet(serve.Flags())
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(suggestFlag)
	root.AddCommand(serve, newForecast(streams), newTest(streams))
	root.AddCommand(newSite(streams), newEmbed(streams))
	for _, op := range ops.Table() {
		root.AddCommand(newVerb(op, streams))
	}
	root.AddCommand(newVerify(streams))
	root.InitDefaultHelpCmd()
	for _, command := range root.Commands() {
		if command.Name() == "help" {
			command.RunE = help // cobra's own takes an unknown command for a wish to see everything
		}
	}
	fitTerminal(root)
	root.AddCommand(newScenario()) // which has its lines as they are
	return root
}

// help prints what there is to know about a command.
func help(command *cobra.Command, args []string) error {
	about, _, err := command.Root().Find(args)
	if err != nil {
		return err
	}
	about.InitDefaultHelpFlag() // so that it is listed
	return about.Help()
}

// helpColumns is how wide help may be: the terminals of old, and half of a wide one.
const helpColumns = 80

func init() { // the templates' functions are those of the process
	const indent = 14 // of what is said about a command, after its name
	cobra.AddTemplateFunc("summary", func(text string) string {
		return strings.ReplaceAll(folded(text, helpColumns-indent), "\n", "\n"+strings.Repeat(" ", indent))
	})
}

// fitTerminal breaks the lines of all help between words, so that no terminal breaks them within
// one. Examples stay as they are.
func fitTerminal(root *cobra.Command) {
	root.SetUsageTemplate(strings.NewReplacer(
		".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", helpColumns),
		"{{.Short}}", "{{summary .Short}}",
	).Replace(root.UsageTemplate()))
	for _, command := range append(root.Commands(), root) {
		command.Long = folded(command.Long, helpColumns)
	}
}

// folded breaks the lines of a text again, none longer than columns unless a single word is. An
// empty line parts paragraphs.
func folded(text string, columns int) string {
	var out strings.Builder
	for i, paragraph := range strings.Split(text, "\n\n") {
		if i > 0 {
			out.WriteString("\n\n")
		}
		at := 0
		for _, word := range strings.Fields(paragraph) {
			switch length := utf8.RuneCountInString(word); {
			case at == 0:
				at = length
			case at+1+length > columns:
				out.WriteByte('\n')
				at = length
			default:
				out.WriteByte(' ')
				at += 1 + length
			}
			out.WriteString(word)
		}
	}
	return out.String()
}

// version names the program, the interfaces that it speaks and the module in it.
func version() string {
	return fmt.Sprintf("podfate %s\nabi %s, schema %s\nmodule sha256:%s, %d bytes",
		programVersion(), ops.ABIVersion, ops.SchemaVersion, wasm.SHA256(), wasm.Size())
}

func programVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// noEmptyValues refuses a flag whose value is empty, as that of a shell's variable that is not set
// is: the default would be taken for it without a word. No gate is a list of gates.
func noEmptyValues(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if value := f.Value.String(); err == nil && (value == "" || value == "[]") && !slices.Contains(gateFlags[:], f.Name) {
			err = fmt.Errorf("--%s: the value is empty", f.Name)
		}
	})
	return err
}

// suggestFlag adds the flag that was probably meant to the error about an unknown one, or all that
// begin so.
func suggestFlag(command *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	typed, distance := unknown.GetSpecifiedName(), 3 // two slips of the finger
	var meant []string
	command.Flags().VisitAll(func(f *pflag.Flag) {
		if d := editDistance(typed, f.Name); d < distance {
			meant, distance = []string{"--" + f.Name}, d
		} else if distance == 3 && len(typed) > 2 && strings.HasPrefix(f.Name, typed) {
			meant = append(meant, "--"+f.Name)
		}
	})
	switch n := len(meant); n {
	case 0:
		return err
	case 1:
		return fmt.Errorf("%w\n\nDid you mean %s?", err, meant[0])
	default:
		return fmt.Errorf("%w\n\nDid you mean %s or %s?", err, strings.Join(meant[:n-1], ", "), meant[n-1])
	}
}

// editDistance counts the letters to insert, delete or replace between a and b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
