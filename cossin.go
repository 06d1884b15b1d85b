package posenc

import (
	"math"

	"github.com/go-posenc/posenc/kernels"
)

// CosSin writes the cosines and sines that Rotate uses, one row of RotaryDim/2
// entries for each token. With a the angle of token t and pair i, rounded as
// Angles says,
//
//	cos[t*RotaryDim/2+i] = RN32(RN32(cos(a)) * RN32(Scaling))
//	sin[t*RotaryDim/2+i] = RN32(RN32(sin(a)) * RN32(Scaling))
//
// The cosine and the sine are correctly rounded; Scaling, where it is not 1,
// rounds once more. With several axes positions is [axes][tokens]. XPos multiplies
// both by its decay, rounded once more. Both slices hold exactly
// tokens*RotaryDim/2 elements and must not overlap, nor share memory with
// positions. A call allocates nothing.
//
// Errors wrap ErrConfig (r), ErrLength, ErrOverlap or ErrPosition.
func (r *Rotary) CosSin(cos, sin []float32, positions []int32) error {
	const function = "Rotary.CosSin"
	if r != nil && r.table != nil {
		return argumentError(ErrConfig, function, "r", "a Rotary that holds a table", "one from NewRotary")
	}
	tokens, err := r.tokenCount(function, "positions", positions)
	if err != nil {
		return err
	}
	pairs := r.rotaryDim / 2
	if err := checkTables(function, cos, sin, tokens, pairs, "positions", positions); err != nil {
		return err
	}
	r.rows(&rows{cos, sin, pairs}, 0, pairs, &span{positions, tokens, 0, tokens}, r.scaling, 1)
	return nil
}

// CosSinFractional is CosSin for positions that are not integers, such as the
// times of video frames; NewTableRotary rotates by what it writes. The position
// is the real number that the float32 is; with Angles Float32 the angle is
// RN32(positions[t]*RN32(InvFreq)). With several axes positions is
// [axes][tokens].
//
// Errors wrap ErrConfig (r, which has neither XPos nor a table), ErrLength,
// ErrOverlap or ErrPosition (a NaN, a position beyond 2^31 in magnitude or an angle
// of 2^50 or beyond).
func (r *Rotary) CosSinFractional(cos, sin, positions []float32) error {
	const function = "Rotary.CosSinFractional"
	if r == nil || r.rotaryDim == 0 || r.table != nil || r.decay != nil {
		return argumentError(ErrConfig, function, "r", "nil, zero, over a table or with XPos", "a Rotary of frequencies alone, from NewRotary")
	}
	if len(positions)%r.axisCount != 0 {
		return argumentError(ErrLength, function, "positions", elements(len(positions)), "a multiple of %d, for [axes][tokens] of %d axes", r.axisCount, r.axisCount)
	}
	for i, p := range positions {
		if !(math.Abs(float64(p)) <= float64(r.lastPosition)) {
			return argumentError(ErrPosition, function, indexed("positions", i), p, "a number of at most %s", positionLimit(r.lastPosition))
		}
	}
	pairs, tokens := r.rotaryDim/2, len(positions)/r.axisCount
	if err := checkTables(function, cos, sin, tokens, pairs, "positions", positions); err != nil {
		return err
	}
	to := &rows{cos, sin, pairs}
	if r.axisCount == 1 {
		r.ladder.fractionalRows(to, pairs, positions, r.scaling, r.scaling)
		return nil
	}
	var c, s [chunkPairs]float32
	for i := range r.axes {
		a := &r.axes[i]
		n := len(a.pairs)
		for t := range tokens {
			at := a.index*tokens + t
			a.ladder.fractionalRows(&rows{c[:], s[:], n}, n, positions[at:at+1], r.scaling, r.scaling)
			row := to.from(t)
			for k, pair := range a.pairs {
				row.cos[pair], row.sin[pair] = c[k], s[k]
			}
		}
	}
	return nil
}

