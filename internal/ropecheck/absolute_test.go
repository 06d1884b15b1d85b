package ropecheck_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/internal/ropecheck"
	"github.com/go-posenc/posenc/internal/test/kit"
)

// sinusoidal is a table by its formula, element by element.
type sinusoidal struct {
	rows, dim int
	order     string // sc, cs, ss, cc: the first and second element of a pair; in capitals the halves of a row
	exponent  string
	base      float64
	first     int
	step      float64
	scale     float64
	rounding  string // float64, float32, float32 angles, float32 steps, float16, bfloat16
}

// exponents of 1/base by pair k and element i of d.
var exponentFormulas = map[string]func(k, i, d float64) float64{
	"2k/d":      func(k, i, d float64) float64 { return 2 * k / d },
	"k/(d/2-1)": func(k, i, d float64) float64 { return k / (d/2 - 1) },
	"k/d":       func(k, i, d float64) float64 { return k / d },
	"i/d":       func(k, i, d float64) float64 { return i / d },
	"2i/d":      func(k, i, d float64) float64 { return 2 * i / d },
	"4k/d":      func(k, i, d float64) float64 { return 4 * k / d },
	"(i-1)/d":   func(k, i, d float64) float64 { return (i - 1) / d },
	"(2k+1)/d":  func(k, i, d float64) float64 { return (2*k + 1) / d },
	"(i+1)/d":   func(k, i, d float64) float64 { return (i + 1) / d },
	"2k/(d-1)":  func(k, i, d float64) float64 { return 2 * k / (d - 1) },
	"-2k/d":     func(k, i, d float64) float64 { return -2 * k / d },
	"2(k+1)/d":  func(k, i, d float64) float64 { return 2 * (k + 1) / d },
	"0":         func(k, i, d float64) float64 { return math.Floor(2 * k / d) },
}

func (s *sinusoidal) table() ropecheck.AbsoluteTable {
	t := ropecheck.AbsoluteTable{Rows: s.rows, Dim: s.dim, Digits: map[string]int{"float64": 53, "float16": 11, "bfloat16": 8}[s.rounding]}
	if t.Digits == 0 {
		t.Digits = 24
	}
	for r := range s.rows {
		row := make([]float64, s.dim)
		for k := range s.dim / 2 {
			for slot, what := range strings.ToLower(s.order) {
				i := 2*k + slot
				if s.order < "a" {
					i = k + slot*s.dim/2
				}
				x := exponentFormulas[s.exponent](float64(k), float64(i), float64(s.dim))
				angle := float64(s.first+r) * s.step / math.Pow(s.base, x)
				switch s.rounding {
				case "float32 angles":
					angle = float64(float32(float64(s.first+r)) * float32(s.step/math.Pow(s.base, x)))
				case "float32 steps":
					angle = float64(float32(s.first+r) * float32(s.step) / float32(math.Pow(s.base, float64(float32(x)))))
				}
				v := math.Cos(angle)
				if what == 's' {
					v = math.Sin(angle)
				}
				row[i] = s.rounded(s.rounded(v) * s.scale)
			}
		}
		t.Values = append(t.Values, row...)
	}
	return t
}

func (s *sinusoidal) rounded(v float64) float64 {
	switch s.rounding {
	case "float64":
		return v
	case "float16":
		return float64(f16(float32(v)))
	case "bfloat16":
		return float64(bf16(float32(v)))
	}
	return float64(float32(v))
}

var orderNames = map[string]string{
	"sc": "sin, cos alternating", "SC": "sines, then cosines", "CS": "cosines, then sines",
	"cs": "cos, sin alternating", "ss": "sin, sin alternating", "CC": "cosines, then cosines",
}

