package kernels

import "github.com/go-posenc/posenc/generic"

// Rows says where the rows of one rotation lie: head h of token t starts at
// x[t*TokenStride+h*HeadStride] and takes its angles from cos[t*TableStride]
// and sin[t*TableStride]. Units are elements.
type Rows struct {
	Pairs       int // pairs of a row to rotate
	Partner     int // HalfSplit: elements from the first of a pair to the second
	Tokens      int
	TokenStride int
	Heads       int
	HeadStride  int
	TableStride int
}

// each calls row for the offsets of every row in x and in the tables.
func (r *Rows) each(row func(x, table int)) {
	for h := range r.Heads {
		for t := range r.Tokens {
			row(t*r.TokenStride+h*r.HeadStride, t*r.TableStride)
		}
	}
}

func rotateHalfSplitGeneric(x, cos, sin []float32, r *Rows) {
	r.each(func(i, table int) {
		generic.RotateHalfSplit(x[i:i+r.Pairs], x[i+r.Partner:], cos[table:], sin[table:])
	})
}

func rotateInterleavedGeneric(x, cos, sin []float32, r *Rows) {
	r.each(func(i, table int) {
		generic.RotateInterleaved(x[i:i+2*r.Pairs], cos[table:], sin[table:])
	})
}
