// Package models knows models: what the code of each does with positions and its files do not say.
//
// A model is one value in the file of its vendor, or of its kind (audio.go, encoders.go,
// linear.go, visionmodels.go; others.go). A vendor's file has a [Vendor]: its model types, vision
// towers, types that hold other models, and architectures of GGUF. What only a function can say (a
// rule, the layers, keys that decide) is a function in plans.go, lists.go, rules.go or arrangements.go,
// which values name.
//
// To add a model, write its value, beginning from one like it: fields whose usual value is right
// stay out, and [ModelType] says what each is. A model with the values of a known one is a name in its
// Also. Then add the configuration of a real file to
// ../../testdata/transformers/configs and run the scripts there for the golden vectors, and go test
// -run TestDocs -update in modelconfig for the tables of docs.
package models

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
)

// Vendor has models of one vendor, or of one kind: what their code does and their files do not
// say. The zero value of each field is the usual case. A further model is one value in the file of
// its vendor.
//
// Source: transformers 5.24 (configuration_*.py, modeling_*.py); where it has no such type, the code
// published with the model, vLLM's and SGLang's. Of GGUF: llama.cpp of autumn 2026 (llama_model_rope_type and
// the files of src/models).
type Vendor struct {
	Types          []ModelType   // by model_type
	Towers         []ModelType   // of vision, by the model_type of their own configuration
	Holders        []Holder      // of other models
	OtherPositions []PositionsOf // types whose positions are of another kind
	OtherTowers    []PositionsOf // types that hold a vision tower of which this is true
	Reuses         []Reuse       // files that give a model_type of other code
	UnreadRotation []UnreadKeys

	Architectures        []GGUFArchitecture // by general.architecture
	OtherArchitectures   []PositionsOf
	RefusedArchitectures []PositionsOf // with what is wanted in their place, or what a caller can do
}

// ModelType is a model_type.
type ModelType struct {
	Name string
	Also []string   // other types whose values are the same
	GGUF string     // the architecture of its GGUF files, where that has another name
	Keys *Spellings // of its sizes; nil: the usual ones

	Hidden, Heads, HeadDim, Layers, Positions int // defaults; HeadDim 0: hidden by heads
	Base                                      float64
	BaseKeys                                  []string // Spellings of the base beside the rope parameters; nil: rope_theta
	NoBaseKey                                 bool
	NeedsBase                                 bool                          // as of KindDefaults
	BaseRatio                                 string                        // a key that multiplies the base
	BaseUnread, ScalingUnread                 func(r *document.Reader) bool // keys that transformers 5 does not read

	Part      float64  // default of partial_rotary_factor; 0: heads rotate whole, even where the key says otherwise
	PartKeys  []string // spellings of the part beside the rope parameters; nil: partial_rotary_factor
	NoPartKey bool     // the part is read from the rope parameters alone, or from rotary_dim
	RotaryDim int      // default of rotary_dim, for types that count elements
	CountKey  string   // another name of rotary_dim
	Spread    bool     // pairs are as of a head that rotates whole; the first ones rotate
	Trailing  bool     // the rotated elements are the last of the head
	Latent    bool     // latent attention: the head is its rotary part, and YaRN scales the softmax too
	NoPEDim   int      // latent: default of qk_nope_head_dim
	WholeDim  int      // latent: default of head_dim, where the class has one for all of Q's head
	PartOfQ   bool     // latent: partial_rotary_factor may be the rotary part of Q's head

	Layout    posenc.Layout // 0: half-split; of latent attention InterleavedToHalfSplit
	LayoutKey string        // a key that is false where the layout is half-split

	// Which layers there are and which rotate, by Plan, or by LayerTypes or
	// NoRopeInterval, or else all.
	Plan           plan
	LayerTypes     *LayerTypesRule
	Rotating       []string // the layer types that rotate; nil: all
	NoRopeInterval int      // default of no_rope_layer_interval
	EmptyFlags     bool     // an empty no_rope_layers is the default
	Kinds          []KindDefaults
	ListKey        string // a list with an entry for each layer, by which Lists makes kinds
	Lists          func(r *document.Reader, key string, f *ModelType, layers []description.Layer) []KindDefaults
	Rewrite        func(r *document.Reader, layers []description.Layer) // brings keys into the usual form

	Indexer  *indexer
	Indexers string // the layer type that has one, inEveryLayer or byIndexerTypes

	Axes     *axesRule
	Sections []int // default of mrope_section

	NullKinds         bool     // the class fills in its defaults for a null in rope_parameters; else a null is an error where layers rotate
	FlatBlock         bool     // a flat rope_parameters is read as rope_scaling is
	Alpha             bool     // "dynamic" may have alpha (HunYuan)
	YarnIsLongRoPE    bool     // early files say yarn (Phi-3)
	YarnName          string   // another name that its files have for yarn
	YarnGrowth        float64  // under that name the attention factor is 1 + YarnGrowth mscale ln(factor); 0: as of yarn
	OriginalPositions int      // default of original_max_position_embeddings beside the rope parameters
	ExtraKeys         []string // of the rope parameters
	Unread            []string // keys that name positions and that the code does not read
	FactorKey         string   // a factor beside the rope parameters, which rule reads
	Absent            string   // the rope parameters of a configuration without any, as JSON
	Inverse           bool     // pairs turn the other way
	DualChunk         bool     // programs read dual_chunk_attention_config
	Learned           string   // the tensor of weights by which frequencies are multiplied

	// Variant is a type whose code files take in which VariantKey is above 0.
	Variant, VariantKey string

	Untyped []string // architectures of its files that have no model_type

	// Fourier returns how many frequencies the sums of FoPE have, 0: the file's code rotates as usual.
	Fourier func(p *RopeParameters) int

	// PositionType is what position_embedding_type must be, AbsentPositionType what it is where
	// the key is absent, "": the same.
	PositionType, AbsentPositionType string

	Required []string // keys without a default, or of which sources have different ones

	Check   func(r *document.Reader)                 // other keys that decide
	Rule    func(p *RopeParameters) description.Rule // a rule of its own, or nil
	Refusal string                                   // why the type is not read, and what a caller can do
	Traps   []string                                 // names of traps that are about it

	Arrangement    arrangement             // of the pairs of a vision tower
	Patches        *description.PatchOrder // of a vision tower; nil: in blocks, from 0
	QueryScale     func(p *RopeParameters) *posenc.QueryScaling
	ScalesRotating bool   // QueryScale is of the layers that rotate, not of the others
	ScalingObject  bool   // llama_4_scaling, where a file has it, is the QueryScale of the layers that rotate
	ScalingTensor  string // of weights with scales of queries
}

