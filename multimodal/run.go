package multimodal

import (
	"fmt"
	"math"

	"github.com/go-posenc/posenc/internal/argument"
)

// Kind says what the tokens of a run are.
type Kind uint8

const (
	Text Kind = iota
	Image
	Video
	Audio

	// VideoAndAudio is a video with its sound (Qwen2.5-Omni and Qwen3-Omni with
	// use_audio_in_video): the interleaved tokens of both, with the two tokens that begin
	// them and the two that end them.
	VideoAndAudio

	// Marker and SliceStart are the tokens around images in MiniCPM-V 4.7. SliceStart is
	// <slice>, the token before a slice of an image. Marker is any of <image>, </image>,
	// </slice> and the newline. In the other families both are text.
	Marker
	SliceStart
)

var kindNames = [...]string{"Text", "Image", "Video", "Audio", "VideoAndAudio", "Marker", "SliceStart"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Grid is the number of patches of an image or video along time, height and width, before
// merging: a row of image_grid_thw or video_grid_thw.
type Grid struct{ T, H, W int }

// Run is a run of neighbouring tokens of one kind.
type Run struct {
	Kind   Kind
	Tokens int

	// Grid is for Image, Video and VideoAndAudio. T is 1 for an image, and for a video in
	// the families whose runs are single frames.
	Grid Grid

	// SecondsPerGrid is for Video and VideoAndAudio in Qwen25VL, Qwen25Omni, Qwen3Omni and
	// Ming: the seconds from one step of T to the next (second_per_grid_ts,
	// video_second_per_grid), which are temporal_patch_size divided by the frames per second.
	// The other families do not read it.
	SecondsPerGrid float32

	// AudioTokens is for VideoAndAudio: how many of Tokens are sound. The other tokens are
	// the video and two at each end.
	AudioTokens int
}

// Tokens that belong to no grid, half of them before it and half after.
const (
	endsOfVideoAndAudio = 4
	endsOfHunYuan       = 2 // where the model's processor adds them
)

// merged is the grid of the tokens of an image or video.
type merged struct{ t, h, w int }

// fault describes what is wrong with a field of a run or grid.
type fault struct {
	kind     error
	field    string
	value    any
	expected string
}

// of returns the fault as the error of a function about a named argument.
func (f *fault) of(function, name string) error {
	return argument.Error(f.kind, function, name+f.field, f.value, "%s", f.expected)
}

func shapeFault(field string, value any, expected string, args ...any) *fault {
	return &fault{argument.ErrShape, field, value, fmt.Sprintf(expected, args...)}
}

// divide returns the grid of an image or video after merging.
func (m *Model) divide(kind Kind, g Grid) (merged, *fault) {
	temporal := m.temporalMergeSize(kind)
	switch {
	case g.T < 1 || g.T%temporal != 0:
		return merged{}, shapeFault(".T", g.T, "a multiple of m.TemporalMergeSize = %d, at least that", temporal)
	case kind == Image && g.T != 1:
		return merged{}, shapeFault(".T", g.T, "1 for an image")
	case rules[m.Family].frames && g.T != 1:
		return merged{}, shapeFault(".T", g.T, "1, as %v has a run for each frame", m.Family)
	}
	if f := divisible(g, m.MergeSize); f != nil {
		return merged{}, f
	}
	grid := merged{g.T / temporal, g.H / m.MergeSize, g.W / m.MergeSize}
	if !countable(grid.t, grid.h, grid.w+1) { // HunYuan has a token more in each row
		return merged{}, shapeFault("", g, "a grid of fewer than 2^31 tokens")
	}
	return grid, nil
}

func (m *Model) temporalMergeSize(kind Kind) int {
	if m.Family == Ernie45VL && kind == Video {
		return m.TemporalMergeSize
	}
	return 1
}

// divisible checks height and width of a grid.
func divisible(g Grid, mergeSize int) *fault {
	if g.H < 1 || g.H%mergeSize != 0 {
		return shapeFault(".H", g.H, "a multiple of MergeSize = %d, at least that", mergeSize)
	}
	if g.W < 1 || g.W%mergeSize != 0 {
		return shapeFault(".W", g.W, "a multiple of MergeSize = %d, at least that", mergeSize)
	}
	return nil
}

// countable reports whether an int32 holds the product of numbers of at least 0.
func countable(a, b, c int) bool {
	ab, ok := argument.Multiply(a, b)
	abc, fits := argument.Multiply(ab, c)
	return ok && fits && abc <= math.MaxInt32
}

// length returns how many tokens a grid has.
func (m *Model) length(g merged) int {
	if m.Family == HunYuanVL {
		return g.h * (g.w + 1)
	}
	return g.t * g.h * g.w
}

// checkRun checks a run without looking at others.
func (m *Model) checkRun(r *Run) *fault {
	rule := &rules[m.Family]
	least := 1
	if r.Kind == Text {
		least = 0
	}
	switch {
	case int(r.Kind) >= len(kindNames):
		return shapeFault(".Kind", uint8(r.Kind), "one of the constants of type Kind")
	case !rule.takes(r.Kind):
		return shapeFault(".Kind", r.Kind, "a kind that %v has", m.Family)
	case r.Tokens < least:
		return shapeFault(".Tokens", r.Tokens, "at least %d", least)
	case r.AudioTokens != 0 && r.Kind != VideoAndAudio:
		return shapeFault(".AudioTokens", r.AudioTokens, "0 for a run of kind %v", r.Kind)
	}
	if r.Kind != Image && r.Kind != Video && r.Kind != VideoAndAudio {
		if r.Grid != (Grid{}) {
			return shapeFault(".Grid", r.Grid, "none for a run of kind %v", r.Kind)
		}
		return nil
	}
	g, f := m.divide(r.Kind, r.Grid)
	if f != nil {
		f.field = ".Grid" + f.field
		return f
	}
	if rule.seconds && r.Kind != Image {
		if s := r.SecondsPerGrid; !(s > 0 && s <= 1<<20) {
			return shapeFault(".SecondsPerGrid", s, "above 0 and at most 2^20")
		}
		if last := float64(g.t-1) * float64(r.SecondsPerGrid) * float64(m.perSecond()); last > 1<<30 {
			return &fault{argument.ErrPosition, ".SecondsPerGrid", r.SecondsPerGrid, fmt.Sprintf("a time that puts the last of %d frames at position 2^30 at most", g.t)}
		}
	}
	switch want := m.length(g); {
	case r.Kind == VideoAndAudio && (r.AudioTokens < 1 || r.AudioTokens > r.Tokens):
		return shapeFault(".AudioTokens", r.AudioTokens, "from 1 to Tokens = %d", r.Tokens)
	case r.Kind == VideoAndAudio && r.Tokens-r.AudioTokens != want+endsOfVideoAndAudio:
		return shapeFault(".Tokens", r.Tokens, "%d*%d*%d for the video + AudioTokens = %d + %d at the ends", g.t, g.h, g.w, r.AudioTokens, endsOfVideoAndAudio)
	case r.Kind == VideoAndAudio:
		return nil
	case m.Family == HunYuanVL && r.Tokens != want && r.Tokens != want+endsOfHunYuan:
		return shapeFault(".Tokens", r.Tokens, "%d*(%d+1), the tokens of the grid, or %d more at the ends", g.h, g.w, endsOfHunYuan)
	case m.Family != HunYuanVL && r.Tokens != want:
		return shapeFault(".Tokens", r.Tokens, "%d*%d*%d, the tokens of the grid", g.t, g.h, g.w)
	}
	return nil
}
