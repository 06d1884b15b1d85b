package posenc_test

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"

	"github.com/go-posenc/posenc"
)

// FuzzRotateElements rotates one or two views of one piece of memory, of any
// type and shape.
func FuzzRotateElements(f *testing.F) {
	f.Add([]byte{0, 7, 0, 0, 0, 1, 8, 4, 5, 0, 5, 0, 1, 0, 0}, []byte{1, 0, 0, 0}, []byte(nil), []byte("some data here.."))
	f.Add([]byte{4, 11, 2, 3, 4, 2, 12, 2, 7, 1, 7, 6, 0, 3, 7, 12, 9, 0}, []byte{0, 0, 0, 128}, []byte{1, 2}, []byte{0, 0, 128, 127, 1, 0, 0, 0})
	f.Add([]byte{8, 15, 3, 1, 1, 3, 24, 3, 5, 0, 7, 8, 0, 9, 7, 24, 0, 0, 0}, []byte{255, 255, 255, 127}, []byte(nil), []byte{0, 0, 192, 127, 255, 251, 255, 123})
	f.Fuzz(func(t *testing.T, shape, positionData, frequencyData, data []byte) {
		c := testkit.Choices(shape)
		switch c.Below(12) / 4 {
		case 0:
			fuzzRotateElements[float32](t, &c, positionData, frequencyData, data)
		case 1:
			fuzzRotateElements[posenc.Float16](t, &c, positionData, frequencyData, data)
		default:
			fuzzRotateElements[posenc.BFloat16](t, &c, positionData, frequencyData, data)
		}
	})
}

