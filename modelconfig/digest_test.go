package modelconfig

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-posenc/posenc"
)

// digestFile has a line for each published model: its name, and the first half of
// the SHA-256 of its rotary configurations.
const digestFile = "testdata/digests.txt"

// TestDigests compares what is made of the published configurations with digests
// in the repository: the same bits on every architecture.
//
//	go test -run '^TestDigests$' ./modelconfig -update
//
// writes them anew. A new digest is right only for a new model, or where a model
// is to be read otherwise than before: never because an architecture or a
// compiler has a digest of its own.
func TestDigests(t *testing.T) {
	files, err := filepath.Glob("testdata/transformers/configs/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no configurations: ", err)
	}
	var got bytes.Buffer
	for _, file := range files {
		config, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		hash := sha256.New()
		model, err := HuggingFace(config)
		if err != nil {
			t.Fatal(err)
		}
		models := []*Model{model}
		if tower, err := HuggingFaceVision(config); err == nil {
			models = append(models, tower)
		}
		for _, m := range models {
			for _, angles := range []posenc.AngleRounding{posenc.ExactAngles, posenc.Float32Angles} {
				for _, layer := range m.LayerTypes() {
					for _, seqLen := range []int{0, 1 << 17} {
						o := RotaryOptions{LayerType: layer, SequenceLength: max(seqLen, 1), AngleRounding: angles}
						cfg, err := m.RotaryFor(o)
						if err != nil {
							t.Fatalf("%s: %v", file, err)
						}
						softmax, err := m.SoftmaxScaleFor(o)
						if err != nil {
							t.Fatalf("%s: %v", file, err)
						}
						fmt.Fprintf(hash, "%s %d %d %d %d %d %x %x %x %d %d\n", layer, seqLen, cfg.HeadDim, cfg.RotaryDim, cfg.Offset,
							cfg.Layout, cfg.InvFreq, cfg.AttentionFactor, softmax, cfg.AngleRounding, cfg.Axes)
					}
				}
			}
			for _, layer := range m.Layers() {
				scale, scales := m.QueryScaling(layer)
				fmt.Fprintf(hash, "%s %t %t %x %d %d\n", layer.Type, layer.Rotates, scales, scale.Beta, scale.Length, scale.Offset)
			}
		}
		fmt.Fprintf(&got, "%s %x\n", strings.TrimSuffix(filepath.Base(file), ".json"), hash.Sum(nil)[:16])
	}
	if *update {
		if err := os.WriteFile(digestFile, got.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(digestFile)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		want[line] = true
	}
	for line := range strings.Lines(got.String()) {
		if !want[line] {
			t.Errorf("not among the digests: %s", strings.TrimSpace(line))
		}
		delete(want, line)
	}
	for line := range want {
		t.Errorf("of no configuration: %s", strings.TrimSpace(line))
	}
}
