package posenc_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/test/kit"
)

var (
	_ = kit.Register(kit.Case{Function: "Dequantize", Times: 2,
		Call: oneOf(dequantizeCall[float32, posenc.Q8_0], dequantizeCall[float32, int8], dequantizeCall[float32, posenc.E4M3], dequantizeCall[float32, posenc.E5M2],
			dequantizeCall[float32, posenc.Q4_0], dequantizeCall[posenc.Float16, posenc.Q4_1], dequantizeCall[float32, posenc.Q5_0], dequantizeCall[posenc.BFloat16, posenc.Q5_1], dequantizeCall[float32, posenc.IQ4_NL],
			dequantizeCall[float32, posenc.MXFP4Floor], dequantizeCall[posenc.Float16, posenc.MXFP4RCeil], dequantizeCall[float32, posenc.MXFP4Even], dequantizeCall[posenc.BFloat16, posenc.NVFP4],
			dequantizeCall[posenc.BFloat16, float32], dequantizeCall[posenc.Float16, posenc.Float16], dequantizeCall[float32, posenc.BFloat16],
			dequantizeCall[posenc.Float16, posenc.Q8_0], dequantizeCall[posenc.BFloat16, int8], dequantizeCall[posenc.Float16, posenc.E4M3], dequantizeCall[posenc.BFloat16, posenc.E5M2]),
		OnStack: func() error {
			var values [2 * 64]float32
			var blocks [2 * 2]posenc.Q8_0
			return posenc.Dequantize(posenc.View[float32]{Data: values[:], Heads: 2}, posenc.QuantizedView[posenc.Q8_0]{View: posenc.View[posenc.Q8_0]{Data: blocks[:], Heads: 2}}, posenc.DequantizeOptions{Tokens: 1, HeadDim: 64})
		},
		Digests: ofFormats("Dequantize/from=%s", digestDequantize[posenc.Q8_0], digestDequantize[int8], digestDequantize[posenc.E4M3], digestDequantize[posenc.E5M2],
			digestDequantize[posenc.Q4_0], digestDequantize[posenc.Q4_1], digestDequantize[posenc.Q5_0], digestDequantize[posenc.Q5_1], digestDequantize[posenc.IQ4_NL],
			digestDequantize[posenc.MXFP4Floor], digestDequantize[posenc.MXFP4RCeil], digestDequantize[posenc.MXFP4Even], digestDequantize[posenc.NVFP4]),
		Long: func() error {
			return eachLong(func(_ posenc.Angles, tokens, heads, dim int) error {
				if dim > 4096 {
					return nil
				}
				src := posenc.QuantizedView[int8]{View: posenc.View[int8]{Data: make([]int8, tokens*heads*dim), Heads: heads}, Scales: make([]float32, tokens*heads)}
				return errors.Join(posenc.Dequantize(longView[float32](tokens, heads, dim), src, posenc.DequantizeOptions{Tokens: tokens, HeadDim: dim}), posenc.Dequantize(longView[posenc.Float16](tokens, heads, dim), src, posenc.DequantizeOptions{Tokens: tokens, HeadDim: dim}))
			})
		},
	})
)

// oneOf makes the call that the bytes choose.
func oneOf(calls ...func(*kit.Arguments) kit.Call) func(*kit.Arguments) kit.Call {
	return func(a *kit.Arguments) kit.Call { return calls[a.Below(len(calls))](a) }
}

// digestOf adds one digest, ofTypes one for each type of elements.
func digestOf(name string, f func(*kit.Digest)) func(kit.AddDigest) {
	return func(add kit.AddDigest) { add(name, f) }
}

func ofTypes(name string, float32s, float16s, bfloat16s func(*kit.Digest)) func(kit.AddDigest) {
	return func(add kit.AddDigest) { add.Types(name, float32s, float16s, bfloat16s) }
}

// ofFormats adds a digest for each format, which name has as %s.
func ofFormats(name string, runs ...func(*kit.Digest)) func(kit.AddDigest) {
	return func(add kit.AddDigest) {
		for i, format := range []string{"Q8_0", "int8", "E4M3", "E5M2", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "IQ4_NL", "MXFP4Floor", "MXFP4RCeil", "MXFP4Even", "NVFP4"}[:len(runs)] {
			add(fmt.Sprintf(name, format), runs[i])
		}
	}
}

