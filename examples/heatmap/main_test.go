package main

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"
)

// writeConfig writes a config.json and returns its path.
func writeConfig(t *testing.T, config string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "model.json")
	testkit.NoError(t, os.WriteFile(path, []byte(config), 0o600))
	return path
}

// one returns the only encoding of a name.
func one(t *testing.T, p picture, name string) encoding {
	t.Helper()
	found, err := p.find(name)
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %d encodings, %v", name, len(found), err)
	}
	return found[0]
}

// The pictures of the documents are what the program draws.
func TestPictures(t *testing.T) {
	for _, p := range documents {
		committed := testkit.Must(os.ReadFile(p.output))
		if len(committed) > 80e3 {
			t.Errorf("%s has %d bytes, expected at most 80 kB", p.output, len(committed))
		}
		p.output = filepath.Join(t.TempDir(), "new", filepath.Base(p.output))
		testkit.NoError(t, p.write())
		drawn := testkit.Must(os.ReadFile(p.output))
		got, want := decode(t, drawn), decode(t, committed)
		if got.Bounds() != image.Rect(0, 0, 800, 500) {
			t.Errorf("%s is %v, expected 800 x 500", p.output, got.Bounds())
		}
		if got.Bounds() != want.Bounds() {
			t.Fatalf("%s is %v in docs/pictures: run this program without arguments", p.output, want.Bounds())
		}
		for y := range got.Bounds().Dy() {
			for x := range got.Bounds().Dx() {
				if got.At(x, y) != want.At(x, y) {
					t.Fatalf("%s differs from docs/pictures at %d, %d: run this program without arguments", p.output, x, y)
				}
			}
		}
	}
}

func decode(t *testing.T, file []byte) image.Image {
	t.Helper()
	img := testkit.Must(png.Decode(bytes.NewReader(file)))
	return img
}

// Row 0 is at the top and column 0 at the left; the greatest value is red and
// the least blue, in the end colours of Moreland's map, (180,4,38) and (59,76,192).
func TestHeatOrientation(t *testing.T) {
	file := testkit.Must(drawHeat(matrix{columns: 2, rows: 2, values: []float32{-1, 1, 1, 1}}))
	img := decode(t, file)
	for _, c := range []struct {
		x, y int
		want color.RGBA
	}{
		{200, 150, color.RGBA{59, 76, 192, 255}}, {500, 150, color.RGBA{180, 4, 38, 255}},
		{200, 350, color.RGBA{180, 4, 38, 255}}, {500, 350, color.RGBA{180, 4, 38, 255}},
	} {
		got := img.At(c.x, c.y).(color.RGBA)
		for i, v := range []uint8{got.R, got.G, got.B} {
			// The map computes its colours: they may be off by a rounding.
			if want := []uint8{c.want.R, c.want.G, c.want.B}[i]; v > want+1 || v+1 < want {
				t.Errorf("pixel %d, %d is %v, expected %v", c.x, c.y, got, c.want)
			}
		}
	}
}

// The table that tutorials print for base 100: sine and cosine of p and of p/10.
func TestHeatRotary(t *testing.T) {
	p := picture{positions: 4}
	path := writeConfig(t, `{"model_type": "llama", "hidden_size": 4, "num_attention_heads": 1, "num_hidden_layers": 1,
		"max_position_embeddings": 16, "rope_theta": 100}`)
	m := testkit.Must(heat(one(t, p, path), p.positions))
	table := [4][4]float64{
		{0, 1, 0, 1},
		{0.84147098, 0.54030231, 0.09983342, 0.99500417},
		{0.90929743, -0.41614684, 0.19866933, 0.98006658},
		{0.14112001, -0.9899925, 0.29552021, 0.95533649},
	}
	for position, row := range table {
		for i, want := range []float64{row[1], row[3], row[0], row[2]} { // cosines first
			// The table has 8 places, a value is a float32.
			if got := float64(m.values[4*position+i]); math.Abs(got-want) > 5e-9+0x1p-25 {
				t.Errorf("position %d, column %d: %v, expected %v", position, i, got, want)
			}
		}
	}
}

func TestHeatVaswani(t *testing.T) {
	p := picture{positions: 50, dim: 6}
	m := testkit.Must(heat(one(t, p, "vaswani"), p.positions))
	for position := range p.positions {
		for k := range 3 {
			sin, cos := math.Sincos(float64(position) * math.Pow(10000, -float64(k)/3))
			for i, want := range []float64{sin, cos} {
				if got := float64(m.values[6*position+2*k+i]); math.Abs(got-want) > 0x1p-24 {
					t.Errorf("position %d, dimension %d: %v, expected %v", position, 2*k+i, got, want)
				}
			}
		}
	}
}

