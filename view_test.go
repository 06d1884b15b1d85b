package posenc_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/test/kit"
)

// Rows of one token do not rotate the first of three: whoever forgets Refill is told so, in views with strides too.
func TestForgottenRefill(t *testing.T) {
	const queryHeads, keyHeads, dim = 4, 2, 8
	r := kit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit})
	rows := kit.Must(r.Rows([]int32{5}))
	qkv := make([]float32, 3*(queryHeads+2*keyHeads)*dim)
	q := V{Data: qkv, Heads: queryHeads, TokenStride: (queryHeads + 2*keyHeads) * dim}
	k := V{Data: qkv[queryHeads*dim:], Heads: keyHeads, TokenStride: (queryHeads + 2*keyHeads) * dim}
	const says = "want room for 1 token of 4 heads of 8 at TokenStride 64 and HeadStride 8, and no more: it has room for 3"
	fails := kit.Failures(t, qkv)
	fails(posenc.Rotate(rows.All(), q, k), posenc.ErrLength, "posenc.Rotate: xs[0].Data has 192 elements, "+says)
	fails(posenc.RotateInverse(rows.All(), q, k), posenc.ErrLength, "posenc.RotateInverse: xs[0].Data has 192 elements, "+says)
	fails(posenc.RotateFused(rows.All(), posenc.FusedView[float32]{View: q}), posenc.ErrLength, "posenc.RotateFused: xs[0].Data has 192 elements, "+says)
	kit.NoError(t, rows.Refill([]int32{5, 6, 7}), posenc.Rotate(rows.All(), q, k))

	fails = kit.Failures(t, qkv) // and the other way round
	decoded := V{Data: qkv[:queryHeads*dim], Heads: queryHeads, TokenStride: q.TokenStride}
	fails(posenc.Rotate(rows.All(), decoded), posenc.ErrLength, "posenc.Rotate: xs[0].Data has 32 elements, want at least 160 for 3 tokens")
}

// viewLayout is a view of a usual layout of memory.
type viewLayout struct {
	name   string
	view   V
	tokens int
}

// viewLayouts are views of heads of dim elements in memory that is long enough.
func viewLayouts(dim int, memory []float32) []viewLayout {
	const n, batch = 5, 3 // tokens of a sequence
	const q, k = 4, 2     // heads
	row, all := (q+2*k)*dim, n*dim
	return []viewLayout{
		{"[tokens][heads][dim]", V{Data: memory[:n*q*dim], Heads: q}, n},
		{"q of packed QKV", V{Data: memory[:n*row], Heads: q, TokenStride: row}, n},
		{"k of packed QKV", V{Data: memory[q*dim : n*row], Heads: k, TokenStride: row}, n},
		{"v of packed QKV", V{Data: memory[(q+k)*dim : n*row], Heads: k, TokenStride: row}, n},
		{"k of [tokens][heads][3][dim]", V{Data: memory[dim : n*q*3*dim], Heads: q, TokenStride: q * 3 * dim, HeadStride: 3 * dim}, n},
		{"[heads][tokens][dim]", V{Data: memory[:q*all], Heads: q, TokenStride: dim, HeadStride: all}, n},
		{"q of [heads of q, k and v][tokens][dim]", V{Data: memory[:(q+2*k)*all], Heads: q, TokenStride: dim, HeadStride: all}, n},
		{"k of [heads of q, k and v][tokens][dim]", V{Data: memory[q*all : (q+2*k)*all], Heads: k, TokenStride: dim, HeadStride: all}, n},
		{"one of [heads][tokens][dim]", V{Data: memory[2*all : 3*all], Heads: 1, TokenStride: dim}, n},
		{"one of [tokens][heads][dim]", V{Data: memory[2*dim : n*q*dim], Heads: 1, TokenStride: q * dim}, n},
		{"padding between tokens", V{Data: memory[:n*(q*dim+7)], Heads: q, TokenStride: q*dim + 7}, n},
		{"without the last padding", V{Data: memory[:n*(q*dim+7)-7], Heads: q, TokenStride: q*dim + 7}, n},
		{"padding between heads", V{Data: memory[:q*(all+3)], Heads: q, TokenStride: dim, HeadStride: all + 3}, n},
		{"the last of [heads][capacity][dim]", V{Data: memory[4*dim : q*9*dim], Heads: q, TokenStride: dim, HeadStride: 9 * dim}, n},
		{"the last token of a capacity", V{Data: memory[8*dim : q*9*dim], Heads: q, TokenStride: dim, HeadStride: 9 * dim}, 1},
		{"[batch][heads][tokens][dim]", V{Data: memory[:batch*q*all], Heads: q, TokenStride: dim, HeadStride: all, SequenceTokens: n, SequenceStride: q * all}, batch * n},
		{"k of [batch][heads of q, k and v][tokens][dim]", V{Data: memory[q*all : batch*(q+2*k)*all], Heads: k, TokenStride: dim, HeadStride: all, SequenceTokens: n, SequenceStride: (q + 2*k) * all}, batch * n},
		{"[batch][heads][capacity][dim]", V{Data: memory[:batch*q*9*dim], Heads: q, TokenStride: dim, HeadStride: 9 * dim, SequenceTokens: n, SequenceStride: q * 9 * dim}, batch * n},
		{"[heads][batch][tokens][dim]", V{Data: memory[:q*batch*all], Heads: q, TokenStride: dim, HeadStride: batch * all, SequenceTokens: n, SequenceStride: all}, batch * n},
		{"[tokens][batch][heads][dim]", V{Data: memory[:n*batch*q*dim], Heads: q, TokenStride: batch * q * dim, SequenceTokens: n, SequenceStride: q * dim}, batch * n},
	}
}

