package posenc_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/test/kit"
)

func TestRotateFusedErrors(t *testing.T) {
	type F = posenc.FusedView[float32]
	rotary := kit.MustRotary(posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit})
	norm4, norm8, norm6 := mustNorm(make([]float32, 4), 1, false), mustNorm(make([]float32, 8), 1, false), mustNorm(make([]float32, 6), 1, false)
	memory := make([]float32, 64)
	x := V{Data: memory[:16], Heads: 2} // 2 tokens of 2 heads of 4
	positions := []int32{3, 4}
	fails := kit.Failures(t, memory)
	fails(posenc.RotateFused[float32](posenc.Angles{}), posenc.ErrConfig, "posenc.RotateFused: a is zero: from a nil Rotary or nil Rows, of a layer that there is not, or of rows whose Refill failed, want Angles")
	fails(posenc.RotateFused(rotary.At(positions), F{View: V{Data: memory[:15], Heads: 2}}), posenc.ErrLength, "posenc.RotateFused: xs[0].Data has 15 elements, want 16")
	fails(posenc.RotateFused(rotary.At(positions), F{View: x, Norm: &posenc.RMSNorm{}}), posenc.ErrConfig, "posenc.RotateFused: xs[0].Norm is zero, want nil or an RMSNorm from NewRMSNorm")
	fails(posenc.RotateFused(rotary.At(positions), F{View: x, Norm: norm6}), posenc.ErrShape, "posenc.RotateFused: xs[0].Norm has 6 elements, want HeadDim = 4 or Heads*HeadDim = 8")
	fails(posenc.RotateFused(rotary.At(positions), F{View: strided(memory[:24], 2, 12, 6), Norm: norm8}), posenc.ErrShape, "posenc.RotateFused: xs[0].HeadStride is 6, want 0 or HeadDim = 4")
	fails(posenc.RotateFused(rotary.At(positions), F{View: x, QueryScales: memory[20:23]}), posenc.ErrLength, "posenc.RotateFused: xs[0].QueryScales has 3 elements, want 2, one for each token")
	fails(posenc.RotateFused(rotary.At(positions), F{View: x, QueryScales: []float32{}}), posenc.ErrLength, "posenc.RotateFused: xs[0].QueryScales has 0 elements, want 2")
	fails(posenc.RotateFused(rotary.At(positions), F{View: x, QueryScales: memory[15:17]}), posenc.ErrOverlap, "posenc.RotateFused: xs[0].QueryScales is sharing memory with xs[0]")
	fails(posenc.RotateFused(rotary.At(positions), F{View: x}, F{View: V{Data: memory[16:32], Heads: 2}, QueryScales: memory[:2]}), posenc.ErrOverlap, "posenc.RotateFused: xs[1].QueryScales is sharing memory with xs[0]")
	fails(posenc.RotateFused(rotary.AtFractional(memory[15:17]), F{View: V{Data: memory[32:48], Heads: 2}}, F{View: x}), posenc.ErrOverlap, "posenc.RotateFused: xs[1] is sharing memory with the positions")
	fails(posenc.RotateFused(rotary.At(positions), F{View: x}, F{View: x}), posenc.ErrOverlap, "posenc.RotateFused: xs[1] is sharing elements with xs[0]")
	const wide = 1 << 16
	kit.NoError(t, posenc.RotateFused(rotary.At(nil), F{View: V{Heads: 1}, Norm: norm4, QueryScales: []float32{}}),
		posenc.RotateFused(kit.MustRotary(posenc.RotaryConfig{HeadDim: wide, RotaryDim: 2, Layout: posenc.HalfSplit}).At([]int32{3}), F{View: strided(make([]float32, wide), 1, wide, 2*wide), Norm: mustNorm(make([]float32, wide), 1, false)}))
}

var _ = kit.Register(kit.Case{Function: "RotateFused", Times: 4, Long: longRotateFused, RoundsTwice: true,
	Call: func(a *kit.Arguments) kit.Call {
		float16s := fusedCall[posenc.Float16]
		if kit.Bochs { // each step would go on from ties rounded up
			float16s = fusedCall[posenc.BFloat16]
		}
		return oneOf(fusedCall[float32], float16s, fusedCall[posenc.BFloat16])(a)
	},
	OnStack: onStack(func(a posenc.Angles) error {
		return errors.Join(fusedOnStack[float32](a), fusedOnStack[posenc.Float16](a))
	}),
	Digests: ofTypes("RotateFused", digestFused[float32], digestFused[posenc.Float16], digestFused[posenc.BFloat16]),
})

