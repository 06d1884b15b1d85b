package exhaustive

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 6)) }

func samples(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// math/big itself, against published digits: those of pi, and the cosine and
// sine of 1e22 (Ng, Argument Reduction for Huge Arguments, 1992), which is a
// float64.
func TestBig(t *testing.T) {
	const digits = "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798214808651328230664709384460955"
	want, _, err := big.ParseFloat(digits, 10, precision, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	if difference := NewReal().Sub(RealPi(), want); difference.MantExp(nil) > -430 {
		t.Errorf("pi is wrong by %g", difference)
	}
	cos, sin := RealCosSin(big.NewFloat(1e22))
	for _, tt := range []struct {
		got  *big.Float
		want string
	}{{cos, "0.5232147853951389454975"}, {sin, "-0.8522008497671888017727"}} {
		want, _, err := big.ParseFloat(tt.want, 10, precision, big.ToNearestEven)
		if err != nil {
			t.Fatal(err)
		}
		if difference := NewReal().Sub(tt.got, want); difference.MantExp(nil) > -72 {
			t.Errorf("got %.30g, want %s", tt.got, tt.want)
		}
	}
	one := NewReal().Add(NewReal().Mul(cos, cos), NewReal().Mul(sin, sin))
	if difference := one.Sub(one, big.NewFloat(1)); difference.Sign() != 0 && difference.MantExp(nil) > -400 {
		t.Errorf("cos^2 + sin^2 is wrong by %g", difference)
	}
}

// relativeError returns |got/want - 1|.
func relativeError(got float64, want *big.Float) float64 {
	difference := NewReal().Sub(NewReal().SetFloat64(got), want)
	e, _ := difference.Quo(difference, want).Float64()
	return math.Abs(e)
}

// The float64 of the reference keep the bound that margin has eightfold room for.
func TestBound(t *testing.T) {
	r := newRand(1)
	const bound = 0x1p-49
	var worst float64
	check := func(angle *big.Float, c, s float64) {
		t.Helper()
		cos, sin := RealCosSin(angle)
		e := max(relativeError(c, cos), relativeError(s, sin))
		worst = max(worst, e)
		if e > bound {
			t.Fatalf("angle %.20g: got %x, %x, want %.20g, %.20g", angle, c, s, cos, sin)
		}
	}
	for range samples(5000) {
		if angle := math.Ldexp(r.Float64()+1, -8-r.IntN(30)); angle < 0x1p-7 {
			c, s := cosSinRest(angle)
			check(new(big.Float).SetFloat64(angle), 1+c, s)
		}
		angle := new(big.Float).SetFloat64(math.Ldexp(2*r.Float64()-1, r.IntN(40)))
		if r.IntN(2) == 0 { // next to a 256th of a turn, where the rest changes sign, and to its middle
			turns := NewReal().Quo(new(big.Float).SetInt64(r.Int64N(1<<20)), big.NewFloat(512))
			angle = NewReal().Mul(NewReal().Mul(RealPi(), big.NewFloat(2)), turns)
			angle.Add(angle, new(big.Float).SetFloat64(math.Ldexp(2*r.Float64()-1, -r.IntN(60))))
		}
		n := r.Int64N(1<<32) - 1<<31
		if n != 0 {
			angle = NewReal().Quo(angle, new(big.Float).SetInt64(n))
			if c, s, ok := phaseOf(angle).times(n).cosSin(); ok {
				check(angle.Mul(angle, new(big.Float).SetInt64(n)), c, s)
			}
		}
	}
	t.Logf("largest relative error %.3g, 2^%.1f", worst, math.Log2(worst))
}

// Float32 angles whose cosine lies closest to a midpoint, the one closest to a
// multiple of pi/2, and where the ways of the reference meet.
var hardAngles = []uint32{
	0x5f18b878, 0x6115cb11, 0x7908cd73, 0x6f79be45, 0x5c98f6b2, 0x73243f06, 0x7f7fffff,
	0x3c000000, 0x3bffffff, 0x39800000, 0x397fffff, 0x39b504f3, 0x3f490fdb, 0x3fc90fdb, 0x40490fdb, 1, 0x007fffff, 0x00800000,
}

func TestCosSin(t *testing.T) {
	r := newRand(2)
	hards := 0
	check := func(bits uint32) {
		t.Helper()
		x := math.Float32frombits(bits)
		cos, sin, hard := CosSin(x)
		wantCos, wantSin := roundBig(RealCosSin(new(big.Float).SetFloat64(float64(x))))
		if math.Float32bits(cos) != math.Float32bits(wantCos) || math.Float32bits(sin) != math.Float32bits(wantSin) {
			t.Errorf("%#x (%v): got %x, %x, want %x, %x", bits, x, cos, sin, wantCos, wantSin)
		}
		if hard {
			hards++
		}
	}
	for _, bits := range hardAngles {
		check(bits)
		check(bits | 1<<31)
	}
	easy := hards
	for range samples(5000) {
		if bits := r.Uint32(); bits>>23&0xff != 0xff && bits<<1 != 0 {
			check(bits)
		}
	}
	if n := hards - easy; n > 3 {
		t.Errorf("math/big decided %d ordinary angles: the reference is slow", n)
	}
	for _, tt := range []struct{ bits, sin uint32 }{{0, 0}, {1 << 31, 1 << 31}} {
		if cos, sin, _ := CosSin(math.Float32frombits(tt.bits)); cos != 1 || math.Float32bits(sin) != tt.sin {
			t.Errorf("%#x: got %v, %v", tt.bits, cos, sin)
		}
	}
	for _, bits := range []uint32{0x7f800000, 0xff800000, 0x7f800001, 0xffc12345} {
		if cos, sin, _ := CosSin(math.Float32frombits(bits)); cos == cos || sin == sin {
			t.Errorf("%#x: got %v, %v, want NaN", bits, cos, sin)
		}
	}
}

func TestFrequency(t *testing.T) {
	r := newRand(3)
	hards := 0
	check := func(p int32, w float64) {
		t.Helper()
		f := NewFrequency(w)
		cos, sin, hard := f.CosSin(p)
		wantCos, wantSin := roundBig(RealCosSin(NewReal().Mul(new(big.Float).SetInt64(int64(p)), new(big.Float).SetFloat64(w))))
		if cos != wantCos || sin != wantSin {
			t.Fatalf("position %d, frequency %x: got %x, %x, want %x, %x", p, w, cos, sin, wantCos, wantSin)
		}
		if hard {
			hards++
		}
	}
	n := samples(5000)
	for range n {
		p := int32(r.Uint32()) >> r.IntN(32)
		check(p, math.Exp2(-30*r.Float64()))
		check(p, -math.Ldexp(r.Float64(), 20-r.IntN(100)))
	}
	few := hards
	for range n {
		// The cosine is next to the midpoint of two float32.
		p := int32(1 + r.IntN(1<<20))
		low := math.Float32frombits(0x3f000000 + r.Uint32N(0x7f0000))
		check(p, math.Acos((float64(low)+float64(math.Nextafter32(low, 1)))/2)/float64(p))
	}
	if hards-few < n*9/10 {
		t.Errorf("math/big decided %d of %d hard entries", hards-few, n)
	}
	for _, p := range []int32{0, math.MinInt32, math.MaxInt32, 1, -1} {
		for _, w := range []float64{0, math.Copysign(0, -1), 1, math.Pi, -0x1p-60} {
			if p == 0 || w == 0 {
				f := NewFrequency(w)
				if cos, sin, _ := f.CosSin(p); cos != 1 || math.Float32bits(sin) != 0 {
					t.Errorf("%d * %v: got %v, %v", p, w, cos, sin)
				}
				continue
			}
			check(p, w)
		}
	}
}
