package generic

// AddScaledF32 scales x and adds y to it, with two roundings:
//
//	x[i] = RN32(RN32(x[i]*scale) + y[i])
//
// for i < len(x). y holds at least as many elements.
func AddScaledF32(x, y []float32, scale float32) {
	y = y[:len(x)]
	for i, v := range x {
		x[i] = addScaled(v, y[i], scale)
	}
}

// AddScaledF16 is AddScaledF32 for an x of float16 numbers, rounded to them
// once more.
func AddScaledF16(x []uint16, y []float32, scale float32) {
	y = y[:len(x)]
	for i, bits := range x {
		x[i] = Float32ToFloat16(addScaled(Float16ToFloat32(bits), y[i], scale))
	}
}

// AddScaledBF16 is AddScaledF16 for bfloat16 numbers.
func AddScaledBF16(x []uint16, y []float32, scale float32) {
	y = y[:len(x)]
	for i, bits := range x {
		x[i] = Float32ToBFloat16(addScaled(BFloat16ToFloat32(bits), y[i], scale))
	}
}

func addScaled(x, y, scale float32) float32 { return float32(x*scale) + y }
