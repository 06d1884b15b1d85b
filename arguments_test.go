package posenc_test

import (
	"math"
	"slices"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/test/kit"
)

// rotaryArgument is a Rotary of any kind, and what it was made of.
type rotaryArgument struct {
	*posenc.Rotary
	cfg    posenc.RotaryConfig // without Axes unless onAxes
	axes   int                 // positions of a token
	onAxes bool                // positions are [axes][tokens]; else a token has one, on every axis
	zero   bool
}

func (r *rotaryArgument) pairs() int { return plainOf(r.cfg).rotaryDim / 2 }

// at returns the Angles of positions as r.onAxes says.
func (r *rotaryArgument) at(positions []int32) posenc.Angles {
	if r.onAxes {
		return r.AtAxes(positions)
	}
	return r.At(positions)
}

func (r *rotaryArgument) atFractional(positions []float32) posenc.Angles {
	if r.onAxes {
		return r.AtFractionalAxes(positions)
	}
	return r.AtFractional(positions)
}

func (r *rotaryArgument) rows(positions []int32) (*posenc.Rows, error) {
	if r.onAxes {
		return r.RowsAxes(positions)
	}
	return r.Rows(positions)
}

// rotaryOf returns a Rotary, whose tokens have one position or one on each axis; where any arguments
// are wanted also nil and a zero one.
func rotaryOf(a *kit.Arguments) rotaryArgument { return rotaryFor(a, a.Yes()) }

func rotaryFor(a *kit.Arguments, onAxes bool) rotaryArgument {
	if a.Any() {
		switch a.Below(16) {
		case 0:
			return rotaryArgument{nil, posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit}, 1, onAxes, true}
		case 1:
			return rotaryArgument{new(posenc.Rotary), posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit}, 1, onAxes, true}
		}
	}
	cfg := configOf(a)
	r, err := posenc.NewRotary(cfg)
	if err != nil {
		cfg = posenc.RotaryConfig{HeadDim: 4, Layout: posenc.HalfSplit}
	}
	given := cfg
	cfg.Axes, cfg.InvFreq = slices.Clone(cfg.Axes), slices.Clone(cfg.InvFreq) // other arguments may lie there too
	clear(given.Axes)                                                         // NewRotary keeps nothing of them
	for i := range given.InvFreq {
		given.InvFreq[i] = 77
	}
	if cfg.XPos != nil {
		xPos := *cfg.XPos
		*given.XPos, cfg.XPos = posenc.XPos{}, &xPos
	}
	axes := 1
	if !onAxes {
		cfg.Axes = nil
	} else if cfg.Axes != nil {
		axes = int(slices.Max(cfg.Axes)) + 1
	}
	return rotaryArgument{r, cfg, axes, onAxes, err != nil}
}

// geometryOf returns a configuration of the slice of a head.
func geometryOf(a *kit.Arguments) posenc.RotaryConfig {
	pairs := 1 + a.Below(40)
	if !a.Any() {
		pairs = a.Length()
	}
	cfg := posenc.RotaryConfig{HeadDim: 2 * pairs, Layout: allLayouts[a.Below(4)]}
	if a.Head > 0 {
		cfg.HeadDim, cfg.RotaryDim, cfg.Offset = a.Head, 64, a.Head-64
		return cfg
	}
	if a.Decoding == 0 && a.Yes() {
		cfg.RotaryDim, cfg.Offset = 2*pairs, a.Below(20)
		cfg.HeadDim += cfg.Offset + a.Below(20)
	}
	if rest := cfg.HeadDim % max(a.HeadUnit, 1); rest > 0 {
		cfg.RotaryDim = 2 * pairs
		cfg.HeadDim += a.HeadUnit - rest
	}
	return cfg
}

// hardPositions are those at which random frequencies may be hard.
var hardPositions = []int32{-7, 33, 4096}

// positionsOf returns positions of tokens for a Rotary.
func positionsOf(a *kit.Arguments, r *rotaryArgument) []int32 {
	tokens := a.Tokens()
	positions := a.Positions(r.axes * tokens)
	if !a.Any() && r.axes > 1 {
		for axis := range r.axes {
			a.FillPositions(positions[axis*tokens:][:tokens])
		}
		likeText(a, positions, r.axes, tokens)
	}
	if !a.Any() && a.Below(4) == 0 {
		for i := range positions {
			if a.R.IntN(4) == 0 {
				positions[i] = kit.OneOf(a.R, hardPositions)
			}
		}
	}
	return positions
}

