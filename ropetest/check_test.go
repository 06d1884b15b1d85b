package ropetest_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/modelconfig"
	"github.com/go-posenc/posenc/ropetest"
)

// recorder is the testing.TB of a test that fails.
type recorder struct {
	testing.TB
	failures []string
}

func (r *recorder) Helper()                      {}
func (r *recorder) Error(a ...any)               { r.failures = append(r.failures, fmt.Sprint(a...)) }
func (r *recorder) Errorf(text string, a ...any) { r.Error(fmt.Sprintf(text, a...)) }

func (r *recorder) String() string { return strings.Join(r.failures, "\n") }

func modelOf(t testing.TB, name string) *modelconfig.Model {
	t.Helper()
	for model, config := range ropetest.Models() {
		if model == name {
			return kit.Must(modelconfig.HuggingFace(config))
		}
	}
	t.Fatalf("no model %s", name)
	return nil
}

const rows = 4096 // of tables

// Engines that are right pass, with every model.
func TestRightLoops(t *testing.T) {
	n := -1
	for name := range ropetest.Models() {
		if n++; !kit.AllRounds() && n%4 != 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			model := modelOf(t, name)
			lengths := []int{rows}
			if beyond, depends := model.DependsOnLength(); depends {
				lengths = []int{beyond, 2 * beyond}
			}
			for _, length := range lengths {
				for i, loop := range loops {
					if !kit.AllRounds() && i != n/4%len(loops) {
						continue
					}
					rotate := loop.of(engineOf(t, name, model, length))
					ropetest.Check(t, model, rotate, modelconfig.RopeOptions{SequenceLength: length, Rounding: loop.rounding})
				}
			}
		})
	}
}

