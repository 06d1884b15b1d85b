package multimodal_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/modelconfig"
	"github.com/go-posenc/posenc/multimodal"
)

// vectors are what testdata/generate.py writes: what the models' own Python gives to
// batches of prompts.
type vectors struct {
	Versions map[string]string
	Families []struct {
		Family  string
		Models  []string // their model_type
		Classes []string // of transformers, that gave the same
		Batches []batch
	}
}

type batch struct {
	Model struct {
		Merge, TemporalMerge, PerChunk, Axes int
		PerSecond, TimeScale                 float32
		AfterLargest, GLM                    bool
	}
	Left    bool
	Length  int
	Prompts []struct {
		IDs                       []int32
		Images, Videos, Generated []grid
		Seconds                   []float32
		Positions, Decoded        [][]float32
		Next                      float32
	}
}

type grid [3]int

func grids(list []grid) (all []multimodal.Grid) {
	for _, g := range list {
		all = append(all, multimodal.Grid{T: g[0], H: g[1], W: g[2]})
	}
	return all
}

func readGolden(name string, to any) {
	decoder := json.NewDecoder(bytes.NewReader(kit.ReadGolden("testdata/" + name + ".json.gz")))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(to); err != nil {
		panic(fmt.Errorf("%s: %w", name, err))
	}
}

// families are all of them, by name.
var families = func() map[string]multimodal.Family {
	all := map[string]multimodal.Family{}
	for f := multimodal.Qwen2VL; !strings.HasPrefix(f.String(), fmt.Sprint(uint8(f))); f++ {
		all[f.String()] = f
	}
	return all
}()

func (b *batch) model(family multimodal.Family) multimodal.Model {
	return multimodal.Model{Family: family, MergeSize: b.Model.Merge, TemporalMergeSize: b.Model.TemporalMerge, PositionsPerSecond: b.Model.PerSecond,
		PositionsPerChunk: b.Model.PerChunk, TimeScale: b.Model.TimeScale, HunYuanAxes: b.Model.Axes, AfterLargest: b.Model.AfterLargest}
}

// tokens are the ids in testdata/generate.py.
func (b *batch) tokens() multimodal.TokenIDs {
	ids := multimodal.TokenIDs{Image: 1001, Video: 1002, Audio: 1003, VisionStart: 1004, AudioStart: 1006, SliceStart: 1010, Markers: []int32{1004, 1005, 1011, 1012}}
	if b.Model.GLM {
		ids.VideoStart, ids.VideoEnd = 1008, 1009
	}
	return ids
}

// runs are those of a prompt, and of what it generates.
func (b *batch) runs(t *testing.T, m multimodal.Model, prompt int) []multimodal.Run {
	p := &b.Prompts[prompt]
	runs, err := m.AppendRuns(nil, p.IDs, b.tokens(), multimodal.Media{Images: grids(p.Images), Videos: grids(p.Videos), SecondsPerGrid: p.Seconds})
	kit.NoError(t, err)
	return runs
}

// Every prompt has the positions that the model's own Python gives it, by itself and in
// its batch, and goes on where that does.
func TestVectors(t *testing.T) {
	prompts := map[string]int{}
	for _, file := range []string{"transformers", "before53", "ming"} {
		var all vectors
		readGolden(file, &all)
		for n, f := range all.Families {
			family, ok := families[f.Family]
			if !ok {
				t.Fatalf("%s: no family %s", file, f.Family)
			}
			t.Run(fmt.Sprintf("%s/%d %s", file, n, f.Family), func(t *testing.T) {
				for i := range f.Batches {
					b := &f.Batches[i]
					m := b.model(family)
					prompts[f.Family] += len(b.Prompts)
					for n := range b.Prompts {
						if len(b.Prompts) > 1 && family == multimodal.HunYuanVL {
							continue // its images are counted through the batch
						}
						t.Run(fmt.Sprintf("batch=%d/prompt=%d", i, n), func(t *testing.T) { b.comparePrompt(t, m, n) })
					}
					t.Run(fmt.Sprintf("batch=%d", i), func(t *testing.T) { b.compare(t, m) })
				}
			})
		}
	}
	for name := range families {
		if prompts[name] < 40 || !slices.ContainsFunc(models, func(m multimodal.Model) bool { return m.Family == families[name] }) {
			t.Errorf("%d prompts of %s, want at least 40, and one of models", prompts[name], name)
		}
	}
}

