package posenc_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// axisMap is a map of pairs to axes.
type axisMap struct {
	name string
	axes []uint8
}

// axisMaps lists maps that models use, and others.
func axisMaps(t testing.TB, r *rand.Rand) []axisMap {
	t.Helper()
	must := func(axes []uint8, err error) []uint8 {
		if err != nil {
			t.Fatal(err)
		}
		return axes
	}
	random := func(pairs, count int) []uint8 {
		axes := make([]uint8, pairs)
		for j := range axes {
			axes[j] = uint8(r.IntN(count))
		}
		return axes
	}
	last := make([]uint8, 20)
	last[3], last[19] = 255, 254
	return []axisMap{
		{"sections", must(frequency.Sections(16, 24, 24))},
		{"four sections", must(frequency.Sections(16, 16, 16, 16))},
		{"long sections", must(frequency.Sections(70, 1, 130))},
		{"section left out", must(frequency.Sections(5, 0, 9))},
		{"interleaved", must(frequency.InterleavedSections(frequency.ImageSections{Time: 24, Height: 20, Width: 20}))},
		{"interleaved, short", must(frequency.InterleavedSections(frequency.ImageSections{Time: 11, Height: 11, Width: 10}))},
		{"alternating", must(frequency.AlternatingSections(frequency.ImageSections{Time: 20, Height: 22, Width: 22}))},
		{"one axis", make([]uint8, 12)},
		{"one axis, the second", slices.Repeat([]uint8{1}, 12)},
		{"one pair", []uint8{2}},
		{"all axes", last},
		{"random", random(1+r.IntN(130), 3)},
		{"random, axes left out", random(9, 40)},
		{"widest", random(kernels.ChunkPairs, 4)},
	}
}

// axisPositions returns positions [axes][tokens]: of text in places, where all
// axes are alike.
func axisPositions(r *rand.Rand, axes, tokens int) []int32 {
	var positions []int32
	for range axes {
		positions = append(positions, testkit.RandomPositions(r, testkit.OneOf(r, testkit.PositionNames), tokens)...)
	}
	for t := 0; t < tokens; {
		n := min(1+r.IntN(40), tokens-t)
		for a := 1; a < axes && r.IntN(2) == 0; a++ {
			copy(positions[a*tokens+t:], positions[t:t+n])
		}
		if r.IntN(2) == 0 {
			for a := 1; a < axes; a++ {
				copy(positions[a*tokens+t:], positions[t:t+n])
			}
		}
		t += n
	}
	return positions
}

// Every pair takes its position from its axis, in tables and in rotations.
func TestAxes(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(60)
		for range testkit.Rounds(10) {
			for _, m := range axisMaps(t, r) {
				pairs, axes := len(m.axes), int(slices.Max(m.axes))+1
				cfg := randomGeometry(r, testkit.OneOf(r, allLayouts), pairs)
				cfg.Angles, cfg.Axes = posenc.AngleRounding(r.IntN(2)), m.axes
				if r.IntN(2) == 0 {
					cfg.AttentionFactor = 1.2079441541679836
				}
				tokens := testkit.OneOf(r, []int{1, 2, 15, 16, 17, 32, 33, 50})
				if pairs > 500 {
					tokens = 1 + r.IntN(3)
				}
				positions := axisPositions(r, axes, tokens)
				if r.IntN(3) == 0 {
					cfg.InvFreq = testkit.RandomFrequencies(r, pairs, positions, true)
				}
				rotary := testkit.MustRotary(t, cfg)
				wantCos, wantSin := plainTables(t, cfg, positions)
				name := fmt.Sprintf("%s, angles %d, layout %d, %d tokens", m.name, cfg.Angles, cfg.Layout, tokens)
				cos, sin := make([]float32, tokens*pairs), make([]float32, tokens*pairs)
				if err := rotary.CosSin(cos, sin, positions); err != nil {
					t.Fatal(err)
				}
				if !testkit.SameSlices(cos, wantCos) || !testkit.SameSlices(sin, wantSin) {
					t.Fatalf("%s: the tables are wrong", name)
				}
				p := plainOf(cfg).with(wantCos, wantSin)
				checkPlain(t, r, name, positions, tokens, p, rotateByAngles[float32](rotary.At(positions)))
				checkPlain(t, r, name+", inverse", positions, tokens, p.inverse(), rotateInverseByAngles[float32](rotary.At(positions)))
			}
		}
	})
}

// Text has the same position on all axes and is rotated as by a Rotary without
// axes.
func TestAxesOfText(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(61)
		for _, m := range axisMaps(t, r) {
			for _, angles := range []posenc.AngleRounding{posenc.ExactAngles, posenc.Float32Angles} {
				const tokens, heads = 40, 2
				cfg := posenc.RotaryConfig{HeadDim: 2 * len(m.axes), Angles: angles, Axes: m.axes}
				positions := testkit.RandomPositions(r, "runs", tokens)
				got := testkit.RandomElements[float32](r, tokens*heads*cfg.HeadDim)
				want := slices.Clone(got)
				err := posenc.Rotate(testkit.MustRotary(t, cfg).At(slices.Repeat(positions, int(slices.Max(m.axes))+1)), posenc.View[float32]{Data: got, Heads: heads})
				cfg.Axes = nil
				if err := errors.Join(err, posenc.Rotate(testkit.MustRotary(t, cfg).At(positions), posenc.View[float32]{Data: want, Heads: heads})); err != nil {
					t.Fatal(err)
				}
				if !testkit.SameSlices(got, want) {
					t.Errorf("%s, angles %d: text is rotated otherwise", m.name, angles)
				}
			}
		}
	})
}

