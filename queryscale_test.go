package posenc_test

import (
	"math"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc"
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

// All rules: numbers of any size, those next to the middle between two float32, which float64
// cannot decide, and powers that are rational.
func TestQueryScales(t *testing.T) {
	r := testkit.NewRand(79)
	check := func(p int32, s posenc.QueryScaling) {
		t.Helper()
		var got [1]float32
		testkit.NoError(t, posenc.QueryScales(got[:], []int32{p}, s))
		k, n := ratioOf(p, s)
		if want := queryScaleAt300Bits(k, n, s); got[0] != want {
			t.Errorf("position %d, %+v: got %x, want %x", p, s, got[0], want)
		}
	}
	for _, p := range []int32{0, 1, 8190, 8191, 8192, 16383, 16384, 1 << 20, math.MaxInt32} {
		for _, s := range []posenc.QueryScaling{
			{Beta: 0.1, Length: 8192, Offset: 1}, {Beta: 0.1, Length: 16384}, {Beta: 1, Length: 1, Offset: math.MaxInt32},
			{Beta: 0x1p100, Length: 3}, {Beta: math.SmallestNonzeroFloat64, Length: 1}, {Length: 1},
		} {
			check(p, s)
		}
	}
	check(-1, posenc.QueryScaling{Beta: 0.1, Length: 8192, Offset: 1})
	for p := int32(3 << 28); p < 3<<28+20; p++ { // logarithms of nearly equal numbers, whose difference is multiplied
		check(p, posenc.QueryScaling{Beta: 1 << 31, Length: 3 << 28, Offset: 1, Rule: posenc.ClampedLog})
	}
	undecided := map[posenc.QueryScaleRule]int{}
	for range testkit.Rounds(3000) {
		s := posenc.QueryScaling{Beta: r.Float64() / 2, Length: 1 + r.IntN(1<<r.IntN(16)), Offset: r.IntN(2), Rule: posenc.QueryScaleRule(r.IntN(3))}
		p := int32(r.Uint32()>>1) >> r.IntN(31)
		if s.Rule == posenc.FlooredLog && r.IntN(2) == 0 {
			s.Beta, s.Offset = math.Exp(10*r.NormFloat64()), r.IntN(1<<r.IntN(31))
		}
		k, n := ratioOf(p, s)
		if ratio := float64(k) / float64(n); r.IntN(2) == 0 && ratio > 1.01 { // the Beta that comes closest to a middle
			low := 1 + float32(r.Float64())
			middle := (float64(low) + float64(math.Nextafter32(low, 3))) / 2
			beta := (middle - 1) / math.Log(ratio)
			if s.Rule == posenc.PowerOfRatio {
				beta = math.Log(middle) / math.Log(ratio)
			}
			if beta < 0.5 {
				s.Beta = beta
				undecided[s.Rule]++
			}
		}
		if s.Rule == posenc.PowerOfRatio && r.IntN(8) == 0 { // ((a/b)^2)^(1/2)
			a, b := 1+r.IntN(1000), 1+r.IntN(30)
			s.Beta, s.Length, s.Offset, p = 0.5, b*b, 0, int32(a*a+2*a*b)
		}
		check(p, s)
	}
	if len(undecided) != 3 {
		t.Errorf("numbers next to a middle: %v", undecided)
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
	integers := unsafe.Slice((*int32)(unsafe.Pointer(&memory[0])), len(memory))
	two := []int32{3, 4}
	fails := testkit.Failures(t, memory)
	fails(posenc.QueryScales(memory[:3], two, good), posenc.ErrLength, "posenc.QueryScales: scales has 3 elements, want 2")
	fails(posenc.QueryScales(memory[:2], two, posenc.QueryScaling{Beta: -0.1, Length: 8192, Offset: 1}), posenc.ErrConfig, "posenc.QueryScales: s.Beta is -0.1")
	fails(posenc.QueryScales(memory[:2], two, posenc.QueryScaling{Length: 1, Rule: 3}), posenc.ErrConfig, "posenc.QueryScales: s.Rule is 3, want one of the constants of type QueryScaleRule")
	fails(posenc.QueryScales(memory[:2], two, posenc.QueryScaling{Beta: 0.6, Length: 1, Rule: posenc.PowerOfRatio}), posenc.ErrConfig, "posenc.QueryScales: s.Beta is 0.6, want from 0 to 1/2")
	fails(posenc.QueryScales(memory[:2], two, posenc.QueryScaling{Beta: 0.1, Offset: 1}), posenc.ErrConfig, "posenc.QueryScales: s.Length is 0, want at least 1")
	fails(posenc.QueryScales(memory[:2], two, posenc.QueryScaling{Beta: 0.1, Length: 8192, Offset: -1}), posenc.ErrConfig, "posenc.QueryScales: s.Offset is -1")
	fails(posenc.QueryScales(memory[:2], integers[1:3], posenc.QueryScaling{Length: 1, Offset: math.MaxInt32}), posenc.ErrOverlap, "posenc.QueryScales: scales is sharing memory with positions")
	fails(posenc.QueryScales(memory[:2], []int32{5, -2}, good), posenc.ErrPosition, "posenc.QueryScales: positions[1] is -2, want at least -1")
	long := int64(1)<<31 + 1 // where an int has 32 bits, it is below 0
	fails(posenc.QueryScales(memory[:2], two, posenc.QueryScaling{Length: int(long), Rule: posenc.ClampedLog}), posenc.ErrConfig, "posenc.QueryScales: s.Length is ")
	testkit.NoError(t, posenc.QueryScales(nil, nil, posenc.QueryScaling{Length: 1}), posenc.QueryScales(memory[:2], two, posenc.QueryScaling{Length: math.MaxInt}))
	if long-1 <= math.MaxInt {
		testkit.NoError(t, posenc.QueryScales(memory[:2], two, posenc.QueryScaling{Length: int(long - 1), Rule: posenc.PowerOfRatio}))
	}
	testkit.NoError(t, posenc.QueryScales(memory[:3], []int32{math.MinInt32, 0, 7}, posenc.QueryScaling{}))
	if memory[0] != 1 || memory[1] != 1 || memory[2] != 1 {
		t.Errorf("no scaling gives %v", memory[:3])
	}
}

func TestLogQueryScalesErrors(t *testing.T) {
	memory := make([]float32, 8)
	integers := unsafe.Slice((*int32)(unsafe.Pointer(&memory[0])), len(memory))
	two := []int32{3, 4}
	fails := testkit.Failures(t, memory)
	fails(posenc.LogQueryScales(memory[:3], two, posenc.LogQueryScaling{Scale: 1, Bias: 1}), posenc.ErrLength, "posenc.LogQueryScales: scales has 3 elements, want 2")
	fails(posenc.LogQueryScales(memory[:2], two, posenc.LogQueryScaling{Scale: math.NaN(), Bias: 1}), posenc.ErrConfig, "posenc.LogQueryScales: scale is NaN, want at most 2^100 in magnitude")
	fails(posenc.LogQueryScales(memory[:2], two, posenc.LogQueryScaling{Scale: 1, Bias: math.Inf(-1)}), posenc.ErrConfig, "posenc.LogQueryScales: bias is -Inf")
	fails(posenc.LogQueryScales(memory[:2], []int32{0, -1}, posenc.LogQueryScaling{Scale: 1, Bias: 1}), posenc.ErrPosition, "posenc.LogQueryScales: positions[1] is -1, want at least 0")
	fails(posenc.LogQueryScales(memory[:2], integers[1:3], posenc.LogQueryScaling{Scale: 1, Bias: 1}), posenc.ErrOverlap, "posenc.LogQueryScales: scales is sharing memory with positions")
}
