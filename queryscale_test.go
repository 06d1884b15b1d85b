package posenc_test

import (
	"math"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/exhaustive"
	"github.com/go-posenc/posenc/internal/testkit"
)

// queryScaleAt300Bits evaluates the formula with 300 bits; the logarithm is by
// repeated square roots, unlike that of QueryScales.
func queryScaleAt300Bits(k uint64, beta float64) float32 {
	y := exhaustive.RealLogarithm(exhaustive.RealOf(float64(k)))
	f, _ := y.Add(y.Mul(y, exhaustive.RealOf(beta)), exhaustive.RealOf(1)).Float32()
	return f
}

func TestQueryScales(t *testing.T) {
	r := testkit.NewRand(79)
	check := func(p int32, beta float64, length, offset int) {
		t.Helper()
		var got [1]float32
		testkit.NoError(t, posenc.QueryScales(got[:], []int32{p}, posenc.QueryScaling{Beta: beta, Length: length, Offset: offset}))
		k := 1 + uint64(int64(p)+int64(offset))/uint64(length)
		if want := queryScaleAt300Bits(k, beta); got[0] != want {
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

func TestQueryScalesErrors(t *testing.T) {
	memory := make([]float32, 8)
	good := posenc.QueryScaling{Beta: 0.1, Length: 8192, Offset: 1}
	wrong := func(name string, kind error, says string, scales []float32, positions []int32, s posenc.QueryScaling) testkit.Wrong {
		return testkit.Wrong{Name: name, Call: func() error { return posenc.QueryScales(scales, positions, s) }, Kind: kind, Says: []string{"posenc.QueryScales: " + says}}
	}
	integers := unsafe.Slice((*int32)(unsafe.Pointer(&memory[0])), len(memory))
	two := []int32{3, 4}
	testkit.CheckWrong(t, []testkit.Wrong{
		wrong("more scales", posenc.ErrLength, "scales is 3 elements, want 2", memory[:3], two, good),
		wrong("no scales", posenc.ErrLength, "scales is 0 elements, want 2", nil, two, good),
		wrong("negative beta", posenc.ErrConfig, "s.Beta is -0.1", memory[:2], two, posenc.QueryScaling{Beta: -0.1, Length: 8192, Offset: 1}),
		wrong("beta NaN", posenc.ErrConfig, "s.Beta is NaN", memory[:2], two, posenc.QueryScaling{Beta: math.NaN(), Length: 8192, Offset: 1}),
		wrong("huge beta", posenc.ErrConfig, "s.Beta is ", memory[:2], two, posenc.QueryScaling{Beta: 0x1.0001p100, Length: 8192}),
		wrong("no length", posenc.ErrConfig, "s.Length is 0, want at least 1", memory[:2], two, posenc.QueryScaling{Beta: 0.1, Offset: 1}),
		wrong("negative offset", posenc.ErrConfig, "s.Offset is -1", memory[:2], two, posenc.QueryScaling{Beta: 0.1, Length: 8192, Offset: -1}),
		wrong("positions in scales", posenc.ErrOverlap, "scales is sharing memory with positions", memory[:2], integers[1:3], posenc.QueryScaling{Length: 1, Offset: math.MaxInt32}),
		wrong("position", posenc.ErrPosition, "positions[1] is -2, want at least -1", memory[:2], []int32{5, -2}, good),
	}, memory)
	if err := posenc.QueryScales(nil, nil, posenc.QueryScaling{Length: 1}); err != nil {
		t.Error(err)
	}
}
