package main

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
)

// testTable is a table of three functions. Their lists of values lie one after the other: sizes of frames at 1, files
// at 6, lines at 9, stack maps at 12, the tree of inlined calls at 15.
func testTable() []byte {
	names := "\x00runtime.a\x00main.b\x00runtime.c\x00"
	units, files := "\x01\x00\x00\x00", "a.go\x00"
	values := "\x00" + "\x02\x01\x04\x05\x00" + "\x04\x05\x00" + "\x06\x07\x00" + "\x08\x09\x00" + "\x0a\x0b\x00"
	u32 := func(n ...uint32) (b []byte) {
		for _, v := range n {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
		return b
	}
	record := func(entry, name uint32) []byte {
		f := u32(entry, name, 0, 0, 1, 6, 9, 3, 7, 70) // entry, name, args, deferreturn, pcsp, pcfile, pcln, npcdata, CU, line
		return join(f, []byte{0, 0, 0, 0}, u32(0, 12, 15))
	}
	const size = funcBytes + 12
	entries := join(u32(0, 32, 1, 32+size, 2, 32+2*size, 3, 0), record(firstPC, 1), record(firstPC, 11), record(firstPC, 18))
	offset := func(parts ...string) []byte {
		return binary.LittleEndian.AppendUint64(nil, uint64(headerBytes+len(strings.Join(parts, ""))))
	}
	count := binary.LittleEndian.AppendUint64(nil, 3)
	return join([]byte(pclntabMagic), count, count, make([]byte, 8),
		offset(), offset(names), offset(names, units), offset(names, units, files), offset(names, units, files, values),
		[]byte(names), []byte(units), []byte(files), []byte(values), entries)
}

func TestStrip(t *testing.T) {
	m := loadImage(&reader{data: dataAt(diagStart + diagBytes)})
	if err := m.strip(); err != nil {
		t.Fatal(err)
	}
	table := m.memory[diagStart+diagBytes:]
	for _, gone := range []string{"main.b", "runtime.c", "a.go", "\x00\x04\x05\x00", "\x06\x07\x00", "\x0a\x0b\x00"} {
		if bytes.Contains(table, []byte(gone)) {
			t.Errorf("%q is still there", gone)
		}
	}
	for _, kept := range []string{"runtime.a\x00", "\x02\x01\x04\x05\x00", "\x08\x09\x00"} {
		if !bytes.Contains(table, []byte(kept)) {
			t.Errorf("%q is gone", kept)
		}
	}
	f := findTable(m.memory)
	for i, want := range []uint32{1, 0, 1} {
		record := f.function(i)
		if name := binary.LittleEndian.Uint32(record[atName:]); name != want {
			t.Errorf("function %d has the name at %d, want %d", i, name, want)
		}
		if file, line := record[atPCFile], record[atPCLine]; file != 0 || line != 0 {
			t.Errorf("function %d still points to files %d and lines %d", i, file, line)
		}
	}
	once := bytes.Clone(m.memory)
	if err := m.strip(); err != nil || !bytes.Equal(m.memory, once) {
		t.Errorf("stripping twice changed the data: %v", err)
	}
}

func TestStripRefuses(t *testing.T) {
	change := func(f func(table []byte)) []byte {
		table := testTable()
		f(table)
		return join([]byte{1, 0}, i32Const(8), []byte{opEnd}, vector(string(table)))
	}
	records := len(testTable()) - 3*(funcBytes+12)
	for _, c := range []struct {
		name, want string
		data       []byte
	}{
		{"no table", "no table", join([]byte{1, 0}, i32Const(8), []byte{opEnd}, vector("data"))},
		{"an older table", "no table", change(func(b []byte) { b[0] = 0xF0 })},
		{"offsets out of order", "no table", change(func(b []byte) { b[32] = 255 })},
		{"more functions than bytes", "no table", change(func(b []byte) { b[8], b[9] = 255, 255 })},
		{"two tables", "two tables", join([]byte{1, 0}, i32Const(8), []byte{opEnd}, vector(string(testTable())+string(testTable())))},
		{"a name outside", "outside itself", change(func(b []byte) { b[records+atName+1] = 9 })},
		{"values outside", "outside itself", change(func(b []byte) { b[records+atPCSP+1] = 9 })},
		{"more lists than bytes", "outside itself", change(func(b []byte) { b[records+atNPCData+1] = 9 })},
		{"nothing of the runtime", "no function of the runtime", change(func(b []byte) {
			copy(b, bytes.ReplaceAll(b, []byte("runtime."), []byte("quantum.")))
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := loadImage(&reader{data: c.data}).strip(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}
