package ropecheck

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/go-posenc/posenc"
)

const (
	mostHypotheses = 8
	noStructure    = 0.1 // noise beyond which no structure is said to be found
)

// report does what Check does, of arguments that are right.
func (c *checker) report() *Report {
	d := c.data
	r := &Report{Tokens: d.Tokens, Heads: d.Heads, HeadDim: d.HeadDim, Type: d.Type, Candidates: []Comparison{}, Undecided: []Undecided{}}
	c.kind = d.Type
	written, note := d.After, "All elements after the rotation are %v numbers; units in the last place are of that type."
	if d.Stored != nil {
		written, note = d.Before, "All elements before the rotation are %v numbers: it may have been rounded to that type before it was stored."
		r.Stored = d.Stored.Format
	}
	for _, kind := range [...]ElementType{BFloat16, Float16} {
		if d.Type == Float32 && !slices.ContainsFunc(written, func(x float32) bool { return kind.round(x) != x }) {
			c.kind, r.Type = kind, kind
			r.Notes = append(r.Notes, fmt.Sprintf(note, kind))
			break
		}
	}
	c.floor, c.known = c.kind.Floor(), d.Positions != nil
	c.coarse, c.bounds = d.Stored.residual(d.After), d.Stored.bounds()
	r.Rounding = finite(c.limit())
	for t := range d.Tokens {
		c.all = append(c.all, t)
	}
	c.heads = newHeads(d.Before, d.After, d.Tokens, d.Heads, d.HeadDim)
	if !(c.heads.energy > 0) || !(c.heads.squares[d.HeadDim] > 0) {
		return c.nothing(r)
	}
	c.findStructure()

	first := c.found.fits[0]
	c.some = c.tokens(min(48, max(8, 3072/first.pairs)))
	c.still()
	c.lines, c.lineAxes, c.ties = c.fitLines(first)
	for i, f := range c.found.fits {
		before := len(c.trials)
		for n, s := range c.candidates {
			c.candidateTrials(s, f)
			if !slices.ContainsFunc(c.trials[before:], func(t *trial) bool { return t.explains && t.cost <= faultCost }) {
				c.readingTrials(s, f)
				c.positionTrials(s, f)
			}
			c.step(i*len(c.candidates)+n+1, len(c.found.fits)*len(c.candidates)+1)
		}
		if i > 0 {
			c.lines, c.lineAxes, _ = c.fitLines(f)
		}
		c.fittedTrials(f)
		c.trials = append(c.trials, &trial{
			spec: &spec{structure: f.structure, candidate: -1, times: 1, factor: 1, faults: []Aspect{FrequenciesAspect}},
			fit:  f, factor: f.factor, residual: f.residuals[c.found.freedom], explains: c.explains(f.residuals[c.found.freedom]) && c.found.noise < noStructure, cost: structureCost,
		})
		for _, t := range c.trials[before:] {
			t.cost += 0.01 * float64(i)
		}
	}
	c.lines, c.lineAxes, c.ties = c.fitLines(first)
	if c.known && c.axes == 1 {
		c.crossedTrials()
	}
	if c.known && !slices.ContainsFunc(c.trials, func(t *trial) bool { return t.cost < faultCost && t.candidate >= 0 && c.holds(t) }) {
		c.slipTrials()
		c.blockTrials()
		c.partTrials()
	}
	c.settle()
	r.Noise = finite(c.found.noise)
	slices.SortStableFunc(c.trials, func(a, b *trial) int {
		if a.explains != b.explains {
			if a.explains {
				return -1
			}
			return 1
		}
		if !a.explains {
			return cmp.Compare(a.residual, b.residual)
		}
		return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.residual, b.residual))
	})
	c.hypotheses(r)
	for _, s := range c.candidates {
		r.Candidates = append(r.Candidates, c.comparison(s))
	}
	c.undecided(r)
	return r
}

func (c *checker) step(done, all int) {
	if c.data.Progress != nil {
		c.data.Progress(done, all)
	}
}

