package source

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
)

// ggufOf is a GGUF file with keys of texts and of numbers.
func ggufOf(keys ...any) []byte {
	const kindUint32, kindString = 4, 8
	little := binary.LittleEndian
	text := func(b []byte, s string) []byte { return append(little.AppendUint64(b, uint64(len(s))), s...) }
	b := little.AppendUint32([]byte("GGUF"), 3)
	b = little.AppendUint64(b, 1) // tensors
	b = little.AppendUint64(b, uint64(len(keys)/2))
	for i := 0; i < len(keys); i += 2 {
		b = text(b, keys[i].(string))
		switch value := keys[i+1].(type) {
		case string:
			b = text(little.AppendUint32(b, kindString), value)
		case int:
			b = little.AppendUint32(little.AppendUint32(b, kindUint32), uint32(value))
		}
	}
	b = text(b, "token_embd.weight")
	b = little.AppendUint64(little.AppendUint32(b, 1), 4)
	return little.AppendUint64(little.AppendUint32(b, 0), 0)
}

// A GGUF file may have a tower beside its text model, as those of ollama do: it is not dropped in silence.
func TestProjector(t *testing.T) {
	text := []any{
		"general.architecture", "qwen3", "qwen3.block_count", 2, "qwen3.attention.head_count", 16, "qwen3.attention.key_length", 128, "qwen3.embedding_length", 1024, "qwen3.context_length", 40960,
	}
	for _, tt := range []struct {
		more []any
		want string // "": no tower
	}{
		{nil, ""},
		{[]any{"qwen3.vision.block_count", 3}, `the file has a tower (key "qwen3.vision.block_count")`},
		{[]any{"clip.has_vision_encoder", 1}, `the file has a tower (key "clip.has_vision_encoder")`},
	} {
		file := ggufOf(append(text, tt.more...)...)
		s, err := Read("file", bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		if s.Model == nil || (s.VisionErr != nil) != (tt.want != "") || s.VisionUnread() != (tt.want != "") || tt.want != "" && !strings.Contains(s.VisionErr.Error(), tt.want) {
			t.Errorf("%v: %v, %v", tt.more, s.Model, s.VisionErr)
		}
	}
}
