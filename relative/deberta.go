package relative

import (
	"math"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/kernels"
)

// DeBERTaBuckets says which distances share a relative position in disentangled
// attention (He et al. 2021, arXiv:2006.03654 and 2111.09543).
//
// The distance is query-key. With n its magnitude and middle = Buckets/2, its bucket is
//
//	distance                                                             n <= middle
//	sign*(middle + ceil(ln(n/middle)/ln((MaxPosition-1)/middle)*(middle-1)))    n > middle
//
// as in make_log_bucket_position of transformers. In DeBERTa v1, which has no buckets, the
// distance itself takes the place of the bucket. The comparison for ceil is done in
// integers, so it is exact.
//
// There are 2*span relative positions, where span is Buckets, or MaxPosition without
// buckets. Bucket b has the relative position clamp(b+span, 0, 2*span-1).
type DeBERTaBuckets struct {
	span     int
	bucketOf []uint16 // by distance; beyond its end the bucket is span; nil: the distance is the bucket
}

// DeBERTaConfig says how a model puts distances into buckets. DeBERTa v2 and v3 have 256
// Buckets and MaxPosition 512.
type DeBERTaConfig struct {
	Buckets     int // position_buckets: even and from 4 to 1024, or 0 for none (DeBERTa v1)
	MaxPosition int // max_relative_positions, or max_position_embeddings if that is below 1: above Buckets/2+1, at most 65536
}

// NewDeBERTaBuckets returns the buckets of a model. Errors wrap ErrConfig.
func NewDeBERTaBuckets(cfg DeBERTaConfig) (*DeBERTaBuckets, error) {
	const function = "relative.NewDeBERTaBuckets"
	if cfg.Buckets != 0 && (cfg.Buckets < 4 || cfg.Buckets > maxBuckets || cfg.Buckets%2 != 0) {
		return nil, argument.Error(posenc.ErrConfig, function, "cfg.Buckets", cfg.Buckets, "0 or an even number from 4 to %d", maxBuckets)
	}
	middle, least := cfg.Buckets/2, 1
	if cfg.Buckets > 0 {
		least = middle + 2
	}
	if cfg.MaxPosition < least || cfg.MaxPosition > maxBucketDistance {
		return nil, argument.Error(posenc.ErrConfig, function, "cfg.MaxPosition", cfg.MaxPosition, "from %d to %d", least, maxBucketDistance)
	}
	if cfg.Buckets == 0 {
		return &DeBERTaBuckets{span: cfg.MaxPosition}, nil
	}
	bucketOf := bucketsOf(cfg.MaxPosition, middle+1, middle-1, func(n, step int) bool {
		return compareStep(n, middle, cfg.MaxPosition-1, middle-1, step) > 0
	})
	return &DeBERTaBuckets{cfg.Buckets, bucketOf}, nil
}

func (b *DeBERTaBuckets) valid() bool { return b != nil && b.span > 0 }

// Position returns the relative position of a distance (the position of the query minus that
// of the key): a column of [AddDeBERTa]'s products, from 0 to 2*span-1. Without buckets from
// NewDeBERTaBuckets it returns 0.
func (b *DeBERTaBuckets) Position(distance int) int {
	if !b.valid() {
		return 0
	}
	return b.position(clamp(distance))
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

// DeBERTaProducts are what AddDeBERTa adds. They have 2*span columns. At least one of the Products
// is needed; without the other its summand is left out. They may share memory with each other.
type DeBERTaProducts struct {
	ContentToPosition Products // c2p: of the queries with the projected keys of the relative positions
	PositionToContent Products // p2c: of the keys with the projected queries of the relative positions; a row for each key of the tile

	// Divisor is finite and positive. In transformers it is sqrt(HeadDim*3) with both products
	// and sqrt(HeadDim*2) with one of them. It is 1 if the products are divided already. Divide
	// the scores of content with content by the same number before the call.
	Divisor float32
}

// AddDeBERTa adds the biases of disentangled attention to scores, in place:
//
//	score = RN32(score + RN32(RN32(ContentToPosition[query][r]/Divisor) +
//	                          RN32(PositionToContent[key][r]/Divisor)))
//
// r is the relative position of query-key, as buckets.Position returns it. [DotProducts] makes
// the products, which share no memory with the scores. Errors also wrap [posenc.ErrConfig]
// (buckets, Divisor).
func AddDeBERTa(scores Scores, buckets *DeBERTaBuckets, products DeBERTaProducts) error {
	const function = "relative.AddDeBERTa"
	contentToPosition, positionToContent, divisor := &products.ContentToPosition, &products.PositionToContent, products.Divisor
	hasC2P, hasP2C := contentToPosition.Data != nil, positionToContent.Data != nil
	switch {
	case !buckets.valid():
		return argument.Error(posenc.ErrConfig, function, "buckets", "nil or zero", "DeBERTaBuckets from NewDeBERTaBuckets")
	case !(divisor > 0 && divisor <= math.MaxFloat32):
		return argument.Error(posenc.ErrConfig, function, "products.Divisor", divisor, "a positive finite number")
	case !hasC2P && !hasP2C:
		return argument.Error(posenc.ErrLength, function, "products.ContentToPosition.Data", "nil", "data here or in PositionToContent.Data")
	}
	var t tile
	if err := scores.check(&t, function, "scores", anyHeads); err != nil {
		return err
	}
	var c2p, p2c matrices
	for _, side := range [...]struct {
		name     string
		products *Products
		m        *matrices
		rows     int
	}{{"products.ContentToPosition", contentToPosition, &c2p, t.rows}, {"products.PositionToContent", positionToContent, &p2c, t.columns}} {
		if p := side.products; p.Data != nil {
			if err := p.check(side.m, function, side.name, scores.Data, "scores", t.heads, side.rows, 2*buckets.span, false); err != nil {
				return err
			}
		} else if p.Rows != 0 || p.HeadStride != 0 || p.RowStride != 0 {
			return argument.Error(posenc.ErrLength, function, side.name+".Data", "nil", "data, or Rows, HeadStride and RowStride 0 to leave it out")
		}
	}
	var byDistance [2 * kernels.TileKeys]int32 // numbers of relative positions
	var biases [kernels.TileKeys]float32       // of a row
	b := t.pieces(kernels.TileKeys)
	b.queries = kernels.TileKeys // share byDistance
	for t.next(&b) {
		first := t.distance(&b) - (b.Rows - 1) // of the last query
		for i := range b.Rows + b.Len - 1 {
			byDistance[i] = int32(buckets.position(-first - i))
		}
		for r := range b.Rows {
			positions := byDistance[b.Rows-1-r:][:b.Len]
			if hasC2P {
				products := contentToPosition.Data[c2p.row(b.head, b.query+r):]
				for i, position := range positions {
					biases[i] = products[position] / divisor
				}
			}
			if hasP2C {
				products, stride := positionToContent.Data[p2c.row(b.head, b.key):], p2c.rowStride
				for i, position := range positions {
					bias := products[i*stride+int(position)] / divisor
					if hasC2P {
						bias = biases[i] + bias
					}
					biases[i] = bias
				}
			}
			b.addToRow(scores.Data, r, biases[:b.Len])
		}
	}
	return nil
}
