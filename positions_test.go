package posenc_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
)

func TestRaggedPositions(t *testing.T) {
	for _, tt := range []struct{ starts, offsets, want []int32 }{
		{[]int32{0}, nil, nil},
		{[]int32{0}, []int32{}, nil},
		{[]int32{0, 0, 0}, []int32{5, 7}, nil},
		{[]int32{0, 3}, nil, []int32{0, 1, 2}},
		{[]int32{0, 3, 4, 4, 6}, nil, []int32{0, 1, 2, 0, 0, 1}},
		{[]int32{0, 3, 4, 4, 6}, []int32{10, 0, 99, -1}, []int32{10, 11, 12, 0, -1, 0}},
		{[]int32{0, 1, 2, 3}, []int32{131071, 5, 0}, []int32{131071, 5, 0}},                                         // decode
		{[]int32{0, 4, 8}, []int32{0, -2}, []int32{0, 1, 2, 3, -2, -1, 0, 1}},                                       // padding on the left
		{[]int32{0, 2, 3}, []int32{math.MaxInt32 - 1, math.MinInt32}, []int32{1<<31 - 2, 1<<31 - 1, -1 << 31}},      // the last and the first
		{[]int32{0, 0, 1}, []int32{math.MaxInt32, math.MaxInt32}, []int32{math.MaxInt32}},                           // no token beyond
		{[]int32{0, 0, 0, 2, 2}, []int32{math.MinInt32, 1, math.MinInt32, 3}, []int32{-1 << 31, math.MinInt32 + 1}}, // empty sequences
	} {
		got := make([]int32, len(tt.want))
		if err := posenc.RaggedPositions(got, tt.starts, tt.offsets); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("starts %v, offsets %v: got %v, want %v, error %v", tt.starts, tt.offsets, got, tt.want, err)
		}
	}
}

func TestRaggedPositionsErrors(t *testing.T) {
	memory := []int32{0, 2, 5, 9, 9, 9, 9, 9, 9, 9}
	ragged := func(name string, kind error, says string, positions, starts, offsets []int32) testkit.Wrong {
		return testkit.Wrong{Name: name, Call: func() error { return posenc.RaggedPositions(positions, starts, offsets) }, Kind: kind, Says: []string{"posenc.RaggedPositions: " + says}}
	}
	p := memory[4:9]
	testkit.CheckWrong(t, []testkit.Wrong{
		ragged("no starts", posenc.ErrLength, "starts has 0 elements, want one more than there are sequences", p, nil, nil),
		ragged("too few offsets", posenc.ErrLength, "offsets has 1 element, want nil or 2", p, []int32{0, 2, 5}, []int32{1}),
		ragged("no offsets", posenc.ErrLength, "offsets has 0 elements, want nil or 2", p, []int32{0, 2, 5}, []int32{}),
		ragged("offset for each start", posenc.ErrLength, "offsets has 3 elements, want nil or 2", p, []int32{0, 2, 5}, []int32{1, 2, 3}),
		ragged("first start", posenc.ErrShape, "starts[0] is 1, want 0", p, []int32{1, 2, 5}, nil),
		ragged("negative start", posenc.ErrShape, "starts[0] is -1, want 0", p, []int32{-1, 2, 5}, nil),
		ragged("descending", posenc.ErrShape, "starts[2] is 1, want at least starts[1] = 2", p, []int32{0, 2, 1, 5}, nil),
		ragged("negative", posenc.ErrShape, "starts[1] is -2147483648, want at least starts[0] = 0", p, []int32{0, math.MinInt32, 5}, nil),
		ragged("too few positions", posenc.ErrLength, "positions has 5 elements, want starts[2] = 6", p, []int32{0, 2, 6}, nil),
		ragged("too many positions", posenc.ErrLength, "positions has 5 elements, want starts[2] = 4", p, []int32{0, 2, 4}, nil),
		ragged("far too few positions", posenc.ErrLength, "positions has 5 elements, want starts[1] = 2147483647", p, []int32{0, math.MaxInt32}, nil),
		ragged("no positions", posenc.ErrLength, "positions has 0 elements, want starts[1] = 5", nil, []int32{0, 5}, nil),
		ragged("positions of no sequence", posenc.ErrLength, "positions has 5 elements, want starts[0] = 0", p, []int32{0}, nil),
		ragged("offset", posenc.ErrPosition, "offsets[1] is 2147483646, want at most 2147483645 for 3 tokens", p, []int32{0, 2, 5}, []int32{0, math.MaxInt32 - 1}),
		ragged("largest offset", posenc.ErrPosition, "offsets[0] is 2147483647, want at most 2147483646 for 2 tokens", p, []int32{0, 2, 5}, []int32{math.MaxInt32, 0}),
		ragged("starts", posenc.ErrOverlap, "positions is sharing elements with starts", memory[2:7], memory[:3], nil),
		ragged("offsets", posenc.ErrOverlap, "positions is sharing elements with offsets", memory[4:9], memory[:3], memory[8:10]),
	}, memory)
	if err := posenc.RaggedPositions(memory[4:9], memory[:3], memory[1:3]); err != nil { // starts and offsets are read
		t.Error(err)
	}
}

