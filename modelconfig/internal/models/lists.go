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

// Some types give rope parameters for each layer: its base, the part of the head that
// rotates, or the numbers of the layers whose frequencies are scaled. Layers with the same
// frequencies become one kind.

// bases reads a list with the base of each layer, 0 for a layer that does not rotate.
func bases(r *document.Reader, key string, f *ModelType, layers []description.Layer) []KindDefaults {
	list, ok := r.Numbers(key)
	if !ok {
		return f.KindsOrOne()
	}
	if len(list) != len(layers) {
		r.Fail(document.ErrContradiction, key, document.ListText(len(list)), "one base for each of %d layers", len(layers))
		return nil
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(list)))
	distinct = slices.DeleteFunc(distinct, func(base float64) bool { return base == 0 })
	name := func(base float64) string {
		if len(distinct) < 2 {
			return ""
		}
		return "base " + strconv.FormatFloat(base, 'g', -1, 64)
	}
	for i, base := range list {
		r.FailIf(base != 0 && base <= 1, document.ErrValue, fmt.Sprintf("%s[%d]", key, i), base, "a number above 1, or 0 for a layer that does not rotate")
		layers[i].Rotates = layers[i].Rotates && base != 0
		layers[i].Kind = name(base)
	}
	r.FailIf(len(distinct) > maxBases, document.ErrValue, key, fmt.Sprintf("one of %d bases", len(distinct)), "at most %d different bases", maxBases)
	var kinds []KindDefaults
	for _, base := range distinct {
		kinds = append(kinds, KindDefaults{LayerType: name(base), FixedBase: base, BaseKeys: f.BaseKeys, Partial: f.Part, Scaled: true})
	}
	return kinds
}

// maxBases bounds for how many bases frequencies are computed.
const maxBases = 16

// rotatingBases takes from the list only which layers rotate. All that do have the base of the rope
// parameters.
func rotatingBases(r *document.Reader, key string, f *ModelType, layers []description.Layer) []KindDefaults {
	kinds := bases(r, key, f, layers)
	if len(kinds) == 1 && kinds[0].FixedBase != 0 {
		base := f.Base
		if own, ok := document.ToNumber(Parsed(f.Absent)["rope_theta"]); ok && withoutRopeBlock(r) {
			base = own
		}
		for _, given := range []string{"rope_theta", "rope_parameters.rope_theta", "rope_scaling.rope_theta"} {
			base = r.NumberOr(given, base)
		}
		r.FailIf(kinds[0].FixedBase != base, document.ErrContradiction, key, kinds[0].FixedBase, "rope_theta, which is %v, or 0, because models of this type have one base", base)
	}
	r.FailIf(len(kinds) > 1, document.ErrContradiction, key, "one of several bases", "one base, and 0 for layers that do not rotate, because models of this type have one base")
	return kinds
}

// scaledLayers reads the numbers of the layers whose frequencies are scaled; others are not.
func scaledLayers(r *document.Reader, key string, f *ModelType, layers []description.Layer) []KindDefaults {
	list, ok := r.Integers(key)
	if !ok {
		return f.KindsOrOne()
	}
	scaled := make([]bool, len(layers))
	for _, i := range list {
		if i < 0 || i >= len(layers) {
			r.Fail(document.ErrValue, key, i, "numbers of layers, from 0 to %d", len(layers)-1)
			return nil
		}
		scaled[i] = true
	}
	if !slices.Contains(scaled, false) {
		return f.KindsOrOne()
	}
	kinds := split(f, layers, "scaled", "unscaled", func(i int) bool { return scaled[i] })
	kinds[1].Unscaled = true
	return kinds
}

// split makes two kinds of layers of one, equal so far.
func split(f *ModelType, layers []description.Layer, one, another string, isOne func(i int) bool) []KindDefaults {
	for i := range layers {
		layers[i].Kind = another
		if isOne(i) {
			layers[i].Kind = one
		}
	}
	kinds := slices.Repeat(f.KindsOrOne(), 2)
	kinds[0].LayerType, kinds[1].LayerType = one, another
	return kinds
}

