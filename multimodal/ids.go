package multimodal

import (
	"fmt"
	"slices"

	"github.com/go-posenc/posenc/internal/argument"
)

// TokenIDs are the token ids by which a prompt says where its images, videos and sound are. A
// field is 0 if the model has no such token. Instead of ids, a prompt may be given as its
// mm_token_type_ids, which say the type of each token: use
// TokenIDs{Image: 1, Video: 2, Audio: 3}.
type TokenIDs struct {
	Image, Video, Audio int32 // the placeholders: image_token_id, video_token_id, audio_token_id

	// VideoStart and VideoEnd are for GLM's models, which use the placeholder of images in
	// videos too: placeholders between the two are video.
	VideoStart, VideoEnd int32

	// VisionStart and AudioStart are for Qwen2.5-Omni and Qwen3-Omni: a video with its sound
	// begins with VisionStart and then AudioStart.
	VisionStart, AudioStart int32

	// SliceStart and Markers are for MiniCPM-V 4.7. SliceStart is <slice> (slice_start_id).
	// Markers are <image>, </image>, </slice> and the newline (image_start_id, image_end_id,
	// slice_end_id, newline_id).
	SliceStart int32
	Markers    []int32
}

// Media are the grids of the images and videos of a prompt, in the order of the prompt: the
// rows of image_grid_thw and video_grid_thw. For MiniCPM-V 4.7 they are the rows of
// target_sizes and target_sizes_videos, with T 1.
type Media struct {
	Images, Videos []Grid

	// SecondsPerGrid has Run.SecondsPerGrid of each video. Only Qwen25VL, Qwen25Omni,
	// Qwen3Omni and Ming read it. For Ming it may be empty, which means 1 for all videos;
	// for the others transformers takes 1 for an absent second_per_grid_ts, and a caller says so.
	SecondsPerGrid []float32
}

// AppendRuns finds the runs of a prompt by its token ids, appends them to runs, and returns the
// result. Each stretch of placeholders takes the next grid of media and must have as many
// tokens. In families with a run for each frame of a video, each stretch takes one frame of the
// next grid. In Ming, it takes one frame or the whole grid. posenc.ErrShape is also of
// placeholders that do not fit their grid or have none, and of a grid without placeholders. With
// an error, AppendRuns returns runs unchanged, and writes nothing behind them.
func (m Model) AppendRuns(runs []Run, ids []int32, tokens TokenIDs, media Media) ([]Run, error) {
	const function = "multimodal.Model.AppendRuns"
	if err := m.check(function); err != nil {
		return runs, err
	}
	timed := rules[m.Family].seconds && !(m.Family == Ming && len(media.SecondsPerGrid) == 0)
	if timed && len(media.SecondsPerGrid) != len(media.Videos) {
		return runs, argument.Error(argument.ErrLength, function, "media.SecondsPerGrid", argument.Elements(len(media.SecondsPerGrid)), "%d, one for each of media.Videos", len(media.Videos))
	}
	// The first time checks: with an error nothing is written behind runs.
	count := 0
	for _, appends := range []bool{false, true} {
		if appends {
			runs = slices.Grow(runs, count)
		}
		s := scanner{model: &m, ids: ids, tokens: &tokens, media: &media, timed: timed}
		for ; s.at < len(ids); count++ {
			r, f := s.next()
			if f == nil {
				f = s.place(&r)
			}
			if f == nil {
				if f = m.checkRun(&r); f != nil {
					f.field = fmt.Sprintf("ids[%d:%d]%s", s.from, s.at, f.field)
				}
			}
			if f != nil {
				return runs, f.of(function, "")
			}
			if appends {
				runs = append(runs, r)
			}
		}
		if f := s.rest(); f != nil {
			return runs, f.of(function, "")
		}
	}
	return runs, nil
}

// scanner goes through the ids of a prompt. Its faults name an argument.
type scanner struct {
	model  *Model
	ids    []int32
	tokens *TokenIDs
	media  *Media
	timed  bool

	from, at       int // the first token of the run, and the one after it
	inVideo        bool
	images, videos int // grids that have their runs
	frames         int // frames of the next video that have their runs
}

// kind returns the kind of token i.
func (s *scanner) kind(i int) Kind {
	of := s.tokens
	switch id := s.ids[i]; {
	case id == 0:
		return Text
	case id == of.Image && s.inVideo, id == of.Video:
		return Video
	case id == of.Image:
		return Image
	case id == of.Audio:
		return Audio
	case id == of.SliceStart && s.model.Family == MiniCPMV47:
		return SliceStart
	case s.model.Family == MiniCPMV47 && slices.Contains(of.Markers, id):
		return Marker
	case id == of.VideoStart:
		s.inVideo = true
	case id == of.VideoEnd:
		s.inVideo = false
	}
	return Text
}

