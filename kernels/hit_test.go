package kernels_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// Every operation runs the function that the list names for the implementation, and no
// other. Bits cannot tell, since they are the same everywhere: it is called with memory
// that faults, and the fault says where. One that takes no memory is made to fault where
// it begins.
func TestKernelsAreHit(t *testing.T) {
	if !testkit.GuardPages {
		t.Skip("NOT TESTED: nothing faults around memory here")
	}
	eachOperation(t, registry, func(t *testing.T, impl kernels.Implementation, o *operation) {
		call := o.faulting(t)
		reason, functions := testkit.Fault(func() { call(impl) })
		want, ok := o.runs[impl]
		switch {
		case !ok:
			t.Fatal("the registry does not say what runs")
		case want == "" && reason != nil:
			t.Fatalf("%v in %s; nothing is to run", reason, functions)
		case want == "":
			return
		case reason == nil:
			t.Fatalf("%s did not run: nothing touched the memory that faults", want)
		}
		ran := func(name string) bool {
			return slices.ContainsFunc(functions, func(f string) bool {
				f, _, _ = strings.Cut(f, "[") // of a generic function
				return f == name || strings.HasSuffix(f, "/"+name)
			})
		}
		kernel := slices.IndexFunc(functions, func(f string) bool { return strings.Contains(f, "posenc/asm.") })
		if !ran(want) || kernel >= 0 && !strings.HasSuffix(functions[kernel], "/"+want) {
			t.Errorf("%s did not run: %s", want, fmt.Sprint(functions))
		}
	})
}

// faulting returns a call of an operation that faults where it works.
func (o *operation) faulting(t *testing.T) func(impl kernels.Implementation) {
	t.Helper()
	if len(o.slices) == 0 {
		restore := trap(t, o.name)
		t.Cleanup(restore)
		return func(impl kernels.Implementation) { o.call(impl, &arguments{}) }
	}
	r := testkit.NewRand(1)
	const n = 64
	p := o.problem(r, n, true)
	switch o.geometry { // more than fits what is alive of the memory that faults
	case "Rotation":
		p.rotation = kernels.Rotation{Pairs: n, Partner: n, Tokens: 1, Heads: 1}
	case "Lines":
		p.lines.Count = 1
	case "Conversion":
		p.conversion = kernels.Conversion{Len: 4 * n, Count: 1}
	case "Tile":
		p.tile = kernels.Tile{Len: n, Rows: 1, Stride: n}
	case "Matrices":
		p.matrices = kernels.Matrices{Len: n, Rows: 1, Columns: n, YStride: n, XStride: n, VectorStride: n}
	}
	for _, name := range []string{"xFirst", "xStride", "first", "step"} {
		if o.has(name) {
			p.number[name] = 0
		}
	}
	// A slice of which Go itself reads nothing but the first elements.
	dead := slices.IndexFunc(o.slices, func(s slice) bool { return !s.single })
	const alive = 64
	arena := testkit.NewArena(t, os.Getpagesize())
	a := p.arguments
	a.memory = map[string][]byte{}
	for i, s := range o.slices {
		size := 1 << 14 * s.element.size
		if s.name == "ids" {
			continue
		}
		a.memory[s.name] = testkit.BytesOf(testkit.Aligned(size / 4))
		if p.size[s.name] > 0 && o.geometry == "" || s.element == f64 {
			a.memory[s.name] = a.memory[s.name][:p.size[s.name]*s.element.size]
		}
		if i == dead {
			a.memory[s.name] = unsafe.Slice(&arena[len(arena)-alive], len(a.memory[s.name]))
		}
	}
	return func(impl kernels.Implementation) { o.call(impl, &a) }
}

// Rows that are aligned for it are written by non-temporal stores, where these are asked
// for, and by others elsewhere.
func TestNonTemporalRowsAreHit(t *testing.T) {
	if !testkit.GuardPages {
		t.Skip("NOT TESTED: nothing faults around memory here")
	}
	runs := map[string]map[kernels.Implementation]string{}
	for _, o := range registry {
		runs[o.name] = o.runs
	}
	const n, rows = 64, 8
	positions := testkit.Sequence(rows + 1)[1:] // the sine of position 0 is for plain Go
	var block kernels.Block
	block.Set(testkit.LadderOf(n))
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		var shift kernels.Shift
		shift.Set(impl, &block)
		arena := testkit.NewArena(t, os.Getpagesize())
		dead := unsafe.Slice((*float32)(unsafe.Pointer(&arena[len(arena)-64])), rows*n)
		for _, asked := range []bool{false, true} {
			for _, misaligned := range []int{0, 1} {
				operation := "CosSinShiftF32"
				if asked && misaligned == 0 {
					operation = "CosSinShiftNonTemporalF32"
				}
				want := runs[operation][impl]
				if impl == kernels.Generic {
					want = runs["CosSinExactF32"][impl]
				}
				sin := testkit.Aligned(rows*n + 1)[misaligned:]
				_, functions := testkit.Fault(func() {
					kernels.CosSinExactRows(impl, dead, sin[:rows*n], n, positions, &block, &shift, 1, 1, asked)
				})
				if !slices.ContainsFunc(functions, func(f string) bool { return strings.HasSuffix(f, "/"+want) }) {
					t.Errorf("asked %t, misaligned by %d: %s did not run: %s", asked, misaligned, want, functions)
				}
			}
		}
	})
}

// Every kernel of assembly is what some operation runs.
func TestKernelsAreBound(t *testing.T) {
	files := testkit.Must(filepath.Glob("../asm/*_*64.go"))
	if len(files) == 0 {
		t.Skip("NOT TESTED: there is no source here, only the test binary")
	}
	bound := map[string]bool{}
	for _, o := range registry {
		for _, name := range o.runs {
			bound[name] = true
		}
	}
	for _, file := range files {
		text := testkit.Must(os.ReadFile(file))
		for _, m := range regexp.MustCompile(`(?m)^func (\w+)\(`).FindAllStringSubmatch(string(text), -1) {
			if !bound["asm."+m[1]] {
				t.Errorf("%s is bound to nothing", m[1])
			}
		}
	}
}

// A case that a switch lacks fails, and says which.
func TestMissingCasePanics(t *testing.T) {
	all := []kernels.Implementation{kernels.AVX2, kernels.AVX512, kernels.NEON, 200}
	r := testkit.NewRand(2)
	for _, impl := range all {
		if slices.Contains(dispatch.Compiled(), impl) {
			continue
		}
		for _, o := range registry {
			a := o.problem(r, 64, true).arguments
			a.memory = map[string][]byte{}
			for _, s := range o.slices {
				a.memory[s.name] = make([]byte, 1<<14*s.element.size)
			}
			if o.has("first") {
				a.number["first"], a.number["step"] = 0, 0
			}
			reason, _ := testkit.Fault(func() { o.call(impl, &a) })
			if message := fmt.Sprint(reason); !strings.Contains(message, o.name+" has no case") || !strings.Contains(message, impl.String()) {
				t.Errorf("%s on %s: %s", o.name, impl, message)
			}
		}
	}
}
