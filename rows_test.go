package posenc_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// randomTable returns a table of so many rows: cosines and sines apart, with
// gaps, or [cos|sin] in one slice. The entries of both halves of a row of full
// width are equal where same says so.
func randomTable[C posenc.Element](r *rand.Rand, rows, pairs int, full bool, out posenc.Layout, same bool) posenc.Table[C] {
	width := pairs
	if full {
		width *= 2
	}
	t := posenc.Table[C]{FullWidth: full}
	reach := func(stride int) int {
		if rows == 0 {
			return 0
		}
		return (rows-1)*stride + width
	}
	switch r.IntN(3) {
	case 0:
		t.Cos, t.Sin = testkit.RandomElements[C](r, rows*width), testkit.RandomElements[C](r, rows*width)
	case 1:
		t.Stride = width + r.IntN(5)
		t.Cos, t.Sin = testkit.RandomElements[C](r, reach(t.Stride)), testkit.RandomElements[C](r, reach(t.Stride))
	case 2:
		t.Stride = 2 * width
		both := testkit.RandomElements[C](r, rows*t.Stride)
		t.Cos, t.Sin = both, both[min(width, len(both)):]
	}
	if full && same {
		stride := max(t.Stride, width)
		for row := range rows {
			for i := range pairs {
				a, b := testkit.PairAt(out, row*stride, i, pairs)
				t.Cos[b], t.Sin[b] = t.Cos[a], t.Sin[a]
			}
		}
	}
	return t
}

// rowsOf returns the rows of a table that the tokens take, for plain.
func rowsOf[C posenc.Element](p plain, t posenc.Table[C], ids []int32) plain {
	pairs := p.rotaryDim / 2
	stride := t.Stride
	if stride == 0 {
		stride = pairs
		if t.FullWidth {
			stride *= 2
		}
	}
	for i := range p.cos {
		p.cos[i], p.sin[i] = make([]float32, len(ids)*pairs), make([]float32, len(ids)*pairs)
	}
	for token, id := range ids {
		for i := range pairs {
			at := [2]int{int(id)*stride + i, int(id)*stride + i}
			if t.FullWidth {
				at[0], at[1] = testkit.PairAt(p.out, int(id)*stride, i, pairs)
			}
			for k := range at {
				p.cos[k][token*pairs+i], p.sin[k][token*pairs+i] = testkit.Widen(t.Cos[at[k]]), testkit.Widen(t.Sin[at[k]])
			}
		}
	}
	return p
}

// randomIDs returns n numbers of rows, in runs, repeated and anyhow; nil, where
// there are as many tokens as rows.
func randomIDs(r *rand.Rand, n, rows int) []int32 {
	ids := make([]int32, n)
	for t := 0; t < n; {
		start, step := r.IntN(rows), r.IntN(3)-1
		for end := min(n, t+1+r.IntN(20)); t < end; t++ {
			ids[t] = int32(start)
			start = min(max(start+step, 0), rows-1)
		}
	}
	return ids
}

func TestTable(t *testing.T) {
	testkit.EachType(t, testTable[float32, float32], testTable[posenc.Float16, posenc.Float16], testTable[posenc.BFloat16, posenc.BFloat16])
	t.Run("type=float32/table=float16", testTable[float32, posenc.Float16])
	t.Run("type=bfloat16/table=float32", testTable[posenc.BFloat16, float32])
}

