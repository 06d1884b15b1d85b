package posenc

import (
	"fmt"
	"unsafe"

	"github.com/go-posenc/posenc/kernels"
)

// RotateInto rotates the heads of src into dst, a cache of keys say, in one
// pass: what Rotate would make of src, rounded once to D. Elements outside the
// rotated slice are copied, rounded where D has fewer bits.
//
// Token t goes to token slots[t] of dst, or to token t where slots is nil; a
// negative slot drops the token. Of tokens with the same slot the last one
// stays. dst has as many heads as src. With slots it may be longer than the
// tokens of the call, and holds at least those up to the largest slot, with
// SequenceStride up to the end of its sequence.
//
// From float16 or bfloat16 to another type RotaryDim is at most 2048. r holds no
// table of full width.
//
// dst must share no memory with src. Elements of dst that belong to no slot do
// not change. A call allocates nothing.
//
// Errors wrap ErrConfig (r), ErrShape, ErrLength, ErrOverlap or ErrPosition.
func RotateInto[D, S Element](r *Rotary, positions []int32, dst View[D], slots []int32, src View[S]) error {
	const function = "RotateInto"
	tokens, err := r.tokenCount(function, "positions", positions)
	if err != nil {
		return err
	}
	if r.table != nil && r.table.fullWidth {
		return argumentError(ErrConfig, function, "r", "a Rotary over a table of full width", "one over a table with an entry for each pair")
	}
	if to, from := kindOf[D](), kindOf[S](); to != from && from != kindFloat32 && r.rotaryDim > 2*chunkPairs {
		return argumentError(ErrConfig, function, "r", fmt.Sprintf("a Rotary of RotaryDim %d", r.rotaryDim), "at most %d from one type of 16 bits to another type", 2*chunkPairs)
	}
	if slots != nil && len(slots) != tokens {
		return argumentError(ErrLength, function, "slots", elements(len(slots)), "%d, one for each token", tokens)
	}
	var g grid
	if p := src.grid(&g, tokens, r.headDim); p != none {
		return src.problemError(p, function, "src", &g)
	}
	if dst.Heads != src.Heads {
		return argumentError(ErrShape, function, "dst.Heads", dst.Heads, "%d as in src", src.Heads)
	}
	reach := tokens // tokens of dst up to the last that is written
	if slots != nil {
		largest := int32(-1)
		for _, s := range slots {
			largest = max(largest, s)
		}
		reach = int(largest) + 1
		if dst.SequenceStride > 0 && dst.SequenceTokens > 0 {
			if rest := reach % dst.SequenceTokens; rest > 0 { // of the last sequence all tokens
				reach += dst.SequenceTokens - rest
			}
		}
		if reach < 0 { // where an int has 32 bits
			return argumentError(ErrLength, function, "dst.Data", elements(len(dst.Data)), "tokens up to slot %d, more than an int can count", largest)
		}
		if dst.TokenStride == 0 && dst.HeadStride == 0 {
			dst.HeadStride = r.headDim // may be longer: not packed
		}
	}
	if p := dst.grid(&g, reach, r.headDim); p != none {
		return dst.problemError(p, function, "dst", &g)
	}
	y, x := operandOf(&dst, r.headDim), operandOf(&src, r.headDim)
	if tokens == 0 || reach == 0 {
		return nil
	}
	if y.overlaps(&x) {
		return argumentError(ErrOverlap, function, "dst", "sharing memory with src", "a view of other memory")
	}
	if r.table != nil && r.table.overlaps(&y) {
		return tableOverlapError(function, "dst")
	}
	m := r.manner(forward)
	r.rotateInto(&y, &x, positions, slots, tokens, &m)
	return nil
}

