package modelconfig

import (
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
)

// vectors is a file of testdata/transformers/vectors; README.md there says how
// it was made.
type vectors struct {
	Layers [][2]any `json:"layers"` // kind, rotates
	Cases  []vector `json:"cases"`

	QueryScales *struct {
		Positions []int32 `json:"positions"`
		Factors   string  `json:"factors"`
	} `json:"query_scales"`
	Vision *vectors `json:"vision"` // of the vision tower

	model *Model
}

type vector struct {
	LayerType string   `json:"layer_type"`
	Seq       int      `json:"seq"`
	Axes      int      `json:"axes"`
	Positions []int32  `json:"positions"` // [axes][tokens]
	HeadDim   int      `json:"head_dim"`
	InvFreq   string   `json:"inv_freq"`
	Attention string   `json:"attention_factor"`
	Softmax   string   `json:"softmax_scale"`
	Cos       []string `json:"cos"` // one row for each token
	Sin       []string `json:"sin"`
	Q         []string `json:"q"` // two heads
	K         []string `json:"k"` // one head

	// [index, steps] of the entries of Cos and Sin that are a number of float32
	// values away from the correctly rounded ones.
	CosMisrounded [][2]int `json:"cos_misrounded"`
	SinMisrounded [][2]int `json:"sin_misrounded"`

	Exact struct {
		InvFreq   string   `json:"inv_freq"`
		Attention string   `json:"attention_factor"`
		Softmax   string   `json:"softmax_scale"`
		Cos       []string `json:"cos"`
		Sin       []string `json:"sin"`
	} `json:"exact"`
}

// eachVectors calls f in a subtest for every published model, for its vision
// tower, and for the default configuration of every tower.
func eachVectors(t *testing.T, f func(t *testing.T, v *vectors)) {
	directory := filepath.Join("testdata", "transformers")
	configs := kit.Must(filepath.Glob(filepath.Join(directory, "configs", "*.json")))
	files := kit.Must(filepath.Glob(filepath.Join(directory, "vectors", "*.json")))
	if len(files) < 34 || len(files) != len(configs) {
		t.Fatalf("%d files of vectors for %d configurations, want as many, and at least 34", len(files), len(configs))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			var v vectors
			kit.ReadJSON(file, &v)
			config := kit.Must(os.ReadFile(filepath.Join(directory, "configs", filepath.Base(file))))
			v.model = kit.Must(HuggingFace(config))
			f(t, &v)
			if v.Vision != nil {
				v.Vision.model = kit.Must(HuggingFaceVision(config))
				t.Run("vision", func(t *testing.T) { f(t, v.Vision) })
			}
		})
	}

	var towers map[string]*vectors
	kit.ReadJSON(filepath.Join(directory, "towers.json"), &towers)
	if len(towers) < 18 {
		t.Fatalf("%d towers, want at least 18", len(towers))
	}
	for modelType, v := range towers {
		t.Run(modelType, func(t *testing.T) {
			v.model = kit.Must(HuggingFaceVision(fmt.Appendf(nil, `{"model_type": %q}`, modelType)))
			f(t, v)
		})
	}
}

func (c *vector) tokens() int { return len(c.Positions) / c.Axes }

// options of the configuration of c, whose Seq is 0 for short sequences.
func (c *vector) options(rounding frequency.Rounding) kindOptions {
	return kindOptions{LayerType: c.LayerType, SequenceLength: max(c.Seq, 1), Rounding: rounding}
}

// rotary returns the configuration of the layers of c.
func (c *vector) rotary(t *testing.T, m *Model, rounding frequency.Rounding) posenc.RotaryConfig {
	t.Helper()
	cfg := kit.Must(m.rotaryFor(c.options(rounding)))
	axes := kit.Must(posenc.NewRotary(cfg)).Axes()
	if want := len(c.InvFreq) / 8; len(cfg.InvFreq) != want || axes != c.Axes {
		t.Fatalf("%d frequencies on %d axes of positions, want %d on %d", len(cfg.InvFreq), axes, want, c.Axes)
	}
	return cfg
}

// tables returns the cosines and sines of a configuration.
func (c *vector) tables(t *testing.T, cfg posenc.RotaryConfig) (r *posenc.Rotary, tables [2][]float32) {
	t.Helper()
	r = kit.Must(posenc.NewRotary(cfg))
	n := c.tokens() * len(cfg.InvFreq)
	cos, sin := make([]float32, n), make([]float32, n)
	kit.NoError(t, r.CosSinAxes(cos, sin, c.Positions))
	return r, [2][]float32{cos, sin}
}

