package modelconfig

import "github.com/go-posenc/posenc/frequency"

// HuggingFaceVision reads the vision tower of a multimodal model from its config.json: the
// file of the whole model, which has the tower under vision_config, or the object of the
// tower alone. It treats keys, layouts, limits and errors as HuggingFace does. A tower with
// learned positions (CLIP, SigLIP) is ErrNotRotary.
//
// Each patch of an image has two positions, and positions are [2][patches]: axis 0 is the row
// of the patch, counted from the top, and axis 1 its column. RotaryConfig.Axes says which
// pair takes which axis; the order of axes is the same for all towers, whatever the model's
// own code does. Rows and columns start at 0 in each image. Each frame of a video has the
// positions of an image. If patches come row by row and n of them make a row, patch i is at
// i/n, i%n. Two groups of models differ:
//
//   - Llama 4 counts rows and columns from 1. Its class token is at 0, 0.
//   - Models that merge patches (Qwen2-VL and most others) put the patches that they merge
//     next to each other. The positions move with the patches; multimodal.PatchPositions
//     writes them in this order.
//
// Heads of d elements have these frequencies, for k < d/4:
//
//	base^(-4k/d)      for rows
//	base^(-4k/d)      for columns; Pixtral: base^(-(4k+2)/d)
//
// docs/models.md lists the towers and the order of their pairs. In no tower do frequencies
// depend on the length of the sequence.
func HuggingFaceVision(config []byte, options ...Options) (*Model, error) {
	return huggingFace("HuggingFaceVision", config, options, visionModel)
}

// visionModel returns the configuration of the vision tower, from that of several models.
func visionModel(r *reader) *reader {
	for range 3 {
		modelType, _ := r.text("model_type")
		w, several := visionWrappers[modelType]
		if r.err != nil || !several {
			break
		}
		inner, given := r.object(w.key)
		if r.err != nil {
			break
		}
		if !given {
			inner = absentTowers[modelType]
		}
		tower := r.within(w.key, inner)
		innerType, given := tower.text("model_type")
		if !given {
			tower.keys = withType(inner, w.innerType)
		} else if same, ok := visionWrappers[innerType]; ok && same.key == w.key {
			// transformers 4 wrote the type of the whole model.
			tower.keys = withType(inner, same.innerType)
		}
		r = tower
	}
	modelType, given := r.text("model_type")
	if _, known := towers[modelType]; given && !known && notRotary[modelType] == "" {
		unknownType(r, modelType, "a vision tower in docs/models.md or a model that holds one", towers)
	}
	return r
}

// arrangement returns the frequencies and the axes of a head whose pairs have two axes: 0 for
// the row, 1 for the column.
type arrangement func(headDim int, base float64, rounding frequency.Rounding) (frequency.Ladder, error)

func rowsThenColumns(headDim int, base float64, rounding frequency.Rounding) (frequency.Ladder, error) {
	return frequency.Axial(base, rounding, headDim/2, headDim/2)
}

func columnsThenRows(headDim int, base float64, rounding frequency.Rounding) (frequency.Ladder, error) {
	ladder, err := rowsThenColumns(headDim, base, rounding)
	for j := range ladder.Axes {
		ladder.Axes[j] = 1 - ladder.Axes[j]
	}
	return ladder, err
}

// columnsAndRows alternates between pairs of columns and pairs of rows.
func columnsAndRows(headDim int, base float64, rounding frequency.Rounding) (frequency.Ladder, error) {
	ladder, err := frequency.AxialInterleaved(headDim, base, rounding)
	for j := range ladder.Axes {
		ladder.Axes[j] = 1 - ladder.Axes[j]
	}
	return ladder, err
}

// axial makes a vision tower of a family.
func (f family) axial(a arrangement) family {
	f.arrangement = a
	f.rule = axialRule
	f.check = func(r *reader) {
		dim, ok := r.integer("head_dim")
		if hidden, _ := hiddenByHeads(r, &f); ok && r.err == nil && dim != hidden {
			r.fail(ErrContradiction, "head_dim", dim, "%s/%s, which is %d", f.names.hidden[0], f.names.heads[0], hidden)
		}
	}
	return f
}

// counting says how a tower counts and orders patches.
func (f family) counting(p Patches) family { f.patches = p; return f }

func axialRule(p *ropeParameters) rule {
	p.failIf(p.ropeType != "default",
		ErrUnknown, "rope_type", quoted(p.ropeType), "\"axial\" or \"default\" in a vision tower (use posenc.RotaryConfig with InvFreq and Axes)")
	if factor, ok := p.number("factor"); ok && factor != 1 {
		p.fail(ErrContradiction, "factor", factor, "1 or absent: vision towers do not scale")
	}
	p.model.failIf(p.headDim%4 != 0, ErrValue, p.headDimKey, kindOf(p.model.lookup(p.headDimKey)), "a multiple of 4 elements in a head, not %d", p.headDim)
	dim, base, arrange := p.headDim, p.base, p.family.arrangement
	return rule{
		ladder: func(_ int, rounding frequency.Rounding) (frequency.Ladder, error) {
			return arrange(dim, base, rounding)
		},
		described: Rule{Name: "axial", Base: base},
	}
}

