"""Writes queryscales.json: factors of queries.

    python queryscales.py > queryscales.json        (versions: requirements.txt)

The factors of Beam and of Mistral Large 4 are those of the functions of transformers;
those of Inkling and Inkling 2 are the lines of their attention, which have no function of
their own, found in its source by their name, tau. Numbers are bits of float32 in
hexadecimal; those of Mistral Large 4 are [heads][positions].
"""

import inspect
import json
import re
import sys

import torch
import transformers
from transformers.models.beam.modeling_beam import compute_attention_scaling
from transformers.models.inkling import modeling_inkling as inkling
from transformers.models.inkling2 import modeling_inkling2 as inkling2
from transformers.models.mistral_large4.modeling_mistral_large4 import MistralLarge4TextSoftmaxScaling

torch.manual_seed(20250721)


def bits(x):
    return "".join(f"{int(v) & 0xFFFFFFFF:08x}" for v in x.detach().to(torch.float32).contiguous().view(torch.int32).ravel())


positions = torch.tensor([0, 1, 2, 2046, 2047, 2048, 4095, 127998, 127999, 128000, 1048575, 2147483646] + torch.randint(0, 1 << 20, (28,)).tolist())


class Config:
    log_scaling_alpha = 0.1
    log_scaling_n_floor = 128000


class Self:
    config = Config


def tau(module):
    """Runs the statements that make tau of positions."""
    source = inspect.getsource(module)
    start = source.index("tau = 1.0 + self.config.log_scaling_alpha")
    end = source.index("\n", source.index(".clamp(min=1.0)", start))
    statement = source[start:end] + ")"
    names = {"torch": torch, "self": Self, "effective_n": (positions + 1).float(), "kwargs": {"position_ids": positions}}
    exec(re.sub(r"\n\s*", " ", statement), names)
    return names["tau"]


heads = 3
scaling = MistralLarge4TextSoftmaxScaling(heads)
scaling.scale.data.normal_()
scaling.bias.data.normal_()
large = scaling(torch.ones(1, heads, len(positions), 1), positions[None], head_dim_first=True)[0, :, :, 0]

versions = {"torch": torch.__version__, "transformers": transformers.__version__}
json.dump({"versions": versions, "positions": positions.tolist(), "beam": bits(compute_attention_scaling(positions[None])), "inkling": bits(tau(inkling)),
           "inkling2": bits(tau(inkling2)), "mistral_large4": bits(large), "scale": bits(scaling.scale), "bias": bits(scaling.bias)}, sys.stdout, separators=(",", ":"))
print()
