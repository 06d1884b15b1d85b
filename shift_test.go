package posenc_test

import (
	"fmt"
	"math"
	"math/cmplx"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/test/kit"
)

// shiftOf returns the configuration whose Rotate is Shift of cfg: without
// AttentionFactor, in the order that cfg writes.
func shiftOf(cfg posenc.RotaryConfig) posenc.RotaryConfig {
	cfg.AttentionFactor, cfg.Layout = 0, plainOf(cfg).out
	return cfg
}

// cachedFormats are formats of cached keys, with the root mean square errors, relative to those of
// the numbers, that Shift and docs/quantized.md document for normal random numbers: of storing
// rotated keys (0: undocumented), and of one shift of what is stored.
var cachedFormats = []struct {
	name          string
	stored, shift float64
	cache         func(t *testing.T, rope *posenc.Rotary, positions []int32, keys []float32, hadamard int) cachedKeys
}{
	{"float32", 0, 4.2e-8, cacheElements[float32]},
	{"float16", 0, 2.1e-4, cacheElements[posenc.Float16]},
	{"bfloat16", 0, 1.7e-3, cacheElements[posenc.BFloat16]},
	{"Q8_0", 0.0051, 0.0051, cacheQuantized[posenc.Q8_0](0)},
	{"int8", 0.0060, 0.0060, cacheQuantized[int8](0)},
	{"E4M3 with scales", 0.026, 0.026, cacheQuantized[posenc.E4M3](0)},
	{"E4M3", 0.026, 0.026, cacheQuantized[posenc.E4M3](1)},
	{"E5M2", 0.053, 0.053, cacheQuantized[posenc.E5M2](1)},
	{"Q5_1", 0.038, 0.038, cacheQuantized[posenc.Q5_1](0)},
	{"Q5_0", 0.043, 0.043, cacheQuantized[posenc.Q5_0](0)},
	{"Q4_1", 0.078, 0.078, cacheQuantized[posenc.Q4_1](0)},
	{"Q4_0", 0.086, 0.086, cacheQuantized[posenc.Q4_0](0)},
	{"IQ4_NL", 0.079, 0.079, cacheQuantized[posenc.IQ4_NL](0)},
	{"NVFP4", 0.095, 0.095, cacheQuantized[posenc.NVFP4](0)},
	{"MXFP4", 0.115, 0.115, cacheQuantized[posenc.MXFP4Floor](0)},
}

const cachedTokens, cachedHeads, cachedDim = 200, 2, 128

type cachedKeys struct {
	read   func() []float32
	shift  func(deltas []int32) error
	rotate func(a posenc.Angles) error
}

func cacheElements[T posenc.Element](t *testing.T, rope *posenc.Rotary, positions []int32, keys []float32, _ int) cachedKeys {
	cache := posenc.View[T]{Data: make([]T, len(keys)), Heads: cachedHeads}
	kit.NoError(t, posenc.RotateInto(rope.At(positions), cache, nil, posenc.View[float32]{Data: keys, Heads: cachedHeads}))
	return cachedKeys{
		func() []float32 {
			values := make([]float32, len(keys))
			for i, x := range cache.Data {
				values[i] = kit.Widen(x)
			}
			return values
		},
		func(deltas []int32) error { return posenc.Shift(rope.At(deltas), cache) },
		func(a posenc.Angles) error { return posenc.Rotate(a, cache) },
	}
}

