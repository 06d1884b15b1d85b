package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/modelconfig"
)

// writeGGUF writes a file of version 3 with metadata and one tensor of float32
// (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md).
func writeGGUF(t *testing.T, metadata []any, tensor string, values []float32) string {
	t.Helper()
	var b bytes.Buffer
	write := func(v any) {
		if s, ok := v.(string); ok {
			v = append(binary.LittleEndian.AppendUint64(nil, uint64(len(s))), s...)
		}
		testkit.NoError(t, binary.Write(&b, binary.LittleEndian, v))
	}
	writeValue := func(v any) {
		switch v := v.(type) {
		case uint32:
			write(uint32(4))
		case float32:
			write(uint32(6))
		case string:
			write(uint32(8))
		case []bool:
			write(uint32(9))
			write(uint32(7))
			write(uint64(len(v)))
		case []int32:
			write(uint32(9))
			write(uint32(5))
			write(uint64(len(v)))
		default:
			t.Fatalf("no type for %T", v)
		}
		write(v)
	}
	b.WriteString("GGUF")
	write(uint32(3))
	write(uint64(1))
	write(uint64(len(metadata) / 2))
	for i := 0; i < len(metadata); i += 2 {
		write(metadata[i])
		writeValue(metadata[i+1])
	}
	write(tensor)
	write(uint32(1)) // dimensions
	write(uint64(len(values)))
	write(uint32(0)) // float32
	write(uint64(0)) // offset
	b.Write(make([]byte, (32-b.Len()%32)%32))
	write(values)
	path := filepath.Join(t.TempDir(), "model.gguf")
	testkit.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
	return path
}

func TestRun(t *testing.T) {
	// Pair 0 rotates by 1/1 radian, the last one by 10000^(-1/2)/4.
	path := writeGGUF(t, []any{
		"general.architecture", "llama", "general.name", "", "llama.block_count", uint32(2), "llama.context_length", uint32(8192),
		"llama.embedding_length", uint32(16), "llama.attention.head_count", uint32(4), "llama.rope.freq_base", float32(10000),
		"llama.rope.dimension_count", uint32(4),
	}, "rope_freqs.weight", []float32{1, 4})
	var out strings.Builder
	testkit.NoError(t, run(&out, path))
	want := "llama: 2 of 2 layers rotate\n" +
		"layers \"\": interleaved, 4 of 4 elements, frequencies 1 to 0.0025, scaling 1, softmax scale 1\n" +
		// cos 1 - sin 1, cos 1 + sin 1, cos 0.0025 - sin 0.0025, cos 0.0025 + sin 0.0025
		"q of ones at position 1: [-0.301169 1.381773 0.997497 1.002497]...\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestRunKindsOfLayers(t *testing.T) {
	// Gemma 4: a list for the layers, and pairs that are not rotated.
	path := writeGGUF(t, []any{
		"general.architecture", "gemma4", "gemma4.block_count", uint32(3), "gemma4.context_length", uint32(8192),
		"gemma4.attention.key_length", uint32(8), "gemma4.attention.key_length_swa", uint32(4), "gemma4.rope.dimension_count_swa", uint32(4),
		"gemma4.rope.freq_base", float32(1e6), "gemma4.attention.sliding_window", uint32(512), "gemma4.attention.sliding_window_pattern", []bool{true, true, false},
	}, "rope_freqs.weight", []float32{1, 1e30, 1e30, 1e30})
	var out strings.Builder
	testkit.NoError(t, run(&out, path))
	for _, want := range []string{
		"gemma4: 3 of 3 layers rotate\n",
		"layers \"full_attention\": half-split, 8 of 8 elements, frequencies 1 to ",
		"layers \"sliding_attention\": half-split, 4 of 4 elements, frequencies 1 to 0.01,",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

func TestRunErrors(t *testing.T) {
	metadata := []any{
		"general.architecture", "qwen2vl", "qwen2vl.block_count", uint32(1), "qwen2vl.context_length", uint32(8192),
		"qwen2vl.attention.key_length", uint32(8), "qwen2vl.rope.dimension_sections", []int32{2, 1, 1, 0},
	}
	if err := run(io.Discard, writeGGUF(t, metadata, "output.weight", []float32{1})); err != nil {
		t.Error(err)
	}
	// The tensor is not for this architecture.
	err := run(io.Discard, writeGGUF(t, metadata, "rope_freqs.weight", []float32{1, 1, 1, 1}))
	if !errors.Is(err, modelconfig.ErrContradiction) {
		t.Error(err)
	}
	if err := run(io.Discard, filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("a missing file is no error")
	}
}
