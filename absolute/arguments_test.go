package absolute_test

import (
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/internal/test/kit"
)

// encoding is a Sinusoidal of any kind, and what it was made of.
type encoding struct {
	*absolute.Sinusoidal
	cfg  absolute.SinusoidalConfig // with Axes and Scale set
	zero bool
}

// encodingOf returns an encoding of up to most pairs; where any arguments are wanted
// also nil and a zero one.
func encodingOf(a *kit.Arguments, most int) encoding {
	wrong := encoding{cfg: absolute.SinusoidalConfig{Dim: 4, InvFreq: []float64{1, 1}, Axes: 1}, zero: true}
	if a.Any() {
		switch a.Below(16) {
		case 0:
			return wrong
		case 1:
			wrong.Sinusoidal = new(absolute.Sinusoidal)
			return wrong
		}
	}
	cfg := configOf(a, most)
	s, err := absolute.NewSinusoidal(cfg)
	if err != nil {
		return wrong
	}
	given := cfg // NewSinusoidal keeps nothing of it
	cfg.InvFreq = slices.Clone(cfg.InvFreq)
	clear(given.InvFreq)
	if cfg.Padding != nil {
		padding := *cfg.Padding
		*given.Padding, cfg.Padding = 77, &padding
	}
	cfg.Axes = max(cfg.Axes, 1)
	if cfg.Amplitude == 0 {
		cfg.Amplitude = 1
	}
	return encoding{Sinusoidal: s, cfg: cfg}
}

// configOf returns a configuration of up to most pairs that is right; where any
// arguments are wanted some field may be anything.
func configOf(a *kit.Arguments, most int) absolute.SinusoidalConfig {
	pairs := min(a.Length(), most)
	if a.Any() {
		pairs = kit.Small(pairs)
	}
	cfg := absolute.SinusoidalConfig{InvFreq: kit.LadderOf(pairs), Order: absolute.SinusoidalOrder(a.Below(3)), Axes: a.Number(1, 3)}
	if a.Yes() && !a.Ordinary() {
		cfg.InvFreq = kit.RandomFrequencies(a.R, pairs, []int32{-7, 33, 4096}, a.Yes())
		for i, w := range cfg.InvFreq {
			if w != 0 && math.Abs(w) < 0x1p-900 {
				cfg.InvFreq[i] = math.Copysign(0x1p-900, w)
			}
		}
	}
	cfg.Dim = 2*kit.Small(max(cfg.Axes, 1), pairs) + []int{0, 0, 1, 5, 140, -1}[a.Below(6)]
	cfg.Amplitude = []float64{0, 1, 0.3, 0.0625, 0x1p-140}[a.Below(5)]
	if a.Ordinary() {
		cfg.Amplitude = 0.3
	}
	if a.Yes() {
		padding := int32(a.Below(4) - 1)
		cfg.Padding = &padding
	}
	if !a.Any() {
		return cfg
	}
	switch a.Below(12) {
	case 0:
		cfg.Dim = a.Number(1, 200)
	case 1:
		cfg.InvFreq = kit.Input[float64](a, pairs)
	case 2:
		cfg.Order = absolute.SinusoidalOrder(a.Next())
	case 3:
		cfg.Axes = a.Number(0, 3)
	case 4:
		cfg.Amplitude = a.Real(1)
	}
	return cfg
}

// configRight reports whether NewSinusoidal takes a configuration.
func configRight(cfg absolute.SinusoidalConfig) bool {
	n, axes, scaling := len(cfg.InvFreq), max(cfg.Axes, 1), float64(float32(cfg.Amplitude))
	right := n >= 1 && n <= 1<<15 && cfg.Axes >= 0 && axes <= (1<<15)/n && cfg.Dim >= 2*axes*n-1 && cfg.Dim <= 1<<16 &&
		cfg.Order <= absolute.CosThenSin && (cfg.Amplitude == 0 || scaling > 0 && scaling <= math.MaxFloat32)
	for _, w := range cfg.InvFreq {
		right = right && (w == 0 || math.Abs(w) >= 0x1p-900 && math.Abs(w) < 0x1p50)
	}
	return right
}

// rowElements returns the number of elements of rows.
func (e *encoding) rowElements(a *kit.Arguments, tokens int) int {
	if a.Any() {
		return kit.Small(tokens, e.cfg.Dim)
	}
	return tokens * e.cfg.Dim
}

