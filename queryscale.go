package posenc

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/argument"
)

// QueryScaling describes factors by which some models multiply queries, so that
// attention stays sharp over many keys.
//
//   - Llama 4, in layers without rotation: Beta is attn_scale (0.1), Length
//     floor_scale (8192), Offset 1.
//   - Ministral 3 and Mistral 4, after the rotation: Beta is
//     llama_4_scaling_beta, Length original_max_position_embeddings, Offset 0.
type QueryScaling struct {
	Beta   float64 // from 0 to 2^100
	Length int     // at least 1
	Offset int     // from 0 to 2^31-1
}

// QueryScales writes the factors of queries:
//
//	scales[t] = RN32(1 + Beta*ln(1 + floor((positions[t]+Offset)/Length)))
//
// the real number rounded to float32 once, the same on every machine. (transformers
// rounds the factors of Ministral 3 and Mistral 4 to the type of the queries; [Scale]
// does not.) A position below -Offset has no factor: an error.
//
// scales has an entry for each position and shares no memory with positions. A call
// allocates nothing, but for a real number within 2^-49 of the middle between two
// float32.
//
// Errors wrap ErrLength, ErrConfig (s), ErrOverlap or ErrPosition.
func QueryScales(scales []float32, positions []int32, s QueryScaling) error {
	const function = "posenc.QueryScales"
	if len(scales) != len(positions) {
		return argument.Error(ErrLength, function, "scales", argument.Elements(len(scales)), "%d, one for each position", len(positions))
	}
	if !(s.Beta >= 0 && s.Beta <= 0x1p100) {
		return argument.Error(ErrConfig, function, "s.Beta", s.Beta, "from 0 to 2^100")
	}
	if s.Length < 1 {
		return argument.Error(ErrConfig, function, "s.Length", s.Length, "at least 1")
	}
	if s.Offset < 0 || s.Offset > math.MaxInt32 {
		return argument.Error(ErrConfig, function, "s.Offset", s.Offset, "from 0 to %d", math.MaxInt32)
	}
	for t, p := range positions {
		if int64(p) < -int64(s.Offset) {
			return argument.Error(ErrPosition, function, argument.Indexed("positions", t), p, "at least %d, so that the logarithm is of a positive number", -s.Offset)
		}
	}
	if argument.MemoryOverlaps(scales, positions) {
		return argument.Error(ErrOverlap, function, "scales", "sharing memory with positions", "another slice")
	}
	last, scale := uint64(1), float32(1)
	for t, p := range positions {
		if k := 1 + uint64(int64(p)+int64(s.Offset))/uint64(s.Length); k != last {
			last, scale = k, queryScale(k, s.Beta)
		}
		scales[t] = scale
	}
	return nil
}

// queryScale returns RN32(1 + beta*ln(k)).
func queryScale(k uint64, beta float64) float32 {
	// The relative error of beta*generic.Logarithm(k) is below 2^-51.5, and the sum
	// rounds once more.
	const margin = 0x1p-49
	v := 1 + float64(beta*generic.Logarithm(k))
	low, high := float32(v-float64(v*margin)), float32(v+float64(v*margin))
	if low == high {
		return low
	}
	return queryScaleReal(k, beta)
}

// queryScaleReal returns RN32(1 + beta*ln(k)), k > 1 and beta > 0, with as many
// bits as it takes. They are finite: ln(k) is irrational, and so is the sum, which
// is then never in the middle between two float32.
func queryScaleReal(k uint64, beta float64) float32 {
	for precision := uint(128); ; precision *= 2 {
		real := func() *big.Float { return new(big.Float).SetPrec(precision) }
		// atanh returns that of a/b <= 1/3. It has fewer than precision/3 terms;
		// they and their sum are each off by a few times 2^-precision.
		atanh := func(a, b uint64) *big.Float {
			z := real().Quo(real().SetUint64(a), real().SetUint64(b))
			square, sum := real().Mul(z, z), real()
			for n := uint64(1); z.Sign() != 0 && z.MantExp(nil) > -int(precision); n += 2 {
				sum.Add(sum, real().Quo(z, real().SetUint64(n)))
				z.Mul(z, square)
			}
			return sum
		}
		e := bits.Len64(k) - 1
		power := uint64(1) << e
		ln := real().Mul(real().SetInt64(int64(e)), atanh(1, 3))
		ln.Add(ln, atanh(k-power, k+power))
		v := real().Mul(real().SetFloat64(2*beta), ln)
		v.Add(v, real().SetInt64(1))
		margin := real().SetMantExp(v, 32-int(precision)) // enough for 2^20 bits
		low, _ := real().Sub(v, margin).Float32()
		high, _ := real().Add(v, margin).Float32()
		if low == high {
			return low
		}
	}
}
