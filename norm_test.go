package posenc_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc/internal/view"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// norm is the kernels of one type of elements, and what defines them.
type norm[T testkit.Number] struct {
	name            string
	x               *testkit.Numbers[T]
	normalizeKernel func(impl kernels.Implementation, x []T, weight []float32, l *kernels.Lines, epsilon float32)
	scaleKernel     func(impl kernels.Implementation, x []T, factor float32, l *kernels.Lines)
	normalize       func(x []T, weight []float32, epsilon float32)
	scale           func(x []T, factor float32)
}

// normOperations is what the tests do with a norm, whatever its type.
type normOperations interface {
	names() []string
	compare(t *testing.T, r *rand.Rand, impl kernels.Implementation, l kernels.Lines, misaligned int)
	guard(g *testkit.Guards, impl kernels.Implementation, l kernels.Lines, atEnd bool)
	at(name string, impl kernels.Implementation, data unsafe.Pointer, weight []float32, l *kernels.Lines)
}

var (
	float32Norm  = norm[float32]{"F32", &testkit.Float32Numbers, kernels.RMSNormF32, kernels.ScaleRowsF32, generic.RMSNormF32, generic.ScaleF32}
	float16Norm  = norm[uint16]{"F16", &testkit.Float16Numbers, kernels.RMSNormF16, kernels.ScaleRowsF16, generic.RMSNormF16, generic.ScaleF16}
	bfloat16Norm = norm[uint16]{"BF16", &testkit.Bfloat16Numbers, kernels.RMSNormBF16, kernels.ScaleRowsBF16, generic.RMSNormBF16, generic.ScaleBF16}
)

var norms = []normOperations{float32Norm, float16Norm, bfloat16Norm}

func (n norm[T]) names() []string { return []string{"RMSNorm" + n.name, "ScaleRows" + n.name} }

// at calls the kernel of an operation on data.
func (n norm[T]) at(name string, impl kernels.Implementation, data unsafe.Pointer, weight []float32, l *kernels.Lines) {
	x := unsafe.Slice((*T)(data), l.Len*l.Count)
	if name == "RMSNorm"+n.name {
		n.normalizeKernel(impl, x, weight, l, 1)
	} else {
		n.scaleKernel(impl, x, 1, l)
	}
}

// fill makes numbers of every kind, but in most rows only ordinary ones: a
// single NaN or infinity hides what becomes of the others.
func (n norm[T]) fill(r *rand.Rand, x []T, l *kernels.Lines) {
	for i := range l.Count {
		size := testkit.OneOf(r, []float32{1, 1, 1, 1000, 0x1p-12, 0x1p-70, 0x1p60, 0x1p70, 0})
		if r.IntN(4) == 0 {
			continue
		}
		for j := range l.Len {
			x[i*l.Stride+j] = n.x.Round(size * float32(r.NormFloat64()))
		}
	}
}

func randomEpsilon(r *rand.Rand) float32 {
	return testkit.OneOf(r, []float32{1e-6, 1e-5, 0, 1, 1e-30, math.MaxFloat32})
}

func (n norm[T]) compare(t *testing.T, r *rand.Rand, impl kernels.Implementation, l kernels.Lines, misaligned int) {
	t.Helper()
	inRow := func(i int) bool { return l.Stride == 0 || i%l.Stride < l.Len }
	x := testkit.NewPaddedOf(r, n.x, max(0, (l.Count-1)*l.Stride+l.Len), misaligned)
	weight := testkit.NewPadded(r, l.Len, r.IntN(16))
	n.fill(r, x.Slice(), &l)
	want, wantWeight := x.Clone(), weight.Clone()
	epsilon, factor := randomEpsilon(r), 2*r.Float32()-1
	for i := range l.Count {
		n.normalize(want.Slice()[i*l.Stride:][:l.Len], weight.Slice(), epsilon)
	}
	scaled, wantScaled := x.Clone(), x.Clone()
	n.normalizeKernel(impl, x.Slice(), weight.Slice(), &l, epsilon)
	name := fmt.Sprintf("%+v, misaligned by %d: ", l, misaligned)
	x.Check(t, name+"normalized", want, inRow)
	weight.Check(t, name+"weight", wantWeight, func(int) bool { return false })
	for i := range l.Count {
		n.scale(wantScaled.Slice()[i*l.Stride:][:l.Len], factor)
	}
	n.scaleKernel(impl, scaled.Slice(), factor, &l)
	scaled.Check(t, name+"scaled", wantScaled, inRow)
}

func (n norm[T]) guard(g *testkit.Guards, impl kernels.Implementation, l kernels.Lines, atEnd bool) {
	g.T.Helper()
	weight := g.Floats("weight", l.Len, atEnd)
	epsilon := randomEpsilon(g.R)
	for _, scale := range []bool{false, true} {
		x := testkit.Guarded(g, n.x, "x", l.Count*l.Len, atEnd)
		n.fill(g.R, x, &l)
		testkit.CheckGuarded(g, n.x, fmt.Sprintf("%s, %+v, gaps %v, at the end: %t, scale: %t", n.name, l, g.Gaps, atEnd, scale),
			func() {
				if scale {
					n.scaleKernel(impl, x, epsilon, &l)
				} else {
					n.normalizeKernel(impl, x, weight, &l, epsilon)
				}
			},
			func(copies map[string][]T) {
				for i := range l.Count {
					row := copies["x"][i*l.Stride:][:l.Len]
					if scale {
						n.scale(row, epsilon)
					} else {
						n.normalize(row, weight, epsilon)
					}
				}
			}, map[string][]T{"x": x})
	}
}

