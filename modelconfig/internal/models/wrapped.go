package models

import (
	"fmt"
	"maps"

	"github.com/go-posenc/posenc/modelconfig/internal/document"
)

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
