package kernels

import "github.com/go-posenc/posenc/generic"

// Rows says where the rows of one rotation lie: head h of token t is read from
// x[t*XTokenStride+h*XHeadStride] on, written from y[t*YTokenStride+h*YHeadStride]
// on, and takes its angles from cos[t*TableStride] and sin[t*TableStride]. Units
// are elements. Either y is x and the strides are the same, or the two share no
// memory.
type Rows struct {
	Pairs                      int // pairs of a row to rotate
	Partner                    int // HalfSplit: elements from the first of a pair to the second, in x and in y
	Tokens                     int
	YTokenStride, XTokenStride int
	Heads                      int
	YHeadStride, XHeadStride   int
	TableStride                int
}

// each calls row for the offsets of every row in y, x and the tables.
func (r *Rows) each(row func(y, x, table int)) {
	for h := range r.Heads {
		for t := range r.Tokens {
			row(t*r.YTokenStride+h*r.YHeadStride, t*r.XTokenStride+h*r.XHeadStride, t*r.TableStride)
		}
	}
}

func rotateHalfSplitF32Generic(y, x, cos, sin []float32, r *Rows) {
	r.each(func(i, j, table int) {
		generic.RotateHalfSplitF32(y[i:], y[i+r.Partner:], x[j:j+r.Pairs], x[j+r.Partner:], cos[table:], sin[table:])
	})
}

func rotateHalfSplitF16Generic(y, x []uint16, cos, sin []float32, r *Rows) {
	r.each(func(i, j, table int) {
		generic.RotateHalfSplitF16(y[i:], y[i+r.Partner:], x[j:j+r.Pairs], x[j+r.Partner:], cos[table:], sin[table:])
	})
}

func rotateHalfSplitBF16Generic(y, x []uint16, cos, sin []float32, r *Rows) {
	r.each(func(i, j, table int) {
		generic.RotateHalfSplitBF16(y[i:], y[i+r.Partner:], x[j:j+r.Pairs], x[j+r.Partner:], cos[table:], sin[table:])
	})
}

func rotateHalfSplitF32ToF16Generic(y []uint16, x, cos, sin []float32, r *Rows) {
	r.each(func(i, j, table int) {
		generic.RotateHalfSplitF32ToF16(y[i:], y[i+r.Partner:], x[j:j+r.Pairs], x[j+r.Partner:], cos[table:], sin[table:])
	})
}

func rotateHalfSplitF32ToBF16Generic(y []uint16, x, cos, sin []float32, r *Rows) {
	r.each(func(i, j, table int) {
		generic.RotateHalfSplitF32ToBF16(y[i:], y[i+r.Partner:], x[j:j+r.Pairs], x[j+r.Partner:], cos[table:], sin[table:])
	})
}

func rotateInterleavedF32Generic(y, x, cos, sin []float32, r *Rows) {
	r.each(func(i, j, table int) {
		generic.RotateInterleavedF32(y[i:], x[j:j+2*r.Pairs], cos[table:], sin[table:])
	})
}

func rotateInterleavedF16Generic(y, x []uint16, cos, sin []float32, r *Rows) {
	r.each(func(i, j, table int) {
		generic.RotateInterleavedF16(y[i:], x[j:j+2*r.Pairs], cos[table:], sin[table:])
	})
}

func rotateInterleavedBF16Generic(y, x []uint16, cos, sin []float32, r *Rows) {
	r.each(func(i, j, table int) {
		generic.RotateInterleavedBF16(y[i:], x[j:j+2*r.Pairs], cos[table:], sin[table:])
	})
}

func rotateInterleavedF32ToF16Generic(y []uint16, x, cos, sin []float32, r *Rows) {
	r.each(func(i, j, table int) {
		generic.RotateInterleavedF32ToF16(y[i:], x[j:j+2*r.Pairs], cos[table:], sin[table:])
	})
}

func rotateInterleavedF32ToBF16Generic(y []uint16, x, cos, sin []float32, r *Rows) {
	r.each(func(i, j, table int) {
		generic.RotateInterleavedF32ToBF16(y[i:], x[j:j+2*r.Pairs], cos[table:], sin[table:])
	})
}