func TestNormKernels(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(70)
		for _, n := range norms {
			for _, length := range append(slices.Clone(testkit.Lengths), 5, 6, 24, 40, 72, 80, 96, 100, 255, 256, 1000) {
				for _, count := range []int{0, 1, 2, 3, 4, 5, 8, 11} {
					for range testkit.Rounds(10) {
						l := kernels.Lines{Len: length, Count: count, Stride: length + r.IntN(2)*r.IntN(20)}
						n.compare(t, r, impl, l, r.IntN(16))
					}
				}
			}
		}
	})
}

// Every start of a row against every remainder of a vector.
func TestNormKernelsAlignment(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(71)
		for _, n := range norms {
			for length := range 67 {
				for start := range 16 {
					if testing.Short() && r.IntN(8) != 0 {
						continue
					}
					n.compare(t, r, impl, kernels.Lines{Len: length, Count: 5, Stride: length}, start)
				}
			}
		}
	})
}

func TestGuardNorm(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(72)
		g := testkit.NewGuards(t, r, 4*5*70, "x", "weight")
		for _, n := range norms {
			for length := range 67 {
				for _, atEnd := range []bool{false, true} {
					for _, count := range []int{1, 4, 5} {
						n.guard(g, impl, kernels.Lines{Len: length, Count: count, Stride: length}, atEnd)
					}
				}
			}
		}
	})
}

// fillRows sets s to numbers of every kind, or with ordinary to those that
// models have: one NaN or infinity in a row leaves nothing of the others.
func fillRows[T posenc.Element](r *rand.Rand, s []T, ordinary bool) {
	if !ordinary {
		testkit.FillElements(r, s)
		return
	}
	for i := range s {
		s[i] = testkit.Narrow[T](float32(r.NormFloat64()))
	}
}

// normalizeRow is generic's normalization of a row.
func normalizeRow[T posenc.Element](x []T, weight []float32, epsilon float32) {
	switch x := any(x).(type) {
	case []float32:
		generic.RMSNormF32(x, weight, epsilon)
	case []posenc.Float16:
		generic.RMSNormF16(testkit.Words(x), weight, epsilon)
	case []posenc.BFloat16:
		generic.RMSNormBF16(testkit.Words(x), weight, epsilon)
	}
}

// scaleRow is generic's scaling of a row.
func scaleRow[T posenc.Element](x []T, factor float32) {
	switch x := any(x).(type) {
	case []float32:
		generic.ScaleF32(x, factor)
	case []posenc.Float16:
		generic.ScaleF16(testkit.Words(x), factor)
	case []posenc.BFloat16:
		generic.ScaleBF16(testkit.Words(x), factor)
	}
}

// viewsIn returns the views of memory, of any type.
func viewsIn[T posenc.Element](p testkit.Placed, memory []T, tokens, dim int) []posenc.View[T] {
	var views []posenc.View[T]
	for i, v := range p.Views {
		if tokens == 0 {
			views = append(views, posenc.View[T]{Heads: v.Heads})
			continue
		}
		stop := len(memory)
		if v.TokenStride == 0 && v.HeadStride == 0 {
			stop = p.Starts[i] + tokens*v.Heads*dim
		}
		views = append(views, posenc.View[T]{Data: memory[p.Starts[i]:stop], Heads: v.Heads, TokenStride: v.TokenStride, HeadStride: v.HeadStride})
	}
	return views
}

// sequenced turns a view into one of sequences, if its tokens can be halved.
func sequenced[T posenc.Element](r *rand.Rand, v posenc.View[T], tokens, dim int) posenc.View[T] {
	if tokens < 2 || tokens%2 != 0 || r.IntN(2) == 0 {
		return v
	}
	stride := v.TokenStride
	if stride == 0 {
		stride = v.Heads * dim
	}
	v.TokenStride, v.SequenceTokens, v.SequenceStride = stride, tokens/2, stride*(tokens/2)
	return v
}

func mustNorm(t testing.TB, weight []float32, epsilon float32, unitOffset bool) *posenc.RMSNorm {
	t.Helper()
	n, err := posenc.NewRMSNorm(weight, epsilon, unitOffset)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func randomWeight(r *rand.Rand, n int) []float32 {
	s := make([]float32, n)
	for i := range s {
		s[i] = float32(r.NormFloat64())
	}
	return s
}

func TestNormalize(t *testing.T) {
	t.Run("dtype=f32", testNormalize[float32])
	t.Run("dtype=f16", testNormalize[posenc.Float16])
	t.Run("dtype=bf16", testNormalize[posenc.BFloat16])
}

func testNormalize[T posenc.Element](t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(73)
		for _, kind := range testkit.PlaceKinds {
			for range testkit.Rounds(100) {
				dim, tokens := testkit.OneOf(r, testkit.Lengths), testkit.OneOf(r, []int{1, 2, 3, 9, 16})
				p := testkit.Place(r, kind, tokens, []int{1 + r.IntN(9), 1 + r.IntN(3)}, dim)
				memory := make([]T, p.Size)
				fillRows(r, memory, r.IntN(4) != 0)
				want := slices.Clone(memory)
				weight, epsilon, unitOffset := randomWeight(r, dim), randomEpsilon(r), r.IntN(2) == 0
				n := mustNorm(t, weight, epsilon, unitOffset)
				if unitOffset {
					for i := range weight {
						weight[i] = 1 + weight[i]
					}
				}
				factors := randomWeight(r, tokens)
				eachRow := func(memory []T, do func(row []T, token int)) {
					for _, v := range viewsIn(p, memory, tokens, dim) {
						o := view.OperandOf(&v, dim)
						for token := range tokens {
							for h := range v.Heads {
								do(v.Data[token*o.tokenStride+h*o.headStride:][:dim], token)
							}
						}
					}
				}
				check := func(what string) {
					t.Helper()
					if i := testkit.FirstDifference(memory, want); i >= 0 {
						t.Fatalf("%s: %s, %d tokens of %d, views %+v: element %d is %v, want %v", what, kind, tokens, dim, p.Views, i, memory[i], want[i])
					}
				}
				views := viewsIn(p, memory, tokens, dim)
				for i, v := range views {
					views[i] = sequenced(r, v, tokens, dim)
				}
				eachRow(want, func(row []T, _ int) { normalizeRow(row, weight, epsilon) })
				if err := posenc.Normalize(n, tokens, views...); err != nil {
					t.Fatal(err)
				}
				check("Normalize")
				copy(want, memory)
				eachRow(want, func(row []T, token int) { scaleRow(row, factors[token]) })
				if err := posenc.Scale(factors, dim, views...); err != nil {
					t.Fatal(err)
				}
				check("Scale")
			}
		}
	})
}

