package absolute_test

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/kernels"
)

// learnedVectors is what PyTorch makes of learned tables
// (testdata/learned/generate.py).
type learnedVectors struct {
	Add []struct {
		Model, Type        string
		Dim                int
		Mask               []bool
		TypeIDs            []int32 `json:"type_ids"`
		Table, Types, X, Y string
	}
	Linear, Bicubic, Antialias, Models []learnedGrid
}

type learnedGrid struct {
	Model    string
	Dim      int
	From, To [2]int
	Src, Dst string
}

func loadLearned() (v learnedVectors) {
	kit.ReadJSON("testdata/learned/vectors.json", &v)
	return v
}

// Embeddings have the bits that PyTorch gives them, with the rows that the
// models look up.
func TestAddEmbeddingsVectors(t *testing.T) {
	kit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		kit.EachType(t, testAddEmbeddings[float32], testAddEmbeddings[posenc.Float16], testAddEmbeddings[posenc.BFloat16])
	})
}

func testAddEmbeddings[T posenc.Element](t *testing.T) {
	name := map[any]string{float32(0): "float32", posenc.Float16(0): "float16", posenc.BFloat16(0): "bfloat16"}[*new(T)]
	count := 0
	for _, c := range loadLearned().Add {
		if c.Type != name {
			continue
		}
		count++
		e := absolute.Embedding[T]{Table: kit.Hex[T](c.Table), IDs: make([]int32, len(c.Mask))}
		var err error
		switch c.Model {
		case "bert", "bart":
			kit.CountFrom(e.IDs, 0, 1)
		case "roberta", "opt":
			err = absolute.PaddedPositions(e.IDs, c.Mask, 1)
		}
		if c.Model == "bart" {
			e.Offset = 2
		}
		x := kit.Hex[T](c.X)
		err = errors.Join(err, absolute.AddEmbeddings(x, c.Dim, absolute.Embedding[T]{Table: kit.Hex[T](c.Types), IDs: c.TypeIDs}, e))
		if want := kit.Hex[T](c.Y); err != nil || !slices.Equal(x, want) {
			t.Errorf("%s: got %v, %v, want %v", c.Model, x, err, want)
		}
	}
	if count != 4 {
		t.Errorf("%d cases, want 4", count)
	}
}

// Rows may be longer than a call of a kernel.
func TestWideEmbeddings(t *testing.T) {
	kit.EachImplementation(t, func(t *testing.T, impl kernels.Implementation) {
		t.Run("float32", testWideEmbeddings[float32, float32])
		t.Run("float16", testWideEmbeddings[posenc.Float16, float32])
		t.Run("of bfloat16", testWideEmbeddings[float32, posenc.BFloat16])
	})
}

func testWideEmbeddings[T, W posenc.Element](t *testing.T) {
	r := kit.NewRand(91)
	for _, dim := range []int{kernels.MaxCallElements / 2, kernels.MaxCallElements + 5} {
		e := absolute.Embedding[W]{Table: kit.RandomElements[W](r, 2*dim), IDs: []int32{0, -1, 0}, Offset: 1}
		x := kit.RandomElements[T](r, len(e.IDs)*dim)
		want := slices.Clone(x)
		addEmbeddingsPlain(want, dim, []absolute.Embedding[W]{e, e})
		kit.NoError(t, absolute.AddEmbeddings(x, dim, e, e))
		if i := kit.FirstDifference(x, want); i >= 0 {
			t.Fatalf("dim %d: element %d is %v, want %v", dim, i, kit.Widen(x[i]), kit.Widen(want[i]))
		}
	}
}

// PyTorch takes coordinates and sums in float32: of tables below 4 in
// magnitude and coordinates up to 16 that is some roundings of 2^-20 times their
// slopes, below 2^-17 together.
const interpolationError = 0x1p-17

