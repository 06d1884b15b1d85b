package posenc_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/test/exhaustive"
	"github.com/go-posenc/posenc/internal/test/kit"
)

var (
	_ = kit.Register(kit.Case{Function: "QueryScales", Call: queryScalesCall, Digests: queryScalesDigests, Times: 16,
		OnStack: func() error {
			var scales [3]float32
			return posenc.QueryScales(scales[:], []int32{0, 10000, 1 << 30}, posenc.QueryScaling{Beta: 0.1, Length: 8192, Offset: 1})
		},
	})
	_ = kit.Register(kit.Case{Function: "LogQueryScales", Call: logQueryScalesCall, Digests: digestOf("LogQueryScales", digestLogQueryScales), Times: 16,
		OnStack: func() error {
			var scales [3]float32
			return posenc.LogQueryScales(scales[:], []int32{0, 10000, 1 << 30}, posenc.LogQueryScaling{Scale: 0.1, Bias: 1})
		},
	})
)

// scalesCall is a call that writes a factor for each position, which is to be at least 0 with
// that offset.
func scalesCall(a *kit.Arguments, positions []int32, offset int, write func(scales []float32, positions []int32) error, right func() bool, factor func(p int32) float32) kit.Call {
	scales := kit.Output[float32](a, len(positions))
	return kit.Call{
		Run: func() error { return write(scales, positions) },
		Right: func() bool {
			return len(scales) == len(positions) && right() && !slices.ContainsFunc(positions, func(p int32) bool { return int64(p)+int64(offset) < 0 })
		},
		Want: func() {
			for t, p := range positions {
				scales[t] = factor(p)
			}
		},
		Parts: kit.RowParts([][]float32{scales}, []int{1}, len(positions), func(x [][]float32, tokens []int) error {
			return write(x[0], kit.Pick(positions, tokens))
		}),
	}
}

// scaledPositions are positions of any size, and whether numbers are to be hard.
func scaledPositions(a *kit.Arguments) (positions []int32, hard bool) {
	positions = a.Positions(a.Tokens())
	hard = !a.Any() && !a.Ordinary() && len(positions) > 0 && len(positions) < 20 && a.Below(4) > 0
	for i, p := range positions {
		if !a.Any() {
			positions[i] = p & math.MaxInt32
		}
		if hard {
			positions[i] >>= a.R.IntN(31)
		}
	}
	return positions, hard
}

// middle returns the middle between two float32 from 1 to 2.
func middle(r *rand.Rand) float64 {
	low := 1 + float32(r.Float64())
	return (float64(low) + float64(math.Nextafter32(low, 3))) / 2
}

func queryScalesCall(a *kit.Arguments) kit.Call {
	positions, hard := scaledPositions(a)
	s := posenc.QueryScaling{Beta: a.Real(0.1), Length: a.Number(1, 9), Offset: a.Number(0, 9), Rule: posenc.QueryScaleRule(a.Number(0, 2))}
	if hard {
		s = hardQueryScaling(a.R, positions)
	}
	call := scalesCall(a, positions, s.Offset, func(scales []float32, positions []int32) error { return posenc.QueryScales(scales, positions, s) },
		func() bool {
			return s.Rule <= posenc.PowerOfRatio && s.Beta >= 0 && (s.Beta <= 0.5 || s.Beta <= 0x1p100 && s.Rule != posenc.PowerOfRatio) &&
				(s.Rule == posenc.FlooredLog || int64(s.Length) <= 1<<31) && s.Length >= 1 && s.Offset >= 0 && s.Offset <= math.MaxInt32
		},
		func(p int32) float32 { return queryScalePlain(p, s) })
	if hard {
		call.Allocates = 1 << 20
	}
	return call
}

