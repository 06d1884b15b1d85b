package heads

import (
	"github.com/go-posenc/posenc/internal/cossin"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// Norm is root-mean-square normalization of vectors, as posenc.RMSNorm defines it.
type Norm struct {
	Weight  []float32
	Epsilon float32
}

// Apply normalizes the given number of heads in each of some consecutive tokens, starting
// at element at.
func (n *Norm) Apply(x *view.Operand, heads, at, tokens int) {
	if heads == 1 {
		n.lines(x, at, tokens, x.TokenStride)
		return
	}
	if x.TokenStride == heads*x.HeadStride {
		heads, tokens = heads*tokens, 1
	}
	for t := range tokens {
		n.lines(x, at+t*x.TokenStride, heads, x.HeadStride)
	}
}

// lines normalizes vectors in x that lie stride elements apart.
func (n *Norm) lines(x *view.Operand, at, count, stride int) {
	l := kernels.Lines{Len: len(n.Weight), Stride: stride}
	most := max(1, kernels.MaxCallElements/l.Len)
	for done := 0; done < count; done += most {
		l.Count = min(most, count-done)
		from := at + done*stride
		switch x.Kind {
		case kernels.KindFloat16:
			kernels.RMSNormF16(dispatch.Implementation(), x.Bits(from), n.Weight, &l, n.Epsilon)
		case kernels.KindBFloat16:
			kernels.RMSNormBF16(dispatch.Implementation(), x.Bits(from), n.Weight, &l, n.Epsilon)
		default:
			kernels.RMSNormF32(dispatch.Implementation(), x.Float32s(from), n.Weight, &l, n.Epsilon)
		}
	}
}

// normalize normalizes the heads of n tokens that lie one after another: each head, or all
// heads of a token as one vector.
func (n *Norm) normalize(x *view.Operand, headDim, tokens int) {
	if n == nil {
		return
	}
	heads := x.Heads
	if len(n.Weight) != headDim {
		heads = 1
	}
	n.Apply(x, heads, 0, tokens)
}

// ScaleToken multiplies the heads of the token that starts at element at.
func ScaleToken(x *view.Operand, at, headDim int, factor float32) {
	length, count := headDim, x.Heads
	if x.HeadStride == headDim {
		length, count = x.Heads*headDim, 1
	}
	l := kernels.Lines{Stride: x.HeadStride}
	for column := 0; column < length; column += l.Len {
		l.Len = min(kernels.MaxCallElements, length-column)
		for head := 0; head < count; head += l.Count {
			l.Count = min(kernels.MaxCallElements/l.Len, count-head)
			from := at + head*x.HeadStride + column
			switch x.Kind {
			case kernels.KindFloat16:
				kernels.ScaleRowsF16(dispatch.Implementation(), x.Bits(from), factor, &l)
			case kernels.KindBFloat16:
				kernels.ScaleRowsBF16(dispatch.Implementation(), x.Bits(from), factor, &l)
			default:
				kernels.ScaleRowsF32(dispatch.Implementation(), x.Float32s(from), factor, &l)
			}
		}
	}
}

// NormalizeAndRotate normalizes and rotates the heads of float32 of the token that
// starts at element at, by the first row of table.
func (r *Rotation) NormalizeAndRotate(x *view.Operand, n *Norm, at int, table *cossin.Table) {
	f := kernels.Fusion{Lines: kernels.Lines{Len: r.HeadDim, Stride: x.HeadStride}, First: r.Offset, Pairs: r.RotaryDim / 2}
	most := max(1, kernels.MaxCallElements/r.HeadDim)
	for head := 0; head < x.Heads; head += most {
		f.Count = min(most, x.Heads-head)
		from := x.Float32s(at + head*x.HeadStride)
		if r.Out == view.HalfSplit {
			kernels.RMSNormRotateHalfSplitF32(dispatch.Implementation(), from, n.Weight, table.Cos, table.Sin, &f, n.Epsilon)
		} else {
			kernels.RMSNormRotateInterleavedF32(dispatch.Implementation(), from, n.Weight, table.Cos, table.Sin, &f, n.Epsilon)
		}
	}
}
