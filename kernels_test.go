package posenc_test

import (
	"math/rand/v2"
	"testing"

	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/operations"
	"github.com/go-posenc/posenc/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// FuzzKernels compares the kernels of every operation, on every implementation of this machine,
// with the definition in package generic: rows of any length, start and strides, with any bits. Those
// that are no loop over rows are called by the functions that complete them.
//
//	go test -fuzz=FuzzKernels .
func FuzzKernels(f *testing.F) {
	list, composed := operations.Regular(), operations.ComposedFunctions(300)
	for i := range len(list) + len(composed) {
		f.Add(uint16(i), uint64(i), uint16(7*i), i%2 == 0, []byte{0, 0, 0x80, 0x7f})
	}
	f.Fuzz(func(t *testing.T, operation uint16, seed uint64, length uint16, packed bool, bits []byte) {
		i := int(operation) % (len(list) + len(composed))
		if i < len(list) {
			tryKernel(t, list[i], seed, int(length%300), packed, bits)
			return
		}
		for _, impl := range testkit.Supported() {
			c, r := composed[i-len(list)], testkit.NewRand(seed)
			o, p := c.Problem(r, impl, int(length)%(c.Longest+1))
			o.TryOn(t, r, p, operations.Padded(r, o), impl)
		}
	})
}

// tryKernel makes a random call by each implementation, whose rows have n elements. The bits, again and again, begin each
// slice of numbers.
func tryKernel(t *testing.T, o *operations.Operation, seed uint64, n int, packed bool, bits []byte) {
	r := testkit.NewRand(seed)
	p := o.Problem(r, n, packed)
	prepare := p.Prepare
	p.Prepare = func(r *rand.Rand, a *operations.Arguments) {
		for _, s := range o.Slices {
			for at := 0; s.Element.Set != nil && len(bits) > 0 && at < min(len(a.Memory[s.Name]), 256); {
				at += copy(a.Memory[s.Name][at:], bits)
			}
		}
		if prepare != nil {
			prepare(r, a)
		}
	}
	o.Try(t, r, p, operations.Padded(r, o))
}

// BenchmarkKernels times one call of every operation, on rows of 128 elements or pairs in cache,
// by its name and the implementation.
//
//	go test -bench=Kernels/RotateHalfSplitF32 .
func BenchmarkKernels(b *testing.B) {
	for _, o := range operations.Registry {
		runEach(b, o.Name, func(b *testing.B) {
			impl, r := dispatch.Implementation(), testkit.NewRand(1)
			a := o.Place(r, o.Problem(r, 128, true), operations.Padded(r, o))
			size := 0
			for _, memory := range a.Memory {
				size += len(memory)
			}
			b.SetBytes(int64(size))
			for b.Loop() {
				o.Call(impl, a)
			}
		})
	}
}
