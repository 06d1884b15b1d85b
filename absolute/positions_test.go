package absolute_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/internal/testkit"
)

func TestPaddedPositions(t *testing.T) {
	mask := []bool{false, true, true, false, true, true, false}
	got := make([]int32, len(mask))
	if err := absolute.PaddedPositions(got, mask, 1); err != nil || !slices.Equal(got, []int32{1, 2, 3, 1, 4, 5, 1}) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestPositionsErrors(t *testing.T) {
	x := make([]float32, 16)
	detr := func(mask []bool, options absolute.DETRPositionsOptions) error {
		return absolute.DETRPositions(x, mask, options)
	}
	for _, tt := range []struct {
		name string
		err  error
		kind error
		want string
	}{
		{"mask", absolute.PaddedPositions(make([]int32, 2), make([]bool, 3), 1), posenc.ErrLength, "absolute.PaddedPositions: positions is 2 elements, want 3"},
		{"padding", absolute.PaddedPositions(make([]int32, 2), make([]bool, 2), math.MaxInt32-1), posenc.ErrPosition, "padding is"},
		{"height", detr(nil, absolute.DETRPositionsOptions{Height: 0, Width: 4}), posenc.ErrShape, "absolute.DETRPositions: options.Height is 0"},
		{"width", detr(nil, absolute.DETRPositionsOptions{Height: 4, Width: -1}), posenc.ErrShape, "options.Width is -1"},
		{"pixels", detr(nil, absolute.DETRPositionsOptions{Height: 4, Width: 3}), posenc.ErrLength, "positions is 16 elements, want 2*4*3"},
		{"too many pixels", detr(nil, absolute.DETRPositionsOptions{Height: 1 << 24, Width: 1 << 24}), posenc.ErrLength, "positions is 16 elements"},
		{"DETR mask", detr(make([]bool, 7), absolute.DETRPositionsOptions{Height: 4, Width: 2}), posenc.ErrLength, "mask is 7 elements"},
		{"DETR scale", detr(nil, absolute.DETRPositionsOptions{Height: 4, Width: 2, Scale: math.Inf(1)}), posenc.ErrConfig, "options.Scale is +Inf"},
		{"small DETR scale", detr(nil, absolute.DETRPositionsOptions{Height: 4, Width: 2, Scale: 1e-300}), posenc.ErrConfig, "options.Scale is 1e-300"}, // float32 has 0
		{"DETR offset", detr(nil, absolute.DETRPositionsOptions{Height: 4, Width: 2, Offset: math.NaN()}), posenc.ErrConfig, "options.Offset is NaN"},
	} {
		if !errors.Is(tt.err, tt.kind) || tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %v with %q", tt.name, tt.err, tt.kind, tt.want)
		}
	}
	if slices.ContainsFunc(x, func(v float32) bool { return v != 0 }) {
		t.Error("an error came after the first write")
	}
}

// FuzzPositions compares positions with their definitions, element by element; what a
// definition does not allow fails and writes nothing.
func FuzzPositions(f *testing.F) {
	for function := range uint8(2) {
		f.Add(function, []byte(nil))
		f.Add(function, []byte("\x05\x07\x04\x07\x09\x07\x03\x07\x02\x07\x08\x07\x06\x07\x07\x07\x0c\x07\x01\x07\x30\x07\x22\x07\x11"))
		f.Add(function, []byte("\x09\x00\x01\x01\x02\x07\x03\x00\x00\x00\x05\x01\xff\xff\xff\x7f\x00\x02\x07\x14\x07\x12\x07\x10"))
	}
	f.Fuzz(func(t *testing.T, function uint8, shape []byte) {
		c := testkit.Choices(shape)
		[]func(*testing.T, *testkit.Choices){fuzzPadded, fuzzDETR}[function%2](t, &c)
	})
}

// checkDefined makes a call that fills in a slice of n elements, at(i) each.
func checkDefined[T int32 | float32](t *testing.T, n int, right bool, at func(i int) T, call func(filled []T) error) {
	t.Helper()
	before := slices.Repeat([]T{77}, n)
	filled := slices.Clone(before)
	err := call(filled)
	if (err == nil) != right {
		t.Fatalf("right %t, error %v", right, err)
	}
	if err != nil {
		if !slices.Equal(filled, before) {
			t.Fatalf("written before the error %v", err)
		}
		return
	}
	for i, got := range filled {
		if want := at(i); got != want {
			t.Fatalf("element %d of %d is %v, want %v", i, n, got, want)
		}
	}
}

func fuzzPadded(t *testing.T, c *testkit.Choices) {
	mask, padding := c.Mask(c.Below(60)), c.Number32()
	right := int64(padding)+int64(len(mask)) <= math.MaxInt32
	checkDefined(t, len(mask), right, func(i int) int32 {
		there := int32(0)
		for _, m := range mask[:i+1] {
			if m {
				there++
			}
		}
		if !mask[i] {
			return padding
		}
		return padding + there
	}, func(positions []int32) error { return absolute.PaddedPositions(positions, mask, padding) })
}

func fuzzDETR(t *testing.T, c *testkit.Choices) {
	height, width := c.Below(12), c.Below(12)
	pixels := height * width
	mask := c.Mask(pixels)
	if c.Below(3) == 0 {
		mask = nil
	}
	n := 2 * pixels
	if c.Below(8) == 0 {
		n = c.Next()
	}
	scale := []float64{0, 2 * math.Pi, 1, 1e-300, 1e-45, -1, math.MaxFloat32, 1e39, math.Inf(1), math.NaN()}[c.Below(10)]
	offset := []float64{0, 0.5, 1, 0.1, math.SmallestNonzeroFloat64, -0.5, 1.5, math.NaN()}[c.Below(8)]
	right := height > 0 && width > 0 && n == 2*pixels && (scale == 0 || float32(scale) > 0 && !math.IsInf(float64(float32(scale)), 1)) && offset >= 0 && offset <= 1
	count := func(row, column, rows, columns int) (n float32) {
		for i := range rows + 1 {
			for j := range columns + 1 {
				if at := (row-i)*width + column - j; mask == nil || mask[at] {
					n++
				}
			}
		}
		return n
	}
	checkDefined(t, n, right, func(i int) float32 {
		row, column := i%pixels/width, i%pixels%width
		p, last := count(row, column, row, 0), count(height-1, column, height-1, 0)
		if i >= pixels {
			p, last = count(row, column, 0, column), count(row, width-1, 0, width-1)
		}
		p -= float32(offset)
		if scale == 0 {
			return p
		}
		return float32(p/(last+float32(1e-6))) * float32(scale)
	}, func(positions []float32) error {
		return absolute.DETRPositions(positions, mask, absolute.DETRPositionsOptions{Height: height, Width: width, Scale: scale, Offset: offset})
	})
}
