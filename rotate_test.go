package posenc_test

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/cossin"
	"github.com/go-posenc/posenc/internal/test/kit"
)

func TestRotateErrors(t *testing.T) {
	const dim, tokens = 8, 3
	memory := make([]float32, 512)
	rotary := kit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit})
	fast := kit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit, InvFreq: []float64{1, 0x1p20, -0x1p40, 3}})
	huge := kit.MustRotary(posenc.RotaryConfig{HeadDim: math.MaxInt, RotaryDim: 2, Layout: posenc.HalfSplit})
	positions := []int32{5, 6, 7}
	good := posenc.View[float32]{Data: memory[400:448], Heads: 2}
	packed := func(n, heads int) V { return V{Data: memory[:n], Heads: heads} }
	six, sequences := []int32{1, 2, 3, 4, 5, 6}, V{Data: memory[:96], Heads: 2, TokenStride: dim, HeadStride: 3 * dim, SequenceTokens: 3, SequenceStride: 6 * dim}
	change := func(f func(v *V)) V {
		v := sequences
		f(&v)
		return v
	}
	for function, rotate := range map[string]func(posenc.Angles, ...V) error{"Rotate": posenc.Rotate[float32], "RotateInverse": posenc.RotateInverse[float32]} {
		t.Run("function="+function, func(t *testing.T) {
			fails := kit.Failures(t, memory)
			fails(rotate(posenc.Angles{}, good), posenc.ErrConfig, "a is zero: from a nil Rotary or nil Rows, of a layer that there is not, or of rows whose Refill failed, want Angles from a method of a Rotary or of Rows")
			fails(rotate(new(posenc.Rows).All(), good), posenc.ErrConfig, "a is from zero Rows, want Angles from Rows of Rotary.Rows or NewRows")
			fails(rotate(new(posenc.Rotary).At(positions), good), posenc.ErrConfig, "a is from a zero Rotary")
			fails(rotate(rotary.Unrotated(-1), good), posenc.ErrConfig, "a is of -1 tokens, want at least 0 tokens in Rotary.Unrotated")
			fails(rotate(fast.At([]int32{1023, 1024, -5}), good), posenc.ErrPosition, "positions[1] is 1024, want at most 1023 in magnitude, so that angles stay below 2^50")
			fails(rotate(fast.At([]int32{math.MinInt32, 0, 0}), good), posenc.ErrPosition, "positions[0] is -2147483648")
			fails(rotate(huge.At([]int32{1}), good), posenc.ErrShape, "xs[0].Heads is 2")
			fails(rotate(rotary.At(nil), packed(1, 1)), posenc.ErrLength, "xs[0].Data has 1 element,")
			fails(rotate(rotary.At(nil), V{}), posenc.ErrShape, "xs[0].Heads is 0")
			fails(rotate(rotary.At(positions), packed(48, 0)), posenc.ErrShape, "xs[0].Heads is 0, want at least 1")
			fails(rotate(rotary.At(positions), strided(memory[:48], math.MaxInt, 8, 8)), posenc.ErrLength, "xs[0].Data has 48 elements")
			fails(rotate(rotary.At(positions), packed(0, math.MaxInt/8+1)), posenc.ErrShape, "xs[0].Heads")
			fails(rotate(rotary.At(positions), strided(memory[:48], 2, -1, 0)), posenc.ErrShape, "xs[0].TokenStride is -1")
			fails(rotate(rotary.At(positions), strided(memory[:48], 2, 0, -8)), posenc.ErrShape, "xs[0].HeadStride is -8")
			fails(rotate(rotary.At(positions), strided(memory[:48], 2, math.MaxInt, 0)), posenc.ErrLength, "xs[0].Data has 48 elements")
			fails(rotate(rotary.At(positions), V{Heads: 2}), posenc.ErrLength, "xs[0].Data has 0 elements", "48")
			fails(rotate(rotary.At(positions), packed(47, 2)), posenc.ErrLength, "xs[0].Data has 47 elements", "48")
			fails(rotate(rotary.At(positions), packed(49, 2)), posenc.ErrLength, "xs[0].Data has 49 elements", "48")
			fails(rotate(rotary.At(positions), strided(memory[:215], 2, 100, 0)), posenc.ErrLength, "xs[0].Data has 215 elements", "216")
			fails(rotate(rotary.At(positions), strided(memory[:60], 2, 16, 21)), posenc.ErrLength, "xs[0].Data has 60 elements", "61")
			fails(rotate(rotary.At(positions), good, packed(23, 1)), posenc.ErrLength, "xs[1].Data has 23 elements", "24")
			fails(rotate(rotary.At(positions), strided(memory[:200], 2, 8, 0)), posenc.ErrOverlap, "xs[0].TokenStride is 8")
			fails(rotate(rotary.At(positions), strided(memory[:300], 3, 20, 19)), posenc.ErrOverlap, "xs[0].TokenStride is 20")
			fails(rotate(rotary.At(positions), good, packed(24, 1), good), posenc.ErrOverlap, "xs[2]", "xs[0]")
			fails(rotate(rotary.At(positions), packed(48, 2), V{Data: memory[47:71], Heads: 1}), posenc.ErrOverlap, "xs[1]")
			fails(rotate(rotary.At(positions), strided(memory[:144], 2, 48, 0), strided(memory[15:144], 1, 48, 0)), posenc.ErrOverlap, "xs[1]")
			fails(rotate(rotary.At(six), change(func(v *V) { v.SequenceStride = 0 })), posenc.ErrShape, "xs[0].SequenceTokens is 3, want 0 where SequenceStride is 0")
			fails(rotate(rotary.At(six), change(func(v *V) { v.SequenceTokens = 0 })), posenc.ErrShape, "xs[0].SequenceTokens is 0, want at least 1 where SequenceStride is 48")
			fails(rotate(rotary.At(six), change(func(v *V) { v.SequenceStride = -48 })), posenc.ErrShape, "xs[0].SequenceStride is -48")
			fails(rotate(rotary.At(six), change(func(v *V) { v.SequenceTokens = 4 })), posenc.ErrShape, "xs[0].SequenceTokens is 4, want a divisor of the number of tokens, 6")
			fails(rotate(rotary.At(six), change(func(v *V) { v.Data = memory[:95] })), posenc.ErrLength, "xs[0].Data has 95 elements, want at least 96 for 6 tokens of 2 heads of 8 at SequenceStride 48, TokenStride 8 and HeadStride 24")
			fails(rotate(rotary.At(six), change(func(v *V) { v.SequenceStride = math.MaxInt })), posenc.ErrLength, "xs[0].Data has 96 elements")
			fails(rotate(rotary.At(six), change(func(v *V) { v.SequenceStride = 47 })), posenc.ErrOverlap, "xs[0].TokenStride is 8, want heads of 8 that do not overlap, with 2 heads at HeadStride 24 and 2 sequences at SequenceStride 47")
			fails(rotate(rotary.At(six), V{Data: memory[:47], Heads: 1}), posenc.ErrLength, "xs[0].Data has 47 elements, want 48 for 6 tokens of 1 head of 8")
			fails(rotate(rotary.At(six), V{Data: memory, Heads: 2, TokenStride: 8}), posenc.ErrOverlap, "xs[0].TokenStride is 8, want heads of 8 that do not overlap, with 2 heads at HeadStride 8; HeadStride is 0, set it too if")
			fails(rotate(rotary.At(six), V{Data: memory[:200], Heads: 2, HeadStride: 48}), posenc.ErrOverlap, "xs[0].TokenStride is 16, want heads of 8 that do not overlap, with 2 heads at HeadStride 48; TokenStride is 0, set it too")
			fails(rotate(rotary.At(six), V{Data: memory[:100], Heads: 2, TokenStride: 17, HeadStride: 8}), posenc.ErrLength, "xs[0].Data has 100 elements, want at least 101 for 6 tokens of 2 heads of 8 at TokenStride 17 and HeadStride 8")
			fails(rotate(rotary.At(six), V{Data: memory, Heads: 1, TokenStride: 7}), posenc.ErrOverlap, "xs[0].TokenStride is 7, want heads of 8 that do not overlap, with 1 head at HeadStride 8: overlapping")
			fails(rotate(rotary.At(six), V{Data: memory, Heads: 2, TokenStride: 8, HeadStride: 4}), posenc.ErrOverlap, "xs[0].TokenStride is 8, want heads of 8 that do not overlap, with 2 heads at HeadStride 4: overlapping")
			fails(rotate(rotary.At(six), V{Data: memory, Heads: 2, SequenceTokens: 3, SequenceStride: 47}), posenc.ErrOverlap, "xs[0].TokenStride is 16, want heads of 8 that do not overlap, with 2 heads at HeadStride 8 and 2 sequences at SequenceStride 47: overlapping")
			fails(rotate(rotary.At(six), change(func(v *V) { v.Data, v.SequenceStride = memory[:200], 100 }), V{Data: memory[48:360], Heads: 1, TokenStride: 53}), posenc.ErrOverlap, "xs[1] is sharing elements with xs[0]")
			fails(rotate(rotary.At(nil), change(func(v *V) { v.SequenceTokens = 0 })), posenc.ErrShape, "xs[0].SequenceTokens is 0")
			kit.NoError(t, rotate(rotary.At(nil), change(func(v *V) { v.Data = nil })), rotate(rotary.At(six), sequences), rotate(rotary.At(six), change(func(v *V) { v.Data, v.Tokens = memory, 6 })),
				rotate(rotary.At(six), change(func(v *V) { v.Data, v.SequenceStride = memory[:200], 100 }), V{Data: memory[48:96], Heads: 1, TokenStride: dim}), // between
				rotate(rotary.At(six), change(func(v *V) { v.HeadStride, v.SequenceTokens, v.SequenceStride = 48, 6, 1 })))
		})
	}
}

