package ropecheck_test

import (
	"math/rand/v2"
	"slices"

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

// models are what tests rotate by.
var (
	llama  = posenc.RotaryConfig{HeadDim: 64, Layout: posenc.HalfSplit, Base: 500000}
	gptj   = posenc.RotaryConfig{HeadDim: 96, RotaryDim: 32, Layout: posenc.Interleaved}
	llama3 = ladder(frequency.Llama3(64, 500000, frequency.Llama3Parameters{Factor: 8, LowFreqFactor: 1, HighFreqFactor: 4, OriginalMaxPositions: 8192}, frequency.Exact))
	xpos   = posenc.RotaryConfig{HeadDim: 64, Layout: posenc.HalfSplit, Base: 500000, XPos: &posenc.XPos{ScaleBase: 512}}
	mrope  = posenc.RotaryConfig{HeadDim: 64, Layout: posenc.HalfSplit, Base: 1e6, Axes: testkit.Must(frequency.Sections(8, 12, 12))}
)

// inverse is llama the other way.
var inverse = changed(ladder(frequency.Default(64, 500000, frequency.Exact)), func(c *posenc.RotaryConfig) {
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

// changed changes a configuration.
func changed(cfg posenc.RotaryConfig, change func(cfg *posenc.RotaryConfig)) posenc.RotaryConfig {
	change(&cfg)
	return cfg
}

func aspects(list ...ropecheck.Aspect) []ropecheck.Aspect { return list }

// tried reports whether subtest i runs.
func tried(i int) bool { return testkit.Sampled(i, 6) }

// narrowed rounds to a type.
func narrowed(x []float32, kind ropecheck.ElementType) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = [...]func(float32) float32{ropecheck.Float32: same, ropecheck.Float16: f16, ropecheck.BFloat16: bf16}[kind](v)
	}
	return y
}
