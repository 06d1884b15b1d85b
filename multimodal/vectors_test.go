package multimodal_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
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
	decoder := json.NewDecoder(bytes.NewReader(testkit.ReadGolden("testdata/" + name + ".json.gz")))
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
	testkit.NoError(t, err)
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
		if prompts[name] < 40 {
			t.Errorf("%d prompts of %s, want at least 40", prompts[name], name)
		}
	}
}

func (b *batch) comparePrompt(t *testing.T, m multimodal.Model, n int) {
	p := &b.Prompts[n]
	runs := b.runs(t, m, n)
	want := slices.Concat(p.Positions...)
	floats := make([]float32, len(want))
	next, err := m.FractionalPositions(floats, runs)
	testkit.NoError(t, err)
	compare(t, floats, want)
	if next.AfterLargest != p.Next {
		t.Errorf("next %v, want %v", next, p.Next)
	}
	integers := make([]int32, len(want))
	whole, err := m.Positions(integers, runs)
	if slices.ContainsFunc(want, func(x float32) bool { return x != float32(int32(x)) }) {
		if err == nil {
			t.Error("Positions takes fractions")
		}
		return
	}
	testkit.NoError(t, err)
	compare(t, integers, want)
	if float32(whole.AfterLargest) != p.Next {
		t.Errorf("next %v, want %v", whole, p.Next)
	}
	if p.Generated != nil {
		b.compareGenerated(t, m, runs, n)
	}
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
	testkit.Must(m.Positions(positions, runs))
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
	testkit.NoError(t, m.BatchPositions(positions, nexts, prompts, multimodal.BatchOptions{Length: b.Length, PadLeft: b.Left}))
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
		if family, err := multimodal.FamilyOf(name); err != nil || family != testkit.Must(multimodal.FamilyOf(code)) {
			t.Errorf("%s is %v, want that of %s; error %v", name, family, code, err)
		}
		known[name] = true
	}
	for _, name := range multimodal.ModelTypes() {
		if !known[name] {
			t.Errorf("no vectors of %s", name)
		}
	}
	for length, want := range map[int]string{64: strings.Repeat("x", 64), 65: strings.Repeat("x", 64) + "..."} {
		_, err := multimodal.FamilyOf(strings.Repeat("x", length))
		fails(t, err, posenc.ErrConfig, strconv.Quote(want))
	}
	for _, name := range []string{"", "llama", "qwen2_vl ", strings.Repeat("é", 100), strings.Repeat("x", 1<<20)} {
		_, err := multimodal.FamilyOf(name)
		if err != nil && len(err.Error()) > 500 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
		fails(t, err, posenc.ErrConfig, "multimodal.FamilyOf", "modelType")
	}
}

// FamilyOf knows every type that modelconfig reads with positions of several axes.
func TestFamilyOfModels(t *testing.T) {
	var survey struct {
		Configurations []string
		Types          map[string]struct {
			Needs map[string]any
			Text  *struct{ Key, Type string }
		}
	}
	testkit.ReadJSON("../modelconfig/testdata/transformers/survey.json.gz", &survey)
	several := 0
	for _, name := range append(survey.Configurations, "ernie4_5_moe_vl") {
		document := map[string]any{"model_type": name}
		maps.Copy(document, survey.Types[name].Needs)
		if text := survey.Types[name].Text; text != nil && text.Key != "" && survey.Types[text.Type].Needs != nil {
			inner := map[string]any{"model_type": text.Type}
			maps.Copy(inner, survey.Types[text.Type].Needs)
			document[text.Key] = inner
		}
		config := testkit.Must(json.Marshal(document))
		m, err := modelconfig.HuggingFace(config)
		if _, towerErr := modelconfig.HuggingFaceVision(fmt.Appendf(nil, `{"model_type": %q}`, name)); err != nil || towerErr == nil && !strings.Contains(name, "_text") && survey.Types[name].Text == nil {
			continue
		}
		rope, err := m.Rope(modelconfig.RopeOptions{SequenceLength: 1})
		first := slices.IndexFunc(m.Layers(), func(l modelconfig.Layer) bool { return l.Rotates })
		if err != nil || rope.Rotary(first).Config().Axes == nil {
			continue
		}
		several++
		if _, err := multimodal.FamilyOf(name); err != nil && !strings.Contains(err.Error(), "position i on all axes") {
			t.Errorf("%s has positions of several axes: %v", name, err)
		}
	}
	if several < 40 {
		t.Errorf("%d types with positions of several axes", several)
	}
}