// V is a view of the tests of errors.
type V = posenc.View[float32]

func strided(data []float32, heads, tokenStride, headStride int) V {
	return V{Data: data, Heads: heads, TokenStride: tokenStride, HeadStride: headStride}
}

var (
	_ = kit.Register(kit.Case{Function: "Rotate", Times: 8, Digests: rotateDigests("Rotate", posenc.Rotate[float32], posenc.Rotate[posenc.Float16], posenc.Rotate[posenc.BFloat16]),
		Call: oneOf(rotateCall[float32], rotateCall[posenc.Float16], rotateCall[posenc.BFloat16]),
		OnStack: onStack(func(a posenc.Angles) error {
			return errors.Join(decodeOnStack(), rotateOnStack[float32](a), rotateOnStack[posenc.Float16](a), rotateOnStack[posenc.BFloat16](a))
		}),
		Long: longInPlace(posenc.Rotate[float32], posenc.Rotate[posenc.Float16], posenc.Rotate[posenc.BFloat16]),
	})
	_ = kit.Register(kit.Case{Function: "RotateInverse", Times: 4, Digests: rotateDigests("RotateInverse", posenc.RotateInverse[float32], posenc.RotateInverse[posenc.Float16], posenc.RotateInverse[posenc.BFloat16]),
		Call: oneOf(rotateInverseCall[float32], rotateInverseCall[posenc.Float16], rotateInverseCall[posenc.BFloat16]),
		Long: longInPlace(posenc.RotateInverse[float32], posenc.RotateInverse[posenc.Float16], posenc.RotateInverse[posenc.BFloat16]),
	})
	_ = kit.Register(kit.Case{Function: "Shift", Times: 4, Digests: func(add kit.AddDigest) {
		inPlaceDigests(add, "Shift", posenc.Shift[float32], posenc.Shift[posenc.Float16], posenc.Shift[posenc.BFloat16])
	},
		Call: oneOf(shiftCall[float32], shiftCall[posenc.Float16], shiftCall[posenc.BFloat16]),
		OnStack: func() error {
			var k [3 * 2 * 16]posenc.Float16
			return errors.Join(posenc.Shift(stackRotary().At([]int32{1, 2, 3}), posenc.View[posenc.Float16]{Data: k[:], Heads: 2}), posenc.Shift(stackRotary().At([]int32{-9, -9, -9}), posenc.View[posenc.Float16]{Data: k[:], Heads: 2}))
		},
		Long: longShift,
	})
)

