package posenc_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/kernels"
)

// cacheFor returns an empty cache of packed heads.
func cacheFor[D posenc.Quantized](tokens, heads, dim, hadamard int, scale float32) posenc.QuantizedView[D] {
	v := posenc.QuantizedView[D]{View: posenc.View[D]{Heads: heads, Data: make([]D, tokens*heads*unitsOf[D](dim))}, InverseScale: scale, Hadamard: hadamard}
	if unsafe.Sizeof(*new(D)) == 1 && scale == 0 {
		v.Scales = make([]float32, tokens*heads)
	}
	return v
}

// A call writes what single steps write. A kernel that rotates and quantizes at once exists for some
// lengths of heads, and takes some heads at once. A norm may take all heads, of as many as there may be:
// scratch memory holds a whole token.
func TestRotateIntoQuantizedIsSingleSteps(t *testing.T) {
	kit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for _, tokens := range []int{1, 3} {
			for _, layout := range kit.Layouts {
				for dim := 32; dim <= 544; dim += 32 {
					inSteps[posenc.Q8_0](t, layout, tokens, 11, dim, dim, 0)
					inSteps[posenc.Q4_0](t, layout, tokens, 11, dim, dim, 0)
					inSteps[int8](t, layout, tokens, 11, dim, dim, 0)
					inSteps[posenc.E4M3](t, layout, tokens, 11, dim, dim, 0)
					inSteps[posenc.E4M3](t, layout, tokens, 11, dim, dim, 37)
					inSteps[posenc.E5M2](t, layout, tokens, 11, dim, dim, 37)
					if dim <= 128 {
						inSteps[posenc.Q8_0](t, layout, tokens, 11, dim, dim-2, 0)
						inSteps[posenc.E5M2](t, layout, tokens, 11, dim, dim-2, 37)
					}
				}
			}
			for _, heads := range []int{1, 8, 9, 16, 17, 32, 33, 64, 128} {
				norm := mustNorm(kit.GoldenInputs(1, heads*128), 1e-6, true)
				inSteps[int8](t, posenc.HalfSplit, tokens, heads, 128, 128, 0, norm, nil)
				inSteps[int8](t, posenc.HalfSplit, tokens, heads, 128, 128, 0, nil, norm)
			}
		}
	})
}

// inSteps compares with the steps; norms are one before and one after the rotation, or none.
func inSteps[D posenc.Quantized](t *testing.T, layout posenc.Layout, tokens, heads, dim, rotaryDim int, scale float32, norms ...*posenc.RMSNorm) {
	norms = append(norms, nil, nil)
	rope := kit.MustRotary(posenc.RotaryConfig{HeadDim: dim, RotaryDim: rotaryDim, Base: 10000, Layout: layout})
	angles, keys := rope.At(kit.Sequence(tokens)), posenc.View[float32]{Data: kit.GoldenInputs(0, tokens*heads*dim), Heads: heads}
	got, want := cacheFor[D](tokens, heads, dim, 0, scale), cacheFor[D](tokens, heads, dim, 0, scale)
	kit.NoError(t, posenc.RotateIntoQuantized(angles, nil, posenc.IntoQuantized[D, float32]{Dst: got, Src: keys, Norm: norms[0], RotatedNorm: norms[1]}),
		posenc.RotateFused(angles, posenc.FusedView[float32]{View: keys, Norm: norms[0], RotatedNorm: norms[1]}),
		posenc.RotateIntoQuantized(rope.Unrotated(tokens), nil, posenc.IntoQuantized[D, float32]{Dst: want, Src: keys}))
	if !slices.Equal(got.Data, want.Data) || !kit.SameBits(got.Scales, want.Scales) {
		t.Errorf("%T, %v, %d tokens of %d heads of %d, of which %d rotate, norms %v: other bits than single steps", got.Data, layout, tokens, heads, dim, rotaryDim, norms[:2])
	}
}

// One token, most of whose arguments a glance checks, gets the errors and the bits of a call
// that says HeadDim, whose arguments are checked one by one.
func TestRotateIntoQuantizedChecksOneToken(t *testing.T) {
	oneTokenChecks[posenc.Q8_0](t)
	oneTokenChecks[int8](t)
	oneTokenChecks[posenc.E4M3](t)
	oneTokenChecks[posenc.E5M2](t)
	oneTokenChecks[posenc.Q5_1](t)
	oneTokenChecks[posenc.NVFP4](t)
}

