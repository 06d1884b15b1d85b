package modelconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
	"github.com/go-posenc/posenc/modelconfig/internal/gguf"
	"github.com/go-posenc/posenc/modelconfig/internal/models"
)

// ggufKeys are the keys of a small model of an architecture, changed and
// completed by pairs of key (after the architecture and its point, or a whole
// key after a slash) and value; nil takes a key out.
func ggufKeys(arch string, pairs ...any) map[string]any {
	keys := map[string]any{
		"general.architecture":         arch,
		arch + ".block_count":          uint32(8),
		arch + ".context_length":       uint32(32768),
		arch + ".embedding_length":     uint32(512),
		arch + ".attention.head_count": uint32(4),
		"tokenizer.ggml.tokens":        []any{"a", "b"},
	}
	for i := 0; i < len(pairs); i += 2 {
		key := pairs[i].(string)
		if whole, found := strings.CutPrefix(key, "/"); found {
			key = whole
		} else {
			key = arch + "." + key
		}
		if pairs[i+1] == nil {
			delete(keys, key)
		} else {
			keys[key] = pairs[i+1]
		}
	}
	return keys
}

// decodeNumbers reads JSON whose numbers metadataTypes gives types.
func decodeNumbers(text []byte, into any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		panic(err)
	}
}

// metadataTypes gives numbers the types that they have in a GGUF file.
func metadataTypes(keys map[string]any) {
	var typed func(v any) any
	typed = func(v any) any {
		switch v := v.(type) {
		case json.Number:
			if i, err := strconv.ParseUint(v.String(), 10, 32); err == nil {
				return uint32(i)
			}
			return float32(testkit.Must(v.Float64()))
		case []any:
			for i := range v {
				v[i] = typed(v[i])
			}
		}
		return v
	}
	for key, v := range keys {
		keys[key] = typed(v)
	}
}

// TestGGUFRopeTypes compares every architecture that llama.cpp rotates, by its own list:
// it has the same order of pairs here, is refused, or rotates nothing there either.
func TestGGUFRopeTypes(t *testing.T) {
	var list map[string][]string
	testkit.ReadJSON("testdata/llamacpp/rope_types.json", &list)
	types := map[string]models.GGUFArchitecture{
		"NORM": {Layout: models.Normal}, "NEOX": {Layout: models.NeoX}, "MROPE": {Layout: models.NeoX, Axes: models.SectionedAxes}, "IMROPE": {Layout: models.NeoX, Axes: models.InterleavedAxes},
		"MROPE with sections, else NORM": {Layout: models.Normal, Axes: models.OptionalAxes}, "MROPE with sections, else NEOX": {Layout: models.NeoX, Axes: models.OptionalAxes},
	}
	agree := 0
	for ropeType, names := range list {
		want, known := types[ropeType]
		for _, name := range names {
			arch, read := ggufArchitectures[name]
			switch {
			case known && read && arch.Layout == want.Layout && arch.Axes == want.Axes,
				name == "deepseek2-ocr" && arch.Layout == models.NeoX: // its graph names NEOX itself, against the list
				agree++
			case read || ggufRefused[name] == "" && ggufNotRotary[name] == "":
				t.Errorf("%s has layout %v and axes %d, llama.cpp has %s", name, arch.Layout, arch.Axes, ropeType)
			}
		}
	}
	if agree < 120 {
		t.Errorf("%d architectures agree", agree)
	}
}

// TestGGUFValueTypes gives the same values as each type that a reader may use.
func TestGGUFValueTypes(t *testing.T) {
	type named uint16
	read := func(keys map[string]any) posenc.RotaryConfig {
		t.Helper()
		cfg := testkit.Must(testkit.Must(GGUF(keys)).rotaryFor(kindOptions{}))
		testkit.NoError(t, second(posenc.NewRotary(cfg)))
		return cfg
	}
	want := read(ggufKeys("qwen2", "rope.dimension_count", uint32(64), "rope.freq_base", float32(50000)))
	for _, count := range []any{64, int8(64), int16(64), int32(64), int64(64), uint(64), uint8(64), uint16(64), uint64(64), named(64)} {
		for _, base := range []any{50000, int32(50000), uint64(50000), float32(50000), float64(50000)} {
			got := read(ggufKeys("qwen2", "rope.dimension_count", count, "rope.freq_base", base))
			if got.RotaryDim != 64 || got.HeadDim != 128 || !slices.Equal(got.InvFreq, want.InvFreq) {
				t.Errorf("%T and %T: RotaryDim %d of %d, frequencies %v", count, base, got.RotaryDim, got.HeadDim, got.InvFreq)
			}
		}
	}
	factors := make([]float64, 64)
	for i := range factors {
		factors[i] = 1 + float64(i)/16
	}
	keys := ggufKeys("llama", "/rope_freqs.weight", slices.Clone(factors))
	m, count := testkit.Must(GGUF(keys)), len(keys)
	keys["rope_freqs.weight"].([]float64)[0] = 100 // the model keeps no reference to it
	if want = testkit.Must(m.rotaryFor(kindOptions{})); want.InvFreq[0] != 1 || len(keys) != count {
		t.Errorf("first frequency %v, want 1; or the keys changed", want.InvFreq[0])
	}
	narrow, boxed := make([]float32, 64), make([]any, 64)
	for i, f := range factors {
		narrow[i], boxed[i] = float32(f), f
	}
	for _, list := range []any{narrow, boxed, [64]float32(narrow)} {
		if got := read(ggufKeys("llama", "/rope_freqs.weight", list)); !slices.Equal(got.InvFreq, want.InvFreq) {
			t.Errorf("%T: frequencies %v", list, got.InvFreq)
		}
	}
	for _, length := range []any{int64(math.MaxInt32), uint64(math.MaxInt32)} {
		if m := testkit.Must(GGUF(ggufKeys("qwen2", "context_length", length, "rope.freq_base", math.MaxFloat64))); m.ContextLength() != math.MaxInt32 {
			t.Errorf("%T: length %d", length, m.ContextLength())
		}
	}
	largest := append(slices.Repeat([]float64{1}, 1023), math.MaxFloat64)
	read(ggufKeys("llama", "attention.key_length", 2048, "rope.dimension_count", 2048, "/rope_freqs.weight", largest))
}

