package ropecheck

import (
	"cmp"
	"math"
	"math/cmplx"
	"slices"
	"strconv"

	"github.com/go-posenc/posenc"
)

// checker is one call of Check.
type checker struct {
	data       *Data
	axes       int // of the positions, 1 where they are unknown
	candidates []*spec
	kind       ElementType // of the elements after
	compared   []*trial    // of each candidate, as it is
	isPart     bool        // the data are a part of others, of which parts are not looked for

	heads    *heads
	norm     Norm
	found    *found
	floor    float64
	coarse   float64   // the residual that storing explains, and
	bounds   []float32 // by how much it moved each element at most; nil: not at all
	known    bool      // the positions are
	all      []int     // tokens
	some     []int     // of them, for searches
	identity float64   // the residual without a rotation
	trials   []*trial
	lines    []fitted // of the first structure
	lineAxes []int    // the axis of each
	ties     []int    // pairs that several axes explain
}

// trial is a rotation with its residual.
type trial struct {
	*spec
	fit    *fit // nil: nothing was rotated
	angles Angles
	tables Tables

	crossed  bool     // cosines and sines are in the order of the other layout
	slip     *slip    // nil: none
	parts    []string // what is said of the heads, tokens and elements that are wrong
	factor   float64  // of all pairs, besides that of the spec
	residual float64
	explains bool
	cost     float64 // of its faults: the less the likelier

	arithmetics []Arithmetic // once they are computed

	checked, right bool // element by element: holds
}

// explains reports whether noise or rounding does what is left. A free angle, and a free length, each take one
// of the 2*heads numbers of a pair and token from the noise.
func (c *checker) explains(residual float64) bool {
	if c.found.noise >= noStructure {
		return residual <= c.floor
	}
	free := 1.0
	if c.found.freedom == pairFactor {
		free = 2
	}
	taken := 1 - free/float64(2*c.data.Heads)
	counted := float64(len(c.all) * max(1, c.found.fits[0].pairs))
	most := c.found.noise * c.found.noise / taken * (1.2 + 3/math.Sqrt(counted))
	return residual <= 4*c.floor || residual*residual <= most+c.floor*c.floor
}

// try compares a fit with a spec, with both signs and once and twice where there are none
// of its own, by every way to round.
func (c *checker) try(s *spec, f *fit, variants []variant) (list []*trial) {
	best := make([]*trial, len(variants))
	for _, angles := range roundedAngles {
		cos, sin, ok := c.tables(s, angles, c.some)
		if !ok {
			continue
		}
		for _, tables := range roundedTables {
			z := rotations(cos, sin, tables)
			for i, v := range variants {
				changed := *s
				changed.inverse, changed.times = s.inverse != v.inverse, v.times
				difference, factor := f.against(applied(z, &changed), c.some, c.freedomFor(s), nil, 0)
				residual := f.residual(difference * f.power)
				// A coarser rounding has to explain more.
				if b := best[i]; b == nil || residual < b.residual*0.98 {
					best[i] = &trial{spec: &changed, fit: f, angles: angles, tables: tables, residual: residual, factor: factor}
				}
			}
		}
	}
	for _, t := range best {
		if t != nil {
			c.complete(t)
			list = append(list, t)
		}
	}
	return list
}

// freedomFor is what the lengths of pairs may be multiplied by under a spec.
func (c *checker) freedomFor(s *spec) freedom {
	if s.xpos != nil {
		return oneFactor
	}
	return c.found.freedom
}

// complete computes the residual of a trial over all tokens, if it explains some of them,
// and its cost.
func (c *checker) complete(t *trial) {
	t.explains = c.explains(t.residual)
	if !t.explains || t.residual > c.limit() {
		if residual, factor := c.slackResidual(t, c.some); c.explains(residual) && (!t.explains || residual <= c.limit()) {
			t.angles, t.tables, t.residual, t.factor, t.explains = OtherAngles, Float32Tables, residual, factor, true
		}
	}
	if t.explains && len(c.some) < len(c.all) {
		if t.angles == OtherAngles {
			t.residual, t.factor = c.slackResidual(t, c.all)
		} else {
			t.residual, t.factor = c.residualBy(t, t.angles, t.tables)
		}
		t.explains = c.explains(t.residual)
	}
	t.cost = c.costOf(t)
}

