package absolute

import (
	"math"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/kernels"
)

// maxInterpolated bounds the rows of a table and the sides of a grid.
const maxInterpolated = 1 << 24

// maxAntialiased bounds the work of antialiasing for each patch of both grids. A sum is as
// long as its side of the grid shrinks, and one side may shrink while the other grows.
const maxAntialiased = 64

// InterpolateTable resizes a learned table to another number of positions. It interpolates
// linearly between the centres of the rows, as PyTorch's
// interpolate(mode="linear", align_corners=False) does. src has n rows, dst has m rows, and
// u = (i+1/2)*n/m - 1/2, or 0 where that is negative:
//
//	dst[i] = RN32((1-f)*src[floor(u)] + f*src[min(floor(u)+1, n-1)])
//
// Here f is u-floor(u) rounded to float64; 1-f, each product and the sum are rounded to float64
// too. dst and src are [rows][dim] with 1 to 2^24 rows each, and must not share elements. Errors
// wrap ErrShape (dim, more rows), [posenc.ErrLength] or [posenc.ErrOverlap].
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

// InterpolateGridOptions has the sizes of the two grids of [InterpolateGrid] and the method
// of interpolation.
type InterpolateGridOptions struct {
	DstHeight, DstWidth int  // size of dst in patches, each from 1 to 2^24
	SrcHeight, SrcWidth int  // size of src in patches, each from 1 to 2^24
	Dim                 int  // elements of a patch
	Antialias           bool // bicubic with antialiasing (timm, DINOv2 with registers); without it as in ViT and DINOv2
	Bilinear            bool // bilinear instead of bicubic; not with Antialias
	AlignCorners        bool // with Bilinear: the outermost centres of both grids coincide (align_corners=True)
	ZeroPadding         bool // with Bilinear: patches beyond the border count as 0 (grid_sample's padding_mode="zeros")
	MergeSize           int  // dst is ordered in blocks of MergeSize*MergeSize patches; it divides DstHeight and DstWidth; 0 means 1: row by row
}

// InterpolateGrid resizes the learned table of an image's patches to another grid. It
// interpolates between the centres of the patches, bicubic or bilinear, as PyTorch's
// interpolate(size=..., mode="bicubic", align_corners=False) does when it is called without
// scale_factor.
//
// Bicubic interpolation uses the kernel of Keys 1981:
//
//	k(t) = (a+2)|t|³ - (a+3)t² + 1        for |t| <= 1
//	k(t) = a|t|³ - 5at² + 8a|t| - 4a      for 1 < |t| < 2, and 0 beyond
//
// Row y of dst has its centre at v = (y+1/2)*SrcHeight/DstHeight among the rows of src, and
// columns x and u follow the same rule. Every patch of dst is a weighted sum of patches of src:
//
//	dst[y][x] = RN32(sum over r of w(r) * sum over c of w(c) * src[r][c])
//
// Without Antialias, as in ViT and DINOv2, a is -3/4 and w(r) = k(r+1/2-v). The sum takes 4
// rows; a row beyond the border is replaced by the row at the border.
//
// With Antialias, as in timm and DINOv2 with registers, a is -1/2. The kernel is as wide as
// the rows of dst where those are larger than the rows of src, and the sum takes only rows
// within the grid:
//
//	w(r) = k((r+1/2-v) / s) / sum over r' of k((r'+1/2-v) / s)    s = max(SrcHeight/DstHeight, 1)
//
// With Bilinear the sum takes two rows. q is the integer part of v-1/2 (rounded down) and f
// the rounded fraction: row q has weight 1-f, row q+1 has weight f. A row beyond the border
// is replaced by the row at the border, or left out with ZeroPadding. With AlignCorners
// y*(SrcHeight-1)/(DstHeight-1) takes the place of v-1/2; it is 0 where DstHeight is 1.
//
// w(c) is computed in the same way from columns.
//
// docs/absolute.md has the options of models.
//
// With MergeSize m, dst is ordered as image processors order patches that will be merged:
// blocks of m*m patches follow one another row by row, and so do the patches within a block.
//
// Rounding: t is rounded to float64; without Antialias it is 1+f, f, 1-f or 2-f of the
// rounded fraction f of v-1/2. k is computed by Horner's rule with fused multiply-add,
// ((a+2)t - (a+3))t² + 1, where t² is rounded first, and ((at - 5a)t + 8a)t - 4a. All sums
// start at 0 and add rows, and columns, in ascending order; a border row that stands in for
// several is added several times. Each product, sum and quotient is rounded to float64.
//
// dst is [DstHeight][DstWidth][Dim], src is [SrcHeight][SrcWidth][Dim], and they must not share
// elements. With Antialias the larger height times the larger width must be at most 64 times the
// patches of both grids. The row of a class token is not part of the grid; copy it yourself. A
// call allocates the weights of one row and one column. Errors wrap ErrShape (the options),
// [posenc.ErrLength] or [posenc.ErrOverlap].
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
		return argument.Error(posenc.ErrShape, function, "options.DstHeight", o.DstHeight, "a smaller grid: with Antialias the larger sides, %d by %d patches, may make at most %d times the %d patches of both grids", height, width, maxAntialiased, patches)
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

// weights returns a function that appends the weights with which n elements of src make
// element i of the m elements of dst, along one side of the grid.
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

// weight is the weight of an element of a source.
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
