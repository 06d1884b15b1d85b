package ropecheck

import "math"

// fma32 is x*y + z, rounded once. Of the sum in float64, odd rounding keeps what the second
// rounding needs.
func fma32(x, y, z float32) float32 {
	p := float64(x) * float64(y) // exact
	s := p + float64(z)
	v := s - p
	if left := (p - (s - v)) + (float64(z) - v); left != 0 && math.Float64bits(s)&1 == 0 && !math.IsInf(s, 0) {
		if (left > 0) == (s > 0) {
			s = math.Float64frombits(math.Float64bits(s) + 1)
		} else {
			s = math.Float64frombits(math.Float64bits(s) - 1)
		}
	}
	return float32(s)
}

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
