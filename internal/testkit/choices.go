package testkit

import (
	"math"
	"slices"

	"github.com/go-posenc/posenc"
)

// Choices is bytes of a fuzzer that decide one thing after another.
type Choices []byte

func (c *Choices) Next() int {
	if len(*c) == 0 {
		return 0
	}
	b := (*c)[0]
	*c = (*c)[1:]
	return int(b)
}

// Below returns a number from 0 to n-1.
func (c *Choices) Below(n int) int { return c.Next() % n }

// Stride returns a small number, sometimes a multiple of dim, sometimes one that
// no memory holds or a negative one.
func (c *Choices) Stride(dim int) int {
	switch kind, n := c.Below(16), c.Next(); kind {
	case 0:
		return []int{-1, math.MinInt, math.MaxInt, math.MaxInt/2 + 1, math.MaxInt / 2}[n%5]
	case 1, 2, 3, 4:
		return n
	case 5, 6:
		return 0
	default:
		return n % 40 * dim
	}
}

// Allowed reports whether a view whose data has so many elements is right for
// so many tokens.
func Allowed[T Stored](v *posenc.View[T], tokens, dim, length int) bool {
	switch {
	case v.Heads < 1 || v.TokenStride < 0 || v.HeadStride < 0 || v.SequenceStride < 0:
		return false
	case v.SequenceStride == 0 && v.SequenceTokens != 0:
		return false
	case v.SequenceStride > 0 && (v.SequenceTokens < 1 || tokens%v.SequenceTokens != 0):
		return false
	case tokens == 0:
		return length == 0 || v.TokenStride != 0 || v.HeadStride != 0 || v.SequenceStride != 0
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
	return v.TokenStride != 0 || v.HeadStride != 0 || v.SequenceStride != 0 || length == len(touched)
}

// Cut returns where pieces of n begin, and n.
func (c *Choices) Cut(n int) []int {
	most := 1 + c.Below(max(1, n))
	at := []int{0}
	for last := 0; last < n; at = append(at, last) {
		last = min(n, last+1+c.Below(most))
	}
	return at
}

// Deal gives each of n tokens, in order, to one of several calls.
func (c *Choices) Deal(n int) (parts [][]int) {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	ranges := func(at []int) {
		for i, first := range at[:len(at)-1] {
			parts = append(parts, all[first:at[i+1]])
		}
	}
	shards := 1 + c.Below(5)
	switch c.Below(5) {
	case 0: // anywhere
		ranges(c.Cut(n))
	case 1: // prefill, then decode
		prefill := n - min(n, c.Below(10))
		ranges([]int{0, prefill})
		for i := prefill; i < n; i++ {
			ranges([]int{i, i + 1})
		}
	case 2: // context parallel: as many to each
		for s := range shards {
			parts = append(parts, all[n*s/shards:n*(s+1)/shards])
		}
	case 3: // ring attention, zigzag: a piece from the front and one from the back
		for s := range shards {
			back := 2*shards - 1 - s
			part := slices.Clone(all[n*s/(2*shards) : n*(s+1)/(2*shards)])
			parts = append(parts, append(part, all[n*back/(2*shards):n*(back+1)/(2*shards)]...))
		}
	case 4: // ring attention, striped
		parts = make([][]int, shards)
		for i := range all {
			parts[i%shards] = append(parts[i%shards], i)
		}
	}
	return slices.DeleteFunc(parts, func(part []int) bool { return len(part) == 0 })
}

// chosenView returns a view of any shape whose data starts at an element of memory and
// holds what its rows need, or a little less or more.
func chosenView[T Stored](c *Choices, tokens, dim int) (v posenc.View[T], start, length int) {
	v.Heads = c.Below(6)
	v.TokenStride, v.HeadStride = c.Stride(dim), c.Stride(dim)
	if c.Below(3) == 0 {
		v.SequenceTokens, v.SequenceStride = c.Below(9)-1, c.Stride(dim)
	}
	start = c.Next()
	if small := 1 << 12; v.TokenStride >= 0 && v.HeadStride >= 0 && v.SequenceStride >= 0 && max(v.TokenStride, v.HeadStride, v.SequenceStride) < small && (v.SequenceStride == 0 || v.SequenceTokens > 0) {
		length = ReachOf(&v, tokens, dim)
	}
	length = max(0, length+[]int{0, 0, 0, 0, -1, 1, 7}[c.Below(7)])
	return v, start, length
}
