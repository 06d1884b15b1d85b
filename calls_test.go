package posenc_test

import (
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/relative"

	"github.com/go-posenc/posenc/kernels"
)

// long calls what takes slices or views of any size with long ones.
func long(t *testing.T) {
	const width = 1<<17 + 24 // elements of a head or of a row of scores
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	rotary := func(cfg posenc.RotaryConfig) *posenc.Rotary {
		t.Helper()
		r, err := posenc.NewRotary(cfg)
		check(err)
		return r
	}
	positions := make([]int32, 300)
	for i := range positions {
		positions[i] = int32(i)
	}
	n := len(positions)

	// Long tables, and long rows of them.
	cos, sin := make([]float32, 64*n), make([]float32, 64*n)
	angles := make([]float32, len(cos))
	check(posenc.CosSin(cos, sin, positions, make([]float64, 64)))
	check(posenc.CosSinAngles(cos, sin, angles))
	const most = 1 << 16 // that RotaryDim may be
	wide, wideSin := make([]float32, 3*most/2), make([]float32, 3*most/2)
	for _, kind := range []posenc.AngleRounding{posenc.ExactAngles, posenc.Float32Angles} {
		r := rotary(posenc.RotaryConfig{HeadDim: most, Angles: kind})
		check(r.CosSin(wide, wideSin, positions[:3]))
		check(r.CosSinFractional(wide, wideSin, []float32{1, 2.5, 3}))
		_, err := r.Tabulate(positions[:3])
		check(err)
	}

	// Long heads, many heads, many tokens; whole heads and a slice of them.
	for _, layout := range []posenc.Layout{posenc.HalfSplit, posenc.Interleaved} {
		for _, shape := range []struct{ tokens, heads, dim, rotary int }{
			{1, 1, width, most}, {2, 1, width, 64}, {2, 3, width, 1024}, {1, 3000, 128, 128}, {20, 300, 128, 64}, {300, 32, 128, 128},
		} {
			r := rotary(posenc.RotaryConfig{HeadDim: shape.dim, RotaryDim: shape.rotary, Layout: layout})
			size := shape.tokens * shape.heads * shape.dim
			p := positions[:shape.tokens]
			x32, y32 := posenc.View[float32]{Data: make([]float32, size), Heads: shape.heads}, posenc.View[float32]{Data: make([]float32, size), Heads: shape.heads}
			x16, y16 := posenc.View[posenc.Float16]{Data: make([]posenc.Float16, size), Heads: shape.heads}, posenc.View[posenc.Float16]{Data: make([]posenc.Float16, size), Heads: shape.heads}
			xb, yb := posenc.View[posenc.BFloat16]{Data: make([]posenc.BFloat16, size), Heads: shape.heads}, posenc.View[posenc.BFloat16]{Data: make([]posenc.BFloat16, size), Heads: shape.heads}
			check(posenc.Rotate(r.At(p), x32))
			check(posenc.Rotate(r.At(p), x16))
			check(posenc.RotateInverse(r.At(p), xb))
			check(posenc.Shift(r, p, xb))
			check(posenc.RotateInto(r.At(p), y32, nil, x32))
			check(posenc.RotateInto(r.At(p), y16, nil, x32))
			check(posenc.RotateInto(r.At(p), yb, nil, x32))
			if shape.rotary <= 2*kernels.ChunkPairs {
				check(posenc.RotateInto(r.At(p), yb, nil, x16))
				check(posenc.RotateInto(r.At(p), y32, nil, x16))
				check(posenc.RotateInto(r.At(p), y32, nil, xb))
			}
			factors := make([]float32, shape.tokens)
			check(posenc.Scale(factors, shape.dim, x32))
			check(posenc.Scale(factors, shape.dim, x16))
			check(posenc.Scale(factors, shape.dim, xb))
			if shape.dim <= kernels.MaxCallElements {
				norm, err := posenc.NewRMSNorm(make([]float32, shape.dim), 1e-6, false)
				check(err)
				check(posenc.Normalize(norm, shape.tokens, x32))
				check(posenc.Normalize(norm, shape.tokens, x16))
				check(posenc.Normalize(norm, shape.tokens, xb))
			}
		}
	}

	// Norms with the rotation, for few heads and for many.
	r := rotary(posenc.RotaryConfig{HeadDim: 128, Layout: posenc.HalfSplit})
	norm, err := posenc.NewRMSNorm(make([]float32, 128), 1e-6, false)
	check(err)
	for _, heads := range []int{1, 3000} {
		x := posenc.View[float32]{Data: make([]float32, 20*heads*128), Heads: heads}
		check(posenc.RotateFused(r.At(positions[:20]), posenc.FusedView[float32]{View: x, Norm: norm, Scale: make([]float32, 20)}))
		check(posenc.RotateFused(r.At(make([]int32, 20)), posenc.FusedView[float32]{View: x, Norm: norm}))
	}

	// Sinusoidal rows.
	s, err := absolute.NewSinusoidal(absolute.SinusoidalConfig{Dim: most, InvFreq: make([]float64, most/2)})
	check(err)
	check(absolute.SinusoidalRows(s, positions[:40], make([]float32, 40*most)))
	check(absolute.AddSinusoidal(s, positions[:40], make([]posenc.Float16, 40*most), 1))

	// Long rows of scores, and many.
	buckets, err := relative.NewT5Buckets(32, 128, true)
	check(err)
	t5, err := relative.NewT5Bias(buckets, make([]float32, 32))
	check(err)
	for _, shape := range []struct{ queries, keys int }{{1, width}, {300, 500}} {
		scores := relative.Scores{Data: make([]float32, shape.queries*shape.keys), Heads: 1, Queries: shape.queries, Keys: shape.keys}
		for _, form := range []relative.ALiBiForm{relative.CausalALiBi, relative.SymmetricALiBi, relative.KeyALiBi} {
			check(relative.AddALiBi(scores, []float32{0.5}, form))
		}
		check(relative.AddT5(scores, t5))
	}

	swin, err := relative.NewSwinBias(32, 32, make([]float32, 63*63))
	check(err)
	check(relative.AddSwin(relative.Scores{Data: make([]float32, 1<<20), Heads: 1, Queries: 1 << 10, Keys: 1 << 10}, swin))

	// Long and many vectors of relative positions, and many rows.
	for _, shape := range []struct{ tokens, columns, dim int }{{1, 300, 1024}, {300, 300, 64}, {1, width, 1}, {3000, 3, 1}} {
		x, vectors := posenc.View[float32]{Data: make([]float32, shape.tokens*shape.dim), Heads: 1}, posenc.View[float32]{Data: make([]float32, shape.columns*shape.dim), Heads: 1}
		products := relative.Products{Data: make([]float32, shape.tokens*shape.columns)}
		check(relative.RelativeProducts(products, x, make([]float32, shape.dim), vectors, shape.tokens, shape.columns, shape.dim))
		check(relative.AddRelativeValues(x, products, vectors, shape.tokens, shape.columns, shape.dim))
	}

	// Long sums, and many.
	table := make([]float32, 2*width)
	check(absolute.AddEmbeddings(make([]float32, 2*width), width, absolute.Embedding[float32]{Table: table, IDs: positions[:2]}))
	check(absolute.AddEmbeddings(make([]float32, 500*n), 500, absolute.Embedding[float32]{Table: make([]float32, 500*n), IDs: positions}))
}

func TestLongArguments(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT TESTED: long arguments")
	}
	testkit.EachImplementation(t, func(t *testing.T, _ kernels.Implementation) { long(t) })
}

// No call of a kernel works on more than MaxCallElements elements, since a garbage
// collection waits for it.
func TestCallsAreBounded(t *testing.T) {
	testkit.CallsAreBounded(t, "TestLongArguments", kernels.MaxCallElements)
}
