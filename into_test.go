package posenc

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/go-posenc/posenc/kernels"
)

// eachTypes runs a test for every type to write and every type to read.
func eachTypes(t *testing.T, list map[string]func(t *testing.T)) {
	if len(list) != 9 {
		t.Fatalf("%d pairs of types, want 9", len(list))
	}
	for _, to := range []string{"float32", "float16", "bfloat16"} {
		for _, from := range []string{"float32", "float16", "bfloat16"} {
			name := from + " to " + to
			if list[name] == nil {
				t.Fatalf("no test from %s", name)
			}
			t.Run("types="+name, list[name])
		}
	}
}

func TestRotateInto(t *testing.T) {
	eachTypes(t, map[string]func(t *testing.T){
		"float32 to float32": testRotateInto[float32, float32], "float16 to float32": testRotateInto[float32, Float16], "bfloat16 to float32": testRotateInto[float32, BFloat16],
		"float32 to float16": testRotateInto[Float16, float32], "float16 to float16": testRotateInto[Float16, Float16], "bfloat16 to float16": testRotateInto[Float16, BFloat16],
		"float32 to bfloat16": testRotateInto[BFloat16, float32], "float16 to bfloat16": testRotateInto[BFloat16, Float16], "bfloat16 to bfloat16": testRotateInto[BFloat16, BFloat16],
	})
}

// randomSlots returns where n tokens go among so many: all alike, one after
// another, anywhere or nowhere, twice or never.
func randomSlots(r *rand.Rand, n, capacity int) []int32 {
	slots := make([]int32, n)
	for t := 0; t < n; {
		start, step := r.IntN(capacity), oneOf(r, []int{0, 1, 1, 1, -1})
		negative := r.IntN(4) == 0
		for end := min(n, t+1+r.IntN(12)); t < end; t++ {
			slots[t] = int32(min(max(start, 0), capacity-1))
			if negative {
				slots[t] = oneOf(r, []int32{-1, -2, math.MinInt32})
			}
			start += step
		}
	}
	return slots
}

// Every shape, layout and table against the plain loop.
func testRotateInto[D, S Element](t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := newRand(90)
		for range rounds(4) {
			for _, layout := range allLayouts {
				for _, pairs := range lengths {
					if testing.Short() && r.IntN(4) != 0 {
						continue
					}
					cfg := randomGeometry(r, layout, pairs)
					cfg.Angles = Angles(r.IntN(2))
					tokens, heads := oneOf(r, []int{0, 1, 1, 2, 6, 16, 17, 36}), oneOf(r, headCounts)
					positions := randomPositions(r, oneOf(r, positionNames), tokens)
					p := plainOf(cfg).with(plainTables(t, cfg, positions))
					rotary := mustRotary(t, cfg)
					if r.IntN(3) == 0 { // rows from a table
						cfg.InvFreq, cfg.Angles = nil, 0
						table := randomTable[S](r, 20, pairs, false, p.out, false)
						var err error
						if rotary, err = NewTableRotary(cfg, table); err != nil {
							t.Fatal(err)
						}
						positions = randomIDs(r, tokens, 20)
						p = rowsOf(p, table, positions)
					}
					var slots []int32
					capacity := tokens
					if r.IntN(3) > 0 {
						capacity += 1 + r.IntN(20)
						slots = randomSlots(r, tokens, capacity)
					}
					src, dst := randomShape[S](r, tokens, heads, cfg.HeadDim), randomShape[D](r, capacity, heads, cfg.HeadDim)
					from, to := allocate(r, &src, tokens, cfg.HeadDim), allocate(r, &dst, capacity, cfg.HeadDim)
					given, want, written := slices.Clone(from.all), slices.Clone(to.all), make([]bool, len(to.all))
					rotatePlain(&p, want[to.start:], &dst, slots, from.all[from.start:], &src, tokens, true, written[to.start:])
					shape := dst
					shape.Data = nil
					name := fmt.Sprintf("layout %d, %d pairs at %d of %d, slots %v, dst %+v: ", layout, pairs, cfg.Offset, cfg.HeadDim, slots, shape)
					if err := RotateInto(rotary, positions, dst, slots, src); err != nil {
						t.Fatal(name, err)
					}
					compare(t, name+"dst", to.all, want, written)
					compare(t, name+"src", from.all, given, make([]bool, len(given)))
				}
			}
		}
	})
}

