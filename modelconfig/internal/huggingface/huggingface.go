// Package huggingface reads a config.json into a description. It knows rope types and keys, and
// models only by the values of package models.
package huggingface

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
	"github.com/go-posenc/posenc/modelconfig/internal/models"
)

// Read describes the text model of a config.json for a function, or its vision tower, by the code of a type
// if that is not "".
func Read(function string, config []byte, as string, vision bool) (*description.Description, error) {
	r := document.NewReader(function, config)
	if as != "" {
		asType(r, as)
	}
	byArchitecture(r, as != "")
	holder := ""
	if vision {
		r = visionModel(r)
	} else {
		r, holder = textModel(r)
	}
	modelType, ok := r.Text("model_type")
	if !ok {
		r.Fail(document.ErrValue, "model_type", "absent", "%s", untyped(r))
	}
	f := typeNamed(r, modelType, as != "")
	m := &description.Description{ModelType: modelType, Holder: holder, Tower: vision, Kinds: map[string]description.Kind{}}
	if r.Err == nil {
		readModel(r, &f, m)
	}
	if r.Err == nil && as == "" && !vision && holder == "" {
		classDecides(r, function, config, m)
	}
	if r.Err != nil {
		return nil, r.Err
	}
	return m, nil
}

// untyped says what to do with a file that has no model_type.
func untyped(r *document.Reader) string {
	list, _ := r.Keys["architectures"].([]any)
	for _, v := range list {
		name, _ := v.(string)
		if modelType := models.TypeOfUntyped(name); modelType != "" {
			return fmt.Sprintf("one: files of %s are read with Options.Type %q", name, modelType)
		}
	}
	message, failed := r.Keys["error"]
	switch {
	case failed && message != nil:
		return "a config.json: this is the answer of a server: " + document.KindOf(message)
	case r.Has("n_heads") && r.Has("dim"):
		return "a config.json: this is Meta's params.json or Mistral's; set posenc.RotaryConfig directly, with Layout Interleaved, Base rope_theta and as HeadDim head_dim, else dim/n_heads (qk_rope_head_dim of latent attention), or with the InvFreq of frequency.Llama3 where use_scaled_rope is true, or of frequency.YaRN with the object yarn"
	case r.Has("speculators_model_type"):
		return "one: in files of vLLM's speculators it stands in transformer_layer_config; pass that object alone, with Options.Type \"llama\" where it has none"
	}
	return "the type of a model, such as \"llama\"; Options.Type can name it"
}

// asType puts another type in the place of a document's own. A model within it would be lost where
// the type holds none.
func asType(r *document.Reader, modelType string) {
	holds := models.HolderOf(modelType) != nil
	for _, key := range document.SortedKeys(r.Keys) {
		inner, _ := r.Keys[key].(document.Object)
		r.FailIf(inner["model_type"] != nil && !holds, document.ErrContradiction, "options.Type", document.Quoted(modelType), "a type that holds other models, because this one has %s; or pass that object alone", document.Quoted(key))
	}
	r.Set("model_type", modelType)
}

// byArchitecture takes the type of architectures where a file gives the type of other code, unless a caller
// has named it, and the name of an architecture for a type that no list has: vLLM and SGLang go by
// it, and of some models they give nothing else.
func byArchitecture(r *document.Reader, named bool) {
	modelType, isText := r.Keys["model_type"].(string)
	list, _ := r.Keys["architectures"].([]any)
	for _, c := range classesOf(r) {
		if reuse := models.ReuseOf(modelType, c.file, c.name); reuse != nil && reuse.As != "" && !named {
			r.Set("model_type", reuse.As)
			return
		}
	}
	if len(list) == 0 || r.Keys["model_type"] != nil && !isText || models.Reads(modelType) || models.PositionsIn(models.OtherTypes, modelType) != "" {
		return
	}
	if name, _ := list[0].(string); name != "" && strings.Contains("\n"+models.ServedArchitectures, "\n"+name+"\n") {
		r.Set("model_type", name)
	}
}

func textModel(r *document.Reader) (_ *document.Reader, holder string) {
	for range 3 {
		modelType, _ := r.Text("model_type")
		h := models.HolderOf(modelType)
		if r.Err != nil || h == nil || h.Text.Key == "" {
			return r, holder
		}
		if isTowerItself(r, h) {
			r.Fail(document.ErrAbsent, "model_type", document.Quoted(modelType), "a type with a text model: this is the object of its vision tower, which HuggingFaceVision reads")
			return r, holder
		}
		w := h.Text
		holder = modelType
		if outer, ok := r.Object(h.Within); ok && h.Within != "" {
			r = r.Within(h.Within, outer)
		}
		inner, ok := r.Object(w.Key)
		if !ok && models.HolderOf(w.Type) == nil {
			other := modelIn(r.Keys, h.Tower.Key)
			r.FailIf(other != "", document.ErrContradiction, other, "an object with rope parameters",
				"no such object: the text model of %s stands in %s (or pass this one alone, with Options.Type)", modelType, w.Key)
		}
		if !ok && w.Type != "" && !h.Flat && !h.OwnRotation {
			noTextBeside(r, modelType, h)
		}
		switch {
		case ok:
			inner = h.Completed(inner)
		case h.AbsentText != "":
			inner = models.Parsed(h.AbsentText)
		case w.Type == "":
			r.Fail(document.ErrValue, w.Key, "absent", "the text model of %s, for which no default is known; if its keys stand beside the others, set Options.Type to its type", modelType)
			return r, holder
		default:
			// The file is older than text_config, or has only defaults in it.
			r.Set("model_type", w.Type)
			r.Set("architectures", nil) // of the whole model
			continue
		}
		text := r.Within(w.Key, inner)
		if h.Rewrite != nil {
			h.Rewrite(r, text)
			inner = maps.Clone(inner) // of the file and of the code: either may stand beside it
			maps.Copy(inner, text.Keys)
		}
		beside, inside := ropeValues(r.Keys), ropeValues(inner)
		if h.OwnRotation {
			beside = nil
		}
		if inside["rope_type"] == nil {
			inside["rope_type"] = "default"
		}
		for _, key := range document.SortedKeys(beside) {
			r.FailIf(!document.SameValue(beside[key], inside[key]),
				document.ErrContradiction, key, document.KindOf(beside[key]), "the value in %s, the text model, which is %s", w.Key, document.KindOf(inside[key]))
		}
		if innerType, given := text.Text("model_type"); !given && w.Type == "" {
			text.Fail(document.ErrValue, "model_type", "absent", "the type of the text model; or pass %s alone with Options.Type", w.Key)
		} else if !given {
			text.Set("model_type", w.Type)
		} else if innerType != w.Type && !h.AnyText {
			text.Fail(document.ErrContradiction, "model_type", document.Quoted(innerType), "%q, the only text model of %s (pass %s alone to read it as another type)", w.Type, modelType, strings.TrimSuffix(text.Path, "."))
		}
		if innerType, _ := text.Keys["model_type"].(string); models.PositionsIn(models.OtherTypes, innerType) == "" {
			unreadKeysBeside(r, w.Key, inner)
		}
		if r.Err != nil {
			return r, holder
		}
		r = text
		byArchitecture(r, false)
	}
	return r, holder
}