func (b *batch) comparePrompt(t *testing.T, m multimodal.Model, n int) {
	p := &b.Prompts[n]
	runs := b.runs(t, m, n)
	want := slices.Concat(p.Positions...)
	floats := make([]float32, len(want))
	next, err := m.FractionalPositions(floats, runs)
	kit.NoError(t, err)
	compare(t, floats, want)
	if next.AfterLargest != p.Next {
		t.Errorf("next %v, want %v", next, p.Next)
	}
	nextOfCut, err := m.FractionalPositions(floats, cut(runs))
	compare(t, floats, want)
	if err != nil || nextOfCut != next {
		t.Errorf("text in pieces: next %v, want %v, error %v", nextOfCut, next, err)
	}
	integers := make([]int32, len(want))
	whole, err := m.Positions(integers, runs)
	if slices.ContainsFunc(want, func(x float32) bool { return x != float32(int32(x)) }) {
		if err == nil {
			t.Error("Positions takes fractions")
		}
		return
	}
	kit.NoError(t, err)
	compare(t, integers, want)
	if float32(whole.AfterLargest) != p.Next {
		t.Errorf("next %v, want %v", whole, p.Next)
	}
	clear(integers)
	kit.NoError(t, m.BatchPositions(integers, nil, [][]multimodal.Run{runs}, multimodal.BatchOptions{Length: len(p.IDs)})) // it needs no next
	compare(t, integers, want)
	if p.Generated != nil {
		b.compareGenerated(t, m, runs, n)
	}
}

// cut returns runs of the same positions: text in pieces, also empty ones but before an image, which
// comes directly after its marker; and times of images, which nothing reads.
func cut(runs []multimodal.Run) (pieces []multimodal.Run) {
	for _, r := range runs {
		switch r.Kind {
		case multimodal.Image:
			r.SecondsPerGrid = float32(math.Inf(1))
		case multimodal.Video:
		default:
			pieces = append(pieces, text(0))
		}
		for ; r.Kind == multimodal.Text && r.Tokens > 1; r.Tokens-- {
			pieces = append(pieces, text(1))
		}
		pieces = append(pieces, r)
	}
	return pieces
}

// compareGenerated compares the positions of the images that GLM-Image generates: they are
// further runs, and a token more.
func (b *batch) compareGenerated(t *testing.T, m multimodal.Model, runs []multimodal.Run, n int) {
	p := &b.Prompts[n]
	for _, g := range grids(p.Generated) {
		runs = append(runs, multimodal.Run{Kind: multimodal.Image, Tokens: g.H * g.W, Grid: g})
	}
	runs = append(runs, multimodal.Run{Tokens: 1})
	tokens := len(p.IDs) + len(p.Decoded[0])
	positions := make([]int32, 3*tokens)
	kit.Must(m.Positions(positions, runs))
	for axis := range 3 {
		compare(t, positions[axis*tokens:][len(p.IDs):tokens], p.Decoded[axis])
	}
}

func (b *batch) compare(t *testing.T, m multimodal.Model) {
	var prompts [][]multimodal.Run
	row := len(b.Prompts) * b.Length
	var want = make([]float32, m.Axes()*row)
	var wantNext []int32
	for n := range b.Prompts {
		p := &b.Prompts[n]
		prompts = append(prompts, b.runs(t, m, n))
		wantNext = append(wantNext, int32(p.Next))
		for axis, positions := range p.Positions {
			start := axis*row + n*b.Length
			if b.Left {
				start += b.Length - len(p.IDs)
			}
			copy(want[start:], positions)
			if slices.ContainsFunc(positions, func(x float32) bool { return x != float32(math.Trunc(float64(x))) }) {
				return
			}
		}
	}
	positions, nexts := make([]int32, len(want)), make([]multimodal.Next[int32], len(prompts))
	if allocations := testing.AllocsPerRun(2, func() {
		kit.NoError(t, m.BatchPositions(positions, nexts, prompts, multimodal.BatchOptions{Length: b.Length, PadLeft: b.Left}))
	}); allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
	compare(t, positions, want)
	var next []int32
	for _, n := range nexts {
		next = append(next, n.AfterLargest)
	}
	if !slices.Equal(next, wantNext) {
		t.Errorf("next %v, want %v", next, wantNext)
	}
}

