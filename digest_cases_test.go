package posenc_test

import (
	"fmt"
	"math"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/relative"
)

// digestCases returns what TestDigests runs.
func digestCases() []digestCase {
	var c cases
	c.rotations()
	c.cosinesAndSines()
	c.norms()
	c.positions()
	c.sinusoidal()
	c.learned()
	c.relative()
	c.ladders()
	return c
}

type cases []digestCase

func (c *cases) add(name string, run func(d *digest)) { *c = append(*c, digestCase{name, run}) }

// types adds a case for elements of every type.
func (c *cases) types(name string, float32s, float16s, bfloat16s func(d *digest)) {
	c.add(name+"/type=float32", float32s)
	c.add(name+"/type=float16", float16s)
	c.add(name+"/type=bfloat16", bfloat16s)
}

// pairsOfTypes adds a case for two types of elements each.
func (c *cases) pairsOfTypes(name, first, second string, runs [3][3]func(d *digest)) {
	names := [3]string{"float32", "float16", "bfloat16"}
	for i, row := range runs {
		for j, run := range row {
			c.add(fmt.Sprintf("%s/%s=%s/%s=%s", name, first, names[i], second, names[j]), run)
		}
	}
}

var (
	digestLayouts = []string{posenc.HalfSplit: "HalfSplit", posenc.Interleaved: "Interleaved", posenc.InterleavedToHalfSplit: "InterleavedToHalfSplit", posenc.HalfSplitToInterleaved: "HalfSplitToInterleaved"}
	digestAngles  = []string{posenc.ExactAngles: "Exact", posenc.Float32Angles: "Float32"}
)

// geometry returns a configuration of so many pairs, of whole heads or of a slice.
func (d *digest) geometry(layout posenc.Layout, pairs int) posenc.RotaryConfig {
	cfg := posenc.RotaryConfig{HeadDim: 2 * pairs, Layout: layout}
	if d.below(2) == 0 {
		cfg.RotaryDim, cfg.Offset = 2*pairs, d.below(10)
		cfg.HeadDim += cfg.Offset + d.below(10)
	}
	return cfg
}

// config returns one with frequencies and a factor.
func (d *digest) config(layout posenc.Layout, angles posenc.AngleRounding, pairs int) posenc.RotaryConfig {
	cfg := d.geometry(layout, pairs)
	cfg.Angles, cfg.InvFreq = angles, d.frequencies(pairs)
	cfg.Scaling = []float64{0, 0, 1.2079441541679836, 0x1.8p-70}[d.below(4)]
	return cfg
}

// rotary returns a Rotary of a configuration.
func (d *digest) rotary(cfg posenc.RotaryConfig) *posenc.Rotary {
	d.t.Helper()
	r, err := posenc.NewRotary(cfg)
	d.must(err)
	return r
}

// axisMaps are maps of 32 pairs.
func (d *digest) axisMaps() [][]uint8 {
	sections, err := frequency.Sections(8, 12, 12)
	d.must(err)
	interleaved, err := frequency.InterleavedSections(12, 10, 10)
	d.must(err)
	alternating, err := frequency.AlternatingSections(11, 11, 10)
	d.must(err)
	return [][]uint8{sections, interleaved, alternating}
}

func (c *cases) rotations() {
	for _, o := range []struct {
		name      string
		float32s  func(*posenc.Rotary, []int32, ...posenc.View[float32]) error
		float16s  func(*posenc.Rotary, []int32, ...posenc.View[posenc.Float16]) error
		bfloat16s func(*posenc.Rotary, []int32, ...posenc.View[posenc.BFloat16]) error
	}{
		{"Rotate", posenc.Rotate[float32], posenc.Rotate[posenc.Float16], posenc.Rotate[posenc.BFloat16]},
		{"RotateInverse", posenc.RotateInverse[float32], posenc.RotateInverse[posenc.Float16], posenc.RotateInverse[posenc.BFloat16]},
		{"Shift", posenc.Shift[float32], posenc.Shift[posenc.Float16], posenc.Shift[posenc.BFloat16]},
	} {
		for layout, layoutName := range digestLayouts {
			for angles, anglesName := range digestAngles {
				layout, angles := posenc.Layout(layout), posenc.AngleRounding(angles)
				c.types(fmt.Sprintf("%s/layout=%s/angles=%s", o.name, layoutName, anglesName),
					func(d *digest) { digestRotate(d, layout, angles, o.float32s) },
					func(d *digest) { digestRotate(d, layout, angles, o.float16s) },
					func(d *digest) { digestRotate(d, layout, angles, o.bfloat16s) })
			}
			layout := posenc.Layout(layout)
			c.types(fmt.Sprintf("%s/layout=%s/large", o.name, layoutName),
				func(d *digest) { digestRotateLarge(d, layout, o.float32s) },
				func(d *digest) { digestRotateLarge(d, layout, o.float16s) },
				func(d *digest) { digestRotateLarge(d, layout, o.bfloat16s) })
		}
		c.types(o.name+"/axes",
			func(d *digest) { digestRotateAxes(d, o.float32s) },
			func(d *digest) { digestRotateAxes(d, o.float16s) },
			func(d *digest) { digestRotateAxes(d, o.bfloat16s) })
		if o.name != "Shift" { // which knows no such Rotary
			c.types(o.name+"/xpos",
				func(d *digest) { digestRotateXPos(d, o.float32s) },
				func(d *digest) { digestRotateXPos(d, o.float16s) },
				func(d *digest) { digestRotateXPos(d, o.bfloat16s) })
		}
	}
	c.add("NewRotary", func(d *digest) {
		for _, angles := range []posenc.AngleRounding{posenc.ExactAngles, posenc.Float32Angles} {
			for _, base := range []float64{0, 2, 500000, 1e6} {
				r := d.rotary(posenc.RotaryConfig{HeadDim: 40, RotaryDim: 24, Base: base, Angles: angles})
				positions := []int32{1, 2, 4097, math.MaxInt32}
				cos, sin := make([]float32, 4*12), make([]float32, 4*12)
				d.must(r.CosSin(cos, sin, positions))
				d.add(cos, sin)
			}
		}
	})
	c.pairsOfTypes("NewTableRotary", "type", "table", [3][3]func(d *digest){
		{digestTable[float32, float32], digestTable[float32, posenc.Float16], digestTable[float32, posenc.BFloat16]},
		{digestTable[posenc.Float16, float32], digestTable[posenc.Float16, posenc.Float16], digestTable[posenc.Float16, posenc.BFloat16]},
		{digestTable[posenc.BFloat16, float32], digestTable[posenc.BFloat16, posenc.Float16], digestTable[posenc.BFloat16, posenc.BFloat16]},
	})
	c.types("Rotary.Tabulate", digestTabulate[float32], digestTabulate[posenc.Float16], digestTabulate[posenc.BFloat16])
	c.types("Rotary.Extend", digestExtend[float32], digestExtend[posenc.Float16], digestExtend[posenc.BFloat16])
	c.pairsOfTypes("RotateInto", "to", "from", [3][3]func(d *digest){
		{digestInto[float32, float32], digestInto[float32, posenc.Float16], digestInto[float32, posenc.BFloat16]},
		{digestInto[posenc.Float16, float32], digestInto[posenc.Float16, posenc.Float16], digestInto[posenc.Float16, posenc.BFloat16]},
		{digestInto[posenc.BFloat16, float32], digestInto[posenc.BFloat16, posenc.Float16], digestInto[posenc.BFloat16, posenc.BFloat16]},
	})
	c.types("RotateFused", digestFused[float32], digestFused[posenc.Float16], digestFused[posenc.BFloat16])
	c.types("PermuteWeights", digestPermute[float32], digestPermute[posenc.Float16], digestPermute[posenc.BFloat16])
	c.add("Float16s", func(d *digest) { d.add(posenc.Float16s([]uint16{0, 1, 0x3c00, 0xffff})) })
	c.add("BFloat16s", func(d *digest) { d.add(posenc.BFloat16s([]uint16{0, 1, 0x3f80, 0xffff})) })
}

