package posenc_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
	"github.com/go-posenc/posenc/relative"
)

// TestSplitting does the work of a call in parts, from many goroutines at once:
// tokens, heads, sequences of a batch, tiles of scores, blocks of a cache, however
// they are dealt out, get the bits of one call.
func TestSplitting(t *testing.T) {
	testkit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		for i, o := range splits {
			t.Run("operation="+o.name, func(t *testing.T) {
				r := testkit.NewRand(2000 + uint64(i))
				for range testkit.Rounds(o.rounds) {
					cuts := make([]byte, 200)
					for j := range cuts {
						cuts[j] = byte(r.Uint32())
					}
					o.check(t, r, (*testkit.Choices)(&cuts))
				}
			})
		}
	})
}

// FuzzSplit lets bytes choose an operation and how it is split.
func FuzzSplit(f *testing.F) {
	for i := range splits {
		f.Add(uint8(i), uint64(i), []byte{byte(i), 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9})
	}
	f.Fuzz(func(t *testing.T, operation uint8, seed uint64, cuts []byte) {
		testkit.OnEach(func(kernels.Implementation) {
			c := testkit.Choices(cuts)
			splits[int(operation)%len(splits)].check(t, testkit.NewRand(seed), &c)
		})
	})
}

// splits are the operations whose work can be split. check does one of random
// inputs at once and in the parts that choices say.
var splits = []struct {
	name   string
	rounds int
	check  func(t testing.TB, r *rand.Rand, c *testkit.Choices)
}{
	{"Rotate/type=float32", 60, splitRotate[float32]},
	{"Rotate/type=float16", 40, splitRotate[posenc.Float16]},
	{"Rotate/type=bfloat16", 40, splitRotate[posenc.BFloat16]},
	{"Rotate/axes", 20, splitAxes},
	{"Rotate/xpos", 10, splitXPos},
	{"Shift", 20, splitShift},
	{"NewTableRotary", 20, splitTable},
	{"Tabulate", 40, splitTabulate},
	{"RotateInto/type=float32", 40, splitInto[float32]},
	{"RotateInto/type=float16", 40, splitInto[posenc.Float16]},
	{"RotateInto/type=bfloat16", 40, splitInto[posenc.BFloat16]},
	{"RotateFused/type=float32", 40, splitFused[float32]},
	{"RotateFused/type=bfloat16", 20, splitFused[posenc.BFloat16]},
	{"Normalize", 20, splitNormalize},
	{"Scale", 20, splitScale},
	{"PermuteWeights", 20, splitPermute},
	{"CosSin", 40, splitCosSin},
	{"CosSinAngles", 20, splitAngles},
	{"QueryScales", 10, splitQueryScales},
	{"SinusoidalRows", 40, splitSinusoidal(func(s *absolute.Sinusoidal, positions []int32, x []float32) error {
		return absolute.SinusoidalRows(s, positions, x)
	})},
	{"SinusoidalRows64", 10, splitSinusoidal64},
	{"AddSinusoidal", 40, splitSinusoidal(func(s *absolute.Sinusoidal, positions []int32, x []float32) error {
		return absolute.AddSinusoidal(s, positions, x, 3)
	})},
	{"Sinusoidal.Shift", 40, splitSinusoidal(func(s *absolute.Sinusoidal, positions []int32, x []float32) error { return s.Shift(x, positions) })},
	{"AddEmbeddings", 20, splitEmbeddings},
	{"RaggedPositions", 10, splitRagged},
	{"DualChunk", 10, splitDualChunk},
	{"AddALiBi", 30, splitALiBi},
	{"AddT5", 30, splitT5},
	{"AddDeBERTa", 30, splitDeBERTa},
	{"AddRelativeShift", 30, splitRelativeShift},
	{"AddShaw", 30, splitShaw},
	{"AddSwin", 30, splitSwin},
	{"SumShaw", 30, splitSumShaw},
	{"RelativeProducts", 30, splitRelativeProducts},
	{"AddRelativeValues", 30, splitRelativeValues},
}

// pick returns the elements of s with the given numbers.
func pick[E any](s []E, numbers []int) []E {
	taken := make([]E, len(numbers))
	for i, n := range numbers {
		taken[i] = s[n]
	}
	return taken
}

// each calls f from as many goroutines, and returns when all are done.
func each[E any](list []E, f func(E)) {
	var done sync.WaitGroup
	for _, e := range list {
		done.Go(func() { f(e) })
	}
	done.Wait()
}

// splitSizes are numbers of tokens around those of a chunk and of a seed.
var splitSizes = []int{1, 2, 7, 15, 16, 17, 33, 40, 70}

