package kit

import (
	"math"
	"math/rand/v2"
	"slices"
)

func Sequence(n int) []int32 {
	positions := make([]int32, n)
	for i := range positions {
		positions[i] = int32(i)
	}
	return positions
}

// positionKinds are sequences of positions by what they do to runs of seeds.
var positionKinds = map[string]func(r *rand.Rand, s []int32){
	"sequential": func(r *rand.Rand, s []int32) { CountFrom(s, int32(r.IntN(1<<20)), 1) },
	"zero":       func(r *rand.Rand, s []int32) { CountFrom(s, 0, 1) },
	"crossing":   func(r *rand.Rand, s []int32) { CountFrom(s, int32(r.IntN(1<<26))<<5-int32(r.IntN(len(s)+1)), 1) },
	"negative":   func(r *rand.Rand, s []int32) { CountFrom(s, -int32(r.IntN(100)), 1) },
	"last":       func(r *rand.Rand, s []int32) { CountFrom(s, math.MaxInt32-int32(r.IntN(len(s)+1)), 1) }, // wraps
	"descending": func(r *rand.Rand, s []int32) { CountFrom(s, int32(r.IntN(1<<20)), -1) },
	"repeated":   func(r *rand.Rand, s []int32) { CountFrom(s, int32(r.Uint32()), 0) },
	"random": func(r *rand.Rand, s []int32) {
		for i := range s {
			s[i] = int32(r.Uint32()) >> r.IntN(32)
		}
	},
	"extremes": func(r *rand.Rand, s []int32) {
		for i := range s {
			s[i] = OneOf(r, []int32{0, 1, -1, 31, 32, 33, math.MinInt32, math.MinInt32 + 1, math.MaxInt32, math.MaxInt32 - 1})
		}
	},
	"runs": func(r *rand.Rand, s []int32) { // of the lengths where seeds begin to pay
		for len(s) > 0 {
			n := 1 + r.IntN(min(6, len(s)))
			CountFrom(s[:n], int32(r.Uint32())>>r.IntN(32), 1)
			s = s[n:]
		}
	},
}

func CountFrom(s []int32, first, step int32) {
	for i := range s {
		s[i] = first
		first += step
	}
}

// PositionNames lists positionKinds in one order for all runs.
var PositionNames = func() (names []string) {
	for name := range positionKinds {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}()

func RandomPositions(r *rand.Rand, kind string, n int) []int32 {
	s := make([]int32, n)
	positionKinds[kind](r, s)
	return s
}
