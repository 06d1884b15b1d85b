// Package multimodal computes the positions of the tokens of prompts with images, video and
// sound, as a model's rotary embedding takes them: [axes][tokens] int32 for
// posenc.Rotary.At, and where decoding goes on ([Next]). It computes integers from
// integers; it has no kernels and does not touch embeddings.
//
//	model := multimodal.Model{Family: multimodal.Qwen3VL, MergeSize: 2}
//	runs, err := model.AppendRuns(nil, ids, tokens, media)
//	positions := make([]int32, model.Axes()*len(ids))
//	next, err := model.Positions(positions, runs)
//	err = posenc.Rotate(rope.At(positions), q, k)
//
// ids are the tokens of the prompt, with one placeholder for each embedding of an image.
// tokens are the ids of the placeholders. media are the grids of the images and videos,
// which the image processor reports. posenc.RotaryConfig.Axes says which pairs of a head take
// which axis; modelconfig reads it from a config.json.
//
// For the language model:
//
//   - [Model.AppendRuns] finds the runs of a prompt by its token ids.
//   - [Model.Positions] writes the positions of the runs. [Model.BatchPositions] does so for
//     several prompts of different lengths, [Model.FractionalPositions] for positions that
//     may be fractions.
//   - [FamilyOf] returns the rule of a model by its model_type.
//
// For the vision tower:
//
//   - [PatchPositions] writes the positions of patches.
//   - [AppendWindows] orders tokens for windowed attention.
//   - [AppendFrames] appends the cumulative lengths (cu_seqlens) of full attention.
//   - [GridWeights] resamples a learned grid of positions.
//
// # Glossary
//
//   - run: neighbouring tokens of one [Kind]: text, or the tokens of one image, or of one
//     video, or of one frame where the prompt has text between frames.
//   - grid: how many patches an image or video has by time, height and width, before merging
//     (image_grid_thw, video_grid_thw).
//   - merge size: a square of patches, merge size by merge size, becomes one token
//     (spatial_merge_size).
//   - axis: a token has one position on each axis: time, height and width. A text token has
//     the same position on all axes.
//
// docs/multimodal.md in the repository lists the models, their rules and common mistakes.
package multimodal
