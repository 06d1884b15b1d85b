package kernels_test

import (
	"cmp"
	"math"
	"math/rand/v2"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/kernels"
)

// problem returns a random call of an operation whose rows have n elements, pairs or
// frequencies. Packed, rows lie one after another, so that guards are next to them, and
// are few.
func (o *operation) problem(r *rand.Rand, n int, packed bool) *problem {
	p := &problem{arguments: arguments{number: map[string]float64{}}, size: map[string]int{}}
	for _, name := range o.numbers {
		p.number[name] = o.number(r, name)
	}
	if o.lengths != nil {
		n = o.lengths[n%len(o.lengths)]
	}
	gap := func(most int) int {
		if packed {
			return 0
		}
		return r.IntN(2) * r.IntN(most)
	}
	switch {
	case o.seeded:
		o.seeds(p, n)
	case o.geometry == "Rotation":
		o.rotation(r, p, n, packed, gap)
	case o.geometry == "Lines":
		o.lines(r, p, n, packed, gap)
	case o.geometry == "Fusion":
		o.fusion(r, p, n, packed, gap)
	case o.geometry == "Tile":
		o.tile(r, p, n, gap)
	case o.geometry == "Matrices":
		o.matrices(r, p, n, gap)
	case o.geometry == "Conversion":
		o.conversion(r, p, n, packed, gap)
	case o.geometry == "Block":
		o.frequencies(p, n)
	default:
		for _, s := range o.slices {
			p.size[s.name] = n * max(1, o.unit)
		}
	}
	return p
}

// number returns a scalar of an operation, by its name.
func (o *operation) number(r *rand.Rand, name string) float64 {
	switch name {
	case "epsilon":
		return float64(testkit.OneOf(r, []float32{1e-6, 1e-5, 0, 1, 1e-30, math.MaxFloat32}))
	case "position", "reach":
		return float64(r.IntN(1 << 20))
	}
	x := []float32{1, 22.627417, 2*r.Float32() - 1, 2*r.Float32() - 1, 0}
	testkit.FillRandom(r, x[4:])
	return float64(testkit.OneOf(r, x))
}

// rotation is heads of tokens of n pairs.
func (o *operation) rotation(r *rand.Rand, p *problem, n int, packed bool, gap func(int) int) {
	tokens, heads := testkit.OneOf(r, testkit.TokenCounts), testkit.OneOf(r, testkit.HeadCounts)
	blocks, quantizes, scaled := o.slice("y").element == q8, o.lengths != nil, o.has("scales")
	if packed || n > 40 && !quantizes {
		tokens, heads = 1+r.IntN(2), 1+r.IntN(3)
	}
	partner := n + gap(40)
	if quantizes {
		partner = n
	}
	reach := 2 * n
	if o.layout == "HalfSplit" {
		reach = partner + n
	}
	yReach := reach
	if blocks {
		yReach = reach / generic.Q8Block * generic.Q8Bytes
	}
	strides := func(reach int) (token, head int) {
		if packed {
			return heads * reach, reach
		}
		for {
			v := testkit.RandomShape[float32](r, tokens, heads, reach, testkit.Apart)
			if v.SequenceTokens == 0 || v.SequenceTokens == tokens { // one sequence
				return cmp.Or(v.TokenStride, heads*reach), cmp.Or(v.HeadStride, reach)
			}
		}
	}
	g := kernels.Rotation{Pairs: n, Partner: partner, Tokens: tokens, Heads: heads, TableStride: n + gap(9)}
	g.XTokenStride, g.XHeadStride = strides(reach)
	g.YTokenStride, g.YHeadStride = strides(yReach)
	if scaled { // a scale for each head's length of numbers
		token, head := strides(1)
		if packed {
			token, head = heads, 1
		}
		g.YTokenStride, g.YHeadStride = token*reach, head*reach
	}
	if o.slice("y").element == o.slice("x").element && r.IntN(2) == 0 {
		p.inPlace = true
		g.YTokenStride, g.YHeadStride = g.XTokenStride, g.XHeadStride
	}
	p.rotation = g
	p.size = map[string]int{
		"y": (tokens-1)*g.YTokenStride + (heads-1)*g.YHeadStride + yReach, "x": (tokens-1)*g.XTokenStride + (heads-1)*g.XHeadStride + reach,
		"cos": (tokens-1)*g.TableStride + n, "sin": (tokens-1)*g.TableStride + n,
	}
	if scaled {
		p.size["scales"] = ((tokens-1)*g.YTokenStride+(heads-1)*g.YHeadStride)/reach + 1
	}
	if quantizes {
		p.prepare = func(r *rand.Rand, a *arguments) {
			for _, name := range []string{"x", "cos", "sin"} { // numbers of every magnitude make most blocks NaN
				o.ordinary(r, a, name, p.size[name]/n, n, n)
			}
		}
	}
	p.split = func(a *arguments) (list []*arguments) {
		for t := range tokens {
			for h := range heads {
				row := &arguments{memory: map[string][]byte{}, number: a.number}
				at := map[string]int{"y": t*g.YTokenStride + h*g.YHeadStride, "x": t*g.XTokenStride + h*g.XHeadStride, "cos": t * g.TableStride, "sin": t * g.TableStride}
				if scaled {
					at["scales"] = at["y"] / reach
				}
				for name, first := range at {
					switch {
					case name == "cos" || name == "sin":
						o.cut(row, a, name, name, first, n)
					case name == "scales":
						o.cut(row, a, name, name, first, 1)
					case name == "y" && quantizes:
						o.cut(row, a, name, name, first, yReach)
					case o.layout == "HalfSplit":
						o.cut(row, a, name, name, first, n)
						o.cut(row, a, name, name+"2", first+partner, n)
					default:
						o.cut(row, a, name, name, first, 2*n)
					}
				}
				list = append(list, row)
			}
		}
		return list
	}
}

