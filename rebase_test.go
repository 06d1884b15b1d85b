package posenc_test

import (
	"fmt"
	"math"
	"math/big"
	"math/cmplx"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/test/exhaustive"
	"github.com/go-posenc/posenc/internal/test/kit"
)

// ladder returns frequencies of heads of 128 of a base, those from number from on divided by a factor.
func ladderOf(base float64, from int, factor float64) []float64 {
	w := make([]float64, 64)
	for i := range w {
		w[i] = math.Pow(base, -float64(i)/64)
		if i >= from {
			w[i] /= factor
		}
	}
	return w
}

// Rows have the nearest float32 of the cosines and sines of the difference of two real angles, times the
// quotient of the attention factors; of float32 angles too, and on several axes.
func TestRebaseRows(t *testing.T) {
	axes := make([]uint8, 64)
	for i := range axes {
		axes[i] = uint8(i % 3)
	}
	r := kit.NewRand(35)
	for _, tt := range []struct {
		from, to       frequency.Rounding
		axes           []uint8
		before, factor float64
	}{{before: 1, factor: 1}, {before: 1.25, factor: 1.19}, {to: frequency.Float32, before: 1, factor: 1}, {from: frequency.Float32, to: frequency.Float32, before: 1, factor: 2}, {axes: axes, before: 1, factor: 1}} {
		n := 1
		if tt.axes != nil {
			n = 3
		}
		positions := make([]int32, n*6)
		for i := range positions {
			positions[i] = int32(r.Uint32()) >> r.IntN(20)
		}
		positions[0], positions[1] = 0, math.MinInt32
		cfg := posenc.RotaryConfig{HeadDim: 128, Layout: posenc.InterleavedToHalfSplit, InvFreq: ladderOf(1e4, 64, 1), Rounding: tt.from, AttentionFactor: tt.before, Axes: tt.axes}
		from, before := kit.MustRotary(cfg), cfg.InvFreq
		cfg.Layout, cfg.InvFreq, cfg.Rounding, cfg.AttentionFactor = posenc.HalfSplit, ladderOf(1e4, 20, 8), tt.to, tt.factor
		rotated := from.At(positions)
		if tt.axes != nil {
			rotated = from.AtAxes(positions)
		}
		rows := kit.Must(kit.MustRotary(cfg).RebaseRows(rotated))
		const tokens = 6
		x := posenc.View[float32]{Data: make([]float32, tokens*128), Heads: 1}
		for i := range x.Data {
			x.Data[i] = float32(1 - i/64%2) // pairs (1, 0), which become the cosine and the sine
		}
		kit.NoError(t, posenc.Rotate(rows.All(), x))
		angle := func(rounding frequency.Rounding, p int32, w float64) *big.Float {
			if rounding == frequency.Float32 {
				return exhaustive.RealOf(float64(float32(p) * float32(w)))
			}
			return exhaustive.NewReal().Mul(exhaustive.RealOf(float64(p)), exhaustive.RealOf(w))
		}
		factor := float32(tt.factor) / float32(tt.before)
		for i := range tokens * 64 {
			token, pair := i/64, i%64
			p := positions[token]
			if tt.axes != nil {
				p = positions[int(axes[pair])*tokens+token]
			}
			difference := exhaustive.NewReal().Sub(angle(tt.to, p, cfg.InvFreq[pair]), angle(tt.from, p, before[pair]))
			cos, sin := exhaustive.RealCosSin(difference)
			c, _ := cos.Float32()
			s, _ := sin.Float32()
			if gotC, gotS := x.Data[token*128+pair], x.Data[token*128+64+pair]; gotC != c*factor || gotS != s*factor {
				t.Fatalf("%+v: position %d, pair %d: %v and %v, want %v and %v", tt, p, pair, gotC, gotS, c*factor, s*factor)
			}
		}
	}
}