// told reports whether a report describes a table, by its own base and exponent or by others that make
// the same numbers.
func (s *sinusoidal) told(r *ropecheck.AbsoluteReport) bool {
	// With one frequency for each element, equal columns have no order.
	if r.Order != orderNames[s.order] && !(strings.EqualFold(s.order[:1], s.order[1:]) && strings.ContainsAny(s.exponent, "i0")) || r.First != s.first || math.Abs(r.Scale-s.scale) > 1e-2*s.scale {
		return false
	}
	near := func(base float64, exponent string) bool {
		return exponent == s.exponent && (exponent == "0" || math.Abs(base-s.base) < 2e-3*s.base)
	}
	if near(r.Base, r.Exponent) && math.Abs(r.Step-s.step) < 1e-3*s.step {
		return true
	}
	for _, text := range r.Same {
		var base float64
		var exponent string
		kit.Must(fmt.Sscanf(text, "base %g, exponent %s", &base, &exponent))
		if near(base, exponent) {
			return true
		}
	}
	other := *s
	other.exponent, other.base, other.step, other.rounding = r.Exponent, r.Base, r.Step, "float64"
	exact := *s
	exact.rounding = "float64"
	got := other.table().Values
	for i, want := range exact.table().Values {
		if math.Abs(got[i]-want) > 1e-9*s.scale {
			return false
		}
	}
	return true
}

// TestAbsoluteTables tells tables of all combinations, of which it takes a sample. Three or four
// frequencies may tell too little: such a table is then not known, and never taken for another.
func TestAbsoluteTables(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	exponents := []string{"2k/d", "2k/d", "2k/d", "k/(d/2-1)", "k/(d/2-1)", "k/d", "i/d", "2i/d", "4k/d", "(i-1)/d", "(2k+1)/d", "2(k+1)/d", "0"}
	rounds, unknown := kit.Rounds(200), 0
	for n := range rounds {
		s := sinusoidal{
			rows: kit.OneOf(r, []int{12, 50, 100, 500}), dim: kit.OneOf(r, []int{6, 8, 16, 64, 128, 384}),
			order: kit.OneOf(r, []string{"sc", "SC", "CS", "cs", "ss", "CC"}), exponent: kit.OneOf(r, exponents),
			base: kit.OneOf(r, []float64{10000, 10000, 10000, 1000, 500, 1e5, 5e5}), first: kit.OneOf(r, []int{0, 1, 2, 77}),
			step: 1, scale: kit.OneOf(r, []float64{1, 1, math.Sqrt2, 0.02}),
			rounding: kit.OneOf(r, []string{"float64", "float32", "float32 angles", "float32 steps", "float16", "bfloat16"}),
		}
		if n%4 == 0 && !strings.Contains(s.exponent, "1)") { // a shift of exponents is a step, too
			s.step = 0.25
		}
		if s.rounding == "float16" || s.rounding == "bfloat16" {
			s.rows = max(s.rows, 50)
		}
		// What 16 bits, few rows or a step tell of a base is less than its digits.
		if s.rounding != "float16" && s.rounding != "bfloat16" && s.rows >= 100 && s.step == 1 && n%3 == 0 {
			s.base = 12345
		}
		report := kit.Must(ropecheck.CheckAbsolute(s.table()))
		if report.Verdict == ropecheck.NotDecidable && s.dim <= 8 {
			unknown++
			continue
		}
		isFault := s.order == "cs" || s.order == "ss" || s.order == "CC" || s.exponent != "2k/d" && s.exponent != "k/(d/2-1)"
		if !s.told(report) || s.exponent == report.Exponent && isFault != (report.Verdict == ropecheck.Differs) {
			t.Errorf("%d: %+v: %s\n%v", n, s, report.Verdict, report)
		}
	}
	if 20*unknown > rounds {
		t.Errorf("%d of %d tables of few frequencies are not known", unknown, rounds)
	}
}

