package kernels

import "github.com/go-posenc/posenc/internal/element"

// All thresholds of the module. Where a figure is given it is of an AMD EPYC of the Zen
// 3 generation with AVX2, go1.26.8, if nothing else is said. What has none was chosen
// for its reason alone.

// MaxCallElements bounds the elements that one call of a kernel works on, so that a
// garbage collection, which cannot interrupt assembly, never waits long. go test -bench
// StopTheWorld: a median of 66 us during Rotate and CosSin, 82 us in plain Go.
const MaxCallElements = 64 << 10

// MaxCallAngles is MaxCallElements for cosines and sines of float32 angles, which cost
// more than a rotation.
const MaxCallAngles = MaxCallElements / 8

// MaxCallScores bounds a tile of scores: memory is best read in its order, so that a
// call takes whole rows where they are not too long.
const MaxCallScores = 1 << 14

// Scratch memory on the stack. Go clears it on every call, so that a call for one
// token has less.
const (
	TokenPairs = Width // pairs of a row of cosines and sines, one token
	ChunkPairs = 1024  // pairs of all rows, several tokens: 8 KiB, which leaves room in the first cache for heads
	ChunkRows  = 16    // rows

	FusedElements = 4 << 10 // that one step of a fused operation leaves to the next: they fit the first cache
	CopyBytes     = 8 << 10 // heads that wait for a non-temporal store, in the first cache
	TileKeys      = 1024    // keys of a tile of scores whose biases are made first

	SinusoidalRowsAtOnce    = shiftRows    // rows of a sinusoidal encoding: those that share a seed
	FewSinusoidalRowsAtOnce = shortRun - 1 // below it no seeds, and less memory to clear
)

const (
	// ShiftedRows is the number of rows from which on it pays to prepare the Shift of
	// a block for one call: that is 32 seeds.
	ShiftedRows = 128
	// shortRun is the rows below which those of their own are cheaper than a seed.
	shortRun = 4
	// MaxBlocks is the most blocks that SinusoidalRows takes: their seeds are 12 KiB of
	// stack.
	MaxBlocks = 8
)

// seeds reports whether rows of cosines and sines share seeds, which pays for vectors;
// plain Go makes each row by itself.
func (i Implementation) seeds() bool { return i != Generic }

// A store to a line that is in no cache reads it first. Where so much is written that
// nothing of it is still in a cache when it is used, non-temporal stores save that.
const (
	// NonTemporalTable is the entries of cos, and as many of sin: 64 MiB together.
	NonTemporalTable = 8 << 20
	// nonTemporalCopy is the bytes that RotateInto writes.
	nonTemporalCopy = 8 << 20
)

// NonTemporalCopy returns the bytes from which on RotateInto writes by non-temporal
// stores, if the implementation has them.
func (i Implementation) NonTemporalCopy() (bytes int, ok bool) {
	return nonTemporalCopy, i == AVX2 || i == AVX512
}

// TokensAtOnce returns how many tokens go to one call of a kernel that rotates the
// given pairs of heads of headDim, of memory of so many elements. One loads its row of
// cosines and sines once for all heads, and converts it for elements of 16 bits.
// Several are as many streams of memory, which pays beyond the caches, but never for
// the conversions of bfloat16, nor where half of a head or more is left out. AVX2 has
// registers for 32 pairs and passes over the heads of one token again for more: then
// two tokens pay from beyond the second cache on. The figures of the choice are in
// commits 5fe85f6 and e126019: cold 8 MiB interleaved on AVX2 1.38 -> 1.01 us a
// token; half a head at 64 MiB 916 ns with one token, 1067 with four.
func (i Implementation) TokensAtOnce(kind element.Kind, elements, pairs, headDim int) int {
	switch {
	case 4*pairs <= headDim:
		return 1
	case kind == element.Float32 && elements >= 4<<20: // 16 MiB
		return 4
	case kind == element.Float32 && elements > 256<<10 && pairs > 32 && i == AVX2: // 1 MiB
		return 2
	case kind == element.Float16 && elements >= 16<<20: // 32 MiB
		return 4
	}
	return 1
}