// With an error nothing is written behind runs, for anything that comes before the error.
func TestAppendRunsKeepsSpareCapacity(t *testing.T) {
	m := multimodal.Model{Family: multimodal.Qwen2VL, MergeSize: 2}
	mark := multimodal.Run{Tokens: 12345}
	spare := slices.Repeat([]multimodal.Run{mark}, 8)
	ids, grids := []int32{5, 5, 7, 5, 7, 7}, []multimodal.Grid{{T: 1, H: 2, W: 2}}
	runs, err := m.AppendRuns(spare[:1], ids, multimodal.TokenIDs{Image: 7}, multimodal.Media{Images: grids})
	fails(t, err, posenc.ErrShape, "multimodal.Model.AppendRuns", "media.Images has only 1")
	if len(runs) != 1 || slices.ContainsFunc(spare, func(r multimodal.Run) bool { return r != mark }) {
		t.Errorf("got %v in %v", runs, spare)
	}
	runs, err = m.AppendRuns(spare[:1], ids[:4], multimodal.TokenIDs{Image: 7}, multimodal.Media{Images: grids})
	if err != nil || len(runs) != 4 || &runs[0] != &spare[0] {
		t.Errorf("got %v, error %v", runs, err)
	}
}

// A token id of 0 is text, whether a model has placeholders or not, and a video has one
// SecondsPerGrid, no fewer and no more.
func TestIDsOfZero(t *testing.T) {
	for _, m := range models {
		runs, err := m.AppendRuns(nil, []int32{0, 1, 0, 0}, multimodal.TokenIDs{}, multimodal.Media{Images: []multimodal.Grid{}, SecondsPerGrid: []float32{}})
		if err != nil || len(runs) != 1 || runs[0] != (multimodal.Run{Tokens: 4}) {
			t.Errorf("%v: got %v, error %v", m.Family, runs, err)
		}
		if m.PositionsPerSecond == 0 && m.TimeScale == 0 {
			continue
		}
		for _, seconds := range [][]float32{{1, 1}, {1, 1, 1, 1}} {
			_, err := m.AppendRuns(nil, []int32{9, 9, 9}, multimodal.TokenIDs{Video: 9}, multimodal.Media{Videos: slices.Repeat([]multimodal.Grid{{T: 1, H: 2, W: 2}}, 3), SecondsPerGrid: seconds})
			fails(t, err, posenc.ErrLength, "media.SecondsPerGrid has", "want 3")
		}
	}
}

// A grid of a few bytes does not make a call allocate more than its documentation says.
func TestManyFrames(t *testing.T) {
	many := []multimodal.Grid{{T: 1 << 27, H: 2, W: 2}}
	_, err := multimodal.AppendFrames(nil, many, multimodal.FrameOptions{})
	fails(t, err, posenc.ErrShape, "multimodal.AppendFrames: grids[0].T is 134217728, want at most 2^20 frames")
	if starts, err := multimodal.AppendFrames(nil, many, multimodal.FrameOptions{WholeVideos: true}); err == nil || starts != nil {
		t.Errorf("whole videos: %v, error %v", starts, err)
	}
	_, _, err = multimodal.AppendWindows(nil, nil, many, multimodal.WindowOptions{MergeSize: 2, WindowSize: 8, PatchSize: 2})
	fails(t, err, posenc.ErrShape, "multimodal.AppendWindows: grids is 536870912 patches, want at most 2^24")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := multimodal.AppendFrames(nil, []multimodal.Grid{{T: 1 << 20, H: 1, W: 1}}, multimodal.FrameOptions{}); err != nil {
		t.Error(err)
	}
	if _, _, err := multimodal.AppendWindows(nil, nil, []multimodal.Grid{{T: 1 << 14, H: 32, W: 32}}, multimodal.WindowOptions{MergeSize: 2, WindowSize: 4, PatchSize: 2}); err != nil {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	// Under the race detector slices.Grow allocates what it adds once more.
	if most := uint64(2 * (4<<20 + 2*4<<22 + 1<<20)); after.TotalAlloc-before.TotalAlloc > most {
		t.Errorf("%d bytes, want at most %d", after.TotalAlloc-before.TotalAlloc, most)
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
			testkit.NoError(t, err)
			positions := make([]float32, 3*len(p.IDs))
			next := testkit.Must(m.FractionalPositions(positions, runs))
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

// The largest merge size.
func TestBoundsOfModel(t *testing.T) {
	if _, err := (multimodal.Model{Family: multimodal.Qwen2VL, MergeSize: 1 << 15}).Positions(nil, nil); err != nil {
		t.Error(err)
	}
	// With one of the two ids alone no video has sound.
	omni := multimodal.Model{Family: multimodal.Qwen3Omni, MergeSize: 2, PositionsPerSecond: 2}
	for _, tokens := range []multimodal.TokenIDs{{VisionStart: 5}, {AudioStart: 5}} {
		runs, err := omni.AppendRuns(nil, []int32{5, 0, 0, 5, 0}, tokens, multimodal.Media{})
		if err != nil || len(runs) != 1 || runs[0] != (multimodal.Run{Tokens: 5}) {
			t.Errorf("%+v: got %v, error %v", tokens, runs, err)
		}
	}
}
