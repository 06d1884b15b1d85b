// Command bindings binds every case of every binding of package kernels to something
// else, one at a time, and says which tests of the package notice:
//
//	go run -C asm/_gen ./bindings
//
// A kernel is bound to each other kernel of its signature, which has other types or
// of other instruction sets, to plain Go, and to nothing; plain Go to a kernel, to other
// plain Go of its signature, and to nothing. Branches to non-temporal stores are left
// out, and always taken. All are in one test binary, which a variable of the environment
// chooses from. It fails if one survives. Names of bindings choose some:
//
//	go run -C asm/_gen ./bindings RotateHalfSplitF32 CosSinExactRow
//
//	go run -C asm/_gen ./bindings -goarch arm64 -exec qemu-aarch64-static
//
// does the same for another architecture.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// mutant is a change to one case.
type mutant struct {
	function, from, to string
	code               string // of the case
}

// variable of the environment that chooses a mutant, by its number from 1.
const variable = "POSENC_MUTANT"

func main() {
	log.SetFlags(0)
	emulator := flag.String("exec", "", "a program to run the tests with")
	goarch := flag.String("goarch", runtime.GOARCH, "the GOARCH")
	verbose := flag.Bool("v", false, "name every mutant")
	flag.Parse()
	root, folder := must(filepath.Abs("../..")), must(os.MkdirTemp("", "bindings"))
	defer os.RemoveAll(folder)

	l := &list{root: root, goarch: *goarch, set: token.NewFileSet()}
	l.readSignatures()
	replace := map[string]string{}
	for _, name := range []string{"bind_" + *goarch + ".go", "cossin.go"} {
		path := filepath.Join(root, "kernels", name)
		replace[path] = filepath.Join(folder, name)
		check(os.WriteFile(replace[path], l.mutate(path), 0o600))
	}
	choice := filepath.Join(root, "kernels", "mutant.go")
	replace[choice] = filepath.Join(folder, "mutant.go")
	check(os.WriteFile(replace[choice], fmt.Appendf(nil, "package kernels\n\nimport (\n\"os\"\n\"strconv\"\n)\n\nvar mutant, _ = strconv.Atoi(os.Getenv(%q))\n", variable), 0o600))
	overlay := must(json.Marshal(map[string]any{"Replace": replace}))
	check(os.WriteFile(filepath.Join(folder, "overlay.json"), overlay, 0o600))
	program := filepath.Join(folder, "kernels.test")
	build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", filepath.Join(folder, "overlay.json"), "-o", program, "./kernels")
	build.Dir, build.Env = root, append(os.Environ(), "GOOS=linux", "GOARCH="+*goarch)
	if output, err := build.CombinedOutput(); err != nil {
		log.Fatalf("%v\n%s", err, output)
	}

	t := &tests{root: root, program: program, emulator: *emulator}
	if killer := t.killer(0); killer != "" {
		log.Fatalf("without a mutant %s fails", killer)
	}
	// Nothing notices what this machine does not run.
	hits, _ := exec.Command(program, "-test.v", "-test.run", "^TestKernelsAreHit$").CombinedOutput()
	skipped := func(m *mutant) bool {
		impl, _, _ := strings.Cut(m.from, ":")
		return *emulator == "" && bytes.Contains(hits, []byte("--- SKIP: TestKernelsAreHit/impl="+strings.ToLower(impl)+" "))
	}
	killers := make([]string, len(l.mutants)+1)
	var wait sync.WaitGroup
	var last atomic.Int64
	for range 2 {
		wait.Go(func() {
			for number := last.Add(1); number < int64(len(killers)); number = last.Add(1) {
				if killers[number] = "not run here"; !skipped(&l.mutants[number-1]) {
					killers[number] = t.killer(int(number))
				}
			}
		})
	}
	wait.Wait()
	survivors, by := 0, map[string]int{}
	for i, m := range l.mutants {
		killer := killers[i+1]
		if killer == "" {
			survivors++
			killer = "SURVIVES"
		}
		by[killer]++
		if *verbose || killer == "SURVIVES" {
			fmt.Printf("%-30s %-45s -> %-45s %s\n", m.function, m.from, m.to, killer)
		}
	}
	for _, killer := range slices.Sorted(maps.Keys(by)) {
		fmt.Printf("%4d %s\n", by[killer], killer)
	}
	fmt.Printf("%s: %d of %d mutants of bindings caught\n", *goarch, len(l.mutants)-survivors, len(l.mutants))
	if survivors > 0 {
		os.RemoveAll(folder)
		os.Exit(1)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

// list is the mutants of the bindings.
type list struct {
	root, goarch string
	set          *token.FileSet
	signatures   map[string]string // of functions of asm, of generic and of the loops over rows
	mutants      []mutant
}

// readSignatures reads what bindings may call.
func (l *list) readSignatures() {
	l.signatures = map[string]string{}
	stubs := must(filepath.Glob(filepath.Join(l.root, "asm", "*_"+l.goarch+".go")))
	definitions := must(filepath.Glob(filepath.Join(l.root, "generic", "*.go")))
	for prefix, files := range map[string][]string{"asm.": stubs, "generic.": definitions, "": {filepath.Join(l.root, "kernels", "loops.go")}} {
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			for _, d := range must(parser.ParseFile(l.set, name, nil, 0)).Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok || f.Recv != nil || prefix == "generic." && (!f.Name.IsExported() || f.Type.TypeParams != nil) {
					continue
				}
				l.signatures[prefix+f.Name.Name] = prefix + text(l.set, unnamed(f.Type))
			}
		}
	}
}

