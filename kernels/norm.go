package kernels

import "github.com/go-posenc/posenc/generic"

// Lines says where the rows lie that are normalized or scaled: row i is Len
// elements from x[i*Stride] on. Rows share no element.
type Lines struct {
	Len    int
	Count  int
	Stride int
}

func rmsNormF32Generic(x, weight []float32, l *Lines, epsilon float32) {
	for i := range l.Count {
		generic.RMSNormF32(x[i*l.Stride:][:l.Len], weight, epsilon)
	}
}

func rmsNormF16Generic(x []uint16, weight []float32, l *Lines, epsilon float32) {
	for i := range l.Count {
		generic.RMSNormF16(x[i*l.Stride:][:l.Len], weight, epsilon)
	}
}

func rmsNormBF16Generic(x []uint16, weight []float32, l *Lines, epsilon float32) {
	for i := range l.Count {
		generic.RMSNormBF16(x[i*l.Stride:][:l.Len], weight, epsilon)
	}
}

func scaleRowsF32Generic(x []float32, factor float32, l *Lines) {
	for i := range l.Count {
		generic.ScaleF32(x[i*l.Stride:][:l.Len], factor)
	}
}

func scaleRowsF16Generic(x []uint16, factor float32, l *Lines) {
	for i := range l.Count {
		generic.ScaleF16(x[i*l.Stride:][:l.Len], factor)
	}
}

func scaleRowsBF16Generic(x []uint16, factor float32, l *Lines) {
	for i := range l.Count {
		generic.ScaleBF16(x[i*l.Stride:][:l.Len], factor)
	}
}
