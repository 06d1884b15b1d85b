package posenc_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"
)

// Every package has an example of its own, which pkg.go.dev shows first. Every exported function
// and method has an example, or one of its package calls it. All examples are run.
func TestExamples(t *testing.T) {
	directories := publicPackages(t)
	s := sources{directories: directories, files: token.NewFileSet(), packages: map[string]*types.Package{}}
	for _, directory := range directories {
		names, called := s.examples(t, directory)
		if !slices.Contains(names, "") {
			t.Errorf("%s has no func Example", directory)
		}
		for _, name := range names {
			if i := strings.LastIndex(name, "_"); i >= 0 && !ast.IsExported(name[i+1:]) && !slices.Contains(names, name[:i]) {
				t.Errorf("%s: Example%s has no Example%s, which pkg.go.dev shows before it", directory, name, name[:i])
			}
		}
		for _, signature := range testkit.ExportedSignatures(directory) {
			if name := signature.Name; !calledByOthers(name) && !slices.Contains(called, name) {
				t.Errorf("%s: %s has no example, and no example calls it", directory, name)
			}
		}
	}
}

// sources type-checks packages from their source, in so far as examples need it: the
// declarations of the public packages, and nothing of others. It is an importer.
type sources struct {
	directories []string // of the public packages
	files       *token.FileSet
	packages    map[string]*types.Package
}

const modulePath = "github.com/go-posenc/posenc"

// Import returns a package, an empty one where it is not public.
func (s *sources) Import(importPath string) (*types.Package, error) {
	if s.packages[importPath] == nil {
		s.packages[importPath] = types.NewPackage(importPath, path.Base(importPath))
		s.packages[importPath].MarkComplete()
		inside, ok := strings.CutPrefix(importPath, modulePath)
		directory := filepath.Join(".", filepath.FromSlash(inside))
		if ok && slices.Contains(s.directories, directory) {
			s.packages[importPath] = s.check(importPath, s.parse(directory, false), &types.Info{}, true)
		}
	}
	return s.packages[importPath], nil
}

// parse returns the files of a directory, or its files of examples.
func (s *sources) parse(directory string, tests bool) (files []*ast.File) {
	for _, name := range testkit.Must(filepath.Glob(filepath.Join(directory, "*.go"))) {
		if strings.HasSuffix(name, "_test.go") == tests {
			file := testkit.Must(parser.ParseFile(s.files, name, nil, parser.ParseComments))
			if !tests || strings.HasSuffix(file.Name.Name, "_test") {
				files = append(files, file)
			}
		}
	}
	return files
}

// check type-checks a package. Errors are expected: files are of several GOARCH, and packages
// may be empty. What they are about matters to no example.
func (s *sources) check(importPath string, files []*ast.File, info *types.Info, onlyDeclarations bool) *types.Package {
	config := types.Config{Importer: s, IgnoreFuncBodies: onlyDeclarations, Error: func(error) {}}
	p, _ := config.Check(importPath, s.files, files, info)
	return p
}

// examples returns the names of the examples of a package, and the functions and methods of the
// package that they call. It reports those without output, which nothing runs.
func (s *sources) examples(t *testing.T, directory string) (names, called []string) {
	importPath := path.Join(modulePath, filepath.ToSlash(directory))
	files := s.parse(directory, true)
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	s.check(importPath+"_test", files, info, false)
	for _, example := range doc.Examples(files...) {
		names = append(names, example.Name)
		if example.Output == "" && !example.EmptyOutput {
			t.Errorf("%s: Example%s has no output: nothing runs it", directory, example.Name)
		}
		ast.Inspect(example.Code, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if f, ok := info.Uses[id].(*types.Func); ok && f.Pkg() != nil && f.Pkg().Path() == importPath {
					called = append(called, strings.NewReplacer(importPath+".", "", "(", "", "*", "", ")", "").Replace(f.FullName()))
				}
			}
			return true
		})
	}
	return names, called
}
