package ropecheck

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/argument"
)

// AbsoluteTable is a table of position encodings: a row for each position, one after another.
type AbsoluteTable struct {
	Values    []float64 // [Rows][Dim], widened
	Rows, Dim int
	Digits    int // of a significand of the elements, with the first: 53, 24, 11 or 8
}

// AbsoluteReport says which sinusoidal encoding a table is. With n pairs of columns, k < n,
//
//	table[r][column of k] = Scale*sin or cos of Step*(First+r)*Base^(-exponent of k)
//
// with First-r in place of First+r where Descending is set.
type AbsoluteReport struct {
	// Verdict is Agrees for an encoding without faults, Differs with faults, and NotDecidable
	// where no encoding, or more than one, explains the table.
	Verdict Verdict `json:"verdict"`

	Rows     int     `json:"rows"`
	Dim      int     `json:"dim"`
	Order    string  `json:"order,omitempty"`
	Exponent string  `json:"exponent,omitempty"`
	Base     float64 `json:"base,omitempty"` // 0: one frequency does not tell it
	First    int     `json:"first"`

	// Descending says that positions fall from row to row, as in Transformer-XL.
	Descending bool `json:"descending,omitempty"`

	Step  float64  `json:"step,omitempty"`
	Scale float64  `json:"scale,omitempty"`
	Call  string   `json:"call,omitempty"` // of package absolute that makes it
	Same  []string `json:"same,omitempty"` // other bases and exponents with the same numbers

	// Rounding is the way to compute the table that gives most of its bits, Equal their share.
	Rounding string  `json:"rounding,omitempty"`
	Equal    float64 `json:"equal"`

	Faults []string `json:"faults,omitempty"` // sentences
	Notes  []string `json:"notes,omitempty"`
}

// absoluteOrder is where the two columns of a pair are, and whether each is a cosine.
type absoluteOrder struct {
	name        string
	interleaved bool
	cos         [2]bool
	fault       string
}

var absoluteOrders = [...]absoluteOrder{
	{"sin, cos alternating", true, [2]bool{false, true}, ""},
	{"sines, then cosines", false, [2]bool{false, true}, ""},
	{"cosines, then sines", false, [2]bool{true, false}, ""},
	{"cos, sin alternating", true, [2]bool{true, false}, "Sines and cosines are exchanged: cosines are in the even columns."},
	{"sin, sin alternating", true, [2]bool{false, false}, "Odd columns are sines, too: the cosines are missing."},
	{"cos, cos alternating", true, [2]bool{true, true}, "Even columns are cosines, too: the sines are missing."},
	{"sines, then sines", false, [2]bool{false, false}, "Both halves are sines: the cosines are missing."},
	{"cosines, then cosines", false, [2]bool{true, true}, "Both halves are cosines: the sines are missing."},
}

// absoluteExponent is the exponent of 1/base in the frequency of column i of pair k.
type absoluteExponent struct {
	name  string
	of    func(k, i, d float64) float64
	fault string
}

