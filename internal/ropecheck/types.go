package ropecheck

import (
	"errors"

	"github.com/go-posenc/posenc"
)

// ErrValue is wrapped by errors about an element that is not finite, or that is no number of
// its type.
var ErrValue = errors.New("invalid value")

// Data is heads before and after a rotation.
type Data struct {
	// Before and After are [Tokens][Heads][HeadDim]. Widen elements of 16 bits to float32. All
	// elements are finite.
	Before, After []float32

	Tokens, Heads, HeadDim int // each at least 1, HeadDim at least 2

	// Type is the type of the elements of After as the engine wrote them. It says what one
	// unit in the last place is, and how large the noise of rounding is. If Type is Float32
	// and all elements of After are bfloat16 or float16 numbers, Check takes that type.
	Type ElementType

	// Stored says that After was read from a cache of 8-bit numbers, into which elements of Type went.
	// nil: After is what the rotation wrote.
	Stored *Stored

	// Positions are the positions of the tokens, [axes][tokens] if a token has several. nil
	// means unknown: Check then solves for them, with the frequencies of the candidates.
	Positions []int32

	// Progress is called with what is done, of all. nil means nobody asks.
	Progress func(done, all int)
}

// Candidate is a rotation that may be meant, for example that of one kind of layers of a model.
type Candidate struct {
	Name   string // names it in the report: "llama", "gemma3 sliding_attention"
	Config posenc.RotaryConfig

	// Base is the base from which a scaling rule made Config.InvFreq. Check uses it for angles
	// as ggml computes them: by powers of the base, scaled afterwards. 0 means the base that
	// the first two frequencies have. Without Config.InvFreq the base is Config.Base.
	Base float64

	// Readings are frequencies that are tried in place of those of Config.
	Readings []Reading
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
	// Hypotheses are what may have been done, best first. The best explains the data with the
	// fewest faults. There is at least one.
	Hypotheses []Hypothesis `json:"hypotheses"`

	// Candidates compares with each candidate, in the order of the call.
	Candidates []Comparison `json:"candidates"`

	// Undecided are the questions that the data do not answer.
	Undecided []Undecided `json:"undecided"`

	// Notes are other observations, for example that Type is not Data.Type.
	Notes []string `json:"notes,omitempty"`

	// Noise is the residual that Check takes for noise: that of the best layout and slice with
	// free angles, or that of the best rotation if it is less.
	Noise float64 `json:"noise"`

	// Rounding is the residual that rounding explains, to Type and to the codes of a cache.
	Rounding float64 `json:"rounding"`

	// Stored is the format of the cache that the heads were read from.
	Stored Format `json:"stored,omitempty"`

	Tokens  int         `json:"tokens"`
	Heads   int         `json:"heads"`
	HeadDim int         `json:"head_dim"`
	Type    ElementType `json:"type"`
}

