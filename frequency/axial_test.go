package frequency_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	. "github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/testkit"
)

func TestAxial(t *testing.T) {
	for _, rounding := range []Rounding{Exact, Float32} {
		ladder := testkit.Must(Axial(256, rounding, 16, 56, 8))
		var axes []uint8
		var invFreq []float64
		for axis, dim := range []int{16, 56, 8} {
			part := testkit.Must(Default(dim, 256, rounding))
			invFreq = append(invFreq, part.InvFreq...)
			axes = append(axes, slices.Repeat([]uint8{uint8(axis)}, dim/2)...)
		}
		if !slices.Equal(ladder.InvFreq, invFreq) || !slices.Equal(ladder.Axes, axes) || ladder.AttentionFactor != 1 || ladder.SoftmaxScale != 1 {
			t.Errorf("rounding %d: got %+v", rounding, ladder)
		}
	}
}

// Of the frequencies 10000^(-2i/16), height has i = 0, 2, 4, 6 and width the rest.
func TestAxialAlternating(t *testing.T) {
	ladder := testkit.Must(AxialAlternating(16, 10000, Exact))
	want := []float64{1, 0.1, 0.01, 0.001, math.Sqrt(0.1), math.Sqrt(0.001), math.Sqrt(0.00001), math.Sqrt(0.0000001)}
	for i, w := range ladder.InvFreq {
		if math.Abs(w-want[i]) > 1e-15*want[i] {
			t.Errorf("InvFreq[%d] is %v, want %v", i, w, want[i])
		}
	}
	if !slices.Equal(ladder.Axes, []uint8{0, 0, 0, 0, 1, 1, 1, 1}) {
		t.Errorf("axes are %v", ladder.Axes)
	}
}

func TestAxialErrors(t *testing.T) {
	for says, dims := range map[string][]int{
		"dims[0] is 1, want an even number from 2 to": {1, 2, 3}, "dims[2] is 7, want": {16, 2, 7}, "dims[0] is -2": {-2}, "len(dims) is 0": nil,
		"len(dims) is 300, want from 1 to 256": make([]int, 300), "the sum of dims is 65538, want at most": {MaxRotaryDim, 2},
	} {
		if _, err := Axial(10000, Exact, dims...); !errors.Is(err, argument.ErrConfig) || !strings.HasPrefix(fmt.Sprint(err), "frequency.Axial: "+says) {
			t.Errorf("%d dims: %v, want %q", len(dims), err, says)
		}
	}
	for _, dim := range []int{0, -4, 2, 6, MaxRotaryDim + 4} {
		if _, err := AxialAlternating(dim, 10000, Exact); !errors.Is(err, argument.ErrConfig) {
			t.Errorf("headDim %d: %v", dim, err)
		}
	}
	for _, base := range []float64{1, 0, math.NaN(), math.Inf(1)} {
		_, axial := Axial(base, Exact, 16)
		if _, err := AxialAlternating(16, base, Float32); !errors.Is(err, argument.ErrConfig) || !errors.Is(axial, argument.ErrConfig) {
			t.Errorf("base %v: %v and %v", base, axial, err)
		}
	}
}
