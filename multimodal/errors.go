package multimodal

import "github.com/go-posenc/posenc/internal/argument"

// Every error wraps one of these, which are those of package posenc, and names the
// function, the argument, its value and what was expected. Nothing has been written where
// an error is returned.
var (
	ErrConfig   = argument.ErrConfig   // a Model or options
	ErrLength   = argument.ErrLength   // a slice with too few or too many elements
	ErrShape    = argument.ErrShape    // a run or a grid, or the two of them
	ErrOverlap  = argument.ErrOverlap  // slices that share elements
	ErrPosition = argument.ErrPosition // a position that the type of the destination does not hold
)
