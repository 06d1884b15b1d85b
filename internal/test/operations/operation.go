package operations

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/kernels"
)

// Operation is one of the registry, which the generator writes.
type Operation struct {
	Name     string
	Geometry string // the struct of package kernels that says where rows lie, or ""
	Layout   string
	Seeded   bool  // rows come from a seed
	Partial  bool  // a kernel may leave some of it to its caller, as its result says
	Unit     int   // what lengths are a multiple of, if not 1
	Lengths  []int // of rows, if there are no others
	Align    int   // bytes that what is written is aligned to, if any
	Slices   []Slice
	Numbers  []string
	Runs     map[kernels.Implementation]string // the function of asm, generic or runtime that does the work, if any
	Call     func(impl kernels.Implementation, a *Arguments)
	Define   func(row *Arguments) // of one row; nil where the operation is no loop over rows
}

// Slice is one that an operation takes.
type Slice struct {
	Name    string
	Element *Element
	Written bool
	Single  bool // a row takes one element of it
}

// Arguments are what an operation takes.
type Arguments struct {
	Memory     map[string][]byte // the slices; of one row, name2 is the second half of the pairs of name
	Number     map[string]float64
	Rotation   kernels.Rotation
	Lines      kernels.Lines
	Fusion     kernels.Fusion
	Tile       kernels.Tile
	Matrices   kernels.Matrices
	Conversion kernels.Conversion
	Affine     kernels.Affine
	Block      kernels.Block
	Seed       *[3][kernels.Width]float64
	Shift      [][2][kernels.Width]float64
	InvFreq    *[kernels.Width]float32
}

// Elements returns a slice of a call.
func Elements[T any](a *Arguments, name string) []T {
	s := a.Memory[name]
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(s))), len(s)/int(unsafe.Sizeof(*new(T))))
}

// Element is a type of elements in memory.
type Element struct {
	Size int
	Fill func(r *rand.Rand, s []byte)
	Same func(got, want []byte) bool // of one
	Set  func(s []byte, x float32)   // one, or nil where elements are no numbers

	Block, Numbers int // bytes and numbers of a block, where its bytes are the elements
}

func elementOf[T kit.Number](of *kit.Numbers[T]) *Element {
	at := func(s []byte) *T { return (*T)(unsafe.Pointer(&s[0])) }
	return &Element{
		Size: int(unsafe.Sizeof(*new(T))),
		Fill: func(r *rand.Rand, s []byte) {
			of.Fill(r, Elements[T](&Arguments{Memory: map[string][]byte{"": s}}, ""))
		},
		Same: func(got, want []byte) bool { return of.Same(*at(got), *at(want)) },
		Set:  func(s []byte, x float32) { *at(s) = of.Round(x) },
	}
}

// bitsOf is elements that have any bits and are compared by them.
func bitsOf(size int) *Element {
	return &Element{Size: size, Same: bytes.Equal, Fill: func(r *rand.Rand, s []byte) {
		for i := range s {
			s[i] = byte(r.Uint32())
		}
	}}
}

// blocksOf is bytes of blocks of that many, and of so many numbers.
func blocksOf(size, numbers int) *Element {
	e := bitsOf(1)
	e.Block, e.Numbers = size, numbers
	return e
}

// The types of elements, as the registry names them.
var (
	F32  = elementOf(&kit.Float32Numbers)
	F16  = elementOf(&kit.Float16Numbers)
	BF16 = elementOf(&kit.Bfloat16Numbers)
	B32  = bitsOf(4)
	B16  = bitsOf(2)
	I32  = bitsOf(4)
	F64  = bitsOf(8)
	I8   = bitsOf(1)
	E4M3 = bitsOf(1)
	E5M2 = bitsOf(1)
	U8   = bitsOf(1)
	U4   = bitsOf(1)

	Q8     = blocksOf(generic.Q8Bytes, generic.Block)
	Q4_0   = blocksOf(generic.Q4_0Bytes, generic.Block)
	Q4_1   = blocksOf(generic.Q4_1Bytes, generic.Block)
	Q5_0   = blocksOf(generic.Q5_0Bytes, generic.Block)
	Q5_1   = blocksOf(generic.Q5_1Bytes, generic.Block)
	IQ4_NL = blocksOf(generic.IQ4_NLBytes, generic.Block)

	MXFP4 = blocksOf(generic.MXFP4Bytes, generic.Block)
	NVFP4 = blocksOf(generic.NVFP4Bytes, generic.NVFP4Numbers)
)

