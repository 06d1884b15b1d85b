package testkit

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/kernels"
)

// FrequenciesOf returns the frequencies that a configuration means.
func FrequenciesOf(t testing.TB, cfg posenc.RotaryConfig) []float64 {
	t.Helper()
	if cfg.InvFreq != nil {
		return cfg.InvFreq
	}
	dim, base := cfg.RotaryDim, cfg.Base
	if dim == 0 {
		dim = cfg.HeadDim
	}
	if base == 0 {
		base = 10000
	}
	ladder, err := frequency.Default(dim, base, frequency.Rounding(cfg.Angles))
	if err != nil {
		t.Fatal(err)
	}
	return ladder.InvFreq
}

// TablesOf returns generic's rows for the positions.
func TablesOf(t testing.TB, cfg posenc.RotaryConfig, positions []int32, direction float32) (cos, sin []float32) {
	t.Helper()
	invFreq := FrequenciesOf(t, cfg)
	n := len(invFreq)
	scaling := float32(cfg.AttentionFactor)
	if scaling == 0 {
		scaling = 1
	}
	invFreq32 := make([]float32, n)
	for i, w := range invFreq {
		invFreq32[i] = float32(w)
	}
	cos, sin = make([]float32, len(positions)*n), make([]float32, len(positions)*n)
	for i, p := range positions {
		if cfg.Angles == posenc.Float32Angles {
			generic.CosSinFloat32(cos[i*n:], sin[i*n:], invFreq32, float32(p), scaling, scaling*direction)
		} else {
			generic.CosSinExact(cos[i*n:], sin[i*n:], p, invFreq, scaling, scaling*direction)
		}
	}
	return cos, sin
}

// Placed is views of one piece of memory, and where each starts.
type Placed struct {
	Kind   string
	Views  []posenc.View[float32]
	Starts []int
	Size   int // elements of memory
}

var PlaceKinds = []string{"packed", "strided", "qkv", "perhead", "headmajor", "gaps"}

// Place lays out views with the given numbers of heads.
func Place(r *rand.Rand, kind string, tokens int, heads []int, dim int) Placed {
	p := Placed{Kind: kind, Views: make([]posenc.View[float32], len(heads)), Starts: make([]int, len(heads))}
	all := 0
	for _, h := range heads {
		all += h
	}
	for i, h := range heads {
		v := &p.Views[i]
		v.Heads = h
		p.Starts[i] = p.Size
		switch kind {
		case "packed": // [tokens][heads][dim], one view after the other
			p.Size += tokens * h * dim
			continue
		case "strided": // the same, said by strides
			v.TokenStride, v.HeadStride = h*dim, dim
			p.Size += tokens * h * dim
		case "qkv": // [tokens][Q heads | K heads | as many again][dim]
			v.TokenStride = 2 * all * dim
			p.Starts[i] = (p.Size / max(1, tokens))
			p.Size += tokens * h * dim
		case "perhead": // [tokens][heads][q k v][dim]: GPT-NeoX
			v.Heads = heads[0]
			v.TokenStride, v.HeadStride = heads[0]*(len(heads)+1)*dim, (len(heads)+1)*dim
			p.Starts[i] = i * dim
		case "headmajor": // [heads][tokens][dim]
			v.TokenStride, v.HeadStride = dim, tokens*dim
			p.Size += tokens * h * dim
		case "gaps":
			gap := r.IntN(9)
			v.HeadStride = dim + gap
			v.TokenStride = h*v.HeadStride + r.IntN(9)
			p.Size += tokens*v.TokenStride + r.IntN(5)
		}
	}
	switch kind {
	case "qkv":
		p.Size = 2 * tokens * all * dim
	case "perhead":
		p.Size = tokens * heads[0] * (len(heads) + 1) * dim
	}
	return p
}

// In returns the views of memory.
func (p Placed) In(memory []float32, tokens, dim int) []posenc.View[float32] {
	views := slices.Clone(p.Views)
	for i := range views {
		v := &views[i]
		stop := len(memory)
		if v.TokenStride == 0 && v.HeadStride == 0 {
			stop = p.Starts[i] + tokens*v.Heads*dim
		}
		v.Data = memory[p.Starts[i]:stop]
	}
	return views
}

// RotateViews rotates the views by generic, pair by pair, and returns what it
// touches.
func (p Placed) RotateViews(cfg posenc.RotaryConfig, memory, cos, sin []float32, tokens int) []bool {
	touched := make([]bool, len(memory))
	rotaryDim := cfg.RotaryDim
	if rotaryDim == 0 {
		rotaryDim = cfg.HeadDim
	}
	pairs := rotaryDim / 2
	for i := range p.Views {
		v := &p.Views[i]
		rows := kernels.Rows{Pairs: pairs, Partner: pairs, Tokens: tokens, XTokenStride: v.TokenStride, Heads: v.Heads, XHeadStride: v.HeadStride, TableStride: pairs}
		if rows.XTokenStride == 0 {
			rows.XTokenStride = v.Heads * cfg.HeadDim
		}
		if rows.XHeadStride == 0 {
			rows.XHeadStride = cfg.HeadDim
		}
		rows.YTokenStride, rows.YHeadStride = rows.XTokenStride, rows.XHeadStride
		at := p.Starts[i] + cfg.Offset
		rotateEachPair(cfg.Layout, memory[at:], cos, sin, &rows, touched[at:])
	}
	return touched
}

// rotateEachPair rotates one pair after another as generic does, in place, and marks
// what it touches.
func rotateEachPair(l posenc.Layout, x, cos, sin []float32, rows *kernels.Rows, touched []bool) {
	for t := range rows.Tokens {
		for h := range rows.Heads {
			for i := range rows.Pairs {
				a, b := PairAt(l, t*rows.XTokenStride+h*rows.XHeadStride, i, rows.Partner)
				at := t*rows.TableStride + i
				generic.RotateHalfSplitF32(x[a:], x[b:], x[a:a+1], x[b:], cos[at:], sin[at:])
				touched[a], touched[b] = true, true
			}
		}
	}
}
