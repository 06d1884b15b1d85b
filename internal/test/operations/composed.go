package operations

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/kernels"
)

// Composed is a function that calls operations which are no loop over rows, and does what they leave
// undone. With rows of up to Longest elements, pairs or frequencies it is an operation whose rows
// generic defines.
type Composed struct {
	Name    string
	Longest int
	Problem func(r *rand.Rand, impl kernels.Implementation, n int) (*Operation, *Problem)
}

// ComposedFunctions lists all of them.
func ComposedFunctions(longest int) []Composed {
	anywhere := func(r *rand.Rand) int32 { return int32(r.Uint32()) >> r.IntN(32) }
	list := []Composed{
		{Name: "CosSinExactRow", Longest: kernels.Width, Problem: func(r *rand.Rand, impl kernels.Implementation, n int) (*Operation, *Problem) {
			position := anywhere(r)
			return ExactRow(r, impl, position, RandomFrequencies(r, n, []int32{position}))
		}},
		{Name: "SinusoidalRows", Longest: longest, Problem: func(r *rand.Rand, impl kernels.Implementation, n int) (*Operation, *Problem) {
			return SinusoidalRows(r, impl, kit.RandomPositions(r, kit.OneOf(r, kit.PositionNames), 5), max(1, n))
		}},
	}
	for _, nonTemporal := range []bool{false, true} {
		list = append(list, Composed{Name: "CosSinAxesRows", Longest: kernels.Width, Problem: func(r *rand.Rand, impl kernels.Implementation, n int) (*Operation, *Problem) {
			return AxesRows(r, impl, Image(5, 3, 2), kit.RandomFrequencies(r, n, []int32{7}, n%2 == 0), n, nonTemporal)
		}})
	}
	list = append(list, Composed{Name: "CosSinAxisRow", Longest: kernels.Width, Problem: func(r *rand.Rand, impl kernels.Implementation, n int) (*Operation, *Problem) {
		position := anywhere(r)
		return AxisRow(r, impl, 1, position, RandomFrequencies(r, n, []int32{position}))
	}})
	list = append(list, Composed{Name: "CosSinFloat32Rows", Longest: kernels.Width, Problem: func(r *rand.Rand, impl kernels.Implementation, n int) (*Operation, *Problem) {
		return Float32Rows(r, impl, []int32{26, 27, 28, 29, 30, 31, 32, 33, 7}, Float32Frequencies(r, n), n)
	}})
	for _, yes := range []bool{false, true} {
		list = append(list, Composed{Name: "CosSinFloat32", Longest: longest, Problem: func(r *rand.Rand, impl kernels.Implementation, n int) (*Operation, *Problem) {
			return Float32Row(r, n, func(angles []float32) {
				for i := range angles {
					if yes { // the fast path is for those
						angles[i] = 100 * r.Float32()
					}
				}
			})
		}})
		for _, rows := range []int{6, 9} { // runs of 6, of 2 and of 1
			list = append(list, Composed{Name: "CosSinExactRows", Longest: kernels.Width, Problem: func(r *rand.Rand, impl kernels.Implementation, n int) (*Operation, *Problem) {
				positions := []int32{26, 27, 28, 29, 30, 31, 32, 33, 7}[:rows]
				return ExactRows(r, impl, positions, kit.RandomFrequencies(r, n, positions, n%2 == 0), n, yes)
			}})
		}
	}
	return list
}

// rows returns a problem of rows of n elements, stride apart in every slice.
func rows(o *Operation, count, stride, n int) *Problem {
	p := &Problem{Size: map[string]int{}}
	for _, s := range o.Slices {
		p.Size[s.Name] = (count-1)*stride + n
	}
	p.Split = func(a *Arguments) (list []*Arguments) {
		for i := range count {
			row := &Arguments{Memory: map[string][]byte{}, Number: map[string]float64{"row": float64(i)}}
			for _, s := range o.Slices {
				o.Cut(row, a, s.Name, s.Name, i*stride, n)
			}
			list = append(list, row)
		}
		return list
	}
	return p
}

// RandomFrequencies returns n at positions, hard ones and large ones now and then.
func RandomFrequencies(r *rand.Rand, n int, positions []int32) []float64 {
	invFreq := kit.RandomFrequencies(r, n, positions, r.IntN(2) == 0)
	r.Shuffle(n, func(i, j int) { invFreq[i], invFreq[j] = invFreq[j], invFreq[i] }) // hard ones in any lane
	if n > 0 && r.IntN(8) == 0 {
		invFreq[r.IntN(n)] = kit.LargeFrequency(r, positions[0])
	}
	return invFreq
}

func cosAndSin() []Slice {
	return []Slice{{Name: "cos", Element: F32, Written: true}, {Name: "sin", Element: F32, Written: true}}
}

