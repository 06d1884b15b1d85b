package multimodal_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/multimodal"
)

// models are one of each family.
var models = []multimodal.Model{
	{Family: multimodal.Qwen2VL, MergeSize: 2},
	{Family: multimodal.Qwen2VL, MergeSize: 2, AfterLargest: true},
	{Family: multimodal.Qwen25VL, MergeSize: 2, PositionsPerSecond: 2},
	{Family: multimodal.Qwen3VL, MergeSize: 2},
	{Family: multimodal.Ernie45VL, MergeSize: 2, TemporalMergeSize: 2},
	{Family: multimodal.HunYuanVL, MergeSize: 2, HunYuanAxes: 4},
	{Family: multimodal.MiniCPMV47, MergeSize: 4},
	{Family: multimodal.Qwen25Omni, MergeSize: 2, PositionsPerSecond: 25, PositionsPerChunk: 50},
	{Family: multimodal.Qwen3Omni, MergeSize: 2, PositionsPerSecond: 13},
	{Family: multimodal.Ming, MergeSize: 2, TimeScale: 1},
}

// text is a run of tokens.
func text(n int) multimodal.Run { return multimodal.Run{Tokens: n} }

func image(tokens, h, w int) multimodal.Run {
	return multimodal.Run{Kind: multimodal.Image, Tokens: tokens, Grid: multimodal.Grid{T: 1, H: h, W: w}}
}

func video(tokens, t, h, w int, seconds float32) multimodal.Run {
	return multimodal.Run{Kind: multimodal.Video, Tokens: tokens, Grid: multimodal.Grid{T: t, H: h, W: w}, SecondsPerGrid: seconds}
}

func marker(n int) multimodal.Run { return multimodal.Run{Kind: multimodal.Marker, Tokens: n} }

