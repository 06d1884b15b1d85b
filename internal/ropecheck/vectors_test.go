package ropecheck_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/ropecheck"
	"github.com/go-posenc/posenc/internal/testkit"
)

// frameworkCase is what a framework rotated: testdata/generate.py, testdata/ggml.c.
type frameworkCase struct {
	Name      string                `json:"name"`
	Type      ropecheck.ElementType `json:"type"`
	Layout    string                `json:"layout"`
	HeadDim   int                   `json:"head_dim"`
	Heads     int                   `json:"heads"`
	Base      float64               `json:"base"`
	Positions []int32               `json:"positions"`
	After     []string              `json:"after"`
}

var frameworkLayouts = []posenc.Layout{posenc.HalfSplit, posenc.Interleaved, posenc.InterleavedToHalfSplit}

func (c *frameworkCase) data() (ropecheck.Data, posenc.RotaryConfig) {
	n := len(c.Positions) * c.Heads * c.HeadDim
	d := ropecheck.Data{Tokens: len(c.Positions), Heads: c.Heads, HeadDim: c.HeadDim, Type: c.Type, Positions: c.Positions}
	d.Before = narrowed(testkit.GoldenInputs(0, n), c.Type)
	switch c.Type {
	case ropecheck.Float16:
		for _, x := range testkit.Hex[posenc.Float16](c.After...) {
			d.After = append(d.After, testkit.Widen(x))
		}
	case ropecheck.BFloat16:
		for _, x := range testkit.Hex[posenc.BFloat16](c.After...) {
			d.After = append(d.After, testkit.Widen(x))
		}
	default:
		d.After = testkit.Hex[float32](c.After...)
	}
	cfg := posenc.RotaryConfig{HeadDim: c.HeadDim, Layout: posenc.HalfSplit, Base: c.Base}
	cfg.Layout = frameworkLayouts[slices.IndexFunc(frameworkLayouts, func(l posenc.Layout) bool { return l.String() == c.Layout })]
	return d, cfg
}

// TestFrameworks checks what frameworks rotated, in their types and roundings, against their
// configuration, and against others.
func TestFrameworks(t *testing.T) {
	// By the source of each framework: how it rounds. Angles that are equal at these positions are
	// several.
	float32Angles := []ropecheck.Angles{ropecheck.Float32Angles, ropecheck.SteppedAngles}
	want := map[string]struct {
		angles   []ropecheck.Angles
		tables   ropecheck.Tables
		products ropecheck.Products
		equal    float64 // share of elements
		fault    bool
	}{
		// PyTorch's cosines and sines are a bit off in 3 of 100.
		"llama float32":                       {float32Angles, "float32", "separate", 0.9, false},
		"llama bfloat16":                      {float32Angles, "bfloat16", "rounded", 0.98, false},
		"llama float16":                       {float32Angles, "float16", "rounded", 0.98, false},
		"llama after .to(bfloat16)":           {[]ropecheck.Angles{ropecheck.BFloat16InvFreq}, "bfloat16", "rounded", 0.98, true},
		"llama after .to(float16)":            {[]ropecheck.Angles{ropecheck.Float16InvFreq}, "float16", "rounded", 0.98, true},
		"llama with a cache made in bfloat16": {[]ropecheck.Angles{ropecheck.BFloat16Angles}, "bfloat16", "rounded", 0.98, true},
		"cohere float32":                      {float32Angles, "float32", "separate", 0.9, false},
		"cohere bfloat16":                     {float32Angles, "bfloat16", "separate", 0.98, false}, // widens q and k
		"glm4 float32":                        {float32Angles, "float32", "separate", 0.9, false},
		"glm4 bfloat16":                       {float32Angles, "bfloat16", "rounded", 0.98, false},
		"llama4 float32":                      {float32Angles, "float32", "separate", 0.9, false},
		"llama4 bfloat16":                     {float32Angles, "float32", "separate", 0.98, false}, // complex numbers of float32
		"deepseek float32":                    {float32Angles, "float32", "separate", 0.9, false},
		// Its code is x0*cos - x1*sin and x0*sin + x1*cos, of which GCC fuses the first product.
		"ggml NEOX float32":   {[]ropecheck.Angles{ropecheck.RunningAngles}, "float32", "fused complex", 0.98, false},
		"ggml NORMAL float32": {[]ropecheck.Angles{ropecheck.RunningAngles}, "float32", "fused complex", 0.98, false},
		"ggml NEOX float16":   {[]ropecheck.Angles{ropecheck.RunningAngles}, "float32", "", 0.99, false}, // products are equal in 16 bits
	}
	seen := 0
	for _, path := range testkit.Must(filepath.Glob("testdata/*.json")) {
		var file struct{ Cases []frameworkCase }
		testkit.ReadJSON(path, &file)
		for _, c := range file.Cases {
			seen++
			t.Run(c.Name, func(t *testing.T) {
				w, ok := want[c.Name]
				if !ok {
					t.Fatal("a case of which nothing is said")
				}
				d, cfg := c.data()
				other, longer := cfg, cfg
				other.Layout, longer.Base = posenc.Interleaved, 10000
				if cfg.Layout == posenc.Interleaved {
					other.Layout = posenc.HalfSplit
				}
				r := testkit.Must(ropecheck.Check(d, ropecheck.Candidate{Name: "right", Config: cfg}, ropecheck.Candidate{Name: "layout", Config: other}, ropecheck.Candidate{Name: "base", Config: longer}))
				if r.Candidates[0].Verdict != ropecheck.Agrees || r.Candidates[1].Verdict != ropecheck.Differs || r.Candidates[2].Verdict != ropecheck.Differs {
					t.Fatalf("verdicts %s, %s, %s, want agrees, differs, differs: %v", r.Candidates[0].Verdict, r.Candidates[1].Verdict, r.Candidates[2].Verdict, r)
				}
				if r.Candidates[1].Faults[0].Aspect != ropecheck.LayoutAspect || r.Candidates[2].Faults[0].Aspect != ropecheck.FrequenciesAspect {
					t.Errorf("faults %v, %v", r.Candidates[1].Faults, r.Candidates[2].Faults)
				}
				a := r.Candidates[0].Arithmetics[0]
				if !slices.Contains(w.angles, a.Angles) || a.Tables != w.tables || w.products != "" && a.Products != w.products || a.Equal < w.equal {
					t.Errorf("arithmetic %+v, want %+v", a, w)
				}
				if has := len(r.Candidates[0].Faults) > 0; has != w.fault {
					t.Errorf("faults %v, want one: %v", r.Candidates[0].Faults, w.fault)
				}
				if t.Failed() {
					t.Log(r)
				}
			})
		}
	}
	if seen != len(want) {
		t.Errorf("%d cases, want %d", seen, len(want))
	}
}
