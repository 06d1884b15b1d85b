// Package absolute makes the position encodings that are added to token embeddings:
// sinusoidal and learned encodings, in float32, float16 and bfloat16.
//
//	encoding, err := absolute.Vaswani(512)
//	err = absolute.AddSinusoidal(embeddings, encoding, positions, 1)
//
// [Vaswani], [Whisper] and other functions return the [Sinusoidal] encoding of a known model;
// [NewSinusoidal] makes any other one. [SinusoidalRows] writes one row for each position.
// [AddSinusoidal] scales embeddings and adds the rows in one pass. [Sinusoidal.Shift] moves rows
// to other positions. [PaddedPositions] and [DETRPositions] write the positions for models that
// do not simply count them.
//
// Learned encodings are rows of a table that comes with the model. [AddEmbeddings] adds rows of
// position tables, token type tables and others. [InterpolateTable] and [InterpolateGrid] resize
// a table for longer sequences and larger images.
//
// docs/absolute.md in the repository says which call gives the encoding of a model, and lists
// common mistakes.
//
// # Shapes
//
// All sizes are in elements. Embeddings and rows of an encoding are [tokens][dim] without
// gaps, one row for each token. For a batch, pass the tokens of all its sequences. There is
// one position for each token, in any order; positions may repeat or be negative. A
// [Sinusoidal] with several axes takes positions as [axes][tokens]. Tables are [rows][dim],
// and grids of patches are [height][width][dim].
//
// A destination must not share memory with positions, tables and sources; otherwise the call
// returns an error. AddSinusoidal, AddEmbeddings and Sinusoidal.Shift work in place.
//
// # Numerics
//
// Results are defined to the last bit, and are the same on every CPU. RN, RN32 and RN64
// round to the nearest value of the element type, of float32 and of float64, ties to even.
// Frequencies are correctly rounded float64. Sines and cosines are those of the exact
// product of position and frequency, correctly rounded to float32. Sums of 16-bit elements
// are computed in float32 and rounded once. Each function states its formula.
//
// # Errors, concurrency, implementations
//
// These are as in package [posenc]. Functions that return a Sinusoidal wrap ErrConfig. All checks
// come before the first write: after an error nothing has changed. Any range of tokens may be a
// separate call, from any goroutine. The functions that return a Sinusoidal, InterpolateGrid and
// errors allocate; nothing else does.
package absolute
