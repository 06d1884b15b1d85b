package posenc_test

import (
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
)

func TestElementsShareMemory(t *testing.T) {
	t.Run("type=float16", func(t *testing.T) { testElementsShareMemory(t, posenc.Float16s[uint16]) })
	t.Run("type=bfloat16", func(t *testing.T) { testElementsShareMemory(t, posenc.BFloat16s[uint16]) })
	type number uint16 // of another package
	t.Run("type=float16 of numbers", func(t *testing.T) { testElementsShareMemory(t, posenc.Float16s[number]) })
	t.Run("type=bfloat16 of numbers", func(t *testing.T) { testElementsShareMemory(t, posenc.BFloat16s[number]) })
}

// Float16s and BFloat16s are the same memory, as long and with as much room.
func testElementsShareMemory[B, T ~uint16](t *testing.T, convert func(bits []B) []T) {
	bits := make([]B, 10, 20)
	for _, s := range [][]B{bits, bits[3:7], bits[2:5:6], bits[4:4], bits[10:], bits[:0:0]} {
		x := convert(s)
		if len(x) != len(s) || cap(x) != cap(s) {
			t.Errorf("%d of %d elements became %d of %d", len(s), cap(s), len(x), cap(x))
		}
		if unsafe.Pointer(unsafe.SliceData(x)) != unsafe.Pointer(unsafe.SliceData(s)) {
			t.Errorf("%d of %d elements are elsewhere", len(s), cap(s))
		}
		for i := range x {
			x[i] = T(i + 1)
			if s[i] != B(i+1) {
				t.Fatalf("element %d is %d", i, s[i])
			}
		}
		if x == nil {
			t.Errorf("%d of %d elements became nil", len(s), cap(s))
		}
	}
	if x := convert(nil); x != nil {
		t.Errorf("nil became %v", x)
	}
	if x := convert([]B{}); x == nil || len(x) != 0 {
		t.Errorf("no elements became %v", x)
	}
	if n := testing.AllocsPerRun(20, func() { convert(bits) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// 16-bit elements are rounded once, not at each step.
func TestElementsAreRoundedOnce(t *testing.T) {
	for _, tt := range []struct{ x1, x2, cos, sin, want float32 }{
		{1 + 0x1p-7, 1, 1 + 0x1p-7, 1 + 0x1p-6, 0x1p-14}, // 0 if the product were rounded to bfloat16
		{3, -1, 1.328125, 0x1p-7, 4},                     // 3.9921875, a tie
	} {
		rows, err := posenc.NewRows(posenc.RowsConfig{HeadDim: 2}, posenc.Table[float32]{Cos: []float32{tt.cos}, Sin: []float32{tt.sin}})
		if err != nil {
			t.Fatal(err)
		}
		x := []posenc.BFloat16{testkit.Narrow[posenc.BFloat16](tt.x1), testkit.Narrow[posenc.BFloat16](tt.x2)}
		if err := posenc.Rotate(rows.All(), posenc.View[posenc.BFloat16]{Data: x, Heads: 1}); err != nil {
			t.Fatal(err)
		}
		if testkit.Widen(x[0]) != tt.want {
			t.Errorf("%+v: got %v", tt, testkit.Widen(x[0]))
		}
	}
}

// Bits of 16-bit elements at the edges of their range.
func TestElementEdges(t *testing.T) {
	half, brain := posenc.Float16s([]uint16{0x7bff, 0x7bff, 1, 0, 0x7c00, 0}), posenc.BFloat16s([]uint16{0x7f7f, 0x7f7f, 1, 0, 0x7f80, 0})
	rows, err := posenc.NewRows(posenc.RowsConfig{HeadDim: 2}, posenc.Table[float32]{Cos: []float32{1, 0.5, 1}, Sin: []float32{-1, 0, 0}})
	if err != nil {
		t.Fatal(err)
	}
	if err := posenc.Rotate(rows.All(), posenc.View[posenc.Float16]{Data: half, Heads: 1}); err != nil {
		t.Fatal(err)
	}
	if err := posenc.Rotate(rows.All(), posenc.View[posenc.BFloat16]{Data: brain, Heads: 1}); err != nil {
		t.Fatal(err)
	}
	// The largest number twice is infinite; half the smallest is a tie, to 0;
	// infinity times 0 is a NaN.
	if want := posenc.Float16s([]uint16{0x7c00, 0, 0, 0, 0x7c00}); !slices.Equal(half[:5], want) || !math.IsNaN(float64(testkit.Widen(half[5]))) {
		t.Errorf("got %#x", half)
	}
	if want := posenc.BFloat16s([]uint16{0x7f80, 0, 0, 0, 0x7f80}); !slices.Equal(brain[:5], want) || !math.IsNaN(float64(testkit.Widen(brain[5]))) {
		t.Errorf("got %#x", brain)
	}
}
