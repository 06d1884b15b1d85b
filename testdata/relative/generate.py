"""Writes <family>.json: biases and scores of relative encodings of transformers.

    python generate.py FAMILY > FAMILY.json        (versions: requirements.txt)

Lists of float32 are little endian, in base64. Inputs that are not listed are
those of inputs(), which the tests make again.
"""

import base64
import json
import sys

import torch
import transformers


def encode(x):
    return base64.b64encode(x.detach().to(torch.float32).contiguous().numpy().astype("<f4").tobytes()).decode()


def inputs(start, *shape):
    """Numbers from -4 to 4 that float32 has exactly."""
    n = torch.Size(shape).numel()
    i = torch.arange(start, start + n, dtype=torch.int64)
    return (((i * 2654435761 + 97) % (1 << 24) - (1 << 23)).double() / (1 << 21)).float().reshape(shape)


def alibi():
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor as bloom
    from transformers.models.falcon.modeling_falcon import build_alibi_tensor as falcon
    from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor as mpt

    cases = []
    for heads, keys in [(8, 40), (12, 40), (16, 40), (71, 10)]:
        mask = torch.ones(1, keys, dtype=torch.int64)
        cases.append({"model": "bloom", "heads": heads, "keys": keys, "max_bias": 8, "bias": encode(bloom(mask, heads, torch.float32))})
    cases.append({"model": "falcon", "heads": 8, "keys": 40, "max_bias": 8, "bias": encode(falcon(torch.ones(1, 40, dtype=torch.int64), 8, torch.float32))})
    for heads, bias in [(8, 8), (12, 8), (32, 16), (40, 8)]:
        cases.append({"model": "mpt", "heads": heads, "keys": 40, "max_bias": bias, "bias": encode(mpt(heads, 40, bias))})
    return cases


families = {f.__name__: f for f in [alibi]}
torch.manual_seed(0)
with torch.no_grad():
    cases = families[sys.argv[1]]()
versions = {"torch": torch.__version__.split("+")[0], "transformers": transformers.__version__}
json.dump({"versions": versions, "cases": cases}, sys.stdout, indent=1)
print()
