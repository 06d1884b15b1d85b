package kernels_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// guardBytes is enough for the slices of a packed problem of so many elements or pairs,
// of which there are up to 6 rows with 78 elements besides, and gaps.
func guardBytes(n int) int { return 4 * (6*(2*n+78) + 64) }

// allGuarded are the regular operations and the functions that call the others.
func allGuarded(longest int) []guarded {
	list := composed(longest)
	for _, o := range regular() {
		list = append(list, guarded{o.name, longest, func(r *rand.Rand, _ kernels.Implementation, n int) (*operation, *problem) {
			return o, o.problem(r, n, true)
		}})
	}
	return list
}

// newGuards returns guards for rows that begin up to misaligned elements from them.
func (j *guarded) newGuards(t testing.TB, misaligned int) *guards {
	o, _ := j.problem(testkit.NewRand(0), kernels.Generic, 1)
	longest := max(j.longest*max(1, o.unit), slices.Max(append(o.lengths, 0)))
	return newGuards(t, guardBytes(longest+misaligned*max(1, o.unit)), o)
}

// try makes a call on rows of n next to guards.
func (j *guarded) try(t testing.TB, r *rand.Rand, impl kernels.Implementation, n int, g *guards) {
	t.Helper()
	o, p := j.problem(r, impl, n)
	o.try(t, r, impl, p, g.place(r, o))
}

// No operation reads or writes beyond its slices, at every length and on both sides.
func TestGuards(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, j := range allGuarded(139) {
			t.Run("operation="+j.name, func(t *testing.T) {
				r, g := testkit.NewRand(51), j.newGuards(t, 0)
				for n := range j.longest + 1 {
					for range testkit.Rounds(3) {
						for _, g.atEnd = range []bool{false, true} {
							j.try(t, r, impl, n, g)
						}
					}
				}
			})
		}
	})
}

// The halves of a row end and begin at a guard of their own: neither the end of
// the first nor the start of the second is touched by more than its pairs.
func TestGuardHalves(t *testing.T) {
	if !testkit.GuardPages {
		t.Skip("NOT TESTED: nothing faults around memory here")
	}
	// What takes heads of one length alone takes no halves apart.
	rotations := slices.DeleteFunc(regular(), func(o *operation) bool {
		return o.geometry != "Rotation" || o.layout != "HalfSplit" || o.lengths != nil
	})
	eachOperation(t, rotations, func(t *testing.T, impl kernels.Implementation, o *operation) {
		r := testkit.NewRand(50)
		arenas := testkit.NewArenas(t, 4*70, 2)
		for n := 1; n <= 70; n++ {
			for _, guarded := range []string{"x", "y"} {
				p := o.problem(r, n, true)
				size := o.slice(guarded).element.size
				first, second := testkit.Flush[byte](arenas[0], n*size, true), testkit.Flush[byte](arenas[1], n*size, false)
				partner := offset(first, second) / size
				p.rotation = kernels.Rotation{Pairs: n, Partner: partner, Tokens: 1, Heads: 1}
				a := p.arguments
				a.memory = map[string][]byte{}
				want := arguments{memory: map[string][]byte{}}
				for i := range o.slices {
					s := &o.slices[i]
					switch {
					case s.name == "cos" || s.name == "sin":
						a.memory[s.name] = make([]byte, n*s.element.size)
						s.element.fill(r, a.memory[s.name])
						want.memory[s.name] = a.memory[s.name]
						continue
					case s.name == guarded:
						a.memory[s.name] = unsafe.Slice(&first[0], (partner+n)*size)
					default:
						a.memory[s.name] = make([]byte, (partner+n)*s.element.size)
					}
					for j, name := range []string{s.name, s.name + "2"} {
						half := a.memory[s.name][j*partner*s.element.size:][:n*s.element.size]
						s.element.fill(r, half)
						want.memory[name] = slices.Clone(half)
					}
				}
				o.define(&want)
				if reason, functions := testkit.Fault(func() { o.call(impl, &a) }); reason != nil {
					t.Fatalf("%d pairs: %v in %s", n, reason, functions)
				}
				e := o.slice("y").element
				for j, name := range []string{"y", "y2"} {
					got := a.memory["y"][j*partner*e.size:]
					for i := 0; i < n*e.size; i += e.size {
						if g, w := got[i:i+e.size], want.memory[name][i:i+e.size]; !e.same(g, w) {
							t.Fatalf("%d pairs: %s[%d] is %x, want %x", n, name, i/e.size, g, w)
						}
					}
				}
			}
		}
	})
}

// The guard itself: one element too far, either way, is noticed.
func TestGuardCatches(t *testing.T) {
	if !testkit.GuardPages {
		t.Skip("NOT TESTED: nothing faults around memory here")
	}
	arena := testkit.NewArena(t, 100)
	for _, atEnd := range []bool{false, true} {
		s := testkit.Flush[float32](arena, 4, atEnd)
		beyond := unsafe.Add(unsafe.Pointer(&s[0]), -4)
		if atEnd {
			beyond = unsafe.Add(unsafe.Pointer(&s[3]), 4)
		}
		if reason, _ := testkit.Fault(func() { s[0], s[3] = 1, 2 }); reason != nil {
			t.Errorf("a write within the slice: %v", reason)
		}
		var read float32
		if reason, _ := testkit.Fault(func() { read = *(*float32)(beyond) }); reason == nil {
			t.Errorf("a read beyond the slice gave %v", read)
		}
		if reason, _ := testkit.Fault(func() { *(*float32)(beyond) = 1 }); reason == nil {
			t.Error("a write beyond the slice was not noticed")
		}
	}
}
