package kit

import (
	"bytes"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/kernels"
)

// Arguments makes the arguments of a call from bytes.
type Arguments struct {
	Choices
	R *rand.Rand // what the bytes are too few for

	HeadUnit int // what the elements of a head are to be a multiple of, unless 0
	Head     int // elements of a head, the last 64 of which rotate, unless 0
	Decoding int // elements of heads that rotate whole, often of one token, unless 0

	in      inputs
	large   *largeShape
	normal  bool // random elements are ones that models have: of others one leaves nothing of a row's norm
	memory  *argumentMemory
	results []func(*resultCheck)
	slices  [][]byte // that lie one by one
	views   int      // of FillView
	spared  *sparedView
}

// largeShape is one that takes a kernel, a chunk or a seed to its bounds.
type largeShape struct{ length, tokens, heads int }

var largeShapes = []largeShape{
	{511, 5, 1}, {512, 5, 1}, {513, 5, 2}, {700, 2, 2}, {1023, 3, 1}, {1024, 3, 2}, {1024, 1, 2}, // a few rows to a chunk
	{64, 1, 600}, {64, 3, 40}, {64, 9, 100}, {4, 8, 800}, {33, 16, 50}, {1, 3, 1500}, // heads
	{16, 1000, 1}, {1, 2000, 2}, {64, 300, 1}, {130, 17, 1}, {65, 40, 2}, // tokens
}

// Any says that arguments of any kind are wanted, wrong ones too.
func (a *Arguments) Any() bool { return a.in.place == anywhere }

// Ordinary says that numbers are wanted whose results are no subnormal numbers.
func (a *Arguments) Ordinary() bool { return a.in.magnitude != 0 }

func newArguments(m *argumentMemory, in inputs) *Arguments {
	seed := fnv.New64a()
	seed.Write(in.shape)
	a := &Arguments{Choices: slices.Clone(in.shape), R: NewRand(seed.Sum64()), in: in, large: in.large, memory: m}
	m.begin(in)
	a.normal = a.R.IntN(2) == 0
	if in.large == nil && in.place == oneByOne && a.R.IntN(8) == 0 {
		a.large = &largeShapes[a.R.IntN(len(largeShapes))]
	}
	return a
}

// finish writes what lies behind the last slices.
func (a *Arguments) finish() {
	if a.in.place == oneByOne || a.in.place == aligned {
		for i := range a.memory.shared {
			a.memory.shared[i].canaries(a.R, canaryBytes)
		}
	}
}

const (
	anyBytes    = 16 << 10  // of memory for arguments of any kind, so that slices meet
	sharedBytes = 160 << 20 // for those that lie one by one
	guardBytes  = 256 << 10 // for each slice next to a guard
	guardPieces = 24
	canaryBytes = 320
)

// argumentMemory is what slices of arguments lie in. Slices of the first arena are
// what a function checks for overlaps, the second has inputs of other types,
// which only package unsafe makes overlap.
type argumentMemory struct {
	shared [2]argumentArena
	pieces []argumentArena
	used   []*argumentArena // by the call
}

// argumentArena is memory of which slices are parts.
type argumentArena struct {
	all        []byte
	start, end int   // what is used
	next       int   // behind the last slice
	taken      []int // starts of slices
}

func newArgumentMemory(t testing.TB) *argumentMemory {
	m := &argumentMemory{}
	for i := range m.shared {
		m.shared[i].all = NewArena(t, sharedBytes)
	}
	for _, piece := range NewArenas(t, guardBytes, guardPieces) {
		m.pieces = append(m.pieces, argumentArena{all: piece})
	}
	return m
}

func (m *argumentMemory) begin(in inputs) {
	m.used = m.used[:0]
	if in.place == atGuards {
		return
	}
	for i := range m.shared {
		arena := &m.shared[i]
		arena.start, arena.end, arena.next, arena.taken = 0, 0, 0, arena.taken[:0]
		if in.place == anywhere {
			// The end of the arena: behind it is a guard page.
			arena.start, arena.end = len(arena.all)-anyBytes, len(arena.all)
			repeatBytes(arena.all[arena.start:], in.data)
		}
		m.used = append(m.used, arena)
	}
}

// canaries writes n random bytes.
func (p *argumentArena) canaries(r *rand.Rand, n int) {
	for ; n > 0; n -= 8 {
		word := r.Uint64()
		p.next += copy(p.all[p.next:], unsafe.Slice((*byte)(unsafe.Pointer(&word)), min(n, 8)))
	}
}

