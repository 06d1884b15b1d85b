package posenc_test

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/internal/test/measure"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
	"github.com/go-posenc/posenc/relative"
)

// measured returns a Rotary of Llama 3's base.
func measured(dim int, layout posenc.Layout) *posenc.Rotary {
	return kit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: layout, Base: 500000})
}

// ones returns heads of ones that start on a cache line.
func ones[T posenc.Element](tokens, heads, dim int) posenc.View[T] {
	n := tokens * heads * dim
	data := unsafe.Slice((*T)(unsafe.Pointer(&kit.Aligned(n)[0])), n) // room for float32
	for i := range data {
		data[i] = kit.Narrow[T](1)
	}
	return posenc.View[T]{Data: data, Heads: heads}
}

// runEach runs a benchmark of a name on every implementation.
func runEach(b *testing.B, name string, run func(b *testing.B)) {
	b.Run(name, func(b *testing.B) { kit.BenchmarkEach(b, run) })
}

// BenchmarkRotate measures whole calls: rows made on the fly, Q and K rotated.
func BenchmarkRotate(b *testing.B) {
	for _, shape := range []struct{ tokens, heads, keyHeads, dim int }{
		{1, 32, 8, 128},    // decode, Llama 3 8B
		{1, 12, 12, 64},    // a small encoder
		{512, 32, 8, 128},  // prefill
		{4096, 32, 8, 128}, // long prefill
	} {
		for _, layout := range kit.Layouts {
			runEach(b, fmt.Sprintf("layout=%s/tokens=%d/heads=%d+%d/dim=%d/dtype=f32", layout, shape.tokens, shape.heads, shape.keyHeads, shape.dim), func(b *testing.B) {
				r, positions := measured(shape.dim, layout), kit.Sequence(shape.tokens)
				q, k := ones[float32](shape.tokens, shape.heads, shape.dim), ones[float32](shape.tokens, shape.keyHeads, shape.dim)
				b.SetBytes(int64(4 * (len(q.Data) + len(k.Data))))
				b.ReportAllocs()
				for b.Loop() {
					posenc.Rotate(r.At(positions), q, k)
				}
			})
		}
	}
}

// BenchmarkOneToken measures calls for one token, Llama 3 8B, whose checks are a large share of them: heads side
// by side, packed QKV, and heads apart; in place, to another view, to a slot of a cache, and to a quantized cache.
func BenchmarkOneToken(b *testing.B) {
	const heads, keyHeads, dim, slots = 32, 8, 128, 64
	r, position := measured(dim, posenc.HalfSplit), []int32{4321}
	rows, slot := kit.Must(r.Rows(position)), []int32{5}
	packed := []V{ones[float32](1, heads, dim), ones[float32](1, keyHeads, dim)}
	qkv := ones[float32](1, heads+2*keyHeads, dim).Data
	mixed := []V{
		{Data: qkv, Heads: heads, TokenStride: len(qkv)},
		{Data: qkv[heads*dim:], Heads: keyHeads, TokenStride: len(qkv)},
	}
	apart := []V{packed[0], packed[1]}
	for i := range apart {
		apart[i].TokenStride, apart[i].HeadStride = dim, dim
	}
	halves := []posenc.View[posenc.Float16]{ones[posenc.Float16](1, heads, dim), ones[posenc.Float16](1, keyHeads, dim)}
	cache := ones[float32](slots, keyHeads, dim)
	cache.TokenStride, cache.HeadStride = dim, slots*dim
	keys := posenc.View[float32]{Data: ones[float32](1, keyHeads, dim).Data, Heads: keyHeads}
	blocks := posenc.QuantizedView[posenc.Q8_0]{View: posenc.View[posenc.Q8_0]{
		Data: make([]posenc.Q8_0, slots*keyHeads*dim/32), Heads: keyHeads, TokenStride: keyHeads * dim / 32,
	}}
	for _, c := range []struct {
		name string
		run  func() error
	}{
		{"Rotate/packed/rows", func() error { return posenc.Rotate(rows.All(), packed...) }},
		{"Rotate/packed/at", func() error { return posenc.Rotate(r.At(position), packed...) }},
		{"Rotate/packed/rows/f16", func() error { return posenc.Rotate(rows.All(), halves...) }},
		{"Rotate/qkv/rows", func() error { return posenc.Rotate(rows.All(), mixed...) }},
		{"Rotate/qkv/at", func() error { return posenc.Rotate(r.At(position), mixed...) }},
		{"Rotate/apart/rows", func() error { return posenc.Rotate(rows.All(), apart...) }},
		{"RotateInto/packed", func() error { return posenc.RotateInto(rows.All(), keys, nil, packed[1]) }},
		{"RotateInto/slots", func() error { return posenc.RotateInto(rows.All(), cache, slot, packed[1]) }},
		{"RotateIntoQuantized", func() error {
			return posenc.RotateIntoQuantized(rows.All(), slot, posenc.IntoQuantized[posenc.Q8_0, float32]{Dst: blocks, Src: packed[1]})
		}},
	} {
		runEach(b, c.name, func(b *testing.B) {
			kit.NoError(b, c.run())
			b.ReportAllocs()
			for b.Loop() {
				c.run()
			}
		})
	}
}

