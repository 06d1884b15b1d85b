package posenc_test

import (
	"errors"
	"sync"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/test/kit"
)

var (
	_ = kit.Register(kit.Case{Function: "RotateIntoQuantized", Times: 4, NoDigest: true,
		Call: oneOf(intoQuantizedAlone[posenc.Q8_0, float32], intoQuantizedAlone[int8, float32], intoQuantizedAlone[posenc.E4M3, float32], intoQuantizedAlone[posenc.E5M2, float32],
			intoQuantizedAlone[posenc.Q4_0, float32], intoQuantizedAlone[posenc.Q4_1, posenc.BFloat16], intoQuantizedAlone[posenc.Q5_0, posenc.Float16], intoQuantizedAlone[posenc.Q5_1, float32], intoQuantizedAlone[posenc.IQ4_NL, float32],
			intoQuantizedAlone[posenc.MXFP4Floor, float32], intoQuantizedAlone[posenc.MXFP4RCeil, posenc.BFloat16], intoQuantizedAlone[posenc.MXFP4Even, float32], intoQuantizedAlone[posenc.NVFP4, float32],
			intoQuantizedAlone[posenc.Float16, float32], intoQuantizedAlone[float32, posenc.BFloat16], intoQuantizedAlone[posenc.BFloat16, posenc.Float16],
			intoQuantizedAlone[posenc.Q8_0, posenc.Float16], intoQuantizedAlone[int8, posenc.Float16], intoQuantizedAlone[posenc.E4M3, posenc.BFloat16], intoQuantizedAlone[posenc.E5M2, posenc.BFloat16],
			decodeQuantized[posenc.Q8_0], decodeQuantized[int8], decodeQuantized[posenc.E4M3], decodeQuantized[posenc.E5M2], decodeQuantized[posenc.Q4_0], decodeQuantized[posenc.Q5_1], decodeQuantized[posenc.BFloat16]),
		OnStack: intoQuantizedPositions,
	})
	_ = kit.Register(kit.Case{Function: "RotateIntoQuantizedKV", Times: 4, Long: longIntoQuantized,
		Call: oneOf(intoQuantizedBoth[posenc.Q8_0, posenc.Q8_0, float32], intoQuantizedBoth[int8, posenc.E4M3, float32], intoQuantizedBoth[posenc.E4M3, posenc.E4M3, float32], intoQuantizedBoth[posenc.E5M2, int8, float32],
			intoQuantizedBoth[posenc.Q8_0, int8, posenc.Float16], intoQuantizedBoth[int8, int8, posenc.Float16], intoQuantizedBoth[posenc.E4M3, posenc.Q8_0, posenc.BFloat16], intoQuantizedBoth[posenc.E5M2, posenc.E5M2, posenc.BFloat16],
			decodeQuantizedKV[posenc.Q8_0, posenc.Q8_0], decodeQuantizedKV[posenc.Q8_0, posenc.E5M2], decodeQuantizedKV[int8, posenc.E4M3],
			intoQuantizedBoth[posenc.Q8_0, posenc.Float16, float32], intoQuantizedBoth[posenc.Float16, posenc.Float16, posenc.BFloat16], intoQuantizedBoth[float32, posenc.BFloat16, float32],
			intoQuantizedBoth[posenc.Q8_0, posenc.Q4_0, float32], intoQuantizedBoth[posenc.Q4_0, posenc.IQ4_NL, posenc.BFloat16], intoQuantizedBoth[posenc.Q5_1, posenc.Q4_1, float32], intoQuantizedBoth[posenc.Q5_0, posenc.Q5_0, float32], intoQuantizedBoth[posenc.NVFP4, posenc.MXFP4Floor, float32]),
		OnStack: func() error {
			a := stackRows64().All()
			return errors.Join(intoQuantizedStack[posenc.Q8_0, float32](a), intoQuantizedStack[int8, posenc.Float16](a), intoQuantizedStack[posenc.E4M3, posenc.BFloat16](a))
		},
		Digests: func(add kit.AddDigest) {
			digestsIntoQuantized[posenc.Q8_0](add, "Q8_0")
			digestsIntoQuantized[int8](add, "int8")
			digestsIntoQuantized[posenc.E4M3](add, "E4M3")
			digestsIntoQuantized[posenc.E5M2](add, "E5M2")
			digestsIntoQuantized[posenc.Q4_0](add, "Q4_0")
			digestsIntoQuantized[posenc.Q4_1](add, "Q4_1")
			digestsIntoQuantized[posenc.Q5_0](add, "Q5_0")
			digestsIntoQuantized[posenc.Q5_1](add, "Q5_1")
			digestsIntoQuantized[posenc.IQ4_NL](add, "IQ4_NL")
			digestsIntoQuantized[posenc.MXFP4Floor](add, "MXFP4Floor")
			digestsIntoQuantized[posenc.MXFP4RCeil](add, "MXFP4RCeil")
			digestsIntoQuantized[posenc.MXFP4Even](add, "MXFP4Even")
			digestsIntoQuantized[posenc.NVFP4](add, "NVFP4")
			digestsIntoQuantized[float32](add, "float32")
			digestsIntoQuantized[posenc.Float16](add, "float16")
			digestsIntoQuantized[posenc.BFloat16](add, "bfloat16")
		},
	})
)

