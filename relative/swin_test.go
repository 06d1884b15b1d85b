package relative_test

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
	"github.com/go-posenc/posenc/relative"
)

func mustSwinBias(t testing.TB, height, width int, table []float32) *relative.SwinBias {
	t.Helper()
	b, err := relative.NewSwinBias(height, width, table)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

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
		table := testkit.GoldenInputs(0, (2*c.Height-1)*(2*c.Width-1)*c.Heads)
		if err := relative.AddSwin(relative.Scores{Data: got, Heads: c.Heads, Queries: patches, Keys: patches}, mustSwinBias(t, c.Height, c.Width, table)); err != nil {
			t.Fatal(err)
		}
		if !testkit.SameSlices(got, c.Bias) {
			t.Errorf("%d by %d: biases differ", c.Height, c.Width)
		}
	}
}

// The coordinates and the index of transformers' Swin v2.
func TestSwinV2AgainstTransformers(t *testing.T) {
	var vectors struct {
		Cases []struct {
			Window, Pretrained [2]int
			Coordinates, Index float32s
		}
	}
	readGolden(t, "swinv2", &vectors)
	if len(vectors.Cases) != 5 {
		t.Fatalf("%d cases, want 5", len(vectors.Cases))
	}
	for _, c := range vectors.Cases {
		height, width := c.Window[0], c.Window[1]
		got := make([]float32, (2*height-1)*(2*width-1)*2)
		if err := relative.SwinCoordinates(got, relative.SwinWindow{Height: height, Width: width, PretrainedHeight: c.Pretrained[0], PretrainedWidth: c.Pretrained[1]}); err != nil {
			t.Fatal(err)
		}
		if len(c.Coordinates) != len(got) {
			t.Fatalf("%v: %d coordinates, want %d", c.Window, len(c.Coordinates), len(got))
		}
		for i, want := range c.Coordinates {
			// A logarithm below 16 of a number of two roundings, which float32 takes to
			// 2^-20, divided by 3, and a rounding below 4: 2^-20 together.
			if math.Abs(float64(got[i]-want)) > 0x1p-20 {
				t.Errorf("%v, pretrained %v: coordinate %d is %v, want %v", c.Window, c.Pretrained, i, got[i], want)
			}
		}
		if c.Index == nil {
			continue
		}
		table := make([]float32, len(got)/2) // of which each is its index
		for i := range table {
			table[i] = float32(i)
		}
		patches := height * width
		index := make([]float32, patches*patches)
		if err := relative.AddSwin(relative.Scores{Data: index, Heads: 1, Queries: patches, Keys: patches}, mustSwinBias(t, height, width, table)); err != nil {
			t.Fatal(err)
		}
		if !testkit.SameSlices(index, c.Index) {
			t.Errorf("%v: indexes differ", c.Window)
		}
	}
}

// All coordinates that there are, rounded from 300 bits.
func TestSwinCoordinates(t *testing.T) {
	logarithms := make([]*big.Float, 1+9*63)
	for i := range logarithms[1:] {
		logarithms[1+i] = testkit.RealLogarithm(testkit.RealOf(float64(1 + i)))
	}
	coordinate := func(distance, window int) float32 {
		x := testkit.NewReal().Sub(logarithms[8*max(distance, -distance)+window-1], logarithms[window-1])
		y, _ := x.Quo(x, testkit.NewReal().Mul(testkit.RealOf(3), logarithms[2])).Float32()
		if distance < 0 {
			return -y
		}
		return y
	}
	got := make([]float32, 127*127*2)
	for window := 2; window <= 64; window++ {
		if err := relative.SwinCoordinates(got, relative.SwinWindow{Height: 64, Width: 64, PretrainedHeight: window, PretrainedWidth: 66 - window}); err != nil {
			t.Fatal(err)
		}
		var rows, columns [127]float32
		for i := range rows {
			rows[i], columns[i] = coordinate(i-63, window), coordinate(i-63, 66-window)
		}
		for i, x := range got {
			want := rows[i/2/127]
			if i%2 == 1 {
				want = columns[i/2%127]
			}
			if math.Float32bits(x) != math.Float32bits(want) {
				t.Fatalf("windows of %d and %d: coordinate %d is %x, want %x", window, 66-window, i, x, want)
			}
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
	for _, window := range [][2]int{{7, 30}, {12, 12}, {2, 64}, {64, 2}} {
		height, width := window[0], window[1]
		table := make([]float32, (2*height-1)*(2*width-1)*heads)
		testkit.FillRandom(testkit.NewRand(110), table)
		bias := mustSwinBias(t, height, width, table)
		eachScores(t, 111, heads, 0, height*width, swinScores(height, width, heads, table), func(s relative.Scores) error {
			return relative.AddSwin(s, bias)
		})
	}
}

// Windows whose columns take several calls of a kernel.
func TestAddSwinLarge(t *testing.T) {
	const height, width, heads = 40, 32, 2
	table := make([]float32, (2*height-1)*(2*width-1)*heads)
	testkit.FillRandom(testkit.NewRand(112), table)
	bias := mustSwinBias(t, height, width, table)
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(113)
		s := relative.Scores{Heads: heads, Queries: 700, Keys: height * width, FirstQuery: 500}
		s.Data = make([]float32, s.Heads*s.Queries*s.Keys)
		testkit.FillRandom(r, s.Data)
		checkScores(t, r, s, 0, s.Data, swinScores(height, width, heads, table), func(s relative.Scores) error {
			return relative.AddSwin(s, bias)
		})
	})
}

