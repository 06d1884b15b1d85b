// Package multimodal computes the positions of the tokens of prompts with images, video and
// sound, as a model's rotary embedding takes them: [axes][tokens] int32 for
// modelconfig.Rope.RowsAxes and posenc.Rotary.AtAxes, and where decoding goes on ([Next]). It computes integers from
// integers; it has no kernels and does not touch embeddings.
//
//	model := multimodal.Model{Family: multimodal.Qwen3VL, MergeSize: 2}
//	runs, err := model.AppendRuns(nil, ids, tokens, media)
//	positions := make([]int32, model.Axes()*len(ids))
//	next, err := model.Positions(positions, runs)
//	rows, err := rope.RowsAxes(positions) // of modelconfig; then rows.Refill for tokens of text
//	err = posenc.Rotate(rows.Layer(0), q, k)
//
// ids are the tokens of the prompt, with one placeholder for each embedding of an image.
// tokens are the ids of the placeholders. media are the grids of the images and videos,
// which the image processor reports. posenc.RotaryConfig.Axes says which pairs of a head take
// which axis; modelconfig reads it from a config.json.
//
// Errors wrap posenc.ErrConfig (a Model or options), posenc.ErrLength (a slice), posenc.ErrShape
// (a run or a grid), posenc.ErrOverlap (slices that share elements) or posenc.ErrPosition (a
// position that the type of the destination does not hold). They name the function, the argument,
// its value and what was expected. A call that returns an error has written nothing.
//
// docs/multimodal.md in the repository lists the models, their rules and common mistakes.
package multimodal
