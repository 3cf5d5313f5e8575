//go:build !linux

package cli

// room reports no error: what is not limited need not be asked for.
func room(int) error { return nil }