// hardQueryScaling returns one of any rule, and sets the first position: often the factor is next to
// the middle between two float32, which float64 cannot decide, or a power that is rational.
func hardQueryScaling(r *rand.Rand, positions []int32) posenc.QueryScaling {
	if r.IntN(4) == 0 {
		s := kit.OneOf(r, []posenc.QueryScaling{
			{Beta: 0.1, Length: 8192, Offset: 1}, {Beta: 0.1, Length: 16384}, {Beta: 1, Length: 1, Offset: math.MaxInt32},
			{Beta: 0x1p100, Length: 3}, {Beta: math.SmallestNonzeroFloat64, Length: 1}, {Length: 1},
			{Beta: 1 << 31, Length: 3 << 28, Offset: 1, Rule: posenc.ClampedLog}, // logarithms of nearly equal numbers
		})
		positions[0] = int32(kit.OneOf(r, []int{-s.Offset, s.Length - 2 + r.IntN(20), math.MaxInt32}))
		positions[0] = max(positions[0], int32(-s.Offset))
		return s
	}
	s := posenc.QueryScaling{Beta: r.Float64() / 2, Length: 1 + r.IntN(1<<r.IntN(16)), Offset: r.IntN(2), Rule: posenc.QueryScaleRule(r.IntN(3))}
	if s.Rule == posenc.FlooredLog && r.IntN(2) == 0 {
		s.Beta, s.Offset = math.Exp(10*r.NormFloat64()), r.IntN(1<<r.IntN(31))
	}
	k, n := ratioOf(positions[0], s)
	switch ratio := float64(k) / float64(n); {
	case s.Rule == posenc.PowerOfRatio && r.IntN(8) == 0: // ((a/b)^2)^(1/2)
		a, b := 1+r.IntN(1000), 1+r.IntN(30)
		s.Beta, s.Length, s.Offset, positions[0] = 0.5, b*b, 0, int32(a*a+2*a*b)
	case ratio > 1.01: // the Beta that comes closest to a middle
		beta := (middle(r) - 1) / math.Log(ratio)
		if s.Rule == posenc.PowerOfRatio {
			beta = math.Log(middle(r)) / math.Log(ratio)
		}
		s.Beta = min(s.Beta, beta)
	}
	return s
}

// queryScalePlain is the factor of a position. Go's logarithm is good to one ulp; next to
// the middle between two float32 that does not do.
func queryScalePlain(p int32, s posenc.QueryScaling) float32 {
	k, n := ratioOf(p, s)
	v := 1 + s.Beta*math.Log(float64(k)/float64(n))
	margin := (s.Beta + v) * 0x1p-50
	if s.Rule == posenc.PowerOfRatio {
		v = math.Pow(float64(k)/float64(n), s.Beta)
		margin = v * 0x1p-44
	}
	if low, high := float32(v-margin), float32(v+margin); low == high {
		return low
	}
	return queryScaleAt300Bits(k, n, s)
}

// ratioOf returns the ratio k/n of which a rule takes the logarithm or a power.
func ratioOf(p int32, s posenc.QueryScaling) (k, n uint64) {
	k, n = uint64(int64(p)+int64(s.Offset)), uint64(s.Length)
	switch s.Rule {
	case posenc.FlooredLog:
		return 1 + k/n, 1
	case posenc.ClampedLog:
		return max(k, n), n
	}
	return k + n, n
}

func logQueryScalesCall(a *kit.Arguments) kit.Call {
	positions, hard := scaledPositions(a)
	s := posenc.LogQueryScaling{Scale: a.Real(0.1), Bias: a.Real(1)}
	if a.Yes() {
		s.Scale = -s.Scale
	}
	if hard {
		s.Scale, s.Bias = a.R.NormFloat64(), a.R.NormFloat64()
		product := s.Scale * math.Log(float64(positions[0])+1)
		switch a.R.IntN(4) {
		case 0: // the sum is far below its terms
			s.Bias = 0 - product
		case 1:
			s.Bias = middle(a.R) - product
		case 2:
			s = kit.OneOf(a.R, []posenc.LogQueryScaling{{Scale: 0, Bias: 1.1}, {Scale: -0x1p100, Bias: 0x1p100}, {Scale: 0x1p-200, Bias: 0x1.000001p0}, {Scale: 1, Bias: 0}})
		}
	}
	call := scalesCall(a, positions, 0, func(scales []float32, positions []int32) error { return posenc.LogQueryScales(scales, positions, s) },
		func() bool { return math.Abs(s.Scale) <= 0x1p100 && math.Abs(s.Bias) <= 0x1p100 },
		func(p int32) float32 {
			v, m := s.Bias+s.Scale*math.Log(float64(p)+1), math.Abs(s.Scale)*0x1p-46+math.Abs(s.Bias)*0x1p-50
			if low := float32(v - m); low == float32(v+m) && low != 0 {
				return low
			}
			return logQueryScaleAt300Bits(uint64(p)+1, s.Scale, s.Bias)
		})
	if hard {
		call.Allocates = 16 << 20
	}
	return call
}

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

