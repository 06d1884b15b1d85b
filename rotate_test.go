package posenc_test

import (
	"fmt"
	"math"
	"math/cmplx"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// pairsOf returns the pairs of a head as complex numbers.
func pairsOf(layout posenc.Layout, head []float32) []complex128 {
	z := make([]complex128, len(head)/2)
	for i := range z {
		a, b := testkit.PairAt(layout, 0, i, len(z))
		z[i] = complex(float64(head[a]), float64(head[b]))
	}
	return z
}

// unit is half an ulp of 1, the relative error of one rounding to float32.
const unit = 0x1p-24

// One rotation of a pair z errs by less than 4*unit*|z|: the table entries by
// unit/2 each, which is at most unit/sqrt(2)*|z|; the four products by unit
// each, together at most sqrt(2)*unit*|z|; the two sums by unit*|z|. The angles
// in float64 here err by far less, for positions of 20 bits.
const rotationError = 4 * unit

// Rotation is multiplication by e^(i*angle).
func TestRotateIsComplexMultiplication(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(25)
		const dim = 64
		for _, layout := range testkit.Layouts {
			rotary := testkit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: layout})
			x := make([]float32, dim)
			for range testkit.Rounds(300) {
				p := int32(r.IntN(1<<20) - 1<<19)
				for i := range x {
					x[i] = float32(r.NormFloat64())
				}
				before := pairsOf(layout, x)
				testkit.NoError(t, posenc.Rotate(rotary.At([]int32{p}), posenc.View[float32]{Data: x, Heads: 1}))
				for i, z := range pairsOf(layout, x) {
					w := math.Pow(10000, -2*float64(i)/dim)
					want := before[i] * cmplx.Exp(complex(0, float64(p)*w))
					if d := cmplx.Abs(z - want); d > rotationError*cmplx.Abs(want) {
						t.Fatalf("position %d, pair %d: got %v, want %v", p, i, z, want)
					}
					if d := math.Abs(cmplx.Abs(z) - cmplx.Abs(before[i])); d > rotationError*cmplx.Abs(want) {
						t.Fatalf("position %d, pair %d: the norm %v became %v", p, i, cmplx.Abs(before[i]), cmplx.Abs(z))
					}
				}
			}
		}
	})
}

// What attention sees depends on the distance of two tokens alone:
// <R(m)q, R(n)k> = <q, R(n-m)k>.
func TestRotateIsRelative(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(26)
		const dim = 64
		for _, layout := range testkit.Layouts {
			rotary := testkit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: layout})
			q, k := make([]float32, dim), make([]float32, dim)
			for range testkit.Rounds(300) {
				for i := range q {
					q[i], k[i] = float32(r.NormFloat64()), float32(r.NormFloat64())
				}
				m := int32(r.IntN(1 << 20))
				n := m + int32(r.IntN(1000)-500)
				zq, zk := pairsOf(layout, q), pairsOf(layout, k)
				for x, p := range map[*float32]int32{&q[0]: m, &k[0]: n} {
					data := q
					if x == &k[0] {
						data = k
					}
					testkit.NoError(t, posenc.Rotate(rotary.At([]int32{p}), posenc.View[float32]{Data: data, Heads: 1}))
				}
				var got, want, size float64
				rq, rk := pairsOf(layout, q), pairsOf(layout, k)
				for i := range zq {
					w := math.Pow(10000, -2*float64(i)/dim)
					got += real(rq[i] * cmplx.Conj(rk[i]))
					want += real(zq[i] * cmplx.Conj(zk[i]*cmplx.Exp(complex(0, float64(n-m)*w))))
					size += cmplx.Abs(zq[i]) * cmplx.Abs(zk[i])
				}
				if math.Abs(got-want) > 2.001*rotationError*size { // of q and of k, and their product
					t.Fatalf("positions %d and %d: got %v, want %v", m, n, got, want)
				}
			}
		}
	})
}

// RotateInverse undoes Rotate up to two rotation errors, and their product.
func TestRotateInverseUndoes(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(27)
		const tokens, dim = 40, 64
		for _, layout := range testkit.Layouts {
			for _, angles := range []frequency.Rounding{frequency.Exact, frequency.Float32} {
				rotary := testkit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: layout, Rounding: angles})
				positions := testkit.RandomPositions(r, "runs", tokens)
				x := make([]float32, tokens*dim)
				for i := range x {
					x[i] = float32(r.NormFloat64())
				}
				before := slices.Clone(x)
				v := posenc.View[float32]{Data: x, Heads: 1}
				testkit.NoError(t, posenc.Rotate(rotary.At(positions), v), posenc.RotateInverse(rotary.At(positions), v))
				for i := range tokens {
					z, want := pairsOf(layout, x[i*dim:][:dim]), pairsOf(layout, before[i*dim:][:dim])
					for j := range z {
						if cmplx.Abs(z[j]-want[j]) > 2.001*rotationError*cmplx.Abs(want[j]) {
							t.Fatalf("position %d, pair %d: got %v, want %v", positions[i], j, z[j], want[j])
						}
					}
				}
			}
		}
	})
}

