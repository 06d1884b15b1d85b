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

	model := multimodal.Model{Family: multimodal.Qwen3VL, MergeSize: 2}
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
	if err := posenc.Rotate(rope.At(positions), posenc.View[float32]{Data: q, Heads: 1}); err != nil {
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

// The rule of a model by its model_type. An unknown one is an error.
func ExampleFamilyOf() {
	for _, modelType := range []string{"qwen3_vl", "glm4v", "llama"} {
		family, err := multimodal.FamilyOf(modelType)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(modelType, family)
	}
	// Output:
	// qwen3_vl Qwen3VL
	// glm4v Qwen3VL
	// multimodal.FamilyOf: modelType is "llama", want the model_type of a model in docs/multimodal.md (an architecture of GGUF, such as qwen2vl, has models of several families): invalid configuration
}

// The patches of an image of 4 by 4, of which 2 by 2 become one token: they come together, and
// each has a row and a column for the rotary embedding of the vision tower.
func ExamplePatchPositions() {
	grids := []multimodal.Grid{{T: 1, H: 4, W: 4}}
	positions := make([]int32, 2*16) // [axes][patches]
	if err := multimodal.PatchPositions(positions, grids, multimodal.PatchOptions{MergeSize: 2}); err != nil {
		log.Fatal(err)
	}
	fmt.Println("rows   ", positions[:16])
	fmt.Println("columns", positions[16:])
	// Output:
	// rows    [0 0 1 1 0 0 1 1 2 2 3 3 2 2 3 3]
	// columns [0 1 0 1 2 3 2 3 0 1 0 1 2 3 2 3]
}

// Windows of Qwen2.5-VL: an image of 8 by 12 patches has 4 by 6 merged tokens, which windowed
// attention takes in windows of 4 by 4.
func ExampleAppendWindows() {
	grids := []multimodal.Grid{{T: 1, H: 8, W: 12}}
	options := multimodal.WindowOptions{MergeSize: 2, WindowSize: 112, PatchSize: 14}
	order, starts, err := multimodal.AppendWindows(nil, nil, grids, options)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("order ", order)
	fmt.Println("starts", starts) // in patches
	// Output:
	// order  [0 1 2 3 6 7 8 9 12 13 14 15 18 19 20 21 4 5 10 11 16 17 22 23]
	// starts [0 64 96]
}

// An image and a video of two frames: patches attend to those of their own frame.
func ExampleAppendFrames() {
	grids := []multimodal.Grid{{T: 1, H: 4, W: 6}, {T: 2, H: 2, W: 4}}
	starts, err := multimodal.AppendFrames(nil, grids, multimodal.FrameOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(starts)
	// Output:
	// [0 24 32 40]
}
