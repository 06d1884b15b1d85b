"""What the towers of transformers rotate, through their forward: towers.json.gz.

Every vision tower of transformers that modelconfig.HuggingFaceVision reads is built small, with
random weights, and runs on images and videos of several grids. The function that rotates
heads is watched: it gets a fixed q, and what it makes of the first head of that in the first
layer is written, as integers of 2^-12.

    python3 towers.py    write towers.json.gz
"""

import gzip
import json
import os
import pathlib
import re
import struct
import sys

os.environ["ATEN_CPU_CAPABILITY"] = "avx2"

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "modelconfig" / "testdata" / "transformers"))

import survey
import torch
import transformers

APPLY = re.compile(r"^(vision_)?_?apply_\w*(rotary|rope)\w*$")
SMALL = {
    "hidden_size": 32, "embed_dim": 32, "num_heads": 2, "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 16, "depth": 1, "num_hidden_layers": 1,
    "intermediate_size": 32, "out_hidden_size": 32, "text_hidden_size": 32, "projector_input_dim": 32, "projector_output_dim": 32, "vision_output_dim": 32, "adapter_in_dim": 32,
    "patch_size": 2, "window_size": 8, "fullatt_block_indexes": [], "deepstack_visual_indexes": [], "layer_types": ["full_attention"], "use_head": False,
}
# Grids of an image and of a video, in patches. In some towers a video is images.
GRIDS = [[1, 4, 6], [2, 4, 4]]
IMAGES = ("glm4v_vision", "glm4v_moe_vision", "muse_glimmer_vision", "muse_spark_vision")
ONE_IMAGE = ("pixtral", "llama4_vision_model", "step3p5_vision", "sam3_vit_model")
# Its layers with windows, and its other layers.
SAM3 = {
    "sam3_vit_model": {"image_size": 12, "pretrain_image_size": 12, "window_size": 4, "global_attn_indexes": [0]},
    "sam3_vit_model with windows": {"image_size": 8, "pretrain_image_size": 8, "window_size": 4, "global_attn_indexes": []},
}


def towers():
    """The names in lines of internal/models that have an Arrangement."""
    names = []
    for path in sorted((ROOT / "modelconfig/internal/models").glob("*.go")):
        for line in re.findall(r"^.*\bArrangement: .*$", path.read_text(), re.M):
            for name, also in re.findall(r'Name: "([^"]+)"(?:, Also: \[\]string\{([^}]*)\})?, Hidden', line):
                names += [name, *re.findall(r'"([^"]+)"', also)]
    return names


def small(name, cls, **changes):
    fields = getattr(cls, "__dataclass_fields__", {})
    leave = ("num_hidden_layers",) if "per_layer_config" in fields or name == "dots3_note_vision_encoder" else ()
    return cls(**{k: v for k, v in {**SMALL, **changes}.items() if k in fields and k not in leave})


def model_class(cls):
    best = None
    for module in survey.modeling_modules(cls):
        for name, value in vars(module).items():
            if isinstance(value, type) and issubclass(value, transformers.PreTrainedModel) and value.__module__ == module.__name__ and "forward" in vars(value) and survey.takes(value, cls) == 2:
                best = best or value
    return best


class Watch:
    """The heads that functions of some modules rotate."""

    def __init__(self, modules):
        self.calls = []
        for module in modules:
            for name, function in list(vars(module).items()):
                if APPLY.match(name) and callable(function):
                    setattr(module, name, self.watched(function))

    def watched(self, function):
        def call(q, *rest, **options):
            heads, dim = 2, q.shape[-1]
            x = survey.inputs(q.numel() // (heads * dim), heads, dim)[0]
            if q.shape[-2] == heads:
                x = x.transpose(0, 1)
            elif q.shape[-3] != heads:
                raise ValueError(f"heads of shape {tuple(q.shape)}")
            result = function(x.reshape(q.shape), *rest, **options)
            after = (result[0] if isinstance(result, tuple) else result).float()
            after = after.select(-2 if q.shape[-2] == heads else -3, 0)
            self.calls.append(after.reshape(-1, dim))
            return result

        return call


def arguments(name, config, grids):
    """The inputs of a tower for some grids, and the number of their patches."""
    torch.manual_seed(1)
    patches = sum(t * h * w for t, h, w in grids)
    channels = getattr(config, "in_channels", None) or getattr(config, "num_channels", None) or getattr(config, "in_chans", 3)
    size = config.patch_size
    area = channels * size * size * (getattr(config, "temporal_patch_size", None) or 1)
    grid = torch.tensor(grids)
    if name in ONE_IMAGE:
        _, h, w = grids[0]
        pixels = torch.randn(1, channels, h * size, w * size)
        return {"pixel_values": pixels, **({"image_sizes": [(h * size, w * size)]} if name == "pixtral" else {})}
    first = "hidden_states" if name.startswith(("qwen", "glm", "ernie", "exaone", "cohere")) else "pixel_values"
    if name == "paddleocr_vl_vision":
        pixels = torch.randn(1, patches, channels, size, size)
    elif name == "kimi_k25_vision":
        pixels = torch.randn(patches, channels, size, size)
    else:
        pixels = torch.randn(patches, area * (2 if name.startswith("muse") else 1))
    result = {first: pixels, "grid_thw": grid}
    if name == "video_llama_3_vision":
        result["merge_sizes"] = torch.full((len(grids),), 2)
    return result


def record(name, cls, **changes):
    calls = []
    config = small(name, cls, **changes)
    grids = [[1, h, w] for _, h, w in GRIDS] if name in IMAGES else GRIDS
    for some in [grids[:1], grids]:
        if name in ONE_IMAGE and len(some) > 1:
            continue
        if name in ("llama4_vision_model", "step3p5_vision"):
            some = [[1, 4, 4]]
            config.image_size = 4 * config.patch_size
        if "image_size" in changes:
            some = [[1, config.image_size // config.patch_size, config.image_size // config.patch_size]]
        watch = Watch(list(survey.modeling_modules(cls)))
        try:
            model_class(cls)(config).eval()(**arguments(name, config, some))
        except Exception as e:
            if not watch.calls:
                raise
            print(f"{name}: after the rotation: {type(e).__name__}: {str(e)[:100]}")
        after = watch.calls[0]
        calls.append({"grids": some, "q": "".join(struct.pack(">h", round(v * 4096)).hex() for v in after.flatten().tolist())})
    keys = json.loads(config.to_json_string(use_diff=False))
    return {"config": {**{k: v for k, v in keys.items() if k not in survey.PASSED_OVER}, "model_type": name}, "calls": calls}


def main():
    found = survey.configurations()
    types = {}
    with torch.no_grad():
        for name in towers():
            if name in found:
                try:
                    for case, changes in SAM3.items() if name in SAM3 else [(name, {})]:
                        types[case] = record(name, found[name], **changes)
                except Exception as e:
                    print(f"{name}: {type(e).__name__}: {str(e)[:300]}")
    document = {"versions": survey.versions(), "types": types}
    (HERE / "towers.json.gz").write_bytes(gzip.compress(json.dumps(document, sort_keys=True, separators=(",", ":")).encode(), mtime=0))
    print(len(types), "towers", (HERE / "towers.json.gz").stat().st_size, "bytes")


if __name__ == "__main__":
    main()
