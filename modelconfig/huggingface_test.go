package modelconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
	"github.com/go-posenc/posenc/multimodal"
)

func mustRead(t *testing.T, config string) *Model {
	t.Helper()
	m, err := HuggingFace([]byte(config))
	kit.NoError(t, err)
	return m
}

func wantError(t *testing.T, config string, sentinel error, parts ...string) {
	t.Helper()
	m, err := HuggingFace([]byte(config))
	if !errors.Is(err, sentinel) || m != nil {
		t.Fatalf("%.200s: got %v, %v, want %v", config, m, err, sentinel)
	}
	for _, part := range append(parts, "modelconfig.HuggingFace: ") {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not have %q", err, part)
		}
	}
}

const (
	llama31   = `{"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 32, "max_position_embeddings": 131072, "rope_theta": 500000.0, "rope_scaling": {"factor": 8.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0, "original_max_position_embeddings": 8192, "rope_type": "llama3"}}`
	phi3      = `{"model_type": "phi3", "hidden_size": 64, "num_attention_heads": 8, "max_position_embeddings": 131072, "original_max_position_embeddings": 4096, "rope_theta": 10000.0, "rope_scaling": {"type": "longrope", "short_factor": [1.0, 1.0, 1.0, 2.0], "long_factor": [1.0, 2.0, 4.0, 8.0]}}`
	gemma3    = `{"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "hidden_size": 2560, "num_hidden_layers": 34, "rope_scaling": {"factor": 8.0, "rope_type": "linear"}, "sliding_window": 1024}}`
	internLM3 = `{"model_type": "internlm3", "head_dim": 128, "max_position_embeddings": 32768, "rope_theta": 50000000, "rope_scaling": {"factor": 6.0, "rope_type": "dynamic"}}`
)

// trapTests are tests of traps that are not documents, beside what testdata/readings has of them.
var trapTests = map[string]func(t *testing.T){
	"keys_that_nothing_reads": func(t *testing.T) {
		for want, keys := range map[string]string{
			"the number 1, want no such key": "ropeTheta ROPE_THETA useRope useRoPE use_RoPE_2d useROPE USE_ROPE yarn-rope rope2d 2drope mropeSection MRoPESection xdrope longrope_factor ropes customRotaryDim norotary europe_rope " +
				"mropesection use_mropes MROPEBASE useropescaling 2d.rope rope_²scaling rope² " + strings.Repeat("rope", 17) +
				" skipRope clipRopeTheta mlpRopeDim groupRope warpRopeScale EURopeTheta skip_rope theta freq_base rot_dim base_frequency", // names with humps, and keys that do not say rope
			"the number 1, want false or no such key": "ntk_alpha use_dynamic_ntk use_xpos mla_use_nope use_nope nope_layers nope_layer_interval alibi_bias yarn_factor",
			"": "property properties PROPERTY custom_property customProperty propeller proper europe use_Europe useEurope EUROPE european proPerty",
		} {
			for key := range strings.FieldsSeq(keys) {
				config := `{"model_type": "llama", "` + key + `": %s}`
				if want == "" {
					mustRead(t, fmt.Sprintf(config, "1"))
					continue
				}
				wantError(t, fmt.Sprintf(config, "1"), ErrUnknown, ": "+document.KeyName(key)+" is "+want)
				if strings.Contains(want, "false") {
					mustRead(t, fmt.Sprintf(config, "false"))
				}
			}
		}
		for key := range strings.FieldsSeq("pe_type position_bias sinusoidal linear_scaling_factor position_interpolation_factor pos_interp context_scale long_factor short_factor llama_4_scaling_beta " +
			"partial_rotery_factor long_factorzz relative_attention_num_buckets use_fope fope_sep_head fope_init_factor fope_num_inv_freq") { // keys that were seen to pass in silence
			for _, value := range []string{"true", "4", `"alibi"`, "[1]"} {
				wantError(t, `{"model_type": "llama", "`+key+`": `+value+`}`, ErrUnknown, key)
			}
			off := "null false"
			if key == "long_factor" {
				off += ` [] {} ""`
			}
			for off := range strings.FieldsSeq(off) {
				mustRead(t, `{"model_type": "llama", "`+key+`": `+off+`}`)
			}
		}
		for _, key := range []string{"position_embedding_type", "position_encoding", "pos_emb_type", "positional_encoding"} {
			config := `{"model_type": "llama", "` + key + `": %s}`
			for _, value := range []string{"absolute", "nope", "learned", "Alibi ", "ALiBi"} {
				wantError(t, fmt.Sprintf(config, strconv.Quote(value)), ErrNotRotary, ": "+key+" is "+strconv.Quote(value))
			}
			wantError(t, fmt.Sprintf(config, "true"), ErrUnknown, key)
			mustRead(t, fmt.Sprintf(config, `"RoPE"`))
		}
	},
	"mistral_large_4_learns_its_frequencies": func(t *testing.T) {
		m := mustRead(t, `{"model_type": "mistral_large4_text"}`)
		ladder := func(factor float64, rounding frequency.Rounding) []float64 {
			cfg := kit.Must(m.rotaryFor(kindOptions{LayerType: "attention", Rounding: rounding, FrequencyFactors: slices.Repeat([]float64{factor}, 32)}))
			if cfg.AttentionFactor != 1 {
				t.Errorf("AttentionFactor is %v", cfg.AttentionFactor)
			}
			return cfg.InvFreq
		}
		// Both operands and the product are rounded, also to float32.
		unscaled, single, exact, once := ladder(1, frequency.Float32), ladder(1.1, frequency.Float32), ladder(1.1, frequency.Exact), ladder(1, frequency.Exact)
		for i, f := range unscaled {
			if want := float64(float32(f) * float32(1.1)); single[i] != want || exact[i] != once[i]*1.1 {
				t.Errorf("InvFreq[%d] is %v and %v, want %v and %v", i, single[i], exact[i], want, once[i]*1.1)
			}
		}
		refuses := func(m *Model, sentinel error, factors ...float64) {
			t.Helper()
			if _, err := m.Rope(RopeOptions{FrequencyFactors: factors}); !errors.Is(err, sentinel) || sentinel == posenc.ErrConfig && !strings.Contains(err.Error(), "options.FrequencyFactors") {
				t.Errorf("%d factors: %v", len(factors), err)
			}
		}
		refuses(mustRead(t, llama31), posenc.ErrConfig, 1)
		refuses(m, posenc.ErrConfig, 1)
		refuses(m, ErrValue, slices.Repeat([]float64{math.MaxFloat32}, 32)...)
		for _, factor := range []float64{0, 1e300, math.Inf(1)} {
			refuses(m, posenc.ErrConfig, slices.Repeat([]float64{factor}, 32)...)
		}
	},
	"gemma4_vision_is_not_one_rotation": gemma4Vision,
	"fope_pads_sines_with_1":            fopePads,
}

