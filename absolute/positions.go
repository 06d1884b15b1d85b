package absolute

import (
	"math"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/argument"
)

// PaddedPositions writes the positions of a sequence with padding. mask[t] is true for a
// real token and false for padding. Real tokens count up from padding+1; padding tokens are
// all at position padding:
//
//	positions[t] = padding + mask[t]*(mask[0] + ... + mask[t])
//
// fairseq, RoBERTa and XLM-R do this, with padding their padding index (padding_idx). OPT
// does it with padding 1, because its table begins with two rows of its own.
//
// positions is as long as mask. Errors wrap ErrLength, [posenc.ErrOverlap] or
// [posenc.ErrPosition] (padding above 2^31-1-len(mask)).
func PaddedPositions(positions []int32, mask []bool, padding int32) error {
	const function = "absolute.PaddedPositions"
	switch {
	case len(positions) != len(mask):
		return argument.Error(posenc.ErrLength, function, "positions", argument.Elements(len(positions)), "%d as in mask", len(mask))
	case int64(padding)+int64(len(mask)) > math.MaxInt32:
		return argument.Error(posenc.ErrPosition, function, "padding", padding, "at most %d for %d tokens", math.MaxInt32-int64(len(mask)), len(mask))
	case argument.Overlap(positions, mask):
		return argument.Error(posenc.ErrOverlap, function, "positions", "sharing memory with mask", "another slice")
	}
	last := padding
	for t, there := range mask {
		positions[t] = padding
		if there {
			last++
			positions[t] = last
		}
	}
	return nil
}

// DETRPositionsOptions has the size of the image and says how its pixels are counted. DETR has
// NormalizeTo 2π and Offset 0.
type DETRPositionsOptions struct {
	Height, Width int     // in pixels, each from 1 to 2^24
	NormalizeTo   float64 // normalized positions end here (2π), a positive float32; 0 does not normalize
	Offset        float64 // subtracted from counts, from 0 to 1: 1/2, the centre of a pixel, where Deformable DETR normalizes
}

// DETRPositions writes the positions of the pixels of an image for [DETR], as
// [2][Height*Width], y before x. y counts, from 1, the pixels of the image from the top of
// the column down to the pixel, and x those from the left of the row. mask is
// [Height][Width] and true for pixels of the image, false for padding; nil is an image
// without padding.
//
// With NormalizeTo, counts are normalized by last, the count at the end of the column or row:
//
//	y = RN32(RN32(RN32(y-RN32(Offset)) / RN32(last+RN32(1e-6))) * RN32(NormalizeTo))
//
// Without it, positions are RN32(y-RN32(Offset)). Errors wrap ErrShape (Height, Width),
// [posenc.ErrConfig] (NormalizeTo, Offset), [posenc.ErrLength] or [posenc.ErrOverlap].
func DETRPositions(positions []float32, mask []bool, options DETRPositionsOptions) error {
	const function = "absolute.DETRPositions"
	height, width, scale, offset := options.Height, options.Width, float32(options.NormalizeTo), float32(options.Offset)
	switch { // float32 counts to 2^24
	case height < 1 || height > 1<<24:
		return argument.Error(posenc.ErrShape, function, "options.Height", height, "from 1 to 2^24")
	case width < 1 || width > 1<<24:
		return argument.Error(posenc.ErrShape, function, "options.Width", width, "from 1 to 2^24")
	case options.NormalizeTo != 0 && !(scale > 0 && scale <= math.MaxFloat32):
		return argument.Error(posenc.ErrConfig, function, "options.NormalizeTo", options.NormalizeTo, "0 or a positive float32")
	case !(options.Offset >= 0 && options.Offset <= 1):
		return argument.Error(posenc.ErrConfig, function, "options.Offset", options.Offset, "from 0 to 1")
	}
	if err := checkLength(function, "positions", len(positions), "2*Height*Width", 2, height, width); err != nil {
		return err
	}
	n := height * width
	switch {
	case mask != nil && len(mask) != n:
		return argument.Error(posenc.ErrLength, function, "mask", argument.Elements(len(mask)), "nil or Height*Width = %d", n)
	case argument.Overlap(positions, mask):
		return argument.Error(posenc.ErrOverlap, function, "positions", "sharing memory with mask", "another slice")
	}
	for column := range width {
		countPixels(positions[:n], mask, column, height, width, scale, offset)
	}
	for row := range height {
		countPixels(positions[n:], mask, row*width, width, 1, scale, offset)
	}
	return nil
}

// checkLength checks that a slice is as long as the product of its sizes, which names says.
func checkLength(function, name string, length int, names string, sizes ...int) error {
	want, ok := 1, true
	for _, size := range sizes {
		if want, ok = argument.Multiply(want, size); !ok {
			return argument.Error(posenc.ErrLength, function, name, argument.Elements(length), "%s, more than an int can count", names)
		}
	}
	if length != want {
		return argument.Error(posenc.ErrLength, function, name, argument.Elements(length), "%s = %d", names, want)
	}
	return nil
}

func countPixels(positions []float32, mask []bool, first, n, stride int, scale, offset float32) {
	const epsilon = 1e-6
	count := 0
	for i := range n {
		if at := first + i*stride; mask == nil || mask[at] {
			count++
		}
		positions[first+i*stride] = float32(count) - offset
	}
	if scale == 0 {
		return
	}
	last := float32(count) + float32(epsilon)
	for i := range n {
		p := &positions[first+i*stride]
		*p = float32(*p/last) * scale
	}
}
