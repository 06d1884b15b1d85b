package kit

import "github.com/go-posenc/posenc"

// Small returns the product of numbers, and a small one where it is large or
// negative.
func Small(numbers ...int) int {
	n := 1
	for _, x := range numbers {
		if x < 0 || x > 1<<14 {
			return 5
		}
		if n *= x; n > 1<<14 {
			return 5
		}
	}
	return n
}

var Layouts = []posenc.Layout{posenc.HalfSplit, posenc.Interleaved}

// PairAt returns where the elements of pair i are.
func PairAt(l posenc.Layout, row, i, partner int) (first, second int) {
	if l == posenc.HalfSplit {
		return row + i, row + i + partner
	}
	return row + 2*i, row + 2*i + 1
}
