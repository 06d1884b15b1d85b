package posenc_test

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"sync"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/testkit"
)

var (
	_ = testkit.Register(testkit.Case{Function: "NewRotary", Digests: digestOf("NewRotary", digestNewRotary),
		Call: func(a *testkit.Arguments) testkit.Call {
			cfg := configOf(a)
			return testkit.Call{Allocates: testkit.Constructed, Run: func() error { return testkit.Made(posenc.NewRotary(cfg)) }}
		},
	})
	_ = testkit.Register(testkit.Case{Function: "NewRows", Digests: func(add testkit.AddDigest) {
		add.Pairs("NewTableRotary", "type", "table", [3][3]func(*testkit.Digest){
			{digestTable[float32, float32], digestTable[float32, posenc.Float16], digestTable[float32, posenc.BFloat16]},
			{digestTable[posenc.Float16, float32], digestTable[posenc.Float16, posenc.Float16], digestTable[posenc.Float16, posenc.BFloat16]},
			{digestTable[posenc.BFloat16, float32], digestTable[posenc.BFloat16, posenc.Float16], digestTable[posenc.BFloat16, posenc.BFloat16]},
		})
	},
		Call: oneOf(newRowsCall[float32], newRowsCall[posenc.Float16], newRowsCall[posenc.BFloat16]),
	})
	_ = testkit.Register(testkit.Case{Function: "Rotary.Rows", NonTemporal: true, Digests: ofTypes("Rotary.Tabulate", digestRows[float32], digestRows[posenc.Float16], digestRows[posenc.BFloat16]),
		Call: func(a *testkit.Arguments) testkit.Call {
			r := rotaryOf(a)
			positions := a.Positions(r.axes * a.Tokens())
			return testkit.Call{Allocates: testkit.Constructed,
				Right: func() bool { return takes(&r, positions) },
				Run: func() error {
					rows, err := r.Rows(positions)
					if err == nil && rows.Len() != len(positions)/r.axes {
						panic("another number of rows")
					}
					return testkit.Made(rows, err)
				},
			}
		},
		Long: func() error {
			for _, rounding := range []frequency.Rounding{frequency.Exact, frequency.Float32} {
				testkit.Must(testkit.MustRotary(posenc.RotaryConfig{HeadDim: 2048, Layout: posenc.HalfSplit, Rounding: rounding}).Rows(testkit.Sequence(100)))
			}
			return nil
		},
	})

	// Angles are checked where they are used.
	_ = testkit.Register(testkit.Case{Function: "Rows.Refill", NonTemporal: true, NoDigest: true,
		Call: func(a *testkit.Arguments) testkit.Call {
			r := rotaryOf(a)
			before, positions := a.Positions(r.axes*a.Tokens()), a.Positions(r.axes*a.Tokens())
			rows, err := r.Rows(before)
			if err != nil {
				rows = []*posenc.Rows{nil, new(posenc.Rows)}[a.Below(2)]
			}
			return testkit.Call{Allocates: testkit.Constructed,
				Right: func() bool { return err == nil && takes(&r, positions) },
				Run: func() error {
					err := rows.Refill(positions)
					if dim, tokens := r.cfg.HeadDim, len(positions)/r.axes; err == nil && !testkit.SameSlices(rotatedOnes(rows.All(), tokens, dim), rotatedOnes(r.At(positions), tokens, dim)) {
						panic("other rows than those of the positions")
					}
					return err
				},
			}
		},
		OnStack: func() error {
			return errors.Join(stackRows().Refill([]int32{7, 8}), stackRows().Refill([]int32{4, 5, 6}))
		},
	})
	_ = testkit.Register(testkit.Case{Function: "Rotary.Config", NeverFails: true, NoDigest: true, Call: func(a *testkit.Arguments) testkit.Call {
		r := rotaryOf(a)
		return testkit.Call{Allocates: testkit.Constructed, Run: func() error {
			want := posenc.RotaryConfig{}
			if cfg := r.Config(); !r.zero {
				want = testkit.MustRotary(cfg).Config()
				cfg.InvFreq[0] = 77 // the caller's to change
				clear(cfg.Axes)
				if cfg.XPos != nil {
					*cfg.XPos = posenc.XPos{}
				}
			}
			if !reflect.DeepEqual(r.Config(), want) {
				panic("another configuration")
			}
			return nil
		}}
	}})
	_ = neverFails("Rotary.Unrotated", nil, func(a *testkit.Arguments) func() {
		r, tokens := rotaryOf(a), a.Number(0, 30)
		return func() { r.Unrotated(tokens) }
	})
	_ = neverFails("Rotary.At", nil, func(a *testkit.Arguments) func() {
		r, positions := rotaryOf(a), a.Positions(a.Tokens())
		return func() { r.At(positions) }
	})
	_ = neverFails("Rotary.AtFractional", atFractionalDigests, func(a *testkit.Arguments) func() {
		r, positions := rotaryOf(a), testkit.Slice[float32](a, a.Tokens())
		return func() { r.AtFractional(positions) }
	})
	_ = neverFails("Rows.At", nil, func(a *testkit.Arguments) func() {
		rows, ids := rowsOfAnyKind(a), a.Positions(a.Tokens())
		return func() { rows.At(ids) }
	})
	_ = neverFails("Rows.AtSome", atSomeDigests, func(a *testkit.Arguments) func() {
		rows, ids := rowsOfAnyKind(a), a.Positions(a.Tokens())
		return func() { rows.AtSome(ids) }
	})
	_ = neverFails("Rows.All", nil, func(a *testkit.Arguments) func() { rows := rowsOfAnyKind(a); return func() { rows.All() } })
	_ = neverFails("Rows.Len", nil, func(a *testkit.Arguments) func() { rows := rowsOfAnyKind(a); return func() { rows.Len() } })
)

