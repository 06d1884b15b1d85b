package ropecheck_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/ropecheck"
)

// fault is one that engines have. plant changes the engine and returns a regular expression for what
// the check should say, "" where the layer cannot have the fault.
type fault struct {
	name  string
	cause ropecheck.Aspect
	plant func(e *port) string
}

// with plants a fault that is named in the same words for all layers.
func with(words string, change func(e *port)) func(e *port) string {
	return func(e *port) string { change(e); return words }
}

// where plants a fault in some layers.
func where(has func(e *port) bool, plant func(e *port) string) func(e *port) string {
	return func(e *port) string {
		if !has(e) {
			return ""
		}
		return plant(e)
	}
}

func isPlain(e *port) bool   { return e.rule.name == "" && e.xpos == nil && e.other == 0 }
func isPartial(e *port) bool { return e.dim < e.headDim }
func hasAxes(e *port) bool   { return e.axes != nil }
func hasNone(e *port) bool   { return e.axes == nil }
func hasRule(names ...string) func(e *port) bool {
	return func(e *port) bool { return slices.Contains(names, e.rule.name) }
}
func hasHeads(n int) func(e *port) bool { return func(e *port) bool { return e.heads >= n } }

// reset computes the frequencies anew, of a rule or base that was changed, and ladder those alone.
func (e *port) reset()  { e.invFreq, e.factor = e.rule.frequencies(e.dim, e.base) }
func (e *port) ladder() { e.invFreq, _ = e.rule.frequencies(e.dim, e.base) }

func faults() []fault {
	list := slices.Concat(layoutFaults(), formulaFaults(), scaleFaults(), frequencyFaults(), positionFaults(), axisFaults(), partFaults(), noisyFaults(), twoFaults())
	return list
}

func layoutFaults() []fault {
	pairsAs := func(layout posenc.Layout) func(e *port) string {
		return func(e *port) string {
			if e.layout == layout {
				return ""
			}
			e.pair = func(i int) (in, out [2]int) { return e.pairOf(layout, i) }
			return fmt.Sprintf("Pairs are %v, and the candidate has %v", layout, e.layout)
		}
	}
	slice := func(offset, dim int) string {
		return fmt.Sprintf("(?i)elements %d to %d of a head rotate", offset, offset+dim-1)
	}
	crossed := func(layout posenc.Layout) func(e *port) string {
		return func(e *port) string {
			if e.layout > posenc.Interleaved || e.axes != nil {
				return ""
			}
			e.crossed(layout)
			return fmt.Sprintf("Cosines and sines are in the order of %v, but pairs are %v", map[posenc.Layout]posenc.Layout{posenc.HalfSplit: posenc.Interleaved, posenc.Interleaved: posenc.HalfSplit}[layout], layout)
		}
	}
	return []fault{
		{"pairs of halves", ropecheck.LayoutAspect, pairsAs(posenc.HalfSplit)},
		{"pairs of neighbours", ropecheck.LayoutAspect, pairsAs(posenc.Interleaved)},
		{"written as halves", ropecheck.LayoutAspect, pairsAs(posenc.InterleavedToHalfSplit)},
		{"read as halves", ropecheck.LayoutAspect, pairsAs(posenc.HalfSplitToInterleaved)},
		{"tables of pairs, halves", ropecheck.LayoutAspect, crossed(posenc.HalfSplit)},
		{"tables of halves, pairs", ropecheck.LayoutAspect, crossed(posenc.Interleaved)},
		{"first elements", ropecheck.SliceAspect, where(isPartial, func(e *port) string {
			if e.offset == 0 {
				return ""
			}
			e.offset = 0
			return slice(0, e.dim)
		})},
		{"last elements", ropecheck.SliceAspect, where(isPartial, func(e *port) string {
			if e.offset > 0 {
				return ""
			}
			e.offset = e.headDim - e.dim
			return slice(e.offset, e.dim)
		})},
		{"slice two elements late", ropecheck.SliceAspect, where(isPartial, func(e *port) string {
			if e.offset+e.dim+2 > e.headDim {
				return ""
			}
			e.offset += 2
			return slice(e.offset, e.dim)
		})},
		{"the whole head", ropecheck.SliceAspect, where(isPartial, func(e *port) string {
			if e.axes != nil {
				return ""
			}
			e.offset, e.dim = 0, e.headDim
			e.reset()
			return slice(0, e.headDim)
		})},
		{"half of the slice", ropecheck.SliceAspect, where(func(e *port) bool { return e.axes == nil && e.rule.name == "" }, func(e *port) string {
			e.dim /= 2
			e.reset()
			if e.layout == posenc.Interleaved && e.kind != ropecheck.Float32 {
				return slice(e.offset, e.dim) + "|4i/d" // the other pairs then turn by less than 16 bits show
			}
			return slice(e.offset, e.dim)
		})},
		{"half of the slice, first frequencies", ropecheck.SliceAspect, where(hasNone, func(e *port) string {
			e.dim /= 2
			e.invFreq = e.invFreq[:e.dim/2]
			return slice(e.offset, e.dim) + "|Pairs [0-9]+ to [0-9]+ do not rotate" // the same for neighbours
		})},
		{"each half as a head", ropecheck.LayoutAspect, where(func(e *port) bool {
			return isPlain(e) && !isPartial(e) && e.layout <= posenc.Interleaved && e.axes == nil
		}, func(e *port) string {
			width := e.dim / 2
			frequencies := powers(width, e.base)
			e.pair = func(i int) (in, out [2]int) {
				at, j := i/(width/2)*width, i%(width/2)
				pair := [2]int{at + j, at + j + width/2}
				if e.layout == posenc.Interleaved {
					pair = [2]int{at + 2*j, at + 2*j + 1}
				}
				return pair, pair
			}
			for i := range e.invFreq {
				e.invFreq[i] = frequencies[i%(width/2)]
			}
			return fmt.Sprintf("heads of %d elements", width)
		})},
		{"some pairs not rotated", ropecheck.FrequenciesAspect, func(e *port) string {
			n := e.dim / 2
			for i := n / 4; i < n/2; i++ {
				e.invFreq[i] = 0
			}
			return fmt.Sprintf("Pairs %d to [0-9]+ do not rotate", n/4) // the last ones turn too little in 16 bits
		}},
		{"first pair not rotated", ropecheck.FrequenciesAspect, func(e *port) string {
			e.invFreq[0] = 0
			return "Pair 0 does not rotate"
		}},
		{"frequencies in reverse", ropecheck.FrequenciesAspect, where(func(e *port) bool { return !hasRule("proportional")(e) && e.axes == nil }, with("in reverse order", func(e *port) {
			slices.Reverse(e.invFreq)
		}))},
	}
}

