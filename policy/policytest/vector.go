package policytest

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"
)

// Vector is one line of the conformance vectors: a call of an export, as plugins/README.md
// describes the format.
type Vector struct {
	ID    string `json:"id"`
	Do    string `json:"do"`
	X     []any  `json:"x,omitempty"`     // integers, and addresses as "K+N"
	S     string `json:"s,omitempty"`     // at most one of the four
	B     []byte `json:"b,omitempty"`     // written in base64
	R     []any  `json:"r,omitempty"`     // texts and counts in turn
	RB    []any  `json:"rb,omitempty"`    // the same, texts in base64
	Out   int    `json:"out,omitempty"`   // for pf_eval_batch
	Times int    `json:"times,omitempty"` // 0 is once
	A     string `json:"a,omitempty"`
	D     string `json:"d,omitempty"`
}

// maxAnswerText is how long an answer may be that is written as it is; of a longer one the vector
// has the digest.
const maxAnswerText = 600

// request returns the bytes of v's request; has is false if it brings none.
func (v *Vector) request() (b []byte, has bool, err error) {
	switch {
	case v.S != "":
		return []byte(v.S), true, nil
	case v.B != nil:
		return v.B, true, nil
	case v.R == nil && v.RB == nil:
		return nil, false, nil
	}
	list := append(v.R, v.RB...)
	for i := 0; i+1 < len(list); i += 2 {
		text, ok := list[i].(string)
		count, err := integer(list[i+1])
		if !ok || err != nil || count < 0 {
			return nil, false, fmt.Errorf("%s: %v %v is no text and count", v.ID, list[i], list[i+1])
		}
		if v.RB != nil {
			raw, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				return nil, false, fmt.Errorf("%s: %w", v.ID, err)
			}
			text = string(raw)
		}
		b = append(b, strings.Repeat(text, int(count))...)
	}
	return b, true, nil
}

func integer(v any) (int64, error) {
	switch n := v.(type) {
	case int:
		return int64(n), nil
	case json.Number:
		return n.Int64()
	}
	return 0, fmt.Errorf("%v is no integer", v)
}

// Instance is an instance of the module, seen through its exports: on some engine, or the native
// machine behind them.
type Instance interface {
	// Call calls an export with arguments of 32 bits (addresses of the native machine are wider).
	// payload is the answer of an export that returns a result word, whose bit 31 is that of
	// result. An error is a trap.
	Call(export string, args []uint64) (result uint64, payload []byte, err error)
	// Bytes returns the n bytes at an address, nil if they do not lie in the memory. Writing to
	// them writes to the memory.
	Bytes(address uint64, n int) []byte
	// MemoryBytes is the size of the memory; 0 if it is not bounded by a module.
	MemoryBytes() int
	Close()
}

// Player plays vectors on instances, one after the other.
type Player struct {
	Make func() (Instance, error)

	instance Instance
	buffers  []uint64
}

// payloads are the exports that return a result word.
var payloads = map[string]bool{"pf_call": true, "pf_compile": true, "pf_eval": true}

// Play plays v and returns its answer. An error means that v is not a vector, or that an instance
// cannot be made.
func (p *Player) Play(v *Vector) (answer string, err error) {
	if v.Do == "new" {
		if err := p.renew(); err != nil {
			return "", err
		}
		version, _, err := p.instance.Call("pf_abi_version", nil)
		return strconv.FormatInt(int64(int32(version)), 10), err
	}
	request, has, err := v.request()
	if err != nil {
		return "", err
	}
	args := make([]uint64, 0, 5)
	for _, x := range v.X {
		n, err := p.argument(x)
		if err != nil {
			return "", fmt.Errorf("%s: %w", v.ID, err)
		}
		args = append(args, n)
	}
	for range max(v.Times, 1) {
		if answer, err = p.once(v, args, request, has); err != nil {
			return "trap", p.renew()
		}
	}
	return answer, nil
}

func (p *Player) renew() (err error) {
	p.Close()
	p.buffers = nil
	p.instance, err = p.Make()
	return err
}

// Close drops the instance.
func (p *Player) Close() {
	if p.instance != nil {
		p.instance.Close()
		p.instance = nil
	}
}

// argument reads an integer, which is one of 32 bits, or an address.
func (p *Player) argument(x any) (uint64, error) {
	text, ok := x.(string)
	if !ok {
		n, err := integer(x)
		return uint64(uint32(n)), err
	}
	k, offset, _ := strings.Cut(text, "+")
	buffer, err1 := strconv.Atoi(k)
	n, err2 := strconv.Atoi(offset)
	if err1 != nil || err2 != nil || buffer < 0 || buffer >= len(p.buffers) {
		return 0, fmt.Errorf("%q is no address", text)
	}
	return p.buffers[buffer] + uint64(n), nil
}