var absoluteExponents = [...]absoluteExponent{
	{"2k/d", func(k, i, d float64) float64 { return 2 * k / d }, ""},
	{"k/(d/2-1)", func(k, i, d float64) float64 { return k / (math.Floor(d/2) - 1) }, ""},
	{"k/d", func(k, i, d float64) float64 { return k / d }, "Exponents are k/d of pair k, half of 2k/d: the slowest frequency is near 1/sqrt(base)."},
	{"2i/d", func(k, i, d float64) float64 { return 2 * i / d }, "Exponents are 2i/d of element i in place of pair k: they are doubled, and the two elements of a pair have different frequencies."},
	{"i/d", func(k, i, d float64) float64 { return i / d }, "Exponents are i/d of each element i: the two elements of a pair have different frequencies."},
	{"4k/d", func(k, i, d float64) float64 { return 4 * k / d }, "Exponents are doubled: 2i/d with the even element i = 2k in place of pair k."},
	{"0", func(k, i, d float64) float64 { return 0 }, "All frequencies are equal: the exponent was divided as an integer."},
	{"(i-1)/d", func(k, i, d float64) float64 { return (i - 1) / d }, "Exponents are (i-1)/d of each element i from 0: the two elements of a pair have different frequencies."},
	{"(i+1)/d", func(k, i, d float64) float64 { return (i + 1) / d }, "Exponents are (i+1)/d of each element i from 0: the two elements of a pair have different frequencies."},
	{"(2k+1)/d", func(k, i, d float64) float64 { return (2*k + 1) / d }, "Exponents are (2k+1)/d: all frequencies lie half a pair too low."},
	{"2(k+1)/d", func(k, i, d float64) float64 { return 2 * (k + 1) / d }, "Exponents are 2(k+1)/d: pairs are counted from 1, and no frequency is 1."},
	{"2k/(d-1)", func(k, i, d float64) float64 { return 2 * k / (d - 1) }, "Exponents are 2k/(d-1): the divisor is neither d nor d-2."},
	{"-2k/d", func(k, i, d float64) float64 { return -2 * k / d }, "Exponents have the wrong sign: frequencies grow from 1 to the base."},
}

// absoluteBases are bases that a mistake about logarithms makes of 10000.
var absoluteBases = [...]struct {
	power float64
	fault string
}{
	{math.Ln2, "2 to the power of a natural logarithm"},
	{1 / math.Ln2, "e to the power of a logarithm of base 2"},
	{1 / math.Ln10, "e to the power of a logarithm of base 10"},
	{math.Ln10, "10 to the power of a natural logarithm"},
}

// encoding is one way to make a table.
type encoding struct {
	order    *absoluteOrder
	exponent *absoluteExponent
	base     float64
	step     float64
	first    int
	scale    [2]float64 // of the two columns of a pair
	slip     string     // about the base
	matched  float64    // share of the elements looked at
}

// rank orders ways to say the same, the simplest cause first.
func (e *encoding) rank() int {
	rank := 0
	if e.exponent.fault != "" {
		rank += 2
	}
	if e.slip != "" {
		rank += 2
	}
	if e.order.fault != "" {
		rank += 2
	}
	switch {
	case e.base == defaultBase || e.slip != "":
	case e.isRound():
		rank += 3
	default:
		rank += 6
	}
	switch {
	case e.step == 1:
	case e.step == roundTo(e.step, 2):
		rank += 3
	default:
		rank += 5
	}
	if e.scale[0] < 0 {
		rank += 4
	}
	if e.first > 2 || e.first < 0 {
		rank++
	}
	return rank
}

// isRound reports whether a person may have chosen the base.
func (e *encoding) isRound() bool {
	return e.base == roundTo(e.base, 2) && e.base >= 100 && e.base <= 1e8
}

// tableCheck is a table with the columns that were fitted.
type tableCheck struct {
	*AbsoluteTable
	dim    int // without a column of zeros in the end
	from   int // the first of the rows that are looked at
	rows   int // how many they are
	fitted map[int]sinusoid

	elements []tableElement // of match
	ratios   []float64

	padding string // of a row of zeros, as an argument of absolute.Fairseq
}

// sinusoid is sin(frequency*r + phase) times an amplitude, in the rows r of a column.
type sinusoid struct {
	frequency, phase float64
	ok               bool
}

const (
	mostTablePairs = 20   // by which encodings are compared at first
	mostTableRows  = 40   // the same
	mostFaults     = 8    // of one kind that are named
	mostSearches   = 16   // of all positions, for rows of another position
	mostFirst      = 4096 // a position of the first row that is looked for
	leastMatched   = 0.75 // share of elements that an encoding with faults in single rows, columns and elements has
)

