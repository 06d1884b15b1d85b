package posenc_test

import (
	"errors"
	"math"
	"slices"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

var (
	_ = testkit.Register(testkit.Case{Function: "CosSin", Times: 4, NonTemporal: true, Call: cosSinCall, Digests: cosSinDigests,
		OnStack: func() error {
			const rows = 2 * kernels.ShiftedRows
			var cos, sin [max(rows, 160)]float32
			var positions [rows]int32
			var invFreq [80]float64
			return errors.Join(posenc.CosSin(cos[:160], sin[:160], []int32{5, 6}, invFreq[:]), posenc.CosSin(cos[:rows], sin[:rows], positions[:], []float64{1}))
		},
		Long: func() error {
			cos, sin := make([]float32, 64*300), make([]float32, 64*300)
			return posenc.CosSin(cos, sin, testkit.Sequence(300), make([]float64, 64))
		},
	})
	_ = testkit.Register(testkit.Case{Function: "CosSinAngles", Call: cosSinAnglesCall, Digests: digestOf("CosSinAngles", digestCosSinAngles), CallElements: kernels.MaxCallAngles,
		OnStack: func() error {
			var cos, sin [9]float32
			angles := [9]float32{1, 2, 0x1p60, float32(math.Inf(1)), 4, 5, 6, 7, 8}
			return posenc.CosSinAngles(cos[:], sin[:], angles[:])
		},
		Long: func() error {
			return posenc.CosSinAngles(make([]float32, 64*300), make([]float32, 64*300), make([]float32, 64*300))
		},
	})
	_ = testkit.Register(testkit.Case{Function: "Rotary.CosSin", NonTemporal: true, Call: rotaryCosSinCall, Digests: rotaryCosSinDigests, Times: 2,
		OnStack: func() error {
			var cos, sin [80]float32
			positions := [10]int32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
			return errors.Join(stackRotary().CosSin(cos[:8], sin[:8], []int32{77}), stackRotary().CosSin(cos[:], sin[:], positions[:]))
		},
		Long: func() error {
			return longCosSin(func(r *posenc.Rotary, cos, sin []float32, tokens int) error {
				return r.CosSin(cos, sin, testkit.Sequence(tokens))
			})
		},
	})
	_ = testkit.Register(testkit.Case{Function: "Rotary.CosSinFractional", Call: fractionalCall, Digests: fractionalDigests, Times: 4,
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
			if testkit.Share(memory[i], memory[j]) {
				return false
			}
		}
	}
	return true
}

// tableCall is a call that writes the rows of positions [axes][tokens]. few reports whether plain
// may take its time.
func tableCall[P int32 | float32](a *testkit.Arguments, positions []P, axes, pairs int, write func(cos, sin []float32, positions []P) error, right func() bool, plain func(few bool) (cos, sin []float32)) testkit.Call {
	tokens := len(positions) / axes
	n := a.Size(tokens, pairs)
	cos, sin := testkit.Output[float32](a, n), testkit.Output[float32](a, n)
	return testkit.Call{
		Run: func() error { return write(cos, sin, positions) },
		Right: func() bool {
			return right() && len(cos) == tokens*pairs && len(sin) == len(cos) && apart(testkit.BytesOf(cos), testkit.BytesOf(sin), testkit.BytesOf(positions))
		},
		Want: func() {
			if len(cos) > 0 {
				c, s := plain(len(cos) <= 64)
				copy(cos, c)
				copy(sin, s)
			}
		},
		Parts: testkit.RowParts([][]float32{cos, sin}, []int{pairs, pairs}, tokens, func(x [][]float32, tokens []int) error {
			return write(x[0], x[1], testkit.PickAxes(positions, axes, tokens))
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

func cosSinCall(a *testkit.Arguments) testkit.Call {
	tokens, pairs := a.Tokens(), a.Below(80)
	if !a.Any() {
		pairs = a.Length() * min(a.Below(20), 1)
	}
	positions := a.Positions(tokens)
	invFreq := testkit.Input[float64](a, pairs)
	switch kind := a.Below(4); {
	case !a.Any() && !a.Ordinary() && kind < 2:
		copy(invFreq, testkit.RandomFrequencies(a.R, pairs, append(positions, 1), kind == 0))
	case !a.Any() || kind > 0:
		copy(invFreq, testkit.LadderOf(pairs))
	}
	write := func(cos, sin []float32, positions []int32) error { return posenc.CosSin(cos, sin, positions, invFreq) }
	return tableCall(a, positions, 1, len(invFreq), write,
		func() bool {
			return testkit.AnglesInRange(invFreq, positions) && !slices.ContainsFunc(invFreq, func(w float64) bool { return !(math.Abs(w) < 0x1p50) })
		},
		func(few bool) (cos, sin []float32) {
			return defined(posenc.RotaryConfig{InvFreq: invFreq}, positions, few)
		})
}

func cosSinAnglesCall(a *testkit.Arguments) testkit.Call {
	n := a.Number(0, 200)
	if !a.Any() && a.Below(30) == 0 {
		n = kernels.MaxCallElements/8*(1+a.Below(2)) - 1 + a.Below(3)
	}
	angles := testkit.Slice[float32](a, n)
	if !a.Any() && !a.Ordinary() && a.Yes() {
		for i := range angles {
			angles[i] = math.Float32frombits(testkit.OneOf(a.R, testkit.HardAngles))
		}
	}
	return tableCall(a, angles, 1, 1, posenc.CosSinAngles, func() bool { return true }, func(bool) (cos, sin []float32) {
		cos, sin = make([]float32, len(angles)), make([]float32, len(angles))
		generic.CosSinFloat32(cos, sin, angles, 1, 1, 1)
		return cos, sin
	})
}

func rotaryCosSinCall(a *testkit.Arguments) testkit.Call {
	r := rotaryOf(a)
	positions := positionsOf(a, &r)
	return tableCall(a, positions, r.axes, r.pairs(), r.CosSin, func() bool { return takes(&r, positions) }, func(bool) (cos, sin []float32) { return r.cosSin(positions) })
}

func fractionalCall(a *testkit.Arguments) testkit.Call {
	r := rotaryOf(a)
	for !a.Any() && r.cfg.XPos != nil {
		r = rotaryOf(a)
	}
	positions := testkit.Slice[float32](a, r.axes*a.Tokens())
	switch kind := a.Below(4); {
	case !a.Any():
		for i := range positions {
			positions[i] = float32(a.R.NormFloat64() * math.Ldexp(1, a.R.IntN(40)-20))
			if a.R.IntN(8) == 0 && !a.Ordinary() { // angles that are their sines
				positions[i] = testkit.OneOf(a.R, []float32{0x1p-149, -0x1p-149, 0x1.8p-100, -0x1.fffffep-20, 0, float32(math.Copysign(0, -1))})
			}
		}
	case kind > 0:
		for i := range positions {
			positions[i] = float32(i) / 4
		}
	}
	return tableCall(a, positions, r.axes, r.pairs(), r.CosSinFractional,
		func() bool { return r.cfg.XPos == nil && takes(&r, positions) },
		func(few bool) (cos, sin []float32) { return defined(r.cfg, positions, few) })
}

// longCosSin writes long tables, as wide as they may be.
func longCosSin(write func(r *posenc.Rotary, cos, sin []float32, tokens int) error) error {
	const tokens, most = 100, 2048
	cos, sin := make([]float32, tokens*most/2), make([]float32, tokens*most/2)
	for _, rounding := range []frequency.Rounding{frequency.Exact, frequency.Float32} {
		if err := write(testkit.MustRotary(posenc.RotaryConfig{HeadDim: most, Layout: posenc.HalfSplit, Rounding: rounding}), cos, sin, tokens); err != nil {
			return err
		}
	}
	return nil
}

func cosSinDigests(add testkit.AddDigest) {
	add("CosSin", func(d *testkit.Digest) {
		for _, pairs := range []int{1, 8, 33, 64, 70} {
			const tokens = 50
			positions, invFreq := d.Positions(tokens), d.Frequencies(pairs)
			cos, sin := make([]float32, tokens*pairs), make([]float32, tokens*pairs)
			d.Must(posenc.CosSin(cos, sin, positions, invFreq))
			d.Add(cos, sin)
		}
	})
	add("CosSin/hard", func(d *testkit.Digest) {
		for _, hard := range testkit.HardFrequencies {
			invFreq := d.Frequencies(40)
			invFreq[d.Below(40)] = hard.InvFreq
			positions := make([]int32, 40)
			testkit.CountFrom(positions, hard.Position-int32(d.Below(40)), 1) // wraps
			cos, sin := make([]float32, 40*40), make([]float32, 40*40)
			d.Must(posenc.CosSin(cos, sin, positions, invFreq))
			d.Add(cos, sin)
		}
	})
}

func digestCosSinAngles(d *testkit.Digest) {
	angles := testkit.DigestElements[float32](d, 1000)
	for i := range angles[:700] { // below 2^49, so that whole vectors take the fast path
		angles[i] = math.Float32frombits(uint32(d.Next())&(1<<31|1<<23-1) | uint32(d.Below(175))<<23)
	}
	for _, bits := range testkit.HardAngles {
		angles = append(angles, math.Float32frombits(bits), math.Float32frombits(bits|1<<31))
	}
	cos, sin := make([]float32, len(angles)), make([]float32, len(angles))
	d.Must(posenc.CosSinAngles(cos, sin, angles))
	d.Add(cos, sin)
}

func rotaryCosSinDigests(add testkit.AddDigest) {
	write := func(d *testkit.Digest, cfg posenc.RotaryConfig, positions []int32) {
		n := len(positions) * len(cfg.InvFreq)
		if cfg.Axes != nil {
			n /= 3
		}
		cos, sin := make([]float32, n), make([]float32, n)
		d.Must(testkit.MustRotary(cfg).CosSin(cos, sin, positions))
		d.Add(cos, sin)
	}
	for rounding, name := range digestRoundings {
		rounding := frequency.Rounding(rounding)
		add("Rotary.CosSin/angles="+name, func(d *testkit.Digest) {
			for _, pairs := range []int{1, 7, 8, 33, 64, 70} {
				cfg := digestConfig(d, posenc.HalfSplit, rounding, pairs)
				for _, tokens := range []int{1, 5, 70} {
					write(d, cfg, d.Positions(tokens))
				}
			}
		})
		add("Rotary.CosSin/axes/angles="+name, func(d *testkit.Digest) {
			for _, axes := range digestAxisMaps(d) {
				cfg := digestConfig(d, posenc.HalfSplit, rounding, len(axes))
				cfg.Axes = axes
				write(d, cfg, d.Positions(3*40))
			}
		})
		add("Rotary.CosSin/xpos/angles="+name, func(d *testkit.Digest) {
			for _, keys := range []bool{false, true} {
				cfg := digestConfig(d, posenc.HalfSplit, rounding, 12)
				cfg.XPos = &posenc.XPos{ScaleBase: 512, Center: -7, Keys: keys}
				write(d, cfg, []int32{-70000, -8, -7, 0, 1, 2, 3, 511, 30000, math.MaxInt32, math.MinInt32})
			}
		})
	}
}

func fractionalDigests(add testkit.AddDigest) {
	for rounding, name := range digestRoundings {
		add("Rotary.CosSinFractional/angles="+name, func(d *testkit.Digest) {
			for _, pairs := range []int{1, 8, 33, 64} {
				r := testkit.MustRotary(digestConfig(d, posenc.HalfSplit, frequency.Rounding(rounding), pairs))
				const tokens = 17
				positions := append(testkit.DigestNumbers[float32](d, tokens-4), 0, -0x1.8p30, 0x1p-149, 0x1.5p-60)
				cos, sin := make([]float32, tokens*pairs), make([]float32, tokens*pairs)
				d.Must(r.CosSinFractional(cos, sin, positions))
				d.Add(cos, sin)
			}
		})
	}
}