// formatOf says of a type of numbers how many elements of a head are one of it, and
// whether heads have scales of their own.
func formatOf[D posenc.Quantized](a *kit.Arguments) (block int, scales bool) {
	switch any(*new(D)).(type) {
	case int8:
		return 1, true
	case posenc.E4M3:
		return 1, a.Yes()
	}
	return 64 / unitsOf[D](64), false
}

// hadamardOf returns the block of a transform, or 0, and what HeadDim is to be a multiple of.
func hadamardOf(a *kit.Arguments, block int) (hadamard, unit int) {
	if a.Below(3) == 0 {
		hadamard = 32 << a.Below(3)
	}
	return hadamard, max(block, hadamard)
}

// quantizedOf returns a cache for tokens of heads of dim elements, of which each
// block is one of D.
func quantizedOf[D posenc.Quantized](a *kit.Arguments, tokens, heads, dim, block int, scales bool) (v posenc.QuantizedView[D]) {
	units := dim / block
	if scales && (!a.Any() || a.Below(4) > 0) { // strides are multiples of heads
		filled := heads
		if a.Any() { // numbers may be far too large to be counted up to
			tokens, filled = min(kit.Small(tokens), 64), min(kit.Small(heads), 64)
		}
		v.View = kit.RandomShape[D](a.R, tokens, filled, 1, kit.Apart)
		v.TokenStride, v.HeadStride, v.SequenceStride = v.TokenStride*units, v.HeadStride*units, v.SequenceStride*units
		kit.FillView(a, &v.View, tokens, units)
		v.Heads = heads
	} else {
		v.View = kit.ViewOfHeads[D](a, tokens, heads, units)
	}
	switch {
	case scales:
		v.Scales = kit.Slice[float32](a, len(v.Data)/max(dim, 1))
	case block == 1 && !isFloat[D]():
		v.InverseScale = float32(a.Real([]float64{1, 0.5, 3.25, 448.0 / 7, 1e-3}[a.Below(5)]))
	}
	if a.Rarely() {
		v.InverseScale = float32(a.Real(1))
	}
	switch any(v.Data).(type) {
	case []posenc.MXFP4Floor, []posenc.MXFP4RCeil, []posenc.MXFP4Even:
		for bytes := kit.BytesOf(v.Data); a.Ordinary() && len(bytes) > 0; bytes = bytes[generic.MXFP4Bytes:] {
			bytes[0] = 0x70 + bytes[0]%32 // scales near 1
		}
	}
	return v
}

// quantizedRight reports whether a cache is right, apart from where its heads lie.
func quantizedRight[D posenc.Quantized](v *posenc.QuantizedView[D], dim, block int) bool {
	if dim < 1 || dim > 4096 || dim%block != 0 {
		return false
	}
	if h := v.Hadamard; h != 0 && (!slices.Contains([]int{32, 64, 128, 256, 512}, h) || dim%h != 0) {
		return false
	}
	rightScale := v.InverseScale >= 0x1p-126 && v.InverseScale <= 0x1p126
	rightScales := len(v.Scales) == len(v.Data)/dim && v.TokenStride%dim == 0 && v.HeadStride%dim == 0 && v.SequenceStride%dim == 0
	switch any(*new(D)).(type) {
	case int8:
		return v.InverseScale == 0 && rightScales
	case posenc.E5M2:
		return v.Scales == nil && rightScale
	}
	if block > 1 || isFloat[D]() {
		return v.Scales == nil && v.InverseScale == 0
	}
	return v.Scales == nil && rightScale || v.Scales != nil && v.InverseScale == 0 && rightScales
}

// writesQuantized says that a call may write to the heads of tokens and to their scales.
func writesQuantized[D posenc.Quantized](a *kit.Arguments, v posenc.QuantizedView[D], tokens func() []int, dim, block int) {
	units := dim / block
	kit.Writes(a, func(mark func(s []D)) {
		for _, t := range tokens() {
			for h := range v.Heads {
				mark(v.Data[kit.RowAt(&v.View, t, h, units):][:units])
			}
		}
	})
	if v.Scales == nil {
		return
	}
	kit.Writes(a, func(mark func(s []float32)) {
		for _, t := range tokens() {
			for h := range v.Heads {
				mark(v.Scales[kit.RowAt(&v.View, t, h, units)/dim:][:1])
			}
		}
	})
}

