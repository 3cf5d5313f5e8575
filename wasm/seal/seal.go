package main

import (
	"bytes"
	"fmt"
	"slices"
)

const (
	// memoryPages is the maximum written into the module: 64 MiB.
	memoryPages = 1024
	// customName names the custom section that says what the module is.
	customName = "podfate"
	// identity is the contents of that section. A test compares it with what the module answers to
	// describe.
	identity = `{"product":"podfate","version":"0.1.0","abi":"1.1","schema":"v1"}`
)

// seal returns the linked module file without imports, with a memory maximum, the exports pf_diag
// and pf_diag_len, and the custom section that names it. It fails on a module that was sealed
// before and on everything that the linker of Go is not known to write.
func seal(file []byte) ([]byte, error) { return sealWith(file, false) }

// sealWith is seal with the choice of [compactor] that a test makes.
func sealWith(file []byte, trapUnneeded bool) ([]byte, error) {
	m, err := parse(file, false)
	if err != nil {
		return nil, err
	}
	memory := loadImage(&reader{what: "data", data: m.data}) // read before, so it cannot fail
	if err := m.compact(memory.memory, trapUnneeded); err != nil {
		return nil, err
	}
	if err := memory.strip(m.dead); err != nil {
		return nil, err
	}
	if m.packed, err = memory.pack(int(m.minPages) * pageBytes); err != nil {
		return nil, err
	}
	out := m.encode()
	check, err := parse(out, true)
	if err != nil {
		return nil, fmt.Errorf("the sealed module is malformed: %w", err)
	}
	data := m.packed.section()
	if n := len(m.imports) + len(m.functions) + 1; len(check.functions) != n || !bytes.Equal(check.data, data) {
		return nil, fmt.Errorf("the sealed module has %d functions and %d bytes of data, expected %d and %d",
			len(check.functions), len(check.data), n, len(data))
	}
	return out, nil
}

// encode writes the sealed form of m.
func (m *module) encode() []byte {
	g := newGlobals{diag: m.nGlobals, diagLen: m.nGlobals + 1, clock: m.nGlobals + 2}
	total := len(m.imports) + len(m.functions) // index of the function that unpacks the data, which comes last
	exports := append(slices.Clone(m.exports),
		export{"pf_diag", kindGlobal, uint32(g.diag)}, export{"pf_diag_len", kindGlobal, uint32(g.diagLen)})
	for i, e := range exports {
		if e.kind == kindFunction {
			exports[i].index = m.place[e.index]
		}
	}
	start := slices.IndexFunc(exports, func(e export) bool { return e.name == startName })
	types, texts := make([]uint32, total), make([][]byte, total)
	for i, f := range m.imports {
		r := replacements[f.name]
		types[m.place[i]], texts[m.place[i]] = f.typ, body(r.locals, r.code(g))
	}
	for i, t := range m.functions {
		at := m.place[len(m.imports)+i]
		types[at], texts[at] = t, m.bodies[i]
	}
	types, texts = append(types, types[exports[start].index]), append(texts, m.packed.body(exports[start].index))
	exports[start].index = uint32(total)
	functions, bodies := uleb(uint64(total+1)), uleb(uint64(total+1))
	for i, t := range types {
		functions, bodies = append(functions, uleb(uint64(t))...), append(bodies, texts[i]...)
	}
	return join(header,
		section(sectionCustom, vector(customName), []byte(identity)),
		section(sectionType, encodeTypes(m.types)),
		section(sectionFunction, functions),
		section(sectionTable, m.table),
		section(sectionMemory, []byte{1, 1}, uleb(uint64(m.minPages)), uleb(memoryPages)),
		section(sectionGlobal, uleb(uint64(m.nGlobals+3)), m.globals,
			[]byte{typeI32, 0}, i32Const(diagStart), []byte{opEnd},
			[]byte{typeI32, 1}, i32Const(0), []byte{opEnd},
			[]byte{typeI64, 1, opI64Const, 0, opEnd}),
		section(sectionExport, encodeExports(exports)),
		section(sectionElement, m.placeElements()),
		section(sectionCode, bodies),
		section(sectionData, m.packed.section()))
}

func encodeTypes(types []signature) []byte {
	b := uleb(uint64(len(types)))
	for _, t := range types {
		b = append(b, 0x60)
		b = append(b, vector(t.params)...)
		b = append(b, vector(t.results)...)
	}
	return b
}

func encodeExports(exports []export) []byte {
	b := uleb(uint64(len(exports)))
	for _, e := range exports {
		b = append(b, vector(e.name)...)
		b = append(b, e.kind)
		b = append(b, uleb(uint64(e.index))...)
	}
	return b
}

// vector encodes a name or a list of bytes with its length in front.
func vector(s string) []byte { return join(uleb(uint64(len(s))), []byte(s)) }

func section(id byte, parts ...[]byte) []byte {
	contents := join(parts...)
	return join([]byte{id}, uleb(uint64(len(contents))), contents)
}
