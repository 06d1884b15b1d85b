package posenc

import (
	"math"
	"math/big"
	"math/bits"
	"unsafe"

	"github.com/go-posenc/posenc/kernels"
)

// RMSNorm is root-mean-square normalization (Zhang and Sennrich 2019,
// arXiv:1910.07467) of rows of elements, with a weight for each. It does not
// change after NewRMSNorm and may be used by many goroutines at once.
//
// A row x of n elements becomes
//
//	squares[l] = RN32(...RN32(RN32(x[l]^2) + RN32(x[l+16]^2)) + ...)    l < 16
//	squares[l] = RN32(squares[l] + squares[l+d])                        l < d; d = 8, 4, 2, 1
//	mean       = RN32(squares[0] / RN32(n))
//	inverse    = RN32(1 / RN32(sqrt(RN32(mean + epsilon))))
//	x[i]       = RN(RN32(RN32(x[i]*inverse) * weight[i]))
//
// where RN32 rounds to the nearest float32, ties to even, and RN to the type of
// the elements once more, if that has 16 bits; elements that a row lacks are 0.
// Every implementation sums in this order, so that the result is defined to the
// last bit. Squares may overflow: inverse is then 0, as the formula says.
//
// transformers sums in another order, and its Qwen3 (not Gemma 3 or OLMo 2)
// rounds to a type of 16 bits before it multiplies by the weight too.
type RMSNorm struct {
	weight  []float32
	epsilon float32
}

// maxNormElements bounds the rows of a norm, which one call of a kernel does
// whole.
const maxNormElements = 1 << 20

// NewRMSNorm returns the norm of rows of len(weight) elements, from 1 to
// 1048576. It keeps no reference to weight. epsilon is finite and not negative.
//
// With unitOffset the weight of element i is RN32(1 + weight[i]), as in the
// models of Gemma.
//
// Errors wrap ErrConfig.
func NewRMSNorm(weight []float32, epsilon float32, unitOffset bool) (*RMSNorm, error) {
	const function = "NewRMSNorm"
	if len(weight) < 1 || len(weight) > maxNormElements {
		return nil, argumentError(ErrConfig, function, "weight", elements(len(weight)), "from 1 to %d elements", maxNormElements)
	}
	if !(epsilon >= 0 && epsilon <= math.MaxFloat32) {
		return nil, argumentError(ErrConfig, function, "epsilon", epsilon, "a finite number of at least 0")
	}
	n := &RMSNorm{append([]float32(nil), weight...), epsilon}
	if unitOffset {
		for i := range n.weight {
			n.weight[i]++
		}
	}
	return n, nil
}

// Normalize normalizes rows in place: see RMSNorm. Every view has the given
// number of tokens, and its heads are rows of as many elements as the norm has
// weights: HeadDim of them for a norm of each head (Qwen3, Gemma 3). For one of
// all heads of a token (OLMo 2) the view has one head of Heads*HeadDim elements.
//
// Views must not share elements. A call allocates nothing, and any range of
// tokens or heads may be normalized by a call of its own, from any goroutine,
// with the same bits.
//
// Errors wrap ErrConfig (norm), ErrShape, ErrLength or ErrOverlap.
func Normalize[T Element](norm *RMSNorm, tokens int, xs ...View[T]) error {
	const function = "Normalize"
	if !norm.valid() {
		return argumentError(ErrConfig, function, "norm", "nil or zero", "an RMSNorm from NewRMSNorm")
	}
	if tokens < 0 {
		return argumentError(ErrShape, function, "tokens", tokens, "at least 0")
	}
	dim := len(norm.weight)
	if err := checkViews(function, xs, tokens, dim); err != nil {
		return err
	}
	for i := range xs {
		x := operandOf(&xs[i], dim)
		for t := 0; t < tokens; {
			n := x.together(t, tokens-t)
			norm.apply(&x, x.heads, x.token(t), n)
			t += n
		}
	}
	return nil
}

