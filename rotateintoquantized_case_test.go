package posenc_test

import (
	"errors"
	"sync"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
)

var _ = testkit.Register(testkit.Case{Function: "RotateIntoQuantized", Times: 4, Long: longIntoQuantized,
	Call: func(a *testkit.Arguments) testkit.Call {
		if a.Below(4) == 0 { // nothing but a rotation changes heads: a kernel does all, without scratch memory
			a.Decoding = 128
			return intoQuantizedCall[posenc.Q8_0, float32](a)
		}
		return oneOf(a, intoQuantizedCall[posenc.Q8_0, float32], intoQuantizedCall[int8, float32], intoQuantizedCall[posenc.E4M3, float32], intoQuantizedCall[posenc.E5M2, float32],
			intoQuantizedCall[posenc.Q8_0, posenc.Float16], intoQuantizedCall[int8, posenc.Float16], intoQuantizedCall[posenc.E4M3, posenc.BFloat16], intoQuantizedCall[posenc.E5M2, posenc.BFloat16])
	},
	OnStack: func() error {
		a := stackRows64().All()
		return errors.Join(intoQuantizedStack[posenc.Q8_0, float32](a), intoQuantizedStack[int8, posenc.Float16](a), intoQuantizedStack[posenc.E4M3, posenc.BFloat16](a), intoQuantizedPositions())
	},
	Digests: func(add testkit.AddDigest) {
		digestsIntoQuantized[posenc.Q8_0](add, "Q8_0")
		digestsIntoQuantized[int8](add, "int8")
		digestsIntoQuantized[posenc.E4M3](add, "E4M3")
		digestsIntoQuantized[posenc.E5M2](add, "E5M2")
	},
})

var stackRows64 = sync.OnceValue(func() *posenc.Rows { return testkit.Must(modelOnStack(64).Rows([]int32{5, 6, 7})) })

// intoQuantizedStack stores keys and values of three tokens.
func intoQuantizedStack[D posenc.Quantized, S posenc.Element](a posenc.Angles) error {
	var k, v [3 * 2 * 64]S
	var keys, values [6 * 2 * 64]D
	var keyScales, valueScales [12]float32
	var slots = [3]int32{4, 5, -1}
	cache := func(data []D, scales []float32) (c posenc.QuantizedView[D]) {
		c.View = posenc.View[D]{Data: data[:6*2*unitsOf[D](64)], Heads: 2}
		switch any(*new(D)).(type) {
		case int8, posenc.E4M3:
			c.Scales = scales
		}
		return c
	}
	return posenc.RotateIntoQuantized(a, slots[:],
		posenc.IntoQuantized[D, S]{Dst: cache(keys[:], keyScales[:]), Src: posenc.View[S]{Data: k[:], Heads: 2}},
		posenc.IntoQuantized[D, S]{Dst: cache(values[:], valueScales[:]), Src: posenc.View[S]{Data: v[:], Heads: 2}, Unrotated: true})
}

// intoQuantizedPositions stores keys of one token, whose position is on the stack.
func intoQuantizedPositions() error {
	var k [64]float32
	var keys [2]posenc.Q8_0
	var positions = [1]int32{7}
	return posenc.RotateIntoQuantized(modelOnStack(64).At(positions[:]), nil,
		posenc.IntoQuantized[posenc.Q8_0, float32]{Dst: posenc.QuantizedView[posenc.Q8_0]{View: posenc.View[posenc.Q8_0]{Data: keys[:], Heads: 1}}, Src: posenc.View[float32]{Data: k[:], Heads: 1}})
}

