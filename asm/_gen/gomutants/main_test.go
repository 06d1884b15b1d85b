package main

import (
	"io"
	"os"
	"strings"
	"testing"
)

// The loop's bound is noticed. The bound of n is not: without numbers the sum is 0 anyway. What is
// below internal has the tests of the package above.
func TestGomutants(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = write
	failed := run("testdata/module", []string{"./..."}, 1)
	os.Stdout = stdout
	write.Close()
	output, err := io.ReadAll(read)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"SURVIVED\tsums.go Sum 1 < as <=\tn < 0",
		"SURVIVED\tsums.go Sum 2 if false\tif n < 0",
		"NOT REACHED\tsums.go Never 1 && as ||\ta && b",
		"/testdata/module: 5 changes: map[NOT REACHED:1 SURVIVED:2 noticed:2]",
		"SURVIVED\tpart/internal/least/least.go Of 1 < as <=\ta < b",
		"/testdata/module/part/internal/least: 3 changes: map[SURVIVED:1 noticed:2]",
	}
	for _, line := range want {
		if !strings.Contains(string(output), line) {
			t.Errorf("no line %q in\n%s", line, output)
		}
	}
	if failed == nil || strings.Count(string(output), "SURVIVED\t") != 3 {
		t.Errorf("error %v\n%s", failed, output)
	}
}

// What the compiler reads in comments stays: without it a file is embedded nowhere.
func TestDirectives(t *testing.T) {
	text, changes, err := rewrite("main.go", "main.go", 0, "example.org/chooser", nil)
	if err != nil || len(changes) == 0 || !strings.Contains(string(text), "\n//go:embed equivalent.txt\nvar equivalentText string\n") || strings.Contains(string(text), "// equivalent has") {
		t.Errorf("%d changes, error %v\n%s", len(changes), err, text)
	}
}
