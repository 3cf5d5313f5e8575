// Command podfate says what Kubernetes will do when a container exits; see package cli.
package main

import (
	"context"
	"os"

	"github.com/podfate/podfate/playground/cli"
	_ "github.com/podfate/podfate/playground/quiet"
)

func main() {
	os.Exit(cli.Main(context.Background(), os.Args[1:], cli.Streams{Name: os.Args[0], In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
