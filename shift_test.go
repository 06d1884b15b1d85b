package posenc_test

import (
	"math"
	"math/cmplx"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// shiftOf returns the configuration whose Rotate is Shift of cfg: without
// AttentionFactor, in the order that cfg writes.
func shiftOf(cfg posenc.RotaryConfig) posenc.RotaryConfig {
	cfg.AttentionFactor, cfg.Layout = 0, plainOf(cfg).out
	return cfg
}

// roundings is what three roundings of a pair to T may err by, those of Rotate,
// of Shift and of the rotation to compare with: half a unit of each element,
// which for subnormal float16 is 2^-25.
func roundings[T posenc.Element]() (relative, absolute float64) {
	switch any(T(0)).(type) {
	case posenc.Float16:
		return 3 * 0x1p-11, 3 * 0x1p-24
	case posenc.BFloat16:
		return 3 * 0x1p-8, 0
	}
	return 0, 0
}

func TestShiftMoves(t *testing.T) {
	testkit.EachType(t, testShiftMoves[float32], testShiftMoves[posenc.Float16], testShiftMoves[posenc.BFloat16])
}

// Shift by d after Rotate at p is near Rotate at p+d. AttentionFactor is in the keys
// once: 2, which rounds nothing.
func testShiftMoves[T posenc.Element](t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(101)
		const tokens, dim, scaling = 30, 64, 2
		relative, absolute := roundings[T]()
		for _, layout := range allLayouts {
			rotary, out := testkit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: layout, AttentionFactor: scaling}), plainOf(posenc.RotaryConfig{Layout: layout}).out
			for range testkit.Rounds(10) {
				positions, deltas, sums := make([]int32, tokens), make([]int32, tokens), make([]int32, tokens)
				for i := range positions {
					positions[i], deltas[i] = int32(r.IntN(1<<17)), int32(r.IntN(1<<18)-1<<17)
					sums[i] = positions[i] + deltas[i]
				}
				x := make([]T, tokens*dim)
				for i := range x {
					x[i] = testkit.Narrow[T](float32(r.NormFloat64()))
				}
				want := slices.Clone(x)
				view := posenc.View[T]{Data: x, Heads: 1}
				testkit.NoError(t, posenc.Rotate(rotary.At(positions), view), posenc.Shift(rotary, deltas, view), posenc.Rotate(rotary.At(sums), posenc.View[T]{Data: want, Heads: 1}))
				head := make([]float32, dim)
				pairs := func(x []T) []complex128 {
					for i := range head {
						head[i] = testkit.Widen(x[i])
					}
					return pairsOf(out, head)
				}
				for token := range tokens {
					shifted, direct := pairs(x[token*dim:]), pairs(want[token*dim:])
					for j := range direct {
						// Three rotations, and the products of their errors.
						if d, size := cmplx.Abs(shifted[j]-direct[j]), cmplx.Abs(direct[j]); d > 1.02*(3*rotationError+relative)*size+absolute {
							t.Fatalf("layout %d, position %d shifted by %d, pair %d: got %v, want %v", layout, positions[token], deltas[token], j, shifted[j], direct[j])
						}
					}
				}
			}
		}
	})
}

func TestShiftError(t *testing.T) {
	testkit.EachType(t,
		func(t *testing.T) { testShiftError[float32](t, 4.2e-8) },
		func(t *testing.T) { testShiftError[posenc.Float16](t, 2.1e-4) },
		func(t *testing.T) { testShiftError[posenc.BFloat16](t, 1.7e-3) },
	)
}

// The errors of Shift's documentation, which other keys and deltas change by a
// few percent: each shift adds one, as if at random where the deltas differ.
func testShiftError[T posenc.Element](t *testing.T, documented float64) {
	r := testkit.NewRand(102)
	const tokens, dim, shifts = 500, 128, 10
	rotary := testkit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit})
	for _, equal := range []bool{false, true} {
		x, start := make([]T, tokens*dim), make([]float32, tokens*dim)
		for i := range x {
			x[i] = testkit.Narrow[T](float32(r.NormFloat64()))
			start[i] = testkit.Widen(x[i])
		}
		deltas, sums := make([]int32, tokens), make([]int32, tokens)
		for n := 1; n <= shifts; n++ {
			for i := range deltas {
				if n == 1 || !equal {
					deltas[i] = int32(r.IntN(4096) - 2048)
				}
				sums[i] += deltas[i]
			}
			testkit.NoError(t, posenc.Shift(rotary, deltas, posenc.View[T]{Data: x, Heads: 1}))
			if n != 1 && n != shifts {
				continue
			}
			var errorSquares, squares float64
			head := make([]float32, dim)
			for token := range tokens {
				for i := range head {
					head[i] = testkit.Widen(x[token*dim+i])
				}
				got, before := pairsOf(posenc.HalfSplit, head), pairsOf(posenc.HalfSplit, start[token*dim:][:dim])
				for j := range got {
					want := before[j] * cmplx.Exp(complex(0, float64(sums[token])*math.Pow(10000, -2*float64(j)/dim)))
					d := cmplx.Abs(got[j] - want)
					errorSquares += d * d
					squares += real(want * cmplx.Conj(want))
				}
			}
			most := documented * math.Sqrt(float64(n))
			if equal {
				most = documented * float64(n)
			}
			rms := math.Sqrt(errorSquares / squares)
			t.Logf("%d shifts, equal: %t: %.3g", n, equal, rms)
			if least := 0.9 * documented * math.Sqrt(float64(n)); rms > 1.1*most || rms < least {
				t.Errorf("%d shifts, equal deltas: %t: the error is %.3g, want from %.3g to %.3g", n, equal, rms, least, 1.1*most)
			}
		}
	}
}

func TestShiftErrors(t *testing.T) {
	data := make([]float32, 64)
	rotary := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit})
	fast := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, InvFreq: []float64{1, 0x1p20, -0x1p40, 3}})
	axes := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, Axes: []uint8{0, 1, 2, 0}})
	decaying := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, XPos: &posenc.XPos{ScaleBase: 512}})
	x := V{Data: data[:24], Heads: 1}
	fails := testkit.Failures(t, data)
	fails(posenc.Shift(nil, []int32{1, 2, 3}, x), posenc.ErrConfig, "posenc.Shift: r is nil or zero, want a Rotary from NewRotary")
	fails(posenc.Shift(decaying, []int32{0, 1, 2}, x), posenc.ErrConfig, "posenc.Shift: r is a Rotary with XPos")
	fails(posenc.Shift(fast, []int32{5, 1024, 3}, x), posenc.ErrPosition, "posenc.Shift: deltas[1] is 1024, want at most 1023")
	fails(posenc.Shift(axes, []int32{5, 4, 4, 4}, x), posenc.ErrLength, "posenc.Shift: deltas has 4 elements, want a multiple of 3")
	fails(posenc.Shift(rotary, []int32{1, 2}, x), posenc.ErrLength, "posenc.Shift: xs[0].Data has 24 elements, want 16")
	fails(posenc.Shift(rotary, nil, x), posenc.ErrLength, "posenc.Shift: xs[0].Data has 24 elements, want 0")
	fails(posenc.Shift(rotary, []int32{1, 2, 3}, x, V{}), posenc.ErrShape, "posenc.Shift: xs[1].Heads is 0")
}
