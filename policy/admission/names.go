package admission

import "strings"

// NameForm is a form that the API server asks of a name, a key or a value.
type NameForm uint8

// The forms.
const (
	DNSLabel       NameForm = iota // RFC 1123, up to 63 bytes: of a container, a volume, a host
	DNSSubdomain                   // RFC 1123 labels with dots between them, up to 253 bytes: of most objects
	SearchDomain                   // the same with underscores: of dnsConfig.searches
	LabelKey                       // a name with an optional domain in front: of labels, resources, conditions
	LabelValue                     // of labels; may be empty
	PortName                       // an IANA service name
	EnvName                        // printable ASCII without "="
	StrictEnvName                  // as kubelets until 1.34 want it in a file
	ConfigKey                      // a key of a ConfigMap or Secret
	HTTPHeaderName                 // letters, digits and hyphens
	IPAddress                      // version 4 or 6
)

// The lengths that these forms allow.
const (
	maxLabelBytes     = 63
	maxSubdomainBytes = 253
	maxPortNameBytes  = 15
)

// Texts of the API server.
const (
	regexText     = "regex used for validation is '"
	labelText     = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', " + regexText + labelRegex + "')"
	labelRegex    = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
	subdomainText = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', " + regexText + labelRegex + `(\.` + labelRegex + ")*')"
	searchText    = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', " + regexText
	searchRegex   = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
	keyText       = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', " + regexText + keyRegex + "')"
	keyRegex      = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
	valueText     = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', " + regexText + "(" + keyRegex + ")?')"
	envText       = "a valid environment variable name must consist only of printable ASCII characters other than '='"
	strictEnvText = "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', " + regexText + "[-._a-zA-Z][-._a-zA-Z0-9]*')"
	configKeyText = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', " + regexText + "[-._a-zA-Z0-9]+')"
	headerText    = "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', " + regexText + "[-A-Za-z0-9]+')"
	emptyText     = "must be non-empty"
)

