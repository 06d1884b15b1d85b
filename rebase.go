package posenc

import "github.com/go-posenc/posenc/internal/rope"

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
// frequencies share them. [Rows.Refill] of them is ErrConfig. Errors wrap ErrConfig (r, rotated, an f that is no
// positive float32), ErrLength or ErrPosition: the magnitudes of both angles add up to less than 2^50.
func (r *Rotary) RebaseRows(rotated Angles) (*Rows, error) {
	rows, err := (*rope.Rotary)(r).Rebase("posenc.Rotary.RebaseRows", rotated.core())
	return (*Rows)(rows), err
}
