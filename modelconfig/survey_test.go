package modelconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
	"github.com/go-posenc/posenc/modelconfig/internal/models"
)

// surveyed is testdata/transformers/survey.json.gz: what the rotary embedding of every
// configuration class of transformers computes. survey.py there makes it.
type surveyed struct {
	Versions       map[string]string        `json:"versions"`
	Configurations []string                 `json:"configurations"`
	Keys           []string                 `json:"keys"` // of configuration classes, that speak of positions
	Types          map[string]*surveyedType `json:"types"`
	Calls          map[string][]string      `json:"calls"` // what the code of a type calls that rotates; without an entry it has no code
	Holds          map[string]map[string]struct {
		Type    string         `json:"type"`
		Differs map[string]any `json:"differs"` // from the defaults of the type
	} `json:"holds"` // of the default configuration, by key
}

type surveyedType struct {
	Class   string                   `json:"class"`
	Needs   map[string]any           `json:"needs"`
	Failed  string                   `json:"failed"`
	Saved   map[string]any           `json:"saved"` // as save_pretrained writes it
	Kinds   map[string]*surveyedKind `json:"kinds"`
	Layers  []string                 `json:"layers"`
	Rotates string                   `json:"rotates"`
	Indexer *surveyedKind            `json:"indexer"` // of sparse attention: its head, layout and offset
	Text    *struct {
		Key  string `json:"key"`
		Type string `json:"type"`
	} `json:"text"`

	compared int // layers
}

type surveyedKind struct {
	Unresolved string  `json:"unresolved"`
	InvFreq    string  `json:"inv_freq"`
	Stored     bool    `json:"stored"` // InvFreq is the module's own list, not measured by its cosines
	Factor     float64 `json:"factor"`
	Axes       int     `json:"axes"`
	Axis       string  `json:"axis"` // of each pair
	By         string  `json:"by"`
	HeadDim    int     `json:"head_dim"`
	Heads      int     `json:"heads"`
	Offset     int     `json:"offset"`
	Layout     string  `json:"layout"`
	Sign       int     `json:"sign"`
	K          string  `json:"k"` // one head at position 1000
	Rotates    *bool   `json:"rotates"`
}

func readSurvey() *surveyed {
	s := new(surveyed)
	kit.ReadJSON("testdata/transformers/survey.json.gz", s)
	return s
}

// decided are the types of which transformers is not followed, with the reason; traps of
// docs/traps.md have their tests.
var decided = map[string]string{
	"hunyuan_vl_text":     "transformers gives the two elements of a pair different axes (TestTrap/mrope_of_hunyuan_has_four_axes)",
	"muse_glimmer_vision": "the forward gives the module columns before rows (multimodal.TestTowers)",
	"muse_spark_vision":   "the forward gives the module columns before rows (multimodal.TestTowers)",
	"sam3_vit_model":      "layers without windows give the module scaled positions (multimodal.TestTowers)",
	"minimax_m3_vl_text":  "transformers rotates whole heads without partial_rotary_factor (TestTrap/minimax_m3_rotates_half_heads)",
	"hy_v4":               "the files have interleaved pairs (TestTrap/hy_v4_rotates_interleaved_pairs)",
	"step3p5_vision":      "transformers permutes the weights when it loads them (TestTrap/transformers_permutes_rotated_weights)",
	"gradium_phonon_tts":  "transformers permutes the weights when it loads them (TestTrap/transformers_permutes_rotated_weights)",
	"kimi_k25_vision":     "transformers permutes the weights when it loads them (TestTrap/moonvit_alternates_columns_and_rows)",
}

