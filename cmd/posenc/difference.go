package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/cmd/posenc/internal/input"
	"github.com/go-posenc/posenc/cmd/posenc/internal/output"
)

// float32Rounding is how far apart numbers may be that two files give in different ways. GGUF
// files have bases and factors in float32, with errors of 2^-24; frequencies are made of two or
// three such numbers, and the scale of the scores is a square.
const float32Rounding = 0x1p-21

// difference is how the rotations of two files differ.
type difference struct {
	Files       [2]string `json:"files"`
	Same        bool      `json:"same"`
	Differences []differs `json:"differences"`

	// Notes are differences that change no result.
	Notes []string `json:"notes"`
}

// differs is one thing in which two files differ.
type differs struct {
	Where  string `json:"where"` // layers, or the vision tower
	What   string `json:"what"`
	First  string `json:"first"`
	Second string `json:"second"`
}

// compare compares what two files say: the same layers have to rotate, by the same frequencies.
// How a file says it does not matter.
func compare(a, b *description) *difference {
	d := &difference{Files: [2]string{a.File, b.File}, Differences: []differs{}, Notes: []string{}}
	switch {
	case a.Text != nil && b.Text != nil:
		d.models("", a.Text, b.Text)
	case a.Text != nil || b.Text != nil:
		d.differ("", "text model", there(a.Text), there(b.Text))
	}
	for _, one := range []*description{a, b} {
		if one.VisionUnread {
			d.note("the vision tower of %s is not compared: %s", input.Name(one.File), one.VisionError)
		}
	}
	hasTower := func(d *description) bool { return d.Vision != nil || d.VisionError != "" }
	switch {
	case a.VisionUnread && b.VisionUnread:
	case a.VisionUnread || b.VisionUnread:
		if a.Format == b.Format && hasTower(a) && hasTower(b) { // towers are not read from GGUF
			d.differ("", "vision tower", a.tower(), b.tower())
		}
	case a.Vision != nil && b.Vision != nil:
		d.models("vision tower, ", a.Vision, b.Vision)
	case a.Vision == nil && b.Vision == nil:
	case a.Text != nil && b.Text != nil: // as of a GGUF file, whose tower is in another
		d.note("only one of the files has a vision tower that rotates")
	default:
		d.differ("", "vision tower", a.tower(), b.tower())
	}
	d.Same = len(d.Differences) == 0
	return d
}

// tower names the type of the vision tower.
func (d *description) tower() string {
	if d.VisionUnread {
		return "not read"
	}
	return there(d.Vision)
}

func there(m *modelDescription) string {
	if m == nil {
		return "none"
	}
	return m.Type
}

func (d *difference) differ(where, what, first, second string) {
	d.Differences = append(d.Differences, differs{where, what, first, second})
}

// note adds a note, once.
func (d *difference) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(d.Notes, text) {
		d.Notes = append(d.Notes, text)
	}
}

func (d *difference) models(where string, a, b *modelDescription) {
	if a.Layers != b.Layers {
		d.differ(where, "layers", fmt.Sprint(a.Layers), fmt.Sprint(b.Layers))
		return
	}
	if a.ContextLength != b.ContextLength && a.ContextLength != 0 && b.ContextLength != 0 {
		d.note("sequences of up to %d and %d tokens", a.ContextLength, b.ContextLength)
	}
	if a.LearnedFrequencies != b.LearnedFrequencies {
		d.differ(where, "learned frequencies", a.LearnedFrequencies, b.LearnedFrequencies)
	}
	// Layers that are of the same kinds in both files.
	type kinds struct{ a, b int }
	together := map[kinds][]int{}
	var order []kinds
	for _, indexer := range []bool{false, true} {
		for layer := range a.Layers {
			k := kinds{a.kindOf(layer, indexer), b.kindOf(layer, indexer)}
			if together[k] == nil {
				order = append(order, k)
			}
			together[k] = append(together[k], layer)
		}
		for _, k := range order {
			layers := where + layersText(together[k], a.Layers)
			if indexer {
				layers = "indexers of " + layers
			}
			switch {
			case k.a < 0 && k.b < 0:
			case k.a < 0 || k.b < 0:
				d.differ(layers, "rotation", yesNo(k.a >= 0), yesNo(k.b >= 0))
			default:
				d.kinds(layers, a, b, &a.Kinds[k.a], &b.Kinds[k.b])
			}
		}
		clear(together)
		order = nil
	}
	for layer := range a.Layers {
		first, second := a.scaleOf(layer), b.scaleOf(layer)
		if first != second {
			d.differ(fmt.Sprintf("%slayer %d", where, layer), "factor of queries", first, second)
			break
		}
	}
}

// kindOf is the first kind of a layer, in d.Kinds; -1 where it does not rotate.
func (m *modelDescription) kindOf(layer int, indexer bool) int {
	return slices.IndexFunc(m.Kinds, func(k kindDescription) bool { return k.Indexer == indexer && slices.Contains(k.Layers, layer) })
}

