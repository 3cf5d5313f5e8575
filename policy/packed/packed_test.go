package packed_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"testing"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/packed"
)

// head returns the header of a batch and room after it for count events of size bytes.
func head(magic string, version, size, count, question int, reserved uint64) []byte {
	le := binary.LittleEndian
	b := append([]byte(nil), magic...)
	b = le.AppendUint16(b, uint16(version))
	b = le.AppendUint16(b, uint16(size))
	b = le.AppendUint32(b, uint32(count))
	b = le.AppendUint32(b, uint32(question))
	b = le.AppendUint64(b, reserved)
	return append(b, make([]byte, count*size)...)
}

func TestHead(t *testing.T) {
	const plenty = 4 << 20
	invalid, limit := -int32(policy.EventInvalid.Number()), -int32(policy.LimitExceeded.Number())
	version, small := -int32(policy.UnsupportedVersion.Number()), -int32(policy.OutputTooSmall.Number())
	for _, c := range []struct {
		name  string
		batch []byte
		room  int
		want  int32
	}{
		{"no event", head("PFB1", 1, 32, 0, 0, 0), 16, 0},
		{"events", head("PFB1", 1, 32, 3, 1, 0), packed.AnswerBytes(3), 0},
		{"longer events of a newer host", head("PFB1", 1, 40, 3, 0, 0), plenty, 0},
		{"the longest event", head("PFB1", 1, 1024, 1, 0, 0), plenty, 0},
		{"the most events", head("PFB1", 1, 32, policy.MaxBatchRecords, 0, 0), plenty, 0},
		{"nothing", nil, plenty, invalid},
		{"half a header", head("PFB1", 1, 32, 0, 0, 0)[:23], plenty, invalid},
		{"another magic", head("PFR1", 1, 32, 0, 0, 0), plenty, invalid},
		{"another version", head("PFB1", 2, 32, 0, 0, 0), plenty, version},
		{"another version with other events", head("PFB1", 2, 8, 0, 0, 0), plenty, version},
		{"short events", head("PFB1", 1, 24, 1, 0, 0), plenty, invalid},
		{"events that are not aligned", head("PFB1", 1, 36, 2, 0, 0), plenty, invalid},
		{"events that are too long", head("PFB1", 1, 1032, 1, 0, 0), plenty, invalid},
		{"an unknown question", head("PFB1", 1, 32, 1, 2, 0), plenty, invalid},
		{"a number where 0 belongs", head("PFB1", 1, 32, 1, 0, 1<<63), plenty, invalid},
		{"too many events", head("PFB1", 1, 32, policy.MaxBatchRecords+1, 0, 0), plenty, limit},
		{"too many events that are not there", head("PFB1", 1, 32, 0, 0, 0)[:8:8], plenty, invalid},
		{"a byte too few", head("PFB1", 1, 32, 2, 0, 0)[:87], plenty, invalid},
		{"a byte too many", append(head("PFB1", 1, 32, 2, 0, 0), 0), plenty, invalid},
		{"no room", head("PFB1", 1, 32, 2, 0, 0), packed.AnswerBytes(2) - 1, small},
		{"no room for a header", head("PFB1", 1, 32, 0, 0, 0), 15, small},
	} {
		question, size, count, code := packed.Head(c.batch, c.room)
		if code != c.want {
			t.Errorf("%s: %d, want %d", c.name, code, c.want)
		}
		if le := binary.LittleEndian; code == 0 && (size != int(le.Uint16(c.batch[6:])) || count != int(le.Uint32(c.batch[8:])) || uint32(question) != le.Uint32(c.batch[12:])) {
			t.Errorf("%s: question %d, %d events of %d bytes", c.name, question, count, size)
		}
		answer := bytes.Repeat([]byte{0xAA}, min(c.room, plenty))
		n := packed.Eval(trainer(), c.batch, answer)
		if code < 0 && (n != code || len(bytes.Trim(answer, "\xAA")) > 0) {
			t.Errorf("%s: Eval says %d, and something was written: %v", c.name, n, len(bytes.Trim(answer, "\xAA")) > 0)
		}
		if code == 0 && int(n) != count {
			t.Errorf("%s: %d events answered, want %d", c.name, n, count)
		}
	}
}

// trainer is a Pod that restarts on 42 alone.
func trainer() *policy.Batch {
	never := policy.RestartPolicyNever
	return policy.NewBatch(&policy.PodSpec{RestartPolicy: never, Containers: []policy.Container{{
		Name: "main", RestartPolicy: &never, RestartPolicyRules: []policy.ContainerRestartRule{{
			Action: policy.ActionRestart, ExitCodes: &policy.ContainerRestartRuleOnExitCodes{Operator: policy.OperatorIn, Values: []int32{42}},
		}},
	}}}, policy.BatchOptions{Features: policy.DefaultFeatures(36), Backoff: policy.KubeletBackoff(policy.DefaultFeatures(36), 0)})
}