func intoQuantizedAlone[D posenc.Quantized, S posenc.Element](a *kit.Arguments) kit.Call {
	return intoQuantizedCall[D, D, S](a, false)
}

func intoQuantizedBoth[K, V posenc.Quantized, S posenc.Element](a *kit.Arguments) kit.Call {
	return intoQuantizedCall[K, V, S](a, true)
}

// decodeQuantized stores heads that nothing but a rotation changes, of whole length: one kernel does
// all, without scratch memory.
func decodeQuantized[D posenc.Quantized](a *kit.Arguments) kit.Call {
	a.Decoding = 128
	return intoQuantizedCall[D, D, float32](a, false)
}

func decodeQuantizedKV[K, V posenc.Quantized](a *kit.Arguments) kit.Call {
	a.Decoding = 128
	return intoQuantizedCall[K, V, float32](a, true)
}

var stackRows64 = sync.OnceValue(func() *posenc.Rows { return kit.Must(modelOnStack(64).Rows([]int32{5, 6, 7})) })

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
	return posenc.RotateIntoQuantizedKV(a, slots[:],
		posenc.IntoQuantized[D, S]{Dst: cache(keys[:], keyScales[:]), Src: posenc.View[S]{Data: k[:], Heads: 2}},
		posenc.IntoQuantized[D, S]{Dst: cache(values[:], valueScales[:]), Src: posenc.View[S]{Data: v[:], Heads: 2}})
}

// intoQuantizedPositions stores keys of one token, whose position is on the stack.
func intoQuantizedPositions() error {
	var k [64]float32
	var keys [2]posenc.Q8_0
	var positions = [1]int32{7}
	return posenc.RotateIntoQuantized(modelOnStack(64).At(positions[:]), nil,
		posenc.IntoQuantized[posenc.Q8_0, float32]{Dst: posenc.QuantizedView[posenc.Q8_0]{View: posenc.View[posenc.Q8_0]{Data: keys[:], Heads: 1}}, Src: posenc.View[float32]{Data: k[:], Heads: 1}})
}