// quantizePlain quantizes a head of token t, after the transform that v asks for.
func quantizePlain[D posenc.Quantized](v *posenc.QuantizedView[D], t, h int, head []float32) {
	hadamardPlain(head, v.Hadamard)
	units := unitsOf[D](len(head))
	at := kit.RowAt(&v.View, t, h, units)
	switch to := any(v.Data[at:][:units]).(type) {
	case []posenc.Q8_0:
		generic.QuantizeF32ToQ8(kit.BytesOf(to), head)
	case []int8:
		v.Scales[at/len(head)] = generic.QuantizeRowF32ToI8(kit.BytesOf(to), head)
	case []posenc.E4M3:
		if v.Scales == nil {
			generic.QuantizeF32ToE4M3(kit.BytesOf(to), head, v.InverseScale)
		} else {
			v.Scales[at/len(head)] = generic.QuantizeRowF32ToE4M3(kit.BytesOf(to), head)
		}
	case []posenc.E5M2:
		generic.QuantizeF32ToE5M2(kit.BytesOf(to), head, v.InverseScale)
	case []posenc.Q4_0:
		generic.QuantizeF32ToQ4_0(kit.BytesOf(to), head)
	case []posenc.Q4_1:
		generic.QuantizeF32ToQ4_1(kit.BytesOf(to), head)
	case []posenc.Q5_0:
		generic.QuantizeF32ToQ5_0(kit.BytesOf(to), head)
	case []posenc.Q5_1:
		generic.QuantizeF32ToQ5_1(kit.BytesOf(to), head)
	case []posenc.IQ4_NL:
		generic.QuantizeF32ToIQ4_NL(kit.BytesOf(to), head)
	case []posenc.MXFP4Floor:
		generic.QuantizeF32ToMXFP4(kit.BytesOf(to), head, generic.MXFP4Floor)
	case []posenc.MXFP4RCeil:
		generic.QuantizeF32ToMXFP4(kit.BytesOf(to), head, generic.MXFP4RCeil)
	case []posenc.MXFP4Even:
		generic.QuantizeF32ToMXFP4(kit.BytesOf(to), head, generic.MXFP4Even)
	case []posenc.NVFP4:
		generic.QuantizeF32ToNVFP4(kit.BytesOf(to), head)
	case []float32:
		copy(to, head)
	case []posenc.Float16:
		for i, y := range head {
			to[i] = kit.Narrow[posenc.Float16](y)
		}
	case []posenc.BFloat16:
		for i, y := range head {
			to[i] = kit.Narrow[posenc.BFloat16](y)
		}
	}
}

// dequantizePlain returns a head of token t, before the transform that v names.
func dequantizePlain[D posenc.Quantized](v *posenc.QuantizedView[D], t, h, dim int) []float32 {
	head, units := make([]float32, dim), unitsOf[D](dim)
	at := kit.RowAt(&v.View, t, h, units)
	scale := 1 / v.InverseScale
	if v.Scales != nil {
		scale = v.Scales[at/dim]
	}
	switch from := any(v.Data[at:][:units]).(type) {
	case []posenc.Q8_0:
		generic.DequantizeQ8ToF32(head, kit.BytesOf(from))
	case []int8:
		generic.DequantizeI8ToF32(head, kit.BytesOf(from), scale)
	case []posenc.E4M3:
		generic.DequantizeE4M3ToF32(head, kit.BytesOf(from), scale)
	case []posenc.E5M2:
		generic.DequantizeE5M2ToF32(head, kit.BytesOf(from), scale)
	case []posenc.Q4_0:
		generic.DequantizeQ4_0ToF32(head, kit.BytesOf(from))
	case []posenc.Q4_1:
		generic.DequantizeQ4_1ToF32(head, kit.BytesOf(from))
	case []posenc.Q5_0:
		generic.DequantizeQ5_0ToF32(head, kit.BytesOf(from))
	case []posenc.Q5_1:
		generic.DequantizeQ5_1ToF32(head, kit.BytesOf(from))
	case []posenc.IQ4_NL:
		generic.DequantizeIQ4_NLToF32(head, kit.BytesOf(from))
	case []posenc.MXFP4Floor, []posenc.MXFP4RCeil, []posenc.MXFP4Even:
		generic.DequantizeMXFP4ToF32(head, kit.BytesOf(v.Data[at:][:units]))
	case []posenc.NVFP4:
		generic.DequantizeNVFP4ToF32(head, kit.BytesOf(from))
	case []float32:
		copy(head, from)
	case []posenc.Float16:
		for i, x := range from {
			head[i] = kit.Widen(x)
		}
	case []posenc.BFloat16:
		for i, x := range from {
			head[i] = kit.Widen(x)
		}
	}
	hadamardPlain(head, v.Hadamard)
	return head
}

