package modelconfig

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
)

// RopeOptions are what a description of a model does not say about its rotation.
type RopeOptions struct {
	// SequenceLength is the number of tokens in the sequence: the largest position plus one.
	// An engine passes the longest sequence that its cache will hold. Dynamic NTK scaling and
	// LongRoPE need it to choose the frequencies ([Model.DependsOnLength]); other models do not
	// look at it. Keys rotated with the frequencies of one length do not match queries rotated with
	// those of another.
	SequenceLength int

	// Rounding says how angles and frequencies are rounded, as in posenc.RotaryConfig.
	// frequency.Exact rounds the real number once. frequency.Float32 rounds where Hugging Face
	// transformers does.
	Rounding frequency.Rounding

	// FrequencyFactors multiply frequencies that a model learns. There is one factor above 0
	// for each pair: e to the power of a value of the tensor that Layer.FrequencyFactors names.
	// Such models need them; other models return an error if they are set. Each product
	// is rounded to float64; with frequency.Float32 both operands and the product are rounded to
	// float32.
	FrequencyFactors []float64
}

// Rope is the rotary embedding of all layers of a model. It never changes; goroutines may share
// it.
type Rope struct {
	kinds  []*posenc.Rotary
	layers []ropeLayer
	axes   int
	tower  bool // tokens are patches, which have a position on each axis
}

// ropeLayer has what a layer rotates by, nil if it does not. of is of the same heads.
type ropeLayer struct {
	attention, indexer, of *posenc.Rotary
}

// Rope computes the frequencies of all layers. Each layer gets its own, in every model:
// layers that do not rotate, several bases, and indexers.
//
// options is at most one RopeOptions. Without it, or with its zero value, angles are exact.
// Errors wrap posenc.ErrConfig (several options; a SequenceLength that is negative, or 0 although
// frequencies depend on it; an unknown Rounding; FrequencyFactors that are missing, of the wrong
// number or out of range) or ErrValue (numbers in the configuration from which no frequencies of
// that length or rounding can be computed).
func (m *Model) Rope(options ...RopeOptions) (*Rope, error) {
	const function = "Model.Rope"
	o, err := one(function, options)
	if err != nil {
		return nil, err
	}
	if m == nil || len(m.of().Kinds) == 0 {
		return nil, document.ValueError(posenc.ErrConfig, function, "the Model", "nil or zero", "a Model from HuggingFace, HuggingFaceVision or GGUF")
	}
	rotaries := map[string]*posenc.Rotary{}
	rope := &Rope{axes: max(1, m.of().Axes), tower: m.of().Tower}
	for _, name := range document.SortedKeys(m.of().Kinds) {
		if m.of().Kinds[name].Fourier {
			return nil, document.ValueError(posenc.ErrConfig, function, "the Model", "of Fourier position embedding", "Model.Fourier, because this model's rows need the coefficients of Layer.Fourier")
		}
		if rotaries[name], err = m.rotary(function, name, o); err != nil {
			return nil, err
		}
		rope.kinds = append(rope.kinds, rotaries[name])
		rope.axes = max(rope.axes, rotaries[name].Axes())
	}
	var first *posenc.Rotary // of a layer that rotates
	if i := slices.IndexFunc(m.of().Layers, func(l description.Layer) bool { return l.Rotates }); i >= 0 {
		first = rotaries[m.of().Layers[i].Kind]
	}
	for _, l := range m.of().Layers {
		of := ropeLayer{of: first}
		if l.Rotates {
			of.attention, of.of = rotaries[l.Kind], rotaries[l.Kind]
		}
		if l.Indexer {
			of.indexer = rotaries[description.IndexerKind]
		}
		rope.layers = append(rope.layers, of)
	}
	return rope, nil
}

// Fourier returns the Rotary of a model with Fourier position embedding (FoPE), whose
// CosSinFourier makes rows for all layers from the coefficients that [Layer.Fourier] names.
// Its frequencies are the ones of the sums; do not rotate by them. Options and errors are as in
// [Model.Rope]; posenc.ErrConfig for other models too.
func (m *Model) Fourier(options ...RopeOptions) (*posenc.Rotary, error) {
	const function = "Model.Fourier"
	o, err := one(function, options)
	if err != nil {
		return nil, err
	}
	if m == nil {
		return nil, document.ValueError(posenc.ErrConfig, function, "the Model", "nil", "a Model from HuggingFace, HuggingFaceVision or GGUF")
	}
	for name, k := range m.of().Kinds { // there is one
		if k.Fourier {
			return m.rotary(function, name, o)
		}
	}
	return nil, document.ValueError(posenc.ErrConfig, function, "the Model", "without Fourier position embedding", "Model.Rope for this model")
}

