// Command gguf prints the rotary position embedding of a GGUF file, as package
// modelconfig reads it from the file's metadata, and rotates a row of Q by it.
// The file is read by github.com/gpustack/gguf-parser-go.
//
//	cd examples/gguf && go run . model.gguf
//
// It is a module of its own, so that importers of posenc do not get that
// dependency.
package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"slices"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/modelconfig"
	parser "github.com/gpustack/gguf-parser-go"
)

// contextLength is of the sequences that the configurations are for: some models
// choose frequencies by it.
const contextLength = 4096

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: gguf model.gguf")
	}
	if err := run(os.Stdout, os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(w io.Writer, path string) error {
	keys, err := readKeys(path)
	if err != nil {
		return err
	}
	model, err := modelconfig.GGUF(keys)
	if err != nil {
		return err
	}
	rotating := 0
	for _, layer := range model.Layers() {
		if layer.Rotates {
			rotating++
		}
	}
	fmt.Fprintf(w, "%s: %d of %d layers rotate\n", model.Type(), rotating, len(model.Layers()))
	rope, err := model.Rope(modelconfig.RopeOptions{SequenceLength: contextLength})
	if err != nil {
		return err
	}
	first := map[string]int{} // layer of each kind
	for i, layer := range model.Layers() {
		if _, seen := first[layer.Kind]; !seen && layer.Rotates {
			first[layer.Kind] = i
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(first)) {
		if err := rotate(w, model.Layers()[first[kind]], rope.Rotary(first[kind])); err != nil {
			return err
		}
	}
	return nil
}

// rotate prints the configuration of one kind of layer and rotates a row of Q
// at position 1.
func rotate(w io.Writer, layer modelconfig.Layer, rotary *posenc.Rotary) error {
	cfg := rotary.Config()
	layout := "half-split"
	if cfg.Layout == posenc.Interleaved {
		layout = "interleaved"
	}
	fmt.Fprintf(w, "layers %q: %s, %d of %d elements, frequencies %.6g to %.6g, scaling %.6g, softmax scale %.6g\n",
		layer.Kind, layout, cfg.RotaryDim, cfg.HeadDim, cfg.InvFreq[0], cfg.InvFreq[len(cfg.InvFreq)-1], cfg.AttentionFactor, layer.SoftmaxScale)

	q := make([]float32, cfg.HeadDim)
	for i := range q {
		q[i] = 1
	}
	positions := []int32{1}
	if cfg.Axes != nil { // a position for each axis: time, height, width
		positions = slices.Repeat(positions, int(slices.Max(cfg.Axes))+1)
	}
	if err := posenc.Rotate(rotary.At(positions), posenc.View[float32]{Data: q, Heads: 1}); err != nil {
		return err
	}
	fmt.Fprintf(w, "q of ones at position 1: %.6f...\n", q[:min(4, len(q))])
	return nil
}

// readKeys reads the metadata and the tensors of frequency factors, in the form
// that modelconfig.GGUF takes.
func readKeys(path string) (map[string]any, error) {
	// Not with parser.SkipLargeMetadata, which leaves rope.dimension_sections out.
	file, err := parser.ParseGGUFFile(path)
	if err != nil {
		return nil, err
	}
	keys := map[string]any{}
	for _, kv := range file.Header.MetadataKV {
		if kv.ValueType == parser.GGUFMetadataValueTypeArray {
			keys[kv.Key] = kv.ValueArray().Array
		} else {
			keys[kv.Key] = kv.Value
		}
	}
	for _, name := range []string{"rope_freqs.weight", "rope_factors_short.weight", "rope_factors_long.weight"} {
		tensor, found := file.TensorInfos.Get(name)
		if !found {
			continue
		}
		if len(file.SplitPaddings) > 1 || file.Header.Magic != parser.GGUFMagicGGUFLe || tensor.Type != parser.GGMLTypeF32 || tensor.Elements() > 1<<15 {
			return nil, errors.New(name + ": this example reads float32 from one little-endian file")
		}
		if keys[name], err = readFactors(path, file.TensorDataStartOffset+int64(tensor.Offset), int(tensor.Elements())); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return keys, nil
}

func readFactors(path string, offset int64, count int) ([]float32, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	factors := make([]float32, count)
	return factors, binary.Read(io.NewSectionReader(f, offset, int64(4*count)), binary.LittleEndian, factors)
}