// A call of a kernel is bounded: rows beyond the bound go to several.
func TestNormalizeLarge(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(74)
		for _, shape := range [][3]int{{3, 2, kernels.MaxCallElements + 5}, {1, 40, kernels.MaxCallElements/8 - 3}, {2, 1, 2*kernels.MaxCallElements + 1}, {kernels.MaxCallElements/64 + 3, 2, 64}} {
			tokens, heads, dim := shape[0], shape[1], shape[2]
			x, weight, factors := randomWeight(r, tokens*heads*dim), randomWeight(r, dim), randomWeight(r, tokens)
			want := slices.Clone(x)
			for i := range tokens * heads {
				row := want[i*dim:][:dim]
				generic.RMSNormF32(row, weight, 1e-6)
				generic.ScaleF32(row, factors[i/heads])
			}
			v := posenc.View[float32]{Data: x, Heads: heads}
			if err := errors.Join(posenc.Normalize(mustNorm(t, weight, 1e-6, false), tokens, v), posenc.Scale(factors, dim, v)); err != nil {
				t.Fatal(err)
			}
			if i := testkit.FirstDifference(x, want); i >= 0 {
				t.Errorf("%v: element %d is %v, want %v", shape, i, x[i], want[i])
			}
		}
	})
}

// fusedCase is a random call of RotateFused.
type fusedCase[T posenc.Element] struct {
	rotary    *posenc.Rotary
	positions []int32
	tokens    int
	headDim   int
	place     testkit.Placed
	norms     []*posenc.RMSNorm
	scales    [][]float32
	memory    []T
}

func randomFusedCase[T posenc.Element](t testing.TB, r *rand.Rand, kind string) *fusedCase[T] {
	cfg := posenc.RotaryConfig{HeadDim: testkit.OneOf(r, []int{2, 6, 20, 32, 64, 72, 128, 256}), Layout: posenc.Layout(r.IntN(4)), Angles: posenc.AngleRounding(r.IntN(2)), Scaling: testkit.OneOf(r, []float64{0, 1.25})}
	c := &fusedCase[T]{tokens: testkit.OneOf(r, []int{0, 1, 1, 2, 5, 16, 17, 38})}
	if r.IntN(20) == 0 { // wider than the rows of a chunk
		cfg.HeadDim, cfg.Layout, c.tokens = 2*kernels.ChunkPairs+40, posenc.Layout(r.IntN(2)), testkit.OneOf(r, []int{1, 3})
	}
	c.headDim = cfg.HeadDim
	if r.IntN(2) == 0 {
		cfg.RotaryDim = 2 * (1 + r.IntN(cfg.HeadDim/2))
		cfg.Offset = r.IntN(cfg.HeadDim - cfg.RotaryDim + 1)
	}
	pairs := cfg.HeadDim / 2
	if cfg.RotaryDim != 0 {
		pairs = cfg.RotaryDim / 2
	}
	axes := 1
	if r.IntN(4) == 0 && pairs <= kernels.ChunkPairs {
		for range pairs {
			cfg.Axes = append(cfg.Axes, uint8(r.IntN(3)))
		}
		axes = posenc.axisCount(cfg.Axes)
	}
	c.rotary = testkit.MustRotary(t, cfg)
	c.positions = testkit.RandomPositions(r, testkit.OneOf(r, testkit.PositionNames), axes*c.tokens)
	switch {
	case r.IntN(6) == 0:
		var err error
		if c.rotary, err = c.rotary.Tabulate(c.positions); err != nil {
			t.Fatal(err)
		}
		c.positions = nil
		if c.tokens > 0 {
			c.positions = make([]int32, c.tokens)
			for i := range c.positions {
				c.positions[i] = int32(r.IntN(c.tokens))
			}
		}
	case r.IntN(6) == 0 && pairs <= kernels.ChunkPairs:
		table := posenc.Table[float32]{Cos: randomWeight(r, 2*pairs*max(1, c.tokens)), Sin: randomWeight(r, 2*pairs*max(1, c.tokens)), FullWidth: true}
		var err error
		if c.rotary, err = posenc.NewTableRotary(posenc.RotaryConfig{HeadDim: cfg.HeadDim, RotaryDim: cfg.RotaryDim, Offset: cfg.Offset, Layout: cfg.Layout}, table); err != nil {
			t.Fatal(err)
		}
		c.positions = make([]int32, c.tokens)
	}
	c.place = testkit.Place(r, kind, c.tokens, []int{testkit.OneOf(r, []int{1, 2, 5, 32}), 1 + r.IntN(3)}, cfg.HeadDim)
	for _, v := range c.place.Views {
		n, scale := (*posenc.RMSNorm)(nil), []float32(nil)
		size := cfg.HeadDim
		if r.IntN(3) == 0 && (v.HeadStride == 0 || v.HeadStride == size) {
			size *= v.Heads
		}
		if r.IntN(4) != 0 {
			n = mustNorm(t, randomWeight(r, size), 1e-6, r.IntN(2) == 0)
		}
		if r.IntN(2) == 0 {
			scale = randomWeight(r, c.tokens)
		}
		c.norms, c.scales = append(c.norms, n), append(c.scales, scale)
	}
	c.memory = make([]T, c.place.Size)
	fillRows(r, c.memory, r.IntN(4) != 0)
	return c
}