// Values of types that testdata/readings does not have.
func TestGGUFErrors(t *testing.T) {
	for _, test := range []struct {
		arch  string
		want  error
		says  string
		key   string
		value any
	}{
		{"llama", ErrValue, "InvFreq[0] is +Inf", "rope.scaling.factor", 1e-320},
		{"llama", ErrSyntax, "llama.rope.freq_base", "rope.freq_base", []float32(nil)},
		{"llama", ErrSyntax, "rope_freqs.weight", "/rope_freqs.weight", []uint8{1}},
		{"llama", ErrSyntax, "float64", "rope.dimension_count", 128.0},
		{"llama", ErrValue, "llama.rope.freq_base", "rope.freq_base", math.NaN()},
		{"llama", ErrValue, "llama.rope.freq_base", "rope.freq_base", math.Inf(1)},
		{"llama", ErrValue, "llama.rope.dimension_count", "rope.dimension_count", -1},
		{"qwen2", ErrSyntax, "qwen2.attention.head_count is of type []bool, want an integer", "attention.head_count", slices.Repeat([]bool{true}, 8)},
		{"lfm2", ErrSyntax, "lfm2.attention.head_count_kv", "attention.head_count_kv", slices.Repeat([]any{true}, 8)},
		{"llama", ErrValue, "rope_freqs.weight", "/rope_freqs.weight", []float32{}},
		{"llama", ErrValue, "rope_freqs.weight is +Inf", "/rope_freqs.weight", append(slices.Repeat([]float32{1}, 63), float32(math.Inf(1)))},
		{"llama", ErrValue, "rope_freqs.weight", "/rope_freqs.weight", append(slices.Repeat([]float32{1}, 63), 0)},
		{"qwen2vl", ErrValue, "qwen2vl.rope.dimension_sections", "rope.dimension_sections", []int32{16, -24, 24}},
		{"glm4", ErrValue, "glm4.rope.dimension_sections", "rope.dimension_sections", []any(nil)},
		{"gemma4", ErrSyntax, "gemma4.attention.sliding_window_pattern", "attention.sliding_window_pattern", slices.Repeat([]any{nil}, 8)},
	} {
		_, err := GGUF(ggufKeys(test.arch, test.key, test.value))
		if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) || !strings.HasPrefix(err.Error(), "modelconfig.GGUF: ") {
			t.Errorf("%s %v: %v, want %q that names %s", test.arch, test.key, err, test.want, test.says)
		}
	}
	if _, err := GGUF(nil); !errors.Is(err, ErrValue) {
		t.Errorf("no keys: %v", err)
	}
	keys := ggufKeys("llama")
	keys["llama.rope.freq_base"] = nil
	if _, err := GGUF(keys); !errors.Is(err, ErrSyntax) || !strings.Contains(err.Error(), "llama.rope.freq_base is of type <nil>, want a value") {
		t.Errorf("a key without a value: %v", err)
	}
}

// FuzzGGUF reads metadata that are written as those of testdata/readings are: an architecture, and what
// changes, with numbers of any type that a file has.
func FuzzGGUF(f *testing.F) {
	for _, topic := range topicsOf("GGUF") {
		for i, r := range topic.readings {
			f.Add(r.document, uint8(i), 5000*(i%2))
		}
	}
	for _, arch := range slices.Concat(document.SortedKeys(ggufArchitectures), document.SortedKeys(ggufNotRotary), document.SortedKeys(ggufRefused), []string{"unknown", ""}) {
		f.Add(arch+` {"rope.scaling.factor": 2, "/rope_freqs.weight": [1, 2.5, true, null, "", {}, [[[7]]]], "rope.other": 1e300}`, uint8(0), 1)
	}
	f.Fuzz(func(t *testing.T, text string, kind uint8, seqLen int) {
		arch, changes, _ := strings.Cut(text, " ")
		keys := ggufKeys(arch)
		var typed func(v any) any
		typed = func(v any) any {
			switch v := v.(type) {
			case float64:
				kind = kind*5 + 1
				return []any{uint32(v), int64(v), float32(v), v, uint8(v), []float32{float32(v)}, []int32{int32(v)}, slices.Repeat([]float64{v}, 64)}[kind>>5]
			case []any:
				for i := range v {
					v[i] = typed(v[i])
				}
			}
			return v
		}
		changed := map[string]any{}
		if json.Unmarshal([]byte(changes), &changed) != nil && changes != "" {
			return
		}
		for _, key := range document.SortedKeys(changed) {
			whole, isWhole := strings.CutPrefix(key, "/")
			if !isWhole {
				whole = arch + "." + key
			}
			keys[whole] = typed(changed[key])
		}
		m, err := GGUF(keys)
		checkModel(t, m, err, seqLen)
		if n := len(m.Layers()); n > gguf.MaxGGUFLayers {
			t.Fatalf("%d layers", n)
		}
	})
}
