package posenc_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/relative"
)

// FuzzPositions fills in positions, coordinates and scales of queries by every function
// that does, and compares them with their definitions, element by element; what a
// definition does not allow fails and writes nothing.
func FuzzPositions(f *testing.F) {
	for function := range uint8(8) {
		f.Add(function, []byte(nil))
		f.Add(function, []byte("\x05\x07\x04\x07\x09\x07\x03\x07\x02\x07\x08\x07\x06\x07\x07\x07\x0c\x07\x01\x07\x30\x07\x22\x07\x11"))
		f.Add(function, []byte("\x09\x00\x01\x01\x02\x07\x03\x00\x00\x00\x05\x01\xff\xff\xff\x7f\x00\x02\x07\x14\x07\x12\x07\x10"))
	}
	f.Fuzz(func(t *testing.T, function uint8, shape []byte) {
		c := testkit.Choices(shape)
		[]func(*testing.T, *testkit.Choices){fuzzRagged, fuzzDualChunk, fuzzQueryScales, fuzzPadded, fuzzDescending, fuzzDETR, fuzzXLNet, fuzzSwinCoordinates}[function%8](t, &c)
	})
}

// checkDefined makes a call that fills in a slice of n elements, at(i) each.
func checkDefined[T int32 | float32](t *testing.T, n int, right bool, at func(i int) T, call func(filled []T) error) {
	t.Helper()
	filled := make([]T, n)
	for i := range filled {
		filled[i] = 77
	}
	before := slices.Clone(filled)
	err := call(filled)
	if (err == nil) != right {
		t.Fatalf("right %t, error %v", right, err)
	}
	if err != nil {
		if !slices.Equal(filled, before) {
			t.Fatalf("written before the error %v", err)
		}
		return
	}
	for i, got := range filled {
		if want := at(i); got != want {
			t.Fatalf("element %d of %d is %v, want %v", i, n, got, want)
		}
	}
}

func fuzzRagged(t *testing.T, c *testkit.Choices) {
	sequences, tokens := c.Below(8), 0
	var starts, offsets []int32
	for range sequences + 1 {
		starts = append(starts, int32(tokens))
		tokens += c.Below(20)
	}
	n := int(starts[sequences])
	switch c.Below(8) {
	case 0:
		starts[c.Next()%len(starts)] = c.Number32()
	case 1:
		starts = starts[:c.Next()%len(starts)]
	case 2:
		n = c.Next()
	}
	if c.Below(3) > 0 {
		offsets = c.Numbers32(sequences)
		if c.Below(8) == 0 {
			offsets = c.Numbers32(c.Below(9))
		}
	}
	offset := func(sequence int) int64 {
		if offsets == nil {
			return 0
		}
		return int64(offsets[sequence])
	}
	right := len(starts) > 0 && starts[0] == 0 && int(starts[len(starts)-1]) == n && (offsets == nil || len(offsets) == len(starts)-1)
	for b := 0; right && b < len(starts)-1; b++ {
		length := int64(starts[b+1]) - int64(starts[b])
		right = length >= 0 && (length == 0 || offset(b)+length-1 <= math.MaxInt32)
	}
	checkDefined(t, n, right, func(i int) int32 {
		b := 0
		for int(starts[b+1]) <= i {
			b++
		}
		return int32(offset(b) + int64(i) - int64(starts[b]))
	}, func(positions []int32) error { return posenc.RaggedPositions(positions, starts, offsets) })
}

func fuzzDualChunk(t *testing.T, c *testkit.Choices) {
	d := posenc.DualChunk{ChunkSize: c.Number32(), LocalSize: c.Number32()}
	positions := c.Numbers32(c.Below(20))
	which := posenc.DualChunkQuery(c.Below(7)) // the last one is keys
	size, n := int64(d.ChunkSize), int64(d.ChunkSize)-int64(d.LocalSize)
	right := size >= 1 && size <= 1<<30 && d.LocalSize >= 0 && n > 0 && which != 5
	for _, p := range positions {
		right = right && p >= 0
	}
	fill := func(results, positions []int32) error {
		if which == 6 {
			return d.KeyPositions(results, positions)
		}
		return d.QueryPositions(results, positions, which)
	}
	checkDefined(t, len(positions), right, func(i int) int32 {
		p := int64(positions[i]) % n
		return int32([]int64{p, min(p+n, size), min(2*n-1, size), p + n, p + size, 0, p}[which])
	}, func(results []int32) error {
		err := fill(results, positions)
		want := results
		if err != nil {
			want = positions
		}
		inPlace := slices.Clone(positions)
		if again := fill(inPlace, inPlace); (again == nil) != (err == nil) || !slices.Equal(inPlace, want) {
			t.Fatalf("in place %v, want %v; error %v, want %v", inPlace, want, again, err)
		}
		return err
	})
}

func fuzzQueryScales(t *testing.T, c *testkit.Choices) {
	positions := c.Numbers32(c.Below(20))
	bits := make([]byte, 8)
	for i := range bits {
		bits[i] = byte(c.Next())
	}
	beta := []float64{0.1, 1, 0, math.Copysign(0, -1), -1, 0x1p100, 0x1.0000000000001p100, math.NaN(), math.SmallestNonzeroFloat64, math.Float64frombits(binary.LittleEndian.Uint64(bits))}[c.Below(10)]
	length, offset := int(c.Number32()), int(c.Number32())
	if c.Below(16) == 0 {
		length, offset = math.MaxInt, math.MinInt
	}
	right := beta >= 0 && beta <= 0x1p100 && length >= 1 && offset >= 0
	for _, p := range positions {
		right = right && int64(p)+int64(offset) >= 0
	}
	checkDefined(t, len(positions), right, func(i int) float32 {
		k := 1 + (int64(positions[i])+int64(offset))/int64(length)
		// Go's logarithm is good to one ulp. Next to the middle between two float32
		// that does not do.
		v := 1 + beta*math.Log(float64(k))
		if low, high := float32(v*(1-0x1p-50)), float32(v*(1+0x1p-50)); low == high {
			return low
		}
		return queryScaleAt300Bits(uint64(k), beta)
	}, func(scales []float32) error { return posenc.QueryScales(scales, positions, beta, length, offset) })
}