// Scale multiplies the heads of token t by factors[t], in place:
//
//	x = RN(RN32(x*factors[t]))
//
// There are as many tokens as factors, and headDim elements in a head. factors
// must share no memory with the views, nor they elements with each other. A call
// allocates nothing. [QueryScales] gives the factors of some models.
//
// Errors wrap ErrShape, ErrLength or ErrOverlap.
func Scale[T Element](factors []float32, headDim int, xs ...View[T]) error {
	const function = "Scale"
	if headDim < 1 {
		return argumentError(ErrShape, function, "headDim", headDim, "at least 1")
	}
	if err := checkViews(function, xs, len(factors), headDim); err != nil {
		return err
	}
	if len(factors) == 0 {
		return nil
	}
	for i := range xs {
		if x := operandOf(&xs[i], headDim); x.overlaps(&operand{data: unsafe.Pointer(unsafe.SliceData(factors)), length: len(factors)}) {
			return argumentError(ErrOverlap, function, indexed("xs", i), "sharing memory with factors", "a view of other memory")
		}
	}
	for i := range xs {
		x := operandOf(&xs[i], headDim)
		for t, factor := range factors {
			x.scale(x.token(t), headDim, factor)
		}
	}
	return nil
}

// FusedView is a View and what RotateFused does to its heads beside rotating
// them.
type FusedView[T Element] struct {
	View[T]

	// Norm normalizes before the rotation, if it is not nil: each head, with
	// HeadDim weights, or all heads of a token as one row, with Heads*HeadDim.
	// The heads of a token then lie one after another: HeadStride is 0 or
	// HeadDim.
	Norm *RMSNorm

	// Scale multiplies the heads of token t by Scale[t] after the rotation, if
	// it is not nil.
	Scale []float32
}

// RotateFused normalizes, rotates and scales Q and K in place, with the bits
// that Normalize, Rotate and Scale give one after another (each rounding to T),
// but in one pass over memory.
//
// Errors are those of Rotate; ErrShape also for a Norm that does not fit the
// heads, ErrLength for a Scale without an entry for each token, ErrOverlap for
// one that shares memory with a view.
func RotateFused[T Element](r *Rotary, positions []int32, xs ...FusedView[T]) error {
	const function = "RotateFused"
	tokens, err := r.tokenCount(function, "positions", positions)
	if err != nil {
		return err
	}
	var g grid
	for i := range xs {
		x := &xs[i]
		if p := x.grid(&g, tokens, r.headDim); p != none {
			return x.problemError(p, function, indexed("xs", i), &g)
		}
		if err := x.check(function, i, tokens, r.headDim); err != nil {
			return err
		}
	}
	if tokens == 0 {
		return nil
	}
	for i := range xs {
		for j := range xs {
			if j < i && viewsOverlap(&xs[j].View, &xs[i].View, tokens, r.headDim) {
				return argumentError(ErrOverlap, function, indexed("xs", i), "sharing elements with "+indexed("xs", j), "views of different elements")
			}
			if x := operandOf(&xs[j].View, r.headDim); x.overlaps(&operand{data: unsafe.Pointer(unsafe.SliceData(xs[i].Scale)), length: len(xs[i].Scale)}) {
				return argumentError(ErrOverlap, function, indexed("xs", i)+".Scale", "sharing memory with "+indexed("xs", j), "a slice of other memory")
			}
		}
	}
	if r.table != nil {
		for i := range xs {
			if x := operandOf(&xs[i].View, r.headDim); r.table.overlaps(&x) {
				return tableOverlapError(function, indexed("xs", i))
			}
		}
	}
	m := r.manner(forward)
	switch {
	case r.table != nil && r.table.fullWidth:
		for i := range xs {
			x := operandOf(&xs[i].View, r.headDim)
			xs[i].normalize(&x, r.headDim, 0, tokens)
			view := [1]View[T]{xs[i].View}
			rotateFullWidth(r, positions, tokens, view[:], &m)
			xs[i].scale(&x, r.headDim, 0, tokens)
		}
	case tokens == 1 && r.rotaryDim <= 2*tokenPairs:
		fuseToken(r, positions, xs, &m)
	default:
		fuseTokens(r, positions, tokens, xs, &m)
	}
	return nil
}