func TestDualChunkErrors(t *testing.T) {
	memory := make([]int32, 16)
	for i := range memory {
		memory[i] = int32(i)
	}
	good := posenc.DualChunk{ChunkSize: 8, LocalSize: 3}
	x, y := memory[:4], memory[8:12]
	var calls []testkit.Wrong
	for function, call := range map[string]func(d posenc.DualChunk, results, positions []int32) error{
		"KeyPositions": posenc.DualChunk.KeyPositions,
		"QueryPositions": func(d posenc.DualChunk, results, positions []int32) error {
			return d.QueryPositions(results, positions, posenc.InterChunk)
		},
	} {
		name := map[string]string{"KeyPositions": "keys", "QueryPositions": "queries"}[function]
		chunk := func(what string, kind error, says string, d posenc.DualChunk, results, positions []int32) testkit.Wrong {
			return testkit.Wrong{Name: function + ", " + what, Call: func() error { return call(d, results, positions) }, Kind: kind, Says: []string{"posenc.DualChunk." + function + ": " + says}}
		}
		calls = append(calls,
			chunk("zero", posenc.ErrConfig, "d.ChunkSize is 0, want from 1 to 2^30", posenc.DualChunk{}, y, x),
			chunk("negative chunk", posenc.ErrConfig, "d.ChunkSize is -8", posenc.DualChunk{ChunkSize: -8}, y, x),
			chunk("large chunk", posenc.ErrConfig, "d.ChunkSize is 1073741825", posenc.DualChunk{ChunkSize: 1<<30 + 1}, y, x),
			chunk("negative local", posenc.ErrConfig, "d.LocalSize is -1, want from 0 to ChunkSize-1 = 7", posenc.DualChunk{ChunkSize: 8, LocalSize: -1}, y, x),
			chunk("all local", posenc.ErrConfig, "d.LocalSize is 8", posenc.DualChunk{ChunkSize: 8, LocalSize: 8}, y, x),
			chunk("largest local", posenc.ErrConfig, "d.LocalSize is 2147483647", posenc.DualChunk{ChunkSize: 8, LocalSize: math.MaxInt32}, y, x),
			chunk("too few", posenc.ErrLength, name+" has 3 elements, want 4 as in positions", good, y[:3], x),
			chunk("too many", posenc.ErrLength, name+" has 4 elements, want 3", good, y, x[:3]),
			chunk("none", posenc.ErrLength, name+" has 0 elements, want 4", good, nil, x),
			chunk("shifted", posenc.ErrOverlap, name+" is sharing some elements with positions", good, memory[1:5], x),
			chunk("shifted back", posenc.ErrOverlap, name+" is sharing some elements with positions", good, memory[:4], memory[3:7]),
			chunk("negative position", posenc.ErrPosition, "positions[2] is -1, want at least 0", good, y, []int32{0, 1, -1, 2}),
			chunk("least position", posenc.ErrPosition, "positions[0] is -2147483648", good, y[:1], []int32{math.MinInt32}),
		)
	}
	for _, which := range []posenc.DualChunkQuery{5, 255} {
		calls = append(calls, testkit.Wrong{Name: fmt.Sprint("query ", which), Call: func() error { return good.QueryPositions(y, x, which) }, Kind: posenc.ErrConfig, Says: []string{fmt.Sprintf("posenc.DualChunk.QueryPositions: which is %d, want one of the constants", which)}})
	}
	testkit.CheckWrong(t, calls, memory)
}

