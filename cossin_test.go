package posenc_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/test/exhaustive"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/kernels"
)

func TestCosSinErrors(t *testing.T) {
	memory, angles := make([]float32, 64), make([]float32, 12)
	cos, sin := memory[:12], memory[12:24]
	rotary := kit.MustRotary(posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit})
	fast := kit.MustRotary(posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, InvFreq: []float64{1, 0x1p40, 0, 2}})
	var none *posenc.Rotary
	positions, invFreq := []int32{1, 2, 3}, []float64{1, 2, 3, 4}
	integers, wide := wordsOf[int32](memory), wordsOf[float64](memory)
	nan, inf := math.NaN(), math.Inf(1)
	fails := kit.Failures(t, memory)
	// The checks of the tables are the same everywhere: 3 rows of 4, or 12 angles.
	for function, call := range map[string]func(cos, sin []float32) error{
		"CosSin":        func(cos, sin []float32) error { return posenc.CosSin(cos, sin, positions, invFreq) },
		"Rotary.CosSin": func(cos, sin []float32) error { return rotary.CosSin(cos, sin, positions) },
		"CosSinAngles":  func(cos, sin []float32) error { return posenc.CosSinAngles(cos, sin, angles) },
	} {
		fails(call(cos[:11], sin), posenc.ErrLength, "posenc."+function+": cos has 11 elements, want 12")
		fails(call(cos, nil), posenc.ErrLength, "posenc."+function+": sin has 0 elements, want 12")
		fails(call(cos, memory[12:25]), posenc.ErrLength, "posenc."+function+": sin has 13 elements, want 12")
		fails(call(cos, cos), posenc.ErrOverlap, "posenc."+function+": sin is sharing elements with cos")
		fails(call(cos, memory[11:23]), posenc.ErrOverlap, "posenc."+function+": sin is sharing elements with cos")
	}
	fails(none.CosSin(cos, sin, positions), posenc.ErrConfig, "posenc.Rotary.CosSin: r is nil")
	fails(posenc.CosSin(cos, sin, []int32{1, 2, -1024}, []float64{1, 0x1p40, 0, 2}), posenc.ErrPosition, "posenc.CosSin: positions[2] is -1024", "1023")
	fails(posenc.CosSin(cos, sin, positions, []float64{1, 2, nan, 1}), posenc.ErrConfig, "posenc.CosSin: invFreq[2] is NaN")
	fails(posenc.CosSin(cos, sin, positions, []float64{1, 2, 3, -inf}), posenc.ErrConfig, "invFreq[3] is -Inf")
	fails(posenc.CosSin(cos, sin, []int32{0, 0, 0}, []float64{0x1p50, 2, 3, 4}), posenc.ErrConfig, "invFreq[0] is 1.125899906842624e+15")
	fails(posenc.CosSin(cos, sin, nil, invFreq), posenc.ErrLength, "cos has 12 elements, want 0 for 0 rows of 4")
	fails(posenc.CosSin(cos, memory[24:36], integers[11:14], invFreq), posenc.ErrOverlap, "posenc.CosSin: cos is sharing memory with positions")
	fails(posenc.CosSin(cos, sin, integers[23:26], invFreq), posenc.ErrOverlap, "sin is sharing memory with positions")
	fails(posenc.CosSin(cos, sin, positions, wide[2:6]), posenc.ErrOverlap, "posenc.CosSin: cos is sharing memory with invFreq")
	fails(posenc.CosSin(cos, sin, positions, wide[11:15]), posenc.ErrOverlap, "posenc.CosSin: sin is sharing memory with invFreq")
	fails(posenc.CosSin(nil, nil, make([]int32, 1<<16), make([]float64, 1<<16)), posenc.ErrLength, "posenc.CosSin: cos has 0 elements") // more than 32 bits count
	fails(posenc.CosSinAngles(cos, sin, memory[11:23]), posenc.ErrOverlap, "posenc.CosSinAngles: cos is sharing memory with angles")
	kit.NoError(t,
		posenc.CosSin(nil, nil, nil, nil), posenc.CosSin(nil, nil, nil, invFreq), posenc.CosSin(nil, nil, positions, nil),
		rotary.CosSin(nil, nil, nil), posenc.CosSinAngles(nil, nil, nil), posenc.CosSinAngles(cos, sin, memory[24:36]),
		fast.CosSin(cos, sin, []int32{1023, -1023, 0}), posenc.CosSin(cos[:2], sin[:2], []int32{math.MinInt32}, []float64{0x1.fffffp17, 0}),
		posenc.CosSin(cos[:1], sin[:1], []int32{-1}, []float64{0x1.fffffffffffffp49}))
}

