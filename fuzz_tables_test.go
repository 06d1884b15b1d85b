package posenc_test

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// FuzzRotaryTables compares Rotary.CosSin with xPos and Rotary.CosSinFractional
// with their definitions, taken at a few hundred bits by math/big.
func FuzzRotaryTables(f *testing.F) {
	f.Add([]byte{3, 2, 0, 1}, []byte{0, 0, 0, 63, 0, 0, 128, 192, 1, 2, 3, 4}, []byte(nil))
	f.Add([]byte{5, 4, 1, 2, 1, 3}, []byte{1, 0, 0, 128, 255, 255, 127, 78}, binary.LittleEndian.AppendUint64(nil, math.Float64bits(0x1p17)))
	f.Add([]byte{6, 3, 0, 3, 2, 2, 100, 5}, []byte{100, 0, 0, 0, 255, 255, 255, 127, 0, 0, 0, 128}, []byte(nil))
	f.Add([]byte{2, 1, 0, 4, 1, 1, 3}, []byte{0, 0, 128, 127, 0, 0, 192, 127}, []byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Fuzz(func(t *testing.T, shape, positionData, frequencyData []byte) {
		c := testkit.Choices(shape)
		pairs, tokens := 1+c.Below(4), c.Below(4)
		cfg := posenc.RotaryConfig{HeadDim: 2 * pairs, InvFreq: testkit.Repeat64(pairs, frequencyData), Angles: posenc.AngleRounding(c.Below(2))}
		cfg.Scaling = []float64{0, 1, 1.25, 0x1p-140}[c.Below(4)]
		axes := 1
		switch c.Below(3) {
		case 1:
			cfg.XPos = &posenc.XPos{ScaleBase: []float64{512, 1, 0x1p-50, 0.7, 1e300}[c.Below(5)], Center: c.Number32(), Keys: c.Below(2) == 1}
		case 2:
			for range pairs {
				cfg.Axes = append(cfg.Axes, uint8(c.Below(3)))
			}
			axes = int(slices.Max(cfg.Axes)) + 1
		}
		if _, err := posenc.NewRotary(cfg); err != nil {
			return
		}
		integers := testkit.RepeatPositions(tokens*axes, positionData, uint8(c.Below(3)))
		positions, fractions := make([]float64, len(integers)), make([]float32, len(integers))
		for i, p := range integers {
			if positions[i] = float64(p); cfg.XPos == nil {
				fractions[i] = math.Float32frombits(uint32(p))
				positions[i] = float64(fractions[i])
			}
		}
		n := tokens * pairs
		var wantCos, wantSin, firstCos, firstSin []float32
		testkit.OnEach(func(impl kernels.Implementation) {
			r := testkit.MustRotary(t, cfg)
			cos, sin := make([]float32, n), make([]float32, n)
			var err error
			if cfg.XPos != nil {
				err = r.CosSin(cos, sin, integers)
			} else {
				err = r.CosSinFractional(cos, sin, fractions)
			}
			if right := testkit.AnglesInRange(cfg.InvFreq, positions); right != (err == nil) {
				t.Fatalf("%s: positions %v, frequencies %v: error %v", impl, positions, cfg.InvFreq, err)
			}
			if err != nil {
				if slices.ContainsFunc(append(cos, sin...), func(x float32) bool { return x != 0 }) {
					t.Fatalf("%s: written before the error %v", impl, err)
				}
				return
			}
			if wantCos == nil {
				wantCos, wantSin = realTables(cfg, positions, axes)
				firstCos, firstSin = cos, sin
			}
			for i := range cos {
				p, w := positions[i/pairs], cfg.InvFreq[i%pairs]
				if !testkit.EqualOrNaN(cos[i], wantCos[i]) || !testkit.EqualOrNaN(sin[i], wantSin[i]) {
					t.Fatalf("%s: %+v, token %d, pair %d (%x at %x): got (%x, %x), want (%x, %x)", impl, cfg, i/pairs, i%pairs, w, p, cos[i], sin[i], wantCos[i], wantSin[i])
				}
			}
			if !testkit.SameSlices(cos, firstCos) || !testkit.SameSlices(sin, firstSin) { // signs of zeros too
				t.Fatalf("%s: (%x, %x), on others (%x, %x)", impl, cos, sin, firstCos, firstSin)
			}
		})
	})
}

// realTables returns the tables that cfg defines for positions [axes][tokens].
func realTables(cfg posenc.RotaryConfig, positions []float64, axes int) (cos, sin []float32) {
	pairs, tokens := cfg.HeadDim/2, len(positions)/axes
	scaling := float32(cfg.Scaling)
	if scaling == 0 {
		scaling = 1
	}
	logarithms := make([]*big.Float, pairs)
	for token := range tokens {
		for i, w := range cfg.InvFreq {
			axis := 0
			if cfg.Axes != nil {
				axis = int(cfg.Axes[i])
			}
			p := positions[axis*tokens+token]
			angle := testkit.NewReal().Mul(testkit.RealOf(p), testkit.RealOf(w))
			if cfg.Angles == posenc.Float32Angles {
				angle.SetFloat64(float64(float32(p) * float32(w)))
			}
			realCos, realSin := testkit.RealCosSin(angle)
			c, _ := realCos.Float32()
			s, _ := realSin.Float32()
			c, s = float32(c*scaling), float32(s*scaling)
			if cfg.XPos != nil {
				d := float64(cfg.HeadDim)
				if logarithms[i] == nil {
					logarithms[i] = testkit.RealLogarithm(testkit.NewReal().Quo(testkit.RealOf(10*float64(i)+2*d), testkit.RealOf(7*d)))
				}
				distance := p - float64(cfg.XPos.Center)
				if cfg.XPos.Keys {
					distance = -distance
				}
				exponent := testkit.NewReal().Quo(testkit.NewReal().Mul(testkit.RealOf(distance), logarithms[i]), testkit.RealOf(cfg.XPos.ScaleBase))
				factor := float32(0)
				if exponent.Cmp(testkit.RealOf(-200)) > 0 { // e^-200 is below 2^-150
					factor = float32(math.Inf(1))
					if exponent.Cmp(testkit.RealOf(200)) < 0 {
						factor, _ = testkit.RealExponential(exponent).Float32()
					}
				}
				c, s = c*factor, s*factor
			}
			cos, sin = append(cos, c), append(sin, s)
		}
	}
	return cos, sin
}
