package main

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/cmd/posenc/internal/input"
	"github.com/go-posenc/posenc/cmd/posenc/internal/source"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/modelconfig"
)

// description is what a file says of a model.
type description struct {
	File   string            `json:"file"`
	Format source.Format     `json:"format"`
	Text   *modelDescription `json:"text,omitempty"`
	Vision *modelDescription `json:"vision,omitempty"`

	// TextError says why the text model of a file whose tower is described has no description: it does
	// not rotate.
	TextError string `json:"text_error,omitempty"`

	// VisionError says why a tower that there is has no description: it does not rotate, or, with
	// vision_unread, is not read.
	VisionError  string `json:"vision_error,omitempty"`
	VisionUnread bool   `json:"vision_unread,omitempty"`

	// Others are parts of the file that are neither, such as encoders of audio: they are not described.
	Others []otherPart `json:"others,omitempty"`
}

// otherPart is a part of a file that is not described.
type otherPart struct {
	Key     string `json:"key"`
	Rotates bool   `json:"rotates"`
	Error   string `json:"error,omitempty"` // why it does not, or is not read
}

// modelDescription is how a model, or its vision tower, rotates.
type modelDescription struct {
	Type          string `json:"type"`
	Layers        int    `json:"layers"`
	ContextLength int    `json:"context_length,omitempty"` // 0: it does not say

	LatentAttention    bool   `json:"latent_attention"`
	LearnedFrequencies string `json:"learned_frequencies,omitempty"` // the tensor by which they are multiplied

	Kinds     []kindDescription `json:"kinds"`
	Unrotated []int             `json:"layers_without_rotation"`

	QueryScales []queryScaleDescription `json:"query_scales"`
	Traps       []modelconfig.Trap      `json:"traps"`
}

// kindDescription is how the layers of one kind rotate in sequences of one length.
type kindDescription struct {
	LayerType      string `json:"layer_type"`
	Indexer        bool   `json:"indexer"` // of sparse attention, not the attention itself
	Layers         []int  `json:"layers"`
	SequenceLength int    `json:"sequence_length,omitempty"` // 0: frequencies do not depend on it

	HeadDim   int    `json:"head_dim"`
	RotaryDim int    `json:"rotary_dim"`
	Offset    int    `json:"offset"`
	Layout    string `json:"layout"`
	Axes      []int  `json:"axes,omitempty"` // of each pair

	Rule            string         `json:"rule"`
	Base            float64        `json:"base"`
	Parameters      map[string]any `json:"parameters,omitempty"`
	AttentionFactor float64        `json:"attention_factor"`
	SoftmaxScale    float64        `json:"softmax_scale"`
	InvFreq         []float64      `json:"inv_freq"`

	Fourier *fourierDescription `json:"fourier,omitempty"`

	layout posenc.Layout
	latent bool // heads are the rotary parts of latent attention
}

// fourierDescription is of Fourier position embedding (FoPE): the cosine and the sine of each pair are sums
// over the frequencies inv_freq, by coefficients in the model's weights.
type fourierDescription struct {
	Cos string `json:"cos"` // the end of the name of the tensor
	Sin string `json:"sin"`

	// PaddedPairs are the pairs after the ones that have sums: the attention factor is their cosine and
	// their sine.
	PaddedPairs int `json:"padded_pairs"`
}

// queryScaleDescription is by what queries of some layers are multiplied.
type queryScaleDescription struct {
	Layers []int  `json:"layers"`
	Factor string `json:"factor"` // of position p
}

// describe describes a file.
func describe(s *source.Source) (*description, error) {
	d := &description{File: s.Path, Format: s.Format}
	var err error
	if s.Model != nil {
		if d.Text, err = describeModel(s.Model); err != nil {
			return nil, fmt.Errorf("%s: %w", input.Name(s.Path), err)
		}
	}
	if s.Vision != nil {
		if d.Vision, err = describeModel(s.Vision); err != nil {
			return nil, fmt.Errorf("%s: %w", input.Name(s.Path), err)
		}
	}
	if s.ModelErr != nil {
		d.TextError = s.ModelErr.Error()
	}
	if s.VisionErr != nil {
		d.VisionError, d.VisionUnread = s.VisionErr.Error(), s.VisionUnread()
	}
	for _, other := range s.Others {
		part := otherPart{Key: other.Key, Rotates: other.Err == nil}
		if other.Err != nil {
			part.Error = other.Err.Error()
		}
		d.Others = append(d.Others, part)
	}
	return d, nil
}