// check returns what is wrong with the norm and the scale of the view that is
// argument number i.
func (x *FusedView[T]) check(function string, i, tokens, headDim int) error {
	if x.Norm != nil {
		if !x.Norm.valid() {
			return argumentError(ErrConfig, function, indexed("xs", i)+".Norm", "zero", "nil or an RMSNorm from NewRMSNorm")
		}
		n := len(x.Norm.weight)
		if n != headDim && n != x.Heads*headDim {
			return argumentError(ErrShape, function, indexed("xs", i)+".Norm", "of "+elements(n).String(), "HeadDim = %d or Heads*HeadDim = %d", headDim, x.Heads*headDim)
		}
		if n != headDim && x.HeadStride != 0 && x.HeadStride != headDim {
			return argumentError(ErrShape, function, indexed("xs", i)+".HeadStride", x.HeadStride, "0 or HeadDim = %d with a Norm of all heads", headDim)
		}
	}
	if x.Scale != nil && len(x.Scale) != tokens {
		return argumentError(ErrLength, function, indexed("xs", i)+".Scale", elements(len(x.Scale)), "%d, one for each token", tokens)
	}
	return nil
}

func fuseToken[T Element](r *Rotary, positions []int32, xs []FusedView[T], m *manner) {
	var cos, sin [tokenPairs]float32
	fuseChunk(r, &rows{cos[:], sin[:], r.rotaryDim / 2}, 0, r.rotaryDim/2, &span{positions, 1, 0, 1}, xs, m)
}

func fuseTokens[T Element](r *Rotary, positions []int32, tokens int, xs []FusedView[T], m *manner) {
	var cos, sin [chunkPairs]float32
	pairs := r.rotaryDim / 2
	columns := min(pairs, chunkPairs)
	count := min(chunkRows, chunkPairs/columns)
	for t := 0; t < tokens; t += count {
		for column := 0; column < pairs; column += columns {
			n := min(columns, pairs-column)
			fuseChunk(r, &rows{cos[:], sin[:], n}, column, n, &span{positions, tokens, t, min(count, tokens-t)}, xs, m)
		}
	}
}

// fusedElements bounds the elements that one step leaves to the next: they fit
// the first cache.
const fusedElements = 4 << 10

// fuseChunk does to the tokens of a span what rotateChunk does. Before the first
// column of pairs it normalizes them, after the last it scales them.
func fuseChunk[T Element](r *Rotary, table *rows, column, pairs int, s *span, xs []FusedView[T], m *manner) {
	r.rows(table, column, pairs, s, m.scaling, m.direction)
	for i := range xs {
		x := operandOf(&xs[i].View, r.headDim)
		count := max(1, fusedElements/(x.heads*r.headDim))
		for t := 0; t < s.n; {
			first := s.first + t
			n := x.together(first, min(count, s.n-t))
			if column == 0 {
				xs[i].normalize(&x, r.headDim, first, n)
			}
			at := x.token(first)
			r.turn(&x, &x, at, at, n, column, pairs, table, t, m)
			if column+pairs == r.rotaryDim/2 {
				xs[i].scale(&x, r.headDim, first, n)
			}
			t += n
		}
	}
}

// normalize normalizes n tokens of x, the operand of the view, from first on.
func (v *FusedView[T]) normalize(x *operand, headDim, first, n int) {
	if v.Norm == nil {
		return
	}
	heads := x.heads
	if len(v.Norm.weight) != headDim {
		heads = 1
	}
	for t := first; t < first+n; {
		count := x.together(t, first+n-t)
		v.Norm.apply(x, heads, x.token(t), count)
		t += count
	}
}

