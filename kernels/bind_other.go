//go:build purego || !(amd64 || arm64)

package kernels

import "github.com/go-posenc/posenc/generic"

// RotateHalfSplitF32 rotates the pairs (x[i], x[i+Partner]) of every row into y:
// see generic.RotateHalfSplitF32.
func RotateHalfSplitF32(impl Implementation, y, x, cos, sin []float32, r *Rows) {
	switch impl {
	case Generic:
		rotateHalfSplitF32Generic(y, x, cos, sin, r)
	default:
		missing("RotateHalfSplitF32", impl)
	}
}

// RotateHalfSplitF16: see generic.RotateHalfSplitF16.
func RotateHalfSplitF16(impl Implementation, y, x []uint16, cos, sin []float32, r *Rows) {
	switch impl {
	case Generic:
		rotateHalfSplitF16Generic(y, x, cos, sin, r)
	default:
		missing("RotateHalfSplitF16", impl)
	}
}

// RotateHalfSplitBF16: see generic.RotateHalfSplitBF16.
func RotateHalfSplitBF16(impl Implementation, y, x []uint16, cos, sin []float32, r *Rows) {
	switch impl {
	case Generic:
		rotateHalfSplitBF16Generic(y, x, cos, sin, r)
	default:
		missing("RotateHalfSplitBF16", impl)
	}
}

// RotateHalfSplitF32ToF16: see generic.RotateHalfSplitF32ToF16.
func RotateHalfSplitF32ToF16(impl Implementation, y []uint16, x, cos, sin []float32, r *Rows) {
	switch impl {
	case Generic:
		rotateHalfSplitF32ToF16Generic(y, x, cos, sin, r)
	default:
		missing("RotateHalfSplitF32ToF16", impl)
	}
}

// RotateHalfSplitF32ToBF16: see generic.RotateHalfSplitF32ToBF16.
func RotateHalfSplitF32ToBF16(impl Implementation, y []uint16, x, cos, sin []float32, r *Rows) {
	switch impl {
	case Generic:
		rotateHalfSplitF32ToBF16Generic(y, x, cos, sin, r)
	default:
		missing("RotateHalfSplitF32ToBF16", impl)
	}
}

// RotateInterleavedF32 rotates the pairs (x[2i], x[2i+1]) of every row into y:
// see generic.RotateInterleavedF32.
func RotateInterleavedF32(impl Implementation, y, x, cos, sin []float32, r *Rows) {
	switch impl {
	case Generic:
		rotateInterleavedF32Generic(y, x, cos, sin, r)
	default:
		missing("RotateInterleavedF32", impl)
	}
}

// RotateInterleavedF16: see generic.RotateInterleavedF16.
func RotateInterleavedF16(impl Implementation, y, x []uint16, cos, sin []float32, r *Rows) {
	switch impl {
	case Generic:
		rotateInterleavedF16Generic(y, x, cos, sin, r)
	default:
		missing("RotateInterleavedF16", impl)
	}
}

// RotateInterleavedBF16: see generic.RotateInterleavedBF16.
func RotateInterleavedBF16(impl Implementation, y, x []uint16, cos, sin []float32, r *Rows) {
	switch impl {
	case Generic:
		rotateInterleavedBF16Generic(y, x, cos, sin, r)
	default:
		missing("RotateInterleavedBF16", impl)
	}
}

// RotateInterleavedF32ToF16: see generic.RotateInterleavedF32ToF16.
func RotateInterleavedF32ToF16(impl Implementation, y []uint16, x, cos, sin []float32, r *Rows) {
	switch impl {
	case Generic:
		rotateInterleavedF32ToF16Generic(y, x, cos, sin, r)
	default:
		missing("RotateInterleavedF32ToF16", impl)
	}
}

// RotateInterleavedF32ToBF16: see generic.RotateInterleavedF32ToBF16.
func RotateInterleavedF32ToBF16(impl Implementation, y []uint16, x, cos, sin []float32, r *Rows) {
	switch impl {
	case Generic:
		rotateInterleavedF32ToBF16Generic(y, x, cos, sin, r)
	default:
		missing("RotateInterleavedF32ToBF16", impl)
	}
}

