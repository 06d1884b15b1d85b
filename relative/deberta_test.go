package relative_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
	"github.com/go-posenc/posenc/relative"
)

func mustDeBERTaBuckets(buckets, maxPosition int) *relative.DeBERTaBuckets {
	return testkit.Must(relative.NewDeBERTaBuckets(relative.DeBERTaConfig{Buckets: buckets, MaxPosition: maxPosition}))
}

// The buckets of transformers and its biases. PyTorch's products have roundings
// of their own, so the vectors hold them: what is compared is the gather, the
// division and the sum, which have the same bits.
func TestDeBERTaAgainstTransformers(t *testing.T) {
	for _, c := range testkit.ReadCases[struct {
		Buckets     int
		MaxPosition int `json:"max_position"`
		First       int
		Position    float32s
		Types       []string
		Tokens      int
		Scale       float32s
		C2P         float32s
		P2C         float32s
		Bias        float32s
	}](t, "testdata/deberta.json", 9) {
		b := mustDeBERTaBuckets(c.Buckets, c.MaxPosition)
		if len(c.Position) == 0 && len(c.Bias) == 0 {
			t.Error("an empty case")
		}
		for i, want := range c.Position {
			if got := b.Position(c.First + i); got != int(want) {
				t.Errorf("%d buckets up to %d: distance %d is position %d, want %v", c.Buckets, c.MaxPosition, c.First+i, got, want)
			}
		}
		if len(c.Bias) == 0 {
			continue
		}
		got := make([]float32, len(c.Bias))
		s := relative.Scores{Data: got, Heads: len(got) / c.Tokens / c.Tokens, Queries: c.Tokens, Keys: c.Tokens}
		testkit.NoError(t, relative.AddDeBERTa(s, b, relative.DeBERTaProducts{ContentToPosition: relative.Products{Data: c.C2P}, PositionToContent: relative.Products{Data: c.P2C}, Divisor: c.Scale[0]}))
		if !testkit.SameSlices(got, c.Bias) {
			t.Errorf("%d buckets up to %d, %v: biases differ", c.Buckets, c.MaxPosition, c.Types)
		}
	}
}

func TestDeBERTaBucketLimits(t *testing.T) {
	b := mustDeBERTaBuckets(256, 512)
	for distance, want := range map[int]int{512: 511, -512: 0, math.MaxInt: 511, math.MinInt: 0} {
		if got := b.Position(distance); got != want {
			t.Errorf("distance %d is position %d, want %d", distance, got, want)
		}
	}
	b = mustDeBERTaBuckets(0, 512)
	for distance, want := range map[int]int{512: 1023, -513: 0, math.MinInt: 0} {
		if got := b.Position(distance); got != want {
			t.Errorf("without buckets, distance %d is position %d, want %d", distance, got, want)
		}
	}
	b = mustDeBERTaBuckets(1024, 65536)
	for n := range 70000 {
		got, next := b.Position(n), b.Position(n+1)
		if next < got || next > got+1 {
			t.Fatalf("position %d at %d, %d at %d", got, n, next, n+1)
		}
	}
	if got := new(relative.DeBERTaBuckets).Position(5); got != 0 {
		t.Errorf("without buckets the position is %d", got)
	}
}