// What is wrong is an error that names it, before the first write.
func TestErrors(t *testing.T) {
	const huge = math.MaxInt
	qwen2, qwen25, qwen3, ernie := models[0], models[2], models[3], models[4]
	hunYuan, miniCPM, omni25, omni3, ming := models[5], models[6], models[7], models[8], models[9]
	both := func(tokens, audio int, seconds float32) multimodal.Run {
		return multimodal.Run{Kind: multimodal.VideoAndAudio, Tokens: tokens, AudioTokens: audio, Grid: multimodal.Grid{T: 2, H: 2, W: 4}, SecondsPerGrid: seconds}
	}
	dst := make([]int32, 96)
	fails := kit.Failures(t, dst)
	at := func(m multimodal.Model, runs ...multimodal.Run) error {
		n := 0
		for _, r := range runs {
			n += r.Tokens
		}
		_, err := m.Positions(dst[:min(uint(len(dst)), uint(m.Axes()*n))], runs)
		return err
	}
	with := func(m multimodal.Model, change func(*multimodal.Model)) error {
		change(&m)
		return at(m, text(1))
	}
	batch := func(n, next int, o multimodal.BatchOptions, prompts ...[]multimodal.Run) error {
		after := unsafe.Slice((*multimodal.Next[int32])(unsafe.Pointer(&dst[96-5*max(next, 1)])), next)
		return qwen2.BatchPositions(dst[:n], after, prompts, o)
	}
	const i, v, s, e = 7, 8, 5, 6
	tokens := multimodal.TokenIDs{Image: i, Video: v, Audio: 9, VisionStart: s, AudioStart: e}
	grid := func(t, h, w int) multimodal.Grid { return multimodal.Grid{T: t, H: h, W: w} }
	images := func(g ...multimodal.Grid) multimodal.Media { return multimodal.Media{Images: g} }
	videos := func(seconds []float32, g ...multimodal.Grid) multimodal.Media {
		return multimodal.Media{Videos: g, SecondsPerGrid: seconds}
	}
	one := []float32{1}
	appended := func(m multimodal.Model, ids []int32, media multimodal.Media) error {
		spare := slices.Repeat([]multimodal.Run{text(12345)}, 8)
		runs, err := m.AppendRuns(spare[:1], ids, tokens, media)
		if len(runs) != 1 || !slices.Equal(spare, slices.Repeat(spare[:1], 8)) || !strings.HasPrefix(fmt.Sprint(err), "multimodal.Model.AppendRuns: ") {
			t.Errorf("%v in %v beside the error %v", runs, spare, err)
		}
		return err
	}
	for _, tt := range []struct {
		err, kind error
		says      string
	}{
		{at(multimodal.Model{}, text(1)), posenc.ErrConfig, "multimodal.Model.Positions: m.Family is 0"},
		{at(multimodal.Model{Family: multimodal.Ming + 1, MergeSize: 2}, text(1)), posenc.ErrConfig, "m.Family is 10"},
		{with(qwen2, func(m *multimodal.Model) { m.MergeSize = 1<<15 + 1 }), posenc.ErrConfig, "m.MergeSize is 32769"},
		{with(qwen2, func(m *multimodal.Model) { m.MergeSize = 0 }), posenc.ErrConfig, "m.MergeSize is 0, want from 1"},
		{with(qwen2, func(m *multimodal.Model) { m.TimeScale = 1 }), posenc.ErrConfig, "m.TimeScale is 1, want 0 for Qwen2VL"},
		{with(qwen2, func(m *multimodal.Model) { m.TemporalMergeSize = 2 }), posenc.ErrConfig, "m.TemporalMergeSize is 2, want 0"},
		{with(qwen3, func(m *multimodal.Model) { m.AfterLargest = true }), posenc.ErrConfig, "m.AfterLargest is true"},
		{with(qwen25, func(m *multimodal.Model) { m.PositionsPerSecond = 0 }), posenc.ErrConfig, "m.PositionsPerSecond is 0"},
		{with(qwen25, func(m *multimodal.Model) { m.PositionsPerSecond = float32(math.NaN()) }), posenc.ErrConfig, "m.PositionsPerSecond is NaN"},
		{with(ernie, func(m *multimodal.Model) { m.TemporalMergeSize = 0 }), posenc.ErrConfig, "m.TemporalMergeSize is 0"},
		{with(hunYuan, func(m *multimodal.Model) { m.HunYuanAxes = 2 }), posenc.ErrConfig, "m.HunYuanAxes is 2, want from 3 to 4"},
		{with(omni25, func(m *multimodal.Model) { m.PositionsPerChunk = 0 }), posenc.ErrConfig, "m.PositionsPerChunk is 0"},
		{with(ming, func(m *multimodal.Model) { m.TimeScale = 0 }), posenc.ErrConfig, "m.TimeScale is 0"},
		{at(qwen2, text(-1)), posenc.ErrShape, "runs[0].Tokens is -1, want at least 0"},
		{at(qwen2, multimodal.Run{Kind: 77, Tokens: 1}), posenc.ErrShape, "runs[0].Kind is 77"},
		{at(qwen2, multimodal.Run{Kind: multimodal.SliceStart + 1, Tokens: 1}), posenc.ErrShape, "runs[0].Kind is 7, want one of the constants"},
		{at(qwen2, multimodal.Run{Kind: multimodal.Audio, Tokens: 1}), posenc.ErrShape, "runs[0].Kind is Audio, want a kind that Qwen2VL has"},
		{at(hunYuan, video(4, 1, 4, 4, 1)), posenc.ErrShape, "runs[0].Kind is Video"},
		{at(qwen2, multimodal.Run{Tokens: 1, AudioTokens: 1}), posenc.ErrShape, "runs[0].AudioTokens is 1"},
		{at(qwen2, multimodal.Run{Tokens: 1, Grid: multimodal.Grid{T: 1}}), posenc.ErrShape, "runs[0].Grid is {1 0 0}, want none"},
		{at(qwen2, text(1), image(5, 4, 4)), posenc.ErrShape, "runs[1].Tokens is 5, want 1*2*2, the tokens of the grid"},
		{at(qwen2, image(4, 4, 5)), posenc.ErrShape, "runs[0].Grid.W is 5, want a multiple of MergeSize = 2"},
		{at(qwen2, image(4, 0, 4)), posenc.ErrShape, "runs[0].Grid.H is 0"},
		{at(qwen2, image(1<<30, huge-1, huge-1)), posenc.ErrShape, "runs[0].Grid is"},
		{at(qwen2, multimodal.Run{Kind: multimodal.Image, Tokens: 8, Grid: multimodal.Grid{T: 2, H: 4, W: 4}}), posenc.ErrShape, "runs[0].Grid.T is 2, want 1 for an image"},
		{at(qwen2, multimodal.Run{Kind: multimodal.Image, Tokens: 0, Grid: multimodal.Grid{T: 1, H: 4, W: 4}}), posenc.ErrShape, "runs[0].Tokens is 0, want at least 1"},
		{at(qwen2, video(0, 0, 4, 4, 1)), posenc.ErrShape, "runs[0].Tokens is 0"},
		{at(qwen2, video(1, 0, 4, 4, 1)), posenc.ErrShape, "runs[0].Grid.T is 0"},
		{at(qwen3, video(8, 2, 4, 4, 1)), posenc.ErrShape, "runs[0].Grid.T is 2, want 1, as Qwen3VL has a run for each frame"},
		{at(ernie, video(12, 3, 4, 4, 1)), posenc.ErrShape, "runs[0].Grid.T is 3, want a multiple of m.TemporalMergeSize = 2"},
		{at(qwen25, video(4, 1, 4, 4, 0)), posenc.ErrShape, "runs[0].SecondsPerGrid is 0"},
		{at(qwen25, video(4, 1, 4, 4, float32(math.NaN()))), posenc.ErrShape, "runs[0].SecondsPerGrid is NaN"},
		{at(multimodal.Model{Family: multimodal.Qwen25VL, MergeSize: 1, PositionsPerSecond: 1 << 20}, video(20, 20, 1, 1, 1<<20)), posenc.ErrPosition, "runs[0].SecondsPerGrid is"},
		{at(multimodal.Model{Family: multimodal.Qwen25VL, MergeSize: 1, PositionsPerSecond: 1 << 10, AfterLargest: true},
			video(2, 2, 1, 1, 1<<20), video(2, 2, 1, 1, 1<<20)), posenc.ErrPosition, "a position of runs is 2147483649"},
		{at(hunYuan, image(5, 4, 4)), posenc.ErrShape, "runs[0].Tokens is 5, want 2*(2+1), the tokens of the grid, or 2 more"},
		{at(omni25, both(4+4+2, 2, 1), both(4+4+3, 2, 1)), posenc.ErrShape, "runs[1].Tokens is 11, want 2*1*2 for the video + AudioTokens = 2 + 4 at the ends"},
		{at(omni25, both(8, 0, 1)), posenc.ErrShape, "runs[0].AudioTokens is 0, want from 1 to Tokens = 8"},
		{at(omni25, both(8, huge, 1)), posenc.ErrShape, "runs[0].AudioTokens is"},
		{at(omni25, both(8, 8, 1)), posenc.ErrShape, "runs[0].Tokens is 8, want 2*1*2 for the video + AudioTokens = 8"},
		{at(omni3, video(8, 2, 4, 4, 0.5)), posenc.ErrPosition, "a position of runs is 6.5, want an integer; FractionalPositions writes fractions"},
		{at(omni3, video(8, 2, 4, 4, 1<<20), video(8, 2, 4, 4, 1<<20)), posenc.ErrPosition, "want at most 16777216 in magnitude"},
		{at(ming, text(1), video(8, 2, 4, 4, 1<<20), video(8, 2, 4, 4, 1<<24)), posenc.ErrShape, "runs[2].SecondsPerGrid"},
		{at(multimodal.Model{Family: multimodal.Ming, MergeSize: 2, TimeScale: 100}, video(8, 2, 4, 4, 1<<20)), posenc.ErrPosition, "at most 16777216 in magnitude"},
		{at(miniCPM, image(4, 8, 8)), posenc.ErrShape, "runs[0].Kind is Image, want a run of kind Marker or SliceStart before it"},
		{at(miniCPM, text(1), image(4, 8, 8)), posenc.ErrShape, "runs[1].Kind is Image"},
		{at(miniCPM, multimodal.Run{Kind: multimodal.SliceStart, Tokens: 1}, image(4, 8, 8)), posenc.ErrShape, "runs[1].Kind is Image, want no slice before any image"},
		{at(miniCPM, text(1), multimodal.Run{Kind: multimodal.SliceStart, Tokens: 1}, image(4, 8, 8)), posenc.ErrShape, "runs[2].Kind is Image, want no slice after text"},
		{at(miniCPM, marker(1), image(4, 8, 8), text(1), multimodal.Run{Kind: multimodal.SliceStart, Tokens: 1}, image(4, 8, 8)), posenc.ErrShape, "runs[4].Kind is Image, want no slice after text"},
		{at(miniCPM, marker(1), video(4, 1, 8, 8, 0), multimodal.Run{Kind: multimodal.SliceStart, Tokens: 1}, image(4, 8, 8)), posenc.ErrShape, "want Video"},
		{at(qwen2, text(huge), text(1)), posenc.ErrShape, "].Tokens is"},
		{at(qwen2, text(math.MaxInt32), text(1)), posenc.ErrShape, "runs[1].Tokens is 1, want fewer than 2^31 together with the 2147483647 of the runs before"},
		{at(qwen2, text(33)), posenc.ErrLength, "dst has 96 elements, want 3*33"},
		{batch(6, 0, multimodal.BatchOptions{Length: -1}), posenc.ErrConfig, "multimodal.Model.BatchPositions: options.Length is -1"},
		{batch(6, 1, multimodal.BatchOptions{Length: 1}, []multimodal.Run{text(2)}), posenc.ErrLength, "dst has 6 elements, want 3*1*1"},
		{batch(6, 1, multimodal.BatchOptions{Length: huge}, nil, nil), posenc.ErrLength, "dst has 6 elements"},
		{batch(0, 0, multimodal.BatchOptions{Length: huge/2 + 1}, nil, nil, nil, nil), posenc.ErrLength, "dst has 0 elements"},
		{multimodal.Model{}.BatchPositions(nil, nil, nil, multimodal.BatchOptions{}), posenc.ErrConfig, "multimodal.Model.BatchPositions: m.Family is 0"},
		{omni3.BatchPositions(dst[:54], nil, [][]multimodal.Run{nil, {video(8, 2, 4, 4, 0.5)}}, multimodal.BatchOptions{Length: 9}), posenc.ErrPosition, "a position of prompts[1] is 6.5"},
		{batch(6, 2, multimodal.BatchOptions{Length: 2}, []multimodal.Run{text(2)}), posenc.ErrLength, "next has 2 elements, want 0 or 1"},
		{batch(3, 1, multimodal.BatchOptions{Length: 1}, []multimodal.Run{text(2)}), posenc.ErrShape, "prompts[0] is 2 tokens, want at most options.Length = 1"},
		{batch(48, 2, multimodal.BatchOptions{Length: 8}, []multimodal.Run{text(2)}, []multimodal.Run{text(1), image(3, 4, 4)}), posenc.ErrShape, "prompts[1][1].Tokens is 3"},
		{batch(96, 1, multimodal.BatchOptions{Length: 32}, []multimodal.Run{text(2)}), posenc.ErrOverlap, "dst is sharing elements with next"},
		{appended(multimodal.Model{}, nil, multimodal.Media{}), posenc.ErrConfig, "m.Family"},
		{appended(qwen2, []int32{1, i, i, 2}, images()), posenc.ErrShape, "ids[1:3] is 2 tokens of kind Image, want none: media.Images has only 0"},
		{appended(qwen2, []int32{1, i, i, 2}, images(grid(1, 4, 4))), posenc.ErrShape, "ids[1:3] is 2 tokens of kind Image, want 4, the tokens of media.Images[0]"},
		{appended(qwen2, []int32{1, i, 2}, images(grid(1, 3, 2))), posenc.ErrShape, "media.Images[0].H is 3, want a multiple of MergeSize = 2"},
		{appended(qwen2, []int32{1, i, 2}, images(grid(1, 2, 2), grid(1, 4, 4))), posenc.ErrShape, "media.Images[1] is {1 4 4}, want a run of tokens in ids for each grid; there are only 1"},
		{appended(qwen2, []int32{1, 2}, videos(nil, grid(1, 2, 2))), posenc.ErrShape, "media.Videos[0] is {1 2 2}, want a run"},
		{appended(qwen2, []int32{i, i}, images(grid(1, 2, 2), grid(1, 2, 2))), posenc.ErrShape, "ids[0:2] is 2 tokens of kind Image, want 1, the tokens of media.Images[0]"},
		{appended(qwen2, []int32{1, 1, i, 1, i, i}, images(grid(1, 2, 2))), posenc.ErrShape, "media.Images has only 1"},
		{appended(qwen2, []int32{9}, multimodal.Media{}), posenc.ErrShape, "ids[0:1].Kind is Audio"},
		{appended(qwen2, []int32{v, 1, v}, videos(nil, grid(2, 2, 2))), posenc.ErrShape, "ids[0:1] is 1 tokens of kind Video, want 2, the tokens of media.Videos[0]"},
		{appended(qwen3, []int32{v, 1, v}, videos(nil, grid(3, 2, 2))), posenc.ErrShape, "media.Videos[0] is {3 2 2}, want a run of tokens in ids for each frame; there are only 2"},
		{appended(qwen3, []int32{v, v}, videos(nil, grid(2, 2, 2))), posenc.ErrShape, "ids[0:2] is 2 tokens of kind Video, want 1, the tokens of media.Videos[0]"},
		{appended(qwen3, []int32{v}, videos(nil, grid(0, 2, 2))), posenc.ErrShape, "media.Videos[0].T is 0"},
		{appended(qwen25, []int32{v}, videos(nil, grid(1, 2, 2))), posenc.ErrLength, "media.SecondsPerGrid has 0 elements, want 1"},
		{appended(qwen25, []int32{v}, videos([]float32{-1}, grid(1, 2, 2))), posenc.ErrShape, "ids[0:1].SecondsPerGrid is -1"},
		{appended(ming, []int32{v, 1, v, v}, videos(one, grid(3, 2, 2))), posenc.ErrShape, "ids[2:4] is 2 tokens of kind Video, want 1"},
		{appended(ming, []int32{v, v}, videos(one, grid(3, 2, 2))), posenc.ErrShape, "ids[0:2] is 2 tokens of kind Video, want 1"},
		{appended(omni25, []int32{s, e, v, 9, 9, 1}, videos(one, grid(1, 2, 2))), posenc.ErrShape, "ids has 6 elements, want two more after ids[0:5]"},
		{appended(omni25, []int32{s, e, v, 9}, videos(one, grid(1, 2, 2))), posenc.ErrShape, "ids has 4 elements, want two more after ids[0:4]"},
		{appended(omni25, []int32{1, s}, videos(one, grid(1, 2, 2))), posenc.ErrShape, "media.Videos[0] is {1 2 2}, want a run"},
		{appended(omni25, []int32{s, e, v, v, 9, 9, 1, 2}, videos(one, grid(1, 2, 2))), posenc.ErrShape, "ids[0:8] is 8 tokens of kind VideoAndAudio, want 7, the tokens of media.Videos[0]"},
		{appended(omni25, []int32{s, e, v, 1, 2}, videos(one, grid(1, 2, 2))), posenc.ErrShape, "ids[0:5].AudioTokens is 0"},
	} {
		fails(tt.err, tt.kind, tt.says)
	}
}