// residualBy is the residual of a trial over all tokens with any rounding.
func (c *checker) residualBy(t *trial, angles Angles, tables Tables) (residual, factor float64) {
	cos, sin, ok := c.tables(t.spec, angles, c.all)
	if !ok {
		return 1, 1
	}
	difference, factor := t.fit.against(applied(rotations(cos, sin, tables), t.spec), c.all, c.freedomFor(t.spec), nil, 0)
	return t.fit.residual(difference * t.fit.power), factor
}

// slackResidual is the residual of a trial with exact angles that may err as those of
// float32 do.
func (c *checker) slackResidual(t *trial, tokens []int) (residual, factor float64) {
	cos, sin, ok := c.tables(t.spec, ExactAngles, tokens)
	if !ok {
		return 1, 1
	}
	z := applied(rotations(cos, sin, Float32Tables), t.spec)
	difference, factor := t.fit.against(z, tokens, c.freedomFor(t.spec), c.slack(t.spec, tokens), c.floor)
	return t.fit.residual(difference * t.fit.power), factor
}

// slack is by how much angles of float32 may err, in any order of operations: one
// rounding for the position, those of a power that is 17 units in the last place off for the
// frequency (16 of OpenCL and Metal, 2e-6 of fast ones), three more for each factor of a
// running product. It is small, or it would explain anything.
func (c *checker) slack(s *spec, tokens []int) []float64 {
	pairs := s.dim / 2
	list := make([]float64, len(tokens)*pairs)
	for n, t := range tokens {
		for i := range pairs {
			angle := math.Abs(float64(c.position(s, s.axis(i), t)) * s.invFreq[i])
			list[n*pairs+i] = min(0.3, angle*0x1p-24*float64(40+3*i)*float64(s.times))
		}
	}
	return list
}

// variant is a sign and a number of times.
type variant struct {
	inverse bool
	times   int
}

var (
	once    = []variant{{false, 1}}
	signed  = []variant{{false, 1}, {true, 1}, {false, 2}, {true, 2}}
	inverse = []variant{{false, 1}, {true, 1}}
)

// costs of what differs. One fault of a candidate costs less than what was fitted without one.
const (
	faultCost     = 1
	ratioCost     = 1.5
	baseCost      = 2.5
	factorCost    = 1 // of the factor of a base, besides
	solvedCost    = 4
	fittedCost    = 6
	structureCost = 8
)

func (c *checker) costOf(t *trial) float64 {
	cost := 0.0
	if t.candidate >= 0 {
		want := c.candidates[t.candidate]
		if t.layout != want.layout {
			cost += faultCost
		}
		if t.offset != want.offset || t.dim != want.dim {
			cost += faultCost
		}
	}
	if t.inverse {
		cost += faultCost
	}
	if t.times != 1 {
		cost += faultCost
	}
	if t.positionOffset != 0 {
		cost += faultCost
	}
	if !c.isOne(t.factor) || t.fit != nil && !c.isOne(t.fit.scale) {
		cost += faultCost
	}
	if t.isPlain() && t.xpos == nil && c.found.freedom != oneFactor {
		cost += faultCost
	}
	if t.isPlain() && t.invFreq != nil && (t.candidate < 0 || t.reading != "") && c.leaves(t.spec) {
		cost += solvedCost
	}
	if c.norm == WeightedRMSNorm || c.norm == RMSNormAfter { // weights are fitted
		cost += 0.5 * faultCost
	}
	for _, fault := range t.faults {
		switch fault {
		case FrequenciesAspect:
			cost += ratioCost
		case PositionsAspect:
			if c.known {
				cost += c.positionsCost(t.positions)
			}
		default:
			cost += faultCost
		}
	}
	return cost
}

// positionsCost is small where few tokens, or a known mistake, are all that differs. The positions of
// several axes are less certain.
func (c *checker) positionsCost(got []int32) float64 {
	given := c.data.Positions[:len(got)]
	if pattern(given, got, len(got)/c.data.Tokens) != "" {
		return faultCost + 0.05
	}
	others := 0
	for i, p := range got {
		if p != given[i] {
			others++
		}
	}
	if others*2 <= len(got) && c.axes == 1 {
		return faultCost + 0.2
	}
	return solvedCost
}

