package absolute

import (
	"math"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/kernels"
)

// maxInterpolated bounds the lengths of tables that are interpolated.
const maxInterpolated = 1 << 24

// maxAntialiased bounds the work of antialiasing for each patch of both grids: its
// sums are as long as grids shrink, which one side may do while the other grows.
const maxAntialiased = 64

// InterpolateTable makes a learned table for another number of positions, by
// linear interpolation between the centres of its rows, as PyTorch's
// interpolate(mode="linear", align_corners=False) does. With n rows of src, m of
// dst and u = (i+1/2)*n/m - 1/2, or 0 where that is negative,
//
//	dst[i] = RN32((1-f)*src[floor(u)] + f*src[min(floor(u)+1, n-1)])
//
// where f is u-floor(u) rounded to float64, and so are 1-f, each product and the
// sum. dst and src are [rows][dim], of at least one row and at most 2^24, and share
// no element.
//
// Errors wrap [posenc.ErrShape] (dim, more rows), [posenc.ErrLength] or
// [posenc.ErrOverlap].
func InterpolateTable(dst, src []float32, dim int) error {
	const function = "absolute.InterpolateTable"
	if dim < 1 {
		return argument.Error(posenc.ErrShape, function, "dim", dim, "at least 1")
	}
	for _, table := range []struct {
		name string
		len  int
	}{{"dst", len(dst)}, {"src", len(src)}} {
		if table.len == 0 || table.len%dim != 0 {
			return argument.Error(posenc.ErrLength, function, table.name, argument.Elements(table.len), "a multiple of dim %d above 0", dim)
		}
		if table.len/dim > maxInterpolated {
			return argument.Error(posenc.ErrShape, function, table.name, argument.Elements(table.len), "at most 2^24 rows of %d", dim)
		}
	}
	if argument.Overlap(dst, src) {
		return argument.Error(posenc.ErrOverlap, function, "dst", "sharing elements with src", "another slice")
	}
	n, m := len(src)/dim, len(dst)/dim
	for i := range m {
		whole, f := centre(i, n, m)
		if whole < 0 {
			whole, f = 0, 0
		}
		first, second := src[whole*dim:][:dim], src[min(whole+1, n-1)*dim:][:dim]
		for j := range dim {
			dst[i*dim+j] = float32(float64((1-f)*float64(first[j])) + float64(f*float64(second[j])))
		}
	}
	return nil
}

// InterpolateGridOptions has the sizes of the grids of [InterpolateGrid], and how
// patches are weighed.
type InterpolateGridOptions struct {
	DstHeight, DstWidth int  // patches of dst, each from 1 to 2^24
	SrcHeight, SrcWidth int  // patches of src, likewise
	Dim                 int  // elements of a patch
	Antialias           bool // as timm has it, and DINOv2 with registers; otherwise as ViT and DINOv2
	Bilinear            bool // instead of bicubic, without Antialias
	AlignCorners        bool // Bilinear between the outermost centres: align_corners=True
	ZeroPadding         bool // Bilinear where patches beyond the border are 0: grid_sample's padding_mode="zeros"
	MergeSize           int  // patches of dst come in blocks of so many rows and columns, which divide DstHeight and DstWidth; 0 means 1: row by row
}