// BenchmarkRotateByAxes reports M-RoPE over an image of 16 x 32 patches as a share of
// the speed of plain rotation: Qwen2-VL 7B.
func BenchmarkRotateByAxes(b *testing.B) {
	const tokens, width = 512, 32
	image := make([]int32, 3*tokens)
	for t := range tokens {
		image[t], image[tokens+t], image[2*tokens+t] = 100, int32(100+t/width), int32(100+t%width)
	}
	for name, axes := range map[string][]uint8{
		"sections":    kit.Must(frequency.Sections(16, 24, 24)),
		"interleaved": kit.Must(frequency.InterleavedSections(frequency.ImageSections{Time: 24, Height: 20, Width: 20})),
	} {
		runEach(b, "map="+name, func(b *testing.B) {
			r := kit.MustRotary(posenc.RotaryConfig{HeadDim: 128, Layout: posenc.HalfSplit, Base: 1e6, Axes: axes})
			plain, positions := measured(128, posenc.HalfSplit), kit.Sequence(tokens)
			q, k := ones[float32](tokens, 28, 128), ones[float32](tokens, 4, 128)
			measure.Against(b, "of-plain", func() { posenc.Rotate(r.AtAxes(image), q, k) }, func() { posenc.Rotate(plain.At(positions), q, k) })
		})
	}
}

// BenchmarkRotateParts reports what one token of Q and K takes in ns, Llama 3 8B: the kernels
// alone (kernels) and the cosines and sines alone (row), the check of the views (check), and
// whole calls by Rows.All and by Rotary.At.
func BenchmarkRotateParts(b *testing.B) {
	for _, layout := range kit.Layouts {
		for _, tokens := range []int{1, 64, 512} {
			runEach(b, fmt.Sprintf("layout=%s/tokens=%d", layout, tokens), func(b *testing.B) { benchmarkRotateParts(b, layout, tokens) })
		}
	}
}

