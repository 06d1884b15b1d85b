package main

import (
	"bytes"
	"cmp"
	"fmt"
	"image/color"
	"image/png"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/bench/peers"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/test/cpuname"
)

// A plot is 900 x 560 pixels.
const (
	dpi    = 100
	width  = 900 * vg.Inch / dpi
	height = 560 * vg.Inch / dpi
	margin = 5 * vg.Millimeter / 2
)

// figure is a plot, and the first error in its lines and labels.
type figure struct {
	*plot.Plot
	err error
}

func newFigure(title, x, y string) *figure {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding, p.Legend.Padding = vg.Points(6), vg.Points(3)
	for _, style := range []*text.Style{
		&p.Title.TextStyle, &p.Legend.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label,
	} {
		style.Font.Variant = "Sans"
	}
	return &figure{Plot: p}
}

func (f *figure) encode() ([]byte, error) {
	canvas := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(color.White))
	f.Draw(draw.Crop(draw.New(canvas), margin, -2*margin, margin, -margin))
	var b bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, canvas.Image())
	return b.Bytes(), cmp.Or(f.err, err)
}

// levels are the horizontal lines of a grid, which leave a legend readable.
func levels() *plotter.Grid {
	g := plotter.NewGrid()
	g.Vertical.Color = nil
	return g
}

// over has a point for each x.
func over(x []int, y func(x int) float64) plotter.XYs {
	var points plotter.XYs
	for _, v := range x {
		points = append(points, plotter.XY{X: float64(v), Y: y(v)})
	}
	return points
}

// line adds a line with its place in the legend. dashes 0 is a solid line.
func (f *figure) line(name string, points plotter.XYs, colour color.Color, dashes int) {
	line, dots, err := plotter.NewLinePoints(points)
	if err != nil {
		f.err = cmp.Or(f.err, err)
		return
	}
	line.Width, line.Color, line.Dashes = vg.Points(1.5), colour, plotutil.Dashes(dashes)
	dots.Shape, dots.Color, dots.Radius = draw.CircleGlyph{}, colour, vg.Points(2)
	f.Add(line, dots)
	f.Legend.Add(name, line, dots)
}

// drawCosts shows what an element costs by the size of what a call works on.
func drawCosts(s setting, m machine, r results) ([]byte, error) {
	p := newFigure("Cost of an element, one core", "bytes changed, written or quantized", "ns")
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker = ticks(s.workingSets, cpuname.Bytes)
	p.Add(levels())
	p.Legend.Top = true
	for i, name := range []struct{ operation, title string }{
		{"scale", "bound: scale float32 in place"}, {"store", "bound: store float32"}, {"nontemporal", "bound: non-temporal store of float32"},
	} {
		points := over(s.workingSets, func(bytes int) float64 { return 4 / r.bound(name.operation, bytes) })
		points = slices.DeleteFunc(points, func(p plotter.XY) bool { return math.IsNaN(p.Y) })
		if len(points) > 0 {
			p.line(name.title, points, color.Gray{Y: uint8(60 * i)}, i+1)
		}
	}
	for i, x := range sweeps {
		p.line(x.title, over(s.workingSets, func(bytes int) float64 { return x.cost(r, bytes) }), plotutil.DarkColors[i], 0)
	}
	ceiling := p.Y.Max * 1.2
	p.Y.Tick.Marker = plot.TickerFunc(func(low, _ float64) []plot.Tick { return oneTwoFive(low, ceiling) })
	p.Y.Min, p.Y.Max = p.Y.Min/1.3, p.Y.Max*9 // the legend is above
	// Where each cache ends, and memory begins.
	memory := s.workingSets[0]
	for _, c := range m.caches {
		memory = max(memory, c.Bytes)
		x := float64(c.Bytes)
		if x < p.X.Min || x > p.X.Max {
			continue
		}
		edge, err := plotter.NewLine(plotter.XYs{{X: x, Y: p.Y.Min}, {X: x, Y: ceiling}})
		if err != nil {
			return nil, err
		}
		edge.Color, edge.Dashes = brown, plotutil.Dashes(2)
		p.Add(edge)
		p.edgeLabel(x, fmt.Sprintf("L%d ", c.Level), text.XRight)
	}
	if x := float64(memory); len(m.caches) > 0 && x < p.X.Max {
		p.edgeLabel(x, " DRAM", text.XLeft)
	}
	return p.encode()
}

var brown = color.RGBA{R: 0x99, G: 0x66, B: 0x22, A: 0xff}

// labels writes names at points, as set says.
func (f *figure) labels(points plotter.XYs, names []string, offset vg.Point, set func(*text.Style)) {
	labels, err := plotter.NewLabels(plotter.XYLabels{XYs: points, Labels: names})
	if err != nil {
		f.err = cmp.Or(f.err, err)
		return
	}
	for i := range labels.TextStyle {
		labels.TextStyle[i].Font.Variant = "Sans"
		set(&labels.TextStyle[i])
	}
	labels.Offset = offset
	f.Add(labels)
}

