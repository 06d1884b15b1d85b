package operations

import (
	"cmp"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/go-posenc/posenc/generic"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/kernels"
)

// Problem returns a random call of an operation whose rows have n elements, pairs or
// frequencies. Packed, rows lie one after another, so that guards are next to them, and
// are few.
func (o *Operation) Problem(r *rand.Rand, n int, packed bool) *Problem {
	p := &Problem{Arguments: Arguments{Number: map[string]float64{}}, Size: map[string]int{}}
	for _, name := range o.Numbers {
		p.Number[name] = o.number(r, name)
	}
	if o.Lengths != nil {
		n = o.Lengths[n%len(o.Lengths)]
	}
	gap := func(most int) int {
		if packed {
			return 0
		}
		return r.IntN(2) * r.IntN(most)
	}
	switch {
	case o.Seeded:
		o.seeds(p, n)
	case o.Geometry == "Rotation":
		o.rotation(r, p, n, packed, gap)
	case o.Geometry == "Lines":
		o.lines(r, p, n, packed, gap)
	case o.Geometry == "Fusion":
		o.fusion(r, p, n, packed, gap)
	case o.Geometry == "Tile":
		o.tile(r, p, n, gap)
	case o.Geometry == "Matrices":
		o.matrices(r, p, n, gap)
	case o.Geometry == "Conversion":
		o.conversion(r, p, n, packed, gap)
	case o.Geometry == "Affine":
		o.affine(r, p, n, gap)
	case o.Geometry == "Block":
		o.frequencies(p, n)
	default:
		for _, s := range o.Slices {
			p.Size[s.Name] = n * max(1, o.Unit)
		}
	}
	return p
}

// Number returns a scalar of an operation, by its name.
func (o *Operation) number(r *rand.Rand, name string) float64 {
	switch name {
	case "epsilon":
		return float64(kit.OneOf(r, []float32{1e-6, 1e-5, 0, 1, 1e-30, math.MaxFloat32}))
	case "leastAmax":
		return float64(kit.OneOf(r, []float32{0, 1e-4, 1}))
	case "leastScale":
		return float64(kit.OneOf(r, []float32{0x1p-126, 1e-4, 0x1.8p-126}))
	case "fraction":
		return float64(kit.OneOf(r, []int{0, 1<<23 - 1}))
	case "position", "reach":
		return float64(r.IntN(1 << 20))
	case "rule":
		return float64(r.IntN(3))
	}
	x := []float32{1, 22.627417, 2*r.Float32() - 1, 2*r.Float32() - 1, 0}
	kit.FillRandom(r, x[4:])
	return float64(kit.OneOf(r, x))
}