func repeatBytes(s, data []byte) {
	for i := range s {
		s[i] = data[i%len(data)]
	}
}

// snapshot is what the used parts of the arenas held.
type snapshot [][]byte

// extent is the bytes that are used.
func (p *argumentArena) extent() []byte { return p.all[p.start:max(p.end, p.next)] }

func (m *argumentMemory) save() snapshot {
	var s snapshot
	for _, arena := range m.used {
		s = append(s, bytes.Clone(arena.extent()))
	}
	return s
}

func (m *argumentMemory) restore(s snapshot) {
	for i, arena := range m.used {
		copy(arena.extent(), s[i])
	}
}

func (s snapshot) clone() snapshot {
	clones := make(snapshot, len(s))
	for i := range s {
		clones[i] = bytes.Clone(s[i])
	}
	return clones
}

// differs returns the first byte that is not as it was, and its arena, or -1.
func (m *argumentMemory) differs(s snapshot) (at, arena int) {
	for i, arena := range m.used {
		now := arena.extent()
		if bytes.Equal(now, s[i]) {
			continue
		}
		for j := range now {
			if now[j] != s[i][j] {
				return j, i
			}
		}
	}
	return -1, -1
}

// at returns the bytes of a slice of the memory.
func (s snapshot) at(m *argumentMemory, slice []byte) []byte {
	address := uintptr(unsafe.Pointer(unsafe.SliceData(slice)))
	for i, arena := range m.used {
		extent := arena.extent()
		if first := uintptr(unsafe.Pointer(unsafe.SliceData(extent))); address >= first && address+uintptr(len(slice)) <= first+uintptr(len(extent)) {
			return s[i][address-first:][:len(slice)]
		}
	}
	panic("not a slice of the arguments")
}

func sliceOf[T any](bytes []byte, n int) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(bytes))), n)
}

// Slice returns a slice, mostly of n elements; where any arguments are wanted also nil,
// longer, shorter, at either end of the memory or where another slice is.
func Slice[T any](a *Arguments, n int) []T { return take[T](a, &a.memory.shared[0], n) }

// Input is Slice of memory that other slices share only where a call of two slices that overlap is made.
func Input[T any](a *Arguments, n int) []T { return take[T](a, &a.memory.shared[1], n) }

// Output returns a slice that the call may write to as a whole.
func Output[T any](a *Arguments, n int) []T {
	s := Slice[T](a, n)
	Writes(a, func(mark func(s []T)) { mark(s) })
	return s
}

// Writes says what the call may write to. It is asked only once the call has succeeded.
func Writes[T any](a *Arguments, rows func(mark func(s []T))) {
	a.results = append(a.results, func(c *resultCheck) {
		c.t.Helper()
		rows(func(s []T) { checkResult(c, s) })
	})
}

func take[T any](a *Arguments, arena *argumentArena, n int) []T {
	size := int(unsafe.Sizeof(*new(T)))
	if size == 0 {
		return make([]T, max(n, 0))
	}
	switch a.in.place {
	case anywhere:
		return takeAny[T](a, arena, n, size)
	case atGuards:
		return takeAtGuard[T](a, n, size)
	}
	gap := a.Below(16) * size
	arena.next = (arena.next + size - 1) / size * size
	if a.in.place == aligned {
		gap = -(arena.next + canaryBytes/size*size) & 63
	}
	arena.canaries(a.R, gap+canaryBytes/size*size)
	start := arena.next
	if start+n*size+canaryBytes > len(arena.all) {
		panic("arguments of too many elements")
	}
	arena.next += n * size
	s := taken[T](a, arena, start, n)
	fill(a, s)
	return s
}

// takeAtGuard returns a slice next to a guard page, after it or before it.
func takeAtGuard[T any](a *Arguments, n, size int) []T {
	piece := &a.memory.pieces[len(a.memory.used)]
	if n*size+canaryBytes > len(piece.all) {
		panic("arguments of too many elements")
	}
	a.memory.used = append(a.memory.used, piece)
	piece.start, piece.next = 0, 0
	if a.Below(2) == 0 && size&(size-1) == 0 {
		piece.start = len(piece.all) - n*size - canaryBytes
		piece.next = piece.start
		piece.canaries(a.R, canaryBytes)
	}
	s := Flush[T](piece.all[piece.next:], n, false)
	piece.next += n * size
	fill(a, s)
	if piece.start == 0 {
		piece.canaries(a.R, canaryBytes)
	}
	return s
}

