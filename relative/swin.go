package relative

import (
	"cmp"
	"math"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/kernels"
)

// maxWindow bounds the height and the width of a window.
const maxWindow = 64

// SwinWindow is the size of a window in patches; each side is from 1 to 64.
type SwinWindow struct{ Height, Width int }

// check returns an error unless each side is from least to 64. With optional, a side may
// also be 0.
func (w *SwinWindow) check(function, name string, least int, optional bool) error {
	expected := "from %d to %d"
	if optional {
		expected = "0 or " + expected
	}
	for i, side := range [...]int{w.Height, w.Width} {
		if (side < least || side > maxWindow) && !(optional && side == 0) {
			return argument.Error(posenc.ErrShape, function, name+"."+[]string{"Height", "Width"}[i], side, expected, least, maxWindow)
		}
	}
	return nil
}

// SwinBias holds the relative position biases of the windows of Swin Transformer (Liu et
// al. 2021, arXiv:2103.14030).
type SwinBias struct {
	heads, height, width int
	// byColumn is [heads][width][(2*height-1)*width]. For a column of queries it has
	// the biases of keys row by row, from the row height-1 above the query to the row
	// height-1 below it. The biases of a window are height*width of them without a gap.
	byColumn []float32
	rows     []int32 // by query: where its biases begin among the biases of a head
}

// NewSwinBias prepares the biases of a window from a model's relative_position_bias_table,
// [(2*Height-1)*(2*Width-1)][heads]. The result takes (2*Height-1)*Width*Width elements of memory
// for each head, at most 2^25 in all. Swin v2 has the same index. Its table is 16*sigmoid(m),
// where m is the output of its network for [SwinCoordinates]. Errors wrap ErrShape or
// [posenc.ErrLength].
func NewSwinBias(window SwinWindow, table []float32) (*SwinBias, error) {
	const function = "relative.NewSwinBias"
	if err := window.check(function, "window", 1, false); err != nil {
		return nil, err
	}
	height, width := window.Height, window.Width
	rows, columns := 2*height-1, 2*width-1
	if len(table) == 0 || len(table)%(rows*columns) != 0 {
		return nil, argument.Error(posenc.ErrLength, function, "table", argument.Elements(len(table)), "a multiple of (2*Height-1)*(2*Width-1) = %d above 0", rows*columns)
	}
	b := &SwinBias{heads: len(table) / (rows * columns), height: height, width: width}
	size, ok := argument.Multiply(b.heads, width*rows*width)
	if !ok || size > maxBiases {
		return nil, argument.Error(posenc.ErrLength, function, "table", argument.Elements(len(table)), "fewer heads than %d: (2*Height-1)*Width*Width elements for each, at most 2^25 in all", b.heads)
	}
	b.byColumn, b.rows = make([]float32, 0, size), make([]int32, height*width)
	for query := range b.rows {
		b.rows[query] = int32((query%width*rows + height - 1 - query/width) * width)
	}
	for head := range b.heads {
		for query := range width {
			for row := rows - 1; row >= 0; row-- {
				for key := range width {
					b.byColumn = append(b.byColumn, table[(row*columns+query-key+width-1)*b.heads+head])
				}
			}
		}
	}
	return b, nil
}

// SwinCoordinates writes the log-spaced coordinates from which the network of Swin v2 makes
// its table (Liu et al. 2022, arXiv:2111.09883): relative_coords_table,
// [2*Height-1][2*Width-1][2] for the window, row before column. For patches i rows apart the
// coordinate is
//
//	RN32(sign(i) * log2(1 + 8*|i|/(pretrained.Height-1)) / log2(8))
//
// and 0 for i = 0; columns follow the same rule. RN32 rounds the real number.
//
// pretrained is the window that the model was trained with, each side from 2 to 64. A side of 0
// means the side of window. Errors wrap ErrShape or [posenc.ErrLength].
func SwinCoordinates(dst []float32, window, pretrained SwinWindow) error {
	const function = "relative.SwinCoordinates"
	height, width := window.Height, window.Width
	if err := window.check(function, "window", 1, false); err != nil {
		return err
	}
	if err := pretrained.check(function, "pretrained", 2, true); err != nil {
		return err
	}
	rows, columns := 2*height-1, 2*width-1
	if len(dst) != rows*columns*2 {
		return argument.Error(posenc.ErrLength, function, "dst", argument.Elements(len(dst)), "(2*Height-1)*(2*Width-1)*2 = %d", rows*columns*2)
	}
	for column := range columns {
		dst[2*column+1] = swinCoordinate(column-width+1, cmp.Or(pretrained.Width, width))
	}
	for row := range rows {
		coordinate := swinCoordinate(row-height+1, cmp.Or(pretrained.Height, height))
		for column := range columns {
			at := dst[(row*columns+column)*2:][:2]
			at[0], at[1] = coordinate, dst[2*column+1]
		}
	}
	return nil
}

// swinCoordinate returns the coordinate of patches at a distance from each other, in windows
// with sides of window patches. The logarithms are of integers up to 567, so that their
// difference is within 2^-48 of the real one. No coordinate is so close to the middle between
// two float32: TestSwinCoordinates checks them all.
func swinCoordinate(distance, window int) float32 {
	const logarithmOf8 = 3 * math.Ln2
	if distance == 0 {
		return 0
	}
	whole := max(distance, -distance)*8 + window - 1
	coordinate := float32((generic.Logarithm(uint64(whole)) - generic.Logarithm(uint64(window-1))) / logarithmOf8)
	if distance < 0 {
		return -coordinate
	}
	return coordinate
}

// AddSwin adds the relative position biases of a window to scores, in place:
//
//	score = RN32(score + table[index][head])
//	index = (queryRow-keyRow+height-1)*(2*width-1) + queryColumn-keyColumn+width-1
//
// table is the one that bias was made from, head is the head of the model. The positions of
// queries and keys count the patches of the window row by row, from 0 to height*width-1: the row
// is position/width, the column position%width. Scale the scores before the call. A zero bias is
// [posenc.ErrConfig].
func AddSwin(scores Scores, bias *SwinBias) error {
	const function = "relative.AddSwin"
	if bias == nil || bias.heads == 0 {
		return argument.Error(posenc.ErrConfig, function, "bias", "nil or zero", "a SwinBias from NewSwinBias")
	}
	var t tile
	if err := scores.check(&t, function, "scores", bias.heads); err != nil || t.empty() {
		return err
	}
	height, width := bias.height, bias.width
	patches := height * width
	switch {
	case t.firstQuery < 0 || t.firstQuery > patches-t.rows:
		return argument.Error(posenc.ErrPosition, function, "scores.FirstQuery", t.firstQuery, "from 0 to %d for %d queries of a window of %d by %d", patches-t.rows, t.rows, height, width)
	case t.firstKey < 0 || t.firstKey > patches-t.columns:
		return argument.Error(posenc.ErrPosition, function, "scores.FirstKey", t.firstKey, "from 0 to %d for %d keys of a window of %d by %d", patches-t.columns, t.columns, height, width)
	}
	size := (2*height - 1) * width * width // biases of a head
	b := t.pieces(kernels.MaxCallScores)
	for t.next(&b) {
		first := (t.firstHead+b.head)*size + t.firstKey + b.key
		kernels.AddRowsF32(dispatch.Implementation(), scores.Data[b.start:], bias.byColumn, first, 1, bias.rows[t.firstQuery+b.query:], &b.Tile)
	}
	return nil
}
