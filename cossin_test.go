package posenc_test

import (
	"math"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
)

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
