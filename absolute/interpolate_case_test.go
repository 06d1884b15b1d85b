package absolute_test

import (
	"math"
	"math/big"

	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/internal/testkit"
)

var (
	_ = testkit.Register(testkit.Case{Function: "InterpolateTable",
		Call: func(a *testkit.Arguments) testkit.Call {
			dim, rows, srcRows := a.Number(1, 9), a.Number(1, 20), a.Number(1, 20)
			src, dst := testkit.Slice[float32](a, testkit.Small(dim, srcRows)), testkit.Output[float32](a, testkit.Small(dim, rows))
			return testkit.Call{
				Run: func() error { return absolute.InterpolateTable(dst, src, dim) },
				Right: func() bool {
					return dim >= 1 && len(src) > 0 && len(src)%dim == 0 && len(dst) > 0 && len(dst)%dim == 0 && !testkit.Share(dst, src)
				},
				Want: func() { interpolateTablePlain(dst, src, dim) },
			}
		},
		Digests: func(add testkit.AddDigest) {
			add("InterpolateTable", func(d *testkit.Digest) {
				for _, shape := range [][2]int{{7, 19}, {19, 7}, {5, 5}, {1, 3}} {
					dst := make([]float32, shape[1]*12)
					d.Must(absolute.InterpolateTable(dst, testkit.DigestNumbers[float32](d, shape[0]*12), 12))
					d.Add(dst)
				}
			})
		},
	})
	_ = testkit.Register(testkit.Case{Function: "InterpolateGrid",
		Call: func(a *testkit.Arguments) testkit.Call {
			o := gridOptions(a)
			src, dst := testkit.Slice[float32](a, testkit.Small(o.Dim, o.SrcHeight, o.SrcWidth)), testkit.Output[float32](a, testkit.Small(o.Dim, o.DstHeight, o.DstWidth))
			call := testkit.Call{
				Run:       func() error { return absolute.InterpolateGrid(dst, src, o) },
				Right:     func() bool { return gridRight(dst, src, o) },
				Allocates: 1 << 16, // the weights
			}
			if !o.Float32 { // which has golden vectors
				call.Want = func() { interpolateGridPlain(dst, src, o) }
			}
			return call
		},
		Digests: func(add testkit.AddDigest) {
			add("InterpolateGrid", func(d *testkit.Digest) {
				digestGrids(d, absolute.InterpolateGridOptions{}, absolute.InterpolateGridOptions{Antialias: true})
			})
			add("InterpolateGrid/bilinear", func(d *testkit.Digest) {
				digestGrids(d, absolute.InterpolateGridOptions{Bilinear: true}, absolute.InterpolateGridOptions{Bilinear: true, AlignCorners: true},
					absolute.InterpolateGridOptions{Bilinear: true, ZeroPadding: true})
			})
			add("InterpolateGrid/merged", func(d *testkit.Digest) {
				dst := make([]float32, 6*8*3)
				d.Must(absolute.InterpolateGrid(dst, testkit.DigestNumbers[float32](d, 5*4*3),
					absolute.InterpolateGridOptions{SrcHeight: 5, SrcWidth: 4, DstHeight: 6, DstWidth: 8, Dim: 3, Bilinear: true, AlignCorners: true, MergeSize: 2}))
				d.Add(dst)
			})
			add("InterpolateGrid/float32", func(d *testkit.Digest) {
				digestGrids(d, absolute.InterpolateGridOptions{Float32: true, ZeroPadding: true}, absolute.InterpolateGridOptions{Float32: true, Bilinear: true, AlignCorners: true})
			})
		},
	})
	_ = testkit.Register(testkit.Case{Function: "GridWeights",
		Call: func(a *testkit.Arguments) testkit.Call {
			o := gridOptions(a)
			o.Antialias = a.Rarely()
			taps := testkit.Small(gridTaps(o), o.DstHeight, o.DstWidth)
			indices, weights := testkit.Output[int32](a, taps), testkit.Output[float32](a, taps)
			call := testkit.Call{
				Run: func() error { return absolute.GridWeights(indices, weights, o) },
				Right: func() bool {
					return gridOptionsRight(o) && !o.Antialias && float64(o.SrcHeight)*float64(o.SrcWidth) < 1<<31 &&
						float64(len(indices)) == float64(o.DstHeight)*float64(o.DstWidth)*float64(gridTaps(o)) && len(weights) == len(indices) && !testkit.Share(indices, weights)
				},
			}
			if !o.Float32 {
				call.Want = func() { gridWeightsPlain(indices, weights, o) }
			}
			return call
		},
		Digests: func(add testkit.AddDigest) {
			add("GridWeights", func(d *testkit.Digest) {
				for _, o := range []absolute.InterpolateGridOptions{{}, {Bilinear: true}, {Float32: true}, {Bilinear: true, Float32: true}} {
					o.DstHeight, o.DstWidth, o.SrcHeight, o.SrcWidth = 9, 4, 5, 7
					indices, weights := make([]int32, 36*gridTaps(o)), make([]float32, 36*gridTaps(o))
					d.Must(absolute.GridWeights(indices, weights, o))
					d.Add(indices)
					d.Add(weights)
				}
			})
		},
	})
)

