package modelconfig

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
	"github.com/go-posenc/posenc/modelconfig/internal/huggingface"
	"github.com/go-posenc/posenc/modelconfig/internal/models"
	"github.com/go-posenc/posenc/multimodal"
)

// checkModel checks what a function that reads a model has returned: an error that
// wraps what the documentation says and no Model, or a Model whose methods take any
// argument.
func checkModel(t *testing.T, m *Model, err error, seqLen int) {
	t.Helper()
	if (m == nil) != (err != nil) || err != nil && (!wrapsOne(err) || len(err.Error()) > 2000) {
		t.Fatalf("%v, error %v", m, err)
	}
	if err == nil && (m.Type() == "" || len(m.Layers()) == 0 || len(m.layerTypes()) == 0) {
		t.Fatalf("type %q, %d layers of types %q", m.Type(), len(m.Layers()), m.layerTypes())
	}
	for _, layer := range m.Layers()[:min(8, len(m.Layers()))] {
		if err := posenc.QueryScales(make([]float32, 2), []int32{0, math.MaxInt32}, layer.QueryScaling); err != nil {
			t.Fatalf("%+v: %v", layer, err)
		}
		if learned := layer.LearnedQueryScaling; (learned.Scale == "") != (learned.Bias == "") {
			t.Fatalf("%+v: %+v", layer, learned)
		}
		rule := layer.Rule
		if layer.Rotates != (rule.Name != "") || layer.Rotates && (rule.Pairs != m.of().Kinds[layer.Kind].Rotary.RotaryDim/2 || !(rule.Base > 1 && rule.Base <= math.MaxFloat64)) {
			t.Fatalf("rule %+v", rule)
		}
	}
	if err != nil {
		if _, err := m.Rope(); !errors.Is(err, posenc.ErrConfig) {
			t.Fatalf("no model: %v", err)
		}
		return
	}
	refuses := func(options ...RopeOptions) {
		t.Helper()
		if rope, err := m.Rope(options...); rope != nil || !errors.Is(err, posenc.ErrConfig) || len(err.Error()) > 2000 {
			t.Fatalf("%+v: %v", options, err)
		}
	}
	o := RopeOptions{SequenceLength: 1}
	if m.Layers()[0].Fourier.Cos != "" {
		refuses(o)
		if r, err := m.Fourier(o); (r == nil) != (err != nil) || err != nil && !errors.Is(err, ErrValue) {
			t.Fatalf("Fourier: %v", err)
		}
		return
	}
	if _, err := m.Fourier(o); !errors.Is(err, posenc.ErrConfig) {
		t.Fatalf("Fourier of another model: %v", err)
	}
	for _, layer := range m.Layers() {
		if o.FrequencyFactors == nil && layer.FrequencyFactors != "" {
			refuses(o)
			o.FrequencyFactors = slices.Repeat([]float64{1}, layer.Rule.Pairs)
		}
	}
	if _, depends := m.DependsOnLength(); depends {
		refuses(RopeOptions{FrequencyFactors: o.FrequencyFactors})
	} else if o.FrequencyFactors == nil {
		refuses(RopeOptions{SequenceLength: 1, FrequencyFactors: []float64{1}})
	}
	refuses(RopeOptions{SequenceLength: math.MinInt, FrequencyFactors: o.FrequencyFactors})
	refuses(RopeOptions{SequenceLength: 1, Rounding: 77, FrequencyFactors: o.FrequencyFactors})
	refuses(o, o)
	m.Traps()
	m.Patches()
	if m.ContextLength() < 0 || m.ContextLength() > math.MaxInt32 {
		t.Fatalf("context length %d", m.ContextLength())
	}
	checkRope(t, m, o, true)
	for _, layerType := range m.layerTypes() {
		if m.of().Kinds[layerType].Rotary.RotaryDim > 1024 { // more frequencies take long
			return
		}
	}
	for _, o.SequenceLength = range []int{math.MaxInt, seqLen} {
		for _, o.Rounding = range []frequency.Rounding{frequency.Exact, frequency.Float32} {
			if o.SequenceLength > 0 {
				checkRope(t, m, o, false)
			}
		}
	}
}

