package posenc

import (
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/heads"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// HadamardOptions says which elements a Hadamard transform mixes.
type HadamardOptions struct {
	HeadDim int // elements per head, a multiple of Block
	Block   int // elements that are transformed together: a power of two from 32 to 512
}

const (
	leastHadamard = 32
	mostHadamard  = 512
)

// Hadamard transforms each block of n = Block elements of the heads by the Walsh-Hadamard
// transform in natural order, in place. With y = x as float32,
//
//	y[i] = RN32(y[i]*RN32(1/sqrt(n)))
//	y[i], y[i+h] = RN32(y[i]+y[i+h]), RN32(y[i]-y[i+h])    i without bit h; h = 1, 2, 4, ..., n/2
//	x[i] = RN(y[i])
//
// RN rounds to T.
//
// The transform is orthonormal and, except for rounding, its own inverse. If you transform
// both queries and keys, their scores stay the same. It spreads outliers over a block, so
// keys of 8 bits and fewer lose less. llama.cpp transforms Q, K and V before a quantized cache; the
// float32 here are the same as in ggml's CPU and CUDA backends (ggml_compute_forward_fwht).
// DeepSeek V3.2 transforms the Q and K of its indexer.
//
// Every view has the given number of tokens. Views must not share elements. Errors wrap
// ErrConfig (options), ErrShape, ErrLength or ErrOverlap.
func Hadamard[T Element](options HadamardOptions, tokens int, xs ...View[T]) error {
	const function = "posenc.Hadamard"
	switch {
	case options.HeadDim < 1:
		return argument.Error(ErrConfig, function, "options.HeadDim", options.HeadDim, "at least 1")
	case !isHadamard(options.Block, options.HeadDim):
		return argument.Error(ErrConfig, function, "options.Block", options.Block, ofHadamard, options.HeadDim)
	case tokens < 0:
		return argument.Error(ErrShape, function, "tokens", tokens, "at least 0")
	}
	if err := view.Check(function, checked(xs), tokens, options.HeadDim); err != nil {
		return err
	}
	var memory [mostHadamard]float32
	scratch := view.Over(memory[:])
	for i := range xs {
		x := operandOf(&xs[i], options.HeadDim)
		dim, count := options.HeadDim, x.Heads
		if x.HeadStride == dim { // all heads are one vector
			dim, count = dim*count, 1
		}
		for t := range tokens {
			for h := range count {
				at := x.Token(t) + h*x.HeadStride
				if x.Kind == kernels.KindFloat32 {
					heads.HadamardRows(x.Float32s(at), options.Block, dim/options.Block)
					continue
				}
				for end := at + dim; at < end; at += options.Block {
					view.Convert(&scratch, &x, 0, at, options.Block)
					heads.HadamardRows(memory[:], options.Block, 1)
					view.Convert(&x, &scratch, at, 0, options.Block)
				}
			}
		}
	}
	return nil
}

// HadamardBlocks returns the blocks by which llama.cpp transforms the keys and the values of a cache, for the
// Hadamard of their views: for keys the largest power of two from 64 to 512 that divides keyDim, for values 64, and
// 0, no transform, where 64 does not divide the HeadDim. llama.cpp transforms those of the two that are in a
// quantized type, and none where layers have different HeadDims (llama-kv-cache.cpp, 2026). Transform the queries
// by keys once they are rotated, and the output of attention by values.
func HadamardBlocks(keyDim, valueDim int) (keys, values int) {
	if keyDim > 0 && keyDim%64 == 0 {
		keys = min(keyDim&-keyDim, mostHadamard) // the lowest bit
	}
	if valueDim > 0 && valueDim%64 == 0 {
		values = 64
	}
	return keys, values
}

// ofHadamard says what a block is to be, of a HeadDim.
const ofHadamard = "a power of two from 32 to 512 that divides HeadDim %d"

func isHadamard(block, headDim int) bool {
	return block >= leastHadamard && block <= mostHadamard && block&(block-1) == 0 && headDim%block == 0
}