// CheckAbsolute says which sinusoidal encoding a table is, and what is wrong with it. It knows
// encodings on one axis. Errors wrap posenc.ErrShape, posenc.ErrLength or ErrValue (an element
// that is not finite).
func CheckAbsolute(table AbsoluteTable) (*AbsoluteReport, error) {
	const function = "ropecheck.CheckAbsolute"
	n, fits := argument.Multiply(table.Rows, table.Dim)
	switch {
	case table.Rows < 1:
		return nil, argument.Error(posenc.ErrShape, function, "table.Rows", table.Rows, "at least 1")
	case table.Dim < 2:
		return nil, argument.Error(posenc.ErrShape, function, "table.Dim", table.Dim, "at least 2")
	case !fits || len(table.Values) != n:
		return nil, argument.Error(posenc.ErrLength, function, "table.Values", argument.Elements(len(table.Values)), "Rows*Dim = %d*%d", table.Rows, table.Dim)
	}
	for i, v := range table.Values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, argument.Error(ErrValue, function, argument.Indexed("table.Values", i), v, "a finite number")
		}
	}
	report := table.report()
	if report.Verdict == Agrees {
		return report, nil
	}
	reversed := table
	reversed.Values = make([]float64, 0, n)
	for r := table.Rows - 1; r >= 0; r-- {
		reversed.Values = append(reversed.Values, table.Values[r*table.Dim:][:table.Dim]...)
	}
	falling := reversed.report()
	most := 3 // a table that is not known otherwise has few faults, or it is not known this way either
	if report.Verdict == Differs {
		most = len(report.Faults) - 1
	}
	finite := math.Abs(falling.Base)+math.Abs(falling.Step)+math.Abs(falling.Scale) <= math.MaxFloat64
	if !finite || falling.Verdict == NotDecidable || falling.Verdict == Differs && len(falling.Faults) > most {
		return report, nil
	}
	falling.First, falling.Descending = falling.First+table.Rows-1, true
	if falling.Verdict == Differs {
		falling.Notes = append(falling.Notes, "Rows are counted from the last one.")
	}
	return falling, nil
}

// report says which encoding a table is whose positions rise.
func (table AbsoluteTable) report() *AbsoluteReport {
	t := &tableCheck{AbsoluteTable: &table, dim: table.Dim}
	report := &AbsoluteReport{Verdict: NotDecidable, Rows: table.Rows, Dim: table.Dim}
	if t.dim%2 == 1 && t.dim > 2 && t.isZeroColumn(t.dim-1) {
		t.dim--
		report.Notes = append(report.Notes, "The last column is zero, as encodings with an odd number of columns have it.")
	}
	list := t.encodingsOfParts()
	if len(list) == 0 {
		return report
	}
	best := &list[0]
	for i := range list[1:] {
		e := &list[i+1]
		switch same := t.sameNumbers(best, e); {
		case best.rank() > 0 && e.order == best.order && same && t.pairs() > 1:
			if text := fmt.Sprintf("base %s, exponent %s", number(e.base), e.exponent.name); e.step == best.step && e.isRound() == best.isRound() && !slices.Contains(report.Same, text) && (e.base != best.base || e.exponent != best.exponent) {
				report.Same = append(report.Same, text)
			}
		case !same && e.rank() <= best.rank() && e.matched > best.matched-1e-3 && !t.near(best, e):
			report.Notes = append(report.Notes, fmt.Sprintf("Too few rows: %s of base %s, exponent %s fits as well.", e.order.name, number(e.base), e.exponent.name))
			return report
		}
	}
	report.Order, report.Exponent, report.Base, report.First, report.Step = best.order.name, best.exponent.name, best.base, best.first, best.step
	if t.pairs() == 1 && best.exponent.of(0, 0, 2) == best.exponent.of(0, 1, 2) {
		report.Base, report.Exponent = 0, ""
	} else if best.exponent.name == "0" {
		report.Base = 0
	}
	for _, fault := range []string{best.order.fault, best.exponent.fault, best.slip} {
		if fault != "" {
			report.Faults = append(report.Faults, fault)
		}
	}
	t.explain(best, report)
	report.Verdict = Agrees
	if len(report.Faults) > 0 {
		report.Verdict = Differs
	} else {
		report.Call = best.call(t)
	}
	return report
}

