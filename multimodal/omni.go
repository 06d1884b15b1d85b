package multimodal

// time returns how many positions after the beginning of a video a frame is.
func (m *Model) time(r *Run, frame int) float32 {
	if r.Kind == Image {
		return 0
	}
	return float32(float32(float32(frame)*r.SecondsPerGrid) * m.perSecond())
}

// chunks gives a chunk of video and a chunk of sound positions in turn. Chunk k ends before the first token
// at or beyond PositionsPerChunk*(k+1), but has at least one token.
func (p *prompt[T]) chunks(start int64, r *Run) (next int64) {
	g := p.grid(r)
	frame := g.h * g.w
	videoTime := func(token int) int64 { return p.model.wholeTime(r, token/frame) }
	video, audio, end := 0, 0, int64(0)
	for video < g.t*frame || audio < r.AudioTokens {
		end += int64(p.model.PositionsPerChunk)
		for first := video; video < g.t*frame && (video == first || videoTime(video) < end); video++ {
			t, y, x := start+videoTime(video), start+int64(video/g.w%g.h), start+int64(video%g.w)
			put(p, t, y, x)
			next = max(t, y, x) + 1 // the last token of a video has its largest
		}
		for first := audio; audio < r.AudioTokens && (audio == first || int64(audio) < end); audio++ {
			t := start + int64(audio)
			put(p, t, t, t)
			next = t + 1
		}
	}
	return next
}

// qwen3Omni gives positions by the rule Qwen3Omni. A text token is at base+count. The last
// text token before an image or a sound marks its beginning, and the first one after it its end.
// If positions are fractions, each of these sums rounds.
func (p *prompt[T]) qwen3Omni() {
	var base float32
	count, ending := 0, false
	for i := range p.runs {
		r := &p.runs[i]
		start := base
		switch {
		case r.Kind == VideoAndAudio:
			start += float32(count)
		case count > 0:
			start += float32(count - 1)
			start++
		}
		switch r.Kind {
		case Image, Video:
			p.timedFrames(start, r, 0, r.Tokens)
			base, count, ending = p.last+1, 0, true
		case Audio:
			p.sound(start, 0, r.Tokens)
			base, count, ending = p.last+1, 0, true
		case VideoAndAudio:
			p.sound(start, 0, 2)
			p.merge(start+2, r)
			base = p.last + 1
			p.sound(base, 0, 2)
			base++
			base++
			count, ending = 0, false
		default:
			for range r.Tokens {
				p.sound(base, count, count+1)
				count++
				if ending {
					base++
					count, ending = 0, false
				}
			}
		}
	}
	p.next = T(float32(p.largest) + 1)
}

// sound gives tokens first to end-1 of a sound or a text positions, and sets p.last to the largest.
func (p *prompt[T]) sound(start float32, first, end int) {
	for i := first; i < end; i++ {
		x := start + float32(i)
		put(p, x, x, x)
		p.last = x
	}
}

// timedFrames is sound for a video or an image.
func (p *prompt[T]) timedFrames(start float32, r *Run, first, end int) {
	g := p.grid(r)
	for i := first; i < end; i++ {
		t, h, w := start+p.model.time(r, i/(g.h*g.w)), start+float32(i/g.w%g.h), start+float32(i%g.w)
		put(p, t, h, w)
		p.last = max(t, h, w) // the last token of a video has its largest
	}
}

// merge orders the tokens of a video and its sound by time. It sets p.last to the largest position of the
// tokens that remain when one of the two has ended.
func (p *prompt[T]) merge(start float32, r *Run) {
	g := p.grid(r)
	video, audio, tokens := 0, 0, g.t*g.h*g.w
	for video < tokens && audio < r.AudioTokens {
		if start+p.model.time(r, video/(g.h*g.w)) <= start+float32(audio) {
			p.timedFrames(start, r, video, video+1)
			video++
		} else {
			p.sound(start, audio, audio+1)
			audio++
		}
	}
	p.timedFrames(start, r, video, tokens)
	p.sound(start, audio, r.AudioTokens)
}

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
				put(p, x, x, x)
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
					put(p, int64(last), int64(last+float32(y-(g.h-1)/2)), int64(last+float32(x-(g.w-1)/2)))
				}
			}
		}
		base, count = last+1, 0
	}
	if p.token > 0 {
		p.next = T(int64(last) + 1)
	}
}