// TestAbsoluteTableFaults plants faults in right tables: each is named, and nothing else is.
func TestAbsoluteTableFaults(t *testing.T) {
	type table = ropecheck.AbsoluteTable
	column := func(t table, i int, f func(r int, row []float64) float64) {
		for r := range t.Rows {
			row := t.Values[r*t.Dim:][:t.Dim]
			row[i] = f(r, row)
		}
	}
	for number, tt := range []struct {
		name  string
		plant func(t table, s *sinusoidal)
		want  string
	}{
		{"an element", func(t table, s *sinusoidal) { t.Values[20*t.Dim+5] += 0.1 * s.scale }, "Element 5 of row 20 is "},
		{"a row twice", func(t table, _ *sinusoidal) { copy(t.Values[8*t.Dim:][:t.Dim], t.Values[7*t.Dim:]) }, "Row 8 has position 7+, not 8+."},
		{"a row inserted", func(t table, _ *sinusoidal) { copy(t.Values[11*t.Dim:], slices.Clone(t.Values[10*t.Dim:])) }, "Rows 11 to 39 have positions from 10+ on, not from 11+ on."},
		{"a row of zeros", func(t table, _ *sinusoidal) { clear(t.Values[30*t.Dim:][:t.Dim]) }, "Row 30 is zero."},
		{"a row of something else", func(t table, _ *sinusoidal) {
			for i := range t.Dim {
				t.Values[30*t.Dim+i] = math.Sqrt(float64(i)) / 5
			}
		}, "Row 30 fits no position."},
		{"two rows exchanged", func(t table, _ *sinusoidal) {
			for i := range t.Dim {
				a, b := &t.Values[25*t.Dim+i], &t.Values[26*t.Dim+i]
				*a, *b = *b, *a
			}
		}, "Row 25 has position 26+, not 25+.|Row 26 has position 25+, not 26+."},
		{"a pair exchanged", func(t table, s *sinusoidal) {
			i, j := 4, 5
			if s.order < "a" {
				i, j = 2, 2+t.Dim/2
			}
			for r := range t.Rows {
				a, b := &t.Values[r*t.Dim+i], &t.Values[r*t.Dim+j]
				*a, *b = *b, *a
			}
		}, "Sine and cosine of pair 2 are exchanged, in columns "},
		{"a column of zeros", func(t table, _ *sinusoidal) { column(t, 1, func(int, []float64) float64 { return 0 }) }, "Column 1 is zero, not the "},
		{"a column with the other sign", func(t table, _ *sinusoidal) { column(t, 1, func(_ int, row []float64) float64 { return -row[1] }) }, "Column 1 is the "},
		{"a column of another pair", func(t table, _ *sinusoidal) { column(t, 4, func(_ int, row []float64) float64 { return row[0] }) }, "Column 4 is not the "},
		{"sines twice as large", func(t table, s *sinusoidal) {
			for k := range t.Dim / 2 {
				i := k
				if s.order > "a" {
					i = 2 * k
				}
				column(t, i, func(_ int, row []float64) float64 { return 2 * row[i] })
			}
		}, "The "},
	} {
		for n, order := range []string{"sc", "SC", "CS"} {
			for m, rounding := range []string{"float64", "float32", "float32 steps", "float16", "bfloat16"} {
				if !kit.AllRounds() && (number+n)%5 != m {
					continue
				}
				s := sinusoidal{rows: 40, dim: 16 << n, order: order, exponent: []string{"2k/d", "k/(d/2-1)"}[n%2], base: 10000, first: n, step: 1, scale: []float64{1, 0.25}[n%2], rounding: rounding}
				data := s.table()
				tt.plant(data, &s)
				report := kit.Must(ropecheck.CheckAbsolute(data))
				wanted := strings.Split(tt.want, "|")
				ok := report.Verdict == ropecheck.Differs && len(report.Faults) == len(wanted)
				for i := range wanted {
					want := wanted[i]
					for p := range 40 {
						want = strings.ReplaceAll(want, fmt.Sprintf(" %d+", p), fmt.Sprintf(" %d", p+s.first))
					}
					ok = ok && strings.HasPrefix(report.Faults[i], want)
				}
				if !ok {
					t.Errorf("%s in %+v: %s, want %q\n%v", tt.name, s, report.Verdict, tt.want, report)
				}
			}
		}
	}
}

