package modelconfig

import "github.com/go-posenc/posenc"

var glmModels = vendor{
	types: []modelType{
		{name: "glm4_moe", hidden: 4096, heads: 96, layers: 46, positions: 131072, base: 1e4, part: 0.5},
		{name: "glm", hidden: 4096, heads: 32, headDim: 128, layers: 40, positions: 131072, base: 1e4, part: 0.5, layout: posenc.Interleaved},
		{name: "glm4", hidden: 4096, heads: 32, headDim: 128, layers: 40, positions: 131072, base: 1e4, part: 0.5, layout: posenc.Interleaved},
		{name: "chatglm", hidden: 4096, heads: 32, headDim: 128, layers: 28, positions: 2048, base: 1e4, keys: chatGLMs, part: 0.5, noBaseKey: true, baseRatio: "rope_ratio", layout: posenc.Interleaved, layoutKey: "original_rope", check: chatGLM, traps: []string{"chatglm_rope_ratio_multiplies_the_base"}},
		{name: "glm4_moe_lite", latent: true, headDim: 64, noPEDim: 192, layers: 47, positions: 202752, base: 1e4, keys: glmLite, layoutKey: "rope_interleave"},
		{name: "glm_moe_dsa", latent: true, headDim: 64, noPEDim: 192, layers: 78, positions: 202752, base: 1e4, indexer: glmIndexer, indexers: byIndexerTypes, traps: []string{"indexers_rotate_otherwise"}},
		{name: "glm4v_text", hidden: 4096, heads: 32, layers: 40, positions: 32768, base: 1e4, part: 1, layout: posenc.Interleaved, axes: sectionsInOrder, sections: []int{8, 12, 12}},
		{name: "glm_ocr_text", hidden: 1024, heads: 16, layers: 16, positions: 131072, base: 1e4, part: 1, layout: posenc.Interleaved, axes: sectionsInOrder, sections: []int{8, 12, 12}},
		{name: "glm4v_moe_text", hidden: 4096, heads: 96, layers: 46, positions: 65536, base: 1e4, part: 0.5, axes: sectionsInOrder, sections: []int{8, 12, 12}, traps: []string{"mrope_with_scaling_or_a_part_of_the_head"}},
		{name: "glm_image_text", hidden: 4096, heads: 32, layers: 40, positions: 131072, base: 1e4, part: 1, axes: sectionsInOrder, sections: []int{8, 12, 12}},
	},
	towers: []modelType{
		{name: "glm4v_vision", hidden: 1536, heads: 12, layers: 24, keys: qwenTower, arrangement: rowsThenColumns},
		{name: "glm4v_moe_vision", hidden: 1536, heads: 12, layers: 24, keys: qwenTower, arrangement: rowsThenColumns},
		{name: "glm_ocr_vision", hidden: 1024, heads: 16, layers: 24, keys: qwenTower, arrangement: rowsThenColumns},
		{name: "glm5_next_vision", hidden: 1024, heads: 16, layers: 24, keys: qwenTower, arrangement: rowsThenColumns},
	},
	holders: []holder{
		{name: "glm4v", text: part{"text_config", "glm4v_text"}, tower: part{"vision_config", "glm4v_vision"}},
		{name: "glm46v", text: part{"text_config", "glm4v_text"}, anyText: true, tower: part{"vision_config", "glm4v_vision"}},
		{name: "glm4v_moe", text: part{"text_config", "glm4v_moe_text"}, tower: part{"vision_config", "glm4v_moe_vision"}},
		{name: "glm_ocr", text: part{"text_config", "glm_ocr_text"}, tower: part{"vision_config", "glm_ocr_vision"}},
		{name: "glm5_next", text: part{"text_config", "glm5_next_text"}, tower: part{"vision_config", "glm5_next_vision"}},
		{name: "glm_image", mergeSize: 1, text: part{"text_config", "glm_image_text"}},
		{name: "glmga", text: part{"text_config", "glm4v_text"}, anyText: true, tower: part{"vision_config", "glm4v_vision"}},
	},
	otherPositions: []positionsOf{
		{"xglm", sinusoidal},
		{"glm5_next_text", noPositions},
	},
	architectures: []ggufArchitecture{
		{name: "chatglm", layout: normal},
		{name: "cogvlm", layout: neoX, whole: true, plainBase: true},
		{name: "glm-dsa", layout: normal, latent: true, indexer: &ggufIndexer{layout: normal, typed: true}},
		{name: "glm4", layout: normal, axes: optionalAxes},
		{name: "glm4moe", layout: neoX, axes: optionalAxes},
	},
	otherArchitectures: []positionsOf{
		{"glm5-next", noPositions},
		{"glm5next", noPositions},
	},
}
