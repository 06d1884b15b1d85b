package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/cmd/posenc/internal/input"
	"github.com/go-posenc/posenc/cmd/posenc/internal/source"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/ropecheck"
)

// unknownContext is how far curves go where a model does not say how long its sequences
// are.
const unknownContext = 1 << 17

// rotation is how the layers of one kind rotate, in sequences of one length.
type rotation struct {
	model string // names the model: the name of its file or folder
	kind  string // which of its rotations: layers, length; "" where there is one

	// context is the longest sequence of the model, 0 where it does not say. reach is up to
	// where curves by position go.
	context, reach int

	// beyond is the longest sequence of the shorter kind, where frequencies depend on the length;
	// leavesPairs is set by unordered.
	beyond      int
	leavesPairs bool

	of     kind
	length int
	config posenc.RotaryConfig // exact angles
}

func (r *rotation) name() string {
	name := strings.TrimSpace(r.model + " " + r.kind)
	if r.leavesPairs {
		name += ", pairs left in place"
	}
	return name
}

// rotations returns the different rotations of a model: those of the text, where it has a
// vision tower too. Learned factors on the frequencies are 1.
func rotations(s *source.Source) ([]rotation, error) {
	model, tower := s.Model, false
	if model == nil {
		model, tower = s.Vision, true
	}
	if err := noFourier(s.Path, model); err != nil {
		return nil, err
	}
	context, seqLens, short := model.ContextLength(), lengths(model), 0
	if len(seqLens) > 1 {
		short = seqLens[0]
	}
	var list []rotation
	for _, k := range kindsOf(model) {
		for _, length := range seqLens {
			r := rotation{model: modelName(s.Path), context: context, beyond: short, of: k, length: length}
			if k.learned() {
				r.model += " (learned factors as 1)"
			}
			var err error
			if r.config, err = k.config(length, frequency.Exact); err != nil {
				return nil, fmt.Errorf("%s: %w", input.Name(s.Path), err)
			}
			var words []string
			switch {
			case tower:
				words = append(words, "vision")
			case k.name != "":
				words = append(words, k.name)
			}
			if len(seqLens) > 1 {
				words = append(words, fmt.Sprintf("%d tokens", length))
			}
			r.kind = strings.Join(words, ", ")
			r.reach = max(2, cmp.Or(length, context, unknownContext))
			list = append(list, r)
		}
	}
	return list, nil
}

// forCheck is the rotation as ropecheck takes it.
func (r *rotation) forCheck() (ropecheck.Rotation, error) {
	if r.of.model == nil { // it does not rotate
		return ropecheck.Rotation{Name: r.name(), Exact: r.config, Float32: r.config}, nil
	}
	steps, err := r.of.config(r.length, frequency.Float32)
	steps.HeadDim, steps.RotaryDim, steps.Offset, steps.Layout = r.config.HeadDim, r.config.RotaryDim, r.config.Offset, r.config.Layout
	return ropecheck.Rotation{Name: r.name(), Exact: r.config, Float32: steps, Rule: r.of.first.Rule}, err
}

// unordered is the rotation that leaves interleaved pairs in their places, of one that writes
// them as halves: products of Q and K are the same.
func (r *rotation) unordered() (rotation, bool) {
	u := *r
	u.config.Layout, u.leavesPairs = posenc.Interleaved, true
	return u, r.config.Layout == posenc.InterleavedToHalfSplit
}

// sameFrequencies joins neighbours of one model that have the same frequencies.
func sameFrequencies(list []rotation) []rotation {
	var joined []rotation
	for _, r := range list {
		found := false
		for i := range joined {
			j := &joined[i]
			if j.of.model == r.of.model && reflect.DeepEqual(j.config.InvFreq, r.config.InvFreq) {
				j.kind += ", " + r.kind
				found = true
				break
			}
		}
		if !found {
			joined = append(joined, r)
		}
	}
	return joined
}

// modelName is the name of a file without its ending, or of the folder of a config.json, or stdin.
func modelName(path string) string {
	if path == input.Stdin {
		return "stdin"
	}
	name := filepath.Base(path)
	if name != "config.json" {
		return input.Name(strings.TrimSuffix(name, filepath.Ext(name)))
	}
	if absolute, err := filepath.Abs(path); err == nil {
		name = filepath.Base(filepath.Dir(absolute))
	}
	return input.Name(name)
}
