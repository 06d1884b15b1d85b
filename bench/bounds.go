package main

import (
	"fmt"
	"slices"

	"github.com/go-posenc/posenc/bench/measure"
	"github.com/go-posenc/posenc/internal/yardstick"
)

func boundName(operation, by string, bytes int) string {
	return fmt.Sprintf("Bound/op=%s/bytes=%d/by=%s", operation, bytes, by)
}

// boundCases are the bounds of operations on x, whose length is a multiple of 64.
func boundCases(x []float32, operations ...string) []measure.Case {
	var cases []measure.Case
	for _, b := range yardstick.Bounds(kernelsOf()) {
		if slices.Contains(operations, b.Operation) {
			cases = append(cases, measure.Case{Name: boundName(b.Operation, b.By, 4*len(x)), Bytes: int64(4 * len(x)), Run: func() error { b.Run(x); return nil }})
		}
	}
	return cases
}
