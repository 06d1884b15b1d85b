package ropecheck

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-posenc/posenc"
)

// slip is a known mistake in a rotation, with nothing to fit: what makes y1, y2 of x1, x2.
type slip struct {
	text    string // a sentence
	aspect  Aspect // "": FormulaAspect
	matrix  func(c, s float64) [2][2]float64
	scale   func(t, h int) float64      // of heads, fitted, and
	inexact float64                     // by how much, relative
	cost    float64                     // besides that of a fault
	before  []float64                   // added to heads before the rotation
	after   []float64                   // added behind it
	times   int                         // that it is applied
	cut     bool                        // codes of a cache are cut off, not rounded
	rows    func(t, h, heads int) int32 // positions of heads in place of those of tokens
}

func rotationOf(c, s float64) [2][2]float64 { return [2][2]float64{{c, -s}, {s, c}} }

// slips are the known ones. f is the attention factor.
func slips(f float64) []slip {
	list := []slip{
		{text: "y1 is written over x1 before y2 is computed: y2 = x2*cos + y1*sin.", matrix: func(c, s float64) [2][2]float64 { return [2][2]float64{{c, -s}, {c * s, c - s*s}} }},
		{text: "y2 is written over x2 before y1 is computed: y1 = x1*cos - y2*sin.", matrix: func(c, s float64) [2][2]float64 { return [2][2]float64{{c - s*s, -c * s}, {s, c}} }},
		{text: "The minus of the first sum is left out: y1 = x1*cos + x2*sin.", matrix: func(c, s float64) [2][2]float64 { return [2][2]float64{{c, s}, {s, c}} }},
		{text: "Both sums have a minus: y2 = x2*cos - x1*sin.", matrix: func(c, s float64) [2][2]float64 { return [2][2]float64{{c, -s}, {-s, c}} }},
		{text: "Products with sines are left out: y1 = x1*cos, y2 = x2*cos.", matrix: func(c, s float64) [2][2]float64 { return [2][2]float64{{c, 0}, {0, c}} }},
		{text: "Products with cosines are left out: y1 = -x2*sin, y2 = x1*sin.", matrix: func(c, s float64) [2][2]float64 { return [2][2]float64{{0, -s}, {s, 0}} }},
		{text: "Cosines and sines are exchanged.", matrix: func(c, s float64) [2][2]float64 { return rotationOf(s, c) }},
		{text: "Cosines and sines are exchanged, and the rotation goes the other way.", matrix: func(c, s float64) [2][2]float64 { return rotationOf(s, -c) }},
		{text: "The results are exchanged: y1 = x2*cos + x1*sin, y2 = x1*cos - x2*sin.", matrix: func(c, s float64) [2][2]float64 { return [2][2]float64{{s, c}, {c, -s}} }},
		{text: "The second element of each pair is left as it was: y2 = x2.", matrix: func(c, s float64) [2][2]float64 { return [2][2]float64{{c, -s}, {0, 1}} }},
		{text: "The first element of each pair is left as it was: y1 = x1.", matrix: func(c, s float64) [2][2]float64 { return [2][2]float64{{1, 0}, {s, c}} }},
		{text: "Sines multiply the element itself, not the other one of the pair: y1 = x1*cos - x1*sin, y2 = x2*cos + x2*sin.", matrix: func(c, s float64) [2][2]float64 { return [2][2]float64{{c - s, 0}, {0, c + s}} }},
		{text: "The rotation is added to its input: y1 = x1 + x1*cos - x2*sin.", matrix: func(c, s float64) [2][2]float64 { return [2][2]float64{{1 + c, -s}, {s, 1 + c}} }},
		{text: "Sines are in place of cosines: y1 = x1*sin - x2*sin.", matrix: func(c, s float64) [2][2]float64 { return rotationOf(s, s) }},
		{text: "Cosines are in place of sines: y1 = x1*cos - x2*cos.", matrix: func(c, s float64) [2][2]float64 { return rotationOf(c, c) }},
		{text: "The first result has the other sign: y1 = x2*sin - x1*cos.", matrix: func(c, s float64) [2][2]float64 { return [2][2]float64{{-c, s}, {s, c}} }},
		{text: "The second result has the other sign: y2 = -x2*cos - x1*sin.", matrix: func(c, s float64) [2][2]float64 { return [2][2]float64{{c, -s}, {-s, -c}} }},
		{text: "Both results have the other sign: y1 = x2*sin - x1*cos, y2 = -x2*cos - x1*sin.", matrix: func(c, s float64) [2][2]float64 { return rotationOf(-c, -s) }},
		{text: "Sines have lost their signs: y1 = x1*cos - x2*|sin|.", matrix: func(c, s float64) [2][2]float64 { return rotationOf(c, math.Abs(s)) }},
		{text: "Cosines have lost their signs: y1 = x1*|cos| - x2*sin.", matrix: func(c, s float64) [2][2]float64 { return rotationOf(math.Abs(c), s) }},
		{aspect: TimesAspect, text: "The rotation is applied twice.", times: 2},
		{aspect: TimesAspect, text: "The rotation is applied 3 times.", times: 3},
		{aspect: PositionsAspect, text: "The position of each head is the number of the head, not that of its token.", rows: func(_, h, _ int) int32 { return int32(h) }},
		{aspect: PositionsAspect, text: "The position of each head is the number of the row, tokens times heads.", rows: func(t, h, heads int) int32 { return int32(t*heads + h) }},
	}
	if math.Abs(f-1) > 1e-3 {
		list = append(list,
			slip{text: fmt.Sprintf("The attention factor %s multiplies cosines alone.", number(f)), matrix: func(c, s float64) [2][2]float64 { return rotationOf(c, s/f) }},
			slip{text: fmt.Sprintf("The attention factor %s multiplies sines alone.", number(f)), matrix: func(c, s float64) [2][2]float64 { return rotationOf(c/f, s) }})
	}
	return list
}

