package ropecheck

import (
	"fmt"
	"math"
	"math/cmplx"
	"slices"

	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/modelconfig"
)

// Reading is how the frequencies of a candidate are got wrong.
type Reading struct {
	Text    string // a sentence
	InvFreq []float64
	Base    float64 // of which the frequencies are powers, scaled afterwards; 0: the candidate's
}

// knownBases are those of models.
var knownBases = []float64{1e4, 5e5, 1e6, 5e6, 1e5, 150000, 160000, 20000, 40000, 50000, 8e6, 1e7, 3.2e7, 1.5e6, 2e6, 3e5, 6e5, 1e3, 100, 1e8, 1e9, 25e6, 11158840, 28000, 1002}

// frequenciesOf makes the frequencies of a rule anew.
func frequenciesOf(dim int, base float64, parameters any) []float64 {
	var l frequency.Ladder
	var err error
	switch p := parameters.(type) {
	case nil:
		l, err = frequency.Default(dim, base, frequency.Exact)
	case frequency.LinearParameters:
		l, err = frequency.Linear(dim, base, p, frequency.Exact)
	case frequency.NTKParameters:
		l, err = frequency.NTK(dim, base, p, frequency.Exact)
	case frequency.NTKAlphaParameters:
		l, err = frequency.NTKAlpha(dim, base, p, frequency.Exact)
	case frequency.NTKMixedParameters:
		l, err = frequency.NTKMixed(dim, base, p, frequency.Exact)
	case frequency.DynamicNTKParameters:
		l, err = frequency.DynamicNTK(dim, base, p, frequency.Exact)
	case frequency.YaRNParameters:
		l, err = frequency.YaRN(dim, base, p, frequency.Exact)
	case frequency.LongRoPEParameters:
		l, err = frequency.LongRoPE(dim, base, p, frequency.Exact)
	case frequency.Llama3Parameters:
		l, err = frequency.Llama3(dim, base, p, frequency.Exact)
	case frequency.ProportionalParameters:
		l, err = frequency.Proportional(dim, base, p, frequency.Exact)
	case []float64:
		l, err = frequency.Factors(dim, base, p, frequency.Exact)
	default:
		return nil
	}
	if err != nil {
		return nil
	}
	return l.InvFreq
}

