package posenc

import (
	"unsafe"

	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/heads"
	"github.com/go-posenc/posenc/internal/rope"
)

// FromQuantized is keys in a quantized cache, and where they go: to another cache, or, where both views
// are the same and there are no slots, to their own place.
type FromQuantized[D, S Quantized] struct {
	Dst      QuantizedView[D]
	Src      QuantizedView[S]
	DstSlots []int32 // token t goes to token DstSlots[t] of Dst, or is dropped where that is negative; nil means token t
	SrcSlots []int32 // token t is token SrcSlots[t] of Src, or is dropped; nil means token t
}

// RotateQuantized rotates keys of a quantized cache into another, or in place: keys that were kept as they
// were before their rotation, once their position is known, and by [Rotary.RebaseRows] keys that other
// frequencies have rotated. It reads them as float32, as [Dequantize] does, rotates them as [Rotate] does, and
// quantizes them as [RotateIntoQuantized] does, all elements of a head, with the Hadamard transform of each view.
//
// A view without slots has the tokens of a. With slots it may have room for more, and its Tokens must be 0.
// Of tokens with the same slot the last one stays. Src does not change unless it is Dst; so keys that are
// moved n times, each time from Src, have the bits of one rotation. The views otherwise share no memory, nor
// does Dst with the slots or the slices of a. Rows with entries for each head or element, and tokens
// without a row, are an error. Errors are as in RotateIntoQuantized.
func RotateQuantized[D, S Quantized](a Angles, x FromQuantized[D, S]) error {
	const function = "posenc.RotateQuantized"
	tokens, err := a.core().Check(function)
	if err != nil {
		return err
	}
	if err := a.core().CheckUniform(function); err != nil {
		return err
	}
	if a.core().FullWidth() {
		return rope.AnglesError(function, "from rows with an entry for each element", "rows with an entry for each pair")
	}
	h, scaling := a.core().Heads()
	r := heads.Rotation{Head: h, In: h.In, Out: h.Out, Scaling: scaling, Sign: 1}
	if err := checkStored(function, "x.Dst", &x.Dst, x.DstSlots, tokens, h.HeadDim); err != nil {
		return err
	}
	if err := checkStored(function, "x.Src", &x.Src, x.SrcSlots, tokens, h.HeadDim); err != nil {
		return err
	}
	var y, from heads.QuantizedOperand
	x.Dst.setOperand(&y, unitsOf[D](h.HeadDim))
	x.Src.setOperand(&from, unitsOf[S](h.HeadDim))
	y.Data, y.Scales = unsafe.Pointer(unsafe.SliceData(x.Dst.Data)), x.Dst.Scales
	from.Data, from.Scales = unsafe.Pointer(unsafe.SliceData(x.Src.Data)), x.Src.Scales
	inPlace := y.Operand == from.Operand && len(y.Scales) == len(from.Scales) && unsafe.SliceData(y.Scales) == unsafe.SliceData(from.Scales) && x.DstSlots == nil && x.SrcSlots == nil
	data, scales := y.Memory(), argument.Memory(y.Scales)
	read, readScales := from.Memory(), argument.Memory(from.Scales)
	switch {
	case x.Dst.Heads != x.Src.Heads:
		return argument.Error(ErrShape, function, "x.Dst.Heads", x.Dst.Heads, "%d as in x.Src", x.Src.Heads)
	case !inPlace && (argument.Overlap(data, read) || argument.Overlap(scales, readScales)), argument.Overlap(data, readScales), argument.Overlap(scales, read), argument.Overlap(scales, data):
		return argument.Error(ErrOverlap, function, "x.Dst", "sharing memory with x.Src", "the same view without slots, or a view of other memory")
	case argument.Overlap(data, x.DstSlots), argument.Overlap(data, x.SrcSlots), argument.Overlap(scales, x.DstSlots), argument.Overlap(scales, x.SrcSlots):
		return argument.Error(ErrOverlap, function, "x.Dst", "sharing memory with slots", "a view of other memory")
	case a.core().Overlaps(data), len(scales) > 0 && a.core().Overlaps(scales):
		return a.core().OverlapError(function, "x.Dst")
	}
	rotateStored(a.core(), tokens, &r, &y, x.DstSlots, x.Dst.Hadamard, &from, x.SrcSlots, x.Src.Hadamard, false)
	return nil
}

// checkStored checks a view of that name and its slots.
func checkStored[D Quantized](function, name string, v *QuantizedView[D], slots []int32, tokens, headDim int) error {
	if slots != nil && len(slots) != tokens {
		return argument.Error(ErrLength, function, name+"Slots", argument.Elements(len(slots)), "%d, one for each token", tokens)
	}
	if err := checkQuantizedDim[D](function, argument.Name{Text: name, Field: ": HeadDim"}, headDim); err != nil {
		return err
	}
	units, err := v.check(function, argument.Named(name), headDim)
	if err == nil {
		_, err = checkCache(function, argument.Named(name), v.heads(), name+"Slots", slots, tokens, units, 1)
	}
	return err
}