// gridOptions are sizes and a method, rarely wrong ones.
func gridOptions(a *testkit.Arguments) absolute.InterpolateGridOptions {
	o := absolute.InterpolateGridOptions{DstHeight: a.Number(1, 12), DstWidth: a.Number(1, 12), SrcHeight: a.Number(1, 12), SrcWidth: a.Number(1, 12), Dim: a.Number(1, 5), Antialias: a.Yes()}
	if !a.Any() && a.Below(16) == 0 { // as long across each other as only antialiasing forbids
		o = absolute.InterpolateGridOptions{DstHeight: 1, DstWidth: 300, SrcHeight: 300, SrcWidth: 1, Dim: 1}
	}
	if a.Yes() {
		o.Antialias, o.Bilinear, o.AlignCorners, o.ZeroPadding, o.Float32 = a.Rarely(), a.Yes(), a.Yes(), a.Yes(), a.Yes()
	}
	if small := o.DstHeight < 99 && o.DstWidth < 99; a.Below(3) == 0 && (small || a.Any()) {
		o.MergeSize = a.Number(1, 3)
		if m := o.MergeSize; small && m >= 1 && m < 9 && !a.Rarely() {
			o.DstHeight, o.DstWidth = o.DstHeight*m, o.DstWidth*m
		}
	}
	return o
}

// digestGrids interpolates grids of several shapes.
func digestGrids(d *testkit.Digest, list ...absolute.InterpolateGridOptions) {
	for _, o := range list {
		for _, shape := range [][4]int{{5, 7, 9, 4}, {9, 4, 5, 7}, {3, 3, 3, 3}, {1, 2, 3, 1}} {
			o.SrcHeight, o.SrcWidth, o.DstHeight, o.DstWidth, o.Dim = shape[0], shape[1], shape[2], shape[3], 5
			dst := make([]float32, shape[2]*shape[3]*5)
			d.Must(absolute.InterpolateGrid(dst, testkit.DigestNumbers[float32](d, shape[0]*shape[1]*5), o))
			d.Add(dst)
		}
	}
}

func gridTaps(o absolute.InterpolateGridOptions) int {
	if o.Bilinear {
		return 4
	}
	return 16
}

func gridOptionsRight(o absolute.InterpolateGridOptions) bool {
	for _, n := range []int{o.DstHeight, o.DstWidth, o.SrcHeight, o.SrcWidth} {
		if n < 1 || n > 1<<24 {
			return false
		}
	}
	m := max(o.MergeSize, 1)
	return o.MergeSize >= 0 && o.DstHeight%m == 0 && o.DstWidth%m == 0 && !(o.Antialias && (o.Bilinear || o.AlignCorners || o.ZeroPadding || o.Float32))
}

func gridRight(dst, src []float32, o absolute.InterpolateGridOptions) bool {
	product := func(height, width int) float64 { return float64(height) * float64(width) } // exact
	dstPatches, srcPatches := product(o.DstHeight, o.DstWidth), product(o.SrcHeight, o.SrcWidth)
	return gridOptionsRight(o) && o.Dim >= 1 && float64(len(dst)) == dstPatches*float64(o.Dim) && float64(len(src)) == srcPatches*float64(o.Dim) && !testkit.Share(dst, src) &&
		(!o.Antialias || product(max(o.DstHeight, o.SrcHeight), max(o.DstWidth, o.SrcWidth)) <= 64*(dstPatches+srcPatches))
}

func interpolateTablePlain(dst, src []float32, dim int) {
	n, m := len(src)/dim, len(dst)/dim
	for i := range dst {
		whole, f := plainCentre(i/dim, n, m)
		if whole < 0 {
			whole, f = 0, 0
		}
		first, second := float64(src[whole*dim+i%dim]), float64(src[min(whole+1, n-1)*dim+i%dim])
		dst[i] = float32(float64((1-f)*first) + float64(f*second))
	}
}

func interpolateGridPlain(dst, src []float32, o absolute.InterpolateGridOptions) {
	patches := patchesInBlocks(o.DstHeight, o.DstWidth, max(o.MergeSize, 1))
	for i := range dst {
		patch, j := patches[i/o.Dim], i%o.Dim
		rows, rowWeights := plainWeights(patch/o.DstWidth, o.SrcHeight, o.DstHeight, o)
		columns, columnWeights := plainWeights(patch%o.DstWidth, o.SrcWidth, o.DstWidth, o)
		sum := 0.0
		for a, row := range rows {
			line := 0.0
			for b, column := range columns {
				if row < 0 || column < 0 {
					continue
				}
				line += float64(columnWeights[b] * float64(src[(row*o.SrcWidth+column)*o.Dim+j]))
			}
			sum += float64(rowWeights[a] * line)
		}
		dst[i] = float32(sum)
	}
}