func intoQuantizedCall[D posenc.Quantized, S posenc.Element](a *testkit.Arguments) testkit.Call {
	block, scales := formatOf[D](a)
	hadamard, unit := hadamardOf(a, block)
	bare := a.Decoding > 0
	if bare {
		hadamard, unit = 0, block
	}
	if !a.Any() || a.Below(8) > 0 {
		a.HeadUnit = unit
	}
	angles := uniformAngles(a)
	tokens := angles.tokens
	slots, room := slotsOf(a, tokens)
	slot := func(token int) int {
		if slots == nil {
			return token
		}
		return int(slots[token])
	}
	written := func() (list []int) {
		for t := range tokens {
			if slot(t) >= 0 {
				list = append(list, slot(t))
			}
		}
		return list
	}
	xs := make([]posenc.IntoQuantized[D, S], 1+a.Below(2))
	norms := make([][2]normArgument, len(xs))
	dims := make([]int, len(xs))
	whole := false
	for i := range xs {
		x, dim := &xs[i], angles.headDim
		if x.Unrotated = a.Below(3) == 0 || bare && i > 0; x.Unrotated && a.Yes() {
			x.HeadDim = (1 + a.Below(3)) * 32 * max(1, hadamard/32)
			dim = x.HeadDim
		}
		if a.Rarely() {
			x.HeadDim = a.Number(0, 70)
			if x.Unrotated && x.HeadDim != 0 {
				dim = testkit.Small(x.HeadDim)
			}
		}
		dims[i] = dim
		x.Src = testkit.ViewOf[S](a, tokens, dim)
		if a.Any() && x.Src.Heads > 16 {
			x.Src.Heads = 1
		}
		for j, norm := range []**posenc.RMSNorm{&x.Norm, &x.RotatedNorm} {
			if bare || a.Below(4) > 0 || dim < 1 {
				continue
			}
			n := dim
			if all := a.Size(x.Src.Heads, dim); a.Yes() && all <= 16384 {
				n = all
				whole = whole || x.Src.Heads > 1
			}
			norms[i][j] = normOf(a, n)
			*norm = norms[i][j].RMSNorm
		}
		x.Dst = quantizedOf[D](a, room, x.Src.Heads, dim, block, scales)
		x.Dst.Hadamard = hadamard
		if a.Any() && a.Below(8) > 0 {
			x.Dst.Heads = x.Src.Heads
		}
		writesQuantized(a, x.Dst, written, dim, block)
	}
	call := testkit.Call{
		Run: func() error { return posenc.RotateIntoQuantized(angles.Angles, slots, xs...) },
		Want: func() {
			p := angles.plain()
			for i := range xs {
				intoQuantizedPlain(&p, &xs[i], norms[i], slots, tokens, dims[i])
			}
		},
	}
	if !a.Any() {
		call.Right = func() bool { return true }
	}
	if !twice(slots) {
		call.Parts = func(c *testkit.Choices) (groups [][]func() error) {
			for i := range xs {
				groups = append(groups, intoQuantizedParts(c, &angles, &xs[i], slot, dims[i], whole)...)
			}
			return groups
		}
	}
	return call
}

// intoQuantizedPlain does what the documentation says, head by head.
func intoQuantizedPlain[D posenc.Quantized, S posenc.Element](p *plain, x *posenc.IntoQuantized[D, S], norms [2]normArgument, slots []int32, tokens, dim int) {
	heads := x.Src.Heads
	v := posenc.View[float32]{Heads: heads, Data: make([]float32, tokens*heads*dim)}
	for t := range tokens {
		for h := range heads {
			for i, s := range x.Src.Data[testkit.RowAt(&x.Src, t, h, dim):][:dim] {
				v.Data[(t*heads+h)*dim+i] = testkit.Widen(s)
			}
		}
	}
	normalize := func(n normArgument) {
		if len(n.weight) > 0 {
			for row := v.Data; len(row) > 0; row = row[len(n.weight):] {
				normalizeRow(row[:len(n.weight)], n.weight, n.epsilon)
			}
		}
	}
	normalize(norms[0])
	if !x.Unrotated {
		rotateViewsPlain(*p, []posenc.View[float32]{v}, tokens)
	}
	normalize(norms[1])
	for t := range tokens {
		at := t
		if slots != nil {
			at = int(slots[t])
		}
		for h := range heads {
			if at >= 0 {
				quantizePlain(&x.Dst, at, h, v.Data[(t*heads+h)*dim:][:dim])
			}
		}
	}
}

