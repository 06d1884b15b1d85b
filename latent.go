package posenc

import (
	"cmp"
	"fmt"
	"math"
	"unsafe"

	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/cossin"
	"github.com/go-posenc/posenc/internal/heads"
	"github.com/go-posenc/posenc/internal/rope"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// LatentFormat says which numbers a cache of multi-head latent attention (MLA) has of a token, and how
// they are stored. Numbers of more than one byte are little-endian on every CPU.
type LatentFormat uint8

const (
	// A token is 656 bytes: 512 E4M3; 4 float32, each the scale of 128 of them; and 64 bfloat16, the
	// rotated part. FlashMLA, vLLM (fp8_ds_mla) and SGLang keep it for DeepSeek V3.2.
	DeepSeekV32 LatentFormat = iota + 1

	// A token is 576 bytes, 448 E4M3 and 64 bfloat16, the rotated part, and 8 bytes of scales: 7
	// exponents (E8M0), each of 64 E4M3, and a 0. A page has first the 576 bytes of all its tokens, then their
	// scales; its length is a multiple of 576 bytes. All numbers are rounded to bfloat16 first.
	// FlashMLA, vLLM and SGLang.
	DeepSeekV4

	// A token is 128 E4M3, the key of an indexer (DeepSeek V3.2), and a float32, their scale. A page has first the E4M3
	// of all its tokens, then their scales. vLLM and SGLang.
	DeepSeekIndexer

	// A token is 576 E4M3 with one scale for the whole cache; the last 64 are the rotated part.
	LatentE4M3

	// A token is 576 bfloat16; the last 64 are the rotated part.
	LatentBFloat16
)

// LatentScale says how the scale of a group of E4M3 follows from amax, their largest magnitude. Scales
// that are powers of two are the least one that is not below the number; the exponent comes from the bits
// of the float32, not from a logarithm.
type LatentScale uint8

const (
	LatentFloorAmax    LatentScale = iota + 1 // a power of two, by RN32(max(amax, 1e-4)/448): DeepSeek, indexers, DeepSeekV4 of vLLM on GPUs
	LatentFloorScale                          // a power of two, by max(RN32(amax/448), 1e-4): FlashMLA, DeepSeekV32 of vLLM, DeepSeekV4 of vLLM and SGLang on CPUs
	LatentFloat32Scale                        // max(RN32(amax/448), 2^-126), any float32: DeepSeekV32 of vLLM before it took powers of two
)

// LatentCache describes a cache of latent attention. Token t is number t%PageTokens of page
// t/PageTokens, and page p begins at Data[p*PageStride]. With slots Data may have any number of pages;
// in a call without slots it has as many as the tokens of the call take.
type LatentCache struct {
	Data   []byte
	Format LatentFormat

	// Scale is the rule for the scales of DeepSeekV32, DeepSeekV4 (not LatentFloat32Scale) and
	// DeepSeekIndexer. Other formats have none: 0. Where a cache is only read, it may be 0.
	Scale LatentScale

	// InverseScale multiplies the numbers of LatentE4M3 before they are rounded, as in a
	// [QuantizedView]. It is from 2^-126 to 2^126, and 0 for other formats.
	InverseScale float32

	// Hadamard is the block of a Hadamard transform of DeepSeekIndexer, which comes after the rotation,
	// as in a [QuantizedView]. 0 means no transform.
	Hadamard int

	// PageTokens counts the tokens of a page. 0 means that tokens lie one after another, which
	// DeepSeekV4 and DeepSeekIndexer cannot. PageStride counts the bytes from page to page; 0 means
	// that pages lie one after another, those of DeepSeekV4 padded to multiples of 576 bytes.
	PageTokens, PageStride int
}

// check checks the cache of that name, which is read or written, and that it has room for tokens or for the
// slots of the other name.
func (c *LatentCache) check(function string, name argument.Name, tokens int, slotsName string, slots []int32, reads bool) error {
	fail := func(kind error, field string, value any, expected string, args ...any) error {
		return argument.Error(kind, function, name.String()+field, value, expected, args...)
	}
	if c.Format == 0 || int(c.Format) >= len(heads.LatentRecords) {
		return fail(ErrConfig, ".Format", c.Format, "DeepSeekV32 or another constant of type LatentFormat")
	}
	r, f := c.record(), &c.record().Fields[0]
	one := f.Group == 0 && f.Kind == kernels.KindE4M3
	switch {
	case (f.Group > 0) != (c.Scale != 0) && !(reads && c.Scale == 0) || int(c.Scale) >= len(heads.LatentRules) || f.Power && c.Scale == LatentFloat32Scale:
		return fail(ErrConfig, ".Scale", c.Scale, "a LatentScale of the Format, 0 for LatentE4M3 and LatentBFloat16")
	case one && !(c.InverseScale >= 1/maxScale && c.InverseScale <= maxScale) || !one && c.InverseScale != 0:
		return fail(ErrConfig, ".InverseScale", c.InverseScale, "a number from 2^-126 to 2^126 for LatentE4M3, otherwise 0")
	case c.Hadamard != 0 && (r.Rotated > 0 || !isHadamard(c.Hadamard, r.Numbers)):
		return fail(ErrConfig, ".Hadamard", c.Hadamard, "0, or for DeepSeekIndexer "+ofHadamard, r.Numbers)
	case c.PageTokens < 0 || c.PageTokens == 0 && r.ScaleBytes > 0:
		return fail(ErrShape, ".PageTokens", c.PageTokens, "at least 1")
	case c.PageTokens == 0 && c.PageStride != 0:
		return fail(ErrShape, ".PageStride", c.PageStride, "0, because PageTokens is 0")
	}
	page, ok := argument.Multiply(cmp.Or(c.PageTokens, 1), r.Bytes+r.ScaleBytes)
	if !ok || page > math.MaxInt-r.PageUnit {
		return fail(ErrShape, ".PageTokens", c.PageTokens, "fewer: an int cannot count the bytes of a page")
	}
	if c.PageStride < 0 || c.PageStride > 0 && c.PageStride < page {
		return fail(ErrShape, ".PageStride", c.PageStride, "0 or at least the %d bytes of a page", page)
	}
	room, length := 0, argument.Elements(len(c.Data))
	if len(c.Data) >= page {
		room = ((len(c.Data)-page)/c.stride() + 1) * cmp.Or(c.PageTokens, 1)
	}
	switch {
	case slots == nil && tokens > room:
		return fail(ErrLength, ".Data", length, "whole pages of %d bytes for %s, %d in each", page, argument.Count(tokens, "token"), cmp.Or(c.PageTokens, 1))
	case slots == nil && room-tokens >= cmp.Or(c.PageTokens, 1):
		return fail(ErrLength, ".Data", length, "whole pages for %s, and no more: it has room for %d; slice it, or give %s", argument.Count(tokens, "token"), room, slotsName)
	case slots != nil && int(lastSlot(slots)) >= room:
		return slotError(function, slotsName, slots, "below %d, the tokens that %s has whole pages for in %v: pages of %d bytes, %d tokens in each", room, name, length, page, cmp.Or(c.PageTokens, 1))
	}
	return nil
}

func (c *LatentCache) record() *heads.LatentRecord { return &heads.LatentRecords[c.Format] }

// stride returns the bytes from page to page.
func (c *LatentCache) stride() int {
	r := c.record()
	page := cmp.Or(c.PageTokens, 1) * (r.Bytes + r.ScaleBytes)
	return cmp.Or(c.PageStride, (page+r.PageUnit-1)/r.PageUnit*r.PageUnit)
}

// tokens returns the bytes of tokens from token t on, those of their scales, and how many tokens lie
// there one after another.
func (c *LatentCache) tokens(t int) (records, scales []byte, count int) {
	r, tokens := c.record(), cmp.Or(c.PageTokens, 1)
	page, i := c.Data[t/tokens*c.stride():], t%tokens
	records, count = page[i*r.Bytes:], tokens-i
	if c.PageTokens == 0 {
		count = heads.LatentTokens
	}
	if r.ScaleBytes == 0 {
		return records, records[r.ScalesAt:], count
	}
	return records, page[tokens*r.Bytes+i*r.ScaleBytes:], count
}

// IntoLatent is tokens on their way into a cache of latent attention.
type IntoLatent[S Element] struct {
	Dst LatentCache

	// Rotated has one head of each token, which the Angles rotate: the last numbers of the Format. Latent
	// has those before it, which do not rotate. Where a head is all of them, as in DeepSeek V4 and in
	// an indexer, Latent is zero.
	Latent, Rotated View[S]
}

// RotateIntoLatent stores the records of tokens in a cache of latent attention: the latent, which does not
// rotate, and behind it the rotated part.
//
//	posenc.RotateIntoLatent(rope.At(positions), slots, posenc.IntoLatent[posenc.BFloat16]{Dst: cache, Latent: latents, Rotated: k})
//
// The head of a token is rotated in float32 as [Rotate] rotates it, and rounded once to bfloat16 where
// the format has that; the rotated elements are its last 64, of DeepSeekIndexer any. Angles of
// [Rotary.Unrotated] leave it. Engines store interleaved pairs; Angles of a Rotary with
// InterleavedToHalfSplit, which modelconfig.HuggingFace makes for DeepSeek V3 and V3.2, store them half-split:
// docs/quantized.md in the repository says how to keep the order. The latent is quantized: with the scale
// of the group, which follows from its largest magnitude by Dst.Scale,
//
//	code = E4M3(RN32(x/scale))              RN32(x*InverseScale) for LatentE4M3
//
// rounded to E4M3FN, ties to even, at most 448 in magnitude. A group with an infinity or a NaN is read
// back as NaN: scale is infinite or NaN, 255 as E8M0, and all codes are 0x7f. A NaN among bfloat16 is
// 0x7fc0.
//
// Tokens go to slots as in [RotateInto]: token t to token slots[t] of Dst, or to token t where slots
// is nil; a negative slot drops the token; of tokens with the same slot the last one stays. What
// belongs to no slot does not change. Dst shares no memory with x.Latent, x.Rotated, slots or the slices
// of a. You may split it into calls for any ranges of tokens, on any goroutines, and get the same
// bits. Rows with entries for each head, and tokens without a row ([Rows.AtSome]), are an error. Errors
// wrap ErrConfig (a, Format, Scale, InverseScale, Hadamard), ErrShape, ErrLength, ErrOverlap or
// ErrPosition (also a slot without a whole page in Data).
func RotateIntoLatent[S Element](a Angles, slots []int32, x IntoLatent[S]) error {
	const function = "posenc.RotateIntoLatent"
	tokens, err := x.check(function, function, a, slots, "x")
	if err != nil {
		return err
	}
	if err := cmp.Or(x.checkAngles(function, a.core(), "x"), x.checkSource(function, "x", &x, "x")); err != nil {
		return err
	}
	x.store(a, tokens, slots)
	return nil
}

// RotateIntoLatentIndexer is [RotateIntoLatent] for the records of tokens and the keys of an indexer
// (DeepSeek V3.2), which have a cache and angles of their own, in one call: nothing is stored where
// either is wrong.
//
//	posenc.RotateIntoLatentIndexer(rows.Layer(i).At(ids), slots, x, rows.Indexer(i).At(ids),
//		posenc.IntoLatent[posenc.BFloat16]{Dst: indexerCache, Rotated: keys})
//
// Both have as many tokens and the same slots. The Dst of both share no memory with each other, nor with what the
// call reads. Errors are as in RotateIntoLatent; those of the Angles indexer begin with
// "posenc.RotateIntoLatentIndexer: indexer: ".
func RotateIntoLatentIndexer[S Element](a Angles, slots []int32, x IntoLatent[S], indexer Angles, keys IntoLatent[S]) error {
	const function = "posenc.RotateIntoLatentIndexer"
	tokens, err := x.check(function, function, a, slots, "x")
	if err != nil {
		return err
	}
	n, err := keys.check(function, function+": indexer", indexer, slots, "keys")
	if err != nil {
		return err
	}
	if n != tokens {
		return argument.Error(ErrLength, function, "indexer", fmt.Sprintf("of %d tokens", n), "%d as in a", tokens)
	}
	for _, err := range [...]error{
		x.checkAngles(function, a.core(), "x"), x.checkAngles(function, indexer.core(), "x"), keys.checkAngles(function, a.core(), "keys"), keys.checkAngles(function, indexer.core(), "keys"),
		x.checkSource(function, "x", &x, "x"), x.checkSource(function, "x", &keys, "keys"), keys.checkSource(function, "keys", &x, "x"), keys.checkSource(function, "keys", &keys, "keys"),
	} {
		if err != nil {
			return err
		}
	}
	if argument.Overlap(keys.Dst.Data, x.Dst.Data) {
		return argument.Error(ErrOverlap, function, "keys.Dst", "sharing memory with x.Dst", "a slice of other memory")
	}
	x.store(a, tokens, slots)
	keys.store(indexer, tokens, slots)
	return nil
}

// check checks tokens of that name and their angles, apart from what they share with others.
// Errors of the angles name anglesFunction.
func (x *IntoLatent[S]) check(function, anglesFunction string, a Angles, slots []int32, name string) (tokens int, err error) {
	fail := func(kind error, field string, value any, expected string, args ...any) (int, error) {
		return 0, argument.Error(kind, function, name+field, value, expected, args...)
	}
	if tokens, err = a.core().Check(anglesFunction); err != nil {
		return 0, err
	}
	if err := a.core().CheckUniform(anglesFunction); err != nil {
		return 0, err
	}
	if err := checkSlots(function, slots, tokens); err != nil {
		return 0, err
	}
	if err := x.Dst.check(function, argument.Name{Text: name, Field: ".Dst"}, tokens, "slots", slots, false); err != nil {
		return 0, err
	}
	h, _ := a.core().Heads()
	r := x.Dst.record()
	rest := r.Numbers - h.HeadDim
	switch {
	case rest < 0:
		return 0, argument.Error(ErrShape, anglesFunction, "a", fmt.Sprintf("of heads of %d", h.HeadDim), "heads of at most the %d numbers of the Format", r.Numbers)
	case r.Rotated > 0 && a.core().Rotates() && (h.RotaryDim != r.Rotated || h.Offset+h.RotaryDim != h.HeadDim):
		return 0, argument.Error(ErrShape, anglesFunction, "a", fmt.Sprintf("of %d elements from number %d on of heads of %d", h.RotaryDim, h.Offset, h.HeadDim), "of the last %d", r.Rotated)
	case rest == 0 && (len(x.Latent.Data) != 0 || x.Latent.Heads|x.Latent.Tokens|x.Latent.TokenStride|x.Latent.HeadStride|x.Latent.SequenceTokens|x.Latent.SequenceStride != 0):
		return fail(ErrShape, ".Latent", "not empty", "a zero view, because the Angles are of all %d numbers", r.Numbers)
	}
	for k, v := range [...]struct {
		field string
		view  *View[S]
		dim   int
	}{{".Latent", &x.Latent, rest}, {".Rotated", &x.Rotated, h.HeadDim}} {
		if k == 0 && rest == 0 {
			continue
		}
		var g view.Grid
		checked := (*view.View[S])(v.view)
		if p := checked.Problem(&g, tokens, v.dim); p != view.None {
			return 0, checked.Error(p, function, name+v.field, &g)
		}
		if v.view.Heads != 1 {
			return fail(ErrShape, v.field+".Heads", v.view.Heads, "1: latents have one head")
		}
	}
	if argument.Overlap(x.Dst.Data, slots) {
		return fail(ErrOverlap, ".Dst", "sharing memory with slots", "a slice of other memory")
	}
	return tokens, nil
}

func (x *IntoLatent[S]) checkAngles(function string, a *rope.Angles, name string) error {
	if a.Overlaps(x.Dst.Data) {
		return a.OverlapError(function, name+".Dst")
	}
	return nil
}

// checkSource checks that the cache of x shares no memory with the numbers of o.
func (x *IntoLatent[S]) checkSource(function, name string, o *IntoLatent[S], otherName string) error {
	if argument.Overlap(x.Dst.Data, o.Latent.Data) || argument.Overlap(x.Dst.Data, o.Rotated.Data) {
		return argument.Error(ErrOverlap, function, name+".Dst", "sharing memory with "+otherName+".Latent or "+otherName+".Rotated", "a slice of other memory")
	}
	return nil
}

// store stores all tokens, with scratch memory of the size that they need.
func (x *IntoLatent[S]) store(a Angles, tokens int, slots []int32) {
	if tokens == 1 {
		x.storeToken(a.core(), slots)
	} else {
		x.storeTokens(a.core(), tokens, slots)
	}
}

func (x *IntoLatent[S]) storeToken(a *rope.Angles, slots []int32) {
	var scratch [heads.LatentNumbers + kernels.Line]float32
	var bits [heads.LatentNumbers / 4]uint64
	var cos, sin [kernels.TokenPairs + kernels.Line]float32
	x.storeIn(a, 1, slots, kernels.LineAligned(cos[:]), kernels.LineAligned(sin[:]), kernels.LineAligned(scratch[:]), bits[:])
}

func (x *IntoLatent[S]) storeTokens(a *rope.Angles, tokens int, slots []int32) {
	var scratch [kernels.FusedElements + kernels.Line]float32
	var bits [kernels.FusedElements / 4]uint64
	var cos, sin [kernels.ChunkPairs + kernels.Line]float32
	x.storeIn(a, tokens, slots, kernels.LineAligned(cos[:]), kernels.LineAligned(sin[:]), kernels.LineAligned(scratch[:]), bits[:])
}

func (x *IntoLatent[S]) storeIn(a *rope.Angles, tokens int, slots []int32, cos, sin, scratch []float32, bits []uint64) {
	h, scaling := a.Heads()
	r := heads.Rotation{Head: h, In: h.In, Out: h.Out, Scaling: scaling, Sign: 1}
	l := heads.Latents{
		LatentRecord: x.Dst.record(), Rule: &heads.LatentRules[x.Dst.Scale], InverseScale: x.Dst.InverseScale,
		Hadamard: x.Dst.Hadamard, HeadDim: h.HeadDim,
	}
	if a.Rotates() {
		l.Rotation = &r
	}
	setOperand(&l.Latent, &x.Latent, l.Numbers-h.HeadDim)
	setOperand(&l.Rotated, &x.Rotated, h.HeadDim)
	l.Latent.Data, l.Rotated.Data = unsafe.Pointer(unsafe.SliceData(x.Latent.Data)), unsafe.Pointer(unsafe.SliceData(x.Rotated.Data))
	fullWidth := a.FullWidth()
	halves := unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(bits))), 4*len(bits))
	most, pairs := min(len(halves)/l.Numbers, heads.LatentTokens), h.RotaryDim/2
	rows := rope.ChunkTokens(pairs)
	for first := 0; first < tokens; first += rows {
		table := cossin.Table{Cos: cos, Sin: sin, Stride: pairs}
		count := min(rows, tokens-first)
		if l.Rotation != nil && !fullWidth {
			a.Write(&table, tokens, first, count, &r)
		}
		for t := first; t < first+count; {
			if heads.Slot(slots, t) < 0 {
				t++
				continue
			}
			n := min(most, first+count-t)
			var row *heads.FullWidthRow
			if fullWidth {
				var full heads.FullWidthRow
				a.ReadFullWidth(&full, t, 1)
				n, row = 1, &full
			}
			n = l.Rotated.Together(t, n)
			l.Prepare(scratch[:n*l.Numbers], t, n, &table, t-first, row)
			for i := 0; i < n; {
				slot, some := heads.Slot(slots, t+i), 1
				if slot >= 0 {
					y, scales, together := x.Dst.tokens(slot)
					for some < min(together, n-i) && heads.Slot(slots, t+i+some) == slot+some {
						some++
					}
					l.Write(y, scales, scratch[i*l.Numbers:][:some*l.Numbers], halves, t+i, some)
				}
				i += some
			}
			t += n
		}
	}
}

