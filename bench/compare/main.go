// Command compare runs the benchmarks of two commits on this machine alternately,
// prints benchstat's table and names what got slower beyond noise.
//
//	go run -C bench ./compare main HEAD
//	go run -C bench ./compare -bench 'RotateInto|Shift' HEAD~1 HEAD
//
// Its exit status is 1 when something got slower: when the medians differ by more
// than 5 % and a Mann-Whitney U test says that chance makes such a difference
// less than once in a thousand. The times are those of an operation or, where a
// benchmark measures several things alternately, of a call. Benchmarks are told by
// their names, whichever package they are in. It names those that it cannot compare:
// only one of the commits has them, or they report no time.
package main

import (
	"archive/zip"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
)

const (
	slowdown = 1.05
	chance   = 0.001
	fewest   = 7 // samples of each, with which the test can tell anything at that chance
)

// comparison is what is run.
type comparison struct {
	benchmarks, benchtime string
	count                 int
	repository            string // a directory in it
	old, new              string // commits
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("compare: ")
	c := comparison{repository: "."}
	flag.StringVar(&c.benchmarks, "bench", "^Benchmark[^S]|^BenchmarkS[^t]", "benchmarks, a `regexp` as of go test -bench; without it all but StopTheWorld")
	flag.StringVar(&c.benchtime, "benchtime", "20ms", "as of go test")
	flag.IntVar(&c.count, "count", 10, "samples of each")
	flag.Parse()
	if flag.NArg() != 2 {
		log.Fatalf("%d arguments: expected two commits, old and new", flag.NArg())
	}
	c.old, c.new = flag.Arg(0), flag.Arg(1)
	slower, err := c.run(os.Stdout, os.Stderr)
	if err != nil {
		log.Fatal(err)
	}
	if len(slower) > 0 {
		os.Exit(1)
	}
}

// run returns the names of what got slower.
func (c comparison) run(output, progress io.Writer) ([]string, error) {
	if c.count < fewest {
		return nil, fmt.Errorf("-count %d: expected at least %d", c.count, fewest)
	}
	temporary, err := os.MkdirTemp("", "compare")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temporary)
	builds := []*build{{name: "old", commit: c.old}, {name: "new", commit: c.new}}
	for _, b := range builds {
		fmt.Fprintf(progress, "building %s\n", b.commit)
		if err := b.make(c.repository, filepath.Join(temporary, b.name), c.benchmarks); err != nil {
			return nil, fmt.Errorf("%s: %w", b.commit, err)
		}
	}
	for i := range c.count {
		for _, b := range builds {
			fmt.Fprintf(progress, "sample %d of %d, %s\n", i+1, c.count, b.commit)
			if err := b.sample(c.benchmarks, c.benchtime); err != nil {
				return nil, fmt.Errorf("%s: %w", b.commit, err)
			}
		}
		slices.Reverse(builds) // neither is always the first
	}
	files := []string{filepath.Join(temporary, "old.txt"), filepath.Join(temporary, "new.txt")}
	var times [2]map[string][]float64
	for _, b := range builds {
		i := slices.Index([]string{"old", "new"}, b.name)
		if err := os.WriteFile(files[i], []byte(b.samples.String()), 0o666); err != nil {
			return nil, err
		}
		if times[i], err = parse(b.samples.String()); err != nil {
			return nil, fmt.Errorf("%s: %w", b.commit, err)
		}
	}
	benchstat := exec.Command("go", "tool", "benchstat", "-ignore=pkg", "old="+files[0], "new="+files[1])
	benchstat.Stdout, benchstat.Stderr = output, progress
	if err := benchstat.Run(); err != nil {
		return nil, fmt.Errorf("benchstat: %w", err)
	}
	return report(output, times[0], times[1])
}

// build is the test binaries of one commit.
type build struct {
	name, commit string
	binaries     []binary
	samples      strings.Builder
}

// binary is the tests of a package with benchmarks, and its directory.
type binary struct{ path, directory string }

