package wasm

import "errors"

// What callers of [Host.Call] and [New] branch on. The errors that are returned wrap these and say more, for a log:
// the text of a trap may repeat up to 200 bytes of what the module printed, and belongs in no answer.
var (
	// ErrBusy means that no instance became free before the context ended. The context's error is wrapped too.
	ErrBusy = errors.New("wasm: all instances are busy")
	// ErrTrap means that the module trapped, or was interrupted. The request should not be tried again.
	ErrTrap = errors.New("wasm: the module trapped")
	// ErrMalformed means that the module returned what no right module returns.
	ErrMalformed = errors.New("wasm: malformed answer")
	// ErrABI means that the module does not speak the ABI of this package.
	ErrABI = errors.New("wasm: the module has another ABI")
	// ErrDigest means that the bytes of the module are not those expected. Nothing of them has run.
	ErrDigest = errors.New("wasm: the module has another digest")
	// ErrTooLarge means that the request is longer than [MaxRequestBytes]. The module has not seen it.
	ErrTooLarge = errors.New("wasm: request too large")
	// ErrClosed means that the host is closed or closing.
	ErrClosed = errors.New("wasm: the host is closed")
	// ErrCacheDir means that the cache directory could be written by others than the user of this process.
	ErrCacheDir = errors.New("wasm: unsafe cache directory")
)
