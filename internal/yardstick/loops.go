// Package yardstick is what the benchmarks of this module and of bench share:
// plain loops to compare with, and the step of the clock.
package yardstick

// RotateHalfSplit and RotateInterleaved rotate heads of 128 elements, one after
// another, by a ready row: what plain Go does at best. They are written with an eye
// on what the compiler makes of them: only with constants does it know that an index
// is in range. Slices of half a head do as well, where the code happens to lie well.
func RotateHalfSplit(x, cos, sin []float32, heads int) {
	c, s := (*[64]float32)(cos), (*[64]float32)(sin)
	for h := range heads {
		head := (*[128]float32)(x[h*128:])
		for i := range c {
			x1, x2 := head[i], head[i+64]
			head[i] = x1*c[i] - x2*s[i]
			head[i+64] = x2*c[i] + x1*s[i]
		}
	}
}

// RotateInterleaved is RotateHalfSplit for the other layout.
func RotateInterleaved(x, cos, sin []float32, heads int) {
	c, s := (*[64]float32)(cos), (*[64]float32)(sin)
	for h := range heads {
		head := (*[128]float32)(x[h*128:])
		for i := range c {
			x1, x2 := head[2*i], head[2*i+1]
			head[2*i] = x1*c[i] - x2*s[i]
			head[2*i+1] = x2*c[i] + x1*s[i]
		}
	}
}