// isFloat reports whether numbers of D are stored as they are.
func isFloat[D posenc.Quantized]() bool {
	switch any(*new(D)).(type) {
	case float32, posenc.Float16, posenc.BFloat16:
		return true
	}
	return false
}

// unitsOf returns how many D the elements are.
func unitsOf[D posenc.Quantized](dim int) int {
	switch any(*new(D)).(type) {
	case int8, posenc.E4M3, posenc.E5M2, float32, posenc.Float16, posenc.BFloat16:
		return dim
	case posenc.NVFP4:
		return dim / generic.NVFP4Numbers
	}
	return dim / generic.Block
}

// hadamardPlain transforms blocks of n elements; with 0 none.
func hadamardPlain(x []float32, n int) {
	for ; n > 0 && len(x) > 0; x = x[n:] {
		generic.HadamardF32(x[:n], float32(1/math.Sqrt(float64(n))))
	}
}

func dequantizeCall[T posenc.Element, D posenc.Quantized](a *kit.Arguments) kit.Call {
	block, scales := formatOf[D](a)
	hadamard, unit := hadamardOf(a, block)
	tokens, dim := a.Tokens(), a.Length()
	if !a.Any() || a.Below(8) > 0 {
		dim = (dim + unit - 1) / unit * unit
	}
	tokens = min(tokens, 20)
	src := quantizedOf[D](a, tokens, a.Heads(), dim, block, scales)
	src.Hadamard = hadamard
	dst := kit.ViewOfHeads[T](a, tokens, src.Heads, dim)
	if a.Any() && a.Below(8) > 0 {
		dst.Heads = src.Heads
	}
	kit.WritesView(a, &dst, tokens, dim)
	var slots []int32
	if a.Yes() {
		slots = a.IDs(tokens, tokens)
		kit.BySlots(a, &src.View, slots)
	}
	slot := slotIn(slots)
	call := kit.Call{
		Run: func() error {
			return posenc.Dequantize(dst, src, posenc.DequantizeOptions{Tokens: tokens, HeadDim: dim, Slots: slots})
		},
		Right: func() bool {
			return quantizedRight(&src, dim, block) && dst.Heads == src.Heads && kit.Allowed(&dst, tokens, dim, len(dst.Data)) &&
				cacheRight(&src.View, slots, tokens, dim/block) && !kit.Share(kit.BytesOf(src.Data), dst.Data) && !kit.Share(kit.BytesOf(src.Scales), dst.Data)
		},
		Want: func() {
			for t := range tokens {
				for h := range dst.Heads {
					to := dst.Data[kit.RowAt(&dst, t, h, dim):][:dim]
					for i, v := range dequantizePlain(&src, slot(t), h, dim) {
						to[i] = kit.Narrow[T](v)
					}
				}
			}
		},
	}
	call.Parts = kit.ViewParts([]posenc.View[T]{dst}, tokens, dim, true, func(_ int, x posenc.View[T], part []int) error {
		for i, token := range part {
			y := posenc.View[T]{Heads: x.Heads, TokenStride: x.TokenStride, HeadStride: x.HeadStride}
			y.Data = x.Data[kit.RowAt(&x, i, 0, dim) : kit.RowAt(&x, i, x.Heads-1, dim)+dim]
			if y.TokenStride == 0 && y.HeadStride == 0 {
				y.HeadStride = dim
			}
			if err := posenc.Dequantize(y, oneToken(&src, slot(token), dim), posenc.DequantizeOptions{Tokens: 1, HeadDim: dim}); err != nil {
				return err
			}
		}
		return nil
	})
	if slots != nil && a.Any() {
		call.Right = nil
	}
	return call
}

