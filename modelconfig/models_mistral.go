package modelconfig

import "github.com/go-posenc/posenc/frequency"

var mistralModels = vendor{
	types: []modelType{
		{name: "mistral", hidden: 4096, heads: 32, layers: 32, positions: 131072, base: 1e4},
		{name: "mixtral", hidden: 4096, heads: 32, layers: 32, positions: 131072, base: 1e6},
		{name: "ministral", hidden: 4096, heads: 32, layers: 32, positions: 131072, base: 1e4},
		{name: "ministral3", hidden: 4096, heads: 32, headDim: 128, layers: 34, positions: 262144, base: 1e4, absent: `{"rope_type": "yarn", "rope_theta": 1000000, "factor": 16, "beta_fast": 32, "beta_slow": 1, "mscale": 1, "mscale_all_dim": 1, "llama_4_scaling_beta": 0.1, "original_max_position_embeddings": 16384}`, queryScale: scaledByBeta, scalesRotating: true, extraKeys: []string{"llama_4_scaling_beta", "max_position_embeddings"}},
		{name: "mistral4", latent: true, headDim: 64, noPEDim: 64, layers: 36, positions: 1048576, base: 1e4, layoutKey: "rope_interleave", absent: `{"rope_type": "yarn", "rope_theta": 10000, "factor": 128, "beta_fast": 32, "beta_slow": 1, "mscale": 1, "mscale_all_dim": 1, "llama_4_scaling_beta": 0.1, "original_max_position_embeddings": 8192}`, queryScale: scaledByBeta, scalesRotating: true, extraKeys: []string{"llama_4_scaling_beta", "max_position_embeddings"}},
		{name: "mistral_large4_text", latent: true, headDim: 64, noPEDim: 64, layers: 72, positions: 1048576, base: 1e4, absent: `{"rope_type": "yarn", "rope_theta": 10000, "factor": 2048, "beta_fast": 32, "beta_slow": 1, "attention_factor": 1, "original_max_position_embeddings": 512}`, learned: "rotary_emb.alpha", scalingTensor: "softmax_scaling", indexer: mistralIndexer, indexers: byIndexerTypes, noRopeInterval: 4, traps: []string{"no_rope_layers_has_1_for_rotation", "mistral_large_4_learns_its_frequencies"}},
	},
	towers: []modelType{
		{name: "pixtral", hidden: 1024, heads: 16, layers: 24, arrangement: frequency.AxialAlternating, patches: patchOrder{RowByRow: true}, traps: []string{"pixtral_shares_one_ladder"}},
	},
	holders: []holder{
		{name: "mistral3", text: part{"text_config", "mistral"}, anyText: true, absentText: `{"hidden_size": 5120, "num_attention_heads": 32, "num_hidden_layers": 40, "max_position_embeddings": 131072, "head_dim": 128, "rope_theta": 1000000000}`, tower: part{"vision_config", "pixtral"}},
		{name: "lighton_ocr", text: part{"text_config", "qwen3"}, anyText: true, absentText: `{"hidden_size": 1024, "num_attention_heads": 16, "num_hidden_layers": 28, "max_position_embeddings": 40960, "head_dim": 128, "rope_theta": 1000000}`, tower: part{"vision_config", "pixtral"}},
		{name: "mistral_large4", text: part{"text_config", "mistral_large4_text"}, tower: part{"vision_config", "pixtral"}, absentTower: `{"hidden_size": 2048, "head_dim": 128, "num_hidden_layers": 30}`},
	},
	architectures: []ggufArchitecture{
		{name: "mistral3", layout: normal, freqs: true, longRoPE: true, logMultiplier: logMultiplierPlain, queryScale: scaledBeyondOriginal, traps: []string{"Mistral_3_has_mscale_all_dim_itself"}},
		{name: "mistral4", layout: normal, latent: true, logMultiplier: logMultiplierTenth, queryScale: scaledBeyondLength},
	},
}