// What an engine does wrong is said, once for all layers that do it: each of the five errors of
// docs/porting.md, and others. Those without options are planted in each of the loops.
func TestWrongEngines(t *testing.T) {
	each := func(change func(l *layer)) func(e *engine) {
		return func(e *engine) {
			for i := range e.layers {
				change(&e.layers[i])
			}
		}
	}
	unscaled := func(l *layer) {
		l.factor = 1
		l.exact, l.float32 = make([]float64, l.dim/2), make([]float32, l.dim/2)
		for i := range l.exact {
			l.exact[i] = math.Pow(l.base, -2*float64(i)/float64(l.dim))
			l.float32[i] = float32(l.exact[i])
		}
	}
	const llama2, phi3 = "Llama-2-7b-hf", "Phi-3-mini-128k-instruct"
	random := rand.New(rand.NewPCG(5, 6))
	inFloat32 := tables(engineOf(t, llama2, modelOf(t, llama2), rows))
	for n, tt := range []struct {
		name, model string
		options     modelconfig.RopeOptions
		tokens      int                                                                  // of the engine, where not rows
		read        func(e *engine)                                                      // wrong
		rotate      func(rotate rotation, layer int, positions []int32, heads []float32) // wrong
		says        []string                                                             // each a failure, of parts with ... between
	}{
		{name: "pairs", model: "Llama-3.1-8B", read: each(func(l *layer) { l.layout = posenc.Interleaved }),
			says: []string{`layers 0 to 31: candidate "llama": ...Pairs are Interleaved, and the candidate has HalfSplit.`}},
		{name: "pairs of a part", model: "GLM-4-9B-0414", read: each(func(l *layer) { l.layout = posenc.HalfSplit }),
			says: []string{`layers 0 to 39: candidate "glm4": ...Pairs are HalfSplit, and the candidate has Interleaved.`}},
		{name: "rule", model: "Llama-3.1-8B", read: each(unscaled), says: []string{`layers 0 to 31: ...The frequencies are those of "llama without its rule llama3".`}},
		{name: "rule with a factor", model: "Qwen2.5-7B-Instruct", read: each(unscaled),
			says: []string{`layers 0 to 27: ...The attention factor 1.13863 is left out. The frequencies are those of "qwen2 without its rule yarn".`}},
		{name: "part", model: "gpt-neox-20b", read: each(func(l *layer) { l.offset, l.dim = 0, l.headDim; unscaled(l) }),
			says: []string{"layers 0 to 43: ...Elements 0 to 95 of a head rotate, and the candidate rotates elements 0 to 23."}},
		{name: "base", model: "gemma-3-27b-it", read: func(e *engine) {
			for i := range e.layers {
				e.layers[i] = e.layers[5]
			}
		}, says: []string{`layers 0 to 4, 6 to 10, ...candidate "gemma3_text sliding_attention"...The frequencies are those of "gemma3_text full_attention".`}},
		{name: "positions", model: "Llama-3.1-8B", rotate: func(rotate rotation, layer int, positions []int32, heads []float32) {
			for i := range positions {
				positions[i]++
			}
			rotate(layer, positions, heads)
		}, says: []string{"layers 0 to 31: ...Positions are 1 higher than given."}},
		{name: "a layer too many rotates", model: "SmolLM3-3B", rotate: func(rotate rotation, layer int, positions []int32, heads []float32) {
			if layer == 3 {
				layer = 0
			}
			rotate(layer, positions, heads)
		}, says: []string{"layer 3: the engine changes heads, and this model does not rotate in these layers"}},
		{name: "a layer too few rotates", model: "SmolLM3-3B", rotate: func(rotate rotation, layer int, positions []int32, heads []float32) {
			if layer != 4 {
				rotate(layer, positions, heads)
			}
		}, says: []string{`layer 4: candidate "smollm3": Nothing was rotated.`}},
		{name: "short factors in a long sequence", model: phi3, options: modelconfig.RopeOptions{SequenceLength: 2 * rows},
			says: []string{`The frequencies are those of "phi3, sequences of 4096 tokens".`}},
		{name: "long factors in a short sequence", model: phi3, options: modelconfig.RopeOptions{SequenceLength: 4096}, tokens: 131072,
			says: []string{`The frequencies are those of "phi3, sequences of 131072 tokens".`}},
		{name: "decoding at position 0", model: llama2, rotate: func(rotate rotation, layer int, positions []int32, heads []float32) {
			if len(positions) == 1 {
				positions[0] = 0
			}
			rotate(layer, positions, heads)
		}, says: []string{`layers 0 to 31, one token at a time: candidate "llama": Nothing was rotated.`}},
		{name: "angles of float32", model: llama2, options: modelconfig.RopeOptions{SequenceLength: rows}, rotate: func(_ rotation, layer int, positions []int32, heads []float32) {
			inFloat32(layer, positions, heads)
		}, says: []string{" If the engine is meant to have angles of float32, state it by Rounding: frequency.Float32 of modelconfig.RopeOptions."}},
		{name: "results of bfloat16", model: llama2, options: modelconfig.RopeOptions{SequenceLength: rows, Rounding: frequency.Float32}, rotate: func(rotate rotation, layer int, positions []int32, heads []float32) {
			rotate(layer, positions, heads)
			for i, x := range heads {
				heads[i] = generic.BFloat16ToFloat32(generic.Float32ToBFloat16(x))
			}
		}, says: []string{"All elements are bfloat16 numbers. If they are meant to be, rotate takes heads of that type, not of float32."}},
		{name: "no finite number", model: llama2, rotate: func(_ rotation, _ int, positions []int32, heads []float32) {
			if len(positions) > 1 {
				heads[4*128*5+128*2+7] = float32(math.Inf(-1)) // token 5
			}
		}, says: []string{"layers 0 to 31: element 7 of head 2 at position 5 is -Inf after the rotation", "layers 0 to 31, one token at a time: "}},
		{name: "other garbage in each layer", model: llama2, rotate: func(_ rotation, _ int, _ []int32, heads []float32) {
			for i := range heads {
				heads[i] = float32(random.NormFloat64())
			}
		}, says: []string{"layer 0: ", "layer 0, one token at a time: ", "layer 1: ", "other results of layers 1 to 31 are not compared until these agree"}},
	} {
		for i, loop := range loops {
			options := tt.options
			switch {
			case options.SequenceLength != 0:
				if loop.name != "complex numbers" {
					continue
				}
			case !kit.AllRounds() && i != n%len(loops):
				continue
			default:
				options = modelconfig.RopeOptions{SequenceLength: rows, Rounding: loop.rounding}
			}
			t.Run(tt.name+"/"+loop.name, func(t *testing.T) {
				model := modelOf(t, tt.model)
				e := engineOf(t, tt.model, model, cmp.Or(tt.tokens, rows))
				if tt.read != nil {
					tt.read(e)
				}
				rotate := loop.of(e)
				if tt.rotate != nil {
					right := rotate
					rotate = func(layer int, positions []int32, heads []float32) { tt.rotate(right, layer, positions, heads) }
				}
				r := &recorder{TB: t}
				ropetest.Check(r, model, rotate, options)
				if len(r.failures) != len(tt.says) {
					t.Fatalf("%d failures, want %d: %v", len(r.failures), len(tt.says), r)
				}
				for i, says := range tt.says {
					for _, part := range strings.Split(says, "...") {
						if !strings.Contains(r.failures[i], part) {
							t.Errorf("%s\ndoes not say %q", r.failures[i], part)
						}
					}
				}
			})
		}
	}
}

