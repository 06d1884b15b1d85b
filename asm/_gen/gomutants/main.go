// Command gomutants changes operators and conditions of hand-written Go, one at a time, and
// says which changes no test notices.
//
//	go run -C asm/_gen ./gomutants [-share 1/N] [PACKAGE...]
//
// PACKAGE is a folder of the module, such as ./internal/view; without one, the packages are
// those of root, internal, modelconfig with its own internal, and multimodal. All changes of a
// package are compiled into one test program, and a variable of the environment chooses one: the
// tree stays as it is. Tests run with -short: those of the package, and for one below internal
// those of the package above, of what the first leave. A run that ends neither right nor wrong in
// ten times its time is noticed too.
//
// Every survivor is a line: its name and the change. equivalent.txt names the ones that change
// nothing, with the reason; the program fails for any other, and for a name of the file that is
// no change any more. -share tries each Nth change.
package main

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	variable = "POSENC_GOMUTANT" // the number of the change to make
	reached  = "POSENC_REACHED"  // a file for the numbers of those that a run reaches
)

//go:embed equivalent.txt
var equivalentText string

// equivalent has the reason of each change that changes nothing.
func equivalent() map[string]string {
	reasons := map[string]string{}
	for line := range strings.Lines(equivalentText) {
		if name, reason, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			reasons[name] = reason
		}
	}
	return reasons
}

func main() {
	log.SetFlags(0)
	share := flag.String("share", "1/1", "try this share of the changes")
	root := flag.String("root", "../..", "the module")
	flag.Parse()
	_, every, _ := strings.Cut(*share, "/")
	n, err := strconv.Atoi(every)
	if err != nil || n < 1 {
		log.Fatalf("-share %s: want 1/N", *share)
	}
	if err := run(*root, flag.Args(), n); err != nil {
		log.Fatal(err)
	}
}

// goPackage is what go list says of a package.
type goPackage struct {
	Dir, ImportPath           string
	GoFiles                   []string
	TestGoFiles, XTestGoFiles []string
}

func list(root string, patterns ...string) (packages []goPackage, err error) {
	command := exec.Command("go", append([]string{"list", "-json=Dir,ImportPath,GoFiles,TestGoFiles,XTestGoFiles"}, patterns...)...)
	command.Dir, command.Stderr = root, os.Stderr
	output, err := command.Output()
	if err != nil {
		return nil, err
	}
	for decoder := json.NewDecoder(strings.NewReader(string(output))); decoder.More(); {
		var p goPackage
		if err := decoder.Decode(&p); err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
	return packages, nil
}

func run(root string, patterns []string, every int) error {
	whole := len(patterns) == 0
	if whole {
		patterns = []string{".", "./internal/...", "./modelconfig/...", "./multimodal/..."}
	}
	packages, err := list(root, patterns...)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "gomutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	module, err := list(root, ".")
	if err != nil {
		return err
	}
	reasons, found := equivalent(), map[string]bool{}
	var failures []string
	for _, p := range packages {
		if strings.Contains(p.ImportPath, "/internal/test/kit") || strings.Contains(p.ImportPath, "/internal/test/exhaustive") || strings.Contains(p.ImportPath, "/internal/test/measure") || strings.Contains(p.ImportPath, "/internal/test/speed") {
			continue // tests themselves, and what an example measures
		}
		var tested []goPackage
		if len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 {
			tested = append(tested, p)
		}
		if above, _, below := strings.Cut(p.ImportPath, "/internal/"); below {
			users, err := list(root, above)
			if err != nil {
				return err
			}
			tested = append(tested, users...)
		}
		var laboratories []*laboratory
		var changes []change
		for i, by := range tested {
			l := &laboratory{module: module[0], folder: filepath.Join(folder, fmt.Sprint(strings.ReplaceAll(p.ImportPath, "/", "_"), i))}
			if changes, err = l.prepare(p, by); err != nil {
				return fmt.Errorf("%s: %w", p.ImportPath, err)
			}
			laboratories = append(laboratories, l)
		}
		counts, start := map[string]int{}, time.Now()
		for i, c := range changes {
			found[c.name] = true
			if i%every != 0 {
				continue
			}
			verdict := unreached
			for _, l := range laboratories {
				if v := l.try(c); v != unreached {
					verdict = v
				}
				if verdict == noticed {
					break
				}
			}
			if _, known := reasons[c.name]; known {
				if verdict == noticed {
					failures = append(failures, c.name+": is in equivalent.txt, and a test notices it")
				}
				verdict = "equivalent"
			}
			counts[verdict]++
			if verdict == survived || verdict == unreached {
				fmt.Printf("%s\t%s\t%s\n", verdict, c.name, c.what)
				failures = append(failures, c.name+": "+verdict)
			}
		}
		fmt.Printf("%s: %d changes: %v, %.0f s\n", p.ImportPath, len(changes), counts, time.Since(start).Seconds())
	}
	for name := range reasons {
		if whole && !found[name] {
			failures = append(failures, name+": is in equivalent.txt, and there is no such change")
		}
	}
	if len(failures) > 0 {
		slices.Sort(failures)
		return fmt.Errorf("%d changes are not noticed, or are listed wrongly", len(failures))
	}
	return nil
}

const (
	noticed   = "noticed"
	survived  = "SURVIVED"
	unreached = "NOT REACHED"
)

// laboratory is a test program with all changes of a package.
type laboratory struct {
	module               goPackage
	folder, program, dir string

	tests []test // the cheapest first
}

type test struct {
	name    string
	took    time.Duration
	reached map[int]bool
}

// prepare builds the tests of a package with every change of p, and runs them with none.
func (l *laboratory) prepare(p, tested goPackage) ([]change, error) {
	if err := os.MkdirAll(l.folder, 0o755); err != nil {
		return nil, err
	}
	chooser := path.Join(l.module.ImportPath, "internal", "gomutant")
	excluded := map[string]bool{}
	for {
		replace := map[string]string{}
		var changes []change
		for _, name := range p.GoFiles {
			file := filepath.Join(p.Dir, name)
			text, more, err := rewrite(file, path.Join(strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, l.module.ImportPath), "/"), name), len(changes), chooser, excluded)
			if err != nil {
				return nil, err
			}
			if len(more) == 0 {
				continue
			}
			changes = append(changes, more...)
			replace[file] = filepath.Join(l.folder, name)
			if err := os.WriteFile(replace[file], text, 0o600); err != nil {
				return nil, err
			}
		}
		if len(changes) == 0 {
			return nil, nil
		}
		replace[filepath.Join(l.module.Dir, "internal", "gomutant", "gomutant.go")] = filepath.Join(l.folder, "chooser.go.txt")
		if err := os.WriteFile(filepath.Join(l.folder, "chooser.go.txt"), fmt.Appendf(nil, chooserText, len(changes), variable, reached), 0o600); err != nil {
			return nil, err
		}
		overlay, err := json.Marshal(map[string]any{"Replace": replace})
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(l.folder, "overlay.json"), overlay, 0o600); err != nil {
			return nil, err
		}
		l.program, l.dir = filepath.Join(l.folder, "tests"), tested.Dir
		build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", filepath.Join(l.folder, "overlay.json"), "-o", l.program, ".")
		build.Dir = tested.Dir
		output, err := build.CombinedOutput()
		if err != nil {
			// Changes that do not compile are left out.
			before := len(excluded)
			if err := exclude(excluded, string(output), replace, changes); err != nil {
				return nil, err
			}
			if len(excluded) == before {
				return nil, fmt.Errorf("%w\n%s", err, output)
			}
			continue
		}
		return changes, l.unchanged()
	}
}

