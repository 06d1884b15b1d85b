package posenc_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/kernels"
)

// pageVectors is testdata/pages/vectors.json.
type pageVectors struct {
	ONNXRuntime []struct {
		Bits, Dim, Tokens int
		Scales, Special   []uint32
		Keys, Values      string
	}
	OpenVINO []struct {
		Precision, Mode string
		Group           int
		Calls           []int
		Special         []uint32
		Keys, Values    string
	}
}

// pageInputs is inputs of testdata/pages/generate.py: keys or values of two heads.
func pageInputs(seed, tokens, dim int, outlier bool, special []uint32) []float32 {
	x := kit.GoldenInputs(seed, tokens*2*dim)
	for i := 5; outlier && i < len(x); i += dim {
		x[i] *= 16
	}
	for i, bits := range special {
		x[i] = math.Float32frombits(bits)
	}
	return x
}

func checkBytes(t *testing.T, what string, got []byte, want string) {
	t.Helper()
	bytesWanted := kit.Hex[byte](want)
	if bytes.Equal(got, bytesWanted) {
		return
	}
	different, first := 0, -1
	for i := range bytesWanted {
		if got[i] != bytesWanted[i] {
			different++
			if first < 0 {
				first = i
			}
		}
	}
	t.Errorf("%s: %d of %d bytes differ, the first is number %d: %x, want %x", what, different, len(got), first, got[first], bytesWanted[first])
}

// Bytes are those of ONNX Runtime's GroupQueryAttention and of OpenVINO's PagedAttentionExtension, also where a page
// grows call by call.
func TestPagesGolden(t *testing.T) {
	kit.EachImplementation(t, func(t *testing.T, _ kernels.Implementation) { checkPagesGolden(t) })
}

func checkPagesGolden(t *testing.T) {
	var vectors pageVectors
	kit.ReadJSON("testdata/pages/vectors.json", &vectors)
	if len(vectors.ONNXRuntime) != 10 || len(vectors.OpenVINO) != 12 {
		t.Fatalf("%d and %d vectors, want 10 and 12", len(vectors.ONNXRuntime), len(vectors.OpenVINO))
	}
	const heads = 2
	rope := kit.MustRotary(posenc.RotaryConfig{HeadDim: 32, Layout: posenc.HalfSplit})
	for _, v := range vectors.ONNXRuntime {
		format := map[int]posenc.PageFormat{8: posenc.ONNXRuntimeInt8, 4: posenc.ONNXRuntimeInt4}[v.Bits]
		_, record, err := posenc.PagedView{Format: format}.Record(v.Dim)
		if err != nil {
			t.Fatal(err)
		}
		var scales []float32
		for _, bits := range v.Scales {
			scales = append(scales, math.Float32frombits(bits))
		}
		view := func(x []float32) (into posenc.IntoPages[float32]) {
			into.Dst = posenc.PagedView{Format: format, Scales: scales, View: posenc.View[byte]{Data: make([]byte, heads*v.Tokens*record), Heads: heads, TokenStride: record, HeadStride: v.Tokens * record}}
			into.Src, into.HeadDim = posenc.View[float32]{Data: x, Heads: heads}, v.Dim
			return into
		}
		k, values := view(pageInputs(1<<20, v.Tokens, v.Dim, true, v.Special)), view(pageInputs(1<<21, v.Tokens, v.Dim, false, v.Special))
		if err := posenc.RotateIntoPagesKV(rope.Unrotated(v.Tokens), nil, k, values); err != nil {
			t.Fatal(err)
		}
		checkBytes(t, "keys", k.Dst.Data, v.Keys)
		checkBytes(t, "values", values.Dst.Data, v.Values)
	}
	for _, v := range vectors.OpenVINO {
		const dim, pages = 32, 3
		formats := map[string][2]posenc.PageFormat{"u8": {posenc.OpenVINOU8, posenc.OpenVINOU8ByChannel}, "u4": {posenc.OpenVINOU4, posenc.OpenVINOU4ByChannel}}[v.Precision]
		total := 0
		for _, n := range v.Calls {
			total += n
		}
		cache := func(format posenc.PageFormat, group int) posenc.PagedView {
			p := posenc.PagedView{Format: format, Group: group}
			tokens, record, err := p.Record(dim)
			if err != nil {
				t.Fatal(err)
			}
			p.View = posenc.View[byte]{Heads: heads, Data: make([]byte, pages*heads*32/tokens*record)}
			if tokens == 1 {
				p.TokenStride, p.HeadStride, p.SequenceTokens, p.SequenceStride = record, 32*record, 32, heads*32*record
			}
			return p
		}
		keys, values := cache(formats[1], 0), cache(formats[0], v.Group)
		if v.Mode == "BY_TOKEN" {
			keys = cache(formats[0], v.Group)
		}
		k, x := pageInputs(1<<20, total, dim, true, nil), pageInputs(1<<21, total, dim, false, v.Special)
		past := 0
		for _, n := range v.Calls {
			slots := make([]int32, n)
			for i := range slots {
				slots[i] = int32([]int{2, 0, 1}[(past+i)/32]*32 + (past+i)%32)
			}
			of := func(x []float32) posenc.View[float32] {
				return posenc.View[float32]{Data: x[past*heads*dim:][:n*heads*dim], Heads: heads}
			}
			if err := posenc.RotateIntoPagesKV(rope.Unrotated(n), slots, posenc.IntoPages[float32]{Dst: keys, Src: of(k)}, posenc.IntoPages[float32]{Dst: values, Src: of(x)}); err != nil {
				t.Fatal(err)
			}
			past += n
		}
		what := v.Precision + " " + v.Mode
		checkBytes(t, what+" keys", keys.Data, v.Keys)
		checkBytes(t, what+" values", values.Data, v.Values)
	}
}