// crossed rotates pairs of a layout by tables with an entry for each element in the order of the other:
// transformers' rotate_half with repeat_interleave, or the other way about.
func (e *port) crossed(layout posenc.Layout) {
	e.times = 0
	e.after = func(x []float64, t, h int) {
		y := slices.Clone(x)
		for at := range e.dim {
			partner, sign, pair := (at+e.dim/2)%e.dim, 1.0, at/2
			if at < e.dim/2 {
				sign = -1
			}
			if layout == posenc.Interleaved {
				partner, sign, pair = at^1, float64(at%2*2-1), at%(e.dim/2)
			}
			p := e.position(0, t, h)
			s, c := math.Sincos(e.arithmetic.angle(p, pair, e.arithmetic.ladder(e.invFreq), e))
			g := e.factor * e.lengths(p, pair)
			y[e.offset+at] = x[e.offset+at]*c*g + sign*x[e.offset+partner]*s*g
		}
		copy(x, y)
	}
}

// formulaFaults are slips in the four products: [[y1 of x1, of x2], [y2 of x1, of x2]].
func formulaFaults() (list []fault) {
	for _, slip := range []struct {
		name, equation string
		formula        func(c, s float64) [2][2]float64
	}{
		{"y1 overwritten", "y2 = x2*cos + y1*sin", func(c, s float64) [2][2]float64 { return [2][2]float64{{c, -s}, {s * c, c - s*s}} }},
		{"y2 overwritten", "y1 = x1*cos - y2*sin", func(c, s float64) [2][2]float64 { return [2][2]float64{{c - s*s, -s * c}, {s, c}} }},
		{"plus for minus", "y1 = x1*cos + x2*sin", func(c, s float64) [2][2]float64 { return [2][2]float64{{c, s}, {s, c}} }},
		{"minus for plus", "y2 = x2*cos - x1*sin", func(c, s float64) [2][2]float64 { return [2][2]float64{{c, -s}, {-s, c}} }},
		{"cosines alone", "y1 = x1*cos, y2 = x2*cos", func(c, s float64) [2][2]float64 { return [2][2]float64{{c, 0}, {0, c}} }},
		{"sines alone", "y1 = -x2*sin, y2 = x1*sin", func(c, s float64) [2][2]float64 { return [2][2]float64{{0, -s}, {s, 0}} }},
		{"cosines and sines exchanged", "Cosines and sines are exchanged", func(c, s float64) [2][2]float64 { return [2][2]float64{{s, -c}, {c, s}} }},
		{"results exchanged", "y1 = x2*cos + x1*sin, y2 = x1*cos - x2*sin", func(c, s float64) [2][2]float64 { return [2][2]float64{{s, c}, {c, -s}} }},
		{"y1 alone", "y2 = x2", func(c, s float64) [2][2]float64 { return [2][2]float64{{c, -s}, {0, 1}} }},
		{"y2 alone", "y1 = x1", func(c, s float64) [2][2]float64 { return [2][2]float64{{1, 0}, {s, c}} }},
		{"elements not exchanged", "y1 = x1*cos - x1*sin", func(c, s float64) [2][2]float64 { return [2][2]float64{{c - s, 0}, {0, c + s}} }},
		{"added to the input", "y1 = x1 + x1*cos - x2*sin", func(c, s float64) [2][2]float64 { return [2][2]float64{{1 + c, -s}, {s, 1 + c}} }},
		{"sines for cosines", "y1 = x1*sin - x2*sin", func(c, s float64) [2][2]float64 { return [2][2]float64{{s, -s}, {s, s}} }},
		{"cosines for sines", "y1 = x1*cos - x2*cos", func(c, s float64) [2][2]float64 { return [2][2]float64{{c, -c}, {c, c}} }},
		{"y1 negated", "y1 = x2*sin - x1*cos", func(c, s float64) [2][2]float64 { return [2][2]float64{{-c, s}, {s, c}} }},
		{"y2 negated", "y2 = -x2*cos - x1*sin", func(c, s float64) [2][2]float64 { return [2][2]float64{{c, -s}, {-s, -c}} }},
		{"sines without a sign", "y1 = x1*cos - x2*|sin|", func(c, s float64) [2][2]float64 {
			return [2][2]float64{{c, -math.Abs(s)}, {math.Abs(s), c}}
		}},
	} {
		list = append(list, fault{slip.name, ropecheck.FormulaAspect, with(regexp.QuoteMeta(slip.equation), func(e *port) { e.formula = slip.formula })})
	}
	hasFactor := func(e *port) bool { return e.factor != 1 }
	return append(list,
		fault{"inverse", ropecheck.SignAspect, with("The rotation goes the other way", func(e *port) {
			e.formula = func(c, s float64) [2][2]float64 { return rotation(c, -s) }
		})},
		fault{"twice", ropecheck.TimesAspect, with("applied twice", func(e *port) { e.times = 2 })},
		fault{"three times", ropecheck.TimesAspect, with("applied 3 times|times 3", func(e *port) { e.times = 3 })},
		fault{"never", ropecheck.TimesAspect, with("Nothing was rotated", func(e *port) { e.times = 0 })},
		fault{"factor of cosines alone", ropecheck.FormulaAspect, where(hasFactor, with("multiplies cosines alone", func(e *port) {
			e.formula = func(c, s float64) [2][2]float64 { return rotation(c, s/e.factor) }
		}))},
		fault{"factor of sines alone", ropecheck.FormulaAspect, where(hasFactor, with("multiplies sines alone", func(e *port) {
			e.formula = func(c, s float64) [2][2]float64 { return rotation(c/e.factor, s) }
		}))},
	)
}

