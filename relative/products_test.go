package relative_test

import (
	"errors"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/relative"
)

// productsHold reports whether data of length elements has the rows, and, where they are written, no two
// share an element. Where they do, apart is false.
func productsHold(m matrices, length int) (hold, apart bool) {
	touched := map[int]bool{}
	apart = true
	for h := range m.heads {
		for r := range m.rows {
			for c := range m.columns {
				at := m.at(h, r, c)
				if at >= length {
					return false, apart
				}
				apart = apart && !touched[at]
				touched[at] = true
			}
		}
	}
	return true, apart
}

// productsAllowed is the documentation of Products.
func productsAllowed(p relative.Products, heads, rows, columns int, written bool) bool {
	of := func(heads, rows int) (hold, apart bool) {
		return productsHold(matricesOfProducts(&p, heads, rows, columns), len(p.Data))
	}
	hold, apart := of(heads, rows)
	if !hold || written && !apart || p.Rows != 0 && p.Rows != rows {
		return false
	}
	switch {
	case p.Rows != 0:
		return true
	case p.HeadStride == 0 && p.RowStride == 0:
		return len(p.Data) == heads*rows*columns
	case p.HeadStride == 0 && rows > 0: // heads side by side: any further row
		hold, _ := productsHold(matrices{1, heads*rows + 1, columns, 0, p.RowStride}, len(p.Data))
		return !hold
	}
	moreRows, rowsApart := of(heads, rows+1)
	moreHeads, headsApart := of(heads+1, rows)
	return !(moreRows && (rowsApart || !apart)) && !(rows > 0 && moreHeads && (headsApart || !apart))
}

// Products are right exactly where the documentation says so: they have no room for a further row or head, or
// Rows says how many rows there are.
func TestProductsRoom(t *testing.T) {
	r := kit.NewRand(27)
	memory := make([]float32, 400)
	scores := make([]float32, 200)
	right, wrong := 0, 0
	for range kit.Rounds(20000) {
		heads, rows, maxDistance := 1+r.IntN(3), r.IntN(4), r.IntN(2)
		columns := 2*maxDistance + 1
		p := relative.Products{Rows: []int{0, 0, rows, r.IntN(4)}[r.IntN(4)]}
		if r.IntN(3) > 0 {
			p.RowStride = 1 + r.IntN(3*columns)
		}
		if r.IntN(3) > 0 {
			p.HeadStride = 1 + r.IntN(8*columns)
		}
		if m := matricesOfProducts(&p, heads, rows, columns); rows > 0 {
			p.Data = memory[:m.at(heads-1, rows-1, columns)]
		}
		if r.IntN(2) == 0 {
			p.Data = memory[:max(0, len(p.Data)+r.IntN(20)-3)]
		}
		s := relative.Scores{Data: scores[:heads*rows*2], Heads: heads, Queries: rows, Keys: 2}
		for written, err := range map[bool]error{false: relative.AddShaw(s, p, maxDistance), true: relative.SumShaw(p, s, maxDistance)} {
			want := productsAllowed(p, heads, rows, columns, written)
			if want {
				right++
			} else {
				wrong++
			}
			length := len(p.Data)
			if (err == nil) != want || !want && !errors.Is(err, posenc.ErrLength) && !errors.Is(err, posenc.ErrOverlap) {
				p.Data = nil
				t.Fatalf("%d heads of %d rows of %d columns, %+v in %d elements, written %t: right %t, error %v", heads, rows, columns, p, length, written, want, err)
			}
		}
	}
	if right < 1000 || wrong < 1000 {
		t.Errorf("%d products are right and %d wrong: the test is one-sided", right, wrong)
	}
}
