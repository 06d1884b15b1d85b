package ropecheck_test

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/ropecheck"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/modelconfig"
)

// port rotates heads by the loops that a port has. Faults change it.
type port struct {
	layer
	kind       ropecheck.ElementType
	arithmetic arithmetic
	positions  [][]int32 // [axes][tokens], those that the check is told

	position func(axis, t, h int) float64
	pair     func(i int) (in, out [2]int)          // elements of pair i
	formula  func(c, s float64) [2][2]float64      // what makes y1, y2 of x1, x2
	lengths  func(p float64, i int) float64        // of xPos
	before   func(x []float64)                     // of one head, ahead of the rotation
	after    func(x []float64, t, h int)           // behind it
	whole    func(before, after []float32)         // of the whole dump
	table    func(p float64, i int) (c, s float64) // in place of those of the frequencies
	times    int
	truncate bool
	cache    *cache // that the heads are read from; nil: none
}

func rotation(c, s float64) [2][2]float64 { return [2][2]float64{{c, -s}, {s, c}} }

func newPort(l layer, kind ropecheck.ElementType, how arithmetic) *port {
	e := &port{layer: l, kind: kind, arithmetic: how, positions: l.positions(), formula: rotation, times: 1}
	e.invFreq = slices.Clone(l.invFreq)
	e.position = func(axis, t, _ int) float64 { return float64(e.positions[axis][t]) }
	e.pair = func(i int) (in, out [2]int) { return e.pairOf(e.layout, i) }
	e.lengths = e.decay
	return e
}

func (e *port) decay(p float64, i int) float64 {
	if e.xpos == nil {
		return 1
	}
	d := float64(e.dim)
	z := math.Pow((2*float64(i)+0.4*d)/(1.4*d), (p-float64(e.xpos.Center))/e.xpos.ScaleBase)
	if e.xpos.Keys {
		return 1 / z
	}
	return z
}

func (e *port) pairOf(layout posenc.Layout, i int) (in, out [2]int) {
	half, pairs := [2]int{e.offset + i, e.offset + i + e.dim/2}, [2]int{e.offset + 2*i, e.offset + 2*i + 1}
	switch layout {
	case posenc.Interleaved:
		return pairs, pairs
	case posenc.InterleavedToHalfSplit:
		return pairs, half
	case posenc.HalfSplitToInterleaved:
		return half, pairs
	}
	return half, half
}

func (e *port) axis(i int) int {
	if e.axes == nil {
		return 0
	}
	return int(e.axes[i])
}

// data is the dump of random heads.
func (e *port) data(seed uint64) ropecheck.Data {
	tokens := len(e.positions[0])
	d := ropecheck.Data{Tokens: tokens, Heads: e.heads, HeadDim: e.headDim, Type: e.kind, Positions: slices.Concat(e.positions...)}
	r := rand.New(rand.NewPCG(seed, 7))
	sizes := make([]float64, e.headDim)
	for i := range sizes {
		sizes[i] = 1
		if e.uneven {
			sizes[i] = math.Exp(1.5 * r.NormFloat64())
		}
	}
	n := tokens * e.heads * e.headDim
	d.Before = make([]float32, n)
	for i := range d.Before {
		d.Before[i] = e.round(float32(sizes[i%e.headDim] * r.NormFloat64()))
	}
	d.After = e.rotate(d.Before)
	if e.cache != nil {
		e.cache.store(&d)
	}
	return d
}

// rotate is what the engine makes of heads.
func (e *port) rotate(before []float32) []float32 {
	after, tokens := make([]float32, len(before)), len(e.positions[0])
	a, x, y := &e.arithmetic, make([]float64, e.headDim), make([]float64, e.headDim)
	frequencies := a.ladder(e.invFreq)
	for t := range tokens {
		for h := range e.heads {
			row := (t*e.heads + h) * e.headDim
			for i := range x {
				x[i] = float64(before[row+i])
			}
			if e.before != nil {
				e.before(x)
			}
			for range e.times {
				copy(y, x)
				for i := range e.dim / 2 {
					p := e.position(e.axis(i), t, h)
					var c, s float64
					if e.table != nil {
						c, s = e.table(p, i)
					} else {
						angle := a.angle(p, i, frequencies, e)
						c, s = a.function(math.Cos(angle)), a.function(math.Sin(angle))
					}
					g := e.factor * e.lengths(p, i)
					c, s = a.table(c*g), a.table(s*g)
					m := e.formula(c, s)
					in, out := e.pair(i)
					y[out[0]] = a.sum(m[0][0], x[in[0]], m[0][1], x[in[1]])
					y[out[1]] = a.sum(m[1][1], x[in[1]], m[1][0], x[in[0]])
				}
				copy(x, y)
			}
			if e.after != nil {
				e.after(x, t, h)
			}
			for i := range x {
				after[row+i] = e.round(float32(x[i]))
			}
		}
	}
	if e.whole != nil {
		e.whole(before, after)
		for i, v := range after {
			after[i] = e.round(v)
		}
	}
	return after
}

