package multimodal

import "github.com/go-posenc/posenc/internal/argument"

// Every error wraps one of these, which are the same values as in package posenc. It names
// the function, the argument, its value and what was expected. A call that returns an error
// has written nothing.
var (
	ErrConfig   = argument.ErrConfig   // a Model or options
	ErrLength   = argument.ErrLength   // a slice with too few or too many elements
	ErrShape    = argument.ErrShape    // a run or a grid, or a run that does not fit its grid
	ErrOverlap  = argument.ErrOverlap  // slices that share elements
	ErrPosition = argument.ErrPosition // a position that the type of the destination does not hold
)
