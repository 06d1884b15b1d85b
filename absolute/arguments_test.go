package absolute_test

import (
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/internal/testkit"
)

// encoding is a Sinusoidal of any kind, and what it was made of.
type encoding struct {
	*absolute.Sinusoidal
	cfg  absolute.SinusoidalConfig // with Axes and Scale set
	zero bool
}

// encodingOf returns an encoding of up to most pairs; where any arguments are wanted
// also nil and a zero one.
func encodingOf(a *testkit.Arguments, most int) encoding {
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
func configOf(a *testkit.Arguments, most int) absolute.SinusoidalConfig {
	pairs := min(a.Length(), most)
	if a.Any() {
		pairs = testkit.Small(pairs)
	}
	cfg := absolute.SinusoidalConfig{InvFreq: testkit.LadderOf(pairs), Order: absolute.SinusoidalOrder(a.Below(3)), Axes: a.Number(1, 3)}
	if a.Yes() && !a.Ordinary() {
		cfg.InvFreq = testkit.RandomFrequencies(a.R, pairs, []int32{-7, 33, 4096}, a.Yes())
		for i, w := range cfg.InvFreq {
			if w != 0 && math.Abs(w) < 0x1p-900 {
				cfg.InvFreq[i] = math.Copysign(0x1p-900, w)
			}
		}
	}
	cfg.Dim = 2*testkit.Small(max(cfg.Axes, 1), pairs) + []int{0, 0, 1, 5, 140, -1}[a.Below(6)]
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
		cfg.InvFreq = testkit.Input[float64](a, pairs)
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
func (e *encoding) rowElements(a *testkit.Arguments, tokens int) int {
	if a.Any() {
		return testkit.Small(tokens, e.cfg.Dim)
	}
	return tokens * e.cfg.Dim
}

// positionsOf returns positions of tokens, some of which are padding, and how many
// tokens are meant.
func positionsOf[P absolute.Position](a *testkit.Arguments, e *encoding) (positions []P, tokens int) {
	tokens = a.Tokens()
	positions = testkit.Slice[P](a, tokens*e.cfg.Axes)
	switch p := any(positions).(type) {
	case []int32:
		a.FillPositions(p)
	case []float32:
		for i := range p {
			switch {
			case !a.Any() && !a.Ordinary() && a.R.IntN(8) == 0:
				p[i] = 0x1p-149 // products below 2^-980
			case !a.Any():
				p[i] = testkit.OneOf(a.R, []float32{0, -1, 1, 0.5, 1000 * a.R.Float32(), -a.R.Float32(), 0x1p31})
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
	return testkit.AnglesInRange(e.cfg.InvFreq, list) && len(x) == len(positions)/e.cfg.Axes*e.cfg.Dim && !testkit.Share(x, positions)
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
func maskOf(a *testkit.Arguments, n int) []bool {
	bytes := testkit.Slice[byte](a, n)
	for i := range bytes {
		bytes[i] &= 1
	}
	return unsafe.Slice((*bool)(unsafe.Pointer(unsafe.SliceData(bytes))), len(bytes))
}

func TestMain(m *testing.M)      { testkit.Main(m) }
func TestCases(t *testing.T)     { testkit.TestCases(t) }
func FuzzCases(f *testing.F)     { testkit.FuzzCases(f) }
func TestReceivers(t *testing.T) { testkit.CheckReceivers(t, absolute.Sinusoidal{}) }