// What is drawn of a frequency w fits the rows: their dot products are the means
// of cos(distance*w).
func TestDistancesOfRows(t *testing.T) {
	p := picture{positions: 40, dim: 32}
	config := writeConfig(t, `{"model_type": "llama", "hidden_size": 64, "num_attention_heads": 2, "num_hidden_layers": 1,
		"max_position_embeddings": 16, "rope_scaling": {"type": "yarn", "factor": 4, "original_max_position_embeddings": 4}}`)
	for _, name := range append(names(), config) {
		e := one(t, picture{positions: 36, dim: p.dim}, name)
		if e.invFreq == nil {
			continue
		}
		curves := testkit.Must(distances(e, p.positions))
		for distance, got := range curves[0].values {
			want := 0.0
			for _, w := range e.invFreq {
				want += math.Cos(float64(distance)*w) / float64(len(e.invFreq))
			}
			if math.Abs(got-want) > 1e-6 { // a few roundings to float32
				t.Errorf("%s, distance %d: %v, expected %v", name, distance, got, want)
			}
		}
	}
}

func TestDistancesOfBiases(t *testing.T) {
	p := picture{positions: 200}
	alibi := testkit.Must(distances(one(t, p, "alibi"), p.positions))
	for h, c := range alibi {
		for distance, got := range c.values {
			if want := -math.Ldexp(float64(distance), -h-1); got != want {
				t.Errorf("alibi, head %d, distance %d: %v, expected %v", h, distance, got, want)
			}
		}
	}
	// Of T5's 16 buckets for keys before the query, the first 8 are distances and
	// the others go up to 128 in equal ratios: by one at each 8*16^(1/8) = 11.3, 16,
	// 22.6, 32, ...
	for name, want := range map[string]map[int]float64{
		"t5":         {0: 0, 7: 7, 8: 8, 11: 8, 12: 9, 16: 10, 22: 10, 23: 11, 32: 12, 64: 14, 199: 15},
		"t5-decoder": {0: 0, 15: 15, 16: 16, 64: 26, 199: 31},
		"shaw":       {0: 0, 5: -5, 16: -16, 17: -16, 199: -16},
		"deberta":    {0: 0, 5: 5, 100: 100},
	} {
		curves := testkit.Must(distances(one(t, p, name), p.positions))
		for distance, bucket := range want {
			if got := curves[0].values[distance]; got != bucket {
				t.Errorf("%s, distance %d: %v, expected %v", name, distance, got, bucket)
			}
		}
	}
}

func TestWavelengths(t *testing.T) {
	p := picture{positions: 2, dim: 128}
	for name, want := range map[string]func(k float64) float64{
		"vaswani":                      func(k float64) float64 { return 2 * math.Pi * math.Pow(10000, 2*k/128) },
		"whisper":                      func(k float64) float64 { return 2 * math.Pi * math.Pow(10000, k/63) },
		configs + "Llama-2-7b-hf.json": func(k float64) float64 { return 2 * math.Pi * math.Pow(10000, 2*k/128) },
	} {
		curves, err := wavelengths(one(t, p, name), p.positions)
		if err != nil || len(curves) != 1 || len(curves[0].values) != 64 {
			t.Fatalf("%s: %v", name, err)
		}
		for k, got := range curves[0].values {
			if want := want(float64(k)); math.Abs(got/want-1) > 1e-14 { // math.Pow is good to a few ulp
				t.Errorf("%s, pair %d: %v, expected %v", name, k, got, want)
			}
		}
	}
	// The slowest pairs of Llama 3.1 are slowed down by 8, the fastest stay.
	curves := testkit.Must(wavelengths(one(t, p, configs+"Llama-3.1-8B.json"), p.positions))
	for k, factor := range map[int]float64{0: 1, 20: 1, 40: 8, 63: 8} {
		want := 2 * math.Pi * math.Pow(500000, float64(k)/64) * factor
		if got := curves[0].values[k]; math.Abs(got/want-1) > 1e-14 {
			t.Errorf("Llama 3.1, pair %d: %v, expected %v", k, got, want)
		}
	}
	// LongRoPE takes its long factors beyond the trained length.
	for positions, factor := range map[int]float64{4096: 1.1, 4097: 1.0700000524520874} {
		p.positions = positions
		curves := testkit.Must(wavelengths(one(t, p, configs+"Phi-3-mini-128k-instruct.json"), p.positions))
		if got, want := curves[0].values[0], 2*math.Pi*factor; math.Abs(got/want-1) > 1e-14 {
			t.Errorf("Phi 3, %d positions, pair 0: %v, expected %v", positions, got, want)
		}
	}
}

