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
	Time      bool // an axis of time before the axes of height and width (minimax_m3_vl)
}

// PatchPositions writes the positions of the patches of images and videos, for the rotary
// embedding of a vision tower. dst is [axes][patches]. The axes are height and width, as in
// modelconfig.HuggingFaceVision; with Time they are time, height and width.
//
// Patches are in the order of the image processor (get_vision_position_ids of transformers,
// rot_pos_emb of Qwen2-VL). Frames follow one another. Within a frame, blocks of
// MergeSize*MergeSize patches follow row by row, and so do the patches within a block, which
// become one token. With MergeSize 1 patches come row by row. Rows and columns count from First,
// time from 0. A class token, which Llama 4 has after the patches, is at 0 on both axes. Errors
// wrap ErrConfig (options), ErrLength (dst) or ErrShape (a grid).
func PatchPositions(dst []int32, grids []Grid, options PatchOptions) error {
	const function = "multimodal.PatchPositions"
	patches, err := checkGrids(function, grids, "options.MergeSize", options.MergeSize)
	if err != nil {
		return err
	}
	if options.First < 0 || options.First > 1<<30 {
		return argument.Error(ErrConfig, function, "options.First", options.First, "from 0 to 2^30")
	}
	for i, g := range grids {
		if most := math.MaxInt32 - options.First; g.H > most || g.W > most {
			return argument.Error(ErrShape, function, argument.Indexed("grids", i), g, "at most %d rows and columns from options.First = %d", most, options.First)
		}
	}
	axes := 2
	if options.Time {
		axes = 3
	}
	if want, ok := argument.Multiply(axes, patches); !ok || len(dst) != want {
		return argument.Error(ErrLength, function, "dst", argument.Elements(len(dst)), "%d*%d, for [axes][patches]", axes, patches)
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

// patchAt returns the row and the column of patch i of a frame.
func patchAt(i int, g Grid, mergeSize int) (y, x int) {
	block, within := i/(mergeSize*mergeSize), i%(mergeSize*mergeSize)
	blocks := g.W / mergeSize
	return block/blocks*mergeSize + within/mergeSize, block%blocks*mergeSize + within%mergeSize
}

// checkGrids checks grids and returns the number of their patches.
func checkGrids(function string, grids []Grid, by string, mergeSize int) (patches int, err error) {
	if mergeSize < 1 || mergeSize > 1<<15 {
		return 0, argument.Error(ErrConfig, function, by, mergeSize, "from 1 to 2^15")
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

// AppendWindows computes how windowed attention orders the merged tokens of images and
// videos, and where its windows end (get_window_index of Qwen2.5-VL). It appends to order:
// token i in window order is token order[i], counted over all grids. It appends to starts the
// cumulative lengths of the windows in patches (cu_window_seqlens): 0, and the end of each
// window.
//
// A window is a square in one frame, with sides of WindowSize/MergeSize/PatchSize tokens; it
// is smaller at the right and lower edges. Windows go row by row.
//
// order takes 4 bytes for each token and starts 4 for each window; a call takes up to 2^24
// patches. Layers that attend to whole frames take the lengths of [AppendFrames]. Errors wrap
// ErrConfig (options) or ErrShape (a grid).
func AppendWindows(order, starts []int32, grids []Grid, options WindowOptions) (newOrder, newStarts []int32, err error) {
	const function = "multimodal.AppendWindows"
	patches, err := checkGrids(function, grids, "options.MergeSize", options.MergeSize)
	if err != nil {
		return order, starts, err
	}
	if patches > maxWindowed {
		return order, starts, argument.Error(ErrShape, function, "grids", strconv.Itoa(patches)+" patches", "at most 2^24 together")
	}
	if options.PatchSize < 1 || options.PatchSize > 1<<15 {
		return order, starts, argument.Error(ErrConfig, function, "options.PatchSize", options.PatchSize, "from 1 to 2^15")
	}
	token := options.MergeSize * options.PatchSize
	if options.WindowSize < 1 || options.WindowSize%token != 0 {
		return order, starts, argument.Error(ErrConfig, function, "options.WindowSize", options.WindowSize, "a multiple of MergeSize*PatchSize = %d, at least that", token)
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
// patches (cu_seqlens): 0, and the end of each frame. With WholeVideos it appends the end of
// each grid instead. starts takes 4 bytes for each; a call takes grids of up to 2^20 frames
// together. Errors wrap ErrShape (a grid).
func AppendFrames(starts []int32, grids []Grid, options FrameOptions) ([]int32, error) {
	const function = "multimodal.AppendFrames"
	if _, err := checkGrids(function, grids, "", 1); err != nil {
		return starts, err
	}
	all := 0
	for i, g := range grids {
		if g.T > maxFrames-all {
			return starts, argument.Error(ErrShape, function, argument.Indexed("grids", i)+".T", g.T, "at most 2^20 frames together with the grids before")
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

// GridWeightsOptions says how [GridWeights] resamples a learned grid.
type GridWeightsOptions struct {
	Side      int // side of the learned grid: the square root of num_position_embeddings
	MergeSize int // order of the patches, as in PatchOptions

	Bicubic      bool // bicubic (16 taps, Keys' kernel with a = -3/4) instead of bilinear (4 taps)
	AlignCorners bool // align the centres of the outermost patches, as in Qwen3-VL, instead of their outer edges
	ZeroPadding  bool // taps beyond the grid have weight 0, instead of taking the value at its edge
}

// Taps returns how many rows of the learned table make the position of a patch: 4, or 16
// with Bicubic.
func (o GridWeightsOptions) Taps() int {
	if o.Bicubic {
		return 16
	}
	return 4
}

// GridWeights computes how to resample a learned table of Side*Side positions for the patches
// of images and videos. It writes which rows of the table make the position of each patch, and
// their weights. indices and weights are [patches][options.Taps()]:
//
//	position[p] = sum over k of weights[p][k]*table[indices[p][k]]
//
// Row y of the h rows of a grid takes the learned rows around
//
//	y*(Side-1)/max(h-1, 1)      with AlignCorners
//	(y+1/2)*Side/h - 1/2        without
//
// Columns follow the same rule, and the weight of a tap is the product of both. All frames of a video have
// the same weights. Weights have the bits of transformers 5.23 on a CPU: every operation rounds
// to float32 (get_vision_interpolation_indices_and_weights, fast_pos_embed_interpolate of
// Qwen3-VL). Errors wrap ErrConfig (options), ErrLength, ErrShape (a grid) or ErrOverlap.
func GridWeights(indices []int32, weights []float32, grids []Grid, options GridWeightsOptions) error {
	const function = "multimodal.GridWeights"
	if options.Side < 1 || options.Side > 1<<15 {
		return argument.Error(ErrConfig, function, "options.Side", options.Side, "from 1 to 2^15")
	}
	patches, err := checkGrids(function, grids, "options.MergeSize", options.MergeSize)
	if err != nil {
		return err
	}
	want, ok := argument.Multiply(patches, options.Taps())
	if !ok || len(indices) != want {
		return argument.Error(ErrLength, function, "indices", argument.Elements(len(indices)), "%d*%d, for [patches][taps]", patches, options.Taps())
	}
	if len(weights) != want {
		return argument.Error(ErrLength, function, "weights", argument.Elements(len(weights)), "%d*%d, for [patches][taps]", patches, options.Taps())
	}
	if argument.Overlap(indices, weights) {
		return argument.Error(ErrOverlap, function, "indices", "sharing memory with weights", "another slice")
	}
	at := 0
	for _, g := range grids {
		for range g.T {
			for i := range g.H * g.W {
				y, x := patchAt(i, g, options.MergeSize)
				var rows, columns taps
				n := options.taps(&rows, y, g.H)
				options.taps(&columns, x, g.W)
				for j := range n {
					for k := range n {
						indices[at] = int32(rows.index[j]*options.Side + columns.index[k])
						weights[at] = rows.weight[j] * columns.weight[k]
						at++
					}
				}
			}
		}
	}
	return nil
}

// taps are the learned positions of a patch along one axis.
type taps struct {
	index  [4]int
	weight [4]float32
}

// taps sets the taps of patch i of size patches, and returns how many there are.
func (o *GridWeightsOptions) taps(to *taps, i, size int) (n int) {
	var source float32
	if o.AlignCorners {
		source = float32(i) * float32(o.Side-1) / float32(max(size-1, 1))
	} else {
		source = float32((float32(i)+0.5)*float32(o.Side)/float32(size)) - 0.5
	}
	floor := float32(math.Floor(float64(source)))
	n, first := 2, 0
	if o.Bicubic {
		n, first = 4, -1
	}
	for k := range n {
		index := int(floor) + first + k
		distance := float32(math.Abs(float64(source - floor - float32(first+k))))
		weight := max(1-distance, 0)
		if o.Bicubic {
			weight = keys(distance)
		}
		to.index[k] = min(max(index, 0), o.Side-1)
		if o.ZeroPadding && to.index[k] != index {
			weight *= 0 // of either sign
		}
		to.weight[k] = weight
	}
	return n
}

// keys is the kernel of bicubic interpolation with a = -3/4.
func keys(d float32) float32 {
	const a = -0.75
	if d <= 1 {
		w := float32((a+2)*d) - (a + 3)
		w = float32(w * d)
		return float32(w*d) + 1
	}
	w := float32(a*d) - 5*a
	w = float32(w*d) + 8*a
	return float32(w*d) - 4*a
}
