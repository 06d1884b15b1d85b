package main

import (
	"encoding/xml"
	"os"
	"testing"
)

// The files are what the program draws, and XML.
func TestDiagrams(t *testing.T) {
	for name, draw := range diagrams {
		drawn := draw()
		if err := xml.Unmarshal([]byte(drawn), new(struct{})); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if file, err := os.ReadFile(name); err != nil || string(file) != drawn {
			t.Errorf("%s is not what is drawn, %v: go run -C docs/pictures .", name, err)
		}
	}
}
