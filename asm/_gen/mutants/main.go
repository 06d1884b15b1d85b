// Command mutants breaks the assembly on purpose, one place at a time, and says
// which test notices. No mutation tool for Go knows assembly, or what the compiler
// fuses.
//
//	go run -C asm/_gen ./mutants [NAME...]
//
// A mutant is a line of the lists in this folder. Each is made in a copy of the
// repository: one text is replaced, the generator runs, and so do the tests of
// what was broken. NAME is a mutant, or what its name starts with. The last line
// counts them; the program fails if a mutant survived that is not known to be
// harmless, or could not be made.
//
// It runs on linux/amd64 with AVX2. AVX-512 needs a CPU that has it, or what
// .ci/run-avx512 needs; NEON needs qemu-aarch64-static.
package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/klauspost/cpuid/v2"
)

// mutant is a fault to be made in a file.
type mutant struct {
	name string // <target>/<family>/<what>
	*group
	fault
}

// group is the faults to be made in one file, and the tests that are to notice.
type group struct {
	prefix string // <target>/<family>
	file   string // in the repository
	tests  tests
	faults []fault
}

// fault replaces old, which is in the file once, by new. Where old has "; " the file
// may have a new line.
type fault struct{ what, wrong, old, new string }

// harmless says of the mutants that no test can notice why.
var harmless = map[string]string{
	"avx2/convert/float16-current-rounding": "Go's threads round to nearest, and all other arithmetic relies on it",
	"avx2/convert/one-upper-lanes":          "the other lanes are not stored",
}

// tests names tests by the first part of their names and by their packages.
type tests struct {
	names      string // regular expression of whole names
	operations string // of those whose tests to run; empty for all
	packages   string // empty for those that test kernels
	module     string // folder of the module
}

const kernelPackages = "./kernels"

// target is how a mutant is run: the first part of its name.
type target struct {
	implementation string // the subtests to run; empty for all
	environment    []string
	arguments      []string // of go test
}

var targets = map[string]target{
	"avx2":   {implementation: "avx2"},
	"avx512": {implementation: "avx512", environment: []string{"CGO_ENABLED=0"}, arguments: emulated()},
	"neon": {implementation: "neon", environment: []string{"CGO_ENABLED=0", "GOARCH=arm64"},
		arguments: []string{"-short", "-exec", "qemu-aarch64-static"}},
	"generator": {},
	// Fences are looked for in builds that a sample of tests does without.
	"go": {environment: []string{"POSENC_ROUNDS=all"}},
	// The compiler fuses x*y+z, and on arm64 x*y-z as well.
	"go-v3": {environment: []string{"GOAMD64=v3"}},
	"go-arm64": {environment: []string{"CGO_ENABLED=0", "GOARCH=arm64"},
		arguments: []string{"-short", "-exec", "qemu-aarch64-static"}},
}

// emulated returns what go test needs to run AVX-512.
func emulated() []string {
	if cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512VL, cpuid.AVX512DQ, cpuid.AVX512BW) {
		return nil
	}
	return []string{"-short", "-exec", "{copy}/.ci/run-avx512"}
}

