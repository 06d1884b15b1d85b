package kit

import (
	"math"
	"slices"
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

// stride returns a small number, often a multiple of dim, sometimes one that
// no memory holds or a negative one.
func (c *Choices) stride(dim int) int {
	switch kind, n := c.Below(16), c.Next(); kind {
	case 0, 1:
		return []int{-1, math.MinInt, math.MaxInt, math.MaxInt/2 + 1, math.MaxInt / 2}[n%5]
	case 2, 3, 4:
		return n
	case 5, 6:
		return 0
	default:
		return n % 40 * dim
	}
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
