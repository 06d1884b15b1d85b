package absolute_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// sinusoidalCase is rows of the encoding of a model
// (testdata/sinusoidal/generate.py).
type sinusoidalCase struct {
	Model      string
	Dim        int
	Arguments  map[string]any
	Axes       int
	Fractional bool
	Positions  []float64
	InvFreq    []string `json:"inv_freq"`
	Exact      string
	Exact64    string
	Reference  []float64
	Error      []float64 // of the reference, for each token
}

func (c *sinusoidalCase) number(name string) float64 {
	x, _ := c.Arguments[name].(float64)
	return x
}

func (c *sinusoidalCase) flag(name string) bool {
	b, _ := c.Arguments[name].(bool)
	return b
}

func (c *sinusoidalCase) make() (*absolute.Sinusoidal, error) {
	switch c.Model {
	case "vaswani":
		return absolute.Vaswani(c.Dim)
	case "marian", "transformerxl":
		return absolute.Marian(c.Dim)
	case "tensor2tensor":
		return absolute.Tensor2Tensor(c.Dim, absolute.Tensor2TensorConfig{Axes: c.Axes, MinTimescale: c.number("min"), MaxTimescale: c.number("max")})
	case "fairseq":
		return absolute.Fairseq(c.Dim, int32(c.number("padding")))
	case "whisper":
		return absolute.Whisper(c.Dim)
	case "musicgen":
		return absolute.MusicGen(c.Dim)
	case "timesteps":
		return absolute.Timesteps(c.Dim, absolute.TimestepsConfig{
			FlipSinToCos: c.flag("flip"), DownscaleFreqShift: c.number("shift"), AngleScale: c.number("scale"), MaxPeriod: c.number("period"),
		})
	case "mae", "vitmae", "rtdetr":
		return absolute.MAE(c.Dim)
	case "detr":
		return absolute.DETR(c.Dim/2, 10000)
	case "mlx":
		return absolute.MLX(c.Dim, absolute.MLXConfig{MinFreq: c.number("min"), MaxFreq: c.number("max"), Amplitude: c.number("scale"), CosFirst: c.flag("cos_first")})
	}
	return nil, fmt.Errorf("no model %s", c.Model)
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
	s := testkit.Must(c.make())
	for k, want := range testkit.Hex[float64](c.InvFreq...) {
		if got := absolute.InvFreq(s)[k]; math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("frequency %d is %x, want %x", k, got, want)
		}
	}
	scaling := float32(1)
	if c.Model == "mlx" {
		scaling = float32(c.number("scale"))
		if scaling == 0 {
			scaling = float32(math.Sqrt(2 / float64(c.Dim)))
		}
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
	if c.Model == "detr" {
		c.checkDETRPositions(t, fractions)
	}
}

func (c *sinusoidalCase) checkDETRPositions(t *testing.T, want []float32) {
	height, width := int(c.number("height")), int(c.number("width"))
	var mask []bool
	if c.flag("masked") {
		mask = make([]bool, height*width)
		for y := range 3 {
			for x := range 3 {
				mask[y*width+x] = true
			}
		}
	}
	got := make([]float32, 2*height*width)
	testkit.NoError(t, absolute.DETRPositions(got, mask, absolute.DETRPositionsOptions{Height: height, Width: width, NormalizeTo: c.number("scale"), Offset: c.number("offset")}))
	if !testkit.SameBits(got, want) {
		t.Errorf("positions %v, want %v", got, want)
	}
}
