package posenc

import (
	"unsafe"

	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/cossin"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/heads"
	"github.com/go-posenc/posenc/internal/rope"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// Rotate rotates Q and K (or any other views) in place by the angles of their tokens. For
// pair i of each head of token t, with elements x1 and x2,
//
//	c = RN32(RN32(cos(angle)) * RN32(AttentionFactor))    angle = positions[t]*InvFreq[i]
//	s = RN32(RN32(sin(angle)) * RN32(AttentionFactor))
//	x1, x2 = RN(RN32(x1*c) - RN32(x2*s)), RN(RN32(x2*c) + RN32(x1*s))
//
// RN rounds a sum to float32, and then to T if T has 16 bits. With frequency.Float32, several
// axes or XPos, c and s are what [Rotary.CosSin] or [Rotary.CosSinAxes] writes. The result is
// defined to the last bit and the same on every implementation. Elements of a head outside the
// rotated slice do not change.
//
// a says the angles of each token. rope.At(positions) and rope.AtFractional(positions)
// compute c and s in the call. rows.All() and rows.At(ids) take them from a cos/sin cache,
// where each head may have its own entries ([RowsConfig]) and some tokens may have none
// ([Rows.AtSome]).
//
// All views have the same tokens, and each view has its own number of heads. Views may
// interleave in memory (packed QKV) but must not share elements, nor memory with the slices of
// a. A call without tokens rotates nothing; the Data of packed views is then empty. Errors wrap
// ErrConfig (a), ErrShape, ErrLength, ErrOverlap or ErrPosition.
func Rotate[T Element](a Angles, xs ...View[T]) error {
	const function = "posenc.Rotate"
	tokens, err := a.core().Check(function)
	if err != nil {
		return err
	}
	h, scaling := a.core().Heads()
	var r heads.Rotation
	r.Head, r.In, r.Out, r.Scaling, r.Sign = h, h.In, h.Out, scaling, 1
	return rotateViews(function, a.core(), tokens, &r, xs)
}

// RotateInverse is [Rotate] with the opposite angles: -s in place of s. Without
// AttentionFactor it undoes Rotate up to rounding. With AttentionFactor it does not: it
// multiplies cos and sin by the factor just as Rotate does, so both together scale by its
// square. Where the Layout reads one order of elements and writes the other, RotateInverse
// reads what Rotate writes and writes what Rotate reads.
func RotateInverse[T Element](a Angles, xs ...View[T]) error {
	const function = "posenc.RotateInverse"
	tokens, err := a.core().Check(function)
	if err != nil {
		return err
	}
	h, scaling := a.core().Heads()
	var r heads.Rotation
	r.Head, r.In, r.Out, r.Scaling, r.Sign = h, h.Out, h.In, scaling, -1
	return rotateViews(function, a.core(), tokens, &r, xs)
}

// Shift moves rotated keys to other positions, in place: the keys of token t by delta t, where
// deltas are the angles of rope.At(d) or rope.AtAxes(d), for d in place of positions. A KV cache
// that drops its first n tokens needs it, for example: all d are -n. Except for
// rounding, Rotate at p and then Shift by d give what Rotate at p+d gives. Shift rotates
// by the angles d[t]*InvFreq[i] alone: the keys have AttentionFactor in them already,
// so it is not applied again. The keys are in the order that Rotate writes.
//
// d shares no memory with the keys. A run of equal deltas is cheap: it needs one row of cosines and
// sines for every 16 tokens, or for every 32 with heads of up to 64 elements.
//
// Each shift rounds once more. The root mean square error that it adds, relative to the root
// mean square of the keys, is 4.2e-8 in float32, 2.1e-4 in float16 and 1.7e-3 in bfloat16. The
// errors of n shifts add up to sqrt(n) times as much. Equal deltas in float32 add up to more:
// ten of them to 2.4e-7. Errors are as in Rotate. ErrConfig are also other Angles, and a Rotary
// with XPos, because its keys depend on its center.
func Shift[T Element](deltas Angles, xs ...View[T]) error {
	const function = "posenc.Shift"
	tokens, err := deltas.core().CheckMoved(function, "deltas", "deltas")
	if err != nil {
		return err
	}
	h := deltas.core().Rotary().Head()
	shift := heads.Rotation{Head: h, In: h.Out, Out: h.Out, Scaling: 1, Sign: 1}
	return rotateViews(function, deltas.core(), tokens, &shift, xs)
}

func rotateViews[T Element](function string, a *rope.Angles, tokens int, r *heads.Rotation, xs []View[T]) error {
	if err := view.Check(function, checked(xs), tokens, r.HeadDim); err != nil {
		return err
	}
	oneByOne, callers := a.OneByOne(), a.CallersTable() // and not by calls: one token has no time for them
	for i := range xs {
		if oneByOne {
			if err := a.CheckHeads(function, argument.Name{Text: "xs[].Heads", Index: i}, xs[i].Heads); err != nil {
				return err
			}
		}
		if tokens > 0 && (argument.Overlap(xs[i].Data, a.Of()) || callers && a.Overlaps(argument.Memory(xs[i].Data))) {
			return a.OverlapError(function, argument.Indexed("xs", i))
		}
	}
	switch {
	case oneByOne:
		for i := range xs {
			x := operandOf(&xs[i], r.HeadDim)
			a.RotateOneByOne(tokens, r, &x, nil, &x)
		}
		return nil
	case tokens != 1 || r.RotaryDim > 2*kernels.TokenPairs:
		rotateTokens(a, tokens, r, xs)
		return nil
	}
	// One token. The general way, Rotation.Rotate, would take a seventh longer.
	var cos, sin []float32
	inPlace := false
	if rows := a.Rows(); rows != nil { // inlined, unlike a method of Angles
		cos, sin, inPlace = rows.InPlace(heads.Slot(a.Of(), 0), r.Sign)
	}
	if !inPlace {
		var memory rope.TokenRow
		cos, sin = a.WriteRow(&memory, r)
	}
	h, sameOrder := r.Head, r.In == r.Out
	float32s := kindOf[T]() == kernels.KindFloat32 && r.Out == view.HalfSplit
	var k kernels.Rotation
	k.Pairs, k.Partner, k.Tokens = h.RotaryDim/2, h.RotaryDim/2, 1
	for i := range xs {
		v := &xs[i]
		if !sameOrder || v.Heads*h.RotaryDim > kernels.MaxCallElements {
			x := operandOf(v, h.HeadDim)
			r.Rotate(&x, &x, 0, 0, 1, &cossin.Table{Cos: cos, Sin: sin}, 0)
			continue
		}
		stride := v.HeadStride
		if stride == 0 {
			stride = h.HeadDim
		}
		k.Heads, k.YHeadStride, k.XHeadStride = v.Heads, stride, stride
		if float32s { // as RotateRows, which takes 2 % of a call
			rotated := (*(*[]float32)(unsafe.Pointer(&v.Data)))[h.Offset:]
			kernels.RotateHalfSplitF32(dispatch.Implementation(), rotated, rotated, cos, sin, &k)
			continue
		}
		var x view.Operand // its strides are in k
		x.Kind, x.Data, x.Length = kindOf[T](), unsafe.Pointer(unsafe.SliceData(v.Data)), len(v.Data)
		heads.RotateRows(&x, &x, h.Offset, h.Offset, cos, sin, &k, r.Out)
	}
	return nil
}

func rotateTokens[T Element](a *rope.Angles, tokens int, r *heads.Rotation, xs []View[T]) {
	var cosMemory, sinMemory [kernels.ChunkPairs + kernels.Line]float32
	cos, sin := kernels.LineAligned(cosMemory[:]), kernels.LineAligned(sinMemory[:])
	pairs, all := r.RotaryDim/2, 0
	for i := range xs {
		all += xs[i].Heads
	}
	r.Resident(tokens, all)
	count := rope.ChunkTokens(pairs)
	for t := 0; t < tokens; t += count {
		rotateChunk(a, tokens, t, min(count, tokens-t), r, &cossin.Table{Cos: cos, Sin: sin, Stride: pairs}, xs)
	}
}

func rotateChunk[T Element](a *rope.Angles, tokens, first, n int, r *heads.Rotation, table *cossin.Table, xs []View[T]) {
	a.Write(table, tokens, first, n, r)
	var x view.Operand
	for i := range xs {
		setOperand(&x, &xs[i], r.HeadDim)
		x.Data = unsafe.Pointer(unsafe.SliceData(xs[i].Data))
		for t := 0; t < n; {
			count := x.Together(first+t, n-t)
			at := x.Token(first + t)
			r.Rotate(&x, &x, at, at, count, table, t)
			t += count
		}
	}
}