func TestFractionalErrors(t *testing.T) {
	r := kit.MustRotary(posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit})
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	decaying := kit.MustRotary(posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, XPos: &posenc.XPos{ScaleBase: 512}})
	axes := kit.MustRotary(posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, Axes: []uint8{0, 1}})
	memory := make([]float32, 16)
	fails := kit.Failures(t, memory)
	fails((*posenc.Rotary)(nil).CosSinFractional(nil, nil, nil), posenc.ErrConfig, "posenc.Rotary.CosSinFractional: ")
	fails(new(posenc.Rotary).CosSinFractional(nil, nil, nil), posenc.ErrConfig, "posenc.Rotary.CosSinFractional: ")
	fails(decaying.CosSinFractional(memory[:2], memory[2:4], memory[4:5]), posenc.ErrConfig, "posenc.Rotary.CosSinFractional: ")
	fails(axes.CosSinFractionalAxes(memory[:2], memory[2:4], memory[4:5]), posenc.ErrLength, "posenc.Rotary.CosSinFractionalAxes: positions has 1 element, want a multiple of 2, for [axes][tokens] of 2 axes")
	fails(axes.CosSinFractional(memory[:2], memory[2:4], memory[4:6]), posenc.ErrLength, "posenc.Rotary.CosSinFractional: cos has 2 elements, want 4 for 2 rows of 2")
	fails(r.CosSinFractional(memory[:2], memory[2:4], []float32{nan}), posenc.ErrPosition, "posenc.Rotary.CosSinFractional: ")
	fails(r.CosSinFractional(memory[:2], memory[2:4], []float32{inf}), posenc.ErrPosition, "posenc.Rotary.CosSinFractional: ")
	fails(r.CosSinFractional(memory[:2], memory[2:4], []float32{3e9}), posenc.ErrPosition, "posenc.Rotary.CosSinFractional: positions[0] is 3e+09, want a number of at most 2^31 in magnitude: position")
	fails(r.CosSinFractional(memory[:1], memory[2:4], []float32{1}), posenc.ErrLength, "posenc.Rotary.CosSinFractional: ")
	fails(r.CosSinFractional(memory[:2], memory[1:3], []float32{1}), posenc.ErrOverlap, "posenc.Rotary.CosSinFractional: ")
	fails(r.CosSinFractional(memory[:2], memory[2:4], memory[3:4]), posenc.ErrOverlap, "posenc.Rotary.CosSinFractional: ")
	x := V{Data: memory[:4], Heads: 1}
	fails(posenc.Rotate((*posenc.Rotary)(nil).AtFractional([]float32{1}), x), posenc.ErrConfig, "posenc.Rotate: a is zero: from a nil Rotary")
	fails(posenc.Rotate(new(posenc.Rotary).AtFractional([]float32{1}), x), posenc.ErrConfig, "posenc.Rotate: a is from a zero Rotary")
	fails(posenc.Rotate(decaying.AtFractional([]float32{1}), x), posenc.ErrConfig, "posenc.Rotate: a is from fractional positions and a Rotary with XPos, want a Rotary without XPos")
	fails(posenc.Rotate(axes.AtFractionalAxes([]float32{1}), x), posenc.ErrLength, "posenc.Rotate: positions has 1 element, want a multiple of 2")
	fails(posenc.RotateInverse(r.AtFractional([]float32{float32(math.NaN())}), x), posenc.ErrPosition, "posenc.RotateInverse: positions[0] is NaN")
	fails(posenc.Rotate(r.AtFractional([]float32{1, 2}), x), posenc.ErrLength, "posenc.Rotate: xs[0].Data has 4 elements, want 8")
	memory[3] = 1
	if err := posenc.Rotate(r.AtFractional(memory[3:4]), x); !errors.Is(err, posenc.ErrOverlap) {
		t.Errorf("positions among the elements: %v", err)
	}
	if err := posenc.RotateInto(r.AtFractional(memory[3:4]), x, nil, V{Data: memory[8:12], Heads: 1}); !errors.Is(err, posenc.ErrOverlap) {
		t.Errorf("positions among the elements of dst: %v", err)
	}
	kit.NoError(t, r.CosSinFractional(memory[:2], memory[2:4], []float32{-0x1p31}))
}

// From the largest position to the least is no step of 1: rows are those of single tokens.
func TestAxesBeyondInt32(t *testing.T) {
	const tokens, pairs = 40, 8
	r := kit.MustRotary(posenc.RotaryConfig{HeadDim: 2 * pairs, Layout: posenc.HalfSplit, Axes: []uint8{0, 1, 0, 1, 0, 1, 0, 1}})
	for before := range tokens {
		positions := make([]int32, 2*tokens)
		for i := range tokens {
			positions[i] = int32(uint32(math.MaxInt32) - uint32(before) + uint32(i))
		}
		var cos, sin [tokens * pairs]float32
		kit.NoError(t, r.CosSinAxes(cos[:], sin[:], positions))
		for i := range tokens {
			var c, s [pairs]float32
			kit.NoError(t, r.CosSinAxes(c[:], s[:], []int32{positions[i], 0}))
			if !kit.SameBits(cos[i*pairs:][:pairs], c[:]) || !kit.SameBits(sin[i*pairs:][:pairs], s[:]) {
				t.Fatalf("position %d is row %d: cos %v and sin %v, alone %v and %v", positions[i], i, cos[i*pairs:][:pairs], sin[i*pairs:][:pairs], c, s)
			}
		}
	}
}

func TestAxesErrors(t *testing.T) {
	data := make([]float32, 64)
	three := kit.MustRotary(posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, Axes: []uint8{0, 2, 0, 2}}) // axis 1 without pairs
	fast := kit.MustRotary(posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, InvFreq: []float64{1, 0x1p40}, Axes: []uint8{0, 1}})
	all := kit.MustRotary(posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, Axes: []uint8{255, 0}})
	fails := kit.Failures(t, data)
	fails(posenc.Rotate(three.AtAxes(nil), V{Data: data[:8], Heads: 1}), posenc.ErrLength, "posenc.Rotate: xs[0].Data has 8 elements")
	fails(posenc.Rotate(three.AtAxes(make([]int32, 3)), V{Data: data[:24], Heads: 1}), posenc.ErrLength, "xs[0].Data has 24 elements", "8 for 1 token of")
	fails(posenc.Rotate(fast.AtAxes([]int32{1, 5, 7, 1024}), V{Data: data[:8], Heads: 1}), posenc.ErrPosition, "posenc.Rotate: positions[3] is 1024", "1023")
	fails(three.CosSinAxes(data[:12], data[12:24], make([]int32, 3)), posenc.ErrLength, "posenc.Rotary.CosSinAxes: cos has 12 elements", "4 for 1 rows of 4")
	for _, n := range []int{1, 2, 4} {
		says, positions := fmt.Sprintf("positions has %d element", n), make([]int32, n)
		fails(posenc.Rotate(three.AtAxes(positions), V{Data: data[:8*n], Heads: 1}), posenc.ErrLength, "posenc.Rotate: "+says, "a multiple of 3")
		fails(posenc.Shift(three.AtAxes(positions), V{Data: data[:8*n], Heads: 1}), posenc.ErrLength, "posenc.Shift: "+strings.Replace(says, "positions", "deltas", 1), "a multiple of 3")
		keys := posenc.QuantizedView[int8]{View: posenc.View[int8]{Data: make([]int8, 8*n), Heads: 1}, Scales: make([]float32, n)}
		fails(posenc.ShiftQuantized(three.AtAxes(positions), keys), posenc.ErrLength, "posenc.ShiftQuantized: deltas has", "a multiple of 3")
		fails(three.CosSinAxes(data[:4*n], data[4*n:8*n], positions), posenc.ErrLength, "posenc.Rotary.CosSinAxes: "+says)
		fails(three.CosSinFractionalAxes(data[:4*n], data[4*n:8*n], make([]float32, n)), posenc.ErrLength, "posenc.Rotary.CosSinFractionalAxes: "+says)
		fails(kit.Made(three.RowsAxes(positions)), posenc.ErrLength, "posenc.Rotary.RowsAxes: "+says)
		fails(kit.Must(three.RowsAxes(nil)).RefillAxes(positions), posenc.ErrLength, "posenc.Rows.RefillAxes: "+says)
		fails(kit.Made(three.RebaseRows(three.AtAxes(positions))), posenc.ErrLength, "posenc.Rotary.RebaseRows: "+says)
	}
	fails(posenc.Rotate(all.AtAxes(make([]int32, 255)), V{Data: data[:4], Heads: 1}), posenc.ErrLength, "a multiple of 256")
	for says, cfg := range map[string]posenc.RotaryConfig{
		"cfg.Axes has 0 elements, want nil or RotaryDim/2 = 4": {HeadDim: 8, Layout: posenc.HalfSplit, Axes: []uint8{}},
		"cfg.Axes has 4 elements, want nil or RotaryDim/2 = 2": {HeadDim: 8, RotaryDim: 4, Layout: posenc.HalfSplit, Axes: make([]uint8, 4)},
		"cfg.RotaryDim is 2050, want at most 2048":             {HeadDim: 3000, RotaryDim: 2050, Layout: posenc.HalfSplit, Axes: make([]uint8, 1025)},
	} {
		fails(kit.Made(posenc.NewRotary(cfg)), posenc.ErrConfig, "posenc.NewRotary: "+says)
	}
	kit.NoError(t, all.CosSinAxes(data[:2], data[2:4], make([]int32, 256)), posenc.Rotate(fast.AtAxes([]int32{math.MaxInt32 >> 21, -1023}), V{Data: data[:4], Heads: 1}))
}