// modelIn returns the path of an object with rope parameters and a size, other than a tower and models of images
// and sounds, or "".
func modelIn(keys document.Object, tower string) string {
	others := []string{"vision", "visual", "vit", "image", "audio", "speech", "codec"}
	for _, key := range document.SortedKeys(keys) {
		inner, ok := keys[key].(document.Object)
		other := func(word string) bool { return slices.Contains(others, word) }
		if !ok || key == tower || slices.ContainsFunc(document.WordsOf(key), other) {
			continue
		}
		rotates, sized := false, false
		for name, v := range inner {
			rotates = rotates || v != nil && slices.Contains([]string{"rope_theta", "rope_scaling", "rope_parameters"}, name)
			sized = sized || v != nil && slices.Contains([]string{"hidden_size", "num_hidden_layers"}, name)
		}
		if rotates && sized {
			return key
		}
		if within := modelIn(inner, tower); within != "" {
			return key + "." + within
		}
	}
	return ""
}

func ropeValues(keys document.Object) document.Object {
	values := document.Object{}
	for _, key := range document.SortedKeys(keys) {
		if keys[key] == nil || !document.NamesRotation(key) {
			continue
		}
		rope, ok := keys[key].(document.Object)
		if !ok {
			values[key] = keys[key]
			continue
		}
		for _, inner := range document.SortedKeys(rope) {
			v := rope[inner]
			if v == "mrope" { // another name, which files have beside default
				v = "default"
			}
			switch {
			case v == nil || inner == "type" && rope["rope_type"] != nil:
			case inner == "type":
				values["rope_type"] = v
			default:
				values[inner] = v
			}
		}
	}
	return values
}

// noTextBeside fails for keys of a text model beside the place where the class of a holder looks for them.
func noTextBeside(r *document.Reader, holder string, h *models.Holder) {
	w, keys := h.Text, models.Spellings{}
	if t := models.Types.Named(w.Type); t != nil {
		keys = *t.WithDefaults().Keys
	}
	sizes := slices.Concat(keys.Hidden, keys.Heads, keys.HeadDim, keys.Layers, keys.Positions, []string{"layer_types"})
	for _, key := range document.SortedKeys(r.Keys) {
		v := r.Keys[key]
		rotation := h.AbsentText == "" && document.NamesRotation(key) // else its own keys are compared with it
		if v != nil && (slices.Contains(sizes, key) || rotation) {
			r.Fail(document.ErrUnknown, document.KeyName(key), document.KindOf(v),
				"no such key beside %s, where %s has its text model; if this file is the text model itself, set Options.Type to its type",
				w.Key, holder)
		}
	}
}

// class is a class of architectures, or of auto_map, where file is the file with its code.
type class struct{ key, file, name string }

// classesOf returns the classes of a file's model.
func classesOf(r *document.Reader) (classes []class) {
	first := func(v any) string {
		if list, ok := v.([]any); ok && len(list) > 0 {
			v = list[0]
		}
		name, _ := v.(string)
		return name
	}
	list, isList := r.Keys["architectures"].([]any)
	if !isList {
		list = []any{r.Keys["architectures"]}
	}
	for _, v := range list {
		if name := first(v); name != "" {
			classes = append(classes, class{key: "architectures", name: name})
		}
	}
	code, _ := r.Keys["auto_map"].(document.Object)
	for _, key := range document.SortedKeys(code) {
		name := first(code[key])
		if name == "" || !strings.HasPrefix(key, "AutoModel") {
			continue
		}
		if _, after, other := strings.Cut(name, "--"); other { // of another repository
			name = after
		}
		file, name, _ := strings.Cut(name, ".")
		classes = append(classes, class{"auto_map." + key, file, name})
	}
	return classes
}

