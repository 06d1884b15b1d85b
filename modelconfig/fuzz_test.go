package modelconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
)

// checkModel checks what a function that reads a model has returned: an error that
// wraps what the documentation says and no Model, or a Model whose methods take any
// argument.
func checkModel(t *testing.T, m *Model, err error, seqLen int) {
	t.Helper()
	if (m == nil) != (err != nil) || err != nil && (!wrapsOne(err) || len(err.Error()) > 2000) {
		t.Fatalf("%v, error %v", m, err)
	}
	if err == nil && (m.Type() == "" || len(m.Layers()) == 0 || len(m.LayerTypes()) == 0) {
		t.Fatalf("type %q, %d layers of types %q", m.Type(), len(m.Layers()), m.LayerTypes())
	}
	for _, layer := range append(m.Layers()[:min(8, len(m.Layers()))], Layer{Type: "other"}) {
		scale, scaled := m.QueryScaling(layer)
		if scaled {
			if err := posenc.QueryScales(make([]float32, 2), []int32{0, math.MaxInt32}, scale); err != nil {
				t.Fatalf("%+v: %v", scale, err)
			}
		}
	}
	_, learned := m.LearnedFrequencies()
	for _, layer := range m.Layers()[:min(8, len(m.Layers()))] {
		if scale, bias, ok := m.LearnedQueryScaling(layer); ok != (scale != "") || ok != (bias != "") {
			t.Fatalf("%+v: %q, %q", layer, scale, bias)
		}
	}
	refuses := func(o RotaryOptions) {
		t.Helper()
		for _, err := range []error{second(m.RotaryFor(o)), second(m.SoftmaxScaleFor(o))} {
			if !errors.Is(err, ErrArgument) || len(err.Error()) > 2000 {
				t.Fatalf("%+v: %v", o, err)
			}
		}
	}
	refuses(RotaryOptions{LayerType: "another", SequenceLength: seqLen})
	refuses(RotaryOptions{LayerType: strings.Repeat("long", 100), SequenceLength: seqLen})
	beyond, depends := m.DependsOnLength()
	usual := len(m.LayerTypes()) == 1 && !depends && !learned
	for _, err := range []error{second(m.Rotary()), second(m.SoftmaxScale())} {
		if (err == nil) != usual || err != nil && !errors.Is(err, ErrArgument) {
			t.Fatalf("types %q, beyond %d %t: %v", m.LayerTypes(), beyond, depends, err)
		}
	}
	m.Traps()
	m.LatentAttention()
	m.Patches()
	if m.ContextLength() < 0 || m.ContextLength() > math.MaxInt32 {
		t.Fatalf("context length %d", m.ContextLength())
	}
	for _, layerType := range m.LayerTypes() {
		if rule, err := m.RuleFor(layerType); err != nil || rule.Name == "" || rule.Pairs != m.kinds[layerType].rotary.RotaryDim/2 || !(rule.Base > 1 && rule.Base <= math.MaxFloat64) {
			t.Fatalf("rule %+v, %v", rule, err)
		}
		o := RotaryOptions{LayerType: layerType, SequenceLength: 1}
		if learned {
			refuses(o)
			o.FrequencyFactors = slices.Repeat([]float64{1}, m.kinds[layerType].rotary.RotaryDim/2)
		} else {
			refuses(RotaryOptions{LayerType: layerType, SequenceLength: 1, FrequencyFactors: []float64{1}})
		}
		rotaryDim := checkOptions(t, m, o, true)
		for _, o.SequenceLength = range []int{math.MaxInt, seqLen} {
			if rotaryDim <= 1024 && o.SequenceLength > 0 { // more frequencies take long
				for _, o.AngleRounding = range []posenc.AngleRounding{posenc.ExactAngles, posenc.Float32Angles} {
					checkOptions(t, m, o, false)
				}
			}
		}
		refuses(RotaryOptions{LayerType: layerType, SequenceLength: math.MinInt})
		refuses(RotaryOptions{LayerType: layerType, SequenceLength: 1, AngleRounding: 77})
	}
}

