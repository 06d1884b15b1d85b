package main

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// A picture is 800 x 500 pixels.
const (
	dpi    = 100
	width  = 800 * vg.Inch / dpi
	height = 500 * vg.Inch / dpi
	margin = 5 * vg.Millimeter / 2
)

// axes are the labels of curves.
type axes struct {
	title, x, y         string
	logarithmic, rising bool
}

// drawCurves draws the curves of encodings.
func drawCurves(encodings []encoding, positions int, labels axes, of func(encoding, int) ([]curve, error)) ([]byte, error) {
	p := newPlot(labels.title, labels.x, labels.y)
	p.Add(plotter.NewGrid())
	p.Legend.Left, p.Legend.Top = true, labels.rising // where curves that fall, or rise, leave room
	if labels.logarithmic {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.TickerFunc(powersOfTen)
	}
	count := 0
	for _, e := range encodings {
		curves, err := of(e, positions)
		if err != nil {
			return nil, err
		}
		for _, c := range curves {
			var points plotter.XYs
			for i, v := range c.values {
				if !math.IsInf(v, 0) { // the wavelength of a pair that does not turn
					points = append(points, plotter.XY{X: float64(i), Y: v})
				}
			}
			line, err := plotter.NewLine(points)
			if err != nil {
				return nil, err
			}
			line.Width = vg.Points(1.5)
			line.Color, line.Dashes = plotutil.DarkColors[count%len(plotutil.DarkColors)], plotutil.Dashes(count/len(plotutil.DarkColors))
			p.Add(line)
			p.Legend.Add(c.name, line)
			count++
		}
	}
	canvas := newCanvas()
	p.Draw(draw.Crop(draw.New(canvas), margin, -2*margin, margin, -margin))
	return encode(canvas)
}

// powersOfTen labels the powers of ten 1, 10, 100, 1k, and so on.
func powersOfTen(low, high float64) []plot.Tick {
	ticks := plot.LogTicks{Prec: -1}.Ticks(low, high)
	for i := range ticks {
		if ticks[i].Label == "" {
			continue
		}
		v, unit := ticks[i].Value, 0
		for ; v >= 999.5 && unit < 4; unit++ {
			v /= 1000
		}
		ticks[i].Label = strconv.FormatFloat(v, 'g', 3, 64) + []string{"", "k", "M", "G", "T"}[unit]
	}
	return ticks
}

// drawHeat draws a heat map with its colour bar. Row 0 is at the top, as in a
// matrix.
func drawHeat(m matrix) ([]byte, error) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range m.values {
		low, high = min(low, float64(v)), max(high, float64(v))
	}
	colours := moreland.BlackBody()
	if low < 0 && high > 0 { // white is 0
		high = max(-low, high)
		low = -high
		colours = moreland.SmoothBlueRed()
	}
	if low == high {
		high++
	}
	colours.SetMin(low)
	colours.SetMax(high)

	p := newPlot(m.title, m.columnLabel, m.rowLabel)
	p.X.Min, p.X.Max = -0.5, float64(m.columns)-0.5
	p.Y.Min, p.Y.Max = -0.5, float64(m.rows)-0.5
	p.X.Padding, p.Y.Padding = 0, 0
	p.Y.Scale = plot.InvertedScale{Normalizer: plot.LinearScale{}}
	p.Add(cells{m, colours})

	bar := newPlot("", "", m.value)
	bar.HideX()
	bar.Y.Padding = 0
	bar.Add(&plotter.ColorBar{ColorMap: colours, Vertical: true, Colors: 256})

	canvas := newCanvas()
	const barWidth = width / 7
	left := draw.Crop(draw.New(canvas), margin, -barWidth-margin, margin, -margin)
	right := draw.Crop(draw.New(canvas), width-barWidth, -2*margin, 0, 0)
	// The bar is as high as the map.
	inside, alone := p.DataCanvas(left), bar.DataCanvas(right)
	right = draw.Crop(right, 0, 0, inside.Min.Y-alone.Min.Y, inside.Max.Y-alone.Max.Y)
	p.Draw(left)
	bar.Draw(right)
	return encode(canvas)
}

// cells draws a matrix, each pixel in the colour of the cell that it lies in.
// (plotter.HeatMap leaves light seams between cells.)
type cells struct {
	matrix
	colours palette.ColorMap
}

func (h cells) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	pixel := func(x vg.Length) int { return int(math.Round(x.Dots(dpi))) }
	left, right := pixel(toX(-0.5)), pixel(toX(float64(h.columns)-0.5))
	bottom, top := pixel(toY(float64(h.rows)-0.5)), pixel(toY(-0.5))

	img := image.NewRGBA(image.Rect(0, 0, right-left, top-bottom))
	colours := make(map[float32]color.Color)
	for y := range top - bottom {
		for x := range right - left {
			column, row := x*h.columns/(right-left), y*h.rows/(top-bottom)
			v := h.values[row*h.columns+column]
			if colours[v] == nil {
				colours[v], _ = h.colours.At(float64(v)) // no value is out of range
			}
			img.Set(x, y, colours[v])
		}
	}
	length := func(pixels int) vg.Length { return vg.Length(pixels) * vg.Inch / dpi }
	c.DrawImage(vg.Rectangle{
		Min: vg.Point{X: length(left), Y: length(bottom)},
		Max: vg.Point{X: length(right), Y: length(top)},
	}, img)
}

func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding, p.Legend.Padding = vg.Points(6), vg.Points(3)
	for _, style := range []*text.Style{
		&p.Title.TextStyle, &p.Legend.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label,
	} {
		style.Font.Variant = "Sans"
	}
	return p
}

func newCanvas() *vgimg.Canvas {
	return vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(color.White))
}

func encode(canvas *vgimg.Canvas) ([]byte, error) {
	var b bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, canvas.Image())
	return b.Bytes(), err
}
