package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/cmd/posenc/internal/chart"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/multimodal"
)

const tableRows = 256 // positions of a table

// plotChart draws rotations or, alone, something that takes no FILE.
type plotChart struct {
	name, says string
	alone      bool
	of         func([]rotation) (chart.Chart, error)
}

var charts = []plotChart{
	{"wavelengths", "positions until a pair has turned once, by pair", false, wavelengths},
	{"table", "cosines by position and pair", false, tables},
	{"products", "dot product of a query and an equal key, by their distance", false, products},
	{"errors", "error of float32 angles, by position", false, angleErrors},
	{"sinusoidal", "no FILE: the encoding of Vaswani et al., by position and dimension", true, sinusoidal},
	{"prompt", "no FILE: positions of a prompt with images and a video in Qwen3-VL", true, prompt},
}

func (r *rotation) label() chart.Label { return chart.Label{Model: r.model, Kind: r.kind} }

// contexts is a level for each context length.
func contexts(list []rotation, ofX bool) []chart.Level {
	var levels []chart.Level
	for _, r := range list {
		level := chart.Level{Name: fmt.Sprintf("context %d", r.context), Value: float64(r.context), OfX: ofX}
		if r.context > 0 && !slices.Contains(levels, level) {
			levels = append(levels, level)
		}
	}
	slices.SortFunc(levels, func(a, b chart.Level) int { return cmp.Compare(a.Value, b.Value) })
	return levels
}

func wavelengths(list []rotation) (chart.Chart, error) {
	c := chart.Chart{
		Title:  "Wavelengths",
		X:      chart.Axis{Label: "pair"},
		Y:      chart.Axis{Label: "positions until it has turned once", Logarithmic: true},
		Levels: contexts(list, false),
	}
	for _, r := range list {
		curve := chart.Curve{Label: r.label()}
		for i, w := range r.config.InvFreq {
			if w != 0 { // a pair that does not turn
				curve.X, curve.Y = append(curve.X, float64(i)), append(curve.Y, 2*math.Pi/math.Abs(w))
			}
		}
		c.Curves = append(c.Curves, curve)
	}
	return c, nil
}

func tables(list []rotation) (chart.Chart, error) {
	c := chart.Chart{
		Title: "Cosines",
		X:     chart.Axis{Label: "pair"},
		Y:     chart.Axis{Label: "position"},
	}
	for _, r := range list {
		t := chart.Table{Label: r.label(), Columns: len(r.config.InvFreq)}
		for position := range tableRows {
			for _, w := range r.config.InvFreq {
				t.Values = append(t.Values, float32(math.Cos(float64(position)*w)))
			}
		}
		c.Tables = append(c.Tables, t)
	}
	return c, nil
}

// products are, of vectors all of whose pairs are equally long, the dot product of a query and
// a key that is the same vector: the mean of cos(distance*w) over the frequencies w. A
// point is the mean over distances about it, up to an eighth more or less: single ones hide in
// ripples, from one frequency to the next, where the curve goes.
func products(list []rotation) (chart.Chart, error) {
	c := chart.Chart{
		Title:  "Dot product of equal vectors",
		X:      chart.Axis{Label: "distance of query and key", Logarithmic: true},
		Y:      chart.Axis{Label: "share of that at distance 0, mean nearby"},
		Levels: contexts(list, true),
		Falls:  true,
	}
	for _, r := range list {
		curve := chart.Curve{Label: r.label()}
		for _, b := range bins(r.reach, 30) {
			distance := b.middle()
			sum := 0.0
			for _, w := range r.config.InvFreq {
				sum += meanCos(w, int(math.Ceil(distance/1.125)), int(distance*1.125))
			}
			curve.X, curve.Y = append(curve.X, distance), append(curve.Y, sum/float64(len(r.config.InvFreq)))
		}
		c.Curves = append(c.Curves, curve)
	}
	return c, nil
}

// meanCos is the mean of cos(n*w) for n = first to last.
func meanCos(w float64, first, last int) float64 {
	w = math.Remainder(w, 2*math.Pi)
	n := float64(last - first + 1)
	middle := math.Cos(w * float64(first+last) / 2)
	if s := math.Sin(w / 2); s != 0 {
		return middle * math.Sin(n*w/2) / (n * s)
	}
	return middle
}

// bin is the integers from first to last.
type bin struct{ first, last int }

func (b bin) middle() float64 { return math.Sqrt(float64(b.first) * float64(b.last)) }

// bins divides 1 to most into bins, of which some perDecade are as wide by the logarithm.
func bins(most, perDecade int) []bin {
	var list []bin
	for first, i := 1, 1; first <= most; i++ {
		next := int(math.Pow(10, float64(i)/float64(perDecade)))
		if next > first {
			list = append(list, bin{first, min(next-1, most)})
			first = next
		}
	}
	return list
}

