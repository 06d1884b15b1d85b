package posenc_test

import (
	"math"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
)

// An error names the package once, with its function, and ends with its kind.
func TestErrorsNameThePackageOnce(t *testing.T) {
	for _, kind := range []error{posenc.ErrConfig, posenc.ErrLength, posenc.ErrShape, posenc.ErrOverlap, posenc.ErrPosition} {
		if strings.Contains(kind.Error(), "posenc") {
			t.Errorf("%q", kind)
		}
	}
	rope := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 4, InvFreq: []float64{1, 0x1p40}})
	rows := testkit.Must(rope.Rows([]int32{1}))
	two := func(_ any, err error) error { return err }
	x := V{Data: make([]float32, 4), Heads: 1}
	y := V{Data: make([]float32, 4), Heads: 1}
	for _, tt := range []struct {
		want string
		err  error
	}{
		{"posenc.Rotate: a is zero, or of a nil Rotary or nil Rows, want Angles from Rotary.At, Rows.All or Rows.At: invalid configuration", posenc.Rotate[float32](posenc.Angles{}, x)},
		{"posenc.Rotate: positions[0] is 1024, want at most 1023 in magnitude, so that angles stay below 2^50: position out of range", posenc.Rotate(rope.At([]int32{1024}), x)},
		{"posenc.Rotate: ids[0] is 1, want the number of one of the 1 rows: position out of range", posenc.Rotate(rows.At([]int32{1}), x)},
		{"posenc.RotateInverse: xs[0].Heads is 0, want at least 1: invalid shape", posenc.RotateInverse(rows.All(), V{Data: x.Data})},
		{"posenc.RotateInto: dst is sharing memory with src, want a view of other memory: overlapping memory", posenc.RotateInto(rows.All(), x, nil, x)},
		{"posenc.RotateInto: slots is 0 elements, want 1, one for each token: wrong length", posenc.RotateInto(rows.All(), y, []int32{}, x)},
		{"posenc.RotateFused: xs[0].Norm is zero, want nil or an RMSNorm from NewRMSNorm: invalid configuration", posenc.RotateFused(rows.All(), posenc.FusedView[float32]{View: x, Norm: new(posenc.RMSNorm)})},
		{"posenc.Shift: r is nil or zero, want a Rotary from NewRotary: invalid configuration", posenc.Shift(nil, []int32{1}, x)},
		{"posenc.NewRotary: cfg.RotaryDim is 2050, want at most 2048: invalid configuration", two(posenc.NewRotary(posenc.RotaryConfig{HeadDim: 2050}))},
		{"posenc.NewRotary: cfg.Base is 1.000000000001, want a base whose frequencies are finite", two(posenc.NewRotary(posenc.RotaryConfig{HeadDim: 4, Base: 1.000000000001, Angles: posenc.Float32Angles}))},
		{"posenc.NewRotary: cfg.XPos.ScaleBase is 0, want a finite number of at least 2^-50", two(posenc.NewRotary(posenc.RotaryConfig{HeadDim: 4, XPos: &posenc.XPos{}}))},
		{"posenc.NewRows: t.Stride is -1, want 0 or at least the 2 entries of a row: invalid shape", two(posenc.NewRows(posenc.RowsConfig{HeadDim: 4}, posenc.Table[float32]{Stride: -1}))},
		{"posenc.Rotary.Rows: r is nil or zero, want a Rotary from NewRotary: invalid configuration", two((*posenc.Rotary)(nil).Rows(nil))},
		{"posenc.CosSin: cos is 0 elements, want 1 for 1 rows of 1: wrong length", posenc.CosSin(nil, nil, []int32{1}, []float64{1})},
		{"posenc.NewRMSNorm: cfg.Epsilon is NaN, want a finite number of at least 0: invalid configuration", two(posenc.NewRMSNorm([]float32{1}, posenc.RMSNormConfig{Epsilon: float32(math.NaN())}))},
		{"posenc.QueryScales: s.Length is 0, want at least 1: invalid configuration", posenc.QueryScales(nil, nil, posenc.QueryScaling{})},
	} {
		if tt.err == nil {
			t.Errorf("no error, want %q", tt.want)
			continue
		}
		if text := tt.err.Error(); !strings.HasPrefix(text, tt.want) || strings.Count(text, "posenc") != 1 {
			t.Errorf("got %q, want %q", text, tt.want)
		}
	}
}
