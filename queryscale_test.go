package posenc_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/exhaustive"
	"github.com/go-posenc/posenc/internal/testkit"
)

// queryScaleAt300Bits evaluates the formula with 300 bits; the logarithm is by
// repeated square roots, unlike that of QueryScales.
func queryScaleAt300Bits(k, n uint64, s posenc.QueryScaling) float32 {
	y := exhaustive.RealLogarithm(exhaustive.NewReal().Quo(exhaustive.RealOf(float64(k)), exhaustive.RealOf(float64(n))))
	y.Mul(y, exhaustive.RealOf(s.Beta))
	if s.Rule == posenc.PowerOfRatio {
		y = exhaustive.RealExponential(y)
	} else {
		y.Add(y, exhaustive.RealOf(1))
	}
	f, _ := y.Float32()
	return f
}

func logQueryScaleAt300Bits(k uint64, scale, bias float64) float32 {
	y := exhaustive.RealLogarithm(exhaustive.RealOf(float64(k)))
	f, _ := y.Add(y.Mul(y, exhaustive.RealOf(scale)), exhaustive.RealOf(bias)).Float32()
	return f
}

func TestQueryScales(t *testing.T) {
	r := testkit.NewRand(79)
	check := func(p int32, beta float64, length, offset int) {
		t.Helper()
		var got [1]float32
		testkit.NoError(t, posenc.QueryScales(got[:], []int32{p}, posenc.QueryScaling{Beta: beta, Length: length, Offset: offset}))
		k := 1 + uint64(int64(p)+int64(offset))/uint64(length)
		if want := queryScaleAt300Bits(k, 1, posenc.QueryScaling{Beta: beta}); got[0] != want {
			t.Errorf("position %d, beta %v, length %d, offset %d: got %x, want %x", p, beta, length, offset, got[0], want)
		}
	}
	for _, p := range []int32{0, 1, 8190, 8191, 8192, 16383, 16384, 1 << 20, math.MaxInt32} {
		check(p, 0.1, 8192, 1)
		check(p, 0.1, 16384, 0)
		check(p, 1, 1, math.MaxInt32)
		check(p, 0x1p100, 3, 0)
		check(p, math.SmallestNonzeroFloat64, 1, 0)
		check(p, 0, 1, 0)
	}
	check(-1, 0.1, 8192, 1)
	for range testkit.Rounds(700) {
		check(int32(r.Uint32()>>1)>>r.IntN(31), math.Exp(10*r.NormFloat64()), 1+r.IntN(1<<r.IntN(20)), r.IntN(1<<r.IntN(31)))
	}
	// Numbers next to the middle between two float32, which float64 cannot decide.
	undecided := 0
	for range testkit.Rounds(200) {
		k := uint64(2 + r.IntN(1<<20))
		low := math.Float32frombits(math.Float32bits(1) + r.Uint32N(0x2000000))
		beta := ((float64(low)+float64(math.Nextafter32(low, math.MaxFloat32)))/2 - 1) / math.Log(float64(k))
		v := 1 + float64(beta*generic.Logarithm(k))
		if float32(v*(1-0x1p-50)) != float32(v*(1+0x1p-50)) {
			undecided++
		}
		check(int32(k-1), beta, 1, 0)
	}
	if undecided == 0 {
		t.Error("no number was next to the middle: the test does not test it")
	}
}

// The other rules: any numbers, those next to a middle, and powers that are rational.
func TestQueryScaleRules(t *testing.T) {
	// Logarithms of nearly equal numbers, whose difference is multiplied.
	for _, beta := range []float64{0.5, 1 << 31, 0x1p60, 0x1p100} {
		for p := int32(1 << 30); p < 1<<30+20; p++ {
			var got [1]float32
			s := posenc.QueryScaling{Beta: beta, Length: 1 << 30, Offset: 1, Rule: posenc.ClampedLog}
			testkit.NoError(t, posenc.QueryScales(got[:], []int32{p}, s))
			if want := queryScaleAt300Bits(uint64(p)+1, 1<<30, s); got[0] != want {
				t.Fatalf("position %d, %+v: got %x, want %x", p, s, got[0], want)
			}
		}
	}
	r := testkit.NewRand(132)
	undecided := 0
	for range testkit.Rounds(2000) {
		s := posenc.QueryScaling{Beta: r.Float64() / 2, Length: 1 + r.IntN(1<<r.IntN(16)), Offset: r.IntN(2), Rule: posenc.ClampedLog}
		p := int32(r.Uint32()>>1) >> r.IntN(31)
		ratio := float64(int64(p)+int64(s.Offset)) / float64(s.Length)
		k, n := max(uint64(p)+uint64(s.Offset), uint64(s.Length)), uint64(s.Length)
		if r.IntN(2) == 0 {
			s.Rule, k, ratio = posenc.PowerOfRatio, uint64(p)+uint64(s.Offset)+n, 1+ratio
		}
		if r.IntN(2) == 0 && ratio > 1.01 { // the Beta that comes closest to a middle
			low := 1 + float32(r.Float64())
			middle := (float64(low) + float64(math.Nextafter32(low, 3))) / 2
			beta := (middle - 1) / math.Log(ratio)
			if s.Rule == posenc.PowerOfRatio {
				beta = math.Log(middle) / math.Log(ratio)
			}
			if beta < 0.5 {
				s.Beta = beta
				undecided++
			}
		}
		if s.Rule == posenc.PowerOfRatio && r.IntN(8) == 0 { // ((a/b)^2)^(1/2)
			a, b := 1+r.IntN(1000), 1+r.IntN(30)
			s.Beta, s.Length, s.Offset, p = 0.5, b*b, 0, int32(a*a+2*a*b)
			k, n = uint64((a+b)*(a+b)), uint64(b*b)
		}
		var got [1]float32
		testkit.NoError(t, posenc.QueryScales(got[:], []int32{p}, s))
		if want := queryScaleAt300Bits(k, n, s); got[0] != want {
			t.Fatalf("position %d, %+v: got %x, want %x", p, s, got[0], want)
		}
	}
	if undecided == 0 {
		t.Error("no number was next to the middle: the test does not test it")
	}
}

