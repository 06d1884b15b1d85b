package modelconfig

import (
	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
)

// description is what a reader makes of a document, and what a Model is computed from.
type description struct {
	modelType string
	layers    []layer
	kinds     map[string]kind // of layers that rotate, and of indexers

	format        format
	contextLength int  // 0: it does not say
	latent        bool // heads are the rotary parts of latent attention
	baseUnread    bool // transformers 5 does not read the base
	scalingUnread bool // transformers 5 does not read the rule

	patches patchOrder // of a vision tower
	traps   []string   // names of those that its type has

	queryScale     *posenc.QueryScaling // nil: none
	scalesRotating bool                 // queryScale is for layers that rotate, not for the others
	scalingTensor  string               // tensor with learned scales of queries; "": none
}

// format is what a Model was read from.
type format uint8

const (
	fromHuggingFace format = iota
	fromGGUF
)

// layer is a hidden layer: the name of its kind, which need not be one of Model.kinds if it does
// not rotate.
type layer struct {
	kind             string
	rotates, indexer bool
}

// kind is what layers of one kind have in common.
type kind struct {
	rotary posenc.RotaryConfig // HeadDim, RotaryDim, Offset, Layout and Axes
	rule   rule
	source string // the keys that the frequencies come from

	learned string // the tensor by which frequencies are multiplied; "": none

	softmaxScale float64
}

// rule makes the frequencies of a kind of layer. All sequences of up to trained tokens have
// the same frequencies; trained is 0 if sequences of any length do.
type rule struct {
	ladder    func(seqLen int, rounding frequency.Rounding) (frequency.Ladder, error)
	trained   int
	described frequencyRule
}

// inverse rotates pairs the other way: the frequencies are negative.
func (r rule) inverse() rule {
	forward := r.ladder
	r.ladder = func(seqLen int, rounding frequency.Rounding) (frequency.Ladder, error) {
		ladder, err := forward(seqLen, rounding)
		for i := range ladder.InvFreq {
			ladder.InvFreq[i] = -ladder.InvFreq[i]
		}
		return ladder, err
	}
	return r
}

// withoutSoftmaxScale is the rule of an indexer: YaRN scales only the attention's own
// scores.
func (r rule) withoutSoftmaxScale() rule {
	attention := r.ladder
	r.ladder = func(seqLen int, rounding frequency.Rounding) (frequency.Ladder, error) {
		ladder, err := attention(seqLen, rounding)
		ladder.SoftmaxScale = 1
		return ladder, err
	}
	return r
}

// anyLength is a rule of package frequency that does not depend on the length of the
// sequence.
func anyLength[P any](name string, ladder func(dim int, base float64, p P, rounding frequency.Rounding) (frequency.Ladder, error), dim int, base float64, p P) rule {
	return rule{
		ladder: func(_ int, rounding frequency.Rounding) (frequency.Ladder, error) {
			return ladder(dim, base, p, rounding)
		},
		described: frequencyRule{Name: name, Base: base, Parameters: p},
	}
}

// patchOrder says how a vision tower counts and orders the patches of an image, for the options
// of multimodal.PatchPositions.
type patchOrder struct {
	First    int  // the position of the first row and of the first column: options.First
	RowByRow bool // options.MergeSize is 1, whatever spatial_merge_size is
}

// frequencyRule describes how the frequencies of a layer are made, for people to read. Rope has the
// frequencies themselves.
type frequencyRule struct {
	// Name is one of these:
	//
	//   - "default": powers of the base, without scaling.
	//   - "linear", "NTK", "dynamic NTK", "NTK alpha", "NTK mixed", "yarn", "longrope",
	//     "llama3", "proportional": a scaling rule of package frequency.
	//   - "dynamic NTK of Qwen": the dynamic NTK scaling of Qwen 1, in steps.
	//   - "factors": divisors in a tensor of a GGUF file, as Llama 3 and Gemma 4 have them.
	//   - "axial": the frequencies of a vision tower.
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

// Bounds of posenc.NewRotary and posenc.QueryScales.
const (
	maxRotaryDim = 2048
	maxBeta      = 0x1p100
)

// Kinds of layers of models with indexers.
const (
	attentionKind = "attention" // of layers that have one kind
	indexerKind   = "indexer"
)

// Kinds of layers, as configurations name them.
const (
	fullAttention    = "full_attention"
	slidingAttention = "sliding_attention"
)

// sparseRatio is the compression of the layers of DeepSeek V4 that have an indexer.
const sparseRatio = 4

// unscaledRule returns the rule without scaling: powers of the base.
func unscaledRule(dim int, base float64) rule {
	return rule{
		ladder: func(_ int, rounding frequency.Rounding) (frequency.Ladder, error) {
			return frequency.Default(dim, base, rounding)
		},
		described: frequencyRule{Name: "default", Base: base},
	}
}

func dynamicNTK(dim int, base, factor float64, positions int) rule {
	parameters := frequency.DynamicNTKParameters{Factor: factor, MaxPositions: positions}
	return rule{
		ladder: func(seqLen int, rounding frequency.Rounding) (frequency.Ladder, error) {
			p := parameters
			p.SequenceLength = seqLen
			return frequency.DynamicNTK(dim, base, p, rounding)
		},
		trained:   positions,
		described: frequencyRule{Name: "dynamic NTK", Base: base, Parameters: parameters},
	}
}
