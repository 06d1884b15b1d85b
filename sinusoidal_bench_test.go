package posenc

import (
	"fmt"
	"testing"

	"github.com/go-posenc/posenc/kernels"
)

// BenchmarkSinusoidal holds rows of both orders, and rows added to embeddings in
// place, against the cosines and sines alone and against the addition of a table
// that is there already.
func BenchmarkSinusoidal(b *testing.B) {
	const dim = 512
	vaswani, marian := mustSinusoidal(b)(SinusoidalVaswani(dim)), mustSinusoidal(b)(SinusoidalMarian(dim))
	rotary := mustRotary(b, RotaryConfig{HeadDim: dim})
	for _, tokens := range []int{1, 512, 8192} {
		positions := sequence(tokens)
		x, table, cos, sin := aligned(tokens*dim), aligned(tokens*dim), aligned(tokens*dim/2), aligned(tokens*dim/2)
		for name, call := range map[string]func() error{
			"operation=cos-sin":          func() error { return rotary.CosSin(cos, sin, positions) },
			"operation=rows-interleaved": func() error { return SinusoidalRows(vaswani, positions, x) },
			"operation=rows-halves":      func() error { return SinusoidalRows(marian, positions, x) },
			"operation=add-interleaved":  func() error { return AddSinusoidal(vaswani, positions, x, 0.5) },
			"operation=add-halves":       func() error { return AddSinusoidal(marian, positions, x, 0.5) },
			"operation=add-table": func() error {
				for t := range tokens {
					kernels.AddScaledF32(implementation, x[t*dim:][:dim], table[t*dim:][:dim], 0.5)
				}
				return nil
			},
			"operation=gather-add": func() error {
				return AddEmbeddings(x, dim, Embedding[float32]{Table: table, IDs: positions})
			},
		} {
			b.Run(fmt.Sprintf("tokens=%d/dim=%d/%s", tokens, dim, name), func(b *testing.B) {
				benchmarkEach(b, func(b *testing.B) {
					b.SetBytes(4 * int64(tokens) * dim)
					b.ReportAllocs()
					for i := 0; b.Loop(); i++ {
						if i%1024 == 0 { // so that sums stay small
							clear(x)
						}
						if err := call(); err != nil {
							b.Fatal(err)
						}
					}
				})
			})
		}
	}
}
