package relative

import (
	"math"
	"sort"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/kernels"
)

// DeBERTaBuckets says which distances share a relative position in disentangled
// attention (He et al. 2021, arXiv:2006.03654 and 2111.09543). It does not change
// after NewDeBERTaBuckets and may be used by many goroutines at once.
//
// The distance is query-key. With n its magnitude and middle = buckets/2, it is in
// bucket
//
//	distance                                                             n <= middle
//	sign*(middle + ceil(ln(n/middle)/ln((maxPosition-1)/middle)*(middle-1)))    n > middle
//
// as transformers' make_log_bucket_position says; without buckets (DeBERTa v1) the
// distance is the bucket. The comparison behind ceil is one of integers, and exact.
//
// With span = buckets, or maxPosition without buckets, there are 2*span relative
// positions, of which bucket b has number clamp(b+span, 0, 2*span-1).
type DeBERTaBuckets struct {
	span     int
	bucketOf []uint16 // distance: those beyond have bucket span, and nil means that each is its own
}

// NewDeBERTaBuckets returns the buckets of a model: position_buckets, even and from
// 4 to 1024 or 0 for none, and max_relative_positions (max_position_embeddings where
// that is below 1), up to 65536 and above buckets/2+1. 256 and 512 in DeBERTa v2 and v3.
//
// Errors wrap ErrConfig.
func NewDeBERTaBuckets(buckets, maxPosition int) (*DeBERTaBuckets, error) {
	const function = "relative.NewDeBERTaBuckets"
	if buckets != 0 && (buckets < 4 || buckets > maxBuckets || buckets%2 != 0) {
		return nil, argument.Error(posenc.ErrConfig, function, "buckets", buckets, "0 or an even number from 4 to %d", maxBuckets)
	}
	middle := buckets / 2
	least := 1
	if buckets > 0 {
		least = middle + 2
	}
	if maxPosition < least || maxPosition > maxBucketDistance {
		return nil, argument.Error(posenc.ErrConfig, function, "maxPosition", maxPosition, "from %d to %d", least, maxBucketDistance)
	}
	if buckets == 0 {
		return &DeBERTaBuckets{span: maxPosition}, nil
	}
	b := &DeBERTaBuckets{buckets, make([]uint16, maxPosition)}
	first := 0
	for ; first <= middle; first++ {
		b.bucketOf[first] = uint16(first)
	}
	for j := 1; j < middle; j++ {
		// n is beyond bucket middle+j where (n/middle)^(middle-1) > ((maxPosition-1)/middle)^j.
		last := sort.Search(maxPosition-first, func(i int) bool {
			left := product(power(first+i, middle-1), power(middle, j))
			return left.Cmp(product(power(maxPosition-1, j), power(middle, middle-1))) > 0
		}) + first
		for n := first; n < last; n++ {
			b.bucketOf[n] = uint16(middle + j)
		}
		first = last
	}
	return b, nil
}

func (b *DeBERTaBuckets) valid() bool { return b != nil && b.span > 0 }

// Position returns the number of the relative position of a distance, the position
// of the query minus that of the key: from 0 to 2*span-1. It is 0 without buckets
// from NewDeBERTaBuckets.
func (b *DeBERTaBuckets) Position(distance int) int {
	if !b.valid() {
		return 0
	}
	return b.position(min(max(distance, -2*maxBucketDistance), 2*maxBucketDistance))
}

func (b *DeBERTaBuckets) position(distance int) int {
	bucket := min(max(distance, -b.span), b.span)
	if b.bucketOf != nil {
		n := max(distance, -distance)
		bucket = b.span
		if n < len(b.bucketOf) {
			bucket = int(b.bucketOf[n])
		}
		if distance < 0 {
			bucket = -bucket
		}
	}
	return min(max(bucket+b.span, 0), 2*b.span-1)
}

// AddDeBERTa adds the biases of disentangled attention to scores, in place. With r
// the number of the relative position of query-key,
//
//	score = RN32(score + RN32(RN32(contentToPosition[query][r]/scale) +
//	                          RN32(positionToContent[key][r]/scale)))
//
// contentToPosition is the product of the queries with the projected keys of the
// relative positions (c2p), a row of 2*span for each query of the tile.
// positionToContent is that of the keys with the projected queries of the relative
// positions (p2c), a row for each key of the tile. [RelativeProducts] makes both.
// Either is left out, with its summand, where its Data is nil; not both.
//
// scale is finite and positive: sqrt(HeadDim*3) in transformers where both are
// given, sqrt(HeadDim*2) with one of them, and 1 where the products have it already.
// The scores of content with content are scaled before.
//
// A call allocates nothing.
//
// Errors wrap ErrConfig (buckets, scale), posenc.ErrShape, posenc.ErrLength, ErrOverlap or
// ErrPosition.
func AddDeBERTa(scores Scores, buckets *DeBERTaBuckets, contentToPosition, positionToContent Products, scale float32) error {
	const function = "relative.AddDeBERTa"
	if !buckets.valid() {
		return argument.Error(posenc.ErrConfig, function, "buckets", "nil or zero", "DeBERTaBuckets from NewDeBERTaBuckets")
	}
	if !(scale > 0 && scale <= math.MaxFloat32) {
		return argument.Error(posenc.ErrConfig, function, "scale", scale, "a positive finite number")
	}
	c2p, p2c := contentToPosition.Data != nil, positionToContent.Data != nil
	if !c2p && !p2c {
		return argument.Error(posenc.ErrLength, function, "contentToPosition.Data", "nil", "elements, or positionToContent.Data with some")
	}
	var t tile
	if err := scores.check(&t, function, "scores", math.MaxInt); err != nil {
		return err
	}
	if c2p {
		if err := contentToPosition.check(function, "contentToPosition", scores.Data, t.heads, t.queries, 2*buckets.span); err != nil {
			return err
		}
	}
	if p2c {
		if err := positionToContent.check(function, "positionToContent", scores.Data, t.heads, scores.Keys, 2*buckets.span); err != nil {
			return err
		}
	}
	var byDistance [2 * kernels.TileKeys]int32
	var biases [kernels.TileKeys]float32
	var b block
	for t.next(&b, kernels.TileKeys) {
		first := t.distance(&b) - (b.Rows - 1) // of the last query
		for i := range b.Rows + b.Len - 1 {
			byDistance[i] = int32(buckets.position(-first - i))
		}
		for r := range b.Rows {
			positions := byDistance[b.Rows-1-r:][:b.Len]
			if c2p {
				products := contentToPosition.Data[contentToPosition.row(b.head, b.query+r):]
				for i, position := range positions {
					biases[i] = products[position] / scale
				}
			}
			if p2c {
				at := positionToContent.row(b.head, b.key)
				for i, position := range positions {
					bias := positionToContent.Data[at+i*positionToContent.RowStride+int(position)] / scale
					if c2p {
						bias = biases[i] + bias
					}
					biases[i] = bias
				}
			}
			b.addRow(scores.Data, r, biases[:b.Len])
		}
	}
	return nil
}
