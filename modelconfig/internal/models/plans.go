package models

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
)

func always(*document.Reader) bool { return true }

func withoutRopeBlock(r *document.Reader) bool {
	return !r.Has("rope_parameters") && !r.Has("rope_scaling")
}

// olderRopeType reports whether rope_scaling names its rule by type alone.
func olderRopeType(r *document.Reader) bool {
	return r.Has("rope_scaling.type") && !r.Has("rope_scaling.rope_type")
}

func withoutRopeTheta(r *document.Reader) bool { return !r.Has("rope_theta") }

func withoutRotaryBase(r *document.Reader) bool { return !r.Has("rotary_emb_base") }

// ropeBlockNotEmpty: transformers takes an empty object for one base of all kinds of layers.
func ropeBlockNotEmpty(r *document.Reader) {
	rope, given := r.Object("rope_parameters")
	r.FailIf(given && len(rope) == 0, document.ErrValue, "rope_parameters", "an empty object", "an object for each kind of layer, or none")
}

func everyLayer(_ *document.Reader, n int) []description.Layer {
	layers := make([]description.Layer, n)
	for i := range layers {
		layers[i].Rotates = true
	}
	return layers
}

var layerTypes = []string{
	"full_attention", "sliding_attention", "chunked_attention", "linear_attention", "conv", "hybrid",
	"compressed_sparse_attention", "heavily_compressed_attention", "moe", "mlp",
	"indexed_attention", "hybrid_sliding", "reference_sliding_attention", "minimax_m3_sparse",
}

// typed reads layer_types (or its older name), or takes the kinds that the class takes. The layers of the
// named kinds rotate, or all layers if none is named.
func typed(absent func(r *document.Reader, n int) []string, rotating ...string) plan {
	return func(r *document.Reader, n int) []description.Layer {
		types := typesOf(r, n, absent)
		layers := make([]description.Layer, len(types))
		for i, t := range types {
			layers[i] = description.Layer{Kind: t, Rotates: rotating == nil || slices.Contains(rotating, t)}
		}
		return layers
	}
}

func typesOf(r *document.Reader, n int, absent func(r *document.Reader, n int) []string) []string {
	for _, key := range []string{"layer_types", "layers_block_type"} {
		types, ok := r.Texts(key)
		if !ok {
			continue
		}
		if len(types) != n {
			r.Fail(document.ErrContradiction, key, document.ListText(len(types)), "one entry for each of %d layers", n)
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
				r.Fail(document.ErrUnknown, fmt.Sprintf("%s[%d]", key, i), document.Quoted(t), "one of %q", layerTypes)
				return nil
			}
		}
		return types
	}
	return absent(r, n)
}

func all(t string) func(*document.Reader, int) []string {
	return func(_ *document.Reader, n int) []string { return slices.Repeat([]string{t}, n) }
}

