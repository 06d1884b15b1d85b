package multimodal_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/multimodal"
)

// visionVectors are what testdata/generate.py writes for the vision tower.
type visionVectors struct {
	Versions  map[string]string
	Positions []struct {
		Grids     []grid
		Merge     int
		Positions [][]int32
	}
	Windows []struct {
		Grids                []grid
		Merge, Window, Patch int
		Order, Starts        []int32
	}
	Frames []struct {
		Grids       []grid
		WholeVideos bool
		Starts      []int32
	}
}

// The functions for the vision tower give what those of transformers give.
func TestVision(t *testing.T) {
	var v visionVectors
	readGolden("vision", &v)
	for i, p := range v.Positions {
		patches := len(p.Positions[0])
		dst := make([]int32, 3*patches)
		testkit.NoError(t, multimodal.PatchPositions(dst, grids(p.Grids), multimodal.PatchOptions{MergeSize: p.Merge, Time: true}))
		if !slices.Equal(dst, slices.Concat(p.Positions...)) {
			t.Errorf("positions %d, with time: differ", i)
		}
		testkit.NoError(t, multimodal.PatchPositions(dst[patches:], grids(p.Grids), multimodal.PatchOptions{MergeSize: p.Merge}))
		if !slices.Equal(dst, slices.Concat(p.Positions...)) {
			t.Errorf("positions %d: differ", i)
		}
	}
	for i, w := range v.Windows {
		order, starts, err := multimodal.AppendWindows([]int32{-1}, []int32{-2}, grids(w.Grids), multimodal.WindowOptions{MergeSize: w.Merge, WindowSize: w.Window, PatchSize: w.Patch})
		if err != nil || !slices.Equal(order, append([]int32{-1}, w.Order...)) || !slices.Equal(starts, append([]int32{-2}, w.Starts...)) {
			t.Errorf("windows %d: order or starts differ, error %v", i, err)
		}
	}
	for i, f := range v.Frames {
		starts, err := multimodal.AppendFrames([]int32{-1}, grids(f.Grids), multimodal.FrameOptions{WholeVideos: f.WholeVideos})
		if err != nil || !slices.Equal(starts, append([]int32{-1}, f.Starts...)) {
			t.Errorf("frames %d: %v, want %v, error %v", i, starts, f.Starts, err)
		}
	}
	if len(v.Positions) < 40 || len(v.Windows) < 40 || len(v.Frames) < 30 {
		t.Errorf("%d, %d and %d vectors", len(v.Positions), len(v.Windows), len(v.Frames))
	}
}