var (
	towerNames = &spellings{[]string{"hidden_size"}, []string{"num_attention_heads"}, []string{"head_dim"}, []string{"num_hidden_layers"}, nil}
	qwenTower  = &spellings{[]string{"hidden_size"}, []string{"num_heads", "num_attention_heads"}, []string{"head_dim"}, []string{"depth", "num_hidden_layers"}, nil}
	embedTower = &spellings{[]string{"embed_dim"}, []string{"num_heads", "num_attention_heads"}, []string{"head_dim"}, []string{"depth", "num_hidden_layers"}, nil}
	moonTower  = &spellings{[]string{"hidden_size", "vt_hidden_size"}, []string{"num_attention_heads", "vt_num_attention_heads"}, []string{"head_dim"}, []string{"num_hidden_layers", "vt_num_hidden_layers"}, nil}
)

// tower starts a vision tower with the defaults of its configuration class.
func tower(hidden, heads, layers int) family {
	const positions = 1 // not a key of towers, and nothing depends on it
	return decoder(hidden, heads, 0, layers, positions, 1e4).called(towerNames)
}

// from sets the default base.
func (f family) from(base float64) family { f.base = base; return f }

// alternateConvolutions: the first two layers are convolutions. After them, every second layer
// has attention.
func alternateConvolutions(_ *reader, n int) []string {
	return full(n, "conv", func(i int) bool { return i >= 2 && i%2 == 0 })
}