func benchmarkRotateParts(b *testing.B, layout posenc.Layout, tokens int) {
	const dim, pairs = 128, 64
	r, positions := measured(dim, layout), make([]int32, tokens)
	for t := range positions {
		positions[t] = 4321 + int32(t) // the sines of position 0 are a case of their own
	}
	views := []posenc.View[float32]{ones[float32](tokens, 32, dim), ones[float32](tokens, 8, dim)}
	rows := kit.Must(r.Rows(positions))
	cos, sin := kit.Aligned(tokens*pairs), kit.Aligned(tokens*pairs)
	grids := []view.View[float32]{view.View[float32](views[0]), view.View[float32](views[1])}
	rotateRows := func() error {
		for _, v := range views {
			k := kernels.Rotation{
				Pairs: pairs, Partner: pairs, Heads: v.Heads, YHeadStride: dim, XHeadStride: dim,
				YTokenStride: v.Heads * dim, XTokenStride: v.Heads * dim, TableStride: pairs,
			}
			if !dispatch.Implementation().Resident(4 * tokens * 40 * dim) {
				k.Ahead = kernels.RotateAhead
			}
			most := kernels.MaxCallElements / (v.Heads * dim)
			for t := 0; t < tokens; t += most {
				k.Tokens = min(most, tokens-t)
				x := v.Data[t*v.Heads*dim:]
				if layout == posenc.HalfSplit { // called by name: k stays on the stack
					kernels.RotateHalfSplitF32(dispatch.Implementation(), x, x, cos[t*pairs:], sin[t*pairs:], &k)
				} else {
					kernels.RotateInterleavedF32(dispatch.Implementation(), x, x, cos[t*pairs:], sin[t*pairs:], &k)
				}
			}
		}
		return nil
	}
	parts := []measure.Case{
		{Name: "row", Run: func() error { return r.CosSin(cos, sin, positions) }},
		{Name: "kernels", Run: rotateRows},
		{Name: "check", Run: func() error { return view.Check("posenc.Rotate", grids, tokens, dim) }},
		{Name: "Rows.All", Run: func() error { return posenc.Rotate(rows.All(), views...) }},
		{Name: "Rotary.At", Run: func() error { return posenc.Rotate(r.At(positions), views...) }},
	}
	samples := map[string][]float64{}
	for b.Loop() {
		for i, ns := range kit.Must(measure.Medians(parts, 15)) {
			samples[parts[i].Name] = append(samples[parts[i].Name], ns/float64(tokens))
		}
	}
	b.ReportMetric(0, "ns/op")
	for name, ns := range samples {
		b.ReportMetric(measure.Median(ns), name)
	}
}

// BenchmarkRotateByRows reports decoding with rows that all layers share against
// decoding with rows made on the fly.
func BenchmarkRotateByRows(b *testing.B) {
	kit.BenchmarkEach(b, func(b *testing.B) {
		r, position := measured(128, posenc.HalfSplit), []int32{4321}
		rows := kit.Must(r.Rows(position))
		q, k := ones[float32](1, 32, 128), ones[float32](1, 8, 128)
		measure.Against(b, "x-on-the-fly", func() { posenc.Rotate(rows.All(), q, k) }, func() { posenc.Rotate(r.At(position), q, k) })
	})
}

// BenchmarkFusedAgainstSteps reports RotateFused against Normalize and Rotate one
// after another: above 1, fused is faster.
func BenchmarkFusedAgainstSteps(b *testing.B) {
	b.Run("dtype=f32", benchmarkFusedAgainstSteps[float32])
	b.Run("dtype=f16", benchmarkFusedAgainstSteps[posenc.Float16])
	b.Run("dtype=bf16", benchmarkFusedAgainstSteps[posenc.BFloat16])
}

func benchmarkFusedAgainstSteps[T posenc.Element](b *testing.B) {
	const heads, dim = 32, 128
	for _, tokens := range []int{1, 512, 4096} { // decode, prefill, long prefill
		runEach(b, fmt.Sprintf("tokens=%d/heads=%d/dim=%d", tokens, heads, dim), func(b *testing.B) {
			r, positions := measured(dim, posenc.HalfSplit), kit.Sequence(tokens)
			norm, x := mustNorm(kit.Aligned(dim), 1e-6, false), ones[T](tokens, heads, dim)
			measure.Against(b, "x-steps",
				func() { posenc.RotateFused(r.At(positions), posenc.FusedView[T]{View: x, Norm: norm}) },
				func() {
					posenc.Normalize(norm, tokens, x)
					posenc.Rotate(r.At(positions), x)
				})
		})
	}
}