// make builds the tests from the files of the commit alone.
func (b *build) make(repository, directory, benchmarks string) error {
	root, err := exec.Command("git", "-C", repository, "rev-parse", "--show-toplevel").Output() // git archive archives the directory it is in
	if err != nil {
		return err
	}
	archive := directory + ".zip"
	git := exec.Command("git", "-C", strings.TrimSpace(string(root)), "archive", "--format=zip", "-o", archive, "--end-of-options", b.commit)
	if message, err := git.CombinedOutput(); err != nil {
		return fmt.Errorf("git archive: %w: %s", err, message)
	}
	files, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer files.Close()
	if err := os.CopyFS(directory, files); err != nil {
		return err
	}
	compiled := directory + ".tests"
	for _, arguments := range [][]string{{"test", "-c", "-o", compiled + string(filepath.Separator), "./..."}, {"list", "-f", "{{.ImportPath}} {{.Dir}}", "./..."}} {
		command := exec.Command("go", arguments...)
		command.Dir = directory
		output, err := command.CombinedOutput()
		if err != nil {
			return fmt.Errorf("go %s: %w: %s", strings.Join(arguments, " "), err, output)
		}
		if arguments[0] == "list" {
			err = b.find(compiled, string(output), benchmarks)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// find lists the binaries of those packages, a line each, that have benchmarks.
func (b *build) find(compiled, packages, benchmarks string) error {
	names, _, _ := strings.Cut(benchmarks, "/") // the rest are those of parts of a benchmark
	for line := range strings.Lines(packages) {
		name, directory, _ := strings.Cut(strings.TrimSpace(line), " ")
		file := filepath.Join(compiled, path.Base(name)+".test")
		if runtime.GOOS == "windows" {
			file += ".exe"
		}
		if _, err := os.Stat(file); err != nil {
			continue // it has no tests
		}
		list := exec.Command(file, "-test.list="+names)
		list.Dir = directory
		found, err := list.Output()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if strings.Contains("\n"+string(found), "\nBenchmark") {
			b.binaries = append(b.binaries, binary{file, directory})
		}
	}
	return nil
}

// sample runs every benchmark once.
func (b *build) sample(benchmarks, benchtime string) error {
	for _, binary := range b.binaries {
		run := exec.Command(binary.path, "-test.run=^$", "-test.bench="+benchmarks, "-test.benchtime="+benchtime)
		run.Dir = binary.directory
		run.Stdout, run.Stderr = &b.samples, os.Stderr
		if err := run.Run(); err != nil {
			return err
		}
	}
	return nil
}

// parse returns the seconds of an operation, or of a call, by the name of the
// benchmark. What reports no time has no seconds.
func parse(samples string) (map[string][]float64, error) {
	times := map[string][]float64{}
	reader := benchfmt.NewReader(strings.NewReader(samples), "benchmarks")
	for reader.Scan() {
		switch record := reader.Result().(type) {
		case *benchfmt.Result:
			name := record.Name.String()
			times[name] = append(times[name], seconds(record)...)
		case *benchfmt.SyntaxError:
			return nil, record
		}
	}
	if len(times) == 0 {
		return nil, errors.Join(reader.Err(), errors.New("no benchmark ran"))
	}
	return times, reader.Err()
}

// seconds are the time of one sample, if it has one: the reader turns ns/op into
// sec/op, ns/call into sec/call.
func seconds(record *benchfmt.Result) []float64 {
	for _, unit := range []string{"sec/op", "sec/call"} {
		if v, ok := record.Value(unit); ok {
			return []float64{v}
		}
	}
	return nil
}

// report prints and returns what got slower, and prints what cannot be compared.
func report(output io.Writer, old, new map[string][]float64) ([]string, error) {
	thresholds := benchmath.DefaultThresholds
	thresholds.CompareAlpha = chance
	all := maps.Clone(old)
	maps.Copy(all, new)
	names := slices.Sorted(maps.Keys(all))
	var slower, apart []string
	for _, name := range names {
		before, inOld := old[name]
		after, inNew := new[name]
		switch {
		case !inNew:
			apart = append(apart, name+": only in the old commit")
			continue
		case !inOld:
			apart = append(apart, name+": only in the new commit")
			continue
		case len(before) == 0 || len(after) == 0:
			apart = append(apart, name+": no time")
			continue
		}
		x, y := benchmath.NewSample(before, &thresholds), benchmath.NewSample(after, &thresholds)
		difference := benchmath.AssumeNothing.Compare(x, y)
		ratio := benchmath.AssumeNothing.Summary(y, 0.95).Center / benchmath.AssumeNothing.Summary(x, 0.95).Center
		if difference.P < chance && ratio > slowdown {
			slower = append(slower, fmt.Sprintf("%s: %.1f %% slower, %v", name, 100*(ratio-1), difference))
		}
	}
	if len(apart) > 0 {
		fmt.Fprintf(output, "\nNot compared:\n%s\n", strings.Join(apart, "\n"))
	}
	compared := len(names) - len(apart)
	if compared == 0 {
		return nil, errors.New("the commits have no time of a benchmark in common")
	}
	if len(slower) == 0 {
		fmt.Fprintf(output, "\nNone of %d benchmarks got slower beyond noise.\n", compared)
		return nil, nil
	}
	fmt.Fprintf(output, "\nSlower beyond noise, %d of %d benchmarks:\n%s\n", len(slower), compared, strings.Join(slower, "\n"))
	return slower, nil
}
