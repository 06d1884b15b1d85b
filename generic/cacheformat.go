package generic

import (
	"encoding/binary"
	"math"
)

// PageTokens is the tokens of a page of OpenVINO.
const PageTokens = 32

// CacheFormat describes how a cache keeps numbers, by the equations of posenc.CacheFormat. A record has the
// codes of a head of Tokens tokens. With Tokens 1, groups are neighbouring numbers, and a record is, for each
// of them, scale, zero point and codes. With more, a group is one element of all those tokens, and a record is all
// scales, all zero points and the codes of each token. If Given, scales are the caller's, and a record is codes.
type CacheFormat struct {
	Bits           int     // of a code: 8, or 4 with two codes to a byte,
	HighFirst      bool    // the first of them in the upper half
	Least, Largest float32 // codes
	Bias           int     // is added to codes in a byte; int8 is the lower 8 bits
	NaN            float32 // the code of a NaN
	Given          bool
	Product        bool // a scale is a product with RN32(1/Largest), not a quotient
	Tokens         int
	Multiple       int // the numbers of a group and of a head are a multiple of it
}

// CacheFormats has a row for each posenc.CacheFormat: MlasKVQuantize of ONNX Runtime, and attn_quant.cpp of
// OpenVINO's CPU plugin by token and by channel, in 8 bits and in 4.
var CacheFormats = [...]CacheFormat{
	1: {Bits: 8, Least: -128, Largest: 127, NaN: 127, Given: true, Tokens: 1, Multiple: 8},
	2: {Bits: 4, Least: -8, Largest: 7, Bias: 8, NaN: 7, Given: true, Tokens: 1, Multiple: 8},
	3: {Bits: 8, Largest: 255, Tokens: 1, Multiple: 16},
	4: {Bits: 4, HighFirst: true, Largest: 15, Tokens: 1, Multiple: 16},
	5: {Bits: 8, Largest: 255, Product: true, Tokens: PageTokens, Multiple: 16},
	6: {Bits: 4, HighFirst: true, Largest: 15, Product: true, Tokens: PageTokens, Multiple: 16},
}

// CacheRecord is a CacheFormat for heads of Dim numbers, in groups of Group where a record has one token.
type CacheRecord struct {
	*CacheFormat
	Dim, Group int
}

// Bytes returns the bytes of a record.
func (r *CacheRecord) Bytes() int {
	n := r.Tokens * r.Dim * r.Bits / 8
	if r.Given {
		return n
	}
	return n + 8*r.groups()
}

func (r *CacheRecord) groups() int {
	if r.Tokens > 1 {
		return r.Dim
	}
	return r.Dim / r.Group
}

// cacheGroup is n numbers, step apart from number first on, and where a record has them: the bits of
// their codes, and the bytes of scale and zero point.
type cacheGroup struct{ first, step, n, bit, bitStep, scale, zero int }

// group returns group j of n tokens, from a token of the record on, whose rows lie stride apart.
func (r *CacheRecord) group(j, stride, token, n int) cacheGroup {
	switch {
	case r.Tokens > 1:
		return cacheGroup{j, stride, n, 64*r.Dim + (token*r.Dim+j)*r.Bits, r.Dim * r.Bits, 4 * j, 4 * (r.Dim + j)}
	case r.Given:
		return cacheGroup{0, 1, r.Dim, 0, r.Bits, 0, 0}
	}
	at := j * (8 + r.Group*r.Bits/8)
	return cacheGroup{j * r.Group, 1, r.Group, 8 * (at + 8), r.Bits, at, at + 4}
}

// Quantize writes the heads of n tokens, rows of x that lie stride apart, as a record. Given scales are
// one, or one for each number of a row.
func (r *CacheRecord) Quantize(y []uint8, x []float32, stride, n int, given []float32) {
	f := *r.CacheFormat // which y might be part of, for all that the compiler knows
	for j := range r.groups() {
		g := r.group(j, stride, 0, n)
		if !r.Given {
			scale, zero := r.scale(x[g.first:], g.step, g.n)
			binary.LittleEndian.PutUint32(y[g.scale:], math.Float32bits(scale))
			binary.LittleEndian.PutUint32(y[g.zero:], math.Float32bits(zero))
		}
		scale, zero := r.read(y, &g, given)
		inverse, mask := r.inverse(scale), uint8(1<<f.Bits-1)
		for i := range g.n {
			if len(given) > 1 {
				inverse = r.inverse(given[i])
			}
			code := FMA32(x[g.first+i*g.step], inverse, zero)
			switch {
			case code != code:
				code = f.NaN
			case code < f.Least:
				code = f.Least
			case code > f.Largest:
				code = f.Largest
			}
			at, shift := f.place(g.bit + i*g.bitStep)
			y[at] = y[at]&^(mask<<shift) | uint8(int(roundHalfEven(code))+f.Bias)<<shift
		}
	}
}

// Dequantize reads the heads of n tokens of a record, from a token on, into rows of y.
func (r *CacheRecord) Dequantize(y []float32, x []uint8, stride, token, n int, given []float32) {
	for j := range r.groups() {
		g := r.group(j, stride, token, n)
		scale, zero := r.read(x, &g, given)
		mask := uint8(1<<r.Bits - 1)
		for i := range g.n {
			if len(given) > 1 {
				scale = given[i]
			}
			at, shift := r.place(g.bit + i*g.bitStep)
			code := float32(int(x[at]>>shift&mask) - r.Bias)
			if code > r.Largest { // of int8
				code -= 256
			}
			y[g.first+i*g.step] = float32(code-zero) * scale
		}
	}
}

func (r *CacheRecord) read(x []uint8, g *cacheGroup, given []float32) (scale, zero float32) {
	if r.Given {
		return given[0], 0
	}
	return math.Float32frombits(binary.LittleEndian.Uint32(x[g.scale:])), math.Float32frombits(binary.LittleEndian.Uint32(x[g.zero:]))
}

// place returns the byte of the code at a bit, and where in the byte it begins.
func (f *CacheFormat) place(bit int) (at, shift int) {
	if f.HighFirst {
		return bit / 8, 4 - bit%8
	}
	return bit / 8, bit % 8
}

func (r *CacheRecord) scale(x []float32, step, n int) (scale, zero float32) {
	least, largest := float32(math.MaxFloat32), float32(-math.MaxFloat32)
	for i := range n {
		least, largest = min(least, x[i*step]), max(largest, x[i*step])
	}
	scale = (largest - least) / r.Largest
	if r.Product {
		scale = (largest - least) * (1 / r.Largest)
	}
	if scale == 0 {
		scale = 0.0001
	}
	zero = -least / scale
	if zero != zero { // the bits of a NaN are the processor's
		zero = math.Float32frombits(0x7fc00000)
	}
	if scale != scale {
		scale = zero
	}
	return scale, zero
}

func (r *CacheRecord) inverse(scale float32) float32 {
	switch inverse := 1 / scale; {
	case r.Given && scale == 0:
		return 1
	case r.Given || !math.IsInf(float64(inverse), 0):
		return inverse
	}
	return 0
}

// FMA32 returns x*y + z, rounded once. Of a sum in float64 that lies between two float32, odd rounding keeps
// what the second rounding needs.
func FMA32(x, y, z float32) float32 {
	p := float64(x) * float64(y) // exact
	s := p + float64(z)
	if math.Float64bits(s)&(1<<29-1) != 1<<28 && math.Abs(s) >= 0x1p-126 {
		return float32(s)
	}
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
