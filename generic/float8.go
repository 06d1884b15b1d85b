package generic

import "math"

// NaN8 is the code of NaN in both floating point formats of 8 bits.
const NaN8 = 0x7f

// format8 is a format of 8 bits: a sign, an exponent and a mantissa, or an integer.
type format8 struct {
	mantissa int     // bits, 0 of an integer
	least    uint32  // bits of the least normal number, as a float32
	largest  float32 // finite number
	none     uint8   // the code of numbers that have no finite scale
	values   [256]float32
}

var (
	integer8 = newFormat8(format8{largest: 127}, 0)
	e4m3     = newFormat8(format8{mantissa: 3, least: 0x3c800000, largest: 448, none: NaN8}, math.NaN())    // from 2^-6 on
	e5m2     = newFormat8(format8{mantissa: 2, least: 0x38800000, largest: 57344, none: NaN8}, math.Inf(1)) // from 2^-14 on
)

// Float32ToE4M3 returns the code of the E4M3FN number nearest to x, ties to even (OCP
// 8-bit floating point, revision 1.0). Beyond 448 in magnitude it is 448; a NaN is NaN8.
func Float32ToE4M3(x float32) uint8 { return e4m3.code(x) }

// Float32ToE5M2 is Float32ToE4M3 for E5M2, with 57344 for 448.
func Float32ToE5M2(x float32) uint8 { return e5m2.code(x) }

// E4M3ToFloat32 returns the value of the E4M3FN number with the given code.
func E4M3ToFloat32(code uint8) float32 { return e4m3.values[code] }

// E5M2ToFloat32 returns the value of the E5M2 number with the given code.
func E5M2ToFloat32(code uint8) float32 { return e5m2.values[code] }

// code rounds by a sum whose last bit is the last bit of the result: its bits count multiples of
// the distance of neighbouring numbers.
func (f *format8) code(x float32) uint8 {
	bits := math.Float32bits(x)
	sign, magnitude := uint8(bits>>24)&0x80, math.Float32frombits(bits&^(1<<31))
	if magnitude != magnitude {
		return NaN8
	}
	magnitude = min(magnitude, f.largest)
	exponent := max(math.Float32bits(magnitude)&0x7f800000, f.least)
	shift := 23 - f.mantissa
	last := exponent + uint32(shift)<<23
	count := math.Float32bits(magnitude+math.Float32frombits(last)) - last
	return sign | uint8(count+(exponent-f.least)>>shift)
}

// newFormat8 returns a format with the numbers of all codes. beyond is the number of the code after the
// largest, up to which all codes are numbers; those after it are NaN.
func newFormat8(f format8, beyond float64) *format8 {
	for code := range f.values {
		f.values[code] = float32(int8(code))
	}
	if f.mantissa == 0 {
		return &f
	}
	step := math.Float32frombits(f.least - uint32(f.mantissa)<<23) // of subnormal numbers
	finite := true
	for code := range uint(128) {
		mantissa, exponent := code&(1<<f.mantissa-1), code>>f.mantissa
		value := float64(mantissa)
		if exponent > 0 {
			value = math.Ldexp(float64(mantissa+1<<f.mantissa), int(exponent)-1)
		}
		value *= float64(step)
		switch {
		case !finite:
			value = math.NaN()
		case value > float64(f.largest):
			value, finite = beyond, false
		}
		f.values[code], f.values[code|0x80] = float32(value), float32(-value)
	}
	return &f
}
