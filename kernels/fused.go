package kernels

import "github.com/go-posenc/posenc/generic"

// Fusion says where the rows lie that are normalized and rotated, and which slice
// of each is rotated: the 2*Pairs elements from number First on. All take the same
// angles.
type Fusion struct {
	Lines
	First int
	Pairs int
}

func rmsNormRotateHalfSplitF32Generic(x, weight, cos, sin []float32, f *Fusion, epsilon float32) {
	rmsNormF32Generic(x, weight, &f.Lines, epsilon)
	for i := range f.Count {
		row := x[i*f.Stride+f.First:][:2*f.Pairs]
		first, second := row[:f.Pairs], row[f.Pairs:2*f.Pairs]
		generic.RotateHalfSplitF32(first, second, first, second, cos, sin)
	}
}

func rmsNormRotateInterleavedF32Generic(x, weight, cos, sin []float32, f *Fusion, epsilon float32) {
	rmsNormF32Generic(x, weight, &f.Lines, epsilon)
	for i := range f.Count {
		row := x[i*f.Stride+f.First:][:2*f.Pairs]
		generic.RotateInterleavedF32(row, row, cos, sin)
	}
}