func TestSwinErrors(t *testing.T) {
	data := make([]float32, 100)
	scores := relative.Scores{Data: data[:12], Heads: 2, Queries: 2, Keys: 3}
	at := func(query, key int) relative.Scores {
		s := scores
		s.FirstQuery, s.FirstKey = query, key
		return s
	}
	bias := mustSwinBias(t, 2, 3, data[12:42]) // 2 heads
	prepare := func(height, width int, table []float32) error {
		_, err := relative.NewSwinBias(height, width, table)
		return err
	}
	for _, tt := range []struct {
		err  error
		kind error
		says string
	}{
		{prepare(0, 3, data), posenc.ErrShape, "NewSwinBias: height is 0"},
		{prepare(math.MaxInt, 3, data), posenc.ErrShape, "height is"},
		{prepare(2, -1, data), posenc.ErrShape, "width is -1"},
		{prepare(2, 65, data), posenc.ErrShape, "width is 65"},
		{prepare(2, 3, data[:29]), posenc.ErrLength, "table is 29 elements, want a multiple of (2*height-1)*(2*width-1) = 15"},
		{prepare(2, 3, nil), posenc.ErrLength, "table is 0 elements"},
		{relative.SwinCoordinates(data[:30], relative.SwinWindow{Height: 0, Width: 3}), posenc.ErrShape, "SwinCoordinates: window.Height is 0"},
		{relative.SwinCoordinates(data[:30], relative.SwinWindow{Height: 2, Width: 65}), posenc.ErrShape, "window.Width is 65"},
		{relative.SwinCoordinates(data[:30], relative.SwinWindow{Height: 2, Width: 3, PretrainedHeight: 1}), posenc.ErrShape, "window.PretrainedHeight is 1, want 0 or from 2 to 64"},
		{relative.SwinCoordinates(data[:30], relative.SwinWindow{Height: 2, Width: 3, PretrainedWidth: 65}), posenc.ErrShape, "window.PretrainedWidth is 65"},
		{relative.SwinCoordinates(data[:29], relative.SwinWindow{Height: 2, Width: 3}), posenc.ErrLength, "dst is 29 elements, want (2*Height-1)*(2*Width-1)*2 = 30"},
		{relative.AddSwin(scores, nil), posenc.ErrConfig, "AddSwin: bias is nil or zero"},
		{relative.AddSwin(scores, &relative.SwinBias{}), posenc.ErrConfig, "bias is nil or zero"},
		{relative.AddSwin(scores, mustSwinBias(t, 2, 3, data[:15])), posenc.ErrShape, "scores.Heads is 2, want at most 1, the heads of the model"},
		{relative.AddSwin(at(5, 0), bias), posenc.ErrPosition, "scores.FirstQuery is 5, want from 0 to 4"},
		{relative.AddSwin(at(-1, 0), bias), posenc.ErrPosition, "scores.FirstQuery is -1"},
		{relative.AddSwin(at(0, 4), bias), posenc.ErrPosition, "scores.FirstKey is 4, want from 0 to 3"},
		{relative.AddSwin(at(0, -1), bias), posenc.ErrPosition, "scores.FirstKey is -1"},
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
	bias := mustSwinBias(t, 2, 2, make([]float32, 18))
	checkAllocations(t, map[string]func(){
		"SwinCoordinates": func() {
			var data [18]float32
			relative.SwinCoordinates(data[:], relative.SwinWindow{Height: 2, Width: 2, PretrainedWidth: 8})
		},
		"AddSwin": func() {
			var data [32]float32
			relative.AddSwin(relative.Scores{Data: data[:], Heads: 2, Queries: 4, Keys: 4}, bias)
		},
	})
}