// ordered counts float32 values.
func ordered(x float32) int {
	bits := int64(math.Float32bits(x))
	if bits >= 1<<31 {
		bits = 1<<31 - bits
	}
	return int(bits)
}

// step returns the float32 that is steps values above x.
func step(x float32, steps int) float32 {
	n := int64(ordered(x)) + int64(steps)
	if n < 0 {
		n = 1<<31 - n
	}
	return math.Float32frombits(uint32(n))
}

// heads are the recorded q or k before rotation. Where a head of the
// configuration is longer than a recorded one (multi-head latent attention),
// the recorded elements are the rotated slice, at says where it starts, and the
// rest is zero.
func (c *vector) heads(start, heads int, cfg *posenc.RotaryConfig) (x []float32, at int) {
	if cfg.HeadDim != c.HeadDim {
		at = cfg.Offset
	}
	x = make([]float32, c.tokens()*heads*cfg.HeadDim)
	for head := range c.tokens() * heads {
		copy(x[head*cfg.HeadDim+at:], kit.GoldenInputs(start+head*c.HeadDim, c.HeadDim))
	}
	return x, at
}

// PyTorch's power, cosine and sine of float32 have an error below 1 ulp and so
// are at most one step from the correctly rounded value. The reciprocal of a
// power can be two steps off then, and so can the product of a cosine and an
// attention factor. How many are off at all is PyTorch's own: 1 of 100
// frequencies and 3 of 100 cosines and sines, which the files name.
const (
	frequencySteps   = 2
	tableSteps       = 1
	scaledTableSteps = 2

	equalFrequencies = 0.98
)

// TestTransformers compares with the numbers of Hugging Face transformers, and
// with the same formulas in 200 bits.
func TestTransformers(t *testing.T) {
	contexts := map[string]int{ // by the models' own pages
		"Llama-3.1-8B": 131072, "Qwen3-8B": 40960, "gemma-2b": 8192, "falcon-7b": 2048, "DeepSeek-V3": 163840, "codegen-350M-mono": 2048, "Phi-3-mini-128k-instruct": 131072,
	}
	scaled, equal, all := 0, 0, 0
	eachVectors(t, func(t *testing.T, v *vectors) {
		if len(v.Cases) == 0 {
			t.Fatal("no cases")
		}
		name := path.Base(t.Name())
		if want, latent := contexts[name], strings.HasPrefix(name, "DeepSeek-V"); want != 0 && (v.model.ContextLength() != want || v.model.Layers()[0].LatentAttention != latent) {
			t.Errorf("sequences of %d, want %d, latent attention %t", v.model.ContextLength(), want, latent)
		}
		lengths := v.compareLayers(t)
		if v.QueryScales != nil {
			scaled++
			v.compareQueryScales(t)
		}
		for i := range v.Cases {
			c := &v.Cases[i]
			t.Run(fmt.Sprintf("%d %s/seq=%d", i, c.LayerType, c.Seq), func(t *testing.T) {
				c.compareExact(t, v.model)
				c.compareScales(t, v.model, lengths)
				equal += c.compareFloat32(t, v.model)
				all += len(c.InvFreq) / 8
			})
		}
	})
	t.Logf("%d of %d frequencies are equal", equal, all)
	if float64(equal) < equalFrequencies*float64(all) {
		t.Errorf("%d of %d frequencies are equal, want %v", equal, all, equalFrequencies)
	}
	if scaled != 2 {
		t.Errorf("%d models scale queries, want 2", scaled)
	}
}

