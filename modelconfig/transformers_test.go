package modelconfig

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/testkit"
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

	model  *Model
	angles frequency.Rounding // of the configurations asked for
	tower  bool               // v is that of a vision tower
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
func eachVectors(t *testing.T, angles frequency.Rounding, f func(t *testing.T, v *vectors)) {
	directory := filepath.Join("testdata", "transformers")
	configs := testkit.Must(filepath.Glob(filepath.Join(directory, "configs", "*.json")))
	files := testkit.Must(filepath.Glob(filepath.Join(directory, "vectors", "*.json")))
	if len(files) < 34 || len(files) != len(configs) {
		t.Fatalf("%d files of vectors for %d configurations, want as many, and at least 34", len(files), len(configs))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			var v vectors
			testkit.ReadJSON(file, &v)
			config := testkit.Must(os.ReadFile(filepath.Join(directory, "configs", filepath.Base(file))))
			v.model = testkit.Must(HuggingFace(config))
			v.with(t, angles, f)
			if v.Vision != nil {
				v.Vision.tower = true
				v.Vision.model = testkit.Must(HuggingFaceVision(config))
				t.Run("vision", func(t *testing.T) { v.Vision.with(t, angles, f) })
			}
		})
	}

	var towers map[string]*vectors
	testkit.ReadJSON(filepath.Join(directory, "towers.json"), &towers)
	if len(towers) < 18 {
		t.Fatalf("%d towers, want at least 18", len(towers))
	}
	for modelType, v := range towers {
		v.tower = true
		t.Run(modelType, func(t *testing.T) {
			v.model = testkit.Must(HuggingFaceVision(fmt.Appendf(nil, `{"model_type": %q}`, modelType)))
			v.with(t, angles, f)
		})
	}
}

// with calls f for the configurations that round angles so.
func (v *vectors) with(t *testing.T, angles frequency.Rounding, f func(t *testing.T, v *vectors)) {
	v.angles = angles
	if len(v.Cases) == 0 {
		t.Fatal("no cases")
	}
	f(t, v)
}

// run calls f in a subtest for every case.
func (v *vectors) run(t *testing.T, f func(t *testing.T, c *vector)) {
	for i := range v.Cases {
		c := &v.Cases[i]
		name := c.LayerType
		if name == "" {
			name = "all"
		}
		name = fmt.Sprintf("%s/seq=%d", name, c.Seq)
		if !c.onePosition() {
			name += ",image"
		}
		t.Run(name, func(t *testing.T) { f(t, c) })
	}
}

func (c *vector) tokens() int { return len(c.Positions) / c.Axes }

// onePosition reports whether all axes have the same positions.
func (c *vector) onePosition() bool {
	for a := 1; a < c.Axes; a++ {
		if !slices.Equal(c.Positions[:c.tokens()], c.Positions[a*c.tokens():][:c.tokens()]) {
			return false
		}
	}
	return true
}

// options of the configuration of c, whose Seq is 0 for short sequences.
func (v *vectors) options(c *vector) kindOptions {
	return kindOptions{LayerType: c.LayerType, SequenceLength: max(c.Seq, 1), Rounding: v.angles}
}

// rotary returns the configuration of the layers of c.
func (v *vectors) rotary(t *testing.T, c *vector) posenc.RotaryConfig {
	t.Helper()
	cfg := testkit.Must(v.model.rotaryFor(v.options(c)))
	axes := 1
	for _, a := range cfg.Axes {
		axes = max(axes, int(a)+1)
	}
	if axes != c.Axes {
		t.Fatalf("%d axes of positions, want %d", axes, c.Axes)
	}
	if want := len(c.InvFreq) / 8; len(cfg.InvFreq) != want {
		t.Fatalf("%d frequencies, want %d", len(cfg.InvFreq), want)
	}
	return cfg
}

