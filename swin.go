package posenc

// maxWindow bounds the height and the width of a window, so that its positions can
// be counted.
const maxWindow = 4096

// AddSwin adds the relative position biases of a window of Swin Transformer (Liu et
// al. 2021, arXiv:2103.14030) to scores, in place:
//
//	score = RN32(score + table[index*heads+head])
//	index = (queryRow-keyRow+height-1)*(2*width-1) + queryColumn-keyColumn+width-1
//
// The positions of queries and keys count the patches of the window row by row, from
// 0 to height*width-1: row position/width, column position%width. table is
// relative_position_bias_table, [(2*height-1)*(2*width-1)][heads] for all heads of
// the model; it must share no memory with the scores. height and width are from 1 to
// 4096. The scores are scaled before.
//
// The windows of an image have the same biases: a tile of zeros becomes them, and
// may be kept. A call allocates nothing.
//
// Errors wrap ErrShape, ErrLength, ErrOverlap or ErrPosition.
func AddSwin(scores Scores, height, width int, table []float32) error {
	const function = "AddSwin"
	if height < 1 || height > maxWindow {
		return argumentError(ErrShape, function, "height", height, "from 1 to %d", maxWindow)
	}
	if width < 1 || width > maxWindow {
		return argumentError(ErrShape, function, "width", width, "from 1 to %d", maxWindow)
	}
	rows := (2*height - 1) * (2*width - 1)
	if len(table)%rows != 0 {
		return argumentError(ErrLength, function, "table", elements(len(table)), "a multiple of (2*height-1)*(2*width-1) = %d", rows)
	}
	heads := len(table) / rows
	var t tile
	if err := scores.check(&t, function, "scores", heads); err != nil {
		return err
	}
	if overlap(table, scores.Data) {
		return argumentError(ErrOverlap, function, "table", "sharing elements with scores.Data", "another slice")
	}
	if t.keys == 0 {
		return nil
	}
	patches := height * width
	if t.firstQuery < 0 || t.firstQuery > patches-t.queries {
		return argumentError(ErrPosition, function, "scores.FirstQuery", t.firstQuery, "from 0 to %d for %d queries of a window of %d by %d", patches-t.queries, t.queries, height, width)
	}
	if t.firstKey < 0 || t.firstKey > patches-t.keys {
		return argumentError(ErrPosition, function, "scores.FirstKey", t.firstKey, "from 0 to %d for %d keys of a window of %d by %d", patches-t.keys, t.keys, height, width)
	}
	var biases [blockKeys]float32
	var b block
	for t.next(&b, blockKeys) {
		for r := range b.Rows {
			query, key := t.firstQuery+b.query+r, t.firstKey+b.key
			keyRow, keyColumn := key/width, key%width
			for i := 0; i < b.Len; {
				// The keys of a row of the window have indices one after another, downward.
				index := (query/width-keyRow+height-1)*(2*width-1) + query%width - keyColumn + width - 1
				at := index*heads + t.firstHead + b.head
				for n := min(width-keyColumn, b.Len-i); n > 0; n-- {
					biases[i] = table[at]
					at -= heads
					i++
				}
				keyRow, keyColumn = keyRow+1, 0
			}
			b.addRow(scores.Data, r, biases[:b.Len])
		}
	}
	return nil
}