// digestRotate rotates Q and K of several shapes by an operation in place.
func digestRotate[T posenc.Element](d *digest, layout posenc.Layout, angles posenc.AngleRounding, rotate func(*posenc.Rotary, []int32, ...posenc.View[T]) error) {
	for i, pairs := range []int{1, 3, 8, 17, 32, 64, 67} {
		cfg := d.config(layout, angles, pairs)
		r := d.rotary(cfg)
		for j, tokens := range []int{1, 2 + d.below(5), 34} {
			if tokens > 20 && i%3 > 0 {
				continue
			}
			q := viewOf(d, anyOf[T], i+j, tokens, 1+d.below(4), cfg.HeadDim)
			k := viewOf(d, anyOf[T], i+j+1+d.below(4), tokens, 1+d.below(2), cfg.HeadDim)
			d.must(rotate(r, d.positions(tokens), q.View, k.View))
			d.add(q.memory, k.memory)
		}
	}
}

// digestRotateLarge rotates heads wider than what fits the scratch memory, where
// that is allowed, and more heads than fit it.
func digestRotateLarge[T posenc.Element](d *digest, layout posenc.Layout, rotate func(*posenc.Rotary, []int32, ...posenc.View[T]) error) {
	wide := 1030
	if layout > posenc.Interleaved {
		wide = 700
	}
	for _, shape := range []struct{ pairs, tokens, heads int }{{wide, 2, 1}, {16, 2, 90}} {
		cfg := d.config(layout, posenc.Float32Angles, shape.pairs)
		x := viewOf(d, anyOf[T], d.below(digestShapes), shape.tokens, shape.heads, cfg.HeadDim)
		d.must(rotate(d.rotary(cfg), d.positions(shape.tokens), x.View))
		d.add(x.memory)
	}
}

func digestRotateAxes[T posenc.Element](d *digest, rotate func(*posenc.Rotary, []int32, ...posenc.View[T]) error) {
	for i, axes := range d.axisMaps() {
		for _, angles := range []posenc.AngleRounding{posenc.ExactAngles, posenc.Float32Angles} {
			const tokens = 9
			cfg := d.config(posenc.Layout(d.below(4)), angles, len(axes))
			cfg.Axes = axes
			x := viewOf(d, anyOf[T], i, tokens, 2, cfg.HeadDim)
			d.must(rotate(d.rotary(cfg), d.positions(3*tokens), x.View))
			d.add(x.memory)
		}
	}
}

func digestRotateXPos[T posenc.Element](d *digest, rotate func(*posenc.Rotary, []int32, ...posenc.View[T]) error) {
	for i, keys := range []bool{false, true} {
		const tokens = 6
		cfg := d.config(posenc.Layout(i), posenc.ExactAngles, 20)
		cfg.XPos = &posenc.XPos{ScaleBase: 512, Center: 100, Keys: keys}
		x := viewOf(d, anyOf[T], i, tokens, 2, cfg.HeadDim)
		d.must(rotate(d.rotary(cfg), []int32{-5000, 0, 99, 100, 101, 4097}, x.View))
		d.add(x.memory)
	}
}

// digestTable rotates by tables of half and of full width, by their rows in order
// and by others.
func digestTable[T, C posenc.Element](d *digest) {
	for layout := range digestLayouts {
		for i, width := range []int{1, 2} {
			const rows, tokens = 7, 7
			cfg := d.geometry(posenc.Layout(layout), 20)
			stride := width*20 + 5*d.below(2)
			table := posenc.Table[C]{numbersOf[C](d, rows*stride), numbersOf[C](d, rows*stride), stride, width == 2}
			r, err := posenc.NewTableRotary(cfg, table)
			d.must(err)
			for j, positions := range [][]int32{nil, d.indices(tokens, rows)} {
				for _, rotate := range []func(*posenc.Rotary, []int32, ...posenc.View[T]) error{posenc.Rotate[T], posenc.RotateInverse[T]} {
					x := viewOf(d, anyOf[T], layout+i+j, tokens, 2, cfg.HeadDim)
					d.must(rotate(r, positions, x.View))
					d.add(x.memory)
				}
			}
		}
	}
}