func fuzzPadded(t *testing.T, c *testkit.Choices) {
	mask, padding := c.Mask(c.Below(60)), c.Number32()
	right := int64(padding)+int64(len(mask)) <= math.MaxInt32
	checkDefined(t, len(mask), right, func(i int) int32 {
		there := int32(0)
		for _, m := range mask[:i+1] {
			if m {
				there++
			}
		}
		if !mask[i] {
			return padding
		}
		return padding + there
	}, func(positions []int32) error { return absolute.PaddedPositions(positions, mask, padding) })
}

func fuzzDescending(t *testing.T, c *testkit.Choices) {
	n, limit := c.Next(), c.Number32()
	checkDefined(t, n, limit >= 0, func(i int) int32 {
		p := int32(n - 1 - i)
		if limit > 0 {
			p = min(p, limit)
		}
		return p
	}, func(positions []int32) error { return relative.DescendingPositions(positions, limit) })
}

func fuzzDETR(t *testing.T, c *testkit.Choices) {
	height, width := c.Below(12), c.Below(12)
	pixels := height * width
	mask := c.Mask(pixels)
	if c.Below(3) == 0 {
		mask = nil
	}
	n := 2 * pixels
	if c.Below(8) == 0 {
		n = c.Next()
	}
	scale := []float64{0, 2 * math.Pi, 1, 1e-300, 1e-45, -1, math.MaxFloat32, 1e39, math.Inf(1), math.NaN()}[c.Below(10)]
	offset := []float64{0, 0.5, 1, 0.1, math.SmallestNonzeroFloat64, -0.5, 1.5, math.NaN()}[c.Below(8)]
	right := height > 0 && width > 0 && n == 2*pixels && (scale == 0 || float32(scale) > 0 && !math.IsInf(float64(float32(scale)), 1)) && offset >= 0 && offset <= 1
	count := func(row, column, rows, columns int) (n float32) {
		for i := range rows + 1 {
			for j := range columns + 1 {
				if at := (row-i)*width + column - j; mask == nil || mask[at] {
					n++
				}
			}
		}
		return n
	}
	checkDefined(t, n, right, func(i int) float32 {
		row, column := i%pixels/width, i%pixels%width
		p, last := count(row, column, row, 0), count(height-1, column, height-1, 0)
		if i >= pixels {
			p, last = count(row, column, 0, column), count(row, width-1, 0, width-1)
		}
		p -= float32(offset)
		if scale == 0 {
			return p
		}
		return float32(p/(last+float32(1e-6))) * float32(scale)
	}, func(positions []float32) error {
		return absolute.DETRPositions(positions, mask, height, width, scale, offset)
	})
}

func fuzzXLNet(t *testing.T, c *testkit.Choices) {
	n, keys, limit, backward := c.Next(), int(c.Number32()), c.Number32(), c.Below(2) == 1
	if c.Below(16) == 0 {
		keys = []int{math.MinInt, math.MaxInt}[c.Below(2)]
	}
	right := keys >= 0 && keys <= math.MaxInt32 && limit >= 0
	checkDefined(t, n, right, func(i int) int32 {
		p := int64(keys) - int64(i)
		if backward {
			p = int64(i) - int64(keys)
		}
		if most := int64(limit); limit > 0 && p > most {
			p = most
		} else if limit > 0 && p < -most {
			p = -most
		}
		return int32(p)
	}, func(positions []int32) error { return relative.XLNetPositions(positions, keys, limit, backward) })
}

func fuzzSwinCoordinates(t *testing.T, c *testkit.Choices) {
	height, width := c.Below(12), c.Below(12)
	if c.Below(8) == 0 {
		height = []int{64, 65, -1, math.MaxInt}[c.Below(4)]
	}
	pretrained := [2]int{c.Below(67), c.Below(67)}
	n, columns := 0, 2*width-1
	right := height > 0 && height < 65 && width > 0
	if right {
		n = (2*height - 1) * columns * 2
	}
	if c.Below(8) == 0 {
		n = c.Next()
	}
	right = right && n == (2*height-1)*columns*2
	for _, p := range pretrained {
		right = right && (p == 0 || p > 1 && p < 65)
	}
	checkDefined(t, n, right, func(i int) float32 {
		distance, window := i/2/columns-height+1, height
		if i%2 == 1 {
			distance, window = i/2%columns-width+1, width
		}
		if p := pretrained[i%2]; p != 0 {
			window = p
		}
		if distance == 0 {
			return 0
		}
		d := float64(max(distance, -distance))
		v := math.Log1p(8*d/float64(window-1)) / math.Log(8)
		low, high := float32(v*(1-0x1p-48)), float32(v*(1+0x1p-48))
		if low != high {
			ratio := testkit.NewReal().Quo(testkit.RealOf(8*d), testkit.RealOf(float64(window-1)))
			real := testkit.RealLogarithm(ratio.Add(ratio, testkit.RealOf(1)))
			low, _ = real.Quo(real, testkit.RealLogarithm(testkit.RealOf(8))).Float32()
		}
		if distance < 0 {
			low = -low
		}
		return low
	}, func(dst []float32) error {
		return relative.SwinCoordinates(dst, height, width, pretrained[0], pretrained[1])
	})
}
