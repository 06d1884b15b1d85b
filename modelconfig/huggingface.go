package modelconfig

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-posenc/posenc"
)

// readText describes the text model of a config.json for a function, by the code of a type if that
// is not "".
func readText(function string, config []byte, as string) (*description, error) {
	return huggingFace(function, config, as, textModel)
}

// readVision describes the vision tower.
func readVision(function string, config []byte, as string) (*description, error) {
	return huggingFace(function, config, as, visionModel)
}

// huggingFace describes the model that follow returns, by the code of the type as if that is not "".
func huggingFace(function string, config []byte, as string, follow func(*reader) *reader) (*description, error) {
	keys, err := parseObject(config)
	if err != nil {
		return nil, valueError(ErrSyntax, function, "config", fmt.Sprintf("unreadable (%v)", err), "a JSON object")
	}
	r := &reader{function: function, keys: keys}
	if as != "" {
		asType(r, as)
	}
	r = follow(r)
	modelType, ok := r.text("model_type")
	if !ok && r.has("n_heads") && r.has("dim") {
		r.fail(ErrValue, "model_type", "absent", "a config.json: this is Meta's params.json; set posenc.RotaryConfig directly, with HeadDim dim/n_heads, Layout Interleaved and Base rope_theta, or with the InvFreq of frequency.Llama3 where use_scaled_rope is true")
	}
	r.failIf(!ok, ErrValue, "model_type", "absent", "the type of a model, such as \"llama\"; Options.Type can name it")
	f := familyOf(r, modelType)
	m := &description{modelType: modelType, kinds: map[string]kind{}}
	if r.err == nil {
		readModel(r, &f, m)
	}
	if r.err != nil {
		return nil, r.err
	}
	return m, nil
}

// asType puts another type in the place of a document's own. A model within it would be lost where
// the type holds none.
func asType(r *reader, modelType string) {
	holds := holderOf(modelType) != nil
	for _, key := range sortedKeys(r.keys) {
		if inner, ok := r.keys[key].(object); ok && inner["model_type"] != nil && !holds {
			r.fail(ErrContradiction, "options.Type", quoted(modelType), "a type that holds other models, because this one has %s; or pass that object alone", quoted(key))
		}
	}
	r.keys = withType(r.keys, modelType)
}

// textModel returns the configuration of the text model, from that of several models.
func textModel(r *reader) *reader {
	for range 3 {
		modelType, _ := r.text("model_type")
		h := holderOf(modelType)
		if r.err != nil || h == nil || h.text.key == "" {
			return r
		}
		w := h.text
		inner, ok := r.object(w.key)
		if r.err != nil {
			return r
		}
		switch {
		case ok:
			inner = h.completed(inner)
		case h.absentText != "":
			inner = parsed(h.absentText)
		default:
			// The file is older than text_config, or has only defaults in it.
			r.keys = withType(r.keys, w.innerType)
			continue
		}
		text := r.within(w.key, inner)
		beside, inside := ropeValues(r.keys), ropeValues(inner)
		if h.ownRotation {
			beside = nil
		}
		for _, key := range sortedKeys(beside) {
			r.failIf(!sameValue(beside[key], inside[key]),
				ErrContradiction, key, kindOf(beside[key]), "the value in %s, the text model, which is %s", w.key, kindOf(inside[key]))
		}
		if r.err != nil {
			return r
		}
		if innerType, given := text.text("model_type"); !given {
			text.keys = withType(inner, w.innerType)
		} else if innerType != w.innerType && !h.anyText {
			text.fail(ErrContradiction, "model_type", quoted(innerType), "%q, the only text model of %s (pass %s alone to read it as another type)", w.innerType, modelType, strings.TrimSuffix(text.path, "."))
		}
		if innerType, _ := text.keys["model_type"].(string); positionsOfType(innerType) == "" {
			unreadKeysBeside(r, w.key, inner)
		}
		if r.err != nil {
			return r
		}
		r = text
	}
	return r
}

// ropeValues returns what a configuration says about rotary positions, wherever it says so.
func ropeValues(keys object) object {
	values := object{}
	for _, key := range sortedKeys(keys) {
		if keys[key] == nil || !namesRotation(key) {
			continue
		}
		rope, ok := keys[key].(object)
		if !ok {
			values[key] = keys[key]
			continue
		}
		for inner, v := range rope {
			if v != nil && inner != "type" && inner != "rope_type" {
				values[inner] = v
			}
		}
	}
	return values
}