// ConvertF16ToF32: see generic.ConvertF16ToF32.
func ConvertF16ToF32(impl Implementation, y []float32, x []uint16) {
	switch impl {
	case Generic:
		generic.ConvertF16ToF32(y, x)
	default:
		missing("ConvertF16ToF32", impl)
	}
}

// ConvertBF16ToF32: see generic.ConvertBF16ToF32.
func ConvertBF16ToF32(impl Implementation, y []float32, x []uint16) {
	switch impl {
	case Generic:
		generic.ConvertBF16ToF32(y, x)
	default:
		missing("ConvertBF16ToF32", impl)
	}
}

// ConvertF32ToF16: see generic.ConvertF32ToF16.
func ConvertF32ToF16(impl Implementation, y []uint16, x []float32) {
	switch impl {
	case Generic:
		generic.ConvertF32ToF16(y, x)
	default:
		missing("ConvertF32ToF16", impl)
	}
}

// ConvertF32ToBF16: see generic.ConvertF32ToBF16.
func ConvertF32ToBF16(impl Implementation, y []uint16, x []float32) {
	switch impl {
	case Generic:
		generic.ConvertF32ToBF16(y, x)
	default:
		missing("ConvertF32ToBF16", impl)
	}
}

// AddScaledF32: see generic.AddScaledF32.
func AddScaledF32(impl Implementation, x, y []float32, scale float32) {
	switch impl {
	case Generic:
		generic.AddScaledF32(x, y, scale)
	default:
		missing("AddScaledF32", impl)
	}
}

// AddScaledF16: see generic.AddScaledF16.
func AddScaledF16(impl Implementation, x []uint16, y []float32, scale float32) {
	switch impl {
	case Generic:
		generic.AddScaledF16(x, y, scale)
	default:
		missing("AddScaledF16", impl)
	}
}

// AddScaledBF16: see generic.AddScaledBF16.
func AddScaledBF16(impl Implementation, x []uint16, y []float32, scale float32) {
	switch impl {
	case Generic:
		generic.AddScaledBF16(x, y, scale)
	default:
		missing("AddScaledBF16", impl)
	}
}

// DeinterleaveB32 is generic.Deinterleave of elements of 4 bytes.
func DeinterleaveB32(impl Implementation, y, x []uint32) {
	switch impl {
	case Generic:
		generic.Deinterleave(y, x)
	default:
		missing("DeinterleaveB32", impl)
	}
}

// DeinterleaveB16 is generic.Deinterleave of elements of 2 bytes.
func DeinterleaveB16(impl Implementation, y, x []uint16) {
	switch impl {
	case Generic:
		generic.Deinterleave(y, x)
	default:
		missing("DeinterleaveB16", impl)
	}
}

// InterleaveB32 is generic.Interleave of elements of 4 bytes.
func InterleaveB32(impl Implementation, y, x []uint32) {
	switch impl {
	case Generic:
		generic.Interleave(y, x)
	default:
		missing("InterleaveB32", impl)
	}
}

// InterleaveB16 is generic.Interleave of elements of 2 bytes.
func InterleaveB16(impl Implementation, y, x []uint16) {
	switch impl {
	case Generic:
		generic.Interleave(y, x)
	default:
		missing("InterleaveB16", impl)
	}
}

// AddRowsF32 adds the row of x from element xFirst+ids[r]*xStride on to row r of y,
// or, where ids is nil, that from xFirst+r*xStride on: see generic.AddF32.
func AddRowsF32(impl Implementation, y, x []float32, xFirst, xStride int, ids []int32, t *Tile) {
	switch impl {
	case Generic:
		addRowsF32Generic(y, x, xFirst, xStride, ids, t)
	default:
		missing("AddRowsF32", impl)
	}
}

// DotProductsF32 writes the dot product of row r of x with vector c to element c of
// row r of y: see generic.DotF32.
func DotProductsF32(impl Implementation, y, x, vectors []float32, m *Matrices) {
	switch impl {
	case Generic:
		dotProductsF32Generic(y, x, vectors, m)
	default:
		missing("DotProductsF32", impl)
	}
}

// AddMultiplesF32 adds vectors to the rows of y in ascending order, vector c times
// element c of row r of x: see generic.AddMultipleF32.
func AddMultiplesF32(impl Implementation, y, x, vectors []float32, m *Matrices) {
	switch impl {
	case Generic:
		addMultiplesF32Generic(y, x, vectors, m)
	default:
		missing("AddMultiplesF32", impl)
	}
}

