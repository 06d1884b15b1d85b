package kit

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
	"sync"
	"testing"

	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/kernels"
)

// instrumented builds the tests of the package in this folder once more, when it is first
// asked, with files of the module that say what they do:
//
//   - math.FMA panics where upper halves of registers are in use;
//   - kernels log non-temporal stores and fences ([storeLog]), and have such stores from few
//     elements on: more than any scratch memory of rows;
//   - kernels panic on calls of too many elements ([callLimit]).
type instrumented func() (program string, err error)

const instrumentedVariable = "POSENC_INSTRUMENTED"

// runsInstrumented reports whether this is the instrumented program.
func runsInstrumented() bool { return os.Getenv(instrumentedVariable) != "" }

func newInstrumented(t *testing.T) instrumented {
	return sync.OnceValues(func() (string, error) {
		files, err := instrumentedFiles(t)
		if err != nil {
			return "", err
		}
		return buildWith(t.TempDir(), files)
	})
}

// run runs a test of the program, by its name. One that does not pass is an error.
func (p instrumented) run(t *testing.T, test string) {
	t.Helper()
	if out, err := p.try(t, test); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// try runs a test of the program with more variables of the environment.
func (p instrumented) try(t *testing.T, test string, variables ...string) (output []byte, err error) {
	t.Helper()
	if !AllRounds() || runtime.GOOS != "linux" || len(dispatch.Supported()) < 2 {
		t.Skip("NOT TESTED: builds the package again, with kernels, for POSENC_ROUNDS=all")
	}
	program, err := p()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(program, "-test.v", "-test.run", "^"+strings.ReplaceAll(test, "/", "$/^")+"$")
	command.Env = append(append(os.Environ(), instrumentedVariable+"=1"), variables...)
	output, err = command.CombinedOutput()
	if err == nil && !bytes.Contains(output, []byte("--- PASS: "+test+" ")) {
		err = fmt.Errorf("%s did not pass", test)
	}
	return output, err
}

// buildWith builds the tests of the package in this folder with other files in the place
// of some.
func buildWith(folder string, files map[string][]byte) (program string, err error) {
	replace := map[string]string{}
	for name, content := range files {
		replace[name] = filepath.Join(folder, fmt.Sprintf("%d.go", len(replace)))
		if err := os.WriteFile(replace[name], content, 0o600); err != nil {
			return "", err
		}
	}
	overlay := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(overlay, Must(json.Marshal(map[string]map[string]string{"Replace": replace})), 0o600); err != nil {
		return "", err
	}
	program = filepath.Join(folder, "program.test")
	if out, err := exec.Command("go", "test", "-c", "-overlay", overlay, "-o", program, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%v\n%s", err, out)
	}
	return program, nil
}

// moduleFolder returns where the module is.
func moduleFolder() string {
	return strings.TrimSpace(string(Must(exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output())))
}

var (
	threshold = regexp.MustCompile(`(?mi)^(\t|const )(\w*nontemporal\w*) += .*`)
	storing   = regexp.MustCompile(`(?m)^\t+.*\basm\.\w*NonTemporal\w*\(`)
	fencing   = regexp.MustCompile(`(?m)^\t+.*\basm\.FenceStores\w*\(`)
)

// instrumentedFiles returns the files of the module that are different in the instrumented
// program.
func instrumentedFiles(t *testing.T) (map[string][]byte, error) {
	folder := filepath.Join(moduleFolder(), "kernels")
	tuning, bindings := filepath.Join(folder, "tuning.go"), filepath.Join(folder, "bind_"+runtime.GOARCH+".go")
	files := watchedFMA(t)
	if files[tuning] != nil || files[bindings] != nil {
		return nil, fmt.Errorf("%s or %s uses math.FMA", tuning, bindings)
	}
	limited, err := limitCalls(Must(os.ReadFile(bindings)))
	if err != nil {
		return nil, err
	}
	thresholds := Must(os.ReadFile(tuning))
	if storing.Match(limited) {
		if !fencing.Match(limited) || !threshold.Match(thresholds) {
			return nil, fmt.Errorf("no fence, or no threshold of non-temporal stores")
		}
		limited = storing.ReplaceAll(limited, []byte("logStores(`S`)\n$0"))
		limited = fencing.ReplaceAll(limited, []byte("logStores(`F`)\n$0"))
		thresholds = threshold.ReplaceAll(thresholds, fmt.Append(nil, "$1$2 = ", 4*kernels.Width*kernels.SinusoidalRowsAtOnce))
		limited = fmt.Appendf(limited, `
func logStores(event string) {
	log := os.Getenv(%[1]q)
	if log != "" && (event == "F" || log[len(log)-1] != 'S') {
		os.Setenv(%[1]q, log+event)
	}
}
`, storeLog)
	}
	files[bindings], files[tuning] = limited, thresholds
	return files, nil
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
	limit, err := strconv.Atoi(os.Getenv(%q))
	elements := first
	for _, n := range more {
		elements *= n
	}
	if err == nil && elements > limit {
		panic(%q)
	}
	return first
}
`, callLimit, callTooLong)))
}
