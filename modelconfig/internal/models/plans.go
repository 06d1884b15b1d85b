package models

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
)

func always(*document.Reader) bool { return true }

func withoutRopeBlock(r *document.Reader) bool {
	scaling, _ := r.Object("rope_scaling")
	return !r.Has("rope_parameters") && len(scaling) == 0
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
	return rotatingWhere(n, func(int) bool { return true })
}

func rotatingWhere(n int, rotates func(i int) bool) []description.Layer {
	layers := make([]description.Layer, n)
	for i := range layers {
		layers[i].Rotates = rotates(i)
	}
	return layers
}

// attentions are the types of layers with attention.
var attentions = []string{
	"full_attention", "sliding_attention", "chunked_attention", "window_attention", "indexed_attention", "compressed_sparse_attention",
	"heavily_compressed_attention", "minimax_m3_sparse", "hybrid", "hybrid_sliding", "reference_sliding_attention",
}

// letters stand for types of layers in LayerTypesRule.Pattern.
var letters = [...]string{
	'C': "conv", 'F': "full_attention", 'I': "indexed_attention", 'L': "linear_attention", 'M': "minimax_m3_sparse", 'S': "sliding_attention",
}

// patterned returns the types of n layers. In FF(SSSF)F the first two have full attention, those within the
// parentheses repeat, and the last has full attention in any case.
func patterned(pattern string, n int) []string {
	first, rest, _ := strings.Cut(pattern, "(")
	repeated, last, _ := strings.Cut(rest, ")")
	types := make([]string, n)
	for i := range types {
		switch {
		case last != "" && i == n-1:
			types[i] = letters[last[0]]
		case i < len(first):
			types[i] = letters[first[i]]
		default:
			types[i] = letters[repeated[(i-len(first))%len(repeated)]]
		}
	}
	return types
}

// named returns layers of these kinds. Those of the rotating kinds rotate, or all if none is named.
func named(types []string, rotating ...string) []description.Layer {
	layers := make([]description.Layer, len(types))
	for i, t := range types {
		layers[i] = description.Layer{Kind: t, Rotates: rotating == nil || slices.Contains(rotating, t)}
	}
	return layers
}

// typesOf reads layer_types (or its older name), of the known types, or takes the types that the class takes.
func typesOf(r *document.Reader, n int, absent func(r *document.Reader, n int) []string, known ...string) []string {
	key := r.Spelling([]string{"layer_types", "layers_block_type"})
	types, ok := r.Texts(key)
	if !ok {
		return absent(r, n)
	}
	if !r.OneEach(key, len(types), n) {
		return nil
	}
	for i, t := range types {
		switch t { // as transformers renames them
		case "attention":
			types[i] = "full_attention"
		case "mamba", "recurrent":
			types[i] = "linear_attention"
		case "deepseek_sparse_attention", "qwen_sparse_attention":
			types[i] = "indexed_attention"
		}
		r.FailIf(!slices.Contains(known, types[i]), document.ErrUnknown, fmt.Sprintf("%s[%d]", key, i), document.Quoted(t), "one of %q, the layers of this model type", known)
	}
	return types
}

func interval(r *document.Reader, key string, absent int) int {
	every, ok := r.Integer(key)
	if ok && every >= 1 {
		return every
	}
	r.FailIf(r.IsNull(key), document.ErrValue, key, "null", "a number, or no such key, which means %d", absent)
	r.FailIf(ok, document.ErrValue, key, every, "at least 1")
	return absent
}

// either returns the types of n layers: one where is holds, another elsewhere.
func either(n int, one, another string, is func(i int) bool) []string {
	types := slices.Repeat([]string{another}, n)
	for i := range types {
		if is(i) {
			types[i] = one
		}
	}
	return types
}

// lastOf gives the last layer of each interval full attention.
func lastOf(r *document.Reader, n int, key string, absent int, others string) []string {
	every := interval(r, key, absent)
	return either(n, "full_attention", others, func(i int) bool { return (i+1)%every == 0 })
}

func indexed(r *document.Reader, n int, key, others, absent string) []string {
	numbers, ok := r.Integers(key)
	if !ok {
		return slices.Repeat([]string{absent}, n)
	}
	for _, i := range numbers {
		r.FailIf(i < 0 || i >= n, document.ErrValue, key, i, "from 0 to %d", n-1)
	}
	return either(n, "full_attention", others, func(i int) bool { return slices.Contains(numbers, i) })
}

func flagged(r *document.Reader, key string, n int) []int {
	flags, _ := r.Integers(key)
	if len(flags) == 0 || !r.OneEach(key, len(flags), n) {
		return nil
	}
	for i, flag := range flags {
		r.FailIf(flag != 0 && flag != 1, document.ErrValue, fmt.Sprintf("%s[%d]", key, i), flag, "0 or 1")
	}
	return flags
}

