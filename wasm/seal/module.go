package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// errSealed is the answer to a module that has been sealed before.
var errSealed = errors.New("the module is already sealed")

// startName is the export that starts the runtime of a reactor.
const startName = "_initialize"

// pageBytes is the unit of linear memory.
const pageBytes = 1 << 16

// header opens each module of version 1 of the binary format.
var header = []byte("\x00asm\x01\x00\x00\x00")

// module is what sealing has to know of a linked Go module. Bodies and segments are kept as they
// came.
type module struct {
	types     []signature
	imports   []importedFunction
	functions []uint32 // type of each defined function
	table     []byte   // section contents
	minPages  uint32
	globals   []byte // the entries, without their count
	nGlobals  int
	exports   []export
	elements  []byte   // section contents
	bodies    [][]byte // each with its length in front
	data      []byte   // section contents, as the linker wrote them
	packed    packed   // the same stripped and packed, made by seal
	custom    map[string][]byte
	dead      []bool   // functions that never run, found by compact
	place     []uint32 // index of each function in the sealed module, chosen by compact
}

// signature lists the types of parameters and results, a byte each.
type signature struct{ params, results string }

type importedFunction struct {
	module, name string
	typ          uint32
}

type export struct {
	name  string
	kind  byte
	index uint32
}

// parse reads a module and checks everything that sealing relies on. sealed says which of the two
// forms is expected: as the linker of Go wrote it, or as [seal] does.
func parse(file []byte, sealed bool) (*module, error) {
	m := &module{custom: map[string][]byte{}}
	err := protect(func() { m.read(file, sealed) })
	if err != nil {
		return nil, err
	}
	return m, nil
}

// read goes through the sections in the order of the format. It is long because the format is one
// list.
func (m *module) read(file []byte, sealed bool) {
	r := &reader{what: "module", data: file}
	if !bytes.HasPrefix(file, header) {
		r.fail("does not start as a WebAssembly module of version 1")
	}
	r.pos = len(header)
	last, seen := byte(0), map[byte]bool{}
	var maxPages uint32
	var nElements []uint32
	for r.more() {
		id := r.byte()
		size := r.u32()
		start := r.pos
		s := &reader{what: fmt.Sprintf("section %d", id), data: r.bytes(size), base: start}
		if id != sectionCustom {
			if id <= last {
				s.fail("comes after section %d", last)
			}
			last, seen[id] = id, true
		}
		switch id {
		case sectionCustom:
			m.readCustom(s, sealed)
			continue
		case sectionType:
			m.readTypes(s)
		case sectionImport:
			m.readImports(s, sealed)
		case sectionFunction:
			for range s.count() {
				m.functions = append(m.functions, m.typeIndex(s))
			}
		case sectionTable:
			m.readTable(s)
		case sectionMemory:
			maxPages = m.readMemory(s, sealed)
		case sectionGlobal:
			m.readGlobals(s)
		case sectionExport:
			m.readExports(s)
		case sectionElement:
			nElements = m.readElements(s)
		case sectionCode:
			m.readCode(s)
		case sectionData:
			m.readData(s)
		default:
			s.fail("a Go module has no such section")
		}
		s.end()
	}
	for _, id := range []byte{sectionType, sectionFunction, sectionTable, sectionMemory, sectionGlobal, sectionExport, sectionElement, sectionCode, sectionData} {
		if !seen[id] {
			r.fail("section %d is missing", id)
		}
	}
	switch {
	case !sealed && len(m.imports) == 0:
		panic(fault{errSealed})
	case sealed && m.custom[customName] == nil:
		r.fail("custom section %q is missing", customName)
	case sealed && maxPages != memoryPages:
		r.fail("memory maximum is %d pages, not %d", maxPages, memoryPages)
	case len(m.bodies) != len(m.functions):
		r.fail("%d bodies for %d functions", len(m.bodies), len(m.functions))
	}
	total := uint32(len(m.imports) + len(m.functions))
	for _, f := range nElements {
		if f >= total {
			r.fail("table holds function %d of %d", f, total)
		}
	}
	m.checkExports(r, total)
}

func (m *module) readCustom(s *reader, sealed bool) {
	name := s.name()
	switch name {
	case "go:buildid", "producers", "name": // dropped: they differ between builds or say nothing to a host
		if sealed {
			s.fail("custom section %q in a sealed module", name)
		}
	case customName:
		if !sealed {
			panic(fault{errSealed})
		}
	default:
		s.fail("unknown custom section %q", name)
	}
	if m.custom[name] != nil {
		s.fail("second custom section %q", name)
	}
	m.custom[name] = s.data[s.pos:]
}

func (m *module) readTypes(s *reader) {
	for range s.count() {
		s.want(0x60, "form of a type")
		var sig signature
		for _, list := range []*string{&sig.params, &sig.results} {
			types := s.bytes(s.u32())
			for _, t := range types {
				if t < typeF64 || t > typeI32 {
					s.fail("value type 0x%02x is not known", t)
				}
			}
			*list = string(types)
		}
		m.types = append(m.types, sig)
	}
}

