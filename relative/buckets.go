package relative

import (
	"math/big"
	"sort"
)

// Limits of the number of buckets in T5 and DeBERTa, and of the largest distance there and
// in Shaw.
const (
	maxBuckets        = 1024
	maxBucketDistance = 1 << 16
)

// clamp returns a distance in the same bucket, small enough that sums with it do not overflow.
func clamp(distance int) int {
	return min(max(distance, -2*maxBucketDistance), 2*maxBucketDistance)
}

// bucketsOf returns the bucket of each distance. The first own distances have a bucket each.
// After them come steps buckets; bucket step ends before the first distance for which beyond
// reports true. Steps count from 1.
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
