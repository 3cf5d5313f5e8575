package views

import (
	"net/url"
	"strconv"
	"strings"
)

// GatePrefix begins the name of a gate's control: gate.ContainerRestartRules, with "", "true" or "false" as value.
const GatePrefix = "gate."

// MaxExitsShown bounds the exits of the page. The operation takes more; a page with more is unreadable.
const MaxExitsShown = 64

// ReadForm reads the fields manifest, exits, version, validation and gate.NAME of a submitted form. It checks nothing:
// what is wrong with the values is for the operation to say. Line ends become \n, which browsers send as \r\n.
func ReadForm(v url.Values) Form {
	f := Form{
		Manifest:   strings.ReplaceAll(v.Get("manifest"), "\r\n", "\n"),
		Exits:      v.Get("exits"),
		Version:    v.Get("version"),
		Validation: v.Get("validation"),
		Gates:      map[string]string{},
	}
	for name := range v {
		gate, ok := strings.CutPrefix(name, GatePrefix)
		if value := v.Get(name); ok && (value == "true" || value == "false") {
			f.Gates[gate] = value
		}
	}
	return f
}

// Operation is the operation that answers f: decide if there are exits, else validate.
func (f Form) Operation() string {
	if strings.TrimSpace(f.Exits) == "" {
		return "validate"
	}
	return "decide"
}

// Exit is one entry of the field exits. Its JSON is that of the member exits of a decide request.
type Exit struct {
	Container string `json:"container,omitempty"` // "" if the Pod has one container
	ExitCode  int32  `json:"exitCode"`
	Reason    string `json:"reason,omitempty"`
}

// ParseExits reads the shorthand of f.Exits: entries NAME=CODE or NAME=CODE:REASON, separated by commas or white
// space; NAME= may be left out. At most [MaxExitsShown]. A blank text has no exits. The fault's path is exits[i].
//
// The browser reads the same shorthand with parseExits; testdata/exits.json holds both together.
func (f Form) ParseExits() ([]Exit, *Fault) {
	var exits []Exit
	for i, entry := range exitWords(f.Exits) {
		refuse := func(detail string) ([]Exit, *Fault) {
			return nil, &Fault{Path: "exits[" + strconv.Itoa(i) + "]", Code: "bad_format", Detail: detail}
		}
		if i == MaxExitsShown {
			return refuse("at most " + strconv.Itoa(MaxExitsShown) + " exits fit on this page")
		}
		name, end, named := strings.Cut(entry, "=")
		if !named {
			name, end = "", entry
		}
		code, reason, _ := strings.Cut(end, ":")
		n, err := strconv.ParseInt(code, 10, 32)
		if err != nil || strings.HasPrefix(code, "+") {
			return refuse(Quote(entry) + " is not NAME=CODE or NAME=CODE:REASON, with an exit code such as 137")
		}
		exits = append(exits, Exit{name, int32(n), reason})
	}
	return exits, nil
}

// exitWords splits the shorthand into its entries.
func exitWords(exits string) []string {
	return strings.FieldsFunc(exits, func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) })
}

// Refuse makes the answer for a fault that was found before any operation was asked.
func Refuse(operation string, f *Fault) *Answer {
	return &Answer{Operation: operation, Error: &Error{Code: "EVENT_INVALID", Message: f.Detail, Path: f.Path, Faults: []Fault{*f}}}
}