// readings are the rule of a model read wrong.
func readings(name string, rule modelconfig.Rule, right []float64) (list []Reading) {
	if rule.Name == "axial" || !(rule.Base > 1) || len(right) == 0 {
		return nil
	}
	dim := 2 * len(right)
	switch p := rule.Parameters.(type) { // those of the length that the frequencies are of
	case frequency.LongRoPEParameters:
		if p.SequenceLength = p.OriginalMaxPositions + 1; sameLadder(frequenciesOf(dim, rule.Base, p), right) {
			rule.Parameters = p
		}
	case frequency.DynamicNTKParameters:
		for n := 1024; n <= 1<<20; n *= 2 {
			if p.SequenceLength = n; sameLadder(frequenciesOf(dim, rule.Base, p), right) {
				rule.Parameters = p
			}
		}
	}
	add := func(base float64, parameters any, text string, args ...any) {
		if made := frequenciesOf(dim, base, parameters); len(made) == len(right) {
			list = append(list, Reading{fmt.Sprintf(text, args...), made, base})
		}
	}
	if rule.Parameters != nil {
		add(rule.Base, nil, "The frequencies are those of %q.", name+" without its rule "+rule.Name)
		powers := frequenciesOf(dim, rule.Base, nil)
		twice, multiplied := slices.Clone(right), slices.Clone(right)
		for i, w := range powers {
			twice[i], multiplied[i] = right[i]*right[i]/w, w*w/max(right[i], math.SmallestNonzeroFloat32)
		}
		list = append(list, Reading{fmt.Sprintf("The rule %s is applied twice.", rule.Name), twice, rule.Base})
		if !slices.Contains(right, 0) {
			list = append(list, Reading{fmt.Sprintf("Frequencies are multiplied in place of divided by the factors of the rule %s.", rule.Name), multiplied, rule.Base})
		}
		exchanged := slices.Clone(right)
		for i, w := range powers {
			exchanged[i] = w + right[len(right)-1]/powers[len(powers)-1]*w - right[i]
		}
		if rule.Name == "yarn" || rule.Name == "llama3" {
			list = append(list, Reading{fmt.Sprintf("The bounds of the rule %s are exchanged: it scales the frequencies that it should keep.", rule.Name), exchanged, rule.Base})
		}
	}
	factor := func(f float64, with func(f float64) any) {
		for _, times := range [...]float64{2, 0.5, 4, 0.25, 8, f} {
			if other := f * times; other > 0 && other != f {
				add(rule.Base, with(other), "The rule %s has the factor %s in place of %s.", rule.Name, number(other), number(f))
			}
		}
	}
	original := func(n int, f float64, with func(n int) any) {
		lengths := []int{int(float64(n) * f), n * 2, n / 2, n * 4, n / 4}
		for k := 512; k <= 1<<18; k *= 2 {
			lengths = append(lengths, k)
		}
		for _, other := range lengths {
			if other > 1 && other != n {
				add(rule.Base, with(other), "The rule %s has original_max_position_embeddings of %d in place of %d.", rule.Name, other, n)
			}
		}
	}
	switch p := rule.Parameters.(type) {
	case frequency.LinearParameters:
		factor(p.Factor, func(f float64) any { return frequency.LinearParameters{Factor: f} })
	case frequency.NTKAlphaParameters:
		factor(p.Alpha, func(f float64) any { return frequency.NTKAlphaParameters{Alpha: f} })
	case frequency.NTKParameters:
		factor(p.Factor, func(f float64) any { return frequency.NTKParameters{Factor: f} })
	case frequency.NTKMixedParameters:
		factor(p.Factor, func(f float64) any { return frequency.NTKMixedParameters{Factor: f, MixedB: p.MixedB} })
	case frequency.Llama3Parameters:
		factor(p.Factor, func(f float64) any { q := p; q.Factor = f; return q })
		original(p.OriginalMaxPositions, p.Factor, func(n int) any { q := p; q.OriginalMaxPositions = n; return q })
		by := make([]float64, len(right))
		for i, w := range frequenciesOf(dim, rule.Base, nil) {
			shortest, longest := float64(p.OriginalMaxPositions)/p.HighFreqFactor, float64(p.OriginalMaxPositions)/p.LowFreqFactor
			smooth := min(1, max(0, (longest-2*math.Pi/w)/(longest-shortest)))
			by[i] = w/p.Factor*(1-smooth) + w*smooth
		}
		list = append(list, Reading{"The rule llama3 interpolates by wavelength in place of by frequency.", by, rule.Base})
	case frequency.YaRNParameters:
		q := p
		q.Untruncated = !p.Untruncated
		without := "out"
		if q.Untruncated {
			without = ""
		}
		add(rule.Base, q, "The frequencies are those of %q.", name+" with"+without+" truncate: false")
		factor(p.Factor, func(f float64) any { q := p; q.Factor = f; return q })
		original(p.OriginalMaxPositions, p.Factor, func(n int) any { q := p; q.OriginalMaxPositions = n; return q })
	case frequency.LongRoPEParameters:
		q := p
		q.SequenceLength = 0
		add(rule.Base, q, "The frequencies are those of the short factors of LongRoPE.")
		q.SequenceLength = p.OriginalMaxPositions + 1
		add(rule.Base, q, "The frequencies are those of the long factors of LongRoPE.")
	case frequency.DynamicNTKParameters:
		for n := 1024; n <= 1<<20; n *= 2 {
			q := p
			q.SequenceLength = n
			add(rule.Base, q, "The frequencies are those of dynamic NTK scaling for sequences of %d tokens.", n)
		}
	}
	for _, b := range knownBases {
		if b == rule.Base {
			continue
		}
		if rule.Parameters == nil {
			add(b, nil, "The frequencies are those of base %s, in place of base %s.", number(b), number(rule.Base))
		} else {
			add(b, rule.Parameters, "The rule %s has base %s in place of %s.", rule.Name, number(b), number(rule.Base))
			add(b, nil, "The frequencies are those of base %s without its rule %s, in place of base %s.", number(b), rule.Name, number(rule.Base))
		}
	}
	return slices.DeleteFunc(list, func(r Reading) bool { return sameLadder(r.InvFreq, right) })
}

