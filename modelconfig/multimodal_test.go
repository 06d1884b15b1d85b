package modelconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/models"
	"github.com/go-posenc/posenc/multimodal"
)

// Every type that FamilyOf knows gives its model with the defaults of its class, or says what a
// caller sets. The numbers are those of transformers 5.23, AutoConfig of the type alone. Keys of a file
// replace them.
func TestHuggingFaceMultimodal(t *testing.T) {
	type M = multimodal.Model
	for _, tt := range []struct {
		of   string // types, or a file
		want M
		ids  multimodal.TokenIDs
	}{
		{of: "qwen2_vl colqwen2 paddleocr_vl", want: M{Family: multimodal.Qwen2VL, MergeSize: 2}},
		{of: "glm_image", want: M{Family: multimodal.Qwen2VL, MergeSize: 1}},
		{of: "qwen2_5_vl", want: M{Family: multimodal.Qwen25VL, MergeSize: 2, PositionsPerSecond: 4}},
		{of: "qwen3_vl qwen3_vl_moe qwen3_5 qwen3_5_moe qwen4_exp glm4v glm4v_moe glm46v glmga glm_ocr cohere_compass cosmos3_edge cosmos3_omni", want: M{Family: multimodal.Qwen3VL, MergeSize: 2}},
		{of: "ernie4_5_vl_moe", want: M{Family: multimodal.Ernie45VL, MergeSize: 2, TemporalMergeSize: 2}},
		{of: "minicpmv4_7", want: M{Family: multimodal.MiniCPMV47, MergeSize: 4}},
		{of: "qwen2_5_omni qwen2_5_omni_thinker", want: M{Family: multimodal.Qwen25Omni, MergeSize: 2, PositionsPerSecond: 25, PositionsPerChunk: 50}},
		{of: "qwen3_omni_moe qwen3_omni_moe_thinker", want: M{Family: multimodal.Qwen3Omni, MergeSize: 2, PositionsPerSecond: 25}},
		{`{"model_type": "qwen2_5_vl", "image_token_id": 7, "video_token_id": 8, "vision_start_token_id": 10, "vision_config": {"spatial_merge_size": 4, "tokens_per_second": 2}}`,
			M{Family: multimodal.Qwen25VL, MergeSize: 4, PositionsPerSecond: 2}, multimodal.TokenIDs{Image: 7, Video: 8, VisionStart: 10}},
		{`{"model_type": "qwen2_5_omni", "thinker_config": {"image_token_index": 7, "audio_token_index": 9, "audio_start_token_id": 11, "position_id_per_seconds": 10, "seconds_per_chunk": 3, "vision_config": {"spatial_merge_size": 3}}}`,
			M{Family: multimodal.Qwen25Omni, MergeSize: 3, PositionsPerSecond: 10, PositionsPerChunk: 30}, multimodal.TokenIDs{Image: 7, Audio: 9, AudioStart: 11}},
		{of: `{"model_type": "hunyuan_vl", "text_config": {"rope_scaling": {"xdrope_section": [16, 16, 16, 16]}}}`, want: M{Family: multimodal.HunYuanVL, MergeSize: 2, HunYuanAxes: 4}},
		{of: `{"model_type": "minicpmv4_7", "downsample_mode": "4x"}`, want: M{Family: multimodal.MiniCPMV47, MergeSize: 2}},
		{of: `{"model_type": "colqwen2", "vlm_config": {"model_type": "qwen2_5_vl"}}`, want: M{Family: multimodal.Qwen25VL, MergeSize: 2, PositionsPerSecond: 4}},
	} {
		configs := []string{tt.of}
		if tt.of[0] != '{' {
			configs = strings.Split(`{"model_type": "`+strings.ReplaceAll(tt.of, " ", `"}&{"model_type": "`)+`"}`, "&")
		}
		for _, config := range configs {
			if got, ids, err := HuggingFaceMultimodal([]byte(config)); err != nil || got != tt.want || !reflect.DeepEqual(ids, tt.ids) {
				t.Errorf("%s: %+v, %+v, %v, want %+v, %+v", config, got, ids, err, tt.want, tt.ids)
			}
		}
	}
	for _, v := range models.Vendors {
		for i := range v.Holders {
			name := v.Holders[i].Name
			if _, err := multimodal.FamilyOf(name); err != nil {
				continue
			}
			_, _, err := HuggingFaceMultimodal(fmt.Appendf(nil, `{"model_type": %q}`, name))
			if err != nil && !errors.Is(err, ErrUnknown) && !(name == "hunyuan_vl" && errors.Is(err, ErrValue)) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// Model.Type of a file names the family that the file has, or none where it has none; a type whose
// pairs have several axes is known to FamilyOf, or gives images the positions of text.
func TestFamilyOfType(t *testing.T) {
	families := 0
	survey := readSurvey()
	for _, name := range append(survey.Configurations, "ernie4_5_moe_vl") {
		document := survey.Types[name].document(name)
		if entry := survey.Types[name]; entry != nil && entry.Text != nil && entry.Text.Key != "" {
			document[entry.Text.Key] = survey.Types[entry.Text.Type].document(entry.Text.Type)
		}
		m, err := HuggingFace(testkit.Must(json.Marshal(document)))
		if err != nil {
			continue
		}
		got, err := multimodal.FamilyOf(m.Type())
		if want, errOfName := multimodal.FamilyOf(name); got != want && (want != 0 || strings.Contains(errOfName.Error(), "token i position i")) {
			t.Errorf("%s: Type %s is of family %v, want %v (%v)", name, m.Type(), got, want, errOfName)
		}
		if slices.ContainsFunc(slices.Collect(maps.Values(m.of().Kinds)), func(k description.Kind) bool { return k.Rotary.Axes != nil }) {
			families++
			if err != nil && !strings.Contains(err.Error(), "token i position i") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if families < 40 {
		t.Errorf("%d types have several axes", families)
	}
}
