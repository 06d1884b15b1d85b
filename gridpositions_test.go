package posenc_test

import (
	"math"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
)

var _ = testkit.Register(testkit.Case{Function: "GridPositions",
	Call: func(a *testkit.Arguments) testkit.Call {
		g := posenc.GridPositionsOptions{Height: a.Number(1, 9), Width: a.Number(1, 9), Offset: float32(a.Real(0.5)), ColumnsFirst: a.Yes()}
		switch a.Below(4) {
		case 0:
			g.Centered = true
		case 1:
			g.RefHeight, g.RefWidth = a.Number(1, 30), a.Number(1, 30)
		case 2:
			g.PositionScale = float32(a.Real(0.25))
		}
		if a.Any() && a.Below(4) == 0 {
			g.RefHeight, g.PositionScale = a.Number(0, 9), float32(a.Real(0))
		}
		positions := testkit.Output[float32](a, testkit.Small(2, g.Height, g.Width))
		return testkit.Call{
			Run:   func() error { return posenc.GridPositions(positions, g) },
			Right: func() bool { return gridPositionsRight(positions, g) },
			Want: func() {
				for i := range positions {
					patch := i % (g.Height * g.Width)
					if row := (i < g.Height*g.Width) != g.ColumnsFirst; row {
						positions[i] = gridPositionPlain(patch/g.Width, g.Height, g.RefHeight, g)
					} else {
						positions[i] = gridPositionPlain(patch%g.Width, g.Width, g.RefWidth, g)
					}
				}
			},
		}
	},
	OnStack: func() error {
		var positions [2 * 6]float32
		return posenc.GridPositions(positions[:], posenc.GridPositionsOptions{Height: 2, Width: 3, Centered: true})
	},
	Digests: digestOf("GridPositions", func(d *testkit.Digest) {
		for _, g := range []posenc.GridPositionsOptions{
			{Centered: true}, {Centered: true, Offset: 0.25, ColumnsFirst: true}, {RefHeight: 16, RefWidth: 24}, {RefHeight: 24, RefWidth: 16, Offset: 1}, {PositionScale: 1. / 3}, {},
		} {
			g.Height, g.Width = 37, 23
			positions := make([]float32, 2*37*23)
			d.Must(posenc.GridPositions(positions, g))
			d.Add(positions)
		}
	}),
})

// gridPositionPlain rounds each step, taken in float64, to float32: sums, products and
// quotients of two float32 that are rounded twice so are rounded right.
func gridPositionPlain(i, n, ref int, g posenc.GridPositionsOptions) float32 {
	round := func(x float64) float64 { return float64(float32(x)) }
	p := round(float64(i) + float64(g.Offset))
	if g.Centered {
		p = round(round(float64(i)+0.5+float64(g.Offset)) / float64(n))
		return float32(round(2*math.Pi) * round(2*p-1))
	}
	if ref > 0 {
		p = round(round(p/float64(n)) * float64(ref))
	}
	if g.PositionScale != 0 {
		p = round(p * float64(g.PositionScale))
	}
	return float32(p)
}

func gridPositionsRight(positions []float32, g posenc.GridPositionsOptions) bool {
	for _, n := range []int{g.Height, g.Width} {
		if n < 1 || n > 1<<22 {
			return false
		}
	}
	for _, n := range []int{g.RefHeight, g.RefWidth} {
		if n < 0 || n > 1<<22 {
			return false
		}
	}
	return float64(len(positions)) == 2*float64(g.Height)*float64(g.Width) && math.Abs(float64(g.Offset)) < 1<<22 && math.Abs(float64(g.PositionScale)) <= math.MaxFloat32 &&
		(g.RefHeight == 0) == (g.RefWidth == 0) && !(g.Centered && (g.RefHeight != 0 || g.PositionScale != 0))
}

func TestGridPositionsErrors(t *testing.T) {
	memory := make([]float32, 16)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	fails := testkit.Failures(t, memory)
	fails(posenc.GridPositions(memory[:12], posenc.GridPositionsOptions{Width: 3}), posenc.ErrConfig, "posenc.GridPositions: options.Height is 0, want from 1 to 2^22")
	fails(posenc.GridPositions(memory[:12], posenc.GridPositionsOptions{Height: 1, Width: 1<<22 + 1}), posenc.ErrConfig, "posenc.GridPositions: options.Width is 4194305")
	fails(posenc.GridPositions(memory[:12], posenc.GridPositionsOptions{Height: 2, Width: 3, RefWidth: -1}), posenc.ErrConfig, "posenc.GridPositions: options.RefWidth is -1, want from 0 to 2^22")
	fails(posenc.GridPositions(memory[:12], posenc.GridPositionsOptions{Height: 2, Width: 3, RefHeight: 16}), posenc.ErrConfig, "posenc.GridPositions: options.RefWidth is 0, want RefHeight and RefWidth both set or both 0, and RefHeight is 16")
	fails(posenc.GridPositions(memory[:12], posenc.GridPositionsOptions{Height: 2, Width: 3, Offset: nan}), posenc.ErrConfig, "posenc.GridPositions: options.Offset is NaN")
	fails(posenc.GridPositions(memory[:12], posenc.GridPositionsOptions{Height: 2, Width: 3, Offset: 1 << 22}), posenc.ErrConfig, "posenc.GridPositions: options.Offset is 4.194304e+06, want a number below 2^22")
	fails(posenc.GridPositions(memory[:12], posenc.GridPositionsOptions{Height: 2, Width: 3, PositionScale: inf}), posenc.ErrConfig, "posenc.GridPositions: options.PositionScale is +Inf")
	fails(posenc.GridPositions(memory[:12], posenc.GridPositionsOptions{Height: 2, Width: 3, RefHeight: 1, RefWidth: 1, Centered: true}), posenc.ErrConfig, "posenc.GridPositions: options.RefHeight is 1, want 0 with Centered")
	fails(posenc.GridPositions(memory[:12], posenc.GridPositionsOptions{Height: 2, Width: 3, PositionScale: 2, Centered: true}), posenc.ErrConfig, "posenc.GridPositions: options.PositionScale is 2, want 0 with Centered")
	fails(posenc.GridPositions(memory[:11], posenc.GridPositionsOptions{Height: 2, Width: 3}), posenc.ErrLength, "posenc.GridPositions: positions has 11 elements, want 2*Height*Width of 2 by 3 patches")
	fails(posenc.GridPositions(nil, posenc.GridPositionsOptions{Height: 1 << 22, Width: 1 << 22}), posenc.ErrLength, "posenc.GridPositions: positions has 0 elements")
	testkit.NoError(t, posenc.GridPositions(memory[:12], posenc.GridPositionsOptions{Height: 2, Width: 3, PositionScale: -math.MaxFloat32}))
}
