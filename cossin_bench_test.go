package posenc_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/internal/yardstick"
)

// BenchmarkCosSin measures tables, for each kind of angle.
func BenchmarkCosSin(b *testing.B) {
	for _, rows := range []int{1, 4096, 131072} {
		for _, angles := range []posenc.AngleRounding{posenc.ExactAngles, posenc.Float32Angles} {
			b.Run(fmt.Sprintf("angles=%s/rows=%d/pairs=64", []string{"exact", "float32"}[angles], rows), func(b *testing.B) {
				testkit.BenchmarkEach(b, func(b *testing.B) {
					r := testkit.MustRotary(b, posenc.RotaryConfig{HeadDim: 128, Base: 500000, Angles: angles})
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

// BenchmarkCosSinAgainstBound reports exact tables as a share of the speed of
// storing them, and against math.Sincos.
func BenchmarkCosSinAgainstBound(b *testing.B) {
	for _, rows := range []int{4096, 1 << 20} { // 2 MB and 512 MB
		b.Run(fmt.Sprintf("rows=%d/pairs=64", rows), func(b *testing.B) {
			// Two streams of stores a power of two apart meet in the same banks
			// of memory: some elements between them, as between allocations.
			const between = 1024
			table := testkit.Aligned(2*rows*64 + between)
			cos, sin := table[:rows*64], table[rows*64+between:]
			positions := testkit.Sequence(rows)
			testkit.BenchmarkEach(b, func(b *testing.B) {
				r := testkit.MustRotary(b, posenc.RotaryConfig{HeadDim: 128, Base: 500000})
				work := func() { r.CosSin(cos, sin, positions) }
				b.Run("against=store", func(b *testing.B) {
					testkit.Against(b, "of-store", work, testkit.OverBuffer(yardstick.StoreBounds(dispatch.Implementation()), table)...)
				})
				b.Run("against=nontemporal", func(b *testing.B) {
					testkit.Against(b, "of-nontemporal", work, testkit.OverBuffer(yardstick.NonTemporalBounds(dispatch.Implementation()), table)...)
				})
				if rows > 4096 {
					return
				}
				b.Run("against=math.Sincos", func(b *testing.B) {
					invFreq := make([]float64, 64)
					for i := range invFreq {
						invFreq[i] = math.Pow(500000, -float64(i)/64)
					}
					testkit.Against(b, "x-math.Sincos", work, func() {
						for t, p := range positions {
							for i, w := range invFreq {
								s, c := math.Sincos(float64(p) * w)
								cos[t*64+i], sin[t*64+i] = float32(c), float32(s)
							}
						}
					})
				})
			})
		})
	}
}
