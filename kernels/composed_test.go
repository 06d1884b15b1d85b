package kernels_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/operations"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// Operations that are no loop over rows are tested by the functions that call them and do
// what they leave undone: as operations whose rows generic defines. In kernels_test.go some
// are tested by themselves.

// guarded is an operation, or a function that calls some, with rows of up to longest
// elements, pairs or frequencies: those of its packed problems go next to guards.
type guarded struct {
	name    string
	longest int
	problem func(r *rand.Rand, impl kernels.Implementation, n int) (*operations.Operation, *operations.Problem)
	shared  bool // the problem is the same for every implementation
}

// composed lists the functions that call irregular operations.
func composed(longest int) []guarded {
	list := []guarded{
		{name: "CosSinExactRow", longest: kernels.Width, problem: func(r *rand.Rand, impl kernels.Implementation, n int) (*operations.Operation, *operations.Problem) {
			return exactRow(r, impl, 26, testkit.RandomFrequencies(r, n, []int32{26}, n%2 == 0))
		}},
		{name: "SinusoidalRows", longest: longest, problem: func(r *rand.Rand, impl kernels.Implementation, n int) (*operations.Operation, *operations.Problem) {
			return sinusoidalRows(r, impl, testkit.RandomPositions(r, "sequential", 5), max(1, n))
		}},
	}
	for _, nonTemporal := range []bool{false, true} {
		list = append(list, guarded{name: "CosSinAxesRows", longest: kernels.Width, problem: func(r *rand.Rand, impl kernels.Implementation, n int) (*operations.Operation, *operations.Problem) {
			return axesRows(r, impl, image(5, 3, 2), testkit.RandomFrequencies(r, n, []int32{7}, n%2 == 0), n, nonTemporal)
		}})
	}
	list = append(list, guarded{name: "CosSinAxisRow", longest: kernels.Width, problem: func(r *rand.Rand, impl kernels.Implementation, n int) (*operations.Operation, *operations.Problem) {
		return axisRow(r, impl, 1, 26, testkit.RandomFrequencies(r, n, []int32{26}, n%2 == 0))
	}})
	for _, yes := range []bool{false, true} {
		list = append(list, guarded{name: "CosSinFloat32", longest: longest, problem: func(r *rand.Rand, impl kernels.Implementation, n int) (*operations.Operation, *operations.Problem) {
			return float32Row(r, n, func(angles []float32) {
				for i := range angles {
					if yes { // the fast path is for those
						angles[i] = 100 * r.Float32()
					}
				}
			})
		}})
		for _, rows := range []int{6, 9} { // runs of 6, of 2 and of 1
			list = append(list, guarded{name: "CosSinExactRows", longest: kernels.Width, problem: func(r *rand.Rand, impl kernels.Implementation, n int) (*operations.Operation, *operations.Problem) {
				positions := []int32{26, 27, 28, 29, 30, 31, 32, 33, 7}[:rows]
				return exactRows(r, impl, positions, testkit.RandomFrequencies(r, n, positions, n%2 == 0), n, yes)
			}})
		}
	}
	return list
}

