package relative_test

import (
	"fmt"
	"math"

	"github.com/go-posenc/posenc/internal/testkit"
)

// orNone returns buckets that are made; where any arguments are wanted also nil and zero
// ones, of which there are none.
func orNone[B any](a *testkit.Arguments, buckets func() (*B, int)) (*B, int) {
	switch {
	case a.Rarely():
		return nil, 0
	case a.Rarely():
		return new(B), 0
	}
	return buckets()
}

// registerBuckets registers the case of a method that returns the bucket of a distance.
func registerBuckets(method string, bucketsOf func(a *testkit.Arguments) (bucket func(distance int) int, count int), digests func(add testkit.AddDigest, method string)) struct{} {
	return testkit.Register(testkit.Case{
		Function: method,
		Call: func(a *testkit.Arguments) testkit.Call {
			bucket, count := bucketsOf(a)
			distance := a.Number(-300, 300)
			return testkit.Call{Run: func() error {
				if n := bucket(distance); n < 0 || n >= max(count, 1) {
					return fmt.Errorf("%d is not below %d", n, count)
				}
				return nil
			}}
		},
		NeverFails: true,
		Digests:    func(add testkit.AddDigest) { digests(add, method) },
	})
}

// digestBuckets adds the buckets of distances up to most, and the farthest.
func digestBuckets(d *testkit.Digest, most int, bucket func(distance int) int) {
	for n := -most; n <= most; n++ {
		d.Add(int32(bucket(n)))
	}
	d.Add(int32(bucket(math.MinInt32)), int32(bucket(math.MaxInt32)))
}
