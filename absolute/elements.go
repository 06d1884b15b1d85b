package absolute

import (
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/element"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

func kindOf[T posenc.Element]() element.Kind {
	return element.KindOf[T, posenc.Float16, posenc.BFloat16]()
}

// operandOf returns s as conversions take it.
func operandOf[T posenc.Element](s []T) view.Operand {
	return (&view.View[T]{Data: s}).Operand(kindOf[T](), len(s))
}

// addScaled sets x to x*scale+y, each step rounded to float32 and the sum to
// the elements of x. There are at most kernels.MaxCallElements.
func addScaled[T posenc.Element](x []T, y []float32, scale float32) {
	data := unsafe.Pointer(unsafe.SliceData(x))
	switch kindOf[T]() {
	case element.Float32:
		kernels.AddScaledF32(dispatch.Implementation(), unsafe.Slice((*float32)(data), len(x)), y, scale)
	case element.Float16:
		kernels.AddScaledF16(dispatch.Implementation(), unsafe.Slice((*uint16)(data), len(x)), y, scale)
	case element.BFloat16:
		kernels.AddScaledBF16(dispatch.Implementation(), unsafe.Slice((*uint16)(data), len(x)), y, scale)
	}
}