// once does what v says one time.
func (p *Player) once(v *Vector, args []uint64, request []byte, has bool) (string, error) {
	if v.Do == "write" {
		copy(p.instance.Bytes(args[0], len(request)), request)
		return "", nil
	}
	args = args[:len(args):len(args)] // so that appending leaves them alone
	var lent []uint64
	lend := func(n int) (uint64, error) {
		address, _, err := p.instance.Call("pf_alloc", []uint64{uint64(max(n, 1))})
		if err == nil && address == 0 {
			err = fmt.Errorf("no room for %d bytes", n)
		}
		lent = append(lent, address)
		args = append(args, address, uint64(n))
		return address, err
	}
	if has {
		address, err := lend(len(request))
		if err != nil {
			return "", err
		}
		copy(p.instance.Bytes(address, len(request)), request)
		if v.Do == "pf_eval_batch" {
			if _, err := lend(v.Out); err != nil {
				return "", err
			}
		}
	}
	result, payload, err := p.instance.Call(v.Do, args)
	if err != nil {
		return "", err
	}
	answer := ""
	switch {
	case payloads[v.Do]:
		if answer = string(payload); (result&(1<<31) != 0) != strings.HasPrefix(answer, `{"error":`) {
			answer = "flag" + answer
		}
	case v.Do == "pf_alloc":
		answer = "0"
		if result != 0 {
			answer = "ok"
			n := int(args[0])
			if b := p.instance.Bytes(result, n); len(b) != n || len(bytes.Trim(b, "\x00")) != 0 || result%8 != 0 {
				answer = "no buffer"
			}
			p.buffers = append(p.buffers, result)
		}
	default:
		answer = strconv.FormatInt(int64(int32(result)), 10)
		if v.Do == "pf_eval_batch" && has && int32(result) >= 0 {
			answer += " " + hex.EncodeToString(p.instance.Bytes(lent[1], v.Out))
		}
	}
	for _, address := range lent {
		if _, _, err := p.instance.Call("pf_free", []uint64{address}); err != nil {
			return "", err
		}
	}
	return answer, nil
}

// Evaluate evaluates one exit n times on one instance and returns the size of its memory at the
// end. The escape makes garbage each time.
func (p *Player) Evaluate(n int) (memoryBytes int, err error) {
	play := func(v Vector) string {
		answer := ""
		if err == nil {
			answer, err = p.Play(&v)
		}
		return answer
	}
	play(Vector{Do: "new"})
	play(Vector{Do: "pf_compile", S: `{"manifest":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"main","image":"x"}]}}}`})
	answer := play(Vector{Do: "pf_eval", X: []any{1 << 12}, S: `{"container":"main","exitCode":42,"reason":"\u0045rror"}`, Times: n})
	if err == nil && !strings.Contains(answer, `"action":"Restart"`) {
		err = fmt.Errorf("evaluation %d: %s", n, answer)
	}
	if err != nil {
		return 0, err
	}
	return p.instance.MemoryBytes(), nil
}

// Line is what a runner prints.
type Line struct {
	Engine, Version, Module string
	Count, Mismatches       int
	Digest                  string
}

func (l Line) String() string {
	return fmt.Sprintf("engine=%s version=%s module=%s count=%d mismatches=%d digest=%s", l.Engine, l.Version, l.Module, l.Count, l.Mismatches, l.Digest)
}

// fold adds the answer to v to a digest.
func fold(h hash.Hash, v *Vector, answer string) {
	io.WriteString(h, v.ID)
	io.WriteString(h, "\n")
	io.WriteString(h, answer)
	io.WriteString(h, "\n")
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Replay plays the vectors in r and compares their answers; the first ten mismatches are described
// to report. Engine, version and module of the line are left to the caller.
func (p *Player) Replay(r io.Reader, report func(string)) (Line, error) {
	defer p.Close()
	var l Line
	all := sha256.New()
	lines := bufio.NewReaderSize(r, 1<<20)
	for {
		text, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(text)) > 0 {
			var v Vector
			decoder := json.NewDecoder(bytes.NewReader(text))
			decoder.UseNumber()
			if err := decoder.Decode(&v); err != nil {
				return l, fmt.Errorf("line %d: %w", l.Count+1, err)
			}
			answer, err := p.Play(&v)
			if err != nil {
				return l, err
			}
			fold(all, &v, answer)
			l.Count++
			if v.D != "" && digest(answer) != v.D || v.D == "" && answer != v.A {
				if l.Mismatches++; l.Mismatches <= 10 {
					report(fmt.Sprintf("%s: got %.2000s\nwant %.2000s%s", v.ID, answer, v.A, v.D))
				}
			}
		}
		if err == io.EOF {
			l.Digest = hex.EncodeToString(all.Sum(nil))
			return l, nil
		}
		if err != nil {
			return l, err
		}
	}
}
