package posenc_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"

	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// fusedCase is a random call of RotateFused.
type fusedCase[T posenc.Element] struct {
	angles  posenc.Angles
	tokens  int
	headDim int
	place   testkit.Placed
	norms   []*posenc.RMSNorm
	weights []int // of each norm
	scales  [][]float32
	memory  []T
}

func randomFusedCase[T posenc.Element](t testing.TB, r *rand.Rand, kind string) *fusedCase[T] {
	cfg := posenc.RotaryConfig{HeadDim: testkit.OneOf(r, []int{2, 6, 20, 32, 64, 72, 128, 256}), Layout: posenc.Layout(r.IntN(4)), Angles: posenc.AngleRounding(r.IntN(2)), AttentionFactor: testkit.OneOf(r, []float64{0, 1.25})}
	c := &fusedCase[T]{tokens: testkit.OneOf(r, []int{0, 1, 1, 2, 5, 16, 17, 38})}
	if r.IntN(20) == 0 { // a chunk has one row
		cfg.HeadDim, cfg.RotaryDim, c.tokens = 2*kernels.ChunkPairs+40, 2*kernels.ChunkPairs, testkit.OneOf(r, []int{1, 3})
	}
	c.headDim = cfg.HeadDim
	if r.IntN(2) == 0 {
		cfg.RotaryDim = 2 * (1 + r.IntN(min(kernels.ChunkPairs, cfg.HeadDim/2)))
		cfg.Offset = r.IntN(cfg.HeadDim - cfg.RotaryDim + 1)
	}
	pairs := cfg.HeadDim / 2
	if cfg.RotaryDim != 0 {
		pairs = cfg.RotaryDim / 2
	}
	axes := 1
	if r.IntN(4) == 0 {
		for range pairs {
			cfg.Axes = append(cfg.Axes, uint8(r.IntN(3)))
		}
		axes = 1 + int(slices.Max(cfg.Axes))
	}
	rotary := testkit.MustRotary(t, cfg)
	positions := testkit.RandomPositions(r, testkit.OneOf(r, testkit.PositionNames), axes*c.tokens)
	c.angles = rotary.At(positions)
	switch {
	case r.IntN(6) == 0:
		rows, err := rotary.Rows(positions)
		if err != nil {
			t.Fatal(err)
		}
		c.angles = rows.All()
		if r.IntN(2) == 0 && c.tokens > 0 {
			c.angles = rows.At(randomIDs(r, c.tokens, c.tokens))
		}
	case r.IntN(6) == 0:
		count := max(1, c.tokens)
		rows, err := posenc.NewRows(rowsConfigOf(cfg), randomTable[float32](r, count, pairs, true, plainOf(cfg).out, r.IntN(2) == 0))
		if err != nil {
			t.Fatal(err)
		}
		c.angles = rows.At(randomIDs(r, c.tokens, count))
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
		c.norms, c.weights, c.scales = append(c.norms, n), append(c.weights, size), append(c.scales, scale)
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
			if c.weights[i] != c.headDim {
				x.Heads, x.HeadStride = 1, 0
			}
			if err := posenc.Normalize(n, c.tokens, x); err != nil {
				return err
			}
		}
	}
	if err := posenc.Rotate(c.angles, views...); err != nil {
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
		list = append(list, posenc.FusedView[T]{View: v, Norm: c.norms[i], Scale: c.scales[i]})
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
				if err := posenc.RotateFused(c.angles, c.fused(views)...); err != nil {
					t.Fatal(err)
				}
				if i := testkit.FirstDifference(got, want); i >= 0 {
					t.Fatalf("%s, %d tokens of %d, views %+v: element %d is %v, want %v", kind, c.tokens, c.headDim, c.place.Views, i, got[i], want[i])
				}
			}
		}
	})
}