// Factors in the middle between two float32 and next to it, by mpmath at 400 bits, and next to the
// limits that the documentation gives: normal numbers up to 69*ScaleBase from the center, of which the
// first pair decays by 2/7 in ScaleBase positions.
func TestXPosRounds(t *testing.T) {
	inf, subnormal := float32(math.Inf(1)), math.Float32frombits(1<<23-1)
	for _, tt := range []struct {
		dim         int
		scaleBase   float64
		distance    int32
		pair        int
		least, most float32
	}{
		{64, 512, 3072, 11, 0x1.704f6p-6, 0x1.704f6p-6},           // (17/32)^6, the middle
		{64, 512, 3584, 18, 0x1.2959c4p-4, 0x1.2959c4p-4},         // (11/16)^7, the middle
		{128, 65536, 1818165, 32, 0x1.3ea3dep-18, 0x1.3ea3dep-18}, // 2.0e-9 of a unit below the middle
		{128, 65536, 2368737, 12, 0x1.a5aap-46, 0x1.a5aap-46},     // 1.5e-8 above
		{128, 65536, 2822850, 30, 0x1.45c828p-30, 0x1.45c828p-30}, // 3.8e-9 below
		{128, 65536, 3876021, 8, 0x1.3d5748p-84, 0x1.3d5748p-84},  // 6.0e-8 above
		{64, 512, 69 * 512, 0, 0x1p-126, 1}, {64, 512, 69 * 512, 31, 0x1p-126, 1},
		{64, 512, -69 * 512, 0, 1, math.MaxFloat32}, {64, 512, -69 * 512, 31, 1, math.MaxFloat32},
		{64, 512, 35701, 0, math.SmallestNonzeroFloat32, subnormal},  // 69.73*ScaleBase
		{64, 512, 83 * 512, 0, 0, 0}, {64, 512, -36264, 0, inf, inf}, // -70.83*ScaleBase
	} {
		for _, keys := range []bool{false, true} {
			const center = -3
			r := kit.MustRotary(posenc.RotaryConfig{HeadDim: tt.dim, Layout: posenc.HalfSplit, InvFreq: make([]float64, tt.dim/2), XPos: &posenc.XPos{ScaleBase: tt.scaleBase, Center: center, Keys: keys}})
			position := center + tt.distance
			if keys {
				position = center - tt.distance
			}
			cos, sin := make([]float32, tt.dim/2), make([]float32, tt.dim/2)
			kit.NoError(t, r.CosSin(cos, sin, []int32{position}))
			if got := cos[tt.pair]; !(got >= tt.least && got <= tt.most) {
				t.Errorf("%+v, keys %t: %x", tt, keys, got)
			}
		}
	}
}