// Frequencies that only Float32 or a length refuses are errors about a key, too.
func TestRopeErrors(t *testing.T) {
	huge := mustRead(t, `{"model_type": "llama", "rope_theta": 1e300}`)
	long := mustRead(t, `{"model_type": "phimoe", "hidden_size": 64, "num_attention_heads": 32, "rope_scaling": {"type": "longrope", "factor": 2, "original_max_position_embeddings": 4096, "short_factor": [1], "long_factor": [1], "short_mscale": 1, "long_mscale": 1e39}}`)
	for says, err := range map[string]error{
		"rope_theta is refused": second(huge.Rope(RopeOptions{Rounding: frequency.Float32})),
		"rope_scaling is refused, want numbers that posenc.NewRotary accepts": second(long.Rope(RopeOptions{SequenceLength: 4097})),
	} {
		if !errors.Is(err, ErrValue) || !strings.Contains(err.Error(), "modelconfig.Model.Rope: "+says) {
			t.Errorf("got %v, want %q", err, says)
		}
	}
	kit.NoError(t, second(long.Rope(RopeOptions{SequenceLength: 4096})))
}

func TestArguments(t *testing.T) {
	m, llama, dynamic := mustRead(t, gemma3), mustRead(t, llama31), mustRead(t, internLM3)
	// Rows of which some are of the step before are none.
	fast := kit.Must(mustRead(t, `{"model_type": "gemma3_text", "head_dim": 256, "rope_scaling": {"rope_type": "linear", "factor": 1e-7}}`).Rope())
	rows, x := kit.Must(fast.Rows([]int32{0})), posenc.View[float32]{Data: make([]float32, 256), Heads: 1}
	for _, err := range []error{rows.Refill([]int32{math.MaxInt32}), second(fast.Rows([]int32{math.MaxInt32}))} {
		if !errors.Is(err, posenc.ErrPosition) {
			t.Errorf("a position too large: %v", err)
		}
	}
	const two, none = "options is a list of 2, want at most one modelconfig.", "Model.Rope: the Model is nil or zero, want a Model from HuggingFace, HuggingFaceVision or GGUF"
	for _, tt := range []struct {
		want string // after the package; "": another package says it
		err  error
	}{
		{"Model.Rope: options.SequenceLength is -1, want the number of tokens in the sequence", second(m.Rope(RopeOptions{SequenceLength: -1}))},
		{"Model.Rope: " + two + "RopeOptions", second(m.Rope(RopeOptions{}, RopeOptions{}))},
		{"Model.Rope: options.SequenceLength is 0, want the number of tokens in the sequence, because frequencies of this model depend on it beyond 32768", second(dynamic.Rope())},
		{"Model.Rope: options.Rounding is 7, want frequency.Exact or frequency.Float32", second(llama.Rope(RopeOptions{Rounding: 7}))},
		{none, second(new(Model).Rope())}, {none, second((*Model)(nil).Rope())},
		{"HuggingFace: " + two + "Options", second(HuggingFace([]byte(llama31), Options{}, Options{}))},
		{"HuggingFaceVision: " + two + "Options", second(HuggingFaceVision([]byte(`{"model_type": "qwen2_vl"}`), Options{}, Options{}))},
		{"GGUF: " + two + "Options", second(readGGUF(ggufKeys("llama"), Options{}, Options{}))},
		{"", second(new(Rope).Rows([]int32{1}))}, {"", second((*Rope)(nil).Rows([]int32{1}))},
		{"", new(LayerRows).Refill([]int32{1})}, {"", (*LayerRows)(nil).Refill([]int32{1})},
		{"", posenc.Rotate(new(LayerRows).Layer(0), x)}, {"", posenc.Rotate((*LayerRows)(nil).Layer(0), x)},
		{"", posenc.Rotate(rows.Layer(0), x)}, {"", posenc.Rotate(rows.Layer(5), x)}, // after an error
	} {
		if !errors.Is(tt.err, posenc.ErrConfig) || tt.want != "" && tt.err.Error() != "modelconfig."+tt.want+": invalid configuration" {
			t.Errorf("got  %v\nwant %s", tt.err, tt.want)
		}
	}
	kit.NoError(t, rows.Refill([]int32{5}), posenc.Rotate(rows.Layer(5), x))
	for _, rope := range []*Rope{nil, {}} {
		if rope.Rotary(0) != nil || rope.Indexer(0) != nil {
			t.Error("no Rope has layers")
		}
	}
	for _, m := range []*Model{m, llama, nil, new(Model)} {
		if beyond, ok := m.DependsOnLength(); beyond != 0 || ok {
			t.Errorf("%s depends on lengths beyond %d: %t", m.Type(), beyond, ok)
		}
	}
	if m.Layers()[0].Kind = "x"; m.Layers()[0].Kind == "x" {
		t.Error("Layers gives its own memory away")
	}
}

