package posenc_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/kernels"
)

// randomSlots returns where n tokens go in a cache of capacity slots: all to one, one after
// another, anywhere or nowhere, twice or never.
func randomSlots(r *rand.Rand, n, capacity int) []int32 {
	slots := make([]int32, n)
	for t := 0; t < n; {
		start, step := r.IntN(capacity), kit.OneOf(r, []int{0, 1, 1, 1, -1})
		negative := r.IntN(4) == 0
		for end := min(n, t+1+r.IntN(12)); t < end; t++ {
			slots[t] = int32(min(max(start, 0), capacity-1))
			if negative {
				slots[t] = kit.OneOf(r, []int32{-1, -2, math.MinInt32})
			}
			start += step
		}
	}
	return slots
}

func TestRotateIntoErrors(t *testing.T) {
	const dim, tokens = 8, 3
	source, data := make([]float32, 512), make([]float32, 512)
	rotary := kit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit})
	positions := []int32{5, 6, 7}
	src, dst := V{Data: source[:48], Heads: 2}, V{Data: data[:48], Heads: 2}
	blocks := func(n, sequenceTokens, sequenceStride int) V {
		return V{Data: data[:n], Heads: 2, TokenStride: dim, HeadStride: 4 * dim, SequenceTokens: sequenceTokens, SequenceStride: sequenceStride}
	}
	half := posenc.Float16s(make([]uint16, 4096))
	fails := kit.Failures(t, source, data)
	fails(posenc.RotateInto(posenc.Angles{}, dst, nil, src), posenc.ErrConfig, "posenc.RotateInto: a is zero: from a nil Rotary or nil Rows, of a layer that there is not, or of rows whose Refill failed, want Angles")
	fails(posenc.RotateInto(rotary.At(positions), V{Data: dst.Data, Heads: dst.Heads, HeadStride: 8, SequenceTokens: 3}, []int32{0, 1, 2}, src), posenc.ErrShape, "posenc.RotateInto: dst.SequenceTokens is 3, want 0")
	fails(posenc.RotateInto(rotary.At(positions), dst, []int32{0, 1}, src), posenc.ErrLength, "posenc.RotateInto: slots has 2 elements, want 3")
	fails(posenc.RotateInto(rotary.At(positions), V{Data: data[:24], Heads: 1}, nil, src), posenc.ErrShape, "posenc.RotateInto: dst.Heads is 1, want 2 as in src")
	fails(posenc.RotateInto(rotary.At(positions), dst, nil, V{Data: source[:48]}), posenc.ErrShape, "posenc.RotateInto: src.Heads is 0")
	fails(posenc.RotateInto(rotary.At(positions), dst, nil, V{Data: source[:47], Heads: 2}), posenc.ErrLength, "posenc.RotateInto: src.Data has 47 elements, want 48")
	fails(posenc.RotateInto(rotary.At(positions), V{Data: data[:47], Heads: 2}, nil, src), posenc.ErrLength, "posenc.RotateInto: dst.Data has 47 elements, want 48")
	fails(posenc.RotateInto(rotary.At(positions), V{Data: data[:95], Heads: 2}, []int32{0, 5, 1}, src), posenc.ErrPosition, "posenc.RotateInto: slots[1] is 5, want below 5, the tokens that dst has room for in 95 elements")
	fails(posenc.RotateInto(rotary.At(positions), V{Data: data, Heads: 2}, []int32{0, math.MaxInt32, 1}, src), posenc.ErrPosition, "posenc.RotateInto: slots[1] is 2147483647, want ")
	fails(posenc.RotateInto(rotary.At(positions), V{Data: data[:15], Heads: 2}, []int32{0, 5, 1}, src), posenc.ErrLength, "posenc.RotateInto: dst.Data has 15 elements, want at least 96")
	fails(posenc.RotateInto(rotary.At(positions), dst, nil, strided(source, 2, 8, 0)), posenc.ErrOverlap, "posenc.RotateInto: src.TokenStride is 8")
	fails(posenc.RotateInto(rotary.At(positions), strided(data, 2, 8, 0), []int32{0, 1, 2}, src), posenc.ErrOverlap, "posenc.RotateInto: dst.TokenStride is 8")
	fails(posenc.RotateInto(rotary.At(positions), strided(data, 2, 8, 40), []int32{0, 1, 20}, src), posenc.ErrOverlap, "posenc.RotateInto: dst.TokenStride is 8")
	fails(posenc.RotateInto(rotary.At(positions), src, nil, src), posenc.ErrOverlap, "posenc.RotateInto: dst is sharing memory with src, want a view of other memory")
	fails(posenc.RotateInto(rotary.At(positions), V{Data: source[:48], Heads: 2}, nil, V{Data: source[47:95], Heads: 2}), posenc.ErrOverlap, "posenc.RotateInto: dst is sharing memory with src")
	fails(posenc.RotateInto(rotary.At(positions), blocks(512, 4, 64), nil, src), posenc.ErrShape, "posenc.RotateInto: dst.SequenceTokens is 4, want a divisor of the number of tokens, 3")
	fails(posenc.RotateInto(rotary.At(positions), blocks(127, 4, 64), []int32{0, 1, 4}, src), posenc.ErrPosition, "posenc.RotateInto: slots[2] is 4, want below 4, the tokens that dst has room for in 127 elements")
	fails(posenc.RotateInto(rotary.At(positions), blocks(512, 4, 63), []int32{0, 1, 4}, src), posenc.ErrOverlap, "posenc.RotateInto: dst.TokenStride is 8")
	fails(posenc.RotateInto(rotary.At(positions), blocks(512, 4, math.MaxInt), []int32{0, 1, 4}, src), posenc.ErrPosition, "posenc.RotateInto: slots[2] is 4, want below 4")
	fails(posenc.RotateInto(rotary.At(positions), blocks(512, 0, 64), []int32{0, 1, 2}, src), posenc.ErrShape, "posenc.RotateInto: dst.SequenceTokens is 0, want at least 1")
	fails(posenc.RotateInto(rotary.At(positions), posenc.View[posenc.BFloat16]{Data: posenc.BFloat16s(make([]uint16, 48)), Heads: 1}, nil, posenc.View[posenc.Float16]{Data: half[:24], Heads: 1}), posenc.ErrLength, "dst.Data has 48 elements, want 24")
	kit.NoError(t, posenc.RotateInto(rotary.At(positions), src, []int32{-1, -5, -9}, src)) // no slot is kept
}

