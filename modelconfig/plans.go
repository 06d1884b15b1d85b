package modelconfig

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-posenc/posenc/frequency"
)

func number(s string) json.Number { return json.Number(s) }

func always(*reader) bool { return true }

func withoutRopeBlock(r *reader) bool { return !r.has("rope_parameters") && !r.has("rope_scaling") }

// olderRopeType reports whether rope_scaling names its rule by type alone.
func olderRopeType(r *reader) bool {
	return r.has("rope_scaling.type") && !r.has("rope_scaling.rope_type")
}

func withoutRopeTheta(r *reader) bool { return !r.has("rope_theta") }

func withoutRotaryBase(r *reader) bool { return !r.has("rotary_emb_base") }

// ropeBlockNotEmpty fails for an empty object, which transformers takes for one that gives all
// kinds of layers the same base.
func ropeBlockNotEmpty(r *reader) {
	rope, given := r.object("rope_parameters")
	r.failIf(given && len(rope) == 0, ErrValue, "rope_parameters", "an empty object", "an object for each kind of layer, or none")
}

// plan returns the n layers of a model, from the keys that describe them.
type plan func(r *reader, n int) []layer

func everyLayer(_ *reader, n int) []layer {
	layers := make([]layer, n)
	for i := range layers {
		layers[i].rotates = true
	}
	return layers
}

// layerTypes are the kinds of layers that configurations name.
var layerTypes = []string{
	"full_attention", "sliding_attention", "chunked_attention", "linear_attention", "conv", "hybrid",
	"compressed_sparse_attention", "heavily_compressed_attention", "moe", "mlp",
	"indexed_attention", "hybrid_sliding", "reference_sliding_attention", "minimax_m3_sparse",
}

