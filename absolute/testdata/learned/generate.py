"""Writes vectors.json: learned position embeddings and their interpolation; and weights.json.gz.

    python generate.py > vectors.json        (versions: requirements.txt)

"add" is what PyTorch makes of x + types[type_ids] + table[rows], in float32,
float16 and bfloat16; the rows are those that the position embedding of the named
model of transformers looks up. "linear" and "bicubic" are
torch.nn.functional.interpolate with align_corners=False, on the CPU; "antialias"
are bicubic ones with antialias=True, by timm's resample_abs_pos_embed or by the
model of transformers that is named, without their class token. "models" are
interpolations of a square table as the code of the named models has them, whose patches
may be in blocks. Elements are bits in hexadecimal, most significant digit first.

weights.json.gz holds indices and weights of get_vision_interpolation_indices_and_weights, the weights
as the bits of float32 in int32.
"""

import gzip
import json
import sys

import timm
import torch
import transformers
from timm.layers import resample_abs_pos_embed
from torch.nn.functional import interpolate
from transformers.models.bart.modeling_bart import BartLearnedPositionalEmbedding
from transformers.models.dinov2_with_registers.modeling_dinov2_with_registers import Dinov2WithRegistersConfig, Dinov2WithRegistersEmbeddings
from transformers.models.opt.modeling_opt import OPTLearnedPositionalEmbedding
from transformers.models.roberta.modeling_roberta import RobertaEmbeddings
from transformers.vision_utils import get_vision_interpolation_indices_and_weights

torch.manual_seed(20210420)
torch.set_num_threads(1)


def bits(x):
    view, digits = (torch.int32, 8) if x.dtype == torch.float32 else (torch.int16, 4)
    mask = 16**digits - 1
    return "".join(f"{int(v) & mask:0{digits}x}" for v in x.contiguous().view(view).ravel())


add = []
rows, dim, tokens = 9, 11, 6
mask = torch.tensor([[0, 1, 1, 1, 0, 1]])
for dtype, name in ((torch.float32, "float32"), (torch.float16, "float16"), (torch.bfloat16, "bfloat16")):
    for model in ("bert", "roberta", "bart", "opt"):
        table = torch.randn(rows, dim).to(dtype)
        types = torch.randn(2, dim).to(dtype)
        x = torch.randn(tokens, dim).to(dtype)
        type_ids = torch.tensor([0, 1, 1, 0, 0, 1])
        y = x + types[type_ids]
        if model == "bert":
            y = y + table[torch.arange(tokens)]
        elif model == "roberta":
            ids = RobertaEmbeddings.create_position_ids_from_input_ids(torch.where(mask == 1, 5, 1), 1)
            y = y + table[ids[0]]
        else:
            cls = BartLearnedPositionalEmbedding if model == "bart" else OPTLearnedPositionalEmbedding
            embedding = cls(rows - 2, dim).to(dtype)
            embedding.weight.data.copy_(table)
            y = y + embedding(torch.zeros(1, tokens) if model == "bart" else mask)[0].detach()
        add.append({"model": model, "type": name, "dim": dim, "mask": [bool(m) for m in mask[0]], "type_ids": type_ids.tolist(),
                    "table": bits(table), "types": bits(types), "x": bits(x), "y": bits(y)})

linear = []
for n, m in ((1, 3), (5, 5), (4, 7), (7, 4), (9, 2), (3, 31)):
    src = torch.randn(n, 3)
    dst = interpolate(src.T[None], size=m, mode="linear", align_corners=False)[0].T
    linear.append({"dim": 3, "src": bits(src), "dst": bits(dst)})

bicubic = []
for h, w, H, W in ((1, 1, 2, 3), (4, 4, 4, 4), (4, 4, 7, 5), (7, 5, 3, 4), (2, 9, 5, 2), (3, 3, 14, 14)):
    src = torch.randn(h, w, 2)
    dst = interpolate(src.permute(2, 0, 1)[None], size=(H, W), mode="bicubic", align_corners=False)[0].permute(1, 2, 0)
    bicubic.append({"dim": 2, "from": [h, w], "to": [H, W], "src": bits(src), "dst": bits(dst)})