// Tables of any shape against the plain loop.
func testTable[T, C posenc.Element](t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(80)
		for range testkit.Rounds(2) {
			for _, layout := range allLayouts {
				for _, pairs := range testkit.Lengths {
					for _, full := range []bool{false, true} {
						if testing.Short() && r.IntN(4) != 0 {
							continue
						}
						cfg := randomGeometry(r, layout, pairs)
						cfg.InvFreq = nil
						p := plainOf(cfg)
						rows, equal := testkit.OneOf(r, []int{1, 2, 20, 40}), r.IntN(2) == 0
						table := randomTable[C](r, rows, pairs, full, p.out, equal)
						rotary, err := posenc.NewTableRotary(cfg, table)
						if err != nil {
							t.Fatal(err)
						}
						tokens := testkit.OneOf(r, []int{1, 1, 2, 16, 17, 36})
						ids := randomIDs(r, tokens, rows)
						given := ids
						if r.IntN(4) == 0 {
							tokens, ids, given = rows, make([]int32, rows), nil
							testkit.CountFrom(ids, 0, 1)
						}
						p = rowsOf(p, table, ids)
						name := fmt.Sprintf("layout %d, %d pairs, %d rows with stride %d, full width: %t, equal halves: %t, ids %v", layout, pairs, rows, table.Stride, full, equal, given)
						if r.IntN(3) == 0 {
							checkPlain(t, r, name+", inverse", rotary, given, tokens, p.inverse(), posenc.RotateInverse[T])
						} else {
							checkPlain(t, r, name, rotary, given, tokens, p, posenc.Rotate[T])
						}
					}
				}
			}
		}
	})
}

// Rows wider than the scratch memory go in columns.
func TestTableWide(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		testTableWide[float32](t)
		testTableWide[posenc.BFloat16](t)
	})
}

func testTableWide[C posenc.Element](t *testing.T) {
	r := testkit.NewRand(81)
	for _, layout := range testkit.Layouts {
		for _, pairs := range []int{1024, 1025, 2100} {
			cfg := posenc.RotaryConfig{HeadDim: 2 * pairs, Layout: layout}
			table := randomTable[C](r, 5, pairs, false, layout, false)
			rotary, err := posenc.NewTableRotary(cfg, table)
			if err != nil {
				t.Fatal(err)
			}
			for _, ids := range [][]int32{{0, 1, 2, 3, 4}, {4}, {3, 3, 1}} {
				p := rowsOf(plainOf(cfg), table, ids)
				name := fmt.Sprintf("%d pairs, ids %v", pairs, ids)
				checkPlain(t, r, name, rotary, ids, len(ids), p, posenc.Rotate[float32])
				checkPlain(t, r, name+", inverse", rotary, ids, len(ids), p.inverse(), posenc.RotateInverse[float32])
			}
		}
	}
}

// transformers 5.23.0, apply_rotary_pos_emb of Llama, with a table whose halves
// differ and numbers with which float32 is exact.
func TestTableUnequalHalves(t *testing.T) {
	rotary, err := posenc.NewTableRotary(posenc.RotaryConfig{HeadDim: 4}, posenc.Table[float32]{Cos: []float32{0.5, -0.25, 2, 3}, Sin: []float32{2, 0.125, -1, 0.5}, FullWidth: true})
	if err != nil {
		t.Fatal(err)
	}
	x := []float32{1, 2, 3, 4}
	if err := posenc.Rotate(rotary.All(), posenc.View[float32]{Data: x, Heads: 1}); err != nil {
		t.Fatal(err)
	}
	if want := []float32{-5.5, -1, 5, 13}; !slices.Equal(x, want) {
		t.Errorf("got %v, want %v", x, want)
	}
}

// Halves that differ in the sign of a zero alone differ: x2*c2 has its sign.
func TestTableSignOfZero(t *testing.T) {
	negative := testkit.OfBits[float32](1 << 31)
	rotary, err := posenc.NewTableRotary(posenc.RotaryConfig{HeadDim: 2}, posenc.Table[float32]{Cos: []float32{0, negative}, Sin: []float32{0, negative}, FullWidth: true})
	if err != nil {
		t.Fatal(err)
	}
	x := []float32{1, 1}
	if err := posenc.Rotate(rotary.All(), posenc.View[float32]{Data: x, Heads: 1}); err != nil {
		t.Fatal(err)
	}
	if testkit.BitsOf(x[0]) != 0 || testkit.BitsOf(x[1]) != 1<<31 { // 0 - 0, -0 + -0
		t.Errorf("got %v, want [0 -0]", x)
	}
}

