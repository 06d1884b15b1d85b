package multimodal_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"
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
	file := bytes.NewReader(testkit.Must(os.ReadFile("testdata/" + name + ".json.gz")))
	decoder := json.NewDecoder(bytes.NewReader(testkit.Must(io.ReadAll(testkit.Must(gzip.NewReader(file))))))
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
	if next != p.Next {
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
	if float32(whole) != p.Next {
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
	positions, next := make([]int32, len(want)), make([]int32, len(prompts))
	testkit.NoError(t, m.BatchPositions(positions, next, prompts, multimodal.BatchOptions{Length: b.Length, PadLeft: b.Left}))
	compare(t, positions, want)
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
	for _, name := range multimodal.ModelTypes() {
		if !known[name] {
			t.Errorf("no vectors of %s", name)
		}
	}
	for _, name := range []string{"", "llama", "qwen2_vl ", strings.Repeat("é", 100)} {
		_, err := multimodal.FamilyOf(name)
		fails(t, err, multimodal.ErrConfig, "multimodal.FamilyOf", "modelType")
	}
}
