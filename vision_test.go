package posenc_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/examples/onnx/operator"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/test/kit"
)

// visionCase is what the code of a model made: testdata/vision/generate.py.
type visionCase struct {
	Model                 string
	Heads, Tokens         int
	HeadDim               int `json:"head_dim"`
	Height, Width, Window int
	Positions             string
	InvFreq               string `json:"inv_freq"`
	ClassAngle            string `json:"class_angle"`
	Cos, Sin, Angles      string // of full width
	Q, Rotated            string
}

// visionRecipe is how a model's table is made.
type visionRecipe struct {
	layout        posenc.Layout
	grid          posenc.GridPositionsOptions
	ladder        func(rounding frequency.Rounding) (frequency.Ladder, error)
	mixed         func(c *visionCase) posenc.MixedFrequencies // instead of a ladder
	heads         bool                                        // each has its own entries
	before, after int                                         // tokens that do not rotate
	tolerance     float64                                     // of angles, relative; 0: the same bits
}

// axialOf is two axes of half the pairs each.
func axialOf(dim int, base float64) func(frequency.Rounding) (frequency.Ladder, error) {
	return func(r frequency.Rounding) (frequency.Ladder, error) { return frequency.Axial(base, r, dim/2, dim/2) }
}

// mixedOfTimm transposes the frequencies of a layer.
func mixedOfTimm(c *visionCase) posenc.MixedFrequencies {
	f, n := kit.Hex[float32](c.InvFreq), c.Heads*c.HeadDim/2
	m := posenc.MixedFrequencies{Axes: 2}
	for e := range n {
		m.InvFreq = append(m.InvFreq, float64(f[e]), float64(f[n+e]))
	}
	return m
}

func recipeOf(c *visionCase) visionRecipe {
	const oneRounding = 0x1p-23 // a product or a quotient rounded once more, or once less
	grid := posenc.GridPositionsOptions{Height: c.Height, Width: c.Width}
	columns := grid
	columns.ColumnsFirst = true
	switch c.Model {
	case "dinov3_vit", "sapiens2", "eomt_dinov3":
		grid.Centered = true
		return visionRecipe{layout: posenc.HalfSplit, grid: grid, ladder: axialOf(c.HeadDim, 100), before: 5}
	case "timm_dinov3": // divides by periods
		grid.Centered = true
		return visionRecipe{layout: posenc.HalfSplit, grid: grid, ladder: axialOf(c.HeadDim, 100), tolerance: 2 * oneRounding}
	case "timm_eva":
		grid.RefHeight, grid.RefWidth = 16, 16
		return visionRecipe{layout: posenc.Interleaved, grid: grid, ladder: axialOf(c.HeadDim, 10000)}
	case "timm_pe":
		columns.RefHeight, columns.RefWidth, columns.Offset = 24, 24, 1
		return visionRecipe{layout: posenc.Interleaved, grid: columns, ladder: axialOf(c.HeadDim, 10000)}
	case "timm_mixed_ij":
		return visionRecipe{layout: posenc.Interleaved, grid: grid, mixed: mixedOfTimm, heads: true}
	case "timm_mixed_xy":
		return visionRecipe{layout: posenc.Interleaved, grid: columns, mixed: mixedOfTimm, heads: true}
	case "lightglue": // a product of matrices, which may be fused
		return visionRecipe{layout: posenc.Interleaved, tolerance: 2 * oneRounding, mixed: func(c *visionCase) posenc.MixedFrequencies {
			return posenc.MixedFrequencies{InvFreq: wide(kit.Hex[float32](c.InvFreq)), Axes: 2}
		}}
	case "mlcd":
		return visionRecipe{layout: posenc.HalfSplit, grid: grid, mixed: mlcdFrequencies}
	case "sam2":
		return visionRecipe{layout: posenc.Interleaved, grid: columns, ladder: axialOf(c.HeadDim, 10000), after: 4}
	case "sam3":
		columns.PositionScale = float32(float64(c.Window) / float64(c.Width))
		return visionRecipe{layout: posenc.Interleaved, grid: columns, ladder: axialOf(c.HeadDim, 10000)}
	case "efficientloftr":
		grid.Offset = 1
		return visionRecipe{layout: posenc.Interleaved, grid: grid, ladder: func(r frequency.Rounding) (frequency.Ladder, error) {
			return frequency.AxialInterleaved(c.HeadDim, 10000, r)
		}}
	case "esmfold2":
		return visionRecipe{layout: posenc.HalfSplit, ladder: func(r frequency.Rounding) (frequency.Ladder, error) {
			return frequency.ESMFold2(c.HeadDim, frequency.ESMFold2Parameters{SpatialPairs: 2, UIDPairs: 10, SpatialBase: 20, UIDBase: 10000}, r)
		}}
	}
	panic("no recipe for " + c.Model)
}