// ropeFlags reads no_rope_layers; without it, the last layer of each interval does not rotate.
// Code of some types takes an empty list for none.
func ropeFlags(absent int, emptyIsNone bool) plan {
	return func(r *document.Reader, n int) []description.Layer {
		list, given := r.Integers("no_rope_layers")
		r.FailIf(given && len(list) == 0 && !emptyIsNone, document.ErrValue, "no_rope_layers", document.ListText(0), "one entry for each of %d layers, or no such key", n)
		flags, every := flagged(r, "no_rope_layers", n), interval(r, "no_rope_layer_interval", absent)
		return rotatingWhere(n, func(i int) bool { return flags == nil && (i+1)%every != 0 || flags != nil && flags[i] == 1 })
	}
}

// exaone4Layers: global layers do not rotate if there are local ones. sliding_window_pattern
// is a number, or letters such as LLLG.
func exaone4Layers(r *document.Reader, n int) []description.Layer {
	if r.IsNull("sliding_window") {
		return everyLayer(r, n)
	}
	const key = "sliding_window_pattern"
	pattern, isText := r.Lookup(key).(string)
	return named(typesOf(r, n, func(r *document.Reader, n int) []string {
		if !isText {
			return lastOf(r, n, key, 4, "sliding_attention")
		}
		r.FailIf(pattern == "" || strings.Trim(pattern[:min(n, len(pattern))], "LG") != "", document.ErrValue, key, document.Quoted(pattern), "the letters L and G")
		return either(n, "full_attention", "sliding_attention", func(i int) bool { return pattern != "" && pattern[i%len(pattern)] == 'G' })
	}, description.FullAttention, description.SlidingAttention), description.SlidingAttention)
}

// gemma3Layers: transformers writes _sliding_window_pattern, and does not read it.
func gemma3Layers(r *document.Reader, n int) []string {
	const key, written = "sliding_window_pattern", "_sliding_window_pattern"
	every := interval(r, key, 6)
	own, given := r.Integer(written)
	r.FailIf(given && own != every, document.ErrContradiction, written, own, "%s, which is %d, or layer_types: transformers does not read this key", key, every)
	return lastOf(r, n, key, 6, "sliding_attention")
}

// gemma4Layers: the last layer has full attention, even where the list says otherwise.
func gemma4Layers(r *document.Reader, n int) []description.Layer {
	types := typesOf(r, n, func(_ *document.Reader, n int) []string { return patterned("(SSSSSF)", n) }, description.FullAttention, description.SlidingAttention)
	if len(types) > 0 {
		types[n-1] = "full_attention"
	}
	return named(types)
}

// olmoHybridLayers: every fourth layer attends, of fewer than four the last.
func olmoHybridLayers(_ *document.Reader, n int) []string {
	return either(n, description.FullAttention, linearAttention, func(i int) bool { return i%4 == 3 || n < 4 && i == n-1 })
}

func recurrentBlocks(r *document.Reader, n int) []string {
	blocks, _ := r.Texts("block_types")
	if len(blocks) == 0 {
		blocks = []string{"recurrent", "recurrent", "attention"}
	}
	return either(n, "linear_attention", "sliding_attention", func(i int) bool { return blocks[i%len(blocks)] == "recurrent" })
}

// zambaLayers: the class of Zamba2 has 54 layers, of which these are hybrid.
func zambaLayers(r *document.Reader, n int) []string {
	r.FailIf(n != 54, document.ErrContradiction, "num_hidden_layers", n, "54, or layers_block_type to say which layers attend")
	hybrid := []int{6, 12, 18, 24, 30, 36, 42, 47, 51}
	return either(n, "hybrid", "linear_attention", func(i int) bool { return slices.Contains(hybrid, i) })
}

// cohereMoE: layers with a window rotate, and the leading dense ones if their own pattern is 1.
func cohereMoE(r *document.Reader, n int) []description.Layer {
	dense := r.IntegerOr([]string{"first_k_dense_replace"}, 0)
	r.FailIf(dense < 0 || dense > n, document.ErrValue, "first_k_dense_replace", dense, "from 0 to %d", n)
	prefix, rest := interval(r, "prefix_dense_sliding_window_pattern", 1), interval(r, "sliding_window_pattern", 4)
	layers := named(typesOf(r, n, func(_ *document.Reader, n int) []string {
		return either(n, "full_attention", "sliding_attention", func(i int) bool {
			return i < dense && (i+1)%prefix == 0 || i >= dense && (i-dense+1)%rest == 0
		})
	}, description.FullAttention, description.SlidingAttention), description.SlidingAttention)
	kinds, ok := r.Texts("mlp_layer_types")
	if ok && !r.OneEach("mlp_layer_types", len(kinds), n) || r.Err != nil {
		return nil
	}
	for i := range layers {
		isDense := ok && kinds[i] == "dense" || !ok && i < dense
		layers[i].Rotates = layers[i].Rotates || isDense && prefix == 1
	}
	return layers
}

