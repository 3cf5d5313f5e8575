package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/podfate/podfate/playground/server"
	"github.com/podfate/podfate/wasm"
	"github.com/spf13/cobra"
)

// memoryLimit is what the garbage collector aims below when GOMEMLIMIT does not say otherwise: the
// server's bound of 256 MiB (see package server), less the machine code of the module and the
// program itself, which are outside of its heap, and room for what it passes the limit by.
const memoryLimit = 144 << 20

// serveOptions are the flags of serve.
type serveOptions struct {
	address string
	hosts   []string
	open    bool
	engine  string
	level   string
}

func newServe(streams Streams) *cobra.Command {
	o := &serveOptions{}
	command := &cobra.Command{
		Use:   "serve",
		Short: "Serve the playground and the HTTP API.",
		Long: `Serves the playground at / and the operations at /api/v1/NAME; /api/v1/openapi.json describes them. The address
is printed when the server is ready. Logs go to standard error, one JSON object a line, and hold nothing of what
clients send. SIGINT or SIGTERM ends the server once open requests are answered; a second one ends it at once.`,
		Example: `  podfate serve --open
  podfate serve --addr :8080 --host playground.example.com
  curl -sS http://127.0.0.1:8080/api/v1/decide \
    -H 'Content-Type: application/yaml' --data-binary @scenario.yaml`,
		Args: noFilesAsArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := noEmptyValues(command.Flags()); err != nil {
				return err
			}
			// Only here: a verb that waits for its input has nothing to end in order, and a signal
			// ends it as any program.
			ctx, stop := signal.NotifyContext(command.Context(), os.Interrupt, syscall.SIGTERM)
			defer context.AfterFunc(ctx, stop)() // a second signal ends the program at once
			return o.run(ctx, streams)
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.address, "addr", "127.0.0.1:8080", "address to listen on; port 0 takes any free port")
	flags.StringArrayVar(&o.hosts, "host", nil, "further host name to accept in requests, such as that of a proxy; repeatable")
	flags.BoolVar(&o.open, "open", false, "open the playground in a browser")
	flags.StringVar(&o.engine, "engine", "wasm", "what answers: the WebAssembly module (wasm), or the core in this program (native)")
	flags.StringVar(&o.level, "log-level", "info", "lowest level to log: debug, info, warn or error")
	complete(command, "engine", engines)
	complete(command, "log-level", []string{"debug", "info", "warn", "error"})
	return command
}

func (o *serveOptions) run(ctx context.Context, streams Streams) error {
	var level slog.Level
	if err := level.UnmarshalText([]byte(o.level)); err != nil {
		return fmt.Errorf("--log-level %q: must be debug, info, warn or error", o.level)
	}
	if o.engine != "wasm" && o.engine != "native" {
		return fmt.Errorf("--engine %q: must be wasm or native", o.engine)
	}
	_, port, err := net.SplitHostPort(o.address)
	if err != nil {
		return fmt.Errorf("--addr %q: must be HOST:PORT, such as 127.0.0.1:8080 or :8080", o.address)
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return fmt.Errorf("--addr %q: the port must be a number from 0 to 65535, or the name of a service such as http", o.address)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	s, err := server.New(server.Config{
		Start:   func(ctx context.Context) (server.Engine, error) { return openEngine(ctx, o.engine, wasm.Options{}) },
		Module:  server.Module{Bytes: wasm.Module(), SHA256: wasm.SHA256()},
		Address: o.address,
		Hosts:   o.hosts,
		Log:     slog.New(slog.NewJSONHandler(streams.Err, &slog.HandlerOptions{Level: level})),
	})
	if err != nil {
		return failf("%w", err)
	}
	ln, err := net.Listen("tcp", o.address)
	if err != nil {
		return listenError(o.address, err)
	}
	announced := make(chan struct{})
	announcing, stopAnnouncing := context.WithCancel(ctx)
	go func() {
		defer close(announced)
		select {
		case <-s.Started():
			o.announce(pageURL(ln.Addr()), streams)
		case <-announcing.Done():
		}
	}()
	err = s.Run(ctx, ln)
	stopAnnouncing()
	<-announced
	if err != nil {
		return failf("%w", err)
	}
	return nil
}

// announce says where the playground is, and shows it if that was asked for.
func (o *serveOptions) announce(url string, streams Streams) {
	fmt.Fprintf(streams.Out, "Podfate playground: %s\n", url)
	if !o.open {
		return
	}
	if err := openBrowser(url); err != nil {
		fmt.Fprintf(streams.Err, "podfate: no browser could be opened: %v\n", err)
	}
}

// pageURL returns the address of the page as it can be typed on this machine.
func pageURL(address net.Addr) string {
	host, port, err := net.SplitHostPort(address.String())
	if err != nil {
		return "http://" + address.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// listenError says what to do when an address cannot be had.
func listenError(address string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return failf("%s is already in use, perhaps by another podfate; choose another address with --addr, such as --addr 127.0.0.1:0 for any free port", address)
	}
	return failf("cannot listen: %w", err)
}

// openBrowser starts the browser of the desktop and does not wait for it.
func openBrowser(url string) error {
	name, args := "xdg-open", []string{url}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", url}
	}
	command := exec.Command(name, args...)
	if err := command.Start(); err != nil {
		return err
	}
	go command.Wait() // its status says nothing about the browser
	return nil
}