// In one type it is Rotate on a copy, and from float32 that rounded once.
func TestRotateIntoIsRotate(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := newRand(91)
		const tokens, heads = 37, 3
		for _, layout := range allLayouts {
			cfg := RotaryConfig{HeadDim: 80, RotaryDim: 66, Offset: 5, Layout: layout, Scaling: 1.1}
			rotary, positions := mustRotary(t, cfg), randomPositions(r, "runs", tokens)
			x := randomElements[float32](r, tokens*heads*cfg.HeadDim)
			src := View[float32]{Data: x, Heads: heads}
			full, half, brain := make([]float32, len(x)), make([]Float16, len(x)), make([]BFloat16, len(x))
			err := errors.Join(
				RotateInto(rotary, positions, View[float32]{Data: full, Heads: heads}, nil, src),
				RotateInto(rotary, positions, View[Float16]{Data: half, Heads: heads}, nil, src),
				RotateInto(rotary, positions, View[BFloat16]{Data: brain, Heads: heads}, nil, src),
				Rotate(rotary, positions, src),
			)
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range x {
				if !same(full[i], want) || !sameElement(half[i], narrow[Float16](want)) || !sameElement(brain[i], narrow[BFloat16](want)) {
					t.Fatalf("layout %d: element %d is %v, %v and %v, want %v", layout, i, full[i], widen(half[i]), widen(brain[i]), want)
				}
			}
		}
	})
}

// A paged cache [blocks][heads][block][dim], of which a sequence has some
// blocks, and a packed QKV to read from.
func TestRotateIntoPagedCache(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		r := newRand(92)
		const blocks, heads, block, dim, tokens, row = 7, 2, 4, 16, 10, 5 * 16
		rotary := mustRotary(t, RotaryConfig{HeadDim: dim})
		qkv := randomElements[float32](r, tokens*row) // one query head, keys and values of two
		cache := randomElements[Float16](r, blocks*heads*block*dim)
		want := slices.Clone(cache)
		positions, slots := make([]int32, tokens), make([]int32, tokens)
		for i := range slots {
			positions[i] = int32(100 + i)
			slots[i] = []int32{5, 1, 6}[i/block]*block + int32(i%block)
		}
		err := RotateInto(rotary, positions,
			View[Float16]{Data: cache, Heads: heads, TokenStride: dim, HeadStride: block * dim, SequenceTokens: block, SequenceStride: heads * block * dim}, slots,
			View[float32]{Data: qkv[dim:], Heads: heads, TokenStride: row})
		if err != nil {
			t.Fatal(err)
		}
		for i, slot := range slots {
			for h := range heads {
				key := slices.Clone(qkv[i*row+(1+h)*dim:][:dim])
				if err := Rotate(rotary, positions[i:i+1], View[float32]{Data: key, Heads: 1}); err != nil {
					t.Fatal(err)
				}
				for j, x := range key {
					want[((int(slot)/block*heads+h)*block+int(slot)%block)*dim+j] = narrow[Float16](x)
				}
			}
		}
		if !slices.EqualFunc(cache, want, sameElement) {
			t.Error("keys are in other places of the cache, or others")
		}
	})
}

// Rows wider than the scratch memory.
func TestRotateIntoWide(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		t.Run("to float32", testRotateIntoWide[float32, float32])
		t.Run("to float16", testRotateIntoWide[Float16, float32])
		t.Run("in bfloat16", testRotateIntoWide[BFloat16, BFloat16])
		t.Run("in float16", testRotateIntoWide[Float16, Float16])
	})
}

