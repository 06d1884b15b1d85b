package modelconfig

import (
	"bytes"
	"cmp"
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

// readGGUF reads a file whose tensors of frequency factors are among its keys, and which has a further tensor.
func readGGUF(keys map[string]any, options ...Options) (*Model, error) {
	keys, tensors := maps.Clone(keys), map[string][]float32{"token_embd.weight": nil}
	for name, v := range keys {
		if values, is := v.([]float32); is && strings.HasSuffix(name, ".weight") {
			tensors[name] = values
			delete(keys, name)
		}
	}
	return GGUF(keys, tensors, options...)
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
			return float32(kit.Must(v.Float64()))
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
	kit.ReadJSON("testdata/llamacpp/rope_types.json", &list)
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

// A caller may give Mistral 3's mscale_all_dim in float64, which then stays as it is.
func TestMultiplierOfMistral3(t *testing.T) {
	m := kit.Must(readGGUF(ggufKeys("mistral3", "rope.dimension_count", 64, "rope.scaling.type", "yarn", "rope.scaling.factor", 16, "rope.scaling.original_context_length", 4096, "rope.scaling.yarn_log_multiplier", 0.7)))
	if p, _ := m.Layers()[0].Rule.Parameters.(frequency.YaRNParameters); p.MScaleAllDim != 0.7 {
		t.Errorf("%+v", p)
	}
}

// TestGGUFValueTypes gives the same values as each type that a reader may use.
func TestGGUFValueTypes(t *testing.T) {
	type named uint16
	read := func(keys map[string]any) posenc.RotaryConfig {
		t.Helper()
		cfg := kit.Must(kit.Must(readGGUF(keys)).rotaryFor(kindOptions{}))
		kit.NoError(t, second(posenc.NewRotary(cfg)))
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
	factors := slices.Repeat([]float32{1}, 64)
	m := kit.Must(readGGUF(ggufKeys("llama", "/rope_freqs.weight", factors)))
	factors[0] = 100 // the model keeps no reference to it
	if first := kit.Must(m.rotaryFor(kindOptions{})).InvFreq[0]; first != 1 {
		t.Errorf("first frequency %v, want 1", first)
	}
	for _, length := range []any{int64(math.MaxInt32), uint64(math.MaxInt32)} {
		if m := kit.Must(readGGUF(ggufKeys("qwen2", "context_length", length, "rope.freq_base", math.MaxFloat64))); m.ContextLength() != math.MaxInt32 {
			t.Errorf("%T: length %d", length, m.ContextLength())
		}
	}
	largest := append(slices.Repeat([]float32{1}, 1023), math.MaxFloat32)
	read(ggufKeys("llama", "attention.key_length", 2048, "rope.dimension_count", 2048, "/rope_freqs.weight", largest))
}

// Positions have time, height and width, also where no pair takes the last of them.
func TestGGUFAxes(t *testing.T) {
	m := kit.Must(readGGUF(ggufKeys("qwen2vl", "rope.dimension_sections", []int32{32, 32, 0, 0})))
	if rope := kit.Must(m.Rope()); rope.Axes() != 3 || kit.Must(kit.Must(readGGUF(ggufKeys("qwen2"))).Rope()).Axes() != 1 {
		t.Errorf("%d axes", rope.Axes())
	}
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
		{"llama", ErrValue, "llama.rope.freq_base is 1e-300,", "rope.freq_base", 1e-300},
		{"llama", ErrSyntax, "llama.rope.freq_base", "rope.freq_base", []float32(nil)},
		{"llama", ErrContradiction, "rope_freqs.weight is a key, want it among tensors", "/rope_freqs.weight", []float64{1}},
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
		_, err := readGGUF(ggufKeys(test.arch, test.key, test.value))
		if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) || !strings.HasPrefix(err.Error(), "modelconfig.GGUF: ") {
			t.Errorf("%s %v: %v, want %q that names %s", test.arch, test.key, err, test.want, test.says)
		}
	}
	if _, err := readGGUF(nil); !errors.Is(err, ErrValue) {
		t.Errorf("no keys: %v", err)
	}
	for arch, says := range map[string]string{
		"llama":  "tensors is empty, want the names of the file's tensors, and the values of rope_freqs.weight, rope_factors_short.weight, rope_factors_long.weight if it has them",
		"arcee":  "tensors is empty, want the names of the file's tensors, and the values of rope_freqs.weight if",
		"phi3":   "tensors is empty, want the names of the file's tensors, and the values of rope_factors_short.weight, rope_factors_long.weight if",
		"gemma4": "rope_freqs.weight is missing",
	} {
		for _, tensors := range []map[string][]float32{nil, {}} {
			if _, err := GGUF(ggufKeys(arch, "attention.sliding_window_pattern", 2), tensors); !errors.Is(err, ErrValue) || !strings.Contains(err.Error(), says) {
				t.Errorf("%s without tensors: %v", arch, err)
			}
		}
	}
	keys := ggufKeys("llama")
	keys["llama.rope.freq_base"] = nil
	if _, err := readGGUF(keys); !errors.Is(err, ErrSyntax) || !strings.Contains(err.Error(), "llama.rope.freq_base is of type <nil>, want a value") {
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
		m, err := readGGUF(keys)
		checkModel(t, m, err, seqLen)
		if n := len(m.Layers()); n > gguf.MaxGGUFLayers {
			t.Fatalf("%d layers", n)
		}
	})
}