func TestRotateErrors(t *testing.T) {
	const dim, tokens = 8, 3
	memory := make([]float32, 512)
	rotary := testkit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit})
	fast := testkit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit, InvFreq: []float64{1, 0x1p20, -0x1p40, 3}})
	huge := testkit.MustRotary(posenc.RotaryConfig{HeadDim: math.MaxInt, RotaryDim: 2, Layout: posenc.HalfSplit})
	positions := []int32{5, 6, 7}
	good := posenc.View[float32]{Data: memory[400:448], Heads: 2}
	packed := func(n, heads int) V { return V{Data: memory[:n], Heads: heads} }
	for function, rotate := range map[string]func(posenc.Angles, ...V) error{"Rotate": posenc.Rotate[float32], "RotateInverse": posenc.RotateInverse[float32]} {
		views := func(name string, kind error, says []string, xs ...V) testkit.Wrong {
			return testkit.Wrong{Name: name, Call: func() error { return rotate(rotary.At(positions), xs...) }, Kind: kind, Says: append(says, "posenc."+function+": ")}
		}
		calls := []testkit.Wrong{
			{Name: "zero angles", Call: func() error { return rotate(posenc.Angles{}, good) }, Kind: posenc.ErrConfig, Says: []string{"a is zero, or from a nil Rotary or nil Rows, want Angles from Rotary.At, Rows.All or Rows.At"}},
			{Name: "no rotary", Call: func() error { return rotate((*posenc.Rotary)(nil).At(positions), good) }, Kind: posenc.ErrConfig, Says: []string{"a is zero, or from a nil Rotary or nil Rows, want Angles from"}},
			{Name: "no rows", Call: func() error { return rotate((*posenc.Rows)(nil).All(), good) }, Kind: posenc.ErrConfig, Says: []string{"a is zero, or from a nil Rotary or nil Rows, want Angles from"}},
			{Name: "no rows, ids", Call: func() error { return rotate((*posenc.Rows)(nil).At(positions), good) }, Kind: posenc.ErrConfig, Says: []string{"a is zero, or from a nil Rotary or nil Rows, want Angles from"}},
			{Name: "zero rows", Call: func() error { return rotate(new(posenc.Rows).All(), good) }, Kind: posenc.ErrConfig, Says: []string{"a is from zero Rows, want Angles from Rows of Rotary.Rows or NewRows"}},
			{Name: "zero rows, ids", Call: func() error { return rotate(new(posenc.Rows).At(nil), good) }, Kind: posenc.ErrConfig, Says: []string{"a is from zero Rows"}},
			{Name: "zero rotary", Call: func() error { return rotate(new(posenc.Rotary).At(positions), good) }, Kind: posenc.ErrConfig, Says: []string{"a is from a zero Rotary"}},
			{Name: "unrotated tokens", Call: func() error { return rotate(rotary.Unrotated(-1), good) }, Kind: posenc.ErrConfig, Says: []string{"a is of -1 tokens, want at least 0 tokens in Rotary.Unrotated"}},
			{Name: "position", Call: func() error { return rotate(fast.At([]int32{1023, 1024, -5}), good) }, Kind: posenc.ErrPosition, Says: []string{"positions[1] is 1024, want at most 1023 in magnitude, so that angles stay below 2^50"}},
			{Name: "negative position", Call: func() error { return rotate(fast.At([]int32{1, 2, -1024}), good) }, Kind: posenc.ErrPosition, Says: []string{"positions[2] is -1024"}},
			{Name: "least position", Call: func() error { return rotate(fast.At([]int32{math.MinInt32, 0, 0}), good) }, Kind: posenc.ErrPosition, Says: []string{"positions[0] is -2147483648"}},
			{Name: "huge head", Call: func() error { return rotate(huge.At([]int32{1}), good) }, Kind: posenc.ErrShape, Says: []string{"xs[0].Heads is 2"}},
			{Name: "huge head alone", Call: func() error { return rotate(huge.At([]int32{1}), packed(24, 1)) }, Kind: posenc.ErrLength, Says: []string{"xs[0].Data has 24 elements"}},
			{Name: "data for no tokens", Call: func() error { return rotate(rotary.At(nil), packed(1, 1)) }, Kind: posenc.ErrLength, Says: []string{"xs[0].Data has 1 element,"}},
			{Name: "no heads for no tokens", Call: func() error { return rotate(rotary.At(nil), V{}) }, Kind: posenc.ErrShape, Says: []string{"xs[0].Heads is 0"}},

			views("no heads", posenc.ErrShape, []string{"xs[0].Heads is 0, want at least 1"}, packed(48, 0)),
			views("negative heads", posenc.ErrShape, []string{"xs[0].Heads is -1"}, packed(48, -1)),
			views("least heads", posenc.ErrShape, []string{"xs[0].Heads is -"}, packed(48, math.MinInt)),
			views("huge heads", posenc.ErrShape, []string{fmt.Sprint("xs[0].Heads is ", math.MaxInt)}, packed(48, math.MaxInt)),
			views("huge heads, strided", posenc.ErrLength, []string{"xs[0].Data has 48 elements"}, strided(memory[:48], math.MaxInt, 8, 8)),
			views("heads that wrap to 0", posenc.ErrShape, []string{"xs[0].Heads"}, packed(0, math.MaxInt/8+1)),
			views("heads that wrap to 2", posenc.ErrShape, []string{"xs[0].Heads"}, packed(48, (math.MaxInt/8+1)*2/2+2)),
			views("negative token stride", posenc.ErrShape, []string{"xs[0].TokenStride is -1"}, strided(memory[:48], 2, -1, 0)),
			views("least token stride", posenc.ErrShape, []string{"xs[0].TokenStride is -"}, strided(memory[:48], 2, math.MinInt, 0)),
			views("negative head stride", posenc.ErrShape, []string{"xs[0].HeadStride is -8"}, strided(memory[:48], 2, 0, -8)),
			views("huge token stride", posenc.ErrLength, []string{"xs[0].Data has 48 elements"}, strided(memory[:48], 2, math.MaxInt, 0)),
			views("token stride that wraps", posenc.ErrLength, []string{"xs[0].Data has 48 elements"}, strided(memory[:48], 2, math.MaxInt/2+1, 0)), // 2*stride is 2^63
			views("token stride almost that", posenc.ErrLength, []string{"xs[0].Data"}, strided(memory[:48], 2, math.MaxInt/2-4, 0)),
			views("huge head stride", posenc.ErrLength, []string{"xs[0].Data has 48 elements"}, strided(memory[:48], 2, 0, math.MaxInt)),
			views("both strides huge", posenc.ErrLength, []string{"xs[0].Data has 48 elements"}, strided(memory[:48], 3, math.MaxInt/2, math.MaxInt/2)),
			views("no data", posenc.ErrLength, []string{"xs[0].Data has 0 elements", "48"}, V{Heads: 2}),
			views("one element", posenc.ErrLength, []string{"xs[0].Data has 1 element,", "48"}, packed(1, 2)),
			views("too short", posenc.ErrLength, []string{"xs[0].Data has 47 elements", "48"}, packed(47, 2)),
			views("too long", posenc.ErrLength, []string{"xs[0].Data has 49 elements", "48"}, packed(49, 2)),
			views("too short for token stride", posenc.ErrLength, []string{"xs[0].Data has 215 elements", "216"}, strided(memory[:215], 2, 100, 0)),
			views("too short for head stride", posenc.ErrLength, []string{"xs[0].Data has 60 elements", "61"}, strided(memory[:60], 2, 16, 21)),
			views("too short for heads after heads", posenc.ErrLength, []string{"xs[0].Data has 47 elements", "48"}, strided(memory[:47], 2, 8, 24)),
			views("second too short", posenc.ErrLength, []string{"xs[1].Data has 23 elements", "24"}, good, packed(23, 1)),
			views("third without heads", posenc.ErrShape, []string{"xs[2].Heads is 0"}, good, packed(24, 1), V{}),

			views("tokens overlap", posenc.ErrOverlap, []string{"xs[0].TokenStride is 8"}, strided(memory[:200], 2, 8, 0)),
			views("tokens overlap by one", posenc.ErrOverlap, []string{"xs[0].TokenStride is 15"}, strided(memory[:200], 2, 15, 0)),
			views("heads overlap", posenc.ErrOverlap, []string{"xs[0].TokenStride is 100", "HeadStride 7"}, strided(memory[:300], 2, 100, 7)),
			views("rows cross", posenc.ErrOverlap, []string{"xs[0].TokenStride is 20"}, strided(memory[:300], 3, 20, 19)),
			views("all the same", posenc.ErrOverlap, []string{"xs[0].TokenStride is 1"}, strided(memory[:300], 2, 1, 1)),
			views("same view twice", posenc.ErrOverlap, []string{"xs[1]", "xs[0]"}, good, good),
			views("same view last", posenc.ErrOverlap, []string{"xs[2]", "xs[0]"}, good, packed(24, 1), good),
			views("views share the last element", posenc.ErrOverlap, []string{"xs[1]"}, packed(48, 2), V{Data: memory[47:71], Heads: 1}),
			views("views share the first element", posenc.ErrOverlap, []string{"xs[1]"}, V{Data: memory[47:71], Heads: 1}, packed(48, 2)),
			views("one view within another", posenc.ErrOverlap, []string{"xs[1]"}, packed(240, 10), V{Data: memory[100:124], Heads: 1}),
			views("views interleave and touch", posenc.ErrOverlap, []string{"xs[1]"}, strided(memory[:200], 2, 48, 0), strided(memory[15:200], 1, 48, 0)),
			views("views of other strides", posenc.ErrOverlap, []string{"xs[1]"}, strided(memory[:200], 1, 20, 0), strided(memory[8:200], 1, 26, 0)), // 2*20 < 8+26+8
		}
		t.Run("function="+function, func(t *testing.T) { testkit.CheckWrong(t, calls, memory) })
	}
}

