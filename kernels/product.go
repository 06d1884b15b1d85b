package kernels

import "github.com/go-posenc/posenc/generic"

// Matrices says where the rows of a product of matrices lie: Rows rows of y and of
// x, that many elements apart, and Columns vectors of Len elements, at least 1.
type Matrices struct {
	Len, Rows, Columns             int
	YStride, XStride, VectorStride int
}

func dotProductsF32Generic(y, x, vectors []float32, m *Matrices) {
	for r := range m.Rows {
		for c := range m.Columns {
			y[r*m.YStride+c] = generic.DotF32(x[r*m.XStride:][:m.Len], vectors[c*m.VectorStride:])
		}
	}
}

func addMultiplesF32Generic(y, x, vectors []float32, m *Matrices) {
	for r := range m.Rows {
		for c := range m.Columns {
			generic.AddMultipleF32(y[r*m.YStride:][:m.Len], vectors[c*m.VectorStride:], x[r*m.XStride+c])
		}
	}
}
