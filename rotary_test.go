package posenc

import (
	"errors"
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/kernels"
)

// frequenciesOf returns the frequencies that a configuration means.
func frequenciesOf(t testing.TB, cfg RotaryConfig) []float64 {
	t.Helper()
	if cfg.InvFreq != nil {
		return cfg.InvFreq
	}
	dim, base := cfg.RotaryDim, cfg.Base
	if dim == 0 {
		dim = cfg.HeadDim
	}
	if base == 0 {
		base = 10000
	}
	ladder, err := frequency.Default(dim, base, frequency.Rounding(cfg.Angles))
	if err != nil {
		t.Fatal(err)
	}
	return ladder.InvFreq
}

// tablesOf returns generic's rows for the positions.
func tablesOf(t testing.TB, cfg RotaryConfig, positions []int32, direction float32) (cos, sin []float32) {
	t.Helper()
	invFreq := frequenciesOf(t, cfg)
	n := len(invFreq)
	scaling := float32(cfg.Scaling)
	if scaling == 0 {
		scaling = 1
	}
	invFreq32 := make([]float32, n)
	for i, w := range invFreq {
		invFreq32[i] = float32(w)
	}
	cos, sin = make([]float32, len(positions)*n), make([]float32, len(positions)*n)
	for i, p := range positions {
		if cfg.Angles == Float32 {
			generic.CosSinFloat32(cos[i*n:], sin[i*n:], invFreq32, float32(p), scaling, scaling*direction)
		} else {
			generic.CosSinExact(cos[i*n:], sin[i*n:], p, invFreq, scaling, scaling*direction)
		}
	}
	return cos, sin
}

// placed is views of one piece of memory, and where each starts.
type placed struct {
	kind   string
	views  []View[float32]
	starts []int
	size   int // elements of memory
}

var placeKinds = []string{"packed", "strided", "qkv", "perhead", "headmajor", "gaps"}

// place lays out views with the given numbers of heads.
func place(r *rand.Rand, kind string, tokens int, heads []int, dim int) placed {
	p := placed{kind: kind, views: make([]View[float32], len(heads)), starts: make([]int, len(heads))}
	all := 0
	for _, h := range heads {
		all += h
	}
	for i, h := range heads {
		v := &p.views[i]
		v.Heads = h
		p.starts[i] = p.size
		switch kind {
		case "packed": // [tokens][heads][dim], one view after the other
			p.size += tokens * h * dim
			continue
		case "strided": // the same, said by strides
			v.TokenStride, v.HeadStride = h*dim, dim
			p.size += tokens * h * dim
		case "qkv": // [tokens][Q heads | K heads | as many again][dim]
			v.TokenStride = 2 * all * dim
			p.starts[i] = (p.size / max(1, tokens))
			p.size += tokens * h * dim
		case "perhead": // [tokens][heads][q k v][dim]: GPT-NeoX
			v.Heads = heads[0]
			v.TokenStride, v.HeadStride = heads[0]*(len(heads)+1)*dim, (len(heads)+1)*dim
			p.starts[i] = i * dim
		case "headmajor": // [heads][tokens][dim]
			v.TokenStride, v.HeadStride = dim, tokens*dim
			p.size += tokens * h * dim
		case "gaps":
			gap := r.IntN(9)
			v.HeadStride = dim + gap
			v.TokenStride = h*v.HeadStride + r.IntN(9)
			p.size += tokens*v.TokenStride + r.IntN(5)
		}
	}
	switch kind {
	case "qkv":
		p.size = 2 * tokens * all * dim
	case "perhead":
		p.size = tokens * heads[0] * (len(heads) + 1) * dim
	}
	return p
}

// in returns the views of memory.
func (p placed) in(memory []float32, tokens, dim int) []View[float32] {
	views := slices.Clone(p.views)
	for i := range views {
		v := &views[i]
		stop := len(memory)
		if v.TokenStride == 0 && v.HeadStride == 0 {
			stop = p.starts[i] + tokens*v.Heads*dim
		}
		v.Data = memory[p.starts[i]:stop]
	}
	return views
}

// rotateViews rotates the views by generic, pair by pair, and returns what it
// touches.
func (p placed) rotateViews(cfg RotaryConfig, memory, cos, sin []float32, tokens int) []bool {
	touched := make([]bool, len(memory))
	rotaryDim := cfg.RotaryDim
	if rotaryDim == 0 {
		rotaryDim = cfg.HeadDim
	}
	pairs := rotaryDim / 2
	for i := range p.views {
		v := &p.views[i]
		rows := kernels.Rows{Pairs: pairs, Partner: pairs, Tokens: tokens, XTokenStride: v.TokenStride, Heads: v.Heads, XHeadStride: v.HeadStride, TableStride: pairs}
		if rows.XTokenStride == 0 {
			rows.XTokenStride = v.Heads * cfg.HeadDim
		}
		if rows.XHeadStride == 0 {
			rows.XHeadStride = cfg.HeadDim
		}
		rows.YTokenStride, rows.YHeadStride = rows.XTokenStride, rows.XHeadStride
		at := p.starts[i] + cfg.Offset
		rotateEachPair(cfg.Layout, memory[at:], cos, sin, &rows, touched[at:])
	}
	return touched
}

