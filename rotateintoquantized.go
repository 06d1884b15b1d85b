package posenc

import (
	"unsafe"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/cossin"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// IntoQuantized is heads on their way into a cache of 8-bit numbers: keys, which rotate,
// or values, which do not.
type IntoQuantized[D Quantized, S Element] struct {
	Dst QuantizedView[D]
	Src View[S]

	// Norm normalizes before the rotation, RotatedNorm after it (HunYuan, nanochat,
	// Llama 4). A norm with HeadDim weights normalizes each head, and one with Heads*HeadDim
	// weights all heads of a token as one vector. nil means no norm.
	Norm, RotatedNorm *RMSNorm

	// Unrotated says that heads are not rotated: values, and keys of layers without
	// positions. HeadDim is then the number of elements of a head; 0 means that of the
	// Angles.
	Unrotated bool
	HeadDim   int
}

// RotateIntoQuantized rotates heads into caches of 8-bit numbers in one pass: a token is
// read once and written once. The numbers of a head of Src are widened to float32,
// normalized by Norm, rotated as [Rotate] rotates float32, normalized by RotatedNorm,
// transformed as [Hadamard] does where Dst says so, and quantized: see [Quantized]. Nothing
// is rounded to 16 bits on the way. K and V of a step take one call:
//
//	posenc.RotateIntoQuantized(rope.At(positions), slots,
//		posenc.IntoQuantized[posenc.Q8_0, float32]{Dst: keys, Src: k},
//		posenc.IntoQuantized[posenc.Q8_0, float32]{Dst: values, Src: v, Unrotated: true})
//
// Tokens go to slots as in [RotateInto]: token t to token slots[t] of every Dst, or to token
// t where slots is nil; a negative slot drops the token; of tokens with the same slot the
// last one stays. A paged cache is a view with SequenceStride. Each Dst has as many heads
// as its Src. What belongs to no slot does not change. Rows with entries for each head, and
// tokens without a row ([Rows.AtSome]), are an error.
//
// Dst shares no memory with a Src, slots or the slices of a, and no elements and no scales with
// another Dst; with one of another HeadDim it shares no memory at all. A call allocates nothing. You may split it
// into calls for any ranges of tokens or heads, on any goroutines, and get the same bits; a
// norm of all heads needs all heads of a token in one call.
//
// Errors wrap ErrConfig (a, a norm, Scale, Hadamard), ErrShape, ErrLength, ErrOverlap or
// ErrPosition, as those of RotateInto. HeadDim is at most 4096, and Heads*HeadDim at most
// 16384 with a norm of all heads.
func RotateIntoQuantized[D Quantized, S Element](a Angles, slots []int32, xs ...IntoQuantized[D, S]) error {
	const function = "posenc.RotateIntoQuantized"
	tokens, err := a.check(function)
	if err != nil {
		return err
	}
	if err := a.checkUniform(function); err != nil {
		return err
	}
	h, scaling := a.heads()
	var r rotation
	r.head, r.in, r.out, r.scaling, r.sign = h, h.in, h.out, scaling, 1
	if len(xs) == 0 {
		return view.NoViews(function)
	}
	if err := checkSlots(function, slots, tokens); err != nil {
		return err
	}
	end := tokens // of the caches, behind the last that is written
	if slots != nil {
		end = int(largest(slots)) + 1
	}
	most, rotates := 0, false // elements that scratch memory holds at least
	for i := range xs {
		x := &xs[i]
		if tokens != 1 || !x.plain(slots, end, r.headDim) {
			if err := x.check(function, i, slots, tokens, r.headDim); err != nil {
				return err
			}
		}
		// A function that set q would move it to the heap, or copy it.
		q := quantization{dim: x.dim(r.headDim), norm: x.Norm, rotated: x.RotatedNorm, hadamard: x.Dst.Hadamard}
		if !x.Unrotated {
			q.rotation, rotates = &r, true
		}
		if !q.needsNone(quantizedKind[D](), x.Dst.Scales != nil, kindOf[S](), a.rows != nil && a.rows.fullWidth) {
			most = max(most, x.atLeast(r.headDim))
		}
	}
	if err := checkQuantizedOverlaps(function, &a, slots, xs, end, r.headDim); err != nil {
		return err
	}
	switch {
	case end == 0:
	case most > kernels.FusedElements:
		quantizeWholeTokens(&a, tokens, &r, slots, xs)
	case tokens == 1 && most == 0 && (r.rotaryDim <= 2*kernels.TokenPairs || !rotates):
		quantizeTokenAtOnce(&a, &r, slots, xs, rotates)
	case tokens == 1 && most <= kernels.TokenElements && r.rotaryDim <= 2*kernels.TokenPairs:
		quantizeToken(&a, &r, slots, xs)
	case most == 0:
		quantizeWithoutScratch(&a, tokens, &r, slots, xs)
	default:
		quantizeTokens(&a, tokens, &r, slots, xs)
	}
	return nil
}

// dim returns the elements of a head.
func (x *IntoQuantized[D, S]) dim(headDim int) int {
	if x.Unrotated && x.HeadDim != 0 {
		return x.HeadDim
	}
	return headDim
}

// atLeast returns the elements that scratch memory has to hold.
func (x *IntoQuantized[D, S]) atLeast(headDim int) int {
	dim := x.dim(headDim)
	for _, norm := range [...]*RMSNorm{x.Norm, x.RotatedNorm} {
		if norm != nil {
			dim = max(dim, len(norm.weight))
		}
	}
	return dim
}

// plain reports that check finds nothing wrong with the heads of one token, where that is
// seen at a glance: heads lie side by side, and nothing but the rotation changes them.
func (x *IntoQuantized[D, S]) plain(slots []int32, end, headDim int) bool {
	dst, src, kind := &x.Dst, &x.Src, quantizedKind[D]()
	token := uint64(src.Heads) * uint64(unitsOf[D](headDim))
	switch {
	case x.HeadDim != 0 || x.Norm != nil || x.RotatedNorm != nil || dst.Hadamard != 0,
		headDim > maxQuantizedDim || uint(src.Heads-1) >= 1<<16, // no product overflows
		src.TokenStride|src.HeadStride|src.SequenceTokens|src.SequenceStride != 0,
		dst.HeadStride|dst.SequenceTokens|dst.SequenceStride != 0 || dst.Heads != src.Heads,
		dst.TokenStride != 0 && uint64(dst.TokenStride) != token,
		uint64(len(src.Data)) != uint64(src.Heads)*uint64(headDim) || uint64(len(dst.Data)) < uint64(end)*token,
		slots == nil && dst.TokenStride == 0 && uint64(len(dst.Data)) != token:
		return false
	case kind == kernels.Q8:
		return headDim%generic.Q8Block == 0 && dst.Scales == nil && dst.Scale == 0
	case kind == kernels.Int8 || dst.Scales != nil:
		return kind != kernels.E5M2 && uint64(len(dst.Scales))*uint64(headDim) == uint64(len(dst.Data)) && dst.Scale == 0
	}
	return dst.Scale >= 1/maxScale && dst.Scale <= maxScale
}

// check checks the heads number i of a call.
func (x *IntoQuantized[D, S]) check(function string, i int, slots []int32, tokens, headDim int) error {
	if !x.Unrotated && x.HeadDim != 0 && x.HeadDim != headDim || x.HeadDim < 0 {
		return argument.Error(ErrShape, function, argument.Name{Text: "xs[].HeadDim", Index: i}.String(), x.HeadDim, "0, or of heads that are rotated %d as in a", headDim)
	}
	dim := x.dim(headDim)
	if err := checkQuantizedDim[D](function, argument.Name{Text: "xs[].Dst: HeadDim", Index: i}, dim); err != nil {
		return err
	}
	units, err := x.Dst.check(function, argument.Name{Text: "xs[].Dst", Index: i}, dim)
	if err != nil {
		return err
	}
	var g view.Grid
	src := (*view.View[S])(&x.Src)
	if p := src.Problem(&g, tokens, dim); p != view.None {
		return src.Error(p, function, argument.Name{Text: "xs[].Src", Index: i}.String(), &g)
	}
	if x.Dst.Heads != x.Src.Heads {
		return argument.Error(ErrShape, function, argument.Name{Text: "xs[].Dst.Heads", Index: i}.String(), x.Dst.Heads, "%d as in Src", x.Src.Heads)
	}
	if x.Norm != nil || x.RotatedNorm != nil {
		if err := x.checkNorms(function, i, dim); err != nil {
			return err
		}
	}
	_, err = checkCache(function, argument.Name{Text: "xs[].Dst", Index: i}, x.Dst.heads(), slots, tokens, units)
	return err
}

// checkNorms checks the norms of the heads number i of a call.
func (x *IntoQuantized[D, S]) checkNorms(function string, i, dim int) error {
	for _, n := range [...]struct {
		name string
		norm *RMSNorm
	}{{"xs[].Norm", x.Norm}, {"xs[].RotatedNorm", x.RotatedNorm}} {
		name := argument.Name{Text: n.name, Index: i}
		if err := n.norm.check(function, name, x.Src.Heads, dim); err != nil {
			return err
		}
		if n.norm != nil && len(n.norm.weight) > maxQuantizedToken {
			return argument.Error(ErrShape, function, name.String(), "of "+argument.Elements(len(n.norm.weight)).String(), "at most %d", maxQuantizedToken)
		}
	}
	return nil
}

// maxQuantizedToken is the most elements of a token that are normalized as one vector.
const maxQuantizedToken = 4 * kernels.FusedElements

// checkQuantizedOverlaps returns an error where memory is shared that may not be. The
// caches are written up to token end.
func checkQuantizedOverlaps[D Quantized, S Element](function string, a *Angles, slots []int32, xs []IntoQuantized[D, S], end, headDim int) error {
	fail := func(i int, field, sharing string, j int, other, expected string) error {
		return argument.Error(ErrOverlap, function, argument.Indexed("xs", i)+field, sharing+argument.Indexed("xs", j)+other, "%s", expected)
	}
	for i := range xs {
		dst := &xs[i].Dst
		scaled := len(dst.Scales) > 0
		for j := range xs {
			switch other := &xs[j]; {
			case argument.Overlap(dst.Data, other.Src.Data), scaled && argument.Overlap(dst.Scales, other.Src.Data):
				return fail(i, ".Dst", "sharing memory with ", j, ".Src", "a view of other memory")
			case scaled && argument.Overlap(dst.Scales, other.Dst.Data):
				return fail(i, ".Dst.Scales", "sharing memory with ", j, ".Dst.Data", "a slice of other memory")
			case j < i && dst.overlaps(&other.Dst, reachOf(dst.heads(), end), reachOf(other.Dst.heads(), end), unitsOf[D](xs[i].dim(headDim)), unitsOf[D](other.dim(headDim))):
				return fail(i, ".Dst", "sharing elements or scales with ", j, ".Dst", "views of different elements")
			}
		}
		if argument.Overlap(dst.Data, slots) || scaled && argument.Overlap(dst.Scales, slots) {
			return argument.Error(ErrOverlap, function, argument.Indexed("xs", i)+".Dst", "sharing memory with slots", "a view of other memory")
		}
		if a.overlaps(argument.Memory(dst.Data)) || scaled && a.overlaps(argument.Memory(dst.Scales)) {
			return a.overlapError(function, argument.Indexed("xs", i)+".Dst")
		}
	}
	return nil
}

// quantizeTokenAtOnce quantizes one token, where none of xs needs scratch memory. Where one call
// of a kernel suffices, it calls the kernel directly, as Rotate does for one token.
func quantizeTokenAtOnce[D Quantized, S Element](a *Angles, r *rotation, slots []int32, xs []IntoQuantized[D, S], rotates bool) {
	var cos, sin []float32
	if rotates {
		inPlace := false
		if a.rows != nil {
			cos, sin, inPlace = a.rows.at(row(a.of, 0), r.sign)
		}
		if !inPlace {
			var memory [2*kernels.TokenPairs + kernels.Line]float32 // there is no time to clear more
			scratch, pairs := kernels.LineAligned(memory[:]), r.rotaryDim/2
			cos, sin = scratch[:pairs], scratch[kernels.TokenPairs:][:pairs]
			a.writeRow(cos, sin, r)
		}
	}
	kind := quantizedKind[D]()
	var k kernels.Rotation // field by field: a struct built and copied costs 4 ns
	var v kernels.Conversion
	for i := range xs {
		x := &xs[i]
		dim, heads, stride, toStride := x.dim(r.headDim), x.Src.Heads, x.Src.HeadStride, x.Dst.HeadStride
		if heads*dim > kernels.MaxCallElements || x.Unrotated && heads*dim > kernels.FusedElements {
			x.store(r, slots, 0, 1, nil, &cossin.Table{Cos: cos, Sin: sin, Stride: dim / 2}, nil)
			continue
		}
		units := unitsOf[D](dim)
		if stride == 0 {
			stride = dim
		}
		if toStride == 0 {
			toStride = units
		}
		at := x.Dst.heads().Token(slot(slots, 0), units)
		to, scales, from := argument.Memory(x.Dst.Data[at:]), x.Dst.Scales, *(*[]float32)(unsafe.Pointer(&x.Src.Data))
		toStride *= int(unsafe.Sizeof(x.Dst.Data[0]))
		if scales != nil {
			scales = scales[at/dim:]
		}
		if x.Unrotated {
			v.Len, v.Count, v.XStride, v.YStride, v.Ahead = dim, heads, stride, toStride, kernels.Ahead
			quantize(kind, to, scales, from, &v, x.Dst.Scale)
		} else {
			k.Pairs, k.Partner, k.Tokens, k.Heads, k.XHeadStride, k.YHeadStride = dim/2, dim/2, 1, heads, stride, toStride
			rotateQuantize(kind, to, scales, from, cos, sin, &k, x.Dst.Scale, r.out)
		}
	}
}

func quantizeToken[D Quantized, S Element](a *Angles, r *rotation, slots []int32, xs []IntoQuantized[D, S]) {
	var scratch [kernels.TokenElements + kernels.Line]float32
	var cos, sin [kernels.TokenPairs + kernels.Line]float32
	intoQuantized(a, 1, r, slots, xs, kernels.LineAligned(cos[:]), kernels.LineAligned(sin[:]), kernels.LineAligned(scratch[:]))
}

func quantizeWithoutScratch[D Quantized, S Element](a *Angles, tokens int, r *rotation, slots []int32, xs []IntoQuantized[D, S]) {
	var cos, sin [kernels.ChunkPairs + kernels.Line]float32
	intoQuantized(a, tokens, r, slots, xs, kernels.LineAligned(cos[:]), kernels.LineAligned(sin[:]), nil)
}

func quantizeTokens[D Quantized, S Element](a *Angles, tokens int, r *rotation, slots []int32, xs []IntoQuantized[D, S]) {
	var scratch [kernels.FusedElements + kernels.Line]float32
	var cos, sin [kernels.ChunkPairs + kernels.Line]float32
	intoQuantized(a, tokens, r, slots, xs, kernels.LineAligned(cos[:]), kernels.LineAligned(sin[:]), kernels.LineAligned(scratch[:]))
}

func quantizeWholeTokens[D Quantized, S Element](a *Angles, tokens int, r *rotation, slots []int32, xs []IntoQuantized[D, S]) {
	var scratch [maxQuantizedToken + kernels.Line]float32
	var cos, sin [kernels.ChunkPairs + kernels.Line]float32
	intoQuantized(a, tokens, r, slots, xs, kernels.LineAligned(cos[:]), kernels.LineAligned(sin[:]), kernels.LineAligned(scratch[:]))
}

// intoQuantized goes through the tokens chunk by chunk. cos, sin and scratch are memory for
// the rows of a chunk and for heads.
func intoQuantized[D Quantized, S Element](a *Angles, tokens int, r *rotation, slots []int32, xs []IntoQuantized[D, S], cos, sin, scratch []float32) {
	pairs := r.rotaryDim / 2
	rotates := false
	for i := range xs {
		rotates = rotates || !xs[i].Unrotated
	}
	if rotates && a.rows != nil && a.rows.fullWidth {
		intoQuantizedFullWidth(a, tokens, r, slots, xs, scratch)
		return
	}
	most := 1
	if tokens > 1 {
		most = chunkTokens(pairs)
	}
	for first := 0; first < tokens; first += most {
		count := min(most, tokens-first)
		var table cossin.Table // field by field: see rotation
		table.Cos, table.Sin, table.Stride = cos, sin, pairs
		if rotates {
			a.write(&table, tokens, first, count, r)
		}
		for i := range xs {
			xs[i].store(r, slots, first, count, scratch, &table, nil)
		}
	}
}

// intoQuantizedFullWidth is intoQuantized by rows with an entry for each element, token by
// token.
func intoQuantizedFullWidth[D Quantized, S Element](a *Angles, tokens int, r *rotation, slots []int32, xs []IntoQuantized[D, S], scratch []float32) {
	var full fullWidthRow
	for t := range tokens {
		full.read(a.rows, row(a.of, t), r.sign)
		for i := range xs {
			xs[i].store(r, slots, t, 1, scratch, nil, &full)
		}
	}
}

// store quantizes n tokens from number first on, whose rows are those of table or full.
func (x *IntoQuantized[D, S]) store(r *rotation, slots []int32, first, n int, memory []float32, table *cossin.Table, full *fullWidthRow) {
	q := quantization{dim: x.dim(r.headDim), norm: x.Norm, rotated: x.RotatedNorm, hadamard: x.Dst.Hadamard}
	if !x.Unrotated {
		q.rotation = r
	}
	var from view.Operand
	setOperand(&from, &x.Src, q.dim)
	from.Data = unsafe.Pointer(unsafe.SliceData(x.Src.Data))
	var y quantizedOperand
	x.Dst.setOperand(&y, unitsOf[D](q.dim))
	y.Data, y.scales = unsafe.Pointer(unsafe.SliceData(x.Dst.Data)), x.Dst.Scales
	q.store(&y, slots, &from, first, n, memory, table, full)
}
