// Package modelconfig reads how a model rotates its queries and keys from the model's own
// description, and returns configurations for posenc: [HuggingFace] reads a config.json,
// [GGUF] the metadata of a GGUF file.
//
//	model, err := modelconfig.HuggingFace(config) // or GGUF(keys)
//	cfg, err := model.Rotary()
//	rope, err := posenc.NewRotary(cfg)
//	err = posenc.Rotate(rope.At(positions), q, k)
//
// A [Model] returns the [posenc.RotaryConfig] of its layers ([Model.Rotary]): layout, rotated
// part of the head, inverse frequencies, attention factor, and axes of positions.
// [Model.Layers] says which layers rotate.
//
// Some models have several kinds of layers with different frequencies, as Gemma 3. In others,
// frequencies depend on the length of the sequence (dynamic NTK, LongRoPE). For both,
// [Model.RotaryFor] takes [RotaryOptions]. An engine for any model calls it once for each of
// [Model.LayerTypes].
//
// Some models also scale scores or queries. This is not part of the rotation, and without it
// their output is wrong:
//
//   - [Model.SoftmaxScale] multiplies the attention scores. DeepSeek V2 and V3, and models
//     built like them, have it with YaRN.
//   - [Model.QueryScaling] multiplies queries by a factor that grows with the position: Llama
//     4, Ministral 3, Mistral 4.
//   - [Model.LearnedQueryScaling] names the tensors of such factors that a model learns.
//
// Models with an indexer for sparse attention also rotate the indexer's queries and keys, by
// a kind of its own ([Layer].Indexer). Where a model learns its frequencies, pass the values
// of its tensor ([Model.LearnedFrequencies]).
//
// If a description is not understood, you get an error that names the key and says what you
// can set instead. This includes unknown types, rules and keys, keys that contradict each
// other, and numbers out of range. No key about rotary positions is ignored.
//
// The vision tower of a multimodal model is a separate Model ([HuggingFaceVision]).
//
// Some models do more than rotate, and this is up to the caller: use_logn_attn of Qwen 1,
// the chunks of dual_chunk_attention_config (Qwen 2.5 1M, beyond its chunk_size), attention
// windows, and norms of Q and K.
package modelconfig
