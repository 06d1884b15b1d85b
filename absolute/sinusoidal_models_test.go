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
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/internal/test/measure"
	"github.com/go-posenc/posenc/kernels"
)

// modelParameters are those of any model. Which of them it has, and what they mean, is
// for the model to say.
type modelParameters struct {
	dim, axes int
	padding   int32
	flag      bool
	x, y, z   float64
}

// modelRows is what the documentation of a model's encoding says of it.
type modelRows struct {
	right       bool // as far as dim, axes and the ranges of parameters go
	dim, axes   int
	n           int                     // frequencies of an axis
	frequency   func(k float64) float64 // number k
	interleaved bool
	cosFirst    bool
	scaling     float64
	padding     *int32
}

// model is an encoding named after a model.
type model struct {
	name    string
	least   int // dim is at least least and a multiple of unit
	unit    int
	usual   modelParameters
	digests map[string]modelParameters // labels, from before functions lost their prefix
	make    func(p modelParameters) (*absolute.Sinusoidal, error)
	rows    func(p modelParameters, m *modelRows)
}

var models = []model{
	{
		name: "Vaswani", least: 2, unit: 2,
		digests: map[string]modelParameters{"SinusoidalVaswani": {dim: 34}},
		make:    func(p modelParameters) (*absolute.Sinusoidal, error) { return absolute.Vaswani(p.dim) },
		rows: func(p modelParameters, m *modelRows) {
			m.interleaved, m.frequency = true, powers(10000, float64(m.n))
		},
	},
	{
		name: "Marian", least: 2, unit: 1,
		digests: map[string]modelParameters{"SinusoidalMarian": {dim: 34}, "SinusoidalMarian/dim=35": {dim: 35}},
		make:    func(p modelParameters) (*absolute.Sinusoidal, error) { return absolute.Marian(p.dim) },
		rows: func(p modelParameters, m *modelRows) {
			m.n, m.frequency = p.dim-m.n, powers(10000, float64(p.dim)/2)
		},
	},
	{
		name: "Tensor2Tensor", least: 2, unit: 1, usual: modelParameters{axes: 2},
		digests: map[string]modelParameters{"SinusoidalTensor2Tensor": {dim: 35, axes: 2, x: 1, y: 10000}},
		make: func(p modelParameters) (*absolute.Sinusoidal, error) {
			return absolute.Tensor2Tensor(p.dim, absolute.Tensor2TensorConfig{Axes: p.axes, MinTimescale: p.x, MaxTimescale: p.y})
		},
		rows: func(p modelParameters, m *modelRows) {
			least, most := cmp.Or(p.x, 1), cmp.Or(p.y, 10000)
			m.right = m.right && p.axes >= 0 && p.axes <= m.n && least >= 0x1p-900 && least < 0x1p50 && most > 0
			m.axes = max(p.axes, 1)
			m.n /= m.axes
			m.frequency = func(k float64) float64 {
				return least * math.Exp(-k*(math.Log(most)-math.Log(least))/math.Max(float64(m.n-1), 1))
			}
		},
	},
	{
		name: "Fairseq", least: 4, unit: 1, usual: modelParameters{padding: 1},
		digests: map[string]modelParameters{"SinusoidalFairseq": {dim: 35, padding: 1}},
		make:    func(p modelParameters) (*absolute.Sinusoidal, error) { return absolute.Fairseq(p.dim, p.padding) },
		rows: func(p modelParameters, m *modelRows) {
			m.frequency, m.padding = powers(10000, float64(m.n-1)), &p.padding
		},
	},
	{
		name: "Whisper", least: 4, unit: 2,
		digests: map[string]modelParameters{"SinusoidalWhisper": {dim: 34}},
		make:    func(p modelParameters) (*absolute.Sinusoidal, error) { return absolute.Whisper(p.dim) },
		rows:    func(p modelParameters, m *modelRows) { m.frequency = powers(10000, float64(m.n-1)) },
	},
	{
		name: "MusicGen", least: 4, unit: 1,
		digests: map[string]modelParameters{"SinusoidalMusicGen": {dim: 35}},
		make:    func(p modelParameters) (*absolute.Sinusoidal, error) { return absolute.MusicGen(p.dim) },
		rows: func(p modelParameters, m *modelRows) {
			m.frequency, m.cosFirst = powers(10000, float64(m.n-1)), true
		},
	},
	{
		name: "Timesteps", least: 2, unit: 1, usual: modelParameters{z: 0.5},
		digests: map[string]modelParameters{"SinusoidalTimesteps": {dim: 35, flag: true, x: 1000, z: 1}},
		make: func(p modelParameters) (*absolute.Sinusoidal, error) {
			return absolute.Timesteps(p.dim, absolute.TimestepsConfig{FlipSinToCos: p.flag, DownscaleFreqShift: p.z, AngleScale: p.x, MaxPeriod: p.y})
		},
		rows: func(p modelParameters, m *modelRows) {
			scale, period := cmp.Or(p.x, 1), cmp.Or(p.y, 10000)
			m.right = m.right && p.z < float64(m.n) && p.z >= -math.MaxFloat32 && scale > 0 && period > 1
			m.cosFirst = p.flag
			m.frequency = func(k float64) float64 { return scale * math.Pow(period, -k/(float64(m.n)-p.z)) }
		},
	},
	{
		name: "MAE", least: 4, unit: 4,
		digests: map[string]modelParameters{"SinusoidalMAE": {dim: 36}},
		make:    func(p modelParameters) (*absolute.Sinusoidal, error) { return absolute.MAE(p.dim) },
		rows: func(p modelParameters, m *modelRows) {
			class := int32(-1)
			m.axes, m.n, m.padding = 2, p.dim/4, &class
			m.frequency = powers(10000, float64(m.n))
		},
	},
	{
		name: "DETR", least: 2, unit: 2, usual: modelParameters{y: 10000},
		digests: map[string]modelParameters{"SinusoidalDETR": {dim: 18, y: 10000}},
		make:    func(p modelParameters) (*absolute.Sinusoidal, error) { return absolute.DETR(p.dim, p.y) },
		rows: func(p modelParameters, m *modelRows) {
			m.right = m.right && p.dim <= 1<<15 && p.y > 1
			m.axes, m.dim, m.interleaved, m.frequency = 2, 2*p.dim, true, powers(p.y, float64(m.n))
		},
	},
	{
		name: "MLX", least: 2, unit: 2,
		digests: map[string]modelParameters{"SinusoidalMLX": {dim: 34, flag: true, x: 0.0001, y: 1}},
		make: func(p modelParameters) (*absolute.Sinusoidal, error) {
			return absolute.MLX(p.dim, absolute.MLXConfig{MinFreq: p.x, MaxFreq: p.y, Amplitude: p.z, CosFirst: p.flag})
		},
		rows: func(p modelParameters, m *modelRows) {
			least, most := cmp.Or(p.x, 0.0001), cmp.Or(p.y, 1)
			m.scaling = cmp.Or(p.z, math.Sqrt(2/float64(p.dim)))
			m.right = m.right && least >= 0x1p-900 && least < 0x1p50 && most > 0 && float32(m.scaling) > 0 && m.scaling <= math.MaxFloat32
			m.cosFirst = p.flag
			m.frequency = func(k float64) float64 {
				return most * math.Exp(k/math.Max(float64(m.n-1), 1)*(math.Log(least)-math.Log(most)))
			}
		},
	},
}

