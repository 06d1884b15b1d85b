package kernels_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/kernels"
)

func TestCosSinExactRowKernels(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(4)
		for range testkit.Rounds(20) {
			for n := range kernels.Width + 1 {
				for _, p := range []int32{0, 1, math.MinInt32, math.MaxInt32, int32(r.Uint32()) >> r.IntN(32)} {
					invFreq := testkit.RandomFrequencies(r, n, []int32{p}, r.IntN(4) == 0)
					if n > 0 && r.IntN(4) == 0 {
						invFreq[r.IntN(n)] = testkit.LargeFrequency(r, p)
					}
					scaleCos, scaleSin := testkit.RandomScales(r)
					cos, sin := testkit.NewPadded(r, n, r.IntN(16)), testkit.NewPadded(r, n, r.IntN(16))
					wantCos, wantSin := cos.Clone(), sin.Clone()
					generic.CosSinExact(wantCos.Slice(), wantSin.Slice(), p, invFreq, scaleCos, scaleSin)
					var block kernels.Block
					block.Set(invFreq)
					kernels.CosSinExactRow(impl, cos.Slice(), sin.Slice(), float64(p), &block, scaleCos, scaleSin)
					name := fmt.Sprintf("position %d, %d frequencies %x: ", p, n, invFreq)
					cos.Check(t, name+"cos", wantCos, testkit.Every)
					sin.Check(t, name+"sin", wantSin, testkit.Every)
				}
			}
		}
	})
}

func TestCosSinExactRowsKernels(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, kind := range testkit.PositionNames {
			t.Run("positions="+kind, func(t *testing.T) {
				r := testkit.NewRand(5)
				for range testkit.Rounds(10) {
					for _, n := range testkit.BlockLengths {
						checkExactRows(t, r, impl, testkit.RandomPositions(r, kind, testkit.OneOf(r, append(testkit.TokenCounts, 4, 5, 31, 32, 65, 100))), n)
					}
				}
			})
		}
	})
}

// Rows whose alignment lets them be stored by non-temporal stores.
func TestCosSinExactRowsNonTemporal(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(6)
		for range testkit.Rounds(10) {
			for n := 16; n <= kernels.Width; n += 16 {
				for _, gap := range []int{0, 16, 64} {
					positions := testkit.RandomPositions(r, testkit.OneOf(r, testkit.PositionNames), 70)
					stride := n + gap
					size := (len(positions)-1)*stride + n
					invFreq := testkit.RandomFrequencies(r, n, positions, r.IntN(2) == 0)
					cos, sin := testkit.NewPadded(r, size, 0), testkit.NewPadded(r, size, 0)
					for cos.Address()%64 != 0 {
						cos = testkit.NewPadded(r, size, r.IntN(16))
					}
					for sin.Address()%64 != 0 {
						sin = testkit.NewPadded(r, size, r.IntN(16))
					}
					wantCos, wantSin := cos.Clone(), sin.Clone()
					for i, p := range positions {
						generic.CosSinExact(wantCos.Slice()[i*stride:], wantSin.Slice()[i*stride:], p, invFreq, 1, -1)
					}
					var block kernels.Block
					var shift kernels.Shift
					block.Set(invFreq)
					shift.Set(impl, &block)
					kernels.CosSinExactRows(impl, cos.Slice(), sin.Slice(), stride, positions, &block, &shift, 1, -1, true)
					inRow := func(i int) bool { return i%stride < n }
					name := fmt.Sprintf("%d frequencies %x, stride %d: ", n, invFreq, stride)
					cos.Check(t, name+"cos", wantCos, inRow)
					sin.Check(t, name+"sin", wantSin, inRow)
				}
			}
		}
	})
}

