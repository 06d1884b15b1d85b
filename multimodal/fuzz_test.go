package multimodal_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/multimodal"
)

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
			if !wellFormed(err) || slices.ContainsFunc(dst, func(x int32) bool { return x != -77 }) {
				t.Fatalf("error %v, or something written", err)
			}
			fractions := slices.Repeat([]float32{-77}, 3*n) // an error for integers may be none for these
			_, other := m.FractionalPositions(fractions, runs)
			if other != nil && (!wellFormed(other) || m.Axes() == 3 && slices.ContainsFunc(fractions, func(x float32) bool { return x != -77 })) {
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
			if !wellFormed(err) || runs != nil {
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
			if err != nil && (!wellFormed(err) || written) {
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
