package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
)

// bucketImage is an image of a table of three functions, the record of the module, and its buckets.
// The third function has five program counters, so the last bucket is cut.
func bucketImage() *image {
	const at, record, found, pcs = 8192, 16384, 20480, 2<<pcShift + 5
	memory := make([]byte, found)
	copy(memory[at:], testTable())
	word := func(field, value int) { binary.LittleEndian.PutUint64(memory[record+field:], uint64(value)) }
	word(0, at)
	word(atPCTab, at+int(binary.LittleEndian.Uint64(memory[at+8+8*6:])))
	word(atBuckets, found)
	word(atMinPC, firstPC<<pcShift)
	word(atMaxPC, firstPC<<pcShift+pcs)
	word(atRodata, len(memory))
	for i := range (pcs + bucketPCs - 1) / bucketPCs {
		memory = binary.LittleEndian.AppendUint32(memory, uint32(i/functionBuckets))
		memory = append(memory, make([]byte, min(16, (pcs+subPCs-1)/subPCs-16*i))...)
	}
	return &image{memory: append(memory, "after the buckets"...), start: at}
}

// TestUnpack runs the function that unpacks the data, and compares the memory.
func TestUnpack(t *testing.T) {
	m := bucketImage()
	before, err := m.pack(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.strip(nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		image *image
	}{
		{"buckets", m},
		{"no buckets", &image{memory: []byte("\x00\x00\x00\x00abc\x00d\x00\x00\x00\x00\x00efghijklmnop\x00\x00\x00q")}},
		{"long runs", &image{memory: []byte(strings.Repeat("\x00", 1000) + strings.Repeat("a", 1000) + strings.Repeat("\x00", 255) + "b")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := c.image.pack(1 << 20)
			if err != nil {
				t.Fatal(err)
			}
			if c.image == m && len(p.text) >= len(before.text) {
				t.Errorf("%d bytes, %d before the buckets were found", len(p.text), len(before.text))
			}
			ctx := context.Background()
			r := wazero.NewRuntime(ctx)
			defer r.Close(ctx)
			instance, err := r.Instantiate(ctx, join(header,
				section(sectionType, encodeTypes([]signature{{}})),
				section(sectionFunction, []byte{2, 0, 0}),
				section(sectionMemory, []byte{1, 0, 16}),
				section(sectionExport, encodeExports([]export{{"unpack", kindFunction, 1}, {"memory", kindMemory, 0}})),
				section(sectionCode, []byte{2}, body(0, nil), p.body(0)),
				section(sectionData, p.section())))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := instance.ExportedFunction("unpack").Call(ctx); err != nil {
				t.Fatal(err)
			}
			got, _ := instance.Memory().Read(0, 1<<20)
			if !bytes.Equal(got[:len(c.image.memory)], c.image.memory) || len(bytes.Trim(got[len(c.image.memory):], "\x00")) > 0 {
				t.Error("the memory differs")
			}
		})
	}
}

func TestBucketsRefused(t *testing.T) {
	for name, change := range map[string]func(b []byte){
		"a function out of order":  func(b []byte) { b[20480] = 1 },
		"a function in the middle": func(b []byte) { b[20480+4+3] = 1 },
		"too many":                 func(b []byte) { b[16384+atMaxPC+2] = 9 },
		"outside of the memory":    func(b []byte) { b[16384+atBuckets+3] = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			m := bucketImage()
			change(m.memory)
			if err := m.strip(nil); err == nil {
				t.Error("accepted")
			}
		})
	}
}
