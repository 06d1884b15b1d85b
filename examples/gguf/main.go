// Command gguf prints how a model rotates, from its GGUF file, which it reads by
// github.com/gpustack/gguf-parser-go.
//
//	go run . model.gguf
package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/go-posenc/posenc/modelconfig"
	parser "github.com/gpustack/gguf-parser-go"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("want the path of a GGUF file")
	}
	model, err := read(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	for i, layer := range model.Layers() {
		fmt.Printf("layer %d: rotates %t, %s with base %v\n", i, layer.Rotates, layer.Rule.Name, layer.Rule.Base)
	}
}

func read(path string) (*modelconfig.Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	file, err := parser.ParseGGUFFile(path)
	if err != nil {
		return nil, err
	}
	if parts := len(file.SplitSizes); parts > 1 { // it does not say in which part a tensor is
		return nil, fmt.Errorf("%s: %d parts, want one: merge them with llama-gguf-split", path, parts)
	}
	return modelOf(file, f)
}

// modelOf reads the factors of tensors from r, the file.
func modelOf(file *parser.GGUFFile, r io.ReaderAt) (*modelconfig.Model, error) {
	keys := map[string]any{}
	for _, kv := range file.Header.MetadataKV {
		keys[kv.Key] = kv.Value
		if kv.ValueType == parser.GGUFMetadataValueTypeArray {
			keys[kv.Key] = kv.ValueArray().Array
		}
	}
	tensors := map[string][]float32{}
	for _, t := range file.TensorInfos {
		tensors[t.Name] = nil
		switch t.Name {
		case "rope_freqs.weight", "rope_factors_short.weight", "rope_factors_long.weight":
			begin := file.TensorDataStartOffset + int64(t.Offset)
			data := io.NewSectionReader(r, begin, int64(t.Bytes()))
			tensors[t.Name] = make([]float32, t.Elements())
			if err := binary.Read(data, binary.LittleEndian, tensors[t.Name]); err != nil {
				return nil, err
			}
		}
	}
	return modelconfig.GGUF(keys, tensors)
}
