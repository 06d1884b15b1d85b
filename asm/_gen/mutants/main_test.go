package main

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What a mutant replaces is in its file once, as the code is now, and all of its tests are
// in the folder of its packages. The report has every mutant once, and no other.
func TestMutantsAreFound(t *testing.T) {
	all, err := choose(nil)
	if err != nil {
		t.Fatal(err)
	}
	repository := &laboratory{folder: "../../.."}
	for _, m := range all {
		if _, _, err := repository.mutated(&m); err != nil {
			t.Error(err)
		}
		files, err := filepath.Glob(filepath.Join(repository.folder, m.tests.module, cmp.Or(m.tests.packages, kernelPackages), "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var source []byte
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			source = append(source, text...)
		}
		for name := range strings.SplitSeq(m.tests.names, "|") {
			if !regexp.MustCompile(`(?m)^func ` + name + `\(`).Match(source) {
				t.Errorf("%s: no test %s in %s", m.name, name, cmp.Or(m.tests.packages, kernelPackages))
			}
		}
	}
	report, err := os.ReadFile("../../../docs/verification/mutants.txt")
	if err != nil {
		t.Fatal(err)
	}
	reported := map[string]int{}
	for _, line := range regexp.MustCompile(`(?m)^([a-z0-9-]+/\S+) .* (killed by|harmless)`).FindAllSubmatch(report, -1) {
		reported[string(line[1])]++
	}
	for _, m := range all {
		if reported[m.name] != 1 {
			t.Errorf("%s is reported %d times", m.name, reported[m.name])
		}
		delete(reported, m.name)
	}
	for name := range reported {
		t.Errorf("%s is reported, and there is none", name)
	}
}