// CosSin writes rows of cosines and sines of the real products
// positions[t]*invFreq[i], each correctly rounded to float32:
//
//	cos[t*len(invFreq)+i] = RN32(cos(positions[t]*invFreq[i]))
//	sin[t*len(invFreq)+i] = RN32(sin(positions[t]*invFreq[i]))
//
// cos and sin hold exactly len(positions)*len(invFreq) elements and must not
// overlap, nor share memory with positions. The frequencies are radians per
// position, and every angle is below 2^50 in magnitude. A call allocates nothing. It
// prepares the frequencies anew every time: for a few rows at a time a Rotary is
// faster.
//
// Errors wrap ErrLength, ErrOverlap, ErrConfig (invFreq) or ErrPosition.
func CosSin(cos, sin []float32, positions []int32, invFreq []float64) error {
	const function = "CosSin"
	if err := checkTables(function, cos, sin, len(positions), len(invFreq), "positions", positions); err != nil {
		return err
	}
	largest, i := largestMagnitude(invFreq)
	if !(largest < maxAngle) {
		return frequencyError(function, "invFreq", i, invFreq[i])
	}
	if err := checkPositions(function, "positions", positions, lastPosition(largest)); err != nil {
		return err
	}
	for column := 0; column < len(invFreq); column += kernels.Width {
		frequencies := invFreq[column:min(column+kernels.Width, len(invFreq))]
		if len(positions) < shiftedRows {
			cosSinFew(cos, sin, len(invFreq), column, positions, frequencies)
		} else {
			cosSinMany(cos, sin, len(invFreq), column, positions, frequencies)
		}
	}
	return nil
}

// shiftedRows is the number of rows from which on the shift of a block pays.
const shiftedRows = 128

func cosSinFew(cos, sin []float32, stride, column int, positions []int32, invFreq []float64) {
	var block kernels.Block
	block.Set(invFreq)
	for t, p := range positions {
		at := t*stride + column
		end := at + len(invFreq)
		kernels.CosSinExactRow(implementation, cos[at:end], sin[at:end], float64(p), &block, 1, 1)
	}
}

func cosSinMany(cos, sin []float32, stride, column int, positions []int32, invFreq []float64) {
	var block kernels.Block
	var shift kernels.Shift
	block.Set(invFreq)
	shift.Set(implementation, &block)
	kernels.CosSinExactRows(implementation, cos[column:], sin[column:], stride, positions, &block, &shift, 1, 1, pastCaches(len(cos)))
}

// pastCaches reports whether tables of the given number of entries each, 64 MiB
// for both, are stored past the caches. A store to a line that is in no cache
// reads it first, and of a table so large nothing is still in a cache when it
// is used.
func pastCaches(entries int) bool { return entries >= 8<<20 }

// CosSinAngles writes the cosines and sines of float32 angles in radians,
// correctly rounded for every float32:
//
//	cos[i] = RN32(cos(angles[i]))
//	sin[i] = RN32(sin(angles[i]))
//
// The sine of -0 is -0; infinities and NaNs give NaN. cos and sin hold exactly
// len(angles) elements. The three slices must not overlap. A call allocates
// nothing.
//
// Errors wrap ErrLength or ErrOverlap.
func CosSinAngles(cos, sin, angles []float32) error {
	const function = "CosSinAngles"
	if err := checkTables(function, cos, sin, len(angles), 1, "angles", angles); err != nil {
		return err
	}
	cosSinFloat32(cos, sin, angles, 1, 1, 1)
	return nil
}

// cosSinFloat32 is kernels.CosSinFloat32 for any number of frequencies.
func cosSinFloat32(cos, sin, invFreq []float32, position, scaleCos, scaleSin float32) {
	const call = callElements / 8 // a cosine and a sine cost more than a rotation
	for ; len(invFreq) > call; cos, sin, invFreq = cos[call:], sin[call:], invFreq[call:] {
		kernels.CosSinFloat32(implementation, cos[:call], sin[:call], invFreq[:call], position, scaleCos, scaleSin)
	}
	kernels.CosSinFloat32(implementation, cos, sin, invFreq, position, scaleCos, scaleSin)
}
