package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/cmd/posenc/internal/array"
	"github.com/go-posenc/posenc/cmd/posenc/internal/source"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/ropecheck"
	"github.com/go-posenc/posenc/internal/testkit"
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
	rope := testkit.MustRotary(config)
	testkit.NoError(t, posenc.Rotate(rope.At(positions), posenc.View[float32]{Data: after[headDim-config.HeadDim:], Heads: heads, TokenStride: heads * headDim, HeadStride: headDim}))
	file, shape := filepath.Join(t.TempDir(), "dump.npz"), []int{len(positions), heads, headDim}
	testkit.NoError(t, array.WriteFile(file, &array.File{Arrays: []array.Array{{Name: "q", Shape: shape, Values: before}, {Name: "r", Shape: shape, Values: after}}}))
	return file
}

// TestLatentAttention: of whole heads of latent attention the last elements are compared.
func TestLatentAttention(t *testing.T) {
	path := filepath.Join(configs, "DeepSeek-V3.json")
	list := testkit.Must(rotations(testkit.Must(source.Load(path))))
	file := dump(t, list[0].config, 4, 192, []int32{0, 1, 2, 3, 100, 101})
	result := testkit.Must(check(path, file+":q", file+":r", checkOptions{positions: "0-3,100,101"}))
	if result.Verdict != ropecheck.Agrees || result.Part != 64 || result.Report.Candidates[0].Arithmetics[0].Equal != 1 {
		t.Errorf("%s of %d elements: %v", result.Verdict, result.Part, result.Report)
	}
}

// TestKnownMisreadings: rotations as engines are known to do them, other than the model's own code
// does. Configs are published ones; the rotations are made here, for all pairs at once.
func TestKnownMisreadings(t *testing.T) {
	for _, test := range []struct {
		name, model, positions string
		list                   []int32
		change                 func(t *testing.T, list []rotation) posenc.RotaryConfig
		verdict                ropecheck.Verdict
		note, text             string
	}{
		{
			// mlx-lm and llama.cpp: Q and K of latent attention keep the order of their elements.
			name: "pairs left in place", model: "DeepSeek-V3",
			change: func(_ *testing.T, list []rotation) posenc.RotaryConfig {
				c := list[0].config
				c.Layout = posenc.Interleaved
				return c
			},
			verdict: ropecheck.Agrees, note: "Scores are the same if that is so for Q and for K.",
		},
		{
			// GGUF files and mlx-lm have no key truncate.
			name: "truncate", model: "gpt-oss-20b",
			change: func(t *testing.T, list []rotation) posenc.RotaryConfig {
				c := list[0].config
				ladder := testkit.Must(frequency.YaRN(64, 150000, frequency.YaRNParameters{Factor: 32, OriginalMaxPositions: 4096}, frequency.Exact))
				c.InvFreq = ladder.InvFreq
				return c
			},
			verdict: ropecheck.Differs, text: `The frequencies are those of "gpt-oss-20b without truncate: false".`,
		},
		{
			// mlx-lm has the long factors always.
			name: "long factors", model: "Phi-3.5-mini-instruct",
			change:  func(_ *testing.T, list []rotation) posenc.RotaryConfig { return list[1].config },
			verdict: ropecheck.Agrees, note: "The last position is 1003. This rotation is that of sequences of more than 4096 tokens, and shorter ones have another.",
		},
		{
			name: "short factors", model: "Phi-3.5-mini-instruct", positions: "0-7,1000-1002,4096",
			list:    []int32{0, 1, 2, 3, 4, 5, 6, 7, 1000, 1001, 1002, 4096},
			change:  func(_ *testing.T, list []rotation) posenc.RotaryConfig { return list[0].config },
			verdict: ropecheck.Differs, text: `The frequencies are those of "Phi-3.5-mini-instruct 4096 tokens".`,
		},
		{
			name: "short factors of a short sequence", model: "Phi-3.5-mini-instruct", positions: "0-7,1000-1002,4095",
			list:    []int32{0, 1, 2, 3, 4, 5, 6, 7, 1000, 1001, 1002, 4095},
			change:  func(_ *testing.T, list []rotation) posenc.RotaryConfig { return list[0].config },
			verdict: ropecheck.Agrees,
		},
		{
			// Engines that read GGUF files, whose converter permutes the weights.
			name: "permuted weights", model: "Llama-3.1-8B",
			change: func(_ *testing.T, list []rotation) posenc.RotaryConfig {
				c := list[0].config
				c.Layout = posenc.Interleaved
				return c
			},
			verdict: ropecheck.Differs, note: "give the GGUF file in place of the config.json.", text: "Pairs are Interleaved, and the candidate has HalfSplit.",
		},
		{
			name: "right", model: "DeepSeek-V3",
			change:  func(_ *testing.T, list []rotation) posenc.RotaryConfig { return list[0].config },
			verdict: ropecheck.Agrees,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(configs, test.model+".json")
			config := test.change(t, testkit.Must(rotations(testkit.Must(source.Load(path)))))
			positions, given := []int32{0, 1, 2, 3, 4, 5, 6, 7, 1000, 1001, 1002, 1003}, "0-7,1000-1003"
			if test.list != nil {
				positions, given = test.list, test.positions
			}
			file := dump(t, config, 4, config.HeadDim, positions)
			result := testkit.Must(check(path, file+":q", file+":r", checkOptions{positions: given}))
			notes := strings.Join(result.Notes, "\n")
			if result.Verdict != test.verdict || !strings.Contains(notes, test.note) || test.note == "" && notes != "" || !strings.Contains(result.Report.String(), test.text) {
				t.Errorf("verdict %s, notes %q, want %s, %q and in the report %q\n%v", result.Verdict, notes, test.verdict, test.note, test.text, result.Report)
			}
		})
	}
}

// TestDocumentedOutput runs the examples of docs/command.md whose output is below them, and on
// every machine the same; -update writes it.
func TestDocumentedOutput(t *testing.T) {
	document := testkit.Must(filepath.Abs("../../docs/command.md"))
	text := testkit.Must(os.ReadFile(document))
	updated := string(text)
	folder := t.TempDir()
	for _, pattern := range []string{configs + "/*.json", "testdata/check/*", "testdata/gguf/*.gguf"} {
		files := testkit.Must(filepath.Glob(pattern))
		for _, file := range files {
			data := testkit.Must(os.ReadFile(file))
			testkit.NoError(t, os.WriteFile(filepath.Join(folder, filepath.Base(file)), data, 0o666))
		}
	}
	t.Chdir(folder)
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
		if *testkit.Update {
			updated = strings.Replace(updated, command+"\n```\n\n```text\n"+want, command+"\n```\n\n```text\n"+stdout.String(), 1)
		} else if stdout.String() != want || stderr.Len() > 0 {
			t.Errorf("%s\n%s%swant\n%s", command, stdout.String(), stderr.String(), want)
		}
	}
	if *testkit.Update {
		testkit.NoError(t, os.WriteFile(document, []byte(updated), 0o666))
	}
	if examples < 6 {
		t.Errorf("%d examples with their output", examples)
	}
}