func (t *tableCheck) at(r, i int) float64 { return t.Values[r*t.Dim+i] }

func (t *tableCheck) pairs() int { return (t.dim + 1) / 2 }

func (t *tableCheck) isZeroColumn(i int) bool {
	for r := range t.Rows {
		if t.at(r, i) != 0 {
			return false
		}
	}
	return true
}

func (t *tableCheck) isZeroRow(r int) bool {
	return !slices.ContainsFunc(t.Values[r*t.Dim:][:t.dim], func(v float64) bool { return v != 0 })
}

// column is that of the first or second element of a pair; dim if there is none.
func (t *tableCheck) column(o *absoluteOrder, k, slot int) int {
	if o.interleaved {
		return 2*k + slot
	}
	return k + slot*t.pairs()
}

// pairOf is the inverse of column.
func (t *tableCheck) pairOf(o *absoluteOrder, i int) (k, slot int) {
	if o.interleaved {
		return i / 2, i % 2
	}
	return i % t.pairs(), i / t.pairs()
}

// frequency is that of a column.
func (t *tableCheck) frequency(e *encoding, k, i int) float64 {
	return e.step * math.Pow(e.base, -e.exponent.of(float64(k), float64(i), float64(t.dim)))
}

// encodingsOfParts are the encodings of all rows, or of the half or the quarter of them that
// agrees best: rows of other positions may be between them.
func (t *tableCheck) encodingsOfParts() (best []encoding) {
	for _, part := range [][2]int{{0, 1}, {1, 2}, {0, 2}, {0, 4}, {1, 4}, {2, 4}, {3, 4}} {
		t.from, t.rows, t.fitted = t.Rows*part[0]/part[1], t.Rows/part[1], map[int]sinusoid{}
		if part[1] > 1 && (t.rows < 10 || len(best) > 0 && best[0].matched > 0.97) {
			break
		}
		if list := t.encodings(); len(list) > 0 && (len(best) == 0 || list[0].matched > best[0].matched+0.02) {
			best = list
		}
	}
	for i := range best { // the position of the first row counts
		e := &best[i]
		for _, first := range []int{e.first, e.first + 1, e.first - 1, 0, 1, 2} {
			other := *e
			other.first = first
			if t.match(&other, []int{0, 1, 2}[:min(3, t.Rows)], spread(t.pairs(), mostTablePairs, mostTablePairs/4)) > 0.9 {
				e.first = first
				break
			}
		}
	}
	return best
}

// encodings are those that most of the table agrees with, the simplest and nearest first.
func (t *tableCheck) encodings() (list []encoding) {
	rows, pairs := spread(t.rows, mostTableRows, mostTableRows/4), spread(t.pairs(), mostTablePairs, mostTablePairs/4)
	for i := range rows {
		rows[i] += t.from
	}
	try := func(e encoding) {
		if t.match(&e, rows[:min(6, len(rows))], pairs[:min(8, len(pairs))]) > 0.4 && t.match(&e, rows, pairs) >= leastMatched {
			list = append(list, e)
		}
	}
	for o := range absoluteOrders {
		firsts := t.firsts(&absoluteOrders[o], pairs)
		for x := range absoluteExponents {
			e := encoding{order: &absoluteOrders[o], exponent: &absoluteExponents[x], step: 1}
			if v := e.exponent.of(1, 1, float64(t.dim)); math.IsInf(v, 0) || math.IsNaN(v) {
				continue
			}
			for _, b := range t.bases(&e, pairs) {
				if e.base, e.step, e.slip = b.base, b.step, b.slip; e.exponent.name == "0" && e.base != defaultBase {
					continue
				}
				if !t.fits(&e, pairs) {
					continue
				}
				for _, e.first = range firsts {
					try(e)
				}
			}
		}
	}
	top := 0.0
	for i := range list {
		top = max(top, list[i].matched)
	}
	list = slices.DeleteFunc(list, func(e encoding) bool { return e.matched < top-0.004 })
	slices.SortStableFunc(list, func(a, b encoding) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(b.matched, a.matched))
	})
	return list
}

