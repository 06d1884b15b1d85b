package kernels_test

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/test/operations"

	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/kernels"
)

// Operations that are no loop over rows are tested by the functions that call them. In
// kernels_test.go some are tested by themselves.

// Every irregular operation but those without slices, which have nothing to compare, is called in a file
// of this package whose exported functions are the composed ones.
func TestComposedFunctions(t *testing.T) {
	files := kit.Must(filepath.Glob("*.go"))
	var source, functions, names []string
	for _, file := range files {
		text := kit.Must(os.ReadFile(file))
		if !strings.HasSuffix(file, "_test.go") && !strings.HasPrefix(string(text), "// Code generated") {
			source = append(source, string(text))
		}
	}
	if len(source) == 0 {
		t.Skip("NOT TESTED: there is no source here, only the test binary")
	}
	for _, o := range everyOperation() {
		if len(o.Slices) == 0 || slices.Contains(operations.Regular(), o) {
			continue
		}
		called := false
		for _, text := range source {
			if strings.Contains(text, strings.ToLower(o.Name[:1])+o.Name[1:]+"(") {
				called = true
				for _, m := range regexp.MustCompile(`(?m)^func ([A-Z]\w*)\(`).FindAllStringSubmatch(text, -1) {
					functions = append(functions, m[1])
				}
			}
		}
		if !called {
			t.Errorf("%s is not called in this package, and not tested row by row", o.Name)
		}
	}
	for _, c := range operations.ComposedFunctions(1) {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	slices.Sort(functions)
	if names, functions = slices.Compact(names), slices.Compact(functions); !slices.Equal(names, functions) {
		t.Errorf("composed are %q, in the files are %q", names, functions)
	}
}

// eachProblem gives f, on every implementation, what tries a problem.
func eachProblem(t *testing.T, seed uint64, f func(r *rand.Rand, impl kernels.Implementation, try func(*operations.Operation, *operations.Problem))) {
	kit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := kit.NewRand(seed)
		f(r, impl, func(o *operations.Operation, p *operations.Problem) { o.TryOn(t, r, p, operations.Padded(r, o), impl) })
	})
}

func TestCosSinAxesRows(t *testing.T) {
	eachProblem(t, 8, func(r *rand.Rand, impl kernels.Implementation, try func(*operations.Operation, *operations.Problem)) {
		pictures := func() [][]int32 {
			first := kit.OneOf(r, []int32{0, 1, -3, 100, 5000, math.MinInt32, math.MaxInt32 - 50, int32(r.Uint32()) >> (1 + r.IntN(31))})
			return operations.Image(first, 1+r.IntN(3), 1+r.IntN(50))
		}
		apart := func() (positions [][]int32) { // each axis for itself
			tokens := 1 + r.IntN(40)
			for range 1 + r.IntN(4) {
				positions = append(positions, kit.RandomPositions(r, kit.OneOf(r, kit.PositionNames), tokens))
			}
			return positions
		}
		for range kit.Rounds(4) {
			for _, n := range kit.BlockLengths {
				for _, make := range []func() [][]int32{pictures, apart} {
					positions := make()
					o, p := operations.AxesRows(r, impl, positions, operations.RandomFrequencies(r, n, positions[r.IntN(len(positions))]), n+r.IntN(2)*r.IntN(70), r.IntN(2) == 0)
					if r.IntN(2) == 0 {
						o.Align = 0
					}
					try(o, p)
				}
			}
		}
	})
}

