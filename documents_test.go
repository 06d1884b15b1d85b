package posenc_test

import (
	"bytes"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/test/kit"
)

// These names are promised to be at the top of the module.
func TestTopLevel(t *testing.T) {
	if _, err := os.Stat("go.mod"); err != nil {
		t.Skip("NOT TESTED: there is no source here, only the test binary")
	}
	files := []string{"go.mod", "go.sum", "dispatch.go", "kernels_test.go", "gen.go", "README.md"}
	folders := []string{"kernels", "asm", "generic", "bench"}
	for _, name := range slices.Concat(files, folders) {
		entry, err := os.Stat(name)
		if err != nil || entry.IsDir() != slices.Contains(folders, name) {
			t.Errorf("%s is not at the top of the module: %v", name, err)
		}
	}
	kernels := string(kit.Must(os.ReadFile("kernels_test.go")))
	for _, name := range []string{"FuzzKernels", "TestKernels", "BenchmarkKernels"} {
		if !strings.Contains(kernels, "\nfunc "+name+"(") {
			t.Errorf("kernels_test.go does not have %s", name)
		}
	}
}

// docs/operations.md has every function, and README.md every package.
func TestOperationsAreDocumented(t *testing.T) {
	operations := string(kit.Must(os.ReadFile("docs/operations.md")))
	readme := string(kit.Must(os.ReadFile("README.md")))
	for _, directory := range publicPackages(t) {
		name := path.Base(directory)
		if directory == "." {
			name = "posenc"
		}
		if !strings.Contains(readme, "| `"+name+"` |") {
			t.Errorf("README.md does not have package %s among the packages", name)
		}
		for _, f := range kit.ExportedFunctions(t, directory) {
			if !calledByOthers(f) && !strings.Contains(operations, "`"+f+"`") {
				t.Errorf("docs/operations.md does not have %s of package %s", f, name)
			}
		}
	}
}

// A reader sees the README whole.
func TestReadmeIsShort(t *testing.T) {
	lines := strings.Split(strings.TrimSuffix(string(kit.Must(os.ReadFile("README.md"))), "\n"), "\n")
	if len(lines) > 120 {
		t.Errorf("README.md has %d lines, want at most 120: the rest belongs into docs", len(lines))
	}
	for i, line := range lines {
		if n := len([]rune(line)); n > 100 {
			t.Errorf("README.md:%d has %d columns, want at most 100", i+1, n)
		}
	}
}

