package posenc_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
)

// From the largest position to the least is no step of 1: rows are those of single tokens.
func TestAxesBeyondInt32(t *testing.T) {
	const tokens, pairs = 40, 8
	r := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 2 * pairs, Layout: posenc.HalfSplit, Axes: []uint8{0, 1, 0, 1, 0, 1, 0, 1}})
	for before := range tokens {
		positions := make([]int32, 2*tokens)
		for i := range tokens {
			positions[i] = int32(uint32(math.MaxInt32) - uint32(before) + uint32(i))
		}
		var cos, sin [tokens * pairs]float32
		testkit.NoError(t, r.CosSin(cos[:], sin[:], positions))
		for i := range tokens {
			var c, s [pairs]float32
			testkit.NoError(t, r.CosSin(c[:], s[:], []int32{positions[i], 0}))
			if !testkit.SameBits(cos[i*pairs:][:pairs], c[:]) || !testkit.SameBits(sin[i*pairs:][:pairs], s[:]) {
				t.Fatalf("position %d is row %d: cos %v and sin %v, alone %v and %v", positions[i], i, cos[i*pairs:][:pairs], sin[i*pairs:][:pairs], c, s)
			}
		}
	}
}

func TestAxesErrors(t *testing.T) {
	data := make([]float32, 64)
	three := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, Axes: []uint8{0, 2, 0, 2}}) // axis 1 without pairs
	fast := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, InvFreq: []float64{1, 0x1p40}, Axes: []uint8{0, 1}})
	all := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, Axes: []uint8{255, 0}})
	fails := testkit.Failures(t, data)
	fails(posenc.Rotate(three.At(nil), V{Data: data[:8], Heads: 1}), posenc.ErrLength, "posenc.Rotate: xs[0].Data has 8 elements")
	fails(posenc.Rotate(three.At(make([]int32, 3)), V{Data: data[:24], Heads: 1}), posenc.ErrLength, "xs[0].Data has 24 elements", "8 for 1 token of")
	fails(posenc.Rotate(fast.At([]int32{1, 5, 7, 1024}), V{Data: data[:8], Heads: 1}), posenc.ErrPosition, "posenc.Rotate: positions[3] is 1024", "1023")
	fails(three.CosSin(data[:12], data[12:24], make([]int32, 3)), posenc.ErrLength, "posenc.Rotary.CosSin: cos has 12 elements", "4 for 1 rows of 4")
	for _, n := range []int{1, 2, 4} {
		says, positions := fmt.Sprintf("positions has %d element", n), make([]int32, n)
		fails(posenc.Rotate(three.At(positions), V{Data: data[:8*n], Heads: 1}), posenc.ErrLength, "posenc.Rotate: "+says, "a multiple of 3")
		fails(three.CosSin(data[:4*n], data[4*n:8*n], positions), posenc.ErrLength, "posenc.Rotary.CosSin: "+says)
		fails(testkit.Made(three.Rows(positions)), posenc.ErrLength, "posenc.Rotary.Rows: "+says)
	}
	fails(posenc.Rotate(all.At(make([]int32, 255)), V{Data: data[:4], Heads: 1}), posenc.ErrLength, "a multiple of 256")
	for says, cfg := range map[string]posenc.RotaryConfig{
		"cfg.Axes has 0 elements, want nil or RotaryDim/2 = 4": {HeadDim: 8, Layout: posenc.HalfSplit, Axes: []uint8{}},
		"cfg.Axes has 4 elements, want nil or RotaryDim/2 = 2": {HeadDim: 8, RotaryDim: 4, Layout: posenc.HalfSplit, Axes: make([]uint8, 4)},
		"cfg.RotaryDim is 2050, want at most 2048":             {HeadDim: 3000, RotaryDim: 2050, Layout: posenc.HalfSplit, Axes: make([]uint8, 1025)},
	} {
		fails(testkit.Made(posenc.NewRotary(cfg)), posenc.ErrConfig, "posenc.NewRotary: "+says)
	}
	testkit.NoError(t, all.CosSin(data[:2], data[2:4], make([]int32, 256)), posenc.Rotate(fast.At([]int32{math.MaxInt32 >> 21, -1023}), V{Data: data[:4], Heads: 1}))
}
