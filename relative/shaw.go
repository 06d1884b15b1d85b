package relative

import (
	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/kernels"
)

// AddShaw adds the relative position scores of Shaw et al. (2018, arXiv:1803.02155)
// to scores, in place:
//
//	score = RN32(score + products[query][maxDistance+clip(key-query)])
//
// key and query are positions, clip limits a distance to -maxDistance to maxDistance.
// maxDistance is from 0 to 65536.
//
// products is the product of the queries with the vectors a^K of the clipped distances,
// from -maxDistance up; [DotProducts] makes it. It has a row of 2*maxDistance+1 elements for
// each query of the tile and must not share memory with the scores. Scale the scores after
// the call.
//
// [SumShaw] is the other half, for values.
func AddShaw(scores Scores, products Products, maxDistance int) error {
	const function = "relative.AddShaw"
	var t tile
	if err := scores.checkOfShaw(&t, function, "scores", maxDistance); err != nil {
		return err
	}
	columns := 2*maxDistance + 1
	var m matrices
	if err := products.checkOfTile(&m, function, "products", scores.Data, "scores", t.heads, t.rows, columns, false); err != nil {
		return err
	}
	var biases [kernels.TileKeys]float32 // of a row
	b := t.pieces(kernels.TileKeys)
	for t.next(&b) {
		for r := range b.Rows {
			row := products.Data[m.row(b.head, b.query+r):][:columns]
			first := clamp(t.distance(&b) - r)
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
			b.addToRow(scores.Data, r, biases[:b.Len])
		}
	}
	return nil
}

// SumShaw sums attention weights by clipped distance, for the relative values of Shaw et al.
// (see [AddShaw]). For the keys in ascending order, with s the element
// sums[query][maxDistance+clip(key-query)],
//
//	s = RN32(s + weight)
//
// sums has a row of 2*maxDistance+1 elements for each query of the tile. Its product with
// the vectors a^V of the clipped distances is what relative positions add to the output of
// attention; [AddValues] adds it. weights does not change. sums must not share memory with
// it, and the rows of sums must not overlap.
//
// Set sums to 0 before the first call. Tiles of the same queries may follow one another; in
// ascending order of keys they give the same bits as one tile.
func SumShaw(sums Products, weights Scores, maxDistance int) error {
	const function = "relative.SumShaw"
	var t tile
	if err := weights.checkOfShaw(&t, function, "weights", maxDistance); err != nil {
		return err
	}
	columns := 2*maxDistance + 1
	var m matrices
	if err := sums.checkOfTile(&m, function, "sums", weights.Data, "weights", t.heads, t.rows, columns, true); err != nil || t.empty() {
		return err
	}
	for h := range t.heads {
		for q := range t.rows {
			row := sums.Data[m.row(h, q):][:columns]
			first := t.firstKey - (t.firstQuery + q) // distance
			for i, weight := range weights.Data[t.row(h, q):][:t.columns] {
				row[min(max(first+i, -maxDistance), maxDistance)+maxDistance] += weight
			}
		}
	}
	return nil
}

func (s *Scores) checkOfShaw(t *tile, function, name string, maxDistance int) error {
	if maxDistance < 0 || maxDistance > maxBucketDistance {
		return argument.Error(posenc.ErrShape, function, "maxDistance", maxDistance, "from 0 to %d", maxBucketDistance)
	}
	return s.check(t, function, name, anyHeads)
}