func sameLadder(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) <= 1e-5*math.Abs(y) })
}

// generalReadings are the frequencies of any candidate got wrong: exponents and orders.
func generalReadings(s *spec) (list []Reading) {
	d := float64(s.dim)
	reverse := slices.Clone(s.invFreq)
	slices.Reverse(reverse)
	list = append(list, Reading{"The frequencies are the candidate's in reverse order.", reverse, 0})
	for _, kind := range [...]ElementType{BFloat16, Float16} {
		rounded := make([]float64, len(s.invFreq))
		for i, w := range s.invFreq {
			rounded[i] = float64(kind.round(float32(w)))
		}
		list = append(list, Reading{fmt.Sprintf("Frequencies are rounded to %v.", kind), rounded, 0})
	}
	if !s.geometric() {
		return list
	}
	if s.dim < s.headDim {
		list = append(list, Reading{fmt.Sprintf("Frequencies are powers of the base %s over %d elements, and the candidate has them over %d.", number(s.base), s.headDim, s.dim), geometric(s.headDim, s.base, 1)[:s.dim/2], 0})
	}
	for _, e := range []struct {
		text string
		of   func(i float64) float64
	}{
		{"i/d in place of 2i/d, or the base is the square root", func(i float64) float64 { return i / d }},
		{"4i/d in place of 2i/d, or the base is the square", func(i float64) float64 { return 4 * i / d }},
		{"2(i+1)/d in place of 2i/d", func(i float64) float64 { return 2 * (i + 1) / d }},
		{"2i/(d-2) in place of 2i/d", func(i float64) float64 { return 2 * i / (d - 2) }},
		{"(2i+1)/d in place of 2i/d", func(i float64) float64 { return (2*i + 1) / d }},
		{"(2i-1)/d in place of 2i/d", func(i float64) float64 { return (2*i - 1) / d }},
		{"2i/(d-1) in place of 2i/d", func(i float64) float64 { return 2 * i / (d - 1) }},
		{"of the next power of two of d", func(i float64) float64 { return 2 * i / math.Exp2(math.Ceil(math.Log2(d))) }},
	} {
		made := make([]float64, len(s.invFreq))
		for i := range made {
			made[i] = math.Pow(s.base, -e.of(float64(i)))
		}
		list = append(list, Reading{"The exponents are " + e.text + ".", made, 0})
	}
	for _, b := range knownBases {
		list = append(list, Reading{fmt.Sprintf("The frequencies are those of base %s, in place of base %s.", number(b), number(s.base)), geometric(s.dim, b, 1), b})
	}
	return slices.DeleteFunc(list, func(r Reading) bool { return sameLadder(r.InvFreq, s.invFreq) })
}

// readingTrials tries wrong readings of a candidate's frequencies: nothing is fitted but one factor.
func (c *checker) readingTrials(s *spec, f *fit) {
	if s.dim != f.dim || !c.known {
		return
	}
	list := slices.Concat(generalReadings(s), s.readings)
	for i, r := range list {
		if slices.ContainsFunc(list[:i], func(other Reading) bool { return sameLadder(other.InvFreq, r.InvFreq) }) {
			continue
		}
		other := *s
		other.structure, other.invFreq, other.base, other.reading = f.structure, r.InvFreq, r.Base, r.Text
		other.faults = []Aspect{FrequenciesAspect}
		t := &trial{spec: &other, fit: f, angles: OtherAngles, tables: Float32Tables}
		if t.residual, t.factor = c.slackResidual(t, c.some); !c.explains(t.residual) {
			continue
		}
		for _, better := range c.explaining(c.try(&other, f, once)) {
			better.cost -= 0.3 // than what is fitted
			c.trials = append(c.trials, better)
		}
	}
}

