package main

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"testing"
)

func TestDeclarations(t *testing.T) {
	const source = `package p
import "strings"
type (
	S[T any] struct { B strings.Builder; a int; T T; embedded }
	embedded struct{}
	A = []string
	I interface{ M(x int) string }
	L uint8
	hidden int
)
const C L = 2
var V error
func F[T ~int](x, y T, rest ...string) (n int, err error) { return }
func (*S[T]) P(T) {}
func (S[T]) Q() hidden { return 0 }
func (embedded) Promoted() {}
func (hidden) M() {}
`
	set := token.NewFileSet()
	config := types.Config{Importer: importer.Default()}
	p, err := config.Check("p", set, []*ast.File{must(parser.ParseFile(set, "p.go", source, 0))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"type A = []string",
		"const C L = 2",
		"func F[T ~int](x T, y T, rest ...string) (n int, err error)",
		"type I interface{M(x int) string}",
		"type L uint8",
		"type S[T any] struct",
		"field S.B strings.Builder",
		"field S.T T",
		"method (*S) P(T)",
		"method (S) Promoted()",
		"method (S) Q() hidden",
		"var V error",
	}
	if got := declarations(p); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestUnnamed(t *testing.T) {
	old := []string{"const C = 1", "func F(x int)", "type S struct", "field S.A int", "method (*S) M()"}
	for _, tt := range []struct {
		new     []string
		changes string
		want    []string
	}{
		{old, "", nil},
		{old[1:], "", []string{"- const C = 1"}},
		{old[1:], "C is gone; `D` too", []string{"- const C = 1"}},
		{old[1:], "`C` is gone", nil},
		{[]string{old[0], "func F(x int64)", old[2], old[3], old[4]}, "`p.F(x)` takes int64", nil},
		{[]string{old[0], "func F(x int64)", old[2], old[3], old[4]}, "`FromBytes`", []string{"- func F(x int)", "+ func F(x int64)"}},
		{old[:4], "`S` has no M", []string{"- method (*S) M()"}},
		{old[:4], "`S.M` is gone", nil},
		{old[:2], "`S` is gone", nil},
		{append(old[:5:5], "type T[E any] struct", "field T.A E"), "- `F`\n- `T`: new", nil},
		{append(old[:5:5], "field S.B int"), "`S`", []string{"+ field S.B int"}},
	} {
		if got := unnamed(old, tt.new, tt.changes); !slices.Equal(got, tt.want) {
			t.Errorf("%q, %q: got %q, want %q", tt.new, tt.changes, got, tt.want)
		}
	}
}

func TestDocuments(t *testing.T) {
	if got := unreleased("# C\n\n## [Unreleased]\n\nnew\n\n## [0.1.0]\n\nold\n"); got != "\nnew\n" {
		t.Errorf("unreleased is %q", got)
	}
	got := promises("| package | promised |\n| `a` | yes | x |\n| `a/b` | no | |\n")
	if len(got) != 2 || !got["a"] || got["a/b"] {
		t.Errorf("promises are %v", got)
	}
}