var _ = kit.Register(kit.Case{Function: "RotateInto", Times: 8, NonTemporal: true, Long: longRotateInto,
	Digests: func(add kit.AddDigest) {
		add.Pairs("RotateInto", "to", "from", [3][3]func(*kit.Digest){
			{digestInto[float32, float32], digestInto[float32, posenc.Float16], digestInto[float32, posenc.BFloat16]},
			{digestInto[posenc.Float16, float32], digestInto[posenc.Float16, posenc.Float16], digestInto[posenc.Float16, posenc.BFloat16]},
			{digestInto[posenc.BFloat16, float32], digestInto[posenc.BFloat16, posenc.Float16], digestInto[posenc.BFloat16, posenc.BFloat16]},
		})
	},
	Call: oneOf(rotateIntoCall[float32, float32], rotateIntoCall[float32, posenc.Float16], rotateIntoCall[float32, posenc.BFloat16],
		rotateIntoCall[posenc.Float16, float32], rotateIntoCall[posenc.Float16, posenc.Float16], rotateIntoCall[posenc.Float16, posenc.BFloat16],
		rotateIntoCall[posenc.BFloat16, float32], rotateIntoCall[posenc.BFloat16, posenc.Float16], rotateIntoCall[posenc.BFloat16, posenc.BFloat16]),
	OnStack: onStack(func(a posenc.Angles) error {
		return errors.Join(intoStack[float32, float32](a), intoStack[posenc.Float16, float32](a), intoStack[posenc.BFloat16, float32](a), intoStack[float32, posenc.Float16](a), intoStack[posenc.Float16, posenc.BFloat16](a))
	}),
})

func intoStack[D, S posenc.Element](a posenc.Angles) error {
	var k [3 * 2 * 16]S
	var cache [6 * 2 * 16]D
	return posenc.RotateInto(a, posenc.View[D]{Data: cache[:], Heads: 2}, []int32{4, 5, -1}, posenc.View[S]{Data: k[:], Heads: 2})
}