func second[T any](_ T, err error) error { return err }

// checkOptions asks for the rotary configuration of options, which succeeds if it
// must, and returns how many elements it rotates.
func checkOptions(t *testing.T, m *Model, o RotaryOptions, must bool) int {
	t.Helper()
	cfg, err := m.RotaryFor(o)
	if err != nil {
		if must || !errors.Is(err, ErrValue) || len(err.Error()) > 2000 {
			t.Fatalf("%+v: %v", o, err)
		}
		return 0
	}
	if len(cfg.InvFreq) != cfg.RotaryDim/2 || cfg.RotaryDim > maxRotaryDim || cfg.AngleRounding != o.AngleRounding {
		t.Fatalf("%+v: %d frequencies for %d elements, AngleRounding %d", o, len(cfg.InvFreq), cfg.RotaryDim, cfg.AngleRounding)
	}
	if scale, err := m.SoftmaxScaleFor(o); err != nil || !(scale > 0 && scale <= math.MaxFloat64) {
		t.Fatalf("%+v: softmax scale %v, %v", o, scale, err)
	}
	if _, err := posenc.NewRotary(cfg); err != nil && (must || !errors.Is(err, posenc.ErrConfig)) {
		t.Fatal(err)
	}
	return cfg.RotaryDim
}

// FuzzHuggingFace reads any text as a config.json.
func FuzzHuggingFace(f *testing.F) {
	for i, configs := range [][]string{{
		llama31, fmt.Sprintf(gptOSS, false), fmt.Sprintf(deepSeek, "deepseek_v3", "", "1.0", "1.0"), fmt.Sprintf(qwenYaRN, ""),
		fmt.Sprintf(phi3, "su"), gemma3, gemma4V5, internLM3, `{"model_type": "llama", "x": [Infinity, -Infinity, NaN]}`,
		`{"model_type": "qwen2_vl", "rope_scaling": {"mrope_section": [16, 24, 24], "type": "mrope"}}`,
	}, {
		qwen2VL, pixtral12B, kimiK25, ernieVL, qwenOmni, `{"model_type": "llava"}`, `{"model_type": "llama4_vision_model", "rope_scaling": {"type": "axial"}}`,
	}} {
		for _, config := range configs {
			f.Add(i == 1, []byte(config), 5000)
		}
	}
	for _, modelType := range sortedKeys(families) {
		f.Add(false, []byte(`{"model_type": "`+modelType+`", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2}`), 1)
	}
	f.Fuzz(func(t *testing.T, vision bool, config []byte, seqLen int) {
		read := HuggingFace
		if vision {
			read = HuggingFaceVision
		}
		m, err := read(config)
		checkModel(t, m, err, seqLen)
		if n := len(m.Layers()); n > maxLayers {
			t.Fatalf("%d layers", n)
		}
	})
}

// parseFiles parses the files of the package, or its tests.
func parseFiles(t testing.TB, tests bool) (trees []*ast.File) {
	t.Helper()
	files := testkit.Must(filepath.Glob("*.go"))
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") != tests {
			continue
		}
		tree := testkit.Must(parser.ParseFile(token.NewFileSet(), file, nil, 0))
		trees = append(trees, tree)
	}
	return trees
}

// words are the names in the source of the package: of keys, rules, layers and
// models.
func words(t testing.TB) []string {
	t.Helper()
	name := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	found := map[string]bool{}
	for _, tree := range parseFiles(t, false) {
		ast.Inspect(tree, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if s, err := strconv.Unquote(literal.Value); err == nil && name.MatchString(s) {
					found[s] = true
				}
			}
			return true
		})
	}
	for _, trap := range append(slices.Clone(huggingFaceTraps), ggufTraps...) {
		delete(found, trap.Name)
	}
	return sortedKeys(found)
}

