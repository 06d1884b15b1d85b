package main

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/cmd/posenc/internal/array"
	"github.com/go-posenc/posenc/cmd/posenc/internal/source"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/ropecheck"
	"github.com/go-posenc/posenc/internal/test/kit"
)

const configs = "../../modelconfig/testdata/transformers/configs"

// dump writes random heads before and after the rotation of their last elements, as q and r.
func dump(t *testing.T, config posenc.RotaryConfig, heads, headDim int, positions []int32) string {
	t.Helper()
	random := rand.New(rand.NewPCG(3, 4))
	before := make([]float32, len(positions)*heads*headDim)
	for i := range before {
		before[i] = float32(random.NormFloat64())
	}
	after := append([]float32(nil), before...)
	rope := kit.MustRotary(config)
	kit.NoError(t, posenc.Rotate(rope.At(positions), posenc.View[float32]{Data: after[headDim-config.HeadDim:], Heads: heads, TokenStride: heads * headDim, HeadStride: headDim}))
	file, shape := filepath.Join(t.TempDir(), "dump.npz"), []int{len(positions), heads, headDim}
	kit.NoError(t, array.WriteFile(file, &array.File{Arrays: []array.Array{{Name: "q", Shape: shape, Values: before}, {Name: "r", Shape: shape, Values: after}}}))
	return file
}

// TestKnownMisreadings: rotations as engines are known to do them, other than the model's own code
// does. Configs are published ones; the rotations are made here, for all pairs at once.
func TestKnownMisreadings(t *testing.T) {
	untruncated := kit.Must(frequency.YaRN(64, 150000, frequency.YaRNParameters{Factor: 32, OriginalMaxPositions: 4096}, frequency.Exact))
	for _, test := range []struct {
		name, model string
		rotation    int // of the model
		headDim     int // of the dump, whose last elements rotate; 0: all
		layout      posenc.Layout
		invFreq     []float64
		last        int32 // position
		verdict     ropecheck.Verdict
		note, text  string
	}{
		{"right", "DeepSeek-V3", 0, 0, 0, nil, 1003, ropecheck.Agrees, "", ""},
		{"whole heads of latent attention", "DeepSeek-V3", 0, 192, 0, nil, 1003, ropecheck.Agrees, "", ""},
		// mlx-lm and llama.cpp: Q and K of latent attention keep the order of their elements.
		{"pairs left in place", "DeepSeek-V3", 0, 0, posenc.Interleaved, nil, 1003, ropecheck.Agrees, "Scores are the same if that is so for Q and for K.", ""},
		// GGUF files and mlx-lm have no key truncate.
		{"truncate", "gpt-oss-20b", 0, 0, 0, untruncated.InvFreq, 1003, ropecheck.Differs, "", `The frequencies are those of "gpt-oss-20b without truncate: false".`},
		// mlx-lm has the long factors always.
		{"long factors", "Phi-3.5-mini-instruct", 1, 0, 0, nil, 1003, ropecheck.Agrees, "The last position is 1003. This rotation is that of sequences of more than 4096 tokens, and shorter ones have another.", ""},
		{"short factors", "Phi-3.5-mini-instruct", 0, 0, 0, nil, 4096, ropecheck.Differs, "", `The frequencies are those of "Phi-3.5-mini-instruct 4096 tokens".`},
		{"short factors of a short sequence", "Phi-3.5-mini-instruct", 0, 0, 0, nil, 4095, ropecheck.Agrees, "", ""},
		// Engines that read GGUF files, whose converter permutes the weights.
		{"permuted weights", "Llama-3.1-8B", 0, 0, posenc.Interleaved, nil, 1003, ropecheck.Differs, "give the GGUF file in place of the config.json, or --pairs interleaved.", "Pairs are Interleaved, and the candidate has HalfSplit."},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(configs, test.model+".json")
			config := kit.Must(rotations(kit.Must(source.Load(path))))[test.rotation].config
			config.Layout = cmp.Or(test.layout, config.Layout)
			if test.invFreq != nil {
				config.InvFreq = test.invFreq
			}
			file := dump(t, config, 4, cmp.Or(test.headDim, config.HeadDim), []int32{0, 1, 2, 3, 4, 5, 6, 7, 1000, 1001, 1002, test.last})
			result := kit.Must(check(path, file+":q", file+":r", checkOptions{positions: fmt.Sprint("0-7,1000-1002,", test.last)}))
			notes := strings.Join(result.Notes, "\n")
			if test.headDim > 0 && result.Report.Candidates[0].Arithmetics[0].Equal != 1 || result.Verdict != test.verdict || !strings.Contains(notes, test.note) || test.note == "" && notes != "" || !strings.Contains(result.Report.String(), test.text) {
				t.Errorf("verdict %s, notes %q, want %s, %q and in the report %q\n%v", result.Verdict, notes, test.verdict, test.note, test.text, result.Report)
			}
		})
	}
}