func cacheQuantized[D posenc.Quantized](scale float32) func(*testing.T, *posenc.Rotary, []int32, []float32, int) cachedKeys {
	return func(t *testing.T, rope *posenc.Rotary, positions []int32, keys []float32, hadamard int) cachedKeys {
		cache, source := cacheFor[D](cachedTokens, cachedHeads, cachedDim, hadamard, scale), posenc.View[float32]{Data: keys, Heads: cachedHeads}
		kit.NoError(t, posenc.RotateIntoQuantized(rope.At(positions), nil, posenc.IntoQuantized[D, float32]{Dst: cache, Src: source}))
		return cachedKeys{
			func() []float32 {
				values := posenc.View[float32]{Data: make([]float32, len(keys)), Heads: cachedHeads}
				kit.NoError(t, posenc.Dequantize(values, cache, posenc.DequantizeOptions{Tokens: cachedTokens, HeadDim: cachedDim}))
				return values.Data
			},
			func(deltas []int32) error { return posenc.ShiftQuantized(rope.At(deltas), cache) },
			func(a posenc.Angles) error {
				return posenc.RotateQuantized(a, posenc.FromQuantized[D, D]{Dst: cache, Src: cache})
			},
		}
	}
}

// rotatedBy returns the pairs of cached keys, rotated by the angles of positions.
func rotatedBy(positions []int32, pairs []complex128) []complex128 {
	const n = cachedDim / 2
	rotated := make([]complex128, len(pairs))
	for i, z := range pairs {
		p := float64(positions[i/(cachedHeads*n)])
		rotated[i] = z * cmplx.Exp(complex(0, p*math.Pow(10000, -float64(i%n)/n)))
	}
	return rotated
}

// What is stored is near the rotated keys, and what is shifted near the rotation of what was
// stored, by the documented errors, which other keys change by a few percent: each shift adds one,
// as if at random where the deltas differ. AttentionFactor is in the keys once: 2, which rounds
// nothing. Zeros stay zeros, and a delta of 0 keeps the bits.
func TestCachedKeys(t *testing.T) {
	const shifts, token = 10, cachedHeads * cachedDim
	r := kit.NewRand(120)
	positions, deltas, sums := make([]int32, cachedTokens), make([]int32, cachedTokens), make([]int32, cachedTokens)
	near := func(what string, got []float32, layout posenc.Layout, want []complex128, least, most float64) {
		t.Helper()
		differences, squares := 0.0, 0.0
		for i, z := range pairsOf(layout, got) {
			d, w := cmplx.Abs(z-want[i]), cmplx.Abs(want[i])
			differences, squares = differences+d*d, squares+w*w
		}
		if e := math.Sqrt(differences / squares); !(e >= least && e <= most) {
			t.Errorf("%s: the error is %.3g, want from %.3g to %.3g", what, e, least, most)
		}
	}
	for i, format := range cachedFormats {
		for j, hadamard := range []int{0, 32, 128} {
			equal := j == 1
			cfg := posenc.RotaryConfig{HeadDim: cachedDim, Layout: allLayouts[(i+j)%4], AttentionFactor: 2}
			order := plainOf(cfg)
			keys := make([]float32, cachedTokens*token)
			for i := range keys[token:] {
				keys[token+i] = float32(r.NormFloat64())
			}
			for i := range positions {
				positions[i], sums[i] = int32(r.IntN(1<<17)), 0
			}
			cache := format.cache(t, kit.MustRotary(cfg), positions, keys, hadamard)
			stored := cache.read()
			want := rotatedBy(positions, pairsOf(order.in, keys))
			for i := range want {
				want[i] *= 2
			}
			near(format.name+" stored", stored, order.out, want, 0.9*format.stored, 1.1*max(format.stored, format.shift))
			for n := 1.0; n <= shifts; n++ {
				for i := range deltas {
					if n == 1 || !equal {
						deltas[i] = int32(r.IntN(1<<18) - 1<<17)
					}
					sums[i] += deltas[i]
				}
				sums[1], deltas[1] = 0, 0
				kit.NoError(t, cache.shift(deltas))
				if n == 1 || n == shifts {
					least, most := 0.9*format.shift*math.Sqrt(n), 1.1*format.shift*math.Sqrt(n)
					if equal {
						most = 1.1 * format.shift * n
					}
					if n > 1 && format.stored > 0 { // some coarse steps round a shift away
						least *= 8. / 9
					}
					near(fmt.Sprintf("%s shifted %v times, equal deltas %t", format.name, n, equal), cache.read(), order.out, rotatedBy(sums, pairsOf(order.out, stored)), least, most)
				}
			}
			shifted := cache.read()
			if !kit.SameBits(shifted[token:2*token], stored[token:2*token]) || slices.ContainsFunc(shifted[:token], func(x float32) bool { return x != 0 }) {
				t.Errorf("%s: shifts by 0 or of zeros changed numbers", format.name)
			}
		}
	}
}