// A view of each usual layout has the tokens that its memory has, and a call for any other number is an error.
func TestTokensOfLayouts(t *testing.T) {
	const dim = 8
	r := kit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit})
	memory := make([]float32, 2000)
	for _, l := range viewLayouts(dim, memory) {
		t.Run(l.name, func(t *testing.T) {
			fails := kit.Failures(t, memory)
			for tokens := range 3 * l.tokens {
				if tokens != l.tokens {
					err := posenc.Rotate(r.At(kit.Sequence(tokens)), l.view)
					kind := posenc.ErrLength
					if errors.Is(err, posenc.ErrShape) || errors.Is(err, posenc.ErrOverlap) { // a part of a sequence, or too many
						kind = errors.Unwrap(err)
					}
					fails(err, kind, "posenc.Rotate: xs[0].")
				}
			}
			want := slices.Clone(memory)
			mine := l.view
			first := cap(memory) - cap(l.view.Data) // where it starts in memory
			mine.Data = want[first:][:len(l.view.Data)]
			kit.NoError(t, posenc.Rotate(r.At(kit.Sequence(l.tokens)), mine))

			// With Tokens, the memory behind does not count.
			longer := l.view
			longer.Data, longer.Tokens = l.view.Data[:cap(l.view.Data)], l.tokens
			for _, tokens := range []int{0, l.tokens - 1, l.tokens + 1} {
				err := posenc.Rotate(r.At(kit.Sequence(tokens)), longer)
				if l.view.SequenceStride == 0 || tokens == 0 {
					fails(err, posenc.ErrLength, fmt.Sprintf("posenc.Rotate: xs[0].Tokens is %d, want %d as in the call", l.tokens, tokens))
				} else {
					fails(err, posenc.ErrShape, "posenc.Rotate: xs[0].SequenceTokens is 5, want a divisor of the number of tokens")
				}
			}
			kit.NoError(t, posenc.Rotate(r.At(kit.Sequence(l.tokens)), longer))
			if !kit.SameSlices(memory, want) {
				t.Error("with Tokens the result is another")
			}
		})
	}
}