// Positions have the axes of the description, also where no pair takes the last of them, and rows of
// text are those of the same position on all axes. Of other lengths they are errors.
func TestAxes(t *testing.T) {
	qwen := func(sections string) string {
		return `{"model_type": "qwen2_vl", "head_dim": 128, "rope_scaling": {"type": "mrope", "mrope_section": ` + sections + `}}`
	}
	hunYuan := `{"model_type": "hunyuan_vl", "head_dim": 128, "rope_scaling": {"type": "xdrope", "alpha": 1000.0, "factor": 1.0, "xdrope_section": [16, 16, 16, 16]}}`
	sections := func(numbers ...int32) map[string]any {
		return ggufKeys("qwen2vl", "attention.key_length", uint32(128), "rope.dimension_count", uint32(128), "rope.dimension_sections", numbers)
	}
	for _, tt := range []struct {
		name  string
		model *Model
		axes  int
	}{
		{"one", mustRead(t, llama31), 1},
		{"three", mustRead(t, qwen("[16, 24, 24]")), 3},
		{"no pairs of width", mustRead(t, qwen("[32, 32, 0]")), 3},
		{"time alone", mustRead(t, qwen("[64, 0, 0]")), 3},
		{"four", mustRead(t, hunYuan), 4},
		{"GGUF", kit.Must(GGUF(sections(16, 24, 24, 0), nil)), 3},
		{"GGUF, no pairs of width", kit.Must(GGUF(sections(32, 32, 0, 0), nil)), 3},
		{"GGUF, four", kit.Must(GGUF(sections(16, 16, 16, 16), nil)), 4},
	} {
		rope := kit.Must(tt.model.Rope())
		if rope.Axes() != tt.axes {
			t.Errorf("%s: %d axes, want %d", tt.name, rope.Axes(), tt.axes)
			continue
		}
		rotated := func(rows *LayerRows, err error) []float32 {
			t.Helper()
			kit.NoError(t, err)
			tokens := rows.kinds[0].Len()
			x := slices.Repeat([]float32{1, 2}, tokens*64)
			kit.NoError(t, posenc.Rotate(rows.Layer(0), posenc.View[float32]{Data: x, Heads: 1}))
			return x
		}
		for n := range 8 {
			text := make([]int32, n)
			for i := range text {
				text[i] = int32(1000 * i)
			}
			want := rotated(rope.RowsAxes(slices.Repeat(text, tt.axes)))
			if got := rotated(rope.Rows(text)); len(got) != n*128 || !kit.SameBits(got, want) {
				t.Errorf("%s: %d tokens of text rotate to %v, want %v", tt.name, n, got, want)
			}
			rows := kit.Must(rope.Rows([]int32{7}))
			if got := rotated(rows, rows.Refill(text)); !kit.SameBits(got, want) {
				t.Errorf("%s: %d tokens of text rotate to %v after Refill, want %v", tt.name, n, got, want)
			}
			if got := rotated(rows, rows.RefillAxes(slices.Repeat(text, tt.axes))); !kit.SameBits(got, want) {
				t.Errorf("%s: %d tokens rotate to %v after RefillAxes, want %v", tt.name, n, got, want)
			}
			for function, err := range map[string]error{"Rope.RowsAxes": second(rope.RowsAxes(text)), "LayerRows.RefillAxes": rows.RefillAxes(text)} {
				want := fmt.Sprintf("modelconfig.%s: positions is a list of %d, want a multiple of %d, for [axes][tokens] of %d axes", function, n, tt.axes, tt.axes)
				if n%tt.axes == 0 {
					kit.NoError(t, err)
				} else if !errors.Is(err, posenc.ErrLength) || !strings.HasPrefix(err.Error(), want) {
					t.Errorf("%s: %v, want %s", tt.name, err, want)
				}
			}
		}
	}
}

