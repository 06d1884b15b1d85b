package kernels_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// rotation is a kernel that reads X and writes Y, with generic's definition of
// it on pairs in two halves.
type rotation[Y, X testkit.Number] struct {
	operation string
	pairs     posenc.Layout
	kernel    func(impl kernels.Implementation, y []Y, x []X, cos, sin []float32, rows *kernels.Rows)
	define    func(y1, y2 []Y, x1, x2 []X, cos, sin []float32)
	y         *testkit.Numbers[Y]
	x         *testkit.Numbers[X]
}

// rotationTest is a rotation of any types.
type rotationTest interface {
	name() string // of the operation
	layout() posenc.Layout
	inPlace() bool // whether y may be x
	check(t *testing.T, r *rand.Rand, impl kernels.Implementation, rows kernels.Rows, misaligned [4]int)
	checkRounding(t *testing.T, impl kernels.Implementation)
	guard(g *testkit.Guards, impl kernels.Implementation, rows kernels.Rows, inPlace, atEnd bool)
	guardHalves(t *testing.T, r *rand.Rand, impl kernels.Implementation, pairs int, arenas [][]byte)
	// at rotates rows of n elements at an address in place, whatever they are.
	at(impl kernels.Implementation, address unsafe.Pointer, n int, cos, sin []float32, rows *kernels.Rows)
}

// rotations lists the rotations that have kernels.
var rotations = []rotationTest{
	rotation[float32, float32]{"RotateHalfSplitF32", posenc.HalfSplit, kernels.RotateHalfSplitF32, generic.RotateHalfSplitF32, &testkit.Float32Numbers, &testkit.Float32Numbers},
	rotation[uint16, uint16]{"RotateHalfSplitF16", posenc.HalfSplit, kernels.RotateHalfSplitF16, generic.RotateHalfSplitF16, &testkit.Float16Numbers, &testkit.Float16Numbers},
	rotation[uint16, uint16]{"RotateHalfSplitBF16", posenc.HalfSplit, kernels.RotateHalfSplitBF16, generic.RotateHalfSplitBF16, &testkit.Bfloat16Numbers, &testkit.Bfloat16Numbers},
	rotation[uint16, float32]{"RotateHalfSplitF32ToF16", posenc.HalfSplit, kernels.RotateHalfSplitF32ToF16, generic.RotateHalfSplitF32ToF16, &testkit.Float16Numbers, &testkit.Float32Numbers},
	rotation[uint16, float32]{"RotateHalfSplitF32ToBF16", posenc.HalfSplit, kernels.RotateHalfSplitF32ToBF16, generic.RotateHalfSplitF32ToBF16, &testkit.Bfloat16Numbers, &testkit.Float32Numbers},
	rotation[float32, float32]{"RotateInterleavedF32", posenc.Interleaved, kernels.RotateInterleavedF32, generic.RotateHalfSplitF32, &testkit.Float32Numbers, &testkit.Float32Numbers},
	rotation[uint16, uint16]{"RotateInterleavedF16", posenc.Interleaved, kernels.RotateInterleavedF16, generic.RotateHalfSplitF16, &testkit.Float16Numbers, &testkit.Float16Numbers},
	rotation[uint16, uint16]{"RotateInterleavedBF16", posenc.Interleaved, kernels.RotateInterleavedBF16, generic.RotateHalfSplitBF16, &testkit.Bfloat16Numbers, &testkit.Bfloat16Numbers},
	rotation[uint16, float32]{"RotateInterleavedF32ToF16", posenc.Interleaved, kernels.RotateInterleavedF32ToF16, generic.RotateHalfSplitF32ToF16, &testkit.Float16Numbers, &testkit.Float32Numbers},
	rotation[uint16, float32]{"RotateInterleavedF32ToBF16", posenc.Interleaved, kernels.RotateInterleavedF32ToBF16, generic.RotateHalfSplitF32ToBF16, &testkit.Bfloat16Numbers, &testkit.Float32Numbers},
}

