// Package description has the form in which the readers of config.json and of GGUF say what they
// read, and from which a modelconfig.Model is computed.
package description

import (
	"errors"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
)

// Description is what a reader makes of a document, and what a Model is computed from.
type Description struct {
	ModelType string
	Holder    string // the type that holds a text model; "": none
	Layers    []Layer
	Kinds     map[string]Kind // of layers that rotate, and of indexers

	GGUF          bool // it is of a GGUF file
	ContextLength int  // 0: it does not say
	Latent        bool // heads are the rotary parts of latent attention
	BaseUnread    bool // transformers 5 does not read the base
	ScalingUnread bool // transformers 5 does not read the rule

	Axes    int        // of positions by the description, also such as no pair takes; 0: it does not say
	Tower   bool       // tokens are the patches of an image
	Patches PatchOrder // of a vision tower
	Traps   []string   // names of those that its type has

	QueryScale     *posenc.QueryScaling // nil: none
	ScalesRotating bool                 // QueryScale is for layers that rotate, not for the others
	ScalingTensor  string               // tensor with learned scales of queries; "": none

	DualChunk struct{ ChunkSize, LocalSize, OriginalPositions int } // of dual chunk attention; 0: none
}

// Layer is a hidden layer: the name of its kind, which need not be one of Model.kinds if it does
// not rotate.
type Layer struct {
	Kind             string
	Rotates, Indexer bool
}

// Kind is what layers of one kind have in common.
type Kind struct {
	Rotary posenc.RotaryConfig // HeadDim, RotaryDim, Offset, Layout and Axes
	Rule   Rule
	Source string // the keys that the frequencies come from

	Learned string // the tensor by which frequencies are multiplied; "": none
	Whole   bool   // heads are whole, although the other layers have latent attention
	Fourier bool   // the frequencies are those of the sums of FoPE

	SoftmaxScale float64
}

// Rule makes the frequencies of a kind of layer. All sequences of up to trained tokens have
// the same frequencies; trained is 0 if sequences of any length do.
type Rule struct {
	Ladder    func(seqLen int, rounding frequency.Rounding) (frequency.Ladder, error)
	Trained   int
	Described FrequencyRule
}

func (r Rule) With(change func(ladder *frequency.Ladder)) Rule {
	before := r.Ladder
	r.Ladder = func(seqLen int, rounding frequency.Rounding) (frequency.Ladder, error) {
		ladder, err := before(seqLen, rounding)
		change(&ladder)
		return ladder, err
	}
	return r
}

// Spread gives a rule the pairs of a whole head, of which the first have its frequencies; the others do not turn.
func (r Rule) Spread(pairs int) Rule {
	before := r.Ladder
	r.Ladder = func(seqLen int, rounding frequency.Rounding) (frequency.Ladder, error) {
		ladder, err := before(seqLen, rounding)
		if err == nil && ladder.AttentionFactor != 1 {
			err = errors.New("an attention factor other than 1, which is not about the elements that do not rotate")
		}
		ladder.InvFreq = append(ladder.InvFreq, make([]float64, pairs-len(ladder.InvFreq))...)
		return ladder, err
	}
	return r
}

// AddIndexer adds the kind of the indexers, which take the frequencies of a kind of layers; "" is
// the only one.
func (m *Description) AddIndexer(of string, dim int, layout posenc.Layout, trailing bool) {
	k := m.Kinds[of]
	if of == "" {
		delete(m.Kinds, "")
		m.Kinds[AttentionKind] = k
		for i := range m.Layers {
			m.Layers[i].Kind = AttentionKind
		}
	}
	k.Rotary.HeadDim, k.Rotary.Layout, k.Rotary.Offset = dim, layout, 0
	if trailing {
		k.Rotary.Offset = dim - k.Rotary.RotaryDim
	}
	k.Rule = k.Rule.With(func(ladder *frequency.Ladder) { ladder.SoftmaxScale = 1 }) // YaRN scales only the attention's own scores
	m.Kinds[IndexerKind] = k
}

// AnyLength is a rule of package frequency that does not depend on the length of the
// sequence.
func AnyLength[P any](name string, ladder func(dim int, base float64, p P, rounding frequency.Rounding) (frequency.Ladder, error), dim int, base float64, p P) Rule {
	return Rule{
		Ladder: func(_ int, rounding frequency.Rounding) (frequency.Ladder, error) {
			return ladder(dim, base, p, rounding)
		},
		Described: FrequencyRule{Name: name, Base: base, Parameters: p},
	}
}

// ByLength is such a rule that depends on it beyond trained; set gives it to the parameters.
func ByLength[P any](name string, ladder func(dim int, base float64, p P, rounding frequency.Rounding) (frequency.Ladder, error), dim int, base float64, trained int, p P, set func(p *P, seqLen int)) Rule {
	rule := AnyLength(name, ladder, dim, base, p)
	rule.Trained = trained
	rule.Ladder = func(seqLen int, rounding frequency.Rounding) (frequency.Ladder, error) {
		p := p
		set(&p, seqLen)
		return ladder(dim, base, p, rounding)
	}
	return rule
}

// PatchOrder is modelconfig.Patches.
type PatchOrder struct {
	First    int
	RowByRow bool
}

// FrequencyRule is modelconfig.Rule, which says what the fields are.
type FrequencyRule struct {
	Name       string
	Base       float64
	Pairs      int
	Parameters any
}

// Bounds of posenc.NewRotary and posenc.QueryScales.
const (
	MaxRotaryDim = 2048
	MaxBeta      = 0x1p100
)

// Kinds of layers of models with indexers.
const (
	AttentionKind = "attention" // of layers that have one kind
	IndexerKind   = "indexer"
)

// Kinds of layers, as configurations name them.
const (
	FullAttention    = "full_attention"
	SlidingAttention = "sliding_attention"
)

// SparseRatio is the compression of the layers of DeepSeek V4 that have an indexer.
const SparseRatio = 4

// Plain is such a rule without parameters.
func Plain(name string, ladder func(dim int, base float64, rounding frequency.Rounding) (frequency.Ladder, error), dim int, base float64) Rule {
	return AnyLength(name, func(dim int, base float64, _ any, rounding frequency.Rounding) (frequency.Ladder, error) {
		return ladder(dim, base, rounding)
	}, dim, base, nil)
}

func DynamicNTK(dim int, base, factor float64, positions int) Rule {
	parameters := frequency.DynamicNTKParameters{Factor: factor, MaxPositions: positions}
	return ByLength("dynamic NTK", frequency.DynamicNTK, dim, base, positions, parameters, func(p *frequency.DynamicNTKParameters, seqLen int) { p.SequenceLength = seqLen })
}
