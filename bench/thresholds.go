package main

import (
	"fmt"
	"math"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/test/measure"
	"github.com/go-posenc/posenc/relative"
)

// threshold is a constant of kernels/tuning.go, and the calls that decide on its value.
type threshold struct {
	name    string
	factors []float64 // of the present value, for the others that are tried
	calls   func(c *calls)
}

var (
	around  = []float64{0.25, 0.5, 2, 4}
	smaller = []float64{0.25, 0.5} // what a garbage collection waits for may not grow
	greater = []float64{2, 4}      // the largest RotaryDim, 2*ChunkPairs, may not shrink
	near    = []float64{0.5, 2}
)

// thresholds are all constants of kernels/tuning.go, which TestThresholds compares.
var thresholds = []threshold{
	{"MaxCallElements", smaller, func(c *calls) {
		ofEachElement(c, normalize[float32], normalize[posenc.Float16], normalize[posenc.BFloat16])
	}},
	{"MaxCallAngles", smaller, angles},
	{"MaxCallScores", around, scores},
	{"TokenPairs", near, func(c *calls) {
		for _, dim := range []int{headDim, 2 * headDim} {
			rotateEach(c, dim, 1)
		}
	}},
	{"ChunkPairs", greater, func(c *calls) { // of smaller heads ChunkRows are fewer
		for _, dim := range []int{2 * headDim, 4 * headDim} {
			rotateEach(c, dim, 0)
		}
	}},
	{"ChunkRows", near, func(c *calls) { rotateEach(c, headDim/2, 0) }}, // of larger heads ChunkPairs are fewer
	{"FusedElements", around, func(c *calls) { ofEachElement(c, fused[float32], fused[posenc.Float16], fused[posenc.BFloat16]) }},
	{"TokenElements", near, func(c *calls) { quantized(c, 1) }},
	{"Ahead", around, func(c *calls) { quantized(c, 512, 8192) }},
	{"CopyBytes", around, copies},
	{"TileKeys", around, matrixScores},
	{"SinusoidalRowsAtOnce", near, sinusoidal},
	{"FewSinusoidalRowsAtOnce", near, sinusoidal},
	{"ShiftedRows", around, func(c *calls) {
		for _, rows := range []int{8, 16, 32, 64, 128, 256} {
			cos, sin, positions := ones[float32](rows*pairs), ones[float32](rows*pairs), sequence(rows)
			c.add(fmt.Sprintf("posenc.CosSin/rows=%d", rows), 8*len(cos), func() error { return posenc.CosSin(cos, sin, positions, ladder()) })
		}
	}},
	{"shortRun", near, func(c *calls) { runs(c, frequency.Exact, 1024) }},
	{"float32Run", near, func(c *calls) { runs(c, frequency.Float32, 128) }}, // angles below 2^15
	{"MaxBlocks", near, sinusoidal},
	{"NonTemporalTable", around, largeTables},
	{"nonTemporalTableAVX2", smaller, largeTables},
	{"residentAVX512", around, func(c *calls) { rotateAt[float32](c, "f32", headDim, 0) }},
	{"residentAVX2", around, func(c *calls) { rotateAt[float32](c, "f32", headDim, 0) }},
	{"RotateAhead", around, func(c *calls) { rotateAt[float32](c, "f32", headDim, 0) }},
	{"nonTemporalCopy", around, copies},
}

// runs adds tables of runs of positions whose first ones are that far apart.
func runs(c *calls, rounding frequency.Rounding, apart int) {
	const rows = 240
	rotary := must(posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Layout: posenc.HalfSplit, Base: base, Rounding: rounding}))
	cos, sin := ones[float32](rows*pairs), ones[float32](rows*pairs)
	for _, run := range []int{1, 2, 3, 4, 6, 8, 16} {
		positions := make([]int32, rows)
		for i := range positions { // not the special row of 0, and each run by one seed
			positions[i] = int32(1 + i/run*apart + i%run)
		}
		c.add(fmt.Sprintf("CosSin/rows=%d/run=%d", rows, run), 8*len(cos), func() error { return rotary.CosSin(cos, sin, positions) })
	}
}

// calls are those of a threshold, on memory of the sizes of a setting, in bytes.
type calls struct {
	sizes   []int
	largest int
	cases   []measure.Case
}

func (c *calls) add(name string, bytes int, run func() error) {
	c.cases = append(c.cases, measure.Case{Name: "Tune/" + name, Bytes: int64(bytes), Run: run})
}

// measured are the calls that decide on a threshold.
func (t threshold) measured(s setting) []measure.Case {
	c := &calls{sizes: s.workingSets, largest: s.workingSets[len(s.workingSets)-1]}
	t.calls(c)
	return c.cases
}

// ofEachElement makes the calls of each type of elements.
func ofEachElement(c *calls, f32, f16, bf16 func(c *calls, element string)) {
	f32(c, "f32")
	f16(c, "f16")
	bf16(c, "bf16")
}

func sizeOf[T posenc.Element]() int {
	if _, single := any(*new(T)).(float32); single {
		return 4
	}
	return 2
}

