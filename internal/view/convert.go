package view

import (
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/kernels"
)

// Order is the order of the elements of pairs.
type Order uint8

const (
	HalfSplit   Order = iota // pairs (x[i], x[i+n]) of 2n elements
	Interleaved              // pairs (x[2i], x[2i+1])
)

// Reorder copies pairs from one order to another.
func Reorder(y, x *Operand, yAt, xAt, pairs int, in, out Order) {
	switch {
	case in == out:
		Convert(y, x, yAt, xAt, 2*pairs)
	case x.Kind == kernels.KindFloat32 && in == Interleaved:
		kernels.DeinterleaveB32(dispatch.Implementation(), y.Words(yAt)[:2*pairs], x.Words(xAt)[:2*pairs])
	case x.Kind == kernels.KindFloat32:
		kernels.InterleaveB32(dispatch.Implementation(), y.Words(yAt)[:2*pairs], x.Words(xAt)[:2*pairs])
	case in == Interleaved:
		kernels.DeinterleaveB16(dispatch.Implementation(), y.Bits(yAt)[:2*pairs], x.Bits(xAt)[:2*pairs])
	default:
		kernels.InterleaveB16(dispatch.Implementation(), y.Bits(yAt)[:2*pairs], x.Bits(xAt)[:2*pairs])
	}
}

// ReorderFloat32s copies the pairs of x from one order to another.
func ReorderFloat32s(y, x []float32, in, out Order) {
	to, from := Over(y), Over(x)
	Reorder(&to, &from, 0, 0, len(x)/2, in, out)
}

// Convert copies n elements of x to y, rounding once where y has fewer bits.
func Convert(y, x *Operand, yAt, xAt, n int) {
	for ; n > kernels.MaxCallElements; n -= kernels.MaxCallElements {
		Convert(y, x, yAt, xAt, kernels.MaxCallElements)
		yAt += kernels.MaxCallElements
		xAt += kernels.MaxCallElements
	}
	switch {
	case x.Kind == y.Kind && x.Kind == kernels.KindFloat32:
		copy(y.Float32s(yAt)[:n], x.Float32s(xAt))
	case x.Kind == y.Kind:
		copy(y.Bits(yAt)[:n], x.Bits(xAt))
	case x.Kind == kernels.KindFloat16 && y.Kind == kernels.KindFloat32:
		kernels.ConvertF16ToF32(dispatch.Implementation(), y.Float32s(yAt)[:n], x.Bits(xAt)[:n])
	case x.Kind == kernels.KindBFloat16 && y.Kind == kernels.KindFloat32:
		kernels.ConvertBF16ToF32(dispatch.Implementation(), y.Float32s(yAt)[:n], x.Bits(xAt)[:n])
	case x.Kind == kernels.KindFloat32 && y.Kind == kernels.KindFloat16:
		kernels.ConvertF32ToF16(dispatch.Implementation(), y.Bits(yAt)[:n], x.Float32s(xAt)[:n])
	case x.Kind == kernels.KindFloat32:
		kernels.ConvertF32ToBF16(dispatch.Implementation(), y.Bits(yAt)[:n], x.Float32s(xAt)[:n])
	default:
		var memory [kernels.ChunkPairs]float32
		wide := Over(memory[:])
		for done := 0; done < n; done += kernels.ChunkPairs {
			count := min(kernels.ChunkPairs, n-done)
			Convert(&wide, x, 0, xAt+done, count)
			Convert(y, &wide, yAt+done, 0, count)
		}
	}
}
