package modelconfig

import "github.com/go-posenc/posenc"

var gptModels = vendor{
	types: []modelType{
		{name: "starcoder2", hidden: 3072, heads: 24, layers: 30, positions: 4096, base: 1e4},
		{name: "gpt_oss", hidden: 2880, heads: 64, headDim: 64, layers: 36, positions: 131072, base: 150000, absent: `{"rope_type": "yarn", "factor": 32, "beta_fast": 32, "beta_slow": 1, "truncate": false, "original_max_position_embeddings": 4096}`, traps: []string{"yarn_truncate"}},
		{name: "gpt_neox", hidden: 6144, heads: 64, layers: 44, positions: 2048, base: 1e4, part: 0.25, baseKeys: []string{"rope_theta", "rotary_emb_base"}, baseUnread: withoutRotaryBase},
		{name: "gpt_neox_japanese", hidden: 2560, heads: 32, layers: 32, positions: 2048, base: 1e4, part: 1, baseKeys: []string{"rope_theta", "rotary_emb_base"}, baseUnread: withoutRotaryBase},
		{name: "stablelm", hidden: 2560, heads: 32, layers: 32, positions: 4096, base: 1e4, part: 0.25},
		{name: "stablelm_epoch", hidden: 2560, heads: 32, layers: 32, positions: 4096, base: 1e4, part: 0.25},
		{name: "gptj", hidden: 4096, heads: 16, layers: 28, positions: 2048, base: 1e4, keys: gpt, rotaryDim: 64, noBaseKey: true, layout: posenc.Interleaved, check: unscaled},
		{name: "codegen", hidden: 4096, heads: 16, layers: 28, positions: 2048, base: 1e4, keys: gpt, rotaryDim: 64, noBaseKey: true, layout: posenc.Interleaved, check: unscaled},
		{name: "openai_privacy_filter", hidden: 640, heads: 14, headDim: 64, layers: 8, positions: 131072, base: 150000, absent: `{"rope_type": "yarn", "factor": 32, "beta_fast": 32, "beta_slow": 1, "truncate": false, "original_max_position_embeddings": 4096}`, layout: posenc.Interleaved, traps: []string{"yarn_truncate"}},
	},
	otherPositions: []positionsOf{
		{"gpt2", learned},
		{"gpt_neo", learned},
		{"gpt_bigcode", learned},
		{"openai-gpt", learned},
	},
	architectures: []ggufArchitecture{
		{name: "gptneox", layout: neoX},
		{name: "stablelm", layout: neoX},
		{name: "starcoder2", layout: neoX},
		{name: "gpt-oss", layout: neoX, sliding: &ggufSliding{period: 2}},
	},
	otherArchitectures: []positionsOf{
		{"gpt2", learned},
		{"starcoder", learned},
	},
	refusedArchitectures: []refusedArchitecture{
		{"gptj", "an architecture that llama.cpp implements: it knows only the name of this one (set posenc.RotaryConfig with Layout Interleaved and RotaryDim 64)"},
	},
}