// round rounds to the type of the elements, or cuts off what is beyond it.
func (e *port) round(x float32) float32 {
	switch {
	case e.kind == ropecheck.Float16:
		return f16(x)
	case e.kind == ropecheck.BFloat16 && e.truncate:
		return math.Float32frombits(math.Float32bits(x) &^ 0xffff)
	case e.kind == ropecheck.BFloat16:
		return bf16(x)
	}
	return x
}

// arithmetic is how a right engine rounds.
type arithmetic struct {
	name     string
	kinds    []ropecheck.ElementType // nil: all
	ladder   func(invFreq []float64) []float64
	angle    func(p float64, i int, frequencies []float64, e *port) float64
	function func(x float64) float64 // cosines and sines of another library
	table    func(x float64) float64
	sum      func(a, x, b, y float64) float64
	truncate bool
}

func r32(x float64) float64 { return float64(float32(x)) }

// powersIn32 are frequencies by float32 powers that are some units in the last place off.
func powersIn32(ulps float64) func(invFreq []float64) []float64 {
	return func(invFreq []float64) []float64 {
		list := make([]float64, len(invFreq))
		for i, w := range invFreq {
			off := math.Round(ulps * math.Sin(float64(7*i+3)))
			list[i] = r32(r32(w) * (1 + off*0x1p-23))
		}
		return list
	}
}

// arithmetics are how engines round; the first ones take turns with faults.
func arithmetics() []arithmetic {
	same := func(x float64) float64 { return x }
	products := func(p float64, i int, frequencies []float64, _ *port) float64 { return r32(p * frequencies[i]) }
	exact := func(p float64, i int, frequencies []float64, _ *port) float64 { return p * frequencies[i] }
	separate := func(a, x, b, y float64) float64 { return r32(r32(a*x) + r32(b*y)) }
	fused := func(a, x, b, y float64) float64 { return r32(math.FMA(a, x, r32(b*y))) }
	once := func(a, x, b, y float64) float64 { return a*x + b*y }
	in16 := func(round func(float32) float32) func(a, x, b, y float64) float64 {
		r := func(x float64) float64 { return float64(round(float32(x))) }
		return func(a, x, b, y float64) float64 { return r(r(a*x) + r(b*y)) }
	}
	to := func(round func(float32) float32) func(x float64) float64 {
		return func(x float64) float64 { return float64(round(float32(x))) }
	}
	rounded := func(invFreq []float64) []float64 { return powersIn32(0)(invFreq) }
	running := func(p float64, i int, frequencies []float64, e *port) float64 {
		ratio, angle := r32(math.Pow(e.base, -2/float64(e.dim))), p
		for range i {
			angle = r32(angle * ratio)
		}
		plain := math.Pow(e.base, -2*float64(i)/float64(e.dim))
		if math.Abs(frequencies[i]-plain) <= 1e-6*plain {
			return angle
		}
		if frequencies[i] == 0 {
			return 0
		}
		return r32(angle / r32(plain/frequencies[i]))
	}
	return []arithmetic{
		{name: "float32", ladder: rounded, angle: products, function: same, table: r32, sum: separate},
		{name: "exact angles", ladder: same2, angle: exact, function: same, table: r32, sum: separate},
		{name: "powers within 1 ulp, fused", ladder: powersIn32(1), angle: products, function: same, table: r32, sum: fused},
		{name: "running products", ladder: same2, angle: running, function: same, table: r32, sum: fused},
		{name: "powers within 4 ulp", ladder: powersIn32(4), angle: products, function: same, table: r32, sum: separate},
		{name: "powers within 16 ulp", ladder: powersIn32(16), angle: products, function: same, table: r32, sum: separate},
		{name: "a fast power", ladder: powersIn32(17), angle: products, function: same, table: r32, sum: fused},
		{name: "float64, rounded once", ladder: same2, angle: exact, function: same, table: same, sum: once},
		{name: "fast cosines", ladder: rounded, angle: products, function: func(x float64) float64 { return x + 3e-7*math.Sin(1e4*x) }, table: r32, sum: fused},
		{name: "truncated", kinds: []ropecheck.ElementType{ropecheck.BFloat16}, ladder: rounded, angle: products, function: same, table: r32, sum: separate, truncate: true},
		{name: "all in bfloat16", kinds: []ropecheck.ElementType{ropecheck.BFloat16}, ladder: rounded, angle: products, function: same, table: to(bf16), sum: in16(bf16)},
		{name: "all in float16", kinds: []ropecheck.ElementType{ropecheck.Float16}, ladder: rounded, angle: products, function: same, table: to(f16), sum: in16(f16)},
	}
}