// Every irregular operation but those without slices, which have nothing to compare, is called in a file
// of this package whose exported functions are the composed ones.
func TestComposedFunctions(t *testing.T) {
	files := testkit.Must(filepath.Glob("*.go"))
	var source, functions, names []string
	for _, file := range files {
		text := testkit.Must(os.ReadFile(file))
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
	for _, c := range composed(1) {
		names = append(names, c.name)
	}
	slices.Sort(names)
	slices.Sort(functions)
	if names, functions = slices.Compact(names), slices.Compact(functions); !slices.Equal(names, functions) {
		t.Errorf("composed are %q, in the files are %q", names, functions)
	}
}

// rows returns a problem of rows of n elements, stride apart in every slice.
func rows(o *operations.Operation, count, stride, n int) *operations.Problem {
	p := &operations.Problem{Size: map[string]int{}}
	for _, s := range o.Slices {
		p.Size[s.Name] = (count-1)*stride + n
	}
	p.Split = func(a *operations.Arguments) (list []*operations.Arguments) {
		for i := range count {
			row := &operations.Arguments{Memory: map[string][]byte{}, Number: map[string]float64{"row": float64(i)}}
			for _, s := range o.Slices {
				o.Cut(row, a, s.Name, s.Name, i*stride, n)
			}
			list = append(list, row)
		}
		return list
	}
	return p
}

// randomFrequencies returns n at positions, hard ones and large ones now and then.
func randomFrequencies(r *rand.Rand, n int, positions []int32) []float64 {
	invFreq := testkit.RandomFrequencies(r, n, positions, r.IntN(2) == 0)
	r.Shuffle(n, func(i, j int) { invFreq[i], invFreq[j] = invFreq[j], invFreq[i] }) // hard ones in any lane
	if n > 0 && r.IntN(8) == 0 {
		invFreq[r.IntN(n)] = testkit.LargeFrequency(r, positions[0])
	}
	return invFreq
}

func cosAndSin() []operations.Slice {
	return []operations.Slice{{Name: "cos", Element: operations.F32, Written: true}, {Name: "sin", Element: operations.F32, Written: true}}
}

// exactRow is CosSinExactRow.
func exactRow(r *rand.Rand, impl kernels.Implementation, position int32, invFreq []float64) (*operations.Operation, *operations.Problem) {
	return cosSinRows(r, []int32{position}, invFreq, len(invFreq), func(cos, sin []float32, block *kernels.Block, scaleCos, scaleSin float32) {
		kernels.CosSinExactRow(impl, cos, sin, float64(position), block, scaleCos, scaleSin)
	})
}

// exactRows is CosSinExactRows.
func exactRows(r *rand.Rand, impl kernels.Implementation, positions []int32, invFreq []float64, stride int, nonTemporal bool) (*operations.Operation, *operations.Problem) {
	o, p := cosSinRows(r, positions, invFreq, stride, func(cos, sin []float32, block *kernels.Block, scaleCos, scaleSin float32) {
		var shift kernels.Shift
		shift.Set(impl, block)
		kernels.CosSinExactRows(impl, cos, sin, stride, positions, block, &shift, scaleCos, scaleSin, nonTemporal)
	})
	if nonTemporal {
		o.Align = 64
	}
	return o, p
}

func cosSinRows(r *rand.Rand, positions []int32, invFreq []float64, stride int, call func(cos, sin []float32, block *kernels.Block, scaleCos, scaleSin float32)) (*operations.Operation, *operations.Problem) {
	scaleCos, scaleSin := testkit.RandomScales(r)
	o := &operations.Operation{
		Name:   fmt.Sprintf("positions %d, stride %d, %d frequencies %x", positions, stride, len(invFreq), invFreq),
		Slices: cosAndSin(),
		Call: func(_ kernels.Implementation, a *operations.Arguments) {
			var block kernels.Block
			block.Set(invFreq)
			call(operations.Elements[float32](a, "cos"), operations.Elements[float32](a, "sin"), &block, scaleCos, scaleSin)
		},
		Define: func(row *operations.Arguments) {
			generic.CosSinExact(operations.Elements[float32](row, "cos"), operations.Elements[float32](row, "sin"), positions[int(row.Number["row"])], invFreq, scaleCos, scaleSin)
		},
	}
	return o, rows(o, len(positions), stride, len(invFreq))
}

// image is the positions, [axes][tokens], of a picture: of time first, of its lines and columns.
func image(first int32, height, width int) (positions [][]int32) {
	positions = make([][]int32, 3)
	for line := range height {
		for column := range width {
			for axis, p := range []int32{first, first + int32(line), first + int32(column)} {
				positions[axis] = append(positions[axis], p)
			}
		}
	}
	return positions
}

// randomAxes returns the axis of each of n frequencies: by turns, in sections or any.
func randomAxes(r *rand.Rand, n, axes int) []uint8 {
	of, kind := make([]uint8, n), r.IntN(3)
	for j := range of {
		of[j] = uint8([]int{j % axes, j * axes / n, r.IntN(axes)}[kind])
	}
	return of
}

// axesRows is CosSinAxesRows.
func axesRows(r *rand.Rand, impl kernels.Implementation, positions [][]int32, invFreq []float64, stride int, nonTemporal bool) (*operations.Operation, *operations.Problem) {
	axes, tokens := randomAxes(r, len(invFreq), len(positions)), len(positions[0])
	scaleCos, scaleSin := testkit.RandomScales(r)
	o := &operations.Operation{
		Name:   fmt.Sprintf("positions %d, axes %d, stride %d, frequencies %x", positions, axes, stride, invFreq),
		Slices: cosAndSin(),
		Call: func(_ kernels.Implementation, a *operations.Arguments) {
			var block kernels.AxesBlock
			block.Set(impl, invFreq, axes)
			kernels.CosSinAxesRows(impl, operations.Elements[float32](a, "cos"), operations.Elements[float32](a, "sin"), stride, slices.Concat(positions...), tokens, tokens, &block, scaleCos, scaleSin, nonTemporal)
		},
		Define: func(row *operations.Arguments) {
			cos, sin, t := operations.Elements[float32](row, "cos"), operations.Elements[float32](row, "sin"), int(row.Number["row"])
			for j, axis := range axes {
				generic.CosSinExact(cos[j:j+1], sin[j:j+1], positions[axis][t], invFreq[j:j+1], scaleCos, scaleSin)
			}
		},
	}
	if nonTemporal {
		o.Align = 64
	}
	return o, rows(o, tokens, stride, len(invFreq))
}

// axisRow is CosSinAxisRow, which leaves the entries of other axes as they are.
func axisRow(r *rand.Rand, impl kernels.Implementation, axis uint8, position int32, invFreq []float64) (*operations.Operation, *operations.Problem) {
	axes := randomAxes(r, len(invFreq), 3)
	scaleCos, scaleSin := testkit.RandomScales(r)
	o := &operations.Operation{
		Name:   fmt.Sprintf("position %d, axis %d of %d, frequencies %x", position, axis, axes, invFreq),
		Slices: cosAndSin(),
		Call: func(_ kernels.Implementation, a *operations.Arguments) {
			var block kernels.AxesBlock
			block.Set(impl, invFreq, axes)
			kernels.CosSinAxisRow(impl, operations.Elements[float32](a, "cos"), operations.Elements[float32](a, "sin"), &block, int(axis), float64(position), scaleCos, scaleSin)
		},
		Define: func(row *operations.Arguments) {
			cos, sin := operations.Elements[float32](row, "cos"), operations.Elements[float32](row, "sin")
			for j, of := range axes {
				if of == axis {
					generic.CosSinExact(cos[j:j+1], sin[j:j+1], position, invFreq[j:j+1], scaleCos, scaleSin)
				}
			}
		},
	}
	return o, rows(o, 1, 0, len(invFreq))
}

func TestCosSinAxisRow(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(7)
		for range testkit.Rounds(5) {
			for n := range kernels.Width + 1 {
				position := testkit.OneOf(r, []int32{0, 1, math.MinInt32, math.MaxInt32, int32(r.Uint32()) >> r.IntN(32)})
				o, p := axisRow(r, impl, uint8(r.IntN(4)), position, randomFrequencies(r, n, []int32{position}))
				o.TryOn(t, r, p, operations.Padded(r, o), impl)
			}
		}
	})
}