func second[T any](_ T, err error) error { return err }

// checkRope makes the Rope of options, which succeeds if it must, and rotates by its first layers
// as by the frequencies of their kinds.
func checkRope(t *testing.T, m *Model, o RopeOptions, must bool) {
	t.Helper()
	rope, err := m.Rope(o)
	if err != nil {
		if must || !errors.Is(err, ErrValue) || len(err.Error()) > 2000 {
			t.Fatalf("%+v: %v", o, err)
		}
		return
	}
	layers := m.Layers()
	for _, k := range m.of().Kinds {
		if len(k.Rotary.Axes) == 0 && k.Rotary.RotaryDim == 0 {
			t.Fatal("a kind that rotates nothing")
		}
	}
	positions := []int32{3, 0, 2, 1}[:rope.Axes()]
	rows, err := rope.RowsAxes(positions)
	if err == nil {
		err = rows.RefillAxes(positions)
	}
	if err != nil {
		if !errors.Is(err, posenc.ErrPosition) { // of huge frequencies
			t.Fatalf("%+v: %v", o, err)
		}
		return
	}
	text := []int32{3, 5}
	ofText, err := rope.Rows(text)
	if err == nil {
		err = ofText.Refill(text[:1])
	}
	if m.of().Tower != errors.Is(err, posenc.ErrConfig) || !m.of().Tower && err != nil && !errors.Is(err, posenc.ErrPosition) {
		t.Fatalf("%+v: text: %v", o, err)
	}
	for _, i := range []int{0, 1, 2, 3, len(layers) - 1, len(layers), -1} {
		inside := i >= 0 && i < len(layers)
		rotary, indexer := rope.Rotary(i), rope.Indexer(i)
		if inside && (layers[i].Rotates != (rotary != nil) || layers[i].Indexer != (indexer != nil)) || !inside && (rotary != nil || indexer != nil) {
			t.Fatalf("%+v: layer %d has %v and %v", o, i, rotary, indexer)
		}
		dim := 64
		if rotary != nil {
			if cfg := rotary.Config(); len(cfg.InvFreq) != cfg.RotaryDim/2 || cfg.RotaryDim > description.MaxRotaryDim || cfg.Rounding != o.Rounding {
				t.Fatalf("%+v: %d frequencies for %d elements, Rounding %d", o, len(cfg.InvFreq), cfg.RotaryDim, cfg.Rounding)
			}
			dim = rotary.Config().HeadDim
		} else if inside {
			dim = rope.layers[i].of.Config().HeadDim
		}
		if dim > 1<<16 {
			return
		}
		q := slices.Repeat([]float32{1}, dim)
		err := posenc.Rotate(rows.Layer(i), posenc.View[float32]{Data: q, Heads: 1})
		want := slices.Repeat([]float32{1}, dim)
		if rotary != nil {
			kit.NoError(t, posenc.Rotate(rotary.AtAxes(positions[:rotary.Axes()]), posenc.View[float32]{Data: want, Heads: 1}))
		}
		if (err == nil) != inside || inside && !kit.SameBits(q, want) {
			t.Fatalf("%+v: layer %d rotates to %v, want %v, error %v", o, i, q, want, err)
		}
	}
}

