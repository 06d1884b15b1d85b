package ropecheck

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

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
		nice := roundTo(s, 4)
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
		wrong := 0
		for _, i := range columns {
			if !agrees(r, q, i) {
				if wrong++; 10*wrong > len(columns) {
					return false
				}
			}
		}
		return true
	}
	all := spread(t.dim, 64, 16)
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
		if !found && searched == mostSearches {
			list = append(list, changedRow{r, 0, "is not the row of its position"})
			continue
		}
		if !found {
			searched++
		}
		for q := -r; !found && q < t.Rows; q++ {
			if isRow(r, q, all) {
				offset, found = q-r, true
			}
		}
		if !found {
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
func rowFaults(list []changedRow, first int) []string {
	var faults faultList
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1].row == list[j].row+1 && list[j+1].what == list[i].what && list[j+1].offset == list[i].offset {
			j++
		}
		a, b := list[i], list[j]
		faults.add(func() string {
			switch {
			case a.what == "is" && i == j:
				return fmt.Sprintf("Row %d has position %d, not %d.", a.row, first+a.row+a.offset, first+a.row)
			case a.what == "is":
				return fmt.Sprintf("Rows %d to %d have positions from %d on, not from %d on.", a.row, b.row, first+a.row+a.offset, first+a.row)
			case i == j:
				return fmt.Sprintf("Row %d %s.", a.row, a.what)
			}
			return fmt.Sprintf("Rows %d to %d: each %s.", a.row, b.row, a.what)
		})
		i = j + 1
	}
	return faults.sentences()
}

// faultList has the first mostFaults sentences, and counts the others.
type faultList struct {
	first []string
	count int
}

func (l *faultList) add(text func() string) {
	if l.count < mostFaults {
		l.first = append(l.first, text())
	}
	l.count++
}

func (l *faultList) sentences() []string {
	if l.count > mostFaults {
		return append(l.first[:mostFaults-1:mostFaults-1], fmt.Sprintf("And %d more like that.", l.count-mostFaults+1))
	}
	return l.first
}

// explainColumns says which columns and elements of the rows that are not skipped are others.
func (t *tableCheck) explainColumns(e *encoding, want []float64, skipped []bool, agrees func(r, q, i int) bool, report *AbsoluteReport) {
	var columns, elements faultList
	handled := map[int]bool{}
	wrongRows := make([][]int, t.dim) // the first of them
	wrong := make([]int, t.dim)
	isColumn := make([]bool, t.dim)
	var rows, some []int
	for r := range t.Rows {
		if !skipped[r] {
			rows = append(rows, r)
		}
	}
	for _, n := range spread(len(rows), mostTableRows, mostTableRows/4) {
		some = append(some, rows[n])
	}
	for i := range t.dim {
		for r := range t.Rows {
			if !skipped[r] && !agrees(r, r, i) {
				if wrong[i]++; wrong[i] <= mostFaults {
					wrongRows[i] = append(wrongRows[i], r)
				}
			}
		}
		isColumn[i] = wrong[i] > max(len(rows)/2, 1)
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
		if !isColumn[i] {
			for _, r := range wrongRows[i] {
				elements.add(func() string {
					return fmt.Sprintf("Element %d of row %d is %s, not %s.", i, r, number(t.at(r, i)), number(want[r*t.dim+i]))
				})
			}
			elements.count += wrong[i] - len(wrongRows[i])
			continue
		}
		if handled[i] {
			continue
		}
		k, slot := t.pairOf(e.order, i)
		partner := t.column(e.order, k, 1-slot)
		switch {
		case t.isZeroColumn(i):
			columns.add(func() string { return fmt.Sprintf("Column %d is zero, not %s.", i, name(i)) })
		case partner < t.dim && isColumn[partner] && has(i, partner, 1) && has(partner, i, 1):
			handled[partner] = true
			columns.add(func() string {
				return fmt.Sprintf("Sine and cosine of pair %d are exchanged, in columns %d and %d.", k, min(i, partner), max(i, partner))
			})
		case has(i, i, -1):
			columns.add(func() string { return fmt.Sprintf("Column %d is %s with the other sign.", i, name(i)) })
		default:
			columns.add(func() string {
				text := fmt.Sprintf("Column %d is not %s", i, name(i))
				for j := range t.dim {
					if j != i && has(i, j, 1) {
						return text + fmt.Sprintf(", it is %s.", name(j))
					}
				}
				if c := t.fit(i); c.ok {
					text += fmt.Sprintf(": its frequency is near %s, not %s", number(roundTo(c.frequency, 4)), number(t.frequency(e, k, i)))
				}
				return text + "."
			})
		}
	}
	report.Faults = slices.Concat(report.Faults, columns.sentences(), elements.sentences())
}

// String returns the report as text, and nothing of a nil report.
func (r *AbsoluteReport) String() string {
	if r == nil {
		return ""
	}
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
		direction := "on"
		if r.Descending {
			direction = "down"
		}
		fmt.Fprintf(&b, "  positions  from %d %s", r.First, direction)
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
