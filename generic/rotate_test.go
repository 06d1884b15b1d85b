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

// testRotation tests an operation on elements of X that writes elements of Y, in both layouts.
func testRotation[Y, X comparable](t *testing.T, name string, halfSplit func(y1, y2 []Y, x1, x2 []X, cos, sin []float32), interleaved func(y []Y, x []X, cos, sin []float32), widen func(X) float32, round func(float32) Y, random func(r *rand.Rand) X) {
	const n = 4
	r := testkit.NewRand(2)
	for range testkit.Rounds(20000) {
		var x1, x2, x [2 * n]X
		var cos, sin [n]float32
		var want1, want2, want, half, pairs [2 * n]Y
		for i := range n {
			x1[i], x2[i] = random(r), random(r)
			s, c := math.Sincos(100 * r.Float64())
			cos[i], sin[i] = float32(c), float32(s)
			a, b := rotated(widen(x1[i]), widen(x2[i]), cos[i], sin[i])
			want1[i], want2[i] = round(a), round(b)
			x[2*i], x[2*i+1], want[2*i], want[2*i+1] = x1[i], x2[i], want1[i], want2[i]
		}
		halfSplit(half[:n], half[n:], x1[:n], x2[:n], cos[:], sin[:])
		interleaved(pairs[:], x[:], cos[:], sin[:])
		copy(want1[n:], want2[:n])
		if half != want1 || pairs != want {
			t.Fatalf("%s: %v by %v, %v: got %v and %v, want %v and %v", name, x, cos, sin, half, pairs, want1, want)
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
	testRotation(t, "F32", generic.RotateHalfSplitF32, generic.RotateInterleavedF32, same, same, float)
	testRotation(t, "F16", generic.RotateHalfSplitF16, generic.RotateInterleavedF16, generic.Float16ToFloat32, generic.Float32ToFloat16, half)
	testRotation(t, "BF16", generic.RotateHalfSplitBF16, generic.RotateInterleavedBF16, generic.BFloat16ToFloat32, generic.Float32ToBFloat16, brain)
	testRotation(t, "F32ToF16", generic.RotateHalfSplitF32ToF16, generic.RotateInterleavedF32ToF16, same, generic.Float32ToFloat16, float)
	testRotation(t, "F32ToBF16", generic.RotateHalfSplitF32ToBF16, generic.RotateInterleavedF32ToBF16, same, generic.Float32ToBFloat16, float)
}
