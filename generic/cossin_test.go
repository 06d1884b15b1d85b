package generic

import (
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/go-posenc/posenc/internal/test/exhaustive"
)

// bigCosSin is the reference: cosine and sine rounded to float32 by math/big.
func bigCosSin(angle *big.Float) (cos, sin float32) {
	sumCos, sumSin := exhaustive.RealCosSin(angle)
	cos, _ = sumCos.Float32()
	sin, _ = sumSin.Float32()
	if angle.Sign() == 0 {
		sin = 0
	}
	return cos, sin
}

func bigProduct(p int32, w float64) *big.Float {
	return exhaustive.NewReal().Mul(exhaustive.NewReal().SetInt64(int64(p)), exhaustive.NewReal().SetFloat64(w))
}

func sameBits(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

// randomPair draws ladders of every model size, whole exponents, and positions
// from the first to the last of int32.
func randomPair(r *rand.Rand) (int32, float64) {
	p := int32(r.Uint32() >> r.IntN(32))
	if r.IntN(2) == 0 {
		p = -p
	}
	switch r.IntN(3) {
	case 0:
		return p, math.Exp2(-30 * r.Float64())
	case 1:
		return p, math.Pow(10000, -float64(r.IntN(64))/64)
	default:
		w := math.Ldexp(r.Float64()*2-1, r.IntN(60)-40)
		if math.Abs(float64(p)*w) >= MaxAngle {
			w = math.Ldexp(w, -40)
		}
		return p, w
	}
}

// rounds is how many of n random inputs are tried, as kit.Rounds has it.
func rounds(n int) int {
	switch {
	case os.Getenv("POSENC_ROUNDS") == "all":
		return n
	case testing.Short():
		return n / 10
	}
	return n * 3 / 10
}

// checkExact compares CosSinExact, its scaling and its second stage with the reference.
func checkExact(t *testing.T, p int32, w float64) {
	t.Helper()
	var c, s [1]float32
	CosSinExact(c[:], s[:], p, []float64{w}, 1, 1)
	wantC, wantS := bigCosSin(bigProduct(p, w))
	if !sameBits(c[0], wantC) || !sameBits(s[0], wantS) {
		t.Fatalf("position %d, invFreq %x: got %x, %x, want %x, %x", p, w, c[0], s[0], wantC, wantS)
	}
	if CosSinExact(c[:], s[:], p, []float64{w}, 0.3, -2.7); !sameBits(c[0], wantC*0.3) || !sameBits(s[0], wantS*-2.7) {
		t.Fatalf("position %d, invFreq %x: scaling is not one multiplication", p, w)
	}
	if slowC, slowS := cosSinProduct(float64(p), w); !sameBits(slowC, wantC) || !sameBits(slowS, wantS) {
		t.Fatalf("fixed point, position %d, invFreq %x: got %x, %x, want %x, %x", p, w, slowC, slowS, wantC, wantS)
	}
}

// hardPairs are (position, invFreq) pairs whose angle is within about 2^-80 of
// a multiple of pi/2, or whose value is within about 2^-50 of the midpoint of
// two float32. They were found by continued fractions and by search.
func hardPairs(r *rand.Rand) (int32, float64) {
	// The float64 nearest to k*pi/2/p: p*w misses k*pi/2 by about p*2^-53 w.
	p := int32(r.Uint32()>>1>>r.IntN(30)) | 1
	k := r.Int64N(1 << (1 + r.IntN(40)))
	half := exhaustive.NewReal().Mul(exhaustive.RealPi(), exhaustive.NewReal().SetInt64(k))
	half.Quo(half, exhaustive.NewReal().SetInt64(2*int64(p)))
	w, _ := half.Float64()
	return p, w
}

// largePairs have large angles whose quarter turns lie near a half, where the polynomials of the
// first stage end.
func largePairs(r *rand.Rand) (int32, float64) {
	p := int32(r.Uint32()>>1>>r.IntN(31)) | 1
	k := float64(r.Int64N(1<<(30+r.IntN(19)))) + 0.5 // an odd number of eighths of a turn
	return p, k * math.Pi / 2 / float64(p)
}

func TestCosSinExactAgainstBig(t *testing.T) {
	checkExact(t, 1, 0x1.cacc4a048d5e8p+49)
	checkExact(t, 1, 0x1.b11650ade8d97p+49)
	checkExact(t, 2146875885, 0x1.f5f6c0329d52p+18)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range rounds(30000) {
		for j, pairs := range []func(r *rand.Rand) (int32, float64){randomPair, hardPairs, largePairs} {
			if p, w := pairs(r); i%6 < []int{6, 4, 1}[j] && math.Abs(float64(p)*w) < MaxAngle {
				checkExact(t, p, w)
			}
		}
	}
}

// nextToMiddle returns an angle whose sine is the middle between two float32, by one step of
// Newton's method.
func nextToMiddle(r *rand.Rand) *big.Float {
	low := math.Float32frombits(r.Uint32N(0x3f800000-0x38000000) + 0x38000000)
	middle := (float64(low) + float64(math.Nextafter32(low, 2))) / 2
	angle := exhaustive.RealOf(math.Asin(middle))
	cosine, sine := exhaustive.RealCosSin(angle)
	return angle.Sub(angle, sine.Quo(sine.Sub(sine, exhaustive.RealOf(middle)), cosine))
}

// Angles whose cosine or sine lies closest to the midpoint of two float32
// numbers: for each position the float64 frequency that hits a midpoint best.
func TestCosSinExactNearMidpoints(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	n, undecided := rounds(5000), 0
	for range n {
		p, angle := int32(r.Uint32()>>1>>r.IntN(20))|1, nextToMiddle(r)
		angle.Add(angle, exhaustive.NewReal().Mul(exhaustive.RealPi(), exhaustive.RealOf(float64(2*r.Int64N(1<<r.IntN(20))))))
		w, _ := angle.Quo(angle, exhaustive.RealOf(float64(p))).Float64()
		high, low := QuarterTurns(w)
		_, s64 := cosSin(float64(p), high, low)
		if float32(s64+Margin) != float32(s64-Margin) {
			undecided++
		}
		checkExact(t, p, w)
	}
	if undecided < n/10 {
		t.Errorf("only %d of %d pairs reached the second stage: the test does not test it", undecided, n)
	}
}

func TestCosSinExactTiny(t *testing.T) {
	for _, tt := range []struct {
		p    int32
		w    float64
		want float32
	}{
		{0, 1, 0},
		{0, -1, 0},
		{7, 0, 0},
		{-7, math.Copysign(0, -1), 0},
		{1, 0x1p-149, 0x1p-149},                         // the smallest float32
		{1, 0x1p-150, 0},                                // a tie, moved below it by the cubic term
		{1, 0x1.8p-149, 0x1p-149},                       // a tie again
		{1, 0x1.0000000000001p-150, 0x1p-149},           // just above the tie
		{3, 0x1p-150, 0x1p-149},                         // 1.5 units: below the tie
		{1, math.SmallestNonzeroFloat64, 0},             //
		{math.MinInt32, -0x1p-180, 0x1p-149},            //
		{1, -0x1.000001p-60, -0x1p-60},                  // a tie of normal numbers, towards zero
		{1, 0x1.000003p-60, 0x1.000002p-60},             // a tie whose even neighbour lies above
		{1, 0x1.0000030000001p-60, 0x1.000004p-60},      //
		{1, 0x1.000002p-60, 0x1.000002p-60},             // a float32 stays, though the sine is smaller
		{math.MaxInt32, 0x1.00000002p-91, 0x1p-60},      // the product needs 63 bits
		{math.MaxInt32, 0x1.0000000e2p-91, 0x1p-60},     //
		{math.MaxInt32, 0x1.000001p-91, 0x1.000002p-60}, // (2^31-1)(2^24+1) lies 2^-31 below the tie + 2^-25
	} {
		var c, s [1]float32
		CosSinExact(c[:], s[:], tt.p, []float64{tt.w}, 1, 1)
		if tt.p == math.MaxInt32 {
			tt.want, _ = bigProduct(tt.p, tt.w).Float32() // far enough from a tie for the cubic term not to count
		}
		if c[0] != 1 || !sameBits(s[0], tt.want) {
			t.Errorf("position %d, invFreq %x: got %x, %x, want 1, %x", tt.p, tt.w, c[0], s[0], tt.want)
		}
	}
}

// Small products of 84 bits that end in a one, just above the midpoint of two
// float32: from about 2^-40.5 on their sine lies below it.
func TestCosSinExactNextToTies(t *testing.T) {
	modulus := new(big.Int).Lsh(big.NewInt(1), 59)
	for exponent := -130; exponent <= -110; exponent++ {
		found := 0
		for p := int64(math.MaxInt32); p > 1<<30 && found < 20; p -= 2 {
			// p*w = m*2^59 + 1, where m has 25 bits and is odd.
			inverse := new(big.Int).ModInverse(modulus, big.NewInt(p))
			if inverse == nil {
				continue
			}
			m := p - inverse.Int64()
			if m%2 == 0 || m >= 1<<25 || m < 1<<24 {
				continue
			}
			product := new(big.Int).Mul(big.NewInt(m), modulus)
			product.Add(product, big.NewInt(1))
			quotient := product.Quo(product, big.NewInt(p))
			if quotient.BitLen() > 53 {
				continue
			}
			w := math.Ldexp(float64(quotient.Int64()), exponent)
			checkExact(t, int32(p), w)
			found++
		}
		if found < 20 {
			t.Fatalf("only %d products", found)
		}
	}
}

// Known hard cases: float32 angles whose cosine lies closest to a midpoint, and
// the angle with the smallest remainder modulo pi/2.
var hardAngles = []uint32{0x5f18b878, 0x6115cb11, 0x7908cd73, 0x6f79be45, 0x5c98f6b2, 0x73243f06, 0x7f7fffff, 0x58800000, 0x587fffff, 1, 0x00800000, 0x3f490fdb, 0x3fc90fdb, 0x40490fdb}

func TestCosSinFloat32AgainstBig(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	check := func(bits uint32) {
		a := math.Float32frombits(bits)
		var c, s [1]float32
		CosSinFloat32(c[:], s[:], []float32{a}, 1, 1, 1)
		if math.IsInf(float64(a), 0) || a != a {
			if c[0] == c[0] || s[0] == s[0] {
				t.Fatalf("%x: got %v, %v, want NaN", bits, c[0], s[0])
			}
			return
		}
		wantC, wantS := bigCosSin(exhaustive.NewReal().SetFloat64(float64(a)))
		if a == 0 {
			wantS = a
		}
		if !sameBits(c[0], wantC) || !sameBits(s[0], wantS) {
			t.Fatalf("%x: got %x, %x, want %x, %x", bits, c[0], s[0], wantC, wantS)
		}
		if CosSinFloat32(c[:], s[:], []float32{a / 2}, 2, 0.3, -2.7); a/2*2 == a && (!sameBits(c[0], wantC*0.3) || !sameBits(s[0], wantS*-2.7)) {
			t.Fatalf("%x: twice its half is scaled to %x, %x", bits, c[0], s[0])
		}
	}
	for _, bits := range append(hardAngles, 0, 0x7f800000, 0x7fc00000, 0x7f800001) {
		check(bits)
		check(bits | 1<<31)
	}
	for range rounds(30000) {
		check(r.Uint32())
	}
}

// Every entry is the nearest float64 of a reference with more than 200 bits.
func TestCosSinExactF64AgainstBig(t *testing.T) {
	r := rand.New(rand.NewPCG(64, 2))
	for range rounds(4000) {
		p, w := randomPair(r)
		position := float64(p)
		if r.IntN(4) == 0 { // a float32 that is no integer
			position = float64(float32(math.Ldexp(r.Float64()*2-1, r.IntN(20))))
			w = math.Exp2(-30 * r.Float64())
		}
		var cos, sin [1]float64
		CosSinExactF64(cos[:], sin[:], position, []float64{w})
		c, s := exhaustive.RealCosSin(exhaustive.NewReal().Mul(exhaustive.NewReal().SetFloat64(position), exhaustive.NewReal().SetFloat64(w)))
		wantCos, _ := c.Float64()
		wantSin, _ := s.Float64()
		if cos[0] != wantCos || sin[0] != wantSin {
			t.Errorf("position %v, invFreq %x: got %x, %x, want %x, %x", position, w, cos[0], sin[0], wantCos, wantSin)
		}
	}
}

// The sine of a tiny angle is the angle moved a little towards zero, which
// matters where the angle is midway between two float64: by less than 2^-90 of it, and other
// products of 84 bits are further from the middle. Products are of all sizes, down to less than
// the smallest float64.
func TestCosSinExactF64Tiny(t *testing.T) {
	check := func(position, w float64) {
		var cos, sin [1]float64
		CosSinExactF64(cos[:], sin[:], position, []float64{w})
		angle := new(big.Float).SetPrec(200).Mul(big.NewFloat(position), big.NewFloat(w))
		want, _ := angle.Sub(angle, new(big.Float).SetMantExp(angle, -100)).Float64()
		if position == 0 || w == 0 {
			want = 0
		}
		if math.Float64bits(sin[0]) != math.Float64bits(want) || cos[0] != 1 {
			t.Fatalf("%x * %x: got %x, %x, want 1, %x", position, w, cos[0], sin[0], want)
		}
	}
	for _, tt := range []struct{ position, invFreq float64 }{
		{3, 0x1.0000000000001p-60},           // midway, even above: RN64 of the product would go up
		{3, 0x1.0000000000003p-60},           // midway, even below
		{-3, 0x1.0000000000001p-60},          // negative
		{5, 0x1.0000000000001p-100},          // not midway
		{1, 0x1.fffffffffffffp-46},           // representable
		{3, 0x1.5555555555555p-60},           // next to a power of two
		{0x1.8p0, 0x1.5555555555555p-60},     // a position with a fraction
		{1<<31 - 1, 0x1.fffffffffffffp-80},   // 84 bits
		{-(1 << 30), 0x1.123456789abcdp-900}, // far below
		{0x1p-117, 0x1.6a09e667f3bcdp-895},   // subnormal from 2^-1022 on
		{0x1.8p-117, 0x1.5555555555555p-905},
		{-0x1.8p-100, 0x1.0000000000001p-922},
		{3, 0x1p-1074},
		{0.5, 0x1p-1074},              // midway of 0 and the smallest
		{-0.5, 0x3p-1074},             // midway, odd below
		{0.75, 0x1p-1074},             // above midway
		{0x1.000002p-1, 0x1p-1074},    // barely above
		{0x1.fffffep-2, 0x1p-1074},    // barely below
		{0x1.000002p-60, 0x1.8p-1014}, // midway, apart from what the product has more
		{-0x1.000002p-60, 0x1.7ffffd0000060p-1014},
		{0x1.fffffep-100, 0x1.0000010000010p-923},
		{0x1p-149, 0x1p-1074},  // 0
		{-0x1p-149, 0x1p-1074}, // -0
		{1<<31 - 1, 0x1.fffffffffffffp-1053},
		{0x1p-600, 0x1.8p-440},
	} {
		check(tt.position, tt.invFreq)
	}
	r := rand.New(rand.NewPCG(64, 3))
	for range rounds(20000) {
		w := math.Ldexp(float64(r.Int64()>>r.IntN(62)), -900-r.IntN(175))
		if r.IntN(2) == 0 {
			w = -w
		}
		check(math.Ldexp(float64(r.Int32()), -r.IntN(180)), w)
	}
}

// Position 0 has any frequency; angles beyond the range are NaN.
func TestCosSinExactF64Ends(t *testing.T) {
	var cos, sin [4]float64
	CosSinExactF64(cos[:], sin[:], 0, []float64{1, -1, 0, math.MaxFloat64})
	if cos != [4]float64{1, 1, 1, 1} || sin != [4]float64{} || math.Signbit(sin[1]) {
		t.Errorf("position 0: got %v, %v", cos, sin)
	}
	CosSinExactF64(cos[:], sin[:], 2, []float64{MaxAngle / 2, math.Inf(1), math.NaN(), -MaxAngle})
	for i := range cos {
		if cos[i] == cos[i] || sin[i] == sin[i] {
			t.Errorf("beyond the range: got %v, %v, want NaN", cos[i], sin[i])
		}
	}
}

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
