package kernels_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// operation is one of the registry, which the generator writes.
type operation struct {
	name     string
	geometry string // the struct of package kernels that says where rows lie, or ""
	layout   string
	seeded   bool  // rows come from a seed
	partial  bool  // a kernel may leave some of it to its caller, as its result says
	unit     int   // what lengths are a multiple of, if not 1
	lengths  []int // of rows, if there are no others
	align    int   // bytes that what is written is aligned to, if any
	slices   []slice
	numbers  []string
	runs     map[kernels.Implementation]string // the function of asm, generic or runtime that does the work, if any
	call     func(impl kernels.Implementation, a *arguments)
	define   func(row *arguments) // of one row; nil where the operation is no loop over rows
}

// slice is one that an operation takes.
type slice struct {
	name    string
	element *element
	written bool
	single  bool // a row takes one element of it
}

// arguments are what an operation takes.
type arguments struct {
	memory     map[string][]byte // the slices; of one row, name2 is the second half of the pairs of name
	number     map[string]float64
	rotation   kernels.Rotation
	lines      kernels.Lines
	fusion     kernels.Fusion
	tile       kernels.Tile
	matrices   kernels.Matrices
	conversion kernels.Conversion
	block      kernels.Block
	seed       *[3][kernels.Width]float64
	shift      [][2][kernels.Width]float64
}

// elements returns a slice of a call.
func elements[T any](a *arguments, name string) []T {
	s := a.memory[name]
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(s))), len(s)/int(unsafe.Sizeof(*new(T))))
}

// element is a type of elements in memory.
type element struct {
	size int
	fill func(r *rand.Rand, s []byte)
	same func(got, want []byte) bool // of one
	set  func(s []byte, x float32)   // one, or nil where elements are no numbers
}

func elementOf[T testkit.Number](of *testkit.Numbers[T]) *element {
	at := func(s []byte) *T { return (*T)(unsafe.Pointer(&s[0])) }
	return &element{
		size: int(unsafe.Sizeof(*new(T))),
		fill: func(r *rand.Rand, s []byte) {
			of.Fill(r, elements[T](&arguments{memory: map[string][]byte{"": s}}, ""))
		},
		same: func(got, want []byte) bool { return of.Same(*at(got), *at(want)) },
		set:  func(s []byte, x float32) { *at(s) = of.Round(x) },
	}
}

// bitsOf is elements that have any bits and are compared by them.
func bitsOf(size int) *element {
	return &element{size: size, same: bytes.Equal, fill: func(r *rand.Rand, s []byte) {
		for i := range s {
			s[i] = byte(r.Uint32())
		}
	}}
}

// The types of elements, as the registry names them.
var (
	f32  = elementOf(&testkit.Float32Numbers)
	f16  = elementOf(&testkit.Float16Numbers)
	bf16 = elementOf(&testkit.Bfloat16Numbers)
	b32  = bitsOf(4)
	b16  = bitsOf(2)
	i32  = bitsOf(4)
	f64  = bitsOf(8)
	i8   = bitsOf(1)
	e4m3 = bitsOf(1)
	e5m2 = bitsOf(1)
	q8   = bitsOf(1)
)

// problem is a call to make: its arguments but for memory, how many elements its
// slices have, and its rows.
type problem struct {
	arguments
	size    map[string]int
	inPlace bool                             // y is x
	prepare func(r *rand.Rand, a *arguments) // changes random memory, or nil
	split   func(a *arguments) []*arguments  // the rows, one after another, or nil where the call is one row
}

// place is where a slice of n elements goes: random memory, and all around it that
// nothing may write to.
type place func(s *slice, n int) (all, part []byte)

