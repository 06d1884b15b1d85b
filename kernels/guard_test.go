package kernels_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/internal/test/operations"
	"github.com/go-posenc/posenc/kernels"
)

// guardBytes is enough for the slices of a packed problem of n elements or pairs,
// of which there are up to 6 rows with 78 elements besides, and gaps.
func guardBytes(n int) int { return 4 * (6*(2*n+78) + 64) }

// guarded is an operation, or a function that calls some: the slices of its packed problems go next to
// guards.
type guarded struct {
	operations.Composed
	shared bool // the problem is the same for every implementation
}

// allGuarded are the regular operations and the functions that call the others.
func allGuarded(longest int) (list []guarded) {
	for _, c := range operations.ComposedFunctions(longest) {
		list = append(list, guarded{Composed: c})
	}
	for _, o := range operations.Regular() {
		list = append(list, guarded{operations.Composed{Name: o.Name, Longest: longest, Problem: func(r *rand.Rand, _ kernels.Implementation, n int) (*operations.Operation, *operations.Problem) {
			return o, o.Problem(r, n, true)
		}}, true})
	}
	return list
}

// newGuards returns guards for rows that begin up to misaligned elements from them.
func (j *guarded) newGuards(t testing.TB, misaligned int) *operations.Guards {
	o, _ := j.Problem(kit.NewRand(0), kernels.Generic, 1)
	longest := max(j.Longest*max(1, o.Unit), slices.Max(append(o.Lengths, 0)))
	return operations.NewGuards(t, guardBytes(longest+misaligned*max(1, o.Unit)), o)
}

// try makes calls on rows of n next to guards, by every implementation.
func (j *guarded) try(t testing.TB, r *rand.Rand, n int, g *operations.Guards) {
	t.Helper()
	if j.shared {
		j.tryOn(t, r, n, g, kit.Supported()...)
		return
	}
	for _, impl := range kit.Supported() {
		j.tryOn(t, r, n, g, impl)
	}
}

// tryOn is try by implementations whose problems are the same.
func (j *guarded) tryOn(t testing.TB, r *rand.Rand, n int, g *operations.Guards, implementations ...kernels.Implementation) {
	t.Helper()
	o, p := j.Problem(r, implementations[0], n)
	if kit.Bochs { // TestOperations and those of functions compare the same calls
		a := o.Place(r, p, g.Place(r, o))
		if reason, functions := kit.Fault(func() { o.Call(implementations[0], a) }); reason != nil {
			t.Fatalf("%s, %s: %v in %s", o.Name, p, reason, functions)
		}
		return
	}
	o.TryOn(t, r, p, g.Place(r, o), implementations...)
}

// No operation reads or writes beyond its slices, at every length and on both sides.
func TestGuards(t *testing.T) {
	for _, j := range allGuarded(139) {
		t.Run("operation="+j.Name, func(t *testing.T) {
			r, g := kit.NewRand(51), j.newGuards(t, 0)
			for n := range kit.Lengths(j.Longest) {
				for range kit.Rounds(3) {
					for _, g.AtEnd = range []bool{false, true} {
						j.try(t, r, n, g)
					}
				}
			}
		})
	}
}

// The halves of a row end and begin at a guard of their own: neither the end of
// the first nor the start of the second is touched by more than its pairs.
func TestGuardHalves(t *testing.T) {
	if !kit.GuardPages {
		t.Skip("NOT TESTED: nothing faults around memory here")
	}
	// What takes heads of one length alone takes no halves apart.
	rotations := slices.DeleteFunc(operations.Regular(), func(o *operations.Operation) bool {
		return o.Geometry != "Rotation" || o.Layout != "HalfSplit" || o.Lengths != nil
	})
	operations.OnEachImplementation(t, rotations, func(t *testing.T, impl kernels.Implementation, o *operations.Operation) {
		r := kit.NewRand(50)
		arenas := kit.NewArenas(t, 4*70, 2)
		for n := 1; n <= 70; n++ {
			for _, guarded := range []string{"x", "y"} {
				p := o.Problem(r, n, true)
				size := o.Slice(guarded).Element.Size
				first, second := kit.Flush[byte](arenas[0], n*size, true), kit.Flush[byte](arenas[1], n*size, false)
				partner := operations.Offset(first, second) / size
				p.Rotation = kernels.Rotation{Pairs: n, Partner: partner, Tokens: 1, Heads: 1}
				a := p.Arguments
				a.Memory = map[string][]byte{guarded: unsafe.Slice(&first[0], (partner+n)*size)}
				for _, s := range o.Slices {
					if s.Name != guarded {
						a.Memory[s.Name] = make([]byte, (partner+n)*s.Element.Size)
					}
				}
				if reason, functions := kit.Fault(func() { o.Call(impl, &a) }); reason != nil {
					t.Fatalf("%d pairs: %v in %s", n, reason, functions)
				}
			}
		}
	})
}

