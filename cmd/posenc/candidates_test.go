package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"
)

// A file of a type that nobody knows is read by the types whose keys it has: half-split by GPT-NeoX's,
// interleaved by GLM's, whose code rotates half of each head too.
func TestCandidates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	config := `{"model_type": "brandnew", "hidden_size": 2048, "num_attention_heads": 16, "head_dim": 128, "num_hidden_layers": 28, "rope_theta": 1000000, "partial_rotary_factor": 0.5}`
	testkit.NoError(t, os.WriteFile(path, []byte(config), 0o666))
	var stdout, stderr strings.Builder
	if code := run([]string{"inspect", path}, &stdout, &stderr); code != exitDifferent {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	for _, want := range []string{
		`model_type is "brandnew", want`, "glm4_moe", "the first 64 of 128 elements of a head", "half-split: element i with i+32",
		"glm, glm4, moonshine\n  all 28 layers  pairs  interleaved\n",
	} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("no %q in\n%s", want, &stdout)
		}
	}
	if strings.Contains(stdout.String(), "\nllama") { // which rotates whole heads
		t.Errorf("llama in\n%s", &stdout)
	}
}