// What is wrong is an error before the first write.
func TestVisionErrors(t *testing.T) {
	ints := make([]int32, 64)
	one, many := []multimodal.Grid{{T: 1, H: 4, W: 4}}, []multimodal.Grid{{T: 1 << 27, H: 2, W: 2}}
	positions := func(grids []multimodal.Grid, n, merge int) error {
		return multimodal.PatchPositions(ints[:n], grids, multimodal.PatchOptions{MergeSize: merge})
	}
	from := func(first int, g multimodal.Grid) error {
		return multimodal.PatchPositions(nil, []multimodal.Grid{g}, multimodal.PatchOptions{MergeSize: 1, First: first})
	}
	windows := func(grids []multimodal.Grid, o multimodal.WindowOptions) error {
		order, starts, err := multimodal.AppendWindows(nil, nil, grids, o)
		if order != nil || starts != nil {
			t.Error("appended before the error")
		}
		return err
	}
	frames := func(whole bool, grids ...multimodal.Grid) error {
		starts, err := multimodal.AppendFrames(nil, grids, multimodal.FrameOptions{WholeVideos: whole})
		if starts != nil {
			t.Error("appended before the error")
		}
		return err
	}
	const huge = math.MaxInt
	for i, tt := range []struct {
		err, kind error
		says      string
	}{
		{positions(one, 32, 0), posenc.ErrConfig, "multimodal.PatchPositions: options.MergeSize is 0"},
		{positions(one, 32, 1<<15+1), posenc.ErrConfig, "options.MergeSize"},
		{positions(one, 31, 2), posenc.ErrLength, "dst has 31 elements, want 2*16"},
		{positions(one, 32, 3), posenc.ErrShape, "grids[0].H is 4, want a multiple of MergeSize = 3"},
		{positions([]multimodal.Grid{{1, 4, 4}, {1, 4, 6}}, 32, 4), posenc.ErrShape, "grids[1].W is 6"},
		{positions([]multimodal.Grid{{0, 4, 4}}, 0, 4), posenc.ErrShape, "grids[0].T is 0"},
		{positions([]multimodal.Grid{{1, 0, 4}}, 0, 4), posenc.ErrShape, "grids[0].H is 0"},
		{positions([]multimodal.Grid{{1, 4, -4}}, 0, 4), posenc.ErrShape, "grids[0].W is -4"},
		{positions([]multimodal.Grid{{huge, huge, huge}}, 0, 1), posenc.ErrShape, "grids[0] is"},
		{positions([]multimodal.Grid{{1, 1 << 15, 1 << 15}, {1, 1 << 15, 1 << 15}}, 0, 1), posenc.ErrShape, "grids[1] is"},
		{from(-1, one[0]), posenc.ErrConfig, "options.First is -1, want from 0 to 2^30"},
		{from(1<<30+1, one[0]), posenc.ErrConfig, "options.First is 1073741825, want from 0 to 2^30"},
		{from(1<<30, multimodal.Grid{1, 1 << 30, 1}), posenc.ErrShape, "grids[0] is {1 1073741824 1}, want at most 1073741823 rows"},
		{from(1<<30, multimodal.Grid{1, 1, 1 << 30}), posenc.ErrShape, "grids[0] is {1 1 1073741824}, want at most 1073741823 rows"},
		// These are the largest that are allowed; only dst is wrong.
		{from(1<<30, one[0]), posenc.ErrLength, "dst has 0 elements"},
		{from(0, multimodal.Grid{1, math.MaxInt32, 1}), posenc.ErrLength, "dst has 0 elements"},
		{from(0, multimodal.Grid{1, 1, math.MaxInt32}), posenc.ErrLength, "dst has 0 elements"},
		{positions([]multimodal.Grid{{1, 1 << 15, 1 << 15}}, 0, 1<<15), posenc.ErrLength, "dst has 0 elements"},
		{windows(one, multimodal.WindowOptions{MergeSize: 2, WindowSize: 112}), posenc.ErrConfig, "options.PatchSize is 0"},
		{windows(one, multimodal.WindowOptions{MergeSize: 2, WindowSize: 111, PatchSize: 14}), posenc.ErrConfig, "options.WindowSize is 111, want a multiple of MergeSize*PatchSize = 28"},
		{windows(one, multimodal.WindowOptions{MergeSize: 2, PatchSize: 14}), posenc.ErrConfig, "options.WindowSize is 0"},
		{windows([]multimodal.Grid{{1, 3, 4}}, multimodal.WindowOptions{MergeSize: 2, WindowSize: 112, PatchSize: 14}), posenc.ErrShape, "multimodal.AppendWindows: grids[0].H is 3"},
		{windows(one, multimodal.WindowOptions{MergeSize: 1, WindowSize: 1<<15 + 1, PatchSize: 1<<15 + 1}), posenc.ErrConfig, "options.PatchSize is 32769, want from 1 to 2^15"},
		{windows(many, multimodal.WindowOptions{MergeSize: 2, WindowSize: 8, PatchSize: 2}), posenc.ErrShape, "multimodal.AppendWindows: grids is 536870912 patches, want at most 2^24"},
		{frames(false, many...), posenc.ErrShape, "multimodal.AppendFrames: grids[0].T is 134217728, want at most 2^20 frames"},
		{frames(true, many...), posenc.ErrShape, "multimodal.AppendFrames: grids[0]"},
		{windows(one, multimodal.WindowOptions{WindowSize: 112, PatchSize: 14}), posenc.ErrConfig, "options.MergeSize is 0"},
		{frames(false, multimodal.Grid{1, 4, 0}), posenc.ErrShape, "multimodal.AppendFrames: grids[0].W is 0"},
		{frames(false, multimodal.Grid{1 << 20, 1, 1}, multimodal.Grid{1, 1, 1}), posenc.ErrShape, "grids[1].T is 1, want at most 2^20 frames"},
		{frames(true, multimodal.Grid{1<<20 - 1, 1, 1}, multimodal.Grid{2, 1, 1}), posenc.ErrShape, "grids[1].T is 2, want at most 2^20 frames"},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) { fails(t, tt.err, tt.kind, tt.says) })
	}
	if slices.ContainsFunc(ints, func(x int32) bool { return x != 0 }) {
		t.Error("written before an error")
	}
}

// The largest and smallest sizes that options may have; and what a grid of a few bytes may make a
// call allocate.
func TestVisionBounds(t *testing.T) {
	for _, size := range []int{1, 1 << 15} {
		order, starts, err := multimodal.AppendWindows(nil, nil, []multimodal.Grid{{1, 2, 1}}, multimodal.WindowOptions{MergeSize: 1, WindowSize: size, PatchSize: size})
		if err != nil || !slices.Equal(order, []int32{0, 1}) || !slices.Equal(starts, []int32{0, 1, 2}) {
			t.Errorf("size %d: %v and %v, error %v", size, order, starts, err)
		}
	}
	before := testkit.AllocatedBytes()
	_, err := multimodal.AppendFrames(nil, []multimodal.Grid{{T: 1 << 20, H: 1, W: 1}}, multimodal.FrameOptions{})
	_, _, err2 := multimodal.AppendWindows(nil, nil, []multimodal.Grid{{T: 1 << 14, H: 32, W: 32}}, multimodal.WindowOptions{MergeSize: 2, WindowSize: 4, PatchSize: 2})
	testkit.NoError(t, err, err2)
	used := testkit.AllocatedBytes() - before
	// Under the race detector slices.Grow allocates what it adds once more.
	if most := uint64(2 * (4<<20 + 2*4<<22 + 1<<20)); used > most {
		t.Errorf("%d bytes, want at most %d", used, most)
	}
}