// TestUnrotatedLayer asks about a layer of SmolLM3 that does not rotate.
func TestUnrotatedLayer(t *testing.T) {
	path := filepath.Join(configs, "SmolLM3-3B.json")
	config := kit.Must(rotations(kit.Must(source.Load(path))))[0].config
	file := dump(t, config, 4, config.HeadDim, []int32{0, 1, 2, 3, 100})
	for after, want := range map[string]ropecheck.Verdict{"q": ropecheck.Agrees, "r": ropecheck.Differs} {
		result := kit.Must(check(path, file+":q", file+":"+after, checkOptions{positions: "0-3,100", layer: "3"}))
		if result.Verdict != want || want == ropecheck.Differs && !strings.Contains(result.Report.String(), "The heads rotate, and the candidate does not rotate.") {
			t.Errorf("%s: verdict %s, want %s\n%v", after, result.Verdict, want, result.Report)
		}
	}
}

// TestBothOrders: of as many heads as tokens, the order that is right is found, also by a rotation that is
// wrong.
func TestBothOrders(t *testing.T) {
	path := filepath.Join(configs, "Llama-3.1-8B.json")
	for _, layout := range []posenc.Layout{posenc.HalfSplit, posenc.Interleaved} {
		config := kit.Must(rotations(kit.Must(source.Load(path))))[0].config
		config.Layout = layout
		file := dump(t, config, 6, config.HeadDim, []int32{0, 1, 2, 3, 1000, 1003})
		transposed := kit.Must(array.ReadFile(file))
		for i := range transposed.Arrays {
			a := &transposed.Arrays[i]
			a.Values = (&shape{Axes: []string{headsAxis, tokensAxis, dimAxis}, Size: a.Shape, headDim: config.HeadDim}).order(a.Values.([]float32))
		}
		other := filepath.Join(t.TempDir(), "transposed.npz")
		kit.NoError(t, array.WriteFile(other, transposed))
		for file, want := range map[string]string{file: "[tokens 6][heads 6][dim 128]", other: "[heads 6][tokens 6][dim 128]"} {
			for _, positions := range []string{"0-3,1000,1003", ""} {
				result := kit.Must(check(path, file+":q", file+":r", checkOptions{positions: positions}))
				if agrees := layout == posenc.HalfSplit; result.Shape.String() != want || result.OtherShape == nil || (result.Verdict == ropecheck.Agrees) != agrees {
					t.Errorf("%v, positions %q: %s as %v, want %s", layout, positions, result.Verdict, result.Shape, want)
				}
			}
		}
	}
}