var (
	_ = kit.Register(kit.Case{Function: "CosSin", Times: 4, NonTemporal: true, Call: cosSinCall, Digests: cosSinDigests,
		OnStack: func() error {
			const rows = 2 * kernels.ShiftedRows
			var cos, sin [max(rows, 160)]float32
			var positions [rows]int32
			var invFreq [80]float64
			return errors.Join(posenc.CosSin(cos[:160], sin[:160], []int32{5, 6}, invFreq[:]), posenc.CosSin(cos[:rows], sin[:rows], positions[:], []float64{1}))
		},
		Long: func() error {
			cos, sin := make([]float32, 64*300), make([]float32, 64*300)
			return posenc.CosSin(cos, sin, kit.Sequence(300), make([]float64, 64))
		},
	})
	_ = kit.Register(kit.Case{Function: "CosSinAngles", Call: cosSinAnglesCall, Digests: digestOf("CosSinAngles", digestCosSinAngles), CallElements: kernels.MaxCallAngles,
		OnStack: func() error {
			var cos, sin [9]float32
			angles := [9]float32{1, 2, 0x1p60, float32(math.Inf(1)), 4, 5, 6, 7, 8}
			return posenc.CosSinAngles(cos[:], sin[:], angles[:])
		},
		Long: func() error {
			return posenc.CosSinAngles(make([]float32, 64*300), make([]float32, 64*300), make([]float32, 64*300))
		},
	})
	_ = kit.Register(kit.Case{Function: "Rotary.CosSin", NonTemporal: true, Call: rotaryCosSinCall, Digests: rotaryCosSinDigests, Times: 2,
		OnStack: func() error {
			var cos, sin [80]float32
			positions := [10]int32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
			return errors.Join(stackRotary().CosSin(cos[:8], sin[:8], []int32{77}), stackRotary().CosSin(cos[:], sin[:], positions[:]))
		},
		Long: func() error {
			return longCosSin(func(r *posenc.Rotary, cos, sin []float32, tokens int) error {
				return r.CosSin(cos, sin, kit.Sequence(tokens))
			})
		},
	})
	_ = kit.Register(kit.Case{Function: "Rotary.CosSinAxes", NonTemporal: true, Call: rotaryCosSinAxesCall, Digests: rotaryCosSinAxesDigests, Times: 2,
		OnStack: func() error {
			var cos, sin [8]float32
			return stackRotary().CosSinAxes(cos[:], sin[:], []int32{77})
		},
		Long: func() error {
			return longCosSin(func(r *posenc.Rotary, cos, sin []float32, tokens int) error {
				return r.CosSinAxes(cos, sin, kit.Sequence(tokens))
			})
		},
	})
	_ = kit.Register(kit.Case{Function: "Rotary.CosSinFractionalAxes", Call: fractionalAxesCall, NoDigest: true,
		OnStack: func() error {
			var cos, sin [8]float32
			return stackRotary().CosSinFractionalAxes(cos[:], sin[:], []float32{0.5})
		},
		Long: func() error {
			return longCosSin(func(r *posenc.Rotary, cos, sin []float32, tokens int) error {
				return r.CosSinFractionalAxes(cos, sin, make([]float32, tokens))
			})
		},
	})
	_ = kit.Register(kit.Case{Function: "Rotary.CosSinFractional", Call: fractionalCall, Digests: fractionalDigests, Times: 4,
		OnStack: func() error {
			var cos, sin [8]float32
			return stackRotary().CosSinFractional(cos[:], sin[:], []float32{0.5})
		},
		Long: func() error {
			return longCosSin(func(r *posenc.Rotary, cos, sin []float32, tokens int) error {
				return r.CosSinFractional(cos, sin, make([]float32, tokens))
			})
		},
	})
)

// apart reports whether no two of the slices share memory.
func apart(memory ...[]byte) bool {
	for i := range memory {
		for j := range i {
			if kit.Share(memory[i], memory[j]) {
				return false
			}
		}
	}
	return true
}

// tableCall is a call that writes the rows of positions [axes][tokens]. few reports whether plain
// may take its time.
func tableCall[P int32 | float32](a *kit.Arguments, positions []P, axes, pairs int, write func(cos, sin []float32, positions []P) error, right func() bool, plain func(few bool) (cos, sin []float32)) kit.Call {
	tokens := len(positions) / axes
	n := a.Size(tokens, pairs)
	cos, sin := kit.Output[float32](a, n), kit.Output[float32](a, n)
	return kit.Call{
		Run: func() error { return write(cos, sin, positions) },
		Right: func() bool {
			return right() && len(cos) == tokens*pairs && len(sin) == len(cos) && apart(kit.BytesOf(cos), kit.BytesOf(sin), kit.BytesOf(positions))
		},
		Want: func() {
			if len(cos) > 0 {
				c, s := plain(len(cos) <= 64)
				copy(cos, c)
				copy(sin, s)
			}
		},
		Parts: kit.RowParts([][]float32{cos, sin}, []int{pairs, pairs}, tokens, func(x [][]float32, tokens []int) error {
			return write(x[0], x[1], kit.PickAxes(positions, axes, tokens))
		}),
	}
}

// defined returns the rows by what defines them, where they are few.
func defined[P int32 | float32](cfg posenc.RotaryConfig, positions []P, few bool) (cos, sin []float32) {
	if few {
		return plainTables(cfg, positions, byReals)
	}
	return plainTables(cfg, positions, byGeneric)
}

func cosSinCall(a *kit.Arguments) kit.Call {
	tokens, pairs := a.Tokens(), a.Below(80)
	if !a.Any() {
		pairs = a.Length() * min(a.Below(20), 1)
	}
	positions := a.Positions(tokens)
	invFreq := kit.Input[float64](a, pairs)
	switch kind := a.Below(4); {
	case !a.Any() && !a.Ordinary() && kind < 2:
		copy(invFreq, kit.RandomFrequencies(a.R, pairs, append(positions, 1), kind == 0))
	case !a.Any() || kind > 0:
		copy(invFreq, kit.LadderOf(pairs))
	}
	write := func(cos, sin []float32, positions []int32) error { return posenc.CosSin(cos, sin, positions, invFreq) }
	return tableCall(a, positions, 1, len(invFreq), write,
		func() bool {
			return kit.AnglesInRange(invFreq, positions) && !slices.ContainsFunc(invFreq, func(w float64) bool { return !(math.Abs(w) < 0x1p50) })
		},
		func(few bool) (cos, sin []float32) {
			return defined(posenc.RotaryConfig{InvFreq: invFreq}, positions, few)
		})
}

func cosSinAnglesCall(a *kit.Arguments) kit.Call {
	n := a.Number(0, 200)
	if !a.Any() && a.Below(30) == 0 {
		n = kernels.MaxCallElements/8*(1+a.Below(2)) - 1 + a.Below(3)
	}
	angles := kit.Slice[float32](a, n)
	if !a.Any() && !a.Ordinary() && a.Yes() {
		for i := range angles {
			angles[i] = math.Float32frombits(kit.OneOf(a.R, kit.HardAngles))
		}
	}
	return tableCall(a, angles, 1, 1, posenc.CosSinAngles, func() bool { return true }, func(bool) (cos, sin []float32) {
		cos, sin = make([]float32, len(angles)), make([]float32, len(angles))
		generic.CosSinFloat32(cos, sin, angles, 1, 1, 1)
		return cos, sin
	})
}

func rotaryCosSinCall(a *kit.Arguments) kit.Call {
	r := rotaryFor(a, false)
	return rotaryTableCall(a, &r, r.CosSin)
}

func rotaryCosSinAxesCall(a *kit.Arguments) kit.Call {
	r := rotaryFor(a, true)
	return rotaryTableCall(a, &r, r.CosSinAxes)
}