func withType(keys object, modelType string) object {
	typed := object{}
	maps.Copy(typed, keys)
	typed["model_type"] = modelType
	return typed
}

// sameValue compares JSON values. Numbers are equal if their values are.
func sameValue(a, b any) bool {
	switch a := a.(type) {
	case object:
		b, ok := b.(object)
		return ok && maps.EqualFunc(a, b, sameValue)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, sameValue)
	}
	if x, ok := toNumber(a); ok {
		y, ok := toNumber(b)
		return ok && x == y
	}
	switch b.(type) {
	case object, []any:
		return false
	}
	return a == b
}

func familyOf(r *reader, modelType string) family {
	if r.err != nil {
		return family{}
	}
	for _, key := range sortedKeys(r.keys) {
		if t, ok := r.keys[key].(string); ok && subjectOf(key) == aboutKind && strings.EqualFold(t, "alibi") {
			r.fail(ErrNotRotary, key, quoted(t), "rotary positions, not %s", aliBi)
		}
	}
	if positions := positionsOfType(modelType); positions != "" {
		r.fail(ErrNotRotary, "model_type", quoted(modelType), "a model with rotary positions; this type has %s", positions)
	}
	t := textType(modelType)
	if t == nil {
		t = towerType(modelType)
	}
	switch h := holderOf(modelType); {
	case t != nil:
		return t.family()
	case h != nil && h.tower.key != "":
		r.fail(ErrUnknown, "model_type", quoted(modelType), "a type with a text model: this one has a vision tower, which HuggingFaceVision reads")
	default:
		unknownType(r, modelType, "a type in docs/models.md", true)
	}
	return family{}
}

// unknownType fails for a type that is in none of the lists; those of text models count where texts
// is set. Types with similar names may rotate differently (qwen2_vl and qwen3_vl), so the error
// recommends none.
func unknownType(r *reader, modelType, expected string, texts bool) {
	if strings.Contains("\n"+unrotated, "\n"+modelType+"\n") {
		r.fail(ErrNotRotary, "model_type", quoted(modelType), "a model with rotary positions; transformers 5.23 has none for this type")
	}
	known := namesOf(func(v *vendor, add func(string)) {
		for i := range v.holders {
			if v.holders[i].text.key != "" {
				add(v.holders[i].name)
			}
		}
		for _, p := range v.otherPositions {
			add(p.name)
		}
		for i := range v.types {
			if texts {
				add(v.types[i].name)
			}
		}
		for i := range v.towers {
			add(v.towers[i].name)
		}
	})
	if name := nearest(modelType, known); name != "" {
		expected += fmt.Sprintf(" (the nearest name is %q, which may rotate differently)", name)
	}
	r.fail(ErrUnknown, "model_type", quoted(modelType), "%s; for others set Options.Type to the type whose code is the same, or use posenc.RotaryConfig, with values from the model's own code", expected)
}

func readModel(r *reader, f *family, m *description) {
	if f.refusal != "" {
		r.fail(ErrUnknown, "model_type", quoted(m.modelType), "another type: this one %s", f.refusal)
		return
	}
	if f.isTower() {
		checkAxialHead(r, f)
	}
	if f.check != nil {
		f.check(r)
	}
	positionKeys(r, f)
	layers := r.integerOr(f.names.layers, f.layers)
	r.failIf(layers < 1 || layers > maxLayers, ErrValue, r.spelling(f.names.layers), layers, "from 1 to %d", maxLayers)
	if r.err != nil {
		return
	}
	m.layers = f.plan(r, layers)
	if len(f.kinds) == 0 {
		for i := range m.layers {
			m.layers[i].kind = ""
		}
	}
	if f.rewrite != nil && r.err == nil {
		f.rewrite(r, m.layers)
	}
	kinds := f.kindsOrOne()
	if f.lists != nil && r.err == nil {
		kinds = f.lists(r, f.listKey, f, m.layers)
	}
	ropes := readRopes(r, f)
	scaling, _ := r.object("rope_scaling")
	m.scalingUnread = f.scalingUnread != nil && len(scaling) > 0 && f.scalingUnread(r) && scaling["type"] != "default" && scaling["rope_type"] != "default"
	for _, k := range kinds {
		rope := ropes[k.layerType]
		if rope == nil && f.lists != nil {
			rope = ropes[""]
		}
		if rope == nil || r.err != nil {
			continue
		}
		m.kinds[k.layerType] = readKind(r, rope, f, &k, m)
		if r.err == nil {
			r.err = rope.err
		}
	}
	rotating := map[string]bool{}
	for i := range m.layers {
		layer := &m.layers[i]
		_, known := m.kinds[layer.kind]
		layer.rotates = layer.rotates && known
		rotating[layer.kind] = rotating[layer.kind] || layer.rotates
	}
	for layerType := range m.kinds {
		if !rotating[layerType] {
			delete(m.kinds, layerType)
		}
	}
	r.failIf(len(m.kinds) == 0, ErrNotRotary, "model_type", quoted(m.modelType), "a model in which some layer rotates; by the other keys none does")
	if f.indexer != nil {
		addIndexer(r, f, m)
	}
	m.scalingTensor = f.scalingTensor
	m.latent = f.latent
	m.patches, m.traps = f.patches, f.traps
	if !f.isTower() {
		m.contextLength = r.integerOr(f.names.positions, f.positions)
	}
	unreadKeys(r, f)
}

