package relative

import (
	"math/big"
	"sort"
)

// Bounds of the buckets of T5 and DeBERTa, and of distances that are clipped.
const (
	maxBuckets        = 1024
	maxBucketDistance = 1 << 16
)

// clamp returns a distance that is in the same bucket, and near enough that sums with
// it do not overflow.
func clamp(distance int) int {
	return min(max(distance, -2*maxBucketDistance), 2*maxBucketDistance)
}

// bucketsOf returns the buckets of distances: each of the first own of them has its own,
// and each of so many buckets after these ends before the distances that are beyond its
// step, from 1 on.
func bucketsOf(distances, own, steps int, beyond func(n, step int) bool) []uint16 {
	buckets := make([]uint16, distances)
	for n := range own {
		buckets[n] = uint16(n)
	}
	first := own
	for step := 1; step <= steps; step++ {
		last := first + sort.Search(distances-first, func(i int) bool { return beyond(first+i, step) })
		for n := first; n < last; n++ {
			buckets[n] = uint16(own + step - 1)
		}
		first = last
	}
	return buckets
}

// compareStep compares ln(n/from)/ln(to/from)*steps with step and returns -1, 0 or 1.
// It is exact: the integers n^steps * from^step and to^step * from^steps are compared.
func compareStep(n, from, to, steps, step int) int {
	power := func(x, y int) *big.Int { return new(big.Int).Exp(big.NewInt(int64(x)), big.NewInt(int64(y)), nil) }
	left, right := power(n, steps), power(to, step)
	return left.Mul(left, power(from, step)).Cmp(right.Mul(right, power(from, steps)))
}