// cut makes n elements of a slice, from number first on, a slice of a row.
func (o *operation) cut(row, a *arguments, name, as string, first, n int) {
	size := o.slice(name).element.size
	row.memory[as] = a.memory[name][first*size:][:n*size]
}

// ordinary makes most rows of n elements numbers of one size: a single NaN or
// infinity hides what becomes of the others.
func (o *operation) ordinary(r *rand.Rand, a *arguments, name string, count, stride, n int) {
	e := o.slice(name).element
	for i := range count {
		size := testkit.OneOf(r, []float32{1, 1, 1, 1000, 0x1p-12, 0x1p-70, 0x1p60, 0x1p70, 0})
		if r.IntN(4) == 0 {
			continue
		}
		for j := range n {
			e.set(a.memory[name][(i*stride+j)*e.size:], size*float32(r.NormFloat64()))
		}
	}
}

// counts are numbers of rows: one, and some more or fewer than are worked on together.
func counts(packed bool) []int {
	if packed {
		return []int{1, 4, 5}
	}
	return []int{1, 2, 3, 4, 5, 8, 11}
}

func (o *operation) lines(r *rand.Rand, p *problem, n int, packed bool, gap func(int) int) {
	g := kernels.Lines{Len: n, Count: testkit.OneOf(r, counts(packed)), Stride: n + gap(20)}
	p.lines = g
	for _, s := range o.slices {
		p.size[s.name] = n
	}
	p.size["x"] = max(0, (g.Count-1)*g.Stride+n)
	p.prepare = func(r *rand.Rand, a *arguments) { o.ordinary(r, a, "x", g.Count, g.Stride, n) }
	p.split = func(a *arguments) (list []*arguments) {
		for i := range g.Count {
			row := *a
			row.memory = clone(a.memory)
			o.cut(&row, a, "x", "x", i*g.Stride, n)
			list = append(list, &row)
		}
		return list
	}
}

