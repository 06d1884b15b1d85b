//go:build unix

package kernels_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// The guard itself: one element too far, either way, is noticed.
func TestGuardCatches(t *testing.T) {
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

// The halves of a row end and begin at a guard of their own: neither the end of
// the first nor the start of the second is touched by more than its pairs.
func TestGuardHalves(t *testing.T) {
	eachRotation(t, func(t *testing.T, impl kernels.Implementation, o rotationTest) {
		if o.layout() != posenc.HalfSplit {
			return
		}
		r := testkit.NewRand(50)
		arenas := testkit.NewArenas(t, 4*70, 2)
		for pairs := 1; pairs <= 70; pairs++ {
			o.guardHalves(t, r, impl, pairs, arenas)
		}
	})
}

// Every operation runs the code that its implementation names: it is called
// with memory that faults, and the fault says where. The bits alone could not
// tell: they are the same everywhere.
func TestKernelsAreHit(t *testing.T) {
	const n = 64
	cos, sin := make([]float32, 8*n), make([]float32, 8*n)
	block := new(kernels.Block)
	block.Set(slices.Repeat([]float64{0.5}, n))
	positions := []int32{0, 1, 2, 3, 4, 5, 6, 7}
	rows := &kernels.Rows{Pairs: n, Partner: n, Tokens: 1, Heads: 1}
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		arena := testkit.NewArena(t, os.Getpagesize())
		dead := unsafe.Slice((*float32)(unsafe.Add(unsafe.Pointer(&arena[0]), len(arena))), 8*n) // the guard
		shift := new(kernels.Shift)
		shift.Set(impl, block)
		exactRows := func(pastCaches bool) func() {
			return func() {
				kernels.CosSinExactRows(impl, dead, sin[:n*8], n, positions, block, shift, 1, 1, pastCaches)
			}
		}
		calls := map[string]func(){
			"CosSinExactF32": func() { kernels.CosSinExactRow(impl, dead[:n], sin[:n], 7, block, 1, 1) },
			"CosSinSeedF64": func() { // Go looks at the first cosine and sine: they have to be there
				(*kernels.Shift)(unsafe.Add(unsafe.Pointer(&dead[0]), -8*(kernels.Width+8))).Set(impl, block)
			},
			"CosSinShiftF32":            exactRows(false),
			"CosSinShiftNonTemporalF32": exactRows(true),
			"CosSinFloat32F32":          func() { kernels.CosSinFloat32(impl, dead[:n], sin[:n], cos[:n], 1, 1, 1) },
		}
		for _, o := range rotations {
			calls[o.name()] = func() { o.at(impl, unsafe.Pointer(&dead[0]), len(dead), cos, sin, rows) }
		}
		for _, n := range norms {
			for _, name := range n.names() {
				calls[name] = func() {
					n.at(name, impl, unsafe.Pointer(&dead[0]), cos, &kernels.Lines{Len: 64, Count: 1})
				}
			}
		}
		for _, o := range fusions {
			calls[o.operation] = func() {
				o.kernel(impl, dead, cos, cos, sin, &kernels.Fusion{Lines: kernels.Lines{Len: 64, Count: 1}, Pairs: 32}, 1)
			}
		}
		for _, o := range biases {
			calls[o.name] = func() { o.kernel(impl, dead, cos, 0, 0, 1, &kernels.Tile{Len: n, Rows: 1}) }
		}
		for _, o := range copies {
			calls[o.name()] = func() { o.at(impl, unsafe.Pointer(&dead[0]), unsafe.Pointer(&cos[0]), n) }
		}
		for _, o := range additions {
			calls[o.name()] = func() { o.at(impl, unsafe.Pointer(&dead[0]), cos, n) }
		}
		for operation, call := range calls {
			t.Run("operation="+operation, func(t *testing.T) {
				want := "posenc/asm." + operation + strings.ToUpper(impl.String())
				switch {
				case impl == kernels.Generic && operation == "CosSinSeedF64":
					t.Skip("plain Go has no seeds")
				case impl == kernels.Generic:
					want = "posenc/generic."
				case operation == "CosSinShiftNonTemporalF32" && impl != kernels.AVX512:
					want = "posenc/asm.CosSinShiftF32" + strings.ToUpper(impl.String())
				}
				if operation == "CosSinShiftNonTemporalF32" && uintptr(unsafe.Pointer(&sin[0]))%32 != 0 {
					t.Fatal("the sines are not aligned: the test does not test it")
				}
				reason, functions := testkit.Fault(call)
				if reason == nil {
					t.Fatal("memory that faults was not touched")
				}
				hit := slices.ContainsFunc(functions, func(f string) bool {
					return strings.HasSuffix(f, want) || impl == kernels.Generic && strings.Contains(f, want)
				})
				if !hit {
					t.Errorf("%s did not run: %s", want, fmt.Sprint(functions))
				}
			})
		}
	})
}
