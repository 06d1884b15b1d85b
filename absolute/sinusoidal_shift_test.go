package absolute_test

import (
	"math"
	"slices"
	"testing"

	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/internal/testkit"
)

// shiftBound is that of Shift. A row is within 2^-25 of the real numbers and so
// are the cosines and sines of the shift: through a sum of two products that
// makes at most sqrt(2)*2^-25 each. Roundings add 2^-25 for each product and
// 2^-24 for the sum, which may be above 1. Together below 2^-22.2.
const shiftBound = 0x1p-22

// A shifted row is near the row at the new position, and so is its product with the matrix.
func TestSinusoidalShift(t *testing.T) {
	r, padding := testkit.NewRand(81), int32(math.MaxInt32)
	for range testkit.Rounds(300) {
		cfg := absolute.SinusoidalConfig{InvFreq: make([]float64, 1+r.IntN(150)), Order: absolute.SinusoidalOrder(r.IntN(3)), Axes: 1 + r.IntN(3)}
		for i := range cfg.InvFreq {
			cfg.InvFreq[i] = math.Exp2(-20 * r.Float64())
		}
		cfg.Dim = 2*cfg.Axes*len(cfg.InvFreq) + testkit.OneOf(r, []int{0, 1, 5})
		from, deltas, to := make([]int32, cfg.Axes), make([]int32, cfg.Axes), make([]int32, cfg.Axes)
		for i := range from {
			from[i], deltas[i] = int32(r.IntN(1<<30)-1<<29)>>r.IntN(30), int32(r.IntN(1<<30)-1<<29)>>r.IntN(30)
			to[i] = from[i] + deltas[i]
		}
		if cfg.Padding = &padding; r.IntN(8) == 0 {
			from[0], deltas[0], to[0] = padding, 0, padding // zeros stay zeros
		}
		s := testkit.Must(absolute.NewSinusoidal(cfg))
		row, want, matrix := make([]float32, cfg.Dim), make([]float32, cfg.Dim), make([]float32, cfg.Dim*cfg.Dim)
		testkit.NoError(t, absolute.SinusoidalRows(row, s, from), absolute.SinusoidalRows(want, s, to), s.ShiftMatrix(matrix, deltas))
		shifted := slices.Clone(row)
		testkit.NoError(t, s.Shift(shifted, deltas))
		for i, w := range want { // want is within 2^-25 itself, which the bound has to spare
			product := 0.0
			for j, m := range matrix[i*cfg.Dim:][:cfg.Dim] {
				product += float64(m) * float64(row[j])
			}
			if math.Abs(float64(shifted[i])-float64(w)) > shiftBound || math.Abs(product-float64(w)) > shiftBound {
				t.Fatalf("element %d of %+v from %v by %v: shifted %v, by the matrix %v, want %v", i, cfg, from, deltas, shifted[i], product, w)
			}
		}
	}
}