// unrotated fails for a type whose code rotates nothing: as ErrNotRotary only where nothing in the file says that its
// code is another.
func unrotated(r *document.Reader, modelType, positions string, named bool) {
	has := "does not rotate"
	if positions != "" {
		has = "has " + positions
	}
	unread := models.UnreadRotation(modelType)
	key := document.RotationKey(r.Keys, func(key string) bool { return slices.Contains(unread, key) })
	r.FailIf(key != "", document.ErrContradiction, document.KeyName(key), document.KindOf(r.Lookup(key)),
		"no such key: the code of type %s %s. If the model's own code rotates, "+
			"set Options.Type to the type whose code is the same, or use posenc.RotaryConfig", document.Quoted(modelType), has)
	for _, key := range document.SortedKeys(r.Keys) {
		attention, _ := r.Keys[key].(document.Object)
		alibi := document.NamesALiBi(key, r.Keys[key]) || isAttention(key) && document.NamesALiBi("alibi", attention["alibi"])
		r.FailIf(alibi, document.ErrNotRotary, document.KeyName(key), document.KindOf(r.Keys[key]),
			"rotary positions, not %s", models.ALiBi)
	}
	for _, key := range document.SortedKeys(r.Keys) {
		kind, _ := r.Keys[key].(string)
		another := kind != "" && document.SubjectOf(key) == document.AboutKind &&
			!slices.Contains([]string{"absolute", "learned"}, strings.ToLower(kind))
		r.FailIf(another, document.ErrNotRotary, key, document.Quoted(kind), "rotary positions")
	}
	_, known := models.ClassesOf(modelType)
	for _, c := range classesOf(r) {
		reuse := models.ReuseOf(modelType, c.file, c.name)
		switch {
		case named || !known || c.file == "" && sharesPositions(modelType, c.name):
		case reuse != nil && reuse.Positions != "":
			r.Fail(document.ErrNotRotary, c.key, document.Quoted(c.name),
				"a class with rotary positions; this one has %s", reuse.Positions)
		default:
			r.Fail(document.ErrUnknown, c.key, document.Quoted(c.name),
				"a class that transformers has for type %s: what the code of this one does with positions is not known. "+
					"Set Options.Type to the type whose code is the same, which may be %[1]s itself", document.Quoted(modelType))
		}
	}
	if positions == "" {
		r.Fail(document.ErrNotRotary, "model_type", document.Quoted(modelType), "a model with rotary positions; transformers 5.24 has none for this type")
	}
	r.Fail(document.ErrNotRotary, "model_type", document.Quoted(modelType), "a model with rotary positions; this type has %s", positions)
}

// sharesPositions reports whether transformers has a class for a type, or for another type with the same positions.
func sharesPositions(modelType, name string) bool {
	if models.IsClassOf(modelType, name) {
		return true
	}
	positions := models.PositionsIn(models.OtherTypes, modelType)
	return slices.ContainsFunc(models.Unrotated(), func(other string) bool {
		return models.PositionsIn(models.OtherTypes, other) == positions && models.IsClassOf(other, name)
	})
}

func typeNamed(r *document.Reader, modelType string, named bool) models.ModelType {
	t := cmp.Or(models.Types.Named(modelType), models.Towers.Named(modelType))
	positions := models.PositionsIn(models.OtherTypes, modelType)
	if _, listed := models.ClassesOf(modelType); positions != "" || listed && t == nil && models.HolderOf(modelType) == nil {
		unrotated(r, modelType, positions, named)
		return models.ModelType{}
	}
	for _, c := range classesOf(r) {
		if named || c.file != "" || t == nil || t.IsTower() || models.IsClassOf(modelType, c.name) {
			continue
		}
		other := models.UnrotatedTypeOf(c.name)
		r.FailIf(other != "", document.ErrContradiction, c.key, document.Quoted(c.name),
			"a class of type %s, or %q as model_type: this is its class, and its code does not rotate",
			document.Quoted(modelType), other)
	}
	for _, key := range document.SortedKeys(r.Keys) {
		t, _ := r.Keys[key].(string)
		r.FailIf(strings.EqualFold(t, "alibi") && document.SubjectOf(key) == document.AboutKind, document.ErrNotRotary, key, document.Quoted(t), "rotary positions, not %s", models.ALiBi)
	}
	if t != nil && t.Variant != "" {
		if n, _ := r.Integer(t.VariantKey); n > 0 {
			t = models.Types.Named(t.Variant)
		}
	}
	switch h := models.HolderOf(modelType); {
	case t != nil:
		return t.WithDefaults()
	case h != nil && h.Tower.Key != "":
		r.Fail(document.ErrAbsent, "model_type", document.Quoted(modelType), "a type with a text model: this one has a vision tower, which HuggingFaceVision reads")
	default:
		unknownType(r, modelType, "a type in docs/models.md", true)
	}
	return models.ModelType{}
}

// unknownType fails for a type that is in none of the lists; types of text models count where texts
// is set.
func unknownType(r *document.Reader, modelType, expected string, texts bool) {
	_, listed := models.ClassesOf(modelType)
	r.FailIf(listed, document.ErrNotRotary, "model_type", document.Quoted(modelType), "a model with rotary positions; transformers 5.24 has none for this type")
	known := slices.Concat(models.Towers.Names(), models.Holders.Names(), models.OtherTypes.Names())
	if texts {
		known = append(known, models.Types.Names()...)
	}
	slices.Sort(known)
	r.Fail(document.ErrUnknown, "model_type", document.Quoted(modelType), "%s%s; for others set Options.Type to the type whose code is the same, or use posenc.RotaryConfig, with values from the model's own code", expected, document.NearestNote(modelType, known))
}