func digestTabulate[T posenc.Element](d *digest) {
	for layout := range digestLayouts {
		const tokens = 20
		cfg := d.config(posenc.Layout(layout), posenc.AngleRounding(layout%2), 33)
		rows, err := d.rotary(cfg).Tabulate(d.positions(tokens))
		d.must(err)
		for i, positions := range [][]int32{nil, d.indices(tokens, tokens)} {
			x := viewOf(d, anyOf[T], layout+i, tokens, 2, cfg.HeadDim)
			d.must(posenc.Rotate(rows.At(positions), x.View))
			d.add(x.memory)
		}
	}
}

func digestExtend[T posenc.Element](d *digest) {
	cfg := d.config(posenc.HalfSplit, posenc.ExactAngles, 16)
	rows, err := d.rotary(cfg).Tabulate(d.positions(5))
	d.must(err)
	for tokens := 8; tokens < 40; tokens += 9 {
		rows, err = rows.Extend(d.positions(tokens - rows.table.count))
		d.must(err)
		x := viewOf(d, anyOf[T], tokens, tokens, 1, cfg.HeadDim)
		d.must(posenc.Rotate(rows.All(), x.View))
		d.add(x.memory)
	}
}

// digestInto rotates into caches, from token to token and by slots.
func digestInto[D, S posenc.Element](d *digest) {
	for layout := range digestLayouts {
		for i, pairs := range []int{3, 16, 35} {
			cfg := d.config(posenc.Layout(layout), posenc.AngleRounding(i%2), pairs)
			r := d.rotary(cfg)
			const tokens, heads = 8, 2
			for _, slots := range [][]int32{nil, {3, 4, 5, -1, 0, 3, 9, 8}} {
				room := tokens
				if slots != nil {
					room = 12
				}
				src := viewOf(d, anyOf[S], layout+i, tokens, heads, cfg.HeadDim)
				dst := viewOf(d, anyOf[D], d.below(digestShapes), room, heads, cfg.HeadDim)
				d.must(posenc.RotateInto(r.At(d.positions(tokens)), dst.View, slots, src.View))
				d.add(dst.memory)
			}
		}
	}
}

// digestFused normalizes each head, or all heads of a token, rotates and scales.
func digestFused[T posenc.Element](d *digest) {
	for layout := range digestLayouts {
		for i, fill := range []func(*digest, int) []T{numbersOf[T], numbersOf[T], anyOf[T]} {
			for _, tokens := range []int{1, 9} {
				const heads = 3
				cfg := d.config(posenc.Layout(layout), posenc.AngleRounding(i%2), 16*(i+1))
				weights := cfg.HeadDim
				if i == 1 {
					weights *= heads
				}
				norm, err := posenc.NewRMSNorm(numbersOf[float32](d, weights), 1e-6, layout%2 == 1)
				d.must(err)
				q := viewOf(d, fill, i+layout, tokens, heads, cfg.HeadDim)
				if i == 1 {
					q = viewOf(d, fill, layout%2, tokens, heads, cfg.HeadDim)
				}
				k := viewOf(d, fill, 0, tokens, 1, cfg.HeadDim)
				d.must(posenc.RotateFused(d.rotary(cfg).At(d.positions(tokens)),
					posenc.FusedView[T]{View: q.View, Norm: norm, Scale: numbersOf[float32](d, tokens)},
					posenc.FusedView[T]{View: k.View}))
				d.add(q.memory, k.memory)
			}
		}
	}
}

func digestPermute[T posenc.Element](d *digest) {
	for i, layout := range []posenc.Layout{posenc.InterleavedToHalfSplit, posenc.HalfSplitToInterleaved} {
		for _, rowSize := range []int{0, 1, 5} {
			p := posenc.Permutation{Heads: 3, HeadDim: 20, Layout: layout, RowSize: rowSize}
			if i == 1 {
				p.RotaryDim, p.Offset = 12, 3
			}
			src := anyOf[T](d, 60*max(1, rowSize))
			dst := make([]T, len(src))
			d.must(posenc.PermuteWeights(dst, src, p))
			d.must(posenc.PermuteWeights(src, src, p))
			d.add(dst, src)
		}
	}
}