// splitView does an operation in place to a view of any shape, at once and in
// parts: parts of the view itself, and tokens that are taken to other memory and
// back. call is told which tokens of the whole it has. With whole heads only all
// heads of a token make a part, one after another.
func splitView[T posenc.Element](t testing.TB, r *rand.Rand, c *testkit.Choices, tokens, dim int, whole bool, call func(x posenc.View[T], tokens []int) error) {
	t.Helper()
	try := func(x posenc.View[T], tokens []int) {
		if err := call(x, tokens); err != nil {
			t.Errorf("%d tokens of %d heads: %v", len(tokens), x.Heads, err)
		}
	}
	heads := testkit.OneOf(r, testkit.HeadCounts)
	shape := func(tokens, heads int) posenc.View[T] {
		for {
			if v := testkit.RandomShape[T](r, tokens, heads, dim); !whole || v.HeadStride == 0 || v.HeadStride == dim {
				return v
			}
		}
	}
	v := shape(tokens, heads)
	m := testkit.Allocate(r, &v, tokens, dim)
	given := slices.Clone(m.All)
	all := testkit.NumbersTo(tokens)
	try(v, all)
	want, written := slices.Clone(m.All), make([]bool, len(m.All))
	for i := range written {
		written[i] = true // what is not to be written has its bits, or is a NaN in both
	}

	headCuts := []int{0, heads}
	if !whole {
		headCuts = c.Cut(heads)
	}
	type part struct {
		tokens             []int
		firstHead, endHead int
	}
	var parts []part
	for _, tokens := range c.Deal(tokens) {
		for i, first := range headCuts[:len(headCuts)-1] {
			parts = append(parts, part{tokens, first, headCuts[i+1]})
		}
	}

	copy(m.All, given)
	each(parts, func(p part) {
		for rest := p.tokens; len(rest) > 0; {
			n := 1
			for n < len(rest) && rest[n] == rest[0]+n && (v.SequenceStride == 0 || rest[n]%v.SequenceTokens > 0) {
				n++
			}
			x := posenc.View[T]{Heads: p.endHead - p.firstHead, TokenStride: v.TokenStride, HeadStride: v.HeadStride}
			if x.TokenStride == 0 {
				x.TokenStride = heads * dim
			}
			x.Data = v.Data[testkit.RowAt(&v, rest[0], p.firstHead, dim) : testkit.RowAt(&v, rest[n-1], p.endHead-1, dim)+dim]
			try(x, rest[:n])
			rest = rest[n:]
		}
	})
	testkit.Compare(t, "in parts: x", m.All, want, written)

	copy(m.All, given)
	views := make([]posenc.View[T], len(parts))
	for i, p := range parts {
		views[i] = shape(len(p.tokens), p.endHead-p.firstHead)
		testkit.Allocate(r, &views[i], len(p.tokens), dim)
	}
	each(testkit.NumbersTo(len(parts)), func(i int) {
		p, x := parts[i], views[i]
		move := func(back bool) {
			for j, token := range p.tokens {
				for h := range x.Heads {
					here, there := x.Data[testkit.RowAt(&x, j, h, dim):][:dim], v.Data[testkit.RowAt(&v, token, p.firstHead+h, dim):][:dim]
					if back {
						copy(there, here)
					} else {
						copy(here, there)
					}
				}
			}
		}
		move(false)
		try(x, p.tokens)
		move(true)
	})
	testkit.Compare(t, "in shards: x", m.All, want, written)
}

// splitConfig returns a configuration, and positions of tokens for it.
func splitConfig(r *rand.Rand, layouts []posenc.Layout) (posenc.RotaryConfig, []int32) {
	positions := testkit.RandomPositions(r, testkit.OneOf(r, testkit.PositionNames), testkit.OneOf(r, splitSizes))
	pairs := testkit.OneOf(r, []int{1, 5, 16, 33, 64, 65})
	return randomConfig(r, testkit.OneOf(r, layouts), posenc.AngleRounding(r.IntN(2)), pairs, positions), positions
}

func splitRotate[T posenc.Element](t testing.TB, r *rand.Rand, c *testkit.Choices) {
	cfg, positions := splitConfig(r, allLayouts)
	rotary, rotate := testkit.MustRotary(t, cfg), testkit.OneOf(r, []func(*posenc.Rotary, []int32, ...posenc.View[T]) error{posenc.Rotate[T], posenc.RotateInverse[T]})
	splitView(t, r, c, len(positions), cfg.HeadDim, false, func(x posenc.View[T], tokens []int) error {
		return rotate(rotary, pick(positions, tokens), x)
	})
}