func queryScalesDigests(add kit.AddDigest) {
	for _, tt := range []struct {
		name   string
		s      posenc.QueryScaling
		betas  []float64
		length int // or 1
	}{
		{"QueryScales", posenc.QueryScaling{}, []float64{0, 0.1, 0.46, 0x1p60}, 8192},
		{"QueryScales/rule=ClampedLog", posenc.QueryScaling{Offset: 1, Rule: posenc.ClampedLog}, []float64{0, 0.1, 0.46}, 2048},
		{"QueryScales/rule=PowerOfRatio", posenc.QueryScaling{Offset: 1, Rule: posenc.PowerOfRatio}, []float64{0, 0.1, 0.46}, 2048},
	} {
		add(tt.name, func(d *kit.Digest) {
			for _, beta := range tt.betas {
				for _, length := range []int{1, tt.length} {
					s, n := tt.s, int32(tt.length)
					s.Beta, s.Length = beta, length
					if s.Rule == posenc.FlooredLog {
						s.Offset = length % 2
					}
					positions := append([]int32{0, 1, n - 2, n - 1, n, 131071, math.MaxInt32}, d.Indices(20, 1<<20)...)
					scales := make([]float32, len(positions))
					d.Must(posenc.QueryScales(scales, positions, s))
					d.Add(scales)
				}
			}
		})
	}
}