// steps normalizes, rotates and scales by calls of their own.
func (c *fusedCase[T]) steps(views []posenc.View[T]) error {
	for i, v := range views {
		if n := c.norms[i]; n != nil {
			x := v
			if len(n.weight) != c.headDim {
				x.Heads, x.HeadStride = 1, 0
			}
			if err := posenc.Normalize(n, c.tokens, x); err != nil {
				return err
			}
		}
	}
	if err := posenc.Rotate(c.rotary.At(c.positions), views...); err != nil {
		return err
	}
	for i, v := range views {
		if c.scales[i] != nil {
			if err := posenc.Scale(c.scales[i], c.headDim, v); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *fusedCase[T]) fused(views []posenc.View[T]) []posenc.FusedView[T] {
	var list []posenc.FusedView[T]
	for i, v := range views {
		list = append(list, posenc.FusedView[T]{v, c.norms[i], c.scales[i]})
	}
	return list
}

func TestRotateFused(t *testing.T) {
	t.Run("dtype=f32", testRotateFused[float32])
	t.Run("dtype=f16", testRotateFused[posenc.Float16])
	t.Run("dtype=bf16", testRotateFused[posenc.BFloat16])
}

// The bits of the steps one after another.
func testRotateFused[T posenc.Element](t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(75)
		for _, kind := range testkit.PlaceKinds {
			for range testkit.Rounds(40) {
				c := randomFusedCase[T](t, r, kind)
				want, got := slices.Clone(c.memory), slices.Clone(c.memory)
				if err := c.steps(viewsIn(c.place, want, c.tokens, c.headDim)); err != nil {
					t.Fatal(err)
				}
				views := viewsIn(c.place, got, c.tokens, c.headDim)
				for i, v := range views {
					views[i] = sequenced(r, v, c.tokens, c.headDim)
				}
				if err := posenc.RotateFused(c.rotary.At(c.positions), c.fused(views)...); err != nil {
					t.Fatal(err)
				}
				if i := testkit.FirstDifference(got, want); i >= 0 {
					t.Fatalf("%s, %d tokens of %d, views %+v: element %d is %v, want %v", kind, c.tokens, c.headDim, c.place.Views, i, got[i], want[i])
				}
			}
		}
	})
}

// rmsNormReal is the real formula.
func rmsNormReal(x, weight []float32, epsilon float32) []*big.Float {
	const precision = 400
	real := func(v float32) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(float64(v)) }
	mean := real(0)
	for _, v := range x {
		mean.Add(mean, real(0).Mul(real(v), real(v)))
	}
	mean.Quo(mean, real(float32(len(x))))
	root := real(0).Sqrt(mean.Add(mean, real(epsilon)))
	var y []*big.Float
	for i, v := range x {
		p := real(0).Mul(real(v), real(weight[i]))
		y = append(y, p.Quo(p, root))
	}
	return y
}

// relativeError returns the largest |got-want|/|want| in units of 2^-24.
func relativeError(got []float32, want []*big.Float) (largest float64) {
	for i, w := range want {
		if w.Sign() == 0 {
			if got[i] != 0 {
				return math.Inf(1)
			}
			continue
		}
		e := new(big.Float).SetPrec(400).SetFloat64(float64(got[i]))
		e.Sub(e, w)
		f, _ := e.Quo(e, w).Float64()
		largest = max(largest, math.Abs(f)*0x1p24)
	}
	return largest
}

// normBound is what roundings can add up to, in units of 2^-24 of the result. A
// square, the additions on its way to the sum, the division by n and the
// addition of epsilon count half, under the root; the root, its inverse and two
// products count whole. (All terms are positive. The excess of products of
// roundings over their sum is far below a unit.)
func normBound(additions int) float64 { return float64(additions+3)/2 + 4.01 }

// laneAdditions is the additions of a row of n elements in 16 lanes.
func laneAdditions(n int) int { return (n+15)/16 - 1 + 4 }

func TestNormalizeAgainstReal(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(77)
		worst := 0.0
		for range testkit.Rounds(200) {
			n := testkit.OneOf(r, []int{1, 7, 64, 80, 128, 256, 1024})
			x, weight := randomWeight(r, n), randomWeight(r, n)
			epsilon := testkit.OneOf(r, []float32{1e-6, 1e-5, 0, 3})
			want := rmsNormReal(x, weight, epsilon)
			if err := posenc.Normalize(mustNorm(t, weight, epsilon, false), 1, posenc.View[float32]{Data: x, Heads: 1}); err != nil {
				t.Fatal(err)
			}
			e := relativeError(x, want)
			worst = max(worst, e)
			if e > normBound(laneAdditions(n)) {
				t.Errorf("%d elements: off by %.2f units of 2^-24, at most %.2f are explained", n, e, normBound(laneAdditions(n)))
			}
		}
		t.Logf("off by at most %.2f units of 2^-24", worst)
	})
}

