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
	// CausalALiBi multiplies the slope by key-query, which is at most 0 in causal
	// attention: the paper, llama.cpp.
	CausalALiBi ALiBiForm = iota
	// SymmetricALiBi multiplies the slope by -|key-query|: encoders such as Jina BERT v2.
	SymmetricALiBi
	// KeyALiBi multiplies the slope by the position of the key: BLOOM, MPT, Falcon.
	// After a softmax over keys it is the same as CausalALiBi, except for rounding. MPT
	// counts keys back from the last one: set FirstKey to 1-Keys for a whole row. Falcon
	// in transformers also rounds keys, slopes and their products to bfloat16, so that
	// neighbouring keys far from the first share a bias; this package does not do that.
	KeyALiBi
)

// ALiBiSlopes writes the slopes of len(slopes) heads, all heads of the model (Press
// et al. 2022, arXiv:2108.12409; Hugging Face's build_alibi_tensor). With p the
// largest power of two up to the number of heads,
//
//	slopes[h] = 2^(-maxBias*(h+1)/p)                h < p
//	slopes[h] = 2^(-maxBias*(2*(h-p)+1)/(2*p))      h >= p
//
// correctly rounded. maxBias is positive and finite: 8 in the paper, alibi_bias_max in MPT,
// attention.max_alibi_bias in GGUF. A call allocates only where a slope is almost midway between
// two float32. Errors wrap ErrConfig.
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
// key and query are positions. slopes has one slope for each head of the model, and slope is the
// one of the score's head. Distances below 2^24 are exact. Most models scale the scores by
// 1/sqrt(HeadDim) before they add the bias; Falcon scales the sum. An unknown form is
// [posenc.ErrConfig].
func AddALiBi(scores Scores, slopes []float32, form ALiBiForm) error {
	const function = "relative.AddALiBi"
	if form > KeyALiBi {
		return argument.Error(posenc.ErrConfig, function, "form", form, "one of the constants of type ALiBiForm")
	}
	var t tile
	if err := scores.check(&t, function, "scores", anyHeads); err != nil {
		return err
	}
	switch end := t.firstHead + t.heads; {
	case len(slopes) < end:
		return argument.Error(posenc.ErrLength, function, "slopes", argument.Elements(len(slopes)), "at least FirstHead+Heads = %d, one for each head of the model", end)
	case argument.Overlap(slopes, scores.Data):
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