func describeModel(m *modelconfig.Model) (*modelDescription, error) {
	layers := m.Layers()
	d := &modelDescription{
		Type: m.Type(), Layers: len(layers), ContextLength: m.ContextLength(), LatentAttention: slices.ContainsFunc(layers, func(l modelconfig.Layer) bool { return l.LatentAttention }),
		Unrotated: []int{}, QueryScales: []queryScaleDescription{}, Traps: append([]modelconfig.Trap{}, m.Traps()...),
	}
	scaled := map[string][]int{}
	for i, layer := range layers {
		if !layer.Rotates {
			d.Unrotated = append(d.Unrotated, i)
		}
		if layer.FrequencyFactors != "" {
			d.LearnedFrequencies = layer.FrequencyFactors
		}
		if factor := queryFactor(layer); factor != "" {
			scaled[factor] = append(scaled[factor], i)
		}
	}
	for _, factor := range slices.Sorted(maps.Keys(scaled)) {
		d.QueryScales = append(d.QueryScales, queryScaleDescription{scaled[factor], factor})
	}
	for _, k := range kindsOf(m) {
		for _, length := range lengths(m) {
			described, err := describeKind(&k, length)
			if err != nil {
				return nil, err
			}
			d.Kinds = append(d.Kinds, *described)
		}
	}
	return d, nil
}

// lengths are those of the sequences for which a model has different frequencies, 0 where
// they do not depend on it: the longest of its usual frequencies, and its context.
func lengths(m *modelconfig.Model) []int {
	beyond, depends := m.DependsOnLength()
	switch context := m.ContextLength(); {
	case !depends:
		return []int{0}
	case context > beyond:
		return []int{beyond, context}
	default:
		return []int{beyond}
	}
}

func describeKind(of *kind, length int) (*kindDescription, error) {
	cfg, err := of.config(length, frequency.Exact)
	if err != nil {
		return nil, err
	}
	rule := of.first.Rule
	k := &kindDescription{
		LayerType: of.name, Indexer: of.indexer, Layers: of.layers, SequenceLength: length,
		HeadDim: cfg.HeadDim, RotaryDim: cfg.RotaryDim, Offset: cfg.Offset, Layout: layoutNames[cfg.Layout],
		Rule: rule.Name, Base: rule.Base, Parameters: parameters(rule.Parameters),
		AttentionFactor: cfg.AttentionFactor, SoftmaxScale: of.softmaxScale(), InvFreq: cfg.InvFreq,
		layout: cfg.Layout, latent: of.first.LatentAttention && !of.indexer,
	}
	if of.fourier() {
		k.RotaryDim = cfg.HeadDim
		k.Fourier = &fourierDescription{of.first.Fourier.Cos, of.first.Fourier.Sin, cfg.HeadDim/2 - len(cfg.InvFreq)}
	}
	for _, axis := range cfg.Axes {
		k.Axes = append(k.Axes, int(axis))
	}
	return k, nil
}

var layoutNames = map[posenc.Layout]string{
	posenc.HalfSplit: "half-split", posenc.Interleaved: "interleaved", posenc.InterleavedToHalfSplit: "interleaved to half-split",
}

// axisNames are those of the axes of positions, by their number.
var axisNames = map[int][]string{2: {"rows", "columns"}, 3: {"time", "height", "width"}, 4: {"time", "height", "width", "extra"}}

// queryFactor is by what a layer multiplies queries of position p, "" for nothing.
func queryFactor(layer modelconfig.Layer) string {
	if learned := layer.LearnedQueryScaling; learned.Scale != "" {
		return "learned: posenc.LogQueryScales of the tensors " + learned.Scale + " and " + learned.Bias
	}
	s := layer.QueryScaling
	if s == (posenc.QueryScaling{}) {
		return ""
	}
	position := "p"
	if s.Offset != 0 {
		position = fmt.Sprintf("(p+%d)", s.Offset)
	}
	switch s.Rule {
	case posenc.ClampedLog:
		return fmt.Sprintf("1 + %s ln(max(%s/%d, 1))", number(s.Beta), position, s.Length)
	case posenc.PowerOfRatio:
		return fmt.Sprintf("(1 + %s/%d)^%s", position, s.Length, number(s.Beta))
	}
	return fmt.Sprintf("1 + %s ln(1 + floor(%s/%d))", number(s.Beta), position, s.Length)
}

// parameters are those of a rule that are set, by the names of the fields of package
// frequency in the spelling of configurations: original_max_positions.
func parameters(of any) map[string]any {
	if factors, ok := of.([]float64); ok {
		return map[string]any{"factors": factors}
	}
	set := map[string]any{}
	v := reflect.ValueOf(of)
	for i := 0; v.Kind() == reflect.Struct && i < v.NumField(); i++ {
		if !v.Field(i).IsZero() {
			set[snakeCase(v.Type().Field(i).Name)] = v.Field(i).Interface()
		}
	}
	return set
}

// snakeCase spells OriginalMaxPositions as original_max_positions, MScaleAllDim as
// mscale_all_dim.
func snakeCase(name string) string {
	var b strings.Builder
	letters := []rune(name)
	for i, c := range letters {
		begins := i > 1 && unicode.IsUpper(c) && unicode.IsLower(letters[i-1])
		if begins {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}
