package posenc

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/go-posenc/posenc/internal/yardstick"
	"github.com/go-posenc/posenc/kernels"
)

// aligned returns n float32 that start on a cache line, all 1.
func aligned(n int) []float32 {
	s := make([]float32, n+16)
	for uintptr(unsafe.Pointer(&s[0]))%64 != 0 {
		s = s[1:]
	}
	s = s[:n:n]
	for i := range s {
		s[i] = 1
	}
	return s
}

func sequence(n int) []int32 {
	positions := make([]int32, n)
	for i := range positions {
		positions[i] = int32(i)
	}
	return positions
}

func mustRotary(b testing.TB, cfg RotaryConfig) *Rotary {
	r, err := NewRotary(cfg)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// benchmarkEach runs a benchmark on every implementation of this machine.
func benchmarkEach(b *testing.B, run func(b *testing.B)) {
	defer func(saved kernels.Implementation) { implementation = saved }(implementation)
	for _, impl := range supported() {
		implementation = impl
		b.Run("impl="+impl.String(), run)
	}
}

// BenchmarkRotate measures whole calls: rows made on the fly, Q and K rotated.
func BenchmarkRotate(b *testing.B) {
	for _, shape := range []struct{ tokens, heads, keyHeads, dim int }{
		{1, 32, 8, 128},    // decode, Llama 3 8B
		{1, 12, 12, 64},    // a small encoder
		{512, 32, 8, 128},  // prefill
		{4096, 32, 8, 128}, // long prefill
	} {
		for _, layout := range []Layout{HalfSplit, Interleaved} {
			name := fmt.Sprintf("layout=%s/tokens=%d/heads=%d+%d/dim=%d/dtype=f32",
				layoutName(layout), shape.tokens, shape.heads, shape.keyHeads, shape.dim)
			b.Run(name, func(b *testing.B) {
				benchmarkEach(b, func(b *testing.B) {
					r := mustRotary(b, RotaryConfig{HeadDim: shape.dim, Layout: layout, Base: 500000})
					positions := sequence(shape.tokens)
					q := View[float32]{Data: aligned(shape.tokens * shape.heads * shape.dim), Heads: shape.heads}
					k := View[float32]{Data: aligned(shape.tokens * shape.keyHeads * shape.dim), Heads: shape.keyHeads}
					b.SetBytes(int64(4 * (len(q.Data) + len(k.Data))))
					b.ReportAllocs()
					for b.Loop() {
						Rotate(r, positions, q, k)
					}
				})
			})
		}
	}
}

func layoutName(l Layout) string {
	if l == HalfSplit {
		return "half"
	}
	return "interleaved"
}

// BenchmarkCosSin measures tables, for each kind of angle.
func BenchmarkCosSin(b *testing.B) {
	for _, rows := range []int{1, 4096, 131072} {
		for _, angles := range []Angles{Exact, Float32} {
			b.Run(fmt.Sprintf("angles=%s/rows=%d/pairs=64", []string{"exact", "float32"}[angles], rows), func(b *testing.B) {
				benchmarkEach(b, func(b *testing.B) {
					r := mustRotary(b, RotaryConfig{HeadDim: 128, Base: 500000, Angles: angles})
					positions := sequence(rows)
					cos, sin := aligned(rows*64), aligned(rows*64)
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

// samples of each of several functions, taken in turns.
const samples = 15

// against runs work and each of the rivals in turns and reports the median time
// of work, and that of the fastest rival as a multiple of it: above 1, work is
// faster.
func against(b *testing.B, unit string, work func(), rivals ...func()) {
	all := append([]func(){work}, rivals...)
	calls := make([]int, len(all))
	times := make([][]float64, len(all))
	for i, f := range all {
		calls[i] = callsFor(f)
	}
	for b.Loop() {
		for range samples {
			for i, f := range all {
				times[i] = append(times[i], float64(timeOf(f, calls[i]).Nanoseconds())/float64(calls[i]))
			}
		}
	}
	fastest := math.Inf(1)
	for _, t := range times[1:] {
		fastest = min(fastest, median(t))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(times[0]), "ns/call")
	b.ReportMetric(fastest/median(times[0]), unit)
}

func timeOf(f func(), calls int) time.Duration {
	start := time.Now()
	for range calls {
		f()
	}
	return time.Since(start)
}

// callsFor returns how many calls make a sample: they take 200 us and ten steps
// of the clock at least.
func callsFor(f func()) int {
	f() // what runs for the first time says little
	enough := max(200*time.Microsecond, 10*yardstick.Tick())
	calls := 1
	// Twice in a row, since whatever disturbs one makes it seem long enough.
	for min(timeOf(f, calls), timeOf(f, calls)) < enough {
		calls *= 2
	}
	return calls
}

// median returns the middle of the values, of two the mean.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// overBuffer turns bounds on a slice into rivals on one.
func overBuffer(bounds []func(x []float32), x []float32) []func() {
	var rivals []func()
	for _, bound := range bounds {
		rivals = append(rivals, func() { bound(x) })
	}
	return rivals
}

// BenchmarkRotateAgainstBound reports whole calls of Rotate as a share of the
// speed of scaling the same elements in place.
func BenchmarkRotateAgainstBound(b *testing.B) {
	for _, layout := range []Layout{HalfSplit, Interleaved} {
		for _, tokens := range []int{512, 16384} { // 8 MB and 256 MB
			b.Run(fmt.Sprintf("layout=%s/tokens=%d/heads=32/dim=128", layoutName(layout), tokens), func(b *testing.B) {
				benchmarkEach(b, func(b *testing.B) {
					r := mustRotary(b, RotaryConfig{HeadDim: 128, Layout: layout, Base: 500000})
					positions := sequence(tokens)
					x := aligned(tokens * 32 * 128)
					against(b, "of-scale",
						func() { Rotate(r, positions, View[float32]{Data: x, Heads: 32}) },
						overBuffer(scaleBounds(implementation), x)...)
				})
			})
		}
	}
}

// BenchmarkRotateKernel reports the bare kernel on a ready row, 32 heads of 128
// in L1, against scaling in place, against a plain loop, and, as what a whole
// call of Rotate costs more, the call with its row made on the fly.
func BenchmarkRotateKernel(b *testing.B) {
	for _, layout := range []Layout{HalfSplit, Interleaved} {
		kernel, loop := kernels.RotateHalfSplitF32, yardstick.RotateHalfSplit
		if layout == Interleaved {
			kernel, loop = kernels.RotateInterleavedF32, yardstick.RotateInterleaved
		}
		r := mustRotary(b, RotaryConfig{HeadDim: 128, Layout: layout, Base: 500000})
		position := []int32{4321}
		cos, sin := aligned(64), aligned(64)
		r.CosSin(cos, sin, position)
		ready := func(x []float32, heads int) func() {
			rows := &kernels.Rows{Pairs: 64, Partner: 64, Tokens: 1, Heads: heads, YHeadStride: 128, XHeadStride: 128}
			return func() { kernel(implementation, x, x, cos, sin, rows) }
		}
		b.Run("layout="+layoutName(layout), func(b *testing.B) {
			benchmarkEach(b, func(b *testing.B) {
				x := aligned(32 * 128)
				b.Run("against=scale", func(b *testing.B) {
					against(b, "of-scale", ready(x, 32), overBuffer(scaleBounds(implementation), x)...)
				})
				b.Run("against=loop", func(b *testing.B) {
					against(b, "x-loop", ready(x, 32), func() { loop(x, cos, sin, 32) })
				})
				b.Run("against=decode", func(b *testing.B) {
					q, k := aligned(32*128), aligned(8*128)
					bareQ, bareK := ready(q, 32), ready(k, 8)
					against(b, "x-call",
						func() { bareQ(); bareK() },
						func() {
							Rotate(r, position, View[float32]{Data: q, Heads: 32}, View[float32]{Data: k, Heads: 8})
						})
				})
			})
		})
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
			table := aligned(2*rows*64 + between)
			cos, sin := table[:rows*64], table[rows*64+between:]
			positions := sequence(rows)
			benchmarkEach(b, func(b *testing.B) {
				r := mustRotary(b, RotaryConfig{HeadDim: 128, Base: 500000})
				work := func() { r.CosSin(cos, sin, positions) }
				b.Run("against=store", func(b *testing.B) {
					against(b, "of-store", work, overBuffer(storeBounds(implementation), table)...)
				})
				b.Run("against=nontemporal", func(b *testing.B) {
					against(b, "of-nontemporal", work, overBuffer(nonTemporalBounds(implementation), table)...)
				})
				if rows > 4096 {
					return
				}
				b.Run("against=math.Sincos", func(b *testing.B) {
					invFreq := make([]float64, 64)
					for i := range invFreq {
						invFreq[i] = math.Pow(500000, -float64(i)/64)
					}
					against(b, "x-math.Sincos", work, func() {
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

// BenchmarkFusedAgainstSteps reports RotateFused against Normalize and Rotate one
// after another: above 1, fused is faster.
func BenchmarkFusedAgainstSteps(b *testing.B) {
	b.Run("dtype=f32", benchmarkFusedAgainstSteps[float32])
	b.Run("dtype=f16", benchmarkFusedAgainstSteps[Float16])
	b.Run("dtype=bf16", benchmarkFusedAgainstSteps[BFloat16])
}

func benchmarkFusedAgainstSteps[T Element](b *testing.B) {
	const heads, dim = 32, 128
	for _, tokens := range []int{1, 512, 4096} { // decode, prefill, long prefill
		b.Run(fmt.Sprintf("tokens=%d/heads=%d/dim=%d", tokens, heads, dim), func(b *testing.B) {
			benchmarkEach(b, func(b *testing.B) {
				r := mustRotary(b, RotaryConfig{HeadDim: dim, Base: 1000000})
				norm := mustNorm(b, aligned(dim), 1e-6, false)
				positions := sequence(tokens)
				data := make([]T, tokens*heads*dim)
				for i := range data {
					data[i] = narrow[T](1)
				}
				x := View[T]{Data: data, Heads: heads}
				against(b, "x-steps",
					func() { RotateFused(r, positions, FusedView[T]{View: x, Norm: norm}) },
					func() {
						Normalize(norm, tokens, x)
						Rotate(r, positions, x)
					})
			})
		})
	}
}
