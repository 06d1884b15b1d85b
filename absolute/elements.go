package absolute

import (
	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// operandOf returns s as an operand that keeps its element type at run time.
func operandOf[T posenc.Element](s []T) view.Operand {
	return (&view.View[T]{Data: s}).Operand(kernels.KindOf[T, posenc.Float16, posenc.BFloat16](), len(s))
}

// addScaled sets len(y) elements of x, from index at on, to x*scale+y. The product and the
// sum are rounded to float32, and the sum to the element type of x.
func addScaled(x *view.Operand, at int, y []float32, scale float32) {
	for ; len(y) > kernels.MaxCallElements; at, y = at+kernels.MaxCallElements, y[kernels.MaxCallElements:] {
		addScaled(x, at, y[:kernels.MaxCallElements], scale)
	}
	switch x.Kind {
	case kernels.KindFloat32:
		kernels.AddScaledF32(dispatch.Implementation(), x.Float32s(at)[:len(y)], y, scale)
	case kernels.KindFloat16:
		kernels.AddScaledF16(dispatch.Implementation(), x.Bits(at)[:len(y)], y, scale)
	case kernels.KindBFloat16:
		kernels.AddScaledBF16(dispatch.Implementation(), x.Bits(at)[:len(y)], y, scale)
	}
}
