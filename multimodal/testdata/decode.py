"""Where decoding goes on: the positions of the tokens that generate() of transformers decodes.

Small models of random weights run their own generate() on a prompt that ends with an image,
and on one with a long video before text. What their rotary embedding receives is written:
decode.json.gz.

    python3 decode.py    write decode.json.gz
"""

import gzip
import json
import os
import pathlib
import sys

os.environ["ATEN_CPU_CAPABILITY"] = "avx2"

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent / "modelconfig" / "testdata" / "transformers"))

import survey
import torch
import transformers

IMAGE, VIDEO, START, END, VIDEO_START, VIDEO_END = 40, 41, 42, 43, 47, 48
IDS = {
    "image_token_id": IMAGE, "video_token_id": VIDEO, "vision_start_token_id": START, "vision_end_token_id": END, "audio_token_id": 44, "audio_start_token_id": 45,
    "audio_end_token_id": 46, "image_start_token_id": START, "image_end_token_id": END, "video_start_token_id": VIDEO_START, "video_end_token_id": VIDEO_END,
}
VISION = {
    "hidden_size": 32, "embed_dim": 32, "d_model": 32, "num_heads": 2, "num_attention_heads": 2, "depth": 1, "num_hidden_layers": 1, "intermediate_size": 32, "patch_size": 2,
    "temporal_patch_size": 2, "spatial_merge_size": 2, "out_hidden_size": 32, "deepstack_visual_indexes": [0], "fullatt_block_indexes": [0], "window_size": 8, "image_size": 16,
    "num_position_embeddings": 16, "text_hidden_size": 32,
}
TEXT = {
    "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16, "intermediate_size": 32, "vocab_size": 64,
    "num_experts": 4, "num_experts_per_tok": 2, "moe_num_experts": 4, "moe_k": 2, "n_routed_experts": 4, "layer_types": ["full_attention"], "bos_token_id": 0, "eos_token_id": 63, "pad_token_id": 0,
}
# Model types, by the rule of their positions.
FAMILIES = {
    "Qwen2VL": ["qwen2_vl"],
    "Qwen25VL": ["qwen2_5_vl"],
    "Qwen3VL": ["qwen3_vl", "qwen3_vl_moe", "qwen3_5", "glm4v", "glm46v", "glm4v_moe", "glm_ocr"],
    "Ernie45VL": ["ernie4_5_vl_moe"],
    "Qwen25Omni": ["qwen2_5_omni_thinker"],
    "Qwen3Omni": ["qwen3_omni_moe_thinker"],
}
CLASSES = {"qwen2_5_omni_thinker": "Qwen2_5OmniThinkerForConditionalGeneration", "qwen3_omni_moe_thinker": "Qwen3OmniMoeThinkerForConditionalGeneration"}
AXES = {"ernie4_5_vl_moe": [3, 3, 2], "glm4v_moe": [2, 1, 1]}
NEW = 3


def kept(cls, values):
    return {k: v for k, v in values.items() if k in getattr(cls, "__dataclass_fields__", {})}


def small(name):
    cls = survey.configurations()[name]
    default = cls()
    text = kept(type(default.text_config), {**TEXT, "moe_intermediate_size": [32, 32] if name == "ernie4_5_vl_moe" else 32})
    text["rope_parameters"] = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": AXES.get(name, [4, 2, 2])}
    parts = {"text_config": text, "vision_config": kept(type(default.vision_config), VISION)}
    if hasattr(default, "audio_config"):
        parts["audio_config"] = {"d_model": 32, "encoder_layers": 1, "encoder_attention_heads": 2, "encoder_ffn_dim": 32, "output_dim": 32}
    config = cls(**parts, **kept(cls, IDS))
    for key, value in IDS.items():
        setattr(config, key, value)
        setattr(config, key.replace("_id", "_index"), value)  # as the Omni models have it
    return config


