package modelconfig

import (
	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
	"github.com/go-posenc/posenc/multimodal"
)

// Model is the rotary position embedding of one model, as its configuration describes it:
// which layers rotate, which elements of a head, and by what frequencies. It never changes;
// goroutines may share it.
type Model struct{ d *description.Description }

func (m *Model) of() *description.Description {
	if m == nil || m.d == nil {
		return &description.Description{}
	}
	return m.d
}

// Layer is what a hidden layer of a model does with positions. In LongCat, whose layers have
// two attentions, there is one Layer for each attention.
type Layer struct {
	// Kind is the name of the layers with the same frequencies. It is "" if all layers that
	// rotate have the same. Layers with and without an attention window have one Kind if they
	// have the same frequencies: windows are in the configuration's own keys (layer_types,
	// sliding_window_pattern).
	Kind string

	// Rotates is false for a layer that does not rotate (NoPE). [LayerRows.Layer] then leaves Q and
	// K as they are.
	Rotates bool

	// Rule says how the frequencies of the layer are made. It is zero if the layer does not rotate.
	Rule Rule

	// FrequencyFactors is the end of the name of a tensor by which the model's frequencies are
	// multiplied (LeRoPE of Mistral Large 4), for RopeOptions.FrequencyFactors. "" means none.
	FrequencyFactors string

	// Fourier has the ends of the names of two tensors, the coefficients of posenc.FourierCoefficients, if
	// the layer has Fourier position embedding (FoPE of Intern-S1-Pro): [Model.Fourier]. "" means that it has not.
	Fourier struct{ Cos, Sin string }

	// LatentAttention says that heads are only the rotary parts of latent attention (MLA): the
	// last elements of each head of Q, and one head of K that all heads of Q share.
	LatentAttention bool

	// SoftmaxScale multiplies the attention scores, in addition to the model's usual scale
	// (1/sqrt of the head size of Q in most models). It is 1 unless YaRN scales the scores of
	// latent attention (DeepSeek V2 and V3, and models built like them). It is correctly rounded.
	SoftmaxScale float64

	// QueryScaling multiplies whole queries by a factor that grows with their position, after
	// the rotation if there is one; with latent attention this includes the elements without
	// positions. posenc.QueryScales computes the factors, which are 1 for the zero value.
	// docs/keys.md has the models and keys.
	QueryScaling posenc.QueryScaling

	// LearnedQueryScaling has the ends of the names of two tensors: a scale and a bias for each
	// head, for posenc.LogQueryScales. "" means none. Mistral Large 4 has them for the attention
	// (self_attn) and, under the same names, for the indexer.
	LearnedQueryScaling struct{ Scale, Bias string }

	// DualChunk has the chunks of dual chunk attention (Qwen2.5 1M, Qwen3 2507 with 1M). The zero
	// value means none.
	DualChunk DualChunk

	// Indexer says that the layer has an indexer for sparse attention that rotates its own queries
	// and keys, by [LayerRows.Indexer]. It has the frequencies of the attention, but mostly
	// another layout or another rotated part of a head, and no SoftmaxScale. In Step 5 it has fewer
	// frequencies, of the same base.
	Indexer bool
}

// Type returns the type that the configuration names: model_type of a config.json
// ("llama", "gemma3_text"), or general.architecture of GGUF keys. If the text model has a
// configuration of its own (text_config), it is the model_type there, unless images have other
// positions than in models of that type (minicpmv4_7): multimodal.FamilyOf takes it. A nil Model
// has "".
func (m *Model) Type() string {
	d := m.of()
	if holder, _ := multimodal.FamilyOf(d.Holder); d.Holder != "" {
		if text, _ := multimodal.FamilyOf(d.ModelType); text != 0 && text != holder {
			return d.Holder
		}
	}
	return d.ModelType
}

// Layers returns one entry for each hidden layer of the model. A nil Model has none.
func (m *Model) Layers() []Layer {
	d := m.of()
	layers := make([]Layer, len(d.Layers))
	for i, l := range d.Layers {
		layer := Layer{Rotates: l.Rotates, LatentAttention: d.Latent && !d.Kinds[l.Kind].Whole, SoftmaxScale: 1, Indexer: l.Indexer}
		if l.Rotates {
			k := d.Kinds[l.Kind]
			layer.Kind, layer.SoftmaxScale, layer.FrequencyFactors = l.Kind, k.SoftmaxScale, k.Learned
			layer.Rule = Rule(k.Rule.Described)
			layer.Rule.Pairs = k.Rotary.RotaryDim / 2
			if k.Fourier {
				layer.Fourier.Cos, layer.Fourier.Sin = "rotary_emb.cos_coef", "rotary_emb.sin_coef"
			}
		}
		if d.QueryScale != nil && d.ScalesRotating == l.Rotates {
			layer.QueryScaling = *d.QueryScale
		}
		if d.ScalingTensor != "" {
			layer.LearnedQueryScaling.Scale, layer.LearnedQueryScaling.Bias = d.ScalingTensor+".scale", d.ScalingTensor+".bias"
		}
		if l.Rotates {
			c := d.DualChunk
			layer.DualChunk = DualChunk{posenc.DualChunk{ChunkSize: int32(c.ChunkSize), LocalSize: int32(c.LocalSize)}, c.OriginalPositions}
		}
		layers[i] = layer
	}
	return layers
}

