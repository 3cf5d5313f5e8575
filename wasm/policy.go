package wasm

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"weak"
)

// Sizes of the packed batch; see the documentation of the package.
const (
	batchHeaderBytes  = 24
	eventBytes        = 32
	answerHeaderBytes = 16
	verdictBytes      = 24

	// maxBufferBytes is what an instance lends.
	maxBufferBytes = 16 << 20

	// MaxBatchRecords bounds the events that one call of the module answers, and those about one
	// Pod.
	MaxBatchRecords = 1 << 16

	// moreFlag in the flags of an event says that the next one is about the same Pod.
	moreFlag = 4
)

// Policy is a manifest that the instances of a host keep compiled. Each instance compiles it when
// it first meets it, so that a policy survives whatever becomes of instances. It is safe for
// concurrent use.
type Policy struct {
	// Containers are the names by number, Conditions the patterns of the Job's podFailurePolicy by
	// bit. Callers must not change them.
	Containers []string
	Conditions []Condition
	// JSON is what pf_compile answered: warnings, what the API server would drop, what was assumed
	// about the cluster. The handle in it is of no use.
	JSON []byte

	host    *Host
	self    weak.Pointer[Policy] // by which instances know it
	request []byte
	closed  atomic.Bool
}

// Condition is a pattern of Pod conditions.
type Condition struct{ Type, Status string }

// Question is what the events of a batch ask.
type Question uint32

// The questions.
const (
	AskExits Question = iota // a container exits now, while the others of its Pod run
	AskPods                  // a Pod of the Job has failed: one event for each terminated container
)

// Event is a record of a batch. The documentation of the package says what each field means.
type Event struct {
	ExitCode   int32
	Container  uint16 // its number; 0xFFFF for none
	Flags      uint16 // 1 OOMKilled, 2 history is given, 4 the next event is about the same Pod
	History    uint32 // restarts since the back-off was last reset; for Pods the failures in a row before
	Tag        uint32 // the caller's
	RanFor     int64  // in milliseconds, from 0 on
	Conditions uint64 // of a Pod
}

// Verdict is the answer to an Event.
type Verdict struct {
	Action, Status uint8
	Rule           uint16 // 0xFFFF for none
	Reason, Level  uint8
	Ignored, Flags uint8
	Wait           int64 // in milliseconds; -1 for none
	Container      uint16
	Condition      uint16
	Tag            uint32
}