// edgeLabel writes at the bottom what is on one side of x.
func (f *figure) edgeLabel(x float64, name string, align text.XAlignment) {
	f.labels(plotter.XYs{{X: x, Y: f.Y.Min}}, []string{name}, vg.Point{Y: vg.Points(3)}, func(s *text.Style) { s.Color, s.XAlign = brown, align })
}

// ticks labels every value.
func ticks(values []int, label func(int) string) plot.ConstantTicks {
	var list []plot.Tick
	for _, v := range values {
		list = append(list, plot.Tick{Value: float64(v), Label: label(v)})
	}
	return list
}

// oneTwoFive has ticks at 1, 2, 5, 10, and so on.
func oneTwoFive(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for power := math.Pow(10, math.Floor(math.Log10(low))); power <= high; power *= 10 {
		for _, step := range []float64{1, 2, 5} {
			if v := power * step; v >= low && v <= high {
				ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', 3, 64)})
			}
		}
	}
	return ticks
}

// plainTicks are some five, every one with its label.
func plainTicks(low, high float64) []plot.Tick {
	step := math.Pow(10, math.Floor(math.Log10(high-low)))
	for _, part := range []float64{10, 5, 2} {
		if (high-low)/(step/part) <= 8 {
			step /= part
			break
		}
	}
	var ticks []plot.Tick
	for i := math.Ceil(low / step); i*step <= high; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: strconv.FormatFloat(i*step, 'g', 4, 64)})
	}
	return ticks
}

// drawImplementations has groups of bars, one bar for each implementation.
func drawImplementations(s setting, r results, list []string) ([]byte, error) {
	p := newFigure("Speed by implementation, one core", "", "GB/s")
	p.Legend.Top = true
	type operation interface {
		bytes() int
		name(implementation string) string
	}
	prefill, least, most := s.tokens[1], s.rows[0], s.rows[len(s.rows)-1]
	groups := []struct {
		label string
		operation
	}{
		{"decode\nhalf f32", rotation{1, headDim, posenc.HalfSplit, "f32"}},
		{"decode\ninterl. f32", rotation{1, headDim, posenc.Interleaved, "f32"}},
		{fmt.Sprintf("prefill %d\nhalf f32", prefill), rotation{prefill, headDim, posenc.HalfSplit, "f32"}},
		{fmt.Sprintf("prefill %d\nhalf f16", prefill), rotation{prefill, headDim, posenc.HalfSplit, "f16"}},
		{fmt.Sprintf("prefill %d\nhalf bf16", prefill), rotation{prefill, headDim, posenc.HalfSplit, "bf16"}},
		{fmt.Sprintf("tables\n%d rows", least), table{least, frequency.Exact}},
		{fmt.Sprintf("tables\n%d rows", most), table{most, frequency.Exact}},
	}
	var labels []string
	for _, g := range groups {
		labels = append(labels, g.label)
	}
	const bar = vg.Length(22)
	for i, implementation := range list {
		var values plotter.Values
		for _, g := range groups {
			values = append(values, r.speed(g.name(implementation), g.bytes()))
		}
		bars, err := plotter.NewBarChart(values, bar)
		if err != nil {
			return nil, err
		}
		bars.Color, bars.LineStyle.Width = plotutil.DarkColors[i], 0
		bars.Offset = bar * vg.Length(2*i+1-len(list)) / 2
		p.Add(bars)
		p.Legend.Add(implementation, bars)
		var tops plotter.XYs
		var numbers []string
		for i, v := range values {
			tops, numbers = append(tops, plotter.XY{X: float64(i), Y: v}), append(numbers, digits(v))
		}
		p.labels(tops, numbers, vg.Point{X: bars.Offset, Y: vg.Points(2)}, func(s *text.Style) { s.XAlign, s.Font.Size = text.XCenter, vg.Points(8) })
	}
	p.NominalX(labels...)
	p.Y.Tick.Marker = plot.TickerFunc(plainTicks)
	p.Y.Min = 0
	p.Y.Max *= 1.1
	return p.encode()
}