// rotation is heads of tokens of n pairs.
func (o *Operation) rotation(r *rand.Rand, p *Problem, n int, packed bool, gap func(int) int) {
	tokens, heads := kit.OneOf(r, kit.TokenCounts), kit.OneOf(r, kit.HeadCounts)
	blocks, quantizes, scaled := o.Slice("y").Element == Q8, o.Lengths != nil, o.Has("scales")
	if packed || n > 40 && !quantizes {
		tokens, heads = 1+r.IntN(2), 1+r.IntN(3)
	}
	partner := n + gap(40)
	if quantizes {
		partner = n
	}
	reach := 2 * n
	if o.Layout == "HalfSplit" {
		reach = partner + n
	}
	yReach := reach
	if blocks {
		yReach = reach / generic.Block * generic.Q8Bytes
	}
	strides := func(reach int) (token, head int) {
		if packed {
			return heads * reach, reach
		}
		for {
			v := kit.RandomShape[float32](r, tokens, heads, reach, kit.Apart)
			if v.SequenceTokens == 0 || v.SequenceTokens == tokens { // one sequence
				return cmp.Or(v.TokenStride, heads*reach), cmp.Or(v.HeadStride, reach)
			}
		}
	}
	g := kernels.Rotation{Pairs: n, Partner: partner, Tokens: tokens, Heads: heads, TableStride: n + gap(9), Ahead: r.IntN(2) << 12}
	g.XTokenStride, g.XHeadStride = strides(reach)
	g.YTokenStride, g.YHeadStride = strides(yReach)
	if scaled { // a scale for each head's length of numbers
		token, head := strides(1)
		if packed {
			token, head = heads, 1
		}
		g.YTokenStride, g.YHeadStride = token*reach, head*reach
	}
	if o.Slice("y").Element == o.Slice("x").Element && r.IntN(2) == 0 {
		p.InPlace = true
		g.YTokenStride, g.YHeadStride = g.XTokenStride, g.XHeadStride
	}
	p.Rotation = g
	p.Size = map[string]int{
		"y": (tokens-1)*g.YTokenStride + (heads-1)*g.YHeadStride + yReach, "x": (tokens-1)*g.XTokenStride + (heads-1)*g.XHeadStride + reach,
		"cos": (tokens-1)*g.TableStride + n, "sin": (tokens-1)*g.TableStride + n,
	}
	if scaled {
		p.Size["scales"] = ((tokens-1)*g.YTokenStride+(heads-1)*g.YHeadStride)/reach + 1
	}
	if quantizes {
		p.Prepare = func(r *rand.Rand, a *Arguments) {
			for _, name := range []string{"x", "cos", "sin"} { // numbers of every magnitude make most blocks NaN
				o.ordinary(r, a, name, p.Size[name]/n, n, n)
			}
		}
	}
	p.Split = func(a *Arguments) (list []*Arguments) {
		for t := range tokens {
			for h := range heads {
				row := &Arguments{Memory: map[string][]byte{}, Number: a.Number}
				if quantizes {
					head := make([]byte, 4*reach)
					row.Memory["head"], row.Memory["rotated"], row.Memory["rotated2"] = head, head, head[4*n:]
				}
				at := map[string]int{"y": t*g.YTokenStride + h*g.YHeadStride, "x": t*g.XTokenStride + h*g.XHeadStride, "cos": t * g.TableStride, "sin": t * g.TableStride}
				if scaled {
					at["scales"] = at["y"] / reach
				}
				for name, first := range at {
					switch {
					case name == "cos" || name == "sin":
						o.Cut(row, a, name, name, first, n)
					case name == "scales":
						o.Cut(row, a, name, name, first, 1)
					case name == "y" && quantizes:
						o.Cut(row, a, name, name, first, yReach)
					case o.Layout == "HalfSplit":
						o.Cut(row, a, name, name, first, n)
						o.Cut(row, a, name, name+"2", first+partner, n)
					default:
						o.Cut(row, a, name, name, first, 2*n)
					}
				}
				list = append(list, row)
			}
		}
		return list
	}
}

// cut makes n elements of a slice, from number first on, a slice of a row.
func (o *Operation) Cut(row, a *Arguments, name, as string, first, n int) {
	size := o.Slice(name).Element.Size
	row.Memory[as] = a.Memory[name][first*size:][:n*size]
}