// BenchmarkRotateInto reports rotating into a cache against rotating and then
// copying, 8 MB and more of keys.
func BenchmarkRotateInto(b *testing.B) {
	for _, tokens := range []int{2048, 16384} {
		runEach(b, fmt.Sprintf("tokens=%d/heads=8/dim=128", tokens), func(b *testing.B) {
			r, positions := measured(128, posenc.HalfSplit), kit.Sequence(tokens)
			key, dst, half := ones[float32](tokens, 8, 128), ones[float32](tokens, 8, 128), ones[posenc.Float16](tokens, 8, 128)
			b.Run("to=f32", func(b *testing.B) {
				measure.Against(b, "x-rotate-and-copy",
					func() { posenc.RotateInto(r.At(positions), dst, nil, key) },
					func() { posenc.Rotate(r.At(positions), key); copy(dst.Data, key.Data) })
			})
			b.Run("to=f16", func(b *testing.B) {
				y, x := (*view.View[posenc.Float16])(&half).Operand(kernels.KindFloat16, 128), (*view.View[float32])(&key).Operand(kernels.KindFloat32, 128)
				measure.Against(b, "x-rotate-and-convert",
					func() { posenc.RotateInto(r.At(positions), half, nil, key) },
					func() { posenc.Rotate(r.At(positions), key); view.Convert(&y, &x, 0, 0, len(key.Data)) })
			})
		})
	}
}

// BenchmarkShift reports shifting cached keys by one delta as a share of the
// speed of rotating them.
func BenchmarkShift(b *testing.B) {
	kit.BenchmarkEach(b, func(b *testing.B) {
		r, positions, key := measured(128, posenc.HalfSplit), kit.Sequence(2048), ones[float32](2048, 8, 128)
		deltas := make([]int32, len(positions))
		kit.CountFrom(deltas, -256, 0)
		measure.Against(b, "of-rotate", func() { posenc.Shift(r.At(deltas), key) }, func() { posenc.Rotate(r.At(positions), key) })
	})
}

// BenchmarkRotateIntoQuantized reports rotating keys into a cache of 8-bit numbers as a
// share of the speed of rotating as many float32 in place: a step of decoding, a prompt, and
// one that no cache holds, there as a share of copying as many bytes too.
func BenchmarkRotateIntoQuantized(b *testing.B) {
	benchmarkIntoQuantized[posenc.Q8_0](b, "q8_0", 0)
	benchmarkIntoQuantized[int8](b, "int8", 0)
	benchmarkIntoQuantized[posenc.E4M3](b, "e4m3-rows", 0)
	benchmarkIntoQuantized[posenc.E4M3](b, "e4m3", 1)
	benchmarkIntoQuantized[posenc.E5M2](b, "e5m2", 1)
	benchmarkIntoQuantized[posenc.Q4_0](b, "q4_0", 0)
	benchmarkIntoQuantized[posenc.Q4_1](b, "q4_1", 0)
	benchmarkIntoQuantized[posenc.Q5_0](b, "q5_0", 0)
	benchmarkIntoQuantized[posenc.Q5_1](b, "q5_1", 0)
	benchmarkIntoQuantized[posenc.IQ4_NL](b, "iq4_nl", 0)
	benchmarkIntoQuantized[posenc.MXFP4RCeil](b, "mxfp4", 0)
	benchmarkIntoQuantized[posenc.NVFP4](b, "nvfp4", 0)
}

func benchmarkIntoQuantized[D posenc.Quantized](b *testing.B, format string, scale float32) {
	const heads, dim = 8, 128
	for _, tokens := range []int{1, 32, 512, 16384} {
		for _, layout := range []posenc.Layout{posenc.HalfSplit, posenc.Interleaved} {
			runEach(b, fmt.Sprintf("to=%s/tokens=%d/heads=%d/dim=%d/layout=%s", format, tokens, heads, dim, layout), func(b *testing.B) {
				r := kit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Base: 500000, Layout: layout})
				rows := kit.Must(r.Rows(kit.Sequence(tokens)))
				n := tokens * heads * dim
				src, inPlace := kit.Aligned(n), kit.Aligned(n)
				for i := range src {
					src[i], inPlace[i] = float32(i%251)/128-1, float32(i%251)/128-1
				}
				cache := cacheFor[D](tokens, heads, dim, 0, scale)
				into := posenc.IntoQuantized[D, float32]{Dst: cache, Src: posenc.View[float32]{Data: src, Heads: heads}}
				b.Run("in-place", func(b *testing.B) {
					measure.Against(b, "of-rotate", func() { posenc.RotateIntoQuantized(rows.All(), nil, into) },
						func() { posenc.Rotate(rows.All(), posenc.View[float32]{Data: inPlace, Heads: heads}) })
				})
				if tokens < 16384 {
					return
				}
				// A copy of half of the bytes that are read and written reads and writes as many, by
				// non-temporal stores. On Zen 5 a loop that only loads src has 0.95 to 1 of its speed,
				// with as many bytes stored as Q8_0 has 0.91 to 0.95 by such stores and 0.72 to 0.85 by
				// plain ones. The rows, an eighth of src, are not counted.
				size := (len(src)*4 + len(cache.Data)*int(unsafe.Sizeof(*new(D))) + 4*len(cache.Scales)) / 2
				from, to := bytes.Repeat([]byte{1}, size), make([]byte, size)
				b.Run("copy", func(b *testing.B) {
					measure.Against(b, "of-copy", func() { posenc.RotateIntoQuantized(rows.All(), nil, into) }, func() { copy(to, from) })
				})
			})
		}
	}
}