func splitAxes(t testing.TB, r *rand.Rand, c *testkit.Choices) {
	cfg, _ := splitConfig(r, allLayouts)
	tokens := testkit.OneOf(r, splitSizes)
	cfg.Axes = make([]uint8, len(testkit.FrequenciesOf(t, cfg)))
	for i := range cfg.Axes {
		cfg.Axes[i] = uint8(r.IntN(3))
	}
	cfg.Axes[0] = 2
	positions := testkit.RandomPositions(r, testkit.OneOf(r, testkit.PositionNames), 3*tokens)
	rotary := testkit.MustRotary(t, cfg)
	splitView(t, r, c, tokens, cfg.HeadDim, false, func(x posenc.View[float32], numbers []int) error {
		var part []int32
		for axis := range 3 {
			part = append(part, pick(positions[axis*tokens:], numbers)...)
		}
		return posenc.Rotate(rotary.At(part), x)
	})
}

func splitXPos(t testing.TB, r *rand.Rand, c *testkit.Choices) {
	cfg, positions := splitConfig(r, allLayouts)
	cfg.XPos = &posenc.XPos{ScaleBase: 512, Center: int32(r.IntN(1000)), Keys: r.IntN(2) == 0}
	rotary := testkit.MustRotary(t, cfg)
	splitView(t, r, c, len(positions), cfg.HeadDim, false, func(x posenc.View[float32], tokens []int) error {
		return posenc.Rotate(rotary.At(pick(positions, tokens)), x)
	})
}

func splitTable(t testing.TB, r *rand.Rand, c *testkit.Choices) {
	const rows = 50
	cfg, table := randomGeometry(r, testkit.OneOf(r, allLayouts), 20), posenc.Table[posenc.Float16]{FullWidth: r.IntN(2) == 0}
	cfg.InvFreq = nil
	table.Cos, table.Sin = testkit.RandomElements[posenc.Float16](r, rows*40), testkit.RandomElements[posenc.Float16](r, rows*40)
	rotary, err := posenc.NewTableRotary(cfg, table)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]int32, testkit.OneOf(r, splitSizes))
	for i := range ids {
		ids[i] = int32(r.IntN(rows))
	}
	splitView(t, r, c, len(ids), cfg.HeadDim, false, func(x posenc.View[float32], tokens []int) error {
		return posenc.Rotate(rotary.At(pick(ids, tokens)), x)
	})
}

func splitShift(t testing.TB, r *rand.Rand, c *testkit.Choices) {
	cfg, deltas := splitConfig(r, allLayouts)
	rotary := testkit.MustRotary(t, cfg)
	splitView(t, r, c, len(deltas), cfg.HeadDim, false, func(x posenc.View[float32], tokens []int) error {
		return posenc.Shift(rotary, pick(deltas, tokens), x)
	})
}

// Rows that Tabulate and Extend make in pieces, which somebody else's pieces
// interrupt, are those of one call.
func splitTabulate(t testing.TB, r *rand.Rand, c *testkit.Choices) {
	cfg, positions := splitConfig(r, allLayouts)
	rotary := testkit.MustRotary(t, cfg)
	at := c.Cut(len(positions))
	rows, err := rotary.Tabulate(positions[:at[1]])
	for i, first := range at[1 : len(at)-1] {
		if err != nil {
			t.Fatal(err)
		}
		if c.Below(3) == 0 {
			if _, err = rows.Extend(positions[:1]); err != nil {
				t.Fatal(err)
			}
		}
		rows, err = rows.Extend(positions[first:at[i+2]])
	}
	if err != nil {
		t.Fatal(err)
	}
	atOnce := true // the first call
	splitView(t, r, c, len(positions), cfg.HeadDim, false, func(x posenc.View[float32], tokens []int) error {
		if atOnce {
			atOnce = false
			return posenc.Rotate(rotary.At(positions), x)
		}
		ids := make([]int32, len(tokens))
		for i, token := range tokens {
			ids[i] = int32(token)
		}
		return posenc.Rotate(rows.At(ids), x)
	})
}

