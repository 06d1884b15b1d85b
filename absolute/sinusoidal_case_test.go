package absolute_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/kernels"
)

var (
	_ = kit.Register(kit.Case{Function: "NewSinusoidal",
		Call: func(a *kit.Arguments) kit.Call {
			cfg := configOf(a, math.MaxInt)
			return kit.Call{
				Run:       func() error { return kit.Made(absolute.NewSinusoidal(cfg)) },
				Right:     func() bool { return configRight(cfg) },
				Allocates: kit.Constructed,
			}
		},
		Digests: func(add kit.AddDigest) {
			add("NewSinusoidal", func(d *kit.Digest) {
				for order := range absolute.CosThenSin + 1 {
					digestEncoding(d, digestSinusoidal(d, order))
				}
			})
		},
	})
	_ = kit.Register(kit.Case{Function: "SinusoidalRows", NonTemporal: true,
		Call: func(a *kit.Arguments) kit.Call {
			if a.Yes() {
				return kit.OfType(a, rowsCall[float32, int32], rowsCall[posenc.Float16, int32], rowsCall[posenc.BFloat16, int32])(a)
			}
			return kit.OfType(a, rowsCall[float32, float32], rowsCall[posenc.Float16, float32], rowsCall[posenc.BFloat16, float32])(a)
		},
		Digests: func(add kit.AddDigest) {
			add.Types("SinusoidalRows/positions=int32", digestRows(absolute.SinusoidalRows[float32, int32]), digestRows(absolute.SinusoidalRows[posenc.Float16, int32]), digestRows(absolute.SinusoidalRows[posenc.BFloat16, int32]))
			add.Types("SinusoidalRows/positions=float32", digestRows(absolute.SinusoidalRows[float32, float32]), digestRows(absolute.SinusoidalRows[posenc.Float16, float32]), digestRows(absolute.SinusoidalRows[posenc.BFloat16, float32]))
		},
	})
	_ = kit.Register(kit.Case{Function: "AddSinusoidal",
		Call: func(a *kit.Arguments) kit.Call {
			if a.Yes() {
				return kit.OfType(a, addCall[float32, int32], addCall[posenc.Float16, int32], addCall[posenc.BFloat16, int32])(a)
			}
			return kit.OfType(a, addCall[float32, float32], addCall[posenc.Float16, float32], addCall[posenc.BFloat16, float32])(a)
		},
		Digests: func(add kit.AddDigest) {
			add.Types("AddSinusoidal/positions=int32", digestRows(adding[float32, int32]), digestRows(adding[posenc.Float16, int32]), digestRows(adding[posenc.BFloat16, int32]))
			add.Types("AddSinusoidal/positions=float32", digestRows(adding[float32, float32]), digestRows(adding[posenc.Float16, float32]), digestRows(adding[posenc.BFloat16, float32]))
		},
	})
	_ = kit.Register(kit.Case{Function: "SinusoidalRows64",
		Call: func(a *kit.Arguments) kit.Call {
			if a.Yes() {
				return rows64Call[int32](a)
			}
			return rows64Call[float32](a)
		},
		Digests: func(add kit.AddDigest) {
			zeros := func(_ *kit.Digest, n int) []float64 { return make([]float64, n) }
			add("SinusoidalRows64/positions=int32", digestTokens([]int{3}, zeros, absolute.SinusoidalRows64[int32]))
			add("SinusoidalRows64/positions=float32", digestTokens([]int{3}, zeros, absolute.SinusoidalRows64[float32]))
		},
	})
	_ = kit.Register(kit.Case{Function: "Sinusoidal.Shift",
		Call:    shiftCall,
		OnStack: func() error { return errors.Join(callsOnStack[float32](), callsOnStack[posenc.BFloat16]()) },
		Long:    longCalls,
		Digests: func(add kit.AddDigest) {
			add("Sinusoidal.Shift", digestTokens([]int{12}, kit.DigestElements[float32], func(rows []float32, s *absolute.Sinusoidal, deltas []int32) error {
				return s.Shift(rows, deltas)
			}))
		},
	})
	_ = kit.Register(kit.Case{Function: "Sinusoidal.ShiftMatrix",
		Call: shiftMatrixCall,
		Digests: func(add kit.AddDigest) {
			add("Sinusoidal.ShiftMatrix", func(d *kit.Digest) {
				for order := range absolute.CosThenSin + 1 {
					e := digestSinusoidal(d, order)
					matrix := make([]float32, e.cfg.Dim*e.cfg.Dim)
					d.Must(e.ShiftMatrix(matrix, d.Positions(e.cfg.Axes)))
					d.Add(matrix)
				}
			})
		},
	})
)