// towers are the vision towers that rotate, by the model_type of their own configuration.
// Source: transformers 5.23; for moonvit and DFNRope_vision_transformer, the code published
// with the models.
var towers = map[string]family{
	"qwen2_vl_vision":               tower(1280, 16, 32).called(embedTower).axial(rowsThenColumns),
	"qwen2_5_vl_vision":             tower(3584, 16, 32).called(qwenTower).axial(rowsThenColumns),
	"qwen2_5_omni_vision_encoder":   tower(3584, 16, 32).called(qwenTower).axial(rowsThenColumns),
	"qwen3_vl_vision":               tower(1152, 16, 27).called(qwenTower).axial(rowsThenColumns),
	"qwen3_vl_moe_vision":           tower(1152, 16, 27).called(qwenTower).axial(rowsThenColumns),
	"qwen3_omni_moe_vision_encoder": tower(1152, 16, 27).called(qwenTower).axial(rowsThenColumns),
	"qwen3_5_vision":                tower(1152, 16, 27).called(qwenTower).axial(rowsThenColumns),
	"qwen3_5_moe_vision":            tower(1152, 16, 27).called(qwenTower).axial(rowsThenColumns),
	"glm4v_vision":                  tower(1536, 12, 24).called(qwenTower).axial(rowsThenColumns),
	"glm4v_moe_vision":              tower(1536, 12, 24).called(qwenTower).axial(rowsThenColumns),
	"glm_ocr_vision":                tower(1024, 16, 24).called(qwenTower).axial(rowsThenColumns),
	"ernie4_5_vl_moe_vision":        tower(1280, 16, 32).called(qwenTower).axial(rowsThenColumns),
	"DFNRope_vision_transformer":    tower(1280, 16, 32).called(embedTower).axial(rowsThenColumns),
	"exaone4_5_vision":              tower(3584, 16, 32).called(qwenTower).axial(rowsThenColumns),
	"paddleocr_vl_vision":           tower(1152, 16, 27).axial(rowsThenColumns).counting(Patches{RowByRow: true}),
	"video_llama_3_vision":          tower(768, 12, 12).axial(rowsThenColumns),
	"pixtral":                       tower(1024, 16, 24).axial(frequency.AxialAlternating).counting(Patches{RowByRow: true}),
	"llama4_vision_model":           tower(768, 16, 34).interleaved().axial(columnsThenRows).counting(Patches{First: 1, RowByRow: true}),
	"moonvit":                       tower(1152, 16, 27).called(moonTower).interleaved().axial(columnsAndRows).counting(Patches{RowByRow: true}),
	"kimi_k25_vision":               tower(1152, 16, 27).called(moonTower).interleaved().axial(columnsAndRows).counting(Patches{RowByRow: true}),
	"cohere_compass_vision":         tower(1152, 16, 27).called(qwenTower).axial(rowsThenColumns),
	"dots3_note_vision_encoder":     tower(1536, 24, 42).axial(rowsThenColumns),
	"glm5_next_vision":              tower(1024, 16, 24).called(qwenTower).axial(rowsThenColumns),
	"lfm3_vl_vision":                tower(1024, 16, 14).from(1e6).layered(typed(alternateConvolutions, "full_attention")).axial(rowsThenColumns),
	"muse_glimmer_vision":           tower(1536, 16, 50).axial(columnsThenRows).counting(Patches{First: 1, RowByRow: true}),
	"muse_spark_vision":             tower(1536, 16, 50).axial(columnsThenRows).counting(Patches{First: 1, RowByRow: true}),
	"qwen4_exp_vision":              tower(1152, 16, 27).called(qwenTower).axial(rowsThenColumns),
	"step3p5_vision":                tower(1536, 16, 47).axial(columnsThenRows).counting(Patches{RowByRow: true}),
	"gemma4_vision":                 refusedType("rotates the two halves of a head separately: rotate twice, with posenc.RotaryConfig of RotaryDim headDim/2 and Base 100, once by columns at Offset 0 and once by rows at Offset headDim/2"),

	// Towers that one RotaryConfig cannot describe, each with what a caller can do.
	"dinov3_vit":           refusedType("rotates by coordinates that are fractions of the image size: compute their cosines and sines and rotate with posenc.NewRows"),
	"eomt_dinov3":          refusedType("rotates by coordinates that are fractions of the image size: compute their cosines and sines and rotate with posenc.NewRows"),
	"sapiens2":             refusedType("rotates by coordinates that are fractions of the image size: compute their cosines and sines and rotate with posenc.NewRows"),
	"mlcd_vision_model":    refusedType("gives its class token a learned angle, in addition to axes of rows and columns: compute the cosines and sines of both and rotate with posenc.NewRows"),
	"mlcd":                 refusedType("gives its class token a learned angle, in addition to axes of rows and columns: compute the cosines and sines of both and rotate with posenc.NewRows"),
	"minimax_m3_vl_vision": refusedType("has three axes of positions (frames, rows and columns), each for a third of the head: use posenc.RotaryConfig with frequency.Axial for three equal parts, and Axes"),
	"sam2_video":           refusedType("rotates queries of one grid and keys of several grids in its attention to memory: use posenc.RotaryConfig with frequency.Axial for each grid"),
	"sam3_tracker_video":   refusedType("rotates queries of one grid and keys of several grids in its attention to memory: use posenc.RotaryConfig with frequency.Axial for each grid"),
	"sam3_vit_model":       refusedType("scales its coordinates by the size of the window: compute their cosines and sines and rotate with posenc.NewRows"),
	"edgetam_video":        refusedType("rotates queries and keys of grids of different sizes in its attention to memory: use posenc.RotaryConfig with frequency.Axial for each grid"),
	"efficientloftr":       refusedType("rotates pairs across the whole hidden size, alternately by rows and by columns counted from 1: compute the cosines and sines of both and rotate with posenc.NewRows"),
	"inkling2_vision":      refusedType("rotates interleaved pairs, first those of columns, then those of rows: use posenc.RotaryConfig with Layout Interleaved, InvFreq and Axes"),
	"vjepa2":               refusedType("multiplies the two elements of a pair by cosines of different angles, which is no rotation: compute it with the model's own formula"),
}

// absentTowers are the keys of towers that files leave out, where a wrapper's class has other
// defaults than the type of the tower.
var absentTowers = map[string]object{
	"mistral_large4": {"hidden_size": number("2048"), "head_dim": number("128"), "num_hidden_layers": number("30")},
}

