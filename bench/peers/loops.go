package peers

import (
	"math"

	"github.com/go-posenc/posenc"
)

// loops are what engines in plain Go do.
func loops() []Peer {
	return []Peer{
		{
			Name: "math.Sincos", Computes: "angle, cosine and sine in float64, rounded once",
			Accuracy: "0.500x ulp", Angle: Float64Angle, Tables: sincosTables,
		},
		{
			Name: "math.Cos, math.Sin of float32", Computes: "angle rounded to float32, cosine and sine each by a call",
			Accuracy: "error of the angle, up to 2^-23 of it", Angle: Float32Angle, Tables: sincosFloat32Tables,
		},
		{
			Name: "math.Sincos", Computes: "cosine and sine in float64 of a float32, rounded once",
			Accuracy: "0.500x ulp", Angles: sincosAngles,
		},
		{
			Name: "plain loop", Computes: "x1*c - x2*s, x2*c + x1*s",
			Accuracy: "as posenc, where the compiler does not fuse", Ready: byLayout(readyLoop),
		},
		{
			Name: "math.Pow, Cos, Sin per pair", Computes: "frequency, angle, cosine and sine of each pair once per token, then the plain loop",
			Accuracy: "error of the float32 angle", Operator: operators(powRows),
		},
		{
			Name: "recurrence per token", Computes: "angle of the next pair = angle * base^(-2/dim) in float32, as ggml does; a row of cosines and sines per token, then the plain loop",
			Accuracy: "error of the float32 angle, which grows with the pair", Operator: operators(RecurrenceRows),
		},
	}
}

func sincosTables(cos, sin []float32, positions []int32, invFreq []float64) {
	for t, p := range positions {
		c, s := cos[t*len(invFreq):][:len(invFreq)], sin[t*len(invFreq):][:len(invFreq)]
		for i, w := range invFreq {
			sine, cosine := math.Sincos(float64(p) * w)
			c[i], s[i] = float32(cosine), float32(sine)
		}
	}
}

func sincosFloat32Tables(cos, sin []float32, positions []int32, invFreq []float64) {
	for t, p := range positions {
		c, s := cos[t*len(invFreq):][:len(invFreq)], sin[t*len(invFreq):][:len(invFreq)]
		for i, w := range invFreq {
			angle := float64(float32(p) * float32(w))
			c[i], s[i] = float32(math.Cos(angle)), float32(math.Sin(angle))
		}
	}
}

func sincosAngles(cos, sin, angles []float32) {
	for i, a := range angles {
		s, c := math.Sincos(float64(a))
		cos[i], sin[i] = float32(c), float32(s)
	}
}

// readyLoop is for dim 128.
func readyLoop(layout posenc.Layout) func(x, cos, sin []float32, heads, dim int) {
	loop := rotateHalfSplit
	if layout == posenc.Interleaved {
		loop = rotateInterleaved
	}
	return func(x, cos, sin []float32, heads, _ int) { loop(x, cos, sin, heads) }
}

// rotateHalfSplit and rotateInterleaved rotate heads of 128 elements, one after
// another, by a ready row: what plain Go does at best. They are written with an eye
// on what the compiler makes of them: only with constants does it know that an index
// is in range. Slices of half a head do as well, where the code happens to lie well.
func rotateHalfSplit(x, cos, sin []float32, heads int) {
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

// rotateInterleaved is rotateHalfSplit for the other layout.
func rotateInterleaved(x, cos, sin []float32, heads int) {
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

// Row makes the cosines and sines of a position.
type Row = func(cos, sin []float32, position int32)

// operators are the plain loops by rows that are made token by token.
func operators(rows func(base float64, dim int) Row) map[posenc.Layout]func(x []float32, positions []int32, heads, dim int, base float64) {
	return byLayout(func(layout posenc.Layout) func(x []float32, positions []int32, heads, dim int, base float64) {
		rotate := readyLoop(layout)
		return func(x []float32, positions []int32, heads, dim int, base float64) {
			cos, sin, row := make([]float32, dim/2), make([]float32, dim/2), rows(base, dim)
			for t, p := range positions {
				row(cos, sin, p)
				rotate(x[t*heads*dim:][:heads*dim], cos, sin, heads, dim)
			}
		}
	})
}

func powRows(base float64, dim int) Row {
	return func(cos, sin []float32, position int32) {
		for i := range cos {
			frequency := float32(1 / math.Pow(base, float64(2*i)/float64(dim)))
			angle := float64(float32(position) * frequency)
			cos[i], sin[i] = float32(math.Cos(angle)), float32(math.Sin(angle))
		}
	}
}

// RecurrenceRows makes rows as ggml does.
func RecurrenceRows(base float64, dim int) Row {
	ratio := float32(math.Pow(base, -2/float64(dim)))
	return func(cos, sin []float32, position int32) {
		angle := float32(position)
		for i := range cos {
			s, c := math.Sincos(float64(angle))
			cos[i], sin[i] = float32(c), float32(s)
			angle *= ratio
		}
	}
}