func one[O any](function string, options []O) (o O, err error) {
	if len(options) > 1 {
		return o, document.ValueError(posenc.ErrConfig, function, "options", document.ListText(len(options)), "at most one %T", o)
	}
	if len(options) == 1 {
		o = options[0]
	}
	return o, nil
}

func (m *Model) rotary(function, name string, o RopeOptions) (*posenc.Rotary, error) {
	cfg, err := m.config(function, name, o)
	if err != nil {
		return nil, err
	}
	return newRotary(function, m.of().Kinds[name].Source, cfg)
}

// newRotary names the keys of frequencies that posenc.NewRotary does not accept.
func newRotary(function, source string, cfg posenc.RotaryConfig) (*posenc.Rotary, error) {
	r, err := posenc.NewRotary(cfg)
	if err != nil {
		return nil, document.ValueError(ErrValue, function, source, "refused", "numbers that posenc.NewRotary accepts (%v)", err)
	}
	return r, nil
}

func (m *Model) config(function, name string, o RopeOptions) (posenc.RotaryConfig, error) {
	fail := func(name string, value any, expected string, args ...any) (posenc.RotaryConfig, error) {
		return posenc.RotaryConfig{}, document.ValueError(posenc.ErrConfig, function, name, value, expected, args...)
	}
	k := m.of().Kinds[name]
	pairs := k.Rotary.RotaryDim / 2
	switch {
	case o.SequenceLength < 0:
		return fail("options.SequenceLength", o.SequenceLength, "the number of tokens in the sequence")
	case o.SequenceLength == 0 && k.Rule.Trained != 0:
		return fail("options.SequenceLength", 0, "the number of tokens in the sequence, because frequencies of this model depend on it beyond %d", k.Rule.Trained)
	case o.Rounding > frequency.Float32:
		return fail("options.Rounding", o.Rounding, "frequency.Exact or frequency.Float32")
	case k.Learned == "" && o.FrequencyFactors != nil:
		return fail("options.FrequencyFactors", document.ListText(len(o.FrequencyFactors)), "nil: the frequencies of this model are not learned")
	case k.Learned != "" && len(o.FrequencyFactors) != pairs:
		return fail("options.FrequencyFactors", document.ListText(len(o.FrequencyFactors)), "%d numbers, e to the power of the values of the tensor %s, because this model learns its frequencies", pairs, k.Learned)
	}
	for i, factor := range o.FrequencyFactors {
		if f := float32(factor); !(f > 0 && f <= math.MaxFloat32) {
			return fail(fmt.Sprintf("options.FrequencyFactors[%d]", i), factor, "a number above 0 in the range of float32")
		}
	}
	cfg, _, err := configOf(&k, function, o)
	return cfg, err
}

// Rotary returns what rotates Q and K of a layer: its frequencies and the elements of a head that
// they rotate. It is nil for a layer that does not rotate, and where there is no such layer. Patches of a
// vision tower have a position on each axis: AtAxes, RowsAxes and their like. One number for each patch, by At
// or Rows of this Rotary, would be taken for the row and for the column, without an error.
func (r *Rope) Rotary(layer int) *posenc.Rotary { return r.layer(layer).attention }

// Indexer is Rotary for the indexer of a layer, nil if it has none.
func (r *Rope) Indexer(layer int) *posenc.Rotary { return r.layer(layer).indexer }

func (r *Rope) layer(i int) ropeLayer {
	if r == nil || i < 0 || i >= len(r.layers) {
		return ropeLayer{}
	}
	return r.layers[i]
}

// Axes returns how many positions a token of an image has: 1 for models that give all tokens the
// positions of text, 3 or 4 for models with M-RoPE, and 2 for vision towers. Text has one position in
// every model ([Rope.Rows]). A nil Rope has 0.
func (r *Rope) Axes() int {
	if r == nil {
		return 0
	}
	return r.axes
}

// Rows computes the cosines and sines of the tokens of a step once for all layers: one row for
// each token and each kind of layers. There is one position for each token, in every model: text has
// it on all axes. Errors are as in posenc.Rotary.Rows; posenc.ErrConfig for a nil or zero Rope, and for
// the Rope of a vision tower, whose patches have a position on each axis: [Rope.RowsAxes].
func (r *Rope) Rows(positions []int32) (*LayerRows, error) {
	return r.rows("Rope.Rows", positions, false)
}

