// Package view checks where vectors lie in memory, each of them a head of a token, and
// hands them to kernels.
package view

import (
	"fmt"
	"math/bits"
	"strconv"
	"unsafe"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/argument"
)

// View is posenc.View, whose documentation has the fields.
type View[T any] struct {
	Data        []T
	Heads       int
	Tokens      int
	TokenStride int
	HeadStride  int

	SequenceTokens int
	SequenceStride int
}

// Grid is a View whose vectors are known to lie inside its Data and apart.
type Grid struct {
	Sequences, SequenceStride int
	Tokens, TokenStride       int // tokens of a sequence
	Heads, HeadStride         int
	Dim                       int // elements of a vector
}

// Problem is what keeps a View from being a Grid.
type Problem uint8

const (
	None Problem = iota
	fewHeads
	manyHeads
	negativeTokens
	negativeTokenStride
	negativeHeadStride
	negativeSequenceStride
	tokensWithoutStride
	fewTokens
	unevenSequences
	otherTokens
	uncountable
	wrongLength
	shortData
	spareTokens
	vectorsOverlap
)

// TooShort reports whether Data may be long enough for fewer tokens.
func (p Problem) TooShort() bool { return p == uncountable || p == shortData }

// Grid sets g to the vectors of a view in a call of the given number of tokens, which are all tokens
// that the view has: Tokens, or as many as Data has room for.
func (v *View[T]) Grid(g *Grid, tokens, dim int) Problem {
	p := v.set(g, tokens, dim)
	if p == None && v.Tokens != 0 && v.Tokens != tokens {
		return otherTokens
	}
	if p != None {
		return p
	}
	need, p := g.inside(len(v.Data))
	packed := v.TokenStride == 0 && v.HeadStride == 0 && v.SequenceStride == 0
	switch {
	case v.Tokens != 0:
	case packed && p != uncountable && need != len(v.Data):
		return wrongLength
	case !packed && p == None && (len(v.Data)-need >= g.TokenStride || g.SequenceStride > 0 || need == 0) && g.spare(len(v.Data), need):
		return spareTokens // one token, of packed QKV, has no time for the call
	}
	return p
}

// First is Problem for the first tokens of a view that may have more.
func (v *View[T]) First(g *Grid, tokens, dim int) Problem {
	if v.strided(tokens, dim, false) {
		return None
	}
	if p := v.set(g, tokens, dim); p != None {
		return p
	}
	_, p := g.inside(len(v.Data))
	return p
}

// set sets g to vectors that may lie outside Data or overlap. (It is written field by field: a struct
// built and copied costs a call of Rotate more than the checks.)
func (v *View[T]) set(g *Grid, tokens, dim int) Problem {
	g.Tokens, g.TokenStride = tokens, v.TokenStride
	g.Heads, g.HeadStride = v.Heads, v.HeadStride
	g.Dim = dim
	g.Sequences, g.SequenceStride = 1, v.SequenceStride
	switch {
	case v.Heads < 1:
		return fewHeads
	case v.Tokens < 0:
		return negativeTokens
	case v.TokenStride < 0:
		return negativeTokenStride
	case v.HeadStride < 0:
		return negativeHeadStride
	case v.SequenceStride < 0:
		return negativeSequenceStride
	case v.SequenceStride > 0:
		if v.SequenceTokens < 1 {
			return fewTokens
		}
		if tokens%v.SequenceTokens != 0 {
			return unevenSequences
		}
		g.Sequences, g.Tokens = tokens/v.SequenceTokens, v.SequenceTokens
	case v.SequenceTokens != 0:
		return tokensWithoutStride
	}
	if g.HeadStride == 0 {
		g.HeadStride = dim
	}
	if g.TokenStride == 0 {
		var ok bool
		if g.TokenStride, ok = argument.Multiply(v.Heads, dim); !ok {
			return manyHeads
		}
	}
	return None
}

// inside returns the elements up to the end of the last vector. Its problem is what keeps the vectors from
// lying apart within length elements.
func (g *Grid) inside(length int) (need int, p Problem) {
	if g.Sequences == 0 || g.Tokens == 0 {
		return 0, None
	}
	need, ok := g.Extent()
	switch {
	case !ok:
		return need, uncountable
	case need > length:
		return need, shortData
	case g.SelfOverlaps():
		return need, vectorsOverlap
	}
	return need, None
}