// blockLayers: in Nemotron NAS some layers have no attention, or a matrix in its place.
func blockLayers(r *document.Reader, n int) []description.Layer {
	blocks, _ := r.Lookup("block_configs").([]any)
	r.FailIf(len(blocks) != n, document.ErrContradiction, "block_configs", document.KindOf(r.Lookup("block_configs")), "one object for each of %d layers", n)
	return rotatingWhere(min(n, len(blocks)), func(i int) bool {
		block, _ := blocks[i].(document.Object)
		attention, ok := block["attention"].(document.Object)
		r.FailIf(!ok, document.ErrValue, fmt.Sprintf("block_configs[%d].attention", i), document.KindOf(block["attention"]), "an object")
		return attention["no_op"] != true && attention["replace_with_linear"] != true
	})
}

// worded reads a list with a word of a type's own for each layer.
func worded(r *document.Reader, key string, n int, words []string) []string {
	names, _ := r.Texts(key)
	if !r.OneEach(key, len(names), n) {
		return nil
	}
	for i, name := range names {
		r.FailIf(!slices.Contains(words, name), document.ErrUnknown, fmt.Sprintf("%s[%d]", key, i), document.Quoted(name), "one of %q", words)
	}
	return names
}

// wholeBase: the code cuts a base to a whole number.
func wholeBase(r *document.Reader) {
	r.Integer("rope_theta")
	r.Integer("rope_parameters.rope_theta")
}

func jetTypes(r *document.Reader, n int) []string {
	wholeBase(r)
	return worded(r, "layer_types", n, []string{"attn", "jet", "swa"})
}

// plamo3Layers: interleaved_sliding_window has null for full attention.
func plamo3Layers(r *document.Reader, n int) []string {
	const key = "interleaved_sliding_window"
	if !r.Has(key) {
		return lastOf(r, n, "sliding_window_pattern", 8, "sliding_attention")
	}
	windows, ok := r.Lookup(key).([]any)
	r.FailIf(!ok || len(windows) != n, document.ErrContradiction, key, document.KindOf(r.Lookup(key)), "one entry for each of %d layers", n)
	return either(n, "full_attention", "sliding_attention", func(i int) bool { return i < len(windows) && windows[i] == nil })
}

// plamo2Layers: of mamba_step layers the middle one attends. full_attention_idx has the numbers of those without a window.
func plamo2Layers(r *document.Reader, n int) []string {
	every, mamba := interval(r, "mamba_step", 2), r.Flag("mamba_enabled", true)
	types := indexed(r, n, "full_attention_idx", "sliding_attention", "sliding_attention")
	for i := range types {
		attends := n > every/2 && i%every == every/2 || n <= every/2 && i == n-1
		if !attends && mamba {
			types[i] = "linear_attention"
		}
	}
	return types
}

// iquestLayers: the first layers, a block that repeats, and the last. no_rope_layers has the numbers of layers that do not
// rotate.
func iquestLayers(r *document.Reader, n int) []description.Layer {
	list := func(key string, absent ...string) []string {
		if names, ok := r.Texts(key); ok {
			return names
		}
		return absent
	}
	const f, s = description.FullAttention, description.SlidingAttention
	types := patterned("(F)", n)
	if r.Flag("use_hybrid_layers", true) {
		block, times := list("hybrid_layers_types_block", f, s, s, s), r.IntegerOr([]string{"num_hybrid_layers_block"}, 21)
		most := n / max(1, len(block))
		r.FailIf(times < 0 || times > most, document.ErrValue, "num_hybrid_layers_block", times, "from 0 to %d", most)
		types = slices.Concat(list("first_layers_types", f), slices.Repeat(block, max(0, min(times, most))), list("last_layers_types", f, f, f))
		r.FailIf(len(types) != n, document.ErrContradiction, "num_hidden_layers", n, "the %d layers of first_layers_types, hybrid_layers_types_block and last_layers_types", len(types))
	}
	if !r.Flag("use_sliding_window", true) || r.IsNull("sliding_window") {
		types = patterned("(F)", n)
	}
	layers := named(types[:min(n, len(types))])
	for i := range layers {
		r.FailIf(types[i] != f && types[i] != s, document.ErrUnknown, "hybrid_layers_types_block", document.Quoted(types[i]), "full_attention or sliding_attention")
	}
	unrotated, _ := r.Integers("no_rope_layers")
	for _, i := range unrotated {
		r.FailIf(i < 0 || i >= n, document.ErrValue, "no_rope_layers", i, "numbers of layers, from 0 to %d", n-1)
		if i >= 0 && i < len(layers) {
			layers[i].Rotates = false
		}
	}
	return layers
}

// iquestTarget: a draft has the keys of its target_config that it leaves out, other than those about windows and layers.
func iquestTarget(r *document.Reader) {
	target, _ := r.Object("target_config")
	base, given := r.Keys["swa_rope_theta"]
	keys := document.Object{} // a null has a meaning of its own
	maps.Copy(keys, target)
	for _, key := range []string{"model_type", "num_hidden_layers", "no_rope_layers", "sliding_window", "swa_rope_theta"} {
		delete(keys, key)
	}
	maps.Copy(keys, r.Keys)
	if given && base == nil {
		keys["swa_rope_theta"] = target["swa_rope_theta"]
	}
	delete(keys, "target_config")
	r.Keys = keys
}