// mm_token_type_ids do as ids; a video of Ming may be whole or in frames.
func TestAppendRuns(t *testing.T) {
	types := multimodal.TokenIDs{Image: 1, Video: 2, Audio: 3}
	spare := make([]multimodal.Run, 1, 8)
	spare[0] = text(9)
	runs, err := models[0].AppendRuns(spare, []int32{0, 0, 1, 1, 0, 2, 2}, types,
		multimodal.Media{Images: []multimodal.Grid{{T: 1, H: 2, W: 4}}, Videos: []multimodal.Grid{{T: 2, H: 2, W: 2}}})
	want := []multimodal.Run{text(9), text(2), image(2, 2, 4), text(1), video(2, 2, 2, 2, 0)}
	if err != nil || !slices.Equal(runs, want) || &runs[0] != &spare[0] {
		t.Errorf("%v, want %v, error %v", runs, want, err)
	}
	two := multimodal.Media{Videos: []multimodal.Grid{{T: 2, H: 2, W: 2}, {T: 2, H: 2, W: 2}}}
	runs, err = models[9].AppendRuns(nil, []int32{2, 2, 0, 2, 0, 2}, types, two)
	want = []multimodal.Run{video(2, 2, 2, 2, 1), text(1), video(1, 1, 2, 2, 1), text(1), video(1, 1, 2, 2, 1)}
	if err != nil || !slices.Equal(runs, want) {
		t.Errorf("%v, want %v, error %v", runs, want, err)
	}
}