// splitInto fills a cache of blocks: all tokens at once, in parts, and every block
// by calls of its own.
func splitInto[D posenc.Element](t testing.TB, r *rand.Rand, c *testkit.Choices) {
	cfg, positions := splitConfig(r, allLayouts)
	rotary, dim, tokens, heads := testkit.MustRotary(t, cfg), cfg.HeadDim, len(positions), testkit.OneOf(r, testkit.HeadCounts)
	src := testkit.RandomShape[float32](r, tokens, heads, dim)
	testkit.Allocate(r, &src, tokens, dim)

	blockTokens := 1 + r.IntN(20)
	blocks := (tokens+blockTokens-1)/blockTokens + r.IntN(3)
	dst := posenc.View[D]{Heads: heads, TokenStride: dim, HeadStride: blockTokens*dim + r.IntN(9), SequenceTokens: blockTokens}
	dst.SequenceStride = heads*dst.HeadStride + r.IntN(9)
	to := testkit.Allocate(r, &dst, blocks*blockTokens, dim)
	slots := make([]int32, tokens)
	for i, slot := range r.Perm(blocks * blockTokens)[:tokens] {
		slots[i] = int32(slot)
		if r.IntN(9) == 0 {
			slots[i] = -1
		}
	}
	if r.IntN(2) == 0 { // runs of slots
		slices.Sort(slots)
	}
	given := slices.Clone(to.All)
	if err := posenc.RotateInto(rotary.At(positions), dst, slots, src); err != nil {
		t.Fatal(err)
	}
	want, written := slices.Clone(to.All), make([]bool, len(to.All))
	for i := range written {
		written[i] = true
	}

	// some returns a view of the memory for a few tokens of src, and fills it.
	some := func(numbers []int) posenc.View[float32] {
		x := posenc.View[float32]{Data: make([]float32, 0, len(numbers)*heads*dim), Heads: heads}
		for _, token := range numbers {
			for h := range heads {
				x.Data = append(x.Data, src.Data[testkit.RowAt(&src, token, h, dim):][:dim]...)
			}
		}
		return x
	}
	copy(to.All, given)
	headCuts := c.Cut(heads)
	each(c.Deal(tokens), func(numbers []int) {
		for i, first := range headCuts[:len(headCuts)-1] {
			x, y := some(numbers), dst
			x.Data, x.TokenStride, x.Heads = x.Data[first*dim:], heads*dim, headCuts[i+1]-first
			y.Data, y.Heads = dst.Data[first*dst.HeadStride:], x.Heads
			if err := posenc.RotateInto(rotary.At(pick(positions, numbers)), y, pick(slots, numbers), x); err != nil {
				t.Error(err)
			}
		}
	})
	testkit.Compare(t, "in parts: dst", to.All, want, written)

	copy(to.All, given)
	each(testkit.NumbersTo(blocks), func(block int) {
		var numbers []int
		var inBlock []int32
		for token, slot := range slots {
			if slot >= 0 && int(slot)/blockTokens == block {
				numbers, inBlock = append(numbers, token), append(inBlock, slot%int32(blockTokens))
			}
		}
		y := posenc.View[D]{Heads: heads, TokenStride: dim, HeadStride: dst.HeadStride}
		y.Data = dst.Data[block*dst.SequenceStride:][:(heads-1)*dst.HeadStride+blockTokens*dim]
		if err := posenc.RotateInto(rotary.At(pick(positions, numbers)), y, inBlock, some(numbers)); err != nil {
			t.Error(err)
		}
	})
	testkit.Compare(t, "block by block: dst", to.All, want, written)
}

func splitFused[T posenc.Element](t testing.TB, r *rand.Rand, c *testkit.Choices) {
	cfg, positions := splitConfig(r, allLayouts)
	rotary, tokens := testkit.MustRotary(t, cfg), len(positions)
	whole := r.IntN(3) == 0 // a norm of all heads
	norms := map[int]*posenc.RMSNorm{}
	for _, heads := range testkit.HeadCounts {
		norms[heads] = mustNorm(t, randomWeight(r, heads*cfg.HeadDim), 1e-6, false)
	}
	norm, scales := mustNorm(t, randomWeight(r, cfg.HeadDim), 1e-6, true), randomWeight(r, tokens)
	splitView(t, r, c, tokens, cfg.HeadDim, whole, func(x posenc.View[T], tokens []int) error {
		v := posenc.FusedView[T]{x, norm, pick(scales, tokens)}
		if whole {
			v.Norm = norms[x.Heads]
		}
		return posenc.RotateFused(rotary.At(pick(positions, tokens)), v)
	})
}

func splitNormalize(t testing.TB, r *rand.Rand, c *testkit.Choices) {
	dim := testkit.OneOf(r, testkit.Lengths)
	norm := mustNorm(t, randomWeight(r, dim), 1e-6, false)
	splitView(t, r, c, testkit.OneOf(r, splitSizes), dim, false, func(x posenc.View[float32], tokens []int) error {
		return posenc.Normalize(norm, len(tokens), x)
	})
}

func splitScale(t testing.TB, r *rand.Rand, c *testkit.Choices) {
	dim, factors := testkit.OneOf(r, testkit.Lengths), randomWeight(r, testkit.OneOf(r, splitSizes))
	splitView(t, r, c, len(factors), dim, false, func(x posenc.View[posenc.Float16], tokens []int) error {
		return posenc.Scale(pick(factors, tokens), dim, x)
	})
}

