package ropecheck

import (
	"fmt"
	"math"
	"slices"
)

// Of larger data at known positions a sample is searched, and all elements are compared with what it
// finds. Positions that are not known are solved for in all of them.
const (
	largeElements = 1 << 18
	sampleTokens  = 48
	sampleHeads   = 8
)

// run makes the report. Where nothing explains that tokens are zero after the rotation, it is one of the others.
func (c *checker) run() *Report {
	r := c.runAll()
	zero, padding := c.zeroTokens()
	if len(padding) > 0 && len(padding) < c.data.Tokens {
		r.Notes = append(r.Notes, fmt.Sprintf("%s zero before and after the rotation.", pluralAre("token", padding)))
	}
	explained := slices.ContainsFunc(r.Hypotheses[0].Faults, func(f Fault) bool { return f.Aspect == PartAspect })
	if others := c.data.Tokens - len(zero) - len(padding); len(zero) > 0 && others > 0 && !explained {
		return c.runWithout(zero, r)
	}
	return r
}

// zeroTokens are the tokens that are zero after the rotation, and of them the ones that are so before.
func (c *checker) zeroTokens() (zero, padding []int) {
	d := c.data
	size := d.Heads * d.HeadDim
	nothing := func(v float32) bool { return v == 0 }
	noise := func(v float32) bool { return math.Abs(float64(v)) < 4*d.Type.ulp(0) }
	all := func(x []float32, is func(v float32) bool) bool {
		return !slices.ContainsFunc(x, func(v float32) bool { return !is(v) })
	}
	for t := range d.Tokens {
		before, after := d.Before[t*size:][:size], d.After[t*size:][:size]
		switch {
		case d.Stored != nil || !all(after, nothing): // codes may be 0 of small numbers
		case all(before, nothing):
			padding = append(padding, t)
		case !all(before, noise):
			zero = append(zero, t)
		}
	}
	return zero, padding
}

// runWithout makes the report of the tokens that are not zero; all is the one of all tokens.
func (c *checker) runWithout(zero []int, all *Report) *Report {
	var tokens, heads []int
	for t := range c.data.Tokens {
		if !slices.Contains(zero, t) {
			tokens = append(tokens, t)
		}
	}
	for h := range c.data.Heads {
		heads = append(heads, h)
	}
	part := c.rows(tokens, heads)
	part.Progress = c.data.Progress
	r := (&checker{data: &part, axes: c.axes, candidates: c.candidates}).runAll()
	r.Tokens, r.Type = all.Tokens, all.Type
	text := plural("token", zero) + ": all elements are zero."
	r.Notes = append(r.Notes, text+" What follows is of the other tokens, and counts these alone.")
	for i := range r.Candidates {
		one := &r.Candidates[i]
		one.Verdict, one.Residual = Differs, all.Candidates[i].Residual
		one.Faults = append([]Fault{{PartAspect, "rotated", "zero", text}}, one.Faults...)
		one.Text = fmt.Sprintf("This is not its rotation. %s Of the other tokens: %s", text, one.Text)
	}
	return r
}

// runAll makes the report of all tokens alike.
func (c *checker) runAll() *Report {
	r, sample := c.search()
	if sample == nil || len(sample.compared) == 0 {
		return r
	}
	c.kind, c.floor, c.found, c.heads = sample.kind, sample.floor, sample.found, sample.heads
	c.coarse, c.bounds = c.data.Stored.residual(c.data.After), c.data.Stored.bounds()
	r.Rounding = finite(c.limit())
	for t := range c.data.Tokens {
		c.all = append(c.all, t)
	}
	for i := range c.candidates {
		c.verify(sample, r, i)
		c.step(i+1, len(c.candidates))
	}
	return r
}

