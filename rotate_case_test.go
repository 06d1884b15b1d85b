package posenc_test

import (
	"fmt"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
)

var (
	_ = testkit.Register(testkit.Case{Function: "Rotate", Digests: rotateDigests("Rotate", posenc.Rotate[float32], posenc.Rotate[posenc.Float16], posenc.Rotate[posenc.BFloat16]),
		Call: func(a *testkit.Arguments) testkit.Call {
			return testkit.OfType(a, rotateCall[float32], rotateCall[posenc.Float16], rotateCall[posenc.BFloat16])(a)
		},
	})
	_ = testkit.Register(testkit.Case{Function: "RotateInverse", Digests: rotateDigests("RotateInverse", posenc.RotateInverse[float32], posenc.RotateInverse[posenc.Float16], posenc.RotateInverse[posenc.BFloat16]),
		Call: func(a *testkit.Arguments) testkit.Call {
			return testkit.OfType(a, rotateInverseCall[float32], rotateInverseCall[posenc.Float16], rotateInverseCall[posenc.BFloat16])(a)
		},
	})
	_ = testkit.Register(testkit.Case{Function: "Shift", Digests: shiftDigests,
		Call: func(a *testkit.Arguments) testkit.Call {
			return testkit.OfType(a, shiftCall[float32], shiftCall[posenc.Float16], shiftCall[posenc.BFloat16])(a)
		},
	})
)

func rotateCall[T posenc.Element](a *testkit.Arguments) testkit.Call {
	angles := anglesOf(a)
	return inPlaceCall(a, &angles, posenc.Rotate[T], func() plain { return angles.plain() })
}

func rotateInverseCall[T posenc.Element](a *testkit.Arguments) testkit.Call {
	angles := anglesOf(a)
	return inPlaceCall(a, &angles, posenc.RotateInverse[T], func() plain { return angles.plain().inverse() })
}

// inPlaceCall rotates views by Angles.
func inPlaceCall[T posenc.Element](a *testkit.Arguments, angles *anglesArgument, rotate func(posenc.Angles, ...posenc.View[T]) error, formula func() plain) testkit.Call {
	tokens, dim := angles.tokens, angles.headDim
	xs := testkit.OutputViews[T](a, tokens, dim)
	return testkit.Call{Run: func() error { return rotate(angles.Angles, xs...) },
		Right: func() bool {
			right := angles.right() && viewsRight(xs, tokens, dim)
			for _, x := range xs {
				right = right && (tokens == 0 || !angles.shares(testkit.BytesOf(x.Data)))
			}
			return right
		},
		Want: func() { rotateViewsPlain(formula(), xs, tokens) },
		Parts: func(c *testkit.Choices) [][]func() error {
			return testkit.ViewParts(c, xs, tokens, dim, false, func(_ int, x posenc.View[T], tokens []int) error {
				return rotate(angles.of(tokens), x)
			})
		},
	}
}

func shiftCall[T posenc.Element](a *testkit.Arguments) testkit.Call {
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
	xs := testkit.OutputViews[T](a, tokens, dim)
	return testkit.Call{
		Run:   func() error { return posenc.Shift(r.Rotary, deltas, xs...) },
		Right: func() bool { return r.right(deltas) && r.cfg.XPos == nil && viewsRight(xs, tokens, dim) },
		Want: func() {
			cfg := r.cfg
			cfg.Scaling, cfg.Layout = 0, plainOf(cfg).out
			rotateViewsPlain(plainOf(cfg).with(plainTables(must{}, cfg, deltas)), xs, tokens)
		},
		Parts: func(c *testkit.Choices) [][]func() error {
			return testkit.ViewParts(c, xs, tokens, dim, false, func(_ int, x posenc.View[T], tokens []int) error {
				return posenc.Shift(r.Rotary, testkit.PickAxes(deltas, r.axes, tokens), x)
			})
		},
	}
}

// rotateBy rotates views by positions.
type rotateBy[T posenc.Element] func(r *posenc.Rotary, positions []int32, xs ...posenc.View[T]) error

func byAngles[T posenc.Element](rotate func(posenc.Angles, ...posenc.View[T]) error) rotateBy[T] {
	return func(r *posenc.Rotary, positions []int32, xs ...posenc.View[T]) error {
		return rotate(r.At(positions), xs...)
	}
}

func rotateDigests(function string, float32s func(posenc.Angles, ...posenc.View[float32]) error, float16s func(posenc.Angles, ...posenc.View[posenc.Float16]) error, bfloat16s func(posenc.Angles, ...posenc.View[posenc.BFloat16]) error) func(testkit.AddDigest) {
	return func(add testkit.AddDigest) {
		inPlaceDigests(add, function, byAngles(float32s), byAngles(float16s), byAngles(bfloat16s))
		add.Types(function+"/xpos", digestXPos(float32s), digestXPos(float16s), digestXPos(bfloat16s))
	}
}