// A table is read, not copied.
func TestTableIsRead(t *testing.T) {
	cos, sin := []float32{1, 1}, []float32{0, 0}
	rotary, err := posenc.NewTableRotary(posenc.RotaryConfig{HeadDim: 2}, posenc.Table[float32]{Cos: cos, Sin: sin})
	if err != nil {
		t.Fatal(err)
	}
	cos[1], sin[1] = 0, 1
	x := []float32{3, 4, 3, 4}
	if err := posenc.Rotate(rotary.All(), posenc.View[float32]{Data: x, Heads: 1}); err != nil {
		t.Fatal(err)
	}
	if want := []float32{3, 4, -4, 3}; !slices.Equal(x, want) {
		t.Errorf("got %v, want %v", x, want)
	}
}

// Tables without rows are tables.
func TestTableEmpty(t *testing.T) {
	for _, table := range []posenc.Table[float32]{{}, {FullWidth: true}, {Stride: 9}, {Cos: make([]float32, 3), Sin: make([]float32, 2), Stride: 4}} {
		rotary, err := posenc.NewTableRotary(posenc.RotaryConfig{HeadDim: 8}, table)
		if err != nil {
			t.Fatal(err)
		}
		var x []float32
		if err := errors.Join(posenc.Rotate(rotary.All(), V{Heads: 1}), posenc.Rotate(rotary.At([]int32{}), V{Data: x, Heads: 1})); err != nil {
			t.Error(err)
		}
		if err := posenc.Rotate(rotary.At([]int32{0}), V{Data: make([]float32, 8), Heads: 1}); !errors.Is(err, posenc.ErrPosition) {
			t.Errorf("row 0 of an empty table: %v", err)
		}
	}
}

