// Command pictures draws the diagrams of the documents, and the errors that quantized.md has, as SVG:
//
//	go run -C docs/pictures .
//
// The other charts are drawn by posenc plot and by bench.
package main

import (
	"fmt"
	"html"
	"log"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// diagrams has a function for each file.
var diagrams = map[string]func() string{
	"view.svg":   view,
	"pairs.svg":  pairs,
	"paged.svg":  paged,
	"step.svg":   step,
	"errors.svg": cacheErrors,
}

func main() {
	for name, draw := range diagrams {
		if err := os.WriteFile(name, []byte(draw()), 0o666); err != nil {
			log.Fatal(err)
		}
	}
}

// Colours: fills that black text can be read on, and one for lines.
const (
	blue, orange, green, pink = "#b3d4ea", "#f6cf9e", "#a9dcc6", "#ecc6dc"
	grey, white, ink          = "#e4e4e4", "#ffffff", "#404040"
)

// drawing is the inside of an SVG. All numbers are pixels.
type drawing struct{ strings.Builder }

// svg returns a whole picture; title is read to those who do not see it.
func (d *drawing) svg(width, height int, title string) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" font-family="Helvetica, Arial, sans-serif" font-size="14">
<title>%s</title>
<defs><marker id="head" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" fill="%s"/></marker></defs>
<rect width="%d" height="%d" fill="%s"/>
%s</svg>
`, width, height, width, height, html.EscapeString(title), ink, width, height, white, d.String())
}

// box draws a rectangle with a text in its middle.
func (d *drawing) box(x, y, width, height int, fill, text string) {
	fmt.Fprintf(d, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s" stroke="%s"/>`+"\n", x, y, width, height, fill, ink)
	d.text(x+width/2, y+height/2+5, "middle", text)
}

// text writes at a base line; anchor is start, middle or end.
func (d *drawing) text(x, y int, anchor, text string) {
	if text != "" {
		fmt.Fprintf(d, `<text x="%d" y="%d" text-anchor="%s">%s</text>`+"\n", x, y, anchor, html.EscapeString(text))
	}
}

// code writes in a font of fixed width.
func (d *drawing) code(x, y int, text string) {
	fmt.Fprintf(d, `<text x="%d" y="%d" font-family="Menlo, Consolas, monospace" font-size="13">%s</text>`+"\n", x, y, html.EscapeString(text))
}

// path draws a line with 0 to 2 arrow heads: 1 at its end, 2 at both ends.
func (d *drawing) path(heads int, format string, numbers ...any) {
	markers := [3]string{"", ` marker-end="url(#head)"`, ` marker-end="url(#head)" marker-start="url(#head)"`}
	fmt.Fprintf(d, `<path d="%s" fill="none" stroke="%s" stroke-width="1.5"%s/>`+"\n", fmt.Sprintf(format, numbers...), ink, markers[heads])
}

func (d *drawing) dot(x, y int, fill string) {
	fmt.Fprintf(d, `<circle cx="%d" cy="%d" r="6" fill="%s" stroke="%s"/>`+"\n", x, y, fill, ink)
}

// stride draws a distance from x1 to x2 with its name above.
func (d *drawing) stride(x1, x2, y int, name string) {
	d.path(2, "M%d %dH%d", x1, y, x2)
	d.text((x1+x2)/2, y-10, "middle", name)
}

// view draws two tokens of two heads of D elements in three layouts of memory.
func view() string {
	const left, cell, height = 30, 90, 30
	var d drawing
	layout := func(y int, title, code string, cells []string, token, head int) {
		d.text(left, y, "start", title)
		d.code(left+270, y, code)
		d.stride(left, left+head*cell, y+37, "HeadStride")
		for i, name := range cells {
			fill := map[byte]string{'0': blue, '1': orange}[name[len(name)-1]]
			if fill == "" {
				fill = grey
			}
			d.box(left+i*cell, y+50, cell, height, fill, name)
		}
		d.path(2, "M%d %dH%d", left, y+94, left+token*cell)
		d.text(left+token*cell/2, y+116, "middle", "TokenStride")
	}
	layout(30, "[tokens][heads][dim]", "View{Data: x, Heads: 2}", []string{"t 0, head 0", "t 0, head 1", "t 1, head 0", "t 1, head 1"}, 2, 1)
	layout(190, "[heads][tokens][dim]", "View{Data: x, Heads: 2, TokenStride: D, HeadStride: 2*D}", []string{"t 0, head 0", "t 1, head 0", "t 0, head 1", "t 1, head 1"}, 1, 2)
	layout(350, "Q, K and V of a token side by side", "View{Data: qkv, Heads: 2, TokenStride: 4*D}", []string{"Q, head 0", "Q, head 1", "K", "V", "Q, head 0", "Q, head 1", "K", "V"}, 4, 1)
	d.text(left+2*cell, 350+140, "middle", "token 0")
	d.text(left+6*cell, 350+140, "middle", "token 1")
	return d.svg(2*left+8*cell, 510, "Two tokens of two heads in three layouts of memory, with the distance of heads and of tokens")
}

