package modelconfig

import (
	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/gguf"
	"github.com/go-posenc/posenc/modelconfig/internal/huggingface"
)

// HuggingFace reads the config.json of a model on the Hugging Face Hub. It reads the form of
// transformers 4 (rope_theta, rope_scaling), the form of transformers 5 (rope_parameters,
// flat or by layer type), and the keys that single models have instead. A key that is absent
// or null has the default of transformers 5.23 for its model_type. For a model of images or
// audio it reads the text model, from text_config if there is one; HuggingFaceVision reads
// the vision tower.
//
// The layout is the one of the weights on the Hub. Latent attention (MLA: DeepSeek V2 and V3,
// and models built like them) splits a head into a part without positions and a rotary part.
// HeadDim is then the size of the rotary part, qk_rope_head_dim. In Q the rotary part is the
// end of each head: use a View from element qk_nope_head_dim on, with HeadStride. In K it is
// one head that all heads of Q share.
//
// HuggingFace does not guess. It returns an error for an unknown model type, an unknown rope
// type, an unknown key in rope_scaling or rope_parameters, keys that contradict each other,
// and numbers out of range. It also returns an error for a key next to these two that is
// about positions, if the type does not have it:
//
//   - rotation, by its name: rope or rotary (ropeTheta or use_mrope, but not property), theta,
//     freq_base, is_neox_style.
//   - something in its place, by its name, unless the value is false: ALiBi, xPos, NoPE, NTK,
//     FoPE, a bias or an interpolation of positions.
//   - the kind of positions (position_embedding_type).
//   - a key that position code of transformers, vLLM, SGLang or llama.cpp reads for any model
//     (long_factor, attn_scale), unless the value is false or empty, and a name that differs
//     from such a key by one letter or two (partial_rotery_factor) and that no other
//     code of theirs has. Of a key of 5 or 6 letters one may differ, of a
//     shorter one none.
//
// It ignores all other keys. docs/models.md lists types, rules and keys.
//
// A document has at most 4 MiB, 2^17 values and 64 levels. A byte order mark is ignored.
//
// options is at most one Options. Errors wrap ErrSyntax, ErrUnknown, ErrNotRotary, ErrValue or
// ErrContradiction; ErrArgument for several Options.
func HuggingFace(config []byte, options ...Options) (*Model, error) {
	return fromHuggingFaceFile("HuggingFace", config, options, huggingface.ReadText)
}

// Options are of the readers HuggingFace, HuggingFaceVision and GGUF.
type Options struct {
	// Type reads a description as that of another type: a model_type, or an architecture for
	// GGUF. A model that is built like a known one can then be read before this package knows its
	// type. Model.Type returns this type. "" means the type that the description names.
	Type string
}

// HuggingFaceVision reads the vision tower of a multimodal model from its config.json: the
// file of the whole model, which has the tower under vision_config, or the object of the
// tower alone. It treats keys, layouts, limits and errors as HuggingFace does. A tower with
// learned positions (CLIP, SigLIP) is ErrNotRotary.
//
// Each patch of an image has two positions, and positions are [2][patches]: axis 0 is the row
// of the patch, counted from the top, and axis 1 its column. RotaryConfig.Axes says which
// pair takes which axis; the order of axes is the same for all towers, whatever the model's
// own code does. Rows and columns start at 0 in each image. Each frame of a video has the
// positions of an image. If patches come row by row and n of them make a row, patch i is at
// i/n, i%n. Two groups of models differ:
//
//   - Llama 4 counts rows and columns from 1. Its class token is at 0, 0.
//   - Models that merge patches (Qwen2-VL and most others) put the patches that they merge
//     next to each other. The positions move with the patches; multimodal.PatchPositions
//     writes them in this order.
//
// Heads of d elements have these frequencies, for k < d/4:
//
//	base^(-4k/d)      for rows
//	base^(-4k/d)      for columns; Pixtral: base^(-(4k+2)/d)
//
// docs/models.md lists the towers and the order of their pairs. In no tower do frequencies
// depend on the length of the sequence.
func HuggingFaceVision(config []byte, options ...Options) (*Model, error) {
	return fromHuggingFaceFile("HuggingFaceVision", config, options, huggingface.ReadVision)
}

