package relative

import (
	"cmp"
	"math"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/kernels"
)

// Distances says which distance query-key each column of [Products] stands for: column c stands
// for First-c. This is the order of R in Transformer-XL, from the largest distance down.
//
//	Transformer-XL (arXiv:1901.02860)      Distances{First: keys-1, Count: keys}
//	XLNet, attn_type "bi"                  Distances{First: keys, Count: keys+queries}
//	XLNet, attn_type "uni"                 Distances{First: keys, Count: keys+1}
//	conformers, n tokens                   Distances{First: n-1, Count: 2*n-1}
//	TENER (arXiv:1911.04474)               Distances{First: keys, Count: 2*keys}
//
// Here queries and keys count all of the attention, memory included, not only the ones of a
// tile. All tiles of the same queries take the same products.
type Distances struct {
	First int // the distance of column 0
	Count int // columns, at least 1
}

// AddTransformerXL adds the position scores of Transformer-XL (Dai et al. 2019,
// arXiv:1901.02860) and XLNet to the content scores, in place:
//
//	score = RN32(score + products[query][distances.First-(query-key)])
//
// query and key are positions. The index does what the models' rel_shift does by padding,
// reshaping and slicing; do not shift the products.
//
// The scores are the products of the queries plus the bias u (r_w_bias) with the keys. products
// has distances.Count columns: the products of the queries plus the bias v (r_r_bias) with R,
// the projected encodings of relative positions, by [DotProducts]. Scale the sum after the call;
// TENER does not scale.
//
// Row c of R is the sinusoidal encoding of position First-c, limited to clamp_len.
// [TransformerXLPositions] and [XLNetPositions] write these positions, for absolute.Marian.
// clamp_len does not change the columns.
//
// TENER differs in four ways. Row c of R is the encoding of position c-First. The encoding is
// absolute.Whisper of HeadDim. r_r_bias is added for the keys and r_w_bias for R. And it adds
// a product of keys with R: positionToContent of [AddDeBERTa], with buckets of
// DeBERTaConfig{MaxPosition: keys} and divisor 1.
//
// Scores of keys after the query that have no column do not change; such keys are masked. Every
// other key of the tile must have a column, and distances.First must be at least the largest
// distance in the tile; otherwise the error is [posenc.ErrPosition].
func AddTransformerXL(scores Scores, products Products, distances Distances) error {
	const function = "relative.AddTransformerXL"
	var t tile
	var m matrices
	if err := distances.check(function, &scores, &t, &products, &m); err != nil || t.empty() {
		return err
	}
	farthest := t.firstQuery + t.rows - 1 - t.firstKey
	nearest := max(t.firstQuery-(t.firstKey+t.columns-1), 0) // of keys that are not after the query
	switch {
	case distances.First < farthest:
		return argument.Error(posenc.ErrPosition, function, "distances.First", distances.First, "at least %d, the largest distance of the tile", farthest)
	case distances.First-nearest > distances.Count-1:
		return argument.Error(posenc.ErrPosition, function, "distances.First", distances.First, "at most %d, so that %d columns reach the distance %d", nearest+distances.Count-1, distances.Count, nearest)
	}
	distances.add(scores, &t, products, &m)
	return nil
}

// AddBand adds products with relative positions to scores, in place. It changes only scores
// whose distance has a column:
//
//	score = RN32(score + products[query][distances.First-(query-key)])
//
// query and key are positions. products has distances.Count columns. distances.First is from
// -2^31 to 2^31.
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
// scaled: posenc.QueryScales, posenc.ScaleQueries. Source: InklingRelativeLogits of transformers.
func AddBand(scores Scores, products Products, distances Distances) error {
	const function = "relative.AddBand"
	var t tile
	var m matrices
	if err := distances.check(function, &scores, &t, &products, &m); err != nil {
		return err
	}
	if first := int64(distances.First); first < math.MinInt32 || first > 1<<31 {
		return argument.Error(posenc.ErrPosition, function, "distances.First", distances.First, "from -2^31 to 2^31")
	}
	distances.add(scores, &t, products, &m)
	return nil
}

