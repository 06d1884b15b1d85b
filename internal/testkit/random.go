package testkit

import (
	"math/rand/v2"
	"testing"
)

// Rounds returns n, or fewer for -short.
func Rounds(n int) int {
	if testing.Short() {
		return max(1, n/10)
	}
	return n
}

func NewRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 20210420)) }

// OneOf returns an element of list.
func OneOf[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// RandomScales returns what multiplies cosines and sines.
func RandomScales(r *rand.Rand) (cos, sin float32) {
	scales := []float32{1, -1, 1.2079441541679836, 0.5, -3.3e-20, 2.5e38}
	return OneOf(r, scales), OneOf(r, scales)
}
