package modelconfig

import (
	"slices"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
)

// Trap is where implementations disagree about a model, or a key that is easily overlooked.
type Trap struct {
	Name string `json:"name"` // of its test in this package, TestTrap or TestTrapGGUF
	Text string `json:"text"` // what is true
}

// Traps returns the traps of this model: those that are about its type, its rules or its
// layout, in the order of docs/models.md, which has all. What Rotary, RotaryFor and the other
// methods return is right already; an implementation that it is compared with may not be.
func (m *Model) Traps() []Trap {
	if m == nil {
		return nil
	}
	known := huggingFaceTraps
	if m.format == fromGGUF {
		known = ggufTraps
	}
	var traps []Trap
	for _, t := range known {
		about := t.types != nil || t.of != nil
		if about && (t.types == nil || slices.Contains(t.types, m.modelType)) && (t.of == nil || t.of(m)) {
			traps = append(traps, t.Trap)
		}
	}
	return traps
}

// modelTrap is a trap and the models that it is about. One that has neither types nor of is
// about reading a configuration: a model that was read is past it.
type modelTrap struct {
	Trap
	types []string            // model types or architectures; nil: any
	of    func(m *Model) bool // which of them; nil: all
}

// anyKind says whether a kind of layers of a model is such.
func anyKind(m *Model, is func(k kind) bool) bool {
	for _, k := range m.kinds {
		if is(k) {
			return true
		}
	}
	return false
}

func ruled(name string) func(m *Model) bool {
	return func(m *Model) bool {
		return anyKind(m, func(k kind) bool { return k.rule.described.Name == name })
	}
}

// ownAttentionFactor: the configuration has it.
func ownAttentionFactor(m *Model) bool {
	return anyKind(m, func(k kind) bool {
		switch p := k.rule.described.Parameters.(type) {
		case frequency.YaRNParameters:
			return p.AttentionFactor != 0
		case frequency.LongRoPEParameters:
			return p.ShortAttentionFactor != 0 || p.LongAttentionFactor != 0
		}
		return false
	})
}

func yarnUpToFactor1(m *Model) bool {
	return anyKind(m, func(k kind) bool {
		p, yarn := k.rule.described.Parameters.(frequency.YaRNParameters)
		return yarn && p.Factor <= 1
	})
}

// scalesSoftmax: YaRN scales the attention scores.
func scalesSoftmax(m *Model) bool {
	return anyKind(m, func(k kind) bool {
		p, yarn := k.rule.described.Parameters.(frequency.YaRNParameters)
		return yarn && p.ScaleSoftmax && p.MScaleAllDim != 0
	})
}

func sectioned(m *Model) bool {
	return anyKind(m, func(k kind) bool { return k.rotary.Axes != nil })
}

func partial(m *Model) bool {
	return anyKind(m, func(k kind) bool { return k.rotary.RotaryDim < k.rotary.HeadDim })
}

func interleaved(m *Model) bool {
	return anyKind(m, func(k kind) bool { return k.rotary.Layout == posenc.Interleaved })
}