func must(s *absolute.Sinusoidal, err error) *absolute.Sinusoidal {
	if err != nil {
		panic(err)
	}
	return s
}

var vaswani8, vaswani96, marian96 = must(absolute.Vaswani(8)), must(absolute.Vaswani(96)), must(absolute.Marian(96))

// callsOnStack calls every function that takes slices.
func callsOnStack[T posenc.Element]() error {
	var x [40 * 96]T
	var table [9 * 96]T
	var positions, deltas [40]int32
	var indices [96]int32
	var times [40]float32
	var mask [40]bool
	var rows, src [40 * 96]float32
	var rows64 [3 * 8]float64
	embedding := absolute.Embedding[T]{Table: table[:], IDs: positions[:], Offset: 2}
	grid := absolute.InterpolateGridOptions{DstHeight: 3, DstWidth: 2, SrcHeight: 5, SrcWidth: 4}
	return errors.Join(
		absolute.SinusoidalRows(x[:], vaswani96, positions[:]), absolute.SinusoidalRows(x[:], marian96, positions[:]),
		absolute.SinusoidalRows(x[:], marian96, times[:]), absolute.SinusoidalRows(x[:96], vaswani96, times[:1]),
		absolute.AddSinusoidal(x[:], vaswani96, positions[:], 2), absolute.AddSinusoidal(x[:], marian96, positions[:], 2),
		absolute.AddSinusoidal(x[:], marian96, times[:], 2), absolute.AddSinusoidal(x[:96], vaswani96, times[:1], 2),
		absolute.SinusoidalRows64(rows64[:], vaswani8, positions[:3]),
		marian96.Shift(rows[:], deltas[:]), vaswani96.Shift(rows[:96], deltas[:1]), vaswani8.ShiftMatrix(rows[:64], deltas[:1]),
		absolute.AddEmbeddings(x[:], 96, embedding, embedding), absolute.AddEmbeddings(rows[:], 96, embedding),
		absolute.InterpolateTable(rows[:40], src[:24], 8), absolute.GridWeights(indices[:], rows[:96], grid),
		absolute.PaddedPositions(positions[:], mask[:], 1),
		absolute.DETRPositions(rows[:80], mask[:], absolute.DETRPositionsOptions{Height: 5, Width: 8, NormalizeTo: 2 * math.Pi}))
}

// longCalls is for rows as long as they may be, and many.
func longCalls() error {
	const dim, wide, many = 1 << 16, kernels.MaxCallElements + 5, 1000
	s := must(absolute.NewSinusoidal(absolute.SinusoidalConfig{Dim: dim, InvFreq: make([]float64, dim/2)}))
	ids, rows, halves := make([]int32, many), make([]float32, 40*dim), make([]posenc.Float16, 40*dim)
	return errors.Join(
		absolute.SinusoidalRows(rows, s, ids[:40]), s.Shift(rows, ids[:40]),
		absolute.AddSinusoidal(rows, s, ids[:40], 1), absolute.AddSinusoidal(halves, s, ids[:40], 1),
		absolute.AddEmbeddings(rows[:2*wide], wide, absolute.Embedding[float32]{Table: make([]float32, wide), IDs: ids[:2]}),
		absolute.AddEmbeddings(rows[:500*many], 500, absolute.Embedding[float32]{Table: make([]float32, 500), IDs: ids}),
		absolute.AddEmbeddings(halves[:2*wide], wide, absolute.Embedding[float32]{Table: make([]float32, wide), IDs: ids[:2]}),
		absolute.AddEmbeddings(rows[:2*wide], wide, absolute.Embedding[posenc.Float16]{Table: make([]posenc.Float16, wide), IDs: ids[:2]}))
}

// plainRow is the row of a token at a position on each axis, element by element.
func plainRow(cfg absolute.SinusoidalConfig, positions []float64) []float32 {
	n, scaling := len(cfg.InvFreq), float32(cfg.Amplitude)
	if scaling == 0 {
		scaling = 1
	}
	row := make([]float32, max(cfg.Dim, 2*len(positions)*n))
	if cfg.Padding != nil && positions[0] == float64(*cfg.Padding) {
		return row[:cfg.Dim]
	}
	for axis, p := range positions {
		for k, w := range cfg.InvFreq {
			var cos, sin [1]float32
			generic.CosSinExactAt(cos[:], sin[:], p, []float64{w}, scaling, scaling)
			sinAt, cosAt := plainPlaces(cfg.Order, n, k)
			row[2*n*axis+sinAt], row[2*n*axis+cosAt] = sin[0], cos[0]
		}
	}
	return row[:cfg.Dim]
}

