package ropetest_test

import (
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/modelconfig"
	"github.com/go-posenc/posenc/ropetest"
)

// The lines of README.md rotate text as transformers does, in every model: a prompt and a token after it,
// of heads that lie packed, and among those of Q, K and V.
func TestReadme(t *testing.T) {
	for name, config := range ropetest.Models() {
		t.Run(name, func(t *testing.T) { checkReadme(t, name, config) })
		if name == "Qwen3.5-35B-A3B" { // its text model alone, of a file without images
			t.Run("qwen3_5_text", func(t *testing.T) {
				var file struct {
					Text map[string]any `json:"text_config"`
				}
				kit.NoError(t, json.Unmarshal(config, &file))
				file.Text["model_type"] = "qwen3_5_text"
				checkReadme(t, name, kit.Must(json.Marshal(file.Text)))
			})
		}
	}
}

func checkReadme(t *testing.T, vectors string, config []byte) {
	for _, e := range recordedEngines(t, vectors, config) {
		for _, tokens := range []int{1, 2, 3, 6} {
			for _, e.strided = range []bool{false, true} {
				e.first, e.tokens = 0, tokens
				readme(t, e, config)
			}
		}
	}
}

func readme(t *testing.T, e *recordedEngine, configJSON []byte) {
	t.Helper()
	longest, positions := e.longest, e.positions(1)
	q, k := e.heads(0)
	layers := 0
	var err error
	attend := func(_, _ posenc.View[float32], softmaxScale float64) {
		kit.NoError(t, err)
		e.compare(t, layers, softmaxScale)
		layers++
		q, k = e.heads(layers)
	}

	model, err := modelconfig.HuggingFace(configJSON) // or GGUF(keys, tensors)
	rope, err := model.Rope(modelconfig.RopeOptions{SequenceLength: longest})
	rows, err := rope.Rows(positions) // of the tokens of a step; in later steps rows.Refill
	for i, layer := range model.Layers() {
		err = posenc.Rotate(rows.Layer(i), q, k)
		attend(q, k, layer.SoftmaxScale) // the scale multiplies scores; 1 for most models
	}

	if layers != len(e.layers) {
		t.Fatalf("%d layers, want %d", layers, len(e.layers))
	}
	e.first, e.tokens, layers = e.tokens, 1, 0
	q, k = e.heads(0)
	kit.NoError(t, rows.Refill(e.positions(1)))
	for i, layer := range model.Layers() {
		err = posenc.Rotate(rows.Layer(i), q, k)
		attend(q, k, layer.SoftmaxScale)
	}
}

// Tokens of images rotate by their position on each axis, and the text after them by one.
func TestPositionsOnAxes(t *testing.T) {
	count := 0
	for name, config := range ropetest.Models() {
		model := kit.Must(modelconfig.HuggingFace(config))
		rope, err := model.Rope()
		if err != nil || rope.Axes() == 1 { // of other lengths
			continue
		}
		count++
		t.Run(name, func(t *testing.T) {
			text := recordedEngines(t, name, config)[0]
			image := *text
			image.cases = map[string]*recordedCase{}
			for _, c := range recordedCases(name) {
				if !c.isText() {
					image.cases[c.Kind] = c
				}
			}
			rotate := func(e *recordedEngine, rows *modelconfig.LayerRows) {
				for i, layer := range model.Layers() {
					q, k := e.heads(i)
					kit.NoError(t, posenc.Rotate(rows.Layer(i), q, k))
					e.compare(t, i, layer.SoftmaxScale)
				}
			}
			for _, tokens := range []int{1, 2, 3, 6} {
				image.first, image.tokens, image.strided = 0, tokens, tokens%2 == 0
				rows := kit.Must(rope.RowsAxes(image.positions(rope.Axes())))
				rotate(&image, rows)
				image.first, image.tokens = tokens, 1
				kit.NoError(t, rows.RefillAxes(image.positions(rope.Axes())))
				rotate(&image, rows)
				text.first, text.tokens = tokens, 1
				kit.NoError(t, rows.Refill(text.positions(1)))
				rotate(text, rows)
			}
		})
	}
	if count < 5 {
		t.Errorf("%d models with several axes, want at least 5", count)
	}
}

// Rows of another number of tokens than Q and K have are an error, before anything is written: those of the
// step before, where Refill was forgotten, and those of positions on axes in place of one for each token.
func TestRowsOfOtherTokens(t *testing.T) {
	for name, config := range ropetest.Models() {
		t.Run(name, func(t *testing.T) {
			e := recordedEngines(t, name, config)[0]
			model := kit.Must(modelconfig.HuggingFace(config))
			rope := kit.Must(model.Rope(modelconfig.RopeOptions{SequenceLength: e.longest}))
			for _, rows := range []int{1, 2, 3, 6} {
				e.tokens = rows
				made := []*modelconfig.LayerRows{kit.Must(rope.Rows(e.positions(1)))}
				if axes := rope.Axes(); axes > 1 {
					made = append(made, kit.Must(rope.Rows(e.positions(axes))))
				}
				for _, e.tokens = range []int{1, 2, 3, 6, 18} {
					for i, of := range made {
						if of := []int{rows, rows * rope.Axes()}[i]; of == e.tokens {
							continue
						}
						for _, e.strided = range []bool{false, true} {
							q, k := e.heads(0)
							before := slices.Clone(q.Data)
							err := posenc.Rotate(of.Layer(0), q, k)
							if err == nil || !kit.SameBits(q.Data, before) {
								t.Fatalf("rows of %d tokens, heads of %d, strided %t: error %v", rows, e.tokens, e.strided, err)
							}
						}
					}
				}
			}
		})
	}
}