// Hypothesis is a rotation that may have been done.
type Hypothesis struct {
	// Candidate names the candidate that the hypothesis starts from, and Faults says what
	// differs from it. "" means none: everything was fitted.
	Candidate string  `json:"candidate,omitempty"`
	Faults    []Fault `json:"faults,omitempty"`

	Layout    posenc.Layout `json:"layout"` // in JSON its name
	Offset    int           `json:"offset"`
	RotaryDim int           `json:"rotary_dim"`

	// Inverse says that pairs were turned the other way, as posenc.RotateInverse does. Times is
	// 1, or 2 if the rotation was applied twice, or 0 if nothing was rotated.
	Inverse bool `json:"inverse"`
	Times   int  `json:"times"`

	// AttentionFactor multiplied the rotated elements, and Scale all elements of a head. Norm
	// says what else was done to heads.
	AttentionFactor float64 `json:"attention_factor"`
	Scale           float64 `json:"scale"`
	Norm            Norm    `json:"norm,omitempty"`

	// InvFreq are the frequencies of the pairs, the candidate's or fitted ones; nil means
	// unknown. Unknown are the pairs whose frequencies the data do not decide. Base and Factor
	// are set if InvFreq[i] = Base^(-2i/RotaryDim)/Factor, else 0.
	InvFreq []float64 `json:"inv_freq,omitempty"`
	Unknown []int     `json:"unknown,omitempty"`
	Base    float64   `json:"base,omitempty"`
	Factor  float64   `json:"factor,omitempty"`

	// Axes is the axis from which each pair takes its position. nil means axis 0 for all.
	Axes []int `json:"axes,omitempty"`

	// PositionOffset was added to the positions in Data. Positions, [axes][tokens], are set if
	// Check solved for them: because Data has none, or because those in Data are wrong.
	PositionOffset int     `json:"position_offset,omitempty"`
	Positions      []int32 `json:"positions,omitempty"`

	// Arithmetic is how angles, tables and products were most likely rounded. It is nil if
	// rounding does not explain Residual.
	Arithmetic *Arithmetic `json:"arithmetic,omitempty"`

	Residual float64 `json:"residual"`

	// Explains says that Residual is no more than the noise of the data.
	Explains bool `json:"explains"`

	// Text is one or more sentences.
	Text string `json:"text"`
}

// Norm is what was done to heads besides the rotation and a scale for all of them.
type Norm string

const (
	NoNorm Norm = ""
	// Each head was divided by its root mean square and multiplied by Scale. With weights, each
	// element was also multiplied by a weight, before or after the rotation.
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
	PositionsAspect   Aspect = "positions"   // an offset of all positions, or other positions
	AxesAspect        Aspect = "axes"        // which pairs follow which axis
	TimesAspect       Aspect = "times"       // not rotated, or twice
	ScaleAspect       Aspect = "scale"       // a scale or norm of whole heads
	RoundingAspect    Aspect = "rounding"    // how angles, tables and products are rounded
	FormulaAspect     Aspect = "formula"     // which products are added
	PartAspect        Aspect = "part"        // some heads, tokens or elements alone
)

// Undecided is a question that the data do not answer.
type Undecided struct {
	Aspect Aspect `json:"aspect"`
	Text   string `json:"text"` // a sentence with the reason
}

// Comparison compares the data with one candidate.
type Comparison struct {
	Name    string  `json:"name"`
	Verdict Verdict `json:"verdict"`

	// Faults is what differs from the candidate. If Verdict is Agrees, it has only roundings
	// that make a rotation coarser than its elements, for example frequencies in bfloat16.
	Faults []Fault `json:"faults,omitempty"`

	// Residual is the residual of the candidate without faults, with the best rounding.
	Residual float64 `json:"residual"`

	// Arithmetics are the ways to compute the candidate that come nearest, nearest first. If
	// Verdict is Differs, they are computed with the faults. There are none if heads were
	// normalized.
	Arithmetics []Arithmetic `json:"arithmetics,omitempty"`

	Text string `json:"text"` // one or more sentences
}

// Verdict says whether the data are the rotation of a candidate.
type Verdict string

const (
	Agrees       Verdict = "agrees"    // it is this rotation; Arithmetics says how it was computed
	Noisy        Verdict = "noisy"     // it comes nearest to this rotation, with noise beyond rounding
	Differs      Verdict = "differs"   // another rotation: Faults
	NotDecidable Verdict = "undecided" // the data do not tell this rotation from none
)

// Arithmetic is a way to compute a rotation, and how far the rotated elements of After are
// from its result. A unit in the last place (ULP) is that of the larger element of the
// computed pair, in Report.Type, because a small element has the error of a large one if two
// products almost cancel.
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
	ExactAngles     Angles = "exact"                    // frequency.Exact
	Float32Angles   Angles = "float32"                  // frequency.Float32: transformers, vLLM
	SteppedAngles   Angles = "float32 steps"            // float32, and Base^(-2i/RotaryDim) in the float32 steps of transformers
	OtherAngles     Angles = "float32 in another order" // as near as angles of float32 are, by unknown steps
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