// iquestDraft: the only layer has a window, unless sliding_window is 0 or null.
func iquestDraft(r *document.Reader, n int) []description.Layer {
	window := r.IntegerOr([]string{"sliding_window"}, 512)
	r.FailIf(n != 1, document.ErrValue, "num_hidden_layers", n, "1: the draft has one layer")
	r.FailIf(window < 0, document.ErrValue, "sliding_window", window, "at least 0")
	unrotated, _ := r.Integers("no_rope_layers")
	r.FailIf(len(unrotated) > 0, document.ErrUnknown, "no_rope_layers", document.ListText(len(unrotated)), "an empty list: the layer of the draft rotates")
	kind := description.SlidingAttention
	if window == 0 || r.IsNull("sliding_window") {
		kind = description.FullAttention
	}
	return named([]string{kind})
}

// museDraft: the layers of the draft all rotate, or none does. Its code reads no rope parameters.
func museDraft(r *document.Reader) {
	mode, given := r.Text("draft_position_mode")
	r.FailIf(given && mode != "rope", document.ErrNotRotary, "draft_position_mode", document.Quoted(mode), "\"rope\"")
	r.MustLack("null: all layers of the draft rotate, by rope_theta alone", "rope_parameters", "rope_scaling", "every_n_layers_nope", "layer_rope_theta")
}

// museLayers: every fourth layer from the last does not rotate, unless layer_rope_theta says so.
func museLayers(r *document.Reader, n int) []description.Layer {
	return rotatingWhere(n, func(i int) bool { return r.Has("layer_rope_theta") || (n-1-i)%4 != 0 })
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
	if !r.Flag("use_dsa", true) {
		other = "full_attention"
	}
	slides := r.Flag("use_sliding_window", true)
	return either(n, "sliding_attention", other, func(i int) bool { return slides && i >= 2 && i%4 != 1 })
}

// mllamaLayers: layers of cross attention do not rotate.
func mllamaLayers(r *document.Reader, n int) []description.Layer {
	cross, ok := r.Integers("cross_attention_layers")
	if !ok {
		cross = []int{3, 8, 13, 18, 23, 28, 33, 38}
	}
	return rotatingWhere(n, func(i int) bool { return !slices.Contains(cross, i) })
}

// deepSeekV41Layers: layers whose ratio is 0, or that have none, have the main frequencies. A list has the numbers of the layers
// with indexers; the others that compress take the tokens that those chose.
func deepSeekV41Layers(r *document.Reader, n int) []description.Layer {
	ratios, _ := r.Integers("compress_ratios")
	sources, _ := r.Integers("index_source_layer_ids")
	layers := everyLayer(r, n)
	for i := range layers {
		layers[i].Kind = "main"
		if i < len(ratios) && ratios[i] != 0 {
			layers[i].Kind = "compress"
			r.FailIf(ratios[i] != 1 && ratios[i] != 2, document.ErrUnknown, fmt.Sprintf("compress_ratios[%d]", i), ratios[i], "0, 1 or 2; deepseek_v4 is the type of models with other ratios")
			r.FailIf(!slices.ContainsFunc(sources, func(source int) bool { return source <= i }), document.ErrContradiction, "index_source_layer_ids", document.ListText(len(sources)), "a layer up to %d, which compresses", i)
		}
	}
	for _, i := range sources {
		if i < 0 || i >= n {
			continue // of a layer that drafts
		}
		layers[i].Indexer = true
		r.FailIf(layers[i].Kind == "main", document.ErrContradiction, "index_source_layer_ids", i, "layers that compress")
	}
	return layers
}

// deepSeekV4Layers: layers with sliding attention have the main frequencies, the others the ones of the
// compressed sequence. Layers that compress it to a quarter have an indexer.
func deepSeekV4Layers(r *document.Reader, n int) []description.Layer {
	const quarter = "compressed_sparse_attention"
	layers := named(typesOf(r, n, func(r *document.Reader, n int) []string {
		types := slices.Repeat([]string{"heavily_compressed_attention"}, n)
		ratios, ok := r.Integers("compress_ratios")
		if ok && len(ratios) < n {
			r.OneEach("compress_ratios", len(ratios), n)
			return types
		}
		for i := range types {
			switch {
			case ok && ratios[i] == 0:
				types[i] = "sliding_attention"
			case ok && ratios[i] == description.SparseRatio, !ok && i >= 2 && i%2 == 1:
				types[i] = quarter
			}
		}
		return types
	}, description.SlidingAttention, quarter, "heavily_compressed_attention"))
	for i, layer := range layers {
		layers[i].Kind, layers[i].Indexer = "compress", layer.Kind == quarter
		if layer.Kind == "sliding_attention" {
			layers[i].Kind = "main"
		}
	}
	return layers
}