// rotateEach rotates heads of every type and layout, of the given tokens or, where they
// are 0, in memory of every size: the calls that make rows in scratch memory.
func rotateEach(c *calls, dim, tokens int) {
	ofEachElement(c,
		func(c *calls, element string) { rotateAt[float32](c, element, dim, tokens) },
		func(c *calls, element string) { rotateAt[posenc.Float16](c, element, dim, tokens) },
		func(c *calls, element string) { rotateAt[posenc.BFloat16](c, element, dim, tokens) })
}

func rotateAt[T posenc.Element](c *calls, element string, dim, tokens int) {
	size, sizes, largest := sizeOf[T](), c.sizes, c.largest
	if tokens > 0 {
		largest = tokens * queryHeads * dim * size
		sizes = []int{largest}
	}
	x := ones[T](largest / size)
	for _, layout := range layouts {
		for _, bytes := range sizes {
			c.add(fmt.Sprintf("Rotate/layout=%s/dtype=%s/dim=%d/bytes=%d", layoutName(layout), element, dim, bytes), bytes, sweepRotation(layout, dim, x[:bytes/size]))
		}
	}
}

func norm() *posenc.RMSNorm {
	return must(posenc.NewRMSNorm(ones[float32](headDim), posenc.RMSNormConfig{Epsilon: 1e-6}))
}

func normalize[T posenc.Element](c *calls, element string) {
	n, x := norm(), ones[T](c.largest/sizeOf[T]())
	for _, bytes := range c.sizes {
		tokens := bytes / (queryHeads * headDim * sizeOf[T]())
		view := posenc.View[T]{Data: x[:tokens*queryHeads*headDim], Heads: queryHeads}
		c.add(fmt.Sprintf("Normalize/dtype=%s/bytes=%d", element, bytes), bytes, func() error { return posenc.Normalize(n, tokens, view) })
	}
}

func fused[T posenc.Element](c *calls, element string) {
	const most = 4096
	n, x := norm(), ones[T](most*queryHeads*headDim)
	rotary := must(posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Layout: posenc.HalfSplit, Base: base}))
	for _, tokens := range []int{1, 512, most} {
		positions, view := sequence(tokens), posenc.View[T]{Data: x[:tokens*queryHeads*headDim], Heads: queryHeads}
		c.add(fmt.Sprintf("RotateFused/dtype=%s/tokens=%d", element, tokens), len(view.Data)*sizeOf[T](), func() error {
			return posenc.RotateFused(rotary.At(positions), posenc.FusedView[T]{View: view, Norm: n})
		})
	}
}

// quantized stores keys and values of the given tokens in 8 bits.
func quantized(c *calls, tokens ...int) {
	rotary := must(posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Layout: posenc.HalfSplit, Base: base}))
	for _, n := range tokens {
		positions, elements := sequence(n), n*keyHeads*headDim
		into := func() posenc.IntoQuantized[posenc.Q8_0, float32] {
			return posenc.IntoQuantized[posenc.Q8_0, float32]{
				Dst: posenc.QuantizedView[posenc.Q8_0]{View: posenc.View[posenc.Q8_0]{Data: make([]posenc.Q8_0, elements/32), Heads: keyHeads}},
				Src: posenc.View[float32]{Data: ones[float32](elements), Heads: keyHeads},
			}
		}
		k, v := into(), into()
		c.add(fmt.Sprintf("RotateIntoQuantizedKV/to=q8_0/tokens=%d", n), 2*elements*4, func() error {
			return posenc.RotateIntoQuantizedKV(rotary.At(positions), nil, k, v)
		})
	}
}

// copies rotate keys into caches.
func copies(c *calls) {
	copyInto[float32, float32](c, "f32-to-f32")
	copyInto[posenc.Float16, posenc.Float16](c, "f16-to-f16")
	copyInto[posenc.BFloat16, posenc.BFloat16](c, "bf16-to-bf16")
	copyInto[posenc.Float16, float32](c, "f32-to-f16")
}

func copyInto[To, From posenc.Element](c *calls, types string) {
	most := c.largest / sizeOf[To]()
	y, x := ones[To](most), ones[From](most)
	rotary := must(posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Layout: posenc.HalfSplit, Base: base}))
	for _, bytes := range c.sizes {
		tokens := bytes / (keyHeads * headDim * sizeOf[To]())
		n, positions := tokens*keyHeads*headDim, sequence(tokens)
		c.add(fmt.Sprintf("RotateInto/dtypes=%s/bytes=%d", types, bytes), bytes, func() error {
			return posenc.RotateInto(rotary.At(positions), posenc.View[To]{Data: y[:n], Heads: keyHeads}, nil, posenc.View[From]{Data: x[:n], Heads: keyHeads})
		})
	}
}

// angles are float32 ones, given and made from positions.
func angles(c *calls) {
	m := &memory{float32s: ones[float32](c.largest/4 + gap)}
	for _, bytes := range c.sizes {
		cos, sin := m.tableHalves(bytes / (8 * pairs))
		x := make([]float32, len(cos))
		for i := range x {
			x[i] = float32(i%4096) * 0.37
		}
		c.add(fmt.Sprintf("CosSinAngles/bytes=%d", bytes), bytes, func() error { return posenc.CosSinAngles(cos, sin, x) })
	}
}

