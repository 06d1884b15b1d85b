// Package modelconfig reads how a model rotates its queries and keys from the model's own
// description, and rotates each of its layers: [HuggingFace] reads a config.json,
// [GGUF] the metadata of a GGUF file.
//
//	model, err := modelconfig.HuggingFace(config) // or GGUF(keys, tensors)
//	rope, err := model.Rope(modelconfig.RopeOptions{SequenceLength: longest})
//	rows, err := rope.Rows(positions) // of the tokens of a step; in later steps rows.Refill
//	for i, layer := range model.Layers() {
//		err = posenc.Rotate(rows.Layer(i), q, k)
//		attend(q, k, layer.SoftmaxScale) // the scale multiplies scores
//	}
//
// These lines rotate text in every model that is read without an error: models whose layers have
// several bases (Gemma 3), models some of whose layers do not rotate (SmolLM3), models of images
// (M-RoPE), models whose frequencies depend on the longest sequence. positions has one number for
// each token. A model that needs more returns an error from [Model.Rope] that says what: factors that
// it learns, for a field of [RopeOptions], or coefficients ([Model.Fourier]).
//
// The tokens of an image have a position on each of [Rope.Axes] axes: package multimodal computes
// them, and [Rope.RowsAxes] takes them.
//
// [Layer] has what is not part of the rotation and without which a model's output is wrong: what
// multiplies scores and queries. Where a layer has an indexer for sparse attention, it rotates by
// [LayerRows.Indexer].
//
// If a description is not understood, you get an error that names the key and says what you
// can set instead. This includes unknown types, rules and keys, keys that contradict each
// other, and numbers out of range. No key about rotary positions is ignored.
//
// The vision tower of a multimodal model is a separate Model ([HuggingFaceVision]).
//
// Some models do more than rotate, and this is up to the caller: the chunks of [Layer.DualChunk] (Qwen2.5 1M,
// beyond its chunk_size), attention windows, and norms of Q and K.
package modelconfig