// stepLists makes of the lists of Step 3.5 an object for each kind of layer, as transformers does. Layers of
// one kind must not differ.
func stepLists(r *document.Reader, layers []description.Layer) {
	list, isList := r.Lookup("use_rope_layers").([]any)
	r.FailIf(r.Has("use_rope_layers") && !(isList && len(list) == 0),
		document.ErrUnknown, "use_rope_layers", document.KindOf(r.Lookup("use_rope_layers")), "an empty list: which layers rotate is not read from it (use posenc.RotaryConfig)")
	types, ok := r.Texts("yarn_only_types")
	r.FailIf(ok && !slices.Equal(types, []string{description.FullAttention}), document.ErrUnknown, "yarn_only_types", document.ListText(len(types)), "[%q]", description.FullAttention)
	_, isList = r.Keys["rope_theta"].([]any)
	if _, scaled := r.Object("rope_scaling"); r.Has("rope_parameters") || !isList && !r.Has("partial_rotary_factors") && !scaled {
		return
	}
	listedParameters(r, layers, func(kind string) bool { return kind == description.FullAttention })
}

// listedParameters makes an object for each kind of layer of the lists of bases and parts, and of rope_scaling
// where it is about that kind.
func listedParameters(r *document.Reader, layers []description.Layer, scaled func(kind string) bool) document.Object {
	parts, _ := r.Numbers("partial_rotary_factors")
	theta := r.Keys["rope_theta"]
	list, isList := theta.([]any)
	scaling, _ := r.Object("rope_scaling")
	r.FailIf(isList && len(list) < len(layers), document.ErrContradiction, "rope_theta", document.ListText(len(list)), "one base for each of %d layers", len(layers))
	r.FailIf(parts != nil && len(parts) < len(layers), document.ErrContradiction, "partial_rotary_factors", document.ListText(len(parts)), "one factor for each of %d layers", len(layers))
	if r.Err != nil {
		return nil
	}
	parameters := document.Object{}
	for i, layer := range layers {
		rope := document.Object{"rope_type": "default"}
		if theta != nil || r.IsNull("rope_theta") { // which is an error
			rope["rope_theta"] = theta
		}
		if isList {
			rope["rope_theta"] = list[i]
		}
		if parts != nil {
			rope["partial_rotary_factor"] = r.Keys["partial_rotary_factors"].([]any)[i]
		}
		if scaled(layer.Kind) {
			maps.Copy(rope, scaling)
		}
		before, ok := parameters[layer.Kind]
		r.FailIf(ok && !document.SameValue(before, rope), document.ErrContradiction, "rope_theta or partial_rotary_factors", fmt.Sprintf("different in layer %d", i), "what other layers of %s have", layer.Kind)
		parameters[layer.Kind] = rope
	}
	replaceRope(r, parameters)
	return parameters
}

// replaceRope puts rope parameters of each kind of layer in the place of other keys.
func replaceRope(r *document.Reader, parameters document.Object, others ...string) {
	r.Set("rope_parameters", parameters)
	for _, key := range append(others, "rope_theta", "rope_scaling") {
		r.Lookup(key)
		delete(r.Keys, key)
	}
}