func TestDeBERTaErrors(t *testing.T) {
	data := make([]float32, 100)
	scores := relative.Scores{Data: data[:4], Heads: 2, Queries: 1, Keys: 2}
	create := func(buckets, maxPosition int) error {
		_, err := relative.NewDeBERTaBuckets(relative.DeBERTaConfig{Buckets: buckets, MaxPosition: maxPosition})
		return err
	}
	b := mustDeBERTaBuckets(4, 8)
	c2p, p2c := relative.Products{Data: data[4:20]}, relative.Products{Data: data[4:36]}
	fails := testkit.Failures(t, data)
	fails(create(2, 512), posenc.ErrConfig, "NewDeBERTaBuckets: cfg.Buckets is 2")
	fails(create(1026, 2000), posenc.ErrConfig, "cfg.Buckets is 1026")
	fails(create(256, 129), posenc.ErrConfig, "cfg.MaxPosition is 129, want from 130 to 65536")
	fails(create(0, 0), posenc.ErrConfig, "cfg.MaxPosition is 0, want from 1")
	fails(create(256, 65537), posenc.ErrConfig, "cfg.MaxPosition is 65537")
	fails(relative.AddDeBERTa(scores, nil, relative.DeBERTaProducts{ContentToPosition: c2p, PositionToContent: p2c, Divisor: 1}), posenc.ErrConfig, "AddDeBERTa: buckets is nil or zero")
	fails(relative.AddDeBERTa(scores, b, relative.DeBERTaProducts{ContentToPosition: c2p, PositionToContent: p2c, Divisor: 0}), posenc.ErrConfig, "products.Divisor is 0")
	fails(relative.AddDeBERTa(scores, b, relative.DeBERTaProducts{ContentToPosition: c2p, PositionToContent: p2c, Divisor: float32(math.NaN())}), posenc.ErrConfig, "products.Divisor is NaN")
	fails(relative.AddDeBERTa(scores, b, relative.DeBERTaProducts{Divisor: 1}), posenc.ErrLength, "products.ContentToPosition.Data is nil")
	fails(relative.AddDeBERTa(scores, b, relative.DeBERTaProducts{ContentToPosition: relative.Products{RowStride: 8}, PositionToContent: p2c, Divisor: 1}), posenc.ErrLength, "products.ContentToPosition.Data is nil, want data, or HeadStride and RowStride 0 to leave it out")
	fails(relative.AddDeBERTa(scores, b, relative.DeBERTaProducts{ContentToPosition: c2p, PositionToContent: relative.Products{HeadStride: -1}, Divisor: 1}), posenc.ErrLength, "products.PositionToContent.Data is nil, want data, or HeadStride and RowStride 0 to leave it out")
	fails(relative.AddDeBERTa(relative.Scores{Data: data[:3], Heads: 2, Queries: 1, Keys: 2}, b, relative.DeBERTaProducts{ContentToPosition: c2p, PositionToContent: p2c, Divisor: 1}), posenc.ErrLength, "scores.Data has 3 elements")
	fails(relative.AddDeBERTa(scores, b, relative.DeBERTaProducts{ContentToPosition: c2p, PositionToContent: c2p, Divisor: 1}), posenc.ErrLength, "products.PositionToContent.Data has 16 elements, want 32")
	fails(relative.AddDeBERTa(scores, b, relative.DeBERTaProducts{ContentToPosition: relative.Products{Data: data[4:20], RowStride: -1}, PositionToContent: p2c, Divisor: 1}), posenc.ErrShape, "products.ContentToPosition.RowStride is -1")
	fails(relative.AddDeBERTa(scores, b, relative.DeBERTaProducts{ContentToPosition: relative.Products{Data: data[4:20], HeadStride: -1}, PositionToContent: p2c, Divisor: 1}), posenc.ErrShape, "products.ContentToPosition.HeadStride is -1")
	fails(relative.AddDeBERTa(scores, b, relative.DeBERTaProducts{ContentToPosition: relative.Products{Data: data[4:20], HeadStride: 9}, PositionToContent: p2c, Divisor: 1}), posenc.ErrLength, "want at least 17")
	fails(relative.AddDeBERTa(scores, b, relative.DeBERTaProducts{ContentToPosition: c2p, PositionToContent: relative.Products{Data: data[4:20], RowStride: math.MaxInt}, Divisor: 1}), posenc.ErrLength, "an int cannot count the elements for 2 heads of 2 rows and 8 columns at HeadStride 0 and RowStride ")
	fails(relative.AddDeBERTa(scores, b, relative.DeBERTaProducts{ContentToPosition: relative.Products{Data: data[3:19]}, PositionToContent: p2c, Divisor: 1}), posenc.ErrOverlap, "products.ContentToPosition.Data is sharing elements")
	fails(relative.AddDeBERTa(scores, b, relative.DeBERTaProducts{ContentToPosition: c2p, PositionToContent: relative.Products{Data: data[3:35]}, Divisor: 1}), posenc.ErrOverlap, "products.PositionToContent.Data is sharing elements")
}

// debertaBucketsOf returns buckets, and how many relative positions they have.
func debertaBucketsOf(a *testkit.Arguments) (*relative.DeBERTaBuckets, int) {
	return orNone(a, func() (*relative.DeBERTaBuckets, int) {
		cfg := relative.DeBERTaConfig{MaxPosition: 12 + a.Below(20)}
		span := cfg.MaxPosition
		if a.Yes() {
			cfg.Buckets = 4 * (1 + a.Below(4))
			span = cfg.Buckets
		}
		return testkit.Must(relative.NewDeBERTaBuckets(cfg)), 2 * span
	})
}

// digestDeBERTa calls f for the buckets of a digest's label.
func digestDeBERTa(add testkit.AddDigest, label string, f func(d *testkit.Digest, positions int, b *relative.DeBERTaBuckets)) {
	for _, logarithmic := range []bool{false, true} {
		add(fmt.Sprintf("%s/logarithmic=%t", label, logarithmic), func(d *testkit.Digest) {
			cfg := relative.DeBERTaConfig{MaxPosition: 22}
			span := cfg.MaxPosition
			if logarithmic {
				cfg.Buckets, span = 16, 16
			}
			b, err := relative.NewDeBERTaBuckets(cfg)
			d.Must(err)
			f(d, 2*span, b)
		})
	}
}

func digestDeBERTaBuckets(d *testkit.Digest, _ int, b *relative.DeBERTaBuckets) {
	digestBuckets(d, 600, b.Position)
}

