package relative_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"testing"

	"github.com/go-posenc/posenc"
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

// magnitudes returns |x|.
func magnitudes(x []float32) []float32 {
	list := make([]float32, len(x))
	for i, v := range x {
		list[i] = float32(math.Abs(float64(v)))
	}
	return list
}

// compareSums compares what call makes of inputs that of returns with what a framework does: sums
// of up to n products each. In any order, with roundings of products or without, each is off by
// at most n roundings of 2^-24 of the sum of the magnitudes, which call makes of the magnitudes of
// its inputs.
func compareSums(t *testing.T, what string, n int, want []float32, call func(of func(x []float32) []float32) []float32) {
	t.Helper()
	got, sizes := call(func(x []float32) []float32 { return x }), call(magnitudes)
	if len(got) != len(want) {
		t.Fatalf("%s: %d sums, want %d", what, len(got), len(want))
	}
	for i, w := range want {
		if bound := 2 * float64(n+1) * 0x1p-24 * float64(sizes[i]); !(math.Abs(float64(got[i]-w)) <= bound) {
			t.Fatalf("%s: element %d is %v, want %v within %v", what, i, got[i], w, bound)
		}
	}
}

// headed is [heads][tokens][dim].
func headed(x []float32, heads, tokens, dim int) posenc.View[float32] {
	return posenc.View[float32]{Data: x, Heads: heads, TokenStride: dim, HeadStride: tokens * dim}
}

// scaled divides scores by the root of the size of a head, here a power of two.
func scaled(scores []float32, headDim int) []float32 {
	for i := range scores {
		scores[i] *= float32(1 / math.Sqrt(float64(headDim)))
	}
	return scores
}
