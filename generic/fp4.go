package generic

import "math"

// The bytes and the numbers of a block of each format with codes of E2M1.
const (
	MXFP4Bytes   = 1 + Block/2
	NVFP4Numbers = 16
	NVFP4Bytes   = 1 + NVFP4Numbers/2
)

// MXFP4Rule chooses the scale of a block of MXFP4, under the name that torchao has for it.
type MXFP4Rule uint8

const (
	MXFP4Floor MXFP4Rule = iota // 2^(floor(log2(amax))-2), of OCP MX 1.0, section 6.3
	MXFP4RCeil                  // 2^ceil(log2(RN32(amax/6)))
	MXFP4Even                   // as MXFP4Floor, for amax rounded to one binary digit after the point, halves up
)

var (
	minus0    = math.Float32frombits(1 << 31)
	twiceE2M1 = [16]float32{0, 1, 2, 3, 4, 6, 8, 12, minus0, -1, -2, -3, -4, -6, -8, -12}
)

// codeE2M1 returns the code of the nearest number of E2M1, ties to even, at most 6 in magnitude. Codes are
// steps of a half up to 2, of one up to 4, and of two from there on: the least of three roundings is right.
func codeE2M1(x float32) (code uint8) {
	const toInteger = 0x1.8p23 // a sum with it is an integer in the low bits
	m := min(math.Float32frombits(math.Float32bits(x)&^(1<<31)), 6)
	code = uint8(min(math.Float32bits(2*m+toInteger), math.Float32bits(m+toInteger)+2, math.Float32bits(m/2+toInteger)+4))
	return code | uint8(math.Float32bits(x)>>31<<3)
}

// QuantizeF32ToMXFP4 writes x as blocks of 32 numbers of OCP's MXFP4: a scale of E8M0, and codes of E2M1
// for x/scale, ties to even, at most 6 in magnitude. A block is 17 bytes: the scale, and 16 bytes with an even
// number in the lower half and the next one in the upper half. A scale is at least 2^-127, the code 0. Where
// x has a number that is not finite, the scale is the NaN 255 and codes are 0. len(x) is a multiple of 32.
func QuantizeF32ToMXFP4(y []uint8, x []float32, rule MXFP4Rule) {
	for ; len(x) >= Block; x, y = x[Block:], y[MXFP4Bytes:] {
		amax := largestMagnitude(x[:Block])
		scale := rule.scale(amax)
		inverse := 2 * halfE8M0(254-scale)
		if !isFinite(amax) {
			scale = 255
		}
		quantizeE2M1(y[:MXFP4Bytes], x[:Block], scale, inverse, isFinite(amax))
	}
}

// scale returns a code of E8M0, of at most 253 where amax is finite.
func (r MXFP4Rule) scale(amax float32) uint8 {
	bits := math.Float32bits(amax)
	switch r {
	case MXFP4RCeil:
		bits = math.Float32bits(amax / 6)
		if bits <= 0x00400000 { // 2^-127
			return 0
		}
		return uint8((bits + 1<<23 - 1) >> 23)
	case MXFP4Even:
		bits += 1 << 21
	}
	return uint8(max(int(bits>>23)-2, 0))
}

// Raise returns what kernels add to the bits of the largest magnitude of a block, before the exponent less 2
// becomes the scale. By MXFP4RCeil it raises the exponent above 1.5 times a power of two, by MXFP4Even from
// 1.75 times one on.
func (r MXFP4Rule) Raise() uint32 {
	return [...]uint32{MXFP4Floor: 0, MXFP4RCeil: 1<<22 - 1, MXFP4Even: 1 << 21}[r]
}

// QuantizeF32ToNVFP4 writes x as blocks of 16 numbers of NVFP4 without a scale of the tensor: a
// scale of E4M3, nearest to RN32(amax/6) from 2^-6 to 448, ties to even, and codes of E2M1 for
// RN32(x*RN32(1/scale)), ties to even, at most 6 in magnitude. A block is 9 bytes, as in
// QuantizeF32ToMXFP4. Where x has a number that is not finite, the scale is the NaN 0x7f and codes are 0.
// len(x) is a multiple of 16.
func QuantizeF32ToNVFP4(y []uint8, x []float32) {
	for ; len(x) >= NVFP4Numbers; x, y = x[NVFP4Numbers:], y[NVFP4Bytes:] {
		amax := largestMagnitude(x[:NVFP4Numbers])
		scale := uint8(0x7f)
		if isFinite(amax) {
			scale = Float32ToE4M3(min(max(amax/6, 0x1p-6), 448))
		}
		quantizeE2M1(y[:NVFP4Bytes], x[:NVFP4Numbers], scale, 1/E4M3ToFloat32(scale), isFinite(amax))
	}
}

func quantizeE2M1(y []uint8, x []float32, scale uint8, inverse float32, finite bool) {
	y[0] = scale
	for i := range y[1:] {
		y[1+i] = 0
		if finite {
			y[1+i] = codeE2M1(x[2*i]*inverse) | codeE2M1(x[2*i+1]*inverse)<<4
		}
	}
}

// DequantizeMXFP4ToF32 sets y to the numbers of blocks of MXFP4, which are code*scale. len(y) is a multiple of 32.
func DequantizeMXFP4ToF32(y []float32, x []uint8) { dequantizeE2M1(y, x, Block, halfE8M0) }

// DequantizeNVFP4ToF32 sets y to the numbers of blocks of NVFP4, which are code*scale. len(y) is a multiple of 16.
func DequantizeNVFP4ToF32(y []float32, x []uint8) { dequantizeE2M1(y, x, NVFP4Numbers, halfE4M3) }

// dequantizeE2M1 reads blocks of a scale and a byte for each pair of numbers; half returns half of a scale.
func dequantizeE2M1(y []float32, x []uint8, numbers int, half func(scale uint8) float32) {
	for ; len(y) >= numbers; y, x = y[numbers:], x[1+numbers/2:] {
		scale := half(x[0])
		for i, codes := range x[1 : 1+numbers/2] {
			y[2*i], y[2*i+1] = twiceE2M1[codes&15]*scale, twiceE2M1[codes>>4]*scale
		}
	}
}

// halfPower returns 2^(scale-128).
func halfPower(scale uint8) float32 {
	if scale < 2 {
		return math.Float32frombits(0x00200000 << scale)
	}
	return math.Float32frombits(uint32(scale-1) << 23)
}

func halfE8M0(scale uint8) float32 {
	if scale == 255 {
		return float32(math.NaN())
	}
	return halfPower(scale)
}

func halfE4M3(scale uint8) float32 { return E4M3ToFloat32(scale) / 2 }