func TestCosSinAxesRows(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(8)
		pictures := func() [][]int32 {
			first := testkit.OneOf(r, []int32{0, 1, -3, 100, 5000, math.MinInt32, math.MaxInt32 - 50, int32(r.Uint32()) >> (1 + r.IntN(31))})
			return image(first, 1+r.IntN(3), 1+r.IntN(50))
		}
		apart := func() (positions [][]int32) { // each axis for itself
			tokens := 1 + r.IntN(40)
			for range 1 + r.IntN(4) {
				positions = append(positions, testkit.RandomPositions(r, testkit.OneOf(r, testkit.PositionNames), tokens))
			}
			return positions
		}
		for range testkit.Rounds(4) {
			for _, n := range testkit.BlockLengths {
				for _, make := range []func() [][]int32{pictures, apart} {
					positions := make()
					o, p := axesRows(r, impl, positions, randomFrequencies(r, n, positions[r.IntN(len(positions))]), n+r.IntN(2)*r.IntN(70), r.IntN(2) == 0)
					if r.IntN(2) == 0 {
						o.Align = 0
					}
					o.TryOn(t, r, p, operations.Padded(r, o), impl)
				}
			}
		}
	})
}

func TestCosSinExactRow(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(4)
		for range testkit.Rounds(20) {
			for n := range kernels.Width + 1 {
				for _, position := range []int32{0, 1, math.MinInt32, math.MaxInt32, int32(r.Uint32()) >> r.IntN(32)} {
					o, p := exactRow(r, impl, position, randomFrequencies(r, n, []int32{position}))
					o.TryOn(t, r, p, operations.Padded(r, o), impl)
				}
			}
		}
	})
}

