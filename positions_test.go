package posenc_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/absolute"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/relative"
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
	r := testkit.NewRand(120)
	for range testkit.Rounds(2000) {
		var want, offsets []int32
		starts := []int32{0}
		for range r.IntN(6) {
			offset := int32(r.Uint32()) >> 1
			offsets = append(offsets, offset)
			for i := range r.IntN(40) {
				want = append(want, offset+int32(i))
			}
			starts = append(starts, int32(len(want)))
		}
		got := make([]int32, len(want))
		if err := posenc.RaggedPositions(got, starts, offsets); err != nil || !slices.Equal(got, want) {
			t.Fatalf("starts %v, offsets %v: got %v, want %v, error %v", starts, offsets, got, want, err)
		}
	}
}

// checkWrongPositions makes calls that write positions; none may.
func checkWrongPositions(t *testing.T, calls []testkit.Wrong, positions []int32) {
	t.Helper()
	for _, tt := range calls {
		t.Run(tt.Name, func(t *testing.T) {
			before := slices.Clone(positions)
			err := tt.Call()
			if err == nil {
				t.Fatal("no error")
			}
			if !errors.Is(err, tt.Kind) {
				t.Errorf("%q does not wrap %q", err, tt.Kind)
			}
			for _, part := range tt.Says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
			if !slices.Equal(positions, before) {
				t.Errorf("positions were written before the error %q", err)
			}
		})
	}
}

func TestRaggedPositionsErrors(t *testing.T) {
	memory := []int32{0, 2, 5, 9, 9, 9, 9, 9, 9, 9}
	ragged := func(name string, kind error, says string, positions, starts, offsets []int32) testkit.Wrong {
		return testkit.Wrong{name, func() error { return posenc.RaggedPositions(positions, starts, offsets) }, kind, []string{"posenc.RaggedPositions: " + says}}
	}
	p := memory[4:9]
	checkWrongPositions(t, []testkit.Wrong{
		ragged("no starts", posenc.ErrLength, "starts is 0 elements, want one more than there are sequences", p, nil, nil),
		ragged("too few offsets", posenc.ErrLength, "offsets is 1 element, want nil or 2", p, []int32{0, 2, 5}, []int32{1}),
		ragged("no offsets", posenc.ErrLength, "offsets is 0 elements, want nil or 2", p, []int32{0, 2, 5}, []int32{}),
		ragged("offset for each start", posenc.ErrLength, "offsets is 3 elements, want nil or 2", p, []int32{0, 2, 5}, []int32{1, 2, 3}),
		ragged("first start", posenc.ErrShape, "starts[0] is 1, want 0", p, []int32{1, 2, 5}, nil),
		ragged("negative start", posenc.ErrShape, "starts[0] is -1, want 0", p, []int32{-1, 2, 5}, nil),
		ragged("descending", posenc.ErrShape, "starts[2] is 1, want at least starts[1] = 2", p, []int32{0, 2, 1, 5}, nil),
		ragged("negative", posenc.ErrShape, "starts[1] is -2147483648, want at least starts[0] = 0", p, []int32{0, math.MinInt32, 5}, nil),
		ragged("too few positions", posenc.ErrLength, "positions is 5 elements, want starts[2] = 6", p, []int32{0, 2, 6}, nil),
		ragged("too many positions", posenc.ErrLength, "positions is 5 elements, want starts[2] = 4", p, []int32{0, 2, 4}, nil),
		ragged("far too few positions", posenc.ErrLength, "positions is 5 elements, want starts[1] = 2147483647", p, []int32{0, math.MaxInt32}, nil),
		ragged("no positions", posenc.ErrLength, "positions is 0 elements, want starts[1] = 5", nil, []int32{0, 5}, nil),
		ragged("positions of no sequence", posenc.ErrLength, "positions is 5 elements, want starts[0] = 0", p, []int32{0}, nil),
		ragged("offset", posenc.ErrPosition, "offsets[1] is 2147483646, want at most 2147483645 for 3 tokens", p, []int32{0, 2, 5}, []int32{0, math.MaxInt32 - 1}),
		ragged("largest offset", posenc.ErrPosition, "offsets[0] is 2147483647, want at most 2147483646 for 2 tokens", p, []int32{0, 2, 5}, []int32{math.MaxInt32, 0}),
		ragged("starts", posenc.ErrOverlap, "positions is sharing elements with starts", memory[2:7], memory[:3], nil),
		ragged("offsets", posenc.ErrOverlap, "positions is sharing elements with offsets", memory[4:9], memory[:3], memory[8:10]),
	}, memory)
	if err := posenc.RaggedPositions(memory[4:9], memory[:3], memory[1:3]); err != nil { // starts and offsets are read
		t.Error(err)
	}
}