// slotsOf returns where tokens go, or nil, and how many tokens there are up to the last.
func slotsOf(a *kit.Arguments, tokens int) (slots []int32, room int) {
	if a.Below(3) == 0 {
		return nil, tokens
	}
	slots = kit.Input[int32](a, tokens)
	if a.Any() {
		room = tokens
		for i := range slots {
			slots[i] = int32(a.Number(-1, 30))
			if n := int(slots[i]); n < 1000 {
				room = max(room, n+1)
			}
		}
		return slots, room
	}
	room = tokens + a.Below(9)
	switch a.Below(3) {
	case 0: // some twice
		copy(slots, randomSlots(a.R, tokens, max(room, 1)))
	case 1: // anywhere, once
		for i, slot := range a.R.Perm(room)[:tokens] {
			slots[i] = int32(slot)
		}
	default: // in runs, some nowhere
		for i, slot := range a.R.Perm(room)[:tokens] {
			slots[i] = int32(slot)
		}
		slices.Sort(slots)
		for i := range slots {
			if a.R.IntN(9) == 0 {
				slots[i] = -1
			}
		}
	}
	return slots, max(room, 1)
}

// slotIn returns the function from a token to its slot.
func slotIn(slots []int32) func(token int) int {
	return func(token int) int {
		if slots == nil {
			return token
		}
		return int(slots[token])
	}
}

func rotateIntoCall[D, S posenc.Element](a *kit.Arguments) kit.Call {
	angles := anglesOf(a)
	tokens, dim := angles.tokens, angles.headDim
	slots, room := slotsOf(a, tokens)
	heads := angles.heads
	if heads == 0 || a.Rarely() {
		heads = a.Heads()
	}
	src := kit.ViewOfHeads[S](a, tokens, heads, dim)
	dst := kit.ViewOfHeads[D](a, room, src.Heads, dim)
	kit.BySlots(a, &dst, slots)
	if a.Any() && a.Below(8) > 0 {
		dst.Heads = src.Heads
	}
	slot := slotIn(slots)
	kit.Writes(a, func(mark func(s []D)) {
		for t := range tokens {
			for h := range dst.Heads {
				if slot(t) >= 0 {
					mark(dst.Data[kit.RowAt(&dst, slot(t), h, dim):][:dim])
				}
			}
		}
	})
	call := kit.Call{
		Run: func() error { return posenc.RotateInto(angles.Angles, dst, slots, src) },
		Right: func() bool {
			return angles.right() && (slots == nil || len(slots) == tokens) && intoRight(&angles, dst, slots, src)
		},
		Want: func() {
			p := angles.plain()
			rotatePlain(&p, dst.Data, &dst, slots, src.Data, &src, tokens, true, make([]bool, len(dst.Data)))
		},
	}
	if !twice(slots) {
		call.Parts = func(c *kit.Choices) [][]func() error {
			if dst.SequenceStride > 0 && c.Below(2) == 0 {
				return blockByBlock(&angles, dst, slot, src)
			}
			return intoParts(c, &angles, dst, slot, src)
		}
	}
	return call
}

// twice reports whether two tokens have the same slot: the last one stays.
func twice(slots []int32) bool {
	seen := map[int32]bool{}
	for _, slot := range slots {
		if slot >= 0 && seen[slot] {
			return true
		}
		seen[slot] = true
	}
	return false
}

func intoRight[D, S posenc.Element](angles *anglesArgument, dst posenc.View[D], slots []int32, src posenc.View[S]) bool {
	tokens, dim := angles.tokens, angles.headDim
	reach := tokens
	if slots != nil {
		reach = 0
		for _, slot := range slots {
			reach = max(reach, int(slot)+1)
		}
		if dst.SequenceStride > 0 && dst.SequenceTokens > 0 {
			reach = (reach + dst.SequenceTokens - 1) / dst.SequenceTokens * dst.SequenceTokens
		}
	}
	if dst.Heads != src.Heads || !angles.headsRight(src.Heads) || !kit.Allowed(&src, tokens, dim, len(src.Data)) || !cacheRight(&dst, slots, reach, dim) {
		return false
	}
	to := kit.BytesOf(dst.Data)
	return tokens == 0 || reach == 0 || !kit.Share(to, src.Data) && !angles.shares(to)
}