// wrapsOne says whether an error of HuggingFace or GGUF wraps what their
// documentation says, and names the package, in front of it.
func wrapsOne(err error) bool {
	return strings.HasPrefix(err.Error(), "modelconfig.") && slices.ContainsFunc(slices.Collect(maps.Values(sentinels)), func(sentinel error) bool { return errors.Is(err, sentinel) })
}

// A type that holds other models stands for the whole document, any other for a document of one.
func TestTypeOfHolder(t *testing.T) {
	const whole = `{"model_type": "mine", "text_config": {"model_type": "llama", "head_dim": 64, "rope_scaling": {"rope_type": "linear", "factor": 2}}}`
	if m, err := HuggingFace([]byte(whole), Options{Type: "llama"}); !errors.Is(err, ErrContradiction) || !strings.Contains(err.Error(), `options.Type is "llama", want a type that holds other models, because this one has "text_config"`) {
		t.Errorf("%v, %v", m, err)
	}
	for config, modelType := range map[string]string{whole: "llava", `{"model_type": "mine", "head_dim": 64, "rope_scaling": {"rope_type": "linear", "factor": 2}}`: "llama"} {
		m, err := HuggingFace([]byte(config), Options{Type: modelType})
		kit.NoError(t, err)
		if cfg := kit.Must(m.rotaryFor(kindOptions{})); m.Type() != "llama" || cfg.HeadDim != 64 || cfg.InvFreq[0] != 0.5 {
			t.Errorf("%s as %s: %s, heads of %d, %v", config, modelType, m.Type(), cfg.HeadDim, cfg.InvFreq[0])
		}
	}
	const holder = `{"model_type": "llava", "text_config": `
	if m := mustRead(t, strings.Repeat(holder, 3)+`{"model_type": "llama"}}}}`); m.Type() != "llama" {
		t.Errorf("three holders hold %s", m.Type())
	}
	// Types of towers are near each other, those of text models are not near them.
	if _, err := HuggingFaceVision([]byte(`{"model_type": "lama"}`)); !errors.Is(err, ErrUnknown) || strings.Contains(err.Error(), `"llama"`) {
		t.Error(err)
	}
}

