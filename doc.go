// Package posenc rotates the queries and keys of transformers by their positions
// (rotary position embedding, RoPE; Su et al. 2021, arXiv:2104.09864), with SIMD
// kernels for amd64 and arm64 and plain Go elsewhere, for float32, float16 and
// bfloat16. Results are defined to the last bit, and the same on every CPU.
//
//	rope, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: 128, Base: 500000})
//	err = posenc.Rotate(rope.At(positions),
//		posenc.View[float32]{Data: q, Heads: 32},
//		posenc.View[float32]{Data: k, Heads: 8})
//
// q is [tokens][32][128], k is [tokens][8][128], and positions has a position for each token.
// Package modelconfig makes the [RotaryConfig] of a model from its config.json or the keys of its
// GGUF file.
//
// What there is for Q and K:
//
//   - [Rotate] rotates them in place, [RotateInverse] rotates them back. Positions may be
//     fractional: [Rotary.AtFractional].
//   - [RotateInto] rotates into a cache of keys, [Shift] moves keys in a cache.
//   - [RotateIntoQuantized] rotates into caches of 8-bit numbers (Q8_0, int8, FP8),
//     values too; [ShiftQuantized] moves keys there, [Dequantize] reads them back,
//     [Hadamard] spreads outliers before.
//   - [RotateFused] normalizes and scales heads on the way ([Normalize],
//     [Scale], [QueryScales] and [LogQueryScales] are its parts).
//   - [Rotary.Rows] makes the cos/sin cache of a batch once for all layers; [NewRows]
//     takes one from elsewhere.
//   - [Rotary.CosSin], [CosSin] and [Rotary.CosSinFractional] write cosines and sines
//     of positions, [CosSinMixed] those of sums over several axes, [CosSinAngles] those
//     of any float32.
//   - [RaggedPositions] and [DualChunk] fill in positions, [GridPositions] those of the
//     patches of an image.
//   - [PermuteWeights] reorders the weights of Q and K from one layout to another.
//
// The other packages of the module:
//
//   - modelconfig reads a config.json or the keys of a GGUF file into a
//     [RotaryConfig]; frequency has the scaling rules (YaRN, Llama 3, LongRoPE ...).
//   - multimodal has the positions of prompts with images, video and sound.
//   - ropecheck says what a rotation did, from heads before and after it.
//   - absolute has what is added to embeddings: sinusoidal and learned encodings.
//   - relative has what is added to attention scores: ALiBi, T5, DeBERTa, Swin, Shaw,
//     Transformer-XL, Inkling.
//
// # Layouts
//
// The rotated elements of a head, numbered from 0, for RotaryDim 8:
//
//	HalfSplit      pairs (0,4) (1,5) (2,6) (3,7)    (x[i], x[i+RotaryDim/2])
//	Interleaved    pairs (0,1) (2,3) (4,5) (6,7)    (x[2i], x[2i+1])
//
// InterleavedToHalfSplit and HalfSplitToInterleaved read one order and write the
// other; rotated Q and K, and a cache of keys, are then in the second.
//
// The layout belongs to the weights, so the same model may need the one or the
// other, depending on its file:
//
//   - HalfSplit: GPT-NeoX; Llama, Mistral, Qwen and Gemma as Hugging Face
//     stores them; ggml's mode NEOX.
//   - Interleaved: GPT-J, CodeGen, Command R, GLM-4 and Helium; Llama as Meta
//     stores it; ggml's mode NORMAL, as for Llama in GGUF.
//
// # Shapes
//
// A [View] says where the heads of each token lie in a slice. All counts and
// strides are in elements. With T tokens and H heads of D elements:
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
// Q and K go into one call, each with its own number of heads; either may go
// alone. A batch is more tokens: its positions may start anew in the middle
// ([RaggedPositions]), and padding on the left has negative ones.
//
// # The cos/sin cache
//
// Rotate(rope.At(positions), ...) makes the cosines and sines of each token as it
// goes. The layers of a model share their positions, so it pays to make them once:
//
//	rows, err := rope.Rows(positions)          // one step of a batch
//	err = posenc.Rotate(rows.All(), q, k)      // each layer: token t takes row t
//	err = posenc.Rotate(rows.At(ids), q, k)    // token t takes row ids[t]
//
// The bits are the same. A table of the caller works alike: [NewRows]. There each head may
// have entries of its own (Heads of [RowsConfig]). With [Rows.AtSome] some of the tokens do
// not rotate.
//
// # Models
//
// Which encoding a model uses, and the call that gives it; docs/models.md,
// docs/absolute.md and docs/relative.md of the repository have more models, their
// parameters and the traps.
//
//	rotary      Llama, Mistral, Qwen, Gemma, Phi, DeepSeek,   posenc.Rotate, by modelconfig
//	            GPT-NeoX, GPT-J, gpt-oss, ModernBERT
//	sinusoidal  Vaswani's transformer, Marian, M2M-100,       absolute.AddSinusoidal
//	            Whisper's encoder, DETR, MAE, timesteps
//	learned     BERT, RoBERTa, GPT-2, OPT, BART, ViT          absolute.AddEmbeddings
//	relative    BLOOM, MPT, Jina BERT                         relative.AddALiBi
//	            T5, MPNet                                     relative.AddT5
//	            DeBERTa                                       relative.AddDeBERTa
//	            Transformer-XL, XLNet, TENER, conformers      relative.AddTransformerXL
//	            Shaw's transformer, Wav2Vec2-BERT, SpeechT5   relative.AddShaw
//	            Swin                                          relative.AddSwin
//	            Inkling                                       relative.AddBand
//
// # Glossary
//
//   - head: HeadDim elements of Q or K. RotaryDim of them, from element Offset on,
//     are rotated; the others do not change (partial rotation).
//   - pair: the two elements that are rotated together. The [Layout] says which.
//   - Base: what frequencies are powers of, 10000 or 500000, say (rope_theta).
//   - InvFreq: the inverse frequencies, RotaryDim/2 of them (inv_freq).
//   - position: one int32 for each token: in any order, repeated, negative.
//   - row: of a cos/sin cache, the cosines and sines of one position, RotaryDim/2 of
//     each. Its id is its number, from 0 on. (Other matrices have rows too, and are
//     named with them: rows of weights, of scores.)
//   - cos/sin cache: several rows, [Rows]. Its memory is a [Table].
//   - AttentionFactor: multiplies cos and sin, in YaRN and LongRoPE.
//   - axis: where tokens have several positions, time, height and width say, each
//     pair takes that of its axis (M-RoPE, vision).
//   - shift: to move rotated keys to other positions ([Shift]).
//   - slot: the token of a cache to which [RotateInto] writes.
//
// # Formulas
//
// Token t has a position, positions[t]. Pair i of a head, i < RotaryDim/2, has a
// frequency, InvFreq[i], in radians per position. The pair is rotated by their
// product, the angle:
//
//	InvFreq[i] = Base^(-2i/RotaryDim)    unless given
//	angle      = positions[t]*InvFreq[i]
//	cos, sin   = AttentionFactor*cos(angle), AttentionFactor*sin(angle)
//	x1, x2     = x1*cos - x2*sin, x2*cos + x1*sin
//
// [RotateInverse] has -sin in place of sin.
//
// # Numerics
//
// RN32 is rounding to the nearest float32, ties to even.
//
//   - With [ExactAngles], the default, cos and sin are RN32(cos(a)) and
//     RN32(sin(a)) of the real product a = position*InvFreq, InvFreq a float64.
//     That is correct rounding: always the nearest float32.
//   - With [Float32Angles] the angle is rounded first, a =
//     RN32(RN32(position)*RN32(InvFreq)), as Hugging Face transformers does; its
//     cosine and sine are then correctly rounded too. (Those of PyTorch may be
//     off by a bit, which differs from platform to platform.) Such angles are
//     coarse: their error grows with the position, to 9.3e-3 radians below
//     position 131072 for Llama 3.
//   - AttentionFactor, rounded to float32, multiplies each by RN32.
//   - Rotation is RN32(RN32(x1*cos) - RN32(x2*sin)) and RN32(RN32(x2*cos) +
//     RN32(x1*sin)). There is no fused multiply-add. Subnormals are kept.
//   - float16 and bfloat16 elements are widened, which is exact, and the result
//     of a rotation is rounded to them once more, ties to even. Cosines and sines
//     stay float32.
//   - Frequencies from Base are correctly rounded float64; with Float32Angles they
//     take the float32 steps of transformers, each correctly rounded.
//
// Two results are the same when their bits are equal or both are NaN: the sign
// and payload of a NaN may differ.
//
// Angles must be below 2^50 in magnitude, which leaves every int32 position for
// frequencies below 2^19.
//
// # Aliasing
//
// Rotation works in place. The heads of a view must not share elements, nor may
// two views of a call, though their heads may alternate in memory as in packed
// QKV. Cosines and sines that are written must not overlap each other or their input,
// a destination must share no memory with its source, and what is written none with a
// table of the caller. What overlaps is an error. Views of one call are compared head by head;
// anywhere else the whole of Data counts, gaps and rest included: cut slices to
// what is used.
//
// To compare views takes time in proportion to their heads and tokens at most, with one
// exception: two views with different strides in both of which heads and tokens
// interleave in memory, a stride being smaller than what the smaller strides reach. That
// takes seconds from some hundred thousand heads on.
//
// # Concurrency
//
// A [Rotary] and [Rows] do not change and may be shared. The package starts no
// goroutines: callers own the threads. Any range of tokens or heads may be a
// call of its own, from any goroutine, and gives the bits of one call for all;
// so does a decode step after a prefill. Only what makes a new value, errors,
// and [PermuteWeights] in place allocate; [QueryScales], [LogQueryScales],
// [CosSinMixed] and xPos do for the rare results that are next to the middle between two
// float32.
//
// Where a Rotary has several axes, positions are [axes][tokens], so that those of
// some of the tokens are not contiguous: copy them, or make the [Rows] of all and give
// each part the ids of its rows.
//
// The Go runtime cannot interrupt assembly, so kernels run over bounded chunks
// and a garbage collection never waits long. The longest is a vector of an [RMSNorm],
// of up to 1048576 elements.
//
// # Errors
//
// Errors name the function, the argument, its value and what was expected, and
// wrap [ErrConfig], [ErrLength], [ErrShape], [ErrOverlap] or [ErrPosition]. All
// checks come before the first write: after an error nothing has changed.
//
// # Choosing an implementation
//
// The fastest kernels that the CPU and the operating system support are chosen
// when the program starts; [Implementation] names them. Three things lower the
// choice, and none raises it:
//
//   - the environment variable POSENC_IMPL: avx512, avx2, neon or generic. A name
//     that is unknown, or not available here, means generic;
//   - GODEBUG, as in GODEBUG=cpu.avx2=off;
//   - the build tag purego, which leaves all assembly out.
package posenc