func rotateCall[T posenc.Element](a *kit.Arguments) kit.Call {
	angles := anglesOf(a)
	return inPlaceCall(a, &angles, posenc.Rotate[T], func() plain { return angles.plain() })
}

func rotateInverseCall[T posenc.Element](a *kit.Arguments) kit.Call {
	angles := anglesOf(a)
	return inPlaceCall(a, &angles, posenc.RotateInverse[T], func() plain { return angles.plain().inverse() })
}

// inPlaceCall rotates views by Angles.
func inPlaceCall[T posenc.Element](a *kit.Arguments, angles *anglesArgument, rotate func(posenc.Angles, ...posenc.View[T]) error, formula func() plain) kit.Call {
	tokens, dim := angles.tokens, angles.headDim
	xs := viewsOf[T](a, angles)
	return kit.Call{Run: func() error { return rotate(angles.Angles, xs...) },
		Right: func() bool {
			right := angles.right() && viewsRight(xs, tokens, dim)
			for _, x := range xs {
				right = right && angles.headsRight(x.Heads) && (tokens == 0 || !angles.shares(kit.BytesOf(x.Data)))
			}
			return right
		},
		Want: func() { rotateViewsPlain(formula(), xs, tokens) },
		Parts: kit.ViewParts(xs, tokens, dim, angles.heads > 0, func(_ int, x posenc.View[T], tokens []int) error {
			return rotate(angles.of(tokens), x)
		}),
	}
}

