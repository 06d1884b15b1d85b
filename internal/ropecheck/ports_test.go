package ropecheck_test

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/ropecheck"
)

// port rotates heads by the loops that a port has. Faults change it.
type port struct {
	layer
	kind       ropecheck.ElementType
	arithmetic arithmetic
	positions  [][]int32 // [axes][tokens], those that the check is told

	position func(axis, t, h int) float64
	pair     func(i int) (in, out [2]int)          // elements of pair i
	formula  func(c, s float64) [2][2]float64      // what makes y1, y2 of x1, x2
	lengths  func(p float64, i int) float64        // of xPos
	before   func(x []float64)                     // of one head, ahead of the rotation
	after    func(x []float64, t, h int)           // behind it
	whole    func(before, after []float32)         // of the whole dump
	table    func(p float64, i int) (c, s float64) // in place of those of the frequencies
	times    int
	truncate bool
	cache    *cache // that the heads are read from; nil: none
}

func rotation(c, s float64) [2][2]float64 { return [2][2]float64{{c, -s}, {s, c}} }

func newPort(l layer, kind ropecheck.ElementType, how arithmetic) *port {
	e := &port{layer: l, kind: kind, arithmetic: how, positions: l.positions(), formula: rotation, times: 1}
	e.invFreq = slices.Clone(l.invFreq)
	e.position = func(axis, t, _ int) float64 { return float64(e.positions[axis][t]) }
	e.pair = func(i int) (in, out [2]int) { return e.pairOf(e.layout, i) }
	e.lengths = e.decay
	return e
}

func (e *port) decay(p float64, i int) float64 {
	if e.xpos == nil {
		return 1
	}
	d := float64(e.dim)
	z := math.Pow((2*float64(i)+0.4*d)/(1.4*d), (p-float64(e.xpos.Center))/e.xpos.ScaleBase)
	if e.xpos.Keys {
		return 1 / z
	}
	return z
}

func (e *port) pairOf(layout posenc.Layout, i int) (in, out [2]int) {
	half, pairs := [2]int{e.offset + i, e.offset + i + e.dim/2}, [2]int{e.offset + 2*i, e.offset + 2*i + 1}
	switch layout {
	case posenc.Interleaved:
		return pairs, pairs
	case posenc.InterleavedToHalfSplit:
		return pairs, half
	case posenc.HalfSplitToInterleaved:
		return half, pairs
	}
	return half, half
}

func (e *port) axis(i int) int {
	if e.axes == nil {
		return 0
	}
	return int(e.axes[i])
}

// data is the dump of random heads.
func (e *port) data(seed uint64) ropecheck.Data {
	tokens := len(e.positions[0])
	d := ropecheck.Data{Tokens: tokens, Heads: e.heads, HeadDim: e.headDim, Type: e.kind, Positions: slices.Concat(e.positions...)}
	r := rand.New(rand.NewPCG(seed, 7))
	sizes := make([]float64, e.headDim)
	for i := range sizes {
		sizes[i] = 1
		if e.uneven {
			sizes[i] = math.Exp(1.5 * r.NormFloat64())
		}
	}
	n := tokens * e.heads * e.headDim
	d.Before = make([]float32, n)
	for i := range d.Before {
		d.Before[i] = e.round(float32(sizes[i%e.headDim] * r.NormFloat64()))
	}
	d.After = e.rotate(d.Before)
	if e.cache != nil {
		e.cache.store(&d)
	}
	return d
}

// rotate is what the engine makes of heads.
func (e *port) rotate(before []float32) []float32 {
	after, tokens := make([]float32, len(before)), len(e.positions[0])
	a, x, y := &e.arithmetic, make([]float64, e.headDim), make([]float64, e.headDim)
	frequencies := a.ladder(e.invFreq)
	for t := range tokens {
		for h := range e.heads {
			row := (t*e.heads + h) * e.headDim
			for i := range x {
				x[i] = float64(before[row+i])
			}
			if e.before != nil {
				e.before(x)
			}
			for range e.times {
				copy(y, x)
				for i := range e.dim / 2 {
					p := e.position(e.axis(i), t, h)
					var c, s float64
					if e.table != nil {
						c, s = e.table(p, i)
					} else {
						angle := a.angle(p, i, frequencies, e)
						c, s = a.function(math.Cos(angle)), a.function(math.Sin(angle))
					}
					g := e.factor * e.lengths(p, i)
					c, s = a.table(c*g), a.table(s*g)
					m := e.formula(c, s)
					in, out := e.pair(i)
					y[out[0]] = a.sum(m[0][0], x[in[0]], m[0][1], x[in[1]])
					y[out[1]] = a.sum(m[1][1], x[in[1]], m[1][0], x[in[0]])
				}
				copy(x, y)
			}
			if e.after != nil {
				e.after(x, t, h)
			}
			for i := range x {
				after[row+i] = e.round(float32(x[i]))
			}
		}
	}
	if e.whole != nil {
		e.whole(before, after)
		for i, v := range after {
			after[i] = e.round(v)
		}
	}
	return after
}