func rotaryTableCall(a *kit.Arguments, r *rotaryArgument, write func(cos, sin []float32, positions []int32) error) kit.Call {
	positions := positionsOf(a, r)
	return tableCall(a, positions, r.axes, r.pairs(), write, func() bool { return takes(r, positions) }, func(bool) (cos, sin []float32) { return r.cosSin(positions) })
}

func fractionalCall(a *kit.Arguments) kit.Call {
	r := fractionalRotary(a, false)
	return fractionalTableCall(a, &r, r.CosSinFractional)
}

func fractionalAxesCall(a *kit.Arguments) kit.Call {
	r := fractionalRotary(a, true)
	return fractionalTableCall(a, &r, r.CosSinFractionalAxes)
}

func fractionalRotary(a *kit.Arguments, onAxes bool) rotaryArgument {
	r := rotaryFor(a, onAxes)
	for !a.Any() && r.cfg.XPos != nil {
		r = rotaryFor(a, onAxes)
	}
	return r
}

func fractionalTableCall(a *kit.Arguments, r *rotaryArgument, write func(cos, sin, positions []float32) error) kit.Call {
	positions := kit.Slice[float32](a, r.axes*a.Tokens())
	switch kind := a.Below(4); {
	case !a.Any():
		for i := range positions {
			positions[i] = float32(a.R.NormFloat64() * math.Ldexp(1, a.R.IntN(40)-20))
			if a.R.IntN(8) == 0 && !a.Ordinary() { // angles that are their sines
				positions[i] = kit.OneOf(a.R, []float32{0x1p-149, -0x1p-149, 0x1.8p-100, -0x1.fffffep-20, 0, float32(math.Copysign(0, -1))})
			}
		}
	case kind > 0:
		for i := range positions {
			positions[i] = float32(i) / 4
		}
	}
	return tableCall(a, positions, r.axes, r.pairs(), write,
		func() bool { return r.cfg.XPos == nil && takes(r, positions) },
		func(few bool) (cos, sin []float32) { return defined(r.cfg, positions, few) })
}

// longCosSin writes long tables, as wide as they may be.
func longCosSin(write func(r *posenc.Rotary, cos, sin []float32, tokens int) error) error {
	const tokens, most = 100, 2048
	cos, sin := make([]float32, tokens*most/2), make([]float32, tokens*most/2)
	for _, rounding := range []frequency.Rounding{frequency.Exact, frequency.Float32} {
		if err := write(kit.MustRotary(posenc.RotaryConfig{HeadDim: most, Layout: posenc.HalfSplit, Rounding: rounding}), cos, sin, tokens); err != nil {
			return err
		}
	}
	return nil
}

func cosSinDigests(add kit.AddDigest) {
	add("CosSin", func(d *kit.Digest) {
		for _, pairs := range []int{1, 8, 33, 64, 70} {
			const tokens = 50
			positions, invFreq := d.Positions(tokens), d.Frequencies(pairs)
			cos, sin := make([]float32, tokens*pairs), make([]float32, tokens*pairs)
			d.Must(posenc.CosSin(cos, sin, positions, invFreq))
			d.Add(cos, sin)
		}
	})
	add("CosSin/hard", func(d *kit.Digest) {
		for _, hard := range kit.HardFrequencies {
			invFreq := d.Frequencies(40)
			invFreq[d.Below(40)] = hard.InvFreq
			positions := make([]int32, 40)
			kit.CountFrom(positions, hard.Position-int32(d.Below(40)), 1) // wraps
			cos, sin := make([]float32, 40*40), make([]float32, 40*40)
			d.Must(posenc.CosSin(cos, sin, positions, invFreq))
			d.Add(cos, sin)
		}
	})
}

func digestCosSinAngles(d *kit.Digest) {
	angles := kit.DigestElements[float32](d, 1000)
	for i := range angles[:700] { // below 2^49, so that whole vectors take the fast path
		angles[i] = math.Float32frombits(uint32(d.Next())&(1<<31|1<<23-1) | uint32(d.Below(175))<<23)
	}
	for _, bits := range kit.HardAngles {
		angles = append(angles, math.Float32frombits(bits), math.Float32frombits(bits|1<<31))
	}
	cos, sin := make([]float32, len(angles)), make([]float32, len(angles))
	d.Must(posenc.CosSinAngles(cos, sin, angles))
	d.Add(cos, sin)
}

func rotaryCosSinDigests(add kit.AddDigest) {
	write := func(d *kit.Digest, cfg posenc.RotaryConfig, positions []int32) {
		n := len(positions) * len(cfg.InvFreq)
		cos, sin := make([]float32, n), make([]float32, n)
		d.Must(kit.MustRotary(cfg).CosSin(cos, sin, positions))
		d.Add(cos, sin)
	}
	for rounding, name := range digestRoundings {
		rounding := frequency.Rounding(rounding)
		add("Rotary.CosSin/angles="+name, func(d *kit.Digest) {
			for _, pairs := range []int{1, 7, 8, 33, 64, 70} {
				cfg := digestConfig(d, posenc.HalfSplit, rounding, pairs)
				for _, tokens := range []int{1, 5, 70} {
					write(d, cfg, d.Positions(tokens))
				}
			}
		})
		add("Rotary.CosSin/xpos/angles="+name, func(d *kit.Digest) {
			for _, keys := range []bool{false, true} {
				cfg := digestConfig(d, posenc.HalfSplit, rounding, 12)
				cfg.XPos = &posenc.XPos{ScaleBase: 512, Center: -7, Keys: keys}
				write(d, cfg, []int32{-70000, -8, -7, 0, 1, 2, 3, 511, 30000, math.MaxInt32, math.MinInt32})
			}
		})
	}
}

func rotaryCosSinAxesDigests(add kit.AddDigest) {
	for rounding, name := range digestRoundings {
		add("Rotary.CosSin/axes/angles="+name, func(d *kit.Digest) {
			for _, axes := range digestAxisMaps(d) {
				cfg := digestConfig(d, posenc.HalfSplit, frequency.Rounding(rounding), len(axes))
				cfg.Axes = axes
				positions := d.Positions(3 * 40)
				cos, sin := make([]float32, 40*len(axes)), make([]float32, 40*len(axes))
				d.Must(kit.MustRotary(cfg).CosSinAxes(cos, sin, positions))
				d.Add(cos, sin)
			}
		})
	}
}

