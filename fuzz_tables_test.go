package posenc

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"
	"testing"

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
		c := choices(shape)
		pairs, tokens := 1+c.below(4), c.below(4)
		cfg := RotaryConfig{HeadDim: 2 * pairs, InvFreq: repeat64(pairs, frequencyData), Angles: Angles(c.below(2))}
		cfg.Scaling = []float64{0, 1, 1.25, 0x1p-140}[c.below(4)]
		axes := 1
		switch c.below(3) {
		case 1:
			cfg.XPos = &XPos{ScaleBase: []float64{512, 1, 0x1p-50, 0.7, 1e300}[c.below(5)], Center: c.number32(), Keys: c.below(2) == 1}
		case 2:
			for range pairs {
				cfg.Axes = append(cfg.Axes, uint8(c.below(3)))
			}
			axes = int(slices.Max(cfg.Axes)) + 1
		}
		if _, err := NewRotary(cfg); err != nil {
			return
		}
		integers := repeatPositions(tokens*axes, positionData, uint8(c.below(3)))
		positions, fractions := make([]float64, len(integers)), make([]float32, len(integers))
		for i, p := range integers {
			if positions[i] = float64(p); cfg.XPos == nil {
				fractions[i] = math.Float32frombits(uint32(p))
				positions[i] = float64(fractions[i])
			}
		}
		n := tokens * pairs
		var wantCos, wantSin, firstCos, firstSin []float32
		onEach(func(impl kernels.Implementation) {
			r := mustRotary(t, cfg)
			cos, sin := make([]float32, n), make([]float32, n)
			var err error
			if cfg.XPos != nil {
				err = r.CosSin(cos, sin, integers)
			} else {
				err = r.CosSinFractional(cos, sin, fractions)
			}
			if right := anglesInRange(cfg.InvFreq, positions); right != (err == nil) {
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
				if !equalOrNaN(cos[i], wantCos[i]) || !equalOrNaN(sin[i], wantSin[i]) {
					t.Fatalf("%s: %+v, token %d, pair %d (%x at %x): got (%x, %x), want (%x, %x)", impl, cfg, i/pairs, i%pairs, w, p, cos[i], sin[i], wantCos[i], wantSin[i])
				}
			}
			if !sameSlices(cos, firstCos) || !sameSlices(sin, firstSin) { // signs of zeros too
				t.Fatalf("%s: (%x, %x), on others (%x, %x)", impl, cos, sin, firstCos, firstSin)
			}
		})
	})
}

func equalOrNaN(a, b float32) bool { return a == b || a != a && b != b }

// anglesInRange reports whether the positions are ones that a Rotary takes: up to
// 2^31 in magnitude, with angles below 2^50.
func anglesInRange(invFreq, positions []float64) bool {
	largest := 0.0
	for _, w := range invFreq {
		largest = max(largest, math.Abs(w))
	}
	for _, p := range positions {
		// lastPosition rounds down to an integer.
		if last := math.Floor(math.Nextafter(0x1p50/largest, 0)); !(math.Abs(p) <= 1<<31) || largest >= 1<<18 && math.Abs(p) > last {
			return false
		}
	}
	return true
}

const realBits = 400

func newReal() *big.Float { return new(big.Float).SetPrec(realBits) }

func realOf(x float64) *big.Float { return newReal().SetFloat64(x) }

// realPi is pi by Machin's formula.
var realPi = func() *big.Float {
	arctangent := func(n float64) *big.Float { // of 1/n
		sum, power := newReal(), newReal().Quo(realOf(1), realOf(n))
		for k, sign := 1.0, 1.0; power.MantExp(nil) > -realBits; k, sign = k+2, -sign {
			sum.Add(sum, newReal().Quo(power, realOf(sign*k)))
			power.Quo(power, realOf(n*n))
		}
		return sum
	}
	return newReal().Sub(newReal().Mul(realOf(16), arctangent(5)), newReal().Mul(realOf(4), arctangent(239)))
}()

