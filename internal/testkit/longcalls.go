package testkit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/kernels"
)

// callLimit is a variable of the environment that kernels of buildLimited read in every
// call: they panic with callTooLong where it works on more elements.
const (
	callLimit   = "POSENC_CALL_LIMIT"
	callTooLong = "kernels: a call of too many elements"
)

// exceeds makes a call, and reports whether a kernel of buildLimited works on more than
// limit elements in it.
func exceeds(t *testing.T, limit int, call func() error) bool {
	t.Helper()
	t.Setenv(callLimit, strconv.Itoa(limit))
	var err error
	reason, functions := Fault(func() { err = call() })
	if err != nil || reason != nil && reason != callTooLong {
		t.Errorf("%v, %v in %s", err, reason, functions)
	}
	return reason != nil
}

// longCalls makes the long calls of all cases. Where bounded runs it, no call of a kernel
// works on more elements than the case says, since a garbage collection waits for it, and
// of each such limit one does on as many: the calls are long enough.
func longCalls(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT TESTED: long calls")
	}
	limited, reached := runsLimited(), map[int]bool{}
	EachImplementation(t, func(t *testing.T, _ kernels.Implementation) {
		for _, c := range sortedCases() {
			if c.Long == nil {
				continue
			}
			limit := cmp.Or(c.CallElements, kernels.MaxCallElements)
			if exceeds(t, limit, c.Long) {
				t.Errorf("%s: a call of a kernel works on more than %d elements", c.Function, limit)
			}
			if limited {
				reached[limit] = exceeds(t, limit-1, c.Long) || reached[limit]
			}
		}
	})
	for limit, whole := range reached {
		if !whole {
			t.Errorf("no call of a kernel works on %d elements", limit)
		}
	}
}

// runsLimited reports whether the program is one of buildLimited.
func runsLimited() bool { return os.Getenv(callLimit) != "" }

// bounded runs a test of the package under test, by its name, in a program of
// buildLimited.
func bounded(t *testing.T, test string) {
	t.Helper()
	if testing.Short() || runtime.GOOS != "linux" || len(dispatch.Supported()) < 2 {
		t.Skip("NOT TESTED: builds the package again, with kernels")
	}
	if out, err := runTest(buildLimited(t), test, callLimit+"="+strconv.Itoa(math.MaxInt)); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// runTest runs a test of a program of buildWith, by its name, with more variables of the
// environment. A test that does not pass is an error.
func runTest(program, test string, variables ...string) (output []byte, err error) {
	command := exec.Command(program, "-test.v", "-test.run", "^"+strings.ReplaceAll(test, "/", "$/^")+"$")
	command.Env = append(os.Environ(), variables...)
	output, err = command.CombinedOutput()
	if err == nil && !bytes.Contains(output, []byte("--- PASS: "+test+" ")) {
		err = fmt.Errorf("%s did not pass", test)
	}
	return output, err
}

// buildLimited builds the tests of the package in this folder with kernels that panic
// on calls of too many elements: it replaces the file that calls the assembly.
func buildLimited(t *testing.T) (program string) {
	t.Helper()
	name := filepath.Join(moduleFolder(), "kernels", "bind_"+runtime.GOARCH+".go")
	return buildWith(t, map[string][]byte{name: Must(limitCalls(Must(os.ReadFile(name))))})
}

// moduleFolder returns where the module is.
func moduleFolder() string {
	return strings.TrimSpace(string(Must(exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output())))
}

// buildWith builds the tests of the package in this folder with other files in the place
// of some.
func buildWith(t *testing.T, files map[string][]byte) (program string) {
	t.Helper()
	folder := t.TempDir()
	replace := map[string]string{}
	for name, content := range files {
		replace[name] = filepath.Join(folder, fmt.Sprintf("%d.go", len(replace)))
		NoError(t, os.WriteFile(replace[name], content, 0o600))
	}
	overlay := filepath.Join(folder, "overlay.json")
	NoError(t, os.WriteFile(overlay, Must(json.Marshal(map[string]map[string]string{"Replace": replace})), 0o600))
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
func atMost(first int, more ...int) int {
	limit, _ := strconv.Atoi(os.Getenv(%q))
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
