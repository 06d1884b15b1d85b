package relative_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
)

// float32s is a list of float32 in golden vectors: little endian, in base64.
type float32s []float32

func (s *float32s) UnmarshalJSON(text []byte) error {
	var encoded string
	if err := json.Unmarshal(text, &encoded); err != nil {
		return err
	}
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return err
	}
	*s = make(float32s, len(data)/4)
	for i := range *s {
		(*s)[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return nil
}

// ulps returns how many float32 lie between two of the same sign.
func ulps(a, b float32) int {
	return max(int(math.Float32bits(a))-int(math.Float32bits(b)), int(math.Float32bits(b))-int(math.Float32bits(a)))
}

// headed is [heads][tokens][dim] of goldenInputs.
func headed(start, heads, tokens, dim int) posenc.View[float32] {
	return posenc.View[float32]{Data: testkit.GoldenInputs(start, heads*tokens*dim), Heads: heads, TokenStride: dim, HeadStride: tokens * dim}
}

// sumBound bounds by how much two sums of n products differ that are taken in any
// order, with roundings of products or without: each is off by at most n roundings of
// 2^-24 of the sum of the magnitudes.
func sumBound(n int, magnitudes float64) float64 { return 2 * float64(n+1) * 0x1p-24 * magnitudes }

// magnitudes returns the sum of |(x[i]+bias[i])*v[i]|. (Both sides round x+bias in the same way.)
func magnitudes(x, bias, v []float32) (sum float64) {
	for i := range x {
		q := float64(x[i])
		if bias != nil {
			q = float64(x[i] + bias[i])
		}
		sum += math.Abs(q * float64(v[i]))
	}
	return sum
}