// AddClampedF32 adds elements of x to rows of y, to row r those from number
// first+r*step on: see generic.AddClampedF32. The first ClampedEnds elements of x are
// equal, and the last.
func AddClampedF32(impl Implementation, y, x []float32, first, step int, t *Tile) {
	switch impl {
	case Generic:
		addClampedF32Generic(y, x, first, step, t)
	default:
		missing("AddClampedF32", impl)
	}
}

// AddDistanceF32 adds to rows of y, the first distance of row r being
// first+r*step: see generic.AddDistanceF32.
func AddDistanceF32(impl Implementation, y []float32, slope float32, first, step int, t *Tile) {
	switch impl {
	case Generic:
		addDistanceF32Generic(y, slope, first, step, t)
	default:
		missing("AddDistanceF32", impl)
	}
}

// SubAbsoluteDistanceF32: see generic.SubAbsoluteDistanceF32.
func SubAbsoluteDistanceF32(impl Implementation, y []float32, slope float32, first, step int, t *Tile) {
	switch impl {
	case Generic:
		subAbsoluteDistanceF32Generic(y, slope, first, step, t)
	default:
		missing("SubAbsoluteDistanceF32", impl)
	}
}

// cosSinExact writes the row of one position and reports whether every entry
// was decided.
func cosSinExact(impl Implementation, cos, sin []float32, position float64, b *Block, scaleCos, scaleSin float32) bool {
	switch impl {
	case Generic:
		generic.CosSinExactAt(cos, sin, position, b.frequencies(), scaleCos, scaleSin)
		return true
	default:
		missing("CosSinExact", impl)
	}
	return false
}

// cosSinSeed writes the float64 cosines and sines of one position and the error
// bounds of sines of angles up to reach times the frequencies.
func cosSinSeed(impl Implementation, cos, sin, bound *[Width]float64, b *Block, position, reach float64) {
	switch impl {
	case Generic:
		// The rows of plain Go need no seeds.
	default:
		missing("CosSinSeed", impl)
	}
}

// cosSinShift writes rows from a seed and returns how many came before the
// first that was not decided. nonTemporal asks for stores that pass the caches,
// where there are such.
func cosSinShift(impl Implementation, cos, sin []float32, stride, rows int, seed *[3][Width]float64, shift [][2][Width]float64, n int, scaleCos, scaleSin float32, nonTemporal bool) (done int) {
	switch impl {
	case Generic:
		// The rows of plain Go need no seeds.
	default:
		missing("CosSinShift", impl)
	}
	return 0
}

// sinusoidalRowsInterleaved is sinusoidalRows by asm.SinusoidalRowsInterleavedF32.
func sinusoidalRowsInterleaved(impl Implementation, x []float32, stride, rows int, seed *[3][Width]float64, shift [][2][Width]float64, n int, scaling float32) (done int) {
	switch impl {
	case Generic:
		// The rows of plain Go need no seeds.
	default:
		missing("sinusoidalRowsInterleaved", impl)
	}
	return 0
}

// addSinusoidalInterleaved is sinusoidalRows by asm.AddSinusoidalInterleavedF32.
func addSinusoidalInterleaved(impl Implementation, x []float32, stride, rows int, seed *[3][Width]float64, shift [][2][Width]float64, n int, scaling, scale float32) (done int) {
	switch impl {
	case Generic:
		// The rows of plain Go need no seeds.
	default:
		missing("addSinusoidalInterleaved", impl)
	}
	return 0
}

// addSinusoidalHalfSplit is sinusoidalRows by asm.AddSinusoidalHalfSplitF32.
func addSinusoidalHalfSplit(impl Implementation, cos, sin []float32, stride, rows int, seed *[3][Width]float64, shift [][2][Width]float64, n int, scaling, scale float32) (done int) {
	switch impl {
	case Generic:
		// The rows of plain Go need no seeds.
	default:
		missing("addSinusoidalHalfSplit", impl)
	}
	return 0
}

