package posenc

import (
	"errors"
	"fmt"
)

// Every error wraps one of these and names the function, the argument, its
// value and what was expected. Nothing has been written where an error is
// returned.
var (
	ErrConfig   = errors.New("posenc: invalid configuration") // a RotaryConfig, a Rotary, a norm or another parameter
	ErrLength   = errors.New("posenc: wrong length")          // a slice with too few or too many elements
	ErrShape    = errors.New("posenc: invalid shape")         // heads, strides and other sizes; starts of sequences
	ErrOverlap  = errors.New("posenc: overlapping memory")    // rows or slices that share elements
	ErrPosition = errors.New("posenc: position out of range") // an angle of 2^50 or beyond, no row of a table, or outside what an operation takes
)

// argumentError describes an argument of a function.
func argumentError(kind error, function, argument string, value any, expected string, args ...any) error {
	return fmt.Errorf("posenc.%s: %s is %v, want %s: %w", function, argument, value, fmt.Sprintf(expected, args...), kind)
}