func interval(r *document.Reader, key string, absent int) int {
	every, ok := r.Integer(key)
	if !ok {
		return absent
	}
	if every < 1 {
		r.Fail(document.ErrValue, key, every, "at least 1")
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
func lastOf(key string, absent int, others string) func(*document.Reader, int) []string {
	return func(r *document.Reader, n int) []string {
		every := interval(r, key, absent)
		return full(n, others, func(i int) bool { return (i+1)%every == 0 })
	}
}

func firstOf(key string, absent int) func(*document.Reader, int) []string {
	return func(r *document.Reader, n int) []string {
		every := interval(r, key, absent)
		return full(n, "sliding_attention", func(i int) bool { return i%every == 0 })
	}
}

func indexed(key, others, absent string) func(*document.Reader, int) []string {
	return func(r *document.Reader, n int) []string {
		numbers, ok := r.Integers(key)
		if !ok {
			return all(absent)(r, n)
		}
		types := all(others)(r, n)
		for _, i := range numbers {
			if i < 0 || i >= n {
				r.Fail(document.ErrValue, key, i, "from 0 to %d", n-1)
				break
			}
			types[i] = "full_attention"
		}
		return types
	}
}

func flagged(r *document.Reader, key string, n int) []int {
	flags, ok := r.Integers(key)
	if !ok || len(flags) == 0 {
		return nil
	}
	if len(flags) != n {
		r.Fail(document.ErrContradiction, key, document.ListText(len(flags)), "one entry for each of %d layers", n)
		return nil
	}
	for i, flag := range flags {
		r.FailIf(flag != 0 && flag != 1, document.ErrValue, fmt.Sprintf("%s[%d]", key, i), flag, "0 or 1")
	}
	return flags
}

// ropeFlags reads no_rope_layers; without it, the last layer of each interval does not rotate.
func ropeFlags(absent int) plan {
	return func(r *document.Reader, n int) []description.Layer {
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

// exaone4Layers: global layers do not rotate if there are local ones. sliding_window_pattern
// is a number, or letters such as LLLG.
func exaone4Layers(r *document.Reader, n int) []description.Layer {
	if _, null := r.Keys["sliding_window"]; null && !r.Has("sliding_window") {
		return everyLayer(r, n)
	}
	pattern := lastOf("sliding_window_pattern", 4, "sliding_attention")
	if letters, ok := r.Lookup("sliding_window_pattern").(string); ok {
		pattern = func(r *document.Reader, n int) []string {
			types := make([]string, n)
			for i := range types {
				kinds := map[byte]string{'L': "sliding_attention", 'G': "full_attention"}
				if letters != "" {
					types[i] = kinds[letters[i%len(letters)]]
				}
				r.FailIf(types[i] == "", document.ErrValue, "sliding_window_pattern", document.Quoted(letters), "the letters L and G")
			}
			return types
		}
	}
	return typed(pattern, "sliding_attention")(r, n)
}

func gemma3Layers(r *document.Reader, n int) []string {
	key := "sliding_window_pattern"
	if !r.Has(key) {
		key = "_sliding_window_pattern"
	}
	return lastOf(key, 6, "sliding_attention")(r, n)
}

// gemma4Layers: the last layer has full attention, even where the list says otherwise.
func gemma4Layers(r *document.Reader, n int) []description.Layer {
	layers := typed(lastOf("", 6, "sliding_attention"))(r, n)
	if len(layers) > 0 {
		layers[len(layers)-1].Kind = "full_attention"
	}
	return layers
}

func recurrentBlocks(r *document.Reader, n int) []string {
	blocks, ok := r.Texts("block_types")
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

// miniMaxLayers: attn_type_list has 1 for full attention; absent it is every second layer from 0.
func miniMaxLayers(r *document.Reader, n int) []string {
	flags := flagged(r, "attn_type_list", n)
	return full(n, "linear_attention", func(i int) bool { return flags == nil && i%2 == 0 || flags != nil && flags[i] == 1 })
}

// miMoLayers: hybrid_layer_pattern has 1 for sliding attention.
func miMoLayers(r *document.Reader, n int) []string {
	flags := flagged(r, "hybrid_layer_pattern", n)
	return full(n, "sliding_attention", func(i int) bool {
		return flags == nil && (i == 0 || (i+1)%6 == 0) || flags != nil && flags[i] == 0
	})
}

// zambaLayers: the class of Zamba2 has 54 layers, of which these are hybrid.
func zambaLayers(r *document.Reader, n int) []string {
	r.FailIf(n != 54, document.ErrContradiction, "num_hidden_layers", n, "54, or layers_block_type to say which layers attend")
	types := all("linear_attention")(r, n)
	for _, i := range []int{6, 12, 18, 24, 30, 36, 42, 47, 51} {
		if i < n {
			types[i] = "hybrid"
		}
	}
	return types
}

// lastOfSix: every sixth layer and the last have full attention (Beam, NeoMME).
func lastOfSix(r *document.Reader, n int) []string {
	return full(n, "sliding_attention", func(i int) bool { return (i+1)%6 == 0 || i == n-1 })
}

// flintLayers: the first two layers, every fourth and the last have full attention.
func flintLayers(_ *document.Reader, n int) []string {
	return full(n, "sliding_attention", func(i int) bool { return i < 2 || i%4 == 1 || i == n-1 })
}

// lfm3Layers: of four layers one has full attention, one sliding; the others are convolutions.
func lfm3Layers(_ *document.Reader, n int) []string {
	types := full(n, "conv", func(i int) bool { return i%4 == 2 })
	for i := 4; i < n; i += 4 {
		types[i] = "sliding_attention"
	}
	return types
}

// cohereMoE: layers with a window rotate, and the leading dense ones if their own pattern is 1.
func cohereMoE(r *document.Reader, n int) []description.Layer {
	dense := r.IntegerOr([]string{"first_k_dense_replace"}, 0)
	r.FailIf(dense < 0 || dense > n, document.ErrValue, "first_k_dense_replace", dense, "from 0 to %d", n)
	prefix, rest := interval(r, "prefix_dense_sliding_window_pattern", 1), interval(r, "sliding_window_pattern", 4)
	layers := typed(func(_ *document.Reader, n int) []string {
		return full(n, "sliding_attention", func(i int) bool {
			if i < dense {
				return (i+1)%prefix == 0
			}
			return (i-dense+1)%rest == 0
		})
	}, "sliding_attention")(r, n)
	kinds, ok := r.Texts("mlp_layer_types")
	r.FailIf(ok && len(kinds) != n, document.ErrContradiction, "mlp_layer_types", document.ListText(len(kinds)), "one entry for each of %d layers", n)
	if r.Err != nil {
		return nil
	}
	for i := range layers {
		isDense := i < dense
		if ok {
			isDense = kinds[i] == "dense"
		}
		layers[i].Rotates = layers[i].Rotates || isDense && prefix == 1
	}
	return layers
}

// museLayers: every fourth layer from the last does not rotate, unless layer_rope_theta says so.
func museLayers(r *document.Reader, n int) []description.Layer {
	layers := everyLayer(r, n)
	for i := range layers {
		layers[i].Rotates = r.Has("layer_rope_theta") || (n-1-i)%4 != 0
	}
	return layers
}

// hrmAttentions: an HRM runs its layers several times. If it has num_layers_per_stack, its
// num_hidden_layers counts every attention of every run.
func hrmAttentions(r *document.Reader, n int) []description.Layer {
	if !r.Has("num_layers_per_stack") {
		high, low := r.IntegerOr([]string{"H_cycles"}, 2), r.IntegerOr([]string{"L_cycles"}, 3)
		r.FailIf(high < 1 || high > MaxLayers, document.ErrValue, "H_cycles", high, "from 1 to %d", MaxLayers)
		r.FailIf(low < 0 || low > MaxLayers, document.ErrValue, "L_cycles", low, "from 0 to %d", MaxLayers)
		r.FailIf(int64(n)*int64(high)*int64(low+1) > MaxLayers, document.ErrValue, "num_hidden_layers", n, "with H_cycles and L_cycles at most %d attentions", MaxLayers)
		n *= high * (low + 1)
	}
	if r.Err != nil {
		return nil
	}
	return everyLayer(r, n)
}

// dotsLayers: layers without sliding attention have an indexer, unless use_dsa is false.
func dotsLayers(r *document.Reader, n int) []string {
	other := "indexed_attention"
	if use, ok := r.Boolean("use_dsa"); ok && !use {
		other = "full_attention"
	}
	slides, given := r.Boolean("use_sliding_window")
	types := all(other)(r, n)
	for i := range types {
		if (slides || !given) && i >= 2 && i%4 != 1 {
			types[i] = "sliding_attention"
		}
	}
	return types
}

// miniMaxM3Layers: sparse_attention_freq has 1 for layers with an indexer.
func miniMaxM3Layers(r *document.Reader, n int) []string {
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
func qwen4Layers(r *document.Reader, n int) []string {
	types := lastOf("full_attention_interval", 4, "linear_attention")(r, n)
	for i := range types {
		if types[i] == "full_attention" {
			types[i] = "indexed_attention"
		}
	}
	return types
}

func laraLayers(_ *document.Reader, n int) []string {
	types := make([]string, n)
	for i := range types {
		types[i] = [...]string{"linear_attention", "sliding_attention", "linear_attention", "full_attention", "sliding_attention"}[i%5]
	}
	return types
}

// mllamaLayers: layers of cross attention do not rotate.
func mllamaLayers(r *document.Reader, n int) []description.Layer {
	layers := everyLayer(r, n)
	cross, ok := r.Integers("cross_attention_layers")
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

// deepSeekV4Layers: layers with sliding attention have the main frequencies, the others the ones of the
// compressed sequence. Layers that compress it to a quarter have an indexer.
func deepSeekV4Layers(r *document.Reader, n int) []description.Layer {
	layers := typed(func(r *document.Reader, n int) []string {
		types := all("heavily_compressed_attention")(r, n)
		ratios, ok := r.Integers("compress_ratios")
		if ok && len(ratios) < n {
			r.Fail(document.ErrContradiction, "compress_ratios", document.ListText(len(ratios)), "one entry for each of %d layers", n)
			return types
		}
		for i := range types {
			switch {
			case ok && ratios[i] == 0:
				types[i] = "sliding_attention"
			case ok && ratios[i] == description.SparseRatio, !ok && i >= 2 && i%2 == 1:
				types[i] = "compressed_sparse_attention"
			}
		}
		return types
	})(r, n)
	for i := range layers {
		if layers[i].Kind == "compressed_sparse_attention" {
			layers[i].Indexer = true
		}
		if layers[i].Kind == "sliding_attention" {
			layers[i].Kind = "main"
		} else {
			layers[i].Kind = "compress"
		}
	}
	return layers
}

// The checks and rules of single types follow.

// roFormer: the base is 10000, and values rotate too if rotary_value says so.
func roFormer(r *document.Reader) {
	unscaled(r)
	r.MustBe(false, document.ErrUnknown, "false: rotate the values too, with the same posenc.RotaryConfig, and remove the key", "rotary_value")
}

// beamRope: layers with full attention do not rotate.
func beamRope(r *document.Reader) {
	r.FailIf(r.Has("rope_parameters.full_attention"), document.ErrUnknown, "rope_parameters.full_attention", document.KindOf(r.Lookup("rope_parameters.full_attention")), "null: in this type, layers of full attention do not rotate")
}

// sparseAttention: MiniMax M3 has the sizes of its indexers in an object of their own.
func sparseAttention(r *document.Reader) {
	inner, inside := r.Integer("sparse_attention_config.sparse_index_dim")
	beside, given := r.Integer("index_head_dim")
	if inside && given && inner != beside {
		r.Fail(document.ErrContradiction, "index_head_dim", beside, "sparse_attention_config.sparse_index_dim, which is %d", inner)
	}
	if inside && !given {
		r.Keys = maps.Clone(r.Keys)
		r.Keys["index_head_dim"] = json.Number(strconv.Itoa(inner))
	}
}

// qwenIndexers: if there are indexers, the layers of kind full_attention have them.
func qwenIndexers(r *document.Reader) {
	if _, ok := r.Texts("layer_types"); !ok {
		return
	}
	list, _ := r.Keys["layer_types"].([]any)
	renamed := slices.Clone(list)
	for i, t := range renamed {
		if t == "full_attention" || t == "attention" {
			renamed[i] = "indexed_attention"
		}
	}
	r.Keys = maps.Clone(r.Keys)
	r.Keys["layer_types"] = renamed
}

// positionType fails unless the key has the value with which the type rotates.
func positionType(rotary, absent string) func(r *document.Reader) {
	return func(r *document.Reader) {
		t, ok := r.Text("position_embedding_type")
		if !ok {
			t = absent
		}
		r.FailIf(t != rotary, document.ErrNotRotary, "position_embedding_type", document.Quoted(t), "%q", rotary)
	}
}

// unscaled: the code of the type reads no rope parameters.
func unscaled(r *document.Reader) {
	for _, key := range []string{"rope_scaling", "rope_parameters"} {
		if rope, ok := r.Object(key); ok && len(rope) > 0 {
			r.Fail(document.ErrUnknown, key, "an object", "no such key: models of this type have base 10000 and no scaling (use posenc.RotaryConfig)")
		}
	}
}

func slidingWindow(r *document.Reader) {
	if _, null := r.Keys["sliding_window"]; null && !r.Has("sliding_window") {
		r.Fail(document.ErrNotRotary, "sliding_window", "null", "a number: layers without a window do not rotate")
	}
}

func baichuan7B(r *document.Reader) {
	if hidden, ok := r.Integer("hidden_size"); ok && hidden != 4096 {
		r.Fail(document.ErrNotRotary, "hidden_size", hidden, "4096 (the 7B models): the others have %s", ALiBi)
	}
}

// zamba2: heads are twice as wide, because the residual stream is joined to the embeddings.
func zamba2(r *document.Reader) {
	if use, ok := r.Boolean("use_mem_rope"); !ok || !use {
		r.Fail(document.ErrNotRotary, "use_mem_rope", document.KindOf(r.Lookup("use_mem_rope")), "true")
	}
	r.MustBe(false, document.ErrUnknown, "false: its rescaled base is not in the configuration (use posenc.RotaryConfig)", "use_long_context")
	hidden, heads := r.IntegerOr([]string{"hidden_size"}, 2560), r.IntegerOr([]string{"num_attention_heads"}, 32)
	dim := r.IntegerOr([]string{"attention_head_dim"}, 160)
	r.FailIf(dim*heads != 2*hidden, document.ErrContradiction, "attention_head_dim", dim, "2*hidden_size/num_attention_heads, of %d and %d", hidden, heads)
}

// longcatAttentions: a layer has two attentions. Beside num_layers, num_hidden_layers counts attentions.
func longcatAttentions(r *document.Reader, n int) []description.Layer {
	r.FailIf(n > MaxLayers/2, document.ErrValue, "num_layers", n, "from 1 to %d", MaxLayers/2)
	if attentions, ok := r.Integer("num_hidden_layers"); ok && r.Has("num_layers") && attentions != 2*n {
		r.Fail(document.ErrContradiction, "num_hidden_layers", attentions, "2*num_layers, which is %d", 2*n)
	}
	return everyLayer(r, 2*n)
}

// chatGLM: three generations of models have this type. ChatGLM2 divides positions by
// rope_ratio; ChatGLM3 and GLM-4 multiply the base by it. ChatGLM2 and ChatGLM3 both have 28
// layers, so that only the name tells them apart.
func chatGLM(r *document.Reader) {
	r.MustBe(false, document.ErrUnknown, "false: ChatGLM-6B, with positions of two axes, is not read (use posenc.RotaryConfig)", "position_encoding_2d")
	name, _ := r.Text("_name_or_path")
	name = strings.ToLower(name)
	ratio, ok := r.Number("rope_ratio")
	if !ok || ratio == 1 {
		return
	}
	switch {
	case strings.Contains(name, "chatglm2"):
		r.Fail(document.ErrUnknown, "rope_ratio", ratio, "1: ChatGLM2 divides positions by it where later models multiply the base (use frequency.Linear)")
	case r.IntegerOr(chatGLMs.Layers, 28) == 28 && !strings.Contains(name, "chatglm3"):
		r.Fail(document.ErrContradiction, "rope_ratio", ratio, "1, or chatglm3 in _name_or_path, which is %s: models of 28 layers are ChatGLM3, whose base it multiplies, or ChatGLM2, whose positions it divides (for that use frequency.Linear)", document.Quoted(name))
	}
}

func usesMLA(r *document.Reader) {
	r.MustBe(true, document.ErrUnknown, "true: DeepSeek V2 without latent attention is not read (use posenc.RotaryConfig)", "use_mla")
}

// withoutMLA: HunYuan's files have the keys of latent attention and do not use it.
func withoutMLA(r *document.Reader) {
	r.MustBe(false, document.ErrUnknown, "false: HunYuan with latent attention is not read (use posenc.RotaryConfig)", "use_mla")
	r.Integer("qk_rope_head_dim")
}

// namedBase: the base of XVERSE is in the code published with each model.
func namedBase(r *document.Reader) {
	r.FailIf(!r.Has("rope_theta") && !r.Has("rope_parameters.rope_theta"),
		document.ErrValue, "rope_theta", "absent", "the base in the model's own code: 10000, or 500000 with dynamic scaling for XVERSE-13B-256K")
}

func ernieAxes(r *document.Reader) {
	r.MustBe(true, document.ErrUnknown, "true (leave Axes nil in posenc.RotaryConfig)", "rope_3d")
	if n, ok := r.Integer("freq_allocation"); ok && n != 20 {
		r.Fail(document.ErrUnknown, "freq_allocation", n, "20 (set Axes in posenc.RotaryConfig)")
	}
}

// nomicDynamicNTK: the factor is for sequences beyond max_trained_positions.
func nomicDynamicNTK(p *RopeParameters) description.Rule {
	factor, ok := p.Model.Positive("rotary_scaling_factor")
	if !ok {
		return description.Rule{}
	}
	p.Model.FailIf(p.RopeType != "default", document.ErrContradiction, "rotary_scaling_factor", factor, "no such key together with rope_type %s", p.RopeType)
	return description.DynamicNTK(p.RotaryDim, p.Base, factor, p.Positions)
}

// defaultRuleOnly: Spark 2.5 reads no rule from its rope parameters.
func defaultRuleOnly(p *RopeParameters) description.Rule {
	p.FailIf(p.RopeType != "default", document.ErrUnknown, "rope_type", document.Quoted(p.RopeType), "default: the code of this type has no other rule")
	return description.Rule{}
}

// qwenDynamicNTK: with use_dynamic_ntk, alpha is 2k-1 for a sequence of up to k times the
// trained length, where k is the next power of two.
func qwenDynamicNTK(p *RopeParameters) description.Rule {
	if use, ok := p.Model.Boolean("use_dynamic_ntk"); !ok || !use {
		return description.Rule{}
	}
	dim, base, positions := p.RotaryDim, p.Base, p.Positions
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
	return description.Rule{Ladder: ladder, Trained: positions, Described: description.FrequencyRule{Name: "dynamic NTK of Qwen", Base: base}}
}

// fourierKept: the first num_inv_freq, or those with a wavelength below the longest sequence, of the
// float32 numbers.
func fourierKept(p *RopeParameters) int {
	_, factor := p.Number("fope_init_factor")
	_, apart := p.Boolean("fope_sep_head")
	kept, given := p.Integer("num_inv_freq")
	if !factor && !apart && !given || p.Err != nil {
		return 0
	}
	p.FailIf(p.RopeType != "default", document.ErrUnknown, "rope_type", document.Quoted(p.RopeType), "\"default\" together with keys of FoPE (use Rotary.CosSinFourier with InvFreq from the model's own code)")
	ladder, err := frequency.Default(p.RotaryDim, p.Base, frequency.Float32)
	p.FailIf(err != nil, document.ErrValue, "rope_theta", p.Base, "a base of float32 frequencies")
	least := float64(float32(2 * math.Pi / float64(max(p.Positions, 1))))
	for !given && kept < len(ladder.InvFreq) && ladder.InvFreq[kept] > least {
		kept++
	}
	p.FailIf(kept < 1 && given, document.ErrValue, "num_inv_freq", kept, "at least 1")
	p.FailIf(kept < 1 && !given, document.ErrValue, "num_inv_freq", "absent", "a number, because no wavelength is below max_position_embeddings")
	return min(kept, len(ladder.InvFreq))
}

// MaxLayers bounds what a configuration makes us allocate.
const MaxLayers = 1 << 14