// The norm modules of transformers. In float32 both are within their bounds of
// the real numbers; PyTorch says nothing of the order of its sums, which may be
// a chain of n-1 additions. In bfloat16 what is so close rounds to the same
// number or to its neighbour.
func TestNormalizeAgainstTransformers(t *testing.T) {
	text, err := os.ReadFile("testdata/rmsnorm/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Cases []struct {
			Module         string
			Rows, Elements int
			Epsilon        float64
			UnitOffset     bool `json:"unit_offset"`
			Float32        string
			BFloat16       string
		}
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors.Cases) != 3 {
		t.Fatalf("%d cases, want 3", len(vectors.Cases))
	}
	for _, c := range vectors.Cases {
		t.Run("module="+c.Module, func(t *testing.T) {
			n := mustNorm(t, testkit.GoldenInputs(1<<20, c.Elements), float32(c.Epsilon), c.UnitOffset)
			x := testkit.GoldenInputs(0, c.Rows*c.Elements)
			low := make([]posenc.BFloat16, len(x))
			for i, v := range x {
				low[i] = testkit.Narrow[posenc.BFloat16](v)
			}
			if err := posenc.Normalize(n, c.Rows, posenc.View[float32]{Data: x, Heads: 1}); err != nil {
				t.Fatal(err)
			}
			if len(c.Float32) != 8*len(x) || c.BFloat16 != "" && len(c.BFloat16) != 4*len(x) {
				t.Fatalf("%d and %d digits of %d elements", len(c.Float32), len(c.BFloat16), len(x))
			}
			worst := 0.0
			for i, got := range x {
				word, err := strconv.ParseUint(c.Float32[8*i:8*i+8], 16, 32)
				if err != nil {
					t.Fatal(err)
				}
				want := float64(math.Float32frombits(uint32(word)))
				worst = max(worst, math.Abs(float64(got)-want)/math.Abs(want)*0x1p24)
			}
			bound := normBound(laneAdditions(c.Elements)) + normBound(c.Elements-1)
			if !(worst <= bound) {
				t.Errorf("float32: off by %.2f units of 2^-24, at most %.2f are explained", worst, bound)
			}
			t.Logf("float32: off by at most %.2f units of 2^-24", worst)
			if c.BFloat16 == "" {
				return
			}
			if err := posenc.Normalize(n, c.Rows, posenc.View[posenc.BFloat16]{Data: low, Heads: 1}); err != nil {
				t.Fatal(err)
			}
			differ := 0
			for i, got := range low {
				want, err := strconv.ParseUint(c.BFloat16[4*i:4*i+4], 16, 16)
				if err != nil {
					t.Fatal(err)
				}
				steps := int(got) - int(want)
				if steps < -1 || steps > 1 {
					t.Errorf("bfloat16: element %d is %#x, want %#x or a neighbour", i, got, want)
				}
				if steps != 0 {
					differ++
				}
			}
			t.Logf("bfloat16: %d of %d elements differ", differ, len(low))
		})
	}
}

// What the formula gives where squares overflow or vanish.
func TestNormalizeExtremes(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, tt := range []struct {
			x, want []float32
			epsilon float32
		}{
			{[]float32{1e30, -1, 0}, []float32{0, float32(math.Copysign(0, -1)), 0}, 1e-6},
			{[]float32{inf, 1}, []float32{nan, 0}, 1e-6},
			{[]float32{nan, 1}, []float32{nan, nan}, 1e-6},
			{[]float32{0, float32(math.Copysign(0, -1))}, []float32{0, float32(math.Copysign(0, -1))}, 1e-6},
			{[]float32{0, 1e-30}, []float32{nan, inf}, 0},
			{[]float32{3, -3, 3}, []float32{1, -1, 1}, 0},
		} {
			got := slices.Clone(tt.x)
			n := mustNorm(t, []float32{1, 1, 1}[:len(got)], tt.epsilon, false)
			if err := posenc.Normalize(n, 1, posenc.View[float32]{Data: got, Heads: 1}); err != nil {
				t.Fatal(err)
			}
			if !testkit.SameSlices(got, tt.want) {
				t.Errorf("%v becomes %v, want %v", tt.x, got, tt.want)
			}
		}
	})
}

func TestNewRMSNormCopies(t *testing.T) {
	weight := []float32{1, 2}
	n := mustNorm(t, weight, 0, false)
	weight[0] = 7
	x := []float32{1, 1}
	if err := posenc.Normalize(n, 1, posenc.View[float32]{Data: x, Heads: 1}); err != nil || x[0] != 1 || x[1] != 2 {
		t.Errorf("got %v, %v", x, err)
	}
}

