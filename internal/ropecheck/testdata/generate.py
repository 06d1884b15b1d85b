"""Golden vectors: what rotations of Hugging Face transformers leave of heads.

Writes transformers.json: for each case the configuration, the positions and the heads after
the rotation, [token][head][element], as hexadecimal bits. Heads before it are a formula, rounded
to the type. With the versions of requirements.txt and a CPU with AVX2 the file is the same byte
for byte.

    python3 generate.py
"""

import importlib.metadata
import json
import os
import pathlib
import struct

# PyTorch's loops differ by vector width; this is the width of every x86-64-v3 CPU.
os.environ["ATEN_CPU_CAPABILITY"] = "avx2"

import torch
from transformers.models.cohere import modeling_cohere as cohere
from transformers.models.deepseek_v3 import modeling_deepseek_v3 as deepseek
from transformers.models.glm4 import modeling_glm4 as glm4
from transformers.models.llama import modeling_llama as llama
from transformers.models.llama4 import modeling_llama4 as llama4

torch.set_num_threads(1)

POSITIONS = [0, 1, 2, 3, 4, 5, 511, 2051, 60001, 131071]
HEADS = 3
DIM = 64
BASE = 500000.0


def inputs(n):
    """n float32: element i is ((i*2654435761 + 97) mod 2^24 - 2^23) / 2^21."""
    i = torch.arange(n, dtype=torch.int64)
    return ((i * 2654435761 + 97) % (1 << 24) - (1 << 23)).to(torch.float32) / (1 << 21)


def bits(x):
    """Heads as hexadecimal bits, a string for each token."""
    x = x.contiguous()
    if x.dtype == torch.float32:
        code, words = "I", x.view(torch.int32)
    else:
        code, words = "H", x.view(torch.int16)
    mask = (1 << (8 * struct.calcsize(code))) - 1
    return ["".join(struct.pack(">" + code, w & mask).hex() for w in row.reshape(-1).tolist()) for row in words]


class Config:
    """What the rotary modules read of a configuration."""

    def __init__(self, **keys):
        self.max_position_embeddings = 131072
        self.rope_parameters = {"rope_type": "default", "rope_theta": BASE}
        self.head_dim = DIM
        self.hidden_size = DIM
        self.num_attention_heads = 1
        self.partial_rotary_factor = 1.0
        self.qk_rope_head_dim = DIM
        self.__dict__.update(keys)


def halves(x, cos, sin, apply):
    """Applies a function of q and k, [batch][heads][tokens][dim]."""
    q, _ = apply(x, x, cos, sin)
    return q


def case(name, module, apply, dtype, layout, cast=False, complex_=False):
    n = len(POSITIONS) * HEADS * DIM
    x = inputs(n).reshape(len(POSITIONS), HEADS, DIM).to(dtype)
    positions = torch.tensor([POSITIONS])
    rotary = module(Config())
    if cast:
        rotary = rotary.to(dtype)
    with torch.no_grad():
        if complex_:
            y = apply(x[None], x[None], rotary(x[None], positions))[0][0]
        else:
            cos, sin = rotary(x[None], positions)
            y = halves(x.transpose(0, 1)[None], cos, sin, apply)[0].transpose(0, 1)
    assert y.dtype == dtype
    return {
        "name": name, "type": str(dtype).removeprefix("torch."), "layout": layout,
        "head_dim": DIM, "heads": HEADS, "base": BASE, "positions": POSITIONS, "after": bits(y),
    }


def all_in(dtype):
    """Llama's rotation with positions, frequencies and angles of a type: a cache that is made
    after model.to(dtype), by transformers before version 4.36."""
    def module(config):
        def rotary(x, positions):
            inv_freq = llama.LlamaRotaryEmbedding.compute_default_rope_parameters(config)[0].to(dtype)
            freqs = torch.outer(torch.tensor(POSITIONS).to(dtype), inv_freq)
            emb = torch.cat((freqs, freqs), dim=-1)[None]
            return emb.cos(), emb.sin()
        return rotary
    return module


def main():
    f32, bf16, f16 = torch.float32, torch.bfloat16, torch.float16
    half, interleaved = "HalfSplit", "Interleaved"
    llama_ = llama.LlamaRotaryEmbedding, llama.apply_rotary_pos_emb
    cohere_ = cohere.CohereRotaryEmbedding, cohere.apply_rotary_pos_emb
    glm4_ = glm4.Glm4RotaryEmbedding, glm4.apply_rotary_pos_emb
    llama4_ = llama4.Llama4TextRotaryEmbedding, llama4.apply_rotary_emb
    deepseek_ = deepseek.DeepseekV3RotaryEmbedding, deepseek.apply_rotary_pos_emb_interleave
    cases = [
        case("llama float32", *llama_, f32, half),
        case("llama bfloat16", *llama_, bf16, half),
        case("llama float16", *llama_, f16, half),
        case("llama after .to(bfloat16)", *llama_, bf16, half, cast=True),
        case("llama after .to(float16)", *llama_, f16, half, cast=True),
        case("llama with a cache made in bfloat16", all_in(bf16), llama.apply_rotary_pos_emb, bf16, half),
        case("cohere float32", *cohere_, f32, interleaved),
        case("cohere bfloat16", *cohere_, bf16, interleaved),
        case("glm4 float32", *glm4_, f32, interleaved),
        case("glm4 bfloat16", *glm4_, bf16, interleaved),
        case("llama4 float32", *llama4_, f32, interleaved, complex_=True),
        case("llama4 bfloat16", *llama4_, bf16, interleaved, complex_=True),
        case("deepseek float32", *deepseek_, f32, "InterleavedToHalfSplit"),
    ]
    versions = {name: importlib.metadata.version(name) for name in ("numpy", "torch", "transformers")}
    path = pathlib.Path(__file__).parent / "transformers.json"
    path.write_text(json.dumps({"versions": versions, "cases": cases}, indent=0) + "\n")


if __name__ == "__main__":
    main()