// unchanged runs each test without a change, for its time and what it reaches.
func (l *laboratory) unchanged() error {
	command := exec.Command(l.program, "-test.list", "^(Test|Fuzz|Example)")
	command.Dir = l.dir
	names, err := command.Output()
	if err != nil {
		return err
	}
	file := filepath.Join(l.folder, "reached")
	for name := range strings.FieldsSeq(string(names)) {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			return err
		}
		start := time.Now()
		if output, err := l.run(-1, []string{name}, 10*time.Minute, reached+"="+file); err != nil {
			return fmt.Errorf("without a change: %w\n%.2000s", err, output)
		}
		t := test{name: name, took: time.Since(start), reached: map[int]bool{}}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for field := range strings.FieldsSeq(string(text)) {
			n, err := strconv.Atoi(field)
			if err != nil {
				return err
			}
			t.reached[n] = true
		}
		l.tests = append(l.tests, t)
	}
	slices.SortFunc(l.tests, func(a, b test) int { return cmp.Compare(a.took, b.took) })
	return nil
}

func (l *laboratory) run(number int, names []string, limit time.Duration, more ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	command := exec.CommandContext(ctx, l.program, "-test.short", "-test.failfast", "-test.timeout", "10m", "-test.run", "^("+strings.Join(names, "|")+")$")
	command.Dir = l.dir
	command.Env = append(append(os.Environ(), variable+"="+strconv.Itoa(number)), more...)
	output, err := command.CombinedOutput()
	return string(output), err
}

// try runs the tests that reach a change, in programs of about a second.
func (l *laboratory) try(c change) string {
	verdict := unreached
	var names []string
	var took time.Duration
	for i, t := range l.tests {
		if t.reached[c.number] {
			names, took = append(names, t.name), took+t.took
		}
		if len(names) == 0 || took < time.Second && i < len(l.tests)-1 {
			continue
		}
		_, err := l.run(c.number, names, max(10*took, 5*time.Second))
		var exit *exec.ExitError
		switch {
		case errors.As(err, &exit), errors.Is(err, context.DeadlineExceeded):
			return noticed
		case err != nil:
			log.Print(err)
		}
		verdict, names, took = survived, nil, 0
	}
	return verdict
}
