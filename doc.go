// Package posenc rotates the queries and keys of transformers by their positions: rotary
// position embedding (RoPE; Su et al. 2021, arXiv:2104.09864). It works on float32,
// float16 and bfloat16, with SIMD kernels for amd64 and arm64 and plain Go elsewhere.
// Every result is defined to the last bit and is the same on every CPU.
//
//	rope, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: 128, Layout: posenc.HalfSplit, Base: 500000})
//	err = posenc.Rotate(rope.At(positions),
//		posenc.View[float32]{Data: q, Heads: 32},
//		posenc.View[float32]{Data: k, Heads: 8})
//
// q is [tokens][32][128], k is [tokens][8][128], and positions has one position for each
// token. For a model, begin with package modelconfig: it reads a config.json or the keys of a GGUF
// file, and rotates each layer as the model does.
//
// The operations on Q and K:
//
//   - [Rotate] rotates them in place, and [RotateInverse] rotates them back. Positions may
//     be fractional: [Rotary.AtFractional]. Tokens of images have several: [Rotary.AtAxes].
//   - [RotateInto] rotates keys into a KV cache. [Shift] moves the keys of a cache to other
//     positions.
//   - [RotateIntoQuantized] rotates keys into a cache of 4 to 8 bits a number (Q8_0, Q4_0, int8,
//     FP8 and others) and stores values there. [ShiftQuantized] moves such keys, [Dequantize] reads them back,
//     and [Hadamard] spreads outliers before they are quantized. [RotateIntoPages] does the same for
//     the caches of ONNX Runtime and OpenVINO, and [DequantizePages] reads them.
//   - [RotateQuantized] rotates keys that such a cache kept before their rotation, and, by
//     [Rotary.RebaseRows], keys that other frequencies have rotated.
//   - [RotateIntoLatent] stores what latent attention (MLA) keeps of a token, [RotateIntoLatentIndexer]
//     the key of its indexer too, and [DequantizeLatent] reads both.
//   - [RotateFused] rotates, normalizes and scales heads in one pass. [Normalize] and
//     [ScaleQueries] are two of its steps; [QueryScales] and [LogQueryScales] compute factors.
//   - [Rotary.Rows] computes the cosines and sines of a batch once for all layers. [NewRows]
//     takes a table that you have already.
//   - [Rotary.CosSin], [Rotary.CosSinFractional] and [CosSin] write the cosines and sines of
//     positions. [CosSinMixed] takes angles that are sums over several axes, and
//     [CosSinAngles] any float32 angles. [Rotary.CosSinFourier] adds cosines and sines by learned
//     coefficients (FoPE).
//   - [RaggedPositions] fills in the positions of several sequences, [GridPositions] of the patches of an image, and [DualChunk] of
//     dual chunk attention.
//   - [PermuteWeights] reorders the weights of Q and K from one layout to another.
//
// The other packages of the module:
//
//   - modelconfig reads how a model rotates. docs/models.md, docs/absolute.md and docs/relative.md
//     of the repository say which encoding a model has.
//   - frequency has the scaling rules (YaRN, Llama 3, LongRoPE ...).
//   - multimodal has the positions of prompts with images, video and sound.
//   - absolute has what is added to embeddings: sinusoidal and learned encodings.
//   - relative has what is added to attention scores: ALiBi, T5, DeBERTa, Swin, Shaw,
//     Transformer-XL, Inkling.
//   - ropetest tells an engine's own tests what its rotation does wrong.
//   - cmd/posenc is a command that says what a model rotates and what an engine did.
//
// # Layouts
//
// A layout says which two elements of a head are rotated together. With elements numbered
// from 0 and RotaryDim 8:
//
//	HalfSplit      pairs (0,4) (1,5) (2,6) (3,7)    (x[i], x[i+RotaryDim/2])
//	Interleaved    pairs (0,1) (2,3) (4,5) (6,7)    (x[2i], x[2i+1])
//
// The layout belongs to the weights, so the same model needs one or the other depending on
// its file. The wrong layout gives no error and wrong output.
//
//   - HalfSplit: GPT-NeoX; Llama, Mistral, Qwen and Gemma as Hugging Face stores them;
//     ggml's mode NEOX.
//   - Interleaved: GPT-J, CodeGen, Command R, GLM-4 and Helium; Llama as Meta stores it;
//     ggml's mode NORMAL, as for Llama in GGUF.
//
// InterleavedToHalfSplit and HalfSplitToInterleaved read one order and write the other.
// The rotated Q and K, and a cache of keys, are then in the second order.
//
// # Shapes
//
// A [View] says where the heads of each token lie in a slice. All counts and strides are
// in elements. With T tokens and H heads of D elements:
//
//	[tokens][heads][dim]   View{Data: x, Heads: H}
//
//	    token 0                     token 1
//	    | head 0 | head 1 | ...     | head 0 | head 1 | ...
//
//	[heads][tokens][dim]   View{Data: x, Heads: H, TokenStride: D, HeadStride: T*D}
//
//	    head 0                      head 1
//	    | token 0 | token 1 | ...   | token 0 | token 1 | ...
//
//	packed QKV             View{Data: qkv, Heads: HQ, TokenStride: (HQ+2*HK)*D}
//	                       View{Data: qkv[HQ*D:], Heads: HK, TokenStride: (HQ+2*HK)*D}
//
//	    token 0                     token 1
//	    | Q heads | K heads | V ... | Q heads | K heads | V ...
//
//	[batch][heads][tokens][dim]   View{Data: x, Heads: H, TokenStride: D, HeadStride: T*D,
//	                                   SequenceTokens: T, SequenceStride: H*T*D}
//
//	n of C tokens, from t on      View{Data: x[t*D:], Heads: H, Tokens: n, TokenStride: D, HeadStride: C*D}
//
// A call takes all tokens of a view: as many as Data has room for, or Tokens. Make strides from the size of the
// buffer, not from the number of tokens of a step: nothing can tell those from right ones. A step without tokens
// needs no call.
//
// Q and K go into one call, each with its own number of heads. Either may go alone.
//
// A batch goes into one call too: its tokens are the tokens of all sequences, one sequence
// after another, and each token has the position it has in its own sequence.
// [RaggedPositions] fills these in. Tokens of padding need a position as well; any will
// do. With padding on the left, give it negative positions, so that the first real token
// is at 0.
//
// # The cos/sin cache
//
// Rotate(rope.At(positions), ...) computes the cosines and sines of each token in the
// call. The layers of a model share their positions, so it pays to compute them once per
// step:
//
//	rows, err := rope.Rows(positions)          // one step of a batch
//	err = posenc.Rotate(rows.All(), q, k)      // each layer: token t takes row t
//	err = posenc.Rotate(rows.At(ids), q, k)    // token t takes row ids[t]
//
// A row is the cosines and sines of one position. The result has the same bits either way.
// [NewRows] does the same with a table of your own, in which each head may have its own
// entries (Heads of [RowsConfig]). [Rows.AtSome] leaves some of the tokens unrotated.
//
// # Glossary
//
//   - head: HeadDim elements of Q or K. RotaryDim of them, starting at element Offset, are
//     rotated. The others do not change (partial rotation).
//   - pair: the two elements that are rotated together. The [Layout] says which.
//   - position: one int32 for each token. Positions may come in any order, repeat and be
//     negative.
//   - row: the cosines and sines of one position, RotaryDim/2 of each. Its id is its number
//     in the cos/sin cache, from 0. (Other matrices have rows too. They are named there:
//     rows of weights, rows of scores.)
//   - cos/sin cache: many rows, of type [Rows]. If the memory is yours, it is a [Table].
//   - axis: where tokens have several positions, for example time, height and width, each
//     pair takes the position of its axis (M-RoPE, vision models).
//   - slot: the place of a token in a KV cache, to which [RotateInto] writes.
//
// # Numerics
//
// RN32 means rounding to the nearest float32, ties to even.
//
//   - With frequency.Exact, the default, cos and sin are RN32(cos(a)) and RN32(sin(a)) of the
//     real product a = position*InvFreq, where InvFreq is a float64. They are correctly
//     rounded: always the nearest float32.
//   - With frequency.Float32 the angle is rounded first, a = RN32(RN32(position)*RN32(InvFreq)),
//     as in Hugging Face transformers. Its cosine and sine are then correctly rounded too.
//     (In PyTorch they may be off by a bit, and that bit differs between platforms.) Such
//     angles are coarse: their error grows with the position, up to 9.3e-3 radians below
//     position 131072 for Llama 3.
//   - AttentionFactor is rounded to float32. Each cos and sin is multiplied by it and
//     rounded by RN32 again.
//   - A rotation is RN32(RN32(x1*cos) - RN32(x2*sin)) and RN32(RN32(x2*cos) + RN32(x1*sin)).
//     There is no fused multiply-add. Subnormals are kept.
//   - float16 and bfloat16 elements are widened, which is exact, and the result of a
//     rotation is rounded to their type once more, ties to even. Cosines and sines stay
//     float32.
//   - Frequencies from Base are correctly rounded float64. With frequency.Float32 they take the
//     float32 steps of transformers, each correctly rounded.
//
// Two results are the same when their bits are equal or when both are NaN: the sign and
// payload of a NaN may differ.
//
// Angles must be below 2^50 in magnitude. Frequencies below 2^19 allow every int32
// position.
//
// # Aliasing
//
// Rotation works in place. These must not share memory:
//
//   - the heads of a view; two views of a call, although their heads may alternate in memory
//     as in packed QKV;
//   - cosines and sines that a call writes, with each other or with its input;
//   - a destination and its source;
//   - what a call writes, and the table of a cos/sin cache that you made.
//
// An overlap is an error. Views of one call are compared head by head. Everywhere else the
// whole of Data counts, with its gaps and its rest, so cut slices to what is used.
//
// Comparing views takes time in proportion to their heads and tokens at most. Only where heads and
// tokens interleave in both views, with different strides, it takes longer: seconds from some
// hundred thousand heads on.
//
// # Concurrency
//
// A Rotary and Rows do not change, so goroutines may share them. The package starts no
// goroutines: you own the threads. You may split a call into calls for any ranges of
// tokens or heads, on any goroutines, and get the same bits. For the same reason a decode
// step gives the bits of a prefill. With -race, kernels too report what two goroutines
// change at once.
//
// Where tokens have a position on each axis, positions are [axes][tokens], so the positions of a
// range of tokens are not contiguous. Copy them, or make the Rows of all tokens and give
// each part the ids of its rows.
//
// The Go runtime cannot interrupt assembly. Kernels run over bounded chunks, so a garbage
// collection never waits long. The longest chunk is one vector of an RMSNorm, of up to
// 1048576 elements.
//
// # Memory
//
// A Rotary takes some 35 KB for every 64 frequencies, and Rows take 4*RotaryDim bytes for
// each token. Only functions that make a new value, errors, and
// PermuteWeights in place allocate. QueryScales, LogQueryScales, CosSinMixed, CosSinFourier and xPos
// allocate too, for the rare results that are next to the middle between two float32.
//
// # Errors
//
// Errors name the function, the argument, its value and what was expected, and wrap
// ErrConfig, ErrLength, ErrShape, ErrOverlap or ErrPosition. All checks come before the
// first write: after an error nothing has changed.
//
// # Compatibility
//
// docs/compatibility.md of the repository says which packages, results and versions of Go are
// promised, and what a new version may change.
//
// # Choosing an implementation
//
// When the program starts, the package chooses the fastest kernels that the CPU and the
// operating system support. On amd64 without AVX2 that is plain Go, which is slower and
// gives the same bits. [Implementation] and [ImplementationReason] say what runs and why.
// Four things can choose slower kernels, and none can choose faster ones:
// [SetImplementation] before the first call; the environment variable POSENC_IMPL, which is
// avx512, avx2, neon or generic (any other name, or one that the machine does not have, means
// generic, and a line on stderr says so); GODEBUG, for example GODEBUG=cpu.avx2=off; and the
// build tag purego, which leaves out all assembly.
package posenc
