package main

import (
	"bytes"
	"fmt"
	"image/color"
	"image/png"
	"math"
	"slices"
	"strings"

	stdfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/go-posenc/posenc"
)

// The chart of the README: the time of a token on every machine, in decode and in
// prefill. A picture of 1800 pixels is sharp where it is shown with half of them.
const (
	chartDPI   = 200
	chartWidth = 9 * vg.Inch

	chartMargin = 10 * vg.Millimeter / 4
	nameColumn  = 92 // points, of the names of what is compared
	panelGap    = 18
	rowHeight   = 14
	barHeight   = 9.5
	groupGap    = 7
	valueRoom   = 74 // beside the longest bar

	// axisEnd is where bars are cut, in ns. What is slower says by how much.
	axisEnd = 5000
)

var (
	ink      = color.RGBA{R: 0x24, G: 0x29, B: 0x2f, A: 0xff}
	faint    = color.RGBA{R: 0x6e, G: 0x77, B: 0x81, A: 0xff}
	hairline = color.RGBA{R: 0xd8, G: 0xde, B: 0xe4, A: 0xff}
	oursBar  = color.RGBA{R: 0x00, G: 0x7d, B: 0x9c, A: 0xff}
	peerBar  = color.RGBA{R: 0xaf, G: 0xb8, B: 0xc1, A: 0xff}
)

func chartStyle(size float64, colour color.Color, bold bool) text.Style {
	f := font.From(plot.DefaultFont, vg.Points(size))
	f.Variant = "Sans"
	if bold {
		f.Weight = stdfont.WeightBold
	}
	return text.Style{Color: colour, Font: f, Handler: plot.DefaultTextHandler, YAlign: text.YCenter}
}

// inChart are those of the contenders of a machine that the chart has.
func inChart(m *published) []contender {
	return slices.DeleteFunc(m.contenders(), func(c contender) bool { return c.onlyTables })
}

// chartPanels are the calls that are compared.
var chartPanels = []struct {
	tokens int
	title  string
}{{1, "Decode: one token in a call"}, {full.prefill, fmt.Sprintf("Prefill: %d tokens in a call", full.prefill)}}

func drawChart(list []published) ([]byte, error) {
	rows := 0
	for i := range list {
		rows += len(inChart(&list[i])) + 1
	}
	height := 2*chartMargin + vg.Points(float64(52+rows*rowHeight+len(list)*groupGap+16))
	canvas := vgimg.NewWith(vgimg.UseWH(chartWidth, height), vgimg.UseDPI(chartDPI), vgimg.UseBackgroundColor(color.White))
	c := draw.Crop(draw.New(canvas), chartMargin, -chartMargin, chartMargin, -chartMargin)

	y := c.Max.Y - vg.Points(9)
	c.FillText(chartStyle(13, ink, true), vg.Point{X: c.Min.X, Y: y}, "Rotary embedding of a token: nanoseconds, shorter is better")
	y -= vg.Points(16)
	c.FillText(chartStyle(9, faint, false), vg.Point{X: c.Min.X, Y: y},
		fmt.Sprintf("Queries of Llama 3 8B: %d heads of %d float32, half-split; cosines and sines included. One core.", queryHeads, headDim))
	y -= vg.Points(20)

	panel := (c.Max.X - c.Min.X - vg.Points(nameColumn+panelGap)) / 2
	left := func(i int) vg.Length {
		return c.Min.X + vg.Points(nameColumn) + vg.Length(i)*(panel+vg.Points(panelGap))
	}
	for i, p := range chartPanels {
		c.FillText(chartStyle(10, ink, true), vg.Point{X: left(i), Y: y}, p.title)
	}
	y -= vg.Points(8)
	longest := panel - vg.Points(valueRoom)
	for i := range list {
		m := &list[i]
		y -= vg.Points(groupGap)
		c.StrokeLine2(draw.LineStyle{Color: hairline, Width: vg.Points(0.75)}, c.Min.X, y+vg.Points(6), c.Max.X, y+vg.Points(6))
		y -= vg.Points(4)
		c.FillText(chartStyle(9.5, ink, true), vg.Point{X: c.Min.X, Y: y}, m.name)
		y -= vg.Points(rowHeight)
		found := inChart(m)
		for _, x := range found {
			name, fill := chartStyle(9.5, ink, x.ours), color.Color(peerBar)
			if x.ours {
				fill = oursBar
			}
			name.XAlign = text.XRight
			c.FillText(name, vg.Point{X: c.Min.X + vg.Points(nameColumn-6), Y: y}, x.name)
			for i, p := range chartPanels {
				ns := x.perToken(m, p.tokens, posenc.HalfSplit)
				if math.IsNaN(ns) {
					continue
				}
				end := left(i) + longest*vg.Length(min(ns, axisEnd)/axisEnd)
				c.FillPolygon(fill, rectangle(left(i), y-vg.Points(barHeight/2), end, y+vg.Points(barHeight/2)))
				if ns > axisEnd {
					cutMark(&c, end-vg.Points(16), y)
				}
				value := chartStyle(9.5, ink, x.ours)
				label := thousands(ns)
				c.FillText(value, vg.Point{X: end + vg.Points(4), Y: y}, label)
				if !x.ours {
					c.FillText(chartStyle(8.5, faint, false), vg.Point{X: end + vg.Points(8) + value.Width(label), Y: y},
						times(ns/found[0].perToken(m, p.tokens, posenc.HalfSplit)))
				}
			}
			y -= vg.Points(rowHeight)
		}
	}
	y -= vg.Points(2)
	c.FillText(chartStyle(8, faint, false), vg.Point{X: c.Min.X, Y: y},
		fmt.Sprintf("Medians. × is the time as a multiple of that of the fastest posenc. A bar with a gap is longer than %s ns. \"plain Go\" is a float32 loop with ggml's recurrence.", thousands(axisEnd)))

	var b bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, canvas.Image())
	return b.Bytes(), err
}

func rectangle(left, bottom, right, top vg.Length) []vg.Point {
	return []vg.Point{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top}}
}

// cutMark is a slanting gap in a bar.
func cutMark(c *draw.Canvas, x, y vg.Length) {
	h, w, slant := vg.Points(barHeight/2+1), vg.Points(3), vg.Points(2.5)
	c.FillPolygon(color.White, []vg.Point{{X: x - slant, Y: y - h}, {X: x - slant + w, Y: y - h}, {X: x + slant + w, Y: y + h}, {X: x + slant, Y: y + h}})
}

// times keeps two digits of a ratio, which are as many as mean something.
func times(v float64) string {
	if v >= 10 {
		return fmt.Sprintf("%.0f ×", v)
	}
	return fmt.Sprintf("%.1f ×", v)
}

// thousands writes a whole number with commas.
func thousands(v float64) string {
	s := fmt.Sprintf("%.0f", v)
	var parts []string
	for len(s) > 3 {
		parts, s = append([]string{s[len(s)-3:]}, parts...), s[:len(s)-3]
	}
	return strings.Join(append([]string{s}, parts...), ",")
}
