package relative

import (
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/kernels"
)

// piece is what of a tile, in one of its heads, is done at once: Rows
// queries and Len keys.
type piece struct {
	kernels.Tile
	queries, keys    int // Rows and Len are at most
	head, query, key int // of the first score, in the tile
	start            int // element of the first score
}

// pieces returns a piece before the first one of a tile, see next. Each has at most so
// many keys and as many queries as one call of a kernel does, with all keys where those
// are not more: memory is best read in its order.
func (t *tile) pieces(keys int) piece {
	keys = min(keys, t.columns)
	return piece{queries: max(1, kernels.MaxCallScores/max(1, keys)), keys: keys}
}

// next moves b to the next piece of the tile, first all queries, and reports whether
// there is one.
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

// distance returns how far the first key of a piece is behind its first query.
func (t *tile) distance(b *piece) int {
	return t.firstKey + b.key - t.firstQuery - b.query
}

// addToRow adds biases to the first scores of one row of a piece.
func (b *piece) addToRow(scores []float32, row int, biases []float32) {
	if len(biases) > 0 {
		kernels.AddRowsF32(dispatch.Implementation(), scores[b.start+row*b.Stride:], biases, 0, 0, nil, &kernels.Tile{Len: len(biases), Rows: 1})
	}
}