// isOne reports whether a factor cannot be told from 1, or from a cosine of 0 that is two units in the last
// place of float32 off.
func (c *checker) isOne(factor float64) bool {
	deviation := c.found.noise / math.Sqrt(float64(len(c.all)*c.data.Heads))
	return math.Abs(factor-1) <= max(c.floor, 0x1p-23, 4*deviation)
}

// tokens chooses some: neighbours, and others far apart.
func (c *checker) tokens(most int) []int {
	order := slices.Clone(c.all)
	if c.known {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.data.Positions[a], c.data.Positions[b]) })
	}
	if len(order) <= most {
		return order
	}
	list := slices.Clone(order[:most/2])
	rest := order[most/2:]
	for i := range most / 2 {
		list = append(list, rest[i*len(rest)/(most/2)])
	}
	return list
}

// candidateTrials tries a candidate, as it is and with faults, under a structure.
func (c *checker) candidateTrials(s *spec, f *fit) {
	if s.dim != f.dim {
		if s.dim < f.dim {
			return
		}
		prefix := *s // the first frequencies of a longer ladder
		prefix.invFreq = s.invFreq[:f.pairs]
		prefix.xpos = nil
		if s.axes != nil {
			prefix.axes = s.axes[:f.pairs]
		}
		prefix.faults = []Aspect{FrequenciesAspect}
		prefix.base = 0
		prefix.structure = f.structure
		c.trials = append(c.trials, c.explaining(c.try(&prefix, f, signed))...)
		return
	}
	if s.isStill() {
		return
	}
	here := *s
	here.structure = f.structure
	if !c.known && c.found.noise < noStructure {
		c.trials = append(c.trials, c.solvedTrials(&here, f)...)
		return
	}
	list := c.try(&here, f, signed)
	c.trials = append(c.trials, list...)
	if (c.found.freedom == pairFactor || c.data.Heads < 3 && len(c.explaining(list)) == 0) && here.axes == nil {
		for _, base := range [...]float64{512, 256, 128, 1024, 2048} {
			for _, keys := range [...]bool{false, true} {
				other := here
				other.xpos, other.faults = &posenc.XPos{ScaleBase: base, Keys: keys}, []Aspect{FactorAspect}
				if here.xpos != nil {
					other.xpos.Center = here.xpos.Center
				}
				c.trials = append(c.trials, c.explaining(c.try(&other, f, once))...)
			}
		}
	}
	if len(c.explaining(list)) > 0 || c.found.noise >= noStructure {
		return
	}
	var more []*trial
	if here.xpos != nil {
		other := here
		other.xpos, other.faults = nil, []Aspect{FactorAspect}
		more = append(more, c.try(&other, f, once)...)
	}
	for _, t := range list {
		if offset := c.offset(t.spec, f); offset != 0 {
			shifted := *t.spec
			shifted.positionOffset = offset
			more = append(more, c.try(&shifted, f, []variant{{false, t.times}})...)
		}
	}
	if axes := c.fitAxes(&here, f); axes != nil {
		other := here
		other.axes, other.faults = axes, []Aspect{AxesAspect}
		more = append(more, c.try(&other, f, inverse)...)
	}
	if ratio := c.ratio(&here); ratio != 0 {
		other := here
		other.ratio, other.faults, other.base = ratio, []Aspect{FrequenciesAspect}, 0
		other.invFreq = slices.Clone(here.invFreq)
		for i := range other.invFreq {
			other.invFreq[i] *= ratio
		}
		more = append(more, c.try(&other, f, once)...)
	}
	c.trials = append(c.trials, more...)
	if len(c.explaining(more)) == 0 && c.axes == c.axesOf(&here) {
		c.trials = append(c.trials, c.explaining(c.solvedTrials(&here, f))...)
	}
}

func (c *checker) explaining(list []*trial) (explaining []*trial) {
	for _, t := range list {
		if t.explains {
			explaining = append(explaining, t)
		}
	}
	return explaining
}

