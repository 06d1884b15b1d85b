//go:build !purego

package kit

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/test/bound"
	"github.com/go-posenc/posenc/kernels"
	"golang.org/x/sys/cpu"
)

const inUsePanic = "math.FMA while upper halves of registers are in use: kernels.BeforeFMA has to come before it"

// WithUpperHalves runs f on a thread whose registers all have bits in their upper
// halves, as code may leave them that was not written for Go.
func WithUpperHalves(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	bound.UseUpperHalvesAVX2()
	f()
}

// checkUpperHalves makes right calls of every case while the upper halves of registers
// are in use, on every implementation. All of the module's own math.FMA has to find them
// clear: the instrumented program has in its place what looks.
func checkUpperHalves(t *testing.T, program instrumented) {
	if runsInstrumented() {
		callWithUpperHalves(t)
		return
	}
	if !cpu.X86.HasAVX {
		t.Skip("NOT TESTED: the CPU has no AVX")
	}
	program.run(t, t.Name())
	// What takes the CPU to have no AVX clears nothing.
	if out, err := program.try(t, t.Name(), "GODEBUG=cpu.avx=off"); err == nil || !bytes.Contains(out, []byte(inUsePanic)) {
		t.Errorf("no call finds upper halves in use, where nothing clears them: %v\n%s", err, out)
	}
}

func callWithUpperHalves(t *testing.T) {
	r := newCaseRunner(t)
	EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, c := range sortedCases() {
			if c.Call == nil {
				continue
			}
			random := c.rand(2)
			for range Rounds(10 * max(c.Times, 1)) {
				shape := make([]byte, 400)
				for i := range shape {
					shape[i] = byte(random.Uint32())
				}
				m := r.make(&c, inputs{shape: shape})
				var err error
				reason, functions := Fault(func() { WithUpperHalves(func() { err = m.Run() }) })
				if reason != nil {
					t.Fatalf("%s on %s: %v in %s", c.Function, impl, reason, functions)
				}
				if err != nil {
					t.Fatalf("%s on %s: %v", c.Function, impl, err)
				}
			}
		}
	})
}

// watchedFMA returns the files of the module that use math.FMA, with what panics where
// upper halves are in use in its place.
func watchedFMA(t *testing.T) map[string][]byte {
	t.Helper()
	module, files := moduleFolder(), map[string][]byte{}
	NoError(t, filepath.WalkDir(module, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() {
			_, err := os.Stat(filepath.Join(path, "go.mod"))
			if path != module && (err == nil || strings.ContainsAny(name[:1], "._") || name == "testdata") {
				return fs.SkipDir
			}
			return nil
		} else if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		watched, err := watch(path, len(files))
		if watched != nil {
			files[path] = watched
		}
		return err
	}))
	if len(files) == 0 {
		t.Fatal("no file uses math.FMA")
	}
	return files
}

// watch returns a file that calls a function of its own instead of math.FMA, or nil where
// it does not call that. The number is another for each file.
func watch(path string, number int) ([]byte, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	name, calls := fmt.Sprint("watchedFMA", number), 0
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if f, ok := call.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "FMA" {
			call.Fun = ast.NewIdent(name)
			calls++
		}
		return true
	})
	if calls == 0 {
		return nil, nil
	}
	var b bytes.Buffer
	if err := format.Node(&b, set, file); err != nil {
		return nil, err
	}
	text := strings.Replace(b.String(), "\nimport ", "\nimport \"github.com/go-posenc/posenc/internal/test/bound\"\nimport ", 1)
	return format.Source([]byte(text + fmt.Sprintf(`
func %s(x, y, z float64) float64 {
	if bound.UpperHalvesAVX2() > 0 {
		panic(%q)
	}
	return math.FMA(x, y, z)
}
`, name, inUsePanic)))
}
