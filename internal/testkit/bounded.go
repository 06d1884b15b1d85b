package testkit

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/kernels"
)

// RunLongCalls makes the long calls of all cases. It is what CheckCallsAreBounded runs
// as TestLongCalls.
func RunLongCalls(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT TESTED: long calls")
	}
	EachImplementation(t, func(t *testing.T, _ kernels.Implementation) {
		for _, c := range sortedCases() {
			if c.Long == nil {
				continue
			}
			if err := c.Long(); err != nil {
				t.Errorf("%s: %v", c.Function, err)
			}
		}
	})
}

// CheckCallsAreBounded shows that no call of a kernel works on more than
// kernels.MaxCallElements elements, since a garbage collection waits for it: it runs
// TestLongCalls with kernels that panic on larger calls. The build replaces the file
// that calls the assembly.
func CheckCallsAreBounded(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" || len(dispatch.Supported()) < 2 {
		t.Skip("NOT TESTED: builds the package again, with kernels")
	}
	program := buildLimited(t)
	run := func(limit int) ([]byte, error) {
		cmd := exec.Command(program, "-test.run", "^TestLongCalls$")
		cmd.Env = append(os.Environ(), "CALL_LIMIT="+strconv.Itoa(limit))
		return cmd.CombinedOutput()
	}
	if out, err := run(kernels.MaxCallElements); err != nil {
		t.Errorf("a call of more than %d elements: %v\n%s", kernels.MaxCallElements, err, out)
	}
	if out, err := run(kernels.MaxCallElements - 1); err == nil || !bytes.Contains(out, []byte("kernels: a call of too many elements")) {
		t.Errorf("the kernels do not panic on larger calls: %v\n%s", err, out)
	}
}

// moduleRoot returns the directory of go.mod.
func moduleRoot(t *testing.T) string {
	t.Helper()
	directory, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(directory, "go.mod")); err == nil {
			return directory
		}
		if directory == filepath.Dir(directory) {
			err = errors.New("no go.mod")
		}
		directory = filepath.Dir(directory)
	}
	t.Fatal(err)
	return ""
}

// buildLimited builds the tests of the package in this directory with kernels that panic on calls
// of more elements than CALL_LIMIT.
func buildLimited(t *testing.T) (program string) {
	t.Helper()
	name := filepath.Join(moduleRoot(t), "kernels", "bind_"+runtime.GOARCH+".go")
	dir := t.TempDir()
	limitedFile, overlay := filepath.Join(dir, "bind.go"), filepath.Join(dir, "overlay.json")
	list, err := json.Marshal(map[string]map[string]string{"Replace": {name: limitedFile}})
	if err != nil {
		t.Fatal(err)
	}
	for file, content := range map[string][]byte{limitedFile: limited(t, name), overlay: list} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program = filepath.Join(dir, "package.test")
	if out, err := exec.Command("go", "test", "-c", "-overlay", overlay, "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// limited returns a file of package kernels with a check in every call of package
// asm: the product of the parameters that count elements is at most CALL_LIMIT.
func limited(t *testing.T, name string) []byte {
	t.Helper()
	counts := countParameters(t)
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var source bytes.Buffer
	text := func(e ast.Expr) string {
		var b bytes.Buffer
		if err := format.Node(&b, set, e); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	calls := 0
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		callee, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if p, ok := callee.X.(*ast.Ident); !ok || p.Name != "asm" {
			return true
		}
		indexes := counts[callee.Sel.Name]
		if len(call.Args) == 0 {
			return true // FenceStores
		}
		if len(indexes) == 0 {
			t.Fatalf("%s counts no elements", callee.Sel.Name)
		}
		factors := make([]string, len(indexes))
		for i, index := range indexes {
			factors[i] = "(" + text(call.Args[index]) + ")"
		}
		if strings.HasPrefix(callee.Sel.Name, "Rotate") {
			factors = append(factors, "2") // of pairs
		}
		checked, err := parser.ParseExpr("atMost(" + strings.Join(factors, ", ") + ")")
		if err != nil {
			t.Fatal(err)
		}
		call.Args[indexes[0]] = checked
		calls++
		return false
	})
	if calls == 0 {
		t.Fatal("no call of package asm")
	}
	for _, path := range []string{`"os"`, `"strconv"`} {
		spec := &ast.ImportSpec{Path: &ast.BasicLit{Kind: token.STRING, Value: path}}
		file.Decls = slices.Insert(file.Decls, 0, ast.Decl(&ast.GenDecl{Tok: token.IMPORT, Specs: []ast.Spec{spec}}))
	}
	if err := format.Node(&source, set, file); err != nil {
		t.Fatal(err)
	}
	source.WriteString(`
var limit, _ = strconv.Atoi(os.Getenv("CALL_LIMIT"))

func atMost(first int, more ...int) int {
	elements := first
	for _, n := range more {
		elements *= n
	}
	if elements > limit {
		panic("kernels: a call of too many elements")
	}
	return first
}
`)
	return source.Bytes()
}

// countParameters returns which parameters of the functions of package asm count
// elements or, where there is no n of them, pairs.
func countParameters(t *testing.T) map[string][]int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(moduleRoot(t), "asm", "*_"+runtime.GOARCH+".go"))
	if err != nil || len(files) == 0 {
		t.Fatal("no stubs", err)
	}
	counts := map[string][]int{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			i, rows := 0, false
			for _, field := range f.Type.Params.List {
				for _, parameter := range field.Names {
					rows = rows || parameter.Name == "n"
					if slices.Contains([]string{"n", "tokens", "heads", "rows", "count"}, parameter.Name) || parameter.Name == "pairs" && !rows {
						counts[f.Name.Name] = append(counts[f.Name.Name], i)
					}
					i++
				}
			}
		}
	}
	return counts
}
