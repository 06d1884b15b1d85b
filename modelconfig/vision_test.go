package modelconfig

import (
	"math"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/testkit"
)

// gemma4Vision rotates heads of Gemma 4's vision tower as the error says,
// and compares with transformers.
func gemma4Vision(t *testing.T) {
	var v struct {
		HeadDim int      `json:"head_dim"`
		Rows    []int32  `json:"rows"`
		Columns []int32  `json:"columns"`
		Q       []string `json:"q"` // two heads
	}
	testkit.ReadJSON("testdata/transformers/gemma4_vision.json", &v)
	want := testkit.Hex[float32](v.Q...)
	q := testkit.GoldenInputs(0, len(v.Rows)*2*v.HeadDim)
	for offset, positions := range map[int][]int32{0: v.Columns, v.HeadDim / 2: v.Rows} {
		r := testkit.Must(posenc.NewRotary(posenc.RotaryConfig{HeadDim: v.HeadDim, RotaryDim: v.HeadDim / 2, Layout: posenc.HalfSplit, Offset: offset, Base: 100, Rounding: frequency.Float32}))
		testkit.NoError(t, posenc.Rotate(r.At(positions), posenc.View[float32]{Data: q, Heads: 2}))
	}
	if len(want) != len(q) {
		t.Fatalf("%d elements recorded, want %d", len(want), len(q))
	}
	for n, got := range q {
		// A frequency two steps off is at most 2^-22 of it; times 24, that is 2^-17
		// of an angle, of elements up to 4 twice.
		if !(math.Abs(float64(got)-float64(want[n])) <= 0x1p-14) {
			t.Errorf("element %d is %v, transformers has %v", n, got, want[n])
		}
	}
}
