// Package relative adds relative position encodings to the scores (logits) of
// attention: ALiBi, T5, DeBERTa, Swin, Shaw, Transformer-XL and Inkling, with SIMD kernels for
// amd64 and arm64 and plain Go elsewhere, for float32.
//
//	scores := relative.Scores{Data: data, Heads: heads, Queries: queries, Keys: keys, FirstQuery: keys - queries}
//	err := relative.ALiBiSlopes(slopes, 8)
//	err = relative.AddALiBi(scores, slopes, relative.CausalALiBi)
//
// Some encodings are a bias of the distance alone:
//
//   - [AddALiBi], with slopes from [ALiBiSlopes].
//   - [AddT5], with a [T5Bias] from the weights and the [T5Buckets] of a model.
//   - [AddSwin], with a [SwinBias]; [SwinCoordinates] are what the network of Swin v2
//     makes its table of.
//
// Others depend on content: vectors of relative positions are multiplied with queries or
// keys. [DotProducts] makes the products of all columns once, and a second call adds to
// each score the product that belongs to it:
//
//   - [AddShaw]; for values, [SumShaw] and then [AddValues].
//   - [AddBand], nothing beyond a number of distances.
//   - [AddTransformerXL]; [TransformerXLPositions] and [XLNetPositions] are the positions
//     of its encodings.
//   - [AddDeBERTa], with the [DeBERTaBuckets] of a model.
//
// What the vectors are made of, and encodings of embeddings, are in package absolute;
// the rotary embedding, [posenc.View] and the kinds of errors are in package posenc.
//
// # Models
//
// The call for a model; docs/relative.md of the repository has their parameters, the
// scaling of their scores, and the traps.
//
//	BLOOM, MPT, Falcon                        AddALiBi, KeyALiBi
//	Jina BERT v2                              AddALiBi, SymmetricALiBi
//	T5, mT5, Flan-T5, UMT5, MPNet             AddT5
//	Swin, Swin v2                             AddSwin
//	DeBERTa v1, v2, v3                        DotProducts, AddDeBERTa
//	Transformer-XL, XLNet, TENER,             DotProducts, AddTransformerXL
//	conformers
//	Shaw's transformer, Wav2Vec2-BERT,        DotProducts, AddShaw;
//	SeamlessM4T v2, SpeechT5                  SumShaw, AddValues
//	Inkling, Inkling 2                        DotProducts, AddBand
//
// # Shapes
//
// [Scores] is a tile of scores, [heads][queries][keys] with any strides: some heads,
// queries and keys of a whole, whose numbers say where. [Products] is a matrix for each
// head of a tile, a row for each of its queries or keys. Counts and strides are in
// elements; distances are in positions.
//
// Any tile may be a call of its own, from any goroutine, and gives the bits of one call
// for the whole. So may a decode step: one query, and the keys up to its own.
//
// # Numerics
//
// Each sum, product and quotient in a formula is rounded to the nearest float32, ties to
// even (RN32), and there is no fused multiply-add: results are defined to the last bit,
// and the same on every implementation. Two results are the same when their bits are
// equal or both are NaN. Buckets are exact. Keys are not masked.
//
// # Aliasing, memory and errors
//
// Scores are changed in place. What is written shares no element with what is read, nor
// rows of it with each other; that is an error. Slices that are only read may overlap.
// Whole slices count, gaps and rest included.
//
// Only what makes a new value allocates: NewT5Buckets, NewT5Bias, NewDeBERTaBuckets,
// NewSwinBias; and ALiBiSlopes for the rare results that are next to the middle between
// two float32. Calls work in bounded chunks, so that a garbage collection never waits
// long.
//
// Errors name the function, the argument, its value and what was expected, and wrap
// [posenc.ErrConfig], [posenc.ErrLength], [posenc.ErrShape], [posenc.ErrOverlap] or
// [posenc.ErrPosition]. All checks come before the first write: after an error nothing
// has changed. Nothing panics.
package relative