func fractionalDigests(add kit.AddDigest) {
	for rounding, name := range digestRoundings {
		add("Rotary.CosSinFractional/angles="+name, func(d *kit.Digest) {
			for _, pairs := range []int{1, 8, 33, 64} {
				r := kit.MustRotary(digestConfig(d, posenc.HalfSplit, frequency.Rounding(rounding), pairs))
				const tokens = 17
				positions := append(kit.DigestNumbers[float32](d, tokens-4), 0, -0x1.8p30, 0x1p-149, 0x1.5p-60)
				cos, sin := make([]float32, tokens*pairs), make([]float32, tokens*pairs)
				d.Must(r.CosSinFractional(cos, sin, positions))
				d.Add(cos, sin)
			}
		})
	}
}

func TestCosSinFourierErrors(t *testing.T) {
	memory := make([]float32, 64)
	cos, sin, matrix := memory[:12], memory[12:24], memory[24:32] // 2 tokens of 2 heads of 3 pairs, of 2 frequencies
	r := func(dim, offset int) *posenc.Rotary {
		return kit.MustRotary(posenc.RotaryConfig{HeadDim: dim, RotaryDim: 4, Offset: offset, Layout: posenc.HalfSplit})
	}
	whole, positions, c := r(6, 0), []int32{1, 2}, posenc.FourierCoefficients{Cos: matrix, Sin: matrix}
	fails := kit.Failures(t, memory)
	fails((*posenc.Rotary)(nil).CosSinFourier(cos, sin, positions, c), posenc.ErrConfig, "posenc.Rotary.CosSinFourier: r is nil or zero")
	fails(r(7, 0).CosSinFourier(cos, sin, positions, c), posenc.ErrConfig, "posenc.Rotary.CosSinFourier: r is of another part of the head, want an even HeadDim and Offset 0")
	fails(r(6, 2).CosSinFourier(cos, sin, positions, c), posenc.ErrConfig, "want an even HeadDim and Offset 0")
	decays := kit.MustRotary(posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, XPos: &posenc.XPos{ScaleBase: 512}})
	fails(decays.CosSinFourier(cos, sin, positions, c), posenc.ErrConfig, "posenc.Rotary.CosSinFourier: r is a Rotary with XPos")
	fails(whole.CosSinFourier(cos, sin, positions, posenc.FourierCoefficients{Cos: matrix[:7], Sin: matrix[:7]}), posenc.ErrLength, "posenc.Rotary.CosSinFourier: coefficients.Cos has 7 elements, want a multiple of the 4 of a matrix for 2 frequencies")
	fails(whole.CosSinFourier(cos, sin, positions, posenc.FourierCoefficients{Cos: matrix}), posenc.ErrLength, "posenc.Rotary.CosSinFourier: coefficients.Sin has 0 elements")
	fails(whole.CosSinFourier(cos[:11], sin, positions, c), posenc.ErrLength, "posenc.Rotary.CosSinFourier: cos has 11 elements, want 12 for 2 rows of 6")
	fails(whole.CosSinFourier(cos, memory[20:32], positions, c), posenc.ErrOverlap, "posenc.Rotary.CosSinFourier: sin is sharing memory with coefficients.Cos")
	fails(whole.CosSinFourier(cos, cos, positions, c), posenc.ErrOverlap, "posenc.Rotary.CosSinFourier: sin is sharing elements with cos")
}

var _ = kit.Register(kit.Case{Function: "Rotary.CosSinFourier", Call: fourierCall, Digests: fourierDigests,
	OnStack: func() error {
		var cos, sin [8]float32
		var matrix [64]float32
		return stackRotary().CosSinFourier(cos[:], sin[:], []int32{77}, posenc.FourierCoefficients{Cos: matrix[:], Sin: matrix[:]})
	},
	Long: func() error {
		const n, tokens = 64, 100
		cos, sin, matrix := make([]float32, tokens*n), make([]float32, tokens*n), make([]float32, n*n)
		r := kit.MustRotary(posenc.RotaryConfig{HeadDim: 2 * n, Layout: posenc.HalfSplit})
		return r.CosSinFourier(cos, sin, kit.Sequence(tokens), posenc.FourierCoefficients{Cos: matrix, Sin: matrix})
	},
})

func fourierCall(a *kit.Arguments) kit.Call {
	var r rotaryArgument
	if a.Any() {
		r = rotaryFor(a, false)
	} else { // few pairs: math/big takes its time
		pairs := 1 + a.Below(20)
		cfg := posenc.RotaryConfig{HeadDim: 2 * (pairs + a.Below(4)), RotaryDim: 2 * pairs, Layout: posenc.HalfSplit, Rounding: frequency.Rounding(a.Below(2)), InvFreq: kit.LadderOf(pairs), AttentionFactor: []float64{0, 1.25}[a.Below(2)]}
		r = rotaryArgument{kit.MustRotary(cfg), cfg, 1, false, false}
	}
	positions := positionsOf(a, &r)
	n, heads := r.pairs(), a.Number(1, 3)
	c := posenc.FourierCoefficients{Cos: kit.Input[float32](a, kit.Small(heads, n, n)), Sin: kit.Input[float32](a, kit.Small(heads, n, n))}
	if n > 0 {
		heads = len(c.Cos) / (n * n)
	}
	call := tableCall(a, positions, r.axes, heads*(r.cfg.HeadDim/2),
		func(cos, sin []float32, positions []int32) error { return r.CosSinFourier(cos, sin, positions, c) },
		func() bool {
			return takes(&r, positions) && r.cfg.Offset == 0 && r.cfg.HeadDim%2 == 0 && heads > 0 && len(c.Cos) == heads*n*n && len(c.Sin) == len(c.Cos)
		},
		func(bool) (cos, sin []float32) {
			c0, s0 := r.cosSin(positions)
			padding := float32(cmp.Or(r.cfg.AttentionFactor, 1))
			return fourierPlain(c0, c.Cos, n, r.cfg.HeadDim/2, padding), fourierPlain(s0, c.Sin, n, r.cfg.HeadDim/2, padding)
		})
	call.Allocates = 64 << 20 // what float64 cannot round
	return call
}