func powers(base, denominator float64) func(k float64) float64 {
	return func(k float64) float64 { return math.Pow(base, -k/denominator) }
}

// describe returns what the documentation says of the encoding with parameters.
func (m *model) describe(p modelParameters) modelRows {
	rows := modelRows{right: p.dim >= m.least && p.dim <= frequency.MaxRotaryDim && p.dim%m.unit == 0, dim: p.dim, axes: 1, n: p.dim / 2, scaling: 1}
	m.rows(p, &rows)
	return rows
}

// outOfRange reports whether some frequency is. Near the ends of the range it is not known, and
// no call comes there.
func (m *modelRows) outOfRange() bool {
	out := false
	for k := range m.n {
		w := m.frequency(float64(k))
		if math.Abs(w-0x1p50) < 0x1p20 || math.Abs(w-0x1p-900) < 0x1p-930 {
			return false
		}
		out = out || !(w >= 0x1p-900 && w < 0x1p50)
	}
	return out
}

// element returns element i of the row at the positions, one of each axis, and how
// far that may be from the real number.
func (m *modelRows) element(positions []int32, i int) (value, margin float64) {
	axis, j := i/(2*m.n), i%(2*m.n)
	if axis >= m.axes || m.padding != nil && positions[0] == *m.padding {
		return 0, 0
	}
	second, k := j/m.n, j%m.n
	if m.interleaved {
		second, k = j%2, j/2
	}
	angle := float64(positions[axis]) * m.frequency(float64(k))
	value = math.Sin(angle)
	if (second == 1) != m.cosFirst {
		value = math.Cos(angle)
	}
	// The exponent, up to 745 in magnitude, is off by some roundings; and so, by one
	// or two each, are the power, the scaling and the result.
	return value * m.scaling, m.scaling*(math.Abs(angle)*0x1p-41+0x1p-22) + 0x1p-149
}

var _ = func() (none struct{}) {
	for i := range models {
		models[i].register()
	}
	return none
}()

