package posenc_test

import (
	"go/ast"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"
)

// A call of a public function says what its numbers are: of more than two, and of any bool,
// a struct has the names. (A slice, or a type with constants of its own, is no number.)
func TestParameters(t *testing.T) {
	for _, path := range publicPackages(t) {
		for _, s := range testkit.ExportedSignatures(path) {
			if numbers, bools := numbersAndBools(s.Type); numbers > 2 || bools > 0 {
				t.Errorf("%s: %s takes %d numbers and %d bools, want a struct", path, s.Name, numbers, bools)
			}
		}
	}
}

// publicPackages returns the directories of the packages that people import. It skips a test
// that runs without the source.
func publicPackages(t *testing.T) (directories []string) {
	t.Helper()
	if _, err := os.Stat("go.mod"); err != nil {
		t.Skip("NOT TESTED: there is no source here, only the test binary")
	}
	skipped := []string{"internal", "testdata", "examples", "kernels", "asm", "generic"} // the last three are for maintainers
	testkit.NoError(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		_, missing := os.Stat(filepath.Join(path, "go.mod"))
		if path != "." && (missing == nil || strings.ContainsAny(entry.Name()[:1], "._") || slices.Contains(skipped, entry.Name())) {
			return fs.SkipDir
		}
		if len(testkit.ExportedSignatures(path)) > 0 {
			directories = append(directories, path)
		}
		return nil
	}))
	for _, known := range []string{".", "absolute", "frequency", "modelconfig", "multimodal", "relative"} {
		if !slices.Contains(directories, known) {
			t.Errorf("%s is not among the packages", known)
		}
	}
	return directories
}

// calledByOthers tells whether a method is one that packages fmt and encoding look for: users
// need no example of it.
func calledByOthers(name string) bool {
	return slices.Contains([]string{"String", "MarshalText", "UnmarshalText", "MarshalJSON"}, name[strings.LastIndex(name, ".")+1:])
}

// numbersAndBools counts parameters. One whose type is a type parameter is a number.
func numbersAndBools(f *ast.FuncType) (numbers, bools int) {
	for _, field := range f.Params.List {
		name, ok := field.Type.(*ast.Ident)
		if !ok {
			continue
		}
		n := max(1, len(field.Names))
		if f.TypeParams != nil && slices.ContainsFunc(f.TypeParams.List, func(p *ast.Field) bool {
			return slices.ContainsFunc(p.Names, func(id *ast.Ident) bool { return id.Name == name.Name })
		}) {
			numbers += n
			continue
		}
		known := types.Universe.Lookup(name.Name)
		if known == nil {
			continue
		}
		if basic, ok := known.Type().Underlying().(*types.Basic); ok {
			switch {
			case basic.Info()&types.IsNumeric != 0:
				numbers += n
			case basic.Info()&types.IsBoolean != 0:
				bools += n
			}
		}
	}
	return numbers, bools
}
