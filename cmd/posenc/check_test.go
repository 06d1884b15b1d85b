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
	"github.com/go-posenc/posenc/cmd/posenc/internal/progress"
	"github.com/go-posenc/posenc/cmd/posenc/internal/source"
	"github.com/go-posenc/posenc/ropecheck"
)

const configs = "../../modelconfig/testdata/transformers/configs"

// TestLatentAttention: of whole heads of latent attention the last elements are compared.
func TestLatentAttention(t *testing.T) {
	const tokens, heads, headDim, rotary = 6, 4, 192, 64
	path := filepath.Join(configs, "DeepSeek-V3.json")
	s, err := source.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	list, err := rotations(s)
	if err != nil {
		t.Fatal(err)
	}
	rope, err := posenc.NewRotary(list[0].config)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	before := make([]float32, tokens*heads*headDim)
	for i := range before {
		before[i] = float32(random.NormFloat64())
	}
	after := append([]float32(nil), before...)
	positions := []int32{0, 1, 2, 3, 100, 101}
	if err := posenc.Rotate(rope.At(positions), posenc.View[float32]{Data: after[headDim-rotary:], Heads: heads, TokenStride: heads * headDim, HeadStride: headDim}); err != nil {
		t.Fatal(err)
	}
	dump := filepath.Join(t.TempDir(), "dump.npz")
	shape := []int{tokens, heads, headDim}
	if err := array.WriteFile(dump, &array.File{Arrays: []array.Array{{Name: "q", Shape: shape, Values: before}, {Name: "r", Shape: shape, Values: after}}}); err != nil {
		t.Fatal(err)
	}
	result, err := check(path, dump+":q", dump+":r", checkOptions{positions: "0-3,100,101"}, progress.Start(newCheck(), "", 2))
	if err != nil {
		t.Fatal(err)
	}
	if result.Verdict != ropecheck.Agrees || result.Part != rotary || result.Report.Candidates[0].Arithmetics[0].Equal != 1 {
		t.Errorf("%s of %d elements: %v", result.Verdict, result.Part, result.Report)
	}
}

// TestDocumentedOutput runs the examples of docs/command.md whose output is below them; -update
// writes it.
func TestDocumentedOutput(t *testing.T) {
	document, err := filepath.Abs("../../docs/command.md")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	updated := string(text)
	folder := t.TempDir()
	for _, pattern := range []string{configs + "/*.json", "testdata/check/*"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, filepath.Base(file)), data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Chdir(folder)
	examples := 0
	for part := range strings.SplitSeq(string(text), "```sh\n") {
		command, rest, _ := strings.Cut(part, "\n```\n\n```text\n")
		arguments := strings.Fields(command)
		if len(arguments) < 2 || arguments[0] != "posenc" || arguments[1] != "plot" && arguments[1] != "check" || rest == "" {
			continue
		}
		examples++
		want, _, _ := strings.Cut(rest, "```\n")
		var stdout, stderr bytes.Buffer
		run(arguments[1:], &stdout, &stderr)
		if *update {
			updated = strings.Replace(updated, command+"\n```\n\n```text\n"+want, command+"\n```\n\n```text\n"+stdout.String(), 1)
		} else if stdout.String() != want || stderr.Len() > 0 {
			t.Errorf("%s\n%s%swant\n%s", command, stdout.String(), stderr.String(), want)
		}
	}
	if *update {
		if err := os.WriteFile(document, []byte(updated), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if examples < 3 {
		t.Errorf("%d examples with their output", examples)
	}
}