// gemma4Vision rotates heads of Gemma 4's vision tower as the error says,
// and compares with transformers.
func gemma4Vision(t *testing.T) {
	var v struct {
		HeadDim int      `json:"head_dim"`
		Rows    []int32  `json:"rows"`
		Columns []int32  `json:"columns"`
		Q       []string `json:"q"` // two heads
	}
	kit.ReadJSON("testdata/transformers/gemma4_vision.json", &v)
	want := kit.Hex[float32](v.Q...)
	q := kit.GoldenInputs(0, len(v.Rows)*2*v.HeadDim)
	for offset, positions := range map[int][]int32{0: v.Columns, v.HeadDim / 2: v.Rows} {
		r := kit.Must(posenc.NewRotary(posenc.RotaryConfig{HeadDim: v.HeadDim, RotaryDim: v.HeadDim / 2, Layout: posenc.HalfSplit, Offset: offset, Base: 100, Rounding: frequency.Float32}))
		kit.NoError(t, posenc.Rotate(r.At(positions), posenc.View[float32]{Data: q, Heads: 2}))
	}
	if len(want) != len(q) {
		t.Fatalf("%d elements recorded, want %d", len(want), len(q))
	}
	for n, got := range q {
		// A frequency two steps off is at most 2^-22 of it; times 24, that is 2^-17
		// of an angle, of elements up to 4 twice.
		if !(math.Abs(float64(got)-float64(want[n])) <= 0x1p-14) {
			t.Errorf("element %d is %v, transformers has %v", n, got, want[n])
		}
	}
}

// Documents of the largest size, and of the most values, are read. A document of many small values
// takes memory by its bounds, not by what it could hold.
func TestLargestDocuments(t *testing.T) {
	const small = `{"model_type": "llama"}`
	mustRead(t, small+strings.Repeat(" ", document.MaxBytes-len(small)))
	wantError(t, small+strings.Repeat(" ", document.MaxBytes-len(small)+1), ErrSyntax, "4194305 bytes, more than 4194304")
	list := func(value string, n int) string {
		return `{"model_type": "llama", "x": [` + strings.Repeat(value+",", n-1) + value + `]}`
	}
	mustRead(t, list("1", document.MaxValues-3)) // the object, the type and the list are values too
	wantError(t, list("1", document.MaxValues-2), ErrSyntax, "more than 131072 values")
	wantError(t, strings.Repeat(`{"a":`, 200)+"1"+strings.Repeat("}", 200), ErrSyntax, "64 levels")
	wantError(t, `{"model_type": "`+strings.Repeat("x", 1000)+`"}`, ErrUnknown, `xxx"...`)
	var unread strings.Builder // 2 MB of keys that nothing reads
	for i := range 100000 {
		unread.WriteString(`"zzzz_key_` + strconv.Itoa(i) + `":1,`)
	}
	mustRead(t, "{"+unread.String()+`"model_type": "llama"}`)
	for _, value := range []string{"{}", "[]", "1", `""`, `{"a":1}`} {
		for _, n := range []int{document.MaxValues / 4, document.MaxBytes / (len(value) + 1) / 2} {
			config := []byte(list(value, n))
			before := kit.AllocatedBytes()
			HuggingFace(config)
			if used, most := kit.AllocatedBytes()-before, uint64(3*len(config)+512*document.MaxValues); used > most {
				t.Errorf("%s, %d times: %d bytes of memory for a document of %d, want at most %d", value, n, used, len(config), most)
			}
		}
	}
}