// LayerTypesRule has the types of layers of a configuration without layer_types.
type LayerTypesRule struct {
	Key         string                                   // of the interval of full attention
	Last, First int                                      // its default; the last or the first layer of each interval has full attention
	Full        string                                   // the type of these layers; "": full_attention
	Others      string                                   // the type of the other layers
	Pattern     string                                   // the types by letters, as patterned reads them
	Flags       string                                   // a key that lists the types by numbers; without it Pattern has them
	Letters     string                                   // of the numbers 0 and 1
	Alone       bool                                     // layer_types is not read
	Words       []string                                 // in order of the alphabet: Key lists one of them for each layer
	List        string                                   // a key that lists the layers of full attention; without it they are of type all
	All         string                                   // the type of all layers
	Unrotated   []string                                 // other types of layers that do not rotate
	Custom      func(r *document.Reader, n int) []string // another rule
}

const (
	inEveryLayer   = "*"
	byIndexerTypes = "indexer_types" // or the schedule of GLM
)

// axesRule says how pairs take their axes.
type axesRule struct {
	Of          func(sections []int) ([]uint8, error)
	Count       int                   // sections that there must be; 0: any number
	keys        []string              // of the rope parameters
	Interleaved *axesRule             // where mrope_interleaved is set; nil: it must agree with the type
	Implied     func(pairs int) []int // the only sections of this number of pairs
}

var (
	sectionsInOrder     = axesRule{Of: inOrder, Count: 3, keys: []string{"mrope_section"}} // time, height, width
	anySections         = axesRule{Of: inOrder, keys: []string{"mrope_section", "xdrope_section"}}
	InterleavedSections = axesRule{Of: func(s []int) ([]uint8, error) {
		return frequency.InterleavedSections(frequency.ImageSections{Time: s[0], Height: s[1], Width: s[2]})
	}, Count: 3, keys: []string{"mrope_section", "mrope_interleaved", "interleaved"}} // in turn
	alternatingSections = axesRule{Of: func(s []int) ([]uint8, error) {
		return frequency.AlternatingSections(frequency.ImageSections{Time: s[2], Height: s[0], Width: s[1]})
	}, Count: 3, keys: []string{"mrope_section"}} // height and width in turn, then time
	VideoSections = axesRule{Of: func(s []int) ([]uint8, error) {
		return frequency.AlternatingSections(frequency.ImageSections{Time: s[0], Height: s[1], Width: s[2]})
	}, Count: 3, keys: []string{"mrope_section", "video_rope"}} // the same pairs, with time first in the list
	panguSections = axesRule{Of: inOrder, Count: 3, keys: []string{"mrope_section", "mrope_interleaved", "interleaved"}, Interleaved: &axesRule{Of: evenlySpread, Count: 3}}
	isaacSections = axesRule{Of: inOrder, Count: 3, keys: []string{"mrope_section", "mrope_interleaved", "interleaved"}, Interleaved: &InterleavedSections, Implied: func(pairs int) []int {
		return []int{pairs / 2, pairs / 4, pairs / 4}
	}}
)

