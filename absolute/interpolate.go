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
// too. dst and src are [rows][dim] with 1 to 2^24 rows each. Errors wrap ErrShape (dim, more
// rows), [posenc.ErrLength] or [posenc.ErrOverlap].
func InterpolateTable(dst, src []float32, dim int) error {
	const function = "absolute.InterpolateTable"
	if dim < 1 {
		return argument.Error(posenc.ErrShape, function, "dim", dim, "at least 1")
	}
	for i, length := range [...]int{len(dst), len(src)} {
		name := [...]string{"dst", "src"}[i]
		if length == 0 || length%dim != 0 {
			return argument.Error(posenc.ErrLength, function, name, argument.Elements(length), "a multiple of dim %d above 0", dim)
		}
		if length/dim > maxInterpolated {
			return argument.Error(posenc.ErrShape, function, name, argument.Elements(length), "at most 2^24 rows of %d", dim)
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

// InterpolateGridOptions has the sizes of the two grids and the method of interpolation.
type InterpolateGridOptions struct {
	DstHeight, DstWidth int  // size of dst in patches, each from 1 to 2^24
	SrcHeight, SrcWidth int  // size of src in patches, each from 1 to 2^24
	Dim                 int  // elements of a patch; GridWeights does not use it
	Antialias           bool // bicubic with antialiasing (timm, DINOv2 with registers); without it as in ViT and DINOv2
	Bilinear            bool // bilinear instead of bicubic; not with Antialias
	AlignCorners        bool // the outermost centres of both grids coincide (align_corners=True); not with Antialias
	ZeroPadding         bool // patches beyond the border count as 0 (grid_sample's padding_mode="zeros"); not with Antialias
	Float32             bool // weights, products and sums in float32, weights with the bits of transformers 5.23; not with Antialias
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
// Row y of dst has its centre at v = (y+1/2)*SrcHeight/DstHeight among the rows of src. Every
// patch of dst is a weighted sum of patches of src:
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
// is replaced by the row at the border.
//
// ZeroPadding leaves out rows beyond the border. With AlignCorners
// y*(SrcHeight-1)/(DstHeight-1) takes the place of v-1/2; it is 0 where DstHeight is 1. w(c) is
// computed in the same way from columns. docs/absolute.md has the options of models.
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
// With Float32 each operation rounds to float32, without fused multiply-add, as
// get_vision_interpolation_indices_and_weights of transformers 5.23 does on a CPU:
//
//	v-1/2 = (y+1/2)*SrcHeight/DstHeight - 1/2        or, with AlignCorners, y*(SrcHeight-1)/max(DstHeight-1, 1)
//	dst[y][x] = sum over r and c of (w(r)*w(c)) * src[r][c]
//
// f is v-1/2 less its integer part. A bilinear weight is 1-f, or 1-(1-f), and k is
// (((a+2)t - (a+3))t)t + 1 and ((at - 5a)t + 8a)t - 4a.
//
// dst is [DstHeight][DstWidth][Dim] and src is [SrcHeight][SrcWidth][Dim]. With Antialias the
// larger height times the larger width must be at most 64 times the patches of both grids. The
// row of a class token is not part of the grid; copy it yourself. A call allocates the weights of
// one row and one column. Errors wrap ErrShape (the options), [posenc.ErrLength] or
// [posenc.ErrOverlap].
func InterpolateGrid(dst, src []float32, options InterpolateGridOptions) error {
	const function = "absolute.InterpolateGrid"
	o := &options
	if o.Dim < 1 {
		return argument.Error(posenc.ErrShape, function, "options.Dim", o.Dim, "at least 1")
	}
	if err := o.check(function); err != nil {
		return err
	}
	if err := checkLength(function, "dst", len(dst), "DstHeight*DstWidth*Dim", o.DstHeight, o.DstWidth, o.Dim); err != nil {
		return err
	}
	if err := checkLength(function, "src", len(src), "SrcHeight*SrcWidth*Dim", o.SrcHeight, o.SrcWidth, o.Dim); err != nil {
		return err
	}
	patches := int64(o.DstHeight)*int64(o.DstWidth) + int64(o.SrcHeight)*int64(o.SrcWidth)
	if height, width := int64(max(o.DstHeight, o.SrcHeight)), int64(max(o.DstWidth, o.SrcWidth)); o.Antialias && height*width > maxAntialiased*patches {
		return argument.Error(posenc.ErrShape, function, "options.DstHeight", o.DstHeight, "a smaller grid: with Antialias the larger sides, %d by %d patches, may make at most %d times the %d patches of both grids", height, width, maxAntialiased, patches)
	}
	if argument.Overlap(dst, src) {
		return argument.Error(posenc.ErrOverlap, function, "dst", "sharing elements with src", "another slice")
	}
	var rows, columns []tap
	for y := range o.DstHeight {
		kernels.BeforeFMA()
		rows = o.taps(rows[:0], y, o.SrcHeight, o.DstHeight, false)
		for x := range o.DstWidth {
			columns = o.taps(columns[:0], x, o.SrcWidth, o.DstWidth, false)
			to := dst[o.patch(y, x)*o.Dim:][:o.Dim]
			if o.Float32 {
				o.sum32(to, src, rows, columns)
				continue
			}
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

// sum32 sets a patch to the sum of weights times patches of src, in float32.
func (o *InterpolateGridOptions) sum32(to, src []float32, rows, columns []tap) {
	clear(to)
	for _, row := range rows {
		for _, column := range columns {
			weight := float32(row.weight * column.weight)
			for j, value := range src[(row.of*o.SrcWidth+column.of)*o.Dim:][:o.Dim] {
				to[j] += float32(weight * value)
			}
		}
	}
}

// GridWeights computes which patches of a learned grid make each patch of another, and with
// which weights, for an engine that gathers them itself. indices and weights are
// [DstHeight*DstWidth][taps], where a patch takes 4 taps with Bilinear and 16 without, and src is row
// by row, as in [InterpolateGrid]:
//
//	dst[p] = sum over k of weights[p][k]*src[indices[p][k]]
//
// A weight is the product w(r)*w(c) of InterpolateGrid, rounded to float64 and then to float32. A patch beyond the
// border has the index of the patch at the border, with ZeroPadding weight 0. The frames of a video all
// have the same weights. Errors wrap ErrShape (the options; Antialias, which takes other numbers of
// patches; SrcHeight*SrcWidth above 2^31-1), [posenc.ErrLength] or [posenc.ErrOverlap]. Source:
// get_vision_interpolation_indices_and_weights of transformers.
func GridWeights(indices []int32, weights []float32, options InterpolateGridOptions) error {
	const function = "absolute.GridWeights"
	o := &options
	if err := o.check(function); err != nil {
		return err
	}
	if o.Antialias {
		return argument.Error(posenc.ErrShape, function, "options.Antialias", true, "false")
	}
	if int64(o.SrcHeight)*int64(o.SrcWidth) > math.MaxInt32 {
		return argument.Error(posenc.ErrShape, function, "options.SrcHeight", o.SrcHeight, "at most 2^31-1 patches, with SrcWidth %d", o.SrcWidth)
	}
	taps, names := 16, "DstHeight*DstWidth*16"
	if o.Bilinear {
		taps, names = 4, "DstHeight*DstWidth*4"
	}
	if err := checkLength(function, "indices", len(indices), names, o.DstHeight, o.DstWidth, taps); err != nil {
		return err
	}
	if err := checkLength(function, "weights", len(weights), names, o.DstHeight, o.DstWidth, taps); err != nil {
		return err
	}
	if argument.Overlap(indices, weights) {
		return argument.Error(posenc.ErrOverlap, function, "indices", "sharing memory with weights", "another slice")
	}
	var rowTaps, columnTaps [4]tap
	for y := range o.DstHeight {
		kernels.BeforeFMA()
		rows := o.taps(rowTaps[:0], y, o.SrcHeight, o.DstHeight, true)
		for x := range o.DstWidth {
			columns := o.taps(columnTaps[:0], x, o.SrcWidth, o.DstWidth, true)
			at := o.patch(y, x) * taps
			for _, row := range rows {
				for _, column := range columns {
					indices[at], weights[at] = int32(row.of*o.SrcWidth+column.of), float32(row.weight*column.weight)
					at++
				}
			}
		}
	}
	return nil
}

// check checks the sizes and the method.
func (o *InterpolateGridOptions) check(function string) error {
	for i, size := range [...]int{o.DstHeight, o.DstWidth, o.SrcHeight, o.SrcWidth} {
		if size < 1 || size > maxInterpolated {
			return argument.Error(posenc.ErrShape, function, "options."+[...]string{"DstHeight", "DstWidth", "SrcHeight", "SrcWidth"}[i], size, "from 1 to 2^24")
		}
	}
	m := max(o.MergeSize, 1)
	for i, set := range [...]bool{o.Bilinear, o.AlignCorners, o.ZeroPadding, o.Float32} {
		if o.Antialias && set {
			return argument.Error(posenc.ErrShape, function, "options."+[...]string{"Bilinear", "AlignCorners", "ZeroPadding", "Float32"}[i], true, "false with Antialias")
		}
	}
	if o.MergeSize < 0 || o.DstHeight%m != 0 || o.DstWidth%m != 0 {
		return argument.Error(posenc.ErrShape, function, "options.MergeSize", o.MergeSize, "0 or a divisor of DstHeight %d and DstWidth %d", o.DstHeight, o.DstWidth)
	}
	return nil
}

// patch returns the number of the patch of dst in a row and a column.
func (o *InterpolateGridOptions) patch(y, x int) int {
	m := max(o.MergeSize, 1)
	return ((y/m*(o.DstWidth/m)+x/m)*m+y%m)*m + x%m
}

// tap is an element of a source with its weight.
type tap struct {
	of     int
	weight float64
}

// taps appends the elements of src, n along one side of the grid, that make element i of the m
// elements of dst. With ZeroPadding those beyond the border have weight 0, if they are wanted. With
// Float32 all numbers are float32: a float64 that is rounded to float32 after each operation is the same.
func (o *InterpolateGridOptions) taps(list []tap, i, n, m int, beyond bool) []tap {
	if o.Antialias {
		return wideCubicTaps(list, i, n, m)
	}
	whole, f := o.source(i, n, m)
	weights, first, end := [4]float64{1: 1 - f, 2: f}, 1, 3 // of the elements from whole-1 on
	if o.Float32 {
		weights[1] = float64(float32(1 - f))
		weights[2] = float64(float32(1 - weights[1]))
	}
	if !o.Bilinear {
		first, end = 0, 4
		for j, t := range [4]float64{1 + f, f, 1 - f, 2 - f} {
			if o.Float32 {
				weights[j] = float64(cubic32(float32(t)))
			} else {
				weights[j] = cubic(-0.75, t)
			}
		}
	}
	for j := first; j < end; j++ {
		t := tap{min(max(whole-1+j, 0), n-1), weights[j]}
		if o.ZeroPadding && t.of != whole-1+j {
			if !beyond {
				continue
			}
			t.weight *= 0 // of either sign
		}
		list = append(list, t)
	}
	return list
}

// source returns where element i of m lies among n, as a whole number and the rest.
func (o *InterpolateGridOptions) source(i, n, m int) (whole int, rest float64) {
	switch {
	case o.Float32:
		at := float32((float32(i)+0.5)*float32(n)/float32(m)) - 0.5
		if o.AlignCorners {
			at = float32(i) * float32(n-1) / float32(max(m-1, 1))
		}
		floor := float32(math.Floor(float64(at)))
		return int(floor), float64(at - floor)
	case o.AlignCorners:
		at, steps := int64(i)*int64(n-1), int64(max(m-1, 1))
		return int(at / steps), float64(at%steps) / float64(steps)
	}
	return centre(i, n, m)
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

// wideCubicTaps is taps with antialiasing: of a kernel that is as wide as the larger elements.
// Nothing overflows, for n and m up to 2^24.
func wideCubicTaps(list []tap, i, n, m int) []tap {
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
			list, sum = append(list, tap{int(j), w}), sum+w
		}
	}
	for j := range list {
		list[j].weight /= sum
	}
	return list
}

// cubic returns the kernel of Keys at a distance from 0 to 2.
func cubic(a, t float64) float64 {
	if t <= 1 {
		return math.FMA(math.FMA(a+2, t, -(a+3)), float64(t*t), 1)
	}
	return math.FMA(math.FMA(math.FMA(a, t, -5*a), t, 8*a), t, -4*a)
}

// cubic32 is cubic in float32, with a = -3/4.
func cubic32(t float32) float32 {
	const a = -0.75
	if t <= 1 {
		w := float32((a+2)*t) - (a + 3)
		w = float32(w * t)
		return float32(w*t) + 1
	}
	w := float32(a*t) - 5*a
	w = float32(w*t) + 8*a
	return float32(w*t) - 4*a
}
