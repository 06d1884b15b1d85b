package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"
)

func around(center float64, spread float64) []float64 {
	var values []float64
	for i := range 10 {
		values = append(values, center*(1+spread*float64(i-5)/5))
	}
	return values
}

func TestReport(t *testing.T) {
	old := map[string][]float64{
		"Same": around(1, 0.01), "Slower": around(1, 0.01), "Faster": around(1, 0.01), "Little": around(1, 0.001), "Noisy": around(1, 0.5), "Gone": around(1, 0.01), "Timeless": nil,
	}
	new := map[string][]float64{
		"Same": around(1.001, 0.01), "Slower": around(1.1, 0.01), "Faster": around(0.8, 0.01), "Little": around(1.02, 0.001), "Noisy": around(1.1, 0.5), "Added": around(9, 0.01), "Timeless": nil,
	}
	var output strings.Builder
	slower, err := report(&output, old, new)
	if err != nil || len(slower) != 1 || !strings.HasPrefix(slower[0], "Slower: 10.0 % slower") {
		t.Errorf("slower: %q, %v, want Slower alone", slower, err)
	}
	for _, want := range []string{"Added: only in the new commit\nGone: only in the old commit\nTimeless: no time\n", "1 of 5 benchmarks"} {
		if !strings.Contains(output.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, &output)
		}
	}
	if _, err := report(&output, old, map[string][]float64{"Added": {1}}); err == nil {
		t.Error("nothing in common, and no error")
	}
}

// A repository whose benchmarks report figures of their own, so that no time
// decides.
func TestCompareCommits(t *testing.T) {
	directory := t.TempDir()
	git := func(arguments ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{"-C", directory, "-c", "user.name=x", "-c", "user.email=x@localhost", "-c", "commit.gpgsign=false"}, arguments...)...)
		if message, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", arguments, err, message)
		}
	}
	write := func(name, content string) {
		t.Helper()
		testkit.NoError(t, os.WriteFile(filepath.Join(directory, name), []byte(content), 0o666))
	}
	folder := "."
	commit := func(slow int) {
		t.Helper()
		write(filepath.Join(folder, "x_test.go"), fmt.Sprintf(`package x

import "testing"

func BenchmarkSlow(b *testing.B) { b.ReportMetric(%d, "ns/op") }
func BenchmarkSame(b *testing.B) { b.ReportMetric(100, "ns/op") }
func BenchmarkSlowCall(b *testing.B) {
	b.ReportMetric(0, "ns/op") // hides it
	b.ReportMetric(%d, "ns/call")
	b.ReportMetric(2, "of-bound")
}
func BenchmarkTimeless(b *testing.B) {
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(2, "of-bound")
}
`, slow, slow+30))
		git("add", ".")
		git("commit", "-qm", "x")
		git("tag", fmt.Sprintf("v%d", slow))
	}
	git("init", "-q")
	write("go.mod", "module example.com/x\n\ngo 1.26.0\n")
	commit(100)
	testkit.NoError(t, os.Mkdir(filepath.Join(directory, "moved"), 0o777))
	folder = "moved" // the same benchmarks in another package
	git("rm", "-q", "x_test.go")
	commit(120)

	c := comparison{benchmarks: ".", benchtime: "1x", count: fewest, repository: directory, old: "v100", new: "v120"}
	var output, progress strings.Builder
	slower := testkit.Must(c.run(&output, &progress))
	// Names end with the number of cores, where that is not 1.
	if len(slower) != 2 || !strings.HasPrefix(slower[0], "Slow") || !strings.Contains(slower[0], "20.0 % slower") ||
		!strings.HasPrefix(slower[1], "SlowCall") || !strings.Contains(slower[1], "15.4 % slower") {
		t.Errorf("slower: %q, want Slow by 20 %% and SlowCall by 15.4 %%", slower)
	}
	for _, want := range []string{"old", "new", "vs base", "Not compared:\nTimeless", ": no time", "Slower beyond noise, 2 of 3 benchmarks"} {
		if !strings.Contains(output.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, &output)
		}
	}
	c.old = "nonesuch"
	if _, err := c.run(&output, &progress); err == nil {
		t.Error("nonesuch is no commit, and no error")
	}
	c.count = fewest - 1
	if _, err := c.run(&output, &progress); err == nil {
		t.Errorf("%d samples are too few, and no error", c.count)
	}
}