// headDim returns the number of elements of a head, and the key that it comes from: its own,
// or hidden size / heads.
func headDim(r *reader, f *family, k *kindDefaults, layers []layer) (dim int, key string) {
	dim, key = headDimOf(r, f, k, layers)
	r.failIf(dim < 2, ErrValue, key, kindOf(r.lookup(key)), "at least 2 elements per head, not %d", dim)
	return dim, key
}

func headDimOf(r *reader, f *family, k *kindDefaults, layers []layer) (dim int, key string) {
	if k.headDimKey != "" {
		dim := value{key: k.headDimKey}
		r.integer(k.headDimKey) // fails for what is not whole
		dim.agree(r, k.headDimKey)
		perLayerHeadDim(r, k, layers, &dim)
		return int(dim.or(float64(k.headDim))), dim.key
	}
	for _, key := range f.names.headDim {
		if r.has(key) {
			return r.integerOr(f.names.headDim, 0), key
		}
		if _, null := r.keys[key]; null && r.err == nil {
			return hiddenByHeads(r, f)
		}
	}
	if f.headDim != 0 {
		return f.headDim, f.names.headDim[0]
	}
	return hiddenByHeads(r, f)
}

// perLayerHeadDim reads per_layer_config, where transformers 5 writes the head_dim of single
// layers under their numbers.
func perLayerHeadDim(r *reader, k *kindDefaults, layers []layer, dim *value) {
	single, _ := r.object("per_layer_config")
	for _, number := range sortedKeys(single) {
		key := "per_layer_config." + number + ".head_dim"
		if !r.has(key) {
			continue
		}
		i, err := strconv.Atoi(number)
		r.failIf(err != nil || i < 0 || i >= len(layers) || layers[i].kind != k.layerType,
			ErrUnknown, key, kindOf(r.lookup(key)), "the number of a layer of %s", k.layerType)
		r.integer(key)
		dim.agree(r, key)
	}
}

func hiddenByHeads(r *reader, f *family) (dim int, key string) {
	hidden := r.integerOr(f.names.hidden, f.hidden)
	heads := r.integerOr(f.names.heads, f.heads)
	key, byKey := r.spelling(f.names.hidden), r.spelling(f.names.heads)
	if r.err != nil {
		return 0, key
	}
	if heads < 1 {
		r.fail(ErrValue, byKey, heads, "at least 1")
		return 0, key
	}
	if hidden < 1 || hidden%heads != 0 {
		r.fail(ErrValue, key, hidden, "a positive multiple of %s, which is %d; or set head_dim", byKey, heads)
		return 0, key
	}
	if !r.has(key) {
		key = byKey
	}
	return hidden / heads, key
}

