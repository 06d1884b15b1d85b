package ropecheck

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

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
type AbsoluteReport struct {
	// Verdict is Agrees for an encoding without faults, Differs with faults, and NotDecidable
	// where no encoding, or more than one, explains the table.
	Verdict Verdict `json:"verdict"`

	Rows     int      `json:"rows"`
	Dim      int      `json:"dim"`
	Order    string   `json:"order,omitempty"`
	Exponent string   `json:"exponent,omitempty"`
	Base     float64  `json:"base,omitempty"` // 0: one frequency does not tell it
	First    int      `json:"first"`
	Step     float64  `json:"step,omitempty"`
	Scale    float64  `json:"scale,omitempty"`
	Call     string   `json:"call,omitempty"` // of package absolute that makes it
	Same     []string `json:"same,omitempty"` // other bases and exponents with the same numbers

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
	case e.step == rounded(e.step, 2):
		rank += 3
	default:
		rank += 5
	}
	if e.scale[0] < 0 {
		rank += 4
	}
	if e.first > 2 {
		rank++
	}
	return rank
}

// isRound reports whether a person may have chosen the base.
func (e *encoding) isRound() bool {
	return e.base == rounded(e.base, 2) && e.base >= 100 && e.base <= 1e8
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
	t := &tableCheck{AbsoluteTable: &table, dim: table.Dim}
	report := &AbsoluteReport{Verdict: NotDecidable, Rows: table.Rows, Dim: table.Dim}
	if t.dim%2 == 1 && t.dim > 2 && t.isZeroColumn(t.dim-1) {
		t.dim--
		report.Notes = append(report.Notes, "The last column is zero, as encodings with an odd number of columns have it.")
	}
	list := t.encodingsOfParts()
	if len(list) == 0 {
		return report, nil
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
			return report, nil
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
	return report, nil
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

// spreadOver are at most most of the numbers below n: the first quarter of them neighbours.
func spreadOver(n, most int) []int {
	var list []int
	for i := range min(n, most) {
		if n > most && i >= most/4 {
			i = most/4 + (i-most/4)*(n-1-most/4)/(most-1-most/4)
		}
		list = append(list, i)
	}
	return list
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
			if t.match(&other, []int{0, 1, 2}, spreadOver(t.pairs(), mostTablePairs)) > 0.9 {
				e.first = first
				break
			}
		}
	}
	return best
}