func TestTableErrors(t *testing.T) {
	data := make([]float32, 256)
	cfg := posenc.RotaryConfig{HeadDim: 8}
	table := posenc.Table[float32]{Cos: make([]float32, 12), Sin: make([]float32, 12)} // 3 rows
	rotary, err := posenc.NewTableRotary(cfg, table)
	if err != nil {
		t.Fatal(err)
	}
	full, err := posenc.NewTableRotary(cfg, posenc.Table[float32]{Cos: make([]float32, 24), Sin: make([]float32, 24), FullWidth: true})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := testkit.MustRotary(t, cfg).Tabulate([]int32{5, 6, 7})
	if err != nil {
		t.Fatal(err)
	}
	x := func(tokens int) V { return V{Data: data[:16*tokens], Heads: 2} }
	var calls []testkit.Wrong
	for name, r := range map[string]*posenc.Rotary{"table": rotary, "full width": full, "rows": rows} {
		calls = append(calls,
			testkit.Wrong{name + ", row beyond", func() error { return posenc.Rotate(r.At([]int32{0, 2, 3}), x(3)) }, posenc.ErrPosition, []string{"posenc.Rotate: positions[2] is 3", "3 rows"}},
			testkit.Wrong{name + ", row far beyond", func() error { return posenc.Rotate(r.At([]int32{1 << 30}), x(1)) }, posenc.ErrPosition, []string{"positions[0] is 1073741824"}},
			testkit.Wrong{name + ", negative row", func() error { return posenc.RotateInverse(r.At([]int32{2, -1}), x(2)) }, posenc.ErrPosition, []string{"posenc.RotateInverse: positions[1] is -1"}},
			testkit.Wrong{name + ", all rows", func() error { return posenc.Rotate(r.All(), x(2)) }, posenc.ErrLength, []string{"xs[0].Data is 32 elements", "48 for 3 tokens"}},
			testkit.Wrong{name + ", no tokens", func() error { return posenc.Rotate(r.At([]int32{}), x(1)) }, posenc.ErrLength, []string{"xs[0].Data is 16 elements, want 0"}},
			testkit.Wrong{name + ", tables", func() error { return r.CosSin(data[:12], data[12:24], []int32{0, 1, 2}) }, posenc.ErrConfig, []string{"posenc.Rotary.CosSin: r is a Rotary that holds a table"}},
			testkit.Wrong{name + ", tables of no row", func() error { return r.CosSin(data[:4], data[12:16], []int32{7}) }, posenc.ErrConfig, []string{"posenc.Rotary.CosSin: r is"}},
			testkit.Wrong{name + ", tabulate", func() error { _, err := r.Tabulate([]int32{1}); return err }, posenc.ErrConfig, []string{"posenc.Rotary.Tabulate: r is a Rotary that holds a table"}},
		)
	}
	fast := testkit.MustRotary(t, posenc.RotaryConfig{HeadDim: 4, InvFreq: []float64{1, 0x1p40}})
	fastRows, err := fast.Tabulate(nil)
	if err != nil {
		t.Fatal(err)
	}
	calls = append(calls,
		testkit.Wrong{"extend a table", func() error { _, err := rotary.Extend([]int32{1}); return err }, posenc.ErrConfig, []string{"posenc.Rotary.Extend: r is without rows of its own"}},
		testkit.Wrong{"extend a Rotary", func() error { _, err := fast.Extend([]int32{1}); return err }, posenc.ErrConfig, []string{"posenc.Rotary.Extend: r is"}},
		testkit.Wrong{"extend nil", func() error { _, err := (*posenc.Rotary)(nil).Extend([]int32{1}); return err }, posenc.ErrConfig, []string{"posenc.Rotary.Extend: r is"}},
		testkit.Wrong{"tabulate nil", func() error { _, err := (*posenc.Rotary)(nil).Tabulate([]int32{1}); return err }, posenc.ErrConfig, []string{"posenc.Rotary.Tabulate: r is nil or zero"}},
		testkit.Wrong{"tabulate zero", func() error { _, err := new(posenc.Rotary).Tabulate([]int32{1}); return err }, posenc.ErrConfig, []string{"posenc.Rotary.Tabulate: r is nil or zero"}},
		testkit.Wrong{"tabulate a position", func() error { _, err := fast.Tabulate([]int32{1, 1024}); return err }, posenc.ErrPosition, []string{"posenc.Rotary.Tabulate: positions[1] is 1024"}},
		testkit.Wrong{"extend by a position", func() error { _, err := fastRows.Extend([]int32{1, 2, -1024}); return err }, posenc.ErrPosition, []string{"posenc.Rotary.Extend: positions[2] is -1024"}},
	)
	shared := make([]float32, 96)
	for name, table := range map[string]posenc.Table[float32]{
		"half width": {Cos: shared[16:40], Sin: shared[48:72]},
		"full width": {Cos: shared[16:40], Sin: shared[48:72], FullWidth: true},
		"[cos|sin]":  {Cos: shared[16:72], Sin: shared[20:72], Stride: 8},
	} {
		r, err := posenc.NewTableRotary(cfg, table)
		if err != nil {
			t.Fatal(err)
		}
		over := V{Data: shared[64:80], Heads: 2}
		const says = " is sharing memory with the table of r"
		calls = append(calls,
			testkit.Wrong{name + ", rotate", func() error { return posenc.Rotate(r.At([]int32{0}), V{Data: data[:8], Heads: 1}, over) }, posenc.ErrOverlap, []string{"posenc.Rotate: xs[1]" + says}},
			testkit.Wrong{name + ", rotate before", func() error { return posenc.RotateInverse(r.At([]int32{0}), V{Data: shared[9:17], Heads: 1}) }, posenc.ErrOverlap, []string{"posenc.RotateInverse: xs[0]" + says}},
			testkit.Wrong{name + ", fuse", func() error { return posenc.RotateFused(r.At([]int32{0}), posenc.FusedView[float32]{View: over}) }, posenc.ErrOverlap, []string{"posenc.RotateFused: xs[0]" + says}},
		)
		if !table.FullWidth {
			calls = append(calls, testkit.Wrong{name + ", into", func() error { return posenc.RotateInto(r.At([]int32{0}), over, nil, x(1)) }, posenc.ErrOverlap, []string{"posenc.RotateInto: dst" + says}})
		}
		for _, free := range [][]float32{shared[:16], shared[72:88]} {
			if err := posenc.Rotate(r.At([]int32{0}), V{Data: free, Heads: 2}); err != nil {
				t.Errorf("%s: next to the table: %v", name, err)
			}
		}
	}
	for name, tt := range map[string]struct {
		cfg   posenc.RotaryConfig
		table posenc.Table[float32]
		kind  error
		says  string
	}{
		"base":                 {posenc.RotaryConfig{HeadDim: 8, Base: 10000}, table, posenc.ErrConfig, "cfg.Base is 10000, want 0"},
		"frequencies":          {posenc.RotaryConfig{HeadDim: 8, InvFreq: make([]float64, 4)}, table, posenc.ErrConfig, "cfg.InvFreq is 4 elements, want nil"},
		"scaling":              {posenc.RotaryConfig{HeadDim: 8, Scaling: 1}, table, posenc.ErrConfig, "cfg.Scaling is 1, want 0"},
		"angles":               {posenc.RotaryConfig{HeadDim: 8, Angles: posenc.Float32Angles}, table, posenc.ErrConfig, "cfg.Angles is 1, want 0"},
		"axes":                 {posenc.RotaryConfig{HeadDim: 8, Axes: []uint8{0, 0, 0, 0}}, table, posenc.ErrConfig, "cfg.Axes is 4 elements, want nil"},
		"no head":              {posenc.RotaryConfig{}, table, posenc.ErrConfig, "cfg.HeadDim is 0"},
		"odd":                  {posenc.RotaryConfig{HeadDim: 7}, table, posenc.ErrConfig, "cfg.RotaryDim is 7"},
		"offset":               {posenc.RotaryConfig{HeadDim: 8, Offset: 1}, table, posenc.ErrConfig, "cfg.Offset is 1"},
		"layout":               {posenc.RotaryConfig{HeadDim: 8, Layout: 4}, table, posenc.ErrConfig, "cfg.Layout is 4"},
		"wide":                 {posenc.RotaryConfig{HeadDim: 2050}, posenc.Table[float32]{FullWidth: true}, posenc.ErrConfig, "cfg.RotaryDim is 2050, want at most 2048 with a table of full width"},
		"negative stride":      {cfg, posenc.Table[float32]{Cos: data, Sin: data, Stride: -4}, posenc.ErrConfig, "t.Stride is -4, want 0 or at least the 4 entries"},
		"short stride":         {cfg, posenc.Table[float32]{Cos: data, Sin: data, Stride: 3}, posenc.ErrConfig, "t.Stride is 3"},
		"short stride, full":   {cfg, posenc.Table[float32]{Cos: data, Sin: data, Stride: 7, FullWidth: true}, posenc.ErrConfig, "t.Stride is 7, want 0 or at least the 8 entries"},
		"part of a row":        {cfg, posenc.Table[float32]{Cos: data[:9], Sin: data[:9]}, posenc.ErrLength, "t.Cos is 9 elements, want a multiple of the 4 entries"},
		"part of a row, full":  {cfg, posenc.Table[float32]{Cos: data[:12], Sin: data[:12], FullWidth: true}, posenc.ErrLength, "t.Cos is 12 elements, want a multiple of the 8 entries"},
		"fewer sines":          {cfg, posenc.Table[float32]{Cos: data[:12], Sin: data[:8]}, posenc.ErrLength, "t.Sin is 8 elements"},
		"more sines":           {cfg, posenc.Table[float32]{Cos: data[:12], Sin: data[:16]}, posenc.ErrLength, "t.Sin is 16 elements"},
		"part of a sine row":   {cfg, posenc.Table[float32]{Cos: data[:12], Sin: data[:13]}, posenc.ErrLength, "t.Sin is 13 elements"},
		"no cosines":           {cfg, posenc.Table[float32]{Sin: data[:12]}, posenc.ErrLength, "t.Sin is 12 elements"},
		"no sines":             {cfg, posenc.Table[float32]{Cos: data[:12]}, posenc.ErrLength, "t.Sin is 0 elements"},
		"fewer sines, strided": {cfg, posenc.Table[float32]{Cos: data[:28], Sin: data[:27], Stride: 8}, posenc.ErrLength, "t.Sin is 27 elements"},
		"no cosines, strided":  {cfg, posenc.Table[float32]{Cos: data[:3], Sin: data[:12], Stride: 8}, posenc.ErrLength, "t.Sin is 12 elements"},
	} {
		calls = append(calls, testkit.Wrong{name, func() error { _, err := posenc.NewTableRotary(tt.cfg, tt.table); return err }, tt.kind, []string{"posenc.NewTableRotary: " + tt.says}})
	}
	testkit.CheckWrong(t, calls, data, shared)
}

