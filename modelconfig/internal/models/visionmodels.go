package models

import (
	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/modelconfig/internal/description"
)

// codesOwn: files do not say how tokens of images get their positions.
const codesOwn = "set the fields of multimodal.Model from the model's own code"

var visionModels = Vendor{
	Types: []ModelType{
		{Name: "molmo"},
		{Name: "Keye", Also: []string{"KeyeVL1_5"}, Axes: &sectionsInOrder},
		{Name: "openpangu_vl", Axes: &panguSections, Traps: []string{"mrope_of_openpangu_is_spread_evenly"}},
		{Name: "moss_vl", Refusal: "rotates queries and keys of its cross attention by different positions: read its text_config alone with Options.Type \"qwen3_vl_text\", and rotate each by rows of its own"},
		{Name: "aria_text", Also: []string{"idefics"}, Hidden: 4096, Heads: 32, Layers: 32, Positions: 2048, Base: 1e4},
		{Name: "lightglue", Refusal: "rotates by angles that a learned projection computes from the coordinates of points: compute their cosines and sines and rotate with posenc.NewRows"},
	},
	Towers: []ModelType{
		{Name: "keye_vision", NoBaseKey: true, Arrangement: rowsThenColumns, Patches: description.PatchOrder{RowByRow: true}, Required: []string{"hidden_size", "num_attention_heads", "num_hidden_layers"}},
		{Name: "siglip2_navit", NoBaseKey: true, Arrangement: rowsThenColumns, Required: []string{"hidden_size", "num_attention_heads", "num_hidden_layers", "use_rope"}},
		{Name: "openpangu_vl_vision", Also: []string{"moss_vl_vision"}, Keys: qwenTower, NoBaseKey: true, Arrangement: rowsThenColumns, Required: []string{"hidden_size", "num_heads", "depth"}},
		{Name: "llava_onevision2_vision", Refusal: "multiplies the two elements of a pair by cosines of different angles, of frames, rows and columns, which is no rotation: compute it with the model's own formula"},
		{Name: "video_llama_3_vision", Hidden: 768, Heads: 12, Layers: 12, Arrangement: rowsThenColumns},
		{Name: "dinov3_vit", Also: []string{"eomt_dinov3", "sapiens2"}, Refusal: "rotates by coordinates that are fractions of the image size: compute their cosines and sines and rotate with posenc.NewRows"},
		{Name: "mlcd_vision_model", Also: []string{"mlcd"}, Refusal: "gives its class token a learned angle, in addition to axes of rows and columns: compute the cosines and sines of both and rotate with posenc.NewRows"},
		{Name: "sam2_video", Also: []string{"sam3_tracker_video"}, Refusal: "rotates queries of one grid and keys of several grids in its attention to memory: use posenc.RotaryConfig with frequency.Axial for each grid"},
		{Name: "sam3_vit_model", Hidden: 1024, Heads: 16, Layers: 32, Layout: posenc.Interleaved, Arrangement: columnsThenRows, Patches: description.PatchOrder{RowByRow: true}, ListKey: "global_attn_indexes", Lists: globalLayers, Traps: []string{"sam3_layers_have_windows"}},
		{Name: "edgetam_video", Refusal: "rotates queries and keys of grids of different sizes in its attention to memory: use posenc.RotaryConfig with frequency.Axial for each grid"},
		{Name: "efficientloftr", Refusal: "rotates pairs across the whole hidden size, alternately by rows and by columns counted from 1: compute the cosines and sines of both and rotate with posenc.NewRows"},
		{Name: "vjepa2", Refusal: "multiplies the two elements of a pair by cosines of different angles, which is no rotation: compute it with the model's own formula"},
	},
	Holders: []Holder{
		{Name: "nvila", Also: []string{"nvila_lite"}, Text: Part{"text_config", "qwen2"}, AbsentText: `{}`},
		{Name: "locateanything", Text: Part{"text_config", "qwen2"}, AbsentText: `{}`, Tower: Part{"vision_config", "moonvit"}},
		{Name: "bagel", Text: Part{"llm_config", "qwen2"}, AbsentText: `{}`},
		{Name: "pointsv1.5_chat", Text: Part{"llm_config", "qwen2"}, AbsentText: `{}`, Tower: Part{"vision_config", "qwen2_vl_vision"}},
		{Name: "openvla", Text: Part{"text_config", "llama"}, AbsentText: `{}`},
		{Name: "eagle_2_5_vl", Text: Part{Key: "text_config"}, AnyText: true},
		{Name: "R", Also: []string{"BeeForConditionalGeneration"}, Text: Part{Key: "text_config"}, AnyText: true, Tower: Part{"vision_config", "siglip_vision_model"}},
		{Name: "opencua", Text: Part{Key: "text_config"}, AnyText: true, Tower: Part{"vision_config", "qwen2_5_vl_vision"}},
		{Name: "kanana-1.5-v", Also: []string{"sarashina2_vision"}, Text: Part{Key: "text_config"}, AnyText: true, Tower: Part{"vision_config", "qwen2_vl_vision"}},
		{Name: "llava_onevision2", Text: Part{Key: "text_config"}, AnyText: true, Tower: Part{"vision_config", "llava_onevision2_vision"}},
		{Name: "StepVLForConditionalGeneration", Text: Part{Key: "text_config"}, AnyText: true, Tower: Part{"vision_config", "perception_encoder"}},
		{Name: "ovis", Also: []string{"h2ovl_chat", "skywork_chat"}, Text: Part{Key: "llm_config"}, AnyText: true},
		{Name: "ovis2_5", Also: []string{"Ovis2_6ForCausalLM", "Ovis2_6_MoeForCausalLM"}, Text: Part{Key: "llm_config"}, AnyText: true, Tower: Part{"vit_config", "siglip2_navit"}},
		{Name: "Keye", Also: []string{"KeyeVL1_5"}, Positions: codesOwn, Tower: Part{"vision_config", "keye_vision"}},
		{Name: "openpangu_vl", Positions: codesOwn, Tower: Part{"vision_config", "openpangu_vl_vision"}},
		{Name: "moss_vl", Positions: codesOwn, Tower: Part{"vision_config", "moss_vl_vision"}},
		{Name: "llava", Also: []string{"llava_next", "llava_next_video", "vipllava", "video_llava"}, Text: Part{"text_config", "llama"}, AnyText: true, Tower: Part{"vision_config", "clip_vision_model"}},
		{Name: "llava_onevision", Text: Part{"text_config", "qwen2"}, AnyText: true, Tower: Part{"vision_config", "siglip_vision_model"}},
		{Name: "idefics2", Text: Part{"text_config", "mistral"}, AnyText: true, AbsentText: `{"hidden_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 32, "max_position_embeddings": 32768}`, Tower: Part{"vision_config", "idefics2_vision"}},
		{Name: "idefics3", Also: []string{"smolvlm"}, Text: Part{"text_config", "llama"}, AnyText: true, Tower: Part{"vision_config", "*_vision"}},
		{Name: "aria", Text: Part{"text_config", "aria_text"}, Tower: Part{"vision_config", "idefics3_vision"}},
		{Name: "ovis2", Also: []string{"video_llama_3"}, Text: Part{"text_config", "qwen2"}, AnyText: true, Tower: Part{"vision_config", "*_vision"}},
		{Name: "got_ocr2", Text: Part{"text_config", "qwen2"}, AnyText: true, AbsentText: `{"hidden_size": 1024, "num_attention_heads": 16, "num_hidden_layers": 24, "max_position_embeddings": 32768, "rope_theta": 1000000}`, Tower: Part{"vision_config", "got_ocr2_vision"}},
		{Name: "fast_vlm", Text: Part{"text_config", "qwen2"}, AnyText: true, AbsentText: `{"hidden_size": 3584, "num_attention_heads": 28, "num_hidden_layers": 28, "max_position_embeddings": 32768}`},
		{Name: "fuyu", Text: Part{"text_config", "persimmon"}, AnyText: true},
		{Name: "pi0", Text: Part{"vlm_config", "paligemma"}, AnyText: true, Tower: Part{"vlm_config", "paligemma"}},
		{Name: "hyperclovax_vision_v2", Text: Part{"text_config", "hyperclovax"}, AnyText: true, Tower: Part{"vision_config", "qwen2_5_vl_vision"}},
		{Name: "blip-2", Also: []string{"instructblip", "instructblipvideo"}, Text: Part{"text_config", "opt"}, AnyText: true},
		{Name: "vision-text-dual-encoder", Also: []string{"grounding-dino", "mm-grounding-dino"}, Text: Part{"text_config", "bert"}, AnyText: true},
		{Name: "omdet-turbo", Text: Part{"text_config", "clip_text_model"}, AnyText: true},
		{Name: "florence2", Text: Part{"text_config", "bart"}, AnyText: true},
		{Name: "aimv2", Also: []string{"align", "altclip", "blip", "bridgetower", "chinese_clip", "clip", "clipseg", "flava", "groupvit", "kosmos-2", "kosmos-2.5", "metaclip_2", "owlv2", "owlvit", "pix2struct", "tipsv2", "xclip"}, Text: Part{"text_config", "*_text_model"}},
		{Name: "chmv2", Tower: Part{"backbone_config", "dinov3_vit"}},
		{Name: "sam3_tracker", Also: []string{"sam3_lite_text"}, Tower: Part{"vision_config", "sam3_vision_model"}},
		{Name: "sam3_video", Tower: Part{"detector_config", "sam3"}},
		{Name: "sam3", Tower: Part{"vision_config", "sam3_vision_model"}},
		{Name: "sam3_vision_model", Tower: Part{"backbone_config", "sam3_vit_model"}},
	},
	OtherPositions: []PositionsOf{
		{learned, []string{"clip_vision_model", "idefics2_vision", "idefics3_vision", "smolvlm_vision", "ovis2_vision", "layoutxlm", "vit", "aimv2_text_model", "align_text_model", "altclip_text_model", "blip_text_model", "bridgetower_text_model", "chinese_clip_text_model", "clip_text_model", "clipseg_text_model", "flava_text_model", "groupvit_text_model", "metaclip_2_text_model", "owlv2_text_model", "owlvit_text_model", "sam3_lite_text_text_model", "xclip_text_model"}},
		{relative, []string{"got_ocr2_vision", "pix2struct_text_model"}},
		{sinusoidal, []string{"kosmos_2_text_model", "kosmos_2_5_text_model", "tipsv2_text_model"}},
	},
	OtherTowers: []PositionsOf{
		{learned, []string{"nvila", "nvila_lite", "bagel", "openvla", "eagle_2_5_vl", "ovis", "h2ovl_chat", "skywork_chat", "molmo"}},
	},
	RefusedArchitectures: []RefusedArchitecture{
		{"clip", "the architecture of a text model: files of this one hold a vision tower and a projector; read the tower from the model's config.json with HuggingFaceVision"},
	},
}
