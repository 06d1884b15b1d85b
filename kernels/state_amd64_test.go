//go:build amd64 && !purego

package kernels_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/test/bound"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/internal/test/measure"
	"github.com/go-posenc/posenc/kernels"
)

// asking is the implementation without which there is nothing to ask for the state by.
const asking = kernels.AVX2

// upperHalves counts the registers whose upper half is not 0.
func upperHalves() uint64 { return bound.UpperHalvesAVX2() }

// What makes cosines and sines leaves no upper half of a register in use that was before,
// also where plain Go makes them: there it has to clear them first, see BeforeFMA.
func TestUpperHalvesInUse(t *testing.T) {
	if !slices.Contains(dispatch.Supported(), asking) {
		t.Skip("NOT TESTED: the CPU has no AVX")
	}
	const n = 40
	cos, sin := make([]float32, n), make([]float32, n)
	invFreq, invFreq32 := kit.LadderOf(n), make([]float32, n)
	var block, short, large kernels.Block
	block.Set(invFreq)
	large.Set([]float64{1 << 45})
	kit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for name, call := range map[string]func(){
			"Block.Set":      func() { short.Set(invFreq[:8]) }, // copies of more clear upper halves
			"CosSinExactRow": func() { kernels.CosSinExactRow(impl, cos, sin, 3, &block, 1, 1) },
			"large angles":   func() { kernels.CosSinExactRow(impl, cos, sin, 3, &large, 1, 1) }, // by plain Go alone
			"CosSinFloat32":  func() { kernels.CosSinFloat32(impl, cos, sin, invFreq32, 3, 1, 1) },
			"BeforeFMA":      kernels.BeforeFMA,
		} {
			kit.WithUpperHalves(func() {
				before := upperHalves()
				bound.UseUpperHalvesAVX2()
				call()
				if after := upperHalves(); before != 16 || after != 0 {
					t.Errorf("%s: the upper halves of %d registers are not 0, before it of %d; want 0 and 16", name, after, before)
				}
			})
		}
	})
}

// BenchmarkUpperHalves makes rows of plain Go with upper halves in use, and reports their
// time as a multiple of that with none in use: with BeforeFMA, as kernels makes them, and
// without it.
func BenchmarkUpperHalves(b *testing.B) {
	const n = kernels.Width
	cos, sin := kit.Aligned(n), kit.Aligned(n)
	invFreq := kit.LadderOf(n)
	var block kernels.Block
	block.Set(invFreq)
	for name, row := range map[string]func(){
		"with":    func() { kernels.CosSinExactRow(kernels.Generic, cos, sin, 1000, &block, 1, 1) },
		"without": func() { generic.CosSinExact(cos, sin, 1000, invFreq, 1, 1) },
	} {
		b.Run("BeforeFMA="+name, func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			clear := func() { kernels.BeforeFMA(); row() }
			measure.Against(b, "in-use/clear", clear, func() { bound.UseUpperHalvesAVX2(); row() })
		})
	}
}
