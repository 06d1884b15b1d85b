package posenc

import "math"

// RaggedPositions fills in the positions of sequences that lie one after
// another: token t of sequence b, starts[b] <= t < starts[b+1], is at
//
//	positions[t] = offsets[b] + t - starts[b]
//
// starts are the cumulative lengths (cu_seqlens, indptr): one more than there
// are sequences, ascending from 0 to len(positions). offsets are the positions
// of the first tokens: the tokens that a cache already has, or minus the padding
// on the left; nil means 0 for every sequence.
//
// Errors wrap ErrLength, ErrShape (starts), ErrOverlap or ErrPosition (a position
// that is no int32).
func RaggedPositions(positions, starts, offsets []int32) error {
	const function = "RaggedPositions"
	if len(starts) < 1 {
		return argumentError(ErrLength, function, "starts", elements(0), "one more than there are sequences")
	}
	if offsets != nil && len(offsets) != len(starts)-1 {
		return argumentError(ErrLength, function, "offsets", elements(len(offsets)), "nil or %d, one for each sequence", len(starts)-1)
	}
	if overlap(positions, starts) {
		return argumentError(ErrOverlap, function, "positions", "sharing elements with starts", "another slice")
	}
	if overlap(positions, offsets) {
		return argumentError(ErrOverlap, function, "positions", "sharing elements with offsets", "another slice")
	}
	if starts[0] != 0 {
		return argumentError(ErrShape, function, "starts[0]", starts[0], "0")
	}
	for b, start := range starts[:len(starts)-1] {
		end := starts[b+1]
		if end < start {
			return argumentError(ErrShape, function, indexed("starts", b+1), end, "at least starts[%d] = %d", b, start)
		}
		if offsets != nil && int64(offsets[b])+int64(end-start)-1 > math.MaxInt32 {
			return argumentError(ErrPosition, function, indexed("offsets", b), offsets[b], "at most %d for %d tokens", math.MaxInt32-int64(end-start)+1, end-start)
		}
	}
	if last := starts[len(starts)-1]; int(last) != len(positions) {
		return argumentError(ErrLength, function, "positions", elements(len(positions)), "starts[%d] = %d", len(starts)-1, last)
	}
	for b, start := range starts[:len(starts)-1] {
		var offset int32
		if offsets != nil {
			offset = offsets[b]
		}
		for t := start; t < starts[b+1]; t++ {
			positions[t] = offset + (t - start)
		}
	}
	return nil
}

// DualChunk is dual chunk attention (An et al. 2024, arXiv:2402.17463; Qwen2.5
// 1M), which bounds every relative position by the trained length. Keys are at
// their positions modulo ChunkSize-LocalSize; each query is rotated once for
// each of the five ways in which it meets keys.
type DualChunk struct {
	ChunkSize int32 // the trained length, from 1 to 2^30
	LocalSize int32 // tokens of the chunk before that are met at their true distance; from 0 to ChunkSize-1
}

// DualChunkQuery says which keys a query is rotated for.
type DualChunkQuery uint8

const (
	IntraChunk             DualChunkQuery = iota // keys of its own chunk
	SuccessiveChunk                              // keys of the chunk before, distances at most ChunkSize
	InterChunk                                   // keys of all chunks before that
	SuccessiveChunkUnbound                       // SuccessiveChunk without the bound (vLLM's query_succ_critical)
	InterChunkUnbound                            // InterChunk at growing distances (vLLM's query_inter_critical)
)

// KeyPositions writes the positions at which the keys of tokens are rotated,
//
//	keys[t] = positions[t] mod (ChunkSize-LocalSize)
//
// keys may be positions. Errors wrap ErrConfig, ErrLength, ErrOverlap or
// ErrPosition (a negative position).
func (d DualChunk) KeyPositions(keys, positions []int32) error {
	return d.fill("DualChunk.KeyPositions", "keys", keys, positions, func(p, length int32) int32 { return p })
}

