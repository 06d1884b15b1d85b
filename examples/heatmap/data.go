package main

import (
	"fmt"
	"math"

	"github.com/go-posenc/posenc/multimodal"
	"github.com/go-posenc/posenc/relative"
)

// matrix is what a heat map shows, a value for each column and row.
type matrix struct {
	title, value          string // value: what the numbers are
	columnLabel, rowLabel string
	columns, rows         int
	values                []float32 // [rows][columns]
}

// heat returns the values of an encoding by position and dimension, or what it
// adds to the scores of its first head by query and key.
func heat(e encoding, positions int) (matrix, error) {
	if positions > 4096 {
		return matrix{}, fmt.Errorf("-positions %d: expected at most 4096 in a heat map", positions)
	}
	if e.add != nil {
		m := matrix{title: e.name, value: e.value, columnLabel: "key", rowLabel: "query", columns: positions, rows: positions}
		m.values = make([]float32, positions*positions)
		return m, e.add(relative.Scores{Data: m.values, Heads: 1, Queries: positions, Keys: positions})
	}
	m := matrix{title: e.name, value: e.value, columnLabel: "dimension", rowLabel: "position", columns: e.dim, rows: positions}
	var err error
	m.values, err = e.values(positions)
	return m, err
}

// curve is a line of a plot: values at x = 0, 1, ...
type curve struct {
	name   string
	values []float64
}

// distances returns, for distances from 0 on, the dot product of the rows of two
// positions as a share of that of a row with itself, or what each head adds to
// the score of a key that far before its query.
func distances(e encoding, positions int) ([]curve, error) {
	if e.grid {
		return nil, fmt.Errorf("-plot distance: %s has positions of two axes", e.name)
	}
	if e.add != nil {
		scores := make([]float32, e.heads*positions)
		err := e.add(relative.Scores{Data: scores, Heads: e.heads, Queries: 1, Keys: positions, FirstQuery: positions - 1})
		curves := make([]curve, e.heads)
		for h := range curves {
			curves[h].name = e.name
			if e.heads > 1 {
				curves[h].name += fmt.Sprintf(" head %d", h)
			}
			for distance := range positions {
				curves[h].values = append(curves[h].values, float64(scores[(h+1)*positions-1-distance]))
			}
		}
		return curves, err
	}
	rows, err := e.values(positions)
	if err != nil {
		return nil, err
	}
	products := make([]float64, positions)
	for distance := range products {
		for i, v := range rows[:e.dim] {
			products[distance] += float64(v) * float64(rows[distance*e.dim+i])
		}
	}
	self := products[0]
	for distance := range products {
		products[distance] /= self
	}
	return []curve{{e.name, products}}, nil
}

// wavelengths returns, for each pair, the positions until it has turned once.
func wavelengths(e encoding, _ int) ([]curve, error) {
	if e.invFreq == nil {
		return nil, fmt.Errorf("-plot wavelength: %s has no frequencies, or several sets of them", e.name)
	}
	values := make([]float64, len(e.invFreq))
	for i, w := range e.invFreq {
		values[i] = 2 * math.Pi / w
	}
	return []curve{{e.name, values}}, nil
}

// prompt returns the positions of the tokens of a prompt of Qwen3-VL, for each axis.
func prompt(encoding, int) ([]curve, error) {
	text := func(tokens int) multimodal.Run { return multimodal.Run{Tokens: tokens} }
	image := func(kind multimodal.Kind, rows, columns int) multimodal.Run {
		return multimodal.Run{Kind: kind, Tokens: rows * columns, Grid: multimodal.Grid{T: 1, H: rows, W: columns}}
	}
	runs := []multimodal.Run{
		text(8), image(multimodal.Image, 5, 8), text(8), image(multimodal.Image, 6, 3), text(8),
		image(multimodal.Video, 4, 6), text(5), image(multimodal.Video, 4, 6), text(8),
	}
	tokens := 0
	for _, r := range runs {
		tokens += r.Tokens
	}
	model := multimodal.Model{Family: multimodal.Qwen3VL, MergeSize: 1}
	positions := make([]int32, model.Axes()*tokens)
	_, err := model.Positions(positions, runs)
	curves := []curve{{name: "time"}, {name: "height"}, {name: "width"}}
	for i, p := range positions {
		curves[i/tokens].values = append(curves[i/tokens].values, float64(p))
	}
	return curves, err
}
