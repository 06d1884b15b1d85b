package absolute_test

import (
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// sinusoidalModel is what the documentation of an encoding says of it.
type sinusoidalModel struct {
	make        func() (*absolute.Sinusoidal, error)
	right       bool // as far as channels go
	dim, axes   int
	n           int                     // frequencies of an axis
	frequency   func(k float64) float64 // number k
	interleaved bool
	cosFirst    bool
	scaling     float64
	padding     *int32
}

// sinusoidalModels returns a model, with n the pairs of dim.
func sinusoidalModels(c *testkit.Choices, dim int, padding int32, x, y, z float64) sinusoidalModel {
	n := dim / 2
	flag := c.Below(2) == 1
	channels := func(least, unit int) bool { return dim >= least && dim <= frequency.MaxRotaryDim && dim%unit == 0 }
	ladder := func(base, denominator float64) func(k float64) float64 {
		return func(k float64) float64 { return math.Pow(base, -k/denominator) }
	}
	or := func(value, otherwise float64) float64 { // 0 means a default
		if value == 0 {
			return otherwise
		}
		return value
	}
	m := sinusoidalModel{dim: dim, axes: 1, n: n, scaling: 1}
	switch c.Below(10) {
	case 0:
		m.make = func() (*absolute.Sinusoidal, error) { return absolute.Vaswani(dim) }
		m.right, m.interleaved, m.frequency = channels(2, 2), true, ladder(10000, float64(n))
	case 1:
		m.make = func() (*absolute.Sinusoidal, error) { return absolute.Marian(dim) }
		m.right, m.n, m.frequency = channels(2, 1), dim-n, ladder(10000, float64(dim)/2)
	case 2:
		axes := 1 + c.Below(4)
		m.make = func() (*absolute.Sinusoidal, error) {
			return absolute.Tensor2Tensor(dim, absolute.Tensor2TensorConfig{Axes: axes, MinTimescale: x, MaxTimescale: y})
		}
		least, most := or(x, 1), or(y, 10000)
		m.right, m.axes, m.n = channels(2, 1) && axes <= n && least > 0 && most > 0, axes, n/axes
		m.frequency = func(k float64) float64 {
			return least * math.Exp(-k*(math.Log(most)-math.Log(least))/math.Max(float64(m.n-1), 1))
		}
	case 3:
		m.make = func() (*absolute.Sinusoidal, error) { return absolute.Fairseq(dim, padding) }
		m.right, m.frequency, m.padding = channels(4, 1), ladder(10000, float64(n-1)), &padding
	case 4:
		m.make = func() (*absolute.Sinusoidal, error) { return absolute.Whisper(dim) }
		m.right, m.frequency = channels(4, 2), ladder(10000, float64(n-1))
	case 5:
		m.make = func() (*absolute.Sinusoidal, error) { return absolute.MusicGen(dim) }
		m.right, m.frequency, m.cosFirst = channels(4, 1), ladder(10000, float64(n-1)), true
	case 6:
		m.make = func() (*absolute.Sinusoidal, error) {
			return absolute.Timesteps(dim, absolute.TimestepsConfig{FlipSinToCos: flag, DownscaleFreqShift: z, Scale: x, MaxPeriod: y})
		}
		scale, period := or(x, 1), or(y, 10000)
		m.right, m.cosFirst = channels(2, 1) && z < float64(n) && z >= -math.MaxFloat32 && scale > 0 && period > 1, flag
		m.frequency = func(k float64) float64 { return scale * math.Pow(period, -k/(float64(n)-z)) }
	case 7:
		class := int32(-1)
		m.make = func() (*absolute.Sinusoidal, error) { return absolute.MAE(dim) }
		m.right, m.axes, m.n, m.frequency, m.padding = channels(4, 4), 2, dim/4, ladder(10000, float64(dim/4)), &class
	case 8:
		m.make = func() (*absolute.Sinusoidal, error) { return absolute.DETR(dim, y) }
		m.right, m.axes, m.dim, m.interleaved = channels(2, 2) && dim <= frequency.MaxRotaryDim/2 && y > 1, 2, 2*dim, true
		m.frequency = ladder(y, float64(n))
	default:
		m.make = func() (*absolute.Sinusoidal, error) {
			return absolute.MLX(dim, absolute.MLXConfig{MinFreq: x, MaxFreq: y, Scale: z, CosFirst: flag})
		}
		least, most, scaling := or(x, 0.0001), or(y, 1), or(z, math.Sqrt(2/float64(dim)))
		m.right, m.cosFirst, m.scaling = channels(2, 2) && least >= 0x1p-900 && least < 0x1p50 && most > 0 && float32(scaling) > 0 && scaling <= math.MaxFloat32, flag, scaling
		m.frequency = func(k float64) float64 {
			return most * math.Exp(k/math.Max(float64(n-1), 1)*(math.Log(least)-math.Log(most)))
		}
	}
	return m
}

// element returns element i of the row at the positions, one of each axis, and how
// far that may be from the real number.
func (m *sinusoidalModel) element(positions []int32, i int) (value, margin float64) {
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
	return value * m.scaling, m.scaling * (math.Abs(angle)*0x1p-41 + 0x1p-22)
}

// FuzzSinusoidalModels compares the encodings of models with the formulas of their
// documentation, and what it does not allow fails.
func FuzzSinusoidalModels(f *testing.F) {
	for model := range byte(10) {
		f.Add([]byte{1, model, 1}, 12, int32(1), 1.0, 10000.0, 0.0, []byte{0, 0, 0, 0, 1, 0, 0, 0, 200, 1, 0, 0})
		f.Add([]byte{0, model, 2}, 15, int32(0), 0.5, 3000.0, 1.0, []byte{5, 0, 0, 0, 255, 255, 255, 255})
		f.Add([]byte{0, model, 0}, 2, int32(0), 1e-300, 1e300, 0.5, []byte{5, 0, 0, 0, 255, 255, 255, 255})
		f.Add([]byte{0, model, 0}, 400, int32(0), 0.0, math.Inf(1), math.NaN(), []byte{7})
	}
	f.Fuzz(func(t *testing.T, shape []byte, dim int, padding int32, x, y, z float64, positionData []byte) {
		c := testkit.Choices(shape)
		m := sinusoidalModels(&c, dim, padding, x, y, z)
		if m.right && dim > 600 {
			return
		}
		right := m.right
		for k := 0; right && k < m.n; k++ {
			w := m.frequency(float64(k))
			if math.Abs(w-0x1p50) < 0x1p20 || math.Abs(w-0x1p-900) < 0x1p-930 {
				return // in or out
			}
			right = w >= 0x1p-900 && w < 0x1p50
		}
		s, err := m.make()
		if right != (err == nil) || (err == nil) != (s != nil) {
			t.Fatalf("right %t, error %v", right, err)
		}
		if err != nil {
			if !errors.Is(err, posenc.ErrConfig) {
				t.Fatalf("the error %v", err)
			}
			return
		}
		const tokens = 3
		positions := testkit.RepeatPositions(m.axes*tokens, positionData, 0)
		for i := range positions {
			positions[i] %= 1000
		}
		rows, rows64 := make([]float32, tokens*m.dim), make([]float64, tokens*m.dim)
		err = errors.Join(absolute.SinusoidalRows(rows, s, positions), absolute.SinusoidalRows64(rows64, s, positions))
		if slices.ContainsFunc(absolute.InvFreq(s), func(w float64) bool { return w > 0x1p40 }) {
			return // some positions are too far
		}
		if err != nil {
			t.Fatal(err)
		}
		at := make([]int32, m.axes)
		for i := range rows {
			for a := range at {
				at[a] = positions[a*tokens+i/m.dim]
			}
			want, margin := m.element(at, i%m.dim)
			if math.Abs(float64(rows[i])-want) > margin || math.Abs(rows64[i]-want) > margin {
				t.Fatalf("element %d at %v is %v and %v, want %v within %v", i%m.dim, at, rows[i], rows64[i], want, margin)
			}
		}
	})
}

// FuzzSinusoidalRows64 compares rows in float64 with their definition, taken at a
// few hundred bits by math/big.
func FuzzSinusoidalRows64(f *testing.F) {
	f.Add([]byte{3, 2, 0, 1}, []byte{0, 0, 0, 63, 0, 0, 128, 192, 1, 2, 3, 4}, []byte(nil))
	f.Add([]byte{2, 3, 1, 3, 1, 1}, []byte{1, 0, 0, 128, 255, 255, 127, 78}, binary.LittleEndian.AppendUint64(nil, math.Float64bits(0x1p17)))
	f.Add([]byte{1, 1, 2, 0, 1, 2, 2}, []byte{0, 0, 128, 127, 0, 0, 192, 127}, []byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Fuzz(func(t *testing.T, shape, positionData, frequencyData []byte) {
		c := testkit.Choices(shape)
		pairs, tokens := 1+c.Below(4), c.Below(4)
		cfg := absolute.SinusoidalConfig{InvFreq: testkit.Repeat64(pairs, frequencyData), Order: absolute.SinusoidalOrder(c.Below(3)), Axes: 1 + c.Below(2)}
		cfg.Scaling = []float64{0, 1, 1.25, 0x1p-140}[c.Below(4)]
		cfg.Dim = 2*cfg.Axes*pairs - 1 + c.Below(4)
		if c.Below(2) == 1 {
			cfg.Padding = new(int32)
		}
		s, err := absolute.NewSinusoidal(cfg)
		if err != nil {
			return
		}
		integers := testkit.RepeatPositions(tokens*cfg.Axes, positionData, uint8(c.Below(3)))
		if c.Below(2) == 0 {
			fuzzRows64(t, s, cfg, integers)
			return
		}
		fractions := make([]float32, len(integers))
		for i, p := range integers {
			fractions[i] = math.Float32frombits(uint32(p))
		}
		fuzzRows64(t, s, cfg, fractions)
	})
}

func fuzzRows64[P absolute.Position](t *testing.T, s *absolute.Sinusoidal, cfg absolute.SinusoidalConfig, positions []P) {
	t.Helper()
	tokens, n := len(positions)/cfg.Axes, len(cfg.InvFreq)
	scaling := float32(cfg.Scaling)
	if scaling == 0 {
		scaling = 1
	}
	rows := make([]float64, tokens*cfg.Dim)
	for i := range rows {
		rows[i] = 77
	}
	list := make([]float64, len(positions))
	for i, p := range positions {
		list[i] = float64(p)
	}
	err := absolute.SinusoidalRows64(rows, s, positions)
	if right := testkit.AnglesInRange(cfg.InvFreq, list); right != (err == nil) {
		t.Fatalf("positions %v, frequencies %v: error %v", positions, cfg.InvFreq, err)
	}
	if err != nil {
		if slices.ContainsFunc(rows, func(x float64) bool { return x != 77 }) {
			t.Fatalf("written before the error %v", err)
		}
		return
	}
	for i, got := range rows {
		token, axis, j := i/cfg.Dim, i%cfg.Dim/(2*n), i%cfg.Dim%(2*n)
		second, k := j/n, j%n
		if cfg.Order == absolute.SinCosInterleaved {
			second, k = j%2, j/2
		}
		want := 0.0
		if axis < cfg.Axes && (cfg.Padding == nil || list[token] != 0) {
			cos, sin := testkit.RealCosSin(testkit.NewReal().Mul(testkit.RealOf(list[axis*tokens+token]), testkit.RealOf(cfg.InvFreq[k])))
			if (second == 1) == (cfg.Order == absolute.CosThenSin) {
				cos = sin
			}
			want, _ = cos.Float64()
			want *= float64(scaling)
		}
		if got != want {
			t.Fatalf("%+v at %v: element %d is %x, want %x", cfg, positions, i, got, want)
		}
	}
}

// FuzzSinusoidalShift compares shifts of rows, of any numbers, and the matrix of a
// shift with their definitions.
func FuzzSinusoidalShift(f *testing.F) {
	f.Add([]byte{9, 3, 0, 0, 1}, []byte{1, 0, 0, 0, 200, 0, 0, 0}, []byte(nil), []byte{0, 0, 128, 63, 1, 2, 3, 4})
	f.Add([]byte{20, 2, 1, 1, 2}, []byte{255, 255, 255, 127, 0, 0, 0, 128}, []byte{1, 2, 3, 4, 5, 6, 7, 8}, []byte{0, 0, 128, 127, 0, 0, 192, 127, 1, 0, 0, 0})
	f.Add([]byte{70, 3, 2, 1, 0}, []byte{3, 0, 0, 0}, []byte(nil), []byte{9, 9, 9, 9})
	f.Fuzz(func(t *testing.T, shape, deltaData, frequencyData, data []byte) {
		c := testkit.Choices(shape)
		n, tokens := 1+c.Below(80), c.Below(5)
		cfg := absolute.SinusoidalConfig{InvFreq: testkit.Repeat64(n, frequencyData), Order: absolute.SinusoidalOrder(c.Below(3)), Axes: 1 + c.Below(2)}
		cfg.Dim = 2*cfg.Axes*n - 1 + c.Below(4)
		s, err := absolute.NewSinusoidal(cfg)
		if err != nil {
			return
		}
		tokens = testkit.Quick(tokens, slices.Repeat(cfg.InvFreq, cfg.Axes))
		deltas := testkit.RepeatPositions(tokens*cfg.Axes, deltaData, 0)
		before := make([]float32, tokens*cfg.Dim)
		testkit.Repeat32(before, data)
		list := make([]float64, len(deltas))
		for i, d := range deltas {
			list[i] = float64(d)
		}
		right := cfg.Dim >= 2*cfg.Axes*n && testkit.AnglesInRange(cfg.InvFreq, list)
		want := slices.Clone(before)
		// pair calls f with the places of each pair in a row, and its shift.
		pair := func(token int, f func(sin, cos int, sinDelta, cosDelta float32)) {
			for i := range cfg.Axes * n {
				axis, k := i/n, i%n
				var cos, sin [1]float32
				generic.CosSinExactAt(cos[:], sin[:], list[axis*tokens+token], cfg.InvFreq[k:k+1], 1, 1)
				first := 2 * n * axis
				switch cfg.Order {
				case absolute.SinCosInterleaved:
					f(first+2*k, first+2*k+1, sin[0], cos[0])
				case absolute.SinThenCos:
					f(first+k, first+n+k, sin[0], cos[0])
				case absolute.CosThenSin:
					f(first+n+k, first+k, sin[0], cos[0])
				}
			}
		}
		for token := range tokens {
			if !right {
				break
			}
			from, to := before[token*cfg.Dim:][:cfg.Dim], want[token*cfg.Dim:][:cfg.Dim]
			pair(token, func(s, c int, sinDelta, cosDelta float32) {
				to[s] = float32(from[s]*cosDelta) + float32(from[c]*sinDelta)
				to[c] = float32(from[c]*cosDelta) - float32(from[s]*sinDelta)
			})
		}
		testkit.OnEach(func(impl kernels.Implementation) {
			rows := slices.Clone(before)
			if err := s.Shift(rows, deltas); right != (err == nil) {
				t.Fatalf("%s: right %t, error %v", impl, right, err)
			}
			if !testkit.SameSlices(rows, want) {
				t.Fatalf("%s: %+v shifted by %v: %v, want %v", impl, cfg, deltas, rows, want)
			}
		})
		if !right || tokens == 0 || cfg.Dim > 50 {
			return
		}
		matrix, wantMatrix := make([]float32, cfg.Dim*cfg.Dim), make([]float32, cfg.Dim*cfg.Dim)
		last := make([]int32, cfg.Axes)
		for a := range last {
			last[a] = deltas[a*tokens+tokens-1]
		}
		pair(tokens-1, func(s, c int, sinDelta, cosDelta float32) {
			wantMatrix[s*cfg.Dim+s], wantMatrix[s*cfg.Dim+c] = cosDelta, sinDelta
			wantMatrix[c*cfg.Dim+s], wantMatrix[c*cfg.Dim+c] = -sinDelta, cosDelta
		})
		if err := s.ShiftMatrix(matrix, last); err != nil || !testkit.SameSlices(matrix, wantMatrix) {
			t.Fatalf("%+v: the matrix of %v is %v, want %v (%v)", cfg, last, matrix, wantMatrix, err)
		}
	})
}

// FuzzInterpolate compares tables of other lengths and grids with their formulas.
func FuzzInterpolate(f *testing.F) {
	f.Add(uint8(0), 9, 1, 4, 1, 3, []byte{0, 0, 128, 63, 0, 0, 0, 192, 1, 2, 3, 64})
	for _, antialias := range []uint8{1, 2} {
		f.Add(antialias, 4, 4, 7, 5, 2, []byte{0, 0, 128, 63, 0, 0, 0, 192, 1, 2, 3, 64})
		f.Add(antialias, 19, 3, 4, 9, 1, []byte{0, 0, 128, 255, 0, 0, 0, 0, 1, 2, 3, 64})
		f.Add(antialias, 1, 1, 1<<24, math.MaxInt, 1, []byte{1})
		f.Add(antialias, 0, 1, -1, 5, 0, []byte{1})
	}
	f.Fuzz(func(t *testing.T, kind uint8, height, width, toHeight, toWidth, dim int, data []byte) {
		// Lengths fit where sizes are small.
		count := func(height, width int) int {
			for _, n := range [3]int{height, width, dim} {
				if n < 0 || n > 24 {
					return 5
				}
			}
			return height * width * dim
		}
		if kind%3 == 0 {
			width, toWidth = 1, 1
		}
		src, dst := make([]float32, count(height, width)), make([]float32, count(toHeight, toWidth))
		testkit.Repeat32(src, data)
		largest := 0.0
		for i, x := range src {
			if !(math.Abs(float64(x)) < 0x1p100) {
				src[i] = 1
			}
			largest = max(largest, math.Abs(float64(src[i])))
		}
		for i := range dst {
			dst[i] = 77
		}
		right := dim > 0 && len(src) > 0 && len(dst) > 0
		for _, n := range [4]int{height, width, toHeight, toWidth} {
			right = right && (kind%3 == 0 || n > 0 && n <= 24)
		}
		var err error
		if kind%3 == 0 { // which has no sizes but those of the slices
			if dim > 0 {
				height, toHeight = len(src)/dim, len(dst)/dim
				right = right && height*dim == len(src) && toHeight*dim == len(dst)
			}
			err = absolute.InterpolateTable(dst, src, dim)
		} else {
			right = right && dim <= 24
			err = absolute.InterpolateGrid(dst, src, absolute.InterpolateGridOptions{DstHeight: toHeight, DstWidth: toWidth, SrcHeight: height, SrcWidth: width, Dim: dim, Antialias: kind%3 == 2})
		}
		if !right {
			if err == nil && (height > 24 || width > 24 || toHeight > 24 || toWidth > 24 || dim > 24) {
				return // five elements may fit as well
			}
			if err == nil || slices.ContainsFunc(dst, func(x float32) bool { return x != 77 }) {
				t.Fatalf("error %v, elements %v", err, dst)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range dst {
			rows := interpolationWeights(kind%3, i/dim/toWidth, height, toHeight)
			columns := interpolationWeights(kind%3, i/dim%toWidth, width, toWidth)
			want := 0.0
			for r, v := range rows {
				for c, w := range columns {
					want += v * w * float64(src[(r*width+c)*dim+i%dim])
				}
			}
			// A rounding to float32, and some hundred to float64 of numbers whose weights
			// are below 2.
			if math.Abs(float64(got)-want) > math.Abs(want)*0x1p-24+largest*0x1p-40+0x1p-149 {
				t.Fatalf("kind %d, %d by %d to %d by %d: element %d is %v, want %v", kind%3, height, width, toHeight, toWidth, i, got, want)
			}
		}
	})
}

// interpolationWeights returns the weight of each of n elements in element i of m,
// linear, bicubic or bicubic with antialiasing.
func interpolationWeights(kind uint8, i, n, m int) []float64 {
	ratio := big.NewRat(int64(n), int64(m))
	centre, _ := new(big.Rat).Mul(big.NewRat(int64(2*i+1), 2), ratio).Float64()
	a, scale, least, most := -0.75, 1.0, -3, n+3
	kernel := func(t float64) float64 {
		switch t = math.Abs(t); {
		case kind == 0:
			return math.Max(1-t, 0)
		case t <= 1:
			return (a+2)*t*t*t - (a+3)*t*t + 1
		case t < 2:
			return a * (t*t*t - 5*t*t + 8*t - 4)
		}
		return 0
	}
	if kind == 2 {
		a, scale, least, most = -0.5, math.Max(float64(n)/float64(m), 1), 0, n
	}
	weights, sum := make([]float64, n), 0.0
	for j := least; j < most; j++ {
		w := kernel((float64(j) + 0.5 - centre) / scale)
		weights[min(max(j, 0), n-1)] += w
		sum += w
	}
	for j := range weights {
		weights[j] /= sum
	}
	return weights
}