// V is a view of the tests of errors.
type V = posenc.View[float32]

func strided(data []float32, heads, tokenStride, headStride int) V {
	return V{Data: data, Heads: heads, TokenStride: tokenStride, HeadStride: headStride}
}

func TestRotateAccepts(t *testing.T) {
	const dim = 8
	memory := make([]float32, 512)
	rotary := testkit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit})
	edge := testkit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit, InvFreq: []float64{1, 0x1p20, -0x1p40, 3}})
	positions := []int32{5, 6, 7}
	for name, call := range map[string]func() error{
		"no tokens": func() error { return posenc.Rotate(rotary.At(nil), V{Heads: 2}) },
		"no tokens, strided": func() error {
			return posenc.Rotate(rotary.At(nil), strided(memory, 2, 16, 8), strided(memory, 2, 16, 8))
		},
		"one token, any stride": func() error {
			return posenc.Rotate(rotary.At(positions[:1]), strided(memory[:8], 1, math.MaxInt, math.MaxInt))
		},
		"one token, stride 1":  func() error { return posenc.Rotate(rotary.At(positions[:1]), strided(memory[:8], 1, 1, 1)) },
		"one head, any stride": func() error { return posenc.Rotate(rotary.At(positions), strided(memory[:24], 1, 8, math.MaxInt)) },
		"longer than its rows": func() error { return posenc.Rotate(rotary.At(positions), strided(memory, 2, 16, 0)) },
		"neighbours": func() error {
			return posenc.Rotate(rotary.At(positions), V{Data: memory[:48], Heads: 2}, V{Data: memory[48:72], Heads: 1})
		},
		"packed QKV": func() error {
			return posenc.Rotate(rotary.At(positions), strided(memory, 4, 64, 0), strided(memory[32:], 2, 64, 0))
		},
		"[q k v] of each head": func() error {
			return posenc.Rotate(rotary.At(positions), strided(memory, 4, 96, 24), strided(memory[8:], 4, 96, 24))
		},
		"[heads][tokens], Q and K": func() error {
			return posenc.Rotate(rotary.At(positions), strided(memory, 2, 8, 24), strided(memory[48:], 1, 8, 24))
		},
		"views of other strides": func() error {
			return posenc.Rotate(rotary.At(positions), strided(memory, 1, 20, 0), strided(memory[8:], 1, 24, 0))
		},
		"tokens between heads":      func() error { return posenc.Rotate(rotary.At(positions), strided(memory, 2, 16, 56)) },
		"rows that cross elsewhere": func() error { return posenc.Rotate(rotary.At(positions), strided(memory, 3, 12, 41)) },
		"last positions":            func() error { return posenc.Rotate(edge.At([]int32{1023, -1023, 0}), V{Data: memory[:24], Heads: 1}) },
	} {
		t.Run(name, func(t *testing.T) {
			if err := call(); err != nil {
				t.Error(err)
			}
		})
	}
}
