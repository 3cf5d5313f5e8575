package diff

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/manifest"
	"github.com/podfate/podfate/policy/ops"
)

// validation compares what is dropped from n manifests and what is refused about them.
func (c *comparison) validation(t *testing.T, n int) {
	sets := len(gateSets(c.release.Minor()))
	shown := 0
	c.eachGateSet(t, func(set gateSet, _ policy.Features) {
		for i, end := 0, c.validated+n/sets+1; c.validated < end; i++ {
			text := generate(c.seed, i).manifest()
			c.validated++
			c.compareAdmission(t, &shown, fmt.Sprintf("validation case %d, %v: %s", i, set, text), text, set)
		}
	})
}

func (c *comparison) compareAdmission(t *testing.T, shown *int, what string, text []byte, set gateSet) {
	t.Helper()
	c.compareAnswer(t, shown, what, c.release.Admit(text, false), set, text, nil)
}

// compareAnswer compares what became of a request with what our core says; extra are members of its
// request.
func (c *comparison) compareAnswer(t *testing.T, shown *int, what string, theirs Admission, set gateSet, text []byte, extra map[string]any) {
	t.Helper()
	if theirs.DecodeError != "" {
		t.Fatalf("%s: %s", what, theirs.DecodeError)
	}
	ours, err := validate(c.release.Minor(), set, text, extra)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if theirs.Panic != "" || ours.panicked() != "" {
		c.panicking++
		if theirs.Panic == "" || ours.panicked() == "" {
			c.differ(t, shown, what+"\npanic", ours.panicked(), theirs.Panic)
		}
		return
	}
	said := map[string]bool{}
	for _, f := range ours.Faults {
		said[f.Message] = true
	}
	want := settled(owned(theirs.Faults, text, c.release.Minor(), extra["old"] != nil, said))
	var messages []string
	taken := map[int]bool{} // of want, by a fault of ours with the same text
	for _, f := range ours.Faults {
		for j := range want {
			if !taken[j] && f.Message == want[j] {
				taken[j] = true
				break
			}
		}
	}
	for _, f := range ours.settled() {
		i := len(messages)
		if theirs.Merged && f.Message != "" && slices.Contains(messages, f.Message) {
			continue
		}
		if i < len(want) && f.Message != want[i] && sameMessage(f.Path, f.Message, want[i]) {
			if f.Message != "" {
				c.cut++
			}
			f.Message = want[i]
		}
		if f.Message == "" {
			for j := range want {
				if !taken[j] && drawn(f.Path, f.Detail, want[j]) {
					taken[j], f.Message = true, want[j]
					break
				}
			}
		}
		messages = append(messages, f.Message)
	}
	messages = settled(messages)
	if len(want) > 0 {
		c.faulty++
	}
	if len(want) > policy.MaxFaults { // the last entry of ours says how many are left out
		end := policy.MaxFaults
		if of := unordered.FindString(want[end]); of != "" { // the list ends within a map, nobody knows where
			for end > 0 && unordered.FindString(want[end-1]) == of {
				end--
			}
		}
		want, messages = want[:end], messages[:min(end, len(messages))]
	}
	if !slices.Equal(messages, want) {
		ours, theirs := firstDifference(messages, want)
		c.differ(t, shown, what, ours, theirs)
	}
	var dropped []string
	for _, d := range ours.Dropped {
		dropped = append(dropped, d.Path)
	}
	if len(theirs.Dropped) > 0 {
		c.dropping++
	}
	slices.Sort(dropped) // ours are in the order of the document, theirs in that of the API
	slices.Sort(theirs.Dropped)
	if !slices.Equal(dropped, theirs.Dropped) {
		ours, theirs := firstDifference(dropped, theirs.Dropped)
		c.differ(t, shown, what+"\ndropped fields", ours, theirs)
	}
}

// firstDifference returns the first elements in which two lists differ.
func firstDifference(ours, theirs []string) (string, string) {
	i := 0
	for i < len(ours) && i < len(theirs) && ours[i] == theirs[i] {
		i++
	}
	element := func(list []string) string {
		if i < len(list) {
			return fmt.Sprintf("[%d of %d] %s", i, len(list), list[i])
		}
		return fmt.Sprintf("[%d of %d] nothing", i, len(list))
	}
	return element(ours), element(theirs)
}