// An int32 holds positions up to 2^31-2, with next behind them, a float32 those up to 2^24.
func TestLargestPosition(t *testing.T) {
	m := multimodal.Model{Family: multimodal.Qwen25VL, MergeSize: 1, PositionsPerSecond: 1 << 10, AfterLargest: true}
	long := func(seconds float32) multimodal.Run { return video(2, 2, 1, 1, seconds) }
	end := []multimodal.Run{long(1 << 20), long(1<<20 - 1), long(1019.0 / 1024)} // up to position 2^31-3
	for _, tt := range []struct {
		runs             []multimodal.Run
		integers, floats bool
	}{
		{[]multimodal.Run{long(1 << 14)}, true, true},
		{[]multimodal.Run{text(1), long(1 << 14)}, true, false},
		{append(end[:3:3], text(1)), true, false},
		{append(end[:3:3], text(2)), false, false},
	} {
		n, _ := tokens(tt.runs)
		next, err := m.Positions(make([]int32, 3*n), tt.runs)
		if (err == nil) != tt.integers || err == nil && next.AfterLargest < 1<<24 {
			t.Errorf("%v: next %v, error %v", tt.runs, next, err)
		}
		if _, err := m.FractionalPositions(make([]float32, 3*n), tt.runs); (err == nil) != tt.floats {
			t.Errorf("%v: float32: error %v", tt.runs, err)
		}
	}
}