func TestInterpolateVectors(t *testing.T) {
	// The options are those that the documentation of InterpolateGrid has for each model.
	options := map[string]absolute.InterpolateGridOptions{
		"qwen3_vl":     {Bilinear: true, AlignCorners: true, MergeSize: 2},
		"inkling2":     {Bilinear: true, MergeSize: 2},
		"paddleocr_vl": {Bilinear: true},
		"muse_glimmer": {Bilinear: true, ZeroPadding: true},
		"muse_spark":   {Bilinear: true, ZeroPadding: true},
		"kimi_k25":     {},
	}
	v := loadLearned()
	for i, list := range [][]learnedGrid{v.Linear, v.Bicubic, v.Antialias, v.Models} {
		if want := []int{6, 6, 11, 36}[i]; len(list) != want {
			t.Fatalf("list %d: %d cases, want %d", i, len(list), want)
		}
		for _, c := range list {
			o, known := options[c.Model]
			o.DstHeight, o.DstWidth, o.SrcHeight, o.SrcWidth, o.Dim, o.Antialias = c.To[0], c.To[1], c.From[0], c.From[1], c.Dim, i == 2
			if c.Model == "muse_spark" {
				o.DstHeight, o.DstWidth = o.DstWidth, o.DstHeight
			}
			want, src := kit.Hex[float32](c.Dst), kit.Hex[float32](c.Src)
			got := make([]float32, len(want))
			if i == 0 {
				kit.NoError(t, absolute.InterpolateTable(got, src, c.Dim))
			} else {
				kit.NoError(t, absolute.InterpolateGrid(got, src, o))
			}
			for j := range want {
				if !known && i == 3 || !(math.Abs(float64(got[j])-float64(want[j])) <= interpolationError) {
					t.Fatalf("list %d, %s, %v to %v: element %d is %v, want %v", i, c.Model, c.From, c.To, j, got[j], want[j])
				}
			}
		}
	}
}

// Weights have the bits of transformers, and a grid that is interpolated with Float32 is their sum.
func TestGridWeightsVectors(t *testing.T) {
	var v struct {
		Weights []struct {
			Grids                        [][3]int // frames, height, width
			Side, Merge                  int
			Bicubic, AlignCorners, Zeros bool
			Indices                      []int32
			Weights                      []int32 // bits
		}
	}
	kit.ReadJSON("testdata/learned/weights.json.gz", &v)
	if len(v.Weights) != 140 {
		t.Fatalf("%d vectors, want 140", len(v.Weights))
	}
	for i, c := range v.Weights {
		for _, grid := range c.Grids {
			o := absolute.InterpolateGridOptions{DstHeight: grid[1], DstWidth: grid[2], SrcHeight: c.Side, SrcWidth: c.Side, Dim: 1,
				Bilinear: !c.Bicubic, AlignCorners: c.AlignCorners, ZeroPadding: c.Zeros, Float32: true, MergeSize: c.Merge}
			n := grid[1] * grid[2] * gridTaps(o)
			indices, weights := make([]int32, n), make([]float32, n)
			kit.NoError(t, absolute.GridWeights(indices, weights, o))
			for range grid[0] {
				if !slices.Equal(indices, c.Indices[:n]) || !slices.EqualFunc(weights, c.Weights[:n], func(w float32, bits int32) bool { return math.Float32bits(w) == uint32(bits) }) {
					t.Fatalf("vector %d, %+v: %v by %v, want %v by %v", i, o, indices, weights, c.Indices[:n], c.Weights[:n])
				}
				c.Indices, c.Weights = c.Indices[n:], c.Weights[n:]
			}
			table, got := make([]float32, c.Side*c.Side), make([]float32, grid[1]*grid[2])
			for j := range table {
				table[j] = float32(j%7) - 3.3
			}
			kit.NoError(t, absolute.InterpolateGrid(got, table, o))
			for p := range got {
				want := float32(0)
				for k := p * gridTaps(o); k < (p+1)*gridTaps(o); k++ {
					want += float32(weights[k] * table[indices[k]])
				}
				if got[p] != want {
					t.Fatalf("vector %d, %+v, patch %d: %v, want %v", i, o, p, got[p], want)
				}
			}
		}
		if len(c.Indices)+len(c.Weights) > 0 {
			t.Fatalf("vector %d: %d indices and %d weights are left", i, len(c.Indices), len(c.Weights))
		}
	}
}

