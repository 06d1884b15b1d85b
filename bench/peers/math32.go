package peers

import "github.com/chewxy/math32"

// math32Peers are of the float32 functions that Go programs commonly import.
func math32Peers() []Peer {
	const version = "github.com/chewxy/math32 v1.11.1"
	return []Peer{
		{
			Name: "math32", Version: version, Computes: "angle rounded to float32, cosine and sine in float32",
			Accuracy: "error of the angle, up to 2^-23 of it", Angle: Float32Angle, Tables: math32Tables,
		},
		{
			Name: "math32", Version: version, Computes: "cosine and sine of a float32 in float32",
			Accuracy: "not stated", Angles: math32Angles,
		},
	}
}

func math32Tables(cos, sin []float32, positions []int32, invFreq []float64) {
	for t, p := range positions {
		c, s := cos[t*len(invFreq):][:len(invFreq)], sin[t*len(invFreq):][:len(invFreq)]
		for i, w := range invFreq {
			angle := float32(p) * float32(w)
			c[i], s[i] = math32.Cos(angle), math32.Sin(angle)
		}
	}
}

func math32Angles(cos, sin, angles []float32) {
	for i, a := range angles {
		cos[i], sin[i] = math32.Cos(a), math32.Sin(a)
	}
}
