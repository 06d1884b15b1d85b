package modelconfig

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
	"github.com/go-posenc/posenc/modelconfig/internal/models"
)

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
}

// TestIncompleteForms reads configurations that leave out their text model, some of its keys, or some
// of rope_parameters: what is missing has the default that transformers gives it there, the
// reading is refused, or a trap says how transformers differs.
func TestIncompleteForms(t *testing.T) {
	f := new(formed)
	testkit.ReadJSON("testdata/transformers/forms.json.gz", f)
	var agree, refused, trapped, failed int
	reasons, layersOnly := map[string]int{}, map[string]int{}
	for _, name := range document.SortedKeys(f.Types) {
		for i, form := range f.Types[name] {
			if !testkit.Sampled(i, 4) {
				continue
			}
			m, err := readOf(name, form.Document)
			switch {
			case form.Error != "":
				failed++
			case decided[name] != "" || err == nil && decided[m.Type()] != "":
				trapped++
			case err != nil:
				refused++
				known := false
				for reason := range formRefusals {
					if strings.Contains(err.Error(), reason) {
						known, reasons[reason] = true, reasons[reason]+1
					}
				}
				if !known {
					t.Errorf("%s: refused for no reason of formRefusals: %v", testkit.Must(json.Marshal(form.Document)), err)
				}
			default:
				problems := f.Results[*form.Result].compareModel(m)
				switch unread := m.of().BaseUnread || m.of().ScalingUnread; {
				case unread && len(problems) == 0:
					t.Errorf("%s: transformers agrees, a trap says it does not", testkit.Must(json.Marshal(form.Document)))
				case unread:
					trapped++
				case len(problems) > 0:
					t.Errorf("%s:\n\t%s", testkit.Must(json.Marshal(form.Document)), strings.Join(problems, "\n\t"))
				case !slices.ContainsFunc(slices.Collect(maps.Values(f.Results[*form.Result].Kinds)), func(k *surveyedKind) bool { return k.InvFreq != "" }):
					layersOnly[m.Type()]++
				default:
					agree++
				}
			}
		}
	}
	for reason := range formRefusals {
		if reasons[reason] == 0 && testkit.AllRounds() {
			t.Errorf("no form is refused with %q", reason)
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