// kimiK3Width: Q and K have a width of their own.
func kimiK3Width(r *document.Reader) {
	r.FailIf(r.IsNull("qkv_hidden_size"), document.ErrValue, "qkv_hidden_size", "null", "the width of Q and K, or no such key for 1536")
}

// neoXPositions: vLLM takes the order of pairs of Nemotron NAS from the kind of positions, SGLang does not.
func neoXPositions(r *document.Reader) {
	kind, _ := r.Text("position_embedding_type")
	r.FailIf(kind != "" && !strings.EqualFold(kind, "rope"), document.ErrUnknown, "position_embedding_type", document.Quoted(kind), "\"rope\" or no such key; for mistral_yarn and rope_llama4 vLLM rotates interleaved pairs (use posenc.RotaryConfig, with Layout Interleaved)")
}

// stepVision: with a token for the whole image, rows and columns count from 1.
func stepVision(r *document.Reader) {
	r.MustBe(true, document.ErrNotRotary, "true: without it the tower has learned positions alone", "use_rope2d")
	r.MustBe(false, document.ErrUnknown, "false: with a class token, rows and columns count from 1, and the token has none (use posenc.RotaryConfig)", "use_cls_token")
}

// roFormer: the base is 10000, and values rotate too if rotary_value says so.
func roFormer(r *document.Reader) {
	unscaled(r)
	r.MustBe(false, document.ErrUnknown, "false: rotate the values too, with the same posenc.RotaryConfig, and remove the key", "rotary_value")
}

// beamRope: layers with full attention do not rotate.
func beamRope(r *document.Reader) {
	r.MustLack("null: in this type, layers of full attention do not rotate", "rope_parameters.full_attention")
	rope, given := r.Object("rope_parameters")
	_, there := rope["full_attention"]
	r.FailIf(given && !there, document.ErrValue, "rope_parameters.full_attention", "absent", "null, which the code of this type looks for")
}

