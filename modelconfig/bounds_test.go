package modelconfig

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/modelconfig/internal/document"
)

// Whole numbers are those of 31 bits, under every key.
func TestIntegers(t *testing.T) {
	for _, key := range []string{"max_position_embeddings", "hidden_size", "num_attention_heads", "head_dim", "num_hidden_layers"} {
		for _, n := range []string{"2147483648", "-2147483648", "4294967297", "1e300", "64.5"} {
			wantError(t, fmt.Sprintf(`{"model_type": "llama", %q: %s}`, key, n), ErrSyntax, key+" is the number "+n+", want a whole number below 2^31")
		}
	}
	mustRead(t, `{"model_type": "llama", "max_position_embeddings": 2147483647}`)
	mustRead(t, `{"model_type": "llama", "max_position_embeddings": 4e3}`)
}

// Documents of the largest size, and of the most values, are read.
func TestLargestDocuments(t *testing.T) {
	const small = `{"model_type": "llama"}`
	mustRead(t, small+strings.Repeat(" ", document.MaxBytes-len(small)))
	wantError(t, small+strings.Repeat(" ", document.MaxBytes-len(small)+1), ErrSyntax, "4194305 bytes, more than 4194304")
	list := func(n int) string { return `{"model_type": "llama", "x": [1` + strings.Repeat(",1", n-1) + `]}` }
	mustRead(t, list(document.MaxValues-3)) // the object, the type and the list are values too
	wantError(t, list(document.MaxValues-2), ErrSyntax, "more than 131072 values")
}

// Two places of one value differ whichever of them has the larger.
func TestContradictions(t *testing.T) {
	for _, format := range []string{
		`{"model_type": "llama", "rope_theta": %s, "rope_parameters": {"rope_type": "default", "rope_theta": %s}}`,
		`{"model_type": "gpt_neox", "rope_theta": %s, "rotary_emb_base": %s}`,
		`{"model_type": "llava", "rope_theta": %s, "text_config": {"model_type": "llama", "rope_theta": %s}}`,
		`{"model_type": "falcon", "num_hidden_layers": %s, "n_layer": %s}`,
		`{"model_type": "dbrx", "max_seq_len": %s, "max_position_embeddings": %s}`,
		`{"model_type": "hunyuan_v1_dense", "head_dim": %s, "attention_head_dim": %s}`,
		`{"model_type": "llama", "max_position_embeddings": %s, "rope_parameters": {"rope_type": "yarn", "factor": 2, "original_max_position_embeddings": 16}, "original_max_position_embeddings": %s}`,
		`{"model_type": "llama", "rope_parameters": {"rope_type": "yarn", "factor": 2, "original_max_position_embeddings": %s}, "original_max_position_embeddings": %s}`,
		`{"model_type": "llama", "rope_parameters": {"rope_type": "linear", "factor": %s}, "rope_scaling": {"rope_type": "linear", "factor": %s}}`,
	} {
		for _, values := range [][2]any{{"32", "64"}, {"64", "32"}} {
			wantError(t, fmt.Sprintf(format, values[0], values[1]), ErrContradiction)
		}
	}
	// Lists are equal by what they hold.
	const wrapper = `{"model_type": "qwen2_vl", "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]}, "text_config": {"model_type": "qwen2_vl_text", "rope_scaling": {"type": "mrope", "mrope_section": %s}}}`
	mustRead(t, fmt.Sprintf(wrapper, "[16, 24, 24]"))
	for _, sections := range []string{"[24, 20, 20]", "[16, 24, 25]", "[15, 24, 24]", "[16, 24]"} {
		wantError(t, fmt.Sprintf(wrapper, sections), ErrContradiction, "mrope_section")
	}
}

// A quote behind a backslash ends no string: what looks like a literal of Python stays text.
func TestEscapedQuotes(t *testing.T) {
	for _, text := range []string{`say \"NaN\"`, `\\\"Infinity`, `\"-Infinity`, `\\`} {
		wantError(t, `{"model_type": "llama", "rope_scaling": {"rope_type": "`+text+`", "factor": 2}}`, ErrUnknown, `rope_type is "`+text+`"`)
	}
}

// A list has one entry for each layer, no fewer and no more.
func TestLengthsOfLists(t *testing.T) {
	for _, test := range []struct{ modelType, key, entry, more string }{
		{"gemma3_text", "layer_types", `"full_attention"`, ""},
		{"bamba", "layers_block_type", `"attention"`, ""},
		{"smollm3", "no_rope_layers", "1", ""},
		{"granite_swa", "layer_rope_theta", "10000", ""},
		{"cohere2_moe", "mlp_layer_types", `"sparse"`, ""},
		{"glm_moe_dsa", "indexer_types", `"full"`, ""},
	} {
		list := func(n int) string {
			return fmt.Sprintf(`{"model_type": %q, "num_hidden_layers": 8, %q: [%s]%s}`, test.modelType, test.key, strings.TrimSuffix(strings.Repeat(test.entry+", ", n), ", "), test.more)
		}
		mustRead(t, list(8))
		for _, n := range []int{1, 7, 9, 16} {
			wantError(t, list(n), ErrContradiction, test.key+" is a list of "+fmt.Sprint(n))
		}
	}
}