func (m *modelDescription) scaleOf(layer int) string {
	for _, s := range m.QueryScales {
		if slices.Contains(s.Layers, layer) {
			return s.Factor
		}
	}
	return "none"
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

// kinds compares how layers of one kind rotate, for sequences of each length.
func (d *difference) kinds(where string, a, b *modelDescription, first, second *kindDescription) {
	if first.Fourier != nil || second.Fourier != nil {
		d.numbers(where, "frequencies of Fourier sums", float64(first.sums()), float64(second.sums()))
	}
	d.numbers(where, "elements that rotate", float64(first.RotaryDim), float64(second.RotaryDim))
	if !first.latent && !second.latent {
		d.numbers(where, "elements of a head", float64(first.HeadDim), float64(second.HeadDim))
	}
	d.numbers(where, "first element that rotates", float64(first.Offset), float64(second.Offset))
	d.layouts(where, first.layout, second.layout)
	if !slices.Equal(first.Axes, second.Axes) {
		d.differ(where, "axes", axesOrNone(first.Axes), axesOrNone(second.Axes))
	}
	if (first.SequenceLength == 0) != (second.SequenceLength == 0) {
		d.differ(where, "frequencies by the length", yesNo(first.SequenceLength != 0), yesNo(second.SequenceLength != 0))
		return
	}
	firsts, seconds := a.variants(first), b.variants(second)
	for i := range min(len(firsts), len(seconds)) {
		x, y := firsts[i], seconds[i]
		of := where
		if x.SequenceLength != 0 {
			d.numbers(where, "frequencies by the length beyond", float64(x.SequenceLength), float64(y.SequenceLength))
			of += fmt.Sprintf(", sequences of %d tokens", x.SequenceLength)
		}
		d.numbers(of, "attention factor", x.AttentionFactor, y.AttentionFactor)
		if !x.Indexer {
			d.numbers(of, "softmax scale", x.SoftmaxScale, y.SoftmaxScale)
		}
		d.frequencies(of, x, y)
	}
}

// variants are the descriptions of a kind for sequences of each length.
func (m *modelDescription) variants(k *kindDescription) (variants []*kindDescription) {
	for i := range m.Kinds {
		if m.Kinds[i].LayerType == k.LayerType {
			variants = append(variants, &m.Kinds[i])
		}
	}
	return variants
}

func axesOrNone(axes []int) string {
	if axes == nil {
		return "one"
	}
	return axesText(axes)
}

// layouts compares the pairs of two files, whose weights may be in different orders.
func (d *difference) layouts(where string, a, b posenc.Layout) {
	if a == b {
		return
	}
	has := func(x, y posenc.Layout) bool { return a == x && b == y || a == y && b == x }
	switch {
	case has(posenc.HalfSplit, posenc.Interleaved):
		d.note("pairs are %s and %s: right where the weights of Q and K were permuted for the second file, as conversions to GGUF do", layoutNames[a], layoutNames[b])
	case has(posenc.InterleavedToHalfSplit, posenc.Interleaved):
		d.note("pairs are %s and %s: the same pairs, written in different places of both Q and K, which changes no score", layoutNames[a], layoutNames[b])
	default:
		d.differ(where, "pairs", layoutNames[a], layoutNames[b])
	}
}

// near says whether numbers differ by roundings to float32 only.
func near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= float32Rounding*max(math.Abs(a), math.Abs(b))
}

func (d *difference) numbers(where, what string, a, b float64) {
	if !near(a, b) {
		d.differ(where, what, number(a), number(b))
	}
}

// still is a frequency by which a pair turns less at any position than the smallest error of a cosine. GGUF files of
// Gemma 4 divide by 1e30 the frequencies that are 0 in its config.json.
const still = 0x1p-31 * 0x1p-53

// frequencies compares those of all pairs and says what the first difference does.
func (d *difference) frequencies(where string, a, b *kindDescription) {
	if len(a.InvFreq) != len(b.InvFreq) {
		return // so do the elements that rotate
	}
	first, count := -1, 0
	for i := range a.InvFreq {
		if !near(a.InvFreq[i], b.InvFreq[i]) && max(a.InvFreq[i], b.InvFreq[i]) > still {
			if count++; first < 0 {
				first = i
			}
		}
	}
	if count == 0 {
		return
	}
	what := fmt.Sprintf("frequencies of %d of %d pairs, from pair %d on", count, len(a.InvFreq), first)
	d.differ(where, what, fmt.Sprintf("%.9g by %s", a.InvFreq[first], ruleText(a)), fmt.Sprintf("%.9g by %s", b.InvFreq[first], ruleText(b)))
}

func (d *difference) WriteText(t *output.Text) {
	t.Printf("%s\n%s\n", t.Heading(input.Name(d.Files[0])), t.Heading(input.Name(d.Files[1])))
	if d.Same {
		t.Printf("\n%s\n", t.Good("They rotate in the same way."))
	} else {
		t.Printf("\n%s\n", t.Bad("They do not rotate in the same way."))
	}
	for _, x := range d.Differences {
		t.Printf("\n")
		if x.Where != "" {
			t.Printf("%s: ", x.Where)
		}
		t.Printf("%s\n", x.What)
		t.Table("  ", [][]string{{"first file", x.First}, {"second file", x.Second}})
	}
	if len(d.Notes) > 0 {
		t.Printf("\n")
	}
	for _, note := range d.Notes {
		t.Printf("note: %s\n", note)
	}
}
