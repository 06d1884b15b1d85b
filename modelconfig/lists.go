package modelconfig

import (
	"fmt"
	"slices"
	"strconv"
)

// Some types give rope parameters for each layer: its base, the part of the head that
// rotates, or the numbers of the layers whose frequencies are scaled. Layers with the same
// frequencies become one kind.

// bases reads a list with the base of each layer, 0 for a layer that does not rotate.
func bases(r *reader, key string, f *family, layers []layer) []kindDefaults {
	list, ok := r.numbers(key)
	if !ok {
		return f.kindsOrOne()
	}
	if len(list) != len(layers) {
		r.fail(ErrContradiction, key, listText(len(list)), "one base for each of %d layers", len(layers))
		return nil
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(list)))
	distinct = slices.DeleteFunc(distinct, func(base float64) bool { return base == 0 })
	for i, base := range list {
		r.failIf(base != 0 && base <= 1, ErrValue, fmt.Sprintf("%s[%d]", key, i), base, "a number above 1, or 0 for a layer that does not rotate")
		layers[i].rotates = layers[i].rotates && base != 0
		layers[i].kind = ""
		if len(distinct) > 1 {
			layers[i].kind = baseName(base)
		}
	}
	r.failIf(len(distinct) > maxBases, ErrValue, key, fmt.Sprintf("one of %d bases", len(distinct)), "at most %d different bases", maxBases)
	if len(distinct) == 0 || r.err != nil {
		return nil
	}
	if len(distinct) == 1 {
		return []kindDefaults{{fixedBase: distinct[0], baseKeys: f.baseKeys, partial: f.partial, scaled: true}}
	}
	var kinds []kindDefaults
	for _, base := range distinct {
		kinds = append(kinds, kindDefaults{layerType: baseName(base), fixedBase: base, baseKeys: f.baseKeys, partial: f.partial, scaled: true})
	}
	return kinds
}

// maxBases bounds for how many bases a configuration makes us compute frequencies.
const maxBases = 16

// baseName returns the name of the kind of the layers with one base.
func baseName(base float64) string { return "base " + strconv.FormatFloat(base, 'g', -1, 64) }

// rotatingBases is bases for types whose code takes from the list only which layers rotate.
// All layers that do have the base of the rope parameters.
func rotatingBases(r *reader, key string, f *family, layers []layer) []kindDefaults {
	kinds := bases(r, key, f, layers)
	if len(kinds) == 1 && kinds[0].fixedBase != 0 {
		base := f.base
		if own, ok := toNumber(f.absent["rope_theta"]); ok && withoutRopeBlock(r) {
			base = own
		}
		for _, given := range []string{"rope_theta", "rope_parameters.rope_theta", "rope_scaling.rope_theta"} {
			if b, ok := r.number(given); ok {
				base = b
			}
		}
		r.failIf(kinds[0].fixedBase != base, ErrContradiction, key, kinds[0].fixedBase, "rope_theta, which is %v, or 0, because models of this type have one base", base)
	}
	r.failIf(len(kinds) > 1, ErrContradiction, key, "one of several bases", "one base, and 0 for layers that do not rotate, because models of this type have one base")
	return kinds
}

// scaledLayers reads a list of the numbers of the layers whose frequencies are scaled. The
// other layers have the frequencies of the base, without scaling.
func scaledLayers(r *reader, key string, f *family, layers []layer) []kindDefaults {
	list, ok := r.integers(key)
	if !ok || len(list) == 0 {
		return f.kindsOrOne()
	}
	scaled := make([]bool, len(layers))
	for _, i := range list {
		if i < 0 || i >= len(layers) {
			r.fail(ErrValue, key, i, "numbers of layers, from 0 to %d", len(layers)-1)
			return nil
		}
		scaled[i] = true
	}
	if !slices.Contains(scaled, false) {
		return f.kindsOrOne()
	}
	for i := range layers {
		layers[i].kind = "unscaled"
		if scaled[i] {
			layers[i].kind = "scaled"
		}
	}
	one := f.kindsOrOne()[0]
	other := one
	one.layerType, other.layerType, other.unscaled = "scaled", "unscaled", true
	return []kindDefaults{one, other}
}

// stepLists rewrites the lists of Step 3.5 as an object for each kind of layer, as transformers
// does. The lists have a base and a part of the head for each layer, and a scaling for the
// layers of full attention. Layers of one kind must not differ.
func stepLists(r *reader, layers []layer) {
	r.failIf(r.has("use_rope_layers") && !isEmptyList(r.lookup("use_rope_layers")),
		ErrUnknown, "use_rope_layers", kindOf(r.lookup("use_rope_layers")), "an empty list: which layers rotate is not read from it (use posenc.RotaryConfig)")
	if types, ok := r.texts("yarn_only_types"); ok && !slices.Equal(types, []string{fullAttention}) {
		r.fail(ErrUnknown, "yarn_only_types", listText(len(types)), "[%q]", fullAttention)
	}
	parts, _ := r.numbers("partial_rotary_factors")
	theta := r.keys["rope_theta"]
	list, isList := theta.([]any)
	scaling, scaled := r.object("rope_scaling")
	if nested, ok := r.object("rope_parameters"); ok && nested[layers[0].kind] != nil || !isList && parts == nil && !scaled {
		return
	}
	if r.err != nil {
		return
	}
	parameters := object{}
	for i, layer := range layers {
		rope := object{"rope_type": "default", "rope_theta": theta}
		if isList {
			r.failIf(len(list) < len(layers), ErrContradiction, "rope_theta", listText(len(list)), "one base for each of %d layers", len(layers))
			if r.err != nil {
				return
			}
			rope["rope_theta"] = list[i]
		}
		if parts != nil {
			r.failIf(len(parts) < len(layers), ErrContradiction, "partial_rotary_factors", listText(len(parts)), "one factor for each of %d layers", len(layers))
			if r.err != nil {
				return
			}
			rope["partial_rotary_factor"] = r.keys["partial_rotary_factors"].([]any)[i]
		}
		if layer.kind == fullAttention {
			for key, v := range scaling {
				rope[key] = v
			}
		}
		if before, ok := parameters[layer.kind]; ok && !sameValue(before, rope) {
			r.fail(ErrContradiction, "rope_theta or partial_rotary_factors", fmt.Sprintf("different in layer %d", i), "what other layers of %s have", layer.kind)
		}
		parameters[layer.kind] = rope
	}
	keys := object{}
	for key, v := range r.keys {
		if key != "rope_theta" && key != "rope_scaling" {
			keys[key] = v
		}
	}
	keys["rope_parameters"] = parameters
	r.keys = keys
}

func isEmptyList(v any) bool {
	list, ok := v.([]any)
	return ok && len(list) == 0
}