// neverFails registers the case of a method that returns no error.
func neverFails(function string, digests func(testkit.AddDigest), call func(a *testkit.Arguments) func()) struct{} {
	return testkit.Register(testkit.Case{Function: function, NeverFails: true, Digests: digests, NoDigest: digests == nil, Call: func(a *testkit.Arguments) testkit.Call {
		run := call(a)
		return testkit.Call{Run: func() error { run(); return nil }}
	}})
}

// rotatedOnes returns heads that were ones.
func rotatedOnes(a posenc.Angles, tokens, headDim int) []float32 {
	x := slices.Repeat([]float32{1}, headDim*tokens)
	if err := posenc.Rotate(a, posenc.View[float32]{Data: x, Heads: 1}); err != nil {
		panic(err)
	}
	return x
}

func rowsOfAnyKind(a *testkit.Arguments) *posenc.Rows {
	switch a.Below(4) {
	case 0:
		return nil
	case 1:
		return new(posenc.Rows)
	}
	cfg, t := tableOf[float32](a, false)
	rows, _ := posenc.NewRows(cfg, t)
	return rows
}

func newRowsCall[C posenc.Element](a *testkit.Arguments) testkit.Call {
	cfg, t := tableOf[C](a, false)
	return testkit.Call{Allocates: testkit.Constructed, Run: func() error { return testkit.Made(posenc.NewRows(cfg, t)) }}
}

func digestNewRotary(d *testkit.Digest) {
	for _, rounding := range []frequency.Rounding{frequency.Exact, frequency.Float32} {
		for _, base := range []float64{0, 2, 500000, 1e6} {
			r := testkit.MustRotary(posenc.RotaryConfig{HeadDim: 40, RotaryDim: 24, Layout: posenc.HalfSplit, Base: base, Rounding: rounding})
			cos, sin := make([]float32, 4*12), make([]float32, 4*12)
			d.Must(r.CosSin(cos, sin, []int32{1, 2, 4097, math.MaxInt32}))
			d.Add(cos, sin)
		}
	}
}

// digestTable rotates by tables of half and of full width, by their rows in order and by
// others.
func digestTable[T, C posenc.Element](d *testkit.Digest) {
	for layout := range digestLayouts {
		for i, width := range []int{1, 2} {
			const count, tokens = 7, 7
			cfg := digestGeometry(d, allLayouts[layout], 20)
			stride := width*20 + 5*d.Below(2)
			table := posenc.Table[C]{Cos: testkit.DigestNumbers[C](d, count*stride), Sin: testkit.DigestNumbers[C](d, count*stride), Stride: stride, FullWidth: width == 2}
			rows, err := posenc.NewRows(posenc.RowsConfig{HeadDim: cfg.HeadDim, RotaryDim: cfg.RotaryDim, Offset: cfg.Offset, Layout: cfg.Layout}, table)
			d.Must(err)
			for j, angles := range []posenc.Angles{rows.All(), rows.At(d.Indices(tokens, count))} {
				for _, rotate := range []func(posenc.Angles, ...posenc.View[T]) error{posenc.Rotate[T], posenc.RotateInverse[T]} {
					x := testkit.DigestViewOf(d, testkit.DigestElements[T], layout+i+j, tokens, 2, cfg.HeadDim)
					d.Must(rotate(angles, x.View))
					d.Add(x.Memory)
				}
			}
		}
	}
}

