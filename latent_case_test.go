package posenc_test

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/test/kit"
)

var (
	_ = kit.Register(kit.Case{Function: "RotateIntoLatent", Times: 2,
		Call: oneOf(intoLatentCall[float32], intoLatentCall[posenc.Float16], intoLatentCall[posenc.BFloat16]),
		OnStack: func() error {
			var x [2 * 576]posenc.BFloat16
			var cache [3 * 656]byte
			var slots, positions = [2]int32{2, -1}, [2]int32{5, 6}
			return posenc.RotateIntoLatent(modelOnStack(64).At(positions[:]), slots[:], posenc.IntoLatent[posenc.BFloat16]{
				Dst:    posenc.LatentCache{Data: cache[:], Format: posenc.DeepSeekV32, Scale: posenc.LatentFloorScale},
				Latent: posenc.View[posenc.BFloat16]{Data: x[:], Heads: 1, TokenStride: 576}, Rotated: posenc.View[posenc.BFloat16]{Data: x[512:], Heads: 1, TokenStride: 576},
			})
		},
		Digests: ofTypes("RotateIntoLatent", digestIntoLatent[float32], digestIntoLatent[posenc.Float16], digestIntoLatent[posenc.BFloat16]),
		Long: func() error {
			const tokens = 5000
			r := kit.MustRotary(posenc.RotaryConfig{HeadDim: 64, Layout: posenc.Interleaved})
			cache := posenc.LatentCache{Data: make([]byte, tokens*656), Format: posenc.DeepSeekV32, Scale: posenc.LatentFloorAmax}
			x := posenc.IntoLatent[float32]{Dst: cache, Latent: longView[float32](tokens, 1, 512), Rotated: longView[float32](tokens, 1, 64)}
			return errors.Join(posenc.RotateIntoLatent(r.At(kit.Sequence(tokens)), nil, x), posenc.DequantizeLatent(longView[float32](tokens, 1, 576), cache, posenc.DequantizeOptions{Tokens: tokens, HeadDim: 576}))
		},
	})
	_ = kit.Register(kit.Case{Function: "RotateIntoLatentIndexer", Times: 2,
		Call: oneOf(intoLatentIndexerCall[float32], intoLatentIndexerCall[posenc.Float16], intoLatentIndexerCall[posenc.BFloat16]),
		OnStack: func() error {
			var x [576]posenc.BFloat16
			var cache [656]byte
			var keys [132]byte
			var positions = [1]int32{5}
			return posenc.RotateIntoLatentIndexer(modelOnStack(64).At(positions[:]), nil, posenc.IntoLatent[posenc.BFloat16]{
				Dst:    posenc.LatentCache{Data: cache[:], Format: posenc.DeepSeekV32, Scale: posenc.LatentFloorScale},
				Latent: posenc.View[posenc.BFloat16]{Data: x[:512], Heads: 1}, Rotated: posenc.View[posenc.BFloat16]{Data: x[512:], Heads: 1},
			}, modelOnStack(128).At(positions[:]), posenc.IntoLatent[posenc.BFloat16]{
				Dst:     posenc.LatentCache{Data: keys[:], Format: posenc.DeepSeekIndexer, Scale: posenc.LatentFloorAmax, PageTokens: 1},
				Rotated: posenc.View[posenc.BFloat16]{Data: x[:128], Heads: 1},
			})
		},
		Digests: ofTypes("RotateIntoLatentIndexer", digestIntoLatentIndexer[float32], digestIntoLatentIndexer[posenc.Float16], digestIntoLatentIndexer[posenc.BFloat16]),
	})
	_ = kit.Register(kit.Case{Function: "DequantizeLatent", Times: 2,
		Call: oneOf(dequantizeLatentCall[float32], dequantizeLatentCall[posenc.Float16], dequantizeLatentCall[posenc.BFloat16]),
		OnStack: func() error {
			var x [128]float32
			var cache [132]byte
			return posenc.DequantizeLatent(posenc.View[float32]{Data: x[:], Heads: 1}, posenc.LatentCache{Data: cache[:], Format: posenc.DeepSeekIndexer, Scale: posenc.LatentFloorAmax, PageTokens: 1}, posenc.DequantizeOptions{Tokens: 1, HeadDim: 128})
		},
		Digests: ofTypes("DequantizeLatent", digestDequantizeLatent[float32], digestDequantizeLatent[posenc.Float16], digestDequantizeLatent[posenc.BFloat16]),
	})
)