func shiftCall[T posenc.Element](a *kit.Arguments) kit.Call {
	r := rotaryOf(a)
	if !a.Any() {
		for r.cfg.XPos != nil {
			r = rotaryOf(a)
		}
	}
	deltas := a.Positions(r.axes * a.Tokens())
	if len(deltas) > 0 && a.Yes() {
		for i := range deltas {
			deltas[i] = deltas[0]
		}
	}
	tokens, dim := len(deltas)/r.axes, r.cfg.HeadDim
	xs := kit.OutputViews[T](a, tokens, dim)
	return kit.Call{
		Run:   func() error { return posenc.Shift(r.at(deltas), xs...) },
		Right: func() bool { return takes(&r, deltas) && r.cfg.XPos == nil && viewsRight(xs, tokens, dim) },
		Want: func() {
			cfg := shiftOf(r.cfg)
			rotateViewsPlain(plainOf(cfg).with(plainTables(cfg, deltas, byGeneric)), xs, tokens)
		},
		Parts: kit.ViewParts(xs, tokens, dim, false, func(_ int, x posenc.View[T], tokens []int) error {
			return posenc.Shift(r.at(kit.PickAxes(deltas, r.axes, tokens)), x)
		}),
	}
}

// rotateBy rotates views by angles.
type rotateBy[T posenc.Element] func(a posenc.Angles, xs ...posenc.View[T]) error

func rotateDigests(function string, float32s func(posenc.Angles, ...posenc.View[float32]) error, float16s func(posenc.Angles, ...posenc.View[posenc.Float16]) error, bfloat16s func(posenc.Angles, ...posenc.View[posenc.BFloat16]) error) func(kit.AddDigest) {
	return func(add kit.AddDigest) {
		inPlaceDigests(add, function, float32s, float16s, bfloat16s)
		add.Types(function+"/xpos", digestXPos(float32s), digestXPos(float16s), digestXPos(bfloat16s))
	}
}

