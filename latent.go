package posenc

import (
	"cmp"
	"fmt"
	"math"
	"unsafe"

	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/cossin"
	"github.com/go-posenc/posenc/internal/heads"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// LatentFormat is what a cache of latent attention (MLA) has of a token: its latent, the rotated part
// behind it, and their scales. Numbers of 4 bytes and of 2 are little-endian on every machine.
type LatentFormat uint8

const (
	// 656 bytes: 512 E4M3, 4 float32 as scales of 128 of them each, and 64 bfloat16, which are
	// rotated. DeepSeek V3.2 in FlashMLA, vLLM (fp8_ds_mla) and SGLang.
	DeepSeekV32 LatentFormat = iota + 1

	// 584 bytes of a token: first 576 of each token, 448 E4M3 and 64 bfloat16, which are rotated; then 8
	// of each token, the exponents of 7 scales of 64 E4M3 each (E8M0) and a 0. All numbers are rounded to
	// bfloat16 first. A page is a multiple of 576 bytes.
	DeepSeekV4

	// 132 bytes of a token: first 128 of each token, the key of a DeepSeek indexer as E4M3; then 4 of each
	// token, the scale as float32. vLLM, SGLang.
	DeepSeekIndexer

	// 576 E4M3 with one scale for the cache, of which the last 64 are rotated.
	LatentE4M3

	// 576 bfloat16, of which the last 64 are rotated.
	LatentBFloat16
)

// LatentScale is how the scale of a group of E4M3 follows from amax, the largest magnitude. A power of
// two is the least that is not below the number; its exponent is taken from the bits of the float32.
type LatentScale uint8

const (
	LatentFloorAmax    LatentScale = iota + 1 // the power of two of RN32(max(amax, 1e-4)/448): DeepSeek, vLLM, SGLang
	LatentFloorScale                          // the power of two of max(RN32(amax/448), 1e-4): FlashMLA; vLLM and SGLang on CPUs
	LatentFloat32Scale                        // max(RN32(amax/448), 2^-126), any float32: vLLM's DeepSeekV32
)

// LatentCache is a cache of latent attention, and how its bytes are to be read. Page p begins at
// Data[p*PageStride] and has PageTokens tokens. Token t is number t%PageTokens of page t/PageTokens.
type LatentCache struct {
	Data   []byte
	Format LatentFormat

	Scale        LatentScale // DeepSeekV32, DeepSeekV4 (no LatentFloat32Scale) and DeepSeekIndexer need one, others have none
	InverseScale float32     // LatentE4M3: multiplies numbers before they are rounded, as in a QuantizedView; otherwise 0

	// Hadamard is the block of a Hadamard transform, in which the numbers of DeepSeekIndexer are
	// transformed once they are rotated, as in a [QuantizedView]. 0 means no transform.
	Hadamard int

	PageTokens int // tokens of a page; 0 means that all tokens are one page, where no scales lie behind it
	PageStride int // bytes from page to page; 0 means what the format has: for 64 tokens of DeepSeekV4 37440
}

// check checks the cache of that name, and that it has room for tokens or for the slots of the other name.
func (c *LatentCache) check(function string, name argument.Name, tokens int, slotsName string, slots []int32) error {
	fail := func(kind error, field string, value any, expected string, args ...any) error {
		return argument.Error(kind, function, name.String()+field, value, expected, args...)
	}
	if c.Format == 0 || int(c.Format) >= len(heads.LatentRecords) {
		return fail(ErrConfig, ".Format", c.Format, "DeepSeekV32 or another constant of type LatentFormat")
	}
	r, f := c.record(), &c.record().Fields[0]
	one := f.Group == 0 && f.Kind == kernels.KindE4M3
	switch {
	case (f.Group > 0) != (c.Scale != 0) || int(c.Scale) >= len(heads.LatentRules) || f.Power && c.Scale == LatentFloat32Scale:
		return fail(ErrConfig, ".Scale", c.Scale, "a LatentScale that the Format has, 0 for LatentE4M3 and LatentBFloat16")
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
		return fail(ErrLength, ".Data", length, "whole pages for %d tokens", tokens)
	case slots != nil && int(lastSlot(slots)) >= room:
		return slotError(function, slotsName, slots, "below %d, the tokens that %s has whole pages for in %v", room, name, length)
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

// token returns the bytes of token t, and those of its scales.
func (c *LatentCache) token(t int) (record, scales []byte) {
	r, tokens := c.record(), cmp.Or(c.PageTokens, 1)
	page, i := c.Data[t/tokens*c.stride():], t%tokens
	record = page[i*r.Bytes:][:r.Bytes]
	if r.ScaleBytes == 0 {
		return record, record[r.ScalesAt:]
	}
	return record, page[tokens*r.Bytes+i*r.ScaleBytes:][:r.ScaleBytes]
}

// IntoLatent is tokens on their way into a cache of latent attention.
type IntoLatent[S Element] struct {
	Angles Angles
	Dst    LatentCache

	// Rotated has one head of each token, which the Angles rotate, and Latent has what is stored before
	// it, the numbers of the format that the head leaves. Where the Angles are of all of them, as
	// DeepSeek V4's and an indexer's are, Latent is zero.
	Latent, Rotated View[S]
}

// RotateIntoLatent stores tokens in caches of latent attention: the latents, the rotated parts and, in a
// cache of its own, the keys of the indexer where there is one:
//
//	posenc.RotateIntoLatent(slots,
//		posenc.IntoLatent[posenc.BFloat16]{Angles: rope.At(positions), Dst: cache, Latent: latents, Rotated: k},
//		posenc.IntoLatent[posenc.BFloat16]{Angles: indexer.At(positions), Dst: indexerCache, Rotated: keys})
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
// Tokens go to slots as in [RotateInto]: token t to token slots[t] of each Dst, or to token t where slots
// is nil; a negative slot drops the token; of tokens with the same slot the last one stays. What
// belongs to no slot does not change. Each Dst shares no memory with what the call reads, nor with the
// other Dst. You may split it into calls for any ranges of tokens, on any goroutines, and get the same
// bits. Errors wrap ErrConfig (Angles, Format, Scale, InverseScale, Hadamard), ErrShape, ErrLength,
// ErrOverlap or ErrPosition (also a slot without a whole page in Data).
func RotateIntoLatent[S Element](slots []int32, xs ...IntoLatent[S]) error {
	const function = "posenc.RotateIntoLatent"
	if len(xs) == 0 {
		return view.NoViews(function)
	}
	tokens := 0
	for i := range xs {
		n, err := xs[i].check(function, slots, i)
		if err != nil {
			return err
		}
		if i == 0 {
			tokens = n
		}
		if n != tokens {
			return argument.Error(ErrLength, function, argument.Indexed("xs", i)+".Angles", fmt.Sprintf("of %d tokens", n), "%d as in xs[0]", tokens)
		}
		for j := range xs {
			x, from := &xs[i], &xs[j]
			switch {
			case argument.Overlap(x.Dst.Data, from.Latent.Data) || argument.Overlap(x.Dst.Data, from.Rotated.Data):
				return argument.Error(ErrOverlap, function, argument.Indexed("xs", i)+".Dst", "sharing memory with Latent or Rotated of "+argument.Indexed("xs", j), "a slice of other memory")
			case from.Angles.overlaps(x.Dst.Data):
				return from.Angles.overlapError(function, argument.Indexed("xs", i)+".Dst")
			case j < i && argument.Overlap(x.Dst.Data, from.Dst.Data):
				return argument.Error(ErrOverlap, function, argument.Indexed("xs", i)+".Dst", "sharing memory with "+argument.Indexed("xs", j)+".Dst", "a slice of other memory")
			}
		}
	}
	for i := range xs {
		xs[i].store(tokens, slots)
	}
	return nil
}

// check checks a part of a call, except for what it shares with other parts.
func (x *IntoLatent[S]) check(function string, slots []int32, i int) (tokens int, err error) {
	fail := func(kind error, field string, value any, expected string, args ...any) (int, error) {
		return 0, argument.Error(kind, function, argument.Indexed("xs", i)+field, value, expected, args...)
	}
	a := x.Angles // check changes it
	if tokens, err = a.check(function); err != nil {
		return 0, err
	}
	if err := a.checkUniform(function); err != nil {
		return 0, err
	}
	if err := checkSlots(function, slots, tokens); err != nil {
		return 0, err
	}
	dst := argument.Name{Text: "xs[]", Index: i, Field: ".Dst"}
	if err := x.Dst.check(function, dst, tokens, "slots", slots); err != nil {
		return 0, err
	}
	h, _ := a.heads()
	r := x.Dst.record()
	rest := r.Numbers - h.HeadDim
	switch {
	case rest < 0:
		return fail(ErrShape, ".Angles", fmt.Sprintf("of heads of %d", h.HeadDim), "heads of at most the %d numbers of Dst.Format", r.Numbers)
	case r.Rotated > 0 && a.how != unrotated && (h.RotaryDim != r.Rotated || h.Offset+h.RotaryDim != h.HeadDim):
		return fail(ErrShape, ".Angles", fmt.Sprintf("of %d elements from number %d on of heads of %d", h.RotaryDim, h.Offset, h.HeadDim), "of the last %d", r.Rotated)
	case rest == 0 && (len(x.Latent.Data) != 0 || x.Latent.Heads|x.Latent.TokenStride|x.Latent.HeadStride|x.Latent.SequenceTokens|x.Latent.SequenceStride != 0):
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
		if p := checked.Grid(&g, tokens, v.dim); p != view.None {
			return 0, checked.Error(p, function, argument.Indexed("xs", i)+v.field, &g)
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

// store stores all tokens.
func (x *IntoLatent[S]) store(tokens int, slots []int32) {
	var memory [heads.LatentNumbers + kernels.Line]float32
	var cos, sin [kernels.ChunkPairs + kernels.Line]float32
	a, record := x.Angles, x.Dst.record()
	h, scaling := a.heads()
	r := heads.Rotation{Head: h, In: h.In, Out: h.Out, Scaling: scaling, Sign: 1}
	rest := record.Numbers - h.HeadDim
	numbers := kernels.LineAligned(memory[:])[:record.Numbers]
	latent, rotated, all := heads.Quantization{Dim: rest}, heads.Quantization{Dim: h.HeadDim}, heads.Quantization{Dim: record.Numbers, Hadamard: x.Dst.Hadamard}
	if a.how != unrotated {
		rotated.Rotation = &r
	}
	var from [2]view.Operand
	setOperand(&from[0], &x.Latent, rest)
	setOperand(&from[1], &x.Rotated, h.HeadDim)
	from[0].Data, from[1].Data = unsafe.Pointer(unsafe.SliceData(x.Latent.Data)), unsafe.Pointer(unsafe.SliceData(x.Rotated.Data))
	to := [...]view.Operand{latent.Scratch(numbers[:rest]), rotated.Scratch(numbers[rest:]), all.Scratch(numbers)}
	fullWidth := a.rows != nil && a.rows.fullWidth
	pairs := h.RotaryDim / 2
	most := chunkTokens(pairs)
	for first := 0; first < tokens; first += most {
		table := cossin.Table{Cos: kernels.LineAligned(cos[:]), Sin: kernels.LineAligned(sin[:]), Stride: pairs}
		count := min(most, tokens-first)
		if a.how != unrotated && !fullWidth {
			a.write(&table, tokens, first, count, &r)
		}
		for t := first; t < first+count; t++ {
			slot := heads.Slot(slots, t)
			if slot < 0 {
				continue
			}
			if rest > 0 {
				latent.Prepare(&to[0], &from[0], from[0].Token(t), 1, nil, 0, nil)
			}
			if fullWidth {
				var full heads.FullWidthRow
				a.rows.readFullWidth(&full, heads.Slot(a.of, t), 1)
				rotated.Prepare(&to[1], &from[1], from[1].Token(t), 1, nil, 0, &full)
			} else {
				rotated.Prepare(&to[1], &from[1], from[1].Token(t), 1, &table, t-first, nil)
			}
			all.Transform(&to[2], 1)
			y, scales := x.Dst.token(slot)
			record.Write(y, scales, numbers, &heads.LatentRules[x.Dst.Scale], x.Dst.InverseScale)
		}
	}
}

// DequantizeLatent reads tokens of a cache of latent attention. A token is one head of dst with all
// numbers of the format, the latent first: options.HeadDim is 576 for DeepSeekV32, LatentE4M3 and
// LatentBFloat16, 512 for DeepSeekV4 and 128 for DeepSeekIndexer. It writes
//
//	RN(RN32(code*scale))    RN32(1/InverseScale) as the scale of LatentE4M3
//
// and numbers that are stored as bfloat16, rounded to T. RN rounds to T. The scale of E8M0 is
// 2^(byte-127), NaN for 255. If src.Hadamard is set, the numbers are transformed once more, before RN, so
// that they are what they were before the transform. Tokens are those of options.Slots, as in
// [Dequantize]. dst shares no memory with src.Data or options.Slots. Errors wrap ErrConfig, ErrShape, ErrLength, ErrOverlap or ErrPosition.
func DequantizeLatent[T Element](dst View[T], src LatentCache, options DequantizeOptions) error {
	const function = "posenc.DequantizeLatent"
	tokens, slots := options.Tokens, options.Slots
	if err := options.check(function); err != nil {
		return err
	}
	if err := src.check(function, argument.Named("src"), tokens, "options.Slots", slots); err != nil {
		return err
	}
	record := src.record()
	if options.HeadDim != record.Numbers {
		return argument.Error(ErrShape, function, "options.HeadDim", options.HeadDim, "%d, the numbers of src.Format", record.Numbers)
	}
	var g view.Grid
	to := (*view.View[T])(&dst)
	if p := to.Grid(&g, tokens, options.HeadDim); p != view.None {
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
	var memory [heads.LatentNumbers + kernels.Line]float32
	q := heads.Quantization{Dim: record.Numbers, Hadamard: src.Hadamard}
	numbers := kernels.LineAligned(memory[:])[:record.Numbers]
	y, x := operandOf(&dst, options.HeadDim), q.Scratch(numbers)
	for t := range tokens {
		at, scales := src.token(heads.Slot(slots, t))
		record.Read(numbers, at, scales, src.InverseScale)
		q.Transform(&x, 1)
		view.Convert(&y, &x, y.Token(t), 0, len(numbers))
	}
	return nil
}