func TestNormErrors(t *testing.T) {
	nan := float32(math.NaN())
	rotary := testkit.MustRotary(t, posenc.RotaryConfig{HeadDim: 4})
	norm4, norm8, norm6 := mustNorm(t, make([]float32, 4), 1, false), mustNorm(t, make([]float32, 8), 1, false), mustNorm(t, make([]float32, 6), 1, false)
	memory := randomWeight(testkit.NewRand(78), 64)
	before := slices.Clone(memory)
	var zeros [3]float32
	view := posenc.View[float32]{Data: memory[:16], Heads: 2} // 2 tokens of 2 heads of 4
	positions := []int32{3, 4}
	fused := func(xs ...posenc.FusedView[float32]) error { return posenc.RotateFused(rotary.At(positions), xs...) }
	newNorm := func(weight []float32, epsilon float32) error {
		_, err := posenc.NewRMSNorm(weight, epsilon, false)
		return err
	}
	for _, tt := range []struct {
		err  error
		kind error
		says string
	}{
		{newNorm(nil, 1), posenc.ErrConfig, "NewRMSNorm: weight is 0 elements"},
		{newNorm(make([]float32, 1<<20+1), 1), posenc.ErrConfig, "weight is 1048577 elements"},
		{newNorm(memory, -1), posenc.ErrConfig, "epsilon is -1"},
		{newNorm(memory, nan), posenc.ErrConfig, "epsilon is NaN"},
		{newNorm(memory, float32(math.Inf(1))), posenc.ErrConfig, "epsilon is +Inf"},
		{posenc.Normalize(nil, 2, view), posenc.ErrConfig, "Normalize: norm is nil or zero"},
		{posenc.Normalize(&posenc.RMSNorm{}, 2, view), posenc.ErrConfig, "Normalize: norm is nil or zero"},
		{posenc.Normalize(norm4, -1, view), posenc.ErrShape, "tokens is -1"},
		{posenc.Normalize(norm4, 1, view), posenc.ErrLength, "xs[0].Data is 16 elements, want 8"},
		{posenc.Normalize(norm8, 2, view), posenc.ErrLength, "xs[0].Data is 16 elements, want 32"},
		{posenc.Normalize(norm4, 2, view, view), posenc.ErrOverlap, "xs[1] is sharing elements with xs[0]"},
		{posenc.Normalize(norm4, 2, posenc.View[float32]{Data: memory, Heads: 2, TokenStride: 7}), posenc.ErrOverlap, "xs[0].TokenStride"},
		{posenc.Normalize(norm4, 2, posenc.View[float32]{Data: memory, Heads: math.MaxInt}), posenc.ErrShape, "want a product with rows of 4 that fits an int"},
		{posenc.Normalize(norm4, math.MaxInt, posenc.View[float32]{Data: memory, Heads: 2}), posenc.ErrLength, "more than an int can count"},
		{posenc.Scale(memory[20:22], 0, view), posenc.ErrShape, "Scale: headDim is 0"},
		{posenc.Scale(memory[20:23], 4, view), posenc.ErrLength, "xs[0].Data is 16 elements, want 24"},
		{posenc.Scale(memory[14:16], 4, view), posenc.ErrOverlap, "xs[0] is sharing memory with factors"},
		{posenc.Scale(memory[20:22], 4, view, view), posenc.ErrOverlap, "xs[1] is sharing elements with xs[0]"},
		{posenc.RotateFused[float32](nil.At(positions)), posenc.ErrConfig, "RotateFused: r is nil or zero"},
		{fused(posenc.FusedView[float32]{View: posenc.View[float32]{Data: memory[:15], Heads: 2}}), posenc.ErrLength, "xs[0].Data is 15 elements, want 16"},
		{fused(posenc.FusedView[float32]{View: view, Norm: &posenc.RMSNorm{}}), posenc.ErrConfig, "xs[0].Norm is zero"},
		{fused(posenc.FusedView[float32]{View: view, Norm: norm6}), posenc.ErrShape, "xs[0].Norm is of 6 elements, want HeadDim = 4 or Heads*HeadDim = 8"},
		{fused(posenc.FusedView[float32]{View: posenc.View[float32]{Data: memory, Heads: 2, HeadStride: 6, TokenStride: 12}, Norm: norm8}), posenc.ErrShape, "xs[0].HeadStride is 6, want 0 or HeadDim = 4"},
		{fused(posenc.FusedView[float32]{View: view, Scale: memory[20:23]}), posenc.ErrLength, "xs[0].Scale is 3 elements, want 2, one for each token"},
		{fused(posenc.FusedView[float32]{View: view, Scale: memory[15:17]}), posenc.ErrOverlap, "xs[0].Scale is sharing memory with xs[0]"},
		{fused(posenc.FusedView[float32]{View: view}, posenc.FusedView[float32]{View: posenc.View[float32]{Data: memory[16:32], Heads: 2}, Scale: memory[:2]}), posenc.ErrOverlap, "xs[1].Scale is sharing memory with xs[0]"},
		{fused(posenc.FusedView[float32]{View: view}, posenc.FusedView[float32]{View: view}), posenc.ErrOverlap, "xs[1] is sharing elements with xs[0]"},
		{posenc.QueryScales(memory[:3], positions, 0.1, 8192, 1), posenc.ErrLength, "QueryScales: scales is 3 elements, want 2"},
		{posenc.QueryScales(memory[:2], positions, -0.1, 8192, 1), posenc.ErrConfig, "beta is -0.1"},
		{posenc.QueryScales(memory[:2], positions, math.NaN(), 8192, 1), posenc.ErrConfig, "beta is NaN"},
		{posenc.QueryScales(memory[:2], positions, 0.1, 0, 1), posenc.ErrConfig, "length is 0"},
		{posenc.QueryScales(memory[:2], positions, 0.1, 8192, -1), posenc.ErrConfig, "offset is -1"},
		{posenc.QueryScales(zeros[:2], unsafe.Slice((*int32)(unsafe.Pointer(&zeros[1])), 2), 0.1, 8192, 1), posenc.ErrOverlap, "QueryScales: scales is sharing memory with positions"},
		{posenc.QueryScales(memory[:2], []int32{5, -2}, 0.1, 8192, 1), posenc.ErrPosition, "positions[1] is -2, want at least -1"},
	} {
		if !errors.Is(tt.err, tt.kind) || !strings.Contains(tt.err.Error(), tt.says) {
			t.Errorf("got %q, want %q and that it says %q", tt.err, tt.kind, tt.says)
		}
	}
	if !testkit.SameBits(memory, before) {
		t.Error("an error came after a write")
	}
	// Nothing to do is no error.
	for _, err := range []error{
		posenc.Normalize[float32](norm4, 0), posenc.Normalize(norm4, 0, posenc.View[float32]{Heads: 1}), posenc.Normalize[float32](norm4, 5),
		posenc.Scale(nil, 4, posenc.View[float32]{Heads: 1}), posenc.Scale[float32](memory[:2], 4), posenc.QueryScales(nil, nil, 0, 1, 0),
		posenc.RotateFused[float32](rotary.At(positions)), posenc.RotateFused(rotary.All(), posenc.FusedView[float32]{View: posenc.View[float32]{Heads: 1}, Norm: norm4, Scale: []float32{}}),
	} {
		if err != nil {
			t.Error(err)
		}
	}
}