func inPlaceDigests(add kit.AddDigest, function string, float32s rotateBy[float32], float16s rotateBy[posenc.Float16], bfloat16s rotateBy[posenc.BFloat16]) {
	for layout, layoutName := range digestLayouts {
		layout := allLayouts[layout]
		for rounding, name := range digestRoundings {
			rounding := frequency.Rounding(rounding)
			add.Types(fmt.Sprintf("%s/layout=%s/angles=%s", function, layoutName, name),
				digestRotate(layout, rounding, float32s), digestRotate(layout, rounding, float16s), digestRotate(layout, rounding, bfloat16s))
		}
		add.Types(fmt.Sprintf("%s/layout=%s/large", function, layoutName), digestLarge(layout, float32s), digestLarge(layout, float16s), digestLarge(layout, bfloat16s))
	}
	add.Types(function+"/axes", digestAxes(float32s), digestAxes(float16s), digestAxes(bfloat16s))
}

// digestRotate rotates Q and K of several shapes.
func digestRotate[T posenc.Element](layout posenc.Layout, rounding frequency.Rounding, rotate rotateBy[T]) func(*kit.Digest) {
	return func(d *kit.Digest) {
		for i, pairs := range []int{1, 3, 8, 17, 32, 64, 67} {
			cfg := digestConfig(d, layout, rounding, pairs)
			r := kit.MustRotary(cfg)
			for j, tokens := range []int{1, 2 + d.Below(5), 34} {
				if tokens > 20 && i%3 > 0 {
					continue
				}
				q := kit.DigestViewOf(d, kit.DigestElements[T], i+j, tokens, 1+d.Below(4), cfg.HeadDim)
				k := kit.DigestViewOf(d, kit.DigestElements[T], i+j+1+d.Below(4), tokens, 1+d.Below(2), cfg.HeadDim)
				d.Must(rotate(r.At(d.Positions(tokens)), q.View, k.View))
				d.Add(q.Memory, k.Memory)
			}
		}
	}
}

// digestLarge rotates heads as wide as they may be, nearly, and more heads than fit
// scratch memory.
func digestLarge[T posenc.Element](layout posenc.Layout, rotate rotateBy[T]) func(*kit.Digest) {
	wide := 1020
	if layout > posenc.Interleaved {
		wide = 700
	}
	return func(d *kit.Digest) {
		for _, shape := range []struct{ pairs, tokens, heads int }{{wide, 2, 1}, {16, 2, 90}} {
			cfg := digestConfig(d, layout, frequency.Float32, shape.pairs)
			x := kit.DigestViewOf(d, kit.DigestElements[T], d.Below(kit.DigestShapes), shape.tokens, shape.heads, cfg.HeadDim)
			d.Must(rotate(kit.MustRotary(cfg).At(d.Positions(shape.tokens)), x.View))
			d.Add(x.Memory)
		}
	}
}

func digestAxes[T posenc.Element](rotate rotateBy[T]) func(*kit.Digest) {
	return func(d *kit.Digest) {
		for i, axes := range digestAxisMaps(d) {
			for _, rounding := range []frequency.Rounding{frequency.Exact, frequency.Float32} {
				const tokens = 9
				cfg := digestConfig(d, allLayouts[d.Below(4)], rounding, len(axes))
				cfg.Axes = axes
				x := kit.DigestViewOf(d, kit.DigestElements[T], i, tokens, 2, cfg.HeadDim)
				d.Must(rotate(kit.MustRotary(cfg).AtAxes(d.Positions(3*tokens)), x.View))
				d.Add(x.Memory)
			}
		}
	}
}

func digestXPos[T posenc.Element](rotate func(posenc.Angles, ...posenc.View[T]) error) func(*kit.Digest) {
	return func(d *kit.Digest) {
		for i, keys := range []bool{false, true} {
			const tokens = 6
			cfg := digestConfig(d, allLayouts[i], frequency.Exact, 20)
			cfg.XPos = &posenc.XPos{ScaleBase: 512, Center: 100, Keys: keys}
			x := kit.DigestViewOf(d, kit.DigestElements[T], i, tokens, 2, cfg.HeadDim)
			d.Must(rotate(kit.MustRotary(cfg).At([]int32{-5000, 0, 99, 100, 101, 4097}), x.View))
			d.Add(x.Memory)
		}
	}
}