// settle lowers the noise to what the best trial leaves: cosines and sines of 16 bits change
// the lengths of pairs, which is noise until they are found.
func (c *checker) settle() {
	least := c.found.noise
	for _, t := range c.trials {
		if t.fit != nil && t.invFreq != nil && !t.crossed {
			least = min(least, t.residual)
		}
	}
	if least <= c.found.noise/4 {
		c.found.noise = least
	}
	for _, t := range c.trials {
		switch {
		case t.crossed, t.slip != nil, t.parts != nil:
		case t.fit == nil:
			t.explains = c.explains(t.residual)
		case t.invFreq == nil:
			t.explains = c.explains(t.residual) && c.found.noise < noStructure
		default:
			more := t.cost - c.costOf(t)
			t.explains = c.explains(t.residual)
			t.cost = c.costOf(t) + more
			if c.bounds != nil && c.norm == NoNorm && t.cost < faultCost && t.explains && !c.holds(t) { // of codes it is known how far they are off
				t.cost += solvedCost
			}
		}
	}
}

// findStructure finds the structure, of heads as they are or of ones with a norm.
func (c *checker) findStructure() {
	c.found = c.heads.search(c.candidates, c.floor)
	if c.found.noise >= 4*c.floor+0.7*c.coarse || c.found.freedom != oneFactor {
		c.searchNormalized()
	}
}

// still tries that nothing was rotated.
func (c *checker) still() {
	h := c.heads
	n := h.dim
	unchanged := h.differences[n]
	more := h.moved[n] / h.squares[n]
	scaled, scale := max(0, unchanged-more*h.moved[n]), 1.0
	left := unchanged
	if scaled < unchanged/16 {
		left, scale = scaled, 1+more
	}
	residual := math.Sqrt(left / h.energy)
	c.identity = residual
	cost := 0.5
	if !c.isOne(scale) {
		cost += faultCost
	}
	c.trials = append(c.trials, &trial{
		spec: &spec{candidate: -1, factor: 1}, factor: scale, residual: residual, explains: c.explains(residual), cost: cost,
	})
}

// nothing is the report of elements that are all zero.
func (c *checker) nothing(r *Report) *Report {
	what := "before"
	if c.heads.squares[c.data.HeadDim] > 0 {
		what = "after"
	}
	r.Hypotheses = []Hypothesis{{Scale: 1, AttentionFactor: 1, Text: "All elements " + what + " the rotation are zero."}}
	r.Undecided = append(r.Undecided, Undecided{LayoutAspect, "All elements " + what + " the rotation are zero: nothing can be told."})
	for _, s := range c.candidates {
		one := Comparison{Name: s.name, Verdict: NotDecidable, Text: "The data tell nothing."}
		if what == "after" {
			one.Verdict, one.Residual, one.Text = Differs, 1, r.Hypotheses[0].Text
			one.Faults = []Fault{{ScaleAspect, "1", "0", one.Text}}
		}
		r.Candidates = append(r.Candidates, one)
	}
	return r
}

// hypotheses fills in the best trials: of each candidate and each without one, and of those
// that do not explain the data the first.
func (c *checker) hypotheses(r *Report) {
	seen := map[string]bool{}
	for _, t := range c.trials {
		if len(r.Hypotheses) == mostHypotheses {
			break
		}
		kind := fmt.Sprint(t.candidate, t.structure, t.explains)
		if t.candidate < 0 {
			kind += fmt.Sprint(t.invFreq == nil, t.base)
		}
		if seen[kind] {
			continue
		}
		seen[kind] = true
		r.Hypotheses = append(r.Hypotheses, c.hypothesis(t))
	}
}

// lengthsOf splits what multiplied the rotated elements into the factor of cosines and
// sines and the scale of whole heads.
func (c *checker) lengthsOf(t *trial) (factor, scale float64) {
	factor, scale = math.Pow(t.factorOrOne(), float64(t.times)), 1
	switch {
	case t.fit == nil:
		return 1, t.factor
	case t.dim < c.data.HeadDim && !c.isOne(t.fit.scale):
		scale = t.fit.scale
		if rest := t.factor / scale; !c.isOne(rest) {
			factor *= rest
		}
	case c.isOne(t.factor):
	case c.norm != NoNorm, c.found.freedom == tokenFactor, c.isOne(t.factor * math.Sqrt(float64(c.data.HeadDim))):
		scale = t.factor
	default:
		factor *= t.factor
	}
	return factor, scale
}