// The positions of a sequence laid out as in the dual chunk rotary embedding of
// vLLM, which computes tables: positions modulo n of the keys, and of the
// queries four tables of n rows.
func TestDualChunk(t *testing.T) {
	for _, tt := range []posenc.DualChunk{{8, 3}, {8, 0}, {8, 7}, {1, 0}, {262144, 8192}, {1 << 30, 0}, {1 << 30, 1 << 29}} {
		n := int64(tt.ChunkSize - tt.LocalSize)
		positions := []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, int32(n - 1), int32(n), int32(min(2*n-1, math.MaxInt32)), 1 << 20, math.MaxInt32 - 1, math.MaxInt32}
		chunk := int64(tt.ChunkSize)
		ways := map[posenc.DualChunkQuery]func(row int64) int64{
			posenc.IntraChunk:             func(row int64) int64 { return row },
			posenc.SuccessiveChunk:        func(row int64) int64 { return min(row+n, chunk) },
			posenc.InterChunk:             func(row int64) int64 { return min(n-1+n, chunk) }, // the last row of the table before
			posenc.SuccessiveChunkUnbound: func(row int64) int64 { return row + n },
			posenc.InterChunkUnbound:      func(row int64) int64 { return row + chunk },
		}
		got := make([]int32, len(positions))
		if err := tt.KeyPositions(got, positions); err != nil {
			t.Fatal(err)
		}
		for i, p := range positions {
			if int64(got[i]) != int64(p)%n {
				t.Errorf("%+v: the key of position %d is at %d, want %d", tt, p, got[i], int64(p)%n)
			}
		}
		for which, at := range ways {
			if err := tt.QueryPositions(got, positions, which); err != nil {
				t.Fatal(err)
			}
			inPlace := slices.Clone(positions)
			if err := tt.QueryPositions(inPlace, inPlace, which); err != nil || !slices.Equal(inPlace, got) {
				t.Errorf("%+v, query %d: in place got %v, want %v, error %v", tt, which, inPlace, got, err)
			}
			for i, p := range positions {
				if want := at(int64(p) % n); int64(got[i]) != want {
					t.Errorf("%+v: query %d of position %d is at %d, want %d", tt, which, p, got[i], want)
				}
			}
		}
		inPlace := slices.Clone(positions)
		if err := tt.KeyPositions(inPlace, inPlace); err != nil || inPlace[len(inPlace)-1] != int32(math.MaxInt32%n) {
			t.Errorf("%+v: keys in place: %v, error %v", tt, inPlace, err)
		}
		if err := tt.KeyPositions(nil, nil); err != nil {
			t.Error(err)
		}
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
			return testkit.Wrong{function + ", " + what, func() error { return call(d, results, positions) }, kind, []string{"posenc.DualChunk." + function + ": " + says}}
		}
		calls = append(calls,
			chunk("zero", posenc.ErrConfig, "d.ChunkSize is 0, want from 1 to 2^30", posenc.DualChunk{}, y, x),
			chunk("negative chunk", posenc.ErrConfig, "d.ChunkSize is -8", posenc.DualChunk{ChunkSize: -8}, y, x),
			chunk("large chunk", posenc.ErrConfig, "d.ChunkSize is 1073741825", posenc.DualChunk{ChunkSize: 1<<30 + 1}, y, x),
			chunk("negative local", posenc.ErrConfig, "d.LocalSize is -1, want from 0 to ChunkSize-1 = 7", posenc.DualChunk{ChunkSize: 8, LocalSize: -1}, y, x),
			chunk("all local", posenc.ErrConfig, "d.LocalSize is 8", posenc.DualChunk{ChunkSize: 8, LocalSize: 8}, y, x),
			chunk("largest local", posenc.ErrConfig, "d.LocalSize is 2147483647", posenc.DualChunk{ChunkSize: 8, LocalSize: math.MaxInt32}, y, x),
			chunk("too few", posenc.ErrLength, name+" is 3 elements, want 4 as in positions", good, y[:3], x),
			chunk("too many", posenc.ErrLength, name+" is 4 elements, want 3", good, y, x[:3]),
			chunk("none", posenc.ErrLength, name+" is 0 elements, want 4", good, nil, x),
			chunk("shifted", posenc.ErrOverlap, name+" is sharing some elements with positions", good, memory[1:5], x),
			chunk("shifted back", posenc.ErrOverlap, name+" is sharing some elements with positions", good, memory[:4], memory[3:7]),
			chunk("negative position", posenc.ErrPosition, "positions[2] is -1, want at least 0", good, y, []int32{0, 1, -1, 2}),
			chunk("least position", posenc.ErrPosition, "positions[0] is -2147483648", good, y[:1], []int32{math.MinInt32}),
		)
	}
	for _, which := range []posenc.DualChunkQuery{5, 255} {
		calls = append(calls, testkit.Wrong{fmt.Sprint("query ", which), func() error { return good.QueryPositions(y, x, which) }, posenc.ErrConfig, []string{fmt.Sprintf("posenc.DualChunk.QueryPositions: which is %d, want one of the constants", which)}})
	}
	checkWrongPositions(t, calls, memory)
}