func readModel(r *document.Reader, f *models.ModelType, m *description.Description) {
	if f.Refusal != "" {
		r.Fail(document.ErrUnknown, "model_type", document.Quoted(m.ModelType), "another type: this one %s", f.Refusal)
		return
	}
	for _, key := range f.Required {
		list, isList := r.Lookup(key).([]any)
		given := r.Has(key) && !(isList && len(list) == 0) || r.Has("rope_parameters."+key) || r.Has("rope_scaling."+key)
		r.FailIf(!given, document.ErrValue, key, "absent", "a value: models of this type have no common default")
	}
	if f.Axes == nil { // before sizes, which drafts have of their targets
		r.MustLack(noAxes, "rope_scaling.mrope_section", "rope_parameters.mrope_section")
	}
	nulls(r, f, m.ModelType)
	if f.PositionType != "" {
		kind, given := r.Text("position_embedding_type")
		if !given {
			kind = cmp.Or(f.AbsentPositionType, f.PositionType)
		}
		if key := document.RotationKey(r.Keys, func(string) bool { return false }); !given && kind != f.PositionType && key != "" {
			r.Fail(document.ErrContradiction, document.KeyName(key), document.KindOf(r.Lookup(key)), "position_embedding_type %q with it: without one, files of this type have positions of the kind %q", f.PositionType, kind)
		}
		r.FailIf(kind != f.PositionType, document.ErrNotRotary, "position_embedding_type", document.Quoted(kind), "%q", f.PositionType)
	}
	if f.Check != nil {
		f.Check(r)
	}
	positionKeys(r, f)
	if f.Positions == 0 { // no source has defaults
		for _, keys := range [][]string{f.Keys.Hidden, f.Keys.Heads, f.Keys.Layers, f.Keys.Positions} {
			r.FailIf(!r.Has(r.Spelling(keys)), document.ErrValue, keys[0], "absent", "a value: no default is known for %s", m.ModelType)
		}
	}
	unreadHeadDim(r, f)
	layers := r.IntegerOr(f.Keys.Layers, f.Layers)
	r.FailIf(layers < 1 || layers > models.MaxLayers, document.ErrValue, r.Spelling(f.Keys.Layers), layers, "from 1 to %d", models.MaxLayers)
	if r.Err != nil {
		return
	}
	m.Layers = f.Plan(r, layers)
	if len(f.Kinds) == 0 {
		for i := range m.Layers {
			m.Layers[i].Kind = ""
		}
	}
	if f.Rewrite != nil && r.Err == nil {
		f.Rewrite(r, m.Layers)
	}
	kinds := f.KindsOrOne()
	if f.Lists != nil && r.Err == nil {
		kinds = f.Lists(r, f.ListKey, f, m.Layers)
	}
	ropes := readRopes(r, f)
	scaling, _ := r.Object("rope_scaling")
	m.ScalingUnread = f.ScalingUnread != nil && len(scaling) > 0 && f.ScalingUnread(r) && scaling["type"] != "default" && scaling["rope_type"] != "default"
	for _, k := range kinds {
		rope := cmp.Or(ropes[k.LayerType], ropes[""]) // the latter where f.Lists made the kinds
		if rope == nil && rotatesAny(m.Layers, k.LayerType) {
			r.Fail(document.ErrValue, "rope_parameters."+k.LayerType, "null", "an object: this model has layers of this kind that rotate, and the class of its type fills in nothing for null")
		}
		if rope == nil || r.Err != nil {
			continue
		}
		m.Kinds[k.LayerType] = readKind(r, rope, f, &k, m)
		r.Err = cmp.Or(r.Err, rope.Err)
	}
	rotating := map[string]bool{description.IndexerKind: slices.ContainsFunc(m.Layers, func(l description.Layer) bool { return l.Indexer })}
	for i := range m.Layers {
		layer := &m.Layers[i]
		_, known := m.Kinds[layer.Kind]
		layer.Rotates = layer.Rotates && known
		rotating[layer.Kind] = rotating[layer.Kind] || layer.Rotates
	}
	maps.DeleteFunc(m.Kinds, func(layerType string, _ description.Kind) bool { return !rotating[layerType] })
	r.FailIf(len(m.Kinds) == 0, document.ErrNotRotary, "model_type", document.Quoted(m.ModelType), "a model in which some layer rotates; by the other keys none does")
	if f.Indexer != nil {
		addIndexer(r, f, m)
	}
	m.ScalingTensor = f.ScalingTensor
	m.Latent = f.Latent
	m.Patches, m.Traps = *cmp.Or(f.Patches, new(description.PatchOrder)), f.Traps
	if !f.IsTower() {
		m.ContextLength = r.IntegerOr(f.Keys.Positions, f.Positions)
	}
	if f.DualChunk {
		readDualChunk(r, m)
	}
	readOriginalLength(r, m)
	unreadKeys(r, f, r.Keys, "")
}

// rotatesAny reports whether a layer of a kind rotates, or an indexer for its kind.
func rotatesAny(layers []description.Layer, kind string) bool {
	return slices.ContainsFunc(layers, func(l description.Layer) bool {
		return l.Rotates && l.Kind == kind || l.Indexer && kind == description.IndexerKind
	})
}

// nulls fails for a null that the class of the type takes for no value.
func nulls(r *document.Reader, f *models.ModelType, modelType string) {
	refused, whole := models.Checked(modelType)
	sizes := slices.Concat(f.Keys.Hidden, f.Keys.Heads, f.Keys.Layers, f.Keys.Positions, refused, []string{"num_hidden_layers"})
	if f.Latent {
		sizes = append(sizes, "qk_nope_head_dim")
	}
	for _, key := range sizes {
		v, given := r.Keys[key]
		r.FailIf(given && v == nil, document.ErrValue, key, "null", "a value, or no such key: the class of this model type takes no null")
	}
	if !whole {
		return
	}
	hidden, heads := r.IntegerOr(f.Keys.Hidden, f.Hidden), r.IntegerOr(f.Keys.Heads, f.Heads)
	r.FailIf(heads > 0 && hidden%heads != 0, document.ErrValue, r.Spelling(f.Keys.Hidden), hidden, "a multiple of %s, which is %d, as the class of this model type does", r.Spelling(f.Keys.Heads), heads)
}

// readOriginalLength checks the trained length beside the rope parameters, where no rule has read it. Most rules
// do not depend on it.
func readOriginalLength(r *document.Reader, m *description.Description) {
	n, given := r.Integer("original_max_position_embeddings")
	for _, k := range m.Kinds {
		dynamic := k.Rule.Described.Name == "dynamic NTK"
		r.FailIf(given && dynamic, document.ErrUnknown, "original_max_position_embeddings", n,
			"no such key beside rope_type dynamic, which begins at max_position_embeddings in transformers, and here in vLLM")
	}
}

// readDualChunk reads the chunks of Qwen2.5 1M. Programs that do so read no rule of the rope parameters then.
func readDualChunk(r *document.Reader, m *description.Description) {
	const key = "dual_chunk_attention_config"
	if _, ok := r.Object(key); !ok {
		return
	}
	size := func(name string, least, most int) int {
		n, ok := r.Integer(key + "." + name)
		value := document.KindOf(r.Lookup(key + "." + name))
		r.FailIf(!ok || n < least || n > most, document.ErrValue, key+"."+name, value, "from %d to %d", least, most)
		return n
	}
	m.DualChunk.ChunkSize = size("chunk_size", 1, 1<<30)
	m.DualChunk.LocalSize = size("local_size", 0, m.DualChunk.ChunkSize-1)
	if original := key + ".original_max_position_embeddings"; r.Has(original) {
		m.DualChunk.OriginalPositions = size("original_max_position_embeddings", 1, math.MaxInt32)
	}
	for _, k := range m.Kinds {
		r.FailIf(k.Rule.Described.Name != "default", document.ErrContradiction, key, "an object",
			"no such key together with a rule of the rope parameters, which programs with dual chunk attention do not read")
	}
}

