package posenc

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-posenc/posenc/generic"
)

// What the rotary surface is compared with: plain loops over the formulas of
// the documentation, one element after another, for elements of every type.

// eachType runs a test for elements of every type.
func eachType(t *testing.T, float32s, float16s, bfloat16s func(t *testing.T)) {
	t.Run("type=float32", float32s)
	t.Run("type=float16", float16s)
	t.Run("type=bfloat16", bfloat16s)
}

// widen returns the value of an element.
func widen[T Element](x T) float32 {
	switch x := any(x).(type) {
	case Float16:
		sign, exponent, fraction := 1-float64(x>>15)*2, int(x>>10&31), float64(x&1023)
		switch exponent {
		case 0:
			return float32(math.Copysign(math.Ldexp(fraction, -24), sign))
		case 31:
			if fraction != 0 {
				return float32(math.NaN())
			}
			return float32(math.Inf(int(sign)))
		}
		return float32(sign * math.Ldexp(1024+fraction, exponent-25))
	case BFloat16:
		return math.Float32frombits(uint32(x) << 16)
	case float32:
		return x
	}
	panic("not an element")
}

// narrow returns the element nearest to x, ties to even.
func narrow[T Element](x float32) (y T) {
	switch y := any(&y).(type) {
	case *Float16:
		r := nearest(x, 10, -14)
		bits := uint16(math.Float32bits(x) >> 16 & 0x8000)
		switch e := math.Ilogb(r); {
		case x != x:
			bits |= 0x7e00
		case math.Abs(r) >= 1<<16:
			bits |= 0x7c00
		case math.Abs(r) < 0x1p-14:
			bits |= uint16(math.Ldexp(math.Abs(r), 24))
		default:
			bits |= uint16(e+14)<<10 + uint16(math.Ldexp(math.Abs(r), 10-e)) // the first bit of the fraction adds 1 to the exponent
		}
		*y = Float16(bits)
	case *BFloat16:
		if x != x {
			*y = 0x7fc0
		} else {
			*y = BFloat16(math.Float32bits(float32(nearest(x, 7, -126))) >> 16)
		}
	case *float32:
		*y = x
	}
	return y
}

// nearest rounds x to a binary fraction of so many bits; the exponent is at
// least that of the smallest normal number.
func nearest(x float32, bits, least int) float64 {
	v := float64(x)
	if v == 0 || math.IsInf(v, 0) || v != v {
		return v
	}
	unit := math.Ldexp(1, max(math.Ilogb(v), least)-bits)
	return math.RoundToEven(v/unit) * unit
}

// sameElement reports equal bits or two NaNs.
func sameElement[T Element](a, b T) bool {
	if bitsOf(a) == bitsOf(b) {
		return true
	}
	x, y := widen(a), widen(b)
	return x != x && y != y
}

func bitsOf[T Element](x T) uint32 {
	switch x := any(x).(type) {
	case Float16:
		return uint32(x)
	case BFloat16:
		return uint32(x)
	case float32:
		return math.Float32bits(x)
	}
	panic("not an element")
}

// ofBits returns the element with the bits of x, of which a type of 16 bits
// takes the upper ones.
func ofBits[T Element](x uint32) (y T) {
	switch y := any(&y).(type) {
	case *Float16:
		*y = Float16(x >> 16)
	case *BFloat16:
		*y = BFloat16(x >> 16)
	case *float32:
		*y = math.Float32frombits(x)
	}
	return y
}

// extremes16 are the extremes of float16; those of bfloat16 are the upper
// halves of the ones of float32.
var extremes16 = []uint32{0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x83ff, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0x7e00, 0xfe01, 0xffff}

// fillElements sets s to numbers of ordinary size, any bit patterns and
// extremes.
func fillElements[T Element](r *rand.Rand, s []T) {
	for i := range s {
		switch r.IntN(8) {
		case 0:
			s[i] = ofBits[T](oneOf(r, extremes))
			if r.IntN(2) == 0 {
				s[i] = ofBits[T](oneOf(r, extremes16) << 16)
			}
		case 1:
			s[i] = ofBits[T](r.Uint32())
		default:
			s[i] = narrow[T](2*r.Float32() - 1)
		}
	}
}

