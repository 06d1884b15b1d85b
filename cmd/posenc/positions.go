package main

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

const mostPositions = 1 << 12

var positionRange = regexp.MustCompile(`^([0-9]+)(?:-([0-9]+))?$`)

// parsePositions reads lists of positions, 0-3,511: one, or one for each axis with / between
// them. None is nil.
func parsePositions(text string) (axes [][]int32, err error) {
	if text == "" {
		return nil, nil
	}
	for list := range strings.SplitSeq(text, "/") {
		var positions []int32
		for one := range strings.SplitSeq(list, ",") {
			first, last, err := positionsFromTo(strings.TrimSpace(one))
			if err != nil {
				return nil, err
			}
			if last-first >= mostPositions-int64(len(positions)) {
				return nil, fmt.Errorf("--positions: a list of %d or more, want at most %d", int64(len(positions))+last-first+1, mostPositions)
			}
			for p := first; p <= last; p++ {
				positions = append(positions, int32(p))
			}
		}
		if len(axes) > 0 && len(positions) != len(axes[0]) {
			return nil, fmt.Errorf("--positions: lists of %d and %d, want as many of each axis", len(axes[0]), len(positions))
		}
		axes = append(axes, positions)
	}
	return axes, nil
}

// positionsFromTo reads a position or a range, 0-15.
func positionsFromTo(text string) (first, last int64, err error) {
	m := positionRange.FindStringSubmatch(text)
	if m == nil {
		return 0, 0, fmt.Errorf("--positions: %q is no position, want whole numbers from 0 to %d, or ranges such as 0-15, with commas between", text, math.MaxInt32)
	}
	if m[2] == "" {
		m[2] = m[1]
	}
	first, err = strconv.ParseInt(m[1], 10, 32)
	if err == nil {
		last, err = strconv.ParseInt(m[2], 10, 32)
	}
	if err != nil || last < first {
		return 0, 0, fmt.Errorf("--positions: %q is no position, want whole numbers from 0 to %d, or rising ranges such as 0-15", text, math.MaxInt32)
	}
	return first, last, nil
}
