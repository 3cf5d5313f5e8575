package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestListsFitTheRuntime holds that each name in the lists of functions that never run is that of a
// function of the guest. A name that a release of Go no longer has is to be looked at, not carried
// along.
func TestListsFitTheRuntime(t *testing.T) {
	file := filepath.Join(t.TempDir(), "linked.wasm")
	if err := link(root, guest, file, ""); err != nil {
		t.Fatal(err)
	}
	linked, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m, err := parse(linked, false)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, name := range readNames(m.custom["name"]) {
		names[name] = true
	}
	listed := strings.Join(slices.Concat(silent, still), " ")
	for _, part := range never {
		listed += " " + part.names
	}
	for _, name := range strings.Fields(listed) {
		prefix, many := strings.CutSuffix(systemPrefix+name, "*")
		found := names[prefix]
		for have := range names {
			found = found || many && strings.HasPrefix(have, prefix)
		}
		if !found {
			t.Errorf("no function %s", name)
		}
	}
}

// reachable is a compactor for eight functions: 0 is exported. The memory has function values in
// the read-only data, an itab, a method, and the record of the module.
func reachable() (c *compactor, bodies []*code, memory []byte) {
	const types, typesEnd, record, itab, itabs, data = 24576, 28672, 16384, 24576 + 512, 32768, 33024
	image := bucketImage()
	memory = append(image.memory, make([]byte, 40000-len(image.memory))...)
	clear(memory[20480:types])
	word := func(at, value int) { binary.LittleEndian.PutUint64(memory[at:], uint64(value)) }
	pc := func(f int) int { return (firstPC + f) << pcShift }
	word(record+atMaxPC, 0) // is the program counter of a function, too
	word(record+atTypes, types)
	word(record+atTypesEnd, typesEnd)
	word(record+atItabs, itabs)
	word(record+atItabs+8, 1)
	word(itabs, itab)
	word(itab+24, pc(7))
	word(types+8, pc(1))  // named by 0
	word(types+16, pc(3)) // named by 4, which nothing leads to
	word(types+24, pc(5)) // named by 4 as well, but there is data with its address
	word(data, types+24)
	binary.LittleEndian.PutUint32(memory[types+40:], firstPC+6)
	binary.LittleEndian.PutUint32(memory[types+44:], firstPC+6)
	bodies = []*code{
		goFunction(const64(types+8), plain(opDrop), const32(0)),
		goFunction(const32(0), inst{op: opCall, a: 2}),
		goFunction(const32(0)), goFunction(const32(0)),
		goFunction(const64(types+16), plain(opDrop), const64(types+24), plain(opDrop), const64(itab+24), plain(opDrop), const32(0)),
		goFunction(const32(0)), goFunction(const32(0)), goFunction(const32(0)),
	}
	c = &compactor{m: &module{exports: []export{{"pf_f", kindFunction, 0}}}, dead: make([]bool, len(bodies))}
	for range bodies {
		c.types = append(c.types, goType)
	}
	return c, bodies, memory
}

func TestReach(t *testing.T) {
	for _, test := range []struct {
		name string
		dead int // a function that is known not to run, -1 for none
		want string
	}{
		{"through code, values, data, methods and tables of methods", -1, "xxx--xxx"},
		{"not beyond what never runs", 1, "xx---xxx"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, bodies, memory := reachable()
			if test.dead >= 0 {
				c.dead[test.dead] = true
			}
			got := ""
			for _, alive := range c.reach(bodies, memory) {
				if alive {
					got += "x"
				} else {
					got += "-"
				}
			}
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// nameSection is a custom section with the names of functions, as the linker writes it.
func nameSection(names ...string) []byte {
	list := uleb(uint64(len(names)))
	for i, name := range names {
		list = append(append(list, uleb(uint64(i))...), vector(name)...)
	}
	return join([]byte{1}, vector(string(list)))
}

func TestRemoveDead(t *testing.T) {
	section := nameSection("f", "runtime.traceLocker.GoStart", "runtime.used", "runtime.other", "runtime.unused", "runtime.goroutineheader", "runtime.a", "runtime.b")
	for _, test := range []struct {
		name      string
		producers string // empty if there are no names either
		want      string // x is a body as it was, - a trap, o returns at once
		refused   bool
	}{
		{"with names", "processed-by Go cmd/compile go1.26.8", "x----oxx", false},
		{"without names", "", "xxxxxxxx", false},
		{"by another release", "processed-by Go cmd/compile go1.27.0", "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, bodies, memory := reachable()
			c.m.custom = map[string][]byte{}
			if test.producers != "" {
				c.m.custom["name"], c.m.custom["producers"] = section, []byte(test.producers)
			}
			err := protect(func() { c.removeDead(bodies, memory) })
			if (err != nil) != test.refused {
				t.Fatalf("error %v", err)
			}
			got := ""
			for i, b := range bodies {
				switch {
				case match(b.insts, plain(opUnreachable), plain(opEnd)) && c.dead[i]:
					got += "-"
				case b.insts[len(b.insts)-2].op == opReturn:
					got += "o"
				default:
					got += "x"
				}
			}
			if !test.refused && got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