// compareFloat32 compares the ladder on its own; the tables and the rotation
// use the recorded ladder, because at a large position one step of a frequency
// is many steps of a cosine. The tables are equal to the bit to correctly
// rounded ones, and those to the recorded ones, except the misrounded entries.
// The rotation is equal to the bit where the cosine and the sine are. It returns how many
// frequencies are equal.
func (c *vector) compareFloat32(t *testing.T, m *Model) (equal int) {
	cfg := c.rotary(t, m, frequency.Float32)
	for i, want := range kit.Hex[float32](c.InvFreq) {
		got := float32(cfg.InvFreq[i])
		if got == want {
			equal++
		}
		if d := ordered(got) - ordered(want); max(d, -d) > frequencySteps {
			t.Errorf("InvFreq[%d] is %v, transformers has %v", i, got, want)
		}
		cfg.InvFreq[i] = float64(want)
	}
	most := tableSteps
	if cfg.AttentionFactor != 1 {
		most = scaledTableSteps
	}
	r, tables := c.tables(t, cfg)
	same := slices.Repeat([]bool{true}, len(tables[0])) // the recorded cosine and sine are correctly rounded
	for n, want := range [2][]float32{kit.Hex[float32](c.Cos...), kit.Hex[float32](c.Sin...)} {
		misrounded := [2][][2]int{c.CosMisrounded, c.SinMisrounded}[n]
		for _, m := range misrounded {
			if max(m[1], -m[1]) > most {
				t.Errorf("an entry of transformers is %d steps off, want at most %d", m[1], most)
			}
			same[m[0]] = false
			want[m[0]] = step(want[m[0]], -m[1])
		}
		if !kit.SameBits(tables[n], want) {
			t.Errorf("table %d is %x, want %x", n, tables[n], want)
		}
	}
	c.rotate(t, r, &cfg, 0, 2, c.Q, tables, same)
	c.rotate(t, r, &cfg, 1<<20, 1, c.K, tables, same)
	return equal
}

// contracted is a rotation as PyTorch's compiler makes it of a product of complex
// numbers that no loop of 8 of them reaches: one product is not rounded.
func contracted(x1, x2, cos, sin float32) (y1, y2 float32) {
	fma := func(a, b, c float32) float32 { return float32(math.FMA(float64(a), float64(b), float64(c))) }
	return fma(x1, cos, -x2*sin), fma(x1, sin, x2*cos)
}

// rotate compares rotated heads, of which tables have the cosines and sines. same has an entry for each token and pair.
func (c *vector) rotate(t *testing.T, r *posenc.Rotary, cfg *posenc.RotaryConfig, start, heads int, rotated []string, tables [2][]float32, same []bool) {
	t.Helper()
	x, at := c.heads(start, heads, cfg)
	before := slices.Clone(x)
	kit.NoError(t, posenc.Rotate(r.AtAxes(c.Positions), posenc.View[float32]{Data: x, Heads: heads}))
	recorded := kit.Hex[float32](rotated...)
	if len(recorded) != c.tokens()*heads*c.HeadDim {
		t.Fatalf("%d elements recorded, want %d tokens of %d heads of %d", len(recorded), c.tokens(), heads, c.HeadDim)
	}
	// A step of a cosine or sine is at most 2^-23, as both stay below 2, and |x|
	// at most 4: two steps move each of two products by 2^-20. Rounding the
	// products and their sum, below 8 and 16, adds 2^-20 on either side.
	const bound = 0x1p-18
	pairs := len(cfg.InvFreq)
	for i, want := range recorded {
		head, j := i/c.HeadDim, at+i%c.HeadDim
		got := x[head*cfg.HeadDim+j]
		if math.Float32bits(got) == math.Float32bits(want) {
			continue
		}
		j -= cfg.Offset
		turned := j >= 0 && j < 2*pairs
		pair := j % pairs
		if cfg.Layout == posenc.Interleaved {
			pair = j / 2
		}
		if turned && cfg.Layout == posenc.Interleaved && pair >= pairs&^7 {
			x1, x2 := before[head*cfg.HeadDim+at+2*pair], before[head*cfg.HeadDim+at+2*pair+1]
			y1, y2 := contracted(x1, x2, tables[0][head/heads*pairs+pair], tables[1][head/heads*pairs+pair])
			if want == [2]float32{y1, y2}[j%2] {
				continue
			}
		}
		if !turned || same[head/heads*pairs+pair] || !(math.Abs(float64(got)-float64(want)) <= bound) {
			t.Errorf("element %d of head %d, from %d, is %v, transformers has %v", i%c.HeadDim, head, start, got, want)
		}
	}
}

// compareExact compares with the same formulas in 200 bits: not one number is misrounded.
func (c *vector) compareExact(t *testing.T, m *Model) {
	cfg := c.rotary(t, m, frequency.Exact)
	if want := kit.Hex[float64](c.Exact.InvFreq); !slices.Equal(cfg.InvFreq, want) {
		t.Errorf("InvFreq is %x, want %x", cfg.InvFreq, want)
	}
	want := append(kit.Hex[float64](c.Exact.Attention), kit.Hex[float64](c.Exact.Softmax)...)
	if got := []float64{cfg.AttentionFactor, m.softmaxScaleFor(c.options(frequency.Exact))}; !slices.Equal(got, want) {
		t.Errorf("AttentionFactor and SoftmaxScale are %x, want %x", got, want)
	}
	_, tables := c.tables(t, cfg)
	if cos, sin := kit.Hex[float32](c.Exact.Cos...), kit.Hex[float32](c.Exact.Sin...); !kit.SameBits(tables[0], cos) || !kit.SameBits(tables[1], sin) {
		t.Errorf("cosines and sines are %x, want %x and %x", tables, cos, sin)
	}
}

