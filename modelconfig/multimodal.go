package modelconfig

import (
	"cmp"

	"github.com/go-posenc/posenc/modelconfig/internal/document"
	"github.com/go-posenc/posenc/modelconfig/internal/models"
	"github.com/go-posenc/posenc/multimodal"
)

// HuggingFaceMultimodal reads from the config.json of a model of images, video or sound how its
// tokens get their positions: the [multimodal.Model], with the defaults of transformers 5.23 for
// keys that the file leaves out, and the ids of its placeholders. An id is 0 where the file does
// not have it: some models have theirs in the tokenizer. HuggingFace reads the frequencies of
// such a model. Errors wrap ErrSyntax, ErrValue, ErrContradiction, or ErrUnknown: a type that
// gives images the positions of text, that multimodal does not know, or whose parameters are not
// in this file.
func HuggingFaceMultimodal(config []byte) (multimodal.Model, multimodal.TokenIDs, error) {
	const function = "HuggingFaceMultimodal"
	fail := func(err error) (multimodal.Model, multimodal.TokenIDs, error) {
		return multimodal.Model{}, multimodal.TokenIDs{}, err
	}
	r := document.NewReader(function, config)
	modelType, ok := r.Text("model_type")
	r.FailIf(!ok, ErrValue, "model_type", "absent", "the type of a model, such as \"qwen2_vl\"")
	for h := models.HolderOf(modelType); r.Err == nil && h != nil && models.HolderOf(h.Text.Type) != nil; h = models.HolderOf(modelType) { // a thinker, or the model of a retriever
		inner, _ := r.Object(h.Text.Key)
		r = r.Within(h.Text.Key, inner)
		if modelType, ok = r.Text("model_type"); !ok {
			modelType = h.Text.Type
		}
	}
	if r.Err != nil {
		return fail(r.Err)
	}
	family, err := multimodal.FamilyOf(modelType)
	h := cmp.Or(models.HolderOf(modelType), new(models.Holder))
	if err != nil && h.Positions == "" {
		return fail(document.ValueError(ErrUnknown, function, "model_type", document.Quoted(modelType), "a type in docs/multimodal.md (%v)", err))
	}
	m := multimodal.Model{Family: family}
	if h.Name == "" || h.Positions != "" || family == multimodal.Ming {
		hint := cmp.Or(h.Positions, models.CodesOwn)
		return fail(document.ValueError(ErrUnknown, function, "model_type", document.Quoted(modelType), "a type whose file has the parameters of positions; for this one %s", hint))
	}
	vision, _ := r.Object("vision_config")
	v := r.Within("vision_config", vision)
	m.MergeSize = v.IntegerOr([]string{"spatial_merge_size"}, cmp.Or(h.MergeSize, 2))
	seconds := r.NumberOr("position_id_per_seconds", 25)
	switch family {
	case multimodal.Qwen25VL:
		m.PositionsPerSecond = float32(v.NumberOr("tokens_per_second", 4))
	case multimodal.Ernie45VL:
		m.TemporalMergeSize = v.IntegerOr([]string{"temporal_merge_size"}, 2)
	case multimodal.Qwen25Omni:
		m.PositionsPerSecond, m.PositionsPerChunk = float32(seconds), int(min(seconds*r.NumberOr("seconds_per_chunk", 2), 1<<30))
	case multimodal.Qwen3Omni:
		m.PositionsPerSecond = float32(seconds)
	case multimodal.MiniCPMV47:
		m.MergeSize = 4
		if mode, _ := r.Text("downsample_mode"); mode == "4x" {
			m.MergeSize = 2
		}
	case multimodal.HunYuanVL:
		m.HunYuanAxes = hunYuanAxes(r)
	}
	id := func(keys ...string) int32 { return int32(r.IntegerOr(keys, 0)) }
	ids := multimodal.TokenIDs{
		Image: id("image_token_id", "image_token_index"), Video: id("video_token_id", "video_token_index"), Audio: id("audio_token_id", "audio_token_index"),
		VideoStart: id("video_start_token_id"), VideoEnd: id("video_end_token_id"),
		VisionStart: id("vision_start_token_id"), AudioStart: id("audio_start_token_id"),
	}
	if err := cmp.Or(r.Err, v.Err); err != nil {
		return fail(err)
	}
	if _, err := m.Positions(nil, nil); err != nil { // checks m
		return fail(document.ValueError(ErrValue, function, "vision_config", "refused", "parameters of positions that multimodal accepts (%v)", err))
	}
	return m, ids, nil
}

// hunYuanAxes returns the number of sections of HunYuan-VL.
func hunYuanAxes(r *document.Reader) int {
	for _, key := range []string{"rope_parameters.xdrope_section", "rope_scaling.xdrope_section", "rope_parameters.mrope_section", "rope_scaling.mrope_section"} {
		for _, key := range []string{key, "text_config." + key} {
			if sections, ok := r.Integers(key); ok {
				return len(sections)
			}
		}
	}
	r.Fail(ErrValue, "rope_parameters.mrope_section", "absent", "the sections of its axes")
	return 0
}
