package posenc_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/test/exhaustive"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/kernels"
)

// widely does f to elements as float32, and rounds them once.
func widely[T posenc.Element](x []T, f func(x []float32)) {
	wide := make([]float32, len(x))
	for i, v := range x {
		wide[i] = kit.Widen(v)
	}
	f(wide)
	for i, v := range wide {
		x[i] = kit.Narrow[T](v)
	}
}

func normalizeRow[T posenc.Element](x []T, weight []float32, epsilon float32) {
	widely(x, func(x []float32) { generic.RMSNormF32(x, weight, epsilon) })
}

func scaleRow[T posenc.Element](x []T, factor float32) {
	widely(x, func(x []float32) { generic.ScaleF32(x, factor) })
}

func mustNorm(weight []float32, epsilon float32, unitOffset bool) *posenc.RMSNorm {
	return kit.Must(posenc.NewRMSNorm(weight, posenc.RMSNormConfig{Epsilon: epsilon, UnitOffset: unitOffset}))
}

func randomWeight(r *rand.Rand, n int) []float32 {
	s := make([]float32, n)
	for i := range s {
		s[i] = float32(r.NormFloat64())
	}
	return s
}

// A call of a kernel is bounded: rows beyond the bound go to several.
func TestNormalizeLarge(t *testing.T) {
	kit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := kit.NewRand(74)
		for _, shape := range [][4]int{{3, 2, kernels.MaxCallElements + 5}, {2, 1, kernels.MaxCallElements, 3}, {1, 40, kernels.MaxCallElements/8 - 3}, {2, 1, 2*kernels.MaxCallElements + 1}, {kernels.MaxCallElements/64 + 3, 2, 64}} {
			tokens, heads, dim, gap := shape[0], shape[1], shape[2], shape[3]
			x, weight, factors := randomWeight(r, tokens*heads*(dim+gap)-gap), randomWeight(r, dim), randomWeight(r, tokens)
			want := slices.Clone(x)
			for i := range tokens * heads {
				row := want[i*(dim+gap):][:dim]
				generic.RMSNormF32(row, weight, 1e-6)
				generic.ScaleF32(row, factors[i/heads])
			}
			v := strided(x, heads, heads*(dim+gap), dim+gap)
			kit.NoError(t, posenc.Normalize(mustNorm(weight, 1e-6, false), tokens, v), posenc.ScaleQueries(factors, dim, v))
			if i := kit.FirstDifference(x, want); i >= 0 {
				t.Errorf("%v: element %d is %v, want %v", shape, i, x[i], want[i])
			}
		}
	})
}

