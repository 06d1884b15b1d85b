package kit

import (
	"slices"

	"github.com/go-posenc/posenc/kernels"
)

// lengths brackets every lane count of the kernels and the width of a block.
var lengths = []int{1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129}

// TokenCounts brackets the rows of a chunk and of a seed.
var TokenCounts = []int{1, 2, 3, 7, 8, 9, 33}

var HeadCounts = []int{1, 2, 3, 8}

// BlockLengths are numbers of frequencies up to the width of a block.
var BlockLengths = slices.DeleteFunc(slices.Clone(lengths), func(n int) bool { return n > kernels.Width })