// tolerance of an element: an angle of float32 and its frequency, computed in some steps, err by
// less than 2^-19 of it, and a few roundings follow.
func (t *tableCheck) tolerance(angle, value, slope float64) float64 {
	unit := math.Ldexp(1, -min(t.Digits, 24))
	return min(math.Abs(angle*slope)*0x1p-19, 0.02) + 4*unit*math.Abs(value) + 0x1p-30
}

// value of an element with a frequency and scale 1, and by how much it may be off.
func (t *tableCheck) value(e *encoding, frequency float64, slot, r int) (value, tolerance float64) {
	angle := frequency * float64(e.first+r)
	sin, cos := math.Sincos(angle)
	if e.order.cos[slot] {
		sin, cos = cos, sin
	}
	return sin, t.tolerance(angle, sin, cos)
}

// least is by how much rounding changes the smallest elements.
func (t *tableCheck) least() float64 {
	if t.Digits == 11 {
		return 0x1p-24
	}
	return 0
}

// tableElement is an element and what an encoding of scale 1 has there.
type tableElement struct {
	got, want, tolerance float64
	isFast               bool
}

// match sets the scales of an encoding and the share of elements that agree with it: of all, or
// of those whose angle is half a radian and more if this is less.
func (t *tableCheck) match(e *encoding, rows, pairs []int) float64 {
	var matched, count, matchedFast, fast float64
	for slot := range 2 {
		list := t.elements[:0]
		largest := 0.0
		for _, k := range pairs {
			i := t.column(e.order, k, slot)
			if i >= t.dim {
				continue
			}
			w := t.frequency(e, k, i)
			for _, r := range rows {
				want, tolerance := t.value(e, w, slot, r)
				list = append(list, tableElement{t.at(r, i), want, tolerance, w*float64(e.first+r) > 0.5})
				largest = max(largest, math.Abs(want))
			}
		}
		ratios := t.ratios[:0]
		for _, x := range list {
			if math.Abs(x.want) >= largest/2 && largest > 0 {
				ratios = append(ratios, x.got/x.want)
			}
		}
		t.elements, t.ratios = list, ratios
		if len(ratios) == 0 {
			e.matched = 0
			return 0
		}
		slices.Sort(ratios)
		scale := ratios[len(ratios)/2]
		if e.scale[slot] = scale; scale == 0 {
			e.matched = 0
			return 0
		}
		for _, x := range list {
			if math.Abs(x.got-scale*x.want) <= math.Abs(scale)*x.tolerance+t.least() {
				matched++
				if x.isFast {
					matchedFast++
				}
			}
			if x.isFast {
				fast++
			}
		}
		count += float64(len(list))
	}
	if e.matched = matched / count; fast > 0 {
		e.matched = min(e.matched, matchedFast/fast)
	}
	return e.matched
}

type tableBase struct {
	base, step float64
	slip       string
}

