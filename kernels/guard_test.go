package posenc

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/kernels"
)

// flush returns n elements at the start or at the end of an arena, next to its
// guard.
func flush[T any](arena []byte, n int, atEnd bool) []T {
	var zero T
	start := 0
	if atEnd && (n > 0 || guardPages) {
		start = len(arena) - n*int(unsafe.Sizeof(zero))
	}
	return unsafe.Slice((*T)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(arena)), start)), n)
}

// guards is an arena for each slice of a call.
type guards struct {
	t      *testing.T
	r      *rand.Rand
	arenas map[string][]byte
	before map[string][]byte // what is in the arenas before a call
	gaps   map[string]int    // elements between a slice and its guard
}

func newGuards(t *testing.T, r *rand.Rand, bytes int, names ...string) *guards {
	g := &guards{t, r, map[string][]byte{}, map[string][]byte{}, map[string]int{}}
	for _, name := range names {
		g.arenas[name] = newArena(t, bytes)
		for i := range g.arenas[name] {
			g.arenas[name][i] = byte(r.Uint32())
		}
		g.before[name] = make([]byte, len(g.arenas[name]))
	}
	return g
}

// floats returns n elements of an arena, random ones, next to its guard.
func (g *guards) floats(name string, n int, atEnd bool) []float32 {
	return guarded(g, &float32Numbers, name, n, atEnd)
}

func guarded[T number](g *guards, of *numbers[T], name string, n int, atEnd bool) []T {
	gap := g.gaps[name]
	s := flush[T](g.arenas[name], n+gap, atEnd)
	if atEnd {
		s = s[:n]
	} else {
		s = s[gap:]
	}
	of.fill(g.r, s)
	return s
}

// check makes a call that may write to the named slices alone, and compares
// them with what want makes of copies.
func (g *guards) check(name string, call func(), want func(copies map[string][]float32), outputs map[string][]float32) {
	g.t.Helper()
	checkGuarded(g, &float32Numbers, name, call, want, outputs)
}

func checkGuarded[T number](g *guards, of *numbers[T], name string, call func(), want func(copies map[string][]T), outputs map[string][]T) {
	g.t.Helper()
	copies := map[string][]T{}
	for key, arena := range g.arenas {
		copy(g.before[key], arena)
	}
	for key, s := range outputs {
		copies[key] = slices.Clone(s)
	}
	want(copies)
	if reason, functions := fault(call); reason != nil {
		g.t.Fatalf("%s: %v in %s", name, reason, functions)
	}
	for key, s := range outputs {
		for i := range s {
			if !of.same(s[i], copies[key][i]) {
				g.t.Fatalf("%s: %s[%d] is %v, want %v", name, key, i, s[i], copies[key][i])
			}
		}
		// Back to what it was, so that the arena as a whole has to be.
		arena := g.arenas[key]
		if len(s) > 0 {
			start := int(uintptr(unsafe.Pointer(&s[0])) - uintptr(unsafe.Pointer(&arena[0])))
			copy(arena[start:start+int(unsafe.Sizeof(s[0]))*len(s)], g.before[key][start:])
		}
	}
	for key, arena := range g.arenas {
		if !bytes.Equal(arena, g.before[key]) {
			g.t.Fatalf("%s: memory beyond %s was written", name, key)
		}
	}
}

