package testkit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/dispatch"
)

const (
	callLimit   = "POSENC_CALL_LIMIT" // variable of the environment
	callTooLong = "kernels: a call of too many elements"
)

// CallsAreBounded runs a test of the package under test, by its name, with kernels that
// panic when a call works on more than limit elements, which a garbage collection would
// wait for. It fails too where no call works on so many: the test is then too small.
// The build replaces the file that calls the assembly.
func CallsAreBounded(t *testing.T, test string, limit int) {
	t.Helper()
	if testing.Short() || runtime.GOOS != "linux" || len(dispatch.Supported()) < 2 {
		t.Skip("NOT TESTED: builds the package again, with kernels")
	}
	program := buildLimited(t)
	run := func(limit int) ([]byte, error) {
		command := exec.Command(program, "-test.run", "^"+test+"$")
		command.Env = append(os.Environ(), callLimit+"="+strconv.Itoa(limit))
		return command.CombinedOutput()
	}
	if out, err := run(limit); err != nil {
		t.Errorf("a call of more than %d elements: %v\n%s", limit, err, out)
	}
	if out, err := run(limit - 1); err == nil || !bytes.Contains(out, []byte(callTooLong)) {
		t.Errorf("the kernels do not panic on larger calls: %v\n%s", err, out)
	}
}

// buildLimited builds the tests of the package in this folder with kernels that panic
// on calls of too many elements.
func buildLimited(t *testing.T) (program string) {
	t.Helper()
	name := filepath.Join(moduleFolder(t), "kernels", "bind_"+runtime.GOARCH+".go")
	source, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	limited, err := limitCalls(source)
	if err != nil {
		t.Fatal(err)
	}
	return buildWith(t, map[string][]byte{name: limited})
}

// moduleFolder returns where the module is.
func moduleFolder(t *testing.T) string {
	t.Helper()
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(module))
}

// buildWith builds the tests of the package in this folder with other files in the place
// of some.
func buildWith(t *testing.T, files map[string][]byte) (program string) {
	t.Helper()
	folder := t.TempDir()
	replace := map[string]string{}
	for name, content := range files {
		replace[name] = filepath.Join(folder, fmt.Sprintf("%d.go", len(replace)))
		if err := os.WriteFile(replace[name], content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(overlay, list, 0o600); err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(folder, "program.test")
	if out, err := exec.Command("go", "test", "-c", "-overlay", overlay, "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

var instructionSet = regexp.MustCompile(`(AVX2|AVX512|NEON)$`)

// limitCalls returns a file of package kernels with a check in every call of package
// asm that works on elements.
func limitCalls(source []byte) ([]byte, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", source, 0)
	if err != nil {
		return nil, err
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
		if p, ok := callee.X.(*ast.Ident); !ok || p.Name != "asm" || len(call.Args) == 0 {
			return true
		}
		elements, ok := callElements[instructionSet.ReplaceAllString(callee.Sel.Name, "")]
		if !ok {
			err = fmt.Errorf("no one says what the elements of %s are", callee.Sel.Name)
			return false
		}
		check := &ast.CallExpr{Fun: ast.NewIdent("atMost")}
		for _, i := range elements.arguments {
			check.Args = append(check.Args, call.Args[i])
		}
		check.Args = append(check.Args, &ast.BasicLit{Kind: token.INT, Value: strconv.Itoa(elements.times)})
		call.Args[elements.arguments[0]] = check
		calls++
		return false
	})
	if err == nil && calls == 0 {
		err = fmt.Errorf("no call of package asm")
	}
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := format.Node(&b, set, file); err != nil {
		return nil, err
	}
	text := strings.Replace(b.String(), "\nimport (\n", "\nimport (\n\"os\"\n\"strconv\"\n", 1)
	return format.Source([]byte(text + fmt.Sprintf(`
var limit, _ = strconv.Atoi(os.Getenv(%q))

func atMost(first int, more ...int) int {
	elements := first
	for _, n := range more {
		elements *= n
	}
	if elements > limit {
		panic(%q)
	}
	return first
}
`, callLimit, callTooLong)))
}
