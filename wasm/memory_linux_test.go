package wasm

import (
	"bytes"
	"testing"
)

func TestFreedMemoryIsEmpty(t *testing.T) {
	m := mappings{free: map[int][][]byte{}}
	const most = 1 << 20
	first := m.Allocate(0, most)
	view := first.Reallocate(1 << 16)
	copy(view, "secret")
	if grown := first.Reallocate(2 << 16); !bytes.HasPrefix(grown, []byte("secret")) || &grown[0] != &view[0] {
		t.Error("memory that grows has moved")
	}
	if first.Reallocate(most+1) != nil {
		t.Error("it grows beyond its maximum")
	}
	first.Free()
	if view[0] != 0 {
		t.Error("a view of freed memory still shows what was there")
	}
	again := m.Allocate(0, most).Reallocate(most)
	if &again[0] != &view[0] {
		t.Error("the mapping is not used again")
	}
	if len(bytes.Trim(again, "\x00")) > 0 {
		t.Error("memory of a new instance is not empty")
	}
}
