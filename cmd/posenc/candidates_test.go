package main

import (
	"strings"
	"testing"
)

// A file of a type that nobody knows is read by the types whose keys it has: in pairs of neighbours by the
// code of Llama 4, in halves by that of SmolLM3.
func TestCandidates(t *testing.T) {
	var stdout, stderr strings.Builder
	if code := run([]string{"inspect", "testdata/check/new.json"}, &stdout, &stderr); code != exitDifferent {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	for _, want := range []string{`model_type is "brandnew", want`, "\nllama4_text\n  21 of 28 layers", "interleaved: element 2i with 2i+1", "\nsmollm3\n"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("no %q in\n%s", want, &stdout)
		}
	}
	if strings.Contains(stdout.String(), "\nllama\n") { // which rotates in all layers
		t.Errorf("llama in\n%s", &stdout)
	}
}
