package posenc

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/go-posenc/posenc/kernels"
)

// choices is bytes of a fuzzer that decide one thing after another.
type choices []byte

func (c *choices) next() int {
	if len(*c) == 0 {
		return 0
	}
	b := (*c)[0]
	*c = (*c)[1:]
	return int(b)
}

// below returns a number from 0 to n-1.
func (c *choices) below(n int) int { return c.next() % n }

// stride returns a small number, sometimes a multiple of dim, sometimes one that
// no memory holds or a negative one.
func (c *choices) stride(dim int) int {
	switch kind, n := c.below(16), c.next(); kind {
	case 0:
		return []int{-1, math.MinInt, math.MaxInt, math.MaxInt/2 + 1, math.MaxInt / 2}[n%5]
	case 1, 2, 3, 4:
		return n
	case 5, 6:
		return 0
	default:
		return n % 40 * dim
	}
}

// fuzzView returns a view of any shape whose data starts at an element of memory and
// holds what its rows need, or a little less or more.
func fuzzView[T Element](c *choices, tokens, dim int) (v View[T], start, length int) {
	v.Heads = c.below(6)
	v.TokenStride, v.HeadStride = c.stride(dim), c.stride(dim)
	if c.below(3) == 0 {
		v.SequenceTokens, v.SequenceStride = c.below(9)-1, c.stride(dim)
	}
	start = c.next()
	if small := 1 << 12; v.TokenStride >= 0 && v.HeadStride >= 0 && v.SequenceStride >= 0 && max(v.TokenStride, v.HeadStride, v.SequenceStride) < small && (v.SequenceStride == 0 || v.SequenceTokens > 0) {
		length = reachOf(&v, tokens, dim)
	}
	length = max(0, length+[]int{0, 0, 0, 0, -1, 1, 7}[c.below(7)])
	return v, start, length
}

// allowed reports whether a view whose data has so many elements is right for
// so many tokens.
func allowed[T Element](v *View[T], tokens, dim, length int) bool {
	switch {
	case v.Heads < 1 || v.TokenStride < 0 || v.HeadStride < 0 || v.SequenceStride < 0:
		return false
	case v.SequenceStride == 0 && v.SequenceTokens != 0:
		return false
	case v.SequenceStride > 0 && (v.SequenceTokens < 1 || tokens%v.SequenceTokens != 0):
		return false
	case tokens == 0:
		return length == 0 || v.TokenStride != 0 || v.HeadStride != 0 || v.SequenceStride != 0
	}
	touched := map[int]bool{}
	for t := range tokens {
		for h := range v.Heads {
			row := rowAt(v, t, h, dim)
			if row < 0 || row > length-dim { // no row start wraps to one inside: strides are at most MaxInt, and each row before is inside
				return false
			}
			for i := range dim {
				if touched[row+i] {
					return false
				}
				touched[row+i] = true
			}
		}
	}
	return v.TokenStride != 0 || v.HeadStride != 0 || v.SequenceStride != 0 || length == len(touched)
}

// fuzzElements returns n elements, the words of data over and over.
func fuzzElements[T Element](n int, data []byte) []T {
	words := make([]float32, n)
	repeat32(words, data)
	s := make([]T, n)
	for i, w := range words {
		s[i] = ofBits[T](math.Float32bits(w))
	}
	return s
}

// geometry returns a configuration of a few pairs.
func (c *choices) geometry() RotaryConfig {
	pairs := 1 + c.below(40)
	cfg := RotaryConfig{HeadDim: 2 * pairs, RotaryDim: 2 * pairs, Layout: Layout(c.below(4))}
	cfg.Offset = c.below(9)
	cfg.HeadDim += cfg.Offset + c.below(9)
	return cfg
}

// inRange reports whether the angles of all positions stay below 2^50.
func inRange(invFreq []float64, positions []int32) bool {
	for _, w := range invFreq {
		for _, p := range positions {
			if !(math.Abs(float64(p)*w) < 1<<49) {
				return false
			}
		}
	}
	return true
}

// checkFuzz makes a call on every implementation: a wrong one fails and writes
// nothing, a right one writes what is wanted. What is neither may fail.
func checkFuzz[T Element](t *testing.T, before, want []T, written []bool, right, wrong bool, call func(x []T) error) {
	t.Helper()
	first, seen := error(nil), false
	onEach(func(impl kernels.Implementation) {
		x := slices.Clone(before)
		err := call(x)
		if seen && (err == nil) != (first == nil) {
			t.Fatalf("%s: error %v, on others %v", impl, err, first)
		}
		first, seen = err, true
		if err != nil && right || err == nil && wrong {
			t.Fatalf("%s: right %t, wrong %t, but error %v", impl, right, wrong, err)
		}
		if err != nil {
			compare(t, impl.String()+" after an error: x", x, before, make([]bool, len(x)))
			return
		}
		compare(t, impl.String()+": x", x, want, written)
	})
}