// ggmlInput is element k of a row before the rotation.
func ggmlInput(k int) float32 { return float32((37*k+11)%31-15) / 4 }

// rotateRows rotates a row for each token, of which the first axes of a configuration have the
// positions. The rotated part alone is the head for multi-head latent attention.
func rotateRows(t *testing.T, cfg posenc.RotaryConfig, headDim int, positions [][]int32) []float32 {
	t.Helper()
	x := make([]float32, len(positions[0])*headDim)
	for i := range x {
		x[i] = ggmlInput(i % headDim)
	}
	r := kit.Must(posenc.NewRotary(cfg))
	at := slices.Concat(positions[:r.Axes()]...)
	kit.NoError(t, posenc.Rotate(r.AtAxes(at), posenc.View[float32]{Data: x, Heads: 1, TokenStride: headDim}))
	return x
}

// TestLlamaCppVision compares rotations of vision towers (GGML_ROPE_TYPE_VISION) with those
// of ggml's own code.
func TestLlamaCppVision(t *testing.T) {
	var cases []struct {
		Name      string
		Config    map[string]any
		HeadDim   int
		Positions [][]int32
		Rotated   []string
	}
	kit.ReadJSON("testdata/llamacpp/vision.json", &cases)
	for _, c := range cases {
		cfg := kit.Must(kit.Must(HuggingFaceVision(kit.Must(json.Marshal(c.Config)))).rotaryFor(kindOptions{}))
		x := rotateRows(t, cfg, c.HeadDim, c.Positions) // ggml has four axes, of which the first two are rows and columns
		// ggml's angles are products of up to 20 float32 numbers of positions below 64: their
		// error is below 64·60·2^-24, that of elements below 8 times as much.
		const tolerance = 8 * 64 * 60 * 0x1p-24
		for row, digits := range c.Rotated {
			for k, want := range kit.Hex[float32](digits) {
				if got := x[row*c.HeadDim+k]; math.Abs(float64(got)-float64(want)) > tolerance {
					t.Errorf("%s: token %d, element %d is %v, ggml has %v", c.Name, row, k, got, want)
				}
			}
		}
	}
}

// llamaCalls is testdata/llamacpp/calls.json.gz: how llama.cpp calls ggml's rotation for
// metadata of every architecture, and which keys its loaders read. calls.py there makes it.
type llamaCalls struct {
	Version       string                        `json:"version"`
	Calls         []*llamaCall                  `json:"calls"`
	Common        map[string]bool               `json:"common"` // keys that all architectures read: whether they must be there
	Architectures map[string]*llamaArchitecture `json:"architectures"`
}

type llamaArchitecture struct {
	Reads   map[string]bool `json:"reads"`
	Factors map[string]bool `json:"factors"` // tensors that the loader asks for: whether they must be there
	Keys    map[string]any  `json:"keys"`
	Cases   []*llamaCase    `json:"cases"` // none: it does not rotate
}

type llamaCase struct {
	Change  map[string]any `json:"change"`
	Error   string         `json:"error"`   // llama.cpp does not load it
	Layers  [][]int        `json:"layers"`  // numbers of calls
	Tensors []string       `json:"tensors"` // of frequency factors, that the loader asks for
}

