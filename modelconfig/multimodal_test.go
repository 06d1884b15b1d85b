package modelconfig

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-posenc/posenc/internal/testkit"
	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/document"
	"github.com/go-posenc/posenc/modelconfig/internal/models"
	"github.com/go-posenc/posenc/multimodal"
)

// Every type that FamilyOf knows gives its model with the defaults of its class, or says what a
// caller sets. The numbers are those of transformers 5.23, AutoConfig of the type alone.
func TestHuggingFaceMultimodalDefaults(t *testing.T) {
	plain := func(family multimodal.Family) multimodal.Model {
		return multimodal.Model{Family: family, MergeSize: 2}
	}
	qwen25, ernie, image, mini := plain(multimodal.Qwen25VL), plain(multimodal.Ernie45VL), plain(multimodal.Qwen2VL), plain(multimodal.MiniCPMV47)
	qwen25.PositionsPerSecond, ernie.TemporalMergeSize, image.MergeSize, mini.MergeSize = 4, 2, 1, 4
	omni25, omni3 := plain(multimodal.Qwen25Omni), plain(multimodal.Qwen3Omni)
	omni25.PositionsPerSecond, omni25.PositionsPerChunk, omni3.PositionsPerSecond = 25, 50, 25
	for modelType, want := range map[string]multimodal.Model{
		"qwen2_vl": plain(multimodal.Qwen2VL), "colqwen2": plain(multimodal.Qwen2VL), "paddleocr_vl": plain(multimodal.Qwen2VL), "glm_image": image,
		"qwen2_5_vl": qwen25, "qwen3_vl": plain(multimodal.Qwen3VL), "qwen3_vl_moe": plain(multimodal.Qwen3VL), "qwen3_5": plain(multimodal.Qwen3VL),
		"qwen3_5_moe": plain(multimodal.Qwen3VL), "qwen4_exp": plain(multimodal.Qwen3VL), "glm4v": plain(multimodal.Qwen3VL), "glm4v_moe": plain(multimodal.Qwen3VL),
		"glm46v": plain(multimodal.Qwen3VL), "glmga": plain(multimodal.Qwen3VL), "glm_ocr": plain(multimodal.Qwen3VL), "cohere_compass": plain(multimodal.Qwen3VL),
		"cosmos3_edge": plain(multimodal.Qwen3VL), "cosmos3_omni": plain(multimodal.Qwen3VL), "ernie4_5_vl_moe": ernie, "minicpmv4_7": mini,
		"qwen2_5_omni": omni25, "qwen2_5_omni_thinker": omni25, "qwen3_omni_moe": omni3, "qwen3_omni_moe_thinker": omni3,
	} {
		got, ids, err := HuggingFaceMultimodal(fmt.Appendf(nil, `{"model_type": %q}`, modelType))
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", modelType, got, err, want)
		}
		if ids.Image != 0 || ids.Markers != nil {
			t.Errorf("%s: ids %+v of no file", modelType, ids)
		}
	}
	for _, h := range vendorsHolders() {
		if _, err := multimodal.FamilyOf(h.Name); err != nil {
			continue
		}
		_, _, err := HuggingFaceMultimodal(fmt.Appendf(nil, `{"model_type": %q}`, h.Name))
		if err != nil && !errors.Is(err, ErrUnknown) && !(h.Name == "hunyuan_vl" && errors.Is(err, ErrValue)) {
			t.Errorf("%s: %v", h.Name, err)
		}
	}
}

// Model.Type of a file names the family that the file has, or none where it has none; a type whose
// pairs have several axes is known to FamilyOf, or gives images the positions of text.
func TestFamilyOfType(t *testing.T) {
	families := 0
	for _, name := range document.SortedKeys(readSurvey().Types) {
		m, err := HuggingFace(fmt.Appendf(nil, `{"model_type": %q}`, name))
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
	if families < 30 {
		t.Errorf("%d types have several axes", families)
	}
}

func vendorsHolders() []models.Holder { return slices.Collect(maps.Values(holders)) }

func TestHuggingFaceMultimodal(t *testing.T) {
	m, ids, err := HuggingFaceMultimodal([]byte(`{"model_type": "qwen2_5_vl", "image_token_id": 151655, "video_token_id": 151656, "vision_start_token_id": 151652,
		"vision_config": {"spatial_merge_size": 4, "tokens_per_second": 2}}`))
	if err != nil || m != (multimodal.Model{Family: multimodal.Qwen25VL, MergeSize: 4, PositionsPerSecond: 2}) || ids.Image != 151655 || ids.Video != 151656 || ids.VisionStart != 151652 {
		t.Errorf("%+v, %+v, %v", m, ids, err)
	}
	m, ids, err = HuggingFaceMultimodal([]byte(`{"model_type": "qwen2_5_omni", "thinker_config": {"image_token_index": 7, "audio_token_index": 9, "audio_start_token_id": 11,
		"position_id_per_seconds": 10, "seconds_per_chunk": 3, "vision_config": {"spatial_merge_size": 3}}}`))
	if err != nil || m != (multimodal.Model{Family: multimodal.Qwen25Omni, MergeSize: 3, PositionsPerSecond: 10, PositionsPerChunk: 30}) || ids.Image != 7 || ids.Audio != 9 || ids.AudioStart != 11 {
		t.Errorf("%+v, %+v, %v", m, ids, err)
	}
	m, _, err = HuggingFaceMultimodal([]byte(`{"model_type": "hunyuan_vl", "text_config": {"rope_scaling": {"xdrope_section": [16, 16, 16, 16]}}}`))
	if err != nil || m.HunYuanAxes != 4 {
		t.Errorf("%+v, %v", m, err)
	}
	m, _, err = HuggingFaceMultimodal([]byte(`{"model_type": "minicpmv4_7", "downsample_mode": "4x"}`))
	if err != nil || m.MergeSize != 2 {
		t.Errorf("%+v, %v", m, err)
	}
	m, _, err = HuggingFaceMultimodal([]byte(`{"model_type": "colqwen2", "vlm_config": {"model_type": "qwen2_5_vl"}}`))
	if err != nil || m != (multimodal.Model{Family: multimodal.Qwen25VL, MergeSize: 2, PositionsPerSecond: 4}) {
		t.Errorf("%+v, %v", m, err)
	}
}

// FuzzHuggingFaceMultimodal reads any text.
func FuzzHuggingFaceMultimodal(f *testing.F) {
	for _, config := range []string{`{"model_type": "qwen2_5_omni", "thinker_config": {"position_id_per_seconds": 10}}`, `{"model_type": "hunyuan_vl"}`, `{"model_type": "ernie4_5_vl_moe", "vision_config": {"temporal_merge_size": 3}}`} {
		f.Add([]byte(config))
	}
	f.Fuzz(func(t *testing.T, config []byte) {
		m, _, err := HuggingFaceMultimodal(config)
		if err != nil {
			if !wrapsOne(err) || m != (multimodal.Model{}) {
				t.Fatalf("%+v, %v", m, err)
			}
			return
		}
		_, err = m.Positions(nil, nil)
		testkit.NoError(t, err)
	})
}