// Faults returns what Kubernetes 1.minor says against s, each a sentence for the end of a message;
// nil if s has the form.
//
// Source: k8s.io/apimachinery v0.33 to v0.37, pkg/util/validation/validation.go; from v0.35 on for
// keys and values pkg/api/validate/content/kube.go.
func (form NameForm) Faults(s string, minor int) (faults []string) {
	switch form {
	case DNSLabel:
		label, dots := dnsName(s)
		faults = said(faults, len(s) > maxLabelBytes, "must be no more than 63 characters")
		faults = said(faults, !label, labelText)
		faults = said(faults, label && dots, "must not contain dots")
	case DNSSubdomain:
		return subdomainFaults(s, "", "characters")
	case SearchDomain:
		text := searchText + searchRegex + `(\.` + searchRegex + ")*')"
		if minor < 34 { // which names the expression without underscores
			text = searchText + labelRegex + `(\.` + labelRegex + ")*')"
		}
		faults = said(faults, len(s) > maxSubdomainBytes, "must be no more than 253 characters")
		faults = said(faults, !searchName(s), text)
	case LabelKey:
		return keyFaults(s, minor)
	case LabelValue:
		faults = said(faults, len(s) > maxLabelBytes, "must be no more than 63 "+keyUnit(minor))
		faults = said(faults, s != "" && !keyName(s), valueText)
	case PortName:
		faults = said(faults, len(s) > maxPortNameBytes, "must be no more than 15 characters")
		letters := 0
		charset := s != ""
		for i := range len(s) {
			switch c := s[i]; {
			case c >= 'a' && c <= 'z':
				letters++
			case c != '-' && (c < '0' || c > '9'):
				charset = false
			}
		}
		faults = said(faults, !charset, "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
		faults = said(faults, letters == 0, "must contain at least one letter (a-z)")
		faults = said(faults, strings.Contains(s, "--"), "must not contain consecutive hyphens")
		faults = said(faults, s != "" && (s[0] == '-' || s[len(s)-1] == '-'), "must not begin or end with a hyphen")
	case EnvName:
		faults = said(faults, s == "", "environment variable name "+emptyText)
		for i := range len(s) {
			if c := s[i]; c < ' ' || c > '~' || c == '=' {
				return append(faults, envText)
			}
		}
	case StrictEnvName:
		faults = said(faults, s == "" || s[0] >= '0' && s[0] <= '9' || !spelled(s, "-._"), strictEnvText)
		return append(faults, dotFaults(s)...)
	case ConfigKey:
		faults = said(faults, len(s) > maxSubdomainBytes, "must be no more than 253 characters")
		faults = said(faults, s == "" || !spelled(s, "-._"), configKeyText)
		return append(faults, dotFaults(s)...)
	case HTTPHeaderName:
		faults = said(faults, s == "" || !spelled(s, "-"), headerText)
	case IPAddress:
		return addressFaults(s, minor >= 36) // when the gate StrictIPCIDRValidation is on
	}
	return faults
}

// said returns faults with one more, if something is bad.
func said(faults []string, bad bool, text string) []string {
	if bad {
		return append(faults, text)
	}
	return faults
}

// subdomainFaults checks s in the sense of RFC 1123. prefix is before each text, unit is what
// is counted.
func subdomainFaults(s, prefix, unit string) (faults []string) {
	if len(s) > maxSubdomainBytes {
		faults = append(faults, prefix+"must be no more than 253 "+unit)
	}
	if ok, _ := dnsName(s); !ok {
		faults = append(faults, prefix+subdomainText)
	}
	return faults
}

// keyUnit is what limits of label keys and label values count in Kubernetes 1.minor.
func keyUnit(minor int) string {
	if minor < 35 {
		return "characters"
	}
	return "bytes"
}

func keyFaults(s string, minor int) (faults []string) {
	name := s
	if slash := strings.IndexByte(s, '/'); slash >= 0 {
		name = s[slash+1:]
		switch {
		case strings.IndexByte(name, '/') >= 0:
			what := "a valid label key "
			if minor < 35 {
				what = "a qualified name "
			}
			return []string{what + keyText + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"}
		case slash == 0:
			faults = append(faults, "prefix part "+emptyText)
		default:
			faults = subdomainFaults(s[:slash], "prefix part ", keyUnit(minor))
		}
	}
	if name == "" {
		faults = append(faults, "name part "+emptyText)
	} else if len(name) > maxLabelBytes {
		faults = append(faults, "name part must be no more than 63 "+keyUnit(minor))
	}
	if !keyName(name) {
		faults = append(faults, "name part "+keyText)
	}
	return faults
}

// keyName reports whether s can be the name in a label key.
func keyName(s string) bool {
	return s != "" && spelled(s, "-_.") && spelled(s[:1], "") && spelled(s[len(s)-1:], "")
}

// dotFaults returns what is said against a name that would be a way out of a folder.
func dotFaults(s string) []string {
	switch {
	case s == ".", s == "..":
		return []string{"must not be '" + s + "'"}
	case strings.HasPrefix(s, ".."):
		return []string{"must not start with '..'"}
	}
	return nil
}

// spelled reports whether s has only letters and digits of ASCII and the bytes of others.
func spelled(s, others string) bool {
	for i := range len(s) {
		if c := s[i]; !(c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9') && strings.IndexByte(others, c) < 0 {
			return false
		}
	}
	return true
}

// dnsName reports whether s consists of labels with dots between them, and whether there is a dot.
func dnsName(s string) (ok, dots bool) {
	edge := true // the next byte must not be a hyphen, the one before must not have been
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			edge = false
		case c == '-' && !edge:
			if i+1 == len(s) || s[i+1] == '.' {
				return false, dots
			}
		case c == '.' && !edge:
			edge, dots = true, true
		default:
			return false, dots
		}
	}
	return !edge, dots
}

// searchName reports whether s consists of labels with dots between them, in which an underscore may
// take the place of a letter, but not at the end.
func searchName(s string) bool {
	for {
		label, rest, more := strings.Cut(s, ".")
		label = strings.TrimPrefix(label, "_")
		if label == "" || !spelled(label, "-_") || hasUpper(label) || !spelled(label[:1], "") || !spelled(label[len(label)-1:], "") {
			return false
		}
		if s = rest; !more {
			return true
		}
	}
}

func hasUpper(s string) bool {
	for i := range len(s) {
		if s[i] >= 'A' && s[i] <= 'Z' {
			return true
		}
	}
	return false
}
