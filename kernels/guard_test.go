package kernels_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc/internal/operations"

	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// guardBytes is enough for the slices of a packed problem of n elements or pairs,
// of which there are up to 6 rows with 78 elements besides, and gaps.
func guardBytes(n int) int { return 4 * (6*(2*n+78) + 64) }

// guarded is an operation, or a function that calls some: the slices of its packed problems go next to
// guards.
type guarded struct {
	operations.Composed
	shared bool // the problem is the same for every implementation
}

// allGuarded are the regular operations and the functions that call the others.
func allGuarded(longest int) (list []guarded) {
	for _, c := range operations.ComposedFunctions(longest) {
		list = append(list, guarded{Composed: c})
	}
	for _, o := range operations.Regular() {
		list = append(list, guarded{operations.Composed{Name: o.Name, Longest: longest, Problem: func(r *rand.Rand, _ kernels.Implementation, n int) (*operations.Operation, *operations.Problem) {
			return o, o.Problem(r, n, true)
		}}, true})
	}
	return list
}

// newGuards returns guards for rows that begin up to misaligned elements from them.
func (j *guarded) newGuards(t testing.TB, misaligned int) *operations.Guards {
	o, _ := j.Problem(testkit.NewRand(0), kernels.Generic, 1)
	longest := max(j.Longest*max(1, o.Unit), slices.Max(append(o.Lengths, 0)))
	return operations.NewGuards(t, guardBytes(longest+misaligned*max(1, o.Unit)), o)
}

// try makes calls on rows of n next to guards, by every implementation.
func (j *guarded) try(t testing.TB, r *rand.Rand, n int, g *operations.Guards) {
	t.Helper()
	if j.shared {
		j.tryOn(t, r, n, g, testkit.Supported()...)
		return
	}
	for _, impl := range testkit.Supported() {
		j.tryOn(t, r, n, g, impl)
	}
}

// tryOn is try by implementations whose problems are the same.
func (j *guarded) tryOn(t testing.TB, r *rand.Rand, n int, g *operations.Guards, implementations ...kernels.Implementation) {
	t.Helper()
	o, p := j.Problem(r, implementations[0], n)
	if testkit.Bochs { // TestOperations and those of functions compare the same calls
		a := o.Place(r, p, g.Place(r, o))
		if reason, functions := testkit.Fault(func() { o.Call(implementations[0], a) }); reason != nil {
			t.Fatalf("%s, %s: %v in %s", o.Name, p, reason, functions)
		}
		return
	}
	o.TryOn(t, r, p, g.Place(r, o), implementations...)
}

// No operation reads or writes beyond its slices, at every length and on both sides.
func TestGuards(t *testing.T) {
	for _, j := range allGuarded(139) {
		t.Run("operation="+j.Name, func(t *testing.T) {
			r, g := testkit.NewRand(51), j.newGuards(t, 0)
			for n := range testkit.Lengths(j.Longest) {
				for range testkit.Rounds(3) {
					for _, g.AtEnd = range []bool{false, true} {
						j.try(t, r, n, g)
					}
				}
			}
		})
	}
}

// The halves of a row end and begin at a guard of their own: neither the end of
// the first nor the start of the second is touched by more than its pairs.
func TestGuardHalves(t *testing.T) {
	if !testkit.GuardPages {
		t.Skip("NOT TESTED: nothing faults around memory here")
	}
	// What takes heads of one length alone takes no halves apart.
	rotations := slices.DeleteFunc(operations.Regular(), func(o *operations.Operation) bool {
		return o.Geometry != "Rotation" || o.Layout != "HalfSplit" || o.Lengths != nil
	})
	operations.OnEachImplementation(t, rotations, func(t *testing.T, impl kernels.Implementation, o *operations.Operation) {
		r := testkit.NewRand(50)
		arenas := testkit.NewArenas(t, 4*70, 2)
		for n := 1; n <= 70; n++ {
			for _, guarded := range []string{"x", "y"} {
				p := o.Problem(r, n, true)
				size := o.Slice(guarded).Element.Size
				first, second := testkit.Flush[byte](arenas[0], n*size, true), testkit.Flush[byte](arenas[1], n*size, false)
				partner := operations.Offset(first, second) / size
				p.Rotation = kernels.Rotation{Pairs: n, Partner: partner, Tokens: 1, Heads: 1}
				a := p.Arguments
				a.Memory = map[string][]byte{guarded: unsafe.Slice(&first[0], (partner+n)*size)}
				for _, s := range o.Slices {
					if s.Name != guarded {
						a.Memory[s.Name] = make([]byte, (partner+n)*s.Element.Size)
					}
				}
				if reason, functions := testkit.Fault(func() { o.Call(impl, &a) }); reason != nil {
					t.Fatalf("%d pairs: %v in %s", n, reason, functions)
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
	for at, atEnd := range map[int]bool{-1: false, 4: true} {
		s := testkit.Flush[float32](arena, 4, atEnd)
		beyond := (*float32)(unsafe.Add(unsafe.Pointer(&s[0]), 4*at))
		if reason, _ := testkit.Fault(func() { s[0], s[3] = 1, 2 }); reason != nil {
			t.Errorf("a write within the slice: %v", reason)
		}
		for name, access := range map[string]func(){"read": func() { s[0] = *beyond }, "write": func() { *beyond = 1 }} {
			if reason, _ := testkit.Fault(access); reason == nil {
				t.Errorf("a %s at element %d of 4 was not noticed", name, at)
			}
		}
	}
}