// likeText makes stretches of tokens those of text, with the same position on all axes,
// or on some.
func likeText(a *kit.Arguments, positions []int32, axes, tokens int) {
	for t := 0; t < tokens; {
		n := min(1+a.R.IntN(40), tokens-t)
		same := []int{1, 1, axes, a.R.IntN(axes) + 1}[a.R.IntN(4)]
		for axis := 1; axis < same; axis++ {
			copy(positions[axis*tokens+t:][:n], positions[t:])
		}
		t += n
	}
}

// axesOf returns a map of pairs to axes: sections, pairs in turn, axes without pairs, one
// axis alone, now and then as many axes as there may be.
func axesOf(a *kit.Arguments, pairs int) []uint8 {
	axes := kit.Input[uint8](a, pairs)
	count := 1 + a.Below(4)
	switch kind := a.Below(6); {
	case kind < 2: // sections
		axis := a.R.IntN(count)
		for i := range axes {
			axes[i] = uint8(axis % count)
			if a.R.IntN(8) == 0 {
				axis++
			}
		}
	case kind == 2: // in turn
		for i := range axes {
			axes[i] = uint8(i % count)
		}
	case kind == 3: // one
		for i := range axes {
			axes[i] = uint8(count - 1)
		}
	default:
		for i := range axes {
			axes[i] %= uint8(count)
		}
	}
	if kind := a.Below(10); kind < 2 && len(axes) > 0 && (a.Any() || len(axes) < 64) {
		axes[a.R.IntN(len(axes))] = []uint8{39, 255}[kind]
	}
	return axes
}

// configOf returns a configuration that a Rotary takes; where any arguments are wanted
// some field may be anything.
func configOf(a *kit.Arguments) posenc.RotaryConfig {
	cfg := geometryOf(a)
	pairs := plainOf(cfg).rotaryDim / 2
	cfg.Rounding = frequency.Rounding(a.Below(2))
	cfg.InvFreq = kit.LadderOf(pairs)
	switch a.Below(8) {
	case 0:
		cfg.Axes = axesOf(a, pairs)
	case 1:
		if pairs > 20 {
			break // math/big takes its time
		}
		cfg.XPos = &posenc.XPos{ScaleBase: a.Real(512), Center: int32(a.Number(-9, 9)), Keys: a.Yes()}
	case 2:
		if pairs < 64 { // correct rounding takes its time
			cfg.InvFreq, cfg.Base = nil, []float64{0, 500000, 2, 1e6, 1.0625}[a.Below(5)]
		}
	case 3:
		if !a.Ordinary() {
			cfg.InvFreq = kit.RandomFrequencies(a.R, pairs, hardPositions, a.Yes())
		}
	case 4:
		cfg.AttentionFactor = []float64{1.2079441541679836, 0.1, 3e38, 1e-30}[a.Below(4)]
	}
	if a.Ordinary() {
		cfg.AttentionFactor, cfg.XPos = 0, nil
	}
	if !a.Any() {
		return cfg
	}
	switch a.Below(16) {
	case 0:
		cfg.HeadDim = a.Number(1, 80)
	case 1:
		cfg.RotaryDim = a.Number(0, 80)
	case 2:
		cfg.Offset = a.Number(0, 80)
	case 3:
		cfg.Layout = posenc.Layout(a.Next())
	case 4:
		cfg.Base = a.Real(1e4)
	case 5:
		cfg.InvFreq = kit.Input[float64](a, pairs)
	case 6:
		cfg.AttentionFactor = a.Real(1.5)
	case 7:
		cfg.Rounding = frequency.Rounding(a.Next())
	case 8:
		cfg.Axes = kit.Input[uint8](a, pairs)
	}
	return cfg
}

// cosSin returns the cosines and sines of positions, [tokens][pairs].
func (r *rotaryArgument) cosSin(positions []int32) (cos, sin []float32) {
	cos, sin = plainTables(r.cfg, positions, byGeneric)
	if r.cfg.XPos == nil {
		return cos, sin
	}
	decays := decaysOf(r.cfg.XPos, plainOf(r.cfg).rotaryDim)
	for i := range cos {
		factor := decays(i%r.pairs(), float64(positions[i/r.pairs()]))
		cos[i], sin[i] = cos[i]*factor, sin[i]*factor
	}
	return cos, sin
}