// cosSinFloat32 writes the row of one position and reports whether every angle
// was below 2^50.
func cosSinFloat32(impl Implementation, cos, sin, invFreq []float32, position, scaleCos, scaleSin float32) bool {
	switch impl {
	case Generic:
		generic.CosSinFloat32(cos, sin, invFreq, position, scaleCos, scaleSin)
		return true
	default:
		missing("CosSinFloat32", impl)
	}
	return false
}

// CopiesPastCaches reports whether CopyPastCaches is more than a copy.
func CopiesPastCaches(impl Implementation) bool { return false }

// CopyPastCaches copies x to y, which is aligned to 32 bytes and a multiple of 8
// long, by stores that pass the caches where there are such. FenceStores has to
// follow before others may read y.
func CopyPastCaches(impl Implementation, y, x []float32) {
	switch impl {
	case Generic:
		copy(y, x)
	default:
		missing("CopyPastCaches", impl)
	}
}

// FenceStores lets no store that follows be seen before those of CopyPastCaches.
func FenceStores(impl Implementation) {
	switch impl {
	case Generic:
	default:
		missing("FenceStores", impl)
	}
}

// RMSNormF32 normalizes rows of Len elements in place: see generic.RMSNormF32.
func RMSNormF32(impl Implementation, x, weight []float32, l *Lines, epsilon float32) {
	switch impl {
	case Generic:
		rmsNormF32Generic(x, weight, l, epsilon)
	default:
		missing("RMSNormF32", impl)
	}
}

// ScaleRowsF32 multiplies rows of Len elements by factor, in place: see
// generic.ScaleF32.
func ScaleRowsF32(impl Implementation, x []float32, factor float32, l *Lines) {
	switch impl {
	case Generic:
		scaleRowsF32Generic(x, factor, l)
	default:
		missing("ScaleRowsF32", impl)
	}
}

// RMSNormF16 normalizes rows of Len elements in place: see generic.RMSNormF16.
func RMSNormF16(impl Implementation, x []uint16, weight []float32, l *Lines, epsilon float32) {
	switch impl {
	case Generic:
		rmsNormF16Generic(x, weight, l, epsilon)
	default:
		missing("RMSNormF16", impl)
	}
}

// ScaleRowsF16 multiplies rows of Len elements by factor, in place: see
// generic.ScaleF16.
func ScaleRowsF16(impl Implementation, x []uint16, factor float32, l *Lines) {
	switch impl {
	case Generic:
		scaleRowsF16Generic(x, factor, l)
	default:
		missing("ScaleRowsF16", impl)
	}
}

// RMSNormBF16 normalizes rows of Len elements in place: see generic.RMSNormBF16.
func RMSNormBF16(impl Implementation, x []uint16, weight []float32, l *Lines, epsilon float32) {
	switch impl {
	case Generic:
		rmsNormBF16Generic(x, weight, l, epsilon)
	default:
		missing("RMSNormBF16", impl)
	}
}

// ScaleRowsBF16 multiplies rows of Len elements by factor, in place: see
// generic.ScaleBF16.
func ScaleRowsBF16(impl Implementation, x []uint16, factor float32, l *Lines) {
	switch impl {
	case Generic:
		scaleRowsBF16Generic(x, factor, l)
	default:
		missing("ScaleRowsBF16", impl)
	}
}

// RMSNormRotateHalfSplitF32 normalizes rows and rotates a slice of each, in place: see
// generic.RMSNormF32 and generic.RotateHalfSplitF32.
func RMSNormRotateHalfSplitF32(impl Implementation, x, weight, cos, sin []float32, f *Fusion, epsilon float32) {
	switch impl {
	case Generic:
		rmsNormRotateHalfSplitF32Generic(x, weight, cos, sin, f, epsilon)
	default:
		missing("RMSNormRotateHalfSplitF32", impl)
	}
}

// RMSNormRotateInterleavedF32 normalizes rows and rotates a slice of each, in place: see
// generic.RMSNormF32 and generic.RotateInterleavedF32.
func RMSNormRotateInterleavedF32(impl Implementation, x, weight, cos, sin []float32, f *Fusion, epsilon float32) {
	switch impl {
	case Generic:
		rmsNormRotateInterleavedF32Generic(x, weight, cos, sin, f, epsilon)
	default:
		missing("RMSNormRotateInterleavedF32", impl)
	}
}
