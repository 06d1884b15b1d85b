package modelconfig

import (
	"errors"
	"fmt"
	"testing"

	"github.com/go-posenc/posenc"
)

const ministral3 = `{"model_type": "ministral3", "num_hidden_layers": 2, "rope_parameters": {
	"rope_type": "yarn", "factor": 16, "original_max_position_embeddings": 16384, "mscale": 1, "mscale_all_dim": 1%s}}`

var unscaledQueries posenc.QueryScaling

// checkQueryScaling compares the factors of queries of layers that rotate and of others.
func checkQueryScaling(t *testing.T, m *Model, rotates, others posenc.QueryScaling) {
	t.Helper()
	for i, layer := range m.Layers() {
		want := others
		if layer.Rotates {
			want = rotates
		}
		if got := layer.QueryScaling; got != want {
			t.Errorf("%s: layer %d has %+v, want %+v", m.Type(), i, got, want)
		}
	}
}

func scaledBy(beta float64, length, offset int) posenc.QueryScaling {
	return posenc.QueryScaling{Beta: beta, Length: length, Offset: offset}
}

func TestQueryScaling(t *testing.T) {
	llama4 := func(keys string) string {
		return `{"model_type": "llama4_text", "num_hidden_layers": 4` + keys + `}`
	}
	for _, c := range []struct {
		config          string
		rotates, others posenc.QueryScaling
	}{
		{fmt.Sprintf(ministral3, `, "llama_4_scaling_beta": 0.25`), scaledBy(0.25, 16384, 0), unscaledQueries},
		{fmt.Sprintf(ministral3, ""), unscaledQueries, unscaledQueries},
		{fmt.Sprintf(ministral3, `, "llama_4_scaling_beta": 0`), scaledBy(0, 16384, 0), unscaledQueries},
		{fmt.Sprintf(ministral3, `, "llama_4_scaling_beta": 1267650600228229401496703205376`), scaledBy(0x1p100, 16384, 0), unscaledQueries},
		{llama4(`, "attn_scale": 0, "floor_scale": 1`), unscaledQueries, scaledBy(0, 1, 1)},
		{llama4(`, "attn_scale": 1267650600228229401496703205376`), unscaledQueries, scaledBy(0x1p100, 8192, 1)},
		{`{"model_type": "ministral3"}`, scaledBy(0.1, 16384, 0), unscaledQueries},
		{`{"model_type": "mistral4"}`, scaledBy(0.1, 8192, 0), unscaledQueries},
		{llama4(""), unscaledQueries, scaledBy(0.1, 8192, 1)},
		{llama4(`, "attn_temperature_tuning": 4, "attn_scale": 0.5, "floor_scale": 4096`), unscaledQueries, scaledBy(0.5, 4096, 1)},
		{llama4(`, "attn_temperature_tuning": true`), unscaledQueries, scaledBy(0.1, 8192, 1)},
		{llama4(`, "attn_temperature_tuning": false`), unscaledQueries, unscaledQueries},
		{llama4(`, "attn_temperature_tuning": 0`), unscaledQueries, unscaledQueries},
		{`{"model_type": "llama"}`, unscaledQueries, unscaledQueries},
	} {
		t.Run(c.config, func(t *testing.T) {
			checkQueryScaling(t, mustRead(t, c.config), c.rotates, c.others)
		})
	}

	for _, c := range []struct {
		config string
		want   error
	}{
		{llama4(`, "floor_scale": 0`), ErrValue},
		{llama4(`, "attn_scale": -1`), ErrValue},
		{llama4(`, "attn_scale": 1e31`), ErrValue},
		{fmt.Sprintf(ministral3, `, "llama_4_scaling_beta": 1e31`), ErrValue},
		{llama4(`, "attn_scale": "0.1"`), ErrSyntax},
		{llama4(`, "attn_temperature_tuning": "yes"`), ErrSyntax},
		{fmt.Sprintf(ministral3, `, "llama_4_scaling_beta": -0.1`), ErrValue},
		{fmt.Sprintf(ministral3, `, "llama_4_scaling_beta": [1]`), ErrSyntax},
		{`{"model_type": "llama", "rope_parameters": {"rope_type": "default", "llama_4_scaling_beta": 0.1}}`, ErrUnknown},
	} {
		if _, err := HuggingFace([]byte(c.config)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.config, err, c.want)
		}
	}
}

func TestGGUFQueryScaling(t *testing.T) {
	for _, c := range []struct {
		architecture    string
		pairs           []any
		rotates, others posenc.QueryScaling
	}{
		{"llama4", nil, unscaledQueries, scaledBy(0.1, 8192, 1)},
		{"llama4", []any{"attention.sliding_window", uint32(0)}, unscaledQueries, unscaledQueries},
		{"mistral3", []any{"attention.temperature_scale", float32(0.25), "rope.scaling.original_context_length", uint32(16384), "context_length", uint32(262144)}, scaledBy(0.25, 16384, 0), unscaledQueries},
		{"mistral3", []any{"attention.temperature_scale", float32(0.25), "context_length", uint32(4096)}, scaledBy(0.25, 4096, 0), unscaledQueries},
		{"mistral3", nil, unscaledQueries, unscaledQueries},
		{"deepseek2", []any{"rope.dimension_count", 64, "context_length", nil, "attention.temperature_scale", float32(0.5), "attention.temperature_length", uint32(8192)}, scaledBy(0.5, 8192, 0), unscaledQueries},
		{"deepseek2", []any{"rope.dimension_count", 64, "attention.temperature_scale", 0x1p100, "attention.temperature_length", 1}, scaledBy(0x1p100, 1, 0), unscaledQueries},
		{"llama", []any{"attention.temperature_scale", float32(0.5)}, unscaledQueries, unscaledQueries},
	} {
		t.Run(fmt.Sprint(c.architecture, c.pairs), func(t *testing.T) {
			checkQueryScaling(t, readGGUF(t, c.architecture, c.pairs...), c.rotates, c.others)
		})
	}
	for _, pairs := range [][]any{
		{"rope.dimension_count", 64, "context_length", nil, "attention.temperature_scale", float32(0.5)},
		{"rope.dimension_count", 64, "context_length", nil, "attention.temperature_scale", float32(-0.5), "attention.temperature_length", uint32(8192)},
	} {
		if _, err := GGUF(ggufKeys("deepseek2", pairs...)); !errors.Is(err, ErrValue) {
			t.Errorf("%v: %v", pairs, err)
		}
	}
}