// QueryPositions writes the positions at which queries are rotated for the keys
// that which names. With n = ChunkSize-LocalSize and p = positions[t] mod n,
//
//	IntraChunk              queries[t] = p
//	SuccessiveChunk         queries[t] = min(p+n, ChunkSize)
//	InterChunk              queries[t] = min(2n-1, ChunkSize)
//	SuccessiveChunkUnbound  queries[t] = p+n
//	InterChunkUnbound       queries[t] = p+ChunkSize
//
// as in vLLM's dual chunk rotary embedding. queries may be positions. Errors wrap
// ErrConfig, ErrLength, ErrOverlap or ErrPosition (a negative position).
func (d DualChunk) QueryPositions(queries, positions []int32, which DualChunkQuery) error {
	const function = "DualChunk.QueryPositions"
	var at func(p, length int32) int32
	switch which {
	case IntraChunk:
		at = func(p, length int32) int32 { return p }
	case SuccessiveChunk:
		at = func(p, length int32) int32 { return min(p+length, d.ChunkSize) }
	case InterChunk:
		at = func(p, length int32) int32 { return min(2*length-1, d.ChunkSize) }
	case SuccessiveChunkUnbound:
		at = func(p, length int32) int32 { return p + length }
	case InterChunkUnbound:
		at = func(p, length int32) int32 { return p + d.ChunkSize }
	default:
		return argumentError(ErrConfig, function, "which", which, "one of the constants of type DualChunkQuery")
	}
	return d.fill(function, "queries", queries, positions, at)
}

func (d DualChunk) fill(function, name string, results, positions []int32, at func(p, length int32) int32) error {
	const largest = 1 << 30 // so that no sum of two overflows
	if d.ChunkSize < 1 || d.ChunkSize > largest {
		return argumentError(ErrConfig, function, "d.ChunkSize", d.ChunkSize, "from 1 to 2^30")
	}
	if d.LocalSize < 0 || d.LocalSize >= d.ChunkSize {
		return argumentError(ErrConfig, function, "d.LocalSize", d.LocalSize, "from 0 to ChunkSize-1 = %d", d.ChunkSize-1)
	}
	if len(results) != len(positions) {
		return argumentError(ErrLength, function, name, elements(len(results)), "%d as in positions", len(positions))
	}
	if overlap(results, positions) && &results[0] != &positions[0] {
		return argumentError(ErrOverlap, function, name, "sharing some elements with positions", "another slice or the same")
	}
	for t, p := range positions {
		if p < 0 {
			return argumentError(ErrPosition, function, indexed("positions", t), p, "at least 0")
		}
	}
	length := d.ChunkSize - d.LocalSize
	for t, p := range positions {
		results[t] = at(p%length, length)
	}
	return nil
}

// PaddedPositions writes the positions of a sequence with padding tokens, which
// mask says are not there: those that are count on from padding+1, and the
// others are at padding.
//
//	positions[t] = padding + mask[t]*(mask[0] + ... + mask[t])
//
// So do fairseq, RoBERTa and XLM-R with their padding index, and OPT, whose
// table starts with two rows of its own, with padding 1.
//
// Errors wrap ErrLength, ErrOverlap or ErrPosition (a position that is no int32).
func PaddedPositions(positions []int32, mask []bool, padding int32) error {
	const function = "PaddedPositions"
	if len(positions) != len(mask) {
		return argumentError(ErrLength, function, "positions", elements(len(positions)), "%d as in mask", len(mask))
	}
	if int64(padding)+int64(len(mask)) > math.MaxInt32 {
		return argumentError(ErrPosition, function, "padding", padding, "at most %d for %d tokens", math.MaxInt32-int64(len(mask)), len(mask))
	}
	if memoryOverlaps(positions, mask) {
		return argumentError(ErrOverlap, function, "positions", "sharing memory with mask", "another slice")
	}
	last := padding
	for t, there := range mask {
		positions[t] = padding
		if there {
			last++
			positions[t] = last
		}
	}
	return nil
}

// DescendingPositions writes the positions of Transformer-XL's relative encoding,
// positions[i] = n-1-i for n positions, or the limit where that is less: clamp_len
// there; 0 is no limit. Errors wrap ErrLength (more than 2^31 positions) or
// ErrPosition (a negative limit).
func DescendingPositions(positions []int32, limit int32) error {
	const function = "DescendingPositions"
	if int64(len(positions)) > 1<<31 {
		return argumentError(ErrLength, function, "positions", elements(len(positions)), "at most 2^31")
	}
	if limit < 0 {
		return argumentError(ErrPosition, function, "limit", limit, "at least 0")
	}
	if limit == 0 {
		limit = math.MaxInt32
	}
	for i := range positions {
		positions[i] = int32(min(int64(len(positions)-1-i), int64(limit)))
	}
	return nil
}

