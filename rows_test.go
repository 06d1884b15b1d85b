package posenc_test

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/test/kit"
)

// rowsOf returns the rows of a table that the tokens take, for plain.
func rowsOf[C posenc.Element](p plain, t posenc.Table[C], ids []int32) plain {
	pairs, heads := p.rotaryDim/2, max(1, p.heads)
	stride := t.Stride
	if stride == 0 {
		stride = heads * pairs
		if t.FullWidth {
			stride *= 2
		}
	}
	p.unrotated = make([]bool, len(ids))
	for i := range p.cos {
		p.cos[i], p.sin[i] = make([]float32, len(ids)*heads*pairs), make([]float32, len(ids)*heads*pairs)
	}
	for token, id := range ids {
		if id < 0 {
			p.unrotated[token] = true
			continue
		}
		for h := range heads {
			for i := range pairs {
				first := int(id)*stride + h*pairs
				at := [2]int{first + i, first + i}
				if t.FullWidth {
					at[0], at[1] = kit.PairAt(p.out, int(id)*stride+2*h*pairs, i, pairs)
				}
				for k := range at {
					to := (token*heads+h)*pairs + i
					p.cos[k][to], p.sin[k][to] = kit.Widen(t.Cos[at[k]]), kit.Widen(t.Sin[at[k]])
				}
			}
		}
	}
	return p
}

// Of transformers 5.23.0, with numbers with which float32 is exact: apply_rotary_pos_emb_interleave
// of DeepSeek V3 for [heads][tokens][dim], and apply_rotary_pos_emb of Llama with a table whose halves
// differ. Halves that differ in the sign of a zero alone differ too: x2*c2 has its sign.
func TestRotateByTable(t *testing.T) {
	negative := kit.OfBits[float32](1 << 31)
	for _, tt := range []struct {
		layout      posenc.Layout
		dim, tokens int
		table       posenc.Table[float32]
		x, want     []float32
	}{
		{posenc.InterleavedToHalfSplit, 6, 2, posenc.Table[float32]{Cos: []float32{0.5, -0.25, 2, 1, 0.75, -1.5}, Sin: []float32{2, 0.125, -1, -0.5, 3, 0.25}}, []float32{
			1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
		}, []float32{
			-3.5, -1.25, 16, 3, -0.625, 7, 11, -23.25, -19.5, 4.5, 34.5, -15.25, -21.5, -5.75, 52, 33, -2.125, 19, 29, -50.25, -40.5, 10.5, 79.5, -30.25,
		}},
		{posenc.HalfSplit, 4, 1, posenc.Table[float32]{Cos: []float32{0.5, -0.25, 2, 3}, Sin: []float32{2, 0.125, -1, 0.5}, FullWidth: true}, []float32{1, 2, 3, 4}, []float32{-5.5, -1, 5, 13}},
		{posenc.HalfSplit, 2, 1, posenc.Table[float32]{Cos: []float32{0, negative}, Sin: []float32{0, negative}, FullWidth: true}, []float32{1, 1}, []float32{0, negative}}, // 0 - 0, -0 + -0
	} {
		rows := kit.Must(posenc.NewRows(posenc.RowsConfig{HeadDim: tt.dim, Layout: tt.layout}, tt.table))
		kit.NoError(t, posenc.Rotate(rows.All(), strided(tt.x, len(tt.x)/(tt.tokens*tt.dim), tt.dim, tt.tokens*tt.dim)))
		if !kit.SameBits(tt.x, tt.want) {
			t.Errorf("layout %v: got %v, want %v", tt.layout, tt.x, tt.want)
		}
	}
}