func (c *cases) cosinesAndSines() {
	for angles, name := range digestAngles {
		c.add("Rotary.CosSin/angles="+name, func(d *digest) {
			for _, pairs := range []int{1, 7, 8, 33, 64, 70} {
				cfg := d.config(posenc.HalfSplit, posenc.AngleRounding(angles), pairs)
				for _, tokens := range []int{1, 5, 70} {
					digestRows(d, cfg, d.positions(tokens))
				}
			}
		})
		c.add("Rotary.CosSin/axes/angles="+name, func(d *digest) {
			for _, axes := range d.axisMaps() {
				cfg := d.config(posenc.HalfSplit, posenc.AngleRounding(angles), len(axes))
				cfg.Axes = axes
				digestRows(d, cfg, d.positions(3*40))
			}
		})
		c.add("Rotary.CosSin/xpos/angles="+name, func(d *digest) {
			for _, keys := range []bool{false, true} {
				cfg := d.config(posenc.HalfSplit, posenc.AngleRounding(angles), 12)
				cfg.XPos = &posenc.XPos{ScaleBase: 512, Center: -7, Keys: keys}
				digestRows(d, cfg, []int32{-70000, -8, -7, 0, 1, 2, 3, 511, 30000, math.MaxInt32, math.MinInt32})
			}
		})
		c.add("Rotary.CosSinFractional/angles="+name, func(d *digest) {
			for _, pairs := range []int{1, 8, 33, 64} {
				r := d.rotary(d.config(posenc.HalfSplit, posenc.AngleRounding(angles), pairs))
				const tokens = 17
				positions := append(numbersOf[float32](d, tokens-4), 0, -0x1.8p30, 0x1p-149, 0x1.5p-60)
				cos, sin := make([]float32, tokens*pairs), make([]float32, tokens*pairs)
				d.must(r.CosSinFractional(cos, sin, positions))
				d.add(cos, sin)
			}
		})
	}
	c.add("CosSin", func(d *digest) {
		for _, pairs := range []int{1, 8, 33, 64, 70} {
			const tokens = 50
			positions, invFreq := d.positions(tokens), d.frequencies(pairs)
			cos, sin := make([]float32, tokens*pairs), make([]float32, tokens*pairs)
			d.must(posenc.CosSin(cos, sin, positions, invFreq))
			d.add(cos, sin)
		}
	})
	c.add("CosSin/hard", func(d *digest) {
		for _, hard := range hardFrequencies {
			invFreq := d.frequencies(40)
			invFreq[d.below(40)] = hard.invFreq
			positions := make([]int32, 40)
			testkit.CountFrom(positions, hard.position-int32(d.below(40)), 1) // wraps
			cos, sin := make([]float32, 40*40), make([]float32, 40*40)
			d.must(posenc.CosSin(cos, sin, positions, invFreq))
			d.add(cos, sin)
		}
	})
	c.add("CosSinAngles", func(d *digest) {
		angles := anyOf[float32](d, 1000)
		for i := range angles[:700] { // below 2^49, so that whole vectors take the fast path
			angles[i] = math.Float32frombits(uint32(d.next())&(1<<31|1<<23-1) | uint32(d.below(175))<<23)
		}
		for _, bits := range testkit.HardAngles {
			angles = append(angles, math.Float32frombits(bits), math.Float32frombits(bits|1<<31))
		}
		cos, sin := make([]float32, len(angles)), make([]float32, len(angles))
		d.must(posenc.CosSinAngles(cos, sin, angles))
		d.add(cos, sin)
	})
	c.add("QueryScales", func(d *digest) {
		for _, beta := range []float64{0, 0.1, 0.46, 0x1p60} {
			for _, length := range []int{1, 8192} {
				positions := append([]int32{0, 1, 8190, 8191, 8192, 131071, math.MaxInt32}, d.indices(20, 1<<20)...)
				scales := make([]float32, len(positions))
				d.must(posenc.QueryScales(scales, positions, beta, length, length%2))
				d.add(scales)
			}
		}
	})
}

func digestRows(d *digest, cfg posenc.RotaryConfig, positions []int32) {
	d.t.Helper()
	n := len(positions) * len(cfg.InvFreq)
	if cfg.Axes != nil {
		n /= 3
	}
	cos, sin := make([]float32, n), make([]float32, n)
	d.must(d.rotary(cfg).CosSin(cos, sin, positions))
	d.add(cos, sin)
}

func (c *cases) norms() {
	c.types("Normalize", digestNormalize[float32], digestNormalize[posenc.Float16], digestNormalize[posenc.BFloat16])
	c.types("Scale", digestScale[float32], digestScale[posenc.Float16], digestScale[posenc.BFloat16])
	c.add("NewRMSNorm", func(d *digest) {
		for _, epsilon := range []float32{0, 1e-6, 0x1p100} {
			for _, unitOffset := range []bool{false, true} {
				norm, err := posenc.NewRMSNorm(anyOf[float32](d, 40), epsilon, unitOffset)
				d.must(err)
				x := numbersOf[float32](d, 40)
				d.must(posenc.Normalize(norm, 1, posenc.View[float32]{Data: x, Heads: 1}))
				d.add(x)
			}
		}
	})
}

func digestNormalize[T posenc.Element](d *digest) {
	for i, n := range []int{1, 7, 16, 31, 64, 129, 300} {
		for j, fill := range []func(*digest, int) []T{numbersOf[T], numbersOf[T], anyOf[T]} {
			norm, err := posenc.NewRMSNorm(numbersOf[float32](d, n), 1e-5, false)
			d.must(err)
			x := viewOf(d, fill, i+j, 4, 2, n)
			d.must(posenc.Normalize(norm, 4, x.View))
			d.add(x.memory)
		}
	}
}

func digestScale[T posenc.Element](d *digest) {
	for i, n := range []int{1, 7, 32, 67, 300} {
		x, y := viewOf(d, anyOf[T], i, 4, 3, n), viewOf(d, anyOf[T], i+1, 4, 1, n)
		d.must(posenc.Scale(anyOf[float32](d, 4), n, x.View, y.View))
		d.add(x.memory, y.memory)
	}
}

func (c *cases) positions() {
	c.add("RaggedPositions", func(d *digest) {
		for _, offsets := range [][]int32{nil, {7, -3, math.MaxInt32 - 40}} {
			positions := make([]int32, 60)
			d.must(posenc.RaggedPositions(positions, []int32{0, 20, 20, 60}, offsets))
			d.add(positions)
		}
	})
	dual := posenc.DualChunk{ChunkSize: 100, LocalSize: 30}
	c.add("DualChunk.KeyPositions", func(d *digest) {
		positions := d.indices(50, 1000)
		keys := make([]int32, len(positions))
		d.must(dual.KeyPositions(keys, positions))
		d.add(keys)
	})
	c.add("DualChunk.QueryPositions", func(d *digest) {
		for _, which := range []posenc.DualChunkQuery{posenc.IntraChunk, posenc.SuccessiveChunk, posenc.InterChunk, posenc.SuccessiveChunkUnbound, posenc.InterChunkUnbound} {
			positions := d.indices(50, 1000)
			queries := make([]int32, len(positions))
			d.must(dual.QueryPositions(queries, positions, which))
			d.add(queries)
		}
	})
	c.add("PaddedPositions", func(d *digest) {
		positions := make([]int32, 50)
		d.must(absolute.PaddedPositions(positions, d.mask(50), 1))
		d.add(positions)
	})
	c.add("DescendingPositions", func(d *digest) {
		for _, limit := range []int32{0, 17} {
			positions := make([]int32, 50)
			d.must(relative.DescendingPositions(positions, limit))
			d.add(positions)
		}
	})
	c.add("XLNetPositions", func(d *digest) {
		for _, limit := range []int32{0, 17} {
			for _, backward := range []bool{false, true} {
				positions := make([]int32, 50)
				d.must(relative.XLNetPositions(positions, 30, limit, backward))
				d.add(positions)
			}
		}
	})
	c.add("DETRPositions", func(d *digest) {
		for _, scale := range []float64{0, 2 * math.Pi} {
			for _, offset := range []float64{0, 0.5} {
				for _, mask := range [][]bool{nil, d.mask(9 * 13)} {
					positions := make([]float32, 2*9*13)
					d.must(absolute.DETRPositions(positions, mask, 9, 13, scale, offset))
					d.add(positions)
				}
			}
		}
	})
}