// InterpolateGrid makes the table of the patches of an image for another grid,
// by bicubic or bilinear interpolation between the centres of the patches, as PyTorch's
// interpolate(size=..., mode="bicubic", align_corners=False) does, without its
// scale_factor. With the kernel of Keys 1981
//
//	k(t) = (a+2)|t|³ - (a+3)t² + 1        for |t| <= 1
//	k(t) = a|t|³ - 5at² + 8a|t| - 4a      for 1 < |t| < 2, and 0 beyond
//
// and v = (y+1/2)*SrcHeight/DstHeight, the centre of a row of dst among those of
// src, u likewise for x,
//
//	dst[y][x] = RN32(sum over r of w(r) * sum over c of w(c) * src[r][c])
//
// Without Antialias, as ViT and DINOv2 have it, a is -3/4 and w(r) = k(r+1/2-v): of
// 4 rows, and those beyond the border are the ones at the border. With Antialias,
// as timm and DINOv2 with registers have it, a is -1/2 and the kernel is as wide as
// the rows of dst, if they are the larger ones:
//
//	w(r) = k((r+1/2-v) / s) / sum over r' of k((r'+1/2-v) / s)    s = max(SrcHeight/DstHeight, 1)
//
// of the rows that there are. w(c) is likewise. t is rounded to float64 and k is
// computed by Horner's rule with fused multiply-add, ((a+2)t - (a+3))t² + 1, where
// t² is rounded first, and ((at - 5a)t + 8a)t - 4a; without Antialias t is 1+f, f,
// 1-f, 2-f of the rounded fraction f of v-1/2. All sums start at 0 and take rows, and
// columns, in ascending order, those beyond the border as often as they count; each
// product, each sum and each quotient is rounded to float64.
//
// With Bilinear w(r) is of two rows: those of the whole number q below v-1/2 and of q+1, 1-f
// and f of the rounded fraction f. Those beyond the border are the ones at the border, or
// with ZeroPadding none. With AlignCorners the number is y*(SrcHeight-1)/(DstHeight-1)
// in place of v-1/2, 0 where DstHeight is 1. As models have it:
//
//	Qwen3-VL, Qwen3.5                 Bilinear, AlignCorners, MergeSize 2
//	Inkling 2                         Bilinear, MergeSize (spatial_merge_size)
//	PaddleOCR-VL                      Bilinear
//	Muse Glimmer                      Bilinear, ZeroPadding
//	Muse Spark                        the same, DstHeight the width of the image and
//	                                  DstWidth its height
//	ViT, DINOv2, Kimi K2.5            none: bicubic
//	timm, DINOv2 with registers       Antialias
//
// With MergeSize m a block of m*m patches that will be merged follows another, row by row
// of blocks, and the patches of each row by row, as processors order those of an image.
//
// dst is [DstHeight][DstWidth][Dim], src likewise, and they share no element. With
// Antialias the larger height times the larger width is at most 64 times the patches
// of both grids. A row of a class token is not of the grid: it is copied. A call
// allocates the weights of the rows and columns of src that make an element of dst.
//
// Errors wrap [posenc.ErrShape] (the options), [posenc.ErrLength] or
// [posenc.ErrOverlap].
func InterpolateGrid(dst, src []float32, options InterpolateGridOptions) error {
	const function = "absolute.InterpolateGrid"
	o := &options
	for _, size := range []struct {
		name  string
		value int
	}{{"DstHeight", o.DstHeight}, {"DstWidth", o.DstWidth}, {"SrcHeight", o.SrcHeight}, {"SrcWidth", o.SrcWidth}} {
		if size.value < 1 || size.value > maxInterpolated {
			return argument.Error(posenc.ErrShape, function, "options."+size.name, size.value, "from 1 to 2^24")
		}
	}
	if o.Dim < 1 {
		return argument.Error(posenc.ErrShape, function, "options.Dim", o.Dim, "at least 1")
	}
	m := max(o.MergeSize, 1)
	switch {
	case o.Bilinear && o.Antialias:
		return argument.Error(posenc.ErrShape, function, "options.Antialias", true, "false with Bilinear")
	case o.AlignCorners && !o.Bilinear:
		return argument.Error(posenc.ErrShape, function, "options.AlignCorners", true, "false without Bilinear")
	case o.ZeroPadding && !o.Bilinear:
		return argument.Error(posenc.ErrShape, function, "options.ZeroPadding", true, "false without Bilinear")
	case o.MergeSize < 0 || o.DstHeight%m != 0 || o.DstWidth%m != 0:
		return argument.Error(posenc.ErrShape, function, "options.MergeSize", o.MergeSize, "0 or a divisor of DstHeight %d and DstWidth %d", o.DstHeight, o.DstWidth)
	}
	for _, grid := range []struct {
		name, factors      string
		len, height, width int
	}{{"dst", "DstHeight*DstWidth*Dim", len(dst), o.DstHeight, o.DstWidth}, {"src", "SrcHeight*SrcWidth*Dim", len(src), o.SrcHeight, o.SrcWidth}} {
		patches, ok := argument.Multiply(grid.height, grid.width)
		want, fits := argument.Multiply(patches, o.Dim)
		if !ok || !fits || grid.len != want {
			return argument.Error(posenc.ErrLength, function, grid.name, argument.Elements(grid.len), "%s", product(grid.factors, want, ok && fits))
		}
	}
	patches := int64(o.DstHeight)*int64(o.DstWidth) + int64(o.SrcHeight)*int64(o.SrcWidth)
	if height, width := int64(max(o.DstHeight, o.SrcHeight)), int64(max(o.DstWidth, o.SrcWidth)); o.Antialias && height*width > maxAntialiased*patches {
		return argument.Error(posenc.ErrShape, function, "options.DstHeight", o.DstHeight, "grids less long across each other: with Antialias %d by %d patches are more than %d times the %d of both", height, width, maxAntialiased, patches)
	}
	if argument.Overlap(dst, src) {
		return argument.Error(posenc.ErrOverlap, function, "dst", "sharing elements with src", "another slice")
	}
	weigh := o.weights()
	var rows, columns []weight
	for y := range o.DstHeight {
		kernels.BeforeFMA()
		rows = weigh(rows[:0], y, o.SrcHeight, o.DstHeight)
		for x := range o.DstWidth {
			columns = weigh(columns[:0], x, o.SrcWidth, o.DstWidth)
			block := y/m*(o.DstWidth/m) + x/m
			to := dst[((block*m+y%m)*m+x%m)*o.Dim:][:o.Dim]
			for j := range to {
				sum := 0.0
				for _, row := range rows {
					line := 0.0
					for _, column := range columns {
						line += float64(column.weight * float64(src[(row.of*o.SrcWidth+column.of)*o.Dim+j]))
					}
					sum += float64(row.weight * line)
				}
				to[j] = float32(sum)
			}
		}
	}
	return nil
}