func fuzzRotateElements[T posenc.Element](t *testing.T, c *testkit.Choices, positionData, frequencyData, data []byte) {
	cfg := c.Geometry()
	cfg.Angles = posenc.AngleRounding(c.Below(2))
	cfg.InvFreq = testkit.Repeat64(cfg.RotaryDim/2, frequencyData)
	inverse := c.Below(3) == 0
	tokens := c.Below(25)
	positions := testkit.RepeatPositions(tokens, positionData, uint8(c.Below(9)))
	if _, err := posenc.NewRotary(cfg); err != nil {
		return
	}
	views, starts, right := make([]posenc.View[T], 1+c.Below(2)), make([]int, 2), true
	lengths := make([]int, 2)
	var taken []map[int]bool
	size := 0
	for i := range views {
		views[i], starts[i], lengths[i] = testkit.ChosenView[T](c, tokens, cfg.HeadDim)
		right = right && testkit.Allowed(&views[i], tokens, cfg.HeadDim, lengths[i])
		size = max(size, starts[i]+lengths[i])
		if !right {
			continue
		}
		touched := map[int]bool{}
		for token := range tokens {
			for h := range views[i].Heads {
				for j := range cfg.HeadDim {
					touched[starts[i]+testkit.RowAt(&views[i], token, h, cfg.HeadDim)+j] = true
				}
			}
		}
		for _, other := range taken {
			right = right && !share(touched, other)
		}
		taken = append(taken, touched)
	}
	before := testkit.ChosenElements[T](size, data)
	want, written := slices.Clone(before), make([]bool, size)
	if right && testkit.InRange(cfg.InvFreq, positions) {
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
	testkit.CheckFuzz(t, before, want, written, right, !right, func(x []T) error {
		xs := slices.Clone(views)
		for i := range xs {
			xs[i].Data = x[starts[i]:][:lengths[i]]
		}
		if inverse {
			return posenc.RotateInverse(testkit.MustRotary(t, cfg).At(positions), xs...)
		}
		return posenc.Rotate(testkit.MustRotary(t, cfg).At(positions), xs...)
	})
}

// FuzzRotateInto rotates a view of any shape into one of any other, from any
// type to any.
func FuzzRotateInto(f *testing.F) {
	f.Add([]byte{0, 7, 0, 0, 0, 3, 0, 8, 4, 5, 0, 5, 0, 1, 0, 0, 4, 5, 0, 5, 0, 1}, []byte{1, 0, 0, 0}, []byte{3, 1, 255, 1}, []byte("some data here.."))
	f.Add([]byte{3, 11, 2, 3, 4, 2, 1, 12, 2, 7, 1, 7, 6, 0, 3, 7, 12, 9, 0}, []byte{0, 0, 0, 128}, []byte{0, 1, 2, 3, 4}, []byte{0, 0, 128, 127, 1, 0, 0, 0})
	f.Add([]byte{7, 15, 3, 1, 1, 3, 0, 24, 3, 5, 0, 7, 8, 0, 9, 7, 24, 0, 0, 0}, []byte{255, 255, 255, 127}, []byte{200, 5}, []byte{0, 0, 192, 127, 255, 251, 255, 123})
	f.Fuzz(func(t *testing.T, shape, positionData, slotData, data []byte) {
		c := testkit.Choices(shape)
		[]func(*testing.T, *testkit.Choices, []byte, []byte, []byte){
			fuzzRotateInto[float32, float32], fuzzRotateInto[float32, posenc.Float16], fuzzRotateInto[float32, posenc.BFloat16],
			fuzzRotateInto[posenc.Float16, float32], fuzzRotateInto[posenc.Float16, posenc.Float16], fuzzRotateInto[posenc.Float16, posenc.BFloat16],
			fuzzRotateInto[posenc.BFloat16, float32], fuzzRotateInto[posenc.BFloat16, posenc.Float16], fuzzRotateInto[posenc.BFloat16, posenc.BFloat16],
		}[c.Below(9)](t, &c, positionData, slotData, data)
	})
}

func fuzzRotateInto[D, S posenc.Element](t *testing.T, c *testkit.Choices, positionData, slotData, data []byte) {
	cfg := c.Geometry()
	cfg.Angles, cfg.InvFreq = posenc.AngleRounding(c.Below(2)), testkit.LadderOf(cfg.RotaryDim/2)
	tokens := c.Below(25)
	positions := testkit.RepeatPositions(tokens, positionData, uint8(c.Below(9)))
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
	src, from, srcLength := testkit.ChosenView[S](c, tokens, cfg.HeadDim)
	dst, to, dstLength := testkit.ChosenView[D](c, reach, cfg.HeadDim)
	if c.Below(8) > 0 {
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
	right := dst.Heads == src.Heads && testkit.Allowed(&src, tokens, cfg.HeadDim, srcLength) && testkit.Allowed(&shape, last, cfg.HeadDim, dstLength)
	given := testkit.ChosenElements[S](from+srcLength, data)
	before := testkit.ChosenElements[D](to+dstLength, append(slices.Clone(data), 1, 2, 3, 4))
	want, written := slices.Clone(before), make([]bool, len(before))
	if right {
		p := plainOf(cfg).with(plainTables(t, cfg, positions))
		rotatePlain(&p, want[to:], &dst, slots, given[from:], &src, tokens, true, written[to:])
	}
	testkit.CheckFuzz(t, before, want, written, right, !right, func(x []D) error {
		read := slices.Clone(given)
		src.Data, dst.Data = read[from:], x[to:]
		err := posenc.RotateInto(testkit.MustRotary(t, cfg).At(positions), dst, slots, src)
		testkit.Compare(t, "src", read, given, make([]bool, len(given)))
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
		c := testkit.Choices(shape)
		[]func(*testing.T, *testkit.Choices, []byte, []byte){
			fuzzTable[float32, float32], fuzzTable[float32, posenc.Float16], fuzzTable[float32, posenc.BFloat16],
			fuzzTable[posenc.Float16, float32], fuzzTable[posenc.Float16, posenc.Float16], fuzzTable[posenc.Float16, posenc.BFloat16],
			fuzzTable[posenc.BFloat16, float32], fuzzTable[posenc.BFloat16, posenc.Float16], fuzzTable[posenc.BFloat16, posenc.BFloat16],
		}[c.Below(9)](t, &c, idData, data)
	})
}

func fuzzTable[T, C posenc.Element](t *testing.T, c *testkit.Choices, idData, data []byte) {
	cfg := c.Geometry()
	rows, tokens := c.Below(40), c.Below(25)
	width := cfg.RotaryDim / 2
	table := posenc.Table[C]{FullWidth: c.Below(2) == 1}
	if table.FullWidth {
		width *= 2
	}
	table.Stride = []int{0, width, width + 3, 2 * width, width - 1, -width, math.MaxInt}[c.Below(7)]
	stride := table.Stride
	if stride == 0 {
		stride = width
	}
	length := 0
	if rows > 0 && stride > 0 && stride < 1<<12 {
		length = (rows-1)*stride + width
	}
	short := c.Below(8)
	table.Cos, table.Sin = testkit.ChosenElements[C](length+1, data)[:length], testkit.ChosenElements[C](length+1, append(data, 4, 3, 2, 1))[:length]
	if short == 0 && length > 0 {
		table.Sin = table.Sin[:length-1]
	}
	ids := make([]int32, tokens)
	right := short != 0 && stride >= width
	for i := range ids {
		ids[i] = int32(c.Below(max(rows, 1)))
		if len(idData) >= 4*(i+1) {
			ids[i] = int32(binary.LittleEndian.Uint32(idData[4*i:]))
		}
		right = right && ids[i] >= 0 && int(ids[i]) < rows
	}
	right = right && stride < 1<<12 // beyond, the table has no rows
	v := testkit.RandomShape[T](testkit.NewRand(uint64(c.Next())), tokens, 1+c.Below(3), cfg.HeadDim)
	size := testkit.ReachOf(&v, tokens, cfg.HeadDim)
	before := testkit.ChosenElements[T](size, data)
	want, written := slices.Clone(before), make([]bool, size)
	inverse := c.Below(3) == 0
	if right {
		p := rowsOf(plainOf(cfg), table, ids)
		if inverse {
			p = p.inverse()
		}
		rotatePlain(&p, want, &v, nil, want, &v, tokens, false, written)
	}
	rotate := func(r *posenc.Rotary, x []T) error {
		v := v
		v.Data = x
		if inverse {
			return posenc.RotateInverse(r.At(ids), v)
		}
		return posenc.Rotate(r.At(ids), v)
	}
	testkit.CheckFuzz(t, before, want, written, right, !right && tokens > 0, func(x []T) error {
		r, err := posenc.NewTableRotary(cfg, table)
		if err != nil {
			return err
		}
		return rotate(r, x)
	})

	// Rows of positions, which the data says, in steps.
	cfg.InvFreq = testkit.LadderOf(cfg.RotaryDim / 2)
	positions := testkit.RepeatPositions(rows, data, uint8(c.Below(5)))
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
	testkit.CheckFuzz(t, before, want, written, right, !right, func(x []T) error {
		steps := slices.Clone(steps)
		done := steps.Below(rows + 1)
		r, err := testkit.MustRotary(t, cfg).Tabulate(positions[:done])
		for done < rows && err == nil {
			n := min(1+steps.Below(20), rows-done)
			if steps.Below(3) == 0 { // somebody else takes the room
				if _, err = r.Extend([]int32{math.MaxInt32}); err != nil {
					break
				}
			}
			var next *posenc.Rotary
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
		cfg := posenc.RotaryConfig{HeadDim: 2 * pairs, Layout: posenc.Layout(mode & 3), Angles: posenc.AngleRounding(mode >> 2 & 1), Axes: axes[:pairs], InvFreq: testkit.Repeat64(pairs, frequencyData)}
		if _, err := posenc.NewRotary(cfg); err != nil {
			return
		}
		count := int(slices.Max(cfg.Axes)) + 1
		n := testkit.Quick(int(tokens%40), cfg.InvFreq)
		positions := testkit.RepeatPositions(n*count+int(surplus), positionData, mode>>3)
		right := len(positions)%count == 0
		n = len(positions) / count
		if n*pairs > 20000 {
			return
		}
		var wantCos, wantSin []float32
		before := testkit.ChosenElements[float32](n*2*pairs, frequencyData)
		want, written := slices.Clone(before), make([]bool, len(before))
		if right && testkit.InRange(cfg.InvFreq, positions) {
			wantCos, wantSin = plainTables(t, cfg, positions)
			p := plainOf(cfg).with(wantCos, wantSin)
			v := posenc.View[float32]{Heads: 1}
			rotatePlain(&p, want, &v, nil, want, &v, n, false, written)
		} else if right {
			return
		}
		testkit.CheckFuzz(t, before, want, written, right, !right, func(x []float32) error {
			r := testkit.MustRotary(t, cfg)
			cos, sin := make([]float32, n*pairs), make([]float32, n*pairs)
			err := r.CosSin(cos, sin, positions)
			if err == nil && (!testkit.SameSlices(cos, wantCos) || !testkit.SameSlices(sin, wantSin)) {
				t.Fatal("the tables are wrong")
			}
			return errors.Join(err, posenc.Rotate(r.At(positions), posenc.View[float32]{Data: x, Heads: 1}))
		})
	})
}

// FuzzShift shifts elements of any type by any deltas.
func FuzzShift(f *testing.F) {
	f.Add([]byte{0, 7, 0, 0, 0, 3, 0, 8}, []byte{1, 0, 0, 0}, []byte("some data here.."))
	f.Add([]byte{1, 11, 2, 3, 4, 20, 1, 12, 9}, []byte{0, 0, 0, 128}, []byte{0, 0, 128, 127, 1, 0, 0, 0})
	f.Add([]byte{2, 15, 3, 1, 1, 17, 0, 5, 1, 2}, []byte{255, 255, 255, 127, 1, 2, 3, 4}, []byte{0, 0, 192, 127})
	f.Fuzz(func(t *testing.T, shape, deltaData, data []byte) {
		c := testkit.Choices(shape)
		[]func(*testing.T, *testkit.Choices, []byte, []byte){fuzzShift[float32], fuzzShift[posenc.Float16], fuzzShift[posenc.BFloat16]}[c.Below(3)](t, &c, deltaData, data)
	})
}

func fuzzShift[T posenc.Element](t *testing.T, c *testkit.Choices, deltaData, data []byte) {
	cfg := c.Geometry()
	cfg.Angles, cfg.InvFreq, cfg.Scaling = posenc.AngleRounding(c.Below(2)), testkit.LadderOf(cfg.RotaryDim/2), 1.5
	tokens := c.Below(40)
	deltas := testkit.RepeatPositions(tokens, deltaData, uint8(c.Below(5)))
	if c.Below(2) == 0 && tokens > 0 {
		deltas = slices.Repeat(deltas[:1], tokens)
	}
	tabulated := c.Below(2) == 0
	v := testkit.RandomShape[T](testkit.NewRand(uint64(c.Next())), tokens, 1+c.Below(3), cfg.HeadDim)
	before := testkit.ChosenElements[T](testkit.ReachOf(&v, tokens, cfg.HeadDim), data)
	want, written := slices.Clone(before), make([]bool, len(before))
	p := plainOf(shiftOf(cfg)).with(plainTables(t, shiftOf(cfg), deltas))
	rotatePlain(&p, want, &v, nil, want, &v, tokens, false, written)
	testkit.CheckFuzz(t, before, want, written, true, false, func(x []T) error {
		r, err := testkit.MustRotary(t, cfg), error(nil)
		if tabulated {
			r, err = r.Tabulate([]int32{1})
		}
		v := v
		v.Data = x
		return errors.Join(err, posenc.Shift(r, deltas, v))
	})
}