// OpenVINO's keys by channel depend on how they come: 32 calls of one token give other bytes than one call of 32, and
// larger errors. Figures of docs/quantized.md.
func TestPagesHistory(t *testing.T) {
	const dim, pages = 128, 64
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]float32, pages*32*dim)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	rope := kit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit})
	store := func(format posenc.PageFormat, scale float32, step int) (data []byte, rms float64) {
		v := posenc.PagedView{Format: format}
		if scale > 0 {
			v.Scales = []float32{scale}
		}
		tokens, record, err := v.Record(dim)
		kit.NoError(t, err)
		v.View = posenc.View[byte]{Heads: 1, Data: make([]byte, pages*32/tokens*record)}
		slots := make([]int32, step)
		for t0 := 0; t0 < pages*32; t0 += step {
			for i := range slots {
				slots[i] = int32(t0 + i)
			}
			kit.NoError(t, posenc.RotateIntoPages(rope.Unrotated(step), slots, posenc.IntoPages[float32]{Dst: v, Src: posenc.View[float32]{Data: x[t0*dim:][:step*dim], Heads: 1}}))
		}
		y := make([]float32, len(x))
		kit.NoError(t, posenc.DequantizePages(posenc.View[float32]{Data: y, Heads: 1}, v, posenc.DequantizeOptions{Tokens: pages * 32, HeadDim: dim}))
		for i := range y {
			rms += float64(y[i]-x[i]) * float64(y[i]-x[i])
		}
		return v.Data, 100 * math.Sqrt(rms/float64(len(x)))
	}
	for _, c := range []struct {
		format       posenc.PageFormat
		scale        float32
		whole, grown float64 // percent
	}{
		{posenc.ONNXRuntimeInt8, 5. / 127, 1.14, 1.14}, {posenc.ONNXRuntimeInt4, 2.5 / 7, 11.0, 11.0},
		{posenc.OpenVINOU8, 0, 0.60, 0.60}, {posenc.OpenVINOU4, 0, 10.2, 10.2},
		{posenc.OpenVINOU8ByChannel, 0, 0.46, 0.63}, {posenc.OpenVINOU4ByChannel, 0, 7.8, 10.6},
	} {
		one, whole := store(c.format, c.scale, 32)
		other, grown := store(c.format, c.scale, 1)
		byChannel := c.format >= posenc.OpenVINOU8ByChannel
		if bytes.Equal(one, other) == byChannel {
			t.Errorf("format %d: equal bytes %t", c.format, !byChannel)
		}
		if math.Abs(whole/c.whole-1) > 0.03 || math.Abs(grown/c.grown-1) > 0.03 {
			t.Errorf("format %d: errors %.3f %% at once and %.3f %% token by token, want %v and %v", c.format, whole, grown, c.whole, c.grown)
		}
	}
}

