package diff

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/upstream/published"
)

// verdicts counts how the verdicts on published files agree, with the release's default gates
// by default.
type verdicts struct {
	files, documents   int
	accepted           int // by the API server, and here
	refused            int // by the API server
	same               int // of them with the same messages here
	notChecked         int // of them refused for fields that are not checked, as the answer says
	differing, refusal int // of them with other messages; accepted ones that are refused here
}

// publishedFiles compares whole verdicts on the files of policy/upstream/published: not only what
// is said about the fields that are checked, but whether the API server takes the manifest.
func (c *comparison) publishedFiles(t *testing.T) {
	set := gateSets(c.release.Minor())[0]
	if err := c.release.SetGates(set); err != nil {
		t.Fatal(err)
	}
	documents, files, err := published.Documents()
	if err != nil {
		t.Fatal(err)
	}
	v := &c.verdicts
	v.files, v.documents = files, len(documents)
	shown := 0
	for _, d := range documents {
		theirs := c.release.Admit(d.JSON, false)
		ours, err := validate(c.release.Minor(), set, d.JSON, nil)
		if err != nil {
			t.Errorf("%s: %v", d.Where, err)
			continue
		}
		refused := theirs.DecodeError != "" || len(theirs.Faults) > 0
		switch {
		case !refused && len(ours.Faults) == 0:
			v.accepted++
		case !refused:
			v.refusal++
			c.differ(t, &shown, d.Where, ours.Faults[0].Message, "valid")
		default:
			v.refused++
			c.judgeFile(t, &shown, d, theirs, ours)
		}
	}
	if c.release.Minor() >= 36 { // of which docs/exactness.md speaks
		page, err := os.ReadFile("../../../docs/exactness.md")
		says := fmt.Sprintf("each refuse %d of them. Podfate refuses %d of these with the same messages,", v.refused, v.same)
		if err != nil || !strings.Contains(strings.Join(strings.Fields(string(page)), " "), says) {
			t.Errorf("docs/exactness.md does not say: %s (%v)", says, err)
		}
	}
	fmt.Printf("%s%s: %d files, %d documents: %d accepted, %d refused (%d with the same messages, %d for fields that are named as not checked, %d with other messages), %d refused here alone\n",
		PublishedPrefix, policy.VersionName(c.release.Minor()), v.files, v.documents, v.accepted, v.refused, v.same, v.notChecked, v.differing, v.refusal)
}

// judgeFile compares the messages about a document that the API server refuses.
func (c *comparison) judgeFile(t *testing.T, shown *int, d published.Document, theirs Admission, ours answer) {
	v := &c.verdicts
	if theirs.DecodeError != "" {
		if strings.Contains(theirs.DecodeError, ours.Message) && ours.Message != "" {
			v.same++
		} else {
			v.differing++
			c.differ(t, shown, d.Where+": decoding", ours.Message, theirs.DecodeError)
		}
		return
	}
	var want, messages []string
	for _, f := range theirs.Faults {
		want = append(want, f.Text)
	}
	for _, f := range ours.Faults {
		text := f.Message
		if text == "" {
			for _, w := range want {
				if drawn(f.Path, f.Detail, w) {
					text = w
				}
			}
		}
		messages = append(messages, text)
	}
	want, messages = settled(want), settled(messages)
	if slices.Equal(want, messages) {
		v.same++
		return
	}
	rest := slices.DeleteFunc(slices.Clone(want), func(text string) bool { return slices.Contains(messages, text) })
	named := len(messages)+len(rest) == len(want)
	for _, text := range rest {
		named = named && slices.ContainsFunc(ours.NotChecked, func(path string) bool { return strings.HasPrefix(text, path) })
	}
	if named {
		v.notChecked++
		t.Logf("%s: not checked: %s", d.Where, rest[0])
		return
	}
	v.differing++
	us, them := firstDifference(messages, want)
	c.differ(t, shown, d.Where, us, them)
}
