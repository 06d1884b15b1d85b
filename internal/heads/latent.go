package heads

import (
	"encoding/binary"
	"math"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/kernels"
)

// LatentRecord is where the numbers of a token lie in a cache of latent attention.
type LatentRecord struct {
	Numbers, Rotated int  // of a token; those at its end that positions rotate, 0 where any may be
	BFloat16         bool // numbers are rounded to bfloat16 before all else

	Bytes      int // of a token
	ScalesAt   int // bytes from the start of the token's to its scales
	ScaleBytes int // of a token, where they are behind all tokens of its page; 0: they are not
	PageUnit   int // a page is a multiple of as many bytes
	Fields     []LatentField
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
	{Numbers: 576, Rotated: 64, Bytes: 656, ScalesAt: 512, PageUnit: 1, Fields: []LatentField{
		{Kind: kernels.KindE4M3, Count: 512, Group: 128},
		{Kind: kernels.KindBFloat16, Count: 64, At: 528},
	}},
	{Numbers: 512, Rotated: 64, BFloat16: true, Bytes: 576, ScaleBytes: 8, PageUnit: 576, Fields: []LatentField{
		{Kind: kernels.KindE4M3, Count: 448, Group: 64, Power: true},
		{Kind: kernels.KindBFloat16, Count: 64, At: 448},
	}},
	{Numbers: 128, Bytes: 128, ScaleBytes: 4, PageUnit: 1, Fields: []LatentField{{Kind: kernels.KindE4M3, Count: 128, Group: 128}}},
	{Numbers: 576, Rotated: 64, Bytes: 576, PageUnit: 1, Fields: []LatentField{{Kind: kernels.KindE4M3, Count: 576}}},
	{Numbers: 576, Rotated: 64, Bytes: 1152, PageUnit: 1, Fields: []LatentField{{Kind: kernels.KindBFloat16, Count: 576}}},
}

// LatentNumbers bounds the numbers of a record.
const LatentNumbers = 576

// LatentRule is how the scale of a group follows from its largest magnitude: it is
// max(max(amax, Amax)/448, Scale), or with Power the least power of two that is not below.
type LatentRule struct {
	Amax, Scale float32
	Power       bool
}

// LatentRules are the rules of package posenc, in their order.
var LatentRules = [...]LatentRule{{}, {Amax: 1e-4, Power: true}, {Scale: 1e-4, Power: true}, {Scale: 0x1p-126}}

// Write writes the numbers of a token, which it changes, to y and its scales to scales.
func (r *LatentRecord) Write(y, scales []byte, x []float32, rule *LatentRule, inverseScale float32) {
	for i := 0; r.BFloat16 && i < len(x); i++ {
		x[i] = generic.BFloat16ToFloat32(generic.Float32ToBFloat16(x[i]))
	}
	clear(scales[:r.ScaleBytes])
	for i := range r.Fields {
		f := &r.Fields[i]
		some, to := x[:f.Count], y[f.At:]
		x = x[f.Count:]
		switch {
		case f.Kind == kernels.KindBFloat16:
			for i, v := range some {
				bits := generic.Float32ToBFloat16(v)
				if v != v {
					bits = 0x7fc0 // payloads differ from CPU to CPU
				}
				binary.LittleEndian.PutUint16(to[2*i:], bits)
			}
		case f.Group == 0:
			quantizeGroup(to, some, inverseScale)
		default:
			for at := 0; at < f.Count; at += f.Group {
				group, codes := some[at:][:f.Group], to[at:]
				scale := rule.of(group)
				f.putScale(scales, at/f.Group, math.Float32bits(scale))
				switch {
				case scale-scale != 0: // not finite: all codes are NaN
					quantizeGroup(codes, group, scale-scale)
				case rule.Power: // the product is exact, except for numbers whose code is 0
					quantizeGroup(codes, group, 1/scale)
				default:
					for i, v := range group {
						codes[i] = generic.Float32ToE4M3(v / scale)
					}
				}
			}
		}
	}
}

func quantizeGroup(y []byte, x []float32, scale float32) {
	kernels.QuantizeF32ToE4M3(dispatch.Implementation(), y, x, &kernels.Conversion{Len: len(x), Count: 1}, scale)
}

// of returns the scale of a group: amax where that is not finite. The exponent is taken from the bits,
// because a logarithm in float32 is off near powers of two.
func (r *LatentRule) of(group []float32) float32 {
	largest := uint32(0) // bits of magnitudes are in order, NaN the last
	for _, v := range group {
		largest = max(largest, math.Float32bits(v)&^(1<<31))
	}
	if largest > 0x7f800000 {
		largest = 0x7fc00000 // all NaNs have the same bits
	}
	amax := math.Float32frombits(largest)
	if amax-amax != 0 {
		return amax
	}
	scale := max(max(amax, r.Amax)/448, r.Scale)
	if r.Power {
		const fraction = 1<<23 - 1
		scale = math.Float32frombits((math.Float32bits(scale) + fraction) &^ fraction)
	}
	return scale
}

func (f *LatentField) putScale(scales []byte, group int, bits uint32) {
	if f.Power {
		scales[group] = uint8(bits >> 23) // 255 where the scale is not finite
		return
	}
	binary.LittleEndian.PutUint32(scales[4*group:], bits)
}

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

// Read reads the numbers of a token.
func (r *LatentRecord) Read(x []float32, y, scales []byte, inverseScale float32) {
	for i := range r.Fields {
		f := &r.Fields[i]
		some, from := x[:f.Count], y[f.At:]
		x = x[f.Count:]
		if f.Kind == kernels.KindBFloat16 {
			for i := range some {
				some[i] = generic.BFloat16ToFloat32(binary.LittleEndian.Uint16(from[2*i:]))
			}
			continue
		}
		v := kernels.Conversion{Len: f.Count, Count: 1}
		scale := [1]float32{1 / inverseScale}
		for at := 0; at < f.Count; at += v.Len {
			if f.Group > 0 {
				v.Len, scale[0] = f.Group, f.scale(scales, at/f.Group)
			}
			kernels.DequantizeE4M3ToF32(dispatch.Implementation(), some[at:], from[at:], scale[:], &v)
		}
	}
}
