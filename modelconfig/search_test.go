package modelconfig

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
	"github.com/go-posenc/posenc/modelconfig/internal/models"
)

// searched is testdata/transformers/search.json.gz: random configurations of every type that
// transformers rotates, and what the models' own code makes of them. search.py there makes it.
type searched struct {
	Versions map[string]string
	Seed     string
	Types    map[string]struct {
		By    string // trace.py, which runs whole models, or survey.py
		Found []*searchedConfig
	}
}

type searchedConfig struct {
	Document map[string]any
	Type     string                    // of the model that was run
	Stage    string                    // at which transformers failed
	Error    string                    // with what
	Layers   string                    // a letter of Records for each, - where nothing rotates, ? where that is not known
	Records  map[string]*searchedLayer //
	Unknown  []string

	by string // as of its type
}

type searchedLayer struct {
	surveyedKind
	Q       any     // factors of queries at searchedPositions, or "unexplained"
	Scaling float64 // of scores, times the root of the head size
	Moves   bool    `json:"rotates"`
}

// searchedPositions are the positions of the heads that are rotated.
var searchedPositions = []int32{0, 1, 77, 1000}

// A decision is a line of testdata/transformers/decided.txt: why configurations may be read otherwise
// than transformers reads them, and patterns of the types, of the difference or the error of
// transformers, and of the configuration as JSON. - matches all.
type decision struct {
	why                       string
	types, difference, config *regexp.Regexp
	used                      int
}

func decisions() (list []*decision) {
	compiled := func(pattern string) *regexp.Regexp {
		if pattern == "-" {
			pattern = ""
		}
		return regexp.MustCompile(pattern)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(kit.Must(os.ReadFile("testdata/transformers/decided.txt")))), "\n") {
		f := strings.Split(line, "\t")
		types := f[1]
		if types != "-" {
			types = "^(" + types + ")$"
		}
		list = append(list, &decision{why: f[0], types: compiled(types), difference: compiled(f[2]), config: compiled(f[3])})
	}
	return list
}

func (d *decision) fits(modelType, config, difference string) bool {
	return d.types.MatchString(modelType) && d.difference.MatchString(difference) && d.config.MatchString(config)
}

// TestSearch compares random configurations with what the models' own code makes of them, layer by
// layer, through the README's lines: a sample, or the file that POSENC_SEARCH names.
func TestSearch(t *testing.T) {
	s, file := new(searched), "testdata/transformers/search.json.gz"
	if whole := os.Getenv("POSENC_SEARCH"); whole != "" {
		file = whole
	}
	kit.ReadJSON(file, s)
	count, list := map[string]int{}, decisions()
	for _, name := range document.SortedKeys(s.Types) {
		for _, config := range s.Types[name].Found {
			config.by = s.Types[name].By
			outcome, why := config.judge(name)
			if key := missingText(name, config.Document); key != "" {
				why = "no " + key + ": " + why
			}
			text := string(kit.Must(json.Marshal(config.Document)))
			i := slices.IndexFunc(list, func(d *decision) bool { return d.fits(name, text, why) })
			switch {
			case outcome != "differs" && outcome != "accepted":
				if testing.Verbose() && outcome != "agrees" {
					t.Logf("%s: %s\t%s\n\t%s", name, outcome, text, why)
				}
			case i < 0:
				t.Errorf("%s: %s\t%s\n\t%s", name, outcome, text, why)
			default:
				list[i].used++
				outcome += ", decided"
			}
			count[outcome]++
		}
	}
	t.Logf("transformers %s, seed %s: %d types: %v", s.Versions["transformers"], s.Seed, len(s.Types), count)
	for _, d := range list {
		t.Logf("%d\t%s", d.used, d.why)
	}
}

// missingText returns the key of a text model that a document does not have.
func missingText(name string, document map[string]any) string {
	h := models.HolderOf(name)
	if h == nil || h.Text.Key == "" {
		return ""
	}
	inner, ok := document[h.Text.Key].(map[string]any)
	if !ok {
		return h.Text.Key
	}
	if given, ok := inner["model_type"].(string); ok {
		return missingText(given, inner)
	}
	return missingText(h.Text.Type, inner)
}

// judge says what a configuration comes to: it agrees, both fail, it is refused, it differs, or it is
// accepted though transformers fails.
func (c *searchedConfig) judge(name string) (outcome, why string) {
	m, err := readOf(name, c.Document)
	switch {
	case c.Error != "" && err != nil:
		return "both fail", c.Error + " / " + err.Error()
	case c.Stage == "script":
		return "unknown", c.Error
	case c.Error != "":
		return "accepted", c.Stage + ": " + c.Error
	case err != nil:
		return "refused", err.Error()
	}
	problems, compared := c.compare(m)
	switch {
	case len(problems) > 0 && (m.of().BaseUnread || m.of().ScalingUnread):
		return "as a trap says", strings.Join(problems, "; ")
	case len(problems) > 0:
		return "differs", strings.Join(problems, "; ")
	case compared == 0:
		return "unknown", fmt.Sprint(c.Layers, c.Unknown)
	}
	return "agrees", ""
}