func (m *model) register() {
	kit.Register(kit.Case{Function: m.name,
		Call: func(a *kit.Arguments) kit.Call {
			p := m.usual
			p.dim, p.flag = m.unit*a.Number((m.least+m.unit-1)/m.unit, 300/m.unit), a.Yes()
			if p.axes > 0 {
				p.axes = min(a.Number(1, 4), max(p.dim/2, 1))
			}
			if a.Any() {
				p.dim, p.axes, p.padding = a.Number(2, 90), a.Number(0, 3), int32(a.Number(0, 2))
				p.x, p.y, p.z = a.Real(p.x), a.Real(p.y), a.Real(p.z)
			}
			positions := make([]int32, 8)
			for i := range positions {
				positions[i] = int32(a.R.IntN(1000)) >> a.R.IntN(10)
			}
			var made *absolute.Sinusoidal
			return kit.Call{
				Run: func() (err error) {
					made, err = m.make(p)
					return kit.Made(made, err)
				},
				Want: func() {
					rows := m.describe(p)
					rows.check(made, positions)
				},
				Right: func() bool {
					rows := m.describe(p)
					return rows.right && !rows.outOfRange()
				},
				Allocates: kit.Constructed,
			}
		},
		Digests: func(add kit.AddDigest) {
			for label, p := range m.digests {
				add(label, func(d *kit.Digest) {
					s, err := m.make(p)
					d.Must(err)
					rows := m.describe(p)
					digestEncoding(d, encoding{Sinusoidal: s, cfg: absolute.SinusoidalConfig{Dim: rows.dim, Axes: rows.axes}})
				})
			}
		},
	})
}

// check compares rows with the formulas of the documentation.
func (m *modelRows) check(s *absolute.Sinusoidal, positions []int32) {
	if slices.ContainsFunc(absolute.InvFreq(s), func(w float64) bool { return w > 0x1p40 }) {
		return // some positions are too far
	}
	row, row64 := make([]float32, m.dim), make([]float64, m.dim)
	for at := range slices.Chunk(positions[:len(positions)/m.axes*m.axes], m.axes) {
		if err := errors.Join(absolute.SinusoidalRows(row, s, at), absolute.SinusoidalRows64(row64, s, at)); err != nil {
			panic(err)
		}
		for i := range row {
			want, margin := m.element(at, i)
			if math.Abs(float64(row[i])-want) > margin || math.Abs(row64[i]-want) > margin {
				panic(fmt.Sprintf("element %d at %v is %v and %v, want %v within %v", i, at, row[i], row64[i], want, margin))
			}
		}
	}
}

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
	return kit.Must(models[i].make(p))
}

// Every row has the bits of the formula, and comes as near to what the model's
// framework computes as that is to the formula.
func TestSinusoidalVectors(t *testing.T) {
	models := map[string]bool{}
	var file struct{ Cases []*sinusoidalCase }
	kit.ReadJSON("testdata/sinusoidal/vectors.json", &file)
	kit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
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
	for k, want := range kit.Hex[float64](c.InvFreq...) {
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
	want := kit.Hex[float32](c.Exact)
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
	for i, w := range kit.Hex[float64](c.Exact64) {
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
	kit.NoError(t, absolute.DETRPositions(got, mask, absolute.DETRPositionsOptions{Height: height, Width: width, NormalizeTo: c.Arguments.Scale, Offset: c.Arguments.Offset}))
	if !kit.SameBits(got, fractions) {
		t.Errorf("positions %v, want %v", got, fractions)
	}
}

// BenchmarkSinusoidal reports rows of both orders as a share of the speed of cosines
// and sines alone, and rows made and added in place, and rows gathered from a table,
// as a share of the speed of adding a table of as many rows that is there already:
// 64 KB, 4 MB and 64 MB of embeddings.
func BenchmarkSinusoidal(b *testing.B) {
	const dim = 512
	rotary := kit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit})
	for _, tokens := range []int{32, 2048, 32768} {
		positions := kit.Sequence(tokens)
		x, table, cos, sin := kit.Aligned(tokens*dim), kit.Aligned(tokens*dim), kit.Aligned(tokens*dim/2), kit.Aligned(tokens*dim/2)
		cosSin := func() { rotary.CosSin(cos, sin, positions) }
		addTable := func() {
			for i := 0; i < len(x); i += kernels.MaxCallElements {
				end := min(i+kernels.MaxCallElements, len(x))
				kernels.AddScaledF32(dispatch.Implementation(), x[i:end], table[i:end], 0.5) // so that sums stay small
			}
		}
		run := func(operation, unit string, work, rival func()) {
			b.Run(fmt.Sprintf("tokens=%d/dim=%d/operation=%s", tokens, dim, operation), func(b *testing.B) {
				kit.BenchmarkEach(b, func(b *testing.B) { measure.Against(b, unit, work, rival) })
			})
		}
		for order, s := range map[string]*absolute.Sinusoidal{"interleaved": kit.Must(absolute.Vaswani(dim)), "halves": kit.Must(absolute.Marian(dim))} {
			run("rows-"+order, "of-cos-sin", func() { absolute.SinusoidalRows(x, s, positions) }, cosSin)
			run("add-"+order, "of-table", func() { absolute.AddSinusoidal(x, s, positions, 0.5) }, addTable)
		}
		clear(table)
		run("gather-add", "of-table", func() { absolute.AddEmbeddings(x, dim, absolute.Embedding[float32]{Table: table, IDs: positions}) }, addTable)
	}
}