// Problem is a call to make: its arguments without memory, how many elements its
// slices have, and its rows.
type Problem struct {
	Arguments
	Size    map[string]int
	InPlace bool                             // y is x
	Prepare func(r *rand.Rand, a *Arguments) // changes random memory, or nil
	Split   func(a *Arguments) []*Arguments  // the rows, one after another, or nil where the call is one row
}

// Place is where a slice of n elements goes: random memory, and all around it that
// nothing may write to.
type Place func(s *Slice, n int) (all, part []byte)

// Place returns the arguments of a call on memory from place.
func (o *Operation) Place(r *rand.Rand, p *Problem, in Place) *Arguments {
	a, _ := o.place(r, p, in)
	return &a
}

// place also returns the memory around each slice.
func (o *Operation) place(r *rand.Rand, p *Problem, place Place) (a Arguments, all map[string][]byte) {
	a, all = p.Arguments, map[string][]byte{}
	a.Memory = map[string][]byte{}
	for i := range o.Slices {
		s := &o.Slices[i]
		if p.InPlace && s.Name == "x" {
			a.Memory["x"] = a.Memory["y"]
			continue
		}
		all[s.Name], a.Memory[s.Name] = place(s, p.Size[s.Name])
	}
	if p.Prepare != nil {
		p.Prepare(r, &a)
	}
	return a, all
}

// Try makes a call by each implementation on memory from place, and compares all memory with what
// the definition makes of it row by row.
func (o *Operation) Try(t testing.TB, r *rand.Rand, p *Problem, in Place) {
	t.Helper()
	o.TryOn(t, r, p, in, kit.Supported()...)
}

// TryOn is Try for some implementations.
func (o *Operation) TryOn(t testing.TB, r *rand.Rand, p *Problem, in Place, implementations ...kernels.Implementation) {
	t.Helper()
	a, all := o.place(r, p, in)
	given := map[string][]byte{}
	for name, memory := range all {
		if len(implementations) > 1 {
			given[name] = bytes.Clone(memory)
		}
	}
	wantAll, touched := o.define(p, &a, all)
	for i, impl := range implementations {
		for name, memory := range all {
			if i > 0 {
				copy(memory, given[name])
			}
		}
		if reason, functions := kit.Fault(func() { o.Call(impl, &a) }); reason != nil {
			t.Fatalf("%s on %s, %s: %v in %s", o.Name, impl, p, reason, functions)
		}
		for _, s := range o.Slices {
			got, want := all[s.Name], wantAll[s.Name]
			if bytes.Equal(got, want) {
				continue
			}
			for i := 0; i < len(got); i += s.Element.Size {
				g, w := got[i:i+s.Element.Size], want[i:i+s.Element.Size]
				if bytes.Equal(g, w) || s.Written && touched[s.Name][i] && s.Element.Same(g, w) {
					continue
				}
				at := (i - Offset(all[s.Name], a.Memory[s.Name])) / s.Element.Size
				t.Fatalf("%s on %s, %s: %s[%d of %d] is %x, want %x", o.Name, impl, p, s.Name, at, p.Size[s.Name], g, w)
			}
		}
	}
}

// define returns what the definition makes of the memory of a, and the bytes that it writes.
func (o *Operation) define(p *Problem, a *Arguments, all map[string][]byte) (wantAll map[string][]byte, touched map[string][]bool) {
	want := p.Arguments
	want.Memory, wantAll, touched = map[string][]byte{}, map[string][]byte{}, map[string][]bool{}
	for name, memory := range all {
		wantAll[name] = bytes.Clone(memory)
		start := Offset(memory, a.Memory[name])
		want.Memory[name] = wantAll[name][start:][:len(a.Memory[name])]
		if a.Memory[name] == nil {
			want.Memory[name] = nil
		}
	}
	if p.InPlace {
		want.Memory["x"] = want.Memory["y"]
	}
	for _, s := range o.Slices {
		if s.Written {
			touched[s.Name] = make([]bool, len(all[s.Name]))
		}
	}
	list := []*Arguments{&want}
	if p.Split != nil {
		list = p.Split(&want)
	}
	for _, row := range list {
		if o.Define != nil {
			o.Define(row)
		} else {
			o.Call(kernels.Generic, row)
		}
		for name, marks := range touched {
			for _, part := range [][]byte{row.Memory[name], row.Memory[name+"2"]} {
				if len(part) > 0 {
					start := Offset(wantAll[name], part)
					for i := range part {
						marks[start+i] = true
					}
				}
			}
		}
	}
	return wantAll, touched
}