// evenlySpread: each pair is of the axis that has the smallest share of its pairs so far, other than
// the axis before it where there is another. The last pair is of time, and so one of its pairs is
// left out before. Source: vLLM 0.33, MRotaryEmbeddingInterleaved, for openPangu VL.
func evenlySpread(sections []int) ([]uint8, error) {
	if sections[0] < 1 {
		return nil, fmt.Errorf("%d pairs of time, want at least 1", sections[0])
	}
	counts := []int{sections[0] - 1, sections[1], sections[2]}
	placed := make([]int, len(counts))
	var axes []uint8
	for range counts[0] + counts[1] + counts[2] {
		best := -1
		for axis, count := range counts {
			if placed[axis] == count || len(axes) > 0 && int(axes[len(axes)-1]) == axis {
				continue
			}
			if best < 0 || float64(placed[axis])/float64(count) < float64(placed[best])/float64(counts[best]) {
				best = axis
			}
		}
		if best < 0 { // only the axis before is left
			best = int(axes[len(axes)-1])
		}
		placed[best]++
		axes = append(axes, uint8(best))
	}
	return append(axes, 0), nil
}

func inOrder(sections []int) ([]uint8, error) { return frequency.Sections(sections...) }

type Holder struct {
	Name string
	Also []string // other types whose values are the same

	Within     string                            // an object that published files have around all models
	Text       Part                              // the text model; without a Type, the file must have it and its type
	AnyText    bool                              // it is of the type that it gives; else the class has one type, and reads nothing of another
	AbsentText string                            // its keys, as JSON, where the file has no text model and the class has other defaults than its type
	Flat       bool                              // without a text model its keys stand beside
	Merged     bool                              // they also stand for each key that the file's text model leaves out
	Rewrite    func(file, text *document.Reader) // changes the keys of the text model

	// OwnRotation says that rope keys beside the text model are of another rotation (of sounds by
	// their time).
	OwnRotation bool

	Tower       Part
	AbsentTower string // as AbsentText
	TowerName   string // what its files have in place of Tower.Type, which alone is another type

	// Of positions of several axes: default of spatial_merge_size, 0: 2; and, where the file does
	// not have the parameters, what a caller can do.
	MergeSize int
	Positions string
}

// Part is a model within another: its key, and its model_type if it does not give one, in which *
// stands for the letters and digits of the holder's name, joined by _.
type Part struct{ Key, Type string }

type PositionsOf struct {
	Positions string
	Names     []string
}

// Parsed returns keys of a table of models, nil for "".
func Parsed(text string) document.Object {
	if text == "" {
		return nil
	}
	keys, err := document.ParseObject([]byte(text))
	if err != nil {
		panic(err) // TestModels parses all of them
	}
	return keys
}

// Completed returns the keys of a file's text model, and those that it leaves out.
func (h *Holder) Completed(inner document.Object) document.Object {
	if !h.Merged {
		return inner
	}
	keys := Parsed(h.AbsentText)
	maps.Copy(keys, inner)
	if rope, ok := inner["rope_parameters"].(document.Object); ok && rope["rope_theta"] != nil && inner["rope_theta"] == nil {
		delete(keys, "rope_theta")
	}
	return keys
}

