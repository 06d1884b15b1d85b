package relative_test

import (
	"cmp"
	"math"
	"math/big"
	"sync"
	"testing"

	"github.com/go-posenc/posenc/internal/test/exhaustive"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/relative"
)

func mustSwinBias(height, width int, table []float32) *relative.SwinBias {
	return kit.Must(relative.NewSwinBias(relative.SwinWindow{Height: height, Width: width}, table))
}

// The biases of transformers' Swin, of square windows and others.
func TestSwinAgainstTransformers(t *testing.T) {
	for _, c := range kit.ReadCases[struct {
		Height, Width, Heads int
		Bias                 float32s
	}](t, "testdata/swin.json", 4) {
		patches := c.Height * c.Width
		got := make([]float32, c.Heads*patches*patches)
		table := kit.GoldenInputs(0, (2*c.Height-1)*(2*c.Width-1)*c.Heads)
		kit.NoError(t, relative.AddSwin(relative.Scores{Data: got, Heads: c.Heads, Queries: patches, Keys: patches}, mustSwinBias(c.Height, c.Width, table)))
		if !kit.SameSlices(got, c.Bias) {
			t.Errorf("%d by %d: biases differ", c.Height, c.Width)
		}
	}
}

// The coordinates and the index of transformers' Swin v2.
func TestSwinV2AgainstTransformers(t *testing.T) {
	for _, c := range kit.ReadCases[struct {
		Window, Pretrained [2]int
		Coordinates, Index float32s
	}](t, "testdata/swinv2.json", 5) {
		height, width := c.Window[0], c.Window[1]
		got := make([]float32, (2*height-1)*(2*width-1)*2)
		kit.NoError(t, relative.SwinCoordinates(got, relative.SwinWindow{Height: height, Width: width}, relative.SwinWindow{Height: c.Pretrained[0], Width: c.Pretrained[1]}))
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
		kit.NoError(t, relative.AddSwin(relative.Scores{Data: index, Heads: 1, Queries: patches, Keys: patches}, mustSwinBias(height, width, table)))
		if !kit.SameSlices(index, c.Index) {
			t.Errorf("%v: indexes differ", c.Window)
		}
	}
}

// logarithms are those of whole numbers.
var logarithms = sync.OnceValue(func() []*big.Float {
	list := make([]*big.Float, 1+9*63)
	for i := range list[1:] {
		list[1+i] = exhaustive.RealLogarithm(exhaustive.RealOf(float64(1 + i)))
	}
	return list
})

// coordinate is that of patches at a distance in a window, rounded from 300 bits.
func coordinate(distance, window int) float32 {
	if distance == 0 {
		return 0
	}
	x := exhaustive.NewReal().Sub(logarithms()[8*max(distance, -distance)+window-1], logarithms()[window-1])
	y, _ := x.Quo(x, exhaustive.NewReal().Mul(exhaustive.RealOf(3), logarithms()[2])).Float32()
	if distance < 0 {
		return -y
	}
	return y
}

