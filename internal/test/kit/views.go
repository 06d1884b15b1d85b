package kit

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/kernels"
)

// Stored is what views have.
type Stored interface {
	posenc.Quantized | byte
}

// RowAt returns where head h of token t starts.
func RowAt[T Stored](v *posenc.View[T], t, h, headDim int) int {
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

// ReachOf returns the elements up to the end of the last row.
func ReachOf[T Stored](v *posenc.View[T], tokens, headDim int) int {
	reach := 0
	for t := range tokens {
		for h := range v.Heads {
			reach = max(reach, RowAt(v, t, h, headDim)+headDim)
		}
	}
	return reach
}

// Allowed reports whether a view whose data has length elements is right in a call of the given
// tokens: Tokens says as many, or no more lie in data.
func Allowed[T Stored](v *posenc.View[T], tokens, dim, length int) bool {
	switch packed := v.TokenStride == 0 && v.HeadStride == 0 && v.SequenceStride == 0; {
	case v.Tokens != 0:
		return v.Tokens == tokens && Holds(v, tokens, dim, length)
	case packed:
		return Holds(v, tokens, dim, length) && length == tokens*v.Heads*dim
	}
	return Holds(v, tokens, dim, length) && !Holds(v, tokens+max(1, v.SequenceTokens), dim, length)
}

// Holds reports whether the heads of the given tokens lie in data of length elements, and no two share one.
func Holds[T Stored](v *posenc.View[T], tokens, dim, length int) bool {
	switch {
	case v.Heads < 1 || v.Tokens < 0 || v.TokenStride < 0 || v.HeadStride < 0 || v.SequenceStride < 0:
		return false
	case v.SequenceStride == 0 && v.SequenceTokens != 0:
		return false
	case v.SequenceStride > 0 && (v.SequenceTokens < 1 || tokens%v.SequenceTokens != 0):
		return false
	case v.TokenStride == 0 && v.Heads > math.MaxInt/max(1, dim): // whose product is the stride
		return false
	}
	touched := map[int]bool{}
	for t := range tokens {
		for h := range v.Heads {
			row := RowAt(v, t, h, dim)
			if row < 0 || row > length-dim { // no row start wraps to one inside: strides are at most MaxInt, and each row before is inside
				return false
			}
			for i := range dim {
				if touched[row+i] {
					return false
				}
				touched[row+i] = true
			}
		}
	}
	return true
}

// sparedView is the view of a call that has more tokens than the call.
type sparedView struct {
	data  []byte
	right bool // it may have them
}

// spare gives a view room for more tokens than the call has, or another number of Tokens.
func spare[T Stored](a *Arguments, v *posenc.View[T], tokens, dim int) {
	more := tokens + max(1, v.SequenceTokens)*(1+a.Below(3))
	held, kind := more, a.Below(3)
	if kind == 0 && v.TokenStride == 0 && v.HeadStride == 0 && v.SequenceStride == 0 {
		v.TokenStride = v.Heads * dim
	}
	if kind > 0 {
		v.Tokens = more
	}
	if kind > 1 && tokens > 0 { // without data nothing tells the view
		held = tokens
	}
	v.Data = Slice[T](a, ReachOf(v, held, dim))
	a.spared = &sparedView{BytesOf(v.Data), Allowed(v, tokens, dim, len(v.Data))}
}

// BySlots makes v a cache whose tokens are those of slots, where there are any.
func BySlots[T Stored](a *Arguments, v *posenc.View[T], slots []int32) {
	switch spared := a.spared != nil && Share(a.spared.data, v.Data); {
	case slots == nil:
	case !spared && !a.Rarely():
		v.Tokens = 0
	case spared:
		a.spared.right = v.Tokens == 0
	}
}

// spareTokens makes right calls in which one view after the other has more tokens than the call.
func (r *caseRunner) spareTokens(t *testing.T, impl kernels.Implementation, c *Case, shape []byte) {
	t.Helper()
	defer dispatch.Use(impl)()
	for n := 1; ; n++ {
		m := r.make(c, inputs{shape: shape, spare: n})
		if m.spared == nil {
			return
		}
		what := fmt.Sprintf("%s on %s, view %d with more tokens", c.Function, impl, n)
		err := m.run(t, what)
		if m.spared.right != (err == nil) || err != nil && !errors.Is(err, posenc.ErrLength) && !errors.Is(err, posenc.ErrShape) {
			t.Fatalf("%s: right %t, error %v", what, m.spared.right, err)
		}
		if err != nil {
			r.check(t, what, m, err, nil)
		}
	}
}

// Spacing says how far the heads of a view lie from each other.
type Spacing uint8

const (
	Apart      Spacing = iota // no two share an element
	MayOverlap                // strides are any small numbers: heads often nearly touch or overlap
)

// RandomShape returns a view without data, packed, strided, with the heads
// outside or in sequences.
func RandomShape[T Stored](r *rand.Rand, tokens, heads, headDim int, spacing Spacing) posenc.View[T] {
	sequence := 1 + r.IntN(max(1, tokens))
	for tokens%sequence != 0 {
		sequence--
	}
	if spacing == Apart {
		gap := r.IntN(3) * r.IntN(6)
		return shapeOf[T](r.IntN(7), tokens, heads, headDim, shapeOptions{sequence, r.IntN(3), gap, gap})
	}
	v := posenc.View[T]{Heads: heads}
	for _, stride := range []*int{&v.TokenStride, &v.HeadStride} {
		if r.IntN(4) != 0 {
			*stride = smallStride(r, headDim, 6)
		}
	}
	if r.IntN(2) == 0 {
		v.SequenceTokens, v.SequenceStride = sequence, smallStride(r, headDim, 40)
	}
	return v
}

// smallStride returns one of up to some heads, often next to a multiple of their size.
func smallStride(r *rand.Rand, headDim, heads int) int {
	if r.IntN(3) == 0 {
		return 1 + r.IntN(heads*headDim+1)
	}
	return max(1, (1+r.IntN(heads))*headDim+r.IntN(3)-1)
}

// shapeOptions are tokens of a sequence, heads of other vectors between the heads of tokens,
// and elements between heads and between whole rows of them.
type shapeOptions struct{ sequence, others, headGap, gap int }

// shapeOf returns a view without data, of one of seven kinds.
func shapeOf[T Stored](kind, tokens, heads, dim int, o shapeOptions) (v posenc.View[T]) {
	v.Heads = heads
	switch kind {
	case 0: // [tokens][heads][dim]
	case 1: // packed QKV
		v.TokenStride = (heads+o.others)*dim + o.gap
	case 2: // [heads][tokens][dim]
		v.TokenStride, v.HeadStride = dim, max(1, tokens)*dim+o.gap
	case 3: // gaps
		v.HeadStride = dim + o.headGap
		v.TokenStride = heads*v.HeadStride + o.gap
	case 4: // [batch][heads][tokens][dim]
		v.SequenceTokens, v.TokenStride, v.HeadStride = o.sequence, dim, o.sequence*dim+o.gap
		v.SequenceStride = heads*v.HeadStride + o.gap
	case 5: // [tokens][batch][heads][dim]
		v.SequenceTokens, v.SequenceStride = o.sequence, heads*dim+o.gap
		v.TokenStride = max(1, tokens/o.sequence)*v.SequenceStride + o.gap
	case 6: // [heads][batch][tokens][dim]
		v.SequenceTokens, v.TokenStride, v.SequenceStride = o.sequence, dim+o.gap, o.sequence*(dim+o.gap)
		v.HeadStride = max(1, tokens/o.sequence) * v.SequenceStride
	}
	return v
}