// crossedTrials tries cosines and sines in the order of the other layout, with an entry for
// each element, so that the two elements of a pair turn by different angles.
func (c *checker) crossedTrials() {
	for _, s := range c.candidates {
		if c.norm != NoNorm || s.xpos != nil || s.layout > posenc.Interleaved || s.dim != 2*len(s.invFreq) {
			continue
		}
		cos, sin, ok := c.tables(s, Float32Angles, c.all)
		if !ok {
			continue
		}
		pairs := s.dim / 2
		for _, layout := range layouts[:2] {
			table := posenc.Table[float32]{FullWidth: true, Cos: make([]float32, 2*len(cos)), Sin: make([]float32, 2*len(sin))}
			for at := range cos {
				row, i := at/pairs*s.dim, at%pairs
				first, second := i, i+pairs
				if layout == posenc.HalfSplit {
					first, second = 2*i, 2*i+1
				}
				for _, e := range [...]int{first, second} {
					table.Cos[row+e], table.Sin[row+e] = cos[at], sin[at]
				}
			}
			after := slices.Clone(c.data.Before)
			rows, err := posenc.NewRows(posenc.RowsConfig{HeadDim: c.data.HeadDim, RotaryDim: s.dim, Offset: s.offset, Layout: layout}, table)
			if err != nil || posenc.Rotate(rows.All(), posenc.View[float32]{Data: after, Heads: c.data.Heads}) != nil {
				continue
			}
			left := 0.0
			for i, y := range c.data.After {
				d := float64(y) - float64(after[i])
				left += d * d
			}
			residual := math.Sqrt(left / c.heads.energy)
			if residual > max(0.05, c.limit()) || residual > c.found.noise/4 {
				continue
			}
			crossed := *s
			crossed.layout, crossed.faults = layout, []Aspect{LayoutAspect}
			c.found.noise = min(c.found.noise, residual)
			c.trials = append(c.trials, &trial{
				spec: &crossed, fit: c.heads.fit(crossed.structure, true), angles: Float32Angles, tables: Float32Tables,
				crossed: true, factor: 1, residual: residual, explains: true, cost: faultCost,
			})
		}
	}
}

// tolerance is by how much single angles may be off when positions are solved for.
func (c *checker) tolerance() float64 {
	return min(1.2, max(0.05, 8*c.found.noise/math.Sqrt(float64(c.data.Heads))))
}

// solvedTrials solves for the position of each token.
func (c *checker) solvedTrials(s *spec, f *fit) []*trial {
	used := c.axesOf(s)
	tokens := c.data.Tokens
	positions := make([]int32, used*tokens)
	negative, positive := 0, 0
	for a := range used {
		for t := range tokens {
			var angles, weights, frequencies []float64
			for i := range f.pairs {
				if r := f.r[t*f.pairs+i]; s.axis(i) == a && r != 0 {
					angles = append(angles, cmplx.Phase(r))
					weights = append(weights, f.weights[t*f.pairs+i]*cmplx.Abs(r))
					frequencies = append(frequencies, s.invFreq[i])
				}
			}
			p, _ := solve(angles, weights, frequencies, c.tolerance(), mostPosition)
			positions[a*tokens+t] = int32(p)
			if p < 0 {
				negative++
			} else if p > 0 {
				positive++
			}
		}
	}
	solved := *s
	if negative > positive {
		solved.inverse = true
		for i := range positions {
			positions[i] = -positions[i]
		}
	}
	if c.known && used == 1 && c.axes == 1 {
		offset, one := positions[0]-c.data.Positions[0], true
		for i, p := range positions {
			one = one && p-c.data.Positions[i] == offset
		}
		if one {
			solved.positionOffset, positions = int(offset), nil
		}
	}
	if positions == nil {
		return c.try(&solved, f, once)
	}
	solved.positions = positions
	solved.faults = append(slices.Clone(s.faults), PositionsAspect)
	return c.try(&solved, f, once)
}