// tables returns the cosines and sines of a configuration.
func (c *vector) tables(t *testing.T, cfg posenc.RotaryConfig) (r *posenc.Rotary, cos, sin []float32) {
	t.Helper()
	r = testkit.Must(posenc.NewRotary(cfg))
	n := c.tokens() * len(cfg.InvFreq)
	cos, sin = make([]float32, n), make([]float32, n)
	testkit.NoError(t, r.CosSin(cos, sin, c.Positions))
	return r, cos, sin
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
		for j := range c.HeadDim {
			n := uint64(start + head*c.HeadDim + j)
			x[head*cfg.HeadDim+at+j] = float32(int64((n*2654435761+97)%(1<<24))-1<<23) / (1 << 21)
		}
	}
	return x, at
}

// PyTorch's power, cosine and sine of float32 have an error below 1 ulp and so
// are at most one step from the correctly rounded value. The reciprocal of a
// power can be two steps off then, and so can the product of a cosine and an
// attention factor. How many are off at all is PyTorch's own: 1 of 100
// frequencies and 3 of 100 cosines and sines.
const (
	frequencySteps   = 2
	tableSteps       = 1
	scaledTableSteps = 2

	equalFrequencies = 0.98
	equalEntries     = 0.95 // of the tables of a model, or of all vision towers together, which have few positions
)

// TestTransformersFloat32 compares with the numbers of Hugging Face
// transformers. The ladder is compared on its own; the tables and the rotation
// use the recorded ladder, because at a large position one step of a frequency
// is many steps of a cosine. The tables are equal to the bit to correctly
// rounded ones, and those to the recorded ones, except the misrounded entries.
// The rotation is equal to the bit where the cosine and the sine are.
func TestTransformersFloat32(t *testing.T) {
	var frequencies, entries, towers, elements tally
	eachVectors(t, frequency.Float32, func(t *testing.T, v *vectors) {
		var file tally
		v.run(t, func(t *testing.T, c *vector) {
			cfg := v.rotary(t, c)
			for i, want := range testkit.Hex[float32](c.InvFreq) {
				got := float32(cfg.InvFreq[i])
				frequencies.add(got == want)
				if d := ordered(got) - ordered(want); max(d, -d) > frequencySteps {
					t.Errorf("InvFreq[%d] is %v, transformers has %v", i, got, want)
				}
				cfg.InvFreq[i] = float64(want)
			}

			r, cos, sin := c.tables(t, cfg)
			same := make([]bool, len(cos)) // the recorded cosine and sine are correctly rounded
			for i := range same {
				same[i] = true
			}
			compare := func(name string, got, want []float32, misrounded [][2]int) {
				if len(got) != len(want) {
					t.Fatalf("%s has %d entries, recorded are %d", name, len(got), len(want))
				}
				most := tableSteps
				if cfg.AttentionFactor != 1 {
					most = scaledTableSteps
				}
				for _, m := range misrounded {
					if max(m[1], -m[1]) > most {
						t.Errorf("%s of transformers is %d steps off, want at most %d", name, m[1], most)
					}
					same[m[0]] = false
					want[m[0]] = step(want[m[0]], -m[1])
				}
				for i := range got {
					if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
						t.Errorf("%s[%d][%d] is %x, want %x", name, i/len(cfg.InvFreq), i%len(cfg.InvFreq), got[i], want[i])
					}
				}
				file.addMany(len(got)-len(misrounded), len(got))
			}
			compare("cos", cos, testkit.Hex[float32](c.Cos...), c.CosMisrounded)
			compare("sin", sin, testkit.Hex[float32](c.Sin...), c.SinMisrounded)

			table := [2][]float32{cos, sin}
			c.rotate(t, r, &cfg, 0, 2, c.Q, table, same, &elements)
			c.rotate(t, r, &cfg, 1<<20, 1, c.K, table, same, &elements)
		})
		if v.tower {
			towers.addMany(file.equal, file.all)
		} else if file.share() < equalEntries {
			t.Errorf("%v entries of the tables equal, want %v", file, equalEntries)
		}
		t.Logf("%v entries of the tables equal", file)
		entries.addMany(file.equal, file.all)
	})
	if towers.share() < equalEntries {
		t.Errorf("%v entries of the tables of towers equal, want %v", towers, equalEntries)
	}
	if frequencies.share() < equalFrequencies {
		t.Errorf("%v frequencies equal, want %v", frequencies, equalFrequencies)
	}
	t.Logf("equal: %v frequencies, %v entries of tables, %v elements of q and k", frequencies, entries, elements)
}

