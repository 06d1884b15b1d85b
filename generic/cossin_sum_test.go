package generic

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/go-posenc/posenc/internal/exhaustive"
)

// bigSum is the exact sum: numbers of the reference have 392 bits, more than the sums of
// these tests.
func bigSum(position []float32, invFreq []float64) *big.Float {
	sum := exhaustive.NewReal()
	for a, p := range position {
		sum.Add(sum, exhaustive.NewReal().Mul(exhaustive.RealOf(float64(p)), exhaustive.RealOf(invFreq[a])))
	}
	return sum
}

func checkSum(t *testing.T, position []float32, invFreq []float64) {
	t.Helper()
	var c, s [1]float32
	CosSinSum(c[:], s[:], position, invFreq)
	wantC, wantS := bigCosSin(bigSum(position, invFreq))
	if !sameBits(c[0], wantC) || !sameBits(s[0], wantS) {
		t.Fatalf("positions %x, frequencies %x: got %x, %x, want %x, %x", position, invFreq, c[0], s[0], wantC, wantS)
	}
	slowC, slowS := cosSinSumReal(position, invFreq)
	if !sameBits(slowC, wantC) || !sameBits(slowS, wantS) {
		t.Fatalf("with more bits, positions %x, frequencies %x: got %x, %x, want %x, %x", position, invFreq, slowC, slowS, wantC, wantS)
	}
}

// randomSum draws positions and frequencies of models, of sums that cancel, and of any
// size.
func randomSum(r *rand.Rand) (position []float32, invFreq []float64) {
	n := 1 + r.IntN(SumAxes)
	if r.IntN(2) == 0 {
		n = 2 + r.IntN(2)
	}
	kind := r.IntN(4)
	for a := range n {
		p, w := float32(2*r.Float64()-1), 2*math.Pi*math.Pow(100, -r.Float64())
		switch kind {
		case 1: // a grid
			p, w = float32(r.IntN(64)), r.NormFloat64()
		case 2: // the sum is far below its products
			p, w = float32(r.NormFloat64()), r.NormFloat64()
			if a > 0 && a == n-1 {
				sum, _ := bigSum(position, invFreq).Float64()
				w = -sum / float64(p)
			}
		case 3:
			p, w = float32(math.Ldexp(r.NormFloat64(), r.IntN(60)-30)), math.Ldexp(r.NormFloat64(), r.IntN(40)-30)
		}
		position, invFreq = append(position, p), append(invFreq, w)
	}
	return position, invFreq
}

func TestCosSinSumAgainstBig(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for range rounds(6000) {
		position, invFreq := randomSum(r)
		checkSum(t, position, invFreq)
	}
}

// Sums whose cosine or sine lies next to the middle between two float32, and others next
// to a multiple of pi/2: the last frequency is the one that comes closest.
func TestCosSinSumHard(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 34))
	n, undecided := rounds(2000), 0
	for i := range n {
		position, invFreq := randomSum(r)
		last := len(position) - 1
		invFreq[last] = 0
		if position[last] == 0 {
			position[last] = 1
		}
		turns := exhaustive.NewReal().Mul(exhaustive.RealPi(), exhaustive.RealOf(float64(r.Int64N(1<<r.IntN(20)))/2))
		angle := exhaustive.NewReal().Set(turns)
		if i%2 == 0 {
			angle.Add(nextToMiddle(r), turns)
		}
		angle.Sub(angle, bigSum(position, invFreq))
		invFreq[last], _ = angle.Quo(angle, exhaustive.RealOf(float64(position[last]))).Float64()
		_, s := exhaustive.RealCosSin(bigSum(position, invFreq))
		s64, _ := s.Float64()
		if float32(s64+Margin) != float32(s64-Margin) {
			undecided++
		}
		checkSum(t, position, invFreq)
	}
	if undecided < n/10 {
		t.Errorf("only %d of %d sums are next to a middle: the test does not test it", undecided, n)
	}
}

func TestCosSinSumEdges(t *testing.T) {
	for _, tt := range []struct {
		position []float32
		invFreq  []float64
	}{
		{[]float32{0}, []float64{1}},
		{[]float32{1, 2}, []float64{0, 0}},
		{[]float32{0.5, -0.5}, []float64{0.3, 0.3}},                            // the sum is 0
		{[]float32{1, 2, 3}, []float64{5, -1, -1}},                             // the same
		{[]float32{0x1p-149}, []float64{math.SmallestNonzeroFloat64}},          // far below float32
		{[]float32{-0x1p-149, 0}, []float64{1, 1}},                             // the smallest float32
		{[]float32{0x1.8p-149}, []float64{1}},                                  //
		{[]float32{0x1p-75, 0x1p-75}, []float64{0x1p-75, -0x1.fp-75}},          // a tie, below the smallest
		{[]float32{1, 0x1p-100}, []float64{0x1.000001p-60, 0x1p-60}},           // above a tie by more than the cube of the sine
		{[]float32{1, 0x1p-140}, []float64{0x1.000001p-60, 0x1p-60}},           // and by less
		{[]float32{0x1p30, 1}, []float64{0x1p18, -0.25}},                       // beyond the first stage
		{[]float32{-0x1.fffffep48, 0x1p-149}, []float64{1, 0x1p-150}},          //
		{[]float32{0x1p100, 1}, []float64{0x1p-60, -0x1p40}},                   // 2^40 - 2^40
		{[]float32{0x1p38, 0x1p38}, []float64{0.75, -0.75 + 0x1p-50}},          // large products, small sum
		{[]float32{1, 1, 1, 1, 1, 1, 1, 1}, []float64{1, 2, 3, 4, 5, 6, 7, 8}}, //
	} {
		checkSum(t, tt.position, tt.invFreq)
	}
}

// The bound of SumMargin: how far the sum of quarter turns is off.
func TestSumMargin(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 36))
	worst := 0.0
	for range 3000 {
		position, invFreq := randomSum(r)
		var high, low, size float64
		for a, p := range position {
			x := float64(p)
			turns, turnsLow := QuarterTurns(invFreq[a])
			product := float64(x * turns)
			size += math.Abs(product)
			sum, error := twoSum(high, product)
			high, low = sum, low+(error+math.FMA(x, turnsLow, math.FMA(x, turns, -product)))
		}
		exact := bigSum(position, invFreq)
		exact.Quo(exact, exhaustive.RealPi()).Mul(exact, exhaustive.RealOf(2))
		exact.Sub(exact, exhaustive.RealOf(high)).Sub(exact, exhaustive.RealOf(low))
		if difference, _ := exact.Float64(); size > 0 {
			worst = max(worst, math.Abs(difference)/size)
		}
	}
	t.Logf("error up to 2^%.2f of the magnitudes", math.Log2(worst))
	if worst == 0 || worst > 0x1p-99 {
		t.Errorf("error up to %x of the magnitudes, want at most 2^-99 and not 0", worst)
	}
}
