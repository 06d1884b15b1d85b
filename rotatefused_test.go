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
