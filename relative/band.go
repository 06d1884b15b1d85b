package relative

import (
	"math"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/kernels"
)

// AddBand adds products with relative positions to the scores of the keys that are within
// reach of their query, in place:
//
//	score = RN32(score + products[query][distances.First-(query-key)])
//
// Keys without a column, farther away or on the other side, keep their scores. query and
// key are positions, and RN32 rounds to the nearest float32, ties to even. products has
// a row of distances.Count for each query of the tile and shares no memory with the
// scores; First is from -2^31 to 2^31.
//
// So Inkling and Inkling 2 bias their attention, keys up to an extent behind the query
// (rel_extent, or sliding_window_size), by r·proj[distance] of the relative states r of a
// head:
//
//	Distances{First: extent-1, Count: extent}
//
// [DotProducts] makes the products, of x the relative states, [tokens][heads][d_rel], and
// vectors the columns of proj from that of the largest distance down, [extent][1][d_rel].
// The scores are scaled before. In layers with log scaling relative states are scaled as
// queries are: posenc.QueryScales, posenc.Scale.
//
// A call allocates nothing. Source: InklingRelativeLogits of transformers.
//
// Errors wrap [posenc.ErrShape], [posenc.ErrLength], [posenc.ErrOverlap] or
// [posenc.ErrPosition].
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