// cacheRight reports whether a cache is right where a call reaches its first tokens: with slots it may have more.
func cacheRight[D kit.Stored](v *posenc.View[D], slots []int32, reach, dim int) bool {
	if slots == nil {
		return kit.Allowed(v, reach, dim, len(v.Data))
	}
	return v.Tokens == 0 && kit.Holds(v, reach, dim, len(v.Data))
}

// taken copies some heads of tokens to memory of their own.
func taken[S posenc.Element](src *posenc.View[S], tokens []int, first, end, dim int) posenc.View[S] {
	x := posenc.View[S]{Heads: end - first}
	for _, token := range tokens {
		for h := first; h < end; h++ {
			x.Data = append(x.Data, src.Data[kit.RowAt(src, token, h, dim):][:dim]...)
		}
	}
	return x
}

// intoParts rotates some tokens and some heads at a time.
func intoParts[D, S posenc.Element](c *kit.Choices, angles *anglesArgument, dst posenc.View[D], slot func(token int) int, src posenc.View[S]) (groups [][]func() error) {
	dim, heads := angles.headDim, c.Cut(dst.Heads)
	if angles.heads > 0 {
		heads = []int{0, dst.Heads}
	}
	if dst.HeadStride == 0 {
		dst.HeadStride = dim
	}
	if dst.TokenStride == 0 {
		dst.TokenStride = dst.Heads * dim
	}
	for _, part := range c.Deal(angles.tokens) {
		slots := make([]int32, len(part))
		for i, token := range part {
			slots[i] = int32(slot(token))
		}
		for i, first := range heads[:len(heads)-1] {
			end := heads[i+1]
			y := dst
			y.Data, y.Heads, y.Tokens = dst.Data[first*dst.HeadStride:], end-first, 0
			groups = append(groups, []func() error{func() error {
				return posenc.RotateInto(angles.of(part), y, slots, taken(&src, part, first, end, dim))
			}})
		}
	}
	return groups
}

// blockByBlock fills every sequence of a cache by a call of its own.
func blockByBlock[D, S posenc.Element](angles *anglesArgument, dst posenc.View[D], slot func(token int) int, src posenc.View[S]) (groups [][]func() error) {
	dim := angles.headDim
	blocks := map[int][]int{}
	for token := range angles.tokens {
		if at := slot(token); at >= 0 {
			blocks[at/dst.SequenceTokens] = append(blocks[at/dst.SequenceTokens], token)
		}
	}
	for block, part := range blocks {
		slots := make([]int32, len(part))
		for i, token := range part {
			slots[i] = int32(slot(token) % dst.SequenceTokens)
		}
		y := posenc.View[D]{Heads: dst.Heads, TokenStride: dst.TokenStride, HeadStride: dst.HeadStride}
		first, last := block*dst.SequenceTokens, (block+1)*dst.SequenceTokens-1
		y.Data = dst.Data[kit.RowAt(&dst, first, 0, dim) : kit.RowAt(&dst, last, dst.Heads-1, dim)+dim]
		groups = append(groups, []func() error{func() error {
			return posenc.RotateInto(angles.of(part), y, slots, taken(&src, part, 0, src.Heads, dim))
		}})
	}
	return groups
}

func longRotateInto() error {
	return eachLong(func(a posenc.Angles, tokens, heads, dim int) error {
		x, y := longView[float32](tokens, heads, dim), longView[float32](tokens, heads, dim)
		x16, y16 := longView[posenc.Float16](tokens, heads, dim), longView[posenc.Float16](tokens, heads, dim)
		xb, yb := longView[posenc.BFloat16](tokens, heads, dim), longView[posenc.BFloat16](tokens, heads, dim)
		return errors.Join(posenc.RotateInto(a, y, nil, x), posenc.RotateInto(a, y16, nil, x), posenc.RotateInto(a, yb, nil, x),
			posenc.RotateInto(a, yb, nil, x16), posenc.RotateInto(a, y, nil, x16), posenc.RotateInto(a, y, nil, xb))
	})
}