// In Qwen3Omni each sum rounds to float32, as get_rope_index of the model sums: the first token
// after a video is at its largest position + 1, text k tokens behind it at that + 1 + k, and an
// image where the last token before it would be, + 1. Overviews of MiniCPMV47 are stretched by
// float32 steps from both ends, which decide how halves are rounded.
func TestRounding(t *testing.T) {
	omni := func(perSecond float32) multimodal.Model {
		return multimodal.Model{Family: multimodal.Qwen3Omni, MergeSize: 2, PositionsPerSecond: perSecond}
	}
	behind := func(tokens int) []multimodal.Run {
		return []multimodal.Run{video(2, 2, 2, 2, 2.0/30), text(tokens), image(1, 2, 2)}
	}
	miniCPM := multimodal.Model{Family: multimodal.MiniCPMV47, MergeSize: 1}
	stretched := func(rows, over int) []multimodal.Run {
		return []multimodal.Run{marker(1), image(rows, rows, 1), {Kind: multimodal.SliceStart, Tokens: 1}, image(over, over, 1), marker(1)}
	}
	for _, tt := range []struct {
		m    multimodal.Model
		runs []multimodal.Run
		at   int // on the axis of rows
		want []float32
	}{
		{omni(1), behind(17), 18, []float32{17.066666, 18.066666}},
		{omni(25), behind(14), 15, []float32{15.666667, 16.666668}},
		{omni(25), behind(15), 16, []float32{16.666666, 17.666666}},
		{miniCPM, stretched(19, 76), 1 + 3, []float32{12}},
		{miniCPM, stretched(21, 43), 1 + 5, []float32{10}},
		{miniCPM, stretched(31, 10), 1 + 5, []float32{2}},
	} {
		n, _ := tokens(tt.runs)
		dst := make([]float32, 3*n)
		kit.Must(tt.m.FractionalPositions(dst, tt.runs))
		if got := dst[n+tt.at:][:len(tt.want)]; !slices.Equal(got, tt.want) {
			t.Errorf("%v: tokens from %d on are at %v, want %v", tt.runs, tt.at, got, tt.want)
		}
	}
}