func TestTabulate(t *testing.T) {
	testkit.EachType(t, testTabulate[float32], testTabulate[posenc.Float16], testTabulate[posenc.BFloat16])
}

// A Rotary that holds rows rotates as the one that it was made from, whatever
// its rows were added by.
func testTabulate[T posenc.Element](t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := testkit.NewRand(82)
		for range testkit.Rounds(150) {
			maps := axisMaps(t, r)
			m := maps[r.IntN(len(maps)-1)]
			cfg := randomGeometry(r, testkit.OneOf(r, allLayouts), len(m.axes))
			cfg.Angles = posenc.AngleRounding(r.IntN(2))
			axes := 1
			if r.IntN(2) == 0 {
				cfg.Axes, axes = m.axes, int(slices.Max(m.axes))+1
			}
			if r.IntN(2) == 0 {
				cfg.Scaling = 1.2079441541679836
			}
			rotary := testkit.MustRotary(t, cfg)
			rows := testkit.OneOf(r, []int{1, 2, 17, 40})
			positions := axisPositions(r, axes, rows)
			part := func(first, n int) (s []int32) {
				for a := range axes {
					s = append(s, positions[a*rows+first:][:n]...)
				}
				return s
			}
			first := r.IntN(rows + 1)
			tabulated, err := rotary.Tabulate(part(0, first))
			for first < rows && err == nil {
				n := min(r.IntN(6), rows-first)
				tabulated, err = tabulated.Extend(part(first, n))
				first += n
			}
			if err != nil {
				t.Fatal(err)
			}
			tokens := 1 + r.IntN(40)
			ids := randomIDs(r, tokens, rows)
			given := ids
			if r.IntN(4) == 0 {
				tokens, ids, given = rows, make([]int32, rows), nil
				testkit.CountFrom(ids, 0, 1)
			}
			direct := make([]int32, axes*tokens)
			for a := range axes {
				for i, id := range ids {
					direct[a*tokens+i] = positions[a*rows+int(id)]
				}
			}
			const heads = 2
			x := testkit.RandomElements[T](r, tokens*heads*cfg.HeadDim)
			for name, rotate := range map[string]func(*posenc.Rotary, []int32, ...posenc.View[T]) error{"Rotate": posenc.Rotate[T], "RotateInverse": posenc.RotateInverse[T]} {
				got, want := slices.Clone(x), slices.Clone(x)
				err := errors.Join(rotate(tabulated, given, posenc.View[T]{Data: got, Heads: heads}), rotate(rotary, direct, posenc.View[T]{Data: want, Heads: heads}))
				if err != nil {
					t.Fatal(err)
				}
				if !slices.EqualFunc(got, want, testkit.SameElement) {
					t.Fatalf("%s, %s, angles %d, layout %d, rows %v of %d: tabulated rows give other bits", name, m.name, cfg.Angles, cfg.Layout, given, rows)
				}
			}
		}
	})
}

