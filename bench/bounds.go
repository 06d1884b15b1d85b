package main

import (
	"fmt"
	"unsafe"

	"github.com/go-posenc/posenc/bench/measure"
)

// bound is a loop that no operation on the same memory can beat: scaling in place
// loads and stores each element once, as a rotation does; storing, past the
// caches or not, is what a table costs at least.
type bound struct {
	operation string // scale, store or nontemporal
	variant   string // by which code
	run       func(x []float32)
}

func (b bound) name(bytes int) string {
	return fmt.Sprintf("Bound/op=%s/bytes=%d/by=%s", b.operation, bytes, b.variant)
}

// boundCases are the bounds on so many bytes, a multiple of 256.
func boundCases(m *memory, bytes int) []measure.Case {
	var cases []measure.Case
	x := m.float32s[:bytes/4]
	for _, b := range bounds() {
		cases = append(cases, measure.Case{Name: b.name(bytes), Bytes: int64(bytes), Run: func() error { b.run(x); return nil }})
	}
	return cases
}

// assembly is a bound by a loop of package asm/bound. The factor 1 keeps the data
// as it is.
func assembly(operation, variant string, loop func(x *float32, n int, value float32)) bound {
	return bound{operation, variant, func(x []float32) { loop(unsafe.SliceData(x), len(x), 1) }}
}

// plainBounds are for machines without kernels. Go has no non-temporal store.
func plainBounds() []bound {
	factor := float32(1)
	return []bound{
		{"scale", "go", func(x []float32) {
			for i := range x {
				x[i] *= factor
			}
		}},
		{"store", "go", func(x []float32) {
			for i := range x {
				x[i] = factor
			}
		}},
	}
}