func testRotateIntoWide[D, S Element](t *testing.T) {
	r := newRand(93)
	for _, layout := range layouts {
		for _, pairs := range []int{700, 1024, 1025, 2100} {
			const tokens, heads = 3, 2
			cfg := RotaryConfig{HeadDim: 2*pairs + 7, RotaryDim: 2 * pairs, Offset: 3, Layout: layout, InvFreq: ladderOf(pairs), Angles: Float32}
			positions := randomPositions(r, "runs", tokens)
			src, dst := View[S]{Heads: heads}, View[D]{Heads: heads}
			from, to := allocate(r, &src, tokens, cfg.HeadDim), allocate(r, &dst, tokens, cfg.HeadDim)
			want, written := slices.Clone(to.all), make([]bool, len(to.all))
			p := plainOf(cfg).with(plainTables(t, cfg, positions))
			rotatePlain(&p, want[to.start:], &dst, nil, from.all[from.start:], &src, tokens, true, written[to.start:])
			if err := RotateInto(mustRotary(t, cfg), positions, dst, nil, src); err != nil {
				t.Fatal(err)
			}
			compare(t, fmt.Sprintf("layout %d, %d pairs: dst", layout, pairs), to.all, want, written)
		}
	}
}

func TestRotateIntoErrors(t *testing.T) {
	const dim, tokens = 8, 3
	source, data := make([]float32, 512), make([]float32, 512)
	rotary := mustRotary(t, RotaryConfig{HeadDim: dim})
	fast := mustRotary(t, RotaryConfig{HeadDim: dim, InvFreq: []float64{1, 0x1p20, -0x1p40, 3}})
	full, err := NewTableRotary(RotaryConfig{HeadDim: dim}, Table[float32]{Cos: source[:24], Sin: source[:24], FullWidth: true})
	if err != nil {
		t.Fatal(err)
	}
	positions := []int32{5, 6, 7}
	src, dst := V{Data: source[:48], Heads: 2}, V{Data: data[:48], Heads: 2}
	blocks := func(n, sequenceTokens, sequenceStride int) V {
		return V{Data: data[:n], Heads: 2, TokenStride: dim, HeadStride: 4 * dim, SequenceTokens: sequenceTokens, SequenceStride: sequenceStride}
	}
	into := func(name string, kind error, says string, r *Rotary, positions []int32, dst V, slots []int32, src V) wrong {
		return wrong{name, func() error { return RotateInto(r, positions, dst, slots, src) }, kind, []string{"posenc.RotateInto: " + says}}
	}
	half := Float16s(make([]uint16, 4096))
	wide := mustRotary(t, RotaryConfig{HeadDim: 2050})
	widest := mustRotary(t, RotaryConfig{HeadDim: 2048})
	if err := RotateInto(widest, positions[:1], View[BFloat16]{Data: BFloat16s(make([]uint16, 2048)), Heads: 1}, nil, View[Float16]{Data: half[:2048], Heads: 1}); err != nil {
		t.Error(err)
	}
	checkWrong(t, []wrong{
		into("no rotary", ErrConfig, "r is nil or zero", nil, positions, dst, nil, src),
		into("zero rotary", ErrConfig, "r is nil or zero", new(Rotary), positions, dst, nil, src),
		into("full width", ErrConfig, "r is a Rotary over a table of full width", full, []int32{0, 1, 2}, dst, nil, src),
		into("position", ErrPosition, "positions[1] is 1024", fast, []int32{0, 1024, 2}, dst, nil, src),
		into("too few slots", ErrLength, "slots is 2 elements, want 3", rotary, positions, dst, []int32{0, 1}, src),
		into("too many slots", ErrLength, "slots is 4 elements, want 3", rotary, positions, dst, []int32{0, 1, 2, 3}, src),
		into("no slots", ErrLength, "slots is 0 elements, want 3", rotary, positions, dst, []int32{}, src),
		into("largest slot", ErrLength, "dst.Data is ", rotary, positions, dst, []int32{0, math.MaxInt32, 2}, src),
		into("heads", ErrShape, "dst.Heads is 1, want 2 as in src", rotary, positions, V{Data: data[:24], Heads: 1}, nil, src),
		into("no heads in src", ErrShape, "src.Heads is 0", rotary, positions, dst, nil, V{Data: source[:48]}),
		into("no heads in dst", ErrShape, "dst.Heads is 0, want 2", rotary, positions, V{Data: data[:48]}, nil, src),
		into("src too short", ErrLength, "src.Data is 47 elements, want 48", rotary, positions, dst, nil, V{Data: source[:47], Heads: 2}),
		into("src too long", ErrLength, "src.Data is 49 elements, want 48", rotary, positions, dst, nil, V{Data: source[:49], Heads: 2}),
		into("dst too short", ErrLength, "dst.Data is 47 elements, want 48", rotary, positions, V{Data: data[:47], Heads: 2}, nil, src),
		into("dst too long", ErrLength, "dst.Data is 49 elements, want 48", rotary, positions, V{Data: data[:49], Heads: 2}, nil, src),
		into("dst too short for a slot", ErrLength, "dst.Data is 95 elements, want at least 96", rotary, positions, V{Data: data[:95], Heads: 2}, []int32{0, 5, 1}, src),
		into("dst too short for the last slot", ErrLength, "dst.Data is 512 elements", rotary, positions, V{Data: data, Heads: 2}, []int32{0, math.MaxInt32, 1}, src),
		into("dst without stride", ErrShape, "dst.TokenStride is -8", rotary, positions, strided(data, 2, -8, 0), nil, src),
		into("src tokens overlap", ErrOverlap, "src.TokenStride is 8", rotary, positions, dst, nil, strided(source, 2, 8, 0)),
		into("dst tokens overlap", ErrOverlap, "dst.TokenStride is 8", rotary, positions, strided(data, 2, 8, 0), []int32{0, 1, 2}, src),
		into("dst tokens overlap beyond the tokens", ErrOverlap, "dst.TokenStride is 8", rotary, positions, strided(data, 2, 8, 40), []int32{0, 1, 20}, src),
		into("same memory", ErrOverlap, "dst is sharing memory with src", rotary, positions, src, nil, src),
		into("last element of src", ErrOverlap, "dst is sharing memory with src", rotary, positions, V{Data: source[47:95], Heads: 2}, nil, src),
		into("first element of src", ErrOverlap, "dst is sharing memory with src", rotary, positions, V{Data: source[:48], Heads: 2}, nil, V{Data: source[47:95], Heads: 2}),
		into("tokens of no whole block", ErrShape, "dst.SequenceTokens is 4, want a divisor of the number of tokens, 3", rotary, positions, blocks(512, 4, 64), nil, src),
		into("last block too short", ErrLength, "dst.Data is 127 elements, want at least 128", rotary, positions, blocks(127, 4, 64), []int32{0, 1, 4}, src),
		into("blocks overlap", ErrOverlap, "dst.TokenStride is 8", rotary, positions, blocks(512, 4, 63), []int32{0, 1, 4}, src),
		into("huge block", ErrLength, "dst.Data is 512 elements", rotary, positions, blocks(512, math.MaxInt, 64), []int32{0, 1, 2}, src),
		into("block almost as huge", ErrLength, "dst.Data is 512 elements", rotary, positions, blocks(512, math.MaxInt-1, 64), []int32{0, 1, 2}, src),
		into("huge stride of blocks", ErrLength, "dst.Data is 512 elements", rotary, positions, blocks(512, 4, math.MaxInt), []int32{0, 1, 4}, src),
		into("block of no tokens", ErrShape, "dst.SequenceTokens is 0, want at least 1", rotary, positions, blocks(512, 0, 64), []int32{0, 1, 2}, src),
		into("block of negative tokens", ErrShape, "dst.SequenceTokens is -4", rotary, positions, blocks(512, -4, 64), []int32{0, 1, 2}, src),
		{"wide, float16 to float32", func() error {
			return RotateInto(wide, positions[:1], View[float32]{Data: make([]float32, 2050), Heads: 1}, nil, View[Float16]{Data: half[:2050], Heads: 1})
		}, ErrConfig, []string{"posenc.RotateInto: r is a Rotary of RotaryDim 2050, want at most 2048"}},
		{"wide, float16 to bfloat16", func() error {
			return RotateInto(wide, positions[:1], View[BFloat16]{Data: BFloat16s(make([]uint16, 2050)), Heads: 1}, nil, View[Float16]{Data: half[:2050], Heads: 1})
		}, ErrConfig, []string{"posenc.RotateInto: r is a Rotary of RotaryDim 2050"}},
		{"other types", func() error {
			return RotateInto(rotary, positions, View[BFloat16]{Data: BFloat16s(make([]uint16, 48)), Heads: 1}, nil, View[Float16]{Data: half[:24], Heads: 1})
		}, ErrLength, []string{"dst.Data is 48 elements, want 24"}},
	}, source, data)
}

