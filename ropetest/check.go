package ropetest

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/ropecheck"
	"github.com/go-posenc/posenc/modelconfig"
)

// Check reports an error to t for each way in which rotate differs from the rotation that a model
// wants. It calls rotate for every layer of model.Layers, with all tokens at once, and with one token
// at a time as in decoding.
//
// rotate rotates heads in place as the engine does in that layer. heads is
// [len(positions)][4][headDim]: four heads of each token, packed, as long as the heads of Q and K in
// this layer; of latent attention (MLA) the rotary part of a head alone. The elements have the order
// that the weights of the described file give them. If the engine reorders weights when it loads
// them, rotate reorders the elements before and after; if it applies the attention factor of YaRN or
// LongRoPE to the scores, rotate multiplies the rotated elements by it. Norms, softmax scales and query
// scales are no part of it, and indexers are not compared. A layer that does not rotate leaves heads as
// they are.
//
// positions are 0 to 12, ever farther ones, and the last four of the sequence, beyond the length for
// which a scaling rule was made. The sequence has options.SequenceLength tokens; by default
// model.ContextLength, but at most 131072. An engine that computes cosines and sines beforehand needs
// as many rows. Where frequencies depend on the length (LongRoPE, dynamic NTK), set SequenceLength, and
// check a short and a long sequence. There is one position for each token, as in text, also for models
// whose images have several (M-RoPE): all axes have that position.
//
// The type of heads and options state the engine's precision. The root mean square of the differences
// to model.Rope(options), divided by the root mean square of the elements, is at most 9e-8 for float32,
// 7.4e-4 for float16 and 5.9e-3 for bfloat16. By default angles are as exact as float64 makes them. With
// Rounding: frequency.Float32 they may also err as angles of float32 do, in any order of operations.
//
// It reports an error to t for a nil rotate, a description of a vision tower, several options, and
// options that model.Rope refuses. It does not recover from a panic of rotate.
func Check[E posenc.Element](t testing.TB, model *modelconfig.Model, rotate func(layer int, positions []int32, heads []E), options ...modelconfig.RopeOptions) {
	t.Helper()
	c, err := newChecker[E](model, options)
	if err == nil && rotate == nil {
		err = errors.New("rotate is nil, want a function")
	}
	if err != nil {
		t.Errorf("ropetest.Check: %v", err)
		return
	}
	for _, failure := range c.failures(rotate) {
		t.Error(failure)
	}
}

const (
	heads         = 4       // of a token: with fewer, several layouts may explain a rotation
	longest       = 1 << 17 // of the sequences that are checked without SequenceLength
	unknownLength = 1 << 12 // of models that do not say how long their sequences are
	mostHeadDim   = 1 << 16 // as memory is some hundred times as much
	mostFailures  = 3       // that are analysed, as each takes a part of a second
)

// checker is one call of Check.
type checker[E posenc.Element] struct {
	model     *modelconfig.Model
	layers    []modelconfig.Layer
	options   modelconfig.RopeOptions
	configs   []posenc.RotaryConfig // of each layer; HeadDim alone of one that does not rotate
	positions []int32
	rows      *modelconfig.LayerRows
}

func newChecker[E posenc.Element](model *modelconfig.Model, options []modelconfig.RopeOptions) (*checker[E], error) {
	c := &checker[E]{model: model, layers: model.Layers()}
	if len(options) > 1 {
		return nil, fmt.Errorf("options has %d elements, want at most one modelconfig.RopeOptions", len(options))
	}
	if len(options) == 1 {
		c.options = options[0]
	}
	length := cmp.Or(c.options.SequenceLength, min(model.ContextLength(), longest), unknownLength)
	if length == 1 {
		return nil, errors.New("the sequence has one token, want at least 2 in options.SequenceLength: nothing turns at position 0")
	}
	rope, err := model.Rope(c.options)
	if err != nil {
		return nil, err
	}
	first := slices.IndexFunc(c.layers, func(l modelconfig.Layer) bool { return l.Rotates })
	for i, layer := range c.layers {
		if layer.Rule.Name == "axial" {
			return nil, errors.New("model is a vision tower, want the model of a text: posenc check --vision compares towers")
		}
		cfg := rope.Rotary(i).Config()
		if cfg.HeadDim = cmp.Or(cfg.HeadDim, rope.Rotary(first).Config().HeadDim); cfg.HeadDim > mostHeadDim {
			return nil, fmt.Errorf("heads of the model have %d elements, want at most %d", cfg.HeadDim, mostHeadDim)
		}
		c.configs = append(c.configs, cfg)
	}
	c.positions = positionsOf(length)
	c.rows, err = rope.Rows(c.positions)
	return c, err
}