func wide(s []float32) (list []float64) {
	for _, x := range s {
		list = append(list, float64(x))
	}
	return list
}

// mlcdFrequencies have the class angle as a third axis.
func mlcdFrequencies(c *visionCase) posenc.MixedFrequencies {
	m := posenc.MixedFrequencies{Axes: 3}
	ladder, angle := kit.Hex[float32](c.InvFreq), kit.Hex[float32](c.ClassAngle)
	for i, a := range angle {
		w := [3]float64{2: float64(a)}
		w[i/len(ladder)] = float64(ladder[i%len(ladder)])
		m.InvFreq = append(m.InvFreq, w[:]...)
	}
	return m
}

// positions are those of the recipe, [axes][tokens].
func (r *visionRecipe) positions(c *visionCase) []float32 {
	if c.Positions != "" {
		return kit.Hex[float32](c.Positions)
	}
	positions := make([]float32, 2*c.Height*c.Width)
	if err := posenc.GridPositions(positions, r.grid); err != nil {
		panic(err)
	}
	if c.Model == "mlcd" { // the class token, and the axis of its angle
		n := c.Height * c.Width
		all := append([]float32{0}, positions[:n]...)
		all = append(append(all, 0), positions[n:]...)
		return append(append(all, 1), make([]float32, n)...)
	}
	return positions
}

// table makes the rows. With frequencies of the model's own, those of the ladder are
// replaced by the nearest of them: PyTorch's powers may be off by a bit.
func (r *visionRecipe) table(t *testing.T, c *visionCase, rounding frequency.Rounding, own bool) (table posenc.Table[float32]) {
	t.Helper()
	positions := r.positions(c)
	if r.mixed != nil {
		f := r.mixed(c)
		f.Rounding = rounding
		n := len(positions) / f.Axes * len(f.InvFreq) / f.Axes
		table.Cos, table.Sin = make([]float32, n), make([]float32, n)
		kit.NoError(t, posenc.CosSinMixed(table.Cos, table.Sin, positions, f))
		return table
	}
	ladder := kit.Must(r.ladder(frequency.Rounding(rounding)))
	if model := kit.Hex[float32](c.InvFreq); own && len(model) > 0 {
		for i, w := range ladder.InvFreq {
			nearest := slices.MinFunc(model, func(a, b float32) int {
				return int(math.Copysign(1, math.Abs(float64(a)-w)-math.Abs(float64(b)-w)))
			})
			if !(math.Abs(float64(nearest)-w) <= 0x1p-22*w) {
				t.Fatalf("frequency %d is %v, and the model has none nearer than %v", i, w, nearest)
			}
			ladder.InvFreq[i] = float64(nearest)
		}
	}
	rope := kit.MustRotary(posenc.RotaryConfig{HeadDim: 2 * len(ladder.InvFreq), Layout: posenc.HalfSplit, InvFreq: ladder.InvFreq, Axes: ladder.Axes, Rounding: rounding})
	n := len(positions) / (1 + int(slices.Max(ladder.Axes))) * len(ladder.InvFreq)
	table.Cos, table.Sin = make([]float32, n), make([]float32, n)
	kit.NoError(t, rope.CosSinFractionalAxes(table.Cos, table.Sin, positions))
	return table
}

// pairsOf takes the first entry of each pair of a table of full width, and brings
// [heads][tokens] to [tokens][heads].
func (r *visionRecipe) pairsOf(c *visionCase, full []float32, width int) (list []float32) {
	heads, dim := 1, c.HeadDim
	if r.heads {
		heads = c.Heads
	}
	tokens := len(full) / heads / dim
	for t := range tokens {
		for h := range heads {
			row := full[(h*tokens+t)*dim:][:dim]
			if width == 2 {
				list = append(list, row...)
				continue
			}
			for i := range dim / 2 {
				first, _ := kit.PairAt(r.layout, 0, i, dim/2)
				list = append(list, row[first])
			}
		}
	}
	return list
}

