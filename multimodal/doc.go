// Package multimodal gives the positions of the tokens of prompts with images, video
// and sound, as the rotary embedding of a model takes them: [axes][tokens] int32 for
// posenc.Rotary.At, and the position at which decoding goes on. It computes integers
// from integers: it has no kernels and touches no embeddings.
//
//	model := multimodal.Model{Family: multimodal.Qwen3VL, MergeSize: 2}
//	runs, err := model.AppendRuns(nil, ids, tokens, media)
//	positions := make([]int32, model.Axes()*len(ids))
//	next, err := model.Positions(positions, runs)
//	err = posenc.Rotate(rope.At(positions), q, k)
//
// ids are the tokens of the prompt, with a placeholder for every embedding of an image,
// tokens are the ids of the placeholders, and media are the grids, which the image
// processor has. Which pairs of a head take which axis is posenc.RotaryConfig.Axes;
// modelconfig reads it from a config.json.
//
// What there is:
//
//   - [Model.AppendRuns] finds the runs of a prompt by the ids of its tokens.
//   - [Model.Positions] writes the positions of the runs, [Model.BatchPositions] those
//     of several prompts of different lengths, [Model.FractionalPositions] those that
//     are no integers.
//   - [FamilyOf] names the rule of a model by its model_type.
//   - [PatchPositions], [AppendWindows], [AppendFrames] and [GridWeights] are for the
//     vision tower: the positions of patches, the order of windowed attention, the
//     cumulative lengths of attention, and the resampling of a learned grid.
//
// # Glossary
//
//   - run: neighbouring tokens of one [Kind]: text, or the tokens of one image, or those
//     of a video, or of a frame where the prompt has text between frames.
//   - grid: the patches of an image or video, by time, height and width, before they are
//     merged (image_grid_thw, video_grid_thw).
//   - merge size: so many patches side by side become one token, along height and width
//     (spatial_merge_size).
//   - axis: tokens have several positions: time, height and width. Those of a text token
//     are equal.
//
// docs/multimodal.md of the repository lists the models, their rules and the traps.
package multimodal
