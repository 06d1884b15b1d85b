package multimodal_test

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/modelconfig"
	"github.com/go-posenc/posenc/multimodal"
)

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
		if name == "kimi_k25_vision" {
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
			if side, windows := tower.Config["window_size"].(float64); windows {
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
