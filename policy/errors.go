package policy

// ErrorCode names an error that ends an operation, as the module's ABI spells it. Codes are
// append-only.
type ErrorCode string

// The error codes; [ErrorCode.Number] gives their numbers.
const (
	BadJSON            ErrorCode = "BAD_JSON"            // the request is not one JSON text
	BadUTF8            ErrorCode = "BAD_UTF8"            // the request is not UTF-8
	ManifestInvalid    ErrorCode = "MANIFEST_INVALID"    // Kubernetes would not accept the manifest
	EventInvalid       ErrorCode = "EVENT_INVALID"       // the rest of the request is invalid
	UnknownHandle      ErrorCode = "UNKNOWN_HANDLE"      // no compiled policy has this handle, or it was released
	LimitExceeded      ErrorCode = "LIMIT_EXCEEDED"      // a limit is exceeded; the error names it
	UnsupportedOp      ErrorCode = "UNSUPPORTED_OP"      // no operation has this number
	UnsupportedVersion ErrorCode = "UNSUPPORTED_VERSION" // a Kubernetes version, gate or configuration that is not modelled
	Internal           ErrorCode = "INTERNAL"            // a bug of Podfate
	BadBuffer          ErrorCode = "BAD_BUFFER"          // an address that is not in a live buffer
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

// FaultCode names what is wrong, for programs and tests. Codes are stable; the sentences next to
// them are not.
type FaultCode string

// The codes of faults. Those of the first group come from decoding, those of the second from the
// API server's checks, those of the third from the rest of a request.
const (
	CodeUnknownField   FaultCode = "unknown_field"   // the object has no such field
	CodeDuplicateField FaultCode = "duplicate_field" // the field occurs twice
	CodeWrongType      FaultCode = "wrong_type"      // a value of the wrong type, such as a string where a number belongs
	CodeOutOfRange     FaultCode = "out_of_range"    // a number that its type cannot hold
	CodeBadFormat      FaultCode = "bad_format"      // a text that its type cannot parse
	CodeTooManyFaults  FaultCode = "too_many_faults" // more faults were found than are listed

	CodeRequired    FaultCode = "required"          // something that must be present is missing
	CodeInvalid     FaultCode = "invalid_value"     // a value that the rules do not allow
	CodeUnsupported FaultCode = "unsupported_value" // a value that is not one of those allowed
	CodeForbidden   FaultCode = "forbidden"         // a field that must not be set here
	CodeTooMany     FaultCode = "too_many"          // a list with too many elements
	CodeTooLong     FaultCode = "too_long"          // a text that is too long
	CodeDuplicate   FaultCode = "duplicate_value"   // what must be unique occurs twice

	CodeNodeRefuses FaultCode = "node_refuses" // the kubelet can read this static Pod but does not admit it

	CodePanics FaultCode = "api_server_panics" // the API server of this release panics here; it reports no fault

	CodeUnknownKind          FaultCode = "unknown_kind"           // a kind that Podfate does not read
	CodeUnknownVersion       FaultCode = "unknown_version"        // a release that is not modelled
	CodeUnknownGate          FaultCode = "unknown_gate"           // a feature gate that the release does not have
	CodeLockedGate           FaultCode = "locked_gate"            // a gate that cannot be set in this release
	CodeGateDependency       FaultCode = "gate_dependency"        // a gate is on without another gate that it needs
	CodeUnknownContainer     FaultCode = "unknown_container"      // no container has this name
	CodeCommandNotUnderstood FaultCode = "command_not_understood" // the container's runs cannot be derived from its command
	CodeLimit                FaultCode = "limit"                  // a limit on one request is exceeded
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

	Proposal string // that knows the word which is wrong here, or that causes the fault; "" for none
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
