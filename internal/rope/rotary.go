package rope

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

// Layout is posenc.Layout, with the same values.
type Layout uint8

const (
	HalfSplit Layout = iota + 1
	Interleaved

	InterleavedToHalfSplit
	HalfSplitToInterleaved
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

// Config is posenc.RotaryConfig.
type Config struct {
	HeadDim         int
	RotaryDim       int
	Offset          int
	Layout          Layout
	Base            float64
	InvFreq         []float64
	AttentionFactor float64
	Rounding        frequency.Rounding
	Axes            []uint8
	XPos            *XPos
}

// XPos is posenc.XPos.
type XPos struct {
	ScaleBase float64
	Center    int32
	Keys      bool
}

// Rotary is posenc.Rotary.
type Rotary struct {
	head         heads.Head
	scaling      float32
	lastPosition int64 // the largest |position|, up to 2^31, whose angles stay below 2^50
	frequencies  cossin.Frequencies
	config       Config // without zero values
}

const (
	defaultBase  = 10000
	maxRotaryDim = 2 * kernels.ChunkPairs // a row of cosines and sines fits scratch memory
)

// Config returns a copy of what the Rotary was made from, without zero values.
func (r *Rotary) Config() Config {
	if r == nil {
		return Config{}
	}
	cfg := r.config
	cfg.InvFreq, cfg.Axes = slices.Clone(cfg.InvFreq), slices.Clone(cfg.Axes)
	if cfg.XPos != nil {
		xpos := *cfg.XPos
		cfg.XPos = &xpos
	}
	return cfg
}

// Axes is posenc.Rotary.Axes.
func (r *Rotary) Axes() int {
	if r == nil {
		return 0
	}
	return r.frequencies.Axes
}

// Head returns the rotated elements of a head.
func (r *Rotary) Head() *heads.Head { return &r.head }

// Scaling returns the attention factor.
func (r *Rotary) Scaling() float32 { return r.scaling }

// Frequencies returns what writes rows. It is for a Rotary that exists.
func (r *Rotary) Frequencies() *cossin.Frequencies { return &r.frequencies }

// New is posenc.NewRotary.
func New(function string, cfg Config) (*Rotary, error) {
	fail := func(field string, value any, expected string, args ...any) (*Rotary, error) {
		return nil, argument.Error(argument.ErrConfig, function, "cfg."+field, value, expected, args...)
	}
	h, err := NewHead(function, cfg.HeadDim, cfg.RotaryDim, cfg.Offset, cfg.Layout)
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
		return fail("Base", cfg.Base, "0 because InvFreq has the frequencies: give one of the two")
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
		return nil, FrequencyError(function, "cfg.InvFreq", i, invFreq[i])
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

// NewHead returns the elements of a head that are rotated.
func NewHead(function string, headDim, rotaryDim, offset int, layout Layout) (heads.Head, error) {
	fail := func(field string, value any, expected string, args ...any) (heads.Head, error) {
		return heads.Head{}, argument.Error(argument.ErrConfig, function, "cfg."+field, value, expected, args...)
	}
	if headDim < 1 {
		return fail("HeadDim", headDim, "at least 1")
	}
	dim := cmp.Or(rotaryDim, headDim)
	switch {
	case dim < 2 || dim%2 != 0 || dim > headDim:
		return fail("RotaryDim", dim, "an even number from 2 to HeadDim %d", headDim)
	case dim > maxRotaryDim:
		return fail("RotaryDim", dim, "at most %d", maxRotaryDim)
	case offset < 0 || offset > headDim-dim:
		return fail("Offset", offset, "from 0 to HeadDim-RotaryDim = %d", headDim-dim)
	}
	orders := [...]struct{ in, out view.Order }{
		HalfSplit:              {view.HalfSplit, view.HalfSplit},
		Interleaved:            {view.Interleaved, view.Interleaved},
		InterleavedToHalfSplit: {view.Interleaved, view.HalfSplit},
		HalfSplitToInterleaved: {view.HalfSplit, view.Interleaved},
	}
	if layout == 0 || int(layout) >= len(orders) {
		return fail("Layout", layout, "HalfSplit or another constant of type Layout")
	}
	order := orders[layout]
	return heads.Head{HeadDim: headDim, RotaryDim: dim, Offset: offset, In: order.in, Out: order.out}, nil
}

func FrequencyError(function, name string, index int, value float64) error {
	return argument.Error(argument.ErrConfig, function, argument.Indexed(name, index), value, "a finite number below 2^50 in magnitude")
}