// readKind reads one kind of layer from its rope parameters.
func readKind(r, rope *reader, f *family, k *kindDefaults, m *description) kind {
	base, source := baseOf(r, rope, f, k)
	if f.baseUnread != nil && slices.ContainsFunc(k.baseKeys, r.has) && base != k.base && f.baseUnread(r) {
		m.baseUnread = true
	}
	dim, dimKey := headDim(r, f, k, m.layers)
	cfg := posenc.RotaryConfig{HeadDim: dim, Layout: layoutOf(r, f)}
	ropeType := ropeTypeOf(rope, f)
	if k.unscaled {
		ropeType = "default"
	}
	rotaryDim, partial := rotaryDimOf(r, rope, f, k, dim, dimKey, ropeType)
	if r.err != nil || rope.err != nil {
		return kind{}
	}
	cfg.RotaryDim = rotaryDim
	if f.trailing {
		cfg.Offset = dim - cfg.RotaryDim
	}
	cfg.Axes = readAxes(f, rope, rotaryDim/2)
	p := ropeParameters{
		reader: rope, model: r, family: f, kind: k,
		ropeType: ropeType, headDim: dim, headDimKey: dimKey, rotaryDim: rotaryDim, base: base, partial: partial,
		positions: r.integerOr(f.names.positions, f.positions),
	}
	if f.queryScale != nil {
		m.queryScale, m.scalesRotating = f.queryScale(&p), f.scalesRotating
	}
	rule := ruleOf(&p)
	for _, key := range sortedKeys(rope.keys) {
		rope.failIf(rope.keys[key] != nil && !rope.seen[key] && !k.unscaled,
			ErrUnknown, quoted(key), kindOf(rope.keys[key]), "no such key: with the other keys as they are, nothing reads it (use posenc.RotaryConfig if it matters)")
	}
	if f.inverse {
		rule = rule.inverse()
	}
	return kind{rotary: cfg, rule: rule, source: source, learned: f.learned}
}

// baseOf returns the base of a kind of layer. source names, for errors, the keys that the
// frequencies come from: the base, and the rope parameters if there are any.
func baseOf(r, rope *reader, f *family, k *kindDefaults) (base float64, source string) {
	given := value{}
	given.agree(rope, "rope_theta")
	for _, key := range k.baseKeys {
		given.agree(r, key)
	}
	base = given.or(k.base)
	if rope.ofKind && !given.given && k.blockBase != 0 {
		base = k.blockBase
	}
	if k.fixedBase != 0 {
		return k.fixedBase, strings.TrimSuffix(rope.path, ".")
	}
	if given.given && base <= 1 {
		given.fail(ErrValue, "a number above 1")
	}
	if f.baseRatio != "" {
		if ratio, ok := r.number(f.baseRatio); ok {
			base *= ratio
			r.failIf(!(base > 1 && base <= math.MaxFloat64), ErrValue, f.baseRatio, ratio, "a number that leaves the base finite and above 1")
		}
	}
	source = strings.TrimSuffix(rope.path, ".")
	switch {
	case !given.given || given.reader == rope:
	case len(rope.keys) == 0:
		source = given.name()
	default:
		source = given.name() + " and " + source
	}
	return base, source
}

// rotaryDimOf returns the number of elements of a head that rotate, and the partial rotary
// factor, under any of its spellings.
func rotaryDimOf(r, rope *reader, f *family, k *kindDefaults, headDim int, headDimKey, ropeType string) (rotaryDim int, partial float64) {
	factor := value{}
	factor.agree(rope, "partial_rotary_factor")
	key, n, counted := cmp.Or(f.countKey, "rotary_dim"), 0, false
	if f.latent {
		// HeadDim is already the rotary part of a head. Some configurations give its size as
		// a part of Q's head.
		factor.agree(r, "partial_rotary_factor")
		nope := r.integerOr([]string{"qk_nope_head_dim"}, f.noPEDim)
		whole := r.integerOr([]string{"head_dim"}, cmp.Or(f.wholeDim, headDim)) // that of Q's heads, in some files
		if factor.given && factor.number != 1 && factor.number != float64(headDim)/float64(headDim+nope) && factor.number != float64(headDim)/float64(whole) {
			factor.fail(ErrContradiction, "1 or %d of %d elements, by qk_rope_head_dim and qk_nope_head_dim", headDim, headDim+nope)
		}
		rope.failIf(ropeType == "proportional", ErrUnknown, "rope_type", quoted(ropeType), "another rule: no model of latent attention has this one (use posenc.RotaryConfig with InvFreq)")
		factor, rotaryDim, partial = value{}, headDim, 1
	} else {
		beside := value{}
		for _, key := range []string{"partial_rotary_factor", "rotary_pct", "rope_pct", "rope_percent", "rope_percentage", "rotary_percent", "rotary_percentage", "rotary_emb_fraction"} {
			beside.agree(r, key)
		}
		switch {
		case !factor.given:
			factor = beside
		case len(f.kinds) == 0 && beside.given && beside.number != factor.number: // of several kinds it is for those whose rope parameters leave it open
			beside.fail(ErrContradiction, "the value of %s, which is %v", factor.name(), factor.number)
		}
		partial = factor.or(k.partial)
		if !(partial > 0 && partial <= 1) {
			factor.fail(ErrValue, "above 0 and at most 1")
			return 0, 0
		}
		rotaryDim = int(float64(headDim) * partial) // as Python's int(head_dim * partial_rotary_factor)
		if f.trailing {
			key = "qk_rope_head_dim"
		}
		n, counted = r.integer(key)
		if counted && n != rotaryDim && (factor.given || ropeType == "proportional") {
			by := "rope_type " + ropeType
			if factor.given {
				by = factor.name()
			}
			r.fail(ErrContradiction, key, n, "%d of %d elements, by %s", rotaryDim, headDim, by)
		}
		switch {
		case ropeType == "proportional": // the ladder itself leaves pairs out
			rotaryDim, counted, factor = headDim, false, value{}
		case counted:
			rotaryDim = n
		case !factor.given && f.rotaryDim != 0:
			rotaryDim = f.rotaryDim
		}
	}
	if r.err != nil || rope.err != nil {
		return 0, 0
	}

	// refuse fails for the key that says how much rotates.
	refuse := func(sentinel error, expected string, args ...any) {
		switch {
		case counted:
			r.fail(sentinel, key, n, expected, args...)
		case factor.given && factor.number != 1:
			factor.fail(sentinel, expected, args...)
		default:
			r.fail(sentinel, headDimKey, kindOf(r.lookup(headDimKey)), expected, args...)
		}
	}
	switch {
	case rotaryDim > headDim && !counted:
		r.fail(ErrContradiction, key, "absent", "a value: its default %d is more than the %d elements of a head", rotaryDim, headDim)
	case rotaryDim > headDim:
		refuse(ErrContradiction, "at most the %d elements of a head", headDim)
	case rotaryDim < 2 || rotaryDim%2 != 0 || rotaryDim > maxRotaryDim:
		refuse(ErrValue, "an even number of rotated elements, from 2 to %d; this makes it %d of %d (or use posenc.RotaryConfig)", maxRotaryDim, rotaryDim, headDim)
	case rotaryDim != headDim && f.wholeHead:
		whole := 1
		if counted {
			whole = headDim
		}
		refuse(ErrContradiction, "%d: models of this type rotate whole heads (posenc.RotaryConfig can rotate a part)", whole)
	}
	return rotaryDim, partial
}

