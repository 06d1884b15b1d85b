package posenc

import (
	"cmp"
	"math"
	"unsafe"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/cossin"
	"github.com/go-posenc/posenc/internal/heads"
	"github.com/go-posenc/posenc/internal/rope"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// PageFormat is how ONNX Runtime or OpenVINO keeps the numbers of heads in bytes on a CPU. A head of some
// tokens is a record: of one token, or of the 32 tokens of a page where the numbers of a channel (an
// element of a head) share a scale. All numbers of a group have a scale s and a zero point z. Let y be a
// float32 that is stored, and RN32 rounding to the nearest float32, ties to even:
//
//	q = RN32(y*RN32(1/s)+z), rounded once, then to an integer, halves to even, from the least code to the largest
//	y = RN32(RN32(q-z)*s) is read back
//
// In ONNX Runtime's formats s is given, z is 0, and a record is the codes q. A NaN has the largest code.
// In OpenVINO's a record is s and z of a group and its codes, group after group, or, by channel, s of all
// channels, z of all, and the codes of each token; s and z are float32, little-endian. With a the least
// and b the largest number of a group, and largest 255 or 15,
//
//	s = RN32(RN32(b-a)/largest), by channel RN32(RN32(b-a)*RN32(1/largest)); 0.0001 where that is 0
//	z = RN32(-a/s)
//
// In OpenVINO's formats RN32(1/s) counts as 0 where it is infinite, and -0 is less than +0. A group with a NaN or an infinity, or whose b-a is
// infinite, is read back as NaN: s is NaN (0x7fc00000) or infinite and all codes are 0. OpenVINO's bytes
// are not defined where there are NaNs, zeros of both signs, or infinite RN32(1/s).
type PageFormat uint8

const (
	// ONNXRuntimeInt8 is int8, from -128 to 127, as GroupQueryAttention keeps them with kv_cache_bit_width 8.
	ONNXRuntimeInt8 PageFormat = 1 + iota
	// ONNXRuntimeInt4 is two numbers from -8 to 7 to a byte, plus 8, the first in the lower half.
	ONNXRuntimeInt4
	// OpenVINOU8 is groups of numbers from 0 to 255, KEY_CACHE_PRECISION or VALUE_CACHE_PRECISION u8, by token.
	OpenVINOU8
	// OpenVINOU4 is OpenVINOU8 with two numbers from 0 to 15 to a byte, the first in the upper half.
	OpenVINOU4
	// OpenVINOU8ByChannel is OpenVINO's KEY_CACHE_QUANT_MODE BY_CHANNEL, its default for keys on amd64.
	OpenVINOU8ByChannel
	// OpenVINOU4ByChannel is OpenVINOU8ByChannel with numbers as in OpenVINOU4.
	OpenVINOU4ByChannel
)

// maxPageDim is the most elements of a head of which scratch memory has room for a page.
const maxPageDim = maxQuantizedToken / generic.PageTokens

// PagedView describes the heads of a cache whose bytes are records of a [PageFormat].
//
// The View describes records: its strides count bytes, and what it calls a token is a record, which has
// one token, or 32 by channel. ONNX Runtime's [batch][Heads][tokens][bytes of a record], and OpenVINO's
// [pages][Heads][32][bytes of a record], have TokenStride, HeadStride, SequenceTokens and SequenceStride.
// Tokens counts records, too. In a call without slots Data has as many as its tokens take.
// OpenVINO's keys by channel, [pages][Heads][bytes of a record], need none.
type PagedView struct {
	View[byte]
	Format PageFormat

	// Group is the numbers that share a scale in OpenVINOU8 and OpenVINOU4, VALUE_CACHE_GROUP_SIZE: a multiple
	// of 16 that divides HeadDim. 0 means HeadDim.
	Group int

	// Scales has ONNX Runtime's scales, k_scale or v_scale: one (PER_TENSOR) or one for each
	// element of all heads (PER_CHANNEL), finite. 0 counts as 1 where numbers are written, and
	// they are read as 0, as in ONNX Runtime. Other formats have none.
	Scales []float32

	// Hadamard is as in [QuantizedView].
	Hadamard int
}

// Record returns how many tokens of a head a record has, 1 or 32, and its bytes. Errors wrap ErrConfig
// (v.Format) or ErrShape, as in [RotateIntoPages].
func (v PagedView) Record(headDim int) (tokens, bytes int, err error) {
	r, err := v.record("posenc.PagedView.Record", argument.Named("v"), argument.Named("headDim"), headDim)
	if err != nil {
		return 0, 0, err
	}
	return r.Tokens, r.Bytes(), nil
}

func (v *PagedView) record(function string, name, dimName argument.Name, headDim int) (r generic.CacheRecord, err error) {
	if v.Format == 0 || int(v.Format) >= len(generic.CacheFormats) {
		return r, argument.Error(ErrConfig, function, name.String()+".Format", v.Format, "a constant of type PageFormat")
	}
	r.CacheFormat, r.Dim, r.Group = &generic.CacheFormats[v.Format], headDim, cmp.Or(v.Group, headDim)
	most := maxQuantizedDim
	if r.Tokens > 1 {
		most = maxPageDim
	}
	switch {
	case headDim < 1 || headDim > most || headDim%r.Multiple != 0:
		return r, argument.Error(ErrShape, function, dimName.String(), headDim, "a multiple of %d, at most %d", r.Multiple, most)
	case v.Group != 0 && (r.Given || r.Tokens > 1):
		return r, argument.Error(ErrShape, function, name.String()+".Group", v.Group, "0, because a head has no groups")
	case r.Group < 1 || r.Group%r.Multiple != 0 || headDim%r.Group != 0:
		return r, argument.Error(ErrShape, function, name.String()+".Group", v.Group, "0, or a multiple of %d that divides %d", r.Multiple, headDim)
	}
	return r, nil
}

func (v *PagedView) check(function string, name, dimName argument.Name, slotsName string, slots []int32, tokens, headDim int) (generic.CacheRecord, error) {
	r, err := v.record(function, name, dimName, headDim)
	if err != nil {
		return r, err
	}
	if v.Hadamard != 0 && !isHadamard(v.Hadamard, headDim) {
		return r, argument.Error(ErrConfig, function, name.String()+".Hadamard", v.Hadamard, "0, or "+ofHadamard, headDim)
	}
	if _, err = checkCache(function, name, v.view(), slotsName, slots, tokens, r.Bytes(), r.Tokens); err != nil {
		return r, err
	}
	switch n := len(v.Scales); {
	case r.Given && n != 1 && n != v.Heads*headDim:
		return r, argument.Error(ErrLength, function, name.String()+".Scales", argument.Elements(n), "1, or %d for %d heads of %d", v.Heads*headDim, v.Heads, headDim)
	case !r.Given && v.Scales != nil:
		return r, argument.Error(ErrLength, function, name.String()+".Scales", argument.Elements(n), "nil, because the scales are in the records")
	}
	for i, s := range v.Scales {
		if s-s != 0 {
			return r, argument.Error(ErrConfig, function, argument.Indexed(name.String()+".Scales", i), s, "a finite number")
		}
	}
	return r, nil
}

func (v *PagedView) view() *view.View[byte] { return (*view.View[byte])(&v.View) }

// setRecords sets all but the data and the scales: see view.View.SetOperand.
func (v *PagedView) setRecords(o *heads.Records, r generic.CacheRecord) {
	v.view().SetOperand(&o.Operand, kernels.KindE4M3, r.Bytes()) // as long as a byte
	o.CacheRecord = r
}

// IntoPages is [IntoQuantized] for a cache of records. Its fields are the same.
type IntoPages[S Element] struct {
	Dst               PagedView
	Src               View[S]
	Norm, RotatedNorm *RMSNorm
	HeadDim           int
}

// RotateIntoPages is [RotateIntoQuantized] for a cache of records: it rotates heads in float32 as that does, with
// the same norms and the same transform, and stores them as [PageFormat] says.
//
// By channel the numbers of a page share scales, and a page that grows is quantized anew, as OpenVINO
// does: tokens that follow one another in the call and go to slots of a page that do, are stored behind the
// tokens of lower slots in the page, which are read back, and all of them are quantized together. So the bytes
// depend on how tokens come: 32 calls of one token give other codes than one call of 32 (docs/quantized.md).
// What lies behind the last of them in the page has no meaning any more, so the tokens of a page come in the
// order of their slots, also where tokens of other pages stand between: a slot below an earlier one of the
// same page is an error. All lower slots of the page must have been written, or the page cleared. One call has to have all tokens
// of a page that come at once: do not split them over calls or goroutines. You may split heads, and for
// other formats tokens too.
//
// Dst shares no memory with Src, Dst.Scales, slots or the slices of a. Errors wrap ErrConfig (a, a norm, Format,
// Scales, Hadamard), ErrShape, ErrLength, ErrOverlap or ErrPosition, as in RotateIntoQuantized.
// HeadDim is a multiple of 8 in ONNX Runtime's formats and of 16 in OpenVINO's, at most 4096, by channel 512.
func RotateIntoPages[S Element](a Angles, slots []int32, x IntoPages[S]) error {
	names, xs := [1]string{"x"}, [1]*IntoPages[S]{&x}
	return intoPages("posenc.RotateIntoPages", a.core(), slots, names[:], xs[:])
}

// RotateIntoPagesKV is RotateIntoPages for the keys of a step and its values, which do not rotate and may
// have another format, in one call. The Dst of both share no memory.
func RotateIntoPagesKV[S Element](a Angles, slots []int32, keys, values IntoPages[S]) error {
	names, xs := [2]string{"keys", "values"}, [2]*IntoPages[S]{&keys, &values}
	return intoPages("posenc.RotateIntoPagesKV", a.core(), slots, names[:], xs[:])
}

// intoPages stores xs, of which only the first rotates.
func intoPages[S Element](function string, a *rope.Angles, slots []int32, names []string, xs []*IntoPages[S]) error {
	var c quantizedCall
	if err := c.begin(function, a, slots); err != nil {
		return err
	}
	var r heads.Rotation
	h, scaling := a.Heads()
	r.Head, r.In, r.Out, r.Scaling, r.Sign = h, h.In, h.Out, scaling, 1
	var records [2]generic.CacheRecord
	for i, x := range xs {
		var err error
		if records[i], err = x.check(&c, names[i], slots, r.HeadDim, i == 0 && a.Rotates()); err != nil {
			return err
		}
	}
	for i, x := range xs {
		data, other := x.Dst.Data, ""
		if a.Overlaps(data) {
			return a.OverlapError(function, names[i]+".Dst")
		}
		if argument.Overlap(data, slots) {
			other = "slots"
		}
		for j, y := range xs {
			switch {
			case argument.Overlap(data, y.Src.Data):
				other = names[j] + ".Src"
			case argument.Overlap(data, y.Dst.Scales):
				other = names[j] + ".Dst.Scales"
			case i != j && argument.Overlap(data, y.Dst.Data):
				other = names[j] + ".Dst"
			}
		}
		if other != "" {
			return argument.Error(ErrOverlap, function, names[i]+".Dst", "sharing memory with "+other, "a view of other memory")
		}
	}
	for i, x := range xs {
		var s recordStore // whose pointers are not set through a pointer: they would escape
		s.Dim, s.Norm, s.Rotated, s.Hadamard = records[i].Dim, x.Norm.of(), x.RotatedNorm.of(), x.Dst.Hadamard
		if i == 0 && a.Rotates() {
			s.Rotation = &r
		}
		setOperand(&s.from, &x.Src, s.Dim)
		x.Dst.setRecords(&s.to, records[i])
		s.from.Data, s.to.Data, s.to.Scales = unsafe.Pointer(unsafe.SliceData(x.Src.Data)), unsafe.Pointer(unsafe.SliceData(x.Dst.Data)), x.Dst.Scales
		c.storeRecords(a, slots, &s)
	}
	return nil
}

func (x *IntoPages[S]) check(c *quantizedCall, name string, slots []int32, headDim int, rotates bool) (generic.CacheRecord, error) {
	if err := checkHeadDim(c.function, name, x.HeadDim, headDim, rotates); err != nil {
		return generic.CacheRecord{}, err
	}
	dim := cmp.Or(x.HeadDim, headDim)
	r, err := x.Dst.check(c.function, argument.Name{Text: name, Field: ".Dst"}, argument.Name{Text: name, Field: ".Dst: HeadDim"}, "slots", slots, c.tokens, dim)
	if err != nil {
		return r, err
	}
	if t, before := descending(slots, r.Tokens); t > 0 {
		return r, argument.Error(ErrPosition, c.function, argument.Indexed("slots", t), slots[t], "at least %d, the slot before in the same page", before)
	}
	return r, checkSource(c, name, &x.Src, x.Dst.Heads, dim, x.Norm, x.RotatedNorm)
}

// descending returns a token whose slot is below that of a token before it in the same page, and that slot, or 0.
func descending(slots []int32, pageTokens int) (token int, before int32) {
	if pageTokens == 1 || len(slots) < 2 {
		return 0, 0
	}
	var last [4096]int32 // the slot before in the pages from first on
	for first := 0; ; clear(last[:]) {
		next := math.MaxInt
		for t, slot := range slots {
			switch page := int(slot) / pageTokens; {
			case slot < 0 || page < first:
			case page-first >= len(last):
				next = min(next, page)
			case slot < last[page-first]:
				return t, last[page-first]
			default:
				last[page-first] = slot
			}
		}
		if first = next; first == math.MaxInt {
			return 0, 0
		}
	}
}

// recordStore is IntoPages without its type.
type recordStore struct {
	heads.Quantization
	from view.Operand
	to   heads.Records
}

func (c *quantizedCall) storeRecords(a *rope.Angles, slots []int32, s *recordStore) {
	most := s.AtLeast()
	switch {
	case s.to.Tokens == 1 && c.tokens == 1 && most <= kernels.TokenElements && (s.Rotation == nil || s.Rotation.RotaryDim <= 2*kernels.TokenPairs):
		c.storeRecordToken(a, slots, s)
	case max(s.to.Tokens*s.Dim, most) <= kernels.FusedElements && (s.to.Tokens == 1 || most == s.Dim):
		c.storeRecordChunks(a, slots, s)
	default:
		c.storeWholeRecords(a, slots, s)
	}
}

func (c *quantizedCall) storeRecordToken(a *rope.Angles, slots []int32, s *recordStore) {
	var scratch [kernels.TokenElements + kernels.Line]float32
	var cos, sin [kernels.TokenPairs + kernels.Line]float32
	c.storeRuns(a, slots, s, kernels.LineAligned(cos[:]), kernels.LineAligned(sin[:]), kernels.LineAligned(scratch[:]), nil)
}

func (c *quantizedCall) storeRecordChunks(a *rope.Angles, slots []int32, s *recordStore) {
	var scratch [kernels.FusedElements + kernels.Line]float32
	var cos, sin [pagePairs + kernels.Line]float32
	c.storeRuns(a, slots, s, kernels.LineAligned(cos[:]), kernels.LineAligned(sin[:]), kernels.LineAligned(scratch[:]), nil)
}

func (c *quantizedCall) storeWholeRecords(a *rope.Angles, slots []int32, s *recordStore) {
	var scratch, token [maxQuantizedToken + kernels.Line]float32
	var cos, sin [pagePairs + kernels.Line]float32
	c.storeRuns(a, slots, s, kernels.LineAligned(cos[:]), kernels.LineAligned(sin[:]), kernels.LineAligned(scratch[:]), kernels.LineAligned(token[:]))
}

// pagePairs is the pairs of the rows of a page, heads of 128.
const pagePairs = generic.PageTokens * 64

// storeRuns quantizes runs of tokens that go to a record or to records one after another, some heads at a time. cos and sin are memory for the rows of tokens,
// token for a norm that takes all heads as one vector, where scratch has not room for all.
func (c *quantizedCall) storeRuns(a *rope.Angles, slots []int32, s *recordStore, cos, sin, scratch, token []float32) {
	var m heads.RecordMemory
	var table cossin.Table
	made, rows, fit := 0, 0, 0 // table has rows of tokens from number made on, and room for that many
	rotates := s.Rotation != nil && !c.fullWidth
	if rotates {
		fit = min(kernels.ChunkRows, len(cos)/(s.Rotation.RotaryDim/2))
	}
	dim, all, page := s.Dim, s.from.Heads, s.to.Tokens > 1
	room := len(scratch)
	if !page {
		room = min(room, kernels.FusedElements)
	}
	for t, n := 0, 0; t < c.tokens; t += n {
		var at, first int
		at, first, n = s.to.Run(slots, t, c.tokens-t)
		if at < 0 {
			continue
		}
		most := min(all, room/dim)
		switch {
		case page:
			most = min(all, room/((first+n)*dim))
		case s.AtLeast() == dim && s.to.ByHead():
			n = min(n, room/dim, kernels.ChunkRows)
			most = min(all, room/(n*dim))
		default:
			n = min(n, room/(most*dim))
		}
		whole := s.AtLeast() > dim && most < all
		for h := 0; h < all; h += most {
			some := min(most, all-h)
			row := some * dim
			if first > 0 {
				s.to.Dequantize(&m, scratch, some*dim, at, h, some, 0, first)
			}
			for i, count := 0, 0; i < n; i += count {
				count = s.from.Together(t+i, n-i)
				if whole || c.fullWidth {
					count = 1
				}
				if rotates {
					count = min(count, fit)
					if t+i < made || t+i+count > made+rows {
						made, rows = t+i, min(fit, c.tokens-t-i)
						table.Cos, table.Sin, table.Stride = cos, sin, s.Rotation.RotaryDim/2
						a.Write(&table, c.tokens, made, rows, s.Rotation)
					}
				}
				to := scratch[(first+i)*row:]
				if whole {
					c.prepare(a, s, token, t+i, 1, 0, all, &table, t+i-made)
					copy(to[:row], token[h*dim:])
				} else {
					c.prepare(a, s, to, t+i, count, h, some, &table, t+i-made)
				}
			}
			s.to.Quantize(&m, at, h, some, scratch, first+n)
		}
	}
}

// prepare writes heads of n tokens from t on as they are to be quantized. Their rows are those of table from number first on.
func (c *quantizedCall) prepare(a *rope.Angles, s *recordStore, to []float32, t, n, h, some int, table *cossin.Table, first int) {
	from, scratch := s.from, s.Scratch(to)
	from.Heads = some
	at := from.Token(t) + h*from.HeadStride
	if s.Rotation == nil || !c.fullWidth {
		s.Prepare(&scratch, &from, at, n, table, first, nil)
		return
	}
	var full heads.FullWidthRow
	a.ReadFullWidth(&full, t, s.Rotation.Sign)
	s.Prepare(&scratch, &from, at, 1, nil, 0, &full)
}

// DequantizePages is [Dequantize] of a cache of records: it writes RN(RN32(RN32(q-z)*s)), see
// [PageFormat]. Errors wrap ErrConfig (src.Format, src.Scales, src.Hadamard), ErrShape, ErrLength, ErrOverlap or
// ErrPosition, as in Dequantize.
func DequantizePages[T Element](dst View[T], src PagedView, options DequantizeOptions) error {
	const function = "posenc.DequantizePages"
	if err := options.check(function); err != nil {
		return err
	}
	dim, slots := options.HeadDim, options.Slots
	r, err := src.check(function, argument.Named("src"), argument.Named("options.HeadDim"), "options.Slots", slots, options.Tokens, dim)
	if err != nil {
		return err
	}
	if err := checkDequantized(function, &dst, options, src.Heads, src.Data, src.Scales); err != nil {
		return err
	}
	y := operandOf(&dst, dim)
	var x heads.Records
	src.setRecords(&x, r)
	x.Data, x.Scales = unsafe.Pointer(unsafe.SliceData(src.Data)), src.Scales
	q := heads.Quantization{Dim: dim, Hadamard: src.Hadamard}
	var unaligned [kernels.FusedElements + kernels.Line]float32
	var m heads.RecordMemory
	memory := kernels.LineAligned(unaligned[:])
	scratch := q.Scratch(memory)
	x.Begin(&m)
	for t, n := 0, 0; t < options.Tokens; t += n {
		var at, first int
		at, first, n = x.Run(slots, t, min(options.Tokens-t, len(memory)/dim))
		most := min(x.Heads, len(memory)/dim)
		if x.ByHead() {
			most = min(x.Heads, len(memory)/(n*dim))
		} else {
			n = min(n, len(memory)/(most*dim))
		}
		for h := 0; h < x.Heads; h += most {
			some := min(most, x.Heads-h)
			yAt := y.Token(t) + h*y.HeadStride
			if y.Kind == kernels.KindFloat32 && y.HeadStride == dim && y.Together(t, n) == n && (x.Columns() || n == 1 || y.TokenStride == some*dim) {
				x.Dequantize(&m, y.Float32s(yAt), y.TokenStride, at, h, some, first, n)
				for i := range n {
					q.Transform(&y, yAt+i*y.TokenStride, some)
				}
				continue
			}
			x.Dequantize(&m, memory, some*dim, at, h, some, first, n)
			q.Transform(&scratch, 0, n*some)
			for i := range n {
				q.Write(&y, y.Token(t+i)+h*y.HeadStride, &scratch, i*some*dim, some)
			}
		}
	}
	return nil
}