// Errors name what is wrong, and come before anything is written.
func TestPagesErrors(t *testing.T) {
	k, cache, slots := make([]float32, 2*2*64), make([]byte, 2*2*(8*64+32*64)), []int32{0, 1}
	fail := kit.Failures(t, k, cache)
	rope := kit.MustRotary(posenc.RotaryConfig{HeadDim: 64, Layout: posenc.HalfSplit})
	right := posenc.IntoPages[float32]{Src: posenc.View[float32]{Data: k, Heads: 2}, Dst: posenc.PagedView{Format: posenc.OpenVINOU8ByChannel, View: posenc.View[byte]{Data: cache, Heads: 2}}}
	for _, c := range []struct {
		change func(x *posenc.IntoPages[float32])
		slots  []int32
		kind   error
		says   []string
	}{
		{func(x *posenc.IntoPages[float32]) { x.Dst.Format = 7 }, slots, posenc.ErrConfig, []string{"x.Dst.Format is 7"}},
		{func(x *posenc.IntoPages[float32]) { x.Dst.Group = 16 }, slots, posenc.ErrShape, []string{"x.Dst.Group is 16, want 0"}},
		{func(x *posenc.IntoPages[float32]) { x.Dst.Format, x.Dst.Group = posenc.OpenVINOU8, 24 }, slots, posenc.ErrShape, []string{"x.Dst.Group is 24", "divides 64"}},
		{func(x *posenc.IntoPages[float32]) { x.Dst.Scales = k[:1] }, slots, posenc.ErrLength, []string{"x.Dst.Scales has 1 element, want nil"}},
		{func(x *posenc.IntoPages[float32]) { x.Dst.Format = posenc.ONNXRuntimeInt4 }, slots, posenc.ErrLength, []string{"x.Dst.Scales has 0 elements, want 1, or 128"}},
		{func(x *posenc.IntoPages[float32]) {
			x.Dst.Format, x.Dst.Scales = posenc.ONNXRuntimeInt4, []float32{float32(math.Inf(1))}
		}, slots, posenc.ErrConfig, []string{"x.Dst.Scales[0] is +Inf"}},
		{func(x *posenc.IntoPages[float32]) { x.Dst.Hadamard = 128 }, slots, posenc.ErrConfig, []string{"x.Dst.Hadamard is 128"}},
		{func(x *posenc.IntoPages[float32]) {}, []int32{0, 64}, posenc.ErrPosition, []string{"slots[1] is 64, want below 64"}},
		{func(x *posenc.IntoPages[float32]) {}, []int32{7, 5}, posenc.ErrPosition, []string{"slots[1] is 5, want at least 7, the slot before in the same page"}},
		{func(x *posenc.IntoPages[float32]) { x.Dst.Data = kit.BytesOf(k) }, slots, posenc.ErrPosition, nil},
		{func(x *posenc.IntoPages[float32]) { x.Src.Heads = 1 }, slots, posenc.ErrLength, []string{"x.Src.Data"}},
		{func(x *posenc.IntoPages[float32]) { x.HeadDim = 48 }, slots, posenc.ErrShape, []string{"x.HeadDim is 48"}},
	} {
		x := right
		c.change(&x)
		err := posenc.RotateIntoPages(rope.At(slots), c.slots, x)
		if c.says == nil { // too short for a page
			fail(err, posenc.ErrLength)
			continue
		}
		fail(err, c.kind, c.says...)
	}
	x := right
	x.Dst.Data = cache
	x.Src.Data = kit.Must(posenc.FromBytes[float32](cache))[:len(k)]
	fail(posenc.RotateIntoPages(rope.At(slots), slots, x), posenc.ErrOverlap, "x.Dst is sharing memory with x.Src")
	fail(posenc.RotateIntoPagesKV(rope.At(slots), slots, right, right), posenc.ErrOverlap, "keys.Dst is sharing memory with values.Dst")
	fail(posenc.DequantizePages(right.Src, right.Dst, posenc.DequantizeOptions{Tokens: 2, HeadDim: 40}), posenc.ErrShape, "options.HeadDim is 40, want a multiple of 16")
	_, _, err := posenc.PagedView{Format: posenc.OpenVINOU4ByChannel}.Record(1024)
	fail(err, posenc.ErrShape, "headDim is 1024, want a multiple of 16, at most 512")
}

