// Command stress is linked and sealed by a test: it uses the parts of Go whose code the seal
// rewrites and that the guest hardly uses itself. Each export returns a digest of what it computed.
package main

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

func main() {}

// digest is FNV-1a.
type digest uint64

func (d *digest) add(s string) {
	for i := range len(s) {
		*d = (*d ^ digest(s[i])) * 1099511628211
	}
}

func (d *digest) int(n int) { d.add(strconv.Itoa(n)) }

// pf_deep recurses n frames deep, several times the stack that a goroutine starts with, and makes
// garbage on the way, so that the stack grows under running functions. It recovers a panic at the
// bottom.
//
//go:wasmexport pf_deep
func deep(n int32) uint64 {
	var d digest
	func() {
		defer func() {
			if r := recover(); r != nil {
				d.add(r.(error).Error())
			}
		}()
		d.int(descend(int(n), [8]int{}, nil))
	}()
	runtime.GC()
	d.int(descend(int(n)/2, [8]int{1}, func(int) int { return 1 }))
	return uint64(d)
}

func descend(n int, frame [8]int, f func(int) int) int {
	if n == 0 {
		return f(frame[0]) // a nil function at the bottom of the first descent
	}
	frame[n%8] += n
	s := strings.Repeat("x", n%100+1) // garbage
	defer func() { frame[0]++ }()
	return descend(n-1, frame, f) + len(s) + frame[n%8]
}

// node is a tree of pointers that the collector has to follow.
type node struct {
	left, right *node
	name        string
	values      map[string]int
}

func build(n int) *node {
	if n == 0 {
		return nil
	}
	t := &node{build(n - 1), build(n - 1), strconv.Itoa(n), map[string]int{}}
	for i := range n {
		t.values[strconv.Itoa(i*n)] = i
	}
	return t
}

func (t *node) sum(d *digest) {
	if t == nil {
		return
	}
	t.left.sum(d)
	d.add(t.name)
	keys := []string{}
	for k, v := range t.values {
		keys = append(keys, k+strconv.Itoa(v))
	}
	slices.Sort(keys)
	d.add(strings.Join(keys, ","))
	t.right.sum(d)
}

var kept *node

// pf_garbage makes n trees, of which one is kept from call to call, and collects.
//
//go:wasmexport pf_garbage
func garbage(n int32) uint64 {
	var d digest
	kept.sum(&d)
	for i := range int(n) {
		t := build(i%6 + 1)
		if i%50 == 0 {
			kept = t
		}
		t.sum(&d)
	}
	runtime.GC()
	kept.sum(&d)
	return uint64(d)
}

// pf_switch lets goroutines hand values to each other, so that functions are left and taken up
// again at every call.
//
//go:wasmexport pf_switch
func switches(n int32) uint64 {
	var d digest
	numbers, squares, done := make(chan int), make(chan [2]int, 3), make(chan bool)
	for w := range 3 {
		go func() {
			for i := range numbers {
				if i%5 == w {
					runtime.Gosched()
				}
				squares <- [2]int{i, descend(i%40, [8]int{}, func(x int) int { return x + i*i })}
			}
			done <- true
		}()
	}
	go func() {
		for i := range int(n) {
			numbers <- i
		}
		close(numbers)
	}()
	sum := 0
	for running := 3; running > 0; {
		select {
		case s := <-squares:
			sum += s[0] ^ s[1]
		case <-done:
			running--
		}
	}
	for len(squares) > 0 {
		s := <-squares
		sum += s[0] ^ s[1]
	}
	d.int(sum)
	return uint64(d)
}

type shape interface{ area() float64 }
type square struct{ side float64 }
type circle struct{ r float64 }
type pair struct{ a, b shape }

func (s square) area() float64  { return s.side * s.side }
func (c *circle) area() float64 { return math.Pi * c.r * c.r }
func (p pair) area() float64    { return p.a.area() + p.b.area() }

var errDeep = errors.New("deep")

// pf_values goes through conversions, divisions, comparisons, interfaces, faults that are
// recovered, and strings.
//
//go:wasmexport pf_values
func values(n int32) uint64 {
	var d digest
	var m map[string]int
	var p *node
	numbers := []int64{0, 1, -1, 63, math.MinInt64, math.MaxInt64, int64(n), int64(n) << 40, -int64(n)}
	faults := []func(x int64){
		func(x int64) { d.int(int(1000 / x)) },
		func(x int64) { d.int(int(numbers[x])) },
		func(x int64) { d.add("abcdef"[x:]) },
		func(x int64) { m["a"] = int(x) },
		func(x int64) { p.name = "a" },
		func(x int64) { panic(errDeep) },
		func(x int64) { d.add(any(x).(string)) },
		func(x int64) { _ = any(p).(shape) },
		func(x int64) { _ = make([]byte, x)[:0] },
	}
	for _, x := range numbers {
		for _, y := range numbers {
			if y != 0 {
				d.int(int(x / y))
				d.int(int(x % y))
				d.int(int(uint64(x) / uint64(y)))
			}
			d.int(int(x<<(uint64(y)&127) ^ x>>(uint64(y)&127) ^ int64(uint32(x)>>(uint64(y)&63))))
			d.add(strconv.FormatBool(x < y) + strconv.FormatBool(uint64(x) <= uint64(y)) + strconv.FormatBool(int32(x) >= int32(y)))
		}
		f := float64(x) / 3
		d.add(strconv.FormatFloat(f, 'g', -1, 64) + strconv.FormatFloat(float64(float32(f)), 'e', 5, 32))
		d.int(int(int32(f)) ^ int(uint8(x)) ^ int(int16(x)))
		for k, fault := range faults {
			func() {
				defer func() {
					if r := recover(); r != nil {
						d.add(r.(error).Error())
						d.int(k)
					}
				}()
				if x != math.MaxInt64 || k != 8 {
					fault(x)
				}
			}()
		}
	}
	s := pair{square{float64(n)}, pair{&circle{2}, square{1}}}
	d.add(strconv.FormatFloat(s.area(), 'g', -1, 64))
	set := map[any]int{}
	for i := range 200 {
		set[i%17] += i
		set[strconv.Itoa(i%19)] += i
		set[[2]int{i % 3, i % 5}] += i
		set[float64(i%7)/2]++
		delete(set, i%11)
	}
	total := 0
	for _, v := range set {
		total += v
	}
	d.int(total + len(set))
	d.add(strings.ToUpper(strings.Map(func(r rune) rune { return r + n%3 }, "grüße, Wörld")))
	return uint64(d)
}
