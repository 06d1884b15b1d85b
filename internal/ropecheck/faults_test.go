package ropecheck_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/ropecheck"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/multimodal"
)

// positionsOf are neighbours, and a quarter of them far apart.
func positionsOf(n int) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = int32(i)
		if i >= n*3/4 {
			list[i] = int32(1000 + 37*i)
		}
	}
	return list
}

func random(seed uint64, n int) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	list := make([]float32, n)
	for i := range list {
		list[i] = float32(r.NormFloat64())
	}
	return list
}

// rotateBy rotates rows in place.
func rotateBy(x []float32, cfg posenc.RotaryConfig, positions []int32, heads int) {
	r := testkit.Must(posenc.NewRotary(cfg))
	if err := posenc.Rotate(r.At(positions), posenc.View[float32]{Data: x, Heads: heads}); err != nil {
		panic(err)
	}
}

// rotated is data that posenc rotated, of random heads.
func rotated(cfg posenc.RotaryConfig, positions []int32, heads int) ropecheck.Data {
	d := ropecheck.Data{Tokens: len(positions) / axesOf(&cfg), Heads: heads, HeadDim: cfg.HeadDim, Positions: positions}
	d.Before = random(1, d.Tokens*heads*cfg.HeadDim)
	d.After = slices.Clone(d.Before)
	rotateBy(d.After, cfg, positions, heads)
	return d
}

// models are what faults are planted in.
var (
	llama  = posenc.RotaryConfig{HeadDim: 64, Layout: posenc.HalfSplit, Base: 500000}
	gptj   = posenc.RotaryConfig{HeadDim: 96, RotaryDim: 32, Layout: posenc.Interleaved}
	mla    = posenc.RotaryConfig{HeadDim: 96, RotaryDim: 32, Offset: 64, Layout: posenc.InterleavedToHalfSplit}
	yarn   = ladder(frequency.YaRN(64, 1e6, frequency.YaRNParameters{Factor: 4, OriginalMaxPositions: 32768}, frequency.Exact))
	llama3 = ladder(frequency.Llama3(64, 500000, frequency.Llama3Parameters{Factor: 8, LowFreqFactor: 1, HighFreqFactor: 4, OriginalMaxPositions: 8192}, frequency.Exact))
	xpos   = posenc.RotaryConfig{HeadDim: 64, Layout: posenc.HalfSplit, Base: 500000, XPos: &posenc.XPos{ScaleBase: 512}}
	mrope  = posenc.RotaryConfig{HeadDim: 64, Layout: posenc.HalfSplit, Base: 1e6, Axes: testkit.Must(frequency.Sections(8, 12, 12))}
)

// inverse is llama the other way.
var inverse = with(ladder(frequency.Default(64, 500000, frequency.Exact)), func(c *posenc.RotaryConfig) {
	for i := range c.InvFreq {
		c.InvFreq[i] = -c.InvFreq[i]
	}
})

func ladder(l frequency.Ladder, err error) posenc.RotaryConfig {
	testkit.Must(l, err)
	return posenc.RotaryConfig{HeadDim: 2 * len(l.InvFreq), Layout: posenc.HalfSplit, InvFreq: l.InvFreq, AttentionFactor: l.AttentionFactor}
}

// imagePositions are of text, an image and text, [3][tokens].
func imagePositions() []int32 {
	positions := make([]int32, 3*28)
	runs := []multimodal.Run{{Tokens: 4}, {Kind: multimodal.Image, Tokens: 20, Grid: multimodal.Grid{T: 1, H: 4, W: 5}}, {Tokens: 4}}
	testkit.Must(multimodal.Model{Family: multimodal.Qwen2VL, MergeSize: 1}.Positions(positions, runs))
	return positions
}

// with changes a configuration.
func with(cfg posenc.RotaryConfig, change func(cfg *posenc.RotaryConfig)) posenc.RotaryConfig {
	change(&cfg)
	return cfg
}

// planted is a fault of a rotation that should have been that of cfg.
type planted struct {
	name      string
	cfg       posenc.RotaryConfig
	positions []int32
	data      func(p *planted) ropecheck.Data
	others    []posenc.RotaryConfig // candidates
	aspects   []ropecheck.Aspect    // of the faults of cfg
	got, text string                // of the first of them
}

// by is what another configuration rotates.
func by(cfg posenc.RotaryConfig) func(p *planted) ropecheck.Data {
	return func(p *planted) ropecheck.Data { return rotated(cfg, p.positions, 6) }
}