// Heads of a weight.
func splitPermute(t testing.TB, r *rand.Rand, c *testkit.Choices) {
	p := posenc.Permutation{Heads: 1 + r.IntN(20), HeadDim: 2 + 2*r.IntN(20), Layout: testkit.OneOf(r, crossing), RowSize: 1 + r.IntN(5)}
	n := p.HeadDim * p.RowSize
	splitRows(t, r, c, p.Heads, []int{n}, func(heads []int, x [][]float32) error {
		p := p
		p.Heads = len(heads)
		return posenc.PermuteWeights(x[0], x[0], p)
	})
}

// splitRows does an operation to the rows of several slices, row t of each
// belonging to token t: at once, and in parts. Slice i has rows of widths[i].
func splitRows[T posenc.Element](t testing.TB, r *rand.Rand, c *testkit.Choices, tokens int, widths []int, call func(tokens []int, x [][]T) error) {
	t.Helper()
	given, want, got := make([][]T, len(widths)), make([][]T, len(widths)), make([][]T, len(widths))
	for i, width := range widths {
		given[i] = testkit.RandomElements[T](r, tokens*width)
		want[i], got[i] = slices.Clone(given[i]), slices.Clone(given[i])
	}
	if err := call(testkit.NumbersTo(tokens), want); err != nil {
		t.Fatal(err)
	}
	each(c.Deal(tokens), func(part []int) {
		first, contiguous := part[0], part[len(part)-1]-part[0] == len(part)-1
		x := make([][]T, len(widths))
		for i, width := range widths {
			if contiguous {
				x[i] = got[i][first*width:][:len(part)*width]
				continue
			}
			for _, token := range part {
				x[i] = append(x[i], given[i][token*width:][:width]...)
			}
		}
		if err := call(part, x); err != nil {
			t.Error(err)
		}
		for i, width := range widths {
			for j, token := range part {
				if !contiguous {
					copy(got[i][token*width:][:width], x[i][j*width:])
				}
			}
		}
	})
	for i := range got {
		for j, x := range got[i] {
			if !testkit.SameElement(x, want[i][j]) {
				t.Fatalf("slice %d, element %d of token %d is %v in parts, want %v", i, j%widths[i], j/widths[i], x, want[i][j])
			}
		}
	}
}

func splitCosSin(t testing.TB, r *rand.Rand, c *testkit.Choices) {
	cfg, positions := splitConfig(r, allLayouts[:1])
	rotary, invFreq := testkit.MustRotary(t, cfg), testkit.FrequenciesOf(t, cfg)
	free := r.IntN(2) == 0
	splitRows(t, r, c, len(positions), []int{len(invFreq), len(invFreq)}, func(tokens []int, x [][]float32) error {
		if free {
			return posenc.CosSin(x[0], x[1], pick(positions, tokens), invFreq)
		}
		return rotary.CosSin(x[0], x[1], pick(positions, tokens))
	})
	fractions := randomWeight(r, len(positions))
	splitRows(t, r, c, len(positions), []int{len(invFreq), len(invFreq)}, func(tokens []int, x [][]float32) error {
		return rotary.CosSinFractional(x[0], x[1], pick(fractions, tokens))
	})
}

func splitAngles(t testing.TB, r *rand.Rand, c *testkit.Choices) {
	angles := testkit.RandomElements[float32](r, testkit.OneOf(r, []int{1, 8, 33, 200}))
	splitRows(t, r, c, len(angles), []int{1, 1}, func(tokens []int, x [][]float32) error {
		return posenc.CosSinAngles(x[0], x[1], pick(angles, tokens))
	})
}

func splitQueryScales(t testing.TB, r *rand.Rand, c *testkit.Choices) {
	positions := testkit.RandomPositions(r, "zero", 200)
	splitRows(t, r, c, len(positions), []int{1}, func(tokens []int, x [][]float32) error {
		return posenc.QueryScales(x[0], pick(positions, tokens), 0.1, 3, 1)
	})
}

