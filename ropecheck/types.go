package ropecheck

import (
	"errors"

	"github.com/go-posenc/posenc"
)

// ErrValue is wrapped by errors about an element that is not finite, or that its type
// does not have.
var ErrValue = errors.New("invalid value")

// Data is heads before and after a rotation.
type Data struct {
	// Before and After are [tokens][heads][HeadDim]. Elements of 16 bits are widened, and
	// all are finite.
	Before, After []float32

	Tokens, Heads, HeadDim int // each at least 1, HeadDim at least 2

	// Type is that of the elements of After as the engine wrote them: it says what one
	// unit in the last place is, and how large the noise of rounding. Where all elements
	// are numbers of a shorter type, that is taken in place of Float32.
	Type ElementType

	// Positions are those of the tokens, [axes][tokens] where a token has several; nil:
	// unknown. They are then solved for by the frequencies of the candidates.
	Positions []int32
}

// Candidate is a rotation that may be meant: that of a kind of layers of a model, say.
type Candidate struct {
	Name   string // names it in the report: "llama", "gemma3 sliding_attention"
	Config posenc.RotaryConfig

	// Base is what a scaling rule made Config.InvFreq of: ggml multiplies angles by powers of it
	// and scales them afterwards. 0: that of Config, or of the first two frequencies.
	Base float64
}

// ElementType is a type of elements.
type ElementType uint8

const (
	Float32 ElementType = iota
	Float16
	BFloat16
)

// Report is what Check found. It marshals to JSON: numbers are finite.
type Report struct {
	// Hypotheses are what may have been done, best first: what explains the data with the
	// fewest faults. There is at least one.
	Hypotheses []Hypothesis `json:"hypotheses"`

	// Candidates compares with each candidate, in the order of the call.
	Candidates []Comparison `json:"candidates"`

	// Undecided are the questions that the data do not answer.
	Undecided []Undecided `json:"undecided"`

	// Notes are observations beside: that Type is another than that of the data, for example.
	Notes []string `json:"notes,omitempty"`

	// Noise is the residual that is taken for noise: that of the best layout and slice with
	// free angles, or of the best rotation where that leaves less.
	Noise float64 `json:"noise"`

	Tokens  int         `json:"tokens"`
	Heads   int         `json:"heads"`
	HeadDim int         `json:"head_dim"`
	Type    ElementType `json:"type"`
}

// Hypothesis is a rotation that may have been done.
type Hypothesis struct {
	// Candidate is the one from which it is derived, and Faults is what differs from it.
	// "" is none: everything was fitted.
	Candidate string  `json:"candidate,omitempty"`
	Faults    []Fault `json:"faults,omitempty"`

	Layout    posenc.Layout `json:"layout"` // in JSON its name
	Offset    int           `json:"offset"`
	RotaryDim int           `json:"rotary_dim"`

	// Inverse: the pairs were turned the other way, as posenc.RotateInverse does. Times is 2 where the
	// rotation was applied twice, 0 where nothing was rotated.
	Inverse bool `json:"inverse"`
	Times   int  `json:"times"`

	// AttentionFactor multiplied the rotated elements, Scale all elements of a head. Norm
	// says what else was done to heads.
	AttentionFactor float64 `json:"attention_factor"`
	Scale           float64 `json:"scale"`
	Norm            Norm    `json:"norm,omitempty"`

	// InvFreq are the frequencies, one for each pair: those of the candidate or fitted; nil:
	// unknown. Unknown are the pairs of which the data do not decide it. Base and Factor are
	// those of InvFreq[i] = Base^(-2i/RotaryDim)/Factor where there are such, else 0.
	InvFreq []float64 `json:"inv_freq,omitempty"`
	Unknown []int     `json:"unknown,omitempty"`
	Base    float64   `json:"base,omitempty"`
	Factor  float64   `json:"factor,omitempty"`

	// Axes is the axis from which each pair takes its position; nil: 0 for all.
	Axes []int `json:"axes,omitempty"`

	// PositionOffset was added to the positions of the call. Positions, [axes][tokens], are
	// the ones that were solved for, where none were given or those given are wrong.
	PositionOffset int     `json:"position_offset,omitempty"`
	Positions      []int32 `json:"positions,omitempty"`

	// Arithmetic is how angles, tables and products were most likely rounded; nil where
	// Residual is beyond what rounding does.
	Arithmetic *Arithmetic `json:"arithmetic,omitempty"`

	Residual float64 `json:"residual"`

	// Explains: the residual is that of the noise of the data.
	Explains bool `json:"explains"`

	// Text is one or more sentences.
	Text string `json:"text"`
}

// Norm is what was done to heads beside the rotation, other than to scale them by one number.
type Norm string

const (
	NoNorm Norm = ""
	// Each head was divided by its root mean square, times Scale; and each element multiplied by
	// a weight, before or after the rotation.
	RMSNorm         Norm = "rms"
	WeightedRMSNorm Norm = "rms with weights"
	RMSNormAfter    Norm = "rms with weights, after the rotation"

	// Each token has a scale of its own; Scale is the mean.
	TokenNorm Norm = "token"
)