func TestVisionModels(t *testing.T) {
	for _, c := range kit.ReadCases[*visionCase](t, "testdata/vision/vectors.json", 23) {
		t.Run(c.Model, func(t *testing.T) {
			if c.Model == "vjepa2" {
				testVJEPA2(t, c)
				return
			}
			r := recipeOf(c)
			angles := r.pairsOf(c, kit.Hex[float32](c.Angles), 1)
			modelCos, modelSin := kit.Hex[float32](c.Cos), kit.Hex[float32](c.Sin)
			want := posenc.Table[float32]{Cos: make([]float32, len(angles)), Sin: make([]float32, len(angles))}
			kit.NoError(t, posenc.CosSinAngles(want.Cos, want.Sin, angles))

			// 1. By the model's steps, from its frequencies, the angles have its bits.
			table := r.table(t, c, frequency.Float32, true)
			compare := func(what string, got posenc.Table[float32], absolute, ofAngle float64) {
				t.Helper()
				if len(got.Cos) != len(angles) || len(got.Sin) != len(angles) {
					t.Fatalf("%s: %d and %d entries, want %d", what, len(got.Cos), len(got.Sin), len(angles))
				}
				for i, angle := range angles {
					tolerance := absolute + ofAngle*math.Abs(float64(angle))
					near := func(got, want float32) bool { return math.Abs(float64(got)-float64(want)) <= tolerance }
					if !near(got.Cos[i], want.Cos[i]) || !near(got.Sin[i], want.Sin[i]) {
						t.Fatalf("%s: entry %d is %v and %v, want %v and %v within %v", what, i, got.Cos[i], got.Sin[i], want.Cos[i], want.Sin[i], tolerance)
					}
				}
			}
			half := min(0x1p-24, r.tolerance) // of the last bit of the cosine and the sine of another angle
			compare("the model's steps", table, half, r.tolerance)

			// 2. PyTorch's cosines and sines are off by less than two units below 1.
			compare("the model's table", posenc.Table[float32]{Cos: r.pairsOf(c, modelCos, 1), Sin: r.pairsOf(c, modelSin, 1)}, 0x1p-23, 0)

			// 3. Frequencies of package frequency, and exact angles: the model rounds a
			// position up to four times, a frequency up to three times, a product once.
			for rounding := range frequency.Rounding(2) {
				compare("own frequencies", r.table(t, c, rounding, false), 0x1p-24, 8*0x1p-24)
			}

			// 4. Rotation by the model's table of full width has the bits of its rotation.
			cfg := posenc.RowsConfig{HeadDim: c.HeadDim, Layout: r.layout}
			if r.heads {
				cfg.Heads = c.Heads
			}
			rotated := kit.Hex[float32](c.Rotated)
			if got := r.rotate(t, c, cfg, posenc.Table[float32]{Cos: r.pairsOf(c, modelCos, 2), Sin: r.pairsOf(c, modelSin, 2), FullWidth: true}); !slices.Equal(got, rotated) {
				t.Error("rotated by the model's table, q is another")
			}
			// By ours each of two entries is off by one unit, and elements are below 5.
			compareRotated(t, r.rotate(t, c, cfg, table), rotated, 0x1p-23+r.tolerance*8)
		})
	}
}

// rotate rotates the queries of a case by a table.
func (r *visionRecipe) rotate(t *testing.T, c *visionCase, cfg posenc.RowsConfig, table posenc.Table[float32]) []float32 {
	rows := kit.Must(posenc.NewRows(cfg, table))
	ids := slices.Concat(slices.Repeat([]int32{-1}, r.before), kit.Sequence(rows.Len()), slices.Repeat([]int32{-1}, r.after))
	q := kit.Hex[float32](c.Q)
	kit.NoError(t, posenc.Rotate(rows.AtSome(ids), posenc.View[float32]{Data: q, Heads: c.Heads, TokenStride: c.HeadDim, HeadStride: c.Tokens * c.HeadDim}))
	return q
}

// compareRotated allows for entries that are off by so much: elements are below 5.
func compareRotated(t *testing.T, got, want []float32, entry float64) {
	t.Helper()
	for i, x := range got {
		if !(math.Abs(float64(x)-float64(want[i])) <= 2*5*entry) {
			t.Fatalf("rotated element %d is %v, want %v", i, x, want[i])
		}
	}
}

