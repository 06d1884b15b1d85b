package posenc

import (
	"slices"

	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/heads"
	"github.com/go-posenc/posenc/internal/view"
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
// largest slot, and with SequenceStride for all tokens of that slot's sequence. dst must share no memory
// with src, slots or the slices of a. Errors wrap ErrConfig (a), ErrShape, ErrLength, ErrOverlap or
// ErrPosition. A slot for which dst has no room is ErrPosition, or ErrLength if dst has room for no token
// at all.
func RotateInto[D, S Element](a Angles, dst View[D], slots []int32, src View[S]) error {
	const function = "posenc.RotateInto"
	tokens, err := a.core().Check(function)
	if err != nil {
		return err
	}
	h, scaling := a.core().Heads()
	var r heads.Rotation
	r.Head, r.In, r.Out, r.Scaling, r.Sign = h, h.In, h.Out, scaling, 1
	if err := checkSlots(function, slots, tokens); err != nil {
		return err
	}
	oneByOne := a.core().OneByOne()
	if oneByOne {
		if err := a.core().CheckHeads(function, argument.Named("src.Heads"), src.Heads); err != nil {
			return err
		}
	}
	var g view.Grid
	from, to := (*view.View[S])(&src), (*view.View[D])(&dst)
	if p := from.Problem(&g, tokens, r.HeadDim); p != view.None {
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
	case argument.Overlap(dst.Data, a.core().Of()), a.core().CallersTable() && a.core().Overlaps(argument.Memory(dst.Data)):
		return a.core().OverlapError(function, "dst")
	}
	if oneByOne {
		a.core().RotateOneByOne(tokens, &r, &y, slots, &x)
	} else {
		a.core().RotateInto(tokens, 0, tokens, &r, &y, slots, &x)
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

// checkCache checks a cache, the argument of that name. Without slots it has the tokens of the call, with slots
// any number. held is the number of slots in one token of the view: 1, or 32 for pages. It returns how many
// tokens of the view the call may reach.
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