func same2(x []float64) []float64 { return x }

// layer is a kind of layers, as papers and configurations describe it. What engines make of it is
// computed here in loops of float64; the module is asked for the candidate alone.
type layer struct {
	name                 string
	headDim, offset, dim int
	layout               posenc.Layout
	base                 float64
	rule                 rule
	axes                 []uint8
	xpos                 *posenc.XPos
	heads                int
	still                bool      // it does not rotate
	uneven               bool      // some elements of heads are much larger than others, as after a norm with weights
	prompt               int       // neighbours ...
	far                  int32     // the last positions are near it; 0: 1000
	other                float64   // base of the model's other layers; 0: none
	image                [2]int    // grid of the image in the prompt
	invFreq              []float64 // once computed
	factor               float64
}

// rule scales frequencies.
type rule struct {
	name                string // of modelconfig.Rule; "" is default
	factor, original    float64
	low, high           float64 // beta_slow, beta_fast of YaRN
	untruncated, isLong bool
	length              float64 // of dynamic NTK
	mixedB              float64
}

// shortFactors and longFactors stand for the lists of LongRoPE.
func shortFactors(i, pairs int) float64 { return 1 + float64(i)/float64(2*pairs) }
func longFactors(i, pairs int) float64  { return 1.05 + 40*math.Pow(float64(i)/float64(pairs), 2) }

func powers(dim int, base float64) []float64 {
	list := make([]float64, dim/2)
	for i := range list {
		list[i] = math.Pow(base, -2*float64(i)/float64(dim))
	}
	return list
}

// frequencies are by the papers' formulas.
func (r rule) frequencies(dim int, base float64) (list []float64, factor float64) {
	list, factor = powers(dim, base), 1.0
	pairs, d := dim/2, float64(dim)
	switch r.name {
	case "linear":
		for i := range list {
			list[i] /= r.factor
		}
	case "NTK alpha":
		list = powers(dim, base*math.Pow(r.factor, d/(d-2)))
	case "dynamic NTK":
		list = powers(dim, base*math.Pow(r.factor*r.length/r.original-(r.factor-1), d/(d-2)))
	case "NTK mixed":
		a := math.Log(r.factor) / math.Pow(float64(pairs), r.mixedB)
		for i := range list {
			list[i] /= math.Exp(a * math.Pow(float64(i+1), r.mixedB))
		}
	case "llama3":
		for i, w := range list {
			turns := r.original * w / (2 * math.Pi)
			smooth := min(1, max(0, (turns-r.low)/(r.high-r.low)))
			list[i] = w/r.factor*(1-smooth) + w*smooth
		}
	case "yarn":
		at := func(turns float64) float64 { return d * math.Log(r.original/(turns*2*math.Pi)) / (2 * math.Log(base)) }
		from, to := at(r.high), at(r.low)
		if !r.untruncated {
			from, to = math.Floor(from), math.Ceil(to)
		}
		from, to = max(from, 0), min(to, d-1)
		if from == to {
			to += 0.001
		}
		for i, w := range list {
			ramp := min(1, max(0, (float64(i)-from)/(to-from)))
			list[i] = w/r.factor*ramp + w*(1-ramp)
		}
		factor = 0.1*math.Log(r.factor) + 1
	case "longrope":
		for i := range list {
			if r.isLong {
				list[i] /= longFactors(i, pairs)
			} else {
				list[i] /= shortFactors(i, pairs)
			}
		}
		factor = math.Sqrt(1 + math.Log(r.factor)/math.Log(r.original))
	case "proportional":
		for i := int(r.factor * d / 2); i < pairs; i++ {
			list[i] = 0
		}
	}
	return list, factor
}

