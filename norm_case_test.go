package posenc_test

import (
	"errors"
	"slices"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
)

var (
	_ = testkit.Register(testkit.Case{Function: "NewRMSNorm", Digests: digestOf("NewRMSNorm", digestNewRMSNorm), Call: func(a *testkit.Arguments) testkit.Call {
		weight := testkit.Slice[float32](a, 1+a.Next())
		cfg := posenc.RMSNormConfig{Epsilon: float32(a.Real(1e-6)), UnitOffset: a.Yes()}
		return testkit.Call{Allocates: testkit.Constructed, Run: func() error { return testkit.Made(posenc.NewRMSNorm(weight, cfg)) }}
	}})
	_ = testkit.Register(testkit.Case{Function: "Normalize", Times: 4, Long: longNormalize,
		Call:    oneOf(normalizeCall[float32], normalizeCall[posenc.Float16], normalizeCall[posenc.BFloat16]),
		OnStack: func() error { return errors.Join(normalizeOnStack[float32](), normalizeOnStack[posenc.Float16]()) },
		Digests: ofTypes("Normalize", digestNormalize[float32], digestNormalize[posenc.Float16], digestNormalize[posenc.BFloat16]),
	})
	_ = testkit.Register(testkit.Case{Function: "ScaleQueries", Times: 4,
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
func normOf(a *testkit.Arguments, n int) normArgument {
	if a.Any() && a.Below(8) == 0 {
		return normArgument{new(posenc.RMSNorm), nil, 0}
	}
	weight := testkit.Input[float32](a, n)
	cfg := posenc.RMSNormConfig{Epsilon: []float32{1e-6, 1e-5, 1, 0, 1e-30}[a.Below(5)], UnitOffset: a.Yes()}
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

func normalizeCall[T posenc.Element](a *testkit.Arguments) testkit.Call {
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
	xs := testkit.OutputViews[T](a, tokens, dim)
	return testkit.Call{
		Run:   func() error { return posenc.Normalize(norm.RMSNorm, tokens, xs...) },
		Right: func() bool { return norm.weight != nil && tokens >= 0 && viewsRight(xs, tokens, dim) },
		Want: func() {
			eachHead(xs, tokens, dim, func(token int, head []T) { normalizeRow(head, norm.weight, norm.epsilon) })
		},
		Parts: testkit.ViewParts(xs, tokens, dim, false, func(_ int, x posenc.View[T], tokens []int) error {
			return posenc.Normalize(norm.RMSNorm, len(tokens), x)
		}),
	}
}

// eachHead calls f for each head of the tokens of views.
func eachHead[T posenc.Element](xs []posenc.View[T], tokens, dim int, f func(token int, head []T)) {
	for i := range xs {
		for t := range tokens {
			for h := range xs[i].Heads {
				f(t, xs[i].Data[testkit.RowAt(&xs[i], t, h, dim):][:dim])
			}
		}
	}
}

func scaleCall[T posenc.Element](a *testkit.Arguments) testkit.Call {
	factors, dim := testkit.Slice[float32](a, a.Tokens()), a.Number(1, 70)
	tokens := len(factors)
	xs := testkit.OutputViews[T](a, tokens, dim)
	return testkit.Call{
		Run: func() error { return posenc.ScaleQueries(factors, dim, xs...) },
		Right: func() bool {
			right := dim >= 1 && viewsRight(xs, tokens, dim)
			for _, x := range xs {
				right = right && !testkit.Share(x.Data, factors)
			}
			return right
		},
		Want: func() { eachHead(xs, tokens, dim, func(token int, head []T) { scaleRow(head, factors[token]) }) },
		Parts: testkit.ViewParts(xs, tokens, dim, false, func(_ int, x posenc.View[T], tokens []int) error {
			return posenc.ScaleQueries(testkit.Pick(factors, tokens), dim, x)
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

func digestNewRMSNorm(d *testkit.Digest) {
	for _, epsilon := range []float32{0, 1e-6, 0x1p100} {
		for _, unitOffset := range []bool{false, true} {
			norm := mustNorm(testkit.DigestElements[float32](d, 40), epsilon, unitOffset)
			x := testkit.DigestNumbers[float32](d, 40)
			d.Must(posenc.Normalize(norm, 1, posenc.View[float32]{Data: x, Heads: 1}))
			d.Add(x)
		}
	}
}

func digestNormalize[T posenc.Element](d *testkit.Digest) {
	for i, n := range []int{1, 7, 16, 31, 64, 129, 300} {
		for j, fill := range []func(*testkit.Digest, int) []T{testkit.DigestNumbers[T], testkit.DigestNumbers[T], testkit.DigestElements[T]} {
			norm := mustNorm(testkit.DigestNumbers[float32](d, n), 1e-5, false)
			x := testkit.DigestViewOf(d, fill, i+j, 4, 2, n)
			d.Must(posenc.Normalize(norm, 4, x.View))
			d.Add(x.Memory)
		}
	}
}

func digestScale[T posenc.Element](d *testkit.Digest) {
	for i, n := range []int{1, 7, 32, 67, 300} {
		x, y := testkit.DigestViewOf(d, testkit.DigestElements[T], i, 4, 3, n), testkit.DigestViewOf(d, testkit.DigestElements[T], i+1, 4, 1, n)
		d.Must(posenc.ScaleQueries(testkit.DigestElements[float32](d, 4), n, x.View, y.View))
		d.Add(x.Memory, y.Memory)
	}
}
