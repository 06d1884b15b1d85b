package generic

import (
	"encoding/binary"
	"math"
)

// PageTokens is the tokens of a page of OpenVINO.
const PageTokens = 32

// CacheFormat describes how a cache keeps numbers. The numbers of a group share a scale s and a zero
// point z:
//
//	q = RN32(x*RN32(1/s)+z), rounded once, then to an integer, halves to even, from Least to Largest
//	x = RN32(RN32(q-z)*s)
//
// A record has the codes q of a head of Tokens tokens. With Tokens 1, groups are neighbouring numbers of a
// head, and a record is, for each group, s, z and the codes. With more, a group is an element of the heads
// of all those tokens, and a record is all s, all z, and the codes of each token. s and z are float32;
// all is little-endian. If Given, s is the caller's and 0 counts as 1, z is 0 and a record is codes.
// Otherwise, with least and largest number a and b,
//
//	s = RN32(RN32(b-a)/Largest), or RN32(RN32(b-a)*RN32(1/Largest)) if Product; 0.0001 where that is 0
//	z = RN32(-a/s)
//
// An infinite RN32(1/s) counts as 0 there. a is at most, and b at least, the largest finite float32, as they
// are where a reduction begins with it; of zeros of both signs the least is -0. NaN in s and z has the bits 0x7fc00000.
type CacheFormat struct {
	Bits           int     // of a code: 8, or 4 with two codes to a byte,
	HighFirst      bool    // the first of them in the upper half
	Least, Largest float32 // q
	Bias           int     // is added to q that is kept
	NaN            float32 // q of a NaN

	Given, Product bool
	Tokens         int
	Multiple       int // the numbers of a group by token, and of a head, are a multiple of it
}

// Formats of caches: MlasKVQuantize of ONNX Runtime, and attn_quant.cpp of OpenVINO's CPU plugin.
var (
	ONNXRuntimeInt8     = CacheFormat{Bits: 8, Least: -128, Largest: 127, NaN: 127, Given: true, Tokens: 1, Multiple: 8}
	ONNXRuntimeInt4     = CacheFormat{Bits: 4, Least: -8, Largest: 7, Bias: 8, NaN: 7, Given: true, Tokens: 1, Multiple: 8}
	OpenVINOU8          = CacheFormat{Bits: 8, Largest: 255, Tokens: 1, Multiple: 16}
	OpenVINOU4          = CacheFormat{Bits: 4, HighFirst: true, Largest: 15, Tokens: 1, Multiple: 16}
	OpenVINOU8ByChannel = CacheFormat{Bits: 8, Largest: 255, Product: true, Tokens: PageTokens, Multiple: 16}
	OpenVINOU4ByChannel = CacheFormat{Bits: 4, HighFirst: true, Largest: 15, Product: true, Tokens: PageTokens, Multiple: 16}
)

// CacheRecord is a CacheFormat for heads of Dim numbers, in groups of Group where a record has one token.
type CacheRecord struct {
	*CacheFormat
	Dim, Group int
}

// Bytes returns the bytes of a record.
func (r *CacheRecord) Bytes() int {
	n := r.Tokens * r.Dim * r.Bits / 8
	if !r.Given {
		n += 8 * r.groups()
	}
	return n
}

func (r *CacheRecord) groups() int {
	if r.Tokens > 1 {
		return r.Dim
	}
	return r.Dim / r.Group
}

// cacheGroup is where numbers of a group lie: n of them from number x on, step apart, and the bits
// of their codes. Its scale and zero point are at bytes s and z of the record.
type cacheGroup struct{ x, step, n, bit, bitStep, s, z int }

// group returns group j of n tokens, of which rows of numbers lie stride apart, from token first on.
func (r *CacheRecord) group(j, stride, first, n int) cacheGroup {
	if r.Tokens > 1 {
		return cacheGroup{j, stride, n, 64*r.Dim + (first*r.Dim+j)*r.Bits, r.Dim * r.Bits, 4 * j, 4 * (r.Dim + j)}
	}
	g := cacheGroup{j * r.Group, 1, r.Group, j * r.Group * r.Bits, r.Bits, 0, 0}
	if !r.Given {
		g.s = j * (8 + r.Group*r.Bits/8)
		g.z, g.bit = g.s+4, 8*(g.s+8)
	}
	return g
}