// rotation is the candidate: what a user gets from modelconfig for the layer.
func (l *layer) rotation() ropecheck.Rotation {
	r, dim := l.rule, l.dim
	out := ropecheck.Rotation{Name: l.name, Rule: modelconfig.Rule{Name: r.name, Base: l.base, Pairs: dim / 2}}
	length := int(r.length)
	if r.isLong {
		length = int(r.original) + 1
	}
	long := frequency.LongRoPEParameters{Factor: r.factor, OriginalMaxPositions: int(r.original)}
	for i := range dim / 2 {
		long.ShortFactors, long.LongFactors = append(long.ShortFactors, shortFactors(i, dim/2)), append(long.LongFactors, longFactors(i, dim/2))
	}
	ladder := func(rounding frequency.Rounding) (frequency.Ladder, error) {
		out.Rule.Name = "default"
		return frequency.Default(dim, l.base, rounding)
	}
	switch r.name {
	case "linear":
		ladder = ruled(&out, frequency.Linear, frequency.LinearParameters{Factor: r.factor}, nil)
	case "NTK alpha":
		ladder = ruled(&out, frequency.NTKAlpha, frequency.NTKAlphaParameters{Alpha: r.factor}, nil)
	case "dynamic NTK":
		ladder = ruled(&out, frequency.DynamicNTK, frequency.DynamicNTKParameters{Factor: r.factor, MaxPositions: int(r.original)}, func(p *frequency.DynamicNTKParameters) { p.SequenceLength = length })
	case "NTK mixed":
		ladder = ruled(&out, frequency.NTKMixed, frequency.NTKMixedParameters{Factor: r.factor, MixedB: r.mixedB}, nil)
	case "llama3":
		ladder = ruled(&out, frequency.Llama3, frequency.Llama3Parameters{Factor: r.factor, LowFreqFactor: r.low, HighFreqFactor: r.high, OriginalMaxPositions: int(r.original)}, nil)
	case "yarn":
		ladder = ruled(&out, frequency.YaRN, frequency.YaRNParameters{Factor: r.factor, OriginalMaxPositions: int(r.original), BetaFast: r.high, BetaSlow: r.low, Untruncated: r.untruncated}, nil)
	case "longrope":
		ladder = ruled(&out, frequency.LongRoPE, long, func(p *frequency.LongRoPEParameters) { p.SequenceLength = length })
	case "proportional":
		ladder = ruled(&out, frequency.Proportional, frequency.ProportionalParameters{PartialRotaryFactor: r.factor, Factor: 1}, nil)
	}
	config := func(rounding frequency.Rounding) posenc.RotaryConfig {
		made := kit.Must(ladder(rounding))
		c := posenc.RotaryConfig{
			HeadDim: l.headDim, RotaryDim: dim, Offset: l.offset, Layout: l.layout, InvFreq: made.InvFreq, AttentionFactor: made.AttentionFactor,
			Rounding: rounding, Axes: l.axes, XPos: l.xpos,
		}
		if l.still {
			c.InvFreq = make([]float64, dim/2)
		}
		return c
	}
	out.Exact, out.Float32 = config(frequency.Exact), config(frequency.Float32)
	return out
}

// ruled sets the parameters of a rule, and returns its ladder in sequences of a length, which are no parameter.
func ruled[P any](r *ropecheck.Rotation, of func(int, float64, P, frequency.Rounding) (frequency.Ladder, error), p P, sequence func(p *P)) func(frequency.Rounding) (frequency.Ladder, error) {
	r.Rule.Parameters = p
	if sequence != nil {
		sequence(&p)
	}
	return func(rounding frequency.Rounding) (frequency.Ladder, error) {
		return of(2*r.Rule.Pairs, r.Rule.Base, p, rounding)
	}
}

