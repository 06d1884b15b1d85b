package absolute_test

import (
	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/internal/testkit"
)

var _ = testkit.Register(testkit.Case{Function: "AddEmbeddings", RoundsTwice: true,
	Call: func(a *testkit.Arguments) testkit.Call {
		switch a.Below(3) {
		case 0:
			return testkit.OfType(a, embeddingsCall[float32, float32], embeddingsCall[posenc.Float16, float32], embeddingsCall[posenc.BFloat16, float32])(a)
		case 1:
			return testkit.OfType(a, embeddingsCall[float32, posenc.Float16], embeddingsCall[posenc.Float16, posenc.Float16], embeddingsCall[posenc.BFloat16, posenc.Float16])(a)
		}
		return testkit.OfType(a, embeddingsCall[float32, posenc.BFloat16], embeddingsCall[posenc.Float16, posenc.BFloat16], embeddingsCall[posenc.BFloat16, posenc.BFloat16])(a)
	},
	Digests: func(add testkit.AddDigest) {
		add.Pairs("AddEmbeddings", "type", "table", [3][3]func(*testkit.Digest){
			{digestEmbeddings[float32, float32], digestEmbeddings[float32, posenc.Float16], digestEmbeddings[float32, posenc.BFloat16]},
			{digestEmbeddings[posenc.Float16, float32], digestEmbeddings[posenc.Float16, posenc.Float16], digestEmbeddings[posenc.Float16, posenc.BFloat16]},
			{digestEmbeddings[posenc.BFloat16, float32], digestEmbeddings[posenc.BFloat16, posenc.Float16], digestEmbeddings[posenc.BFloat16, posenc.BFloat16]},
		})
	},
})

func embeddingsCall[T, W posenc.Element](a *testkit.Arguments) testkit.Call {
	dim, tokens := a.Length(), a.Tokens()
	if !a.Any() && a.Below(8) == 0 {
		dim = []int{1023, 1025, 2100}[a.Below(3)] // round the elements that are converted at a time
		tokens = min(tokens, 5)
	}
	x := testkit.Output[T](a, testkit.Small(dim, tokens))
	if !a.Any() {
		tokens = len(x) / dim // fewer where these are too many
		x = x[:tokens*dim]
	}
	embeddings := make([]absolute.Embedding[W], a.Below(3))
	for i := range embeddings {
		rows := 1 + a.Below(6)
		e := &embeddings[i]
		e.Table, e.IDs = testkit.Slice[W](a, testkit.Small(dim, rows)), testkit.Slice[int32](a, tokens)
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
	return testkit.Call{
		Run:   func() error { return absolute.AddEmbeddings(x, dim, embeddings...) },
		Right: func() bool { return embeddingsRight(x, dim, embeddings) },
		Want:  func() { addEmbeddingsPlain(x, dim, embeddings) },
		Parts: func(c *testkit.Choices) [][]func() error {
			return testkit.RowParts(c, [][]T{x}, []int{dim}, tokens, func(x [][]T, tokens []int) error {
				part := make([]absolute.Embedding[W], len(embeddings))
				for i, e := range embeddings {
					part[i] = absolute.Embedding[W]{Table: e.Table, IDs: testkit.Pick(e.IDs, tokens), Offset: e.Offset}
				}
				return absolute.AddEmbeddings(x[0], dim, part...)
			})
		},
	}
}

func embeddingsRight[T, W posenc.Element](x []T, dim int, embeddings []absolute.Embedding[W]) bool {
	if dim < 1 || len(x)%dim != 0 {
		return false
	}
	for _, e := range embeddings {
		rows := len(e.Table) / dim
		if len(e.IDs) != len(x)/dim || len(e.Table)%dim != 0 || testkit.Share(x, e.Table) || testkit.Share(x, e.IDs) || e.Offset < 0 || e.Offset > rows {
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
			x[i] = testkit.Narrow[T](testkit.Widen(x[i]) + testkit.Widen(e.Table[row*dim+i%dim]))
		}
	}
}

func digestEmbeddings[T, W posenc.Element](d *testkit.Digest) {
	for _, dim := range []int{1, 7, 32, 65} {
		const rows, tokens = 9, 6
		x := testkit.DigestElements[T](d, tokens*dim)
		d.Must(absolute.AddEmbeddings(x, dim,
			absolute.Embedding[W]{Table: testkit.DigestElements[W](d, rows*dim), IDs: d.Indices(tokens, rows)},
			absolute.Embedding[W]{Table: testkit.DigestElements[W](d, rows*dim), IDs: d.Indices(tokens, rows-2), Offset: 2}))
		d.Add(x)
	}
}