// sparseAttention: MiniMax M3 has the sizes of its indexers in an object of their own.
func sparseAttention(r *document.Reader) {
	inner, inside := r.Integer("sparse_attention_config.sparse_index_dim")
	beside, given := r.Integer("index_head_dim")
	r.FailIf(inside && given && inner != beside, document.ErrContradiction, "index_head_dim", beside, "sparse_attention_config.sparse_index_dim, which is %d", inner)
	if inside && !given {
		r.Set("index_head_dim", json.Number(strconv.Itoa(inner)))
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
	r.Set("layer_types", renamed)
}

// unscaled: the code of the type reads no rope parameters.
func unscaled(r *document.Reader) {
	for _, key := range []string{"rope_scaling", "rope_parameters"} {
		rope, _ := r.Object(key)
		r.FailIf(len(rope) > 0, document.ErrUnknown, key, "an object", "no such key: models of this type have base 10000 and no scaling (use posenc.RotaryConfig)")
	}
}

// countPatches: Chronos-2 has a token for each patch of its context and of its forecast, and one between them
// by use_reg_token.
func countPatches(r *document.Reader) {
	r.MustLack("no such key: the code of this type reads rope_theta alone (use posenc.RotaryConfig)",
		"rope_scaling", "rope_parameters")
	r.Object("chronos_config") // fails for what is none
	patch, ok := r.Integer("chronos_config.input_patch_stride")
	if !ok {
		return
	}
	r.FailIf(patch < 1, document.ErrValue, "chronos_config.input_patch_stride", patch, "at least 1")
	context, _ := r.Integer("chronos_config.context_length")
	tokens := max(context, 0)/max(patch, 1) + max(r.IntegerOr([]string{"chronos_config.max_output_patches"}, 1), 0)
	if r.Flag("chronos_config.use_reg_token", false) {
		tokens++
	}
	r.Set("max_position_embeddings", json.Number(strconv.Itoa(max(tokens, 1))))
}

// mptRope brings the keys of MPT into the usual form. Without attn_config.rope the code has ALiBi, or learned positions.
func mptRope(r *document.Reader) {
	const config = "attn_config."
	rope, given := r.Boolean(config + "rope")
	for _, key := range []string{"alibi", "alibi_bias_max", "rope_impl", "rope_dail_config", "rope_hf_config"} {
		r.Lookup(config + key)
	}
	r.Lookup("learned_pos_emb") // off where heads rotate
	if !rope {
		positions := ALiBi
		if !r.Flag(config+"alibi", true) {
			positions = learned
		}
		key := document.RotationKey(r.Keys, func(key string) bool { return given && strings.HasPrefix(key, config) })
		r.FailIf(key != "", document.ErrContradiction, document.KeyName(key), document.KindOf(r.Lookup(key)),
			"attn_config.rope true with it, or no such key: the code has %s", positions)
		r.Fail(document.ErrNotRotary, config+"rope", document.KindOf(r.Lookup(config+"rope")),
			"true; else the code has %s", positions)
		return
	}
	list, _ := r.Keys["architectures"].([]any)
	for _, v := range list {
		name, _ := v.(string)
		r.FailIf(strings.HasPrefix(name, "Mpt"), document.ErrContradiction, "architectures", document.Quoted(name),
			"MPTForCausalLM where attn_config.rope is true: the class of transformers has %s in any case", ALiBi)
	}
	r.FailIf(r.Flag(config+"alibi", false), document.ErrContradiction, config+"alibi", true,
		"false where attn_config.rope is true: the code would add ALiBi to the scores of rotated heads")
	overrides, _ := r.Object("block_overrides")
	r.FailIf(len(overrides) > 0, document.ErrUnknown, "block_overrides", "an object",
		"no such key: it may take the rotation away from layers (use posenc.RotaryConfig)")
	switch impl, _ := r.Text(config + "rope_impl"); impl {
	case "", "dail":
		kind, ok := r.Text(config + "rope_dail_config.type")
		r.FailIf(ok && kind != "original", document.ErrUnknown, config+"rope_dail_config.type", document.Quoted(kind),
			"\"original\": xPos is not read from configurations")
	case "hf":
		scaling, _ := r.Object(config + "rope_hf_config")
		if kind, _ := scaling["type"].(string); kind != "no_scaling" && len(scaling) > 0 {
			r.FailIf(kind != "linear" && kind != "dynamic", document.ErrUnknown, config+"rope_hf_config.type", document.KindOf(scaling["type"]),
				"\"no_scaling\", \"linear\" or \"dynamic\"")
			r.Set("rope_scaling", scaling)
		}
	default:
		r.Fail(document.ErrUnknown, config+"rope_impl", document.Quoted(impl), "\"dail\" or \"hf\"")
	}
}

func slidingWindow(r *document.Reader) {
	r.FailIf(r.IsNull("sliding_window"), document.ErrNotRotary, "sliding_window", "null", "a number: layers without a window do not rotate")
}

// windowGiven: without a window no layer rotates but dense ones.
func windowGiven(r *document.Reader) {
	r.FailIf(r.IsNull("sliding_window"), document.ErrUnknown, "sliding_window", "null", "a number: without a window the code of this type rotates no layers but dense ones")
}

func baichuan7B(r *document.Reader) {
	hidden := r.IntegerOr([]string{"hidden_size"}, 4096)
	r.FailIf(hidden != 4096, document.ErrNotRotary, "hidden_size", hidden, "4096 (the 7B models): the others have %s", ALiBi)
}

// zamba2: heads are twice as wide, because the residual stream is joined to the embeddings.
func zamba2(r *document.Reader) {
	r.FailIf(!r.Flag("use_mem_rope", false), document.ErrNotRotary, "use_mem_rope", document.KindOf(r.Lookup("use_mem_rope")), "true")
	r.MustBe(false, document.ErrUnknown, "false: its rescaled base is not in the configuration (use posenc.RotaryConfig)", "use_long_context")
	hidden, heads := r.IntegerOr([]string{"hidden_size"}, 2560), r.IntegerOr([]string{"num_attention_heads"}, 32)
	dim := r.IntegerOr([]string{"attention_head_dim"}, 160)
	r.FailIf(dim*heads != 2*hidden, document.ErrContradiction, "attention_head_dim", dim, "2*hidden_size/num_attention_heads, of %d and %d", hidden, heads)
}

// longcatAttentions: a layer has two attentions. Beside num_layers, num_hidden_layers counts attentions; alone it counts them
// in transformers, and layers in SGLang.
func longcatAttentions(r *document.Reader, n int) []description.Layer {
	r.FailIf(n > MaxLayers/2, document.ErrValue, "num_layers", n, "from 1 to %d", MaxLayers/2)
	attentions := r.IntegerOr([]string{"num_hidden_layers"}, 2*n)
	r.FailIf(attentions != 2*n && !r.Has("num_layers"), document.ErrValue, "num_layers", "absent", "the number of layers: some programs take num_hidden_layers, which is %d, for it, others for the number of attentions, of which a layer has two", attentions)
	r.FailIf(attentions != 2*n, document.ErrContradiction, "num_hidden_layers", attentions, "2*num_layers, which is %d", 2*n)
	return everyLayer(r, 2*n)
}

// headOfRotaryPart: transformers makes its angles for head_dim elements.
func headOfRotaryPart(r *document.Reader) {
	checkLatentHead(r, r.IntegerOr([]string{"qk_rope_head_dim"}, 64), "qk_rope_head_dim")
}

// headOf64: the same, and without a head_dim for 64.
func headOf64(r *document.Reader) {
	headOfRotaryPart(r)
	dim := r.IntegerOr([]string{"qk_rope_head_dim"}, 64)
	r.FailIf(dim != 64 && !r.Has("head_dim"), document.ErrValue, "head_dim", "absent", "%d, as qk_rope_head_dim: without it transformers makes angles for 64 elements", dim)
}

// headOfBothParts: the same, where partial_rotary_factor is the part that rotates.
func headOfBothParts(r *document.Reader) {
	scaling, _ := r.Object("rope_scaling")
	r.FailIf(len(scaling) > 0 && scaling["partial_rotary_factor"] == nil, document.ErrUnknown, "rope_scaling", "an object", "rope_parameters: to rope_scaling the class adds no partial_rotary_factor, and then makes angles for whole heads")
	checkLatentHead(r, r.IntegerOr([]string{"qk_rope_head_dim"}, 64)+r.IntegerOr([]string{"qk_nope_head_dim"}, 64), "qk_rope_head_dim and qk_nope_head_dim")
}

func checkLatentHead(r *document.Reader, dim int, by string) {
	r.FailIf(r.IsNull("head_dim"), document.ErrValue, "head_dim", "null", "%d, by %s, or no such key", dim, by)
	given, ok := r.Integer("head_dim")
	r.FailIf(ok && given != dim, document.ErrContradiction, "head_dim", given, "%d, by %s", dim, by)
}

// unlisted: the class has no such key.
func unlisted(r *document.Reader) {
	for _, key := range []string{"layer_types", "layers_block_type"} {
		v, given := r.Keys[key]
		r.FailIf(given, document.ErrUnknown, key, document.KindOf(v), "no such key: the class of this model type computes the types of its layers")
	}
}

// sectionsGiven: rope parameters that a file has need sections.
func sectionsGiven(r *document.Reader) {
	rope, given := r.Object("rope_parameters")
	r.FailIf(given && rope["mrope_section"] == nil, document.ErrValue, "rope_parameters.mrope_section", "absent", "three counts of pairs, which the class of this model type needs in rope parameters that a file has")
}

// wholeChannels: other programs than the models' own code do not read kv_channels.
func wholeChannels(r *document.Reader) {
	channels := r.IntegerOr([]string{"kv_channels"}, 128)
	hidden, heads := r.IntegerOr([]string{"hidden_size"}, 4096), r.IntegerOr([]string{"num_attention_heads"}, 32)
	r.FailIf(heads > 0 && channels*heads != hidden, document.ErrContradiction, "kv_channels", channels, "hidden_size/num_attention_heads, of %d and %d, which some programs take", hidden, heads)
}

// countedPart: transformers reads no part, other programs rotary_dim.
func countedPart(r *document.Reader) {
	for _, key := range []string{"rope_parameters.partial_rotary_factor", "rope_scaling.partial_rotary_factor"} {
		n := r.NumberOr(key, 1)
		r.FailIf(n != 1, document.ErrUnknown, key, n, "1 or no such key: the code of this type does not read it (rotary_dim counts the elements that rotate)")
	}
}

// chatGLM: three generations of models have this type. ChatGLM2 divides positions by
// rope_ratio; ChatGLM3 and GLM-4 multiply the base by it. ChatGLM2 and ChatGLM3 both have 28
// layers, so that only the name tells them apart.
func chatGLM(r *document.Reader) {
	wholeChannels(r)
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
	case r.IntegerOr([]string{"num_layers", "num_hidden_layers"}, 28) == 28 && !strings.Contains(name, "chatglm3"):
		r.Fail(document.ErrContradiction, "rope_ratio", ratio, "1, or chatglm3 in _name_or_path, which is %s: models of 28 layers are ChatGLM3, whose base it multiplies, or ChatGLM2, whose positions it divides (for that use frequency.Linear)", document.Quoted(name))
	}
}