func TestLogQueryScales(t *testing.T) {
	r := testkit.NewRand(133)
	check := func(p int32, scale, bias float64) {
		t.Helper()
		var got [1]float32
		testkit.NoError(t, posenc.LogQueryScales(got[:], []int32{p}, posenc.LogQueryScaling{Scale: scale, Bias: bias}))
		if want := logQueryScaleAt300Bits(uint64(p)+1, scale, bias); got[0] != want {
			t.Fatalf("position %d, scale %x, bias %x: got %x, want %x", p, scale, bias, got[0], want)
		}
	}
	for _, p := range []int32{0, 1, math.MaxInt32} {
		check(p, 0, 1.1)
		check(p, -0x1p100, 0x1p100)
		check(p, 0x1p-200, 0x1.000001p0) // next to a middle
		check(p, 1, 0)
	}
	for range testkit.Rounds(2000) {
		p := int32(r.Uint32()>>1) >> r.IntN(31)
		scale, bias := r.NormFloat64(), r.NormFloat64()
		switch r.IntN(3) {
		case 0: // the sum is far below its terms
			bias = -scale * math.Log(float64(p)+1)
		case 1: // next to a middle
			low := 1 + float32(r.Float64())
			bias = (float64(low)+float64(math.Nextafter32(low, 3)))/2 - scale*math.Log(float64(p)+1)
		}
		check(p, scale, bias)
	}
}

// Factors of transformers' own code: Beam's compute_attention_scaling, Inkling's tau and
// the factors of MistralLarge4TextSoftmaxScaling, in float32 steps.
func TestQueryScaleModels(t *testing.T) {
	var vectors struct {
		Positions               []int32
		Beam, Inkling, Inkling2 string
		MistralLarge4           string `json:"mistral_large4"`
		Scale, Bias             string
	}
	testkit.ReadJSON("testdata/vision/queryscales.json", &vectors)
	n := len(vectors.Positions)
	if n != 40 {
		t.Fatalf("%d positions, want 40", n)
	}
	compare := func(model string, got, want []float32, tolerance float64) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%s: %d factors, want %d", model, len(want), len(got))
		}
		for i, w := range want {
			if !(math.Abs(float64(got[i])-float64(w)) <= tolerance) {
				t.Errorf("%s: position %d: got %v, want %v", model, vectors.Positions[i%n], got[i], w)
			}
		}
	}
	scales := make([]float32, n)
	testkit.NoError(t, posenc.QueryScales(scales, vectors.Positions, posenc.QueryScaling{Beta: 0.1, Length: 2048, Offset: 1, Rule: posenc.PowerOfRatio}))
	// Roundings of a logarithm up to 14, of a tenth of it, and of factors below 4.
	compare("beam", scales, testkit.Hex[float32](vectors.Beam), 4*0x1p-24*(1.4*3+2))
	for _, want := range []string{vectors.Inkling, vectors.Inkling2} {
		testkit.NoError(t, posenc.QueryScales(scales, vectors.Positions, posenc.QueryScaling{Beta: 0.1, Length: 128000, Offset: 1, Rule: posenc.ClampedLog}))
		compare("inkling", scales, testkit.Hex[float32](want), 4*0x1p-24*(1.4*3+2))
	}
	var all []float32
	bias := testkit.Hex[float32](vectors.Bias)
	for h, scale := range testkit.Hex[float32](vectors.Scale) {
		testkit.NoError(t, posenc.LogQueryScales(scales, vectors.Positions, posenc.LogQueryScaling{Scale: float64(scale), Bias: float64(bias[h])}))
		all = append(all, scales...)
	}
	// A logarithm up to 22, times a scale below 2, and the sum.
	compare("mistral_large4", all, testkit.Hex[float32](vectors.MistralLarge4), 4*44*0x1p-24)
}

