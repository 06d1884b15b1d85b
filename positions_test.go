package posenc_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/test/kit"
)

func TestRaggedPositionsErrors(t *testing.T) {
	memory := []int32{0, 2, 5, 9, 9, 9, 9, 9, 9, 9}
	p := memory[4:9]
	fails := kit.Failures(t, memory)
	fails(posenc.RaggedPositions(p, nil, nil), posenc.ErrLength, "posenc.RaggedPositions: starts has 0 elements, want one more than there are sequences")
	fails(posenc.RaggedPositions(p, []int32{0, 2, 5}, []int32{1}), posenc.ErrLength, "posenc.RaggedPositions: offsets has 1 element, want nil or 2")
	fails(posenc.RaggedPositions(p, []int32{0, 2, 5}, []int32{}), posenc.ErrLength, "posenc.RaggedPositions: offsets has 0 elements, want nil or 2")
	fails(posenc.RaggedPositions(p, []int32{1, 2, 5}, nil), posenc.ErrShape, "posenc.RaggedPositions: starts[0] is 1, want 0")
	fails(posenc.RaggedPositions(p, []int32{0, 2, 1, 5}, nil), posenc.ErrShape, "posenc.RaggedPositions: starts[2] is 1, want at least starts[1] = 2")
	fails(posenc.RaggedPositions(p, []int32{0, 2, 6}, nil), posenc.ErrLength, "posenc.RaggedPositions: positions has 5 elements, want starts[2] = 6")
	fails(posenc.RaggedPositions(nil, []int32{0, 5}, nil), posenc.ErrLength, "posenc.RaggedPositions: positions has 0 elements, want starts[1] = 5")
	fails(posenc.RaggedPositions(p, []int32{0, 2, 5}, []int32{0, math.MaxInt32 - 1}), posenc.ErrPosition, "posenc.RaggedPositions: offsets[1] is 2147483646, want at most 2147483645 for 3 tokens")
	kit.NoError(t, posenc.RaggedPositions(make([]int32, 5), []int32{0, 2, 5}, []int32{0, math.MaxInt32 - 2}))
	fails(posenc.RaggedPositions(memory[2:7], memory[:3], nil), posenc.ErrOverlap, "posenc.RaggedPositions: positions is sharing elements with starts")
	fails(posenc.RaggedPositions(memory[4:9], memory[:3], memory[8:10]), posenc.ErrOverlap, "posenc.RaggedPositions: positions is sharing elements with offsets")
	if err := posenc.RaggedPositions(memory[4:9], memory[:3], memory[1:3]); err != nil { // starts and offsets are read
		t.Error(err)
	}
}

func TestDualChunkErrors(t *testing.T) {
	memory := make([]int32, 16)
	for i := range memory {
		memory[i] = int32(i)
	}
	good := posenc.DualChunk{ChunkSize: 8, LocalSize: 3}
	x, y := memory[:4], memory[8:12]
	fails := kit.Failures(t, memory)
	for function, call := range map[string]func(d posenc.DualChunk, results, positions []int32) error{
		"KeyPositions": posenc.DualChunk.KeyPositions,
		"QueryPositions": func(d posenc.DualChunk, results, positions []int32) error {
			return d.QueryPositions(results, positions, posenc.InterChunk)
		},
	} {
		name := map[string]string{"KeyPositions": "keys", "QueryPositions": "queries"}[function]
		chunk := func(kind error, says string, d posenc.DualChunk, results, positions []int32) {
			t.Helper()
			fails(call(d, results, positions), kind, "posenc.DualChunk."+function+": "+says)
		}
		chunk(posenc.ErrConfig, "d.ChunkSize is 0, want from 1 to 2^30", posenc.DualChunk{}, y, x)
		chunk(posenc.ErrConfig, "d.ChunkSize is 1073741825", posenc.DualChunk{ChunkSize: 1<<30 + 1}, y, x)
		chunk(posenc.ErrConfig, "d.LocalSize is -1, want from 0 to ChunkSize-1 = 7", posenc.DualChunk{ChunkSize: 8, LocalSize: -1}, y, x)
		chunk(posenc.ErrConfig, "d.LocalSize is 8", posenc.DualChunk{ChunkSize: 8, LocalSize: 8}, y, x)
		chunk(posenc.ErrLength, name+" has 3 elements, want 4 as in positions", good, y[:3], x)
		chunk(posenc.ErrOverlap, name+" is sharing some elements with positions", good, memory[1:5], x)
		chunk(posenc.ErrPosition, "positions[2] is -1, want at least 0", good, y, []int32{0, 1, -1, 2})
	}
	fails(good.QueryPositions(y, x, 5), posenc.ErrConfig, "posenc.DualChunk.QueryPositions: which is 5, want one of the constants")
}