// numberText matches a number to half a percent.
func numberText(x float64) string {
	low, high := fmt.Sprintf("%.4f", x*0.998), fmt.Sprintf("%.4f", x*1.002)
	return fmt.Sprintf(`(?:%.3g|%s|%s|%s)\d*`, x, regexp.QuoteMeta(low[:4]), regexp.QuoteMeta(high[:4]), regexp.QuoteMeta(strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.3f", x), "0"), ".")))
}

func scaleFaults() []fault {
	hasFactor := func(e *port) bool { return e.factor != 1 }
	scaled := func(scale func(x []float64, t, h int) float64) func(e *port) {
		return func(e *port) {
			e.after = func(x []float64, t, h int) {
				g := scale(x, t, h)
				for i := range x {
					x[i] *= g
				}
			}
		}
	}
	root := func(x []float64) float64 {
		sum := 0.0
		for _, v := range x {
			sum += v * v
		}
		return math.Sqrt(sum / float64(len(x)))
	}
	weights := func(e *port) []float64 {
		r, list := rand.New(rand.NewPCG(5, 5)), make([]float64, e.headDim)
		for i := range list {
			list[i] = 1 + math.Abs(r.NormFloat64())
		}
		return list
	}
	norm := func(weight func(i int) float64) func(x []float64) {
		return func(x []float64) {
			g := 1 / root(x)
			for i := range x {
				x[i] *= g * weight(i)
			}
		}
	}
	one := func(int) float64 { return 1 }
	noDecay := func(e *port) bool { return e.xpos == nil && !e.still }
	return []fault{
		{"no attention factor", ropecheck.FactorAspect, where(hasFactor, with("attention factor .* is left out", func(e *port) { e.factor = 1 }))},
		{"attention factor squared", ropecheck.FactorAspect, where(hasFactor, with("attention factor is applied twice", func(e *port) { e.factor *= e.factor }))},
		{"attention factor divides", ropecheck.FactorAspect, where(hasFactor, with("divided by the attention factor", func(e *port) { e.factor = 1 / e.factor }))},
		{"attention factor of the whole head", ropecheck.FactorAspect, where(func(e *port) bool { return hasFactor(e) && isPartial(e) }, func(e *port) string {
			f := e.factor
			e.after = func(x []float64, _, _ int) {
				for i := range x {
					if i < e.offset || i >= e.offset+e.dim {
						x[i] *= f
					}
				}
			}
			return "elements that do not rotate are multiplied by " + numberText(f)
		})},
		{"a factor of 1.2", ropecheck.FactorAspect, func(e *port) string { e.factor *= 1.2; return numberText(e.factor) }},
		{"scale of scores", ropecheck.ScaleAspect, func(e *port) string {
			scaled(func([]float64, int, int) float64 { return 1 / math.Sqrt(float64(e.headDim)) })(e)
			return "Whole heads are multiplied by .*1/sqrt"
		}},
		{"a scale of heads", ropecheck.ScaleAspect, where(isPartial, with(`Whole heads are multiplied by 0\.3\b`, scaled(func([]float64, int, int) float64 { return 0.3 })))},
		{"a scale of tokens", ropecheck.ScaleAspect, with("Each token has a scale of its own", scaled(func(_ []float64, t, _ int) float64 { return 1 + float64(t)/10 }))},
		{"a scale of each head", ropecheck.ScaleAspect, where(hasHeads(3), with("(?i)each head has a scale of its own", scaled(func(_ []float64, _, h int) float64 { return 1 + float64(h)/4 })))},
		{"norm", ropecheck.ScaleAspect, with("Heads are normalized on the way: rms, times 1(?:[.,]| |$)", func(e *port) { e.before = norm(one) })},
		{"norm to length 1", ropecheck.ScaleAspect, where(func(e *port) bool { return e.factor == 1 && e.xpos == nil }, func(e *port) string {
			e.before = norm(func(int) float64 { return 1 / math.Sqrt(float64(e.headDim)) })
			return "Heads are normalized on the way: rms, times " + numberText(1/math.Sqrt(float64(e.headDim)))
		})},
		{"norm with weights", ropecheck.ScaleAspect, where(hasHeads(4), with("Heads are normalized on the way: rms with weights, times", func(e *port) {
			w := weights(e)
			e.before = norm(func(i int) float64 { return w[i] })
		}))},
		{"norm with weights, after", ropecheck.ScaleAspect, where(hasHeads(4), with("rms with weights, after the rotation", func(e *port) {
			w := weights(e)
			e.after = func(x []float64, _, _ int) { norm(func(i int) float64 { return w[i] })(x) }
		}))},
		{"bias after the rotation", ropecheck.ScaleAspect, where(noDecay, with("added to every head after the rotation", func(e *port) {
			w := weights(e)
			e.after = func(x []float64, _, _ int) {
				for i := range x {
					x[i] += w[i] / 4
				}
			}
		}))},
		{"bias added too late", ropecheck.ScaleAspect, where(noDecay, with("added to every head before the rotation", func(e *port) {
			w := weights(e)
			e.before = func(x []float64) {
				for i := range x {
					x[i] += w[i] / 4
				}
			}
		}))},
		{"no decay", ropecheck.FactorAspect, where(func(e *port) bool { return e.xpos != nil }, with("decay of xPos is left out", func(e *port) {
			e.lengths = func(float64, int) float64 { return 1 }
		}))},
		{"decay of the other side", ropecheck.FactorAspect, where(func(e *port) bool { return e.xpos != nil }, with("decay of xPos is .*(keys|queries)", func(e *port) {
			e.lengths = func(p float64, i int) float64 { return 1 / e.decay(p, i) }
		}))},
		{"decay by another base", ropecheck.FactorAspect, where(func(e *port) bool { return e.xpos != nil }, with("decay of xPos .* 256", func(e *port) {
			e.lengths = func(p float64, i int) float64 { return e.decay(2*p, i) }
		}))},
		{"decay of none", ropecheck.FactorAspect, where(isPlain, with("decay of xPos", func(e *port) {
			e.lengths = func(p float64, i int) float64 {
				d := float64(e.dim)
				return math.Pow((2*float64(i)+0.4*d)/(1.4*d), p/512)
			}
		}))},
	}
}

func frequencyFaults() []fault {
	base := func(b float64) func(e *port) string {
		return func(e *port) string {
			if e.base == b || e.rule.name == "proportional" {
				return ""
			}
			e.base = b
			e.reset()
			if e.rule.name == "" {
				return fmt.Sprintf("base %.0f|other layers", b)
			}
			return fmt.Sprintf("base %.0f", b)
		}
	}
	scaled := func(by float64, words string) func(e *port) string {
		return where(func(e *port) bool { return e.axes == nil && !(e.rule.name == "linear" && by < 1) }, with(words, func(e *port) {
			for i := range e.invFreq {
				e.invFreq[i] *= by
			}
		}))
	}
	original := func(change func(r *rule)) func(e *port) string {
		return where(hasRule("llama3", "yarn"), func(e *port) string {
			change(&e.rule)
			e.ladder()
			return fmt.Sprintf("original.* %.0f", e.rule.original)
		})
	}
	exponent := func(words string, of func(i, dim int) float64) func(e *port) string {
		return where(func(e *port) bool { return isPlain(e) }, with(words, func(e *port) {
			for i := range e.invFreq {
				e.invFreq[i] = math.Pow(e.base, -of(i, e.dim))
			}
		}))
	}
	from := func(change func(e *port, i int)) func(e *port) string {
		return func(e *port) string {
			n := e.dim / 4
			if hasRule("proportional")(e) {
				return ""
			}
			for i := n; i < e.dim/2; i++ {
				change(e, i)
			}
			return fmt.Sprintf("from pair %d on", n)
		}
	}
	return []fault{
		{"base 10000", ropecheck.FrequenciesAspect, base(1e4)},
		{"base 500000", ropecheck.FrequenciesAspect, base(5e5)},
		{"base 1000000", ropecheck.FrequenciesAspect, base(1e6)},
		{"base 150000", ropecheck.FrequenciesAspect, base(150000)},
		{"base of other layers", ropecheck.FrequenciesAspect, where(func(e *port) bool { return e.other != 0 }, with(`those of "other layers"`, func(e *port) {
			e.base, e.rule = e.other, rule{}
			e.reset()
		}))},
		{"linear scaling by 4", ropecheck.FrequenciesAspect, scaled(0.25, "divided by 4|multiplied by 0.25")},
		{"linear scaling by 2.5", ropecheck.FrequenciesAspect, scaled(0.4, `divided by 2\.5`)},
		{"no linear scaling", ropecheck.FrequenciesAspect, where(hasRule("linear"), with("without (the|its) rule|left out", func(e *port) {
			e.rule = rule{}
			e.reset()
		}))},
		{"NTK scaling by 8", ropecheck.FrequenciesAspect, where(isPlain, with("NTK scaling by a factor of 8", func(e *port) {
			e.rule = rule{name: "NTK alpha", factor: 8}
			e.reset()
		}))},
		{"no rule", ropecheck.FrequenciesAspect, where(hasRule("NTK alpha", "dynamic NTK", "NTK mixed", "llama3", "yarn", "longrope", "proportional"), with("without its rule", func(e *port) {
			e.rule = rule{}
			e.ladder()
		}))},
		{"rule applied twice", ropecheck.FrequenciesAspect, where(hasRule("llama3", "yarn", "linear", "NTK mixed", "longrope"), with("rule .*applied twice", func(e *port) {
			for i, w := range powers(e.dim, e.base) {
				e.invFreq[i] *= e.invFreq[i] / w
			}
		}))},
		{"rule multiplies", ropecheck.FrequenciesAspect, where(hasRule("linear", "longrope", "NTK mixed"), with("multiplied in place of divided", func(e *port) {
			for i, w := range powers(e.dim, e.base) {
				e.invFreq[i] = w * w / e.invFreq[i]
			}
		}))},
		{"twice the factor of the rule", ropecheck.FrequenciesAspect, where(hasRule("llama3", "yarn", "NTK alpha", "NTK mixed"), func(e *port) string {
			e.rule.factor *= 2
			e.ladder()
			return fmt.Sprintf("factor %.0f", e.rule.factor)
		})},
		{"original length of the context", ropecheck.FrequenciesAspect, original(func(r *rule) { r.original *= r.factor })},
		{"original length halved", ropecheck.FrequenciesAspect, original(func(r *rule) { r.original /= 2 })},
		{"smoothed by wavelength", ropecheck.FrequenciesAspect, where(hasRule("llama3"), with("by wavelength", func(e *port) {
			r := e.rule
			for i, w := range powers(e.dim, e.base) {
				long, low, high := 2*math.Pi/w, r.original/r.high, r.original/r.low
				smooth := min(1, max(0, (high-long)/(high-low)))
				e.invFreq[i] = w/r.factor*(1-smooth) + w*smooth
			}
		}))},
		{"bounds exchanged", ropecheck.FrequenciesAspect, where(hasRule("llama3", "yarn"), with("exchanged", func(e *port) {
			r := e.rule
			pairs := powers(e.dim, e.base)
			if r.name == "llama3" {
				for i, w := range pairs { // interpolated where it should not be
					turns := r.original * w / (2 * math.Pi)
					smooth := min(1, max(0, (turns-r.low)/(r.high-r.low)))
					e.invFreq[i] = w/r.factor*smooth + w*(1-smooth)
				}
				return
			}
			for i, w := range pairs {
				e.invFreq[i] = w + w/r.factor - e.invFreq[i]
			}
		}))},
		{"truncated", ropecheck.FrequenciesAspect, where(hasRule("yarn"), with("truncate", func(e *port) {
			e.rule.untruncated = !e.rule.untruncated
			e.ladder()
		}))},
		{"factors of the other length", ropecheck.FrequenciesAspect, where(hasRule("longrope"), func(e *port) string {
			e.rule.isLong = !e.rule.isLong
			e.reset()
			return map[bool]string{true: "long factors", false: "short factors"}[e.rule.isLong]
		})},
		{"another length", ropecheck.FrequenciesAspect, where(hasRule("dynamic NTK"), with("sequences? of 4096", func(e *port) {
			e.rule.length = 4096
			e.reset()
		}))},
		{"exponents of the whole head", ropecheck.FrequenciesAspect, where(func(e *port) bool { return isPartial(e) && isPlain(e) && hasNone(e) }, func(e *port) string {
			e.invFreq = powers(e.headDim, e.base)[:e.dim/2]
			return fmt.Sprintf("over %d elements", e.headDim)
		})},
		{"exponent i/d", ropecheck.FrequenciesAspect, exponent(`exponents? (are|is) i/d\b|over \d+ elements`, func(i, d int) float64 { return float64(i) / float64(d) })},
		{"exponent 2(i+1)/d", ropecheck.FrequenciesAspect, exponent(`2\(i\+1\)/d`, func(i, d int) float64 { return 2 * float64(i+1) / float64(d) })},
		{"exponent 2i/(d-2)", ropecheck.FrequenciesAspect, exponent(`2i/\(d-2\)`, func(i, d int) float64 { return 2 * float64(i) / float64(d-2) })},
		{"exponent 4i/d", ropecheck.FrequenciesAspect, exponent(`4i/d`, func(i, d int) float64 { return 4 * float64(i) / float64(d) })},
		{"one frequency", ropecheck.FrequenciesAspect, func(e *port) string { e.invFreq[3] *= 1.5; return "(?i)pair 3 " }},
		{"slower from a pair on", ropecheck.FrequenciesAspect, from(func(e *port, i int) { e.invFreq[i] /= 3.3 })},
		{"neighbour's frequency from a pair on", ropecheck.FrequenciesAspect, from(func(e *port, i int) { e.invFreq[i] = e.invFreq[i-1] * 0.97 })},
	}
}

func positionFaults() []fault {
	move := func(to func(e *port, axis, t, h int) float64) func(e *port) {
		return func(e *port) { e.position = func(axis, t, h int) float64 { return to(e, axis, t, h) } }
	}
	at := func(e *port, axis, t int) float64 { return float64(e.positions[axis][t]) }
	shifted := func(n float64) func(e *port) {
		return move(func(e *port, axis, t, _ int) float64 { return at(e, axis, t) + n })
	}
	texts := func(words string, change func(e *port)) func(e *port) string {
		return where(hasNone, with(words, change))
	}
	return []fault{
		{"one later", ropecheck.PositionsAspect, with("Positions are 1 higher than given", shifted(1))},
		{"one earlier", ropecheck.PositionsAspect, with("Positions are 1 lower than given", shifted(-1))},
		{"a prefix later", ropecheck.PositionsAspect, with("Positions are 517 higher than given", shifted(517))},
		{"positions of padding", ropecheck.PositionsAspect, texts("(?i)tokens 0.* to 7 rotate by positions? 1", move(func(e *port, axis, t, _ int) float64 {
			if t < 8 {
				return 1
			}
			return at(e, axis, t)
		}))},
		{"sequential positions", ropecheck.PositionsAspect, texts("sequential", move(func(_ *port, _, t, _ int) float64 { return float64(t) }))},
		{"positions in reverse", ropecheck.PositionsAspect, texts("in reverse order", move(func(e *port, axis, t, _ int) float64 {
			return at(e, axis, len(e.positions[0])-1-t)
		}))},
		{"restarted positions", ropecheck.PositionsAspect, texts("(?i)restart at token 9", move(func(e *port, axis, t, _ int) float64 {
			if t >= 9 {
				return at(e, axis, t) - at(e, axis, 9)
			}
			return at(e, axis, t)
		}))},
		{"clipped positions", ropecheck.PositionsAspect, texts("clipped at 511", move(func(e *port, axis, t, _ int) float64 { return min(at(e, axis, t), 511) }))},
		{"wrapped positions", ropecheck.PositionsAspect, texts("modulo 512", move(func(e *port, axis, t, _ int) float64 { return math.Mod(at(e, axis, t), 512) }))},
		{"one position for all", ropecheck.PositionsAspect, texts("All tokens rotate by position [0-9]+", move(func(e *port, axis, _, _ int) float64 { return at(e, axis, len(e.positions[0])-1) }))},
		{"position of the head", ropecheck.PositionsAspect, where(func(e *port) bool { return e.heads >= 3 && e.axes == nil }, with("number of the head", move(func(_ *port, _, _, h int) float64 { return float64(h) })))},
		{"position of the row", ropecheck.PositionsAspect, where(func(e *port) bool { return e.heads >= 2 && e.axes == nil }, with("number of the row", move(func(e *port, _, t, h int) float64 { return float64(t*e.heads + h) })))},
		{"positions of the next token", ropecheck.PositionsAspect, texts("next token", move(func(e *port, axis, t, _ int) float64 {
			return at(e, axis, (t+1)%len(e.positions[0]))
		}))},
		{"positions of the token before", ropecheck.PositionsAspect, texts("token before", move(func(e *port, axis, t, _ int) float64 {
			n := len(e.positions[0])
			return at(e, axis, (t+n-1)%n)
		}))},
		{"half positions", ropecheck.PositionsAspect, texts("half|divided by 2", move(func(e *port, axis, t, _ int) float64 { return math.Floor(at(e, axis, t) / 2) }))},
		{"one position", ropecheck.PositionsAspect, texts("(?i)token 5(: positions are 395 higher| rotates by position 400)", move(func(e *port, axis, t, _ int) float64 {
			if t == 5 {
				return 400
			}
			return at(e, axis, t)
		}))},
		{"positions from 1 in a token", ropecheck.PositionsAspect, texts("(?i)token 0(: positions are 7 higher| rotates by position 7)", move(func(e *port, axis, t, _ int) float64 {
			if t == 0 {
				return 7
			}
			return at(e, axis, t)
		}))},
		{"positions in bfloat16", ropecheck.PositionsAspect, func(e *port) string {
			if e.axes != nil || e.kind != ropecheck.Float32 || e.xpos != nil {
				return ""
			}
			move(func(e *port, axis, t, _ int) float64 { return float64(bf16(float32(at(e, axis, t)))) })(e)
			return "Positions are rounded to bfloat16"
		}},
		{"tables in bfloat16", ropecheck.RoundingAspect, func(e *port) string {
			if e.kind != ropecheck.Float32 || e.xpos != nil {
				return ""
			}
			e.arithmetic.table = func(x float64) float64 { return float64(bf16(float32(x))) }
			return "Cosines and sines are rounded to bfloat16"
		}},
		{"tables in float16", ropecheck.RoundingAspect, func(e *port) string {
			if e.kind != ropecheck.Float32 || e.xpos != nil {
				return ""
			}
			e.arithmetic.table = func(x float64) float64 { return float64(f16(float32(x))) }
			return "Cosines and sines are rounded to float16"
		}},
		{"frequencies in bfloat16", ropecheck.RoundingAspect, func(e *port) string {
			if e.kind != ropecheck.Float32 || e.xpos != nil || e.still {
				return ""
			}
			e.arithmetic.ladder = func(list []float64) []float64 {
				list = slices.Clone(list)
				for i, w := range list {
					list[i] = float64(bf16(float32(w)))
				}
				return list
			}
			e.arithmetic.angle = arithmetics()[0].angle // running products have no frequencies to round
			return "Frequencies are rounded to bfloat16"
		}},
	}
}

func axisFaults() []fault {
	image := func(words string, change func(e *port)) func(e *port) string {
		return where(hasAxes, with(words, change))
	}
	axes := func(to func(a uint8) uint8) func(e *port) {
		return func(e *port) {
			e.axes = slices.Clone(e.axes)
			for i, a := range e.axes {
				e.axes[i] = to(a)
			}
		}
	}
	return []fault{
		{"one axis for all", ropecheck.AxesAspect, image("follow other axes: 0 in place of 1, 0 in place of 2", axes(func(uint8) uint8 { return 0 }))},
		{"height and width exchanged", ropecheck.AxesAspect, image("1 in place of 2, 2 in place of 1", axes(func(a uint8) uint8 {
			if a > 0 {
				return 3 - a
			}
			return 0
		}))},
		{"axes in another order", ropecheck.AxesAspect, image("follow other axes", func(e *port) {
			if n := e.dim / 2; e.axes[1] == 1 {
				e.axes = sections(n-2*(n/3), n/3, n/3)
			} else {
				e.axes = alternating(n, n/3, n/3)
			}
		})},
		{"sections of another model", ropecheck.AxesAspect, image("follow other axes", func(e *port) {
			n := e.dim / 2
			if e.axes[1] == 1 {
				e.axes = alternating(n, n/4, n/4)
			} else {
				e.axes = sections(n/2, n/4, n/4)
			}
		})},
		{"sequential positions of an image", ropecheck.PositionsAspect, image("sequential", func(e *port) {
			e.position = func(_, t, _ int) float64 { return float64(t) }
		})},
		{"clipped positions of an image", ropecheck.PositionsAspect, image("clipped at 6", func(e *port) {
			e.position = func(axis, t, _ int) float64 { return float64(min(e.positions[axis][t], 6)) }
		})},
		{"positions restarted after an image", ropecheck.PositionsAspect, image("(?i)restart at token 2[0-9]|modulo|tokens 2[0-9] to 29 rotate", func(e *port) {
			first := 4 + e.image[0]*e.image[1]
			e.position = func(axis, t, _ int) float64 {
				if t >= first {
					return float64(t - first)
				}
				return float64(e.positions[axis][t])
			}
		})},
		{"positions of time alone", ropecheck.AxesAspect, image("follow other axes: 0 in place of 1, 0 in place of 2|axis 0 alone", func(e *port) {
			e.position = func(_, t, _ int) float64 { return float64(e.positions[0][t]) }
		})},
	}
}

// noise is Gaussian, of a size relative to the elements.
func noise(size float64) func(e *port) {
	return func(e *port) {
		e.whole = func(_, after []float32) {
			r, sum := rand.New(rand.NewPCG(9, 9)), 0.0
			for _, v := range after {
				sum += float64(v) * float64(v)
			}
			sum = math.Sqrt(sum / float64(len(after)))
			for i := range after {
				after[i] += float32(size * sum * r.NormFloat64())
			}
		}
	}
}

// noisyFaults are seen through noise.
func noisyFaults() (list []fault) {
	for _, f := range slices.Concat(layoutFaults()[:2], frequencyFaults()[:2], positionFaults()[:2], formulaFaults()[17:19], scaleFaults()[:1]) {
		list = append(list, fault{f.name + ", and noise", f.cause, where(func(e *port) bool { return e.heads >= 4 && !e.still }, func(e *port) string {
			noise(0.01)(e)
			return f.plant(e)
		})})
	}
	return list
}

// partFaults are of some heads, tokens or elements.
func partFaults() []fault {
	row := func(e *port, x []float32, t, h int) []float32 { return x[(t*e.heads+h)*e.headDim:][:e.headDim] }
	each := func(has func(t, h int) bool, change func(e *port, before, after []float32)) func(e *port) {
		return func(e *port) {
			e.whole = func(before, after []float32) {
				for t := range e.positions[0] {
					for h := range e.heads {
						if has(t, h) {
							change(e, row(e, before, t, h), row(e, after, t, h))
						}
					}
				}
			}
		}
	}
	from := func(source func(e *port, t, h int) (int, int)) func(e *port) { // rows of others
		return func(e *port) {
			e.whole = func(_, after []float32) {
				old := slices.Clone(after)
				for t := range e.positions[0] {
					for h := range e.heads {
						other, head := source(e, t, h)
						copy(row(e, after, t, h), row(e, old, other, head))
					}
				}
			}
		}
	}
	otherwise := func(head int, change func(e *port)) func(e *port) { // a head of another engine
		return func(e *port) {
			other := *e
			change(&other)
			e.whole = func(before, after []float32) {
				d := other.rotate(before)
				for t := range e.positions[0] {
					copy(row(e, after, t, head), row(e, d, t, head))
				}
			}
		}
	}
	left := func(_ *port, before, after []float32) { copy(after, before) }
	zero := func(_ *port, _, after []float32) { clear(after) }
	wrong := func(element int, by float32) func(e *port, before, after []float32) {
		return func(e *port, _, after []float32) { after[e.offset+element] += by }
	}
	heads := func(n int, words string, has func(t, h int) bool, change func(e *port, before, after []float32)) func(e *port) string {
		return where(hasHeads(n), with(words, each(has, change)))
	}
	const never = ".*(N|n)othing was rotated"
	return []fault{
		{"a head not rotated", ropecheck.PartAspect, heads(3, "(?i)head 1"+never, func(_, h int) bool { return h == 1 }, left)},
		{"last head not rotated", ropecheck.PartAspect, where(hasHeads(3), func(e *port) string {
			each(func(_, h int) bool { return h == e.heads-1 }, left)(e)
			return fmt.Sprintf("(?i)head %d%s", e.heads-1, never)
		})},
		{"half of the heads not rotated", ropecheck.PartAspect, where(func(e *port) bool { return e.heads >= 4 && e.heads%2 == 0 }, func(e *port) string {
			each(func(_, h int) bool { return h >= e.heads/2 }, left)(e)
			return fmt.Sprintf("(?i)heads %d to %d%s", e.heads/2, e.heads-1, never)
		})},
		{"every other head not rotated", ropecheck.PartAspect, heads(4, "(?i)heads 1, 3"+never, func(_, h int) bool { return h%2 == 1 }, left)},
		{"first heads alone", ropecheck.PartAspect, where(hasHeads(8), func(e *port) string {
			each(func(_, h int) bool { return h >= 2 }, left)(e)
			return fmt.Sprintf("(?i)heads 2 to %d%s", e.heads-1, never)
		})},
		{"a token not rotated", ropecheck.PartAspect, heads(1, "(?i)token 6(:|,| ).*(nothing was rotated|by position 0|6 lower)|token 6 rotates by position 0", func(t, _ int) bool { return t == 6 }, left)},
		{"later tokens not rotated", ropecheck.PartAspect, heads(1, "(?i)tokens 1[0-9] to [0-9]+", func(t, _ int) bool { return t >= 12 }, left)},
		{"a zero row", ropecheck.PartAspect, heads(2, "(?i)token 4.*head 1.*zero", func(t, h int) bool { return t == 4 && h == 1 }, zero)},
		{"a zero token", ropecheck.PartAspect, heads(1, "(?i)token 7.*zero", func(t, _ int) bool { return t == 7 }, zero)},
		{"a zero head", ropecheck.PartAspect, heads(3, "(?i)head 2.*zero", func(_, h int) bool { return h == 2 }, zero)},
		{"the last token zero", ropecheck.PartAspect, where(hasHeads(1), func(e *port) string {
			last := len(e.positions[0]) - 1
			each(func(t, _ int) bool { return t == last }, zero)(e)
			return fmt.Sprintf("(?i)token %d.*zero", last)
		})},
		{"one element", ropecheck.PartAspect, where(hasHeads(1), func(e *port) string {
			each(func(t, h int) bool { return t == 8 && h == 0 }, wrong(5, 0.5))(e)
			return fmt.Sprintf("(?i)token 8.*head 0.*element %d", e.offset+5)
		})},
		{"one element by little", ropecheck.PartAspect, where(func(e *port) bool { return e.kind != ropecheck.BFloat16 && !e.uneven }, func(e *port) string {
			each(func(t, h int) bool { return t == 3 && h == 0 }, wrong(4, 0.05))(e)
			return fmt.Sprintf("(?i)token 3.*head 0.*element %d", e.offset+4)
		})},
		{"last element of each head", ropecheck.PartAspect, where(hasHeads(1), func(e *port) string {
			each(func(_, _ int) bool { return true }, func(e *port, _, after []float32) { after[e.offset+e.dim-1] = 0 })(e)
			return fmt.Sprintf("(?i)element %d.*zero", e.offset+e.dim-1)
		})},
		{"first elements of a head", ropecheck.PartAspect, heads(2, "(?i)head 1.*elements? [0-9]+", func(_, h int) bool { return h == 1 }, func(e *port, _, after []float32) {
			for i := range 4 {
				after[e.offset+i] *= 1.25
			}
		})},
		{"elements outside the slice", ropecheck.PartAspect, where(isPartial, func(e *port) string {
			each(func(_, _ int) bool { return true }, func(e *port, _, after []float32) {
				for i := range after {
					if i < e.offset || i >= e.offset+e.dim {
						after[i] = 0
					}
				}
			})(e)
			return "(?i)elements [0-9]+ to [0-9]+.*zero"
		})},
		{"heads exchanged", ropecheck.PartAspect, where(hasHeads(3), with("(?i)heads? (0 and 1|1).*(exchanged|of head)", from(func(_ *port, t, h int) (int, int) { return t, []int{1, 0, h}[min(h, 2)] })))},
		{"all heads from the first", ropecheck.PartAspect, where(hasHeads(3), with("(?i)heads? 1.* head 0", from(func(_ *port, t, _ int) (int, int) { return t, 0 })))},
		{"heads in the other order", ropecheck.PartAspect, where(hasHeads(4), with("(?i)head.*head", from(func(e *port, t, h int) (int, int) { return t, e.heads - 1 - h })))},
		{"tokens exchanged", ropecheck.PartAspect, with("(?i)tokens? (3 and 4|3).*(exchanged|of token)", from(func(_ *port, t, h int) (int, int) {
			if t == 3 || t == 4 {
				return 7 - t, h
			}
			return t, h
		}))},
		{"a head rotated the other way", ropecheck.PartAspect, where(hasHeads(3), with("(?i)head 2.*(other way)", otherwise(2, func(e *port) {
			e.formula = func(c, s float64) [2][2]float64 { return rotation(c, -s) }
		})))},
		{"a head rotated twice", ropecheck.PartAspect, where(hasHeads(3), with("(?i)head 0.*twice", otherwise(0, func(e *port) { e.times = 2 })))},
		{"a head scaled", ropecheck.PartAspect, heads(3, `(?i)head 1.*multiplied by (2|1\.999?\d*|2\.00\d*)\b`, func(_, h int) bool { return h == 1 }, func(_ *port, _, after []float32) {
			for i := range after {
				after[i] *= 2
			}
		})},
		{"one element with the other sign", ropecheck.PartAspect, where(hasHeads(1), func(e *port) string {
			each(func(t, h int) bool { return t == 2 && h == e.heads-1 }, func(e *port, _, after []float32) {
				after[e.offset+2] *= -1
			})(e)
			return fmt.Sprintf("(?i)token 2.*head %d.*element %d", e.heads-1, e.offset+2)
		})},
		{"noise of a thousandth", ropecheck.PartAspect, where(func(e *port) bool { return e.kind == ropecheck.Float32 }, with("(?i)noise", noise(1e-3)))},
		{"noise of a twentieth", ropecheck.PartAspect, with("(?i)noise", noise(0.05))},
	}
}

func twoFaults() []fault {
	list := map[string][]fault{"layout": layoutFaults()[:2], "base": frequencyFaults()[:3], "position": positionFaults()[:2], "sign": formulaFaults()[17:18], "factor": scaleFaults()[4:5]}
	both := func(name string, a, b string) fault {
		return fault{name, "", func(e *port) string {
			words := make([]string, 2)
			for n, kind := range []string{a, b} {
				for _, f := range list[kind] {
					if words[n] = f.plant(e); words[n] != "" {
						break
					}
				}
				if words[n] == "" {
					return ""
				}
			}
			return words[0] + " & " + words[1]
		}}
	}
	return []fault{
		both("layout and base", "layout", "base"),
		both("layout and position", "layout", "position"),
		both("layout and factor", "layout", "factor"),
		both("layout and sign", "layout", "sign"),
		both("base and factor", "base", "factor"),
		both("sign and factor", "sign", "factor"),
	}
}
