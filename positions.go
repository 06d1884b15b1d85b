package posenc

import (
	"math"

	"github.com/go-posenc/posenc/internal/argument"
)

// RaggedPositions fills in the positions of sequences that lie one after another. Token t
// of sequence b, starts[b] <= t < starts[b+1], is at
//
//	positions[t] = offsets[b] + t - starts[b]
//
// starts are the cumulative lengths (cu_seqlens, indptr): one more than there are sequences,
// ascending from 0 to len(positions). offsets are the positions of the first tokens: the number
// of tokens that a cache already has, or minus the number of padding tokens on the left. If
// offsets is nil, every sequence starts at 0. Errors wrap ErrLength, ErrShape (starts),
// ErrOverlap or ErrPosition (a position that does not fit an int32).
func RaggedPositions(positions, starts, offsets []int32) error {
	const function = "posenc.RaggedPositions"
	switch {
	case len(starts) < 1:
		return argument.Error(ErrLength, function, "starts", argument.Elements(0), "one more than there are sequences")
	case offsets != nil && len(offsets) != len(starts)-1:
		return argument.Error(ErrLength, function, "offsets", argument.Elements(len(offsets)), "nil or %d, one for each sequence", len(starts)-1)
	case argument.Overlap(positions, starts):
		return argument.Error(ErrOverlap, function, "positions", "sharing elements with starts", "another slice")
	case argument.Overlap(positions, offsets):
		return argument.Error(ErrOverlap, function, "positions", "sharing elements with offsets", "another slice")
	case starts[0] != 0:
		return argument.Error(ErrShape, function, "starts[0]", starts[0], "0")
	}
	for b, start := range starts[:len(starts)-1] {
		end := starts[b+1]
		if end < start {
			return argument.Error(ErrShape, function, argument.Indexed("starts", b+1), end, "at least starts[%d] = %d", b, start)
		}
		if offsets != nil && int64(offsets[b])+int64(end-start)-1 > math.MaxInt32 {
			return argument.Error(ErrPosition, function, argument.Indexed("offsets", b), offsets[b], "at most %d for %d tokens", math.MaxInt32-int64(end-start)+1, end-start)
		}
	}
	if last := starts[len(starts)-1]; int(last) != len(positions) {
		return argument.Error(ErrLength, function, "positions", argument.Elements(len(positions)), "starts[%d] = %d", len(starts)-1, last)
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

// DualChunk computes the positions of dual chunk attention (An et al. 2024,
// arXiv:2402.17463; Qwen2.5 1M), which bounds every relative position by the trained
// length. Keys are rotated at their positions modulo ChunkSize-LocalSize. Each query is
// rotated once for each of the five kinds of keys that it meets ([DualChunkQuery]).
type DualChunk struct {
	ChunkSize int32 // the trained length, from 1 to 2^30
	LocalSize int32 // distances to this many tokens at the end of the previous chunk stay exact; from 0 to ChunkSize-1
}

// DualChunkQuery says which keys a query is rotated for.
type DualChunkQuery uint8

const (
	IntraChunk             DualChunkQuery = iota // keys of its own chunk
	SuccessiveChunk                              // keys of the previous chunk, distances at most ChunkSize
	InterChunk                                   // keys of all earlier chunks
	SuccessiveChunkUnbound                       // SuccessiveChunk without the bound (vLLM's query_succ_critical)
	InterChunkUnbound                            // InterChunk at growing distances (vLLM's query_inter_critical)
)

// KeyPositions writes the positions at which the keys of tokens are rotated:
//
//	keys[t] = positions[t] mod (ChunkSize-LocalSize)
//
// keys and positions may be the same slice. Errors wrap ErrConfig, ErrLength, ErrOverlap
// or ErrPosition (a negative position).
func (d DualChunk) KeyPositions(keys, positions []int32) error {
	return d.fill("posenc.DualChunk.KeyPositions", "keys", keys, positions, IntraChunk)
}

// QueryPositions writes the positions at which queries are rotated for one kind of keys.
// With n = ChunkSize-LocalSize and p = positions[t] mod n,
//
//	IntraChunk              queries[t] = p
//	SuccessiveChunk         queries[t] = min(p+n, ChunkSize)
//	InterChunk              queries[t] = min(2n-1, ChunkSize)
//	SuccessiveChunkUnbound  queries[t] = p+n
//	InterChunkUnbound       queries[t] = p+ChunkSize
//
// as in vLLM's dual chunk rotary embedding. queries and positions may be the same slice.
// Errors wrap ErrConfig, ErrLength, ErrOverlap or ErrPosition (a negative position).
func (d DualChunk) QueryPositions(queries, positions []int32, which DualChunkQuery) error {
	return d.fill("posenc.DualChunk.QueryPositions", "queries", queries, positions, which)
}

func (d DualChunk) fill(function, name string, results, positions []int32, which DualChunkQuery) error {
	if which > InterChunkUnbound {
		return argument.Error(ErrConfig, function, "which", which, "one of the constants of type DualChunkQuery")
	}
	const largest = 1 << 30 // so that no sum of two overflows
	switch {
	case d.ChunkSize < 1 || d.ChunkSize > largest:
		return argument.Error(ErrConfig, function, "d.ChunkSize", d.ChunkSize, "from 1 to 2^30")
	case d.LocalSize < 0 || d.LocalSize >= d.ChunkSize:
		return argument.Error(ErrConfig, function, "d.LocalSize", d.LocalSize, "from 0 to ChunkSize-1 = %d", d.ChunkSize-1)
	case len(results) != len(positions):
		return argument.Error(ErrLength, function, name, argument.Elements(len(results)), "%d as in positions", len(positions))
	case argument.Overlap(results, positions) && &results[0] != &positions[0]:
		return argument.Error(ErrOverlap, function, name, "sharing some elements with positions", "positions itself or a separate slice")
	}
	for t, p := range positions {
		if p < 0 {
			return argument.Error(ErrPosition, function, argument.Indexed("positions", t), p, "at least 0")
		}
	}
	length := d.ChunkSize - d.LocalSize
	for t, p := range positions {
		p %= length
		results[t] = [...]int32{
			IntraChunk:             p,
			SuccessiveChunk:        min(p+length, d.ChunkSize),
			InterChunk:             min(2*length-1, d.ChunkSize),
			SuccessiveChunkUnbound: p + length,
			InterChunkUnbound:      p + d.ChunkSize,
		}[which]
	}
	return nil
}
