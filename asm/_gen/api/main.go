// Command api compares what the packages export that docs/compatibility.md promises with the
// files of api:
//
//	go run -C asm/_gen ./api
//
// It fails where CHANGELOG.md does not name a difference under Unreleased. With -update it
// writes differences that are named there.
package main

import (
	"errors"
	"flag"
	"fmt"
	"go/types"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

const module = "github.com/go-posenc/posenc"

func main() {
	log.SetFlags(0)
	update := flag.Bool("update", false, "write the files")
	flag.Parse()
	root := must(filepath.Abs("../.."))
	table := promises(string(must(os.ReadFile(filepath.Join(root, "docs", "compatibility.md")))))
	changes := unreleased(string(must(os.ReadFile(filepath.Join(root, "CHANGELOG.md")))))
	failed := false
	fail := func(format string, arguments ...any) {
		log.Printf(format, arguments...)
		failed = true
	}
	for _, p := range load(root) {
		name := strings.TrimPrefix(strings.TrimPrefix(p.Path(), module), "/")
		if name == "" {
			name = "posenc"
		}
		lines := declarations(p)
		promised, known := table[name]
		delete(table, name)
		if !known && len(lines) > 0 {
			fail("docs/compatibility.md does not say whether package %s is promised", name)
		}
		if !promised {
			continue
		}
		file := "testdata/api/" + name + ".txt"
		text, err := os.ReadFile(filepath.Join(root, file))
		differences := unnamed(strings.Split(string(text), "\n"), lines, changes)
		if errors.Is(err, fs.ErrNotExist) {
			differences = nil // a new package
		} else {
			check(err)
		}
		want := strings.Join(lines, "\n") + "\n"
		switch {
		case len(differences) > 0:
			fail("%s: CHANGELOG.md does not name, under Unreleased and in a code span such as `View.Heads`:\n\t%s", file, strings.Join(differences, "\n\t"))
		case *update:
			check(os.WriteFile(filepath.Join(root, file), []byte(want), 0o666))
		case string(text) != want:
			fail("%s is of an earlier API: go run -C asm/_gen ./api -update", file)
		}
	}
	for name, promised := range table {
		if promised {
			fail("docs/compatibility.md promises %s, which is no package", name)
		}
	}
	if failed {
		os.Exit(1)
	}
}

var row = regexp.MustCompile("(?m)^\\| `([a-z/]+)` \\| (yes|no) \\|")

// promises says of packages whether they are promised.
func promises(document string) map[string]bool {
	table := map[string]bool{}
	for _, m := range row.FindAllStringSubmatch(document, -1) {
		table[m[1]] = m[2] == "yes"
	}
	return table
}

// unreleased returns the section of CHANGELOG.md.
func unreleased(changelog string) string {
	_, text, found := strings.Cut(changelog, "\n## [Unreleased]\n")
	if !found {
		return ""
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// load returns the packages of the root module that others can import.
func load(root string) (list []*types.Package) {
	loaded := must(packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedDeps,
		Dir:  root,
		Env:  append(os.Environ(), "GOWORK=off"),
	}, module+"/..."))
	if packages.PrintErrors(loaded) > 0 {
		os.Exit(1)
	}
	for _, p := range loaded {
		if p.Name != "main" && !strings.Contains(p.PkgPath, "/internal/") && !strings.HasPrefix(p.PkgPath, module+"/examples/") {
			list = append(list, p.Types)
		}
	}
	return list
}

// declarations lists what a package exports, a line for each identifier that a program can use.
func declarations(p *types.Package) (lines []string) {
	short := func(other *types.Package) string {
		if other == p {
			return ""
		}
		return other.Name()
	}
	for _, name := range p.Scope().Names() {
		object := p.Scope().Lookup(name)
		if !object.Exported() {
			continue
		}
		line := types.ObjectString(object, short)
		if c, ok := object.(*types.Const); ok {
			line += " = " + c.Val().ExactString()
		}
		declared, ok := object.(*types.TypeName)
		if !ok || declared.IsAlias() {
			lines = append(lines, line)
			continue
		}
		structure, isStruct := declared.Type().Underlying().(*types.Struct)
		if isStruct {
			line, _, _ = strings.Cut(line, "struct{")
			line += "struct"
		}
		lines = append(lines, line)
		if isStruct {
			for field := range structure.Fields() {
				if field.Exported() {
					lines = append(lines, fmt.Sprintf("field %s.%s %s", name, field.Name(), types.TypeString(field.Type(), short)))
				}
			}
		}
		if types.IsInterface(declared.Type()) {
			continue // the line has its methods
		}
		methods := types.NewMethodSet(types.NewPointer(declared.Type()))
		for selection := range methods.Methods() {
			if f := selection.Obj().(*types.Func); f.Exported() {
				receiver := name
				if _, pointer := types.Unalias(f.Signature().Recv().Type()).(*types.Pointer); pointer {
					receiver = "*" + name
				}
				signature := strings.TrimPrefix(types.TypeString(f.Signature(), short), "func")
				lines = append(lines, fmt.Sprintf("method (%s) %s%s", receiver, f.Name(), signature))
			}
		}
	}
	return lines
}

var (
	member     = regexp.MustCompile(`^(?:field (\w+)\.(\w+)|method \(\*?(\w+)\) (\w+))`)
	identifier = regexp.MustCompile(`^\w+ (\w+)`)
)

// identify returns the type and the name that a line declares, the type "" outside of types.
func identify(line string) (of, name string) {
	if m := member.FindStringSubmatch(line); m != nil {
		return m[1] + m[3], m[2] + m[4]
	}
	return "", identifier.FindStringSubmatch(line)[1]
}

// unnamed returns what differs between the lines of two APIs and changes does not name: an
// identifier by its name, a field or method by Type.Name, or by the type where that is new or gone.
func unnamed(old, new []string, changes string) (lines []string) {
	named := func(name string) bool {
		return regexp.MustCompile("`[^`\n]*\\b" + regexp.QuoteMeta(name) + "\\b[^`\n]*`").MatchString(changes)
	}
	declares := func(list []string, typ string) bool {
		return slices.ContainsFunc(list, func(line string) bool {
			return strings.HasPrefix(line, "type "+typ+" ") || strings.HasPrefix(line, "type "+typ+"[")
		})
	}
	differ := func(sign string, list, other []string) {
		for _, line := range list {
			if line == "" || slices.Contains(other, line) {
				continue
			}
			of, name := identify(line)
			switch {
			case of == "" && named(name):
			case of != "" && named(of+"."+name):
			case of != "" && named(of) && !declares(other, of):
			default:
				lines = append(lines, sign+" "+line)
			}
		}
	}
	differ("-", old, new)
	differ("+", new, old)
	return lines
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}