// offset returns where part starts in memory, or 0 where it is empty.
func Offset(memory, part []byte) int {
	if len(part) == 0 {
		return 0
	}
	return int(uintptr(unsafe.Pointer(&part[0])) - uintptr(unsafe.Pointer(&memory[0])))
}

func (p *Problem) String() string {
	text := fmt.Sprintf("sizes %v, numbers %v, in place %t", p.Size, p.Number, p.InPlace)
	for _, g := range []any{p.Rotation, p.Lines, p.Fusion, p.Tile, p.Matrices, p.Conversion, p.Affine} {
		if text2 := fmt.Sprintf(", %+v", g); bytes.ContainsAny([]byte(text2), "123456789") {
			text += text2
		}
	}
	return text
}

// Padded places slices between random elements, at any start.
func Padded(r *rand.Rand, o *Operation) Place {
	return func(s *Slice, n int) (all, part []byte) {
		const padding = 40
		start := (padding + r.IntN(16)) * s.Element.Size
		all = make([]byte, start+(n+padding)*s.Element.Size+64)
		if o.Align > 0 && s.Written {
			for start = padding * s.Element.Size; int(uintptr(unsafe.Pointer(&all[start])))%o.Align != 0; {
				start += s.Element.Size
			}
		}
		s.Element.Fill(r, all)
		return all, all[start:][: n*s.Element.Size : n*s.Element.Size]
	}
}

// Guards is an arena for each slice of an operation, and how many elements lie
// between a slice and the guard.
type Guards struct {
	Arenas map[string][]byte
	Gaps   map[string]int
	AtEnd  bool
}

func NewGuards(t testing.TB, bytes int, o *Operation) *Guards {
	g := &Guards{Arenas: map[string][]byte{}, Gaps: map[string]int{}}
	for _, s := range o.Slices {
		g.Arenas[s.Name] = kit.NewArena(t, bytes)
		s.Element.Fill(kit.NewRand(0), g.Arenas[s.Name])
	}
	return g
}

// Place places a slice next to its guard.
func (g *Guards) Place(r *rand.Rand, o *Operation) Place {
	return func(s *Slice, n int) (all, part []byte) {
		all = g.Arenas[s.Name]
		gap := g.Gaps[s.Name]
		if o.Align > 0 && s.Written {
			gap &^= o.Align/s.Element.Size - 1
		}
		if (n+gap)*s.Element.Size > len(all) {
			panic("an arena is too small")
		}
		part = kit.Flush[byte](all, (n+gap)*s.Element.Size, g.AtEnd)
		if g.AtEnd {
			part = part[: n*s.Element.Size : n*s.Element.Size]
		} else {
			part = part[gap*s.Element.Size:]
		}
		s.Element.Fill(r, part)
		return all, part
	}
}

// Regular are the operations that are defined row by row, or by plain Go that does
// the same: those that try compares.
func Regular() []*Operation {
	return slices.DeleteFunc(slices.Clone(Registry), func(o *Operation) bool {
		return o.Geometry == "Block" || o.Partial || len(o.Slices) == 0
	})
}

// EachOperation runs f for operations.
func EachOperation(t *testing.T, list []*Operation, f func(t *testing.T, o *Operation)) {
	t.Helper()
	for _, o := range list {
		t.Run("operation="+o.Name, func(t *testing.T) { f(t, o) })
	}
}

// OnEachImplementation runs f for operations on every implementation.
func OnEachImplementation(t *testing.T, list []*Operation, f func(t *testing.T, impl kernels.Implementation, o *Operation)) {
	t.Helper()
	kit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, o := range list {
			t.Run("operation="+o.Name, func(t *testing.T) { f(t, impl, o) })
		}
	})
}

// Has reports whether an operation takes a slice or a number.
func (o *Operation) Has(name string) bool {
	return slices.Contains(o.Numbers, name) || slices.ContainsFunc(o.Slices, func(s Slice) bool { return s.Name == name })
}

func (o *Operation) Slice(name string) *Slice {
	i := slices.IndexFunc(o.Slices, func(s Slice) bool { return s.Name == name })
	return &o.Slices[i]
}
