package packed

import "github.com/podfate/podfate/policy"

const (
	// HeaderBytes, EventBytes, AnswerHeaderBytes and VerdictBytes are the sizes of version 1.
	HeaderBytes       = 24
	EventBytes        = 32
	AnswerHeaderBytes = 16
	VerdictBytes      = 24

	batchMagic   = 'P' | 'F'<<8 | 'B'<<16 | '1'<<24
	answerMagic  = 'P' | 'F'<<8 | 'R'<<16 | '1'<<24
	batchVersion = 1
	// maxEventBytes bounds the record of a newer host.
	maxEventBytes = 1024
)

// AnswerBytes returns how long the answer to n events is.
func AnswerBytes(n int) int { return AnswerHeaderBytes + n*VerdictBytes }

// Head reads the header of a batch whose answer will have room bytes. code is 0, or a negated error
// number:
//
//	EVENT_INVALID         the header is malformed, or disagrees with the length
//	LIMIT_EXCEEDED        more than [policy.MaxBatchRecords] events
//	UNSUPPORTED_VERSION   another version of the batch
//	OUTPUT_TOO_SMALL      room is less than [AnswerBytes]
func Head(batch []byte, room int) (question policy.Question, size, count int, code int32) {
	if len(batch) < HeaderBytes || u32(batch) != batchMagic {
		return 0, 0, 0, -eventInvalid
	}
	if u16(batch[4:]) != batchVersion {
		return 0, 0, 0, -unsupportedVersion
	}
	size, question = int(u16(batch[6:])), policy.Question(u32(batch[12:]))
	count = int(min(u32(batch[8:]), policy.MaxBatchRecords+1)) // an int may have 32 bits
	switch {
	case size < EventBytes || size > maxEventBytes || size%8 != 0 || question > policy.AskPods || u64(batch[16:]) != 0:
		code = -eventInvalid
	case count > policy.MaxBatchRecords:
		code = -limitExceeded
	case len(batch) != HeaderBytes+count*size:
		code = -eventInvalid
	case room < AnswerBytes(count):
		code = -outputTooSmall
	}
	return question, size, count, code
}

// PutHead writes the header of an answer.
func PutHead(answer []byte, count, faults int) {
	put32(answer, answerMagic)
	put32(answer[4:], batchVersion|VerdictBytes<<16)
	put32(answer[8:], uint32(count))
	put32(answer[12:], uint32(faults))
}

// Eval answers the events in batch into answer and returns their number. It allocates nothing and
// keeps neither. The two must not overlap. A negated error number, see [Head], means that nothing
// was written. An invalid event fails alone: its verdict has a status.
func Eval(b *policy.Batch, batch, answer []byte) int32 {
	question, size, count, code := Head(batch, len(answer))
	if code != 0 {
		return code
	}
	faults := 0
	var events [16]policy.Event
	var verdicts [16]policy.Verdict
	var pod policy.PodSoFar
	for from := 0; from < count; from += len(events) {
		n := min(count-from, len(events))
		for i := range n {
			in, e := batch[HeaderBytes+(from+i)*size:][:EventBytes], &events[i]
			e.ExitCode = int32(u32(in))
			e.Container, e.Flags = u16(in[4:]), policy.EventFlags(u16(in[6:]))
			e.History, e.Tag = u32(in[8:]), u32(in[12:])
			e.RanFor = policy.Millis(u64(in[16:]))
			e.Conditions = u64(in[24:])
		}
		if question == policy.AskExits {
			faults += b.Exits(events[:n], verdicts[:n])
		} else {
			faults += b.Pods(events[:n], verdicts[:n], &pod, from+n == count)
		}
		for i := range n {
			out, v := answer[AnswerHeaderBytes+(from+i)*VerdictBytes:][:VerdictBytes], &verdicts[i]
			put32(out, uint32(v.Action)|uint32(v.Status)<<8|uint32(v.Rule)<<16)
			put32(out[4:], uint32(v.Reason)|uint32(v.Level)<<8|uint32(v.Ignored)<<16|uint32(v.Flags)<<24)
			put32(out[8:], uint32(v.Wait))
			put32(out[12:], uint32(v.Wait>>32))
			put32(out[16:], uint32(v.Container)|uint32(v.Condition)<<16)
			put32(out[20:], v.Tag)
		}
	}
	PutHead(answer, count, faults)
	return int32(count)
}

// The numbers of the errors above.
const (
	eventInvalid       = 4
	limitExceeded      = 6
	unsupportedVersion = 8
	outputTooSmall     = 11
)

func u16(b []byte) uint16 { return uint16(b[0]) | uint16(b[1])<<8 }

func u32(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

func u64(b []byte) uint64 { return uint64(u32(b)) | uint64(u32(b[4:]))<<32 }

func put32(b []byte, n uint32) {
	b[0], b[1], b[2], b[3] = byte(n), byte(n>>8), byte(n>>16), byte(n>>24)
}
