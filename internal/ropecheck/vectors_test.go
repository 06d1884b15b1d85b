package ropecheck_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/ropecheck"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/modelconfig"
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

// TestTransformersVectors checks the golden vectors of package modelconfig: two heads of q, and one of k, of every
// published model there, in float32.
func TestTransformersVectors(t *testing.T) {
	const directory = "../../modelconfig/testdata/transformers"
	for i, path := range testkit.Must(filepath.Glob(directory + "/vectors/*.json")) {
		if !tried(i) {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".json"), func(t *testing.T) {
			var v struct {
				Cases []struct {
					LayerType string `json:"layer_type"`
					Seq       int
					Axes      int
					Positions []int32
					HeadDim   int `json:"head_dim"`
					Q         []string
				}
			}
			testkit.ReadJSON(path, &v)
			m := testkit.Must(modelconfig.HuggingFace(testkit.Must(os.ReadFile(filepath.Join(directory, "configs", filepath.Base(path))))))
			for _, c := range v.Cases {
				cfg := configOf(m, c.LayerType, modelconfig.RopeOptions{SequenceLength: max(1, c.Seq), Rounding: frequency.Float32})
				if cfg.HeadDim != c.HeadDim { // the rotated slice of a head alone
					cfg.HeadDim, cfg.Offset = c.HeadDim, 0
				}
				d := ropecheck.Data{Tokens: len(c.Positions) / c.Axes, Heads: 2, HeadDim: c.HeadDim, Positions: c.Positions}
				d.After = testkit.Hex[float32](c.Q...)
				d.Before = testkit.GoldenInputs(0, len(d.After))
				r := testkit.Must(ropecheck.Check(d, ropecheck.Candidate{Name: c.LayerType, Config: cfg}))
				if r.Candidates[0].Verdict != ropecheck.Agrees || len(r.Candidates[0].Faults) > 0 {
					t.Errorf("%q, %d: %v", c.LayerType, c.Seq, r)
				}
			}
		})
	}
}

// TestLlamaCppVectors checks the golden vectors of ggml of package modelconfig: one head.
func TestLlamaCppVectors(t *testing.T) {
	var cases []struct {
		Name      string
		Keys      map[string]any
		Tensors   map[string][]float32
		LayerType string
		SeqLen    int
		HeadDim   int
		Positions [][]int32
		Rotated   []string
	}
	text := testkit.Must(os.Open("../../modelconfig/testdata/llamacpp/rotated.json"))
	defer text.Close()
	decoder := json.NewDecoder(text)
	decoder.UseNumber()
	testkit.NoError(t, decoder.Decode(&cases))
	for i, c := range cases {
		if !tried(i) {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			for key, v := range c.Keys {
				c.Keys[key] = metadata(v)
			}
			for name, factors := range c.Tensors {
				c.Keys[name] = factors
			}
			cfg := configOf(testkit.Must(modelconfig.GGUF(c.Keys)), c.LayerType, modelconfig.RopeOptions{SequenceLength: c.SeqLen})
			d := ropecheck.Data{Tokens: len(c.Rotated), Heads: 1, HeadDim: c.HeadDim, Positions: slices.Concat(c.Positions[:axesOf(&cfg)]...)}
			d.After = testkit.Hex[float32](c.Rotated...)
			for i := range d.After {
				d.Before = append(d.Before, float32((37*(i%c.HeadDim)+11)%31-15)/4)
			}
			candidate := ropecheck.Candidate{Name: c.Name, Config: cfg}
			divided := len(c.Tensors) > 0 && cfg.InvFreq != nil
			if divided {
				candidate.Base = layerOf(testkit.Must(modelconfig.GGUF(c.Keys)), c.LayerType).Rule.Base
			}
			r := testkit.Must(ropecheck.Check(d, candidate))
			if r.Candidates[0].Verdict != ropecheck.Agrees || len(r.Candidates[0].Faults) > 0 {
				t.Error(r)
			}
			// A tensor divides running products of any base. The first factor of Phi 3.5 is not 1.
			if divided && !slices.ContainsFunc(r.Candidates[0].Arithmetics[:1], func(a ropecheck.Arithmetic) bool { return a.Angles == ropecheck.RunningAngles }) {
				t.Errorf("angles are not running products: %v", r)
			}
		})
	}
}

// metadata gives a number the type that it has in a GGUF file.
func metadata(v any) any {
	switch v := v.(type) {
	case json.Number:
		var i uint32
		if _, err := fmt.Sscan(v.String(), &i); err == nil && fmt.Sprint(i) == v.String() {
			return i
		}
		return float32(testkit.Must(v.Float64()))
	case []any:
		for i := range v {
			v[i] = metadata(v[i])
		}
	}
	return v
}

// configOf returns the configuration of the layers of a kind, or of the indexers.
func configOf(m *modelconfig.Model, kind string, options modelconfig.RopeOptions) posenc.RotaryConfig {
	rope := testkit.Must(m.Rope(options))
	for i, layer := range m.Layers() {
		switch {
		case layer.Indexer && kind == "indexer":
			return rope.Indexer(i).Config()
		case layer.Rotates && (layer.Kind == kind || kind == ""):
			return rope.Rotary(i).Config()
		}
	}
	panic("no layers of kind " + kind)
}

// layerOf returns the first layer of a kind.
func layerOf(m *modelconfig.Model, kind string) modelconfig.Layer {
	layers := m.Layers()
	return layers[slices.IndexFunc(layers, func(l modelconfig.Layer) bool { return l.Rotates && (l.Kind == kind || kind == "") })]
}
