package main

// narrow replaces pairs of instructions by one that does the same. It runs last, since the passes
// before it know the code as the compiler writes it.
//
//   - Of a number that is loaded with 64 bits and cut to 32, which lie first in memory, only these
//     are loaded. This reads nothing that was not read before.
//   - A constant that is cut is written as it is cut.
//   - What is loaded without a sign has no bits above its own that would have to be cleared.
//   - A variable that is set and read next keeps its value on the stack.
func (f *function) narrow() {
	out := f.insts[:0]
	for _, i := range f.insts {
		n := len(out)
		switch {
		case i.op == opI32WrapI64 && n > 0 && narrower[out[n-1].op].op != 0:
			to := narrower[out[n-1].op]
			out[n-1].op, out[n-1].a = to.op, min(out[n-1].a, to.align)
			continue
		case i.op == opI32WrapI64 && n > 0 && out[n-1].op == opI64Const:
			out[n-1] = const32(int64(int32(out[n-1].a)))
			continue
		case i.op == opI64And && n > 1 && out[n-1].op == opI64Const && out[n-1].a > 0 && out[n-1].a == unsigned[out[n-2].op]:
			out = out[:n-1]
			continue
		case i.op == opLocalGet && n > 0 && match(out[n-1:], setLocal(i.a)):
			out[n-1].op = opLocalTee
			continue
		}
		out = append(out, i)
	}
	f.insts = out
}

// narrower are the loads of 32 bits that stand for a load of 64 bits that is cut, with the greatest
// alignment that they may promise.
var narrower = [256]struct {
	op    byte
	align int64
}{
	opI64Load:    {opI32Load, 2},
	opI64Load8U:  {opI32Load8U, 0},
	opI64Load16U: {opI32Load16U, 1},
	opI64Load32U: {opI32Load, 2},
}

// unsigned are the largest numbers that a load gives.
var unsigned = [256]int64{opI64Load8U: 1<<8 - 1, opI64Load16U: 1<<16 - 1, opI64Load32U: 1<<32 - 1}

// sharedAddresses is from how many return addresses on a function keeps what they have in common.
const sharedAddresses = 2

// localBase is the variable that shareAddresses adds. It has the same number everywhere, so that
// its uses compress.
const localBase = 2

// shareAddresses makes the return addresses of a function from one variable that has the number of
// the function, and the small number of the point to return to: a constant of five bytes at each
// call says again and again where the call is, and 4 % of what compression leaves was that. The
// variable is set each time the function is entered, before anything else.
func (f *function) shareAddresses() {
	own := func(i inst) bool {
		return i.op == opI32Const && isReturnAddress(i.a) && i.a>>pcShift-firstPC == int64(f.number)
	}
	n := 0
	for _, i := range f.insts {
		if own(i) {
			n++
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
			out = append(out, getLocal(localBase), const32(i.a&(1<<pcShift-1)), plain(opI32Or))
			continue
		case i.op >= opLocalGet && i.op <= opLocalTee && i.a >= localBase:
			i.a++
		}
		out = append(out, i)
	}
	f.insts = out
}