func TestQueryScalesErrors(t *testing.T) {
	memory := make([]float32, 8)
	good := posenc.QueryScaling{Beta: 0.1, Length: 8192, Offset: 1}
	wrong := func(name string, kind error, says string, scales []float32, positions []int32, s posenc.QueryScaling) testkit.Wrong {
		return testkit.Wrong{Name: name, Call: func() error { return posenc.QueryScales(scales, positions, s) }, Kind: kind, Says: []string{"posenc.QueryScales: " + says}}
	}
	integers := unsafe.Slice((*int32)(unsafe.Pointer(&memory[0])), len(memory))
	two, long := []int32{3, 4}, int64(1)<<31+1 // where an int has 32 bits, it is below 0
	testkit.CheckWrong(t, []testkit.Wrong{
		wrong("more scales", posenc.ErrLength, "scales has 3 elements, want 2", memory[:3], two, good),
		wrong("no scales", posenc.ErrLength, "scales has 0 elements, want 2", nil, two, good),
		wrong("negative beta", posenc.ErrConfig, "s.Beta is -0.1", memory[:2], two, posenc.QueryScaling{Beta: -0.1, Length: 8192, Offset: 1}),
		wrong("beta NaN", posenc.ErrConfig, "s.Beta is NaN", memory[:2], two, posenc.QueryScaling{Beta: math.NaN(), Length: 8192, Offset: 1}),
		wrong("huge beta", posenc.ErrConfig, "s.Beta is ", memory[:2], two, posenc.QueryScaling{Beta: 0x1.0001p100, Length: 8192}),
		wrong("rule", posenc.ErrConfig, "s.Rule is 3, want one of the constants of type QueryScaleRule", memory[:2], two, posenc.QueryScaling{Length: 1, Rule: 3}),
		wrong("beta of a power", posenc.ErrConfig, "s.Beta is 0.6, want from 0 to 1/2", memory[:2], two, posenc.QueryScaling{Beta: 0.6, Length: 1, Rule: posenc.PowerOfRatio}),
		wrong("no length", posenc.ErrConfig, "s.Length is 0, want at least 1", memory[:2], two, posenc.QueryScaling{Beta: 0.1, Offset: 1}),
		wrong("long length of a logarithm", posenc.ErrConfig, "s.Length is ", memory[:2], two, posenc.QueryScaling{Length: int(long), Rule: posenc.ClampedLog}),
		wrong("negative offset", posenc.ErrConfig, "s.Offset is -1", memory[:2], two, posenc.QueryScaling{Beta: 0.1, Length: 8192, Offset: -1}),
		wrong("positions in scales", posenc.ErrOverlap, "scales is sharing memory with positions", memory[:2], integers[1:3], posenc.QueryScaling{Length: 1, Offset: math.MaxInt32}),
		wrong("position", posenc.ErrPosition, "positions[1] is -2, want at least -1", memory[:2], []int32{5, -2}, good),
	}, memory)
	testkit.NoError(t, posenc.QueryScales(nil, nil, posenc.QueryScaling{Length: 1}), posenc.QueryScales(memory[:2], two, posenc.QueryScaling{Length: math.MaxInt}))
	if long-1 <= math.MaxInt {
		testkit.NoError(t, posenc.QueryScales(memory[:2], two, posenc.QueryScaling{Length: int(long - 1), Rule: posenc.PowerOfRatio}))
	}
	testkit.NoError(t, posenc.QueryScales(memory[:3], []int32{math.MinInt32, 0, 7}, posenc.QueryScaling{}))
	if !slices.Equal(memory[:3], []float32{1, 1, 1}) {
		t.Errorf("no scaling gives %v", memory[:3])
	}
}

func TestLogQueryScalesErrors(t *testing.T) {
	memory := make([]float32, 8)
	wrong := func(name string, kind error, says string, scales []float32, positions []int32, scale, bias float64) testkit.Wrong {
		return testkit.Wrong{Name: name, Call: func() error {
			return posenc.LogQueryScales(scales, positions, posenc.LogQueryScaling{Scale: scale, Bias: bias})
		}, Kind: kind, Says: []string{"posenc.LogQueryScales: " + says}}
	}
	integers := unsafe.Slice((*int32)(unsafe.Pointer(&memory[0])), len(memory))
	for i := range memory {
		memory[i] = 0
	}
	two := []int32{3, 4}
	testkit.CheckWrong(t, []testkit.Wrong{
		wrong("more scales", posenc.ErrLength, "scales has 3 elements, want 2", memory[:3], two, 1, 1),
		wrong("scale", posenc.ErrConfig, "scale is NaN, want at most 2^100 in magnitude", memory[:2], two, math.NaN(), 1),
		wrong("bias", posenc.ErrConfig, "bias is -Inf", memory[:2], two, 1, math.Inf(-1)),
		wrong("position", posenc.ErrPosition, "positions[1] is -1, want at least 0", memory[:2], []int32{0, -1}, 1, 1),
	}, memory)
	clear(memory)
	if err := posenc.LogQueryScales(memory[:2], integers[1:3], posenc.LogQueryScaling{Scale: 1, Bias: 1}); !errors.Is(err, posenc.ErrOverlap) {
		t.Errorf("positions in scales: %v", err)
	}
}
