package main

import (
	"fmt"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/test/measure"
)

// table is a call of Rotary.CosSin for positions 0, 1, 2, and so on.
type table struct {
	rows   int
	angles frequency.Rounding
}

func tables(s setting) []table {
	var list []table
	for _, rows := range s.rows {
		list = append(list, table{rows, frequency.Exact}, table{rows, frequency.Float32})
	}
	return list
}

func (t table) anglesName() string {
	if t.angles == frequency.Float32 {
		return "float32"
	}
	return "exact"
}

func (t table) name(implementation string) string {
	return fmt.Sprintf("CosSin/angles=%s/rows=%d/pairs=%d/impl=%s", t.anglesName(), t.rows, pairs, implementation)
}

// bytes are those of both halves.
func (t table) bytes() int { return 8 * t.rows * pairs }

func (t table) measured(implementation string, m *memory) measure.Case {
	return measure.Case{Name: t.name(implementation), Bytes: int64(t.bytes()), Run: t.call(m)}
}

func (t table) call(m *memory) func() error {
	rotary := must(posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Layout: posenc.HalfSplit, Base: base, Rounding: t.angles}))
	positions := sequence(t.rows)
	cos, sin := m.tableHalves(t.rows)
	return func() error { return rotary.CosSin(cos, sin, positions) }
}

func (m *memory) tableHalves(rows int) (cos, sin []float32) {
	n := rows * pairs
	return m.float32s[:n], m.float32s[n+gap:][:n]
}