// step5Layers: layer_types may go on with layers that draft. use_rope_layers has true for layers that rotate; layers
// of full attention have an indexer if there is a sparse_config.
func step5Layers(r *document.Reader, n int) []description.Layer {
	sparse, indexers := r.Object("sparse_config")
	if enabled, ok := sparse["enabled"].(bool); ok && !enabled {
		indexers = false
	}
	if to, ok := r.Texts("sparse_config.apply_to_layer_types"); ok {
		r.FailIf(indexers && !slices.Equal(to, []string{description.FullAttention}), document.ErrUnknown, "sparse_config.apply_to_layer_types", document.ListText(len(to)), "[%q]", description.FullAttention)
	}
	types, ok := r.Texts("layer_types")
	if all, both := r.Texts("layer_types_with_mtp"); both {
		r.FailIf(ok && !slices.Equal(types[:min(n, len(types))], all[:min(n, len(all))]), document.ErrContradiction, "layer_types_with_mtp", document.ListText(len(all)), "the first entries of layer_types")
		types, ok = all, true
	}
	if len(types) == 0 {
		r.FailIf(indexers, document.ErrValue, "layer_types", "absent", "a list, because sparse_config is about layers of full attention")
		types = patterned("(SF)", n)
	}
	if len(types) < n {
		r.Fail(document.ErrContradiction, "layer_types", document.ListText(len(types)), "one entry for each of %d layers", n)
		return nil
	}
	layers := named(types[:n])
	flags, _ := r.Lookup("use_rope_layers").([]any)
	r.FailIf(len(flags) > 0 && len(flags) < n, document.ErrContradiction, "use_rope_layers", document.ListText(len(flags)), "one entry for each of %d layers", n)
	for i := range layers {
		kind := layers[i].Kind
		r.FailIf(kind != description.FullAttention && kind != description.SlidingAttention, document.ErrUnknown, fmt.Sprintf("layer_types[%d]", i), document.Quoted(kind), "full_attention or sliding_attention")
		layers[i].Indexer = indexers && kind == description.FullAttention
		if len(flags) >= n {
			number, isNumber := document.ToNumber(flags[i])
			layers[i].Rotates = flags[i] == true || number == 1
			r.FailIf(!layers[i].Rotates && flags[i] != false && !(isNumber && number == 0), document.ErrValue, fmt.Sprintf("use_rope_layers[%d]", i), document.KindOf(flags[i]), "true or false")
		}
	}
	if r.Err != nil {
		return nil
	}
	return layers
}

// step5Lists: rope_scaling is about all layers, or those of yarn_only_types. Indexers have the base of the layers of full
// attention, and rope_scaling in any case.
func step5Lists(r *document.Reader, layers []description.Layer) {
	r.FailIf(r.Has("rope_parameters"), document.ErrUnknown, "rope_parameters", "an object", "rope_theta and rope_scaling, which the code of this type reads")
	for _, key := range []string{"swa_num_attention_heads", "attention_other_setting"} {
		r.FailIf(!r.Has("head_dim") && r.Has(key), document.ErrValue, "head_dim", "absent", "the elements of a head, because %s gives some layers another number of heads", key)
	}
	other, _ := r.Integer("attention_other_setting.head_dim")
	r.FailIf(other != 0 && other != r.IntegerOr([]string{"head_dim"}, 0), document.ErrUnknown, "attention_other_setting.head_dim", other, "head_dim: all heads have the same size (use posenc.RotaryConfig)")
	r.MustLack("partial_rotary_factors, with a factor for each layer", "partial_rotary_factor")
	base, there := r.Keys["rope_theta"]
	r.FailIf(there && base == nil, document.ErrValue, "rope_theta", "null", "a base, or no such key, which means 500000")
	r.Keys = maps.Clone(r.Keys)
	for key, absent := range map[string]any{"rope_theta": json.Number("500000"), "max_position_embeddings": r.Lookup("max_seq_len")} {
		if r.Keys[key] == nil {
			r.Keys[key] = absent
		}
	}
	only, _ := r.Texts("yarn_only_types")
	scaling, _ := r.Object("rope_scaling")
	for _, key := range []string{"rope_theta", "partial_rotary_factor"} {
		r.FailIf(scaling[key] != nil, document.ErrUnknown, "rope_scaling."+key, document.KindOf(scaling[key]), "no such key: what stands beside rope_scaling counts")
	}
	parameters := listedParameters(r, layers, func(kind string) bool { return len(only) == 0 || slices.Contains(only, kind) })
	if rope, ok := parameters[description.FullAttention].(document.Object); ok {
		rope = maps.Clone(rope)
		maps.Copy(rope, scaling)
		delete(rope, "partial_rotary_factor")
		parameters[description.IndexerKind] = rope
	}
}

// keysBeside: programs read no base and no part from the rope parameters of MiMo V2.
func keysBeside(r *document.Reader, _ []description.Layer) {
	r.MustLack("no such key, but rope_theta, swa_rope_theta and partial_rotary_factor, which the code of this type reads",
		"rope_parameters", "rope_scaling.rope_theta", "rope_scaling.partial_rotary_factor")
}