// latentArgument returns a cache of a format with at least as many tokens.
func latentArgument(a *kit.Arguments, format posenc.LatentFormat, tokens int) posenc.LatentCache {
	c, s := posenc.LatentCache{Format: format}, latentShapes[format]
	if format < posenc.LatentE4M3 {
		c.Scale = posenc.LatentScale(1 + a.Below(3))
		if format == posenc.DeepSeekV4 {
			c.Scale = posenc.LatentScale(1 + a.Below(2))
		}
	}
	if format == posenc.LatentE4M3 {
		c.InverseScale = float32(a.Real([]float64{1, 37.5, 1e-3}[a.Below(3)]))
	}
	if format == posenc.DeepSeekIndexer && a.Yes() {
		c.Hadamard = 32 << a.Below(3)
	}
	if s.scales > 0 || a.Yes() {
		c.PageTokens = 1 + a.Below(9)
	}
	page, stride := pageOf(format, max(c.PageTokens, 1))
	if c.PageTokens > 0 && a.Yes() {
		c.PageStride = page + a.Below(40)
		stride = c.PageStride
	}
	if a.Any() {
		tokens = min(kit.Small(tokens), 40)
	}
	pages := (tokens + max(c.PageTokens, 1) - 1) / max(c.PageTokens, 1)
	length := 0
	if pages > 0 {
		length = (pages-1)*stride + page
	}
	if a.Yes() {
		length += a.Below(40)
	}
	c.Data = kit.Slice[byte](a, length)
	if !a.Any() {
		return c
	}
	switch a.Below(16) {
	case 0:
		c.Format = posenc.LatentFormat(a.Below(8))
	case 1:
		c.Scale = posenc.LatentScale(a.Below(6))
	case 2:
		c.InverseScale = float32(a.Real(1))
	case 3:
		c.Hadamard = a.Number(0, 130)
	case 4:
		c.PageTokens = a.Number(0, 9)
	case 5:
		c.PageStride = a.Number(0, 6000)
	}
	return c
}

// latentToken returns the bytes of a token and of its scales, by the documentation.
func latentToken(c *posenc.LatentCache, t int) (record, scales []byte) {
	s, tokens := latentShapes[c.Format], max(c.PageTokens, 1)
	_, stride := pageOf(c.Format, tokens)
	if c.PageStride > 0 {
		stride = c.PageStride
	}
	page := c.Data[t/tokens*stride:]
	record, scales = page[t%tokens*s.token:][:s.token], page[tokens*s.token+t%tokens*s.scales:][:s.scales]
	if c.Format == posenc.DeepSeekV32 {
		scales = record[512:528]
	}
	return record, scales
}

// latentGroups returns the E4M3 that share a scale, how many groups there are, and where bfloat16 begin.
func latentGroups(f posenc.LatentFormat) (size, count, bfloat16s int) {
	switch f {
	case posenc.DeepSeekV32:
		return 128, 4, 528
	case posenc.DeepSeekV4:
		return 64, 7, 448
	case posenc.DeepSeekIndexer:
		return 128, 1, 128
	case posenc.LatentE4M3:
		return 576, 1, 576
	}
	return 0, 0, 0
}

// writeLatentPlain writes the numbers of a token as the documentation says.
func writeLatentPlain(c *posenc.LatentCache, t int, x []float32) {
	record, scales := latentToken(c, t)
	hadamardPlain(x, c.Hadamard)
	if c.Format == posenc.DeepSeekV4 {
		clear(scales)
		for i, v := range x {
			x[i] = generic.BFloat16ToFloat32(generic.Float32ToBFloat16(v))
		}
	}
	size, count, rest := latentGroups(c.Format)
	for g := range count {
		group := x[g*size:][:size]
		amax := float32(0)
		for _, v := range group {
			if m := float32(math.Abs(float64(v))); !(m <= amax) {
				amax = m
			}
			if amax != amax {
				break
			}
		}
		scale := amax / 448
		switch c.Scale {
		case posenc.LatentFloorAmax:
			scale = max(amax, 1e-4) / 448
		case posenc.LatentFloorScale:
			scale = max(scale, 1e-4)
		case posenc.LatentFloat32Scale:
			scale = max(scale, 0x1p-126)
		}
		if finite := scale-scale == 0; finite && (c.Scale == posenc.LatentFloorAmax || c.Scale == posenc.LatentFloorScale) {
			fraction, exponent := math.Frexp(float64(scale))
			if fraction == 0.5 {
				exponent--
			}
			scale = float32(math.Ldexp(1, exponent))
		}
		for i, v := range group {
			switch {
			case c.Format == posenc.LatentE4M3:
				record[i] = generic.Float32ToE4M3(v * c.InverseScale)
			case amax-amax != 0:
				record[g*size+i] = 0x7f
			default:
				record[g*size+i] = generic.Float32ToE4M3(v / scale)
			}
		}
		switch {
		case c.Format == posenc.LatentE4M3:
		case c.Format != posenc.DeepSeekV4:
			if amax-amax != 0 {
				scale = amax
			}
			if amax != amax {
				scale = math.Float32frombits(0x7fc00000)
			}
			binary.LittleEndian.PutUint32(scales[4*g:], math.Float32bits(scale))
		case amax-amax != 0:
			scales[g] = 255
		default:
			scales[g] = byte(math.Ilogb(float64(scale)) + 127)
		}
	}
	for i, v := range x[size*count:] {
		bits := generic.Float32ToBFloat16(v)
		if v != v {
			bits = 0x7fc0
		}
		binary.LittleEndian.PutUint16(record[rest+2*i:], bits)
	}
}