// spare reports whether length elements hold one more token, or one more sequence, apart from the others. The
// others reach up to element need.
func (g *Grid) spare(length, need int) bool {
	count, stride := g.Tokens, g.TokenStride
	if g.SequenceStride > 0 {
		count, stride = g.Sequences, g.SequenceStride
	}
	if count > 0 {
		if length-need < stride {
			return false
		}
		// In [heads][tokens][dim] it would be the first token of the next head.
		if next := count * stride; g.Heads > 1 && next < g.HeadStride+g.Dim && g.HeadStride < next+g.Dim {
			return false
		}
	}
	more := *g
	if g.SequenceStride > 0 {
		more.Sequences++
	} else {
		more.Tokens++
	}
	_, p := more.inside(length)
	return p == None
}

// Problem is Grid where only what is wrong is asked for: g is set only where something is. Most views
// are right at a glance, and one token has no time for more.
func (v *View[T]) Problem(g *Grid, tokens, dim int) Problem {
	if v.packed(tokens, dim) == len(v.Data) || v.strided(tokens, dim, true) {
		return None
	}
	return v.Grid(g, tokens, dim)
}

// strided reports that the heads of a view with strides, without sequences, lie inside Data and apart, as
// far as that is seen at a glance, and with exactly that Data has no room for one token more.
func (v *View[T]) strided(tokens, dim int, exactly bool) bool {
	const most = 1 << 20 // no product overflows
	heads, tokenStride, headStride := int64(v.Heads), int64(v.TokenStride), int64(v.HeadStride)
	if v.Tokens|v.SequenceTokens|v.SequenceStride != 0 || tokenStride|headStride == 0 ||
		uint(v.Heads-1)|uint(tokens-1)|uint(dim)|uint(v.TokenStride)|uint(v.HeadStride) >= most {
		return false
	}
	vector := int64(dim)
	if headStride == 0 {
		headStride = vector
	}
	if tokenStride == 0 {
		tokenStride = heads * vector
	}
	lastToken, lastHead := int64(tokens-1)*tokenStride, (heads-1)*headStride
	rest := int64(len(v.Data)) - lastToken - lastHead - vector
	apart := (heads == 1 || headStride >= vector) && (tokens == 1 || tokenStride >= lastHead+vector) ||
		(tokens == 1 || tokenStride >= vector) && (heads == 1 || headStride >= lastToken+vector)
	return rest >= 0 && apart && (!exactly || rest < tokenStride)
}

// Holds reports whether the view has no strides and its Data holds at least its vectors.
func (v *View[T]) Holds(tokens, dim int) bool {
	n := v.packed(tokens, dim)
	return n >= 0 && n <= len(v.Data)
}

// packed returns the elements of all vectors of a view without strides, or -1.
func (v *View[T]) packed(tokens, dim int) int {
	if v.Tokens|v.TokenStride|v.HeadStride|v.SequenceTokens|v.SequenceStride != 0 || v.Heads < 1 {
		return -1
	}
	token, ok := argument.Multiply(v.Heads, dim)
	all, fits := argument.Multiply(tokens, token)
	if !ok || !fits {
		return -1
	}
	return all
}

