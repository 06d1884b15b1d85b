package generic

import "math"

// The bytes and the numbers of a block of each format with codes of E2M1.
const (
	MXFP4Bytes       = 1 + Block/2
	GGMLMXFP4Bytes   = MXFP4Bytes
	NVFP4Numbers     = 16
	NVFP4Bytes       = 1 + NVFP4Numbers/2
	GGMLNVFP4Numbers = 64
	GGMLNVFP4Bytes   = GGMLNVFP4Numbers/NVFP4Numbers + GGMLNVFP4Numbers/2
)

// MXFP4Rule chooses the scale of a block of MXFP4, under the name that torchao has for it.
type MXFP4Rule uint8

const (
	MXFP4Floor MXFP4Rule = iota // 2^(floor(log2(amax))-2), of OCP MX 1.0, section 6.3
	MXFP4RCeil                  // 2^ceil(log2(RN32(amax/6)))
	MXFP4Even                   // as MXFP4Floor, for amax rounded to one binary digit after the point, halves up
)

// fp4Format is an arrangement of codes of E2M1. A block has a scale for each group of numbers, and then
// 4 bits for each number: some numbers in the lower halves of as many bytes, and as many in the upper halves.
type fp4Format struct {
	numbers, group, side int
	half                 func(scale uint8) float32 // half of a scale
	twice                *[16]float32              // twice the number of each code
}

var (
	mxfp4     = fp4Format{Block, Block, 1, halfE8M0, &twiceE2M1}
	nvfp4     = fp4Format{NVFP4Numbers, NVFP4Numbers, 1, halfE4M3, &twiceE2M1}
	ggmlMXFP4 = fp4Format{Block, Block, Block / 2, halfPower, &twiceGGML}
	ggmlNVFP4 = fp4Format{GGMLNVFP4Numbers, NVFP4Numbers, NVFP4Numbers / 2, halfUE4M3, &twiceGGML}
)

var (
	minus0    = math.Float32frombits(1 << 31)
	twiceE2M1 = [16]float32{0, 1, 2, 3, 4, 6, 8, 12, minus0, -1, -2, -3, -4, -6, -8, -12}
	twiceGGML = [16]float32{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12}
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
func DequantizeMXFP4ToF32(y []float32, x []uint8) { mxfp4.dequantize(y, x) }

// DequantizeNVFP4ToF32 sets y to the numbers of blocks of NVFP4, which are code*scale. len(y) is a multiple of 16.
func DequantizeNVFP4ToF32(y []float32, x []uint8) { nvfp4.dequantize(y, x) }

// DequantizeGGMLMXFP4ToF32 is DequantizeMXFP4ToF32 of ggml's blocks, as dequantize_row_mxfp4 of ggml: the
// first 16 numbers are in the lower halves, the code 8 is +0, and the scale 255 is 2^128.
func DequantizeGGMLMXFP4ToF32(y []float32, x []uint8) { ggmlMXFP4.dequantize(y, x) }

// DequantizeGGMLNVFP4ToF32 sets y to the numbers of ggml's blocks of 64 numbers of NVFP4, as dequantize_row_nvfp4 of
// ggml: four scales, and 8 bytes for each 16 numbers, of which the first 8 are in the lower halves. The code 8 is +0,
// the scale 0x7f is 0, and the sign of a scale does not count. len(y) is a multiple of 64.
func DequantizeGGMLNVFP4ToF32(y []float32, x []uint8) { ggmlNVFP4.dequantize(y, x) }

func (f *fp4Format) dequantize(y []float32, x []uint8) {
	for ; len(y) >= f.numbers; y = y[f.numbers:] {
		scales := x[:f.numbers/f.group]
		x = x[len(scales):]
		for g, scale := range scales {
			half, y := f.half(scale), y[g*f.group:][:f.group]
			for i, codes := range x[:f.group/2] {
				at := i/f.side*2*f.side + i%f.side
				y[at], y[at+f.side] = f.twice[codes&15]*half, f.twice[codes>>4]*half
			}
			x = x[f.group/2:]
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

func halfUE4M3(scale uint8) float32 {
	switch scale {
	case 0x7f:
		return 0
	case 0xff:
		return 480.0 / 2
	}
	return halfE4M3(scale & 0x7f)
}
