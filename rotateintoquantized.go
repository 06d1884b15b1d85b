package posenc

import (
	"cmp"
	"unsafe"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/cossin"
	"github.com/go-posenc/posenc/internal/heads"
	"github.com/go-posenc/posenc/internal/rope"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// IntoQuantized is heads on their way into a quantized cache.
type IntoQuantized[D Quantized, S Element] struct {
	Dst QuantizedView[D]
	Src View[S]

	// Norm normalizes before the rotation, RotatedNorm after it (HunYuan, nanochat,
	// Llama 4). A norm with HeadDim weights normalizes each head, and one with Heads*HeadDim
	// weights all heads of a token as one vector. nil means no norm.
	Norm, RotatedNorm *RMSNorm

	// HeadDim is the number of elements of a head that does not rotate, where it is not the HeadDim of
	// the Angles (values of latent attention). 0 means the HeadDim of the Angles.
	HeadDim int
}

// RotateIntoQuantized rotates heads into a cache of 4 to 8 bits a number, or of float types, in one pass: a token is
// read once and written once. The numbers of a head of Src are widened to float32,
// normalized by Norm, rotated as [Rotate] rotates float32, normalized by RotatedNorm,
// transformed as [Hadamard] does where Dst says so, and quantized: see [Quantized]. Nothing
// is rounded to 16 bits on the way. Heads do not rotate by the angles of [Rotary.Unrotated].
//
// Tokens go to slots as in [RotateInto]: token t to token slots[t] of Dst, or to token
// t where slots is nil; a negative slot drops the token; of tokens with the same slot the
// last one stays. With slots Dst may have room for more tokens, and its Tokens must be 0. A paged
// cache is a view with SequenceStride. Dst has as many heads as Src. What belongs to no slot does not change. Rows with entries for each head, and
// tokens without a row ([Rows.AtSome]), are an error.
//
// Dst shares no memory with Src, slots or the slices of a. You may split it into calls for any
// ranges of tokens or heads, on any goroutines, and get the same bits; a norm of all heads needs
// all heads of a token in one call. Errors wrap ErrConfig (a, a norm, InverseScale, Hadamard),
// ErrShape, ErrLength, ErrOverlap or ErrPosition, as in RotateInto. HeadDim is at most
// 4096, and Heads*HeadDim at most 16384 with a norm of all heads.
func RotateIntoQuantized[D Quantized, S Element](a Angles, slots []int32, x IntoQuantized[D, S]) error {
	var c quantizedCall
	if err := c.begin("posenc.RotateIntoQuantized", a.core(), slots); err != nil {
		return err
	}
	var r heads.Rotation
	h, scaling := a.core().Heads()
	r.Head, r.In, r.Out, r.Scaling, r.Sign = h, h.In, h.Out, scaling, 1
	if err := x.check(&c, "x", slots, r.HeadDim, a.core().Rotates()); err != nil {
		return err
	}
	var s [1]quantizedStore // whose pointers are not set through a pointer: they would escape
	s[0].Dim, s[0].Norm, s[0].Rotated, s[0].Hadamard = x.dim(r.HeadDim), x.Norm.of(), x.RotatedNorm.of(), x.Dst.Hadamard
	if a.core().Rotates() {
		s[0].Rotation = &r
	}
	setOperand(&s[0].from, &x.Src, s[0].Dim)
	x.Dst.setOperand(&s[0].to, unitsOf[D](s[0].Dim))
	s[0].from.Data, s[0].to.Data, s[0].to.Scales = unsafe.Pointer(unsafe.SliceData(x.Src.Data)), unsafe.Pointer(unsafe.SliceData(x.Dst.Data)), x.Dst.Scales
	if err := c.checkOverlaps("x", a.core(), slots, &s[0]); err != nil {
		return err
	}
	c.store(a.core(), &r, slots, s[:])
	return nil
}

// RotateIntoQuantizedKV is [RotateIntoQuantized] for the keys of a step and its values, which do
// not rotate and may have another format, in one call:
//
//	posenc.RotateIntoQuantizedKV(rows.Layer(i), slots,
//		posenc.IntoQuantized[posenc.Q8_0, float32]{Dst: keys, Src: k},
//		posenc.IntoQuantized[posenc.E4M3, float32]{Dst: values, Src: v})
//
// The Dst of both share no elements and no scales; if their formats or their HeadDim differ, they
// share no memory at all. Errors are as in RotateIntoQuantized.
func RotateIntoQuantizedKV[K, V Quantized, S Element](a Angles, slots []int32, keys IntoQuantized[K, S], values IntoQuantized[V, S]) error {
	var c quantizedCall
	if err := c.begin("posenc.RotateIntoQuantizedKV", a.core(), slots); err != nil {
		return err
	}
	var r heads.Rotation
	h, scaling := a.core().Heads()
	r.Head, r.In, r.Out, r.Scaling, r.Sign = h, h.In, h.Out, scaling, 1
	if err := keys.check(&c, "keys", slots, r.HeadDim, a.core().Rotates()); err != nil {
		return err
	}
	if err := values.check(&c, "values", slots, r.HeadDim, false); err != nil {
		return err
	}
	var s [2]quantizedStore
	s[0].Dim, s[0].Norm, s[0].Rotated, s[0].Hadamard = keys.dim(r.HeadDim), keys.Norm.of(), keys.RotatedNorm.of(), keys.Dst.Hadamard
	s[1].Dim, s[1].Norm, s[1].Rotated, s[1].Hadamard = values.dim(r.HeadDim), values.Norm.of(), values.RotatedNorm.of(), values.Dst.Hadamard
	if a.core().Rotates() {
		s[0].Rotation = &r
	}
	k, v := &s[0], &s[1]
	setOperand(&k.from, &keys.Src, k.Dim)
	setOperand(&v.from, &values.Src, v.Dim)
	keys.Dst.setOperand(&k.to, unitsOf[K](k.Dim))
	values.Dst.setOperand(&v.to, unitsOf[V](v.Dim))
	s[0].from.Data, s[0].to.Data, s[0].to.Scales = unsafe.Pointer(unsafe.SliceData(keys.Src.Data)), unsafe.Pointer(unsafe.SliceData(keys.Dst.Data)), keys.Dst.Scales
	s[1].from.Data, s[1].to.Data, s[1].to.Scales = unsafe.Pointer(unsafe.SliceData(values.Src.Data)), unsafe.Pointer(unsafe.SliceData(values.Dst.Data)), values.Dst.Scales
	if err := cmp.Or(c.checkOverlaps("keys", a.core(), slots, k), c.checkOverlaps("values", a.core(), slots, v), c.checkSource("keys", k, "values", v), c.checkSource("values", v, "keys", k)); err != nil {
		return err
	}
	if k.to.Kind == v.to.Kind && k.Dim == v.Dim {
		other := (*QuantizedView[K])(unsafe.Pointer(&values.Dst)) // the same type
		if keys.Dst.overlaps(other, reachOf(keys.Dst.heads(), c.end), reachOf(other.heads(), c.end), unitsOf[K](k.Dim)) {
			return argument.Error(ErrOverlap, c.function, "values.Dst", "sharing elements or scales with keys.Dst", "a view of different elements")
		}
	} else if argument.Overlap(keys.Dst.Data, values.Dst.Data) || argument.Overlap(keys.Dst.Scales, values.Dst.Scales) {
		return argument.Error(ErrOverlap, c.function, "values.Dst", "sharing memory with keys.Dst", "a view of other memory, because formats or heads differ")
	}
	c.store(a.core(), &r, slots, s[:])
	return nil
}

type quantizedCall struct {
	function    string
	tokens, end int  // end is behind the last token of the caches that is written
	slots       bool // there are
	fullWidth   bool // rows have an entry for each element
	rotates     bool // some heads do
}

// quantizedStore is IntoQuantized without its types.
type quantizedStore struct {
	heads.Quantization
	from view.Operand
	to   heads.QuantizedOperand
}

func (c *quantizedCall) begin(function string, a *rope.Angles, slots []int32) (err error) {
	c.function = function
	if c.tokens, err = a.Check(function); err != nil {
		return err
	}
	if err := a.CheckUniform(function); err != nil {
		return err
	}
	if err := checkSlots(function, slots, c.tokens); err != nil {
		return err
	}
	c.end = c.tokens
	if slots != nil {
		c.slots, c.end = true, int(lastSlot(slots))+1
	}
	c.fullWidth = a.FullWidth()
	return nil
}

func (x *IntoQuantized[D, S]) dim(headDim int) int {
	if x.HeadDim != 0 {
		return x.HeadDim
	}
	return headDim
}

// plain reports that check finds nothing wrong with one token, where that is seen at a glance: heads lie
// side by side, and nothing but the rotation changes them.
func (x *IntoQuantized[D, S]) plain(c *quantizedCall, headDim int) bool {
	dst, src, kind := &x.Dst, &x.Src, quantizedKind[D]()
	token := uint64(src.Heads) * uint64(unitsOf[D](headDim))
	switch {
	case x.HeadDim != 0 || x.Norm != nil || x.RotatedNorm != nil || dst.Hadamard != 0,
		headDim > maxQuantizedDim || uint(src.Heads-1) >= 1<<16, // no product overflows
		src.Tokens|src.TokenStride|src.HeadStride|src.SequenceTokens|src.SequenceStride != 0,
		dst.Tokens|dst.HeadStride|dst.SequenceTokens|dst.SequenceStride != 0 || dst.Heads != src.Heads,
		dst.TokenStride != 0 && uint64(dst.TokenStride) != token,
		uint64(len(src.Data)) != uint64(src.Heads)*uint64(headDim) || uint64(len(dst.Data)) < uint64(c.end)*token,
		!c.slots && uint64(len(dst.Data)) != token:
		return false
	case kind >= kernels.KindQ8 || kind < kernels.KindI8:
		return headDim%generic.Block == 0 && dst.Scales == nil && dst.InverseScale == 0
	case kind == kernels.KindI8 || dst.Scales != nil:
		return kind != kernels.KindE5M2 && uint64(len(dst.Scales))*uint64(headDim) == uint64(len(dst.Data)) && dst.InverseScale == 0
	}
	return dst.InverseScale >= 1/maxScale && dst.InverseScale <= maxScale
}

func (x *IntoQuantized[D, S]) check(c *quantizedCall, name string, slots []int32, headDim int, rotates bool) error {
	if c.tokens == 1 && x.plain(c, headDim) {
		return nil
	}
	function := c.function
	if err := checkHeadDim(function, name, x.HeadDim, headDim, rotates); err != nil {
		return err
	}
	dim := x.dim(headDim)
	if err := checkQuantizedDim[D](function, argument.Name{Text: name, Field: ".Dst: HeadDim"}, dim); err != nil {
		return err
	}
	units, err := x.Dst.check(function, argument.Name{Text: name, Field: ".Dst"}, dim)
	if err != nil {
		return err
	}
	if err := checkSource(c, name, &x.Src, x.Dst.Heads, dim, x.Norm, x.RotatedNorm); err != nil {
		return err
	}
	_, err = checkCache(function, argument.Name{Text: name, Field: ".Dst"}, x.Dst.heads(), "slots", slots, c.tokens, units, 1)
	return err
}

// checkHeadDim checks the HeadDim of IntoQuantized.
func checkHeadDim(function, name string, own, headDim int, rotates bool) error {
	if rotates && own != 0 && own != headDim || own < 0 {
		return argument.Error(ErrShape, function, name+".HeadDim", own, "0, or of heads that are rotated %d as in a", headDim)
	}
	return nil
}

// checkSource checks the heads of src, on their way to as many heads of a cache, and their norms.
func checkSource[S Element](c *quantizedCall, name string, src *View[S], heads, dim int, norm, rotated *RMSNorm) error {
	var g view.Grid
	v := (*view.View[S])(src)
	if p := v.Problem(&g, c.tokens, dim); p != view.None {
		return v.Error(p, c.function, name+".Src", &g)
	}
	if heads != src.Heads {
		return argument.Error(ErrShape, c.function, name+".Dst.Heads", heads, "%d as in Src", src.Heads)
	}
	for _, n := range [...]struct {
		field string
		norm  *RMSNorm
	}{{".Norm", norm}, {".RotatedNorm", rotated}} {
		if err := n.norm.check(c.function, argument.Name{Text: name, Field: n.field}, heads, dim); err != nil {
			return err
		}
		if n.norm != nil && len(n.norm.norm.Weight) > maxQuantizedToken {
			return argument.Error(ErrShape, c.function, name+n.field, "of "+argument.Elements(len(n.norm.norm.Weight)).String(), "at most %d", maxQuantizedToken)
		}
	}
	return nil
}

const maxQuantizedToken = 4 * kernels.FusedElements

// checkOverlaps returns an error where the cache of s shares memory with something else that is read.
func (c *quantizedCall) checkOverlaps(name string, a *rope.Angles, slots []int32, s *quantizedStore) error {
	data, scales := s.to.Memory(), argument.Memory(s.to.Scales)
	switch {
	case argument.Overlap(data, slots) || argument.Overlap(scales, slots):
		return argument.Error(ErrOverlap, c.function, name+".Dst", "sharing memory with slots", "a view of other memory")
	case a.Overlaps(data) || len(scales) > 0 && a.Overlaps(scales):
		return a.OverlapError(c.function, name+".Dst")
	}
	return c.checkSource(name, s, name, s)
}

// checkSource returns an error where the cache of s shares memory with what other reads.
func (c *quantizedCall) checkSource(name string, s *quantizedStore, otherName string, other *quantizedStore) error {
	data, scales, source := s.to.Memory(), argument.Memory(s.to.Scales), other.from.Memory()
	switch {
	case argument.Overlap(data, source) || argument.Overlap(scales, source):
		return argument.Error(ErrOverlap, c.function, name+".Dst", "sharing memory with "+otherName+".Src", "a view of other memory")
	case argument.Overlap(scales, other.to.Memory()):
		return argument.Error(ErrOverlap, c.function, name+".Dst.Scales", "sharing memory with "+otherName+".Dst.Data", "a slice of other memory")
	}
	return nil
}

// store quantizes all tokens, with scratch memory of the size that they need.
func (c *quantizedCall) store(a *rope.Angles, r *heads.Rotation, slots []int32, stores []quantizedStore) {
	if c.end == 0 {
		return
	}
	most, rotates := 0, false // elements that scratch memory holds at least
	for i := range stores {
		s := &stores[i]
		s.Choose(&s.to, s.from.Kind, c.fullWidth)
		if s.Way == heads.ThroughScratch {
			most = max(most, s.AtLeast())
		}
		rotates = rotates || s.Rotation != nil
	}
	c.rotates = rotates
	switch small := c.tokens == 1 && (r.RotaryDim <= 2*kernels.TokenPairs || !rotates); {
	case small && most == 0:
		c.storeToken(a, r, slots, stores)
	case small && most <= kernels.TokenElements:
		c.storePreparedToken(a, r, slots, stores)
	case most == 0:
		c.storeTokens(a, r, slots, stores)
	case most <= kernels.FusedElements:
		c.storePreparedTokens(a, r, slots, stores)
	default:
		c.storeWholeTokens(a, r, slots, stores)
	}
}

// storeToken calls a kernel directly where one call suffices: calls in between take as long as a head.
func (c *quantizedCall) storeToken(a *rope.Angles, r *heads.Rotation, slots []int32, stores []quantizedStore) {
	var cos, sin []float32
	if c.rotates {
		inPlace := false
		if rows := a.Rows(); rows != nil {
			cos, sin, inPlace = rows.InPlace(heads.Slot(a.Of(), 0), r.Sign)
		}
		if !inPlace {
			var memory rope.TokenRow
			cos, sin = a.WriteRow(&memory, r)
		}
	}
	for i := range stores {
		s := &stores[i]
		if s.Way == heads.ByOneKernel && s.from.Heads*s.Dim <= kernels.MaxCallElements {
			var k kernels.Rotation // field by field: a struct built and copied costs 4 ns
			at := s.to.Token(heads.Slot(slots, 0))
			k.Pairs, k.Partner, k.Tokens, k.Heads, k.XHeadStride, k.YHeadStride = s.Dim/2, s.Dim/2, 1, s.from.Heads, s.from.HeadStride, s.to.HeadStride*int(s.to.Kind.Size())
			s.RotateQuantize(&s.to, at, s.from.Float32s(0), cos, sin, &k)
			continue
		}
		s.Store(&s.to, slots, &s.from, 0, 1, nil, &cossin.Table{Cos: cos, Sin: sin, Stride: s.Dim / 2}, nil)
	}
}

func (c *quantizedCall) storePreparedToken(a *rope.Angles, r *heads.Rotation, slots []int32, stores []quantizedStore) {
	var scratch [kernels.TokenElements + kernels.Line]float32
	var cos, sin [kernels.TokenPairs + kernels.Line]float32
	c.storeIn(a, r, slots, stores, kernels.LineAligned(cos[:]), kernels.LineAligned(sin[:]), kernels.LineAligned(scratch[:]))
}

func (c *quantizedCall) storeTokens(a *rope.Angles, r *heads.Rotation, slots []int32, stores []quantizedStore) {
	var cos, sin [kernels.ChunkPairs + kernels.Line]float32
	c.storeIn(a, r, slots, stores, kernels.LineAligned(cos[:]), kernels.LineAligned(sin[:]), nil)
}

func (c *quantizedCall) storePreparedTokens(a *rope.Angles, r *heads.Rotation, slots []int32, stores []quantizedStore) {
	var scratch [kernels.FusedElements + kernels.Line]float32
	var cos, sin [kernels.ChunkPairs + kernels.Line]float32
	c.storeIn(a, r, slots, stores, kernels.LineAligned(cos[:]), kernels.LineAligned(sin[:]), kernels.LineAligned(scratch[:]))
}

func (c *quantizedCall) storeWholeTokens(a *rope.Angles, r *heads.Rotation, slots []int32, stores []quantizedStore) {
	var scratch [maxQuantizedToken + kernels.Line]float32
	var cos, sin [kernels.ChunkPairs + kernels.Line]float32
	c.storeIn(a, r, slots, stores, kernels.LineAligned(cos[:]), kernels.LineAligned(sin[:]), kernels.LineAligned(scratch[:]))
}

// storeIn goes through the tokens chunk by chunk. cos, sin and scratch are memory for a chunk and for heads.
func (c *quantizedCall) storeIn(a *rope.Angles, r *heads.Rotation, slots []int32, stores []quantizedStore, cos, sin, scratch []float32) {
	if c.rotates && c.fullWidth {
		c.storeFullWidth(a, r, slots, stores, scratch)
		return
	}
	most := rope.ChunkTokens(r.RotaryDim / 2)
	for first := 0; first < c.tokens; first += most {
		count := min(most, c.tokens-first)
		var table cossin.Table // field by field: see rotation
		table.Cos, table.Sin, table.Stride = cos, sin, r.RotaryDim/2
		if c.rotates {
			a.Write(&table, c.tokens, first, count, r)
		}
		for i := range stores {
			s := &stores[i]
			s.Store(&s.to, slots, &s.from, first, count, scratch, &table, nil)
		}
	}
}

func (c *quantizedCall) storeFullWidth(a *rope.Angles, r *heads.Rotation, slots []int32, stores []quantizedStore, scratch []float32) {
	var full heads.FullWidthRow
	for t := range c.tokens {
		a.ReadFullWidth(&full, t, r.Sign)
		for i := range stores {
			s := &stores[i]
			s.Store(&s.to, slots, &s.from, t, 1, scratch, nil, &full)
		}
	}
}
