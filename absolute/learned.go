package absolute

import (
	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/argument"
	"github.com/go-posenc/posenc/internal/dispatch"
	"github.com/go-posenc/posenc/internal/view"
	"github.com/go-posenc/posenc/kernels"
)

// Embedding is a learned table, and the row of it that each token takes: row Offset+IDs[t]
// for token t.
type Embedding[W posenc.Element] struct {
	Table  []W     // [rows][dim]
	IDs    []int32 // one for each token: a position, a token type
	Offset int     // the row that ID 0 takes
}

// AddEmbeddings adds rows of learned tables to token embeddings, in place. It adds each e of
// embeddings in order:
//
//	x[t][i] = RN(RN32(x[t][i] + e.Table[e.Offset+e.IDs[t]][i]))
//
// RN rounds once to 16-bit elements. This is what PyTorch computes where x and the tables
// have the same type. x is [tokens][dim]. Errors wrap ErrShape (dim), [posenc.ErrLength],
// [posenc.ErrOverlap] or [posenc.ErrPosition] (an ID without a row).
func AddEmbeddings[T, W posenc.Element](x []T, dim int, embeddings ...Embedding[W]) error {
	const function = "absolute.AddEmbeddings"
	switch {
	case dim < 1:
		return argument.Error(posenc.ErrShape, function, "dim", dim, "at least 1")
	case len(x)%dim != 0:
		return argument.Error(posenc.ErrLength, function, "x", argument.Elements(len(x)), "a multiple of dim %d", dim)
	}
	tokens := len(x) / dim
	for i := range embeddings {
		e := &embeddings[i]
		field := func(name string) string { return argument.Indexed("embeddings", i) + "." + name }
		switch {
		case len(e.IDs) != tokens:
			return argument.Error(posenc.ErrLength, function, field("IDs"), argument.Elements(len(e.IDs)), "%d, one for each row of x", tokens)
		case len(e.Table)%dim != 0:
			return argument.Error(posenc.ErrLength, function, field("Table"), argument.Elements(len(e.Table)), "a multiple of dim %d", dim)
		case argument.Overlap(x, e.Table):
			return argument.Error(posenc.ErrOverlap, function, "x", "sharing memory with "+field("Table"), "another slice")
		case argument.Overlap(x, e.IDs):
			return argument.Error(posenc.ErrOverlap, function, "x", "sharing memory with "+field("IDs"), "another slice")
		}
		rows := len(e.Table) / dim
		switch {
		case rows == 0 && tokens > 0:
			return argument.Error(posenc.ErrLength, function, field("Table"), argument.Elements(len(e.Table)), "at least one row of %d", dim)
		case e.Offset < 0 || e.Offset > rows:
			return argument.Error(posenc.ErrPosition, function, field("Offset"), e.Offset, "from 0 to the %d rows of the table", rows)
		}
		for t, id := range e.IDs {
			if int64(id) < -int64(e.Offset) || int64(id) >= int64(rows-e.Offset) {
				return argument.Error(posenc.ErrPosition, function, argument.Indexed(field("IDs"), t), id, "from %d to %d, the rows of the table", -e.Offset, rows-e.Offset-1)
			}
		}
	}
	to := operandOf(x)
	tables, ok := any(embeddings).([]Embedding[float32])
	switch {
	case !ok:
		addConverted(&to, dim, tokens, embeddings)
	case to.Kind == kernels.KindFloat32:
		addInPlace(to.Float32s(0), dim, tokens, tables)
	default:
		for t := range tokens {
			for i := range tables {
				addScaled(&to, t*dim, tables[i].row(t, dim), 1)
			}
		}
	}
	return nil
}

func (e *Embedding[W]) row(t, dim int) []W {
	return e.Table[(e.Offset+int(e.IDs[t]))*dim:][:dim]
}

// addConverted adds rows of 16-bit elements, as many at a time as scratch memory holds.
func addConverted[W posenc.Element](to *view.Operand, dim, tokens int, embeddings []Embedding[W]) {
	var memory [kernels.ChunkPairs + kernels.Line]float32
	scratch := kernels.LineAligned(memory[:])
	wide := view.Over(scratch)
	for t := range tokens {
		for i := range embeddings {
			row := operandOf(embeddings[i].row(t, dim))
			for column := 0; column < dim; column += len(scratch) {
				n := min(len(scratch), dim-column)
				view.Convert(&wide, &row, 0, column, n)
				addScaled(to, t*dim+column, scratch[:n], 1)
			}
		}
	}
}

// addInPlace adds float32 rows to float32 elements, as many as a call takes.
func addInPlace(x []float32, dim, tokens int, embeddings []Embedding[float32]) {
	part := kernels.Tile{Stride: dim}
	most := max(1, kernels.MaxCallElements/dim)
	for first := 0; first < tokens; first += most {
		part.Rows = min(most, tokens-first)
		for column := 0; column < dim; column += part.Len {
			part.Len = min(kernels.MaxCallElements, dim-column)
			for i := range embeddings {
				e := &embeddings[i]
				kernels.AddRowsF32(dispatch.Implementation(), x[first*dim+column:], e.Table, e.Offset*dim+column, dim, e.IDs[first:], &part)
			}
		}
	}
}

// operandOf returns s as an operand that keeps its element type at run time.
func operandOf[T posenc.Element](s []T) view.Operand {
	return (&view.View[T]{Data: s}).Operand(kernels.KindOf[T, posenc.Float16, posenc.BFloat16](), len(s))
}

// addScaled sets len(y) elements of x, from index at on, to x*scale+y. The product and the
// sum are rounded to float32, and the sum to the element type of x.
func addScaled(x *view.Operand, at int, y []float32, scale float32) {
	for ; len(y) > kernels.MaxCallElements; at, y = at+kernels.MaxCallElements, y[kernels.MaxCallElements:] {
		addScaled(x, at, y[:kernels.MaxCallElements], scale)
	}
	switch x.Kind {
	case kernels.KindFloat32:
		kernels.AddScaledF32(dispatch.Implementation(), x.Float32s(at)[:len(y)], y, scale)
	case kernels.KindFloat16:
		kernels.AddScaledF16(dispatch.Implementation(), x.Bits(at)[:len(y)], y, scale)
	case kernels.KindBFloat16:
		kernels.AddScaledBF16(dispatch.Implementation(), x.Bits(at)[:len(y)], y, scale)
	}
}
