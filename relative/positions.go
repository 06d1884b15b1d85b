package relative

import (
	"math"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/argument"
)

// DescendingPositions writes the positions of Transformer-XL's relative encoding,
// positions[i] = n-1-i for n positions, or the limit where that is less: clamp_len
// there; 0 is no limit. Errors wrap ErrLength (more than 2^31 positions) or
// ErrPosition (a negative limit).
func DescendingPositions(positions []int32, limit int32) error {
	const function = "relative.DescendingPositions"
	if int64(len(positions)) > 1<<31 {
		return argument.Error(posenc.ErrLength, function, "positions", argument.Elements(len(positions)), "at most 2^31")
	}
	if limit < 0 {
		return argument.Error(posenc.ErrPosition, function, "limit", limit, "at least 0")
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
	const function = "relative.XLNetPositions"
	if int64(len(positions)) > 1<<31 {
		return argument.Error(posenc.ErrLength, function, "positions", argument.Elements(len(positions)), "at most 2^31")
	}
	if keys < 0 || keys > math.MaxInt32 {
		return argument.Error(posenc.ErrPosition, function, "keys", keys, "from 0 to %d", math.MaxInt32)
	}
	if limit < 0 {
		return argument.Error(posenc.ErrPosition, function, "limit", limit, "at least 0")
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
