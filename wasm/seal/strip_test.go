package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// testTable is a table of three functions. Their lists of values lie one after the other: sizes of
// frames at 1, files at 6, lines at 9, stack maps at 12, the tree of inlined calls at 15. data are
// offsets of the data of each function.
func testTable(data ...[]uint32) []byte {
	names := "\x00runtime.a\x00main.b\x00runtime.c\x00"
	units, files := "\x01\x00\x00\x00", "a.go\x00"
	values := "\x00" + "\x02\x01\x04\x05\x00" + "\x04\x05\x00" + "\x06\x07\x00" + "\x08\x09\x00" + "\x0a\x0b\x00"
	u32 := func(n ...uint32) (b []byte) {
		for _, v := range n {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
		return b
	}
	record := func(i int, name uint32) []byte {
		f := u32(firstPC, name, 0, 0, 1, 6, 9, 3, 7, 70) // entry, name, args, deferreturn, pcsp, pcfile, pcln, npcdata, CU, line
		var d []uint32
		if i < len(data) {
			d = data[i]
		}
		return join(f, []byte{0, 0, 0, byte(len(d))}, u32(0, 12, 15), u32(d...))
	}
	records := [][]byte{record(0, 1), record(1, 11), record(2, 18)}
	second := uint32(32 + len(records[0]))
	entries := join(u32(0, 32, 1, second, 2, second+uint32(len(records[1])), 3, 0), join(records...))
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
	if err := m.strip(nil); err != nil {
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
	if err := m.strip(nil); err != nil || !bytes.Equal(m.memory, once) {
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
			if err := loadImage(&reader{data: c.data}).strip(nil); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

// TestStripData gives functions data and looks at what is left: what is needed, and what does not
// lie in the piece that belongs to functions.
func TestStripData(t *testing.T) {
	const none = 1<<32 - 1
	m := bucketImage()
	const at, record, piece = 8192, 16384, 18432
	copy(m.memory[at:], testTable(
		[]uint32{0, 16, none, 32, 48, 64},      // 32 is its tree of inlined calls, 64 what is known of arguments
		[]uint32{16, none, 80, 96, none, 112},  // 96 and 112 are the same, and then there is nothing needed
		[]uint32{128, 1 << 20, 16, 32, 48, 64}, // never runs, 1 << 20 is outside
	))
	for i := range 3 {
		binary.LittleEndian.PutUint32(findTable(m.memory).function(i), firstPC+uint32(i))
	}
	binary.LittleEndian.PutUint64(m.memory[record+atGoFunc:], piece)
	binary.LittleEndian.PutUint64(m.memory[record+atRodata:], 0)
	binary.LittleEndian.PutUint64(m.memory[record+atEPCLN:], 1<<20)
	for i := range 160 {
		m.memory[piece+i] = 1
	}
	if err := m.strip([]bool{false, false, true}); err != nil {
		t.Fatal(err)
	}
	got := ""
	for i := 0; i < 160; i += 16 {
		part := bytes.Trim(m.memory[piece+i:piece+i+16], "\x00")
		got += fmt.Sprintf("%d ", len(part)/16)
	}
	// The last is kept because its end is not known.
	if want := "1 1 0 1 0 1 0 0 1 1 "; got != want {
		t.Errorf("kept %s, want %s", got, want)
	}
	table := findTable(m.memory)
	for i, want := range []struct {
		name    uint32
		pcsp    uint32
		data    byte
		entries string
	}{{1, 1, 5, "[0 16 4294967295 4294967295 48 0]"}, {0, 1, 3, "[16 4294967295 80 0 0 0]"}, {0, 0, 0, "[0 0 0 0 0 0]"}} {
		f := table.function(i)
		var entries []uint32
		for j := range 6 {
			entries = append(entries, binary.LittleEndian.Uint32(f[funcBytes+12+4*j:]))
		}
		if name, pcsp := binary.LittleEndian.Uint32(f[atName:]), binary.LittleEndian.Uint32(f[atPCSP:]); name != want.name || pcsp != want.pcsp ||
			f[atNFuncData] != want.data || fmt.Sprint(entries) != want.entries {
			t.Errorf("function %d: name %d, sizes at %d, %d data %v; want %+v", i, name, pcsp, f[atNFuncData], entries, want)
		}
	}
}
