package multimodal

import (
	"fmt"
	"math"
	"strconv"

	"github.com/go-posenc/posenc/internal/argument"
)

// Next says where decoding goes on after a prompt, in the two ways that are in use. They differ
// after a video with more frames than rows and columns (see Model.AfterLargest), and where a
// prompt ends with an image.
type Next[T int32 | float32] struct {
	// Axes has the position of the first token to decode on each of the Model.Axes() axes: one
	// more than the last token of the prompt has. Each further token is at 1 more on every axis.
	// After text the positions on all axes are equal; where a prompt ends with an image they differ,
	// and take posenc.Rotary.AtAxes.
	// generate() of transformers 5.23 does this, in every family but Ming.
	Axes [4]T

	// AfterLargest is the largest position of the prompt + 1, on all axes: the number of its
	// tokens + rope_deltas. vLLM, SGLang and Ming's own code go on here, and so does the
	// forward of transformers without position_ids, also generate() before 5.3.
	AfterLargest T
}

// Positions writes the positions of the tokens of runs, one run after another. dst is
// [axes][tokens], as posenc.Rotary.AtAxes takes it, with m.Axes() axes: time, height and width.
// [Family] has the equations.
//
// runs are the whole prompt, from position 0 on. When a prompt grows, for example by another
// image, compute all of it again; the positions of earlier tokens do not change. A fraction, in
// Qwen3Omni, is an error.
func (m Model) Positions(dst []int32, runs []Run) (next Next[int32], err error) {
	return positions(m, "multimodal.Model.Positions", dst, runs)
}

// FractionalPositions is [Model.Positions] in float32, for posenc.Rotary.AtFractionalAxes.
// Qwen3Omni needs it: times of a video may be fractions there, and so may all positions after
// the video. In the other families it writes the same integers as Positions. A position
// beyond 2^24 in magnitude, up to which float32 holds every integer, is an error.
//
// During decoding, add 1, 2, ... to next. Where rope_deltas are added to indices in float32
// instead, positions that are fractions may differ in the last bit.
func (m Model) FractionalPositions(dst []float32, runs []Run) (next Next[float32], err error) {
	return positions(m, "multimodal.Model.FractionalPositions", dst, runs)
}

func positions[T int32 | float32](m Model, function string, dst []T, runs []Run) (next Next[T], err error) {
	if err := m.check(function); err != nil {
		return next, err
	}
	p := prompt[T]{model: m, runs: runs, function: function, name: argument.Named("runs")}
	tokens, err := p.check()
	if err != nil {
		return next, err
	}
	if want, ok := argument.Multiply(m.Axes(), tokens); !ok || len(dst) != want {
		return next, argument.Error(argument.ErrLength, function, "dst", argument.Elements(len(dst)), "%d*%d, for [axes][tokens]", m.Axes(), tokens)
	}
	if _, err := p.measure(); err != nil {
		return next, err
	}
	p.dst, p.stride = dst, tokens
	p.write()
	return p.goesOn(tokens), nil
}

// BatchOptions says how the prompts of a batch are padded.
type BatchOptions struct {
	Length  int  // tokens of each prompt with its padding
	PadLeft bool // padding comes before the prompts, not after them
}