// DequantizeLatent reads tokens of a cache of latent attention. A token is one head of dst with all
// numbers of the format, the latent first: 576 of DeepSeekV32, LatentE4M3 and LatentBFloat16, 512 of
// DeepSeekV4 and 128 of DeepSeekIndexer. options.HeadDim is that number or 0. It writes
//
//	RN(RN32(code*scale))    RN32(1/InverseScale) as the scale of LatentE4M3
//
// and numbers that are stored as bfloat16, rounded to T. RN rounds to T. The scale of E8M0 is
// 2^(byte-127), NaN for 255. If src.Hadamard is set, the numbers are transformed once more, before RN, so
// that they are what they were before the transform. Scales lie in the cache: src.Scale may be 0, or what
// the cache is written with; one that the Format does not have is an error. Tokens are those of options.Slots, as in
// [Dequantize]. dst shares no memory with src.Data or options.Slots. Errors wrap ErrConfig, ErrShape,
// ErrLength, ErrOverlap or ErrPosition.
func DequantizeLatent[T Element](dst View[T], src LatentCache, options DequantizeOptions) error {
	const function = "posenc.DequantizeLatent"
	tokens, slots := options.Tokens, options.Slots
	if c := src.Format; options.HeadDim == 0 && c != 0 && int(c) < len(heads.LatentRecords) {
		options.HeadDim = src.record().Numbers
	}
	if err := options.check(function); err != nil {
		return err
	}
	if err := src.check(function, argument.Named("src"), tokens, "options.Slots", slots, true); err != nil {
		return err
	}
	record := src.record()
	if options.HeadDim != record.Numbers {
		return argument.Error(ErrShape, function, "options.HeadDim", options.HeadDim, "0 or %d, the numbers of src.Format", record.Numbers)
	}
	var g view.Grid
	to := (*view.View[T])(&dst)
	if p := to.Problem(&g, tokens, options.HeadDim); p != view.None {
		return to.Error(p, function, "dst", &g)
	}
	switch {
	case dst.Heads != 1:
		return argument.Error(ErrShape, function, "dst.Heads", dst.Heads, "1: latents have one head")
	case argument.Overlap(dst.Data, src.Data):
		return argument.Error(ErrOverlap, function, "dst", "sharing memory with src", "a view of other memory")
	case argument.Overlap(dst.Data, slots):
		return argument.Error(ErrOverlap, function, "dst", "sharing memory with options.Slots", "a view of other memory")
	}
	y := operandOf(&dst, options.HeadDim)
	var memory [heads.LatentNumbers + kernels.Line]float32
	q := heads.Quantization{Dim: record.Numbers, Hadamard: src.Hadamard}
	numbers := kernels.LineAligned(memory[:])
	x := q.Scratch(numbers)
	straight := y.Kind == kernels.KindFloat32 && src.Hadamard == 0
	for t := 0; t < tokens; {
		slot, n := heads.Slot(slots, t), 1
		from, scales, together := src.tokens(slot)
		most := len(numbers) / record.Numbers
		if straight {
			most = heads.LatentTokens
		}
		for most = min(most, together, y.Together(t, tokens-t)); n < most && heads.Slot(slots, t+n) == slot+n; n++ {
		}
		if straight {
			record.Read(y.Float32s(y.Token(t)), y.TokenStride, from, scales, n, src.InverseScale)
		} else {
			record.Read(numbers, record.Numbers, from, scales, n, src.InverseScale)
			q.Transform(&x, 0, n)
			for i := range n {
				view.Convert(&y, &x, y.Token(t+i), i*record.Numbers, record.Numbers)
			}
		}
		t += n
	}
	return nil
}