// positionsOf are the first ones of a sequence, ever farther ones, and the last ones.
func positionsOf(length int) (list []int32) {
	last := int64(min(length-1, math.MaxInt32))
	for p := int64(0); p <= last; p = max(p+1, min((p-4)*7/4, last-3)) {
		list = append(list, int32(p))
	}
	return list
}

// result is what rotate makes of the heads in some layers of one kind.
type result[E posenc.Element] struct {
	layers  []int
	after   []E
	alone   bool   // one token at a time; all at once give another result
	failure string // "": it is right
}

// failures calls rotate for every layer, and says what is wrong.
func (c *checker[E]) failures(rotate func(layer int, positions []int32, heads []E)) (texts []string) {
	var results []*result[E]
	var others []int // layers with further results
	failed := 0
	add := func(layer int, after []E, alone bool) {
		for _, r := range results {
			first := r.layers[0]
			if c.layers[first].Kind == c.layers[layer].Kind && c.layers[first].Rotates == c.layers[layer].Rotates && same(r.after, after) {
				r.layers, r.alone = append(r.layers, layer), r.alone && alone
				return
			}
		}
		if failed == mostFailures {
			others = append(others, layer)
			return
		}
		r := &result[E]{[]int{layer}, after, alone, c.failure(layer, after)}
		if results = append(results, r); r.failure != "" {
			failed++
		}
	}
	for layer, cfg := range c.configs {
		row := heads * cfg.HeadDim
		after := randomHeads[E](len(c.positions) * row)
		rotate(layer, slices.Clone(c.positions), after)
		add(layer, after, false)
		after = randomHeads[E](len(c.positions) * row)
		for n, p := range c.positions {
			rotate(layer, []int32{p}, after[n*row:][:row:row])
		}
		add(layer, after, true)
	}
	for _, r := range results {
		if r.failure != "" {
			how := ""
			if r.alone {
				how = ", one token at a time"
			}
			texts = append(texts, fmt.Sprintf("%s%s: %s", layersText(r.layers), how, r.failure))
		}
	}
	if len(others) > 0 {
		texts = append(texts, fmt.Sprintf("other results of %s are not compared until these agree", layersText(others)))
	}
	return texts
}

func layersText(list []int) string {
	list = slices.Compact(list)
	return ropecheck.Plural("layer", len(list)) + " " + ropecheck.RangesText(list)
}

// failure says what is wrong with a result, "" if nothing is.
func (c *checker[E]) failure(layer int, rotated []E) string {
	dim := c.configs[layer].HeadDim
	before, after := randomHeads[E](len(rotated)), widened(rotated)
	if i := slices.IndexFunc(after, func(x float32) bool { return math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) }); i >= 0 {
		return fmt.Sprintf("element %d of head %d at position %d is %v after the rotation", i%dim, i/dim%heads, c.positions[i/dim/heads], after[i])
	}
	if !c.layers[layer].Rotates {
		if same(before, rotated) {
			return ""
		}
		return "the engine changes heads, and this model does not rotate in these layers"
	}
	kind := typeOf[E]()
	angles := []posenc.Angles{c.rows.Layer(layer)}
	if other, ok := unordered(c.configs[layer]); ok {
		rotary, err := posenc.NewRotary(other)
		if err != nil {
			return err.Error()
		}
		angles = append(angles, rotary.At(c.positions))
	}
	for _, a := range angles {
		want := slices.Clone(before)
		if err := posenc.Rotate(a, posenc.View[E]{Data: want, Heads: heads}); err != nil {
			return err.Error()
		}
		if residual(after, widened(want)) <= kind.Floor() {
			return ""
		}
	}

	rotations, meant, err := c.rotations(layer)
	if err != nil {
		return err.Error()
	}
	report, _, err := ropecheck.CheckModel(ropecheck.Data{
		Before: widened(before), After: after, Tokens: len(c.positions), Heads: heads, HeadDim: dim,
		Type: kind, Positions: c.positions,
	}, rotations...)
	if err != nil {
		return err.Error()
	}
	best := &report.Candidates[report.Best(meant)]
	text := fmt.Sprintf("candidate %q:", best.Name)
	for _, fault := range best.Faults {
		text += " " + fault.Text
	}
	if len(best.Faults) == 0 {
		text += " " + best.Text
	}
	switch {
	case best.Verdict != ropecheck.Agrees || len(best.Faults) > 0:
		return text
	case report.Type != kind:
		return fmt.Sprintf("%s All elements are %v numbers. If they are meant to be, rotate takes heads of that type, not of %v.", text, report.Type, kind)
	case c.options.Rounding == frequency.Exact:
		return text + " If the engine is meant to have angles of float32, state it by Rounding: frequency.Float32 of modelconfig.RopeOptions."
	}
	return ""
}