// All coordinates that there are.
func TestSwinCoordinates(t *testing.T) {
	got := make([]float32, 127*127*2)
	for window := 2; window <= 64; window++ {
		kit.NoError(t, relative.SwinCoordinates(got, relative.SwinWindow{Height: 64, Width: 64}, relative.SwinWindow{Height: window, Width: 66 - window}))
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

func digestSwin(d *kit.Digest) {
	for _, window := range [][2]int{{1, 1}, {7, 7}, {5, 12}} {
		height, width := window[0], window[1]
		bias, err := relative.NewSwinBias(relative.SwinWindow{Height: height, Width: width}, kit.DigestElements[float32](d, (2*height-1)*(2*width-1)*4))
		d.Must(err)
		n := height * width
		for shape := range 3 {
			s := digestTile(d, shape, 1+d.Below(n), 1+d.Below(n))
			s.FirstQuery, s.FirstKey = d.Below(n-s.Queries+1), d.Below(n-s.Keys+1)
			d.Must(relative.AddSwin(s.Scores, bias))
			d.Add(s.memory)
		}
	}
}

var (
	_ = kit.Register(kit.Case{
		Function: "NewSwinBias",
		Call: func(a *kit.Arguments) kit.Call {
			height, width := a.Number(1, 9), a.Number(1, 9)
			biases := max(2*kit.Small(height)-1, 0) * max(2*kit.Small(width)-1, 0)
			table := kit.Slice[float32](a, kit.Small(5, biases))
			return kit.Call{
				Run: func() error {
					return kit.Made(relative.NewSwinBias(relative.SwinWindow{Height: height, Width: width}, table))
				},
				Right: func() bool {
					return height >= 1 && height <= 64 && width >= 1 && width <= 64 && len(table) > 0 && len(table)%biases == 0
				},
				Allocates: kit.Constructed,
			}
		},
		Digests: func(add kit.AddDigest) { add("NewSwinBias", digestSwin) },
	})
	_ = kit.Register(kit.Case{
		Function: "SwinCoordinates",
		Call: func(a *kit.Arguments) kit.Call {
			w, p := relative.SwinWindow{Height: a.Number(1, 12), Width: a.Number(1, 12)}, relative.SwinWindow{}
			if a.Yes() {
				p.Height = a.Number(2, 64)
			}
			if a.Yes() {
				p.Width = a.Number(2, 64)
			}
			rows, columns := max(2*kit.Small(w.Height)-1, 0), max(2*kit.Small(w.Width)-1, 0)
			dst := kit.Output[float32](a, kit.Small(2, rows, columns))
			pretrained := func(n int) bool { return n == 0 || n >= 2 && n <= 64 }
			return kit.Call{
				Run: func() error { return relative.SwinCoordinates(dst, w, p) },
				Want: func() {
					for i := range dst {
						distance, window := i/2/columns-w.Height+1, cmp.Or(p.Height, w.Height)
						if i%2 == 1 {
							distance, window = i/2%columns-w.Width+1, cmp.Or(p.Width, w.Width)
						}
						dst[i] = coordinate(distance, window)
					}
				},
				Right: func() bool {
					return w.Height >= 1 && w.Height <= 64 && w.Width >= 1 && w.Width <= 64 && pretrained(p.Height) && pretrained(p.Width) && len(dst) == 2*rows*columns
				},
			}
		},
		Digests: func(add kit.AddDigest) {
			add("SwinCoordinates", func(d *kit.Digest) {
				for _, pretrained := range []int{0, 2, 12, 64} {
					dst := make([]float32, 23*29*2)
					d.Must(relative.SwinCoordinates(dst, relative.SwinWindow{Height: 12, Width: 15}, relative.SwinWindow{Height: pretrained, Width: pretrained}))
					d.Add(dst)
				}
			})
		},
	})
	_ = kit.Register(kit.Case{
		Function: "AddSwin",
		Call: func(a *kit.Arguments) kit.Call {
			const heads = 4
			window := [...][2]int{{1, 1}, {7, 7}, {7, 30}, {2, 64}, {64, 2}, {40, 32}}[a.Below(6)]
			height, width := window[0], window[1]
			if a.Any() {
				height, width = 1+a.Below(9), 1+a.Below(9)
			}
			s := outputScores(a, heads, height*width)
			table := kit.RandomElements[float32](a.R, heads*(2*height-1)*(2*width-1))
			bias, err := relative.NewSwinBias(relative.SwinWindow{Height: height, Width: width}, table)
			switch {
			case err != nil:
				panic(err)
			case a.Rarely():
				bias = nil
			case a.Rarely():
				bias = new(relative.SwinBias)
			}
			return scoresCall(s, func(s relative.Scores) error { return relative.AddSwin(s, bias) }, func(score float32, head, query, key int) float32 {
				query, key = s.FirstQuery+query, s.FirstKey+key
				rows, columns := query/width-key/width, query%width-key%width
				return score + table[((rows+height-1)*(2*width-1)+columns+width-1)*heads+s.FirstHead+head]
			})
		},
		Digests: func(add kit.AddDigest) { add("AddSwin", digestSwin) },
	})
)

var (
	swinOfTwoHeads = mustSwinBias(2, 2, make([]float32, 3*3*2))
	largeSwin      = mustSwinBias(32, 32, make([]float32, 63*63))
)
