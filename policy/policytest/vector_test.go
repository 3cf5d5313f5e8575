package policytest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/policy/policytest"
)

// TestVectors makes the small set twice and looks whether everything that a runner should meet is
// in it.
func TestVectors(t *testing.T) {
	var once bytes.Buffer
	line, err := policytest.WriteVectors(&once, true)
	if err != nil {
		t.Fatal(err)
	}
	if !testing.Short() {
		var twice bytes.Buffer
		if again, err := policytest.WriteVectors(&twice, true); err != nil || again != line || !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Errorf("a second time: %v, %v, first %v", err, again, line)
		}
	}
	classes, numbers, exports := map[string]int{}, map[string]int{}, map[string]int{}
	for text := range strings.Lines(once.String()) {
		var v policytest.Vector
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		class, _, _ := strings.Cut(v.ID, "/")
		classes[class]++
		exports[v.Do]++
		if v.A == "trap" || v.A == "no buffer" || strings.HasPrefix(v.A, "flag") {
			t.Errorf("%s: %s", v.ID, v.A)
		}
		var payload struct{ Error struct{ Num int } }
		if json.Unmarshal([]byte(v.A), &payload) == nil && payload.Error.Num != 0 {
			numbers[fmt.Sprint(payload.Error.Num)]++
		} else if strings.HasPrefix(v.A, "-") {
			numbers[v.A[1:]]++
		}
	}
	for _, class := range strings.Fields("scenario world operation policy batch pods eval release malformed utf8 escape number limit bomb handle buffer header record sequence") {
		if classes[class] == 0 {
			t.Errorf("nothing of the class %s", class)
		}
	}
	for _, op := range ops.Table() {
		if classes[op.Name] == 0 && op.Name != "explain" { // which is asked about every other request
			t.Errorf("generate.go makes no requests of the operation %s: there is no class of this name", op.Name)
		}
	}
	for number := 1; number <= 12; number++ {
		if n := numbers[fmt.Sprint(number)]; (n == 0) != (number == 9) { // 9 is a bug, and nothing here may meet one
			t.Errorf("%d answers with error number %d", n, number)
		}
	}
	for _, export := range strings.Fields("new write pf_alloc pf_free pf_call pf_compile pf_release pf_eval pf_eval_batch pf_reset") {
		if exports[export] == 0 {
			t.Errorf("%s is never called", export)
		}
	}
	t.Logf("%s: %v", line, classes)
}

// TestReplayFindsWhatDiffers holds that a runner on this player cannot pass by not looking.
func TestReplayFindsWhatDiffers(t *testing.T) {
	const version = `{"id":"a","do":"new","a":"65537"}` + "\n"
	cases := []struct {
		name, vectors string
		count, wrong  int
		err           bool
	}{
		{"right", version + `{"id":"b","do":"pf_free","x":[1],"a":"-10"}`, 2, 0, false},
		{"another answer", version + `{"id":"b","do":"pf_free","x":[1],"a":"0"}`, 2, 1, false},
		{"another digest", version + `{"id":"b","do":"pf_free","x":[1],"d":"00"}`, 2, 1, false},
		{"export that is not there", version + `{"id":"b","do":"pf_fly","a":"0"}`, 2, 1, false},
		{"address of no buffer", version + `{"id":"b","do":"pf_free","x":["0+0"],"a":"0"}`, 1, 0, true},
		{"no JSON", version + `{`, 1, 0, true},
		{"request of text without a count", version + `{"id":"b","do":"pf_compile","r":["a","b"]}`, 1, 0, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			player := policytest.Player{Make: policytest.NewNative}
			line, err := player.Replay(strings.NewReader(c.vectors), func(string) {})
			if line.Count != c.count || line.Mismatches != c.wrong || (err != nil) != c.err {
				t.Errorf("%v, %v", line, err)
			}
		})
	}
}
