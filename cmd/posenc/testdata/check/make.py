"""Writes heads before and after rotations, for the tests of posenc check: by the modules of
transformers, right and with faults planted.

    python make.py

Made with Python 3.11, transformers 5.23.0, PyTorch 2.15.0, numpy 2.4.6 and safetensors 0.8.0.
"""

import json
import pathlib

import numpy as np
import safetensors.torch
import torch
import transformers
from transformers.models.gemma3.modeling_gemma3 import Gemma3RotaryEmbedding
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

configs = pathlib.Path(__file__).parents[4] / "modelconfig/testdata/transformers/configs"
torch.manual_seed(1)
positions = torch.tensor([list(range(8)) + [1000, 1001, 1005, 1100]])


def config(name):
    values = json.loads((configs / f"{name}.json").read_text())
    return transformers.AutoConfig.for_model(**values)


def save(name, x):
    np.save(name, x.numpy())


# Llama 3.2 1B, as transformers has Q: [batch][heads][tokens][dim].
q = torch.randn(1, 4, 12, 64)
cos, sin = LlamaRotaryEmbedding(config("Llama-3.2-1B"))(q, positions)
right, _ = apply_rotary_pos_emb(q, q, cos, sin)
save("llama_before", q)
save("llama_after", right)
np.save("llama_positions.npy", positions.numpy())

# Rotated twice.
save("llama_twice", apply_rotary_pos_emb(right, right, cos, sin)[0])

# Positions that begin at 1.
cos1, sin1 = LlamaRotaryEmbedding(config("Llama-3.2-1B"))(q, positions + 1)
save("llama_one_later", apply_rotary_pos_emb(q, q, cos1, sin1)[0])

# Neighbouring elements as pairs.
pairs = torch.view_as_complex(q.reshape(1, 4, 12, 32, 2))
turned = pairs * torch.complex(cos[0, :, :32], sin[0, :, :32])
save("llama_interleaved", torch.view_as_real(turned).reshape(q.shape))

# The frequencies of Llama 3.2's base, without its scaling rule.
plain = config("Llama-3.2-1B")
plain.rope_parameters = {"rope_type": "default", "rope_theta": 500000.0}
save("llama_unscaled", apply_rotary_pos_emb(q, q, *LlamaRotaryEmbedding(plain)(q, positions))[0])

# Gemma 3 1B in bfloat16, [tokens][heads*dim], of a layer with a window; and rotated by the
# frequencies of the others.
gemma = config("gemma-3-1b-it")
rotary = Gemma3RotaryEmbedding(gemma)
g = torch.randn(1, 4, 12, 256).to(torch.bfloat16)
flat = lambda x: x[0].transpose(0, 1).reshape(12, 4 * 256).contiguous()
arrays = {"q": flat(g), "positions": positions[0]}
for name, kind in (("sliding", "sliding_attention"), ("full", "full_attention")):
    cos, sin = rotary(g, positions, kind)
    arrays[f"q_{name}"] = flat(apply_rotary_pos_emb(g, g, cos, sin)[0])
safetensors.torch.save_file(arrays, "gemma.safetensors")