// round rounds to the type of the elements, or cuts off what is beyond it.
func (e *port) round(x float32) float32 {
	switch {
	case e.kind == ropecheck.Float16:
		return f16(x)
	case e.kind == ropecheck.BFloat16 && e.truncate:
		return math.Float32frombits(math.Float32bits(x) &^ 0xffff)
	case e.kind == ropecheck.BFloat16:
		return bf16(x)
	}
	return x
}

// arithmetic is how a right engine rounds.
type arithmetic struct {
	name     string
	kinds    []ropecheck.ElementType // nil: all
	ladder   func(invFreq []float64) []float64
	angle    func(p float64, i int, frequencies []float64, e *port) float64
	function func(x float64) float64 // cosines and sines of another library
	table    func(x float64) float64
	sum      func(a, x, b, y float64) float64
	truncate bool
}

func r32(x float64) float64 { return float64(float32(x)) }

// powersIn32 are frequencies by float32 powers that are some units in the last place off.
func powersIn32(ulps float64) func(invFreq []float64) []float64 {
	return func(invFreq []float64) []float64 {
		list := make([]float64, len(invFreq))
		for i, w := range invFreq {
			off := math.Round(ulps * math.Sin(float64(7*i+3)))
			list[i] = r32(r32(w) * (1 + off*0x1p-23))
		}
		return list
	}
}

// arithmetics are how engines round; the first ones take turns with faults.
func arithmetics() []arithmetic {
	same := func(x float64) float64 { return x }
	products := func(p float64, i int, frequencies []float64, _ *port) float64 { return r32(p * frequencies[i]) }
	exact := func(p float64, i int, frequencies []float64, _ *port) float64 { return p * frequencies[i] }
	separate := func(a, x, b, y float64) float64 { return r32(r32(a*x) + r32(b*y)) }
	fused := func(a, x, b, y float64) float64 { return r32(math.FMA(a, x, r32(b*y))) }
	once := func(a, x, b, y float64) float64 { return a*x + b*y }
	in16 := func(round func(float32) float32) func(a, x, b, y float64) float64 {
		r := func(x float64) float64 { return float64(round(float32(x))) }
		return func(a, x, b, y float64) float64 { return r(r(a*x) + r(b*y)) }
	}
	to := func(round func(float32) float32) func(x float64) float64 {
		return func(x float64) float64 { return float64(round(float32(x))) }
	}
	rounded := func(invFreq []float64) []float64 { return powersIn32(0)(invFreq) }
	running := func(p float64, i int, frequencies []float64, e *port) float64 {
		ratio, angle := r32(math.Pow(e.base, -2/float64(e.dim))), p
		for range i {
			angle = r32(angle * ratio)
		}
		plain := math.Pow(e.base, -2*float64(i)/float64(e.dim))
		if math.Abs(frequencies[i]-plain) <= 1e-6*plain {
			return angle
		}
		if frequencies[i] == 0 {
			return 0
		}
		return r32(angle / r32(plain/frequencies[i]))
	}
	return []arithmetic{
		{name: "float32", ladder: rounded, angle: products, function: same, table: r32, sum: separate},
		{name: "exact angles", ladder: same2, angle: exact, function: same, table: r32, sum: separate},
		{name: "powers within 1 ulp, fused", ladder: powersIn32(1), angle: products, function: same, table: r32, sum: fused},
		{name: "running products", ladder: same2, angle: running, function: same, table: r32, sum: fused},
		{name: "powers within 4 ulp", ladder: powersIn32(4), angle: products, function: same, table: r32, sum: separate},
		{name: "powers within 16 ulp", ladder: powersIn32(16), angle: products, function: same, table: r32, sum: separate},
		{name: "a fast power", ladder: powersIn32(17), angle: products, function: same, table: r32, sum: fused},
		{name: "float64, rounded once", ladder: same2, angle: exact, function: same, table: same, sum: once},
		{name: "fast cosines", ladder: rounded, angle: products, function: func(x float64) float64 { return x + 3e-7*math.Sin(1e4*x) }, table: r32, sum: fused},
		{name: "truncated", kinds: []ropecheck.ElementType{ropecheck.BFloat16}, ladder: rounded, angle: products, function: same, table: r32, sum: separate, truncate: true},
		{name: "all in bfloat16", kinds: []ropecheck.ElementType{ropecheck.BFloat16}, ladder: rounded, angle: products, function: same, table: to(bf16), sum: in16(bf16)},
		{name: "all in float16", kinds: []ropecheck.ElementType{ropecheck.Float16}, ladder: rounded, angle: products, function: same, table: to(f16), sum: in16(f16)},
	}
}

func same2(x []float64) []float64 { return x }