// takes reports whether the Rotary takes the positions.
func takes[P int32 | float32](r *rotaryArgument, positions []P) bool {
	return !r.zero && len(positions)%r.axes == 0 && kit.AnglesInRange(kit.FrequenciesOf(r.cfg), positions)
}

// anglesArgument is Angles of any kind, and what is known of them.
type anglesArgument struct {
	posenc.Angles
	headDim, tokens int
	heads           int // with rows of their own; 0: all share them
	right           func() bool
	plain           func() plain                     // of all tokens
	of              func(tokens []int) posenc.Angles // of some tokens
	shared          func(memory []byte) bool         // with a table of the caller; nil: with none
}

// anglesOf returns the Angles of tokens: of positions, of rows of positions, and of
// rows of a table of any type; where any arguments are wanted also zero ones.
func anglesOf(a *kit.Arguments) anglesArgument { return anyAngles(a, false) }

// uniformAngles are anglesOf without rows for each head and tokens that do not rotate.
func uniformAngles(a *kit.Arguments) anglesArgument { return anyAngles(a, true) }

func anyAngles(a *kit.Arguments, uniform bool) anglesArgument {
	switch a.Below(8) {
	case 0:
		return tableAngles[float32](a, uniform)
	case 1:
		return tableAngles[posenc.Float16](a, uniform)
	case 2:
		return tableAngles[posenc.BFloat16](a, uniform)
	case 3, 4:
		return rowsAngles(a, uniform)
	case 5:
		return fractionalAngles(a)
	case 6:
		if !uniform && a.Yes() {
			return unrotatedAngles(a)
		}
	}
	r := rotaryOf(a)
	positions := positionsOf(a, &r)
	p := plainOf(r.cfg)
	n := anglesArgument{
		Angles: r.at(positions), headDim: p.headDim, tokens: len(positions) / r.axes,
		right: func() bool { return takes(&r, positions) },
		plain: func() plain { return p.with(r.cosSin(positions)) },
		of:    func(tokens []int) posenc.Angles { return r.at(kit.PickAxes(positions, r.axes, tokens)) },
	}
	if a.Rarely() {
		n.Angles, n.right = posenc.Angles{}, func() bool { return false }
	}
	return n
}

// unrotatedAngles returns Angles of tokens that do not rotate.
func unrotatedAngles(a *kit.Arguments) anglesArgument {
	r, tokens := rotaryOf(a), a.Number(0, 30)
	p := plainOf(r.cfg)
	p.out = p.in
	return anglesArgument{
		Angles: r.Unrotated(tokens), headDim: p.headDim, tokens: tokens,
		right: func() bool { return !r.zero && tokens >= 0 },
		plain: func() plain {
			p := p
			p.unrotated = slices.Repeat([]bool{true}, tokens)
			return p
		},
		of: func(tokens []int) posenc.Angles { return r.Unrotated(len(tokens)) },
	}
}

// fractionalAngles returns Angles of positions that are not integers.
func fractionalAngles(a *kit.Arguments) anglesArgument {
	r := rotaryOf(a)
	for !a.Any() && r.cfg.XPos != nil {
		r = rotaryOf(a)
	}
	positions := kit.Slice[float32](a, r.axes*a.Tokens())
	for i := range positions {
		if !a.Any() || a.Yes() {
			positions[i] = float32(a.R.NormFloat64() * math.Ldexp(1, a.R.IntN(12)-6))
		}
	}
	p := plainOf(r.cfg)
	return anglesArgument{
		Angles: r.atFractional(positions), headDim: p.headDim, tokens: len(positions) / r.axes,
		right: func() bool { return r.cfg.XPos == nil && takes(&r, positions) },
		plain: func() plain { return p.with(plainTables(r.cfg, positions, byGeneric)) },
		of: func(tokens []int) posenc.Angles {
			return r.atFractional(kit.PickAxes(positions, r.axes, tokens))
		},
		shared: func(memory []byte) bool { return kit.Share(memory, positions) },
	}
}