// digestInto rotates into caches, from token to token and by slots.
func digestInto[D, S posenc.Element](d *kit.Digest) {
	for layout := range digestLayouts {
		for i, pairs := range []int{3, 16, 35} {
			cfg := digestConfig(d, allLayouts[layout], frequency.Rounding(i%2), pairs)
			r := kit.MustRotary(cfg)
			const tokens, heads = 8, 2
			for _, slots := range [][]int32{nil, {3, 4, 5, -1, 0, 3, 9, 8}} {
				room := tokens
				if slots != nil {
					room = 12
				}
				src := kit.DigestViewOf(d, kit.DigestElements[S], layout+i, tokens, heads, cfg.HeadDim)
				dst := kit.DigestViewOf(d, kit.DigestElements[D], d.Below(kit.DigestShapes), room, heads, cfg.HeadDim)
				d.Must(posenc.RotateInto(r.At(d.Positions(tokens)), dst.View, slots, src.View))
				d.Add(dst.Memory)
			}
		}
	}
}

// Caches of keys beyond 8 MiB are written by non-temporal stores: the bits are those
// of small pieces. Sequences and heads that lie apart are for TestCases/fences.
func TestRotateIntoNonTemporal(t *testing.T) {
	t.Run("float32", testRotateIntoNonTemporal[float32, float32])
	if !kit.AllRounds() {
		return
	}
	t.Run("float16", testRotateIntoNonTemporal[posenc.Float16, float32])
	t.Run("bfloat16", testRotateIntoNonTemporal[posenc.BFloat16, float32])
	t.Run("float16 to float16", testRotateIntoNonTemporal[posenc.Float16, posenc.Float16])
	t.Run("bfloat16 to float16", testRotateIntoNonTemporal[posenc.Float16, posenc.BFloat16])
}

func testRotateIntoNonTemporal[D, S posenc.Element](t *testing.T) {
	elementSize := int(unsafe.Sizeof(*new(D)))
	size := (8<<20 + 8<<17) / elementSize
	source := slices.Repeat(kit.RandomElements[S](kit.NewRand(61), size/16), 16)
	for name, shape := range map[string]struct{ heads, dim, rotaryDim, offset, skipped int }{
		"few heads":               {5, 112, 64, 16, 0},
		"half a vector on":        {5, 112, 64, 16, 16},   // too little for non-temporal stores
		"one head":                {1, 4096, 64, 4032, 0}, // all of the scratch memory, with 16 bits
		"heads that do not fit":   {3, 1040, 1024, 16, 0},
		"more heads than fit":     {100, 32, 16, 16, 0},
		"a head that may not fit": {2, 4096, 2048, 100, 0},
		"whole heads":             {40, 128, 128, 0, 0},
		"the end of heads":        {40, 128, 100, 28, 0},
	} {
		heads, dim, skip := shape.heads, shape.dim, shape.skipped/elementSize
		tokens := size / (heads * dim)
		slots := kit.Sequence(tokens)
		slots[17], slots[18], slots[19] = -1, 40, 19
		positions, src := kit.Sequence(tokens), source[:tokens*heads*dim]
		large := func(t *testing.T, impl kernels.Implementation) {
			layouts := []posenc.Layout{posenc.Interleaved, posenc.InterleavedToHalfSplit}
			if shape.rotaryDim == dim {
				layouts = []posenc.Layout{posenc.HalfSplit}
			}
			for _, layout := range layouts {
				cfg := posenc.RotaryConfig{HeadDim: dim, RotaryDim: shape.rotaryDim, Offset: shape.offset, Layout: layout}
				r := kit.MustRotary(cfg)
				whole, parts := make([]D, len(src)+skip)[skip:], make([]D, len(src))
				kit.NoError(t, posenc.RotateInto(r.At(positions), posenc.View[D]{Data: whole, Heads: heads}, slots, posenc.View[S]{Data: src, Heads: heads}))
				for first := 0; first < tokens; first += 100 {
					last := min(first+100, tokens)
					part := posenc.View[S]{Data: src[first*heads*dim : last*heads*dim], Heads: heads}
					kit.NoError(t, posenc.RotateInto(r.At(positions[first:last]), posenc.View[D]{Data: parts, Heads: heads}, slots[first:last], part))
				}
				if slices.Equal(kit.BytesOf(whole), kit.BytesOf(parts)) {
					continue // without a look at each element
				}
				if i := kit.FirstDifference(whole, parts); i >= 0 {
					t.Fatalf("%+v: element %d of token %d is %v at once and %v in parts", cfg, i%(heads*dim), i/(heads*dim), kit.Widen(whole[i]), kit.Widen(parts[i]))
				}
			}
		}
		t.Run(name, func(t *testing.T) { kit.EachImplementation(t, large) })
	}
}