// llamaCall is what a node of the graph has that rotates.
type llamaCall struct {
	Mode       int     `json:"mode"`
	NDims      int     `json:"n_dims"`
	NOffs      int     `json:"n_offs"`
	Width      int     `json:"width"`
	Begin      int     `json:"begin"`
	Stride     int     `json:"stride"`
	Sections   [4]int  `json:"sections"`
	NCtxOrig   int     `json:"n_ctx_orig"`
	FreqBase   float64 `json:"freq_base"`
	FreqScale  float64 `json:"freq_scale"`
	ExtFactor  float64 `json:"ext_factor"`
	AttnFactor float64 `json:"attn_factor"`
	BetaFast   float64 `json:"beta_fast"`
	BetaSlow   float64 `json:"beta_slow"`
	Divisors   string  `json:"divisors"` // a tensor; "": none
	Indexer    bool    `json:"indexer"`  // of sparse attention
	Rotated    string  `json:"rotated"`  // the elements that rotate, at positions 17, 23, 29 and 31 of the axes
}

func readCalls() *llamaCalls {
	c := new(llamaCalls)
	decodeNumbers(kit.ReadGolden("testdata/llamacpp/calls.json.gz"), c)
	for _, a := range c.Architectures {
		metadataTypes(a.Keys)
		for _, one := range a.Cases {
			metadataTypes(one.Change)
		}
	}
	return c
}

// callDivisor is the value of tensors of frequency factors at a pair.
func callDivisor(tensor string, pair int) float32 {
	if tensor == "" {
		return 1
	}
	return float32(len(tensor)) / 16 * (1 + float32(pair)/8)
}

// ladder are the frequencies of a call by the formulas of ggml (ggml_rope_yarn), and the
// factor of its cosines and sines.
func (c *llamaCall) ladder() (frequencies []float64, factor float64) {
	factor = c.AttnFactor
	if c.ExtFactor != 0 {
		factor *= 1 + 0.1*math.Log(1/c.FreqScale)
	}
	corner := func(rotations float64) float64 {
		return float64(c.NDims) * math.Log(float64(c.NCtxOrig)/(rotations*2*math.Pi)) / (2 * math.Log(c.FreqBase))
	}
	low, high := max(0, math.Floor(corner(c.BetaFast))), min(float64(c.NDims-1), math.Ceil(corner(c.BetaSlow)))
	for i := range c.NDims / 2 {
		f := math.Pow(c.FreqBase, -2*float64(i)/float64(c.NDims)) / float64(callDivisor(c.Divisors, i))
		ramp := 1 - min(1, max(0, (float64(i)-low)/max(0.001, high-low)))
		mix := ramp * c.ExtFactor
		frequencies = append(frequencies, f*c.FreqScale*(1-mix)+f*mix)
	}
	return frequencies, factor
}

// differs says in what a configuration is not what a call computes; "": nothing.
func (c *llamaCall) differs(t *testing.T, cfg posenc.RotaryConfig) string {
	layout, axes := posenc.Interleaved, []uint8(nil)
	const neoXMode, sectionsMode, interleavedMode = 2, 8, 40 // GGML_ROPE_TYPE
	switch c.Mode {
	case neoXMode:
		layout = posenc.HalfSplit
	case sectionsMode:
		layout, axes = posenc.HalfSplit, kit.Must(frequency.Sections(c.Sections[:]...))
	case interleavedMode:
		layout = posenc.HalfSplit
		axes = kit.Must(frequency.InterleavedSections(frequency.ImageSections{Time: c.Sections[0], Height: c.Sections[1], Width: c.Sections[2]}))
	}
	want, factor := c.ladder()
	begin := c.NOffs
	if c.Width < cfg.HeadDim && c.Stride != 0 {
		begin += c.Begin % c.Stride
	}
	switch {
	case cfg.Layout != layout:
		return fmt.Sprintf("layout %v, want %v", cfg.Layout, layout)
	case !slices.Equal(cfg.Axes, axes):
		return fmt.Sprintf("axes %v, want %v", cfg.Axes, axes)
	case cfg.RotaryDim != c.NDims:
		return fmt.Sprintf("%d elements, want %d", cfg.RotaryDim, c.NDims)
	case c.Width == cfg.HeadDim && cfg.Offset != begin || c.Width > cfg.HeadDim && cfg.RotaryDim != cfg.HeadDim:
		return fmt.Sprintf("elements %d to %d of %d, want from %d of %d", cfg.Offset, cfg.Offset+cfg.RotaryDim, cfg.HeadDim, begin, c.Width)
	}
	const tolerance = 1e-6 // factors and bases are float32 in llama.cpp
	for i, f := range want {
		if math.Abs(cfg.InvFreq[i]-f) > tolerance*f {
			return fmt.Sprintf("frequency %d is %.9g, want %.9g (base %g, scale %g, ext_factor %g, divisors %q)", i, cfg.InvFreq[i], f, c.FreqBase, c.FreqScale, c.ExtFactor, c.Divisors)
		}
	}
	if got := cmp.Or(cfg.AttentionFactor, 1); math.Abs(got-factor) > tolerance*factor {
		return fmt.Sprintf("attention factor %.9g, want %.9g", got, factor)
	}
	return c.rotates(t, cfg)
}