var (
	_ = kit.Register(kit.Case{Function: "RaggedPositions", Call: raggedCall, Digests: digestOf("RaggedPositions", digestRagged),
		OnStack: func() error {
			var positions [8]int32
			return posenc.RaggedPositions(positions[:], []int32{0, 3, 8}, []int32{5, -2})
		},
	})
	_ = kit.Register(kit.Case{Function: "DualChunk.KeyPositions", Digests: digestOf("DualChunk.KeyPositions", digestKeyPositions),
		Call: func(a *kit.Arguments) kit.Call {
			return dualChunkCall(a, 0, posenc.DualChunk.KeyPositions)
		},
		OnStack: func() error {
			var p [8]int32
			return posenc.DualChunk{ChunkSize: 8, LocalSize: 3}.KeyPositions(p[:], p[:])
		},
	})
	_ = kit.Register(kit.Case{Function: "DualChunk.QueryPositions", Digests: digestOf("DualChunk.QueryPositions", digestQueryPositions), Times: 4,
		Call: func(a *kit.Arguments) kit.Call {
			which := posenc.DualChunkQuery(a.Number(0, 4))
			return dualChunkCall(a, which, func(d posenc.DualChunk, results, positions []int32) error {
				return d.QueryPositions(results, positions, which)
			})
		},
		OnStack: func() (err error) {
			var p [8]int32
			for which := range posenc.DualChunkQuery(5) {
				err = errors.Join(err, posenc.DualChunk{ChunkSize: 8, LocalSize: 3}.QueryPositions(p[:], p[:], which))
			}
			return err
		},
	})
)

func raggedCall(a *kit.Arguments) kit.Call {
	sequences, tokens := a.Below(9), 0
	starts := kit.Slice[int32](a, sequences+1)
	if !a.Any() || a.Below(8) > 0 {
		for i := range starts {
			starts[i] = int32(tokens)
			if i+1 < len(starts) {
				tokens += a.Below(20)
			}
		}
	}
	var offsets []int32
	if a.Yes() {
		offsets = kit.Slice[int32](a, sequences)
		a.FillPositions(offsets)
		if !a.Any() {
			for i := range offsets {
				offsets[i] -= offsets[i] >> 8 & 255 // not next to the last
				offsets[i] = min(offsets[i], math.MaxInt32-20)
			}
		}
	}
	offset := func(sequence int) int64 {
		if offsets == nil {
			return 0
		}
		return int64(offsets[sequence])
	}
	positions := kit.Output[int32](a, tokens)
	return kit.Call{
		Run: func() error { return posenc.RaggedPositions(positions, starts, offsets) },
		Right: func() bool {
			right := len(starts) > 0 && starts[0] == 0 && int(starts[len(starts)-1]) == len(positions) && (offsets == nil || len(offsets) == len(starts)-1) &&
				!kit.Share(positions, starts) && !kit.Share(positions, offsets)
			for b := 0; right && b < len(starts)-1; b++ {
				length := int64(starts[b+1]) - int64(starts[b])
				right = length >= 0 && offset(b)+length-1 <= math.MaxInt32
			}
			return right
		},
		Want: func() {
			for b := range len(starts) - 1 {
				for t := starts[b]; t < starts[b+1]; t++ {
					positions[t] = int32(offset(b) + int64(t) - int64(starts[b]))
				}
			}
		},
		// Sequences of a batch, and sequences that go on where their first part ended.
		Parts: func(c *kit.Choices) (groups [][]func() error) {
			for b := range len(starts) - 1 {
				at := c.Cut(int(starts[b+1] - starts[b]))
				for i, first := range at[:len(at)-1] {
					part := positions[int(starts[b])+first : int(starts[b])+at[i+1]]
					groups = append(groups, []func() error{func() error {
						return posenc.RaggedPositions(part, []int32{0, int32(len(part))}, []int32{int32(offset(b)) + int32(first)})
					}})
				}
			}
			return groups
		},
	}
}

