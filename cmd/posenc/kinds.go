package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/cmd/posenc/internal/input"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/modelconfig"
)

// kind is the layers of a model with the same rotation, or the indexers of its layers.
type kind struct {
	model   *modelconfig.Model
	name    string // of the layers, "indexer" of indexers
	indexer bool
	layers  []int
	first   modelconfig.Layer
}

// kindsOf returns the kinds of layers that rotate, by name.
func kindsOf(m *modelconfig.Model) []kind {
	var kinds []kind
	add := func(name string, indexer bool, i int, layer modelconfig.Layer) {
		at := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name && k.indexer == indexer })
		if at < 0 {
			at, kinds = len(kinds), append(kinds, kind{model: m, name: name, indexer: indexer, first: layer})
		}
		kinds[at].layers = append(kinds[at].layers, i)
	}
	for i, layer := range m.Layers() {
		if layer.Rotates {
			add(layer.Kind, false, i, layer)
		}
		if layer.Indexer {
			add("indexer", true, i, layer)
		}
	}
	slices.SortFunc(kinds, func(a, b kind) int { return cmp.Compare(a.name, b.name) })
	return kinds
}

// learned reports whether the frequencies are learned. Factors of 1 then stand for the tensor.
func (k *kind) learned() bool { return k.first.FrequencyFactors != "" }

// fourier reports whether cosines and sines are sums that the model's weights make (FoPE).
func (k *kind) fourier() bool { return k.first.Fourier.Cos != "" }

// noFourier is an error where cosines and sines of a model come from its weights.
func noFourier(path string, m *modelconfig.Model) error {
	for _, k := range kindsOf(m) {
		if k.fourier() {
			return fmt.Errorf("%s: cosines and sines of this model come from its weights, the tensors %s and %s (Fourier position embedding): not supported, posenc inspect describes them", input.Name(path), k.first.Fourier.Cos, k.first.Fourier.Sin)
		}
	}
	return nil
}

// config returns the configuration of the layers for sequences of a length: with
// Fourier position embedding, of the frequencies of the sums.
func (k *kind) config(length int, rounding frequency.Rounding) (posenc.RotaryConfig, error) {
	options := modelconfig.RopeOptions{SequenceLength: length, Rounding: rounding}
	if k.learned() {
		options.FrequencyFactors = slices.Repeat([]float64{1}, k.first.Rule.Pairs)
	}
	if k.fourier() {
		rotary, err := k.model.Fourier(options)
		if err != nil {
			return posenc.RotaryConfig{}, err
		}
		return rotary.Config(), nil
	}
	rope, err := k.model.Rope(options)
	if err != nil {
		return posenc.RotaryConfig{}, err
	}
	if k.indexer {
		return rope.Indexer(k.layers[0]).Config(), nil
	}
	return rope.Rotary(k.layers[0]).Config(), nil
}

// softmaxScale is 1 for indexers.
func (k *kind) softmaxScale() float64 {
	if k.indexer {
		return 1
	}
	return k.first.SoftmaxScale
}
