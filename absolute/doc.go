// Package absolute makes the position encodings that are added to the embeddings of
// tokens: sinusoidal and learned ones, of float32, float16 and bfloat16.
//
//	encoding, err := absolute.Vaswani(512)
//	err = absolute.AddSinusoidal(embeddings, encoding, positions, 1)
//
// Sinusoidal encodings (Vaswani et al. 2017, arXiv:1706.03762) are a [Sinusoidal]:
// that of a known model, as [Vaswani] and [Whisper] return it, or any other of
// [NewSinusoidal].
//
//   - [SinusoidalRows] writes rows, [SinusoidalRows64] in float64.
//   - [AddSinusoidal] scales embeddings and adds rows in the same pass.
//   - [Sinusoidal.Shift] moves rows to other positions, [Sinusoidal.ShiftMatrix]
//     writes the matrix that does.
//
// Learned encodings are rows of tables.
//
//   - [AddEmbeddings] adds rows of positions, token types and other tables.
//   - [InterpolateTable] and [InterpolateGrid] resize a table for longer sequences
//     and larger images.
//
// [PaddedPositions] and [DETRPositions] fill in the positions that models take.
//
// # Models
//
// Which call gives the encoding of a model; docs/absolute.md of the repository has
// their formulas and the traps.
//
//	Vaswani's transformer                            Vaswani, AddSinusoidal
//	Marian, Pegasus, RoFormer                        Marian
//	Transformer-XL, XLNet                            Marian, positions of package relative
//	tensor2tensor                                    Tensor2Tensor
//	fairseq, FSMT, M2M-100, NLLB, SpeechT5           Fairseq, PaddedPositions
//	Whisper's encoder                                Whisper
//	MusicGen's decoder                               MusicGen
//	timesteps of diffusion models                    Timesteps
//	MAE, ViTMAE, AIMv2, RT-DETR                      MAE
//	DETR, Deformable DETR                            DETR, DETRPositions
//	MLX                                              MLX
//	GPT-2, CLIP, BERT, ELECTRA, BART                 AddEmbeddings
//	RoBERTa, XLM-R, OPT                              AddEmbeddings, PaddedPositions
//	ViT, DINOv2 at another resolution; towers of     InterpolateGrid
//	Qwen3-VL, PaddleOCR-VL, Inkling 2, Muse
//
// # Shapes
//
// All counts are in elements. Rows and embeddings are [tokens][dim] without gaps, a
// row for each token: a batch is more tokens. Positions are one for each token, in
// any order, repeated or negative; of a [Sinusoidal] with several axes they are
// [axes][tokens]. Tables are [rows][dim], and grids of patches [height][width][dim].
//
// A destination shares no memory with positions, tables and sources: what overlaps is
// an error. AddSinusoidal, AddEmbeddings and Sinusoidal.Shift work in place.
//
// # Numerics
//
// Results are defined to the last bit, and the same on every implementation. RN, RN32
// and RN64 are rounding to the nearest element, float32 and float64, ties to even.
// Frequencies are correctly rounded float64; sines and cosines are those of the real
// product of position and frequency, correctly rounded to float32. Sums of 16-bit
// elements are in float32 and rounded once. Each function has its formula.
//
// # Errors, concurrency, implementations
//
// These are as in package [posenc], which also has [posenc.Element] and the errors
// that those here wrap. All checks come before the first write: after an error
// nothing has changed. Any range of tokens may be a call of its own, from any
// goroutine. Only the functions that return a Sinusoidal, InterpolateGrid and errors
// allocate.
package absolute