var _ = kit.Register(kit.Case{Function: "AddEmbeddings", RoundsTwice: true,
	Call: func(a *kit.Arguments) kit.Call {
		switch a.Below(3) {
		case 0:
			return kit.OfType(a, embeddingsCall[float32, float32], embeddingsCall[posenc.Float16, float32], embeddingsCall[posenc.BFloat16, float32])(a)
		case 1:
			return kit.OfType(a, embeddingsCall[float32, posenc.Float16], embeddingsCall[posenc.Float16, posenc.Float16], embeddingsCall[posenc.BFloat16, posenc.Float16])(a)
		}
		return kit.OfType(a, embeddingsCall[float32, posenc.BFloat16], embeddingsCall[posenc.Float16, posenc.BFloat16], embeddingsCall[posenc.BFloat16, posenc.BFloat16])(a)
	},
	Digests: func(add kit.AddDigest) {
		add.Pairs("AddEmbeddings", "type", "table", [3][3]func(*kit.Digest){
			{digestEmbeddings[float32, float32], digestEmbeddings[float32, posenc.Float16], digestEmbeddings[float32, posenc.BFloat16]},
			{digestEmbeddings[posenc.Float16, float32], digestEmbeddings[posenc.Float16, posenc.Float16], digestEmbeddings[posenc.Float16, posenc.BFloat16]},
			{digestEmbeddings[posenc.BFloat16, float32], digestEmbeddings[posenc.BFloat16, posenc.Float16], digestEmbeddings[posenc.BFloat16, posenc.BFloat16]},
		})
	},
})

func embeddingsCall[T, W posenc.Element](a *kit.Arguments) kit.Call {
	dim, tokens := a.Length(), a.Tokens()
	if !a.Any() && a.Below(8) == 0 {
		dim = []int{1023, 1025, 2100}[a.Below(3)] // round the elements that are converted at a time
		tokens = min(tokens, 5)
	}
	x := kit.Output[T](a, kit.Small(dim, tokens))
	if !a.Any() {
		tokens = len(x) / dim // fewer where these are too many
		x = x[:tokens*dim]
	}
	embeddings := make([]absolute.Embedding[W], a.Below(3))
	for i := range embeddings {
		rows := 1 + a.Below(6)
		e := &embeddings[i]
		e.Table, e.IDs = kit.Slice[W](a, kit.Small(dim, rows)), kit.Slice[int32](a, tokens)
		a.FillIDs(e.IDs, rows)
		if a.Yes() {
			e.Offset = a.Number(0, rows)
			if !a.Any() {
				for t := range e.IDs {
					e.IDs[t] -= int32(e.Offset)
				}
			}
		}
	}
	return kit.Call{
		Run:   func() error { return absolute.AddEmbeddings(x, dim, embeddings...) },
		Right: func() bool { return embeddingsRight(x, dim, embeddings) },
		Want:  func() { addEmbeddingsPlain(x, dim, embeddings) },
		Parts: kit.RowParts([][]T{x}, []int{dim}, tokens, func(x [][]T, tokens []int) error {
			part := make([]absolute.Embedding[W], len(embeddings))
			for i, e := range embeddings {
				part[i] = absolute.Embedding[W]{Table: e.Table, IDs: kit.Pick(e.IDs, tokens), Offset: e.Offset}
			}
			return absolute.AddEmbeddings(x[0], dim, part...)
		}),
	}
}

func embeddingsRight[T, W posenc.Element](x []T, dim int, embeddings []absolute.Embedding[W]) bool {
	if dim < 1 || len(x)%dim != 0 {
		return false
	}
	for _, e := range embeddings {
		rows := len(e.Table) / dim
		if len(e.IDs) != len(x)/dim || len(e.Table)%dim != 0 || kit.Share(x, e.Table) || kit.Share(x, e.IDs) || e.Offset < 0 || e.Offset > rows {
			return false
		}
		for _, id := range e.IDs {
			if row := int64(id) + int64(e.Offset); row < 0 || row >= int64(rows) {
				return false
			}
		}
	}
	return true
}

