package modelconfig

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/modelconfig/internal/description"
)

// TestDigests compares what is made of the published configurations with digests
// in the repository, one for each model: the same bits on every architecture.
//
//	go test -run '^TestDigests$' ./modelconfig -update
//
// writes them anew. A new digest is right only for a new model, or where a model
// is to be read otherwise than before: never because an architecture or a
// compiler has a digest of its own.
func TestDigests(t *testing.T) {
	lengths := map[string]int{ // of contexts, by the models' own pages
		"Llama-3.1-8B": 131072, "Qwen3-8B": 40960, "gemma-2b": 8192, "falcon-7b": 2048, "DeepSeek-V3": 163840, "codegen-350M-mono": 2048, "Phi-3-mini-128k-instruct": 131072,
	}
	files, err := filepath.Glob("testdata/transformers/configs/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no configurations: ", err)
	}
	var got bytes.Buffer
	for _, file := range files {
		config := testkit.Must(os.ReadFile(file))
		hash, indexers := sha256.New(), sha256.New() // the latter of kinds that came later
		models := []*Model{testkit.Must(HuggingFace(config))}
		if tower, err := HuggingFaceVision(config); err == nil {
			models = append(models, tower)
		}
		for _, m := range models {
			for _, angles := range []frequency.Rounding{frequency.Exact, frequency.Float32} {
				for _, layer := range m.layerTypes() {
					for _, seqLen := range []int{0, 1 << 17} {
						o := kindOptions{LayerType: layer, SequenceLength: max(seqLen, 1), Rounding: angles}
						hash := hash
						if layer == description.IndexerKind {
							hash = indexers
						}
						cfg, softmax := testkit.Must(m.rotaryFor(o)), m.softmaxScaleFor(o)
						fmt.Fprintf(hash, "%s %d %d %d %d %d %x %x %x %d %d\n", layer, seqLen, cfg.HeadDim, cfg.RotaryDim, cfg.Offset,
							cfg.Layout-posenc.HalfSplit, cfg.InvFreq, cfg.AttentionFactor, softmax, cfg.Rounding, cfg.Axes)
					}
				}
			}
			for i, layer := range m.Layers() {
				scale := layer.QueryScaling
				fmt.Fprintf(hash, "%s %t %t %x %d %d\n", m.of().Layers[i].Kind, layer.Rotates, scale.Length != 0, scale.Beta, scale.Length, scale.Offset)
			}
		}
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		if want, latent := lengths[name], strings.HasPrefix(name, "DeepSeek-V"); want != 0 && (models[0].ContextLength() != want || models[0].Layers()[0].LatentAttention != latent) {
			t.Errorf("%s: sequences of %d, want %d, latent attention %t", name, models[0].ContextLength(), want, latent)
		}
		fmt.Fprintf(&got, "%s %x\n", name, hash.Sum(nil)[:16])
		if slices.Contains(models[0].layerTypes(), description.IndexerKind) {
			fmt.Fprintf(&got, "%s/indexer %x\n", name, indexers.Sum(nil)[:16])
		}
	}
	if *testkit.Update {
		testkit.NoError(t, os.WriteFile(testkit.DigestFile, got.Bytes(), 0o666))
	}
	want := testkit.ReadDigests(t)
	for line := range strings.Lines(got.String()) {
		name, digest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if digest != want[name] {
			t.Errorf("%s is %s, want %s", name, digest, want[name])
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("%s has a digest and is no configuration", name)
	}
}
