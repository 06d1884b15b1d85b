package generic

import "math"

// CosSinExactF64 writes the cosine and sine of the real products
// position*invFreq[i], correctly rounded to float64, for a position of at most
// 31 significant bits and i < len(invFreq):
//
//	cos[i] = RN64(cos(position*invFreq[i]))
//	sin[i] = RN64(sin(position*invFreq[i]))
//
// Products of 2^50 and more in magnitude give NaN. The sine of a zero angle is +0.
// cos and sin hold at least len(invFreq) elements. A pair takes microseconds.
func CosSinExactF64(cos, sin []float64, position float64, invFreq []float64) {
	cos, sin = cos[:len(invFreq)], sin[:len(invFreq)]
	for i, w := range invFreq {
		cos[i], sin[i] = cosSinProduct64(position, w)
	}
}

func cosSinProduct64(p, w float64) (cos, sin float64) {
	product := math.Abs(p * w)
	switch {
	case p == 0 || w == 0:
		return 1, 0
	case !(product < MaxAngle):
		return math.NaN(), math.NaN()
	case product < 0x1p-980:
		return 1, sinSubnormal64(p, w)
	case product < tinyProduct:
		return 1, sinTiny64(p, w)
	}
	c, s, cosNegative, sinNegative := cosSinReduced(p, w)
	return signed(c.float64(), cosNegative), signed(s.float64(), sinNegative)
}

// sinTiny64 returns the correctly rounded sine of p*w for a product below
// tinyProduct, which is the product moved towards zero by less than 2^-92 of
// itself. That is less than a product of 84 bits can be away from midway between
// two float64, so that only from midway it matters.
func sinTiny64(p, w float64) float64 {
	product := float64(p * w) // not fused into the difference below
	rest := math.FMA(p, w, -product)
	if below := math.Nextafter(product, 0); rest != 0 && rest == (below-product)/2 {
		return below
	}
	return product
}

// sinSubnormal64 is sinTiny64 for products whose lowest bits may lie below the lowest of
// the smallest float64.
func sinSubnormal64(p, w float64) float64 {
	const (
		scale  = 0x1p400
		unit   = 0x1p-1074 * scale // of the last bit of a subnormal number
		normal = 0x1p-1022 * scale // the smallest that is none
	)
	if math.Abs(p) < math.Abs(w) {
		p, w = w, p
	}
	w *= scale // exact: w is below 2^-490
	product := float64(p * w)
	magnitude := math.Abs(product)
	if magnitude >= normal {
		return sinTiny64(p, w) / scale
	}
	rest := math.FMA(p, w, -product)
	nearest := (magnitude + 0x1p52*unit) - 0x1p52*unit
	if math.Abs(magnitude-nearest) == unit/2 { // midway, apart from the rest and the sine
		nearest = magnitude - unit/2
		if rest != 0 && (rest < 0) == (product < 0) {
			nearest = magnitude + unit/2
		}
	}
	return math.Copysign(nearest/scale, product)
}