// headDim returns the elements of a head, and the key that they come from.
func headDim(r *document.Reader, f *models.ModelType, k *models.KindDefaults, layers []description.Layer) (dim int, key string) {
	dim, key = headDimOf(r, f, k, layers)
	r.FailIf(dim < 2, document.ErrValue, key, document.KindOf(r.Lookup(key)), "at least 2 elements per head, not %d", dim)
	return dim, key
}

func headDimOf(r *document.Reader, f *models.ModelType, k *models.KindDefaults, layers []description.Layer) (dim int, key string) {
	if k.HeadDimKey != "" {
		dim := document.Value{Key: k.HeadDimKey}
		r.Integer(k.HeadDimKey) // fails for what is not whole
		dim.Agree(r, k.HeadDimKey)
		perLayerHeadDim(r, k, layers, &dim)
		absent := k.HeadDim
		if absent == 0 && !dim.Given {
			absent, dim.Key = headDimOf(r, f, &models.KindDefaults{}, nil)
		}
		return int(dim.Or(float64(absent))), dim.Key
	}
	for _, key := range f.Keys.HeadDim {
		if r.Has(key) {
			return r.IntegerOr(f.Keys.HeadDim, 0), key
		}
		if _, null := r.Keys[key]; null && r.Err == nil {
			r.FailIf(f.Latent || f.Heads == 0 && !r.Has(r.Spelling(f.Keys.Heads)), document.ErrValue, key, "null", "a number, or no such key")
			return hiddenByHeads(r, f)
		}
	}
	if f.HeadDim != 0 {
		return f.HeadDim, f.Keys.HeadDim[0]
	}
	return hiddenByHeads(r, f)
}

// perLayerHeadDim reads per_layer_config of transformers 5.
func perLayerHeadDim(r *document.Reader, k *models.KindDefaults, layers []description.Layer, dim *document.Value) {
	single, _ := r.Object("per_layer_config")
	for _, number := range document.SortedKeys(single) {
		key := "per_layer_config." + number + ".head_dim"
		if !r.Has(key) {
			continue
		}
		i, err := strconv.Atoi(number)
		r.FailIf(err != nil || i < 0 || i >= len(layers) || layers[i].Kind != k.LayerType,
			document.ErrUnknown, key, document.KindOf(r.Lookup(key)), "the number of a layer of %s", k.LayerType)
		r.Integer(key)
		dim.Agree(r, key)
	}
}

func hiddenByHeads(r *document.Reader, f *models.ModelType) (dim int, key string) {
	hidden := r.IntegerOr(f.Keys.Hidden, f.Hidden)
	heads := r.IntegerOr(f.Keys.Heads, f.Heads)
	key, byKey := r.Spelling(f.Keys.Hidden), r.Spelling(f.Keys.Heads)
	if heads < 1 {
		r.Fail(document.ErrValue, byKey, heads, "at least 1")
		return 0, key
	}
	if hidden < 1 || hidden%heads != 0 {
		r.Fail(document.ErrValue, key, hidden, "a positive multiple of %s, which is %d; or set head_dim", byKey, heads)
		return 0, key
	}
	if !r.Has(key) {
		key = byKey
	}
	return hidden / heads, key
}

func readKind(r, rope *document.Reader, f *models.ModelType, k *models.KindDefaults, m *description.Description) description.Kind {
	positions := r.IntegerOr(f.Keys.Positions, f.Positions)
	whole := f.Latent && k.Like != nil && !k.Like.Latent
	if k.Like != nil {
		like := k.Like.WithDefaults()
		f = &like
	}
	base, source := baseOf(r, rope, f, k)
	if f.BaseUnread != nil && slices.ContainsFunc(k.BaseKeys, r.Has) && base != k.Base && f.BaseUnread(r) {
		m.BaseUnread = true
	}
	dim, dimKey := headDim(r, f, k, m.Layers)
	cfg := posenc.RotaryConfig{HeadDim: dim, Layout: layoutOf(r, f.LayoutKey, f.Layout, posenc.Interleaved)}
	ropeType := ropeTypeOf(rope, f)
	if k.Unscaled {
		ropeType = "default"
	}
	rotaryDim, partial := rotaryDimOf(r, rope, f, k, dim, dimKey, ropeType)
	cfg.RotaryDim = rotaryDim
	if f.Trailing {
		cfg.Offset = dim - cfg.RotaryDim
	}
	if f.Axes != nil && f.Axes.Implied != nil {
		r.FailIf(rotaryDim%8 != 0, document.ErrValue, dimKey, dim, "a multiple of 8, whose pairs have the axes of the code of this type")
	}
	axes, count := readAxes(f, rope, rotaryDim/2)
	cfg.Axes, m.Axes = axes, max(m.Axes, count)
	p := models.RopeParameters{
		Reader: rope, Model: r, Type: f, Kind: k,
		RopeType: ropeType, HeadDim: dim, HeadDimKey: dimKey, RotaryDim: rotaryDim, Base: base, Partial: partial,
		Positions: positions,
	}
	if f.QueryScale != nil {
		m.QueryScale, m.ScalesRotating = f.QueryScale(&p), f.ScalesRotating
	}
	rule, kept := ruleOf(&p), 0
	if f.Fourier != nil {
		kept = f.Fourier(&p)
	}
	if f.Spread {
		r.FailIf(dim%2 != 0 || dim > description.MaxRotaryDim, document.ErrValue, dimKey, dim, "an even number of elements, from 2 to %d", description.MaxRotaryDim)
	}
	if f.Spread && rotaryDim < dim && rule.Ladder != nil && r.Err == nil {
		rule, cfg.RotaryDim = rule.Spread(dim/2), dim
	}
	if kept > 0 {
		cfg.RotaryDim, rule.Described.Name = 2*kept, "FoPE"
		rule = rule.With(func(ladder *frequency.Ladder) { ladder.InvFreq = ladder.InvFreq[:min(kept, len(ladder.InvFreq))] })
	}
	for _, key := range document.SortedKeys(rope.Keys) {
		rope.FailIf(rope.Keys[key] != nil && !rope.Seen[key] && !k.Unscaled,
			document.ErrUnknown, document.Quoted(key), document.KindOf(rope.Keys[key]), "no such key: with the other keys as they are, nothing reads it (use posenc.RotaryConfig if it matters)")
	}
	if f.Inverse {
		rule = rule.With(func(ladder *frequency.Ladder) {
			for i := range ladder.InvFreq {
				ladder.InvFreq[i] = -ladder.InvFreq[i]
			}
		})
	}
	return description.Kind{Rotary: cfg, Rule: rule, Source: source, Learned: f.Learned, Whole: whole, Fourier: kept > 0}
}

