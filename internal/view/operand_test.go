package view_test

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// An operand without all its elements has no pointer behind the end.
func TestFromEnd(t *testing.T) {
	o := view.Over(make([]float32, 4))
	if rest := o.From(3); rest.Length != 1 || rest.Data != unsafe.Add(o.Data, 12) {
		t.Errorf("the last element: %+v of %+v", rest, o)
	}
	for _, n := range []int{4, 5} {
		if rest := o.From(n); rest.Length != 0 || rest.Data != nil {
			t.Errorf("without %d of 4 elements: %+v", n, rest)
		}
	}
}

// More elements than a kernel takes are converted as fewer are.
func TestConvertLong(t *testing.T) {
	for _, n := range []int{kernels.MaxCallElements, 2*kernels.MaxCallElements + 3} {
		x, y, bits := make([]float32, n), make([]float32, n), make([]uint16, n)
		for i := range x {
			x[i] = float32(i % 1021) // a float16 has it
		}
		narrow := view.Operand{Data: unsafe.Pointer(&bits[0]), Length: n, Kind: kernels.KindFloat16}
		from, to := view.Over(x), view.Over(y)
		view.Convert(&narrow, &from, 0, 0, n)
		view.Convert(&to, &narrow, 0, 0, n)
		if !slices.Equal(x, y) {
			t.Errorf("%d elements are not what they were", n)
		}
	}
}