// NewRotary keeps nothing of Axes.
func TestAxesCopied(t *testing.T) {
	axes := []uint8{0, 1, 2, 1}
	rotary := testkit.MustRotary(t, posenc.RotaryConfig{HeadDim: 8, Axes: axes})
	cos, sin := make([]float32, 4), make([]float32, 4)
	cos1, sin1 := slices.Clone(cos), slices.Clone(sin)
	err := rotary.CosSin(cos, sin, []int32{1, 2, 3})
	clear(axes)
	if err := errors.Join(err, rotary.CosSin(cos1, sin1, []int32{1, 2, 3})); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(cos, cos1) || !slices.Equal(sin, sin1) {
		t.Error("the Rotary changed with the slice that it was made from")
	}
}

func TestAxesErrors(t *testing.T) {
	data := make([]float32, 64)
	three := testkit.MustRotary(t, posenc.RotaryConfig{HeadDim: 8, Axes: []uint8{0, 2, 0, 2}}) // axis 1 without pairs
	fast := testkit.MustRotary(t, posenc.RotaryConfig{HeadDim: 4, InvFreq: []float64{1, 0x1p40}, Axes: []uint8{0, 1}})
	all := testkit.MustRotary(t, posenc.RotaryConfig{HeadDim: 4, Axes: []uint8{255, 0}})
	calls := []testkit.Wrong{
		{Name: "no tokens", Call: func() error { return posenc.Rotate(three.At(nil), V{Data: data[:8], Heads: 1}) }, Kind: posenc.ErrLength, Says: []string{"posenc.Rotate: xs[0].Data is 8 elements"}},
		{Name: "data of positions", Call: func() error { return posenc.Rotate(three.At(make([]int32, 3)), V{Data: data[:24], Heads: 1}) }, Kind: posenc.ErrLength, Says: []string{"xs[0].Data is 24 elements", "8 for 1 tokens"}},
		{Name: "position on the second axis", Call: func() error { return posenc.Rotate(fast.At([]int32{1, 5, 7, 1024}), V{Data: data[:8], Heads: 1}) }, Kind: posenc.ErrPosition, Says: []string{"posenc.Rotate: positions[3] is 1024", "1023"}},
		{Name: "tables", Call: func() error { return three.CosSin(data[:12], data[12:24], make([]int32, 3)) }, Kind: posenc.ErrLength, Says: []string{"posenc.Rotary.CosSin: cos is 12 elements", "4 for 1 rows of 4"}},
	}
	for _, n := range []int{1, 2, 4, 5, 7} {
		says := []string{fmt.Sprintf("positions is %d element", n), "a multiple of 3"}
		positions := make([]int32, n)
		calls = append(calls,
			testkit.Wrong{Name: fmt.Sprint(n, " positions"), Call: func() error { return posenc.Rotate(three.At(positions), V{Data: data[:8*n], Heads: 1}) }, Kind: posenc.ErrLength, Says: append(says, "posenc.Rotate:")},
			testkit.Wrong{Name: fmt.Sprint(n, " positions, inverse"), Call: func() error { return posenc.RotateInverse(three.At(positions), V{Data: data[:8*n], Heads: 1}) }, Kind: posenc.ErrLength, Says: append(says, "posenc.RotateInverse:")},
			testkit.Wrong{Name: fmt.Sprint(n, " positions of tables"), Call: func() error { return three.CosSin(data[:4*n], data[4*n:8*n], positions) }, Kind: posenc.ErrLength, Says: append(says, "posenc.Rotary.CosSin:")},
			testkit.Wrong{Name: fmt.Sprint(n, " positions of rows"), Call: func() error { _, err := three.Rows(positions); return err }, Kind: posenc.ErrLength, Says: append(says, "posenc.Rotary.Rows:")},
		)
	}
	calls = append(calls, testkit.Wrong{Name: "256 axes", Call: func() error { return posenc.Rotate(all.At(make([]int32, 255)), V{Data: data[:4], Heads: 1}) }, Kind: posenc.ErrLength, Says: []string{"a multiple of 256"}})
	for name, tt := range map[string]struct {
		cfg  posenc.RotaryConfig
		says string
	}{
		"no axes":       {posenc.RotaryConfig{HeadDim: 8, Axes: []uint8{}}, "cfg.Axes is 0 elements, want nil or RotaryDim/2 = 4"},
		"too few axes":  {posenc.RotaryConfig{HeadDim: 8, Axes: make([]uint8, 3)}, "cfg.Axes is 3 elements"},
		"too many axes": {posenc.RotaryConfig{HeadDim: 8, RotaryDim: 4, Axes: make([]uint8, 4)}, "cfg.Axes is 4 elements, want nil or RotaryDim/2 = 2"},
		"too wide":      {posenc.RotaryConfig{HeadDim: 3000, RotaryDim: 2050, Axes: make([]uint8, 1025)}, "cfg.RotaryDim is 2050, want at most 2048"},
	} {
		calls = append(calls, testkit.Wrong{Name: name, Call: func() error { _, err := posenc.NewRotary(tt.cfg); return err }, Kind: posenc.ErrConfig, Says: []string{"posenc.NewRotary: ", tt.says}})
	}
	testkit.CheckWrong(t, calls, data)
	if err := all.CosSin(data[:2], data[2:4], make([]int32, 256)); err != nil {
		t.Errorf("256 axes: %v", err)
	}
	if err := posenc.Rotate(fast.At([]int32{math.MaxInt32 >> 21, -1023}), V{Data: data[:4], Heads: 1}); err != nil {
		t.Errorf("last positions: %v", err)
	}
}
