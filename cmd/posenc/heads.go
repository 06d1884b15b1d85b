package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A dimension of an array of heads. heads*dim has the heads of a token side by side.
const (
	batchAxis  = "batch"
	tokensAxis = "tokens"
	headsAxis  = "heads"
	dimAxis    = "dim"
	packedAxis = "heads*dim"
)

// shape says what the dimensions of an array of heads are.
type shape struct {
	Axes []string `json:"axes"`
	Size []int    `json:"size"`

	headDim int // elements of a head in the array
}

func (s *shape) String() string {
	var b strings.Builder
	for i, axis := range s.Axes {
		fmt.Fprintf(&b, "[%s %d]", axis, s.Size[i])
	}
	return b.String()
}

// size of an axis, 1 where there is none.
func (s *shape) size(axis string) int {
	for i, name := range s.Axes {
		switch {
		case name == axis:
			return s.Size[i]
		case name == packedAxis && axis == headsAxis:
			return s.Size[i] / s.headDim
		case name == packedAxis && axis == dimAxis:
			return s.headDim
		}
	}
	return 1
}

// tokens are those of all sequences.
func (s *shape) tokens() int { return s.size(batchAxis) * s.size(tokensAxis) }

// parseShape reads "batch,heads,tokens,dim" or "tokens,heads*dim".
func parseShape(text string, size []int, headDim int) (*shape, error) {
	s := &shape{Axes: strings.Split(strings.ReplaceAll(text, " ", ""), ","), Size: size, headDim: headDim}
	seen := make(map[string]bool)
	for _, axis := range s.Axes {
		for part := range strings.SplitSeq(axis, "*") {
			if !slices.Contains([]string{batchAxis, tokensAxis, headsAxis, dimAxis}, part) || seen[part] || strings.Contains(axis, "*") && axis != packedAxis {
				return nil, fmt.Errorf("--shape %s: want batch, tokens, heads and dim in the order of the array, or heads*dim for both in one", text)
			}
			seen[part] = true
		}
	}
	switch {
	case !seen[dimAxis]:
		return nil, fmt.Errorf("--shape %s: want dim, the elements of a head", text)
	case len(s.Axes) != len(size):
		return nil, fmt.Errorf("--shape %s: %d dimensions of an array of shape %v", text, len(s.Axes), size)
	case slices.Contains(s.Axes, packedAxis) && s.Size[slices.Index(s.Axes, packedAxis)]%headDim != 0:
		return nil, fmt.Errorf("--shape %s: heads*dim is %d, no multiple of the %d elements of a head", text, s.Size[slices.Index(s.Axes, packedAxis)], headDim)
	case !slices.Contains(s.Axes, packedAxis):
		s.headDim = s.size(dimAxis)
	}
	return s, nil
}

// guessShape says what the dimensions may be: the last one has a head, of headDims elements, or several.
// Of two that may be tokens or heads, positions tells which, the number of positions in a sequence
// or in all; 0 is unknown. Where it does not tell, there are two shapes.
func guessShape(size, headDims []int, positions int) ([]*shape, error) {
	if len(size) == 0 {
		return nil, errors.New("one number: want an array of heads")
	}
	last := len(size) - 1
	s := &shape{Size: size, headDim: size[last]}
	packed := false
	if !slices.Contains(headDims, size[last]) {
		packed = true
		for _, d := range headDims {
			if size[last]%d != 0 || size[last] == 0 {
				continue
			}
			if s.headDim != size[last] {
				return nil, fmt.Errorf("shape %v: heads may have %v elements; say by --layer which layer it is of", size, headDims)
			}
			s.headDim = d
		}
		if s.headDim == size[last] {
			return nil, fmt.Errorf("shape %v: the last dimension is %d, want heads of %s elements", size, size[last], either(headDims))
		}
	}
	var orders [][]string
	switch n := last; {
	case packed && n <= 2:
		orders = [][]string{[]string{batchAxis, tokensAxis, packedAxis}[2-n:]}
	case !packed && n <= 1:
		orders = [][]string{[]string{tokensAxis, dimAxis}[1-n:]}
	case !packed && n == 2:
		orders = [][]string{{tokensAxis, headsAxis, dimAxis}, {headsAxis, tokensAxis, dimAxis}}
	case !packed && n == 3:
		orders = [][]string{{batchAxis, headsAxis, tokensAxis, dimAxis}, {batchAxis, tokensAxis, headsAxis, dimAxis}}
	default:
		return nil, fmt.Errorf("shape %v: want at most four dimensions, or three with heads*dim", size)
	}
	var all, fit []*shape
	for _, axes := range orders {
		one := &shape{Axes: axes, Size: size, headDim: s.headDim}
		all = append(all, one)
		if positions == one.size(tokensAxis) || positions == one.tokens() {
			fit = append(fit, one)
		}
	}
	if len(fit) > 0 {
		return fit, nil
	}
	if positions > 0 {
		return all[:1], nil // none has as many tokens: one to name in an error
	}
	return all, nil
}

// either names numbers: "64 or 128".
func either(numbers []int) string {
	var words []string
	for _, n := range numbers {
		words = append(words, fmt.Sprint(n))
	}
	return strings.Join(words, " or ")
}

// order returns values as [batch][tokens][heads][dim]: the same memory where they have that order.
func (s *shape) order(values []float32) []float32 {
	strides, stride := make(map[string]int), 1
	for i := len(s.Axes) - 1; i >= 0; i-- {
		if s.Axes[i] == packedAxis {
			strides[dimAxis], strides[headsAxis] = stride, stride*s.headDim
		} else {
			strides[s.Axes[i]] = stride
		}
		stride *= s.Size[i]
	}
	isOrdered := true
	stride = 1
	for _, axis := range []string{dimAxis, headsAxis, tokensAxis, batchAxis} {
		isOrdered = isOrdered && (s.size(axis) == 1 || strides[axis] == stride)
		stride *= s.size(axis)
	}
	if isOrdered {
		return values
	}
	ordered, step := make([]float32, 0, len(values)), strides[dimAxis]
	for b := range s.size(batchAxis) {
		for t := range s.size(tokensAxis) {
			for h := range s.size(headsAxis) {
				at := b*strides[batchAxis] + t*strides[tokensAxis] + h*strides[headsAxis]
				for d := range s.headDim {
					ordered = append(ordered, values[at+d*step])
				}
			}
		}
	}
	return ordered
}
