package generic

// ConvertF16ToF32 sets y[i] to the value of the float16 number x[i], for
// i < len(x). y holds at least as many elements.
func ConvertF16ToF32(y []float32, x []uint16) {
	y = y[:len(x)]
	for i, bits := range x {
		y[i] = Float16ToFloat32(bits)
	}
}

// ConvertBF16ToF32 is ConvertF16ToF32 of bfloat16 numbers.
func ConvertBF16ToF32(y []float32, x []uint16) {
	y = y[:len(x)]
	for i, bits := range x {
		y[i] = BFloat16ToFloat32(bits)
	}
}

// ConvertF32ToF16 sets y[i] to the float16 number nearest to x[i], ties to even,
// for i < len(x). y holds at least as many elements.
func ConvertF32ToF16(y []uint16, x []float32) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = Float32ToFloat16(v)
	}
}

// ConvertF32ToBF16 is ConvertF32ToF16 to bfloat16 numbers.
func ConvertF32ToBF16(y []uint16, x []float32) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = Float32ToBFloat16(v)
	}
}
