package posenc

import (
	"math"
	"math/big"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/elementary"
)

// QueryScaling describes factors by which some models multiply queries, so that attention
// stays sharp over many keys.
//
//   - Llama 4, in layers without rotation: Beta is attn_scale (0.1), Length is floor_scale
//     (8192), Offset is 1.
//   - Ministral 3 and Mistral 4, after the rotation: Beta is llama_4_scaling_beta, Length is
//     original_max_position_embeddings, Offset is 0.
//   - Inkling and Inkling 2, in layers without a window: Rule is ClampedLog, Beta is
//     log_scaling_alpha, Length is log_scaling_n_floor, Offset is 1. They also scale the
//     relative states.
//   - Beam, in layers without rotation: Rule is PowerOfRatio, Beta is 0.1, Length is 2048,
//     Offset is 1.
//
// The zero value scales nothing: all factors are 1.
type QueryScaling struct {
	Beta   float64        // from 0 to 2^100; to 1/2 with PowerOfRatio
	Length int            // at least 1; up to 2^31 with ClampedLog and PowerOfRatio
	Offset int            // from 0 to 2^31-1
	Rule   QueryScaleRule // 0 means FlooredLog
}

// QueryScaleRule says how the factor of a query grows with r = (position+Offset)/Length.
type QueryScaleRule uint8

const (
	FlooredLog   QueryScaleRule = iota // 1 + Beta*ln(1 + floor(r))
	ClampedLog                         // 1 + Beta*ln(max(r, 1))
	PowerOfRatio                       // (1 + r)^Beta, which is exp(Beta*log1p(r))
)

// QueryScales writes the factors of queries:
//
//	scales[t] = RN32(1 + Beta*ln(1 + floor((positions[t]+Offset)/Length)))
//
// or what the Rule says. The real number is rounded to float32 once, ties to even, and is
// the same on every machine. [ScaleQueries] and [RotateFused] multiply queries by the factors.
// (transformers computes the factors of Beam and Inkling in float32 steps. It rounds those
// of Ministral 3 and Mistral 4 to the type of the queries; ScaleQueries does not.)
//
// A position below -Offset has no factor and is an error. scales has an entry for each position
// and shares no memory with positions. A call allocates nothing, except for a real number within
// 2^-45 of the middle between two float32. Errors wrap ErrLength, ErrConfig (s), ErrOverlap or
// ErrPosition.
func QueryScales(scales []float32, positions []int32, s QueryScaling) error {
	const function = "posenc.QueryScales"
	const longest = 1 << 31
	most, mostText := 0x1p100, "2^100"
	if s.Rule == PowerOfRatio {
		most, mostText = 0.5, "1/2"
	}
	none, least := s == QueryScaling{}, -int64(s.Offset)
	if none {
		s.Length, least = 1, math.MinInt32
	}
	switch {
	case s.Rule > PowerOfRatio:
		return argument.Error(ErrConfig, function, "s.Rule", s.Rule, "one of the constants of type QueryScaleRule")
	case !(s.Beta >= 0 && s.Beta <= most):
		return argument.Error(ErrConfig, function, "s.Beta", s.Beta, "from 0 to %s", mostText)
	case s.Length < 1:
		return argument.Error(ErrConfig, function, "s.Length", s.Length, "at least 1")
	case s.Rule != FlooredLog && int64(s.Length) > longest:
		return argument.Error(ErrConfig, function, "s.Length", s.Length, "at most 2^31")
	case s.Offset < 0 || s.Offset > math.MaxInt32:
		return argument.Error(ErrConfig, function, "s.Offset", s.Offset, "from 0 to %d", math.MaxInt32)
	}
	if err := checkScales(function, scales, positions, least); err != nil {
		return err
	}
	if none {
		for t := range scales {
			scales[t] = 1
		}
		return nil
	}
	n := uint64(s.Length)
	if s.Rule == FlooredLog {
		n = 1
	}
	last, scale := n, float32(1)
	for t, p := range positions {
		k := uint64(int64(p) + int64(s.Offset))
		switch s.Rule {
		case FlooredLog:
			k = 1 + k/uint64(s.Length)
		case ClampedLog:
			k = max(k, n)
		case PowerOfRatio:
			k += n
		}
		if k != last {
			last, scale = k, s.of(k, n)
		}
		scales[t] = scale
	}
	return nil
}