// mask returns n truths, most of them true.
func (d *digest) mask(n int) []bool {
	mask := make([]bool, n)
	for i := range mask {
		mask[i] = d.below(4) > 0
	}
	return mask
}

func (c *cases) sinusoidal() {
	c.types("SinusoidalRows/positions=int32", digestSinusoidal[float32](absolute.SinusoidalRows[float32, int32]), digestSinusoidal[posenc.Float16](absolute.SinusoidalRows[posenc.Float16, int32]), digestSinusoidal[posenc.BFloat16](absolute.SinusoidalRows[posenc.BFloat16, int32]))
	c.types("SinusoidalRows/positions=float32", digestSinusoidal[float32](absolute.SinusoidalRows[float32, float32]), digestSinusoidal[posenc.Float16](absolute.SinusoidalRows[posenc.Float16, float32]), digestSinusoidal[posenc.BFloat16](absolute.SinusoidalRows[posenc.BFloat16, float32]))
	c.types("AddSinusoidal/positions=int32", digestSinusoidal[float32](adding[float32, int32]), digestSinusoidal[posenc.Float16](adding[posenc.Float16, int32]), digestSinusoidal[posenc.BFloat16](adding[posenc.BFloat16, int32]))
	c.types("AddSinusoidal/positions=float32", digestSinusoidal[float32](adding[float32, float32]), digestSinusoidal[posenc.Float16](adding[posenc.Float16, float32]), digestSinusoidal[posenc.BFloat16](adding[posenc.BFloat16, float32]))
	c.add("SinusoidalRows64/positions=int32", digestSinusoidal64[int32])
	c.add("SinusoidalRows64/positions=float32", digestSinusoidal64[float32])
	c.add("NewSinusoidal", func(d *digest) {
		for order := range digestOrders {
			digestEncoding(d, d.sinusoidalOf(absolute.SinusoidalOrder(order)), nil)
		}
	})
	encoding := func(name string, make func() (*absolute.Sinusoidal, error)) {
		c.add(name, func(d *digest) {
			s, err := make()
			digestEncoding(d, s, err)
		})
	}
	encoding("SinusoidalVaswani", func() (*absolute.Sinusoidal, error) { return absolute.SinusoidalVaswani(34) })
	encoding("SinusoidalMarian", func() (*absolute.Sinusoidal, error) { return absolute.SinusoidalMarian(34) })
	encoding("SinusoidalMarian/dim=35", func() (*absolute.Sinusoidal, error) { return absolute.SinusoidalMarian(35) })
	encoding("SinusoidalTensor2Tensor", func() (*absolute.Sinusoidal, error) { return absolute.SinusoidalTensor2Tensor(35, 2, 1, 10000) })
	encoding("SinusoidalFairseq", func() (*absolute.Sinusoidal, error) { return absolute.SinusoidalFairseq(35, 1) })
	encoding("SinusoidalWhisper", func() (*absolute.Sinusoidal, error) { return absolute.SinusoidalWhisper(34) })
	encoding("SinusoidalMusicGen", func() (*absolute.Sinusoidal, error) { return absolute.SinusoidalMusicGen(35) })
	encoding("SinusoidalMAE", func() (*absolute.Sinusoidal, error) { return absolute.SinusoidalMAE(36) })
	encoding("SinusoidalDETR", func() (*absolute.Sinusoidal, error) { return absolute.SinusoidalDETR(18, 10000) })
	encoding("SinusoidalMLX", func() (*absolute.Sinusoidal, error) { return absolute.SinusoidalMLX(34, 0.0001, 1, 0, true) })
	encoding("SinusoidalTimesteps", func() (*absolute.Sinusoidal, error) {
		return absolute.SinusoidalTimesteps(35, absolute.Timesteps{FlipSinToCos: true, DownscaleFreqShift: 1, Scale: 1000})
	})
	c.add("Sinusoidal.Shift", func(d *digest) {
		for order := range digestOrders {
			s := d.sinusoidalOf(absolute.SinusoidalOrder(order))
			const tokens = 12
			rows := anyOf[float32](d, tokens*s.dim)
			d.must(s.Shift(rows, d.positions(tokens*s.axes)))
			d.add(rows)
		}
	})
	c.add("Sinusoidal.ShiftMatrix", func(d *digest) {
		for order := range digestOrders {
			s := d.sinusoidalOf(absolute.SinusoidalOrder(order))
			matrix := make([]float32, s.dim*s.dim)
			d.must(s.ShiftMatrix(matrix, d.positions(s.axes)))
			d.add(matrix)
		}
	})
}

const digestOrders = 3

// sinusoidalOf returns an encoding with all that a configuration may have.
func (d *digest) sinusoidalOf(order absolute.SinusoidalOrder) *absolute.Sinusoidal {
	padding := int32(1)
	axes, pairs := 1+int(order)%2, 21
	cfg := absolute.SinusoidalConfig{Dim: 2*axes*pairs + int(order), InvFreq: make([]float64, pairs), Order: order, Axes: axes, Padding: &padding}
	for i := range cfg.InvFreq {
		cfg.InvFreq[i] = d.frequency()
	}
	if order == absolute.CosThenSin {
		cfg.Scaling = 1.25
	}
	s, err := absolute.NewSinusoidal(cfg)
	d.must(err)
	return s
}

