package ropecheck

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/argument"
)

// Check says what made data.After of data.Before, and compares it with the candidates. There
// may be none; each has HeadDim = data.HeadDim. If the data have one axis of positions and a
// candidate has several, all its axes take these positions, as in text. Check writes to none
// of its arguments.
//
// Time grows with the number of candidates, and little with that of elements: of more than 262144
// elements, 48 tokens of 8 heads are searched, and all elements are compared with what is found. On
// one architecture equal arguments give an equal report.
//
// Errors wrap posenc.ErrShape (Tokens, Heads, HeadDim), posenc.ErrLength (Before, After,
// Positions), posenc.ErrConfig (an unknown Type; a Base that is neither 0 nor a finite number
// above 1; a candidate that posenc.NewRotary refuses, that has another HeadDim, or that has
// more axes than data with several), posenc.ErrPosition (a position that a candidate cannot
// take) or ErrValue (an element that is not finite, or that is no number of Type).
func Check(data Data, candidates ...Candidate) (*Report, error) {
	if err := data.check(); err != nil {
		return nil, err
	}
	c, err := newChecker(&data, candidates)
	if err != nil {
		return nil, err
	}
	return c.run(), nil
}

// newChecker checks the candidates, of data that are right.
func newChecker(data *Data, candidates []Candidate) (*checker, error) {
	axes := max(1, len(data.Positions)/data.Tokens)
	specs := make([]*spec, len(candidates))
	for i := range candidates {
		s, err := newSpec(&candidates[i], i, data, axes)
		if err != nil {
			return nil, err
		}
		specs[i] = s
	}
	return &checker{data: data, axes: axes, candidates: specs}, nil
}

const function = "ropecheck.Check"

func (d *Data) check() error {
	for _, size := range [...]struct {
		name         string
		value, least int
	}{{"Tokens", d.Tokens, 1}, {"Heads", d.Heads, 1}, {"HeadDim", d.HeadDim, 2}} {
		if size.value < size.least {
			return argument.Error(posenc.ErrShape, function, "data."+size.name, size.value, "at least %d", size.least)
		}
	}
	if d.Type > BFloat16 {
		return argument.Error(posenc.ErrConfig, function, "data.Type", d.Type, "Float32, Float16 or BFloat16")
	}
	rows, ok := argument.Multiply(d.Tokens, d.Heads)
	n, fits := argument.Multiply(rows, d.HeadDim)
	for _, s := range [...]struct {
		name string
		data []float32
		of   ElementType
	}{{"Before", d.Before, Float32}, {"After", d.After, d.Type}} {
		name := "data." + s.name
		if !ok || !fits {
			return argument.Error(posenc.ErrLength, function, name, argument.Elements(len(s.data)), "Tokens*Heads*HeadDim = %d*%d*%d, more than an int can count", d.Tokens, d.Heads, d.HeadDim)
		}
		if len(s.data) != n {
			return argument.Error(posenc.ErrLength, function, name, argument.Elements(len(s.data)), "Tokens*Heads*HeadDim = %d*%d*%d = %d", d.Tokens, d.Heads, d.HeadDim, n)
		}
		at := func(i int) string {
			row := i / d.HeadDim
			return fmt.Sprintf("%s[%d] (token %d, head %d, element %d)", name, i, row/d.Heads, row%d.Heads, i%d.HeadDim)
		}
		if i := slices.IndexFunc(s.data, func(v float32) bool { return v-v != 0 }); i >= 0 {
			return argument.Error(ErrValue, function, at(i), s.data[i], "a finite number")
		}
		if s.of == Float32 || d.Stored != nil {
			continue
		}
		if i := slices.IndexFunc(s.data, func(v float32) bool { return s.of.round(v) != v }); i >= 0 {
			return argument.Error(ErrValue, function, at(i), s.data[i], "a number of data.Type, %v", d.Type)
		}
	}
	if d.Stored != nil {
		if err := d.Stored.check(d, n); err != nil {
			return err
		}
	}
	if d.Positions == nil {
		return nil
	}
	if len(d.Positions) == 0 || len(d.Positions)%d.Tokens != 0 || len(d.Positions)/d.Tokens > maxAxes {
		return argument.Error(posenc.ErrLength, function, "data.Positions", argument.Elements(len(d.Positions)), "nil, or [axes][tokens] of %d tokens and at most %d axes", d.Tokens, maxAxes)
	}
	return nil
}

