package testkit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/kernels"
)

// BytesOf returns the memory of s.
func BytesOf[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}

// Flush returns n elements at the start or at the end of an arena, next to its
// guard.
func Flush[T any](arena []byte, n int, atEnd bool) []T {
	var zero T
	start := 0
	if atEnd && (n > 0 || GuardPages) {
		start = len(arena) - n*int(unsafe.Sizeof(zero))
	}
	return unsafe.Slice((*T)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(arena)), start)), n)
}

// Guards is an arena for each slice of a call.
type Guards struct {
	T      *testing.T
	R      *rand.Rand
	Arenas map[string][]byte
	Before map[string][]byte // what is in the arenas before a call
	Gaps   map[string]int    // elements between a slice and its guard
}

func NewGuards(t *testing.T, r *rand.Rand, bytes int, names ...string) *Guards {
	g := &Guards{t, r, map[string][]byte{}, map[string][]byte{}, map[string]int{}}
	for _, name := range names {
		g.Arenas[name] = NewArena(t, bytes)
		for i := range g.Arenas[name] {
			g.Arenas[name][i] = byte(r.Uint32())
		}
		g.Before[name] = make([]byte, len(g.Arenas[name]))
	}
	return g
}

// Floats returns n elements of an arena, random ones, next to its guard.
func (g *Guards) Floats(name string, n int, atEnd bool) []float32 {
	return Guarded(g, &Float32Numbers, name, n, atEnd)
}

func Guarded[T Number](g *Guards, of *Numbers[T], name string, n int, atEnd bool) []T {
	gap := g.Gaps[name]
	s := Flush[T](g.Arenas[name], n+gap, atEnd)
	if atEnd {
		s = s[:n]
	} else {
		s = s[gap:]
	}
	of.Fill(g.R, s)
	return s
}

// Check makes a call that may write to the named slices alone, and compares
// them with what want makes of copies.
func (g *Guards) Check(name string, call func(), want func(copies map[string][]float32), outputs map[string][]float32) {
	g.T.Helper()
	CheckGuarded(g, &Float32Numbers, name, call, want, outputs)
}

func CheckGuarded[T Number](g *Guards, of *Numbers[T], name string, call func(), want func(copies map[string][]T), outputs map[string][]T) {
	g.T.Helper()
	copies := map[string][]T{}
	for key, arena := range g.Arenas {
		copy(g.Before[key], arena)
	}
	for key, s := range outputs {
		copies[key] = slices.Clone(s)
	}
	want(copies)
	if reason, functions := Fault(call); reason != nil {
		g.T.Fatalf("%s: %v in %s", name, reason, functions)
	}
	for key, s := range outputs {
		for i := range s {
			if !of.Same(s[i], copies[key][i]) {
				g.T.Fatalf("%s: %s[%d] is %v, want %v", name, key, i, s[i], copies[key][i])
			}
		}
		// Back to what it was, so that the arena as a whole has to be.
		arena := g.Arenas[key]
		if len(s) > 0 {
			start := int(uintptr(unsafe.Pointer(&s[0])) - uintptr(unsafe.Pointer(&arena[0])))
			copy(arena[start:start+int(unsafe.Sizeof(s[0]))*len(s)], g.Before[key][start:])
		}
	}
	for key, arena := range g.Arenas {
		if !bytes.Equal(arena, g.Before[key]) {
			g.T.Fatalf("%s: memory beyond %s was written", name, key)
		}
	}
}

// GuardExact computes rows of n frequencies next to guards.
func (g *Guards) GuardExact(impl kernels.Implementation, n, rows int, hard, nonTemporal, atEnd bool) {
	g.T.Helper()
	positions := []int32{26, 27, 28, 29, 30, 31, 32, 33, 7}[:rows] // runs of 6, of 2 and of 1
	invFreq := RandomFrequencies(g.R, n, positions, hard)
	var block kernels.Block
	var shift kernels.Shift
	block.Set(invFreq)
	shift.Set(impl, &block)
	cos, sin := g.Floats("cos", rows*n, atEnd), g.Floats("sin", rows*n, atEnd)
	g.Check(fmt.Sprintf("%d rows of %d, gaps %v, at the end: %t", rows, n, g.Gaps, atEnd),
		func() {
			if rows == 1 {
				kernels.CosSinExactRow(impl, cos, sin, float64(positions[0]), &block, 1, -1)
			} else {
				kernels.CosSinExactRows(impl, cos, sin, n, positions, &block, &shift, 1, -1, nonTemporal)
			}
		},
		func(copies map[string][]float32) {
			for i, p := range positions {
				generic.CosSinExact(copies["cos"][i*n:], copies["sin"][i*n:], p, invFreq, 1, -1)
			}
		}, map[string][]float32{"cos": cos, "sin": sin})
}

// GuardAngles takes the cosines and sines of n angles next to guards, with small
// of such as the fast path is for.
func (g *Guards) GuardAngles(impl kernels.Implementation, n int, small, atEnd bool) {
	g.T.Helper()
	angles := g.Floats("angles", n, atEnd)
	for i := range angles {
		if small {
			angles[i] = 100 * g.R.Float32()
		}
	}
	cos, sin := g.Floats("cos", n, atEnd), g.Floats("sin", n, atEnd)
	g.Check(fmt.Sprintf("%d angles, gaps %v, at the end: %t", n, g.Gaps, atEnd),
		func() { kernels.CosSinFloat32(impl, cos, sin, angles, 3, 1, -1) },
		func(copies map[string][]float32) {
			generic.CosSinFloat32(copies["cos"], copies["sin"], angles, 3, 1, -1)
		}, map[string][]float32{"cos": cos, "sin": sin})
}