func oneTokenChecks[D posenc.Quantized](t *testing.T) {
	r := kit.NewRand(16)
	failed, rounds := 0, kit.Rounds(10000)
	rotaries := map[int]*posenc.Rotary{}
	for _, dim := range []int{48, 64, 128, 4097} {
		rotaries[dim] = kit.MustRotary(posenc.RotaryConfig{HeadDim: dim, RotaryDim: min(dim, 128), Layout: posenc.HalfSplit, Base: 10000})
	}
	usually := func(usual int, others ...int) int {
		if r.IntN(32) > 0 {
			return usual
		}
		return kit.OneOf(r, others)
	}
	for range rounds {
		dim := usually(64<<r.IntN(2), 48, 4097)
		heads, tokens, units := 1+r.IntN(3), 1+r.IntN(3), unitsOf[D](dim)
		slots := kit.OneOf(r, [][]int32{nil, {0}, {0}, {1}, {2}, {-1}, {math.MaxInt32}})
		if slots == nil {
			tokens = usually(1, 2)
		}
		length := tokens*heads*units + usually(0, -1, 1, units)
		x, unrotated := posenc.IntoQuantized[D, float32]{}, r.IntN(4) == 0
		x.Src = posenc.View[float32]{
			Data:  make([]float32, heads*dim+usually(0, -1, 1, dim)),
			Heads: usually(heads, 0, -1, heads+1, math.MaxInt, math.MaxInt/2+1+heads), TokenStride: usually(0, -1, dim, heads*dim), HeadStride: usually(0, -1, 1, dim),
			SequenceTokens: usually(0, 1), SequenceStride: usually(0, -1, heads*dim),
		}
		x.Dst.View = posenc.View[D]{
			Data:  make([]D, length),
			Heads: usually(x.Src.Heads, heads+1), TokenStride: usually(heads*units*r.IntN(2), -1, units, heads*units+1), HeadStride: usually(0, -1, 1, units),
			SequenceTokens: usually(0, 1), SequenceStride: usually(0, -1, heads*units),
		}
		x.Dst.Hadamard = usually(0, 32, 33)
		fixed, scales := 0, 0
		switch any(x.Dst.Data).(type) {
		case []int8:
			scales = 1
		case []posenc.E4M3:
			scales = r.IntN(2)
			fixed = 1 - scales
		case []posenc.E5M2:
			fixed = 1
		}
		if usually(fixed, 1-fixed) == 1 {
			x.Dst.InverseScale = kit.OneOf(r, []float32{1, 1, 1, 1, 0x1p126, 0x1p-126, -1, 0x1p127, 0x1p-127, float32(math.NaN())})
		}
		if usually(scales, 1-scales) == 1 {
			x.Dst.Scales = make([]float32, max(0, length/dim+usually(0, -1, 1)))
		}
		if usually(0, 1) == 1 {
			*kit.OneOf(r, []**posenc.RMSNorm{&x.Norm, &x.RotatedNorm}) = new(posenc.RMSNorm)
		}
		for i := range x.Src.Data {
			x.Src.Data[i] = float32(i%31) - 7
		}
		store := func(x posenc.IntoQuantized[D, float32]) (posenc.IntoQuantized[D, float32], string) {
			x.Dst.Data, x.Dst.Scales = slices.Clone(x.Dst.Data), slices.Clone(x.Dst.Scales)
			angles := rotaries[dim].At([]int32{5})
			if unrotated {
				angles = rotaries[dim].Unrotated(1)
			}
			return x, fmt.Sprint(posenc.RotateIntoQuantized(angles, slots, x))
		}
		got, err := store(x)
		x.HeadDim = dim
		want, wantErr := store(x)
		if err != wantErr {
			t.Fatalf("%T, heads of %d, slots %v: got %v, with HeadDim %v", x.Dst.Data, dim, slots, err, wantErr)
		}
		if !slices.Equal(got.Dst.Data, want.Dst.Data) || !kit.SameBits(got.Dst.Scales, want.Dst.Scales) {
			t.Fatalf("%T, heads of %d, slots %v: other bits than with HeadDim", x.Dst.Data, dim, slots)
		}
		if err != "<nil>" {
			failed++
		}
	}
	if share := failed * 100 / rounds; share < 20 || share > 80 {
		t.Errorf("%T: %d%% of the calls fail: the test is one-sided", *new(D), share)
	}
}

