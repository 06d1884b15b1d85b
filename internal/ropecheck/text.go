package ropecheck

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-posenc/posenc"
)

var typeNames = [...]string{Float32: "float32", Float16: "float16", BFloat16: "bfloat16"}

// String returns the name of the type, or ElementType(n) of a value that has none.
func (e ElementType) String() string {
	if int(e) < len(typeNames) {
		return typeNames[e]
	}
	return fmt.Sprintf("ElementType(%d)", uint8(e))
}

// MarshalText returns the name of the type.
func (e ElementType) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText sets e to the type with the name text. The error wraps posenc.ErrConfig.
func (e *ElementType) UnmarshalText(text []byte) error {
	if e == nil {
		return fmt.Errorf("ropecheck.ElementType.UnmarshalText: e is nil, want a pointer to an ElementType: %w", posenc.ErrConfig)
	}
	i := slices.Index(typeNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("ropecheck.ElementType.UnmarshalText: text is %.32q, want one of %q: %w", text, typeNames, posenc.ErrConfig)
	}
	*e = ElementType(i)
	return nil
}

// MarshalJSON writes the hypothesis with the name of its layout.
func (h Hypothesis) MarshalJSON() ([]byte, error) {
	type plain Hypothesis
	return json.Marshal(struct {
		plain
		Layout string `json:"layout"`
	}{plain(h), h.Layout.String()})
}

