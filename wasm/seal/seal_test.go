package main

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
)

// parts are the sections of a small module as the linker of Go would write it. A test changes one
// of them.
type parts map[byte][]byte

// linked is a module with three imports and one function, which is _initialize and in the table.
func linked() parts {
	return parts{
		sectionType: encodeTypes([]signature{
			{"", ""}, {"", i32x1}, {i32x1, ""}, {i32x4, i32x1}, {i32x2, i32x1}}),
		sectionImport: join(uleb(3),
			imported("sched_yield", 1), imported("proc_exit", 2), imported("fd_write", 3)),
		sectionFunction: {1, 0},
		sectionTable:    {1, 0x70, 0, 4},
		sectionMemory:   {1, 0, 1},
		sectionGlobal:   {1, typeI64, 1, opI64Const, 0, opEnd},
		sectionExport: encodeExports([]export{
			{"memory", kindMemory, 0}, {"_initialize", kindFunction, 3}, {"pf_reset", kindFunction, 3}}),
		sectionElement: {1, 0, opI32Const, 0, opEnd, 2, 3, 0},
		sectionCode:    join(uleb(1), body(0, nil)),
		sectionData:    dataAt(diagStart + diagBytes),
	}
}

func imported(name string, typ byte) []byte {
	return join(vector(wasiModule), vector(name), []byte{kindFunction, typ})
}

func dataAt(offset int64) []byte {
	return join([]byte{1, 0}, i32Const(offset), []byte{opEnd}, vector(string(testTable())+"end"))
}

// file puts the sections in order, with the custom sections of the linker around them.
func (p parts) file() []byte {
	file := join(header, section(sectionCustom, vector("go:buildid"), []byte("x")))
	for _, id := range slices.Sorted(maps.Keys(p)) {
		file = append(file, section(id, p[id])...)
	}
	return append(file, section(sectionCustom, vector("producers"), []byte("y"))...)
}

func TestSeal(t *testing.T) {
	sealed, err := seal(linked().file())
	if err != nil {
		t.Fatal(err)
	}
	m, err := parse(sealed, true)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.imports) != 0 || len(m.functions) != 5 || len(m.bodies) != 5 || m.nGlobals != 4 {
		t.Errorf("%d imports, %d functions, %d bodies, %d globals", len(m.imports), len(m.functions), len(m.bodies), m.nGlobals)
	}
	if want := []uint32{1, 2, 3, 0, 0}; !slices.Equal(m.functions, want) {
		t.Errorf("types of the functions are %v, want %v: the imports come first, in their order, the unpacking last", m.functions, want)
	}
	if len(m.custom) != 1 || string(m.custom[customName]) != identity {
		t.Errorf("custom sections %q, want only %s", m.custom, customName)
	}
	if again, _ := seal(linked().file()); !bytes.Equal(again, sealed) {
		t.Error("sealing twice gave different bytes")
	}
	if _, err := seal(sealed); !errors.Is(err, errSealed) {
		t.Errorf("sealing a sealed module: %v, want %v", err, errSealed)
	}
}