func (r *Rotary) rotateInto(y, x *operand, positions, slots []int32, tokens int, m *manner) {
	var cos, sin [chunkPairs]float32
	pairs := r.rotaryDim / 2
	columns := min(pairs, chunkPairs)
	count := min(chunkRows, chunkPairs/columns)
	past := r.passesCaches(y, tokens)
	slot := func(t int) int {
		if slots == nil {
			return t
		}
		return int(slots[t])
	}
	for first := 0; first < tokens; first += count {
		rowCount := min(count, tokens-first)
		for column := 0; column < pairs; column += columns {
			width := min(columns, pairs-column)
			table := rows{cos[:], sin[:], width}
			r.rows(&table, column, width, &span{positions, tokens, first, rowCount}, m.scaling, m.direction)
			for t := first; t < first+rowCount; {
				at := slot(t)
				if at < 0 {
					t++
					continue
				}
				n := min(x.together(t, first+rowCount-t), y.together(at, first+rowCount-t))
				for i := 1; i < n; i++ {
					if slot(t+i) != at+i {
						n = i
					}
				}
				if past {
					r.turnPastCaches(y, x, y.token(at), x.token(t), n, &table, t-first, m)
				} else {
					r.turn(y, x, y.token(at), x.token(t), n, column, width, &table, t-first, m)
					if column == 0 {
						r.copyRest(y, x, y.token(at), x.token(t), n)
					}
				}
				t += n
			}
		}
	}
	if past {
		kernels.FenceStores(implementation)
	}
}

// passesCaches reports whether rows of y are to be written past the caches: 8 MiB
// and more, whole heads that lie together, in vectors that are aligned. A store
// to a line that is in no cache reads it first.
func (r *Rotary) passesCaches(y *operand, tokens int) bool {
	const least = 8 << 20
	size := int(y.kind.size())
	bytes, ok := multiply(tokens, y.heads*r.headDim*size)
	head := r.headDim * size
	return ok && bytes >= least && kernels.CopiesPastCaches(implementation) && y.headStride == r.headDim &&
		head <= scratchBytes && r.rotaryDim/2 <= chunkPairs &&
		(head|y.tokenStride*size|y.sequenceStride*size|int(uintptr(y.data)%32))%32 == 0
}

// scratchBytes is where heads wait for their store, in the fastest cache.
const scratchBytes = 8 << 10

// turnPastCaches is turn and copyRest for n tokens, some heads at a time, by way
// of memory in the cache.
func (r *Rotary) turnPastCaches(y, x *operand, yAt, xAt, n int, table *rows, first int, m *manner) {
	const line = 64 / 4 // elements of a line of the cache
	var unaligned [scratchBytes/4 + line]float32
	memory := unaligned[(line-int(uintptr(unsafe.Pointer(&unaligned))/4%line))%line:]
	size := int(y.kind.size())
	some, from := operandOver(memory), *x
	some.kind, some.length, some.headStride = y.kind, scratchBytes/size, r.headDim
	most := scratchBytes / (r.headDim * size)
	for t := range n {
		for h := 0; h < x.heads; h += most {
			from.heads = min(most, x.heads-h)
			at := xAt + t*x.tokenStride + h*x.headStride
			r.turn(&some, &from, 0, at, 1, 0, r.rotaryDim/2, table, first+t, m)
			r.copyRest(&some, &from, 0, at, 1)
			words := from.heads * r.headDim * size / 4
			to := unsafe.Add(y.data, (yAt+t*y.tokenStride+h*y.headStride)*size)
			kernels.CopyPastCaches(implementation, unsafe.Slice((*float32)(to), words), memory[:words])
		}
	}
}

// copyRest copies what lies outside the rotated slice in the heads of n tokens.
func (r *Rotary) copyRest(y, x *operand, yAt, xAt, n int) {
	if r.rotaryDim == r.headDim {
		return
	}
	end := r.offset + r.rotaryDim
	for t := range n {
		for h := range x.heads {
			to, from := yAt+t*y.tokenStride+h*y.headStride, xAt+t*x.tokenStride+h*x.headStride
			convert(y, x, to, from, r.offset)
			convert(y, x, to+end, from+end, r.headDim-end)
		}
	}
}
