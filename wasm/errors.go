package wasm

import (
	"encoding/json"
	"errors"
)

// What callers of [Host.Call] and [New] branch on. The errors that are returned wrap these and say
// more, for a log: the text of a trap may repeat up to 200 bytes of what the module printed, and
// belongs in no answer.
var (
	// ErrBusy means that no instance became free before the context ended. The context's error is
	// wrapped too.
	ErrBusy = errors.New("wasm: all instances are busy")
	// ErrTrap means that the module trapped, or was interrupted. The request should not be tried
	// again.
	ErrTrap = errors.New("wasm: the module trapped")
	// ErrMemory means that the system gave no memory for machine code or for an instance. The call
	// may be tried again.
	ErrMemory = errors.New("wasm: no memory")
	// ErrMalformed means that the module returned what no right module returns.
	ErrMalformed = errors.New("wasm: malformed answer")
	// ErrABI means that the module does not speak the ABI of this package.
	ErrABI = errors.New("wasm: the module has another ABI")
	// ErrDigest means that the bytes of the module are not those expected. Nothing of them has run.
	ErrDigest = errors.New("wasm: the module has another digest")
	// ErrTooLarge means that the request is longer than [MaxRequestBytes]. The module has not seen
	// it.
	ErrTooLarge = errors.New("wasm: request too large")
	// ErrManifest means that the manifest, the cluster or the text around them is refused: an
	// [*Error].
	ErrManifest = errors.New("wasm: the manifest is refused")
	// ErrEvent means that what happened is refused, or does not fit the manifest: an [*Error].
	ErrEvent = errors.New("wasm: the event is refused")
	// ErrLimit means that a limit was passed: an [*Error].
	ErrLimit = errors.New("wasm: a limit is passed")
	// ErrInternal means that the module met an impossible state and said so: an [*Error]. Its
	// instance is gone.
	ErrInternal = errors.New("wasm: the module met an impossible state")
	// ErrClosed means that the host or the policy is closed, or closing.
	ErrClosed = errors.New("wasm: the host or the policy is closed")
	// ErrCacheDir means that the cache directory could be written by others than the user of this
	// process.
	ErrCacheDir = errors.New("wasm: unsafe cache directory")
)

// Error is what the module refused. errors.Is finds its kind: ErrManifest, ErrEvent, ErrLimit or
// ErrInternal.
type Error struct {
	Code    string // MANIFEST_INVALID and so on; stable
	Num     int    // its number in the ABI
	Message string // for people; may change in any release
	Path    string // of the first fault, "" for none
	Limit   string // which limit, as describe lists it; "" for none
	JSON    []byte // the whole payload, {"error":{…}} with all faults; nil for an error of a batch
	kind    error
}

func (e *Error) Error() string { return "wasm: " + e.Code + ": " + e.Message }

// Unwrap returns the kind of e.
func (e *Error) Unwrap() error { return e.kind }

// refusal reads an error payload. event reports that a text that is no JSON was an event and not a
// request.
func refusal(payload []byte, event bool) error {
	var p struct{ Error Error }
	if err := json.Unmarshal(payload, &p); err != nil {
		return errors.Join(ErrMalformed, err)
	}
	p.Error.JSON = payload
	return p.Error.of(event)
}

// of sets the kind of e by its number.
func (e *Error) of(event bool) error {
	switch e.Num {
	case 1, 2, 3, 8:
		e.kind = ErrManifest
		if event {
			e.kind = ErrEvent
		}
	case 4, 7:
		e.kind = ErrEvent
	case 6, 11, 12:
		e.kind = ErrLimit
	case 9:
		e.kind = ErrInternal
	default:
		e.kind = ErrMalformed // 5 and 10 are faults of this package, and nothing else may come
	}
	return e
}
