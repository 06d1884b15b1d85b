package modelconfig

import (
	"cmp"
	"maps"
	"slices"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
)

// vendor has models of one vendor, or of one kind: what their code does and their files do not
// say. The zero value of each field is the usual case. A further model is one value in the file of
// its vendor.
//
// Source: transformers 5.23 (configuration_*.py, modeling_*.py); where it has no such type, the code
// published with the model and vLLM's. Of GGUF: llama.cpp of autumn 2026 (llama_model_rope_type and
// the files of src/models).
type vendor struct {
	types          []modelType   // by model_type
	towers         []modelType   // of vision, by the model_type of their own configuration
	holders        []holder      // of other models
	otherPositions []positionsOf // types whose positions are of another kind

	architectures        []ggufArchitecture // by general.architecture
	otherArchitectures   []positionsOf
	refusedArchitectures []refusedArchitecture
}

// modelType is a model_type.
type modelType struct {
	name string
	keys *spellings // of its sizes; nil: the usual ones

	hidden, heads, headDim, layers, positions int // defaults; headDim 0: hidden by heads
	base                                      float64
	baseKeys                                  []string // spellings of the base beside the rope parameters; nil: rope_theta
	noBaseKey                                 bool
	baseRatio                                 string               // a key that multiplies the base
	baseUnread, scalingUnread                 func(r *reader) bool // as in family

	part      float64 // default of partial_rotary_factor; 0: heads rotate whole, whatever the key says
	rotaryDim int     // default of rotary_dim, for types that count elements
	countKey  string  // another name of rotary_dim
	trailing  bool    // the rotated elements are the last of the head
	latent    bool    // latent attention: the head is its rotary part, and YaRN scales the softmax too
	noPEDim   int     // latent: default of qk_nope_head_dim
	wholeDim  int     // latent: default of head_dim, where the class has one for all of Q's head

	layout    posenc.Layout // 0: half-split; of latent attention InterleavedToHalfSplit
	layoutKey string        // a key that is false where the layout is half-split

	// Which layers there are and which rotate: those of plan, or those that layerTypes or
	// noRopeInterval tell, or else all.
	plan           plan
	layerTypes     *layerTypesRule
	rotating       []string // the layer types that rotate; nil: all
	noRopeInterval int      // default of no_rope_layer_interval
	kinds          []kindDefaults
	listKey        string // a list with an entry for each layer, by which lists makes kinds
	lists          func(r *reader, key string, f *family, layers []layer) []kindDefaults
	rewrite        func(r *reader, layers []layer) // brings keys into the usual form

	indexer     *indexer
	indexers    indexerLayers // which layers have one
	indexerType string        // the layer type that has one, in place of indexers

	axes     axesRule
	sections []int // default of mrope_section

	flatBlock         bool     // a flat rope_parameters is read as rope_scaling is
	alpha             bool     // "dynamic" may have alpha (HunYuan)
	yarnIsLongRoPE    bool     // early files say yarn (Phi-3)
	originalPositions int      // default of original_max_position_embeddings beside the rope parameters
	extraKeys         []string // of the rope parameters
	unread            []string // keys that name positions and that the code does not read
	factorKey         string   // a factor beside the rope parameters, which rule reads
	absent            string   // the rope parameters of a configuration without any, as JSON
	inverse           bool     // pairs turn the other way
	learned           string   // the tensor of weights by which frequencies are multiplied

	// positionType is what position_embedding_type must be, absentPositionType what it is where
	// the key is absent, "": the same.
	positionType, absentPositionType string

	check   func(r *reader)              // other keys that decide
	rule    func(p *ropeParameters) rule // a rule of its own, or nil
	refusal string                       // why the type is not read, and what a caller can do
	traps   []string                     // names of traps that are about it

	arrangement    arrangement // of the pairs of a vision tower
	patches        patchOrder  // of a vision tower
	queryScale     func(p *ropeParameters) *posenc.QueryScaling
	scalesRotating bool   // queryScale is of the layers that rotate, not of the others
	scalingTensor  string // of weights with scales of queries
}

// layerTypesRule says which layer types there are where the file has no list of them.
type layerTypesRule struct {
	key         string                          // of the interval of full attention
	last, first int                             // its default; the last or the first layer of each interval has full attention
	others      string                          // the type of the other layers
	list        string                          // a key that lists the layers of full attention; without it they are of type all
	all         string                          // the type of all layers
	custom      func(r *reader, n int) []string // another rule
}

// indexerLayers says which layers have an indexer.
type indexerLayers uint8

const (
	ofIndexerType indexerLayers = iota
	inEveryLayer
	byIndexerTypes // by indexer_types, or the schedule of GLM
)