func splitSinusoidal(call func(s *absolute.Sinusoidal, positions []int32, x []float32) error) func(testing.TB, *rand.Rand, *testkit.Choices) {
	return func(t testing.TB, r *rand.Rand, c *testkit.Choices) {
		padding := int32(r.IntN(100))
		cfg := absolute.SinusoidalConfig{InvFreq: testkit.LadderOf(1 + r.IntN(70)), Order: absolute.SinusoidalOrder(r.IntN(3)), Axes: 1 + r.IntN(2), Padding: &padding}
		cfg.Dim = 2*cfg.Axes*len(cfg.InvFreq) + r.IntN(2)
		s, tokens := testkit.MustSinusoidal(t)(absolute.NewSinusoidal(cfg)), testkit.OneOf(r, splitSizes)
		positions := testkit.RandomPositions(r, testkit.OneOf(r, testkit.PositionNames), tokens*cfg.Axes)
		splitRows(t, r, c, tokens, []int{cfg.Dim}, func(numbers []int, x [][]float32) error {
			var part []int32
			for axis := range cfg.Axes {
				part = append(part, pick(positions[axis*tokens:], numbers)...)
			}
			return call(s, part, x[0])
		})
	}
}

func splitSinusoidal64(t testing.TB, r *rand.Rand, c *testkit.Choices) {
	s, positions := testkit.MustSinusoidal(t)(absolute.SinusoidalMarian(12)), testkit.RandomPositions(r, "random", 1+r.IntN(20))
	want := make([]float64, 12*len(positions))
	if err := absolute.SinusoidalRows64(s, positions, want); err != nil {
		t.Fatal(err)
	}
	each(c.Deal(len(positions)), func(tokens []int) {
		rows := make([]float64, 12*len(tokens))
		if err := absolute.SinusoidalRows64(s, pick(positions, tokens), rows); err != nil {
			t.Error(err)
		}
		for i, token := range tokens {
			if !slices.Equal(rows[12*i:][:12], want[12*token:][:12]) {
				t.Errorf("position %d: %v in parts, want %v", positions[token], rows[12*i:][:12], want[12*token:][:12])
			}
		}
	})
}

func splitEmbeddings(t testing.TB, r *rand.Rand, c *testkit.Choices) {
	dim, tokens, rows := testkit.OneOf(r, testkit.Lengths), testkit.OneOf(r, splitSizes), 9
	table, ids := testkit.RandomElements[posenc.BFloat16](r, rows*dim), make([]int32, tokens)
	for i := range ids {
		ids[i] = int32(r.IntN(rows))
	}
	splitRows(t, r, c, tokens, []int{dim}, func(numbers []int, x [][]posenc.BFloat16) error {
		e := absolute.Embedding[posenc.BFloat16]{Table: table, IDs: pick(ids, numbers)}
		return absolute.AddEmbeddings(x[0], dim, e, e)
	})
}