func randomElements[T Element](r *rand.Rand, n int) []T {
	s := make([]T, n)
	fillElements(r, s)
	return s
}

// compare checks s, the elements that written marks up to the payloads of
// NaNs, the others to the bit.
func compare[T Element](t testing.TB, name string, s, want []T, written []bool) {
	t.Helper()
	for i := range s {
		if bitsOf(s[i]) == bitsOf(want[i]) || written[i] && sameElement(s[i], want[i]) {
			continue
		}
		what := "is not to be written"
		if written[i] {
			what = "is wrong"
		}
		t.Fatalf("%s[%d of %d] %s: got %#x (%v), want %#x (%v)", name, i, len(s), what, bitsOf(s[i]), widen(s[i]), bitsOf(want[i]), widen(want[i]))
	}
}

// rowAt returns where head h of token t starts.
func rowAt[T Element](v *View[T], t, h, headDim int) int {
	tokenStride, headStride := v.TokenStride, v.HeadStride
	if tokenStride == 0 {
		tokenStride = v.Heads * headDim
	}
	if headStride == 0 {
		headStride = headDim
	}
	start := 0
	if v.SequenceStride > 0 {
		start, t = t/v.SequenceTokens*v.SequenceStride, t%v.SequenceTokens
	}
	return start + t*tokenStride + h*headStride
}

// reachOf returns the elements up to the end of the last row.
func reachOf[T Element](v *View[T], tokens, headDim int) int {
	reach := 0
	for t := range tokens {
		for h := range v.Heads {
			reach = max(reach, rowAt(v, t, h, headDim)+headDim)
		}
	}
	return reach
}

// randomShape returns a view without data, packed, strided, with the heads
// outside or in sequences.
func randomShape[T Element](r *rand.Rand, tokens, heads, headDim int) (v View[T]) {
	v.Heads = heads
	sequence := 1 + r.IntN(max(1, tokens))
	for tokens%sequence != 0 {
		sequence--
	}
	gap := r.IntN(3) * r.IntN(6)
	switch r.IntN(7) {
	case 0: // [tokens][heads][dim]
	case 1: // packed QKV
		v.TokenStride = (heads+r.IntN(3))*headDim + gap
	case 2: // [heads][tokens][dim]
		v.TokenStride, v.HeadStride = headDim, max(1, tokens)*headDim+gap
	case 3:
		v.HeadStride = headDim + gap
		v.TokenStride = heads*v.HeadStride + gap
	case 4: // [batch][heads][tokens][dim]
		v.SequenceTokens, v.TokenStride, v.HeadStride = sequence, headDim, sequence*headDim+gap
		v.SequenceStride = heads*v.HeadStride + gap
	case 5: // [tokens][batch][heads][dim]
		v.SequenceTokens, v.SequenceStride = sequence, heads*headDim+gap
		v.TokenStride = max(1, tokens/sequence)*v.SequenceStride + gap
	case 6: // [heads][batch][tokens][dim]
		v.SequenceTokens, v.TokenStride, v.SequenceStride = sequence, headDim+gap, sequence*(headDim+gap)
		v.HeadStride = max(1, tokens/sequence) * v.SequenceStride
	}
	return v
}

// memory is elements of which some belong to a view, with canaries round them.
type memory[T Element] struct {
	all   []T
	start int
}

// allocate gives a view of so many tokens its data.
func allocate[T Element](r *rand.Rand, v *View[T], tokens, headDim int) memory[T] {
	m := memory[T]{start: padding + r.IntN(16)}
	n := reachOf(v, tokens, headDim)
	m.all = randomElements[T](r, m.start+n+padding)
	v.Data = m.all[m.start : m.start+n : m.start+n]
	return m
}

