package modelconfig

import (
	"encoding/json"
	"errors"
	"maps"
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

// documentsOfTypes returns the shortest document of every type of a text model that is read.
func documentsOfTypes(t *testing.T) map[string]map[string]any {
	s, documents := readSurvey(), map[string]map[string]any{}
	for name := range families {
		document := s.Types[name].document(name)
		if _, err := readOf(name, document); err == nil {
			documents[name] = document
		}
	}
	return documents
}

// TestPositionKeys: no key that position code reads passes in silence on any type: the type
// reads it, or an error names it.
func TestPositionKeys(t *testing.T) {
	documents, refused := documentsOfTypes(t), 0
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

// Keys that are near others, by a number of letters that depends on their own, have the meant one in the error.
func TestMostChanged(t *testing.T) {
	for name, want := range map[string]int{"base": 0, "alibi": 1, "factor": 1, "mixed_b": 2} {
		if got := huggingface.MostChanged(name); got != want {
			t.Errorf("of %s %d letters may differ, want %d", name, got, want)
		}
	}
	wantError(t, `{"model_type": "llama", "partial_rotery_factor": 0.5}`, ErrUnknown, "partial_rotary_factor")
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

// TestOrdinaryKeys: a field of any configuration class passes unless it is about positions.
func TestOrdinaryKeys(t *testing.T) {
	k, passed := readKeys(t), 0
	for _, key := range k.Fields {
		// Text is no value of some keys that are read (hidden_size): ErrSyntax.
		if k.Keys[key] != nil || document.SubjectOf(key) != document.AboutOther || key == "model_type" {
			continue
		}
		_, err := HuggingFace(withKey(map[string]any{"model_type": "llama"}, key, "odd"))
		if errors.Is(err, ErrUnknown) {
			t.Errorf("%v", err)
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
// characters than letters, digits, _ and -.
func TestShownNames(t *testing.T) {
	long := strings.Repeat("x", 65)
	for _, tt := range []struct{ name, key, quoted string }{
		{"", `""`, `""`},
		{"aZ-zA_09", "aZ-zA_09", `"aZ-zA_09"`},
		{"a/", `"a/"`, `"a/"`}, {"a:", `"a:"`, `"a:"`}, {"a@", `"a@"`, `"a@"`}, {"a[", `"a["`, `"a["`}, {"a`", "\"a`\"", "\"a`\""}, {"a{", `"a{"`, `"a{"`},
		{long[:64], long[:64], `"` + long[:64] + `"`},
		{long, `"` + long[:64] + `"...`, `"` + long[:64] + `"...`},
	} {
		if key, quoted := document.KeyName(tt.name), document.Quoted(tt.name); key != tt.key || quoted != tt.quoted {
			t.Errorf("%s is %s and %s, want %s and %s", tt.name, key, quoted, tt.key, tt.quoted)
		}
	}
	for n, want := range map[int]string{96: strings.Repeat("7", 96), 97: strings.Repeat("7", 96) + "..."} {
		if got := document.Shortened(strings.Repeat("7", n)); got != want {
			t.Errorf("%d digits are %s", n, got)
		}
	}
}

// A key is split at separators and where a word begins with a capital.
func TestWords(t *testing.T) {
	for key, want := range map[string][]string{
		"EURopeTheta": {"eu", "rope", "theta"}, "useROPE": {"use", "rope"}, "useRoPE": {"use", "ro", "pe"}, "USE_rope2d": {"use", "rope2d"}, "aB": {"a", "b"}, "AB": {"ab"},
	} {
		if got := document.WordsOf(key); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}

// Longer names than 64 letters are not compared.
func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"llama", "llama", 0}, {"lama", "llama", 1}, {"qwen2", "qwen3", 1}, {"", "abc", 3}, {"kitten", "sitting", 3},
		{strings.Repeat("x", 63) + "y", strings.Repeat("x", 64), 1}, {strings.Repeat("x", 65), strings.Repeat("x", 64), 10}} {
		if got := document.Distance(tt.a, tt.b, 10); got != tt.want {
			t.Errorf("%q and %q are %d letters apart, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

// The nearest name is the shortest that begins with a name, the first of several; else the one with
// the fewest other letters.
func TestNearest(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		known      []string
	}{
		{"lasr", "lasr_ab", []string{"lasr_abc", "lasr_ab", "lasr_cd", "lass"}},
		{"lasr", "lass", []string{"lasrab", "xasr_lasr", "lass"}},
		{"lasr", "", []string{"lbbr", ""}},
	} {
		if got := document.Nearest(tt.name, tt.known); got != tt.want {
			t.Errorf("%s: %q, want %q of %q", tt.name, got, tt.want, tt.known)
		}
	}
}
