package multimodal

import (
	"math"
	"slices"
	"strconv"

	"github.com/go-posenc/posenc/internal/argument"
)

// PatchOptions says how patches are ordered and which axes [PatchPositions] writes.
type PatchOptions struct {
	MergeSize int  // as in Model; 1 if patches come row by row (modelconfig.Model.Patches)
	First     int  // position of the first row and column: 1 for llama4, muse_glimmer and muse_spark (modelconfig.Model.Patches)
	Time      bool // an axis of time before those of height and width (minimax_m3_vl)
}

// PatchPositions writes the positions of the patches of images and videos, for the rotary
// embedding of a vision tower: modelconfig.Rope.RowsAxes. dst is [axes][patches]. The axes are height and width, as in
// modelconfig.HuggingFaceVision; with Time they are time, height and width.
//
// Patches are in the order of the image processor (get_vision_position_ids of transformers,
// rot_pos_emb of Qwen2-VL). Frames follow one another. Within a frame, blocks of
// MergeSize*MergeSize patches follow row by row, and so do the patches within a block, which
// become one token. With MergeSize 1 patches come row by row. Rows and columns count from First,
// time from 0. A class token, which Llama 4 has after the patches, is at 0 on both axes.
func PatchPositions(dst []int32, grids []Grid, options PatchOptions) error {
	const function = "multimodal.PatchPositions"
	patches, err := checkGrids(function, grids, "options.MergeSize", options.MergeSize)
	if err != nil {
		return err
	}
	if options.First < 0 || options.First > 1<<30 {
		return argument.Error(argument.ErrConfig, function, "options.First", options.First, "from 0 to 2^30")
	}
	for i, g := range grids {
		if most := math.MaxInt32 - options.First; g.H > most || g.W > most {
			return argument.Error(argument.ErrShape, function, argument.Indexed("grids", i), g, "at most %d rows and columns from options.First = %d", most, options.First)
		}
	}
	axes := 2
	if options.Time {
		axes = 3
	}
	if want, ok := argument.Multiply(axes, patches); !ok || len(dst) != want {
		return argument.Error(argument.ErrLength, function, "dst", argument.Elements(len(dst)), "%d*%d, for [axes][patches]", axes, patches)
	}
	rows, columns := dst[(axes-2)*patches:], dst[(axes-1)*patches:]
	at := 0
	for _, g := range grids {
		for t := range g.T {
			for i := range g.H * g.W {
				y, x := patchAt(i, g, options.MergeSize)
				rows[at], columns[at] = int32(options.First+y), int32(options.First+x)
				if options.Time {
					dst[at] = int32(t)
				}
				at++
			}
		}
	}
	return nil
}

// What a call of AppendWindows and AppendFrames takes, so that a grid of a few bytes does not
// make it allocate gigabytes.
const (
	maxWindowed = 1 << 24 // patches
	maxFrames   = 1 << 20
)

func patchAt(i int, g Grid, mergeSize int) (y, x int) {
	block, within := i/(mergeSize*mergeSize), i%(mergeSize*mergeSize)
	blocks := g.W / mergeSize
	return block/blocks*mergeSize + within/mergeSize, block%blocks*mergeSize + within%mergeSize
}

func checkGrids(function string, grids []Grid, by string, mergeSize int) (patches int, err error) {
	if mergeSize < 1 || mergeSize > 1<<15 {
		return 0, argument.Error(argument.ErrConfig, function, by, mergeSize, "from 1 to 2^15")
	}
	for i, g := range grids {
		f := divisible(g, mergeSize)
		switch {
		case g.T < 1:
			f = shapeFault(".T", g.T, "at least 1")
		case f == nil && (!countable(g.T, g.H, g.W) || g.T*g.H*g.W > math.MaxInt32-patches):
			f = shapeFault("", g, "fewer than 2^31 patches together with the grids before")
		}
		if f != nil {
			return 0, f.of(function, argument.Indexed("grids", i))
		}
		patches += g.T * g.H * g.W
	}
	return patches, nil
}

// WindowOptions has the sizes for [AppendWindows], from a vision_config.
type WindowOptions struct {
	MergeSize  int // spatial_merge_size
	WindowSize int // window_size, in pixels
	PatchSize  int // patch_size, in pixels
}

