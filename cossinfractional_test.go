package posenc_test

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// Whole positions give the bits of CosSin, and a position times a power of two
// those of the frequencies times it: p*2^-k * w is p * w*2^-k.
func TestCosSinFractional(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(50)
		for _, angles := range []posenc.AngleRounding{posenc.ExactAngles, posenc.Float32Angles} {
			for _, pairs := range []int{1, 5, 32, 64, 65, 130} {
				invFreq := make([]float64, pairs)
				for i := range invFreq {
					invFreq[i] = math.Pow(1e4, -float64(i)/float64(pairs))
				}
				for _, k := range []int{0, 1, 7, 40, 100, 140} {
					scaled := make([]float64, pairs)
					for i, w := range invFreq {
						scaled[i] = math.Ldexp(w, -k)
						if angles == posenc.Float32Angles {
							scaled[i] = math.Ldexp(float64(float32(w)), -k)
							if math.Abs(scaled[i]) < 0x1p-126 {
								scaled[i] = 0 // RN32(w*2^-k) would not be exact
							}
						}
					}
					whole := testkit.MustRotary(t, posenc.RotaryConfig{HeadDim: 2 * pairs, InvFreq: scaled, Angles: angles, AttentionFactor: 1.25})
					fractional := testkit.MustRotary(t, posenc.RotaryConfig{HeadDim: 2 * pairs, InvFreq: invFreq, Angles: angles, AttentionFactor: 1.25})
					positions, fractions := make([]int32, 9), make([]float32, 9)
					for i := range positions {
						positions[i] = int32(r.IntN(1<<24) - 1<<23)
						fractions[i] = float32(math.Ldexp(float64(positions[i]), -k))
					}
					n := 9 * pairs
					cos, sin, wantCos, wantSin := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
					if err := whole.CosSin(wantCos, wantSin, positions); err != nil {
						t.Fatal(err)
					}
					if err := fractional.CosSinFractional(cos, sin, fractions); err != nil {
						t.Fatal(err)
					}
					for i := range cos {
						if scaled[i%pairs] != 0 && !(testkit.Same(cos[i], wantCos[i]) && testkit.Same(sin[i], wantSin[i])) {
							t.Fatalf("angles %d, 2^-%d, position %d, pair %d: (%v, %v), want (%v, %v)", angles, k, positions[i/pairs], i%pairs, cos[i], sin[i], wantCos[i], wantSin[i])
						}
					}
				}
			}
		}
	})
}

// Sines of angles so small that they are the product itself.
func TestCosSinFractionalTiny(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		positions := []float32{0x1p-149, -0x1p-149, 0x1.8p-100, -0x1.fffffep-20, 0, float32(math.Copysign(0, -1)), 3}
		invFreq := []float64{1, 0x1.555p-3, 0x1.8p-40, 0x1p-100, 0x1.7p-1000, -0x1.2p-1060, 0}
		r := testkit.MustRotary(t, posenc.RotaryConfig{HeadDim: 2 * len(invFreq), InvFreq: invFreq})
		n := len(invFreq)
		cos, sin := make([]float32, len(positions)*n), make([]float32, len(positions)*n)
		if err := r.CosSinFractional(cos, sin, positions); err != nil {
			t.Fatal(err)
		}
		for k, p := range positions {
			for i, w := range invFreq {
				angle := new(big.Float).Mul(big.NewFloat(float64(p)), big.NewFloat(w))
				if magnitude, _ := angle.Float64(); math.Abs(magnitude) > 0x1p-20 {
					continue
				}
				// sin(a) is a(1 - a^2/6), which for a < 2^-20 is a number just below a.
				want, _ := new(big.Float).SetPrec(400).Mul(angle, new(big.Float).SetPrec(400).Sub(big.NewFloat(1), big.NewFloat(0x1p-200))).Float32()
				if magnitude, _ := angle.Float64(); math.Abs(magnitude) > 0x1p-60 {
					exact, _ := angle.Float64()
					want = float32(math.Sin(exact))
				}
				if got := sin[k*n+i]; got != want || cos[k*n+i] != 1 {
					t.Errorf("position %x, frequency %x: sine %x, want %x; cosine %v", p, w, got, want, cos[k*n+i])
				}
			}
		}
	})
}

func TestCosSinFractionalAxes(t *testing.T) {
	r := testkit.MustRotary(t, posenc.RotaryConfig{HeadDim: 12, Axes: []uint8{0, 1, 2, 2, 1, 0}})
	plain := testkit.MustRotary(t, posenc.RotaryConfig{HeadDim: 12})
	positions := []float32{0.5, 1, -3.25, 7, 0.125, 9.5} // [3 axes][2 tokens]
	var cos, sin, c, s [12]float32
	if err := r.CosSinFractional(cos[:], sin[:], positions); err != nil {
		t.Fatal(err)
	}
	for token := range 2 {
		for j, axis := range []int{0, 1, 2, 2, 1, 0} {
			if err := plain.CosSinFractional(c[:6], s[:6], positions[axis*2+token:][:1]); err != nil {
				t.Fatal(err)
			}
			if cos[token*6+j] != c[j] || sin[token*6+j] != s[j] {
				t.Errorf("token %d, pair %d: %v, want %v", token, j, cos[token*6+j], c[j])
			}
		}
	}
}

func TestCosSinFractionalErrors(t *testing.T) {
	r := testkit.MustRotary(t, posenc.RotaryConfig{HeadDim: 4})
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	decaying := testkit.MustRotary(t, posenc.RotaryConfig{HeadDim: 4, XPos: &posenc.XPos{ScaleBase: 512}})
	axes := testkit.MustRotary(t, posenc.RotaryConfig{HeadDim: 4, Axes: []uint8{0, 1}})
	memory := make([]float32, 8)
	for _, tt := range []struct {
		name string
		err  error
		want error
	}{
		{"nil", (*posenc.Rotary)(nil).CosSinFractional(nil, nil, nil), posenc.ErrConfig},
		{"zero", new(posenc.Rotary).CosSinFractional(nil, nil, nil), posenc.ErrConfig},
		{"xPos", decaying.CosSinFractional(memory[:2], memory[2:4], memory[4:5]), posenc.ErrConfig},
		{"axes", axes.CosSinFractional(memory[:2], memory[2:4], memory[4:5]), posenc.ErrLength},
		{"NaN", r.CosSinFractional(memory[:2], memory[2:4], []float32{nan}), posenc.ErrPosition},
		{"infinity", r.CosSinFractional(memory[:2], memory[2:4], []float32{inf}), posenc.ErrPosition},
		{"far", r.CosSinFractional(memory[:2], memory[2:4], []float32{3e9}), posenc.ErrPosition},
		{"short", r.CosSinFractional(memory[:1], memory[2:4], []float32{1}), posenc.ErrLength},
		{"overlap", r.CosSinFractional(memory[:2], memory[1:3], []float32{1}), posenc.ErrOverlap},
		{"in place", r.CosSinFractional(memory[:2], memory[2:4], memory[3:4]), posenc.ErrOverlap},
	} {
		if !errors.Is(tt.err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, tt.err, tt.want)
		}
	}
}
