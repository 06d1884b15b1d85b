package kernels_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

func TestGuardRotate(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(51)
		g := testkit.NewGuards(t, r, 4*2*3*150, "y", "x", "cos", "sin")
		for _, o := range rotations {
			for pairs := range 71 {
				for _, atEnd := range []bool{false, true} {
					for _, shape := range [][2]int{{1, 1}, {2, 3}} {
						rows := kernels.Rows{Pairs: pairs, Partner: pairs, Tokens: shape[0], Heads: shape[1], XTokenStride: 2 * pairs * shape[1], XHeadStride: 2 * pairs, TableStride: pairs}
						rows.YTokenStride, rows.YHeadStride = rows.XTokenStride, rows.XHeadStride
						for _, inPlace := range []bool{false, true} {
							if testing.Short() && r.IntN(4) != 0 {
								continue
							}
							o.guard(g, impl, rows, inPlace, atEnd)
						}
					}
				}
			}
		}
	})
}

// guardHalves rotates a row whose halves lie next to a guard of their own.
func (o rotation[Y, X]) guardHalves(t *testing.T, r *rand.Rand, impl kernels.Implementation, pairs int, arenas [][]byte) {
	t.Helper()
	check := func(y []Y, x []X, partner int) {
		cos, sin := make([]float32, pairs), make([]float32, pairs)
		testkit.FillRandom(r, cos)
		testkit.FillRandom(r, sin)
		for _, at := range []int{0, partner} {
			o.x.Fill(r, x[at:at+pairs])
		}
		want := make([]Y, 2*pairs)
		o.define(want[:pairs], want[pairs:], x[:pairs], x[partner:], cos, sin)
		rows := kernels.Rows{Pairs: pairs, Partner: partner, Tokens: 1, Heads: 1, TableStride: pairs}
		if reason, _ := testkit.Fault(func() { o.kernel(impl, y, x, cos, sin, &rows) }); reason != nil {
			t.Fatalf("%d pairs: %v", pairs, reason)
		}
		for i, got := range append(slices.Clone(y[:pairs]), y[partner:]...) {
			if !o.y.Same(got, want[i]) {
				t.Fatalf("%d pairs: element %d is %v, want %v", pairs, i, o.y.Widen(got), o.y.Widen(want[i]))
			}
		}
	}
	y, partner := guardedHalves[Y](arenas, pairs)
	check(y, make([]X, partner+pairs), partner)
	x, partner := guardedHalves[X](arenas, pairs)
	check(make([]Y, partner+pairs), x, partner)
	if o.inPlace() {
		check(o.asY(x), x, partner)
	}
}

// guardedHalves returns a row with a guard between its halves, and their
// distance.
func guardedHalves[T testkit.Number](arenas [][]byte, pairs int) (row []T, partner int) {
	first, second := testkit.Flush[T](arenas[0], pairs, true), testkit.Flush[T](arenas[1], pairs, false)
	partner = int(uintptr(unsafe.Pointer(&second[0]))-uintptr(unsafe.Pointer(&first[0]))) / int(unsafe.Sizeof(first[0]))
	return unsafe.Slice(&first[0], partner+pairs), partner
}

func TestGuardCosSinExact(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		g := testkit.NewGuards(t, testkit.NewRand(52), 4*9*kernels.Width, "cos", "sin")
		for n := range kernels.Width + 1 {
			for _, atEnd := range []bool{false, true} {
				for _, rows := range []int{1, 6, 9} {
					for _, pastCaches := range []bool{false, true} {
						g.GuardExact(impl, n, rows, n%2 == 0, pastCaches, atEnd)
					}
				}
			}
		}
	})
}

func TestGuardCosSinFloat32(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		g := testkit.NewGuards(t, testkit.NewRand(53), 4*80, "cos", "sin", "angles")
		for n := range 71 {
			for _, atEnd := range []bool{false, true} {
				for _, small := range []bool{false, true} {
					g.GuardAngles(impl, n, small, atEnd)
				}
			}
		}
	})
}

// The public functions with every slice next to a guard, positions and
// frequencies too.
func TestGuardPublic(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(54)
		const heads = 2
		g := testkit.NewGuards(t, r, 4*9*heads*300, "x", "cos", "sin", "positions", "invFreq")
		for _, pairs := range testkit.Lengths {
			for _, tokens := range []int{1, 2, 9} {
				for _, atEnd := range []bool{false, true} {
					positions := testkit.Flush[int32](g.Arenas["positions"], tokens, atEnd)
					invFreq := testkit.Flush[float64](g.Arenas["invFreq"], pairs, atEnd)
					testkit.PositionKinds["runs"](r, positions)
					for i := range invFreq {
						invFreq[i] = math.Pow(10000, -float64(i)/float64(pairs))
					}
					cfg := posenc.RotaryConfig{HeadDim: 2 * pairs, InvFreq: invFreq, Layout: posenc.Layout(r.IntN(2)), Angles: posenc.AngleRounding(r.IntN(2))}
					rotary := testkit.MustRotary(t, cfg)
					name := fmt.Sprintf("%d tokens, %d pairs, at the end: %t", tokens, pairs, atEnd)
					var err error
					fill := func(what string, call func(cos, sin []float32) error, want func(cos, sin []float32)) {
						cos, sin := g.Floats("cos", tokens*pairs, atEnd), g.Floats("sin", tokens*pairs, atEnd)
						g.Check(what+", "+name,
							func() { err = errors.Join(err, call(cos, sin)) },
							func(copies map[string][]float32) { want(copies["cos"], copies["sin"]) },
							map[string][]float32{"cos": cos, "sin": sin})
					}
					tables := func(cfg posenc.RotaryConfig) func(cos, sin []float32) {
						return func(cos, sin []float32) {
							c, s := testkit.TablesOf(t, cfg, positions, 1)
							copy(cos, c)
							copy(sin, s)
						}
					}
					exact := cfg
					exact.Angles = posenc.ExactAngles
					fill("Rotary.CosSin", func(cos, sin []float32) error { return rotary.CosSin(cos, sin, positions) }, tables(cfg))
					fill("CosSin", func(cos, sin []float32) error { return posenc.CosSin(cos, sin, positions, invFreq) }, tables(exact))
					angles := g.Floats("x", tokens*pairs, atEnd)
					fill("CosSinAngles", func(cos, sin []float32) error { return posenc.CosSinAngles(cos, sin, angles) }, func(cos, sin []float32) {
						generic.CosSinFloat32(cos, sin, angles, 1, 1, 1)
					})
					x := g.Floats("x", tokens*heads*2*pairs, atEnd)
					p := place1(heads)
					g.Check("Rotate, "+name,
						func() {
							err = errors.Join(err, posenc.Rotate(rotary.At(positions), posenc.View[float32]{Data: x, Heads: heads}))
						},
						func(copies map[string][]float32) {
							cos, sin := testkit.TablesOf(t, cfg, positions, 1)
							p.RotateViews(cfg, copies["x"], cos, sin, tokens)
						}, map[string][]float32{"x": x})
					if err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	})
}

// place1 is one packed view.
func place1(heads int) testkit.Placed {
	return testkit.Placed{Kind: "packed", Views: []posenc.View[float32]{{Heads: heads}}, Starts: []int{0}}
}
