package modelconfig

import (
	"bytes"
	"go/ast"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
	"github.com/go-posenc/posenc/modelconfig/internal/models"
)

// The values of models are in order: names are there once in each list, texts of JSON are objects
// (tests that read all types find others), traps are those of types, parts are known.
func TestModels(t *testing.T) {
	seen := map[string]bool{}
	once := func(list string, names ...string) {
		for _, name := range names {
			if seen[list+name] || name == "" {
				t.Errorf("%s %q is there twice, or has no name", list, name)
			}
			seen[list+name] = true
		}
	}
	typed := map[string]int{}
	for _, trap := range allTraps() {
		if trap.typed {
			typed[trap.Name] = 0
		}
	}
	about := func(name string, traps []string) {
		for _, trap := range traps {
			if _, ok := typed[trap]; !ok {
				t.Errorf("%s has the trap %s, which there is not for types", name, trap)
			}
			typed[trap]++
		}
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a text that is no object passes")
			}
		}()
		models.Parsed("{")
	}()
	for _, v := range models.Vendors {
		for _, m := range slices.Concat(v.Types, v.Towers) {
			once("type", append(m.Also, m.Name)...)
			about(m.Name, m.Traps)
			if absent := models.Parsed(m.Absent); m.Absent != "" && len(absent) == 0 {
				t.Errorf("%s: %s", m.Name, m.Absent)
			}
		}
		for _, h := range v.Holders {
			once("holder", append(h.Also, h.Name)...)
		}
		for _, p := range v.OtherPositions {
			once("type", p.Names...)
		}
		for _, a := range v.Architectures {
			once("architecture", append(a.Also, a.Name)...)
			about(a.Name, a.Traps)
		}
		for _, p := range v.OtherArchitectures {
			once("architecture", p.Names...)
		}
		for _, p := range v.RefusedArchitectures {
			once("architecture", p.Names...)
		}
	}
	for _, parts := range []map[string]models.Part{wrappers, visionWrappers} {
		for outer, w := range parts {
			if _, nested := parts[w.Type]; !nested && w.Type != "" && models.Types.Named(w.Type) == nil && models.Towers.Named(w.Type) == nil && notRotary[w.Type] == "" {
				t.Errorf("%s holds %s, which is no type", outer, w.Type)
			}
		}
	}
	for trap, n := range typed {
		if n == 0 {
			t.Errorf("no type has the trap %s", trap)
		}
	}
}

// A model is one value in one file of Go, that of its vendor, and no other file has its name: only
// types that hold it, or whose GGUF files are of its architecture, refer to it, and package
// multimodal has the names of each family.
func TestNamesStandOnce(t *testing.T) {
	const families = "../multimodal/family.go"
	files := map[string][]string{} // of a text
	for _, path := range append(sources(), kit.Must(filepath.Glob("../multimodal/*.go"))...) {
		if path == families || strings.HasSuffix(path, "_test.go") {
			continue
		}
		vendor := isVendor(path)
		ast.Inspect(parseFiles([]string{path})[0], func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				key, _ := n.Key.(*ast.Ident)
				return !vendor || key == nil || !slices.Contains([]string{"Text", "Tower", "GGUF", "Reuses", "UnreadRotation"}, key.Name)
			case *ast.BasicLit:
				if n.Kind == token.STRING {
					text := kit.Must(strconv.Unquote(n.Value))
					files[text] = append(files[text], path)
				}
			}
			return true
		})
	}
	names := modelNames()
	for _, name := range names {
		if in := slices.Compact(files[name]); len(in) != 1 || !isVendor(in[0]) {
			t.Errorf("%s stands in %q", name, in)
		}
	}
	if len(names) < 400 {
		t.Errorf("%d names", len(names))
	}
}

// isVendor reports whether a file has the models of one vendor, and nothing else of the package.
func isVendor(path string) bool {
	return strings.HasPrefix(path, "internal/models/") && bytes.Contains(kit.Must(os.ReadFile(path)), []byte("Models = Vendor{\n"))
}

// Importing this package does nothing.
func TestNoInit(t *testing.T) {
	for i, file := range parseFiles(sources()) {
		if file.Scope.Lookup("init") != nil {
			t.Errorf("%s has an init", sources()[i])
		}
	}
	for _, line := range importing(t)() {
		if strings.HasPrefix(line[1], "modelconfig") {
			t.Errorf("importing modelconfig does something: %s", line[0])
		}
	}
}