// checkRotate compares Rotate or RotateInverse with generic.
func checkRotate(t *testing.T, r *rand.Rand, cfg RotaryConfig, positions []int32, p placed) {
	t.Helper()
	rotary := mustRotary(t, cfg)
	rotate, direction, name := Rotate[float32], float32(1), "Rotate"
	if r.IntN(3) == 0 {
		rotate, direction, name = RotateInverse[float32], -1, "RotateInverse"
	}
	x := newPadded(r, p.size, r.IntN(16))
	want := x.clone()
	cos, sin := tablesOf(t, cfg, positions, direction)
	touched := p.rotateViews(cfg, want.slice(), cos, sin, len(positions))
	given := slices.Clone(positions)
	if err := rotate(rotary, positions, p.in(x.slice(), len(positions), cfg.HeadDim)...); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(positions, given) {
		t.Fatalf("%s changed the positions", name)
	}
	cfg.InvFreq = cfg.InvFreq[:min(4, len(cfg.InvFreq))] // enough to read
	x.check(t, fmt.Sprintf("%s, %+v, %s, %d tokens: x", name, cfg, p.kind, len(positions)), want, func(i int) bool { return touched[i] })
}

// randomConfig returns one that rotates the given number of pairs.
func randomConfig(r *rand.Rand, layout Layout, angles Angles, pairs int, positions []int32) RotaryConfig {
	cfg := RotaryConfig{RotaryDim: 2 * pairs, HeadDim: 2 * pairs, Layout: layout, Angles: angles}
	if r.IntN(2) == 0 {
		cfg.Offset = r.IntN(20)
		cfg.HeadDim += cfg.Offset + r.IntN(20)
	} else if r.IntN(2) == 0 {
		cfg.RotaryDim = 0 // the same
	}
	if r.IntN(3) == 0 {
		cfg.Scaling = oneOf(r, []float64{1.2079441541679836, 0.1, 3e38, 1e-30})
	}
	switch r.IntN(4) {
	case 0:
		cfg.Base = oneOf(r, []float64{500000, 2, 1e6, 1.0625})
	case 1:
		cfg.InvFreq = randomFrequencies(r, pairs, positions, r.IntN(2) == 0)
	}
	return cfg
}

func TestRotate(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, layout := range layouts {
			for _, angles := range []Angles{Exact, Float32} {
				t.Run(fmt.Sprintf("layout=%s/angles=%d", layoutName(layout), angles), func(t *testing.T) {
					r := newRand(20)
					for range rounds(10) {
						for _, pairs := range lengths {
							tokens, heads := oneOf(r, tokenCounts), oneOf(r, headCounts)
							if r.IntN(3) == 0 {
								tokens = 1 // a path of its own
							}
							positions := randomPositions(r, oneOf(r, positionNames), tokens)
							cfg := randomConfig(r, layout, angles, pairs, positions)
							p := place(r, oneOf(r, placeKinds), tokens, []int{heads, oneOf(r, headCounts), 1}[:1+r.IntN(3)], cfg.HeadDim)
							checkRotate(t, r, cfg, positions, p)
						}
					}
				})
			}
		}
	})
}

// Rows that do not fit the scratch memory go in columns, many heads in several
// calls, many tokens in several chunks.
func TestRotateLarge(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, tt := range []struct{ pairs, tokens, heads int }{
			{65, 40, 2}, {130, 17, 1}, {511, 5, 1}, {512, 5, 1}, {513, 5, 2}, // a few rows to a chunk
			{1023, 3, 2}, {1024, 3, 2}, {1025, 3, 2}, {1088, 2, 1}, {2048, 2, 1}, {2113, 1, 2}, {2113, 3, 2}, {4100, 2, 1}, // columns
			{64, 1, 600}, {64, 9, 200}, {4, 8, 5000}, {33, 16, 150}, // heads
			{16, 1000, 1}, {1, 3000, 2}, {64, 300, 2}, // tokens
		} {
			for _, layout := range layouts {
				t.Run(fmt.Sprintf("pairs=%d/tokens=%d/heads=%d/layout=%s", tt.pairs, tt.tokens, tt.heads, layoutName(layout)), func(t *testing.T) {
					if testing.Short() && tt.pairs*tt.tokens*tt.heads > 20000 {
						t.Skip("short")
					}
					r := newRand(21)
					positions := randomPositions(r, "runs", tt.tokens)
					cfg := randomConfig(r, layout, Angles(r.IntN(2)), tt.pairs, positions)
					checkRotate(t, r, cfg, positions, place(r, oneOf(r, placeKinds), tt.tokens, []int{tt.heads, 2}, cfg.HeadDim))
				})
			}
		}
	})
}