// rotates compares what ggml's rotation gives for a call; "": it agrees.
//
// ggml takes the angle of pair i as a product of i+1 float32 numbers: the
// position, and i times powf(freq_base, -2/n_dims). u = 2^-24 bounds the relative
// error of one rounding. Each of the i products has one; each factor has the
// error of powf, below 2u, and that of its exponent, u·|ln factor|. The
// division by freq_factors, the factor of interpolation and the mixture of
// YaRN, all of positive numbers, add at most 12 more (the ramp is a quotient of
// differences of integers, so that its error stays within three roundings).
// Interpolation only makes the angle smaller, so that
//
//	|error of the angle| <= position · extrapolated frequency · u · (i·(3 + |ln factor|) + 12)
//
// with the frequency before interpolation, base^(-2i/n_dims)/freq_factors[i].
// The cosine and sine of libm are within 1 unit in the last place, 2u, their
// factor mscale is a product of float32 numbers and a logarithm, 12u, and the
// rotation rounds three times. posenc's own rounding is within that. Beyond an
// error of 2 every cosine would agree.
func (c *llamaCall) rotates(t *testing.T, cfg posenc.RotaryConfig) string {
	if c.Rotated == "" {
		return ""
	}
	const u = 0x1p-24
	cfg.HeadDim, cfg.Offset = cfg.RotaryDim, 0
	positions := []int32{17, 23, 29, 31}
	got, want := rotateRows(t, cfg, c.NDims, [][]int32{positions[:1], positions[1:2], positions[2:3], positions[3:]}), kit.Hex[float32](c.Rotated)
	logStep := -2 / float64(c.NDims) * math.Log(c.FreqBase)
	for i := range c.NDims / 2 {
		position := positions[0]
		if cfg.Axes != nil {
			position = positions[cfg.Axes[i]]
		}
		angle := float64(position) * math.Exp(float64(i)*logStep) / float64(callDivisor(c.Divisors, i))
		angleError := angle * u * (float64(i)*(3-logStep) + 12)
		a, b := kit.PairAt(cfg.Layout, 0, i, c.NDims/2)
		size := (math.Abs(float64(ggmlInput(a))) + math.Abs(float64(ggmlInput(b)))) * max(cfg.AttentionFactor, 1)
		tolerance := size * (min(angleError, 2) + 20*u)
		for _, k := range []int{a, b} {
			if !(math.Abs(float64(got[k])-float64(want[k])) <= tolerance) {
				return fmt.Sprintf("position %d, pair %d: %v, ggml has %v, tolerance %.3g", position, i, got[k], want[k], tolerance)
			}
		}
	}
	return ""
}

// notRun are architectures that rotate, of which llama.cpp builds no graph without the data
// of weights. The value says what stands for the comparison.
var notRun = map[string]string{
	"clef":             "qwen35, whose loader and graph it calls",
	"gemma4-assistant": "gemma4, by the same tables",
}

// notFollowed has what GGUF's documentation says of changes of metadata that it reads and
// llama.cpp does not follow; "" for others.
func notFollowed(arch string, change map[string]any) string {
	window, has := change["attention.sliding_window"].(uint32)
	switch {
	case arch == "llama4" && has && window == 0:
		return "all layers of Llama 4 without a window rotate"
	case arch == "deepseek4" && change["nextn_predict_layers"] != nil:
		return "llama.cpp counts these layers by their weights, and there are none here"
	case change["attention.head_count_kv"] != nil:
		return "layers without keys attend to nothing, whether their queries are rotated or not"
	}
	return ""
}

