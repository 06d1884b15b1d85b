package multimodal

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-posenc/posenc/internal/argument"
)

// Family is the rule by which tokens get their positions. It is named after the first model
// that has it; [FamilyOf] knows the others.
//
// In every family text counts up: n tokens of text from position p on are at p, p+1, ...,
// p+n-1 on all axes, and the next token is at p+n. In most families an image of h by w tokens
// from position p on has the token in row y and column x at
//
//	time, height, width = p, p+y, p+x
//
// and the next token is at p+max(h, w). docs/multimodal.md in the repository says what
// each family does differently.
type Family uint8

const (
	Qwen2VL    Family = iota + 1 // frame f of a video is at time p+f
	Qwen25VL                     // Qwen2.5-VL: at time p+int(f*(PositionsPerSecond*SecondsPerGrid))
	Qwen3VL                      // each frame is a run, at the positions of an image; GLM-4V and most newer models too
	Ernie45VL                    // as Qwen2VL, with TemporalMergeSize frames in one
	HunYuanVL                    // images only: tokens are at their index; the last three axes have x, y and the number of the image
	MiniCPMV47                   // the slices of an image tile a canvas, over which its overview is stretched
	Qwen25Omni                   // frame f is at time p+int(f*SecondsPerGrid*PositionsPerSecond); sound of a video in chunks
	Qwen3Omni                    // the same in float32, not truncated: positions may be fractions (Model.FractionalPositions)
	Ming                         // Bailing MoE v2: t = p+f*SecondsPerGrid*TimeScale, height t+y-(h-1)/2, width t+x-(w-1)/2, truncated
)

// rule says how families differ.
type rule struct {
	name     string
	kinds    []Kind
	frames   bool // each frame of a video is a run
	seconds  bool // videos need SecondsPerGrid
	perSec   bool // needs Model.PositionsPerSecond
	floating bool // float32 arithmetic

	// models are model types. For every prompt of testdata, the functions of all gave the same
	// positions as the first.
	models []string
}

var (
	stills    = []Kind{Text, Image}
	videos    = []Kind{Text, Image, Video}
	everyKind = []Kind{Text, Image, Video, Audio, VideoAndAudio}
)

var rules = [...]rule{
	Qwen2VL:  {name: "Qwen2VL", kinds: videos, models: []string{"qwen2_vl", "colqwen2", "paddleocr_vl", "glm_image"}},
	Qwen25VL: {name: "Qwen25VL", kinds: videos, seconds: true, perSec: true, models: []string{"qwen2_5_vl"}},
	Qwen3VL: {name: "Qwen3VL", kinds: videos, frames: true, models: []string{
		"qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe", "qwen4_exp", "glm4v", "glm4v_moe", "glm46v", "glmga", "glm_ocr",
		"cohere_compass", "cosmos3_edge", "cosmos3_omni",
	}},
	Ernie45VL:  {name: "Ernie45VL", kinds: videos, models: []string{"ernie4_5_vl_moe", "ernie4_5_moe_vl"}},
	HunYuanVL:  {name: "HunYuanVL", kinds: stills, models: []string{"hunyuan_vl"}},
	MiniCPMV47: {name: "MiniCPMV47", kinds: videos, frames: true, models: []string{"minicpmv4_7"}},
	Qwen25Omni: {name: "Qwen25Omni", kinds: everyKind, seconds: true, perSec: true, models: []string{
		"qwen2_5_omni", "qwen2_5_omni_thinker", "qwen2_5_omni_talker",
	}},
	Qwen3Omni: {name: "Qwen3Omni", kinds: everyKind, seconds: true, perSec: true, floating: true, models: []string{
		"qwen3_omni_moe", "qwen3_omni_moe_thinker", "qwen3_omni_moe_talker",
	}},
	Ming: {name: "Ming", kinds: videos, seconds: true, floating: true, models: []string{"bailing_moe_v2"}},
}

// asText are the models of several axes that give images the positions of text.
var asText = []string{"jev", "minicpm_ocr", "minicpmv4_6"}

func (r *rule) takes(kind Kind) bool {
	return slices.Contains(r.kinds, kind) || kind == Marker || kind == SliceStart
}

func (f Family) String() string {
	if f >= Qwen2VL && int(f) < len(rules) {
		return rules[f].name
	}
	return strconv.Itoa(int(f))
}

