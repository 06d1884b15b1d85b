package generic_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/testkit"
)

// rotated computes a pair in float64, where the products are exact and rounding
// the sums twice does no harm (53 bits are at least 2*24+2).
func rotated(x1, x2, c, s float32) (y1, y2 float32) {
	product := func(a, b float32) float64 { return float64(float32(float64(a) * float64(b))) }
	return float32(product(x1, c) - product(x2, s)), float32(product(x2, c) + product(x1, s))
}

// rotation is an operation on elements of X that writes elements of Y.
type rotation[Y, X comparable] struct {
	half        func(y1, y2 []Y, x1, x2 []X, cos, sin []float32)
	interleaved func(y []Y, x []X, cos, sin []float32)
	widen       func(X) float32
	round       func(float32) Y
	random      func(r *rand.Rand) X
}

func (o rotation[Y, X]) test(t *testing.T) {
	r := testkit.NewRand(2)
	for range testkit.Rounds(20000) {
		n := r.IntN(9)
		x, cos, sin := make([]X, 2*n), make([]float32, n), make([]float32, n)
		for i := range x {
			x[i] = o.random(r)
		}
		for i := range n {
			s, c := math.Sincos(100 * r.Float64())
			cos[i], sin[i] = float32(c), float32(s)
		}
		half, interleaved := make([]Y, 2*n), make([]Y, 2*n)
		o.half(half[:n], half[n:], x[:n], x[n:], cos, sin)
		o.interleaved(interleaved, x, cos, sin)
		for i := range n {
			for _, pair := range []struct {
				layout string
				at     [2]int
				y      []Y
			}{
				{"half", [2]int{i, n + i}, half},
				{"interleaved", [2]int{2 * i, 2*i + 1}, interleaved},
			} {
				a, b := rotated(o.widen(x[pair.at[0]]), o.widen(x[pair.at[1]]), cos[i], sin[i])
				for j, want := range []Y{o.round(a), o.round(b)} {
					got := pair.y[pair.at[j]]
					if got != want {
						t.Fatalf("%s: pair %d of %v by %v, %v: got %v, want %v", pair.layout, i, x, cos[i], sin[i], got, want)
					}
				}
			}
		}
	}
}

func TestRotate(t *testing.T) {
	same := func(x float32) float32 { return x }
	float := func(r *rand.Rand) float32 { return float32(math.Ldexp(r.Float64()*2-1, r.IntN(30)-20)) }
	bits := func(infinity uint16) func(r *rand.Rand) uint16 {
		return func(r *rand.Rand) uint16 { return uint16(r.UintN(uint(infinity)))>>r.IntN(9) | uint16(r.UintN(2)<<15) }
	}
	half, brain := bits(formats[0].infinity()), bits(formats[1].infinity())
	t.Run("F32", rotation[float32, float32]{generic.RotateHalfSplitF32, generic.RotateInterleavedF32, same, same, float}.test)
	t.Run("F16", rotation[uint16, uint16]{generic.RotateHalfSplitF16, generic.RotateInterleavedF16, generic.Float16ToFloat32, generic.Float32ToFloat16, half}.test)
	t.Run("BF16", rotation[uint16, uint16]{generic.RotateHalfSplitBF16, generic.RotateInterleavedBF16, generic.BFloat16ToFloat32, generic.Float32ToBFloat16, brain}.test)
	t.Run("F32ToF16", rotation[uint16, float32]{generic.RotateHalfSplitF32ToF16, generic.RotateInterleavedF32ToF16, same, generic.Float32ToFloat16, float}.test)
	t.Run("F32ToBF16", rotation[uint16, float32]{generic.RotateHalfSplitF32ToBF16, generic.RotateInterleavedF32ToBF16, same, generic.Float32ToBFloat16, float}.test)
}
