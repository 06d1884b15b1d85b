package multimodal

import "math"

// crop is an image, or a slice of one, among the runs of MiniCPM-V 4.7.
type crop struct {
	run   int // its index
	token int // its first token
}

func (p *prompt[T]) nextCrop(c crop) (crop, bool) {
	for ; c.run < len(p.runs); c.run++ {
		if r := &p.runs[c.run]; r.Kind == Image || r.Kind == Video {
			return c, true
		}
		c.token += p.runs[c.run].Tokens
	}
	return c, false
}

func (p *prompt[T]) end(c crop) crop { return crop{c.run + 1, c.token + p.runs[c.run].Tokens} }

// isSlice reports whether a crop belongs to the frame before.
func (p *prompt[T]) isSlice(c crop) bool { return p.runs[c.run-1].Kind == SliceStart }

func (p *prompt[T]) markersEnd(c crop) int {
	for ; c.run < len(p.runs); c.run++ {
		r := &p.runs[c.run]
		if r.Tokens > 0 && r.Kind != Marker && r.Kind != SliceStart {
			break
		}
		c.token += r.Tokens
	}
	return c.token
}

func (p *prompt[T]) checkCanvas(i int) *fault {
	r := &p.runs[i]
	switch {
	case r.Kind != Image && r.Kind != Video:
		return nil
	case i == 0 || p.runs[i-1].Kind != Marker && p.runs[i-1].Kind != SliceStart:
		return shapeFault(".Kind", r.Kind, "a run of kind Marker or SliceStart before it")
	case p.runs[i-1].Kind == Marker:
		return nil
	}
	for before := i - 1; before >= 0; before-- {
		switch b := &p.runs[before]; {
		case b.Kind == r.Kind:
			return nil
		case b.Kind == Image || b.Kind == Video:
			return shapeFault(".Kind", r.Kind, "%v, the kind of the run that the slice belongs to", b.Kind)
		case b.Kind == Text && b.Tokens > 0:
			return shapeFault(".Kind", r.Kind, "no slice after text")
		}
	}
	return shapeFault(".Kind", r.Kind, "no slice before any image")
}

func (p *prompt[T]) canvases() {
	var position int64
	tokens := p.tokens()
	for c, found := p.nextCrop(crop{}); found; {
		position = p.text(position, c.token-1-p.token)
		position, c, found = p.canvas(position, c)
	}
	p.text(position, tokens-p.token)
	p.next = T(p.largest + 1)
}

// canvas gives the tokens of an image or frame, of its slices and of the markers around
// them their positions. It returns the next position and the next image.
//
// The slices tile a canvas whose origin is the given position. Time is the origin. A marker
// that begins a slice is at its first row and column; one that ends it is at its last row and
// column. Other tokens between two slices end a row of slices: they are at its last row, to
// the right of the canvas.
func (p *prompt[T]) canvas(origin int64, overview crop) (next int64, after crop, found bool) {
	kept := p.grid(&p.runs[overview.run])
	height, width := int64(kept.h), int64(kept.w)
	slices, columns := 0, 0
	var first merged // slice
	lastEnd := p.end(overview)
	for after, found = p.nextCrop(lastEnd); found && p.isSlice(after); after, found = p.nextCrop(lastEnd) {
		if slices == 0 {
			first = p.grid(&p.runs[after.run])
		} else if columns == 0 && after.token-lastEnd.token > 2 {
			columns = slices
		}
		slices++
		lastEnd = p.end(after)
	}
	if slices > 0 {
		if columns == 0 || slices%columns != 0 {
			columns = slices
		}
		height, width = int64(slices/columns)*int64(first.h), int64(columns)*int64(first.w)
	}
	end := p.markersEnd(lastEnd)
	if found {
		end = min(end, after.token-1)
	}

	halo := max(origin-1, 0)
	put(p, origin, halo, halo)
	for y := range kept.h {
		for x := range kept.w {
			put(p, origin, origin+stretched(y, kept.h, height), origin+stretched(x, kept.w, width))
		}
	}
	cornerY, cornerX := origin+height, origin+width // of the marker that comes next
	betweenY, betweenX := origin, origin            // of those that come after it
	c := p.end(overview)
	for k := range slices {
		row, column := int64(k/columns), int64(k%columns)
		top, left := origin+row*int64(first.h), origin+column*int64(first.w)
		c, _ = p.nextCrop(c)
		for p.token < c.token-1 {
			put(p, origin, cornerY, cornerX)
			cornerY, cornerX = betweenY, betweenX
		}
		put(p, origin, top, left)
		g := p.grid(&p.runs[c.run])
		p.frame(origin, top, left, g)
		cornerY, cornerX = top+int64(g.h)-1, left+int64(g.w)-1
		betweenY, betweenX = origin+(row+1)*int64(first.h)-1, origin+width
		c = p.end(c)
	}
	for p.token < end {
		put(p, origin, cornerY, cornerX)
		cornerY, cornerX = origin, origin
	}
	return origin + max(height, width) + 1, after, found
}

// stretched is round(linspace(0, length-1, n))[i] in float32, from both ends to the middle.
func stretched(i, n int, length int64) int64 {
	if n == 1 {
		return 0
	}
	last := float32(length - 1)
	step := last / float32(n-1)
	x := float32(step * float32(i))
	if i >= n/2 {
		x = last - float32(step*float32(n-1-i))
	}
	return int64(math.RoundToEven(float64(x)))
}