// taken sets which rows the tokens of n take.
func (n *anglesArgument) taken(a *kit.Arguments, uniform bool, rows *posenc.Rows, count int) (ids func() []int32) {
	if a.Below(4) == 0 {
		n.Angles, n.tokens = rows.All(), count
		n.right = func() bool { return true }
		n.of = func(tokens []int) posenc.Angles { return rows.At(numbers32(tokens)) }
		return func() []int32 { return kit.Sequence(count) }
	}
	list := a.IDs(max(0, min(a.Tokens(), 64*count)), count)
	some := !uniform && a.Below(3) == 0 // runs of tokens that do not rotate
	for i := range list {
		if some && !a.Any() && (a.R.IntN(5) == 0 || i > 0 && list[i-1] < 0 && a.Yes()) {
			list[i] = -1 - int32(a.R.IntN(2))*math.MaxInt32
		}
	}
	at := rows.At
	if some {
		at = rows.AtSome
	}
	n.Angles, n.tokens = at(list), len(list)
	n.right = func() bool {
		return !slices.ContainsFunc(list, func(id int32) bool { return id < 0 && !some || int(id) >= count })
	}
	n.of = func(tokens []int) posenc.Angles { return at(kit.Pick(list, tokens)) }
	return func() []int32 { return list }
}

func numbers32(numbers []int) []int32 {
	s := make([]int32, len(numbers))
	for i, n := range numbers {
		s[i] = int32(n)
	}
	return s
}

func wrongAngles(angles posenc.Angles) anglesArgument {
	return anglesArgument{Angles: angles, headDim: 4, right: func() bool { return false }}
}

func (n *anglesArgument) shares(memory []byte) bool { return n.shared != nil && n.shared(memory) }

// rowsAngles returns Angles of rows of positions.
func rowsAngles(a *kit.Arguments, uniform bool) anglesArgument {
	r := rotaryOf(a)
	positions := positionsOf(a, &r)
	if r.Rotary == nil {
		return wrongAngles((*posenc.Rows)(nil).All())
	}
	rows, err := r.rows(positions)
	if err != nil {
		return wrongAngles(new(posenc.Rows).At(positions))
	}
	positions = slices.Clone(positions) // other arguments may lie there too
	p := plainOf(r.cfg)
	n := anglesArgument{headDim: p.headDim}
	count := len(positions) / r.axes
	ids := n.taken(a, uniform, rows, count)
	n.plain = func() plain {
		tokens, p := make([]int, n.tokens), p
		p.unrotated = make([]bool, n.tokens)
		for i, id := range ids() {
			tokens[i], p.unrotated[i] = max(int(id), 0), id < 0
		}
		return p.with(r.cosSin(kit.PickAxes(positions, r.axes, tokens)))
	}
	return n
}

// tableOf returns a table for the slice of a head, in memory that may be written to.
func tableOf[C posenc.Element](a *kit.Arguments, uniform bool) (posenc.RowsConfig, posenc.Table[C]) {
	cfg := geometryOf(a)
	t := posenc.Table[C]{FullWidth: a.Yes()}
	pairs := plainOf(cfg).rotaryDim / 2
	width := pairs
	if t.FullWidth {
		width *= 2
	}
	heads := 0
	if !uniform && a.Below(3) == 0 {
		heads = a.Number(0, 4)
	}
	rows, head := a.Below(12), width
	width = kit.Small(width, max(heads, 1))
	if a.Below(4) == 0 { // [rows][cos|sin]
		t.Stride = 2 * width
		t.Cos = kit.Slice[C](a, a.Size(rows, t.Stride))
		t.Sin = t.Cos[min(width, len(t.Cos)):]
	} else if a.Yes() {
		t.Stride = a.Number(width, 2*width+3)
		n := a.Size(max(rows-1, 0), t.Stride) + a.Size(width)
		t.Cos, t.Sin = kit.Slice[C](a, n), kit.Slice[C](a, n)
	} else {
		t.Cos, t.Sin = kit.Slice[C](a, a.Size(rows, width)), kit.Slice[C](a, a.Size(rows, width))
	}
	equal := a.Below(6)
	for row := 0; t.FullWidth && !a.Any() && heads == 0 && row+width <= len(t.Sin); row += max(t.Stride, head) {
		for i := range pairs { // the halves of a row may be equal, or those of its cosines or sines
			first, second := kit.PairAt(plainOf(cfg).out, row, i, pairs)
			if equal < 3 {
				t.Cos[second] = t.Cos[first]
			}
			if equal < 2 || equal == 3 {
				t.Sin[second] = t.Sin[first]
			}
		}
	}
	if a.Rarely() {
		cfg = configOf(a)
	}
	return posenc.RowsConfig{HeadDim: cfg.HeadDim, RotaryDim: cfg.RotaryDim, Offset: cfg.Offset, Layout: cfg.Layout, Heads: heads}, t
}

