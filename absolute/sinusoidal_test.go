package absolute_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/generic"
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
			FlipSinToCos: c.flag("flip"), DownscaleFreqShift: c.number("shift"), Scale: c.number("scale"), MaxPeriod: c.number("period"),
		})
	case "mae", "vitmae", "rtdetr":
		return absolute.MAE(c.Dim)
	case "detr":
		return absolute.DETR(c.Dim/2, 10000)
	case "mlx":
		return absolute.MLX(c.Dim, absolute.MLXConfig{MinFreq: c.number("min"), MaxFreq: c.number("max"), Scale: c.number("scale"), CosFirst: c.flag("cos_first")})
	}
	return nil, fmt.Errorf("no model %s", c.Model)
}

func sinusoidalCases(t *testing.T) []*sinusoidalCase {
	t.Helper()
	text, err := os.ReadFile("testdata/sinusoidal/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []*sinusoidalCase }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	return file.Cases
}

// decodeBits returns big-endian hexadecimal numbers of so many bytes.
func decodeBits(t *testing.T, text string, size int) (list []uint64) {
	t.Helper()
	data, err := hex.DecodeString(text)
	if err != nil || len(data)%size != 0 {
		t.Fatalf("%d bytes: %v", len(data), err)
	}
	for i := 0; i < len(data); i += size {
		var bits uint64
		for _, b := range data[i : i+size] {
			bits = bits<<8 | uint64(b)
		}
		list = append(list, bits)
	}
	return list
}

// Every row has the bits of the formula, and comes as near to what the model's
// framework computes as that is to the formula.
func TestSinusoidalVectors(t *testing.T) {
	models := map[string]bool{}
	cases := sinusoidalCases(t)
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for i, c := range cases {
			models[c.Model] = true
			t.Run(fmt.Sprintf("case=%d-%s-%d", i, c.Model, c.Dim), func(t *testing.T) { c.check(t) })
		}
	})
	if len(models) != 13 {
		t.Errorf("%d models, want 13", len(models))
	}
}

