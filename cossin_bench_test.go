package posenc_test

import (
	"fmt"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/testkit"
)

// BenchmarkCosSin measures tables, for each kind of angle.
func BenchmarkCosSin(b *testing.B) {
	for _, rows := range []int{1, 4096, 131072} {
		for _, angles := range []frequency.Rounding{frequency.Exact, frequency.Float32} {
			b.Run(fmt.Sprintf("angles=%s/rows=%d/pairs=64", []string{"exact", "float32"}[angles], rows), func(b *testing.B) {
				testkit.BenchmarkEach(b, func(b *testing.B) {
					r := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 128, Layout: posenc.HalfSplit, Base: 500000, Rounding: angles})
					positions := testkit.Sequence(rows)
					cos, sin := testkit.Aligned(rows*64), testkit.Aligned(rows*64)
					b.SetBytes(int64(8 * len(cos)))
					b.ReportAllocs()
					for b.Loop() {
						r.CosSin(cos, sin, positions)
					}
				})
			})
		}
	}
}
