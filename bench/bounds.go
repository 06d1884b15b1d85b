package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/test/measure"
)

func boundName(operation, by string, bytes int) string {
	return fmt.Sprintf("Bound/op=%s/bytes=%d/by=%s", operation, bytes, by)
}

// boundCases are the bounds of operations on x, whose length is a multiple of 64.
func boundCases(x []float32, operations ...string) []measure.Case {
	var cases []measure.Case
	for _, b := range measure.Bounds(dispatch.Implementation()) {
		if slices.Contains(operations, b.Operation) {
			cases = append(cases, measure.Case{Name: boundName(b.Operation, b.By, 4*len(x)), Bytes: int64(4 * len(x)), Run: func() error { b.Run(x); return nil }})
		}
	}
	return cases
}

// boundsOf goes before the sizes, in bytes, that only bounds are measured on.
const boundsOf = "bounds="

func boundsOfSizes(sizes string) ([]measure.Case, error) {
	var list []int
	for size := range strings.SplitSeq(sizes, ",") {
		bytes, err := strconv.Atoi(size)
		if err != nil || bytes < 256 || bytes%256 != 0 {
			return nil, fmt.Errorf("%s%s: expected multiples of 256", boundsOf, sizes)
		}
		list = append(list, bytes)
	}
	var cases []measure.Case
	x := ones[float32](slices.Max(list) / 4)
	for _, bytes := range list {
		cases = append(cases, boundCases(x[:bytes/4], "scale")...)
	}
	return cases, nil
}