func intoQuantizedCall[K, V posenc.Quantized, S posenc.Element](a *kit.Arguments, both bool) kit.Call {
	bare := a.Decoding > 0
	block, _ := formatOf[K](a)
	if other, _ := formatOf[V](a); both {
		block = max(block, other)
	}
	hadamard, unit := hadamardOf(a, block)
	if bare {
		hadamard, unit = 0, block
	}
	if !a.Any() || a.Below(8) > 0 {
		a.HeadUnit = unit
	}
	angles := uniformAngles(a)
	unrotated := a.Below(3) == 0
	if unrotated {
		angles = unrotatedAngles(a)
	}
	tokens := angles.tokens
	slots, room := slotsOf(a, tokens)
	k := stored[K, S](a, &angles, unrotated, bare, hadamard, tokens, room, slots)
	var v storedArgument[V, S]
	if both {
		v = stored[V, S](a, &angles, true, bare, hadamard, tokens, room, slots)
	}
	call := kit.Call{
		Run: func() error {
			if both {
				return posenc.RotateIntoQuantizedKV(angles.Angles, slots, k.IntoQuantized, v.IntoQuantized)
			}
			return posenc.RotateIntoQuantized(angles.Angles, slots, k.IntoQuantized)
		},
		Want: func() {
			p := angles.plain()
			k.plain(&p, tokens)
			v.plain(nil, tokens)
		},
	}
	if !a.Any() {
		call.Right = func() bool { return true }
	}
	if !twice(slots) {
		call.Parts = func(c *kit.Choices) [][]func() error {
			groups := k.parts(c, &angles)
			if both {
				none := angles
				none.of = func(tokens []int) posenc.Angles { return stackRotary().Unrotated(len(tokens)) }
				v.HeadDim = v.dim
				groups = append(groups, v.parts(c, &none)...)
			}
			return groups
		}
	}
	return call
}

// storedArgument is heads to be quantized, and what is known of them.
type storedArgument[D posenc.Quantized, S posenc.Element] struct {
	posenc.IntoQuantized[D, S]
	norms [2]normArgument
	dim   int
	slot  func(token int) int
	whole bool // a norm takes all heads as one vector

	rotates bool
}

func stored[D posenc.Quantized, S posenc.Element](a *kit.Arguments, angles *anglesArgument, unrotated, bare bool, hadamard, tokens, room int, slots []int32) (x storedArgument[D, S]) {
	block, scales := formatOf[D](a)
	dim := angles.headDim
	if unrotated && a.Yes() && !bare {
		x.HeadDim = (1 + a.Below(3)) * 32 * max(1, hadamard/32)
		dim = x.HeadDim
	}
	if isFloat[D]() && unrotated && !bare && a.Below(3) == 0 { // of a transposed cache
		x.HeadDim, dim, hadamard = 1, 1, 0
	}
	x.slot = slotIn(slots)
	if a.Rarely() {
		x.HeadDim = a.Number(0, 70)
		if unrotated && x.HeadDim != 0 {
			dim = kit.Small(x.HeadDim)
		}
	}
	x.dim, x.rotates = dim, !unrotated
	x.Src = kit.ViewOf[S](a, tokens, dim)
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
			x.whole = x.whole || x.Src.Heads > 1
		}
		x.norms[j] = normOf(a, n)
		*norm = x.norms[j].RMSNorm
	}
	x.Dst = quantizedOf[D](a, room, x.Src.Heads, dim, block, scales)
	kit.BySlots(a, &x.Dst.View, slots)
	x.Dst.Hadamard = hadamard
	if a.Any() && a.Below(8) > 0 {
		x.Dst.Heads = x.Src.Heads
	}
	writesQuantized(a, x.Dst, func() (list []int) {
		for t := range tokens {
			if x.slot(t) >= 0 {
				list = append(list, x.slot(t))
			}
		}
		return list
	}, dim, block)
	return x
}

// plain does what the documentation says, head by head. p is nil if heads do not rotate.
func (x *storedArgument[D, S]) plain(p *plain, tokens int) {
	heads, dim := x.Src.Heads, x.dim
	if !x.rotates {
		p = nil
	}
	prepared := preparedPlain(&x.Src, p, x.norms, tokens, dim)
	for t := range tokens {
		for h := range heads {
			if at := x.slot(t); at >= 0 {
				quantizePlain(&x.Dst, at, h, prepared[(t*heads+h)*dim:][:dim])
			}
		}
	}
}