// TestSequencesAsAxes: a batch of as many sequences as positions have axes. Lists are of axes, and an
// array may be of either, unless its shape says which.
func TestSequencesAsAxes(t *testing.T) {
	const sequences, axes, tokens = 3, 3, 8
	path := filepath.Join(configs, "Qwen2-VL-7B-Instruct.json")
	config := kit.Must(rotations(kit.Must(source.Load(path))))[0].config
	sequence := []int32{ // [axes][tokens]
		0, 1, 2, 3, 3, 3, 3, 900,
		0, 1, 2, 3, 3, 14, 14, 900,
		0, 1, 2, 3, 24, 3, 24, 900,
	}
	var each, text []int32 // [axes][sequences][tokens], [sequences][tokens]
	for axis := range axes {
		each = append(each, slices.Repeat(sequence[axis*tokens:][:tokens], sequences)...)
	}
	for i := range sequences * tokens {
		text = append(text, int32(i*i))
	}
	rope := kit.MustRotary(config)
	random := rand.New(rand.NewPCG(3, 5))
	q := make([]float32, sequences*tokens*4*config.HeadDim)
	for i := range q {
		q[i] = float32(random.NormFloat64())
	}
	rotated := func(a posenc.Angles) []float32 {
		after := slices.Clone(q)
		kit.NoError(t, posenc.Rotate(a, posenc.View[float32]{Data: after, Heads: 4}))
		return after
	}
	heads := []int{sequences, tokens, 4, config.HeadDim}
	wide := func(positions []int32) (list []int64) {
		for _, p := range positions {
			list = append(list, int64(p))
		}
		return list
	}
	file := filepath.Join(t.TempDir(), "dump.npz")
	kit.NoError(t, array.WriteFile(file, &array.File{Arrays: []array.Array{
		{Name: "q", Shape: heads, Values: q}, {Name: "image", Shape: heads, Values: rotated(rope.AtAxes(each))}, {Name: "text", Shape: heads, Values: rotated(rope.At(text))},
		{Name: "of_axes", Shape: []int{axes, 1, tokens}, Values: wide(sequence)}, {Name: "of_each", Shape: []int{axes, sequences, tokens}, Values: wide(each)},
		{Name: "of_text", Shape: []int{sequences * tokens}, Values: wide(text)}, {Name: "of_either", Shape: []int{sequences, tokens}, Values: wide(text)},
	}}))
	for _, tt := range []struct{ after, positions string }{
		{"image", "0-3,3,3,3,900/0-3,3,14,14,900/0-3,24,3,24,900"}, {"image", file + ":of_axes"}, {"image", file + ":of_each"}, {"text", file + ":of_text"},
	} {
		if result := kit.Must(check(path, file+":q", file+":"+tt.after, checkOptions{positions: tt.positions, shape: "batch,tokens,heads,dim"})); result.Verdict != ropecheck.Agrees {
			t.Errorf("%s by %s: %s", tt.after, tt.positions, result.Verdict)
		}
	}
	_, err := check(path, file+":q", file+":text", checkOptions{positions: file + ":of_either", shape: "batch,tokens,heads,dim"})
	if want := "--positions: positions of shape [3 8] for [batch 3][tokens 8][heads 4][dim 128] are of 3 sequences or of 3 axes: want [3][1][8] for axes, or [24] for sequences"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestDocumentedOutput runs the examples of documents whose output is below them, and on
// every machine the same; -update writes it.
func TestDocumentedOutput(t *testing.T) {
	for name, least := range map[string]int{"command": 8, "absolute": 2} {
		t.Run(name, func(t *testing.T) { testDocumentedOutput(t, name, least) })
	}
}

func testDocumentedOutput(t *testing.T, name string, least int) {
	document := kit.Must(filepath.Abs("../../docs/" + name + ".md"))
	text := kit.Must(os.ReadFile(document))
	updated := string(text)
	folder := t.TempDir()
	for _, files := range []string{configs, "testdata/check", "testdata/gguf"} {
		kit.NoError(t, os.CopyFS(folder, os.DirFS(files)))
	}
	t.Chdir(folder)
	t.Setenv("COLUMNS", "")
	examples := 0
	for part := range strings.SplitSeq(string(text), "```sh\n") {
		command, rest, _ := strings.Cut(part, "\n```\n\n```text\n")
		arguments := strings.Fields(command)
		if len(arguments) < 2 || arguments[0] != "posenc" || arguments[1] == "bench" || arguments[1] == "info" || rest == "" {
			continue
		}
		examples++
		want, _, _ := strings.Cut(rest, "```\n")
		var stdout, stderr bytes.Buffer
		run(arguments[1:], &stdout, &stderr)
		if *kit.Update {
			updated = strings.Replace(updated, command+"\n```\n\n```text\n"+want, command+"\n```\n\n```text\n"+stdout.String(), 1)
		} else if stdout.String() != want || stderr.Len() > 0 {
			t.Errorf("%s\n%s%swant\n%s", command, stdout.String(), stderr.String(), want)
		}
	}
	if *kit.Update {
		kit.NoError(t, os.WriteFile(document, []byte(updated), 0o666))
	}
	if examples < least {
		t.Errorf("%d examples with their output", examples)
	}
}

// TestCheckNamesEngines: of heads that engines rotated, check names the engine.
func TestCheckNamesEngines(t *testing.T) {
	var vectors struct {
		Rotations []struct {
			Name, Layout string
			HeadDim      int `json:"head_dim"`
			Heads        int
			Base, Factor float64
			Divisors     []float64
			Positions    []int32
			After        []string
		}
	}
	kit.ReadJSON("../../internal/ropecheck/testdata/engines.json", &vectors)
	named := 0
	for _, c := range vectors.Rotations {
		if c.Layout != "HalfSplit" || c.Divisors != nil {
			continue // no config.json has them
		}
		folder := t.TempDir()
		scaling := ""
		if c.Factor != 0 {
			scaling = fmt.Sprintf(`, "rope_scaling": {"rope_type": "yarn", "factor": %g, "original_max_position_embeddings": 8192}`, c.Factor)
		}
		config := filepath.Join(folder, "config.json")
		kit.NoError(t, os.WriteFile(config, fmt.Appendf(nil, `{"model_type": "llama", "hidden_size": 128, "num_attention_heads": %d, "num_hidden_layers": 1, "head_dim": %d, "max_position_embeddings": 131072, "rope_theta": %g%s}`, c.Heads, c.HeadDim, c.Base, scaling), 0o600))
		after := kit.Hex[float32](c.After...)
		file, shape := filepath.Join(folder, "dump.npz"), []int{len(c.Positions), c.Heads, c.HeadDim}
		kit.NoError(t, array.WriteFile(file, &array.File{Arrays: []array.Array{{Name: "q", Shape: shape, Values: kit.GoldenInputs(0, len(after))}, {Name: "r", Shape: shape, Values: after}}}))
		result := kit.Must(check(config, file+":q", file+":r", checkOptions{positions: fmt.Sprintf("%d-%d", c.Positions[0], c.Positions[len(c.Positions)-1])}))
		if !slices.Contains(result.Engines, c.Name) { // powers of float64 and float32 make the same frequencies here
			t.Errorf("%s: %s, engines %q\n%v", c.Name, result.Verdict, result.Engines, result.Report)
		}
		named++
	}
	if named < 7 {
		t.Errorf("%d cases", named)
	}
}

func TestGuessShape(t *testing.T) {
	for _, test := range []struct {
		size, headDims []int
		positions      int
		want           string
	}{
		{[]int{64}, []int{64}, 0, "[dim 64]"},
		{[]int{256}, []int{64}, 0, "[heads*dim 256]"},
		{[]int{12, 64}, []int{64}, 0, "[tokens 12][dim 64]"},
		{[]int{12, 256}, []int{64}, 0, "[tokens 12][heads*dim 256]"},
		{[]int{2, 12, 256}, []int{64}, 0, "[batch 2][tokens 12][heads*dim 256]"},
		{[]int{12, 4, 64}, []int{64}, 0, "[tokens 12][heads 4][dim 64] or [heads 12][tokens 4][dim 64]"},
		{[]int{12, 4, 64}, []int{64}, 12, "[tokens 12][heads 4][dim 64]"},
		{[]int{4, 12, 64}, []int{64}, 12, "[heads 4][tokens 12][dim 64]"},
		{[]int{4, 12, 64}, []int{64}, 7, "[tokens 4][heads 12][dim 64]"},
		{[]int{4, 4, 64}, []int{64}, 0, "[tokens 4][heads 4][dim 64] or [heads 4][tokens 4][dim 64]"},
		{[]int{1, 4, 12, 64}, []int{64}, 0, "[batch 1][heads 4][tokens 12][dim 64] or [batch 1][tokens 4][heads 12][dim 64]"},
		{[]int{1, 4, 12, 64}, []int{64}, 4, "[batch 1][tokens 4][heads 12][dim 64]"},
		{[]int{3, 4, 12, 64}, []int{64}, 36, "[batch 3][heads 4][tokens 12][dim 64]"},
		{[]int{12, 512}, []int{256, 512}, 0, "[tokens 12][dim 512]"},
		{[]int{12, 768}, []int{256, 512}, 0, "[tokens 12][heads*dim 768]"},
		// Errors.
		{nil, []int{64}, 0, "one number"},
		{[]int{12, 100}, []int{64, 128}, 0, "the last dimension is 100, want heads of 64 or 128 elements"},
		{[]int{12, 0}, []int{64}, 0, "the last dimension is 0"},
		{[]int{12, 1024}, []int{256, 512}, 0, "say by --layer"},
		{[]int{1, 1, 1, 1, 64}, []int{64}, 0, "at most four dimensions"},
		{[]int{1, 1, 1, 128}, []int{64}, 0, "at most four dimensions"},
	} {
		shapes, err := guessShape(test.size, test.headDims, test.positions)
		var words []string
		for _, s := range shapes {
			words = append(words, s.String())
		}
		got := strings.Join(words, " or ")
		if wrong := !strings.HasPrefix(test.want, "["); wrong != (err != nil) || wrong && !strings.Contains(err.Error(), test.want) || !wrong && got != test.want {
			t.Errorf("shape %v, heads of %v, %d positions: %s, error %v, want %s", test.size, test.headDims, test.positions, got, err, test.want)
		}
	}
}

// TestOrder: an element says where it lies, in every order of the dimensions.
func TestOrder(t *testing.T) {
	sizes := map[string]int{batchAxis: 2, tokensAxis: 3, headsAxis: 4, dimAxis: 5, packedAxis: 20}
	for _, text := range []string{
		"batch,tokens,heads,dim", "batch,heads,tokens,dim", "heads,batch,dim,tokens", "dim,heads,tokens,batch", "batch,tokens,heads*dim", "heads*dim,batch,tokens",
	} {
		axes := strings.Split(text, ",")
		var size []int
		total := 1
		for _, axis := range axes {
			size, total = append(size, sizes[axis]), total*sizes[axis]
		}
		values := make([]float32, total)
		for i := range values {
			// The coordinates of the element, by division from the last dimension on.
			at, rest := make(map[string]int), i
			for d := len(axes) - 1; d >= 0; d-- {
				at[axes[d]] = rest % size[d]
				rest /= size[d]
			}
			if packed, ok := at[packedAxis]; ok {
				at[headsAxis], at[dimAxis] = packed/5, packed%5
			}
			values[i] = float32(1000*at[batchAxis] + 100*at[tokensAxis] + 10*at[headsAxis] + at[dimAxis])
		}
		s := kit.Must(parseShape(text, size, 5))
		var want []float32
		for b := range 2 {
			for token := range 3 {
				for h := range 4 {
					for d := range 5 {
						want = append(want, float32(1000*b+100*token+10*h+d))
					}
				}
			}
		}
		if got := s.order(values); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// FuzzShape: no flag and no shape makes it panic, and all elements are in their order once.
func FuzzShape(f *testing.F) {
	f.Add("batch,heads,tokens,dim", uint8(1), uint8(4), uint8(3), uint8(8), uint8(4), uint8(8), uint8(3))
	f.Add("tokens,heads*dim", uint8(3), uint8(8), uint8(0), uint8(0), uint8(2), uint8(4), uint8(3))
	f.Fuzz(func(t *testing.T, text string, a, b, c, d, dimensions, headDim, positions uint8) {
		size := []int{int(a % 8), int(b % 8), int(c % 8), int(d % 16)}[:dimensions%5]
		total := 1
		for _, n := range size {
			total *= n
		}
		values := make([]float32, total)
		for i := range values {
			values[i] = float32(i)
		}
		dim := 2 + int(headDim%8)
		flag, err1 := parseShape(text, size, dim)
		guess, err2 := guessShape(size, []int{dim}, int(positions))
		if err1 == nil {
			guess = append(guess, flag)
		}
		if err1 != nil && err2 != nil {
			return
		}
		for _, s := range guess {
			ordered := s.order(values)
			slices.Sort(ordered)
			if !slices.Equal(ordered, values) {
				t.Errorf("%v: %d elements of %d", s, len(ordered), len(values))
			}
			spread(make([]int32, positions), make([]int, 1+positions%3), s, 3)
		}
	})
}

func FuzzPositions(f *testing.F) {
	f.Add("0-3,511/0,1,2,3,4")
	f.Add("2147483647")
	f.Fuzz(func(t *testing.T, text string) {
		axes, err := parsePositions(text)
		if err != nil || axes == nil {
			return
		}
		for _, list := range axes {
			if len(list) == 0 || len(list) != len(axes[0]) || len(list) > mostPositions || slices.Min(list) < 0 {
				t.Errorf("%q: %v", text, axes)
			}
		}
	})
}
