package multimodal

import (
	"strconv"

	"github.com/go-posenc/posenc/internal/argument"
)

// Family is a rule by which tokens get their positions, named by the first model that
// has it. [FamilyOf] has the others. Of n tokens of text at position p, token i is at p+i
// on all axes, and p+n is next. An image at p of h by w tokens has row y and column x at
//
//	time, height, width = p, p+y, p+x
//
// and the next position is p+max(h, w). The constants say what differs, of frame f where
// there are several.
type Family uint8

const (
	// Qwen2VL: frame f of a video is at p+f, p+y, p+x, and what comes next at
	// p+max(h, w), however many frames there are: see Model.AfterLargest.
	Qwen2VL Family = iota + 1

	// Qwen25VL (Qwen2.5-VL): Qwen2VL with the time of frame f at
	// p+int(f*(PositionsPerSecond*SecondsPerGrid)), both products rounded to float32.
	Qwen25VL

	// Qwen3VL: each frame of a video is a run by itself, like an image, with text for its
	// time before it. GLM-4V, GLM-4.5V and most models since are the same.
	Qwen3VL

	// Ernie45VL (ERNIE 4.5 VL): Qwen2VL with TemporalMergeSize frames of a video in one.
	Ernie45VL

	// HunYuanVL: every token is at its index on all axes. But those of an image have on
	// the last three axes x, y and the number of the image: x from 0 to w, as each row has
	// a token more, and the images counted from 0 in the prompt. A run may have a token
	// more at both ends, which are text. Images only.
	HunYuanVL

	// MiniCPMV47 (MiniCPM-V 4.7): the slices of an image tile a canvas, and its overview
	// is stretched over the canvas. See docs/multimodal.md.
	MiniCPMV47

	// Qwen25Omni (Qwen2.5-Omni): frame f is at p+int(f*SecondsPerGrid*PositionsPerSecond),
	// each product rounded to float32; what comes next is at the largest position + 1.
	// Sound is like text. A video with sound alternates between chunks of PositionsPerChunk
	// positions of both from the same p on, and the two tokens that begin it share a
	// position, as do the two that end it.
	Qwen25Omni

	// Qwen3Omni: Qwen25Omni in float32, times not truncated, so that positions may be
	// fractions ([Model.FractionalPositions]). Tokens of video and sound are merged by
	// their times, and those that begin and end them have positions of their own.
	Qwen3Omni

	// Ming (Bailing MoE v2, video_rope): frame f is at t = p+f*SecondsPerGrid*TimeScale
	// and t+y-(h-1)/2, t+x-(w-1)/2 with integer division, so that height and width may
	// be negative. What comes next is at the last t + 1. All in float32, and truncated
	// in the end.
	Ming
)

// rule is what distinguishes a family.
type rule struct {
	name     string
	kinds    []Kind
	frames   bool // each frame of a video is a run
	seconds  bool // videos have SecondsPerGrid
	perSec   bool // Model.PositionsPerSecond
	floating bool // float32 arithmetic
}

var (
	stills    = []Kind{Text, Image}
	videos    = []Kind{Text, Image, Video}
	everyKind = []Kind{Text, Image, Video, Audio, VideoAndAudio}
)

var rules = [...]rule{
	Qwen2VL:    {name: "Qwen2VL", kinds: videos},
	Qwen25VL:   {name: "Qwen25VL", kinds: videos, seconds: true, perSec: true},
	Qwen3VL:    {name: "Qwen3VL", kinds: videos, frames: true},
	Ernie45VL:  {name: "Ernie45VL", kinds: videos},
	HunYuanVL:  {name: "HunYuanVL", kinds: stills},
	MiniCPMV47: {name: "MiniCPMV47", kinds: videos, frames: true},
	Qwen25Omni: {name: "Qwen25Omni", kinds: everyKind, seconds: true, perSec: true},
	Qwen3Omni:  {name: "Qwen3Omni", kinds: everyKind, seconds: true, perSec: true, floating: true},
	Ming:       {name: "Ming", kinds: videos, seconds: true, floating: true},
}

func (r *rule) takes(kind Kind) bool {
	for _, k := range r.kinds {
		if k == kind {
			return true
		}
	}
	return kind == Marker || kind == SliceStart
}

func (f Family) String() string {
	if f >= Qwen2VL && int(f) < len(rules) {
		return rules[f].name
	}
	return strconv.Itoa(int(f))
}

