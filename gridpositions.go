package posenc

import (
	"math"

	"github.com/go-posenc/posenc/internal/argument"
)

// GridPositionsOptions says which positions the patches of an image have, for [GridPositions].
// docs/vision.md in the repository has the options of models.
type GridPositionsOptions struct {
	Height, Width       int     // patches of an image, each from 1 to 2^22
	Centered            bool    // positions are centres from -1 to 1 times 2π, not numbers; RefHeight, RefWidth and PositionScale must be 0
	Offset              float32 // added to the numbers of rows and columns (grid_offset), below 2^22
	RefHeight, RefWidth int     // the grid onto which this one is stretched (ref_feat_shape), up to 2^22; 0 and 0: none
	PositionScale       float32 // multiplies positions, finite; 0 means 1
	ColumnsFirst        bool    // axis 0 is the column of a patch and axis 1 its row (grid_indexing "xy")
}

// GridPositions writes the positions of the patches of an image, row by row:
// [2][Height*Width], as [Rotary.AtFractionalAxes], [Rotary.CosSinFractionalAxes] and [CosSinMixed]
// take them. For row or
// column number i, with n rows or columns in the grid and ref in the reference grid,
//
//	p = RN32(i + Offset)
//	p = RN32(RN32(p/n) * ref)          with RefHeight and RefWidth
//	p = RN32(p*PositionScale)          with PositionScale
//
//	c = RN32(RN32(i+1/2 + Offset)/n)
//	p = RN32(RN32(2π) * RN32(2c-1))    with Centered
//
// These are the steps of transformers and timm: with frequencies of frequency.Float32 and with
// frequency.Float32, the angles have the bits of their code. (timm's RotaryEmbeddingDinoV3
// divides by periods instead, so its angles may differ in the last bit.) Errors wrap ErrConfig
// (options) or ErrLength.
func GridPositions(positions []float32, options GridPositionsOptions) error {
	const function = "posenc.GridPositions"
	fail := func(field string, value any, expected string, args ...any) error {
		return argument.Error(ErrConfig, function, "options."+field, value, expected, args...)
	}
	const most = 1 << 22 // below it, numbers with a half are exact in float32
	for _, size := range []struct {
		name         string
		value, least int
	}{{"Height", options.Height, 1}, {"Width", options.Width, 1}, {"RefHeight", options.RefHeight, 0}, {"RefWidth", options.RefWidth, 0}} {
		if size.value < size.least || size.value > most {
			return fail(size.name, size.value, "from %d to 2^22", size.least)
		}
	}
	scale := options.PositionScale
	switch {
	case !(math.Abs(float64(options.Offset)) < most):
		return fail("Offset", options.Offset, "a number below 2^22 in magnitude")
	case !(math.Abs(float64(options.PositionScale)) <= math.MaxFloat32):
		return fail("PositionScale", options.PositionScale, "a finite number")
	case (options.RefHeight == 0) != (options.RefWidth == 0):
		return fail("RefWidth", options.RefWidth, "RefHeight and RefWidth both set or both 0, and RefHeight is %d", options.RefHeight)
	case options.Centered && options.RefHeight != 0:
		return fail("RefHeight", options.RefHeight, "0 with Centered")
	case options.Centered && options.PositionScale != 0:
		return fail("PositionScale", options.PositionScale, "0 with Centered")
	case scale == 0:
		scale = 1
	}
	if int64(len(positions)) != 2*int64(options.Height)*int64(options.Width) {
		return argument.Error(ErrLength, function, "positions", argument.Elements(len(positions)), "2*Height*Width of %d by %d patches", options.Height, options.Width)
	}
	position := func(i, n, ref int) float32 {
		p := float32(i)
		if options.Centered {
			p = float32(p+0.5+options.Offset) / float32(n)
			return float32(2*math.Pi) * float32(float32(2*p)-1)
		}
		p += options.Offset
		if ref > 0 {
			p = float32(p/float32(n)) * float32(ref)
		}
		return float32(p * scale)
	}
	patches := options.Height * options.Width
	rows, columns := positions[:patches], positions[patches:]
	if options.ColumnsFirst {
		rows, columns = columns, rows
	}
	for y := range options.Height {
		row := position(y, options.Height, options.RefHeight)
		for x := range options.Width {
			rows[y*options.Width+x] = row
			if y > 0 {
				columns[y*options.Width+x] = columns[x]
			} else {
				columns[x] = position(x, options.Width, options.RefWidth)
			}
		}
	}
	return nil
}
