package kit

import (
	"iter"
	"math/rand/v2"
	"os"
	"testing"
)

// AllRounds reports whether tests make every call and compare every case that they have, which CI
// asks for by POSENC_ROUNDS=all. Without it they take a sample, and with -short a smaller one.
func AllRounds() bool { return os.Getenv("POSENC_ROUNDS") == "all" && !testing.Short() }

// Rounds returns n, or the part of it that belongs to the sample.
func Rounds(n int) int {
	switch {
	case AllRounds():
		return n
	case testing.Short():
		return max(1, n/10)
	}
	return max(1, n/6)
}

// Lengths yields the lengths of rows to test, up to longest: in Bochs, of those over 40 only
// the ones at and next to a multiple of 16, the width of its vectors.
func Lengths(longest int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for n := range longest + 1 {
			if (!Bochs || n <= 40 || (n+1)%16 <= 2) && !yield(n) {
				return
			}
		}
	}
}

// Sampled reports whether case i belongs to the sample: one of least with -short, four times as
// many without.
func Sampled(i, least int) bool {
	switch {
	case AllRounds():
		return true
	case testing.Short():
		return i%least == 0
	}
	return i%max(1, least/4) == 0
}

func NewRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 20210420)) }

// OneOf returns an element of list.
func OneOf[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// RandomScales returns what multiplies cosines and sines.
func RandomScales(r *rand.Rand) (cos, sin float32) {
	scales := []float32{1, -1, 1.2079441541679836, 0.5, -3.3e-20, 2.5e38}
	return OneOf(r, scales), OneOf(r, scales)
}