// By channel a slot below an earlier one of its page is an error, also where tokens of other pages stand between
// and where pages are far apart. All others are stored.
func TestSlotsOfPageAscend(t *testing.T) {
	const pages, pageTokens, dim = 10000, 32, 16
	rope := kit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit})
	dst := posenc.PagedView{Format: posenc.OpenVINOU4ByChannel}
	_, size, err := dst.Record(dim)
	kit.NoError(t, err)
	dst.View = posenc.View[byte]{Data: make([]byte, pages*size), Heads: 1}
	r := kit.NewRand(35)
	stored, refused := 0, 0
	for range 1000 {
		some := make([]int32, 1+r.IntN(4)) // pages
		for i := range some {
			some[i] = int32(r.IntN(pages))
		}
		slots := make([]int32, 2+r.IntN(6))
		last, wrong := map[int32]int32{}, -1
		for i := range slots {
			page := some[r.IntN(len(some))]
			slots[i] = page*pageTokens + int32(r.IntN(pageTokens))
			if before, ok := last[page]; ok && r.IntN(4) > 0 {
				slots[i] = before + int32(r.IntN(pageTokens-int(before%pageTokens)))
			}
			if r.IntN(8) == 0 {
				slots[i] = -1
				continue
			}
			if slots[i] < last[page] && wrong < 0 {
				wrong = i
			}
			last[page] = slots[i]
		}
		err := posenc.RotateIntoPages(rope.At(slots), slots, posenc.IntoPages[float32]{Dst: dst, Src: posenc.View[float32]{Data: kit.GoldenInputs(0, len(slots)*dim), Heads: 1}})
		if wrong < 0 {
			kit.NoError(t, err)
			stored++
			continue
		}
		refused++
		if !errors.Is(err, posenc.ErrPosition) || !strings.Contains(err.Error(), "the slot before in the same page") {
			t.Fatalf("slots %d, where number %d is the first that descends: %v", slots, wrong, err)
		}
	}
	if stored < 50 || refused < 50 {
		t.Errorf("%d calls stored, %d refused", stored, refused)
	}
}

// Ties, limits and what is not finite: bytes worked out by hand from the equations of PageFormat.
func TestPagesEdges(t *testing.T) {
	kit.EachImplementation(t, func(t *testing.T, _ kernels.Implementation) { checkPagesEdges(t) })
}

func checkPagesEdges(t *testing.T) {
	rope := kit.MustRotary(posenc.RotaryConfig{HeadDim: 48, Layout: posenc.HalfSplit})
	// store returns the record of heads whose first numbers are x, and the last again and again.
	store := func(format posenc.PageFormat, scales []float32, tokens int, x ...float32) []byte {
		v := posenc.PagedView{Format: format, Scales: scales}
		if format == posenc.OpenVINOU8 || format == posenc.OpenVINOU4 {
			v.Group = 16 // three groups
		}
		_, bytes, err := v.Record(48)
		kit.NoError(t, err)
		v.View = posenc.View[byte]{Data: make([]byte, bytes), Heads: 1}
		numbers := make([]float32, 48*tokens)
		for i := range numbers {
			numbers[i] = x[min(i, len(x)-1)]
			if tokens > 1 {
				numbers[i] = x[min(i/48, len(x)-1)]
			}
		}
		slots := kit.Sequence(tokens)
		kit.NoError(t, posenc.RotateIntoPages(rope.Unrotated(tokens), slots, posenc.IntoPages[float32]{Dst: v, Src: posenc.View[float32]{Data: numbers, Heads: 1}}))
		return v.Data
	}
	inf, nan, minusZero := float32(math.Inf(1)), float32(math.NaN()), float32(math.Copysign(0, -1))
	check := func(what string, got []byte, want ...byte) {
		t.Helper()
		if !bytes.Equal(got[:len(want)], want) {
			t.Errorf("%s: %x, want %x", what, got[:len(want)], want)
		}
	}
	perChannel := make([]float32, 48)
	for i := range perChannel {
		perChannel[i] = 1
	}
	for _, scales := range [][]float32{{1}, perChannel} {
		check("int8", store(posenc.ONNXRuntimeInt8, scales, 1, 127.5, 126.5, 125.5, 0.5, -0.5, -1.5, -127.5, -128.5, -129, nan, inf, -inf, 3e9, -3e9, minusZero, 1),
			0x7f, 126, 126, 0, 0, 0xfe, 0x80, 0x80, 0x80, 0x7f, 0x7f, 0x80, 0x7f, 0x80, 0, 1)
		check("int4", store(posenc.ONNXRuntimeInt4, scales, 1, 7.5, 6.5, 5.5, 0.5, -0.5, -1.5, -7.5, -8.5, nan, -9, inf, -inf, 3e9, -3e9, 1, 2),
			14<<4|15, 8<<4|14, 6<<4|8, 0, 0<<4|15, 0<<4|15, 0<<4|15, 10<<4|9)
	}
	check("int8, an infinite inverse", store(posenc.ONNXRuntimeInt8, []float32{0x1p-149}, 1, 1, -1, 0), 0x7f, 0x80, 0x7f)
	check("int8, a scale of 0", store(posenc.ONNXRuntimeInt8, []float32{0}, 1, 1, -1, 0), 1, 0xff, 0)
	check("u8 from 0", store(posenc.OpenVINOU8, nil, 1, 0, 255, 0.5, 1.5, 2.5, 253.5, 254.5, 1),
		0, 0, 0x80, 0x3f, 0, 0, 0, 0x80, 0, 255, 0, 2, 2, 254, 254, 1)
	check("u8 to 0", store(posenc.OpenVINOU8, nil, 1, -255, minusZero, -254.5, -253.5, -1),
		0, 0, 0x80, 0x3f, 0, 0, 0x7f, 0x43, 0, 255, 0, 2, 254)
	check("u4 from -7", store(posenc.OpenVINOU4, nil, 1, -7, 8, 0.5, 1.5, -6.5, 0),
		0, 0, 0x80, 0x3f, 0, 0, 0xe0, 0x40, 0x0f, 0x88, 0x07)
	const ten4 = 0x38d1b717 // 0.0001
	for _, c := range []struct {
		what        string
		x           []float32
		scale, zero uint32
		code        byte
	}{
		{"zeros", []float32{0}, ten4, 1 << 31, 0},
		{"zeros, one of them -0", []float32{0, 0, 0, minusZero, 0}, ten4, 0, 0},
		{"a NaN", []float32{1, nan, 2}, 0x7fc00000, 0x7fc00000, 0},
		{"a negative NaN", []float32{1, -nan, 2}, 0x7fc00000, 0x7fc00000, 0},
		{"an infinity", []float32{1, inf, 1}, 0x7f800000, 1 << 31, 0},
		{"only infinities", []float32{inf}, 0x7f800000, 1 << 31, 0},
		{"minus infinity", []float32{1, -inf, 1}, 0x7f800000, 0x7fc00000, 0},
		{"too large a difference", []float32{3e38, -3e38, 1}, 0x7f800000, 0, 0},
		{"an infinite inverse", []float32{0, 255 * 0x1p-149, 0}, 0, 1 << 31, 0},
	} {
		for format := posenc.OpenVINOU8; format <= posenc.OpenVINOU4ByChannel; format++ {
			tokens, zeroAt, codes := 1, 4, 8
			if format >= posenc.OpenVINOU8ByChannel {
				tokens, zeroAt, codes = 32, 4*48, 8*48
			}
			got := store(format, nil, tokens, c.x...)
			scale, zero := binary.LittleEndian.Uint32(got), binary.LittleEndian.Uint32(got[zeroAt:])
			want := c.scale
			if c.scale == 0 { // 255 least numbers by 255 or by 15
				want = 1
				if format == posenc.OpenVINOU4 || format == posenc.OpenVINOU4ByChannel {
					want = 17
				}
			}
			if scale != want || zero != c.zero || got[codes] != c.code {
				t.Errorf("format %d, %s: scale %#x, zero point %#x, code %d, want %#x, %#x, %d", format, c.what, scale, zero, got[codes], want, c.zero, c.code)
			}
		}
	}
}

