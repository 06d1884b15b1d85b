package modelconfig

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/go-posenc/posenc/frequency"
)

func number(s string) json.Number { return json.Number(s) }

// Rope parameters of configurations that have none, where the class supplies them.
var (
	gptOSSRope     = object{"rope_type": "yarn", "factor": number("32"), "beta_fast": number("32"), "beta_slow": number("1"), "truncate": false, "original_max_position_embeddings": number("4096")}
	ministral3Rope = object{"rope_type": "yarn", "rope_theta": number("1000000"), "factor": number("16"), "beta_fast": number("32"), "beta_slow": number("1"), "mscale": number("1"), "mscale_all_dim": number("1"), "llama_4_scaling_beta": number("0.1"), "original_max_position_embeddings": number("16384")}
	mistral4Rope   = object{"rope_type": "yarn", "factor": number("128"), "beta_fast": number("32"), "beta_slow": number("1"), "mscale": number("1"), "mscale_all_dim": number("1"), "llama_4_scaling_beta": number("0.1"), "original_max_position_embeddings": number("8192")}
	gemma4Rope     = object{"rope_type": "proportional", "partial_rotary_factor": number("0.25")}
)

func llama3Rope(factor string) object {
	return object{"rope_type": "llama3", "factor": number(factor), "low_freq_factor": number("1"), "high_freq_factor": number("4"), "original_max_position_embeddings": number("8192")}
}

// plan returns the layers of a model of n, by the keys that say what they are.
type plan func(r *reader, n int) []Layer

func everyLayer(_ *reader, n int) []Layer {
	layers := make([]Layer, n)
	for i := range layers {
		layers[i].Rotates = true
	}
	return layers
}

// layerTypes are the kinds of layers that configurations name.
var layerTypes = []string{
	"full_attention", "sliding_attention", "chunked_attention", "linear_attention", "conv", "hybrid",
	"compressed_sparse_attention", "heavily_compressed_attention", "moe", "mlp",
}

// typed reads layer_types (or its older name), or takes the kinds that the class
// would. The layers of the named kinds rotate: all of them where none is named.
func typed(absent func(r *reader, n int) []string, rotating ...string) plan {
	return func(r *reader, n int) []Layer {
		types := typesOf(r, n, absent)
		layers := make([]Layer, len(types))
		for i, t := range types {
			layers[i] = Layer{t, rotating == nil || slices.Contains(rotating, t)}
		}
		return layers
	}
}

func typesOf(r *reader, n int, absent func(r *reader, n int) []string) []string {
	for _, key := range []string{"layer_types", "layers_block_type"} {
		types, ok := r.texts(key)
		if !ok {
			continue
		}
		if len(types) != n {
			r.fail(ErrContradiction, key, listText(len(types)), "one entry for each of %d layers", n)
			return nil
		}
		for i, t := range types {
			switch t { // as transformers renames them
			case "attention":
				types[i] = "full_attention"
			case "mamba", "recurrent":
				types[i] = "linear_attention"
			}
			if !slices.Contains(layerTypes, types[i]) {
				r.fail(ErrUnknown, fmt.Sprintf("%s[%d]", key, i), quoted(t), "one of %q", layerTypes)
				return nil
			}
		}
		return types
	}
	return absent(r, n)
}

func all(t string) func(*reader, int) []string {
	return func(_ *reader, n int) []string { return slices.Repeat([]string{t}, n) }
}

// interval reads a number of layers of which one is different.
func interval(r *reader, key string, absent int) int {
	every, ok := r.integer(key)
	if !ok {
		return absent
	}
	if every < 1 {
		r.fail(ErrValue, key, every, "at least 1")
		return absent
	}
	return every
}

// full makes some of n layers full attention.
func full(n int, others string, is func(i int) bool) []string {
	types := make([]string, n)
	for i := range types {
		types[i] = others
		if is(i) {
			types[i] = "full_attention"
		}
	}
	return types
}