// TestSurvey compares every type that transformers rotates with the reading of a
// configuration that has its name and what it needs: it agrees, or is refused. A configuration as
// transformers 5 writes it, with every key of the class, says the same.
func TestSurvey(t *testing.T) {
	s := readSurvey()
	var rotate, agree, refused, differ, otherwise, layers, indexers int
	for _, name := range document.SortedKeys(s.Types) {
		entry := s.Types[name]
		if len(entry.Kinds) == 0 {
			continue
		}
		rotate++
		m, err := readOf(name, entry.document(name))
		if err != nil {
			refused++
			t.Logf("refused: %s: %v", name, err)
			// A refusal says what this type does and what a caller can do.
			if refusal(name) == "" {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		saved, err := readOf(name, entry.Saved)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if difference := saved.differsFrom(m); difference != "" && name != "dory" { // whose files have each MLP as a layer
			t.Errorf("%s, as transformers saves it: %s", name, difference)
		}
		problems := entry.compareModel(m)
		layers += entry.compared
		switch {
		case decided[name] != "":
			otherwise++
			if len(problems) == 0 {
				t.Errorf("%s agrees, which was decided otherwise: %s", name, decided[name])
			}
		case len(problems) > 0:
			differ++
			t.Errorf("%s:\n\t%s", name, strings.Join(problems, "\n\t"))
		default:
			agree++
		}
		want := entry.Indexer // found by running its own forward
		if want == nil {
			if of := models.Types.Named(name); of != nil && of.Indexer != nil {
				t.Errorf("%s has an indexer, transformers has none", name)
			}
			continue
		}
		indexers++
		if name == "minimax_m3_vl_text" { // no layer of the default configuration has one
			m = kit.Must(HuggingFace([]byte(`{"model_type": "minimax_m3_vl_text", "layer_types": [` + strings.Repeat(`"minimax_m3_sparse", `, 59) + `"minimax_m3_sparse"]}`)))
		}
		k, has := m.of().Kinds[description.IndexerKind]
		if got := k.Rotary; !has || want.Unresolved != "" || got.HeadDim != want.HeadDim || got.Offset != want.Offset || layoutNames[got.Layout] != want.Layout && name != "hy_v4" {
			t.Errorf("%s: heads of %d from %d, %v, want %d from %d, %s, %s", name, got.HeadDim, got.Offset, got.Layout, want.HeadDim, want.Offset, want.Layout, want.Unresolved)
		}
	}
	t.Logf("transformers %s: %d types rotate: %d agree, %d are refused, %d are decided otherwise, %d differ; %d layers", s.Versions["transformers"], rotate, agree, refused, otherwise, differ, layers)
	if layers < 6500 || indexers < 8 {
		t.Errorf("%d layers and %d indexers are compared", layers, indexers)
	}
}

// document returns the shortest document of a type.
func (entry *surveyedType) document(name string) map[string]any {
	document := map[string]any{"model_type": name}
	if entry != nil {
		maps.Copy(document, entry.Needs)
	}
	return document
}

// readOf reads a document as a text model, or as a vision tower where name is one.
func readOf(name string, document map[string]any) (*Model, error) {
	read := HuggingFace
	if _, tower := towers[name]; tower {
		read = HuggingFaceVision
	}
	return read(kit.Must(json.Marshal(document)))
}

// compareModel returns where a model differs from what transformers does.
func (entry *surveyedType) compareModel(m *Model) (problems []string) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	layers := m.Layers()
	if n := len(entry.Rotates); n != 0 && n != len(layers) {
		say("%d layers, want %d", len(layers), n)
	}
	o := RopeOptions{SequenceLength: 1, Rounding: frequency.Float32}
	for i, layer := range layers {
		if i < len(entry.Rotates) && (entry.Rotates[i] == 'R' && !layer.Rotates || entry.Rotates[i] == '-' && layer.Rotates) {
			say("layer %d is %+v, want %c of %s", i, layer, entry.Rotates[i], entry.Rotates)
			break
		}
		if layer.FrequencyFactors != "" { // the survey's tensor has zeros
			o.FrequencyFactors = slices.Repeat([]float64{1}, layer.Rule.Pairs)
		}
	}
	rope, err := m.Rope(o)
	if err != nil {
		say("%v", err)
		return problems
	}
	done := map[*surveyedKind]*posenc.Rotary{}
	for i, layer := range layers {
		rotary, kind := rope.Rotary(i), ""
		if i < len(entry.Layers) {
			kind = entry.Layers[i]
		}
		want := entry.Kinds[kind]
		for name, k := range entry.Kinds {
			if want == nil && (len(entry.Kinds) == 1 || name == layer.Kind || strings.HasSuffix(name, ":"+kind)) {
				want = k
			}
		}
		if (rotary != nil) != layer.Rotates {
			say("layer %d rotates: %t, and its Rotary is %v", i, layer.Rotates, rotary)
		}
		if rotary != nil && (want == nil || want.InvFreq == "" || want.Rotates != nil) {
			continue // its attention was not run, or TestSurvey says why it is decided otherwise
		}
		entry.compared++
		if rotary == nil || done[want] == rotary {
			continue
		}
		done[want] = rotary
		cfg := rotary.Config()
		cfg.InvFreq = slices.Clone(cfg.InvFreq)
		want.compare(&cfg, func(format string, args ...any) { say("layer %d, a %s: "+format, append([]any{i, kind}, args...)...) })
	}
	return problems
}

func (want *surveyedKind) compare(cfg *posenc.RotaryConfig, say func(format string, args ...any)) {
	freqs := kit.Hex[float32](want.InvFreq)
	if len(freqs) != len(cfg.InvFreq) {
		say("%d frequencies, want %d", len(cfg.InvFreq), len(freqs))
		return
	}
	for i, w := range freqs {
		// PyTorch's power is off by a step or two, the ramps of rules by as much; angles at position 1 are
		// differences of float32 cosines and sines.
		tolerance := 6 * 0x1p-24 * math.Abs(float64(w))
		if !want.Stored {
			tolerance = 1e-4*math.Abs(float64(w)) + 1e-7
		}
		if want.Sign < 0 {
			w = -w
		}
		if math.Abs(cfg.InvFreq[i]-float64(w)) > tolerance {
			say("InvFreq[%d] is %v, want %v", i, cfg.InvFreq[i], w)
			return
		}
		if want.Stored {
			cfg.InvFreq[i] = float64(w)
		}
	}
	if math.Abs(cfg.AttentionFactor-want.Factor) > 1e-6*want.Factor {
		say("AttentionFactor is %v, want %v", cfg.AttentionFactor, want.Factor)
	}
	if want.Unresolved != "" {
		return // its attention was not run
	}
	axes := strings.Repeat("0", len(freqs))
	if cfg.Axes != nil {
		axes = axesOf(cfg.Axes)
	}
	if want.Axis != "" && axes != want.Axis {
		say("axes %s, want %s", axes, want.Axis)
	}
	layout := layoutNames[cfg.Layout]
	if layout != want.Layout {
		say("layout %s, want %s by %s", layout, want.Layout, want.By)
		return
	}
	if strings.HasSuffix(want.By, "forward") && (cfg.HeadDim != want.HeadDim || cfg.Offset != want.Offset) {
		say("heads of %d from %d, want %d from %d", cfg.HeadDim, cfg.Offset, want.HeadDim, want.Offset)
		return
	}
	if want.K == "" {
		return
	}

	// A head at position 1000 on all axes, the last of four tokens.
	head := *cfg
	if !strings.HasSuffix(want.By, "forward") {
		head.HeadDim, head.Offset = want.HeadDim, want.Offset // a function takes what rotates
	}
	x := kit.GoldenInputs(3*want.Heads*want.HeadDim, want.HeadDim)
	r, err := posenc.NewRotary(head)
	if err == nil {
		err = posenc.Rotate(r.At([]int32{1000}), posenc.View[float32]{Data: x, Heads: 1})
	}
	if err != nil {
		say("%v", err)
		return
	}
	// Elements are at most 4, so that a step of cosine and sine moves a sum by 2^-20 and
	// the roundings of both sides by as much again. A frequency that is measured, up to
	// 1e-7 off, moves the angle of position 1000 by 1e-4.
	bound := 0x1p-18 * want.Factor
	if !want.Stored {
		bound = 2e-3
	}
	for j, w := range kit.Hex[float32](want.K) {
		if !(math.Abs(float64(x[j]-w)) <= bound) {
			say("element %d of a rotated head is %v, want %v by %s", j, x[j], w, want.By)
			return
		}
	}
}

// rotates reports whether a type rotates, or may, or holds one that does.
func (s *surveyed) rotates(name string) bool {
	calls, code := s.Calls[name]
	if len(calls) > 0 || !code {
		return true
	}
	if entry := s.Types[name]; entry != nil && (len(entry.Kinds) > 0 || entry.Failed != "" || entry.Text != nil && entry.Text.Type != name && s.rotates(entry.Text.Type)) {
		return true
	}
	for _, inner := range s.Holds[name] {
		if inner.Type != name && s.rotates(inner.Type) {
			return true
		}
	}
	return false
}

// TestSurveyTowers: a configuration without its vision tower has the tower of its class, which
// need not be the default of the tower's type.
func TestSurveyTowers(t *testing.T) {
	s := readSurvey()
	var golden struct{ Types map[string]any }
	kit.ReadJSON("../multimodal/testdata/towers.json.gz", &golden)
	for name := range towers {
		if refusal(name) == "" && slices.Contains(s.Configurations, name) && golden.Types[name] == nil {
			t.Errorf("multimodal.TestTowers compares no forward of %s; run towers.py", name)
		}
	}
	read := 0
	for _, name := range document.SortedKeys(visionWrappers) {
		inner, ok := s.Holds[name][visionWrappers[name].Key]
		if !ok || inner.Type == models.HolderOf(name).TowerName { // whose weights transformers permutes
			continue
		}
		document := map[string]any{"model_type": inner.Type}
		maps.Copy(document, inner.Differs)
		got, err := HuggingFaceVision(fmt.Appendf(nil, `{"model_type": %q}`, name))
		want, wantErr := HuggingFaceVision(kit.Must(json.Marshal(document)))
		if err != nil || wantErr != nil {
			for _, sentinel := range []error{ErrUnknown, ErrNotRotary} {
				if errors.Is(err, sentinel) != errors.Is(wantErr, sentinel) {
					t.Errorf("%s: %v, its tower alone: %v", name, err, wantErr)
				}
			}
			continue
		}
		read++
		if difference := got.differsFrom(want); got.Type() != want.Type() || difference != "" {
			t.Errorf("%s is %s, want %s: %s", name, got.Type(), want.Type(), difference)
		}
	}
	if read < 20 {
		t.Errorf("%d towers", read)
	}
}

// TestSurveyKnown: every configuration class of transformers is read, or refused by what it
// does instead and what a caller can do.
func TestSurveyKnown(t *testing.T) {
	s := readSurvey()
	listed := models.Unrotated()
	for _, name := range s.Configurations {
		if strings.Contains(name, " ") {
			continue // a second class of a type
		}
		document := fmt.Appendf(nil, `{"model_type": %q}`, name)
		_, err := HuggingFace(document)
		_, visionErr := HuggingFaceVision(document)
		holds := s.Types[name] != nil && s.Types[name].Text != nil && s.Types[name].Text.Key != "" // a text model
		if err != nil && (visionErr != nil || holds) && strings.Contains(err.Error(), "a type in docs/models.md") {
			t.Errorf("%s: %v", name, err)
		}
		if rotates := s.rotates(name); slices.Contains(listed, name) == rotates {
			t.Errorf("%s rotates %t, and is in unrotated.txt %t; run survey.py", name, rotates, !rotates)
		}
	}
	for _, name := range listed {
		if !slices.Contains(s.Configurations, name) {
			t.Errorf("unrotated.txt has %s, transformers does not", name)
		}
	}
}

// formed is testdata/transformers/forms.json.gz: what transformers makes of incomplete
// configurations. forms.py there makes it.
type formed struct {
	Versions map[string]string   `json:"versions"`
	Fixed    map[string][]string `json:"fixed"` // of a class, the parts that are of one class, also where they give another model_type
	Results  []*surveyedType     `json:"results"`
	Types    map[string][]struct {
		Document map[string]any `json:"document"`
		Result   *int           `json:"result"`
		Error    string         `json:"error"`
	} `json:"types"`
}

// formRefusals are the reasons for which a form may be refused that transformers reads, by a part of
// the error, which says what a caller can do.
var formRefusals = map[string]string{
	"need one for each kind of layer":         "transformers reads nothing in one kind alone",
	"another type: this one":                  "no Model describes this rotation",
	"the only text model of":                  "transformers gives the text model another type than the file",
	"no such key: models of this type":        "transformers ignores the key",
	"the value of rope_parameters.rope_theta": "transformers ignores a base beside the rope parameters of the class",
	"a rule for":                                 "transformers ignores keys of a rule without rope_type",
	"the same as rope_type":                      "transformers ignores type beside rope_type",
	"counts of pairs that add up to all":         "transformers fails, or takes the pairs that no section counts for those of time",
	"a positive multiple of num_attention_heads": "transformers rounds the size of a head down",
	"2*hidden_size/num_attention_heads":          "the projections of such a model have another size",
	"models of this type rotate whole heads":     "transformers rotates a part here by a rule that no published model of the type has",
	"an object for each kind of layer, or none":  "transformers gives all kinds of layers one base",
	"which HuggingFaceVision reads":              "the text model of such a type encodes what to look for",
	"in a vision tower (use posenc.RotaryConfig": "transformers ignores the rule",
	"which the class of this model type needs":   "transformers fails where it scales queries",
	"all of qk_rope_head_dim rotates":            "transformers makes fewer angles than its attention takes",
	"the layers after the last group":            "implementations disagree",
	"the layers of this model type":              "transformers gives layers of unknown types attention, or none",
	"attn_layer_indices is":                      "the list is of more layers",
	"head_dim is 160, want":                      "transformers ignores the key, or makes angles for other heads than it has",
	"takes no null":                              "transformers sets an attribute that it does not read",
	"null, want a number":                        "transformers takes null for another value than the default",
	"does not read it":                           "transformers ignores the key",
	"null, want 64, by qk_rope_head_dim":         "transformers makes angles for other heads than it has",
	"rotates no layers but dense ones":           "transformers rotates none",
	"num_layers is absent":                       "programs disagree about num_hidden_layers alone",
	"an even number of rotated elements":         "transformers rounds",
	"1 or 64 of 192 elements":                    "transformers makes fewer angles than its attention takes",
	"a positive multiple of num_heads":           "transformers rounds the size of a head down",
	"54, or layers_block_type to say":            "transformers gives the layers of 54",
	"which is 0.8":                               "transformers ignores a part beside the rope parameters of the class",
}

// formsTaken has the types for which posenc reads a form that transformers fails on, with the reason.
var formsTaken = map[string]string{
	"cohere_compass":            "the default layers and rope parameters of the class contradict one another",
	"dots3_note_audio_encoder":  "the size of an adapter does not fit hidden_size",
	"dots3_note_text":           "transformers has sizes of other layers, which do not fit then",
	"dots3_note_vision_encoder": "defaults of the class are about 42 layers, and about an adapter",
	"exaone4":                   "transformers divides by 0; without windows all layers rotate",
	"exaone4_5":                 "transformers takes no type of the text model for granted",
	"falcon":                    "transformers cannot set head_dim, not even to null",
	"fun_asr_nano":              "the size of an adapter does not fit hidden_size",
	"gemma4_unified_assistant":  "another part of the model needs a text model of its own type",
	"gradium_phonon_tts":        "the size of another part does not fit hidden_size",
	"granite_swa":               "transformers has no head_dim, and takes null for one",
	"granitemoe_swa":            "transformers has no head_dim, and takes null for one",
	"olmo_hybrid":               "transformers has no head_dim, and takes null for one",
	"paligemma":                 "another part of the model needs a text model of Gemma",
	"pocket_tts":                "the size of another part does not fit hidden_size",
}

// TestIncompleteForms reads configurations that leave out their text model, some of its keys, or some
// of rope_parameters: what is missing has the default that transformers gives it there, the
// reading is refused, or a trap says how transformers differs.
func TestIncompleteForms(t *testing.T) {
	f := new(formed)
	kit.ReadJSON("testdata/transformers/forms.json.gz", f)
	var agree, refused, trapped, failed int
	reasons, layersOnly, taken := map[string]int{}, map[string]int{}, map[string]bool{}
	for _, name := range document.SortedKeys(f.Types) {
		for i, form := range f.Types[name] {
			if !kit.Sampled(i, 4) {
				continue
			}
			m, err := readOf(name, form.Document)
			switch {
			case form.Error != "":
				failed++
				switch {
				case err != nil:
				case formsTaken[name] == "":
					t.Errorf("%s: transformers fails with %s", kit.Must(json.Marshal(form.Document)), form.Error)
				default:
					taken[name] = true
				}
			case decided[name] != "" || err == nil && decided[m.Type()] != "":
				trapped++
			case errors.Is(err, ErrNotRotary) && !strings.Contains(f.Results[*form.Result].Rotates, "R"):
				agree++
			case err != nil:
				refused++
				known := false
				for reason := range formRefusals {
					if strings.Contains(err.Error(), reason) {
						known, reasons[reason] = true, reasons[reason]+1
					}
				}
				if !known {
					t.Errorf("%s: refused for no reason of formRefusals: %v", kit.Must(json.Marshal(form.Document)), err)
				}
			default:
				problems := f.Results[*form.Result].compareModel(m)
				switch unread := m.of().BaseUnread || m.of().ScalingUnread; {
				case unread && len(problems) == 0:
					t.Errorf("%s: transformers agrees, a trap says it does not", kit.Must(json.Marshal(form.Document)))
				case unread:
					trapped++
				case len(problems) > 0:
					t.Errorf("%s:\n\t%s", kit.Must(json.Marshal(form.Document)), strings.Join(problems, "\n\t"))
				case !slices.ContainsFunc(slices.Collect(maps.Values(f.Results[*form.Result].Kinds)), func(k *surveyedKind) bool { return k.InvFreq != "" }):
					layersOnly[m.Type()]++
				default:
					agree++
				}
			}
		}
	}
	for reason := range formRefusals {
		if reasons[reason] == 0 && kit.AllRounds() {
			t.Errorf("no form is refused with %q", reason)
		}
	}
	for name := range formsTaken {
		if !taken[name] && kit.AllRounds() {
			t.Errorf("no form of %s is read that transformers fails with", name)
		}
	}
	delete(layersOnly, "llama4_vision_model") // its module takes pixels; TestReadings and multimodal.TestTowers compare it
	if len(layersOnly) > 0 {
		t.Errorf("no frequencies are compared of %v", layersOnly)
	}
	s := readSurvey()
	for name, w := range wrappers {
		if slices.Contains(s.Configurations, name) && models.HolderOf(name).AnyText == slices.Contains(f.Fixed[name], w.Key) {
			t.Errorf("%s: anyText is %v; parts of one class are %q", name, models.HolderOf(name).AnyText, f.Fixed[name])
		}
		if _, rotates := families[w.Type]; rotates && slices.Contains(s.Configurations, name) && f.Types[name] == nil && refusal(w.Type) == "" && (s.Types[name] == nil || s.Types[name].Failed == "") {
			t.Errorf("%s: no forms; run forms.py", name)
		}
	}
	t.Logf("transformers %s: %d forms agree, %d are refused, %d differ as a trap says, of %d transformers makes nothing; %v", f.Versions["transformers"], agree, refused, trapped, failed, reasons)
}

// served are the types and architectures that a project rotates, one in a line of a file of
// testdata/served; survey.py there writes it.
func served(file string) (project string, names []string) {
	lines := servedLines(file)
	for _, line := range lines[1:] {
		names = append(names, line[0])
	}
	return strings.TrimPrefix(lines[0][0], "# "), names
}

// servedLines are the lines of a file of testdata/served, split at tabs.
func servedLines(file string) (lines [][]string) {
	for _, line := range strings.Split(strings.TrimSpace(string(kit.Must(os.ReadFile("testdata/served/"+file)))), "\n") {
		lines = append(lines, strings.Split(line, "\t"))
	}
	return lines
}

// asTypes are the architectures of notyet.txt with a type after them.
func asTypes() map[string]string {
	as := map[string]string{}
	for _, line := range servedLines("notyet.txt") {
		for _, name := range strings.Fields(line[1]) {
			if architecture, modelType, ok := strings.Cut(name, "="); ok {
				as[architecture] = modelType
			}
		}
	}
	return as
}

// TestServed: every type that vLLM or SGLang rotates is read, or refused by what it does instead, or
// is in notyet.txt, whose lines are a reason and the names that it is about. Those are refused, too; one
// with a type after it (=) is an architecture whose files are read as that type.
func TestServed(t *testing.T) {
	notYet, surveyed := map[string]bool{}, map[string]bool{}
	for _, line := range servedLines("notyet.txt") {
		for _, name := range strings.Fields(line[1]) {
			name, _, _ = strings.Cut(name, "=")
			if notYet[name] || line[0] == "" {
				t.Errorf("%s is in notyet.txt twice, or without a reason", name)
			}
			notYet[name] = true
		}
	}
	for _, file := range []string{"vLLM.txt", "SGLang.txt"} {
		project, names := served(file)
		count := map[string]int{}
		for _, name := range names {
			surveyed[name] = true
			document := fmt.Appendf(nil, `{"model_type": %q}`, name)
			_, err := HuggingFace(document)
			if _, visionErr := HuggingFaceVision(document); visionErr == nil {
				err = nil
			}
			switch unknown := errors.Is(err, ErrUnknown) && strings.Contains(err.Error(), "a type in docs/models.md"); {
			case unknown && !notYet[name]:
				t.Errorf("%s rotates %s: %v", project, name, err)
			case !unknown && notYet[name]:
				t.Errorf("%s is in notyet.txt, and known: %v", name, err)
			case unknown:
				count["not yet"]++
			case refusal(name) != "" || errors.Is(err, ErrNotRotary):
				count["refused"]++
			case err != nil && !errors.Is(err, ErrValue): // which asks for a key that all files of the type have
				t.Errorf("%s rotates %s: %v", project, name, err)
			default:
				count["read"]++
			}
		}
		t.Logf("%s: %d types: %v", project, len(names), count)
	}
	for name, modelType := range asTypes() {
		if _, err := HuggingFace(fmt.Appendf(nil, `{"model_type": %q}`, modelType)); !notYet[modelType] && errors.Is(err, ErrUnknown) && refusal(modelType) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name := range notYet {
		if !surveyed[name] {
			t.Errorf("notyet.txt has %s, which no survey has", name)
		}
	}
	if len(surveyed) < 300 {
		t.Errorf("%d types", len(surveyed))
	}
}

// TestServedArchitectures: ServedArchitectures has the names that are read and have no type in vLLM or SGLang.
func TestServedArchitectures(t *testing.T) {
	var want []string
	for _, file := range []string{"vLLM.txt", "SGLang.txt"} {
		for _, line := range servedLines(file)[1:] {
			if name := line[0]; name == line[1] && (models.Types.Named(name) != nil || models.Towers.Named(name) != nil || models.HolderOf(name) != nil) {
				want = append(want, name)
			}
		}
	}
	slices.Sort(want)
	if want = slices.Compact(want); !slices.Equal(strings.Fields(models.ServedArchitectures), want) {
		t.Errorf("%q, want %q", models.ServedArchitectures, want)
	}
}

// TestServedKeys: no key that position code of vLLM or SGLang reads for a type passes in silence: the type
// reads it, or an error names it, or it is in harmless.txt, whose lines are a reason and keys.
func TestServedKeys(t *testing.T) {
	harmless, used, tried, types := map[string]bool{}, map[string]bool{}, 0, map[string]bool{}
	for _, line := range servedLines("harmless.txt") {
		for _, key := range strings.Fields(line[1]) {
			if harmless[key] || line[0] == "" {
				t.Errorf("%s is in harmless.txt twice, or without a reason", key)
			}
			harmless[key] = true
		}
	}
	as, documents, unread := asTypes(), servedDocuments(), map[string]bool{}
	for _, file := range []string{"vLLM.txt", "SGLang.txt"} {
		for _, line := range servedLines(file)[1:] {
			name := line[0]
			if as[name] != "" {
				name = as[name]
			}
			config := documents(name)
			if config == nil {
				unread[name] = true
				continue
			}
			types[name] = true
			for _, key := range strings.Fields(line[4]) {
				key, _, _ = strings.Cut(key, "=")
				entry := key
				if harmless[name+"/"+key] {
					entry = name + "/" + key
				}
				tried++
				switch passes := passesIn(name, config, key); {
				case passes && !harmless[entry]:
					t.Errorf("%s: %s passes", name, key)
				case passes:
					used[entry] = true
				}
			}
		}
	}
	for key := range harmless {
		if !used[key] {
			t.Errorf("harmless.txt has %s, which no survey has for a type that takes it", key)
		}
	}
	for name := range unread {
		if _, read := families[name]; read && refusal(name) == "" {
			t.Errorf("no document of %s can be read", name)
		}
	}
	t.Logf("%d keys of %d types, %d without influence", tried, len(types), len(harmless))
}

// servedDocuments returns what finds a document of a type that can be read: with the name alone and what
// transformers' class needs, or the first in testdata/readings, or one that is given here; else nil.
func servedDocuments() func(name string) map[string]any {
	survey, first := readSurvey(), map[string][]map[string]any{}
	halves := `"rope_parameters": {"rope_type": "default", "rope_theta": 10000, "partial_rotary_factor": `
	lines := []string{
		`{"model_type": "glm4v", "text_config": {` + halves + `0.5, "mrope_section": [8, 12, 12]}}}`, `{"model_type": "glm4v_moe", "text_config": {"head_dim": 128}}`,
		`{"model_type": "glm_image", "text_config": {` + halves + `0.5, "mrope_section": [8, 12, 12]}}}`, `{"model_type": "qwen3_omni_moe", "thinker_config": {"text_config": {"head_dim": 128}}}`,
		`{"model_type": "qwen4_exp", "text_config": {"head_dim": 256, ` + halves + `0.25, "mrope_section": [11, 11, 10]}}}`,
	}
	for _, line := range append(lines, strings.Split(string(kit.Must(os.ReadFile("testdata/readings/HuggingFace.txt"))), "\n")...) {
		line, _, _ = strings.Cut(line, "\t")
		config := map[string]any{}
		if json.Unmarshal([]byte(line), &config) == nil {
			name, _ := config["model_type"].(string)
			first[name] = append(first[name], config)
		}
	}
	return func(name string) map[string]any {
		for _, config := range append([]map[string]any{survey.Types[name].document(name)}, first[name]...) {
			if _, err := readOf(name, config); err == nil {
				return config
			}
		}
		return nil
	}
}

// passesIn reports whether no reader minds an odd value of a key, in a document or in a model within it.
func passesIn(name string, config map[string]any, key string) bool {
	config = maps.Clone(config)
	if h := models.HolderOf(name); h != nil && h.Text.Key != "" && config[h.Text.Key] == nil {
		config[h.Text.Key] = map[string]any{"model_type": h.Text.Type}
	}
	var objects []map[string]any
	var add func(object map[string]any)
	add = func(object map[string]any) {
		objects = append(objects, object)
		for name, inner := range object {
			if inner, ok := inner.(map[string]any); ok && !strings.HasPrefix(name, "rope_") {
				inner = maps.Clone(inner)
				object[name] = inner
				add(inner)
			}
		}
	}
	add(config)
	return !slices.ContainsFunc(objects, func(object map[string]any) bool {
		before, given := object[key]
		object[key] = []any{map[string]any{"odd": 1}}
		_, err := readOf(name, config)
		if object[key] = before; !given {
			delete(object, key)
		}
		return err != nil
	})
}

// fopePads compares FoPE with the code of vLLM and SGLang, which agree to the last bit; fope.py there
// wrote its vectors. Rows are by HeadDim/2 pairs of 2 heads of K, each of which 2 heads of Q share.
func fopePads(t *testing.T) {
	var v struct {
		Config                json.RawMessage
		Heads                 int
		Positions             []int32
		InvFreq               string `json:"inv_freq"`
		Cos, Sin, Q, K        string
		cos, sin, q, k, freqs []float32
	}
	kit.ReadJSON("testdata/served/fope.json", &v)
	v.cos, v.sin, v.q, v.k, v.freqs = kit.Hex[float32](v.Cos), kit.Hex[float32](v.Sin), kit.Hex[float32](v.Q), kit.Hex[float32](v.K), kit.Hex[float32](v.InvFreq)
	m := mustRead(t, string(v.Config))
	if layer := m.Layers()[93]; layer.Fourier.Cos != "rotary_emb.cos_coef" || layer.Fourier.Sin != "rotary_emb.sin_coef" || layer.Rule.Name != "FoPE" || layer.Rule.Pairs != len(v.freqs) {
		t.Errorf("layer %+v", layer)
	}
	if _, err := m.Rope(); !errors.Is(err, posenc.ErrConfig) || !strings.Contains(err.Error(), "want Model.Fourier") {
		t.Errorf("Rope: %v", err)
	}
	r := kit.Must(m.Fourier(RopeOptions{Rounding: frequency.Float32}))
	for i, f := range r.Config().InvFreq {
		if x := float32(f); math.Nextafter32(x, 0) > v.freqs[i] || math.Nextafter32(x, 1) < v.freqs[i] { // PyTorch's power function may be off by one bit
			t.Errorf("InvFreq[%d] is %v, want %v", i, f, v.freqs[i])
		}
	}
	n, cfg := len(v.freqs), r.Config()
	for i := range cfg.InvFreq {
		cfg.InvFreq[i] = float64(v.freqs[i]) // so that angles of position 1000 agree, too
	}
	r = kit.MustRotary(cfg)
	eye := func(start int) []float32 {
		c := kit.GoldenInputs(start, v.Heads*n*n)
		for i := range c {
			c[i] /= 8
			if i/n%n == i%n {
				c[i]++
			}
		}
		return c
	}
	c := posenc.FourierCoefficients{Cos: eye(0), Sin: eye(1 << 20)}
	cos, sin := make([]float32, len(v.cos)), make([]float32, len(v.sin))
	kit.NoError(t, r.CosSinFourier(cos, sin, v.Positions, c))
	const pairs, queries = 64, 2
	rows := kit.Must(posenc.NewRows(posenc.RowsConfig{HeadDim: 2 * pairs, Layout: cfg.Layout}, posenc.Table[float32]{Cos: cos, Sin: sin}))
	q, k := kit.GoldenInputs(1<<22, len(v.q)), kit.GoldenInputs(1<<21, len(v.k))
	kit.NoError(t, posenc.Rotate(rows.All(), posenc.View[float32]{Data: q, Heads: queries}, posenc.View[float32]{Data: k, Heads: 1}))
	for _, list := range []struct {
		name      string
		got, want []float32
		most      float64
	}{
		// The projects round 45 sums of up to 24, because coefficients are up to 1/2 beside the identity, and
		// PyTorch's cosines are off by a bit.
		{"cos", cos, v.cos, 46 * 24 * 0x1p-24}, {"sin", sin, v.sin, 46 * 24 * 0x1p-24},
		// An element is the sum of two products with up to 4.
		{"q", q, v.q, 9 * 46 * 24 * 0x1p-24}, {"k", k, v.k, 9 * 46 * 24 * 0x1p-24},
	} {
		for i, x := range list.got {
			if math.Abs(float64(x)-float64(list.want[i])) > list.most {
				t.Fatalf("%s[%d] is %v, want %v", list.name, i, x, list.want[i])
			}
		}
	}
	for i := range cos {
		if i%pairs >= n && (cos[i] != 1 || sin[i] != 1 || v.sin[i] != 1) {
			t.Fatalf("padding %d is %v and %v", i, cos[i], sin[i])
		}
	}
}