// stackAngles are Angles of every kind for three tokens: of positions, of equal ones, of
// fractional ones, of several axes, of rows of positions, in turn too, and of tables of half and of full
// width; of both heads, and some of the tokens.
var stackAngles = sync.OnceValue(func() (list []posenc.Angles) {
	const dim = 16
	entries := kit.RandomElements[posenc.Float16](kit.NewRand(130), 20*dim)
	for _, layout := range allLayouts {
		cfg := posenc.RotaryConfig{HeadDim: dim, RotaryDim: dim - 4, Offset: 2, Layout: layout}
		r := kit.MustRotary(cfg)
		cfg.Axes = []uint8{0, 1, 2, 0, 0, 1}
		several := kit.MustRotary(cfg)
		rows := kit.Must(r.Rows(make([]int32, 20)))
		narrow := posenc.RowsConfig{HeadDim: dim, RotaryDim: dim - 4, Offset: 2, Layout: layout}
		packed := posenc.Table[posenc.Float16]{Cos: entries[:20*(dim-4)], Sin: entries[:20*(dim-4)]}
		half := kit.Must(posenc.NewRows(narrow, posenc.Table[posenc.Float16]{Cos: entries, Sin: entries, Stride: dim}))
		narrow.Heads = 2
		each := kit.Must(posenc.NewRows(narrow, packed))
		narrow.Heads, packed.FullWidth = 0, true
		full := kit.Must(posenc.NewRows(narrow, packed))
		positions := []int32{5, 6, 1}
		list = append(list, r.AtFractional([]float32{0.5, 6, -1}), several.AtFractionalAxes(make([]float32, 9)), several.AtFractional(make([]float32, 3)), several.At(positions), rows.AtSome([]int32{-1, 5, -1}), each.AtSome([]int32{-1, 5, 6}), each.At(positions), r.At(positions), r.At([]int32{7, 7, 7}), several.AtAxes([]int32{1, 2, 3, 1, 2, 4, 1, 2, 5}), rows.At(positions), rows.At([]int32{5, 6, 7}), full.At(positions), half.At(positions))
	}
	return list
})

var stackModels sync.Map // by HeadDim

// modelOnStack returns a Rotary that is made once.
func modelOnStack(headDim int) *posenc.Rotary {
	if r, ok := stackModels.Load(headDim); ok {
		return r.(*posenc.Rotary)
	}
	r := kit.MustRotary(posenc.RotaryConfig{HeadDim: headDim, Layout: posenc.HalfSplit})
	stackModels.Store(headDim, r)
	return r
}

func stackRotary() *posenc.Rotary { return modelOnStack(16) }

// onStack makes calls with views of every type of arrays of their own.
func onStack(call func(a posenc.Angles) error) func() error {
	return func() (err error) {
		for _, a := range stackAngles() {
			err = errors.Join(err, call(a))
		}
		return err
	}
}

// decodeOnStack rotates Q and K of a token, and wide heads.
func decodeOnStack() error {
	var q [32 * 128]float32
	var k [8 * 128]float32
	model, wide := modelOnStack(128), modelOnStack(512)
	return errors.Join(
		posenc.Rotate(model.At([]int32{4321}), posenc.View[float32]{Data: q[:], Heads: 32}, posenc.View[float32]{Data: k[:], Heads: 8}),
		posenc.Rotate(wide.At([]int32{5, 6}), posenc.View[float32]{Data: q[:1024], Heads: 1}),
		posenc.Rotate(wide.At([]int32{5}), posenc.View[float32]{Data: q[:1024], Heads: 2}),
	)
}

func rotateOnStack[T posenc.Element](a posenc.Angles) error {
	var q, k [3 * 2 * 16]T
	return errors.Join(
		posenc.Rotate(a, posenc.View[T]{Data: q[:], Heads: 2}, posenc.View[T]{Data: k[:], Heads: 2}),
		posenc.RotateInverse(a, posenc.View[T]{Data: q[:], Heads: 2, TokenStride: 16, HeadStride: 3 * 16}, posenc.View[T]{Data: k[:], Heads: 2, TokenStride: 2 * 16, SequenceTokens: 1, SequenceStride: 2 * 16}),
	)
}