// plain is a rotation in words of its documentation.
type plain struct {
	in, out                    Layout // HalfSplit or Interleaved
	headDim, rotaryDim, offset int
	cos, sin                   [2][]float32 // of the first and of the second elements of pairs, [tokens][pairs]
}

// plainOf returns the geometry of a configuration, for which the tables are
// still to be set.
func plainOf(cfg RotaryConfig) plain {
	p := plain{headDim: cfg.HeadDim, rotaryDim: cfg.RotaryDim, offset: cfg.Offset}
	if p.rotaryDim == 0 {
		p.rotaryDim = cfg.HeadDim
	}
	orders := map[Layout][2]Layout{
		HalfSplit: {HalfSplit, HalfSplit}, Interleaved: {Interleaved, Interleaved},
		InterleavedToHalfSplit: {Interleaved, HalfSplit}, HalfSplitToInterleaved: {HalfSplit, Interleaved},
	}
	p.in, p.out = orders[cfg.Layout][0], orders[cfg.Layout][1]
	return p
}

// with returns p with tables of half width.
func (p plain) with(cos, sin []float32) plain {
	p.cos, p.sin = [2][]float32{cos, cos}, [2][]float32{sin, sin}
	return p
}

// inverse returns the rotation by the opposite angles.
func (p plain) inverse() plain {
	p.in, p.out = p.out, p.in
	for i, sin := range p.sin {
		p.sin[i] = slices.Clone(sin)
		for j := range sin {
			p.sin[i][j] = -sin[j]
		}
	}
	return p
}

// rotatePlain rotates the heads of src into dst, where token t goes to token
// slots[t] if there are slots, and marks what it writes. With rest it copies
// the rest of the heads too. src may be dst.
func rotatePlain[D, S Element](p *plain, dst []D, y *View[D], slots []int32, src []S, x *View[S], tokens int, rest bool, written []bool) {
	src = slices.Clone(src)
	pairs := p.rotaryDim / 2
	for t := range tokens {
		slot := t
		if slots != nil {
			slot = int(slots[t])
		}
		if slot < 0 {
			continue
		}
		for h := range x.Heads {
			from, to := rowAt(x, t, h, p.headDim), rowAt(y, slot, h, p.headDim)
			for i := range pairs {
				xa, xb := pairAt(p.in, from+p.offset, i, pairs)
				ya, yb := pairAt(p.out, to+p.offset, i, pairs)
				x1, x2, at := widen(src[xa]), widen(src[xb]), t*pairs+i
				dst[ya] = narrow[D](float32(x1*p.cos[0][at]) - float32(x2*p.sin[0][at]))
				dst[yb] = narrow[D](float32(x2*p.cos[1][at]) + float32(x1*p.sin[1][at]))
				written[ya], written[yb] = true, true
			}
			for i := range p.headDim {
				if rest && (i < p.offset || i >= p.offset+p.rotaryDim) {
					dst[to+i] = convertPlain[D](src[from+i])
					written[to+i] = true
				}
			}
		}
	}
}

// convertPlain returns x as another type, with the same bits where it is none.
func convertPlain[D, S Element](x S) D {
	if y, ok := any(x).(D); ok {
		return y
	}
	return narrow[D](widen(x))
}

// plainTables returns the rows of positions [axes][tokens]: each entry is
// generic's for the position that the axis of its pair gives.
func plainTables(t testing.TB, cfg RotaryConfig, positions []int32) (cos, sin []float32) {
	t.Helper()
	if cfg.Axes == nil {
		return tablesOf(t, cfg, positions, 1)
	}
	tokens := len(positions) / (int(slices.Max(cfg.Axes)) + 1)
	n := len(cfg.Axes)
	cos, sin = make([]float32, tokens*n), make([]float32, tokens*n)
	invFreq, scaling := frequenciesOf(t, cfg), float32(cfg.Scaling)
	if scaling == 0 {
		scaling = 1
	}
	for token := range tokens {
		for j, axis := range cfg.Axes {
			p, at := positions[int(axis)*tokens+token], token*n+j
			if cfg.Angles == Float32 {
				generic.CosSinFloat32(cos[at:], sin[at:], []float32{float32(invFreq[j])}, float32(p), scaling, scaling)
			} else {
				generic.CosSinExact(cos[at:], sin[at:], p, invFreq[j:j+1], scaling, scaling)
			}
		}
	}
	return cos, sin
}