func TestNormAllocates(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		rotary := testkit.MustRotary(t, posenc.RotaryConfig{HeadDim: 16})
		n, all := mustNorm(t, make([]float32, 16), 1, false), mustNorm(t, make([]float32, 64), 1, true)
		for name, call := range map[string]func(){
			"Normalize": func() {
				var x [64]float32
				posenc.Normalize(n, 1, posenc.View[float32]{Data: x[:], Heads: 4})
			},
			"Scale": func() {
				var x [64]posenc.BFloat16
				factors := [2]float32{1, 2}
				posenc.Scale(factors[:], 16, posenc.View[posenc.BFloat16]{Data: x[:], Heads: 2})
			},
			"RotateFused, decode": func() {
				var q [64]float32
				var k [32]float32
				factors := [1]float32{2}
				posenc.RotateFused(rotary.At([]int32{77}), posenc.FusedView[float32]{posenc.View[float32]{Data: q[:], Heads: 4}, all, factors[:]}, posenc.FusedView[float32]{posenc.View[float32]{Data: k[:], Heads: 2}, n, nil})
			},
			"RotateFused, prefill": func() {
				var q [640]posenc.Float16
				posenc.RotateFused(rotary.At([]int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), posenc.FusedView[posenc.Float16]{posenc.View[posenc.Float16]{Data: q[:], Heads: 4}, n, nil})
			},
			"QueryScales": func() {
				var scales [3]float32
				posenc.QueryScales(scales[:], []int32{0, 10000, 1 << 30}, 0.1, 8192, 1)
			},
		} {
			if got := testing.AllocsPerRun(20, call); got != 0 {
				t.Errorf("%s: %v allocations", name, got)
			}
		}
	})
}

// queryScaleAt300Bits evaluates the formula with 300 bits; the logarithm is by
// repeated square roots, ln(k) = 2^m*ln(k^(2^-m)), unlike that of QueryScales.
func queryScaleAt300Bits(k uint64, beta float64) float32 {
	const precision, roots = 600, 200
	real := func(v float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(v) }
	x := real(0).SetUint64(k)
	for range roots {
		x.Sqrt(x)
	}
	// x is 1+d, d < 2^-195: ln(x) is d-d^2/2 but for less than 2^-390 of it.
	d := x.Sub(x, real(1))
	ln := real(0).Sub(d, real(0).Mul(real(0.5), real(0).Mul(d, d)))
	ln.SetMantExp(ln, roots)
	y := real(0).Mul(real(beta), ln)
	f, _ := y.Add(y, real(1)).Float32()
	return f
}

func TestQueryScales(t *testing.T) {
	r := testkit.NewRand(79)
	check := func(p int32, beta float64, length, offset int) {
		t.Helper()
		var got [1]float32
		if err := posenc.QueryScales(got[:], []int32{p}, beta, length, offset); err != nil {
			t.Fatal(err)
		}
		k := 1 + uint64(int64(p)+int64(offset))/uint64(length)
		if want := queryScaleAt300Bits(k, beta); got[0] != want {
			t.Errorf("position %d, beta %v, length %d, offset %d: got %x, want %x", p, beta, length, offset, got[0], want)
		}
	}
	for _, p := range []int32{0, 1, 8190, 8191, 8192, 16383, 16384, 1 << 20, math.MaxInt32} {
		check(p, 0.1, 8192, 1)
		check(p, 0.1, 16384, 0)
		check(p, 1, 1, math.MaxInt32)
		check(p, 0x1p100, 3, 0)
		check(p, math.SmallestNonzeroFloat64, 1, 0)
		check(p, 0, 1, 0)
	}
	check(-1, 0.1, 8192, 1)
	for range testkit.Rounds(700) {
		check(int32(r.Uint32()>>1)>>r.IntN(31), math.Exp(10*r.NormFloat64()), 1+r.IntN(1<<r.IntN(20)), r.IntN(1<<r.IntN(31)))
	}
	// Numbers next to the middle between two float32, which float64 cannot decide.
	undecided := 0
	for range testkit.Rounds(200) {
		k := uint64(2 + r.IntN(1<<20))
		low := math.Float32frombits(math.Float32bits(1) + r.Uint32N(0x2000000))
		beta := ((float64(low)+float64(math.Nextafter32(low, math.MaxFloat32)))/2 - 1) / math.Log(float64(k))
		v := 1 + float64(beta*generic.Logarithm(k))
		if float32(v*(1-0x1p-50)) != float32(v*(1+0x1p-50)) {
			undecided++
		}
		check(int32(k-1), beta, 1, 0)
	}
	if undecided == 0 {
		t.Error("no number was next to the middle: the test does not test it")
	}
}

// logarithm is as close as it says.
func TestLogarithm(t *testing.T) {
	r := testkit.NewRand(80)
	worst := 0.0
	for i := range testkit.Rounds(1000) {
		k := uint64(2 + i)
		if i >= 100 {
			k = 2 + r.Uint64N(1<<33-2)>>r.IntN(32)
		}
		if i%10 == 0 {
			k = 1 << (1 + i/10%33)
		}
		const precision, roots = 600, 200
		x := new(big.Float).SetPrec(precision).SetUint64(k)
		for range roots {
			x.Sqrt(x)
		}
		d := x.Sub(x, big.NewFloat(1))
		want := new(big.Float).SetPrec(precision).Mul(d, d)
		want.Sub(d, want.Quo(want, big.NewFloat(2)))
		want.SetMantExp(want, roots)
		e := new(big.Float).SetPrec(precision).SetFloat64(generic.Logarithm(k))
		e.Sub(e, want)
		f, _ := e.Quo(e, want).Float64()
		worst = max(worst, math.Abs(f))
	}
	if worst > 0x1p-52 {
		t.Errorf("relative error %x", worst)
	}
	t.Logf("relative error at most %x", worst)
}