// unnamed is a signature with the same name for all parameters and results.
func unnamed(f *ast.FuncType) *ast.FuncType {
	ast.Inspect(f, func(n ast.Node) bool {
		if field, ok := n.(*ast.Field); ok {
			for _, name := range field.Names {
				name.Name = "_"
			}
		}
		return true
	})
	return f
}

func text(set *token.FileSet, node any) string {
	var b bytes.Buffer
	check(format.Node(&b, set, node))
	return b.String()
}

// mutate returns a file of package kernels in which every mutant can be chosen.
func (l *list) mutate(path string) []byte {
	source := must(os.ReadFile(path))
	file := must(parser.ParseFile(l.set, path, source, 0))
	type change struct {
		first, end int
		code       string
	}
	var changes []change
	at := func(p token.Pos) int { return l.set.Position(p).Offset }
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || flag.NArg() > 0 && !slices.Contains(flag.Args(), f.Name.Name) {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SwitchStmt:
				if tag, ok := n.Tag.(*ast.Ident); !ok || tag.Name != "impl" {
					return true
				}
				for _, s := range n.Body.List {
					clause := s.(*ast.CaseClause)
					if clause.List == nil {
						continue
					}
					body := strings.TrimSpace(string(source[at(clause.Colon)+1 : at(clause.End())]))
					code := "\nswitch mutant {\n"
					for _, m := range l.others(f.Name.Name, clause, n.Body.List, source) {
						l.mutants = append(l.mutants, m)
						code += fmt.Sprintf("case %d:\n%s\n", len(l.mutants), m.code)
					}
					changes = append(changes, change{at(clause.Colon) + 1, at(clause.End()), code + "default:\n" + body + "\n}\n"})
				}
			case *ast.IfStmt:
				condition, ok := n.Cond.(*ast.Ident)
				if !ok || condition.Name != "nonTemporal" || l.signatures["asm.CosSinShiftNonTemporalF32AVX512"] == "" {
					return true // both branches are the same elsewhere
				}
				off := len(l.mutants) + 1
				l.mutants = append(l.mutants, mutant{f.Name.Name, "if nonTemporal", "if false", ""}, mutant{f.Name.Name, "if nonTemporal", "if true", ""})
				changes = append(changes, change{at(condition.Pos()), at(condition.End()), fmt.Sprintf("nonTemporal && mutant != %d || mutant == %d", off, off+1)})
			}
			return true
		})
	}
	slices.SortFunc(changes, func(a, b change) int { return b.first - a.first })
	for _, c := range changes {
		source = slices.Concat(source[:c.first], []byte(c.code), source[c.end:])
	}
	return source
}

// callee finds what a case calls.
var callee = regexp.MustCompile(`(asm\.|generic\.|\b)(\w+)\(`)

// beforeFMA is what comes before plain Go, and decides no result.
const beforeFMA = "BeforeFMA()"

// others returns what a case may do instead.
func (l *list) others(function string, clause *ast.CaseClause, clauses []ast.Stmt, source []byte) (all []mutant) {
	bodyOf := func(c *ast.CaseClause) string {
		code := string(source[l.set.Position(c.Colon).Offset+1 : l.set.Position(c.End()).Offset])
		return strings.TrimSpace(regexp.MustCompile(`//.*`).ReplaceAllString(code, ""))
	}
	nameOf := func(body string) string {
		body = strings.Replace(body, beforeFMA, "", 1)
		if m := callee.FindStringSubmatch(body); m != nil {
			return m[1] + m[2]
		}
		return "nothing"
	}
	var labels []string
	for _, e := range clause.List {
		labels = append(labels, text(l.set, e))
	}
	body := bodyOf(clause)
	from := nameOf(body)
	add := func(to, code string) {
		if code != body && !slices.ContainsFunc(all, func(m mutant) bool { return m.code == code }) {
			all = append(all, mutant{function, strings.Join(labels, ", ") + ": " + from, to, code})
		}
	}
	for _, s := range clauses { // plain Go for a kernel, and the other way round
		if c := s.(*ast.CaseClause); c.List != nil {
			add(nameOf(bodyOf(c)), bodyOf(c))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.signatures)) { // neighbours
		if l.signatures[name] == l.signatures[from] && name != from {
			add(name, strings.Replace(body, from+"(", name+"(", 1))
		}
	}
	if strings.Contains(body, beforeFMA) && l.goarch == "amd64" { // elsewhere it does nothing
		add("without "+beforeFMA, strings.Replace(body, beforeFMA, "", 1))
	}
	add("nothing", "")
	return all
}

// tests runs the test binary.
type tests struct{ root, program, emulator string }

var failed = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)

// killer returns the test that notices a mutant: first of those that look for it, then
// of all.
func (t *tests) killer(number int) string {
	for _, pattern := range []string{"^TestKernelsAreHit$", "."} {
		arguments := append(strings.Fields(t.emulator), t.program, "-test.short", "-test.failfast", "-test.timeout", "20m", "-test.run", pattern)
		command := exec.Command(arguments[0], arguments[1:]...)
		command.Dir = filepath.Join(t.root, "kernels")
		command.Env = append(os.Environ(), variable+"="+strconv.Itoa(number))
		output, err := command.CombinedOutput()
		if err == nil {
			continue
		}
		if m := failed.FindSubmatch(output); m != nil {
			return string(m[1])
		}
		return "a crash"
	}
	return ""
}
