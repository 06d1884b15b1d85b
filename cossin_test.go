package posenc_test

import (
	"math"
	"slices"
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

// A step of k positions is a linear map of the encoding, which depends on k
// alone: PE(t+k) = T(k) PE(t), where T(k) rotates each pair by the row of k.
func TestLinearShift(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(47)
		const pairs = 64
		rotary := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 2 * pairs, Layout: posenc.HalfSplit})
		for range testkit.Rounds(200) {
			at := int32(r.Uint32()) >> 2 >> r.IntN(20)
			k := int32(r.Uint32()) >> 2 >> r.IntN(30)
			var cos, sin [3 * pairs]float32
			testkit.NoError(t, rotary.CosSin(cos[:], sin[:], []int32{at, k, at + k}))
			// Five entries that err by 2^-25 each, two of them times a number
			// below 1 and its complement: 2^-25*(1 + 2*sqrt(2)).
			const tolerance = 0x1p-25 * 3.83
			for i := range pairs {
				ct, st := float64(cos[i]), float64(sin[i])
				ck, sk := float64(cos[pairs+i]), float64(sin[pairs+i])
				c, s := float64(cos[2*pairs+i]), float64(sin[2*pairs+i])
				if math.Abs(c-(ct*ck-st*sk)) > tolerance || math.Abs(s-(st*ck+ct*sk)) > tolerance {
					t.Fatalf("pair %d: the row of %d is not that of %d shifted by %d", i, at+k, at, k)
				}
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
	// The checks of the tables are the same everywhere: 3 rows of 4, or 12
	// angles.
	tables := func(function string, call func(cos, sin []float32) error) (calls []testkit.Wrong) {
		for _, tt := range []struct {
			name     string
			cos, sin []float32
			kind     error
			says     string
		}{
			{"no cos", nil, sin, posenc.ErrLength, "cos has 0 elements, want 12"},
			{"short cos", cos[:11], sin, posenc.ErrLength, "cos has 11 elements, want 12"},
			{"long cos", memory[24:37], sin, posenc.ErrLength, "cos has 13 elements, want 12"},
			{"no sin", cos, nil, posenc.ErrLength, "sin has 0 elements, want 12"},
			{"one sine", cos, sin[:1], posenc.ErrLength, "sin has 1 element, want 12"},
			{"long sin", cos, memory[12:25], posenc.ErrLength, "sin has 13 elements, want 12"},
			{"same slice", cos, cos, posenc.ErrOverlap, "sin is sharing elements with cos"},
			{"overlap by one", cos, memory[11:23], posenc.ErrOverlap, "sin is sharing elements with cos"},
			{"overlap by one, swapped", memory[11:23], cos, posenc.ErrOverlap, "sin is sharing elements with cos"},
		} {
			calls = append(calls, testkit.Wrong{Name: function + ", " + tt.name, Call: func() error { return call(tt.cos, tt.sin) }, Kind: tt.kind, Says: []string{"posenc." + function + ": " + tt.says}})
		}
		return calls
	}
	calls := slices.Concat(
		tables("CosSin", func(cos, sin []float32) error { return posenc.CosSin(cos, sin, positions, invFreq) }),
		tables("Rotary.CosSin", func(cos, sin []float32) error { return rotary.CosSin(cos, sin, positions) }),
		tables("CosSinAngles", func(cos, sin []float32) error { return posenc.CosSinAngles(cos, sin, angles) }),
		[]testkit.Wrong{
			{Name: "no rotary", Call: func() error { return none.CosSin(cos, sin, positions) }, Kind: posenc.ErrConfig, Says: []string{"posenc.Rotary.CosSin: r is nil"}},
			{Name: "zero rotary", Call: func() error { return new(posenc.Rotary).CosSin(cos, sin, positions) }, Kind: posenc.ErrConfig, Says: []string{"posenc.Rotary.CosSin: r is nil or zero"}},
			{Name: "rotary, position", Call: func() error { return fast.CosSin(cos, sin, []int32{1, 1024, 5000}) }, Kind: posenc.ErrPosition, Says: []string{"posenc.Rotary.CosSin: positions[1] is 1024", "1023"}},
			{Name: "position", Call: func() error { return posenc.CosSin(cos, sin, []int32{1, 2, -1024}, []float64{1, 0x1p40, 0, 2}) }, Kind: posenc.ErrPosition, Says: []string{"posenc.CosSin: positions[2] is -1024", "1023"}},
			{Name: "least position", Call: func() error { return posenc.CosSin(cos, sin, []int32{1, 2, math.MinInt32}, []float64{1, 0x1p19, 0, 2}) }, Kind: posenc.ErrPosition, Says: []string{"positions[2] is -2147483648"}},
			{Name: "frequency NaN", Call: func() error { return posenc.CosSin(cos, sin, positions, []float64{1, 2, nan, 1}) }, Kind: posenc.ErrConfig, Says: []string{"posenc.CosSin: invFreq[2] is NaN"}},
			{Name: "frequency NaN first", Call: func() error { return posenc.CosSin(cos, sin, positions, []float64{nan, 2, 1, 1}) }, Kind: posenc.ErrConfig, Says: []string{"invFreq[0] is NaN"}},
			{Name: "frequency infinite", Call: func() error { return posenc.CosSin(cos, sin, positions, []float64{1, 2, 3, -inf}) }, Kind: posenc.ErrConfig, Says: []string{"invFreq[3] is -Inf"}},
			{Name: "frequency 2^50", Call: func() error { return posenc.CosSin(cos, sin, []int32{0, 0, 0}, []float64{0x1p50, 2, 3, 4}) }, Kind: posenc.ErrConfig, Says: []string{"invFreq[0] is 1.125899906842624e+15"}},
			{Name: "two frequencies of 2^50", Call: func() error { return posenc.CosSin(cos, sin, positions, []float64{1, 0x1p50, 3, -0x1p50}) }, Kind: posenc.ErrConfig, Says: []string{"invFreq[1] is 1.125899906842624e+15"}},
			{Name: "entries for no rows", Call: func() error { return posenc.CosSin(cos, sin, nil, invFreq) }, Kind: posenc.ErrLength, Says: []string{"cos has 12 elements, want 0 for 0 rows of 4"}},
			{Name: "entries for no frequencies", Call: func() error { return posenc.CosSin(cos, sin, positions, nil) }, Kind: posenc.ErrLength, Says: []string{"cos has 12 elements, want 0"}},
			{Name: "cos over positions", Call: func() error { return posenc.CosSin(cos, memory[24:36], integers[11:14], invFreq) }, Kind: posenc.ErrOverlap, Says: []string{"posenc.CosSin: cos is sharing memory with positions"}},
			{Name: "sin over positions", Call: func() error { return posenc.CosSin(cos, sin, integers[23:26], invFreq) }, Kind: posenc.ErrOverlap, Says: []string{"sin is sharing memory with positions"}},
			{Name: "cos over frequencies", Call: func() error { return posenc.CosSin(cos, sin, positions, wide[2:6]) }, Kind: posenc.ErrOverlap, Says: []string{"posenc.CosSin: cos is sharing memory with invFreq"}},
			{Name: "sin over frequencies", Call: func() error { return posenc.CosSin(cos, sin, positions, wide[11:15]) }, Kind: posenc.ErrOverlap, Says: []string{"posenc.CosSin: sin is sharing memory with invFreq"}},
			{Name: "elements that 32 bits cannot count", Call: func() error { return posenc.CosSin(nil, nil, make([]int32, 1<<16), make([]float64, 1<<16)) }, Kind: posenc.ErrLength, Says: []string{"posenc.CosSin: cos has 0 elements"}},
			{Name: "rotary, cos over positions", Call: func() error { return rotary.CosSin(cos, sin, integers[:3]) }, Kind: posenc.ErrOverlap, Says: []string{"posenc.Rotary.CosSin: cos is sharing memory with positions"}},
			{Name: "rotary, sin over positions", Call: func() error { return rotary.CosSin(cos, sin, integers[21:24]) }, Kind: posenc.ErrOverlap, Says: []string{"sin is sharing memory with positions"}},
			{Name: "cos over angles", Call: func() error { return posenc.CosSinAngles(cos, sin, memory[11:23]) }, Kind: posenc.ErrOverlap, Says: []string{"posenc.CosSinAngles: cos is sharing memory with angles"}},
			{Name: "cos in place of angles", Call: func() error { return posenc.CosSinAngles(cos, memory[30:42], cos) }, Kind: posenc.ErrOverlap, Says: []string{"cos is sharing memory with angles"}},
			{Name: "sin in place of angles", Call: func() error { return posenc.CosSinAngles(cos, sin, sin) }, Kind: posenc.ErrOverlap, Says: []string{"sin is sharing memory with angles"}},
			{Name: "sin over angles", Call: func() error { return posenc.CosSinAngles(memory[40:52], sin, memory[23:35]) }, Kind: posenc.ErrOverlap, Says: []string{"sin is sharing memory with angles"}},
		})
	testkit.CheckWrong(t, calls, memory)
	for name, call := range map[string]func() error{
		"nothing":           func() error { return posenc.CosSin(nil, nil, nil, nil) },
		"no rows":           func() error { return posenc.CosSin(nil, nil, nil, invFreq) },
		"no rows of many":   func() error { return posenc.CosSin(nil, nil, nil, make([]float64, 100)) },
		"no frequencies":    func() error { return posenc.CosSin(nil, nil, positions, nil) },
		"no rows, rotary":   func() error { return rotary.CosSin(nil, nil, nil) },
		"no angles":         func() error { return posenc.CosSinAngles(nil, nil, nil) },
		"no angles of some": func() error { return posenc.CosSinAngles(cos[:0], cos[:0], cos[:0]) },
		"neighbours":        func() error { return posenc.CosSinAngles(cos, sin, memory[24:36]) },
		"last positions":    func() error { return fast.CosSin(cos, sin, []int32{1023, -1023, 0}) },
		"least position": func() error {
			return posenc.CosSin(cos[:2], sin[:2], []int32{math.MinInt32}, []float64{0x1.fffffp17, 0})
		},
		"frequency of 2^50-": func() error { return posenc.CosSin(cos[:1], sin[:1], []int32{-1}, []float64{0x1.fffffffffffffp49}) },
	} {
		t.Run("accepts "+name, func(t *testing.T) {
			if err := call(); err != nil {
				t.Error(err)
			}
		})
	}
}