// A norm of all heads as one vector, of which scratch memory has not room for those of a page, gives the bytes of heads that
// are normalized before.
func TestPagesOfNormOfAllHeads(t *testing.T) {
	const heads, dim, tokens = 8, 128, 40
	r := kit.NewRand(5)
	x, weight := make([]float32, tokens*heads*dim), make([]float32, heads*dim)
	for _, s := range [][]float32{x, weight} {
		for i := range s {
			s[i] = float32(r.NormFloat64())
		}
	}
	norm := kit.Must(posenc.NewRMSNorm(weight, posenc.RMSNormConfig{Epsilon: 1e-6}))
	rope := kit.MustRotary(posenc.RotaryConfig{HeadDim: dim, Layout: posenc.HalfSplit})
	positions := kit.Sequence(tokens)
	for format := posenc.ONNXRuntimeInt8; format <= posenc.OpenVINOU4ByChannel; format++ {
		v := posenc.PagedView{Format: format}
		if format <= posenc.ONNXRuntimeInt4 {
			v.Scales = []float32{0.1}
		}
		store := func(norm *posenc.RMSNorm, x []float32) []byte {
			_, bytes, err := v.Record(dim)
			kit.NoError(t, err)
			v.View = posenc.View[byte]{Data: make([]byte, tokens*heads*bytes), Heads: heads}
			kit.NoError(t, posenc.RotateIntoPages(rope.At(positions), positions, posenc.IntoPages[float32]{Dst: v, Src: posenc.View[float32]{Data: x, Heads: heads}, Norm: norm}))
			return v.Data
		}
		got := store(norm, x)
		normalized := bytes.Clone(kit.BytesOf(x))
		y := kit.Must(posenc.FromBytes[float32](normalized))
		kit.NoError(t, posenc.Normalize(norm, tokens, posenc.View[float32]{Data: y, Heads: 1}))
		if !bytes.Equal(got, store(nil, y)) {
			t.Errorf("format %d: other bytes", format)
		}
	}
}