// FuzzHuggingFace reads any text as a config.json, also as one of a multimodal model.
func FuzzHuggingFace(f *testing.F) {
	for _, vision := range []bool{false, true} {
		for _, topic := range slices.Concat(topicsOf(map[bool]string{false: "HuggingFace", true: "HuggingFaceVision"}[vision]), topicsOf("HuggingFaceMultimodal")) {
			f.Add(vision, []byte(topic.readings[0].document), 5000)
		}
	}
	for _, modelType := range document.SortedKeys(families) {
		f.Add(false, []byte(`{"model_type": "`+modelType+`", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2}`), 1)
	}
	f.Fuzz(func(t *testing.T, vision bool, config []byte, seqLen int) {
		read := HuggingFace
		if vision {
			read = HuggingFaceVision
		}
		m, err := read(config)
		checkModel(t, m, err, seqLen)
		if n := len(m.Layers()); n > models.MaxLayers {
			t.Fatalf("%d layers", n)
		}
		if len(config) < 512 { // it reads as many types as there are
			for _, name := range Candidates(config) {
				if _, err := HuggingFace(config, Options{Type: name}); err != nil || m != nil && !vision {
					t.Fatalf("candidate %s: %v", name, err)
				}
			}
		}
		positions, _, err := HuggingFaceMultimodal(config)
		if err != nil && (!wrapsOne(err) || positions != (multimodal.Model{})) {
			t.Fatalf("%+v, %v", positions, err)
		}
		if _, errOfPositions := positions.Positions(nil, nil); err == nil {
			kit.NoError(t, errOfPositions)
		}
	})
}

// sources are the files of the package and of its internal packages, without tests.
func sources() []string {
	files := slices.Concat(kit.Must(filepath.Glob("*.go")), kit.Must(filepath.Glob("internal/*/*.go")))
	return slices.DeleteFunc(files, func(path string) bool { return strings.HasSuffix(path, "_test.go") })
}

func parseFiles(paths []string) (trees []*ast.File) {
	for _, path := range paths {
		trees = append(trees, kit.Must(parser.ParseFile(token.NewFileSet(), path, nil, 0)))
	}
	return trees
}