var (
	_ = testkit.Register(testkit.Case{
		Function: "NewDeBERTaBuckets",
		Call: func(a *testkit.Arguments) testkit.Call {
			cfg := relative.DeBERTaConfig{Buckets: 2 * a.Number(2, 20), MaxPosition: a.Number(22, 300)}
			if a.Any() {
				cfg.Buckets, cfg.MaxPosition = a.Number(0, 40), a.Number(1, 300)
			}
			return testkit.Call{
				Run: func() error { return testkit.Made(relative.NewDeBERTaBuckets(cfg)) },
				Right: func() bool {
					return (cfg.Buckets == 0 && cfg.MaxPosition >= 1 || cfg.Buckets >= 4 && cfg.Buckets <= 1024 && cfg.Buckets%2 == 0 && cfg.MaxPosition > cfg.Buckets/2+1) && cfg.MaxPosition <= 1<<16
				},
				Allocates: testkit.Constructed,
			}
		},
		Digests: func(add testkit.AddDigest) { digestDeBERTa(add, "NewDeBERTaBuckets", digestDeBERTaBuckets) },
	})
	_ = registerBuckets("DeBERTaBuckets.Position", func(a *testkit.Arguments) (func(distance int) int, int) {
		b, positions := debertaBucketsOf(a)
		return b.Position, positions
	}, func(add testkit.AddDigest, function string) { digestDeBERTa(add, function, digestDeBERTaBuckets) })
	_ = testkit.Register(testkit.Case{
		Function: "AddDeBERTa",
		Call: func(a *testkit.Arguments) testkit.Call {
			b, positions := debertaBucketsOf(a)
			s := outputScores(a, 4, anywhere)
			var c2p, p2c relative.Products
			which := a.Below(3)
			if which != 1 {
				c2p = productsOf(a, s.Heads, s.Queries, positions, true)
			}
			if which != 2 {
				p2c = productsOf(a, s.Heads, s.Keys, positions, true)
			}
			divisor := float32(a.Real(3))
			return testkit.Call{
				Run: func() error {
					return relative.AddDeBERTa(s, b, relative.DeBERTaProducts{ContentToPosition: c2p, PositionToContent: p2c, Divisor: divisor})
				},
				Want: func() {
					byQuery, byKey := matricesOfProducts(&c2p, s.Heads, s.Queries, positions), matricesOfProducts(&p2c, s.Heads, s.Keys, positions)
					change(s, func(score float32, head, query, key int) float32 {
						r := b.Position(-distanceOf(&s, query, key))
						switch {
						case p2c.Data == nil:
							return score + c2p.Data[byQuery.at(head, query, r)]/divisor
						case c2p.Data == nil:
							return score + p2c.Data[byKey.at(head, key, r)]/divisor
						}
						return score + (c2p.Data[byQuery.at(head, query, r)]/divisor + p2c.Data[byKey.at(head, key, r)]/divisor)
					})
				},
				Parts: func(c *testkit.Choices) [][]func() error {
					return tiles(c, s, func(tile relative.Scores, head, query, key int) error {
						return relative.AddDeBERTa(tile, b, relative.DeBERTaProducts{ContentToPosition: partOfProducts(c2p, s.Heads, s.Queries, positions, head, query), PositionToContent: partOfProducts(p2c, s.Heads, s.Keys, positions, head, key), Divisor: divisor})
					})
				},
			}
		},
		OnStack: func() error {
			var data [18]float32
			var c2p, p2c [2 * 3 * 8]float32
			return relative.AddDeBERTa(relative.Scores{Data: data[:], Heads: 2, Queries: 3, Keys: 3}, fourBuckets, relative.DeBERTaProducts{ContentToPosition: relative.Products{Data: c2p[:]}, PositionToContent: relative.Products{Data: p2c[:]}, Divisor: 2})
		},
		Long: func() error { // more queries and keys than a piece has
			s := relative.Scores{Data: make([]float32, 1100*1100), Heads: 1, Queries: 1100, Keys: 1100}
			products := relative.Products{Data: make([]float32, 1100*8)}
			return relative.AddDeBERTa(s, fourBuckets, relative.DeBERTaProducts{ContentToPosition: products, PositionToContent: products, Divisor: 2})
		},
		CallElements: kernels.MaxCallScores,
		Digests: func(add testkit.AddDigest) {
			digestDeBERTa(add, "AddDeBERTa", func(d *testkit.Digest, positions int, b *relative.DeBERTaBuckets) {
				for which := range 3 {
					digestTiles(d, func(s relative.Scores) error {
						var c2p, p2c relative.Products
						if which != 1 {
							c2p = digestProducts(d, s.Heads, s.Queries, positions)
						}
						if which != 2 {
							p2c = digestProducts(d, s.Heads, s.Keys, positions)
						}
						return relative.AddDeBERTa(s, b, relative.DeBERTaProducts{ContentToPosition: c2p, PositionToContent: p2c, Divisor: 0x1.bb67aep+3})
					})
				}
			})
		},
	})
)

var fourBuckets = testkit.Must(relative.NewDeBERTaBuckets(relative.DeBERTaConfig{Buckets: 4, MaxPosition: 8}))