// Two caches of one call overlap exactly when heads of theirs share a byte, up to the end of the
// last page that is written, however many tokens their pages have, and wherever their blocks begin. What
// is right once is right again: the views do not change.
func TestQuantizedPagesOverlap(t *testing.T) {
	r := kit.NewRand(123)
	const dim, block, most = 32, 34, 40 // elements and bytes of a block, blocks
	rotary, memory := kit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit}), make([]byte, block*most)
	type heads = posenc.IntoQuantized[posenc.Q8_0, float32]
	slots := make([]int32, 2)
	random := func() (x heads, start int) {
		first := r.IntN(most - 1)
		start, x.Dst.Heads = first*block+kit.OneOf(r, []int{0, 0, 1, 17, 33}), 1+r.IntN(2)
		x.Dst.TokenStride, x.Dst.HeadStride = r.IntN(5), r.IntN(5)
		if r.IntN(2) == 0 {
			x.Dst.SequenceTokens, x.Dst.SequenceStride = 1+r.IntN(4), 1+r.IntN(10)
		}
		x.Dst.Data = kit.Must(posenc.FromBytes[posenc.Q8_0](memory[start:][:block*(1+r.IntN(most-1-first))]))
		x.Src = posenc.View[float32]{Data: make([]float32, len(slots)*x.Dst.Heads*dim), Heads: x.Dst.Heads}
		return x, start
	}
	touched := func(x *heads, start int) (bytes [block * most]bool) {
		tokens := int(max(slots[0], slots[1])) + 1
		if n := x.Dst.SequenceTokens; n > 0 {
			tokens = (tokens + n - 1) / n * n
		}
		for token := range tokens {
			for h := range x.Dst.Heads {
				for i := range block {
					bytes[start+block*kit.RowAt(&x.Dst.View, token, h, 1)+i] = true
				}
			}
		}
		return bytes
	}
	for found, tried := map[bool]int{}, 0; tried < kit.Rounds(20000); {
		slots[0], slots[1] = int32(r.IntN(6)), int32(r.IntN(6))
		call := func(x heads) error { return posenc.RotateIntoQuantized(rotary.At([]int32{1, 2}), slots, x) }
		a, startA := random()
		b, startB := random()
		if call(a) != nil || call(b) != nil {
			continue
		}
		tried++
		want, inA, inB := false, touched(&a, startA), touched(&b, startB)
		for at := range inA {
			want = want || inA[at] && inB[at]
		}
		xs := []heads{a, b}
		if err := posenc.RotateIntoQuantizedKV(rotary.At([]int32{1, 2}), slots, xs[0], xs[1]); errors.Is(err, posenc.ErrOverlap) != want {
			t.Fatalf("slots %v, views %+v at %d and %+v at %d: error %v, overlap %t", slots, shapeOf(a.Dst), startA, shapeOf(b.Dst), startB, err, want)
		}
		if shapeOf(xs[0].Dst) != shapeOf(a.Dst) || shapeOf(xs[1].Dst) != shapeOf(b.Dst) {
			t.Fatal("the call changed its views")
		}
		if found[want]++; tried == kit.Rounds(20000) && min(found[true], found[false]) < tried/10 {
			t.Errorf("%d of %d views overlap: the test is one-sided", found[true], tried)
		}
	}
}

// wordsOf returns the memory of s as elements of another type.
func wordsOf[T, E any](s []E) []T {
	memory := kit.BytesOf(s)
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(memory))), len(memory)/int(unsafe.Sizeof(*new(T))))
}

// shapeOf is all of a view but its memory.
func shapeOf[D posenc.Quantized](v posenc.QuantizedView[D]) [5]int {
	return [5]int{v.Heads, v.TokenStride, v.HeadStride, v.SequenceTokens, v.SequenceStride}
}