// readLatentPlain reads a token as the documentation says.
func readLatentPlain(c *posenc.LatentCache, t int) []float32 {
	record, scales := latentToken(c, t)
	size, count, rest := latentGroups(c.Format)
	x := make([]float32, latentShapes[c.Format].numbers)
	for i := range size * count {
		scale := 1 / c.InverseScale
		switch g := i / size; {
		case c.Format == posenc.DeepSeekV4 && scales[g] == 255:
			scale = float32(math.NaN())
		case c.Format == posenc.DeepSeekV4:
			scale = float32(math.Ldexp(1, int(scales[g])-127))
		case c.Format != posenc.LatentE4M3:
			scale = math.Float32frombits(binary.LittleEndian.Uint32(scales[4*g:]))
		}
		x[i] = generic.E4M3ToFloat32(record[i]) * scale
	}
	for i := range x[size*count:] {
		x[size*count+i] = generic.BFloat16ToFloat32(binary.LittleEndian.Uint16(record[rest+2*i:]))
	}
	hadamardPlain(x, c.Hadamard)
	return x
}

// writesLatent says that a call may write to the records of tokens.
func writesLatent(a *kit.Arguments, c posenc.LatentCache, tokens func() []int) {
	kit.Writes(a, func(mark func(s []byte)) {
		for _, t := range tokens() {
			record, scales := latentToken(&c, t)
			mark(record)
			mark(scales)
		}
	})
}

// latentPartArgument is tokens on their way into a cache, and what is known of them.
type latentPartArgument[S posenc.Element] struct {
	posenc.IntoLatent[S]
	angles anglesArgument
	rest   int
}

func latentPartOf[S posenc.Element](a *kit.Arguments, angles anglesArgument, format posenc.LatentFormat, room int, written func() []int) (x latentPartArgument[S]) {
	x.angles = angles
	x.rest = latentShapes[format].numbers - angles.headDim
	x.Rotated = kit.ViewOfHeads[S](a, angles.tokens, 1, angles.headDim)
	if x.rest > 0 {
		x.Latent = kit.ViewOfHeads[S](a, angles.tokens, 1, x.rest)
	}
	x.Dst = latentArgument(a, format, room)
	writesLatent(a, x.Dst, written)
	return x
}

func (x *latentPartArgument[S]) plain(slot func(int) int) {
	p, tokens, dim := x.angles.plain(), x.angles.tokens, x.angles.headDim
	rotated := posenc.View[float32]{Heads: 1, Data: make([]float32, tokens*dim)}
	for t := range tokens {
		for i, v := range x.Rotated.Data[kit.RowAt(&x.Rotated, t, 0, dim):][:dim] {
			rotated.Data[t*dim+i] = kit.Widen(v)
		}
	}
	rotateViewsPlain(p, []posenc.View[float32]{rotated}, tokens)
	for t := range tokens {
		if slot(t) < 0 {
			continue
		}
		var numbers []float32
		for i := range x.rest {
			numbers = append(numbers, kit.Widen(x.Latent.Data[kit.RowAt(&x.Latent, t, 0, x.rest)+i]))
		}
		writeLatentPlain(&x.Dst, slot(t), append(numbers, rotated.Data[t*dim:][:dim]...))
	}
}