// FuzzRotateElements rotates one or two views of one piece of memory, of any
// type and shape.
func FuzzRotateElements(f *testing.F) {
	f.Add([]byte{0, 7, 0, 0, 0, 1, 8, 4, 5, 0, 5, 0, 1, 0, 0}, []byte{1, 0, 0, 0}, []byte(nil), []byte("some data here.."))
	f.Add([]byte{4, 11, 2, 3, 4, 2, 12, 2, 7, 1, 7, 6, 0, 3, 7, 12, 9, 0}, []byte{0, 0, 0, 128}, []byte{1, 2}, []byte{0, 0, 128, 127, 1, 0, 0, 0})
	f.Add([]byte{8, 15, 3, 1, 1, 3, 24, 3, 5, 0, 7, 8, 0, 9, 7, 24, 0, 0, 0}, []byte{255, 255, 255, 127}, []byte(nil), []byte{0, 0, 192, 127, 255, 251, 255, 123})
	f.Fuzz(func(t *testing.T, shape, positionData, frequencyData, data []byte) {
		c := choices(shape)
		switch c.below(12) / 4 {
		case 0:
			fuzzRotateElements[float32](t, &c, positionData, frequencyData, data)
		case 1:
			fuzzRotateElements[Float16](t, &c, positionData, frequencyData, data)
		default:
			fuzzRotateElements[BFloat16](t, &c, positionData, frequencyData, data)
		}
	})
}

func fuzzRotateElements[T Element](t *testing.T, c *choices, positionData, frequencyData, data []byte) {
	cfg := c.geometry()
	cfg.Angles = Angles(c.below(2))
	cfg.InvFreq = repeat64(cfg.RotaryDim/2, frequencyData)
	inverse := c.below(3) == 0
	tokens := c.below(25)
	positions := repeatPositions(tokens, positionData, uint8(c.below(9)))
	if _, err := NewRotary(cfg); err != nil {
		return
	}
	views, starts, right := make([]View[T], 1+c.below(2)), make([]int, 2), true
	lengths := make([]int, 2)
	var taken []map[int]bool
	size := 0
	for i := range views {
		views[i], starts[i], lengths[i] = fuzzView[T](c, tokens, cfg.HeadDim)
		right = right && allowed(&views[i], tokens, cfg.HeadDim, lengths[i])
		size = max(size, starts[i]+lengths[i])
		if !right {
			continue
		}
		touched := map[int]bool{}
		for token := range tokens {
			for h := range views[i].Heads {
				for j := range cfg.HeadDim {
					touched[starts[i]+rowAt(&views[i], token, h, cfg.HeadDim)+j] = true
				}
			}
		}
		for _, other := range taken {
			right = right && !share(touched, other)
		}
		taken = append(taken, touched)
	}
	before := fuzzElements[T](size, data)
	want, written := slices.Clone(before), make([]bool, size)
	if right && inRange(cfg.InvFreq, positions) {
		p := plainOf(cfg).with(plainTables(t, cfg, positions))
		if inverse {
			p = p.inverse()
		}
		for i := range views {
			at := starts[i]
			rotatePlain(&p, want[at:], &views[i], nil, want[at:], &views[i], tokens, false, written[at:])
		}
	} else if right {
		return // next to the last position
	}
	checkFuzz(t, before, want, written, right, !right, func(x []T) error {
		xs := slices.Clone(views)
		for i := range xs {
			xs[i].Data = x[starts[i]:][:lengths[i]]
		}
		if inverse {
			return RotateInverse(mustRotary(t, cfg), positions, xs...)
		}
		return Rotate(mustRotary(t, cfg), positions, xs...)
	})
}