func takeAny[T any](a *Arguments, arena *argumentArena, n, size int) []T {
	switch a.Below(24) {
	case 0:
		return nil
	case 1:
		n--
	case 2:
		n++
	case 3:
		n = a.Next()
	case 4:
		n = 0
	}
	all := arena.all[arena.start:]
	n = min(max(n, 0), len(all)/size)
	start := (arena.next + size - 1) / size * size
	switch at := a.Next(); a.Below(12) {
	case 0:
		start = 0
	case 1:
		start = len(all)
	case 2:
		if len(arena.taken) > 0 {
			start = arena.taken[at%len(arena.taken)] / size * size
		}
	case 3:
		start = max(0, start-at%9*size)
	}
	if start+n*size > len(all) {
		start = (len(all) - n*size) / size * size
	}
	if n == 0 && !GuardPages {
		start = 0 // not behind the end
	}
	arena.next = start + n*size
	arena.taken = append(arena.taken, start)
	return unsafe.Slice((*T)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(all)), start)), n)
}

// fill sets what a slice holds.
func fill[T any](a *Arguments, s []T) {
	if a.in.data != nil {
		repeatBytes(BytesOf(s), a.in.data)
		return
	}
	switch s := any(s).(type) {
	case []float32:
		fillNumbers(a, s)
	case []posenc.Float16:
		fillNumbers(a, s)
	case []posenc.BFloat16:
		fillNumbers(a, s)
	default:
		bytes := BytesOf(s.([]T))
		for i := range bytes {
			bytes[i] = byte(a.R.Uint32())
		}
	}
}

// ordinary returns a number between 2^-4 and 2 of random bits.
func ordinary[T posenc.Element](bits uint32) T {
	exponentBits, fractionBits := formatOf[T]()
	exponent := uint32(1)<<(exponentBits-1) - 1 - bits>>28%5
	return OfBits[T](bits<<31 | exponent<<(31-exponentBits) | bits>>4<<(32-fractionBits)>>(1+exponentBits))
}

func fillNumbers[T posenc.Element](a *Arguments, s []T) {
	if a.in.magnitude == 0 && !a.normal {
		FillElements(a.R, s)
		return
	}
	for i := range s {
		if a.in.magnitude == 0 {
			s[i] = ordinary[T](a.R.Uint32())
			continue
		}
		x := a.in.magnitude * (1 + a.R.Float32())
		if a.R.IntN(3) == 0 {
			x = -x
		}
		s[i] = Narrow[T](x)
	}
}

// Number returns one from least to most, or where any arguments are wanted one that is
// hardly right.
func (a *Arguments) Number(least, most int) int {
	if a.Any() {
		switch a.Below(32) {
		case 0:
			extremes := []int{math.MaxInt, math.MinInt, math.MaxInt - 1, math.MaxInt >> 1, math.MaxInt>>1 + 1, math.MaxInt >> 2, math.MaxInt32, math.MinInt32, 1 << 30, 1 << 24, 1<<16 + 2, -1}
			return extremes[a.Below(len(extremes))]
		case 1:
			return least - 1
		case 2:
			return 8 * a.Next()
		}
	}
	return least + (a.Next()<<8|a.Next())%(most-least+1)
}

// Real returns usual, or where any arguments are wanted some other number.
func (a *Arguments) Real(usual float64) float64 {
	others := []float64{0, math.Copysign(0, -1), 1, -1, 2, 0.5, 1e4, 1e-3, 0x1p-149, 0x1p100, 1e300, 1e-300, math.MaxFloat32, math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(1), math.Inf(-1), math.NaN()}
	if i := a.Below(64); a.Any() && i < len(others) {
		return others[i]
	}
	return usual
}

// Size returns the product of numbers, or where any arguments are wanted a small number
// where it is large or negative.
func (a *Arguments) Size(numbers ...int) int {
	if a.Any() {
		return Small(numbers...)
	}
	n := 1
	for _, x := range numbers {
		n *= x
	}
	return n
}

func (a *Arguments) Yes() bool { return a.Below(2) == 1 }

// Rarely reports, where any arguments are wanted, now and then true.
func (a *Arguments) Rarely() bool { return a.Any() && a.Below(8) == 0 }