// Quantize writes the heads of n tokens, rows of x that lie stride apart, as a record. scales has one
// number, or one for each element, if Given.
func (r *CacheRecord) Quantize(y []uint8, x []float32, stride, n int, scales []float32) {
	for j := range r.groups() {
		g := r.group(j, stride, 0, n)
		s, z := float32(0), float32(0)
		if !r.Given {
			s, z = r.scale(x[g.x:], g.step, g.n)
			binary.LittleEndian.PutUint32(y[g.s:], math.Float32bits(s))
			binary.LittleEndian.PutUint32(y[g.z:], math.Float32bits(z))
		} else {
			s = scales[0]
		}
		inverse := r.inverse(s)
		for i := range g.n {
			if len(scales) > 1 {
				inverse = r.inverse(scales[g.x+i])
			}
			r.put(y, g.bit+i*g.bitStep, r.code(FMA32(x[g.x+i*g.step], inverse, z)))
		}
	}
}

// Dequantize reads the heads of n tokens of a record, from token first on, into rows of y.
func (r *CacheRecord) Dequantize(y []float32, x []uint8, stride, first, n int, scales []float32) {
	for j := range r.groups() {
		g := r.group(j, stride, first, n)
		s, z := float32(0), float32(0)
		if !r.Given {
			s, z = math.Float32frombits(binary.LittleEndian.Uint32(x[g.s:])), math.Float32frombits(binary.LittleEndian.Uint32(x[g.z:]))
		} else {
			s = scales[0]
		}
		for i := range g.n {
			if len(scales) > 1 {
				s = scales[g.x+i]
			}
			y[g.x+i*g.step] = float32(float32(r.get(x, g.bit+i*g.bitStep)-z) * s)
		}
	}
}

func (r *CacheRecord) scale(x []float32, step, n int) (s, z float32) {
	least, largest := float32(math.MaxFloat32), float32(-math.MaxFloat32)
	for i := range n {
		v := x[i*step]
		least, largest = min(least, v), max(largest, v)
	}
	s = (largest - least) / r.Largest
	if r.Product {
		s = (largest - least) * (1 / r.Largest)
	}
	if s == 0 {
		s = 0.0001
	}
	z = -least / s
	return canonical(s), canonical(z)
}

func canonical(x float32) float32 {
	if x != x {
		return math.Float32frombits(0x7fc00000)
	}
	return x
}

func (r *CacheRecord) inverse(s float32) float32 {
	if r.Given && s == 0 {
		return 1
	}
	v := 1 / s
	if !r.Given && math.IsInf(float64(v), 0) {
		return 0
	}
	return v
}

func (r *CacheRecord) code(y float32) uint8 {
	if y != y {
		y = r.NaN
	}
	return uint8(roundHalfEven(min(max(y, r.Least), r.Largest)) + int32(r.Bias))
}

// put writes a code, get reads a q.
func (r *CacheRecord) put(y []uint8, bit int, code uint8) {
	if r.Bits == 8 {
		y[bit/8] = code
		return
	}
	shift := r.shift(bit)
	y[bit/8] = y[bit/8]&^(15<<shift) | code<<shift
}

func (r *CacheRecord) get(x []uint8, bit int) float32 {
	switch {
	case r.Bits < 8:
		return float32(int(x[bit/8]>>r.shift(bit)&15) - r.Bias)
	case r.Least < 0:
		return float32(int8(x[bit/8]))
	}
	return float32(x[bit/8])
}

func (r *CacheRecord) shift(bit int) int {
	if r.HighFirst {
		return 4 - bit%8
	}
	return bit % 8
}

// FMA32 returns x*y + z, rounded once. Of the sum in float64, odd rounding keeps what the second
// rounding needs.
func FMA32(x, y, z float32) float32 {
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