// typed reads layer_types (or its older name). Without it, it takes the kinds that the class
// takes. The layers of the named kinds rotate, or all layers if none is named.
func typed(absent func(r *reader, n int) []string, rotating ...string) plan {
	return func(r *reader, n int) []layer {
		types := typesOf(r, n, absent)
		layers := make([]layer, len(types))
		for i, t := range types {
			layers[i] = layer{kind: t, rotates: rotating == nil || slices.Contains(rotating, t)}
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

// interval reads an interval of layers: one layer in so many is different.
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

// full returns the kinds of n layers: full attention where is holds.
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

// lastOf gives the last layer of each interval full attention.
func lastOf(key string, absent int, others string) func(*reader, int) []string {
	return func(r *reader, n int) []string {
		every := interval(r, key, absent)
		return full(n, others, func(i int) bool { return (i+1)%every == 0 })
	}
}

// firstOf gives the first layer of each interval full attention.
func firstOf(key string, absent int) func(*reader, int) []string {
	return func(r *reader, n int) []string {
		every := interval(r, key, absent)
		return full(n, "sliding_attention", func(i int) bool { return i%every == 0 })
	}
}

// indexed reads a list of the numbers of the layers with full attention.
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

// flagged reads a list with 0 or 1 for each layer.
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

// ropeFlags reads no_rope_layers, which has 1 for the layers that rotate. Without it, the last
// layer of every no_rope_layer_interval does not rotate.
func ropeFlags(absent int) plan {
	return func(r *reader, n int) []layer {
		layers := everyLayer(r, n)
		flags, every := flagged(r, "no_rope_layers", n), interval(r, "no_rope_layer_interval", absent)
		for i := range layers {
			if flags != nil {
				layers[i].rotates = flags[i] == 1
			} else {
				layers[i].rotates = (i+1)%every != 0
			}
		}
		return layers
	}
}

// exaone4Layers: global layers do not rotate if there are local ones. sliding_window_pattern
// is a number, or letters such as LLLG.
func exaone4Layers(r *reader, n int) []layer {
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

// gemma4Layers: the last layer has full attention, whatever the list says.
func gemma4Layers(r *reader, n int) []layer {
	layers := typed(lastOf("", 6, "sliding_attention"))(r, n)
	if len(layers) > 0 {
		layers[len(layers)-1].kind = "full_attention"
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

// miniMaxLayers: attn_type_list has 1 for full attention. Without it every second layer has
// full attention, from the first on.
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

// zambaLayers: the class of Zamba2 has 54 layers, of which these are hybrid.
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

// lastOfSix: every sixth layer and the last have full attention (Beam).
func lastOfSix(r *reader, n int) []string {
	return full(n, "sliding_attention", func(i int) bool { return (i+1)%6 == 0 || i == n-1 })
}

// neoMMELayers: the last layer of NeoMME has full attention too.
func neoMMELayers(r *reader, n int) []string { return lastOfSix(r, n) }

// flintLayers: the first two layers, every fourth and the last have full attention.
func flintLayers(_ *reader, n int) []string {
	return full(n, "sliding_attention", func(i int) bool { return i < 2 || i%4 == 1 || i == n-1 })
}

// lfm3Layers: every fourth layer has full attention, every fourth has sliding attention, and
// the others are convolutions.
func lfm3Layers(_ *reader, n int) []string {
	types := full(n, "conv", func(i int) bool { return i%4 == 2 })
	for i := 4; i < n; i += 4 {
		types[i] = "sliding_attention"
	}
	return types
}

// cohereMoE: layers with a window rotate. So do the leading dense layers, if their own pattern
// is 1.
func cohereMoE(r *reader, n int) []layer {
	dense := r.integerOr([]string{"first_k_dense_replace"}, 0)
	r.failIf(dense < 0 || dense > n, ErrValue, "first_k_dense_replace", dense, "from 0 to %d", n)
	prefix, rest := interval(r, "prefix_dense_sliding_window_pattern", 1), interval(r, "sliding_window_pattern", 4)
	layers := typed(func(_ *reader, n int) []string {
		return full(n, "sliding_attention", func(i int) bool {
			if i < dense {
				return (i+1)%prefix == 0
			}
			return (i-dense+1)%rest == 0
		})
	}, "sliding_attention")(r, n)
	kinds, ok := r.texts("mlp_layer_types")
	r.failIf(ok && len(kinds) != n, ErrContradiction, "mlp_layer_types", listText(len(kinds)), "one entry for each of %d layers", n)
	if r.err != nil {
		return nil
	}
	for i := range layers {
		isDense := i < dense
		if ok {
			isDense = kinds[i] == "dense"
		}
		layers[i].rotates = layers[i].rotates || isDense && prefix == 1
	}
	return layers
}

// museLayers: every fourth layer, counted from the last, does not rotate unless
// layer_rope_theta says otherwise.
func museLayers(r *reader, n int) []layer {
	layers := everyLayer(r, n)
	for i := range layers {
		layers[i].rotates = r.has("layer_rope_theta") || (n-1-i)%4 != 0
	}
	return layers
}

// hrmAttentions: an HRM runs its layers several times. If it has num_layers_per_stack, its
// num_hidden_layers counts every attention of every run.
func hrmAttentions(r *reader, n int) []layer {
	if !r.has("num_layers_per_stack") {
		high, low := r.integerOr([]string{"H_cycles"}, 2), r.integerOr([]string{"L_cycles"}, 3)
		r.failIf(high < 1 || high > maxLayers, ErrValue, "H_cycles", high, "from 1 to %d", maxLayers)
		r.failIf(low < 0 || low > maxLayers, ErrValue, "L_cycles", low, "from 0 to %d", maxLayers)
		if r.err != nil {
			return nil
		}
		r.failIf(int64(n)*int64(high)*int64(low+1) > maxLayers, ErrValue, "num_hidden_layers", n, "with H_cycles and L_cycles at most %d attentions", maxLayers)
		n *= high * (low + 1)
	}
	if r.err != nil {
		return nil
	}
	return everyLayer(r, n)
}

// dotsLayers: some layers have sliding attention. The others have an indexer, unless use_dsa
// is false.
func dotsLayers(r *reader, n int) []string {
	other := "indexed_attention"
	if use, ok := r.boolean("use_dsa"); ok && !use {
		other = "full_attention"
	}
	slides, given := r.boolean("use_sliding_window")
	types := all(other)(r, n)
	for i := range types {
		if (slides || !given) && i >= 2 && i%4 != 1 {
			types[i] = "sliding_attention"
		}
	}
	return types
}

// miniMaxM3Layers: sparse_attention_freq has 1 for layers with an indexer.
func miniMaxM3Layers(r *reader, n int) []string {
	const key = "sparse_attention_config.sparse_attention_freq"
	types := all("full_attention")(r, n)
	flags := flagged(r, key, n)
	for i := range flags {
		if flags[i] == 1 {
			types[i] = "minimax_m3_sparse"
		}
	}
	return types
}

// qwen4Layers: the layers that files call full attention have an indexer.
func qwen4Layers(r *reader, n int) []string {
	types := lastOf("full_attention_interval", 4, "linear_attention")(r, n)
	for i := range types {
		if types[i] == "full_attention" {
			types[i] = "indexed_attention"
		}
	}
	return types
}

// mllamaLayers: layers of cross attention do not rotate.
func mllamaLayers(r *reader, n int) []layer {
	layers := everyLayer(r, n)
	cross, ok := r.integers("cross_attention_layers")
	if !ok {
		cross = []int{3, 8, 13, 18, 23, 28, 33, 38}
	}
	for _, i := range cross {
		if i >= 0 && i < n {
			layers[i].rotates = false
		}
	}
	return layers
}

// deepSeekV4Layers: layers with sliding attention have the main frequencies, and the others
// have the frequencies of the compressed sequence. Layers that compress it to a quarter
// have an indexer that chooses what they attend to.
func deepSeekV4Layers(r *reader, n int) []layer {
	layers := typed(func(r *reader, n int) []string {
		types := all("heavily_compressed_attention")(r, n)
		ratios, ok := r.integers("compress_ratios")
		if ok && len(ratios) < n {
			r.fail(ErrContradiction, "compress_ratios", listText(len(ratios)), "one entry for each of %d layers", n)
			return types
		}
		for i := range types {
			switch {
			case ok && ratios[i] == 0:
				types[i] = "sliding_attention"
			case ok && ratios[i] == sparseRatio, !ok && i >= 2 && i%2 == 1:
				types[i] = "compressed_sparse_attention"
			}
		}
		return types
	})(r, n)
	for i := range layers {
		if layers[i].kind == "compressed_sparse_attention" {
			layers[i].indexer = true
		}
		if layers[i].kind == "sliding_attention" {
			layers[i].kind = "main"
		} else {
			layers[i].kind = "compress"
		}
	}
	return layers
}

// The checks and rules of single types follow.

// roFormer: the base is 10000, and values rotate too if rotary_value says so.
func roFormer(r *reader) {
	unscaled(r)
	r.mustBe(false, ErrUnknown, "false: rotate the values too, with the same posenc.RotaryConfig, and remove the key", "rotary_value")
}

// beamRope: layers with full attention do not rotate.
func beamRope(r *reader) {
	r.failIf(r.has("rope_parameters.full_attention"), ErrUnknown, "rope_parameters.full_attention", kindOf(r.lookup("rope_parameters.full_attention")), "null: in this type, layers of full attention do not rotate")
}

// sparseAttention: MiniMax M3 has the sizes of its indexers in an object of their own.
func sparseAttention(r *reader) {
	inner, inside := r.integer("sparse_attention_config.sparse_index_dim")
	beside, given := r.integer("index_head_dim")
	if inside && given && inner != beside {
		r.fail(ErrContradiction, "index_head_dim", beside, "sparse_attention_config.sparse_index_dim, which is %d", inner)
	}
	if inside && !given && r.err == nil {
		keys := maps.Clone(r.keys)
		keys["index_head_dim"] = number(strconv.Itoa(inner))
		r.keys = keys
	}
}

// qwenIndexers: if there are indexers, the layers of kind full_attention have them.
func qwenIndexers(r *reader) {
	if _, ok := r.texts("layer_types"); !ok {
		return
	}
	list, _ := r.keys["layer_types"].([]any)
	renamed := slices.Clone(list)
	for i, t := range renamed {
		if t == "full_attention" || t == "attention" {
			renamed[i] = "indexed_attention"
		}
	}
	keys := maps.Clone(r.keys)
	keys["layer_types"] = renamed
	r.keys = keys
}

// positionType fails unless position_embedding_type has the value with which the code of the
// type rotates. absent is the value of a missing key.
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
			r.fail(ErrUnknown, key, "an object", "no such key: models of this type have base 10000 and no scaling (use posenc.RotaryConfig)")
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

// zamba2: RoPE is an option. A head has 2 * hidden size / heads elements, because the residual
// stream is joined to the embeddings.
func zamba2(r *reader) {
	if use, ok := r.boolean("use_mem_rope"); !ok || !use {
		r.fail(ErrNotRotary, "use_mem_rope", kindOf(r.lookup("use_mem_rope")), "true")
	}
	r.mustBe(false, ErrUnknown, "false: its rescaled base is not in the configuration (use posenc.RotaryConfig)", "use_long_context")
	hidden, heads := r.integerOr([]string{"hidden_size"}, 2560), r.integerOr([]string{"num_attention_heads"}, 32)
	dim := r.integerOr([]string{"attention_head_dim"}, 160)
	r.failIf(dim*heads != 2*hidden, ErrContradiction, "attention_head_dim", dim, "2*hidden_size/num_attention_heads, of %d and %d", hidden, heads)
}

// longcatAttentions: a layer of LongCat has two attentions. If there is num_layers, it counts
// layers, and num_hidden_layers counts attentions.
func longcatAttentions(r *reader, n int) []layer {
	r.failIf(n > maxLayers/2, ErrValue, "num_layers", n, "from 1 to %d", maxLayers/2)
	if attentions, ok := r.integer("num_hidden_layers"); ok && r.has("num_layers") && attentions != 2*n {
		r.fail(ErrContradiction, "num_hidden_layers", attentions, "2*num_layers, which is %d", 2*n)
	}
	if r.err != nil {
		return nil
	}
	return everyLayer(r, 2*n)
}

// chatGLM: three generations of models have this type. ChatGLM2 divides positions by
// rope_ratio; ChatGLM3 and GLM-4 multiply the base by it. ChatGLM2 and ChatGLM3 both have 28
// layers, so that only the name tells them apart.
func chatGLM(r *reader) {
	r.mustBe(false, ErrUnknown, "false: ChatGLM-6B, with positions of two axes, is not read (use posenc.RotaryConfig)", "position_encoding_2d")
	name, _ := r.text("_name_or_path")
	name = strings.ToLower(name)
	ratio, ok := r.number("rope_ratio")
	if !ok || ratio == 1 {
		return
	}
	switch {
	case strings.Contains(name, "chatglm2"):
		r.fail(ErrUnknown, "rope_ratio", ratio, "1: ChatGLM2 divides positions by it where later models multiply the base (use frequency.Linear)")
	case r.integerOr(chatGLMs.layers, 28) == 28 && !strings.Contains(name, "chatglm3"):
		r.fail(ErrContradiction, "rope_ratio", ratio, "1, or chatglm3 in _name_or_path, which is %s: models of 28 layers are ChatGLM3, whose base it multiplies, or ChatGLM2, whose positions it divides (for that use frequency.Linear)", quoted(name))
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

// namedBase: the base of XVERSE is in the code published with each model.
func namedBase(r *reader) {
	r.failIf(!r.has("rope_theta") && !r.has("rope_parameters.rope_theta"),
		ErrValue, "rope_theta", "absent", "the base in the model's own code: 10000, or 500000 with dynamic scaling for XVERSE-13B-256K")
}

func ernieAxes(r *reader) {
	r.mustBe(true, ErrUnknown, "true (leave Axes nil in posenc.RotaryConfig)", "rope_3d")
	if n, ok := r.integer("freq_allocation"); ok && n != 20 {
		r.fail(ErrUnknown, "freq_allocation", n, "20 (set Axes in posenc.RotaryConfig)")
	}
}

// nomicDynamicNTK: rotary_scaling_factor is the factor of dynamic NTK scaling, for sequences
// beyond max_trained_positions.
func nomicDynamicNTK(p *ropeParameters) rule {
	factor, ok := p.model.positive("rotary_scaling_factor")
	if !ok {
		return rule{}
	}
	p.model.failIf(p.ropeType != "default", ErrContradiction, "rotary_scaling_factor", factor, "no such key together with rope_type %s", p.ropeType)
	return dynamicNTK(p.rotaryDim, p.base, factor, p.positions)
}

// qwenDynamicNTK: with use_dynamic_ntk, alpha is 2k-1 for a sequence of up to k times the
// trained length, where k is the next power of two.
func qwenDynamicNTK(p *ropeParameters) rule {
	if use, ok := p.model.boolean("use_dynamic_ntk"); !ok || !use {
		return rule{}
	}
	dim, base, positions := p.rotaryDim, p.base, p.positions
	ladder := func(seqLen int, rounding frequency.Rounding) (frequency.Ladder, error) {
		times := 1.0 // a float64 has every power of two that comes up
		for lengths := (seqLen - 1) / max(positions, 1); lengths > 0; lengths /= 2 {
			times *= 2
		}
		if times == 1 {
			return frequency.Default(dim, base, rounding)
		}
		return frequency.NTKAlpha(dim, base, frequency.NTKAlphaParameters{Alpha: 2*times - 1}, rounding)
	}
	return rule{ladder: ladder, trained: positions, described: frequencyRule{Name: "dynamic NTK of Qwen", Base: base}}
}

// maxLayers bounds what a configuration makes us allocate.
const maxLayers = 1 << 14
