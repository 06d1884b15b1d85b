package main

import (
	"math"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/gomlx/gomlx/backends/simplego"
	"github.com/gomlx/gomlx/pkg/core/dtypes/bfloat16"
	"github.com/gomlx/gomlx/pkg/core/tensors"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	testkit.NoError(t, run(&out))
	if lines := strings.Count(out.String(), "\n"); lines != 9 {
		t.Errorf("%d lines:\n%s", lines, out.String())
	}
}

// Scores depend on the distances of positions only. Exact angles keep that at any
// position, up to the roundings of float32, which scores of order 10 have; float32
// angles at 10 million are off by up to half a radian.
func TestScoresOfMovedSequence(t *testing.T) {
	backend := testkit.Must(simplego.New(""))
	p := testkit.Must(newProgram(backend))
	exact, rounded, err := newRotaries()
	if err != nil {
		t.Fatal(err)
	}
	attend := func(r *posenc.Rotary, first int32) []float32 {
		t.Helper()
		scores := testkit.Must(p.attend(r, positionsFrom(first)))
		return scores
	}
	const roundings = 1e-4
	if d := difference(attend(exact, 0), attend(exact, 10000000)); d > roundings {
		t.Errorf("exact angles: scores change by %v", d)
	}
	if d := difference(attend(nil, 0), attend(nil, 10000000)); d < 100*roundings {
		t.Errorf("GoMLX: scores change by %v only", d)
	}
	for _, first := range []int32{0, 1000, 10000000} {
		if d := difference(attend(rounded, first), attend(nil, first)); d > roundings {
			t.Errorf("float32 angles, from %d on: %v from those of GoMLX", first, d)
		}
	}
	if d := difference(attend(exact, 0), attend(nil, 0)); d > roundings {
		t.Errorf("exact angles, from 0 on: %v from those of GoMLX", d)
	}
}

func TestRotateBFloat16(t *testing.T) {
	r := testkit.Must(posenc.NewRotary(posenc.RotaryConfig{HeadDim: 2, Layout: posenc.HalfSplit}))
	one := bfloat16.FromFloat32(1)
	x := tensors.FromFlatDataAndDimensions([]bfloat16.BFloat16{one, one, one, one}, 1, 2, 1, 2)
	testkit.NoError(t, rotate(r, []int32{0, 1}, x))
	got := tensors.MustCopyFlatData[bfloat16.BFloat16](x)
	sin, cos := math.Sincos(1)
	for i, want := range []float64{1, 1, cos - sin, cos + sin} {
		// Half a unit of bfloat16, which has 8 bits.
		if g := float64(got[i].Float32()); math.Abs(g-want) > 0x1p-8*math.Abs(want) {
			t.Errorf("element %d: %v, expected %v", i, g, want)
		}
	}
}

func TestRotateErrors(t *testing.T) {
	r := testkit.Must(posenc.NewRotary(posenc.RotaryConfig{HeadDim: 2, Layout: posenc.HalfSplit}))
	if err := rotate(r, []int32{0}, tensors.FromFlatDataAndDimensions([]int32{1, 2}, 1, 1, 1, 2)); err == nil {
		t.Error("a tensor of int32 is no error")
	}
	if err := rotate(r, []int32{0}, tensors.FromFlatDataAndDimensions([]float32{1, 2, 3}, 1, 1, 1, 3)); err == nil {
		t.Error("heads of another size are no error")
	}
}
