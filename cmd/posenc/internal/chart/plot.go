package chart

import (
	"image"
	"image/color"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

var (
	gridColour  = color.Gray{Y: 0xdc}
	levelColour = color.Gray{Y: 0x60}
)

// plot returns the chart as gonum draws it.
func (c *Chart) plot() (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.Title, c.X.Label, c.Y.Label
	p.Title.Padding = vg.Points(6)
	for _, style := range []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label} {
		style.Font.Variant = "Sans"
	}
	p.Title.TextStyle.Font.Size = vg.Points(13)
	p.X.Label.Padding, p.Y.Label.Padding = vg.Points(3), vg.Points(3)
	if len(c.Tables) > 0 {
		c.plotTables(p)
		return p, nil
	}
	return p, c.plotCurves(p)
}

func (c *Chart) plotCurves(p *plot.Plot) error {
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = gridColour, gridColour
	p.Add(grid)
	for i, curve := range c.Curves {
		var points plotter.XYs
		for j, x := range curve.X {
			points = append(points, plotter.XY{X: c.X.forward(x), Y: c.Y.forward(curve.Y[j])})
		}
		if len(points) == 0 {
			continue
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return err
		}
		line.Width, line.Color = vg.Points(1.7), colours[i]
		p.Add(line)
	}
	for _, l := range c.Levels {
		if l.OfX {
			p.X.Min, p.X.Max = min(p.X.Min, c.X.forward(l.Value)), max(p.X.Max, c.X.forward(l.Value))
		} else {
			p.Y.Min, p.Y.Max = min(p.Y.Min, c.Y.forward(l.Value)), max(p.Y.Max, c.Y.forward(l.Value))
		}
	}
	for _, one := range []struct {
		axis *plot.Axis
		of   Axis
	}{{&p.X, c.X}, {&p.Y, c.Y}} {
		if one.axis.Min >= one.axis.Max { // of no points, or one
			one.axis.Min, one.axis.Max = 0, 1
		}
		one.axis.Padding = 0
		one.axis.Tick.Marker = plot.TickerFunc(steps)
		if one.of.Logarithmic {
			one.axis.Tick.Marker = plot.TickerFunc(powersOfTen)
		}
	}
	room := 0.04 * (p.Y.Max - p.Y.Min)
	p.Y.Min, p.Y.Max = p.Y.Min-room, p.Y.Max+room
	if len(c.Levels) > 0 && c.X.Logarithmic {
		p.X.Max += 0.02 * (p.X.Max - p.X.Min)
	}
	p.Add(levels{c})
	return nil
}

// levels draws the levels of a chart with their names, where curves that rise, or fall,
// leave room.
type levels struct{ chart *Chart }

func (l levels) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	style := sans(9)
	style.Color = levelColour
	line := draw.LineStyle{Color: levelColour, Width: vg.Points(1), Dashes: []vg.Length{vg.Points(5), vg.Points(3)}}
	for i := 0; i < len(l.chart.Levels); {
		level := l.chart.Levels[i]
		place := func(level Level) vg.Length {
			if level.OfX {
				return toX(l.chart.X.forward(level.Value))
			}
			return toY(l.chart.Y.forward(level.Value))
		}
		// Neighbours that leave no room for a name have one together, above the last or left
		// of the first.
		names, at := level.Name, place(level)
		first := at
		for {
			if level.OfX {
				c.StrokeLine2(line, at, c.Min.Y, at, c.Max.Y)
			} else {
				c.StrokeLine2(line, c.Min.X, at, c.Max.X, at)
			}
			if i++; i == len(l.chart.Levels) {
				break
			}
			next := l.chart.Levels[i]
			if next.OfX != level.OfX || place(next)-at > 18*pixel {
				break
			}
			level, at = next, place(next)
			word, number, _ := strings.Cut(next.Name, " ")
			if strings.HasPrefix(names, word) {
				names += ", " + number
			} else {
				names += ", " + next.Name
			}
		}
		// Where a curve passes behind a name, it is paler.
		veil := color.NRGBA{R: 0xff, G: 0xff, B: 0xff, A: 0xc8}
		const above = 14 * pixel
		room := style.Width(names)
		if !level.OfX {
			x := c.Min.X + 6*pixel
			c.FillPolygon(veil, box(x-pixel, at+pixel, x+room+pixel, at+above))
			c.FillText(style, vg.Point{X: x, Y: at + 2*pixel}, names)
			continue
		}
		upright := style
		upright.Rotation = math.Pi / 2
		y := c.Min.Y + 6*pixel
		if l.chart.Falls {
			y = c.Max.Y - 6*pixel - room
		}
		c.FillPolygon(veil, box(first-above, y-pixel, first-pixel, y+room+pixel))
		c.FillText(upright, vg.Point{X: first - 2*pixel, Y: y}, names)
	}
}

