package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/modelconfig"
	"github.com/nlpodyssey/safetensors"
)

func load() *model { return kit.Must(loadModel(configFile, weightsFile)) }

func goldenOf(m *model, kind string) golden {
	return kit.Must(readGolden(goldenFile, kind, m.Vocabulary))
}

// roundings is how many times the golden difference the logits may be off: that is what
// roundings of keys and values alone do, and those of all other sums come to it.
const roundings = 4

// The tokens are those of transformers, and the logits differ by roundings only.
func TestLogits(t *testing.T) {
	m := load()
	for _, kind := range kinds {
		want := goldenOf(m, kind.name)
		tokens, logits, err := m.decode(want.tokens[:want.prompt], len(want.tokens)-want.prompt, kind.new(m.geometry(len(want.tokens))))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(tokens, want.tokens) {
			t.Errorf("cache of %s:\n%sbut transformers has\n%s", kind.name, text(tokens), text(want.tokens))
		}
		if d, bound := difference(logits, want.logits), roundings*want.difference; d > bound {
			t.Errorf("cache of %s: logits differ by %v, want at most %v", kind.name, d, bound)
		}
	}
}

// The bound of 8 bits is below what 8 bits do, or it would not tell the caches apart.
func TestCachesDiffer(t *testing.T) {
	m := load()
	float, q8 := goldenOf(m, "float32"), goldenOf(m, "q8_0")
	if d := difference(float.logits, q8.logits); d < 2*roundings*q8.difference {
		t.Errorf("transformers' logits differ by %v between the caches, want at least %v", d, 2*roundings*q8.difference)
	}
}

// Mistakes that engines make move the logits far beyond the bounds.
func TestMistakes(t *testing.T) {
	m := load()
	want := goldenOf(m, "float32")
	for name, change := range map[string][2]string{
		"none":                    {},
		"rope_parameters ignored": {`"rope_parameters"`, `"other"`},
		"another base":            {`"rope_theta": 10000.0`, `"rope_theta": 500000.0`},
		"the other layout":        {`"model_type": "llama"`, `"model_type": "cohere"`},
	} {
		config := strings.Replace(string(configFile), change[0], change[1], 1)
		if name != "none" && config == string(configFile) {
			t.Fatalf("%s: config.json does not have %s", name, change[0])
		}
		config = strings.Replace(config, `"LlamaForCausalLM"`, "", 1) // which contradicts another model_type
		model := kit.Must(modelconfig.HuggingFace([]byte(config)))
		m.rope = kit.Must(model.Rope()) // by exact angles
		logits := kit.Must(m.forward(want.tokens[:len(want.tokens)-1], 0, newFloatCache(m.geometry(len(want.tokens)))))
		d := difference(logits, want.logits)
		t.Logf("%s: %.2g", name, d)
		switch {
		case name == "none":
			// Angles of float32 are off by up to 237*2^-24, 60 times what keys change by for
			// the golden difference.
			if bound := 60 * roundings * want.difference; d > bound {
				t.Errorf("exact angles move the logits by %v, want at most %v", d, bound)
			}
		case d < 1:
			t.Errorf("%s: the logits move by %v only", name, d)
		}
	}
}

func TestRun(t *testing.T) {
	var out strings.Builder
	kit.NoError(t, run(&out))
	for _, want := range []string{"    The billows smooth and bright--\n", "the same bits"} {
		if n := strings.Count(out.String(), want); n != len(kinds) {
			t.Errorf("%q is %d times in what is printed, want %d:\n%s", want, n, len(kinds), out.String())
		}
	}
}

// What golden.safetensors does not have, or has with another type or shape, is an error.
func TestTensorErrors(t *testing.T) {
	file := kit.Must(safetensors.Deserialize(goldenFile))
	m := load()
	for name, f := range map[string]func() ([]int32, error){
		"another name":      func() ([]int32, error) { return tensor[int32](file, safetensors.I32, "tokens", -1) },
		"another type":      func() ([]int32, error) { return tensor[int32](file, safetensors.F32, "float32.tokens", -1) },
		"another length":    func() ([]int32, error) { return tensor[int32](file, safetensors.I32, "float32.tokens", 1) },
		"another dimension": func() ([]int32, error) { return tensor[int32](file, safetensors.I32, "float32.tokens", -1, 1) },
	} {
		if x, err := f(); err == nil {
			t.Errorf("%s: %v, want an error", name, x)
		}
	}
	for _, cut := range []int{0, 100, len(goldenFile) - 1} {
		if _, err := readGolden(goldenFile[:cut], "float32", m.Vocabulary); err == nil {
			t.Errorf("the first %d bytes of golden.safetensors are no error", cut)
		}
		if _, err := loadModel(configFile, weightsFile[:cut]); err == nil {
			t.Errorf("the first %d bytes of model.safetensors are no error", cut)
		}
	}
}
