package modelconfig

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
)

// TestNullKinds: in each type that has several kinds of layers, a null, absent or empty object for one of them or for
// all leaves the rotating layers as they are, or is an error.
func TestNullKinds(t *testing.T) {
	rotates := func(m *Model) (layers []bool) {
		for _, layer := range m.Layers() {
			layers = append(layers, layer.Rotates)
		}
		return layers
	}
	read, refused := 0, 0
	for _, name := range document.SortedKeys(families) {
		f := families[name]
		usual, err := HuggingFace(kit.Must(json.Marshal(map[string]any{"model_type": name})))
		if err != nil || len(f.Kinds) == 0 {
			continue
		}
		for _, value := range []string{"null", "{}", ""} {
			for without := -1; without < len(f.Kinds); without++ { // -1: all
				parameters := map[string]json.RawMessage{}
				for i, k := range f.Kinds {
					switch {
					case without >= 0 && i != without:
						parameters[k.LayerType] = json.RawMessage(`{"rope_type": "default", "rope_theta": 90000}`)
					case value != "":
						parameters[k.LayerType] = json.RawMessage(value)
					}
				}
				config := kit.Must(json.Marshal(map[string]any{"model_type": name, "rope_parameters": parameters}))
				m, err := HuggingFace(config)
				switch {
				case errors.Is(err, ErrNotRotary):
					t.Errorf("%s: %v", config, err)
				case err != nil:
					refused++
				case !slices.Equal(rotates(m), rotates(usual)):
					t.Errorf("%s: other layers rotate than by default", config)
				default:
					read++
				}
			}
		}
	}
	if read < 50 || refused < 50 {
		t.Errorf("%d are read, %d are refused", read, refused)
	}
}

// TestNullBases: in each type, null under a key for a base is an error, unless the class takes its base from elsewhere.
func TestNullBases(t *testing.T) {
	refused := 0
	for _, name := range document.SortedKeys(families) {
		f := families[name]
		usual := map[string]any{"model_type": name}
		if _, err := HuggingFace(kit.Must(json.Marshal(usual))); err != nil {
			continue
		}
		for _, k := range f.KindsOrOne() {
			elsewhere := k.FixedBase != 0 || strings.Contains(f.Absent+k.Absent, "rope_theta")
			for _, key := range k.BaseKeys {
				if strings.Contains(key, ".") {
					continue
				}
				config := kit.Must(json.Marshal(map[string]any{"model_type": name, key: nil}))
				switch _, err := HuggingFace(config); {
				case err != nil && strings.Contains(err.Error(), "is null"):
					refused++
				case !elsewhere || err != nil:
					t.Errorf("%s: %v", config, err)
				}
			}
		}
	}
	if refused < 150 {
		t.Errorf("%d are refused", refused)
	}
}