// KindDefaults are the defaults of one kind of layer.
type KindDefaults struct {
	// LayerType "indexer" is about indexers, where they have frequencies of their own.
	LayerType       string
	Base            float64
	BlockBase       float64 // where the kind's own object leaves rope_theta out; 0: base
	FixedBase       float64 // base, even where keys say otherwise; 0: by the keys
	BaseKeys        []string
	Partial         float64    // 0: 1
	HeadDimKey      string     // where heads of this kind have a width of their own
	HeadDim         int        // its default; 0: the width of the other heads
	Scaled          bool       // rope_scaling is about this kind
	Unscaled        bool       // the rule of the rope parameters is not about this kind
	Absent          string     // the rope parameters of a configuration without any, as JSON
	NeedsBase       bool       // the class fills in nothing: rope_theta, and the trained length for a rule, have to be in rope parameters that the file has
	NeedsPart       bool       // partial_rotary_factor has to be in the kind's own object
	AttentionFactor float64    // default of attention_factor; 0: derived
	Like            *ModelType // whose heads layers of this kind have; nil: those of the model's own type
}

// WholeHead reports whether the code rotates whole heads, even where the key says otherwise.
func (t *ModelType) WholeHead() bool { return t.Part == 0 && t.RotaryDim == 0 }

// KindsOrOne returns the kinds of layers, or the only one.
func (f *ModelType) KindsOrOne() []KindDefaults {
	if len(f.Kinds) > 0 {
		return f.Kinds
	}
	return []KindDefaults{{Base: f.Base, BaseKeys: f.BaseKeys, Partial: f.Part, Scaled: true, NeedsBase: f.NeedsBase}}
}

// Spellings are the names of keys, the one that errors name first; nil: the usual name; empty: none.
type Spellings struct{ Hidden, Heads, HeadDim, Layers, Positions []string }

func (s Spellings) orUsual(headDim string) *Spellings {
	usual := func(names *[]string, name string) {
		if *names == nil {
			*names = []string{name}
		}
	}
	usual(&s.Hidden, "hidden_size")
	usual(&s.Heads, "num_attention_heads")
	usual(&s.HeadDim, headDim)
	usual(&s.Layers, "num_hidden_layers")
	usual(&s.Positions, "max_position_embeddings")
	return &s
}

// Short names for the values of models.
const (
	interleaved            = posenc.Interleaved
	interleavedToHalfSplit = posenc.InterleavedToHalfSplit
	halfSplit              = posenc.HalfSplit
)

var (
	rowByRow      = &description.PatchOrder{RowByRow: true}
	rowByRowFrom1 = &description.PatchOrder{First: 1, RowByRow: true}
	computedHead  = &Spellings{HeadDim: []string{}} // from hidden_size and num_attention_heads, even where there is a head_dim
	qwenTower     = &Spellings{Heads: []string{"num_heads", "num_attention_heads"}, Layers: []string{"depth", "num_hidden_layers"}}
)

// The other kinds of positions.
const (
	learned     = "learned absolute positions"
	sinusoidal  = "fixed sinusoidal positions"
	ALiBi       = "ALiBi, a bias of the attention scores"
	relative    = "relative positions, a bias of the attention scores"
	noPositions = "none"
)

// checked lists what classes of transformers refuse: lines of null, a key and the types that take no null for it, and of
// whole and the types whose hidden_size has to be a multiple of num_attention_heads even where there is a head_dim.
// testdata/transformers/survey.py writes it.
//
//go:embed checked.txt
var checked string

// Checked returns the keys for which the class of a type takes no null, and whether it needs whole heads in hidden_size.
func Checked(modelType string) (noNull []string, whole bool) {
	for line := range strings.Lines(checked) {
		switch words := strings.Fields(line); {
		case words[0] == "whole":
			whole = slices.Contains(words[1:], modelType)
		case slices.Contains(words[2:], modelType):
			noNull = append(noNull, words[1])
		}
	}
	return noNull, whole
}

// IsTower reports whether a type is a vision tower. Its kind of position embeddings is about
// the learned ones that it adds to patches besides the rotation (pos_emb_type of Kimi).
func (f *ModelType) IsTower() bool { return f.Arrangement != nil }

// plan returns the n layers of a model, from the keys that describe them.
type plan func(r *document.Reader, n int) []description.Layer

// arrangement returns the frequencies and the axes of pairs: 0 for the row, 1 for the column.
type arrangement func(headDim int, base float64, rounding frequency.Rounding) (frequency.Ladder, error)

// indexer says how the indexer of sparse attention rotates, by the frequencies of the attention.
type indexer struct {
	HeadDimKey string // which has to be there; "": index_head_dim, by default 128
	Layout     posenc.Layout
	LayoutKey  string // a key that is false where the layout is half-split, true where it is not
	Trailing   bool   // the rotated elements are the last of a head
	Attention  string // the kind of layers whose frequencies it takes; "": there is one
	Hadamard   bool   // a Hadamard transform follows in the model's own code; scores are the same without it
}