antialias = []
for h, w, H, W in ((1, 1, 2, 3), (4, 4, 4, 5), (4, 4, 7, 5), (7, 5, 3, 4), (2, 9, 5, 2), (14, 14, 3, 3), (9, 1, 1, 1), (1, 16, 4, 5)):
    table = torch.randn(1, 1 + h * w, 2)
    dst = resample_abs_pos_embed(table, [H, W], [h, w])[0]
    assert torch.equal(dst[0], table[0, 0])
    antialias.append({"model": "timm", "dim": 2, "from": [h, w], "to": [H, W], "src": bits(table[0, 1:]), "dst": bits(dst[1:])})
for size, H, W in ((6, 3, 4), (4, 9, 2), (5, 6, 6)):
    config = Dinov2WithRegistersConfig(hidden_size=8, num_attention_heads=2, image_size=2 * size, patch_size=2)
    embeddings = Dinov2WithRegistersEmbeddings(config)
    table = embeddings.position_embeddings.data.normal_()
    dst = embeddings.interpolate_pos_encoding(torch.zeros(1, 1 + H * W, 8), 2 * H, 2 * W)[0]
    antialias.append({"model": "dinov2_with_registers", "dim": 8, "from": [size, size], "to": [H, W], "src": bits(table[0, 1:]), "dst": bits(dst[1:].detach())})

models = []
for name, merge, options in (
    ("qwen3_vl", 2, {"mode": "bilinear", "align_corners": True}),
    ("inkling2", 2, {"mode": "bilinear", "align_corners": False}),
    ("paddleocr_vl", 1, {"mode": "bilinear", "align_corners": False}),
    ("muse_glimmer", 1, {"mode": "bilinear", "align_corners": False, "padding": "zeros"}),
    ("muse_spark", 1, {"mode": "bilinear", "align_corners": False, "padding": "zeros"}),
    ("kimi_k25", 1, {"mode": "bicubic", "align_corners": False}),
):
    for side, H, W in ((4, 6, 8), (5, 2, 4), (3, 4, 2), (1, 2, 2), (6, 6, 6), (7, 20, 2)):
        table = torch.randn(side * side, 2)
        grid = torch.tensor([[1, W, H] if name == "muse_spark" else [1, H, W]])
        indices, weights = get_vision_interpolation_indices_and_weights(grid, num_grid_per_side=side, spatial_merge_size=merge, **options)
        dst = (table[indices] * weights[:, :, None]).sum(1)
        models.append({"model": name, "dim": 2, "from": [side, side], "to": [H, W], "src": bits(table), "dst": bits(dst)})

versions = {"timm": timm.__version__, "torch": torch.__version__, "transformers": transformers.__version__}
weighted = []
small = [[[1, 1, 1]], [[1, 2, 3], [2, 5, 1]], [[1, 7, 9]], [[1, 16, 13]], [[2, 4, 6]]]
for s in small:
    for side in (1, 2, 7, 16, 48):
        for mode in ("bilinear", "bicubic"):
            for corners in (False, True):
                for padding in ("border", "zeros"):
                    merge = 2 if s == [[2, 4, 6]] else 1
                    if mode == "bicubic" and side not in (7, 48):
                        continue
                    indices, weights = get_vision_interpolation_indices_and_weights(torch.tensor(s), side, mode, corners, merge, padding)
                    weighted.append({"grids": s, "side": side, "bicubic": mode == "bicubic", "alignCorners": corners, "zeros": padding == "zeros", "merge": merge,
                                     "indices": indices.flatten().tolist(), "weights": weights.flatten().view(torch.int32).tolist()})
with gzip.GzipFile("weights.json.gz", "wb", compresslevel=9, mtime=0) as f:
    f.write(json.dumps({"weights": weighted, "versions": {p: versions[p] for p in ("torch", "transformers")}}, separators=(",", ":")).encode())

json.dump({"versions": versions, "add": add, "linear": linear, "bicubic": bicubic, "antialias": antialias, "models": models}, sys.stdout, separators=(",", ":"))
print()