// Extend shares every row that there is; what it was called on stays as it is,
// and two that extend the same do not disturb each other.
func TestExtendShares(t *testing.T) {
	rotary := testkit.MustRotary(t, posenc.RotaryConfig{HeadDim: 8})
	rows := func(r *posenc.Rotary) []*float32 {
		var list []*float32
		for i := range r.table.count {
			p := r.table.page(i)
			list = append(list, &p.cos.float32s((i - p.first) * p.cos.tokenStride)[0], &p.sin.float32s((i - p.first) * p.sin.tokenStride)[0])
		}
		return list
	}
	check := func(name string, r *posenc.Rotary, positions []int32) {
		t.Helper()
		x := slices.Repeat([]float32{1, 2, 3, 4, 5, 6, 7, 8}, len(positions))
		want := slices.Clone(x)
		if err := errors.Join(posenc.Rotate(r.All(), V{Data: x, Heads: 1}), posenc.Rotate(rotary.At(positions), V{Data: want, Heads: 1})); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !slices.Equal(x, want) {
			t.Errorf("%s: rows of %v are others", name, positions)
		}
	}
	tabulated, err := rotary.Tabulate([]int32{3, 1, 4})
	if err != nil {
		t.Fatal(err)
	}
	extend := func(r *posenc.Rotary, positions ...int32) *posenc.Rotary {
		t.Helper()
		before := rows(r)
		e, err := r.Extend(positions)
		if err != nil {
			t.Fatal(err)
		}
		after := rows(e)
		if len(after) != len(before)+2*len(positions) || !slices.Equal(after[:len(before)], before) || !slices.Equal(rows(r), before) {
			t.Errorf("rows moved when %v were added to %d rows", positions, len(before)/2)
		}
		return e
	}
	a := extend(tabulated, 1, 5)
	b := extend(tabulated, 9) // as a did
	c := extend(a, 2, 6)
	d := extend(a, 5, 3, 5)
	e := extend(c, slices.Repeat([]int32{8}, 40)...) // more than a page
	f := extend(e)
	for _, r := range []*posenc.Rotary{a, b, c, d, e, f} {
		for i, p := range rows(r) {
			if slices.Contains(rows(r)[:i], p) {
				t.Errorf("two rows of one Rotary share memory")
			}
		}
	}
	check("tabulated", tabulated, []int32{3, 1, 4})
	check("a", a, []int32{3, 1, 4, 1, 5})
	check("b", b, []int32{3, 1, 4, 9})
	check("c", c, []int32{3, 1, 4, 1, 5, 2, 6})
	check("d", d, []int32{3, 1, 4, 1, 5, 5, 3, 5})
	check("f", f, append([]int32{3, 1, 4, 1, 5, 2, 6}, slices.Repeat([]int32{8}, 40)...))
}