// offset solves for a number that was added to all positions.
func (c *checker) offset(s *spec, f *fit) int {
	cos, sin, ok := c.tables(s, ExactAngles, c.some)
	if !ok {
		return 0
	}
	z := applied(rotations(cos, sin, Float32Tables), s)
	angles, weights, frequencies := make([]float64, f.pairs), make([]float64, f.pairs), make([]float64, f.pairs)
	for i := range f.pairs {
		var sum complex128
		for n, t := range c.some {
			at := t*f.pairs + i
			sum += complex(f.weights[at], 0) * cmplx.Conj(z[n*f.pairs+i]) * f.r[at]
		}
		angles[i], weights[i] = cmplx.Phase(sum), cmplx.Abs(sum)
		frequencies[i] = s.invFreq[i] * float64(s.times*s.sign())
	}
	p, score := solve(angles, weights, frequencies, c.tolerance(), mostPosition)
	if score < 0.5 {
		return 0
	}
	return p
}

// fitAxes returns for each pair the axis by which the frequency of the spec explains it
// best: that of the spec unless another is much better; nil where no axis differs.
func (c *checker) fitAxes(s *spec, f *fit) []int {
	if c.axes == 1 {
		return nil
	}
	differences := make([][]float64, c.axes)
	for a := range differences {
		one := *s
		one.axes = slices.Repeat([]int{a}, f.pairs)
		differences[a] = make([]float64, f.pairs)
		cos, sin, ok := c.tables(&one, ExactAngles, c.some)
		if !ok {
			return nil
		}
		z := rotations(cos, sin, Float32Tables)
		for i := range f.pairs {
			for n, t := range c.some {
				at := t*f.pairs + i
				if r := f.r[at]; r != 0 && z[n*f.pairs+i] != 0 {
					e := cmplx.Phase(r * cmplx.Conj(z[n*f.pairs+i]))
					differences[a][i] += f.weights[at] * abs2(r) * e * e
				}
			}
		}
	}
	axes, differs := make([]int, f.pairs), false
	for i := range axes {
		axes[i] = s.axis(i)
		for a := range differences {
			if differences[a][i] < differences[axes[i]][i]/4-c.floor*c.floor*f.power/float64(f.pairs) {
				axes[i] = a
			}
		}
		differs = differs || axes[i] != s.axis(i)
	}
	if !differs {
		return nil
	}
	return axes
}

// fitLines fits the frequency of every pair against the axis that explains it best.
func (c *checker) fitLines(f *fit) (lines []fitted, axes, ties []int) {
	lines, axes = make([]fitted, f.pairs), make([]int, f.pairs)
	power := 0.0
	for i := range f.pairs {
		for a := range c.axes {
			sums := map[int64]complex128{}
			for _, t := range c.some {
				p := int64(t)
				if c.known {
					p = int64(c.data.Positions[a*c.data.Tokens+t])
				}
				at := t*f.pairs + i
				sums[p] += complex(f.weights[at], 0) * f.r[at]
			}
			positions := make([]int64, 0, len(sums))
			for p := range sums {
				positions = append(positions, p)
			}
			slices.Sort(positions)
			r := make([]complex128, len(positions))
			lengths := 0.0
			for j, p := range positions {
				r[j] = sums[p]
			}
			for _, t := range c.some {
				at := t*f.pairs + i
				lengths += f.weights[at] * cmplx.Abs(f.r[at])
			}
			line := fitFrequency(positions, r, c.found.noise)
			sum := 0.0
			for _, z := range r {
				sum += cmplx.Abs(z)
			}
			if lengths > 0 {
				line.coherence *= sum / lengths // of tokens at one position, too
			}
			power = max(power, lengths)
			line.known = line.known && lengths > 0
			misfit, least := 1-line.coherence, 1-lines[i].coherence
			slack := c.floor*c.floor + c.found.noise*c.found.noise
			switch {
			case a == 0 || misfit < least/4-slack/4:
				lines[i], axes[i] = line, a
				ties = slices.DeleteFunc(ties, func(p int) bool { return p == i })
			case misfit < 4*least+4*slack && !slices.Contains(ties, i):
				ties = append(ties, i)
			}
		}
	}
	return lines, axes, ties
}

// certain reports whether a line tells its frequency to a part of it.
func (l *fitted) certain(part float64) bool {
	return l.known && l.coherence > 0.7 && l.deviation < part*math.Abs(l.frequency)
}

