package main

import (
	"fmt"

	"github.com/go-posenc/posenc/bench/measure"
	"github.com/go-posenc/posenc/internal/yardstick"
)

func boundName(operation, by string, bytes int) string {
	return fmt.Sprintf("Bound/op=%s/bytes=%d/by=%s", operation, bytes, by)
}

// boundCases are the bounds of rotations and tables on so many bytes, a multiple of 256.
func boundCases(m *memory, bytes int) []measure.Case {
	var cases []measure.Case
	x := m.float32s[:bytes/4]
	for _, b := range yardstick.Bounds(kernelsOf()) {
		if b.Operation != "add" {
			cases = append(cases, measure.Case{Name: boundName(b.Operation, b.By, bytes), Bytes: int64(bytes), Run: func() error { b.Run(x); return nil }})
		}
	}
	return cases
}
