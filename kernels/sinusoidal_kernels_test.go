package kernels_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// sinusoidalPairs are numbers of pairs of one block and of several.
var sinusoidalPairs = append([]int{65, 79, 127, 128, 129, 200, kernels.MaxBlocks * kernels.Width}, testkit.BlockLengths...)

// sinusoidalRowsOf is rows for a kernel and what it has to make of them.
type sinusoidalRowsOf struct {
	kernels.Sinusoids
	positions []int32
	invFreq   []float64
	blocks    []kernels.Block
	shifts    []kernels.Shift
}

func newSinusoidalRows(r *rand.Rand, impl kernels.Implementation, positions []int32, pairs int) *sinusoidalRowsOf {
	o := &sinusoidalRowsOf{positions: positions, invFreq: testkit.RandomFrequencies(r, pairs, positions, r.IntN(2) == 0)}
	if r.IntN(8) == 0 {
		o.invFreq[r.IntN(pairs)] = testkit.LargeFrequency(r, positions[0])
	}
	o.Stride = 2*pairs + r.IntN(2)*r.IntN(70)
	o.Interleaved = r.IntN(2) == 0
	o.Add = !o.Interleaved || r.IntN(2) == 0
	o.Scaling, _ = testkit.RandomScales(r)
	o.Scale = randomScale(r)
	for first := 0; first < pairs; first += kernels.Width {
		o.blocks = append(o.blocks, kernels.Block{})
		o.blocks[len(o.blocks)-1].Set(o.invFreq[first:min(first+kernels.Width, pairs)])
	}
	o.shifts = make([]kernels.Shift, len(o.blocks))
	for i := range o.shifts {
		o.shifts[i].Set(impl, &o.blocks[i])
	}
	return o
}

func (o *sinusoidalRowsOf) size() int { return (len(o.positions)-1)*o.Stride + 2*len(o.invFreq) }

// randomScale is 1, that of a model of 512 channels, or anything.
func randomScale(r *rand.Rand) float32 {
	scale := []float32{1, 22.627417, 0}
	testkit.FillRandom(r, scale[2:])
	return testkit.OneOf(r, scale)
}

// run does it by kernels, the sines before the cosines.
func (o *sinusoidalRowsOf) run(impl kernels.Implementation, x []float32) {
	o.Sin, o.Cos = x, x[len(o.invFreq):]
	kernels.SinusoidalRows(impl, &o.Sinusoids, o.positions, o.blocks, o.shifts)
}

// define does it by the definitions.
func (o *sinusoidalRowsOf) define(x []float32) {
	n := len(o.invFreq)
	cos, sin, row := make([]float32, n), make([]float32, n), make([]float32, 2*n)
	for t, p := range o.positions {
		generic.CosSinExact(cos, sin, p, o.invFreq, o.Scaling, o.Scaling)
		for i := range n {
			if o.Interleaved {
				row[2*i], row[2*i+1] = sin[i], cos[i]
			} else {
				row[i], row[n+i] = sin[i], cos[i]
			}
		}
		to := x[t*o.Stride:][:2*n]
		if o.Add {
			generic.AddScaledF32(to, row, o.Scale)
		} else {
			copy(to, row)
		}
	}
}

func (o *sinusoidalRowsOf) String() string {
	return fmt.Sprintf("positions %d, stride %d, interleaved %t, add %t, scales %v and %v, frequencies %x: ", o.positions, o.Stride, o.Interleaved, o.Add, o.Scaling, o.Scale, o.invFreq)
}

func TestSinusoidalKernels(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, kind := range testkit.PositionNames {
			t.Run("positions="+kind, func(t *testing.T) {
				r := testkit.NewRand(150)
				for range testkit.Rounds(10) {
					for _, pairs := range sinusoidalPairs {
						o := newSinusoidalRows(r, impl, testkit.RandomPositions(r, kind, testkit.OneOf(r, append(testkit.TokenCounts, 4, 5, 31, 32, 40))), pairs)
						x := testkit.NewPadded(r, o.size(), r.IntN(16))
						want := x.Clone()
						o.define(want.Slice())
						o.run(impl, x.Slice())
						x.Check(t, o.String()+"x", want, func(i int) bool { return i%o.Stride < 2*pairs })
					}
				}
			})
		}
	})
}

// guard does it next to guards.
func (o *sinusoidalRowsOf) guard(g *testkit.Guards, impl kernels.Implementation, atEnd bool) {
	g.T.Helper()
	x := g.Floats("x", o.size(), atEnd)
	g.Check(fmt.Sprintf("%vgaps %v, at the end: %t", o, g.Gaps, atEnd), func() { o.run(impl, x) },
		func(copies map[string][]float32) { o.define(copies["x"]) }, map[string][]float32{"x": x})
}

func TestGuardSinusoidalKernels(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(151)
		g := testkit.NewGuards(t, r, 4*5*2*(130+35), "x")
		for pairs := 1; pairs <= 130; pairs++ {
			for _, atEnd := range []bool{false, true} {
				newSinusoidalRows(r, impl, testkit.RandomPositions(r, "sequential", 5), pairs).guard(g, impl, atEnd)
			}
		}
	})
}
