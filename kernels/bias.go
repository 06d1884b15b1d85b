package kernels

import "github.com/go-posenc/posenc/generic"

// Tile says where the rows lie that biases are added to: row r is Len elements
// from y[r*Stride] on. Rows share no element.
type Tile struct {
	Len    int
	Rows   int
	Stride int
}

func addRowsF32Generic(y, x []float32, xFirst, xStride int, t *Tile) {
	for r := range t.Rows {
		generic.AddF32(y[r*t.Stride:][:t.Len], x[xFirst+r*xStride:])
	}
}

func addDistanceF32Generic(y []float32, slope float32, first, step int, t *Tile) {
	for r := range t.Rows {
		generic.AddDistanceF32(y[r*t.Stride:][:t.Len], slope, first+r*step)
	}
}

func addAbsoluteDistanceF32Generic(y []float32, slope float32, first, step int, t *Tile) {
	for r := range t.Rows {
		generic.AddAbsoluteDistanceF32(y[r*t.Stride:][:t.Len], slope, first+r*step)
	}
}