// eachLong calls f for long heads, many heads and many tokens; whole heads and a slice of
// them.
func eachLong(f func(a posenc.Angles, tokens, heads, dim int) error) (err error) {
	const width, most = 1<<17 + 24, 2048
	for _, layout := range kit.Layouts {
		for _, shape := range []struct{ tokens, heads, dim, rotary int }{
			{1, 1, width, most}, {2, 1, width, 64}, {2, 3, width, 1024}, {1, 100, most, most}, {1, 3000, 128, 128}, {20, 300, 128, 64}, {300, 32, 128, 128},
		} {
			r := kit.MustRotary(posenc.RotaryConfig{HeadDim: shape.dim, RotaryDim: shape.rotary, Layout: layout})
			err = errors.Join(err, f(r.At(kit.Sequence(shape.tokens)), shape.tokens, shape.heads, shape.dim))
		}
	}
	return err
}

func longView[T posenc.Element](tokens, heads, dim int) posenc.View[T] {
	return posenc.View[T]{Data: make([]T, tokens*heads*dim), Heads: heads}
}

// longInPlace rotates long views of every type.
func longInPlace(float32s func(posenc.Angles, ...posenc.View[float32]) error, float16s func(posenc.Angles, ...posenc.View[posenc.Float16]) error, bfloat16s func(posenc.Angles, ...posenc.View[posenc.BFloat16]) error) func() error {
	return func() error {
		return eachLong(func(a posenc.Angles, tokens, heads, dim int) error {
			return errors.Join(float32s(a, longView[float32](tokens, heads, dim)), float16s(a, longView[posenc.Float16](tokens, heads, dim)), bfloat16s(a, longView[posenc.BFloat16](tokens, heads, dim)))
		})
	}
}

func longShift() error {
	r := kit.MustRotary(posenc.RotaryConfig{HeadDim: 2048, Layout: posenc.HalfSplit})
	return errors.Join(posenc.Shift(r.At(kit.Sequence(300)), longView[posenc.BFloat16](300, 2, 2048)), posenc.Shift(r.At([]int32{1}), longView[float32](1, 100, 2048)))
}

func TestNewRotaryErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	fails := kit.Failures(t)
	for _, tt := range []struct {
		cfg  posenc.RotaryConfig
		says string
	}{
		{posenc.RotaryConfig{}, "cfg.HeadDim is 0"},
		{posenc.RotaryConfig{HeadDim: 1, Layout: posenc.HalfSplit}, "cfg.RotaryDim is 1"},
		{posenc.RotaryConfig{HeadDim: 8, RotaryDim: 3, Layout: posenc.HalfSplit}, "cfg.RotaryDim is 3"},
		{posenc.RotaryConfig{HeadDim: 8, RotaryDim: 10, Layout: posenc.HalfSplit}, "cfg.RotaryDim is 10, want an even number from 2 to HeadDim 8"},
		{posenc.RotaryConfig{HeadDim: 1 << 20, RotaryDim: 2050, Layout: posenc.HalfSplit}, "cfg.RotaryDim is 2050"},
		{posenc.RotaryConfig{HeadDim: 8, RotaryDim: 4, Layout: posenc.HalfSplit, Offset: -1}, "cfg.Offset is -1"},
		{posenc.RotaryConfig{HeadDim: 8, RotaryDim: 4, Layout: posenc.HalfSplit, Offset: 5}, "cfg.Offset is 5"},
		{posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, Offset: 1}, "cfg.Offset is 1"},
		{posenc.RotaryConfig{HeadDim: 8, Layout: 5}, "cfg.Layout is Layout(5)"},
		{posenc.RotaryConfig{HeadDim: 8}, "cfg.Layout is Layout(0), want HalfSplit or another constant"},
		{posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, Rounding: 2}, "cfg.Rounding is 2"},
		{posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, Base: nan}, "cfg.Base is NaN"},
		{posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, Base: 1}, "cfg.Base is 1"},
		{posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, Base: inf}, "cfg.Base is +Inf"},
		{posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, Base: 1e39, Rounding: frequency.Float32}, "cfg.Base is 1e+39"},
		{posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, Base: 1 + 1e-12, Rounding: frequency.Float32}, "cfg.Base is 1.000000000001, want 0 or a finite number above 1, with frequency.Float32 as a float32 too"},
		{posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, InvFreq: make([]float64, 3)}, "cfg.InvFreq has 3 elements"},
		{posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, InvFreq: []float64{}}, "cfg.InvFreq has 0 elements"},
		{posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, InvFreq: []float64{1, 2, nan, 3}}, "cfg.InvFreq[2] is NaN"},
		{posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, InvFreq: []float64{1, -inf}}, "cfg.InvFreq[1] is -Inf"},
		{posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, InvFreq: []float64{1, 0x1p50}}, "cfg.InvFreq[1] is 1.125899906842624e+15"},
		{posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, InvFreq: []float64{-0x1p50, 1}, Rounding: frequency.Float32}, "cfg.InvFreq[0] is -1.125899906842624e+15"},
		{posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, Base: 10000, InvFreq: []float64{1, 2}}, "cfg.Base is 10000"},
		{posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, Axes: []uint8{0, 1}, XPos: &posenc.XPos{ScaleBase: 512}}, "cfg.Axes has 2 elements, want nil with XPos"},
		{posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, XPos: &posenc.XPos{}}, "cfg.XPos.ScaleBase is 0, want a finite number of at least 2^-50"},
		{posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, AttentionFactor: nan}, "cfg.AttentionFactor is NaN"},
		{posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, AttentionFactor: -1}, "cfg.AttentionFactor is -1"},
		{posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, AttentionFactor: 4e38}, "cfg.AttentionFactor is 4e+38"},
		{posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, AttentionFactor: 1e-60}, "cfg.AttentionFactor is 1e-60"},
	} {
		fails(kit.Made(posenc.NewRotary(tt.cfg)), posenc.ErrConfig, "posenc.NewRotary: "+tt.says)
	}
	kit.MustRotary(posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, AttentionFactor: math.MaxFloat32})
	for _, layout := range allLayouts {
		kit.MustRotary(posenc.RotaryConfig{HeadDim: 4096, RotaryDim: 2048, Layout: layout})
	}
}

// The largest frequencies and positions that are allowed are those whose
// angles generic takes.
func TestLastPosition(t *testing.T) {
	r := kit.NewRand(31)
	for range kit.Rounds(20000) {
		w := math.Ldexp(1+r.Float64(), r.IntN(34)+16)
		if r.IntN(4) == 0 {
			w = 0x1p50 / float64(1+r.IntN(1<<20)) // the angle is 2^50, or next to it
		}
		if r.IntN(4) == 0 {
			w = math.Nextafter(w, 0)
		}
		if !(w < 0x1p50) {
			continue
		}
		rotary := kit.MustRotary(posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, InvFreq: []float64{1, -w}})
		last := min(cossin.LastPosition(w), math.MaxInt32)
		if last < 1 && w < 0x1p49 {
			t.Fatalf("frequency %x: last position %d", w, last)
		}
		var cos, sin [2]float32
		for _, p := range []int32{int32(last), int32(-last)} {
			if err := rotary.CosSin(cos[:], sin[:], []int32{p}); err != nil || cos[1] != cos[1] || sin[1] != sin[1] {
				t.Fatalf("frequency %x, position %d: got %v, %v, error %v", w, p, cos, sin, err)
			}
		}
		if next := float64(last) + 1; last < math.MaxInt32 {
			if err := rotary.CosSin(cos[:], sin[:], []int32{int32(next)}); !errors.Is(err, posenc.ErrPosition) {
				t.Fatalf("frequency %x, position %v: got error %v", w, next, err)
			}
			if next*w < 0x1p50*(1-0x1p-50) {
				t.Fatalf("frequency %x: position %v is refused, though its angle is below 2^50", w, next)
			}
		}
	}
}