func TestQuantizedArguments(t *testing.T) {
	const dim = 64
	rotary := kit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit})
	decaying := kit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit, XPos: &posenc.XPos{ScaleBase: 512}})
	positions := []int32{0, 1}
	data := make([]float32, 2*2*dim)
	src := posenc.View[float32]{Data: data, Heads: 2}
	q8, integers, e4m3 := cacheFor[posenc.Q8_0](2, 2, dim, 0, 0), cacheFor[int8](2, 2, dim, 0, 0), cacheFor[posenc.E4M3](2, 2, dim, 0, 1)
	fails := kit.Failures(t, data)
	const into, both = "posenc.RotateIntoQuantized: ", "posenc.RotateIntoQuantizedKV: "
	type (
		blocks = posenc.IntoQuantized[posenc.Q8_0, float32]
		bytes  = posenc.IntoQuantized[int8, float32]
	)
	unrotated, slots := rotary.Unrotated(len(positions)), []int32(nil)
	storeBy := func(a posenc.Angles, change func(x *blocks)) error {
		x := blocks{Dst: q8, Src: src}
		change(&x)
		return posenc.RotateIntoQuantized(a, slots, x)
	}
	store := func(change func(x *blocks)) error { return storeBy(rotary.At(positions), change) }
	fails(store(func(x *blocks) { x.Dst.Hadamard = 48 }), posenc.ErrConfig, into+"x.Dst.Hadamard is 48, want 0, or a power of two")
	fails(store(func(x *blocks) { x.Dst.Hadamard = -32 }), posenc.ErrConfig, into+"x.Dst.Hadamard is -32, want 0, or a power of two")
	fails(store(func(x *blocks) { x.Dst.Hadamard = 128 }), posenc.ErrConfig, into+"x.Dst.Hadamard is 128")
	fails(store(func(x *blocks) { x.Dst.InverseScale = 2 }), posenc.ErrConfig, into+"x.Dst.InverseScale is 2, want 0")
	fails(store(func(x *blocks) { x.Dst.Scales = make([]float32, 4) }), posenc.ErrLength, into+"x.Dst.Scales has 4 elements, want nil")
	fails(store(func(x *blocks) { x.Dst.Heads = 1 }), posenc.ErrShape, into+"x.Dst.Heads is 1, want 2 as in Src")
	fails(store(func(x *blocks) { x.Dst.Data = x.Dst.Data[:3] }), posenc.ErrLength, into+"x.Dst.Data has 3 elements, want 8 for 2 tokens of 2 heads of 2 elements (blocks of 32 numbers)")
	fails(store(func(x *blocks) { x.HeadDim = 32 }), posenc.ErrShape, into+"x.HeadDim is 32, want 0, or")
	fails(store(func(x *blocks) { x.RotatedNorm = mustNorm(make([]float32, 3), 1, false) }), posenc.ErrShape, into+"x.RotatedNorm has 3 elements, want HeadDim = 64 or Heads*HeadDim = 128")
	fails(store(func(x *blocks) { x.Norm = new(posenc.RMSNorm) }), posenc.ErrConfig, into+"x.Norm is zero")
	fails(storeBy(unrotated, func(x *blocks) { x.HeadDim = -64 }), posenc.ErrShape, into+"x.HeadDim is -64, want 0, or")
	fails(storeBy(unrotated, func(x *blocks) { x.HeadDim = 48 }), posenc.ErrShape, into+"x.Dst: HeadDim is 48, want a multiple of the 32")
	fails(storeBy(unrotated, func(x *blocks) { x.HeadDim = 4128 }), posenc.ErrShape, into+"x.Dst: HeadDim is 4128, want at most 4096")
	for _, n := range []int{129, 130} { // 16512 and more elements of a token
		fails(posenc.RotateIntoQuantized(rotary.Unrotated(1), nil, bytes{
			Dst: cacheFor[int8](1, n, 128, 0, 0), Src: posenc.View[float32]{Data: make([]float32, n*128), Heads: n}, Norm: mustNorm(make([]float32, n*128), 1, false), HeadDim: 128,
		}), posenc.ErrShape, into+fmt.Sprintf("x.Norm is of %d elements, want at most 16384", n*128))
	}
	slots = []int32{0, 2}
	fails(store(func(x *blocks) {}), posenc.ErrPosition, into+"slots[1] is 2, want below 2")
	slots = []int32{0}
	fails(store(func(x *blocks) {}), posenc.ErrLength, into+"slots has 1 element, want 2")
	slots = []int32{0, 1}
	fails(storeBy(unrotated, func(x *blocks) { x.Src.Data = data[:2*dim] }), posenc.ErrLength, into+"x.Src.Data has 128 elements, want 256")

	oneToken := func(slots []int32, change func(x *blocks)) error {
		x := blocks{Dst: cacheFor[posenc.Q8_0](1, 2, dim, 0, 0), Src: posenc.View[float32]{Data: data[:2*dim], Heads: 2}}
		change(&x)
		return posenc.RotateIntoQuantized(rotary.At([]int32{1}), slots, x)
	}
	empty := func(x *blocks, heads int) {
		x.Src, x.Dst.View = posenc.View[float32]{Heads: heads}, posenc.View[posenc.Q8_0]{Heads: heads}
	}
	fails(oneToken(nil, func(x *blocks) { x.HeadDim = 32 }), posenc.ErrShape, into+"x.HeadDim is 32, want 0, or")
	fails(oneToken(nil, func(x *blocks) { x.HeadDim = -64 }), posenc.ErrShape, into+"x.HeadDim is -64, want 0, or")
	fails(oneToken(nil, func(x *blocks) { empty(x, 0) }), posenc.ErrShape, into+"x.Src.Heads is 0, want at least 1")
	fails(oneToken([]int32{-1}, func(x *blocks) { empty(x, math.MinInt/2) }), posenc.ErrShape, into+"x.Src.Heads is -") // whose product is 0
	fails(oneToken([]int32{0}, func(x *blocks) { x.Dst.Heads = 1 }), posenc.ErrShape, into+"x.Dst.Heads is 1, want 2 as in Src")
	fails(oneToken([]int32{0}, func(x *blocks) { x.Dst.Data = x.Dst.Data[:3] }), posenc.ErrLength, into+"x.Dst.Data has 3 elements, want")

	storeBytes := func(a posenc.Angles, change func(x *bytes)) error {
		x := bytes{Dst: integers, Src: src}
		change(&x)
		return posenc.RotateIntoQuantized(a, slots, x)
	}
	ofBytes := func(change func(x *bytes)) error { return storeBytes(rotary.At(positions), change) }
	ids, fractions, wide := []int32{0, 1, 0, 1}, []float32{0, 1, 0, 1}, make([]float32, 64)
	slots = ids[:2]
	fails(ofBytes(func(x *bytes) { x.Dst.Scales = wordsOf[float32](ids) }), posenc.ErrOverlap, into+"x.Dst is sharing memory with slots")
	slots = nil
	fails(storeBytes(rotary.At(ids[2:]), func(x *bytes) { x.Dst.Scales = wordsOf[float32](ids) }), posenc.ErrOverlap, into+"x.Dst is sharing memory with the positions")
	fails(storeBytes(rotary.AtFractional(fractions[:2]), func(x *bytes) { x.Dst.Scales = fractions }), posenc.ErrOverlap, into+"x.Dst is sharing memory with the positions")
	fails(storeBytes(rotary.AtFractional(wide[:2]), func(x *bytes) { x.Dst.Data = wordsOf[int8](wide) }), posenc.ErrOverlap, into+"x.Dst is sharing memory with the positions")
	fails(ofBytes(func(x *bytes) { x.Dst.Scales = nil }), posenc.ErrLength, into+"x.Dst.Scales has 0 elements, want 4")
	fails(ofBytes(func(x *bytes) { x.Dst.Scales = make([]float32, 5) }), posenc.ErrLength, into+"x.Dst.Scales has 5 elements, want 4, one for every 64 of the 256 elements")
	fails(ofBytes(func(x *bytes) { x.Dst.TokenStride = 130 }), posenc.ErrShape, into+"x.Dst.TokenStride is 130, want a multiple of HeadDim 64")
	fails(ofBytes(func(x *bytes) { x.Dst.Scales = data[:4] }), posenc.ErrOverlap, into+"x.Dst is sharing memory with x.Src")
	fails(ofBytes(func(x *bytes) { x.Dst.Scales = wordsOf[float32](integers.Data)[:4] }), posenc.ErrOverlap, into+"x.Dst.Scales is sharing memory with x.Dst.Data")
	for _, scale := range []float32{0, -1, float32(math.NaN()), float32(math.Inf(1)), 0x1p127, 0x1p-127} {
		v := e4m3
		v.InverseScale = scale
		fails(posenc.RotateIntoQuantized(rotary.At(positions), nil, posenc.IntoQuantized[posenc.E4M3, float32]{Dst: v, Src: src}), posenc.ErrConfig, fmt.Sprintf("x.Dst.InverseScale is %v, want a number from 2^-126 to 2^126, or Scales: ", scale))
		fails(posenc.Dequantize(src, cacheFor[posenc.E5M2](2, 2, dim, 0, scale), posenc.DequantizeOptions{Tokens: 2, HeadDim: dim}), posenc.ErrConfig, fmt.Sprintf("src.InverseScale is %v, want a number from 2^-126 to 2^126: ", scale))
	}

	for _, scale := range []float32{0x1p-126, 0x1p126} {
		got := []float32{1, 1}
		kit.NoError(t, posenc.Dequantize(posenc.View[float32]{Data: got, Heads: 1}, cacheFor[posenc.E4M3](1, 1, 2, 0, scale), posenc.DequantizeOptions{Tokens: 1, HeadDim: 2}))
		if got[0] != 0 || got[1] != 0 {
			t.Errorf("InverseScale %g: zeros became %v", scale, got)
		}
	}

	keys, values := blocks{Dst: q8, Src: src}, bytes{Dst: cacheFor[int8](2, 2, dim, 0, 0), Src: src}
	fails(posenc.RotateIntoQuantizedKV(rotary.At(positions), nil, keys, keys), posenc.ErrOverlap, both+"values.Dst is sharing elements or scales with keys.Dst")
	shared := posenc.IntoQuantized[posenc.E5M2, float32]{Dst: posenc.QuantizedView[posenc.E5M2]{View: posenc.View[posenc.E5M2]{Data: wordsOf[posenc.E5M2](q8.Data)[:4*dim], Heads: 2}, InverseScale: 1}, Src: src}
	fails(posenc.RotateIntoQuantizedKV(rotary.At(positions), nil, keys, shared), posenc.ErrOverlap, both+"values.Dst is sharing memory with keys.Dst, want a view of other memory, because formats")
	inSource := bytes{Dst: cacheFor[int8](2, 2, dim, 0, 0), Src: posenc.View[float32]{Data: make([]float32, 4*dim), Heads: 2}}
	inSource.Dst.Data = wordsOf[int8](src.Data)[:4*dim]
	fails(posenc.RotateIntoQuantizedKV(rotary.At(positions), nil, inSource, values), posenc.ErrOverlap, both+"keys.Dst is sharing memory with values.Src")
	inKeys := values
	inKeys.Dst.Scales = wordsOf[float32](q8.Data)[:4]
	fails(posenc.RotateIntoQuantizedKV(rotary.At(positions), nil, keys, inKeys), posenc.ErrOverlap, both+"values.Dst.Scales is sharing memory with keys.Dst.Data")
	few := values
	few.Src.Data = src.Data[:2*dim]
	fails(posenc.RotateIntoQuantizedKV(rotary.At(positions), nil, keys, few), posenc.ErrLength, both+"values.Src.Data has 128 elements, want 256")
	sameScales := bytes{Dst: cacheFor[int8](2, 2, dim, 0, 0), Src: src}
	sameScales.Dst.Scales = values.Dst.Scales
	fails(posenc.RotateIntoQuantizedKV(rotary.At(positions), nil, values, sameScales), posenc.ErrOverlap, both+"values.Dst is sharing elements or scales with keys.Dst")

	twoScales, inDeltas := e4m3, integers
	twoScales.Scales, inDeltas.Scales = make([]float32, 4), wordsOf[float32](ids)
	fails(posenc.ShiftQuantized(rotary.At(positions), twoScales), posenc.ErrConfig, "xs[0].InverseScale is 1, want 0, because the scales are in Scales")
	fails(posenc.ShiftQuantized(decaying.At(positions), q8), posenc.ErrConfig, "posenc.ShiftQuantized: deltas is from a Rotary with XPos")
	fails(posenc.ShiftQuantized(rotary.At(positions), q8, q8), posenc.ErrOverlap, "posenc.ShiftQuantized: xs[1] is sharing elements")
	fails(posenc.ShiftQuantized(rotary.At(ids[2:]), inDeltas), posenc.ErrOverlap, "posenc.ShiftQuantized: xs[0] is sharing memory with deltas")

	fails(posenc.ShiftQuantized[int8](rotary.At(positions)), posenc.ErrShape, "posenc.ShiftQuantized: xs is empty, want at least one view")
	fails(posenc.ShiftQuantized(kit.MustRotary(posenc.RotaryConfig{HeadDim: 48, Layout: posenc.HalfSplit}).At(positions), q8), posenc.ErrShape, "posenc.ShiftQuantized: xs[0]: HeadDim is 48, want a multiple of the 32")
	fails(posenc.ShiftQuantized(rotary.At(positions[:1]), cacheFor[int8](1, 2, dim, 0, 0), integers), posenc.ErrLength, "posenc.ShiftQuantized: xs[1].Data has 256 elements, want 128")
	inNumbers := integers
	inNumbers.Scales = wordsOf[float32](values.Dst.Data)[:4]
	fails(posenc.ShiftQuantized(rotary.At(positions), values.Dst, inNumbers), posenc.ErrOverlap, "posenc.ShiftQuantized: xs[1].Scales is sharing memory with xs[0]")
	fails(posenc.ShiftQuantized(rotary.At(positions), inNumbers, values.Dst), posenc.ErrOverlap, "posenc.ShiftQuantized: xs[0].Scales is sharing memory with xs[1]")

	dequantize := func(tokens, headDim int) error {
		return posenc.Dequantize(src, q8, posenc.DequantizeOptions{Tokens: tokens, HeadDim: headDim})
	}
	fails(posenc.Dequantize(posenc.View[float32]{Data: data[:2*dim], Heads: 1}, q8, posenc.DequantizeOptions{Tokens: 2, HeadDim: dim}), posenc.ErrShape, "posenc.Dequantize: dst.Heads is 1, want 2")
	fails(dequantize(-1, dim), posenc.ErrShape, "posenc.Dequantize: options.Tokens is -1")
	fails(dequantize(2, 100), posenc.ErrShape, "posenc.Dequantize: options.HeadDim is 100, want a multiple of the 32")
	fails(dequantize(2, 4128), posenc.ErrShape, "posenc.Dequantize: options.HeadDim is 4128, want at most 4096")
	fails(dequantize(2, 0), posenc.ErrShape, "posenc.Dequantize: options.HeadDim is 0")
	from := func(change func(v *posenc.QuantizedView[int8])) error {
		v := integers
		change(&v)
		return posenc.Dequantize(src, v, posenc.DequantizeOptions{Tokens: 2, HeadDim: dim})
	}
	fails(from(func(v *posenc.QuantizedView[int8]) { v.Data = wordsOf[int8](data[:64]) }), posenc.ErrOverlap, "posenc.Dequantize: dst is sharing memory with src")
	fails(from(func(v *posenc.QuantizedView[int8]) { v.Scales = data[:4] }), posenc.ErrOverlap, "posenc.Dequantize: dst is sharing memory with src")
	fails(from(func(v *posenc.QuantizedView[int8]) { v.Scales = make([]float32, 5) }), posenc.ErrLength, "posenc.Dequantize: src.Scales has 5 elements, want 4")
	fails(from(func(v *posenc.QuantizedView[int8]) { v.TokenStride = 129 }), posenc.ErrShape, "posenc.Dequantize: src.TokenStride is 129, want a multiple of HeadDim 64")
	fails(from(func(v *posenc.QuantizedView[int8]) { v.HeadStride = 65 }), posenc.ErrShape, "posenc.Dequantize: src.HeadStride is 65, want a multiple of HeadDim 64")
	fails(from(func(v *posenc.QuantizedView[int8]) { v.SequenceTokens, v.SequenceStride = 1, 129 }), posenc.ErrShape, "posenc.Dequantize: src.SequenceStride is 129, want a multiple of HeadDim 64")
	fails(from(func(v *posenc.QuantizedView[int8]) { v.Hadamard = -64 }), posenc.ErrConfig, "posenc.Dequantize: src.Hadamard is -64, want 0, or")

	bySlots := func(slots ...int32) error {
		return posenc.Dequantize(src, integers, posenc.DequantizeOptions{Tokens: 2, HeadDim: dim, Slots: slots})
	}
	fails(bySlots(0), posenc.ErrLength, "posenc.Dequantize: options.Slots has 1 element, want 2, one for each token")
	fails(bySlots(0, -1), posenc.ErrPosition, "posenc.Dequantize: options.Slots[1] is -1, want at least 0")
	fails(bySlots(2, 0), posenc.ErrPosition, "posenc.Dequantize: options.Slots[0] is 2, want below 2")
	inDst := make([]float32, 4*dim)
	fails(posenc.Dequantize(posenc.View[float32]{Data: inDst, Heads: 2}, integers, posenc.DequantizeOptions{Tokens: 2, HeadDim: dim, Slots: wordsOf[int32](inDst)[4:6]}), posenc.ErrOverlap, "posenc.Dequantize: dst is sharing memory with options.Slots")
	fails(posenc.Dequantize(posenc.View[float32]{Data: data[:2*dim], Heads: 2}, integers, posenc.DequantizeOptions{Tokens: 2, HeadDim: dim}), posenc.ErrLength, "posenc.Dequantize: dst.Data has 128 elements, want 256")
	fails(posenc.Dequantize(src, cacheFor[int8](1, 2, dim, 0, 0), posenc.DequantizeOptions{Tokens: 2, HeadDim: dim}), posenc.ErrLength, "posenc.Dequantize: src.Data has 128 elements, want 256")
	long := cacheFor[int8](1, 1, 4096, 0, 0)
	long.HeadStride = 2 * 4096 // of one head
	kit.NoError(t, posenc.Dequantize(posenc.View[float32]{Data: make([]float32, 4096), Heads: 1}, long, posenc.DequantizeOptions{Tokens: 1, HeadDim: 4096}))

	hadamard := func(headDim, block, tokens int) error {
		return posenc.Hadamard(posenc.HadamardOptions{HeadDim: headDim, Block: block}, tokens, src)
	}
	fails(hadamard(1024, 1024, 0), posenc.ErrConfig, "posenc.Hadamard: options.Block is 1024, want a power of two from 32 to 512")
	fails(hadamard(64, 16, 2), posenc.ErrConfig, "posenc.Hadamard: options.Block is 16")
	fails(hadamard(0, 32, 2), posenc.ErrConfig, "posenc.Hadamard: options.HeadDim is 0")
	fails(hadamard(1, 32, 2), posenc.ErrConfig, "posenc.Hadamard: options.Block is 32, want a power of two from 32 to 512 that divides HeadDim 1")
	fails(hadamard(64, 32, -1), posenc.ErrShape, "posenc.Hadamard: tokens is -1")
	if slices.ContainsFunc(q8.Data, func(b posenc.Q8_0) bool { return b != posenc.Q8_0{} }) || slices.Max(integers.Data) != 0 || slices.Max(e4m3.Data) != 0 {
		t.Error("a call that failed wrote to its cache")
	}
}