// predictor sets what a rotation makes of a head, and how far rounding may take each element from it.
type predictor func(t, h int, want, most []float64)

// predictor is of a spec with exact angles, or with rounded cosines and sines. slip may be nil.
func (c *checker) predictor(s *spec, slip *slip, factor, outside float64, rounded []complex128) predictor {
	heads, pairs := c.data.Heads, s.dim/2
	byHead := slip != nil && slip.rows != nil
	z, one, tokens := rounded, *s, c.all
	if byHead {
		one.positions = make([]int32, c.data.Tokens*heads)
		tokens = make([]int, len(one.positions))
		for i := range tokens {
			tokens[i], one.positions[i] = i, slip.rows(i/heads, i%heads, heads)
		}
	}
	slack := c.slack(&one, tokens)
	if z == nil {
		cos, sin, ok := c.tables(&one, ExactAngles, tokens)
		if !ok {
			return nil
		}
		z = applied(rotations(cos, sin, Float32Tables), s)
	}
	times := 1
	if slip != nil {
		times = max(times, slip.times)
	}
	elements := s.elementsOfPairs()
	head, before := make([]float64, c.data.HeadDim), make([]float64, c.data.HeadDim) // and how far it is off
	return func(t, h int, want, most []float64) {
		factor, outside := factor, outside
		if slip != nil && slip.scale != nil {
			factor, outside = factor*slip.scale(t, h), outside*slip.scale(t, h)
		}
		for e, v := range c.row(c.data.Before, t, h) {
			head[e] = float64(v)
			want[e], most[e] = head[e]*outside, c.floor*math.Abs(head[e]*outside)
			if slip != nil && slip.before != nil {
				head[e] += slip.before[e]
				want[e], most[e] = head[e]*outside, 4*c.floor*(math.Abs(head[e])+math.Abs(slip.before[e]))
			}
		}
		row := t * pairs
		if byHead {
			row = (t*heads + h) * pairs
		}
		for n := range times {
			if n > 0 {
				copy(head, want)
				copy(before, most)
			}
			for i := range elements {
				in, out := elements[i].in, elements[i].out
				w := z[row+i]
				cos, sin := real(w)*factor, imag(w)*factor
				x1, x2 := head[in[0]], head[in[1]]
				m := [2][2]float64{{cos, -sin}, {sin, cos}}
				if slip != nil && slip.matrix != nil {
					m = slip.matrix(cos, sin)
				}
				length := math.Sqrt((x1*x1+x2*x2)*(cos*cos+sin*sin)) + math.Abs(x1) + math.Abs(x2)
				off := (4*c.floor + slack[row+i]) * length
				if slip != nil && slip.before != nil {
					off += 4 * c.floor * (math.Abs(slip.before[in[0]]) + math.Abs(slip.before[in[1]])) * math.Hypot(cos, sin)
				}
				if n > 0 {
					off += (before[in[0]] + before[in[1]]) * math.Hypot(cos, sin)
				}
				want[out[0]], want[out[1]] = m[0][0]*x1+m[0][1]*x2, m[1][0]*x1+m[1][1]*x2
				most[out[0]], most[out[1]] = off, off
			}
		}
		if slip != nil && slip.after != nil {
			for e, b := range slip.after {
				want[e] += b
				most[e] += 4 * c.floor * (math.Abs(b) + math.Abs(want[e]))
			}
		}
		for e := 0; c.bounds != nil && e < len(most); e++ {
			bound := c.bound(t, h, e)
			if most[e] += bound; slip != nil {
				most[e] += slip.inexact * math.Abs(want[e])
			}
			if slip != nil && slip.cut {
				want[e] -= math.Copysign(bound, want[e]) // the middle of what has the code
			}
		}
	}
}