// ordinary makes most rows of n elements numbers of one size: a single NaN or
// infinity hides what becomes of the others.
func (o *Operation) ordinary(r *rand.Rand, a *Arguments, name string, count, stride, n int) {
	e := o.Slice(name).Element
	for i := range count {
		size := kit.OneOf(r, []float32{1, 1, 1, 1000, 0x1p-12, 0x1p-70, 0x1p60, 0x1p70, 0})
		if r.IntN(4) == 0 {
			continue
		}
		for j := range n {
			e.Set(a.Memory[name][(i*stride+j)*e.Size:], size*float32(r.NormFloat64()))
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

// lines is a call on rows of n elements of x, such as ScaleRowsF32. The way of a problem, from the
// seed to the comparison:
//
//  1. A test, TestOperations for one, makes r from a seed that never changes. A failure comes again.
//  2. It calls Problem for each length n. That draws the operation's numbers, here factor, and
//     calls lines.
//  3. lines draws where the rows lie, and says how long each slice is, how to change its memory
//     and how to cut the call into rows. No memory is there yet.
//  4. Try takes memory for each slice from the test's Place. Padded fills it and at least 40 elements
//     on both sides with numbers of every kind; Guards lays it beside a page that no one may touch.
//     Then Prepare runs.
//  5. define copies all of it, cuts the copy by Split, and runs Define, here generic.ScaleF32,
//     on each row. That is the expected memory, computed once.
//  6. TryOn calls each implementation on the same memory. All bytes have to be the expected ones,
//     between the rows and around the slices too. Where Define has written, Element.Same compares:
//     equal bits, or both NaN.
func (o *Operation) lines(r *rand.Rand, p *Problem, n int, packed bool, gap func(int) int) {
	// gap is 0 half of the time or more: rows that touch, and rows with numbers between them.
	g := kernels.Lines{Len: n, Count: kit.OneOf(r, counts(packed)), Stride: n + gap(20)}
	p.Lines = g
	for _, s := range o.Slices { // a weight has one row
		p.Size[s.Name] = n
	}
	p.Size["x"] = max(0, (g.Count-1)*g.Stride+n) // it ends with the last row
	p.Prepare = func(r *rand.Rand, a *Arguments) { o.ordinary(r, a, "x", g.Count, g.Stride, n) }
	p.Split = func(a *Arguments) (list []*Arguments) {
		for i := range g.Count {
			row := *a // the numbers and the other slices
			row.Memory = Clone(a.Memory)
			o.Cut(&row, a, "x", "x", i*g.Stride, n)
			list = append(list, &row)
		}
		return list
	}
}

// conversion is vectors of n numbers, or of some blocks, that change their type.
func (o *Operation) conversion(r *rand.Rand, p *Problem, n int, packed bool, gap func(int) int) {
	g := kernels.Conversion{Len: max(1, n), Count: kit.OneOf(r, counts(packed)), ScaleStride: 1 + gap(3)}
	length := map[string]int{"y": g.Len, "x": g.Len, "scales": 1} // of a vector
	for _, s := range o.Slices {
		if s.Element.Block > 0 {
			g.Len = s.Element.Numbers * (n/s.Element.Numbers + 1)
			length["y"], length["x"] = g.Len, g.Len
			length[s.Name] = g.Len / s.Element.Numbers * s.Element.Block
		}
	}
	g.YStride, g.XStride = length["y"]+gap(20), length["x"]+gap(20)
	if o.Has("scales") && !o.Slice("scales").Written && r.IntN(3) == 0 {
		g.ScaleStride = 0
	}
	p.Conversion = g
	stride := map[string]int{"y": g.YStride, "x": g.XStride, "scales": g.ScaleStride}
	for _, s := range o.Slices {
		p.Size[s.Name] = (g.Count-1)*stride[s.Name] + length[s.Name]
	}
	p.Prepare = func(r *rand.Rand, a *Arguments) {
		if o.Slice("x").Element == F32 {
			o.ordinary(r, a, "x", g.Count, g.XStride, g.Len)
		}
	}
	p.Split = func(a *Arguments) (list []*Arguments) {
		for i := range g.Count {
			row := *a
			row.Memory = Clone(a.Memory)
			for _, s := range o.Slices {
				o.Cut(&row, a, s.Name, s.Name, i*stride[s.Name], length[s.Name])
			}
			list = append(list, &row)
		}
		return list
	}
}

// affine is vectors of n numbers or codes, whose scales are of each vector or of its elements.
func (o *Operation) affine(r *rand.Rand, p *Problem, n int, gap func(int) int) {
	g := kernels.Affine{Len: n, Count: kit.OneOf(r, counts(false)), ScaleStride: gap(3)}
	columns := strings.Contains(o.Name, "Columns")
	length, stride := map[string]int{}, map[string]int{}
	for _, s := range o.Slices {
		switch {
		case s.Name == "y" || s.Name == "x":
			length[s.Name] = n
			if s.Element == U4 {
				length[s.Name] = n / 2
			}
			stride[s.Name] = length[s.Name] + gap(20)
		case columns:
			length[s.Name] = n
		default:
			if s.Written {
				g.ScaleStride = max(1, g.ScaleStride)
			}
			length[s.Name], stride[s.Name] = 1, g.ScaleStride
		}
	}
	g.YStride, g.XStride = stride["y"], stride["x"]
	p.Affine = g
	for name, n := range length {
		p.Size[name] = (g.Count-1)*stride[name] + n
	}
	bounds := kit.OneOf(r, [][3]float64{{0, 255, 0}, {-128, 127, 0x80}, {0, 15, 0}, {-8, 7, 0}})
	for i, name := range []string{"least", "largest", "flip"} {
		if o.Has("flip") {
			p.Number[name] = bounds[i]
		}
	}
	p.Number["shift"] = float64(4 * r.IntN(2))
	p.Prepare = func(r *rand.Rand, a *Arguments) {
		x := o.Slice("x").Element
		switch {
		case x == F32 && r.IntN(4) > 0: // codes of every size, and halves
			for i := range Elements[float32](a, "x") {
				x.Set(a.Memory["x"][4*i:], float32(r.IntN(1200)-600)/2)
			}
			for _, name := range []string{"inverse", "zero"} {
				for i := range Elements[float32](a, name) {
					x.Set(a.Memory[name][4*i:], kit.OneOf(r, []float32{1, 1, 0.5, -1, 0, 0.25}))
				}
			}
			if o.Has("inverse") && r.IntN(4) == 0 { // a product that is rounded gives a half
				for name, v := range map[string]float32{"x": -1.5 * (1 + 0x1p-13), "inverse": 1 - 0x1p-13, "zero": 2} {
					for i := range Elements[float32](a, name) {
						x.Set(a.Memory[name][4*i:], v)
					}
				}
			}
		case x == F32:
			o.ordinary(r, a, "x", g.Count, g.XStride, n)
		case strings.HasPrefix(o.Name, "Pack"):
			for i := range a.Memory["x"] {
				a.Memory["x"][i] &= 15
			}
		}
	}
	p.Split = func(a *Arguments) (list []*Arguments) {
		for i := range g.Count {
			row := *a
			row.Memory = Clone(a.Memory)
			for name, n := range length {
				o.Cut(&row, a, name, name, i*stride[name], n)
			}
			list = append(list, &row)
		}
		return list
	}
}

func Clone(memory map[string][]byte) map[string][]byte {
	other := map[string][]byte{}
	for name, s := range memory {
		other[name] = s
	}
	return other
}

// fusion is lines of which n pairs are rotated.
func (o *Operation) fusion(r *rand.Rand, p *Problem, n int, packed bool, gap func(int) int) {
	before, after := r.IntN(2)*r.IntN(40), r.IntN(2)*r.IntN(40)
	length := before + 2*n + after
	g := kernels.Fusion{Lines: kernels.Lines{Len: length, Count: kit.OneOf(r, counts(packed)), Stride: length + gap(20)}, First: before, Pairs: n}
	p.Fusion = g
	p.Size = map[string]int{"x": (g.Count-1)*g.Stride + length, "weight": length, "cos": n, "sin": n}
	p.Prepare = func(r *rand.Rand, a *Arguments) { o.ordinary(r, a, "x", g.Count, g.Stride, length) }
	p.Split = func(a *Arguments) (list []*Arguments) {
		for i := range g.Count {
			row := *a
			row.Memory = Clone(a.Memory)
			o.Cut(&row, a, "x", "x", i*g.Stride, length)
			if o.Layout == "HalfSplit" {
				o.Cut(&row, a, "x", "rotated", i*g.Stride+before, n)
				o.Cut(&row, a, "x", "rotated2", i*g.Stride+before+n, n)
			} else {
				o.Cut(&row, a, "x", "rotated", i*g.Stride+before, 2*n)
			}
			list = append(list, &row)
		}
		return list
	}
}

// tile is rows of scores of n keys, to which rows of x are added, elements of x, or
// distances.
func (o *Operation) tile(r *rand.Rand, p *Problem, n int, gap func(int) int) {
	n = max(1, n)
	g := kernels.Tile{Len: n, Rows: 1 + r.IntN(3), Stride: n + gap(20)}
	if gap(2) > 0 {
		g.Rows = 0
	}
	step := kit.OneOf(r, []int{-1, 0, 1, n, r.IntN(41) - 20})
	reach := step * max(0, g.Rows-1)
	p.Tile = g
	p.Size["y"] = max(0, (g.Rows-1)*g.Stride+n)
	first := 0
	switch {
	case o.Has("ids"):
		first = max(0, -reach)
		p.Size["x"] = n + max(reach, -reach)
		p.Number["xFirst"], p.Number["xStride"] = float64(first), float64(step)
		if r.IntN(2) == 0 { // by number, some of them negative
			const one = 3
			p.Size["ids"] = g.Rows
			p.Number["xFirst"] = float64(first + one*step)
			p.Prepare = func(_ *rand.Rand, a *Arguments) {
				ids := Elements[int32](a, "ids")
				for i := range ids {
					ids[i] = int32(i - one)
				}
			}
		} else {
			p.Prepare = func(_ *rand.Rand, a *Arguments) { a.Memory["ids"] = nil }
		}
	case o.Has("x"):
		size := kernels.ClampedEnds + r.IntN(100)
		p.Size["x"] = size
		first = r.IntN(2*size+2*n) - size - 2*n // before x, in it, beyond it
		if r.IntN(8) == 0 {
			first = int(int32(r.Uint32())) / 2
		}
		p.Prepare = func(_ *rand.Rand, a *Arguments) {
			x := Elements[float32](a, "x")
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
			first = kit.OneOf(r, []int{-1 << 24, 1 << 24}) - r.IntN(2*n+1) - reach/2
		}
	}
	if o.Has("first") {
		p.Number["first"], p.Number["step"] = float64(first), float64(step)
	}
	p.Split = func(a *Arguments) (list []*Arguments) {
		for i := range g.Rows {
			row := *a
			row.Memory, row.Number = Clone(a.Memory), map[string]float64{}
			for name, x := range a.Number {
				row.Number[name] = x
			}
			o.Cut(&row, a, "y", "y", i*g.Stride, n)
			if o.Has("first") {
				row.Number["first"] = float64(first + i*step)
			} else {
				o.Cut(&row, a, "x", "x", first+i*step, n)
			}
			list = append(list, &row)
		}
		return list
	}
}

// matrices is products with vectors of n elements.
func (o *Operation) matrices(r *rand.Rand, p *Problem, n int, gap func(int) int) {
	n = max(1, n)
	g := kernels.Matrices{Len: n, Rows: 1 + r.IntN(3), Columns: r.IntN(11), VectorStride: n + gap(20)}
	if gap(2) > 0 {
		g.Rows = 0
	}
	width := func(name string) int {
		if o.Slice(name).Single {
			return g.Columns
		}
		return n
	}
	g.YStride, g.XStride = width("y")+gap(20), width("x")+gap(20)
	p.Matrices = g
	p.Size = map[string]int{
		"y": max(0, (g.Rows-1)*g.YStride+width("y")), "x": max(0, (g.Rows-1)*g.XStride+width("x")), "vectors": max(0, (g.Columns-1)*g.VectorStride+n),
	}
	p.Prepare = func(r *rand.Rand, a *Arguments) {
		o.ordinary(r, a, "x", g.Rows, g.XStride, width("x"))
		o.ordinary(r, a, "vectors", g.Columns, g.VectorStride, n)
	}
	p.Split = func(a *Arguments) (list []*Arguments) {
		for i := range g.Rows {
			for c := range g.Columns {
				row := &Arguments{Memory: map[string][]byte{}}
				for name, stride := range map[string]int{"y": g.YStride, "x": g.XStride} {
					if o.Slice(name).Single {
						o.Cut(row, a, name, name, i*stride+c, 1)
					} else {
						o.Cut(row, a, name, name, i*stride, n)
					}
				}
				o.Cut(row, a, "vectors", "vectors", c*g.VectorStride, n)
				list = append(list, row)
			}
		}
		return list
	}
}

// frequencies is a block of n frequencies.
func (o *Operation) frequencies(p *Problem, n int) {
	n = min(n, kernels.Width)
	p.Block.Set(kit.LadderOf(max(1, n))[:n])
	for _, s := range o.Slices {
		p.Size[s.Name] = n
		if s.Element == F64 {
			p.Size[s.Name] = kernels.Width
		}
	}
}

// seeds is 8 rows of n pairs by the linear shift, of easy angles.
func (o *Operation) seeds(p *Problem, n int) {
	n = min(n, kernels.Width)
	n -= n % max(1, o.Unit)
	const rows = 8
	var block kernels.Block
	var shift kernels.Shift
	block.Set(kit.LadderOf(max(1, n))[:n])
	p.Seed, p.Shift, p.InvFreq = new([3][kernels.Width]float64), shift[:], new([kernels.Width]float32)
	for i := range p.Seed[0] {
		p.Seed[0][i], p.Seed[1][i], p.Seed[2][i] = 0.6, 0.8, 0x1p-60
		for j := range shift {
			shift[j][0][i], shift[j][1][i] = 0.96, 0.28
		}
	}
	stride := n
	if o.Has("x") {
		stride = 2 * n
	}
	p.Number["stride"], p.Number["rows"], p.Number["n"] = float64(stride), rows, float64(n)
	for _, s := range o.Slices {
		p.Size[s.Name] = rows * stride
	}
}