// lastOf makes the last of every so many layers full attention.
func lastOf(key string, absent int, others string) func(*reader, int) []string {
	return func(r *reader, n int) []string {
		every := interval(r, key, absent)
		return full(n, others, func(i int) bool { return (i+1)%every == 0 })
	}
}

// firstOf makes the first of every so many layers full attention.
func firstOf(key string, absent int) func(*reader, int) []string {
	return func(r *reader, n int) []string {
		every := interval(r, key, absent)
		return full(n, "sliding_attention", func(i int) bool { return i%every == 0 })
	}
}

// indexed reads the numbers of the layers of full attention.
func indexed(key, others, absent string) func(*reader, int) []string {
	return func(r *reader, n int) []string {
		numbers, ok := r.integers(key)
		if !ok {
			return all(absent)(r, n)
		}
		types := all(others)(r, n)
		for _, i := range numbers {
			if i < 0 || i >= n {
				r.fail(ErrValue, key, i, "from 0 to %d", n-1)
				break
			}
			types[i] = "full_attention"
		}
		return types
	}
}

// flagged reads a list of 0 and 1, one for each layer.
func flagged(r *reader, key string, n int) []int {
	flags, ok := r.integers(key)
	if !ok || len(flags) == 0 {
		return nil
	}
	if len(flags) != n {
		r.fail(ErrContradiction, key, listText(len(flags)), "one entry for each of %d layers", n)
		return nil
	}
	for i, flag := range flags {
		r.failIf(flag != 0 && flag != 1, ErrValue, fmt.Sprintf("%s[%d]", key, i), flag, "0 or 1")
	}
	return flags
}

// ropeFlags reads no_rope_layers, which has 1 for the layers that rotate, or
// makes the last of every no_rope_layer_interval layers one that does not.
func ropeFlags(absent int) plan {
	return func(r *reader, n int) []Layer {
		layers := everyLayer(r, n)
		flags, every := flagged(r, "no_rope_layers", n), interval(r, "no_rope_layer_interval", absent)
		for i := range layers {
			if flags != nil {
				layers[i].Rotates = flags[i] == 1
			} else {
				layers[i].Rotates = (i+1)%every != 0
			}
		}
		return layers
	}
}

// exaone4Layers: global layers do not rotate where there are local ones.
// sliding_window_pattern is a number, or letters such as LLLG.
func exaone4Layers(r *reader, n int) []Layer {
	if _, null := r.keys["sliding_window"]; null && !r.has("sliding_window") {
		return everyLayer(r, n)
	}
	pattern := lastOf("sliding_window_pattern", 4, "sliding_attention")
	if letters, ok := r.lookup("sliding_window_pattern").(string); ok {
		pattern = func(r *reader, n int) []string {
			types := make([]string, n)
			for i := range types {
				kinds := map[byte]string{'L': "sliding_attention", 'G': "full_attention"}
				if letters != "" {
					types[i] = kinds[letters[i%len(letters)]]
				}
				r.failIf(types[i] == "", ErrValue, "sliding_window_pattern", quoted(letters), "the letters L and G")
			}
			return types
		}
	}
	return typed(pattern, "sliding_attention")(r, n)
}

func gemma3Layers(r *reader, n int) []string {
	key := "sliding_window_pattern"
	if !r.has(key) {
		key = "_sliding_window_pattern"
	}
	return lastOf(key, 6, "sliding_attention")(r, n)
}

// gemma4Layers: the last layer is one of full attention whatever the list says.
func gemma4Layers(r *reader, n int) []Layer {
	layers := typed(lastOf("", 6, "sliding_attention"))(r, n)
	if len(layers) > 0 {
		layers[len(layers)-1].Type = "full_attention"
	}
	return layers
}

func recurrentBlocks(r *reader, n int) []string {
	blocks, ok := r.texts("block_types")
	if !ok || len(blocks) == 0 {
		blocks = []string{"recurrent", "recurrent", "attention"}
	}
	types := make([]string, n)
	for i := range types {
		types[i] = "sliding_attention"
		if blocks[i%len(blocks)] == "recurrent" {
			types[i] = "linear_attention"
		}
	}
	return types
}