func TestSealRefuses(t *testing.T) {
	with := func(id byte, contents ...[]byte) []byte {
		p := linked()
		p[id] = join(contents...)
		return p.file()
	}
	without := func(id byte) []byte {
		p := linked()
		delete(p, id)
		return p.file()
	}
	exports := func(e ...export) []byte { return with(sectionExport, encodeExports(e)) }
	memory, start := export{"memory", kindMemory, 0}, export{"_initialize", kindFunction, 3}
	good := linked().file()

	cases := []struct {
		name, want string
		file       []byte
	}{
		{"empty file", "does not start", nil},
		{"another version of the format", "does not start", []byte("\x00asm\x02\x00\x00\x00")},
		{"a component", "does not start", []byte("\x00asm\x0d\x00\x01\x00")},
		{"only a header", "missing", header},
		{"import nobody knows", "unknown import", with(sectionImport, uleb(1), imported("path_open", 1))},
		{"import of another module", "unknown import", with(sectionImport, uleb(1), vector("env"), vector("sched_yield"), []byte{0, 1})},
		{"import with a wrong signature", "signature", with(sectionImport, uleb(1), imported("fd_write", 4))},
		{"import of a memory", "only functions", with(sectionImport, uleb(1), vector(wasiModule), vector("memory"), []byte{kindMemory, 0, 1})},
		{"import of a type that is not there", "type 9 of 5", with(sectionImport, uleb(1), imported("fd_write", 9))},
		{"import twice", "appears twice", with(sectionImport, uleb(2), imported("sched_yield", 1), imported("sched_yield", 1))},
		{"no imports", "already sealed", without(sectionImport)},
		{"memory with a maximum", "already sealed", with(sectionMemory, []byte{1, 1, 1, 2})},
		{"shared memory", "limits of kind 3", with(sectionMemory, []byte{1, 3, 1, 2})},
		{"two memories", "number of memories", with(sectionMemory, []byte{2, 0, 1, 0, 1})},
		{"memory that starts above the maximum", "starts with 1025 pages", with(sectionMemory, []byte{1, 0}, uleb(1025))},
		{"start section", "no such section", with(sectionStart, []byte{3})},
		{"data count section", "no such section", join(good, section(12, []byte{1}))},
		{"sections out of order", "comes after", join(good, section(sectionType, []byte{0}))},
		{"unknown custom section", "unknown custom", join(good, section(sectionCustom, vector("dylink.0")))},
		{"custom section twice", "second custom", join(good, section(sectionCustom, vector("producers")))},
		{"custom section of the sealed form", "already sealed", join(good, section(sectionCustom, vector(customName)))},
		{"no code", "missing", without(sectionCode)},
		{"bodies missing", "0 bodies for 1", with(sectionCode, uleb(0))},
		{"body cut", "announced", with(sectionCode, uleb(1), []byte{9, 0})},
		{"bytes after a section's contents", "more than its contents", with(sectionFunction, []byte{1, 0, 0})},
		{"vector longer than the file", "announced", with(sectionFunction, uleb(1<<32-1))},
		{"number of six bytes", "longer than five", with(sectionFunction, []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x00})},
		{"number over 32 bits", "does not fit", with(sectionFunction, []byte{0xFF, 0xFF, 0xFF, 0xFF, 0x7F})},
		{"reference type", "value type", with(sectionType, []byte{1, 0x60, 1, 0x70, 0})},
		{"struct type", "form of a type", with(sectionType, []byte{1, 0x5F, 0})},
		{"global of a float", "global of type", with(sectionGlobal, []byte{1, typeF32, 1, 0x43, 0, 0, 0, 0, opEnd})},
		{"global from another global", "initial value", with(sectionGlobal, []byte{1, typeI32, 0, opGlobalGet, 0, opEnd})},
		{"passive data", "kind of a data segment", with(sectionData, []byte{1, 1}, vector("data"))},
		{"data in the diagnostic area", "expected 12288", with(sectionData, dataAt(diagStart+diagBytes-1))},
		{"data below zero", "expected 12288", with(sectionData, dataAt(-8))},
		{"data past the memory", "expected 12288", with(sectionData, dataAt(pageBytes-3))},
		{"passive elements", "kind of an element", with(sectionElement, []byte{1, 1, 0, 1, 3})},
		{"element that is no function", "function 4 of 4", with(sectionElement, []byte{1, 0, opI32Const, 0, opEnd, 1, 4})},
		{"table of references", "element type", with(sectionTable, []byte{1, 0x6F, 0, 4})},
		{"command instead of a reactor", "unknown export", exports(memory, export{"_start", kindFunction, 3})},
		{"no memory exported", "have to be exported", exports(start)},
		{"no start exported", "have to be exported", exports(memory)},
		{"export of an import", "defined are 3", exports(memory, start, export{"pf_call", kindFunction, 0})},
		{"export of nothing", "defined are 3", exports(memory, start, export{"pf_call", kindFunction, 4})},
		{"export twice", "appears twice", exports(memory, start, start)},
		{"export of the table", "unknown export", exports(memory, start, export{"pf_table", kindTable, 0})},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			out, err := seal(c.file)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			if out != nil {
				t.Error("a module came with the error")
			}
		})
	}
}

// TestSealRefusesTruncated cuts a module at every byte. Only the cut before the last custom section
// leaves a module.
func TestSealRefusesTruncated(t *testing.T) {
	file := linked().file()
	whole := len(file) - len(section(sectionCustom, vector("producers"), []byte("y")))
	for n := range file {
		if _, err := seal(file[:n]); (err == nil) != (n == whole) {
			t.Errorf("cut after %d of %d bytes: %v", n, len(file), err)
		}
	}
}

// FuzzSeal holds that no input makes the reader fail other than by an error, and that what is
// sealed is whole.
func FuzzSeal(f *testing.F) {
	f.Add(linked().file())
	sealed, err := seal(linked().file())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sealed)
	f.Fuzz(func(t *testing.T, file []byte) {
		out, err := seal(file)
		if (err == nil) == (out == nil) {
			t.Fatalf("error %v with %d bytes", err, len(out))
		}
		if err == nil {
			if _, err := parse(out, true); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestNumbers(t *testing.T) {
	for _, n := range []int64{0, 1, -1, 63, 64, -64, -65, 127, 128, diagStart, clockStep, 1<<31 - 1, -1 << 31} {
		r := &reader{data: sleb(n)}
		if got := r.s64(32); got != n || r.more() {
			t.Errorf("sleb(%d) reads back as %d, %d of %d bytes", n, got, r.pos, len(r.data))
		}
	}
	for _, n := range []uint32{0, 1, 127, 128, 16383, 16384, 1<<32 - 1} {
		r := &reader{data: uleb(uint64(n))}
		if got := r.u32(); got != n || r.more() {
			t.Errorf("uleb(%d) reads back as %d", n, got)
		}
	}
}