func addEmbeddingsPlain[T, W posenc.Element](x []T, dim int, embeddings []absolute.Embedding[W]) {
	for i := range x {
		for _, e := range embeddings {
			row := int(e.IDs[i/dim]) + e.Offset
			x[i] = kit.Narrow[T](kit.Widen(x[i]) + kit.Widen(e.Table[row*dim+i%dim]))
		}
	}
}

func digestEmbeddings[T, W posenc.Element](d *kit.Digest) {
	for _, dim := range []int{1, 7, 32, 65} {
		const rows, tokens = 9, 6
		x := kit.DigestElements[T](d, tokens*dim)
		d.Must(absolute.AddEmbeddings(x, dim,
			absolute.Embedding[W]{Table: kit.DigestElements[W](d, rows*dim), IDs: d.Indices(tokens, rows)},
			absolute.Embedding[W]{Table: kit.DigestElements[W](d, rows*dim), IDs: d.Indices(tokens, rows-2), Offset: 2}))
		d.Add(x)
	}
}

var (
	_ = kit.Register(kit.Case{Function: "InterpolateTable",
		Call: func(a *kit.Arguments) kit.Call {
			dim, rows, srcRows := a.Number(1, 9), a.Number(1, 20), a.Number(1, 20)
			src, dst := kit.Slice[float32](a, kit.Small(dim, srcRows)), kit.Output[float32](a, kit.Small(dim, rows))
			return kit.Call{
				Run: func() error { return absolute.InterpolateTable(dst, src, dim) },
				Right: func() bool {
					return dim >= 1 && len(src) > 0 && len(src)%dim == 0 && len(dst) > 0 && len(dst)%dim == 0 && !kit.Share(dst, src)
				},
				Want: func() { interpolateTablePlain(dst, src, dim) },
			}
		},
		Digests: func(add kit.AddDigest) {
			add("InterpolateTable", func(d *kit.Digest) {
				for _, shape := range [][2]int{{7, 19}, {19, 7}, {5, 5}, {1, 3}} {
					dst := make([]float32, shape[1]*12)
					d.Must(absolute.InterpolateTable(dst, kit.DigestNumbers[float32](d, shape[0]*12), 12))
					d.Add(dst)
				}
			})
		},
	})
	_ = kit.Register(kit.Case{Function: "InterpolateGrid",
		Call: func(a *kit.Arguments) kit.Call {
			o := gridOptions(a)
			src, dst := kit.Slice[float32](a, kit.Small(o.Dim, o.SrcHeight, o.SrcWidth)), kit.Output[float32](a, kit.Small(o.Dim, o.DstHeight, o.DstWidth))
			call := kit.Call{
				Run:       func() error { return absolute.InterpolateGrid(dst, src, o) },
				Right:     func() bool { return gridRight(dst, src, o) },
				Allocates: 1 << 16, // the weights
			}
			if !o.Float32 { // which has golden vectors
				call.Want = func() { interpolateGridPlain(dst, src, o) }
			}
			return call
		},
		Digests: func(add kit.AddDigest) {
			add("InterpolateGrid", func(d *kit.Digest) {
				digestGrids(d, absolute.InterpolateGridOptions{}, absolute.InterpolateGridOptions{Antialias: true})
			})
			add("InterpolateGrid/bilinear", func(d *kit.Digest) {
				digestGrids(d, absolute.InterpolateGridOptions{Bilinear: true}, absolute.InterpolateGridOptions{Bilinear: true, AlignCorners: true},
					absolute.InterpolateGridOptions{Bilinear: true, ZeroPadding: true})
			})
			add("InterpolateGrid/merged", func(d *kit.Digest) {
				dst := make([]float32, 6*8*3)
				d.Must(absolute.InterpolateGrid(dst, kit.DigestNumbers[float32](d, 5*4*3),
					absolute.InterpolateGridOptions{SrcHeight: 5, SrcWidth: 4, DstHeight: 6, DstWidth: 8, Dim: 3, Bilinear: true, AlignCorners: true, MergeSize: 2}))
				d.Add(dst)
			})
			add("InterpolateGrid/float32", func(d *kit.Digest) {
				digestGrids(d, absolute.InterpolateGridOptions{Float32: true, ZeroPadding: true}, absolute.InterpolateGridOptions{Float32: true, Bilinear: true, AlignCorners: true})
			})
		},
	})
	_ = kit.Register(kit.Case{Function: "GridWeights",
		Call: func(a *kit.Arguments) kit.Call {
			o := gridOptions(a)
			o.Antialias = a.Rarely()
			taps := kit.Small(gridTaps(o), o.DstHeight, o.DstWidth)
			indices, weights := kit.Output[int32](a, taps), kit.Output[float32](a, taps)
			call := kit.Call{
				Run: func() error { return absolute.GridWeights(indices, weights, o) },
				Right: func() bool {
					return gridOptionsRight(o) && !o.Antialias && float64(o.SrcHeight)*float64(o.SrcWidth) < 1<<31 &&
						float64(len(indices)) == float64(o.DstHeight)*float64(o.DstWidth)*float64(gridTaps(o)) && len(weights) == len(indices) && !kit.Share(indices, weights)
				},
			}
			if !o.Float32 {
				call.Want = func() { gridWeightsPlain(indices, weights, o) }
			}
			return call
		},
		Digests: func(add kit.AddDigest) {
			add("GridWeights", func(d *kit.Digest) {
				for _, o := range []absolute.InterpolateGridOptions{{}, {Bilinear: true}, {Float32: true}, {Bilinear: true, Float32: true}} {
					o.DstHeight, o.DstWidth, o.SrcHeight, o.SrcWidth = 9, 4, 5, 7
					indices, weights := make([]int32, 36*gridTaps(o)), make([]float32, 36*gridTaps(o))
					d.Must(absolute.GridWeights(indices, weights, o))
					d.Add(indices)
					d.Add(weights)
				}
			})
		},
	})
)