// bases are those that an encoding with this order and exponent may have.
func (t *tableCheck) bases(e *encoding, pairs []int) []tableBase {
	var list []tableBase
	for _, b := range absoluteBases {
		base := math.Pow(defaultBase, b.power)
		list = append(list, tableBase{base, 1, fmt.Sprintf("The base is %s, not 10000: frequencies are %s.", number(base), b.fault)})
	}
	// A line in the logarithms of the frequencies: medians of slopes.
	type point struct{ x, y float64 }
	var points []point
	for _, k := range pairs {
		for slot := range 2 {
			if i := t.column(e.order, k, slot); i < t.dim {
				if c := t.fit(i); c.ok {
					points = append(points, point{e.exponent.of(float64(k), float64(i), float64(t.dim)), math.Log(c.frequency)})
				}
			}
		}
	}
	var through, slopes []float64
	for i, p := range points {
		if p.x != 0 {
			through = append(through, -p.y/p.x)
		}
		for _, q := range points[:i] {
			if math.Abs(p.x-q.x) > 1e-9 {
				slopes = append(slopes, -(p.y-q.y)/(p.x-q.x))
			}
		}
	}
	add := func(base, step float64) {
		if step = roundTo(step, 6); base > 1 && base < 1e30 && step > 1e-12 && step < 1e12 {
			list = append(list, tableBase{base, step, ""})
			for digits := 1; digits <= 5; digits++ {
				if nice := roundTo(base, digits); nice != base && math.Abs(nice-base) < 1e-2*base {
					list = append(list, tableBase{nice, step, ""})
				}
			}
		}
	}
	if len(through) > 0 {
		add(math.Exp(median(through)), 1)
	}
	if len(slopes) > 0 {
		slope := median(slopes)
		var cut []float64
		for _, p := range points {
			cut = append(cut, p.y+slope*p.x)
		}
		if step := math.Exp(median(cut)); math.Abs(step-1) > 1e-5 {
			add(math.Exp(slope), step)
		}
	}
	for _, base := range []float64{defaultBase, 100, 500, 1000, 1e5, 5e5, 1e6} { // few columns tell none
		list = append(list, tableBase{base, 1, ""})
		if len(points) > 0 {
			var cut []float64
			for _, p := range points {
				cut = append(cut, p.y+p.x*math.Log(base))
			}
			step := roundTo(math.Exp(median(cut)), 6)
			list = append(list, tableBase{base, step, ""}, tableBase{base, roundTo(step, 2), ""})
		}
	}
	return list
}

// fits reports whether most of the columns that were fitted have the frequencies of an encoding.
func (t *tableCheck) fits(e *encoding, pairs []int) bool {
	agree, count := 0, 0
	for _, k := range pairs {
		for slot := range 2 {
			if i := t.column(e.order, k, slot); i < t.dim {
				w, c := t.frequency(e, k, i), t.fit(i)
				if !c.ok || w >= math.Pi {
					continue
				}
				if count++; math.Abs(c.frequency-w) <= 1e-3*w {
					agree++
				}
				if count >= 6 && agree == 0 {
					return false
				}
			}
		}
	}
	return 2*agree >= count
}

// firsts are the positions that the first row may have: the usual ones, and those that the phases
// of most columns that were fitted say.
func (t *tableCheck) firsts(o *absoluteOrder, pairs []int) []int {
	var columns []sinusoid
	for _, k := range pairs {
		for slot := range 2 {
			if i := t.column(o, k, slot); i < t.dim && t.fit(i).ok {
				c := t.fit(i)
				if o.cos[slot] {
					c.phase -= math.Pi / 2
				}
				columns = append(columns, c)
			}
		}
	}
	list := []int{0, 1, 2}
	for _, half := range []float64{0, math.Pi} { // of a negative scale
		for i := range mostFirst + min(t.Rows, mostFirst) {
			p := i
			if p >= mostFirst {
				p = mostFirst - 1 - i // of relative positions
			}
			if len(list) >= 8 || len(columns) == 0 {
				break
			}
			off := 0
			for _, c := range columns {
				turn := (float64(p)*c.frequency - c.phase - half) / (2 * math.Pi)
				if math.Abs(turn-math.Round(turn)) > 0.05/(2*math.Pi) {
					if off++; off > len(columns)/4 {
						break
					}
				}
			}
			if off <= len(columns)/4 && !slices.Contains(list, p-t.from) {
				list = append(list, p-t.from)
			}
		}
	}
	return list
}