// huggingFaceTraps are those of config.json. docs/models.md has a line of each.
var huggingFaceTraps = []modelTrap{
	{Trap: Trap{"attention_factor_replaces_the_derived_one", "`attention_factor` is the whole factor on cos and sin, in place of 1 + 0.1 ln(factor)"}, of: ownAttentionFactor},
	{Trap: Trap{"attn_factor_is_another_key", "`attn_factor` is vLLM's and multiplies the derived factor; in rope parameters it is an error"}},
	{Trap: Trap{"yarn_zero_is_absent", "0 for `beta_fast`, `beta_slow`, `mscale`, `mscale_all_dim` means the default; `mscale` counts only with `mscale_all_dim`"}},
	{Trap: Trap{"yarn_up_to_factor_1_has_attention_factor_1", "1 + 0.1 ln(factor) is never below 1"}, of: yarnUpToFactor1},
	{Trap: Trap{"yarn_truncate", "the correction range is rounded outwards unless `truncate` is false (gpt-oss)"}, types: []string{"gpt_oss", "openai_privacy_filter"}, of: ruled("yarn")},
	{Trap: Trap{"yarn_factor_wins_over_the_ratio", "Qwen3 has `factor` 4 beside a ratio of lengths of 1.25"}, types: []string{"qwen3"}, of: ruled("yarn")},
	{Trap: Trap{"llama3_smooths_by_frequency", "the pairs between are interpolated by frequency, not wavelength"}, of: ruled("llama3")},
	{Trap: Trap{"llama3_equal_factors", "Llama 4 has `low_freq_factor` = `high_freq_factor` = 1: no pair lies between"}, types: []string{"llama4_text"}, of: ruled("llama3")},
	{Trap: Trap{"longrope_switches_beyond_the_original_length", "long factors from original length + 1 on, for all positions; one attention factor"}, of: ruled("longrope")},
	{Trap: Trap{"longrope_has_older_names", "`su`, and `yarn` in early Phi-3 files"}, types: []string{"phi3", "phi3_v", "phi4_multimodal", "phi4mm"}, of: ruled("longrope")},
	{Trap: Trap{"longrope_original_length_stands_beside_the_rope_parameters", "Phi-3 has the original length at the top level"}, types: []string{"phi3", "phi3_v", "phi4_multimodal", "phi4mm"}, of: ruled("longrope")},
	{Trap: Trap{"longrope_short_and_long_mscale", "PhiMoE has an attention factor for each range (transformers 5.23 keeps the short factors for long sequences; transformers 4 and vLLM do not, nor does this)"}, types: []string{"phimoe"}, of: ruled("longrope")},
	{Trap: Trap{"dynamic_ntk_grows_from_max_position_embeddings", "`max_position_embeddings`, not the original length"}, of: ruled("dynamic NTK")},
	{Trap: Trap{"dynamic_ntk_with_alpha_is_static", "HunYuan's `alpha` does not depend on the sequence"}, types: []string{"hunyuan", "hunyuan_v1_dense", "hunyuan_v1_moe", "hunyuan_vl_text"}, of: ruled("NTK alpha")},
	{Trap: Trap{"qwen1_dynamic_ntk_is_its_own", "Qwen 1 grows by powers of two"}, types: []string{"qwen"}, of: ruled("dynamic NTK of Qwen")},
	{Trap: Trap{"mrope_section_counts_pairs", "sections add up to half the rotary dimension; transformers 4 doubled them"}, of: sectioned},
	{Trap: Trap{"mrope_with_scaling_or_a_part_of_the_head", "sections go with YaRN (Qwen2.5-VL) and count pairs of the rotated part (GLM-4.5V)"}, types: []string{"qwen2_5_vl_text", "glm4v_moe_text"}},
	{Trap: Trap{"mrope_interleaved", "in Qwen3-VL pairs of time, height and width follow one another; height and width get every third pair at most, whatever their counts"}, types: []string{"qwen3_vl_text", "qwen3_vl_moe_text"}},
	{Trap: Trap{"mrope_of_ernie_alternates", "ERNIE 4.5 VL: height and width alternate, then time"}, types: []string{"ernie4_5_vl_moe_text", "ernie4_5_moe_vl"}},
	{Trap: Trap{"mrope_of_hunyuan_has_four_axes", "`xdrope_section` in pairs, as vLLM; transformers 5.23 cuts the doubled table by doubled sections, which gives the two elements of a pair different axes"}, types: []string{"hunyuan_vl_text"}},
	{Trap: Trap{"partial_rotation_counts_exponents_by_rotary_dim", "base^(-2i/rotaryDim), pairs within the rotated part"}, of: partial},
	{Trap: Trap{"proportional_counts_exponents_by_head_dim", "Gemma 4: base^(-2i/headDim), pairs over the whole head, the others stay as they are"}, types: []string{"gemma4_text", "gemma4_unified_text", "diffusion_gemma_text", "lfm3"}, of: ruled("proportional")},
	{Trap: Trap{"odd_rotary_dim", "int(head_dim * factor) may be odd, which is an error here"}},
	{Trap: Trap{"rotary_dim_or_partial_rotary_factor", "some types count elements, some give their part of a head; both must agree"}},
	{Trap: Trap{"whole_heads_whatever_the_factor_says", "most types rotate whole heads, and a factor other than 1 is an error"}},
	{Trap: Trap{"interleaved_pairs", "GPT-J, Cohere, GLM-4, Helium, ERNIE, Llama 4 and DeepSeek V2 are interleaved; GLM-4 MoE, GPT-NeoX and Falcon do not"}, of: interleaved},
	{Trap: Trap{"deepseek_v3_writes_half_split_pairs", "it reads interleaved pairs and writes half-split ones, unless `rope_interleave` is false"}, types: []string{"deepseek_v3", "deepseek_v32", "kimi_k2"}},
	{Trap: Trap{"deepseek_scales_the_softmax", "g(factor, mscale_all_dim) squared on the scores of latent attention, 1 for other types with the same keys"}, types: []string{"deepseek_v2", "deepseek_v3", "deepseek_v32", "kimi_k2"}, of: scalesSoftmax},
	{Trap: Trap{"gemma3_scales_global_layers_only", "`rope_scaling` and `rope_theta` are about global layers; defaults of the class count where keys are absent"}, types: []string{"gemma3_text"}},
	{Trap: Trap{"modernbert_is_not_absolute", "`position_embedding_type` says absolute and means nothing"}, types: []string{"modernbert", "modernbert-decoder"}},
	{Trap: Trap{"no_rope_layers_has_1_for_rotation", "1 rotates, 0 does not; an empty list means every fourth does not"}, types: []string{"smollm3", "llama4_text", "mistral_large4_text"}},
	{Trap: Trap{"sliding_layers_only", "Cohere 2, EXAONE 4 and AFMoE rotate layers with a window only"}, types: []string{"cohere2", "exaone4", "afmoe"}},
	{Trap: Trap{"falcon_with_alibi", "Falcon and Baichuan come with ALiBi as well"}, types: []string{"falcon", "baichuan"}},
	{Trap: Trap{"position_embedding_type_of_encoders", "Jina v3 says `xlm-roberta` as BGE-M3 does; `rotary` tells them apart. GTE has `rope` where it is absent"}, types: []string{"xlm-roberta", "new", "gte", "esm"}},
	{Trap: Trap{"hybrid_models_without_rope", "Granite 4 hybrids say `nope`"}, types: []string{"granitemoehybrid"}},
	{Trap: Trap{"zamba2_layers_are_of_54", "the layers of the class are of a model of 54; Zamba2's heads are twice as wide as usual"}, types: []string{"zamba2"}},
	{Trap: Trap{"ling_rotates_half_heads_or_whole", "`bailing_moe` is Ling 1.5, which rotates whole heads, and Ling 2, which has `partial_rotary_factor` 0.5"}, types: []string{"bailing_moe"}},
	{Trap: Trap{"two_names_of_one_key", "a value under two names has to be the same"}},
	{Trap: Trap{"keys_that_nothing_reads", "a key that names rope or rotary and that the type does not have is an error: a setting dropped in silence gives wrong numbers"}},
	{Trap: Trap{"keys_beside_text_config", "what stands beside `text_config` has to agree with it"}},
	{Trap: Trap{"head_dim_may_differ_from_hidden_by_heads", "an absent `head_dim` has the default of the class, null means hidden size by heads"}},
	{Trap: Trap{"chatglm_rope_ratio_multiplies_the_base", "`rope_ratio` is a factor on 10000, but in ChatGLM2 a divisor of positions, and only the name tells it from ChatGLM3; ChatGLM-6B has the same type and positions of two axes. Both are errors"}, types: []string{"chatglm"}},
	{Trap: Trap{"xverse_has_its_base_in_its_code", "XVERSE's files have no base, and its models have two: `rope_theta` has to be added"}, types: []string{"xverse"}},
	{Trap: Trap{"nomic_bert_scaling", "`rotary_scaling_factor` is dynamic NTK beyond `max_trained_positions`"}, types: []string{"nomic_bert"}, of: ruled("dynamic NTK")},
	{Trap: Trap{"deepseek_v4_rotates_the_tail", "the last elements of a head, two lists of frequencies, attention factor 1"}, types: []string{"deepseek_v4"}},
	{Trap: Trap{"infinity_and_nan", "Python writes Infinity and NaN; harmless where nobody asks, an error in rope keys"}},
	{Trap: Trap{"qwen2_vl_tower_has_embed_dim", "heads of Qwen2-VL's tower are `embed_dim` by `num_heads`; its `hidden_size` is the text model's"}, types: []string{"qwen2_vl_vision", "DFNRope_vision_transformer"}},
	{Trap: Trap{"pixtral_shares_one_ladder", "rows have the even frequencies of a head, columns the odd ones, in halves"}, types: []string{"pixtral"}},
	{Trap: Trap{"llama4_vision_has_columns_first", "the first half of the pairs rotates by columns; both count from 1"}, types: []string{"llama4_vision_model"}},
	{Trap: Trap{"moonvit_alternates_columns_and_rows", "interleaved pairs, the even ones rotate by columns, the odd ones by rows; the published code's own comment says the opposite, and transformers permutes the weights to half-split pairs"}, types: []string{"moonvit", "kimi_k25_vision"}},
	{Trap: Trap{"gemma4_vision_is_not_one_rotation", "halves of a head apart, columns first, though the code of transformers calls them height"}},
	{Trap: Trap{"minimax_rotates_rotary_dim", "`rotary_dim` elements rotate, as vLLM has it for MiniMax-Text-01; the class of transformers reads neither that nor a partial factor"}, types: []string{"minimax", "minimax_text_01", "minimax_m1", "minimax_m3_vl_text"}},
	{Trap: Trap{"mimo_yarn_keeps_the_part", "MiMo V2 Flash rotates 64 of 192 elements whatever the rule; transformers takes whole heads for a YaRN block without a partial factor"}, types: []string{"mimo_v2_flash"}},
	{Trap: Trap{"dbrx_has_its_base_in_attn_config", "transformers 4 and vLLM take `attn_config.rope_theta`; transformers 5.23 takes 10000"}, types: []string{"dbrx"}},
	{Trap: Trap{"bamba_counts_by_attn_rotary_emb", "published files say the rotated elements as `attn_rotary_emb`"}, types: []string{"bamba"}},
	{Trap: Trap{"longcat_has_two_attentions_in_a_layer", "`num_layers` counts layers, of two attentions each: `Layers` has one entry for each attention"}, types: []string{"longcat_flash"}},
	{Trap: Trap{"nanochat_turns_the_other_way", "the sine has the other sign: frequencies are below 0"}, types: []string{"nanochat"}},
	{Trap: Trap{"indexers_rotate_otherwise", "half-split beside interleaved attention (DeepSeek V3.2), the last elements (V4), by a key (GLM)"}, types: []string{"deepseek_v32", "deepseek_v4", "glm_moe_dsa", "axk2"}},
	{Trap: Trap{"bases_by_layer", "a list has a base for each layer, and 0 for one that does not rotate"}, types: []string{"granite_swa", "granitemoe_swa", "muse_glimmer_text", "muse_spark_text", "step3p5"}},
	{Trap: Trap{"mistral_large_4_learns_its_frequencies", "e to the power of a tensor multiplies them: `RotaryOptions.FrequencyFactors`"}, types: []string{"mistral_large4_text"}},
	{Trap: Trap{"beam_scales_queries_without_rotation", "by a power of the position (`posenc.PowerOfRatio`), which its configuration does not say"}, types: []string{"beam"}},
	{Trap: Trap{"dense_layers_of_cohere2_moe_rotate", "leading dense layers rotate without a window"}, types: []string{"cohere2_moe"}},
	{Trap: Trap{"llama4_scales_queries_without_rotation", "from position 8191 on, as p+1 counts; Ministral 3 from 16384 on, in all layers"}, types: []string{"llama4_text"}},
}