// search makes the report of all data, or of a sample of large ones, whose checker it returns then.
func (c *checker) search() (*Report, *checker) {
	if len(c.data.After) <= largeElements || c.data.Positions == nil {
		return c.report(), nil
	}
	tokens, heads := spread(c.data.Tokens, sampleTokens, sampleTokens/3), spread(c.data.Heads, sampleHeads, 0)
	data := c.rows(tokens, heads)
	data.Progress = c.data.Progress
	sample := &checker{data: &data, axes: c.axes, candidates: c.candidates, isPart: true}
	r := sample.report()
	r.Tokens, r.Heads = c.data.Tokens, c.data.Heads
	c.known, c.some = sample.known, tokens
	r.Notes = append(r.Notes, fmt.Sprintf("What was done is searched in %d tokens and %d heads; verdicts are of all elements.", len(tokens), len(heads)))
	return r, sample
}

// spread chooses most of n indices: the first ones, and others at equal distances up to the last.
func spread(n, most, first int) (indices []int) {
	if n <= most {
		first, most = n, n
	}
	for i := range first {
		indices = append(indices, i)
	}
	for i := range most - first {
		indices = append(indices, first+i*(n-1-first)/max(1, most-first-1))
	}
	return slices.Compact(indices)
}

// rows are the heads of some tokens.
func (c *checker) rows(tokens, heads []int) Data {
	d := c.data
	part := Data{Tokens: len(tokens), Heads: len(heads), HeadDim: d.HeadDim, Type: d.Type}
	for _, t := range tokens {
		for _, h := range heads {
			part.Before, part.After = append(part.Before, c.row(d.Before, t, h)...), append(part.After, c.row(d.After, t, h)...)
		}
	}
	if d.Stored != nil {
		stored := Stored{Format: d.Stored.Format, Hadamard: d.Stored.Hadamard}
		for _, t := range tokens {
			for _, h := range heads {
				stored.Errors = append(stored.Errors, c.row(d.Stored.Errors, t, h)...)
			}
		}
		part.Stored = &stored
	}
	if d.Positions == nil {
		return part
	}
	for a := range c.axes {
		for _, t := range tokens {
			part.Positions = append(part.Positions, d.Positions[a*d.Tokens+t])
		}
	}
	return part
}

// verify compares all elements with a candidate of which a sample was searched.
func (c *checker) verify(sample *checker, r *Report, i int) {
	result, s, t := &r.Candidates[i], c.candidates[i], sample.compared[i]
	right := result.Verdict == Agrees
	if result.Verdict == NotDecidable || result.Verdict == Differs && len(result.Faults) > 0 && sample.trials[0].known() {
		return
	}
	var rounded []complex128
	if right && t.angles != OtherAngles {
		if cos, sin, ok := c.tables(t.spec, t.angles, c.all); ok {
			rounded = applied(rotations(cos, sin, t.tables), t.spec)
		}
	}
	p := c.predictor(s, nil, 1, 1, rounded)
	if p == nil || right && c.fits(p, c.all) {
		return
	}
	m := c.misfit(s, p)
	texts, _ := c.parts(s, p, m)
	switch {
	case len(texts) > 0:
	case right:
		at := slices.Index(m.bad, true)
		row := at / c.data.HeadDim
		texts = []string{fmt.Sprintf("%d of %d elements are not what the rotation makes, the first of token %d, head %d, element %d.", m.count, len(m.bad), row/c.data.Heads, row%c.data.Heads, at%c.data.HeadDim)}
	default:
		if m.residual > result.Residual { // the noise of all elements
			result.Residual = m.residual
			result.Text = sample.describeComparison(s, t, result)
		}
		return
	}
	planted := *s
	found := &trial{spec: &planted, fit: t.fit, angles: OtherAngles, tables: Float32Tables, parts: texts, factor: 1, residual: c.typical(), explains: true}
	result.Verdict, result.Residual, result.Faults = Differs, m.residual, sample.faults(s, found)
	result.Arithmetics = nil
	result.Text = sample.describeComparison(s, t, result)
	r.Hypotheses = slices.Insert(r.Hypotheses, 0, sample.hypothesis(found))
}

// known reports whether a trial says what was done.
func (t *trial) known() bool {
	return t.explains && (t.fit == nil || !t.isPlain() || t.invFreq != nil && (t.candidate >= 0 || t.base != 0))
}
