package posenc

import "github.com/go-posenc/posenc/internal/argument"

// Every error wraps one of these and names the function, the argument, its
// value and what was expected. Nothing has been written where an error is
// returned.
var (
	ErrConfig   = argument.ErrConfig   // a RotaryConfig, a Rotary, a norm or another parameter
	ErrLength   = argument.ErrLength   // a slice with too few or too many elements
	ErrShape    = argument.ErrShape    // heads, strides and other sizes; starts of sequences
	ErrOverlap  = argument.ErrOverlap  // heads or slices that share elements
	ErrPosition = argument.ErrPosition // an angle of 2^50 or beyond, no row of a cos/sin cache, or outside what an operation takes
)