// tally counts what is equal to the recorded numbers.
type tally struct{ equal, all int }

func (n *tally) add(equal bool) {
	n.all++
	if equal {
		n.equal++
	}
}

func (n *tally) addMany(equal, all int) { n.equal, n.all = n.equal+equal, n.all+all }

func (n tally) share() float64 { return float64(n.equal) / float64(n.all) }

func (n tally) String() string { return fmt.Sprintf("%d of %d", n.equal, n.all) }

// contracted is a rotation as PyTorch's compiler makes it of a product of complex
// numbers that no loop of 8 of them reaches: one product is not rounded.
func contracted(x1, x2, cos, sin float32) (y1, y2 float32) {
	fma := func(a, b, c float32) float32 { return float32(math.FMA(float64(a), float64(b), float64(c))) }
	return fma(x1, cos, -x2*sin), fma(x1, sin, x2*cos)
}

// rotate compares rotated heads, of which table has the cosines and sines. same has an entry for each token and pair.
func (c *vector) rotate(t *testing.T, r *posenc.Rotary, cfg *posenc.RotaryConfig, start, heads int, rotated []string, table [2][]float32, same []bool, elements *tally) {
	t.Helper()
	x, at := c.heads(start, heads, cfg)
	before := slices.Clone(x)
	testkit.NoError(t, posenc.Rotate(r.At(c.Positions), posenc.View[float32]{Data: x, Heads: heads}))
	recorded := testkit.Hex[float32](rotated...)
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
		equal := math.Float32bits(got) == math.Float32bits(want)
		elements.add(equal)
		if equal {
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
			y1, y2 := contracted(x1, x2, table[0][head/heads*pairs+pair], table[1][head/heads*pairs+pair])
			if want == [2]float32{y1, y2}[j%2] {
				continue
			}
		}
		if !turned || same[head/heads*pairs+pair] || !(math.Abs(float64(got)-float64(want)) <= bound) {
			t.Errorf("element %d of head %d, from %d, is %v, transformers has %v", i%c.HeadDim, head, start, got, want)
		}
	}
}

// TestTransformersExact compares with the same formulas in 200 bits: not one
// number is misrounded.
func TestTransformersExact(t *testing.T) {
	eachVectors(t, frequency.Exact, func(t *testing.T, v *vectors) {
		v.run(t, func(t *testing.T, c *vector) {
			cfg := v.rotary(t, c)
			for i, want := range testkit.Hex[float64](c.Exact.InvFreq) {
				if cfg.InvFreq[i] != want {
					t.Errorf("InvFreq[%d] is %x, want %x", i, cfg.InvFreq[i], want)
				}
			}
			if want := testkit.Hex[float64](c.Exact.Attention)[0]; cfg.AttentionFactor != want {
				t.Errorf("AttentionFactor is %x, want %x", cfg.AttentionFactor, want)
			}
			softmax, err := v.model.softmaxScaleFor(v.options(c))
			if want := testkit.Hex[float64](c.Exact.Softmax)[0]; err != nil || softmax != want {
				t.Errorf("SoftmaxScale is %x, %v, want %x", softmax, err, want)
			}
			_, cos, sin := c.tables(t, cfg)
			wantCos, wantSin := testkit.Hex[float32](c.Exact.Cos...), testkit.Hex[float32](c.Exact.Sin...)
			if len(cos) != len(wantCos) || len(sin) != len(wantSin) {
				t.Fatalf("tables of %d and %d, recorded are %d and %d", len(cos), len(sin), len(wantCos), len(wantSin))
			}
			for i := range cos {
				if math.Float32bits(cos[i]) != math.Float32bits(wantCos[i]) || math.Float32bits(sin[i]) != math.Float32bits(wantSin[i]) {
					t.Errorf("row %d, pair %d is %x, %x, want %x, %x", i/len(cfg.InvFreq), i%len(cfg.InvFreq), cos[i], sin[i], wantCos[i], wantSin[i])
				}
			}
		})
	})
}