// encodings are those that most of the table agrees with, the simplest and nearest first.
func (t *tableCheck) encodings() (list []encoding) {
	rows, pairs := spreadOver(t.rows, mostTableRows), spreadOver(t.pairs(), mostTablePairs)
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
		if step = rounded(step, 6); base > 1 && base < 1e30 && step > 1e-12 && step < 1e12 {
			list = append(list, tableBase{base, step, ""})
			for digits := 1; digits <= 5; digits++ {
				if nice := rounded(base, digits); nice != base && math.Abs(nice-base) < 1e-2*base {
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
			step := rounded(math.Exp(median(cut)), 6)
			list = append(list, tableBase{base, step, ""}, tableBase{base, rounded(step, 2), ""})
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
		for p := range mostFirst {
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

// rounded is x in some decimal digits.
func rounded(x float64, digits int) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', digits-1, 64), 64)
	if err != nil {
		return x
	}
	return v
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

// tableRoundings are ways to compute the angle of a position, of float32 after the first.
var tableRoundings = [...]struct {
	name  string
	angle func(position, frequency, base, exponent, step float64) float64
}{
	{"angles are exact", func(p, w, _, _, _ float64) float64 { return p * w }},
	{"angles are products of float32", func(p, w, _, _, _ float64) float64 { return float64(float32(p) * float32(w)) }},
	{"frequencies are powers of e in steps of float32, and angles products of float32", nil},
	{"angles are quotients of float32", func(p, _, base, x, step float64) float64 {
		return float64(float32(p*step) / float32(math.Pow(base, float64(float32(x)))))
	}},
}

// tableFunctions compute cosines and sines of float32 angles.
var tableFunctions = [...]struct {
	name   string
	cosSin func(angle float32) (cos, sin float32)
}{
	{"", nil}, // correctly rounded
	{", cosines and sines glibc's", glibcCosSin},
	{", cosines and sines numpy's of float32", numpyCosSin},
	{", cosines and sines MLX's on a CPU", mlxCosSin},
}

// expected is the table of an encoding, with the scales, rounded to the type in one way.
func (t *tableCheck) expected(e *encoding, way int, cosSin func(angle float32) (cos, sin float32)) []float64 {
	want := make([]float64, t.Rows*t.dim)
	kind := Float32
	switch t.Digits {
	case 11:
		kind = Float16
	case 8:
		kind = BFloat16
	}
	for i := range t.dim {
		k, slot := t.pairOf(e.order, i)
		x := e.exponent.of(float64(k), float64(i), float64(t.dim))
		w := t.frequency(e, k, i)
		if tableRoundings[way].angle == nil && k > 0 { // exp of the element's number times a constant
			w = e.step * float64(float32(math.Exp(float64(float32(2*k)*float32(-math.Log(e.base)*x/float64(2*k))))))
		}
		for r := range t.Rows {
			p := float64(e.first + r)
			var angle float64
			if f := tableRoundings[way].angle; f != nil {
				angle = f(p, w, e.base, x, e.step)
			} else {
				angle = float64(float32(p) * float32(w))
			}
			sin, cos := math.Sincos(angle)
			if cosSin != nil {
				c, s := cosSin(float32(angle))
				cos, sin = float64(c), float64(s)
			}
			v := sin
			if e.order.cos[slot] {
				v = cos
			}
			if t.Digits <= 24 {
				v = float64(kind.round(float32(v)))
			}
			if v *= e.scale[slot]; t.Digits <= 24 {
				v = float64(kind.round(float32(v)))
			}
			want[r*t.dim+i] = v
		}
	}
	return want
}

// scaleText names a scale.
func scaleText(scale float64, dim int) string {
	for _, s := range []struct {
		name  string
		value float64
	}{{"sqrt(d)", math.Sqrt(float64(dim))}, {"1/sqrt(d)", 1 / math.Sqrt(float64(dim))}, {"sqrt(2/d)", math.Sqrt(2 / float64(dim))}} {
		if math.Abs(scale-s.value) < 1e-5*s.value {
			return s.name
		}
	}
	return number(scale)
}

// explain compares the whole table with an encoding, and says which rows, columns and elements
// are others.
func (t *tableCheck) explain(e *encoding, report *AbsoluteReport) {
	unit := math.Ldexp(1, 2-min(t.Digits, 24))
	for slot, s := range e.scale {
		nice := rounded(s, 4)
		if math.Abs(s-nice) < 4*unit*math.Abs(s) {
			e.scale[slot] = nice
		}
	}
	report.Scale = e.scale[0]
	if a, b := e.scale[0], e.scale[1]; math.Abs(a-b) > 16*unit*math.Abs(a) {
		first, second := "sines", "cosines"
		if e.order.cos[0] {
			first, second = second, first
		}
		report.Faults = append(report.Faults, fmt.Sprintf("The %s are multiplied by %s and the %s by %s.", first, scaleText(a, t.dim), second, scaleText(b, t.dim)))
	}
	var want []float64
	report.Equal = -1
	for way := range tableRoundings {
		for _, f := range tableFunctions {
			if report.Equal == 1 || way > 0 && t.Digits > 24 || f.cosSin != nil && (way == 0 || t.Digits != 24) {
				break
			}
			table, equal, count := t.expected(e, way, f.cosSin), 0, 0
			for r := range t.Rows {
				if t.isZeroRow(r) {
					continue
				}
				count += t.dim
				for i := range t.dim {
					if t.at(r, i) == table[r*t.dim+i] {
						equal++
					}
				}
			}
			// Only all bits name a library.
			if share := float64(equal) / float64(count); share > report.Equal+1e-9 && (f.cosSin == nil || share == 1) {
				want, report.Equal, report.Rounding = table, share, tableRoundings[way].name+f.name
			}
		}
	}
	// Columns that have mostly the bits of this way leave no room beside it.
	isTight := make([]bool, t.dim)
	for i := range isTight {
		equal := 0
		for r := range t.Rows {
			if t.at(r, i) == want[r*t.dim+i] {
				equal++
			}
		}
		isTight[i] = 10*equal > 8*t.Rows
	}
	frequencies := make([]float64, t.dim)
	for i := range frequencies {
		k, _ := t.pairOf(e.order, i)
		frequencies[i] = t.frequency(e, k, i)
	}
	agrees := func(r, q, i int) bool { // the element of row r with the encoding of row q
		if r == q && isTight[i] {
			return math.Abs(t.at(r, i)-want[r*t.dim+i]) <= 4*math.Ldexp(math.Abs(e.scale[0]), -min(t.Digits, 24))
		}
		_, slot := t.pairOf(e.order, i)
		v, tolerance := t.value(e, frequencies[i], slot, q)
		return math.Abs(t.at(r, i)-e.scale[slot]*v) <= math.Abs(e.scale[slot])*tolerance+t.least()
	}
	isRow := func(r, q int, columns []int) bool {
		n := 0
		for _, i := range columns {
			if agrees(r, q, i) {
				n++
			}
		}
		return 10*n >= 9*len(columns)
	}
	all := spreadOver(t.dim, t.dim)
	if len(all) > 64 {
		all = spreadOver(t.dim, 64)
	}
	offset, searched := 0, 0
	skipped := make([]bool, t.Rows)
	var list []changedRow
	for r := range t.Rows {
		wrong := 0
		for i := range t.dim {
			if !agrees(r, r, i) {
				wrong++
			}
		}
		if 4*wrong <= t.dim && (2*wrong < t.dim || wrong < 2) {
			offset = 0
			continue
		}
		skipped[r] = true
		if t.isZeroRow(r) {
			if r <= 2 {
				report.Notes = append(report.Notes, fmt.Sprintf("Row %d is zero, as the row of a padding token is.", r))
				t.padding = fmt.Sprint(", ", e.first+r)
			} else {
				list = append(list, changedRow{r, 0, "is zero"})
			}
			continue
		}
		found := false
		for _, q := range []int{r + offset, r - 1, r + 1} {
			if isRow(r, q, all) {
				offset, found = q-r, true
				break
			}
		}
		for q := -r; !found && searched < 16 && q < t.Rows; q++ {
			if isRow(r, q, all) {
				offset, found = q-r, true
			}
		}
		if !found {
			searched++
			list = append(list, changedRow{r, 0, "fits no position"})
			continue
		}
		list = append(list, changedRow{r, offset, "is"})
	}
	report.Faults = append(report.Faults, rowFaults(list, e.first)...)
	t.explainColumns(e, want, skipped, agrees, report)
}

type changedRow struct {
	row, offset int
	what        string
}

// rowFaults are sentences about rows, neighbours together.
func rowFaults(list []changedRow, first int) (faults []string) {
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1].row == list[j].row+1 && list[j+1].what == list[i].what && list[j+1].offset == list[i].offset {
			j++
		}
		a, b := list[i], list[j]
		switch text := fmt.Sprintf("Row %d", a.row); {
		case a.what == "is" && i == j:
			faults = append(faults, fmt.Sprintf("%s has position %d, not %d.", text, first+a.row+a.offset, first+a.row))
		case a.what == "is":
			faults = append(faults, fmt.Sprintf("Rows %d to %d have positions from %d on, not from %d on.", a.row, b.row, first+a.row+a.offset, first+a.row))
		case i == j:
			faults = append(faults, fmt.Sprintf("%s %s.", text, a.what))
		default:
			faults = append(faults, fmt.Sprintf("Rows %d to %d: each %s.", a.row, b.row, a.what))
		}
		i = j + 1
	}
	return shortened(faults)
}

// shortened is a list of at most mostFaults sentences.
func shortened(list []string) []string {
	if n := len(list); n > mostFaults {
		list = append(list[:mostFaults-1:mostFaults-1], fmt.Sprintf("And %d more like that.", n-mostFaults+1))
	}
	return list
}

// explainColumns says which columns and elements of the rows that are not skipped are others.
func (t *tableCheck) explainColumns(e *encoding, want []float64, skipped []bool, agrees func(r, q, i int) bool, report *AbsoluteReport) {
	var columns, elements []string
	handled := map[int]bool{}
	wrongRows := make([][]int, t.dim)
	isColumn := make([]bool, t.dim)
	var rows, some []int
	for r := range t.Rows {
		if !skipped[r] {
			rows = append(rows, r)
		}
	}
	for _, n := range spreadOver(len(rows), mostTableRows) {
		some = append(some, rows[n])
	}
	for i := range t.dim {
		for r := range t.Rows {
			if !skipped[r] && !agrees(r, r, i) {
				wrongRows[i] = append(wrongRows[i], r)
			}
		}
		isColumn[i] = len(wrongRows[i]) > max(len(rows)/2, 1)
	}
	// has reports whether column i has the numbers of column j of the encoding, times a factor.
	has := func(i, j int, factor float64) bool {
		k, slot := t.pairOf(e.order, j)
		n, w := 0, t.frequency(e, k, j)
		for _, r := range some {
			v, tolerance := t.value(e, w, slot, r)
			if math.Abs(t.at(r, i)-factor*e.scale[slot]*v) <= math.Abs(e.scale[slot]*factor)*tolerance+t.least() {
				n++
			}
		}
		return 10*n >= 9*len(some)
	}
	name := func(i int) string {
		k, slot := t.pairOf(e.order, i)
		if e.order.cos[slot] {
			return fmt.Sprintf("the cosine of pair %d", k)
		}
		return fmt.Sprintf("the sine of pair %d", k)
	}
	for i := range t.dim {
		if !isColumn[i] || handled[i] {
			for _, r := range wrongRows[i] {
				if !isColumn[i] {
					elements = append(elements, fmt.Sprintf("Element %d of row %d is %s, not %s.", i, r, number(t.at(r, i)), number(want[r*t.dim+i])))
				}
			}
			continue
		}
		k, slot := t.pairOf(e.order, i)
		partner := t.column(e.order, k, 1-slot)
		switch {
		case t.isZeroColumn(i):
			columns = append(columns, fmt.Sprintf("Column %d is zero, not %s.", i, name(i)))
			continue
		case partner < t.dim && isColumn[partner] && has(i, partner, 1) && has(partner, i, 1):
			handled[partner] = true
			columns = append(columns, fmt.Sprintf("Sine and cosine of pair %d are exchanged, in columns %d and %d.", k, min(i, partner), max(i, partner)))
			continue
		case has(i, i, -1):
			columns = append(columns, fmt.Sprintf("Column %d is %s with the other sign.", i, name(i)))
			continue
		}
		text := fmt.Sprintf("Column %d is not %s", i, name(i))
		for j := range t.dim {
			if j != i && len(columns) < mostFaults && has(i, j, 1) {
				text += fmt.Sprintf(", it is %s", name(j))
				break
			}
		}
		if c := t.fit(i); !strings.Contains(text, ", it is") && c.ok {
			text += fmt.Sprintf(": its frequency is near %s, not %s", number(rounded(c.frequency, 4)), number(t.frequency(e, k, i)))
		}
		columns = append(columns, text+".")
	}
	report.Faults = append(append(report.Faults, shortened(columns)...), shortened(elements)...)
}

// String returns the report as text.
func (r *AbsoluteReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d rows of %d elements.\n", r.Rows, r.Dim)
	if r.Order != "" {
		fmt.Fprintf(&b, "  order      %s\n", r.Order)
		if r.Exponent == "" {
			b.WriteString("  exponent   one frequency tells neither exponent nor base\n")
		} else {
			fmt.Fprintf(&b, "  exponent   %s", r.Exponent)
			if r.Base != 0 {
				fmt.Fprintf(&b, ", base %s", number(r.Base))
			}
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "  positions  from %d on", r.First)
		if r.Step != 1 {
			fmt.Fprintf(&b, ", times %s", number(r.Step))
		}
		fmt.Fprintf(&b, "\n  scale      %s\n", scaleText(r.Scale, r.Dim))
		fmt.Fprintf(&b, "  rounding   %s: %s of the elements have the same bits\n", r.Rounding, percent(r.Equal))
		if r.Call != "" {
			fmt.Fprintf(&b, "  posenc     %s\n", r.Call)
		}
	}
	for _, s := range r.Same {
		fmt.Fprintf(&b, "The numbers are also the ones of %s.\n", s)
	}
	for _, s := range slices.Concat(r.Faults, r.Notes) {
		fmt.Fprintf(&b, "%s\n", s)
	}
	return b.String()
}