// Two Rotarys that go on from the same rows do not see the pages of each other.
func TestExtendForks(t *testing.T) {
	rotary := testkit.MustRotary(t, posenc.RotaryConfig{HeadDim: 2, InvFreq: []float64{1}})
	r, err := rotary.Tabulate(testkit.Sequence(3))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{16, 19, 38, 76, 152} { // a full page each
		var forks [2]*posenc.Rotary
		for i := range forks {
			positions := testkit.Sequence(n)
			for k := range positions {
				positions[k] += int32(1000 * (i + 1))
			}
			if forks[i], err = r.Extend(positions); err != nil {
				t.Fatal(err)
			}
		}
		for i, fork := range forks {
			x, want := []float32{1, 0}, []float32{1, 0}
			row, position := int32(fork.table.count-1), int32(1000*(i+1)+n-1)
			if err := errors.Join(posenc.Rotate(fork.At([]int32{row}), V{Data: x, Heads: 1}), posenc.Rotate(rotary.At([]int32{position}), V{Data: want, Heads: 1})); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(x, want) {
				t.Errorf("%d more rows: the last of fork %d is %v, want %v", n, i, x, want)
			}
		}
		r = forks[0]
	}
}

// Row after row, memory grows by doubling: few pages, and never much more of
// them than rows. From 16384 rows on, the pages stay as long.
func TestExtendGrows(t *testing.T) {
	rotary := testkit.MustRotary(t, posenc.RotaryConfig{HeadDim: 2, InvFreq: []float64{1}})
	r, err := rotary.Tabulate(nil)
	if err != nil {
		t.Fatal(err)
	}
	total := 100000
	if testing.Short() {
		total = 5000
	}
	for i := range total {
		if r, err = r.Extend([]int32{int32(i)}); err != nil {
			t.Fatal(err)
		}
		if i&(i+1) != 0 && i != total-1 {
			continue
		}
		capacity := 0
		for _, p := range r.table.pages {
			capacity += p.capacity
		}
		if rows := i + 1; capacity > max(16, min(2*rows, rows+16<<10)) || len(r.table.pages) > 13+rows>>14 {
			t.Fatalf("%d rows have %d pages for %d", rows, len(r.table.pages), capacity)
		}
	}
	x, want := make([]float32, 2*total), make([]float32, 2*total)
	positions := make([]int32, total)
	for i := range positions {
		x[2*i], want[2*i] = 1, 1
		positions[i] = int32(i)
	}
	if err := errors.Join(posenc.Rotate(r.All(), V{Data: x, Heads: 1}), posenc.Rotate(rotary.At(positions), V{Data: want, Heads: 1})); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(x, want) {
		t.Error("rows that were added one by one are others")
	}
	if testing.AllocsPerRun(100, func() { r, _ = r.Extend(positions[:1]) }) > 3 { // the Rotary, its table, sometimes a page
		t.Error("a row costs more than 3 allocations")
	}
}

