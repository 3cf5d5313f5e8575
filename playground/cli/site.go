package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/podfate/podfate/playground/server"
	"github.com/podfate/podfate/wasm"
	"github.com/spf13/cobra"
)

// newSite is the command that writes a copy of the playground.
func newSite(streams Streams) *cobra.Command {
	var folder string
	command := &cobra.Command{
		Use:   "site -o DIR",
		Short: "Write a copy of the playground that any file host can serve",
		Long: `Writes the playground as files: the page, its scripts and the module. Any file host can serve them, under any path,
and after the first visit they work offline. The browser alone answers: no question leaves it.

static/embed.js is what pages of documentation load for <pod-fate>; see podfate embed.`,
		Example: `  podfate site -o public/podfate`,
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if folder == "" {
				return fmt.Errorf("-o is missing: name the folder to write to; it is created if necessary")
			}
			offline, err := newOffline(command.Context())
			if err != nil {
				return failf("%w", err)
			}
			files, err := offline.Site(command.Context())
			if err != nil {
				return failf("%w", err)
			}
			bytes := 0
			for name, content := range files {
				path := filepath.Join(folder, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					return failf("%w", err)
				}
				if err := os.WriteFile(path, content, 0o644); err != nil {
					return failf("%w", err)
				}
				bytes += len(content)
			}
			fmt.Fprintf(streams.Out, "%s: %d files, %d bytes\n", folder, len(files), bytes)
			return nil
		},
	}
	command.Flags().StringVarP(&folder, "output", "o", "", "folder to write to")
	return command
}

// newOffline answers without a listener. It asks the core in this program: a copy is made once, and
// the module is not compiled for that.
func newOffline(ctx context.Context) (*server.Offline, error) {
	return server.NewOffline(ctx, server.Config{
		Start:  func(ctx context.Context) (server.Engine, error) { return openEngine(ctx, "native", wasm.Options{}) },
		Module: server.Module{Bytes: slices.Clone(wasm.Module()), SHA256: wasm.SHA256()},
	})
}