func shiftDigests(add testkit.AddDigest) {
	inPlaceDigests(add, "Shift", posenc.Shift[float32], posenc.Shift[posenc.Float16], posenc.Shift[posenc.BFloat16])
}

func inPlaceDigests(add testkit.AddDigest, function string, float32s rotateBy[float32], float16s rotateBy[posenc.Float16], bfloat16s rotateBy[posenc.BFloat16]) {
	for layout, layoutName := range digestLayouts {
		layout := posenc.Layout(layout)
		for rounding, name := range digestRoundings {
			rounding := posenc.AngleRounding(rounding)
			add.Types(fmt.Sprintf("%s/layout=%s/angles=%s", function, layoutName, name),
				digestRotate(layout, rounding, float32s), digestRotate(layout, rounding, float16s), digestRotate(layout, rounding, bfloat16s))
		}
		add.Types(fmt.Sprintf("%s/layout=%s/large", function, layoutName), digestLarge(layout, float32s), digestLarge(layout, float16s), digestLarge(layout, bfloat16s))
	}
	add.Types(function+"/axes", digestAxes(float32s), digestAxes(float16s), digestAxes(bfloat16s))
}

// digestRotate rotates Q and K of several shapes.
func digestRotate[T posenc.Element](layout posenc.Layout, rounding posenc.AngleRounding, rotate rotateBy[T]) func(*testkit.Digest) {
	return func(d *testkit.Digest) {
		for i, pairs := range []int{1, 3, 8, 17, 32, 64, 67} {
			cfg := digestConfig(d, layout, rounding, pairs)
			r := testkit.MustRotary(d.T, cfg)
			for j, tokens := range []int{1, 2 + d.Below(5), 34} {
				if tokens > 20 && i%3 > 0 {
					continue
				}
				q := testkit.DigestViewOf(d, testkit.DigestElements[T], i+j, tokens, 1+d.Below(4), cfg.HeadDim)
				k := testkit.DigestViewOf(d, testkit.DigestElements[T], i+j+1+d.Below(4), tokens, 1+d.Below(2), cfg.HeadDim)
				d.Must(rotate(r, d.Positions(tokens), q.View, k.View))
				d.Add(q.Memory, k.Memory)
			}
		}
	}
}

// digestLarge rotates heads as wide as they may be, nearly, and more heads than fit
// scratch memory.
func digestLarge[T posenc.Element](layout posenc.Layout, rotate rotateBy[T]) func(*testkit.Digest) {
	wide := 1020
	if layout > posenc.Interleaved {
		wide = 700
	}
	return func(d *testkit.Digest) {
		for _, shape := range []struct{ pairs, tokens, heads int }{{wide, 2, 1}, {16, 2, 90}} {
			cfg := digestConfig(d, layout, posenc.Float32Angles, shape.pairs)
			x := testkit.DigestViewOf(d, testkit.DigestElements[T], d.Below(testkit.DigestShapes), shape.tokens, shape.heads, cfg.HeadDim)
			d.Must(rotate(testkit.MustRotary(d.T, cfg), d.Positions(shape.tokens), x.View))
			d.Add(x.Memory)
		}
	}
}

func digestAxes[T posenc.Element](rotate rotateBy[T]) func(*testkit.Digest) {
	return func(d *testkit.Digest) {
		for i, axes := range digestAxisMaps(d) {
			for _, rounding := range []posenc.AngleRounding{posenc.ExactAngles, posenc.Float32Angles} {
				const tokens = 9
				cfg := digestConfig(d, posenc.Layout(d.Below(4)), rounding, len(axes))
				cfg.Axes = axes
				x := testkit.DigestViewOf(d, testkit.DigestElements[T], i, tokens, 2, cfg.HeadDim)
				d.Must(rotate(testkit.MustRotary(d.T, cfg), d.Positions(3*tokens), x.View))
				d.Add(x.Memory)
			}
		}
	}
}

func digestXPos[T posenc.Element](rotate func(posenc.Angles, ...posenc.View[T]) error) func(*testkit.Digest) {
	return func(d *testkit.Digest) {
		for i, keys := range []bool{false, true} {
			const tokens = 6
			cfg := digestConfig(d, posenc.Layout(i), posenc.ExactAngles, 20)
			cfg.XPos = &posenc.XPos{ScaleBase: 512, Center: 100, Keys: keys}
			x := testkit.DigestViewOf(d, testkit.DigestElements[T], i, tokens, 2, cfg.HeadDim)
			d.Must(rotate(testkit.MustRotary(d.T, cfg).At([]int32{-5000, 0, 99, 100, 101, 4097}), x.View))
			d.Add(x.Memory)
		}
	}
}
