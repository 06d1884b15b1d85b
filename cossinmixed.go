package posenc

import (
	"math"

	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/cossin"
	"github.com/go-posenc/posenc/internal/rope"
)

// MixedFrequencies has one frequency for each entry of a row and each axis of positions
// (RoPE-Mixed, Heo et al. 2024, arXiv:2403.13298).
type MixedFrequencies struct {
	InvFreq  []float64          // [entries][axes]: radians per unit of the position, each below 2^50 in magnitude
	Axes     int                // axes of positions, from 1 to 8
	Rounding frequency.Rounding // how angles are rounded
}

// CosSinMixed writes rows of cosines and sines whose angles are sums over the axes of
// positions. It is for vision models that give each head its own frequencies, and for
// models that learn the angles of coordinates. For entry e of the row of token t, with
// positions [axes][tokens],
//
//	angle = positions[0][t]*InvFreq[e][0] + positions[1][t]*InvFreq[e][1] + ...
//	cos[t*entries+e] = RN32(cos(angle))
//	sin[t*entries+e] = RN32(sin(angle))
//
// With frequency.Exact these are the cosine and the sine of the real sum. With frequency.Float32
// each frequency, each product and each sum is rounded to float32, in the order of the
// axes.
//
// If heads differ, a row has an entry for each pair of each head, [Heads][pairs]. Pass the
// result to [NewRows] with that number of Heads. Otherwise a row has an entry for each
// pair, and all heads share it.
//
// docs/vision.md in the repository has the axes and frequencies of models: RotaryEmbeddingMixed of
// timm, RoPE-ViT, LightGlue and MLCD.
//
// cos and sin hold exactly tokens*entries elements. They must not overlap each other,
// positions or InvFreq. The function is plain Go, with the same bits on every machine. An entry of
// two axes with frequency.Exact takes some 0.1 µs, so compute the rows once for each image
// size.
//
// The exact sum is computed in quarter turns, as two float64 whose error is below 2^-97 of the
// magnitudes of the products. Entries that these cannot round with certainty are computed with
// as many bits as they need, which allocates. That is about one entry in a million for common
// grids and frequencies, and every entry with products of at least 2^39 quarter turns, or below
// 2^-400. Errors wrap ErrConfig (f), ErrLength, ErrOverlap or ErrPosition (a NaN, or a product
// of 2^50/Axes or above).
func CosSinMixed(cos, sin, positions []float32, f MixedFrequencies) error {
	const function = "posenc.CosSinMixed"
	switch {
	case f.Axes < 1 || f.Axes > cossin.MaxSumAxes:
		return argument.Error(ErrConfig, function, "f.Axes", f.Axes, "from 1 to %d", cossin.MaxSumAxes)
	case f.Rounding > frequency.Float32:
		return argument.Error(ErrConfig, function, "f.Rounding", f.Rounding, "frequency.Exact or frequency.Float32")
	case len(f.InvFreq)%f.Axes != 0:
		return argument.Error(ErrConfig, function, "f.InvFreq", argument.Elements(len(f.InvFreq)), "a multiple of Axes %d", f.Axes)
	case len(positions)%f.Axes != 0:
		return argument.Error(ErrLength, function, "positions", argument.Elements(len(positions)), "a multiple of %d, for [axes][tokens] of %d axes", f.Axes, f.Axes)
	}
	var largest [cossin.MaxSumAxes]float64 // of each axis
	for i, w := range f.InvFreq {
		m := math.Abs(w)
		if !(m < cossin.MaxAngle) {
			return rope.FrequencyError(function, "f.InvFreq", i, w)
		}
		largest[i%f.Axes] = max(largest[i%f.Axes], m)
	}
	tokens, entries := len(positions)/f.Axes, len(f.InvFreq)/f.Axes
	for i, p := range positions {
		m := math.Abs(float64(p))
		if !(m <= math.MaxFloat32) || !(float64(m*largest[i/tokens]) < cossin.MaxAngle/float64(f.Axes)) {
			return argument.Error(ErrPosition, function, argument.Indexed("positions", i), p, "a number whose product with the frequency %v is below 2^50/%d in magnitude", largest[i/tokens], f.Axes)
		}
	}
	if err := rope.CheckTables(function, cos, sin, tokens, entries, "positions", positions); err != nil {
		return err
	}
	if err := rope.CheckApart(function, cos, sin, "f.InvFreq", f.InvFreq); err != nil {
		return err
	}
	cossin.WriteSums(cos, sin, positions, f.InvFreq, f.Axes, entries, f.Rounding == frequency.Float32)
	return nil
}