func TestCosSinExactRows(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(5)
		for _, kind := range testkit.PositionNames {
			try := func(count, n, stride int, nonTemporal, aligned bool) {
				positions := testkit.RandomPositions(r, kind, count)
				o, p := exactRows(r, impl, positions, randomFrequencies(r, n, positions), stride, nonTemporal)
				if !aligned {
					o.Align = 0
				}
				o.TryOn(t, r, p, operations.Padded(r, o), impl)
			}
			for range testkit.Rounds(10) {
				for _, n := range testkit.BlockLengths {
					try(testkit.OneOf(r, append(testkit.TokenCounts, 4, 5, 31, 32, 65, 100)), n, n+r.IntN(2)*r.IntN(70), r.IntN(2) == 0, false)
				}
			}
			// Rows whose alignment lets them be stored by non-temporal stores.
			for n := 16; n <= kernels.Width; n += 16 {
				for _, gap := range []int{0, 16, 64} {
					try(70, n, n+gap, true, true)
				}
			}
		}
	})
}

// float32Row is CosSinFloat32 for angles that change fills.
func float32Row(r *rand.Rand, n int, change func(angles []float32)) (*operations.Operation, *operations.Problem) {
	position := testkit.OneOf(r, []float32{1, 0, -1, 2, 1 << 20, math.MinInt32, r.Float32(), 0x1p-100, float32(math.Inf(1)), float32(math.NaN())})
	scaleCos, scaleSin := testkit.RandomScales(r)
	o := &operations.Operation{
		Name:   fmt.Sprintf("position %v", position),
		Slices: append(cosAndSin(), operations.Slice{Name: "angles", Element: operations.F32}),
		Call: func(impl kernels.Implementation, a *operations.Arguments) {
			kernels.CosSinFloat32(impl, operations.Elements[float32](a, "cos"), operations.Elements[float32](a, "sin"), operations.Elements[float32](a, "angles"), position, scaleCos, scaleSin)
		},
		Define: func(row *operations.Arguments) {
			generic.CosSinFloat32(operations.Elements[float32](row, "cos"), operations.Elements[float32](row, "sin"), operations.Elements[float32](row, "angles"), position, scaleCos, scaleSin)
		},
	}
	p := rows(o, 1, 0, n)
	p.Prepare = func(_ *rand.Rand, a *operations.Arguments) { change(operations.Elements[float32](a, "angles")) }
	return o, p
}

func TestCosSinFloat32(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(6)
		for range testkit.Rounds(20) {
			for n := range 131 {
				o, p := float32Row(r, n, func(angles []float32) { randomAngles(r, angles) })
				o.TryOn(t, r, p, operations.Padded(r, o), impl)
			}
		}
	})
}

