package absolute_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/measure"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// sinusoidalCase is rows of the encoding of a model
// (testdata/sinusoidal/generate.py).
type sinusoidalCase struct {
	Model     string
	Dim       int
	Arguments struct {
		Padding                                int32
		Min, Max, Shift, Scale, Period, Offset float64
		Flip, Masked                           bool
		CosFirst                               bool `json:"cos_first"`
		Height, Width                          int
	}
	Axes       int
	Fractional bool
	Positions  []float64
	InvFreq    []string `json:"inv_freq"`
	Exact      string
	Exact64    string
	Reference  []float64
	Error      []float64 // of the reference, for each token
}

// make makes the encoding by the function of that name, or by the one that the model shares.
func (c *sinusoidalCase) make(t *testing.T) *absolute.Sinusoidal {
	name := cmp.Or(map[string]string{"transformerxl": "marian", "vitmae": "mae", "rtdetr": "mae"}[c.Model], c.Model)
	i := slices.IndexFunc(models, func(m model) bool { return strings.EqualFold(m.name, name) })
	if i < 0 {
		t.Fatalf("no model %s", c.Model)
	}
	a := &c.Arguments
	p := modelParameters{dim: c.Dim, axes: c.Axes, padding: a.Padding, flag: a.Flip || a.CosFirst, x: a.Min, y: a.Max, z: a.Scale}
	switch c.Model {
	case "timesteps":
		p.x, p.y, p.z = a.Scale, a.Period, a.Shift
	case "detr":
		p.dim, p.y = c.Dim/2, 10000
	}
	return testkit.Must(models[i].make(p))
}

// Every row has the bits of the formula, and comes as near to what the model's
// framework computes as that is to the formula.
func TestSinusoidalVectors(t *testing.T) {
	models := map[string]bool{}
	var file struct{ Cases []*sinusoidalCase }
	testkit.ReadJSON("testdata/sinusoidal/vectors.json", &file)
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for i, c := range file.Cases {
			models[c.Model] = true
			t.Run(fmt.Sprintf("case=%d-%s-%d", i, c.Model, c.Dim), func(t *testing.T) { c.check(t) })
		}
	})
	if len(models) != 13 {
		t.Errorf("%d models, want 13", len(models))
	}
}

func (c *sinusoidalCase) check(t *testing.T) {
	s := c.make(t)
	for k, want := range testkit.Hex[float64](c.InvFreq...) {
		if got := absolute.InvFreq(s)[k]; math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("frequency %d is %x, want %x", k, got, want)
		}
	}
	scaling := float32(1)
	if c.Model == "mlx" {
		scaling = float32(cmp.Or(c.Arguments.Scale, math.Sqrt(2/float64(c.Dim))))
	}
	tokens := len(c.Positions) / max(1, c.Axes)
	rows := make([]float32, tokens*c.Dim)
	rows64 := make([]float64, tokens*c.Dim)
	var integers []int32
	var fractions []float32
	for _, p := range c.Positions {
		integers, fractions = append(integers, int32(p)), append(fractions, float32(p))
	}
	var err error
	if c.Fractional {
		err = errors.Join(absolute.SinusoidalRows(rows, s, fractions), absolute.SinusoidalRows64(rows64, s, fractions))
	} else {
		err = errors.Join(absolute.SinusoidalRows(rows, s, integers), absolute.SinusoidalRows64(rows64, s, integers))
	}
	if err != nil {
		t.Fatal(err)
	}
	want := testkit.Hex[float32](c.Exact)
	if len(want) != len(rows) {
		t.Fatalf("%d elements, want %d", len(rows), len(want))
	}
	for i, w := range want {
		if math.Float32bits(rows[i]) != math.Float32bits(w) {
			t.Errorf("element %d of row %d is %x, want %x", i%c.Dim, i/c.Dim, rows[i], w)
		}
		if c.Reference != nil && math.Abs(float64(rows[i])-c.Reference[i]) > c.Error[i/c.Dim] {
			t.Errorf("element %d of row %d is %v, and %v in the framework, more than %v away", i%c.Dim, i/c.Dim, rows[i], c.Reference[i], c.Error[i/c.Dim])
		}
		// In float64 MAE rounds a few times near 1, to 2^-53, and its angles.
		if c.Model == "mae" && math.Abs(rows64[i]-c.Reference[i]) > 0x1p-50 {
			t.Errorf("element %d of row %d is %v, and %v in MAE", i%c.Dim, i/c.Dim, rows64[i], c.Reference[i])
		}
	}
	for i, w := range testkit.Hex[float64](c.Exact64) {
		if want := w * float64(scaling); rows64[i] != want {
			t.Errorf("element %d of row %d is %x in float64, want %x", i%c.Dim, i/c.Dim, rows64[i], want)
		}
	}
	if c.Model != "detr" {
		return
	}
	height, width := c.Arguments.Height, c.Arguments.Width
	var mask []bool
	if c.Arguments.Masked {
		mask = make([]bool, height*width)
		for y := range 3 {
			for x := range 3 {
				mask[y*width+x] = true
			}
		}
	}
	got := make([]float32, 2*height*width)
	testkit.NoError(t, absolute.DETRPositions(got, mask, absolute.DETRPositionsOptions{Height: height, Width: width, NormalizeTo: c.Arguments.Scale, Offset: c.Arguments.Offset}))
	if !testkit.SameBits(got, fractions) {
		t.Errorf("positions %v, want %v", got, fractions)
	}
}

// BenchmarkSinusoidal reports rows of both orders as a share of the speed of cosines
// and sines alone, and rows made and added in place, and rows gathered from a table,
// as a share of the speed of adding a table of as many rows that is there already:
// 64 KB, 4 MB and 64 MB of embeddings.
func BenchmarkSinusoidal(b *testing.B) {
	const dim = 512
	rotary := testkit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit})
	for _, tokens := range []int{32, 2048, 32768} {
		positions := testkit.Sequence(tokens)
		x, table, cos, sin := testkit.Aligned(tokens*dim), testkit.Aligned(tokens*dim), testkit.Aligned(tokens*dim/2), testkit.Aligned(tokens*dim/2)
		cosSin := func() { rotary.CosSin(cos, sin, positions) }
		addTable := func() {
			for i := 0; i < len(x); i += kernels.MaxCallElements {
				end := min(i+kernels.MaxCallElements, len(x))
				kernels.AddScaledF32(dispatch.Implementation(), x[i:end], table[i:end], 0.5) // so that sums stay small
			}
		}
		run := func(operation, unit string, work, rival func()) {
			b.Run(fmt.Sprintf("tokens=%d/dim=%d/operation=%s", tokens, dim, operation), func(b *testing.B) {
				testkit.BenchmarkEach(b, func(b *testing.B) { measure.Against(b, unit, work, rival) })
			})
		}
		for order, s := range map[string]*absolute.Sinusoidal{"interleaved": testkit.Must(absolute.Vaswani(dim)), "halves": testkit.Must(absolute.Marian(dim))} {
			run("rows-"+order, "of-cos-sin", func() { absolute.SinusoidalRows(x, s, positions) }, cosSin)
			run("add-"+order, "of-table", func() { absolute.AddSinusoidal(x, s, positions, 0.5) }, addTable)
		}
		clear(table)
		run("gather-add", "of-table", func() { absolute.AddEmbeddings(x, dim, absolute.Embedding[float32]{Table: table, IDs: positions}) }, addTable)
	}
}