// qwenBase: the code of Qwen 1 reads rotary_emb_base, vLLM rope_theta, and some files have both.
func qwenBase(r *document.Reader) {
	wholeChannels(r)
	theta, given := r.Number("rope_theta")
	base := r.NumberOr("rotary_emb_base", 1e4)
	r.FailIf(given && theta != base, document.ErrContradiction, "rope_theta", theta,
		"rotary_emb_base, which is %v: the model's own code reads that, and vLLM reads rope_theta", base)
}

// gteScale: queries are multiplied by ln(tokens of the sequence)/ln(max_position_embeddings).
func gteScale(r *document.Reader) {
	r.Boolean("logn_attention_clip1")
	r.MustBe(false, document.ErrUnknown, "false: the model's own code multiplies all queries of a sequence of n tokens by "+
		"ln(n)/ln(max_position_embeddings) (remove the key, and multiply them)", "logn_attention_scale")
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
	n := r.IntegerOr([]string{"freq_allocation"}, 20)
	r.FailIf(n != 20, document.ErrUnknown, "freq_allocation", n, "20 (set Axes in posenc.RotaryConfig)")
}

// joinedHead: the head of PanguProMoEV2 is the rotated part and the rest.
func joinedHead(r *document.Reader) {
	rotated, ok := r.Integer("qk_rope_dim")
	rest, also := r.Integer("qk_nope_dim")
	r.FailIf(!ok || !also, document.ErrValue, "qk_rope_dim and qk_nope_dim", "absent", "the two parts of a head")
	r.Set("head_dim", json.Number(strconv.Itoa(rotated+rest)))
}