// BatchPositions writes the positions of several prompts that are padded to one length. dst is
// [axes][prompts][Length], for one call of posenc.Rotary.AtAxes over all tokens. Padding is at
// position 0. If next is not empty, it gets where decoding goes on after each prompt. Each
// prompt has the same positions as in [Model.Positions], with one exception: HunYuanVL counts
// images through the whole batch, as transformers does. A prompt that is longer than Length is
// posenc.ErrShape. dst and next must not share memory.
func (m Model) BatchPositions(dst []int32, next []Next[int32], prompts [][]Run, options BatchOptions) error {
	const function = "multimodal.Model.BatchPositions"
	if err := m.check(function); err != nil {
		return err
	}
	if options.Length < 0 {
		return argument.Error(argument.ErrConfig, function, "options.Length", options.Length, "at least 0")
	}
	row, ok := argument.Multiply(len(prompts), options.Length)
	all, ok2 := argument.Multiply(row, m.Axes())
	switch {
	case !ok || !ok2 || len(dst) != all:
		return argument.Error(argument.ErrLength, function, "dst", argument.Elements(len(dst)), "%d*%d*%d, for [axes][prompts][Length]", m.Axes(), len(prompts), options.Length)
	case len(next) != 0 && len(next) != len(prompts):
		return argument.Error(argument.ErrLength, function, "next", argument.Elements(len(next)), "0 or %d, one for each prompt", len(prompts))
	case argument.Overlap(dst, next):
		return argument.Error(argument.ErrOverlap, function, "dst", "sharing elements with next", "another slice")
	}
	images := 0
	for b, runs := range prompts {
		p := prompt[int32]{model: m, runs: runs, images: images, function: function, name: argument.Name{Text: "prompts[]", Index: b}}
		tokens, err := p.check()
		if err != nil {
			return err
		}
		if tokens > options.Length {
			return argument.Error(argument.ErrShape, function, p.name.String(), strconv.Itoa(tokens)+" tokens", "at most options.Length = %d", options.Length)
		}
		if images, err = p.measure(); err != nil {
			return err
		}
	}
	clear(dst)
	images = 0
	for b, runs := range prompts {
		p := prompt[int32]{model: m, runs: runs, images: images, stride: row}
		start := b * options.Length
		if options.PadLeft {
			start += options.Length - p.tokens()
		}
		p.dst = dst[start:]
		p.write()
		if len(next) != 0 {
			next[b] = p.goesOn(p.token)
		}
		images = p.images
	}
	return nil
}

// prompt gives token t position dst[a*stride+t] on axis a. Without dst, nothing is written.
type prompt[T int32 | float32] struct {
	model  Model
	runs   []Run
	dst    []T
	stride int
	images int // images so far, in HunYuanVL

	function string // for errors, with the name of the prompt
	name     argument.Name

	token    int     // tokens that have positions
	largest  float64 // of their positions; no negative one of Ming is larger in magnitude
	fraction float64 // a position that is not an integer, or 0
	last     float32 // the largest position of tokens that belong together
	next     T
}

func (p *prompt[T]) tokens() (n int) {
	for i := range p.runs {
		n += p.runs[i].Tokens
	}
	return n
}

func (p *prompt[T]) goesOn(tokens int) Next[T] {
	next := Next[T]{AfterLargest: p.next}
	for axis := range p.model.Axes() {
		if tokens > 0 {
			next.Axes[axis] = p.dst[axis*p.stride+tokens-1] + 1
		}
	}
	return next
}

func (p *prompt[T]) check() (tokens int, err error) {
	for i := range p.runs {
		f := p.model.checkRun(&p.runs[i])
		if f == nil && p.runs[i].Tokens > math.MaxInt32-tokens {
			f = shapeFault(".Tokens", p.runs[i].Tokens, "fewer than 2^31 together with the %d of the runs before", tokens)
		}
		if f == nil && p.model.Family == MiniCPMV47 {
			f = p.checkCanvas(i)
		}
		if f != nil {
			return 0, f.of(p.function, argument.Indexed(p.name.String(), i))
		}
		tokens += p.runs[i].Tokens
	}
	return tokens, nil
}

// measure computes positions without writing, and returns an error if one does not fit T.
// images is the number of images of this prompt and those before.
func (p *prompt[T]) measure() (images int, err error) {
	measured := *p
	measured.write()
	_, integers := any(p.next).(int32)
	limit := float64(math.MaxInt32 - 1) // so that next is one too
	if !integers || rules[p.model.Family].floating {
		limit = 1 << 24
	}
	if measured.largest > limit {
		return 0, p.positionError(strconv.FormatFloat(measured.largest, 'f', -1, 64), fmt.Sprintf("at most %.0f in magnitude", limit))
	}
	if integers && p.model.Family == Qwen3Omni && measured.fraction != 0 {
		return 0, p.positionError(strconv.FormatFloat(measured.fraction, 'f', -1, 32), "an integer; FractionalPositions writes fractions")
	}
	return measured.images, nil
}

