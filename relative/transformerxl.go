package relative

import (
	"math"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/kernels"
)

// AddRelativeShift adds the position scores of Transformer-XL (Dai et al. 2019,
// arXiv:1901.02860) and XLNet to the content scores, in place:
//
//	score = RN32(score + shifted)
//	shifted = products[query][first-(query-key)]
//
// query and key are positions. products, with a row for each query of the tile,
// is that of the queries plus the bias v (r_r_bias) with R, the encodings of
// relative positions after their projection ([RelativeProducts]): column c stands for
// the distance first-c, as R is laid out there, from the largest distance down. The
// scores are those of the queries plus the bias u (r_w_bias) with the keys; both are
// scaled later, but in TENER not at all.
//
//	Transformer-XL             first keys-1, columns keys
//	XLNet, bidirectional       first keys, columns keys+queries
//	XLNet, unidirectional      first keys, columns keys+1
//	TENER (arXiv:1911.04474)   first keys, columns 2*keys
//
// where queries and keys are all of them, memory included, not those of the tile:
// every tile of a row has the same products. That is what rel_shift does by
// padding, reshaping and slicing; here nothing is moved.
//
// Row c of R is the encoding of position first-c ([SinusoidalMarian]), clamped to
// clamp_len from above, in XLNet to -clamp_len from below as well. For the second
// half of XLNet's batch with bi_data it is that of c-first. [DescendingPositions] and
// [XLNetPositions] write them. The columns are the same.
// TENER's code has position c-first too ([SinusoidalWhisper] of HeadDim), adds
// r_r_bias for the keys and r_w_bias for R, and a product of keys with R, which is
// positionToContent of [AddDeBERTa] with NewDeBERTaBuckets(0, keys) and scale 1.
//
// Keys after the query that have no column (they are masked) keep their scores.
// Every other key of the tile must have one, and first be at least the largest
// distance in the tile.
//
// A call allocates nothing.
//
// Errors wrap posenc.ErrShape, posenc.ErrLength, ErrOverlap or ErrPosition (a key without a
// column).
func AddRelativeShift(scores Scores, products Products, columns, first int) error {
	const function = "relative.AddRelativeShift"
	if columns < 1 {
		return argument.Error(posenc.ErrShape, function, "columns", columns, "at least 1")
	}
	var t tile
	if err := scores.check(&t, function, "scores", math.MaxInt); err != nil {
		return err
	}
	if err := products.check(function, "products", scores.Data, t.heads, t.queries, columns); err != nil {
		return err
	}
	if t.keys == 0 {
		return nil
	}
	farthest := t.firstQuery + t.queries - 1 - t.firstKey
	nearest := max(t.firstQuery-(t.firstKey+t.keys-1), 0) // of keys that are not after the query
	if first < farthest || first-nearest > columns-1 {
		return argument.Error(posenc.ErrPosition, function, "first", first, "at least %d, and columns from there to %d", farthest, nearest)
	}
	var b block
	for t.next(&b, kernels.TileKeys) {
		wide := int64(first) + int64(t.distance(&b)) // the column of the first query and key
		if wide-int64(b.Rows-1) >= int64(columns) {
			continue
		}
		column := int(wide)
		at, step := products.row(b.head, b.query)+column, products.RowStride-1
		if column+b.Len <= columns {
			b.addRows(scores.Data, products.Data, at, step)
			continue
		}
		for r := range b.Rows {
			if n := min(b.Len, columns-(column-r)); n > 0 {
				b.addRow(scores.Data, r, products.Data[at+r*step:][:n])
			}
		}
	}
	return nil
}