func atSomeDigests(add testkit.AddDigest) {
	add.Types("Rows.AtSome", digestSome[float32], digestSome[posenc.Float16], digestSome[posenc.BFloat16])
	add.Types("Rows.AtSome/heads", digestHeads[float32], digestHeads[posenc.Float16], digestHeads[posenc.BFloat16])
}

func atFractionalDigests(add testkit.AddDigest) {
	for rounding, name := range digestRoundings {
		add("Rotary.AtFractional/angles="+name, func(d *testkit.Digest) {
			for _, tokens := range []int{1, 40} {
				cfg := digestConfig(d, posenc.Interleaved, frequency.Rounding(rounding), 9)
				digestIntoAndInPlace[float32](d, testkit.MustRotary(cfg).AtFractional(testkit.DigestNumbers[float32](d, tokens)), 1, tokens, 2, cfg.HeadDim)
			}
		})
	}
}

// digestSome rotates some of the tokens.
func digestSome[T posenc.Element](d *testkit.Digest) {
	for layout := range digestLayouts {
		const tokens = 20
		cfg := digestConfig(d, allLayouts[layout], frequency.Rounding(layout%2), 9)
		rows, err := testkit.MustRotary(cfg).Rows(d.Positions(tokens))
		d.Must(err)
		digestIntoAndInPlace[T](d, rows.AtSome(append([]int32{-1, -1}, d.Indices(tokens, tokens)...)), layout, tokens+2, 2, cfg.HeadDim)
	}
}

// digestHeads rotates each head by entries of its own, of half and of full width.
func digestHeads[T posenc.Element](d *testkit.Digest) {
	for layout := range digestLayouts {
		for width := range 2 {
			const rows, heads, pairs = 7, 3, 5
			cfg := digestGeometry(d, allLayouts[layout], pairs)
			n := rows * heads * pairs * (1 + width)
			r, err := posenc.NewRows(posenc.RowsConfig{HeadDim: cfg.HeadDim, RotaryDim: cfg.RotaryDim, Offset: cfg.Offset, Layout: cfg.Layout, Heads: heads},
				posenc.Table[float32]{Cos: testkit.DigestNumbers[float32](d, n), Sin: testkit.DigestNumbers[float32](d, n), FullWidth: width == 1})
			d.Must(err)
			digestIntoAndInPlace[T](d, r.AtSome(append([]int32{3, -1}, d.Indices(9, rows)...)), layout, 11, heads, cfg.HeadDim)
		}
	}
}

func digestIntoAndInPlace[T posenc.Element](d *testkit.Digest, angles posenc.Angles, shape, tokens, heads, dim int) {
	x := testkit.DigestViewOf(d, testkit.DigestElements[T], shape, tokens, heads, dim)
	y := posenc.View[float32]{Data: make([]float32, tokens*heads*dim), Heads: heads}
	d.Must(posenc.RotateInto(angles, y, nil, x.View))
	d.Must(posenc.Rotate(angles, x.View))
	d.Must(posenc.RotateInverse(angles, x.View))
	d.Add(x.Memory)
	d.Add(y.Data)
}

func digestRows[T posenc.Element](d *testkit.Digest) {
	for layout := range digestLayouts {
		const tokens = 20
		cfg := digestConfig(d, allLayouts[layout], frequency.Rounding(layout%2), 33)
		rows, err := testkit.MustRotary(cfg).Rows(d.Positions(tokens))
		d.Must(err)
		for i, angles := range []posenc.Angles{rows.All(), rows.At(d.Indices(tokens, tokens))} {
			x := testkit.DigestViewOf(d, testkit.DigestElements[T], layout+i, tokens, 2, cfg.HeadDim)
			d.Must(posenc.Rotate(angles, x.View))
			d.Add(x.Memory)
		}
	}
}

// stackRows are rows to refill, of up to three tokens.
var stackRows = sync.OnceValue(func() *posenc.Rows { return testkit.Must(stackRotary().Rows(make([]int32, 3))) })