// positionsOf returns positions of tokens, some of which are padding, and how many
// tokens are meant.
func positionsOf[P absolute.Position](a *kit.Arguments, e *encoding) (positions []P, tokens int) {
	tokens = a.Tokens()
	positions = kit.Slice[P](a, tokens*e.cfg.Axes)
	switch p := any(positions).(type) {
	case []int32:
		a.FillPositions(p)
	case []float32:
		for i := range p {
			switch {
			case !a.Any() && !a.Ordinary() && a.R.IntN(8) == 0:
				p[i] = 0x1p-149 // products below 2^-980
			case !a.Any():
				p[i] = kit.OneOf(a.R, []float32{0, -1, 1, 0.5, 1000 * a.R.Float32(), -a.R.Float32(), 0x1p31})
			case a.Below(8) > 0:
				p[i] = float32(i) / 2
			}
		}
	}
	if e.cfg.Padding != nil && !a.Any() {
		for t := range tokens {
			if a.R.IntN(4) == 0 {
				positions[t] = P(*e.cfg.Padding)
			}
		}
	}
	return positions, tokens
}

// rowsRight reports whether a call takes x for the rows of the positions.
func rowsRight[X any, P absolute.Position](e *encoding, x []X, positions []P) bool {
	if e.zero || len(positions)%e.cfg.Axes != 0 {
		return false
	}
	list := make([]float64, len(positions))
	for i, p := range positions {
		list[i] = float64(p)
	}
	return kit.AnglesInRange(e.cfg.InvFreq, list) && len(x) == len(positions)/e.cfg.Axes*e.cfg.Dim && !kit.Share(x, positions)
}

// positionOf returns the position of a token on each axis.
func positionOf[P absolute.Position](e *encoding, positions []P, token int) []float64 {
	tokens := len(positions) / e.cfg.Axes
	at := make([]float64, e.cfg.Axes)
	for axis := range at {
		at[axis] = float64(positions[axis*tokens+token])
	}
	return at
}

// maskOf returns which of n tokens are there.
func maskOf(a *kit.Arguments, n int) []bool {
	bytes := kit.Slice[byte](a, n)
	for i := range bytes {
		bytes[i] &= 1
	}
	return unsafe.Slice((*bool)(unsafe.Pointer(unsafe.SliceData(bytes))), len(bytes))
}

func TestMain(m *testing.M)      { kit.Main(m) }
func TestCases(t *testing.T)     { kit.TestCases(t) }
func FuzzCases(f *testing.F)     { kit.FuzzCases(f) }
func TestReceivers(t *testing.T) { kit.CheckReceivers(t, absolute.Sinusoidal{}) }