// testVJEPA2 is for V-JEPA 2, which repeats the ladder of an axis over its elements, and rotates
// neighbours.
func testVJEPA2(t *testing.T, c *visionCase) {
	for rounding := range frequency.Rounding(2) {
		dim := 2 * (c.HeadDim / 6)
		r := visionRecipe{ladder: func(rounding frequency.Rounding) (frequency.Ladder, error) {
			return frequency.AxialTiled(10000, rounding, dim, dim, dim)
		}}
		table := r.table(t, c, rounding, false)
		table.FullWidth = true
		got := r.rotate(t, c, posenc.RowsConfig{HeadDim: c.HeadDim, RotaryDim: 3 * dim, Layout: posenc.Interleaved}, table)
		compareRotated(t, got, kit.Hex[float32](c.Rotated), 0x1p-23+2*4*0x1p-24) // angles up to 2 are off by some roundings
	}
}

// onnxCase is an input of ONNX's RotaryEmbedding and what onnx.reference makes
// of it (testdata/onnx/generate.py).
type onnxCase struct {
	Name, Type         string
	Interleaved        int
	RotaryEmbeddingDim int `json:"rotary_embedding_dim"`
	NumHeads           int `json:"num_heads"`
	X, Y               onnxTensor
	CosCache           onnxTensor              `json:"cos_cache"`
	SinCache           onnxTensor              `json:"sin_cache"`
	PositionIDs        *operator.Tensor[int64] `json:"position_ids"`
	YFloat32           onnxTensor              `json:"y_float32"` // Y in float32, rounded once
}

func (c *onnxCase) attributes() operator.Attributes {
	return operator.Attributes{Interleaved: c.Interleaved != 0, RotaryEmbeddingDim: c.RotaryEmbeddingDim, NumHeads: c.NumHeads}
}

// onnxTensor has little-endian elements, in base64.
type onnxTensor struct {
	Shape []int
	Data  []byte
}

func decodeTensor[T posenc.Element](t *testing.T, from onnxTensor) operator.Tensor[T] {
	t.Helper()
	size := 1
	for _, n := range from.Shape {
		size *= n
	}
	to := operator.Tensor[T]{Shape: from.Shape, Data: make([]T, size)}
	if n, err := binary.Decode(from.Data, binary.LittleEndian, to.Data); err != nil || n != len(from.Data) {
		t.Fatalf("shape %v has %d bytes of %d: %v", from.Shape, n, len(from.Data), err)
	}
	return to
}

func onnxCases() (cases []*onnxCase) {
	kit.ReadJSON("testdata/onnx/vectors.json", &cases)
	return cases
}

// caseOf returns the case of a name, of float32.
func caseOf(cases []*onnxCase, name string) *onnxCase {
	return cases[slices.IndexFunc(cases, func(c *onnxCase) bool { return c.Name == name && c.Type == "float32" })]
}

// The node tests of ONNX and some more, against its reference. In float32 the
// bits are those of the reference, which rounds each product and each sum, as
// posenc does.
func TestONNXRotaryEmbedding(t *testing.T) {
	count := map[string]int{}
	for _, c := range onnxCases() {
		t.Run(c.Name+"/type="+c.Type, func(t *testing.T) {
			switch c.Type {
			case "float32":
				checkONNX[float32](t, c, c.Y, 0)
			case "float16":
				checkONNX[posenc.Float16](t, c, c.YFloat32, 0x1p-11)
			case "bfloat16":
				checkONNX[posenc.BFloat16](t, c, c.YFloat32, 0x1p-8)
			default:
				t.Fatalf("unknown type %q", c.Type)
			}
		})
		if strings.HasPrefix(c.Name, "test_rotary_embedding") {
			count[c.Type]++
		}
	}
	for _, elementType := range []string{"float32", "float16", "bfloat16"} {
		if count[elementType] != 8 {
			t.Errorf("%d node tests of type %s, want the 8 of ONNX", count[elementType], elementType)
		}
	}
}