// conversion is vectors of n numbers, or of some blocks of Q8_0, that change their type.
func (o *operation) conversion(r *rand.Rand, p *problem, n int, packed bool, gap func(int) int) {
	g := kernels.Conversion{Len: max(1, n), Count: testkit.OneOf(r, counts(packed)), ScaleStride: 1 + gap(3)}
	length := map[string]int{"y": g.Len, "x": g.Len, "scales": 1} // of a vector
	for _, s := range o.slices {
		if s.element == q8 {
			g.Len = generic.Q8Block * (n/generic.Q8Block + 1)
			length["y"], length["x"] = g.Len, g.Len
			length[s.name] = g.Len / generic.Q8Block * generic.Q8Bytes
		}
	}
	g.YStride, g.XStride = length["y"]+gap(20), length["x"]+gap(20)
	if o.has("scales") && !o.slice("scales").written && r.IntN(3) == 0 {
		g.ScaleStride = 0
	}
	p.conversion = g
	stride := map[string]int{"y": g.YStride, "x": g.XStride, "scales": g.ScaleStride}
	for _, s := range o.slices {
		p.size[s.name] = (g.Count-1)*stride[s.name] + length[s.name]
	}
	p.prepare = func(r *rand.Rand, a *arguments) {
		if o.slice("x").element == f32 {
			o.ordinary(r, a, "x", g.Count, g.XStride, g.Len)
		}
	}
	p.split = func(a *arguments) (list []*arguments) {
		for i := range g.Count {
			row := *a
			row.memory = clone(a.memory)
			for _, s := range o.slices {
				o.cut(&row, a, s.name, s.name, i*stride[s.name], length[s.name])
			}
			list = append(list, &row)
		}
		return list
	}
}

func clone(memory map[string][]byte) map[string][]byte {
	other := map[string][]byte{}
	for name, s := range memory {
		other[name] = s
	}
	return other
}

// fusion is lines of which n pairs are rotated.
func (o *operation) fusion(r *rand.Rand, p *problem, n int, packed bool, gap func(int) int) {
	before, after := r.IntN(2)*r.IntN(40), r.IntN(2)*r.IntN(40)
	length := before + 2*n + after
	g := kernels.Fusion{Lines: kernels.Lines{Len: length, Count: testkit.OneOf(r, counts(packed)), Stride: length + gap(20)}, First: before, Pairs: n}
	p.fusion = g
	p.size = map[string]int{"x": (g.Count-1)*g.Stride + length, "weight": length, "cos": n, "sin": n}
	p.prepare = func(r *rand.Rand, a *arguments) { o.ordinary(r, a, "x", g.Count, g.Stride, length) }
	p.split = func(a *arguments) (list []*arguments) {
		for i := range g.Count {
			row := *a
			row.memory = clone(a.memory)
			o.cut(&row, a, "x", "x", i*g.Stride, length)
			if o.layout == "HalfSplit" {
				o.cut(&row, a, "x", "rotated", i*g.Stride+before, n)
				o.cut(&row, a, "x", "rotated2", i*g.Stride+before+n, n)
			} else {
				o.cut(&row, a, "x", "rotated", i*g.Stride+before, 2*n)
			}
			list = append(list, &row)
		}
		return list
	}
}

// tile is rows of scores of n keys, to which rows of x are added, elements of x, or
// distances.
func (o *operation) tile(r *rand.Rand, p *problem, n int, gap func(int) int) {
	n = max(1, n)
	g := kernels.Tile{Len: n, Rows: 1 + r.IntN(3), Stride: n + gap(20)}
	if gap(2) > 0 {
		g.Rows = 0
	}
	step := testkit.OneOf(r, []int{-1, 0, 1, n, r.IntN(41) - 20})
	reach := step * max(0, g.Rows-1)
	p.tile = g
	p.size["y"] = max(0, (g.Rows-1)*g.Stride+n)
	first := 0
	switch {
	case o.has("ids"):
		first = max(0, -reach)
		p.size["x"] = n + max(reach, -reach)
		p.number["xFirst"], p.number["xStride"] = float64(first), float64(step)
		if r.IntN(2) == 0 { // by number, some of them negative
			const one = 3
			p.size["ids"] = g.Rows
			p.number["xFirst"] = float64(first + one*step)
			p.prepare = func(_ *rand.Rand, a *arguments) {
				ids := elements[int32](a, "ids")
				for i := range ids {
					ids[i] = int32(i - one)
				}
			}
		} else {
			p.prepare = func(_ *rand.Rand, a *arguments) { a.memory["ids"] = nil }
		}
	case o.has("x"):
		size := kernels.ClampedEnds + r.IntN(100)
		p.size["x"] = size
		first = r.IntN(2*size+2*n) - size - 2*n // before x, in it, beyond it
		if r.IntN(8) == 0 {
			first = int(int32(r.Uint32())) / 2
		}
		p.prepare = func(_ *rand.Rand, a *arguments) {
			x := elements[float32](a, "x")
			if len(x) < 2*kernels.ClampedEnds { // the ends overlap
				x[len(x)-1] = x[0]
			}
			for i := range kernels.ClampedEnds {
				x[i], x[len(x)-1-i] = x[0], x[len(x)-1]
			}
		}
	default:
		first = int(int32(r.Uint32())>>(1+r.IntN(31))) - reach/2
		if r.IntN(4) == 0 { // from there on float32 does not count by ones
			first = testkit.OneOf(r, []int{-1 << 24, 1 << 24}) - r.IntN(2*n+1) - reach/2
		}
	}
	if o.has("first") {
		p.number["first"], p.number["step"] = float64(first), float64(step)
	}
	p.split = func(a *arguments) (list []*arguments) {
		for i := range g.Rows {
			row := *a
			row.memory, row.number = clone(a.memory), map[string]float64{}
			for name, x := range a.number {
				row.number[name] = x
			}
			o.cut(&row, a, "y", "y", i*g.Stride, n)
			if o.has("first") {
				row.number["first"] = float64(first + i*step)
			} else {
				o.cut(&row, a, "x", "x", first+i*step, n)
			}
			list = append(list, &row)
		}
		return list
	}
}