// words are the names in files of Go: of keys, rules, layers and models.
func words(files []string) []string {
	name := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[a-z0-9_]+)*$`)
	found := map[string]bool{}
	for _, tree := range parseFiles(files) {
		ast.Inspect(tree, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if s, err := strconv.Unquote(literal.Value); err == nil && name.MatchString(s) {
					found[s] = true
				}
			}
			return true
		})
	}
	for _, trap := range allTraps() {
		delete(found, trap.Name)
	}
	return document.SortedKeys(found)
}

// Every function and method that the package exports stands in a file with a fuzz target.
func TestFuzzTargets(t *testing.T) {
	var fuzzed []byte
	for _, path := range kit.Must(filepath.Glob("*_test.go")) {
		if text := kit.Must(os.ReadFile(path)); bytes.Contains(text, []byte("\nfunc Fuzz")) {
			fuzzed = append(fuzzed, text...)
		}
	}
	for _, name := range kit.ExportedFunctions(t, ".") {
		if last := name[strings.LastIndexByte(name, '.')+1:]; !regexp.MustCompile(`\b` + last + `\(|= ` + last + `\b`).Match(fuzzed) {
			t.Errorf("no fuzz target calls %s", name)
		}
	}
}

// values are JSON values of every type, most of them wrong for most keys.
var values = []string{
	`null`, `true`, `false`, `0`, `1`, `-1`, `2`, `4`, `8`, `16`, `32`, `64`, `128`, `65536`, `65538`, `2147483647`, `2147483648`, `-2147483648`, `9223372036854775807`,
	`0.5`, `1.5`, `-0.5`, `1e4`, `5e5`, `1e300`, `-1e300`, `1e-300`, `1e999`, `NaN`, `-Infinity`, `""`, `"x"`, `"1"`, `[]`, `[1]`, `[0, 1]`, `[16, 24, 24]`, `[1, 1, 1, 1]`, `[-1, 2147483647, 66]`,
	`["full_attention", "sliding_attention"]`, `[null]`, `[[1]]`, `[{}]`, `{}`, `{"full_attention": {}}`, `{"sliding_attention": {"rope_theta": 0}}`, `{"x": 1}`, `{"rope_theta": "1"}`,
}

// FuzzKeys reads configurations that the fuzzer puts together from the words of
// the package: any keys, beside the rope parameters and in them, with values of any type.
func FuzzKeys(f *testing.F) {
	names := words(sources())
	types := allTypes()
	for i := range types {
		f.Add(i%2 == 0, uint8(i), uint8(i>>8), []byte{}, 0)
		f.Add(i%2 == 1, uint8(i), uint8(i>>8), []byte{1, byte(i), 0, 10, 2, byte(3 * i), 1, 20, 3, byte(5 * i), 0, 30}, 5000)
	}
	f.Fuzz(func(t *testing.T, vision bool, low, high uint8, data []byte, seqLen int) {
		type member struct{ key, value string }
		var objects [4][]member // beside rope_scaling and rope_parameters, in each, in a kind of the latter
		objects[0] = []member{{"model_type", strconv.Quote(types[(int(low)+int(high)<<8)%len(types)])}}
		for ; len(data) >= 4 && len(objects[0]) < 40; data = data[4:] {
			value := values[int(data[3])%len(values)]
			if data[0]&16 != 0 {
				value = strconv.Quote(names[(int(data[3])+int(data[0]>>5)<<8)%len(names)])
			}
			i := data[0] % 4
			objects[i] = append(objects[i], member{names[(int(data[1])+int(data[2])<<8)%len(names)], value})
		}
		text := func(members []member) string {
			var parts, seen []string
			for _, m := range members {
				if !slices.Contains(seen, m.key) { // a key twice is another error
					parts, seen = append(parts, strconv.Quote(m.key)+": "+m.value), append(seen, m.key)
				}
			}
			return "{" + strings.Join(parts, ", ") + "}"
		}
		if objects[3] != nil {
			objects[2] = append(objects[2], member{"full_attention", text(objects[3])}, member{"sliding_attention", text(objects[3])})
		}
		for i, key := range []string{1: "rope_scaling", 2: "rope_parameters"} {
			if i > 0 && objects[i] != nil {
				objects[0] = append(objects[0], member{key, text(objects[i])})
			}
		}
		read := HuggingFace
		if vision {
			read = HuggingFaceVision
		}
		m, err := read([]byte(text(objects[0])))
		checkModel(t, m, err, seqLen)
	})
}

// allTypes are the types of models and of vision towers.
func allTypes() []string {
	return append(document.SortedKeys(families), document.SortedKeys(towers)...)
}

// refusal is why a type is not read; "" for the others.
func refusal(modelType string) string {
	if t := cmp.Or(models.Types.Named(modelType), models.Towers.Named(modelType)); t != nil {
		return t.Refusal
	}
	return ""
}

// leastKeys are what types need beside their name.
var leastKeys = map[string]map[string]any{
	"bamba": {"attn_layer_indices": []int{1}}, "esm": {"position_embedding_type": "rotary"}, "granitemoehybrid": {"position_embedding_type": "rope", "layer_types": slices.Repeat([]string{"attention"}, 32)},
	"glm_image_text": {"partial_rotary_factor": 0.5}, "qwen3_omni_moe_talker_text": {"head_dim": 128}, "qwen4_exp_text": {"partial_rotary_factor": 0.25, "indexer_head_dim": 128},
	"glm4_moe": {"head_dim": 128}, "glm4v_moe_text": {"head_dim": 128}, "glm4v_text": {"partial_rotary_factor": 0.5}, "qwen3_omni_moe_text": {"head_dim": 128},
	"PanguProMoEV2": {"qk_rope_dim": 64, "qk_nope_dim": 128, "hidden_size": 512, "num_attention_heads": 8, "max_position_embeddings": 2048}, "telechat": {"base_seqlen": 8192},
	"sdar_moe": {"hidden_size": 512, "num_attention_heads": 8}, "xverse_moe": {"rope_theta": 10000, "hidden_size": 512, "num_attention_heads": 8},
	"alice_ai": {"head_dim": 128, "layer_types": slices.Repeat([]string{"full_attention"}, 32), "rope_theta": 10000, "partial_rotary_factor": 1}, "deepseek_v41_text": {"num_hidden_layers": 61, "compress_ratios": []int{0}, "compress_rope_theta": 160000, "rope_theta": 10000},
	"domyn_edge": {"head_dim": 128, "rope_theta": 10000, "position_layers": slices.Repeat([]string{"rope"}, 12)}, "gigachat3_5": {"full_attention_layers": []int{1}}, "iquest_q1": {"num_hybrid_layers_block": 2},
	"jet_nemotron": {"hidden_size": 1536, "num_attention_heads": 12, "layer_types": slices.Repeat([]string{"attn"}, 28), "rope_theta": 10000}, "k2_horizon": {"num_hidden_layers": 32, "head_dim": 128, "rope_head_dim": 128, "rope_theta": 10000}, "xllm": {"num_hidden_layers": 32, "head_dim": 128, "rope_head_dim": 128, "rope_theta": 10000},
	"mimo_v2":      {"hybrid_layer_pattern": slices.Repeat([]int{1}, 12), "head_dim": 192, "swa_head_dim": 192, "rope_theta": 10000, "swa_rope_theta": 10000},
	"mimo_v2_omni": {"hybrid_layer_pattern": slices.Repeat([]int{1}, 12), "head_dim": 192, "swa_head_dim": 192, "rope_theta": 10000, "swa_rope_theta": 10000},
	"keye_vision":  {"hidden_size": 1152, "num_attention_heads": 16}, "siglip2_navit": {"hidden_size": 1152, "num_attention_heads": 16, "use_rope": true},
	"moss_vl_vision": {"hidden_size": 1152, "num_heads": 16}, "openpangu_vl_vision": {"hidden_size": 1280, "num_heads": 16},
	"nemotron-nas": {"block_configs": slices.Repeat([]any{map[string]any{"attention": map[string]any{"no_op": false}}}, 12)},
	"hy_v4":        {"rope_theta": 10000}, "pangu_ultra_moe": {"rope_theta": 10000}, "plamo3": {"rope_theta": 10000}, "rnj1": {"head_dim": 128, "layer_types": slices.Repeat([]string{"full_attention"}, 32), "rope_theta": 10000},
	"mpt": {"attn_config": map[string]any{"rope": true}}, "xlm-roberta": {"position_embedding_type": "rotary"}, "xverse": {"rope_theta": 10000}, "zamba2": {"use_mem_rope": true},
}

// readType reads the configuration of a type, with what it needs and members.
func readType(modelType string, members map[string]any) (*Model, string, error) {
	document := map[string]any{"model_type": modelType}
	if f, ok := families[modelType]; ok && f.Positions == 0 { // no source has defaults
		document = map[string]any{"model_type": modelType, "hidden_size": 512, "num_attention_heads": 8, "num_hidden_layers": 2, "max_position_embeddings": 2048, "rope_theta": 1e4}
	}
	maps.Copy(document, leastKeys[modelType])
	maps.Copy(document, members)
	m, err := readOf(modelType, document)
	return m, string(kit.Must(json.Marshal(document))), err
}

// Every type reads a configuration that has nothing but what it needs, and takes the number of layers
// from its own key. A key about rotary positions with a wrong value is an error and not passed over,
// beside the rope parameters and, for every rule, in them. No value of a key makes a reading panic or
// fail without a sentinel.
func TestTypes(t *testing.T) {
	names := words(sources())
	known := slices.Clone(huggingface.CommonKeys)
	for _, rule := range huggingface.RopeTypes {
		known = append(known, rule.Keys...)
	}
	wrong := [][]int{{1}} // no value of any key that is about positions
	sizes := []string{
		"hidden_size", "num_attention_heads", "head_dim", "kv_channels", "qk_rope_head_dim", "num_hidden_layers", "max_position_embeddings", "rope_theta", "rope_scaling",
		"rope_parameters", "partial_rotary_factor", "rotary_dim", "layer_types", "sliding_window_pattern", "no_rope_layers", "per_layer_config",
	}
	for n, modelType := range allTypes() {
		f, isText := families[modelType]
		if !isText {
			f = towers[modelType]
		}
		layers := 12
		if modelType == "zamba2" || modelType == "iquest_q1_mtp" || leastKeys[modelType]["layer_types"] != nil { // it is in the class, or in the list
			layers = f.Layers
		}
		if m, text, err := readType(modelType, map[string]any{f.Keys.Layers[0]: layers}); f.Refusal == "" {
			several := strings.HasPrefix(modelType, "longcat_flash") || modelType == "hrm_text" // each layer attends several times
			if err != nil || len(m.layerTypes()) == 0 || len(m.Layers())%layers != 0 || several == (len(m.Layers()) == layers) {
				t.Errorf("%s: %d layers, types %q, error %v", text, len(m.Layers()), m.layerTypes(), err)
			}
		}
		refuses := func(members map[string]any) {
			t.Helper()
			if m, text, err := readType(modelType, members); m != nil || err == nil || !wrapsOne(err) || len(err.Error()) > 2000 {
				t.Errorf("%s: error %v", text, err)
			}
		}
		for _, key := range names {
			if document.NamesRotation(key) && !strings.Contains(key, ".") {
				refuses(map[string]any{key: wrong})
			}
		}
		keys := slices.Compact(slices.Sorted(slices.Values(append(known[:len(known):len(known)], f.ExtraKeys...))))
		for i, key := range keys {
			for j, rule := range huggingface.RopeTypeNames() {
				if !kit.Sampled(i+j, 4) {
					continue
				}
				rope := map[string]any{"rope_type": rule, key: wrong}
				if rule != "default" && rule != "proportional" && key != "factor" {
					rope["factor"] = 4
				}
				refuses(map[string]any{[]string{"rope_scaling", "rope_parameters"}[(i+j)%2]: rope})
			}
		}
		for i, key := range sizes {
			for _, value := range []string{`0`, `1`, `-1`, `1e300`, `null`, `"x"`, `[-1]`, `{"full_attention": null}`} {
				members := map[string]any{"hidden_size": 4, "num_attention_heads": 4, "head_dim": 4, "num_hidden_layers": 2}
				members[key] = json.RawMessage(value)
				if !kit.Sampled(n+i, 8) {
					continue
				}
				if _, text, err := readType(modelType, members); err != nil && !wrapsOne(err) {
					t.Errorf("%s: %v", text, err)
				}
			}
		}
	}
}

// keysRead is testdata/keys/keys.json.gz: the keys that the position code of four projects
// reads, and the fields of the configuration classes of transformers.
type keysRead struct {
	Keys   map[string][]string `json:"keys"`
	Near   []string            `json:"near"`
	Fields []string            `json:"fields"`
}

func readKeys(t *testing.T) *keysRead {
	t.Helper()
	k := new(keysRead)
	kit.ReadJSON("testdata/keys/keys.json.gz", k)
	if len(k.Keys) < 150 || len(k.Fields) < 2000 {
		t.Fatalf("%d keys, %d fields", len(k.Keys), len(k.Fields))
	}
	if got := strings.Fields(huggingface.KeysOfPositions); !slices.Equal(got, document.SortedKeys(k.Keys)) {
		t.Error("keysOfPositions is not what keys.json.gz has")
	}
	if got := strings.Fields(huggingface.OrdinaryKeys); !slices.Equal(got, k.Near) {
		t.Error("ordinaryKeys is not what keys.json.gz has")
	}
	return k
}

// withKey returns a document of a type with one more key.
func withKey(document map[string]any, key string, v any) []byte {
	document = maps.Clone(document)
	document[key] = v
	return kit.Must(json.Marshal(document))
}

// TestPositionKeys: no key that position code reads passes in silence on any type: the type
// reads it, or an error names it.
func TestPositionKeys(t *testing.T) {
	s, documents, refused := readSurvey(), map[string]map[string]any{}, 0
	for name := range families { // of each that is read, the shortest
		if document := s.Types[name].document(name); refusal(name) == "" {
			documents[name] = document
		}
	}
	if len(documents) < 150 {
		t.Fatalf("%d types", len(documents))
	}
	keys := document.SortedKeys(readKeys(t).Keys)
	for i, name := range document.SortedKeys(documents) {
		f := families[name]
		for j, key := range keys {
			if !kit.Sampled(i+j, 8) {
				continue
			}
			if huggingface.IsHarmless(key) || slices.Contains(f.Unread, key) || f.OriginalPositions != 0 && key == "original_max_position_embeddings" {
				continue
			}
			// No reader takes such a value.
			_, err := HuggingFace(withKey(documents[name], key, []any{map[string]any{"odd": 1}}))
			if err == nil {
				t.Errorf("%s: %s passes", name, key)
				continue
			}
			refused++
		}
	}
	t.Logf("%d keys, %d types: %d errors", len(keys), len(documents), refused)
}

// TestMisspelledKeys: a key at edit distance 1 or 2 from one that position code reads is an error
// that names it.
func TestMisspelledKeys(t *testing.T) {
	k, tried := readKeys(t), 0
	try := func(key, typo string) {
		if typo == "" || typo == key || k.Keys[typo] != nil || slices.Contains(k.Fields, typo) || slices.Contains(k.Near, typo) || huggingface.IsHarmless(typo) {
			return
		}
		if document.Distance(key, typo, 3) > huggingface.MostChanged(key) {
			return
		}
		tried++
		_, err := HuggingFace(withKey(map[string]any{"model_type": "llama"}, typo, []any{1}))
		if err == nil || !strings.Contains(err.Error(), typo) {
			t.Errorf("%s for %s: %v", typo, key, err)
		}
	}
	wantError(t, `{"model_type": "llama", "partial_rotery_factor": 0.5}`, ErrUnknown, "partial_rotary_factor")
	for n, key := range document.SortedKeys(k.Keys) {
		if !kit.Sampled(n, 8) {
			continue
		}
		for i := range len(key) {
			left := key[:i] + key[i+1:]
			j := (7*i + 3) % len(left)
			changed := key[:i] + "z" + key[i+1:]
			try(key, left)
			try(key, changed)
			try(key, key[:i]+"q"+key[i:])
			try(key, left[:j]+left[j+1:])
			try(key, changed[:j]+"w"+changed[j:])
			try(key, left[:j]+"x"+left[j:])
			if i > 0 {
				try(key, key[:i-1]+key[i:i+1]+key[i-1:i]+key[i+1:])
			}
		}
	}
	t.Logf("%d misspellings", tried)
}

// TestOrdinaryKeys: a field of any configuration class passes unless it is about positions; one whose name
// speaks of positions or frequencies is of something else.
func TestOrdinaryKeys(t *testing.T) {
	k, passed, speaking := readKeys(t), 0, readSurvey().Keys
	vouched := strings.Fields("cross_attention_frequency decoder_positional_dropout_rate encoder_positional_dropout_rate " +
		"freq_size frequency_embedding_size frequency_stride") // of layers, dropouts, a time series, a diffusion and a spectrogram
	for _, key := range k.Fields {
		if k.Keys[key] != nil || key == "model_type" {
			continue // TestPositionKeys
		}
		// Text is no value of some keys that are read (hidden_size): ErrSyntax.
		_, err := HuggingFace(withKey(map[string]any{"model_type": "llama"}, key, "odd"))
		if errors.Is(err, ErrUnknown) && document.SubjectOf(key) == document.AboutOther && !huggingface.GoesByPositions(key) {
			t.Errorf("%v", err)
		}
		if is := err == nil && !huggingface.IsHarmless(key) && slices.Contains(speaking, key); is != slices.Contains(vouched, key) {
			t.Errorf("%s speaks of positions and passes: %t", key, is)
		}
		passed++
	}
	t.Logf("%d of %d fields pass", passed, len(k.Fields))
	for _, key := range []string{"torch_dtype", "architectures", "auto_map", "quantization_config", "transformers_version", "_name_or_path", "unsloth_fixed", "trust_remote_code", "use_cache", "bf16", "fp16", "rms_eps", "vector", "padding_side", "truncation_side"} {
		if _, err := HuggingFace(withKey(map[string]any{"model_type": "llama"}, key, map[string]any{"rope_theta": 1, "odd": true})); err != nil {
			t.Error(err)
		}
	}
}

// An error shows a name or a text of up to 64 characters whole, and quotes a name that has other
// characters than letters, digits, _ and -. A key is split at separators and where a word begins with a
// capital. Longer names than 64 letters are not compared. The nearest name is the shortest that begins
// with a name, the first of several; else the one with the fewest other letters.
func TestNames(t *testing.T) {
	x64, digits := strings.Repeat("x", 64), strings.Repeat("7", 97)
	for i, tt := range []struct{ got, want any }{
		{document.KeyName(""), `""`}, {document.KeyName("aZ-zA_09"), "aZ-zA_09"}, {document.KeyName(x64), x64}, {document.KeyName(x64 + "x"), `"` + x64 + `"...`},
		{document.KeyName("a/"), `"a/"`}, {document.KeyName("a:"), `"a:"`}, {document.KeyName("a@"), `"a@"`}, {document.KeyName("a["), `"a["`}, {document.KeyName("a`"), "\"a`\""}, {document.KeyName("a{"), `"a{"`},
		{document.Quoted(""), `""`}, {document.Quoted("aZ-zA_09"), `"aZ-zA_09"`}, {document.Quoted(x64), `"` + x64 + `"`}, {document.Quoted(x64 + "x"), `"` + x64 + `"...`},
		{document.Shortened(digits[1:]), digits[1:]}, {document.Shortened(digits), digits[1:] + "..."},
		{document.WordsOf("EURopeTheta"), []string{"eu", "rope", "theta"}}, {document.WordsOf("useROPE"), []string{"use", "rope"}}, {document.WordsOf("useRoPE"), []string{"use", "ro", "pe"}},
		{document.WordsOf("USE_rope2d"), []string{"use", "rope2d"}}, {document.WordsOf("aB"), []string{"a", "b"}}, {document.WordsOf("AB"), []string{"ab"}},
		{document.Distance("llama", "llama", 10), 0}, {document.Distance("lama", "llama", 10), 1}, {document.Distance("qwen2", "qwen3", 10), 1}, {document.Distance("", "abc", 10), 3},
		{document.Distance("kitten", "sitting", 10), 3}, {document.Distance(x64[1:]+"y", x64, 10), 1}, {document.Distance(x64+"x", x64, 10), 10},
		{document.Nearest("lasr", []string{"lasr_abc", "lasr_ab", "lasr_cd", "lass"}), "lasr_ab"}, {document.Nearest("lasr", []string{"lasrab", "xasr_lasr", "lass"}), "lass"},
		{document.Nearest("lasr", []string{"lbbr", ""}), ""},
		{huggingface.MostChanged("base"), 0}, {huggingface.MostChanged("alibi"), 1}, {huggingface.MostChanged("factor"), 1}, {huggingface.MostChanged("mixed_b"), 2}, // letters
	} {
		if !reflect.DeepEqual(tt.got, tt.want) {
			t.Errorf("%d: got %v, want %v", i, tt.got, tt.want)
		}
	}
}