// miniMaxLayers: attn_type_list has 1 for full attention; without it every
// second layer has, the first included.
func miniMaxLayers(r *reader, n int) []string {
	flags := flagged(r, "attn_type_list", n)
	return full(n, "linear_attention", func(i int) bool { return flags == nil && i%2 == 0 || flags != nil && flags[i] == 1 })
}

// miMoLayers: hybrid_layer_pattern has 1 for sliding attention.
func miMoLayers(r *reader, n int) []string {
	flags := flagged(r, "hybrid_layer_pattern", n)
	return full(n, "sliding_attention", func(i int) bool {
		return flags == nil && (i == 0 || (i+1)%6 == 0) || flags != nil && flags[i] == 0
	})
}

// zambaLayers: the hybrid layers of Zamba2's class, which has 54.
func zambaLayers(r *reader, n int) []string {
	r.failIf(n != 54, ErrContradiction, "num_hidden_layers", n, "54, or layers_block_type to say which layers attend")
	types := all("linear_attention")(r, n)
	for _, i := range []int{6, 12, 18, 24, 30, 36, 42, 47, 51} {
		if i < n {
			types[i] = "hybrid"
		}
	}
	return types
}

// mllamaLayers: layers of cross attention do not rotate.
func mllamaLayers(r *reader, n int) []Layer {
	layers := everyLayer(r, n)
	cross, ok := r.integers("cross_attention_layers")
	if !ok {
		cross = []int{3, 8, 13, 18, 23, 28, 33, 38}
	}
	for _, i := range cross {
		if i >= 0 && i < n {
			layers[i].Rotates = false
		}
	}
	return layers
}

// deepSeekV4Layers: layers of sliding attention have the main frequencies, the
// others those of the compressed sequence.
func deepSeekV4Layers(r *reader, n int) []Layer {
	layers := typed(func(r *reader, n int) []string {
		types := all("heavily_compressed_attention")(r, n)
		ratios, ok := r.integers("compress_ratios")
		if ok && len(ratios) < n {
			r.fail(ErrContradiction, "compress_ratios", listText(len(ratios)), "one entry for each of %d layers", n)
			return types
		}
		for i := range types {
			if ok && ratios[i] == 0 {
				types[i] = "sliding_attention"
			}
		}
		return types
	})(r, n)
	for i := range layers {
		if layers[i].Type == "sliding_attention" {
			layers[i].Type = "main"
		} else {
			layers[i].Type = "compress"
		}
	}
	return layers
}

// Below are the checks and the rules of single types.

// positionType fails unless position_embedding_type, or what its absence means,
// is the value for which the code of the type rotates.
func positionType(rotary, absent string) func(r *reader) {
	return func(r *reader) {
		t, ok := r.text("position_embedding_type")
		if !ok {
			t = absent
		}
		r.failIf(t != rotary, ErrNotRotary, "position_embedding_type", quoted(t), "%q", rotary)
	}
}

// unscaled: the code of the type reads no rope parameters.
func unscaled(r *reader) {
	for _, key := range []string{"rope_scaling", "rope_parameters"} {
		if rope, ok := r.object(key); ok && len(rope) > 0 {
			r.fail(ErrUnknown, key, "an object", "nothing: models of this type have base 10000 and no scaling (use posenc.RotaryConfig)")
		}
	}
}

func slidingWindow(r *reader) {
	if _, null := r.keys["sliding_window"]; null && !r.has("sliding_window") {
		r.fail(ErrNotRotary, "sliding_window", "null", "a number: layers without a window do not rotate")
	}
}

func baichuan7B(r *reader) {
	if hidden, ok := r.integer("hidden_size"); ok && hidden != 4096 {
		r.fail(ErrNotRotary, "hidden_size", hidden, "4096 (the 7B models): the others have %s", aliBi)
	}
}