// layoutOf returns the layout of the family, from the key that some have for it.
func layoutOf(r *reader, f *family) posenc.Layout {
	if f.layoutKey == "" {
		return f.layout
	}
	set, ok := r.boolean(f.layoutKey)
	if !ok || set == (f.layout != posenc.HalfSplit) {
		return f.layout
	}
	if set {
		return posenc.Interleaved
	}
	return posenc.HalfSplit
}

// positionKeys checks the keys beside the rope parameters that are about rotary positions and
// that the family does not use.
func positionKeys(r *reader, f *family) {
	r.mustBe(true, ErrNotRotary, "true", "rotary", "use_rotary", "use_rotary_embeddings", "use_rotary_pos_emb", "use_rope")
	r.mustBe(false, ErrNotRotary, "false: ALiBi does not rotate", "alibi", "use_alibi")
	for _, key := range []string{"use_mrope", "rope_3d", "position_embedding_xdrope"} {
		if use, ok := r.boolean(key); ok && use && f.axes == nil {
			r.fail(ErrContradiction, key, true, "false for this model type, which has one axis of positions")
		}
	}
	for _, key := range []string{"rope_interleave", "rope_interleaved", "rotary_emb_interleaved", "rotary_interleaved"} {
		if interleaved := f.layout != posenc.HalfSplit; key != f.layoutKey {
			r.mustBe(interleaved, ErrContradiction, strconv.FormatBool(interleaved)+", the layout of this model type (set Layout in posenc.RotaryConfig)", key)
		}
	}
	r.mustBe(f.layout == posenc.HalfSplit, ErrContradiction, strconv.FormatBool(f.layout == posenc.HalfSplit)+", the layout of this model type (set Layout in posenc.RotaryConfig)", "is_neox_style")
	positionKind(r, f)
	r.failIf(r.has("rotary_emb_scale_base"),
		ErrUnknown, "rotary_emb_scale_base", kindOf(r.lookup("rotary_emb_scale_base")), "null: xPos is not read from configurations")
	if !slices.ContainsFunc(f.kinds, func(k kindDefaults) bool { return k.headDimKey != "" }) {
		single, _ := r.object("per_layer_config")
		for _, number := range sortedKeys(single) {
			if key := "per_layer_config." + number + ".head_dim"; r.has(key) {
				r.fail(ErrUnknown, key, kindOf(r.lookup(key)), "no such key: all heads of this model type have the same size (use posenc.RotaryConfig)")
			}
		}
	}
	for _, key := range []string{"rotary_scaling_factor", "rope_scaling_factor", "rope_ratio", "rope_condense_ratio"} {
		if n, ok := r.number(key); ok && n != 1 && key != f.baseRatio && key != f.factorKey {
			r.fail(ErrUnknown, key, n, "1 or absent for this model type; use rope_scaling or posenc.RotaryConfig")
		}
	}
	var used []string
	for _, k := range f.kindsOrOne() {
		used = append(used, k.baseKeys...)
	}
	for _, key := range allBaseKeys {
		r.failIf(r.has(key) && !slices.Contains(used, key),
			ErrUnknown, key, kindOf(r.lookup(key)), "no such key: models of this type do not have it (use posenc.RotaryConfig)")
	}
}

