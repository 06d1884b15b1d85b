package relative

import (
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/kernels"
)

// piece is the part of a tile that is done at once: Rows queries and Len keys of one head.
type piece struct {
	kernels.Tile
	queries, keys    int // the largest Rows and Len
	head, query, key int // of the first score, within the tile
	start            int // index of the first score
}

// pieces returns a piece before the first one of a tile, for next. Each has at most keys keys,
// and as many queries as one call of a kernel takes. It has all keys if there are not more,
// because memory is best read in its order.
func (t *tile) pieces(keys int) piece {
	keys = min(keys, t.columns)
	return piece{queries: max(1, kernels.MaxCallScores/max(1, keys)), keys: keys}
}

// next moves b to the next piece of the tile, and reports whether there is one. All queries
// come before the next keys.
func (t *tile) next(b *piece) bool {
	if t.empty() {
		return false
	}
	b.query += b.Rows
	if b.query == t.rows {
		b.query = 0
		b.key += b.Len
		if b.key == t.columns {
			b.key = 0
			b.head++
		}
	}
	b.Rows, b.Len, b.Stride = min(b.queries, t.rows-b.query), min(b.keys, t.columns-b.key), t.rowStride
	b.start = t.row(b.head, b.query) + b.key
	return b.head < t.heads
}

// distance returns key-query for the first key and the first query of a piece.
func (t *tile) distance(b *piece) int {
	return t.firstKey + b.key - t.firstQuery - b.query
}

// addToRow adds biases to the first scores of one row of a piece.
func (b *piece) addToRow(scores []float32, row int, biases []float32) {
	if len(biases) > 0 {
		kernels.AddRowsF32(dispatch.Implementation(), scores[b.start+row*b.Stride:], biases, 0, 0, nil, &kernels.Tile{Len: len(biases), Rows: 1})
	}
}