// matrices is products with vectors of n elements.
func (o *operation) matrices(r *rand.Rand, p *problem, n int, gap func(int) int) {
	n = max(1, n)
	g := kernels.Matrices{Len: n, Rows: 1 + r.IntN(3), Columns: r.IntN(11), VectorStride: n + gap(20)}
	if gap(2) > 0 {
		g.Rows = 0
	}
	width := func(name string) int {
		if o.slice(name).single {
			return g.Columns
		}
		return n
	}
	g.YStride, g.XStride = width("y")+gap(20), width("x")+gap(20)
	p.matrices = g
	p.size = map[string]int{
		"y": max(0, (g.Rows-1)*g.YStride+width("y")), "x": max(0, (g.Rows-1)*g.XStride+width("x")), "vectors": max(0, (g.Columns-1)*g.VectorStride+n),
	}
	p.prepare = func(r *rand.Rand, a *arguments) {
		o.ordinary(r, a, "x", g.Rows, g.XStride, width("x"))
		o.ordinary(r, a, "vectors", g.Columns, g.VectorStride, n)
	}
	p.split = func(a *arguments) (list []*arguments) {
		for i := range g.Rows {
			for c := range g.Columns {
				row := &arguments{memory: map[string][]byte{}}
				for name, stride := range map[string]int{"y": g.YStride, "x": g.XStride} {
					if o.slice(name).single {
						o.cut(row, a, name, name, i*stride+c, 1)
					} else {
						o.cut(row, a, name, name, i*stride, n)
					}
				}
				o.cut(row, a, "vectors", "vectors", c*g.VectorStride, n)
				list = append(list, row)
			}
		}
		return list
	}
}

// frequencies is a block of n frequencies.
func (o *operation) frequencies(p *problem, n int) {
	n = min(n, kernels.Width)
	p.block.Set(testkit.LadderOf(max(1, n))[:n])
	for _, s := range o.slices {
		p.size[s.name] = n
		if s.element == f64 {
			p.size[s.name] = kernels.Width
		}
	}
}

// seeds is 8 rows of n pairs by the linear shift, of easy angles.
func (o *operation) seeds(p *problem, n int) {
	n = min(n, kernels.Width)
	n -= n % max(1, o.unit)
	const rows = 8
	var block kernels.Block
	var shift kernels.Shift
	block.Set(testkit.LadderOf(max(1, n))[:n])
	p.seed, p.shift = new([3][kernels.Width]float64), shift[:]
	for i := range p.seed[0] {
		p.seed[0][i], p.seed[1][i], p.seed[2][i] = 0.6, 0.8, 0x1p-60
		for j := range shift {
			shift[j][0][i], shift[j][1][i] = 0.96, 0.28
		}
	}
	stride := n
	if o.has("x") {
		stride = 2 * n
	}
	p.number["stride"], p.number["rows"], p.number["n"] = float64(stride), rows, float64(n)
	for _, s := range o.slices {
		p.size[s.name] = rows * stride
	}
}