// scale scales n tokens of x, the operand of the view, from first on.
func (v *FusedView[T]) scale(x *operand, headDim, first, n int) {
	if v.Scale == nil {
		return
	}
	for t := first; t < first+n; t++ {
		x.scale(x.token(t), headDim, v.Scale[t])
	}
}

func (n *RMSNorm) valid() bool { return n != nil && len(n.weight) > 0 }

// apply normalizes the given number of rows in each of n tokens one after
// another, from element at on.
func (n *RMSNorm) apply(x *operand, heads, at, tokens int) {
	if heads == 1 {
		n.lines(x, at, tokens, x.tokenStride)
		return
	}
	if x.tokenStride == heads*x.headStride {
		heads, tokens = heads*tokens, 1
	}
	for t := range tokens {
		n.lines(x, at+t*x.tokenStride, heads, x.headStride)
	}
}

// lines normalizes rows of x that lie stride elements apart.
func (n *RMSNorm) lines(x *operand, at, rows, stride int) {
	l := kernels.Lines{Len: len(n.weight), Stride: stride}
	most := max(1, callElements/l.Len)
	for done := 0; done < rows; done += most {
		l.Count = min(most, rows-done)
		from := at + done*stride
		switch x.kind {
		case kindFloat16:
			kernels.RMSNormF16(implementation, x.bits(from), n.weight, &l, n.epsilon)
		case kindBFloat16:
			kernels.RMSNormBF16(implementation, x.bits(from), n.weight, &l, n.epsilon)
		default:
			kernels.RMSNormF32(implementation, x.float32s(from), n.weight, &l, n.epsilon)
		}
	}
}

// scale multiplies the heads of the token that starts at element at.
func (x *operand) scale(at, headDim int, factor float32) {
	length, count := headDim, x.heads
	if x.headStride == headDim {
		length, count = x.heads*headDim, 1
	}
	l := kernels.Lines{Stride: x.headStride}
	for column := 0; column < length; column += l.Len {
		l.Len = min(callElements, length-column)
		for head := 0; head < count; head += l.Count {
			l.Count = min(callElements/l.Len, count-head)
			from := at + head*x.headStride + column
			switch x.kind {
			case kindFloat16:
				kernels.ScaleRowsF16(implementation, x.bits(from), factor, &l)
			case kindBFloat16:
				kernels.ScaleRowsBF16(implementation, x.bits(from), factor, &l)
			default:
				kernels.ScaleRowsF32(implementation, x.float32s(from), factor, &l)
			}
		}
	}
}

// QueryScales writes the factors by which some models multiply queries, so that
// attention stays sharp over many keys:
//
//	scales[t] = RN32(1 + beta*ln(1 + floor((positions[t]+offset)/length)))
//
// the real number rounded to float32 once, the same on every machine.
//
//   - Llama 4, in layers without rotation: beta is attn_scale (0.1), length
//     floor_scale (8192), offset 1.
//   - Ministral 3 and Mistral 4, after the rotation: beta is
//     llama_4_scaling_beta, length original_max_position_embeddings, offset 0.
//
// (transformers rounds the factors of the latter to the type of the queries;
// Scale does not.) length is at least 1, beta from 0 to 2^100 and offset from 0
// to 2^31-1. A position below -offset has no factor: an error.
//
// scales has an entry for each position. A call allocates nothing, but for a
// real number within 2^-49 of the middle between two float32.
//
// Errors wrap ErrLength, ErrConfig (beta, length, offset) or ErrPosition.
func QueryScales(scales []float32, positions []int32, beta float64, length, offset int) error {
	const function = "QueryScales"
	if len(scales) != len(positions) {
		return argumentError(ErrLength, function, "scales", elements(len(scales)), "%d, one for each position", len(positions))
	}
	if !(beta >= 0 && beta <= 0x1p100) {
		return argumentError(ErrConfig, function, "beta", beta, "from 0 to 2^100")
	}
	if length < 1 {
		return argumentError(ErrConfig, function, "length", length, "at least 1")
	}
	if offset < 0 || offset > math.MaxInt32 {
		return argumentError(ErrConfig, function, "offset", offset, "from 0 to %d", math.MaxInt32)
	}
	for t, p := range positions {
		if int64(p) < -int64(offset) {
			return argumentError(ErrPosition, function, indexed("positions", t), p, "at least %d, so that the logarithm is of a positive number", -offset)
		}
	}
	last, scale := uint64(1), float32(1)
	for t, p := range positions {
		if k := 1 + uint64(int64(p)+int64(offset))/uint64(length); k != last {
			last, scale = k, queryScale(k, beta)
		}
		scales[t] = scale
	}
	return nil
}