// modelTypes are the models whose functions gave the same positions as the first of their
// family for every prompt of testdata.
var modelTypes = map[string]Family{
	"qwen2_vl": Qwen2VL, "paddleocr_vl": Qwen2VL, "glm_image": Qwen2VL,
	"qwen2_5_vl": Qwen25VL,
	"qwen3_vl":   Qwen3VL, "qwen3_vl_moe": Qwen3VL, "qwen3_5": Qwen3VL, "qwen3_5_moe": Qwen3VL, "qwen4_exp": Qwen3VL,
	"glm4v": Qwen3VL, "glm4v_moe": Qwen3VL, "glm46v": Qwen3VL, "glm_ocr": Qwen3VL,
	"cohere_compass": Qwen3VL, "cosmos3_edge": Qwen3VL, "cosmos3_omni": Qwen3VL,
	"ernie4_5_vl_moe": Ernie45VL,
	"hunyuan_vl":      HunYuanVL,
	"minicpmv4_7":     MiniCPMV47,
	"qwen2_5_omni":    Qwen25Omni, "qwen2_5_omni_thinker": Qwen25Omni, "qwen2_5_omni_talker": Qwen25Omni,
	"qwen3_omni_moe": Qwen3Omni, "qwen3_omni_moe_thinker": Qwen3Omni,
	"bailing_moe_v2": Ming,
}

// FamilyOf returns the rule of a model by the model_type of its config.json: every model
// of transformers 5.23 with a get_rope_index of its own, and Ming. Any other is an error
// that wraps ErrConfig, never a guess.
func FamilyOf(modelType string) (Family, error) {
	if f, ok := modelTypes[modelType]; ok {
		return f, nil
	}
	if len(modelType) > 64 {
		modelType = modelType[:64] + "..."
	}
	return 0, argument.Error(ErrConfig, "multimodal.FamilyOf", "modelType", strconv.Quote(modelType), "a model in docs/multimodal.md")
}

// Model says by which rule, and with which numbers of its config.json, tokens get their
// positions. Fields that its family has no use for are 0.
type Model struct {
	Family Family

	// MergeSize is how many patches along height and as many along width become one token:
	// spatial_merge_size of the vision_config, mostly 2. For glm_image 1; for minicpmv4_7 4,
	// or 2 where downsample_mode is "4x".
	MergeSize int

	// TemporalMergeSize is of Ernie45VL: temporal_merge_size of the vision_config.
	TemporalMergeSize int

	// PositionsPerSecond is of Qwen25VL, tokens_per_second of the vision_config, and of
	// Qwen25Omni and Qwen3Omni, position_id_per_seconds.
	PositionsPerSecond float32

	// PositionsPerChunk is of Qwen25Omni: the whole part of position_id_per_seconds times
	// seconds_per_chunk.
	PositionsPerChunk int

	// TimeScale is of Ming: scale_factor, 1 where the model has none.
	TimeScale float32

	// HunYuanAxes is of HunYuanVL: how many sections mrope_section or xdrope_section has,
	// 3 or 4.
	HunYuanAxes int

	// AfterLargest is of Qwen2VL, Qwen25VL and Ernie45VL. It lets what comes after a
	// video go on at the largest position of the video + 1, be it one of time, as in
	// transformers until 5.2, vLLM, and the training of Qwen's models. Without it, as in
	// transformers since 5.3, text goes on at p+max(h, w), where a long video already has
	// frames, and decoding at the largest position + 1. Prompts whose videos have no
	// position of time beyond max(h, w) are the same by both.
	AfterLargest bool
}

// Axes returns how many positions a token has: 3, and in HunYuanVL HunYuanAxes.
func (m Model) Axes() int {
	if m.Family == HunYuanVL {
		return m.HunYuanAxes
	}
	return 3
}

// perSecond is how many positions a second has.
func (m *Model) perSecond() float32 {
	if m.Family == Ming {
		return m.TimeScale
	}
	return m.PositionsPerSecond
}

func (m *Model) check(function string) error {
	if m.Family < Qwen2VL || int(m.Family) >= len(rules) {
		return argument.Error(ErrConfig, function, "m.Family", m.Family, "one of the constants of type Family")
	}
	if m.MergeSize < 1 || m.MergeSize > 1<<15 {
		return argument.Error(ErrConfig, function, "m.MergeSize", m.MergeSize, "from 1 to 2^15")
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
			return argument.Error(ErrConfig, function, field.name, field.value, "0 for %v", m.Family)
		}
		if field.used && !(field.value >= field.least && field.value <= field.most) {
			return argument.Error(ErrConfig, function, field.name, field.value, "from %v to %v for %v", field.least, field.most, m.Family)
		}
	}
	if m.AfterLargest && m.Family != Qwen2VL && m.Family != Qwen25VL && m.Family != Ernie45VL {
		return argument.Error(ErrConfig, function, "m.AfterLargest", true, "false for %v", m.Family)
	}
	return nil
}