func TestGuardRotate(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := newRand(51)
		g := newGuards(t, r, 4*2*3*150, "y", "x", "cos", "sin")
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
		fillRandom(r, cos)
		fillRandom(r, sin)
		for _, at := range []int{0, partner} {
			o.x.fill(r, x[at:at+pairs])
		}
		want := make([]Y, 2*pairs)
		o.define(want[:pairs], want[pairs:], x[:pairs], x[partner:], cos, sin)
		rows := kernels.Rows{Pairs: pairs, Partner: partner, Tokens: 1, Heads: 1, TableStride: pairs}
		if reason, _ := fault(func() { o.kernel(impl, y, x, cos, sin, &rows) }); reason != nil {
			t.Fatalf("%d pairs: %v", pairs, reason)
		}
		for i, got := range append(slices.Clone(y[:pairs]), y[partner:]...) {
			if !o.y.same(got, want[i]) {
				t.Fatalf("%d pairs: element %d is %v, want %v", pairs, i, o.y.widen(got), o.y.widen(want[i]))
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
func guardedHalves[T number](arenas [][]byte, pairs int) (row []T, partner int) {
	first, second := flush[T](arenas[0], pairs, true), flush[T](arenas[1], pairs, false)
	partner = int(uintptr(unsafe.Pointer(&second[0]))-uintptr(unsafe.Pointer(&first[0]))) / int(unsafe.Sizeof(first[0]))
	return unsafe.Slice(&first[0], partner+pairs), partner
}

// guardExact computes rows of n frequencies next to guards.
func (g *guards) guardExact(impl kernels.Implementation, n, rows int, hard, pastCaches, atEnd bool) {
	g.t.Helper()
	positions := []int32{26, 27, 28, 29, 30, 31, 32, 33, 7}[:rows] // runs of 6, of 2 and of 1
	invFreq := randomFrequencies(g.r, n, positions, hard)
	var block kernels.Block
	var shift kernels.Shift
	block.Set(invFreq)
	shift.Set(impl, &block)
	cos, sin := g.floats("cos", rows*n, atEnd), g.floats("sin", rows*n, atEnd)
	g.check(fmt.Sprintf("%d rows of %d, gaps %v, at the end: %t", rows, n, g.gaps, atEnd),
		func() {
			if rows == 1 {
				kernels.CosSinExactRow(impl, cos, sin, float64(positions[0]), &block, 1, -1)
			} else {
				kernels.CosSinExactRows(impl, cos, sin, n, positions, &block, &shift, 1, -1, pastCaches)
			}
		},
		func(copies map[string][]float32) {
			for i, p := range positions {
				generic.CosSinExact(copies["cos"][i*n:], copies["sin"][i*n:], p, invFreq, 1, -1)
			}
		}, map[string][]float32{"cos": cos, "sin": sin})
}

func TestGuardCosSinExact(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		g := newGuards(t, newRand(52), 4*9*kernels.Width, "cos", "sin")
		for n := range kernels.Width + 1 {
			for _, atEnd := range []bool{false, true} {
				for _, rows := range []int{1, 6, 9} {
					for _, pastCaches := range []bool{false, true} {
						g.guardExact(impl, n, rows, n%2 == 0, pastCaches, atEnd)
					}
				}
			}
		}
	})
}

// guardAngles takes the cosines and sines of n angles next to guards, with small
// of such as the fast path is for.
func (g *guards) guardAngles(impl kernels.Implementation, n int, small, atEnd bool) {
	g.t.Helper()
	angles := g.floats("angles", n, atEnd)
	for i := range angles {
		if small {
			angles[i] = 100 * g.r.Float32()
		}
	}
	cos, sin := g.floats("cos", n, atEnd), g.floats("sin", n, atEnd)
	g.check(fmt.Sprintf("%d angles, gaps %v, at the end: %t", n, g.gaps, atEnd),
		func() { kernels.CosSinFloat32(impl, cos, sin, angles, 3, 1, -1) },
		func(copies map[string][]float32) {
			generic.CosSinFloat32(copies["cos"], copies["sin"], angles, 3, 1, -1)
		}, map[string][]float32{"cos": cos, "sin": sin})
}

func TestGuardCosSinFloat32(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		g := newGuards(t, newRand(53), 4*80, "cos", "sin", "angles")
		for n := range 71 {
			for _, atEnd := range []bool{false, true} {
				for _, small := range []bool{false, true} {
					g.guardAngles(impl, n, small, atEnd)
				}
			}
		}
	})
}

// The public functions with every slice next to a guard, positions and
// frequencies too.
func TestGuardPublic(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := newRand(54)
		const heads = 2
		g := newGuards(t, r, 4*9*heads*300, "x", "cos", "sin", "positions", "invFreq")
		for _, pairs := range lengths {
			for _, tokens := range []int{1, 2, 9} {
				for _, atEnd := range []bool{false, true} {
					positions := flush[int32](g.arenas["positions"], tokens, atEnd)
					invFreq := flush[float64](g.arenas["invFreq"], pairs, atEnd)
					positionKinds["runs"](r, positions)
					for i := range invFreq {
						invFreq[i] = math.Pow(10000, -float64(i)/float64(pairs))
					}
					cfg := RotaryConfig{HeadDim: 2 * pairs, InvFreq: invFreq, Layout: Layout(r.IntN(2)), Angles: Angles(r.IntN(2))}
					rotary := mustRotary(t, cfg)
					name := fmt.Sprintf("%d tokens, %d pairs, at the end: %t", tokens, pairs, atEnd)
					var err error
					fill := func(what string, call func(cos, sin []float32) error, want func(cos, sin []float32)) {
						cos, sin := g.floats("cos", tokens*pairs, atEnd), g.floats("sin", tokens*pairs, atEnd)
						g.check(what+", "+name,
							func() { err = errors.Join(err, call(cos, sin)) },
							func(copies map[string][]float32) { want(copies["cos"], copies["sin"]) },
							map[string][]float32{"cos": cos, "sin": sin})
					}
					tables := func(cfg RotaryConfig) func(cos, sin []float32) {
						return func(cos, sin []float32) {
							c, s := tablesOf(t, cfg, positions, 1)
							copy(cos, c)
							copy(sin, s)
						}
					}
					exact := cfg
					exact.Angles = Exact
					fill("Rotary.CosSin", func(cos, sin []float32) error { return rotary.CosSin(cos, sin, positions) }, tables(cfg))
					fill("CosSin", func(cos, sin []float32) error { return CosSin(cos, sin, positions, invFreq) }, tables(exact))
					angles := g.floats("x", tokens*pairs, atEnd)
					fill("CosSinAngles", func(cos, sin []float32) error { return CosSinAngles(cos, sin, angles) }, func(cos, sin []float32) {
						generic.CosSinFloat32(cos, sin, angles, 1, 1, 1)
					})
					x := g.floats("x", tokens*heads*2*pairs, atEnd)
					p := place1(heads)
					g.check("Rotate, "+name,
						func() { err = errors.Join(err, Rotate(rotary, positions, View[float32]{Data: x, Heads: heads})) },
						func(copies map[string][]float32) {
							cos, sin := tablesOf(t, cfg, positions, 1)
							p.rotateViews(cfg, copies["x"], cos, sin, tokens)
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
func place1(heads int) placed {
	return placed{kind: "packed", views: []View[float32]{{Heads: heads}}, starts: []int{0}}
}