// DualChunk is the dual chunk attention of a layer (dual_chunk_attention_config). In a sequence of more than
// ChunkSize-LocalSize tokens, its methods KeyPositions and QueryPositions make the positions for
// [Rope.Rows]: one for each key, and one for each query and kind of keys. Shorter sequences have
// the positions of their tokens.
type DualChunk struct {
	posenc.DualChunk

	// OriginalPositions is original_max_position_embeddings. vLLM multiplies the scores of a prompt of n
	// tokens by max(1, 1 + 0.1 ln(n/OriginalPositions)). 0 means that the configuration does not say.
	OriginalPositions int
}

// DependsOnLength reports whether the frequencies of the model depend on the length of the
// sequence, as in dynamic NTK scaling and LongRoPE. Sequences of up to beyond tokens have the
// same frequencies. For a nil Model it returns false.
func (m *Model) DependsOnLength() (beyond int, ok bool) {
	for _, k := range m.of().Kinds {
		if trained := k.Rule.Trained; trained != 0 && (!ok || trained < beyond) {
			beyond, ok = trained, true
		}
	}
	return beyond, ok
}

// modelOf fails where frequencies cannot be computed or posenc.NewRotary does not accept them.
func modelOf(d *description.Description, function string) (*Model, error) {
	for _, name := range document.SortedKeys(d.Kinds) {
		k := d.Kinds[name]
		cfg, ladder, err := configOf(&k, function, RopeOptions{})
		if err != nil {
			return nil, err
		}
		if _, err := newRotary(function, k.Source, cfg); err != nil {
			return nil, err
		}
		k.SoftmaxScale = ladder.SoftmaxScale
		d.Kinds[name] = k
	}
	return &Model{d}, nil
}

// configOf takes checked options. SequenceLength 0 means a sequence within the trained length, and
// FrequencyFactors nil factors of 1.
func configOf(k *description.Kind, function string, options RopeOptions) (posenc.RotaryConfig, frequency.Ladder, error) {
	angles, rounding := options.Rounding, frequency.Exact
	if angles == frequency.Float32 {
		rounding = frequency.Float32
	}
	ladder, err := k.Rule.Ladder(options.SequenceLength, rounding)
	if err != nil {
		return posenc.RotaryConfig{}, frequency.Ladder{}, document.ValueError(ErrValue, function, k.Source, "refused", "numbers from which frequencies can be computed (%v)", err)
	}
	for i, factor := range options.FrequencyFactors {
		if angles == frequency.Float32 {
			ladder.InvFreq[i] = float64(float32(ladder.InvFreq[i]) * float32(factor))
		} else {
			ladder.InvFreq[i] *= factor
		}
	}
	cfg := k.Rotary
	cfg.Rounding = angles
	cfg.InvFreq = ladder.InvFreq
	cfg.AttentionFactor = ladder.AttentionFactor
	if ladder.Axes != nil {
		cfg.Axes = ladder.Axes
	}
	return cfg, ladder, nil
}

// Patches returns how a vision tower counts and orders patches, from a Model of
// [HuggingFaceVision]. Of other models it returns the zero value.
func (m *Model) Patches() Patches {
	return Patches(m.of().Patches)
}

// Rule describes how the frequencies of a layer are made, for people to read. Rope has the
// frequencies themselves.
type Rule struct {
	// Name is one of these:
	//
	//   - "default": powers of the base, without scaling.
	//   - "linear", "NTK", "dynamic NTK", "NTK alpha", "NTK mixed", "yarn", "longrope",
	//     "llama3", "proportional": a scaling rule of package frequency.
	//   - "dynamic NTK of Qwen", "dynamic NTK of TeleChat": the dynamic NTK scaling of Qwen 1 and of
	//     TeleChat, in steps.
	//   - "factors": divisors in a tensor of a GGUF file, as Llama 3 and Gemma 4 have them.
	//   - "axial": the frequencies of a vision tower.
	//   - "FoPE": the first powers of the base; each pair turns by a sum over all of them.
	Name string

	Base float64

	// Pairs is the number of pairs of a head that rotate. There are as many frequencies, and
	// as many RopeOptions.FrequencyFactors if the model learns them.
	Pairs int

	// Parameters are the argument of the rule's function in package frequency:
	// LinearParameters, NTKParameters, DynamicNTKParameters, NTKAlphaParameters,
	// NTKMixedParameters, YaRNParameters, LongRoPEParameters, Llama3Parameters or
	// ProportionalParameters. With "factors" they are the divisors, a []float64; with the other
	// names nil. SequenceLength is 0. The slices are shared: do not write to them.
	Parameters any
}

// Patches says how a vision tower counts and orders the patches of an image, for the options
// of multimodal.PatchPositions.
type Patches struct {
	First    int  // the position of the first row and of the first column: options.First
	RowByRow bool // options.MergeSize is 1, for every spatial_merge_size
}

// ContextLength returns the length of the longest sequence that the configuration allows
// (max_position_embeddings, {arch}.context_length). It is 0 if the configuration does not say:
// for vision towers, some GGUF files and a nil Model.
func (m *Model) ContextLength() int { return m.of().ContextLength }
