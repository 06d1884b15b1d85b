package posenc

import (
	"fmt"
	"math"

	"github.com/go-posenc/posenc/frequency"
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
	digestLayouts = []string{HalfSplit: "HalfSplit", Interleaved: "Interleaved", InterleavedToHalfSplit: "InterleavedToHalfSplit", HalfSplitToInterleaved: "HalfSplitToInterleaved"}
	digestAngles  = []string{Exact: "Exact", Float32: "Float32"}
)

// geometry returns a configuration of so many pairs, of whole heads or of a slice.
func (d *digest) geometry(layout Layout, pairs int) RotaryConfig {
	cfg := RotaryConfig{HeadDim: 2 * pairs, Layout: layout}
	if d.below(2) == 0 {
		cfg.RotaryDim, cfg.Offset = 2*pairs, d.below(10)
		cfg.HeadDim += cfg.Offset + d.below(10)
	}
	return cfg
}

// config returns one with frequencies and a factor.
func (d *digest) config(layout Layout, angles Angles, pairs int) RotaryConfig {
	cfg := d.geometry(layout, pairs)
	cfg.Angles, cfg.InvFreq = angles, d.frequencies(pairs)
	cfg.Scaling = []float64{0, 0, 1.2079441541679836, 0x1.8p-70}[d.below(4)]
	return cfg
}

// rotary returns a Rotary of a configuration.
func (d *digest) rotary(cfg RotaryConfig) *Rotary {
	d.t.Helper()
	r, err := NewRotary(cfg)
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
		float32s  func(*Rotary, []int32, ...View[float32]) error
		float16s  func(*Rotary, []int32, ...View[Float16]) error
		bfloat16s func(*Rotary, []int32, ...View[BFloat16]) error
	}{
		{"Rotate", Rotate[float32], Rotate[Float16], Rotate[BFloat16]},
		{"RotateInverse", RotateInverse[float32], RotateInverse[Float16], RotateInverse[BFloat16]},
		{"Shift", Shift[float32], Shift[Float16], Shift[BFloat16]},
	} {
		for layout, layoutName := range digestLayouts {
			for angles, anglesName := range digestAngles {
				layout, angles := Layout(layout), Angles(angles)
				c.types(fmt.Sprintf("%s/layout=%s/angles=%s", o.name, layoutName, anglesName),
					func(d *digest) { digestRotate(d, layout, angles, o.float32s) },
					func(d *digest) { digestRotate(d, layout, angles, o.float16s) },
					func(d *digest) { digestRotate(d, layout, angles, o.bfloat16s) })
			}
			layout := Layout(layout)
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
		for _, angles := range []Angles{Exact, Float32} {
			for _, base := range []float64{0, 2, 500000, 1e6} {
				r := d.rotary(RotaryConfig{HeadDim: 40, RotaryDim: 24, Base: base, Angles: angles})
				positions := []int32{1, 2, 4097, math.MaxInt32}
				cos, sin := make([]float32, 4*12), make([]float32, 4*12)
				d.must(r.CosSin(cos, sin, positions))
				d.add(cos, sin)
			}
		}
	})
	c.pairsOfTypes("NewTableRotary", "type", "table", [3][3]func(d *digest){
		{digestTable[float32, float32], digestTable[float32, Float16], digestTable[float32, BFloat16]},
		{digestTable[Float16, float32], digestTable[Float16, Float16], digestTable[Float16, BFloat16]},
		{digestTable[BFloat16, float32], digestTable[BFloat16, Float16], digestTable[BFloat16, BFloat16]},
	})
	c.types("Rotary.Tabulate", digestTabulate[float32], digestTabulate[Float16], digestTabulate[BFloat16])
	c.types("Rotary.Extend", digestExtend[float32], digestExtend[Float16], digestExtend[BFloat16])
	c.pairsOfTypes("RotateInto", "to", "from", [3][3]func(d *digest){
		{digestInto[float32, float32], digestInto[float32, Float16], digestInto[float32, BFloat16]},
		{digestInto[Float16, float32], digestInto[Float16, Float16], digestInto[Float16, BFloat16]},
		{digestInto[BFloat16, float32], digestInto[BFloat16, Float16], digestInto[BFloat16, BFloat16]},
	})
	c.types("RotateFused", digestFused[float32], digestFused[Float16], digestFused[BFloat16])
	c.types("PermuteWeights", digestPermute[float32], digestPermute[Float16], digestPermute[BFloat16])
	c.add("Float16s", func(d *digest) { d.add(Float16s([]uint16{0, 1, 0x3c00, 0xffff})) })
	c.add("BFloat16s", func(d *digest) { d.add(BFloat16s([]uint16{0, 1, 0x3f80, 0xffff})) })
}