// after is the right rotation and something more.
func after(change func(d *ropecheck.Data)) func(p *planted) ropecheck.Data {
	return func(p *planted) ropecheck.Data {
		d := rotated(p.cfg, p.positions, 6)
		change(&d)
		return d
	}
}

func aspects(list ...ropecheck.Aspect) []ropecheck.Aspect { return list }

func plantedFaults() []planted {
	positions := positionsOf(24)
	moved := func(to func(i int, p int32) int32) func(p *planted) ropecheck.Data {
		return func(p *planted) ropecheck.Data {
			other := slices.Clone(p.positions)
			for i := range other {
				other[i] = to(i, other[i])
			}
			d := rotated(p.cfg, other, 6)
			d.Positions = p.positions
			return d
		}
	}
	shift := func(n int32) func(p *planted) ropecheck.Data {
		return moved(func(_ int, p int32) int32 { return p + n })
	}
	list := []planted{
		{name: "interleaved", cfg: llama, data: by(with(llama, func(c *posenc.RotaryConfig) { c.Layout = posenc.Interleaved })), aspects: aspects(ropecheck.LayoutAspect), got: "Interleaved"},
		{name: "half-split", cfg: gptj, data: by(with(gptj, func(c *posenc.RotaryConfig) { c.Layout = posenc.HalfSplit })), aspects: aspects(ropecheck.LayoutAspect), got: "HalfSplit"},
		{name: "output not reordered", cfg: mla, data: by(with(mla, func(c *posenc.RotaryConfig) { c.Layout = posenc.Interleaved })), aspects: aspects(ropecheck.LayoutAspect), got: "Interleaved"},
		{name: "reordered the other way", cfg: mla, data: by(with(mla, func(c *posenc.RotaryConfig) { c.Layout = posenc.HalfSplitToInterleaved })), aspects: aspects(ropecheck.LayoutAspect), got: "HalfSplitToInterleaved"},
		{name: "first elements", cfg: mla, data: by(with(mla, func(c *posenc.RotaryConfig) { c.Offset = 0 })), aspects: aspects(ropecheck.SliceAspect), got: "elements 0 to 31"},
		{name: "in the middle", cfg: mla, data: by(with(mla, func(c *posenc.RotaryConfig) { c.Offset = 22 })), aspects: aspects(ropecheck.SliceAspect), got: "elements 22 to 53"},
		{name: "the whole head", cfg: gptj, data: by(with(gptj, func(c *posenc.RotaryConfig) { c.RotaryDim = 96 })), aspects: aspects(ropecheck.SliceAspect, ropecheck.FrequenciesAspect), got: "elements 0 to 95"},
		{name: "partial", cfg: llama, data: by(with(llama, func(c *posenc.RotaryConfig) { c.RotaryDim = 32 })), aspects: aspects(ropecheck.SliceAspect, ropecheck.FrequenciesAspect), got: "elements 0 to 31"},
		{name: "frequencies of the whole head", cfg: llama, data: by(with(llama, func(c *posenc.RotaryConfig) {
			c.RotaryDim, c.Base, c.InvFreq = 32, 0, testkit.Must(frequency.Default(64, 500000, frequency.Exact)).InvFreq[:16]
		})), aspects: aspects(ropecheck.SliceAspect, ropecheck.FrequenciesAspect), got: "elements 0 to 31"},
		{name: "inverse", cfg: llama, data: by(inverse), aspects: aspects(ropecheck.SignAspect), got: "inverse"},
		{name: "no attention factor", cfg: yarn, data: by(with(yarn, func(c *posenc.RotaryConfig) { c.AttentionFactor = 1 })), aspects: aspects(ropecheck.FactorAspect), got: "1"},
		{name: "attention factor squared", cfg: yarn, data: by(with(yarn, func(c *posenc.RotaryConfig) { c.AttentionFactor *= c.AttentionFactor })), aspects: aspects(ropecheck.FactorAspect)},
		{name: "another factor", cfg: llama, data: by(with(llama, func(c *posenc.RotaryConfig) { c.AttentionFactor = 1.2 })), aspects: aspects(ropecheck.FactorAspect), got: "1.2"},
		{name: "another base", cfg: llama, data: by(with(llama, func(c *posenc.RotaryConfig) { c.Base = 10000 })), aspects: aspects(ropecheck.FrequenciesAspect), got: "the frequencies of base 10000", text: "The frequencies are those of base 10000, in place of base 500000."},
		{name: "linear scaling", cfg: llama, data: by(ladder(frequency.Linear(64, 500000, frequency.LinearParameters{Factor: 4}, frequency.Exact))), aspects: aspects(ropecheck.FrequenciesAspect), got: `0.25 times those of "model"`},
		{name: "NTK scaling", cfg: llama, data: by(ladder(frequency.NTKAlpha(64, 500000, frequency.NTKAlphaParameters{Alpha: 8}, frequency.Exact))), aspects: aspects(ropecheck.FrequenciesAspect)},
		{name: "no Llama 3 rule", cfg: llama3, data: by(llama), aspects: aspects(ropecheck.FrequenciesAspect), got: "the frequencies of base 500000"},
		{name: "base of other layers", cfg: llama, data: by(with(llama, func(c *posenc.RotaryConfig) { c.Base = 10000 })), others: []posenc.RotaryConfig{with(llama, func(c *posenc.RotaryConfig) { c.Base = 10000 })}, aspects: aspects(ropecheck.FrequenciesAspect), got: `the frequencies of "other0"`},
		{name: "a rule of other layers", cfg: llama, data: by(llama3), others: []posenc.RotaryConfig{yarn, llama3}, aspects: aspects(ropecheck.FrequenciesAspect), got: `the frequencies of "other1"`},
		{name: "off by one", cfg: llama, data: shift(1), aspects: aspects(ropecheck.PositionsAspect), got: "1", text: "Positions are 1 higher than given."},
		{name: "off by minus one", cfg: gptj, data: shift(-1), aspects: aspects(ropecheck.PositionsAspect), got: "-1"},
		{name: "off by a prefix", cfg: llama3, data: shift(517), aspects: aspects(ropecheck.PositionsAspect), got: "517"},
		{name: "positions of padding", cfg: llama, data: moved(func(i int, p int32) int32 {
			if i < 8 {
				return 1
			}
			return p
		}), aspects: aspects(ropecheck.PositionsAspect)},
		{name: "twice", cfg: yarn, data: after(func(d *ropecheck.Data) { rotateBy(d.After, yarn, d.Positions, d.Heads) }), aspects: aspects(ropecheck.TimesAspect), got: "twice"},
		{name: "twice without a factor", cfg: gptj, data: after(func(d *ropecheck.Data) { rotateBy(d.After, gptj, d.Positions, d.Heads) }), aspects: aspects(ropecheck.TimesAspect), got: "twice"},
		{name: "never", cfg: llama, data: after(func(d *ropecheck.Data) { copy(d.After, d.Before) }), aspects: aspects(ropecheck.TimesAspect), got: "never"},
		{name: "query scale", cfg: llama, data: after(func(d *ropecheck.Data) { scale(d.After, 0.125) }), aspects: aspects(ropecheck.ScaleAspect), got: "0.125"},
		{name: "scale of partial heads", cfg: gptj, data: after(func(d *ropecheck.Data) { scale(d.After, 0.3) }), aspects: aspects(ropecheck.ScaleAspect), got: "0.3"},
		{name: "scale by token", cfg: llama, data: after(func(d *ropecheck.Data) {
			for t := range d.Tokens {
				scale(d.After[t*d.Heads*d.HeadDim:][:d.Heads*d.HeadDim], 1+float32(t)/10)
			}
		}), aspects: aspects(ropecheck.ScaleAspect)},
		{name: "norm", cfg: llama, data: after(func(d *ropecheck.Data) { normalize(d.After, d.HeadDim, nil) }), aspects: aspects(ropecheck.ScaleAspect), got: "rms, times 1"},
		{name: "norm with weights", cfg: llama, data: normalized(false), aspects: aspects(ropecheck.ScaleAspect)},
		{name: "norm with weights of partial heads", cfg: gptj, data: normalized(false), aspects: aspects(ropecheck.ScaleAspect)},
		{name: "norm with weights after it", cfg: llama, data: normalized(true), aspects: aspects(ropecheck.ScaleAspect)},
		{name: "norm with weights and another base", cfg: llama, data: func(p *planted) ropecheck.Data {
			other := planted{cfg: with(p.cfg, func(c *posenc.RotaryConfig) { c.Base = 10000 }), positions: p.positions}
			return normalized(false)(&other)
		}, aspects: aspects(ropecheck.ScaleAspect, ropecheck.FrequenciesAspect)},
		{name: "no xPos", cfg: xpos, data: by(with(xpos, func(c *posenc.RotaryConfig) { c.XPos = nil })), aspects: aspects(ropecheck.FactorAspect), got: "no decay"},
		{name: "xPos", cfg: llama, data: by(with(llama, func(c *posenc.RotaryConfig) { c.XPos = xpos.XPos })), aspects: aspects(ropecheck.FactorAspect), got: "by pairs and positions"},
		{name: "xPos of keys", cfg: xpos, data: by(with(xpos, func(c *posenc.RotaryConfig) { c.XPos = &posenc.XPos{ScaleBase: 512, Keys: true} })), aspects: aspects(ropecheck.FactorAspect), got: "keys"},
		{name: "one axis", cfg: mrope, positions: imagePositions(), data: by(with(mrope, func(c *posenc.RotaryConfig) { c.Axes = slices.Repeat([]uint8{0}, 31); c.Axes = append(c.Axes, 2) })), aspects: aspects(ropecheck.AxesAspect)},
		{name: "height and width exchanged", cfg: mrope, positions: imagePositions(), data: by(with(mrope, func(c *posenc.RotaryConfig) {
			c.Axes = slices.Clone(c.Axes)
			for i, a := range c.Axes {
				if a > 0 {
					c.Axes[i] = 3 - a
				}
			}
		})), aspects: aspects(ropecheck.AxesAspect)},
		{name: "interleaved axes", cfg: mrope, positions: imagePositions(), data: by(with(mrope, func(c *posenc.RotaryConfig) {
			c.Axes = testkit.Must(frequency.InterleavedSections(frequency.ImageSections{Time: 12, Height: 10, Width: 10}))
		})), aspects: aspects(ropecheck.AxesAspect)},
		{name: "layout and off by one", cfg: llama, data: func(p *planted) ropecheck.Data {
			p.cfg.Layout = posenc.Interleaved
			d := shift(1)(p)
			p.cfg.Layout = posenc.HalfSplit
			return d
		}, aspects: aspects(ropecheck.LayoutAspect, ropecheck.PositionsAspect), got: "Interleaved"},
		{name: "layout, base and factor", cfg: llama, data: by(with(llama, func(c *posenc.RotaryConfig) { c.Layout, c.Base, c.AttentionFactor = posenc.Interleaved, 10000, 1.1 })), aspects: aspects(ropecheck.LayoutAspect, ropecheck.FactorAspect, ropecheck.FrequenciesAspect), got: "Interleaved"},
	}
	for _, cfg := range []posenc.RotaryConfig{llama, gptj} {
		for _, layout := range []posenc.Layout{posenc.HalfSplit, posenc.Interleaved} {
			list = append(list, planted{
				name: fmt.Sprintf("tables of the other layout, %v as %v", cfg.Layout, layout), cfg: cfg,
				data:    func(p *planted) ropecheck.Data { return crossed(p.cfg, p.positions, layout) },
				aspects: aspects(ropecheck.LayoutAspect), got: fmt.Sprintf("pairs %v, tables %v", layout, posenc.Interleaved-layout),
			})
		}
	}
	for i := range list {
		if list[i].positions == nil {
			list[i].positions = positions
		}
	}
	return list
}