func (s *spec) factorOrOne() float64 {
	if s.factor == 0 {
		return 1
	}
	return s.factor
}

func (c *checker) hypothesis(t *trial) Hypothesis {
	h := Hypothesis{Times: t.times, Inverse: t.inverse, Residual: finite(t.residual), Explains: t.explains}
	factor, scale := c.lengthsOf(t)
	h.AttentionFactor, h.Scale = finite(factor), finite(scale)
	if t.fit == nil {
		h.Text = c.describe(t, &h)
		return h
	}
	h.Layout, h.Offset, h.RotaryDim = t.layout, t.offset, t.dim
	h.Norm = c.norm
	if c.norm == NoNorm && c.found.freedom == tokenFactor {
		h.Norm = TokenNorm
	}
	if t.candidate >= 0 {
		h.Candidate = c.candidates[t.candidate].name
		h.Faults = c.faults(c.candidates[t.candidate], t)
	}
	if t.invFreq == nil {
		for i := range t.fit.pairs {
			h.Unknown = append(h.Unknown, i)
		}
	} else {
		h.InvFreq = slices.Clone(t.invFreq)
		if t.candidate < 0 {
			for i, l := range c.lines {
				if t.base == 0 && i < len(h.InvFreq) && !l.certain(1) {
					h.Unknown = append(h.Unknown, i)
				}
			}
		}
		if t.base != 0 && (t.candidate < 0 || t.geometric()) {
			h.Base, h.Factor = t.base, 1
			if t.candidate < 0 && t.ratio != 0 {
				h.Factor = 1 / t.ratio
			}
		}
	}
	h.Axes, h.PositionOffset = t.axes, t.positionOffset
	if !c.known && t.positions != nil || slices.Contains(t.spec.faults, PositionsAspect) {
		h.Positions = t.positions
	}
	if t.explains && t.invFreq != nil && t.isPlain() && c.data.Stored == nil {
		h.Arithmetic = &Arithmetic{Angles: t.angles, Tables: t.tables}
		if list := c.arithmetics(t); len(list) > 0 && t.angles != OtherAngles {
			nearest := list[0]
			h.Arithmetic = &nearest
		}
	}
	h.Text = c.describe(t, &h)
	return h
}

// asIs is a candidate under its own structure, without any fault.
func (c *checker) asIs(s *spec) (t *trial, explains bool) {
	for _, u := range c.trials {
		if u.candidate == s.candidate && u.fit != nil && u.structure == s.structure && u.cost < 0.5 && (!c.known || len(u.spec.faults) == 0) {
			return u, u.explains && c.isOne(u.factor)
		}
	}
	f := c.heads.fit(s.structure, true)
	list := c.try(s, f, once)
	if len(list) == 0 {
		return &trial{spec: s, fit: f, residual: 1, factor: 1}, false
	}
	return list[0], list[0].explains && c.isOne(list[0].factor) && c.isOne(f.scale)
}

