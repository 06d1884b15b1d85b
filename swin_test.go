package posenc

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/kernels"
)

// The biases of transformers' Swin, of square windows and others.
func TestSwinAgainstTransformers(t *testing.T) {
	var vectors struct {
		Cases []struct {
			Height, Width, Heads int
			Bias                 float32s
		}
	}
	readGolden(t, "swin", &vectors)
	if len(vectors.Cases) != 4 {
		t.Fatalf("%d cases, want 4", len(vectors.Cases))
	}
	for _, c := range vectors.Cases {
		patches := c.Height * c.Width
		got := make([]float32, c.Heads*patches*patches)
		table := goldenInputs(0, (2*c.Height-1)*(2*c.Width-1)*c.Heads)
		if err := AddSwin(Scores{Data: got, Heads: c.Heads, Queries: patches, Keys: patches}, c.Height, c.Width, table); err != nil {
			t.Fatal(err)
		}
		if !sameSlices(got, c.Bias) {
			t.Errorf("%d by %d: biases differ", c.Height, c.Width)
		}
	}
}

func swinScores(height, width, heads int, table []float32) scoreFunction {
	return func(score float32, head, query, key int) float32 {
		rows, columns := query/width-key/width, query%width-key%width
		return score + table[((rows+height-1)*(2*width-1)+columns+width-1)*heads+head]
	}
}

func TestAddSwin(t *testing.T) {
	const heads = 4
	for _, window := range [][2]int{{7, 30}, {12, 12}, {1, 144}, {144, 1}} {
		height, width := window[0], window[1]
		table := make([]float32, (2*height-1)*(2*width-1)*heads)
		fillRandom(newRand(110), table)
		eachScores(t, 111, heads, 0, height*width, swinScores(height, width, heads, table), func(s Scores) error {
			return AddSwin(s, height, width, table)
		})
	}
}

// Windows larger than a block.
func TestAddSwinLarge(t *testing.T) {
	const height, width, heads = 40, 32, 2
	table := make([]float32, (2*height-1)*(2*width-1)*heads)
	fillRandom(newRand(112), table)
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := newRand(113)
		s := Scores{Heads: heads, Queries: 30, Keys: height * width, FirstQuery: 500}
		s.Data = make([]float32, s.Heads*s.Queries*s.Keys)
		fillRandom(r, s.Data)
		checkScores(t, r, s, 0, s.Data, swinScores(height, width, heads, table), func(s Scores) error {
			return AddSwin(s, height, width, table)
		})
	})
}

func TestSwinErrors(t *testing.T) {
	data := make([]float32, 100)
	scores := Scores{Data: data[:12], Heads: 2, Queries: 2, Keys: 3}
	at := func(query, key int) Scores {
		s := scores
		s.FirstQuery, s.FirstKey = query, key
		return s
	}
	table := data[12:42] // of 2 by 3 patches, 2 heads
	for _, tt := range []struct {
		err  error
		kind error
		says string
	}{
		{AddSwin(scores, 0, 3, table), ErrShape, "AddSwin: height is 0"},
		{AddSwin(scores, math.MaxInt, 3, table), ErrShape, "height is"},
		{AddSwin(scores, 2, -1, table), ErrShape, "width is -1"},
		{AddSwin(scores, 2, 4097, table), ErrShape, "width is 4097"},
		{AddSwin(scores, 2, 3, data[12:41]), ErrLength, "table is 29 elements, want a multiple of (2*height-1)*(2*width-1) = 15"},
		{AddSwin(scores, 2, 3, data[12:27]), ErrShape, "for 2 of 1 heads"},
		{AddSwin(scores, 2, 3, data[11:41]), ErrOverlap, "table is sharing elements"},
		{AddSwin(at(5, 0), 2, 3, table), ErrPosition, "scores.FirstQuery is 5, want from 0 to 4"},
		{AddSwin(at(-1, 0), 2, 3, table), ErrPosition, "scores.FirstQuery is -1"},
		{AddSwin(at(0, 4), 2, 3, table), ErrPosition, "scores.FirstKey is 4, want from 0 to 3"},
		{AddSwin(at(0, -1), 2, 3, table), ErrPosition, "scores.FirstKey is -1"},
	} {
		if !errors.Is(tt.err, tt.kind) || !strings.Contains(tt.err.Error(), tt.says) {
			t.Errorf("got %q, want %q and that it says %q", tt.err, tt.kind, tt.says)
		}
	}
	for _, x := range data {
		if x != 0 {
			t.Fatal("an error came after a write")
		}
	}
}

func TestSwinAllocates(t *testing.T) {
	checkAllocations(t, map[string]func(){
		"AddSwin": func() {
			var data [32]float32
			var table [18]float32
			AddSwin(Scores{Data: data[:], Heads: 2, Queries: 4, Keys: 4}, 2, 2, table[:])
		},
	})
}
