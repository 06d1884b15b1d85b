package posenc_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

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
					p := testkit.Placed{Views: []posenc.View[float32]{{Heads: heads}}, Starts: []int{0}}
					g.Check("Rotate, "+name,
						func() {
							err = errors.Join(err, posenc.Rotate(rotary.At(positions), posenc.View[float32]{Data: x, Heads: heads}))
						},
						func(copies map[string][]float32) {
							plainOf(cfg).with(plainTables(t, cfg, positions)).rotatePlaced(p, copies["x"], tokens)
						}, map[string][]float32{"x": x})
					if err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	})
}