// intoQuantizedParts stores some tokens and some heads at a time; with whole all heads.
func intoQuantizedParts[D posenc.Quantized, S posenc.Element](c *testkit.Choices, angles *anglesArgument, x *posenc.IntoQuantized[D, S], slot func(token int) int, dim int, whole bool) (groups [][]func() error) {
	units, heads := unitsOf[D](dim), []int{0, x.Src.Heads}
	if !whole {
		heads = c.Cut(x.Src.Heads)
	}
	dst := x.Dst
	if dst.HeadStride == 0 {
		dst.HeadStride = units
	}
	if dst.TokenStride == 0 {
		dst.TokenStride = dst.Heads * units
	}
	for _, part := range c.Deal(angles.tokens) {
		slots := make([]int32, len(part))
		for i, token := range part {
			slots[i] = int32(slot(token))
		}
		for i, first := range heads[:len(heads)-1] {
			end, some := heads[i+1], *x
			some.Dst = dst
			some.Dst.Data, some.Dst.Heads = dst.Data[first*dst.HeadStride:], end-first
			if dst.Scales != nil {
				some.Dst.Scales = dst.Scales[first*dst.HeadStride/dim:]
			}
			groups = append(groups, []func() error{func() error {
				some.Src = taken(&x.Src, part, first, end, dim)
				return posenc.RotateIntoQuantized(angles.of(part), slots, some)
			}})
		}
	}
	return groups
}

func longIntoQuantized() error {
	return eachLong(func(a posenc.Angles, tokens, heads, dim int) error {
		if dim > 4096 || dim%32 != 0 {
			return nil
		}
		return errors.Join(longInto[posenc.Float16](a, tokens, heads, dim), longInto[float32](a, tokens, heads, dim))
	})
}

// longInto stores keys, keys with a transform and values.
func longInto[S posenc.Element](a posenc.Angles, tokens, heads, dim int) error {
	into := func(hadamard int, unrotated bool) posenc.IntoQuantized[posenc.Q8_0, S] {
		return posenc.IntoQuantized[posenc.Q8_0, S]{
			Dst:       posenc.QuantizedView[posenc.Q8_0]{View: posenc.View[posenc.Q8_0]{Data: make([]posenc.Q8_0, tokens*heads*dim/32), Heads: heads}, Hadamard: hadamard},
			Src:       longView[S](tokens, heads, dim),
			Unrotated: unrotated,
		}
	}
	return posenc.RotateIntoQuantized(a, nil, into(0, false), into(32, false), into(0, true))
}

func digestsIntoQuantized[D posenc.Quantized](add testkit.AddDigest, name string) {
	add("RotateIntoQuantized/to="+name+"/from=float32", digestIntoQuantized[D, float32])
	add("RotateIntoQuantized/to="+name+"/from=float16", digestIntoQuantized[D, posenc.Float16])
	add("RotateIntoQuantized/to="+name+"/from=bfloat16", digestIntoQuantized[D, posenc.BFloat16])
}

// digestIntoQuantized stores keys with a transform and values without.
func digestIntoQuantized[D posenc.Quantized, S posenc.Element](d *testkit.Digest) {
	const tokens, heads, dim = 9, 2, 64
	for layout := range digestLayouts {
		cfg := digestConfig(d, allLayouts[layout], posenc.ExactAngles, dim/2)
		cfg.HeadDim, cfg.RotaryDim, cfg.Offset = dim, dim/2, dim/4
		cfg.InvFreq = cfg.InvFreq[:dim/4]
		cfg.Axes = nil
		r := testkit.MustRotary(cfg)
		slots := []int32{3, 4, 5, -1, 0, 1, 9, 8, 11}
		keys, values := digestCache[D](d, 12, heads, dim, layout%2 == 0), digestCache[D](d, 12, heads, dim, layout%2 == 0)
		keys.Hadamard = 32 << (layout % 2)
		weight := testkit.Must(posenc.NewRMSNorm(testkit.DigestElements[float32](d, dim), posenc.RMSNormConfig{Epsilon: 1e-6}))
		d.Must(posenc.RotateIntoQuantized(r.At(d.Positions(tokens)), slots,
			posenc.IntoQuantized[D, S]{Dst: keys, Src: posenc.View[S]{Data: testkit.DigestElements[S](d, tokens*heads*dim), Heads: heads}, Norm: weight},
			posenc.IntoQuantized[D, S]{Dst: values, Src: posenc.View[S]{Data: testkit.DigestElements[S](d, tokens*heads*dim), Heads: heads}, Unrotated: true}))
		d.Add(keys.Data, keys.Scales, values.Data, values.Scales)
	}
}