// The first image of the prompt has 5 rows of 8 columns after 8 tokens of text, and the text
// after it goes on 8 further.
func TestPrompt(t *testing.T) {
	curves, err := prompt(encoding{}, 0)
	if err != nil || len(curves) != 3 {
		t.Fatalf("%d curves, %v", len(curves), err)
	}
	for axis, want := range []map[int]float64{
		{0: 0, 7: 7, 8: 8, 15: 8, 16: 8, 47: 8, 48: 16},
		{0: 0, 7: 7, 8: 8, 15: 8, 16: 9, 47: 12, 48: 16},
		{0: 0, 7: 7, 8: 8, 15: 15, 16: 8, 47: 15, 48: 16},
	} {
		for token, position := range want {
			if got := curves[axis].values[token]; got != position {
				t.Errorf("%s of token %d: %v, expected %v", curves[axis].name, token, got, position)
			}
		}
	}
}

// Every encoding has a picture, and every plot that it should not have is an
// error.
func TestEveryEncoding(t *testing.T) {
	p := picture{positions: 16, dim: 16}
	for _, name := range names() {
		for _, p.plot = range []string{"heat", "distance", "wavelength"} {
			e := one(t, p, name)
			has := map[string]bool{"heat": true, "distance": !e.grid, "wavelength": e.invFreq != nil}[p.plot]
			if _, err := p.draw([]encoding{e}); (err == nil) != has {
				t.Errorf("%s of %s: %v", p.plot, name, err)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	kinds := configs + "gemma-3-27b-it.json"
	for _, c := range []struct {
		p    picture
		want string
	}{
		{picture{plot: "heat", positions: 10}, "no encoding"},
		{picture{plot: "heat", positions: 1, encodings: []string{"t5"}}, "-positions 1"},
		{picture{plot: "heat", positions: 5000, encodings: []string{"t5"}}, "at most 4096"},
		{picture{plot: "heat", positions: 99, dim: 8, encodings: []string{"mae"}}, "a square"},
		{picture{plot: "heat", positions: 9, dim: 7, encodings: []string{"vaswani"}}, "dim is 7"},
		{picture{plot: "heat", positions: 9, encodings: []string{"gpt"}}, "expected one of alibi"},
		{picture{plot: "heat", positions: 9, encodings: []string{"t5", "shaw"}}, "one encoding, got 2"},
		{picture{plot: "heat", positions: 9, encodings: []string{kinds}}, "one encoding, got 2"},
		{picture{plot: "heat", positions: 9, layers: "none", encodings: []string{kinds}}, `"none"`},
		{picture{plot: "heat", positions: 9, encodings: []string{"missing.json"}}, "missing.json"},
		{picture{plot: "distance", positions: 1 << 20, dim: 128, encodings: []string{"vaswani"}}, "at most 524288 rows"},
		{picture{plot: "distance", positions: 9, dim: 8, encodings: []string{"vaswani", "alibi"}}, "do not share an axis"},
		{picture{plot: "prompt", positions: 9, encodings: []string{"t5"}}, "no encoding, got t5"},
		{picture{plot: "bar", positions: 9, encodings: []string{"t5"}}, "-plot bar"},
	} {
		c.p.output = filepath.Join(t.TempDir(), "x.png")
		err := c.p.write()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, expected %q", c.p, err, c.want)
		}
		if _, err := os.Stat(c.p.output); err == nil {
			t.Errorf("%+v: a file after an error", c.p)
		}
	}
}

// Pairs that do not turn, as three quarters of those of Gemma 4, have no
// wavelength and are left out.
func TestPairsThatDoNotTurn(t *testing.T) {
	p := picture{plot: "wavelength", positions: 2, layers: "full_attention"}
	e := one(t, p, configs+"gemma-4-E2B-it.json")
	curves := testkit.Must(wavelengths(e, p.positions))
	for k, v := range curves[0].values {
		if math.IsInf(v, 1) != (k >= len(curves[0].values)/4) {
			t.Errorf("pair %d of %d: %v", k, len(curves[0].values), v)
		}
	}
	if _, err := p.draw([]encoding{e}); err != nil {
		t.Error(err)
	}
}
