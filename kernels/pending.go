package kernels

import "github.com/go-posenc/posenc/generic"

// The kernels of the next merge take the place of this file.

func ConvertF16ToF32(impl Implementation, y []float32, x []uint16) {
	for i := range y {
		y[i] = generic.Float16ToFloat32(x[i])
	}
}
func ConvertBF16ToF32(impl Implementation, y []float32, x []uint16) {
	for i := range y {
		y[i] = generic.BFloat16ToFloat32(x[i])
	}
}
func ConvertF32ToF16(impl Implementation, y []uint16, x []float32) {
	for i := range y {
		y[i] = generic.Float32ToFloat16(x[i])
	}
}
func ConvertF32ToBF16(impl Implementation, y []uint16, x []float32) {
	for i := range y {
		y[i] = generic.Float32ToBFloat16(x[i])
	}
}
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
func DeinterleaveB16(impl Implementation, y, x []uint16, pairs int) {
	for i := range pairs {
		y[i], y[pairs+i] = x[2*i], x[2*i+1]
	}
}
func InterleaveB16(impl Implementation, y, x []uint16, pairs int) {
	for i := range pairs {
		y[2*i], y[2*i+1] = x[i], x[pairs+i]
	}
}