// randomAngles changes random numbers to angles below the limit of the fast path, on both
// sides of it and hard ones.
func randomAngles(r *rand.Rand, angles []float32) {
	for i := range angles {
		switch r.IntN(4) {
		case 0:
			angles[i] = math.Float32frombits(testkit.OneOf(r, testkit.HardAngles) | r.Uint32()&(1<<31))
		case 1: // below the limit, so that whole rows take the fast path
			angles[i] = float32(math.Ldexp(r.Float64()*2-1, r.IntN(49)))
		}
	}
	kind := r.IntN(4)
	for i, a := range angles {
		switch {
		case kind == 0: // on both sides of the limit, and not far from it
			angles[i] = float32(math.Ldexp(math.Copysign(1+r.Float64(), float64(a)), 48+r.IntN(4)))
		case kind > 1 && !(math.Abs(float64(a)) < 0x1p49):
			angles[i] = r.Float32()
		}
	}
}

// sinusoidalRows is SinusoidalRows, the sines before the cosines.
func sinusoidalRows(r *rand.Rand, impl kernels.Implementation, positions []int32, pairs int) (*operations.Operation, *operations.Problem) {
	invFreq := randomFrequencies(r, pairs, positions)
	scale := []float32{1, 22.627417, 0} // that of a model of 512 channels, and anything
	testkit.FillRandom(r, scale[2:])
	s := kernels.Sinusoids{Stride: 2*pairs + r.IntN(2)*r.IntN(70), Interleaved: r.IntN(2) == 0, Scale: testkit.OneOf(r, scale)}
	s.Add = !s.Interleaved || r.IntN(2) == 0
	s.Scaling, _ = testkit.RandomScales(r)
	o := &operations.Operation{
		Name:   fmt.Sprintf("positions %d, %+v, frequencies %x", positions, s, invFreq),
		Slices: []operations.Slice{{Name: "x", Element: operations.F32, Written: true}},
		Call: func(_ kernels.Implementation, a *operations.Arguments) {
			var blocks []kernels.Block
			for part := range slices.Chunk(invFreq, kernels.Width) {
				blocks = append(blocks, kernels.Block{})
				blocks[len(blocks)-1].Set(part)
			}
			shifts := make([]kernels.Shift, len(blocks))
			for i := range shifts {
				shifts[i].Set(impl, &blocks[i])
			}
			to, x := s, operations.Elements[float32](a, "x")
			to.Sin, to.Cos = x, x[pairs:]
			kernels.SinusoidalRows(impl, &to, positions, blocks, shifts)
		},
		Define: func(a *operations.Arguments) {
			cos, sin, row := make([]float32, pairs), make([]float32, pairs), make([]float32, 2*pairs)
			generic.CosSinExact(cos, sin, positions[int(a.Number["row"])], invFreq, s.Scaling, s.Scaling)
			for i := range pairs {
				if s.Interleaved {
					row[2*i], row[2*i+1] = sin[i], cos[i]
				} else {
					row[i], row[pairs+i] = sin[i], cos[i]
				}
			}
			if x := operations.Elements[float32](a, "x"); s.Add {
				generic.AddScaledF32(x, row, s.Scale)
			} else {
				copy(x, row)
			}
		},
	}
	return o, rows(o, len(positions), s.Stride, 2*pairs)
}

func TestSinusoidalRows(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(150)
		for _, kind := range testkit.PositionNames {
			for range testkit.Rounds(10) {
				// Of one block and of several.
				for _, pairs := range append([]int{65, 79, 127, 128, 129, 200, kernels.MaxBlocks * kernels.Width}, testkit.BlockLengths...) {
					o, p := sinusoidalRows(r, impl, testkit.RandomPositions(r, kind, testkit.OneOf(r, append(testkit.TokenCounts, 4, 5, 31, 32, 40))), pairs)
					o.TryOn(t, r, p, operations.Padded(r, o), impl)
				}
			}
		}
	})
}