const maxAxes = 256

// newSpec checks a candidate.
func newSpec(c *Candidate, index int, d *Data, axes int) (*spec, error) {
	name := argument.Indexed("candidates", index)
	cfg := c.Config
	fail := func(kind error, field string, value any, expected string, args ...any) (*spec, error) {
		return nil, argument.Error(kind, function, name+".Config"+field, value, expected, args...)
	}
	if c.Base != 0 && !(c.Base > 1 && c.Base <= math.MaxFloat64) {
		return nil, argument.Error(posenc.ErrConfig, function, name+".Base", c.Base, "0 or a finite number above 1")
	}
	rotary, err := posenc.NewRotary(cfg)
	if err != nil {
		return fail(posenc.ErrConfig, "", "refused", "one that posenc.NewRotary takes (%v)", err)
	}
	if cfg.HeadDim != d.HeadDim {
		return fail(posenc.ErrConfig, ".HeadDim", cfg.HeadDim, "data.HeadDim = %d", d.HeadDim)
	}
	s := &spec{name: c.Name, candidate: index, times: 1, factor: 1, xpos: cfg.XPos, headDim: cfg.HeadDim, readings: c.Readings}
	s.structure = structure{cfg.Layout, cfg.Offset, cfg.RotaryDim}
	if s.dim == 0 {
		s.dim = cfg.HeadDim
	}
	if cfg.AttentionFactor != 0 {
		s.factor = cfg.AttentionFactor
	}
	s.base = cfg.Base
	if s.invFreq = cfg.InvFreq; s.invFreq == nil {
		if s.base == 0 {
			s.base = defaultBase
		}
		s.invFreq = geometric(s.dim, s.base, 1)
	} else {
		if s.base = c.Base; s.base == 0 {
			s.base = baseOf(s.dim, s.invFreq)
		}
	}
	used := 1
	for i, axis := range cfg.Axes {
		used = max(used, int(axis)+1)
		s.axes = append(s.axes, int(axis))
		if axes > 1 && int(axis) >= axes {
			return fail(posenc.ErrConfig, ".Axes", fmt.Sprintf("%d for pair %d", axis, i), "less than the %d axes of data.Positions", axes)
		}
	}
	if d.Positions != nil {
		positions := d.Positions
		if axes == 1 && used > 1 {
			s.axes = nil
		} else if used < axes {
			positions = positions[:used*d.Tokens]
		}
		if axes > 1 || used == 1 {
			n := len(positions) / used * (s.dim / 2)
			cos := make([]float32, 2*n)
			if err := rotary.CosSinAxes(cos[:n], cos[n:], positions); err != nil {
				return nil, argument.Error(posenc.ErrPosition, function, "data.Positions", "refused", "positions that %s takes (%v)", name, err)
			}
		}
	}
	return s, nil
}

// round returns the number of the type that is nearest to x, ties to even.
func (e ElementType) round(x float32) float32 {
	switch e {
	case Float16:
		return generic.Float16ToFloat32(generic.Float32ToFloat16(x))
	case BFloat16:
		return generic.BFloat16ToFloat32(generic.Float32ToBFloat16(x))
	}
	return x
}

// digits are the bits of a significand of the type, with the first.
func (e ElementType) digits() int {
	switch e {
	case Float16:
		return 11
	case BFloat16:
		return 8
	}
	return 24
}

// ulp is one unit in the last place of x.
func (e ElementType) ulp(x float64) float64 {
	least := [...]int{-149, -24, -133}[e]
	if x == 0 {
		return math.Ldexp(1, least)
	}
	return math.Ldexp(1, max(least, math.Ilogb(x)+1-e.digits()))
}

// Floor is a residual that rounding explains: elements that are sums of two rounded
// products have relative errors of about 0.4 of 2^-digits each time that something is
// rounded, and up to five roundings with those of cosines and sines.
func (e ElementType) Floor() float64 { return math.Ldexp(1.5, -e.digits()) }

// limit is the residual up to which a rotation is right: several roundings, and those of cosines and
// sines of other libraries, and half a step of every code of a cache.
func (c *checker) limit() float64 { return 4*c.floor + c.coarse }

// typical is the residual of a right rotation: errors in a step are uniform, their root mean square is half
// of it by the root of 3.
func (c *checker) typical() float64 { return c.floor/2 + c.coarse/math.Sqrt(3) }