// bound is by how much storing moved an element at most.
func (c *checker) bound(t, h, e int) float64 {
	if c.bounds == nil {
		return 0
	}
	return float64(c.row(c.bounds, t, h)[e])
}

// fits reports whether a prediction holds for all elements of some tokens.
func (c *checker) fits(p predictor, tokens []int) bool {
	want, most := make([]float64, c.data.HeadDim), make([]float64, c.data.HeadDim)
	for _, t := range tokens {
		for h := range c.data.Heads {
			p(t, h, want, most)
			for e, y := range c.row(c.data.After, t, h) {
				if !(math.Abs(float64(y)-want[e]) <= most[e]) {
					return false
				}
			}
		}
	}
	return true
}

func (c *checker) row(x []float32, t, h int) []float32 {
	at := (t*c.data.Heads + h) * c.data.HeadDim
	return x[at : at+c.data.HeadDim]
}

// slipTrials tries the known slips with the candidates.
func (c *checker) slipTrials() {
	for _, s := range c.candidates {
		list := slices.Concat(slips(s.factor), c.ofRows(s), c.biases(s))
		if c.bounds != nil && c.data.Stored.Hadamard == 0 {
			list = append(list, slip{aspect: RoundingAspect, text: "Codes are cut off towards zero, not rounded to the nearest.", cut: true})
		}
		for _, slip := range list {
			if s.isStill() && slip.scale == nil && slip.after == nil && !slip.cut || slip.times == 2 && s.layout <= posenc.Interleaved && s.xpos == nil {
				continue // nothing to get wrong; as in signed
			}
			if slip.rows != nil && (c.data.Heads == 1 || c.axes > 1 || c.data.Tokens*c.data.Heads > 1<<16) {
				continue
			}
			if p := c.predictor(s, &slip, 1, 1, nil); p != nil && c.fits(p, c.some) && c.fits(p, c.all) {
				planted := *s
				c.trials = append(c.trials, &trial{
					spec: &planted, fit: c.heads.fit(s.structure, true), angles: OtherAngles, tables: Float32Tables,
					slip: &slip, factor: 1, residual: c.typical(), explains: true, cost: faultCost + slip.cost,
				})
			}
		}
	}
}

// ofRows are the slips that multiply each head, or each token, by a number of its own, fitted; none
// where all are equal.
func (c *checker) ofRows(s *spec) (list []slip) {
	p := c.predictor(s, nil, 1, 1, nil)
	if p == nil || c.isPart {
		return nil
	}
	d := c.data
	want, most := make([]float64, d.HeadDim), make([]float64, d.HeadDim)
	// What storing does to elements is less in the mean of a row.
	fitted := func(n, others int, row func(i, j int) (t, h int)) []float64 {
		if n < 2 {
			return nil
		}
		least := 4*c.floor + c.coarse/math.Sqrt(float64(others))
		scales := make([]float64, n)
		for i := range scales {
			var xy, xx float64
			for j := range others {
				t, h := row(i, j)
				p(t, h, want, most)
				for e, y := range c.row(d.After, t, h) {
					xy, xx = xy+want[e]*float64(y), xx+want[e]*want[e]
				}
			}
			if scales[i] = 1; xx > 0 {
				scales[i] = xy / xx
			}
		}
		others = 0
		for _, g := range scales {
			if math.Abs(g-1) > least {
				others++
			}
		}
		if others*2 < n || slices.Max(scales)-slices.Min(scales) < 8*least || slices.Contains(scales, 0) {
			return nil
		}
		return scales
	}
	add := func(text string, scales []float64, elements int, of func(t, h int) int) {
		if scales == nil {
			return
		}
		var texts []string
		for _, g := range scales[:min(len(scales), 8)] {
			texts = append(texts, number(roundTo(g, 4)))
		}
		if len(scales) > 8 {
			texts = append(texts, "and so on")
		}
		list = append(list, slip{aspect: ScaleAspect, text: text + strings.Join(texts, ", ") + ".", scale: func(t, h int) float64 { return scales[of(t, h)] }, inexact: 4 * c.typical() / math.Sqrt(float64(elements))})
	}
	add("Each head has a scale of its own: ", fitted(d.Heads, d.Tokens, func(i, j int) (t, h int) { return j, i }), d.Tokens*d.HeadDim, func(_, h int) int { return h })
	add("Each token has a scale of its own, as of queries by their position: ", fitted(d.Tokens, d.Heads, func(i, j int) (t, h int) { return i, j }), d.Heads*d.HeadDim, func(t, _ int) int { return t })
	if n := len(list); d.Stored != nil {
		add("Each head of each token has a scale of its own, so that the scales are not the ones of these codes: ", fitted(d.Tokens*d.Heads, 1, func(i, _ int) (t, h int) { return i / d.Heads, i % d.Heads }), d.HeadDim, func(t, h int) int { return t*d.Heads + h })
		for ; n < len(list); n++ {
			list[n].cost = faultCost / 2.0 // tokens and heads are simpler
		}
	}
	return list
}

