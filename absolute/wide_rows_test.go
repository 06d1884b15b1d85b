package absolute_test

import (
	"math"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// Rows of more frequencies than one call of a kernel takes, up to as many as there may
// be, are those of the formula.
func TestWideSinusoidalRows(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(73)
		for _, shape := range []struct{ pairs, axes int }{{kernels.Width*kernels.MaxBlocks + 1, 2}, {1 << 13, 4}, {1 << 15, 1}} {
			for order := range absolute.CosThenSin + 1 {
				if shape.pairs > 1000 && testing.Short() && order > 0 {
					continue
				}
				const tokens = 5
				cfg := absolute.SinusoidalConfig{Dim: 2 * shape.axes * shape.pairs, InvFreq: make([]float64, shape.pairs), Order: order, Axes: shape.axes}
				for i := range cfg.InvFreq {
					cfg.InvFreq[i] = math.Exp2(-20 * r.Float64())
				}
				e := encoding{Sinusoidal: testkit.Must(absolute.NewSinusoidal(cfg)), cfg: cfg}
				positions := make([]int32, shape.axes*tokens)
				testkit.CountFrom(positions, int32(r.IntN(1000)), 1)
				var want []float32
				for token := range tokens {
					want = append(want, plainRow(cfg, positionOf(&e, positions, token))...)
				}
				given := testkit.RandomElements[float32](r, len(want))
				rows, added, halves := make([]float32, len(want)), slices.Clone(given), make([]posenc.BFloat16, len(want))
				testkit.NoError(t, absolute.SinusoidalRows(rows, e.Sinusoidal, positions), absolute.AddSinusoidal(added, e.Sinusoidal, positions, 2), absolute.SinusoidalRows(halves, e.Sinusoidal, positions))
				for i, w := range want {
					if !testkit.Same(rows[i], w) || !testkit.Same(added[i], float32(given[i]*2)+w) || halves[i] != testkit.Narrow[posenc.BFloat16](w) {
						t.Fatalf("%d pairs, order %d: element %d is %v, %v added to %v, %v in bfloat16, want %v", shape.pairs, order, i, rows[i], added[i], given[i], testkit.Widen(halves[i]), w)
					}
				}
				// Rows at 0 become those at the positions: 0 and 1 times a cosine or a sine.
				testkit.NoError(t, absolute.SinusoidalRows(rows, e.Sinusoidal, make([]int32, len(positions))), e.Shift(rows, positions))
				for i, w := range want {
					if rows[i] != w {
						t.Fatalf("%d pairs, order %d: element %d of a row at 0 that is shifted is %v, want %v", shape.pairs, order, i, rows[i], w)
					}
				}
			}
		}
	})
}

// Tables whose rows are as long as a call of a kernel may be, and longer.
func TestWideEmbeddings(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		testWideEmbeddings[float32, float32](t)
		testWideEmbeddings[posenc.Float16, float32](t)
		testWideEmbeddings[float32, posenc.BFloat16](t)
	})
}

func testWideEmbeddings[T, W posenc.Element](t *testing.T) {
	t.Helper()
	r := testkit.NewRand(91)
	for _, dim := range []int{kernels.MaxCallElements / 2, kernels.MaxCallElements + 5} {
		const tokens, rows = 3, 2
		e := absolute.Embedding[W]{Table: testkit.RandomElements[W](r, rows*dim), IDs: []int32{0, -1, 0}, Offset: 1}
		x := testkit.RandomElements[T](r, tokens*dim)
		want := slices.Clone(x)
		addEmbeddingsPlain(want, dim, []absolute.Embedding[W]{e, e})
		testkit.NoError(t, absolute.AddEmbeddings(x, dim, e, e))
		for i := range x {
			if !testkit.SameElement(x[i], want[i]) {
				t.Fatalf("dim %d: element %d is %v, want %v", dim, i, testkit.Widen(x[i]), testkit.Widen(want[i]))
			}
		}
	}
}
