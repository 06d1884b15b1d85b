package generic

import "math/bits"

// Logarithm returns ln(k), 1 <= k <= 2^33, with a relative error below 2^-52.
//
// With k = 2^e*m, 1 <= m < 2, it is e*ln(2) + 2*atanh(z), z = (m-1)/(m+1) < 1/3,
// in integers that count units of 2^-64. The 21 terms of atanh are each off by
// less than 3 units, e*ln(2) by e at most: together less than 2^-56, and ln(k),
// if it is not 0, is above 0.69. Three roundings to float64 follow.
func Logarithm(k uint64) float64 {
	const ln2 = 0xb17217f7d1cf79ab
	e := bits.Len64(k) - 1
	power := uint64(1) << e
	z, _ := bits.Div64(k-power, 0, k+power)
	square, _ := bits.Mul64(z, z)
	var sum uint64
	for term, n := z, uint64(1); term != 0; n += 2 {
		sum += term / n
		term, _ = bits.Mul64(term, square)
	}
	whole, fraction := bits.Mul64(uint64(e), ln2)
	fraction, carry := bits.Add64(fraction, 2*sum, 0)
	return float64(whole+carry) + float64(float64(fraction)*0x1p-64)
}