// fourierPlain adds products exactly: they are multiples of 2^-298 below 2^256.
func fourierPlain(rows, matrices []float32, n, pairs int, padding float32) (sums []float32) {
	for ; len(rows) > 0; rows = rows[n:] {
		for m := matrices; len(m) > 0; m = m[n*n:] {
			for j := range pairs {
				if j >= n {
					sums = append(sums, padding)
					continue
				}
				sum, plain := new(big.Float).SetPrec(600), 0.0
				for i, x := range rows[:n] {
					product := float64(x) * float64(m[i*n+j])
					plain += product
					if !math.IsNaN(plain) && !math.IsInf(plain, 0) {
						sum.Add(sum, big.NewFloat(product))
					}
				}
				rounded := float32(plain)
				if !math.IsNaN(plain) && !math.IsInf(plain, 0) {
					rounded, _ = sum.Float32()
					rounded += 0 // the sum of -0 and -0 is 0 here
				}
				sums = append(sums, rounded)
			}
		}
	}
	return sums
}

func fourierDigests(add kit.AddDigest) {
	for rounding, name := range digestRoundings {
		add("Rotary.CosSinFourier/angles="+name, func(d *kit.Digest) {
			for _, n := range []int{1, 7, 45} {
				const heads, tokens, padding = 2, 9, 3
				cfg := digestConfig(d, posenc.HalfSplit, frequency.Rounding(rounding), n)
				cfg.Offset, cfg.HeadDim, cfg.RotaryDim = 0, 2*(n+padding), 2*n
				cos, sin := make([]float32, tokens*heads*(n+padding)), make([]float32, tokens*heads*(n+padding))
				c := posenc.FourierCoefficients{Cos: kit.DigestNumbers[float32](d, heads*n*n), Sin: kit.DigestNumbers[float32](d, heads*n*n)}
				d.Must(kit.MustRotary(cfg).CosSinFourier(cos, sin, d.Positions(tokens), c))
				d.Add(cos, sin)
			}
		})
	}
}

func TestCosSinMixedErrors(t *testing.T) {
	memory := make([]float32, 24)
	cos, sin, positions, shared := memory[:6], memory[6:12], make([]float32, 4), make([]float32, 12) // 2 tokens of 3 entries
	f := func(change func(f *posenc.MixedFrequencies)) posenc.MixedFrequencies {
		f := posenc.MixedFrequencies{InvFreq: []float64{1, 2, 3, 0x1p40, 5, 6}, Axes: 2}
		change(&f)
		return f
	}
	same := func(*posenc.MixedFrequencies) {}
	nan := float32(math.NaN())
	fails := kit.Failures(t, memory)
	fails(posenc.CosSinMixed(cos, sin, positions, f(func(f *posenc.MixedFrequencies) { f.Axes = 0 })), posenc.ErrConfig, "posenc.CosSinMixed: f.Axes is 0, want from 1 to 8")
	fails(posenc.CosSinMixed(cos, sin, positions, f(func(f *posenc.MixedFrequencies) { f.Rounding = 2 })), posenc.ErrConfig, "posenc.CosSinMixed: f.Rounding is 2, want frequency.Exact or frequency.Float32")
	fails(posenc.CosSinMixed(cos, sin, positions, f(func(f *posenc.MixedFrequencies) { f.InvFreq = f.InvFreq[:5] })), posenc.ErrConfig, "posenc.CosSinMixed: f.InvFreq has 5 elements, want a multiple of Axes 2")
	fails(posenc.CosSinMixed(cos, sin, positions, f(func(f *posenc.MixedFrequencies) { f.InvFreq[4] = math.NaN() })), posenc.ErrConfig, "posenc.CosSinMixed: f.InvFreq[4] is NaN")
	fails(posenc.CosSinMixed(cos, sin, positions, f(func(f *posenc.MixedFrequencies) { f.InvFreq[4] = 0x1p50 })), posenc.ErrConfig, "posenc.CosSinMixed: f.InvFreq[4] is 1.125899906842624e+15")
	fails(posenc.CosSinMixed(cos, sin, positions[:3], f(same)), posenc.ErrLength, "posenc.CosSinMixed: positions has 3 elements, want a multiple of 2")
	fails(posenc.CosSinMixed(cos, sin, []float32{0, nan, 0, 0}, f(same)), posenc.ErrPosition, "posenc.CosSinMixed: positions[1] is NaN")
	fails(posenc.CosSinMixed(cos, sin, []float32{512, 512, 512, 0}, f(same)), posenc.ErrPosition, "posenc.CosSinMixed: positions[2] is 512, want a number whose product with the frequency 1.099511627776e+12 is below 2^50/2 in magnitude")
	fails(posenc.CosSinMixed(cos[:5], sin, positions, f(same)), posenc.ErrLength, "posenc.CosSinMixed: cos has 5 elements, want 6 for 2 rows of 3")
	fails(posenc.CosSinMixed(cos, memory[5:11], positions, f(same)), posenc.ErrOverlap, "posenc.CosSinMixed: sin is sharing elements with cos")
	fails(posenc.CosSinMixed(cos, shared[:6], shared[5:9], f(same)), posenc.ErrOverlap, "posenc.CosSinMixed: sin is sharing memory with positions")
	fails(posenc.CosSinMixed(cos[:1], sin[:1], []float32{float32(math.Inf(1)), 0}, posenc.MixedFrequencies{InvFreq: []float64{0, 0}, Axes: 2}), posenc.ErrPosition, "posenc.CosSinMixed: positions[0] is +Inf")
	fails(posenc.CosSinMixed(shared[6:], sin, positions, posenc.MixedFrequencies{InvFreq: wordsOf[float64](shared), Axes: 2}), posenc.ErrOverlap, "posenc.CosSinMixed: cos is sharing memory with f.InvFreq")
	if err := errors.Join(posenc.CosSinMixed(nil, nil, nil, f(same)), posenc.CosSinMixed(cos[:1], sin[:1], []float32{math.MaxFloat32, 0}, posenc.MixedFrequencies{InvFreq: []float64{0, 0}, Axes: 2}), posenc.CosSinMixed(nil, nil, []float32{1, 2}, posenc.MixedFrequencies{Axes: 2}), posenc.CosSinMixed(cos, sin, []float32{511, -511, 511, -511}, f(same))); err != nil {
		t.Error(err)
	}
}