func TestSinusoidalErrors(t *testing.T) {
	s := kit.Must(absolute.Vaswani(8))
	mae := kit.Must(absolute.MAE(8))
	odd := kit.Must(absolute.Marian(7))
	large := kit.Must(absolute.NewSinusoidal(absolute.SinusoidalConfig{Dim: 2, InvFreq: []float64{1 << 40}}))
	x := make([]float32, 16)
	sharedX := make([]float32, 8)
	nan := float32(math.NaN())
	create := func(cfg absolute.SinusoidalConfig) error { _, err := absolute.NewSinusoidal(cfg); return err }
	of := func(_ *absolute.Sinusoidal, err error) error { return err }
	one := []float64{1}
	fails := kit.Failures(t, x)
	kit.NoError(t, create(absolute.SinusoidalConfig{Dim: 1 << 16, InvFreq: make([]float64, 1<<15)}))
	fails(create(absolute.SinusoidalConfig{Dim: 4}), posenc.ErrConfig, "absolute.NewSinusoidal: cfg.InvFreq has 0 elements")
	fails(create(absolute.SinusoidalConfig{Dim: 4, InvFreq: make([]float64, 1<<15+1)}), posenc.ErrConfig, "cfg.InvFreq")
	fails(create(absolute.SinusoidalConfig{Dim: 4, InvFreq: one, Axes: -1}), posenc.ErrConfig, "cfg.Axes is -1")
	fails(create(absolute.SinusoidalConfig{Dim: 2, InvFreq: one, Axes: 2}), posenc.ErrConfig, "cfg.Dim is 2")
	fails(create(absolute.SinusoidalConfig{Dim: 2, InvFreq: one, Order: 3}), posenc.ErrConfig, "cfg.Order is 3")
	fails(create(absolute.SinusoidalConfig{Dim: 2, InvFreq: one, Amplitude: -1}), posenc.ErrConfig, "cfg.Amplitude")
	fails(create(absolute.SinusoidalConfig{Dim: 2, InvFreq: one, Amplitude: 1e-300}), posenc.ErrConfig, "cfg.Amplitude is 1e-300") // float32 has 0
	fails(create(absolute.SinusoidalConfig{Dim: 4, InvFreq: []float64{1, math.Inf(1)}}), posenc.ErrConfig, "cfg.InvFreq[1]")
	fails(create(absolute.SinusoidalConfig{Dim: 2, InvFreq: []float64{1e-300}}), posenc.ErrConfig, "cfg.InvFreq[0]")

	fails(of(absolute.Vaswani(7)), posenc.ErrConfig, "absolute.Vaswani: dim is 7")
	fails(of(absolute.Tensor2Tensor(5, absolute.Tensor2TensorConfig{Axes: 3, MinTimescale: 1, MaxTimescale: 1e4})), posenc.ErrConfig, "cfg.Axes is 3, want from 0 to dim/2 = 2")
	fails(of(absolute.Tensor2Tensor(4, absolute.Tensor2TensorConfig{Axes: 1, MinTimescale: -1, MaxTimescale: 1e4})), posenc.ErrConfig, "cfg.MinTimescale is -1")
	fails(of(absolute.Timesteps(2, absolute.TimestepsConfig{DownscaleFreqShift: 1})), posenc.ErrConfig, "DownscaleFreqShift is 1")
	fails(of(absolute.Timesteps(2, absolute.TimestepsConfig{MaxPeriod: 1})), posenc.ErrConfig, "absolute.Timesteps: cfg.MaxPeriod is 1, want 0 or a finite number above 1")
	fails(of(absolute.Timesteps(8, absolute.TimestepsConfig{AngleScale: -1})), posenc.ErrConfig, "absolute.Timesteps: cfg.AngleScale is -1, want 0 or a frequency from")
	fails(of(absolute.Timesteps(8, absolute.TimestepsConfig{AngleScale: 1e300})), posenc.ErrConfig, "cfg.AngleScale is 1e+300, want 0 or a frequency from 2^-900 to below 2^50")
	fails(of(absolute.Timesteps(8, absolute.TimestepsConfig{DownscaleFreqShift: 3.999})), posenc.ErrConfig, "cfg.MaxPeriod is 10000, want frequencies from 2^-900 to below 2^50")
	fails(of(absolute.Timesteps(8, absolute.TimestepsConfig{AngleScale: 0x1p-900})), posenc.ErrConfig, "cfg.AngleScale is 1.1830521861667747e-271, want frequencies from 2^-900 to below 2^50")
	fails(of(absolute.Timesteps(8, absolute.TimestepsConfig{DownscaleFreqShift: math.Inf(-1)})), posenc.ErrConfig, "cfg.DownscaleFreqShift is -Inf, want a number from -math.MaxFloat32 to below dim/2 = 4")
	fails(of(absolute.Tensor2Tensor(8, absolute.Tensor2TensorConfig{Axes: 1, MinTimescale: 1 << 50, MaxTimescale: 1e4})), posenc.ErrConfig, "absolute.Tensor2Tensor: cfg.MinTimescale is 1.125899906842624e+15, want")
	fails(of(absolute.Tensor2Tensor(8, absolute.Tensor2TensorConfig{Axes: 1, MinTimescale: 1, MaxTimescale: -2})), posenc.ErrConfig, "cfg.MaxTimescale is -2, want 0 or a positive finite number")
	fails(of(absolute.Tensor2Tensor(8, absolute.Tensor2TensorConfig{Axes: 1, MinTimescale: 1 << 26, MaxTimescale: 1})), posenc.ErrConfig, "cfg.MaxTimescale is 1, want frequencies from 2^-900 to below 2^50")
	fails(of(absolute.DETR(8, 1)), posenc.ErrConfig, "absolute.DETR: temperature is 1, want a finite number above 1")
	fails(of(absolute.DETR(64, 1e300)), posenc.ErrConfig, "temperature is 1e+300, want frequencies from 2^-900")
	fails(of(absolute.MLX(4, absolute.MLXConfig{MinFreq: -2, MaxFreq: 1, Amplitude: 0})), posenc.ErrConfig, "absolute.MLX: cfg.MinFreq is -2, want 0 or a frequency from")

	fails(of(absolute.MLX(4, absolute.MLXConfig{MinFreq: 1e-4, MaxFreq: -1, Amplitude: 0})), posenc.ErrConfig, "cfg.MaxFreq is -1, want 0 or a frequency from")
	fails(of(absolute.MLX(4, absolute.MLXConfig{MinFreq: 1e-4, MaxFreq: 1, Amplitude: 1e300})), posenc.ErrConfig, "absolute.MLX: cfg.Amplitude is 1e+300, want 0 or a positive float32")

	fails(absolute.SinusoidalRows(x, nil, []int32{1}), posenc.ErrConfig, "absolute.SinusoidalRows: s is nil or zero")
	fails(absolute.AddSinusoidal(x, new(absolute.Sinusoidal), []int32{1}, 1), posenc.ErrConfig, "absolute.AddSinusoidal: s is nil or zero")
	fails(absolute.SinusoidalRows(x, mae, []int32{1, 2, 3}), posenc.ErrLength, "positions has 3 elements")
	fails(absolute.SinusoidalRows(x[:15], s, []int32{1, 2}), posenc.ErrLength, "dst has 15 elements, want 16")
	fails(absolute.AddSinusoidal(x, s, []int32{1}, 1), posenc.ErrLength, "x has 16 elements, want 8")
	fails(absolute.SinusoidalRows64(make([]float64, 7), s, []int32{1}), posenc.ErrLength, "SinusoidalRows64: dst has 7 elements")
	fails(absolute.SinusoidalRows(x[:4], large, []int32{0, 1 << 10}), posenc.ErrPosition, "positions[1] is 1024, want a number of at most 1023 in magnitude, so that angles stay below 2^50")
	fails(absolute.SinusoidalRows(x[:8], s, []float32{3e9}), posenc.ErrPosition, "positions[0] is 3e+09, want a number of at most 2^31 in magnitude: position")
	fails(absolute.SinusoidalRows(x[:8], s, []float32{nan}), posenc.ErrPosition, "positions[0] is NaN")
	fails(absolute.AddSinusoidal(x[:8], s, []int32{1}, nan), posenc.ErrConfig, "scale is NaN")
	fails(absolute.SinusoidalRows(sharedX, s, sharedX[7:]), posenc.ErrOverlap, "dst is sharing memory with positions")

	fails(s.Shift(x, []int32{1}), posenc.ErrLength, "Sinusoidal.Shift: rows has 16 elements, want 8")
	fails(odd.Shift(x[:14], []int32{1, 2}), posenc.ErrConfig, "Sinusoidal.Shift: s is an encoding that leaves out the last cosine")
	fails(odd.ShiftMatrix(make([]float32, 49), []int32{1}), posenc.ErrConfig, "Sinusoidal.ShiftMatrix: s is")
	fails((*absolute.Sinusoidal)(nil).Shift(x, []int32{1}), posenc.ErrConfig, "Sinusoidal.Shift: s is nil")
	fails(mae.ShiftMatrix(make([]float32, 64), []int32{1}), posenc.ErrLength, "deltas has 1 element, want 2")
	fails(s.ShiftMatrix(x, []int32{1}), posenc.ErrLength, "matrix has 16 elements, want Dim*Dim = 64")
	fails(large.ShiftMatrix(x[:4], []int32{1 << 10}), posenc.ErrPosition, "deltas")
}