// Compile prepares a policy from a request of decide without its exits. An error of the module is
// an [*Error].
func (h *Host) Compile(ctx context.Context, request []byte) (*Policy, error) {
	if len(request) > MaxRequestBytes {
		return nil, fmt.Errorf("%w: %d bytes, at most %d allowed", ErrTooLarge, len(request), MaxRequestBytes)
	}
	p := &Policy{host: h, request: append([]byte(nil), request...)}
	p.self = weak.Make(p)
	err := h.lend(ctx, func(ctx context.Context, i *instance) error {
		_, err := i.handle(ctx, p)
		return err
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Close lets the instances forget p. Calls after it are ErrClosed. A policy that is not closed is
// forgotten when it is garbage.
func (p *Policy) Close() { p.closed.Store(true) }

// Eval answers about one exit, in JSON; see pf_eval. An error of the module is an [*Error].
func (p *Policy) Eval(ctx context.Context, event []byte) (answer []byte, err error) {
	if len(event) > MaxRequestBytes {
		return nil, fmt.Errorf("%w: %d bytes, at most %d allowed", ErrTooLarge, len(event), MaxRequestBytes)
	}
	err = p.lend(ctx, func(ctx context.Context, i *instance, handle uint32) error {
		if err := i.place(ctx, event); err != nil {
			return err
		}
		i.stack = [5]uint64{uint64(handle), uint64(i.buffer), uint64(len(event))}
		a, err := i.answer(ctx, i.evalFn)
		if err != nil {
			return err
		}
		if a.Failed {
			return refusal(a.JSON, true)
		}
		answer = a.JSON
		return nil
	})
	return answer, err
}

// EvalBatch answers any number of events in their order into verdicts and returns how many have a
// status: an invalid event fails alone. What one call of the module does not take
// ([MaxBatchRecords]) is answered in several, the events of one failed Pod in one. A Pod of more
// events, and verdicts shorter than events, are an [*Error] of kind ErrLimit. After an error
// verdicts mean nothing.
func (p *Policy) EvalBatch(ctx context.Context, q Question, events []Event, verdicts []Verdict) (faults int, err error) {
	if len(verdicts) < len(events) {
		return 0, tooSmall(len(verdicts), len(events))
	}
	ends, err := cut(len(events), MaxBatchRecords, func(k int) bool { return q == AskPods && events[k].Flags&moreFlag != 0 })
	if err != nil {
		return 0, err
	}
	start := 0
	for _, end := range ends {
		wrong, err := p.evalPart(ctx, q, events[start:end], verdicts[start:end])
		if err != nil {
			return 0, err
		}
		faults += wrong
		start = end
	}
	return faults, nil
}

// evalPart is EvalBatch for what one call of the module takes.
func (p *Policy) evalPart(ctx context.Context, q Question, events []Event, verdicts []Verdict) (faults int, err error) {
	in, out := batchHeaderBytes+len(events)*eventBytes, answerHeaderBytes+len(events)*verdictBytes
	err = p.lend(ctx, func(ctx context.Context, i *instance, handle uint32) error {
		b, err := i.batch(ctx, handle, in, out, func(b []byte) { packEvents(b, q, events) })
		if err != nil {
			return err
		}
		faults, err = unpackVerdicts(b, events, verdicts)
		return err
	})
	return faults, err
}

// EvalPacked answers a batch that is packed already into answer and returns the number of its
// events, of which there may be as many as for [Policy.EvalBatch]. An error of the module is an
// [*Error].
func (p *Policy) EvalPacked(ctx context.Context, batch, answer []byte) (n int, err error) {
	count, size, whole := packedSize(batch)
	if !whole || count <= MaxBatchRecords {
		return p.evalPacked(ctx, batch, answer)
	}
	if len(answer) < answerHeaderBytes+count*verdictBytes {
		return 0, tooSmall((len(answer)-answerHeaderBytes)/verdictBytes, count)
	}
	le := binary.LittleEndian
	record := func(k int) []byte { return batch[batchHeaderBytes+k*size:][:size] }
	most := min(MaxBatchRecords, (maxBufferBytes-batchHeaderBytes-answerHeaderBytes-8)/(size+verdictBytes))
	pods := Question(le.Uint32(batch[12:])) == AskPods
	ends, err := cut(count, most, func(k int) bool { return pods && le.Uint16(record(k)[6:])&moreFlag != 0 })
	if err != nil {
		return 0, err
	}
	start, faults := 0, uint32(0)
	for _, end := range ends {
		part := append(batch[:batchHeaderBytes:batchHeaderBytes], batch[batchHeaderBytes+start*size:batchHeaderBytes+end*size]...)
		le.PutUint32(part[8:], uint32(end-start))
		verdicts := make([]byte, answerHeaderBytes+(end-start)*verdictBytes)
		if _, err := p.evalPacked(ctx, part, verdicts); err != nil {
			return 0, err
		}
		faults += le.Uint32(verdicts[12:])
		copy(answer, verdicts[:answerHeaderBytes])
		copy(answer[answerHeaderBytes+start*verdictBytes:], verdicts[answerHeaderBytes:])
		start = end
	}
	le.PutUint32(answer[8:], uint32(count))
	le.PutUint32(answer[12:], faults)
	return count, nil
}

// evalPacked is EvalPacked for what one call of the module takes, and for what it refuses.
func (p *Policy) evalPacked(ctx context.Context, batch, answer []byte) (n int, err error) {
	out := min(len(answer), answerHeaderBytes+MaxBatchRecords*verdictBytes)
	if most := maxBufferBytes - out - 8; len(batch) > most {
		return 0, fmt.Errorf("%w: %d bytes, at most %d allowed", ErrTooLarge, len(batch), most)
	}
	err = p.lend(ctx, func(ctx context.Context, i *instance, handle uint32) error {
		b, err := i.batch(ctx, handle, len(batch), out, func(b []byte) { copy(b, batch) })
		n = copy(answer, b)
		if err == nil {
			n = int(binary.LittleEndian.Uint32(b[8:]))
		}
		return err
	})
	return n, err
}

// packedSize returns how many records of which size a batch says it has, and whether they are all
// there and nothing else is.
func packedSize(batch []byte) (count, size int, whole bool) {
	if len(batch) < batchHeaderBytes {
		return 0, 0, false
	}
	size, count = int(binary.LittleEndian.Uint16(batch[6:])), int(binary.LittleEndian.Uint32(batch[8:]))
	return count, size, size >= eventBytes && (len(batch)-batchHeaderBytes)/size == count && (len(batch)-batchHeaderBytes)%size == 0
}

// cut returns where the calls end that answer count events, at least one call of at most most
// events each. more reports whether the event after k is about the same Pod, which stays in one
// call.
func cut(count, most int, more func(k int) bool) (ends []int, err error) {
	for start := 0; ; start = ends[len(ends)-1] {
		if count-start <= most {
			return append(ends, count), nil
		}
		end := start + most
		for end > start && more(end-1) {
			end--
		}
		if end == start {
			return nil, (&Error{
				Code: "LIMIT_EXCEEDED", Num: 6, Limit: "batchRecords",
				Message: fmt.Sprintf("batchRecords: more than %d events from event %d on are about one Pod, at most %d allowed", most, start, most),
			}).of(true)
		}
		ends = append(ends, end)
	}
}

func tooSmall(room, events int) error {
	return (&Error{Code: "OUTPUT_TOO_SMALL", Num: 11, Message: fmt.Sprintf("room for %d verdicts on %d events", max(room, 0), events)}).of(true)
}

// lend is [Host.lend] with the handle of p.
func (p *Policy) lend(ctx context.Context, use func(context.Context, *instance, uint32) error) error {
	return p.host.lend(ctx, func(ctx context.Context, i *instance) error {
		handle, err := i.handle(ctx, p)
		if err != nil {
			return err
		}
		return use(ctx, i, handle)
	})
}

// batch runs pf_eval_batch with in bytes that fill writes and room for out bytes. It returns a view
// of the answer, good until the next call.
func (i *instance) batch(ctx context.Context, handle uint32, in, out int, fill func([]byte)) ([]byte, error) {
	at := (in + 7) &^ 7 // of the answer, after the batch
	if err := i.reserve(ctx, at+out); err != nil {
		return nil, err
	}
	view, ok := i.memory.Read(i.buffer, uint32(in))
	if !ok {
		return nil, fmt.Errorf("%w: the buffer at %d of %d bytes lies outside the memory", ErrMalformed, i.buffer, i.capacity)
	}
	fill(view)
	answer := i.buffer + uint32(at)
	i.stack = [5]uint64{uint64(handle), uint64(i.buffer), uint64(in), uint64(answer), uint64(out)}
	if err := i.batchFn.CallWithStack(ctx, i.stack[:]); err != nil {
		return nil, i.trapped(ctx, err)
	}
	n := int(int32(i.stack[0]))
	if n < 0 {
		i.suspect = n == -9
		return nil, batchError(-n)
	}
	used := answerHeaderBytes + n*verdictBytes
	view, ok = i.memory.Read(answer, uint32(out))
	if !ok || used > out || string(view[:8]) != "PFR1\x01\x00\x18\x00" || int(binary.LittleEndian.Uint32(view[8:])) != n {
		return nil, fmt.Errorf("%w: an answer to %d events that is none", ErrMalformed, n)
	}
	return view[:used], nil
}

// batchError is what a negated error number stands for.
func batchError(number int) error {
	codes := map[int]string{
		4: "EVENT_INVALID", 5: "UNKNOWN_HANDLE", 6: "LIMIT_EXCEEDED", 8: "UNSUPPORTED_VERSION", 9: "INTERNAL", 10: "BAD_BUFFER", 11: "OUTPUT_TOO_SMALL",
	}
	e := &Error{Code: codes[number], Num: number, Message: "the batch was not answered"}
	if number == 6 {
		e.Limit = "batchRecords"
	}
	return e.of(true)
}

func packEvents(b []byte, q Question, events []Event) {
	le := binary.LittleEndian
	copy(b, "PFB1\x01\x00\x20\x00")
	le.PutUint32(b[8:], uint32(len(events)))
	le.PutUint32(b[12:], uint32(q))
	le.PutUint64(b[16:], 0)
	b = b[batchHeaderBytes:]
	for k := range events {
		e, r := &events[k], b[k*eventBytes:][:eventBytes]
		le.PutUint32(r, uint32(e.ExitCode))
		le.PutUint16(r[4:], e.Container)
		le.PutUint16(r[6:], e.Flags)
		le.PutUint32(r[8:], e.History)
		le.PutUint32(r[12:], e.Tag)
		le.PutUint64(r[16:], uint64(e.RanFor))
		le.PutUint64(r[24:], e.Conditions)
	}
}

// unpackVerdicts reads an answer and checks that it is one to these events.
func unpackVerdicts(b []byte, events []Event, verdicts []Verdict) (faults int, err error) {
	le := binary.LittleEndian
	if int(le.Uint32(b[8:])) != len(events) {
		return 0, fmt.Errorf("%w: %d of %d events are answered", ErrMalformed, le.Uint32(b[8:]), len(events))
	}
	faults = int(le.Uint32(b[12:]))
	b = b[answerHeaderBytes:]
	for k := range verdicts {
		r := b[k*verdictBytes:][:verdictBytes]
		verdicts[k] = Verdict{
			Action: r[0], Status: r[1], Rule: le.Uint16(r[2:]), Reason: r[4], Level: r[5], Ignored: r[6], Flags: r[7],
			Wait: int64(le.Uint64(r[8:])), Container: le.Uint16(r[16:]), Condition: le.Uint16(r[18:]), Tag: le.Uint32(r[20:]),
		}
		if verdicts[k].Tag != events[k].Tag {
			return 0, fmt.Errorf("%w: verdict %d has the tag of another event", ErrMalformed, k)
		}
	}
	return faults, nil
}

// compiled is what an instance has compiled. The pointers are weak, so that a policy that nobody
// uses is not kept.
type compiled struct {
	handles map[weak.Pointer[Policy]]uint32
	sweepAt int // look for policies that are closed or gone when there are so many
}

// handle returns the handle of p on i, which compiles it if it has not yet, or has been asked to
// forget it.
func (i *instance) handle(ctx context.Context, p *Policy) (uint32, error) {
	if p.closed.Load() {
		return 0, ErrClosed
	}
	if handle, ok := i.policies.handles[p.self]; ok {
		return handle, nil
	}
	if len(i.policies.handles) >= i.policies.sweepAt {
		if err := i.forget(ctx, func(q *Policy) bool { return q == nil || q.closed.Load() }); err != nil {
			return 0, err
		}
		i.policies.sweepAt = 2*len(i.policies.handles) + 16
	}
	answer, err := i.compile(ctx, p)
	if full := (*Error)(nil); asError(err, &full) && (full.Limit == "handles" || full.Limit == "handleBytes") && len(i.policies.handles) > 0 {
		if err := i.forget(ctx, func(*Policy) bool { return true }); err != nil {
			return 0, err
		}
		answer, err = i.compile(ctx, p)
	}
	if err != nil {
		return 0, err
	}
	var head struct {
		Handle     uint32
		Containers []string
		Conditions []Condition
	}
	if err := json.Unmarshal(answer.JSON, &head); err != nil || head.Handle == 0 {
		return 0, fmt.Errorf("%w: no handle in %.100s", ErrMalformed, answer.JSON)
	}
	if p.JSON == nil { // only Compile sees it so, before anyone else has p
		p.JSON, p.Containers, p.Conditions = answer.JSON, head.Containers, head.Conditions
	}
	if i.policies.handles == nil {
		i.policies.handles = map[weak.Pointer[Policy]]uint32{}
	}
	i.policies.handles[p.self] = head.Handle
	return head.Handle, nil
}

func asError(err error, to **Error) bool {
	e, ok := err.(*Error)
	*to = e
	return ok
}

func (i *instance) compile(ctx context.Context, p *Policy) (Answer, error) {
	if err := i.place(ctx, p.request); err != nil {
		return Answer{}, err
	}
	i.stack = [5]uint64{uint64(i.buffer), uint64(len(p.request))}
	answer, err := i.answer(ctx, i.compileFn)
	if err == nil && answer.Failed {
		err = refusal(answer.JSON, false)
	}
	return answer, err
}

// forget releases the policies that which chooses; nil stands for one that is garbage.
func (i *instance) forget(ctx context.Context, which func(*Policy) bool) error {
	for key, handle := range i.policies.handles {
		if !which(key.Value()) {
			continue
		}
		i.stack[0] = uint64(handle)
		if err := i.releaseFn.CallWithStack(ctx, i.stack[:]); err != nil {
			return i.trapped(ctx, err)
		}
		if result := int32(i.stack[0]); result != 0 {
			return fmt.Errorf("%w: pf_release said %d to a live policy", ErrMalformed, result)
		}
		delete(i.policies.handles, key)
	}
	return nil
}