// Views whose tokens cannot be known from Data are errors that say how many there is room for, and what to set.
func TestUnclearTokens(t *testing.T) {
	const dim = 8
	r := kit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit})
	memory := make([]float32, 512)
	fails := kit.Failures(t, memory)
	three, four := r.At([]int32{1, 2, 3}), r.At([]int32{1, 2, 3, 4})
	const set = "; set Tokens if the call leaves some out"
	apart := V{Data: memory[:2*9*dim], Heads: 2, TokenStride: dim, HeadStride: 9 * dim}
	fails(posenc.Rotate(three, apart), posenc.ErrLength, "xs[0].Data has 144 elements, want room for 3 tokens of 2 heads of 8 at TokenStride 8 and HeadStride 72, and no more: it has room for 9"+set)
	one := V{Data: memory[:2*3*dim], Heads: 1, TokenStride: dim} // of [2 heads][3 tokens][dim], and the second
	fails(posenc.Rotate(three, one), posenc.ErrLength, "it has room for 6"+set)
	fails(posenc.Rotate(three, V{Data: memory[:92], Heads: 2, HeadStride: 24}), posenc.ErrLength, "it has room for 4"+set+"; TokenStride is 0, set it too")
	fails(posenc.Rotate(r.At(nil), apart), posenc.ErrLength, "xs[0].Data has 144 elements, want room for no token of 2 heads of 8 at TokenStride 8 and HeadStride 72, because the call has no tokens: its positions")
	fails(posenc.Rotate(three, V{Data: memory[:48], Heads: 2, Tokens: -3}), posenc.ErrShape, "xs[0].Tokens is -3, want at least 0")
	fails(posenc.Rotate(four, V{Data: memory[:48], Heads: 2, Tokens: 4}), posenc.ErrLength, "xs[0].Data has 48 elements, want at least 64 for 4 tokens")
	cache := V{Data: memory[256:], Heads: 2, Tokens: 3}
	fails(posenc.RotateInto(three, cache, []int32{2, 1, 0}, V{Data: memory[:48], Heads: 2}), posenc.ErrShape, "posenc.RotateInto: dst.Tokens is 3, want 0, because slots say which tokens the call takes")
	kit.NoError(t, posenc.RotateInto(three, cache, nil, V{Data: memory[:48], Heads: 2}))
}

// A view of blocks says how many numbers a block has and how many blocks a head is, where strides count other things.
func TestErrorsCountBlocks(t *testing.T) {
	r := kit.MustRotary(posenc.RotaryConfig{HeadDim: 128, Layout: posenc.HalfSplit})
	k, memory := make([]float32, 8*128), make([]posenc.Q8_0, 2048)
	store := func(slots []int32, tokenStride, headStride int) error {
		return posenc.RotateIntoQuantized(r.At([]int32{1}), slots, posenc.IntoQuantized[posenc.Q8_0, float32]{
			Dst: posenc.QuantizedView[posenc.Q8_0]{View: posenc.View[posenc.Q8_0]{Data: memory, Heads: 8, TokenStride: tokenStride, HeadStride: headStride}},
			Src: V{Data: k, Heads: 8},
		})
	}
	const heads = "8 heads of 4 elements (blocks of 32 numbers) at TokenStride 1024 and HeadStride "
	fails := kit.Failures(t, k)
	fails(store([]int32{2}, 8*128, 128), posenc.ErrPosition, "slots[0] is 2, want below 2, the tokens that x.Dst has room for in 2048 elements, with "+heads+"128")
	fails(store(nil, 8*128, 128), posenc.ErrLength, "x.Dst.Data has 2048 elements, want room for 1 token of "+heads+"128, and no more: it has room for 2")
	fails(store(nil, 8*128, 512), posenc.ErrLength, "x.Dst.Data has 2048 elements, want at least 3588 for 1 token of "+heads+"512")
	fails(store([]int32{0}, 32, 3), posenc.ErrOverlap, "x.Dst.TokenStride is 32, want heads of 4 elements (blocks of 32 numbers) that do not overlap, with 8 heads at HeadStride 3")
}