// compare returns where a model differs from what transformers does.
func (c *searchedConfig) compare(m *Model) (problems []string, compared int) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	layers := m.Layers()
	if len(c.Layers) != 0 && len(c.Layers) != len(layers) {
		say("%d layers, want %d", len(layers), len(c.Layers))
		return
	}
	o := RopeOptions{SequenceLength: 1001, Rounding: frequency.Float32}
	if c.by == "survey" { // which measures at positions 0 and 1
		o.SequenceLength = 2
	}
	for _, layer := range layers {
		if layer.FrequencyFactors != "" { // weights of trace.py are not those of a model
			o.FrequencyFactors = slices.Repeat([]float64{1}, layer.Rule.Pairs)
		}
	}
	rope, err := m.Rope(o)
	if err != nil {
		say("%v", err)
		return
	}
	done := map[string]bool{}
	for i, layer := range layers {
		letter := "?"
		if len(c.Layers) != 0 {
			letter = c.Layers[i : i+1]
		} else if len(c.Records) == 1 && layer.Rotates {
			letter = document.SortedKeys(c.Records)[0]
		}
		if letter == "?" {
			continue
		}
		compared++
		want := c.Records[letter]
		rotates := want != nil && want.Moves
		if rotates != layer.Rotates {
			say("layer %d rotates: %t, want %s", i, layer.Rotates, c.Layers)
			return
		}
		key := letter + layer.Kind
		if done[key] {
			continue
		}
		done[key] = true
		here := func(format string, args ...any) {
			say("layer %d, %s, of %s: "+format, append([]any{i, layer.Kind, c.Layers}, args...)...)
		}
		want.compareQueries(layer, here)
		if !rotates {
			continue
		}
		want.compareLayer(rope, i, layer, here)
	}
	return
}

// compareQueries compares the factors of queries.
func (want *searchedLayer) compareQueries(layer Layer, say func(string, ...any)) {
	if layer.LearnedQueryScaling.Scale != "" {
		return
	}
	got := []float32{1, 1, 1, 1}
	if layer.QueryScaling != (posenc.QueryScaling{}) {
		if err := posenc.QueryScales(got, searchedPositions, layer.QueryScaling); err != nil {
			say("QueryScales: %v", err)
		}
	}
	scales := []any{1.0, 1.0, 1.0, 1.0}
	if want != nil && want.Q != nil {
		list, ok := want.Q.([]any)
		if !ok {
			return
		}
		scales = list
	}
	for i, w := range scales {
		if math.Abs(float64(got[i])-w.(float64)) > 3e-4 {
			say("queries are scaled by %v, want %v", got, scales)
			return
		}
	}
}

// compareLayer compares frequencies, and a head rotated by the README's lines.
func (want *searchedLayer) compareLayer(rope *Rope, i int, layer Layer, say func(string, ...any)) {
	cfg := rope.Rotary(i).Config()
	cfg.InvFreq = slices.Clone(cfg.InvFreq)
	of := want.surveyedKind
	if of.By == "" && of.Unresolved == "" {
		of.By = "trace.forward"
	}
	if layer.LatentAttention {
		of.HeadDim, of.Offset = of.HeadDim-of.Offset, 0
		scale := want.Scaling
		if scale == 0 {
			scale = 1
		}
		if strings.HasPrefix(of.By, "trace") && math.Abs(layer.SoftmaxScale-scale) > 1e-5*scale {
			say("SoftmaxScale %v, want %v", layer.SoftmaxScale, scale)
		}
	}
	of.K = ""
	if len(cfg.InvFreq) == 1 { // of one pair all layouts are the same
		of.Layout = layoutNames[cfg.Layout]
	}
	if len(of.Axis) == len(cfg.InvFreq) && len(cfg.Axes) == len(cfg.InvFreq) { // nothing tells the axis of a pair that does not turn
		axes := []byte(of.Axis)
		for i, f := range cfg.InvFreq {
			if f == 0 {
				axes[i] = '0' + cfg.Axes[i]
			}
		}
		of.Axis = string(axes)
	}
	failed := false
	of.compare(&cfg, func(format string, args ...any) { failed = true; say(format, args...) })
	if failed || !strings.HasSuffix(of.By, "forward") {
		return
	}
	rows, err := rope.Rows(searchedPositions)
	if rope.tower {
		rows, err = rope.RowsAxes(slices.Repeat(searchedPositions, rope.Axes()))
	}
	if err != nil {
		say("rows: %v", err)
		return
	}
	x := kit.GoldenInputs(0, len(searchedPositions)*cfg.HeadDim)
	expected := of.rotated(x, cfg.HeadDim)
	if err := posenc.Rotate(rows.Layer(i), posenc.View[float32]{Data: x, Heads: 1}); err != nil {
		say("Rotate: %v", err)
		return
	}
	for j, w := range expected {
		// Elements are at most 4; a step of a float32 frequency moves the angle of position 1000 by 2^-14.
		if bound := 4 * 4 * 0x1p-14 * max(1, of.Factor); of.Stored && !(math.Abs(float64(x[j])-w) <= bound) {
			say("element %d of a rotated head is %v, want %v", j, x[j], w)
			return
		}
	}
}

// rotated returns heads at searchedPositions, rotated in float64.
func (want *surveyedKind) rotated(x []float32, headDim int) []float64 {
	freqs := kit.Hex[float32](want.InvFreq)
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	before, after, found := strings.Cut(want.Layout, " to ")
	if !found {
		after = before
	}
	place := func(order string, pair, part int) int {
		if order == "half-split" {
			return want.Offset + part*len(freqs) + pair
		}
		return want.Offset + 2*pair + part
	}
	for token, position := range searchedPositions {
		head := out[token*headDim:][:headDim]
		for pair, f := range freqs {
			sin, cos := math.Sincos(float64(position) * float64(f) * float64(want.Sign))
			a := float64(x[token*headDim+place(before, pair, 0)])
			b := float64(x[token*headDim+place(before, pair, 1)])
			head[place(after, pair, 0)] = (a*cos - b*sin) * want.Factor
			head[place(after, pair, 1)] = (b*cos + a*sin) * want.Factor
		}
	}
	return out
}