// allLayouts are those of a configuration.
var allLayouts = []Layout{HalfSplit, Interleaved, InterleavedToHalfSplit, HalfSplitToInterleaved}

// ladderOf returns frequencies of ordinary size, without the cost of rounding
// those from a base correctly.
func ladderOf(pairs int) []float64 {
	s := make([]float64, pairs)
	for i := range s {
		s[i] = math.Pow(10000, -float64(i)/float64(pairs))
	}
	return s
}

// randomGeometry returns a configuration of so many pairs, somewhere in its
// heads.
func randomGeometry(r *rand.Rand, layout Layout, pairs int) RotaryConfig {
	cfg := RotaryConfig{HeadDim: 2 * pairs, Layout: layout, InvFreq: ladderOf(pairs)}
	if r.IntN(2) == 0 {
		cfg.RotaryDim, cfg.Offset = 2*pairs, r.IntN(20)
		cfg.HeadDim += cfg.Offset + r.IntN(20)
	}
	return cfg
}

// checkPlain rotates one or two random views and compares with p.
func checkPlain[T Element](t *testing.T, r *rand.Rand, name string, rotary *Rotary, positions []int32, tokens int, p plain, rotate func(*Rotary, []int32, ...View[T]) error) {
	t.Helper()
	views := make([]View[T], 1+r.IntN(2))
	memories, wants, written := make([]memory[T], len(views)), make([][]T, len(views)), make([][]bool, len(views))
	for i := range views {
		v := &views[i]
		*v = randomShape[T](r, tokens, oneOf(r, headCounts), p.headDim)
		memories[i] = allocate(r, v, tokens, p.headDim)
		wants[i], written[i] = slices.Clone(memories[i].all), make([]bool, len(memories[i].all))
		start := memories[i].start
		rotatePlain(&p, wants[i][start:], v, nil, wants[i][start:], v, tokens, false, written[i][start:])
	}
	given := slices.Clone(positions)
	if err := rotate(rotary, positions, views...); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if !slices.Equal(positions, given) {
		t.Fatalf("%s changed the positions", name)
	}
	for i := range views {
		shape := views[i]
		shape.Data = nil
		compare(t, fmt.Sprintf("%s, view %d %+v: x", name, i, shape), memories[i].all, wants[i], written[i])
	}
}

// The plain conversions: narrowing undoes widening, and between two neighbours
// takes the nearer one, or the even one of two as near.
func TestPlainConversions(t *testing.T) {
	t.Run("float16", func(t *testing.T) { testPlainConversions[Float16](t, 0x7c00, 1<<16) })
	t.Run("bfloat16", func(t *testing.T) { testPlainConversions[BFloat16](t, 0x7f80, 1<<128) })
}

func testPlainConversions[T Element](t *testing.T, infinity uint32, beyond float64) {
	for bits := range infinity {
		a, b := widen(ofBits[T](bits<<16)), float64(widen(ofBits[T]((bits+1)<<16)))
		if bits+1 == infinity {
			b = beyond // where the next number would be
		}
		middle := float32((float64(a) + b) / 2) // exact: one bit more than either
		for x, want := range map[float32]uint32{a: bits, middle: bits + bits&1, math.Nextafter32(middle, 0): bits, math.Nextafter32(middle, math.MaxFloat32): bits + 1} {
			if got := bitsOf(narrow[T](x)); got != want {
				t.Fatalf("%x became %#x, want %#x", x, got, want)
			}
			if got := bitsOf(narrow[T](-x)); got != want|0x8000 {
				t.Fatalf("%x became %#x, want %#x", -x, got, want|0x8000)
			}
		}
	}
}
