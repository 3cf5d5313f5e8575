package ops

import "github.com/podfate/podfate/policy"

// plainBytes is the length up to which plainExit looks at a request; one with a name and a reason
// has half of it.
const plainBytes = 256

// plainExit reads the exit that request describes, and its reason, if it is written as programs
// write it: an object of known members, each once, strings without escapes, integers of up to nine
// digits, and no white space but a blank after a colon or comma. It names a container, since where
// it does not the Pod decides whether it must. ok is false for every other text, right or wrong:
// that is for the parser, which has an answer to all of them, but takes twice as long for what
// every host sends all the time. A fuzz test holds that the answers are the same.
func (p *Policy) plainExit(request []byte) (e policy.Event, why string, ok bool) {
	n := len(request)
	if n < 2 || n > plainBytes || request[0] != '{' || request[n-1] != '}' {
		return e, "", false
	}
	const (
		container = 1 << iota
		exitCode
		reason
		restarts
		ranFor
	)
	seen := 0
	for i := 1; i < n; {
		name, end := plainString(request, i)
		if end+1 >= n || request[end] != ':' {
			return e, "", false
		}
		if i = end + 1; request[i] == ' ' {
			i++
		}
		member := 0
		switch string(name) {
		case "container":
			var s []byte
			member = container
			s, end = plainString(request, i)
			ref, found := p.from.object.Spec.Find(string(s))
			if !found {
				return e, "", false
			}
			e.Container = uint16(p.from.object.Spec.Number(ref))
		case "reason":
			var s []byte
			member = reason
			s, end = plainString(request, i)
			why = string(s)
		case "exitCode":
			var v int64
			member = exitCode
			v, end = plainInteger(request, i)
			e.ExitCode = int32(v)
		case "restarts":
			var v int64
			member = restarts
			v, end = plainInteger(request, i)
			e.Flags, e.History = policy.EventHistory, uint32(v)
			if v < 0 {
				return e, "", false
			}
		case "ranForMillis":
			var v int64
			member = ranFor
			v, end = plainInteger(request, i)
			e.RanFor = policy.Millis(v)
			if v < 0 {
				return e, "", false
			}
		}
		if member == 0 || seen&member != 0 || end >= n {
			return e, "", false
		}
		seen |= member
		switch request[end] {
		case '}':
			return e, why, end == n-1 && seen&(container|exitCode) == container|exitCode
		case ',':
			if i = end + 1; i < n && request[i] == ' ' {
				i++
			}
		default:
			return e, "", false
		}
	}
	return e, "", false
}

// plainString returns the text between quotes that begins at i, and the place after it: beyond the
// end of b if there is none without escapes and in ASCII.
func plainString(b []byte, i int) (s []byte, end int) {
	if i >= len(b) || b[i] != '"' {
		return nil, len(b)
	}
	for end = i + 1; end < len(b); end++ {
		switch c := b[end]; {
		case c == '"':
			return b[i+1 : end], end + 1
		case c < ' ' || c >= 0x7F || c == '\\':
			return nil, len(b)
		}
	}
	return nil, len(b)
}

// plainInteger returns the integer at i, and the place after it: the end of b if there is none of
// one to nine digits without a zero in front.
func plainInteger(b []byte, i int) (v int64, end int) {
	negative := i < len(b) && b[i] == '-'
	if negative {
		i++
	}
	for end = i; end < len(b) && b[end]-'0' <= 9; end++ {
		v = v*10 + int64(b[end]-'0')
	}
	if digits := end - i; digits == 0 || digits > 9 || b[i] == '0' && (digits > 1 || negative) {
		return 0, len(b)
	}
	if negative {
		v = -v
	}
	return v, end
}