// biases are the slips that add a constant vector, fitted, before or after the rotation; none where it is
// zero.
func (c *checker) biases(s *spec) (list []slip) {
	p := c.predictor(s, nil, 1, 1, nil)
	back := *s
	back.inverse = !s.inverse
	cos, sin, ok := c.tables(&back, ExactAngles, c.all)
	if p == nil || !ok || len(c.all) < 3 || s.xpos != nil {
		return nil
	}
	d, pairs := c.data, s.dim/2
	z := applied(rotations(cos, sin, Float32Tables), &back)
	before, after, n := make([]float64, d.HeadDim), make([]float64, d.HeadDim), 0.0
	want, most := make([]float64, d.HeadDim), make([]float64, d.HeadDim)
	slack := c.slack(s, c.all)
	for _, t := range c.all {
		// Far tokens have angles that are less certain.
		off := c.floor + slices.Max(slack[t*pairs:][:pairs])
		weight := c.floor * c.floor / (off * off)
		for h := range d.Heads {
			p(t, h, want, most)
			x, y := c.row(d.Before, t, h), c.row(d.After, t, h)
			n += weight
			for e := range want {
				after[e] += weight * (float64(y[e]) - want[e])
				if e < s.offset || e >= s.end() {
					before[e] += weight * (float64(y[e]) - float64(x[e]))
				}
			}
			for i := range pairs {
				in, out := s.pair(i)
				w := z[t*pairs+i] / complex(s.factor*s.factor, 0) * complex(float64(y[out[0]]), float64(y[out[1]]))
				before[in[0]] += weight * (real(w) - float64(x[in[0]]))
				before[in[1]] += weight * (imag(w) - float64(x[in[1]]))
			}
		}
	}
	size := func(v []float64) float64 {
		sum := 0.0
		for e := range v {
			v[e] /= n
			sum += v[e] * v[e]
		}
		return math.Sqrt(sum / float64(len(v)))
	}
	typical := math.Sqrt(c.heads.energy / float64(len(d.After)))
	a, b := size(after), size(before)
	if min(a, b) < 4*c.limit()*typical {
		return nil
	}
	return []slip{
		{aspect: ScaleAspect, text: fmt.Sprintf("The same vector is added to every head after the rotation, a bias of root mean square %s.", number(roundTo(a, 3))), after: after},
		{aspect: ScaleAspect, text: fmt.Sprintf("The same vector is added to every head before the rotation, a bias of root mean square %s.", number(roundTo(b, 3))), before: before},
	}
}

// isPlain reports whether a trial is a rotation without a slip, crossed tables or wrong parts.
func (t *trial) isPlain() bool { return t.fit != nil && !t.crossed && t.slip == nil && t.parts == nil }

var otherLayout = map[posenc.Layout]posenc.Layout{posenc.HalfSplit: posenc.Interleaved, posenc.Interleaved: posenc.HalfSplit}

// blockTrials tries that heads were rotated as if they were others, of half or twice their elements.
func (c *checker) blockTrials() {
	d := c.data
	for _, s := range c.candidates {
		if !s.geometric() || s.dim != d.HeadDim || s.layout > posenc.Interleaved || c.isPart {
			continue
		}
		for _, dim := range [...]int{d.HeadDim / 2, d.HeadDim * 2} {
			if dim%2 != 0 || d.Heads*d.HeadDim%dim != 0 || d.Heads*d.HeadDim < dim {
				continue
			}
			data := *d
			data.Heads, data.HeadDim = d.Heads*d.HeadDim/dim, dim
			block := *s
			block.dim, block.invFreq, block.axes = dim, geometric(dim, s.base, 1), nil
			if s.axes != nil {
				continue
			}
			of := &checker{data: &data, axes: c.axes, kind: c.kind, floor: c.floor, bounds: c.bounds, known: c.known, all: c.all}
			if p := of.predictor(&block, nil, 1, 1, nil); p != nil && of.fits(p, c.some) && of.fits(p, c.all) {
				text := fmt.Sprintf("Heads are rotated as if they were heads of %d elements.", dim)
				c.trials = append(c.trials, &trial{
					spec: s, fit: c.heads.fit(s.structure, true), angles: OtherAngles, tables: Float32Tables,
					slip: &slip{text: text, aspect: LayoutAspect}, factor: 1, residual: c.typical(), explains: true, cost: faultCost,
				})
			}
		}
	}
}