// FuzzNormalize normalizes and scales rows of any bits, in a view of any shape,
// on every implementation: the same error and untouched data, or the bits of
// generic.
func FuzzNormalize(f *testing.F) {
	f.Add(uint8(128), 32, 0, 0, 4, uint32(0x358637bd), uint8(0), []byte("some data here.."))
	f.Add(uint8(33), 3, 200, 40, 5, uint32(0), uint8(9), []byte{0, 0, 128, 127, 1, 0, 0, 0})
	f.Add(uint8(7), 2, 7, 70, 9, uint32(1), uint8(2), []byte{0, 0, 0, 128, 0, 0, 192, 127})
	f.Add(uint8(1), math.MaxInt, -1, math.MinInt, -3, uint32(0xffffffff), uint8(255), []byte(nil))
	f.Fuzz(func(t *testing.T, dim uint8, heads, tokenStride, headStride, tokens int, epsilonBits uint32, mode uint8, data []byte) {
		switch mode % 3 {
		case 0:
			fuzzNormalize[float32](t, int(dim), heads, tokenStride, headStride, tokens, epsilonBits, mode, data)
		case 1:
			fuzzNormalize[posenc.Float16](t, int(dim), heads, tokenStride, headStride, tokens, epsilonBits, mode, data)
		default:
			fuzzNormalize[posenc.BFloat16](t, int(dim), heads, tokenStride, headStride, tokens, epsilonBits, mode, data)
		}
	})
}

// repeatElements is repeat32 for elements of any type.
func repeatElements[T posenc.Element](s []T, data []byte) {
	wide := make([]float32, len(s))
	testkit.Repeat32(wide, data)
	for i, v := range wide {
		s[i] = testkit.OfBits[T](math.Float32bits(v))
	}
}

func fuzzNormalize[T posenc.Element](t *testing.T, dim, heads, tokenStride, headStride, tokens int, epsilonBits uint32, mode uint8, data []byte) {
	tokens %= 64
	weight := make([]float32, dim)
	testkit.Repeat32(weight, data)
	epsilon := math.Float32frombits(epsilonBits)
	n, err := posenc.NewRMSNorm(weight, epsilon, mode&64 != 0)
	if err != nil {
		return
	}
	size := 1 << 14
	if exact := tokens * dim * (heads % 256); tokenStride == 0 && headStride == 0 && exact >= 0 && exact <= size {
		size = exact
	}
	start := int(mode % 16)
	before := make([]T, start+size)
	repeatElements(before, data)
	factors := make([]float32, max(0, tokens))
	testkit.Repeat32(factors, data)
	var want []T
	testkit.OnEach(func(impl kernels.Implementation) {
		x := slices.Clone(before)
		v := posenc.View[T]{Data: x[start:], Heads: heads, TokenStride: tokenStride, HeadStride: headStride}
		if err := posenc.Normalize(n, tokens, v); err != nil {
			if !slices.EqualFunc(x, before, func(a, b T) bool { return testkit.BitsOf(a) == testkit.BitsOf(b) }) {
				t.Fatalf("%s: wrote before the error %v", impl, err)
			}
			return
		}
		if err := posenc.Scale(factors, dim, v); err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = slices.Clone(before)
			o := view.OperandOf(&v, dim)
			for token := range tokens {
				for h := range heads {
					row := want[start+token*o.tokenStride+h*o.headStride:][:dim]
					normalizeRow(row, n.weight, epsilon)
					scaleRow(row, factors[token])
				}
			}
		}
		if i := testkit.FirstDifference(x, want); i >= 0 {
			t.Fatalf("%s differs from generic at %d: %d tokens of %d heads of %d at %d and %d", impl, i, tokens, heads, dim, tokenStride, headStride)
		}
	})
}

// FuzzRotateFused compares RotateFused with its steps.
func FuzzRotateFused(f *testing.F) {
	for seed := range uint64(12) {
		f.Add(seed, uint8(seed), []byte("some data here.."))
	}
	f.Add(uint64(99), uint8(7), []byte{0, 0, 128, 127, 1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, seed uint64, mode uint8, data []byte) {
		kind := testkit.PlaceKinds[int(mode/3)%len(testkit.PlaceKinds)]
		switch mode % 3 {
		case 0:
			fuzzRotateFused[float32](t, seed, kind, data)
		case 1:
			fuzzRotateFused[posenc.Float16](t, seed, kind, data)
		default:
			fuzzRotateFused[posenc.BFloat16](t, seed, kind, data)
		}
	})
}

func fuzzRotateFused[T posenc.Element](t *testing.T, seed uint64, kind string, data []byte) {
	c := randomFusedCase[T](t, testkit.NewRand(seed), kind)
	if len(data) >= 4 {
		repeatElements(c.memory, data)
	}
	testkit.OnEach(func(impl kernels.Implementation) {
		want, got := slices.Clone(c.memory), slices.Clone(c.memory)
		if err := c.steps(viewsIn(c.place, want, c.tokens, c.headDim)); err != nil {
			t.Fatal(err)
		}
		if err := posenc.RotateFused(c.rotary.At(c.positions), c.fused(viewsIn(c.place, got, c.tokens, c.headDim))...); err != nil {
			t.Fatal(err)
		}
		if i := testkit.FirstDifference(got, want); i >= 0 {
			t.Fatalf("%s, %s, %d tokens of %d: element %d is %v, want %v", impl, kind, c.tokens, c.headDim, i, got[i], want[i])
		}
	})
}
