package generic

import "math"

// CosSinExact writes the cosine and sine of the real products
// position*invFreq[i], correctly rounded and then scaled:
//
//	cos[i] = RN32(RN32(cos(position*invFreq[i])) * scaleCos)
//	sin[i] = RN32(RN32(sin(position*invFreq[i])) * scaleSin)
//
// for i < len(invFreq). The sine of a zero angle is +0 before scaling. It holds
// for |position*invFreq[i]| < 2^50; other entries are NaN. cos and sin hold at
// least len(invFreq) elements.
func CosSinExact(cos, sin []float32, position int32, invFreq []float64, scaleCos, scaleSin float32) {
	CosSinExactAt(cos, sin, float64(position), invFreq, scaleCos, scaleSin)
}

// CosSinExactAt is CosSinExact for any position of at most 31 significant bits.
func CosSinExactAt(cos, sin []float32, position float64, invFreq []float64, scaleCos, scaleSin float32) {
	cos, sin = cos[:len(invFreq)], sin[:len(invFreq)]
	for i, w := range invFreq {
		c, s := cosSinExact(position, w)
		cos[i], sin[i] = c*scaleCos, s*scaleSin
	}
}

// CosSinFloat32 writes the cosine and sine of float32 angles, correctly
// rounded and then scaled:
//
//	a = RN32(position * invFreq[i])
//	cos[i] = RN32(RN32(cos(a)) * scaleCos)
//	sin[i] = RN32(RN32(sin(a)) * scaleSin)
//
// for i < len(invFreq). It holds for every float32: sin(-0) is -0, and the
// cosine and sine of infinities and NaNs are NaN. With position 1 it is the
// plain cosine and sine of invFreq[i]. cos and sin hold at least len(invFreq)
// elements.
func CosSinFloat32(cos, sin, invFreq []float32, position, scaleCos, scaleSin float32) {
	cos, sin = cos[:len(invFreq)], sin[:len(invFreq)]
	for i, w := range invFreq {
		c, s := cosSinFloat32(position * w)
		cos[i], sin[i] = c*scaleCos, s*scaleSin
	}
}

// MaxAngle bounds the angles whose quarter turns float64 arithmetic can count:
// the product with 2/pi has to stay below 2^51.
const MaxAngle = 1 << 50

// 2/pi as an unevaluated sum of float64.
const (
	twoOverPi0 = 0x1.45f306dc9c883p-1
	twoOverPi1 = -0x1.6b01ec5417056p-55
	twoOverPi2 = -0x1.6447e493ad4cep-109
)

// QuarterTurns returns invFreq*2/pi as an unevaluated sum high+low, with a
// relative error below 2^-104.
func QuarterTurns(invFreq float64) (high, low float64) {
	high = invFreq * twoOverPi0
	low = math.FMA(invFreq, twoOverPi0, -high)
	low = math.FMA(invFreq, twoOverPi1, low)
	low = math.FMA(invFreq, twoOverPi2, low)
	return high, low
}

// MarginAngle ends the range of Margin. The quarter turns of larger angles are
// counted by the high part of 2/pi alone, and what the low part adds takes the
// rest out of the range of the polynomials.
const MarginAngle = 1 << 40

// cosSinExact is Ziv's method: it accepts the float64 result when the two ends
// of its error interval round to the same float32.
func cosSinExact(p, w float64) (cos, sin float32) {
	angle := math.Abs(p * w)
	if !(angle < MaxAngle) {
		return float32(math.NaN()), float32(math.NaN())
	}
	if p == 0 || w == 0 { // no interval is short enough for a sine of 0
		return 1, 0
	}
	if angle >= MarginAngle || angle < 0x1p-1000 { // with a product that may be inexact
		return cosSinProduct(p, w)
	}
	high, low := QuarterTurns(w)
	c, s := cosSin(p, high, low)
	m := Margin * min(1, angle)
	cos, cosLow := float32(c+Margin), float32(c-Margin)
	sin, sinLow := float32(s+m), float32(s-m)
	if cos == cosLow && sin == sinLow && sin != 0 {
		return cos, sin
	}
	return cosSinProduct(p, w)
}

func cosSinFloat32(angle float32) (cos, sin float32) {
	x := float64(angle)
	if !(math.Abs(x) < MaxAngle) {
		if math.IsInf(x, 0) || x != x {
			return float32(math.NaN()), float32(math.NaN())
		}
		return cosSinLarge(angle)
	}
	c, s := cosSin(x, twoOverPiHigh, twoOverPiLow)
	return float32(c), float32(s)
}

// cosSin returns the cosine and sine of (pi/2)*x*(high+low) in float64, for a
// product below 2^51. For angles below MarginAngle the relative error is below
// 2^-50.7, plus the error of the reduction, which matters only beyond 1.
func cosSin(x, high, low float64) (cos, sin float64) {
	q := math.FMA(x, high, toInteger)
	k := q - toInteger
	f := math.FMA(x, high, -k)
	f = math.FMA(x, low, f)
	y := f * f
	s := math.FMA(y, sin6, sin5)
	s = math.FMA(y, s, sin4)
	s = math.FMA(y, s, sin3)
	s = math.FMA(y, s, sin2)
	s = math.FMA(y, s, sin1)
	s = math.FMA(y, s, sin0)
	s = float64(f * s)
	c := math.FMA(y, cos6, cos5)
	c = math.FMA(y, c, cos4)
	c = math.FMA(y, c, cos3)
	c = math.FMA(y, c, cos2)
	c = math.FMA(y, c, cos1)
	c = math.FMA(y, c, 1)
	return turn(c, s, math.Float64bits(q))
}

// turn adds quarter turns, of which only the last two bits count.
func turn(c, s float64, quarter uint64) (cos, sin float64) {
	if quarter&1 != 0 {
		c, s = s, c
	}
	if quarter&2 != 0 {
		s = -s
	}
	if (quarter+1)&2 != 0 {
		c = -c
	}
	return c, s
}
