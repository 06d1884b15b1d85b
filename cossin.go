package posenc

import (
	"github.com/go-posenc/posenc/internal/cossin"
	"github.com/go-posenc/posenc/internal/rope"
)

// CosSin writes the cosines and sines that Rotate uses: one row of RotaryDim/2 entries for
// each token. Let a be the angle of token t and pair i, rounded as [frequency.Rounding] says.
// Then
//
//	cos[t*RotaryDim/2+i] = RN32(RN32(cos(a)) * RN32(AttentionFactor))
//	sin[t*RotaryDim/2+i] = RN32(RN32(sin(a)) * RN32(AttentionFactor))
//
// The cosine and the sine are correctly rounded; an AttentionFactor other than 1 rounds once
// more. XPos multiplies both by its decay and rounds once more.
//
// There is one position for each token, the same on every axis. cos and sin hold exactly
// tokens*RotaryDim/2 elements. They must not overlap each other or positions. Errors wrap ErrConfig (r), ErrLength,
// ErrOverlap or ErrPosition.
func (r *Rotary) CosSin(cos, sin []float32, positions []int32) error {
	a := (*rope.Rotary)(r).At(positions)
	return a.CosSin("posenc.Rotary.CosSin", cos, sin)
}

// CosSinAxes is CosSin for tokens with a position on each axis: positions is [axes][tokens] as in
// [Rotary.AtAxes].
func (r *Rotary) CosSinAxes(cos, sin []float32, positions []int32) error {
	a := (*rope.Rotary)(r).AtAxes(positions)
	return a.CosSin("posenc.Rotary.CosSinAxes", cos, sin)
}

// CosSinFractional is CosSin for positions that are not integers, such as the times of
// video frames. To rotate by the result, pass it to [NewRows]. To rotate without a table,
// use [Rotary.AtFractional].
//
// A position is the real number that its float32 stands for. With frequency.Float32 the angle is
// RN32(positions[t]*RN32(InvFreq)). Errors wrap
// ErrConfig (r is nil, zero or has XPos), ErrLength, ErrOverlap or ErrPosition (a NaN, a
// position above 2^31 in magnitude, or an angle of 2^50 or above).
func (r *Rotary) CosSinFractional(cos, sin, positions []float32) error {
	a := (*rope.Rotary)(r).AtFractional(positions)
	return a.CosSin("posenc.Rotary.CosSinFractional", cos, sin)
}

// CosSinFractionalAxes is CosSinFractional for tokens with a position on each axis, such as the
// patches of [GridPositions]: positions is [axes][tokens] as in [Rotary.AtAxes].
func (r *Rotary) CosSinFractionalAxes(cos, sin, positions []float32) error {
	a := (*rope.Rotary)(r).AtFractionalAxes(positions)
	return a.CosSin("posenc.Rotary.CosSinFractionalAxes", cos, sin)
}

// CosSin writes rows of cosines and sines of the real products positions[t]*invFreq[i],
// each correctly rounded to float32:
//
//	cos[t*len(invFreq)+i] = RN32(cos(positions[t]*invFreq[i]))
//	sin[t*len(invFreq)+i] = RN32(sin(positions[t]*invFreq[i]))
//
// The frequencies are in radians per position, and every angle must be below 2^50 in
// magnitude. cos and sin hold exactly len(positions)*len(invFreq) elements. They must not
// overlap each other, positions or invFreq.
//
// It prepares the frequencies every time, so a Rotary is faster for calls with few positions.
// Errors wrap ErrLength, ErrOverlap, ErrConfig (invFreq) or ErrPosition.
func CosSin(cos, sin []float32, positions []int32, invFreq []float64) error {
	const function = "posenc.CosSin"
	if err := rope.CheckTables(function, cos, sin, len(positions), len(invFreq), "positions", positions); err != nil {
		return err
	}
	if err := rope.CheckApart(function, cos, sin, "invFreq", invFreq); err != nil {
		return err
	}
	largest, i := cossin.LargestMagnitude(invFreq)
	if !(largest < cossin.MaxAngle) {
		return rope.FrequencyError(function, "invFreq", i, invFreq[i])
	}
	if err := rope.CheckPositions(function, "positions", positions, cossin.LastPosition(largest)); err != nil {
		return err
	}
	cossin.WriteExact(cos, sin, positions, invFreq)
	return nil
}

// CosSinAngles writes the cosines and sines of float32 angles in radians. They are
// correctly rounded for every float32:
//
//	cos[i] = RN32(cos(angles[i]))
//	sin[i] = RN32(sin(angles[i]))
//
// The sine of -0 is -0. Infinities and NaNs give NaN. cos and sin hold exactly len(angles)
// elements. The three slices must not overlap. Errors wrap ErrLength or ErrOverlap.
func CosSinAngles(cos, sin, angles []float32) error {
	const function = "posenc.CosSinAngles"
	if err := rope.CheckTables(function, cos, sin, len(angles), 1, "angles", angles); err != nil {
		return err
	}
	cossin.WriteAngles(cos, sin, angles)
	return nil
}
