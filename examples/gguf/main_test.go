package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/test/kit"
	"github.com/go-posenc/posenc/modelconfig"
)

// write writes a GGUF file of a model with two layers and heads of four elements.
func write(t *testing.T, arch string, tensors map[string][]float32) string {
	var b, data bytes.Buffer
	add := func(values ...any) {
		for _, v := range values {
			if s, is := v.(string); is {
				kit.NoError(t, binary.Write(&b, binary.LittleEndian, uint64(len(s))))
				b.WriteString(s)
				continue
			}
			kit.NoError(t, binary.Write(&b, binary.LittleEndian, v))
		}
	}
	const uint32Type, boolType, stringType, arrayType = uint32(4), uint32(7), uint32(8), uint32(9)
	b.WriteString("GGUF")
	add(uint32(3), uint64(len(tensors)), uint64(7))
	add("general.architecture", stringType, arch)
	for key, n := range map[string]uint32{
		"block_count": 2, "context_length": 8192, "embedding_length": 16, "attention.head_count": 4,
		"attention.sliding_window": 512,
	} {
		add(arch+"."+key, uint32Type, n)
	}
	add(arch+".attention.sliding_window_pattern", arrayType, boolType, uint64(2), true, false)
	for name, values := range tensors {
		add(name, uint32(1), uint64(len(values)), uint32(0), uint64(data.Len()))
		kit.NoError(t, binary.Write(&data, binary.LittleEndian, values))
		data.Write(make([]byte, -data.Len()&31))
	}
	b.Write(make([]byte, -b.Len()&31)) // the data begin at a multiple of 32 bytes
	path := filepath.Join(t.TempDir(), "model.gguf")
	kit.NoError(t, os.WriteFile(path, slices.Concat(b.Bytes(), data.Bytes()), 0o600))
	return path
}

// The factors of a tensor divide the frequencies of the model.
func TestFactors(t *testing.T) {
	other := []float32{1, 2, 3}
	for _, test := range []struct {
		arch    string
		tensors map[string][]float32
		want    []float64 // frequencies of the second layer
		says    string    // or what an error says
	}{
		{"llama", map[string][]float32{"token_embd.weight": other, "rope_freqs.weight": {1, 4}}, []float64{1, 0.0025}, ""},
		{"llama", map[string][]float32{"token_embd.weight": other}, []float64{1, 0.01}, ""},
		{"llama", nil, nil, "tensors is empty"},
		{"llama", map[string][]float32{"rope_freqs.weight": {1, 4, 8}}, nil, "rope_freqs.weight is a list of 3"},
		{"gemma4", map[string][]float32{"token_embd.weight": other, "rope_freqs.weight": {2, 8}}, []float64{0.5, 0.00125}, ""},
		{"gemma4", map[string][]float32{"token_embd.weight": other}, nil, "rope_freqs.weight is missing"},
	} {
		model, err := read(write(t, test.arch, test.tensors))
		if test.want == nil {
			if !errors.Is(err, modelconfig.ErrValue) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s with %v: %v, want %q", test.arch, test.tensors, err, test.says)
			}
			continue
		}
		rope := kit.Must(kit.Must(model, err).Rope())
		if got := rope.Rotary(1).Config(); !slices.Equal(got.InvFreq, test.want) {
			t.Errorf("%s with %v: %v, want %v", test.arch, test.tensors, got.InvFreq, test.want)
		}
	}
}

// The files of the command, which the package gguf of Python wrote. A file in several parts is an error.
func TestFiles(t *testing.T) {
	files := kit.Must(filepath.Glob("../../cmd/posenc/testdata/gguf/*.gguf"))
	count := 0
	for _, path := range files {
		model, err := read(path)
		refused := strings.Contains(path, "-of-") || strings.Contains(path, "big-endian") ||
			strings.HasSuffix(path, "gemma-4-without-factors.gguf")
		if (err != nil) != refused {
			t.Errorf("%s: %v", path, err)
		}
		if count++; err == nil && len(model.Layers()) < 20 {
			t.Errorf("%s: %d layers", path, len(model.Layers()))
		}
	}
	if count < 8 {
		t.Errorf("%d files", count)
	}
}
