package heads

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/cossin"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// LatentRecord is where the numbers of a token lie in a cache of latent attention.
type LatentRecord struct {
	Numbers, Rotated int  // of a token; those at its end that positions rotate, 0 where any may be
	BFloat16         bool // numbers are rounded to bfloat16 before all else

	Bytes       int // of a token
	ScalesAt    int // bytes from the start of the token's to its scales
	ScaleBytes  int // of a token, where they are behind all tokens of its page; 0: they are not
	ScaleStride int // bytes from the scales of a token to those of the next
	PageUnit    int // a page is a multiple of as many bytes
	Fields      []LatentField
}

// LatentField is numbers of a record that are stored in one way.
type LatentField struct {
	Kind  kernels.Kind // KindE4M3 or KindBFloat16
	Count int          // numbers
	At    int          // bytes from the start of the token's
	Group int          // numbers that share a scale; 0: there is one for the whole cache, or none
	Power bool         // scales are powers of two, of which a byte has the exponent (E8M0), not float32
}

// LatentRecords are the records of the formats of package posenc, in their order.
var LatentRecords = [...]LatentRecord{
	{}, // no format
	{Numbers: 576, Rotated: 64, Bytes: 656, ScalesAt: 512, ScaleStride: 656, PageUnit: 1, Fields: []LatentField{
		{Kind: kernels.KindE4M3, Count: 512, Group: 128},
		{Kind: kernels.KindBFloat16, Count: 64, At: 528},
	}},
	{Numbers: 512, Rotated: 64, BFloat16: true, Bytes: 576, ScaleBytes: 8, ScaleStride: 8, PageUnit: 576, Fields: []LatentField{
		{Kind: kernels.KindE4M3, Count: 448, Group: 64, Power: true},
		{Kind: kernels.KindBFloat16, Count: 64, At: 448},
	}},
	{Numbers: 128, Bytes: 128, ScaleBytes: 4, ScaleStride: 4, PageUnit: 1, Fields: []LatentField{{Kind: kernels.KindE4M3, Count: 128, Group: 128}}},
	{Numbers: 576, Rotated: 64, Bytes: 576, PageUnit: 1, Fields: []LatentField{{Kind: kernels.KindE4M3, Count: 576}}},
	{Numbers: 576, Rotated: 64, Bytes: 1152, PageUnit: 1, Fields: []LatentField{{Kind: kernels.KindBFloat16, Count: 576}}},
}

// LatentNumbers bounds the numbers of a record, and LatentTokens the tokens that are written or read at once.
const (
	LatentNumbers = 576
	LatentTokens  = 32

	mostScales = 32 // of a record of several groups, or of LatentTokens of one
)

// LatentRule is how the scale of a group follows from its largest magnitude: see
// generic.QuantizeGroupF32ToE4M3.
type LatentRule struct {
	Amax, Scale float32
	Fraction    uint32
}

const (
	least    = 0x1p-126 // scale
	fraction = 1<<23 - 1
)

// LatentRules are the rules of package posenc, in their order.
var LatentRules = [...]LatentRule{{}, {1e-4, least, fraction}, {0, 1e-4, fraction}, {0, least, 0}}

// Latents is what a call does to tokens on their way into a cache of latent attention.
type Latents struct {
	*LatentRecord
	Rule            *LatentRule
	InverseScale    float32
	Hadamard        int
	HeadDim         int       // of what may be rotated, the last numbers
	Rotation        *Rotation // or nil
	Latent, Rotated view.Operand
}

// direct reports whether groups are quantized where they lie, without a copy in scratch.
func (l *Latents) direct() bool {
	f := &l.Fields[0]
	return l.Latent.Kind == kernels.KindFloat32 && f.Group > 0 && f.Count == l.Numbers-l.HeadDim && !l.BFloat16
}

// Prepare writes the numbers of n tokens, from token t on, to scratch, those of a token after those of
// the one before. Row first of table, or full, belongs to token t.
func (l *Latents) Prepare(scratch []float32, t, n int, table *cossin.Table, first int, full *FullWidthRow) {
	y := view.Over(scratch)
	y.Heads, y.HeadStride, y.TokenStride = 1, l.HeadDim, l.Numbers
	rest := l.Numbers - l.HeadDim
	if rest > 0 && !l.direct() {
		for i := range n {
			view.Convert(&y, &l.Latent, i*l.Numbers, l.Latent.Token(t+i), rest)
		}
	}
	switch at := l.Rotated.Token(t); {
	case l.Rotation == nil:
		for i := range n {
			view.Convert(&y, &l.Rotated, i*l.Numbers+rest, at+i*l.Rotated.TokenStride, l.HeadDim)
		}
	case full != nil:
		l.Rotation.RotateFullWidth(&y, &l.Rotated, rest, at, full)
		l.Rotation.CopyRest(&y, &l.Rotated, rest, at, n)
	default:
		l.Rotation.Rotate(&y, &l.Rotated, rest, at, n, table, first)
		l.Rotation.CopyRest(&y, &l.Rotated, rest, at, n)
	}
	if l.Hadamard != 0 {
		HadamardRows(scratch, l.Hadamard, n*l.Numbers/l.Hadamard)
	}
}

