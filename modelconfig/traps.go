package modelconfig

import (
	"slices"

	"github.com/go-posenc/posenc"
	"github.com/go-posenc/posenc/frequency"
	"github.com/go-posenc/posenc/modelconfig/internal/description"
	"github.com/go-posenc/posenc/modelconfig/internal/models"
)

// Trap is something about a model that implementations get wrong: they disagree about it, or
// overlook a key.
type Trap struct {
	Name string `json:"name"` // the name of its test, under TestTrap of this package
	Text string `json:"text"` // what is right
}

// Traps returns the traps of this model: those about its type, its rules or its layout, in
// the order of docs/traps.md, which lists all traps. Rope and Layers avoid
// them; an implementation that you compare with may not.
func (m *Model) Traps() []Trap {
	known := huggingFaceTraps
	if m.of().GGUF {
		known = ggufTraps
	}
	var traps []Trap
	for _, t := range slices.Concat(derivedTraps, known) {
		ruled := func(k description.Kind) bool { return k.Rule.Described.Name == t.rule }
		about := t.typed || t.rule != "" || t.kind != nil || t.of != nil
		if about && (!t.typed || slices.Contains(m.of().Traps, t.Name)) && (t.rule == "" || anyKind(m, ruled)) && (t.kind == nil || anyKind(m, t.kind)) && (t.of == nil || t.of(m)) {
			traps = append(traps, t.Trap)
		}
	}
	return traps
}

// modelTrap is a trap and the models that it is about. A trap without any of these is
// about reading a configuration, so that no Model returns it.
type modelTrap struct {
	Trap
	typed bool                          // only of types or architectures that name it
	rule  string                        // only of models with that rule
	kind  func(k description.Kind) bool // only where it holds for a kind of layers; nil: all
	of    func(m *Model) bool           // which of them; nil: all
}

// hasNoBase reports whether the layers without a window have the base of a file that gives none.
func hasNoBase(m *Model) bool {
	kinds := m.of().Kinds
	full, ok := kinds[description.FullAttention]
	if !ok {
		full = kinds[""]
	}
	return full.Rule.Described.Base == 10000
}

func hasAxes(k description.Kind) bool { return k.Rotary.Axes != nil }

func anyKind(m *Model, is func(k description.Kind) bool) bool {
	for _, k := range m.of().Kinds {
		if is(k) {
			return true
		}
	}
	return false
}

// givesAttentionFactor reports whether the configuration gives the attention factor.
func givesAttentionFactor(k description.Kind) bool {
	switch p := k.Rule.Described.Parameters.(type) {
	case frequency.YaRNParameters:
		return p.AttentionFactor != 0
	case frequency.LongRoPEParameters:
		return p.ShortAttentionFactor != 0 || p.LongAttentionFactor != 0
	}
	return false
}

func yarnUpToFactor1(k description.Kind) bool {
	p, yarn := k.Rule.Described.Parameters.(frequency.YaRNParameters)
	return yarn && p.Factor <= 1
}

// truncateOfKind reports whether rope parameters of a kind of layers say that YaRN does not round its ramp.
func truncateOfKind(m *Model) bool {
	return len(m.of().Kinds) > 1 && anyKind(m, func(k description.Kind) bool {
		p, ok := k.Rule.Described.Parameters.(frequency.YaRNParameters)
		return ok && p.Untruncated
	})
}

// scalesSoftmax reports whether YaRN scales the attention scores.
func scalesSoftmax(k description.Kind) bool { return k.SoftmaxScale != 1 }

// derivedTraps follow from what was read, for every type and both formats.
var derivedTraps = []modelTrap{
	{Trap: Trap{"the_softmax_is_scaled", "YaRN of latent attention also multiplies the scores, by `Layer.SoftmaxScale`: the square of 1 + 0.1 mscale_all_dim ln(factor); other types with the same keys do not scale scores"}, kind: scalesSoftmax},
	{Trap: Trap{"some_layers_do_not_rotate", "`Model.Layers` says which layers rotate; those without rotation leave Q and K as they are"}, of: leavesLayers},
	{Trap: Trap{"several_bases", "kinds of layers have different bases; `LayerRows.Layer` has those of each layer"}, of: severalBases},
	{Trap: Trap{"some_layers_are_scaled", "the scaling rule is of some layers; the others have the frequencies of their base"}, of: scalesSomeLayers},
	{Trap: Trap{"frequencies_depend_on_the_length", "sequences beyond `Model.DependsOnLength` have other frequencies; keys of a cache must be rotated by those of the queries"}, kind: func(k description.Kind) bool { return k.Rule.Trained != 0 }},
	{Trap: Trap{"the_layout_differs_by_file", "the Hub's files have the elements of a head in half-split order, GGUF files in interleaved order, because the conversion reorders the weights of Q and K: take the layout from the description beside the weights"}, of: func(m *Model) bool {
		return models.LayoutDiffers(m.of().ModelType, m.of().GGUF)
	}},
}

