package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// The tool knows the stores and labels that the generator writes.
func TestInnerLoops(t *testing.T) {
	for goarch := range targets {
		files, err := filepath.Glob("../../*_" + goarch + ".s")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", goarch, len(files), err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			loops := innerLoops(string(source))
			for _, m := range regexp.MustCompile(`(?m)^TEXT ·(\w+)`).FindAllStringSubmatch(string(source), -1) {
				if !regexp.MustCompile("^(FenceStores|ClearUpperHalves|Range)").MatchString(m[1]) && !slices.ContainsFunc(loops, func(l loop) bool { return l.symbol == m[1] }) {
					t.Errorf("%s has no loop", m[1])
				}
			}
		}
	}
}