// unreadYaRN gives calls of YaRN the numbers of keys that llama.cpp does not read of an
// architecture, and that count here.
func (c *llamaCall) unreadYaRN(reads map[string]bool, change map[string]any) *llamaCall {
	if c.ExtFactor == 0 {
		return c
	}
	changed := *c
	for key, field := range map[string]*float64{
		"rope.scaling.yarn_ext_factor": &changed.ExtFactor, "rope.scaling.yarn_beta_fast": &changed.BetaFast, "rope.scaling.yarn_beta_slow": &changed.BetaSlow,
	} {
		if _, read := reads[key]; !read && change[key] != nil {
			*field = float64(change[key].(float32))
			changed.Rotated = "" // it was computed by other numbers
		}
	}
	if changed.ExtFactor == 0 {
		changed.AttnFactor = 1 // its factor is that of YaRN, which goes with it
	}
	return &changed
}

// TestLlamaCppCalls compares the reading of every architecture's metadata with the calls of
// ggml's rotation that llama.cpp makes of them: each change of the metadata gives the same
// rotations, or is refused: because llama.cpp has no use for
// it, or for one of refusals.
func TestLlamaCppCalls(t *testing.T) {
	calls := readCalls()
	var agree, refused, refusedToo, useless int
	needed := map[string]bool{}
	for _, name := range document.SortedKeys(calls.Architectures) {
		a := calls.Architectures[name]
		rotates := len(a.Cases) > 0 && a.Cases[0].Error == "" // llama.cpp builds a graph
		_, otherwise := ggufNotRotary[name]
		if unread := otherwise || ggufRefused[name] != ""; rotates && otherwise || !rotates && !unread && notRun[name] == "" {
			t.Errorf("%s rotates in llama.cpp: %t", name, rotates)
		} else if !rotates || unread {
			continue
		}
		t.Run(name, func(t *testing.T) {
			for i, c := range a.Cases {
				if !kit.Sampled(i, 8) {
					continue
				}
				m, err := readGGUF(calls.keys(name, c))
				switch {
				case c.Error != "" && err != nil:
					refusedToo++
				case c.Error != "": // what llama.cpp does not load without weights, mostly
				case err == nil:
					difference := calls.compare(t, a, c, m)
					if difference != "" && notFollowed(name, c.Change) == "" {
						t.Errorf("%v: %s", c.Change, difference)
					}
					agree++
				case a.hasUseless(c):
					useless++
				case errors.Is(err, ErrNotRotary) && !slices.ContainsFunc(c.Layers, func(layer []int) bool { return len(layer) > 0 }):
					agree++
				default:
					if key := refusedFor(name, err); refusals[key] == "" {
						t.Errorf("%v: %v", c.Change, err)
					} else {
						needed[key] = true
					}
					refused++
				}
			}
		})
	}
	t.Logf("%s: %d agree; refused are %d with a key that llama.cpp has no use for, %d that it does not load, %d others", calls.Version, agree, useless, refusedToo, refused)
	if !kit.AllRounds() {
		return
	}
	for key := range refusals {
		if !needed[key] {
			t.Errorf("nothing is refused for %s", key)
		}
	}
	if agree < 4000 {
		t.Errorf("%d agree", agree)
	}
}

// Tensors of frequency factors.
const freqsName, shortName, longName = "rope_freqs.weight", "rope_factors_short.weight", "rope_factors_long.weight"

// uses says whether a graph divides frequencies by a tensor.
func (calls *llamaCalls) uses(a *llamaArchitecture, tensor string) bool {
	return slices.ContainsFunc(a.Cases, func(c *llamaCase) bool {
		return slices.ContainsFunc(slices.Concat(c.Layers...), func(n int) bool { return calls.Calls[n].Divisors == tensor })
	})
}

