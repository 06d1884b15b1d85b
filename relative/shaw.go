package relative

import (
	"math"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/kernels"
)

// AddShaw adds the relative position scores of Shaw et al. (2018, arXiv:1803.02155)
// to scores, in place:
//
//	score = RN32(score + products[query][maxDistance+clip(key-query)])
//
// key and query are positions, and clip keeps a number from -maxDistance to
// maxDistance. products, with a row of 2*maxDistance+1 for each query of the tile,
// is that of the queries with the vectors a^K of the clipped distances, from the
// least one up. maxDistance is up to 65536. The scores are scaled later.
//
// [SumShaw] is the other half, for values. A call allocates nothing.
//
// Errors wrap posenc.ErrShape, posenc.ErrLength, ErrOverlap or ErrPosition.
func AddShaw(scores Scores, products Products, maxDistance int) error {
	const function = "relative.AddShaw"
	var t tile
	if err := checkShaw(&t, function, "scores", &scores, "products", &products, maxDistance); err != nil {
		return err
	}
	var biases [kernels.TileKeys]float32
	var b block
	for t.next(&b, kernels.TileKeys) {
		for r := range b.Rows {
			row := products.Data[products.row(b.head, b.query+r):][:2*maxDistance+1]
			first := min(max(t.distance(&b)-r, -2*maxBucketDistance), 2*maxBucketDistance)
			before := min(max(-maxDistance-first, 0), b.Len) // keys of the first column
			after := min(max(maxDistance+1-first, before), b.Len)
			for i := range before {
				biases[i] = row[0]
			}
			if before < after {
				copy(biases[before:after], row[first+before+maxDistance:])
			}
			for i := after; i < b.Len; i++ {
				biases[i] = row[2*maxDistance]
			}
			b.addRow(scores.Data, r, biases[:b.Len])
		}
	}
	return nil
}

// SumShaw adds up weights of attention by clipped distance, what Shaw et al.'s
// values need (see [AddShaw]):
//
//	sums[query][maxDistance+clip(key-query)] = RN32(that + weight)
//
// for the keys in ascending order. The product of sums, a row of 2*maxDistance+1
// for each query of the tile, with the vectors a^V of the clipped distances is what
// relative positions add to the output of the attention ([AddRelativeValues]).
// weights are not changed.
// sums have to be set, to 0 at first: tiles of the same queries may then follow
// each other, in ascending order of keys for the bits of one tile. Rows of sums must
// not overlap.
//
// A call allocates nothing.
//
// Errors wrap posenc.ErrShape, posenc.ErrLength, ErrOverlap or ErrPosition.
func SumShaw(sums Products, weights Scores, maxDistance int) error {
	const function = "relative.SumShaw"
	var t tile
	if err := checkShaw(&t, function, "weights", &weights, "sums", &sums, maxDistance); err != nil {
		return err
	}
	columns := 2*maxDistance + 1
	if t.keys > 0 {
		if err := sums.checkApart(function, "sums", t.heads, t.queries, columns); err != nil {
			return err
		}
	}
	var b block
	for t.next(&b, kernels.TileKeys) {
		for r := range b.Rows {
			row := sums.Data[sums.row(b.head, b.query+r):][:columns]
			first := t.distance(&b) - r
			for i, weight := range weights.Data[b.at+r*b.Stride:][:b.Len] {
				row[min(max(first+i, -maxDistance), maxDistance)+maxDistance] += weight
			}
		}
	}
	return nil
}

func checkShaw(t *tile, function, tileName string, scores *Scores, name string, products *Products, maxDistance int) error {
	if maxDistance < 0 || maxDistance > maxBucketDistance {
		return argument.Error(posenc.ErrShape, function, "maxDistance", maxDistance, "from 0 to %d", maxBucketDistance)
	}
	if err := scores.check(t, function, tileName, math.MaxInt); err != nil {
		return err
	}
	return products.check(function, name, scores.Data, t.heads, t.queries, 2*maxDistance+1)
}