// scores get biases that kernels make.
func scores(c *calls) {
	const heads = 32
	slopes := make([]float32, heads)
	must(slopes, relative.ALiBiSlopes(slopes, 8))
	buckets := must(relative.NewT5Buckets(relative.T5Config{Buckets: 32, MaxDistance: 128, Bidirectional: true}))
	t5 := must(relative.NewT5Bias(buckets, make([]float32, 32*heads)))
	for _, shape := range [][2]int{{1, 4096}, {64, 256}, {512, 2048}} {
		s := relative.Scores{Data: make([]float32, heads*shape[0]*shape[1]), Heads: heads, Queries: shape[0], Keys: shape[1]}
		name := fmt.Sprintf("/heads=%d/queries=%d/keys=%d", heads, shape[0], shape[1])
		c.add("AddALiBi"+name, 4*len(s.Data), func() error { return relative.AddALiBi(s, slopes, relative.CausalALiBi) })
		c.add("AddT5"+name, 4*len(s.Data), func() error { return relative.AddT5(s, t5) })
	}
	for _, side := range []int{7, 12, 32} {
		swin := must(relative.NewSwinBias(relative.SwinWindow{Height: side, Width: side}, make([]float32, (2*side-1)*(2*side-1)*heads)))
		s := relative.Scores{Data: make([]float32, heads*side*side*side*side), Heads: heads, Queries: side * side, Keys: side * side}
		c.add(fmt.Sprintf("AddSwin/heads=%d/window=%d", heads, side), 4*len(s.Data), func() error { return relative.AddSwin(s, swin) })
	}
}

// matrixScores get biases that are gathered from products.
func matrixScores(c *calls) {
	const heads, queries = 4, 64
	buckets := must(relative.NewDeBERTaBuckets(relative.DeBERTaConfig{Buckets: 256, MaxPosition: 512}))
	for _, keys := range []int{256, 2048, 8192} {
		s := relative.Scores{Data: make([]float32, heads*queries*keys), Heads: heads, Queries: queries, Keys: keys, FirstQuery: keys - queries}
		c2p, p2c := relative.Products{Data: make([]float32, heads*queries*512)}, relative.Products{Data: make([]float32, heads*keys*512)}
		xl, shaw := relative.Products{Data: make([]float32, heads*queries*keys)}, relative.Products{Data: make([]float32, heads*queries*33)}
		name := fmt.Sprintf("/heads=%d/queries=%d/keys=%d", heads, queries, keys)
		c.add("AddDeBERTa"+name, 4*len(s.Data), func() error {
			return relative.AddDeBERTa(s, buckets, relative.DeBERTaProducts{ContentToPosition: c2p, PositionToContent: p2c, Divisor: 1})
		})
		c.add("AddTransformerXL"+name, 4*len(s.Data), func() error {
			return relative.AddTransformerXL(s, xl, relative.Distances{First: keys - 1, Count: keys})
		})
		c.add("AddShaw"+name, 4*len(s.Data), func() error { return relative.AddShaw(s, shaw, 16) })
	}
}

// sinusoidal rows are made in place, and in scratch memory.
func sinusoidal(c *calls) {
	const widest = 2048 // of which the frequencies are 16 blocks
	x, half := ones[float32](512*widest), ones[posenc.Float16](512*widest)
	for _, dim := range []int{512, widest} {
		s := must(absolute.Vaswani(dim))
		for _, tokens := range []int{1, 2, 3, 4, 8, 32, 512} {
			positions, n := sequence(tokens), tokens*dim
			name := fmt.Sprintf("/dim=%d/tokens=%d", dim, tokens)
			c.add("SinusoidalRows/dtype=f32"+name, 4*n, func() error { return absolute.SinusoidalRows(x[:n], s, positions) })
			c.add("SinusoidalRows/dtype=f16"+name, 2*n, func() error { return absolute.SinusoidalRows(half[:n], s, positions) })
		}
	}
}

// chosen is the value that the ratios of times to those of the present one speak for:
// the present, unless another is faster by 5 % in the geometric mean and nowhere slower
// by as much.
func chosen(present int64, ratios map[int64][]float64) (value int64, mean float64) {
	value, mean = present, 1
	for other, list := range ratios {
		sum, worst := 0.0, 0.0
		for _, r := range list {
			sum, worst = sum+math.Log(r), max(worst, r)
		}
		if m := math.Exp(sum / float64(len(list))); m < min(mean, 0.95) && worst <= 1.05 {
			value, mean = other, m
		}
	}
	return value, mean
}

// largeTables are of every size.
func largeTables(c *calls) {
	m := &memory{float32s: ones[float32](c.largest/4 + gap)}
	for _, bytes := range c.sizes {
		t := table{bytes / (8 * pairs), frequency.Exact}
		c.add(fmt.Sprintf("CosSin/rows=%d", t.rows), bytes, t.call(m))
	}
}
