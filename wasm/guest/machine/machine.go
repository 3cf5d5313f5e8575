package machine

import (
	"runtime"
	"unsafe"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/policy/packed"
)

// ABIVersion is major<<16 | minor. A host that knows the major version works with every minor one
// from its own on.
const ABIVersion = 1<<16 | 1

// maxDebt is the garbage that may pile up before it is collected: an eighth of the 4 MiB at which
// Go would start its own collection, so that one never starts except within a single large call.
const maxDebt = 512 << 10

// Numbers of errors, as pf_free, pf_release and pf_eval_batch negate them.
const (
	unknownHandle = 5
	internal      = 9
	badBuffer     = 10
)

// The errors that the machine itself answers with; all others come from package ops.
const (
	errUnknownHandle = `{"error":{"code":"UNKNOWN_HANDLE","num":5,"message":"no compiled policy of this instance has the handle, or no longer"}}`
	errInternal      = `{"error":{"code":"INTERNAL","num":9,"message":"the module met an impossible state; the instance should be replaced"}}`
	errHandles       = `{"error":{"code":"LIMIT_EXCEEDED","num":6,"message":"handles: at most 4096 allowed","limit":"handles"}}`
	errBadBuffer     = `{"error":{"code":"BAD_BUFFER","num":10,"message":"the request does not lie inside a live buffer of this instance"}}`
)

// Machine is what one instance keeps between calls. The zero Machine is ready for use. It serves
// one caller at a time.
//
// Addresses and lengths are those of the ABI; none of them is believed. Answers live until the next
// call that gives one, or until Reset.
type Machine struct {
	buffers []buffer
	held    int        // bytes in buffers
	answer  []byte     // alive until the next call, because the host reads it after the export has returned
	memory  ops.Memory // what operations use again

	places   []place
	compiled int // bytes in policies

	debt      int    // estimate of the bytes allocated since the last look at stats
	collected uint64 // stats.TotalAlloc at the last collection
	stats     runtime.MemStats
}

// buffer is one block lent to the host. Go's collector does not move what it manages, so holding
// the slice pins it.
type buffer struct {
	start uintptr
	words []uint64 // words, not bytes: only these are sure to be 8-aligned
}

func (b buffer) size() int { return len(b.words) * 8 }

// place holds one policy after the other. Its handle is the generation above the place's number.
type place struct {
	policy     *ops.Policy // nil: free
	generation uint32      // of policy, or of the one to come; from 1
}

const (
	placeBits      = 12 // policy.MaxHandles of them
	lastGeneration = 1<<(31-placeBits) - 1
)

// Alloc lends the host a zeroed, 8-aligned buffer of at least n bytes and returns its address; 0 if
// n is not positive or the buffers would pass [policy.MaxBuffers] or [policy.MaxBufferBytes].
func (m *Machine) Alloc(n int) uintptr {
	if n <= 0 || n > policy.MaxBufferBytes-m.held || len(m.buffers) == policy.MaxBuffers {
		return 0
	}
	words := make([]uint64, (n+7)/8)
	b := buffer{uintptr(unsafe.Pointer(unsafe.SliceData(words))), words}
	m.buffers = append(m.buffers, b)
	m.held += b.size()
	return b.start
}

// Free takes back the buffer that starts at address start. It returns -10 if there is none, else 0.
func (m *Machine) Free(start uintptr) int32 {
	for i, b := range m.buffers {
		if b.start == start {
			last := len(m.buffers) - 1
			m.buffers[i] = m.buffers[last]
			m.buffers[last] = buffer{}
			m.buffers = m.buffers[:last]
			m.held -= b.size()
			m.owe(b.size())
			return 0
		}
	}
	return -badBuffer
}

// Bytes returns the n bytes at address start. It reports false unless they all lie inside one live
// buffer.
func (m *Machine) Bytes(start, n uintptr) ([]byte, bool) {
	for _, b := range m.buffers {
		size := uintptr(b.size())
		if start < b.start || start-b.start > size {
			continue
		}
		offset := start - b.start
		if n > size-offset {
			continue // the next buffer may begin where this one ends
		}
		all := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(b.words))), b.size())
		return all[offset : offset+n : offset+n], true
	}
	return nil, false
}

// request begins a call that gives an answer: the last one is no longer needed.
func (m *Machine) request(start, n uintptr) ([]byte, bool) {
	m.answer = nil
	return m.Bytes(start, n)
}

// Call runs operation op on the n bytes at address start. failed says that the answer is an error
// object.
func (m *Machine) Call(op uint32, start, n uintptr) (answer []byte, failed bool) {
	request, ok := m.request(start, n)
	if !ok {
		return m.keep(n, []byte(errBadBuffer), true)
	}
	if answer, failed, ran := trapOperation(op, request); ran {
		return m.keep(n, answer, failed)
	}
	m.memory.Collect = runtime.GC // between the questions of a call that asks several
	answer, failed = guarded(func() ([]byte, bool) { return m.memory.Call(op, request) })
	return m.keep(n, answer, failed)
}

// Compile keeps the policy that the n bytes at address start describe. The answer names its handle.
func (m *Machine) Compile(start, n uintptr) (answer []byte, failed bool) {
	request, ok := m.request(start, n)
	if !ok {
		return m.keep(n, []byte(errBadBuffer), true)
	}
	number := 0
	for number < len(m.places) && (m.places[number].policy != nil || m.places[number].generation > lastGeneration) {
		number++
	}
	if number == policy.MaxHandles {
		return m.keep(0, []byte(errHandles), true)
	}
	if number == len(m.places) {
		m.places = append(m.places, place{generation: 1})
	}
	to := &m.places[number]
	var p *ops.Policy
	answer, failed = guarded(func() (answer []byte, failed bool) {
		p, answer = ops.Compile(request, int64(to.generation)<<placeBits|int64(number), policy.MaxHandleBytes-m.compiled)
		return answer, p == nil
	})
	if !failed {
		to.policy = p
		m.compiled += p.Bytes()
	}
	return m.keep(n, answer, failed)
}

