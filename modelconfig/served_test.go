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
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/modelconfig/internal/models"
)

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
	for _, line := range strings.Split(strings.TrimSpace(string(testkit.Must(os.ReadFile("testdata/served/"+file)))), "\n") {
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
	for _, line := range append(lines, strings.Split(string(testkit.Must(os.ReadFile("testdata/readings/HuggingFace.txt"))), "\n")...) {
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
	testkit.ReadJSON("testdata/served/fope.json", &v)
	v.cos, v.sin, v.q, v.k, v.freqs = testkit.Hex[float32](v.Cos), testkit.Hex[float32](v.Sin), testkit.Hex[float32](v.Q), testkit.Hex[float32](v.K), testkit.Hex[float32](v.InvFreq)
	m := mustRead(t, string(v.Config))
	if layer := m.Layers()[93]; layer.Fourier.Cos != "rotary_emb.cos_coef" || layer.Fourier.Sin != "rotary_emb.sin_coef" || layer.Rule.Name != "FoPE" || layer.Rule.Pairs != len(v.freqs) {
		t.Errorf("layer %+v", layer)
	}
	if _, err := m.Rope(); !errors.Is(err, posenc.ErrConfig) || !strings.Contains(err.Error(), "want Model.Fourier") {
		t.Errorf("Rope: %v", err)
	}
	r := testkit.Must(m.Fourier(RopeOptions{Rounding: frequency.Float32}))
	for i, f := range r.Config().InvFreq {
		if x := float32(f); math.Nextafter32(x, 0) > v.freqs[i] || math.Nextafter32(x, 1) < v.freqs[i] { // PyTorch's power function may be off by one bit
			t.Errorf("InvFreq[%d] is %v, want %v", i, f, v.freqs[i])
		}
	}
	n, cfg := len(v.freqs), r.Config()
	for i := range cfg.InvFreq {
		cfg.InvFreq[i] = float64(v.freqs[i]) // so that angles of position 1000 agree, too
	}
	r = testkit.MustRotary(cfg)
	eye := func(start int) []float32 {
		c := testkit.GoldenInputs(start, v.Heads*n*n)
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
	testkit.NoError(t, r.CosSinFourier(cos, sin, v.Positions, c))
	const pairs, queries = 64, 2
	rows := testkit.Must(posenc.NewRows(posenc.RowsConfig{HeadDim: 2 * pairs, Layout: cfg.Layout}, posenc.Table[float32]{Cos: cos, Sin: sin}))
	q, k := testkit.GoldenInputs(1<<22, len(v.q)), testkit.GoldenInputs(1<<21, len(v.k))
	testkit.NoError(t, posenc.Rotate(rows.All(), posenc.View[float32]{Data: q, Heads: queries}, posenc.View[float32]{Data: k, Heads: 1}))
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
