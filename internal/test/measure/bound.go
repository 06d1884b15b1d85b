package measure

import (
	"unsafe"

	"github.com/go-posenc/posenc/kernels"
)

// Bound is a loop that no operation on the same memory can beat: scaling in place
// or adding a constant loads and stores each element once, as a rotation or a bias
// does; storing, non-temporally or not, is what a table costs at least.
type Bound struct {
	Operation string // scale, add, store, nontemporal or twostreams
	By        string // the instructions that it uses
	Run       func(x []float32)
}

// Bounds returns those that a machine with the implementation can run. Elements
// that are 1 stay 1. (Not 0: AMD's CPUs store lines of zeros at twice the speed.)
func Bounds(impl kernels.Implementation) []Bound {
	var list []Bound
	for _, b := range assembly {
		if b.needs == impl || b.needs == kernels.AVX2 && impl == kernels.AVX512 {
			list = append(list, b.Bound)
		}
	}
	if len(list) == 0 {
		return plain()
	}
	return list
}

// Over returns calls of the bounds of one operation on x, for Against.
func Over(x []float32, operation string, impl kernels.Implementation) []func() {
	var calls []func()
	for _, b := range Bounds(impl) {
		if b.Operation == operation {
			calls = append(calls, func() { b.Run(x) })
		}
	}
	return calls
}

// LoadStore returns calls of loops that load x, of a multiple of 32 numbers, and for every 32 of them store
// up to 64 bytes to y by non-temporal stores, which no store of quantized numbers can beat. There are none
// without AVX2.
func LoadStore(x, y []float32, bytes int, impl kernels.Implementation) []func() {
	var calls []func()
	for _, loop := range loadStores {
		if impl == kernels.AVX2 || impl == kernels.AVX512 {
			calls = append(calls, func() { loop(unsafe.SliceData(x), unsafe.SliceData(y), len(x), bytes) })
		}
	}
	return calls
}

// bound is one in assembly, with the implementation that has its instructions.
type bound struct {
	Bound
	needs kernels.Implementation
}

func boundOf(needs kernels.Implementation, operation, variant string, loop func(x *float32, n int, value float32)) bound {
	value := float32(1)
	if operation == "add" {
		value = 0
	}
	run := func(x []float32) { loop(unsafe.SliceData(x), len(x), value) }
	return bound{Bound{operation, needs.String() + variant, run}, needs}
}

// plain are the bounds of plain Go, which has no non-temporal store.
func plain() []Bound {
	one, zero := float32(1), float32(0) // as constants they would be compiled away
	return []Bound{
		{"scale", "go", func(x []float32) {
			for i := range x {
				x[i] *= one
			}
		}},
		{"add", "go", func(x []float32) {
			for i := range x {
				x[i] += zero
			}
		}},
		{"store", "go", func(x []float32) {
			for i := range x {
				x[i] = one
			}
		}},
	}
}
