package relative_test

import (
	"fmt"
	"testing"

	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/relative"
)

func mustT5Buckets(buckets, maxDistance int, bidirectional bool) *relative.T5Buckets {
	return kit.Must(relative.NewT5Buckets(relative.T5Config{Buckets: buckets, MaxDistance: maxDistance, Bidirectional: bidirectional}))
}

// The buckets and the biases of transformers' models, all of them.
func TestT5AgainstTransformers(t *testing.T) {
	for _, c := range kit.ReadCases[struct {
		Model         string
		Buckets       int
		MaxDistance   int `json:"max_distance"`
		Bidirectional bool
		First         int
		Bucket        float32s
		FirstQuery    int `json:"first_query"`
		Queries       int
		Bias          float32s
	}](t, "testdata/t5.json", 11) {
		b := mustT5Buckets(c.Buckets, c.MaxDistance, c.Bidirectional)
		if len(c.Bucket) == 0 && len(c.Bias) == 0 {
			t.Errorf("%s: an empty case", c.Model)
		}
		for i, want := range c.Bucket {
			if got := b.Bucket(c.First + i); got != int(want) {
				t.Errorf("%s, %d buckets up to %d, both sides %t: distance %d is in bucket %d, want %v", c.Model, c.Buckets, c.MaxDistance, c.Bidirectional, c.First+i, got, want)
			}
		}
		if len(c.Bias) == 0 {
			continue
		}
		const heads = 3
		got := make([]float32, len(c.Bias))
		s := relative.Scores{Data: got, Heads: heads, Queries: c.Queries, Keys: len(got) / heads / c.Queries, FirstQuery: c.FirstQuery}
		kit.NoError(t, relative.AddT5(s, kit.Must(relative.NewT5Bias(b, kit.GoldenInputs(0, c.Buckets*heads)))))
		if !kit.SameSlices(got, c.Bias) {
			t.Errorf("%s, both sides %t: biases differ", c.Model, c.Bidirectional)
		}
	}
}

// t5BucketsOf returns buckets, and how many they are.
func t5BucketsOf(a *kit.Arguments) (*relative.T5Buckets, int) {
	return orNone(a, func() (*relative.T5Buckets, int) {
		cfg := relative.T5Config{Buckets: 4 * (1 + a.Below(9)), MaxDistance: 100, Bidirectional: a.Yes()}
		return kit.Must(relative.NewT5Buckets(cfg)), cfg.Buckets
	})
}

// digestT5 calls f for the buckets of a digest's label.
func digestT5(add kit.AddDigest, label string, f func(d *kit.Digest, buckets int, b *relative.T5Buckets)) {
	for _, bidirectional := range []bool{false, true} {
		add(fmt.Sprintf("%s/bidirectional=%t", label, bidirectional), func(d *kit.Digest) {
			for _, cfg := range []relative.T5Config{{32, 128, bidirectional}, {52, 1000, bidirectional}} {
				b, err := relative.NewT5Buckets(cfg)
				d.Must(err)
				f(d, cfg.Buckets, b)
			}
		})
	}
}

func digestT5Buckets(d *kit.Digest, _ int, b *relative.T5Buckets) {
	digestBuckets(d, 1100, b.Bucket)
}

func digestT5Biases(d *kit.Digest, buckets int, b *relative.T5Buckets) {
	bias, err := relative.NewT5Bias(b, kit.DigestElements[float32](d, 4*buckets))
	d.Must(err)
	digestTiles(d, func(s relative.Scores) error { return relative.AddT5(s, bias) })
}

var (
	_ = kit.Register(kit.Case{
		Function: "NewT5Buckets",
		Call: func(a *kit.Arguments) kit.Call {
			cfg := relative.T5Config{Buckets: 4 * a.Number(1, 10), MaxDistance: a.Number(21, 300), Bidirectional: a.Yes()}
			if a.Any() {
				cfg.Buckets, cfg.MaxDistance = a.Number(2, 40), a.Number(1, 300)
			}
			return kit.Call{
				Run: func() error { return kit.Made(relative.NewT5Buckets(cfg)) },
				Right: func() bool {
					sides := 1
					if cfg.Bidirectional {
						sides = 2
					}
					return cfg.Buckets >= 2*sides && cfg.Buckets <= 1024 && cfg.Buckets%sides == 0 && cfg.MaxDistance > cfg.Buckets/sides/2 && cfg.MaxDistance <= 1<<16
				},
				Allocates: kit.Constructed,
			}
		},
		Digests: func(add kit.AddDigest) { digestT5(add, "NewT5Buckets", digestT5Buckets) },
	})
	_ = registerBuckets("T5Buckets.Bucket", func(a *kit.Arguments) (func(distance int) int, int) {
		b, buckets := t5BucketsOf(a)
		return b.Bucket, buckets
	}, func(add kit.AddDigest, function string) { digestT5(add, function, digestT5Buckets) })
	_ = kit.Register(kit.Case{
		Function: "NewT5Bias",
		Call: func(a *kit.Arguments) kit.Call {
			b, buckets := t5BucketsOf(a)
			weights := kit.Slice[float32](a, 5*buckets)
			return kit.Call{
				Run:       func() error { return kit.Made(relative.NewT5Bias(b, weights)) },
				Right:     func() bool { return buckets > 0 && len(weights) > 0 && len(weights)%buckets == 0 },
				Allocates: kit.Constructed,
			}
		},
		Digests: func(add kit.AddDigest) { digestT5(add, "NewT5Bias", digestT5Biases) },
	})
	_ = kit.Register(kit.Case{
		Function: "AddT5",
		Call: func(a *kit.Arguments) kit.Call {
			const heads = 5
			s := outputScores(a, heads, anywhere)
			b, buckets := t5BucketsOf(a)
			weights := kit.RandomElements[float32](a.R, heads*buckets)
			bias, err := relative.NewT5Bias(b, weights)
			if err != nil && a.Yes() {
				bias = new(relative.T5Bias)
			}
			return scoresCall(s, func(s relative.Scores) error { return relative.AddT5(s, bias) }, func(score float32, head, query, key int) float32 {
				return score + weights[b.Bucket(distanceOf(&s, query, key))*heads+s.FirstHead+head]
			})
		},
		Digests: func(add kit.AddDigest) { digestT5(add, "AddT5", digestT5Biases) },
	})
)

var t5OfTwoHeads = kit.Must(relative.NewT5Bias(mustT5Buckets(32, 128, true), make([]float32, 64)))