// bailingLayers: full attention is in the last layer of each group. Ling's own code, and vLLM's, has it in layers
// after the last group, transformers has linear attention there.
func bailingLayers(r *document.Reader, n int) []string {
	const key = "layer_group_size"
	every := interval(r, key, 6)
	r.FailIf(n%every != 0 && !isLing25(r), document.ErrUnknown, key, every, "a divisor of the number of layers, which is %d, or layer_types: implementations disagree about the layers after the last group", n)
	return lastOf(r, n, key, 6, "linear_attention")
}

// cohereLength: where frequencies or the attention factor depend on the longest sequence, programs go by different keys.
func cohereLength(p *RopeParameters) description.Rule {
	length, given := p.Model.Integer("model_max_length")
	fixed := p.RopeType == "default" || p.RopeType == "linear" || p.RopeType == "ntk" || p.RopeType == "proportional"
	derived := !fixed && (p.RopeType == "dynamic" || p.RopeType == "longrope" || !p.Has("factor") || !p.Has("original_max_position_embeddings"))
	p.Model.FailIf(given && length != 0 && length != p.Positions && derived, document.ErrContradiction, "model_max_length", length, "max_position_embeddings, which is %d: for rope_type %s transformers goes by that, vLLM and SGLang by model_max_length, with dynamic up to it in vLLM and up to factor times it in SGLang", p.Positions, p.RopeType)
	return description.Rule{}
}

// unscaledPositions: Phi-3 small's own code multiplies positions by rope_position_scale, SGLang's divides.
func unscaledPositions(r *document.Reader) {
	scale := r.NumberOr("rope_position_scale", 1)
	r.FailIf(scale != 1, document.ErrUnknown, "rope_position_scale", scale, "1 or absent: the authors' code multiplies positions by it, and SGLang's divides (use frequency.Linear)")
}

// halfHeads: Grok rotates the first half of each head where rope_rotate_half_dims says so.
func halfHeads(r *document.Reader) {
	wholeBase(r) // in SGLang
	r.MustLack("no such key: models of this type have rope_rotate_half_dims", "partial_rotary_factor", "rotary_dim")
	if r.Flag("rope_rotate_half_dims", false) {
		r.Set("partial_rotary_factor", json.Number("0.5"))
	}
}

// MaxLayers bounds what a configuration makes us allocate.
const MaxLayers = 1 << 14

// sharedIndexers gives layers an indexer by indexer_types: "full", or "shared" for a layer that
// takes the tokens chosen by the layer before it. Without that list index_topk_pattern decides, or the
// schedule of GLM: every index_topk_freq-th layer from index_skip_topk_offset on. Only layers that
// rotate have an indexer that rotates.
func sharedIndexers(p plan) plan {
	return func(r *document.Reader, n int) []description.Layer {
		layers, types := p(r, n), indexerTypes(r, n)
		every, first := 1, 0
		if types == nil {
			every, first = max(r.IntegerOr([]string{"index_topk_freq"}, 1), 1), r.IntegerOr([]string{"index_skip_topk_offset"}, 2)
		}
		for i := range layers {
			has := types == nil && max(i-first+1, 0)%every == 0 || types != nil && types[i]
			layers[i].Indexer = has && layers[i].Rotates
		}
		return layers
	}
}

// hyV4Layers: absent, indexer_types has full for layer 0 and every fourth from 1 on.
func hyV4Layers(r *document.Reader, n int) []description.Layer {
	layers, has := everyLayer(r, n), []bool(nil)
	if r.Has("indexer_types") {
		has = indexerTypes(r, n)
	}
	for i := range layers {
		layers[i].Indexer = has == nil && (i == 0 || i%4 == 1) || has != nil && has[i]
	}
	types, ok := r.Texts("layer_types")
	if ok && !r.OneEach("layer_types", len(types), n) {
		return nil
	}
	for i, name := range types {
		sparse := []string{"deepseek_sparse_attention", "sparse_attention", "sparse", "indexed_attention"}
		r.FailIf(!slices.Contains(sparse, name), document.ErrUnknown, fmt.Sprintf("layer_types[%d]", i), document.Quoted(name), "one of %q: vLLM gives others no indexer, transformers does", sparse)
	}
	return layers
}

// indexerTypes says which layers have an indexer of their own. It is nil if no key says so.
func indexerTypes(r *document.Reader, n int) []bool {
	key, names := "indexer_types", []string(nil)
	if list, ok := r.Texts(key); ok {
		names = list
	} else {
		key = "index_topk_pattern"
		if letters, isText := r.Lookup(key).(string); isText {
			names = strings.Split(letters, "")
		} else if names, ok = r.Texts(key); !ok {
			return nil
		}
	}
	has := make([]bool, n)
	if len(names) != n {
		r.Fail(document.ErrContradiction, key, document.ListText(len(names)), "one entry for each of %d layers", n)
		return has
	}
	for i, name := range names {
		r.FailIf(!slices.Contains([]string{"full", "shared", "F", "S"}, name), document.ErrUnknown, fmt.Sprintf("%s[%d]", key, i), document.Quoted(name), "full or shared")
		has[i] = name == "full" || name == "F"
	}
	return has
}