// Sequences of a batch, and a sequence that goes on where its first part ended.
func splitRagged(t testing.TB, r *rand.Rand, c *testkit.Choices) {
	starts, offsets := []int32{0}, []int32(nil)
	for range 1 + r.IntN(6) {
		starts = append(starts, starts[len(starts)-1]+int32(r.IntN(30)))
		offsets = append(offsets, int32(r.Uint32())>>2)
	}
	tokens := int(starts[len(starts)-1])
	want, got := make([]int32, tokens), make([]int32, tokens)
	if err := posenc.RaggedPositions(want, starts, offsets); err != nil {
		t.Fatal(err)
	}
	for i, offset := range offsets {
		at := c.Cut(int(starts[i+1] - starts[i]))
		for j, first := range at[:len(at)-1] {
			part := got[int(starts[i])+first : int(starts[i])+at[j+1]]
			if err := posenc.RaggedPositions(part, []int32{0, int32(len(part))}, []int32{offset + int32(first)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("starts %d, offsets %d: got %d in parts, want %d", starts, offsets, got, want)
	}
}

func splitDualChunk(t testing.TB, r *rand.Rand, c *testkit.Choices) {
	dual, which := posenc.DualChunk{ChunkSize: 20, LocalSize: int32(r.IntN(20))}, posenc.DualChunkQuery(r.IntN(5))
	positions := testkit.RandomPositions(r, "zero", 1+r.IntN(200))
	keys, queries := make([]int32, len(positions)), make([]int32, len(positions))
	write := func(keys, queries, positions []int32) {
		if err := dual.KeyPositions(keys, positions); err != nil {
			t.Error(err)
		}
		if err := dual.QueryPositions(queries, positions, which); err != nil {
			t.Error(err)
		}
	}
	write(keys, queries, positions)
	each(c.Deal(len(positions)), func(part []int) {
		someKeys, someQueries := make([]int32, len(part)), make([]int32, len(part))
		write(someKeys, someQueries, pick(positions, part))
		if !slices.Equal(someKeys, pick(keys, part)) || !slices.Equal(someQueries, pick(queries, part)) {
			t.Errorf("%+v: the positions of tokens %d differ in parts", dual, part)
		}
	})
}

// splitScores adds to scores of splitHeads heads and positions from least on, below
// most, at once and tile by tile.
func splitScores(t testing.TB, r *rand.Rand, c *testkit.Choices, least, most int, add func(relative.Scores) error) {
	t.Helper()
	s, start, memory := testkit.RandomScores(r, splitHeads, least, most)
	if most-least > 2000 && r.IntN(4) == 0 { // several blocks
		s = relative.Scores{Heads: splitHeads, Queries: 20, Keys: 1050, FirstQuery: least + r.IntN(500), FirstKey: least + r.IntN(500)}
		start, memory = 0, testkit.RandomElements[float32](r, s.Heads*s.Queries*s.Keys)
		s.Data = memory
	}
	given := slices.Clone(memory)
	if err := add(s); err != nil {
		t.Fatal(err)
	}
	want := slices.Clone(memory)
	copy(memory, given)
	s.Data = memory[start : start+len(s.Data)]
	each(s.cut(c), func(tiles []relative.Scores) {
		for _, tile := range tiles {
			if err := add(tile); err != nil {
				t.Error(err)
			}
		}
	})
	for i, x := range memory {
		if !testkit.Same(x, want[i]) {
			t.Fatalf("%d heads of %d queries and %d keys: element %d is %v in tiles, want %v", s.Heads, s.Queries, s.Keys, i-start, x, want[i])
		}
	}
}

const splitHeads = 3

// cut returns tiles of scores, those of the same heads and queries together and in
// ascending order of keys.
func (s relative.Scores) cut(c *testkit.Choices) (list [][]relative.Scores) {
	heads, queries := c.Cut(s.Heads), c.Cut(s.Queries)
	for i, h := range heads[:len(heads)-1] {
		for j, q := range queries[:len(queries)-1] {
			var tiles []relative.Scores
			keys := c.Cut(s.Keys)
			for l, k := range keys[:len(keys)-1] {
				tiles = append(tiles, s.part(h, heads[i+1]-h, q, queries[j+1]-q, k, keys[l+1]-k))
			}
			list = append(list, tiles)
		}
	}
	return list
}

// splitProducts returns products of splitHeads heads with rows for positions from
// least on, and what gives those of a tile.
func splitProducts(r *rand.Rand, least, most, columns int) func(head, row int) relative.Products {
	data := testkit.RandomElements[float32](r, splitHeads*(most-least)*columns)
	return func(head, row int) relative.Products {
		return relative.Products{Data: data[(head*(most-least)+row-least)*columns:], HeadStride: (most - least) * columns, RowStride: columns}
	}
}

func splitALiBi(t testing.TB, r *rand.Rand, c *testkit.Choices) {
	slopes, form := randomWeight(r, splitHeads), relative.ALiBiForm(r.IntN(3))
	splitScores(t, r, c, -1<<29, 1<<29, func(s relative.Scores) error { return relative.AddALiBi(s, slopes, form) })
}

func splitT5(t testing.TB, r *rand.Rand, c *testkit.Choices) {
	buckets, weights := testkit.MustT5Buckets(t, 32, 128, r.IntN(2) == 0), randomWeight(r, 32*splitHeads)
	bias, err := relative.NewT5Bias(buckets, weights)
	if err != nil {
		t.Fatal(err)
	}
	splitScores(t, r, c, -1000, 1500, func(s relative.Scores) error { return relative.AddT5(s, bias) })
}

func splitDeBERTa(t testing.TB, r *rand.Rand, c *testkit.Choices) {
	const least, most, span = -50, 100, 16
	buckets := testkit.MustDeBERTaBuckets(t, span, 40)
	contentToPosition, positionToContent := splitProducts(r, least, most, 2*span), splitProducts(r, least, most, 2*span)
	splitScores(t, r, c, least, most, func(s relative.Scores) error {
		return relative.AddDeBERTa(s, buckets, contentToPosition(s.FirstHead, s.FirstQuery), positionToContent(s.FirstHead, s.FirstKey), 3)
	})
}

func splitRelativeShift(t testing.TB, r *rand.Rand, c *testkit.Choices) {
	const least, most, first = -50, 100, 150
	columns := []int{first + 1, 2*first + 1}[r.IntN(2)] // for distances from 0 on, for all
	products := splitProducts(r, least, most, columns)
	splitScores(t, r, c, least, most, func(s relative.Scores) error {
		return relative.AddRelativeShift(s, products(s.FirstHead, s.FirstQuery), columns, first)
	})
}

func splitShaw(t testing.TB, r *rand.Rand, c *testkit.Choices) {
	const least, most, maxDistance = -50, 100, 16
	products := splitProducts(r, least, most, 2*maxDistance+1)
	splitScores(t, r, c, least, most, func(s relative.Scores) error {
		return relative.AddShaw(s, products(s.FirstHead, s.FirstQuery), maxDistance)
	})
}

func splitSwin(t testing.TB, r *rand.Rand, c *testkit.Choices) {
	const height, width = 9, 12
	bias, err := relative.NewSwinBias(height, width, randomWeight(r, (2*height-1)*(2*width-1)*splitHeads))
	if err != nil {
		t.Fatal(err)
	}
	splitScores(t, r, c, 0, height*width, func(s relative.Scores) error { return relative.AddSwin(s, bias) })
}

// Sums have the bits of the whole where tiles of the same queries follow each other
// in ascending order of keys.
func splitSumShaw(t testing.TB, r *rand.Rand, c *testkit.Choices) {
	const maxDistance, columns = 6, 13
	s, _, _ := testkit.RandomScores(r, splitHeads, -50, 80)
	want := testkit.RandomElements[float32](r, s.Heads*s.Queries*columns)
	got := slices.Clone(want)
	sum := func(sums []float32, tile relative.Scores) {
		at := ((tile.FirstHead-s.FirstHead)*s.Queries + tile.FirstQuery - s.FirstQuery) * columns
		p := relative.Products{Data: sums[at:], HeadStride: s.Queries * columns, RowStride: columns}
		if err := relative.SumShaw(p, tile, maxDistance); err != nil {
			t.Error(err)
		}
	}
	sum(want, s)
	each(s.cut(c), func(tiles []relative.Scores) {
		for _, tile := range tiles {
			sum(got, tile)
		}
	})
	if !testkit.SameSlices(got, want) {
		t.Fatalf("%d heads of %d queries and %d keys: the sums differ in tiles", s.Heads, s.Queries, s.Keys)
	}
}

// Products of any range of tokens, heads and columns.
func splitRelativeProducts(t testing.TB, r *rand.Rand, c *testkit.Choices) {
	whole := testkit.RandomRelative(r, testkit.OneOf(r, testkit.HeadCounts), testkit.OneOf(r, splitSizes), 1+r.IntN(40), testkit.OneOf(r, testkit.Lengths))
	call := func(c *testkit.RelativeCase) {
		if err := relative.RelativeProducts(c.Products, c.X, c.Bias, c.Vectors, c.Tokens, c.Columns, c.HeadDim); err != nil {
			t.Error(err)
		}
	}
	given := slices.Clone(whole.Around)
	call(whole)
	want := slices.Clone(whole.Around)
	copy(whole.Around, given)
	var parts []*testkit.RelativeCase
	for _, rows := range whole.Cut(c) {
		columns := c.Cut(whole.Columns)
		for i, first := range columns[:len(columns)-1] {
			parts = append(parts, rows.ColumnsOf(first, columns[i+1]))
		}
	}
	each(parts, call)
	if !testkit.SameSlices(whole.Around, want) {
		t.Fatalf("%d tokens of %d heads, %d columns of %d: the products differ in parts", whole.Tokens, whole.X.Heads, whole.Columns, whole.HeadDim)
	}
}

// Values of any range of tokens and heads, and of columns in ascending order.
func splitRelativeValues(t testing.TB, r *rand.Rand, c *testkit.Choices) {
	whole := testkit.RandomRelative(r, testkit.OneOf(r, testkit.HeadCounts), testkit.OneOf(r, splitSizes), 1+r.IntN(40), testkit.OneOf(r, testkit.Lengths))
	call := func(c *testkit.RelativeCase) {
		if err := relative.AddRelativeValues(c.X, c.Products, c.Vectors, c.Tokens, c.Columns, c.HeadDim); err != nil {
			t.Error(err)
		}
	}
	given := slices.Clone(whole.All.All)
	call(whole)
	want := slices.Clone(whole.All.All)
	copy(whole.All.All, given)
	var parts [][]*testkit.RelativeCase
	for _, rows := range whole.Cut(c) {
		var part []*testkit.RelativeCase
		columns := c.Cut(whole.Columns)
		for i, first := range columns[:len(columns)-1] {
			part = append(part, rows.ColumnsOf(first, columns[i+1]))
		}
		parts = append(parts, part)
	}
	each(parts, func(part []*testkit.RelativeCase) {
		for _, columns := range part {
			call(columns)
		}
	})
	if !testkit.SameSlices(whole.All.All, want) {
		t.Fatalf("%d tokens of %d heads, %d columns of %d: the values differ in parts", whole.Tokens, whole.X.Heads, whole.Columns, whole.HeadDim)
	}
}