// rotations are those of the model that have the heads of a layer, and which of them the layer may have.
func (c *checker[E]) rotations(layer int) (list []ropecheck.Rotation, meant []bool, err error) {
	lengths := []int{c.options.SequenceLength}
	beyond, depends := c.model.DependsOnLength()
	if depends {
		other := beyond
		if lengths[0] <= beyond {
			other = max(beyond+1, c.model.ContextLength())
		}
		lengths = append(lengths, other)
	}
	for n, length := range lengths {
		var ropes [2]*modelconfig.Rope // exact, and float32
		for rounding := range ropes {
			o := c.options
			o.SequenceLength, o.Rounding = length, frequency.Rounding(rounding)
			if ropes[rounding], err = c.model.Rope(o); err != nil {
				return nil, nil, err
			}
		}
		seen := map[string]bool{}
		for i, l := range c.layers {
			if !l.Rotates || seen[l.Kind] || c.configs[i].HeadDim != c.configs[layer].HeadDim {
				continue
			}
			seen[l.Kind] = true
			r := ropecheck.Rotation{Name: strings.TrimSpace(c.model.Type() + " " + l.Kind), Exact: ropes[0].Rotary(i).Config(), Float32: ropes[1].Rotary(i).Config(), Rule: l.Rule}
			if depends {
				r.Name += fmt.Sprintf(", sequences of %d tokens", length)
			}
			isMeant := n == 0 && l.Kind == c.layers[layer].Kind
			list, meant = append(list, r), append(meant, isMeant)
			if other, ok := unordered(r.Exact); ok {
				r.Name, r.Exact, r.Float32.Layout = r.Name+", pairs left in place", other, other.Layout
				list, meant = append(list, r), append(meant, isMeant)
			}
		}
	}
	return list, meant, nil
}

// unordered is the rotation that leaves interleaved pairs in their places, of one that writes them as
// halves: products of Q and K are the same.
func unordered(cfg posenc.RotaryConfig) (posenc.RotaryConfig, bool) {
	ok := cfg.Layout == posenc.InterleavedToHalfSplit
	cfg.Layout = posenc.Interleaved
	return cfg, ok
}

// residual is the root mean square of the differences, as a part of the elements'.
func residual(got, want []float32) float64 {
	var differences, squares float64
	for i, w := range want {
		d := float64(got[i]) - float64(w)
		differences, squares = differences+d*d, squares+float64(w)*float64(w)
	}
	return math.Sqrt(differences / squares)
}

// same reports whether elements are equal, a NaN to a NaN too.
func same[E posenc.Element](a, b []E) bool {
	return slices.EqualFunc(a, b, func(x, y E) bool { return x == y || x != x && y != y })
}

func typeOf[E posenc.Element]() ropecheck.ElementType {
	switch any(*new(E)).(type) {
	case posenc.Float16:
		return ropecheck.Float16
	case posenc.BFloat16:
		return ropecheck.BFloat16
	}
	return ropecheck.Float32
}

// randomHeads returns the same numbers in every call.
func randomHeads[E posenc.Element](n int) []E {
	random := rand.New(rand.NewPCG(1, 2))
	list, kind := make([]E, n), typeOf[E]()
	for i := range list {
		switch x := float32(random.NormFloat64()); kind {
		case ropecheck.Float16:
			list[i] = E(generic.Float32ToFloat16(x))
		case ropecheck.BFloat16:
			list[i] = E(generic.Float32ToBFloat16(x))
		default:
			list[i] = E(x)
		}
	}
	return list
}

func widened[E posenc.Element](list []E) []float32 {
	wide, kind := make([]float32, len(list)), typeOf[E]()
	for i, x := range list {
		switch kind {
		case ropecheck.Float16:
			wide[i] = generic.Float16ToFloat32(uint16(x))
		case ropecheck.BFloat16:
			wide[i] = generic.BFloat16ToFloat32(uint16(x))
		default:
			wide[i] = float32(x)
		}
	}
	return wide
}