func checkExactRows(t *testing.T, r *rand.Rand, impl kernels.Implementation, positions []int32, n int) {
	t.Helper()
	invFreq := testkit.RandomFrequencies(r, n, positions, r.IntN(2) == 0)
	if r.IntN(8) == 0 {
		invFreq[r.IntN(n)] = testkit.LargeFrequency(r, positions[0])
	}
	scaleCos, scaleSin := testkit.RandomScales(r)
	stride := n + r.IntN(2)*r.IntN(70)
	size := (len(positions)-1)*stride + n
	cos, sin := testkit.NewPadded(r, size, r.IntN(16)), testkit.NewPadded(r, size, r.IntN(16))
	wantCos, wantSin := cos.Clone(), sin.Clone()
	for i, p := range positions {
		generic.CosSinExact(wantCos.Slice()[i*stride:], wantSin.Slice()[i*stride:], p, invFreq, scaleCos, scaleSin)
	}
	var block kernels.Block
	var shift kernels.Shift
	block.Set(invFreq)
	shift.Set(impl, &block)
	kernels.CosSinExactRows(impl, cos.Slice(), sin.Slice(), stride, positions, &block, &shift, scaleCos, scaleSin, r.IntN(2) == 0)
	name := fmt.Sprintf("positions %d, stride %d, %d frequencies %x: ", positions, stride, n, invFreq)
	inRow := func(i int) bool { return i%stride < n }
	cos.Check(t, name+"cos", wantCos, inRow)
	sin.Check(t, name+"sin", wantSin, inRow)
}

func TestCosSinFloat32Kernels(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(6)
		for range testkit.Rounds(20) {
			for n := range 131 {
				angles := testkit.NewPadded(r, n, r.IntN(16))
				for i := range angles.Slice() {
					switch r.IntN(4) {
					case 0:
						angles.Slice()[i] = math.Float32frombits(testkit.OneOf(r, testkit.HardAngles) | r.Uint32()&(1<<31))
					case 1: // below the limit, so that whole rows take the fast path
						angles.Slice()[i] = float32(math.Ldexp(r.Float64()*2-1, r.IntN(49)))
					}
				}
				kind := r.IntN(4)
				for i, a := range angles.Slice() {
					switch {
					case kind == 0: // on both sides of the limit, and not far from it
						angles.Slice()[i] = float32(math.Ldexp(math.Copysign(1+r.Float64(), float64(a)), 48+r.IntN(4)))
					case kind > 1 && !(math.Abs(float64(a)) < 0x1p49):
						angles.Slice()[i] = r.Float32()
					}
				}
				position := testkit.OneOf(r, []float32{1, 0, -1, 2, 1 << 20, math.MinInt32, r.Float32(), 0x1p-100, float32(math.Inf(1)), float32(math.NaN())})
				scaleCos, scaleSin := testkit.RandomScales(r)
				cos, sin := testkit.NewPadded(r, n, r.IntN(16)), testkit.NewPadded(r, n, r.IntN(16))
				wantCos, wantSin, wantAngles := cos.Clone(), sin.Clone(), angles.Clone()
				generic.CosSinFloat32(wantCos.Slice(), wantSin.Slice(), angles.Slice(), position, scaleCos, scaleSin)
				kernels.CosSinFloat32(impl, cos.Slice(), sin.Slice(), angles.Slice(), position, scaleCos, scaleSin)
				name := fmt.Sprintf("position %v, angles %x: ", position, angles.Slice())
				cos.Check(t, name+"cos", wantCos, testkit.Every)
				sin.Check(t, name+"sin", wantSin, testkit.Every)
				angles.Check(t, name+"angles", wantAngles, func(int) bool { return false })
			}
		}
	})
}

func TestGuardCosSinExact(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		g := testkit.NewGuards(t, testkit.NewRand(52), 4*9*kernels.Width, "cos", "sin")
		for n := range kernels.Width + 1 {
			for _, atEnd := range []bool{false, true} {
				for _, rows := range []int{1, 6, 9} {
					for _, nonTemporal := range []bool{false, true} {
						g.GuardExact(impl, n, rows, n%2 == 0, nonTemporal, atEnd)
					}
				}
			}
		}
	})
}

func TestGuardCosSinFloat32(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		g := testkit.NewGuards(t, testkit.NewRand(53), 4*80, "cos", "sin", "angles")
		for n := range 71 {
			for _, atEnd := range []bool{false, true} {
				for _, small := range []bool{false, true} {
					g.GuardAngles(impl, n, small, atEnd)
				}
			}
		}
	})
}