// recordedEngine makes the heads of the tokens of a step as testdata of modelconfig has them, in turn.
type recordedEngine struct {
	longest int
	layers  []recordedLayer
	cases   map[string]*recordedCase // by the kind of layers

	first, tokens int  // of the step
	strided       bool // heads lie among those of Q, K and V

	q, k posenc.View[float32] // of the layer
}

type recordedLayer struct {
	kind    string
	rotates bool
	config  posenc.RotaryConfig // HeadDim alone of one that does not rotate
}

type recordedCase struct {
	Kind      string   `json:"layer_type"`
	Seq       int      `json:"seq"`
	Axes      int      `json:"axes"`
	Positions []int32  `json:"positions"` // [axes][tokens]
	HeadDim   int      `json:"head_dim"`
	Q         []string `json:"q"` // two heads
	K         []string `json:"k"` // one head
	Exact     struct {
		InvFreq string   `json:"inv_freq"`
		Softmax string   `json:"softmax_scale"`
		Cos     []string `json:"cos"` // a row for each token
		Sin     []string `json:"sin"`
	} `json:"exact"`
}

const queryHeads = 2

func (c *recordedCase) tokens() int { return len(c.Positions) / c.Axes }

// isText reports whether each token has one position on all axes.
func (c *recordedCase) isText() bool {
	return slices.Equal(c.Positions, slices.Repeat(c.Positions[:c.tokens()], c.Axes))
}

func recordedCases(name string) []*recordedCase {
	var v struct {
		Cases []*recordedCase `json:"cases"`
	}
	kit.ReadJSON(filepath.Join(golden, "vectors", name+".json"), &v)
	return v.Cases
}

// recordedEngines are an engine for each length of sequences for which the model has other frequencies.
func recordedEngines(t *testing.T, name string, config []byte) (list []*recordedEngine) {
	t.Helper()
	needGolden(t)
	var v struct {
		Layers [][2]any `json:"layers"` // kind, rotates
	}
	kit.ReadJSON(filepath.Join(golden, "vectors", name+".json"), &v)
	model := kit.Must(modelconfig.HuggingFace(config))
	trained, _ := model.DependsOnLength()
	byLength := map[int]*recordedEngine{}
	for _, c := range recordedCases(name) {
		if !c.isText() {
			continue
		}
		e := byLength[c.Seq]
		if e == nil {
			e = &recordedEngine{longest: c.Seq, cases: map[string]*recordedCase{}}
			if c.Seq == 0 {
				e.longest = max(trained, 1)
			}
			byLength[c.Seq], list = e, append(list, e)
			rope := kit.Must(model.Rope(modelconfig.RopeOptions{SequenceLength: e.longest}))
			for i, of := range v.Layers {
				l := recordedLayer{of[0].(string), of[1].(bool), rope.Rotary(i).Config()}
				if !l.rotates {
					l.config.HeadDim = c.HeadDim
				}
				e.layers = append(e.layers, l)
			}
		}
		e.cases[c.Kind] = c
	}
	return list
}

// of returns the case of a layer; one that does not rotate has the tokens of any.
func (e *recordedEngine) of(layer int) *recordedCase {
	if c := e.cases[e.layers[layer].kind]; c != nil {
		return c
	}
	for _, c := range e.cases {
		return c
	}
	panic("no case")
}

// positions are those of the tokens of the step, [axes][tokens].
func (e *recordedEngine) positions(axes int) (list []int32) {
	for axis := range axes {
		for t := range e.tokens {
			c := e.of(0)
			list = append(list, c.Positions[axis*c.tokens()+(e.first+t)%c.tokens()])
		}
	}
	return list
}

// heads returns Q and K of a layer, before their rotation.
func (e *recordedEngine) heads(layer int) (q, k posenc.View[float32]) {
	if layer == len(e.layers) {
		return q, k
	}
	dim := e.layers[layer].config.HeadDim
	e.q = posenc.View[float32]{Data: make([]float32, e.tokens*queryHeads*dim), Heads: queryHeads}
	e.k = posenc.View[float32]{Data: make([]float32, e.tokens*dim), Heads: 1}
	if e.strided {
		stride := (queryHeads + 2) * dim
		packed := make([]float32, e.tokens*stride)
		e.q.Data, e.q.TokenStride = packed, stride
		e.k.Data, e.k.TokenStride = packed[queryHeads*dim:], stride
	}
	e.eachHead(layer, func(head, before, _ []float32, _ int) { copy(head, before) })
	return e.q, e.k
}