// Arguments of which there are too many, or none, and vision towers, are errors.
func TestArguments(t *testing.T) {
	identity := func(int, []int32, []float32) {}
	check := func(want string, rotate rotation, model *modelconfig.Model, options ...modelconfig.RopeOptions) {
		t.Helper()
		r := &recorder{TB: t}
		ropetest.Check(r, model, rotate, options...)
		if len(r.failures) != 1 || !strings.Contains(r.failures[0], want) {
			t.Errorf("%q, want one failure that says %q", r.failures, want)
		}
	}
	llama := modelOf(t, "Llama-2-7b-hf")
	check("options has 2 elements, want at most one", identity, llama, modelconfig.RopeOptions{}, modelconfig.RopeOptions{})
	check("ropetest.Check: the sequence has one token, want at least 2 in options.SequenceLength", identity, llama, modelconfig.RopeOptions{SequenceLength: 1})
	check("options.SequenceLength is -", identity, llama, modelconfig.RopeOptions{SequenceLength: math.MinInt})
	check("ropetest.Check: rotate is nil, want a function", nil, llama)
	check("ropetest.Check: modelconfig.Model.Rope: options.SequenceLength is 0", identity, modelOf(t, "internlm3-8b-instruct"))
	check("heads of the model have 1000000 elements, want at most 65536", identity, kit.Must(modelconfig.HuggingFace([]byte(`{"model_type": "phi", "head_dim": 1000000, "partial_rotary_factor": 0.0001}`))))
	check("the Model is nil or zero", identity, nil)
	check("the Model is nil or zero", identity, &modelconfig.Model{})
	needGolden(t)
	var towers map[string]any
	kit.ReadJSON(filepath.Join(golden, "towers.json"), &towers)
	for modelType := range towers {
		check("model is a vision tower", identity, kit.Must(modelconfig.HuggingFaceVision(fmt.Appendf(nil, `{"model_type": %q}`, modelType))))
	}
}

// Engines that compute in 16 bits, as PyTorch does: tables, products and sums are rounded. Their
// positions are exact.
func TestElementsOf16Bits(t *testing.T) {
	checkNarrow[posenc.Float16](t)
	checkNarrow[posenc.BFloat16](t)
}