// plainPlaces returns where the sine and the cosine of frequency k of n are.
func plainPlaces(order absolute.SinusoidalOrder, n, k int) (sin, cos int) {
	switch order {
	case absolute.SinCosInterleaved:
		return 2 * k, 2*k + 1
	case absolute.SinThenCos:
		return k, n + k
	}
	return n + k, k
}

// tokensCall is a call of write for the rows of tokens. want does it to one of them, at a position
// on each axis.
func tokensCall[X any, P absolute.Position](a *kit.Arguments, e *encoding, right bool, write func(rows []X, positions []P) error, want func(row []X, at []float64)) kit.Call {
	positions, tokens := positionsOf[P](a, e)
	rows := kit.Output[X](a, e.rowElements(a, tokens))
	return kit.Call{
		Run:   func() error { return write(rows, positions) },
		Right: func() bool { return right && rowsRight(e, rows, positions) },
		Want: func() {
			for t := range len(positions) / e.cfg.Axes {
				want(rows[t*e.cfg.Dim:][:e.cfg.Dim], positionOf(e, positions, t))
			}
		},
		Parts: kit.RowParts([][]X{rows}, []int{e.cfg.Dim}, tokens, func(x [][]X, tokens []int) error {
			return write(x[0], kit.PickAxes(positions, e.cfg.Axes, tokens))
		}),
	}
}

func rowsCall[T posenc.Element, P absolute.Position](a *kit.Arguments) kit.Call {
	e := encodingOf(a, math.MaxInt)
	write := func(dst []T, positions []P) error { return absolute.SinusoidalRows(dst, e.Sinusoidal, positions) }
	return tokensCall(a, &e, true, write, func(row []T, at []float64) {
		for i, v := range plainRow(e.cfg, at) {
			row[i] = kit.Narrow[T](v)
		}
	})
}

func addCall[T posenc.Element, P absolute.Position](a *kit.Arguments) kit.Call {
	e := encodingOf(a, math.MaxInt)
	scale := []float32{1, 22.627417, -0.3, 0}[a.Below(4)]
	if a.Any() {
		scale = float32(a.Real(1))
	}
	write := func(x []T, positions []P) error { return absolute.AddSinusoidal(x, e.Sinusoidal, positions, scale) }
	return tokensCall(a, &e, math.Abs(float64(scale)) <= math.MaxFloat32, write, func(row []T, at []float64) {
		for i, v := range plainRow(e.cfg, at) {
			row[i] = kit.Narrow[T](float32(kit.Widen(row[i])*scale) + v)
		}
	})
}

func rows64Call[P absolute.Position](a *kit.Arguments) kit.Call {
	e := encodingOf(a, 9)
	write := func(dst []float64, positions []P) error {
		return absolute.SinusoidalRows64(dst, e.Sinusoidal, positions)
	}
	return tokensCall(a, &e, true, write, func(row []float64, at []float64) {
		clear(row)
		if e.cfg.Padding != nil && at[0] == float64(*e.cfg.Padding) {
			return
		}
		for axis, p := range at {
			for k, w := range e.cfg.InvFreq {
				var cos, sin [1]float64
				generic.CosSinExactF64(cos[:], sin[:], p, []float64{w})
				sinAt, cosAt := plainPlaces(e.cfg.Order, len(e.cfg.InvFreq), k)
				for place, v := range map[int]float64{sinAt: sin[0], cosAt: cos[0]} {
					if i := 2*len(e.cfg.InvFreq)*axis + place; i < len(row) {
						row[i] = v * float64(float32(e.cfg.Amplitude))
					}
				}
			}
		}
	})
}

// complete reports whether each sine has a cosine.
func (e *encoding) complete() bool { return e.cfg.Dim >= 2*e.cfg.Axes*len(e.cfg.InvFreq) }

// completed returns an encoding that is complete; where any arguments are wanted also
// another.
func completed(a *kit.Arguments, most int) encoding {
	for {
		if e := encodingOf(a, most); a.Any() || e.complete() {
			return e
		}
	}
}

