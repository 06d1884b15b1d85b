package heads

import (
	"math"

	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/kernels"
)

// HadamardRows transforms count blocks of n elements, one after another.
func HadamardRows(x []float32, n, count int) {
	l := kernels.Lines{Len: n, Stride: n}
	factor := float32(1 / math.Sqrt(float64(n)))
	most := kernels.MaxCallElements / n
	for first := 0; first < count; first += most {
		l.Count = min(most, count-first)
		kernels.HadamardF32(dispatch.Implementation(), x[first*n:], &l, factor)
	}
}
