package posenc

import (
	"unsafe"

	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/cossin"
	"github.com/go-posenc/posenc/internal/heads"
	"github.com/go-posenc/posenc/internal/rope"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// ShiftQuantized is [Shift] for keys in a quantized cache, in one pass. It reads the
// keys as float32, as [Dequantize] does. It rotates them by the angles d[t]*InvFreq[i]
// alone; AttentionFactor is not applied again. It quantizes them as [RotateIntoQuantized]
// does: all elements of a head, also those that do not rotate, with new scales where blocks
// or heads have scales. Keys whose deltas are 0 on every axis keep their bits.
//
// Each shift quantizes once more: docs/quantized.md says how large the errors are.
//
// Views must not share elements, nor memory with d. Errors are as in Shift, and as in
// RotateIntoQuantized for the views.
func ShiftQuantized[D Quantized](deltas Angles, xs ...QuantizedView[D]) error {
	const function = "posenc.ShiftQuantized"
	tokens, err := deltas.core().CheckMoved(function, "deltas", "deltas")
	if err != nil {
		return err
	}
	h := deltas.core().Rotary().Head()
	if len(xs) == 0 {
		return view.NoViews(function)
	}
	for i := range xs {
		if err := checkShifted(function, deltas.core().Of(), xs, i, tokens, h.HeadDim); err != nil {
			return err
		}
	}
	shift := heads.Rotation{Head: h, In: h.Out, Out: h.Out, Scaling: 1, Sign: 1}
	for i := range xs {
		var x heads.QuantizedOperand
		xs[i].setOperand(&x, unitsOf[D](h.HeadDim))
		x.Data, x.Scales = unsafe.Pointer(unsafe.SliceData(xs[i].Data)), xs[i].Scales
		rotateStored(deltas.core(), tokens, &shift, &x, nil, xs[i].Hadamard, &x, nil, xs[i].Hadamard, true)
	}
	return nil
}

// checkShifted checks view number i.
func checkShifted[D Quantized](function string, deltas []int32, xs []QuantizedView[D], i, tokens, headDim int) error {
	x := &xs[i]
	if err := checkQuantizedDim[D](function, argument.Name{Text: "xs[]: HeadDim", Index: i}, headDim); err != nil {
		return err
	}
	units, err := x.check(function, argument.Name{Text: "xs[]", Index: i}, headDim)
	if err != nil {
		return err
	}
	var g view.Grid
	if p := x.heads().Problem(&g, tokens, units); p != view.None {
		return x.heads().Error(p, function, argument.Indexed("xs", i), &g)
	}
	if argument.Overlap(x.Data, deltas) || argument.Overlap(x.Scales, deltas) {
		return argument.Error(ErrOverlap, function, argument.Indexed("xs", i), "sharing memory with deltas", "a view of other memory")
	}
	for j := range xs {
		if argument.Overlap(x.Scales, xs[j].Data) {
			return argument.Error(ErrOverlap, function, argument.Indexed("xs", i)+".Scales", "sharing memory with "+argument.Indexed("xs", j), "a slice of other memory")
		}
		if j < i && x.overlaps(&xs[j], tokens, tokens, units) {
			return argument.Error(ErrOverlap, function, argument.Indexed("xs", i), "sharing elements or scales with "+argument.Indexed("xs", j), "views of different elements")
		}
	}
	return nil
}

// rotateStored rotates the heads of all tokens from x into y, or in place; with moved only those of tokens
// whose deltas are not 0.
func rotateStored(a *rope.Angles, tokens int, r *heads.Rotation, y *heads.QuantizedOperand, slots []int32, hadamard int, x *heads.QuantizedOperand, from []int32, before int, moved bool) {
	var unaligned [kernels.FusedElements + kernels.Line]float32
	var cos, sin [kernels.ChunkPairs + kernels.Line]float32
	memory := kernels.LineAligned(unaligned[:])
	q, read := heads.Quantization{Dim: r.HeadDim, Hadamard: hadamard}, heads.Quantization{Dim: r.HeadDim, Hadamard: before}
	scratch := q.Scratch(memory)
	pairs, most := r.RotaryDim/2, min(x.Heads, len(memory)/q.Dim)
	rows := rope.ChunkTokens(pairs)
	for first := 0; first < tokens; first += rows {
		count := min(rows, tokens-first)
		table := cossin.Table{Cos: kernels.LineAligned(cos[:]), Sin: kernels.LineAligned(sin[:]), Stride: pairs}
		if a.Rotates() {
			a.Write(&table, tokens, first, count, r)
		}
		for t := range count {
			to, source := heads.Slot(slots, first+t), heads.Slot(from, first+t)
			if to < 0 || source < 0 || moved && !moves(a.Of(), tokens, first+t) {
				continue
			}
			for h := 0; h < x.Heads; h += most {
				some := min(most, x.Heads-h)
				read.Read(&scratch, 0, x, x.Token(source)+h*x.HeadStride, some)
				if scratch.Heads = some; a.Rotates() {
					r.Rotate(&scratch, &scratch, 0, 0, 1, &table, t)
				}
				q.Transform(&scratch, 0, some)
				y.Quantize(y.Token(to)+h*y.HeadStride, q.Dim, some, scratch.Float32s(0), q.Dim, kernels.Ahead)
			}
		}
	}
}

// moves reports whether token t has a delta other than 0 on some axis.
func moves(deltas []int32, tokens, t int) bool {
	for ; t < len(deltas); t += tokens {
		if deltas[t] != 0 {
			return true
		}
	}
	return false
}