// realCosSin returns the cosine and the sine of an angle below 2^50.
func realCosSin(angle *big.Float) (cos, sin *big.Float) {
	turn := newReal().Mul(realOf(2), realPi)
	turns, _ := newReal().Quo(angle, turn).Int(nil)
	x := newReal().Sub(angle, newReal().Mul(turn, newReal().SetInt(turns)))
	sums, term := [2]*big.Float{newReal(), newReal()}, realOf(1)
	for n := 0; n < 2 || term.Sign() != 0 && term.MantExp(nil) > 64-realBits; n++ {
		if n%4 < 2 {
			sums[n%2].Add(sums[n%2], term)
		} else {
			sums[n%2].Sub(sums[n%2], term)
		}
		term = newReal().Quo(newReal().Mul(term, x), realOf(float64(n+1)))
	}
	const tiny = -100 // below 2^tiny the cube may be beyond realBits: the sine is less by next to nothing
	if x.Sign() != 0 && x.MantExp(nil) < tiny {
		sums[1].Sub(sums[1], newReal().SetMantExp(x, 2*tiny))
	}
	return sums[0], sums[1]
}

// realLogarithm returns ln(x): with r the 2^100th root of x it is 2^100*ln(r), and
// ln(r) is d - d^2/2 + d^3/3 for d = r-1 but for 2^-300 of it.
func realLogarithm(x *big.Float) *big.Float {
	r := new(big.Float).SetPrec(2 * realBits).Set(x)
	for range 100 {
		r.Sqrt(r)
	}
	d := r.Sub(r, realOf(1))
	square := newReal().Mul(d, d)
	sum := newReal().Sub(d, newReal().Quo(square, realOf(2)))
	sum.Add(sum, newReal().Quo(newReal().Mul(square, d), realOf(3)))
	return sum.SetMantExp(sum, 100)
}

// realExponential returns e^x, |x| < 2^10, as the 2^80th power of that of x/2^80,
// which is 1 + y + y^2/2 + y^3/6 but for 2^-280.
func realExponential(x *big.Float) *big.Float {
	y := newReal().SetMantExp(x, -80)
	square := newReal().Mul(y, y)
	result := newReal().Add(realOf(1), y)
	result.Add(result, newReal().Quo(square, realOf(2)))
	result.Add(result, newReal().Quo(newReal().Mul(square, y), realOf(6)))
	for range 80 {
		result.Mul(result, result)
	}
	return result
}

// realTables returns the tables that cfg defines for positions [axes][tokens].
func realTables(cfg RotaryConfig, positions []float64, axes int) (cos, sin []float32) {
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
			angle := newReal().Mul(realOf(p), realOf(w))
			if cfg.Angles == Float32 {
				angle.SetFloat64(float64(float32(p) * float32(w)))
			}
			realCos, realSin := realCosSin(angle)
			c, _ := realCos.Float32()
			s, _ := realSin.Float32()
			c, s = float32(c*scaling), float32(s*scaling)
			if cfg.XPos != nil {
				d := float64(cfg.HeadDim)
				if logarithms[i] == nil {
					logarithms[i] = realLogarithm(newReal().Quo(realOf(10*float64(i)+2*d), realOf(7*d)))
				}
				distance := p - float64(cfg.XPos.Center)
				if cfg.XPos.Keys {
					distance = -distance
				}
				exponent := newReal().Quo(newReal().Mul(realOf(distance), logarithms[i]), realOf(cfg.XPos.ScaleBase))
				factor := float32(0)
				if exponent.Cmp(realOf(-200)) > 0 { // e^-200 is below 2^-150
					factor = float32(math.Inf(1))
					if exponent.Cmp(realOf(200)) < 0 {
						factor, _ = realExponential(exponent).Float32()
					}
				}
				c, s = c*factor, s*factor
			}
			cos, sin = append(cos, c), append(sin, s)
		}
	}
	return cos, sin
}