func leavesLayers(m *Model) bool {
	return slices.ContainsFunc(m.of().Layers, func(l description.Layer) bool { return !l.Rotates })
}

func severalBases(m *Model) bool {
	return kindsDiffer(m, func(a, b description.FrequencyRule) bool { return a.Base != b.Base })
}

func scalesSomeLayers(m *Model) bool {
	return kindsDiffer(m, func(a, b description.FrequencyRule) bool { return (a.Name == "default") != (b.Name == "default") })
}

func kindsDiffer(m *Model, differ func(a, b description.FrequencyRule) bool) bool {
	return anyKind(m, func(a description.Kind) bool {
		return anyKind(m, func(b description.Kind) bool { return differ(a.Rule.Described, b.Rule.Described) })
	})
}

// huggingFaceTraps are the traps of config.json. docs/traps.md has a line for each.
var huggingFaceTraps = []modelTrap{
	{Trap: Trap{"attention_factor_replaces_the_derived_one", "`attention_factor` is the whole factor on cos and sin, in place of 1 + 0.1 ln(factor)"}, kind: givesAttentionFactor},
	{Trap: Trap{"attn_factor_is_another_key", "`attn_factor` is a key of vLLM and multiplies the derived factor; in rope parameters it is an error"}},
	{Trap: Trap{"yarn_zero_is_absent", "for `beta_fast`, `beta_slow`, `mscale` and `mscale_all_dim`, 0 means the default; `mscale` counts only together with `mscale_all_dim`"}},
	{Trap: Trap{"yarn_up_to_factor_1_has_attention_factor_1", "the attention factor 1 + 0.1 ln(factor) is never below 1"}, kind: yarnUpToFactor1},
	{Trap: Trap{"yarn_truncate", "YaRN rounds its correction range outwards, unless `truncate` is false (gpt-oss)"}, typed: true, rule: "yarn"},
	{Trap: Trap{"yarn_factor_wins_over_the_ratio", "Qwen3 has `factor` 4, although the ratio of its lengths is 1.25; `factor` counts. A null `factor` means the ratio, an absent one is an error, as in transformers"}, typed: true, rule: "yarn"},
	{Trap: Trap{"llama3_smooths_by_frequency", "pairs between the two bounds are interpolated by frequency, not by wavelength"}, rule: "llama3"},
	{Trap: Trap{"llama3_equal_factors", "Llama 4 has `low_freq_factor` = `high_freq_factor` = 1, so no pair lies between the two bounds"}, typed: true, rule: "llama3"},
	{Trap: Trap{"longrope_switches_beyond_the_original_length", "sequences longer than the original length take the long factors, at all their positions; the attention factor is the same for both"}, rule: "longrope"},
	{Trap: Trap{"longrope_has_older_names", "older files call LongRoPE `su`, and early Phi-3 files call it `yarn`"}, typed: true, rule: "longrope"},
	{Trap: Trap{"longrope_original_length_stands_beside_the_rope_parameters", "Phi-3 has `original_max_position_embeddings` at the top level, outside the rope parameters"}, typed: true, rule: "longrope"},
	{Trap: Trap{"longrope_short_and_long_mscale", "PhiMoE and Phi-3 small have one attention factor for short sequences and one for long ones. transformers 5.23 keeps the short factors of PhiMoE for long sequences; transformers 4, vLLM and posenc do not"}, typed: true, rule: "longrope"},
	{Trap: Trap{"dynamic_ntk_grows_from_max_position_embeddings", "dynamic NTK begins beyond `max_position_embeddings`, not beyond the original length"}, rule: "dynamic NTK"},
	{Trap: Trap{"dynamic_ntk_with_alpha_is_static", "HunYuan's `alpha` is the same for sequences of any length"}, typed: true, rule: "NTK alpha"},
	{Trap: Trap{"qwen1_dynamic_ntk_is_its_own", "Qwen 1 has a dynamic NTK rule of its own: the base grows each time the length exceeds a power of two times the trained length"}, typed: true, rule: "dynamic NTK of Qwen"},
	{Trap: Trap{"qwen1_scales_queries_beyond_its_length", "with `use_logn_attn`, the code published with Qwen 1 multiplies queries of position p by ln(p+1)/ln(seq_length) from `seq_length` on (`Layer.QueryScaling`); vLLM 0.33 does not read the key"}, typed: true, of: func(m *Model) bool { return m.of().QueryScale != nil }},
	{Trap: Trap{"dual_chunk_attention_has_other_positions", "in sequences of more than `chunk_size` - `local_size` tokens, the methods of `Layer.DualChunk` make the positions by which keys and queries rotate; transformers does not read the key"}, of: func(m *Model) bool { return m.of().DualChunk.ChunkSize != 0 }},
	{Trap: Trap{"mrope_section_counts_pairs", "sections count pairs and add up to half the rotated elements; transformers 4 doubled them"}, kind: hasAxes},
	{Trap: Trap{"mrope_with_scaling_or_a_part_of_the_head", "sections may come with YaRN (Qwen2.5-VL), and they count pairs of the rotated part only (GLM-4.5V)"}, typed: true},
	{Trap: Trap{"mrope_interleaved", "in Qwen3-VL, time, height and width take pairs in turn; height and width get at most every third pair, for any counts"}, typed: true},
	{Trap: Trap{"mrope_of_ernie_alternates", "in ERNIE 4.5 VL, and in Ling and Ming with `video_rope`, pairs of height and width alternate, and pairs of time follow; ERNIE's sections are height, width, time, Ling's time, height, width"}, typed: true, kind: hasAxes},
	{Trap: Trap{"mrope_of_openpangu_is_spread_evenly", "in openPangu VL with `mrope_interleaved`, each pair is of the axis with the smallest share of its pairs so far, and the last one is of time"}, typed: true},
	{Trap: Trap{"mrope_of_hunyuan_has_four_axes", "`xdrope_section` counts pairs, as in vLLM. transformers 5.23 cuts the doubled table by doubled sections, which gives the two elements of a pair different axes"}, typed: true},
	{Trap: Trap{"partial_rotation_counts_exponents_by_rotary_dim", "frequencies are base^(-2i/rotaryDim), and pairs lie within the rotated part"}, kind: func(k description.Kind) bool { return k.Rotary.RotaryDim < k.Rotary.HeadDim }},
	{Trap: Trap{"proportional_counts_exponents_by_head_dim", "in Gemma 4, frequencies are base^(-2i/headDim), and pairs span the whole head; pairs that do not rotate stay unchanged"}, typed: true, rule: "proportional"},
	{Trap: Trap{"sam3_layers_have_windows", "in SAM 3, layers other than the listed ones count rows and columns from the corner of a window, and the listed ones scale them by the size of a window; columns come first"}, typed: true},
	{Trap: Trap{"odd_rotary_dim", "int(head_dim * factor) may be odd; posenc returns an error"}},
	{Trap: Trap{"rotary_dim_or_partial_rotary_factor", "some types give the number of rotated elements, others their part of a head; if a file has both, they must agree"}},
	{Trap: Trap{"whole_heads_whatever_the_factor_says", "most types rotate whole heads; for these a partial factor other than 1 is an error"}},
	{Trap: Trap{"interleaved_pairs", "GPT-J, Cohere, GLM-4, Helium, ERNIE, Llama 4 and DeepSeek V2 rotate interleaved pairs; GLM-4 MoE, GPT-NeoX and Falcon do not"}, kind: func(k description.Kind) bool { return k.Rotary.Layout == posenc.Interleaved }},
	{Trap: Trap{"deepseek_v3_writes_half_split_pairs", "DeepSeek V3 reads interleaved pairs and writes half-split ones, unless `rope_interleave` is false"}, typed: true},
	{Trap: Trap{"gemma3_scales_global_layers_only", "`rope_scaling` and `rope_theta` apply to global layers only; absent keys have the defaults of the class"}, typed: true},
	{Trap: Trap{"modernbert_is_not_absolute", "`position_embedding_type` says absolute, but the code does not read it: the model rotates"}, typed: true},
	{Trap: Trap{"no_rope_layers_has_1_for_rotation", "in `no_rope_layers`, a layer with 1 rotates and a layer with 0 does not; with an empty list every fourth layer does not rotate"}, typed: true},
	{Trap: Trap{"sliding_layers_only", "Cohere 2, EXAONE 4, AFMoE and LARA Mini rotate only in layers with a window"}, typed: true},
	{Trap: Trap{"chronos_2_says_t5", "files of Chronos-2 have `model_type` `t5`, whose code does not rotate; their `architectures` (`Chronos2Model`) decide. In each block attention over time rotates by patches, and attention over series does not; neither divides scores by the root of the size of a head"}, typed: true},
	{Trap: Trap{"mpt_may_rotate", "MPT rotates where `attn_config.rope` is true, by the code published with it (LLM Foundry); else it has ALiBi or learned positions. The class of transformers has ALiBi in any case"}, typed: true},
	{Trap: Trap{"falcon_with_alibi", "some models of Falcon and Baichuan have ALiBi instead of rotation"}, typed: true},
	{Trap: Trap{"position_embedding_type_of_encoders", "Jina v3 and BGE-M3 are both `xlm-roberta`; only in Jina v3 is `position_embedding_type` `rotary`. For GTE an absent key means `rope`"}, typed: true},
	{Trap: Trap{"hybrid_models_without_rope", "Granite 4 hybrids with `position_embedding_type` `nope` do not rotate"}, typed: true},
	{Trap: Trap{"zamba2_layers_are_of_54", "the default list of attention layers is for a model of 54 layers; Zamba2's heads are twice as wide as usual"}, typed: true},
	{Trap: Trap{"ling_rotates_half_heads_or_whole", "`bailing_moe` is the type of Ling 1.5, which rotates whole heads, and of Ling 2, which has `partial_rotary_factor` 0.5"}, typed: true},
	{Trap: Trap{"two_names_of_one_key", "if a value appears under two names, both must be equal"}},
	{Trap: Trap{"keys_that_nothing_reads", "a key that names rope or rotary is an error if the type does not have it, because a setting that is silently ignored gives wrong output"}},
	{Trap: Trap{"keys_beside_text_config", "rope keys outside `text_config` must agree with those inside"}},
	{Trap: Trap{"keys_in_place_of_text_config", "files of LLaVA and Gemma 3 without the object of their text model have its keys beside the others, as those of LLaVA 1.5; transformers 5.24 does not read them there, and takes its defaults"}},
	{Trap: Trap{"head_dim_may_differ_from_hidden_by_heads", "an absent `head_dim` has the default of the class; null means hidden size divided by heads"}},
	{Trap: Trap{"truncate_of_a_kind_of_layers", "`truncate` in the rope parameters of a kind of layers is false for that kind; transformers 5.24 looks for it beside the kinds, where it does not stand, and rounds"}, of: truncateOfKind},
	{Trap: Trap{"base_that_transformers_5_leaves_unread", "in some types transformers 5 takes the base of the class, and leaves one beside the rope parameters unread: `rope_theta` of GPT-NeoX, OLMo 3, Apertus, CWM and MiMo V2 Flash, `theta` of LFM2. transformers 4 read it, and so does posenc. In `rope_parameters` all read it"}, of: func(m *Model) bool { return m.of().BaseUnread }},
	{Trap: Trap{"rope_scaling_that_transformers_5_leaves_unread", "transformers 5 does not read `type` in `rope_scaling` of Gemma 3, Gemma 3n, T5Gemma 2, OLMo 3 and ModernBERT, and nothing of `rope_scaling` of Cohere 2 MoE: there it does not scale. transformers 4 read it, and so does posenc. `rope_type` in `rope_parameters` all read"}, of: func(m *Model) bool { return m.of().ScalingUnread }},
	{Trap: Trap{"chatglm_rope_ratio_multiplies_the_base", "`rope_ratio` multiplies the base 10000. In ChatGLM2 it divides positions, and only the model's name tells it from ChatGLM3. ChatGLM-6B has the same type but positions with two axes. ChatGLM2 with this key, and ChatGLM-6B, are errors"}, typed: true},
	{Trap: Trap{"xverse_has_its_base_in_its_code", "XVERSE's files do not give the base, and it differs between its models: add `rope_theta`"}, typed: true},
	{Trap: Trap{"base_that_vLLM_leaves_unread", "the code published with Param2 MoE, and Huawei's of openPangu Pro MoE V2, take the base from `rope_theta`; vLLM 0.33 takes 10000 for both, also where the file has another"}, typed: true},
	{Trap: Trap{"nomic_bert_scaling", "`rotary_scaling_factor` is the factor of dynamic NTK, beyond `max_trained_positions`"}, typed: true, rule: "dynamic NTK"},
	{Trap: Trap{"deepseek_v4_rotates_the_tail", "DeepSeek V4 rotates the last elements of a head; it has two lists of frequencies, and attention factor 1"}, typed: true},
	{Trap: Trap{"infinity_and_nan", "Python writes Infinity and NaN into JSON; they are errors in rope keys and ignored in other keys"}},
	{Trap: Trap{"qwen2_vl_tower_has_embed_dim", "the head size of Qwen2-VL's tower is `embed_dim` divided by `num_heads`; its `hidden_size` is that of the text model"}, typed: true},
	{Trap: Trap{"pixtral_shares_one_ladder", "in Pixtral rows take the even frequencies of a head and columns the odd ones; the pairs of rows are the first half"}, typed: true},
	{Trap: Trap{"llama4_vision_has_columns_first", "in Llama 4's tower the first half of the pairs rotates by columns; rows and columns count from 1"}, typed: true},
	{Trap: Trap{"draft_of_muse_spark_rotates_neighbours", "the draft head of Muse Spark (muse_spark_dspark) has its weights in interleaved pairs, Muse Spark itself in half-split ones, which vLLM and SGLang permute"}, typed: true},
	{Trap: Trap{"transformers_permutes_rotated_weights", "In the files of Gradium Phonon TTS, and of the towers of Step 3.7, Step 5 and Mistral Large 4, interleaved pairs rotate. transformers permutes the weights when it loads them, and rotates half-split pairs"}, typed: true},
	{Trap: Trap{"moonvit_alternates_columns_and_rows", "MoonViT rotates interleaved pairs: even pairs by columns, odd pairs by rows. A comment in the published code says the opposite, and transformers permutes the weights to half-split pairs"}, typed: true},
	{Trap: Trap{"gemma4_vision_is_not_one_rotation", "Gemma 4's tower rotates the two halves of a head separately, columns first, although transformers calls them height"}},
	{Trap: Trap{"minimax_rotates_rotary_dim", "`rotary_dim` elements rotate, as in vLLM for MiniMax-Text-01; transformers reads neither this key nor a partial factor"}, typed: true},
	{Trap: Trap{"minimax_m3_rotates_half_heads", "MiniMax M3 rotates 64 of 128 elements, as in vLLM, whether a file gives `rotary_dim`, `partial_rotary_factor` or neither; transformers 5.23 reads the factor alone, and rotates whole heads without it"}, typed: true},
	{Trap: Trap{"mimo_yarn_keeps_the_part", "MiMo V2 Flash rotates 64 of 192 elements with every rule; transformers rotates whole heads for rules other than the default without a partial factor"}, typed: true},
	{Trap: Trap{"dbrx_has_its_base_in_attn_config", "DBRX has its base in `attn_config.rope_theta`; transformers 4 and vLLM read it, transformers 5.23 uses 10000"}, typed: true},
	{Trap: Trap{"bamba_counts_by_attn_rotary_emb", "published files of Bamba give the number of rotated elements as `attn_rotary_emb`"}, typed: true},
	{Trap: Trap{"longcat_has_two_attentions_in_a_layer", "`num_layers` counts layers with two attentions each; `Layers` has one entry for each attention"}, typed: true},
	{Trap: Trap{"nanochat_turns_the_other_way", "the sine has the opposite sign, so frequencies are negative"}, typed: true},
	{Trap: Trap{"indexers_rotate_otherwise", "indexers may rotate otherwise than the attention: half-split instead of interleaved pairs (DeepSeek V3.2), the last elements of a head (V4), pairs by a key (GLM)"}, typed: true},
	{Trap: Trap{"bases_by_layer", "a list gives the base of each layer; 0 means that the layer does not rotate"}, typed: true},
	{Trap: Trap{"hy_v4_rotates_interleaved_pairs", "the files of HY V4 have interleaved pairs, in the attention and in the last elements of its indexers' heads: vLLM, SGLang and llama.cpp rotate these, transformers 5.23 half-split ones"}, typed: true},
	{Trap: Trap{"hy_v4_scales_scores_with_yarn", "with YaRN and `mscale_all_dim`, the scores of HY V4 are multiplied by `SoftmaxScale`, as in transformers; vLLM multiplies them by no such factor"}, typed: true},
	{Trap: Trap{"ling_2.5_rotates_linear_layers", "two models have the type bailing_hybrid. In Ling 2.5 (BailingMoeV2_5, or `group_norm_size` without `short_conv_kernel_size`) layers of linear attention rotate a part of whole heads, half-split, as in its authors' code, vLLM and SGLang; transformers 5.23 has only the later model, whose linear layers do not rotate"}, typed: true},
	{Trap: Trap{"k2_horizon_rotates_pairs_of_the_whole_head", "K2 Horizon rotates elements j and j + head_dim/2 for j below rope_head_dim/2, with frequencies base^(-2j/rope_head_dim): `RotaryDim` is the whole head, and the other frequencies are 0"}, typed: true},
	{Trap: Trap{"moondream3_scales_queries_and_values", "Moondream 3 multiplies each head of Q by a learned factor, and each head of V by another, before the rotation: tanh(gelu(qkv)·wq) + 1/2 + sigmoid(alpha·ln(p+1)), with weights `tau`. Nothing here computes it, since it depends on the token"}, typed: true},
	{Trap: Trap{"iquest_q1_lists_layers_that_do_not_rotate", "`no_rope_layers` has the numbers of the layers that do not rotate; in other types it is a flag for each layer. `layer_types` is not read"}, typed: true},
	{Trap: Trap{"dory_lists_mlps_as_layers", "`layer_types` of published files has an entry for each attention and each MLP, and `num_hidden_layers` counts both, as vLLM and llama.cpp number them. So do `Model.Layers` and `Rows.Layer`; transformers makes one layer of two entries"}, typed: true},
	{Trap: Trap{"plamo2_has_a_base_for_windows", "layers outside `full_attention_idx` have the base `rope_local_theta`, if a file has one, as in the MLX server of PLaMo Translate; vLLM, which had the type before 0.33, took one base for all"}, typed: true},
	{Trap: Trap{"mistral_large_4_learns_its_frequencies", "the model learns factors on its frequencies, e to the power of a tensor; pass them as `RopeOptions.FrequencyFactors`"}, typed: true},
	{Trap: Trap{"fope_pads_sines_with_1", "pairs beyond the kept frequencies have cosine 1 and sine 1, so they are not left as they are: the model's own code, the author of FoPE (TsinghuaC3I/Fourier-Position-Embedding #6), vLLM 0.33 and SGLang 0.5.23. vLLM #55204 and #55243 call the 1 a fault and pad sines with 0"}, typed: true},
	{Trap: Trap{"beam_scales_queries_without_rotation", "layers without rotation scale queries by a power of the position (`posenc.PowerOfRatio`); the configuration does not say so"}, typed: true},
	{Trap: Trap{"ministral_3_scales_queries_beyond_its_original_length", "in files of Ministral 3, queries are scaled by `llama_4_scaling_beta` from `original_max_position_embeddings` on, as in transformers; SGLang 0.5.23 counts from `max_position_embeddings`, and vLLM 0.33 reads only the `llama_4_scaling` of params.json"}, typed: true},
	{Trap: Trap{"grok_2_says_git", "files of Grok 2 have `model_type` `git`, a model of transformers that does not rotate: their `architectures` (`Grok1ForCausalLM`) decide, or `Options.Type` `grok-1`. Their rule stands beside the rope parameters (`rope_type`, `scaling_factor`), and its attention factor multiplies nothing"}, typed: true},
	{Trap: Trap{"grok_scales_scores_after_their_cap", "with `attn_temperature_len`, SGLang multiplies scores of positions beyond it by ln(position)/ln(attn_temperature_len), which `Layer.QueryScaling` has, after their soft cap (30): scale the capped scores, or the queries where there is no cap. llama.cpp reads the key and does not scale"}, typed: true, of: func(m *Model) bool { return m.of().QueryScale != nil }},
	{Trap: Trap{"telechat_stretches_its_base_in_steps", "the code published with TeleChat stretches the base beyond `base_seqlen` (in older files a number in the code, 4096 or 8192) and multiplies cosines and sines by 1 + 0.1 ln(length/training_seqlen); vLLM 0.33 does neither"}, typed: true},
	{Trap: Trap{"telechat3_yarn_grows_by_0.07", "`rope_type` `telechat3-yarn` has the attention factor 1 + 0.07 mscale ln(factor), at least 1, in its authors' code; vLLM 0.33 leaves out `mscale` and goes below 1 for a factor below 1"}, typed: true},
	{Trap: Trap{"dense_layers_of_cohere2_moe_rotate", "the leading dense layers rotate although they have no window"}, typed: true},
	{Trap: Trap{"llama4_scales_queries_without_rotation", "layers without rotation scale queries from position 8191 on, because the formula has p+1; Ministral 3 scales them in all layers, from position 16384 on"}, typed: true},
}

