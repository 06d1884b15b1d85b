package kernels

import "github.com/go-posenc/posenc/generic"

// Tile says where the rows lie that biases are added to: row r is Len elements,
// at least 1, from y[r*Stride] on. Rows share no element.
type Tile struct {
	Len    int
	Rows   int
	Stride int
}

// within returns impl where float32 counts the distances of the tile, as the
// kernels do, and else Generic.
func (t *Tile) within(impl Implementation, first, step int) Implementation {
	const end = 1 << 24
	last := first + (t.Rows-1)*step
	if t.Rows > 0 && (min(first, last) <= -end || max(first, last) >= end-t.Len) {
		return Generic
	}
	return impl
}

// ClampedEnds is the number of equal elements that AddClampedF32 finds at the start
// of x, and at its end.
const ClampedEnds = 16

func addRowsF32Generic(y, x []float32, xFirst, xStride int, ids []int32, t *Tile) {
	for r := range t.Rows {
		row := r
		if ids != nil {
			row = int(ids[r])
		}
		generic.AddF32(y[r*t.Stride:][:t.Len], x[xFirst+row*xStride:])
	}
}

func addClampedF32Generic(y, x []float32, first, step int, t *Tile) {
	for r := range t.Rows {
		generic.AddClampedF32(y[r*t.Stride:][:t.Len], x, first+r*step)
	}
}

func addDistanceF32Generic(y []float32, slope float32, first, step int, t *Tile) {
	for r := range t.Rows {
		generic.AddDistanceF32(y[r*t.Stride:][:t.Len], slope, first+r*step)
	}
}

func subAbsoluteDistanceF32Generic(y []float32, slope float32, first, step int, t *Tile) {
	for r := range t.Rows {
		generic.SubAbsoluteDistanceF32(y[r*t.Stride:][:t.Len], slope, first+r*step)
	}
}