// XLNetPositions writes the positions of XLNet's relative encoding, for so many
// keys, memory included: for each i
//
//	positions[i] = min(max(keys-i, -limit), limit)
//
// limit is clamp_len there; 0 is no limit. With attn_type "bi" there are
// keys+queries positions, with "uni" keys+1. backward is the second half of a batch
// with bi_data, i-keys for keys-i. So has TENER, whose positions are 2*keys without a
// limit.
//
// Errors wrap ErrLength (more than 2^31 positions) or ErrPosition (a negative
// number of keys or limit, or more than 2^31-1 keys).
func XLNetPositions(positions []int32, keys int, limit int32, backward bool) error {
	const function = "XLNetPositions"
	if int64(len(positions)) > 1<<31 {
		return argumentError(ErrLength, function, "positions", elements(len(positions)), "at most 2^31")
	}
	if keys < 0 || keys > math.MaxInt32 {
		return argumentError(ErrPosition, function, "keys", keys, "from 0 to %d", math.MaxInt32)
	}
	if limit < 0 {
		return argumentError(ErrPosition, function, "limit", limit, "at least 0")
	}
	if limit == 0 {
		limit = math.MaxInt32
	}
	for i := range positions {
		p := int32(min(max(keys-i, -int(limit)), int(limit)))
		if backward {
			p = -p
		}
		positions[i] = p
	}
	return nil
}

// DETRPositions writes the positions of the pixels of an image for
// SinusoidalDETR, [2][height*width], y before x. Of the pixels that mask says
// belong to the image, y counts those of the column down to the pixel and x those
// of the row, both from 1. mask is [height][width]; nil is an image without
// padding.
//
// scale, 2π in DETR, normalises them: with last the count at the end of the
// column, or of the row,
//
//	y = RN32(RN32(RN32(y-RN32(offset)) / RN32(last+RN32(1e-6))) * RN32(scale))
//
// 0 leaves the difference as it is. offset is 0 in DETR. It is 1/2, the centre of a
// pixel, in Deformable DETR where that normalises, and otherwise 0 there too.
//
// Errors wrap ErrShape (height or width), ErrLength, ErrOverlap or ErrConfig
// (scale, or an offset that is no number from 0 to 1).
func DETRPositions(positions []float32, mask []bool, height, width int, scale, offset float64) error {
	const function = "DETRPositions"
	if height < 1 || height > 1<<24 { // as far as float32 counts
		return argumentError(ErrShape, function, "height", height, "from 1 to 2^24")
	}
	if width < 1 || width > 1<<24 {
		return argumentError(ErrShape, function, "width", width, "from 1 to 2^24")
	}
	n, ok := multiply(height, width)
	if both, fits := multiply(2, n); !ok || !fits || len(positions) != both {
		return argumentError(ErrLength, function, "positions", elements(len(positions)), "2*%d*%d", height, width)
	}
	if mask != nil && len(mask) != n {
		return argumentError(ErrLength, function, "mask", elements(len(mask)), "nil or %d*%d", height, width)
	}
	if memoryOverlaps(positions, mask) {
		return argumentError(ErrOverlap, function, "positions", "sharing memory with mask", "another slice")
	}
	if scale != 0 && !(float32(scale) > 0 && float32(scale) <= math.MaxFloat32) {
		return argumentError(ErrConfig, function, "scale", scale, "0 or a positive float32")
	}
	if !(offset >= 0 && offset <= 1) {
		return argumentError(ErrConfig, function, "offset", offset, "from 0 to 1")
	}
	for column := range width {
		countPixels(positions[:n], mask, column, height, width, float32(scale), float32(offset))
	}
	for row := range height {
		countPixels(positions[n:], mask, row*width, width, 1, float32(scale), float32(offset))
	}
	return nil
}

// countPixels writes the positions of the pixels of a column or a row, n of them
// from first on.
func countPixels(positions []float32, mask []bool, first, n, stride int, scale, offset float32) {
	const epsilon = 1e-6
	count := 0
	for i := range n {
		if at := first + i*stride; mask == nil || mask[at] {
			count++
		}
		positions[first+i*stride] = float32(count) - offset
	}
	if scale == 0 {
		return
	}
	last := float32(count) + float32(epsilon)
	for i := range n {
		p := &positions[first+i*stride]
		*p = float32(*p/last) * scale
	}
}
