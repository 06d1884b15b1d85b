package multimodal_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/modelconfig"
	"github.com/go-posenc/posenc/multimodal"
)

// A prompt of Qwen3-VL of text, two images and a video, from ids, grids and config.json to
// the Q and K that transformers rotates.
func TestRotated(t *testing.T) {
	var golden struct {
		Versions           map[string]string
		Config             json.RawMessage
		IDs, Positions     []int32
		Images, Videos     []grid
		Next               int32
		Q, K               []float32 // [tokens][128]
		RotatedQ, RotatedK []int32   // bits of float32
	}
	readGolden("rotated", &golden)
	var config struct {
		ImageToken int32 `json:"image_token_id"`
		VideoToken int32 `json:"video_token_id"`
	}
	testkit.NoError(t, json.Unmarshal(golden.Config, &config))
	bits := slices.Concat(golden.RotatedQ, golden.RotatedK)

	model := multimodal.Model{Family: testkit.Must(multimodal.FamilyOf("qwen3_vl")), MergeSize: 2}
	tokens := multimodal.TokenIDs{Image: config.ImageToken, Video: config.VideoToken}
	runs, err := model.AppendRuns(nil, golden.IDs, tokens, multimodal.Media{Images: grids(golden.Images), Videos: grids(golden.Videos)})
	testkit.NoError(t, err)
	positions := make([]int32, model.Axes()*len(golden.IDs))
	next, err := model.Positions(positions, runs)
	if err != nil || next.AfterLargest != golden.Next || !slices.Equal(positions, golden.Positions) {
		t.Fatalf("%v, next %v, error %v, want %v, next %d", positions, next, err, golden.Positions, golden.Next)
	}

	// Elements are up to 2. PyTorch's cosines and sines are off by less than a unit of
	// 2^-24: two of these times 2, and on both sides two products rounded by 2^-24 and a sum
	// by 2^-23. One of its 64 frequencies, 0.01, is another float32: off by 2^-23 of it.
	largest := float64(slices.Max(positions))
	float32Angles := (2*2+2*(2+2))*0x1p-24 + 2*2*0.0104*largest*0x1p-23
	// Beside exact angles all of them are off, by 1.5 units of 2^-24, and angles by half a unit.
	exactAngles := (2*2+2*(2+2))*0x1p-24 + 2*2*largest*0x1p-23
	for rounding, tolerance := range map[frequency.Rounding]float64{frequency.Exact: exactAngles, frequency.Float32: float32Angles} {
		rotary := testkit.Must(testkit.Must(modelconfig.HuggingFace(golden.Config)).Rope(modelconfig.RopeOptions{Rounding: rounding})).Rotary(0)
		q, k := slices.Clone(golden.Q), slices.Clone(golden.K)
		testkit.NoError(t, posenc.Rotate(rotary.At(positions), posenc.View[float32]{Data: q, Heads: 1}, posenc.View[float32]{Data: k, Heads: 1}))
		for i, got := range append(q, k...) {
			want := math.Float32frombits(uint32(bits[i]))
			if d := math.Abs(float64(got) - float64(want)); !(d <= tolerance) {
				t.Fatalf("%v: element %d of q and k is %v, want %v, at most %g off", rounding, i, got, want, tolerance)
			}
		}
	}
}
