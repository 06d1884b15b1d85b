package posenc

import (
	"slices"

	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/cossin"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/heads"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// RotateInto rotates the heads of src into dst, for example a KV cache, in one pass. It
// writes what Rotate would make of src, rounded once to D. Elements outside the rotated
// slice are copied, and rounded if D has fewer bits.
//
// Token t goes to token slots[t] of dst, or to token t if slots is nil. A negative slot
// drops the token. If several tokens have the same slot, the last one stays. Elements of
// dst that belong to no slot do not change.
//
// dst has as many heads as src. Without slots, both views have the tokens of the call. With slots, dst
// may have room for more tokens, and its Tokens must be 0. It has room at least for the tokens up to the
// largest slot, and with SequenceStride for all tokens of that slot's sequence. dst must share no memory with src, slots or the slices of a. Errors wrap
// ErrConfig (a), ErrShape, ErrLength, ErrOverlap or ErrPosition. A slot for which dst has no
// room is ErrPosition, or ErrLength if dst has room for no token at all.
func RotateInto[D, S Element](a Angles, dst View[D], slots []int32, src View[S]) error {
	const function = "posenc.RotateInto"
	tokens, err := a.check(function)
	if err != nil {
		return err
	}
	h, scaling := a.heads()
	var r heads.Rotation
	r.Head, r.In, r.Out, r.Scaling, r.Sign = h, h.In, h.Out, scaling, 1
	if err := checkSlots(function, slots, tokens); err != nil {
		return err
	}
	if err := a.checkHeads(function, argument.Named("src.Heads"), src.Heads); err != nil {
		return err
	}
	var g view.Grid
	from, to := (*view.View[S])(&src), (*view.View[D])(&dst)
	if p := from.Grid(&g, tokens, r.HeadDim); p != view.None {
		return from.Error(p, function, "src", &g)
	}
	if dst.Heads != src.Heads {
		return argument.Error(ErrShape, function, "dst.Heads", dst.Heads, "%d as in src", src.Heads)
	}
	reach, err := checkCache(function, argument.Named("dst"), to, "slots", slots, tokens, r.HeadDim, 1)
	if err != nil {
		return err
	}
	y, x := operandOf(&dst, r.HeadDim), operandOf(&src, r.HeadDim)
	if tokens == 0 || reach == 0 {
		return nil
	}
	switch {
	case argument.Overlap(dst.Data, src.Data):
		return argument.Error(ErrOverlap, function, "dst", "sharing memory with src", "a view of other memory")
	case argument.Overlap(dst.Data, slots):
		return argument.Error(ErrOverlap, function, "dst", "sharing memory with slots", "a view of other memory")
	case a.overlaps(argument.Memory(dst.Data)):
		return a.overlapError(function, "dst")
	}
	if a.oneByOne() {
		rotateOneByOne(&a, tokens, &r, &y, slots, &x)
	} else {
		rotateInto(&a, tokens, 0, tokens, &r, &y, slots, &x)
	}
	return nil
}

func checkSlots(function string, slots []int32, tokens int) error {
	if slots != nil && len(slots) != tokens {
		return argument.Error(ErrLength, function, "slots", argument.Elements(len(slots)), "%d, one for each token", tokens)
	}
	return nil
}

// reachOf returns how many tokens of a cache a call may write to: all before end, and the rest of a
// sequence.
func reachOf[D any](dst *view.View[D], end int) int {
	if dst.SequenceTokens > 0 {
		if rest := end % dst.SequenceTokens; rest > 0 {
			end += dst.SequenceTokens - rest
		}
	}
	return end
}

// checkCache checks the cache of that name, whose tokens are those of the call, or with slots any number. A
// token of the view holds so many of the call: 1, or 32 in pages. It returns how many tokens of the view the
// call may reach.
func checkCache[D any](function string, name argument.Name, dst *view.View[D], slotsName string, slots []int32, tokens, dim, held int) (reach int, err error) {
	reach = tokens
	if slots != nil {
		reach = int(lastSlot(slots)) + 1
	}
	if held > 1 {
		reach = (reach + held - 1) / held
	}
	var g view.Grid
	if slots == nil {
		if p := dst.Problem(&g, reach, dim); p != view.None {
			return 0, dst.Error(p, function, name.String(), &g)
		}
		return reach, nil
	}
	reach = reachOf(dst, reach)
	switch {
	case reach < 0: // where an int has 32 bits
		return 0, slotError(function, slotsName, slots, "lower: an int cannot count the tokens up to that slot")
	case dst.Holds(reach, dim):
		return reach, nil
	case dst.Tokens > 0:
		return 0, argument.Error(ErrShape, function, name.String()+".Tokens", dst.Tokens, "%s", "0, because "+slotsName+" say which tokens the call takes") // a sum: names do not escape
	}
	if p := dst.First(&g, reach, dim); p != view.None {
		if p.TooShort() { // other problems leave strides unset
			if room := g.Room(len(dst.Data)) * held; room > 0 {
				return 0, slotError(function, slotsName, slots, "below %d, the tokens that %s has room for in %s", room, name, dst.RoomText(&g))
			}
		}
		return 0, dst.Error(p, function, name.String(), &g)
	}
	return reach, nil
}

// lastSlot returns the largest slot, or -1.
func lastSlot(slots []int32) int32 {
	last := int32(-1)
	for _, s := range slots {
		last = max(last, s)
	}
	return last
}

func slotError(function, name string, slots []int32, expected string, args ...any) error {
	s := lastSlot(slots)
	return argument.Error(ErrPosition, function, argument.Indexed(name, slices.Index(slots, s)), s, expected, args...)
}

// rotateInto leaves the elements outside the rotated slice alone where y is x.
func rotateInto(a *Angles, tokens, begin, end int, r *heads.Rotation, y *view.Operand, slots []int32, x *view.Operand) {
	var cos, sin [kernels.ChunkPairs + kernels.Line]float32
	pairs := r.RotaryDim / 2
	most := chunkTokens(pairs)
	nonTemporal := y != x && r.WritesNonTemporal(y, end-begin)
	for first := begin; first < end; first += most {
		count := min(most, end-first)
		table := cossin.Table{Cos: kernels.LineAligned(cos[:]), Sin: kernels.LineAligned(sin[:]), Stride: pairs}
		a.write(&table, tokens, first, count, r)
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

// rotateOneByOne goes head by head if each head has its own entries, and by runs of tokens that rotate
// and tokens that do not.
func rotateOneByOne(a *Angles, tokens int, r *heads.Rotation, y *view.Operand, slots []int32, x *view.Operand) {
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
				rotateFullWidthInto(&some, t, end, r, target, slots, &from)
			default:
				rotateInto(&some, tokens, t, end, r, target, slots, &from)
			}
			t = end
		}
	}
}

func rotateFullWidthInto(a *Angles, begin, end int, r *heads.Rotation, y *view.Operand, slots []int32, x *view.Operand) {
	var full heads.FullWidthRow
	for t := begin; t < end; t++ {
		at := heads.Slot(slots, t)
		if at < 0 {
			continue
		}
		a.rows.readFullWidth(&full, heads.Slot(a.of, t), r.Sign)
		r.RotateFullWidth(y, x, y.Token(at), x.Token(t), &full)
		if y != x {
			r.CopyRest(y, x, y.Token(at), x.Token(t), 1)
		}
	}
}
