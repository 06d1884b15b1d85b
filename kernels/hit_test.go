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

	"github.com/go-posenc/posenc/internal/operations"

	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// Every operation runs the function that the list names for the implementation, and no
// other. Bits cannot tell, since they are the same everywhere: it is called with memory
// that faults, and the fault says where. One that takes no memory is made to fault where
// it begins.
func TestKernelsAreHit(t *testing.T) {
	if !testkit.GuardPages || testkit.Fuzzing() {
		t.Skip("NOT TESTED: nothing faults around memory here, or fuzzing changes the wrappers")
	}
	operations.OnEachImplementation(t, everyOperation(), func(t *testing.T, impl kernels.Implementation, o *operations.Operation) {
		call := faulting(o, t)
		reason, functions := testkit.Fault(func() { call(impl) })
		want, ok := o.Runs[impl]
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
func faulting(o *operations.Operation, t *testing.T) func(impl kernels.Implementation) {
	t.Helper()
	if len(o.Slices) == 0 {
		restore := trap(t, o.Name)
		t.Cleanup(restore)
		return func(impl kernels.Implementation) { o.Call(impl, &operations.Arguments{}) }
	}
	r := testkit.NewRand(1)
	const n = 64
	p := o.Problem(r, n, true)
	switch o.Geometry { // more than fits what is alive of the memory that faults
	case "Rotation":
		p.Rotation = kernels.Rotation{Pairs: n, Partner: n, Tokens: 1, Heads: 1}
	case "Lines":
		p.Lines.Count = 1
	case "Conversion":
		p.Conversion = kernels.Conversion{Len: 4 * n, Count: 1}
	case "Affine":
		p.Affine = kernels.Affine{Len: 4 * n, Count: 32, YStride: 4 * n, XStride: 4 * n, ScaleStride: 16}
	case "Tile":
		p.Tile = kernels.Tile{Len: n, Rows: 1, Stride: n}
	case "Matrices":
		p.Matrices = kernels.Matrices{Len: n, Rows: 1, Columns: n, YStride: n, XStride: n, VectorStride: n}
	}
	for _, name := range []string{"xFirst", "xStride", "first", "step"} {
		if o.Has(name) {
			p.Number[name] = 0
		}
	}
	// A slice of which Go itself reads nothing but the first elements.
	dead := slices.IndexFunc(o.Slices, func(s operations.Slice) bool { return !s.Single })
	const alive = 64
	arena := testkit.NewArena(t, os.Getpagesize())
	a := p.Arguments
	a.Memory = map[string][]byte{}
	for i, s := range o.Slices {
		size := 1 << 14 * s.Element.Size
		if s.Name == "ids" {
			continue
		}
		a.Memory[s.Name] = testkit.BytesOf(testkit.Aligned(size / 4))
		if p.Size[s.Name] > 0 && o.Geometry == "" || s.Element == operations.F64 {
			a.Memory[s.Name] = a.Memory[s.Name][:p.Size[s.Name]*s.Element.Size]
		}
		if i == dead {
			a.Memory[s.Name] = unsafe.Slice(&arena[len(arena)-alive], len(a.Memory[s.Name]))
		}
	}
	return func(impl kernels.Implementation) { o.Call(impl, &a) }
}

// Rows that are aligned for it are written by non-temporal stores, where these are asked
// for, and by others elsewhere.
func TestNonTemporalRowsAreHit(t *testing.T) {
	if !testkit.GuardPages || testkit.Fuzzing() {
		t.Skip("NOT TESTED: nothing faults around memory here, or fuzzing changes the wrappers")
	}
	runs := map[string]map[kernels.Implementation]string{}
	for _, o := range everyOperation() {
		runs[o.Name] = o.Runs
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
	for _, o := range everyOperation() {
		for _, name := range o.Runs {
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
		for _, o := range everyOperation() {
			a := o.Problem(r, 64, true).Arguments
			a.Memory = map[string][]byte{}
			for _, s := range o.Slices {
				a.Memory[s.Name] = make([]byte, 1<<14*s.Element.Size)
			}
			if o.Has("first") {
				a.Number["first"], a.Number["step"] = 0, 0
			}
			reason, _ := testkit.Fault(func() { o.Call(impl, &a) })
			if message := fmt.Sprint(reason); !strings.Contains(message, o.Name+" has no case") || !strings.Contains(message, impl.String()) {
				t.Errorf("%s on %s: %s", o.Name, impl, message)
			}
		}
	}
}
