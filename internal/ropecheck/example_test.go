package ropecheck_test

import (
	"fmt"
	"log"
	"math"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/ropecheck"
	"github.com/go-posenc/posenc/modelconfig"
)

// An engine rotates a model with base 10000, and its positions start at 1.
func Example() {
	const tokens, heads, dim = 12, 4, 64
	var positions []int32
	before := make([]float32, tokens*heads*dim)
	for t := range int32(tokens) {
		positions = append(positions, t*t)
	}
	for i := range before {
		before[i] = float32(math.Sin(float64(i * i)))
	}
	after := append([]float32(nil), before...)
	for at := range after { // what the engine does
		t, i := at/(heads*dim), at%dim
		if i < dim/2 {
			sin, cos := math.Sincos(float64(positions[t]+1) * math.Pow(10000, -2*float64(i)/dim))
			x1, x2 := float64(before[at]), float64(before[at+dim/2])
			after[at], after[at+dim/2] = float32(x1*cos-x2*sin), float32(x2*cos+x1*sin)
		}
	}

	model, err := modelconfig.HuggingFace([]byte(`{"model_type": "llama", "head_dim": 64, "rope_theta": 500000}`))
	if err != nil {
		log.Fatal(err)
	}
	rope, err := model.Rope()
	if err != nil {
		log.Fatal(err)
	}
	report, err := ropecheck.Check(ropecheck.Data{
		Before: before, After: after, Tokens: tokens, Heads: heads, HeadDim: dim, Positions: positions,
	}, ropecheck.Candidate{Name: "llama", Config: rope.Rotary(0).Config()})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Candidates[0].Verdict)
	for _, fault := range report.Candidates[0].Faults {
		fmt.Println(fault.Text)
	}
	// Output:
	// differs
	// The frequencies are those of base 10000, in place of base 500000.
	// Positions are 1 higher than given.
}

// Without candidates the check says what was done.
func Example_noCandidates() {
	rope, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: 64, RotaryDim: 32, Layout: posenc.Interleaved, Base: 1e6, AttentionFactor: 1.25})
	if err != nil {
		log.Fatal(err)
	}
	positions := []int32{0, 1, 2, 3, 50, 51, 900, 1000}
	before := make([]float32, len(positions)*4*64)
	for i := range before {
		before[i] = float32(math.Sin(float64(i * i)))
	}
	after := append([]float32(nil), before...)
	if err := posenc.Rotate(rope.At(positions), posenc.View[float32]{Data: after, Heads: 4}); err != nil {
		log.Fatal(err)
	}
	report, err := ropecheck.Check(ropecheck.Data{Before: before, After: after, Tokens: len(positions), Heads: 4, HeadDim: 64, Positions: positions})
	if err != nil {
		log.Fatal(err)
	}
	h := report.Hypotheses[0]
	fmt.Println(h.Layout, h.Offset, h.RotaryDim, h.Base)
	fmt.Printf("%.4g\n", h.AttentionFactor)
	// Output:
	// Interleaved 0 32 1e+06
	// 1.25
}