// Every function and method that the package exports is called where a fuzz target
// stands.
func TestFuzzTargets(t *testing.T) {
	fuzzed := map[string]bool{}
	for _, tree := range parseFiles(t, true) {
		if !slices.ContainsFunc(tree.Decls, func(d ast.Decl) bool {
			f, ok := d.(*ast.FuncDecl)
			return ok && strings.HasPrefix(f.Name.Name, "Fuzz")
		}) {
			continue
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if name, ok := n.(*ast.Ident); ok {
				fuzzed[name.Name] = true
			}
			return true
		})
	}
	for _, name := range testkit.ExportedFunctions(t, ".") {
		if _, method, found := strings.Cut(name, "."); !fuzzed[name] && !(found && fuzzed[method]) {
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
	names := words(f)
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
func allTypes() []string { return append(sortedKeys(families), sortedKeys(towers)...) }

// refusal is why a type is not read; "" for the others.
func refusal(modelType string) string { return families[modelType].refusal + towers[modelType].refusal }

// wrongValue is no value of any key that is about positions.
var wrongValue = [][]int{{1}}

// leastKeys are what types need beside their name.
var leastKeys = map[string]map[string]any{
	"bamba": {"attn_layer_indices": []int{1}}, "esm": {"position_embedding_type": "rotary"}, "granitemoehybrid": {"position_embedding_type": "rope", "layer_types": slices.Repeat([]string{"attention"}, 32)},
	"glm_image_text": {"partial_rotary_factor": 0.5}, "qwen3_omni_moe_talker_text": {"head_dim": 128}, "qwen4_exp_text": {"partial_rotary_factor": 0.25, "indexer_head_dim": 128},
	"glm4_moe": {"head_dim": 128}, "glm4v_moe_text": {"head_dim": 128}, "glm4v_text": {"partial_rotary_factor": 0.5}, "qwen3_omni_moe_text": {"head_dim": 128},
	"xlm-roberta": {"position_embedding_type": "rotary"}, "xverse": {"rope_theta": 10000}, "zamba2": {"use_mem_rope": true},
}

// readType reads the configuration of a type, with what it needs and members.
func readType(modelType string, members map[string]any) (*Model, string, error) {
	document := map[string]any{"model_type": modelType}
	maps.Copy(document, leastKeys[modelType])
	maps.Copy(document, members)
	text := testkit.Must(json.Marshal(document))
	read := HuggingFace
	if _, tower := towers[modelType]; tower {
		read = HuggingFaceVision
	}
	m, err := read(text)
	return m, string(text), err
}

func mustRefuse(t *testing.T, modelType string, members map[string]any) {
	t.Helper()
	if m, text, err := readType(modelType, members); m != nil || err == nil || !wrapsOne(err) || len(err.Error()) > 2000 {
		t.Errorf("%s: error %v", text, err)
	}
}

// Beside the rope parameters, a key about rotary positions with a wrong value is an
// error for every type, and not passed over.
func TestKeysOfWrongType(t *testing.T) {
	names := words(t)
	for _, modelType := range allTypes() {
		if _, text, err := readType(modelType, nil); err != nil && refusal(modelType) == "" {
			t.Errorf("%s: %v", text, err) // it would be of any key
		}
		for _, key := range names {
			if namesRotation(key) {
				mustRefuse(t, modelType, map[string]any{key: wrongValue})
			}
		}
	}
}

// So is one in rope parameters, whatever the rule.
func TestRopeKeysOfWrongType(t *testing.T) {
	known := slices.Clone(commonKeys)
	for _, keys := range ropeTypes {
		known = append(known, keys...)
	}
	for _, modelType := range allTypes() {
		f, text := families[modelType]
		if !text {
			f = towers[modelType]
		}
		keys := slices.Compact(slices.Sorted(slices.Values(append(known[:len(known):len(known)], f.extraKeys...))))
		for i, key := range keys {
			for j, rule := range sortedKeys(ropeTypes) {
				if testing.Short() && (i+j)%4 != 0 {
					continue
				}
				rope := map[string]any{"rope_type": rule, key: wrongValue}
				if rule != "default" && rule != "proportional" && key != "factor" {
					rope["factor"] = 4
				}
				place := []string{"rope_scaling", "rope_parameters"}[(i+j)%2]
				mustRefuse(t, modelType, map[string]any{place: rope})
			}
		}
	}
}
