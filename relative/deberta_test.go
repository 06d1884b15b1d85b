package relative_test

import (
	"fmt"
	"testing"

	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/relative"
)

func mustDeBERTaBuckets(buckets, maxPosition int) *relative.DeBERTaBuckets {
	return kit.Must(relative.NewDeBERTaBuckets(relative.DeBERTaConfig{Buckets: buckets, MaxPosition: maxPosition}))
}

// The buckets of transformers and its biases. PyTorch's products have roundings
// of their own, so the vectors hold them: what is compared is the gather, the
// division and the sum, which have the same bits.
func TestDeBERTaAgainstTransformers(t *testing.T) {
	for _, c := range kit.ReadCases[struct {
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
		kit.NoError(t, relative.AddDeBERTa(s, b, relative.DeBERTaProducts{ContentToPosition: relative.Products{Data: c.C2P}, PositionToContent: relative.Products{Data: c.P2C}, Divisor: c.Scale[0]}))
		if !kit.SameSlices(got, c.Bias) {
			t.Errorf("%d buckets up to %d, %v: biases differ", c.Buckets, c.MaxPosition, c.Types)
		}
	}
}

// debertaBucketsOf returns buckets, and how many relative positions they have.
func debertaBucketsOf(a *kit.Arguments) (*relative.DeBERTaBuckets, int) {
	return orNone(a, func() (*relative.DeBERTaBuckets, int) {
		cfg := relative.DeBERTaConfig{MaxPosition: 12 + a.Below(20)}
		span := cfg.MaxPosition
		if a.Yes() {
			cfg.Buckets = 4 * (1 + a.Below(4))
			span = cfg.Buckets
		}
		return kit.Must(relative.NewDeBERTaBuckets(cfg)), 2 * span
	})
}

// digestDeBERTa calls f for the buckets of a digest's label.
func digestDeBERTa(add kit.AddDigest, label string, f func(d *kit.Digest, positions int, b *relative.DeBERTaBuckets)) {
	for _, logarithmic := range []bool{false, true} {
		add(fmt.Sprintf("%s/logarithmic=%t", label, logarithmic), func(d *kit.Digest) {
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

func digestDeBERTaBuckets(d *kit.Digest, _ int, b *relative.DeBERTaBuckets) {
	digestBuckets(d, 600, b.Position)
}

var (
	_ = kit.Register(kit.Case{
		Function: "NewDeBERTaBuckets",
		Call: func(a *kit.Arguments) kit.Call {
			cfg := relative.DeBERTaConfig{Buckets: 2 * a.Number(2, 20), MaxPosition: a.Number(22, 300)}
			if a.Any() {
				cfg.Buckets, cfg.MaxPosition = a.Number(0, 40), a.Number(1, 300)
			}
			return kit.Call{
				Run: func() error { return kit.Made(relative.NewDeBERTaBuckets(cfg)) },
				Right: func() bool {
					return (cfg.Buckets == 0 && cfg.MaxPosition >= 1 || cfg.Buckets >= 4 && cfg.Buckets <= 1024 && cfg.Buckets%2 == 0 && cfg.MaxPosition > cfg.Buckets/2+1) && cfg.MaxPosition <= 1<<16
				},
				Allocates: kit.Constructed,
			}
		},
		Digests: func(add kit.AddDigest) { digestDeBERTa(add, "NewDeBERTaBuckets", digestDeBERTaBuckets) },
	})
	_ = registerBuckets("DeBERTaBuckets.Position", func(a *kit.Arguments) (func(distance int) int, int) {
		b, positions := debertaBucketsOf(a)
		return b.Position, positions
	}, func(add kit.AddDigest, function string) { digestDeBERTa(add, function, digestDeBERTaBuckets) })
	_ = kit.Register(kit.Case{
		Function: "AddDeBERTa",
		Call: func(a *kit.Arguments) kit.Call {
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
			return kit.Call{
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
				Parts: func(c *kit.Choices) [][]func() error {
					return tiles(c, s, func(tile relative.Scores, head, query, key int) error {
						return relative.AddDeBERTa(tile, b, relative.DeBERTaProducts{ContentToPosition: partOfProducts(c2p, s.Heads, s.Queries, positions, head, query, tile.Queries), PositionToContent: partOfProducts(p2c, s.Heads, s.Keys, positions, head, key, tile.Keys), Divisor: divisor})
					})
				},
			}
		},
		Digests: func(add kit.AddDigest) {
			digestDeBERTa(add, "AddDeBERTa", func(d *kit.Digest, positions int, b *relative.DeBERTaBuckets) {
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

var fourBuckets = kit.Must(relative.NewDeBERTaBuckets(relative.DeBERTaConfig{Buckets: 4, MaxPosition: 8}))