var (
	_ = testkit.Register(testkit.Case{Function: "SequentialPositions", Call: func(a *testkit.Arguments) testkit.Call {
		positions, first := testkit.Output[int32](a, a.Tokens()), int32(a.Number(-1<<20, 1<<20))
		if !a.Any() {
			first = min(first, math.MaxInt32-int32(len(positions)))
		}
		return testkit.Call{
			Right: func() bool { return int64(first)+int64(len(positions)) <= 1<<31 },
			Run:   func() error { return posenc.SequentialPositions(positions, first) },
			Want: func() {
				for t := range positions {
					positions[t] = first + int32(t)
				}
			},
		}
	},
		Digests: func(add testkit.AddDigest) {
			add("SequentialPositions", func(d *testkit.Digest) {
				positions := make([]int32, 9)
				d.Must(posenc.SequentialPositions(positions, math.MaxInt32-8))
				d.Add(positions)
			})
		},
		OnStack: func() error {
			var positions [8]int32
			return posenc.SequentialPositions(positions[:], -3)
		},
	})
	_ = testkit.Register(testkit.Case{Function: "RaggedPositions", Call: raggedCall, Digests: raggedDigests,
		OnStack: func() error {
			var positions [8]int32
			return posenc.RaggedPositions(positions[:], []int32{0, 3, 8}, []int32{5, -2})
		},
	})
	_ = testkit.Register(testkit.Case{Function: "DualChunk.KeyPositions", Digests: keyPositionsDigests,
		Call: func(a *testkit.Arguments) testkit.Call {
			return dualChunkCall(a, 0, posenc.DualChunk.KeyPositions)
		},
		OnStack: func() error {
			var p [8]int32
			return posenc.DualChunk{ChunkSize: 8, LocalSize: 3}.KeyPositions(p[:], p[:])
		},
	})
	_ = testkit.Register(testkit.Case{Function: "DualChunk.QueryPositions", Digests: queryPositionsDigests, Times: 4,
		Call: func(a *testkit.Arguments) testkit.Call {
			which := posenc.DualChunkQuery(a.Number(0, 4))
			return dualChunkCall(a, which, func(d posenc.DualChunk, results, positions []int32) error {
				return d.QueryPositions(results, positions, which)
			})
		},
		OnStack: func() (err error) {
			var p [8]int32
			for which := range posenc.DualChunkQuery(5) {
				err = errors.Join(err, posenc.DualChunk{ChunkSize: 8, LocalSize: 3}.QueryPositions(p[:], p[:], which))
			}
			return err
		},
	})
)

func raggedCall(a *testkit.Arguments) testkit.Call {
	sequences, tokens := a.Below(9), 0
	starts := testkit.Slice[int32](a, sequences+1)
	if !a.Any() || a.Below(8) > 0 {
		for i := range starts {
			starts[i] = int32(tokens)
			if i+1 < len(starts) {
				tokens += a.Below(20)
			}
		}
	}
	var offsets []int32
	if a.Yes() {
		offsets = testkit.Slice[int32](a, sequences)
		a.FillPositions(offsets)
		if !a.Any() {
			for i := range offsets {
				offsets[i] -= offsets[i] >> 8 & 255 // not next to the last
				offsets[i] = min(offsets[i], math.MaxInt32-20)
			}
		}
	}
	offset := func(sequence int) int64 {
		if offsets == nil {
			return 0
		}
		return int64(offsets[sequence])
	}
	positions := testkit.Output[int32](a, tokens)
	return testkit.Call{
		Run: func() error { return posenc.RaggedPositions(positions, starts, offsets) },
		Right: func() bool {
			right := len(starts) > 0 && starts[0] == 0 && int(starts[len(starts)-1]) == len(positions) && (offsets == nil || len(offsets) == len(starts)-1) &&
				!testkit.Share(positions, starts) && !testkit.Share(positions, offsets)
			for b := 0; right && b < len(starts)-1; b++ {
				length := int64(starts[b+1]) - int64(starts[b])
				right = length >= 0 && offset(b)+length-1 <= math.MaxInt32
			}
			return right
		},
		Want: func() {
			for b := range len(starts) - 1 {
				for t := starts[b]; t < starts[b+1]; t++ {
					positions[t] = int32(offset(b) + int64(t) - int64(starts[b]))
				}
			}
		},
		// Sequences of a batch, and sequences that go on where their first part ended.
		Parts: func(c *testkit.Choices) (groups [][]func() error) {
			for b := range len(starts) - 1 {
				at := c.Cut(int(starts[b+1] - starts[b]))
				for i, first := range at[:len(at)-1] {
					part := positions[int(starts[b])+first : int(starts[b])+at[i+1]]
					groups = append(groups, []func() error{func() error {
						return posenc.RaggedPositions(part, []int32{0, int32(len(part))}, []int32{int32(offset(b)) + int32(first)})
					}})
				}
			}
			return groups
		},
	}
}

