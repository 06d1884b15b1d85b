package multimodal_test

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
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

// TestTowers rotates the heads of every tower of transformers by its configuration and the
// positions of its patches, as its own forward does: testdata/towers.json.gz.
func TestTowers(t *testing.T) {
	var golden struct {
		Types map[string]struct {
			Config map[string]any
			Calls  []struct {
				Grids [][3]int
				Q     string // the first of two heads, [tokens][elements], in 2^-12
			}
		}
	}
	testkit.ReadJSON("testdata/towers.json.gz", &golden)
	if len(golden.Types) < 26 {
		t.Errorf("%d towers", len(golden.Types))
	}
	for name, tower := range golden.Types {
		m := testkit.Must(modelconfig.HuggingFaceVision(testkit.Must(json.Marshal(tower.Config))))
		cfg := testkit.Must(m.Rope()).Rotary(slices.IndexFunc(m.Layers(), func(l modelconfig.Layer) bool { return l.Rotates })).Config()
		if name == "kimi_k25_vision" || name == "step3p5_vision" {
			cfg.Layout = posenc.HalfSplit // transformers permutes the published weights
		}
		rope, patches := testkit.Must(posenc.NewRotary(cfg)), m.Patches()
		options := multimodal.PatchOptions{MergeSize: 2, First: patches.First}
		if patches.RowByRow {
			options.MergeSize = 1
		}
		for _, call := range tower.Calls {
			var grids []multimodal.Grid
			n := 0
			for _, g := range call.Grids {
				grids = append(grids, multimodal.Grid{T: g[0], H: g[1], W: g[2]})
				n += g[0] * g[1] * g[2]
			}
			positions := make([]int32, 2*n)
			testkit.NoError(t, multimodal.PatchPositions(positions, grids, options))
			if side, windows := tower.Config["window_size"].(float64); windows && !patches.RowByRow {
				window := multimodal.WindowOptions{MergeSize: 2, WindowSize: int(side), PatchSize: int(tower.Config["patch_size"].(float64))}
				order, _, err := multimodal.AppendWindows(nil, nil, grids, window)
				testkit.NoError(t, err)
				frames := positions
				positions = make([]int32, 2*n)
				for i, token := range order {
					for j := range 4 {
						positions[4*i+j], positions[n+4*i+j] = frames[4*token+int32(j)], frames[n+4*int(token)+j]
					}
				}
			}
			dim := cfg.HeadDim
			tokens := len(call.Q) / 4 / dim
			if name == "llama4_vision_model" { // a class token comes last
				positions = append(append(append(positions[:n:n], 0), positions[n:]...), 0)
				n++
			}
			if tokens != n {
				t.Errorf("%s: %d tokens, want %d", name, n, tokens)
				continue
			}
			var x []float32
			for token := range tokens {
				x = append(x, testkit.GoldenInputs(2*dim*token, dim)...)
			}
			testkit.NoError(t, posenc.Rotate(rope.At(positions), posenc.View[float32]{Data: x, Heads: 1}))
			for i := range x {
				want := float64(int16(testkit.Must(strconv.ParseUint(call.Q[4*i:][:4], 16, 16)))) / 4096
				// Half of 2^-12, and the float32 arithmetic of numbers up to 6.
				if math.Abs(float64(x[i])-want) > 0x1p-12 {
					t.Errorf("%s, %v: element %d of patch %d is %v, want %v", name, call.Grids, i%dim, i/dim, x[i], want)
					break
				}
			}
		}
	}
}