// oneToken is the view of token t.
func oneToken[D posenc.Quantized](v *posenc.QuantizedView[D], t, dim int) posenc.QuantizedView[D] {
	one, units := *v, unitsOf[D](dim)
	first, last := kit.RowAt(&v.View, t, 0, units), kit.RowAt(&v.View, t, v.Heads-1, units)
	one.View = posenc.View[D]{Data: v.Data[first : last+units], Heads: v.Heads, HeadStride: v.HeadStride, TokenStride: v.TokenStride}
	if one.HeadStride == 0 {
		one.HeadStride = units
	}
	if v.Scales != nil {
		one.Scales = v.Scales[first/dim : last/dim+1]
	}
	return one
}

// digestCache returns a cache of fixed numbers.
func digestCache[D posenc.Quantized](d *kit.Digest, tokens, heads, dim int, scales bool) posenc.QuantizedView[D] {
	v := posenc.QuantizedView[D]{View: posenc.View[D]{Heads: heads, Data: make([]D, tokens*heads*unitsOf[D](dim))}}
	bytes := kit.BytesOf(v.Data)
	for i := range bytes {
		bytes[i] = byte(d.Below(256))
	}
	if size := int(unsafe.Sizeof(*new(D))); size > 1 {
		halves := 1
		switch any(v.Data).(type) {
		case []posenc.MXFP4Floor, []posenc.MXFP4RCeil, []posenc.MXFP4Even, []posenc.NVFP4:
			for i := 0; i < len(bytes); i += size {
				bytes[i] = byte(0x60 + d.Below(31)) // no NaN
			}
			return v
		}
		if size == generic.Q4_1Bytes || size == generic.Q5_1Bytes {
			halves = 2
		}
		for block := range slices.Chunk(bytes, size) {
			for i := range halves {
				block[2*i], block[2*i+1] = byte(d.Below(256)), byte(0x20+d.Below(16))
			}
		}
		switch s := any(v.Data).(type) { // the same numbers on big-endian machines
		case []float32:
			for i := range s {
				s[i] = math.Float32frombits(binary.LittleEndian.Uint32(bytes[4*i:]))
			}
		case []posenc.Float16:
			for i := range s {
				s[i] = posenc.Float16(binary.LittleEndian.Uint16(bytes[2*i:]))
			}
		case []posenc.BFloat16:
			for i := range s {
				s[i] = posenc.BFloat16(binary.LittleEndian.Uint16(bytes[2*i:]))
			}
		}
		return v
	}
	_, int8s := any(v.Data).([]int8)
	if _, e5m2s := any(v.Data).([]posenc.E5M2); int8s || scales && !e5m2s {
		v.Scales = kit.DigestElements[float32](d, tokens*heads)
		return v
	}
	v.InverseScale = 3.25
	return v
}

func digestDequantize[D posenc.Quantized](d *kit.Digest) {
	for _, hadamard := range []int{0, 32, 128} {
		const tokens, heads, dim = 3, 2, 128
		src := digestCache[D](d, tokens, heads, dim, hadamard == 32)
		src.Hadamard = hadamard
		values, halves := make([]float32, tokens*heads*dim), make([]posenc.BFloat16, tokens*heads*dim)
		d.Must(posenc.Dequantize(posenc.View[float32]{Data: values, Heads: heads}, src, posenc.DequantizeOptions{Tokens: tokens, HeadDim: dim}))
		d.Must(posenc.Dequantize(posenc.View[posenc.BFloat16]{Data: halves, Heads: heads}, src, posenc.DequantizeOptions{Tokens: tokens, HeadDim: dim}))
		d.Add(values, halves)
	}
}