// gridOptions are sizes and a method, rarely wrong ones.
func gridOptions(a *kit.Arguments) absolute.InterpolateGridOptions {
	o := absolute.InterpolateGridOptions{DstHeight: a.Number(1, 12), DstWidth: a.Number(1, 12), SrcHeight: a.Number(1, 12), SrcWidth: a.Number(1, 12), Dim: a.Number(1, 5), Antialias: a.Yes()}
	if !a.Any() && a.Below(16) == 0 { // as long across each other as only antialiasing forbids
		o = absolute.InterpolateGridOptions{DstHeight: 1, DstWidth: 300, SrcHeight: 300, SrcWidth: 1, Dim: 1}
	}
	if a.Yes() {
		o.Antialias, o.Bilinear, o.AlignCorners, o.ZeroPadding, o.Float32 = a.Rarely(), a.Yes(), a.Yes(), a.Yes(), a.Yes()
	}
	if small := o.DstHeight < 99 && o.DstWidth < 99; a.Below(3) == 0 && (small || a.Any()) {
		o.MergeSize = a.Number(1, 3)
		if m := o.MergeSize; small && m >= 1 && m < 9 && !a.Rarely() {
			o.DstHeight, o.DstWidth = o.DstHeight*m, o.DstWidth*m
		}
	}
	return o
}

// digestGrids interpolates grids of several shapes.
func digestGrids(d *kit.Digest, list ...absolute.InterpolateGridOptions) {
	for _, o := range list {
		for _, shape := range [][4]int{{5, 7, 9, 4}, {9, 4, 5, 7}, {3, 3, 3, 3}, {1, 2, 3, 1}} {
			o.SrcHeight, o.SrcWidth, o.DstHeight, o.DstWidth, o.Dim = shape[0], shape[1], shape[2], shape[3], 5
			dst := make([]float32, shape[2]*shape[3]*5)
			d.Must(absolute.InterpolateGrid(dst, kit.DigestNumbers[float32](d, shape[0]*shape[1]*5), o))
			d.Add(dst)
		}
	}
}