// eachHead calls f with each head of Q and K, what it is before the rotation, and the part of it that is
// recorded after the rotation.
func (e *recordedEngine) eachHead(layer int, f func(head, before, recorded []float32, token int)) {
	c, dim := e.of(layer), e.layers[layer].config.HeadDim
	for n, x := range []posenc.View[float32]{e.q, e.k} {
		rotated := [][]string{c.Q, c.K}[n]
		stride := max(x.TokenStride, x.Heads*dim)
		for t := range e.tokens {
			token := (e.first + t) % c.tokens()
			recorded := kit.Hex[float32](rotated[token])
			for h := range x.Heads {
				before := make([]float32, dim)
				copy(before[e.recordedAt(layer):], kit.GoldenInputs(n<<20+(token*x.Heads+h)*c.HeadDim, c.HeadDim))
				f(x.Data[t*stride+h*dim:][:dim], before, recorded[h*c.HeadDim:][:c.HeadDim], token)
			}
		}
	}
}

// recordedAt is the first element that is recorded: of latent attention the rotated part alone is.
func (e *recordedEngine) recordedAt(layer int) int {
	if cfg := &e.layers[layer].config; cfg.HeadDim != e.of(layer).HeadDim {
		return cfg.Offset
	}
	return 0
}

// compare compares the heads of a layer with the rotation by the recorded cosines and sines, which are
// correctly rounded, to the last bit, and with the heads that transformers rotates by float32 angles.
func (e *recordedEngine) compare(t *testing.T, layer int, softmaxScale float64) {
	t.Helper()
	c, l := e.of(layer), &e.layers[layer]
	want := 1.0
	if l.rotates {
		want = kit.Hex[float64](c.Exact.Softmax)[0]
	}
	if softmaxScale != want {
		t.Fatalf("layer %d scales scores by %v, want %v", layer, softmaxScale, want)
	}
	invFreq := kit.Hex[float64](c.Exact.InvFreq)
	e.eachHead(layer, func(got, before, recorded []float32, token int) {
		want, errors := slices.Clone(before), make([]float64, len(before))
		if l.rotates {
			cos, sin := kit.Hex[float32](c.Exact.Cos[token]), kit.Hex[float32](c.Exact.Sin[token])
			largest := 0.0
			for axis := range c.Axes {
				largest = max(largest, float64(c.Positions[axis*c.tokens()+token]))
			}
			for i := range invFreq {
				a, b := pairOf(l, i, l.config.Layout == posenc.HalfSplit)
				x, y := before[a], before[b]
				a, b = pairOf(l, i, l.config.Layout != posenc.Interleaved)
				want[a], want[b] = float32(x*cos[i])-float32(y*sin[i]), float32(y*cos[i])+float32(x*sin[i])
				// Of float32 angles: a frequency is two steps off, and a product half a step. Elements are
				// at most 4, and attention factors below 2.
				errors[a] = 0x1p-18 + 16*0x1.4p-22*largest*invFreq[i]
				errors[b] = errors[a]
			}
		}
		if !kit.SameBits(got, want) {
			t.Fatalf("layer %d, token %d: %v, want %v", layer, token, got, want)
		}
		at := e.recordedAt(layer)
		for j, of := range recorded {
			if l.rotates && !(math.Abs(float64(got[at+j])-float64(of)) <= errors[at+j]) {
				t.Fatalf("layer %d, token %d: element %d is %v, transformers has %v", layer, token, at+j, got[at+j], of)
			}
		}
	})
}

// pairOf returns the elements of a pair, of halves or of neighbours.
func pairOf(l *recordedLayer, i int, halves bool) (a, b int) {
	if halves {
		return l.config.Offset + i, l.config.Offset + i + l.config.RotaryDim/2
	}
	return l.config.Offset + 2*i, l.config.Offset + 2*i + 1
}

// The patches of a tower have no single position, and say where theirs come from.
func TestRowsOfTowers(t *testing.T) {
	count := 0
	for name, config := range ropetest.Models() {
		model, err := modelconfig.HuggingFaceVision(config)
		if err != nil {
			continue
		}
		count++
		rope := kit.Must(model.Rope())
		rows := kit.Must(rope.RowsAxes(make([]int32, 3*rope.Axes())))
		for function, err := range map[string]error{
			"Rope.Rows": kit.Made(rope.Rows([]int32{0, 1, 2})), "LayerRows.Refill": rows.Refill([]int32{0, 1, 2}),
		} {
			want := "modelconfig." + function + ": the Rope is of a vision tower, want " + function +
				"Axes with the positions of patches, [2][patches], which multimodal.PatchPositions writes"
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if count < 3 {
		t.Errorf("%d towers, want at least 3", count)
	}
}