func TestLearnedErrors(t *testing.T) {
	x, table, ids := make([]float32, 8), make([]float32, 12), []int32{0, 2}
	add := func(e absolute.Embedding[float32]) error { return absolute.AddEmbeddings(x, 4, e) }
	fails := kit.Failures(t, x)
	fails(absolute.AddEmbeddings[float32, float32](x, 0), posenc.ErrShape, "absolute.AddEmbeddings: dim is 0")
	fails(absolute.AddEmbeddings[float32, float32](x, 3), posenc.ErrLength, "x has 8 elements")
	fails(add(absolute.Embedding[float32]{table, ids[:1], 0}), posenc.ErrLength, "embeddings[0].IDs has 1 element, want 2")
	fails(add(absolute.Embedding[float32]{table[:11], ids, 0}), posenc.ErrLength, "embeddings[0].Table has 11 elements")
	fails(add(absolute.Embedding[float32]{nil, ids, 0}), posenc.ErrLength, "absolute.AddEmbeddings: embeddings[0].Table has 0 elements, want at least one row of 4")
	fails(add(absolute.Embedding[float32]{table, []int32{0, 3}, 0}), posenc.ErrPosition, "embeddings[0].IDs[1] is 3, want from 0 to 2")
	fails(add(absolute.Embedding[float32]{table, []int32{-1, 0}, 0}), posenc.ErrPosition, "embeddings[0].IDs[0] is -1")
	fails(add(absolute.Embedding[float32]{table, ids, 1}), posenc.ErrPosition, "want from -1 to 1")
	fails(add(absolute.Embedding[float32]{table, []int32{math.MinInt32, 0}, 2}), posenc.ErrPosition, "IDs[0]")
	fails(add(absolute.Embedding[float32]{table, ids, 4}), posenc.ErrPosition, "embeddings[0].Offset is 4")
	fails(add(absolute.Embedding[float32]{table, ids, math.MinInt}), posenc.ErrPosition, "Offset")
	fails(add(absolute.Embedding[float32]{x, []int32{0, 1}, 0}), posenc.ErrOverlap, "x is sharing memory with embeddings[0].Table")
	fails(add(absolute.Embedding[float32]{table, unsafe.Slice((*int32)(unsafe.Pointer(&x[6])), 2), 0}), posenc.ErrOverlap, "x is sharing memory with embeddings[0].IDs")
	fails(absolute.AddEmbeddings(x, 4, absolute.Embedding[float32]{table, ids, 0}, absolute.Embedding[float32]{table, ids, -1}), posenc.ErrPosition, "embeddings[1].Offset")

	fails(absolute.InterpolateTable(x, table, -1), posenc.ErrShape, "InterpolateTable: dim is -1")
	fails(absolute.InterpolateTable(x[:0], table, 4), posenc.ErrLength, "dst has 0 elements")
	fails(absolute.InterpolateTable(x, table[:7], 4), posenc.ErrLength, "src has 7 elements")
	fails(absolute.InterpolateTable(x, x[4:], 4), posenc.ErrOverlap, "dst")
	fails(absolute.InterpolateGrid(x, table, absolute.InterpolateGridOptions{DstHeight: 0, DstWidth: 2, SrcHeight: 3, SrcWidth: 2, Dim: 2}), posenc.ErrShape, "InterpolateGrid: options.DstHeight is 0")
	fails(absolute.InterpolateGrid(x, table, absolute.InterpolateGridOptions{DstHeight: 2, DstWidth: 2, SrcHeight: 3, SrcWidth: 1<<24 + 1, Dim: 2}), posenc.ErrShape, "options.SrcWidth")
	fails(absolute.InterpolateGrid(x, table, absolute.InterpolateGridOptions{DstHeight: 2, DstWidth: 2, SrcHeight: 3, SrcWidth: 2, Dim: 0}), posenc.ErrShape, "options.Dim is 0")
	fails(absolute.InterpolateGrid(x, table, absolute.InterpolateGridOptions{DstHeight: 2, DstWidth: 3, SrcHeight: 3, SrcWidth: 2, Dim: 2}), posenc.ErrLength, "dst has 8 elements, want DstHeight*DstWidth*Dim = 12")
	fails(absolute.InterpolateGrid(x, table, absolute.InterpolateGridOptions{DstHeight: 2, DstWidth: 2, SrcHeight: 2, SrcWidth: 2, Dim: 2}), posenc.ErrLength, "src has 12 elements, want SrcHeight*SrcWidth*Dim = 8")
	fails(absolute.InterpolateGrid(x, table, absolute.InterpolateGridOptions{DstHeight: 1 << 24, DstWidth: 1 << 24, SrcHeight: 2, SrcWidth: 2, Dim: math.MaxInt}), posenc.ErrLength, "dst has 8 elements, want DstHeight*DstWidth*Dim, more than an int can count")
	for says, o := range map[string]absolute.InterpolateGridOptions{
		"options.Bilinear is true, want false with Antialias":                        {Bilinear: true, Antialias: true},
		"options.AlignCorners is true, want false with Antialias":                    {AlignCorners: true, Antialias: true},
		"options.ZeroPadding is true, want false with Antialias":                     {ZeroPadding: true, Antialias: true},
		"options.Float32 is true, want false with Antialias":                         {Float32: true, Antialias: true},
		"options.MergeSize is 3, want 0 or a divisor of DstHeight 2 and DstWidth 2":  {MergeSize: 3},
		"options.MergeSize is -1, want 0 or a divisor of DstHeight 2 and DstWidth 2": {MergeSize: -1},
	} {
		o.DstHeight, o.DstWidth, o.SrcHeight, o.SrcWidth, o.Dim = 2, 2, 3, 2, 2
		fails(absolute.InterpolateGrid(x, table, o), posenc.ErrShape, "InterpolateGrid: "+says)
		fails(absolute.GridWeights(nil, nil, o), posenc.ErrShape, "GridWeights: "+says)
	}
	four := absolute.InterpolateGridOptions{DstHeight: 2, DstWidth: 1, SrcHeight: 1, SrcWidth: 2, Bilinear: true}
	indices := make([]int32, 8)
	fails(absolute.GridWeights(indices[:7], x, four), posenc.ErrLength, "absolute.GridWeights: indices has 7 elements, want DstHeight*DstWidth*4 = 8")
	fails(absolute.GridWeights(indices, x[:7], four), posenc.ErrLength, "weights has 7 elements")
	fails(absolute.GridWeights(indices, unsafe.Slice((*float32)(unsafe.Pointer(&indices[0])), 8), four), posenc.ErrOverlap, "indices is sharing memory with weights")
	four.SrcHeight, four.SrcWidth = 1<<16, 1<<15
	fails(absolute.GridWeights(indices, x, four), posenc.ErrShape, "options.SrcHeight is 65536, want at most 2^31-1 patches, with SrcWidth 32768")
	fails(absolute.GridWeights(indices, x, absolute.InterpolateGridOptions{DstHeight: 2, DstWidth: 1, SrcHeight: 1, SrcWidth: 2, Antialias: true}), posenc.ErrShape, "options.Antialias is true, want false")
	fails(absolute.InterpolateGrid(make([]float32, 1<<15), make([]float32, 1<<14), absolute.InterpolateGridOptions{DstHeight: 1 << 15, DstWidth: 1, SrcHeight: 1, SrcWidth: 1 << 14, Dim: 1, Antialias: true}), posenc.ErrShape, "options.DstHeight is 32768")
	fails(absolute.InterpolateGrid(x[:4], x[2:6], absolute.InterpolateGridOptions{DstHeight: 2, DstWidth: 1, SrcHeight: 1, SrcWidth: 2, Dim: 2}), posenc.ErrOverlap, "dst")
}

