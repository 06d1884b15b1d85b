package relative

import (
	"math/big"
	"sort"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/kernels"
)

// T5Buckets says which distances share a relative position bias (Raffel et al.
// 2020, arXiv:1910.10683): T5, MPNet, WavLM.
//
// With n = |key-query| and exact = side/2, where side is the number of buckets on one side,
//
//	bucket = n                                                   n < exact
//	bucket = exact + floor(ln(n/exact)/ln(MaxDistance/exact)*(side-exact))   n >= exact
//
// limited to side-1. If Bidirectional, each side has half of the buckets: keys up to the
// query have the first half, keys after it the second. Otherwise the keys up to the query
// have all buckets, and keys after it are in bucket 0.
// The comparison for floor is done in integers, so it is exact.
type T5Buckets struct {
	buckets       int
	side          int      // buckets of a side
	bucketOf      []uint16 // by distance; beyond its end it is the last bucket
	bidirectional bool
}

// T5Config says how a model puts distances into buckets.
type T5Config struct {
	Buckets       int  // relative_attention_num_buckets, mostly 32: from 2 to 1024; even and from 4 on if Bidirectional
	MaxDistance   int  // relative_attention_max_distance, mostly 128: above Buckets/2 (Bidirectional: /4), at most 65536
	Bidirectional bool // set for encoders, not for decoders
}

// NewT5Buckets returns the buckets of a model. Errors wrap ErrConfig.
func NewT5Buckets(cfg T5Config) (*T5Buckets, error) {
	const function = "relative.NewT5Buckets"
	sides := 1
	if cfg.Bidirectional {
		sides = 2
	}
	if cfg.Buckets < 2*sides || cfg.Buckets > maxBuckets || cfg.Buckets%sides != 0 {
		expected := "from 2 to %d"
		if cfg.Bidirectional {
			expected = "an even number from 4 to %d"
		}
		return nil, argument.Error(posenc.ErrConfig, function, "cfg.Buckets", cfg.Buckets, expected, maxBuckets)
	}
	side := cfg.Buckets / sides
	exact := side / 2
	if cfg.MaxDistance <= exact || cfg.MaxDistance > maxBucketDistance {
		return nil, argument.Error(posenc.ErrConfig, function, "cfg.MaxDistance", cfg.MaxDistance, "from %d to %d", exact+1, maxBucketDistance)
	}
	bucketOf := bucketsOf(cfg.MaxDistance, exact, side-exact, func(n, step int) bool {
		return compareStep(n, exact, cfg.MaxDistance, side-exact, step) >= 0
	})
	return &T5Buckets{cfg.Buckets, side, bucketOf, cfg.Bidirectional}, nil
}

// Bucket returns the bucket of a distance (the position of the key minus that of the query).
// Without buckets from NewT5Buckets it returns 0.
func (b *T5Buckets) Bucket(distance int) int {
	distance = clamp(distance)
	n, first := -distance, 0
	switch {
	case !b.valid():
		return 0
	case distance > 0 && b.bidirectional:
		n, first = distance, b.side
	case distance > 0:
		n = 0
	}
	if n >= len(b.bucketOf) {
		return first + b.side - 1
	}
	return first + int(b.bucketOf[n])
}

func (b *T5Buckets) valid() bool { return b != nil && b.side > 0 }

// T5Bias holds the relative position biases of a model by distance.
type T5Bias struct {
	heads, reach int       // beyond reach the biases are those at reach
	byDistance   []float32 // [heads][distance], distances from -ends() to ends()
}

// maxBiases bounds the elements of a T5Bias or SwinBias, whose memory a few weights may take.
const maxBiases = 1 << 25

// NewT5Bias prepares the biases of a model from its relative_attention_bias, [buckets][heads].
// The result takes 2*MaxDistance+31 elements of memory for each head, at most 2^25 in all.
// Errors wrap ErrConfig (buckets) or [posenc.ErrLength].
func NewT5Bias(buckets *T5Buckets, weights []float32) (*T5Bias, error) {
	const function = "relative.NewT5Bias"
	if !buckets.valid() {
		return nil, argument.Error(posenc.ErrConfig, function, "buckets", "nil or zero", "T5Buckets from NewT5Buckets")
	}
	if len(weights) == 0 || len(weights)%buckets.buckets != 0 {
		return nil, argument.Error(posenc.ErrLength, function, "weights", argument.Elements(len(weights)), "a multiple of %d (the number of buckets) above 0", buckets.buckets)
	}
	b := &T5Bias{heads: len(weights) / buckets.buckets, reach: len(buckets.bucketOf)}
	if b.heads > maxBiases/b.width() {
		return nil, argument.Error(posenc.ErrLength, function, "weights", argument.Elements(len(weights)), "weights of at most %d heads for these buckets", maxBiases/b.width())
	}
	b.byDistance = make([]float32, b.heads*b.width())
	for h := range b.heads {
		row := b.row(h)
		for i := range row {
			row[i] = weights[buckets.Bucket(i-b.ends())*b.heads+h]
		}
	}
	return b, nil
}

// ends returns the distance at the ends of a row: as far beyond reach as the kernels need.
func (b *T5Bias) ends() int { return b.reach + kernels.ClampedEnds - 1 }

func (b *T5Bias) width() int { return 2*b.ends() + 1 }

func (b *T5Bias) row(head int) []float32 { return b.byDistance[head*b.width():][:b.width()] }

// AddT5 adds relative position biases to scores, in place:
//
//	score = RN32(score + weights[bucket(key-query)][head])
//
// key and query are positions, head is the head of the model. T5 does not scale its scores;
// MPNet scales them before it adds the bias. A zero bias is [posenc.ErrConfig].
func AddT5(scores Scores, bias *T5Bias) error {
	const function = "relative.AddT5"
	if bias == nil || bias.heads == 0 {
		return argument.Error(posenc.ErrConfig, function, "bias", "nil or zero", "a T5Bias from NewT5Bias")
	}
	var t tile
	if err := scores.check(&t, function, "scores", bias.heads); err != nil {
		return err
	}
	b := t.pieces(kernels.MaxCallScores)
	for t.next(&b) {
		first := clamp(t.distance(&b)) + bias.ends()
		kernels.AddClampedF32(dispatch.Implementation(), scores.Data[b.start:], bias.row(t.firstHead+b.head), first, -1, &b.Tile)
	}
	return nil
}

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