func compare[T int32 | float32](t *testing.T, got []T, want []float32) {
	t.Helper()
	for i := range want {
		if float32(got[i]) != want[i] {
			t.Errorf("element %d of %d is %v, want %v", i, len(want), got[i], want[i])
			return
		}
	}
}

// Each model whose functions gave the vectors of a family is of that family, and no other
// model is of any.
func TestFamilyOf(t *testing.T) {
	known := map[string]bool{}
	for _, file := range []string{"transformers", "ming"} {
		var all vectors
		readGolden(file, &all)
		for _, f := range all.Families {
			for _, name := range f.Models {
				known[name] = true
				if family, err := multimodal.FamilyOf(name); err != nil || family != families[f.Family] {
					t.Errorf("%s is %v, want %s; error %v", name, family, f.Family, err)
				}
			}
		}
	}
	// These run the code of another type, in transformers and by its processor in Baidu's files.
	for name, code := range map[string]string{"glmga": "glm46v", "colqwen2": "qwen2_vl", "qwen3_omni_moe_talker": "qwen3_omni_moe", "ernie4_5_moe_vl": "ernie4_5_vl_moe"} {
		if family, err := multimodal.FamilyOf(name); err != nil || family != kit.Must(multimodal.FamilyOf(code)) {
			t.Errorf("%s is %v, want that of %s; error %v", name, family, code, err)
		}
		known[name] = true
	}
	for _, name := range multimodal.ModelTypes() {
		if !known[name] {
			t.Errorf("no vectors of %s", name)
		}
	}
	long := strings.Repeat("x", 65)
	for name, says := range map[string]string{
		long[:64]: strconv.Quote(long[:64]), long: strconv.Quote(long[:64] + "..."), "minicpmv4_6": "token i position i on all axes",
		"": `""`, "llama": `"llama"`, "qwen2_vl ": `"qwen2_vl "`, strings.Repeat("é", 100): "", strings.Repeat("x", 1<<20): "",
	} {
		_, err := multimodal.FamilyOf(name)
		kit.Failures(t)(err, posenc.ErrConfig, "multimodal.FamilyOf: modelType is ", says)
	}
}

// generate() of transformers decodes behind the last token of a prompt, on each axis:
// testdata/decode.json.gz.
func TestDecode(t *testing.T) {
	var golden struct {
		Versions map[string]string
		Families map[string][]struct {
			Model          string
			IDs            []int32
			Images, Videos []grid
			Seconds        []float32
			Last           []float32
			Decoded        [][]float32 // [axes][tokens]
		}
	}
	readGolden("decode", &golden)
	differ := 0
	for name, prompts := range golden.Families {
		m := models[slices.IndexFunc(models, func(m multimodal.Model) bool { return m.Family == families[name] })]
		switch m.Family {
		case multimodal.Qwen25VL:
			m.PositionsPerSecond = 4
		case multimodal.Qwen3Omni:
			m.PositionsPerSecond = 25
		}
		for _, p := range prompts {
			media := multimodal.Media{Images: grids(p.Images), Videos: grids(p.Videos), SecondsPerGrid: p.Seconds}
			runs, err := m.AppendRuns(nil, p.IDs, multimodal.TokenIDs{Image: 40, Video: 41, VideoStart: 47, VideoEnd: 48}, media)
			kit.NoError(t, err)
			positions := make([]float32, 3*len(p.IDs))
			next := kit.Must(m.FractionalPositions(positions, runs))
			for axis := range 3 {
				if last := positions[(axis+1)*len(p.IDs)-1]; last != p.Last[axis] {
					t.Errorf("%s, %d tokens: the last is at %v on axis %d, want %v", p.Model, len(p.IDs), last, axis, p.Last[axis])
				}
				for i, want := range p.Decoded[axis] {
					if got := next.Axes[axis] + float32(i); got != want {
						t.Errorf("%s, %d tokens: decoded token %d is at %v on axis %d, want %v", p.Model, len(p.IDs), i, got, axis, want)
					}
				}
				if next.Axes[axis] != next.AfterLargest {
					differ++
				}
			}
		}
	}
	if differ == 0 {
		t.Error("no prompt tells next.Axes from next.AfterLargest")
	}
}

