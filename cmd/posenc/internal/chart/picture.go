package chart

import (
	"bytes"
	"fmt"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-posenc/posenc/cmd/posenc/internal/input"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A chart is 700 x 450 pixels, with its title and labels.
const (
	dpi    = 100
	pixel  = vg.Inch / dpi
	width  = 700 * pixel
	height = 450 * pixel
	margin = 16 * pixel
)

// colours are those of Okabe and Ito, which the colour-blind tell apart, with grey for
// their yellow, which is too light for lines.
var colours = [MaxCurves]color.Color{
	color.RGBA{R: 0x00, G: 0x72, B: 0xb2, A: 0xff},
	color.RGBA{R: 0xd5, G: 0x5e, B: 0x00, A: 0xff},
	color.RGBA{R: 0x00, G: 0x9e, B: 0x73, A: 0xff},
	color.RGBA{R: 0xcc, G: 0x79, B: 0xa7, A: 0xff},
	color.RGBA{R: 0xe6, G: 0x9f, B: 0x00, A: 0xff},
	color.RGBA{R: 0x56, G: 0xb4, B: 0xe9, A: 0xff},
	color.RGBA{R: 0x80, G: 0x80, B: 0x80, A: 0xff},
	color.RGBA{R: 0x00, G: 0x00, B: 0x00, A: 0xff},
}

// IsPicture says whether WritePicture knows the ending of a name.
func IsPicture(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".png" || ext == ".svg"
}

// WritePicture writes charts into one PNG or SVG, by the ending of path, two in a row. They are of
// the same rotations, whose colours are above them.
func WritePicture(path string, charts []Chart) error {
	columns := min(2, len(charts))
	rows := (len(charts) + columns - 1) / columns
	size := vg.Point{X: vg.Length(columns)*width + 2*margin, Y: 0}
	key := newLegend(charts[0].labels(), size.X-2*margin)
	size.Y = vg.Length(rows)*height + 2*margin + key.height()

	var canvas vg.CanvasSizer
	var image *vgimg.Canvas
	var vector *vgsvg.Canvas
	if strings.EqualFold(filepath.Ext(path), ".svg") {
		vector = vgsvg.New(size.X, size.Y)
		canvas = vector
	} else {
		image = vgimg.NewWith(vgimg.UseWH(size.X, size.Y), vgimg.UseDPI(dpi))
		canvas = image
	}
	c := draw.New(canvas)
	c.FillPolygon(color.White, []vg.Point{{}, {X: size.X}, size, {Y: size.Y}})
	c = draw.Crop(c, margin, -margin, margin, -margin)
	key.draw(c)
	c = draw.Crop(c, 0, 0, 0, -key.height())

	tiles := draw.Tiles{Cols: columns, Rows: rows, PadX: 2 * margin, PadY: 2 * margin, PadRight: margin / 2}
	for i := range charts {
		p, err := charts[i].plot()
		if err != nil {
			return fmt.Errorf("chart %s: %w", charts[i].Name, err)
		}
		tile := tiles.At(c, i%columns, i/columns)
		// Charts below one another begin at the same place, with room for labels of 60 pixels.
		indent := 60*pixel - (p.DataCanvas(tile).Min.X - tile.Min.X)
		p.Draw(draw.Crop(tile, max(0, indent), 0, 0, 0))
	}

	var b bytes.Buffer
	var err error
	if vector != nil {
		_, err = vector.WriteTo(&b)
	} else {
		err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, image.Image())
	}
	if err != nil {
		return err
	}
	picture := b.Bytes()
	if vector != nil {
		picture = standalone(picture)
	}
	return input.Plain(path, os.WriteFile(path, picture, 0o666))
}

// standalone corrects what gonum writes into a SVG: images are PNG, and a machine without
// Liberation Sans may have the fonts whose letters are as wide.
func standalone(svg []byte) []byte {
	svg = bytes.ReplaceAll(svg, []byte("data:image/jpg;"), []byte("data:image/png;"))
	return bytes.ReplaceAll(svg, []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;"))
}

// sans is text of some size in points.
func sans(points float64) text.Style {
	style := plot.New().X.Label.TextStyle
	style.Font.Variant = "Sans"
	style.Font.Size = vg.Points(points)
	style.XAlign, style.YAlign = text.XLeft, text.YBottom
	return style
}

// legend names the colours in as many lines as they need.
type legend struct {
	style text.Style
	lines [][]entry
}

type entry struct {
	name   string
	colour color.Color
	x      vg.Length
}

const (
	swatchWidth = 22 * pixel
	lineHeight  = 24 * pixel
)

func newLegend(labels []Label, width vg.Length) *legend {
	l := &legend{style: sans(12), lines: make([][]entry, 1)}
	x := vg.Length(0)
	for i, label := range labels {
		room := swatchWidth + 6*pixel + l.style.Width(label.String())
		if x > 0 && x+room > width {
			l.lines = append(l.lines, nil)
			x = 0
		}
		line := &l.lines[len(l.lines)-1]
		*line = append(*line, entry{label.String(), colours[i], x})
		x += room + 32*pixel
	}
	return l
}

func (l *legend) height() vg.Length { return vg.Length(len(l.lines))*lineHeight + margin }

// draw draws at the top of a canvas.
func (l *legend) draw(c draw.Canvas) {
	y := c.Max.Y
	for _, line := range l.lines {
		y -= lineHeight
		for _, e := range line {
			x := c.Min.X + e.x
			c.FillPolygon(e.colour, box(x, y+6*pixel, x+swatchWidth, y+14*pixel))
			c.FillText(l.style, vg.Point{X: x + swatchWidth + 6*pixel, Y: y + 4*pixel}, e.name)
		}
	}
}

func box(left, bottom, right, top vg.Length) []vg.Point {
	return []vg.Point{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top}}
}
