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

// FusedView is a [View] and what [RotateFused] does to its heads besides the rotation.
type FusedView[T Element] struct {
	View[T]

	// Norm normalizes before the rotation (Qwen3, Gemma 3) and RotatedNorm after it
	// (HunYuan, nanochat, Llama 4); nil means no norm. With HeadDim weights a norm takes
	// each head. With Heads*HeadDim weights it takes all heads of a token as one vector.
	// They must then lie one after another: HeadStride is 0 or HeadDim.
	Norm, RotatedNorm *RMSNorm

	// QueryScales multiplies the heads of token t by QueryScales[t] at the end; nil means no scaling.
	QueryScales []float32
}

// RotateFused normalizes, rotates, normalizes again and scales Q and K in place, in one pass
// over memory. It gives the bits that Normalize, Rotate, Normalize and ScaleQueries give one
// after another, each rounding to T. Errors are as in Rotate. In addition, a zero Norm is
// ErrConfig, a Norm that does not fit the heads is ErrShape, QueryScales without an entry for
// each token ErrLength, and QueryScales that share memory with a view ErrOverlap.
func RotateFused[T Element](a Angles, xs ...FusedView[T]) error {
	const function = "posenc.RotateFused"
	tokens, err := a.core().Check(function)
	if err != nil {
		return err
	}
	h, scaling := a.core().Heads()
	var r heads.Rotation
	r.Head, r.In, r.Out, r.Scaling, r.Sign = h, h.In, h.Out, scaling, 1
	if len(xs) == 0 {
		return view.NoViews(function)
	}
	var g view.Grid
	for i := range xs {
		x := (*view.View[T])(&xs[i].View)
		if p := x.Problem(&g, tokens, r.HeadDim); p != view.None {
			return x.Error(p, function, argument.Indexed("xs", i), &g)
		}
		if err := a.core().CheckHeads(function, argument.Name{Text: "xs[].Heads", Index: i}, xs[i].Heads); err != nil {
			return err
		}
		if err := xs[i].check(function, i, tokens, r.HeadDim); err != nil {
			return err
		}
	}
	if tokens == 0 {
		return nil
	}
	for i := range xs {
		for j := range xs {
			if j < i && view.Overlap((*view.View[T])(&xs[j].View), (*view.View[T])(&xs[i].View), tokens, tokens, r.HeadDim) {
				return argument.Error(ErrOverlap, function, argument.Indexed("xs", i), "sharing elements with "+argument.Indexed("xs", j), "views of different elements")
			}
			if argument.Overlap(xs[j].Data, xs[i].QueryScales) {
				return argument.Error(ErrOverlap, function, argument.Indexed("xs", i)+".QueryScales", "sharing memory with "+argument.Indexed("xs", j), "a slice of other memory")
			}
		}
	}
	for i := range xs {
		if a.core().Overlaps(argument.Memory(xs[i].Data)) {
			return a.core().OverlapError(function, argument.Indexed("xs", i))
		}
	}
	switch {
	case a.core().OneByOne():
		for i := range xs {
			x := operandOf(&xs[i].View, r.HeadDim)
			xs[i].normalize(xs[i].Norm, &x, r.HeadDim, 0, tokens)
			a.core().RotateOneByOne(tokens, &r, &x, nil, &x)
			xs[i].normalize(xs[i].RotatedNorm, &x, r.HeadDim, 0, tokens)
			xs[i].scale(&x, r.HeadDim, 0, tokens)
		}
	case tokens == 1 && r.RotaryDim <= 2*kernels.TokenPairs:
		fuseToken(a.core(), &r, xs)
	default:
		fuseTokens(a.core(), tokens, &r, xs)
	}
	return nil
}