// flatRope returns the rope parameters of all layers, with a base that may stand beside them. It is nil where there are
// parameters for each kind of layer.
func flatRope(r *document.Reader, absentBase string) document.Object {
	parameters, _ := r.Object("rope_parameters")
	scaling, _ := r.Object("rope_scaling")
	r.FailIf(len(parameters) > 0 && len(scaling) > 0 && !document.SameValue(parameters, scaling), document.ErrContradiction, "rope_scaling", "an object", "what rope_parameters has, or one of both keys: programs read one of them")
	rope := document.Object{}
	for _, from := range []document.Object{{"rope_theta": r.Lookup("rope_theta")}, parameters, scaling} {
		for _, key := range document.SortedKeys(from) {
			if _, nested := from[key].(document.Object); nested {
				return nil
			}
			if v, before := from[key], rope[key]; v != nil {
				r.FailIf(before != nil && !document.SameValue(before, v), document.ErrContradiction, key, document.KindOf(v), "the other value that the configuration has for it, which is %s", document.KindOf(before))
				rope[key] = v
			}
		}
	}
	r.FailIf(rope["rope_theta"] == nil && r.IsNull("rope_theta"), document.ErrValue, "rope_theta", "null", "a base, or no such key")
	if rope["rope_theta"] == nil && absentBase != "" {
		rope["rope_theta"] = json.Number(absentBase)
	}
	return rope
}

// ropeOfEach: parameters for kinds of layers must be there for each kind that the model has.
func ropeOfEach(r *document.Reader, layers []description.Layer) {
	parameters, given := r.Object("rope_parameters")
	for _, layer := range layers {
		r.FailIf(given && layer.Rotates && parameters[layer.Kind] == nil, document.ErrValue, "rope_parameters."+layer.Kind, "absent", "an object for each kind of layer that rotates")
	}
}

// sameRope: flat parameters are of all kinds of layers.
func sameRope(r *document.Reader, layers []description.Layer) {
	rope := flatRope(r, "")
	if rope == nil {
		ropeOfEach(r, layers)
		return
	}
	r.FailIf(rope["rope_theta"] == nil, document.ErrValue, "rope_theta", "absent", "a base: models of this type have no common default")
	parameters := document.Object{}
	for _, layer := range layers {
		parameters[layer.Kind] = rope
	}
	replaceRope(r, parameters)
}

// windowRope: layers with a window have a base of their own, and the rule and the part of the others only if they share them.
// Else their whole heads rotate, even where a part stands beside the rope parameters.
func windowRope(r *document.Reader, baseKey, absentBase, absentWindow string, shared bool) {
	rope := flatRope(r, absentBase)
	if rope == nil {
		return
	}
	window := maps.Clone(rope)
	if !shared {
		window = document.Object{"partial_rotary_factor": json.Number("1")}
	}
	r.FailIf(r.IsNull(baseKey), document.ErrValue, baseKey, "null", "a base, or no such key")
	if base := r.Lookup(baseKey); base != nil {
		window["rope_theta"] = base
	} else if absentWindow != "" {
		window["rope_theta"] = json.Number(absentWindow)
	}
	replaceRope(r, document.Object{description.FullAttention: rope, description.SlidingAttention: window}, baseKey)
}

// plamo2Rope: files without rope_local_theta have one base.
func plamo2Rope(r *document.Reader, _ []description.Layer) {
	windowRope(r, "rope_local_theta", "10000", "", true)
}

// plamo3Rope: of parameters for each kind of layer those of windows may be missing; their base is then beside them.
func plamo3Rope(r *document.Reader, _ []description.Layer) {
	windowRope(r, "rope_local_theta", "", "10000", false)
	parameters, _ := r.Object("rope_parameters")
	whole, isObject := parameters[description.FullAttention].(document.Object)
	r.FailIf(!isObject, document.ErrValue, "rope_parameters."+description.FullAttention, document.KindOf(parameters[description.FullAttention]), "an object")
	r.FailIf(whole["rope_theta"] == nil && !r.Has("rope_theta"), document.ErrValue, "rope_theta", "absent", "a base: models of this type have no common default")
	if _, given := parameters[description.SlidingAttention]; !given {
		r.Keys = changed(r.Keys, document.Object{"rope_parameters": changed(parameters, document.Object{description.SlidingAttention: document.Object{"partial_rotary_factor": json.Number("1")}})})
		return
	}
	window, isObject := parameters[description.SlidingAttention].(document.Object)
	r.FailIf(!isObject || window["rope_theta"] == nil, document.ErrValue, "rope_parameters."+description.SlidingAttention, document.KindOf(parameters[description.SlidingAttention]), "an object with rope_theta: without it some programs take rope_theta beside, others rope_local_theta")
}