// TestAbsoluteTableSlips makes bases by the wrong logarithm.
func TestAbsoluteTableSlips(t *testing.T) {
	ln := math.Log(10000)
	for want, base := range map[string]float64{
		"2 to the power of a natural logarithm": math.Exp2(ln), "e to the power of a logarithm of base 2": math.Exp(math.Log2(10000)),
		"e to the power of a logarithm of base 10": math.Exp(math.Log10(10000)), "10 to the power of a natural logarithm": math.Pow(10, ln),
	} {
		for _, rounding := range []string{"float64", "float32", "bfloat16"} {
			s := sinusoidal{rows: 100, dim: 64, order: "sc", exponent: "2k/d", base: base, step: 1, scale: 1, rounding: rounding}
			report := kit.Must(ropecheck.CheckAbsolute(s.table()))
			if report.Verdict != ropecheck.Differs || len(report.Faults) != 1 || !strings.Contains(report.Faults[0], want) {
				t.Errorf("%s: %+v: %v", want, s, report)
			}
		}
	}
}

// Of many rows in another order the first are found, and the report stays short.
func TestAbsoluteRowsReversed(t *testing.T) {
	s := sinusoidal{order: "sc", exponent: "2k/d", base: 10000, step: 1, scale: 1, rows: 400, dim: 32, rounding: "float32"}
	table := s.table()
	right := slices.Clone(table.Values)
	for r := 200; r < 400; r++ {
		copy(table.Values[r*s.dim:][:s.dim], right[(599-r)*s.dim:])
	}
	report := kit.Must(ropecheck.CheckAbsolute(table))
	if len(report.Faults) != 8 || report.Faults[0] != "Row 200 has position 399, not 200." || report.Faults[6] != "Row 206 has position 393, not 206." {
		t.Errorf("%v", report)
	}
}

// TestAbsoluteTablesUnknown: what is no sinusoidal encoding on one axis is not told as one.
func TestAbsoluteTablesUnknown(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	axes := func(r, i int) float64 { // MAE: a half of the row for each axis of a grid of 8
		p := r % 8
		if i >= 16 {
			p = r / 8
		}
		angle := float64(p) / math.Pow(10000, float64(i%8)/8)
		if i%16 < 8 {
			return math.Sin(angle)
		}
		return math.Cos(angle)
	}
	for name, f := range map[string]func(r, i int) float64{
		"noise":              func(int, int) float64 { return r.NormFloat64() },
		"uniform noise":      func(int, int) float64 { return 2*r.Float64() - 1 },
		"zeros":              func(int, int) float64 { return 0 },
		"ones":               func(int, int) float64 { return 1 },
		"zeros and ones":     func(_, i int) float64 { return float64(i % 2) },
		"positions":          func(r, _ int) float64 { return float64(r) },
		"two axes":           axes,
		"square waves":       func(r, i int) float64 { return math.Copysign(1, math.Sin(float64(r)/math.Pow(10000, float64(i)/32))) },
		"random features":    func(r, i int) float64 { return math.Sin(float64(r) * float64(uint32(i)*2654435761) / (1 << 32)) },
		"linear frequencies": func(r, i int) float64 { return math.Sin(float64(r) * (1 + float64(i)) / 40) },
	} {
		table := ropecheck.AbsoluteTable{Rows: 64, Dim: 32, Digits: 24}
		for i := range 64 * 32 {
			table.Values = append(table.Values, float64(float32(f(i/32, i%32))))
		}
		if report := kit.Must(ropecheck.CheckAbsolute(table)); report.Verdict != ropecheck.NotDecidable || report.Order != "" {
			t.Errorf("%s: %v", name, report)
		}
	}
}

// TestAbsoluteCalls: the call that a report names makes the table.
func TestAbsoluteCalls(t *testing.T) {
	positions := make([]int32, 60)
	for i := range positions {
		positions[i] = int32(i)
	}
	for call, s := range map[string]*absolute.Sinusoidal{
		"absolute.Vaswani(64)": kit.Must(absolute.Vaswani(64)), "absolute.Marian(64)": kit.Must(absolute.Marian(64)), "absolute.Whisper(48)": kit.Must(absolute.Whisper(48)),
		"absolute.MusicGen(64)": kit.Must(absolute.MusicGen(64)), "absolute.Fairseq(64, 1)": kit.Must(absolute.Fairseq(64, 1)), "absolute.Fairseq(32, 2)": kit.Must(absolute.Fairseq(32, 2)),
	} {
		table := ropecheck.AbsoluteTable{Rows: len(positions), Digits: 24}
		kit.Must(fmt.Sscanf(call[strings.IndexByte(call, '(')+1:], "%d", &table.Dim))
		rows := make([]float32, table.Rows*table.Dim)
		kit.NoError(t, absolute.SinusoidalRows(rows, s, positions))
		for _, v := range rows {
			table.Values = append(table.Values, float64(v))
		}
		if report := kit.Must(ropecheck.CheckAbsolute(table)); report.Verdict != ropecheck.Agrees || report.Call != call || report.Equal < 0.999 {
			t.Errorf("%s: %v", call, report)
		}
	}
}