func dualChunkCall(a *kit.Arguments, which posenc.DualChunkQuery, fill func(d posenc.DualChunk, results, positions []int32) error) kit.Call {
	d := posenc.DualChunk{ChunkSize: int32(a.Number(5, 40)), LocalSize: int32(a.Number(0, 4))}
	if a.Yes() {
		d = []posenc.DualChunk{{8, 0}, {8, 7}, {1, 0}, {262144, 8192}, {1 << 30, 0}, {1 << 30, 1 << 29}}[a.Below(6)]
	}
	n := a.Below(200)
	positions := kit.Slice[int32](a, n)
	a.FillPositions(positions)
	if !a.Any() {
		for i := range positions {
			positions[i] &= math.MaxInt32
		}
	}
	results := positions
	if a.Below(4) > 0 { // otherwise in place
		results = kit.Slice[int32](a, n)
	}
	kit.Writes(a, func(mark func(s []int32)) { mark(results) })
	return kit.Call{
		Run: func() error { return fill(d, results, positions) },
		Right: func() bool {
			right := d.ChunkSize >= 1 && d.ChunkSize <= 1<<30 && d.LocalSize >= 0 && d.LocalSize < d.ChunkSize && which <= posenc.InterChunkUnbound && len(results) == len(positions)
			for _, p := range positions {
				right = right && p >= 0
			}
			return right && (len(results) == 0 || &results[0] == &positions[0] || apart(kit.BytesOf(results), kit.BytesOf(positions)))
		},
		Want: func() {
			size, n := int64(d.ChunkSize), int64(d.ChunkSize)-int64(d.LocalSize)
			for i, position := range slices.Clone(positions) {
				p := int64(position) % n
				results[i] = int32([]int64{p, min(p+n, size), min(2*n-1, size), p + n, p + size}[which])
			}
		},
		Parts: func(c *kit.Choices) [][]func() error {
			given := slices.Clone(positions)
			return kit.RowParts([][]int32{results}, []int{1}, len(positions), func(x [][]int32, tokens []int) error {
				return fill(d, x[0], kit.Pick(given, tokens))
			})(c)
		},
	}
}

func digestRagged(d *kit.Digest) {
	for _, offsets := range [][]int32{nil, {7, -3, math.MaxInt32 - 40}} {
		positions := make([]int32, 60)
		d.Must(posenc.RaggedPositions(positions, []int32{0, 20, 20, 60}, offsets))
		d.Add(positions)
	}
}

func digestKeyPositions(d *kit.Digest) { digestDualChunk(d, posenc.DualChunk.KeyPositions) }

func digestDualChunk(d *kit.Digest, fill func(c posenc.DualChunk, results, positions []int32) error) {
	positions := d.Indices(50, 1000)
	results := make([]int32, len(positions))
	d.Must(fill(posenc.DualChunk{ChunkSize: 100, LocalSize: 30}, results, positions))
	d.Add(results)
}

func digestQueryPositions(d *kit.Digest) {
	for _, which := range []posenc.DualChunkQuery{posenc.IntraChunk, posenc.SuccessiveChunk, posenc.InterChunk, posenc.SuccessiveChunkUnbound, posenc.InterChunkUnbound} {
		digestDualChunk(d, func(c posenc.DualChunk, results, positions []int32) error {
			return c.QueryPositions(results, positions, which)
		})
	}
}

var _ = kit.Register(kit.Case{Function: "GridPositions",
	Call: func(a *kit.Arguments) kit.Call {
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
		positions := kit.Output[float32](a, kit.Small(2, g.Height, g.Width))
		return kit.Call{
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
	Digests: digestOf("GridPositions", func(d *kit.Digest) {
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
	fails := kit.Failures(t, memory)
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
	kit.NoError(t, posenc.GridPositions(memory[:12], posenc.GridPositionsOptions{Height: 2, Width: 3, PositionScale: -math.MaxFloat32}))
}