// eachPair calls f with where the sine and the cosine of each pair of a row are, and
// the sine and the cosine of what it is shifted by.
func (e *encoding) eachPair(deltas []float64, f func(sin, cos int, sinDelta, cosDelta float32)) {
	n := len(e.cfg.InvFreq)
	for axis, delta := range deltas {
		for k, w := range e.cfg.InvFreq {
			var cos, sin [1]float32
			generic.CosSinExactAt(cos[:], sin[:], delta, []float64{w}, 1, 1)
			sinAt, cosAt := plainPlaces(e.cfg.Order, n, k)
			f(2*n*axis+sinAt, 2*n*axis+cosAt, sin[0], cos[0])
		}
	}
}

func shiftCall(a *kit.Arguments) kit.Call {
	e := completed(a, math.MaxInt)
	shift := func(rows []float32, deltas []int32) error { return e.Shift(rows, deltas) }
	return tokensCall(a, &e, e.complete(), shift, func(row []float32, by []float64) {
		e.eachPair(by, func(s, c int, sinDelta, cosDelta float32) {
			row[s], row[c] = float32(row[s]*cosDelta)+float32(row[c]*sinDelta), float32(row[c]*cosDelta)-float32(row[s]*sinDelta)
		})
	})
}

func shiftMatrixCall(a *kit.Arguments) kit.Call {
	e := completed(a, 9)
	deltas := kit.Slice[int32](a, e.cfg.Axes)
	a.FillPositions(deltas)
	dim := e.cfg.Dim
	matrix := kit.Output[float32](a, e.rowElements(a, dim))
	return kit.Call{
		Run: func() error { return e.ShiftMatrix(matrix, deltas) },
		Right: func() bool {
			return len(deltas) == e.cfg.Axes && len(matrix) == dim*dim && e.complete() && !kit.Share(matrix, deltas) && rowsRight(&e, make([]byte, dim), deltas)
		},
		Want: func() {
			at := positionOf(&e, deltas, 0)
			clear(matrix)
			e.eachPair(at, func(s, c int, sinDelta, cosDelta float32) {
				matrix[s*dim+s], matrix[s*dim+c] = cosDelta, sinDelta
				matrix[c*dim+s], matrix[c*dim+c] = -sinDelta, cosDelta
			})
		},
	}
}

// Inputs of digests.

// digestSinusoidal returns an encoding with all that a configuration may have.
func digestSinusoidal(d *kit.Digest, order absolute.SinusoidalOrder) encoding {
	padding := int32(1)
	axes, pairs := 1+int(order)%2, 21
	cfg := absolute.SinusoidalConfig{Dim: 2*axes*pairs + int(order), InvFreq: make([]float64, pairs), Order: order, Axes: axes, Padding: &padding}
	for i := range cfg.InvFreq {
		cfg.InvFreq[i] = d.Frequency()
	}
	if order == absolute.CosThenSin {
		cfg.Amplitude = 1.25
	}
	s, err := absolute.NewSinusoidal(cfg)
	d.Must(err)
	return encoding{Sinusoidal: s, cfg: cfg}
}

func adding[T posenc.Element, P absolute.Position](x []T, s *absolute.Sinusoidal, positions []P) error {
	return absolute.AddSinusoidal(x, s, positions, 22.627416)
}

func digestPositions[P absolute.Position](d *kit.Digest, n int) []P {
	var list any = d.Positions(n)
	if _, ok := any(*new(P)).(float32); ok {
		list = append(kit.DigestNumbers[float32](d, n-1), 1)
	}
	return list.([]P)
}

// digestRows writes rows to elements, or adds them.
func digestRows[T posenc.Element, P absolute.Position](write func([]T, *absolute.Sinusoidal, []P) error) func(*kit.Digest) {
	return digestTokens([]int{1, 40}, kit.DigestElements[T], write)
}

func digestTokens[X any, P absolute.Position](counts []int, fill func(*kit.Digest, int) []X, write func([]X, *absolute.Sinusoidal, []P) error) func(*kit.Digest) {
	return func(d *kit.Digest) {
		for order := range absolute.CosThenSin + 1 {
			e := digestSinusoidal(d, order)
			for _, tokens := range counts {
				x := fill(d, tokens*e.cfg.Dim)
				d.Must(write(x, e.Sinusoidal, digestPositions[P](d, tokens*e.cfg.Axes)))
				d.Add(x)
			}
		}
	}
}

