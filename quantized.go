package posenc

import (
	"unsafe"

	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/heads"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// QuantizedView describes the heads of a quantized cache: where they lie, as a [View] does, and
// their scales.
//
// Counts and strides of the View are in elements of type D. An element of Q8_0, and of formats with 4 or 5
// bits, is a block of 32 numbers (NVFP4: 16), so a head of 128 numbers is 4 elements. HeadDim
// counts numbers. It is at most 4096, and a multiple of the numbers of a block.
type QuantizedView[D Quantized] struct {
	View[D]

	// Scales has the scales of int8, and of E4M3 if InverseScale is 0: one for every HeadDim
	// elements of Data. The head that starts at Data[i] has Scales[i/HeadDim]. Strides
	// are multiples of HeadDim.
	Scales []float32

	// InverseScale multiplies numbers before they are rounded to E5M2, or to E4M3 without Scales.
	// It is from 2^-126 to 2^126. FlashInfer multiplies by it too, as quant_scale_kv. vLLM
	// divides by k_scale and v_scale: InverseScale is their reciprocal.
	InverseScale float32

	// Hadamard is the block of the Hadamard transform that numbers go through before they
	// are quantized: a power of two from 32 to 512 that divides HeadDim, see [Hadamard].
	// 0 means no transform.
	Hadamard int
}

// maxScale is the largest InverseScale; its reciprocal, the least, has a finite reciprocal too.
const maxScale = 0x1p126

// maxQuantizedDim is the most elements of a head for which scratch memory has room.
const maxQuantizedDim = kernels.FusedElements

func checkQuantizedDim[D Quantized](function string, name argument.Name, headDim int) error {
	switch block := quantizedKind[D]().Numbers(); {
	case headDim > maxQuantizedDim:
		return argument.Error(ErrShape, function, name.String(), headDim, "at most %d", maxQuantizedDim)
	case headDim%block != 0:
		return argument.Error(ErrShape, function, name.String(), headDim, "a multiple of the %d numbers of a block", block)
	}
	return nil
}

// check checks all but where heads lie and how long they are. units are the elements of a head in Data.
func (v *QuantizedView[D]) check(function string, name argument.Name, headDim int) (units int, err error) {
	fail := func(kind error, field string, value any, expected string, args ...any) (int, error) {
		return 0, argument.Error(kind, function, name.String()+field, value, expected, args...)
	}
	if v.Hadamard != 0 && !isHadamard(v.Hadamard, headDim) {
		return fail(ErrConfig, ".Hadamard", v.Hadamard, "0, or "+ofHadamard, headDim)
	}
	units = unitsOf[D](headDim)
	format := quantizedKind[D]()
	scales, scale := format.Scaled()
	either := scales && scale
	if either {
		scales, scale = v.Scales != nil, v.Scales == nil
	}
	if scale && !(v.InverseScale >= 1/maxScale && v.InverseScale <= maxScale) || !scale && v.InverseScale != 0 {
		expected := "0, because the scales are in Scales or in the blocks, and float types have none"
		if scale {
			expected = "a number from 2^-126 to 2^126"
		}
		if scale && either {
			expected += ", or Scales"
		}
		return fail(ErrConfig, ".InverseScale", v.InverseScale, "%s", expected)
	}
	if !scales {
		if v.Scales != nil {
			return fail(ErrLength, ".Scales", argument.Elements(len(v.Scales)), "nil, because only int8 and E4M3 take Scales")
		}
		return units, nil
	}
	if len(v.Scales) != len(v.Data)/headDim {
		return fail(ErrLength, ".Scales", argument.Elements(len(v.Scales)), "%d, one for every %d of the %d elements of Data", len(v.Data)/headDim, headDim, len(v.Data))
	}
	for _, stride := range [...]struct {
		name  string
		value int
	}{{".TokenStride", v.TokenStride}, {".HeadStride", v.HeadStride}, {".SequenceStride", v.SequenceStride}} {
		if stride.value%headDim != 0 {
			return fail(ErrShape, stride.name, stride.value, "a multiple of HeadDim %d because of Scales", headDim)
		}
	}
	return units, nil
}

// unitsOf returns how many D a head of headDim elements has.
func unitsOf[D Quantized](headDim int) int {
	return headDim / quantizedKind[D]().Numbers()
}

// setOperand sets all but the data and the scales, field by field: see view.View.SetOperand.
func (v *QuantizedView[D]) setOperand(o *heads.QuantizedOperand, units int) {
	v.heads().SetOperand(&o.Operand, quantizedKind[D](), units)
	o.Scale = v.InverseScale
}

func (v *QuantizedView[D]) heads() *view.View[D] { return (*view.View[D])(&v.View) }

func (v *QuantizedView[D]) scaleView(headDim int) view.View[float32] {
	return view.View[float32]{
		Data: v.Scales, Heads: v.Heads, TokenStride: v.TokenStride / headDim, HeadStride: v.HeadStride / headDim,
		SequenceTokens: v.SequenceTokens, SequenceStride: v.SequenceStride / headDim,
	}
}

// overlaps reports whether views that are in order share elements or scales.
func (v *QuantizedView[D]) overlaps(o *QuantizedView[D], tokens, otherTokens, units int) bool {
	if view.Overlap(v.heads(), o.heads(), tokens, otherTokens, units) {
		return true
	}
	if v.Scales == nil || o.Scales == nil {
		return false
	}
	a, b := v.scaleView(units), o.scaleView(units)
	return view.Overlap(&a, &b, tokens, otherTokens, 1)
}

// DequantizeOptions says which tokens of a cache [Dequantize] reads.
type DequantizeOptions struct {
	Tokens  int // of dst
	HeadDim int // elements of a head

	// Slots has the token of src that each token of dst is: token t is token Slots[t]. A paged cache
	// is read in the order of its pages by the slots of their tokens. nil means token t.
	Slots []int32
}

// Dequantize reads the numbers of a cache into heads of HeadDim elements. For each token
// and head it writes
//
//	Q8_0        RN(RN32(q*D))
//	int8        RN(RN32(q*scale))
//	E4M3        RN(RN32(code*scale))    scale of Scales, or RN32(1/InverseScale)
//	E5M2        RN(RN32(code*RN32(1/InverseScale)))
//	Q4_0, Q5_0  RN(RN32((q-8)*D)), RN(RN32((q-16)*D))
//	Q4_1, Q5_1  RN(RN32(RN32(q*D)+M))
//	IQ4_NL      RN(RN32(level[q]*D))
//	others      RN(RN32(code*scale))
//
// RN rounds to T. If src.Hadamard is set, Dequantize transforms the numbers once more, before
// RN, so that it writes what was there before the transform. dst has options.Tokens tokens, as has src
// without options.Slots; with them src may have room for more, and its Tokens must be 0. dst has as many
// heads as src, and shares no memory with it or with options.Slots. Errors wrap ErrConfig (src.InverseScale,
// src.Hadamard), ErrShape, ErrLength, ErrOverlap or ErrPosition (a slot that is negative or that
// src does not have).
func Dequantize[T Element, D Quantized](dst View[T], src QuantizedView[D], options DequantizeOptions) error {
	const function = "posenc.Dequantize"
	tokens, headDim, slots := options.Tokens, options.HeadDim, options.Slots
	if err := options.check(function); err != nil {
		return err
	}
	if err := checkQuantizedDim[D](function, argument.Named("options.HeadDim"), headDim); err != nil {
		return err
	}
	units, err := src.check(function, argument.Named("src"), headDim)
	if err != nil {
		return err
	}
	if _, err := checkCache(function, argument.Named("src"), src.heads(), "options.Slots", slots, tokens, units, 1); err != nil {
		return err
	}
	if err := checkDequantized(function, &dst, options, src.Heads, src.Data, src.Scales); err != nil {
		return err
	}
	y := operandOf(&dst, headDim)
	var x heads.QuantizedOperand
	src.setOperand(&x, units)
	x.Data, x.Scales = unsafe.Pointer(unsafe.SliceData(src.Data)), src.Scales
	q := heads.Quantization{Dim: headDim, Hadamard: src.Hadamard}
	var unaligned [kernels.FusedElements + kernels.Line]float32
	memory := kernels.LineAligned(unaligned[:])
	scratch := q.Scratch(memory)
	most, direct := len(memory)/headDim, q.ReadsInto(&y)
	for t := range tokens {
		for h := 0; h < x.Heads; h += most {
			some, at, yAt := min(most, x.Heads-h), x.Token(heads.Slot(slots, t))+h*x.HeadStride, y.Token(t)+h*y.HeadStride
			if direct {
				q.Read(&y, yAt, &x, at, some)
				continue
			}
			q.Read(&scratch, 0, &x, at, some)
			q.Write(&y, yAt, &scratch, 0, some)
		}
	}
	return nil
}

func (o *DequantizeOptions) check(function string) error {
	switch {
	case o.Tokens < 0:
		return argument.Error(ErrShape, function, "options.Tokens", o.Tokens, "at least 0")
	case o.HeadDim < 1:
		return argument.Error(ErrShape, function, "options.HeadDim", o.HeadDim, "at least 1")
	case o.Slots != nil && len(o.Slots) != o.Tokens:
		return argument.Error(ErrLength, function, "options.Slots", argument.Elements(len(o.Slots)), "%d, one for each token", o.Tokens)
	}
	for t, s := range o.Slots {
		if s < 0 {
			return argument.Error(ErrPosition, function, argument.Indexed("options.Slots", t), s, "at least 0")
		}
	}
	return nil
}

// checkDequantized checks where the heads of a cache, of that data and those scales, go.
func checkDequantized[T Element, D any](function string, dst *View[T], options DequantizeOptions, heads int, data []D, scales []float32) error {
	var g view.Grid
	to := (*view.View[T])(dst)
	if p := to.Problem(&g, options.Tokens, options.HeadDim); p != view.None {
		return to.Error(p, function, "dst", &g)
	}
	switch {
	case dst.Heads != heads:
		return argument.Error(ErrShape, function, "dst.Heads", dst.Heads, "%d as in src", heads)
	case argument.Overlap(dst.Data, data) || argument.Overlap(dst.Data, scales):
		return argument.Error(ErrOverlap, function, "dst", "sharing memory with src", "a view of other memory")
	case argument.Overlap(dst.Data, options.Slots):
		return argument.Error(ErrOverlap, function, "dst", "sharing memory with options.Slots", "a view of other memory")
	}
	return nil
}
