package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/podfate/podfate/playground/verify"
	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/wasm"
	"github.com/spf13/cobra"
)

// maxDocumentBytes bounds a document that is verified: a book of a thousand pages has 3 MiB.
const maxDocumentBytes = 16 << 20

// newVerify makes the command that recomputes what a document says.
func newVerify(streams Streams) *cobra.Command {
	engine := "native"
	command := &cobra.Command{
		Use:   "verify FILE.md…",
		Short: "Recompute the figures of a document.",
		Long: `Recomputes the figures of Markdown documents. A fenced block whose first line has the words podfate OPERATION NAME
holds a request, in YAML, which is asked; with refused as a fourth word, the request must fail. A comment after a figure
says how to compute it from the answers:

  The fourth restart comes at **110** s <!-- = NAME.starts[4].atMillis / 1000 -->.

<!-- != … --> says that a published figure is wrong. The figure is the last text in bold or code before the comment, or
else the last number, and must agree in all the digits it has. Paths have .member, [n] and [from:to]; terms are joined by
+ - * / from left to right, and sum(…), max(…) and len(…) take a path.

Each figure that does not hold is printed with its file and line, the claimed value and the computed one, and the exit
status is 1.`,
		Example: `  podfate verify docs/claims.md`,
		Args:    someFiles,
		RunE: func(command *cobra.Command, files []string) error {
			e, err := openEngine(command.Context(), engine, wasm.Options{})
			if err != nil {
				return err
			}
			defer closeEngine(e)
			ask := func(operation string, request []byte) ([]byte, bool, error) {
				op, ok := ops.Lookup(operation)
				if !ok {
					return []byte(`"no operation is called ` + operation + `"`), true, nil
				}
				return e.Call(command.Context(), op.Number, request)
			}
			wrong := 0
			for _, name := range files {
				n, err := verifyFile(streams.Out, name, ask)
				if err != nil {
					return err
				}
				wrong += n
			}
			if wrong > 0 {
				return statusError{status: StatusFaults}
			}
			return nil
		},
	}
	command.Flags().StringVar(&engine, "engine", engine, "what answers: the core in this program (native), or the WebAssembly module (wasm)")
	complete(command, "engine", engines)
	return command
}

// verifyFile prints what does not hold in a file, and how much does.
func verifyFile(out io.Writer, name string, ask verify.Ask) (wrong int, err error) {
	file, err := os.Open(name)
	if err != nil {
		return 0, fileError(err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxDocumentBytes+1))
	if err == nil && len(text) > maxDocumentBytes {
		err = fmt.Errorf("%s: a document has at most %d bytes", name, maxDocumentBytes)
	}
	if err != nil {
		return 0, statusError{StatusUsage, err}
	}
	r, err := verify.Document(string(text), ask)
	if err != nil {
		return 0, failf("%s: %w", name, err)
	}
	problems := r.Problems()
	for _, m := range problems {
		if _, err := fmt.Fprintf(out, "%s:%d: %s\n", name, m.Line, m.Problem); err != nil {
			return 0, err
		}
	}
	_, err = fmt.Fprintf(out, "%s: %d requests, %d figures, %d wrong\n", name, r.Blocks, r.Figures, len(problems))
	return len(problems), err
}