func TestPositionsErrors(t *testing.T) {
	x := make([]float32, 16)
	shared := make([]int32, 4)
	detr := func(mask []bool, options absolute.DETRPositionsOptions) error {
		return absolute.DETRPositions(x, mask, options)
	}
	fails := kit.Failures(t, x)
	fails(absolute.PaddedPositions(make([]int32, 2), make([]bool, 3), 1), posenc.ErrLength, "absolute.PaddedPositions: positions has 2 elements, want 3")
	fails(absolute.PaddedPositions(make([]int32, 2), make([]bool, 2), math.MaxInt32-1), posenc.ErrPosition, "padding is")
	fails(absolute.PaddedPositions(shared, unsafe.Slice((*bool)(unsafe.Pointer(&shared[3])), 4), 1), posenc.ErrOverlap, "positions is sharing memory with mask")
	fails(detr(unsafe.Slice((*bool)(unsafe.Pointer(&x[0])), 8), absolute.DETRPositionsOptions{Height: 4, Width: 2}), posenc.ErrOverlap, "positions is sharing memory with mask")
	fails(detr(nil, absolute.DETRPositionsOptions{Height: 0, Width: 4}), posenc.ErrShape, "absolute.DETRPositions: options.Height is 0")
	fails(detr(nil, absolute.DETRPositionsOptions{Height: 4, Width: -1}), posenc.ErrShape, "options.Width is -1")
	fails(detr(nil, absolute.DETRPositionsOptions{Height: 4, Width: 3}), posenc.ErrLength, "positions has 16 elements, want 2*Height*Width = 24")
	fails(detr(nil, absolute.DETRPositionsOptions{Height: 1 << 24, Width: 1 << 24}), posenc.ErrLength, "positions has 16 elements")
	fails(detr(make([]bool, 7), absolute.DETRPositionsOptions{Height: 4, Width: 2}), posenc.ErrLength, "mask has 7 elements, want nil or Height*Width = 8")
	fails(detr(nil, absolute.DETRPositionsOptions{Height: 4, Width: 2, NormalizeTo: math.Inf(1)}), posenc.ErrConfig, "options.NormalizeTo is +Inf")
	fails(detr(nil, absolute.DETRPositionsOptions{Height: 4, Width: 2, NormalizeTo: 1e-300}), posenc.ErrConfig, "options.NormalizeTo is 1e-300") // float32 has 0
	fails(detr(nil, absolute.DETRPositionsOptions{Height: 4, Width: 2, Offset: math.NaN()}), posenc.ErrConfig, "options.Offset is NaN")
}
