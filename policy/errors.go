package policy

// ErrorCode names an error that ends an operation, as the module's ABI spells it. Codes are
// append-only.
type ErrorCode string

// The error codes; [ErrorCode.Number] gives their numbers.
const (
	BadJSON            ErrorCode = "BAD_JSON"            // the request is not one JSON text
	BadUTF8            ErrorCode = "BAD_UTF8"            // the request is not UTF-8
	ManifestInvalid    ErrorCode = "MANIFEST_INVALID"    // Kubernetes would not accept the manifest
	EventInvalid       ErrorCode = "EVENT_INVALID"       // the rest of the request does not fit
	UnknownHandle      ErrorCode = "UNKNOWN_HANDLE"      // no compiled policy has this handle, or no longer
	LimitExceeded      ErrorCode = "LIMIT_EXCEEDED"      // the error names the limit
	UnsupportedOp      ErrorCode = "UNSUPPORTED_OP"      // no operation has this number
	UnsupportedVersion ErrorCode = "UNSUPPORTED_VERSION" // Kubernetes version, gate or configuration outside the model
	Internal           ErrorCode = "INTERNAL"            // a bug of Podfate
	BadBuffer          ErrorCode = "BAD_BUFFER"          // not a live buffer, or outside it
	OutputTooSmall     ErrorCode = "OUTPUT_TOO_SMALL"    // the batch's answer buffer is too short
	BudgetExceeded     ErrorCode = "BUDGET_EXCEEDED"     // the call took more steps than it may
)

var errorNumbers = [...]ErrorCode{
	BadJSON, BadUTF8, ManifestInvalid, EventInvalid, UnknownHandle, LimitExceeded,
	UnsupportedOp, UnsupportedVersion, Internal, BadBuffer, OutputTooSmall, BudgetExceeded,
}

// Number returns the number of c in the ABI, from 1, and 0 for a code that the ABI does not know.
func (c ErrorCode) Number() int {
	for i, code := range errorNumbers {
		if code == c {
			return i + 1
		}
	}
	return 0
}

// FaultType is the kind of a fault that the API server's validation reports, in the words it
// prints.
//
// Source: ErrorType.String in k8s.io/apimachinery v0.36, pkg/util/validation/field/errors.go.
type FaultType string

// The kinds that the checks of this package use. A fault of decoding or of the request has none.
const (
	TypeRequired    FaultType = "Required value"
	TypeInvalid     FaultType = "Invalid value"
	TypeUnsupported FaultType = "Unsupported value"
	TypeForbidden   FaultType = "Forbidden"
	TypeTooMany     FaultType = "Too many"
	TypeTooLong     FaultType = "Too long"
	TypeDuplicate   FaultType = "Duplicate value"
)

// FaultCode names what is wrong, for programs and tests. Codes are stable; the sentences beside
// them are not.
type FaultCode string

// The codes of faults. Those of the first group come from decoding, those of the second from the
// API server's checks, those of the third from the rest of a request.
const (
	CodeUnknownField   FaultCode = "unknown_field"   // the object has no such field
	CodeDuplicateField FaultCode = "duplicate_field" // the field is there twice
	CodeWrongType      FaultCode = "wrong_type"      // a string where a number belongs, and the like
	CodeOutOfRange     FaultCode = "out_of_range"    // a number that its type cannot hold
	CodeBadFormat      FaultCode = "bad_format"      // a text that its type cannot read
	CodeTooManyFaults  FaultCode = "too_many_faults" // the list was cut here

	CodeRequired    FaultCode = "required"          // something is missing that has to be there
	CodeInvalid     FaultCode = "invalid_value"     // a value that the rules do not allow
	CodeUnsupported FaultCode = "unsupported_value" // a word that is none of those allowed
	CodeForbidden   FaultCode = "forbidden"         // a field that must not be set here
	CodeTooMany     FaultCode = "too_many"          // a list with too many elements
	CodeTooLong     FaultCode = "too_long"          // a text that is too long
	CodeDuplicate   FaultCode = "duplicate_value"   // what must be there once is there twice

	// CodeNodeRefuses is what a kubelet says of a static Pod that it can read and does not admit.
	CodeNodeRefuses FaultCode = "node_refuses"

	// CodePanics is no fault that a release prints: its API server fails at this place with an
	// error of its own.
	CodePanics FaultCode = "api_server_panics"

	CodeUnknownKind      FaultCode = "unknown_kind"      // a kind that is not read
	CodeUnknownVersion   FaultCode = "unknown_version"   // a release that is not modelled
	CodeUnknownGate      FaultCode = "unknown_gate"      // a feature gate that the release does not have
	CodeLockedGate       FaultCode = "locked_gate"       // a gate that cannot be set in this release
	CodeGateDependency   FaultCode = "gate_dependency"   // a gate without another that it needs
	CodeUnknownContainer FaultCode = "unknown_container" // no container has this name
	// CodeCommandNotUnderstood is about a container whose runs were to follow from its command.
	CodeCommandNotUnderstood FaultCode = "command_not_understood"
	CodeLimit                FaultCode = "limit" // beyond a limit of one request
)

// FieldError is one fault in a manifest or in the rest of a request.
type FieldError struct {
	Path    string    // from the root: spec.containers[0].restartPolicyRules[2].action
	Type    FaultType // the API server's word, "" for a fault that its validation does not report
	Code    FaultCode // for programs and tests
	Detail  string    // for people; may change in any release
	Message string    // exactly what this version of Kubernetes prints, "" when it prints nothing
	Allowed []string  // what could be there instead, where that can be listed; nil otherwise
	Within  int       // of a question in short: 1 + the offset in its text; 0 for other faults
	Source  string    // of a warning: what it rests on, a KEP or a function with its file and version

	Proposal string // that knows the word which is wrong here, or that is behind the fault; "" for none
	more     int    // see More
}

// Error returns the text of Kubernetes when there is one, else path, if it has one, and detail.
func (e FieldError) Error() string {
	switch {
	case e.Message != "":
		return e.Message
	case e.Path == "":
		return "the request " + e.Detail
	}
	return e.Path + ": " + e.Detail
}

// What a fault says about a name that refers to nothing.
const (
	TypeNotFound FaultType = "Not found"
	CodeNotFound FaultCode = "not_found" // what is named is not there
)