// Many goroutines extend one Rotary, rotate by it and by what they made.
func TestExtendConcurrently(t *testing.T) {
	rotary := testkit.MustRotary(t, posenc.RotaryConfig{HeadDim: 16})
	first, err := rotary.Tabulate([]int32{7})
	if err != nil {
		t.Fatal(err)
	}
	if first, err = first.Extend([]int32{8}); err != nil { // a page with room
		t.Fatal(err)
	}
	var done sync.WaitGroup
	for g := range 8 {
		done.Go(func() {
			r, positions := first, []int32{7, 8}
			for i := range testkit.Rounds(60) {
				more := []int32{int32(100*g + i), int32(g)}
				var err error
				if r, err = r.Extend(more); err != nil {
					t.Error(err)
					return
				}
				positions = append(positions, more...)
				x := slices.Repeat([]float32{1}, 16*len(positions))
				y, want := slices.Clone(x[:32]), slices.Clone(x)
				err = errors.Join(posenc.Rotate(r.All(), V{Data: x, Heads: 1}), posenc.Rotate(first.All(), V{Data: y, Heads: 1}), posenc.Rotate(rotary.At(positions), V{Data: want, Heads: 1}))
				if err != nil || !slices.Equal(x, want) || !slices.Equal(y, want[:32]) {
					t.Errorf("goroutine %d, %d rows: rows are others, error %v", g, len(positions), err)
					return
				}
			}
		})
	}
	done.Wait()
}

// Tabulate keeps nothing of the positions and nothing of its rows is written
// later.
func TestTabulateEmpty(t *testing.T) {
	rotary := testkit.MustRotary(t, posenc.RotaryConfig{HeadDim: 8, Axes: []uint8{0, 1, 2, 0}})
	for _, positions := range [][]int32{nil, {}} {
		r, err := rotary.Tabulate(positions)
		if err != nil {
			t.Fatal(err)
		}
		if r, err = r.Extend(positions); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(posenc.Rotate(r.All(), V{Heads: 1}), posenc.Rotate(r.At([]int32{}), V{Heads: 1})); err != nil {
			t.Error(err)
		}
		if err := posenc.Rotate(r.At([]int32{0}), V{Data: make([]float32, 8), Heads: 1}); !errors.Is(err, posenc.ErrPosition) {
			t.Errorf("row 0 of none: %v", err)
		}
	}
}

// Where an int has 32 bits, the bytes of a table may be more than it can count.
func TestTabulateHuge(t *testing.T) {
	if math.MaxInt > math.MaxInt32 {
		t.Skip("NOT TESTED: here an int counts every table")
	}
	source := testkit.MustRotary(t, posenc.RotaryConfig{HeadDim: 1 << 16})
	empty, err := source.Tabulate(nil)
	if err != nil {
		t.Fatal(err)
	}
	positions := make([]int32, 1<<14)
	for name, tabulate := range map[string]func([]int32) (*posenc.Rotary, error){"Tabulate": source.Tabulate, "Extend": empty.Extend} {
		if _, err := tabulate(positions); !errors.Is(err, posenc.ErrLength) || !strings.Contains(err.Error(), "posenc.Rotary."+name+": positions is 16384 elements") {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}