func checkNarrow[E posenc.Float16 | posenc.BFloat16](t *testing.T) {
	t.Helper()
	model := modelOf(t, "Llama-3.1-8B")
	rotate := tables(engineOf(t, "Llama-3.1-8B", model, rows))
	for _, plant := range []bool{false, true} {
		r := &recorder{TB: t}
		ropetest.Check(r, model, func(layer int, positions []int32, heads []E) {
			wide := make([]float32, len(heads))
			for i, x := range heads {
				wide[i] = kit.Widen(x)
			}
			for i := range positions {
				if plant {
					positions[i]++
				}
			}
			rotate(layer, positions, wide)
			for i, x := range wide {
				heads[i] = kit.Narrow[E](x)
			}
		}, modelconfig.RopeOptions{SequenceLength: rows, Rounding: frequency.Float32})
		if plant && (len(r.failures) != 1 || !strings.Contains(r.failures[0], "Positions are 1 higher than given.")) || !plant && r.failures != nil {
			t.Errorf("planted error: %v: %v", plant, r)
		}
	}
}

// FuzzCheck calls Check with functions of any kind and models of any sizes: there is no panic but
// that of the function, and heads that no model rotates so are a failure.
func FuzzCheck(f *testing.F) {
	for seed := range uint64(24) {
		f.Add(seed, []byte(`{"model_type": "llama", "head_dim": 16, "num_hidden_layers": 2, "max_position_embeddings": 64}`))
	}
	f.Add(uint64(1), []byte(`{"model_type": "gemma3_text", "head_dim": 8, "num_hidden_layers": 7}`))
	f.Add(uint64(2), []byte(`{"model_type": "smollm3", "head_dim": 8, "num_hidden_layers": 5, "max_position_embeddings": 1}`))
	f.Add(uint64(3), []byte(`{"model_type": "qwen2", "head_dim": 12, "max_position_embeddings": 64, "rope_scaling": {"rope_type": "dynamic", "factor": 2}}`))
	f.Fuzz(func(t *testing.T, seed uint64, config []byte) {
		model, err := modelconfig.HuggingFace(config)
		if err != nil || len(model.Layers()) > 16 {
			return
		}
		switch seed % 3 {
		case 0:
			fuzzCheck[float32](t, seed, model)
		case 1:
			fuzzCheck[posenc.Float16](t, seed, model)
		case 2:
			fuzzCheck[posenc.BFloat16](t, seed, model)
		}
	})
}

func fuzzCheck[E posenc.Element](t *testing.T, seed uint64, model *modelconfig.Model) {
	random := rand.New(rand.NewPCG(seed, 3))
	one := func(list ...int) int { return list[random.IntN(len(list))] }
	options := modelconfig.RopeOptions{SequenceLength: one(0, 0, 2, 3, 64, 4096, 1<<20, math.MaxInt, -1), Rounding: frequency.Rounding(one(0, 0, 1, 2))}
	share := one(0, 1, 100)
	written := false
	r := &recorder{TB: t}
	ropetest.Check(r, model, func(layer int, positions []int32, heads []E) {
		for i := range heads {
			if share > 0 && random.IntN(share) == 0 {
				heads[i], written = E(random.Uint32N(1<<16)), true
			}
		}
		clear(positions)
	}, options)
	if written && r.failures == nil {
		t.Error("no failure")
	}
	for _, text := range r.failures {
		if text == "" || strings.Contains(text, "%!") {
			t.Errorf("%q", r.failures)
		}
	}
}

// The file of models has those with golden vectors, of each the same keys; -update writes them anew.
func TestModels(t *testing.T) {
	needGolden(t)
	var lines []string
	for name := range ropetest.Models() {
		var config bytes.Buffer
		kit.NoError(t, json.Compact(&config, kit.Must(os.ReadFile(filepath.Join(golden, "configs", name+".json")))))
		lines = append(lines, fmt.Sprintf("%q: %s", name, &config))
	}
	if len(lines) != 40 {
		t.Errorf("%d models, want the forty that the documentation says", len(lines))
	}
	want := "{\n" + strings.Join(lines, ",\n") + "\n}\n"
	if *kit.Update {
		kit.NoError(t, os.WriteFile("models.json", []byte(want), 0o666))
	} else if string(kit.Must(os.ReadFile("models.json"))) != want {
		t.Error("models.json is not what testdata of modelconfig has: go test ./ropetest -run TestModels -update")
	}
	for range ropetest.Models() {
		break // a loop may end early
	}
}