// A file that is no JSON object is an error that says what it is, or in which line JSON ends.
func TestOtherFiles(t *testing.T) {
	safetensors := "\x40\x01\x00\x00\x00\x00\x00\x00" + `{"__metadata__": {"format": "pt"}, "w": {"dtype": "F32"`
	for config, part := range map[string]string{
		"":               "config is empty, want a JSON object",
		" \n\t":          "empty",
		"\uFEFF\n":       "empty",
		"\uFEFF\uFEFF{}": "malformed in line 1, column 1",
		"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 651\n": "config is a Git LFS pointer in place of the file",
		"/annex/objects/SHA256E-s651--4d7a.json\n":           "git-annex pointer",
		"<!DOCTYPE html>\n<html><body>Sign in</body></html>": "config is a page of HTML",
		"\n <HTML><HEAD>": "page of HTML",
		`<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>`: "page of XML",
		"\xff\xfe{\x00\"\x00":         "UTF-16",
		"\xfe\xff\x00{":               "UTF-16",
		"{\x00\"\x00m\x00":            "UTF-16",
		"\x00{\x00\"":                 "UTF-16",
		"{\x00\x00\x00\"\x00\x00\x00": "UTF-16 or UTF-32",
		"GGUF\x03\x00\x00\x00":        "a GGUF file: GGUF reads its keys",
		"GGUF" + strings.Repeat("\x00", document.MaxBytes): "a GGUF file",
		safetensors: "a safetensors file",
		safetensors + strings.Repeat("\x00", document.MaxBytes): "a safetensors file",
		"PK\x03\x04\x00\x00":                                "zip archive",
		"\x1f\x8b\x08\x00":                                  "gzip",
		"\x80\x02}q\x00":                                    "a binary file",
		strings.Repeat("\x00", 100):                         "a binary file",
		"model_type: llama\nrope_theta: 10000\n":            "config is YAML",
		"# a comment\n---\n- model_type: llama\n":           "YAML",
		"\"model_type\": \"llama\"\n":                       `config is "model_type", not an object`,
		"[model]\ntype = \"llama\"\n":                       "malformed in line 1, column 2",
		"type = \"llama\"\nbase = 10000\n":                  "TOML",
		"total 16\n-rw-r--r-- 1 a a 651 config.json\n":      "a list of files",
		"drwxr-xr-x 2 a a 4096 .\n-rw-r--r-- 1 a a 651 x\n": "a list of files",
		"config.json\nmodel.safetensors\nREADME.md\n":       "a list of files",
		"LlamaConfig {\n  \"model_type\": \"llama\"\n}":     `a text that begins with "LlamaConfig"`,
		"config = {\"model_type\": \"llama\"}":              `a text that begins with "config"`,
		"Entry not found":                                   `config is a text that begins with "Entry not found", not JSON`,
		"404: Not Found":                                    `a text that begins with "404: Not Found", not JSON`,
		"../../blobs/0123abcd\n":                            `a path, "../../blobs/0123abcd", in place of the file`,
		"config.json":                                       "a path",
		"{\"a\": \"b\tc\"}":                                 `column 9: the control character '\t' in a string`,
		"NaN":                                               "NaN, not an object",
		"true":                                              "true, not an object",
		"[]":                                                "config is a list of 0, not an object",
		`[{"model_type": "llama"}]`:                         "a list of 1, not an object",
		`"llama"`:                                           `"llama", not an object`,
		"7":                                                 "the number 7, not an object",
		"null":                                              "null, not an object",
		"{\"model_type\": \"llama\"}\n{\"model_type\": \"qwen2\"}\n": "line 2, column 1: a second object",
		"{\"model_type\": \"llama\"}\n}":                             `line 2, column 1: "}", want no more text`,
		"{\n  // the base\n  \"rope_theta\": 1\n}":                   "malformed in line 2, column 3: a comment, which JSON does not have",
		"// base\n{}":                       "line 1, column 1: a comment",
		"# base\n{}":                        "line 1, column 1: a comment",
		"{\"a\": 1, /* base */ \"b\": 2}":   "column 10: a comment",
		"{\"a\": 1 # base\n}":               "column 9: a comment",
		"{\"a\": [1, // one\n 2]}":          "column 11: a comment",
		"{\"a\": // one\n 2}":               "column 7: a comment",
		"{}\n// end":                        "line 2, column 1: a comment",
		"{\r\n  \"a\": 1,\r\n}":             "malformed in line 2, column 9: a comma before }, which JSON does not have",
		"{\"a\": [1, 2,]}":                  "column 12: a comma before ]",
		"{\"a\": [,]}":                      `column 8: ",", want a value`,
		"{,}":                               `column 2: ",", want a name in double quotes`,
		"{\"a\" 1}":                         `"1", want : after the name "a"`,
		"{\"a\": 1 \"b\": 2}":               `"\"", want a comma or }`,
		"{'a': 1}":                          "a single quote: JSON has double quotes",
		"{\"a\": 'b'}":                      "a single quote",
		"{\"a\": None}":                     "None, which JSON does not have: want null",
		"{\"a\": True}":                     "want true",
		"{\"a\": [False]}":                  "want false",
		"{\"a\": nan}":                      "want NaN",
		"{\"a\": +1}":                       `"+1", want a value`,
		"{\"a\": 01}":                       `"01", want a value`,
		"{\"a\": .5}":                       `".5", want a value`,
		"{\"a\": 1.}":                       `"1.", want a value`,
		"{\"a\": 1e}":                       `"1e", want a value`,
		"{\"a\": 0x10}":                     `"0x10", want a value`,
		"{\"a\": -}":                        `"-", want a value`,
		"{\"a\": 1_000}":                    `"1_000", want a value`,
		"{a: 1}":                            `"a", want a name in double quotes`,
		"{\"a\": \"b\n\"}":                  "line 1, column 9: a string that does not end in its line",
		"{\"a\": \"b":                       "column 7: a string that does not end",
		"{\"a\": \"\\q\"}":                  "a string with an escape that JSON does not have",
		"{\"\u00e4\u00f6\": x}":             "line 1, column 8",
		"{\n\"model_type\": \"llama\",\n":   "line 3, column 1: the text ends here, want a name in double quotes, or }",
		"{\"a\": [1, 2":                     "column 12: the text ends here, want a comma or ]",
		"{":                                 "line 1, column 2: the text ends here",
		"{\n<<<<<<< HEAD\n\"a\": 1\n}":      "line 2, column 1: a mark of a merge conflict",
		"{\n\"a\": 1,\n\"a\": 2}":           `line 3, column 1: "a" appears twice in one object`,
		`{"error": "Repository not found"}`: `the answer of a server: "Repository not found"`,
		`{"error": {"message": "gated"}, "status": 403, "model_name": "x"}`: "the answer of a server",
	} {
		sentinel := ErrSyntax
		if strings.HasPrefix(config, `{"error"`) {
			sentinel = ErrValue
		}
		wantError(t, config, sentinel, part)
		if _, err := HuggingFaceVision([]byte(config)); !errors.Is(err, ErrSyntax) && !errors.Is(err, ErrValue) {
			t.Errorf("%.40q as a tower: %v", config, err)
		}
		if Candidates([]byte(config)) != nil {
			t.Errorf("%.40q has candidates", config)
		}
	}
}

