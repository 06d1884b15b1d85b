package main

import (
	"fmt"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/test/measure"
)

// swept is an operation that is measured over working sets of all sizes.
type swept struct {
	operation string
	title     string
	size      int // bytes of an element
	call      func(m *memory, bytes int) func() error
}

var sweeps = []swept{
	{"rotate-half-f32", "Rotate, half-split, float32", 4, func(m *memory, bytes int) func() error {
		return sweepRotation(posenc.HalfSplit, headDim, m.float32s[:bytes/4])
	}},
	{"rotate-interleaved-f32", "Rotate, interleaved, float32", 4, func(m *memory, bytes int) func() error {
		return sweepRotation(posenc.Interleaved, headDim, m.float32s[:bytes/4])
	}},
	{"rotate-half-bf16", "Rotate, half-split, bfloat16", 2, func(m *memory, bytes int) func() error {
		return sweepRotation(posenc.HalfSplit, headDim, m.bfloat16s[:bytes/2])
	}},
	{"tables-exact", "CosSin, exact", 4, func(m *memory, bytes int) func() error {
		return table{bytes / (8 * pairs), frequency.Exact}.call(m)
	}},
	{"quantize-half-q8_0", "RotateIntoQuantized, half-split, float32 to Q8_0", 4, func(m *memory, bytes int) func() error {
		return sweepQuantization(m.float32s[:bytes/4])
	}},
}

func (s swept) name(bytes int) string { return fmt.Sprintf("Sweep/op=%s/bytes=%d", s.operation, bytes) }

// cost is the ns of an element.
func (s swept) cost(r results, bytes int) float64 {
	return float64(s.size) / r.speed(s.name(bytes), bytes)
}

// sweepRotation rotates tokens of the queries' heads, or one token of fewer.
func sweepRotation[T posenc.Element](layout posenc.Layout, headDim int, x []T) func() error {
	rotary := must(posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Layout: layout, Base: base}))
	heads := min(queryHeads, len(x)/headDim)
	positions, view := sequence(len(x)/(heads*headDim)), posenc.View[T]{Data: x, Heads: heads}
	return func() error { return posenc.Rotate(rotary.At(positions), view) }
}

func sweepQuantization(x []float32) func() error {
	rotary := must(posenc.NewRotary(posenc.RotaryConfig{HeadDim: headDim, Layout: posenc.HalfSplit, Base: base}))
	positions := sequence(len(x) / (keyHeads * headDim))
	blocks := make([]posenc.Q8_0, len(x)/32)
	fill(blocks, posenc.Q8_0{}) // the system gives pages to memory when it is written
	keys := posenc.IntoQuantized[posenc.Q8_0, float32]{
		Dst: posenc.QuantizedView[posenc.Q8_0]{View: posenc.View[posenc.Q8_0]{Data: blocks, Heads: keyHeads}},
		Src: posenc.View[float32]{Data: x, Heads: keyHeads},
	}
	return func() error { return posenc.RotateIntoQuantized(rotary.At(positions), nil, keys) }
}

// sweepCases are what is measured on a working set of the given bytes.
func sweepCases(m *memory, bytes int) []measure.Case {
	var cases []measure.Case
	for _, s := range sweeps {
		cases = append(cases, measure.Case{Name: s.name(bytes), Bytes: int64(bytes), Run: s.call(m, bytes)})
	}
	return cases
}