// Fault is one thing that differs from a candidate.
type Fault struct {
	Aspect Aspect `json:"aspect"`
	Want   string `json:"want"` // of the candidate
	Got    string `json:"got"`
	Text   string `json:"text"` // a sentence
}

// Aspect is a part of a rotation.
type Aspect string

const (
	LayoutAspect      Aspect = "layout"      // which elements form a pair
	SliceAspect       Aspect = "slice"       // Offset and RotaryDim
	SignAspect        Aspect = "sign"        // inverse
	FactorAspect      Aspect = "factor"      // AttentionFactor
	FrequenciesAspect Aspect = "frequencies" // base, scaling rule, those of another candidate
	PositionsAspect   Aspect = "positions"   // an offset of all positions, or the positions at all
	AxesAspect        Aspect = "axes"        // which pairs follow which axis
	TimesAspect       Aspect = "times"       // not rotated, or twice
	ScaleAspect       Aspect = "scale"       // a scale or norm of whole heads
	RoundingAspect    Aspect = "rounding"    // how angles, tables and products are rounded
)

// Undecided is a question that the data do not answer.
type Undecided struct {
	Aspect Aspect `json:"aspect"`
	Text   string `json:"text"` // a sentence with the reason
}

// Comparison is of the data with one candidate.
type Comparison struct {
	Name    string  `json:"name"`
	Verdict Verdict `json:"verdict"`

	// Faults is what differs from the candidate. Where Verdict is Agrees, only roundings are:
	// a position in bfloat16, say, that makes a rotation coarser than its elements.
	Faults []Fault `json:"faults,omitempty"`

	// Residual is that of the candidate as it is, by the best of Arithmetics.
	Residual float64 `json:"residual"`

	// Arithmetics are the nearest ways to compute what the candidate says, nearest first;
	// where Verdict is Differs, with the faults. There are none where heads were normalized.
	Arithmetics []Arithmetic `json:"arithmetics,omitempty"`

	Text string `json:"text"` // one or more sentences
}

// Verdict is how data relate to a candidate.
type Verdict string

const (
	Agrees       Verdict = "agrees"    // it is this rotation; Arithmetics says how it was computed
	Noisy        Verdict = "noisy"     // it is this rotation, with noise beyond rounding
	Differs      Verdict = "differs"   // another rotation: Faults
	NotDecidable Verdict = "undecided" // the data do not tell this rotation from none
)

// Arithmetic is a way to compute a rotation, and how far the rotated elements of After are
// from it. A unit in the last place (ULP) is that of the larger element of the computed
// pair, in Report.Type: where two products almost cancel, a small element has the error of
// a large one.
type Arithmetic struct {
	Angles   Angles   `json:"angles"`
	Tables   Tables   `json:"tables"`
	Products Products `json:"products"`

	Equal   float64 `json:"equal"`        // share of the rotated elements with the same bits
	Typical float64 `json:"typical_ulps"` // root mean square of the distances, in ULPs
	Largest float64 `json:"largest_ulps"`
}

// Angles is how the angle of a position is computed.
type Angles string

const (
	ExactAngles     Angles = "exact"                    // posenc.ExactAngles
	Float32Angles   Angles = "float32"                  // posenc.Float32Angles: transformers, vLLM
	SteppedAngles   Angles = "float32 steps"            // float32, and Base^(-2i/RotaryDim) in the float32 steps of transformers
	OtherAngles     Angles = "float32 in another order" // within what angles of float32 differ by
	RunningAngles   Angles = "running"                  // float32 products, angle[i+1] = angle[i]*Base^(-2/RotaryDim): ggml
	BFloat16InvFreq Angles = "bfloat16 inv_freq"        // frequencies rounded to bfloat16
	Float16InvFreq  Angles = "float16 inv_freq"         // frequencies rounded to float16
	BFloat16Pos     Angles = "bfloat16 positions"       // positions rounded to bfloat16
	Float16Pos      Angles = "float16 positions"        // positions rounded to float16
	BFloat16Angles  Angles = "bfloat16"                 // positions, frequencies and angles rounded to bfloat16
	Float16Angles   Angles = "float16"                  // positions, frequencies and angles rounded to float16
)

// Tables is the type of cosines and sines.
type Tables string

const (
	Float32Tables  Tables = "float32"
	BFloat16Tables Tables = "bfloat16"
	Float16Tables  Tables = "float16"
)

// Products is how the products of elements with cosines and sines are added.
type Products string

const (
	SeparateProducts Products = "separate"      // each product is rounded to float32: posenc, most of PyTorch
	FusedFirst       Products = "fused first"   // fma(x1, cos, -(x2*sin)), fma(x2, cos, x1*sin)
	FusedSecond      Products = "fused second"  // fma(-x2, sin, x1*cos), fma(x1, sin, x2*cos)
	FusedCosSin      Products = "fused complex" // fma(x1, cos, -(x2*sin)), fma(x1, sin, x2*cos): complex numbers in C
	RoundedProducts  Products = "rounded"       // each product and the sum are rounded to the type of the elements: PyTorch in 16 bits
)
