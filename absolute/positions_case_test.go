package absolute_test

import (
	"math"

	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/internal/testkit"
)

var (
	_ = testkit.Register(testkit.Case{Function: "PaddedPositions",
		Call: paddedPositionsCall,
		Digests: func(add testkit.AddDigest) {
			add("PaddedPositions", func(d *testkit.Digest) {
				positions := make([]int32, 50)
				d.Must(absolute.PaddedPositions(positions, digestMask(d, 50), 1))
				d.Add(positions)
			})
		},
	})
	_ = testkit.Register(testkit.Case{Function: "DETRPositions",
		Call: detrPositionsCall,
		Digests: func(add testkit.AddDigest) {
			add("DETRPositions", func(d *testkit.Digest) {
				for _, scale := range []float64{0, 2 * math.Pi} {
					for _, offset := range []float64{0, 0.5} {
						for _, mask := range [][]bool{nil, digestMask(d, 9*13)} {
							positions := make([]float32, 2*9*13)
							d.Must(absolute.DETRPositions(positions, mask, absolute.DETRPositionsOptions{Height: 9, Width: 13, NormalizeTo: scale, Offset: offset}))
							d.Add(positions)
						}
					}
				}
			})
		},
	})
)

func paddedPositionsCall(a *testkit.Arguments) testkit.Call {
	tokens := a.Tokens()
	mask, positions := maskOf(a, tokens), testkit.Output[int32](a, tokens)
	padding := int32(a.Number(-1, 2))
	if a.Below(8) == 0 {
		padding = math.MaxInt32 - int32(tokens)
	}
	if a.Rarely() {
		padding += int32(a.Below(3))
	}
	return testkit.Call{
		Run: func() error { return absolute.PaddedPositions(positions, mask, padding) },
		Right: func() bool {
			return len(positions) == len(mask) && int64(padding)+int64(len(mask)) <= math.MaxInt32 && !testkit.Share(positions, mask)
		},
		Want: func() {
			for t := range positions {
				positions[t] = padding
				if mask[t] {
					for _, there := range mask[:t+1] {
						if there {
							positions[t]++
						}
					}
				}
			}
		},
	}
}

func detrPositionsCall(a *testkit.Arguments) testkit.Call {
	o := absolute.DETRPositionsOptions{Height: a.Number(1, 12), Width: a.Number(1, 12)}
	o.NormalizeTo = []float64{0, 2 * math.Pi, 1, math.MaxFloat32}[a.Below(4)]
	o.Offset = []float64{0, 0.5, 1, 0.1}[a.Below(4)]
	if a.Any() {
		o.NormalizeTo, o.Offset = a.Real(o.NormalizeTo), a.Real(o.Offset)
	}
	pixels := testkit.Small(o.Height, o.Width)
	var mask []bool
	if a.Yes() {
		mask = maskOf(a, pixels)
	}
	positions := testkit.Output[float32](a, 2*pixels)
	return testkit.Call{
		Run: func() error { return absolute.DETRPositions(positions, mask, o) },
		Right: func() bool {
			scale := float64(float32(o.NormalizeTo))
			return o.Height > 0 && o.Height <= 1<<24 && o.Width > 0 && o.Width <= 1<<24 && float64(len(positions)) == 2*float64(o.Height)*float64(o.Width) &&
				(mask == nil || 2*len(mask) == len(positions)) && !testkit.Share(positions, mask) &&
				(o.NormalizeTo == 0 || scale > 0 && scale <= math.MaxFloat32) && o.Offset >= 0 && o.Offset <= 1
		},
		Want: func() {
			for i := range positions {
				positions[i] = plainDETRPosition(mask, o, i)
			}
		},
	}
}

// plainDETRPosition returns y of pixel i, or x where i is above the pixels.
func plainDETRPosition(mask []bool, o absolute.DETRPositionsOptions, i int) float32 {
	// count is the pixels that are there, up to rows above a pixel and up to columns before
	// it.
	count := func(row, column, rows, columns int) (n float32) {
		for i := range rows + 1 {
			for j := range columns + 1 {
				if at := (row-i)*o.Width + column - j; mask == nil || mask[at] {
					n++
				}
			}
		}
		return n
	}
	pixels := o.Height * o.Width
	row, column := i%pixels/o.Width, i%pixels%o.Width
	p, last := count(row, column, row, 0), count(o.Height-1, column, o.Height-1, 0)
	if i >= pixels {
		p, last = count(row, column, 0, column), count(row, o.Width-1, 0, o.Width-1)
	}
	p -= float32(o.Offset)
	if o.NormalizeTo == 0 {
		return p
	}
	return float32(p/(last+float32(1e-6))) * float32(o.NormalizeTo)
}

// digestMask returns n truths, most of them true.
func digestMask(d *testkit.Digest, n int) []bool {
	mask := make([]bool, n)
	for i := range mask {
		mask[i] = d.Below(4) > 0
	}
	return mask
}