// FuzzRotateInto rotates a view of any shape into one of any other, from any
// type to any.
func FuzzRotateInto(f *testing.F) {
	f.Add([]byte{0, 7, 0, 0, 0, 3, 0, 8, 4, 5, 0, 5, 0, 1, 0, 0, 4, 5, 0, 5, 0, 1}, []byte{1, 0, 0, 0}, []byte{3, 1, 255, 1}, []byte("some data here.."))
	f.Add([]byte{3, 11, 2, 3, 4, 2, 1, 12, 2, 7, 1, 7, 6, 0, 3, 7, 12, 9, 0}, []byte{0, 0, 0, 128}, []byte{0, 1, 2, 3, 4}, []byte{0, 0, 128, 127, 1, 0, 0, 0})
	f.Add([]byte{7, 15, 3, 1, 1, 3, 0, 24, 3, 5, 0, 7, 8, 0, 9, 7, 24, 0, 0, 0}, []byte{255, 255, 255, 127}, []byte{200, 5}, []byte{0, 0, 192, 127, 255, 251, 255, 123})
	f.Fuzz(func(t *testing.T, shape, positionData, slotData, data []byte) {
		c := choices(shape)
		[]func(*testing.T, *choices, []byte, []byte, []byte){
			fuzzRotateInto[float32, float32], fuzzRotateInto[float32, Float16], fuzzRotateInto[float32, BFloat16],
			fuzzRotateInto[Float16, float32], fuzzRotateInto[Float16, Float16], fuzzRotateInto[Float16, BFloat16],
			fuzzRotateInto[BFloat16, float32], fuzzRotateInto[BFloat16, Float16], fuzzRotateInto[BFloat16, BFloat16],
		}[c.below(9)](t, &c, positionData, slotData, data)
	})
}

func fuzzRotateInto[D, S Element](t *testing.T, c *choices, positionData, slotData, data []byte) {
	cfg := c.geometry()
	cfg.Angles, cfg.InvFreq = Angles(c.below(2)), ladderOf(cfg.RotaryDim/2)
	tokens := c.below(25)
	positions := repeatPositions(tokens, positionData, uint8(c.below(9)))
	reach := tokens
	var slots []int32
	if len(slotData) > 0 {
		slots = make([]int32, tokens)
		reach = 0
		for i := range slots {
			slots[i] = int32(int8(slotData[i%len(slotData)])) % 40
			reach = max(reach, int(slots[i])+1)
		}
	}
	src, from, srcLength := fuzzView[S](c, tokens, cfg.HeadDim)
	dst, to, dstLength := fuzzView[D](c, reach, cfg.HeadDim)
	if c.below(8) > 0 {
		dst.Heads = src.Heads
	}
	last := reach
	if slots != nil && dst.SequenceStride > 0 && dst.SequenceTokens > 0 {
		last = (reach + dst.SequenceTokens - 1) / dst.SequenceTokens * dst.SequenceTokens
	}
	shape := dst
	if slots != nil && shape.TokenStride == 0 && shape.HeadStride == 0 {
		shape.HeadStride = cfg.HeadDim // not packed: may be longer
	}
	right := dst.Heads == src.Heads && allowed(&src, tokens, cfg.HeadDim, srcLength) && allowed(&shape, last, cfg.HeadDim, dstLength)
	given := fuzzElements[S](from+srcLength, data)
	before := fuzzElements[D](to+dstLength, append(slices.Clone(data), 1, 2, 3, 4))
	want, written := slices.Clone(before), make([]bool, len(before))
	if right {
		p := plainOf(cfg).with(plainTables(t, cfg, positions))
		rotatePlain(&p, want[to:], &dst, slots, given[from:], &src, tokens, true, written[to:])
	}
	checkFuzz(t, before, want, written, right, !right, func(x []D) error {
		read := slices.Clone(given)
		src.Data, dst.Data = read[from:], x[to:]
		err := RotateInto(mustRotary(t, cfg), positions, dst, slots, src)
		compare(t, "src", read, given, make([]bool, len(given)))
		return err
	})
}

// FuzzTable rotates by tables of any type and shape with any numbers of rows,
// and by rows that Tabulate and Extend make in any steps.
func FuzzTable(f *testing.F) {
	f.Add([]byte{0, 7, 0, 0, 0, 3, 0, 8, 1, 4, 5, 0, 5, 0, 1}, []byte{1, 0, 0, 0, 2, 0, 0, 0}, []byte("some data here.."))
	f.Add([]byte{5, 11, 2, 3, 4, 9, 1, 12, 0, 2, 3, 4, 5, 6, 7}, []byte{0, 0, 0, 0}, []byte{0, 0, 128, 127, 1, 0, 0, 0})
	f.Add([]byte{8, 15, 3, 1, 1, 3, 2, 3, 1, 7, 8, 0, 9, 7, 24}, []byte{255, 255, 255, 127}, []byte{0, 0, 192, 127, 0, 0, 0, 128})
	f.Fuzz(func(t *testing.T, shape, idData, data []byte) {
		c := choices(shape)
		[]func(*testing.T, *choices, []byte, []byte){
			fuzzTable[float32, float32], fuzzTable[float32, Float16], fuzzTable[float32, BFloat16],
			fuzzTable[Float16, float32], fuzzTable[Float16, Float16], fuzzTable[Float16, BFloat16],
			fuzzTable[BFloat16, float32], fuzzTable[BFloat16, Float16], fuzzTable[BFloat16, BFloat16],
		}[c.below(9)](t, &c, idData, data)
	})
}