// Keys of every format that change from the ladder with which they were rotated to another are near the keys
// that this one rotates anew: the error is that of two roundings of the format, as of one shift.
func TestRebasedKeys(t *testing.T) {
	r := kit.NewRand(36)
	positions, keys := make([]int32, cachedTokens), make([]float32, cachedTokens*cachedHeads*cachedDim)
	for i := range positions {
		positions[i] = int32(r.IntN(1 << 17))
	}
	for i := range keys {
		keys[i] = float32(r.NormFloat64())
	}
	for i, format := range cachedFormats {
		for _, hadamard := range []int{0, 128} {
			cfg := posenc.RotaryConfig{HeadDim: cachedDim, Layout: allLayouts[i%4], InvFreq: ladderOf(1e4, 64, 1), AttentionFactor: 1.25}
			from, order := kit.MustRotary(cfg), plainOf(cfg)
			cfg.InvFreq, cfg.AttentionFactor = ladderOf(1e4, 20, 8), 2.5
			to := kit.MustRotary(cfg)
			cache := format.cache(t, from, positions, keys, hadamard)
			kit.NoError(t, cache.rotate(kit.Must(to.RebaseRows(from.At(positions))).All()))
			differences, squares := 0.0, 0.0
			got, raw := pairsOf(order.out, cache.read()), pairsOf(order.in, keys)
			for j, z := range raw {
				want := 2.5 * z * cmplx.Exp(complex(0, float64(positions[j/(cachedHeads*64)])*cfg.InvFreq[j%64]))
				d, w := cmplx.Abs(got[j]-want), cmplx.Abs(want)
				differences, squares = differences+d*d, squares+w*w
			}
			stored := max(format.stored, format.shift)
			if e := math.Sqrt(differences / squares); e > 1.1*math.Hypot(stored, format.shift) {
				t.Errorf("%s with a transform of %d: the error is %.3g, of one rounding %.3g", format.name, hadamard, e, stored)
			}
		}
	}
}

// A key that was kept before its rotation may be moved again and again: the rotated one has the bits of
// one rotation. One call stores both planes.
func TestRawKeys(t *testing.T) {
	movedRaw[posenc.Q8_0, posenc.Q8_0](t, 0, 64)
	movedRaw[posenc.Q4_0, int8](t, 128, 0)
	movedRaw[posenc.E4M3, posenc.IQ4_NL](t, 32, 32)
	movedRaw[posenc.Q8_0, posenc.Q5_1](t, 0, 0)
}

func movedRaw[D, S posenc.Quantized](t *testing.T, to, from int) {
	const tokens, heads, dim = 9, 3, 128
	rope := kit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit})
	keys := posenc.View[float32]{Data: kit.GoldenInputs(0, tokens*heads*dim), Heads: heads}
	rotated, raw := cacheFor[D](20, heads, dim, to, 0), cacheFor[S](20, heads, dim, from, 0)
	slots, rawSlots := []int32{3, 4, 5, 19, 0, 7, 6, 1, 2}, []int32{19, 0, 1, 2, 3, 18, 17, 16, 15}
	kit.NoError(t, posenc.RotateIntoQuantizedKV(rope.At(kit.Sequence(tokens)), rawSlots,
		posenc.IntoQuantized[D, float32]{Dst: rotated, Src: keys}, posenc.IntoQuantized[S, float32]{Dst: raw, Src: keys}))
	positions := kit.Sequence(tokens)
	before := slices.Clone(raw.Data)
	for move := range 5 {
		for i := range positions {
			positions[i] += int32(move * (7 - i))
		}
		kit.NoError(t, posenc.RotateQuantized(rope.At(positions), posenc.FromQuantized[D, S]{Dst: rotated, DstSlots: slots, Src: raw, SrcSlots: rawSlots}))
	}
	if !slices.Equal(raw.Data, before) {
		t.Errorf("the raw keys of %T changed", before)
	}
	read, want := posenc.View[float32]{Data: make([]float32, tokens*heads*dim), Heads: heads}, cacheFor[D](20, heads, dim, to, 0)
	kit.NoError(t, posenc.Dequantize(read, raw, posenc.DequantizeOptions{Tokens: tokens, HeadDim: dim, Slots: rawSlots}),
		posenc.RotateIntoQuantized(rope.At(positions), slots, posenc.IntoQuantized[D, float32]{Dst: want, Src: read}))
	for _, slot := range slots {
		token := func(v *posenc.QuantizedView[D]) string {
			one := oneToken(v, int(slot), dim)
			return fmt.Sprint(one.Data, one.Scales)
		}
		if token(&rotated) != token(&want) {
			t.Errorf("%T from %T: slot %d has other bytes than one rotation gives", rotated.Data, raw.Data, slot)
		}
	}
}