// Write writes the records of n tokens from token t on, which lie one after another, to y and their scales to
// scales. Prepare has written their numbers to x. It changes x, and bits, which holds as many elements.
func (l *Latents) Write(y, scales []byte, x []float32, bits []uint16, t, n int) {
	impl := dispatch.Implementation()
	rounded, all := l.BFloat16 && l.Rotated.Kind != kernels.KindBFloat16, len(x)
	if rounded {
		kernels.ConvertF32ToBF16(impl, bits[:len(x)], x)
		kernels.ConvertBF16ToF32(impl, x, bits[:len(x)])
	}
	clear(scales[:n*l.ScaleBytes])
	for i := range l.Fields {
		f := &l.Fields[i]
		switch v := (kernels.Conversion{Len: f.Count, Count: n, XStride: l.Numbers, YStride: l.Bytes}); {
		case f.Kind == kernels.KindBFloat16:
			for t := range n {
				some := bits[:f.Count]
				if rounded {
					some = bits[all-len(x)+t*l.Numbers:][:f.Count]
				} else {
					kernels.ConvertF32ToBF16(impl, some, x[t*l.Numbers:][:f.Count])
				}
				putBFloat16s(y[t*l.Bytes+f.At:], some)
			}
		case f.Group == 0:
			kernels.QuantizeF32ToE4M3(impl, y[f.At:], x, &v, l.InverseScale)
		default:
			l.writeGroups(f, y, scales, x, t, n)
		}
		x = x[f.Count:]
	}
}

// writeGroups writes a field whose groups have scales.
func (l *Latents) writeGroups(f *LatentField, y, scales []byte, x []float32, t, n int) {
	var found [mostScales]float32
	groups, direct := f.Count/f.Group, f == &l.Fields[0] && l.direct()
	v := kernels.Conversion{Len: f.Group, Count: groups, XStride: f.Group, YStride: f.Group, ScaleStride: 1}
	// The kernel does four groups at a time. What it writes for numbers behind the field is written again.
	if fours := (groups + 3) &^ 3; groups > 1 && fours*f.Group <= min(l.Numbers, l.Bytes) {
		v.Count = fours
	}
	each := 1 // tokens of a call
	if groups == 1 {
		each = n
		v.Count, v.XStride, v.YStride = n, l.Numbers, l.Bytes
	}
	for i := 0; i < n; i += each {
		from := x[i*l.Numbers:]
		if direct {
			from = l.Latent.Float32s(l.Latent.Token(t + i))
		}
		kernels.QuantizeGroupF32ToE4M3(dispatch.Implementation(), y[i*l.Bytes+f.At:], found[:], from, &v, l.Rule.Amax, l.Rule.Scale, l.Rule.Fraction)
		for g, scale := range found[:each*groups] {
			if f.Power {
				scales[i*l.ScaleStride+g] = uint8(math.Float32bits(scale) >> 23) // 255 where the scale is not finite
			} else {
				binary.LittleEndian.PutUint32(scales[i*l.ScaleStride+4*g:], math.Float32bits(scale))
			}
		}
	}
}

// putBFloat16s writes x, a multiple of 4, and 0x7fc0 for NaN: payloads differ from CPU to CPU.
func putBFloat16s(y []byte, x []uint16) {
	const each = 1<<48 | 1<<32 | 1<<16 | 1
	found := uint64(0)
	for _, v := range unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(x))), len(x)/4) { // aligned, since the memory is uint64
		found |= v&(0x7fff*each) + 0x7f*each // the highest bit of a NaN
	}
	if found&(0x8000*each) != 0 {
		for i, v := range x {
			if v&0x7fff > 0x7f80 {
				x[i] = 0x7fc0
			}
		}
	}
	if littleEndian {
		copy(y, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 2*len(x)))
		return
	}
	for i, v := range x {
		binary.LittleEndian.PutUint16(y[2*i:], v)
	}
}

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

func (f *LatentField) scale(scales []byte, group int) float32 {
	if !f.Power {
		return math.Float32frombits(binary.LittleEndian.Uint32(scales[4*group:]))
	}
	switch scales[group] {
	case 0:
		return 0x1p-127
	case 255:
		return float32(math.NaN())
	}
	return math.Float32frombits(uint32(scales[group]) << 23)
}

// Read reads the numbers of n tokens, which lie one after another in y, to x, those of a token xStride
// after those of the one before.
func (r *LatentRecord) Read(x []float32, xStride int, y, scales []byte, n int, inverseScale float32) {
	impl := dispatch.Implementation()
	for i := range r.Fields {
		f := &r.Fields[i]
		switch v := (kernels.Conversion{Len: f.Count, Count: n, XStride: r.Bytes, YStride: xStride}); {
		case f.Kind == kernels.KindBFloat16:
			for t := range n {
				readBFloat16s(x[t*xStride:][:f.Count], y[t*r.Bytes+f.At:])
			}
		case f.Group == 0:
			kernels.DequantizeE4M3ToF32(impl, x, y[f.At:], []float32{1 / inverseScale}, &v)
		default:
			var of [mostScales]float32
			groups, each := f.Count/f.Group, 1
			v.ScaleStride = 1
			if groups == 1 {
				each = n
			} else {
				v.Len, v.Count, v.XStride, v.YStride = f.Group, groups, f.Group, f.Group
			}
			for t := 0; t < n; t += each {
				for g := range each * groups {
					of[g] = f.scale(scales[t*r.ScaleStride:], g)
				}
				kernels.DequantizeE4M3ToF32(impl, x[t*xStride:], y[t*r.Bytes+f.At:], of[:], &v)
			}
		}
		x = x[f.Count:]
	}
}

func readBFloat16s(x []float32, y []byte) {
	if impl := dispatch.Implementation(); impl != kernels.Generic { // kernels are for little-endian CPUs, which load from any address
		kernels.ConvertBF16ToF32(impl, x, unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(y))), len(x))) // at any address
		return
	}
	for i := range x {
		x[i] = generic.BFloat16ToFloat32(binary.LittleEndian.Uint16(y[2*i:]))
	}
}