// TestFactorTensors reads the file of each architecture without tensors of frequency factors, and with
// each of them: one that the loader of llama.cpp requires has to be there, and one that its graph does not
// use must not.
func TestFactorTensors(t *testing.T) {
	calls, seen := readCalls(), map[string]int{}
	for _, name := range document.SortedKeys(ggufArchitectures) {
		a := calls.Architectures[name]
		if a == nil || len(a.Cases) == 0 && a.Factors == nil {
			continue
		}
		fails := func(keys map[string]any, sentinel error, with string) {
			t.Helper()
			if _, err := readGGUF(keys); !errors.Is(err, sentinel) || err != nil && !strings.Contains(err.Error(), with) {
				t.Errorf("%s: %v, want %v with %q", name, err, sentinel, with)
			}
		}
		if a.Factors[shortName] || a.Factors[longName] {
			t.Errorf("%s requires %v", name, a.Factors)
		}
		if a.Factors[freqsName] { // required
			fails(a.Keys, ErrValue, freqsName+" is missing")
			seen["required"]++
		} else {
			fails(a.Keys, nil, "")
		}
		for _, tensors := range [][]string{{freqsName}, {shortName, longName}} {
			keys := maps.Clone(a.Keys)
			for _, tensor := range tensors {
				keys[tensor] = slices.Repeat([]float32{2}, 1024) // more than any of these heads has pairs
			}
			if tensors[0] == shortName {
				keys[name+".rope.scaling.type"] = "longrope"
			}
			if calls.uses(a, tensors[len(tensors)-1]) || a.Factors[tensors[0]] {
				fails(keys, ErrValue, tensors[0]+" is a list of 1024, want")
				seen[tensors[0]]++
			} else {
				fails(keys, ErrContradiction, tensors[0]+" is set, want no such tensor")
			}
		}
	}
	if seen[freqsName] < 18 || seen[shortName] < 10 || seen["required"] != 2 {
		t.Errorf("architectures by tensor: %v", seen)
	}
}

// TestOllamaKeys reads the keys that ollama's converters write: GGUF has each of their architectures, and each of
// their keys about rotation. Keys that no converter writes and that only the code of a model reads may be errors;
// an error does not advise to leave a key out.
func TestOllamaKeys(t *testing.T) {
	var keys struct{ Writes, Reads map[string][]string }
	kit.ReadJSON("testdata/ollama/keys.json", &keys)
	known := func(key string) bool {
		rest, isRope := strings.CutPrefix(key, "rope.")
		return document.SubjectOf(key) != document.AboutRotation && document.SubjectOf(key) != document.AboutOthers || strings.HasPrefix(key, "vision.") ||
			isRope && slices.Contains(gguf.GgufRopeKeys, rest) || slices.Contains(gguf.OllamaKeys, key) ||
			slices.ContainsFunc(gguf.OllamaNames, func(of gguf.OllamaName) bool { return slices.Contains(of.Names, key) })
	}
	written := 0
	for _, name := range document.SortedKeys(keys.Writes) {
		if _, reads := ggufArchitectures[name]; !reads && ggufNotRotary[name] == "" {
			t.Errorf("%s is not read", name)
		}
		for _, key := range keys.Writes[name] {
			if written++; !known(key) {
				t.Errorf("%s: %s is not read", name, key)
			}
		}
	}
	unread := map[string]bool{}
	for _, list := range keys.Reads {
		for _, key := range list {
			if known(key) {
				continue
			}
			unread[key] = true
			if _, err := readGGUF(ggufKeys("llama4", key, 1)); !errors.Is(err, ErrUnknown) || strings.Contains(err.Error(), "leave") {
				t.Errorf("%s: %v", key, err)
			}
		}
	}
	if !maps.Equal(unread, map[string]bool{"rope.freq_scale": true, "no_rope_interval": true}) || written < 500 {
		t.Errorf("%d keys are written; unread are %v", written, unread)
	}
}

// hasUseless says whether llama.cpp has no use for a key of a change: there is a smaller
// change with the same calls.
func (a *llamaArchitecture) hasUseless(c *llamaCase) bool {
	return slices.ContainsFunc(a.Cases, func(smaller *llamaCase) bool {
		for key, v := range smaller.Change {
			if !reflect.DeepEqual(c.Change[key], v) {
				return false
			}
		}
		return len(smaller.Change) < len(c.Change) && reflect.DeepEqual(smaller.Layers, c.Layers)
	})
}