// The table of families of docs/multimodal.md has every family and every model once, and
// each model in the row of its family.
func TestDocs(t *testing.T) {
	quoted := regexp.MustCompile("`([a-z0-9_]+)`")
	rows, models := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(string(kit.Must(os.ReadFile("../docs/multimodal.md")))) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		name := strings.Trim(cells[1], " `")
		family, ok := families[name]
		if !ok {
			continue
		}
		rows[name] = true
		for _, model := range quoted.FindAllStringSubmatch(cells[2], -1) {
			if got, err := multimodal.FamilyOf(model[1]); err != nil || got != family || models[model[1]] {
				t.Errorf("%s is in the row of %s: family %v, error %v, or twice", model[1], name, got, err)
			}
			models[model[1]] = true
		}
	}
	for name := range families {
		if !rows[name] {
			t.Errorf("no row of %s", name)
		}
	}
	for _, model := range multimodal.ModelTypes() {
		if !models[model] {
			t.Errorf("%s is in no row", model)
		}
	}
}

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
	kit.NoError(t, json.Unmarshal(golden.Config, &config))
	bits := slices.Concat(golden.RotatedQ, golden.RotatedK)

	model := multimodal.Model{Family: kit.Must(multimodal.FamilyOf("qwen3_vl")), MergeSize: 2}
	tokens := multimodal.TokenIDs{Image: config.ImageToken, Video: config.VideoToken}
	runs, err := model.AppendRuns(nil, golden.IDs, tokens, multimodal.Media{Images: grids(golden.Images), Videos: grids(golden.Videos)})
	kit.NoError(t, err)
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
		rotary := kit.Must(kit.Must(modelconfig.HuggingFace(golden.Config)).Rope(modelconfig.RopeOptions{Rounding: rounding})).Rotary(0)
		q, k := slices.Clone(golden.Q), slices.Clone(golden.K)
		kit.NoError(t, posenc.Rotate(rotary.AtAxes(positions), posenc.View[float32]{Data: q, Heads: 1}, posenc.View[float32]{Data: k, Heads: 1}))
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
	kit.ReadJSON("testdata/towers.json.gz", &golden)
	if len(golden.Types) < 26 {
		t.Errorf("%d towers", len(golden.Types))
	}
	for name, tower := range golden.Types {
		m := kit.Must(modelconfig.HuggingFaceVision(kit.Must(json.Marshal(tower.Config))))
		cfg := kit.Must(m.Rope()).Rotary(slices.IndexFunc(m.Layers(), func(l modelconfig.Layer) bool { return l.Rotates })).Config()
		if name == "kimi_k25_vision" || name == "step3p5_vision" {
			cfg.Layout = posenc.HalfSplit // transformers permutes the published weights
		}
		rope, patches := kit.Must(posenc.NewRotary(cfg)), m.Patches()
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
			kit.NoError(t, multimodal.PatchPositions(positions, grids, options))
			if side, windows := tower.Config["window_size"].(float64); windows && !patches.RowByRow {
				window := multimodal.WindowOptions{MergeSize: 2, WindowSize: int(side), PatchSize: int(tower.Config["patch_size"].(float64))}
				order, _, err := multimodal.AppendWindows(nil, nil, grids, window)
				kit.NoError(t, err)
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
				x = append(x, kit.GoldenInputs(2*dim*token, dim)...)
			}
			kit.NoError(t, posenc.Rotate(rope.AtAxes(positions), posenc.View[float32]{Data: x, Heads: 1}))
			for i := range x {
				want := float64(int16(kit.Must(strconv.ParseUint(call.Q[4*i:][:4], 16, 16)))) / 4096
				// Half of 2^-12, and the float32 arithmetic of numbers up to 6.
				if math.Abs(float64(x[i])-want) > 0x1p-12 {
					t.Errorf("%s, %v: element %d of patch %d is %v, want %v", name, call.Grids, i%dim, i/dim, x[i], want)
					break
				}
			}
		}
	}
}