// Length returns a number of elements around the sizes of vectors and blocks.
func (a *Arguments) Length() int {
	if a.Any() {
		return a.Number(1, 40)
	}
	if a.large != nil {
		return a.large.length
	}
	if a.Decoding > 0 {
		return a.Decoding / 2
	}
	return lengths[a.Below(len(lengths))]
}

// Heads returns a number of heads.
func (a *Arguments) Heads() int {
	if a.large != nil {
		return a.large.heads
	}
	return a.Number(1, 3)
}

var tokenCounts = []int{0, 1, 1, 2, 3, 7, 8, 9, 15, 16, 17, 33, 40, 70, kernels.ShiftedRows - 1, kernels.ShiftedRows, kernels.ShiftedRows + 1}

// Tokens returns a number of tokens around the sizes of a chunk and of a seed.
func (a *Arguments) Tokens() int {
	switch a.in.place {
	case anywhere:
		return a.Below(20)
	case atGuards:
		return []int{1, 2, 5, 17}[a.Below(4)]
	}
	if a.large != nil {
		return a.large.tokens
	}
	if a.Decoding > 0 && a.Yes() {
		return 1
	}
	return tokenCounts[a.Below(len(tokenCounts))]
}

// Positions returns an input of n positions of any kind; where any arguments are
// wanted mostly ones that tables have.
func (a *Arguments) Positions(n int) []int32 {
	s := Input[int32](a, n)
	a.FillPositions(s)
	return s
}

// FillPositions sets positions of tokens.
func (a *Arguments) FillPositions(s []int32) {
	if !a.Any() {
		if len(s) > 0 {
			positionKinds[PositionNames[a.Below(len(PositionNames))]](a.R, s)
		}
		return
	}
	if a.Below(8) > 0 {
		first, step := a.Below(12), a.Below(3)
		for i := range s {
			s[i] = int32(first + i*step)
		}
		if len(s) > 0 && a.Below(8) == 0 {
			s[a.Next()%len(s)] = []int32{math.MinInt32, math.MaxInt32, -1, 1 << 30}[a.Below(4)]
		}
	}
}

// IDs returns an input of n numbers below rows.
func (a *Arguments) IDs(n, rows int) []int32 {
	s := Input[int32](a, n)
	a.FillIDs(s, rows)
	return s
}

// FillIDs sets numbers below rows: in runs, repeated, anyhow.
func (a *Arguments) FillIDs(s []int32, rows int) {
	if a.Any() && a.Below(8) == 0 {
		return
	}
	for t := 0; t < len(s); {
		start, step := a.R.IntN(max(rows, 1)), a.R.IntN(3)-1
		for end := min(len(s), t+1+a.R.IntN(20)); t < end; t++ {
			s[t] = int32(start)
			start = min(max(start+step, 0), max(rows-1, 0))
		}
	}
}

// ViewOf returns a view of any shape in memory that other slices of the call are
// checked against.
func ViewOf[T Stored](a *Arguments, tokens, dim int) posenc.View[T] {
	return ViewOfHeads[T](a, tokens, a.Heads(), dim)
}

// ViewOfHeads is ViewOf with the given heads; where any arguments are wanted not always.
func ViewOfHeads[T Stored](a *Arguments, tokens, heads, dim int) posenc.View[T] {
	if !a.Any() {
		v := RandomShape[T](a.R, tokens, heads, dim, Apart)
		FillView(a, &v, tokens, dim)
		return v
	}
	tokens, dim = min(Small(tokens), 64), Small(dim)
	spacing := Apart
	if a.Below(3) == 0 {
		spacing = MayOverlap
	}
	v := RandomShape[T](a.R, tokens, heads, dim, spacing)
	for range max(0, a.Below(16)-11) {
		changeShape(a, &v, dim)
	}
	if fewRows(&v) {
		FillView(a, &v, tokens, dim)
	} else {
		v.Data = Slice[T](a, 0)
	}
	return v
}