// axesRule says how pairs take their axes.
type axesRule uint8

const (
	oneAxisOfAll        axesRule = iota
	sectionsInOrder              // time, height, width
	interleavedSections          // in turn
	alternatingSections          // height and width in turn, then time
	anySections                  // in order, of any number
)

// holder is a type that holds other models.
type holder struct {
	name string

	text       part   // the text model
	anyText    bool   // it is of the type that it gives; else the class has one type, and reads nothing of another
	absentText string // its keys, as JSON, where the file has no text model and the class has other defaults than its type
	merged     bool   // they also stand for each key that the file's text model leaves out

	// ownRotation says that rope keys beside the text model are of another rotation (of sounds by
	// their time).
	ownRotation bool

	tower       part
	absentTower string // as absentText

	// Of positions of several axes: default of spatial_merge_size, 0: 2; and, where the file does
	// not have the parameters, what a caller can do.
	mergeSize int
	positions string
}

// part is a model within another: its key, and its model_type if it does not give one.
type part struct{ key, innerType string }

// positionsOf is a type or an architecture and its kind of positions.
type positionsOf struct{ name, positions string }

// refusedArchitecture is an architecture that is not read: what is wanted in its place, or what a
// caller can do.
type refusedArchitecture struct{ name, want string }

// vendors are all models.
var vendors = [...]*vendor{
	&audioModels,
	&bailingModels,
	&cohereModels,
	&deepseekModels,
	&dotsModels,
	&encodersModels,
	&ernieModels,
	&exaoneModels,
	&falconModels,
	&gemmaModels,
	&glmModels,
	&gptModels,
	&graniteModels,
	&hunyuanModels,
	&inklingModels,
	&internlmModels,
	&kimiModels,
	&lfmModels,
	&linearModels,
	&llamaModels,
	&minicpmModels,
	&minimaxModels,
	&mistralModels,
	&museModels,
	&nemotronModels,
	&olmoModels,
	&othersModels,
	&phiModels,
	&qwenModels,
	&stepModels,
	&visionModels,
}

// find returns the entry of a name in one of the vendors' lists.
func find[T any](list func(v *vendor) []T, is func(t *T) bool) *T {
	for _, v := range vendors {
		entries := list(v)
		for i := range entries {
			if is(&entries[i]) {
				return &entries[i]
			}
		}
	}
	return nil
}

func textType(name string) *modelType {
	return find(func(v *vendor) []modelType { return v.types }, func(t *modelType) bool { return t.name == name })
}

func towerType(name string) *modelType {
	return find(func(v *vendor) []modelType { return v.towers }, func(t *modelType) bool { return t.name == name })
}

func holderOf(name string) *holder {
	return find(func(v *vendor) []holder { return v.holders }, func(h *holder) bool { return h.name == name })
}

// positionsOfType returns the kind of positions of a type that does not rotate, "" for others.
func positionsOfType(name string) string {
	if p := find(func(v *vendor) []positionsOf { return v.otherPositions }, func(p *positionsOf) bool { return p.name == name }); p != nil {
		return p.positions
	}
	return ""
}

func architectureNamed(name string) *ggufArchitecture {
	return find(func(v *vendor) []ggufArchitecture { return v.architectures }, func(a *ggufArchitecture) bool { return a.name == name })
}

func positionsOfArchitecture(name string) string {
	if p := find(func(v *vendor) []positionsOf { return v.otherArchitectures }, func(p *positionsOf) bool { return p.name == name }); p != nil {
		return p.positions
	}
	return ""
}

func refusalOfArchitecture(name string) string {
	if a := find(func(v *vendor) []refusedArchitecture { return v.refusedArchitectures }, func(a *refusedArchitecture) bool { return a.name == name }); a != nil {
		return a.want
	}
	return ""
}

// namesOf returns the names of the vendors' lists, sorted.
func namesOf(names func(v *vendor, add func(name string))) []string {
	var all []string
	for _, v := range vendors {
		names(v, func(name string) { all = append(all, name) })
	}
	slices.Sort(all)
	return all
}