// number is a float in few digits, an integer in all.
func number(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e12 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

// brief is a residual.
func brief(x float64) string { return strconv.FormatFloat(x, 'g', 2, 64) }

// units is a distance in units in the last place.
func units(x float64) string {
	if x >= 10 {
		return strconv.FormatFloat(math.Round(x), 'f', 0, 64)
	}
	return brief(x)
}

// Ranges names indices that rise, those of a run by the first and the last: with " to " between them,
// "0 to 15" and "40".
func Ranges(indices []int, to string) (list []string) {
	for i := 0; i < len(indices); {
		j := i
		for j+1 < len(indices) && indices[j+1] == indices[j]+1 {
			j++
		}
		one := strconv.Itoa(indices[i])
		if j > i {
			one += to + strconv.Itoa(indices[j])
		}
		list = append(list, one)
		i = j + 1
	}
	return list
}

// RangesText names indices in a sentence: "0 to 15, 40".
func RangesText(indices []int) string {
	list := Ranges(indices, " to ")
	if len(list) > 8 {
		list = append(list[:8], "...")
	}
	return strings.Join(list, ", ")
}

// Plural returns the noun for n things.
func Plural(noun string, n int) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

func (s structure) elements() string {
	return fmt.Sprintf("elements %d to %d", s.offset, s.end()-1)
}

// frequenciesText names frequencies.
func (c *checker) frequenciesText(s *spec) string {
	switch {
	case s.invFreq == nil:
		return "unknown frequencies"
	case s.reading != "":
		return fmt.Sprintf("other frequencies than those of %q", c.candidates[s.candidate].name)
	case s.candidate >= 0 && s.ratio != 0:
		return fmt.Sprintf("%s times those of %q", number(s.ratio), c.candidates[s.candidate].name)
	case s.candidate >= 0 && slices.Contains(s.faults, FrequenciesAspect):
		first := "the first frequency"
		if s.dim > 2 {
			first = fmt.Sprintf("the first %d frequencies", s.dim/2)
		}
		return fmt.Sprintf("%s of %q", first, c.candidates[s.candidate].name)
	case s.candidate >= 0:
		return fmt.Sprintf("the frequencies of %q", s.name)
	case s.base != 0 && s.ratio != 0 && s.ratio != 1:
		return fmt.Sprintf("the frequencies of base %s divided by %s", number(s.base), number(1/s.ratio))
	case s.base != 0:
		return fmt.Sprintf("the frequencies of base %s", number(s.base))
	}
	return "frequencies that are no powers of one base"
}

// describe says what a trial did.
func (c *checker) describe(t *trial, h *Hypothesis) string {
	var b strings.Builder
	if t.fit == nil {
		b.WriteString("Nothing was rotated")
		if !c.isOne(t.factor) {
			fmt.Fprintf(&b, "; all elements are multiplied by %s", number(t.factor))
		}
		fmt.Fprintf(&b, " (residual %s).", brief(t.residual))
		return b.String()
	}
	fmt.Fprintf(&b, "Pairs are %v, %s of %d rotate by %s", t.layout, t.elements(), c.data.HeadDim, c.frequenciesText(t.spec))
	if t.crossed {
		fmt.Fprintf(&b, ", with cosines and sines in the order of %v", otherLayout[t.layout])
	}
	if t.parts != nil || t.slip != nil { // a fault, which has the text
		return b.String() + ", apart from what the candidate's line says."
	}
	if t.inverse {
		b.WriteString(", the other way")
	}
	if t.times == 2 {
		b.WriteString(", twice")
	}
	switch {
	case t.positionOffset != 0:
		fmt.Fprintf(&b, ", at positions that are %s", shifted(t.positionOffset))
	case h.Positions != nil:
		fmt.Fprintf(&b, ", at positions %s", positionsText(h.Positions))
	}
	if t.xpos != nil {
		b.WriteString(", with the decay of xPos")
	}
	if !c.isOne(h.AttentionFactor) && (c.found.freedom != pairFactor || t.xpos != nil) {
		fmt.Fprintf(&b, ", with an attention factor of %s", number(h.AttentionFactor))
	}
	switch {
	case c.found.freedom == pairFactor && t.xpos == nil:
		b.WriteString(", with lengths of pairs that change by a factor for each pair and position")
	case c.norm != NoNorm:
		fmt.Fprintf(&b, ", and heads are normalized: %s, times %s", c.norm, number(h.Scale))
	case h.Norm == TokenNorm:
		fmt.Fprintf(&b, ", and each token has a scale of its own, %s on average", number(h.Scale))
	case !c.isOne(h.Scale):
		fmt.Fprintf(&b, ", and whole heads are multiplied by %s", number(h.Scale))
	}
	fmt.Fprintf(&b, " (residual %s).", brief(t.residual))
	return b.String()
}

func shifted(offset int) string {
	if offset < 0 {
		return fmt.Sprintf("%d lower than given", -offset)
	}
	return fmt.Sprintf("%d higher than given", offset)
}

func positionsText(positions []int32) string {
	list := make([]int, len(positions))
	for i, p := range positions {
		list[i] = int(p)
	}
	return RangesText(list)
}

// faults are what differs between a candidate and a trial that explains the data.
func (c *checker) faults(want *spec, t *trial) (list []Fault) {
	add := func(aspect Aspect, want, got, text string, args ...any) {
		list = append(list, Fault{aspect, want, got, fmt.Sprintf(text, args...)})
	}
	if t.fit == nil {
		if !want.isStill() {
			add(TimesAspect, "once", "never", "Nothing was rotated.")
		}
		if text := fmt.Sprintf("%s, times %s", c.norm, number(c.nice(t.factor))); c.norm != NoNorm {
			add(ScaleAspect, "1", text, "Heads are normalized on the way: %s.", text)
		} else if !c.isOne(t.factor) {
			add(ScaleAspect, "1", number(t.factor), "%s", c.scaleText(t.factor))
		}
		return list
	}
	factored := false
	if t.crossed {
		other := otherLayout[t.layout]
		got := fmt.Sprintf("pairs %v, tables %v", t.layout, other)
		add(LayoutAspect, want.layout.String(), got, "Cosines and sines are in the order of %v, but pairs are %v: the two elements of a pair turn by different angles.", other, t.layout)
		return list
	}
	if t.slip != nil {
		aspect := FormulaAspect
		if t.slip.aspect != "" {
			aspect = t.slip.aspect
		}
		add(aspect, "y1 = x1*cos - x2*sin, y2 = x2*cos + x1*sin", "a known mistake", "%s", t.slip.text)
		return list
	}
	for _, text := range t.parts {
		add(PartAspect, "all heads", strings.SplitN(text, ":", 2)[0], "%s", text)
	}
	if t.parts != nil {
		return list
	}
	if t.layout != want.layout {
		add(LayoutAspect, want.layout.String(), t.layout.String(), "Pairs are %v, and the candidate has %v.", t.layout, want.layout)
	}
	if t.offset != want.offset || t.dim != want.dim {
		add(SliceAspect, want.elements(), t.elements(), "%s of a head rotate, and the candidate rotates %s.", capital(t.elements()), want.elements())
	}
	if t.inverse != want.inverse {
		add(SignAspect, "forward", "inverse", "The rotation goes the other way: sines have the other sign.")
	}
	if t.times == 2 {
		add(TimesAspect, "once", "twice", "The rotation is applied twice.")
	}
	switch {
	case want.xpos != nil && t.xpos == nil && c.found.freedom != pairFactor:
		add(FactorAspect, decayText(want.xpos), "no decay", "The decay of xPos is left out.")
	case want.xpos != nil && t.xpos != nil && want.xpos.ScaleBase != t.xpos.ScaleBase:
		add(FactorAspect, number(want.xpos.ScaleBase), number(t.xpos.ScaleBase), "The decay of xPos has the scale base %s, of %s.", number(t.xpos.ScaleBase), decayText(t.xpos))
	case want.xpos != nil && t.xpos != nil && want.xpos.Keys != t.xpos.Keys:
		add(FactorAspect, decayText(want.xpos), decayText(t.xpos), "The decay of xPos is that of %s.", decayText(t.xpos))
	case want.xpos == nil && t.xpos != nil:
		add(FactorAspect, "no decay", decayText(t.xpos), "Lengths have the decay of xPos, of %s with the scale base %s, and the candidate has none.", decayText(t.xpos), number(t.xpos.ScaleBase))
	case want.xpos != nil && t.xpos == nil && c.hasLengths(want, t.fit):
		factored = true
	case c.found.freedom == pairFactor && t.xpos == nil:
		add(FactorAspect, number(want.factor), "by pairs and positions", "The lengths of pairs change by factors that differ from pair to pair: the decay of xPos, for example.")
		factored = true
	}
	factor, scale := c.lengthsOf(t)
	factor, scale = c.nice(factor), c.nice(scale)
	if c.isOne(t.factor) && !c.isOne(want.factor) && !c.isOne(scale) && c.isOne(scale/want.factor) && t.times == 1 {
		add(FactorAspect, "elements that rotate", "whole heads", "The attention factor is of whole heads: elements that do not rotate are multiplied by %s, too.", number(scale))
		factored, scale = true, 1
	}
	if wanted := math.Pow(want.factor, float64(t.times)); !factored && c.norm == NoNorm && !c.isOne(factor/wanted) {
		switch {
		case c.isOne(factor):
			add(FactorAspect, number(want.factor), "1", "The attention factor %s is left out.", number(want.factor))
		case c.isOne(factor * wanted):
			add(FactorAspect, number(want.factor), number(factor), "Cosines and sines are divided by the attention factor %s: they are multiplied by %s.", number(want.factor), number(factor))
		case c.isOne(factor / wanted / want.factor):
			add(FactorAspect, number(want.factor), number(factor), "The attention factor is applied twice: rotated elements are multiplied by %s, not by %s.", number(factor), number(want.factor))
		case c.data.Stored != nil && c.isOne(want.factor):
			add(FactorAspect, "1", number(factor), "Keys are multiplied by %s: by scales that are not the ones of these codes, or by an attention factor, and the candidate has none.", number(factor))
		default:
			add(FactorAspect, number(want.factor), number(factor), "Cosines and sines are multiplied by %s, and the candidate's attention factor is %s.", number(factor), number(want.factor))
		}
	}
	switch {
	case c.norm != NoNorm:
		add(ScaleAspect, "1", fmt.Sprintf("%s, times %s", c.norm, number(scale)), "Heads are normalized on the way: %s, times %s.", c.norm, number(scale))
	case c.found.freedom == tokenFactor:
		add(ScaleAspect, "1", number(scale), "Each token has a scale of its own, %s on average: a scale of queries by the position, or a norm.", number(scale))
	case !c.isOne(scale):
		add(ScaleAspect, "1", number(scale), "%s", c.scaleText(scale))
	}
	if text := c.otherFrequencies(want, t); text != "" {
		wanted := fmt.Sprintf("those of %q", want.name)
		if want.geometric() {
			wanted = "base " + number(want.base)
		}
		add(FrequenciesAspect, wanted, c.frequenciesText(t.spec), "%s", text)
	}
	if t.positionOffset != 0 {
		add(PositionsAspect, "0", strconv.Itoa(t.positionOffset), "Positions are %s.", shifted(t.positionOffset))
	} else if c.known && t.positions != nil {
		add(PositionsAspect, positionsText(c.data.Positions), positionsText(t.positions), "%s", positionsFault(c.data.Positions[:len(t.positions)], t.positions, c.axesOf(t.spec)))
	}
	if t.invFreq != nil && c.axes > 1 && len(t.invFreq) == len(want.invFreq) {
		var pairs []int
		axes := map[string]bool{}
		for i := range t.invFreq {
			if t.axis(i) != want.axis(i) && (t.candidate >= 0 || !slices.Contains(c.ties, i)) {
				pairs = append(pairs, i)
				axes[fmt.Sprintf("%d in place of %d", t.axis(i), want.axis(i))] = true
			}
		}
		if len(pairs) > 0 {
			names := make([]string, 0, len(axes))
			for name := range axes {
				names = append(names, name)
			}
			slices.Sort(names)
			add(AxesAspect, axesText(want.axes), axesText(t.axes), "%s %s follow other axes: %s.", capital(Plural("pair", len(pairs))), RangesText(pairs), strings.Join(names, ", "))
		}
	}
	return append(list, c.roundingFaults(t, Agrees)...)
}

func (c *checker) scaleText(scale float64) string {
	if c.isOne(scale * math.Sqrt(float64(c.data.HeadDim))) {
		return fmt.Sprintf("Whole heads are multiplied by %s, 1/sqrt(HeadDim): the scale of attention scores.", number(scale))
	}
	return fmt.Sprintf("Whole heads are multiplied by %s.", number(c.nice(scale)))
}

// nice is the shortest number that the data do not tell from x.
func (c *checker) nice(x float64) float64 {
	deviation := c.found.noise / math.Sqrt(float64(len(c.data.After)))
	for digits := 1; digits < 6; digits++ {
		if r := roundTo(x, digits); math.Abs(x/r-1) <= max(c.floor/16, 4*deviation) {
			return r
		}
	}
	return x
}

func decayText(x *posenc.XPos) string {
	if x.Keys {
		return "keys"
	}
	return "queries"
}

func axesText(axes []int) string {
	if axes == nil {
		return "axis 0"
	}
	return fmt.Sprint("axes ", axes)
}

// otherFrequencies says how the frequencies of a trial differ from those of a candidate, "" where they do not.
func (c *checker) otherFrequencies(want *spec, t *trial) string {
	differing := func() string {
		pairs, still, doubtful, some := c.differingPairs(want, t.fit)
		if !some || len(pairs) == 0 {
			return ""
		}
		first, noun, sure := pairs[0], Plural("pair", len(pairs)), len(doubtful) == 0
		from := append(slices.Clone(pairs), doubtful...)
		switch {
		case sure && len(still) == len(pairs) && len(pairs) == 1:
			return fmt.Sprintf("Pair %d does not rotate.", first)
		case sure && len(still) == len(pairs):
			return fmt.Sprintf("Pairs %s do not rotate.", RangesText(pairs))
		case sure && len(pairs) == 1 && t.invFreq != nil:
			return fmt.Sprintf("Pair %d has the frequency %s in place of %s, %s times the candidate's.", first, number(t.invFreq[first]), number(want.invFreq[first]), number(t.invFreq[first]/want.invFreq[first]))
		case sure && len(pairs) == 1:
			return fmt.Sprintf("Pair %d differs, by what cannot be told.", first)
		case len(still) < len(pairs) && len(pairs) > 1 && slices.Min(from) == first && len(from)*8 >= (slices.Max(from)-first+1)*7: // some turn by whole turns more
			return fmt.Sprintf("The frequencies differ from pair %d on.", first)
		case sure:
			return fmt.Sprintf("The frequencies of %s %s differ, and the others are the candidate's.", noun, RangesText(pairs))
		}
		return fmt.Sprintf("The frequencies of %s %s differ; of %s it cannot be told.", noun, RangesText(pairs), RangesText(doubtful))
	}
	if t.invFreq == nil {
		if text := differing(); text != "" {
			return text
		}
		return "The frequencies are not known, so that it cannot be said whether they are the candidate's."
	}
	if len(t.invFreq) == len(want.invFreq) {
		same := true
		for i, f := range t.invFreq {
			same = same && math.Abs(f-want.invFreq[i]) <= 1e-5*math.Abs(want.invFreq[i])
		}
		if same {
			return ""
		}
	}
	switch {
	case t.reading != "" && t.candidate == want.candidate:
		return t.reading
	case t.candidate >= 0 && t.candidate != want.candidate && t.ratio == 0:
		return fmt.Sprintf("The frequencies are those of %q.", c.candidates[t.candidate].name)
	case t.candidate == want.candidate && t.ratio != 0:
		if r := 1 / t.ratio; r > 1 {
			return fmt.Sprintf("All frequencies are the candidate's divided by %s, as by linear scaling.", number(r))
		}
		return fmt.Sprintf("All frequencies are the candidate's times %s: a linear scaling that is left out, for example.", number(t.ratio))
	case t.candidate >= 0:
		return fmt.Sprintf("The frequencies are %s.", c.frequenciesText(t.spec))
	case t.base == 0:
		if text := differing(); text != "" {
			return text
		}
		return "The frequencies are none of a candidate, and no powers of one base."
	}
	text := "The frequencies are those" + strings.TrimPrefix(c.frequenciesText(t.spec), "the frequencies")
	dim := float64(t.dim)
	switch {
	case want.base != 0 && math.Abs(t.base/want.base-1) < 1e-3 && want.dim != t.dim:
		return fmt.Sprintf("Frequencies are powers of the base %s over %d elements, and the candidate has them over %d.", number(t.base), t.dim, want.dim)
	case want.geometric() && t.ratio == 1 && t.base != want.base && t.dim == want.dim:
		text += fmt.Sprintf(", in place of base %s", number(want.base))
		factor := math.Pow(t.base/want.base, (dim-2)/dim)
		n, ntk := math.Round(factor), *t.spec
		ntk.base = want.base * math.Pow(n, dim/(dim-2))
		ntk.invFreq = geometric(t.dim, ntk.base, 1)
		residual, _ := c.slackResidual(&trial{spec: &ntk, fit: t.fit}, c.all)
		if n > 1 && n <= 64 && (math.Abs(factor-n) < 1e-3 || residual < 1.02*t.residual) {
			text += fmt.Sprintf(": NTK scaling by a factor of %s makes that of it", number(n))
		}
	case want.base != 0 && math.Abs(t.base/want.base-1) < 1e-3:
		text += ", without the candidate's scaling rule"
	}
	return text + "."
}

// roundingFaults are what a trial rounds more coarsely than its elements.
func (c *checker) roundingFaults(t *trial, verdict Verdict) (list []Fault) {
	if verdict == Noisy || t.fit == nil || t.invFreq == nil || !t.explains {
		return nil
	}
	switch t.angles {
	case BFloat16InvFreq, Float16InvFreq, BFloat16Pos, Float16Pos, BFloat16Angles, Float16Angles:
		if exact, _ := c.residualBy(t, ExactAngles, t.tables); exact > 2*t.residual && !c.explains(exact) || exact > 8*t.residual ||
			c.bounds != nil && !c.holds(&trial{spec: t.spec, fit: t.fit, angles: ExactAngles, tables: t.tables, factor: t.factor, residual: exact}) {
			aspect, text := RoundingAspect, anglesText[t.angles]
			if kind, ok := positionRoundings[t.angles]; ok { // a token may get the rotation of another
				aspect, text = PositionsAspect, text+c.roundedPosition(t, kind)
			}
			list = append(list, Fault{aspect, string(Float32Angles), string(t.angles), text})
		}
	}
	if t.tables != Float32Tables && c.kind == Float32 {
		list = append(list, Fault{RoundingAspect, string(Float32Tables), string(t.tables), fmt.Sprintf("Cosines and sines are rounded to %s.", t.tables)})
	}
	return list
}

// positionRoundings are the angles of positions that are rounded.
var positionRoundings = map[Angles]ElementType{BFloat16Pos: BFloat16, Float16Pos: Float16, BFloat16Angles: BFloat16, Float16Angles: Float16}

// roundedPosition names the first position that a type does not have.
func (c *checker) roundedPosition(t *trial, kind ElementType) string {
	positions := t.positions
	if positions == nil {
		positions = c.data.Positions
	}
	for i, p := range positions {
		if p += int32(t.positionOffset); kind.round(float32(p)) != float32(p) {
			return fmt.Sprintf(" Token %d rotates by position %v, not %d.", i%c.data.Tokens, kind.round(float32(p)), p)
		}
	}
	return ""
}

var anglesText = map[Angles]string{
	ExactAngles:     "Angles are exact.",
	Float32Angles:   "Angles are products of float32.",
	SteppedAngles:   "Frequencies are computed by the float32 steps of transformers, and angles are products of float32.",
	RunningAngles:   "Angles are running products of float32, as ggml computes them.",
	OtherAngles:     "Angles are as far off as those of float32 are, in an order of operations that is none of those known here.",
	BFloat16InvFreq: "Frequencies are rounded to bfloat16.",
	Float16InvFreq:  "Frequencies are rounded to float16.",
	BFloat16Pos:     "Positions are rounded to bfloat16.",
	Float16Pos:      "Positions are rounded to float16.",
	BFloat16Angles:  "Positions, frequencies and angles are rounded to bfloat16.",
	Float16Angles:   "Positions, frequencies and angles are rounded to float16.",
}

var productsText = map[Products]string{
	SeparateProducts: "each product is rounded",
	FusedFirst:       "the products with the cosine are fused into the sum",
	FusedSecond:      "the products with the sine are fused into the sum",
	FusedCosSin:      "the products of x1 are fused into the sums, as of complex numbers",
	RoundedProducts:  "each product and the sum are rounded to 16 bits",
}

// sentences say how near an arithmetic comes. A fault may have said how angles are rounded.
func (a *Arithmetic) sentences(kind ElementType, faults []Fault) string {
	text := fmt.Sprintf("Cosines and sines are %s, %s: ", a.Tables, productsText[a.Products])
	if !slices.ContainsFunc(faults, func(f Fault) bool { return f.Got == string(a.Angles) }) {
		text = anglesText[a.Angles] + " " + text
	}
	if a.Equal == 1 {
		return text + "all rotated elements have the same bits."
	}
	return text + fmt.Sprintf("%s of the rotated elements have the same bits, and the others are %s units in the last place (%v) off on average, %s at most.",
		percent(a.Equal), units(a.Typical/math.Sqrt(1-a.Equal)), kind, units(a.Largest))
}

func percent(x float64) string {
	if x < 1 && x > 0.999 {
		return "99.9 %"
	}
	return strconv.FormatFloat(100*x, 'g', 3, 64) + " %"
}

func (c *checker) describeComparison(s *spec, t *trial, r *Comparison) string {
	var parts []string
	switch r.Verdict {
	case Agrees:
		parts = append(parts, "This is its rotation.")
		if off := c.deviation(t); t.angles == OtherAngles && off > 0x1p-24 {
			parts = append(parts, fmt.Sprintf("Frequencies are up to %s off, %s units in the last place of float32.", brief(off), units(off*0x1p23)))
		}
	case Noisy:
		parts = append(parts, fmt.Sprintf("This is its rotation, with noise of %s.", brief(r.Residual)))
	case NotDecidable:
		parts = append(parts, "It would turn nothing at these positions, and nothing is turned: the data do not tell.")
	default:
		parts = append(parts, fmt.Sprintf("This is not its rotation (residual %s).", brief(r.Residual)))
		if r.Faults == nil {
			parts = append(parts, "No hypothesis explains the data.")
		}
	}
	for _, f := range r.Faults {
		parts = append(parts, f.Text)
	}
	if r.Verdict == Agrees && c.data.Stored != nil {
		parts = append(parts, fmt.Sprintf("All elements are within the rounding of %s.", c.data.Stored.Format))
	}
	if len(r.Arithmetics) > 0 && r.Verdict != Noisy { // units in the last place say nothing of noise
		if r.Verdict == Differs {
			parts = append(parts, "Apart from that:")
		}
		parts = append(parts, r.Arithmetics[0].sentences(c.kind, r.Faults))
	}
	return strings.Join(parts, " ")
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// String returns the report as lines of text. It returns "" for nil.
func (r *Report) String() string {
	if r == nil {
		return ""
	}
	var b strings.Builder
	of := r.Type.String()
	if r.Stored != "" {
		of += fmt.Sprintf(", stored as %s", r.Stored)
	}
	fmt.Fprintf(&b, "%d %s of %d %s with %d elements (%s).\n", r.Tokens, Plural("token", r.Tokens), r.Heads, Plural("head", r.Heads), r.HeadDim, of)
	for _, note := range r.Notes {
		fmt.Fprintln(&b, note)
	}
	if len(r.Hypotheses) > 0 && r.Hypotheses[0].Explains {
		fmt.Fprintf(&b, "What was done: %s\n", r.Hypotheses[0].Text)
	} else {
		fmt.Fprintln(&b, "What may have been done, likeliest first; each leaves a part of the data unexplained:")
		for i, h := range r.Hypotheses[:min(len(r.Hypotheses), 3)] {
			fmt.Fprintf(&b, "%3d. %s\n", i+1, h.Text)
		}
	}
	for _, c := range r.Candidates {
		fmt.Fprintf(&b, "Candidate %q: %s\n", c.Name, c.Text)
	}
	if len(r.Undecided) > 0 {
		fmt.Fprintln(&b, "Not decided by these data:")
	}
	for _, u := range r.Undecided {
		fmt.Fprintf(&b, "  - %s\n", u.Text)
	}
	return b.String()
}

// undecided lists what the data do not tell.
func (c *checker) undecided(r *Report) {
	add := func(aspect Aspect, text string, args ...any) {
		r.Undecided = append(r.Undecided, Undecided{aspect, fmt.Sprintf(text, args...)})
	}
	best := c.trials[0]
	if c.found.noise >= noStructure {
		add(LayoutAspect, "No layout and slice of the head explains the data: the best leaves a residual of %s.", brief(c.found.noise))
	}
	if c.found.noise >= noStructure {
		return
	}
	if best.fit == nil || c.explains(c.identity) {
		add(LayoutAspect, "Nothing turned, so that layout, slice and frequencies cannot be told.")
		return
	}
	first := best.fit
	var layouts, sliced []string
	for _, f := range c.found.fits {
		if best.crossed {
			break
		}
		if f.layout != first.layout && !slices.Contains(layouts, f.layout.String()) {
			layouts = append(layouts, f.layout.String())
		}
		if f.layout == first.layout && f.structure != first.structure {
			sliced = append(sliced, f.elements())
		}
	}
	if len(layouts) > 0 {
		add(LayoutAspect, "%s pairs explain the data as well as %v%s.", strings.Join(layouts, " and "), first.layout, because(c.data.Heads))
	}
	if len(sliced) > 0 {
		add(SliceAspect, "A rotated slice of %s explains the data as well as %s: what turned less than the noise does not tell.", strings.Join(sliced, " or "), first.elements())
	}
	var zero, slow []int
	for i := range first.pairs {
		weight := 0.0
		for t := range first.tokens {
			weight += first.weights[t*first.pairs+i]
		}
		switch {
		case !(weight > 0):
			zero = append(zero, i)
		case best.candidate < 0 && i < len(c.lines) && (!c.lines[i].known || !c.lines[i].certain(1)):
			slow = append(slow, i)
		}
	}
	if len(zero) > 0 {
		add(FrequenciesAspect, "%s %s are zero in all heads before the rotation.", capital(Plural("pair", len(zero))), RangesText(zero))
	}
	distinct := map[string]bool{}
	for t := range c.data.Tokens {
		key := ""
		for a := range c.axes {
			key += fmt.Sprint(c.position(&spec{positions: best.positions}, a, t), " ")
		}
		distinct[key] = true
	}
	switch {
	case len(distinct) == 1:
		add(FrequenciesAspect, "All tokens have one position: frequencies are known up to multiples of a full turn by it, and an offset of positions is not told from other frequencies.")
	case len(slow) > 0:
		add(FrequenciesAspect, "The frequencies of pairs %s are not known: they turn less than the noise at these positions, or by other than a line in the position.", RangesText(slow))
	}
	if !c.known {
		if len(c.candidates) == 0 || best.candidate < 0 {
			add(PositionsAspect, "Positions are unknown: frequencies are for each token from one to the next, as if they were 0, 1, 2 and so on.")
		} else {
			add(PositionsAspect, "Positions are solved for by the frequencies of %q. Positions of the other sign cannot be told from the inverse rotation, nor double ones from a rotation applied twice.", best.name)
			for a := range c.axesOf(best.spec) {
				fastest := 0.0
				for i, f := range best.invFreq {
					if best.axis(i) == a {
						fastest = max(fastest, math.Abs(f))
					}
				}
				if fastest < 4*max(c.found.noise, c.floor)/math.Sqrt(float64(c.data.Heads)) {
					add(PositionsAspect, "Positions on axis %d are not known to the unit: its pairs turn less than the noise from one to the next.", a)
				}
			}
		}
	} else if best.times == 2 && c.isOne(best.factorOrOne()) {
		add(TimesAspect, "A rotation applied twice cannot be told from one by doubled positions or frequencies, as there is no attention factor.")
	}
	if factor, _ := c.lengthsOf(best); best.dim == c.data.HeadDim && !c.isOne(factor) && c.isOne(best.factorOrOne()) {
		add(ScaleAspect, "Whole heads rotate: the factor %s may be of the cosines and sines or a scale of whole heads.", number(factor))
	}
	if c.axes > 1 && len(c.ties) > 0 && best.invFreq != nil {
		add(AxesAspect, "The axis of pairs %s cannot be told: several axes explain them equally well.", RangesText(c.ties))
	}
	var tied []string
	for _, u := range r.Candidates {
		if u.Verdict == Agrees || u.Verdict == Noisy {
			tied = append(tied, strconv.Quote(u.Name))
		}
	}
	if len(tied) > 1 {
		add(FrequenciesAspect, "Candidates %s agree equally well with the data at these positions.", strings.Join(tied, " and "))
	}
	for _, u := range r.Candidates {
		if len(u.Arithmetics) > 1 && u.Verdict == Agrees {
			a, b := u.Arithmetics[0], u.Arithmetics[1]
			if a.Typical == b.Typical && a.Equal == b.Equal && a.Angles != OtherAngles {
				add(RoundingAspect, "How %q is rounded is not certain: %s angles, %s tables and %s products come as near as %s, %s and %s.", u.Name, a.Angles, a.Tables, a.Products, b.Angles, b.Tables, b.Products)
			}
		}
	}
}

func because(heads int) string {
	if heads < 3 {
		return ": more heads would tell"
	}
	return ""
}