// A table is read, not copied.
func TestTableIsRead(t *testing.T) {
	cos, sin := []float32{1, 1}, []float32{0, 0}
	rows := kit.Must(posenc.NewRows(posenc.RowsConfig{HeadDim: 2, Layout: posenc.HalfSplit}, posenc.Table[float32]{Cos: cos, Sin: sin}))
	cos[1], sin[1] = 0, 1
	x := []float32{3, 4, 3, 4}
	kit.NoError(t, posenc.Rotate(rows.All(), posenc.View[float32]{Data: x, Heads: 1}))
	if want := []float32{3, 4, -4, 3}; !slices.Equal(x, want) {
		t.Errorf("got %v, want %v", x, want)
	}
}

// Rows of no tokens are rows.
func TestNoRows(t *testing.T) {
	rotary := kit.MustRotary(posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit, Axes: []uint8{0, 1, 2, 0}})
	empty := []*posenc.Rows{kit.Must(rotary.Rows(nil)), kit.Must(rotary.Rows([]int32{}))}
	for _, table := range []posenc.Table[float32]{{}, {FullWidth: true}, {Stride: 9}, {Cos: make([]float32, 3), Sin: make([]float32, 2), Stride: 4}} {
		empty = append(empty, kit.Must(posenc.NewRows(posenc.RowsConfig{HeadDim: 8, Layout: posenc.HalfSplit}, table)))
	}
	for i, rows := range empty {
		if err := errors.Join(posenc.Rotate(rows.All(), V{Heads: 1}), posenc.Rotate(rows.At(nil), V{Heads: 1}), posenc.Rotate(rows.At([]int32{}), V{Heads: 1})); err != nil || rows.Len() != 0 {
			t.Errorf("%d: %d rows, error %v", i, rows.Len(), err)
		}
		if err := posenc.Rotate(rows.At([]int32{0}), V{Data: make([]float32, 8), Heads: 1}); !errors.Is(err, posenc.ErrPosition) {
			t.Errorf("%d: row 0 of none: %v", i, err)
		}
	}
}