// visionWrappers are the model types that hold a vision tower.
var visionWrappers = map[string]wrapper{
	"qwen2_vl": {"vision_config", "qwen2_vl_vision"}, "qwen2_5_vl": {"vision_config", "qwen2_5_vl_vision"},
	"qwen3_vl": {"vision_config", "qwen3_vl_vision"}, "qwen3_vl_moe": {"vision_config", "qwen3_vl_moe_vision"},
	"qwen3_5": {"vision_config", "qwen3_5_vision"}, "qwen3_5_moe": {"vision_config", "qwen3_5_moe_vision"},
	"qwen2_5_omni": {"thinker_config", "qwen2_5_omni_thinker"}, "qwen2_5_omni_thinker": {"vision_config", "qwen2_5_omni_vision_encoder"},
	"qwen3_omni_moe": {"thinker_config", "qwen3_omni_moe_thinker"}, "qwen3_omni_moe_thinker": {"vision_config", "qwen3_omni_moe_vision_encoder"},
	"glm4v": {"vision_config", "glm4v_vision"}, "glm46v": {"vision_config", "glm4v_vision"},
	"glm4v_moe": {"vision_config", "glm4v_moe_vision"}, "glm_ocr": {"vision_config", "glm_ocr_vision"},
	"ernie4_5_vl_moe": {"vision_config", "ernie4_5_vl_moe_vision"}, "ernie4_5_moe_vl": {"vision_config", "DFNRope_vision_transformer"},
	"exaone4_5": {"vision_config", "exaone4_5_vision"}, "paddleocr_vl": {"vision_config", "paddleocr_vl_vision"},
	"video_llama_3": {"vision_config", "video_llama_3_vision"},
	"mistral3":      {"vision_config", "pixtral"}, "lighton_ocr": {"vision_config", "pixtral"}, "llama4": {"vision_config", "llama4_vision_model"},
	"kimi_vl": {"vision_config", "moonvit"}, "kimi_k25": {"vision_config", "kimi_k25_vision"},
	"gemma4": {"vision_config", "gemma4_vision"}, "embedding_gemma2": {"vision_config", "gemma4_vision"},
	"gemma3": {"vision_config", "siglip_vision_model"}, "shieldgemma2": {"vision_config", "siglip_vision_model"}, "gemma3n": {"vision_config", "gemma3n_vision"},
	"paligemma": {"vision_config", "siglip_vision_model"}, "llava": {"vision_config", "clip_vision_model"},
	"llava_next": {"vision_config", "clip_vision_model"}, "llava_next_video": {"vision_config", "clip_vision_model"},
	"llava_onevision": {"vision_config", "siglip_vision_model"}, "vipllava": {"vision_config", "clip_vision_model"}, "video_llava": {"vision_config", "clip_vision_model"},
	"mllama": {"vision_config", "mllama_vision_model"}, "idefics2": {"vision_config", "idefics2_vision"}, "idefics3": {"vision_config", "idefics3_vision"},
	"smolvlm": {"vision_config", "smolvlm_vision"}, "aria": {"vision_config", "idefics3_vision"}, "aya_vision": {"vision_config", "siglip_vision_model"},
	"cohere2_vision": {"vision_config", "siglip_vision_model"}, "internvl": {"vision_config", "internvl_vision"}, "internvl_chat": {"vision_config", "intern_vit_6b"},
	"deepseek_vl": {"vision_config", "siglip_vision_model"}, "janus": {"vision_config", "janus_vision_model"}, "lfm2_vl": {"vision_config", "siglip2_vision_model"},
	"colqwen2": {"vlm_config", "qwen2_vl"}, "colpali": {"vlm_config", "paligemma"}, "colmodernvbert": {"vlm_config", "modernvbert"},
	"glmga": {"vision_config", "glm4v_vision"}, "cohere_compass": {"vision_config", "cohere_compass_vision"}, "cosmos3_omni": {"vision_config", "qwen3_vl_vision"},
	"diffusion_gemma": {"vision_config", "gemma4_vision"}, "dots3_note": {"vision_config", "dots3_note_vision_encoder"}, "glm5_next": {"vision_config", "glm5_next_vision"},
	"hyperclovax_vision_v2": {"vision_config", "qwen2_5_vl_vision"}, "lfm3_vl": {"vision_config", "lfm3_vl_vision"}, "minimax_m3_vl": {"vision_config", "minimax_m3_vl_vision"},
	"chmv2": {"backbone_config", "dinov3_vit"}, "sam3_tracker": {"vision_config", "sam3_vision_model"}, "sam3_video": {"detector_config", "sam3"},
	"mistral_large4": {"vision_config", "pixtral"}, "muse_glimmer": {"vision_config", "muse_glimmer_vision"}, "muse_spark": {"vision_config", "muse_spark_vision"},
	"sam3": {"vision_config", "sam3_vision_model"}, "sam3_lite_text": {"vision_config", "sam3_vision_model"}, "sam3_vision_model": {"backbone_config", "sam3_vit_model"}, "pi0": {"vlm_config", "paligemma"},
	"qwen4_exp": {"vision_config", "qwen4_exp_vision"}, "step3p7": {"vision_config", "step3p5_vision"}, "inkling2": {"vision_config", "inkling2_vision"},
	"granite4_vision": {"vision_config", "clip_vision_model"}, "deepseek_vl_hybrid": {"vision_config", "siglip_vision_model"},
	"t5gemma2_encoder": {"vision_config", "siglip_vision_model"}, "ultravbert": {"vision_config", "siglip_vision_model"}, "ovis2": {"vision_config", "ovis2_vision"},
	"got_ocr2": {"vision_config", "got_ocr2_vision"}, "modernvbert": {"vision_config", "siglip_vision_model"}, "hunyuan_vl": {"vision_config", "hunyuan_vl_vision"},
}
