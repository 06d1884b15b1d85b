package ropecheck_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/ropecheck"
)

// llama31 is the base and head of Llama 3.1.
var llama = posenc.RotaryConfig{HeadDim: 128, Base: 500000}

// positionsOf are neighbours, and others far apart.
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

func random(r *rand.Rand, n int) []float32 {
	list := make([]float32, n)
	for i := range list {
		list[i] = float32(r.NormFloat64())
	}
	return list
}

// rotated is data that posenc rotated.
func rotated(cfg posenc.RotaryConfig, positions []int32, tokens, heads int) ropecheck.Data {
	d := ropecheck.Data{Tokens: tokens, Heads: heads, HeadDim: cfg.HeadDim, Positions: positions}
	d.Before = random(testkit.NewRand(1), tokens*heads*cfg.HeadDim)
	d.After = slices.Clone(d.Before)
	r := testkit.Must(posenc.NewRotary(cfg))
	if err := posenc.Rotate(r.At(positions), posenc.View[float32]{Data: d.After, Heads: heads}); err != nil {
		panic(err)
	}
	return d
}

func TestSmoke(t *testing.T) {
	other := llama
	other.Base = 10000
	d := rotated(llama, positionsOf(16), 16, 8)
	r := testkit.Must(ropecheck.Check(d, ropecheck.Candidate{Name: "llama", Config: llama}, ropecheck.Candidate{Name: "other", Config: other}))
	t.Log(r)
	r = testkit.Must(ropecheck.Check(d, ropecheck.Candidate{Name: "other", Config: other}))
	t.Log(r)
	r = testkit.Must(ropecheck.Check(d))
	t.Log(r)
}
