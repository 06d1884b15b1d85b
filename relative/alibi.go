package relative

import (
	"math"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/kernels"
)

// ALiBiForm says what the slope of a head is multiplied by.
type ALiBiForm uint8

const (
	// CausalALiBi is the distance key-query, which is at most 0 for the keys that
	// causal attention has: the paper, llama.cpp.
	CausalALiBi ALiBiForm = iota
	// SymmetricALiBi is -|key-query|: encoders such as those of Jina.
	SymmetricALiBi
	// KeyALiBi is the position of the key: BLOOM; and MPT, which counts keys from
	// the last one back, so that FirstKey is 1-Keys for a whole row. To a softmax
	// over keys it is the same as CausalALiBi, but for rounding. Falcon in
	// transformers rounds keys, slopes and their products to bfloat16 besides, so
	// that neighbours far from the first key share a bias; that is not done here.
	KeyALiBi
)

// ALiBiSlopes writes the slopes of as many heads as slopes has elements (Press
// et al. 2022, arXiv:2108.12409; Hugging Face's build_alibi_tensor). With p the
// largest power of two up to the number of heads,
//
//	slopes[h] = 2^(-maxBias*(h+1)/p)                h < p
//	slopes[h] = 2^(-maxBias*(2*(h-p)+1)/(2*p))      h >= p
//
// correctly rounded. maxBias is positive and finite: 8 in the paper, alibi_bias_max
// of MPT, attention.max_alibi_bias of GGUF. A call allocates nothing, but for a real
// number within 2^-49 of the middle between two float32.
//
// Errors wrap [posenc.ErrConfig].
func ALiBiSlopes(slopes []float32, maxBias float64) error {
	if !(maxBias > 0 && maxBias <= math.MaxFloat64) {
		return argument.Error(posenc.ErrConfig, "relative.ALiBiSlopes", "maxBias", maxBias, "a positive finite number")
	}
	power := 1
	for power <= len(slopes)/2 {
		power *= 2
	}
	kernels.BeforeFMA()
	for h := range slopes {
		steps, of := float64(h+1), float64(power)
		if h >= power {
			steps, of = float64(2*(h-power)+1), float64(2*power)
		}
		exponent := maxBias * steps
		slopes[h] = generic.Exp2(-exponent/of, -math.FMA(maxBias, steps, -exponent)/of)
	}
	return nil
}

// AddALiBi adds linear biases to scores, in place:
//
//	score = RN32(score + RN32(slope*RN32(key-query)))      CausalALiBi
//	score = RN32(score - RN32(slope*RN32(|key-query|)))    SymmetricALiBi
//	score = RN32(score + RN32(slope*RN32(key)))            KeyALiBi
//
// key and query are positions, and slope is that of the head: slopes has one for
// each head of the model. RN32 rounds to the nearest float32, ties to even; it
// changes no distance below 2^24.
//
// The biases are made on the way: nothing of the size of the scores is needed,
// and a call allocates nothing. Keys that come after the query are not masked.
// slopes must share no memory with the scores. Scores that were scaled by
// 1/sqrt(HeadDim) are what most models add to; Falcon scales the sum instead.
//
// Errors wrap [posenc.ErrConfig] (form), [posenc.ErrShape], [posenc.ErrLength],
// [posenc.ErrOverlap] or [posenc.ErrPosition].
func AddALiBi(scores Scores, slopes []float32, form ALiBiForm) error {
	const function = "relative.AddALiBi"
	if form > KeyALiBi {
		return argument.Error(posenc.ErrConfig, function, "form", form, "one of the constants of type ALiBiForm")
	}
	if heads, first := scores.Heads, scores.FirstHead; heads >= 1 && first >= 0 && first <= math.MaxInt-heads && len(slopes) < first+heads {
		return argument.Error(posenc.ErrLength, function, "slopes", argument.Elements(len(slopes)), "at least FirstHead+Heads = %d, one for each head of the model", first+heads)
	}
	var t tile
	if err := scores.check(&t, function, "scores", anyHeads); err != nil {
		return err
	}
	if argument.Overlap(slopes, scores.Data) {
		return argument.Error(posenc.ErrOverlap, function, "slopes", "sharing elements with scores.Data", "another slice")
	}
	b := t.pieces(kernels.MaxCallScores)
	for t.next(&b) {
		y, slope := scores.Data[b.start:], slopes[t.firstHead+b.head]
		switch form {
		case CausalALiBi:
			kernels.AddDistanceF32(dispatch.Implementation(), y, slope, t.distance(&b), -1, &b.Tile)
		case SymmetricALiBi:
			kernels.SubAbsoluteDistanceF32(dispatch.Implementation(), y, slope, t.distance(&b), -1, &b.Tile)
		default:
			kernels.AddDistanceF32(dispatch.Implementation(), y, slope, t.firstKey+b.key, 0, &b.Tile)
		}
	}
	return nil
}
