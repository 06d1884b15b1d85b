package multimodal_test

import (
	"fmt"
	"log"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/multimodal"
)

// A prompt of Qwen3-VL: text, two images, a video of two frames with their times as text.
// The ids are those of the model's vocabulary; the grids are what its image processor gives
// beside the patches.
func Example() {
	const image, video, start, end = 151655, 151656, 151652, 151653
	ids := []int32{
		3838, 374, // text
		start, image, image, image, image, image, image, end,
		start, image, image, end,
		27, 15, 29, start, video, video, end, // <0 seconds>, a frame
		27, 16, 29, start, video, video, end,
		30, // text
	}
	media := multimodal.Media{
		Images: []multimodal.Grid{{T: 1, H: 4, W: 6}, {T: 1, H: 2, W: 4}},
		Videos: []multimodal.Grid{{T: 2, H: 2, W: 4}},
	}

	family, err := multimodal.FamilyOf("qwen3_vl") // model_type of config.json; an unknown one is an error
	if err != nil {
		log.Fatal(err)
	}
	model := multimodal.Model{Family: family, MergeSize: 2}
	runs, err := model.AppendRuns(nil, ids, multimodal.TokenIDs{Image: image, Video: video}, media)
	if err != nil {
		log.Fatal(err)
	}
	positions := make([]int32, model.Axes()*len(ids))
	next, err := model.Positions(positions, runs)
	if err != nil {
		log.Fatal(err)
	}
	for axis, name := range []string{"time  ", "height", "width "} {
		fmt.Println(name, positions[axis*len(ids):][:len(ids)])
	}
	fmt.Println("next  ", next.Axes[:3], "after", len(ids), "tokens")

	axes, err := frequency.InterleavedSections(frequency.ImageSections{Time: 24, Height: 20, Width: 20})
	if err != nil {
		log.Fatal(err)
	}
	rope, err := posenc.NewRotary(posenc.RotaryConfig{HeadDim: 128, Layout: posenc.HalfSplit, Base: 5e6, Axes: axes})
	if err != nil {
		log.Fatal(err)
	}
	q := make([]float32, len(ids)*128)
	if err := posenc.Rotate(rope.AtAxes(positions), posenc.View[float32]{Data: q, Heads: 1}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// time   [0 1 2 3 3 3 3 3 3 6 7 8 8 10 11 12 13 14 15 15 17 18 19 20 21 22 22 24 25]
	// height [0 1 2 3 3 3 4 4 4 6 7 8 8 10 11 12 13 14 15 15 17 18 19 20 21 22 22 24 25]
	// width  [0 1 2 3 4 5 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25]
	// next   [26 26 26] after 29 tokens
}

// A video of half a second per grid with its sound, in Qwen3-Omni: positions are in
// thirteenths of a second, and need be no integers.
func ExampleModel_FractionalPositions() {
	model := multimodal.Model{Family: multimodal.Qwen3Omni, MergeSize: 2, PositionsPerSecond: 13}
	runs := []multimodal.Run{
		{Kind: multimodal.Text, Tokens: 1},
		{Kind: multimodal.VideoAndAudio, Tokens: 13, AudioTokens: 7, Grid: multimodal.Grid{T: 2, H: 2, W: 2}, SecondsPerGrid: 0.5},
	}
	positions := make([]float32, 3*14)
	next, err := model.FractionalPositions(positions, runs)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(positions[:14], next.Axes[0])
	// Output:
	// [0 1 2 3 3 4 5 6 7 8 9 9.5 10.5 11.5] 12.5
}

// Two prompts of one batch, padded before.
func ExampleModel_BatchPositions() {
	model := multimodal.Model{Family: multimodal.Qwen2VL, MergeSize: 2}
	prompts := [][]multimodal.Run{
		{{Kind: multimodal.Text, Tokens: 1}, {Kind: multimodal.Image, Tokens: 4, Grid: multimodal.Grid{T: 1, H: 4, W: 4}}},
		{{Kind: multimodal.Text, Tokens: 2}},
	}
	const length = 5
	positions, next := make([]int32, 3*len(prompts)*length), make([]multimodal.Next[int32], len(prompts))
	err := model.BatchPositions(positions, next, prompts, multimodal.BatchOptions{Length: length, PadLeft: true})
	if err != nil {
		log.Fatal(err)
	}
	for axis := range 3 {
		fmt.Println(positions[axis*10:][:5], positions[axis*10:][5:10])
	}
	fmt.Println(next[0].Axes[:3], next[1].Axes[:3])
	// Output:
	// [0 1 1 1 1] [0 0 0 0 1]
	// [0 1 1 2 2] [0 0 0 0 1]
	// [0 1 2 1 2] [0 0 0 0 1]
	// [2 3 3] [2 2 2]
}

// The vision tower of Qwen2.5-VL. Of an image of 4 by 6 patches, 2 by 2 become one token: they come
// together, and each has a row and a column. Windowed attention takes the merged tokens in windows of
// 2 by 2. In full attention, patches of a video attend to those of their own frame.
func ExamplePatchPositions() {
	grids := []multimodal.Grid{{T: 1, H: 4, W: 6}}
	positions := make([]int32, 2*24) // [axes][patches]
	if err := multimodal.PatchPositions(positions, grids, multimodal.PatchOptions{MergeSize: 2}); err != nil {
		log.Fatal(err)
	}
	order, starts, err := multimodal.AppendWindows(nil, nil, grids, multimodal.WindowOptions{MergeSize: 2, WindowSize: 56, PatchSize: 14})
	if err != nil {
		log.Fatal(err)
	}
	frames, err := multimodal.AppendFrames(nil, append(grids, multimodal.Grid{T: 2, H: 2, W: 4}), multimodal.FrameOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("rows   ", positions[:24])
	fmt.Println("columns", positions[24:])
	fmt.Println("windows", order, "start at patch", starts)
	fmt.Println("frames  start at patch", frames)
	// Output:
	// rows    [0 0 1 1 0 0 1 1 0 0 1 1 2 2 3 3 2 2 3 3 2 2 3 3]
	// columns [0 1 0 1 2 3 2 3 4 5 4 5 0 1 0 1 2 3 2 3 4 5 4 5]
	// windows [0 1 3 4 2 5] start at patch [0 16 24]
	// frames  start at patch [0 24 32 40]
}