// TestBytes: the first example of plugins/README.md, an event that has more fields after it, and
// one that is not meaningful.
func TestBytes(t *testing.T) {
	event, err := hex.DecodeString("2a000000" + "00000200" + "03000000" + "07000000" + "e803000000000000" + "0000000000000000")
	if err != nil {
		t.Fatal(err)
	}
	const verdict = "01000000" + "01010000" + "409c000000000000" + "0000ffff" + "07000000"
	const header = "50465231" + "01001800"
	wrong := slices.Clone(event)
	wrong[4] = 1 // no container has this number
	longer := append(slices.Clone(event), 1, 2, 3, 4, 5, 6, 7, 8)
	long := slices.Clone(event)
	binary.LittleEndian.PutUint64(long[16:], 600_001) // so long a run resets the back-off
	for _, c := range []struct {
		name  string
		batch []byte
		want  string
	}{
		{"one", append(head("PFB1", 1, 32, 0, 0, 0), event...), header + "0100000000000000" + verdict},
		{"of a newer host", append(head("PFB1", 1, 40, 0, 0, 0), append(longer, longer...)...), header + "0200000000000000" + verdict + verdict},
		{"after a long run", append(head("PFB1", 1, 32, 0, 0, 0), long...), header + "0100000000000000" + "0100000001010000" + "0000000000000000" + "0000ffff" + "07000000"},
		{"wrong between right", append(head("PFB1", 1, 32, 0, 0, 0), slices.Concat(event, wrong, event)...),
			header + "0300000001000000" + verdict + "0004ffff" + "00000000" + "ffffffffffffffff" + "ffffffff" + "07000000" + verdict},
	} {
		n := (len(c.batch) - packed.HeaderBytes) / int(binary.LittleEndian.Uint16(c.batch[6:]))
		binary.LittleEndian.PutUint32(c.batch[8:], uint32(n))
		answer := make([]byte, packed.AnswerBytes(n))
		if got := packed.Eval(trainer(), c.batch, answer); int(got) != n || hex.EncodeToString(answer) != c.want {
			t.Errorf("%s: %d of %d\n got %x\nwant %s", c.name, got, n, answer, c.want)
		}
	}
}

// TestPodsInBytes: the second example of plugins/README.md, a Pod in two records whose condition
// decides.
func TestPodsInBytes(t *testing.T) {
	b := policy.NewBatch(&policy.PodSpec{Containers: []policy.Container{{Name: "main"}}}, policy.BatchOptions{
		Features: policy.DefaultFeatures(36), Job: &policy.Job{PodFailurePolicy: &policy.PodFailurePolicy{Rules: []policy.PodFailurePolicyRule{
			{Action: policy.ActionIgnore, OnPodConditions: []policy.PodConditionPattern{{Type: "DisruptionTarget", Status: "True"}}},
			{Action: policy.ActionFailJob, OnExitCodes: &policy.PodFailurePolicyOnExitCodes{Operator: policy.OperatorIn, Values: []int32{3}}},
		}}},
	})
	events, err := hex.DecodeString("89000000" + "00000400" + "00000000" + "08000000" + "0000000000000000" + "0000000000000000" +
		"03000000" + "ffff0200" + "01000000" + "09000000" + "0000000000000000" + "0100000000000000")
	if err != nil {
		t.Fatal(err)
	}
	const want = "50465231" + "01001800" + "0200000000000000" +
		"0000ffff" + "00000008" + "ffffffffffffffff" + "ffffffff" + "08000000" +
		"06000000" + "01010000" + "204e000000000000" + "ffff0000" + "09000000"
	batch := append(head("PFB1", 1, 32, 0, 1, 0), events...)
	batch[8] = 2
	answer := make([]byte, packed.AnswerBytes(2))
	if n := packed.Eval(b, batch, answer); n != 2 || hex.EncodeToString(answer) != want {
		t.Errorf("%d\n got %x\nwant %s", n, answer, want)
	}
}

// TestPartsAreOneBatch: events are answered sixteen at a time, and a Pod may go over the end of
// such a part.
func TestPartsAreOneBatch(t *testing.T) {
	b := policy.NewBatch(&policy.PodSpec{Containers: []policy.Container{{Name: "main"}}}, policy.BatchOptions{
		Features: policy.DefaultFeatures(36), Job: &policy.Job{PodFailurePolicy: &policy.PodFailurePolicy{Rules: []policy.PodFailurePolicyRule{
			{Action: policy.ActionIgnore, OnExitCodes: &policy.PodFailurePolicyOnExitCodes{Operator: policy.OperatorIn, Values: []int32{7}}},
		}}},
	})
	for n := 2; n <= 50; n++ {
		events, want := make([]policy.Event, n), make([]policy.Verdict, n)
		batch := head("PFB1", 1, 32, n, 1, 0)
		for i := range events {
			events[i] = policy.Event{ExitCode: 1, Flags: policy.EventMore, Tag: uint32(i)}
		}
		events[0].ExitCode, events[n-1].Flags = 7, 0 // the first event decides, the verdict is with the last
		for i, e := range events {
			if _, err := binary.Encode(batch[packed.HeaderBytes+32*i:], binary.LittleEndian, e); err != nil {
				t.Fatal(err)
			}
		}
		faults := b.Eval(policy.AskPods, events, want)
		answer := make([]byte, packed.AnswerBytes(n))
		got := make([]policy.Verdict, n)
		if count := packed.Eval(b, batch, answer); int(count) != n || binary.LittleEndian.Uint32(answer[12:]) != uint32(faults) {
			t.Fatalf("%d events: %d answered, %x", n, count, answer[:16])
		}
		if _, err := binary.Decode(answer[packed.AnswerHeaderBytes:], binary.LittleEndian, got); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) || policy.VerdictActions[got[n-1].Action] != string(policy.ActionIgnore) {
			t.Errorf("%d events:\n got %+v\nwant %+v", n, got, want)
		}
	}
}