func (o rotation[Y, X]) name() string          { return o.operation }
func (o rotation[Y, X]) layout() posenc.Layout { return o.pairs }

func (o rotation[Y, X]) inPlace() bool { return any(o.y) == any(o.x) }

// asY is memory of X as memory of Y, where both are the same type.
func (o rotation[Y, X]) asY(x []X) []Y {
	return unsafe.Slice((*Y)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

func (o rotation[Y, X]) at(impl kernels.Implementation, address unsafe.Pointer, n int, cos, sin []float32, rows *kernels.Rows) {
	o.kernel(impl, unsafe.Slice((*Y)(address), n), unsafe.Slice((*X)(address), n), cos, sin, rows)
}

// rowLength returns the elements from the first to the last of a row.
func rowLength(l posenc.Layout, r *kernels.Rows) int {
	if l == posenc.HalfSplit {
		return r.Partner + r.Pairs
	}
	return 2 * r.Pairs
}

// eachPair is generic's rotation of one pair after another, and marks what it
// touches of y.
func (o rotation[Y, X]) eachPair(y []Y, x []X, cos, sin []float32, rows *kernels.Rows, touched []bool) {
	for t := range rows.Tokens {
		for h := range rows.Heads {
			for i := range rows.Pairs {
				ya, yb := testkit.PairAt(o.pairs, t*rows.YTokenStride+h*rows.YHeadStride, i, rows.Partner)
				xa, xb := testkit.PairAt(o.pairs, t*rows.XTokenStride+h*rows.XHeadStride, i, rows.Partner)
				at := t*rows.TableStride + i
				o.define(y[ya:], y[yb:], x[xa:xa+1], x[xb:], cos[at:], sin[at:])
				touched[ya], touched[yb] = true, true
			}
		}
	}
}

// rotateEachPair is eachPair of float32, in place.
func rotateEachPair(l posenc.Layout, x, cos, sin []float32, rows *kernels.Rows, touched []bool) {
	rotation[float32, float32]{pairs: l, define: generic.RotateHalfSplitF32}.eachPair(x, x, cos, sin, rows, touched)
}

// check compares a rotation with generic on random elements, in place where y
// and x have the same type, strides and start.
func (o rotation[Y, X]) check(t *testing.T, r *rand.Rand, impl kernels.Implementation, rows kernels.Rows, misaligned [4]int) {
	t.Helper()
	extent := func(tokenStride, headStride int) int {
		return (rows.Tokens-1)*tokenStride + (rows.Heads-1)*headStride + rowLength(o.pairs, &rows)
	}
	table := (rows.Tokens-1)*rows.TableStride + rows.Pairs
	x := testkit.NewPaddedOf(r, o.x, extent(rows.XTokenStride, rows.XHeadStride), misaligned[0])
	inPlace := o.inPlace() && rows.YTokenStride == rows.XTokenStride && rows.YHeadStride == rows.XHeadStride && misaligned[0] == misaligned[3]
	y := testkit.NewPaddedOf(r, o.y, extent(rows.YTokenStride, rows.YHeadStride), misaligned[3])
	given := x.Clone()
	if inPlace {
		y.All = o.asY(x.All)
	}
	cos, sin := testkit.NewPadded(r, table, misaligned[1]), testkit.NewPadded(r, table, misaligned[2])
	want, wantCos, wantSin := y.Clone(), cos.Clone(), sin.Clone()
	touched := make([]bool, y.N)
	o.eachPair(want.Slice(), given.Slice(), cos.Slice(), sin.Slice(), &rows, touched)
	o.kernel(impl, y.Slice(), x.Slice(), cos.Slice(), sin.Slice(), &rows)
	name := fmt.Sprintf("%+v, misaligned by %d: ", rows, misaligned)
	y.Check(t, name+"y", want, func(i int) bool { return touched[i] })
	if !inPlace {
		x.Check(t, name+"x", given, func(int) bool { return false })
	}
	cos.Check(t, name+"cos", wantCos, testkit.Every)
	sin.Check(t, name+"sin", wantSin, testkit.Every)
}

// eachRotation runs f for every rotation on every implementation.
func eachRotation(t *testing.T, f func(t *testing.T, impl kernels.Implementation, o rotationTest)) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, o := range rotations {
			t.Run("operation="+o.name(), func(t *testing.T) { f(t, impl, o) })
		}
	})
}