// rotations are those of the layer's model, the layer's first.
func (l *layer) rotations() []ropecheck.Rotation {
	list := []ropecheck.Rotation{l.rotation()}
	if l.other != 0 {
		other := *l
		other.name, other.base, other.rule = "other layers", l.other, rule{}
		list = append(list, other.rotation())
	}
	return list
}

// sections are the axes of time, height and width in three runs.
func sections(counts ...int) (axes []uint8) {
	for axis, n := range counts {
		axes = append(axes, slices.Repeat([]uint8{uint8(axis)}, n)...)
	}
	return axes
}

// alternating are the axes of time, height and width in turn, as of Qwen3-VL.
func alternating(pairs, height, width int) []uint8 {
	axes := make([]uint8, pairs)
	for i := range axes {
		if i%3 == 1 && i < 3*height {
			axes[i] = 1
		} else if i%3 == 2 && i < 3*width {
			axes[i] = 2
		}
	}
	return axes
}

// layersToTest are kinds of layers of models that are in use.
func layersToTest() []layer {
	const half, pairs = posenc.HalfSplit, posenc.Interleaved
	llama3 := rule{name: "llama3", factor: 8, low: 1, high: 4, original: 8192}
	llama32 := rule{name: "llama3", factor: 32, low: 1, high: 4, original: 8192}
	yarn := rule{name: "yarn", factor: 4, original: 32768, low: 1, high: 32}
	list := []layer{
		{name: "llama 2", headDim: 128, layout: half, base: 1e4, heads: 4},
		{name: "llama 3", headDim: 128, layout: half, base: 5e5, heads: 8},
		{name: "llama 3.1", headDim: 128, layout: half, base: 5e5, heads: 4, rule: llama3},
		{name: "llama 3.2", headDim: 64, layout: half, base: 5e5, heads: 8, rule: llama32},
		{name: "llama 3.1, one key head", headDim: 64, layout: half, base: 5e5, heads: 1, rule: llama3},
		{name: "llama of GGUF", headDim: 64, layout: pairs, base: 5e5, heads: 4},
		{name: "llama, 32 heads", headDim: 32, layout: half, base: 1e4, heads: 32},
		{name: "mistral, two key heads", headDim: 64, layout: half, base: 1e6, heads: 2},
		{name: "falcon, one key head", headDim: 64, layout: half, base: 1e4, heads: 1},
		{name: "gpt-neox", headDim: 96, dim: 24, layout: half, base: 1e4, heads: 4},
		{name: "phi-2", headDim: 80, dim: 32, layout: half, base: 1e4, heads: 4},
		{name: "stablelm", headDim: 64, dim: 16, layout: half, base: 1e4, heads: 6},
		{name: "nemotron", headDim: 64, dim: 32, layout: half, base: 1e4, heads: 4},
		{name: "gpt-j", headDim: 128, dim: 64, layout: pairs, base: 1e4, heads: 4},
		{name: "glm-4", headDim: 64, dim: 32, layout: pairs, base: 1e4, heads: 4},
		{name: "cohere", headDim: 64, layout: pairs, base: 8e6, heads: 4},
		{name: "ernie", headDim: 64, layout: pairs, base: 5e5, heads: 3},
		{name: "latent attention", headDim: 96, offset: 64, dim: 32, layout: posenc.InterleavedToHalfSplit, base: 1e4, heads: 4},
		{name: "latent attention with YaRN", headDim: 96, offset: 64, dim: 32, layout: posenc.InterleavedToHalfSplit, base: 1e4, heads: 4, rule: rule{name: "yarn", factor: 40, original: 4096, low: 1, high: 32}},
		{name: "latent attention, halves", headDim: 96, offset: 64, dim: 32, layout: half, base: 1e4, heads: 5},
		{name: "gemma", headDim: 128, layout: half, base: 1e4, heads: 3},
		{name: "gemma 3, sliding", headDim: 64, layout: half, base: 1e4, heads: 4, other: 1e6},
		{name: "gemma 3, full", headDim: 64, layout: half, base: 1e6, heads: 4, rule: rule{name: "linear", factor: 8}, other: 1e4},
		{name: "gemma 4, proportional", headDim: 64, layout: half, base: 1e6, heads: 4, rule: rule{name: "proportional", factor: 0.25}},
		{name: "qwen 2, YaRN", headDim: 64, layout: half, base: 1e6, heads: 4, rule: yarn},
		{name: "qwen 3, norm with weights", headDim: 64, layout: half, base: 1e6, heads: 4, uneven: true},
		{name: "gpt-oss", headDim: 64, layout: half, base: 150000, heads: 8, rule: rule{name: "yarn", factor: 32, original: 4096, low: 1, high: 32, untruncated: true}},
		{name: "phi 3, short", headDim: 96, layout: half, base: 1e4, heads: 4, rule: rule{name: "longrope", factor: 32, original: 4096}},
		{name: "phi 3, long", headDim: 96, layout: half, base: 1e4, heads: 4, rule: rule{name: "longrope", factor: 32, original: 4096, isLong: true}, far: 9000},
		{name: "linear", headDim: 64, layout: half, base: 1e4, heads: 4, rule: rule{name: "linear", factor: 4}},
		{name: "NTK by alpha", headDim: 64, layout: half, base: 1e4, heads: 4, rule: rule{name: "NTK alpha", factor: 1000}},
		{name: "dynamic NTK", headDim: 64, layout: half, base: 1e4, heads: 4, rule: rule{name: "dynamic NTK", factor: 2, original: 2048, length: 8192}, far: 8000},
		{name: "NTK mixed", headDim: 64, layout: half, base: 2e4, heads: 4, rule: rule{name: "NTK mixed", factor: 8, mixedB: 0.8}},
		{name: "qwen 2 VL", headDim: 64, layout: half, base: 1e6, heads: 4, axes: sections(8, 12, 12), image: [2]int{4, 5}},
		{name: "qwen 3 VL", headDim: 64, layout: half, base: 5e6, heads: 4, axes: alternating(32, 10, 10), image: [2]int{5, 4}},
		{name: "glm-4v", headDim: 64, dim: 32, layout: pairs, base: 1e4, heads: 4, axes: sections(4, 6, 6), image: [2]int{4, 6}},
		{name: "xPos, queries", headDim: 64, layout: half, base: 1e4, heads: 4, xpos: &posenc.XPos{ScaleBase: 512}},
		{name: "xPos, keys", headDim: 64, layout: pairs, base: 1e4, heads: 4, xpos: &posenc.XPos{ScaleBase: 512, Keys: true}},
		{name: "without positions", headDim: 64, layout: half, base: 5e5, heads: 4, still: true},
		{name: "smollm3", headDim: 64, layout: half, base: 5e6, heads: 16},
	}
	for i := range list {
		l := &list[i]
		if l.dim == 0 {
			l.dim = l.headDim
		}
		l.invFreq, l.factor = l.rule.frequencies(l.dim, l.base)
		if l.still {
			clear(l.invFreq)
		}
	}
	return list
}