// AppendWindows computes how windowed attention orders the merged tokens of images and videos,
// and where its windows end (get_window_index of Qwen2.5-VL). It appends to order: token i in
// window order is token order[i], counted over all grids. It appends to starts the cumulative
// lengths of the windows in patches (cu_window_seqlens): 0, and the end of each window.
//
// A window is a square in one frame, with sides of WindowSize/MergeSize/PatchSize tokens; it
// is smaller at the right and lower edges. Windows go row by row.
//
// order takes 4 bytes for each token and starts 4 for each window; a call takes up to 2^24
// patches. Layers that attend to whole frames take the lengths of [AppendFrames].
func AppendWindows(order, starts []int32, grids []Grid, options WindowOptions) (newOrder, newStarts []int32, err error) {
	const function = "multimodal.AppendWindows"
	patches, err := checkGrids(function, grids, "options.MergeSize", options.MergeSize)
	switch {
	case err != nil:
		return order, starts, err
	case patches > maxWindowed:
		return order, starts, argument.Error(argument.ErrShape, function, "grids", strconv.Itoa(patches)+" patches", "at most 2^24 together")
	case options.PatchSize < 1 || options.PatchSize > 1<<15:
		return order, starts, argument.Error(argument.ErrConfig, function, "options.PatchSize", options.PatchSize, "from 1 to 2^15")
	}
	token := options.MergeSize * options.PatchSize
	if options.WindowSize < 1 || options.WindowSize%token != 0 {
		return order, starts, argument.Error(argument.ErrConfig, function, "options.WindowSize", options.WindowSize, "a multiple of MergeSize*PatchSize = %d, at least that", token)
	}
	window := options.WindowSize / token
	windows := 0
	for _, g := range grids {
		h, w := g.H/options.MergeSize, g.W/options.MergeSize
		windows += g.T * ((h-1)/window + 1) * ((w-1)/window + 1)
	}
	order = slices.Grow(order, patches/(options.MergeSize*options.MergeSize))
	starts = append(slices.Grow(starts, windows+1), 0)
	var first, end int32
	for _, g := range grids {
		h, w := g.H/options.MergeSize, g.W/options.MergeSize
		for range g.T {
			for top := 0; top < h; top += window {
				bottom := top + min(window, h-top)
				for left := 0; left < w; left += window {
					right := left + min(window, w-left)
					for y := top; y < bottom; y++ {
						for x := left; x < right; x++ {
							order = append(order, first+int32(y*w+x))
						}
					}
					end += int32((bottom - top) * (right - left) * options.MergeSize * options.MergeSize)
					starts = append(starts, end)
				}
			}
			first += int32(h * w)
		}
	}
	return order, starts, nil
}

// FrameOptions says which patches attend to each other.
type FrameOptions struct {
	WholeVideos bool // all patches of a video, not only those of the same frame (kimi_k25, minimax_m3_vl)
}

// AppendFrames appends to starts the cumulative lengths of the frames of images and videos in
// patches (cu_seqlens): 0, and the end of each frame. With WholeVideos it appends the end of each
// grid instead. starts takes 4 bytes for each; a call takes grids of up to 2^20 frames together.
func AppendFrames(starts []int32, grids []Grid, options FrameOptions) ([]int32, error) {
	const function = "multimodal.AppendFrames"
	if _, err := checkGrids(function, grids, "", 1); err != nil {
		return starts, err
	}
	all := 0
	for i, g := range grids {
		if g.T > maxFrames-all {
			return starts, argument.Error(argument.ErrShape, function, argument.Indexed("grids", i)+".T", g.T, "at most 2^20 frames together with the grids before")
		}
		all += g.T
	}
	starts = append(starts, 0)
	var end int32
	for _, g := range grids {
		frames, patches := g.T, g.H*g.W
		if options.WholeVideos {
			frames, patches = 1, g.T*g.H*g.W
		}
		starts = slices.Grow(starts, frames)
		for range frames {
			end += int32(patches)
			starts = append(starts, end)
		}
	}
	return starts, nil
}