// Views beyond the cache go several tokens at a time: the length of Data alone
// makes a view one of them.
func TestRotateLongData(t *testing.T) {
	whole := make([]float32, 8<<20)
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, memory := range [][]float32{whole[:512<<10], whole} { // past the second cache, past all
			testRotateLongData(t, memory)
		}
	})
}

func testRotateLongData(t *testing.T, memory []float32) {
	r := newRand(22)
	for _, layout := range layouts {
		for _, tokens := range []int{1, 7, 8, 9, 16, 17, 40} {
			positions := randomPositions(r, "sequential", tokens)
			cfg := RotaryConfig{HeadDim: 80, RotaryDim: 66, Offset: 3, Layout: layout}
			p := place(r, "qkv", tokens, []int{3, 2}, cfg.HeadDim)
			x := memory[:p.size+16]
			fillRandom(r, x)
			want := slices.Clone(x)
			cos, sin := tablesOf(t, cfg, positions, 1)
			touched := p.rotateViews(cfg, want, cos, sin, tokens)
			if err := Rotate(mustRotary(t, cfg), positions, p.in(memory, tokens, cfg.HeadDim)...); err != nil {
				t.Fatal(err)
			}
			for i := range x {
				if math.Float32bits(x[i]) != math.Float32bits(want[i]) && !(touched[i] && same(x[i], want[i])) {
					t.Fatalf("%d tokens: x[%d] is %v, want %v", tokens, i, x[i], want[i])
				}
			}
			clear(x)
		}
	}
	for i, v := range memory {
		if math.Float32bits(v) != 0 {
			t.Fatalf("x[%d] beyond the rows was written", i)
		}
	}
}

// The same of 16 bits: Data that is long gives the bits of Data that is not.
func TestRotateLongData16(t *testing.T) {
	memory := make([]Float16, 17<<20)
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := newRand(23)
		const heads, dim, tokenStride = 3, 40, 3*40 + 5
		for _, layout := range layouts {
			rotary := mustRotary(t, RotaryConfig{HeadDim: dim, RotaryDim: 34, Offset: 3, Layout: layout})
			for _, tokens := range []int{1, 7, 8, 9, 16, 17, 40} {
				short, numbers := make([]Float16, tokens*tokenStride), make([]float32, tokens*tokenStride)
				for i := range numbers {
					numbers[i] = r.Float32() - 0.5
				}
				kernels.ConvertF32ToF16(impl, unsafe.Slice((*uint16)(&short[0]), len(short)), numbers)
				long := memory[:copy(memory, short)]
				for _, data := range [][]Float16{short, memory} {
					if err := Rotate(rotary, sequence(tokens), View[Float16]{Data: data, Heads: heads, TokenStride: tokenStride}); err != nil {
						t.Fatal(err)
					}
				}
				if !slices.Equal(short, long) {
					t.Fatalf("%d tokens: %v in long Data, want %v", tokens, long, short)
				}
				clear(long)
			}
		}
	})
}

// Rotate is a plain loop over the tables of Rotary.CosSin, bit for bit.
func TestRotateIsLoopOverTables(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := newRand(23)
		const tokens, heads, dim = 37, 3, 48
		for _, layout := range layouts {
			for _, angles := range []Angles{Exact, Float32} {
				rotary := mustRotary(t, RotaryConfig{HeadDim: dim, Layout: layout, Angles: angles, Scaling: 1.1})
				positions := randomPositions(r, "runs", tokens)
				cos, sin := make([]float32, tokens*dim/2), make([]float32, tokens*dim/2)
				if err := rotary.CosSin(cos, sin, positions); err != nil {
					t.Fatal(err)
				}
				x := make([]float32, tokens*heads*dim)
				fillRandom(r, x)
				want := slices.Clone(x)
				for row := range tokens * heads {
					for i := range dim / 2 {
						a, b := pairAt(layout, row*dim, i, dim/2)
						c, s := cos[row/heads*dim/2+i], sin[row/heads*dim/2+i]
						x1, x2 := want[a], want[b]
						want[a] = float32(x1*c) - float32(x2*s)
						want[b] = float32(x2*c) + float32(x1*s)
					}
				}
				if err := Rotate(rotary, positions, View[float32]{Data: x, Heads: heads}); err != nil {
					t.Fatal(err)
				}
				for i := range x {
					if !same(x[i], want[i]) {
						t.Fatalf("x[%d] is %v, want %v", i, x[i], want[i])
					}
				}
			}
		}
	})
}

