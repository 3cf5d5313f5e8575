package policytest

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/ops"
)

// Without proposals nothing moves: the member that is empty changes no byte of an answer, and all
// proposals together change nothing about a manifest that has none of their words. Cases are exits
// and simulations; PODFATE_LONG makes them ten million.
func TestWithoutTheWordsOfProposalsNothingMoves(t *testing.T) {
	cases := 100_000
	switch {
	case os.Getenv("PODFATE_LONG") != "":
		cases = 10_000_000
	case testing.Short():
		cases = 20_000
	}
	all := `"proposals":{`
	for i, p := range policy.ProposalList() {
		if i > 0 {
			all += ","
		}
		all += `"` + p.Name + `":{}`
	}
	all += "},"
	const empty = `"proposals":{},`
	r := rand.New(rand.NewPCG(14, 10))
	compared, answered, simulated, most := 0, 0, 0, 100
	for compared < cases {
		number, request := uint32(3), RandomDecide(r, most)
		if r.IntN(8) == 0 {
			number, request = 4, RandomSimulate(r)
		}
		today, failed := ops.Call(number, []byte(request("")))
		none, failedToo := ops.Call(number, []byte(request(empty)))
		if failed {
			compared++ // what is refused has places in another text
			if !failedToo || code(today) != code(none) {
				t.Fatalf("%s\n%s\n%s", request(""), today, none)
			}
			continue
		}
		if none = bytes.Replace(none, []byte(`,"proposals":{}`), nil, 1); string(placeless(today)) != string(placeless(none)) {
			t.Fatalf("%s\n%s\n%s", request(""), today, none)
		}
		with, failedToo := ops.Call(number, []byte(request(all)))
		name := "decisions"
		if number == 4 {
			name = "timeline"
			simulated++
			compared++
		} else {
			compared += most
		}
		answered++
		if failedToo || string(member(today, name)) != string(member(with, name)) {
			t.Fatalf("%s\n%s\n%s", request(""), today, with)
		}
	}
	t.Logf("%d cases, %d requests answered, %d of them simulations", compared, answered, simulated)
	if answered < cases/most/4 || simulated == 0 {
		t.Error("too few are answered")
	}
}

func code(answer []byte) string {
	var a struct{ Error struct{ Code string } }
	_ = json.Unmarshal(answer, &a)
	return a.Error.Code
}

func member(answer []byte, name string) json.RawMessage {
	var a map[string]json.RawMessage
	_ = json.Unmarshal(answer, &a)
	return a[name]
}

// placeless is an answer without its columns, which a longer request moves.
func placeless(answer []byte) []byte {
	var out []byte
	for {
		i := bytes.Index(answer, []byte(`"column":`))
		if i < 0 {
			return append(out, answer...)
		}
		i += len(`"column":`)
		out = append(out, answer[:i]...)
		for answer = answer[i:]; len(answer) > 0 && answer[0] >= '0' && answer[0] <= '9'; answer = answer[1:] {
		}
	}
}