// TestTransformersLayers compares which layers rotate and with which kind of
// frequencies, the head that they rotate, and the two scales.
func TestTransformersLayers(t *testing.T) {
	eachVectors(t, frequency.Float32, func(t *testing.T, v *vectors) {
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
		kinds, lengths := map[string]int{}, false // cases of each; whether some are of long sequences
		for i := range v.Cases {
			kinds[v.Cases[i].LayerType]++
			lengths = lengths || v.Cases[i].Seq != 0
		}
		if beyond, depends := v.model.DependsOnLength(); depends != lengths {
			t.Errorf("frequencies depend on lengths beyond %d: %v, in transformers: %v", beyond, depends, lengths)
		}
		kindsHere := slices.DeleteFunc(v.model.layerTypes(), func(kind string) bool { return kind == "indexer" }) // vectors are of attention
		for _, kind := range kindsHere {
			if kinds[kind] == 0 {
				t.Errorf("LayerTypes has %q, transformers has not", kind)
			}
		}
		if len(kinds) != len(kindsHere) {
			t.Errorf("LayerTypes are %q, want %d", kindsHere, len(kinds))
		}
		v.run(t, func(t *testing.T, c *vector) {
			cfg := v.rotary(t, c)
			if cfg.HeadDim < c.HeadDim || cfg.HeadDim > c.HeadDim && cfg.Offset+c.HeadDim > cfg.HeadDim {
				t.Errorf("heads of %d elements with %d from %d on rotated, want %d", cfg.HeadDim, 2*len(cfg.InvFreq), cfg.Offset, c.HeadDim)
			}
			// Python takes a logarithm and two to four operations in float64.
			const tolerance = 8 * 0x1p-53
			if want := testkit.Hex[float64](c.Attention)[0]; !(math.Abs(cfg.AttentionFactor-want) <= tolerance*want) {
				t.Errorf("AttentionFactor is %v, transformers has %v", cfg.AttentionFactor, want)
			}
			softmax, err := v.model.softmaxScaleFor(v.options(c))
			if want := testkit.Hex[float64](c.Softmax)[0]; err != nil || !(math.Abs(softmax-want) <= tolerance*want) {
				t.Errorf("SoftmaxScale is %v, %v, transformers has %v", softmax, err, want)
			}
			if lengths {
				return
			}
			o := v.options(c)
			o.SequenceLength = 1 << 20
			longer, err := v.model.rotaryFor(o)
			if err != nil || !slices.Equal(longer.InvFreq, cfg.InvFreq) || longer.AttentionFactor != cfg.AttentionFactor {
				t.Errorf("a length of 2^20 changes the configuration to %v, %v", longer, err)
			}
		})
	})
}

// TestTransformersQueryScales compares the factors of queries by position with
// those that the functions of transformers return.
func TestTransformersQueryScales(t *testing.T) {
	models := 0
	eachVectors(t, frequency.Exact, func(t *testing.T, v *vectors) {
		if v.QueryScales == nil {
			return
		}
		models++
		scaled := 0
		for i, layer := range v.model.Layers() {
			if layer.QueryScaling == (posenc.QueryScaling{}) {
				continue
			}
			scaled++
			want := testkit.Hex[float32](v.QueryScales.Factors)
			got := make([]float32, len(want))
			testkit.NoError(t, posenc.QueryScales(got, v.QueryScales.Positions, layer.QueryScaling))
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
	})
	if models != 2 {
		t.Errorf("%d models scale queries, want 2", models)
	}
}