// queryScale returns RN32(1 + beta*ln(k)).
func queryScale(k uint64, beta float64) float32 {
	// The relative error of beta*logarithm(k) is below 2^-51.5, and the sum
	// rounds once more.
	const margin = 0x1p-49
	v := 1 + float64(beta*logarithm(k))
	low, high := float32(v-float64(v*margin)), float32(v+float64(v*margin))
	if low == high {
		return low
	}
	return queryScaleReal(k, beta)
}

// logarithm returns ln(k), 1 <= k <= 2^33, with a relative error below 2^-52.
//
// With k = 2^e*m, 1 <= m < 2, it is e*ln(2) + 2*atanh(z), z = (m-1)/(m+1) < 1/3,
// in integers that count units of 2^-64. The 21 terms of atanh are each off by
// less than 3 units, e*ln(2) by e at most: together less than 2^-56, and ln(k),
// if it is not 0, is above 0.69. Three roundings to float64 follow.
func logarithm(k uint64) float64 {
	const ln2 = 0xb17217f7d1cf79ab
	e := bits.Len64(k) - 1
	power := uint64(1) << e
	z, _ := bits.Div64(k-power, 0, k+power)
	square, _ := bits.Mul64(z, z)
	var sum uint64
	for term, n := z, uint64(1); term != 0; n += 2 {
		sum += term / n
		term, _ = bits.Mul64(term, square)
	}
	whole, fraction := bits.Mul64(uint64(e), ln2)
	fraction, carry := bits.Add64(fraction, 2*sum, 0)
	return float64(whole+carry) + float64(float64(fraction)*0x1p-64)
}

// queryScaleReal returns RN32(1 + beta*ln(k)), k > 1 and beta > 0, with as many
// bits as it takes. They are finite: ln(k) is irrational, and so is the sum, which
// is then never in the middle between two float32.
func queryScaleReal(k uint64, beta float64) float32 {
	for precision := uint(128); ; precision *= 2 {
		real := func() *big.Float { return new(big.Float).SetPrec(precision) }
		// atanh returns that of a/b <= 1/3. It has fewer than precision/3 terms;
		// they and their sum are each off by a few times 2^-precision.
		atanh := func(a, b uint64) *big.Float {
			z := real().Quo(real().SetUint64(a), real().SetUint64(b))
			square, sum := real().Mul(z, z), real()
			for n := uint64(1); z.Sign() != 0 && z.MantExp(nil) > -int(precision); n += 2 {
				sum.Add(sum, real().Quo(z, real().SetUint64(n)))
				z.Mul(z, square)
			}
			return sum
		}
		e := bits.Len64(k) - 1
		power := uint64(1) << e
		ln := real().Mul(real().SetInt64(int64(e)), atanh(1, 3))
		ln.Add(ln, atanh(k-power, k+power))
		v := real().Mul(real().SetFloat64(2*beta), ln)
		v.Add(v, real().SetInt64(1))
		margin := real().SetMantExp(v, 32-int(precision)) // enough for 2^20 bits
		low, _ := real().Sub(v, margin).Float32()
		high, _ := real().Add(v, margin).Float32()
		if low == high {
			return low
		}
	}
}