// One call keeps keys raw and rotated. Keys that are moved from there, again and
// again, have the bits of keys that were rotated once, by another path: straight from the source, or, where the
// raw ones are quantized, from what is read back.
func TestRawAndRotated(t *testing.T) {
	t.Run("raw=float32", rawAndRotated[float32, float32])
	t.Run("raw=float16", rawAndRotated[posenc.Float16, posenc.Float16])
	t.Run("raw=bfloat16", rawAndRotated[posenc.BFloat16, float32])
	t.Run("raw=Q8_0", rawAndRotated[posenc.Q8_0, float32])
}

func rawAndRotated[R posenc.Quantized, S posenc.Element](t *testing.T) {
	const tokens, heads, dim, room = 5, 2, 64, 9
	rope := kit.MustRotary(posenc.RotaryConfig{HeadDim: dim, RotaryDim: 48, Offset: 8, Layout: posenc.Interleaved})
	k := posenc.View[S]{Data: make([]S, tokens*heads*dim), Heads: heads}
	for i, x := range kit.GoldenInputs(0, len(k.Data)) {
		k.Data[i] = kit.Narrow[S](x)
	}
	slots := []int32{8, 0, 3, 4, 1}
	keys, raw := cacheFor[posenc.Q4_0](room, heads, dim, 32, 0), cacheFor[R](room, heads, dim, 0, 0)
	direct := cacheFor[posenc.Q4_0](room, heads, dim, 32, 0)
	kit.NoError(t, posenc.RotateIntoQuantizedKV(rope.At([]int32{100, 101, 102, 103, 104}), slots,
		posenc.IntoQuantized[posenc.Q4_0, S]{Dst: keys, Src: k},
		posenc.IntoQuantized[R, S]{Dst: raw, Src: k}))
	before := slices.Clone(raw.Data)
	for _, positions := range [][]int32{{100, 101, 102, 103, 104}, {7, 0, 1 << 20, 5, 6}, {-3, 12, 9, 10, 11}} {
		kit.NoError(t, posenc.RotateQuantized(rope.At(positions), posenc.FromQuantized[posenc.Q4_0, R]{Dst: keys, DstSlots: slots, Src: raw, SrcSlots: slots}))
		read := posenc.View[float32]{Data: make([]float32, len(k.Data)), Heads: heads}
		kit.NoError(t, posenc.Dequantize(read, raw, posenc.DequantizeOptions{Tokens: tokens, HeadDim: dim, Slots: slots}))
		kit.NoError(t, posenc.RotateIntoQuantized(rope.At(positions), slots, posenc.IntoQuantized[posenc.Q4_0, float32]{Dst: direct, Src: read}))
		if !slices.Equal(keys.Data, direct.Data) {
			t.Errorf("keys moved to %d differ from keys rotated once", positions)
		}
		if _, same := any(raw.Data).([]S); same {
			kit.NoError(t, posenc.RotateIntoQuantized(rope.At(positions), slots, posenc.IntoQuantized[posenc.Q4_0, S]{Dst: direct, Src: k}))
			if !slices.Equal(keys.Data, direct.Data) {
				t.Errorf("keys moved to %d differ from the source rotated once", positions)
			}
		}
	}
	if !slices.Equal(raw.Data, before) {
		t.Error("the raw keys have changed")
	}
}

