package main

import "fmt"

// Identifiers of the sections of the binary format.
const (
	sectionCustom = iota
	sectionType
	sectionImport
	sectionFunction
	sectionTable
	sectionMemory
	sectionGlobal
	sectionExport
	sectionStart
	sectionElement
	sectionCode
	sectionData
)

// The value types that occur in a Go module.
const (
	typeI32 = 0x7F
	typeI64 = 0x7E
	typeF32 = 0x7D
	typeF64 = 0x7C
)

// The kinds of an import or export.
const (
	kindFunction = iota
	kindTable
	kindMemory
	kindGlobal
)

// fault is a malformed module. Only the reader panics with it and only [protect] recovers it: with
// an error result in each of two dozen reads the description of the format would drown.
type fault struct{ err error }

// protect turns a [fault] of f into an error.
func protect(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(fault)
			if !ok {
				panic(r)
			}
			err = f.err
		}
	}()
	f()
	return nil
}

// reader walks over a section. base is where its bytes start in the file, for messages.
type reader struct {
	what string
	data []byte
	pos  int
	base int
}

func (r *reader) fail(format string, args ...any) {
	panic(fault{fmt.Errorf("%s, byte %d: %s", r.what, r.base+r.pos, fmt.Sprintf(format, args...))})
}

func (r *reader) more() bool { return r.pos < len(r.data) }

func (r *reader) byte() byte {
	if !r.more() {
		r.fail("ends too early")
	}
	r.pos++
	return r.data[r.pos-1]
}

func (r *reader) bytes(n uint32) []byte {
	if uint64(n) > uint64(len(r.data)-r.pos) {
		r.fail("%d bytes announced, %d left", n, len(r.data)-r.pos)
	}
	r.pos += int(n)
	return r.data[r.pos-int(n) : r.pos]
}

// u32 reads an unsigned LEB128 number. The linker pads sizes to five bytes, so the shortest form is
// not demanded.
func (r *reader) u32() uint32 {
	var n uint64
	for shift := 0; ; shift += 7 {
		b := r.byte()
		n |= uint64(b&0x7F) << shift
		if b < 0x80 {
			break
		}
		if shift == 28 {
			r.fail("number longer than five bytes")
		}
	}
	if n > 1<<32-1 {
		r.fail("number %d does not fit 32 bits", n)
	}
	return uint32(n)
}

// s64 reads a signed LEB128 number of at most the given number of bits.
func (r *reader) s64(bits int) int64 {
	var n int64
	for shift := 0; ; {
		b := r.byte()
		n |= int64(b&0x7F) << shift
		shift += 7
		if b < 0x80 {
			if b&0x40 != 0 && shift < 64 {
				n |= -1 << shift
			}
			return n
		}
		if shift >= bits {
			r.fail("number longer than %d bits", bits)
		}
	}
}

// count reads the length of a vector. Each element takes at least one byte, so a longer one is
// refused at once.
func (r *reader) count() int {
	n := r.u32()
	if uint64(n) > uint64(len(r.data)-r.pos) {
		r.fail("%d elements announced in %d bytes", n, len(r.data)-r.pos)
	}
	return int(n)
}

func (r *reader) name() string { return string(r.bytes(r.u32())) }

func (r *reader) want(b byte, what string) {
	if got := r.byte(); got != b {
		r.pos--
		r.fail("%s is 0x%02x, only 0x%02x is known", what, got, b)
	}
}

func (r *reader) end() {
	if r.more() {
		r.fail("%d bytes more than its contents need", len(r.data)-r.pos)
	}
}
