package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"
)

func TestGuessShape(t *testing.T) {
	for _, test := range []struct {
		size, headDims []int
		positions      int
		want           string
	}{
		{[]int{64}, []int{64}, 0, "[dim 64]"},
		{[]int{256}, []int{64}, 0, "[heads*dim 256]"},
		{[]int{12, 64}, []int{64}, 0, "[tokens 12][dim 64]"},
		{[]int{12, 256}, []int{64}, 0, "[tokens 12][heads*dim 256]"},
		{[]int{2, 12, 256}, []int{64}, 0, "[batch 2][tokens 12][heads*dim 256]"},
		{[]int{12, 4, 64}, []int{64}, 0, "[tokens 12][heads 4][dim 64] or [heads 12][tokens 4][dim 64]"},
		{[]int{12, 4, 64}, []int{64}, 12, "[tokens 12][heads 4][dim 64]"},
		{[]int{4, 12, 64}, []int{64}, 12, "[heads 4][tokens 12][dim 64]"},
		{[]int{4, 12, 64}, []int{64}, 7, "[tokens 4][heads 12][dim 64]"},
		{[]int{4, 4, 64}, []int{64}, 0, "[tokens 4][heads 4][dim 64] or [heads 4][tokens 4][dim 64]"},
		{[]int{1, 4, 12, 64}, []int{64}, 0, "[batch 1][heads 4][tokens 12][dim 64] or [batch 1][tokens 4][heads 12][dim 64]"},
		{[]int{1, 4, 12, 64}, []int{64}, 4, "[batch 1][tokens 4][heads 12][dim 64]"},
		{[]int{3, 4, 12, 64}, []int{64}, 36, "[batch 3][heads 4][tokens 12][dim 64]"},
		{[]int{12, 512}, []int{256, 512}, 0, "[tokens 12][dim 512]"},
		{[]int{12, 768}, []int{256, 512}, 0, "[tokens 12][heads*dim 768]"},
		// Errors.
		{nil, []int{64}, 0, "one number"},
		{[]int{12, 100}, []int{64, 128}, 0, "the last dimension is 100, want heads of 64 or 128 elements"},
		{[]int{12, 0}, []int{64}, 0, "the last dimension is 0"},
		{[]int{12, 1024}, []int{256, 512}, 0, "say by --layer"},
		{[]int{1, 1, 1, 1, 64}, []int{64}, 0, "at most four dimensions"},
		{[]int{1, 1, 1, 128}, []int{64}, 0, "at most four dimensions"},
	} {
		shapes, err := guessShape(test.size, test.headDims, test.positions)
		var words []string
		for _, s := range shapes {
			words = append(words, s.String())
		}
		got := strings.Join(words, " or ")
		if wrong := !strings.HasPrefix(test.want, "["); wrong != (err != nil) || wrong && !strings.Contains(err.Error(), test.want) || !wrong && got != test.want {
			t.Errorf("shape %v, heads of %v, %d positions: %s, error %v, want %s", test.size, test.headDims, test.positions, got, err, test.want)
		}
	}
}

// TestOrder: an element says where it lies, in every order of the dimensions.
func TestOrder(t *testing.T) {
	sizes := map[string]int{batchAxis: 2, tokensAxis: 3, headsAxis: 4, dimAxis: 5, packedAxis: 20}
	for _, text := range []string{
		"batch,tokens,heads,dim", "batch,heads,tokens,dim", "heads,batch,dim,tokens", "dim,heads,tokens,batch", "batch,tokens,heads*dim", "heads*dim,batch,tokens",
	} {
		axes := strings.Split(text, ",")
		var size []int
		total := 1
		for _, axis := range axes {
			size, total = append(size, sizes[axis]), total*sizes[axis]
		}
		values := make([]float32, total)
		for i := range values {
			// The coordinates of the element, by division from the last dimension on.
			at, rest := make(map[string]int), i
			for d := len(axes) - 1; d >= 0; d-- {
				at[axes[d]] = rest % size[d]
				rest /= size[d]
			}
			if packed, ok := at[packedAxis]; ok {
				at[headsAxis], at[dimAxis] = packed/5, packed%5
			}
			values[i] = float32(1000*at[batchAxis] + 100*at[tokensAxis] + 10*at[headsAxis] + at[dimAxis])
		}
		s := testkit.Must(parseShape(text, size, 5))
		var want []float32
		for b := range 2 {
			for token := range 3 {
				for h := range 4 {
					for d := range 5 {
						want = append(want, float32(1000*b+100*token+10*h+d))
					}
				}
			}
		}
		if got := s.order(values); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// FuzzShape: no flag and no shape makes it panic, and all elements are in their order once.
func FuzzShape(f *testing.F) {
	f.Add("batch,heads,tokens,dim", uint8(1), uint8(4), uint8(3), uint8(8), uint8(4), uint8(8), uint8(3))
	f.Add("tokens,heads*dim", uint8(3), uint8(8), uint8(0), uint8(0), uint8(2), uint8(4), uint8(3))
	f.Fuzz(func(t *testing.T, text string, a, b, c, d, dimensions, headDim, positions uint8) {
		size := []int{int(a % 8), int(b % 8), int(c % 8), int(d % 16)}[:dimensions%5]
		total := 1
		for _, n := range size {
			total *= n
		}
		values := make([]float32, total)
		for i := range values {
			values[i] = float32(i)
		}
		dim := 2 + int(headDim%8)
		flag, err1 := parseShape(text, size, dim)
		guess, err2 := guessShape(size, []int{dim}, int(positions))
		if err1 == nil {
			guess = append(guess, flag)
		}
		if err1 != nil && err2 != nil {
			return
		}
		for _, s := range guess {
			ordered := s.order(values)
			slices.Sort(ordered)
			if !slices.Equal(ordered, values) {
				t.Errorf("%v: %d elements of %d", s, len(ordered), len(values))
			}
			spread(make([]int32, positions), s, 3)
		}
	})
}

func FuzzPositions(f *testing.F) {
	f.Add("0-3,511/0,1,2,3,4")
	f.Add("2147483647")
	f.Fuzz(func(t *testing.T, text string) {
		axes, err := parsePositions(text)
		if err != nil || axes == nil {
			return
		}
		for _, list := range axes {
			if len(list) == 0 || len(list) != len(axes[0]) || len(list) > mostPositions || slices.Min(list) < 0 {
				t.Errorf("%q: %v", text, axes)
			}
		}
	})
}