// try makes a call on memory from place, and compares all memory with what the
// definition makes of it row by row.
func (o *operation) try(t testing.TB, r *rand.Rand, impl kernels.Implementation, p *problem, place place) {
	t.Helper()
	a, want := p.arguments, p.arguments
	a.memory, want.memory = map[string][]byte{}, map[string][]byte{}
	all, wantAll := map[string][]byte{}, map[string][]byte{}
	for i := range o.slices {
		s := &o.slices[i]
		if p.inPlace && s.name == "x" {
			a.memory["x"] = a.memory["y"]
			continue
		}
		all[s.name], a.memory[s.name] = place(s, p.size[s.name])
	}
	if p.prepare != nil {
		p.prepare(r, &a)
	}
	for name, memory := range all {
		wantAll[name] = bytes.Clone(memory)
		start := offset(memory, a.memory[name])
		want.memory[name] = wantAll[name][start:][:len(a.memory[name])]
		if a.memory[name] == nil {
			want.memory[name] = nil
		}
	}
	if p.inPlace {
		want.memory["x"] = want.memory["y"]
	}
	touched := map[string][]bool{} // bytes
	for _, s := range o.slices {
		if s.written {
			touched[s.name] = make([]bool, len(all[s.name]))
		}
	}
	list := []*arguments{&want}
	if p.split != nil {
		list = p.split(&want)
	}
	for _, row := range list {
		if o.define != nil {
			o.define(row)
		} else {
			o.call(kernels.Generic, row)
		}
		for name, marks := range touched {
			for _, part := range [][]byte{row.memory[name], row.memory[name+"2"]} {
				if len(part) > 0 {
					start := offset(wantAll[name], part)
					for i := range part {
						marks[start+i] = true
					}
				}
			}
		}
	}
	if reason, functions := testkit.Fault(func() { o.call(impl, &a) }); reason != nil {
		t.Fatalf("%s, %s: %v in %s", o.name, p, reason, functions)
	}
	for _, s := range o.slices {
		got, want := all[s.name], wantAll[s.name]
		if bytes.Equal(got, want) {
			continue
		}
		for i := 0; i < len(got); i += s.element.size {
			g, w := got[i:i+s.element.size], want[i:i+s.element.size]
			if bytes.Equal(g, w) || s.written && touched[s.name][i] && s.element.same(g, w) {
				continue
			}
			at := (i - offset(all[s.name], a.memory[s.name])) / s.element.size
			t.Fatalf("%s, %s: %s[%d of %d] is %x, want %x", o.name, p, s.name, at, p.size[s.name], g, w)
		}
	}
}

// offset returns where part starts in memory, or 0 where it is empty.
func offset(memory, part []byte) int {
	if len(part) == 0 {
		return 0
	}
	return int(uintptr(unsafe.Pointer(&part[0])) - uintptr(unsafe.Pointer(&memory[0])))
}

func (p *problem) String() string {
	text := fmt.Sprintf("sizes %v, numbers %v, in place %t", p.size, p.number, p.inPlace)
	for _, g := range []any{p.rotation, p.lines, p.fusion, p.tile, p.matrices, p.conversion} {
		if text2 := fmt.Sprintf(", %+v", g); bytes.ContainsAny([]byte(text2), "123456789") {
			text += text2
		}
	}
	return text
}

// padded places slices between random elements, at any start.
func padded(r *rand.Rand, o *operation) place {
	return func(s *slice, n int) (all, part []byte) {
		const padding = 40
		start := (padding + r.IntN(16)) * s.element.size
		all = make([]byte, start+(n+padding)*s.element.size+64)
		if o.align > 0 && s.written {
			for start = padding * s.element.size; int(uintptr(unsafe.Pointer(&all[start])))%o.align != 0; {
				start += s.element.size
			}
		}
		s.element.fill(r, all)
		return all, all[start:][: n*s.element.size : n*s.element.size]
	}
}

// guards is an arena for each slice of an operation, and how many elements lie
// between a slice and the guard.
type guards struct {
	arenas map[string][]byte
	gaps   map[string]int
	atEnd  bool
}

func newGuards(t testing.TB, bytes int, o *operation) *guards {
	g := &guards{arenas: map[string][]byte{}, gaps: map[string]int{}}
	for _, s := range o.slices {
		g.arenas[s.name] = testkit.NewArena(t, bytes)
		s.element.fill(testkit.NewRand(0), g.arenas[s.name])
	}
	return g
}

// place places a slice next to its guard.
func (g *guards) place(r *rand.Rand, o *operation) place {
	return func(s *slice, n int) (all, part []byte) {
		all = g.arenas[s.name]
		gap := g.gaps[s.name]
		if o.align > 0 && s.written {
			gap &^= o.align/s.element.size - 1
		}
		if (n+gap)*s.element.size > len(all) {
			panic("an arena is too small")
		}
		part = testkit.Flush[byte](all, (n+gap)*s.element.size, g.atEnd)
		if g.atEnd {
			part = part[: n*s.element.size : n*s.element.size]
		} else {
			part = part[gap*s.element.size:]
		}
		s.element.fill(r, part)
		return all, part
	}
}

// regular are the operations that are defined row by row, or by plain Go that does
// the same: those that try compares.
func regular() []*operation {
	return slices.DeleteFunc(slices.Clone(registry), func(o *operation) bool {
		return o.geometry == "Block" || o.partial || len(o.slices) == 0
	})
}

// eachOperation runs f for operations on every implementation.
func eachOperation(t *testing.T, list []*operation, f func(t *testing.T, impl kernels.Implementation, o *operation)) {
	t.Helper()
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, o := range list {
			t.Run("operation="+o.name, func(t *testing.T) { f(t, impl, o) })
		}
	})
}

// has reports whether an operation takes a slice or a number.
func (o *operation) has(name string) bool {
	return slices.Contains(o.numbers, name) || slices.ContainsFunc(o.slices, func(s slice) bool { return s.name == name })
}

func (o *operation) slice(name string) *slice {
	i := slices.IndexFunc(o.slices, func(s slice) bool { return s.name == name })
	return &o.slices[i]
}
