package kit

import (
	"slices"
	"sync"

	"github.com/go-posenc/posenc"
)

// concurrently calls f for each element from as many goroutines, and returns when all
// are done.
func concurrently[E any](list []E, f func(E)) {
	var done sync.WaitGroup
	done.Add(len(list))
	for _, e := range list {
		go func() {
			defer done.Done()
			f(e)
		}()
	}
	done.Wait()
}

// Pick returns the elements of s with the given numbers.
func Pick[E any](s []E, numbers []int) []E {
	taken := make([]E, len(numbers))
	for i, n := range numbers {
		taken[i] = s[n]
	}
	return taken
}

// PickAxes is Pick for [axes][tokens].
func PickAxes[E any](s []E, axes int, numbers []int) (taken []E) {
	tokens := len(s) / axes
	for axis := range axes {
		taken = append(taken, Pick(s[axis*tokens:][:tokens], numbers)...)
	}
	return taken
}

// dealt gives the tokens of a call to several, each of them a group.
func (c *Choices) dealt(tokens int, call func(tokens []int) error) (groups [][]func() error) {
	for _, part := range c.Deal(tokens) {
		groups = append(groups, []func() error{func() error { return call(part) }})
	}
	return groups
}

// ViewParts cuts work that is done in place to views of the same tokens: parts of the
// views themselves, or tokens that are taken to other memory and back. call does it for
// tokens of the whole, to the heads of view number i that lie in x. With whole all heads of
// a token stay together, and one after another.
func ViewParts[T posenc.Element](xs []posenc.View[T], tokens, dim int, whole bool, call func(i int, x posenc.View[T], tokens []int) error) func(c *Choices) [][]func() error {
	return func(c *Choices) (groups [][]func() error) {
		elsewhere := c.Below(2) == 1
		r := NewRand(uint64(c.Next()))
		for i := range xs {
			v := &xs[i]
			heads := []int{0, v.Heads}
			if !whole {
				heads = c.Cut(v.Heads)
			}
			for _, part := range c.Deal(tokens) {
				for j, first := range heads[:len(heads)-1] {
					n := heads[j+1] - first
					if elsewhere {
						groups = append(groups, []func() error{elsewhereCall(moved(r, v, part, first, n, dim, whole), v, part, first, dim, i, call)})
						continue
					}
					groups = append(groups, inPlaceCalls(v, part, first, n, dim, i, call))
				}
			}
		}
		return groups
	}
}

// inPlaceCalls returns a call for each run of tokens.
func inPlaceCalls[T posenc.Element](v *posenc.View[T], tokens []int, first, heads, dim, i int, call func(int, posenc.View[T], []int) error) (calls []func() error) {
	for rest := tokens; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n] == rest[0]+n && (v.SequenceStride == 0 || rest[n]%v.SequenceTokens > 0) {
			n++
		}
		run := rest[:n]
		x := posenc.View[T]{Heads: heads, TokenStride: v.TokenStride, HeadStride: v.HeadStride}
		if x.TokenStride == 0 {
			x.TokenStride = v.Heads * dim
		}
		x.Data = v.Data[RowAt(v, run[0], first, dim) : RowAt(v, run[n-1], first+heads-1, dim)+dim]
		calls = append(calls, func() error { return call(i, x, run) })
		rest = rest[n:]
	}
	return calls
}

// moved returns a view of any shape in memory of its own.
func moved[T posenc.Element](r interface{ Uint64() uint64 }, v *posenc.View[T], tokens []int, first, heads, dim int, whole bool) posenc.View[T] {
	random := NewRand(r.Uint64())
	for {
		x := RandomShape[T](random, len(tokens), heads, dim, Apart)
		if !whole || x.HeadStride == 0 || x.HeadStride == dim {
			misaligned := random.IntN(16)
			x.Data = RandomElements[T](random, misaligned+ReachOf(&x, len(tokens), dim))[misaligned:]
			return x
		}
	}
}

// elsewhereCall copies tokens to x, makes the call and copies them back.
func elsewhereCall[T posenc.Element](x posenc.View[T], v *posenc.View[T], tokens []int, first, dim, i int, call func(int, posenc.View[T], []int) error) func() error {
	each := func(move func(here, there []T)) {
		for j, token := range tokens {
			for h := range x.Heads {
				move(x.Data[RowAt(&x, j, h, dim):][:dim], v.Data[RowAt(v, token, first+h, dim):][:dim])
			}
		}
	}
	return func() error {
		each(func(here, there []T) { copy(here, there) })
		err := call(i, x, tokens)
		each(func(here, there []T) { copy(there, here) })
		return err
	}
}

// RowParts cuts work on the rows of slices, where row t of each belongs to token t and
// slice i has rows of widths[i]. call does it for tokens of the whole.
func RowParts[T any](xs [][]T, widths []int, tokens int, call func(x [][]T, tokens []int) error) func(c *Choices) [][]func() error {
	some := func(part []int) error {
		first, together := part[0], part[len(part)-1]-part[0] == len(part)-1
		x := make([][]T, len(xs))
		for i, width := range widths {
			if together {
				x[i] = xs[i][first*width:][:len(part)*width]
				continue
			}
			for _, token := range part {
				x[i] = append(x[i], xs[i][token*width:][:width]...)
			}
			x[i] = slices.Clip(x[i])
		}
		err := call(x, part)
		for i, width := range widths {
			for j, token := range part {
				if !together {
					copy(xs[i][token*width:][:width], x[i][j*width:])
				}
			}
		}
		return err
	}
	return func(c *Choices) [][]func() error { return c.dealt(tokens, some) }
}