// A cache of float16 is what RotateInto writes, beside another format in the same call.
func TestIntoFloatsIsRotateInto(t *testing.T) {
	const tokens, heads, dim = 33, 3, 80
	for _, layout := range allLayouts {
		rope := kit.MustRotary(posenc.RotaryConfig{HeadDim: dim, RotaryDim: 32, Offset: 40, Layout: layout})
		k := posenc.View[posenc.BFloat16]{Data: make([]posenc.BFloat16, tokens*heads*dim), Heads: heads}
		for i, x := range kit.GoldenInputs(0, len(k.Data)) {
			k.Data[i] = kit.Narrow[posenc.BFloat16](x)
		}
		keys, want := cacheFor[posenc.Float16](tokens, heads, dim, 0, 0), make([]posenc.Float16, len(k.Data))
		values := cacheFor[int8](tokens, heads, dim, 0, 0)
		a := rope.At(kit.Sequence(tokens))
		kit.NoError(t, posenc.RotateIntoQuantizedKV(a, nil, posenc.IntoQuantized[posenc.Float16, posenc.BFloat16]{Dst: keys, Src: k}, posenc.IntoQuantized[int8, posenc.BFloat16]{Dst: values, Src: k}))
		kit.NoError(t, posenc.RotateInto(a, posenc.View[posenc.Float16]{Data: want, Heads: heads}, nil, k))
		if i := kit.FirstDifference(keys.Data, want); i >= 0 {
			t.Errorf("%v: element %d is %#x, want %#x", layout, i, keys.Data[i], want[i])
		}
	}
}

