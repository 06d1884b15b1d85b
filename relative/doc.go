// Package relative adds relative position encodings to attention scores (logits):
// ALiBi, T5, DeBERTa, Swin, Shaw, Transformer-XL and Inkling. It works on float32, with SIMD
// kernels for amd64 and arm64 and plain Go elsewhere.
//
//	scores := relative.Scores{Data: data, Heads: heads, Queries: queries, Keys: keys, FirstQuery: keys - queries}
//	err := relative.ALiBiSlopes(slopes, 8)
//	err = relative.AddALiBi(scores, slopes, relative.CausalALiBi)
//
// Some encodings are a bias that depends only on the distance between query and key: [AddALiBi],
// [AddT5] and [AddSwin]. Others also depend on content: they multiply queries or keys with a
// vector for each relative position. [DotProducts] makes these products. [AddShaw], [AddBand],
// [AddTransformerXL] or [AddDeBERTa] then adds to each score the product that belongs to its
// distance. For the values of Shaw et al. there are [SumShaw] and [AddValues].
//
// Package absolute makes the sinusoidal vectors. docs/relative.md in the repository says which
// calls a model needs, how its scores are scaled, and lists common mistakes.
//
// # Shapes
//
// [Scores] describes a tile of the attention scores, [heads][queries][keys] with any strides:
// some of the heads, queries and keys of a model. [Products] is one matrix for each head of a
// tile, with a row for each of its queries or keys. Sizes and strides are in elements; distances
// are in positions.
//
// Any tile may be a separate call, from any goroutine, and gives the same bits as one call for
// all scores: also a decode step, which is a tile of one query and the keys up to its own.
//
// # Numerics
//
// Each sum, product and quotient in a formula is rounded to the nearest float32, ties to
// even (RN32). There is no fused multiply-add. Results are defined to the last bit, and are
// the same on every CPU; a NaN may have any bits. Buckets are exact. Keys are not masked:
// apply the attention mask yourself.
//
// # Aliasing, memory and errors
//
// Scores are changed in place. What a call writes must not share elements with what it
// reads, and rows that it writes must not overlap each other; otherwise it returns an error.
// Slices that are only read may overlap. The check takes whole slices, including gaps
// between rows and elements beyond the last.
//
// Only functions that return a new value allocate, and in rare cases ALiBiSlopes. Such a value
// keeps no reference to arguments and never changes; goroutines may share it. Calls work in
// bounded chunks, so that they never delay a garbage collection for long.
//
// Errors name the function, the argument, its value and what was expected. Those of functions
// that take Scores wrap [posenc.ErrShape], [posenc.ErrLength], [posenc.ErrOverlap] or
// [posenc.ErrPosition]; the others say what they wrap. All checks come before the first write:
// after an error nothing has changed. Nothing panics.
package relative
