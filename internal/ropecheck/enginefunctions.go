package ropecheck

import (
	"math"

	"github.com/go-posenc/posenc/generic"
)

func fma32(x, y, z float32) float32 { return generic.FMA32(x, y, z) }

// numpyCosSin returns cos and sin of numpy for float32: quarter turns are taken away in three parts,
// and polynomials in float32 follow. Large angles go to the C library, here glibc.
func numpyCosSin(x float32) (cos, sin float32) {
	cos, sin = glibcCosSin(x)
	a := math.Abs(float64(x))
	q := fma32(x, 0x1.45f306p-1, 0x1.8p+23) - 0x1.8p+23
	r := fma32(q, -0x1.846988p-48, fma32(q, -0x1.5110b4p-22, fma32(q, -0x1.921fb0p+00, x)))
	r2 := r * r
	c := fma32(fma32(fma32(fma32(0x1.98e616p-16, r2, -0x1.6c06dcp-10), r2, 0x1.55553cp-05), r2, -0.5), r2, 1)
	s := fma32(fma32(fma32(fma32(0x1.7d3bbcp-19, r2, -0x1.a06bbap-13), r2, 0x1.11119ap-07), r2, -0x1.555556p-03)*r2, r, r)
	qc, qs := c, s
	switch int(q) & 3 {
	case 1:
		qc, qs = -s, c
	case 2:
		qc, qs = -c, -s
	case 3:
		qc, qs = s, -c
	}
	if a <= 71476.0625 {
		cos = qc
	}
	if a <= 117435.992 {
		sin = qs
	}
	return cos, sin
}

// mlxCosSin returns cos and sin of MLX on CPUs: the polynomials of Cephes in float32, after eighth
// turns are taken away in three parts.
func mlxCosSin(x float32) (cos, sin float32) {
	a := float32(math.Abs(float64(x)))
	eighth := (uint32(a*1.27323954473516) + 1) &^ 1
	y := float32(eighth)
	r := a
	for _, part := range [...]float32{-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8} {
		r = fma32(y, part, r)
	}
	z := r * r
	c := fma32(fma32(z, 2.443315711809948e-5, -1.388731625493765e-3), z, 4.166664568298827e-2) * z * z
	c = fma32(z, -0.5, c) + 1
	s := fma32(fma32(z, -1.9515295891e-4, 8.3321608736e-3), z, -1.6666654611e-1) * z
	s = fma32(r, s, r)
	if eighth&2 != 0 {
		c, s = s, c
	}
	if (eighth-2)&4 == 0 {
		c = -c
	}
	if (eighth&4 != 0) != (x < 0) {
		s = -s
	}
	return c, s
}

// mlxExp returns exp of MLX on CPUs, for x from -80 to 80.
func mlxExp(x float32) float32 {
	y := float32(x * 1.442695)
	whole := float32(math.Floor(float64(y + 0.5)))
	part, p := y-whole, float32(1.535336188319500e-4)
	for _, c := range [...]float32{1.339887440266574e-3, 9.618437357674640e-3, 5.550332471162809e-2, 2.402264791363012e-1, 6.931472028550421e-1, 1} {
		p = fma32(p, part, c)
	}
	return float32(math.Ldexp(float64(p), int(whole)))
}

// glibcCosSin returns cosf and sinf of glibc from 2.28 on, for 0 <= |x| < 2^32, as its build for CPUs
// with FMA rounds: polynomials in float64 (Arm's optimized routines), rounded once. Angles of 120 and more are reduced
// by 64 bits of the product with 2/pi.
func glibcCosSin(x float32) (cos, sin float32) {
	a := math.Abs(float64(x))
	r, quarter := a, 0
	switch {
	case a < 0x1p-12:
		return 1, x
	case a < 0x1.921fb6p-1: // pi/4 as float32
	case a < 120:
		quarter = (int(int32(a*(0x1.45F306DC9C883p-1*(1<<24)))) + 1<<23) >> 24
		r = math.FMA(-float64(quarter), math.Pi/2, a)
	default:
		r, quarter = reduceByBits(math.Float32bits(float32(a)))
	}
	r2 := r * r
	s := float32(math.FMA(r2*(r*r2), math.FMA(r2, -0x1.994eb3774cf24p-13, 0x1.1107605230bc4p-7), math.FMA(r*r2, -0x1.555545995a603p-3, r)))
	c := float32(math.FMA(r2*(r2*r2), math.FMA(r2, 0x1.99343027bf8c3p-16, -0x1.6c087e89a359dp-10), math.FMA(r2*r2, 0x1.55553e1068f19p-5, math.FMA(r2, -0x1.ffffffd0c621cp-2, 1))))
	switch quarter & 3 {
	case 1:
		c, s = -s, c
	case 2:
		c, s = -c, -s
	case 3:
		c, s = s, -c
	}
	if x < 0 {
		s = -s
	}
	return c, s
}

// twoOverPi are the first bytes of 2/pi.
const twoOverPi = "\x00\x00\x00\xa2\xf9\x83\x6e\x4e\x44\x15\x29\xfc\x27\x57\xd1\xf5\x34\xdd\xc0\xdb\x62\x95\x99\x3c\x43\x90\x41"

// reduceByBits returns what is left of a positive float32 of at least 2, in magnitude at most
// pi/4, and the number of quarter turns, modulo 4.
func reduceByBits(bits uint32) (r float64, quarter int) {
	word := func(i uint32) uint32 {
		b := twoOverPi[bits>>26&15+i:]
		return uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	}
	m := (bits&0xffffff | 0x800000) << (bits >> 23 & 7)
	turns := uint64(m*word(0))<<32 | uint64(m)*uint64(word(8))>>32
	turns += uint64(m) * uint64(word(4))
	n := (turns + 1<<61) >> 62
	return float64(int64(turns-n<<62)) * 0x1.921FB54442D18p-62, int(n)
}