// What a call leaves alone it may also be given.
func TestRotateIntoAccepts(t *testing.T) {
	const dim = 8
	source, data := make([]float32, 64), make([]float32, 64)
	rotary := mustRotary(t, RotaryConfig{HeadDim: dim})
	src := V{Data: source[:48], Heads: 2}
	positions := []int32{1, 2, 3}
	for name, call := range map[string]func() error{
		"no tokens":        func() error { return RotateInto(rotary, nil, V{Heads: 2}, nil, V{Heads: 2}) },
		"no tokens, slots": func() error { return RotateInto(rotary, nil, V{Data: data, Heads: 2}, []int32{}, V{Heads: 2}) },
		"no slot is kept":  func() error { return RotateInto(rotary, positions, V{Data: data, Heads: 2}, []int32{-1, -5, -9}, src) },
		"no slot, nowhere": func() error { return RotateInto(rotary, positions, V{Heads: 2}, []int32{-1, -5, -9}, src) },
		"neighbours": func() error {
			return RotateInto(rotary, positions[:1], V{Data: source[16:32], Heads: 2}, nil, V{Data: source[:16], Heads: 2})
		},
		"longer, with slots": func() error { return RotateInto(rotary, positions, V{Data: data, Heads: 2}, []int32{2, 0, 1}, src) },
		"no slot, many blocks": func() error {
			return RotateInto(rotary, positions, V{Data: data, Heads: 2, SequenceTokens: 4, SequenceStride: 64}, []int32{-1, -1, -1}, src)
		},
		"one block of the size": func() error {
			return RotateInto(rotary, positions, V{Data: data, Heads: 2, SequenceTokens: 4, SequenceStride: 1}, []int32{3, 1, 0}, src)
		},
	} {
		t.Run(name, func(t *testing.T) {
			clear(data)
			if err := call(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRotateIntoPastCaches(t *testing.T) {
	t.Run("float16 to float16", testRotateIntoPastCaches[Float16, Float16])
	t.Run("bfloat16 to float16", testRotateIntoPastCaches[Float16, BFloat16])
}

// Many heads of 16 bits, in a cache so large that they may be written past the
// caches of the processor, are those of many small calls.
func testRotateIntoPastCaches[D, S Element](t *testing.T) {
	const heads, dim, tokens, some = 40, 128, 512, 32
	x := slices.Repeat(randomElements[S](newRand(94), some*heads*dim), tokens/some)
	positions := make([]int32, tokens)
	countFrom(positions, 0, 1)
	eachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, cfg := range []RotaryConfig{
			{HeadDim: dim},
			{HeadDim: dim, RotaryDim: 100, Offset: 28, Layout: InterleavedToHalfSplit},
		} {
			r := mustRotary(t, cfg)
			whole, parts := make([]D, len(x)), make([]D, len(x))
			err := RotateInto(r, positions, View[D]{Data: whole, Heads: heads}, nil, View[S]{Data: x, Heads: heads})
			for first := 0; first < tokens; first += some {
				from, to := first*heads*dim, (first+some)*heads*dim
				err = errors.Join(err, RotateInto(r, positions[first:first+some], View[D]{Data: parts[from:to], Heads: heads}, nil, View[S]{Data: x[from:to], Heads: heads}))
			}
			if err != nil {
				t.Fatal(err)
			}
			if slices.Equal(bytesOf(whole), bytesOf(parts)) {
				continue // without a look at each element
			}
			for i := range whole {
				if !sameElement(whole[i], parts[i]) {
					t.Fatalf("%+v: element %d of token %d is %v at once and %v in parts", cfg, i%(heads*dim), i/(heads*dim), widen(whole[i]), widen(parts[i]))
				}
			}
		}
	})
}
