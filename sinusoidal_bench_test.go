package posenc

import (
	"fmt"
	"testing"

	"github.com/go-posenc/posenc/internal/yardstick"
	"github.com/go-posenc/posenc/kernels"
)

// BenchmarkSinusoidal reports rows of both orders as a share of the speed of cosines
// and sines alone, and rows made and added in place, and rows gathered from a table,
// as a share of the speed of adding a table of as many rows that is there already:
// 64 KB, 4 MB and 64 MB of embeddings.
func BenchmarkSinusoidal(b *testing.B) {
	const dim = 512
	orders := map[string]*Sinusoidal{"interleaved": mustSinusoidal(b)(SinusoidalVaswani(dim)), "halves": mustSinusoidal(b)(SinusoidalMarian(dim))}
	rotary := mustRotary(b, RotaryConfig{HeadDim: dim})
	for _, tokens := range []int{32, 2048, 32768} {
		positions := sequence(tokens)
		x, table, cos, sin := aligned(tokens*dim), aligned(tokens*dim), aligned(tokens*dim/2), aligned(tokens*dim/2)
		cosSin := func() { rotary.CosSin(cos, sin, positions) }
		addTable := func() {
			for i := 0; i < len(x); i += callElements {
				end := min(i+callElements, len(x))
				kernels.AddScaledF32(implementation, x[i:end], table[i:end], 0.5) // so that sums stay small
			}
		}
		run := func(operation, unit string, work, rival func()) {
			b.Run(fmt.Sprintf("tokens=%d/dim=%d/operation=%s", tokens, dim, operation), func(b *testing.B) {
				benchmarkEach(b, func(b *testing.B) { yardstick.Against(b, unit, work, rival) })
			})
		}
		for _, order := range []string{"interleaved", "halves"} {
			s := orders[order]
			run("rows-"+order, "of-cos-sin", func() { SinusoidalRows(s, positions, x) }, cosSin)
			run("add-"+order, "of-table", func() { AddSinusoidal(s, positions, x, 0.5) }, addTable)
		}
		clear(table)
		run("gather-add", "of-table", func() { AddEmbeddings(x, dim, Embedding[float32]{Table: table, IDs: positions}) }, addTable)
	}
}
