package ropetest_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
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
	for name := range ropetest.Models() {
		t.Run(name, func(t *testing.T) {
			model := modelOf(t, name)
			lengths := []int{rows}
			if beyond, depends := model.DependsOnLength(); depends {
				lengths = []int{beyond, 2 * beyond}
			}
			for _, length := range lengths {
				for _, loop := range loops {
					rotate := loop.of(engineOf(t, name, model, length))
					r := &recorder{TB: t}
					ropetest.Check(r, model, rotate, modelconfig.RopeOptions{SequenceLength: length, Rounding: loop.rounding})
					if r.failures != nil {
						t.Errorf("%s, %d tokens: %v", loop.name, length, r)
					}
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
	for _, tt := range []struct {
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
		for _, loop := range loops {
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