// WithDefaults returns the type with the usual values in place of most zero ones.
func (t *ModelType) WithDefaults() ModelType {
	f := *t
	f.Plan = t.layersPlan()
	if f.BaseKeys == nil && !t.NoBaseKey {
		f.BaseKeys = []string{"rope_theta"}
	}
	if f.PartKeys == nil && !t.NoPartKey {
		f.PartKeys = []string{"partial_rotary_factor"}
	}
	headDim := "head_dim"
	if t.Latent {
		headDim = "qk_rope_head_dim"
	}
	f.Keys = cmp.Or(t.Keys, new(Spellings)).orUsual(headDim)
	switch {
	case t.Arrangement != nil:
		f.Keys.Positions, f.Positions = nil, 1 // not a key of towers, and nothing depends on it
		f.Base = cmp.Or(f.Base, 1e4)
		f.Rule = axialRule
	case t.Latent:
		f.Layout = cmp.Or(f.Layout, posenc.InterleavedToHalfSplit)
	}
	f.Layout = cmp.Or(f.Layout, posenc.HalfSplit)
	if t.ScalingObject {
		f.QueryScale, f.ScalesRotating = scaledByObject, true
	}
	if t.Axes != nil {
		f.ExtraKeys = slices.Concat(f.ExtraKeys, t.Axes.keys)
	}
	return f
}

func (t *ModelType) layersPlan() plan {
	p, rule := plan(everyLayer), t.LayerTypes
	switch {
	case t.Plan != nil:
		p = t.Plan
	case t.NoRopeInterval != 0:
		p = ropeFlags(t.NoRopeInterval, t.EmptyFlags)
	case rule != nil && rule.Alone:
		p = func(r *document.Reader, n int) []description.Layer { return named(rule.types(r, n), t.Rotating...) }
	case rule != nil:
		p = func(r *document.Reader, n int) []description.Layer {
			return named(typesOf(r, n, rule.types, t.knownLayers()...), t.Rotating...)
		}
	}
	if rule == nil {
		all := p
		p = func(r *document.Reader, n int) []description.Layer {
			layers := all(r, n)
			if !r.Seen["layer_types"] { // which changes nothing then
				typesOf(r, len(layers), func(*document.Reader, int) []string { return nil }, t.knownLayers()...)
			}
			return layers
		}
	}
	switch t.Indexers {
	case "":
		return p
	case byIndexerTypes:
		return sharedIndexers(p)
	}
	return func(r *document.Reader, n int) []description.Layer {
		layers := p(r, n)
		for i := range layers {
			layers[i].Indexer = t.Indexers == inEveryLayer || layers[i].Kind == t.Indexers
		}
		return layers
	}
}

// knownLayers returns the types of layers that layer_types of a type may have.
func (t *ModelType) knownLayers() (known []string) {
	for _, k := range t.Kinds {
		known = append(known, k.LayerType)
	}
	known = append(known, t.Rotating...)
	if rule := t.LayerTypes; rule != nil {
		known = append(known, rule.Unrotated...)
		known = append(known, cmp.Or(rule.Full, "full_attention"), rule.Others, rule.All)
		for _, letter := range strings.Trim(rule.Pattern+rule.Letters, "()") {
			if letter < rune(len(letters)) {
				known = append(known, letters[letter])
			}
		}
	} else if known == nil {
		known = attentions
	}
	known = slices.DeleteFunc(slices.Clone(known), func(kind string) bool { return kind == "" })
	slices.Sort(known)
	return slices.Compact(known)
}

func (t *LayerTypesRule) types(r *document.Reader, n int) []string {
	switch {
	case t.Custom != nil:
		return t.Custom(r, n)
	case t.Words != nil:
		return worded(r, t.Key, n, t.Words)
	case t.Flags != "":
		if flags := flagged(r, t.Flags, n); flags != nil {
			return either(n, letters[t.Letters[1]], letters[t.Letters[0]], func(i int) bool { return flags[i] == 1 })
		}
		return patterned(t.Pattern, n)
	case t.Pattern != "":
		return patterned(t.Pattern, n)
	case t.List != "":
		return indexed(r, n, t.List, t.Others, t.All)
	case t.All != "":
		return slices.Repeat([]string{t.All}, n)
	}
	every := interval(r, t.Key, cmp.Or(t.Last, t.First))
	return either(n, cmp.Or(t.Full, "full_attention"), t.Others, func(i int) bool {
		return t.Last != 0 && (i+1)%every == 0 || t.Last == 0 && i%every == 0
	})
}