// FillView gives a view data for the given tokens: just for them, with padding after the last that is too
// short for one more, or with more than that and Tokens. Where any arguments are wanted, with more alone.
func FillView[T Stored](a *Arguments, v *posenc.View[T], tokens, dim int) {
	if a.views++; a.views == a.in.spare {
		spare(a, v, tokens, dim)
		return
	}
	length, padding := ReachOf(v, tokens, dim), v.TokenStride
	if v.SequenceStride > 0 {
		padding = v.SequenceStride
	}
	switch kind := a.Below(8); {
	case tokens == 0:
	case kind == 0:
		v.Tokens = tokens
		length += a.Below(100)
	case kind == 1 && a.Any():
		length += a.Below(100)
	case kind < 4 && padding > 0:
		length += a.Below(min(padding, 1<<12)) // the arena bounds all
	}
	if a.Any() && length > mostAny { // strides of any size
		length = 0
	}
	v.Data = Slice[T](a, length)
}

// mostAny is the most elements of a view of any shape: memory holds some of them, of any type.
const mostAny = 1 << 20

// changeShape sets a field of a view to a number of any kind.
func changeShape[T Stored](a *Arguments, v *posenc.View[T], dim int) {
	switch a.Below(6) {
	case 0:
		v.Heads = a.Number(0, 9)
	case 1:
		v.TokenStride = a.stride(dim)
	case 2:
		v.HeadStride = a.stride(dim)
	case 3:
		v.SequenceStride = a.stride(dim)
	case 4:
		v.SequenceTokens = a.Number(0, 9)
	case 5:
		v.Tokens = a.Number(0, 9)
	}
}

// fewRows reports whether a view may have a reach, and one that is soon found.
func fewRows[T Stored](v *posenc.View[T]) bool {
	const large = 1 << 12
	return v.Heads < 200 && min(v.TokenStride, v.HeadStride, v.SequenceStride) >= 0 && max(v.TokenStride, v.HeadStride, v.SequenceStride) < large &&
		(v.SequenceStride == 0 || v.SequenceTokens > 0)
}

// outputView is a view whose heads the call may write to.
func outputView[T posenc.Element](a *Arguments, tokens, dim int) posenc.View[T] {
	v := ViewOf[T](a, tokens, dim)
	WritesView(a, &v, tokens, dim)
	return v
}

// WritesView says that the call may write to the heads of a view.
func WritesView[T Stored](a *Arguments, v *posenc.View[T], tokens, dim int) {
	shape := *v
	Writes(a, func(mark func(s []T)) {
		for t := range tokens {
			for h := range shape.Heads {
				mark(shape.Data[RowAt(&shape, t, h, dim):][:dim])
			}
		}
	})
}

// OutputViews are up to three views of the same tokens. Their rows may alternate.
func OutputViews[T posenc.Element](a *Arguments, tokens, dim int) []posenc.View[T] {
	n := a.Below(4)
	if !a.Any() {
		n = 1 + n%2
		if tokens > 0 && a.Below(4) == 0 {
			return alternatingViews[T](a, n, tokens, dim)
		}
	}
	var xs []posenc.View[T]
	for range n {
		xs = append(xs, outputView[T](a, tokens, dim))
	}
	return xs
}

// alternatingViews are n views of one slice: [tokens][heads of Q, of K and others][dim], or
// [tokens][heads][q, k and others][dim], as GPT-NeoX has it.
func alternatingViews[T posenc.Element](a *Arguments, n, tokens, dim int) []posenc.View[T] {
	xs := make([]posenc.View[T], n)
	starts := make([]int, n)
	row := a.Below(3) * dim
	if a.Yes() {
		heads, width := a.Heads(), n*dim+row
		for i := range xs {
			xs[i], starts[i] = posenc.View[T]{Heads: heads, TokenStride: heads * width, HeadStride: width}, i*dim
		}
		row = heads * width
	} else {
		for i := range xs {
			starts[i] = row
			xs[i].Heads = a.Heads()
			row += xs[i].Heads * dim
		}
		row += a.Below(2) * dim
		for i := range xs {
			xs[i].TokenStride = row
		}
	}
	data := Slice[T](a, tokens*row)
	for i := range xs {
		xs[i].Data = data[starts[i]:]
		WritesView(a, &xs[i], tokens, dim)
	}
	return xs
}

// OfType returns the one of three that the bytes choose.
func OfType[C any](a *Arguments, float32s, float16s, bfloat16s C) C {
	return []C{float32s, float16s, bfloat16s}[a.Below(3)]
}

// Constructed is what a call may allocate that makes a value.
const Constructed = 16 << 20

// Made checks what a constructor returns: a value or an error.
func Made[T any](value *T, err error) error {
	if (value == nil) != (err != nil) {
		panic("a value and an error, or neither")
	}
	return err
}