func gridTaps(o absolute.InterpolateGridOptions) int {
	if o.Bilinear {
		return 4
	}
	return 16
}

func gridOptionsRight(o absolute.InterpolateGridOptions) bool {
	for _, n := range []int{o.DstHeight, o.DstWidth, o.SrcHeight, o.SrcWidth} {
		if n < 1 || n > 1<<24 {
			return false
		}
	}
	m := max(o.MergeSize, 1)
	return o.MergeSize >= 0 && o.DstHeight%m == 0 && o.DstWidth%m == 0 && !(o.Antialias && (o.Bilinear || o.AlignCorners || o.ZeroPadding || o.Float32))
}

func gridRight(dst, src []float32, o absolute.InterpolateGridOptions) bool {
	product := func(height, width int) float64 { return float64(height) * float64(width) } // exact
	dstPatches, srcPatches := product(o.DstHeight, o.DstWidth), product(o.SrcHeight, o.SrcWidth)
	return gridOptionsRight(o) && o.Dim >= 1 && float64(len(dst)) == dstPatches*float64(o.Dim) && float64(len(src)) == srcPatches*float64(o.Dim) && !kit.Share(dst, src) &&
		(!o.Antialias || product(max(o.DstHeight, o.SrcHeight), max(o.DstWidth, o.SrcWidth)) <= 64*(dstPatches+srcPatches))
}

func interpolateTablePlain(dst, src []float32, dim int) {
	n, m := len(src)/dim, len(dst)/dim
	for i := range dst {
		whole, f := plainCentre(i/dim, n, m)
		if whole < 0 {
			whole, f = 0, 0
		}
		first, second := float64(src[whole*dim+i%dim]), float64(src[min(whole+1, n-1)*dim+i%dim])
		dst[i] = float32(float64((1-f)*first) + float64(f*second))
	}
}

func interpolateGridPlain(dst, src []float32, o absolute.InterpolateGridOptions) {
	patches := patchesInBlocks(o.DstHeight, o.DstWidth, max(o.MergeSize, 1))
	for i := range dst {
		patch, j := patches[i/o.Dim], i%o.Dim
		rows, rowWeights := plainWeights(patch/o.DstWidth, o.SrcHeight, o.DstHeight, o)
		columns, columnWeights := plainWeights(patch%o.DstWidth, o.SrcWidth, o.DstWidth, o)
		sum := 0.0
		for a, row := range rows {
			line := 0.0
			for b, column := range columns {
				if row < 0 || column < 0 {
					continue
				}
				line += float64(columnWeights[b] * float64(src[(row*o.SrcWidth+column)*o.Dim+j]))
			}
			sum += float64(rowWeights[a] * line)
		}
		dst[i] = float32(sum)
	}
}

// gridWeightsPlain finds the patch at the border by the same sizes without ZeroPadding.
func gridWeightsPlain(indices []int32, weights []float32, o absolute.InterpolateGridOptions) {
	border := o
	border.ZeroPadding = false
	for i, patch := range patchesInBlocks(o.DstHeight, o.DstWidth, max(o.MergeSize, 1)) {
		rows, rowWeights := plainWeights(patch/o.DstWidth, o.SrcHeight, o.DstHeight, border)
		columns, columnWeights := plainWeights(patch%o.DstWidth, o.SrcWidth, o.DstWidth, border)
		inRows, _ := plainWeights(patch/o.DstWidth, o.SrcHeight, o.DstHeight, o)
		inColumns, _ := plainWeights(patch%o.DstWidth, o.SrcWidth, o.DstWidth, o)
		for k := range gridTaps(o) {
			a, b := k/len(columns), k%len(columns)
			weight := float32(rowWeights[a] * columnWeights[b])
			if inRows[a] < 0 || inColumns[b] < 0 {
				weight *= 0
			}
			indices[i*gridTaps(o)+k], weights[i*gridTaps(o)+k] = int32(rows[a]*o.SrcWidth+columns[b]), weight
		}
	}
}

