package cossin

import (
	"fmt"
	"math"

	"github.com/go-posenc/posenc/generic"
)

// MaxAngle bounds the magnitude of angles: position*frequency stays below it.
const MaxAngle = generic.MaxAngle

// LargestMagnitude returns the largest |w| and its index; a NaN is the largest of all.
func LargestMagnitude(invFreq []float64) (largest float64, index int) {
	for i, w := range invFreq {
		if m := math.Abs(w); !(m <= largest) {
			largest, index = m, i
			if m != m {
				break
			}
		}
	}
	return largest, index
}

// LastPosition returns the largest |position|, up to 2^31, for which
// position*largest stays below 2^50.
func LastPosition(largest float64) int64 {
	if largest < 1<<19 { // 2^31 * 2^19 is 2^50
		return 1 << 31
	}
	// The quotient may be rounded up to where the product is 2^50.
	return int64(math.Nextafter(MaxAngle/largest, 0))
}

// PositionLimit says how large a position may be, and why.
func PositionLimit(last int64) string {
	if last == 1<<31 {
		return "2^31 in magnitude"
	}
	return fmt.Sprintf("%d in magnitude, so that angles stay below 2^50", last)
}