func adding[T posenc.Element, P absolute.Position](s *absolute.Sinusoidal, positions []P, x []T) error {
	return absolute.AddSinusoidal(s, positions, x, 22.627416)
}

func positionsAs[P absolute.Position](d *digest, n int) []P {
	var list any = d.positions(n)
	if _, ok := any(*new(P)).(float32); ok {
		list = append(numbersOf[float32](d, n-1), 1)
	}
	return list.([]P)
}

// digestSinusoidal writes rows to elements, or adds them.
func digestSinusoidal[T posenc.Element, P absolute.Position](write func(*absolute.Sinusoidal, []P, []T) error) func(d *digest) {
	return func(d *digest) {
		for order := range digestOrders {
			s := d.sinusoidalOf(absolute.SinusoidalOrder(order))
			for _, tokens := range []int{1, 40} {
				x := anyOf[T](d, tokens*s.dim)
				d.must(write(s, positionsAs[P](d, tokens*s.axes), x))
				d.add(x)
			}
		}
	}
}

func digestSinusoidal64[P absolute.Position](d *digest) {
	for order := range digestOrders {
		s := d.sinusoidalOf(absolute.SinusoidalOrder(order))
		const tokens = 3
		rows := make([]float64, tokens*s.dim)
		d.must(absolute.SinusoidalRows64(s, positionsAs[P](d, tokens*s.axes), rows))
		d.add(rows)
	}
}

// digestEncoding writes the rows of an encoding.
func digestEncoding(d *digest, s *absolute.Sinusoidal, err error) {
	d.t.Helper()
	d.must(err)
	positions := make([]int32, 20*s.axes)
	testkit.CountFrom(positions, -1, 1)
	rows := make([]float32, 20*s.dim)
	d.must(absolute.SinusoidalRows(s, positions, rows))
	d.add(rows)
}

func (c *cases) learned() {
	c.pairsOfTypes("AddEmbeddings", "type", "table", [3][3]func(d *digest){
		{digestEmbeddings[float32, float32], digestEmbeddings[float32, posenc.Float16], digestEmbeddings[float32, posenc.BFloat16]},
		{digestEmbeddings[posenc.Float16, float32], digestEmbeddings[posenc.Float16, posenc.Float16], digestEmbeddings[posenc.Float16, posenc.BFloat16]},
		{digestEmbeddings[posenc.BFloat16, float32], digestEmbeddings[posenc.BFloat16, posenc.Float16], digestEmbeddings[posenc.BFloat16, posenc.BFloat16]},
	})
	c.add("InterpolateTable", func(d *digest) {
		for _, shape := range [][2]int{{7, 19}, {19, 7}, {5, 5}, {1, 3}} {
			dst := make([]float32, shape[1]*12)
			d.must(absolute.InterpolateTable(dst, numbersOf[float32](d, shape[0]*12), 12))
			d.add(dst)
		}
	})
	c.add("InterpolateGrid", func(d *digest) {
		for _, antialias := range []bool{false, true} {
			for _, shape := range [][4]int{{5, 7, 9, 4}, {9, 4, 5, 7}, {3, 3, 3, 3}, {1, 2, 3, 1}} {
				dst := make([]float32, shape[2]*shape[3]*5)
				d.must(absolute.InterpolateGrid(dst, shape[2], shape[3], numbersOf[float32](d, shape[0]*shape[1]*5), shape[0], shape[1], 5, antialias))
				d.add(dst)
			}
		}
	})
}

func digestEmbeddings[T, W posenc.Element](d *digest) {
	for _, dim := range []int{1, 7, 32, 65} {
		const rows, tokens = 9, 6
		x := anyOf[T](d, tokens*dim)
		d.must(absolute.AddEmbeddings(x, dim,
			absolute.Embedding[W]{Table: anyOf[W](d, rows*dim), IDs: d.indices(tokens, rows)},
			absolute.Embedding[W]{Table: anyOf[W](d, rows*dim), IDs: d.indices(tokens, rows-2), Offset: 2}))
		d.add(x)
	}
}

// digestScores is a tile of scores and the memory in which it lies.
type digestScores struct {
	relative.Scores
	memory []float32
}

// scores returns a tile of two of four heads, of one of three shapes.
func (d *digest) scores(shape, queries, keys int) digestScores {
	s := relative.Scores{Heads: 2, Queries: queries, Keys: keys, FirstHead: d.below(3)}
	n := s.Heads * queries * keys
	switch shape {
	case 1: // [heads][queries][keys] with gaps
		s.QueryStride = keys + d.below(9)
		s.HeadStride = queries*s.QueryStride + d.below(9)
		n = s.Heads * s.HeadStride
	case 2: // [queries][heads][keys] with gaps
		s.HeadStride = keys + d.below(9)
		s.QueryStride = s.Heads*s.HeadStride + d.below(9)
		n = queries * s.QueryStride
	}
	start := d.below(16)
	memory := anyOf[float32](d, start+n+8)
	s.Data = memory[start : start+n]
	return digestScores{s, memory}
}

// eachTile adds to tiles of several shapes and positions.
func (d *digest) eachTile(add func(s relative.Scores) error) {
	d.t.Helper()
	for i, shape := range [][2]int{{1, 1}, {1, 37}, {5, 9}, {9, 64}, {17, 1030}} {
		s := d.scores(i%3, shape[0], shape[1])
		s.FirstQuery, s.FirstKey = d.below(300)-20, d.below(300)-20
		d.must(add(s.Scores))
		d.add(s.memory)
	}
}

// products returns random ones, packed or with gaps.
func (d *digest) products(heads, rows, columns int) relative.Products {
	p := relative.Products{RowStride: columns + d.below(5)}
	p.HeadStride = rows*p.RowStride + d.below(5)
	p.Data = anyOf[float32](d, heads*p.HeadStride)
	return p
}

