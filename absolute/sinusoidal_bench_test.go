package absolute_test

import (
	"fmt"
	"testing"

	"github.com/go-posenc/posenc/internal/measure"
	"github.com/go-posenc/posenc/internal/testkit"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/internal/dispatch"

	"github.com/go-posenc/posenc/kernels"
)

// BenchmarkSinusoidal reports rows of both orders as a share of the speed of cosines
// and sines alone, and rows made and added in place, and rows gathered from a table,
// as a share of the speed of adding a table of as many rows that is there already:
// 64 KB, 4 MB and 64 MB of embeddings.
func BenchmarkSinusoidal(b *testing.B) {
	const dim = 512
	rotary := testkit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit})
	for _, tokens := range []int{32, 2048, 32768} {
		positions := testkit.Sequence(tokens)
		x, table, cos, sin := testkit.Aligned(tokens*dim), testkit.Aligned(tokens*dim), testkit.Aligned(tokens*dim/2), testkit.Aligned(tokens*dim/2)
		cosSin := func() { rotary.CosSin(cos, sin, positions) }
		addTable := func() {
			for i := 0; i < len(x); i += kernels.MaxCallElements {
				end := min(i+kernels.MaxCallElements, len(x))
				kernels.AddScaledF32(dispatch.Implementation(), x[i:end], table[i:end], 0.5) // so that sums stay small
			}
		}
		run := func(operation, unit string, work, rival func()) {
			b.Run(fmt.Sprintf("tokens=%d/dim=%d/operation=%s", tokens, dim, operation), func(b *testing.B) {
				testkit.BenchmarkEach(b, func(b *testing.B) { measure.Against(b, unit, work, rival) })
			})
		}
		for order, s := range map[string]*absolute.Sinusoidal{"interleaved": testkit.Must(absolute.Vaswani(dim)), "halves": testkit.Must(absolute.Marian(dim))} {
			run("rows-"+order, "of-cos-sin", func() { absolute.SinusoidalRows(x, s, positions) }, cosSin)
			run("add-"+order, "of-table", func() { absolute.AddSinusoidal(x, s, positions, 0.5) }, addTable)
		}
		clear(table)
		run("gather-add", "of-table", func() { absolute.AddEmbeddings(x, dim, absolute.Embedding[float32]{Table: table, IDs: positions}) }, addTable)
	}
}