// Where a call that writes by non-temporal stores comes to its fence, everything is
// written, also where it is one of several of a table or of keys that goroutines write. The
// fence is made to fault: there the call stops. A call that returns an error writes nothing
// and comes to no fence. That each function has its fence is for TestCases/fences.
func TestNonTemporalCallsEndWithFence(t *testing.T) {
	if kit.Fuzzing() {
		t.Skip("NOT TESTED: fuzzing changes the wrappers")
	}
	const pairs, rows = 64, kernels.NonTemporalTable / 64
	rope, positions := kit.MustRotary(posenc.RotaryConfig{HeadDim: 2 * pairs, Layout: posenc.HalfSplit, Base: 10000}), kit.Sequence(2*rows)
	memory, source := kit.Aligned(4*rows*pairs), kit.Aligned(2*rows*pairs)
	cos, sin := memory[:2*rows*pairs], memory[2*rows*pairs:]
	keys := func(s []float32) posenc.View[float32] { return posenc.View[float32]{Data: s, Heads: 1} }
	for name, call := range map[string]struct {
		tokens int
		write  func(first, count int) error
		refuse func() error
	}{
		"Rotary.CosSin": {
			2 * rows,
			func(first, count int) error {
				return rope.CosSin(cos[first*pairs:][:count*pairs], sin[first*pairs:][:count*pairs], positions[first:][:count])
			},
			func() error { return rope.CosSin(cos, sin[1:], positions) },
		},
		"RotateInto": {
			rows,
			func(first, count int) error {
				at, n := first*2*pairs, count*2*pairs
				return posenc.RotateInto(rope.At(positions[first:][:count]), keys(cos[at:][:n]), nil, keys(source[at:][:n]))
			},
			func() error {
				return posenc.RotateInto(rope.At(positions[:rows]), keys(cos), kit.Sequence(rows-1), keys(cos))
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			kit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
				if impl == kernels.Generic || name == "Rotary.CosSin" && !impl.NonTemporalTable(len(memory)/2) {
					t.Skip("plain Go has no non-temporal stores, and AVX2 none for a table of this size")
				}
				clear(memory)
				kit.NoError(t, call.write(0, call.tokens))
				want := slices.Clone(memory)
				for _, parts := range []int{1, 2} {
					clear(memory)
					restore := kit.TrapFences(t)
					stopped := make([][]string, parts)
					var group sync.WaitGroup
					group.Add(parts)
					for i := range parts {
						go func() {
							defer group.Done()
							_, stopped[i] = kit.Fault(func() {
								if err := call.write(i*call.tokens/parts, call.tokens/parts); err != nil {
									t.Error(err)
								}
							})
						}()
					}
					group.Wait()
					restore()
					for i, functions := range stopped {
						if !slices.ContainsFunc(functions, func(f string) bool { return strings.Contains(f, "FenceStores") }) {
							t.Errorf("part %d of %d came to no fence: %s", i, parts, functions)
						}
					}
					if i := kit.FirstDifference(memory, want); i >= 0 {
						t.Errorf("in %d parts: number %d is not written", parts, i)
					}
				}
				clear(memory)
				restore := kit.TrapFences(t)
				reason, _ := kit.Fault(func() {
					if call.refuse() == nil {
						t.Error("no error")
					}
				})
				restore()
				if reason != nil || slices.ContainsFunc(memory, func(x float32) bool { return x != 0 }) {
					t.Errorf("a call with an error: %v, or something is written", reason)
				}
			})
		})
	}
}
