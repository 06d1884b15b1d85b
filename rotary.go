package posenc

import (
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/rope"
)

// Layout says which two elements of a head form a pair. There is no default: models of both
// layouts are common, and the wrong one gives wrong output without an error.
type Layout uint8

const (
	HalfSplit   Layout = iota + 1 // pairs (x[i], x[i+RotaryDim/2]): GPT-NeoX, Hugging Face Llama; ggml NEOX
	Interleaved                   // pairs (x[2i], x[2i+1]): GPT-J, Meta Llama; ggml NORMAL

	// These read one order and write the other. Rotated heads, and a cache of keys, are
	// then in the second order.

	InterleavedToHalfSplit // reads Interleaved, writes HalfSplit: Hugging Face DeepSeek V3
	HalfSplitToInterleaved // reads HalfSplit, writes Interleaved
)

// String returns the name of the constant, or Layout(n) of a value that has none.
func (l Layout) String() string { return rope.Layout(l).String() }

// RotaryConfig describes the rotary position embedding of a model (RoPE, Su et al. 2021,
// arXiv:2104.09864). Axes and XPos cannot be used together.
type RotaryConfig struct {
	HeadDim         int                // elements per head
	RotaryDim       int                // elements that are rotated, even, at most 2048; 0 means HeadDim
	Offset          int                // first rotated element of a head
	Layout          Layout             // which elements form a pair
	Base            float64            // rope_theta: frequencies Base^(-2i/RotaryDim). Finite and above 1, with frequency.Float32 as a float32 too; 0 means 10000. With InvFreq it must be 0
	InvFreq         []float64          // inv_freq: RotaryDim/2 radians per position, each below 2^50 in magnitude, in place of a Base; nil means from Base
	AttentionFactor float64            // multiplies cos and sin (YaRN, LongRoPE): positive as a float32; 0 means 1
	Rounding        frequency.Rounding // how angles are rounded
	Axes            []uint8            // the axis from which each pair takes its position ([Rotary.AtAxes]); nil means one axis for all
	XPos            *XPos              // lets pairs decay with the position; nil means no decay
}

// XPos is the decay of xPos (Sun et al. 2022, arXiv:2212.10554). It scales queries and
// keys so that scores fall with the distance. For position p and pair i, cos and sin are
// multiplied by
//
//	((2i + 0.4*RotaryDim)/(1.4*RotaryDim))^((p-Center)/ScaleBase)
//
// The factor is correctly rounded to float32, and each product is rounded once more. Keys
// take the reciprocal, so queries and keys each need a Rotary. FlashAttention sets Center
// to half the current length. Keys in a cache keep the Center with which they were
// rotated. A factor within 2^-49 of the middle between two float32 makes a call allocate.
//
// Keep positions within 69*ScaleBase of Center: within 35328 for 512. Farther away the
// factor of pair 0, which decays fastest, is not a normal float32. On one side it is
// subnormal from 69.7*ScaleBase on and 0 from 83*ScaleBase on. On the other side it is
// infinite from 70.8*ScaleBase on, and the elements multiplied by it are infinite or NaN.
// That is no error.
type XPos struct {
	ScaleBase float64 // finite, at least 2^-50; 512 in the paper
	Center    int32   // the position without decay
	Keys      bool    // the reciprocal, for keys
}

// Rotary is a rotary position embedding: the frequencies of a head and which elements they
// rotate. It does not change after NewRotary, and many goroutines may use it at once.
type Rotary rope.Rotary

// Config returns what the Rotary was made from, with what the zero values of NewRotary stand for:
// InvFreq has the frequencies, so that Base is 0. For a nil or zero Rotary it is the zero value.
func (r *Rotary) Config() RotaryConfig {
	cfg := (*rope.Rotary)(r).Config()
	return RotaryConfig{
		HeadDim: cfg.HeadDim, RotaryDim: cfg.RotaryDim, Offset: cfg.Offset, Layout: Layout(cfg.Layout),
		Base: cfg.Base, InvFreq: cfg.InvFreq, AttentionFactor: cfg.AttentionFactor, Rounding: cfg.Rounding,
		Axes: cfg.Axes, XPos: (*XPos)(cfg.XPos),
	}
}

// Axes returns the number of axes of positions: one more than the largest of [RotaryConfig.Axes], 1
// where that is nil. It is the first size of [axes][tokens] in [Rotary.AtAxes] and its like. For a nil or
// zero Rotary it is 0.
func (r *Rotary) Axes() int { return (*rope.Rotary)(r).Axes() }

// NewRotary checks the configuration and prepares its frequencies. It keeps no reference
// to InvFreq or Axes. Keep the result: it takes some 35 KB of memory for every 64
// frequencies. Computing the frequencies from Base takes 0.1 ms for 64 of them
// and a millisecond for 1024.
//
// The frequencies from Base are the real numbers Base^(-2i/RotaryDim), rounded to float64 once.
// With frequency.Float32 they take the float32 steps of transformers, each correctly rounded
// (PyTorch's own power function may be off by one bit). Errors wrap ErrConfig.
func NewRotary(cfg RotaryConfig) (*Rotary, error) {
	r, err := rope.New("posenc.NewRotary", rope.Config{
		HeadDim: cfg.HeadDim, RotaryDim: cfg.RotaryDim, Offset: cfg.Offset, Layout: rope.Layout(cfg.Layout),
		Base: cfg.Base, InvFreq: cfg.InvFreq, AttentionFactor: cfg.AttentionFactor, Rounding: cfg.Rounding,
		Axes: cfg.Axes, XPos: (*rope.XPos)(cfg.XPos),
	})
	return (*Rotary)(r), err
}
