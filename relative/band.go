package relative

import (
	"math"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/kernels"
)

// AddBand adds products with relative positions to scores, in place. It changes only scores
// whose distance has a column:
//
//	score = RN32(score + products[query][distances.First-(query-key)])
//
// query and key are positions. Scores of other keys, farther away or on the other side of the
// query, do not change. products has a row of distances.Count elements for each query of the
// tile, and must not share memory with the scores. distances.First is from -2^31 to 2^31.
//
// Inkling and Inkling 2 bias the keys up to extent positions behind the query (extent is
// rel_extent, or sliding_window_size). The bias is r·proj[distance], where r is the relative
// state of a head:
//
//	Distances{First: extent-1, Count: extent}
//
// [DotProducts] makes the products: x is the relative states, [tokens][heads][d_rel], and
// vectors is the columns of proj, from the largest distance down to 0, [extent][1][d_rel].
// Scale the scores before. In layers with log scaling, scale relative states as queries are
// scaled: posenc.QueryScales, posenc.ScaleQueries.
//
// Source: InklingRelativeLogits of transformers.
func AddBand(scores Scores, products Products, distances Distances) error {
	const function = "relative.AddBand"
	columns := distances.Count
	if columns < 1 {
		return argument.Error(posenc.ErrShape, function, "distances.Count", columns, "at least 1")
	}
	first := int64(distances.First)
	if first < math.MinInt32 || first > 1<<31 {
		return argument.Error(posenc.ErrPosition, function, "distances.First", distances.First, "from -2^31 to 2^31")
	}
	var t tile
	if err := scores.check(&t, function, "scores", anyHeads); err != nil {
		return err
	}
	var m matrices
	if err := products.checkOfTile(&m, function, "products", scores.Data, "scores", t.heads, t.rows, columns, false); err != nil || t.empty() {
		return err
	}
	b := t.pieces(kernels.TileKeys)
	for t.next(&b) {
		column := first + int64(t.distance(&b)) // of the first query and key
		last := column - int64(b.Rows-1)        // of the last query
		switch {
		case column+int64(b.Len) <= 0 || last >= int64(columns): // no key of any query
		case last >= 0 && column+int64(b.Len) <= int64(columns): // all keys of all queries
			at := m.row(b.head, b.query) + int(column)
			kernels.AddRowsF32(dispatch.Implementation(), scores.Data[b.start:], products.Data, at, m.rowStride-1, nil, &b.Tile)
		default:
			for r := range b.Rows {
				from := max(0, int64(r)-column) // the first key with a column
				to := min(int64(b.Len), int64(columns)+int64(r)-column)
				if from < to {
					row := products.Data[m.row(b.head, b.query+r):][:columns]
					part := kernels.Tile{Len: int(to - from), Rows: 1}
					start := b.start + r*b.Stride + int(from)
					kernels.AddRowsF32(dispatch.Implementation(), scores.Data[start:], row[column-int64(r)+from:][:to-from], 0, 0, nil, &part)
				}
			}
		}
	}
	return nil
}