func TestRebaseArguments(t *testing.T) {
	positions, data := []int32{0, 1024}, make([]float32, 4)
	rotary := func(change func(cfg *posenc.RotaryConfig)) *posenc.Rotary {
		cfg := posenc.RotaryConfig{HeadDim: 64, Layout: posenc.HalfSplit}
		change(&cfg)
		return kit.MustRotary(cfg)
	}
	same := func(*posenc.RotaryConfig) {}
	r := rotary(same)
	fast := rotary(func(cfg *posenc.RotaryConfig) { cfg.InvFreq = slices.Repeat([]float64{0x1p39}, 32) })
	fails := kit.Failures(t, data)
	rebase := func(r, from *posenc.Rotary) error {
		_, err := r.RebaseRows(from.At(positions))
		return err
	}
	const rows = "posenc.Rotary.RebaseRows: "
	fails(rebase(nil, r), posenc.ErrConfig, rows+"r is nil or zero")
	fails(rebase(r, nil), posenc.ErrConfig, rows+"rotated is zero, or from a nil Rotary, want Angles from Rotary.At or Rotary.AtAxes, of a Rotary without XPos")
	fails(rebase(r, rotary(func(cfg *posenc.RotaryConfig) { cfg.Layout = posenc.Interleaved })), posenc.ErrConfig, rows+"rotated is of other heads or pairs: 64 elements from 0 on, of heads of 64, Interleaved, want as in r: 64 elements from 0 on, of heads of 64, HalfSplit")
	fails(rebase(r, rotary(func(cfg *posenc.RotaryConfig) { cfg.AttentionFactor = 1e-39 })), posenc.ErrConfig, rows+"the AttentionFactor of r by that of rotated is +Inf, want a positive float32")
	fails(rebase(r, rotary(func(cfg *posenc.RotaryConfig) { cfg.RotaryDim = 32 })), posenc.ErrConfig, rows+"rotated is of other heads")
	onAxes := func(axis uint8) *posenc.Rotary {
		return rotary(func(cfg *posenc.RotaryConfig) { cfg.Axes = make([]uint8, 32); cfg.Axes[31] = axis })
	}
	kit.NoError(t, rebase(r, onAxes(0))) // as without Axes
	fails(rebase(r, onAxes(1)), posenc.ErrConfig, rows+"rotated is of pairs on the axes [0 0")
	fails(rebase(r, rotary(func(cfg *posenc.RotaryConfig) { cfg.XPos = &posenc.XPos{ScaleBase: 512} })), posenc.ErrConfig, rows+"rotated is from a Rotary with XPos")
	fails(rebase(rotary(func(cfg *posenc.RotaryConfig) { cfg.XPos = &posenc.XPos{ScaleBase: 512} }), r), posenc.ErrConfig, rows+"r is a Rotary with XPos")
	fails(rebase(fast, fast), posenc.ErrPosition, rows+"positions[1] is 1024, want at most 1023")
	rebased := kit.Must(r.RebaseRows(r.At(positions)))
	fails(rebased.Refill(positions), posenc.ErrConfig, "posenc.Rows.Refill: r is nil, zero, or from NewRows or RebaseRows")

	type q8 = posenc.FromQuantized[posenc.Q8_0, posenc.Q8_0]
	cache, other := cacheFor[posenc.Q8_0](2, 1, 64, 0, 0), cacheFor[posenc.Q8_0](2, 1, 64, 0, 0)
	right := q8{Dst: cache, Src: other}
	move := func(change func(x *q8)) error {
		x := right
		change(&x)
		return posenc.RotateQuantized(r.At(positions), x)
	}
	const from = "posenc.RotateQuantized: "
	fails(move(func(x *q8) { x.DstSlots = positions[:1] }), posenc.ErrLength, from+"x.DstSlots has 1 element, want 2")
	fails(move(func(x *q8) { x.SrcSlots = []int32{0, 2} }), posenc.ErrPosition, from+"x.SrcSlots[1] is 2, want below 2")
	fails(move(func(x *q8) { x.Dst.Heads = 2 }), posenc.ErrLength, from+"x.Dst.Data has 4 elements")
	fails(move(func(x *q8) { x.Dst.Hadamard = 48 }), posenc.ErrConfig, from+"x.Dst.Hadamard is 48")
	fails(move(func(x *q8) { x.Src.Hadamard = 48 }), posenc.ErrConfig, from+"x.Src.Hadamard is 48")
	fails(move(func(x *q8) { x.Src, x.DstSlots = x.Dst, []int32{0, 1} }), posenc.ErrOverlap, from+"x.Dst is sharing memory with x.Src, want the same view without slots")
	fails(move(func(x *q8) { x.Dst = cacheFor[posenc.Q8_0](2, 2, 64, 0, 0) }), posenc.ErrShape, from+"x.Dst.Heads is 2, want 1 as in x.Src")
	full := kit.Must(posenc.NewRows(posenc.RowsConfig{HeadDim: 64, Layout: posenc.HalfSplit}, posenc.Table[float32]{Cos: make([]float32, 128), Sin: make([]float32, 128), FullWidth: true}))
	fails(posenc.RotateQuantized(full.All(), right), posenc.ErrConfig, from+"a is from rows with an entry for each element")
}
