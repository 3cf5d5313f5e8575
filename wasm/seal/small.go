package main

// faultName is the function of the runtime that is called where a pointer is nil.
const faultName = systemPrefix + "sigpanic"

// sharedAddresses is from how many return addresses on a function keeps what they have in common.
const sharedAddresses = 2

// localBase is the variable that shareAddresses adds. It has the same number everywhere, so that
// its uses compress.
const localBase = 2

// shareAddresses makes the return addresses of a function from one variable that has the number of
// the function, and the small number of the point to return to: a constant of five bytes at each
// call says again and again where the call is. The variable is set each time the function is
// entered, before anything else. This pass runs last, since those before know whole addresses.
//
// All checks for nil in a function return to the point behind the first. Only their call could tell
// them apart, and nobody asks: a function that has called sigpanic never goes on, and the runtime
// scans its frame as it is at the call of deferreturn, or not at all (resolveInternal of its
// unwinder). What the address still says is the size of the frame, which is the same at all of
// them.
func (f *function) shareAddresses() {
	own := func(i inst) bool {
		return i.op == opI32Const && isReturnAddress(i.a) && i.a>>pcShift-firstPC == int64(f.number)
	}
	n, fault := 0, int64(0)
	for at, i := range f.insts {
		if !own(i) {
			continue
		}
		n++
		if f.fault != 0 && match(f.insts[at+1:], inst{op: opCall, a: f.fault}) {
			if fault == 0 {
				fault = i.a
			}
			f.insts[at].a = fault
		}
	}
	if n < sharedAddresses || f.vars[0].typ != typeI32 {
		return
	}
	f.vars[0].n++
	out := make([]inst, 0, len(f.insts)+2*n+2)
	out = append(out, const32((firstPC+int64(f.number))<<pcShift), setLocal(localBase))
	for _, i := range f.insts {
		switch {
		case own(i):
			out = append(out, getLocal(localBase))
			if point := i.a & (1<<pcShift - 1); point != 0 {
				out = append(out, const32(point), plain(opI32Or))
			}
			continue
		case i.op >= opLocalGet && i.op <= opLocalTee && i.a >= localBase:
			i.a++
		}
		out = append(out, i)
	}
	f.insts = out
}
