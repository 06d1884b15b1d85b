package posenc

import "github.com/go-posenc/posenc/internal/rope"

// Angles says by which cosines and sines each token is rotated: the ones of its position
// ([Rotary.At], [Rotary.AtAxes]), or a row of a cos/sin cache ([Rows.All], [Rows.At],
// [Rows.AtSome]). It refers to the slice that it was made from, and what is rotated must share no
// memory with that slice. The function that takes the Angles checks them.
type Angles rope.Angles

// At returns the angles of positions: one for each token, in any order, repeated or negative. A
// Rotary with several axes takes that number on every axis. That is the position of a token of text
// in a model of images (M-RoPE). Tokens of an image, and patches in a vision tower, have another
// number on each axis: [Rotary.AtAxes]. A Rotary does not know which of them a token is, so one number
// for a patch is no error.
//
// Each call that takes the Angles computes the cosines and sines again; [Rotary.Rows] computes them
// once for many calls.
func (r *Rotary) At(positions []int32) Angles {
	return Angles((*rope.Rotary)(r).At(positions))
}

// AtAxes is At for tokens with a position on each axis: positions is [axes][tokens], the positions
// of all tokens on axis 0, then on axis 1, and so on, for the [Rotary.Axes] axes of r.
func (r *Rotary) AtAxes(positions []int32) Angles {
	return Angles((*rope.Rotary)(r).AtAxes(positions))
}

// AtFractional is At for positions that are not integers, such as the times of video frames.
// Positions and rounding are as in [Rotary.CosSinFractional]. The Rotary must have no XPos.
func (r *Rotary) AtFractional(positions []float32) Angles {
	return Angles((*rope.Rotary)(r).AtFractional(positions))
}

// AtFractionalAxes is AtFractional for tokens with a position on each axis, such as the patches of
// [GridPositions]: positions is [axes][tokens] as in [Rotary.AtAxes].
func (r *Rotary) AtFractionalAxes(positions []float32) Angles {
	return Angles((*rope.Rotary)(r).AtFractionalAxes(positions))
}

// Unrotated returns the angles of tokens that do not rotate, as in a layer without positions
// (NoPE), whose heads are like the others of the model. [Rotate] leaves such heads as they are, and
// functions that write heads elsewhere copy them, in the order in which they are read.
func (r *Rotary) Unrotated(tokens int) Angles {
	return Angles((*rope.Rotary)(r).Unrotated(tokens))
}

// All returns the angles of as many tokens as there are rows: token t takes row t.
func (r *Rows) All() Angles { return Angles((*rope.Rows)(r).All()) }

// At returns the angles of len(ids) tokens: token t takes row ids[t].
func (r *Rows) At(ids []int32) Angles { return Angles((*rope.Rows)(r).At(ids)) }

// AtSome is At, except that tokens with a negative id do not rotate. They keep their
// elements, in the order that the Layout writes. Vision models use it for class and
// register tokens, which come before the patches (DINOv3, EVA), and SAM 2 for object
// pointers, which come after them.
func (r *Rows) AtSome(ids []int32) Angles { return Angles((*rope.Rows)(r).AtSome(ids)) }

// core returns the angles as the functions of package rope take them: the same memory.
func (a *Angles) core() *rope.Angles { return (*rope.Angles)(a) }