// ggufTraps are those of GGUF files.
var ggufTraps = []modelTrap{
	{Trap: Trap{"attention_factor_of_YaRN_counts_once", "1 + 0.1 ln(factor) on cos and sin, once; `attn_factor` multiplies it"}, of: ruled("yarn")},
	{Trap: Trap{"yarn_attn_factor_is_not_attn_factor", "llama.cpp does not read it together with YaRN: an error unless it changes nothing"}, of: ruled("yarn")},
	{Trap: Trap{"attention_factor_without_YaRN", "`attn_factor` multiplies cos and sin under every rule"}},
	{Trap: Trap{"scores_of_DeepSeek", "`yarn_log_multiplier` is a tenth of mscale_all_dim and scales the scores"}, of: scalesSoftmax},
	{Trap: Trap{"Mistral_3_has_mscale_all_dim_itself", "there it is not a tenth"}, types: []string{"mistral3"}},
	{Trap: Trap{"rotated_part_of_latent_attention", "`HeadDim` is `dimension_count`, whatever `key_length` says"}, of: (*Model).LatentAttention},
	{Trap: Trap{"LongRoPE_switches_after_the_original_length", "short and long factors are tensors"}, of: ruled("longrope")},
	{Trap: Trap{"factor_applies_to_longrope_and_to_factors,_too", "`scaling.factor` divides beside the tensors"}},
	{Trap: Trap{"factor_0_is_none", "0 means 1"}},
	{Trap: Trap{"local_base_of_Gemma_3", "layers with a window have base 10000 and no factor, and files do not say so"}, types: []string{"gemma3"}},
	{Trap: Trap{"heads_of_Gemma_4", "layers with a window have narrower heads"}, types: []string{"gemma4"}},
	{Trap: Trap{"half_of_the_head_in_Step_3.5", "full layers rotate half of `dimension_count`"}, types: []string{"step35"}},
	{Trap: Trap{"sections_of_Qwen3-VL_without_a_fourth_axis", "pairs beyond the sections take the position of time"}, types: []string{"qwen3vl", "qwen3vlmoe", "qwen35", "qwen35moe", "qwen3tts", "qwen4exp", "clef"}},
	{Trap: Trap{"beta_fast_of_Grok", "8 where the key is absent"}, types: []string{"grok"}},
}