// markdown are the documents of the repository.
func markdown(t *testing.T) map[string][]byte {
	files := map[string][]byte{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != "." && d.Name()[0] == '.' {
			return filepath.SkipDir
		}
		if strings.HasSuffix(name, ".md") {
			files[filepath.ToSlash(name)], err = os.ReadFile(name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var (
	fenced   = regexp.MustCompile("(?ms)^```.*?^```$")
	headings = regexp.MustCompile(`(?m)^#+ (.*)$`)
	links    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	// code, and the file that it is from
	fromFile = regexp.MustCompile("(?s)```go\n([^`]*)```\n\nFrom \\[[^]]*\\]\\((\\S+)\\)")
	noSlug   = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors are what GitHub makes of the headings of a document.
func anchors(document []byte) []string {
	var list []string
	for _, m := range headings.FindAllSubmatch(fenced.ReplaceAll(document, nil), -1) {
		list = append(list, strings.ReplaceAll(noSlug.ReplaceAllString(strings.ToLower(string(m[1])), ""), " ", "-"))
	}
	return list
}

// Every link within the repository leads to a file, and to a heading where it names one. The index has
// every document.
func TestDocumentLinks(t *testing.T) {
	documents := markdown(t)
	count := 0
	for name, document := range documents {
		if folder, file := path.Split(name); folder == "docs/" && file != "README.md" && !bytes.Contains(documents["docs/README.md"], []byte("]("+file+")")) {
			t.Errorf("docs/README.md does not list %s", file)
		}
		for _, m := range links.FindAllSubmatch(fenced.ReplaceAll(document, nil), -1) {
			link, err := url.Parse(string(m[1]))
			if err != nil || link.Scheme != "" {
				continue
			}
			count++
			target := name
			if link.Path != "" {
				target = path.Join(path.Dir(name), link.Path)
			}
			if _, err := os.Stat(filepath.FromSlash(target)); err != nil {
				t.Errorf("%s: the link %s leads nowhere", name, m[1])
			} else if link.Fragment != "" && !slices.Contains(anchors(documents[target]), link.Fragment) {
				t.Errorf("%s: %s has no heading #%s", name, target, link.Fragment)
			}
		}
	}
	if count < 50 {
		t.Errorf("%d links found, want more", count)
	}
}

// Code of a document that is said to be from a file is a part of it.
func TestDocumentCode(t *testing.T) {
	count := 0
	for name, document := range markdown(t) {
		for _, m := range fromFile.FindAllStringSubmatch(string(document), -1) {
			count++
			source := string(kit.Must(os.ReadFile(filepath.FromSlash(path.Join(path.Dir(name), m[2])))))
			found := false
			for code, tabs := m[1], 0; tabs < 6 && !found; tabs++ {
				found = strings.Contains("\n"+source, "\n"+code)
				code = regexp.MustCompile(`(?m)^(.)`).ReplaceAllString(code, "\t$1")
			}
			if !found {
				t.Errorf("%s: %s does not have the code\n%s", name, m[2], m[1])
			}
		}
	}
	if count < 2 {
		t.Errorf("%d pieces of code from files", count)
	}
}

// The Go version that go.mod asks for is the one that people read.
func TestGoVersionIsDocumented(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Skip("NOT TESTED: there is no source here, only the test binary")
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(mod)[1]
	for _, name := range []string{"README.md", "docs/compatibility.md"} {
		words := bytes.Join(bytes.Fields(kit.Must(os.ReadFile(name))), []byte(" "))
		if !bytes.Contains(words, append([]byte("takes Go "), append(version, " or later"...)...)) {
			t.Errorf("%s does not say that posenc takes Go %s or later", name, version)
		}
	}
}

// All documents, and comments that users read, say in the same words how many bits the numbers of a cache have.
func TestBitsAreDocumented(t *testing.T) {
	texts := markdown(t)
	delete(texts, "CHANGELOG.md") // what was
	for _, name := range kit.Must(filepath.Glob("*.go")) {
		texts[name] = kit.Must(os.ReadFile(name))
	}
	count := 0
	for name, text := range texts {
		for _, m := range regexp.MustCompile(`\b4 to (\d+)\s+(?://\s+)?bits`).FindAllSubmatch(text, -1) {
			if count++; string(m[1]) != "8" {
				t.Errorf("%s says %q, want 4 to 8 bits, the codes of Quantized", name, m[0])
			}
		}
	}
	if count < 5 {
		t.Errorf("%d documents say it", count)
	}
}

// Of every package that golden data are made with, docs/verification.md says the licence.
func TestGoldenDataHaveOrigins(t *testing.T) {
	_, section, _ := strings.Cut(string(kit.Must(os.ReadFile("docs/verification.md"))), "## Where golden data come from\n")
	section, _, _ = strings.Cut(section, "\n## ")
	count := 0
	kit.NoError(t, filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "requirements.txt" && d.Name() != "sources.txt" {
			return err
		}
		for _, m := range regexp.MustCompile(`(?m)^[\w-]+`).FindAllString(string(kit.Must(os.ReadFile(name))), -1) {
			count++
			if !regexp.MustCompile(`(?m)^\|[^|]*\b` + m + `\b[^|]*\|`).MatchString(section) {
				t.Errorf("docs/verification.md does not say whose %s is, which %s names", m, name)
			}
		}
		return nil
	}))
	if count == 0 {
		t.Skip("NOT TESTED: golden data are not here")
	}
}

// docs/performance.md says by how much posenc makes a program larger.
func TestBinarySizeIsDocumented(t *testing.T) {
	_, err := exec.LookPath("go")
	if testing.Short() || runtime.GOOS+"/"+runtime.GOARCH != "linux/amd64" || err != nil {
		t.Skip("NOT TESTED: the sizes are of linux/amd64, and building takes seconds")
	}
	size := func(imports, body string) float64 {
		folder := t.TempDir()
		kit.NoError(t, os.WriteFile(filepath.Join(folder, "main.go"), []byte("package main\n\nimport (\n\"fmt\"\n"+imports+")\n\nfunc main() {\n"+body+"}\n"), 0o666))
		program := filepath.Join(folder, "program")
		command := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, filepath.Join(folder, "main.go"))
		command.Env = append(os.Environ(), "GOFLAGS=", "GOEXPERIMENT=", "CGO_ENABLED=0")
		if output, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		return float64(kit.Must(os.Stat(program)).Size())
	}
	const posenc, modelconfig = `"github.com/go-posenc/posenc"` + "\n", `"github.com/go-posenc/posenc/modelconfig"` + "\n"
	const view = "posenc.View[float32]{Data: make([]float32, 4), Heads: 1}"
	without := size("", "fmt.Println()\n")
	sizes := []float64{
		size(posenc, "rope, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, Base: 5e5})\n"+
			"fmt.Println(err, posenc.Rotate(rope.At([]int32{1}), "+view+"))\n"),
		size(posenc+modelconfig, "model, _ := modelconfig.HuggingFace([]byte(`{}`))\nrope, _ := model.Rope()\nrows, _ := rope.Rows([]int32{1})\n"+
			"fmt.Println(posenc.Rotate(rows.Layer(0), "+view+"))\n"),
	}
	m := regexp.MustCompile(`\n\| the binary \| ([\d.]+) MB, with .modelconfig. ([\d.]+) MB \|`).FindStringSubmatch(string(kit.Must(os.ReadFile("docs/performance.md"))))
	if m == nil {
		t.Fatal("docs/performance.md does not say what the binary has")
	}
	index := string(kit.Must(os.ReadFile("docs/README.md")))
	for i, text := range m[1:] {
		t.Logf("a program grows by %.2f MB", (sizes[i]-without)/1e6)
		if !strings.Contains(index, text+" MB") {
			t.Errorf("docs/README.md does not say the %s MB of docs/performance.md", text)
		}
		documented, measured := 1e6*kit.Must(strconv.ParseFloat(text, 64)), sizes[i]-without
		if math.Abs(measured/documented-1) > 0.1 { // another version of Go makes other code
			t.Errorf("docs/performance.md says %s MB, and it is %.2f MB", text, measured/1e6)
		}
	}
}

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
		for _, signature := range kit.ExportedSignatures(directory) {
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
	for _, name := range kit.Must(filepath.Glob(filepath.Join(directory, "*.go"))) {
		if strings.HasSuffix(name, "_test.go") == tests {
			file := kit.Must(parser.ParseFile(s.files, name, nil, parser.ParseComments))
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

// A call of a public function says what its numbers are: of more than two, and of any bool,
// a struct has the names. (A slice, or a type with constants of its own, is no number.)
func TestParameters(t *testing.T) {
	for _, path := range publicPackages(t) {
		for _, s := range kit.ExportedSignatures(path) {
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
	kit.NoError(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		_, missing := os.Stat(filepath.Join(path, "go.mod"))
		if path != "." && (missing == nil || strings.ContainsAny(entry.Name()[:1], "._") || slices.Contains(skipped, entry.Name())) {
			return fs.SkipDir
		}
		if len(kit.ExportedSignatures(path)) > 0 {
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
