// Package modelconfig reads a model's own description of its rotary position
// embedding into configurations for posenc: [HuggingFace] a config.json, [GGUF]
// the metadata of a GGUF file.
//
//	model, err := modelconfig.HuggingFace(config) // or GGUF(keys)
//	cfg, err := model.Rotary()
//	rope, err := posenc.NewRotary(cfg)
//	err = posenc.Rotate(rope.At(positions), q, k)
//
// A [Model] gives the [posenc.RotaryConfig] of its layers ([Model.Rotary]): layout,
// rotated slice of the head, inverse frequencies, attention factor, and the axes of
// positions. It says which layers rotate ([Model.Layers]). Where they are of several
// kinds, as in Gemma 3, or where frequencies depend on the length of the sequence
// (dynamic NTK, LongRoPE), [Model.RotaryFor] takes both as [RotaryOptions]; an engine
// for any model calls it for each of [Model.LayerTypes].
//
// Two things are not part of the rotation, and most models have neither. The output
// is wrong where a model has them and they are left out: a factor on the attention
// scores ([Model.SoftmaxScale]: YaRN of DeepSeek V2 and V3 and the models
// built like them), and one on queries that grows with the position
// ([Model.QueryScaling]: Llama 4, Ministral 3, Mistral 4).
//
// Scales of queries that a model learns are tensors of its weights
// ([Model.LearnedQueryScaling]). Models with an indexer for sparse attention rotate its queries
// and keys too, by a kind of its own ([Layer].Indexer). Frequencies that a model learns need
// the values of its tensor ([Model.LearnedFrequencies]).
//
// What is not understood is an error that names it and says what can be set
// instead: an unknown type, rule or key, keys that contradict each other, numbers
// out of range. Nothing that speaks of rotary positions is passed over.
//
// The vision tower of a multimodal model is a Model of its own
// ([HuggingFaceVision]).
//
// What some models do beside the rotation stays with the caller: use_logn_attn of
// Qwen 1, the chunks of dual_chunk_attention_config (Qwen 2.5 1M, beyond its
// chunk_size), windows of attention, and norms of Q and K.
package modelconfig