// compareLayers compares which layers rotate and with which kind of frequencies, and reports
// whether these depend on the length of a sequence.
func (v *vectors) compareLayers(t *testing.T) (lengths bool) {
	layers := v.model.Layers()
	if len(layers) != len(v.Layers) {
		t.Fatalf("%d layers, want %d", len(layers), len(v.Layers))
	}
	for i, layer := range layers {
		kind, rotates := v.Layers[i][0].(string), v.Layers[i][1].(bool)
		if layer.Rotates != rotates || rotates && layer.Kind != kind {
			t.Errorf("layer %d is %+v, want kind %q that rotates: %v", i, layer, kind, rotates)
		}
	}
	kinds := map[string]bool{}
	for i := range v.Cases {
		kinds[v.Cases[i].LayerType] = true
		lengths = lengths || v.Cases[i].Seq != 0
	}
	if beyond, depends := v.model.DependsOnLength(); depends != lengths {
		t.Errorf("frequencies depend on lengths beyond %d: %v, in transformers: %v", beyond, depends, lengths)
	}
	here := slices.DeleteFunc(v.model.layerTypes(), func(kind string) bool { return kind == description.IndexerKind }) // vectors are of attention
	if want := document.SortedKeys(kinds); !slices.Equal(here, want) {
		t.Errorf("kinds of layers are %q, want %q", here, want)
	}
	return lengths
}

// compareScales compares the head that is rotated and the two scales. Unless frequencies depend on
// lengths, a long sequence changes nothing.
func (c *vector) compareScales(t *testing.T, m *Model, lengths bool) {
	cfg := c.rotary(t, m, frequency.Float32)
	if cfg.HeadDim < c.HeadDim || cfg.HeadDim > c.HeadDim && cfg.Offset+c.HeadDim > cfg.HeadDim {
		t.Errorf("heads of %d elements with %d from %d on rotated, want %d", cfg.HeadDim, 2*len(cfg.InvFreq), cfg.Offset, c.HeadDim)
	}
	// Python takes a logarithm and two to four operations in float64.
	const tolerance = 8 * 0x1p-53
	o := c.options(frequency.Float32)
	softmax := m.softmaxScaleFor(o)
	attention, wantSoftmax := kit.Hex[float64](c.Attention)[0], kit.Hex[float64](c.Softmax)[0]
	if !(math.Abs(cfg.AttentionFactor-attention) <= tolerance*attention) || !(math.Abs(softmax-wantSoftmax) <= tolerance*wantSoftmax) {
		t.Errorf("AttentionFactor and SoftmaxScale are %v, %v, transformers has %v, %v", cfg.AttentionFactor, softmax, attention, wantSoftmax)
	}
	if o.SequenceLength = 1 << 20; lengths {
		return
	}
	longer, err := m.rotaryFor(o)
	if err != nil || !slices.Equal(longer.InvFreq, cfg.InvFreq) || longer.AttentionFactor != cfg.AttentionFactor {
		t.Errorf("a length of 2^20 changes the configuration to %v, %v", longer, err)
	}
}

// compareQueryScales compares the factors of queries by position with those that the functions
// of transformers return.
func (v *vectors) compareQueryScales(t *testing.T) {
	scaled := 0
	for i, layer := range v.model.Layers() {
		if layer.QueryScaling == (posenc.QueryScaling{}) {
			continue
		}
		scaled++
		want := kit.Hex[float32](v.QueryScales.Factors)
		got := make([]float32, len(want))
		kit.NoError(t, posenc.QueryScales(got, v.QueryScales.Positions, layer.QueryScaling))
		for j := range want {
			// Two steps: PyTorch's logarithm, below 8, is off by less than 2^-20;
			// a tenth of that, and roundings of numbers below 1 and 2.
			if d := ordered(got[j]) - ordered(want[j]); max(d, -d) > 2 {
				t.Errorf("layer %d scales position %d by %v, transformers by %v", i, v.QueryScales.Positions[j], got[j], want[j])
			}
		}
	}
	if scaled == 0 {
		t.Error("no layer scales queries")
	}
}