// The forty have every kind of layer that those with golden vectors have.
func TestModelsHaveEverything(t *testing.T) {
	needGolden(t)
	has := map[string]bool{}
	for _, config := range ropetest.Models() {
		for _, feature := range features(kit.Must(modelconfig.HuggingFace(config))) {
			has[feature] = true
		}
	}
	for _, file := range kit.Must(filepath.Glob(filepath.Join(golden, "configs", "*.json"))) {
		for _, feature := range features(kit.Must(modelconfig.HuggingFace(kit.Must(os.ReadFile(file))))) {
			if !has[feature] {
				t.Errorf("no model like %s has %s", filepath.Base(file), feature)
			}
		}
	}
	if len(has) < 20 {
		t.Errorf("%d features, want more", len(has))
	}
}

// features are the model's traps, and of its layers rule, layout, part, axes and factor.
func features(model *modelconfig.Model) (list []string) {
	for _, trap := range model.Traps() {
		list = append(list, fmt.Sprint("the trap ", trap.Name))
	}
	beyond, _ := model.DependsOnLength()
	rope := kit.Must(model.Rope(modelconfig.RopeOptions{SequenceLength: beyond}))
	for i, layer := range model.Layers() {
		if !layer.Rotates {
			list = append(list, "a layer that does not rotate")
			continue
		}
		cfg := rope.Rotary(i).Config()
		list = append(list, "rule "+layer.Rule.Name, fmt.Sprintf("%v of a part: %v, offset: %v, axes: %v, factor: %v",
			cfg.Layout, cfg.RotaryDim < cfg.HeadDim, cfg.Offset > 0, cfg.Axes != nil, cfg.AttentionFactor != 1))
	}
	return list
}

// engine is what an engine knows of a model. Its frequencies are golden ones, of transformers.
type engine struct {
	tokens int // of its tables
	layers []layer
}

type layer struct {
	rotates              bool
	layout               posenc.Layout
	headDim, offset, dim int
	base                 float64   // before a scaling rule
	exact                []float64 // frequencies, and as transformers has them in float32
	float32              []float32
	factor               float64
}

const golden = "../modelconfig/testdata/transformers/"

func needGolden(t testing.TB) {
	t.Helper()
	if _, err := os.Stat(golden); err != nil {
		t.Skip("NOT TESTED: golden vectors are in the repository, not in the module's zip")
	}
}

// engineOf reads a model's golden vectors.
func engineOf(t testing.TB, name string, model *modelconfig.Model, tokens int) *engine {
	t.Helper()
	needGolden(t)
	var v struct {
		Layers [][2]any `json:"layers"` // kind, rotates
		Cases  []struct {
			Kind    string `json:"layer_type"`
			Seq     int    `json:"seq"`
			InvFreq string `json:"inv_freq"`
			Exact   struct {
				InvFreq   string `json:"inv_freq"`
				Attention string `json:"attention_factor"`
			} `json:"exact"`
		} `json:"cases"`
	}
	kit.ReadJSON(filepath.Join(golden, "vectors", name+".json"), &v)
	beyond, depends := model.DependsOnLength()
	rope := kit.Must(model.Rope(modelconfig.RopeOptions{SequenceLength: tokens}))
	e := &engine{tokens: tokens}
	for i, of := range v.Layers {
		l := layer{rotates: of[1] == true}
		for _, c := range v.Cases {
			if l.rotates && c.Kind == of[0] && (!depends || c.Seq == tokens || c.Seq == 0 && tokens <= beyond) {
				cfg := rope.Rotary(i).Config()
				l.layout, l.headDim, l.offset, l.dim = cfg.Layout, cfg.HeadDim, cfg.Offset, cfg.RotaryDim
				l.base = model.Layers()[i].Rule.Base
				l.exact, l.float32 = kit.Hex[float64](c.Exact.InvFreq), kit.Hex[float32](c.InvFreq)
				l.factor = kit.Hex[float64](c.Exact.Attention)[0]
			}
		}
		if l.rotates && l.exact == nil {
			t.Fatalf("%s: no golden frequencies of layer %d with %d tokens", name, i, tokens)
		}
		e.layers = append(e.layers, l)
	}
	return e
}