// gridWeightsPlain finds the patch at the border by the same sizes without ZeroPadding.
func gridWeightsPlain(indices []int32, weights []float32, o absolute.InterpolateGridOptions) {
	border := o
	border.ZeroPadding = false
	for i, patch := range patchesInBlocks(o.DstHeight, o.DstWidth, max(o.MergeSize, 1)) {
		rows, rowWeights := plainWeights(patch/o.DstWidth, o.SrcHeight, o.DstHeight, border)
		columns, columnWeights := plainWeights(patch%o.DstWidth, o.SrcWidth, o.DstWidth, border)
		inRows, _ := plainWeights(patch/o.DstWidth, o.SrcHeight, o.DstHeight, o)
		inColumns, _ := plainWeights(patch%o.DstWidth, o.SrcWidth, o.DstWidth, o)
		for k := range gridTaps(o) {
			a, b := k/len(columns), k%len(columns)
			weight := float32(rowWeights[a] * columnWeights[b])
			if inRows[a] < 0 || inColumns[b] < 0 {
				weight *= 0
			}
			indices[i*gridTaps(o)+k], weights[i*gridTaps(o)+k] = int32(rows[a]*o.SrcWidth+columns[b]), weight
		}
	}
}

// plainWeights returns the elements of n that make element i of m, -1 for one beyond the border
// that counts as 0, and their weights.
func plainWeights(i, n, m int, o absolute.InterpolateGridOptions) (elements []int, weights []float64) {
	if o.Antialias {
		return plainAntialiased(i, n, m)
	}
	whole, f := plainCentre(i, n, m)
	if o.AlignCorners {
		at := big.NewRat(int64(i*(n-1)), int64(max(m-1, 1)))
		whole = int(new(big.Int).Div(at.Num(), at.Denom()).Int64())
		f, _ = at.Sub(at, big.NewRat(int64(whole), 1)).Float64()
	}
	first, distances := -1, []float64{1 + f, f, 1 - f, 2 - f}
	for _, t := range distances {
		weights = append(weights, plainCubic(-0.75, t))
	}
	if o.Bilinear {
		first, weights = 0, []float64{1 - f, f}
	}
	for j := range weights {
		element := min(max(whole+first+j, 0), n-1)
		if o.ZeroPadding && element != whole+first+j {
			element = -1
		}
		elements = append(elements, element)
	}
	return elements, weights
}

// patchesInBlocks are the numbers of patches, counted row by row, as blocks follow each
// other.
func patchesInBlocks(height, width, m int) (list []int) {
	for top := 0; top < height; top += m {
		for left := 0; left < width; left += m {
			for y := range m {
				for x := range m {
					list = append(list, (top+y)*width+left+x)
				}
			}
		}
	}
	return list
}

// plainCubic is the kernel of Keys at a distance, by Horner's rule.
func plainCubic(a, t float64) float64 {
	if t <= 1 {
		square := float64(t * t)
		return math.FMA(math.FMA(a+2, t, -(a+3)), square, 1)
	}
	return math.FMA(math.FMA(math.FMA(a, t, -5*a), t, 8*a), t, -4*a)
}

// plainAntialiased returns the weights of the elements, of n, that make element i of m, as the
// documentation of InterpolateGrid has them with Antialias, from exact fractions.
func plainAntialiased(i, n, m int) (elements []int, weights []float64) {
	at, s := big.NewRat(int64((2*i+1)*n), int64(2*m)), big.NewRat(int64(max(n, m)), int64(m))
	sum := 0.0
	for j := range n {
		distance := new(big.Rat).Sub(big.NewRat(int64(2*j+1), 2), at)
		if t, _ := distance.Abs(distance.Quo(distance, s)).Float64(); t < 2 {
			elements, weights = append(elements, j), append(weights, plainCubic(-0.5, t))
			sum += plainCubic(-0.5, t)
		}
	}
	for j := range weights {
		weights[j] /= sum
	}
	return elements, weights
}

// plainCentre returns the centre of element i of m among n, less 1/2, as a whole
// number and the rest, from exact fractions.
func plainCentre(i, n, m int) (whole int, rest float64) {
	at := big.NewRat(int64((2*i+1)*n-m), int64(2*m))
	whole = int(new(big.Int).Div(at.Num(), at.Denom()).Int64())
	rest, _ = at.Sub(at, big.NewRat(int64(whole), 1)).Float64()
	return whole, rest
}