func (c *checker) comparison(s *spec) Comparison {
	t, explains := c.asIs(s)
	c.compared = append(c.compared, t)
	result := Comparison{Name: s.name, Residual: finite(t.residual)}
	switch {
	case explains && c.explains(c.identity) && !c.turns(t.spec) && !s.isStill():
		result.Verdict = NotDecidable
	case s.isStill() && explains && c.norm == NoNorm:
		if result.Verdict = Noisy; c.fits(c.predictor(s, nil, 1, 1, nil), c.all) {
			result.Verdict = Agrees
		}
	case explains && c.norm == NoNorm && c.found.freedomIs(s) && c.trials[0].slip == nil && c.trials[0].parts == nil:
		result.Verdict = Agrees
		if !c.holds(t) {
			result.Verdict = Noisy
		}
		result.Arithmetics = c.nearest(t)
		result.Faults = c.roundingFaults(t, result.Verdict)
		if slices.ContainsFunc(result.Faults, func(f Fault) bool { return f.Aspect == PositionsAspect }) {
			result.Verdict = Differs
			residual, _ := c.residualBy(t, ExactAngles, t.tables)
			result.Residual = finite(residual)
		}
	default:
		result.Verdict = Differs
		best := c.trials[0]
		for _, u := range c.trials {
			if u.candidate == s.candidate && u.explains {
				if u.cost <= best.cost+faultCost && best.fit != nil {
					best = u
				}
				break
			}
		}
		if !best.explains {
			result.Faults = nil
		} else {
			result.Faults = c.faults(s, best)
			if s.isStill() && best.isPlain() {
				result.Faults = []Fault{{TimesAspect, "never", "once", "The heads rotate, and the candidate does not rotate."}}
			}
			if len(result.Faults) == 0 && best.candidate == s.candidate {
				result.Verdict = Noisy
			}
			if best.invFreq != nil && best.isPlain() {
				result.Arithmetics = c.nearest(best)
			}
		}
	}
	result.Text = c.describeComparison(s, t, &result)
	return result
}

// nearest are the ways to compute that come near a trial. Angles of an unknown order of operations
// come first, at the distance of the nearest known ones.
func (c *checker) nearest(t *trial) []Arithmetic {
	if c.data.Stored != nil {
		return nil // codes do not tell
	}
	list := slices.Clone(c.arithmetics(t))
	if t.angles != OtherAngles {
		return list
	}
	other := Arithmetic{Angles: OtherAngles, Tables: Float32Tables, Products: SeparateProducts}
	if len(list) > 0 {
		other.Equal, other.Typical, other.Largest = list[0].Equal, list[0].Typical, list[0].Largest
	}
	return append([]Arithmetic{other}, list...)
}

// freedomIs reports whether the lengths are those of a spec.
func (f *found) freedomIs(s *spec) bool { return f.freedom == oneFactor || s.xpos != nil }

// turns reports whether a rotation turns any pair of the data noticeably, at the positions
// that were solved for where none are given.
func (c *checker) turns(s *spec) bool {
	cos, sin, ok := c.tables(s, ExactAngles, c.all)
	if !ok {
		return false
	}
	for i := range cos {
		if math.Abs(float64(sin[i])) > c.limit() || math.Abs(float64(cos[i])-1) > c.limit() {
			return true
		}
	}
	return s.layout > posenc.Interleaved
}

// holds reports whether a trial of a candidate leaves no more than rounding does, in all elements.
func (c *checker) holds(t *trial) bool {
	// Angles that are off by a unit round some cosines and sines of 16 bits the other way.
	limit, tables := c.limit(), 0.0
	if kind, ok := map[Tables]ElementType{BFloat16Tables: BFloat16, Float16Tables: Float16}[t.tables]; ok && c.kind == Float32 {
		limit, tables = max(limit, kind.Floor()/8), kind.Floor()
	}
	if t.spec.xpos != nil { // its decay is a power, too: see slack
		const decay = 40 * 0x1p-24
		limit, tables = max(limit, decay), max(tables, decay)
	}
	if t.fit == nil || t.invFreq == nil || t.residual > limit {
		return false
	}
	if !t.checked {
		t.checked = true
		angles := t.angles
		if angles == OtherAngles {
			angles = ExactAngles
		}
		if cos, sin, ok := c.tables(t.spec, angles, c.all); ok {
			factor := t.factor // which truncated numbers need
			if c.bounds != nil && c.isOne(factor) {
				factor = 1
			}
			p := c.predictor(t.spec, nil, factor, 1, applied(rotations(cos, sin, t.tables), t.spec))
			t.right = c.fits(func(token, head int, want, most []float64) {
				p(token, head, want, most)
				if tables > 0 {
					y := c.row(c.data.After, token, head)
					largest := max(-float64(slices.Min(y)), float64(slices.Max(y)))
					for e := range most {
						most[e] += tables * largest
					}
				}
			}, c.all)
		}
	}
	return t.right
}

// isStill reports whether a spec rotates nothing.
func (s *spec) isStill() bool {
	return !slices.ContainsFunc(s.invFreq, func(w float64) bool { return w != 0 })
}