// GGUF reads the rotary position embedding of a model from the metadata of a
// GGUF file. keys maps metadata keys to their values as a GGUF reader returns
// them: string, bool, any integer or float type of Go, and slices of these or
// []any. If the file has tensors of frequency factors, put them into the same
// map under their names, rope_freqs.weight, rope_factors_long.weight and
// rope_factors_short.weight, as []float32 or []float64.
//
// A key of the architecture that names rotary positions (llama.rope_freq_base) is an error
// if llama.cpp does not have it. Other keys are ignored.
//
// Keys have the meaning that they have in llama.cpp. {arch} is general.architecture:
//
//	{arch}.block_count                      layers; required
//	{arch}.attention.key_length             elements per head; absent: embedding_length / attention.head_count
//	{arch}.rope.dimension_count             rotated elements, the first of a head; absent: all
//	{arch}.rope.freq_base                   base; absent: 10000
//	{arch}.rope.scaling.type                none, linear, yarn or longrope; absent: linear
//	{arch}.rope.scaling.factor              factor, in older files {arch}.rope.scale_linear; absent or 0: 1
//	{arch}.rope.scaling.attn_factor         multiplies cos and sin; absent: 1
//	{arch}.rope.scaling.original_context_length    absent: context_length
//	{arch}.rope.scaling.yarn_ext_factor     frequency.YaRNParameters.ExtrapolationFactor; absent or negative: 1
//	{arch}.rope.scaling.yarn_beta_fast      BetaFast; absent: 32 (Grok: 8)
//	{arch}.rope.scaling.yarn_beta_slow      BetaSlow; absent: 1
//	{arch}.rope.scaling.yarn_log_multiplier MScaleAllDim; DeepSeek and Mistral 4: a tenth of it
//	{arch}.rope.scaling.alpha               HunYuan: base·alpha^(headDim/(headDim-2))
//	{arch}.rope.dimension_sections          pairs of each axis: time, height, width, extra
//	rope_freqs.weight                       a divisor for each frequency
//	rope_factors_short.weight               such divisors for sequences up to original_context_length, with type longrope
//	rope_factors_long.weight                such divisors for longer sequences
//
// The layout is the one of the weights in the file. The conversion to GGUF reorders Q and K
// of Llama and similar models to Interleaved. With multi-head latent attention (DeepSeek V2
// and V3, MiniCPM3) the configuration describes only the rotated part, of
// rope.dimension_count elements. This part begins at different elements of a head in Q and
// in K: give its first element and the strides in the posenc.View.
//
// In some architectures, layers with a sliding window have rotary parameters of their own
// (freq_base_swa, dimension_count_swa, attention.key_length_swa). The kinds of layers are
// then "full_attention" and "sliding_attention"; in DeepSeek V4 they are "compress" and
// "main". Layers with an indexer for sparse attention (attention.indexer.key_length) name
// its kind in Layer.Indexer. RopeOptions.SequenceLength is llama.cpp's context length of
// a sequence.
//
// GGUF differs from llama.cpp in three places, where it follows the file or the training of
// the model:
//   - beta_fast, beta_slow and ext_factor count for every architecture. llama.cpp reads
//     them only for Grok, and the first two also for Mistral 3.
//   - All layers of Llama 4 without a window rotate. llama.cpp leaves out the last one.
//   - In Qwen3-VL, pairs beyond the three sections take the position of time, as in
//     training. In ggml they take the fourth axis, which llama.cpp sets to 0.
//
// yarn_attn_factor is accepted only if it is 1 or 1 + 0.1·ln(factor), where it changes
// nothing: llama.cpp does not read it together with YaRN.
//
// Errors wrap ErrSyntax (a value of the wrong type), ErrUnknown (an unknown architecture,
// scaling type or key under {arch}.rope), ErrNotRotary, ErrValue or ErrContradiction;
// ErrArgument for more than one Options.
func GGUF(keys map[string]any, options ...Options) (*Model, error) {
	o, err := one("GGUF", options)
	if err != nil {
		return nil, err
	}
	d, err := gguf.Read(keys, o.Type)
	if err != nil {
		return nil, err
	}
	return modelOf(d, "GGUF")
}

func fromHuggingFaceFile(function string, config []byte, options []Options, read func(function string, config []byte, modelType string) (*description.Description, error)) (*Model, error) {
	o, err := one(function, options)
	if err != nil {
		return nil, err
	}
	d, err := read(function, config, o.Type)
	if err != nil {
		return nil, err
	}
	return modelOf(d, function)
}
