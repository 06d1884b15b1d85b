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
// maxDistance is from 0 to 65536. products has 2*maxDistance+1 columns: the products of the
// queries with the vectors a^K of the clipped distances, from -maxDistance up, by [DotProducts].
// Scale the scores after the call. [SumShaw] is the other half, for values.
func AddShaw(scores Scores, products Products, maxDistance int) error {
	const function = "relative.AddShaw"
	var t tile
	var m matrices
	if err := checkShaw(function, "scores", &scores, &t, "products", &products, &m, maxDistance, false); err != nil {
		return err
	}
	var biases [kernels.TileKeys]float32 // of a row
	b := t.pieces(kernels.TileKeys)
	for t.next(&b) {
		for r := range b.Rows {
			row := products.Data[m.row(b.head, b.query+r):][:m.columns]
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
// sums has 2*maxDistance+1 columns. Its product with the vectors a^V of the clipped distances
// is what relative positions add to the output of attention; [AddValues] adds it.
//
// Set sums to 0 before the first call. Tiles of the same queries may follow one another; in
// ascending order of keys they give the same bits as one tile.
func SumShaw(sums Products, weights Scores, maxDistance int) error {
	const function = "relative.SumShaw"
	var t tile
	var m matrices
	if err := checkShaw(function, "weights", &weights, &t, "sums", &sums, &m, maxDistance, true); err != nil || t.empty() {
		return err
	}
	for h := range t.heads {
		for q := range t.rows {
			row := sums.Data[m.row(h, q):][:m.columns]
			first := t.firstKey - (t.firstQuery + q) // distance
			for i, weight := range weights.Data[t.row(h, q):][:t.columns] {
				row[min(max(first+i, -maxDistance), maxDistance)+maxDistance] += weight
			}
		}
	}
	return nil
}

// checkShaw sets t to the scores and m to the products, whose rows must not overlap if they are
// written, and checks them.
func checkShaw(function, scoresName string, s *Scores, t *tile, productsName string, p *Products, m *matrices, maxDistance int, written bool) error {
	if maxDistance < 0 || maxDistance > maxBucketDistance {
		return argument.Error(posenc.ErrShape, function, "maxDistance", maxDistance, "from 0 to %d", maxBucketDistance)
	}
	if err := s.check(t, function, scoresName, anyHeads); err != nil {
		return err
	}
	return p.check(m, function, productsName, s.Data, scoresName, t.heads, t.rows, 2*maxDistance+1, written)
}
