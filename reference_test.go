package posenc_test

import (
	"math"
	"math/big"
	"slices"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/test/exhaustive"
	"github.com/go-posenc/posenc/internal/test/kit"
)

// What rotations are compared with: plain loops over the formulas of the
// documentation, one element after another, for elements of every type.

// plain is a rotation in words of its documentation.
type plain struct {
	in, out                    posenc.Layout // HalfSplit or Interleaved
	headDim, rotaryDim, offset int
	heads                      int          // with entries of their own; 0: all share them
	cos, sin                   [2][]float32 // of the first and of the second elements of pairs, [tokens][pairs] or [tokens][heads][pairs]
	unrotated                  []bool       // tokens that do not rotate; nil: none
}

// plainOf returns the geometry of a configuration, for which the tables are
// still to be set.
func plainOf(cfg posenc.RotaryConfig) plain {
	p := plain{headDim: cfg.HeadDim, rotaryDim: cfg.RotaryDim, offset: cfg.Offset}
	if p.rotaryDim == 0 {
		p.rotaryDim = cfg.HeadDim
	}
	orders := map[posenc.Layout][2]posenc.Layout{
		posenc.HalfSplit: {posenc.HalfSplit, posenc.HalfSplit}, posenc.Interleaved: {posenc.Interleaved, posenc.Interleaved},
		posenc.InterleavedToHalfSplit: {posenc.Interleaved, posenc.HalfSplit}, posenc.HalfSplitToInterleaved: {posenc.HalfSplit, posenc.Interleaved},
	}
	p.in, p.out = orders[cfg.Layout][0], orders[cfg.Layout][1]
	return p
}

// with returns p with tables of half width.
func (p plain) with(cos, sin []float32) plain {
	p.cos, p.sin = [2][]float32{cos, cos}, [2][]float32{sin, sin}
	return p
}

// inverse returns the rotation by the opposite angles.
func (p plain) inverse() plain {
	p.in, p.out = p.out, p.in
	for i, sin := range p.sin {
		p.sin[i] = slices.Clone(sin)
		for j := range sin {
			p.sin[i][j] = -sin[j]
		}
	}
	return p
}

// rotatePlain rotates the heads of src into dst, where token t goes to token
// slots[t] if there are slots, and marks what it writes. With rest it copies
// the rest of the heads too. src may be dst.
func rotatePlain[D, S posenc.Element](p *plain, dst []D, y *posenc.View[D], slots []int32, src []S, x *posenc.View[S], tokens int, rest bool, written []bool) {
	src = slices.Clone(src)
	pairs := p.rotaryDim / 2
	for t := range tokens {
		slot := t
		if slots != nil {
			slot = int(slots[t])
		}
		if slot < 0 {
			continue
		}
		for h := range x.Heads {
			from, to := kit.RowAt(x, t, h, p.headDim), kit.RowAt(y, slot, h, p.headDim)
			for i := range pairs {
				xa, xb := kit.PairAt(p.in, from+p.offset, i, pairs)
				ya, yb := kit.PairAt(p.out, to+p.offset, i, pairs)
				written[ya], written[yb] = true, true
				if p.unrotated != nil && p.unrotated[t] {
					dst[ya], dst[yb] = convertPlain[D](src[xa]), convertPlain[D](src[xb])
					continue
				}
				x1, x2, at := kit.Widen(src[xa]), kit.Widen(src[xb]), t*pairs+i
				if p.heads > 0 {
					at = (t*p.heads+h)*pairs + i
				}
				dst[ya] = kit.Narrow[D](float32(x1*p.cos[0][at]) - float32(x2*p.sin[0][at]))
				dst[yb] = kit.Narrow[D](float32(x2*p.cos[1][at]) + float32(x1*p.sin[1][at]))
			}
			for i := range p.headDim {
				if rest && (i < p.offset || i >= p.offset+p.rotaryDim) {
					dst[to+i] = convertPlain[D](src[from+i])
					written[to+i] = true
				}
			}
		}
	}
}