// Positions may fall, as those of Transformer-XL do, and lie on both sides of 0.
func TestAbsoluteDirections(t *testing.T) {
	for _, tt := range []struct {
		first, last int32
		text        string
	}{{99, 0, "from 99 down"}, {0, 99, "from 0 on"}, {16, -15, "from 16 down"}, {-20, 19, "from -20 on"}, {0, -49, "from 0 down"}, {2047, 1948, "from 2047 down"}, {5, 0, "from 5 down"}} {
		step, positions := int32(1), []int32{tt.first}
		if tt.last < tt.first {
			step = -1
		}
		for p := tt.first; p != tt.last; {
			p += step
			positions = append(positions, p)
		}
		for _, s := range []*absolute.Sinusoidal{kit.Must(absolute.Vaswani(64)), kit.Must(absolute.Marian(64))} {
			rows := make([]float32, len(positions)*64)
			kit.NoError(t, absolute.SinusoidalRows(rows, s, positions))
			table := ropecheck.AbsoluteTable{Rows: len(positions), Dim: 64, Digits: 24}
			for _, v := range rows {
				table.Values = append(table.Values, float64(v))
			}
			report := kit.Must(ropecheck.CheckAbsolute(table))
			if report.Verdict != ropecheck.Agrees || report.First != int(tt.first) || report.Descending != (step < 0) || report.Scale != 1 || !strings.Contains(report.String(), tt.text) {
				t.Errorf("positions %d to %d: %v", tt.first, tt.last, report)
			}
			if step < 0 && len(positions) > 20 { // a fault is one of the rows from the last
				table.Values[64*len(positions)-64*3+5]++
				if report := kit.Must(ropecheck.CheckAbsolute(table)); report.Verdict != ropecheck.Differs || !strings.Contains(report.String(), "of row 2 is") || !strings.Contains(report.String(), "counted from the last one") {
					t.Errorf("positions %d to %d with a fault: %v", tt.first, tt.last, report)
				}
			}
		}
	}
}

// TestAbsoluteTablesExtreme: any finite numbers give a report that JSON has.
func TestAbsoluteTablesExtreme(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range kit.Rounds(120) {
		table := ropecheck.AbsoluteTable{Rows: 1 + r.IntN(20), Dim: 2 + r.IntN(9), Digits: kit.OneOf(r, []int{53, 24, 11, 8})}
		numbers := []float64{0, 1, -1, r.NormFloat64(), math.MaxFloat64, -math.MaxFloat64, 5e-324, 1e-40}[:1+r.IntN(8)]
		for range table.Rows * table.Dim {
			table.Values = append(table.Values, kit.OneOf(r, numbers))
		}
		report := kit.Must(ropecheck.CheckAbsolute(table))
		kit.Must(json.Marshal(report))
	}
	for _, bad := range []ropecheck.AbsoluteTable{
		{Rows: 0, Dim: 2}, {Rows: 1, Dim: 1, Values: []float64{0}}, {Rows: 2, Dim: 2, Values: make([]float64, 3)}, {Rows: math.MaxInt, Dim: math.MaxInt}, {Rows: 1, Dim: 2, Values: []float64{0, math.NaN()}},
	} {
		if _, err := ropecheck.CheckAbsolute(bad); err == nil || !strings.HasPrefix(err.Error(), "ropecheck.CheckAbsolute: table.") {
			t.Errorf("%d rows of %d: %v", bad.Rows, bad.Dim, err)
		}
	}
}
