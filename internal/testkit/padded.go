package testkit

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// Padded is a slice with random elements before and after it that nothing may
// write to: its canaries.
type Padded[T Number] struct {
	Numbers *Numbers[T]
	All     []T
	First   int
	N       int
}

const Padding = 40

// NewPadded returns n random float32 that start misaligned by 0 to 15 elements.
func NewPadded(r *rand.Rand, n, misaligned int) Padded[float32] {
	return NewPaddedOf(r, &Float32Numbers, n, misaligned)
}

func NewPaddedOf[T Number](r *rand.Rand, of *Numbers[T], n, misaligned int) Padded[T] {
	p := Padded[T]{of, make([]T, n+2*Padding+misaligned), Padding + misaligned, n}
	of.Fill(r, p.All)
	return p
}

func (p Padded[T]) Slice() []T { return p.All[p.First : p.First+p.N : p.First+p.N] }

func (p Padded[T]) Clone() Padded[T] {
	p.All = slices.Clone(p.All)
	return p
}

// Check compares with want: the elements of the slice that touched marks have
// to be the same, everything else has to have the very bits of want.
func (p Padded[T]) Check(t testing.TB, name string, want Padded[T], touched func(i int) bool) {
	t.Helper()
	bits := p.Numbers.Bits
	for i, got := range p.All {
		w, at := want.All[i], i-p.First
		if bits(got) == bits(w) {
			continue
		}
		inside := at >= 0 && at < p.N && touched(at)
		if inside && p.Numbers.Same(got, w) {
			continue
		}
		what := "is not to be written"
		if inside {
			what = "is wrong"
		}
		t.Fatalf("%s[%d of %d] %s: got %#08x (%v), want %#08x (%v)", name, at, p.N, what, bits(got), p.Numbers.Widen(got), bits(w), p.Numbers.Widen(w))
	}
}

// Every marks all elements as touched.
func Every(int) bool { return true }

func (p Padded[T]) Address() uintptr { return uintptr(unsafe.Pointer(&p.Slice()[0])) }