// pairsOf returns the pairs of a head as complex numbers.
func pairsOf(layout Layout, head []float32) []complex128 {
	z := make([]complex128, len(head)/2)
	for i := range z {
		a, b := pairAt(layout, 0, i, len(z))
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
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := newRand(25)
		const dim = 64
		for _, layout := range layouts {
			rotary := mustRotary(t, RotaryConfig{HeadDim: dim, Layout: layout})
			x := make([]float32, dim)
			for range rounds(300) {
				p := int32(r.IntN(1<<20) - 1<<19)
				for i := range x {
					x[i] = float32(r.NormFloat64())
				}
				before := pairsOf(layout, x)
				if err := Rotate(rotary, []int32{p}, View[float32]{Data: x, Heads: 1}); err != nil {
					t.Fatal(err)
				}
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
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := newRand(26)
		const dim = 64
		for _, layout := range layouts {
			rotary := mustRotary(t, RotaryConfig{HeadDim: dim, Layout: layout})
			q, k := make([]float32, dim), make([]float32, dim)
			for range rounds(300) {
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
					if err := Rotate(rotary, []int32{p}, View[float32]{Data: data, Heads: 1}); err != nil {
						t.Fatal(err)
					}
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
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := newRand(27)
		const tokens, dim = 40, 64
		for _, layout := range layouts {
			for _, angles := range []Angles{Exact, Float32} {
				rotary := mustRotary(t, RotaryConfig{HeadDim: dim, Layout: layout, Angles: angles})
				positions := randomPositions(r, "runs", tokens)
				x := make([]float32, tokens*dim)
				for i := range x {
					x[i] = float32(r.NormFloat64())
				}
				before := slices.Clone(x)
				v := View[float32]{Data: x, Heads: 1}
				if err := errors.Join(Rotate(rotary, positions, v), RotateInverse(rotary, positions, v)); err != nil {
					t.Fatal(err)
				}
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

// The layouts do the same to pairs in different places.
func TestLayoutsAgree(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := newRand(28)
		const tokens, heads = 20, 3
		for _, pairs := range lengths {
			positions := randomPositions(r, "random", tokens)
			half := make([]float32, tokens*heads*2*pairs)
			fillRandom(r, half)
			interleaved := make([]float32, len(half))
			permute := func(f func(inHalf, inInterleaved int)) {
				for row := 0; row < len(half); row += 2 * pairs {
					for i := range pairs {
						a, b := pairAt(HalfSplit, row, i, pairs)
						c, d := pairAt(Interleaved, row, i, pairs)
						f(a, c)
						f(b, d)
					}
				}
			}
			permute(func(a, b int) { interleaved[b] = half[a] })
			for layout, x := range [][]float32{HalfSplit: half, Interleaved: interleaved} {
				rotary := mustRotary(t, RotaryConfig{HeadDim: 2 * pairs, Layout: Layout(layout)})
				if err := Rotate(rotary, positions, View[float32]{Data: x, Heads: heads}); err != nil {
					t.Fatal(err)
				}
			}
			permute(func(a, b int) {
				if !same(half[a], interleaved[b]) {
					t.Fatalf("%d pairs: element %d is %v, element %d is %v", pairs, a, half[a], b, interleaved[b])
				}
			})
		}
	})
}

// NewRotary keeps nothing of its argument.
func TestNewRotaryCopies(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, angles := range []Angles{Exact, Float32} {
			invFreq := []float64{1, 0.5, 0.25}
			rotary := mustRotary(t, RotaryConfig{HeadDim: 6, InvFreq: invFreq, Angles: angles})
			cos, sin, cos1, sin1 := make([]float32, 30), make([]float32, 30), make([]float32, 30), make([]float32, 30)
			positions := randomPositions(newRand(29), "random", 10)
			err1 := rotary.CosSin(cos, sin, positions)
			clear(invFreq)
			if err := errors.Join(err1, rotary.CosSin(cos1, sin1, positions)); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(cos, cos1) || !slices.Equal(sin, sin1) {
				t.Error("the Rotary changed with the slice that it was made from")
			}
		}
	})
}

// wrong is a call that has to fail.
type wrong struct {
	name string
	call func() error
	kind error
	says []string // parts of the message: function, argument, value
}

// checkWrong makes the calls. None of them may write to the memory.
func checkWrong(t *testing.T, calls []wrong, memory ...[]float32) {
	t.Helper()
	for _, tt := range calls {
		t.Run(tt.name, func(t *testing.T) {
			for i := range memory {
				fillRandom(newRand(30), memory[i])
			}
			before := make([][]float32, len(memory))
			for i := range memory {
				before[i] = slices.Clone(memory[i])
			}
			err := tt.call()
			if err == nil {
				t.Fatal("no error")
			}
			sentinels := 0
			for _, kind := range []error{ErrConfig, ErrLength, ErrShape, ErrOverlap, ErrPosition} {
				if errors.Is(err, kind) {
					sentinels++
				}
			}
			if !errors.Is(err, tt.kind) || sentinels != 1 {
				t.Errorf("%q wraps %d sentinels, want only %q", err, sentinels, tt.kind)
			}
			for _, part := range tt.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
			for i := range memory {
				for j := range memory[i] {
					if math.Float32bits(memory[i][j]) != math.Float32bits(before[i][j]) {
						t.Fatalf("element %d was written before the error %q", j, err)
					}
				}
			}
		})
	}
}

func TestRotateErrors(t *testing.T) {
	const dim, tokens = 8, 3
	memory := make([]float32, 512)
	rotary := mustRotary(t, RotaryConfig{HeadDim: dim})
	fast := mustRotary(t, RotaryConfig{HeadDim: dim, InvFreq: []float64{1, 0x1p20, -0x1p40, 3}})
	huge := mustRotary(t, RotaryConfig{HeadDim: math.MaxInt, RotaryDim: 2})
	positions := []int32{5, 6, 7}
	good := View[float32]{Data: memory[400:448], Heads: 2}
	packed := func(n, heads int) V { return V{Data: memory[:n], Heads: heads} }
	for function, rotate := range map[string]func(*Rotary, []int32, ...V) error{"Rotate": Rotate[float32], "RotateInverse": RotateInverse[float32]} {
		views := func(name string, kind error, says []string, xs ...V) wrong {
			return wrong{name, func() error { return rotate(rotary, positions, xs...) }, kind, append(says, "posenc."+function+": ")}
		}
		calls := []wrong{
			{"no rotary", func() error { return rotate(nil, positions, good) }, ErrConfig, []string{"r is nil"}},
			{"zero rotary", func() error { return rotate(new(Rotary), positions, good) }, ErrConfig, []string{"r is nil or zero"}},
			{"position", func() error { return rotate(fast, []int32{1023, 1024, -5}, good) }, ErrPosition, []string{"positions[1] is 1024", "1023"}},
			{"negative position", func() error { return rotate(fast, []int32{1, 2, -1024}, good) }, ErrPosition, []string{"positions[2] is -1024"}},
			{"least position", func() error { return rotate(fast, []int32{math.MinInt32, 0, 0}, good) }, ErrPosition, []string{"positions[0] is -2147483648"}},
			{"huge head", func() error { return rotate(huge, []int32{1}, good) }, ErrShape, []string{"xs[0].Heads is 2"}},
			{"huge head alone", func() error { return rotate(huge, []int32{1}, packed(24, 1)) }, ErrLength, []string{"xs[0].Data is 24 elements"}},
			{"data for no tokens", func() error { return rotate(rotary, nil, packed(1, 1)) }, ErrLength, []string{"xs[0].Data is 1 element,"}},
			{"no heads for no tokens", func() error { return rotate(rotary, nil, V{}) }, ErrShape, []string{"xs[0].Heads is 0"}},

			views("no heads", ErrShape, []string{"xs[0].Heads is 0"}, packed(48, 0)),
			views("negative heads", ErrShape, []string{"xs[0].Heads is -1"}, packed(48, -1)),
			views("least heads", ErrShape, []string{"xs[0].Heads is -"}, packed(48, math.MinInt)),
			views("huge heads", ErrShape, []string{fmt.Sprint("xs[0].Heads is ", math.MaxInt)}, packed(48, math.MaxInt)),
			views("huge heads, strided", ErrLength, []string{"xs[0].Data is 48 elements"}, strided(memory[:48], math.MaxInt, 8, 8)),
			views("heads that wrap to 0", ErrShape, []string{"xs[0].Heads"}, packed(0, math.MaxInt/8+1)),
			views("heads that wrap to 2", ErrShape, []string{"xs[0].Heads"}, packed(48, (math.MaxInt/8+1)*2/2+2)),
			views("negative token stride", ErrShape, []string{"xs[0].TokenStride is -1"}, strided(memory[:48], 2, -1, 0)),
			views("least token stride", ErrShape, []string{"xs[0].TokenStride is -"}, strided(memory[:48], 2, math.MinInt, 0)),
			views("negative head stride", ErrShape, []string{"xs[0].HeadStride is -8"}, strided(memory[:48], 2, 0, -8)),
			views("huge token stride", ErrLength, []string{"xs[0].Data is 48 elements"}, strided(memory[:48], 2, math.MaxInt, 0)),
			views("token stride that wraps", ErrLength, []string{"xs[0].Data is 48 elements"}, strided(memory[:48], 2, math.MaxInt/2+1, 0)), // 2*stride is 2^63
			views("token stride almost that", ErrLength, []string{"xs[0].Data"}, strided(memory[:48], 2, math.MaxInt/2-4, 0)),
			views("huge head stride", ErrLength, []string{"xs[0].Data is 48 elements"}, strided(memory[:48], 2, 0, math.MaxInt)),
			views("both strides huge", ErrLength, []string{"xs[0].Data is 48 elements"}, strided(memory[:48], 3, math.MaxInt/2, math.MaxInt/2)),
			views("no data", ErrLength, []string{"xs[0].Data is 0 elements", "48"}, V{Heads: 2}),
			views("one element", ErrLength, []string{"xs[0].Data is 1 element,", "48"}, packed(1, 2)),
			views("too short", ErrLength, []string{"xs[0].Data is 47 elements", "48"}, packed(47, 2)),
			views("too long", ErrLength, []string{"xs[0].Data is 49 elements", "48"}, packed(49, 2)),
			views("too short for token stride", ErrLength, []string{"xs[0].Data is 215 elements", "216"}, strided(memory[:215], 2, 100, 0)),
			views("too short for head stride", ErrLength, []string{"xs[0].Data is 60 elements", "61"}, strided(memory[:60], 2, 16, 21)),
			views("too short for heads after heads", ErrLength, []string{"xs[0].Data is 47 elements", "48"}, strided(memory[:47], 2, 8, 24)),
			views("second too short", ErrLength, []string{"xs[1].Data is 23 elements", "24"}, good, packed(23, 1)),
			views("third without heads", ErrShape, []string{"xs[2].Heads is 0"}, good, packed(24, 1), V{}),

			views("tokens overlap", ErrOverlap, []string{"xs[0].TokenStride is 8"}, strided(memory[:200], 2, 8, 0)),
			views("tokens overlap by one", ErrOverlap, []string{"xs[0].TokenStride is 15"}, strided(memory[:200], 2, 15, 0)),
			views("heads overlap", ErrOverlap, []string{"xs[0].TokenStride is 100", "HeadStride 7"}, strided(memory[:300], 2, 100, 7)),
			views("rows cross", ErrOverlap, []string{"xs[0].TokenStride is 20"}, strided(memory[:300], 3, 20, 19)),
			views("all the same", ErrOverlap, []string{"xs[0].TokenStride is 1"}, strided(memory[:300], 2, 1, 1)),
			views("same view twice", ErrOverlap, []string{"xs[1]", "xs[0]"}, good, good),
			views("same view last", ErrOverlap, []string{"xs[2]", "xs[0]"}, good, packed(24, 1), good),
			views("views share the last element", ErrOverlap, []string{"xs[1]"}, packed(48, 2), V{Data: memory[47:71], Heads: 1}),
			views("views share the first element", ErrOverlap, []string{"xs[1]"}, V{Data: memory[47:71], Heads: 1}, packed(48, 2)),
			views("one view within another", ErrOverlap, []string{"xs[1]"}, packed(240, 10), V{Data: memory[100:124], Heads: 1}),
			views("views interleave and touch", ErrOverlap, []string{"xs[1]"}, strided(memory[:200], 2, 48, 0), strided(memory[15:200], 1, 48, 0)),
			views("views of other strides", ErrOverlap, []string{"xs[1]"}, strided(memory[:200], 1, 20, 0), strided(memory[8:200], 1, 26, 0)), // 2*20 < 8+26+8
		}
		t.Run("function="+function, func(t *testing.T) { checkWrong(t, calls, memory) })
	}
}

// V is a view of the tests of errors.
type V = View[float32]

func strided(data []float32, heads, tokenStride, headStride int) V {
	return V{Data: data, Heads: heads, TokenStride: tokenStride, HeadStride: headStride}
}

func TestRotateAccepts(t *testing.T) {
	const dim = 8
	memory := make([]float32, 512)
	rotary := mustRotary(t, RotaryConfig{HeadDim: dim})
	edge := mustRotary(t, RotaryConfig{HeadDim: dim, InvFreq: []float64{1, 0x1p20, -0x1p40, 3}})
	positions := []int32{5, 6, 7}
	for name, call := range map[string]func() error{
		"no views":              func() error { return Rotate[float32](rotary, positions) },
		"no tokens":             func() error { return Rotate(rotary, nil, V{Heads: 2}) },
		"no tokens, strided":    func() error { return Rotate(rotary, nil, strided(memory, 2, 16, 8), strided(memory, 2, 16, 8)) },
		"one token, any stride": func() error { return Rotate(rotary, positions[:1], strided(memory[:8], 1, math.MaxInt, math.MaxInt)) },
		"one token, stride 1":   func() error { return Rotate(rotary, positions[:1], strided(memory[:8], 1, 1, 1)) },
		"one head, any stride":  func() error { return Rotate(rotary, positions, strided(memory[:24], 1, 8, math.MaxInt)) },
		"longer than its rows":  func() error { return Rotate(rotary, positions, strided(memory, 2, 16, 0)) },
		"neighbours": func() error {
			return Rotate(rotary, positions, V{Data: memory[:48], Heads: 2}, V{Data: memory[48:72], Heads: 1})
		},
		"packed QKV": func() error {
			return Rotate(rotary, positions, strided(memory, 4, 64, 0), strided(memory[32:], 2, 64, 0))
		},
		"[q k v] of each head": func() error {
			return Rotate(rotary, positions, strided(memory, 4, 96, 24), strided(memory[8:], 4, 96, 24))
		},
		"[heads][tokens], Q and K": func() error {
			return Rotate(rotary, positions, strided(memory, 2, 8, 24), strided(memory[48:], 1, 8, 24))
		},
		"views of other strides": func() error {
			return Rotate(rotary, positions, strided(memory, 1, 20, 0), strided(memory[8:], 1, 24, 0))
		},
		"tokens between heads":      func() error { return Rotate(rotary, positions, strided(memory, 2, 16, 56)) },
		"rows that cross elsewhere": func() error { return Rotate(rotary, positions, strided(memory, 3, 12, 41)) },
		"last positions":            func() error { return Rotate(edge, []int32{1023, -1023, 0}, V{Data: memory[:24], Heads: 1}) },
	} {
		t.Run(name, func(t *testing.T) {
			if err := call(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestNewRotaryErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	var calls []wrong
	for _, tt := range []struct {
		name string
		cfg  RotaryConfig
		says []string
	}{
		{"empty", RotaryConfig{}, []string{"cfg.HeadDim is 0"}},
		{"negative head", RotaryConfig{HeadDim: -8}, []string{"cfg.HeadDim is -8"}},
		{"odd head", RotaryConfig{HeadDim: 7}, []string{"cfg.RotaryDim is 7"}},
		{"odd", RotaryConfig{HeadDim: 8, RotaryDim: 3}, []string{"cfg.RotaryDim is 3"}},
		{"negative", RotaryConfig{HeadDim: 8, RotaryDim: -2}, []string{"cfg.RotaryDim is -2"}},
		{"beyond the head", RotaryConfig{HeadDim: 8, RotaryDim: 10}, []string{"cfg.RotaryDim is 10", "8"}},
		{"huge", RotaryConfig{HeadDim: math.MaxInt - 1}, []string{"cfg.RotaryDim is"}},
		{"above the bound", RotaryConfig{HeadDim: 1 << 20, RotaryDim: frequency.MaxRotaryDim + 2}, []string{"cfg.RotaryDim is 65538", "65536"}},
		{"frequencies above the bound", RotaryConfig{HeadDim: 1 << 20, InvFreq: make([]float64, 1<<19)}, []string{"cfg.RotaryDim is 1048576", "65536"}},
		{"head of 1", RotaryConfig{HeadDim: 1}, []string{"cfg.RotaryDim is 1"}},
		{"negative offset", RotaryConfig{HeadDim: 8, RotaryDim: 4, Offset: -1}, []string{"cfg.Offset is -1"}},
		{"offset", RotaryConfig{HeadDim: 8, RotaryDim: 4, Offset: 5}, []string{"cfg.Offset is 5", "4"}},
		{"huge offset", RotaryConfig{HeadDim: 8, RotaryDim: 4, Offset: math.MaxInt}, []string{"cfg.Offset is"}},
		{"offset of a whole head", RotaryConfig{HeadDim: 8, Offset: 1}, []string{"cfg.Offset is 1"}},
		{"layout", RotaryConfig{HeadDim: 8, Layout: 4}, []string{"cfg.Layout is 4"}},
		{"angles", RotaryConfig{HeadDim: 8, Angles: 2}, []string{"cfg.Angles is 2"}},
		{"base NaN", RotaryConfig{HeadDim: 8, Base: nan}, []string{"cfg.Base is NaN"}},
		{"base 1", RotaryConfig{HeadDim: 8, Base: 1}, []string{"cfg.Base is 1"}},
		{"base below 1", RotaryConfig{HeadDim: 8, Base: 0.5}, []string{"cfg.Base is 0.5"}},
		{"base negative", RotaryConfig{HeadDim: 8, Base: -10000}, []string{"cfg.Base is -10000"}},
		{"base infinite", RotaryConfig{HeadDim: 8, Base: inf}, []string{"cfg.Base is +Inf"}},
		{"base beyond float32", RotaryConfig{HeadDim: 8, Base: 1e39, Angles: Float32}, []string{"cfg.Base is 1e+39"}},
		{"base 1 as float32", RotaryConfig{HeadDim: 8, Base: 1 + 1e-12, Angles: Float32}, []string{"cfg.Base is 1.000000000001"}},
		{"too few frequencies", RotaryConfig{HeadDim: 8, InvFreq: make([]float64, 3)}, []string{"cfg.InvFreq is 3 elements", "4"}},
		{"too many frequencies", RotaryConfig{HeadDim: 8, RotaryDim: 6, InvFreq: make([]float64, 4)}, []string{"cfg.InvFreq is 4 elements", "3"}},
		{"no frequencies", RotaryConfig{HeadDim: 8, InvFreq: []float64{}}, []string{"cfg.InvFreq is 0 elements"}},
		{"frequency NaN", RotaryConfig{HeadDim: 8, InvFreq: []float64{1, 2, nan, 3}}, []string{"cfg.InvFreq[2] is NaN"}},
		{"frequency NaN first", RotaryConfig{HeadDim: 4, InvFreq: []float64{nan, 3}}, []string{"cfg.InvFreq[0] is NaN"}},
		{"frequency infinite", RotaryConfig{HeadDim: 4, InvFreq: []float64{1, -inf}}, []string{"cfg.InvFreq[1] is -Inf"}},
		{"frequency 2^50", RotaryConfig{HeadDim: 4, InvFreq: []float64{1, 0x1p50}}, []string{"cfg.InvFreq[1] is 1.125899906842624e+15"}},
		{"frequency -2^50", RotaryConfig{HeadDim: 4, InvFreq: []float64{-0x1p50, 1}, Angles: Float32}, []string{"cfg.InvFreq[0] is -1.125899906842624e+15"}},
		{"base and frequencies", RotaryConfig{HeadDim: 4, Base: 10000, InvFreq: []float64{1, 2}}, []string{"cfg.Base is 10000"}},
		{"scaling NaN", RotaryConfig{HeadDim: 8, Scaling: nan}, []string{"cfg.Scaling is NaN"}},
		{"scaling infinite", RotaryConfig{HeadDim: 8, Scaling: inf}, []string{"cfg.Scaling is +Inf"}},
		{"scaling negative", RotaryConfig{HeadDim: 8, Scaling: -1}, []string{"cfg.Scaling is -1"}},
		{"scaling beyond float32", RotaryConfig{HeadDim: 8, Scaling: 4e38}, []string{"cfg.Scaling is 4e+38"}},
		{"scaling 0 as float32", RotaryConfig{HeadDim: 8, Scaling: 1e-60}, []string{"cfg.Scaling is 1e-60"}},
	} {
		calls = append(calls, wrong{tt.name, func() error {
			r, err := NewRotary(tt.cfg)
			if r != nil {
				t.Errorf("%s: a Rotary and an error", tt.name)
			}
			return err
		}, ErrConfig, append(tt.says, "posenc.NewRotary: ")})
	}
	checkWrong(t, calls)
}

// The largest frequencies and positions that are allowed are those whose
// angles generic takes.
func TestLastPosition(t *testing.T) {
	r := newRand(31)
	for range rounds(20000) {
		w := math.Ldexp(1+r.Float64(), r.IntN(34)+16)
		if r.IntN(4) == 0 {
			w = 0x1p50 / float64(1+r.IntN(1<<20)) // the angle is 2^50, or next to it
		}
		if r.IntN(4) == 0 {
			w = math.Nextafter(w, 0)
		}
		if !(w < 0x1p50) {
			continue
		}
		rotary := mustRotary(t, RotaryConfig{HeadDim: 4, InvFreq: []float64{1, -w}})
		last := min(rotary.lastPosition, math.MaxInt32)
		if last < 1 && w < 0x1p49 {
			t.Fatalf("frequency %x: last position %d", w, last)
		}
		var cos, sin [2]float32
		for _, p := range []int32{int32(last), int32(-last)} {
			if err := rotary.CosSin(cos[:], sin[:], []int32{p}); err != nil || cos[1] != cos[1] || sin[1] != sin[1] {
				t.Fatalf("frequency %x, position %d: got %v, %v, error %v", w, p, cos, sin, err)
			}
		}
		if next := float64(last) + 1; last < math.MaxInt32 {
			if err := rotary.CosSin(cos[:], sin[:], []int32{int32(next)}); !errors.Is(err, ErrPosition) {
				t.Fatalf("frequency %x, position %v: got error %v", w, next, err)
			}
			if next*w < 0x1p50*(1-0x1p-50) {
				t.Fatalf("frequency %x: position %v is refused, though its angle is below 2^50", w, next)
			}
		}
	}
}

// No call allocates, nor makes the slices of its caller escape.
func TestRotateAllocates(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, layout := range layouts {
			for _, angles := range []Angles{Exact, Float32} {
				small := mustRotary(t, RotaryConfig{HeadDim: 16, Layout: layout, Angles: angles})
				large := mustRotary(t, RotaryConfig{HeadDim: 512, Layout: layout, Angles: angles})
				for name, call := range map[string]func(){
					"decode": func() {
						var q [64]float32
						Rotate(small, []int32{77}, View[float32]{Data: q[:], Heads: 4})
					},
					"decode, Q and K": func() {
						var q [64]float32
						var k [32]float32
						Rotate(small, []int32{77}, View[float32]{Data: q[:], Heads: 4}, View[float32]{Data: k[:], Heads: 2})
					},
					"prefill": func() {
						var q [640]float32
						Rotate(small, []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, View[float32]{Data: q[:], Heads: 4})
					},
					"prefill, packed QKV": func() {
						var qkv [1280]float32
						positions := [10]int32{9, 8, 7, 3, 4, 5, 6, 7, 8, 9}
						Rotate(small, positions[:], View[float32]{Data: qkv[:], Heads: 4, TokenStride: 128}, View[float32]{Data: qkv[64:], Heads: 2, TokenStride: 128})
					},
					"large": func() {
						var q [1024]float32
						Rotate(large, []int32{5, 6}, View[float32]{Data: q[:], Heads: 1})
					},
					"inverse": func() {
						var q [64]float32
						RotateInverse(small, []int32{77}, View[float32]{Data: q[:], Heads: 4})
					},
				} {
					if n := testing.AllocsPerRun(20, call); n != 0 {
						t.Errorf("%s, layout %s: %v allocations", name, layoutName(layout), n)
					}
				}
			}
		}
	})
}