func fuzzTable[T, C Element](t *testing.T, c *choices, idData, data []byte) {
	cfg := c.geometry()
	rows, tokens := c.below(40), c.below(25)
	width := cfg.RotaryDim / 2
	table := Table[C]{FullWidth: c.below(2) == 1}
	if table.FullWidth {
		width *= 2
	}
	table.Stride = []int{0, width, width + 3, 2 * width, width - 1, -width, math.MaxInt}[c.below(7)]
	stride := table.Stride
	if stride == 0 {
		stride = width
	}
	length := 0
	if rows > 0 && stride > 0 && stride < 1<<12 {
		length = (rows-1)*stride + width
	}
	short := c.below(8)
	table.Cos, table.Sin = fuzzElements[C](length+1, data)[:length], fuzzElements[C](length+1, append(data, 4, 3, 2, 1))[:length]
	if short == 0 && length > 0 {
		table.Sin = table.Sin[:length-1]
	}
	ids := make([]int32, tokens)
	right := short != 0 && stride >= width
	for i := range ids {
		ids[i] = int32(c.below(max(rows, 1)))
		if len(idData) >= 4*(i+1) {
			ids[i] = int32(binary.LittleEndian.Uint32(idData[4*i:]))
		}
		right = right && ids[i] >= 0 && int(ids[i]) < rows
	}
	right = right && stride < 1<<12 // beyond, the table has no rows
	v := randomShape[T](newRand(uint64(c.next())), tokens, 1+c.below(3), cfg.HeadDim)
	size := reachOf(&v, tokens, cfg.HeadDim)
	before := fuzzElements[T](size, data)
	want, written := slices.Clone(before), make([]bool, size)
	inverse := c.below(3) == 0
	if right {
		p := rowsOf(plainOf(cfg), table, ids)
		if inverse {
			p = p.inverse()
		}
		rotatePlain(&p, want, &v, nil, want, &v, tokens, false, written)
	}
	rotate := func(r *Rotary, x []T) error {
		v := v
		v.Data = x
		if inverse {
			return RotateInverse(r, ids, v)
		}
		return Rotate(r, ids, v)
	}
	checkFuzz(t, before, want, written, right, !right && tokens > 0, func(x []T) error {
		r, err := NewTableRotary(cfg, table)
		if err != nil {
			return err
		}
		return rotate(r, x)
	})

	// Rows of positions, which the data says, in steps.
	cfg.InvFreq = ladderOf(cfg.RotaryDim / 2)
	positions := repeatPositions(rows, data, uint8(c.below(5)))
	right = true
	for _, id := range ids {
		right = right && id >= 0 && int(id) < rows
	}
	copy(want, before)
	clear(written)
	if right {
		taken := make([]int32, tokens)
		for i, id := range ids {
			taken[i] = positions[id]
		}
		p := plainOf(cfg).with(plainTables(t, cfg, taken))
		if inverse {
			p = p.inverse()
		}
		rotatePlain(&p, want, &v, nil, want, &v, tokens, false, written)
	}
	steps := *c
	checkFuzz(t, before, want, written, right, !right, func(x []T) error {
		steps := slices.Clone(steps)
		done := steps.below(rows + 1)
		r, err := mustRotary(t, cfg).Tabulate(positions[:done])
		for done < rows && err == nil {
			n := min(1+steps.below(20), rows-done)
			if steps.below(3) == 0 { // somebody else takes the room
				if _, err = r.Extend([]int32{math.MaxInt32}); err != nil {
					break
				}
			}
			var next *Rotary
			if next, err = r.Extend(positions[done : done+n]); err == nil {
				r = next
			}
			done += n
		}
		return errors.Join(err, rotate(r, x))
	})
}