// sum32 is the sum of two float32 that a result of more bits is held in.
type sum32 struct{ high, low float32 }

func (a sum32) plus(b sum32) sum32 {
	s := a.high + b.high
	v := s - a.high
	return sum32{s, a.high - (s - v) + (b.high - v) + (a.low + b.low)}
}

// plusLess is plus where b is the smaller.
func (a sum32) plusLess(b sum32) sum32 {
	s := a.high + b.high
	return sum32{s, a.high - s + b.high + a.low + b.low}
}

func (a sum32) times(b sum32) sum32 {
	p := float32(a.high * b.high) // the conversion keeps it out of fused sums
	return sum32{p, fma32(a.high, b.low, fma32(a.low, b.high, fma32(a.high, b.high, -p)))}
}

func (a sum32) squared() sum32 {
	p := float32(a.high * a.high)
	return sum32{p, fma32(a.high+a.high, a.low, fma32(a.high, a.high, -p))}
}

// sleefPow returns x to the power of y as Sleef_powf8_u10 does on CPUs with FMA, for x and the result from
// 2^-126 to 2^127: e to the power of y*log(x), in sums of two float32.
func sleefPow(x, y float32) float32 {
	e := math.Ilogb(float64(x * (1 / 0.75)))
	m := float32(math.Ldexp(float64(x), -e))
	n, d := sum32{-1, 0}.plus(sum32{m, 0}), sum32{1, 0}.plus(sum32{m, 0})
	t := 1 / d.high
	q := float32(n.high * t)
	f := sum32{q, fma32(q, fma32(-d.low, t, fma32(-d.high, t, 1)), fma32(n.low, t, fma32(t, n.high, -q)))}
	f2 := f.squared()
	p := fma32(fma32(0.240320354700088500976562, f2.high, 0.285112679004669189453125), f2.high, 0.400007992982864379882812)
	s := sum32{0.69314718246459960938, -1.904654323148236017e-09}.times(sum32{float32(e), 0})
	s = s.plusLess(sum32{2 * f.high, 2 * f.low})
	s = s.plusLess(f2.times(f).times(f2.times(sum32{p, 0}).plus(sum32{0.66666662693023681640625, 3.69183861259614332084311e-09})))

	s = s.times(sum32{y, 0})
	whole := float32(math.RoundToEven(float64((s.high + s.low) * (1 / math.Ln2))))
	s = s.plus(sum32{float32(whole * -0.693145751953125), 0}).plus(sum32{float32(whole * -1.428606765330187045e-06), 0})
	h := s.high + s.low
	s = sum32{h, s.high - h + s.low}
	p = 0.00136324646882712841033936
	for _, c := range [...]float32{0.00836596917361021041870117, 0.0416710823774337768554688, 0.166665524244308471679688, 0.499999850988388061523438} {
		p = fma32(p, s.high, c)
	}
	s = sum32{1, 0}.plusLess(s.plusLess(s.squared().times(sum32{p, 0})))
	return float32(math.Ldexp(float64(s.high+s.low), int(whole)))
}

// tinygradCosSin returns cos and sin of tinygrad on CPUs, for |x| < 2^31, as clang compiles them: sines of float32
// with half turns taken away below 30, in sums that lose bits, and quarter turns by 64 bits of the product with 2/pi
// from there on.
func tinygradCosSin(x float32) (cos, sin float32) {
	return tinygradSin(float32(math.Pi/2) - x), tinygradSin(x)
}

func tinygradSin(x float32) float32 {
	a := float32(math.Abs(float64(x)))
	var r float32
	var negative bool
	if a < 30 {
		half := int(float32(a*float32(1/math.Pi)) + 0.5)
		q := float32(half)
		r = fma32(q, -1.2154201256553420762e-10, q*-1.9841872589410058936e-09)
		r = fma32(q, -3.1414794921875, fma32(q, -0.00011315941810607910156, r)) + a
		negative = half&1 != 0
	} else {
		const high, middle, low = 0x28be60db, 0x9391054a, 0x7f09d5f4 // of 2/pi
		f, e := math.Frexp(float64(a))
		m := uint64(f * (1 << 32))
		p := m*(high>>(32-e))<<32 + m*uint64(uint32(high<<e&math.MaxUint32)|uint32(middle>>(32-e))) + m*uint64(uint32(middle<<e&math.MaxUint32)|uint32(low>>(32-e)))>>32
		quarter := int(p>>62) + 1
		r = float32(float32(p&(1<<62-1))*3.4061215800865545e-19) - float32(math.Pi/2)
		if quarter&1 != 0 {
			r += float32(math.Pi / 2)
		}
		negative = quarter&2 != 0
	}
	z := r * r
	p := float32(2.6083159809786593541503e-06)
	for _, c := range [...]float32{-0.0001981069071916863322258, 0.00833307858556509017944336, -0.166666597127914428710938, 1} {
		p = fma32(p, z, c)
	}
	if negative != (x < 0) {
		p = -p
	}
	return r * p
}

// tinygradExp2 returns 2 to the power of x of tinygrad on CPUs, for x from 0 to 127.
func tinygradExp2(x float32) float32 {
	whole := int(x + 0.5)
	part, p := x-float32(whole), float32(0.1535920892e-3)
	for _, c := range [...]float32{0.1339262701e-2, 0.9618384764e-2, 0.5550347269e-1, 0.2402264476, 0.6931471825, 1} {
		p = fma32(p, part, c)
	}
	return float32(math.Ldexp(float64(p), whole))
}