func (m *module) typeIndex(s *reader) uint32 {
	t := s.u32()
	if t >= uint32(len(m.types)) {
		s.fail("type %d of %d", t, len(m.types))
	}
	return t
}

func (m *module) readImports(s *reader, sealed bool) {
	if sealed {
		s.fail("a sealed module imports nothing")
	}
	for range s.count() {
		f := importedFunction{module: s.name(), name: s.name()}
		if kind := s.byte(); kind != kindFunction {
			s.fail("import %s.%s is of kind %d, only functions can be replaced", f.module, f.name, kind)
		}
		f.typ = m.typeIndex(s)
		for _, other := range m.imports {
			if other.name == f.name {
				s.fail("import %s.%s appears twice", f.module, f.name)
			}
		}
		known, ok := replacements[f.name]
		if f.module != wasiModule || !ok {
			s.fail("unknown import %s.%s", f.module, f.name)
		}
		if got := m.types[f.typ]; got != known.signature {
			s.fail("import %s.%s has the signature %x -> %x, expected %x -> %x", f.module, f.name,
				got.params, got.results, known.signature.params, known.signature.results)
		}
		m.imports = append(m.imports, f)
	}
}

func (m *module) readTable(s *reader) {
	s.want(1, "number of tables")
	s.want(0x70, "element type of the table")
	if flags := s.byte(); flags > 1 {
		s.fail("limits of kind %d", flags)
	} else if s.u32(); flags == 1 {
		s.u32()
	}
	m.table = s.data
}

func (m *module) readMemory(s *reader, sealed bool) (maxPages uint32) {
	s.want(1, "number of memories")
	flags := s.byte()
	m.minPages = s.u32()
	switch {
	case flags == 1 && !sealed:
		panic(fault{errSealed}) // the linker of Go writes no maximum
	case flags == 1:
		maxPages = s.u32()
	case flags != 0:
		s.fail("memory limits of kind %d", flags)
	}
	if m.minPages > memoryPages {
		s.fail("the module starts with %d pages, at most %d are allowed", m.minPages, memoryPages)
	}
	return maxPages
}

func (m *module) readGlobals(s *reader) {
	m.nGlobals = s.count()
	start := s.pos
	for range m.nGlobals {
		t := s.byte()
		if mutable := s.byte(); mutable > 1 {
			s.fail("mutability %d", mutable)
		}
		switch t {
		case typeI32:
			s.want(opI32Const, "initial value")
			s.s64(32)
		case typeI64:
			s.want(opI64Const, "initial value")
			s.s64(64)
		default:
			s.fail("global of type 0x%02x", t)
		}
		s.want(opEnd, "end of an initial value")
	}
	m.globals = s.data[start:s.pos]
}

func (m *module) readExports(s *reader) {
	for range s.count() {
		e := export{name: s.name(), kind: s.byte(), index: s.u32()}
		if slices.ContainsFunc(m.exports, func(o export) bool { return o.name == e.name }) {
			s.fail("export %q appears twice", e.name)
		}
		m.exports = append(m.exports, e)
	}
}

// checkExports demands a reactor that exports its memory, its start and names of the ABI. It runs
// last, when the number of functions is known.
func (m *module) checkExports(r *reader, total uint32) {
	var memory, start bool
	for _, e := range m.exports {
		ours := strings.HasPrefix(e.name, "pf_")
		switch {
		case e.name == "memory" && e.kind == kindMemory && e.index == 0:
			memory = true
		case e.kind == kindFunction && (ours || e.name == startName):
			if e.index < uint32(len(m.imports)) || e.index >= total {
				r.fail("export %q is function %d, defined are %d to %d", e.name, e.index, len(m.imports), total)
			}
			start = start || e.name == startName
		case e.kind == kindGlobal && ours && e.index < uint32(m.nGlobals):
		default:
			r.fail("unknown export %q of kind %d", e.name, e.kind)
		}
	}
	if !memory || !start {
		r.fail("memory and _initialize have to be exported")
	}
}

func (m *module) readElements(s *reader) (functions []uint32) {
	for range s.count() {
		s.want(0, "kind of an element segment")
		s.want(opI32Const, "offset of an element segment")
		s.s64(32)
		s.want(opEnd, "end of an offset")
		for range s.count() {
			functions = append(functions, s.u32())
		}
	}
	m.elements = s.data
	return functions
}

func (m *module) readCode(s *reader) {
	for range s.count() {
		start := s.pos
		s.bytes(s.u32())
		m.bodies = append(m.bodies, s.data[start:s.pos])
	}
}

func (m *module) readData(s *reader) {
	limit := int64(m.minPages) * pageBytes
	for range s.count() {
		s.want(0, "kind of a data segment")
		s.want(opI32Const, "offset of a data segment")
		offset := s.s64(32)
		s.want(opEnd, "end of an offset")
		n := int64(len(s.bytes(s.u32())))
		if offset < diagStart+diagBytes || offset+n > limit {
			s.fail("data at %d to %d, expected %d to %d", offset, offset+n, diagStart+diagBytes, limit)
		}
	}
	m.data = s.data
}
