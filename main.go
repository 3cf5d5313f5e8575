// Command podfate says what Kubernetes will do when a container exits; see package cli.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/podfate/podfate/playground/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(cli.Main(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