// ExactRow is CosSinExactRow.
func ExactRow(r *rand.Rand, impl kernels.Implementation, position int32, invFreq []float64) (*Operation, *Problem) {
	return cosSinRows(r, []int32{position}, invFreq, len(invFreq), func(cos, sin []float32, block *kernels.Block, scaleCos, scaleSin float32) {
		kernels.CosSinExactRow(impl, cos, sin, float64(position), block, scaleCos, scaleSin)
	})
}

// ExactRows is CosSinExactRows.
func ExactRows(r *rand.Rand, impl kernels.Implementation, positions []int32, invFreq []float64, stride int, nonTemporal bool) (*Operation, *Problem) {
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

func cosSinRows(r *rand.Rand, positions []int32, invFreq []float64, stride int, call func(cos, sin []float32, block *kernels.Block, scaleCos, scaleSin float32)) (*Operation, *Problem) {
	scaleCos, scaleSin := kit.RandomScales(r)
	o := &Operation{
		Name:   fmt.Sprintf("positions %d, stride %d, %d frequencies %x", positions, stride, len(invFreq), invFreq),
		Slices: cosAndSin(),
		Call: func(_ kernels.Implementation, a *Arguments) {
			var block kernels.Block
			block.Set(invFreq)
			call(Elements[float32](a, "cos"), Elements[float32](a, "sin"), &block, scaleCos, scaleSin)
		},
		Define: func(row *Arguments) {
			generic.CosSinExact(Elements[float32](row, "cos"), Elements[float32](row, "sin"), positions[int(row.Number["row"])], invFreq, scaleCos, scaleSin)
		},
	}
	return o, rows(o, len(positions), stride, len(invFreq))
}

// Image is the positions, [axes][tokens], of a picture: of time first, of its lines and columns.
func Image(first int32, height, width int) (positions [][]int32) {
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

// AxesRows is CosSinAxesRows.
func AxesRows(r *rand.Rand, impl kernels.Implementation, positions [][]int32, invFreq []float64, stride int, nonTemporal bool) (*Operation, *Problem) {
	axes, tokens := randomAxes(r, len(invFreq), len(positions)), len(positions[0])
	scaleCos, scaleSin := kit.RandomScales(r)
	o := &Operation{
		Name:   fmt.Sprintf("positions %d, axes %d, stride %d, frequencies %x", positions, axes, stride, invFreq),
		Slices: cosAndSin(),
		Call: func(_ kernels.Implementation, a *Arguments) {
			var block kernels.AxesBlock
			block.Set(impl, invFreq, axes)
			kernels.CosSinAxesRows(impl, Elements[float32](a, "cos"), Elements[float32](a, "sin"), stride, slices.Concat(positions...), tokens, tokens, &block, scaleCos, scaleSin, nonTemporal)
		},
		Define: func(row *Arguments) {
			cos, sin, t := Elements[float32](row, "cos"), Elements[float32](row, "sin"), int(row.Number["row"])
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

// AxisRow is CosSinAxisRow, which leaves the entries of other axes as they are.
func AxisRow(r *rand.Rand, impl kernels.Implementation, axis uint8, position int32, invFreq []float64) (*Operation, *Problem) {
	axes := randomAxes(r, len(invFreq), 3)
	scaleCos, scaleSin := kit.RandomScales(r)
	o := &Operation{
		Name:   fmt.Sprintf("position %d, axis %d of %d, frequencies %x", position, axis, axes, invFreq),
		Slices: cosAndSin(),
		Call: func(_ kernels.Implementation, a *Arguments) {
			var block kernels.AxesBlock
			block.Set(impl, invFreq, axes)
			kernels.CosSinAxisRow(impl, Elements[float32](a, "cos"), Elements[float32](a, "sin"), &block, int(axis), float64(position), scaleCos, scaleSin)
		},
		Define: func(row *Arguments) {
			cos, sin := Elements[float32](row, "cos"), Elements[float32](row, "sin")
			for j, of := range axes {
				if of == axis {
					generic.CosSinExact(cos[j:j+1], sin[j:j+1], position, invFreq[j:j+1], scaleCos, scaleSin)
				}
			}
		},
	}
	return o, rows(o, 1, 0, len(invFreq))
}

// Float32Row is CosSinFloat32 for angles that change fills.
func Float32Row(r *rand.Rand, n int, change func(angles []float32)) (*Operation, *Problem) {
	position := kit.OneOf(r, []float32{1, 0, -1, 2, 1 << 20, math.MinInt32, r.Float32(), 0x1p-100, float32(math.Inf(1)), float32(math.NaN())})
	scaleCos, scaleSin := kit.RandomScales(r)
	o := &Operation{
		Name:   fmt.Sprintf("position %v", position),
		Slices: append(cosAndSin(), Slice{Name: "angles", Element: F32}),
		Call: func(impl kernels.Implementation, a *Arguments) {
			kernels.CosSinFloat32(impl, Elements[float32](a, "cos"), Elements[float32](a, "sin"), Elements[float32](a, "angles"), position, scaleCos, scaleSin)
		},
		Define: func(row *Arguments) {
			generic.CosSinFloat32(Elements[float32](row, "cos"), Elements[float32](row, "sin"), Elements[float32](row, "angles"), position, scaleCos, scaleSin)
		},
	}
	p := rows(o, 1, 0, n)
	p.Prepare = func(_ *rand.Rand, a *Arguments) { change(Elements[float32](a, "angles")) }
	return o, p
}

// RandomAngles changes random numbers to angles below the limit of the fast path, on both
// sides of it and hard ones.
func RandomAngles(r *rand.Rand, angles []float32) {
	for i := range angles {
		switch r.IntN(4) {
		case 0:
			angles[i] = math.Float32frombits(kit.OneOf(r, kit.HardAngles) | r.Uint32()&(1<<31))
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

// SinusoidalRows is SinusoidalRows, the sines before the cosines.
func SinusoidalRows(r *rand.Rand, impl kernels.Implementation, positions []int32, pairs int) (*Operation, *Problem) {
	invFreq := RandomFrequencies(r, pairs, positions)
	scale := []float32{1, 22.627417, 0} // that of a model of 512 channels, and anything
	kit.FillRandom(r, scale[2:])
	s := kernels.Sinusoids{Stride: 2*pairs + r.IntN(2)*r.IntN(70), Interleaved: r.IntN(2) == 0, Scale: kit.OneOf(r, scale)}
	s.Add = !s.Interleaved || r.IntN(2) == 0
	s.Scaling, _ = kit.RandomScales(r)
	o := &Operation{
		Name:   fmt.Sprintf("positions %d, %+v, frequencies %x", positions, s, invFreq),
		Slices: []Slice{{Name: "x", Element: F32, Written: true}},
		Call: func(_ kernels.Implementation, a *Arguments) {
			var blocks []kernels.Block
			for part := range slices.Chunk(invFreq, kernels.Width) {
				blocks = append(blocks, kernels.Block{})
				blocks[len(blocks)-1].Set(part)
			}
			shifts := make([]kernels.Shift, len(blocks))
			for i := range shifts {
				shifts[i].Set(impl, &blocks[i])
			}
			to, x := s, Elements[float32](a, "x")
			to.Sin, to.Cos = x, x[pairs:]
			kernels.SinusoidalRows(impl, &to, positions, blocks, shifts)
		},
		Define: func(a *Arguments) {
			cos, sin, row := make([]float32, pairs), make([]float32, pairs), make([]float32, 2*pairs)
			generic.CosSinExact(cos, sin, positions[int(a.Number["row"])], invFreq, s.Scaling, s.Scaling)
			for i := range pairs {
				if s.Interleaved {
					row[2*i], row[2*i+1] = sin[i], cos[i]
				} else {
					row[i], row[pairs+i] = sin[i], cos[i]
				}
			}
			if x := Elements[float32](a, "x"); s.Add {
				generic.AddScaledF32(x, row, s.Scale)
			} else {
				copy(x, row)
			}
		},
	}
	return o, rows(o, len(positions), s.Stride, 2*pairs)
}

// Float32Rows is CosSinFloat32Rows.
func Float32Rows(r *rand.Rand, impl kernels.Implementation, positions []int32, invFreq []float32, stride int) (*Operation, *Problem) {
	scaleCos, scaleSin := kit.RandomScales(r)
	var block kernels.Float32Block
	block.Set(impl, invFreq)
	o := &Operation{
		Name:   fmt.Sprintf("positions %d, stride %d, frequencies %x", positions, stride, invFreq),
		Slices: cosAndSin(),
		Call: func(_ kernels.Implementation, a *Arguments) {
			kernels.CosSinFloat32Rows(impl, Elements[float32](a, "cos"), Elements[float32](a, "sin"), stride, positions, &block, scaleCos, scaleSin)
		},
		Define: func(row *Arguments) {
			position := float32(positions[int(row.Number["row"])])
			generic.CosSinFloat32(Elements[float32](row, "cos"), Elements[float32](row, "sin"), invFreq, position, scaleCos, scaleSin)
		},
	}
	return o, rows(o, len(positions), stride, len(invFreq))
}

// Float32Frequencies returns n that angles of float32 share work for, others now and then.
func Float32Frequencies(r *rand.Rand, n int) []float32 {
	base := math.Exp2(30 * r.Float64())
	invFreq := make([]float32, n)
	for i := range invFreq {
		invFreq[i] = float32(math.Pow(base, -float64(i)/float64(n)) * float64(1-2*r.IntN(2)))
	}
	if n > 0 && r.IntN(4) == 0 {
		invFreq[r.IntN(n)] = kit.OneOf(r, []float32{0, 3, 1e-36, 1e-44, 1e20, float32(math.Inf(1)), float32(math.NaN())})
	}
	return invFreq
}
