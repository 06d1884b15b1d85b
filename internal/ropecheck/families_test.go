package ropecheck_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/ropecheck"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/modelconfig"
)

// kindsOf are the configurations of the kinds of layers of every type of package
// modelconfig, with the keys that it needs.
func kindsOf(t *testing.T) map[string][]ropecheck.Candidate {
	var survey struct {
		Types map[string]struct {
			Needs map[string]any `json:"needs"`
		} `json:"types"`
	}
	testkit.ReadJSON("../../modelconfig/testdata/transformers/survey.json.gz", &survey)
	kinds := map[string][]ropecheck.Candidate{}
	for name, entry := range survey.Types {
		document := map[string]any{"model_type": name}
		maps.Copy(document, entry.Needs)
		config := testkit.Must(json.Marshal(document))
		m, err := modelconfig.HuggingFace(config)
		if err != nil {
			if m, err = modelconfig.HuggingFaceVision(config); err != nil {
				continue
			}
		}
		options := modelconfig.RopeOptions{SequenceLength: 64}
		for _, layer := range m.Layers() {
			if layer.FrequencyFactors != "" {
				options.FrequencyFactors = slices.Repeat([]float64{1.1}, layer.Rule.Pairs)
			}
		}
		rope := testkit.Must(m.Rope(options))
		add := func(kind string, r *posenc.Rotary) {
			if r != nil && !slices.ContainsFunc(kinds[name], func(c ropecheck.Candidate) bool { return c.Name == kind }) {
				kinds[name] = append(kinds[name], ropecheck.Candidate{Name: kind, Config: r.Config()})
			}
		}
		for i, layer := range m.Layers() {
			add(layer.Kind, rope.Rotary(i))
			add("indexer", rope.Indexer(i))
		}
	}
	if len(kinds) < 200 {
		t.Errorf("%d types are read", len(kinds))
	}
	return kinds
}

// spread are positions of a configuration, [axes][tokens].
func spread(cfg *posenc.RotaryConfig, tokens int) []int32 {
	var list []int32
	for a := range axesOf(cfg) {
		for i, p := range positionsOf(tokens) {
			if a > 0 { // the others in another order
				p = int32(i*(5+2*a)%tokens) + int32(a)
			}
			list = append(list, p)
		}
	}
	return list
}

// TestFamilies rotates by the configuration of every kind of layer of every model type. The
// check finds it among the kinds of its model, and what it was without them.
func TestFamilies(t *testing.T) {
	kinds := kindsOf(t)
	var done []posenc.RotaryConfig
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		for _, kind := range kinds[name] {
			cfg := kind.Config
			if slices.ContainsFunc(done, func(d posenc.RotaryConfig) bool { return reflect.DeepEqual(d, cfg) }) {
				continue
			}
			done = append(done, cfg)
			if !tried(len(done)) {
				continue
			}
			t.Run(name+"/"+kind.Name, func(t *testing.T) {
				const tokens = 24
				d := rotated(cfg, spread(&cfg, tokens), 4)
				var candidates []ropecheck.Candidate
				for _, other := range kinds[name] {
					if other.Config.HeadDim == cfg.HeadDim && axesOf(&other.Config) <= axesOf(&cfg) {
						candidates = append(candidates, other)
					}
				}
				r := testkit.Must(ropecheck.Check(d, candidates...))
				for i, c := range candidates {
					agrees := r.Candidates[i].Verdict == ropecheck.Agrees
					if c.Name == kind.Name && (!agrees || len(r.Candidates[i].Faults) > 0 || r.Candidates[i].Arithmetics[0].Equal != 1) {
						t.Errorf("%q does not agree", c.Name)
					}
					if c.Name != kind.Name && agrees && differ(&c.Config, &cfg) {
						t.Errorf("%q agrees, too", c.Name)
					}
				}
				if t.Failed() {
					t.Fatal(r)
				}
				r = testkit.Must(ropecheck.Check(d))
				h, dim := r.Hypotheses[0], cmp.Or(cfg.RotaryDim, cfg.HeadDim)
				still := 0 // pairs at the end that do not rotate
				for still < len(cfg.InvFreq) && cfg.InvFreq[len(cfg.InvFreq)-1-still] == 0 {
					still++
				}
				if h.Layout != cfg.Layout || h.Offset != cfg.Offset || h.RotaryDim != dim && still == 0 || !h.Explains {
					t.Errorf("%v, %d elements from %d on, want %v, %d, %d", h.Layout, h.RotaryDim, h.Offset, cfg.Layout, dim, cfg.Offset)
				}
				if want := cfg.AttentionFactor; math.Abs(h.AttentionFactor*h.Scale-want) > 1e-5 {
					t.Errorf("AttentionFactor is %v, want %v", h.AttentionFactor, want)
				}
				sign, known := map[bool]float64{false: 1, true: -1}[h.Inverse], 0
				for i, f := range h.InvFreq {
					if slices.Contains(h.Unknown, i) || i >= len(cfg.InvFreq) {
						continue
					}
					known++
					// Elements of float32 have angles of 2^-24, at positions of 1000 and more.
					turns := math.Remainder(sign*f-cfg.InvFreq[i], 2*math.Pi)
					if math.Abs(turns) > 1e-6+1e-5*math.Abs(cfg.InvFreq[i]) {
						t.Errorf("InvFreq[%d] is %v, want %v", i, sign*f, cfg.InvFreq[i])
					}
				}
				if known*2 < len(cfg.InvFreq)-still {
					t.Errorf("%d of %d frequencies are known", known, len(cfg.InvFreq))
				}
				if t.Failed() {
					t.Log(cfg, r)
				}
			})
		}
	}
	t.Logf("%d configurations of %d types", len(done), len(kinds))
	if len(done) < 80 {
		t.Errorf("%d configurations, want at least 80", len(done))
	}
}

func axesOf(cfg *posenc.RotaryConfig) int {
	if cfg.Axes == nil {
		return 1
	}
	return int(slices.Max(cfg.Axes)) + 1
}

// differ reports whether two configurations rotate differently.
func differ(a, b *posenc.RotaryConfig) bool {
	return a.Layout != b.Layout || a.Offset != b.Offset || !slices.Equal(a.InvFreq, b.InvFreq) || a.AttentionFactor != b.AttentionFactor || !slices.Equal(a.Axes, b.Axes)
}