// fit finds the sinusoid that is nearest to a column by least squares. Columns that turn less
// than a radian have none.
func (t *tableCheck) fit(i int) sinusoid {
	if c, ok := t.fitted[i]; ok {
		return c
	}
	n := min(t.rows, 192)
	var c sinusoid
	if n >= 8 {
		y := make([]float64, n)
		power := 0.0
		for r := range y {
			y[r] = t.at(t.from+r, i)
			power += y[r] * y[r]
		}
		left := func(w float64) (float64, float64) { // what a sinusoid of frequency w leaves, and its phase
			var cc, cs, ss, yc, ys float64
			turn, z := complex(math.Cos(w), math.Sin(w)), complex(1, 0)
			for _, v := range y {
				cos, sin := real(z), imag(z)
				cc, cs, ss, yc, ys = cc+cos*cos, cs+cos*sin, ss+sin*sin, yc+v*cos, ys+v*sin
				z *= turn
			}
			det := cc*ss - cs*cs
			if !(det > 1e-9*cc*cc) {
				return power, 0
			}
			a, b := (yc*ss-ys*cs)/det, (ys*cc-yc*cs)/det
			return power - a*yc - b*ys, math.Atan2(a, b)
		}
		step := math.Pi / float64(4*n)
		best, least := 0.0, math.Inf(1)
		for k := 1; k < 4*n; k++ {
			if v, _ := left(float64(k) * step); v < least {
				best, least = float64(k)*step, v
			}
		}
		low, high := best-step, best+step
		for range 60 {
			a, b := low+(high-low)*0.382, low+(high-low)*0.618
			va, _ := left(a)
			vb, _ := left(b)
			if va < vb {
				high = b
			} else {
				low = a
			}
		}
		c.frequency = (low + high) / 2
		least, c.phase = left(c.frequency)
		c.ok = least < 0.2*power && c.frequency*float64(n) > 1 && c.frequency < math.Pi-step
	}
	t.fitted[i] = c
	return c
}

func median(list []float64) float64 {
	list = slices.Clone(list)
	slices.Sort(list)
	return list[len(list)/2]
}

// difference is the largest relative difference of the frequencies of two encodings, by columns.
func (t *tableCheck) difference(a, b *encoding) float64 {
	largest := 0.0
	for i := range t.dim {
		ka, sa := t.pairOf(a.order, i)
		kb, sb := t.pairOf(b.order, i)
		if a.order.cos[sa] != b.order.cos[sb] {
			return math.Inf(1)
		}
		wa, wb := t.frequency(a, ka, i), t.frequency(b, kb, i)
		largest = max(largest, math.Abs(wa-wb)/max(wa, wb))
	}
	return largest
}

func (t *tableCheck) sameNumbers(a, b *encoding) bool {
	return a.first == b.first && t.difference(a, b) < 1e-9
}

// near reports whether two encodings are one, up to how exactly a base is fitted.
func (t *tableCheck) near(a, b *encoding) bool {
	return a.first == b.first && t.difference(a, b) < 1e-3
}

// call is the function of package absolute that makes an encoding of base 10000.
func (e *encoding) call(t *tableCheck) string {
	name := map[string]string{
		"sin, cos alternating 2k/d": "Vaswani(%d)", "sines, then cosines 2k/d": "Marian(%d)",
		"sines, then cosines k/(d/2-1)": "Whisper(%d)", "cosines, then sines k/(d/2-1)": "MusicGen(%d)",
	}[e.order.name+" "+e.exponent.name]
	if t.padding != "" && name != "" {
		name = map[string]string{"Whisper(%d)": "Fairseq(%d" + t.padding + ")"}[name]
	}
	if name == "" || e.base != defaultBase || e.step != 1 || t.dim%2 != 0 {
		return "absolute.NewSinusoidal"
	}
	return "absolute." + fmt.Sprintf(name, t.dim)
}