def prompts(family, name):
    """ids, grids of images and of videos, and seconds of these."""
    if "Omni" in family:  # whose positions count the token behind an image with it
        yield [1, 2, START] + [IMAGE] * 6 + [END], [[1, 4, 6]], [], []
        yield [1, START] + [VIDEO] * 12 + [END, 5], [], [[12, 2, 2]], [1.0]
        return
    yield [1, 2, START] + [IMAGE] * 6, [[1, 4, 6]], [], []
    frame = [START] + [VIDEO] + [END]
    if name.startswith("glm"):  # whose frames have the placeholder of images
        frame = [START] + [IMAGE] + [END]
        yield [1, VIDEO_START] + [token for _ in range(12) for token in [5] + frame] + [VIDEO_END, 3], [], [[12, 2, 2]], []
    elif family == "Qwen3VL":
        yield [1] + [token for _ in range(12) for token in [5] + frame] + [3], [], [[12, 2, 2]], []
    elif family == "Ernie45VL":
        yield [1, START] + [VIDEO] * 6 + [END, 5], [], [[12, 2, 2]], []
    else:
        seconds = [] if family == "Qwen2VL" else [1.0]
        yield [1, START] + [VIDEO] * 12 + [END, 5], [], [[12, 2, 2]], seconds
        yield [1, START] + [VIDEO] * 12, [], [[12, 2, 2]], seconds


def run(family, name, ids, images, videos, seconds):
    torch.manual_seed(1)
    config = small(name)
    model = getattr(transformers, CLASSES[name])(config) if name in CLASSES else transformers.AutoModelForImageTextToText.from_config(config)
    seen = []
    for path, module in model.eval().named_modules():
        kind = type(module).__name__
        if kind.endswith("RotaryEmbedding") and "Vision" not in kind and "visual" not in path:

            def forward(x, position_ids, *rest, original=module.forward, **options):
                seen.append(position_ids[:, 0].float())
                return original(x, position_ids, *rest, **options)

            module.forward = forward
    vision = config.vision_config
    size = (getattr(vision, "in_channels", None) or vision.in_chans) * vision.patch_size**2
    size *= 1 if name == "ernie4_5_vl_moe" else vision.temporal_patch_size
    given = {}
    for key, grids in (("image_grid_thw", images), ("video_grid_thw", videos)):
        if grids:
            given[key] = torch.tensor(grids)
            given["pixel_values" if images else "pixel_values_videos"] = torch.randn(sum(t * h * w for t, h, w in grids), size)
    if seconds:
        given["second_per_grid_ts" if family == "Qwen25VL" else "video_second_per_grid"] = torch.tensor(seconds)
    tokens = torch.tensor([ids])
    types = (tokens == IMAGE).long() + 2 * (tokens == VIDEO).long()
    if VIDEO_START in ids:
        types[tokens == IMAGE] = 2
    if name not in CLASSES:
        given["mm_token_type_ids"] = types
    if name == "ernie4_5_vl_moe":
        given["moe_mm_token_type_ids"] = types
    model.generate(input_ids=tokens, attention_mask=torch.ones_like(tokens), max_new_tokens=NEW, min_new_tokens=NEW, do_sample=False, **given)
    positions = torch.cat(seen, -1)
    return {
        "model": name, "ids": ids, "images": images, "videos": videos, "seconds": seconds,
        "last": positions[:, len(ids) - 1].tolist(), "decoded": positions[:, len(ids) :].tolist(),
    }


def main():
    result = {}
    with torch.no_grad():
        for family, names in FAMILIES.items():
            result[family] = [run(family, name, *prompt) for name in names for prompt in prompts(family, name)]
    document = {"versions": survey.versions(), "families": result}
    (HERE / "decode.json.gz").write_bytes(gzip.compress(json.dumps(document, sort_keys=True, separators=(",", ":")).encode(), mtime=0))
    print(sum(map(len, result.values())), "prompts")


if __name__ == "__main__":
    main()