func (c *sinusoidalCase) check(t *testing.T) {
	s := testkit.MustSinusoidal(t)(c.make())
	for k, text := range c.InvFreq {
		if got := absolute.InvFreq(s)[k]; math.Float64bits(got) != decodeBits(t, text, 8)[0] {
			t.Fatalf("frequency %d is %x, want %s", k, got, text)
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
	want := decodeBits(t, c.Exact, 4)
	if len(want) != len(rows) {
		t.Fatalf("%d elements, want %d", len(rows), len(want))
	}
	for i, bits := range want {
		if math.Float32bits(rows[i]) != uint32(bits) {
			t.Errorf("element %d of row %d is %x, want %x", i%c.Dim, i/c.Dim, rows[i], math.Float32frombits(uint32(bits)))
		}
		if c.Reference != nil && math.Abs(float64(rows[i])-c.Reference[i]) > c.Error[i/c.Dim] {
			t.Errorf("element %d of row %d is %v, and %v in the framework, more than %v away", i%c.Dim, i/c.Dim, rows[i], c.Reference[i], c.Error[i/c.Dim])
		}
		// In float64 MAE rounds a few times near 1, to 2^-53, and its angles.
		if c.Model == "mae" && math.Abs(rows64[i]-c.Reference[i]) > 0x1p-50 {
			t.Errorf("element %d of row %d is %v, and %v in MAE", i%c.Dim, i/c.Dim, rows64[i], c.Reference[i])
		}
	}
	for i, bits := range decodeBits(t, c.Exact64, 8) {
		if want := math.Float64frombits(bits) * float64(scaling); rows64[i] != want {
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
	if err := absolute.DETRPositions(got, mask, absolute.DETRPositionsOptions{Height: height, Width: width, Scale: c.number("scale"), Offset: c.number("offset")}); err != nil {
		t.Fatal(err)
	}
	if !testkit.SameBits(got, want) {
		t.Errorf("positions %v, want %v", got, want)
	}
}

// The table of a tutorial for 4 channels with 100 for 10000, to the digits
// printed there.
func TestSinusoidalTutorial(t *testing.T) {
	want := []float32{
		0, 1, 0, 1,
		0.84147098, 0.54030231, 0.09983342, 0.99500417,
		0.90929743, -0.41614684, 0.19866933, 0.98006658,
		0.14112001, -0.9899925, 0.29552021, 0.95533649,
	}
	s := testkit.MustSinusoidal(t)(absolute.NewSinusoidal(absolute.SinusoidalConfig{Dim: 4, InvFreq: []float64{1, 0.1}}))
	got := make([]float32, 16)
	if err := absolute.SinusoidalRows(got, s, []int32{0, 1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		if math.Abs(float64(got[i]-w)) > 6e-8 { // eight digits and a rounding
			t.Errorf("element %d is %v, want %v", i, got[i], w)
		}
	}
}

// plainSinusoidal is the row of a token, element by element.
func plainSinusoidal(cfg absolute.SinusoidalConfig, positions []float64) []float32 {
	n, scaling := len(cfg.InvFreq), float32(1)
	row := make([]float32, max(cfg.Dim, 2*len(positions)*n))
	if cfg.Scaling != 0 {
		scaling = float32(cfg.Scaling)
	}
	if cfg.Padding != nil && positions[0] == float64(*cfg.Padding) {
		return row[:cfg.Dim]
	}
	for axis, p := range positions {
		for k, w := range cfg.InvFreq {
			var cos, sin [1]float32
			generic.CosSinExactAt(cos[:], sin[:], p, []float64{w}, scaling, scaling)
			first := 2 * n * axis
			switch cfg.Order {
			case absolute.SinCosInterleaved:
				row[first+2*k], row[first+2*k+1] = sin[0], cos[0]
			case absolute.SinThenCos:
				row[first+k], row[first+n+k] = sin[0], cos[0]
			case absolute.CosThenSin:
				row[first+k], row[first+n+k] = cos[0], sin[0]
			}
		}
	}
	return row[:cfg.Dim]
}

// sinusoidalExtra is channels beyond the axes; -1 leaves the last out.
var sinusoidalExtra = []int{0, 0, 1, 5, 140, -1}

func randomSinusoidal(r *rand.Rand) absolute.SinusoidalConfig {
	cfg := absolute.SinusoidalConfig{
		InvFreq: make([]float64, 1+r.IntN(150)),
		Order:   absolute.SinusoidalOrder(r.IntN(3)),
		Axes:    1 + r.IntN(3),
		Scaling: testkit.OneOf(r, []float64{0, 1, 0.3, 0.0625}),
	}
	for i := range cfg.InvFreq {
		cfg.InvFreq[i] = math.Exp2(-20 * r.Float64())
	}
	cfg.Dim = 2*cfg.Axes*len(cfg.InvFreq) + testkit.OneOf(r, sinusoidalExtra)
	if r.IntN(2) == 0 {
		padding := int32(r.IntN(4) - 1)
		cfg.Padding = &padding
	}
	return cfg
}

// Rows are written and added as plain loops over the formulas would, at all
// lengths, between canaries.
func TestSinusoidalAgainstPlain(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		testkit.EachType(t, testSinusoidal[float32], testSinusoidal[posenc.Float16], testSinusoidal[posenc.BFloat16])
	})
}

func testSinusoidal[T posenc.Element](t *testing.T) {
	r := testkit.NewRand(71)
	for range testkit.Rounds(60) {
		cfg := randomSinusoidal(r)
		s := testkit.MustSinusoidal(t)(absolute.NewSinusoidal(cfg))
		tokens := testkit.OneOf(r, []int{0, 1, 2, 3, 4, 5, 31, 32, 33, 70})
		integers := make([]int32, cfg.Axes*tokens)
		fractions := make([]float32, len(integers))
		kinds := []string{"sequential", "zero", "repeated", "random", "runs", "descending"}
		if tokens > 0 {
			testkit.PositionKinds[testkit.OneOf(r, kinds)](r, integers)
		}
		for i := range fractions {
			fractions[i] = testkit.OneOf(r, []float32{0, -1, 1, 0.5, 1000 * r.Float32(), -r.Float32()})
			if r.IntN(5) == 0 {
				integers[i] = int32(r.IntN(3)) - 1
			}
		}
		scale := testkit.OneOf(r, []float32{1, 22.627417, -0.3, 0})
		checkSinusoidalCalls(t, r, cfg, s, integers, tokens, scale, absolute.SinusoidalRows[T, int32], absolute.AddSinusoidal[T, int32])
		checkSinusoidalCalls(t, r, cfg, s, fractions, tokens, scale, absolute.SinusoidalRows[T, float32], absolute.AddSinusoidal[T, float32])
	}
}

func checkSinusoidalCalls[T posenc.Element, P absolute.Position](t *testing.T, r *rand.Rand, cfg absolute.SinusoidalConfig, s *absolute.Sinusoidal, positions []P, tokens int, scale float32,
	write func([]T, *absolute.Sinusoidal, []P) error, add func([]T, *absolute.Sinusoidal, []P, float32) error) {
	t.Helper()
	const canaries = 32
	start := canaries + r.IntN(16)
	memory := make([]T, start+tokens*cfg.Dim+canaries)
	for i := range memory {
		memory[i] = testkit.Narrow[T](4*r.Float32() - 2)
	}
	written, added := slices.Clone(memory), slices.Clone(memory)
	end := start + tokens*cfg.Dim
	given := slices.Clone(positions)
	if err := errors.Join(write(written[start:end:end], s, positions), add(added[start:end:end], s, positions, scale)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(positions, given) {
		t.Fatal("positions have changed")
	}
	for i, x := range memory {
		wantWritten, wantAdded := x, x
		if i >= start && i < end {
			at := make([]float64, cfg.Axes)
			for a := range at {
				at[a] = float64(positions[a*tokens+(i-start)/cfg.Dim])
			}
			if (i-start)%cfg.Dim == 0 {
				plainRow = plainSinusoidal(cfg, at)
			}
			v := plainRow[(i-start)%cfg.Dim]
			wantWritten, wantAdded = testkit.Narrow[T](v), testkit.Narrow[T](float32(testkit.Widen(x)*scale)+v)
		}
		if !testkit.Same(testkit.Widen(written[i]), testkit.Widen(wantWritten)) || !testkit.Same(testkit.Widen(added[i]), testkit.Widen(wantAdded)) {
			t.Fatalf("element %d of %d tokens of %+v: wrote %v, want %v; added %v, want %v",
				i-start, tokens, cfg, testkit.Widen(written[i]), testkit.Widen(wantWritten), testkit.Widen(added[i]), testkit.Widen(wantAdded))
		}
	}
}

var plainRow []float32 // of the token at hand

func TestSinusoidalAllocatesNothing(t *testing.T) {
	s := testkit.MustSinusoidal(t)(absolute.Vaswani(96))
	whisper := testkit.MustSinusoidal(t)(absolute.Whisper(96))
	positions, times := make([]int32, 40), make([]float32, 40)
	x, half := make([]float32, 40*96), make([]posenc.BFloat16, 40*96)
	var err error
	for name, call := range map[string]func(){
		"SinusoidalRows interleaved":  func() { err = absolute.SinusoidalRows(x, s, positions) },
		"SinusoidalRows concatenated": func() { err = absolute.SinusoidalRows(x, whisper, positions) },
		"SinusoidalRows of times":     func() { err = absolute.SinusoidalRows(x, whisper, times) },
		"SinusoidalRows of bfloat16":  func() { err = absolute.SinusoidalRows(half, s, positions) },
		"AddSinusoidal":               func() { err = absolute.AddSinusoidal(x, s, positions, 2) },
		"AddSinusoidal to one token":  func() { err = absolute.AddSinusoidal(half[:96], s, positions[:1], 2) },
		"Sinusoidal.Shift":            func() { err = s.Shift(x, positions) },
	} {
		testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
			if n := testing.AllocsPerRun(20, call); n != 0 || err != nil {
				t.Errorf("%s: %v allocations, %v", name, n, err)
			}
		})
	}
}

func TestSinusoidalErrors(t *testing.T) {
	s := testkit.MustSinusoidal(t)(absolute.Vaswani(8))
	mae := testkit.MustSinusoidal(t)(absolute.MAE(8))
	odd := testkit.MustSinusoidal(t)(absolute.Marian(7))
	large := testkit.MustSinusoidal(t)(absolute.NewSinusoidal(absolute.SinusoidalConfig{Dim: 2, InvFreq: []float64{1 << 40}}))
	fast := testkit.MustSinusoidal(t)(absolute.NewSinusoidal(absolute.SinusoidalConfig{Dim: 2, InvFreq: []float64{1 << 18}}))
	x := make([]float32, 16)
	sharedX := make([]float32, 8)
	nan := float32(math.NaN())
	create := func(cfg absolute.SinusoidalConfig) error { _, err := absolute.NewSinusoidal(cfg); return err }
	of := func(_ *absolute.Sinusoidal, err error) error { return err }
	one := []float64{1}
	for _, tt := range []struct {
		name string
		err  error
		kind error
		want string
	}{
		{"no frequencies", create(absolute.SinusoidalConfig{Dim: 4}), posenc.ErrConfig, "absolute.NewSinusoidal: cfg.InvFreq is 0 elements"},
		{"too many frequencies", create(absolute.SinusoidalConfig{Dim: 4, InvFreq: make([]float64, 1<<15+1)}), posenc.ErrConfig, "cfg.InvFreq"},
		{"negative axes", create(absolute.SinusoidalConfig{Dim: 4, InvFreq: one, Axes: -1}), posenc.ErrConfig, "cfg.Axes is -1"},
		{"many axes", create(absolute.SinusoidalConfig{Dim: 4, InvFreq: one, Axes: math.MaxInt}), posenc.ErrConfig, "cfg.Axes"},
		{"few channels", create(absolute.SinusoidalConfig{Dim: 2, InvFreq: one, Axes: 2}), posenc.ErrConfig, "cfg.Dim is 2"},
		{"many channels", create(absolute.SinusoidalConfig{Dim: 1<<16 + 1, InvFreq: one}), posenc.ErrConfig, "cfg.Dim"},
		{"order", create(absolute.SinusoidalConfig{Dim: 2, InvFreq: one, Order: 3}), posenc.ErrConfig, "cfg.Order is 3"},
		{"scaling", create(absolute.SinusoidalConfig{Dim: 2, InvFreq: one, Scaling: math.NaN()}), posenc.ErrConfig, "cfg.Scaling"},
		{"negative scaling", create(absolute.SinusoidalConfig{Dim: 2, InvFreq: one, Scaling: -1}), posenc.ErrConfig, "cfg.Scaling"},
		{"frequency", create(absolute.SinusoidalConfig{Dim: 4, InvFreq: []float64{1, math.Inf(1)}}), posenc.ErrConfig, "cfg.InvFreq[1]"},
		{"tiny frequency", create(absolute.SinusoidalConfig{Dim: 2, InvFreq: []float64{1e-300}}), posenc.ErrConfig, "cfg.InvFreq[0]"},

		{"odd Vaswani", of(absolute.Vaswani(7)), posenc.ErrConfig, "absolute.Vaswani: dim is 7"},
		{"Marian of 1 channel", of(absolute.Marian(1)), posenc.ErrConfig, "absolute.Marian: dim is 1"},
		{"one channel", of(absolute.Tensor2Tensor(1, absolute.Tensor2TensorConfig{Axes: 1, MinTimescale: 1, MaxTimescale: 1e4})), posenc.ErrConfig, "absolute.Tensor2Tensor: dim is 1"},
		{"more axes than pairs", of(absolute.Tensor2Tensor(5, absolute.Tensor2TensorConfig{Axes: 3, MinTimescale: 1, MaxTimescale: 1e4})), posenc.ErrConfig, "cfg.Axes is 3, want from 0 to dim/2 = 2"},
		{"timescale", of(absolute.Tensor2Tensor(4, absolute.Tensor2TensorConfig{Axes: 1, MinTimescale: -1, MaxTimescale: 1e4})), posenc.ErrConfig, "cfg.MinTimescale is -1"},
		{"fairseq of 3 channels", of(absolute.Fairseq(3, 1)), posenc.ErrConfig, "absolute.Fairseq: dim is 3"},
		{"Whisper of 2 channels", of(absolute.Whisper(2)), posenc.ErrConfig, "absolute.Whisper: dim is 2"},
		{"MusicGen of 3 channels", of(absolute.MusicGen(3)), posenc.ErrConfig, "absolute.MusicGen: dim is 3"},
		{"timesteps of 1 channel", of(absolute.Timesteps(1, absolute.TimestepsConfig{})), posenc.ErrConfig, "absolute.Timesteps: dim is 1"},
		{"shift of all", of(absolute.Timesteps(2, absolute.TimestepsConfig{DownscaleFreqShift: 1})), posenc.ErrConfig, "DownscaleFreqShift is 1"},
		{"period", of(absolute.Timesteps(2, absolute.TimestepsConfig{MaxPeriod: 1})), posenc.ErrConfig, "absolute.Timesteps: cfg.MaxPeriod is 1, want 0 or a finite number above 1"},
		{"negative times", of(absolute.Timesteps(8, absolute.TimestepsConfig{Scale: -1})), posenc.ErrConfig, "absolute.Timesteps: cfg.Scale is -1, want 0 or a frequency from"},
		{"fast times", of(absolute.Timesteps(8, absolute.TimestepsConfig{Scale: 1e300})), posenc.ErrConfig, "cfg.Scale is 1e+300, want 0 or a frequency from 2^-900 to below 2^50"},
		{"period of NaN", of(absolute.Timesteps(8, absolute.TimestepsConfig{MaxPeriod: math.NaN()})), posenc.ErrConfig, "cfg.MaxPeriod is NaN"},
		{"slow times", of(absolute.Timesteps(8, absolute.TimestepsConfig{DownscaleFreqShift: 3.999})), posenc.ErrConfig, "cfg.MaxPeriod is 10000, want frequencies from 2^-900 to below 2^50"},
		{"slow scale", of(absolute.Timesteps(8, absolute.TimestepsConfig{Scale: 0x1p-900})), posenc.ErrConfig, "cfg.Scale is 1.1830521861667747e-271, want frequencies from 2^-900 to below 2^50"},
		{"endless shift", of(absolute.Timesteps(8, absolute.TimestepsConfig{DownscaleFreqShift: math.Inf(-1)})), posenc.ErrConfig, "cfg.DownscaleFreqShift is -Inf, want a number from -math.MaxFloat32 to below dim/2 = 4"},
		{"fast timescale", of(absolute.Tensor2Tensor(8, absolute.Tensor2TensorConfig{Axes: 1, MinTimescale: 1 << 50, MaxTimescale: 1e4})), posenc.ErrConfig, "absolute.Tensor2Tensor: cfg.MinTimescale is 1.125899906842624e+15, want"},
		{"negative timescale", of(absolute.Tensor2Tensor(8, absolute.Tensor2TensorConfig{Axes: 1, MinTimescale: 1, MaxTimescale: -2})), posenc.ErrConfig, "cfg.MaxTimescale is -2, want 0 or a positive finite number"},
		{"short timescale", of(absolute.Tensor2Tensor(8, absolute.Tensor2TensorConfig{Axes: 1, MinTimescale: 1 << 26, MaxTimescale: 1})), posenc.ErrConfig, "cfg.MaxTimescale is 1, want frequencies from 2^-900 to below 2^50"},
		{"long timescale", of(absolute.Tensor2Tensor(8, absolute.Tensor2TensorConfig{Axes: 1, MinTimescale: 1, MaxTimescale: 1e300})), posenc.ErrConfig, "cfg.MaxTimescale is 1e+300, want frequencies"},
		{"MAE of 6 channels", of(absolute.MAE(6)), posenc.ErrConfig, "absolute.MAE: dim is 6"},
		{"odd DETR", of(absolute.DETR(7, 1e4)), posenc.ErrConfig, "features is 7"},
		{"DETR temperature", of(absolute.DETR(8, 1)), posenc.ErrConfig, "absolute.DETR: temperature is 1, want a finite number above 1"},
		{"hot DETR", of(absolute.DETR(64, 1e300)), posenc.ErrConfig, "temperature is 1e+300, want frequencies from 2^-900"},
		{"odd MLX", of(absolute.MLX(3, absolute.MLXConfig{MinFreq: 1e-4, MaxFreq: 1, Scale: 0})), posenc.ErrConfig, "absolute.MLX: dim is 3"},
		{"MLX frequency", of(absolute.MLX(4, absolute.MLXConfig{MinFreq: -2, MaxFreq: 1, Scale: 0})), posenc.ErrConfig, "absolute.MLX: cfg.MinFreq is -2, want 0 or a frequency from"},

		{"slow MLX", of(absolute.MLX(4, absolute.MLXConfig{MinFreq: 1e-300, MaxFreq: 1, Scale: 0})), posenc.ErrConfig, "cfg.MinFreq is 1e-300, want 0 or a frequency from 2^-900"},
		{"fast MLX", of(absolute.MLX(4, absolute.MLXConfig{MinFreq: 1e-4, MaxFreq: -1, Scale: 0})), posenc.ErrConfig, "cfg.MaxFreq is -1, want 0 or a frequency from"},
		{"MLX scale", of(absolute.MLX(4, absolute.MLXConfig{MinFreq: 1e-4, MaxFreq: 1, Scale: 1e300})), posenc.ErrConfig, "absolute.MLX: cfg.Scale is 1e+300, want 0 or a positive float32"},

		{"nil", absolute.SinusoidalRows(x, nil, []int32{1}), posenc.ErrConfig, "absolute.SinusoidalRows: s is nil or zero"},
		{"zero", absolute.AddSinusoidal(x, new(absolute.Sinusoidal), []int32{1}, 1), posenc.ErrConfig, "absolute.AddSinusoidal: s is nil or zero"},
		{"uneven axes", absolute.SinusoidalRows(x, mae, []int32{1, 2, 3}), posenc.ErrLength, "positions is 3 elements"},
		{"short", absolute.SinusoidalRows(x[:15], s, []int32{1, 2}), posenc.ErrLength, "dst is 15 elements, want 16"},
		{"long", absolute.AddSinusoidal(x, s, []int32{1}, 1), posenc.ErrLength, "x is 16 elements, want 8"},
		{"float64 rows", absolute.SinusoidalRows64(make([]float64, 7), s, []int32{1}), posenc.ErrLength, "SinusoidalRows64: dst is 7 elements"},
		{"position", absolute.SinusoidalRows(x[:4], large, []int32{0, 1 << 10}), posenc.ErrPosition, "positions[1] is 1024, want a number of at most 1023 in magnitude, so that angles stay below 2^50"},
		{"time", absolute.SinusoidalRows(x[:4], large, []float32{0, 1 << 10}), posenc.ErrPosition, "positions[1] is 1024"},
		{"far time", absolute.SinusoidalRows(x[:8], s, []float32{3e9}), posenc.ErrPosition, "positions[0] is 3e+09, want a number of at most 2^31 in magnitude: position"},
		{"far time, fast", absolute.SinusoidalRows(x[:2], fast, []float32{3e9}), posenc.ErrPosition, "positions[0] is 3e+09, want a number of at most 2^31 in magnitude: position"},
		{"NaN", absolute.SinusoidalRows(x[:8], s, []float32{nan}), posenc.ErrPosition, "positions[0] is NaN"},
		{"scale", absolute.AddSinusoidal(x[:8], s, []int32{1}, nan), posenc.ErrConfig, "scale is NaN"},
		{"overlap", absolute.SinusoidalRows(sharedX, s, sharedX[7:]), posenc.ErrOverlap, "dst is sharing memory with positions"},

		{"shift length", s.Shift(x, []int32{1}), posenc.ErrLength, "Sinusoidal.Shift: rows is 16 elements, want 8"},
		{"shift without a cosine", odd.Shift(x[:14], []int32{1, 2}), posenc.ErrConfig, "Sinusoidal.Shift: s is an encoding that leaves the last element out"},
		{"matrix without a cosine", odd.ShiftMatrix(make([]float32, 49), []int32{1}), posenc.ErrConfig, "Sinusoidal.ShiftMatrix: s is"},
		{"shift of nil", (*absolute.Sinusoidal)(nil).Shift(x, []int32{1}), posenc.ErrConfig, "Sinusoidal.Shift: s is nil"},
		{"matrix of nil", (*absolute.Sinusoidal)(nil).ShiftMatrix(x, []int32{1}), posenc.ErrConfig, "Sinusoidal.ShiftMatrix: s is nil"},
		{"matrix axes", mae.ShiftMatrix(make([]float32, 64), []int32{1}), posenc.ErrLength, "deltas is 1 element, want 2"},
		{"matrix length", s.ShiftMatrix(x, []int32{1}), posenc.ErrLength, "matrix is 16 elements, want 8*8"},
		{"matrix position", large.ShiftMatrix(x[:4], []int32{1 << 10}), posenc.ErrPosition, "deltas"},
	} {
		if !errors.Is(tt.err, tt.kind) || tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %v with %q", tt.name, tt.err, tt.kind, tt.want)
		}
	}
	if slices.ContainsFunc(x, func(v float32) bool { return v != 0 }) {
		t.Error("an error came after the first write")
	}
}

// Slices next to a guard, positions too.
func TestGuardSinusoidal(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(72)
		g := testkit.NewGuards(t, r, 4*40*330, "x", "positions")
		for _, pairs := range []int{1, 3, 8, 17, 63, 64, 65} {
			for _, tokens := range []int{1, 4, 33} {
				for order := range absolute.CosThenSin + 1 {
					for _, atEnd := range []bool{false, true} {
						cfg := absolute.SinusoidalConfig{Dim: 2*pairs + int(order)%2, InvFreq: testkit.RandomFrequencies(r, pairs, []int32{100}, false), Order: order}
						for i := range cfg.InvFreq {
							cfg.InvFreq[i] = math.Exp2(-20 * r.Float64())
						}
						s := testkit.MustSinusoidal(t)(absolute.NewSinusoidal(cfg))
						positions := testkit.Flush[int32](g.Arenas["positions"], tokens, atEnd)
						testkit.CountFrom(positions, 90, 1)
						x := g.Floats("x", tokens*cfg.Dim, atEnd)
						for _, add := range []bool{false, true} {
							var err error
							g.Check(fmt.Sprintf("%d tokens, %d pairs, order %d, add %t, at the end %t", tokens, pairs, order, add, atEnd), func() {
								if add {
									err = absolute.AddSinusoidal(x, s, positions, 2)
								} else {
									err = absolute.SinusoidalRows(x, s, positions)
								}
							}, func(copies map[string][]float32) {
								for t, p := range positions {
									row := copies["x"][t*cfg.Dim:][:cfg.Dim]
									for i, v := range plainSinusoidal(cfg, []float64{float64(p)}) {
										if add {
											v += float32(row[i] * 2)
										}
										row[i] = v
									}
								}
							}, map[string][]float32{"x": x})
							if err != nil {
								t.Fatal(err)
							}
						}
					}
				}
			}
		}
	})
}