// ratio returns by what the fitted frequencies are multiples of those of a spec, or 0.
func (c *checker) ratio(s *spec) float64 {
	var ratios []float64
	for i, l := range c.lines {
		if i < len(s.invFreq) && l.certain(0.1) && s.invFreq[i] != 0 {
			ratios = append(ratios, l.frequency/s.invFreq[i])
		}
	}
	if len(ratios) < 2 {
		return 0
	}
	slices.Sort(ratios)
	ratio := ratios[len(ratios)/2]
	for _, nice := range [...]float64{math.Round(ratio), 1 / math.Round(1/ratio)} {
		if math.Abs(ratio/nice-1) < 0.01 {
			ratio = nice
		}
	}
	for _, nice := range [...]float64{roundTo(ratio, 2), 1 / roundTo(1/ratio, 2)} {
		if math.Abs(ratio/nice-1) < 5e-4 {
			ratio = nice
		}
	}
	if ratio == 1 || math.IsInf(ratio, 0) || math.IsNaN(ratio) {
		return 0
	}
	return ratio
}

// fittedTrials tries frequencies without a candidate: powers of a base, those by a factor,
// and one fitted for each pair.
func (c *checker) fittedTrials(f *fit) {
	fitted := &spec{structure: f.structure, candidate: -1, times: 1, factor: 1}
	negative, certain := 0, 0
	var indices, logs, weights []float64
	fitted.invFreq = make([]float64, f.pairs)
	for i, l := range c.lines {
		if !l.known || l.coherence < 0.5 {
			continue
		}
		fitted.invFreq[i] = l.frequency
		if l.certain(0.2) {
			certain++
			if l.frequency < 0 {
				negative++
			}
			indices = append(indices, float64(i))
			logs = append(logs, math.Log(math.Abs(l.frequency)))
			d := max(l.deviation/math.Abs(l.frequency), 1e-5)
			weights = append(weights, 1/(d*d))
		}
	}
	if certain == 0 {
		return
	}
	if c.axes > 1 && slices.Max(c.lineAxes) > 0 {
		fitted.axes = c.lineAxes
	}
	if negative*2 > certain {
		fitted.inverse = true
		for i := range fitted.invFreq {
			fitted.invFreq[i] = -fitted.invFreq[i]
		}
	}
	add := func(s *spec, cost float64) bool {
		list := c.try(s, f, once)
		if len(list) == 1 && !list[0].explains {
			if offset := c.offset(s, f); offset != 0 {
				shifted := *s
				shifted.positionOffset = offset
				list = c.try(&shifted, f, once)
			}
		}
		for _, t := range list {
			t.cost += cost
			c.trials = append(c.trials, t)
		}
		return len(list) == 1 && list[0].explains
	}
	for _, scaled := range [...]bool{false, true} {
		slope, intercept := line(indices, logs, weights, scaled)
		base, factor := math.Exp(-slope*float64(f.dim)/2), math.Exp(-intercept)
		if len(indices) < 2 || !(base > 1.5 && base < 1e12) || !(factor > 1e-6 && factor < 1e6) {
			continue
		}
		base, factor = c.refine(fitted, f, base, factor, scaled)
		if scaled && math.Abs(factor-1) < 1e-4 {
			break
		}
		ladder := *fitted
		ladder.base, ladder.ratio = base, 1/factor
		ladder.invFreq = geometric(f.dim, base, factor)
		cost := float64(baseCost)
		if scaled {
			cost += factorCost
		}
		if add(&ladder, cost) {
			return
		}
	}
	add(fitted, fittedCost)
}

// line is a weighted fit of y = slope*x + intercept, the intercept 0 unless it is free.
func line(x, y, weights []float64, free bool) (slope, intercept float64) {
	var w, wx, wy, wxx, wxy float64
	for i := range x {
		w, wx, wy = w+weights[i], wx+weights[i]*x[i], wy+weights[i]*y[i]
		wxx, wxy = wxx+weights[i]*x[i]*x[i], wxy+weights[i]*x[i]*y[i]
	}
	if !free {
		return wxy / wxx, 0
	}
	slope = (w*wxy - wx*wy) / (w*wxx - wx*wx)
	return slope, (wy - slope*wx) / w
}