// pairsOf returns the pairs of heads as complex numbers.
func pairsOf(layout posenc.Layout, heads []float32) []complex128 {
	z := make([]complex128, len(heads)/2)
	for i := range z {
		const n = cachedDim / 2
		a, b := kit.PairAt(layout, i/n*cachedDim, i%n, n)
		z[i] = complex(float64(heads[a]), float64(heads[b]))
	}
	return z
}

func TestShiftErrors(t *testing.T) {
	data := make([]float32, 64)
	rotary := kit.MustRotary(posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit})
	fast := kit.MustRotary(posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, InvFreq: []float64{1, 0x1p20, -0x1p40, 3}})
	axes := kit.MustRotary(posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, Axes: []uint8{0, 1, 2, 0}})
	decaying := kit.MustRotary(posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, XPos: &posenc.XPos{ScaleBase: 512}})
	x := V{Data: data[:24], Heads: 1}
	fails := kit.Failures(t, data)
	const want = ", want Angles from Rotary.At or Rotary.AtAxes, of a Rotary without XPos"
	rows := kit.Must(rotary.Rows([]int32{1, 2, 3}))
	fails(posenc.Shift((*posenc.Rotary)(nil).At([]int32{1, 2, 3}), x), posenc.ErrConfig, "posenc.Shift: deltas is zero, or from a nil Rotary"+want)
	fails(posenc.Shift(posenc.Angles{}, x), posenc.ErrConfig, "posenc.Shift: deltas is zero, or from a nil Rotary"+want)
	fails(posenc.Shift(new(posenc.Rotary).AtAxes([]int32{1, 2, 3}), x), posenc.ErrConfig, "posenc.Shift: deltas is from a zero Rotary"+want)
	fails(posenc.Shift(decaying.At([]int32{0, 1, 2}), x), posenc.ErrConfig, "posenc.Shift: deltas is from a Rotary with XPos"+want)
	for _, a := range []posenc.Angles{rows.All(), rows.At([]int32{0, 1, 2}), rotary.AtFractional([]float32{1, 2, 3}), rotary.Unrotated(3)} {
		fails(posenc.Shift(a, x), posenc.ErrConfig, "posenc.Shift: deltas is not from Rotary.At or Rotary.AtAxes"+want)
	}
	fails(posenc.Shift(fast.At([]int32{5, 1024, 3}), x), posenc.ErrPosition, "posenc.Shift: deltas[1] is 1024, want at most 1023")
	fails(posenc.Shift(axes.AtAxes([]int32{5, 4, 4, 4}), x), posenc.ErrLength, "posenc.Shift: deltas has 4 elements, want a multiple of 3")
	fails(posenc.Shift(axes.At(make([]int32, 9)), x), posenc.ErrLength, "posenc.Shift: xs[0].Data has 24 elements, want 72")
	fails(posenc.Shift(rotary.At([]int32{1, 2}), x), posenc.ErrLength, "posenc.Shift: xs[0].Data has 24 elements, want 16")
	fails(posenc.Shift(rotary.At(nil), x), posenc.ErrLength, "posenc.Shift: xs[0].Data has 24 elements, want 0")
	fails(posenc.Shift(rotary.At([]int32{1, 2, 3}), x, V{}), posenc.ErrShape, "posenc.Shift: xs[1].Heads is 0")
}