// digestRotate rotates Q and K of several shapes by an operation in place.
func digestRotate[T Element](d *digest, layout Layout, angles Angles, rotate func(*Rotary, []int32, ...View[T]) error) {
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
func digestRotateLarge[T Element](d *digest, layout Layout, rotate func(*Rotary, []int32, ...View[T]) error) {
	wide := 1030
	if layout > Interleaved {
		wide = 700
	}
	for _, shape := range []struct{ pairs, tokens, heads int }{{wide, 2, 1}, {16, 2, 90}} {
		cfg := d.config(layout, Float32, shape.pairs)
		x := viewOf(d, anyOf[T], d.below(digestShapes), shape.tokens, shape.heads, cfg.HeadDim)
		d.must(rotate(d.rotary(cfg), d.positions(shape.tokens), x.View))
		d.add(x.memory)
	}
}

func digestRotateAxes[T Element](d *digest, rotate func(*Rotary, []int32, ...View[T]) error) {
	for i, axes := range d.axisMaps() {
		for _, angles := range []Angles{Exact, Float32} {
			const tokens = 9
			cfg := d.config(Layout(d.below(4)), angles, len(axes))
			cfg.Axes = axes
			x := viewOf(d, anyOf[T], i, tokens, 2, cfg.HeadDim)
			d.must(rotate(d.rotary(cfg), d.positions(3*tokens), x.View))
			d.add(x.memory)
		}
	}
}

func digestRotateXPos[T Element](d *digest, rotate func(*Rotary, []int32, ...View[T]) error) {
	for i, keys := range []bool{false, true} {
		const tokens = 6
		cfg := d.config(Layout(i), Exact, 20)
		cfg.XPos = &XPos{ScaleBase: 512, Center: 100, Keys: keys}
		x := viewOf(d, anyOf[T], i, tokens, 2, cfg.HeadDim)
		d.must(rotate(d.rotary(cfg), []int32{-5000, 0, 99, 100, 101, 4097}, x.View))
		d.add(x.memory)
	}
}

// digestTable rotates by tables of half and of full width, by their rows in order
// and by others.
func digestTable[T, C Element](d *digest) {
	for layout := range digestLayouts {
		for i, width := range []int{1, 2} {
			const rows, tokens = 7, 7
			cfg := d.geometry(Layout(layout), 20)
			stride := width*20 + 5*d.below(2)
			table := Table[C]{numbersOf[C](d, rows*stride), numbersOf[C](d, rows*stride), stride, width == 2}
			r, err := NewTableRotary(cfg, table)
			d.must(err)
			for j, positions := range [][]int32{nil, d.indices(tokens, rows)} {
				for _, rotate := range []func(*Rotary, []int32, ...View[T]) error{Rotate[T], RotateInverse[T]} {
					x := viewOf(d, anyOf[T], layout+i+j, tokens, 2, cfg.HeadDim)
					d.must(rotate(r, positions, x.View))
					d.add(x.memory)
				}
			}
		}
	}
}

func digestTabulate[T Element](d *digest) {
	for layout := range digestLayouts {
		const tokens = 20
		cfg := d.config(Layout(layout), Angles(layout%2), 33)
		rows, err := d.rotary(cfg).Tabulate(d.positions(tokens))
		d.must(err)
		for i, positions := range [][]int32{nil, d.indices(tokens, tokens)} {
			x := viewOf(d, anyOf[T], layout+i, tokens, 2, cfg.HeadDim)
			d.must(Rotate(rows, positions, x.View))
			d.add(x.memory)
		}
	}
}

func digestExtend[T Element](d *digest) {
	cfg := d.config(HalfSplit, Exact, 16)
	rows, err := d.rotary(cfg).Tabulate(d.positions(5))
	d.must(err)
	for tokens := 8; tokens < 40; tokens += 9 {
		rows, err = rows.Extend(d.positions(tokens - rows.table.count))
		d.must(err)
		x := viewOf(d, anyOf[T], tokens, tokens, 1, cfg.HeadDim)
		d.must(Rotate(rows, nil, x.View))
		d.add(x.memory)
	}
}

// digestInto rotates into caches, from token to token and by slots.
func digestInto[D, S Element](d *digest) {
	for layout := range digestLayouts {
		for i, pairs := range []int{3, 16, 35} {
			cfg := d.config(Layout(layout), Angles(i%2), pairs)
			r := d.rotary(cfg)
			const tokens, heads = 8, 2
			for _, slots := range [][]int32{nil, {3, 4, 5, -1, 0, 3, 9, 8}} {
				room := tokens
				if slots != nil {
					room = 12
				}
				src := viewOf(d, anyOf[S], layout+i, tokens, heads, cfg.HeadDim)
				dst := viewOf(d, anyOf[D], d.below(digestShapes), room, heads, cfg.HeadDim)
				d.must(RotateInto(r, d.positions(tokens), dst.View, slots, src.View))
				d.add(dst.memory)
			}
		}
	}
}

// digestFused normalizes each head, or all heads of a token, rotates and scales.
func digestFused[T Element](d *digest) {
	for layout := range digestLayouts {
		for i, fill := range []func(*digest, int) []T{numbersOf[T], numbersOf[T], anyOf[T]} {
			for _, tokens := range []int{1, 9} {
				const heads = 3
				cfg := d.config(Layout(layout), Angles(i%2), 16*(i+1))
				weights := cfg.HeadDim
				if i == 1 {
					weights *= heads
				}
				norm, err := NewRMSNorm(numbersOf[float32](d, weights), 1e-6, layout%2 == 1)
				d.must(err)
				q := viewOf(d, fill, i+layout, tokens, heads, cfg.HeadDim)
				if i == 1 {
					q = viewOf(d, fill, layout%2, tokens, heads, cfg.HeadDim)
				}
				k := viewOf(d, fill, 0, tokens, 1, cfg.HeadDim)
				d.must(RotateFused(d.rotary(cfg), d.positions(tokens),
					FusedView[T]{View: q.View, Norm: norm, Scale: numbersOf[float32](d, tokens)},
					FusedView[T]{View: k.View}))
				d.add(q.memory, k.memory)
			}
		}
	}
}

func digestPermute[T Element](d *digest) {
	for i, layout := range []Layout{InterleavedToHalfSplit, HalfSplitToInterleaved} {
		for _, rowSize := range []int{0, 1, 5} {
			p := Permutation{Heads: 3, HeadDim: 20, Layout: layout, RowSize: rowSize}
			if i == 1 {
				p.RotaryDim, p.Offset = 12, 3
			}
			src := anyOf[T](d, 60*max(1, rowSize))
			dst := make([]T, len(src))
			d.must(PermuteWeights(dst, src, p))
			d.must(PermuteWeights(src, src, p))
			d.add(dst, src)
		}
	}
}

func (c *cases) cosinesAndSines() {
	for angles, name := range digestAngles {
		c.add("Rotary.CosSin/angles="+name, func(d *digest) {
			for _, pairs := range []int{1, 7, 8, 33, 64, 70} {
				cfg := d.config(HalfSplit, Angles(angles), pairs)
				for _, tokens := range []int{1, 5, 70} {
					digestRows(d, cfg, d.positions(tokens))
				}
			}
		})
		c.add("Rotary.CosSin/axes/angles="+name, func(d *digest) {
			for _, axes := range d.axisMaps() {
				cfg := d.config(HalfSplit, Angles(angles), len(axes))
				cfg.Axes = axes
				digestRows(d, cfg, d.positions(3*40))
			}
		})
		c.add("Rotary.CosSin/xpos/angles="+name, func(d *digest) {
			for _, keys := range []bool{false, true} {
				cfg := d.config(HalfSplit, Angles(angles), 12)
				cfg.XPos = &XPos{ScaleBase: 512, Center: -7, Keys: keys}
				digestRows(d, cfg, []int32{-70000, -8, -7, 0, 1, 2, 3, 511, 30000, math.MaxInt32, math.MinInt32})
			}
		})
		c.add("Rotary.CosSinFractional/angles="+name, func(d *digest) {
			for _, pairs := range []int{1, 8, 33, 64} {
				r := d.rotary(d.config(HalfSplit, Angles(angles), pairs))
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
			d.must(CosSin(cos, sin, positions, invFreq))
			d.add(cos, sin)
		}
	})
	c.add("CosSin/hard", func(d *digest) {
		for _, hard := range hardFrequencies {
			invFreq := d.frequencies(40)
			invFreq[d.below(40)] = hard.invFreq
			positions := make([]int32, 40)
			countFrom(positions, hard.position-int32(d.below(40)), 1) // wraps
			cos, sin := make([]float32, 40*40), make([]float32, 40*40)
			d.must(CosSin(cos, sin, positions, invFreq))
			d.add(cos, sin)
		}
	})
	c.add("CosSinAngles", func(d *digest) {
		angles := anyOf[float32](d, 1000)
		for i := range angles[:700] { // below 2^49, so that whole vectors take the fast path
			angles[i] = math.Float32frombits(uint32(d.next())&(1<<31|1<<23-1) | uint32(d.below(175))<<23)
		}
		for _, bits := range hardAngles {
			angles = append(angles, math.Float32frombits(bits), math.Float32frombits(bits|1<<31))
		}
		cos, sin := make([]float32, len(angles)), make([]float32, len(angles))
		d.must(CosSinAngles(cos, sin, angles))
		d.add(cos, sin)
	})
	c.add("QueryScales", func(d *digest) {
		for _, beta := range []float64{0, 0.1, 0.46, 0x1p60} {
			for _, length := range []int{1, 8192} {
				positions := append([]int32{0, 1, 8190, 8191, 8192, 131071, math.MaxInt32}, d.indices(20, 1<<20)...)
				scales := make([]float32, len(positions))
				d.must(QueryScales(scales, positions, beta, length, length%2))
				d.add(scales)
			}
		}
	})
}

func digestRows(d *digest, cfg RotaryConfig, positions []int32) {
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
	c.types("Normalize", digestNormalize[float32], digestNormalize[Float16], digestNormalize[BFloat16])
	c.types("Scale", digestScale[float32], digestScale[Float16], digestScale[BFloat16])
	c.add("NewRMSNorm", func(d *digest) {
		for _, epsilon := range []float32{0, 1e-6, 0x1p100} {
			for _, unitOffset := range []bool{false, true} {
				norm, err := NewRMSNorm(anyOf[float32](d, 40), epsilon, unitOffset)
				d.must(err)
				x := numbersOf[float32](d, 40)
				d.must(Normalize(norm, 1, View[float32]{Data: x, Heads: 1}))
				d.add(x)
			}
		}
	})
}

func digestNormalize[T Element](d *digest) {
	for i, n := range []int{1, 7, 16, 31, 64, 129, 300} {
		for j, fill := range []func(*digest, int) []T{numbersOf[T], numbersOf[T], anyOf[T]} {
			norm, err := NewRMSNorm(numbersOf[float32](d, n), 1e-5, false)
			d.must(err)
			x := viewOf(d, fill, i+j, 4, 2, n)
			d.must(Normalize(norm, 4, x.View))
			d.add(x.memory)
		}
	}
}

func digestScale[T Element](d *digest) {
	for i, n := range []int{1, 7, 32, 67, 300} {
		x, y := viewOf(d, anyOf[T], i, 4, 3, n), viewOf(d, anyOf[T], i+1, 4, 1, n)
		d.must(Scale(anyOf[float32](d, 4), n, x.View, y.View))
		d.add(x.memory, y.memory)
	}
}

func (c *cases) positions() {
	c.add("RaggedPositions", func(d *digest) {
		for _, offsets := range [][]int32{nil, {7, -3, math.MaxInt32 - 40}} {
			positions := make([]int32, 60)
			d.must(RaggedPositions(positions, []int32{0, 20, 20, 60}, offsets))
			d.add(positions)
		}
	})
	dual := DualChunk{ChunkSize: 100, LocalSize: 30}
	c.add("DualChunk.KeyPositions", func(d *digest) {
		positions := d.indices(50, 1000)
		keys := make([]int32, len(positions))
		d.must(dual.KeyPositions(keys, positions))
		d.add(keys)
	})
	c.add("DualChunk.QueryPositions", func(d *digest) {
		for _, which := range []DualChunkQuery{IntraChunk, SuccessiveChunk, InterChunk, SuccessiveChunkUnbound, InterChunkUnbound} {
			positions := d.indices(50, 1000)
			queries := make([]int32, len(positions))
			d.must(dual.QueryPositions(queries, positions, which))
			d.add(queries)
		}
	})
	c.add("PaddedPositions", func(d *digest) {
		positions := make([]int32, 50)
		d.must(PaddedPositions(positions, d.mask(50), 1))
		d.add(positions)
	})
	c.add("DescendingPositions", func(d *digest) {
		for _, limit := range []int32{0, 17} {
			positions := make([]int32, 50)
			d.must(DescendingPositions(positions, limit))
			d.add(positions)
		}
	})
	c.add("XLNetPositions", func(d *digest) {
		for _, limit := range []int32{0, 17} {
			for _, backward := range []bool{false, true} {
				positions := make([]int32, 50)
				d.must(XLNetPositions(positions, 30, limit, backward))
				d.add(positions)
			}
		}
	})
	c.add("DETRPositions", func(d *digest) {
		for _, scale := range []float64{0, 2 * math.Pi} {
			for _, offset := range []float64{0, 0.5} {
				for _, mask := range [][]bool{nil, d.mask(9 * 13)} {
					positions := make([]float32, 2*9*13)
					d.must(DETRPositions(positions, mask, 9, 13, scale, offset))
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
	c.types("SinusoidalRows/positions=int32", digestSinusoidal[float32](SinusoidalRows[float32, int32]), digestSinusoidal[Float16](SinusoidalRows[Float16, int32]), digestSinusoidal[BFloat16](SinusoidalRows[BFloat16, int32]))
	c.types("SinusoidalRows/positions=float32", digestSinusoidal[float32](SinusoidalRows[float32, float32]), digestSinusoidal[Float16](SinusoidalRows[Float16, float32]), digestSinusoidal[BFloat16](SinusoidalRows[BFloat16, float32]))
	c.types("AddSinusoidal/positions=int32", digestSinusoidal[float32](adding[float32, int32]), digestSinusoidal[Float16](adding[Float16, int32]), digestSinusoidal[BFloat16](adding[BFloat16, int32]))
	c.types("AddSinusoidal/positions=float32", digestSinusoidal[float32](adding[float32, float32]), digestSinusoidal[Float16](adding[Float16, float32]), digestSinusoidal[BFloat16](adding[BFloat16, float32]))
	c.add("SinusoidalRows64/positions=int32", digestSinusoidal64[int32])
	c.add("SinusoidalRows64/positions=float32", digestSinusoidal64[float32])
	c.add("NewSinusoidal", func(d *digest) {
		for order := range digestOrders {
			digestEncoding(d, d.sinusoidalOf(SinusoidalOrder(order)), nil)
		}
	})
	encoding := func(name string, make func() (*Sinusoidal, error)) {
		c.add(name, func(d *digest) {
			s, err := make()
			digestEncoding(d, s, err)
		})
	}
	encoding("SinusoidalVaswani", func() (*Sinusoidal, error) { return SinusoidalVaswani(34) })
	encoding("SinusoidalMarian", func() (*Sinusoidal, error) { return SinusoidalMarian(34) })
	encoding("SinusoidalMarian/dim=35", func() (*Sinusoidal, error) { return SinusoidalMarian(35) })
	encoding("SinusoidalTensor2Tensor", func() (*Sinusoidal, error) { return SinusoidalTensor2Tensor(35, 2, 1, 10000) })
	encoding("SinusoidalFairseq", func() (*Sinusoidal, error) { return SinusoidalFairseq(35, 1) })
	encoding("SinusoidalWhisper", func() (*Sinusoidal, error) { return SinusoidalWhisper(34) })
	encoding("SinusoidalMusicGen", func() (*Sinusoidal, error) { return SinusoidalMusicGen(35) })
	encoding("SinusoidalMAE", func() (*Sinusoidal, error) { return SinusoidalMAE(36) })
	encoding("SinusoidalDETR", func() (*Sinusoidal, error) { return SinusoidalDETR(18, 10000) })
	encoding("SinusoidalMLX", func() (*Sinusoidal, error) { return SinusoidalMLX(34, 0.0001, 1, 0, true) })
	encoding("SinusoidalTimesteps", func() (*Sinusoidal, error) {
		return SinusoidalTimesteps(35, Timesteps{FlipSinToCos: true, DownscaleFreqShift: 1, Scale: 1000})
	})
	c.add("Sinusoidal.Shift", func(d *digest) {
		for order := range digestOrders {
			s := d.sinusoidalOf(SinusoidalOrder(order))
			const tokens = 12
			rows := anyOf[float32](d, tokens*s.dim)
			d.must(s.Shift(rows, d.positions(tokens*s.axes)))
			d.add(rows)
		}
	})
	c.add("Sinusoidal.ShiftMatrix", func(d *digest) {
		for order := range digestOrders {
			s := d.sinusoidalOf(SinusoidalOrder(order))
			matrix := make([]float32, s.dim*s.dim)
			d.must(s.ShiftMatrix(matrix, d.positions(s.axes)))
			d.add(matrix)
		}
	})
}

const digestOrders = 3

// sinusoidalOf returns an encoding with all that a configuration may have.
func (d *digest) sinusoidalOf(order SinusoidalOrder) *Sinusoidal {
	padding := int32(1)
	axes, pairs := 1+int(order)%2, 21
	cfg := SinusoidalConfig{Dim: 2*axes*pairs + int(order), InvFreq: make([]float64, pairs), Order: order, Axes: axes, Padding: &padding}
	for i := range cfg.InvFreq {
		cfg.InvFreq[i] = d.frequency()
	}
	if order == CosThenSin {
		cfg.Scaling = 1.25
	}
	s, err := NewSinusoidal(cfg)
	d.must(err)
	return s
}

func adding[T Element, P Position](s *Sinusoidal, positions []P, x []T) error {
	return AddSinusoidal(s, positions, x, 22.627416)
}

func positionsAs[P Position](d *digest, n int) []P {
	var list any = d.positions(n)
	if _, ok := any(*new(P)).(float32); ok {
		list = append(numbersOf[float32](d, n-1), 1)
	}
	return list.([]P)
}

// digestSinusoidal writes rows to elements, or adds them.
func digestSinusoidal[T Element, P Position](write func(*Sinusoidal, []P, []T) error) func(d *digest) {
	return func(d *digest) {
		for order := range digestOrders {
			s := d.sinusoidalOf(SinusoidalOrder(order))
			for _, tokens := range []int{1, 40} {
				x := anyOf[T](d, tokens*s.dim)
				d.must(write(s, positionsAs[P](d, tokens*s.axes), x))
				d.add(x)
			}
		}
	}
}

func digestSinusoidal64[P Position](d *digest) {
	for order := range digestOrders {
		s := d.sinusoidalOf(SinusoidalOrder(order))
		const tokens = 3
		rows := make([]float64, tokens*s.dim)
		d.must(SinusoidalRows64(s, positionsAs[P](d, tokens*s.axes), rows))
		d.add(rows)
	}
}

// digestEncoding writes the rows of an encoding.
func digestEncoding(d *digest, s *Sinusoidal, err error) {
	d.t.Helper()
	d.must(err)
	positions := make([]int32, 20*s.axes)
	countFrom(positions, -1, 1)
	rows := make([]float32, 20*s.dim)
	d.must(SinusoidalRows(s, positions, rows))
	d.add(rows)
}

func (c *cases) learned() {
	c.pairsOfTypes("AddEmbeddings", "type", "table", [3][3]func(d *digest){
		{digestEmbeddings[float32, float32], digestEmbeddings[float32, Float16], digestEmbeddings[float32, BFloat16]},
		{digestEmbeddings[Float16, float32], digestEmbeddings[Float16, Float16], digestEmbeddings[Float16, BFloat16]},
		{digestEmbeddings[BFloat16, float32], digestEmbeddings[BFloat16, Float16], digestEmbeddings[BFloat16, BFloat16]},
	})
	c.add("InterpolateTable", func(d *digest) {
		for _, shape := range [][2]int{{7, 19}, {19, 7}, {5, 5}, {1, 3}} {
			dst := make([]float32, shape[1]*12)
			d.must(InterpolateTable(dst, numbersOf[float32](d, shape[0]*12), 12))
			d.add(dst)
		}
	})
	c.add("InterpolateGrid", func(d *digest) {
		for _, antialias := range []bool{false, true} {
			for _, shape := range [][4]int{{5, 7, 9, 4}, {9, 4, 5, 7}, {3, 3, 3, 3}, {1, 2, 3, 1}} {
				dst := make([]float32, shape[2]*shape[3]*5)
				d.must(InterpolateGrid(dst, shape[2], shape[3], numbersOf[float32](d, shape[0]*shape[1]*5), shape[0], shape[1], 5, antialias))
				d.add(dst)
			}
		}
	})
}

func digestEmbeddings[T, W Element](d *digest) {
	for _, dim := range []int{1, 7, 32, 65} {
		const rows, tokens = 9, 6
		x := anyOf[T](d, tokens*dim)
		d.must(AddEmbeddings(x, dim,
			Embedding[W]{Table: anyOf[W](d, rows*dim), IDs: d.indices(tokens, rows)},
			Embedding[W]{Table: anyOf[W](d, rows*dim), IDs: d.indices(tokens, rows-2), Offset: 2}))
		d.add(x)
	}
}

// digestScores is a tile of scores and the memory in which it lies.
type digestScores struct {
	Scores
	memory []float32
}

// scores returns a tile of two of four heads, of one of three shapes.
func (d *digest) scores(shape, queries, keys int) digestScores {
	s := Scores{Heads: 2, Queries: queries, Keys: keys, FirstHead: d.below(3)}
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
func (d *digest) eachTile(add func(s Scores) error) {
	d.t.Helper()
	for i, shape := range [][2]int{{1, 1}, {1, 37}, {5, 9}, {9, 64}, {17, 1030}} {
		s := d.scores(i%3, shape[0], shape[1])
		s.FirstQuery, s.FirstKey = d.below(300)-20, d.below(300)-20
		d.must(add(s.Scores))
		d.add(s.memory)
	}
}

// products returns random ones, packed or with gaps.
func (d *digest) products(heads, rows, columns int) Products {
	p := Products{RowStride: columns + d.below(5)}
	p.HeadStride = rows*p.RowStride + d.below(5)
	p.Data = anyOf[float32](d, heads*p.HeadStride)
	return p
}

// eachRelative calls f with rows, vectors and products of several shapes, of ordinary
// numbers and of any.
func (d *digest) eachRelative(f func(x, vectors View[float32], products Products, tokens, columns, headDim int)) {
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
				d.must(ALiBiSlopes(slopes, maxBias))
				d.add(slopes)
			}
		}
	})
	for form, name := range []string{CausalALiBi: "CausalALiBi", SymmetricALiBi: "SymmetricALiBi", KeyALiBi: "KeyALiBi"} {
		c.add("AddALiBi/form="+name, func(d *digest) {
			d.eachTile(func(s Scores) error { return AddALiBi(s, anyOf[float32](d, 4), ALiBiForm(form)) })
			far := d.scores(0, 2, 40)
			far.FirstQuery, far.FirstKey = 1<<30-2, -1<<30
			d.must(AddALiBi(far.Scores, numbersOf[float32](d, 4), ALiBiForm(form)))
			d.add(far.memory)
		})
	}
	for _, bidirectional := range []bool{false, true} {
		buckets := func(d *digest) []*T5Buckets {
			common, err := NewT5Buckets(32, 128, bidirectional)
			d.must(err)
			other, err := NewT5Buckets(52, 1000, bidirectional)
			d.must(err)
			return []*T5Buckets{common, other}
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
				bias, err := NewT5Bias(b, weights)
				d.must(err)
				d.eachTile(func(s Scores) error { return AddT5(s, bias) })
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
		buckets := func(d *digest) *DeBERTaBuckets {
			n := 0
			if logarithmic {
				n = span
			}
			b, err := NewDeBERTaBuckets(n, 22)
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
				d.eachTile(func(s Scores) error {
					var contentToPosition, positionToContent Products
					if which != 1 {
						contentToPosition = d.products(s.Heads, s.Queries, 2*span)
					}
					if which != 2 {
						positionToContent = d.products(s.Heads, s.Keys, 2*span)
					}
					return AddDeBERTa(s, b, contentToPosition, positionToContent, 0x1.bb67aep+3)
				})
			}
		})
	}
	c.add("AddRelativeShift", func(d *digest) {
		d.eachTile(func(s Scores) error {
			// Columns from the largest distance of the tile down, to the last key or
			// to that of the query.
			largest := max(s.FirstQuery+s.Queries-1-s.FirstKey, 0)
			columns := largest + 1
			if d.below(2) == 0 {
				columns = max(columns, largest+1-(s.FirstQuery-(s.FirstKey+s.Keys-1)))
			}
			return AddRelativeShift(s, d.products(s.Heads, s.Queries, columns), columns, largest)
		})
	})
	c.add("AddShaw", func(d *digest) {
		for _, maxDistance := range []int{0, 16} {
			d.eachTile(func(s Scores) error {
				return AddShaw(s, d.products(s.Heads, s.Queries, 2*maxDistance+1), maxDistance)
			})
		}
	})
	c.add("SumShaw", func(d *digest) {
		for _, fill := range []func(*digest, int) []float32{numbersOf[float32], anyOf[float32]} {
			for _, maxDistance := range []int{0, 16} {
				d.eachTile(func(s Scores) error {
					sums := d.products(s.Heads, s.Queries, 2*maxDistance+1)
					copy(sums.Data, fill(d, len(sums.Data)))
					copy(s.Data, fill(d, len(s.Data)))
					err := SumShaw(sums, s, maxDistance)
					d.add(sums.Data)
					return err
				})
			}
		}
	})
	c.add("RelativeProducts", func(d *digest) {
		d.eachRelative(func(x, vectors View[float32], products Products, tokens, columns, headDim int) {
			bias := anyOf[float32](d, x.Heads*headDim)
			if d.below(2) == 0 {
				bias = nil
			}
			d.must(RelativeProducts(products, x, bias, vectors, tokens, columns, headDim))
			d.add(products.Data)
		})
	})
	c.add("AddRelativeValues", func(d *digest) {
		d.eachRelative(func(out, vectors View[float32], sums Products, tokens, columns, headDim int) {
			d.must(AddRelativeValues(out, sums, vectors, tokens, columns, headDim))
			d.add(out.Data)
		})
	})
	windows := func(d *digest) {
		for _, window := range [][2]int{{1, 1}, {7, 7}, {5, 12}} {
			height, width := window[0], window[1]
			bias, err := NewSwinBias(height, width, anyOf[float32](d, (2*height-1)*(2*width-1)*4))
			d.must(err)
			n := height * width
			for shape := range 3 {
				s := d.scores(shape, 1+d.below(n), 1+d.below(n))
				s.FirstQuery, s.FirstKey = d.below(n-s.Queries+1), d.below(n-s.Keys+1)
				d.must(AddSwin(s.Scores, bias))
				d.add(s.memory)
			}
		}
	}
	c.add("NewSwinBias", windows)
	c.add("SwinCoordinates", func(d *digest) {
		for _, pretrained := range []int{0, 2, 12, 64} {
			dst := make([]float32, 23*29*2)
			d.must(SwinCoordinates(dst, 12, 15, pretrained, pretrained))
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