// leaves reports whether many elements that should change never do: then a smaller slice rotates.
func (c *checker) leaves(s *spec) bool {
	n := 0
	for i, w := range s.invFreq {
		farthest := 0.0
		for _, t := range c.all {
			farthest = max(farthest, math.Abs(float64(c.position(s, s.axis(i), t))))
		}
		in, out := s.pair(i)
		still := c.heads.changed[in[0]]+c.heads.changed[in[1]]+c.heads.changed[out[0]]+c.heads.changed[out[1]] == 0
		if still && math.Abs(w)*farthest > c.floor/2 {
			n++
		}
	}
	return n*8 >= len(s.invFreq)
}

// differingPairs are those whose frequencies are not the candidate's, with those that do not rotate, and
// those that do not tell; some reports whether others are the candidate's.
func (c *checker) differingPairs(s *spec, f *fit) (pairs, still, doubtful []int, some bool) {
	cos, sin, ok := c.tables(s, ExactAngles, c.all)
	if !ok || s.dim != f.dim {
		return nil, nil, nil, false
	}
	slack, same, factor := c.slack(s, c.all), 0, f.factor/max(s.factorOrOne(), 1e-9)
	if s.xpos != nil {
		factor = 1
	}
	for i := range f.pairs {
		var left, power, moved, turned float64
		for _, t := range c.all {
			at := t*f.pairs + i
			z := complex(float64(cos[at]), float64(sin[at]))
			d := math.Sqrt(abs2(f.r[at] - z*complex(factor, 0)))
			d = max(0, d-slack[at]*math.Sqrt(abs2(z)))
			left, power = left+f.weights[at]*d*d, power+f.weights[at]*abs2(f.r[at])
			turned += f.weights[at] * abs2(f.r[at]-complex(math.Sqrt(abs2(f.r[at])), 0))
			moved = max(moved, math.Abs(imag(z)))
		}
		most := c.limit() + 3*c.found.noise
		switch {
		case left > most*most*power:
			pairs = append(pairs, i)
			if turned <= most*most*power/4 {
				still = append(still, i)
			}
		case left > most*most*power/4:
			doubtful = append(doubtful, i)
		case moved > most:
			same++
		}
	}
	return pairs, still, doubtful, same > 0
}

// hasLengths reports whether pairs have the lengths that a spec gives them.
func (c *checker) hasLengths(s *spec, f *fit) bool {
	cos, sin, ok := c.tables(s, ExactAngles, c.all)
	if !ok || s.dim != f.dim {
		return false
	}
	var left, power float64
	for at, w := range f.weights {
		d := math.Sqrt(abs2(f.r[at])) - math.Hypot(float64(cos[at]), float64(sin[at]))
		left, power = left+w*d*d, power+w*abs2(f.r[at])
	}
	most := c.limit() + 3*c.found.noise
	return left <= most*most*power
}

// deviation is by how much frequencies are off, relative: the largest of those that the data tell to a
// unit in the last place of float32.
func (c *checker) deviation(t *trial) (most float64) {
	cos, sin, ok := c.tables(t.spec, ExactAngles, c.all)
	if !ok || t.fit == nil || t.times != 1 {
		return 0
	}
	z := applied(rotations(cos, sin, Float32Tables), t.spec)
	for i, w := range t.invFreq {
		var ae, aa float64
		for _, token := range c.all {
			at := token*t.fit.pairs + i
			angle := float64(c.position(t.spec, t.axis(i), token)) * w * float64(t.sign())
			weight := t.fit.weights[at]
			ae, aa = ae+weight*angle*cmplx.Phase(t.fit.r[at]*cmplx.Conj(z[at])), aa+weight*angle*angle
		}
		if aa > 0 && c.found.noise*math.Sqrt(t.fit.power/aa/float64(c.data.Heads)) < 0x1p-23 {
			most = max(most, math.Abs(ae/aa))
		}
	}
	return most
}