// allBaseKeys are the spellings of a base beside the rope parameters.
var allBaseKeys = []string{
	"rope_theta", "rope_base", "rotary_emb_base", "rotary_base", "rope_local_base_freq", "rope_global_base_freq",
	"local_rope_theta", "global_rope_theta", "swa_rope_theta", "compress_rope_theta", "local_base_freq",
}

// addIndexer adds the kind of the indexers of a model.
func addIndexer(r *reader, f *family, m *description) {
	x := f.indexer
	if x.layoutKey != "" {
		r.boolean(x.layoutKey)
	}
	if r.err != nil || !slices.ContainsFunc(m.layers, func(l layer) bool { return l.indexer }) {
		return
	}
	if attention, one := m.kinds[""]; one {
		delete(m.kinds, "")
		m.kinds[attentionKind] = attention
		for i := range m.layers {
			m.layers[i].kind = attentionKind
		}
	}
	of := x.attention
	if of == "" {
		of = attentionKind
	}
	k, rotates := m.kinds[of]
	dim := r.integerOr([]string{x.headDimKey}, x.headDim)
	rotaryDim := k.rotary.RotaryDim
	r.failIf(!rotates, ErrContradiction, "model_type", quoted(m.modelType), "indexers in layers that rotate")
	r.failIf(x.headDim == 0 && !r.has(x.headDimKey), ErrValue, x.headDimKey, "absent", "the elements of a head of the indexers")
	r.failIf(dim < rotaryDim, ErrContradiction, x.headDimKey, dim, "at least the %d elements that rotate", rotaryDim)
	layout := x.layout
	if x.layoutKey != "" {
		if interleaved, ok := r.boolean(x.layoutKey); ok && interleaved != (layout != posenc.HalfSplit) {
			layout = posenc.HalfSplit
			if interleaved {
				layout = posenc.InterleavedToHalfSplit
			}
		}
	}
	k.rotary.HeadDim, k.rotary.Layout, k.rotary.Offset = dim, layout, 0
	if x.trailing {
		k.rotary.Offset = dim - rotaryDim
	}
	k.rule = k.rule.withoutSoftmaxScale()
	m.kinds[indexerKind] = k
}

// visionModel returns the configuration of the vision tower, from that of several models.
func visionModel(r *reader) *reader {
	for range 3 {
		modelType, _ := r.text("model_type")
		h := holderOf(modelType)
		if r.err != nil || h == nil || h.tower.key == "" {
			break
		}
		inner, given := r.object(h.tower.key)
		if r.err != nil {
			break
		}
		if !given {
			inner = parsed(h.absentTower)
		}
		tower := r.within(h.tower.key, inner)
		innerType, given := tower.text("model_type")
		if !given {
			tower.keys = withType(inner, h.tower.innerType)
		} else if same := holderOf(innerType); same != nil && same.tower.key == h.tower.key {
			// transformers 4 wrote the type of the whole model.
			tower.keys = withType(inner, same.tower.innerType)
		}
		r = tower
	}
	modelType, given := r.text("model_type")
	if given && towerType(modelType) == nil && positionsOfType(modelType) == "" {
		unknownType(r, modelType, "a vision tower in docs/models.md or a model that holds one", false)
	}
	return r
}

// checkAxialHead fails for a head_dim that is not hidden size by heads.
func checkAxialHead(r *reader, f *family) {
	dim, ok := r.integer("head_dim")
	if hidden, _ := hiddenByHeads(r, f); ok && r.err == nil && dim != hidden {
		r.fail(ErrContradiction, "head_dim", dim, "%s/%s, which is %d", f.names.hidden[0], f.names.heads[0], hidden)
	}
}