// alike compares words, and numbers to a thousandth.
func alike(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if left, right, ok := strings.Cut(a, ", times "); ok {
		wanted, times, _ := strings.Cut(b, ", times ")
		return left == wanted && alike(right, times)
	}
	return a == b || errX == nil && errY == nil && math.Abs(x-y) <= 1e-3*math.Abs(y)
}

// normalize divides heads by their root mean square and multiplies by weights.
func normalize(x []float32, dim int, weights []float32) {
	for at := 0; at < len(x); at += dim {
		scale(x[at:at+dim], float32(1/rootMeanSquare(x[at:at+dim])))
		for i, w := range weights {
			x[at+i] *= w
		}
	}
}

// normalized is a rotation of heads with a norm before or after.
func normalized(behind bool) func(p *planted) ropecheck.Data {
	return func(p *planted) ropecheck.Data {
		d := rotated(p.cfg, p.positions, 6)
		weights := random(5, d.HeadDim)
		for i, w := range weights {
			weights[i] = 1 + float32(math.Abs(float64(w)))
		}
		copy(d.After, d.Before)
		if !behind {
			normalize(d.After, d.HeadDim, weights)
		}
		rotateBy(d.After, p.cfg, p.positions, d.Heads)
		if behind {
			normalize(d.After, d.HeadDim, weights)
		}
		return d
	}
}

