package ropetest_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/modelconfig"
)

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
	testkit.ReadJSON(filepath.Join(golden, "vectors", name+".json"), &v)
	beyond, depends := model.DependsOnLength()
	rope := testkit.Must(model.Rope(modelconfig.RopeOptions{SequenceLength: tokens}))
	e := &engine{tokens: tokens}
	for i, of := range v.Layers {
		l := layer{rotates: of[1] == true}
		for _, c := range v.Cases {
			if l.rotates && c.Kind == of[0] && (!depends || c.Seq == tokens || c.Seq == 0 && tokens <= beyond) {
				cfg := rope.Rotary(i).Config()
				l.layout, l.headDim, l.offset, l.dim = cfg.Layout, cfg.HeadDim, cfg.Offset, cfg.RotaryDim
				l.base = model.Layers()[i].Rule.Base
				l.exact, l.float32 = testkit.Hex[float64](c.Exact.InvFreq), testkit.Hex[float32](c.InvFreq)
				l.factor = testkit.Hex[float64](c.Exact.Attention)[0]
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