// convertPlain returns x as another type, with the same bits where it is none.
func convertPlain[D, S posenc.Element](x S) D {
	if y, ok := any(x).(D); ok {
		return y
	}
	return kit.Narrow[D](kit.Widen(x))
}

// plainTables returns the rows of positions [axes][tokens], without decay: each entry is the one
// of the position that the axis of its pair gives.
func plainTables[P int32 | float32](cfg posenc.RotaryConfig, positions []P, entry func(rounding frequency.Rounding, p, w float64) (cos, sin float32)) (cos, sin []float32) {
	invFreq, scaling, axes := kit.FrequenciesOf(cfg), float32(cfg.AttentionFactor), cfg.Axes
	if scaling == 0 {
		scaling = 1
	}
	if axes == nil {
		axes = make([]uint8, len(invFreq))
	}
	tokens := len(positions) / (int(slices.Max(axes)) + 1)
	for token := range tokens {
		for j, axis := range axes {
			c, s := entry(cfg.Rounding, float64(positions[int(axis)*tokens+token]), invFreq[j])
			cos, sin = append(cos, c*scaling), append(sin, s*scaling)
		}
	}
	return cos, sin
}

// byGeneric is an entry as package generic computes it.
func byGeneric(rounding frequency.Rounding, p, w float64) (cos, sin float32) {
	var c, s [1]float32
	if rounding == frequency.Float32 {
		generic.CosSinFloat32(c[:], s[:], []float32{float32(w)}, float32(p), 1, 1)
	} else {
		generic.CosSinExactAt(c[:], s[:], p, []float64{w}, 1, 1)
	}
	return c[0], s[0]
}

// byReals is an entry as it is defined, at a few hundred bits by math/big.
func byReals(rounding frequency.Rounding, p, w float64) (cos, sin float32) {
	angle := exhaustive.NewReal().Mul(exhaustive.RealOf(p), exhaustive.RealOf(w))
	if rounding == frequency.Float32 {
		angle.SetFloat64(float64(float32(p) * float32(w)))
	}
	realCos, realSin := exhaustive.RealCosSin(angle)
	cos, _ = realCos.Float32()
	sin, _ = realSin.Float32()
	if sin == 0 { // math/big loses its sign; a real angle of 0 has none
		sin = 0
		if angle.Signbit() && (angle.Sign() != 0 || rounding == frequency.Float32) {
			sin = float32(math.Copysign(0, -1))
		}
	}
	return cos, sin
}

// allLayouts are those of a configuration.
var allLayouts = []posenc.Layout{posenc.HalfSplit, posenc.Interleaved, posenc.InterleavedToHalfSplit, posenc.HalfSplitToInterleaved}

// rotateViewsPlain rotates the heads of views in place.
func rotateViewsPlain[T posenc.Element](p plain, xs []posenc.View[T], tokens int) {
	for i := range xs {
		rotatePlain(&p, xs[i].Data, &xs[i], nil, xs[i].Data, &xs[i], tokens, false, make([]bool, len(xs[i].Data)))
	}
}

// decaysOf returns what gives the factor of a pair at a position.
func decaysOf(x *posenc.XPos, dim int) func(pair int, p float64) float32 {
	logarithms := make([]*big.Float, dim/2)
	return func(i int, p float64) float32 {
		d := float64(dim)
		if logarithms[i] == nil {
			logarithms[i] = exhaustive.RealLogarithm(exhaustive.NewReal().Quo(exhaustive.RealOf(10*float64(i)+2*d), exhaustive.RealOf(7*d)))
		}
		distance := p - float64(x.Center)
		if x.Keys {
			distance = -distance
		}
		exponent := exhaustive.NewReal().Quo(exhaustive.NewReal().Mul(exhaustive.RealOf(distance), logarithms[i]), exhaustive.RealOf(x.ScaleBase))
		if exponent.Cmp(exhaustive.RealOf(-200)) < 0 { // e^-200 is below 2^-150
			return 0
		}
		if exponent.Cmp(exhaustive.RealOf(200)) > 0 {
			return float32(math.Inf(1))
		}
		factor, _ := exhaustive.RealExponential(exponent).Float32()
		return factor
	}
}