func drawGoroutines(s setting, r results) ([]byte, error) {
	p := newFigure("Speed-up by goroutines", "goroutines", "times one goroutine")
	counts := goroutineCounts()
	p.X.Tick.Marker = ticks(counts, strconv.Itoa)
	p.Y.Tick.Marker = ticks(append([]int{0}, counts...), strconv.Itoa)
	p.Add(plotter.NewGrid())
	p.Legend.Top, p.Legend.Left = true, true
	p.line("every core as fast as one", over(counts, func(n int) float64 { return float64(n) }), color.Gray{Y: 120}, 1)
	for i, x := range sharedWork(s) {
		colours := plotutil.DarkColors
		p.line(x.title, over(counts, func(n int) float64 { return r.time(x.name(1)) / r.time(x.name(n)) }), colours[i%len(colours)], i/len(colours))
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, p.X.Max*1.05, 0, p.Y.Max*1.4 // the legend is above
	return p.encode()
}

func drawAccuracy(curves []curve) ([]byte, error) {
	p := newFigure(fmt.Sprintf("Largest error of cosines and sines, heads of %d, base %d", headDim, base), "position below", "absolute error")
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.Y.Tick.Marker = plot.TickerFunc(powersOfTen)
	p.Add(levels())
	p.Legend.Top, p.Legend.Left = true, true
	var octaves []plot.Tick
	last := len(curves[0].worst)
	for octave := range last + 1 {
		if octave%4 == 0 || octave == last {
			octaves = append(octaves, plot.Tick{Value: math.Ldexp(1, octave), Label: fmt.Sprintf("2^%d", octave)})
		}
	}
	p.X.Tick.Marker = plot.ConstantTicks(octaves)
	for i, c := range curves {
		var points plotter.XYs
		for octave, e := range c.worst {
			points = append(points, plotter.XY{X: math.Ldexp(1, octave+1), Y: e}) // of all positions below
		}
		p.line(c.title, points, plotutil.DarkColors[i], i)
	}
	p.X.Min, p.Y.Min, p.Y.Max = 1, 1e-8, 1e2 // the legend is above
	return p.encode()
}

// powersOfTen has ticks to 10 at most: no cosine is wrong by more than 2.
func powersOfTen(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for e := math.Ceil(math.Log10(low)); e <= min(1, math.Log10(high)); e++ {
		ticks = append(ticks, plot.Tick{Value: math.Pow(10, e), Label: fmt.Sprintf("1e%.0f", e)})
	}
	return ticks
}

// drawPeers has a bar for each peer that makes tables, in a colour for each kind of
// angle; the red ones are posenc.
func drawPeers(s setting, r results, all []peers.Peer) ([]byte, error) {
	c := comparisons(s)[0]
	p := newFigure(c.title, "ns per pair", "")
	found := c.peers(all, r)
	slices.Reverse(found) // posenc is at the top
	kinds := []struct {
		angle       string
		ours, other color.Color
	}{
		{peers.ExactAngle, color.RGBA{R: 0xb0, G: 0x20, B: 0x20, A: 0xff}, nil},
		{peers.Float64Angle, nil, color.RGBA{R: 0x8f, G: 0xb4, B: 0xdf, A: 0xff}},
		{peers.ReducedAngle, nil, color.RGBA{R: 0xa6, G: 0xd1, B: 0x9b, A: 0xff}},
		{peers.Float32Angle, color.RGBA{R: 0xe0, G: 0x70, B: 0x70, A: 0xff}, color.RGBA{R: 0xf0, G: 0xc7, B: 0x80, A: 0xff}},
	}
	// The room for a bar is some 440 pixels by their number.
	room := 440 * vg.Inch / dpi / vg.Length(len(found))
	var names, numbers []string
	var ends plotter.XYs
	for i, peer := range found {
		v := r.time(c.name(peer)) / float64(c.count)
		names, numbers, ends = append(names, peer.Name), append(numbers, " "+digits(v)), append(ends, plotter.XY{X: v, Y: float64(i)})
		bar, err := plotter.NewBarChart(plotter.Values{v}, 0.7*room)
		if err != nil {
			return nil, err
		}
		bar.Horizontal, bar.XMin, bar.LineStyle.Width = true, float64(i), 0
		for _, kind := range kinds {
			if kind.angle == peer.Angle {
				bar.Color = kind.other
				if strings.HasPrefix(peer.Name, "posenc") {
					bar.Color = kind.ours
				}
			}
		}
		p.Add(bar)
	}
	// What the library takes for the middle is below it.
	p.labels(ends, numbers, vg.Point{Y: vg.Points(1.5)}, func(s *text.Style) { s.YAlign = text.YCenter })
	for _, kind := range kinds {
		for _, one := range []struct {
			name   string
			colour color.Color
		}{{"posenc: " + kind.angle, kind.ours}, {kind.angle, kind.other}} {
			if one.colour != nil {
				p.Legend.Add(one.name, swatch{one.colour})
			}
		}
	}
	p.NominalY(names...)
	p.X.Tick.Marker = plot.TickerFunc(plainTicks)
	p.X.Min, p.X.Max = 0, p.X.Max*1.15
	return p.encode()
}

// swatch is a colour in a legend.
type swatch struct{ color.Color }

func (s swatch) Thumbnail(c *draw.Canvas) {
	c.FillPolygon(s.Color, c.ClipPolygonXY([]vg.Point{
		{X: c.Min.X, Y: c.Min.Y}, {X: c.Min.X, Y: c.Max.Y}, {X: c.Max.X, Y: c.Max.Y}, {X: c.Max.X, Y: c.Min.Y},
	}))
}