func digestLogQueryScales(d *kit.Digest) {
	for _, scale := range []float64{0, 0.1, -0.3, 0x1p-160} {
		for _, bias := range []float64{0, 1, -2.5} {
			positions := append([]int32{0, 1, 2, 131071, math.MaxInt32}, d.Indices(20, 1<<20)...)
			scales := make([]float32, len(positions))
			d.Must(posenc.LogQueryScales(scales, positions, posenc.LogQueryScaling{Scale: scale, Bias: bias}))
			d.Add(scales)
		}
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
	kit.ReadJSON("testdata/vision/queryscales.json", &vectors)
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
	kit.NoError(t, posenc.QueryScales(scales, vectors.Positions, posenc.QueryScaling{Beta: 0.1, Length: 2048, Offset: 1, Rule: posenc.PowerOfRatio}))
	// Roundings of a logarithm up to 14, of a tenth of it, and of factors below 4.
	compare("beam", scales, kit.Hex[float32](vectors.Beam), 4*0x1p-24*(1.4*3+2))
	for _, want := range []string{vectors.Inkling, vectors.Inkling2} {
		kit.NoError(t, posenc.QueryScales(scales, vectors.Positions, posenc.QueryScaling{Beta: 0.1, Length: 128000, Offset: 1, Rule: posenc.ClampedLog}))
		compare("inkling", scales, kit.Hex[float32](want), 4*0x1p-24*(1.4*3+2))
	}
	var all []float32
	bias := kit.Hex[float32](vectors.Bias)
	for h, scale := range kit.Hex[float32](vectors.Scale) {
		kit.NoError(t, posenc.LogQueryScales(scales, vectors.Positions, posenc.LogQueryScaling{Scale: float64(scale), Bias: float64(bias[h])}))
		all = append(all, scales...)
	}
	// A logarithm up to 22, times a scale below 2, and the sum.
	compare("mistral_large4", all, kit.Hex[float32](vectors.MistralLarge4), 4*44*0x1p-24)
}

func TestQueryScalesErrors(t *testing.T) {
	memory := make([]float32, 8)
	good := posenc.QueryScaling{Beta: 0.1, Length: 8192, Offset: 1}
	integers := unsafe.Slice((*int32)(unsafe.Pointer(&memory[0])), len(memory))
	two := []int32{3, 4}
	fails := kit.Failures(t, memory)
	fails(posenc.QueryScales(memory[:3], two, good), posenc.ErrLength, "posenc.QueryScales: scales has 3 elements, want 2")
	fails(posenc.QueryScales(memory[:2], two, posenc.QueryScaling{Beta: -0.1, Length: 8192, Offset: 1}), posenc.ErrConfig, "posenc.QueryScales: s.Beta is -0.1")
	fails(posenc.QueryScales(memory[:2], two, posenc.QueryScaling{Length: 1, Rule: 3}), posenc.ErrConfig, "posenc.QueryScales: s.Rule is 3, want one of the constants of type QueryScaleRule")
	fails(posenc.QueryScales(memory[:2], two, posenc.QueryScaling{Beta: 0.6, Length: 1, Rule: posenc.PowerOfRatio}), posenc.ErrConfig, "posenc.QueryScales: s.Beta is 0.6, want from 0 to 1/2")
	fails(posenc.QueryScales(memory[:2], two, posenc.QueryScaling{Beta: 0.1, Offset: 1}), posenc.ErrConfig, "posenc.QueryScales: s.Length is 0, want at least 1")
	fails(posenc.QueryScales(memory[:2], two, posenc.QueryScaling{Beta: 0.1, Length: 8192, Offset: -1}), posenc.ErrConfig, "posenc.QueryScales: s.Offset is -1")
	fails(posenc.QueryScales(memory[:2], integers[1:3], posenc.QueryScaling{Length: 1, Offset: math.MaxInt32}), posenc.ErrOverlap, "posenc.QueryScales: scales is sharing memory with positions")
	fails(posenc.QueryScales(memory[:2], []int32{5, -2}, good), posenc.ErrPosition, "posenc.QueryScales: positions[1] is -2, want at least -1")
	fails(posenc.LogQueryScales(memory[:3], two, posenc.LogQueryScaling{Scale: 1, Bias: 1}), posenc.ErrLength, "posenc.LogQueryScales: scales has 3 elements, want 2")
	fails(posenc.LogQueryScales(memory[:2], two, posenc.LogQueryScaling{Scale: math.NaN(), Bias: 1}), posenc.ErrConfig, "posenc.LogQueryScales: scale is NaN, want at most 2^100 in magnitude")
	fails(posenc.LogQueryScales(memory[:2], two, posenc.LogQueryScaling{Scale: 1, Bias: math.Inf(-1)}), posenc.ErrConfig, "posenc.LogQueryScales: bias is -Inf")
	fails(posenc.LogQueryScales(memory[:2], []int32{0, -1}, posenc.LogQueryScaling{Scale: 1, Bias: 1}), posenc.ErrPosition, "posenc.LogQueryScales: positions[1] is -1, want at least 0")
	fails(posenc.LogQueryScales(memory[:2], integers[1:3], posenc.LogQueryScaling{Scale: 1, Bias: 1}), posenc.ErrOverlap, "posenc.LogQueryScales: scales is sharing memory with positions")
	long := int64(1)<<31 + 1 // where an int has 32 bits, it is below 0
	fails(posenc.QueryScales(memory[:2], two, posenc.QueryScaling{Length: int(long), Rule: posenc.ClampedLog}), posenc.ErrConfig, "posenc.QueryScales: s.Length is ")
	kit.NoError(t, posenc.QueryScales(nil, nil, posenc.QueryScaling{Length: 1}), posenc.QueryScales(memory[:2], two, posenc.QueryScaling{Length: math.MaxInt}))
	if long-1 <= math.MaxInt {
		kit.NoError(t, posenc.QueryScales(memory[:2], two, posenc.QueryScaling{Length: int(long - 1), Rule: posenc.PowerOfRatio}))
	}
	kit.NoError(t, posenc.QueryScales(memory[:3], []int32{math.MinInt32, 0, 7}, posenc.QueryScaling{}))
	if memory[0] != 1 || memory[1] != 1 || memory[2] != 1 {
		t.Errorf("no scaling gives %v", memory[:3])
	}
}