// BenchmarkRotateIntoLatent reports records of latent attention as a share of the speed of
// RotateIntoQuantized to E4M3 with Scales, of as many numbers in heads of 64.
func BenchmarkRotateIntoLatent(b *testing.B) {
	for _, f := range []struct{ format, rule string }{
		{"DeepSeekV32", "FloorScale"}, {"DeepSeekV32", "Float32Scale"}, {"DeepSeekV4", "FloorScale"}, {"DeepSeekIndexer", "FloorAmax"}, {"LatentE4M3", "1"}, {"LatentBFloat16", ""},
	} {
		for _, tokens := range []int{1, 512} {
			benchmarkIntoLatent[float32](b, "float32", f.format, f.rule, tokens)
			benchmarkIntoLatent[posenc.BFloat16](b, "bfloat16", f.format, f.rule, tokens)
		}
	}
}

func benchmarkIntoLatent[S posenc.Element](b *testing.B, kind, format, rule string, tokens int) {
	runEach(b, fmt.Sprintf("to=%s/rule=%s/tokens=%d/from=%s", format, rule, tokens, kind), func(b *testing.B) {
		cache, dim := latentOf(format, rule, tokens), 64
		numbers := latentShapes[cache.Format].numbers
		if cache.Format == posenc.DeepSeekV4 || cache.Format == posenc.DeepSeekIndexer {
			dim = numbers
		}
		x := posenc.IntoLatent[S]{Dst: cache, Rotated: posenc.View[S]{Data: benchmarkNumbers[S](tokens * dim), Heads: 1}}
		if dim < numbers {
			x.Latent = posenc.View[S]{Data: benchmarkNumbers[S](tokens * (numbers - dim)), Heads: 1}
		}
		r := kit.MustRotary(posenc.RotaryConfig{HeadDim: dim, RotaryDim: 64, Offset: dim - 64, Layout: posenc.Interleaved})
		rows := kit.Must(r.Rows(kit.Sequence(tokens)))
		heads := kit.Must(kit.MustRotary(posenc.RotaryConfig{HeadDim: 64, Layout: posenc.Interleaved}).Rows(kit.Sequence(tokens)))
		into := posenc.IntoQuantized[posenc.E4M3, S]{
			Dst: cacheFor[posenc.E4M3](tokens, numbers/64, 64, 0, 0),
			Src: posenc.View[S]{Data: benchmarkNumbers[S](tokens * numbers), Heads: numbers / 64},
		}
		kit.NoError(b, posenc.RotateIntoLatent(rows.All(), nil, x))
		kit.NoError(b, posenc.RotateIntoQuantized(heads.All(), nil, into))
		measure.Against(b, "of-quantized", func() { posenc.RotateIntoLatent(rows.All(), nil, x) }, func() { posenc.RotateIntoQuantized(heads.All(), nil, into) })
	})
}

func benchmarkNumbers[S posenc.Element](n int) []S {
	list := make([]S, n)
	for i := range list {
		list[i] = kit.Narrow[S](float32(i%251)/128 - 1)
	}
	return list
}