// pair returns the elements of a pair, of which the layout is one or the other.
func (l *layer) pair(i int) (a, b int) {
	if l.layout == posenc.HalfSplit {
		return l.offset + i, l.offset + i + l.dim/2
	}
	return l.offset + 2*i, l.offset + 2*i + 1
}

type rotation = func(layer int, positions []int32, heads []float32)

// loops are how engines in Go rotate, each with the precision of its angles.
var loops = []struct {
	name     string
	rounding frequency.Rounding
	of       func(e *engine) rotation
}{
	{"tables of float32", frequency.Float32, tables},
	{"complex numbers", frequency.Exact, complexNumbers},
}

// tables makes cosines and sines of all positions when a model is loaded, of angles in float32.
// Pairs stay in their places.
func tables(e *engine) rotation {
	type table struct{ cos, sin []float32 }
	made := map[string]*table{}
	tables := make([]*table, len(e.layers))
	for n := range e.layers {
		l := &e.layers[n]
		if !l.rotates {
			continue
		}
		key := fmt.Sprint(l.float32, l.factor)
		if made[key] == nil {
			t := &table{}
			for p := range e.tokens + 1 {
				for _, w := range l.float32 {
					sin, cos := math.Sincos(float64(float32(p) * w))
					t.cos, t.sin = append(t.cos, float32(cos)*float32(l.factor)), append(t.sin, float32(sin)*float32(l.factor))
				}
			}
			made[key] = t
		}
		tables[n] = made[key]
	}
	return func(n int, positions []int32, heads []float32) {
		l, t := &e.layers[n], tables[n]
		if t == nil {
			return
		}
		pairs := l.dim / 2
		perToken := len(heads) / len(positions)
		for token, p := range positions {
			cos, sin := t.cos[int(p)*pairs:][:pairs], t.sin[int(p)*pairs:][:pairs]
			for at := token * perToken; at < (token+1)*perToken; at += l.headDim {
				head := heads[at:][:l.headDim]
				for i := range pairs {
					a, b := l.pair(i)
					x, y := head[a], head[b]
					head[a], head[b] = x*cos[i]-y*sin[i], y*cos[i]+x*sin[i]
				}
			}
		}
	}
}

// complexNumbers multiplies pairs as complex numbers, of all tokens of a step at once, and writes
// them as the model's own code does.
func complexNumbers(e *engine) rotation {
	return func(n int, positions []int32, heads []float32) {
		l := &e.layers[n]
		if !l.rotates {
			return
		}
		cis := make([]complex64, len(positions)*len(l.exact))
		for token, p := range positions {
			for i, w := range l.exact {
				sin, cos := math.Sincos(float64(p) * w)
				cis[token*len(l.exact)+i] = complex(float32(cos*l.factor), float32(sin*l.factor))
			}
		}
		turned := make([]complex64, len(l.exact))
		perToken := len(heads) / len(positions) / l.headDim
		for h := range len(heads) / l.headDim {
			head := heads[h*l.headDim:][:l.headDim]
			for i := range turned {
				a, b := l.pair(i)
				turned[i] = complex(head[a], head[b]) * cis[h/perToken*len(turned)+i]
			}
			to := *l
			if l.layout == posenc.InterleavedToHalfSplit {
				to.layout = posenc.HalfSplit
			}
			for i, z := range turned {
				a, b := to.pair(i)
				head[a], head[b] = real(z), imag(z)
			}
		}
	}
}