func scale(x []float32, by float32) {
	for i := range x {
		x[i] *= by
	}
}

// crossed rotates pairs of a layout by cosines and sines in the order of the other: those of
// transformers' rotate_half by repeat_interleave, or the other way about.
func crossed(cfg posenc.RotaryConfig, positions []int32, layout posenc.Layout) ropecheck.Data {
	d, dim := rotated(cfg, positions, 6), cmp.Or(cfg.RotaryDim, cfg.HeadDim)
	copy(d.After, d.Before)
	for at := 0; at < len(d.After); at += cfg.HeadDim {
		p := float64(positions[at/cfg.HeadDim/d.Heads])
		for e := range dim {
			partner, sign, pair := (e+dim/2)%dim, 1.0, e/2 // tables: Interleaved
			if e < dim/2 {
				sign = -1
			}
			if layout == posenc.Interleaved {
				partner, sign, pair = e^1, float64(e%2*2-1), e%(dim/2)
			}
			sin, cos := math.Sincos(p * math.Pow(max(cfg.Base, 10000), -2*float64(pair)/float64(dim)))
			d.After[at+e] = float32(float64(d.Before[at+e])*cos + sign*float64(d.Before[at+partner])*sin)
		}
	}
	return d
}

func (p *planted) candidates() []ropecheck.Candidate {
	list := []ropecheck.Candidate{{Name: "model", Config: p.cfg}}
	for i, other := range p.others {
		list = append(list, ropecheck.Candidate{Name: fmt.Sprint("other", i), Config: other})
	}
	return list
}