// refusals are the keys for which metadata are refused that llama.cpp has a use for, with the reason.
var refusals = map[string]string{
	"attention.key_length_swa":         "fewer elements than rotate",
	"attention.sliding_window":         "a window of 0 where there must be one",
	"rope.dimension_count_swa":         "llama.cpp takes the elements of the first layer for all",
	"rope.dimension_sections":          "sections that are not of half the rotated elements, or a fourth axis of interleaved ones: ggml goes round them again",
	"rope.freq_base_swa":               "the part of a head that rotates, of layers that do not have a base of their own",
	"rope.scaling.factor":              "multi-head latent attention scales its scores as for YaRN",
	"rope.scaling.type":                "none beside a factor, which llama.cpp takes off layers without a window only; or tensors without longrope",
	"rope.scaling.yarn_attn_factor":    "Grok, without YaRN",
	"rope.scaling.yarn_ext_factor":     "Grok, without the type yarn",
	"rope.scaling.yarn_log_multiplier": "multi-head latent attention whose mscale is not mscale_all_dim",
}

// refusedFor is the key that an error speaks of first.
func refusedFor(arch string, err error) string {
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "modelconfig.GGUF: "), arch+".")
	key, _, _ := strings.Cut(text, " ")
	return strings.TrimSuffix(key, ",")
}

// keys are the metadata of a case, with tensors of frequency factors.
func (calls *llamaCalls) keys(name string, c *llamaCase) map[string]any {
	usual := calls.Architectures[name].Keys
	keys := maps.Clone(usual)
	rotaryDim := 0
	for _, layer := range c.Layers {
		for _, n := range layer {
			rotaryDim = max(rotaryDim, calls.Calls[n].NDims)
		}
	}
	for name, required := range calls.Architectures[name].Factors {
		if required { // factors of 1 are none
			keys[name] = slices.Repeat([]float32{1}, rotaryDim/2)
		}
	}
	for key, v := range c.Change {
		switch list, isList := v.([]any); {
		case key == "context":
			continue
		case strings.HasSuffix(key, ".weight"):
			factors := make([]float32, rotaryDim/2)
			for i := range factors {
				factors[i] = callDivisor(key, i)
			}
			keys[key] = factors
			continue
		case isList && len(list) > 4: // one for each layer
			count := int(usual[name+".block_count"].(uint32))
			v = slices.Repeat(list, count)[:count]
		}
		keys[name+"."+key] = v
	}
	if n, ok := c.Change["rope.dimension_count"].(uint32); ok && usual[name+".attention.key_length_mla"] != nil {
		keys[name+".attention.key_length"], keys[name+".attention.key_length_mla"] = 32+n, 128+n
	}
	return keys
}

// compare says in what a model differs from the calls of a case; "": nothing.
func (calls *llamaCalls) compare(t *testing.T, a *llamaArchitecture, c *llamaCase, m *Model) string {
	layers := m.Layers()
	if len(layers) < len(c.Layers) {
		return fmt.Sprintf("%d layers, llama.cpp rotates in %d", len(layers), len(c.Layers))
	}
	length := 1
	if n, ok := c.Change["context"].(uint32); ok {
		length = int(n)
	}
	type pair struct {
		kind string
		call int
	}
	compared := map[pair]bool{}
	for i, layer := range layers {
		var attention, indexer int
		if i < len(c.Layers) {
			for _, n := range c.Layers[i] {
				call, kind := calls.Calls[n], layer.Kind
				if call.Indexer {
					kind = ""
					if layer.Indexer {
						kind = description.IndexerKind
					}
					indexer++
				} else {
					attention++
				}
				if compared[pair{kind, n}] || call.Indexer && kind == "" || !call.Indexer && !layer.Rotates {
					continue
				}
				compared[pair{kind, n}] = true
				cfg, err := m.rotaryFor(kindOptions{LayerType: kind, SequenceLength: length})
				if err != nil {
					return err.Error()
				}
				if difference := call.unreadYaRN(a.Reads, c.Change).differs(t, cfg); difference != "" {
					return fmt.Sprintf("layer %d (%q): %s", i, kind, difference)
				}
			}
		}
		if layer.Rotates != (attention > 0) {
			return fmt.Sprintf("layer %d rotates: %v, llama.cpp has %d calls", i, layer.Rotates, attention)
		}
		if layer.Indexer != (indexer > 0) {
			return fmt.Sprintf("layer %d has an indexer: %t, llama.cpp has %d calls", i, layer.Indexer, indexer)
		}
	}
	return ""
}

