package rope

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/cossin"
	"github.com/go-posenc/posenc/internal/heads"
	"github.com/go-posenc/posenc/internal/view"
)

// Rebase is posenc.Rotary.RebaseRows.
func (r *Rotary) Rebase(function string, rotated *Angles) (*Rows, error) {
	if err := r.CheckExists(function); err != nil {
		return nil, err
	}
	tokens, err := rotated.CheckMoved(function, "rotated", "positions")
	if err != nil {
		return nil, err
	}
	from, positions := rotated.rotary, rotated.of
	h, other := r.head, from.head
	h.In, other.In = h.Out, other.Out // of the keys in the cache
	switch {
	case h != other:
		return nil, argument.Error(argument.ErrConfig, function, "rotated", "of other heads or pairs: "+rotates(&other, from.config.Layout), "as in r: %s", rotates(&h, r.config.Layout))
	case !slices.Equal(r.axisOfPairs(), from.axisOfPairs()):
		return nil, argument.Error(argument.ErrConfig, function, "rotated", fmt.Sprintf("of pairs on the axes %v", from.axisOfPairs()), "as in r: %v", r.axisOfPairs())
	case r.frequencies.Decays():
		return nil, argument.Error(argument.ErrConfig, function, "r", "a Rotary with XPos", "a Rotary without XPos")
	}
	factor := float32(r.config.AttentionFactor / from.config.AttentionFactor)
	if !(factor > 0 && factor <= math.MaxFloat32) {
		return nil, argument.Error(argument.ErrConfig, function, "the AttentionFactor of r by that of rotated", factor, "a positive float32")
	}
	largest, _ := cossin.LargestMagnitude(r.config.InvFreq)
	more, _ := cossin.LargestMagnitude(from.config.InvFreq)
	if err := CheckPositions(function, "positions", positions, cossin.LastPosition(largest+more)); err != nil {
		return nil, err
	}
	pairs := h.RotaryDim / 2
	n, ok := argument.Multiply(tokens, 2*pairs)
	if _, fits := argument.Multiply(n, 4); !ok || !fits {
		return nil, argument.Error(argument.ErrLength, function, "positions", argument.Elements(len(positions)), "fewer: an int cannot count the bytes of their rows, %d each", 8*pairs)
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

// rotates says which elements of a head rotate.
func rotates(h *heads.Head, layout Layout) string {
	return fmt.Sprintf("%d elements from %d on, of heads of %d, %v", h.RotaryDim, h.Offset, h.HeadDim, layout)
}

// axisOfPairs returns the axis of each pair.
func (r *Rotary) axisOfPairs() []uint8 {
	if r.config.Axes == nil {
		return make([]uint8, r.head.RotaryDim/2)
	}
	return r.config.Axes
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