// zamba2: RoPE is an option, and a head has twice the elements of hidden size by
// heads, the residual stream being joined to the embeddings.
func zamba2(r *reader) {
	if use, ok := r.boolean("use_mem_rope"); !ok || !use {
		r.fail(ErrNotRotary, "use_mem_rope", kindOf(r.lookup("use_mem_rope")), "true")
	}
	r.mustBe(false, ErrUnknown, "false: its rescaled base is not in the configuration (use posenc.RotaryConfig)", "use_long_context")
	hidden, heads := r.integerOr([]string{"hidden_size"}, 2560), r.integerOr([]string{"num_attention_heads"}, 32)
	dim := r.integerOr([]string{"attention_head_dim"}, 160)
	r.failIf(dim*heads != 2*hidden, ErrContradiction, "attention_head_dim", dim, "2*hidden_size/num_attention_heads, of %d and %d", hidden, heads)
}

// chatGLM: three generations of models have this type.
func chatGLM(r *reader) {
	r.mustBe(false, ErrUnknown, "false: ChatGLM-6B, with positions of two axes, is not read (use posenc.RotaryConfig)", "position_encoding_2d")
	name, _ := r.text("_name_or_path")
	if ratio, ok := r.number("rope_ratio"); ok && ratio != 1 && strings.Contains(name, "chatglm2") {
		r.fail(ErrUnknown, "rope_ratio", ratio, "1: ChatGLM2 divides positions by it where later models multiply the base (use frequency.Linear)")
	}
}

func usesMLA(r *reader) {
	r.mustBe(true, ErrUnknown, "true: DeepSeek V2 without latent attention is not read (use posenc.RotaryConfig)", "use_mla")
}

// withoutMLA: HunYuan's files have the keys of latent attention and do not use it.
func withoutMLA(r *reader) {
	r.mustBe(false, ErrUnknown, "false: HunYuan with latent attention is not read (use posenc.RotaryConfig)", "use_mla")
	r.integer("qk_rope_head_dim")
}

// namedBase: the base of XVERSE stands in the code published with each model.
func namedBase(r *reader) {
	r.failIf(!r.has("rope_theta") && !r.has("rope_parameters.rope_theta"),
		ErrValue, "rope_theta", "absent", "the base in the model's own code: 10000, but 500000 with dynamic scaling for XVERSE-13B-256K")
}

func ernieAxes(r *reader) {
	r.mustBe(true, ErrUnknown, "true (leave Axes nil in posenc.RotaryConfig)", "rope_3d")
	if n, ok := r.integer("freq_allocation"); ok && n != 20 {
		r.fail(ErrUnknown, "freq_allocation", n, "20 (set Axes in posenc.RotaryConfig)")
	}
}

// nomicDynamicNTK: rotary_scaling_factor is the factor of dynamic NTK scaling
// beyond max_trained_positions.
func nomicDynamicNTK(p *ropeParameters) rule {
	factor, ok := p.model.positive("rotary_scaling_factor")
	if !ok {
		return rule{}
	}
	p.model.failIf(p.ropeType != "default", ErrContradiction, "rotary_scaling_factor", factor, "nothing beside rope_type %s", p.ropeType)
	return dynamicNTK(p.rotaryDim, p.base, factor, p.positions)
}

// qwenDynamicNTK: with use_dynamic_ntk, alpha is 2k-1 for a sequence of up to k
// times the trained length, k the next power of two.
func qwenDynamicNTK(p *ropeParameters) rule {
	if use, ok := p.model.boolean("use_dynamic_ntk"); !ok || !use {
		return rule{}
	}
	dim, base, positions := p.rotaryDim, p.base, p.positions
	return rule{func(seqLen int, rounding frequency.Rounding) (frequency.Ladder, error) {
		times := 1.0 // a float64 has every power of two that comes up
		for lengths := (seqLen - 1) / max(positions, 1); lengths > 0; lengths /= 2 {
			times *= 2
		}
		if times == 1 {
			return frequency.Default(dim, base, rounding)
		}
		return frequency.NTKAlpha(dim, base, frequency.NTKAlphaParameters{Alpha: 2*times - 1}, rounding)
	}, positions}
}