// Whole rows, and the entries of one axis.
func TestCosSinExactRow(t *testing.T) {
	eachProblem(t, 4, func(r *rand.Rand, impl kernels.Implementation, try func(*operations.Operation, *operations.Problem)) {
		for range kit.Rounds(20) {
			// The float64 of a kernel are not accurate enough for angles near 2^50, of which this one
			// is known to be rounded wrongly.
			try(operations.ExactRow(r, impl, 1, []float64{0x1.cacc4a048d5e8p+49}))
			for n := range kernels.Width + 1 {
				positions := []int32{0, 1, math.MinInt32, math.MaxInt32, int32(r.Uint32()) >> r.IntN(32)}
				position := kit.OneOf(r, positions)
				try(operations.AxisRow(r, impl, uint8(r.IntN(4)), position, operations.RandomFrequencies(r, n, []int32{position})))
				for _, position := range positions {
					try(operations.ExactRow(r, impl, position, operations.RandomFrequencies(r, n, []int32{position})))
				}
			}
		}
	})
}

func TestCosSinExactRows(t *testing.T) {
	eachProblem(t, 5, func(r *rand.Rand, impl kernels.Implementation, try func(*operations.Operation, *operations.Problem)) {
		for i, kind := range kit.PositionNames {
			rows := func(count, n, stride int, nonTemporal, aligned bool) {
				positions := kit.RandomPositions(r, kind, count)
				o, p := operations.ExactRows(r, impl, positions, operations.RandomFrequencies(r, n, positions), stride, nonTemporal)
				if !aligned {
					o.Align = 0
				}
				try(o, p)
			}
			for range kit.Rounds(10) {
				for _, n := range kit.BlockLengths {
					rows(kit.OneOf(r, append(kit.TokenCounts, 4, 5, 31, 32, 65, 100)), n, n+r.IntN(2)*r.IntN(70), r.IntN(2) == 0, false)
				}
			}
			// Rows whose alignment lets them be stored by non-temporal stores.
			for n := 16; n <= kernels.Width; n += 16 {
				rows(70, n, n+[]int{0, 16, 64}[(i+n/16)%3], true, true)
			}
		}
	})
}

// Rows of positions, and the 32 before and behind those where the float32 of the position, or of
// an angle, is next to a limit.
func TestCosSinFloat32Rows(t *testing.T) {
	eachProblem(t, 7, func(r *rand.Rand, impl kernels.Implementation, try func(*operations.Operation, *operations.Problem)) {
		rows := func(positions []int32, n int) {
			try(operations.Float32Rows(r, impl, positions, operations.Float32Frequencies(r, n), n+r.IntN(2)*r.IntN(70)))
		}
		for range kit.Rounds(4) {
			for _, n := range kit.BlockLengths {
				for _, kind := range kit.PositionNames {
					rows(kit.RandomPositions(r, kind, kit.OneOf(r, append(kit.TokenCounts, 4, 5, 31, 32, 65))), n)
				}
				for _, limit := range []int32{0, 1 << 11, 1 << 12, 1 << 15, 1 << 24, math.MaxInt32 - 32, math.MinInt32 + 32} {
					positions := make([]int32, 64)
					for i := range positions {
						positions[i] = limit + int32(i-32)
					}
					rows(positions, n)
				}
			}
		}
	})
}

func TestCosSinFloat32(t *testing.T) {
	eachProblem(t, 6, func(r *rand.Rand, impl kernels.Implementation, try func(*operations.Operation, *operations.Problem)) {
		for range kit.Rounds(20) {
			for n := range 131 {
				try(operations.Float32Row(r, n, func(angles []float32) { operations.RandomAngles(r, angles) }))
			}
		}
	})
}

func TestSinusoidalRows(t *testing.T) {
	eachProblem(t, 150, func(r *rand.Rand, impl kernels.Implementation, try func(*operations.Operation, *operations.Problem)) {
		for _, kind := range kit.PositionNames {
			for range kit.Rounds(10) {
				// Of one block and of several.
				for _, pairs := range append([]int{65, 79, 127, 128, 129, 200, kernels.MaxBlocks * kernels.Width}, kit.BlockLengths...) {
					try(operations.SinusoidalRows(r, impl, kit.RandomPositions(r, kind, kit.OneOf(r, append(kit.TokenCounts, 4, 5, 31, 32, 40))), pairs))
				}
			}
		}
	})
}
