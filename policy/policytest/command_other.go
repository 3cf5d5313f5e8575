//go:build !unix

package policytest

import (
	"context"
	"os/exec"
)

func grouped(ctx context.Context, name string, args []string) *exec.Cmd {
	command := exec.CommandContext(ctx, name, args...)
	command.WaitDelay = pipeDelay
	return command
}

func words(command *exec.Cmd) []string { return command.Args }