// owned keeps the faults of the fields of a manifest that Podfate says it checks, and those which
// it has said: it may check a part of a field.
func owned(faults []Fault, text []byte, minor int, update bool, said map[string]bool) []string {
	var texts []string
	kind := kindOf(text)
	for _, f := range faults {
		if strings.HasSuffix(f.Text, "disallowed by cluster policy") {
			continue // a flag of the API server forbids it, no field that is read
		}
		if wordless.MatchString(f.Text) {
			f.Text = f.Path + addresses
		}
		if said[f.Text] || manifest.Judges(kind, f.Path, minor, update) || inPart.MatchString(f.Text) {
			texts = append(texts, f.Text)
		}
	}
	return texts
}

// drawn reports whether a fault of ours has no text because that of Kubernetes, which is theirs,
// has a part that is drawn.
func drawn(path, detail, theirs string) bool {
	detail, isDrawn := strings.CutSuffix(detail, "; part of the text of Kubernetes is random")
	if strings.Contains(detail, "must be '") { // the UID, or a name that is drawn
		return isDrawn && strings.HasPrefix(theirs, path+": Invalid value: ") && strings.Contains(theirs, ": must be '")
	}
	return isDrawn && strings.HasPrefix(theirs, path+": ") && strings.HasSuffix(theirs, ": "+detail)
}

// inPart matches faults of fields of which Podfate checks a part, and says nothing or not the same
// text.
var inPart = regexp.MustCompile(`^metadata\.name: .*: will not able to create pod`)

// unordered matches the beginning of faults about maps, at which Kubernetes looks in no order.
var unordered = regexp.MustCompile(`^.*?(\.resources|\.nodeSelector|\.flexVolume\.options|\.labels|\.matchLabels|\.annotations)\b`)

// settled returns texts with those of one map sorted.
func settled(texts []string) []string {
	for i := 0; i < len(texts); i++ {
		of, from := unordered.FindString(texts[i]), i
		for of != "" && i+1 < len(texts) && unordered.FindString(texts[i+1]) == of {
			i++
		}
		slices.Sort(texts[from : i+1])
	}
	return texts
}

// kindOf returns the kind of a manifest.
func kindOf(text []byte) string {
	var object struct{ Kind string }
	if json.Unmarshal(text, &object) != nil {
		return ""
	}
	return object.Kind
}

type answerFault struct{ Path, Type, Code, Detail, Message string }

// answer is the part of a validate answer that is compared.
type answer struct {
	Faults     []answerFault
	Dropped    []struct{ Path, Gate string }
	Undecided  []struct{ Reason, Path string }
	Message    string
	NotChecked []string
}

// wordless matches texts with addresses in memory or with a whole security context. Podfate has
// none for them.
var wordless = regexp.MustCompile(`(resource\.Quantity|core\.SeccompProfile)\{.*\(0x|: cannot set .allowPrivilegeEscalation. to false and `)

// addresses stands for such a text.
const addresses = ": addresses"

// settled returns the faults with those about one map sorted by their texts.
func (a answer) settled() []answerFault {
	for i, f := range a.Faults {
		if f.Message == "" && (strings.Contains(f.Path, ".resources.") || strings.Contains(f.Path, "securityContext")) {
			a.Faults[i].Message = f.Path + addresses
		}
	}
	for i := 0; i < len(a.Faults); i++ {
		of, from := unordered.FindString(a.Faults[i].Path), i
		for of != "" && i+1 < len(a.Faults) && unordered.FindString(a.Faults[i+1].Path) == of {
			i++
		}
		slices.SortStableFunc(a.Faults[from:i+1], func(a, b answerFault) int { return strings.Compare(a.Message, b.Message) })
	}
	return a.Faults
}

// validate asks our core, with extra members in the request. Unknown fields are ignored: 1.33 does
// not know the rules.
func validate(minor int, set gateSet, text []byte, extra map[string]any) (answer, error) {
	members := map[string]any{
		"cluster":         map[string]any{"version": policy.VersionName(minor), "featureGates": set},
		"fieldValidation": "Ignore",
		"manifest":        json.RawMessage(text),
	}
	maps.Copy(members, extra)
	request, err := json.Marshal(members)
	if err != nil {
		return answer{}, err
	}
	op, ok := ops.Lookup("validate")
	if !ok {
		return answer{}, fmt.Errorf("there is no operation validate")
	}
	var a answer
	reply, failed := ops.Call(op.Number, request)
	if failed {
		return answer{}, fmt.Errorf("podfate: %s", reply)
	}
	return a, json.Unmarshal(reply, &a)
}
