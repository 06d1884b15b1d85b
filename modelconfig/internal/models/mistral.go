package models

import "github.com/go-posenc/posenc/frequency"

var mistralModels = Vendor{
	Types: []ModelType{
		{Name: "mistral", GGUF: "llama", Also: []string{"llava_mistral"}, Hidden: 4096, Heads: 32, Layers: 32, Positions: 131072, Base: 1e4, ScalingObject: true},
		{Name: "mixtral", GGUF: "llama", Hidden: 4096, Heads: 32, Layers: 32, Positions: 131072, Base: 1e6},
		{Name: "ministral", Hidden: 4096, Heads: 32, Layers: 32, Positions: 131072, Base: 1e4},
		{Name: "ministral3", GGUF: "mistral3", Hidden: 4096, Heads: 32, HeadDim: 128, Layers: 34, Positions: 262144, Base: 1e4, Absent: `{"rope_type": "yarn", "rope_theta": 1000000, "factor": 16, "beta_fast": 32, "beta_slow": 1, "mscale": 1, "mscale_all_dim": 1, "llama_4_scaling_beta": 0.1, "original_max_position_embeddings": 16384}`, QueryScale: scaledByBeta, ScalesRotating: true, ExtraKeys: []string{"llama_4_scaling_beta", "max_position_embeddings"}, Traps: []string{"ministral_3_scales_queries_beyond_its_original_length"}},
		{Name: "mistral4", Latent: true, HeadDim: 64, NoPEDim: 64, PartOfQ: true, Check: headOfBothParts, Layers: 36, Positions: 1048576, Base: 1e4, LayoutKey: "rope_interleave", Absent: `{"rope_type": "yarn", "rope_theta": 10000, "factor": 128, "beta_fast": 32, "beta_slow": 1, "mscale": 1, "mscale_all_dim": 1, "llama_4_scaling_beta": 0.1, "original_max_position_embeddings": 8192}`, QueryScale: scaledByBeta, ScalesRotating: true, ExtraKeys: []string{"llama_4_scaling_beta", "max_position_embeddings"}},
		{Name: "mistral_large4_text", Latent: true, HeadDim: 64, NoPEDim: 64, Layers: 72, Positions: 1048576, Base: 1e4, Absent: `{"rope_type": "yarn", "rope_theta": 10000, "factor": 2048, "beta_fast": 32, "beta_slow": 1, "attention_factor": 1, "original_max_position_embeddings": 512}`, Learned: "rotary_emb.alpha", ScalingTensor: "softmax_scaling", Indexer: &indexer{Layout: interleavedToHalfSplit}, Indexers: byIndexerTypes, NoRopeInterval: 4, Traps: []string{"no_rope_layers_has_1_for_rotation", "mistral_large_4_learns_its_frequencies"}},
	},
	Towers: []ModelType{
		{Name: "pixtral", Hidden: 1024, Heads: 16, Layers: 24, Arrangement: frequency.AxialAlternating, Patches: rowByRow, Traps: []string{"pixtral_shares_one_ladder"}},
		{Name: "mistral_large4_vision", Hidden: 1024, Heads: 16, Layers: 24, Layout: interleaved, Arrangement: frequency.AxialAlternating, Patches: rowByRow, Traps: []string{"pixtral_shares_one_ladder", "transformers_permutes_rotated_weights"}},
	},
	Holders: []Holder{
		{Name: "mistral3", Text: Part{"text_config", "mistral"}, AnyText: true, AbsentText: `{"hidden_size": 5120, "num_attention_heads": 32, "num_hidden_layers": 40, "max_position_embeddings": 131072, "head_dim": 128, "rope_theta": 1000000000}`, Tower: Part{"vision_config", "pixtral"}},
		{Name: "lighton_ocr", Text: Part{"text_config", "qwen3"}, AnyText: true, AbsentText: `{"hidden_size": 1024, "num_attention_heads": 16, "num_hidden_layers": 28, "max_position_embeddings": 40960, "head_dim": 128, "rope_theta": 1000000}`, Tower: Part{"vision_config", "pixtral"}},
		{Name: "mistral_large4", Text: Part{"text_config", "mistral_large4_text"}, Tower: Part{"vision_config", "mistral_large4_vision"}, TowerName: "pixtral", AbsentTower: `{"hidden_size": 2048, "head_dim": 128, "num_hidden_layers": 30}`},
	},
	Architectures: []GGUFArchitecture{
		{Name: "mistral3", Layout: Normal, Freqs: true, LongRoPE: true, LogMultiplier: 1, QueryScale: ScaledBeyondOriginal, Traps: []string{"Mistral_3_has_mscale_all_dim_itself"}},
		{Name: "mistral4", Layout: Normal, Latent: true, LogMultiplier: 0.1, QueryScale: ScaledBeyondLength},
	},
	OtherTowers: []PositionsOf{{learned, []string{"llava_mistral"}}},
}