// plainWeights returns the elements of n that make element i of m, -1 for one beyond the border
// that counts as 0, and their weights.
func plainWeights(i, n, m int, o absolute.InterpolateGridOptions) (elements []int, weights []float64) {
	if o.Antialias {
		return plainAntialiased(i, n, m)
	}
	whole, f := plainCentre(i, n, m)
	if o.AlignCorners {
		at := big.NewRat(int64(i*(n-1)), int64(max(m-1, 1)))
		whole = int(new(big.Int).Div(at.Num(), at.Denom()).Int64())
		f, _ = at.Sub(at, big.NewRat(int64(whole), 1)).Float64()
	}
	first, distances := -1, []float64{1 + f, f, 1 - f, 2 - f}
	for _, t := range distances {
		weights = append(weights, plainCubic(-0.75, t))
	}
	if o.Bilinear {
		first, weights = 0, []float64{1 - f, f}
	}
	for j := range weights {
		element := min(max(whole+first+j, 0), n-1)
		if o.ZeroPadding && element != whole+first+j {
			element = -1
		}
		elements = append(elements, element)
	}
	return elements, weights
}

// patchesInBlocks are the numbers of patches, counted row by row, as blocks follow each
// other.
func patchesInBlocks(height, width, m int) (list []int) {
	for top := 0; top < height; top += m {
		for left := 0; left < width; left += m {
			for y := range m {
				for x := range m {
					list = append(list, (top+y)*width+left+x)
				}
			}
		}
	}
	return list
}

// plainCubic is the kernel of Keys at a distance, by Horner's rule.
func plainCubic(a, t float64) float64 {
	if t <= 1 {
		square := float64(t * t)
		return math.FMA(math.FMA(a+2, t, -(a+3)), square, 1)
	}
	return math.FMA(math.FMA(math.FMA(a, t, -5*a), t, 8*a), t, -4*a)
}

// plainAntialiased returns the weights of the elements, of n, that make element i of m, as the
// documentation of InterpolateGrid has them with Antialias, from exact fractions.
func plainAntialiased(i, n, m int) (elements []int, weights []float64) {
	at, s := big.NewRat(int64((2*i+1)*n), int64(2*m)), big.NewRat(int64(max(n, m)), int64(m))
	sum := 0.0
	for j := range n {
		distance := new(big.Rat).Sub(big.NewRat(int64(2*j+1), 2), at)
		if t, _ := distance.Abs(distance.Quo(distance, s)).Float64(); t < 2 {
			elements, weights = append(elements, j), append(weights, plainCubic(-0.5, t))
			sum += plainCubic(-0.5, t)
		}
	}
	for j := range weights {
		weights[j] /= sum
	}
	return elements, weights
}

// plainCentre returns the centre of element i of m among n, less 1/2, as a whole
// number and the rest, from exact fractions.
func plainCentre(i, n, m int) (whole int, rest float64) {
	at := big.NewRat(int64((2*i+1)*n-m), int64(2*m))
	whole = int(new(big.Int).Div(at.Num(), at.Denom()).Int64())
	rest, _ = at.Sub(at, big.NewRat(int64(whole), 1)).Float64()
	return whole, rest
}

var (
	_ = kit.Register(kit.Case{Function: "PaddedPositions",
		Call: paddedPositionsCall,
		Digests: func(add kit.AddDigest) {
			add("PaddedPositions", func(d *kit.Digest) {
				positions := make([]int32, 50)
				d.Must(absolute.PaddedPositions(positions, digestMask(d, 50), 1))
				d.Add(positions)
			})
		},
	})
	_ = kit.Register(kit.Case{Function: "DETRPositions",
		Call: detrPositionsCall,
		Digests: func(add kit.AddDigest) {
			add("DETRPositions", func(d *kit.Digest) {
				for _, scale := range []float64{0, 2 * math.Pi} {
					for _, offset := range []float64{0, 0.5} {
						for _, mask := range [][]bool{nil, digestMask(d, 9*13)} {
							positions := make([]float32, 2*9*13)
							d.Must(absolute.DETRPositions(positions, mask, absolute.DETRPositionsOptions{Height: 9, Width: 13, NormalizeTo: scale, Offset: offset}))
							d.Add(positions)
						}
					}
				}
			})
		},
	})
)

