package posenc

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/cossin"
	"github.com/go-posenc/posenc/internal/view"
)

// RebaseRows computes the rows that turn keys which another Rotary, from, has rotated into what r makes
// of them: other frequencies, in the middle of a conversation (LongRoPE beyond its original
// length, dynamic NTK), or a corrected base. rotated are the angles by which the keys were rotated,
// from.At(positions) or from.AtAxes(positions). [Rotate] by the rows turns keys in place, and
// [RotateQuantized] those of a quantized cache. For pair i of token t
//
//	c = RN32(RN32(cos(angle)) * RN32(f))    angle = positions[t]*r.InvFreq[i] - positions[t]*from.InvFreq[i]
//	s = RN32(RN32(sin(angle)) * RN32(f))    f = the float64 r.AttentionFactor/from.AttentionFactor
//
// The difference is a real number: nothing is rounded before the cosine. With frequency.Float32 it is the
// difference of the two float32 angles. So float32 keys differ from keys that r rotated anew by the
// rounding of one rotation more, and by that of f. Elements that do not rotate have no attention
// factor, and stay.
//
// r and from rotate the same elements of heads, in keys of the same order, by the same axes, without
// XPos. The rows take 60 to 100 times as long as rows of [Rotary.Rows]; all layers with these
// frequencies share them. Refill does not take them. Errors wrap ErrConfig (r, rotated, an f that is no
// positive float32), ErrLength or ErrPosition: the magnitudes of both angles add up to less than 2^50.
func (r *Rotary) RebaseRows(rotated Angles) (*Rows, error) {
	const function = "posenc.Rotary.RebaseRows"
	if err := r.checkExists(function); err != nil {
		return nil, err
	}
	tokens, err := rotated.checkMoved(function, "rotated", "positions")
	if err != nil {
		return nil, err
	}
	from, positions := rotated.rotary, rotated.of
	h, other := r.head, from.head
	h.In, other.In = h.Out, other.Out // of the keys in the cache
	switch {
	case h != other || !slices.Equal(r.config.Axes, from.config.Axes):
		return nil, argument.Error(ErrConfig, function, "rotated", fmt.Sprintf("of other heads, pairs or axes: %d, %d from %d on, %v", other.HeadDim, other.RotaryDim, other.Offset, from.config.Layout), "as in r: %d, %d from %d on, %v", h.HeadDim, h.RotaryDim, h.Offset, r.config.Layout)
	case r.frequencies.Decays():
		return nil, argument.Error(ErrConfig, function, "r", "a Rotary with XPos", "a Rotary without XPos")
	}
	factor := float32(r.config.AttentionFactor / from.config.AttentionFactor)
	if !(factor > 0 && factor <= math.MaxFloat32) {
		return nil, argument.Error(ErrConfig, function, "the AttentionFactor of r by that of rotated", factor, "a positive float32")
	}
	largest, _ := cossin.LargestMagnitude(r.config.InvFreq)
	more, _ := cossin.LargestMagnitude(from.config.InvFreq)
	if err := checkPositions(function, "positions", positions, cossin.LastPosition(largest+more)); err != nil {
		return nil, err
	}
	pairs := h.RotaryDim / 2
	n, ok := argument.Multiply(tokens, 2*pairs)
	if _, fits := argument.Multiply(n, 4); !ok || !fits {
		return nil, argument.Error(ErrLength, function, "positions", argument.Elements(len(positions)), "fewer: an int cannot count the bytes of their rows, %d each", 8*pairs)
	}
	rows := &Rows{head: h, count: tokens, inPlace: true}
	memory := make([]float32, n)
	cos, sin := memory[:n/2], memory[n/2:]
	for t := range tokens {
		for i := range pairs {
			p := positions[t]
			if rotated.how == byAxes && r.config.Axes != nil {
				p = positions[int(r.config.Axes[i])*tokens+t]
			}
			to, back := r.terms(p, i), from.terms(p, i)
			at := t*pairs + i
			if cos[at] = 1; to != back {
				cossin.WriteSums(cos[at:at+1], sin[at:at+1], []float32{to.high, to.low, -back.high, -back.low}, []float64{to.factor, to.factor, back.factor, back.factor}, 4, 1, false)
			}
			cos[at] *= factor
			sin[at] *= factor
		}
	}
	rows.cos, rows.sin = view.Over(cos), view.Over(sin)
	rows.cos.TokenStride, rows.sin.TokenStride = pairs, pairs
	return rows, nil
}

// angleTerms is the angle (high+low)*factor, whose high and low a float32 has.
type angleTerms struct {
	high, low float32
	factor    float64
}

func (r *Rotary) terms(p int32, pair int) angleTerms {
	w := r.config.InvFreq[pair]
	if r.config.Rounding == frequency.Float32 {
		return angleTerms{1, 0, float64(float32(p) * float32(w))}
	}
	return angleTerms{float32(p &^ 0xffff), float32(p & 0xffff), w}
}
