package chart

import (
	"math"
	"strings"

	"github.com/guptarohit/asciigraph"

	"github.com/go-posenc/posenc/cmd/posenc/internal/output"
)

const (
	terminalHeight = 14 // lines of curves
	terminalRows   = 16 // lines of a table
)

// Curves in a terminal: the colours where there are some, else each has a character.
var (
	terminalColours    = [MaxCurves]asciigraph.AnsiColor{asciigraph.Blue, asciigraph.Red, asciigraph.Green, asciigraph.Magenta, asciigraph.Yellow, asciigraph.Cyan, asciigraph.Gray, asciigraph.White}
	terminalCharacters = [MaxCurves]string{"•", "+", "x", "o", "*", "#", "=", "@"}
)

// WriteText draws the chart with characters.
func (c *Chart) WriteText(t *output.Text) {
	t.Wrap("", 0, c.Title, t.Heading)
	if len(c.Tables) > 0 {
		c.writeTables(t)
	} else {
		c.writeCurves(t)
	}
}

func (c *Chart) writeCurves(t *output.Text) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, curve := range c.Curves {
		for _, x := range curve.X {
			low, high = min(low, c.X.forward(x)), max(high, c.X.forward(x))
		}
	}
	if low >= high {
		t.Printf("  nothing to draw\n")
		return
	}
	const labels = 14 // columns that those of Y take, and the last of X beyond its end
	columns := t.Width() - labels
	several := len(c.Curves) > 1

	var series [][]float64
	var colours []asciigraph.AnsiColor
	var characters []asciigraph.CharSet
	for _, level := range c.Levels {
		if level.OfX {
			continue
		}
		line := make([]float64, columns)
		for i := range line {
			line[i] = c.Y.forward(level.Value)
		}
		series, colours, characters = append(series, line), append(colours, asciigraph.Default), append(characters, asciigraph.CreateCharSet("·"))
	}
	for i, curve := range c.Curves {
		line := make([]float64, columns)
		for column := range line {
			line[column] = c.at(curve, low+(high-low)*float64(column)/float64(columns-1))
		}
		set := asciigraph.DefaultCharSet
		if several && !t.Colour() {
			set = asciigraph.CreateCharSet(terminalCharacters[i])
		}
		series, colours, characters = append(series, line), append(colours, terminalColours[i]), append(characters, set)
	}
	options := []asciigraph.Option{
		asciigraph.Height(terminalHeight),
		asciigraph.SeriesChars(characters...),
		asciigraph.YAxisValueFormatter(func(v float64) string { return number(c.Y.backward(v)) }),
		asciigraph.XAxisRange(low, high),
		asciigraph.XAxisValueFormatter(func(v float64) string { return number(math.Round(c.X.backward(v))) }),
	}
	if t.Colour() {
		options = append(options, asciigraph.SeriesColors(colours...))
	}
	t.Printf("%s\n", asciigraph.PlotMany(series, options...))
	t.Wrap("  ", 2, "across: "+c.X.Label+"; up: "+c.Y.Label, t.Aside)
	legend := func(sign, label string) {
		t.Wrap("  "+sign+" ", 4, label, func(s string) string { return s })
	}
	for i, curve := range c.Curves {
		switch {
		case t.Colour():
			legend(terminalColours[i].String()+"■"+asciigraph.Default.String(), curve.Label.String())
		case several:
			legend(terminalCharacters[i], curve.Label.String())
		default:
			legend("─", curve.Label.String())
		}
	}
	for _, level := range c.Levels {
		if !level.OfX {
			legend("·", level.Name)
		}
	}
}

// at is a curve at x, both as they are along their axes; NaN beyond its ends.
func (c *Chart) at(curve Curve, x float64) float64 {
	for i := range curve.X {
		right := c.X.forward(curve.X[i])
		y := c.Y.forward(curve.Y[i])
		const slack = 1e-9 // of rounding
		switch {
		case right < x-slack:
			continue
		case right <= x+slack:
			return y
		case i == 0:
			return math.NaN()
		}
		left := c.X.forward(curve.X[i-1])
		before := c.Y.forward(curve.Y[i-1])
		return before + (y-before)*(x-left)/(right-left)
	}
	return math.NaN()
}

func (a Axis) forward(v float64) float64 {
	if a.Logarithmic {
		return math.Log10(v)
	}
	return v
}

func (a Axis) backward(v float64) float64 {
	if a.Logarithmic {
		return math.Pow(10, v)
	}
	return v
}

// writeTables draws the first rows of each table, a character for each cell or some.
func (c *Chart) writeTables(t *output.Text) {
	shades := []rune(" ░▒▓█")
	for i := range c.Tables {
		table := &c.Tables[i]
		columns := min(t.Width()-8, table.Columns)
		for row := range min(terminalRows, table.rows()) {
			var line strings.Builder
			for column := range columns {
				v := table.at(row, column*table.Columns/columns)
				line.WriteRune(shades[int(math.Round(float64(1+max(-1, min(1, v)))/2*float64(len(shades)-1)))])
			}
			t.Printf("%6d %s\n", row, strings.TrimRight(line.String(), " "))
		}
		t.Wrap("  ", 2, table.Label.String(), func(s string) string { return s })
	}
	t.Wrap("  ", 2, "across: "+c.X.Label+"; down: "+c.Y.Label+"; █ 1, ▒ 0, blank -1", t.Aside)
}
