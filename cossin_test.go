package posenc_test

import (
	"math"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// CosSin is the cosine and the sine: of math, whose error in float64 is far
// below that of a float32 for angles of 20 bits.
func TestCosSinIsCosineAndSine(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(46)
		const pairs, rows = 32, 200
		invFreq := make([]float64, pairs)
		for i := range invFreq {
			invFreq[i] = math.Pow(10000, -float64(i)/pairs)
		}
		positions := testkit.RandomPositions(r, "sequential", rows)
		cos, sin := make([]float32, rows*pairs), make([]float32, rows*pairs)
		testkit.NoError(t, posenc.CosSin(cos, sin, positions, invFreq))
		const half = 0x1.0001p-25 // of an ulp below 1, and the error of the reference
		for i := range cos {
			s, c := math.Sincos(float64(positions[i/pairs]) * invFreq[i%pairs])
			if math.Abs(float64(cos[i])-c) > half || math.Abs(float64(sin[i])-s) > half {
				t.Fatalf("position %d, frequency %v: got %v, %v, want %v, %v", positions[i/pairs], invFreq[i%pairs], cos[i], sin[i], c, s)
			}
		}
	})
}

func TestCosSinErrors(t *testing.T) {
	memory, angles := make([]float32, 64), make([]float32, 12)
	cos, sin := memory[:12], memory[12:24]
	rotary := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit})
	fast := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, InvFreq: []float64{1, 0x1p40, 0, 2}})
	var none *posenc.Rotary
	positions, invFreq := []int32{1, 2, 3}, []float64{1, 2, 3, 4}
	integers, wide := wordsOf[int32](memory), wordsOf[float64](memory)
	nan, inf := math.NaN(), math.Inf(1)
	fails := testkit.Failures(t, memory)
	// The checks of the tables are the same everywhere: 3 rows of 4, or 12 angles.
	for function, call := range map[string]func(cos, sin []float32) error{
		"CosSin":        func(cos, sin []float32) error { return posenc.CosSin(cos, sin, positions, invFreq) },
		"Rotary.CosSin": func(cos, sin []float32) error { return rotary.CosSin(cos, sin, positions) },
		"CosSinAngles":  func(cos, sin []float32) error { return posenc.CosSinAngles(cos, sin, angles) },
	} {
		fails(call(cos[:11], sin), posenc.ErrLength, "posenc."+function+": cos has 11 elements, want 12")
		fails(call(cos, nil), posenc.ErrLength, "posenc."+function+": sin has 0 elements, want 12")
		fails(call(cos, memory[12:25]), posenc.ErrLength, "posenc."+function+": sin has 13 elements, want 12")
		fails(call(cos, cos), posenc.ErrOverlap, "posenc."+function+": sin is sharing elements with cos")
		fails(call(cos, memory[11:23]), posenc.ErrOverlap, "posenc."+function+": sin is sharing elements with cos")
	}
	fails(none.CosSin(cos, sin, positions), posenc.ErrConfig, "posenc.Rotary.CosSin: r is nil")
	fails(posenc.CosSin(cos, sin, []int32{1, 2, -1024}, []float64{1, 0x1p40, 0, 2}), posenc.ErrPosition, "posenc.CosSin: positions[2] is -1024", "1023")
	fails(posenc.CosSin(cos, sin, positions, []float64{1, 2, nan, 1}), posenc.ErrConfig, "posenc.CosSin: invFreq[2] is NaN")
	fails(posenc.CosSin(cos, sin, positions, []float64{1, 2, 3, -inf}), posenc.ErrConfig, "invFreq[3] is -Inf")
	fails(posenc.CosSin(cos, sin, []int32{0, 0, 0}, []float64{0x1p50, 2, 3, 4}), posenc.ErrConfig, "invFreq[0] is 1.125899906842624e+15")
	fails(posenc.CosSin(cos, sin, nil, invFreq), posenc.ErrLength, "cos has 12 elements, want 0 for 0 rows of 4")
	fails(posenc.CosSin(cos, memory[24:36], integers[11:14], invFreq), posenc.ErrOverlap, "posenc.CosSin: cos is sharing memory with positions")
	fails(posenc.CosSin(cos, sin, integers[23:26], invFreq), posenc.ErrOverlap, "sin is sharing memory with positions")
	fails(posenc.CosSin(cos, sin, positions, wide[2:6]), posenc.ErrOverlap, "posenc.CosSin: cos is sharing memory with invFreq")
	fails(posenc.CosSin(cos, sin, positions, wide[11:15]), posenc.ErrOverlap, "posenc.CosSin: sin is sharing memory with invFreq")
	fails(posenc.CosSin(nil, nil, make([]int32, 1<<16), make([]float64, 1<<16)), posenc.ErrLength, "posenc.CosSin: cos has 0 elements") // more than 32 bits count
	fails(posenc.CosSinAngles(cos, sin, memory[11:23]), posenc.ErrOverlap, "posenc.CosSinAngles: cos is sharing memory with angles")
	testkit.NoError(t,
		posenc.CosSin(nil, nil, nil, nil), posenc.CosSin(nil, nil, nil, invFreq), posenc.CosSin(nil, nil, positions, nil),
		rotary.CosSin(nil, nil, nil), posenc.CosSinAngles(nil, nil, nil), posenc.CosSinAngles(cos, sin, memory[24:36]),
		fast.CosSin(cos, sin, []int32{1023, -1023, 0}), posenc.CosSin(cos[:2], sin[:2], []int32{math.MinInt32}, []float64{0x1.fffffp17, 0}),
		posenc.CosSin(cos[:1], sin[:1], []int32{-1}, []float64{0x1.fffffffffffffp49}))
}