func main() {
	log.SetFlags(0)
	if err := run(os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(names []string) error {
	chosen, err := choose(names)
	if err != nil {
		return err
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	if err := printHead(root, names); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	l := &laboratory{folder: folder, sound: map[string]bool{}}
	if err := l.copyTree(root); err != nil {
		return err
	}
	if l.generated, err = l.readGenerated(); err != nil {
		return err
	}
	for _, m := range chosen {
		_, _, found := l.mutated(&m)
		err = errors.Join(err, found)
	}
	if err != nil {
		return err
	}
	counts := map[verdict]int{}
	for _, m := range chosen {
		v, detail, err := l.try(&m)
		if err != nil {
			v, detail = failed, err.Error()
		}
		if reason := harmless[m.name]; reason != "" {
			switch v {
			case survived:
				v, detail = excused, reason
			case killed:
				v, detail = failed, "is said to be harmless, but was killed by "+detail
			}
		}
		counts[v]++
		fmt.Printf("%-38s %-62s %s %s\n", m.name, m.wrong, v, detail)
	}
	fmt.Printf("\n%d mutants: %d killed, %d harmless, %d survived, %d not made\n",
		len(chosen), counts[killed], counts[excused], counts[survived], counts[failed])
	if counts[survived]+counts[failed] > 0 {
		return errors.New("the tests miss something")
	}
	return nil
}

type verdict string

const (
	killed   verdict = "killed by"
	excused  verdict = "harmless:"
	survived verdict = "SURVIVED"
	failed   verdict = "NOT MADE:"
)

// target is the first part of a name.
func (m *mutant) target() string {
	target, _, _ := strings.Cut(m.name, "/")
	return target
}

// choose returns the mutants whose names start with one of names, or all.
func choose(names []string) ([]mutant, error) {
	var all []mutant
	seen := map[string]bool{}
	for _, g := range slices.Concat(avx2Mutants, avx512Mutants, neonMutants, goMutants) {
		for _, f := range g.faults {
			m := mutant{g.prefix + "/" + f.what, &g, f}
			if _, ok := targets[m.target()]; !ok || seen[m.name] {
				return nil, fmt.Errorf("%s: a second mutant of the name, or of no target", m.name)
			}
			seen[m.name] = true
			all = append(all, m)
		}
	}
	for name := range harmless {
		if !seen[name] {
			return nil, fmt.Errorf("%s: is said to be harmless, but there is no such mutant", name)
		}
	}
	if len(names) == 0 {
		return all, nil
	}
	var chosen []mutant
	for _, m := range all {
		if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(m.name, name) }) {
			chosen = append(chosen, m)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no mutant is named %s", strings.Join(names, " or "))
	}
	return chosen, nil
}

// printHead says what the table is of.
func printHead(root string, names []string) error {
	git := func(arguments ...string) (string, error) {
		output, err := exec.Command("git", append([]string{"-C", root}, arguments...)...).Output()
		return strings.TrimSpace(string(output)), err
	}
	commit, err := git("rev-parse", "HEAD")
	if err != nil {
		return err
	}
	changed, err := git("status", "--porcelain")
	if err != nil {
		return err
	}
	if changed != "" {
		commit += ", changed"
	}
	fmt.Println(strings.TrimSpace("go run -C asm/_gen ./mutants " + strings.Join(names, " ")))
	fmt.Printf("commit %s, %s\n\n", commit, runtime.Version())
	return nil
}

// laboratory is a copy of the repository.
type laboratory struct {
	folder    string
	generated map[string][]byte // files that the generator writes
	sound     map[string]bool   // tests that pass without a mutant
}

func (l *laboratory) copyTree(root string) error {
	list := exec.Command("git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	output, err := list.Output()
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(output), "\x00"), "\x00") {
		from := filepath.Join(root, name)
		info, err := os.Stat(from)
		if errors.Is(err, fs.ErrNotExist) { // deleted, not yet committed
			continue
		} else if err != nil {
			return err
		}
		content, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		to := filepath.Join(l.folder, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, content, info.Mode().Perm()); err != nil {
			return err
		}
	}
	return nil
}

// readGenerated returns the files that the generator writes.
func (l *laboratory) readGenerated() (map[string][]byte, error) {
	files := map[string][]byte{}
	err := filepath.WalkDir(filepath.Join(l.folder, "asm"), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "_gen":
			return filepath.SkipDir
		case entry.IsDir():
			return nil
		}
		content, err := os.ReadFile(path)
		if bytes.HasPrefix(content, []byte("// Code generated by asm/_gen. DO NOT EDIT.")) {
			files[path] = content
		}
		return err
	})
	return files, err
}

// try makes a mutant and says what became of it.
func (l *laboratory) try(m *mutant) (v verdict, detail string, err error) {
	if err := l.checkSound(m); err != nil {
		return "", "", err
	}
	content, broken, err := l.mutated(m)
	if err != nil {
		return "", "", err
	}
	path := filepath.Join(l.folder, m.file)
	if err := os.WriteFile(path, broken, 0o644); err != nil {
		return "", "", err
	}
	defer func() { err = errors.Join(err, os.WriteFile(path, content, 0o644)) }()
	if strings.HasPrefix(m.file, "asm/_gen/") {
		defer func() { err = errors.Join(err, l.writeGenerated()) }()
		if err := l.generate(); err != nil {
			return "", "", err
		}
	}
	output, err := l.test(m)
	if err == nil {
		return survived, "", nil
	}
	if strings.Contains(output, "[build failed]") || strings.Contains(output, "[setup failed]") {
		return "", "", fmt.Errorf("does not compile: %s", firstError(output))
	}
	detail = killer(output)
	if detail == "" {
		return "", "", fmt.Errorf("go test: %v: %s", err, lastLine(output))
	}
	return killed, detail, nil
}