func sinusoidal([]rotation) (chart.Chart, error) {
	const positions, dim = 100, 128
	c := chart.Chart{
		Title:  "Sinusoidal encoding",
		X:      chart.Axis{Label: "dimension"},
		Y:      chart.Axis{Label: "position"},
		Tables: []chart.Table{{Label: chart.Label{Model: "Vaswani et al."}, Columns: dim, Values: make([]float32, positions*dim)}},
	}
	s, err := absolute.Vaswani(dim)
	if err != nil {
		return c, err
	}
	return c, absolute.SinusoidalRows(c.Tables[0].Values, s, count(positions))
}

// prompt has text, two images and two frames of a video.
func prompt([]rotation) (chart.Chart, error) {
	c := chart.Chart{
		Title: "Positions of a prompt of Qwen3-VL: text, two images, two frames of a video",
		X:     chart.Axis{Label: "token"},
		Y:     chart.Axis{Label: "position"},
	}
	text := func(tokens int) multimodal.Run { return multimodal.Run{Tokens: tokens} }
	grid := func(kind multimodal.Kind, rows, columns int) multimodal.Run {
		return multimodal.Run{Kind: kind, Tokens: rows * columns, Grid: multimodal.Grid{T: 1, H: rows, W: columns}}
	}
	runs := []multimodal.Run{
		text(8), grid(multimodal.Image, 5, 8), text(8), grid(multimodal.Image, 6, 3), text(8),
		grid(multimodal.Video, 4, 6), text(5), grid(multimodal.Video, 4, 6), text(8),
	}
	tokens := 0
	for _, r := range runs {
		tokens += r.Tokens
	}
	model := multimodal.Model{Family: multimodal.Qwen3VL, MergeSize: 1}
	positions := make([]int32, model.Axes()*tokens)
	if _, err := model.Positions(positions, runs); err != nil {
		return c, err
	}
	for axis, name := range []string{"time", "height", "width"} {
		curve := chart.Curve{Label: chart.Label{Model: name}}
		for token, p := range positions[axis*tokens:][:tokens] {
			curve.X, curve.Y = append(curve.X, float64(token)), append(curve.Y, float64(p))
		}
		c.Curves = append(c.Curves, curve)
	}
	return c, nil
}

// count returns the positions 0, 1, ...
func count(positions int) []int32 {
	p := make([]int32, positions)
	for i := range p {
		p[i] = int32(i)
	}
	return p
}

// angleErrors are the largest errors of cosines and sines over all pairs, with the angles that
// engines compute in float32.
func angleErrors(list []rotation) (chart.Chart, error) {
	c := chart.Chart{
		Title: "Error of cosines and sines with float32 angles",
		X:     chart.Axis{Label: "position", Logarithmic: true},
		Y:     chart.Axis{Label: "largest error of all pairs", Logarithmic: true},
		Levels: append([]chart.Level{
			{Name: "rounding of float16", Value: math.Ldexp(1, -12)},
			{Name: "rounding of bfloat16", Value: math.Ldexp(1, -9)},
		}, contexts(list, true)...),
	}
	for _, r := range list {
		curve, err := angleError(r)
		if err != nil {
			return c, err
		}
		c.Curves = append(c.Curves, curve)
	}
	return c, nil
}

func angleError(r rotation) (chart.Curve, error) {
	curve := chart.Curve{Label: r.label()}
	exact := r.config
	exact.AttentionFactor = 1
	rounded, err := r.of.config(r.length, frequency.Float32)
	if err != nil {
		return curve, err
	}
	rounded.AttentionFactor = 1
	const samples = 64
	pairs := len(exact.InvFreq)
	var rows [2][]float32 // of cosines, then of sines
	for _, b := range bins(r.reach, 10) {
		positions := make([]int32, samples)
		for i := range positions {
			_, part := math.Modf(float64(i) * math.Phi) // spread evenly, but by no power of two
			positions[i] = int32(b.first + int(part*float64(b.last-b.first+1)))
		}
		for i, config := range []posenc.RotaryConfig{exact, rounded} {
			rope, err := posenc.NewRotary(config)
			if err != nil {
				return curve, err
			}
			rows[i] = make([]float32, 2*samples*pairs)
			if err := rope.CosSin(rows[i][:samples*pairs], rows[i][samples*pairs:], positions); err != nil {
				return curve, err
			}
		}
		worst := 0.0
		for i, v := range rows[0] {
			worst = max(worst, math.Abs(float64(v)-float64(rows[1][i])))
		}
		if worst > 0 { // a logarithm shows no 0
			curve.X, curve.Y = append(curve.X, b.middle()), append(curve.Y, worst)
		}
	}
	return curve, nil
}
