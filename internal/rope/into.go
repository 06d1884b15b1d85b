package rope

import (
	"github.com/go-posenc/posenc/internal/cossin"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/heads"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// RotateInto leaves the elements outside the rotated slice alone where y is x.
func (a *Angles) RotateInto(tokens, begin, end int, r *heads.Rotation, y *view.Operand, slots []int32, x *view.Operand) {
	var cos, sin [kernels.ChunkPairs + kernels.Line]float32
	pairs := r.RotaryDim / 2
	most := ChunkTokens(pairs)
	nonTemporal := y != x && r.WritesNonTemporal(y, end-begin)
	for first := begin; first < end; first += most {
		count := min(most, end-first)
		table := cossin.Table{Cos: kernels.LineAligned(cos[:]), Sin: kernels.LineAligned(sin[:]), Stride: pairs}
		a.Write(&table, tokens, first, count, r)
		for t := first; t < first+count; {
			at := heads.Slot(slots, t)
			if at < 0 {
				t++
				continue
			}
			n := heads.Together(y, x, slots, t, first+count-t)
			if nonTemporal {
				r.RotateNonTemporal(y, x, y.Token(at), x.Token(t), n, &table, t-first)
			} else {
				r.Rotate(y, x, y.Token(at), x.Token(t), n, &table, t-first)
				if y != x {
					r.CopyRest(y, x, y.Token(at), x.Token(t), n)
				}
			}
			t += n
		}
	}
	if nonTemporal {
		kernels.FenceStores(dispatch.Implementation())
	}
}

// RotateOneByOne goes head by head if each head has its own entries, and by runs of tokens that rotate
// and tokens that do not.
func (a *Angles) RotateOneByOne(tokens int, r *heads.Rotation, y *view.Operand, slots []int32, x *view.Operand) {
	if a.how == unrotated {
		heads.CopyHeads(tokens, r.HeadDim, y, slots, x)
		return
	}
	for h := range max(1, a.rows.heads) {
		rows := a.rows.ofHead(h)
		some := Angles{rows: &rows, how: a.how, of: a.of}
		to, from := *y, *x
		if a.rows.heads > 0 {
			to, from = y.From(h*y.HeadStride), x.From(h*x.HeadStride)
			to.Heads, from.Heads = 1, 1
		}
		target := &to
		if y == x {
			target = &from
		}
		for t := 0; t < tokens; {
			end := t + 1
			for a.how == bySomeIDs && end < tokens && (heads.Slot(a.of, end) < 0) == (heads.Slot(a.of, t) < 0) {
				end++
			}
			if a.how != bySomeIDs {
				end = tokens
			}
			switch {
			case heads.Slot(a.of, t) < 0:
				r.Leave(t, end, target, slots, &from)
			case rows.fullWidth:
				some.rotateFullWidth(t, end, r, target, slots, &from)
			default:
				some.RotateInto(tokens, t, end, r, target, slots, &from)
			}
			t = end
		}
	}
}

func (a *Angles) rotateFullWidth(begin, end int, r *heads.Rotation, y *view.Operand, slots []int32, x *view.Operand) {
	var full heads.FullWidthRow
	for t := begin; t < end; t++ {
		at := heads.Slot(slots, t)
		if at < 0 {
			continue
		}
		a.ReadFullWidth(&full, t, r.Sign)
		r.RotateFullWidth(y, x, y.Token(at), x.Token(t), &full)
		if y != x {
			r.CopyRest(y, x, y.Token(at), x.Token(t), 1)
		}
	}
}