// tableAngles returns Angles of rows of a table.
func tableAngles[C posenc.Element](a *kit.Arguments, uniform bool) anglesArgument {
	cfg, t := tableOf[C](a, uniform)
	rows, err := posenc.NewRows(cfg, t)
	if err != nil {
		return wrongAngles(new(posenc.Rows).All())
	}
	n := anglesArgument{headDim: cfg.HeadDim, heads: cfg.Heads}
	n.shared = func(memory []byte) bool {
		return kit.Share(memory, t.Cos) || kit.Share(memory, t.Sin)
	}
	ids := n.taken(a, uniform, rows, rows.Len())
	p := plainOf(posenc.RotaryConfig{HeadDim: cfg.HeadDim, RotaryDim: cfg.RotaryDim, Offset: cfg.Offset, Layout: cfg.Layout})
	p.heads = cfg.Heads
	n.plain = func() plain { return rowsOf(p, t, ids()) }
	return n
}

// viewsOf returns views in place that the Angles are for, as far as arguments are right.
func viewsOf[T posenc.Element](a *kit.Arguments, angles *anglesArgument) []posenc.View[T] {
	if angles.heads == 0 || a.Rarely() {
		return kit.OutputViews[T](a, angles.tokens, angles.headDim)
	}
	xs := make([]posenc.View[T], 1+a.Below(2))
	for i := range xs {
		xs[i] = kit.ViewOfHeads[T](a, angles.tokens, angles.heads, angles.headDim)
		kit.WritesView(a, &xs[i], angles.tokens, angles.headDim)
	}
	return xs
}

// headsRight reports whether the Angles are for the given heads.
func (n *anglesArgument) headsRight(heads int) bool { return n.heads == 0 || n.heads == heads }

// viewsRight reports whether there are views, and they have the shape for the tokens, and share no
// element.
func viewsRight[T posenc.Element](xs []posenc.View[T], tokens, dim int) bool {
	if len(xs) == 0 {
		return false
	}
	touched := map[*T]bool{}
	for i := range xs {
		v := &xs[i]
		if !kit.Allowed(v, tokens, dim, len(v.Data)) {
			return false
		}
		for t := range tokens {
			for h := range v.Heads {
				row := v.Data[kit.RowAt(v, t, h, dim):][:dim]
				for j := range row {
					if touched[&row[j]] {
						return false
					}
					touched[&row[j]] = true
				}
			}
		}
	}
	return true
}

// Inputs of digests.

var (
	digestLayouts   = []string{"HalfSplit", "Interleaved", "InterleavedToHalfSplit", "HalfSplitToInterleaved"} // of allLayouts
	digestRoundings = []string{frequency.Exact: "Exact", frequency.Float32: "Float32"}
)

// digestGeometry returns a configuration of pairs, of whole heads or of a slice.
func digestGeometry(d *kit.Digest, layout posenc.Layout, pairs int) posenc.RotaryConfig {
	cfg := posenc.RotaryConfig{HeadDim: 2 * pairs, Layout: layout}
	if d.Below(2) == 0 {
		cfg.RotaryDim, cfg.Offset = 2*pairs, d.Below(10)
		cfg.HeadDim += cfg.Offset + d.Below(10)
	}
	return cfg
}

// digestConfig returns one with frequencies and a factor.
func digestConfig(d *kit.Digest, layout posenc.Layout, rounding frequency.Rounding, pairs int) posenc.RotaryConfig {
	cfg := digestGeometry(d, layout, pairs)
	cfg.Rounding, cfg.InvFreq = rounding, d.Frequencies(pairs)
	cfg.AttentionFactor = []float64{0, 0, 1.2079441541679836, 0x1.8p-70}[d.Below(4)]
	return cfg
}

// digestAxisMaps are maps of 32 pairs.
func digestAxisMaps(d *kit.Digest) [][]uint8 {
	sections, err := frequency.Sections(8, 12, 12)
	d.Must(err)
	interleaved, err := frequency.InterleavedSections(frequency.ImageSections{Time: 12, Height: 10, Width: 10})
	d.Must(err)
	alternating, err := frequency.AlternatingSections(frequency.ImageSections{Time: 10, Height: 11, Width: 11})
	d.Must(err)
	return [][]uint8{sections, interleaved, alternating}
}