// The bounds here are those of package posenc.
func TestBounds(t *testing.T) {
	for dim, ok := range map[int]bool{description.MaxRotaryDim: true, description.MaxRotaryDim + 2: false} {
		if _, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit}); (err == nil) != ok {
			t.Errorf("%d elements: %v", dim, err)
		}
	}
	for beta, ok := range map[float64]bool{description.MaxBeta: true, math.Nextafter(description.MaxBeta, math.Inf(1)): false} {
		if err := posenc.QueryScales(make([]float32, 1), []int32{7}, posenc.QueryScaling{Beta: beta, Length: 1}); (err == nil) != ok {
			t.Errorf("beta %v: %v", beta, err)
		}
	}
}

// Every type that FamilyOf knows gives its model with the defaults of its class, or says what a
// caller sets. The numbers are those of transformers 5.23, AutoConfig of the type alone. Keys of a file
// replace them.
func TestHuggingFaceMultimodal(t *testing.T) {
	type M = multimodal.Model
	for _, tt := range []struct {
		of   string // types, or a file
		want M
		ids  multimodal.TokenIDs
	}{
		{of: "qwen2_vl colqwen2 paddleocr_vl", want: M{Family: multimodal.Qwen2VL, MergeSize: 2}},
		{of: "glm_image", want: M{Family: multimodal.Qwen2VL, MergeSize: 1}},
		{of: "qwen2_5_vl", want: M{Family: multimodal.Qwen25VL, MergeSize: 2, PositionsPerSecond: 4}},
		{of: "qwen3_vl qwen3_vl_moe qwen3_5 qwen3_5_moe qwen4_exp glm4v glm4v_moe glm46v glmga glm_ocr cohere_compass cosmos3_edge cosmos3_omni", want: M{Family: multimodal.Qwen3VL, MergeSize: 2}},
		{of: "ernie4_5_vl_moe", want: M{Family: multimodal.Ernie45VL, MergeSize: 2, TemporalMergeSize: 2}},
		{of: "minicpmv4_7", want: M{Family: multimodal.MiniCPMV47, MergeSize: 4}},
		{of: "qwen2_5_omni qwen2_5_omni_thinker", want: M{Family: multimodal.Qwen25Omni, MergeSize: 2, PositionsPerSecond: 25, PositionsPerChunk: 50}},
		{of: "qwen3_omni_moe qwen3_omni_moe_thinker", want: M{Family: multimodal.Qwen3Omni, MergeSize: 2, PositionsPerSecond: 25}},
		{`{"model_type": "qwen2_5_vl", "image_token_id": 7, "video_token_id": 8, "vision_start_token_id": 10, "vision_config": {"spatial_merge_size": 4, "tokens_per_second": 2}}`,
			M{Family: multimodal.Qwen25VL, MergeSize: 4, PositionsPerSecond: 2}, multimodal.TokenIDs{Image: 7, Video: 8, VisionStart: 10}},
		{`{"model_type": "qwen2_5_omni", "thinker_config": {"image_token_index": 7, "audio_token_index": 9, "audio_start_token_id": 11, "position_id_per_seconds": 10, "seconds_per_chunk": 3, "vision_config": {"spatial_merge_size": 3}}}`,
			M{Family: multimodal.Qwen25Omni, MergeSize: 3, PositionsPerSecond: 10, PositionsPerChunk: 30}, multimodal.TokenIDs{Image: 7, Audio: 9, AudioStart: 11}},
		{of: `{"model_type": "hunyuan_vl", "text_config": {"rope_scaling": {"xdrope_section": [16, 16, 16, 16]}}}`, want: M{Family: multimodal.HunYuanVL, MergeSize: 2, HunYuanAxes: 4}},
		{of: `{"model_type": "minicpmv4_7", "downsample_mode": "4x"}`, want: M{Family: multimodal.MiniCPMV47, MergeSize: 2}},
		{of: `{"model_type": "colqwen2", "vlm_config": {"model_type": "qwen2_5_vl"}}`, want: M{Family: multimodal.Qwen25VL, MergeSize: 2, PositionsPerSecond: 4}},
	} {
		configs := []string{tt.of}
		if tt.of[0] != '{' {
			configs = strings.Split(`{"model_type": "`+strings.ReplaceAll(tt.of, " ", `"}&{"model_type": "`)+`"}`, "&")
		}
		for _, config := range configs {
			if got, ids, err := HuggingFaceMultimodal([]byte(config)); err != nil || got != tt.want || !reflect.DeepEqual(ids, tt.ids) {
				t.Errorf("%s: %+v, %+v, %v, want %+v, %+v", config, got, ids, err, tt.want, tt.ids)
			}
		}
	}
	for name := range holders {
		if _, err := multimodal.FamilyOf(name); err != nil {
			continue
		}
		_, _, err := HuggingFaceMultimodal(fmt.Appendf(nil, `{"model_type": %q}`, name))
		if err != nil && !errors.Is(err, ErrUnknown) && !(name == "hunyuan_vl" && errors.Is(err, ErrValue)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Model.Type of a file names the family that the file has, or none where it has none; a type whose
// pairs have several axes is known to FamilyOf, or gives images the positions of text.
func TestFamilyOfType(t *testing.T) {
	families := 0
	survey := readSurvey()
	for _, name := range append(survey.Configurations, "ernie4_5_moe_vl") {
		document := survey.Types[name].document(name)
		if entry := survey.Types[name]; entry != nil && entry.Text != nil && entry.Text.Key != "" {
			document[entry.Text.Key] = survey.Types[entry.Text.Type].document(entry.Text.Type)
		}
		m, err := HuggingFace(kit.Must(json.Marshal(document)))
		if err != nil {
			continue
		}
		got, err := multimodal.FamilyOf(m.Type())
		if want, errOfName := multimodal.FamilyOf(name); got != want && (want != 0 || strings.Contains(errOfName.Error(), "token i position i")) {
			t.Errorf("%s: Type %s is of family %v, want %v (%v)", name, m.Type(), got, want, errOfName)
		}
		if slices.ContainsFunc(slices.Collect(maps.Values(m.of().Kinds)), func(k description.Kind) bool { return k.Rotary.Axes != nil }) {
			families++
			if err != nil && !strings.Contains(err.Error(), "token i position i") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if families < 40 {
		t.Errorf("%d types have several axes", families)
	}
}

// A type that is known has no candidates, although another type has its keys.
func TestCandidates(t *testing.T) {
	for modelType, want := range map[string]int{"brandnew": 1, "llama": 0} {
		types := Candidates([]byte(`{"model_type": "` + modelType + `", "hidden_size": 4096, "num_attention_heads": 32, "num_layers": 40, "kv_channels": 128, "rope_ratio": 50}`))
		if len(types) != want {
			t.Errorf("%s: %q", modelType, types)
		}
	}
}