// Error describes what is wrong with the view, the argument of that name.
func (v *View[T]) Error(p Problem, function, name string, g *Grid) error {
	fail := func(kind error, field string, value any, expected string, args ...any) error {
		return argument.Error(kind, function, name+"."+field, value, expected, args...)
	}
	length := argument.Elements(len(v.Data))
	need, _ := g.Extent()
	tokens := argument.Count(g.Sequences*g.Tokens, "token")
	shape, strides := v.heads(g), g.strides()
	switch p {
	case fewHeads:
		return fail(argument.ErrShape, "Heads", v.Heads, "at least 1")
	case manyHeads:
		return fail(argument.ErrShape, "Heads", v.Heads, "so few that their product with HeadDim %d fits an int", g.Dim)
	case negativeTokens:
		return fail(argument.ErrShape, "Tokens", v.Tokens, "at least 0")
	case negativeTokenStride:
		return fail(argument.ErrShape, "TokenStride", v.TokenStride, "at least 0")
	case negativeHeadStride:
		return fail(argument.ErrShape, "HeadStride", v.HeadStride, "at least 0")
	case negativeSequenceStride:
		return fail(argument.ErrShape, "SequenceStride", v.SequenceStride, "at least 0")
	case tokensWithoutStride:
		return fail(argument.ErrShape, "SequenceTokens", v.SequenceTokens, "0 where SequenceStride is 0")
	case fewTokens:
		return fail(argument.ErrShape, "SequenceTokens", v.SequenceTokens, "at least 1 where SequenceStride is %d", v.SequenceStride)
	case unevenSequences:
		return fail(argument.ErrShape, "SequenceTokens", v.SequenceTokens, "a divisor of the number of tokens, %d", g.Tokens)
	case otherTokens:
		if _, records := any(*new(T)).(byte); records {
			return fail(argument.ErrLength, "Tokens", v.Tokens, "%s, which hold the tokens of the call", argument.Count(g.Sequences*g.Tokens, "record"))
		}
		return fail(argument.ErrLength, "Tokens", v.Tokens, "%d as in the call", g.Sequences*g.Tokens)
	case uncountable:
		return fail(argument.ErrLength, "Data", length, "fewer tokens or heads, or smaller strides: an int cannot count the elements for %s of %s %s", tokens, shape, strides)
	case wrongLength:
		if g.Tokens == 0 {
			return fail(argument.ErrLength, "Data", length, "0, because the call has no tokens: %s", noTokens)
		}
		return fail(argument.ErrLength, "Data", length, "%d for %s of %s", need, tokens, shape)
	case shortData:
		return fail(argument.ErrLength, "Data", length, "at least %d for %s of %s %s", need, tokens, shape, strides)
	case spareTokens:
		if g.Sequences*g.Tokens == 0 {
			return fail(argument.ErrLength, "Data", length, "room for no token of %s %s, because the call has no tokens: %s", shape, strides, noTokens)
		}
		hint := ""
		if v.TokenStride == 0 && v.HeadStride > 0 {
			hint = "; TokenStride is 0, set it too"
		}
		return fail(argument.ErrLength, "Data", length, "room for %s of %s %s, and no more: it has room for %d; set Tokens if the call leaves some out%s", tokens, shape, strides, g.Room(len(v.Data)), hint)
	default:
		expected := fmt.Sprintf("heads of %s that do not overlap, with %s at HeadStride %d", elementsOf[T](g.Dim), argument.Count(v.Heads, "head"), g.HeadStride)
		if g.SequenceStride > 0 {
			expected += fmt.Sprintf(" and %s at SequenceStride %d", argument.Count(g.Sequences, "sequence"), g.SequenceStride)
		}
		switch {
		case v.HeadStride == 0 && v.TokenStride > 0 && v.Heads > 1:
			expected += "; HeadStride is 0, set it too if the heads of a token are not side by side"
		case v.TokenStride == 0 && v.HeadStride > 0:
			expected += "; TokenStride is 0, set it too"
		}
		return fail(argument.ErrOverlap, "TokenStride", g.TokenStride, "%s", expected)
	}
}

// noTokens says why a call may have none.
const noTokens = "its positions, deltas or ids are empty, or tokens is 0"

// heads says in errors how many heads a token has, and how long they are.
func (v *View[T]) heads(g *Grid) string {
	return argument.Count(v.Heads, "head") + " of " + elementsOf[T](g.Dim)
}

// elementsOf says how many elements a head has, and what an element is where that is not a number.
func elementsOf[T any](dim int) string {
	var zero T
	size := unsafe.Sizeof(zero)
	switch _, bytes := any(zero).(byte); {
	case bytes: // of records
		return argument.Count(dim, "byte")
	case size <= 4: // a number: none is longer than float32, and blocks are
		return strconv.Itoa(dim)
	}
	numbers := generic.Block
	if size == generic.NVFP4Bytes {
		numbers = generic.NVFP4Numbers
	}
	return fmt.Sprintf("%v (blocks of %d numbers)", argument.Elements(dim), numbers)
}