// eachRelative calls f with rows, vectors and products of several shapes, of ordinary
// numbers and of any.
func (d *digest) eachRelative(f func(x, vectors posenc.View[float32], products relative.Products, tokens, columns, headDim int)) {
	const heads = 2
	for i, shape := range [][3]int{{1, 1, 1}, {3, 9, 7}, {4, 33, 16}, {18, 70, 64}, {2, 5, 80}, {3, 6, 1024}} {
		tokens, columns, headDim := shape[0], shape[1], shape[2]
		for j, fill := range []func(*digest, int) []float32{numbersOf[float32], anyOf[float32]} {
			x, vectors := viewOf(d, fill, i, tokens, heads, headDim), viewOf(d, fill, i+1, columns, 1+(i+j)%heads, headDim)
			products := d.products(heads, tokens, columns)
			copy(products.Data, fill(d, len(products.Data)))
			f(x.View, vectors.View, products, tokens, columns, headDim)
		}
	}
}

func (c *cases) relative() {
	c.add("ALiBiSlopes", func(d *digest) {
		for _, heads := range []int{1, 8, 12, 71} {
			for _, maxBias := range []float64{8, 0x1.4p-3} {
				slopes := make([]float32, heads)
				d.must(relative.ALiBiSlopes(slopes, maxBias))
				d.add(slopes)
			}
		}
	})
	for form, name := range []string{relative.CausalALiBi: "CausalALiBi", relative.SymmetricALiBi: "SymmetricALiBi", relative.KeyALiBi: "KeyALiBi"} {
		c.add("AddALiBi/form="+name, func(d *digest) {
			d.eachTile(func(s relative.Scores) error {
				return relative.AddALiBi(s, anyOf[float32](d, 4), relative.ALiBiForm(form))
			})
			far := d.scores(0, 2, 40)
			far.FirstQuery, far.FirstKey = 1<<30-2, -1<<30
			d.must(relative.AddALiBi(far.Scores, numbersOf[float32](d, 4), relative.ALiBiForm(form)))
			d.add(far.memory)
		})
	}
	for _, bidirectional := range []bool{false, true} {
		buckets := func(d *digest) []*relative.T5Buckets {
			common, err := relative.NewT5Buckets(32, 128, bidirectional)
			d.must(err)
			other, err := relative.NewT5Buckets(52, 1000, bidirectional)
			d.must(err)
			return []*relative.T5Buckets{common, other}
		}
		suffix := fmt.Sprintf("/bidirectional=%t", bidirectional)
		bucket := func(d *digest) {
			for _, b := range buckets(d) {
				for n := int32(-1100); n <= 1100; n++ {
					d.add(int32(b.Bucket(int(n))))
				}
				d.add(int32(b.Bucket(math.MinInt32)), int32(b.Bucket(math.MaxInt32)))
			}
		}
		c.add("NewT5Buckets"+suffix, bucket)
		c.add("T5Buckets.Bucket"+suffix, bucket)
		biases := func(d *digest) {
			for i, b := range buckets(d) {
				weights := anyOf[float32](d, []int{32, 52}[i]*4)
				bias, err := relative.NewT5Bias(b, weights)
				d.must(err)
				d.eachTile(func(s relative.Scores) error { return relative.AddT5(s, bias) })
			}
		}
		c.add("NewT5Bias"+suffix, biases)
		c.add("AddT5"+suffix, biases)
	}
	for _, logarithmic := range []bool{false, true} {
		span := 22
		if logarithmic {
			span = 16
		}
		buckets := func(d *digest) *relative.DeBERTaBuckets {
			n := 0
			if logarithmic {
				n = span
			}
			b, err := relative.NewDeBERTaBuckets(n, 22)
			d.must(err)
			return b
		}
		suffix := fmt.Sprintf("/logarithmic=%t", logarithmic)
		position := func(d *digest) {
			b := buckets(d)
			for n := int32(-600); n <= 600; n++ {
				d.add(int32(b.Position(int(n))))
			}
			d.add(int32(b.Position(math.MinInt32)), int32(b.Position(math.MaxInt32)))
		}
		c.add("NewDeBERTaBuckets"+suffix, position)
		c.add("DeBERTaBuckets.Position"+suffix, position)
		c.add("AddDeBERTa"+suffix, func(d *digest) {
			b := buckets(d)
			for which := range 3 {
				d.eachTile(func(s relative.Scores) error {
					var contentToPosition, positionToContent relative.Products
					if which != 1 {
						contentToPosition = d.products(s.Heads, s.Queries, 2*span)
					}
					if which != 2 {
						positionToContent = d.products(s.Heads, s.Keys, 2*span)
					}
					return relative.AddDeBERTa(s, b, contentToPosition, positionToContent, 0x1.bb67aep+3)
				})
			}
		})
	}
	c.add("AddRelativeShift", func(d *digest) {
		d.eachTile(func(s relative.Scores) error {
			// Columns from the largest distance of the tile down, to the last key or
			// to that of the query.
			largest := max(s.FirstQuery+s.Queries-1-s.FirstKey, 0)
			columns := largest + 1
			if d.below(2) == 0 {
				columns = max(columns, largest+1-(s.FirstQuery-(s.FirstKey+s.Keys-1)))
			}
			return relative.AddRelativeShift(s, d.products(s.Heads, s.Queries, columns), columns, largest)
		})
	})
	c.add("AddShaw", func(d *digest) {
		for _, maxDistance := range []int{0, 16} {
			d.eachTile(func(s relative.Scores) error {
				return relative.AddShaw(s, d.products(s.Heads, s.Queries, 2*maxDistance+1), maxDistance)
			})
		}
	})
	c.add("SumShaw", func(d *digest) {
		for _, fill := range []func(*digest, int) []float32{numbersOf[float32], anyOf[float32]} {
			for _, maxDistance := range []int{0, 16} {
				d.eachTile(func(s relative.Scores) error {
					sums := d.products(s.Heads, s.Queries, 2*maxDistance+1)
					copy(sums.Data, fill(d, len(sums.Data)))
					copy(s.Data, fill(d, len(s.Data)))
					err := relative.SumShaw(sums, s, maxDistance)
					d.add(sums.Data)
					return err
				})
			}
		}
	})
	c.add("RelativeProducts", func(d *digest) {
		d.eachRelative(func(x, vectors posenc.View[float32], products relative.Products, tokens, columns, headDim int) {
			bias := anyOf[float32](d, x.Heads*headDim)
			if d.below(2) == 0 {
				bias = nil
			}
			d.must(relative.RelativeProducts(products, x, bias, vectors, tokens, columns, headDim))
			d.add(products.Data)
		})
	})
	c.add("AddRelativeValues", func(d *digest) {
		d.eachRelative(func(out, vectors posenc.View[float32], sums relative.Products, tokens, columns, headDim int) {
			d.must(relative.AddRelativeValues(out, sums, vectors, tokens, columns, headDim))
			d.add(out.Data)
		})
	})
	windows := func(d *digest) {
		for _, window := range [][2]int{{1, 1}, {7, 7}, {5, 12}} {
			height, width := window[0], window[1]
			bias, err := relative.NewSwinBias(height, width, anyOf[float32](d, (2*height-1)*(2*width-1)*4))
			d.must(err)
			n := height * width
			for shape := range 3 {
				s := d.scores(shape, 1+d.below(n), 1+d.below(n))
				s.FirstQuery, s.FirstKey = d.below(n-s.Queries+1), d.below(n-s.Keys+1)
				d.must(relative.AddSwin(s.Scores, bias))
				d.add(s.memory)
			}
		}
	}
	c.add("NewSwinBias", windows)
	c.add("SwinCoordinates", func(d *digest) {
		for _, pretrained := range []int{0, 2, 12, 64} {
			dst := make([]float32, 23*29*2)
			d.must(relative.SwinCoordinates(dst, 12, 15, pretrained, pretrained))
			d.add(dst)
		}
	})
	c.add("AddSwin", windows)
}