// rmsNormReal is the real formula.
func rmsNormReal(x, weight []float32, epsilon float32) []*big.Float {
	real := func(v float32) *big.Float { return exhaustive.RealOf(float64(v)) }
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
		e := exhaustive.RealOf(float64(got[i]))
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
	kit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := kit.NewRand(77)
		worst := 0.0
		for range kit.Rounds(200) {
			n := kit.OneOf(r, []int{1, 7, 64, 80, 128, 256, 1024})
			x, weight := randomWeight(r, n), randomWeight(r, n)
			epsilon := kit.OneOf(r, []float32{1e-6, 1e-5, math.SmallestNonzeroFloat32, 3})
			want := rmsNormReal(x, weight, epsilon)
			kit.NoError(t, posenc.Normalize(mustNorm(weight, epsilon, false), 1, posenc.View[float32]{Data: x, Heads: 1}))
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
	for _, c := range kit.ReadCases[struct {
		Module         string
		Rows, Elements int
		Epsilon        float64
		UnitOffset     bool `json:"unit_offset"`
		Float32        string
		BFloat16       string
	}](t, "testdata/rmsnorm/vectors.json", 3) {
		t.Run("module="+c.Module, func(t *testing.T) {
			n := mustNorm(kit.GoldenInputs(1<<20, c.Elements), float32(c.Epsilon), c.UnitOffset)
			x := kit.GoldenInputs(0, c.Rows*c.Elements)
			low := make([]posenc.BFloat16, len(x))
			for i, v := range x {
				low[i] = kit.Narrow[posenc.BFloat16](v)
			}
			kit.NoError(t, posenc.Normalize(n, c.Rows, posenc.View[float32]{Data: x, Heads: 1}))
			want, wantLow := kit.Hex[float32](c.Float32), kit.Hex[posenc.BFloat16](c.BFloat16)
			if len(want) != len(x) || len(wantLow) != 0 && len(wantLow) != len(x) {
				t.Fatalf("%d and %d of %d elements", len(want), len(wantLow), len(x))
			}
			worst := 0.0
			for i, got := range x {
				w := float64(want[i])
				worst = max(worst, math.Abs(float64(got)-w)/math.Abs(w)*0x1p24)
			}
			bound := normBound(laneAdditions(c.Elements)) + normBound(c.Elements-1)
			if !(worst <= bound) {
				t.Errorf("float32: off by %.2f units of 2^-24, at most %.2f are explained", worst, bound)
			}
			t.Logf("float32: off by at most %.2f units of 2^-24", worst)
			if len(wantLow) == 0 {
				return
			}
			kit.NoError(t, posenc.Normalize(n, c.Rows, posenc.View[posenc.BFloat16]{Data: low, Heads: 1}))
			differ := 0
			for i, got := range low {
				steps := int(got) - int(wantLow[i])
				if steps < -1 || steps > 1 {
					t.Errorf("bfloat16: element %d is %#x, want %#x or a neighbour", i, got, wantLow[i])
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
	kit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, tt := range []struct {
			x, want []float32
			epsilon float32
		}{
			{[]float32{1e30, -1, 0}, []float32{0, float32(math.Copysign(0, -1)), 0}, 1e-6},
			{[]float32{inf, 1}, []float32{nan, 0}, 1e-6},
			{[]float32{nan, 1}, []float32{nan, nan}, 1e-6},
			{[]float32{0, float32(math.Copysign(0, -1))}, []float32{0, float32(math.Copysign(0, -1))}, 1e-6},
			{[]float32{0, 1e-30}, []float32{0, 1e-30 * 0x1.6a09e6p74}, math.SmallestNonzeroFloat32}, // epsilon alone
			{[]float32{0, 0, 0}, []float32{0, 0, 0}, math.SmallestNonzeroFloat32},
			{[]float32{3, -3, 3}, []float32{1, -1, 1}, math.SmallestNonzeroFloat32},
		} {
			got := slices.Clone(tt.x)
			n := mustNorm([]float32{1, 1, 1}[:len(got)], tt.epsilon, false)
			kit.NoError(t, posenc.Normalize(n, 1, posenc.View[float32]{Data: got, Heads: 1}))
			if !kit.SameSlices(got, tt.want) {
				t.Errorf("%v becomes %v, want %v", tt.x, got, tt.want)
			}
		}
	})
}

func TestNormErrors(t *testing.T) {
	inf := float32(math.Inf(1))
	norm4 := mustNorm(make([]float32, 4), 1, false)
	memory := make([]float32, 64)
	newNorm := func(weight []float32, epsilon float32) error {
		return kit.Made(posenc.NewRMSNorm(weight, posenc.RMSNormConfig{Epsilon: epsilon}))
	}
	x := V{Data: memory[:16], Heads: 2} // 2 tokens of 2 heads of 4
	fails := kit.Failures(t, memory)
	fails(newNorm(nil, 1), posenc.ErrConfig, "posenc.NewRMSNorm: weight has 0 elements")
	fails(newNorm(make([]float32, 1<<20+1), 1), posenc.ErrConfig, "posenc.NewRMSNorm: weight has 1048577 elements")
	fails(newNorm(memory, 0), posenc.ErrConfig, "posenc.NewRMSNorm: cfg.Epsilon is 0, want a positive finite number: the model's rms_norm_eps, or the default of its class")
	fails(newNorm(memory, float32(math.NaN())), posenc.ErrConfig, "posenc.NewRMSNorm: cfg.Epsilon is NaN")
	fails(newNorm(memory, -1), posenc.ErrConfig, "posenc.NewRMSNorm: cfg.Epsilon is -1")
	fails(newNorm(memory, inf), posenc.ErrConfig, "posenc.NewRMSNorm: cfg.Epsilon is +Inf")
	fails(posenc.Normalize(nil, 2, x), posenc.ErrConfig, "posenc.Normalize: norm is nil or zero")
	fails(posenc.Normalize(norm4, -1, x), posenc.ErrShape, "posenc.Normalize: tokens is -1")
	fails(posenc.Normalize(norm4, 1, x), posenc.ErrLength, "posenc.Normalize: xs[0].Data has 16 elements, want 8")
	fails(posenc.Normalize(norm4, 2, strided(memory, 2, 7, 0)), posenc.ErrOverlap, "posenc.Normalize: xs[0].TokenStride is 7")
	fails(posenc.Normalize(norm4, 2, V{Data: memory, Heads: math.MaxInt}), posenc.ErrShape, "posenc.Normalize: "+fmt.Sprintf("xs[0].Heads is %d, want so few that their product with HeadDim 4 fits an int", math.MaxInt))
	fails(posenc.Normalize(norm4, math.MaxInt, V{Data: memory, Heads: 2}), posenc.ErrLength, "posenc.Normalize: xs[0].Data has 64 elements, want fewer tokens or heads, or smaller strides: an int cannot count the elements for")
	fails(posenc.ScaleQueries(memory[20:22], 0, x), posenc.ErrShape, "posenc.ScaleQueries: headDim is 0")
	fails(posenc.ScaleQueries(memory[20:23], 4, x), posenc.ErrLength, "posenc.ScaleQueries: xs[0].Data has 16 elements, want 24")
	fails(posenc.ScaleQueries(memory[14:16], 4, x), posenc.ErrOverlap, "posenc.ScaleQueries: xs[0] is sharing memory with factors")
	kit.NoError(t, posenc.Normalize(norm4, 0, V{Heads: 1}), posenc.ScaleQueries(nil, 4, V{Heads: 1}), // nothing to do
		posenc.Normalize(mustNorm(make([]float32, 1<<20), math.MaxFloat32, false), 0, V{Heads: 1}))
}

var (
	_ = kit.Register(kit.Case{Function: "NewRMSNorm", Digests: digestOf("NewRMSNorm", digestNewRMSNorm), Call: func(a *kit.Arguments) kit.Call {
		weight := kit.Slice[float32](a, 1+a.Next())
		cfg := posenc.RMSNormConfig{Epsilon: float32(a.Real(1e-6)), UnitOffset: a.Yes()}
		return kit.Call{Allocates: kit.Constructed, Run: func() error { return kit.Made(posenc.NewRMSNorm(weight, cfg)) }}
	}})
	_ = kit.Register(kit.Case{Function: "Normalize", Times: 4, Long: longNormalize,
		Call:    oneOf(normalizeCall[float32], normalizeCall[posenc.Float16], normalizeCall[posenc.BFloat16]),
		OnStack: func() error { return errors.Join(normalizeOnStack[float32](), normalizeOnStack[posenc.Float16]()) },
		Digests: ofTypes("Normalize", digestNormalize[float32], digestNormalize[posenc.Float16], digestNormalize[posenc.BFloat16]),
	})
	_ = kit.Register(kit.Case{Function: "ScaleQueries", Times: 4,
		Call:    oneOf(scaleCall[float32], scaleCall[posenc.Float16], scaleCall[posenc.BFloat16]),
		OnStack: func() error { return errors.Join(scaleOnStack[float32](), scaleOnStack[posenc.BFloat16]()) },
		Long: func() error {
			return eachLong(func(_ posenc.Angles, tokens, heads, dim int) error {
				factors := make([]float32, tokens)
				return errors.Join(posenc.ScaleQueries(factors, dim, longView[float32](tokens, heads, dim)), posenc.ScaleQueries(factors, dim, longView[posenc.Float16](tokens, heads, dim)), posenc.ScaleQueries(factors, dim, longView[posenc.BFloat16](tokens, heads, dim)))
			})
		},
		Digests: ofTypes("ScaleQueries", digestScale[float32], digestScale[posenc.Float16], digestScale[posenc.BFloat16]),
	})
)

// normArgument is an RMSNorm of any kind, and what it does to a row.
type normArgument struct {
	*posenc.RMSNorm
	weight  []float32 // as the formula has it; nil where there is no norm
	epsilon float32
}

// normOf returns the norm of rows of n elements; where any arguments are wanted also a
// zero one.
func normOf(a *kit.Arguments, n int) normArgument {
	if a.Any() && a.Below(8) == 0 {
		return normArgument{new(posenc.RMSNorm), nil, 0}
	}
	weight := kit.Input[float32](a, n)
	cfg := posenc.RMSNormConfig{Epsilon: []float32{1e-6, 1e-5, 1, math.SmallestNonzeroFloat32, 1e-30}[a.Below(5)], UnitOffset: a.Yes()}
	if a.Ordinary() {
		cfg.Epsilon = 1e-6
	}
	norm, err := posenc.NewRMSNorm(weight, cfg)
	if err != nil {
		return normArgument{new(posenc.RMSNorm), nil, 0}
	}
	given := weight
	weight = slices.Clone(weight)
	clear(given) // NewRMSNorm keeps nothing of it
	if cfg.UnitOffset {
		for i := range weight {
			weight[i]++
		}
	}
	return normArgument{norm, weight, cfg.Epsilon}
}

func normalizeCall[T posenc.Element](a *kit.Arguments) kit.Call {
	dim := a.Length()
	if a.Any() {
		dim = 1 + a.Below(70)
	}
	norm := normOf(a, dim)
	if a.Rarely() {
		norm.RMSNorm, norm.weight = nil, nil
	}
	dim = max(len(norm.weight), 1)
	tokens := a.Number(0, 9)
	xs := kit.OutputViews[T](a, tokens, dim)
	return kit.Call{
		Run:   func() error { return posenc.Normalize(norm.RMSNorm, tokens, xs...) },
		Right: func() bool { return norm.weight != nil && tokens >= 0 && viewsRight(xs, tokens, dim) },
		Want: func() {
			eachHead(xs, tokens, dim, func(token int, head []T) { normalizeRow(head, norm.weight, norm.epsilon) })
		},
		Parts: kit.ViewParts(xs, tokens, dim, false, func(_ int, x posenc.View[T], tokens []int) error {
			return posenc.Normalize(norm.RMSNorm, len(tokens), x)
		}),
	}
}

// eachHead calls f for each head of the tokens of views.
func eachHead[T posenc.Element](xs []posenc.View[T], tokens, dim int, f func(token int, head []T)) {
	for i := range xs {
		for t := range tokens {
			for h := range xs[i].Heads {
				f(t, xs[i].Data[kit.RowAt(&xs[i], t, h, dim):][:dim])
			}
		}
	}
}

func scaleCall[T posenc.Element](a *kit.Arguments) kit.Call {
	factors, dim := kit.Slice[float32](a, a.Tokens()), a.Number(1, 70)
	tokens := len(factors)
	xs := kit.OutputViews[T](a, tokens, dim)
	return kit.Call{
		Run: func() error { return posenc.ScaleQueries(factors, dim, xs...) },
		Right: func() bool {
			right := dim >= 1 && viewsRight(xs, tokens, dim)
			for _, x := range xs {
				right = right && !kit.Share(x.Data, factors)
			}
			return right
		},
		Want: func() { eachHead(xs, tokens, dim, func(token int, head []T) { scaleRow(head, factors[token]) }) },
		Parts: kit.ViewParts(xs, tokens, dim, false, func(_ int, x posenc.View[T], tokens []int) error {
			return posenc.ScaleQueries(kit.Pick(factors, tokens), dim, x)
		}),
	}
}

func normalizeOnStack[T posenc.Element]() error {
	var x [2 * 3 * 8]T
	return posenc.Normalize(stackNorms()[0], 2, posenc.View[T]{Data: x[:], Heads: 3})
}

func scaleOnStack[T posenc.Element]() error {
	var x [2 * 3 * 8]T
	factors := [2]float32{1, 2}
	return posenc.ScaleQueries(factors[:], 8, posenc.View[T]{Data: x[:], Heads: 3})
}

func longNormalize() (err error) {
	for _, shape := range []struct{ tokens, heads, dim int }{{2, 3, 1 << 16}, {1, 3000, 128}, {300, 32, 128}, {3, 2, 1000}} {
		norm := mustNorm(make([]float32, shape.dim), 1e-6, false)
		err = errors.Join(err,
			posenc.Normalize(norm, shape.tokens, longView[float32](shape.tokens, shape.heads, shape.dim)),
			posenc.Normalize(norm, shape.tokens, longView[posenc.Float16](shape.tokens, shape.heads, shape.dim)),
			posenc.Normalize(norm, shape.tokens, longView[posenc.BFloat16](shape.tokens, shape.heads, shape.dim)))
	}
	return err
}

func digestNewRMSNorm(d *kit.Digest) {
	for _, epsilon := range []float32{math.SmallestNonzeroFloat32, 1e-6, 0x1p100} {
		for _, unitOffset := range []bool{false, true} {
			norm := mustNorm(kit.DigestElements[float32](d, 40), epsilon, unitOffset)
			x := kit.DigestNumbers[float32](d, 40)
			d.Must(posenc.Normalize(norm, 1, posenc.View[float32]{Data: x, Heads: 1}))
			d.Add(x)
		}
	}
}

func digestNormalize[T posenc.Element](d *kit.Digest) {
	for i, n := range []int{1, 7, 16, 31, 64, 129, 300} {
		for j, fill := range []func(*kit.Digest, int) []T{kit.DigestNumbers[T], kit.DigestNumbers[T], kit.DigestElements[T]} {
			norm := mustNorm(kit.DigestNumbers[float32](d, n), 1e-5, false)
			x := kit.DigestViewOf(d, fill, i+j, 4, 2, n)
			d.Must(posenc.Normalize(norm, 4, x.View))
			d.Add(x.Memory)
		}
	}
}

func digestScale[T posenc.Element](d *kit.Digest) {
	for i, n := range []int{1, 7, 32, 67, 300} {
		x, y := kit.DigestViewOf(d, kit.DigestElements[T], i, 4, 3, n), kit.DigestViewOf(d, kit.DigestElements[T], i+1, 4, 1, n)
		d.Must(posenc.ScaleQueries(kit.DigestElements[float32](d, 4), n, x.View, y.View))
		d.Add(x.Memory, y.Memory)
	}
}