// Families and kinds have names, and numbers beyond them have some text too.
func TestNames(t *testing.T) {
	const want = "Qwen2VL 0 10 SliceStart unknown"
	if got := fmt.Sprint(multimodal.Qwen2VL, multimodal.Family(0), multimodal.Ming+1, multimodal.SliceStart, multimodal.SliceStart+1); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A token id of 0 is text, whether a model has placeholders or not, and so is one of the two that
// begin a video with sound. Prompts may be empty. A video has one SecondsPerGrid, no fewer and no more.
func TestIDsOfText(t *testing.T) {
	for _, m := range models {
		m.MergeSize = 1 << 15 // the largest
		next := []multimodal.Next[int32]{{AfterLargest: 7}}
		if err := m.BatchPositions(nil, next, make([][]multimodal.Run, 1), multimodal.BatchOptions{}); err != nil || next[0] != (multimodal.Next[int32]{}) {
			t.Errorf("%v: next %v of a prompt without tokens, error %v", m.Family, next[0], err)
		}
		for _, tokens := range []multimodal.TokenIDs{{}, {VisionStart: 5}, {AudioStart: 5}} {
			runs, err := m.AppendRuns(nil, []int32{5, 0, 0, 5, 0}, tokens, multimodal.Media{Images: []multimodal.Grid{}, SecondsPerGrid: []float32{}})
			if err != nil || len(runs) != 1 || runs[0] != text(5) {
				t.Errorf("%v, %+v: got %v, error %v", m.Family, tokens, runs, err)
			}
		}
		if m.PositionsPerSecond == 0 && m.TimeScale == 0 {
			continue
		}
		for _, seconds := range [][]float32{{1, 1}, {1, 1, 1, 1}} {
			_, err := m.AppendRuns(nil, []int32{9, 9, 9}, multimodal.TokenIDs{Video: 9}, multimodal.Media{Videos: make([]multimodal.Grid, 3), SecondsPerGrid: seconds})
			kit.Failures(t)(err, posenc.ErrLength, "media.SecondsPerGrid has", "want 3")
		}
	}
}

func TestMain(m *testing.M) { kit.Main(m) }

func TestReceivers(t *testing.T) {
	kit.CheckReceivers(t, multimodal.Family(0), multimodal.Kind(0), multimodal.Model{})
}

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
		kit.NoError(t, multimodal.PatchPositions(dst, grids(p.Grids), multimodal.PatchOptions{MergeSize: p.Merge, Time: true}))
		if !slices.Equal(dst, slices.Concat(p.Positions...)) {
			t.Errorf("positions %d, with time: differ", i)
		}
		kit.NoError(t, multimodal.PatchPositions(dst[patches:], grids(p.Grids), multimodal.PatchOptions{MergeSize: p.Merge}))
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
	fails := kit.Failures(t, ints)
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
	for _, tt := range []struct {
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
		fails(tt.err, tt.kind, tt.says)
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
	before := kit.AllocatedBytes()
	_, err := multimodal.AppendFrames(nil, []multimodal.Grid{{T: 1 << 20, H: 1, W: 1}}, multimodal.FrameOptions{})
	_, _, err2 := multimodal.AppendWindows(nil, nil, []multimodal.Grid{{T: 1 << 14, H: 32, W: 32}}, multimodal.WindowOptions{MergeSize: 2, WindowSize: 4, PatchSize: 2})
	kit.NoError(t, err, err2)
	used := kit.AllocatedBytes() - before
	// Under the race detector slices.Grow allocates what it adds once more.
	if most := uint64(2 * (4<<20 + 2*4<<22 + 1<<20)); used > most {
		t.Errorf("%d bytes, want at most %d", used, most)
	}
}

// source makes numbers of the bytes of a fuzzer: mostly small, and at times those at which
// arithmetic overflows.
type source []byte

func (s *source) next() byte {
	if len(*s) == 0 {
		return 0
	}
	b := (*s)[0]
	*s = (*s)[1:]
	return b
}

func (s *source) int() int {
	switch b := s.next(); b {
	case 255:
		return math.MaxInt - int(s.next())
	case 254:
		return -int(s.next())
	case 253:
		return math.MaxInt32 - int(s.next())
	case 252:
		return 1 << (s.next() % 31)
	default:
		return int(b % 32)
	}
}

func (s *source) float() float32 {
	switch b := s.next(); b {
	case 255:
		return float32(math.NaN())
	case 254:
		return float32(math.Inf(1))
	case 253:
		return -1
	case 252:
		return 1 << 20
	default:
		return float32(b) / 12
	}
}

func (s *source) grid() multimodal.Grid { return multimodal.Grid{T: s.int(), H: s.int(), W: s.int()} }

// model is one of a family, its numbers mostly right.
func (s *source) model() multimodal.Model {
	m := models[int(s.next())%len(models)]
	if s.next() > 250 {
		m = multimodal.Model{Family: multimodal.Family(s.next()), MergeSize: s.int(), TemporalMergeSize: s.int(), PositionsPerSecond: s.float(),
			PositionsPerChunk: s.int(), TimeScale: s.float(), HunYuanAxes: s.int(), AfterLargest: s.next()%2 == 0}
	}
	return m
}

// run is any run. Most with a grid fit it.
func (s *source) run(m multimodal.Model) multimodal.Run {
	r := multimodal.Run{Kind: multimodal.Kind(s.next() % 8), Tokens: s.int()}
	if r.Kind != multimodal.Image && r.Kind != multimodal.Video && r.Kind != multimodal.VideoAndAudio {
		return r
	}
	r.Grid, r.SecondsPerGrid = s.grid(), s.float()
	if r.Kind == multimodal.VideoAndAudio {
		r.AudioTokens = s.int()
	}
	if fit := s.next(); fit < 230 && m.MergeSize > 0 && m.MergeSize < 100 {
		g := multimodal.Grid{T: r.Grid.T%5 + 1, H: (r.Grid.H%4 + 1) * m.MergeSize, W: (r.Grid.W%4 + 1) * m.MergeSize}
		if r.Kind == multimodal.Image || m.Family == multimodal.Qwen3VL || m.Family == multimodal.MiniCPMV47 {
			g.T = 1
		}
		r.Grid, r.Tokens = g, g.T*g.H*g.W/m.MergeSize/m.MergeSize
		switch {
		case m.Family == multimodal.HunYuanVL:
			r.Tokens += g.H/m.MergeSize + int(fit%2)*2
		case m.Family == multimodal.Ernie45VL && r.Kind == multimodal.Video:
			r.Grid.T *= m.TemporalMergeSize
		case r.Kind == multimodal.VideoAndAudio:
			r.AudioTokens = r.AudioTokens & 63
			r.Tokens += r.AudioTokens + 4
		}
	}
	return r
}

const mostTokens = 1 << 14 // of a prompt that is given memory

// tokens returns how many tokens runs have, unless these are too many or not to be counted.
func tokens(runs []multimodal.Run) (n int, ok bool) {
	for _, r := range runs {
		if r.Tokens < 0 || r.Tokens > mostTokens-n {
			return 0, false
		}
		n += r.Tokens
	}
	return n, true
}

// FuzzPositions gives every family arbitrary runs: an error, and nothing written; or all
// positions, with equal ones on all axes for text, next after the largest, and those of the
// first runs the same as by themselves.
func FuzzPositions(f *testing.F) {
	for i := range models {
		f.Add([]byte{byte(i), 0, 0, 5, 5, 1, 1, 0, 2, 3, 12, 0, 0, 2, 2, 0, 1, 1, 12, 0, 0, 3})
		f.Add([]byte{byte(i), 0, 0, 3, 4, 0, 3, 1, 1, 6, 9, 0, 6, 1, 3, 0, 3, 4, 0, 2, 2, 2, 7, 9, 0})
		f.Add([]byte{byte(i), 0, 0, 1, 5, 1, 1, 0, 0, 2, 2, 0, 0, 6, 1, 1, 0, 0, 1, 1, 0, 0, 5, 3, 6, 1, 1, 0, 0, 1, 1, 0, 0, 0, 4})
		f.Add([]byte{byte(i), 255, byte(i), 2, 2, 12, 30, 12, 4, 0, 0, 9, 255, 7, 0, 253, 1})
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := source(data)
		m := s.model()
		var runs []multimodal.Run
		for len(s) > 0 {
			runs = append(runs, s.run(m))
		}
		n, ok := tokens(runs)
		axes := min(max(m.Axes(), 0), 8)
		dst, again := slices.Repeat([]int32{-77}, axes*n), slices.Repeat([]int32{-78}, axes*n)
		next, err := m.Positions(dst, runs)
		if err != nil {
			if !kit.WellFormed(err) || slices.ContainsFunc(dst, func(x int32) bool { return x != -77 }) {
				t.Fatalf("error %v, or something written", err)
			}
			fractions := slices.Repeat([]float32{-77}, 3*n) // an error for integers may be none for these
			_, other := m.FractionalPositions(fractions, runs)
			if other != nil && (!kit.WellFormed(other) || m.Axes() == 3 && slices.ContainsFunc(fractions, func(x float32) bool { return x != -77 })) {
				t.Fatalf("error %v, or something written", other)
			}
			if other == nil && !(m.Family == multimodal.Qwen3Omni && errors.Is(err, posenc.ErrPosition)) {
				t.Fatalf("no error beside %v", err)
			}
			return
		}
		if !ok {
			t.Fatal("no error for tokens that memory does not hold")
		}
		if _, err := m.Positions(again, runs); err != nil || !slices.Equal(dst, again) {
			t.Fatalf("positions %v, and another time %v, error %v", dst, again, err)
		}
		checkPositions(t, m, runs, dst, n, next)
	})
}