func (c *cases) ladders() {
	for _, rounding := range []frequency.Rounding{frequency.Exact, frequency.Float32} {
		ladder := func(name string, make func() (frequency.Ladder, error)) {
			c.add("frequency."+name+"/rounding="+digestAngles[rounding], func(d *digest) {
				l, err := make()
				d.must(err)
				d.add(l.InvFreq, []float64{l.AttentionFactor, l.SoftmaxScale})
			})
		}
		const dim, base = 32, 10000
		ladder("Default", func() (frequency.Ladder, error) { return frequency.Default(128, 500000, rounding) })
		ladder("Linear", func() (frequency.Ladder, error) { return frequency.Linear(dim, base, 2.5, rounding) })
		ladder("DynamicNTK", func() (frequency.Ladder, error) {
			return frequency.DynamicNTK(dim, base, frequency.DynamicNTKParameters{Factor: 2, MaxPositions: 4096}, 10001, rounding)
		})
		ladder("NTK", func() (frequency.Ladder, error) { return frequency.NTK(dim, base, 3, rounding) })
		ladder("NTKAlpha", func() (frequency.Ladder, error) { return frequency.NTKAlpha(dim, base, 1000, rounding) })
		ladder("NTKMixed", func() (frequency.Ladder, error) {
			return frequency.NTKMixed(dim, base, frequency.NTKMixedParameters{Factor: 8, MixedB: 0.625}, rounding)
		})
		ladder("Proportional", func() (frequency.Ladder, error) {
			return frequency.Proportional(dim, 1e6, frequency.ProportionalParameters{PartialRotaryFactor: 0.25, Factor: 8}, rounding)
		})
		ladder("YaRN", func() (frequency.Ladder, error) {
			return frequency.YaRN(64, base, frequency.YaRNParameters{Factor: 40, OriginalMaxPositions: 4096, MScale: 0.707, MScaleAllDim: 1, ScaleSoftmax: true}, rounding)
		})
		ladder("YaRN/untruncated", func() (frequency.Ladder, error) {
			return frequency.YaRN(64, 150000, frequency.YaRNParameters{Factor: 32, OriginalMaxPositions: 4096, Untruncated: true}, rounding)
		})
		ladder("Llama3", func() (frequency.Ladder, error) {
			return frequency.Llama3(128, 500000, frequency.Llama3Parameters{Factor: 8, LowFreqFactor: 1, HighFreqFactor: 4, OriginalMaxPositions: 8192}, rounding)
		})
		for _, seqLen := range []int{4096, 4097} {
			ladder(fmt.Sprintf("LongRoPE/seqLen=%d", seqLen), func() (frequency.Ladder, error) {
				return frequency.LongRoPE(8, base, frequency.LongRoPEParameters{
					ShortFactors: []float64{1, 1.05, 1.1, 1.5}, LongFactors: []float64{1.1, 3, 20, 64.5}, OriginalMaxPositions: 4096, Factor: 32,
				}, seqLen, rounding)
			})
		}
		ladder("Factors", func() (frequency.Ladder, error) {
			return frequency.Factors(8, 500000, []float64{1, 1.5, 7.3, 8}, rounding)
		})
		ladder("Axial", func() (frequency.Ladder, error) { return frequency.Axial(base, rounding, 16, 24, 24) })
		ladder("AxialAlternating", func() (frequency.Ladder, error) { return frequency.AxialAlternating(64, base, rounding) })
	}
	list := func(name string, make func() ([]float64, error)) {
		c.add("frequency."+name, func(d *digest) {
			l, err := make()
			d.must(err)
			d.add(l)
		})
	}
	list("Geometric", func() ([]float64, error) { return frequency.Geometric(20, 1, 0.0001) })
	list("Sinusoidal", func() ([]float64, error) { return frequency.Sinusoidal(20, 1000, 10000, 18.5) })
	list("TimingSignal", func() ([]float64, error) { return frequency.TimingSignal(20, 1, 10000) })
	c.add("frequency.XPos", func(d *digest) {
		high, low, err := frequency.XPos(64, 512)
		d.must(err)
		d.add(high, low)
	})
	sections := func(name string, which int) {
		c.add("frequency."+name, func(d *digest) { d.add(d.axisMaps()[which]) })
	}
	sections("Sections", 0)
	sections("InterleavedSections", 1)
	sections("AlternatingSections", 2)
}