func paddedPositionsCall(a *kit.Arguments) kit.Call {
	tokens := a.Tokens()
	mask, positions := maskOf(a, tokens), kit.Output[int32](a, tokens)
	padding := int32(a.Number(-1, 2))
	if a.Below(8) == 0 {
		padding = math.MaxInt32 - int32(tokens)
	}
	if a.Rarely() {
		padding += int32(a.Below(3))
	}
	return kit.Call{
		Run: func() error { return absolute.PaddedPositions(positions, mask, padding) },
		Right: func() bool {
			return len(positions) == len(mask) && int64(padding)+int64(len(mask)) <= math.MaxInt32 && !kit.Share(positions, mask)
		},
		Want: func() {
			for t := range positions {
				positions[t] = padding
				if mask[t] {
					for _, there := range mask[:t+1] {
						if there {
							positions[t]++
						}
					}
				}
			}
		},
	}
}

func detrPositionsCall(a *kit.Arguments) kit.Call {
	o := absolute.DETRPositionsOptions{Height: a.Number(1, 12), Width: a.Number(1, 12)}
	o.NormalizeTo = []float64{0, 2 * math.Pi, 1, math.MaxFloat32}[a.Below(4)]
	o.Offset = []float64{0, 0.5, 1, 0.1}[a.Below(4)]
	if a.Any() {
		o.NormalizeTo, o.Offset = a.Real(o.NormalizeTo), a.Real(o.Offset)
	}
	pixels := kit.Small(o.Height, o.Width)
	var mask []bool
	if a.Yes() {
		mask = maskOf(a, pixels)
	}
	positions := kit.Output[float32](a, 2*pixels)
	return kit.Call{
		Run: func() error { return absolute.DETRPositions(positions, mask, o) },
		Right: func() bool {
			scale := float64(float32(o.NormalizeTo))
			return o.Height > 0 && o.Height <= 1<<24 && o.Width > 0 && o.Width <= 1<<24 && float64(len(positions)) == 2*float64(o.Height)*float64(o.Width) &&
				(mask == nil || 2*len(mask) == len(positions)) && !kit.Share(positions, mask) &&
				(o.NormalizeTo == 0 || scale > 0 && scale <= math.MaxFloat32) && o.Offset >= 0 && o.Offset <= 1
		},
		Want: func() {
			for i := range positions {
				positions[i] = plainDETRPosition(mask, o, i)
			}
		},
	}
}

// plainDETRPosition returns y of pixel i, or x where i is above the pixels.
func plainDETRPosition(mask []bool, o absolute.DETRPositionsOptions, i int) float32 {
	// count is the pixels that are there, up to rows above a pixel and up to columns before
	// it.
	count := func(row, column, rows, columns int) (n float32) {
		for i := range rows + 1 {
			for j := range columns + 1 {
				if at := (row-i)*o.Width + column - j; mask == nil || mask[at] {
					n++
				}
			}
		}
		return n
	}
	pixels := o.Height * o.Width
	row, column := i%pixels/o.Width, i%pixels%o.Width
	p, last := count(row, column, row, 0), count(o.Height-1, column, o.Height-1, 0)
	if i >= pixels {
		p, last = count(row, column, 0, column), count(row, o.Width-1, 0, o.Width-1)
	}
	p -= float32(o.Offset)
	if o.NormalizeTo == 0 {
		return p
	}
	return float32(p/(last+float32(1e-6))) * float32(o.NormalizeTo)
}

// digestMask returns n truths, most of them true.
func digestMask(d *kit.Digest, n int) []bool {
	mask := make([]bool, n)
	for i := range mask {
		mask[i] = d.Below(4) > 0
	}
	return mask
}