func (p *prompt[T]) positionError(position, expected string) error {
	return argument.Error(argument.ErrPosition, p.function, "a position of "+p.name.String(), position, "%s", expected)
}

func (p *prompt[T]) write() {
	p.largest = -1 // so that without tokens next is 0
	switch p.model.Family {
	case HunYuanVL:
		p.hunYuan()
	case MiniCPMV47:
		p.canvases()
	case Qwen3Omni:
		p.qwen3Omni()
	case Ming:
		p.ming()
	default:
		p.grids()
	}
}

func (p *prompt[T]) grid(r *Run) merged {
	return merged{r.Grid.T / p.model.temporalMergeSize(r.Kind), r.Grid.H / p.model.MergeSize, r.Grid.W / p.model.MergeSize}
}

// place gives the next token its position on each axis.
func (p *prompt[T]) place(positions ...float64) {
	for axis, position := range positions {
		if p.dst != nil {
			p.dst[axis*p.stride+p.token] = T(position)
		}
		p.largest = max(p.largest, position)
		if position != math.Trunc(position) {
			p.fraction = position
		}
	}
	p.token++
}

func put[T int32 | float32, P int64 | float32](p *prompt[T], t, h, w P) {
	p.place(float64(t), float64(h), float64(w))
}

// text gives the next n tokens the positions from start on, and returns the one after.
func (p *prompt[T]) text(start int64, n int) int64 {
	for range n {
		put(p, start, start, start)
		start++
	}
	return start
}

func (p *prompt[T]) frame(time, top, left int64, g merged) {
	for y := range int64(g.h) {
		for x := range int64(g.w) {
			put(p, time, top+y, left+x)
		}
	}
}

// grids is the rule of Qwen2VL, Qwen25VL, Qwen3VL, Ernie45VL and Qwen25Omni.
func (p *prompt[T]) grids() {
	var start int64
	for i := range p.runs {
		r := &p.runs[i]
		switch r.Kind {
		case Image, Video:
			g, last := p.grid(r), int64(0)
			for f := range g.t {
				last = p.model.wholeTime(r, f)
				p.frame(start+last, start, start, g)
			}
			beyond := int64(max(g.h, g.w))
			if p.model.AfterLargest || p.model.Family == Qwen25Omni {
				beyond = max(beyond, last+1)
			}
			start += beyond
		case VideoAndAudio:
			put(p, start, start, start)
			put(p, start, start, start)
			start = p.chunks(start+1, r)
			put(p, start, start, start)
			put(p, start, start, start)
			start++
		default:
			start = p.text(start, r.Tokens)
		}
	}
	p.next = T(p.largest + 1)
}

// wholeTime is time, truncated.
func (m *Model) wholeTime(r *Run, frame int) int64 {
	switch {
	case m.Family == Qwen25Omni:
		return int64(m.time(r, frame))
	case m.Family == Qwen25VL && r.Kind == Video:
		interval := m.PositionsPerSecond * r.SecondsPerGrid
		return int64(float32(frame) * interval)
	}
	return int64(frame)
}

func (p *prompt[T]) hunYuan() {
	axes := p.model.HunYuanAxes
	for i := range p.runs {
		r := &p.runs[i]
		for n := range r.Tokens {
			t := float64(p.token)
			positions := [4]float64{t, t, t, t}
			if r.Kind == Image {
				g, inside := p.grid(r), n
				if r.Tokens != g.h*(g.w+1) {
					inside-- // a token more at both ends
				}
				if inside >= 0 && inside < g.h*(g.w+1) {
					x, y := inside%(g.w+1), inside/(g.w+1)
					copy(positions[axes-3:], []float64{float64(x), float64(y), float64(p.images)})
				}
			}
			p.place(positions[:axes]...)
		}
		if r.Kind == Image {
			p.images++
		}
	}
	p.next = T(p.largest + 1)
}