// positions are [axes][tokens]: of text, or of text around an image.
func (l *layer) positions() [][]int32 {
	if l.axes == nil {
		switch l.prompt {
		case oneToken:
			return [][]int32{{77}}
		case inOrder:
			return [][]int32{count(0, 33)}
		case twoSequences:
			return [][]int32{append(count(0, 9), count(0, 9)...)}
		case longSequence:
			return [][]int32{append(count(30000, 8), count(131000, 5)...)}
		}
		far := l.far
		if far == 0 {
			far = 1000
		}
		list := []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}
		for i := range int32(6) {
			list = append(list, far+i*i)
		}
		return [][]int32{list}
	}
	list := make([][]int32, 3)
	p := int32(0)
	add := func(time, height, width int32) {
		for axis, q := range []int32{time, height, width} {
			list[axis] = append(list[axis], q)
		}
	}
	for ; p < 4; p++ {
		add(p, p, p)
	}
	for y := range int32(l.image[0]) {
		for x := range int32(l.image[1]) {
			add(p, p+y, p+x)
		}
	}
	for p += int32(max(l.image[0], l.image[1])); len(list[0]) < 30; p++ {
		add(p, p, p)
	}
	return list
}

// What positions a dump has.
const (
	neighbours = iota // and others far apart, as the documents advise
	oneToken          // of decoding
	inOrder
	twoSequences // of a batch
	longSequence
	prompts
)

func count(first int32, n int) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = first + int32(i)
	}
	return list
}