// FamilyOf returns the rule of a model by the model_type of its config.json, or of the text
// model in it. It knows every model of transformers 5.23 that has a get_rope_index of its own,
// Ming, and ernie4_5_moe_vl, the type of Baidu's own files: Baidu's code goes on at the largest
// position + 1 after a video, so set Model.AfterLargest for it. For any other model_type it
// returns an error that wraps posenc.ErrConfig; it does not guess.
func FamilyOf(modelType string) (Family, error) {
	for f := range rules {
		if slices.Contains(rules[f].models, strings.TrimSuffix(modelType, "_text")) {
			return Family(f), nil
		}
	}
	if slices.Contains(asText, modelType) {
		return 0, argument.Error(argument.ErrConfig, "multimodal.FamilyOf", "modelType", strconv.Quote(modelType), "a model with positions of its own for images: this one gives token i position i on all axes")
	}
	if len(modelType) > 64 {
		modelType = modelType[:64] + "..."
	}
	return 0, argument.Error(argument.ErrConfig, "multimodal.FamilyOf", "modelType", strconv.Quote(modelType), "the model_type of a model in docs/multimodal.md (an architecture of GGUF, such as qwen2vl, has models of several families)")
}

// Model is the rule by which a model's tokens get their positions, with the parameters from
// its config.json. Leave fields that its family does not use 0.
type Model struct {
	Family Family

	// MergeSize is the side of the square of patches that becomes one token:
	// spatial_merge_size in the vision_config, mostly 2. It is 1 for glm_image. For
	// minicpmv4_7 it is 4, or 2 where downsample_mode is "4x".
	MergeSize int

	// TemporalMergeSize is for Ernie45VL: temporal_merge_size in the vision_config.
	TemporalMergeSize int

	// PositionsPerSecond is for Qwen25VL (tokens_per_second in the vision_config), and for
	// Qwen25Omni and Qwen3Omni (position_id_per_seconds).
	PositionsPerSecond float32

	// PositionsPerChunk is for Qwen25Omni: position_id_per_seconds times seconds_per_chunk,
	// truncated to an integer.
	PositionsPerChunk int

	// TimeScale is for Ming: scale_factor, or 1 if the model has none.
	TimeScale float32

	// HunYuanAxes is for HunYuanVL: the number of sections in mrope_section or
	// xdrope_section, 3 or 4.
	HunYuanAxes int

	// AfterLargest is for Qwen2VL, Qwen25VL and Ernie45VL. With it, text after a video goes
	// on at the largest position of the video + 1, also where that is a position of time.
	// transformers up to 5.2, vLLM, and the training of Qwen's models do this. Without it,
	// as in transformers since 5.3, text goes on at p+max(h, w), which frames of a long
	// video already have, and decoding goes on at the largest position + 1. Both give the
	// same positions unless the times of a video go beyond max(h, w).
	AfterLargest bool
}

// Axes returns how many positions a token has: HunYuanAxes in HunYuanVL, otherwise 3.
func (m Model) Axes() int {
	if m.Family == HunYuanVL {
		return m.HunYuanAxes
	}
	return 3
}

func (m *Model) perSecond() float32 {
	if m.Family == Ming {
		return m.TimeScale
	}
	return m.PositionsPerSecond
}

func (m *Model) check(function string) error {
	if m.Family < Qwen2VL || int(m.Family) >= len(rules) {
		return argument.Error(argument.ErrConfig, function, "m.Family", m.Family, "one of the constants of type Family")
	}
	if m.MergeSize < 1 || m.MergeSize > 1<<15 {
		return argument.Error(argument.ErrConfig, function, "m.MergeSize", m.MergeSize, "from 1 to 2^15")
	}
	for _, field := range []struct {
		name        string
		value       float64
		used        bool
		least, most float64
	}{
		{"m.TemporalMergeSize", float64(m.TemporalMergeSize), m.Family == Ernie45VL, 1, 1 << 15},
		{"m.PositionsPerSecond", float64(m.PositionsPerSecond), rules[m.Family].perSec, 1.0 / (1 << 20), 1 << 20},
		{"m.PositionsPerChunk", float64(m.PositionsPerChunk), m.Family == Qwen25Omni, 1, 1 << 30},
		{"m.TimeScale", float64(m.TimeScale), m.Family == Ming, 1.0 / (1 << 20), 1 << 20},
		{"m.HunYuanAxes", float64(m.HunYuanAxes), m.Family == HunYuanVL, 3, 4},
	} {
		if !field.used && field.value != 0 {
			return argument.Error(argument.ErrConfig, function, field.name, field.value, "0 for %v", m.Family)
		}
		if field.used && !(field.value >= field.least && field.value <= field.most) {
			return argument.Error(argument.ErrConfig, function, field.name, field.value, "from %v to %v for %v", field.least, field.most, m.Family)
		}
	}
	if m.AfterLargest && m.Family != Qwen2VL && m.Family != Qwen25VL && m.Family != Ernie45VL {
		return argument.Error(argument.ErrConfig, function, "m.AfterLargest", true, "false for %v", m.Family)
	}
	return nil
}