// checkONNX wants the bits of want. For types of 16 bits, whose relative
// rounding error is at most unit, the reference's own result, in which every
// operation is rounded to the type, has to be near.
func checkONNX[T posenc.Element](t *testing.T, c *onnxCase, want onnxTensor, unit float64) {
	x, cos, sin := decodeTensor[T](t, c.X), decodeTensor[T](t, c.CosCache), decodeTensor[T](t, c.SinCache)
	y := kit.Must(operator.RotaryEmbedding(x, cos, sin, c.PositionIDs, c.attributes()))
	expected := decodeTensor[T](t, want)
	if !slices.Equal(y.Shape, expected.Shape) || len(y.Data) != len(expected.Data) {
		t.Fatalf("%d elements of shape %v, want shape %v", len(y.Data), y.Shape, expected.Shape)
	}
	for i := range y.Data {
		if kit.BitsOf(y.Data[i]) != kit.BitsOf(expected.Data[i]) {
			t.Fatalf("Y[%d] is %v (%#x), want %v (%#x)", i, kit.Widen(y.Data[i]), kit.BitsOf(y.Data[i]), kit.Widen(expected.Data[i]), kit.BitsOf(expected.Data[i]))
		}
	}
	for i, v := range decodeTensor[T](t, c.X).Data {
		if kit.BitsOf(x.Data[i]) != kit.BitsOf(v) {
			t.Fatalf("X[%d] was %v, is %v", i, kit.Widen(v), kit.Widen(x.Data[i]))
		}
	}
	if unit == 0 {
		return
	}
	// With m, at least |x1*c|+|x2*s|, the products of the reference are off by unit*m at
	// most, and the rounded sum by unit*m*(1+unit) more; ours is rounded once, by
	// unit*m, apart from float32 roundings, which with the product of two units are
	// below unit*m/100. Where the type is subnormal (below 2^-14 in float16), each
	// of the four roundings is off by half of its least number, 2^-24.
	largest := func(s []T) (m float64) {
		for _, x := range s {
			m = max(m, math.Abs(float64(kit.Widen(x))))
		}
		return m
	}
	tolerance := 3.01*unit*largest(x.Data)*(largest(cos.Data)+largest(sin.Data)) + 4*0x1p-25
	for i, want := range decodeTensor[T](t, c.Y).Data {
		if got, want := float64(kit.Widen(y.Data[i])), float64(kit.Widen(want)); !(math.Abs(got-want) <= tolerance) {
			t.Fatalf("Y[%d] is %v, want %v of the reference to %v", i, got, want, tolerance)
		}
	}
}

// A position outside the caches is an error, neither identity nor another row.
func TestONNXPositionsOutside(t *testing.T) {
	cases := onnxCases()
	for _, name := range []string{"test_rotary_embedding", "test_rotary_embedding_3d_input", "test_rotary_embedding_with_interleaved_rotary_dim"} {
		c := caseOf(cases, name)
		for _, id := range []int64{50, -1, math.MaxInt32 + 1, 1 << 32, 1<<32 + 3, math.MinInt32 - 1, math.MaxInt64, math.MinInt64} {
			for _, at := range []int{0, 5} {
				ids := operator.Tensor[int64]{Shape: c.PositionIDs.Shape, Data: slices.Clone(c.PositionIDs.Data)}
				ids.Data[at] = id
				y, err := operator.RotaryEmbedding(decodeTensor[float32](t, c.X), decodeTensor[float32](t, c.CosCache), decodeTensor[float32](t, c.SinCache), &ids, c.attributes())
				if !errors.Is(err, posenc.ErrPosition) || !strings.Contains(err.Error(), fmt.Sprint(" is ", id, ",")) || y.Data != nil || y.Shape != nil {
					t.Errorf("%s: %v and error %v, want one of position %d", name, y, err, id)
				}
			}
		}
	}
}

