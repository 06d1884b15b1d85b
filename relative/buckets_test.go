package relative_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/relative"
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

// The farthest distances have buckets, and none has one without buckets. The largest tables are
// monotone.
func TestBucketLimits(t *testing.T) {
	for i, test := range []struct {
		bucket func(distance int) int
		want   map[int]int
	}{
		{mustT5Buckets(32, 128, true).Bucket, map[int]int{math.MinInt: 15, math.MaxInt: 31}},
		{mustT5Buckets(1024, 65536, false).Bucket, map[int]int{-65536: 1023}},
		{new(relative.T5Buckets).Bucket, map[int]int{5: 0}},
		{mustDeBERTaBuckets(256, 512).Position, map[int]int{512: 511, -512: 0, math.MaxInt: 511, math.MinInt: 0}},
		{mustDeBERTaBuckets(0, 512).Position, map[int]int{512: 1023, -513: 0, math.MinInt: 0}},
		{new(relative.DeBERTaBuckets).Position, map[int]int{5: 0}},
	} {
		for distance, want := range test.want {
			if got := test.bucket(distance); got != want {
				t.Errorf("buckets %d: distance %d is in %d, want %d", i, distance, got, want)
			}
		}
	}
	t5, deberta := mustT5Buckets(1024, 65536, false), mustDeBERTaBuckets(1024, 65536)
	for n := range 70000 {
		for _, step := range []int{t5.Bucket(-n-1) - t5.Bucket(-n), deberta.Position(n+1) - deberta.Position(n)} {
			if step < 0 || step > 1 {
				t.Fatalf("from distance %d to the next, buckets differ by %d", n, step)
			}
		}
	}
}

// digestBuckets adds the buckets of distances up to most, and the farthest.
func digestBuckets(d *testkit.Digest, most int, bucket func(distance int) int) {
	for n := -most; n <= most; n++ {
		d.Add(int32(bucket(n)))
	}
	d.Add(int32(bucket(math.MinInt32)), int32(bucket(math.MaxInt32)))
}