var _ = kit.Register(kit.Case{Function: "CosSinMixed", Call: cosSinMixedCall, Digests: cosSinMixedDigests,
	OnStack: func() error {
		var cos, sin [6]float32
		return posenc.CosSinMixed(cos[:], sin[:], []float32{1, 2, 0.5, 0.25}, posenc.MixedFrequencies{InvFreq: []float64{1, 0.5, 0.25, -1, 3, 2}, Axes: 2})
	},
	Long: func() error {
		cos, sin := make([]float32, 64*300), make([]float32, 64*300)
		return posenc.CosSinMixed(cos, sin, make([]float32, 600), posenc.MixedFrequencies{InvFreq: make([]float64, 128), Axes: 2, Rounding: frequency.Float32})
	},
})

func cosSinMixedCall(a *kit.Arguments) kit.Call {
	f := posenc.MixedFrequencies{Axes: a.Number(1, 4), Rounding: frequency.Rounding(a.Number(0, 1))}
	tokens, entries := a.Number(0, 12), a.Number(0, 80)
	positions := kit.Slice[float32](a, kit.Small(f.Axes, tokens))
	invFreq := kit.Input[float64](a, kit.Small(f.Axes, entries))
	for i := range positions {
		if !a.Any() || a.Yes() {
			positions[i] = float32(a.R.NormFloat64() * math.Ldexp(1, a.R.IntN(12)-6))
		}
	}
	for i := range invFreq {
		if !a.Any() || a.Yes() {
			invFreq[i] = a.R.NormFloat64() * math.Ldexp(1, a.R.IntN(12)-10)
		}
		if !a.Any() && a.R.IntN(16) == 0 {
			invFreq[i] = 0
		}
	}
	f.InvFreq = invFreq
	if axes := max(f.Axes, 1); !a.Any() && !a.Ordinary() && tokens > 0 && entries > 0 && a.Yes() { // a hard entry
		last := axes - 1
		rest := 0.0
		for axis := range last {
			rest += float64(positions[axis*tokens]) * invFreq[axis]
		}
		positions[last*tokens] = 3
		invFreq[last] = (kit.HardFrequency(a.R, 1) - rest) / 3
	}
	call := tableCall(a, positions, max(f.Axes, 1), len(invFreq)/max(f.Axes, 1), func(cos, sin, positions []float32) error { return posenc.CosSinMixed(cos, sin, positions, f) },
		func() bool {
			if f.Axes < 1 || f.Axes > 8 || f.Rounding > frequency.Float32 || len(f.InvFreq)%f.Axes != 0 || len(positions)%f.Axes != 0 {
				return false
			}
			tokens, largest := len(positions)/f.Axes, make([]float64, f.Axes)
			for i, w := range f.InvFreq {
				if !(math.Abs(w) < 0x1p50) {
					return false
				}
				largest[i%f.Axes] = max(largest[i%f.Axes], math.Abs(w))
			}
			for i, p := range positions {
				if m := math.Abs(float64(p)); !(m <= math.MaxFloat32 && m*largest[i/tokens] < 0x1p50/float64(f.Axes)) {
					return false
				}
			}
			return true
		},
		func(few bool) (cos, sin []float32) { return cosSinMixedPlain(positions, f, few) })
	call.Allocates = 64 << 20 // what float64 cannot round
	return call
}

// cosSinMixedPlain takes the exact sums of as many bits as they have. (The reference has
// fewer: of a sum that is longer, it is generic's cosine and sine.)
func cosSinMixedPlain(positions []float32, f posenc.MixedFrequencies, few bool) (cos, sin []float32) {
	entries, tokens := len(f.InvFreq)/f.Axes, len(positions)/f.Axes
	cos, sin = make([]float32, tokens*entries), make([]float32, tokens*entries)
	for t := range tokens {
		for e := range entries {
			at := t*entries + e
			position := make([]float32, f.Axes)
			angle, sum := new(big.Float).SetPrec(2000), float32(0)
			for a := range f.Axes {
				p, w := positions[a*tokens+t], f.InvFreq[e*f.Axes+a]
				position[a] = p
				product := new(big.Float).SetPrec(2000).SetFloat64(float64(p))
				angle.Add(angle, product.Mul(product, new(big.Float).SetFloat64(w)))
				if rounded := float32(p * float32(w)); a == 0 {
					sum = rounded
				} else {
					sum += rounded
				}
			}
			switch {
			case f.Rounding == frequency.Float32:
				generic.CosSinFloat32(cos[at:], sin[at:], []float32{sum}, 1, 1, 1)
			case angle.Sign() == 0:
				cos[at], sin[at] = 1, 0
			case angle.MinPrec() > 300 || angle.MantExp(nil) < -80 || !few:
				generic.CosSinSum(cos[at:at+1], sin[at:], position, f.InvFreq[e*f.Axes:][:f.Axes])
			default:
				c, s := exhaustive.RealCosSin(exhaustive.NewReal().Set(angle))
				cos[at], _ = c.Float32()
				sin[at], _ = s.Float32()
			}
		}
	}
	return cos, sin
}

func cosSinMixedDigests(add kit.AddDigest) {
	for rounding, name := range digestRoundings {
		add("CosSinMixed/angles="+name, func(d *kit.Digest) {
			for _, axes := range []int{1, 2, 3, 8} {
				for _, entries := range []int{1, 33, 70} {
					const tokens = 17
					positions, cos, sin := kit.DigestNumbers[float32](d, axes*tokens), make([]float32, tokens*entries), make([]float32, tokens*entries)
					d.Must(posenc.CosSinMixed(cos, sin, positions, posenc.MixedFrequencies{InvFreq: d.Frequencies(axes * entries), Axes: axes, Rounding: frequency.Rounding(rounding)}))
					d.Add(cos, sin)
				}
			}
		})
	}
}
