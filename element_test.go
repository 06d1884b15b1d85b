package posenc_test

import (
	"math"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
)

// 16-bit elements are rounded once, not at each step.
func TestElementsAreRoundedOnce(t *testing.T) {
	for _, tt := range []struct{ x1, x2, cos, sin, want float32 }{
		{1 + 0x1p-7, 1, 1 + 0x1p-7, 1 + 0x1p-6, 0x1p-14}, // 0 if the product were rounded to bfloat16
		{3, -1, 1.328125, 0x1p-7, 4},                     // 3.9921875, a tie
	} {
		rows := testkit.Must(posenc.NewRows(posenc.RowsConfig{HeadDim: 2, Layout: posenc.HalfSplit}, posenc.Table[float32]{Cos: []float32{tt.cos}, Sin: []float32{tt.sin}}))
		x := []posenc.BFloat16{testkit.Narrow[posenc.BFloat16](tt.x1), testkit.Narrow[posenc.BFloat16](tt.x2)}
		testkit.NoError(t, posenc.Rotate(rows.All(), posenc.View[posenc.BFloat16]{Data: x, Heads: 1}))
		if testkit.Widen(x[0]) != tt.want {
			t.Errorf("%+v: got %v", tt, testkit.Widen(x[0]))
		}
	}
}

// Bits of 16-bit elements at the edges of their range.
func TestElementEdges(t *testing.T) {
	half, brain := posenc.Float16s([]uint16{0x7bff, 0x7bff, 1, 0, 0x7c00, 0}), posenc.BFloat16s([]uint16{0x7f7f, 0x7f7f, 1, 0, 0x7f80, 0})
	rows := testkit.Must(posenc.NewRows(posenc.RowsConfig{HeadDim: 2, Layout: posenc.HalfSplit}, posenc.Table[float32]{Cos: []float32{1, 0.5, 1}, Sin: []float32{-1, 0, 0}}))
	testkit.NoError(t, posenc.Rotate(rows.All(), posenc.View[posenc.Float16]{Data: half, Heads: 1}))
	testkit.NoError(t, posenc.Rotate(rows.All(), posenc.View[posenc.BFloat16]{Data: brain, Heads: 1}))
	// The largest number twice is infinite; half the smallest is a tie, to 0;
	// infinity times 0 is a NaN.
	if want := posenc.Float16s([]uint16{0x7c00, 0, 0, 0, 0x7c00}); !slices.Equal(half[:5], want) || !math.IsNaN(float64(testkit.Widen(half[5]))) {
		t.Errorf("got %#x", half)
	}
	if want := posenc.BFloat16s([]uint16{0x7f80, 0, 0, 0, 0x7f80}); !slices.Equal(brain[:5], want) || !math.IsNaN(float64(testkit.Widen(brain[5]))) {
		t.Errorf("got %#x", brain)
	}
}

func TestFromBytesOfAnotherAddress(t *testing.T) {
	_, err := posenc.FromBytes[float32](testkit.BytesOf(make([]float32, 2))[1:5])
	testkit.Failures(t)(err, posenc.ErrShape, "posenc.FromBytes: bytes is 1 bytes behind a multiple of 4, want at an address that is a multiple of 4")
}
