package multimodal

// ming is the rule of Ming.
func (p *prompt[T]) ming() {
	var base, last float32
	count := 0 // of tokens of text from base on
	for i := range p.runs {
		r := &p.runs[i]
		if r.Kind != Image && r.Kind != Video {
			for range r.Tokens {
				last = base + float32(count)
				x := int64(last)
				p.put(x, x, x)
				count++
			}
			continue
		}
		g := p.grid(r)
		for f := range g.t {
			last = p.model.time(r, f) + float32(count)
			last += base
			for y := range g.h {
				for x := range g.w {
					p.put(int64(last), int64(last+float32(y-(g.h-1)/2)), int64(last+float32(x-(g.w-1)/2)))
				}
			}
		}
		base, count = last+1, 0
	}
	if p.token > 0 {
		p.next = T(int64(last) + 1)
	}
}