// pairs draws which elements of a head of 8 rotate together.
func pairs() string {
	const left, cell, height = 30, 64, 34
	fills := [4]string{blue, orange, green, pink}
	var d drawing
	layout := func(y, room int, name, says string, pairOf func(element int) int) {
		d.text(left, y, "start", name+": "+says)
		y += room
		first := map[int]int{}
		for i := range 8 {
			pair := pairOf(i)
			d.box(left+i*cell, y, cell, height, fills[pair], fmt.Sprint("x[", i, "]"))
			from, seen := first[pair]
			if !seen {
				first[pair] = i
				continue
			}
			rise := 24 + 12*(i-from-1)
			a, b := left+from*cell+cell/2, left+i*cell+cell/2
			d.path(0, "M%d %dC%d %d %d %d %d %d", a, y, a, y-rise, b, y-rise, b, y)
		}
	}
	layout(30, 70, "HalfSplit", "element i with i + D/2", func(i int) int { return i % 4 })
	layout(176, 40, "Interleaved", "element 2i with 2i + 1", func(i int) int { return i / 2 })
	y := 290
	d.text(left, y+5, "start", "frequency of the pair:")
	for pair, fill := range fills {
		d.box(left+180+pair*90, y-14, 70, 28, fill, fmt.Sprint("w[", pair, "]"))
	}
	return d.svg(2*left+8*cell, 326, "Pairs of a head of 8 elements in both layouts, with the frequency of each pair")
}

// paged draws keys of five tokens on their way into a cache of three pages of four tokens.
func paged() string {
	const left, cell, height = 110, 60, 34
	slots := []int{2, 3, 8, 9, -1}
	var d drawing
	d.text(left-14, 62, "end", "rotated keys")
	d.text(left-14, 112, "end", "slots")
	for t, slot := range slots {
		x := left + 2*cell + t*(cell+30)
		d.box(x, 40, cell, height, blue, fmt.Sprint("t ", t))
		d.text(x+cell/2, 112, "middle", fmt.Sprint(slot))
		if slot < 0 {
			d.text(x+cell+14, 112, "start", "dropped")
			continue
		}
		d.path(1, "M%d 122L%d 198", x+cell/2, left+slot*cell+slot/4*20+cell/2)
	}
	d.text(left-14, 222, "end", "cache")
	for slot := range 12 {
		fill := white
		for _, s := range slots {
			if s == slot {
				fill = blue
			}
		}
		x := left + slot*cell + slot/4*20
		d.box(x, 200, cell, height, fill, fmt.Sprint(slot))
		if slot%4 == 0 {
			d.text(x+2*cell, 256, "middle", fmt.Sprint("page ", slot/4))
		}
	}
	d.code(left, 292, "slots[t] = page*4 + token of the page")
	return d.svg(left+12*cell+2*20+30, 312, "Keys of five tokens go to the slots of a cache of three pages; a negative slot drops a token")
}

// step draws the calls of a step.
func step() string {
	var d drawing
	d.box(30, 130, 130, 40, white, "positions")
	d.path(1, "M160 150H216")
	d.box(220, 60, 190, 180, green, "")
	d.text(315, 84, "middle", "rows: cos and sin")
	d.text(315, 104, "middle", "of each token")
	for i := range 4 {
		d.box(245, 116+28*i, 140, 28, white, fmt.Sprint("token ", i))
	}
	d.code(220, 268, "rope.Rows(positions)")
	d.text(220, 290, "start", "once a step; the next step:")
	d.code(220, 312, "rows.Refill(positions)")
	for i, name := range []string{"layer 0", "layer 1", "layer 2: does not rotate", "layer 3"} {
		y := 30 + 68*i
		fill, call := orange, fmt.Sprintf("posenc.Rotate(rows.Layer(%d), q, k)", i)
		if i == 2 {
			fill = grey
		}
		d.path(1, "M410 150C460 150 450 %d 496 %d", y+26, y+26)
		d.box(500, y, 330, 52, fill, "")
		d.text(514, y+21, "start", name)
		d.code(514, y+41, call)
	}
	return d.svg(860, 334, "In a step the rows of cosines and sines are made once, and each layer rotates q and k by its own")
}

// cacheErrors draws the errors of outputs in quantized.md against the bits that a number takes.
func cacheErrors() string {
	const left, top, width, height = 100, 50, 700, 400
	text, err := os.ReadFile("../quantized.md")
	if err != nil {
		log.Fatal(err)
	}
	var d drawing
	x := func(bits float64) int { return left + int((bits-4)/(9-4)*width) }
	y := func(percent float64) int { return top + int(math.Log(128/percent)/math.Log(128/0.5)*height) }
	for bits := 4.0; bits <= 9; bits++ {
		d.path(0, "M%d %dV%d", x(bits), top+height, top+height+6)
		d.text(x(bits), top+height+24, "middle", fmt.Sprint(bits))
	}
	for percent := 0.5; percent <= 128; percent *= 2 {
		d.path(0, "M%d %dH%d", left-6, y(percent), left)
		d.text(left-10, y(percent)+5, "end", fmt.Sprint(percent, " %"))
	}
	d.path(0, "M%d %dV%dH%d", left, top, top+height, left+width)
	d.text(left+width/2, top+height+48, "middle", "bits a number")
	d.text(left, 24, "start", "error of the outputs: the orange end without a transform of the keys, the blue end with one")
	row := regexp.MustCompile(`(?m)^ *(\S.*?)  +([\d.]+)  +[\d.]+ %  +[\d.]+ %  +([\d.]+) %  +([\d.]+) %$`)
	taken := map[int]bool{}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		var numbers [3]float64
		for i, s := range m[2:] {
			if numbers[i], err = strconv.ParseFloat(s, 64); err != nil {
				log.Fatal(err)
			}
		}
		at, plain, transformed := x(numbers[0]), y(numbers[1]), y(numbers[2])
		side, anchor := 10, "start"
		if taken[at] { // by another format
			side, anchor, at = -10, "end", at-8
		}
		taken[at] = true
		d.path(0, "M%d %dV%d", at, plain, transformed)
		d.dot(at, plain, orange)
		d.dot(at, transformed, blue)
		d.text(at+side, transformed+5, anchor, m[1])
	}
	return d.svg(left+width+130, top+height+70, "Error of the outputs of attention against bits a number, for each format, without and with a Hadamard transform of the keys")
}