// strides lists the ways to lay out rows of n elements in memory.
func strides(r *rand.Rand, tokens, heads, n int) [][2]int {
	gap := 1 + r.IntN(20)
	return [][2]int{
		{heads * n, n},     // packed
		{3 * heads * n, n}, // packed QKV
		{n, tokens * n},    // heads outside
		{heads*(n+gap) + r.IntN(20), n + gap},
		{n + gap, tokens*(n+gap) + r.IntN(20)},
	}
}

func TestRotateKernels(t *testing.T) {
	eachRotation(t, func(t *testing.T, impl kernels.Implementation, o rotationTest) {
		r := testkit.NewRand(1)
		for _, pairs := range testkit.Lengths {
			for _, tokens := range testkit.TokenCounts {
				for _, heads := range testkit.HeadCounts {
					if r.IntN(4) != 0 || testing.Short() && r.IntN(8) != 0 {
						continue
					}
					rows := kernels.Rows{Pairs: pairs, Partner: pairs + r.IntN(2)*r.IntN(40), Tokens: tokens, Heads: heads, TableStride: pairs + r.IntN(2)*r.IntN(9)}
					all := strides(r, tokens, heads, rowLength(o.layout(), &rows))
					for _, s := range all {
						rows.XTokenStride, rows.XHeadStride = s[0], s[1]
						misaligned := [4]int{r.IntN(16), r.IntN(16), r.IntN(16), r.IntN(16)}
						y := testkit.OneOf(r, all)
						if r.IntN(2) == 0 {
							y, misaligned[3] = s, misaligned[0]
						}
						rows.YTokenStride, rows.YHeadStride = y[0], y[1]
						o.check(t, r, impl, rows, misaligned)
					}
				}
			}
		}
	})
}

// Every start of x against every remainder of a vector.
func TestRotateKernelsAlignment(t *testing.T) {
	eachRotation(t, func(t *testing.T, impl kernels.Implementation, o rotationTest) {
		r := testkit.NewRand(2)
		for pairs := range 70 {
			for start := range 16 {
				if testing.Short() && r.IntN(8) != 0 {
					continue
				}
				rows := kernels.Rows{Pairs: pairs, Partner: pairs, Tokens: 1 + r.IntN(2), Heads: 2, YTokenStride: 4 * pairs, XTokenStride: 4 * pairs, YHeadStride: 2 * pairs, XHeadStride: 2 * pairs, TableStride: pairs}
				o.check(t, r, impl, rows, [4]int{start, r.IntN(16), r.IntN(16), testkit.OneOf(r, []int{start, r.IntN(16)})})
			}
		}
	})
}

// Nothing to do is done by doing nothing.
func TestRotateKernelsEmpty(t *testing.T) {
	eachRotation(t, func(t *testing.T, impl kernels.Implementation, o rotationTest) {
		for _, rows := range []kernels.Rows{
			{Pairs: 0, Partner: 8, Tokens: 2, YTokenStride: 32, XTokenStride: 32, Heads: 2, YHeadStride: 16, XHeadStride: 16, TableStride: 8},
			{Pairs: 8, Partner: 8, Tokens: 0, YTokenStride: 32, XTokenStride: 32, Heads: 2, YHeadStride: 16, XHeadStride: 16, TableStride: 8},
			{Pairs: 8, Partner: 8, Tokens: 2, YTokenStride: 32, XTokenStride: 32, Heads: 0, YHeadStride: 16, XHeadStride: 16, TableStride: 8},
			{Pairs: 0, Partner: 8, Tokens: 1, YTokenStride: 32, XTokenStride: 32, Heads: 2, YHeadStride: 16, XHeadStride: 16, TableStride: 8},
			{Pairs: 8, Partner: 8, Tokens: 1, YTokenStride: 32, XTokenStride: 32, Heads: 0, YHeadStride: 16, XHeadStride: 16, TableStride: 8},
		} {
			x := testkit.NewPadded(testkit.NewRand(3), 64, 0)
			want := x.Clone()
			o.at(impl, unsafe.Pointer(&x.Slice()[0]), 64, x.Slice(), x.Slice(), &rows)
			x.Check(t, fmt.Sprintf("%+v: x", rows), want, func(int) bool { return false })
		}
	})
}