// iquestRope: rotary_dim counts, unless it is null.
func iquestRope(r *document.Reader, _ []description.Layer) {
	windowRope(r, "swa_rope_theta", "1000000", "10000", true)
	if _, there := r.Keys["rotary_dim"]; !there {
		r.Set("rotary_dim", json.Number("32"))
	}
	parameters, _ := r.Object("rope_parameters")
	for _, rope := range parameters {
		if rope, ok := rope.(document.Object); ok && r.Has("rotary_dim") {
			part, isNumber := rope["partial_rotary_factor"], false
			_, isNumber = document.ToNumber(part)
			r.FailIf(part != nil && !isNumber, document.ErrSyntax, "partial_rotary_factor", document.KindOf(part), "a number")
			delete(rope, "partial_rotary_factor")
		}
	}
}

// salaMixers: mixer_types of MiniCPM SALA repeats.
func salaMixers(r *document.Reader, n int) []string {
	mixers, _ := r.Texts("mixer_types")
	if len(mixers) == 0 {
		mixers = []string{"attention"}
	}
	r.FailIf(len(mixers) > n, document.ErrContradiction, "mixer_types", document.ListText(len(mixers)), "at most one entry for each of %d layers", n)
	types := make([]string, n)
	for i := range types {
		switch name := mixers[i%len(mixers)]; strings.ReplaceAll(name, "_", "-") {
		case "minicpm4", "standard", "attention", "attn":
			types[i] = description.FullAttention
		case "lightning", "lightning-attn":
			types[i] = linearAttention
		default:
			r.Fail(document.ErrUnknown, "mixer_types", document.Quoted(name), "minicpm4 or lightning-attn")
		}
	}
	return types
}

const linearAttention = "linear_attention"

func salaLayers(r *document.Reader, n int) []description.Layer {
	layers := named(salaMixers(r, n))
	for i := range layers {
		key := "attn_use_rope"
		if layers[i].Kind == linearAttention {
			key = "lightning_use_rope"
		}
		layers[i].Rotates = r.Flag(key, true)
	}
	return layers
}

// salaKinds: heads of lightning attention have a width of their own.
func salaKinds(r *document.Reader, _ string, f *ModelType, layers []description.Layer) []KindDefaults {
	mixers := salaMixers(r, len(layers))
	kinds := split(f, layers, description.FullAttention, linearAttention, func(i int) bool { return mixers[i] != linearAttention })
	kinds[1].HeadDimKey = "lightning_head_dim"
	return kinds
}

// bailingKinds: two models have this type. In the one that says BailingMoeV2_5, layers of linear attention have whole heads, and
// rotate.
func bailingKinds(r *document.Reader, _ string, f *ModelType, layers []description.Layer) []KindDefaults {
	if !isLing25(r) {
		return f.KindsOrOne()
	}
	for _, key := range []string{"layer_group_size", "partial_rotary_factor", "rope_theta"} {
		r.FailIf(!r.Has(key) && !r.Has("rope_parameters."+key), document.ErrValue, key, "absent", "a value: programs have different defaults for BailingMoeV2_5")
	}
	r.MustBe(true, document.ErrUnknown, "true: layers of linear attention rotate in the code of the model's authors", "linear_rope")
	attention, ok := r.Text("full_attention_type")
	r.FailIf(ok && attention != "mla", document.ErrUnknown, "full_attention_type", document.Quoted(attention), "mla, latent attention")
	group := interval(r, "layer_group_size", 1)
	copy(layers, everyLayer(r, len(layers)))
	kinds := split(f, layers, description.FullAttention, linearAttention, func(i int) bool { return (i+1)%group == 0 || i >= len(layers)/group*group })
	kinds[1].Like = lightningHeads
	return kinds
}

func isLing25(r *document.Reader) bool {
	architectures, _ := r.Lookup("architectures").([]any)
	older := slices.ContainsFunc(architectures, func(a any) bool { name, _ := a.(string); return strings.HasPrefix(name, "BailingMoeV2_5") })
	return older || !r.Has("short_conv_kernel_size") && r.Has("group_norm_size")
}

