package posenc

import "github.com/go-posenc/posenc/internal/argument"

// Every error wraps one of these.
var (
	ErrConfig   = argument.ErrConfig   // a RotaryConfig, a Rotary, a norm or another parameter is invalid
	ErrLength   = argument.ErrLength   // a slice has too few or too many elements
	ErrShape    = argument.ErrShape    // a number of heads, a stride, another size or a start of a sequence is invalid
	ErrOverlap  = argument.ErrOverlap  // heads or slices share elements
	ErrPosition = argument.ErrPosition // a position has an angle of 2^50 or above, a row does not exist, or an operation does not take the position
)