// baseOf returns a base, and for errors the keys that the frequencies come from.
func baseOf(r, rope *document.Reader, f *models.ModelType, k *models.KindDefaults) (base float64, source string) {
	given := document.Value{}
	given.Agree(rope, "rope_theta")
	for _, key := range k.BaseKeys {
		given.Agree(r, key)
	}
	base, source = given.Or(k.Base), strings.TrimSuffix(rope.Path, ".")
	r.FailIf(!given.Given && f.Positions == 0, document.ErrValue, "rope_theta", "absent", "a value: no default is known for this type")
	block := rope.OfKind || len(f.Kinds) == 0 && r.Has("rope_parameters")
	empty, _ := r.Object("rope_parameters")
	rope.FailIf(k.NeedsBase && block && (!given.Given || len(f.Kinds) == 0 && len(empty) == 0), document.ErrValue, "rope_theta", "absent", "a base, which the class of this model type needs in rope parameters that a file has")
	if rope.OfKind && !given.Given && k.BlockBase != 0 {
		base = k.BlockBase
	}
	if k.FixedBase != 0 {
		return k.FixedBase, source
	}
	for _, key := range k.BaseKeys {
		r.FailIf(!given.Given && r.IsNull(key), document.ErrValue, key, "null", "a base, or no such key")
	}
	rope.FailIf(!given.Given && rope.IsNull("rope_theta"), document.ErrValue, "rope_theta", "null", "a base, or no such key")
	if given.Given && base <= 1 {
		given.Fail(document.ErrValue, "a number above 1")
	}
	if f.BaseRatio != "" {
		r.FailIf(r.IsNull(f.BaseRatio), document.ErrValue, f.BaseRatio, "null", "a number, or no such key")
		if ratio, ok := r.Number(f.BaseRatio); ok {
			base *= ratio
			r.FailIf(!(base > 1 && base <= math.MaxFloat64), document.ErrValue, f.BaseRatio, ratio, "a number that leaves the base finite and above 1")
		}
	}
	switch {
	case !given.Given || given.Reader == rope:
	case len(rope.Keys) == 0:
		source = given.Name()
	default:
		source = given.Name() + " and " + source
	}
	return base, source
}

// rotaryDimOf returns how many elements rotate, and the partial rotary factor.
func rotaryDimOf(r, rope *document.Reader, f *models.ModelType, k *models.KindDefaults, headDim int, headDimKey, ropeType string) (rotaryDim int, partial float64) {
	factor := document.Value{}
	factor.Agree(rope, "partial_rotary_factor")
	read := !f.WholeHead() || ropeType != "default" // else no code looks at it
	rope.FailIf(read && rope.IsNull("partial_rotary_factor"), document.ErrValue, "partial_rotary_factor", "null", "a number, or no such key")
	rope.FailIf(k.NeedsPart && rope.OfKind && !factor.Given, document.ErrValue, "partial_rotary_factor", "absent", "%v, or another part: without it the class of this model type takes 1", k.Partial)
	key, n, counted := cmp.Or(f.CountKey, "rotary_dim"), 0, false
	counts := f.CountKey != "" || f.RotaryDim != 0 || f.Trailing
	if f.Latent {
		// HeadDim is already the rotary part of a head. Some configurations give its size as
		// a part of Q's head.
		factor.Agree(r, "partial_rotary_factor")
		nope := r.IntegerOr([]string{"qk_nope_head_dim"}, f.NoPEDim)
		whole := r.IntegerOr([]string{"head_dim"}, cmp.Or(f.WholeDim, headDim)) // the head of Q, in some files
		switch {
		case !factor.Given || factor.Number == 1:
		case !f.PartOfQ:
			factor.Fail(document.ErrContradiction, "1: in this model type all of qk_rope_head_dim rotates")
		case factor.Number != float64(headDim)/float64(headDim+nope) && factor.Number != float64(headDim)/float64(whole):
			factor.Fail(document.ErrContradiction, "1 or %d of %d elements, by qk_rope_head_dim and qk_nope_head_dim", headDim, headDim+nope)
		}
		rope.FailIf(ropeType == "proportional", document.ErrUnknown, "rope_type", document.Quoted(ropeType), "another rule: no model of latent attention has this one (use posenc.RotaryConfig with InvFreq)")
		factor, rotaryDim, partial = document.Value{}, headDim, 1
	} else {
		beside := document.Value{}
		for _, key := range f.PartKeys {
			_, given := r.Keys[key]
			r.FailIf(given && r.Keys[key] == nil && !f.WholeHead(), document.ErrValue, key, "null", "a number, or no such key")
			beside.Agree(r, key)
		}
		switch {
		case !factor.Given:
			factor = beside
		case len(f.Kinds) == 0 && beside.Given && beside.Number != factor.Number: // of several kinds it is for those whose rope parameters leave it open
			beside.Fail(document.ErrContradiction, "the value of %s, which is %v", factor.Name(), factor.Number)
		}
		partial = factor.Or(cmp.Or(k.Partial, 1))
		if !(partial > 0 && partial <= 1) {
			factor.Fail(document.ErrValue, "above 0 and at most 1")
			return 0, 0
		}
		rotaryDim = int(float64(headDim) * partial) // as Python's int(head_dim * partial_rotary_factor)
		if f.Trailing {
			key = "qk_rope_head_dim"
		}
		if counts {
			n, counted = r.Integer(key)
		}
		if counted && n != rotaryDim && (factor.Given || ropeType == "proportional") {
			by := "rope_type " + ropeType
			if factor.Given {
				by = factor.Name()
			}
			r.Fail(document.ErrContradiction, key, n, "%d of %d elements, by %s", rotaryDim, headDim, by)
		}
		switch {
		case ropeType == "proportional": // the ladder itself leaves pairs out
			rotaryDim, counted, factor = headDim, false, document.Value{}
		case counted:
			rotaryDim = n
		case !factor.Given && f.RotaryDim != 0:
			rotaryDim = f.RotaryDim
		}
	}

	// refuse fails for the key that says how much rotates.
	refuse := func(sentinel error, expected string, args ...any) {
		switch {
		case counted:
			r.Fail(sentinel, key, n, expected, args...)
		case factor.Given && factor.Number != 1:
			factor.Fail(sentinel, expected, args...)
		default:
			r.Fail(sentinel, headDimKey, document.KindOf(r.Lookup(headDimKey)), expected, args...)
		}
	}
	switch {
	case rotaryDim > headDim && !counted:
		r.Fail(document.ErrContradiction, key, "absent", "a value: its default %d is more than the %d elements of a head", rotaryDim, headDim)
	case rotaryDim > headDim:
		refuse(document.ErrContradiction, "at most the %d elements of a head", headDim)
	case rotaryDim < 2 || rotaryDim%2 != 0 || rotaryDim > description.MaxRotaryDim:
		refuse(document.ErrValue, "an even number of rotated elements, from 2 to %d; this makes it %d of %d (or use posenc.RotaryConfig)", description.MaxRotaryDim, rotaryDim, headDim)
	case rotaryDim != headDim && f.WholeHead():
		whole := 1
		if counted {
			whole = headDim
		}
		refuse(document.ErrContradiction, "%d: models of this type rotate whole heads (posenc.RotaryConfig can rotate a part)", whole)
	}
	if !f.Latent && r.Err == nil {
		unreadParts(r, f, headDim, rotaryDim, partial)
	}
	return rotaryDim, partial
}

