package main

import (
	"fmt"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/measure"
)

// swept is an operation that is measured over working sets of all sizes.
type swept struct {
	operation string
	title     string
	call      func(m *memory, bytes int) func() error
}

var sweeps = []swept{
	{"rotate-half-f32", "Rotate, half-split, float32", func(m *memory, bytes int) func() error {
		return sweepRotation(posenc.HalfSplit, headDim, m.float32s[:bytes/4])
	}},
	{"rotate-interleaved-f32", "Rotate, interleaved, float32", func(m *memory, bytes int) func() error {
		return sweepRotation(posenc.Interleaved, headDim, m.float32s[:bytes/4])
	}},
	{"rotate-half-f16", "Rotate, half-split, float16", func(m *memory, bytes int) func() error {
		return sweepRotation(posenc.HalfSplit, headDim, m.float16s[:bytes/2])
	}},
	{"rotate-half-bf16", "Rotate, half-split, bfloat16", func(m *memory, bytes int) func() error {
		return sweepRotation(posenc.HalfSplit, headDim, m.bfloat16s[:bytes/2])
	}},
	{"tables-exact", "CosSin, exact", func(m *memory, bytes int) func() error {
		return table{bytes / (8 * pairs), frequency.Exact}.call(m)
	}},
}

func (s swept) name(bytes int) string { return fmt.Sprintf("Sweep/op=%s/bytes=%d", s.operation, bytes) }

func sweepRotation[T posenc.Element](layout posenc.Layout, headDim int, x []T) func() error {
	rotary := must(posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Layout: layout, Base: base}))
	positions, view := sequence(len(x)/(queryHeads*headDim)), posenc.View[T]{Data: x, Heads: queryHeads}
	return func() error { return posenc.Rotate(rotary.At(positions), view) }
}

// sweepCases are what is measured on a working set of the given bytes.
func sweepCases(m *memory, bytes int) []measure.Case {
	var cases []measure.Case
	for _, s := range sweeps {
		cases = append(cases, measure.Case{Name: s.name(bytes), Bytes: int64(bytes), Run: s.call(m, bytes)})
	}
	return cases
}