// RowsAxes is Rows for the tokens of prompts with images and video, and for the patches of a vision
// tower. positions is [axes][tokens]: the positions of all tokens on axis 0, then on axis 1, and so on,
// for the [Rope.Axes] axes. Package multimodal computes them.
func (r *Rope) RowsAxes(positions []int32) (*LayerRows, error) {
	return r.rows("Rope.RowsAxes", positions, true)
}

func (r *Rope) rows(function string, positions []int32, onAxes bool) (*LayerRows, error) {
	if r == nil || len(r.kinds) == 0 {
		return nil, document.ValueError(posenc.ErrConfig, function, "the Rope", "nil or zero", "a Rope from Model.Rope")
	}
	tokens, err := r.check(function, positions, onAxes)
	if err != nil {
		return nil, err
	}
	rows := &LayerRows{rope: r}
	for _, k := range r.kinds {
		var of *posenc.Rows
		if onAxes {
			of, err = k.RowsAxes(positions[:k.Axes()*tokens]) // no pair may take the last axes
		} else {
			of, err = k.Rows(positions)
		}
		if err != nil {
			return nil, err
		}
		rows.kinds = append(rows.kinds, of)
	}
	return rows, nil
}

func (r *Rope) check(function string, positions []int32, onAxes bool) (tokens int, err error) {
	switch {
	case !onAxes && r.tower:
		return 0, document.ValueError(posenc.ErrConfig, function, "the Rope", "of a vision tower",
			"%sAxes with the positions of patches, [%d][patches], which multimodal.PatchPositions writes", function, r.axes)
	case !onAxes:
		return len(positions), nil
	case len(positions)%r.axes != 0:
		return 0, document.ValueError(posenc.ErrLength, function, "positions", document.ListText(len(positions)),
			"a multiple of %d, for [axes][tokens] of %d axes", r.axes, r.axes)
	}
	return len(positions) / r.axes, nil
}

// LayerRows are the cosines and sines of the tokens of a step, for all layers of a model. Many
// goroutines may use them at once; only Refill changes them.
type LayerRows struct {
	rope  *Rope
	kinds []*posenc.Rows // as in rope
	stale bool           // not all are of one step
}

// Refill replaces the rows by the rows of another step, of any number of tokens, as [Rope.Rows]
// computes them. It allocates only where there never were as many tokens. No other call may
// use the rows meanwhile. Errors are as in Rope.Rows. After an error there are no rows until
// Refill or RefillAxes returns nil.
func (r *LayerRows) Refill(positions []int32) error {
	return r.refill("LayerRows.Refill", positions, false)
}

// RefillAxes is Refill for tokens with a position on each axis: positions is [axes][tokens] as in
// [Rope.RowsAxes].
func (r *LayerRows) RefillAxes(positions []int32) error {
	return r.refill("LayerRows.RefillAxes", positions, true)
}

func (r *LayerRows) refill(function string, positions []int32, onAxes bool) error {
	if r == nil || len(r.kinds) == 0 {
		return document.ValueError(posenc.ErrConfig, function, "the LayerRows", "nil or zero",
			"LayerRows from Rope.Rows or Rope.RowsAxes")
	}
	r.stale = true
	tokens, err := r.rope.check(function, positions, onAxes)
	if err != nil {
		return err
	}
	for i, rows := range r.kinds {
		if onAxes {
			err = rows.RefillAxes(positions[:r.rope.kinds[i].Axes()*tokens])
		} else {
			err = rows.Refill(positions)
		}
		if err != nil {
			return err
		}
	}
	r.stale = false
	return nil
}

// Layer returns the angles by which Q and K of a layer rotate. The angles of a layer that does not
// rotate leave them as they are. If there is no such layer, functions that take the angles return
// an error.
func (r *LayerRows) Layer(layer int) posenc.Angles {
	of := r.layer(layer)
	if of.attention == nil && of.of != nil {
		return of.of.Unrotated(r.kinds[0].Len())
	}
	return r.all(of.attention)
}

// Indexer returns the angles by which queries and keys of the indexer of a layer rotate. If it has
// none, functions that take the angles return an error.
func (r *LayerRows) Indexer(layer int) posenc.Angles { return r.all(r.layer(layer).indexer) }

func (r *LayerRows) layer(i int) ropeLayer {
	if r == nil || r.stale {
		return ropeLayer{}
	}
	return r.rope.layer(i)
}

func (r *LayerRows) all(rotary *posenc.Rotary) posenc.Angles {
	if rotary == nil {
		return posenc.Angles{}
	}
	return r.kinds[slices.Index(r.rope.kinds, rotary)].All()
}
