// The 16-bit kernels of the next merge take the place of this file.
package kernels

func RotateHalfSplitF16(impl Implementation, y, x []uint16, cos, sin []float32, r *Rows) {
	panic("pending")
}
func RotateHalfSplitBF16(impl Implementation, y, x []uint16, cos, sin []float32, r *Rows) {
	panic("pending")
}
func RotateHalfSplitF32ToF16(impl Implementation, y []uint16, x, cos, sin []float32, r *Rows) {
	panic("pending")
}
func RotateHalfSplitF32ToBF16(impl Implementation, y []uint16, x, cos, sin []float32, r *Rows) {
	panic("pending")
}
func RotateInterleavedF16(impl Implementation, y, x []uint16, cos, sin []float32, r *Rows) {
	panic("pending")
}
func RotateInterleavedBF16(impl Implementation, y, x []uint16, cos, sin []float32, r *Rows) {
	panic("pending")
}
func RotateInterleavedF32ToF16(impl Implementation, y []uint16, x, cos, sin []float32, r *Rows) {
	panic("pending")
}
func RotateInterleavedF32ToBF16(impl Implementation, y []uint16, x, cos, sin []float32, r *Rows) {
	panic("pending")
}
func ConvertF16ToF32(impl Implementation, y []float32, x []uint16)  { panic("pending") }
func ConvertBF16ToF32(impl Implementation, y []float32, x []uint16) { panic("pending") }
func ConvertF32ToF16(impl Implementation, y []uint16, x []float32)  { panic("pending") }
func ConvertF32ToBF16(impl Implementation, y []uint16, x []float32) { panic("pending") }
func DeinterleaveB32(impl Implementation, y, x []float32, pairs int) {
	for i := range pairs {
		y[i], y[pairs+i] = x[2*i], x[2*i+1]
	}
}
func InterleaveB32(impl Implementation, y, x []float32, pairs int) {
	for i := range pairs {
		y[2*i], y[2*i+1] = x[i], x[pairs+i]
	}
}
func DeinterleaveB16(impl Implementation, y, x []uint16, pairs int) { panic("pending") }
func InterleaveB16(impl Implementation, y, x []uint16, pairs int)   { panic("pending") }