// check sets t and m to the scores and their products, and checks them.
func (d Distances) check(function string, scores *Scores, t *tile, products *Products, m *matrices) error {
	if d.Count < 1 {
		return argument.Error(posenc.ErrShape, function, "distances.Count", d.Count, "at least 1")
	}
	if err := scores.check(t, function, "scores", anyHeads); err != nil {
		return err
	}
	return products.check(m, function, "products", scores.Data, "scores", t.heads, t.rows, d.Count, false)
}

// add adds the product of its distance to each score whose distance has a column.
func (d Distances) add(scores Scores, t *tile, products Products, m *matrices) {
	columns := int64(d.Count)
	b := t.pieces(kernels.TileKeys)
	for t.next(&b) {
		column := int64(d.First) + int64(t.distance(&b)) // of the first query and key
		last := column - int64(b.Rows-1)                 // of the last query
		switch end := column + int64(b.Len); {
		case end <= 0 || last >= columns: // no key of any query
		case last >= 0 && end <= columns: // all keys of all queries
			at := m.row(b.head, b.query) + int(column)
			kernels.AddRowsF32(dispatch.Implementation(), scores.Data[b.start:], products.Data, at, m.rowStride-1, nil, &b.Tile)
		default:
			for r := range b.Rows {
				shifted := column - int64(r)
				from, to := max(0, -shifted), min(int64(b.Len), columns-shifted) // keys with a column
				if from < to {
					row := products.Data[m.row(b.head, b.query+r):][:columns]
					b.addToRow(scores.Data[from:], r, row[shifted+from:shifted+to])
				}
			}
		}
	}
}

// TransformerXLPositions writes the positions of Transformer-XL's relative encoding, from
// largest to smallest: positions[i] = n-1-i, where n is len(positions). clampLen is the model's
// clamp_len: no position is larger; 0 means no limit. Errors wrap ErrLength (more than 2^31
// positions) or [posenc.ErrPosition] (a negative clampLen).
func TransformerXLPositions(positions []int32, clampLen int32) error {
	return fillDescending(positions, "relative.TransformerXLPositions", "clampLen", int64(len(positions))-1, clampLen, 1)
}

// XLNetOptions says which positions [XLNetPositions] writes.
type XLNetOptions struct {
	Keys     int   // all keys, memory included: from 0 to 2^31-1
	ClampLen int32 // clamp_len, the largest magnitude of a position; 0 means no limit
	Backward bool  // negates positions: the second half of an XLNet batch with bi_data; TENER
}

// XLNetPositions writes the positions of XLNet's relative encoding, for each i
//
//	positions[i] = min(max(Keys-i, -ClampLen), ClampLen)
//
// With Backward they are negated. The number of positions is the Count of [Distances], whose First
// is Keys. TENER has ClampLen 0 and Backward. Errors wrap ErrLength (more than 2^31 positions) or
// [posenc.ErrPosition] (Keys or ClampLen out of range).
func XLNetPositions(positions []int32, options XLNetOptions) error {
	const function = "relative.XLNetPositions"
	if options.Keys < 0 || options.Keys > math.MaxInt32 {
		return argument.Error(posenc.ErrPosition, function, "options.Keys", options.Keys, "from 0 to %d", math.MaxInt32)
	}
	sign := int64(1)
	if options.Backward {
		sign = -1
	}
	return fillDescending(positions, function, "options.ClampLen", int64(options.Keys), options.ClampLen, sign)
}

// fillDescending writes first, first-1, ..., limited to clampLen in magnitude unless that is
// 0, each multiplied by sign.
func fillDescending(positions []int32, function, name string, first int64, clampLen int32, sign int64) error {
	switch {
	case int64(len(positions)) > 1<<31:
		return argument.Error(posenc.ErrLength, function, "positions", argument.Elements(len(positions)), "at most 2^31")
	case clampLen < 0:
		return argument.Error(posenc.ErrPosition, function, name, clampLen, "at least 0")
	}
	most := int64(cmp.Or(clampLen, math.MaxInt32))
	for i := range positions {
		positions[i] = int32(sign * min(max(first-int64(i), -most), most))
	}
	return nil
}