func TestTableErrors(t *testing.T) {
	data := make([]float32, 256)
	shared := make([]float32, 96)
	cfg := posenc.RowsConfig{HeadDim: 8, Layout: posenc.HalfSplit}
	table := posenc.Table[float32]{Cos: make([]float32, 12), Sin: make([]float32, 12)} // 3 rows
	half := kit.Must(posenc.NewRows(cfg, table))
	full := kit.Must(posenc.NewRows(cfg, posenc.Table[float32]{Cos: make([]float32, 24), Sin: make([]float32, 24), FullWidth: true}))
	rows := kit.Must(kit.MustRotary(posenc.RotaryConfig{HeadDim: 8, Layout: posenc.HalfSplit}).Rows([]int32{5, 6, 7}))
	x := func(tokens int) V { return V{Data: data[:16*tokens], Heads: 2} }
	fails := kit.Failures(t, data, shared)
	for _, r := range []*posenc.Rows{half, full, rows} {
		if r.Len() != 3 {
			t.Errorf("%d rows, want 3", r.Len())
		}
		fails(posenc.Rotate(r.At([]int32{0, 2, 3}), x(3)), posenc.ErrPosition, "posenc.Rotate: ids[2] is 3, want at least 0 and below 3, the number of rows")
		fails(posenc.RotateInverse(r.At([]int32{2, -1}), x(2)), posenc.ErrPosition, "posenc.RotateInverse: ids[1] is -1")
		fails(posenc.RotateInto(r.At([]int32{math.MinInt32}), x(1), nil, V{Data: shared[:16], Heads: 2}), posenc.ErrPosition, "posenc.RotateInto: ids[0] is -2147483648")
		fails(posenc.RotateFused(r.At([]int32{3}), posenc.FusedView[float32]{View: x(1)}), posenc.ErrPosition, "posenc.RotateFused: ids[0] is 3")
		fails(posenc.Rotate(r.AtSome([]int32{-1, 3}), x(2)), posenc.ErrPosition, "posenc.Rotate: ids[1] is 3, want at least 0 and below 3, the number of rows")
		fails(posenc.Rotate(r.All(), x(2)), posenc.ErrLength, "posenc.Rotate: xs[0].Data has 32 elements, want 48 for 3 tokens")
		fails(posenc.Rotate(r.All(), strided(data[:39], 1, 16, 0)), posenc.ErrLength, "xs[0].Data has 39 elements, want at least 40 for 3 tokens")
		fails(posenc.RotateInto(r.All(), x(3), []int32{0, 1}, V{Data: shared[:48], Heads: 2}), posenc.ErrLength, "posenc.RotateInto: slots has 2 elements, want 3")
		fails(posenc.RotateFused(r.All(), posenc.FusedView[float32]{View: x(2)}), posenc.ErrLength, "posenc.RotateFused: xs[0].Data has 32 elements")
		fails(posenc.Rotate(r.At([]int32{}), x(1)), posenc.ErrLength, "xs[0].Data has 16 elements, want 0, because the call has no tokens: its positions, deltas or ids are empty")
	}
	fast := kit.MustRotary(posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit, InvFreq: []float64{1, 0x1p40}})
	fails(kit.Made((*posenc.Rotary)(nil).Rows([]int32{1})), posenc.ErrConfig, "posenc.Rotary.Rows: r is nil or zero, want a Rotary from NewRotary")
	fails(kit.Made(new(posenc.Rotary).Rows([]int32{1})), posenc.ErrConfig, "posenc.Rotary.Rows: r is nil or zero")
	fails(kit.Made(fast.Rows([]int32{1, 1024})), posenc.ErrPosition, "posenc.Rotary.Rows: positions[1] is 1024, want at most 1023")
	each := kit.Must(posenc.NewRows(posenc.RowsConfig{HeadDim: 8, Layout: posenc.HalfSplit, Heads: 3}, table)) // 1 row
	fails(posenc.Rotate(each.All(), V{Data: data[:24], Heads: 3}, V{Data: data[32:48], Heads: 2}), posenc.ErrShape, "posenc.Rotate: xs[1].Heads is 2, want the 3 heads of the rows")
	fails(posenc.RotateInto(each.All(), x(1), nil, V{Data: shared[:16], Heads: 2}), posenc.ErrShape, "posenc.RotateInto: src.Heads is 2, want the 3 heads of the rows")
	fails(posenc.RotateFused(each.All(), posenc.FusedView[float32]{View: x(1)}), posenc.ErrShape, "posenc.RotateFused: xs[0].Heads is 2, want the 3 heads of the rows")
	quantize := func(a posenc.Angles, tokens, heads int) error {
		dst := posenc.QuantizedView[posenc.E4M3]{View: posenc.View[posenc.E4M3]{Data: make([]posenc.E4M3, 8*heads*tokens), Heads: heads}, InverseScale: 1}
		return posenc.RotateIntoQuantized(a, nil, posenc.IntoQuantized[posenc.E4M3, float32]{Dst: dst, Src: V{Data: data[:8*heads*tokens], Heads: heads}})
	}
	fails(quantize(each.All(), 1, 3), posenc.ErrConfig, "posenc.RotateIntoQuantized: a is from rows with entries for each head, want rows that all heads share")
	fails(quantize(half.AtSome([]int32{-1, 0}), 2, 1), posenc.ErrConfig, "posenc.RotateIntoQuantized: a is from ids some of which are negative, want a row for each token")
	kit.NoError(t, quantize(half.AtSome([]int32{1, 0}), 2, 1))
	over, beside := V{Data: shared[64:80], Heads: 2}, []*posenc.Rows(nil)
	for _, table := range []posenc.Table[float32]{
		{Cos: shared[16:40], Sin: shared[48:72]}, {Cos: shared[16:40], Sin: shared[48:72], FullWidth: true}, {Cos: shared[16:72], Sin: shared[20:72], Stride: 8},
	} {
		r := kit.Must(posenc.NewRows(cfg, table))
		beside = append(beside, r)
		const says = " is sharing memory with the table of the rows"
		fails(posenc.Rotate(r.At([]int32{0}), V{Data: data[:8], Heads: 1}, over), posenc.ErrOverlap, "posenc.Rotate: xs[1]"+says)
		fails(posenc.RotateInverse(r.At([]int32{0}), V{Data: shared[9:17], Heads: 1}), posenc.ErrOverlap, "posenc.RotateInverse: xs[0]"+says)
		fails(posenc.RotateFused(r.At([]int32{0}), posenc.FusedView[float32]{View: over}), posenc.ErrOverlap, "posenc.RotateFused: xs[0]"+says)
		fails(posenc.RotateInto(r.At([]int32{0}), over, nil, x(1)), posenc.ErrOverlap, "posenc.RotateInto: dst"+says)
	}
	for _, tt := range []struct {
		cfg   posenc.RowsConfig
		table posenc.Table[float32]
		kind  error
		says  string
	}{
		{posenc.RowsConfig{}, table, posenc.ErrConfig, "cfg.HeadDim is 0"},
		{posenc.RowsConfig{HeadDim: 7, Layout: posenc.HalfSplit}, table, posenc.ErrConfig, "cfg.RotaryDim is 7"},
		{posenc.RowsConfig{HeadDim: 8, Layout: posenc.HalfSplit, Offset: 1}, table, posenc.ErrConfig, "cfg.Offset is 1"},
		{posenc.RowsConfig{HeadDim: 8, Layout: 5}, table, posenc.ErrConfig, "cfg.Layout is Layout(5)"},
		{posenc.RowsConfig{HeadDim: 4000, RotaryDim: 2050, Layout: posenc.HalfSplit}, table, posenc.ErrConfig, "cfg.RotaryDim is 2050, want at most 2048"},
		{posenc.RowsConfig{HeadDim: 8, Layout: posenc.HalfSplit, Heads: -1}, table, posenc.ErrConfig, "cfg.Heads is -1, want from 0 to 65536"},
		{posenc.RowsConfig{HeadDim: 8, Layout: posenc.HalfSplit, Heads: 1<<16 + 1}, table, posenc.ErrConfig, "cfg.Heads is 65537"},
		{posenc.RowsConfig{HeadDim: 8, Layout: posenc.HalfSplit, Heads: 2}, table, posenc.ErrLength, "t.Cos has 12 elements, want a multiple of the 8 entries"},
		{posenc.RowsConfig{HeadDim: 8, Layout: posenc.HalfSplit, Heads: 2}, posenc.Table[float32]{Cos: data, Sin: data, Stride: 7}, posenc.ErrShape, "t.Stride is 7, want 0 or at least the 8 entries"},
		{cfg, posenc.Table[float32]{Cos: data, Sin: data, Stride: -4}, posenc.ErrShape, "t.Stride is -4, want 0 or at least the 4 entries"},
		{cfg, posenc.Table[float32]{Cos: data, Sin: data, Stride: 7, FullWidth: true}, posenc.ErrShape, "t.Stride is 7, want 0 or at least the 8 entries"},
		{cfg, posenc.Table[float32]{Cos: data[:9], Sin: data[:9]}, posenc.ErrLength, "t.Cos has 9 elements, want a multiple of the 4 entries"},
		{cfg, posenc.Table[float32]{Cos: data[:12], Sin: data[:12], FullWidth: true}, posenc.ErrLength, "t.Cos has 12 elements, want a multiple of the 8 entries"},
		{cfg, posenc.Table[float32]{Cos: data[:12], Sin: data[:16]}, posenc.ErrLength, "t.Sin has 16 elements"},
		{cfg, posenc.Table[float32]{Cos: data[:12]}, posenc.ErrLength, "t.Sin has 0 elements"},
		{cfg, posenc.Table[float32]{Cos: data[:28], Sin: data[:27], Stride: 8}, posenc.ErrLength, "t.Sin has 27 elements"},
		{cfg, posenc.Table[float32]{Cos: data[:28], Sin: data[:36], Stride: 8}, posenc.ErrLength, "t.Sin has 36 elements, want 4 rows as in t.Cos"},
		{cfg, posenc.Table[float32]{Cos: data[:3], Sin: data[:4], Stride: 8}, posenc.ErrLength, "t.Sin has 4 elements, want 0 rows as in t.Cos"},
		{cfg, posenc.Table[float32]{Cos: data[:3], Sin: data[:12], Stride: 8}, posenc.ErrLength, "t.Sin has 12 elements"},
	} {
		fails(kit.Made(posenc.NewRows(tt.cfg, tt.table)), tt.kind, "posenc.NewRows: "+tt.says)
	}
	if math.MaxInt == math.MaxInt32 { // the bytes of rows may be more than an int can count
		fails(kit.Made(kit.MustRotary(posenc.RotaryConfig{HeadDim: 2048, Layout: posenc.HalfSplit}).Rows(make([]int32, 1<<19))), posenc.ErrLength, "posenc.Rotary.Rows: positions has 524288 elements")
	}
	steep := kit.Must(fast.Rows([]int32{5}))
	kept := rotatedOnes(steep.All(), 1, 4)
	fails(steep.Refill([]int32{1, 1024}), posenc.ErrPosition, "posenc.Rows.Refill: positions[1] is 1024, want at most 1023")
	if !slices.Equal(rotatedOnes(steep.All(), 1, 4), kept) {
		t.Error("after an error rows are others")
	}
	kit.Must(posenc.NewRows(posenc.RowsConfig{HeadDim: 2, Layout: posenc.HalfSplit, Heads: 1 << 16}, posenc.Table[float32]{}))
	for _, r := range beside {
		none := strided(shared[20:35], 2, 16, 0)
		kit.NoError(t, posenc.Rotate(r.At(nil), none), posenc.RotateFused(r.At(nil), posenc.FusedView[float32]{View: none}))
		kit.NoError(t, posenc.Rotate(r.At([]int32{0}), V{Data: shared[:16], Heads: 2}), posenc.Rotate(r.At([]int32{0}), V{Data: shared[72:88], Heads: 2}))
	}
}

