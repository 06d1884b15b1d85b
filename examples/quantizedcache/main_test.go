package main

import (
	"os"
	"strings"
	"testing"
)

// docs/quantized.md has what the program prints, and docs/pictures draws it.
func TestDocs(t *testing.T) {
	const file = "../../docs/quantized.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rope, err := newRotary()
	if err != nil {
		t.Fatal(err)
	}
	if table := newStep(rope).table(); !strings.Contains(string(text), "```text\n"+table+"```\n") {
		t.Errorf("%s has other errors; put these there, and then go run -C docs/pictures .:\n%s", file, table)
	}
}
