package modelconfig

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"
)

// formed is testdata/transformers/forms.json.gz: what transformers makes of incomplete
// configurations. forms.py there makes it.
type formed struct {
	Versions map[string]string `json:"versions"`
	Results  []*surveyedType   `json:"results"`
	Types    map[string][]struct {
		Document map[string]any `json:"document"`
		Result   *int           `json:"result"`
		Error    string         `json:"error"`
	} `json:"types"`
}

// TestIncompleteForms reads configurations that leave out their text model, some of its keys, or some
// of rope_parameters: what is missing has the default that transformers gives it there, the
// reading is refused, or a trap says how transformers differs.
func TestIncompleteForms(t *testing.T) {
	file := testkit.Must(os.Open(filepath.Join("testdata", "transformers", "forms.json.gz")))
	defer file.Close()
	f := new(formed)
	testkit.NoError(t, json.NewDecoder(testkit.Must(gzip.NewReader(file))).Decode(f))
	var agree, refused, trapped, failed int
	for _, name := range sortedKeys(f.Types) {
		for i, form := range f.Types[name] {
			if testing.Short() && i%4 != 0 { // an emulator takes a share
				continue
			}
			m, err := readAs(name, form.Document)
			switch {
			case form.Error != "":
				failed++
			case decided[name] != "" || err == nil && decided[m.Type()] != "":
				trapped++
			case err != nil:
				refused++
			default:
				problems := f.Results[*form.Result].compareModel(m)
				switch unread := m.baseUnread || m.scalingUnread; {
				case unread && len(problems) == 0:
					t.Errorf("%s: transformers agrees, a trap says it does not", testkit.Must(json.Marshal(form.Document)))
				case unread:
					trapped++
				case len(problems) > 0:
					t.Errorf("%s:\n\t%s", testkit.Must(json.Marshal(form.Document)), strings.Join(problems, "\n\t"))
				default:
					agree++
				}
			}
		}
	}
	s := readSurvey(t)
	for name, w := range wrappers {
		if _, rotates := families[w.innerType]; rotates && slices.Contains(s.Configurations, name) && f.Types[name] == nil && refusal(w.innerType) == "" && (s.Types[name] == nil || s.Types[name].Failed == "") {
			t.Errorf("%s: no forms; run forms.py", name)
		}
	}
	t.Logf("transformers %s: %d forms agree, %d are refused, %d differ as a trap says, of %d transformers makes nothing", f.Versions["transformers"], agree, refused, trapped, failed)
}