func (g *Grid) strides() string {
	s := fmt.Sprintf("TokenStride %d and HeadStride %d", g.TokenStride, g.HeadStride)
	if g.SequenceStride > 0 {
		return fmt.Sprintf("at SequenceStride %d, ", g.SequenceStride) + s
	}
	return "at " + s
}

// RoomText says in errors how many elements a view has, and how its tokens lie in them.
func (v *View[T]) RoomText(g *Grid) string {
	return fmt.Sprintf("%v, with %s %s", argument.Elements(len(v.Data)), v.heads(g), g.strides())
}

// Extent returns the elements up to the end of the last vector, unless they
// overflow an int. There is at least one vector.
func (g *Grid) Extent() (int, bool) {
	b, ok0 := argument.Multiply(g.Sequences-1, g.SequenceStride)
	t, ok1 := argument.Multiply(g.Tokens-1, g.TokenStride)
	h, ok2 := argument.Multiply(g.Heads-1, g.HeadStride)
	tokens := b + t // a sum of two that overflows is negative
	start := tokens + h
	sum := start + g.Dim
	return sum, ok0 && ok1 && ok2 && tokens >= 0 && start >= 0 && sum >= 0
}

// Room returns how many tokens such a grid may have in length elements: all of a
// sequence, or none.
func (g *Grid) Room(length int) int {
	one, stride := *g, g.SequenceStride // sequence or token
	one.Sequences = 1
	if stride == 0 {
		one.Tokens, stride = 1, g.TokenStride
	}
	need, ok := one.Extent()
	if !ok || need > length || one.SelfOverlaps() {
		return 0
	}
	fit := (length-need)/stride + 1
	for i := 1; i < fit && i*stride < need; i++ {
		if one.overlaps(&one, i*stride, false) {
			fit = i
		}
	}
	return fit * one.Tokens
}

// Check returns an error unless every view, an element of the argument xs, is a Grid
// and no two share an element.
func Check[T any](function string, xs []View[T], tokens, dim int) error {
	// Views without strides that fit, and apart, in one pass without a call: a call of Rotate
	// for one token has no time for more.
	vectors, ok := argument.Multiply(tokens, dim)
	if !ok || len(xs) == 0 {
		return check(function, xs, tokens, dim)
	}
	var zero T
	for i := range xs {
		v := &xs[i]
		above, need := bits.Mul(uint(v.Heads), uint(vectors))
		if v.Tokens|v.TokenStride|v.HeadStride|v.SequenceTokens|v.SequenceStride != 0 || v.Heads < 1 || above != 0 || need != uint(len(v.Data)) {
			return check(function, xs, tokens, dim)
		}
		start := uintptr(unsafe.Pointer(unsafe.SliceData(v.Data)))
		for j := range i {
			other := uintptr(unsafe.Pointer(unsafe.SliceData(xs[j].Data)))
			if other < start+uintptr(len(v.Data))*unsafe.Sizeof(zero) && start < other+uintptr(len(xs[j].Data))*unsafe.Sizeof(zero) {
				return check(function, xs, tokens, dim)
			}
		}
	}
	return nil
}

// NoViews is the error of a call without views, which does nothing.
func NoViews(function string) error {
	return argument.Error(argument.ErrShape, function, "xs", "empty", "at least one view")
}

// check is Check for any views.
func check[T any](function string, xs []View[T], tokens, dim int) error {
	var g Grid
	if len(xs) == 0 {
		return NoViews(function)
	}
	for i := range xs {
		if p := xs[i].Problem(&g, tokens, dim); p != None {
			return xs[i].Error(p, function, argument.Indexed("xs", i), &g)
		}
	}
	for i := range xs {
		for j := range i {
			if Overlap(&xs[j], &xs[i], tokens, tokens, dim) {
				return argument.Error(argument.ErrOverlap, function, argument.Indexed("xs", i), "sharing elements with "+argument.Indexed("xs", j), "views of different elements")
			}
		}
	}
	return nil
}
