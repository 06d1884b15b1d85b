package ropetest_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/testkit"
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
			return testkit.Must(modelconfig.HuggingFace(config))
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
		if n++; !testkit.AllRounds() && n%4 != 0 {
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
					if !testkit.AllRounds() && i != n/4%len(loops) {
						continue
					}
					rotate := loop.of(engineOf(t, name, model, length))
					ropetest.Check(t, model, rotate, modelconfig.RopeOptions{SequenceLength: length, Rounding: loop.rounding})
				}
			}
		})
	}
}

// Each of the five errors of docs/porting.md is named, in each of the loops.
func TestPlantedErrors(t *testing.T) {
	each := func(change func(l *layer)) func(e *engine, rotate rotation) rotation {
		return func(e *engine, _ rotation) rotation {
			for i := range e.layers {
				change(&e.layers[i])
			}
			return nil
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
	interleaved := each(func(l *layer) { l.layout = posenc.Interleaved })
	halves := each(func(l *layer) { l.layout = posenc.HalfSplit })
	wholeHead := each(func(l *layer) { l.offset, l.dim = 0, l.headDim; unscaled(l) })
	oneBase := func(e *engine, _ rotation) rotation {
		for i := range e.layers {
			e.layers[i] = e.layers[5]
		}
		return nil
	}
	fromOne := func(_ *engine, rotate rotation) rotation {
		return func(layer int, positions []int32, heads []float32) {
			for i := range positions {
				positions[i]++
			}
			rotate(layer, positions, heads)
		}
	}
	for n, tt := range []struct {
		name, model string
		plant       func(e *engine, rotate rotation) rotation // changes the engine, or returns another function
		says        []string
	}{
		{"pairs", "Llama-3.1-8B", interleaved, []string{`layers 0 to 31: candidate "llama": `, "Pairs are Interleaved, and the candidate has HalfSplit."}},
		{"pairs of a part", "GLM-4-9B-0414", halves, []string{`layers 0 to 39: candidate "glm4": `, "Pairs are HalfSplit, and the candidate has Interleaved."}},
		{"rule", "Llama-3.1-8B", each(unscaled), []string{"layers 0 to 31: ", `The frequencies are those of "llama without its rule llama3".`}},
		{"rule with a factor", "Qwen2.5-7B-Instruct", each(unscaled), []string{"layers 0 to 27: ", `The frequencies are those of "qwen2 without its rule yarn".`, "The attention factor 1.13863 is left out."}},
		{"part", "gpt-neox-20b", wholeHead, []string{"layers 0 to 43: ", "Elements 0 to 95 of a head rotate, and the candidate rotates elements 0 to 23."}},
		{"base", "gemma-3-27b-it", oneBase, []string{`layers 0 to 4, 6 to 10, `, `candidate "gemma3_text sliding_attention"`, `The frequencies are those of "gemma3_text full_attention".`}},
		{"positions", "Llama-3.1-8B", fromOne, []string{"layers 0 to 31: ", "Positions are 1 higher than given."}},
	} {
		for i, loop := range loops {
			if !testkit.AllRounds() && i != n%len(loops) {
				continue
			}
			t.Run(tt.name+"/"+loop.name, func(t *testing.T) {
				model := modelOf(t, tt.model)
				e := engineOf(t, tt.model, model, rows)
				other := tt.plant(e, nil)
				rotate := loop.of(e)
				if other != nil {
					rotate = tt.plant(e, rotate)
				}
				r := &recorder{TB: t}
				ropetest.Check(r, model, rotate, modelconfig.RopeOptions{SequenceLength: rows, Rounding: loop.rounding})
				if len(r.failures) != 1 {
					t.Fatalf("%d failures, want one: %v", len(r.failures), r)
				}
				for _, part := range tt.says {
					if !strings.Contains(r.failures[0], part) {
						t.Errorf("%v\ndoes not say %q", r, part)
					}
				}
			})
		}
	}
}

// What else an engine does wrong is said, once for all layers that do it.
func TestOtherErrors(t *testing.T) {
	right := func(t *testing.T, name string, length int) rotation {
		return complexNumbers(engineOf(t, name, modelOf(t, name), length))
	}
	long := modelconfig.RopeOptions{SequenceLength: 2 * rows}
	for _, tt := range []struct {
		name, model string
		options     modelconfig.RopeOptions
		of          func(t *testing.T) rotation
		says        []string // each a failure
	}{
		{
			"a layer too many rotates", "SmolLM3-3B", modelconfig.RopeOptions{},
			func(t *testing.T) rotation {
				rotate := right(t, "SmolLM3-3B", 0)
				return func(layer int, positions []int32, heads []float32) {
					if layer == 3 {
						layer = 0
					}
					rotate(layer, positions, heads)
				}
			},
			[]string{"layer 3: the engine changes heads, and this model does not rotate in these layers"},
		},
		{
			"a layer too few rotates", "SmolLM3-3B", modelconfig.RopeOptions{},
			func(t *testing.T) rotation {
				rotate := right(t, "SmolLM3-3B", 0)
				return func(layer int, positions []int32, heads []float32) {
					if layer != 4 {
						rotate(layer, positions, heads)
					}
				}
			},
			[]string{`layer 4: candidate "smollm3": Nothing was rotated.`},
		},
		{
			"short factors in a long sequence", "Phi-3-mini-128k-instruct", long,
			func(t *testing.T) rotation { return right(t, "Phi-3-mini-128k-instruct", 4096) },
			[]string{`The frequencies are those of "phi3, sequences of 4096 tokens".`},
		},
		{
			"long factors in a short sequence", "Phi-3-mini-128k-instruct", modelconfig.RopeOptions{SequenceLength: 4096},
			func(t *testing.T) rotation { return right(t, "Phi-3-mini-128k-instruct", 131072) },
			[]string{`The frequencies are those of "phi3, sequences of 131072 tokens".`},
		},
		{
			"decoding at position 0", "Llama-2-7b-hf", modelconfig.RopeOptions{},
			func(t *testing.T) rotation {
				rotate := right(t, "Llama-2-7b-hf", 0)
				return func(layer int, positions []int32, heads []float32) {
					if len(positions) == 1 {
						positions[0] = 0
					}
					rotate(layer, positions, heads)
				}
			},
			[]string{`layers 0 to 31, one token at a time: candidate "llama": Nothing was rotated.`},
		},
		{
			"angles of float32", "Llama-2-7b-hf", modelconfig.RopeOptions{},
			func(t *testing.T) rotation {
				return tables(engineOf(t, "Llama-2-7b-hf", modelOf(t, "Llama-2-7b-hf"), rows))
			},
			[]string{" If the engine is meant to have angles of float32, state it by Rounding: frequency.Float32 of modelconfig.RopeOptions."},
		},
		{
			"tables of bfloat16", "Llama-2-7b-hf", modelconfig.RopeOptions{Rounding: frequency.Float32},
			func(t *testing.T) rotation {
				e := engineOf(t, "Llama-2-7b-hf", modelOf(t, "Llama-2-7b-hf"), 0)
				return func(n int, positions []int32, heads []float32) {
					l := &e.layers[n]
					for at := 0; at < len(heads); at += l.headDim {
						for i, w := range l.float32 {
							sin, cos := math.Sincos(float64(float32(positions[at*len(positions)/len(heads)]) * w))
							s, c := bfloat16(float32(sin)), bfloat16(float32(cos))
							a, b := l.pair(i)
							x, y := heads[at+a], heads[at+b]
							heads[at+a], heads[at+b] = x*c-y*s, y*c+x*s
						}
					}
				}
			},
			[]string{"Cosines and sines are rounded to bfloat16."},
		},
		{
			"results of bfloat16", "Llama-2-7b-hf", modelconfig.RopeOptions{Rounding: frequency.Float32},
			func(t *testing.T) rotation {
				rotate := right(t, "Llama-2-7b-hf", 0)
				return func(layer int, positions []int32, heads []float32) {
					rotate(layer, positions, heads)
					for i, x := range heads {
						heads[i] = bfloat16(x)
					}
				}
			},
			[]string{"All elements are bfloat16 numbers. If they are meant to be, rotate takes heads of that type, not of float32."},
		},
		{
			"no finite number", "Llama-2-7b-hf", modelconfig.RopeOptions{},
			func(*testing.T) rotation {
				return func(_ int, positions []int32, heads []float32) {
					if len(positions) > 1 {
						heads[4*128*5+128*2+7] = float32(math.Inf(-1)) // token 5
					}
				}
			},
			[]string{
				"layers 0 to 31: element 7 of head 2 at position 5 is -Inf after the rotation",
				"layers 0 to 31, one token at a time: ",
			},
		},
		{
			"other garbage in each layer", "Llama-2-7b-hf", modelconfig.RopeOptions{},
			func(*testing.T) rotation {
				random := rand.New(rand.NewPCG(5, 6))
				return func(_ int, _ []int32, heads []float32) {
					for i := range heads {
						heads[i] = float32(random.NormFloat64())
					}
				}
			},
			[]string{"layer 0: ", "layer 0, one token at a time: ", "layer 1: ", "other results of layers 1 to 31 are not compared until these agree"},
		},
		{"no options for the length", "internlm3-8b-instruct", modelconfig.RopeOptions{}, identity, []string{"ropetest.Check: modelconfig.Model.Rope: options.SequenceLength is 0"}},
		{"a sequence of one token", "Llama-2-7b-hf", modelconfig.RopeOptions{SequenceLength: 1}, identity, []string{"ropetest.Check: the sequence has one token, want at least 2 in options.SequenceLength"}},
		{"a negative length", "Llama-2-7b-hf", modelconfig.RopeOptions{SequenceLength: math.MinInt}, identity, []string{"options.SequenceLength is -"}},
		{"no function", "Llama-2-7b-hf", modelconfig.RopeOptions{}, func(*testing.T) rotation { return nil }, []string{"ropetest.Check: rotate is nil, want a function"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &recorder{TB: t}
			ropetest.Check(r, modelOf(t, tt.model), tt.of(t), tt.options)
			if len(r.failures) != len(tt.says) {
				t.Fatalf("%d failures, want %d: %v", len(r.failures), len(tt.says), r)
			}
			for i, part := range tt.says {
				if !strings.Contains(r.failures[i], part) {
					t.Errorf("%s\ndoes not say %q", r.failures[i], part)
				}
			}
		})
	}
}

func identity(*testing.T) rotation { return func(int, []int32, []float32) {} }

func bfloat16(x float32) float32 {
	return generic.BFloat16ToFloat32(generic.Float32ToBFloat16(x))
}

// Arguments of which there are too many, or none, and vision towers, are errors.
func TestArguments(t *testing.T) {
	check := func(want string, model *modelconfig.Model, options ...modelconfig.RopeOptions) {
		t.Helper()
		r := &recorder{TB: t}
		ropetest.Check(r, model, identity(t), options...)
		if len(r.failures) != 1 || !strings.Contains(r.failures[0], want) {
			t.Errorf("%q, want one failure that says %q", r.failures, want)
		}
	}
	check("options has 2 elements, want at most one", modelOf(t, "Llama-2-7b-hf"), modelconfig.RopeOptions{}, modelconfig.RopeOptions{})
	check("heads of the model have 1000000 elements, want at most 65536", testkit.Must(modelconfig.HuggingFace([]byte(`{"model_type": "phi", "head_dim": 1000000, "partial_rotary_factor": 0.0001}`))))
	check("the Model is nil or zero", nil)
	check("the Model is nil or zero", &modelconfig.Model{})
	needGolden(t)
	var towers map[string]any
	testkit.ReadJSON(filepath.Join(golden, "towers.json"), &towers)
	for modelType := range towers {
		check("model is a vision tower", testkit.Must(modelconfig.HuggingFaceVision(fmt.Appendf(nil, `{"model_type": %q}`, modelType))))
	}
}

// Engines that compute in 16 bits, as PyTorch does: tables, products and sums are rounded. Their
// positions are exact.
func TestElementsOf16Bits(t *testing.T) {
	e := engineOf(t, "Llama-3.1-8B", modelOf(t, "Llama-3.1-8B"), rows)
	rotate := tables(e)
	for _, plant := range []bool{false, true} {
		narrow16(t, plant, rotate, e, generic.Float16ToFloat32, generic.Float32ToFloat16, posenc.Float16(0))
		narrow16(t, plant, rotate, e, generic.BFloat16ToFloat32, generic.Float32ToBFloat16, posenc.BFloat16(0))
	}
}

func narrow16[E posenc.Float16 | posenc.BFloat16](t *testing.T, plant bool, rotate rotation, e *engine, widen func(uint16) float32, narrow func(float32) uint16, _ E) {
	t.Helper()
	r := &recorder{TB: t}
	ropetest.Check(r, modelOf(t, "Llama-3.1-8B"), func(layer int, positions []int32, heads []E) {
		wide := make([]float32, len(heads))
		for i, x := range heads {
			wide[i] = widen(uint16(x))
		}
		if plant {
			for i := range positions {
				positions[i]++
			}
		}
		rotate(layer, positions, wide)
		for i, x := range wide {
			heads[i] = E(narrow(x))
		}
	}, modelconfig.RopeOptions{SequenceLength: rows, Rounding: frequency.Float32})
	if plant && (len(r.failures) != 1 || !strings.Contains(r.failures[0], "Positions are 1 higher than given.")) || !plant && r.failures != nil {
		t.Errorf("planted error: %v: %v", plant, r)
	}
}

// ggml's running products of float32 are angles of float32.
func TestRunningProducts(t *testing.T) {
	for _, name := range []string{"Llama-2-7b-hf", "gpt-neox-20b"} {
		e := engineOf(t, name, modelOf(t, name), 0)
		ropetest.Check(t, modelOf(t, name), func(n int, positions []int32, heads []float32) {
			l := &e.layers[n]
			ratio := float32(math.Pow(l.base, -2/float64(l.dim)))
			for at := 0; at < len(heads); at += l.headDim {
				theta := float32(positions[at*len(positions)/len(heads)])
				for i := range l.dim / 2 {
					sin, cos := math.Sincos(float64(theta))
					a, b := l.pair(i)
					x, y := heads[at+a], heads[at+b]
					heads[at+a], heads[at+b] = x*float32(cos)-y*float32(sin), y*float32(cos)+x*float32(sin)
					theta *= ratio
				}
			}
		}, modelconfig.RopeOptions{Rounding: frequency.Float32})
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

// A model whose layers are of two kinds: rotated by posenc, and all by the frequencies of one.
func BenchmarkCheck(b *testing.B) {
	model := modelOf(b, "gemma-3-27b-it")
	rope := testkit.Must(model.Rope())
	for name, layers := range map[string]int{"right": 62, "wrong": 1} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				ropetest.Check(&recorder{TB: b}, model, func(layer int, positions []int32, heads []float32) {
					testkit.NoError(b, posenc.Rotate(rope.Rotary(layer%layers).At(positions), posenc.View[float32]{Data: heads, Heads: 4}))
				})
			}
		})
	}
}
