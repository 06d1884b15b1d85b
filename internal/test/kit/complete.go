package kit

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// checkComplete compares the cases with the exported functions and methods of the
// package in this directory: each has one, with a digest unless it says that it has none.
func checkComplete(t *testing.T) {
	exported := ExportedFunctions(t, ".")
	var names []string
	for _, c := range sortedCases() {
		names = append(names, c.Function)
		if digests := c.digests(); (len(digests) == 0) != c.NoDigest {
			t.Errorf("%s has %d digests", c.Function, len(digests))
		}
	}
	for _, name := range exported {
		if !slices.Contains(names, name) {
			t.Errorf("%s has no case", name)
		}
	}
	for _, name := range names {
		if !slices.Contains(exported, name) {
			t.Errorf("there is a case of %s and no such function", name)
		}
	}
}

// ExportedFunctions returns the functions and the methods (Type.Method) that the
// package of a directory exports.
func ExportedFunctions(t *testing.T, directory string) (names []string) {
	t.Helper()
	for _, s := range ExportedSignatures(directory) {
		names = append(names, s.Name)
	}
	if len(names) == 0 {
		t.Skip("NOT TESTED: there is no source here, only the test binary")
	}
	return names
}

// Signature is a function or a method (Type.Method) and its parameters.
type Signature struct {
	Name string
	Type *ast.FuncType
}

// ExportedSignatures returns what the package of a directory exports: nothing where there
// is none, or a program.
func ExportedSignatures(directory string) (list []Signature) {
	paths := Must(filepath.Glob(filepath.Join(directory, "*.go")))
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file := Must(parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution))
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() || file.Name.Name == "main" {
				continue
			}
			name := receiverOf(f) + f.Name.Name
			known := func(s Signature) bool { return s.Name == name } // for another GOARCH
			if ast.IsExported(name) && !slices.ContainsFunc(list, known) {
				list = append(list, Signature{name, f.Type})
			}
		}
	}
	return list
}

// receiverOf returns the type of a method and a point, or nothing for a function.
func receiverOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	x := f.Recv.List[0].Type
	for {
		switch y := x.(type) {
		case *ast.StarExpr:
			x = y.X
		case *ast.IndexExpr:
			x = y.X
		case *ast.Ident:
			return y.Name + "."
		default:
			return "?."
		}
	}
}
