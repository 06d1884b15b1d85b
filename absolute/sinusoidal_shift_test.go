package absolute_test

import (
	"math"
	"testing"

	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// shiftBound is that of Shift. A row is within 2^-25 of the real numbers and so
// are the cosines and sines of the shift: through a sum of two products that
// makes at most sqrt(2)*2^-25 each. Roundings add 2^-25 for each product and
// 2^-24 for the sum, which may be above 1. Together below 2^-22.2.
const shiftBound = 0x1p-22

// Shifted rows are near the rows at the new positions, and so is the product
// with the matrix, which is a rotation in blocks.
func TestSinusoidalShift(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(81)
		for round := range testkit.Rounds(60) {
			cfg := absolute.SinusoidalConfig{InvFreq: make([]float64, 1+r.IntN(150)), Order: absolute.SinusoidalOrder(r.IntN(3)), Axes: 1 + r.IntN(3)}
			for i := range cfg.InvFreq {
				cfg.InvFreq[i] = math.Exp2(-20 * r.Float64())
			}
			cfg.Dim = 2*cfg.Axes*len(cfg.InvFreq) + testkit.OneOf(r, []int{0, 1, 5})
			if round%2 == 0 {
				cfg.Padding = new(int32)
				*cfg.Padding = math.MaxInt32 // zero in rows and in what they become
			}
			s := testkit.Must(absolute.NewSinusoidal(cfg))
			const tokens = 5
			from, deltas, to := make([]int32, tokens*cfg.Axes), make([]int32, tokens*cfg.Axes), make([]int32, tokens*cfg.Axes)
			for i := range from {
				from[i], deltas[i] = int32(r.IntN(1<<30)-1<<29)>>r.IntN(30), int32(r.IntN(1<<30)-1<<29)>>r.IntN(30)
				to[i] = from[i] + deltas[i]
			}
			if cfg.Padding != nil {
				from[0], deltas[0], to[0] = math.MaxInt32, 0, math.MaxInt32
			}
			shifted, want := make([]float32, tokens*cfg.Dim), make([]float32, tokens*cfg.Dim)
			testkit.NoError(t, absolute.SinusoidalRows(shifted, s, from))
			row := append([]float32(nil), shifted[(tokens-1)*cfg.Dim:]...)
			testkit.NoError(t, s.Shift(shifted, deltas))
			testkit.NoError(t, absolute.SinusoidalRows(want, s, to))
			for i := range want { // want is within 2^-25 itself, which the bound has to spare
				if math.Abs(float64(shifted[i])-float64(want[i])) > shiftBound {
					t.Fatalf("element %d of %+v from %v by %v: got %v, want %v", i, cfg, from, deltas, shifted[i], want[i])
				}
			}
			last := make([]int32, cfg.Axes)
			for a := range last {
				last[a] = deltas[a*tokens+tokens-1]
			}
			checkShiftMatrix(t, s, cfg, last, row, want[(tokens-1)*cfg.Dim:])
		}
	})
}

func checkShiftMatrix(t *testing.T, s *absolute.Sinusoidal, cfg absolute.SinusoidalConfig, deltas []int32, row, want []float32) {
	t.Helper()
	matrix := make([]float32, cfg.Dim*cfg.Dim)
	testkit.NoError(t, s.ShiftMatrix(matrix, deltas))
	for i, w := range want {
		sum, squares := 0.0, 0.0
		for j, m := range matrix[i*cfg.Dim:][:cfg.Dim] {
			sum += float64(m) * float64(row[j])
			squares += float64(m) * float64(m)
		}
		if math.Abs(sum-float64(w)) > shiftBound {
			t.Fatalf("row %d of the matrix for %v gives %v, want %v", i, deltas, sum, w)
		}
		rotated := i < 2*cfg.Axes*len(cfg.InvFreq)
		// cos²+sin² of two numbers that are each off by 2^-25 at most
		if rotated && math.Abs(squares-1) > 0x1p-23 || !rotated && squares != 0 {
			t.Fatalf("row %d of the matrix has squares of sum %v", i, squares)
		}
	}
}
