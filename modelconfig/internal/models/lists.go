package models

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
)

// Some types give rope parameters for each layer: its base, the part of the head that
// rotates, or the numbers of the layers whose frequencies are scaled. Layers with the same
// frequencies become one kind.

// bases reads a list with the base of each layer, 0 for a layer that does not rotate.
func bases(r *document.Reader, key string, f *Family, layers []description.Layer) []KindDefaults {
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
	for i, base := range list {
		r.FailIf(base != 0 && base <= 1, document.ErrValue, fmt.Sprintf("%s[%d]", key, i), base, "a number above 1, or 0 for a layer that does not rotate")
		layers[i].Rotates = layers[i].Rotates && base != 0
		layers[i].Kind = ""
		if len(distinct) > 1 {
			layers[i].Kind = baseName(base)
		}
	}
	r.FailIf(len(distinct) > maxBases, document.ErrValue, key, fmt.Sprintf("one of %d bases", len(distinct)), "at most %d different bases", maxBases)
	if len(distinct) == 1 {
		return []KindDefaults{{FixedBase: distinct[0], BaseKeys: f.BaseKeys, Partial: f.Part, Scaled: true}}
	}
	var kinds []KindDefaults
	for _, base := range distinct {
		kinds = append(kinds, KindDefaults{LayerType: baseName(base), FixedBase: base, BaseKeys: f.BaseKeys, Partial: f.Part, Scaled: true})
	}
	return kinds
}

// maxBases bounds for how many bases frequencies are computed.
const maxBases = 16

func baseName(base float64) string { return "base " + strconv.FormatFloat(base, 'g', -1, 64) }

// rotatingBases takes from the list only which layers rotate. All that do have the base of the rope
// parameters.
func rotatingBases(r *document.Reader, key string, f *Family, layers []description.Layer) []KindDefaults {
	kinds := bases(r, key, f, layers)
	if len(kinds) == 1 && kinds[0].FixedBase != 0 {
		base := f.Base
		if own, ok := document.ToNumber(f.Absent["rope_theta"]); ok && withoutRopeBlock(r) {
			base = own
		}
		for _, given := range []string{"rope_theta", "rope_parameters.rope_theta", "rope_scaling.rope_theta"} {
			if b, ok := r.Number(given); ok {
				base = b
			}
		}
		r.FailIf(kinds[0].FixedBase != base, document.ErrContradiction, key, kinds[0].FixedBase, "rope_theta, which is %v, or 0, because models of this type have one base", base)
	}
	r.FailIf(len(kinds) > 1, document.ErrContradiction, key, "one of several bases", "one base, and 0 for layers that do not rotate, because models of this type have one base")
	return kinds
}

// scaledLayers reads the numbers of the layers whose frequencies are scaled; others are not.
func scaledLayers(r *document.Reader, key string, f *Family, layers []description.Layer) []KindDefaults {
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
	for i := range layers {
		layers[i].Kind = "unscaled"
		if scaled[i] {
			layers[i].Kind = "scaled"
		}
	}
	one := f.KindsOrOne()[0]
	other := one
	one.LayerType, other.LayerType, other.Unscaled = "scaled", "unscaled", true
	return []KindDefaults{one, other}
}

// stepLists makes of the lists of Step 3.5 an object for each kind of layer, as transformers does. Layers of
// one kind must not differ.
func stepLists(r *document.Reader, layers []description.Layer) {
	r.FailIf(r.Has("use_rope_layers") && !isEmptyList(r.Lookup("use_rope_layers")),
		document.ErrUnknown, "use_rope_layers", document.KindOf(r.Lookup("use_rope_layers")), "an empty list: which layers rotate is not read from it (use posenc.RotaryConfig)")
	if types, ok := r.Texts("yarn_only_types"); ok && !slices.Equal(types, []string{description.FullAttention}) {
		r.Fail(document.ErrUnknown, "yarn_only_types", document.ListText(len(types)), "[%q]", description.FullAttention)
	}
	parts, _ := r.Numbers("partial_rotary_factors")
	theta := r.Keys["rope_theta"]
	list, isList := theta.([]any)
	scaling, scaled := r.Object("rope_scaling")
	if r.Has("rope_parameters") || !isList && parts == nil && !scaled {
		return
	}
	parameters := document.Object{}
	for i, layer := range layers {
		rope := document.Object{"rope_type": "default", "rope_theta": theta}
		if isList {
			r.FailIf(len(list) < len(layers), document.ErrContradiction, "rope_theta", document.ListText(len(list)), "one base for each of %d layers", len(layers))
			if r.Err != nil {
				return
			}
			rope["rope_theta"] = list[i]
		}
		if parts != nil {
			r.FailIf(len(parts) < len(layers), document.ErrContradiction, "partial_rotary_factors", document.ListText(len(parts)), "one factor for each of %d layers", len(layers))
			if r.Err != nil {
				return
			}
			rope["partial_rotary_factor"] = r.Keys["partial_rotary_factors"].([]any)[i]
		}
		if layer.Kind == description.FullAttention {
			maps.Copy(rope, scaling)
		}
		if before, ok := parameters[layer.Kind]; ok && !document.SameValue(before, rope) {
			r.Fail(document.ErrContradiction, "rope_theta or partial_rotary_factors", fmt.Sprintf("different in layer %d", i), "what other layers of %s have", layer.Kind)
		}
		parameters[layer.Kind] = rope
	}
	r.Keys = maps.Clone(r.Keys)
	delete(r.Keys, "rope_theta")
	delete(r.Keys, "rope_scaling")
	r.Keys["rope_parameters"] = parameters
}

func isEmptyList(v any) bool {
	list, ok := v.([]any)
	return ok && len(list) == 0
}