// digestEncoding writes the rows of an encoding.
func digestEncoding(d *kit.Digest, e encoding) {
	positions := make([]int32, 20*e.cfg.Axes)
	kit.CountFrom(positions, -1, 1)
	rows := make([]float32, 20*e.cfg.Dim)
	d.Must(absolute.SinusoidalRows(rows, e.Sinusoidal, positions))
	d.Add(rows)
}

// Rows of as many frequencies as there may be.
func TestWideRows(t *testing.T) {
	kit.EachImplementation(t, func(t *testing.T, _ kernels.Implementation) {
		for order := range absolute.CosThenSin + 1 {
			cfg := absolute.SinusoidalConfig{Dim: 1 << 16, InvFreq: kit.LadderOf(1 << 15), Order: order, Axes: 1}
			s, positions := must(absolute.NewSinusoidal(cfg)), []int32{3, 4, 5, 6, 7}
			var want []float32
			for _, p := range positions {
				want = append(want, plainRow(cfg, []float64{float64(p)})...)
			}
			rows, added, shifted, halves := make([]float32, len(want)), make([]float32, len(want)), make([]float32, len(want)), make([]posenc.BFloat16, len(want))
			kit.NoError(t, absolute.SinusoidalRows(rows, s, positions), absolute.AddSinusoidal(added, s, positions, 1), absolute.SinusoidalRows(halves, s, positions),
				absolute.SinusoidalRows(shifted, s, make([]int32, 5)), s.Shift(shifted, positions))
			for i, w := range want {
				if rows[i] != w || added[i] != w || shifted[i] != w || halves[i] != kit.Narrow[posenc.BFloat16](w) {
					t.Fatalf("order %d: element %d is %v, %v added, %v shifted, %v in bfloat16, want %v", order, i, rows[i], added[i], shifted[i], kit.Widen(halves[i]), w)
				}
			}
		}
	})
}

// shiftBound is that of Shift. A row is within 2^-25 of the real numbers and so
// are the cosines and sines of the shift: through a sum of two products that
// makes at most sqrt(2)*2^-25 each. Roundings add 2^-25 for each product and
// 2^-24 for the sum, which may be above 1. Together below 2^-22.2.
const shiftBound = 0x1p-22

// A shifted row is near the row at the new position, and so is its product with the matrix.
func TestSinusoidalShift(t *testing.T) {
	r, padding := kit.NewRand(81), int32(math.MaxInt32)
	for range kit.Rounds(300) {
		cfg := absolute.SinusoidalConfig{InvFreq: make([]float64, 1+r.IntN(150)), Order: absolute.SinusoidalOrder(r.IntN(3)), Axes: 1 + r.IntN(3)}
		for i := range cfg.InvFreq {
			cfg.InvFreq[i] = math.Exp2(-20 * r.Float64())
		}
		cfg.Dim = 2*cfg.Axes*len(cfg.InvFreq) + kit.OneOf(r, []int{0, 1, 5})
		from, deltas, to := make([]int32, cfg.Axes), make([]int32, cfg.Axes), make([]int32, cfg.Axes)
		for i := range from {
			from[i], deltas[i] = int32(r.IntN(1<<30)-1<<29)>>r.IntN(30), int32(r.IntN(1<<30)-1<<29)>>r.IntN(30)
			to[i] = from[i] + deltas[i]
		}
		if cfg.Padding = &padding; r.IntN(8) == 0 {
			from[0], deltas[0], to[0] = padding, 0, padding // zeros stay zeros
		}
		s := kit.Must(absolute.NewSinusoidal(cfg))
		row, want, matrix := make([]float32, cfg.Dim), make([]float32, cfg.Dim), make([]float32, cfg.Dim*cfg.Dim)
		kit.NoError(t, absolute.SinusoidalRows(row, s, from), absolute.SinusoidalRows(want, s, to), s.ShiftMatrix(matrix, deltas))
		shifted := slices.Clone(row)
		kit.NoError(t, s.Shift(shifted, deltas))
		for i, w := range want { // want is within 2^-25 itself, which the bound has to spare
			product := 0.0
			for j, m := range matrix[i*cfg.Dim:][:cfg.Dim] {
				product += float64(m) * float64(row[j])
			}
			if math.Abs(float64(shifted[i])-float64(w)) > shiftBound || math.Abs(product-float64(w)) > shiftBound {
				t.Fatalf("element %d of %+v from %v by %v: shifted %v, by the matrix %v, want %v", i, cfg, from, deltas, shifted[i], product, w)
			}
		}
	}
}