func TestPositionsAllocate(t *testing.T) {
	starts, offsets, positions := []int32{0, 3, 8}, []int32{5, -2}, make([]int32, 8)
	d := posenc.DualChunk{ChunkSize: 8, LocalSize: 3}
	for name, call := range map[string]func() error{
		"RaggedPositions": func() error { return posenc.RaggedPositions(positions, starts, offsets) },
		"KeyPositions": func() error {
			var p [8]int32
			return d.KeyPositions(p[:], p[:])
		},
		"QueryPositions": func() error {
			var p [8]int32
			return errors.Join(
				d.QueryPositions(p[:], p[:], posenc.IntraChunk), d.QueryPositions(p[:], p[:], posenc.SuccessiveChunk), d.QueryPositions(p[:], p[:], posenc.InterChunk),
				d.QueryPositions(p[:], p[:], posenc.SuccessiveChunkUnbound), d.QueryPositions(p[:], p[:], posenc.InterChunkUnbound))
		},
	} {
		var err error
		if n := testing.AllocsPerRun(20, func() { err = call() }); n != 0 || err != nil {
			t.Errorf("%s: %v allocations, error %v", name, n, err)
		}
	}
}

// What the functions of positions of models write, against the sums of their
// definitions.
func TestModelPositions(t *testing.T) {
	mask := []bool{false, true, true, false, true, true, false}
	got := make([]int32, len(mask))
	if err := absolute.PaddedPositions(got, mask, 1); err != nil || !slices.Equal(got, []int32{1, 2, 3, 1, 4, 5, 1}) {
		t.Errorf("PaddedPositions: %v, %v", got, err)
	}
	if err := relative.DescendingPositions(got, 0); err != nil || !slices.Equal(got, []int32{6, 5, 4, 3, 2, 1, 0}) {
		t.Errorf("DescendingPositions: %v, %v", got, err)
	}
	if err := relative.XLNetPositions(got, 4, 0, false); err != nil || !slices.Equal(got, []int32{4, 3, 2, 1, 0, -1, -2}) {
		t.Errorf("XLNetPositions: %v, %v", got, err)
	}
	if err := relative.DescendingPositions(got, 3); err != nil || !slices.Equal(got, []int32{3, 3, 3, 3, 2, 1, 0}) {
		t.Errorf("DescendingPositions with a limit: %v, %v", got, err)
	}
}

func TestModelPositionsErrors(t *testing.T) {
	x := make([]float32, 16)
	for _, tt := range []struct {
		name string
		err  error
		kind error
		want string
	}{
		{"mask", absolute.PaddedPositions(make([]int32, 2), make([]bool, 3), 1), posenc.ErrLength, "positions is 2 elements, want 3"},
		{"padding", absolute.PaddedPositions(make([]int32, 2), make([]bool, 2), math.MaxInt32-1), posenc.ErrPosition, "padding is"},
		{"limit", relative.DescendingPositions(make([]int32, 2), -1), posenc.ErrPosition, "limit is -1"},
		{"negative XLNet limit", relative.XLNetPositions(make([]int32, 2), 2, -1, false), posenc.ErrPosition, "XLNetPositions: limit is -1"},
		{"XLNet keys", relative.XLNetPositions(make([]int32, 2), -1, 0, false), posenc.ErrPosition, "keys is -1"},
		{"height", absolute.DETRPositions(x, nil, 0, 4, 0, 0), posenc.ErrShape, "height is 0"},
		{"width", absolute.DETRPositions(x, nil, 4, -1, 0, 0), posenc.ErrShape, "width is -1"},
		{"pixels", absolute.DETRPositions(x, nil, 4, 3, 0, 0), posenc.ErrLength, "positions is 16 elements, want 2*4*3"},
		{"DETR mask", absolute.DETRPositions(x, make([]bool, 7), 4, 2, 0, 0), posenc.ErrLength, "mask is 7 elements"},
		{"DETR scale", absolute.DETRPositions(x, nil, 4, 2, math.Inf(1), 0), posenc.ErrConfig, "scale is +Inf"},
		{"DETR offset", absolute.DETRPositions(x, nil, 4, 2, 0, math.NaN()), posenc.ErrConfig, "offset is NaN"},
		{"small DETR scale", absolute.DETRPositions(x, nil, 4, 2, 1e-300, 0), posenc.ErrConfig, "scale is 1e-300"}, // float32 has 0
	} {
		if !errors.Is(tt.err, tt.kind) || tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %v with %q", tt.name, tt.err, tt.kind, tt.want)
		}
	}
	if slices.ContainsFunc(x, func(v float32) bool { return v != 0 }) {
		t.Error("an error came after the first write")
	}
}