// What the operator does not allow.
func TestONNXErrors(t *testing.T) {
	type arguments struct {
		x, cos, sin operator.Tensor[float32]
		ids         *operator.Tensor[int64]
		attributes  operator.Attributes
	}
	cases := onnxCases()
	const withIDs, without, rank3 = "test_rotary_embedding", "test_rotary_embedding_no_position_ids", "test_rotary_embedding_3d_input"
	for _, tt := range []struct {
		name, base string
		change     func(a *arguments)
		kind       error
		says       string
	}{
		{"rank 2", withIDs, func(a *arguments) { a.x.Shape = []int{24, 8} }, posenc.ErrShape, "X has shape [24 8], want 3 or 4 dimensions"},
		{"uncountable", withIDs, func(a *arguments) { a.x.Shape = []int{1 << 30, 1 << 30, 1 << 30, 1 << 30} }, posenc.ErrShape, "fits an int"},
		{"too few elements", withIDs, func(a *arguments) { a.x.Data = a.x.Data[1:] }, posenc.ErrLength, "X has 191 elements, want 192"},
		{"no heads in X", withIDs, func(a *arguments) { a.x = operator.Tensor[float32]{Shape: []int{2, 0, 3, 8}} }, posenc.ErrShape, "Heads is 0"},
		{"rank 3 without num_heads", rank3, func(a *arguments) { a.attributes.NumHeads = 0 }, posenc.ErrShape, "num_heads is 0, want a divisor of X's last dimension, 32"},
		{"num_heads no divisor", rank3, func(a *arguments) { a.attributes.NumHeads = 5 }, posenc.ErrShape, "num_heads is 5"},
		{"odd head_size", rank3, func(a *arguments) { a.attributes.NumHeads = 32 }, posenc.ErrConfig, "rotary_embedding_dim is 0, want an even number from 2 to head_size 1, or 0 where that is even"},
		{"rotary_embedding_dim above head_size", withIDs, func(a *arguments) { a.attributes.RotaryEmbeddingDim = 10 }, posenc.ErrConfig, "rotary_embedding_dim is 10"},
		{"caches wider than rotary_embedding_dim/2", withIDs, func(a *arguments) { a.attributes.RotaryEmbeddingDim = 4 }, posenc.ErrShape, "cos_cache has shape [50 4], want [50 2]"},
		{"caches of rank 3 with position_ids", without, func(a *arguments) {
			a.ids = &operator.Tensor[int64]{Shape: []int{2, 3}, Data: make([]int64, 6)}
		}, posenc.ErrShape, "cos_cache has shape [2 3 4], want [2 4]"},
		{"caches of rank 2 without position_ids", withIDs, func(a *arguments) { a.ids = nil }, posenc.ErrShape, "cos_cache has shape [50 4], want [2 3 4]"},
		{"caches of another sequence", without, func(a *arguments) { a.cos.Shape = []int{3, 2, 4} }, posenc.ErrShape, "cos_cache has shape [3 2 4], want [2 3 4]"},
		{"caches that differ", withIDs, func(a *arguments) { a.sin.Shape, a.sin.Data = []int{49, 4}, a.sin.Data[:196] }, posenc.ErrShape, "sin_cache has shape [49 4], want [50 4]"},
		{"sin_cache too short", withIDs, func(a *arguments) { a.sin.Data = a.sin.Data[1:] }, posenc.ErrLength, "sin_cache has 199 elements, want 200"},
		{"position_ids of another shape", withIDs, func(a *arguments) { a.ids.Shape = []int{3, 2} }, posenc.ErrShape, "position_ids has shape [3 2], want [2 3]"},
		{"position_ids too short", withIDs, func(a *arguments) { a.ids.Data = a.ids.Data[:5] }, posenc.ErrLength, "position_ids has 5 elements, want 6"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := caseOf(cases, tt.base)
			a := arguments{decodeTensor[float32](t, c.X), decodeTensor[float32](t, c.CosCache), decodeTensor[float32](t, c.SinCache), c.PositionIDs, c.attributes()}
			tt.change(&a)
			y, err := operator.RotaryEmbedding(a.x, a.cos, a.sin, a.ids, a.attributes)
			if !errors.Is(err, tt.kind) || !strings.HasPrefix(err.Error(), "RotaryEmbedding: ") || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %v, want one that says %q and wraps %q", err, tt.says, tt.kind)
			}
			if y.Data != nil || y.Shape != nil {
				t.Error("a result beside the error")
			}
		})
	}
}

// Tensors without elements are none to rotate.
func TestONNXEmpty(t *testing.T) {
	const headSize = 8
	for _, shape := range [][]int{{0, 4, 3, headSize}, {2, 4, 0, headSize}, {0, 3, 4 * headSize}, {2, 0, 4 * headSize}} {
		batch, sequence := shape[0], shape[len(shape)-2]
		x := operator.Tensor[float32]{Shape: shape}
		attributes := operator.Attributes{NumHeads: 4}
		ids := operator.Tensor[int64]{Shape: []int{batch, sequence}}
		rows := operator.Tensor[float32]{Shape: []int{1, headSize / 2}, Data: make([]float32, headSize/2)}
		caches := operator.Tensor[float32]{Shape: []int{batch, sequence, headSize / 2}}
		y, err := operator.RotaryEmbedding(x, rows, rows, &ids, attributes)
		z, without := operator.RotaryEmbedding(x, caches, caches, nil, attributes)
		if errors.Join(err, without) != nil || len(y.Data)+len(z.Data) != 0 || !slices.Equal(y.Shape, shape) || !slices.Equal(z.Shape, shape) {
			t.Errorf("shape %v: with position_ids %v, %v, without %v, %v", shape, y, err, z, without)
		}
	}
}