// FuzzAxes writes tables and rotates by any map of axes, with any positions.
func FuzzAxes(f *testing.F) {
	f.Add([]byte{0, 0, 1, 1, 2, 2}, uint8(5), uint8(0), uint8(0), []byte{1, 0, 0, 0, 7, 0, 0, 0}, []byte(nil))
	f.Add([]byte{0, 1, 2, 0, 1, 2, 0}, uint8(33), uint8(3), uint8(0), []byte{0, 0, 0, 128, 255, 255, 255, 127}, []byte(nil))
	f.Add([]byte{1, 1, 255, 1}, uint8(1), uint8(4), uint8(1), []byte{9, 9, 9, 9}, binary.LittleEndian.AppendUint64(nil, math.Float64bits(0x1p40)))
	f.Fuzz(func(t *testing.T, axes []byte, tokens, mode, surplus uint8, positionData, frequencyData []byte) {
		pairs := min(len(axes), 200)
		if pairs == 0 {
			return
		}
		cfg := RotaryConfig{HeadDim: 2 * pairs, Layout: Layout(mode & 3), Angles: Angles(mode >> 2 & 1), Axes: axes[:pairs], InvFreq: repeat64(pairs, frequencyData)}
		if _, err := NewRotary(cfg); err != nil {
			return
		}
		count := int(slices.Max(cfg.Axes)) + 1
		n := quick(int(tokens%40), cfg.InvFreq)
		positions := repeatPositions(n*count+int(surplus), positionData, mode>>3)
		right := len(positions)%count == 0
		n = len(positions) / count
		if n*pairs > 20000 {
			return
		}
		var wantCos, wantSin []float32
		before := fuzzElements[float32](n*2*pairs, frequencyData)
		want, written := slices.Clone(before), make([]bool, len(before))
		if right && inRange(cfg.InvFreq, positions) {
			wantCos, wantSin = plainTables(t, cfg, positions)
			p := plainOf(cfg).with(wantCos, wantSin)
			v := View[float32]{Heads: 1}
			rotatePlain(&p, want, &v, nil, want, &v, n, false, written)
		} else if right {
			return
		}
		checkFuzz(t, before, want, written, right, !right, func(x []float32) error {
			r := mustRotary(t, cfg)
			cos, sin := make([]float32, n*pairs), make([]float32, n*pairs)
			err := r.CosSin(cos, sin, positions)
			if err == nil && (!sameSlices(cos, wantCos) || !sameSlices(sin, wantSin)) {
				t.Fatal("the tables are wrong")
			}
			return errors.Join(err, Rotate(r, positions, View[float32]{Data: x, Heads: 1}))
		})
	})
}

// FuzzShift shifts elements of any type by any deltas.
func FuzzShift(f *testing.F) {
	f.Add([]byte{0, 7, 0, 0, 0, 3, 0, 8}, []byte{1, 0, 0, 0}, []byte("some data here.."))
	f.Add([]byte{1, 11, 2, 3, 4, 20, 1, 12, 9}, []byte{0, 0, 0, 128}, []byte{0, 0, 128, 127, 1, 0, 0, 0})
	f.Add([]byte{2, 15, 3, 1, 1, 17, 0, 5, 1, 2}, []byte{255, 255, 255, 127, 1, 2, 3, 4}, []byte{0, 0, 192, 127})
	f.Fuzz(func(t *testing.T, shape, deltaData, data []byte) {
		c := choices(shape)
		[]func(*testing.T, *choices, []byte, []byte){fuzzShift[float32], fuzzShift[Float16], fuzzShift[BFloat16]}[c.below(3)](t, &c, deltaData, data)
	})
}

func fuzzShift[T Element](t *testing.T, c *choices, deltaData, data []byte) {
	cfg := c.geometry()
	cfg.Angles, cfg.InvFreq, cfg.Scaling = Angles(c.below(2)), ladderOf(cfg.RotaryDim/2), 1.5
	tokens := c.below(40)
	deltas := repeatPositions(tokens, deltaData, uint8(c.below(5)))
	if c.below(2) == 0 && tokens > 0 {
		deltas = slices.Repeat(deltas[:1], tokens)
	}
	tabulated := c.below(2) == 0
	v := randomShape[T](newRand(uint64(c.next())), tokens, 1+c.below(3), cfg.HeadDim)
	before := fuzzElements[T](reachOf(&v, tokens, cfg.HeadDim), data)
	want, written := slices.Clone(before), make([]bool, len(before))
	p := plainOf(shiftOf(cfg)).with(plainTables(t, shiftOf(cfg), deltas))
	rotatePlain(&p, want, &v, nil, want, &v, tokens, false, written)
	checkFuzz(t, before, want, written, true, false, func(x []T) error {
		r, err := mustRotary(t, cfg), error(nil)
		if tabulated {
			r, err = r.Tabulate([]int32{1})
		}
		v := v
		v.Data = x
		return errors.Join(err, Shift(r, deltas, v))
	})
}
