package posenc

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/cossin"
	"github.com/go-posenc/posenc/internal/heads"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
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

var layoutNames = [...]string{
	0: "Layout(0)", HalfSplit: "HalfSplit", Interleaved: "Interleaved",
	InterleavedToHalfSplit: "InterleavedToHalfSplit", HalfSplitToInterleaved: "HalfSplitToInterleaved",
}

// String returns the name of the constant, or Layout(n) of a value that has none.
func (l Layout) String() string {
	if int(l) < len(layoutNames) {
		return layoutNames[l]
	}
	return fmt.Sprintf("Layout(%d)", uint8(l))
}

// RotaryConfig describes the rotary position embedding of a model (RoPE, Su et al. 2021,
// arXiv:2104.09864). Axes and XPos cannot be used together.
type RotaryConfig struct {
	HeadDim         int                // elements per head
	RotaryDim       int                // elements that are rotated, even, at most 2048; 0 means HeadDim
	Offset          int                // first rotated element of a head
	Layout          Layout             // which elements form a pair
	Base            float64            // rope_theta: frequencies Base^(-2i/RotaryDim) if InvFreq is nil. Finite and above 1, with frequency.Float32 as a float32 too; 0 means 10000
	InvFreq         []float64          // inv_freq: RotaryDim/2 radians per position, each below 2^50 in magnitude; nil means from Base
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
type Rotary struct {
	head         heads.Head
	scaling      float32
	lastPosition int64 // the largest |position|, up to 2^31, whose angles stay below 2^50
	frequencies  cossin.Frequencies
	config       RotaryConfig // without zero values
}

const (
	defaultBase  = 10000
	maxRotaryDim = 2 * kernels.ChunkPairs // a row of cosines and sines fits scratch memory
)

// Config returns what the Rotary was made from, with what the zero values of NewRotary stand for:
// InvFreq has the frequencies, so that Base is 0. For a nil or zero Rotary it is the zero value.
func (r *Rotary) Config() RotaryConfig {
	if r == nil {
		return RotaryConfig{}
	}
	cfg := r.config
	cfg.InvFreq, cfg.Axes = slices.Clone(cfg.InvFreq), slices.Clone(cfg.Axes)
	if cfg.XPos != nil {
		xpos := *cfg.XPos
		cfg.XPos = &xpos
	}
	return cfg
}

// Axes returns the number of axes of positions: one more than the largest of [RotaryConfig.Axes], 1
// where that is nil. It is the first size of [axes][tokens] in [Rotary.AtAxes] and its like. For a nil or
// zero Rotary it is 0.
func (r *Rotary) Axes() int {
	if r == nil {
		return 0
	}
	return r.frequencies.Axes
}

// NewRotary checks the configuration and prepares its frequencies. It keeps no reference
// to InvFreq or Axes. Keep the result: it takes some 35 KB of memory for every 64
// frequencies. Computing the frequencies from Base takes 0.1 ms for 64 of them
// and a millisecond for 1024.
//
// The frequencies from Base are the real numbers Base^(-2i/RotaryDim), rounded to float64 once.
// With frequency.Float32 they take the float32 steps of transformers, each correctly rounded
// (PyTorch's own power function may be off by one bit). Errors wrap ErrConfig.
func NewRotary(cfg RotaryConfig) (*Rotary, error) {
	const function = "posenc.NewRotary"
	fail := func(field string, value any, expected string, args ...any) (*Rotary, error) {
		return nil, argument.Error(ErrConfig, function, "cfg."+field, value, expected, args...)
	}
	h, err := newHead(function, RowsConfig{HeadDim: cfg.HeadDim, RotaryDim: cfg.RotaryDim, Offset: cfg.Offset, Layout: cfg.Layout})
	if err != nil {
		return nil, err
	}
	dim := h.RotaryDim
	if cfg.Rounding > frequency.Float32 {
		return fail("Rounding", cfg.Rounding, "frequency.Exact or frequency.Float32")
	}
	scaling := float32(cmp.Or(cfg.AttentionFactor, 1))
	if !(scaling > 0 && scaling <= math.MaxFloat32) {
		return fail("AttentionFactor", cfg.AttentionFactor, "0 or a positive float32")
	}
	invFreq := cfg.InvFreq
	if invFreq == nil {
		ladder, err := frequency.Default(dim, cmp.Or(cfg.Base, defaultBase), cfg.Rounding)
		if err != nil {
			return fail("Base", cfg.Base, "0 or a finite number above 1, with frequency.Float32 as a float32 too")
		}
		invFreq = ladder.InvFreq
	} else if cfg.Base != 0 {
		return fail("Base", cfg.Base, "0 where InvFreq is given")
	}
	if len(invFreq) != dim/2 {
		return fail("InvFreq", argument.Elements(len(invFreq)), "RotaryDim/2 = %d", dim/2)
	}
	if cfg.Axes != nil && len(cfg.Axes) != dim/2 {
		return fail("Axes", argument.Elements(len(cfg.Axes)), "nil or RotaryDim/2 = %d", dim/2)
	}
	var decay *cossin.Decay
	if cfg.XPos != nil {
		if cfg.Axes != nil {
			return fail("Axes", argument.Elements(len(cfg.Axes)), "nil with XPos")
		}
		decay = &cossin.Decay{Center: cfg.XPos.Center, Direction: 1}
		if cfg.XPos.Keys {
			decay.Direction = -1
		}
		if decay.High, decay.Low, err = frequency.XPos(dim, cfg.XPos.ScaleBase); err != nil {
			return fail("XPos.ScaleBase", cfg.XPos.ScaleBase, "a finite number of at least 2^-50")
		}
	}
	largest, i := cossin.LargestMagnitude(invFreq)
	if !(largest < cossin.MaxAngle) {
		return nil, frequencyError(function, "cfg.InvFreq", i, invFreq[i])
	}
	r := &Rotary{
		head: h, scaling: scaling, lastPosition: cossin.LastPosition(largest),
		frequencies: cossin.NewFrequencies(invFreq, cfg.Rounding == frequency.Float32, cfg.Axes, decay),
		config:      cfg,
	}
	r.config.RotaryDim, r.config.Base, r.config.InvFreq, r.config.AttentionFactor = dim, 0, invFreq, cmp.Or(cfg.AttentionFactor, 1)
	r.config = r.Config() // of no memory of the caller
	return r, nil
}

// newHead returns the elements of a head that are rotated.
func newHead(function string, cfg RowsConfig) (heads.Head, error) {
	fail := func(field string, value any, expected string, args ...any) (heads.Head, error) {
		return heads.Head{}, argument.Error(ErrConfig, function, "cfg."+field, value, expected, args...)
	}
	if cfg.HeadDim < 1 {
		return fail("HeadDim", cfg.HeadDim, "at least 1")
	}
	dim := cmp.Or(cfg.RotaryDim, cfg.HeadDim)
	switch {
	case dim < 2 || dim%2 != 0 || dim > cfg.HeadDim:
		return fail("RotaryDim", dim, "an even number from 2 to HeadDim %d", cfg.HeadDim)
	case dim > maxRotaryDim:
		return fail("RotaryDim", dim, "at most %d", maxRotaryDim)
	case cfg.Offset < 0 || cfg.Offset > cfg.HeadDim-dim:
		return fail("Offset", cfg.Offset, "from 0 to HeadDim-RotaryDim = %d", cfg.HeadDim-dim)
	}
	orders := [...]struct{ in, out view.Order }{
		HalfSplit:              {view.HalfSplit, view.HalfSplit},
		Interleaved:            {view.Interleaved, view.Interleaved},
		InterleavedToHalfSplit: {view.Interleaved, view.HalfSplit},
		HalfSplitToInterleaved: {view.HalfSplit, view.Interleaved},
	}
	if cfg.Layout == 0 || int(cfg.Layout) >= len(orders) {
		return fail("Layout", cfg.Layout, "HalfSplit or another constant of type Layout")
	}
	order := orders[cfg.Layout]
	return heads.Head{HeadDim: cfg.HeadDim, RotaryDim: dim, Offset: cfg.Offset, In: order.in, Out: order.out}, nil
}

func frequencyError(function, name string, index int, value float64) error {
	return argument.Error(ErrConfig, function, argument.Indexed(name, index), value, "a finite number below 2^50 in magnitude")
}