func TestRotateFusedErrors(t *testing.T) {
	type F = posenc.FusedView[float32]
	rotary := testkit.MustRotary(t, posenc.RotaryConfig{HeadDim: 4})
	norm4, norm8, norm6 := mustNorm(t, make([]float32, 4), 1, false), mustNorm(t, make([]float32, 8), 1, false), mustNorm(t, make([]float32, 6), 1, false)
	memory := make([]float32, 64)
	x := V{Data: memory[:16], Heads: 2} // 2 tokens of 2 heads of 4
	positions := []int32{3, 4}
	by := func(name string, a posenc.Angles, kind error, says string, xs ...F) testkit.Wrong {
		return testkit.Wrong{Name: name, Call: func() error { return posenc.RotateFused(a, xs...) }, Kind: kind, Says: []string{"posenc.RotateFused: " + says}}
	}
	fused := func(name string, kind error, says string, xs ...F) testkit.Wrong {
		return by(name, rotary.At(positions), kind, says, xs...)
	}
	testkit.CheckWrong(t, []testkit.Wrong{
		by("zero angles", posenc.Angles{}, posenc.ErrConfig, "a is zero, want Angles"),
		by("no rotary", (*posenc.Rotary)(nil).At(positions), posenc.ErrConfig, "a is zero, want Angles", F{View: x}),
		by("zero rotary", new(posenc.Rotary).At(positions), posenc.ErrConfig, "a is of a zero Rotary", F{View: x}),
		by("zero rows", new(posenc.Rows).All(), posenc.ErrConfig, "a is of zero Rows", F{View: x}),
		fused("data", posenc.ErrLength, "xs[0].Data is 15 elements, want 16", F{View: V{Data: memory[:15], Heads: 2}}),
		fused("zero norm", posenc.ErrConfig, "xs[0].Norm is zero", F{View: x, Norm: &posenc.RMSNorm{}}),
		fused("norm of another size", posenc.ErrShape, "xs[0].Norm is of 6 elements, want HeadDim = 4 or Heads*HeadDim = 8", F{View: x, Norm: norm6}),
		fused("norm of heads apart", posenc.ErrShape, "xs[0].HeadStride is 6, want 0 or HeadDim = 4", F{View: strided(memory, 2, 12, 6), Norm: norm8}),
		fused("scale of more tokens", posenc.ErrLength, "xs[0].Scale is 3 elements, want 2, one for each token", F{View: x, Scale: memory[20:23]}),
		fused("scale of no tokens", posenc.ErrLength, "xs[0].Scale is 0 elements, want 2", F{View: x, Scale: []float32{}}),
		fused("scale in its view", posenc.ErrOverlap, "xs[0].Scale is sharing memory with xs[0]", F{View: x, Scale: memory[15:17]}),
		fused("scale in another view", posenc.ErrOverlap, "xs[1].Scale is sharing memory with xs[0]", F{View: x}, F{View: V{Data: memory[16:32], Heads: 2}, Scale: memory[:2]}),
		fused("same view", posenc.ErrOverlap, "xs[1] is sharing elements with xs[0]", F{View: x}, F{View: x}),
	}, memory)
	for _, err := range []error{
		posenc.RotateFused[float32](rotary.At(positions)),
		posenc.RotateFused(rotary.At(nil), F{View: V{Heads: 1}, Norm: norm4, Scale: []float32{}}),
	} {
		if err != nil {
			t.Error(err)
		}
	}
}

func TestRotateFusedAllocates(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		rotary := testkit.MustRotary(t, posenc.RotaryConfig{HeadDim: 16})
		n, all := mustNorm(t, make([]float32, 16), 1, false), mustNorm(t, make([]float32, 64), 1, true)
		rows, err := rotary.Rows(testkit.Sequence(3))
		if err != nil {
			t.Fatal(err)
		}
		table, err := posenc.NewRows(posenc.RowsConfig{HeadDim: 16}, randomTable[float32](testkit.NewRand(76), 2, 8, true, posenc.HalfSplit, false))
		if err != nil {
			t.Fatal(err)
		}
		for name, call := range map[string]func(){
			"decode": func() {
				var q [64]float32
				var k [32]float32
				factors := [1]float32{2}
				posenc.RotateFused(rotary.At([]int32{77}), posenc.FusedView[float32]{View: posenc.View[float32]{Data: q[:], Heads: 4}, Norm: all, Scale: factors[:]}, posenc.FusedView[float32]{View: posenc.View[float32]{Data: k[:], Heads: 2}, Norm: n})
			},
			"prefill": func() {
				var q [640]posenc.Float16
				posenc.RotateFused(rotary.At([]int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), posenc.FusedView[posenc.Float16]{View: posenc.View[posenc.Float16]{Data: q[:], Heads: 4}, Norm: n})
			},
			"rows of full width": func() {
				var q [64]float32
				posenc.RotateFused(table.At([]int32{1}), posenc.FusedView[float32]{View: posenc.View[float32]{Data: q[:], Heads: 4}, Norm: n})
			},
			"rows": func() {
				var q [64]float32
				posenc.RotateFused(rows.At([]int32{2}), posenc.FusedView[float32]{View: posenc.View[float32]{Data: q[:], Heads: 4}, Norm: n})
			},
		} {
			if got := testing.AllocsPerRun(20, call); got != 0 {
				t.Errorf("%s: %v allocations", name, got)
			}
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
		if err := posenc.RotateFused(c.angles, c.fused(viewsIn(c.place, got, c.tokens, c.headDim))...); err != nil {
			t.Fatal(err)
		}
		if i := testkit.FirstDifference(got, want); i >= 0 {
			t.Fatalf("%s, %s, %d tokens of %d: element %d is %v, want %v", impl, kind, c.tokens, c.headDim, i, got[i], want[i])
		}
	})
}