func checkPositions(t *testing.T, m multimodal.Model, runs []multimodal.Run, dst []int32, n int, next multimodal.Next[int32]) {
	axes, at := m.Axes(), 0
	for i, r := range runs {
		plain := r.Kind == multimodal.Text || r.Kind == multimodal.Audio || r.Kind > multimodal.VideoAndAudio && m.Family != multimodal.MiniCPMV47
		for k := range r.Tokens {
			for axis := 1; axis < axes && plain; axis++ {
				if dst[axis*n+at+k] != dst[at+k] {
					t.Fatalf("%v: token %d of run %d, text, is at %d on axis %d and %d on axis 0", m, k, i, dst[axis*n+at+k], axis, dst[at+k])
				}
			}
		}
		at += r.Tokens
	}
	largest := int32(-1)
	for i, x := range dst {
		if m.Family != multimodal.Ming || i < n {
			largest = max(largest, x)
		}
		if x < 0 && (m.Family != multimodal.Ming || i < n) {
			t.Fatalf("%v: a position %d", m, x)
		}
	}
	if next.AfterLargest != largest+1 {
		t.Fatalf("%v: next %v after %d", m, next, largest)
	}
	for axis := range axes {
		if n > 0 && next.Axes[axis] != dst[axis*n+n-1]+1 {
			t.Fatalf("%v: next %v after %d on axis %d", m, next, dst[axis*n+n-1], axis)
		}
	}
	if len(runs) == 0 || m.Family == multimodal.MiniCPMV47 {
		return
	}
	fewer := runs[:len(runs)-1]
	part, _ := tokens(fewer)
	first := make([]int32, axes*part)
	before, err := m.Positions(first, fewer)
	if err != nil || before.AfterLargest > next.AfterLargest {
		t.Fatalf("%v: next %v, without the last run %v, error %v", m, next, before, err)
	}
	for axis := range axes {
		if !slices.Equal(first[axis*part:][:part], dst[axis*n:][:part]) {
			t.Fatalf("%v: the last run changes positions before it", m)
		}
	}
}