// check checks the norms and the scale of the view that is argument number i.
func (x *FusedView[T]) check(function string, i, tokens, headDim int) error {
	for _, n := range [...]struct {
		name string
		norm *RMSNorm
	}{{"xs[].Norm", x.Norm}, {"xs[].RotatedNorm", x.RotatedNorm}} {
		if err := n.norm.check(function, argument.Name{Text: n.name, Index: i}, x.Heads, headDim); err != nil {
			return err
		}
		if n.norm != nil && len(n.norm.norm.Weight) != headDim && x.HeadStride != 0 && x.HeadStride != headDim {
			return argument.Error(ErrShape, function, argument.Indexed("xs", i)+".HeadStride", x.HeadStride, "0 or HeadDim = %d with a norm of all heads", headDim)
		}
	}
	if x.QueryScales != nil && len(x.QueryScales) != tokens {
		return argument.Error(ErrLength, function, argument.Indexed("xs", i)+".QueryScales", argument.Elements(len(x.QueryScales)), "%d, one for each token", tokens)
	}
	return nil
}

func fuseToken[T Element](a *rope.Angles, r *heads.Rotation, xs []FusedView[T]) {
	var cos, sin [kernels.TokenPairs]float32
	fuseChunk(a, 1, 0, 1, r, &cossin.Table{Cos: cos[:], Sin: sin[:], Stride: r.RotaryDim / 2}, xs)
}

func fuseTokens[T Element](a *rope.Angles, tokens int, r *heads.Rotation, xs []FusedView[T]) {
	var cos, sin [kernels.ChunkPairs + kernels.Line]float32
	pairs := r.RotaryDim / 2
	count := rope.ChunkTokens(pairs)
	for t := 0; t < tokens; t += count {
		fuseChunk(a, tokens, t, min(count, tokens-t), r, &cossin.Table{Cos: kernels.LineAligned(cos[:]), Sin: kernels.LineAligned(sin[:]), Stride: pairs}, xs)
	}
}

// fuseChunk normalizes, rotates and scales n tokens of a call, from token first on.
func fuseChunk[T Element](a *rope.Angles, tokens, first, n int, r *heads.Rotation, table *cossin.Table, xs []FusedView[T]) {
	a.Write(table, tokens, first, n, r)
	var x view.Operand
	for i := range xs {
		setOperand(&x, &xs[i].View, r.HeadDim)
		x.Data = unsafe.Pointer(unsafe.SliceData(xs[i].Data))
		norm := xs[i].Norm.of()
		// One kernel normalizes and rotates whole heads of float32.
		oneKernel := norm != nil && len(norm.Weight) == r.HeadDim && x.Kind == kernels.KindFloat32 && r.In == r.Out
		most := max(1, kernels.FusedElements/(x.Heads*r.HeadDim))
		for t := 0; t < n; {
			count := x.Together(first+t, min(most, n-t))
			at := x.Token(first + t)
			if oneKernel {
				for k := range count {
					row := table.From(t + k)
					r.NormalizeAndRotate(&x, norm, at+k*x.TokenStride, &row)
				}
			} else {
				xs[i].normalize(xs[i].Norm, &x, r.HeadDim, first+t, count)
				r.Rotate(&x, &x, at, at, count, table, t)
			}
			xs[i].normalize(xs[i].RotatedNorm, &x, r.HeadDim, first+t, count)
			xs[i].scale(&x, r.HeadDim, first+t, count)
			t += count
		}
	}
}

// normalize normalizes n tokens of x, the operand of the view, from first on.
func (v *FusedView[T]) normalize(norm *RMSNorm, x *view.Operand, headDim, first, n int) {
	if norm == nil {
		return
	}
	heads := x.Heads
	if len(norm.norm.Weight) != headDim {
		heads = 1
	}
	for t := first; t < first+n; {
		count := x.Together(t, first+n-t)
		norm.norm.Apply(x, heads, x.Token(t), count)
		t += count
	}
}

// scale scales n tokens of x, the operand of the view, from first on.
func (v *FusedView[T]) scale(x *view.Operand, headDim, first, n int) {
	if v.QueryScales == nil {
		return
	}
	for t := first; t < first+n; t++ {
		heads.ScaleToken(x, x.Token(t), headDim, v.QueryScales[t])
	}
}