// BenchmarkImport reports what importing the package costs a program before main, all packages of
// the module together.
func BenchmarkImport(b *testing.B) {
	var milliseconds, allocs float64
	start := importing(b)
	for b.Loop() {
		for _, line := range start() {
			milliseconds += kit.Must(strconv.ParseFloat(line[2], 64))
			allocs += kit.Must(strconv.ParseFloat(line[3], 64))
		}
	}
	b.ReportMetric(milliseconds/float64(b.N), "ms/import")
	b.ReportMetric(allocs/float64(b.N), "allocs/import")
}

// importing returns a function that starts a program which imports this package, and returns the
// packages of the module that are initialized, with their milliseconds and allocations.
func importing(t testing.TB) func() [][]string {
	program := filepath.Join(t.TempDir(), "main.go")
	kit.NoError(t, os.WriteFile(program, []byte("package main\n\nimport _ \"github.com/go-posenc/posenc/modelconfig\"\n\nfunc main() {}\n"), 0o600))
	binary := strings.TrimSuffix(program, ".go")
	if output, err := exec.Command("go", "build", "-o", binary, program).CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED: %v %s", err, output)
	}
	return func() [][]string {
		command := exec.Command(binary)
		command.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		output, err := command.CombinedOutput()
		if err != nil {
			t.Skipf("NOT TESTED: %v", err) // under an emulator
		}
		return regexp.MustCompile(`(?m)^init github.com/go-posenc/posenc/?(\S*) @.* ms, (\S+) ms clock, \d+ bytes, (\d+) allocs$`).FindAllStringSubmatch(string(output), -1)
	}
}

func TestMain(m *testing.M) { kit.Main(m) }

func TestReceivers(t *testing.T) { kit.CheckReceivers(t, Model{}, Rope{}, LayerRows{}) }

// kindOptions are RopeOptions for one kind of layers: a Layer.Kind or indexerKind, "" for the
// only one.
type kindOptions struct {
	LayerType        string
	SequenceLength   int
	Rounding         frequency.Rounding
	FrequencyFactors []float64
}

// layerTypes returns the kinds of layers that rotate, and indexerKind where there are indexers,
// sorted.
func (m *Model) layerTypes() []string {
	if m == nil {
		return nil
	}
	return document.SortedKeys(m.of().Kinds)
}

// of returns the only kind for "".
func (o kindOptions) of(m *Model) string {
	if types := m.layerTypes(); o.LayerType == "" && len(types) == 1 {
		return types[0]
	}
	return o.LayerType
}

// rotaryFor returns the configuration of a kind of layers.
func (m *Model) rotaryFor(o kindOptions) (posenc.RotaryConfig, error) {
	return m.config("Model.Rope", o.of(m), RopeOptions{o.SequenceLength, o.Rounding, o.FrequencyFactors})
}

// softmaxScaleFor returns the SoftmaxScale of a kind of layers, also of indexers.
func (m *Model) softmaxScaleFor(o kindOptions) float64 { return m.of().Kinds[o.of(m)].SoftmaxScale }

// The models by name, for tests that go over all of them.

var (
	families          = valuesOf(models.Types.Names(), func(name string) models.ModelType { return models.Types.Named(name).WithDefaults() })
	towers            = valuesOf(models.Towers.Names(), func(name string) models.ModelType { return models.Towers.Named(name).WithDefaults() })
	holders           = valuesOf(models.Holders.Names(), func(name string) models.Holder { return *models.HolderOf(name) })
	wrappers          = partsByName(func(h *models.Holder) models.Part { return h.Text })
	visionWrappers    = partsByName(func(h *models.Holder) models.Part { return h.Tower })
	notRotary         = positionsByName(models.OtherTypes)
	otherTowers       = positionsByName(models.OtherTowers)
	ggufNotRotary     = positionsByName(models.OtherArchitectures)
	ggufArchitectures = valuesOf(models.Architectures.Names(), func(name string) models.GGUFArchitecture { return *models.Architectures.Named(name) })
	ggufRefused       = positionsByName(models.RefusedArchitectures)
)

func valuesOf[T any](names []string, of func(name string) T) map[string]T {
	m := map[string]T{}
	for _, name := range names {
		m[name] = of(name)
	}
	return m
}

func partsByName(of func(h *models.Holder) models.Part) map[string]models.Part {
	m := map[string]models.Part{}
	for name, h := range holders {
		if p := of(&h); p.Key != "" {
			m[name] = p
		}
	}
	return m
}

func positionsByName(list models.List[models.PositionsOf]) map[string]string {
	return valuesOf(list.Names(), func(name string) string { return models.PositionsIn(list, name) })
}

// modelNames are the names of types, towers, holders and architectures.
func modelNames() []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(models.Types.Names(), models.Towers.Names(), models.Holders.Names(), models.Architectures.Names()))))
}