// checkScales checks that there is a factor for each position, and that none is below least, where the
// logarithm is not of a positive number.
func checkScales(function string, scales []float32, positions []int32, least int64) error {
	if len(scales) != len(positions) {
		return argument.Error(ErrLength, function, "scales", argument.Elements(len(scales)), "%d, one for each position", len(positions))
	}
	for t, p := range positions {
		if int64(p) < least {
			return argument.Error(ErrPosition, function, argument.Indexed("positions", t), p, "at least %d", least)
		}
	}
	if argument.Overlap(scales, positions) {
		return argument.Error(ErrOverlap, function, "scales", "sharing memory with positions", "another slice")
	}
	return nil
}

// of returns RN32(1 + Beta*ln(k/n)) or RN32((k/n)^Beta), for k > n, both at most 2^33.
func (s *QueryScaling) of(k, n uint64) float32 {
	// The relative error of a logarithm is below 2^-52, so the error of the difference is
	// below 2^-46.4, as it is of the exponential for a Beta up to 1/2.
	const margin = 0x1p-45
	power := float64(s.Beta * (generic.Logarithm(k) - generic.Logarithm(n)))
	v, m := 1+power, 0.0
	switch {
	case s.Rule == PowerOfRatio:
		v = math.Exp(power)
		m = float64(v * margin)
	case n == 1:
		m = float64(v * 0x1p-49)
	default:
		m = float64(s.Beta*margin) + float64(v*0x1p-49)
	}
	low, high := float32(v-m), float32(v+m)
	if low == high {
		return low
	}
	// No value lies in the middle between two float32: a logarithm is transcendental, and a power with Beta
	// up to 1/2 would take a k above 2^48. 256 bits show the wrong side with a probability below 2^-150.
	value := real(0)
	value.Sub(elementary.Log(real(float64(k))), elementary.Log(real(float64(n)))).Mul(value, real(s.Beta))
	if s.Rule == PowerOfRatio {
		value = elementary.Exp(value)
	} else {
		value.Add(value, real(1))
	}
	return nearest(value)
}

// LogQueryScaling has the two weights of a head by which its queries are scaled.
type LogQueryScaling struct{ Scale, Bias float64 }

// LogQueryScales writes the factors of the queries of one head:
//
//	scales[t] = RN32(s.Bias + s.Scale*ln(positions[t]+1))
//
// The real number is rounded to float32 once, ties to even. Mistral Large 4 scales the
// queries of all layers and of its indexer like this after the rotation, with a learned
// scale and bias for each head. To multiply one head by the factors, call [ScaleQueries] with a
// View whose Heads is 1. (transformers rounds scale, bias, the logarithm and each step to
// the type of the queries.)
//
// scale and bias are at most 2^100 in magnitude, and positions are at least 0. scales has an
// entry for each position and shares no memory with positions. A call allocates nothing, except
// for a real number within some 2^-48 of the middle between two float32. Errors wrap ErrLength,
// ErrConfig (scale, bias), ErrOverlap or ErrPosition.
func LogQueryScales(scales []float32, positions []int32, s LogQueryScaling) error {
	const function = "posenc.LogQueryScales"
	switch {
	case !(math.Abs(s.Scale) <= 0x1p100):
		return argument.Error(ErrConfig, function, "scale", s.Scale, "at most 2^100 in magnitude")
	case !(math.Abs(s.Bias) <= 0x1p100):
		return argument.Error(ErrConfig, function, "bias", s.Bias, "at most 2^100 in magnitude")
	}
	if err := checkScales(function, scales, positions, 0); err != nil {
		return err
	}
	for t, p := range positions {
		scales[t] = logQueryScale(uint64(p)+1, s.Scale, s.Bias)
	}
	return nil
}

// logQueryScale returns RN32(bias + scale*ln(k)).
func logQueryScale(k uint64, scale, bias float64) float32 {
	if scale == 0 || k == 1 {
		return float32(bias)
	}
	product := float64(scale * generic.Logarithm(k))
	v := bias + product
	m := float64((math.Abs(product) + math.Abs(v)) * 0x1p-50)
	if low, high := float32(v-m), float32(v+m); low == high && low != 0 {
		return low
	}
	value := real(scale)
	return nearest(value.Mul(value, elementary.Log(real(float64(k)))).Add(value, real(bias)))
}

func real(x float64) *big.Float { return new(big.Float).SetPrec(elementary.Precision).SetFloat64(x) }

// nearest returns x rounded to float32. Real numbers are not in the middle between two float32:
// logarithms of rational numbers other than 1 are transcendental, and a power (k/n)^Beta in the middle
// would have a numerator of 25 bits, an odd number m. With Beta = a/2^b in lowest terms, m^(2^b) divides
// k^a, and k is below 2^33: Beta would be above 24/33. That one of 2^150 cases is within 2^-200 of the
// middle would be chance.
func nearest(x *big.Float) float32 {
	rounded, _ := x.Float32()
	return rounded
}