var allPartKeys = []string{
	"partial_rotary_factor", "rotary_pct", "rope_pct", "rope_percent", "rope_percentage", "rotary_percent", "rotary_percentage", "rotary_emb_fraction",
}

// unreadParts fails for a part that the code of the type does not read and that is not the one that rotates.
func unreadParts(r *document.Reader, f *models.ModelType, headDim, rotaryDim int, partial float64) {
	switch n, given := r.Integer("rotary_dim"); {
	case !given || n == rotaryDim || f.CountKey == "rotary_dim" || f.RotaryDim != 0 && f.CountKey == "":
	case f.WholeHead():
		r.Fail(document.ErrContradiction, "rotary_dim", n, "%d: models of this type rotate whole heads (posenc.RotaryConfig can rotate a part)", headDim)
	default:
		r.Fail(document.ErrUnknown, "rotary_dim", n, "%d, the elements that rotate, or no such key: the code of this type does not read it", rotaryDim)
	}
	for _, key := range allPartKeys {
		n, given := r.Number(key)
		switch {
		case !given || slices.Contains(f.PartKeys, key) || n == partial || int(float64(headDim)*n) == rotaryDim:
		case f.WholeHead():
			r.Fail(document.ErrContradiction, key, n, "1: models of this type rotate whole heads (posenc.RotaryConfig can rotate a part)")
		default:
			r.Fail(document.ErrUnknown, key, n, "%v, the part that rotates, or no such key: the code of this type does not read it", float64(rotaryDim)/float64(headDim))
		}
	}
}

// layoutOf returns the usual layout, or another by a key that says whether pairs are interleaved.
func layoutOf(r *document.Reader, key string, usual, interleaved posenc.Layout) posenc.Layout {
	is := usual != posenc.HalfSplit
	v, given := r.Keys[key]
	r.FailIf(is && given && v == nil, document.ErrValue, key, "null", "true or false: programs take null for either")
	switch set := key != "" && r.Flag(key, is); {
	case key == "" || set == is:
		return usual
	case set:
		return interleaved
	}
	return posenc.HalfSplit
}

// positionKeys checks keys that the type does not use.
func positionKeys(r *document.Reader, f *models.ModelType) {
	r.MustBe(true, document.ErrNotRotary, "true", "rotary", "use_rotary", "use_rotary_embeddings", "use_rotary_pos_emb", "use_rope")
	r.MustBe(false, document.ErrNotRotary, "false: ALiBi does not rotate", "alibi", "use_alibi")
	for _, key := range []string{"use_mrope", "rope_3d", "position_embedding_xdrope"} {
		r.FailIf(r.Flag(key, false) && f.Axes == nil, document.ErrContradiction, key, true, "false for this model type, which has one axis of positions")
	}
	const layout = "%t, the layout of this model type (set Layout in posenc.RotaryConfig)"
	halves := f.Layout == posenc.HalfSplit
	for _, key := range []string{"rope_interleave", "rope_interleaved", "rotary_emb_interleaved", "rotary_interleaved"} {
		if key != f.LayoutKey {
			r.MustBe(!halves, document.ErrContradiction, fmt.Sprintf(layout, !halves), key)
		}
	}
	r.MustBe(halves, document.ErrContradiction, fmt.Sprintf(layout, halves), "is_neox_style")
	r.Integer("original_max_position_embeddings") // before positionKind, which takes a text for a kind
	positionKind(r, f)
	r.MustBe(true, document.ErrUnknown, "true or no such key: the only known code with this key, of LFM2, rotates in any case", "use_pos_enc")
	if !f.DualChunk {
		r.MustLack("no such key: programs have dual chunk attention for Qwen 2 and 3 only (posenc.DualChunk has its positions)",
			"dual_chunk_attention_config")
	}
	r.MustLack("null: xPos is not read from configurations", "rotary_emb_scale_base")
	if !slices.ContainsFunc(f.Kinds, func(k models.KindDefaults) bool { return k.HeadDimKey != "" }) {
		single, _ := r.Object("per_layer_config")
		for _, number := range document.SortedKeys(single) {
			r.MustLack("no such key: all heads of this model type have the same size (use posenc.RotaryConfig)", "per_layer_config."+number+".head_dim")
		}
	}
	for _, key := range []string{"rotary_scaling_factor", "rope_scaling_factor", "rope_ratio", "rope_condense_ratio", "interpolate_factor"} {
		n := r.NumberOr(key, 1)
		r.FailIf(n != 1 && key != f.BaseRatio && key != f.FactorKey, document.ErrUnknown, key, n, "1 or absent for this model type; use rope_scaling or posenc.RotaryConfig")
	}
	var used []string
	for _, k := range f.KindsOrOne() {
		used = append(used, k.BaseKeys...)
	}
	for _, key := range allBaseKeys {
		if !slices.Contains(used, key) {
			r.MustLack("no such key: models of this type do not have it (use posenc.RotaryConfig)", key)
		}
	}
}

