package posenc

import (
	"math/big"
	"sort"
)

// T5Buckets says which distances share a relative position bias (Raffel et al.
// 2020, arXiv:1910.10683): T5, MPNet, WavLM. It does not change after NewT5Buckets
// and may be used by many goroutines at once.
//
// With n the distance, however signed, and exact = side/2 of the buckets of a side,
//
//	bucket = n                                                   n < exact
//	bucket = exact + floor(ln(n/exact)/ln(MaxDistance/exact)*(side-exact))   n >= exact
//
// and at most side-1. Bidirectional, each side has half of the buckets, the keys
// after the query the second half. Otherwise the keys before the query have them
// all, and those after it are in bucket 0.
//
// The comparison behind floor is one of integers, and exact.
type T5Buckets struct {
	buckets       int
	side          int      // buckets of a side
	bucketOf      []uint16 // distance: those beyond are in the last bucket
	bidirectional bool
}

const (
	maxBuckets        = 1024
	maxBucketDistance = 1 << 16
)

// NewT5Buckets returns the buckets of a model: relative_attention_num_buckets and
// relative_attention_max_distance, 32 and 128 in most. buckets is up to 1024, from
// 2 if not bidirectional, else even and from 4. maxDistance is up to 65536, and above
// the distances that have a bucket of their own: a quarter of the buckets if
// bidirectional, else half of them. Encoders are bidirectional, decoders are not.
//
// Errors wrap ErrConfig.
func NewT5Buckets(buckets, maxDistance int, bidirectional bool) (*T5Buckets, error) {
	const function = "NewT5Buckets"
	sides := 1
	if bidirectional {
		sides = 2
	}
	if buckets < 2*sides || buckets > maxBuckets || buckets%sides != 0 {
		return nil, argumentError(ErrConfig, function, "buckets", buckets, "a multiple of %d from %d to %d", sides, 2*sides, maxBuckets)
	}
	side := buckets / sides
	exact := side / 2
	if maxDistance <= exact || maxDistance > maxBucketDistance {
		return nil, argumentError(ErrConfig, function, "maxDistance", maxDistance, "from %d to %d", exact+1, maxBucketDistance)
	}
	b := &T5Buckets{buckets, side, make([]uint16, maxDistance), bidirectional}
	for n := range exact {
		b.bucketOf[n] = uint16(n)
	}
	first := exact
	for j := 1; j <= side-exact; j++ {
		// n reaches bucket exact+j where (n/exact)^(side-exact) >= (maxDistance/exact)^j.
		last := sort.Search(maxDistance-first, func(i int) bool {
			left := product(power(first+i, side-exact), power(exact, j))
			return left.Cmp(product(power(maxDistance, j), power(exact, side-exact))) >= 0
		}) + first
		for n := first; n < last; n++ {
			b.bucketOf[n] = uint16(exact + j - 1)
		}
		first = last
	}
	return b, nil
}

func power(x, n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(int64(x)), big.NewInt(int64(n)), nil)
}

func product(x, y *big.Int) *big.Int { return new(big.Int).Mul(x, y) }

// Bucket returns the bucket of a distance, the position of the key minus that of
// the query; 0 without buckets from NewT5Buckets.
func (b *T5Buckets) Bucket(distance int) int {
	if !b.valid() {
		return 0
	}
	return b.bucket(min(max(distance, -2*maxBucketDistance), 2*maxBucketDistance))
}

func (b *T5Buckets) valid() bool { return b != nil && b.side > 0 }

func (b *T5Buckets) bucket(distance int) int {
	n, first := -distance, 0
	switch {
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

// AddT5 adds relative position biases to scores, in place:
//
//	score = RN32(score + weights[bucket(key-query)*heads+head])
//
// key and query are positions. weights is relative_attention_bias, [buckets][heads]
// for all heads of the model; it must share no memory with the scores. A call
// allocates nothing. T5 does not scale the scores before.
//
// Errors wrap ErrConfig (buckets), ErrShape, ErrLength, ErrOverlap or ErrPosition.
func AddT5(scores Scores, buckets *T5Buckets, weights []float32) error {
	const function = "AddT5"
	if !buckets.valid() {
		return argumentError(ErrConfig, function, "buckets", "nil or zero", "T5Buckets from NewT5Buckets")
	}
	if len(weights)%buckets.buckets != 0 {
		return argumentError(ErrLength, function, "weights", elements(len(weights)), "a multiple of %d, the number of buckets", buckets.buckets)
	}
	heads := len(weights) / buckets.buckets
	var t tile
	if err := scores.check(&t, function, "scores", heads); err != nil {
		return err
	}
	if overlap(weights, scores.Data) {
		return argumentError(ErrOverlap, function, "weights", "sharing elements with scores.Data", "another slice")
	}
	var byDistance [2 * blockKeys]float32
	var b block
	for t.next(&b, blockKeys) {
		// The last query has the least distances.
		biases := byDistance[:b.Rows+b.Len-1]
		first, column := t.distance(&b)-(b.Rows-1), t.firstHead+b.head
		for i := range biases {
			biases[i] = weights[buckets.bucket(first+i)*heads+column]
		}
		b.addRows(scores.Data, biases, b.Rows-1, -1)
	}
	return nil
}