// tried reports whether subtest i runs.
func tried(i int) bool { return testkit.Sampled(i, 6) }

// TestPlantedFaults plants faults, also in data with Gaussian noise, of sizes relative to the
// elements, and in data of 16 bits.
func TestPlantedFaults(t *testing.T) {
	for i, p := range plantedFaults() {
		if !tried(i) {
			continue
		}
		exact := p.data(&p)
		for _, as := range []struct {
			kind  ropecheck.ElementType
			noise float64
		}{{}, {noise: 1e-5}, {noise: 2e-2}, {kind: ropecheck.Float16}, {kind: ropecheck.BFloat16}} {
			t.Run(fmt.Sprint(p.name, "/", as.kind, "/noise=", as.noise), func(t *testing.T) {
				d := exact
				d.Type, d.After = as.kind, narrowed(noisy(exact.After, as.noise), as.kind)
				r := testkit.Must(ropecheck.Check(d, p.candidates()...))
				c := &r.Candidates[0]
				if c.Verdict != ropecheck.Differs {
					t.Errorf("the verdict is %s", c.Verdict)
				}
				var found []ropecheck.Aspect
				for _, f := range c.Faults {
					found = append(found, f.Aspect)
				}
				if !slices.Equal(found, p.aspects) {
					t.Errorf("faults %v, want %v", found, p.aspects)
				} else if p.got != "" && !alike(c.Faults[0].Got, p.got) || p.text != "" && c.Faults[0].Text != p.text {
					t.Errorf("%s is %s, want %s: %s", found[0], c.Faults[0].Got, p.got, c.Faults[0].Text)
				}
				if !r.Hypotheses[0].Explains {
					t.Error("nothing explains the data")
				}
				if text := r.String(); t.Failed() || strings.Contains(text, "%!") || strings.Contains(text, "NaN") {
					t.Errorf("text %s", text)
				}
			})
		}
	}
}

func rootMeanSquare(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum / float64(len(x)))
}

// noisy adds noise, relative to the root mean square.
func noisy(x []float32, size float64) []float32 {
	y, rms := slices.Clone(x), rootMeanSquare(x)
	for i, n := range random(2, len(x)) {
		y[i] += float32(size * rms * float64(n))
	}
	return y
}

// narrowed rounds to a type.
func narrowed(x []float32, kind ropecheck.ElementType) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = [...]func(float32) float32{ropecheck.Float32: same, ropecheck.Float16: f16, ropecheck.BFloat16: bf16}[kind](v)
	}
	return y
}
