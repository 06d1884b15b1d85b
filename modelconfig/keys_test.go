package modelconfig

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
	"github.com/go-posenc/posenc/modelconfig/internal/huggingface"
)

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
	testkit.ReadJSON("testdata/keys/keys.json.gz", k)
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
	return testkit.Must(json.Marshal(document))
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
			if !testkit.Sampled(i+j, 8) {
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
		if !testkit.Sampled(n, 8) {
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
		if errors.Is(err, ErrUnknown) && document.SubjectOf(key) == document.AboutOther {
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