// ggufTraps are the traps of GGUF files.
var ggufTraps = []modelTrap{
	{Trap: Trap{"attention_factor_of_YaRN_counts_once", "YaRN multiplies cos and sin by 1 + 0.1 ln(factor) once; `attn_factor` multiplies this factor"}, rule: "yarn"},
	{Trap: Trap{"yarn_attn_factor_is_not_attn_factor", "llama.cpp does not read `yarn_attn_factor` together with YaRN; it is an error unless it changes nothing"}, rule: "yarn"},
	{Trap: Trap{"attention_factor_without_YaRN", "`attn_factor` multiplies cos and sin under every rule"}},
	{Trap: Trap{"scores_of_DeepSeek", "in DeepSeek's files `yarn_log_multiplier` is a tenth of mscale_all_dim; it scales the attention scores"}, kind: scalesSoftmax},
	{Trap: Trap{"Mistral_3_has_mscale_all_dim_itself", "in Mistral 3's files `yarn_log_multiplier` is mscale_all_dim itself, not a tenth of it"}, typed: true},
	{Trap: Trap{"rotated_part_of_latent_attention", "with latent attention `HeadDim` is `dimension_count`, also where `key_length` differs"}, of: func(m *Model) bool { return m.of().Latent }},
	{Trap: Trap{"LongRoPE_switches_after_the_original_length", "the short and long factors of LongRoPE are tensors; sequences longer than the original length take the long ones"}, rule: "longrope"},
	{Trap: Trap{"factor_applies_to_longrope_and_to_factors,_too", "`scaling.factor` divides frequencies in addition to the tensors"}},
	{Trap: Trap{"factor_0_is_none", "`scaling.factor` 0 means 1"}},
	{Trap: Trap{"local_base_of_Gemma_3", "in Gemma 3, layers with a window have base 10000 and no scaling; files do not say so"}, typed: true},
	{Trap: Trap{"absent_base_of_Gemma_3", "a file of Gemma 3 without `rope.freq_base` has base 10000 in all layers, as in llama.cpp, although the model has 1000000 in layers of full attention; in files that ollama converted the base is 1000000"}, typed: true, of: hasNoBase},
	{Trap: Trap{"heads_of_Gemma_4", "in Gemma 4, layers with a window have narrower heads"}, typed: true},
	{Trap: Trap{"half_of_the_head_in_Step_3.5", "in Step 3.5, layers of full attention rotate half of `dimension_count`"}, typed: true},
	{Trap: Trap{"sections_of_Qwen3-VL_without_a_fourth_axis", "pairs beyond the three sections take the position of time"}, typed: true},
	{Trap: Trap{"beta_fast_of_Grok", "Grok's `yarn_beta_fast` is 8 if absent"}, typed: true},
}