// preparedPlain returns the heads of all tokens as they go to a cache that does not transform. p is nil if they do not rotate.
func preparedPlain[S posenc.Element](src *posenc.View[S], p *plain, norms [2]normArgument, tokens, dim int) []float32 {
	heads := src.Heads
	v := posenc.View[float32]{Heads: heads, Data: make([]float32, tokens*heads*dim)}
	for t := range tokens {
		for h := range heads {
			for i, s := range src.Data[kit.RowAt(src, t, h, dim):][:dim] {
				v.Data[(t*heads+h)*dim+i] = kit.Widen(s)
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
	if p != nil {
		rotateViewsPlain(*p, []posenc.View[float32]{v}, tokens)
	}
	normalize(norms[1])
	return v.Data
}

// parts stores some tokens and some heads at a time.
func (x *storedArgument[D, S]) parts(c *kit.Choices, angles *anglesArgument) (groups [][]func() error) {
	dim := x.dim
	units, heads := unitsOf[D](dim), []int{0, x.Src.Heads}
	if !x.whole {
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
			slots[i] = int32(x.slot(token))
		}
		for i, first := range heads[:len(heads)-1] {
			end, some := heads[i+1], x.IntoQuantized
			some.Dst = dst
			some.Dst.Data, some.Dst.Heads, some.Dst.Tokens = dst.Data[first*dst.HeadStride:], end-first, 0
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
	into := func(hadamard int) posenc.IntoQuantized[posenc.Q8_0, S] {
		return posenc.IntoQuantized[posenc.Q8_0, S]{
			Dst: posenc.QuantizedView[posenc.Q8_0]{View: posenc.View[posenc.Q8_0]{Data: make([]posenc.Q8_0, tokens*heads*dim/32), Heads: heads}, Hadamard: hadamard},
			Src: longView[S](tokens, heads, dim),
		}
	}
	return errors.Join(posenc.RotateIntoQuantized(a, nil, into(32)), posenc.RotateIntoQuantizedKV(a, nil, into(0), into(0)))
}

func digestsIntoQuantized[D posenc.Quantized](add kit.AddDigest, name string) {
	add("RotateIntoQuantized/to="+name+"/from=float32", digestIntoQuantized[D, float32])
	add("RotateIntoQuantized/to="+name+"/from=float16", digestIntoQuantized[D, posenc.Float16])
	add("RotateIntoQuantized/to="+name+"/from=bfloat16", digestIntoQuantized[D, posenc.BFloat16])
}

// digestIntoQuantized stores keys with a transform and values without.
func digestIntoQuantized[D posenc.Quantized, S posenc.Element](d *kit.Digest) {
	const tokens, heads, dim = 9, 2, 64
	for layout := range digestLayouts {
		cfg := digestConfig(d, allLayouts[layout], frequency.Exact, dim/2)
		cfg.HeadDim, cfg.RotaryDim, cfg.Offset = dim, dim/2, dim/4
		cfg.InvFreq = cfg.InvFreq[:dim/4]
		cfg.Axes = nil
		r := kit.MustRotary(cfg)
		slots := []int32{3, 4, 5, -1, 0, 1, 9, 8, 11}
		keys, values := digestCache[D](d, 12, heads, dim, layout%2 == 0), digestCache[D](d, 12, heads, dim, layout%2 == 0)
		keys.Hadamard = 32 << (layout % 2)
		weight := kit.Must(posenc.NewRMSNorm(kit.DigestElements[float32](d, dim), posenc.RMSNormConfig{Epsilon: 1e-6}))
		d.Must(posenc.RotateIntoQuantizedKV(r.At(d.Positions(tokens)), slots,
			posenc.IntoQuantized[D, S]{Dst: keys, Src: posenc.View[S]{Data: kit.DigestElements[S](d, tokens*heads*dim), Heads: heads}, Norm: weight},
			posenc.IntoQuantized[D, S]{Dst: values, Src: posenc.View[S]{Data: kit.DigestElements[S](d, tokens*heads*dim), Heads: heads}}))
		d.Add(keys.Data, keys.Scales, values.Data, values.Scales)
	}
}