// The guard itself: one element too far, either way, is noticed.
func TestGuardCatches(t *testing.T) {
	if !kit.GuardPages {
		t.Skip("NOT TESTED: nothing faults around memory here")
	}
	arena := kit.NewArena(t, 100)
	for at, atEnd := range map[int]bool{-1: false, 4: true} {
		s := kit.Flush[float32](arena, 4, atEnd)
		beyond := (*float32)(unsafe.Add(unsafe.Pointer(&s[0]), 4*at))
		if reason, _ := kit.Fault(func() { s[0], s[3] = 1, 2 }); reason != nil {
			t.Errorf("a write within the slice: %v", reason)
		}
		for name, access := range map[string]func(){"read": func() { s[0] = *beyond }, "write": func() { *beyond = 1 }} {
			if reason, _ := kit.Fault(access); reason == nil {
				t.Errorf("a %s at element %d of 4 was not noticed", name, at)
			}
		}
	}
}

// Every operation runs the function that the list names for the implementation, and no
// other. Bits cannot tell, since they are the same everywhere: it is called with memory
// that faults, and the fault says where. One that takes no memory is made to fault where
// it begins.
func TestKernelsAreHit(t *testing.T) {
	if !kit.GuardPages || kit.Fuzzing() {
		t.Skip("NOT TESTED: nothing faults around memory here, or fuzzing changes the wrappers")
	}
	operations.OnEachImplementation(t, everyOperation(), func(t *testing.T, impl kernels.Implementation, o *operations.Operation) {
		call := faulting(o, t)
		reason, functions := kit.Fault(func() { call(impl) })
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
	r := kit.NewRand(1)
	const n = 64
	p := o.Problem(r, n, true)
	switch o.Geometry { // more than fits what is alive of the memory that faults
	case "Rotation":
		p.Rotation = kernels.Rotation{Pairs: n, Partner: n, Tokens: 1, Heads: 1}
	case "Lines":
		p.Lines.Count = 1
	case "Affine":
		p.Affine = kernels.Affine{Len: 4 * n, Count: 32, YStride: 4 * n, XStride: 4 * n, ScaleStride: 16}
	case "Conversion":
		p.Conversion = kernels.Conversion{Len: 4 * n, Count: 1}
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
	arena := kit.NewArena(t, os.Getpagesize())
	a := p.Arguments
	a.Memory = map[string][]byte{}
	for i, s := range o.Slices {
		size := 1 << 14 * s.Element.Size
		if s.Name == "ids" {
			continue
		}
		a.Memory[s.Name] = kit.BytesOf(kit.Aligned(size / 4))
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
	if !kit.GuardPages || kit.Fuzzing() {
		t.Skip("NOT TESTED: nothing faults around memory here, or fuzzing changes the wrappers")
	}
	runs := map[string]map[kernels.Implementation]string{}
	for _, o := range everyOperation() {
		runs[o.Name] = o.Runs
	}
	const n, rows = 64, 8
	positions := kit.Sequence(rows + 1)[1:] // the sine of position 0 is for plain Go
	var block kernels.Block
	block.Set(kit.LadderOf(n))
	kit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		var shift kernels.Shift
		shift.Set(impl, &block)
		arena := kit.NewArena(t, os.Getpagesize())
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
				sin := kit.Aligned(rows*n + 1)[misaligned:]
				_, functions := kit.Fault(func() {
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
	files := kit.Must(filepath.Glob("../asm/*_*64.go"))
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
		text := kit.Must(os.ReadFile(file))
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
	r := kit.NewRand(2)
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
			reason, _ := kit.Fault(func() { o.Call(impl, &a) })
			if message := fmt.Sprint(reason); !strings.Contains(message, o.Name+" has no case") || !strings.Contains(message, impl.String()) {
				t.Errorf("%s on %s: %s", o.Name, impl, message)
			}
		}
	}
}