// One token on its way to a quantized cache has a check of its own, which sees what the general one does.
func TestTokensOfOneQuantizedToken(t *testing.T) {
	r := kit.MustRotary(posenc.RotaryConfig{HeadDim: 64, Layout: posenc.HalfSplit})
	type store = posenc.IntoQuantized[posenc.Q8_0, float32]
	k, memory := make([]float32, 2*64), make([]posenc.Q8_0, 3*4)
	into := func(slots []int32, change func(x *store)) error {
		x := store{Dst: posenc.QuantizedView[posenc.Q8_0]{View: posenc.View[posenc.Q8_0]{Data: memory[:4], Heads: 2}}, Src: V{Data: k, Heads: 2}}
		change(&x)
		return posenc.RotateIntoQuantized(r.At([]int32{1}), slots, x)
	}
	longer := func(x *store) { x.Dst.Data, x.Dst.TokenStride = memory, 4 }
	fails := kit.Failures(t, k)
	fails(into(nil, func(x *store) { x.Src.Tokens = 2 }), posenc.ErrLength, "x.Src.Tokens is 2, want 1 as in the call")
	fails(into(nil, func(x *store) { x.Dst.Tokens = 2 }), posenc.ErrLength, "x.Dst.Tokens is 2, want 1 as in the call")
	fails(into([]int32{0}, func(x *store) { x.Dst.Tokens = 1 }), posenc.ErrShape, "x.Dst.Tokens is 1, want 0, because slots say")
	fails(into(nil, longer), posenc.ErrLength, "x.Dst.Data has 12 elements, want room for 1 token of 2 heads of 2 elements (blocks of 32 numbers)", "it has room for 3")
	kit.NoError(t, into([]int32{2}, longer), into(nil, func(x *store) { longer(x); x.Dst.Tokens = 1 }))
}

// Rotate and RotateInto take a view exactly where its documentation says so.
func FuzzViewTokens(f *testing.F) {
	f.Add(uint8(1), uint8(4), uint8(0), uint16(64), uint16(0), uint8(0), uint16(0), uint16(192))  // packed QKV
	f.Add(uint8(3), uint8(2), uint8(0), uint16(8), uint16(72), uint8(0), uint16(0), uint16(144))  // [heads][9 tokens][dim]
	f.Add(uint8(3), uint8(2), uint8(3), uint16(8), uint16(72), uint8(0), uint16(0), uint16(144))  // Tokens
	f.Add(uint8(6), uint8(2), uint8(0), uint16(8), uint16(24), uint8(3), uint16(48), uint16(140)) // sequences
	f.Add(uint8(2), uint8(3), uint8(0), uint16(0), uint16(0), uint8(0), uint16(0), uint16(48))
	const dim = 8
	r := kit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit})
	memory := make([]float32, 4096)
	f.Fuzz(func(t *testing.T, tokens, heads, own uint8, tokenStride, headStride uint16, sequenceTokens uint8, sequenceStride, length uint16) {
		v := V{Heads: int(heads), Tokens: int(own), TokenStride: int(tokenStride), HeadStride: int(headStride), SequenceTokens: int(sequenceTokens), SequenceStride: int(sequenceStride)}
		v.Data = memory[:min(int(length), len(memory))]
		n := int(tokens)
		want := kit.Allowed(&v, n, dim, len(v.Data))
		if err := posenc.Rotate(r.At(kit.Sequence(n)), v); (err == nil) != want {
			v.Data = nil
			t.Fatalf("%d tokens, %+v in %d elements: right %t, error %v", n, v, length, want, err)
		}
		reach := n
		if v.SequenceTokens > 0 && v.SequenceStride > 0 {
			reach = (n + v.SequenceTokens - 1) / v.SequenceTokens * v.SequenceTokens
		}
		want = v.Tokens == 0 && kit.Holds(&v, reach, dim, len(v.Data))
		src := V{Data: make([]float32, n*v.Heads*dim), Heads: v.Heads}
		if err := posenc.RotateInto(r.At(kit.Sequence(n)), v, kit.Sequence(n), src); (err == nil) != want {
			v.Data = nil
			t.Fatalf("%d slots, %+v in %d elements: right %t, error %v", n, v, length, want, err)
		}
	})
}