func fusedCall[T posenc.Element](a *kit.Arguments) kit.Call {
	angles := anglesOf(a)
	tokens, dim := angles.tokens, angles.headDim
	xs := viewsOf[T](a, &angles)
	fused, norms := make([]posenc.FusedView[T], len(xs)), make([][2]normArgument, len(xs))
	whole := angles.heads > 0 // or a norm of all heads
	for i, v := range xs {
		fused[i].View = v
		for j, norm := range []**posenc.RMSNorm{&fused[i].Norm, &fused[i].RotatedNorm} {
			if a.Below(3) <= j {
				continue
			}
			n := dim
			if apartAllowed := v.HeadStride == 0 || v.HeadStride == dim; a.Yes() && (a.Any() || apartAllowed) {
				n, whole = a.Size(v.Heads, dim), true
			}
			norms[i][j] = normOf(a, n)
			*norm = norms[i][j].RMSNorm
		}
		if a.Yes() {
			fused[i].QueryScales = kit.Slice[float32](a, tokens)
		}
	}
	call := kit.Call{
		Run:   func() error { return posenc.RotateFused(angles.Angles, fused...) },
		Right: func() bool { return angles.right() && viewsRight(xs, tokens, dim) && fusedRight(&angles, fused, norms) },
		Want: func() {
			normalize := func(i int, norm normArgument) {
				all, n := xs[i], len(norm.weight)
				if n == 0 {
					return
				}
				if n != dim {
					all.Heads = 1
					if all.TokenStride == 0 {
						all.TokenStride = n
					}
				}
				eachHead([]posenc.View[T]{all}, tokens, n, func(_ int, row []T) { normalizeRow(row, norm.weight, norm.epsilon) })
			}
			for i := range xs {
				normalize(i, norms[i][0])
			}
			rotateViewsPlain(angles.plain(), xs, tokens)
			for i := range xs {
				normalize(i, norms[i][1])
				if scale := fused[i].QueryScales; scale != nil {
					eachHead(xs[i:i+1], tokens, dim, func(token int, head []T) { scaleRow(head, scale[token]) })
				}
			}
		},
	}
	call.Parts = kit.ViewParts(xs, tokens, dim, whole, func(i int, x posenc.View[T], tokens []int) error {
		v := posenc.FusedView[T]{View: x, Norm: fused[i].Norm, RotatedNorm: fused[i].RotatedNorm}
		if fused[i].QueryScales != nil {
			v.QueryScales = kit.Pick(fused[i].QueryScales, tokens)
		}
		return posenc.RotateFused(angles.of(tokens), v)
	})
	return call
}

func fusedRight[T posenc.Element](angles *anglesArgument, xs []posenc.FusedView[T], norms [][2]normArgument) bool {
	tokens, dim := angles.tokens, angles.headDim
	for i, x := range xs {
		if !angles.headsRight(x.Heads) {
			return false
		}
		for j, norm := range []*posenc.RMSNorm{x.Norm, x.RotatedNorm} {
			if n := len(norms[i][j].weight); norm != nil && n != dim && (n == 0 || n != x.Heads*dim || x.HeadStride != 0 && x.HeadStride != dim) {
				return false
			}
		}
		if x.QueryScales != nil && len(x.QueryScales) != tokens {
			return false
		}
		for _, y := range xs {
			if tokens > 0 && kit.Share(y.Data, x.QueryScales) {
				return false
			}
		}
		if tokens > 0 && angles.shares(kit.BytesOf(x.Data)) {
			return false
		}
	}
	return true
}

// stackNorms are norms of half a head, of a head and of two heads.
var stackNorms = sync.OnceValue(func() [3]*posenc.RMSNorm {
	return [3]*posenc.RMSNorm{mustNorm(make([]float32, 8), 1, false), mustNorm(make([]float32, 16), 1, false), mustNorm(make([]float32, 32), 1, false)}
})

func fusedOnStack[T posenc.Element](a posenc.Angles) error {
	var q, k [3 * 2 * 16]T
	factors := [3]float32{1, 2, 3}
	norms := stackNorms()
	return posenc.RotateFused(a,
		posenc.FusedView[T]{View: posenc.View[T]{Data: q[:], Heads: 2}, Norm: norms[2], QueryScales: factors[:]},
		posenc.FusedView[T]{View: posenc.View[T]{Data: k[:], Heads: 2}, Norm: norms[1]})
}

func longRotateFused() (err error) {
	r, norm := modelOnStack(128), mustNorm(make([]float32, 128), 1e-6, false)
	for _, heads := range []int{1, 3000} {
		x := longView[float32](20, heads, 128)
		err = errors.Join(err,
			posenc.RotateFused(r.At(kit.Sequence(20)), posenc.FusedView[float32]{View: x, Norm: norm, QueryScales: make([]float32, 20)}),
			posenc.RotateFused(r.At(make([]int32, 20)), posenc.FusedView[float32]{View: x, Norm: norm}))
	}
	return err
}

// digestFused normalizes each head, or all heads of a token, rotates and scales.
func digestFused[T posenc.Element](d *kit.Digest) {
	for layout := range digestLayouts {
		for i, fill := range []func(*kit.Digest, int) []T{kit.DigestNumbers[T], kit.DigestNumbers[T], kit.DigestElements[T]} {
			for _, tokens := range []int{1, 9} {
				const heads = 3
				cfg := digestConfig(d, allLayouts[layout], frequency.Rounding(i%2), 16*(i+1))
				weights := cfg.HeadDim
				if i == 1 {
					weights *= heads
				}
				norm := mustNorm(kit.DigestNumbers[float32](d, weights), 1e-6, layout%2 == 1)
				q := kit.DigestViewOf(d, fill, i+layout, tokens, heads, cfg.HeadDim)
				if i == 1 {
					q = kit.DigestViewOf(d, fill, layout%2, tokens, heads, cfg.HeadDim)
				}
				k := kit.DigestViewOf(d, fill, 0, tokens, 1, cfg.HeadDim)
				d.Must(posenc.RotateFused(kit.MustRotary(cfg).At(d.Positions(tokens)),
					posenc.FusedView[T]{View: q.View, Norm: norm, QueryScales: kit.DigestNumbers[float32](d, tokens)},
					posenc.FusedView[T]{View: k.View}))
				d.Add(q.Memory, k.Memory)
			}
		}
	}
}