// The rotation of (1, 0) is (cos, sin), rounded to the type of y.
func TestRotateKernelsRounding(t *testing.T) {
	eachRotation(t, func(t *testing.T, impl kernels.Implementation, o rotationTest) { o.checkRounding(t, impl) })
}

func (o rotation[Y, X]) checkRounding(t *testing.T, impl kernels.Implementation) {
	all := hardToRound(testkit.NewRand(4))
	const pairs = 100
	for values := range slices.Chunk(all, pairs) {
		n := len(values)
		x, y := make([]X, 2*pairs), make([]Y, 2*pairs)
		rows := kernels.Rows{Pairs: n, Partner: pairs, Tokens: 1, Heads: 1}
		for i := range n {
			a, b := testkit.PairAt(o.pairs, 0, i, pairs)
			x[a], x[b] = o.x.Round(1), o.x.Round(0)
		}
		sin := slices.Clone(values)
		slices.Reverse(sin)
		o.kernel(impl, y, x, values, sin, &rows)
		for i, v := range values {
			// 0*infinity is NaN, and -0+0 is 0.
			a, b := testkit.PairAt(o.pairs, 0, i, pairs)
			for at, want := range map[int]float32{a: v - float32(0*sin[i]), b: float32(0*v) + sin[i]} {
				if !o.y.Same(y[at], o.y.Round(want)) {
					t.Fatalf("%#08x is rounded to %#04x, want %#04x", math.Float32bits(want), o.y.Bits(y[at]), o.y.Bits(o.y.Round(want)))
				}
			}
		}
	}
}

// hardToRound returns float32 at and next to all midpoints of numbers of 16 bits,
// and of any bits.
func hardToRound(r *rand.Rand) (all []float32) {
	for bits := range uint32(1 << 16) {
		if testing.Short() && r.IntN(16) != 0 {
			continue
		}
		for _, f := range []func(uint16) float32{generic.Float16ToFloat32, generic.BFloat16ToFloat32} {
			x, next := f(uint16(bits)), f(uint16(bits)+1)
			midpoint := float32((float64(x) + float64(next)) / 2)
			all = append(all, x, midpoint, math.Nextafter32(midpoint, x), math.Nextafter32(midpoint, next))
		}
		all = append(all, math.Float32frombits(r.Uint32()), math.Float32frombits(testkit.OneOf(r, testkit.Extremes)))
	}
	return all
}

// guard rotates next to guards.
func (o rotation[Y, X]) guard(g *testkit.Guards, impl kernels.Implementation, rows kernels.Rows, inPlace, atEnd bool) {
	g.T.Helper()
	n := rows.Tokens * rows.Heads * 2 * rows.Pairs
	x := testkit.Guarded(g, o.x, "x", n, atEnd)
	output, y := "y", testkit.Guarded(g, o.y, "y", n, atEnd)
	if inPlace && o.inPlace() {
		output, y = "x", o.asY(x)
	}
	cos, sin := g.Floats("cos", rows.Tokens*rows.Pairs, atEnd), g.Floats("sin", rows.Tokens*rows.Pairs, atEnd)
	testkit.CheckGuarded(g, o.y, fmt.Sprintf("%s, %+v, gaps %v, at the end: %t, in place: %t", o.operation, rows, g.Gaps, atEnd, inPlace),
		func() { o.kernel(impl, y, x, cos, sin, &rows) },
		func(copies map[string][]Y) {
			o.eachPair(copies[output], slices.Clone(x), cos, sin, &rows, make([]bool, n))
		}, map[string][]Y{output: y})
}