// BenchmarkDequantizeLatent reports reading records as float32 as a share of the speed of copying these.
func BenchmarkDequantizeLatent(b *testing.B) {
	for _, f := range []struct{ format, rule string }{{"DeepSeekV32", "FloorScale"}, {"DeepSeekV4", "FloorScale"}, {"DeepSeekIndexer", "FloorAmax"}, {"LatentE4M3", "1"}, {"LatentBFloat16", ""}} {
		for _, tokens := range []int{1, 512, 16384} {
			runEach(b, fmt.Sprintf("from=%s/rule=%s/tokens=%d", f.format, f.rule, tokens), func(b *testing.B) {
				cache := latentOf(f.format, f.rule, tokens)
				n := tokens * latentShapes[cache.Format].numbers
				to, from, read := kit.Aligned(n), kit.Aligned(n), kit.Aligned(n)
				for i := range cache.Data { // no code, scale or number is subnormal
					cache.Data[i] = byte(0x38 + i%7)
				}
				dst := posenc.View[float32]{Data: read, Heads: 1}
				kit.NoError(b, posenc.DequantizeLatent(dst, cache, posenc.DequantizeOptions{Tokens: tokens}))
				measure.Against(b, "of-copy", func() { posenc.DequantizeLatent(dst, cache, posenc.DequantizeOptions{Tokens: tokens}) }, func() { copy(to, from) })
			})
		}
	}
}

// BenchmarkStopTheWorld collects garbage while another goroutine is in kernels,
// and reports how long the collector waited for it to stop: a goroutine in
// assembly stops at the end of the call. Read p50, p99 and max, bounds of the
// buckets of Go's own histogram; "idle" is the same without the other goroutine.
func BenchmarkStopTheWorld(b *testing.B) {
	const tokens = 1 << 14
	r := kit.Must(posenc.NewRotary(posenc.RotaryConfig{HeadDim: 128, Layout: posenc.HalfSplit}))
	positions := kit.Sequence(tokens)
	cos, sin, angles := make([]float32, 64*tokens), make([]float32, 64*tokens), make([]float32, 64*tokens)
	x := posenc.View[float32]{Data: make([]float32, 128*8*tokens), Heads: 8}
	for _, work := range []struct {
		name string
		call func() error
	}{
		{"idle", nil},
		{"CosSin", func() error { return r.CosSin(cos, sin, positions) }},
		{"CosSinAngles", func() error { return posenc.CosSinAngles(cos, sin, angles) }},
		{"Rotate", func() error { return posenc.Rotate(r.At(positions), x) }},
		{"AddALiBi", func() error {
			return relative.AddALiBi(relative.Scores{Data: x.Data, Heads: 1, Queries: 64, Keys: len(x.Data) / 64}, []float32{0.5}, relative.CausalALiBi)
		}},
	} {
		b.Run("during="+work.name, func(b *testing.B) {
			var done sync.WaitGroup
			stop := make(chan struct{})
			if work.call != nil {
				done.Add(1)
				go func() {
					defer done.Done()
					for {
						select {
						case <-stop:
							return
						default:
						}
						if err := work.call(); err != nil {
							panic(err)
						}
					}
				}()
			}
			sample := []metrics.Sample{{Name: "/sched/pauses/stopping/gc:seconds"}}
			counts := func() []uint64 {
				metrics.Read(sample)
				return append([]uint64(nil), sample[0].Value.Float64Histogram().Counts...)
			}
			before := counts()
			for b.Loop() {
				runtime.GC()
			}
			after := counts()
			close(stop)
			done.Wait()
			bounds, total := sample[0].Value.Float64Histogram().Buckets, uint64(0)
			for i := range after {
				after[i] -= before[i]
				total += after[i]
			}
			for _, q := range []struct {
				name  string
				share float64
			}{{"p50-us", 0.5}, {"p99-us", 0.99}, {"max-us", 1}} {
				sum := uint64(0)
				for i, count := range after {
					if sum += count; float64(sum) >= math.Ceil(q.share*float64(total)) {
						b.ReportMetric(bounds[i+1]*1e6, q.name)
						break
					}
				}
			}
		})
	}
}