// family returns the type with its usual values in place of zero ones.
func (t *modelType) family() family {
	f := family{
		names: t.keys, hidden: t.hidden, heads: t.heads, headDim: t.headDim, layers: t.layers, positions: t.positions,
		base: t.base, baseKeys: t.baseKeys, baseRatio: t.baseRatio, baseUnread: t.baseUnread, scalingUnread: t.scalingUnread,
		partial: t.part, wholeHead: t.part == 0 && t.rotaryDim == 0, rotaryDim: t.rotaryDim, countKey: t.countKey, trailing: t.trailing,
		latent: t.latent, noPEDim: t.noPEDim, wholeDim: t.wholeDim,
		layout: t.layout, layoutKey: t.layoutKey,
		plan: t.layersPlan(), kinds: t.kinds, listKey: t.listKey, lists: t.lists, rewrite: t.rewrite, indexer: t.indexer, flatBlock: t.flatBlock,
		sections: t.sections, interleavedSections: t.axes == interleavedSections,
		alpha: t.alpha, yarnIsLongRoPE: t.yarnIsLongRoPE, originalPositions: t.originalPositions, extraKeys: t.extraKeys, unread: t.unread,
		factorKey: t.factorKey, absent: parsed(t.absent), inverse: t.inverse, learned: t.learned, refusal: t.refusal, traps: t.traps,
		check: t.check, rule: t.rule, arrangement: t.arrangement, patches: t.patches,
		queryScale: t.queryScale, scalesRotating: t.scalesRotating, scalingTensor: t.scalingTensor,
	}
	if f.partial == 0 {
		f.partial = 1
	}
	if f.layers == 0 {
		f.layers = 1 // of a type that is not read
	}
	if f.baseKeys == nil && !t.noBaseKey {
		f.baseKeys = []string{"rope_theta"}
	}
	if f.layout == 0 {
		f.layout = posenc.HalfSplit
		if t.latent {
			f.layout = posenc.InterleavedToHalfSplit
		}
	}
	switch {
	case f.names != nil:
	case t.latent:
		f.names = latent
	case t.arrangement != nil:
		f.names = towerNames
	default:
		f.names = usual
	}
	if t.positionType != "" {
		f.check = positionType(t.positionType, cmp.Or(t.absentPositionType, t.positionType))
	}
	if t.arrangement != nil {
		f.positions = 1 // not a key of towers, and nothing depends on it
		f.base = cmp.Or(f.base, 1e4)
		f.rule = axialRule
	}
	var axesKeys []string
	switch t.axes {
	case sectionsInOrder:
		f.axes, f.axisCount, axesKeys = func(s []int) ([]uint8, error) { return frequency.Sections(s...) }, 3, []string{"mrope_section"}
	case anySections:
		f.axes, axesKeys = func(s []int) ([]uint8, error) { return frequency.Sections(s...) }, []string{"mrope_section", "xdrope_section"}
	case interleavedSections:
		f.axes, f.axisCount, axesKeys = func(s []int) ([]uint8, error) {
			return frequency.InterleavedSections(frequency.ImageSections{Time: s[0], Height: s[1], Width: s[2]})
		}, 3, []string{"mrope_section", "mrope_interleaved", "interleaved"}
	case alternatingSections:
		f.axes, f.axisCount, axesKeys = func(s []int) ([]uint8, error) {
			return frequency.AlternatingSections(frequency.ImageSections{Time: s[2], Height: s[0], Width: s[1]})
		}, 3, []string{"mrope_section"}
	}
	f.extraKeys = slices.Concat(f.extraKeys, axesKeys)
	return f
}

// layersPlan returns which layers there are.
func (t *modelType) layersPlan() plan {
	p := everyLayer
	switch rule := t.layerTypes; {
	case t.plan != nil:
		p = t.plan
	case t.noRopeInterval != 0:
		p = ropeFlags(t.noRopeInterval)
	case rule != nil:
		p = typed(rule.absent(), t.rotating...)
	}
	switch {
	case t.indexers == inEveryLayer:
		return everyIndexer(p)
	case t.indexers == byIndexerTypes:
		return sharedIndexers(topKFrequency, p)
	case t.indexerType != "":
		return typedIndexer(t.indexerType, p)
	}
	return p
}

// absent returns the layer types of a file without a list of them.
func (t *layerTypesRule) absent() func(r *reader, n int) []string {
	switch {
	case t.custom != nil:
		return t.custom
	case t.last != 0:
		return lastOf(t.key, t.last, t.others)
	case t.first != 0:
		return firstOf(t.key, t.first)
	case t.list != "":
		return indexed(t.list, t.others, t.all)
	}
	return all(t.all)
}

// parsed returns keys of a table of models, nil for "".
func parsed(text string) object {
	if text == "" {
		return nil
	}
	keys, err := parseObject([]byte(text))
	if err != nil {
		panic(err) // TestModels parses all of them
	}
	return keys
}

// completed returns the keys of a file's text model, and those that it leaves out.
func (h *holder) completed(inner object) object {
	if !h.merged {
		return inner
	}
	keys := parsed(h.absentText)
	maps.Copy(keys, inner)
	if rope, ok := inner["rope_parameters"].(object); ok && rope["rope_theta"] != nil && inner["rope_theta"] == nil {
		delete(keys, "rope_theta")
	}
	return keys
}