// mutated returns the file of a mutant without it and with it.
func (l *laboratory) mutated(m *mutant) (content, broken []byte, err error) {
	if content, err = os.ReadFile(filepath.Join(l.folder, m.file)); err != nil {
		return nil, nil, err
	}
	old := regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(m.old), "; ", `(?:; |\n\t*)`))
	found := old.FindAllIndex(content, -1)
	if len(found) != 1 {
		return nil, nil, fmt.Errorf("%s: %s has %d times\n%s", m.name, m.file, len(found), m.old)
	}
	return content, slices.Concat(content[:found[0][0]], []byte(m.new), content[found[0][1]:]), nil
}

// generate runs the generator, which has to write something else than before.
func (l *laboratory) generate() error {
	// Without optimization the compiler needs two thirds of the time.
	command := exec.Command("go", "run", "-gcflags=github.com/go-posenc/posenc/asm/_gen/...=-N -l", ".", "-dir", "..")
	command.Dir = filepath.Join(l.folder, "asm/_gen")
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("the generator: %v: %s", err, firstError(string(output)))
	}
	now, err := l.readGenerated()
	if err != nil {
		return err
	}
	for path, content := range now {
		if !bytes.Equal(content, l.generated[path]) {
			return nil
		}
	}
	return errors.New("the assembly is as before")
}

func (l *laboratory) writeGenerated() (err error) {
	for path, content := range l.generated {
		err = errors.Join(err, os.WriteFile(path, content, 0o644))
	}
	return err
}

// checkSound runs the tests of a mutant without it, once.
func (l *laboratory) checkSound(m *mutant) error {
	key := fmt.Sprint(m.target(), m.tests)
	if l.sound[key] {
		return nil
	}
	output, err := l.test(m)
	if err != nil {
		return fmt.Errorf("without it %s fails: %s", killer(output), lastLine(output))
	}
	// Only the implementation of the target must run.
	skipped := skipLine
	if targets[m.target()].implementation == "" {
		skipped = skipLineOfWhole
	}
	if skipped.MatchString(output) || !strings.Contains(output, "--- PASS") {
		return fmt.Errorf("without it a test of %s is skipped, or none runs", m.tests.names)
	}
	l.sound[key] = true
	return nil
}

// test runs the tests of a mutant.
func (l *laboratory) test(m *mutant) (output string, err error) {
	t := targets[m.target()]
	pattern := "^(" + m.tests.names + ")$"
	if operations := cmp.Or(m.tests.operations, ".*"); t.implementation != "" && m.tests.module == "" || m.tests.operations != "" {
		// Some tests go over implementations first, others make each call on all of them.
		pattern += "/^(impl=" + cmp.Or(t.implementation, ".*") + "|operation=(" + operations + "))$/^operation=(" + operations + ")$"
	}
	arguments := []string{"test", "-v", "-count=1", "-failfast", "-vet=off", "-ldflags=-s -w", "-timeout", "20m", "-run", pattern}
	for _, a := range t.arguments {
		arguments = append(arguments, strings.ReplaceAll(a, "{copy}", l.folder))
	}
	command := exec.Command("go", append(arguments, strings.Fields(cmp.Or(m.tests.packages, kernelPackages))...)...)
	command.Dir = filepath.Join(l.folder, m.tests.module)
	command.Env = append(os.Environ(), t.environment...)
	all, err := command.CombinedOutput()
	return string(all), err
}

var (
	failLine        = regexp.MustCompile(`(?m)^\s*--- FAIL: (\w+)`)
	runLine         = regexp.MustCompile(`(?m)^=== RUN\s+(\w+)`)
	skipLine        = regexp.MustCompile(`(?m)^\s*--- SKIP`)
	skipLineOfWhole = regexp.MustCompile(`(?m)^--- SKIP`)
	timeout         = regexp.MustCompile(`panic: test timed out after (\w+)`)
)

// killer returns the test that failed, or that ran when the program ended.
func killer(output string) string {
	if timeout.MatchString(output) {
		return lastTest(output) + ", which does not end"
	}
	if found := failLine.FindStringSubmatch(output); found != nil {
		return found[1]
	}
	if test := lastTest(output); test != "" && !strings.Contains(output, "run-avx512: ") {
		return test + ", which crashes"
	}
	return ""
}

func lastTest(output string) string {
	if all := runLine.FindAllStringSubmatch(output, -1); len(all) > 0 {
		return all[len(all)-1][1]
	}
	return ""
}

// firstError returns the first line of an output that is not a heading.
func firstError(output string) string {
	for line := range strings.Lines(output) {
		if !strings.HasPrefix(line, "#") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

func lastLine(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	return lines[len(lines)-1]
}
