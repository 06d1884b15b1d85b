package modelconfig

import "github.com/go-posenc/posenc"

var minicpmModels = vendor{
	types: []modelType{
		{name: "minicpm", hidden: 4096, heads: 32, layers: 32, positions: 2048, base: 1e4},
		{name: "minicpm3", latent: true, headDim: 32, noPEDim: 64, layers: 62, positions: 32768, base: 1e4, layout: posenc.HalfSplit},
	},
	holders: []holder{
		{name: "minicpm_ocr", text: part{"text_config", "qwen3_5_text"}, anyText: true},
		{name: "minicpmv4_6", text: part{"text_config", "qwen3_5_text"}, anyText: true},
		{name: "minicpmv4_7", text: part{"text_config", "qwen3_5_text"}, anyText: true},
	},
	architectures: []ggufArchitecture{
		{name: "minicpm", layout: normal, freqs: true, longRoPE: true},
		{name: "minicpm3", layout: neoX, latentPart: true, longRoPE: true, anyType: true},
	},
}