// taken returns some tokens, and their angles.
func (x *latentPartArgument[S]) taken(part []int) (posenc.Angles, posenc.IntoLatent[S]) {
	some := posenc.IntoLatent[S]{Dst: x.Dst, Rotated: taken(&x.Rotated, part, 0, 1, x.angles.headDim)}
	if x.rest > 0 {
		some.Latent = taken(&x.Latent, part, 0, 1, x.rest)
	}
	return x.angles.of(part), some
}

func intoLatentCall[S posenc.Element](a *kit.Arguments) kit.Call {
	return latentCall(a, 1, func(slots []int32, angles []posenc.Angles, xs []posenc.IntoLatent[S]) error {
		return posenc.RotateIntoLatent(angles[0], slots, xs[0])
	})
}

func intoLatentIndexerCall[S posenc.Element](a *kit.Arguments) kit.Call {
	return latentCall(a, 2, func(slots []int32, angles []posenc.Angles, xs []posenc.IntoLatent[S]) error {
		return posenc.RotateIntoLatentIndexer(angles[0], slots, xs[0], angles[1], xs[1])
	})
}

// latentCall is a call that stores records, and the keys of an indexer where there are two parts.
func latentCall[S posenc.Element](a *kit.Arguments, count int, run func(slots []int32, angles []posenc.Angles, xs []posenc.IntoLatent[S]) error) kit.Call {
	format := posenc.LatentFormat(1 + a.Below(5))
	numbers := latentShapes[format].numbers
	a.Head = []int{64, numbers, 64 + 32*a.Below(3)}[a.Below(3)]
	if a.Rarely() {
		a.Head = 0
	}
	first := uniformAngles(a)
	if a.Below(8) == 0 {
		first = unrotatedAngles(a)
	}
	tokens := first.tokens
	slots, room := slotsOf(a, tokens)
	slot := slotIn(slots)
	written := func() (list []int) {
		for t := range tokens {
			if slot(t) >= 0 {
				list = append(list, slot(t))
			}
		}
		return list
	}
	parts := []latentPartArgument[S]{latentPartOf[S](a, first, format, room, written)}
	if count == 2 {
		cfg := posenc.RotaryConfig{HeadDim: 128, RotaryDim: 64, Offset: 64 * a.Below(2), Layout: allLayouts[a.Below(4)]}
		r, positions := kit.MustRotary(cfg), a.Positions(tokens)
		parts = append(parts, latentPartOf[S](a, anglesArgument{
			Angles: r.At(positions), headDim: 128, tokens: tokens,
			plain: func() plain { return plainOf(cfg).with(plainTables(cfg, positions, byGeneric)) },
			of:    func(tokens []int) posenc.Angles { return r.At(kit.Pick(positions, tokens)) },
		}, posenc.DeepSeekIndexer, room, written))
	}
	var angles []posenc.Angles
	var xs []posenc.IntoLatent[S]
	for _, p := range parts {
		angles, xs = append(angles, p.angles.Angles), append(xs, p.IntoLatent)
	}
	call := kit.Call{
		Run: func() error { return run(slots, angles, xs) },
		Want: func() {
			for i := range parts {
				parts[i].plain(slot)
			}
		},
	}
	if !a.Any() {
		call.Right = func() bool { return true }
	}
	if !twice(slots) {
		call.Parts = func(c *kit.Choices) (groups [][]func() error) {
			for _, part := range c.Deal(tokens) {
				some := make([]int32, len(part))
				for i, token := range part {
					some[i] = int32(slot(token))
				}
				groups = append(groups, []func() error{func() error {
					angles, xs := make([]posenc.Angles, count), make([]posenc.IntoLatent[S], count)
					for i := range parts {
						angles[i], xs[i] = parts[i].taken(part)
					}
					return run(some, angles, xs)
				}})
			}
			return groups
		}
	}
	return call
}

