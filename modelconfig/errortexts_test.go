package modelconfig_test

import (
	"strings"
	"testing"

	"github.com/go-posenc/posenc/modelconfig"
)

// TestErrorNamesFile: a file is named by its first bytes after a byte order mark and blanks.
func TestErrorNamesFile(t *testing.T) {
	const lfs = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 651\n"
	for config, want := range map[string]string{
		"\n" + lfs:                  "a Git LFS pointer",
		"\uFEFF" + lfs:              "a Git LFS pointer",
		"\uFEFF \r\n" + lfs:         "a Git LFS pointer",
		"\n# xet version 0\n":       "a Xet pointer",
		" \n/annex/objects/MD5-a\n": "a git-annex pointer",
	} {
		if _, err := modelconfig.HuggingFace([]byte(config)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", config, err, want)
		}
	}
}

// TestErrorNearestWithoutCase: a name that differs in case alone is nearer than a longer one.
func TestErrorNearestWithoutCase(t *testing.T) {
	for name, want := range map[string]string{"Llama": `"llama"`, "QWEN2": `"qwen2"`, "Mistral": `"mistral"`} {
		_, err := modelconfig.HuggingFace([]byte(`{"model_type":"` + name + `"}`))
		if err == nil || !strings.Contains(err.Error(), "the nearest name is "+want) {
			t.Errorf("%s: %v, want the nearest name %s", name, err, want)
		}
	}
}