// Some types do not take their text model as the file has it. Each function here changes the keys
// of text, for Holder.Rewrite; file has the keys beside it.

// changed returns keys with others, of which nil removes one.
func changed(keys, others document.Object) document.Object {
	result := document.Object{}
	maps.Copy(result, keys)
	maps.Copy(result, others)
	maps.DeleteFunc(result, func(key string, v any) bool { return v == nil })
	return result
}

// ultravoxText: text_model_id names a repository, whose file has the text model.
func ultravoxText(file, text *document.Reader) {
	v := file.Lookup("text_model_id")
	file.FailIf(v != nil, document.ErrValue, "text_model_id", document.KindOf(v), "null: read the config.json of that model")
}

// miDashengText: vLLM drops the rope parameters and takes 1000000, SGLang keeps the base.
func miDashengText(file, text *document.Reader) {
	for _, key := range []string{"rope_theta", "rope_parameters.rope_theta", "rope_scaling.rope_theta"} {
		base := text.NumberOr(key, 1e6)
		text.FailIf(base != 1e6, document.ErrContradiction, key, base, "1000000, which some programs take in its place")
	}
	for _, key := range []string{"rope_parameters", "rope_scaling"} {
		if rope, ok := text.Object(key); ok {
			rule, _ := text.Text(key + ".rope_type")
			text.FailIf(rope["factor"] != nil || rule != "" && rule != "default" && rule != "mrope", document.ErrContradiction, key, "scaled", "no scaling, which some programs drop")
		}
	}
}

// mingText: sections stand beside the text model, or in its rope parameters; by default there are 8,
// 12 and 12 pairs.
func mingText(file, text *document.Reader) {
	videoSections(file, text, Parsed(`{"mrope_section": [8, 12, 12]}`)["mrope_section"].([]any))
}

// lingText: programs have different sections, bases and layers for what a file leaves out, and
// different ones of the layers after the last whole group.
func lingText(file, text *document.Reader) {
	for _, key := range []string{"num_hidden_layers", "layer_group_size", "qk_rope_head_dim"} {
		text.FailIf(!text.Has(key), document.ErrValue, key, "absent", "a value: programs have different defaults")
	}
	layers, _ := text.Integer("num_hidden_layers")
	group, _ := text.Integer("layer_group_size")
	text.FailIf(group < 1 || layers%group != 0, document.ErrContradiction, "layer_group_size", group, "a divisor of num_hidden_layers: of the layers after the last whole group some programs rotate all, others none")
	text.FailIf(!text.Has("rope_theta") && !text.Has("rope_parameters.rope_theta") && !text.Has("rope_scaling.rope_theta"), document.ErrValue, "rope_theta", "absent", "a value: programs have different defaults")
	videoSections(file, text, nil)
}

func videoSections(file, text *document.Reader, absent []any) {
	key := "rope_scaling"
	if text.Has("rope_parameters") {
		key = "rope_parameters"
	}
	rope, _ := text.Object(key)
	var sections []any
	for _, v := range []any{rope["mrope_section"], text.Lookup("mrope_section"), file.Lookup("mrope_section")} {
		if list, ok := v.([]any); ok {
			text.FailIf(sections != nil && !document.SameValue(sections, list), document.ErrContradiction, "mrope_section", document.Shortened(fmt.Sprint(list)), "the sections in its rope parameters or beside them, which are %v", sections)
			sections = list
		}
	}
	if sections == nil {
		sections = absent
	}
	text.FailIf(sections == nil, document.ErrValue, "mrope_section", "absent", "counts of pairs, because programs have different defaults")
	rule := "default"
	if factor := text.NumberOr(key+".factor", 1); factor > 1 {
		rule = "yarn"
		text.FailIf(rope["mscale"] != nil || rope["mscale_all_dim"] != nil, document.ErrUnknown, key, "with mscale", "no mscale: this type does not scale by it (use posenc.RotaryConfig)")
	}
	if text.Err == nil {
		text.Keys = changed(text.Keys, document.Object{"mrope_section": nil, key: changed(rope, document.Object{"mrope_section": sections, "video_rope": true, "rope_type": rule, "type": nil})})
	}
}