// next returns the next run, without its grid.
func (s *scanner) next() (Run, *fault) {
	s.from = s.at
	if s.videoAndAudio(s.at) {
		return s.interleaved()
	}
	r := Run{Kind: s.kind(s.at)}
	for s.at++; s.at < len(s.ids) && s.kind(s.at) == r.Kind && !s.videoAndAudio(s.at); s.at++ {
	}
	r.Tokens = s.at - s.from
	return r, nil
}

// videoAndAudio reports whether a video with sound begins with token i.
func (s *scanner) videoAndAudio(i int) bool {
	of := s.tokens
	return of.VisionStart != 0 && of.AudioStart != 0 && rules[s.model.Family].takes(VideoAndAudio) &&
		i+1 < len(s.ids) && s.ids[i] == of.VisionStart && s.ids[i+1] == of.AudioStart
}

// interleaved returns the run of a video with its sound.
func (s *scanner) interleaved() (Run, *fault) {
	r := Run{Kind: VideoAndAudio}
	for s.at += 2; s.at < len(s.ids); s.at++ {
		kind := s.kind(s.at)
		if kind == Audio {
			r.AudioTokens++
		} else if kind != Video {
			break
		}
	}
	if s.at+2 > len(s.ids) {
		return r, shapeFault("ids", argument.Elements(len(s.ids)), "two more after ids[%d:%d], the end of the video and its sound", s.from, s.at)
	}
	s.at += 2
	r.Tokens = s.at - s.from
	return r, nil
}

// place gives a run the next grid of its kind.
func (s *scanner) place(r *Run) *fault {
	var list string
	var grids []Grid
	var used int
	switch r.Kind {
	case Image:
		list, grids, used = "media.Images", s.media.Images, s.images
	case Video, VideoAndAudio:
		list, grids, used = "media.Videos", s.media.Videos, s.videos
	default:
		return nil
	}
	if used == len(grids) {
		return s.misplaced(r, fmt.Sprintf("none: %s has only %d", list, len(grids)))
	}
	r.Grid = grids[used]
	whole := r.Grid
	if r.Kind != Image && rules[s.model.Family].frames {
		r.Grid.T = min(r.Grid.T, 1)
	}
	g, f := s.model.divide(r.Kind, r.Grid)
	if f != nil {
		f.field = argument.Indexed(list, used) + f.field
		return f
	}
	want := s.model.length(g)
	if s.model.Family == Ming && r.Kind == Video && (s.frames > 0 || r.Tokens != want) {
		r.Grid.T, want = 1, want/g.t
	}
	extra := 0
	switch {
	case r.Kind == VideoAndAudio:
		extra = endsOfVideoAndAudio + r.AudioTokens
	case s.model.Family == HunYuanVL && r.Tokens != want:
		extra = endsOfHunYuan
	}
	if r.Tokens != want+extra {
		return s.misplaced(r, fmt.Sprintf("%d, the tokens of %s", want+extra, argument.Indexed(list, used)))
	}
	if r.Kind == Image {
		s.images++
		return nil
	}
	switch {
	case s.timed:
		r.SecondsPerGrid = s.media.SecondsPerGrid[s.videos]
	case rules[s.model.Family].seconds:
		r.SecondsPerGrid = 1
	}
	if s.frames++; r.Grid.T == whole.T || s.frames == whole.T {
		s.videos++
		s.frames = 0
	}
	return nil
}

func (s *scanner) misplaced(r *Run, expected string) *fault {
	return shapeFault(fmt.Sprintf("ids[%d:%d]", s.from, s.at), fmt.Sprintf("%d tokens of kind %v", r.Tokens, r.Kind), "%s", expected)
}

// rest returns the fault of a grid that has no run.
func (s *scanner) rest() *fault {
	switch {
	case s.frames > 0:
		return shapeFault(argument.Indexed("media.Videos", s.videos), s.media.Videos[s.videos], "a run of tokens in ids for each frame; there are only %d", s.frames)
	case s.images < len(s.media.Images):
		return shapeFault(argument.Indexed("media.Images", s.images), s.media.Images[s.images], "a run of tokens in ids for each grid; there are only %d", s.images)
	case s.videos < len(s.media.Videos):
		return shapeFault(argument.Indexed("media.Videos", s.videos), s.media.Videos[s.videos], "a run of tokens in ids for each grid; there are only %d", s.videos)
	}
	return nil
}