// weights returns what appends the weights of the elements, of n, that make element i of
// m.
func (o *InterpolateGridOptions) weights() func(weights []weight, i, n, m int) []weight {
	switch {
	case o.Antialias:
		return wideCubicWeights
	case !o.Bilinear:
		return cubicWeights
	}
	return func(weights []weight, i, n, m int) []weight {
		whole, f := 0, 0.0
		switch {
		case !o.AlignCorners:
			whole, f = centre(i, n, m)
		case m > 1:
			at := int64(i) * int64(n-1)
			whole, f = int(at/int64(m-1)), float64(at%int64(m-1))/float64(m-1)
		}
		for j, w := range [2]float64{1 - f, f} {
			if of := whole + j; of >= 0 && of < n {
				weights = append(weights, weight{of, w})
			} else if !o.ZeroPadding {
				weights = append(weights, weight{min(max(of, 0), n-1), w})
			}
		}
		return weights
	}
}

// centre returns (i+1/2)*n/m - 1/2, for n and m up to 2^24, as a whole number and
// the rest rounded to float64.
func centre(i, n, m int) (whole int, rest float64) {
	numerator, denominator := int64(2*i+1)*int64(n)-int64(m), 2*int64(m)
	quotient, remainder := numerator/denominator, numerator%denominator
	if remainder < 0 {
		quotient, remainder = quotient-1, remainder+denominator
	}
	return int(quotient), float64(remainder) / float64(denominator)
}

// weight is that of an element of a source.
type weight struct {
	of     int
	weight float64
}

// cubicWeights appends the weights of the elements, of n, that make element i of m.
func cubicWeights(weights []weight, i, n, m int) []weight {
	whole, f := centre(i, n, m)
	for j, t := range [4]float64{1 + f, f, 1 - f, 2 - f} {
		weights = append(weights, weight{min(max(whole-1+j, 0), n-1), cubic(-0.75, t)})
	}
	return weights
}

// wideCubicWeights is cubicWeights with antialiasing: of a kernel that is as wide
// as the larger elements. Nothing overflows, for n and m up to 2^24.
func wideCubicWeights(weights []weight, i, n, m int) []weight {
	// The element at j is (2j+1)*m - (2i+1)*n from the centre, in units of which the
	// width of the larger elements has 2*max(n, m).
	unit, centre := 2*int64(max(n, m)), int64(2*i+1)*int64(n)
	first, sum := max((centre-2*unit-int64(m))/(2*int64(m)), 0), 0.0
	for j := first; j < int64(n); j++ {
		distance := (2*j+1)*int64(m) - centre
		if distance >= 2*unit {
			break
		}
		if distance > -2*unit {
			w := cubic(-0.5, math.Abs(float64(distance)/float64(unit)))
			weights, sum = append(weights, weight{int(j), w}), sum+w
		}
	}
	for j := range weights {
		weights[j].weight /= sum
	}
	return weights
}

// cubic returns the kernel of Keys at a distance from 0 to 2.
func cubic(a, t float64) float64 {
	if t <= 1 {
		return math.FMA(math.FMA(a+2, t, -(a+3)), float64(t*t), 1)
	}
	return math.FMA(math.FMA(math.FMA(a, t, -5*a), t, 8*a), t, -4*a)
}
