// Package modelconfig reads a model's own description of its rotary position
// embedding into configurations for posenc: [HuggingFace] a config.json, [GGUF]
// the metadata of a GGUF file.
//
// A [Model] says which layers rotate ([Model.Layers]), what kinds of them there
// are ([Model.LayerTypes]), and gives each kind its [posenc.RotaryConfig]:
// layout, rotated slice of the head, frequencies, factor on cosine and sine, and
// the axes of positions. A factor on the attention scores is apart
// ([Model.SoftmaxScale]).
//
// What is not understood is an error that names it and says what can be set
// instead: an unknown type, rule or key, keys that contradict each other, numbers
// out of range. Nothing that speaks of rotary positions is passed over.
//
// A factor on queries that grows with the position is apart too
// ([Model.QueryScale]). The vision tower of a multimodal model is a Model of its
// own ([HuggingFaceVision]).
//
// What some models do beside the rotation stays with the caller: use_logn_attn of
// Qwen 1, the chunks of dual_chunk_attention_config (Qwen 2.5 1M, beyond its
// chunk_size), windows of attention, and norms of Q and K.
package modelconfig
