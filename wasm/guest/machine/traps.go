//go:build trap

package machine

import "strconv"

// Operations of the test build (-tags trap). They do to an instance what a fault of the core could
// do, outside of the recover in guarded, so that hosts can be tried against it. The numbers are far
// from those of package ops.
const (
	trapNilMap  = 0xF001 // writes to a nil map
	trapIndex   = 0xF002 // reads past the end of a slice
	trapStack   = 0xF003 // recurses without end
	trapMemory  = 0xF004 // keeps allocating until there is no more
	trapLoop    = 0xF005 // never returns
	trapGrow    = 0xF006 // keeps as many further MiB as the request says in decimal
	trapTattoo  = 0xF007 // keeps a copy of the request in this instance
	trapRecover = 0xF008 // panics where guarded recovers
	trapGarbage = 0xF009 // leaves 1 KiB of garbage
	trapLong    = 0xF00A // answers with 5 MiB, more than an answer may have
)

var (
	kept   [][]byte
	nilMap map[string]int
	sink   []byte
)

func trapOperation(op uint32, request []byte) (answer []byte, failed, ran bool) {
	switch op {
	case trapNilMap:
		nilMap[string(request)] = 1
	case trapIndex:
		return request[len(request)+int(op):], false, true
	case trapStack:
		return []byte(strconv.Itoa(deeper(len(request)))), false, true
	case trapMemory:
		for {
			keep(1 << 20)
		}
	case trapLoop:
		for n := uint32(1); ; n++ {
			if n == 0 {
				sink = nil
			}
		}
	case trapGrow:
		n, _ := strconv.Atoi(string(request))
		for range n {
			keep(1 << 20)
		}
	case trapTattoo:
		kept = append(kept, append([]byte(nil), request...))
	case trapRecover:
		answer, failed = guarded(func() ([]byte, bool) { return request[len(request)+1:], false })
		return answer, failed, true
	case trapGarbage:
		sink = make([]byte, 1<<10)
	case trapLong:
		long := make([]byte, 5<<20)
		for i := range long {
			long[i] = ' '
		}
		long[0], long[len(long)-1] = '{', '}'
		return long, false, true
	default:
		return nil, false, false
	}
	return []byte(`{"kept":` + strconv.Itoa(len(kept)) + `}`), false, true
}

// keep allocates n bytes, touches each page of them and holds them for good.
func keep(n int) {
	b := make([]byte, n)
	for i := 0; i < n; i += 4096 {
		b[i] = 1
	}
	kept = append(kept, b)
}

// deeper uses stack until there is none. The sum keeps the compiler from making a loop of it.
func deeper(n int) int { return deeper(n+1) + n }