func dequantizeLatentCall[T posenc.Element](a *kit.Arguments) kit.Call {
	format := posenc.LatentFormat(1 + a.Below(5))
	tokens, dim := min(a.Tokens(), 20), latentShapes[format].numbers
	if a.Rarely() {
		dim = a.Number(0, 600)
	}
	src := latentArgument(a, format, tokens)
	for i := range src.Data {
		if a.Ordinary() { // codes, scales and bfloat16 that are not subnormal
			src.Data[i] = 0x38 + src.Data[i]%8
		}
	}
	dst := kit.ViewOfHeads[T](a, tokens, 1, dim)
	kit.WritesView(a, &dst, tokens, dim)
	var slots []int32
	if a.Yes() {
		slots = a.IDs(tokens, tokens)
	}
	slot := slotIn(slots)
	options := posenc.DequantizeOptions{Tokens: tokens, HeadDim: dim, Slots: slots}
	if dim == latentShapes[format].numbers && a.Yes() {
		options.HeadDim = 0
	}
	if a.Yes() {
		src.Scale = 0
	}
	call := kit.Call{
		Run: func() error { return posenc.DequantizeLatent(dst, src, options) },
		Want: func() {
			for t := range tokens {
				to := dst.Data[kit.RowAt(&dst, t, 0, dim):][:dim]
				for i, v := range readLatentPlain(&src, slot(t)) {
					to[i] = kit.Narrow[T](v)
				}
			}
		},
	}
	if !a.Any() {
		call.Right = func() bool { return true }
	}
	call.Parts = kit.ViewParts([]posenc.View[T]{dst}, tokens, dim, true, func(_ int, x posenc.View[T], part []int) error {
		some := make([]int32, len(part))
		for i, token := range part {
			some[i] = int32(slot(token))
		}
		return posenc.DequantizeLatent(x, src, posenc.DequantizeOptions{Tokens: len(part), HeadDim: dim, Slots: some})
	})
	return call
}

func digestIntoLatent[S posenc.Element](d *kit.Digest) {
	const tokens = 5
	for format := posenc.DeepSeekV32; format <= posenc.LatentBFloat16; format++ {
		c := digestLatent(d, format, 8)
		cfg := posenc.RotaryConfig{HeadDim: 64, Layout: posenc.Interleaved}
		slots := []int32{6, 7, -1, 0, 1}
		angles := kit.MustRotary(cfg).At(d.Positions(tokens))
		x := posenc.IntoLatent[S]{Dst: c}
		x.Latent = posenc.View[S]{Data: kit.DigestElements[S](d, tokens*(latentShapes[format].numbers-64)), Heads: 1}
		x.Rotated = posenc.View[S]{Data: kit.DigestElements[S](d, tokens*64), Heads: 1}
		d.Must(posenc.RotateIntoLatent(angles, slots, x))
		d.Add(c.Data)
	}
}

func digestIntoLatentIndexer[S posenc.Element](d *kit.Digest) {
	const tokens = 5
	of := func(dim int) posenc.Angles {
		return kit.MustRotary(posenc.RotaryConfig{HeadDim: dim, RotaryDim: 64, Layout: posenc.Interleaved}).At(d.Positions(tokens))
	}
	x, keys := posenc.IntoLatent[S]{Dst: digestLatent(d, posenc.DeepSeekV32, 8)}, posenc.IntoLatent[S]{Dst: digestLatent(d, posenc.DeepSeekIndexer, 8)}
	x.Latent = posenc.View[S]{Data: kit.DigestElements[S](d, tokens*512), Heads: 1}
	x.Rotated = posenc.View[S]{Data: kit.DigestElements[S](d, tokens*64), Heads: 1}
	keys.Rotated = posenc.View[S]{Data: kit.DigestElements[S](d, tokens*128), Heads: 1}
	d.Must(posenc.RotateIntoLatentIndexer(of(64), []int32{6, 7, -1, 0, 1}, x, of(128), keys))
	d.Add(x.Dst.Data)
	d.Add(keys.Dst.Data)
}

func digestLatent(d *kit.Digest, format posenc.LatentFormat, tokens int) posenc.LatentCache {
	c := posenc.LatentCache{Format: format, PageTokens: 4}
	switch format {
	case posenc.LatentE4M3:
		c.InverseScale = 3.25
	case posenc.DeepSeekV4:
		c.Scale = posenc.LatentFloorAmax
	case posenc.DeepSeekV32:
		c.Scale = posenc.LatentFloat32Scale
	case posenc.DeepSeekIndexer:
		c.Scale, c.Hadamard = posenc.LatentFloorScale, 128
	}
	_, stride := pageOf(format, 4)
	c.Data = make([]byte, tokens/4*stride)
	for i := range c.Data {
		c.Data[i] = byte(d.Below(256))
	}
	return c
}

func digestDequantizeLatent[T posenc.Element](d *kit.Digest) {
	for format := posenc.DeepSeekV32; format <= posenc.LatentBFloat16; format++ {
		c, dim := digestLatent(d, format, 8), latentShapes[format].numbers
		y := posenc.View[T]{Data: make([]T, 3*dim), Heads: 1}
		d.Must(posenc.DequantizeLatent(y, c, posenc.DequantizeOptions{Tokens: 3, HeadDim: dim, Slots: []int32{7, 0, 3}}))
		d.Add(y.Data)
	}
}