// Values of llama.cpp without flash attention lie transposed: element j of the heads of the token in slot s is
// j*kv_size+s (llama_kv_cache::set_input_v_idxs).
func TestTransposedValues(t *testing.T) {
	kit.EachImplementation(t, func(t *testing.T, _ kernels.Implementation) {
		transposedValues[posenc.Float16, float32](t)
		transposedValues[float32, float32](t)
		transposedValues[posenc.Float16, posenc.BFloat16](t)
		transposedValues[posenc.BFloat16, posenc.BFloat16](t)
	})
}

func transposedValues[D interface {
	posenc.Quantized
	posenc.Element
}, S posenc.Element](t *testing.T) {
	const all, tokens, room, extra = 3 * 100, 41, 64, 3 // other numbers lie behind those of a token
	rope := kit.MustRotary(posenc.RotaryConfig{HeadDim: 64, Layout: posenc.HalfSplit})
	v := make([]S, tokens*(all+extra))
	for i, x := range kit.GoldenInputs(0, len(v)) {
		v[i] = kit.Narrow[S](x)
	}
	slots := kit.Sequence(tokens) // runs of all lengths, some tokens nowhere
	for i := range slots {
		if i%9 == 8 {
			slots[i] = -1
		} else if i > 20 {
			slots[i] += 20
		}
	}
	got, want := make([]D, all*room), make([]D, all*room)
	cache := posenc.QuantizedView[D]{View: posenc.View[D]{Data: got, Heads: all, TokenStride: 1, HeadStride: room}}
	kit.NoError(t, posenc.RotateIntoQuantized(rope.Unrotated(tokens), slots, posenc.IntoQuantized[D, S]{Dst: cache, HeadDim: 1,
		Src: posenc.View[S]{Data: v, Heads: all, TokenStride: all + extra, HeadStride: 1}}))
	for token, slot := range slots {
		for j := 0; j < all && slot >= 0; j++ {
			want[j*room+int(slot)] = kit.Narrow[D](kit.Widen(v[token*(all+extra)+j]))
		}
	}
	if i := kit.FirstDifference(got, want); i >= 0 {
		t.Errorf("%T of %T: element %d of slot %d is %v, want %v", got, v, i/room, i%room, got[i], want[i])
	}
	read := make([]float32, all)
	kit.NoError(t, posenc.Dequantize(posenc.View[float32]{Data: read, Heads: all}, cache, posenc.DequantizeOptions{Tokens: 1, HeadDim: 1, Slots: slots[3:4]}))
	for j, x := range read {
		if x != kit.Widen(want[j*room+3]) {
			t.Fatalf("element %d is read back as %v", j, x)
		}
	}
}