// FuzzAppendRuns gives every family arbitrary ids and grids: an error, or runs of as many
// tokens that have positions.
func FuzzAppendRuns(f *testing.F) {
	for i := range models {
		f.Add([]byte{byte(i), 0}, []byte{1, 1, 1, 4, 2, 2, 2, 4, 7, 8, 9}, []byte{1, 4, 4, 1, 2, 6})
		f.Add([]byte{byte(i), 0}, []byte{4, 6, 2, 3, 3, 7, 5, 1}, []byte{1, 2, 2, 1, 2, 2})
	}
	f.Fuzz(func(t *testing.T, numbers, types, shapes []byte) {
		s := source(numbers)
		m := s.model()
		of := multimodal.TokenIDs{Image: 1, Video: 2, Audio: 3, VisionStart: 4, AudioStart: 6, VideoStart: 10, VideoEnd: 11, SliceStart: 7, Markers: []int32{8, 9}}
		var ids []int32
		for _, b := range types {
			ids = append(ids, int32(b%12))
		}
		var media multimodal.Media
		for sizes := source(shapes); len(sizes) > 0; {
			if len(sizes)%2 == 0 {
				media.Images = append(media.Images, sizes.grid())
			} else {
				media.Videos = append(media.Videos, sizes.grid())
				media.SecondsPerGrid = append(media.SecondsPerGrid, 1)
			}
		}
		runs, err := m.AppendRuns(nil, ids, of, media)
		if err != nil {
			if !kit.WellFormed(err) || runs != nil {
				t.Fatalf("error %v, runs %v", err, runs)
			}
			return
		}
		if n, ok := tokens(runs); !ok && len(ids) < mostTokens || ok && n != len(ids) {
			t.Fatalf("%d tokens in runs of %d", n, len(ids))
		}
		_, err = m.Positions(make([]int32, m.Axes()*len(ids)), runs)
		if err != nil && !errors.Is(err, posenc.ErrPosition) && m.Family != multimodal.MiniCPMV47 {
			t.Fatal(err)
		}
	})
}

// FuzzVision gives the functions for the vision tower arbitrary grids and options.
func FuzzVision(f *testing.F) {
	f.Add([]byte{2, 4, 2, 1, 4, 4, 2, 8, 6})
	f.Add([]byte{1, 3, 1, 1, 255, 255, 1, 2, 3, 253, 4})
	f.Fuzz(func(t *testing.T, data []byte) {
		s := source(data)
		merge, window, patch := s.int(), s.int(), s.int()
		var list []multimodal.Grid
		patches, countable := 0, true
		for len(s) > 0 {
			g := s.grid()
			list = append(list, g)
			countable = countable && min(g.T, g.H, g.W) >= 1 && max(g.T, g.H, g.W) <= 64 && len(list) <= 4
			if countable {
				patches += g.T * g.H * g.W
			}
		}
		check := func(err error, written bool) bool {
			if err != nil && (!kit.WellFormed(err) || written) {
				t.Fatalf("error %v, or something written", err)
			}
			if err == nil && !countable {
				t.Fatal("no error for grids without memory")
			}
			return err == nil
		}
		positions := slices.Repeat([]int32{-1}, 3*patches)
		err := multimodal.PatchPositions(positions, list, multimodal.PatchOptions{MergeSize: merge, Time: true})
		if check(err, slices.ContainsFunc(positions, func(x int32) bool { return x != -1 })) && slices.Min(append(positions, 0)) < 0 {
			t.Fatal("a patch without a position")
		}
		if !countable { // what is appended would need memory
			return
		}
		order, starts, err := multimodal.AppendWindows(nil, nil, list, multimodal.WindowOptions{MergeSize: merge, WindowSize: window, PatchSize: patch})
		if check(err, order != nil || starts != nil) {
			checkStarts(t, starts, patches)
			slices.Sort(order)
			if n := len(order); n > 0 && (order[0] != 0 || int(order[n-1]) != n-1 || len(slices.Compact(order)) != n) {
				t.Fatalf("the order is %v", order)
			}
		}
		starts, err = multimodal.AppendFrames(nil, list, multimodal.FrameOptions{})
		if check(err, starts != nil) {
			checkStarts(t, starts, patches)
		}
	})
}

// checkStarts checks that cumulative lengths ascend from 0 to all patches.
func checkStarts(t *testing.T, starts []int32, patches int) {
	if n := len(starts); starts[0] != 0 || int(starts[n-1]) != patches || !slices.IsSorted(starts) || len(slices.Compact(starts)) != n {
		t.Fatalf("cumulative lengths %v of %d patches", starts, patches)
	}
}