func dualChunkCall(a *testkit.Arguments, which posenc.DualChunkQuery, fill func(d posenc.DualChunk, results, positions []int32) error) testkit.Call {
	d := posenc.DualChunk{ChunkSize: int32(a.Number(5, 40)), LocalSize: int32(a.Number(0, 4))}
	if a.Yes() {
		d = []posenc.DualChunk{{8, 0}, {8, 7}, {1, 0}, {262144, 8192}, {1 << 30, 0}, {1 << 30, 1 << 29}}[a.Below(6)]
	}
	n := a.Below(200)
	positions := testkit.Slice[int32](a, n)
	a.FillPositions(positions)
	if !a.Any() {
		for i := range positions {
			positions[i] &= math.MaxInt32
		}
	}
	results := positions
	if a.Below(4) > 0 { // otherwise in place
		results = testkit.Slice[int32](a, n)
	}
	testkit.Writes(a, func(mark func(s []int32)) { mark(results) })
	return testkit.Call{
		Run: func() error { return fill(d, results, positions) },
		Right: func() bool {
			right := d.ChunkSize >= 1 && d.ChunkSize <= 1<<30 && d.LocalSize >= 0 && d.LocalSize < d.ChunkSize && which <= posenc.InterChunkUnbound && len(results) == len(positions)
			for _, p := range positions {
				right = right && p >= 0
			}
			return right && (len(results) == 0 || &results[0] == &positions[0] || apart(testkit.BytesOf(results), testkit.BytesOf(positions)))
		},
		Want: func() {
			size, n := int64(d.ChunkSize), int64(d.ChunkSize)-int64(d.LocalSize)
			for i, position := range slices.Clone(positions) {
				p := int64(position) % n
				results[i] = int32([]int64{p, min(p+n, size), min(2*n-1, size), p + n, p + size}[which])
			}
		},
		Parts: func(c *testkit.Choices) [][]func() error {
			given := slices.Clone(positions)
			return testkit.RowParts(c, [][]int32{results}, []int{1}, len(positions), func(x [][]int32, tokens []int) error {
				return fill(d, x[0], testkit.Pick(given, tokens))
			})
		},
	}
}

func raggedDigests(add testkit.AddDigest) {
	add("RaggedPositions", func(d *testkit.Digest) {
		for _, offsets := range [][]int32{nil, {7, -3, math.MaxInt32 - 40}} {
			positions := make([]int32, 60)
			d.Must(posenc.RaggedPositions(positions, []int32{0, 20, 20, 60}, offsets))
			d.Add(positions)
		}
	})
}

var digestDualChunk = posenc.DualChunk{ChunkSize: 100, LocalSize: 30}

func keyPositionsDigests(add testkit.AddDigest) {
	add("DualChunk.KeyPositions", func(d *testkit.Digest) {
		positions := d.Indices(50, 1000)
		keys := make([]int32, len(positions))
		d.Must(digestDualChunk.KeyPositions(keys, positions))
		d.Add(keys)
	})
}

func queryPositionsDigests(add testkit.AddDigest) {
	add("DualChunk.QueryPositions", func(d *testkit.Digest) {
		for _, which := range []posenc.DualChunkQuery{posenc.IntraChunk, posenc.SuccessiveChunk, posenc.InterChunk, posenc.SuccessiveChunkUnbound, posenc.InterChunkUnbound} {
			positions := d.Indices(50, 1000)
			queries := make([]int32, len(positions))
			d.Must(digestDualChunk.QueryPositions(queries, positions, which))
			d.Add(queries)
		}
	})
}