// refine improves a base and a factor by ever farther tokens, and takes round numbers where
// they explain as much.
func (c *checker) refine(fitted *spec, f *fit, base, factor float64, scaled bool) (float64, float64) {
	tokens := slices.Clone(c.some)
	distance := func(t int) float64 {
		p := 0.0
		for a := range c.axes {
			p = max(p, math.Abs(float64(c.position(fitted, a, t))))
		}
		return p
	}
	slices.SortStableFunc(tokens, func(a, b int) int { return cmp.Compare(distance(a), distance(b)) })
	// offsets are the mean angles of pairs that a base and a factor leave: an offset of
	// positions is no concern here.
	offsets := func(base, factor float64, tokens []int) (angles []float64, z, sums []complex128) {
		angles, z, sums = make([]float64, len(tokens)*f.pairs), make([]complex128, len(tokens)*f.pairs), make([]complex128, f.pairs)
		for i := range f.pairs {
			w := math.Pow(base, -2*float64(i)/float64(f.dim)) / factor * float64(fitted.sign())
			for n, t := range tokens {
				at := t*f.pairs + i
				angles[n*f.pairs+i] = float64(c.position(fitted, fitted.axis(i), t)) * w
				z[n*f.pairs+i] = complex(f.weights[at], 0) * f.r[at] * cmplx.Rect(1, -angles[n*f.pairs+i])
				sums[i] += z[n*f.pairs+i]
			}
		}
		return angles, z, sums
	}
	difference := func(base, factor float64, tokens []int) float64 {
		_, z, sums := offsets(base, factor, tokens)
		sum := 0.0
		for _, v := range z {
			sum += cmplx.Abs(v)
		}
		for _, v := range sums {
			sum -= cmplx.Abs(v)
		}
		return sum
	}
	// Gauss and Newton, in the logarithms of both.
	for n := 2; ; n = min(2*n, len(tokens)) {
		some := tokens[:min(n, len(tokens))]
		for range 5 {
			angles, z, sums := offsets(base, factor, some)
			var bb, bg, gg, be, ge float64
			for i := range f.pairs {
				var w, meanB, meanG, meanE float64
				slope := -2 * float64(i) / float64(f.dim)
				moment := func(visit func(w, b, g, e float64)) {
					for n := range some {
						v := z[n*f.pairs+i]
						if w := cmplx.Abs(v); w > 0 {
							angle := angles[n*f.pairs+i]
							visit(w, angle*slope, -angle, cmplx.Phase(v*cmplx.Conj(sums[i])))
						}
					}
				}
				moment(func(weight, b, g, e float64) {
					w, meanB, meanG, meanE = w+weight, meanB+weight*b, meanG+weight*g, meanE+weight*e
				})
				if w > 0 {
					meanB, meanG, meanE = meanB/w, meanG/w, meanE/w
				}
				moment(func(weight, b, g, e float64) {
					b, g, e = b-meanB, g-meanG, e-meanE
					bb, bg, gg = bb+weight*b*b, bg+weight*b*g, gg+weight*g*g
					be, ge = be+weight*b*e, ge+weight*g*e
				})
			}
			var moreB, moreG float64
			if !scaled {
				moreB = be / bb
			} else if d := bb*gg - bg*bg; d > 1e-12*bb*gg {
				moreB, moreG = (be*gg-ge*bg)/d, (ge*bb-be*bg)/d
			}
			if !(math.Abs(moreB) < 0.1 && math.Abs(moreG) < 0.1) {
				break
			}
			base, factor = base*math.Exp(moreB), factor*math.Exp(moreG)
		}
		if n >= len(tokens) {
			break
		}
	}
	least := difference(base, factor, tokens)
	power := f.power / f.factor
	alike := func(d float64) bool {
		return d <= least*(1.02+c.coarse)+1e-3*c.floor*c.floor*power
	}
	for digits := 1; digits <= 6; digits++ {
		b, g := roundTo(base, digits), factor
		if scaled {
			for decimals := 1; decimals <= 4; decimals++ {
				if g = roundTo(factor, decimals); alike(difference(b, g, tokens)) {
					return b, g
				}
			}
			continue
		}
		if alike(difference(b, g, tokens)) {
			return b, g
		}
	}
	return base, factor
}

// roundTo is x in some decimal digits.
func roundTo(x float64, digits int) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', digits-1, 64), 64)
	if err != nil {
		return x
	}
	return v
}
