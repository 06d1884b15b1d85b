package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// change is one of a package.
type change struct {
	number int
	name   string // file, function and ordinal in it, and what is put in the place of what
	what   string // the condition
}

// swapped are the operators that a change puts in the place of others.
var swapped = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
}

// chooserText is the package that chooses the change, with the number of changes and the names
// of the two variables.
const chooserText = `// Package gomutant chooses a change.
package gomutant

import (
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
)

var chosen, _ = strconv.Atoi(os.Getenv(%[2]q))

var (
	seen [%[1]d]atomic.Bool
	file = os.Getenv(%[3]q)
)

// Is reports whether a change is chosen.
func Is(n int) bool {
	if file != "" && !seen[n].Load() {
		seen[n].Store(true)
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			panic(err)
		}
		fmt.Fprintln(f, n)
		f.Close()
	}
	return n == chosen
}
`

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// rewrite returns a file in which every condition asks whether its change is chosen. Names begin
// with name, numbers with first. Changes that excluded has are left out.
func rewrite(file, name string, first int, chooser string, excluded map[string]bool) ([]byte, []change, error) {
	source, err := os.ReadFile(file)
	if err != nil || generated.Match(source) {
		return nil, nil, err
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	var changes []change
	for _, declaration := range tree.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok || function.Body == nil || function.Name.Name == "init" {
			continue
		}
		ordinal := 0
		texts := map[ast.Node]string{} // of conditions, before some are replaced
		ast.Inspect(function.Body, func(n ast.Node) bool {
			end := token.NoPos
			switch n := n.(type) {
			case *ast.BinaryExpr:
				end = n.End()
			case *ast.IfStmt:
				end = n.Body.Pos()
			}
			if end.IsValid() {
				texts[n] = strings.Join(strings.Fields(string(source[set.Position(n.Pos()).Offset:set.Position(end).Offset])), " ")
			}
			return true
		})
		add := func(n ast.Node, by string) (*ast.CallExpr, bool) {
			ordinal++
			c := change{number: first + len(changes), name: fmt.Sprintf("%s %s %d %s", name, receiver(function)+function.Name.Name, ordinal, by), what: texts[n]}
			if excluded[c.name] {
				return nil, false
			}
			changes = append(changes, c)
			return &ast.CallExpr{Fun: &ast.SelectorExpr{X: ast.NewIdent("gomutant"), Sel: ast.NewIdent("Is")}, Args: []ast.Expr{&ast.BasicLit{Kind: token.INT, Value: strconv.Itoa(c.number)}}}, true
		}
		astutil.Apply(function.Body, func(c *astutil.Cursor) bool {
			n, ok := c.Node().(*ast.GenDecl)
			return !ok || n.Tok != token.CONST
		}, func(c *astutil.Cursor) bool {
			switch n := c.Node().(type) {
			case *ast.BinaryExpr:
				to, known := swapped[n.Op]
				if !known {
					break
				}
				is, ok := add(n, n.Op.String()+" as "+to.String())
				if !ok {
					break
				}
				c.Replace(choice(is, &ast.BinaryExpr{X: n.X, Op: to, Y: n.Y}, &ast.BinaryExpr{X: n.X, Op: n.Op, Y: n.Y}))
			case *ast.IfStmt:
				for _, value := range []string{"false", "true"} {
					if is, ok := add(n, "if "+value); ok {
						n.Cond = choice(is, ast.NewIdent(value), n.Cond)
					}
				}
			}
			return true
		})
	}
	if len(changes) == 0 {
		return nil, nil, nil
	}
	astutil.AddImport(set, tree, chooser)
	tree.Comments = directives(tree.Comments)
	var b bytes.Buffer
	if err := format.Node(&b, set, tree); err != nil {
		return nil, nil, err
	}
	return b.Bytes(), changes, nil
}

// choice is a call that returns changed where a change is chosen, else unchanged. Each is
// evaluated where it is returned.
func choice(is *ast.CallExpr, changed, unchanged ast.Expr) ast.Expr {
	return &ast.CallExpr{Fun: &ast.FuncLit{
		Type: &ast.FuncType{Params: &ast.FieldList{}, Results: &ast.FieldList{List: []*ast.Field{{Type: ast.NewIdent("bool")}}}},
		Body: &ast.BlockStmt{List: []ast.Stmt{
			&ast.IfStmt{Cond: is, Body: &ast.BlockStmt{List: []ast.Stmt{&ast.ReturnStmt{Results: []ast.Expr{changed}}}}},
			&ast.ReturnStmt{Results: []ast.Expr{unchanged}},
		}},
	}}
}

// directives leaves those comments that the compiler reads; the others would go astray.
func directives(groups []*ast.CommentGroup) []*ast.CommentGroup {
	kept := []*ast.CommentGroup{} // with nil, format would take the comments of the nodes
	for _, group := range groups {
		if group.List = slices.DeleteFunc(group.List, func(c *ast.Comment) bool { return !strings.HasPrefix(c.Text, "//go:") }); len(group.List) > 0 {
			kept = append(kept, group)
		}
	}
	return kept
}

func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	name := ""
	ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name + "."
		}
		return true
	})
	return name
}

var (
	complaint = regexp.MustCompile(`(?m)^\S*?([^/\s]+\.go):(\d+):`)
	choosing  = regexp.MustCompile(`gomutant\.Is\((\d+)\)`)
)

// exclude adds the changes of which the compiler complains: those that are chosen last before
// the lines that it names.
func exclude(excluded map[string]bool, output string, replace map[string]string, changes []change) error {
	for _, m := range complaint.FindAllStringSubmatch(output, -1) {
		for file, by := range replace {
			if filepath.Base(file) != m[1] {
				continue
			}
			text, err := os.ReadFile(by)
			if err != nil {
				return err
			}
			lines, err := strconv.Atoi(m[2])
			if err != nil {
				return err
			}
			before := bytes.Join(bytes.SplitAfterN(text, []byte("\n"), lines+1)[:lines], nil)
			if all := choosing.FindAllSubmatch(before, -1); len(all) > 0 {
				n, err := strconv.Atoi(string(all[len(all)-1][1]))
				if err != nil {
					return err
				}
				excluded[changes[n].name] = true
			}
		}
	}
	return nil
}