var allBaseKeys = []string{
	"rope_theta", "rope_base", "rotary_emb_base", "rotary_base", "rope_local_base_freq", "rope_global_base_freq",
	"local_rope_theta", "global_rope_theta", "swa_rope_theta", "compress_rope_theta", "local_base_freq", "rope_embedding_base",
}

func addIndexer(r *document.Reader, f *models.ModelType, m *description.Description) {
	x := f.Indexer
	layout := layoutOf(r, x.LayoutKey, x.Layout, posenc.InterleavedToHalfSplit)
	if r.Err != nil || !slices.ContainsFunc(m.Layers, func(l description.Layer) bool { return l.Indexer }) {
		return
	}
	k, rotates := m.Kinds[x.Attention]
	key, rotaryDim := cmp.Or(x.HeadDimKey, "index_head_dim"), k.Rotary.RotaryDim
	dim := r.IntegerOr([]string{key}, 128)
	r.FailIf(!rotates, document.ErrContradiction, "model_type", document.Quoted(m.ModelType), "indexers in layers that rotate")
	r.FailIf(x.HeadDimKey != "" && !r.Has(key), document.ErrValue, key, "absent", "the elements of a head of the indexers")
	r.FailIf(dim < rotaryDim, document.ErrContradiction, key, dim, "at least the %d elements that rotate", rotaryDim)
	m.AddIndexer(x.Attention, dim, layout, x.Trailing)
}

// visionModel returns the reader of the vision tower.
func visionModel(r *document.Reader) *document.Reader {
	whole := r
	for range 3 {
		modelType, _ := r.Text("model_type")
		h := models.HolderOf(modelType)
		if positions := models.PositionsIn(models.OtherTowers, modelType); positions != "" {
			if tower, _ := r.Object("vision_config"); tower != nil {
				key := document.RotationKey(tower, func(string) bool { return false })
				r.FailIf(key != "", document.ErrContradiction, "vision_config."+key, document.KindOf(r.Lookup("vision_config."+key)), "no such key: the vision tower of this type has %s (use posenc.RotaryConfig if its own code rotates)", positions)
			}
			r.Fail(document.ErrNotRotary, "model_type", document.Quoted(modelType), "a model whose vision tower rotates by rows and columns; the one of this type has %s", positions)
		}
		if r.Err != nil || h == nil || h.Tower.Key == "" {
			break
		}
		if isTowerItself(r, h) {
			r.Set("model_type", h.Tower.Type)
			break
		}
		inner, given := r.Object(h.Tower.Key)
		if !given {
			inner = models.Parsed(h.AbsentTower)
		}
		r = r.Within(h.Tower.Key, inner)
		innerType, given := r.Text("model_type")
		if !given || innerType == h.TowerName {
			r.Set("model_type", h.Tower.Type)
		} else if same := models.HolderOf(innerType); same != nil && same.Tower.Key == h.Tower.Key {
			r.Set("model_type", same.Tower.Type) // transformers 4 wrote the type of the whole model
		}
	}
	modelType, given := r.Text("model_type")
	isText := models.Types.Named(modelType) != nil || models.HolderOf(modelType) != nil
	if r == whole && isText && models.Towers.Named(modelType) == nil && !slices.ContainsFunc(models.TowerKeys(), r.Has) {
		r.Fail(document.ErrAbsent, "model_type", document.Quoted(modelType), "a vision tower or a model that holds one; HuggingFace reads this text model")
	}
	_, listed := models.ClassesOf(modelType)
	if given && models.Towers.Named(modelType) == nil && models.PositionsIn(models.OtherTypes, modelType) == "" && (!listed || models.Reads(modelType)) {
		unknownType(r, modelType, "a vision tower in docs/models.md or a model that holds one", false)
	}
	return r
}

// isTowerItself reports whether a file is the object of a tower, which transformers 4 gave the type of the whole model:
// it has sizes by names that only the tower's class has.
func isTowerItself(r *document.Reader, h *models.Holder) bool {
	t := models.Towers.Named(h.Tower.Type)
	if t == nil || t.Keys == nil || r.Has(h.Tower.Key) || h.Text.Key != "" && r.Has(h.Text.Key) {
		return false
	}
	usual := (&models.ModelType{}).WithDefaults().Keys
	has := func(names, usual []string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(usual, name) && r.Has(name) })
	}
	return has(t.Keys.Layers, usual.Layers) || has(t.Keys.Heads, usual.Heads)
}

// unreadHeadDim fails for a head_dim that the code does not read and that is not what it computes.
func unreadHeadDim(r *document.Reader, f *models.ModelType) {
	given, ok := r.Integer("head_dim")
	read := slices.Contains(f.Keys.HeadDim, "head_dim")
	if !ok || f.Latent || read != f.IsTower() {
		return
	}
	dim, _ := hiddenByHeads(r, f)
	by := r.Spelling(f.Keys.Hidden) + "/" + r.Spelling(f.Keys.Heads)
	if !f.IsTower() && len(f.Keys.HeadDim) > 0 { // under another name
		dim, by = headDimOf(r, f, &models.KindDefaults{}, nil)
	}
	r.FailIf(r.Err == nil && given != dim, document.ErrContradiction, "head_dim", given, "%s, which is %d", by, dim)
}