// FuzzSinusoidal writes and adds rows of any shape and frequencies, valid or not,
// on every implementation: the same error and untouched data, or the bits of
// plain loops.
func FuzzSinusoidal(f *testing.F) {
	f.Add(64, 20, 1, uint8(33), uint8(0), uint8(200), []byte{1, 0, 0, 0}, []byte(nil), float32(8))
	f.Add(9, 3, 1, uint8(4), uint8(5), uint8(0), []byte{0, 0, 0, 128, 255, 255, 255, 127}, []byte{1, 2, 3, 4, 5, 6, 7, 8}, float32(1))
	f.Add(-1, 0, math.MaxInt, uint8(1), uint8(255), uint8(255), []byte{0}, []byte{0}, float32(math.Inf(1)))
	f.Fuzz(func(t *testing.T, dim, pairs, axes int, tokens, mode, run uint8, positionData, frequencyData []byte, scale float32) {
		pairs, tokens = (pairs%150+150)%150, tokens%70
		cfg := absolute.SinusoidalConfig{Dim: dim, InvFreq: testkit.Repeat64(pairs, frequencyData), Order: absolute.SinusoidalOrder(mode & 3), Axes: axes}
		if mode&4 != 0 {
			cfg.Padding = new(int32)
		}
		s, err := absolute.NewSinusoidal(cfg)
		if err != nil || dim > 1000 {
			return
		}
		cfg.Axes = max(1, axes)
		tokens = uint8(testkit.Quick(int(tokens), slices.Repeat(cfg.InvFreq, cfg.Axes)))
		positions := testkit.RepeatPositions(cfg.Axes*int(tokens), positionData, run)
		before := make([]float32, int(tokens)*dim)
		testkit.Repeat32(before, positionData)
		var want []float32
		testkit.OnEach(func(impl kernels.Implementation) {
			rows, sums := slices.Clone(before), slices.Clone(before)
			err, errAdd := absolute.SinusoidalRows(rows, s, positions), absolute.AddSinusoidal(sums, s, positions, scale)
			if err != nil && !testkit.SameBits(rows, before) || errAdd != nil && !testkit.SameBits(sums, before) {
				t.Fatalf("%s: wrote before the errors %v, %v", impl, err, errAdd)
			}
			if err != nil {
				return
			}
			if want == nil {
				want = []float32{}
				for token := range int(tokens) {
					at := make([]float64, cfg.Axes)
					for a := range at {
						at[a] = float64(positions[a*int(tokens)+token])
					}
					want = append(want, plainSinusoidal(cfg, at)...)
				}
			}
			for i, w := range want {
				if !testkit.Same(rows[i], w) || errAdd == nil && !testkit.Same(sums[i], float32(before[i]*scale)+w) {
					t.Fatalf("%s: element %d is %v, want %v; the sum is %v", impl, i, rows[i], w, sums[i])
				}
			}
		})
	})
}
