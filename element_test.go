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

// Numbers of several bytes begin at addresses of theirs. None begin anywhere.
func TestFromBytesErrors(t *testing.T) {
	bytes := wordsOf[byte](make([]float32, 4))
	fails := testkit.Failures(t)
	of := func(_ any, err error) error { return err }
	fails(of(posenc.FromBytes[posenc.Q8_0](make([]byte, 35))), posenc.ErrLength, "posenc.FromBytes: bytes has 35 elements, want a multiple of the 34 bytes of a number")
	fails(of(posenc.FromBytes[posenc.Float16](bytes[1:3])), posenc.ErrShape, "posenc.FromBytes: bytes is 1 bytes behind a multiple of 2, want at an address that is a multiple of 2")
	fails(of(posenc.FromBytes[float32](bytes[2:6])), posenc.ErrShape, "posenc.FromBytes: bytes is 2 bytes behind a multiple of 4")
	if none, err := posenc.FromBytes[float32](bytes[1:1]); err != nil || len(none) != 0 {
		t.Errorf("no bytes at an odd address: %v, %v", none, err)
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