// plotTables draws tables side by side, and a bar that says what the colours mean.
func (c *Chart) plotTables(p *plot.Plot) {
	const gap, bar = 0.03, 0.025 // of the whole
	n := len(c.Tables)
	each := (1 - 4*bar - gap*float64(n)) / float64(n)
	p.X.Min, p.X.Max = 0, 1
	p.Y.Min, p.Y.Max = 0, float64(c.Tables[0].rows())
	p.X.Padding, p.Y.Padding = 0, 0
	p.Y.Scale = plot.InvertedScale{Normalizer: plot.LinearScale{}}
	p.Y.Tick.Marker = plot.TickerFunc(steps)
	p.X.LineStyle.Width, p.X.Tick.LineStyle.Width = 0, 0
	if n > 1 {
		p.X.Tick.Label.Font.Size = vg.Points(8)
	}
	var ticks []plot.Tick
	for i := range c.Tables {
		t := &c.Tables[i]
		left := float64(i) * (each + gap)
		p.Add(cells{table: t, left: left, right: left + each})
		if n == 1 {
			for _, tick := range steps(0, float64(t.Columns)) {
				ticks = append(ticks, plot.Tick{Value: each * (tick.Value + 0.5) / float64(t.Columns), Label: tick.Label})
			}
			continue
		}
		// The label has the width of the table.
		fit := func(s string) string {
			style := p.X.Tick.Label
			most := vg.Length(each) * (width - 100*pixel)
			for letters := []rune(s); style.Width(s) > most && len(letters) > 1; s = string(letters) + "…" {
				letters = letters[:len(letters)-1]
			}
			return s
		}
		label := fit(t.Model) + "\n" + fit("0 to "+strconv.Itoa(t.Columns-1)) + "\n" + fit(t.Kind+" ") // all of three lines
		ticks = append(ticks, plot.Tick{Value: left + each/2, Label: label})
	}
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
	scale := &Table{Columns: 1}
	for i := range 256 {
		scale.Values = append(scale.Values, 1-float32(i)/127.5)
	}
	p.Add(cells{table: scale, left: 1 - 3*bar, right: 1 - 2*bar}, scaleLabels{at: 1 - 1.8*bar})
}

// cells draws a table, each pixel in the colour of the cell that it lies in. (plotter.HeatMap
// leaves light seams between cells.)
type cells struct {
	table       *Table
	left, right float64
}

func (h cells) Plot(c draw.Canvas, p *plot.Plot) {
	toX, _ := p.Transforms(&c)
	whole := func(x vg.Length) int { return int(math.Round(x.Dots(dpi))) }
	left, right, bottom, top := whole(toX(h.left)), whole(toX(h.right)), whole(c.Min.Y), whole(c.Max.Y)

	palette := moreland.SmoothBlueRed()
	palette.SetMin(-1)
	palette.SetMax(1)
	// The palette has 256 colours: the picture is small as a file.
	var shades color.Palette
	for i := range 256 {
		shade, _ := palette.At(float64(i)/127.5 - 1) // no value is out of range
		shades = append(shades, shade)
	}
	img := image.NewPaletted(image.Rect(0, 0, right-left, top-bottom), shades)
	for y := range top - bottom {
		for x := range right - left {
			v := float64(h.table.at(y*h.table.rows()/(top-bottom), x*h.table.Columns/(right-left)))
			img.SetColorIndex(x, y, uint8(math.Round(127.5*(1+max(-1, min(1, v))))))
		}
	}
	c.DrawImage(vg.Rectangle{
		Min: vg.Point{X: vg.Length(left) * pixel, Y: vg.Length(bottom) * pixel},
		Max: vg.Point{X: vg.Length(right) * pixel, Y: vg.Length(top) * pixel},
	}, img)
}

// scaleLabels are the numbers beside the bar.
type scaleLabels struct{ at float64 }

func (s scaleLabels) Plot(c draw.Canvas, p *plot.Plot) {
	toX, _ := p.Transforms(&c)
	style := p.Y.Tick.Label
	style.XAlign = text.XLeft
	for _, one := range []struct {
		label string
		at    vg.Length
		align text.YAlignment
	}{{"1", c.Max.Y, text.YTop}, {"0", (c.Min.Y + c.Max.Y) / 2, text.YCenter}, {"-1", c.Min.Y, text.YBottom}} {
		style.YAlign = one.align
		c.FillText(style, vg.Point{X: toX(s.at), Y: one.at}, one.label)
	}
}

// powersOfTen has a tick for each whole logarithm, at most eight of them with labels. (Charts
// are drawn by their logarithms: gonum misplaces what is beside an axis of its LogScale.)
func powersOfTen(low, high float64) []plot.Tick {
	first, last := math.Ceil(low), math.Floor(high)
	every := math.Ceil((last - first + 1) / 8)
	var ticks []plot.Tick
	for e := first; e <= last; e++ {
		tick := plot.Tick{Value: e}
		if math.Mod(e, every) == 0 {
			tick.Label = number(math.Pow(10, e))
		}
		ticks = append(ticks, tick)
	}
	return ticks
}

// steps has ticks at some five round numbers.
func steps(low, high float64) []plot.Tick {
	if low > high {
		low, high = high, low
	}
	step := math.Pow(10, math.Floor(math.Log10(high-low)))
	for _, part := range []float64{10, 5, 2} {
		if (high-low)/(step/part) <= 8 {
			step /= part
			break
		}
	}
	var ticks []plot.Tick
	for i := math.Ceil(low / step); i*step <= high; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: number(i * step)})
	}
	return ticks
}

// number writes 3 digits: 0.015, 1e-07, 131k.
func number(v float64) string {
	unit := 0
	if v == 0 {
		v = 0 // no sign
	}
	for ; math.Abs(v) >= 999.5 && unit < 4; unit++ {
		v /= 1000
	}
	return strings.ReplaceAll(strconv.FormatFloat(v, 'g', 3, 64), "e-0", "e-") + []string{"", "k", "M", "G", "T"}[unit]
}