// harmlessGGUF are beginnings of keys that loaders read and that change nothing in the
// rotation of queries and keys, with the reason.
var harmlessGGUF = map[string]string{
	"adapters.": "adapters", "attention.causal": "the mask", "attention.clamp_kqv": "before the rotation", "attention.indexer.block_size": "which keys are chosen", "attention.indexer.head_count": "number of heads", "attention.indexer.local_blocks": "which keys are chosen",
	"attention.indexer.top_k": "which keys are chosen", "attention.key_length_mla": "heads with the part that does not rotate; rope.dimension_count is the part that does",
	"attention.kv_lora_rank": "before the rotation", "attention.layer_norm": "norms", "attention.output_": "after the attention", "attention.q_lora_rank": "before the rotation",
	"attention.scale": "the scores", "attention.shared_kv_layers": "layers that take the keys of others, rotated",
	"attention.temperature_": "scales of queries, which Layer.QueryScaling has", "attention.value_": "values", "attn_logit_softcapping": "the scores",
	"block_count": "in every case", "block_size": "tokens of a draft", "classifier.": "the head of the model", "conv": "convolutions", "decision.": "the head of the model",
	"deepstack_mapping": "images", "dense_": "the head of the model", "embedding_length": "in every case", "embedding_scale": "embeddings", "expert": "experts", "features_length": "audio",
	"feed_forward_length": "feed-forward layers", "final_logit_softcapping": "logits", "general.name": "a name", "hash_layer_count": "experts", "hidden_activation": "feed-forward layers",
	"hrm.": "how often the layers run", "hyper_connection.epsilon": "residual streams", "hyper_connection.low_rank": "residual streams", "hyper_connection.magnitude": "residual streams", "hyper_connection.sinkhorn_iterations": "residual streams", "interleave_moe_layer_step": "experts", "kda.": "recurrent layers", "logit_scale": "logits", "moe_every_n_layers": "experts",
	"n_deepstack_layers": "images", "norm_before_": "norms", "num_loops": "how often the layers run", "ple.": "embeddings", "pooling_type": "the head of the model", "posnet.": "audio",
	"residual_scale": "residual streams", "router_logit_softcapping": "experts", "selector_": "drafts", "shortconv.": "convolutions", "skip_loop_final_norm": "norms",
	"ssm.": "recurrent layers", "swiglu_": "feed-forward layers", "swin_norm": "norms", "target_": "the model drafted for", "use_parallel_residual": "residual streams", "vocab_size": "embeddings", "xielu.": "feed-forward layers",
}

// TestLlamaCppKeys shows that TestLlamaCppCalls changes every key that a loader of llama.cpp
// reads, except the keys of harmlessGGUF; and that GGUF has an entry for every architecture.
func TestLlamaCppKeys(t *testing.T) {
	calls := readCalls()
	changed, used := map[string]bool{}, map[string]bool{}
	for _, a := range calls.Architectures {
		for _, c := range a.Cases {
			for key := range c.Change {
				changed[key] = true
			}
		}
	}
	check := func(name, key string) {
		harmless := false
		for prefix := range harmlessGGUF {
			if strings.HasPrefix(key, prefix) {
				harmless, used[prefix] = true, true
			}
		}
		if !harmless && !changed[key] {
			t.Errorf("%s reads %s, which no case has", name, key)
		}
	}
	for key := range calls.Common {
		check("every loader", key)
	}
	for _, name := range document.SortedKeys(calls.Architectures) {
		a := calls.Architectures[name]
		_, known := ggufArchitectures[name]
		if _, otherwise := ggufNotRotary[name]; !known && !otherwise && ggufRefused[name] == "" {
			t.Errorf("%s has no entry", name)
		}
		if !known {
			continue
		}
		for key := range a.Reads {
			check(name, key)
		}
	}
	for prefix := range harmlessGGUF {
		if !used[prefix] {
			t.Errorf("no loader reads %s", prefix)
		}
	}
	for name, instead := range notRun {
		like, _, _ := strings.Cut(instead, ",")
		got, want := ggufArchitectures[name], ggufArchitectures[like]
		got.Name, got.Also, got.Traps = want.Name, want.Also, want.Traps
		if name == "clef" && !reflect.DeepEqual(got, want) {
			t.Errorf("%s is not read as %s", name, like)
		}
	}
}