// policy returns the policy with this handle, nil if there is none.
func (m *Machine) policy(handle uint32) *ops.Policy {
	number := handle & (1<<placeBits - 1)
	if int(number) >= len(m.places) || m.places[number].generation != handle>>placeBits {
		return nil
	}
	return m.places[number].policy
}

// Release forgets a policy. It returns -5 if no policy has this handle, else 0.
func (m *Machine) Release(handle uint32) int32 {
	p := m.policy(handle)
	if p == nil {
		return -unknownHandle
	}
	m.places[handle&(1<<placeBits-1)].release()
	m.compiled -= p.Bytes()
	m.owe(p.Bytes())
	return 0
}

func (p *place) release() {
	p.policy = nil
	p.generation++
}

// Eval answers about the exit that the n bytes at address start describe.
func (m *Machine) Eval(handle uint32, start, n uintptr) (answer []byte, failed bool) {
	p := m.policy(handle)
	if p == nil {
		return m.keep(0, []byte(errUnknownHandle), true)
	}
	request, ok := m.request(start, n)
	if !ok {
		return m.keep(0, []byte(errBadBuffer), true)
	}
	answer, failed = guarded(func() ([]byte, bool) { return m.memory.Eval(p, request) })
	return m.keep(n, answer, failed)
}

// EvalBatch answers the packed events of inLen bytes at address in into the outLen bytes at address
// out and returns their number, or a negated error number. Both are 8-aligned and do not overlap.
// It leaves the last answer alone.
func (m *Machine) EvalBatch(handle uint32, in, inLen, out, outLen uintptr) (n int32) {
	p := m.policy(handle)
	if p == nil {
		return -unknownHandle
	}
	batch, ok := m.Bytes(in, inLen)
	answer, ok2 := m.Bytes(out, outLen)
	if !ok || !ok2 || in%8 != 0 || out%8 != 0 || in < out+outLen && out < in+inLen {
		return -badBuffer
	}
	defer func() {
		if recover() != nil {
			n = -internal
		}
	}()
	question, size, count, code := packed.Head(batch, len(answer))
	if code != 0 || size != packed.EventBytes || !littleEndian() {
		return packed.Eval(p.Batch(), batch, answer)
	}
	// Events and verdicts have the layout of the records: nothing is moved, and nothing is
	// allocated.
	events := unsafe.Slice((*policy.Event)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(batch)), packed.HeaderBytes)), count)
	verdicts := unsafe.Slice((*policy.Verdict)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(answer)), packed.AnswerHeaderBytes)), count)
	packed.PutHead(answer, count, p.Batch().Eval(question, events, verdicts))
	return int32(count)
}

// The records of a batch are as large as the structs.
var (
	_ [packed.EventBytes]byte   = [unsafe.Sizeof(policy.Event{})]byte{}
	_ [packed.VerdictBytes]byte = [unsafe.Sizeof(policy.Verdict{})]byte{}
)

// littleEndian is true in the module, and on most machines that test it.
func littleEndian() bool {
	n := uint16(1)
	return *(*byte)(unsafe.Pointer(&n)) == 1
}

// guarded runs an operation. There is always a payload: a panic becomes error INTERNAL.
func guarded(call func() ([]byte, bool)) (answer []byte, failed bool) {
	defer func() {
		if recover() != nil {
			answer, failed = []byte(errInternal), true
		}
	}()
	answer, failed = call()
	if len(answer) == 0 { // a pointer to nothing would not be an answer that a host can check
		return []byte(errInternal), true
	}
	return answer, failed
}

// keep keeps the answer to a request of n bytes alive until the next call.
func (m *Machine) keep(n uintptr, answer []byte, failed bool) ([]byte, bool) {
	m.answer = answer
	if failed && string(answer) == errInternal {
		m.memory = ops.Memory{} // a panic may have left anything there
	}
	// A document of n bytes becomes nodes, strings and an answer, and faults take more. The factors
	// only decide how often stats is read: after thousands of small requests, or one large one.
	debt := 256 + 16*int(min(n, policy.MaxRequestBytes)) + len(answer)
	if failed || n > 256 {
		debt += 4096
	}
	m.owe(debt)
	return answer, failed
}

// Reset takes back all buffers, policies and the last answer and collects. No handle that was given
// is given again.
func (m *Machine) Reset() {
	m.buffers, m.held, m.answer, m.compiled, m.debt = nil, 0, nil, 0, 0
	m.memory = ops.Memory{}
	for i := range m.places {
		if m.places[i].policy != nil {
			m.places[i].release()
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&m.stats)
	m.collected = m.stats.TotalAlloc
}

// owe adds n bytes that may have become garbage.
func (m *Machine) owe(n int) { m.debt += n }

// Settle collects if enough garbage may be there. Exports call it last, when nothing of theirs is
// needed any more.
func (m *Machine) Settle() {
	if m.debt < maxDebt {
		return
	}
	m.debt = 0
	runtime.ReadMemStats(&m.stats)
	if m.stats.TotalAlloc-m.collected < maxDebt {
		return
	}
	runtime.GC()
	m.collected = m.stats.TotalAlloc
}