var (
	_ = kit.Register(kit.Case{Function: "NewRotary", Digests: digestOf("NewRotary", digestNewRotary),
		Call: func(a *kit.Arguments) kit.Call {
			cfg := configOf(a)
			return kit.Call{Allocates: kit.Constructed, Run: func() error { return kit.Made(posenc.NewRotary(cfg)) }}
		},
	})
	_ = kit.Register(kit.Case{Function: "NewRows", Digests: func(add kit.AddDigest) {
		add.Pairs("NewTableRotary", "type", "table", [3][3]func(*kit.Digest){
			{digestTable[float32, float32], digestTable[float32, posenc.Float16], digestTable[float32, posenc.BFloat16]},
			{digestTable[posenc.Float16, float32], digestTable[posenc.Float16, posenc.Float16], digestTable[posenc.Float16, posenc.BFloat16]},
			{digestTable[posenc.BFloat16, float32], digestTable[posenc.BFloat16, posenc.Float16], digestTable[posenc.BFloat16, posenc.BFloat16]},
		})
	},
		Call: oneOf(newRowsCall[float32], newRowsCall[posenc.Float16], newRowsCall[posenc.BFloat16]),
	})
	_ = kit.Register(kit.Case{Function: "Rotary.Rows", NonTemporal: true, Digests: ofTypes("Rotary.Tabulate", digestRows[float32], digestRows[posenc.Float16], digestRows[posenc.BFloat16]),
		Call: rowsCall(false),
		Long: func() error {
			for _, rounding := range []frequency.Rounding{frequency.Exact, frequency.Float32} {
				kit.Must(kit.MustRotary(posenc.RotaryConfig{HeadDim: 2048, Layout: posenc.HalfSplit, Rounding: rounding}).Rows(kit.Sequence(100)))
			}
			return nil
		},
	})

	_ = kit.Register(kit.Case{Function: "Rotary.RowsAxes", NonTemporal: true, NoDigest: true, Call: rowsCall(true)})
	_ = kit.Register(kit.Case{Function: "Rows.Refill", NonTemporal: true, NoDigest: true,
		Call: refillCall(false),
		OnStack: func() error {
			return errors.Join(stackRows().Refill([]int32{7, 8}), stackRows().Refill([]int32{4, 5, 6}))
		},
	})
	_ = kit.Register(kit.Case{Function: "Rows.RefillAxes", NonTemporal: true, NoDigest: true,
		Call: refillCall(true),
		OnStack: func() error {
			return errors.Join(stackRows().RefillAxes([]int32{7, 8}), stackRows().RefillAxes([]int32{4, 5, 6}))
		},
	})

	// Angles are checked where they are used.
	_ = kit.Register(kit.Case{Function: "Rotary.Config", NeverFails: true, NoDigest: true, Call: func(a *kit.Arguments) kit.Call {
		r := rotaryOf(a)
		return kit.Call{Allocates: kit.Constructed, Run: func() error {
			want := posenc.RotaryConfig{}
			if cfg := r.Config(); !r.zero {
				want = kit.MustRotary(cfg).Config()
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
	_ = neverFails("Rotary.Axes", nil, func(a *kit.Arguments) func() {
		r := rotaryFor(a, true)
		return func() {
			if axes := r.Axes(); r.zero && axes > 0 || !r.zero && axes != r.axes {
				panic("another number of axes")
			}
		}
	})
	_ = neverFails("Rotary.Unrotated", nil, func(a *kit.Arguments) func() {
		r, tokens := rotaryOf(a), a.Number(0, 30)
		return func() { r.Unrotated(tokens) }
	})
	_ = neverFails("Rotary.At", nil, func(a *kit.Arguments) func() {
		r, positions := rotaryOf(a), a.Positions(a.Tokens())
		return func() { r.At(positions) }
	})
	_ = neverFails("Rotary.AtAxes", nil, func(a *kit.Arguments) func() {
		r, positions := rotaryOf(a), a.Positions(a.Tokens())
		return func() { r.AtAxes(positions) }
	})
	_ = neverFails("Rotary.AtFractionalAxes", nil, func(a *kit.Arguments) func() {
		r, positions := rotaryOf(a), kit.Slice[float32](a, a.Tokens())
		return func() { r.AtFractionalAxes(positions) }
	})
	_ = neverFails("Rotary.AtFractional", atFractionalDigests, func(a *kit.Arguments) func() {
		r, positions := rotaryOf(a), kit.Slice[float32](a, a.Tokens())
		return func() { r.AtFractional(positions) }
	})
	_ = neverFails("Rows.At", nil, func(a *kit.Arguments) func() {
		rows, ids := rowsOfAnyKind(a), a.Positions(a.Tokens())
		return func() { rows.At(ids) }
	})
	_ = neverFails("Rows.AtSome", atSomeDigests, func(a *kit.Arguments) func() {
		rows, ids := rowsOfAnyKind(a), a.Positions(a.Tokens())
		return func() { rows.AtSome(ids) }
	})
	_ = neverFails("Rows.All", nil, func(a *kit.Arguments) func() { rows := rowsOfAnyKind(a); return func() { rows.All() } })
	_ = neverFails("Rows.Len", nil, func(a *kit.Arguments) func() { rows := rowsOfAnyKind(a); return func() { rows.Len() } })
)

func rowsCall(onAxes bool) func(a *kit.Arguments) kit.Call {
	return func(a *kit.Arguments) kit.Call {
		r := rotaryFor(a, onAxes)
		positions := a.Positions(r.axes * a.Tokens())
		return kit.Call{Allocates: kit.Constructed,
			Right: func() bool { return takes(&r, positions) },
			Run: func() error {
				rows, err := r.rows(positions)
				if err == nil && rows.Len() != len(positions)/r.axes {
					panic("another number of rows")
				}
				return kit.Made(rows, err)
			},
		}
	}
}

func refillCall(onAxes bool) func(a *kit.Arguments) kit.Call {
	return func(a *kit.Arguments) kit.Call {
		r := rotaryFor(a, onAxes)
		before, positions := a.Positions(r.axes*a.Tokens()), a.Positions(r.axes*a.Tokens())
		rows, err := r.rows(before)
		if err != nil {
			rows = []*posenc.Rows{nil, new(posenc.Rows)}[a.Below(2)]
		}
		refill := rows.Refill
		if onAxes {
			refill = rows.RefillAxes
		}
		dim, tokens := r.cfg.HeadDim, len(positions)/r.axes
		var rotated []float32
		if !a.Any() {
			rotated = kit.Output[float32](a, tokens*dim)
		}
		return kit.Call{Allocates: kit.Constructed,
			Right: func() bool { return err == nil && takes(&r, positions) },
			Run: func() error {
				err := refill(positions)
				if err == nil {
					copy(rotated, rotatedOnes(rows.All(), tokens, dim))
				}
				return err
			},
			Want: func() { copy(rotated, rotatedOnes(r.at(positions), tokens, dim)) },
		}
	}
}

// neverFails registers the case of a method that returns no error.
func neverFails(function string, digests func(kit.AddDigest), call func(a *kit.Arguments) func()) struct{} {
	return kit.Register(kit.Case{Function: function, NeverFails: true, Digests: digests, NoDigest: digests == nil, Call: func(a *kit.Arguments) kit.Call {
		run := call(a)
		return kit.Call{Run: func() error { run(); return nil }}
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

func rowsOfAnyKind(a *kit.Arguments) *posenc.Rows {
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

func newRowsCall[C posenc.Element](a *kit.Arguments) kit.Call {
	cfg, t := tableOf[C](a, false)
	return kit.Call{Allocates: kit.Constructed, Run: func() error { return kit.Made(posenc.NewRows(cfg, t)) }}
}

func digestNewRotary(d *kit.Digest) {
	for _, rounding := range []frequency.Rounding{frequency.Exact, frequency.Float32} {
		for _, base := range []float64{0, 2, 500000, 1e6} {
			r := kit.MustRotary(posenc.RotaryConfig{HeadDim: 40, RotaryDim: 24, Layout: posenc.HalfSplit, Base: base, Rounding: rounding})
			cos, sin := make([]float32, 4*12), make([]float32, 4*12)
			d.Must(r.CosSin(cos, sin, []int32{1, 2, 4097, math.MaxInt32}))
			d.Add(cos, sin)
		}
	}
}

// digestTable rotates by tables of half and of full width, by their rows in order and by
// others.
func digestTable[T, C posenc.Element](d *kit.Digest) {
	for layout := range digestLayouts {
		for i, width := range []int{1, 2} {
			const count, tokens = 7, 7
			cfg := digestGeometry(d, allLayouts[layout], 20)
			stride := width*20 + 5*d.Below(2)
			table := posenc.Table[C]{Cos: kit.DigestNumbers[C](d, count*stride), Sin: kit.DigestNumbers[C](d, count*stride), Stride: stride, FullWidth: width == 2}
			rows, err := posenc.NewRows(posenc.RowsConfig{HeadDim: cfg.HeadDim, RotaryDim: cfg.RotaryDim, Offset: cfg.Offset, Layout: cfg.Layout}, table)
			d.Must(err)
			for j, angles := range []posenc.Angles{rows.All(), rows.At(d.Indices(tokens, count))} {
				for _, rotate := range []func(posenc.Angles, ...posenc.View[T]) error{posenc.Rotate[T], posenc.RotateInverse[T]} {
					x := kit.DigestViewOf(d, kit.DigestElements[T], layout+i+j, tokens, 2, cfg.HeadDim)
					d.Must(rotate(angles, x.View))
					d.Add(x.Memory)
				}
			}
		}
	}
}

func atSomeDigests(add kit.AddDigest) {
	add.Types("Rows.AtSome", digestSome[float32], digestSome[posenc.Float16], digestSome[posenc.BFloat16])
	add.Types("Rows.AtSome/heads", digestHeads[float32], digestHeads[posenc.Float16], digestHeads[posenc.BFloat16])
}

func atFractionalDigests(add kit.AddDigest) {
	for rounding, name := range digestRoundings {
		add("Rotary.AtFractional/angles="+name, func(d *kit.Digest) {
			for _, tokens := range []int{1, 40} {
				cfg := digestConfig(d, posenc.Interleaved, frequency.Rounding(rounding), 9)
				digestIntoAndInPlace[float32](d, kit.MustRotary(cfg).AtFractional(kit.DigestNumbers[float32](d, tokens)), 1, tokens, 2, cfg.HeadDim)
			}
		})
	}
}

// digestSome rotates some of the tokens.
func digestSome[T posenc.Element](d *kit.Digest) {
	for layout := range digestLayouts {
		const tokens = 20
		cfg := digestConfig(d, allLayouts[layout], frequency.Rounding(layout%2), 9)
		rows, err := kit.MustRotary(cfg).Rows(d.Positions(tokens))
		d.Must(err)
		digestIntoAndInPlace[T](d, rows.AtSome(append([]int32{-1, -1}, d.Indices(tokens, tokens)...)), layout, tokens+2, 2, cfg.HeadDim)
	}
}

// digestHeads rotates each head by entries of its own, of half and of full width.
func digestHeads[T posenc.Element](d *kit.Digest) {
	for layout := range digestLayouts {
		for width := range 2 {
			const rows, heads, pairs = 7, 3, 5
			cfg := digestGeometry(d, allLayouts[layout], pairs)
			n := rows * heads * pairs * (1 + width)
			r, err := posenc.NewRows(posenc.RowsConfig{HeadDim: cfg.HeadDim, RotaryDim: cfg.RotaryDim, Offset: cfg.Offset, Layout: cfg.Layout, Heads: heads},
				posenc.Table[float32]{Cos: kit.DigestNumbers[float32](d, n), Sin: kit.DigestNumbers[float32](d, n), FullWidth: width == 1})
			d.Must(err)
			digestIntoAndInPlace[T](d, r.AtSome(append([]int32{3, -1}, d.Indices(9, rows)...)), layout, 11, heads, cfg.HeadDim)
		}
	}
}

func digestIntoAndInPlace[T posenc.Element](d *kit.Digest, angles posenc.Angles, shape, tokens, heads, dim int) {
	x := kit.DigestViewOf(d, kit.DigestElements[T], shape, tokens, heads, dim)
	y := posenc.View[float32]{Data: make([]float32, tokens*heads*dim), Heads: heads}
	d.Must(posenc.RotateInto(angles, y, nil, x.View))
	d.Must(posenc.Rotate(angles, x.View))
	d.Must(posenc.RotateInverse(angles, x.View))
	d.Add(x.Memory)
	d.Add(y.Data)
}

func digestRows[T posenc.Element](d *kit.Digest) {
	for layout := range digestLayouts {
		const tokens = 20
		cfg := digestConfig(d, allLayouts[layout], frequency.Rounding(layout%2), 33)
		rows, err := kit.MustRotary(cfg).Rows(d.Positions(tokens))
		d.Must(err)
		for i, angles := range []posenc.Angles{rows.All(), rows.At(d.Indices(tokens, tokens))} {
			x := kit.DigestViewOf(d, kit.DigestElements[T], layout+i, tokens, 2, cfg.HeadDim)
			d.Must(posenc.Rotate(angles, x.View))
			d.Add(x.Memory)
		}
	}
}

// stackRows are rows to refill, of up to three tokens.
var stackRows = sync.OnceValue(func() *posenc.Rows { return kit.Must(stackRotary().Rows(make([]int32, 3))) })
