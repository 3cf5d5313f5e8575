package cli

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/podfate/podfate/policy/manifest"
	"github.com/spf13/pflag"
)

// questionFlag adds the flag with the whole question in short, unless the verb takes it already.
func questionFlag(flags *pflag.FlagSet, example string) *string {
	if flags.Lookup("question") != nil {
		return new(string)
	}
	return flags.String("question", "", "the question in short, as in links and on the page: "+example)
}

// short reads flags whose texts are clauses of a question in short, all of one kind, and returns
// the member of the request that they make; nil for no texts. The core reads the same shorthand;
// here it says which flag is wrong.
func short(flag, member string, texts []string) (json.RawMessage, error) {
	for _, text := range texts {
		read, faults := manifest.ReadShort(text)
		if len(faults) > 0 {
			f := faults[0]
			return nil, fmt.Errorf("--%s %s: %s; possible: %s", flag, strconv.Quote(text), f.Detail, strings.Join(f.Allowed, "; "))
		}
		if first := read.Members.First(); first.Key() != member || first.Next().Exists() {
			return nil, fmt.Errorf("--%s %s: is not about %s; possible: %s", flag, strconv.Quote(text), member, strings.Join(manifest.ShortAllowed(), "; "))
		}
	}
	if len(texts) == 0 {
		return nil, nil
	}
	read, faults := manifest.ReadShort(strings.Join(texts, "\n"))
	if len(faults) > 0 { // each is right, so they are too long together
		return nil, fmt.Errorf("--%s: %s", flag, faults[0].Detail)
	}
	return json.RawMessage(read.Members.Get(member).Raw()), nil
}
